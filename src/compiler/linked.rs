//! What goes into a program without a record of its own, and whether it is
//! still what went into it.

use super::linker_words::identifiers;
use super::project::Project;
use super::toolchain;
use crate::bytes;
use crate::cfg::format::{LinkRecord, Member, Records, name_number};
use crate::ids::Fingerprint;
use crate::instrument::RECORD_SECTION;
use object::read::archive::ArchiveFile;
use object::{
    Architecture, Object, ObjectKind, ObjectSection, ObjectSymbol, ObjectSymbolTable,
    RelocationTarget,
};
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// Inputs that are known as a whole begin with one of these.
pub const LINKER: &str = "linker ";
pub const WHOLE: &str = "whole ";

/// The files that a link took in without a record. They may be gone, like the
/// object of a source that was compiled and linked at once.
pub fn files(project: &Project, record: &LinkRecord) -> BTreeSet<PathBuf> {
    record.inputs.iter().map(|(name, _)| project.place(file_of(name))).collect()
}

/// Whether a link would take in now what it took in then, as far as these files
/// are still there.
pub fn is_same(project: &Project, record: &LinkRecord) -> bool {
    changed(project, record).is_none()
}

/// A file that a link would take in otherwise.
pub fn changed(project: &Project, record: &LinkRecord) -> Option<String> {
    let names: BTreeSet<&str> = record.inputs.iter().map(|(name, _)| name.as_str()).collect();
    let of_file = |file: &str| -> BTreeSet<&(String, Fingerprint)> {
        let is_of_file = |name: &str| !is_whole(name) && file_of(name) == file;
        record.inputs.iter().filter(|(name, _)| is_of_file(name)).collect()
    };
    let mut wholes = record.inputs.iter().filter(|(name, _)| is_whole(name));
    let whole = wholes.find(|(name, then)| {
        let path = project.place(file_of(name));
        path.is_file() && toolchain::of_program(&path) != *then
    });
    if let Some((name, _)) = whole {
        return Some(file_of(name).to_string());
    }
    let files: BTreeSet<&str> =
        names.iter().filter(|name| !is_whole(name)).map(|name| file_of(name)).collect();
    let other = files.into_iter().find(|file| {
        let path = project.place(file);
        // A record may name anything, also what has no end.
        let bytes = path.is_file().then(|| std::fs::read(&path).ok());
        let Some(bytes) = bytes.flatten() else { return false };
        let mut now = Unanalysed::default();
        now.add(file, &path, &bytes, Taken::Surely);
        now.inputs.iter().collect::<BTreeSet<_>>() != of_file(file)
    });
    other.map(str::to_string)
}

fn is_whole(name: &str) -> bool {
    name.starts_with(LINKER) || name.starts_with(WHOLE)
}

/// The file of an input, without the member of an archive.
pub fn file_of(name: &str) -> &str {
    let name = name.strip_prefix(LINKER).or(name.strip_prefix(WHOLE)).unwrap_or(name);
    match name.strip_suffix(')').and_then(|name| name.rsplit_once('(')) {
        Some((file, _)) => file,
        None => name,
    }
}

/// The text of a linker script, if a file may be one.
pub fn script(bytes: &[u8]) -> Option<&str> {
    let is_code = bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"!<");
    std::str::from_utf8(bytes).ok().filter(|_| !is_code && !bytes.contains(&0))
}

/// When a link takes in a file, or the members of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    Surely,
    /// If something needs a name that it defines.
    IfNeeded,
}

/// What goes into a program without a record of its own.
#[derive(Default)]
pub struct Unanalysed {
    pub inputs: Vec<(String, Fingerprint)>,
    pub names: BTreeSet<String>,
    /// What objects have that their records do not tell; see [`LinkRecord`].
    pub unrecorded: BTreeSet<String>,
    pub altered: BTreeSet<Fingerprint>,
    /// See [`LinkRecord`].
    pub members: Vec<Member>,
}

impl Unanalysed {
    /// Adds a file, or members of an archive, as far as they have no record. `path` is where
    /// the file lies, and `taken` says what becomes of it, or of members.
    pub fn add(&mut self, name: &str, path: &Path, bytes: &[u8], taken: Taken) {
        if let Ok(archive) = ArchiveFile::parse(bytes) {
            for member in archive.members() {
                let Ok(member) = member else {
                    self.inputs.push((name.to_string(), Fingerprint::of(bytes)));
                    return;
                };
                let member_name = bytes::to_text(member.name()).into_owned();
                let name = format!("{name}({member_name})");
                if member.is_thin() {
                    // The member is a file beside the archive.
                    let path = path.parent().unwrap_or(path).join(bytes::path(&member_name));
                    let data = std::fs::read(&path).unwrap_or_default();
                    self.add(&name, &path, &data, taken);
                } else if let Ok(data) = member.data(bytes) {
                    self.add(&name, path, data, taken);
                }
            }
            return;
        }
        if taken == Taken::IfNeeded {
            self.members.extend(member(bytes));
        }
        let file = object::File::parse(bytes);
        let section = file.as_ref().ok().and_then(|file| file.section_by_name(RECORD_SECTION));
        if let (Ok(file), Some(section)) = (&file, section.filter(|section| section.size() > 0)) {
            let records = section.data().ok().and_then(|data| Records::read(data).ok());
            if file.kind() == ObjectKind::Relocatable {
                self.compare(file, &records.unwrap_or_default());
            }
            return;
        }
        self.inputs.push((name.to_string(), Fingerprint::of(bytes)));
        if let Ok(file) = file {
            // What a library defines for others it uses itself only if it says so.
            let library = taken_from_others(&file).filter(|_| file.kind() == ObjectKind::Dynamic);
            if let Some(names) = library {
                self.names.extend(names);
                return;
            }
            let symbols = file.symbols().chain(file.dynamic_symbols());
            let names = symbols.filter(|s| s.is_global() || s.is_undefined());
            self.names.extend(names.filter_map(|s| s.name().ok().map(String::from)));
        } else if let Some(text) = script(bytes) {
            self.names.extend(identifiers(text).map(String::from));
        }
    }

    /// Adds an object that lasts only as long as the link, if it has no record. Its name leads to no file, so
    /// that nothing is compared with it but the object of a later link.
    pub fn add_compiled(&mut self, source: &str, path: &Path, bytes: &[u8]) {
        let file = object::File::parse(bytes).ok();
        let section = file.as_ref().and_then(|file| file.section_by_name(RECORD_SECTION));
        if section.is_none_or(|section| section.size() == 0) {
            self.add(&format!("{source} as it was compiled"), path, bytes, Taken::Surely);
        }
    }

    /// Adds a file that only says who may see which names.
    pub fn add_list(&mut self, name: &str, bytes: &[u8]) {
        self.inputs.push((name.to_string(), Fingerprint::of(bytes)));
    }

    /// Lays the names of an object beside its records: it may have been given other
    /// ones since it was compiled.
    fn compare(&mut self, object: &object::File<'_>, records: &Records) {
        let units: Vec<_> = records.units.iter().filter_map(|unit| unit.index().ok()).collect();
        let symbols = units.iter().flat_map(|unit| &unit.symbols).filter(|s| !s.is_static);
        let procedures = units.iter().flat_map(|unit| &unit.procedures).filter(|p| !p.is_static);
        let recorded: HashSet<&str> = { symbols }
            .map(|s| s.name.as_str())
            .chain(procedures.map(|p| p.name.as_str()))
            .collect();
        let mut is_altered = false;
        for symbol in object.symbols().filter(|s| s.is_global() || s.is_undefined()) {
            let name = symbol.name().unwrap_or_default();
            // Behind `@` is a version. What has a dot in it compilers have made.
            let name = name.split('@').next().unwrap_or_default();
            let is_ours = name.contains("edgewise") || name.starts_with("__gnu_lto");
            // clang defines these for its own coverage and profiles.
            let is_of_clang = !symbol.is_undefined()
                && (name.starts_with("__covrec_") || name.starts_with("__llvm_profile_"));
            let is_made = name.is_empty() || name.contains('.') || is_ours || is_of_clang;
            if is_made || recorded.contains(name) {
                continue;
            }
            is_altered |= !symbol.is_undefined();
            self.unrecorded.insert(name.to_string());
        }
        if is_altered {
            self.unrecorded.extend(recorded.into_iter().map(String::from));
            self.altered.extend(units.iter().map(|unit| unit.fingerprint));
        }
    }
}

/// The names that a shared object finds through the dynamic linker: those that it does not
/// define, and of its own those that a relocation looks for. `None` if it does not say so.
pub fn taken_from_others(elf: &object::File<'_>) -> Option<HashSet<String>> {
    // On other machines relocations may not list everything.
    let lists_all = matches!(elf.architecture(), Architecture::X86_64 | Architecture::Aarch64);
    let symbols = elf.dynamic_symbol_table().filter(|_| lists_all)?;
    let mut names: HashSet<String> = HashSet::new();
    let undefined = elf.dynamic_symbols().filter(|symbol| symbol.is_undefined());
    names.extend(undefined.filter_map(|symbol| symbol.name().ok().map(String::from)));
    for (_, relocation) in elf.dynamic_relocations()? {
        if let RelocationTarget::Symbol(index) = relocation.target() {
            let name = symbols.symbol_by_index(index).ok()?.name().ok()?;
            names.insert(name.to_string());
        }
    }
    Some(names)
}

/// What an object offers as a member of an archive.
fn member(bytes: &[u8]) -> Option<Member> {
    let file = object::File::parse(bytes).ok()?;
    let section = file.section_by_name(RECORD_SECTION).and_then(|section| section.data().ok());
    let records = section.and_then(|data| Records::read(data).ok()).unwrap_or_default();
    let units: Vec<_> = records.units.iter().filter_map(|unit| unit.index().ok()).collect();
    let mut names: BTreeSet<u32> = BTreeSet::new();
    for symbol in file.symbols().filter(|s| s.is_global() && !s.is_undefined()) {
        names.extend(symbol.name().ok().map(name_number));
    }
    // An object for link-time optimization does not list its names.
    for unit in &units {
        let variables = unit.definitions.iter().map(|d| &unit.symbols[d.symbol as usize]);
        let variables = variables.filter(|symbol| !symbol.is_static).map(|symbol| &symbol.name);
        let procedures = unit.procedures.iter().filter(|p| !p.is_static).map(|p| &p.name);
        names.extend(variables.chain(procedures).map(|name| name_number(name)));
    }
    let units = units.iter().map(|unit| unit.key.id()).collect();
    Some(Member { units, names: names.into_iter().collect() })
}
