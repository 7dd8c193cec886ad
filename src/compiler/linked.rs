//! What goes into a program without a record of its own, and whether it is
//! still what went into it.

use super::linker_words::identifiers;
use super::project::Project;
use super::toolchain;
use crate::cfg::format::{LinkRecord, Records};
use crate::ids::Fingerprint;
use crate::instrument::RECORD_SECTION;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectKind, ObjectSection, ObjectSymbol};
use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;

/// Inputs that are known as a whole begin with one of these.
pub const LINKER: &str = "linker ";
pub const WHOLE: &str = "whole ";

/// The files that a link took in without a record. They may be gone, like the
/// object of a source that was compiled and linked at once.
pub fn files(project: &Project, record: &LinkRecord) -> BTreeSet<PathBuf> {
    record.inputs.iter().map(|(name, _)| project.root.join(file_of(name))).collect()
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
        let path = project.root.join(file_of(name));
        path.is_file() && toolchain::of_program(&path) != *then
    });
    if let Some((name, _)) = whole {
        return Some(file_of(name).to_string());
    }
    let files: BTreeSet<&str> =
        names.iter().filter(|name| !is_whole(name)).map(|name| file_of(name)).collect();
    let other = files.into_iter().find(|file| {
        let Ok(bytes) = std::fs::read(project.root.join(file)) else { return false };
        let mut now = Unanalysed::default();
        now.add(file, &bytes);
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

/// What goes into a program without a record of its own.
#[derive(Default)]
pub struct Unanalysed {
    pub inputs: Vec<(String, Fingerprint)>,
    pub names: BTreeSet<String>,
    /// What objects have that their records do not tell; see [`LinkRecord`].
    pub unrecorded: BTreeSet<String>,
    pub altered: BTreeSet<Fingerprint>,
}

impl Unanalysed {
    /// Adds a file, or members of an archive, as far as they have no record.
    pub fn add(&mut self, name: &str, bytes: &[u8]) {
        if let Ok(archive) = ArchiveFile::parse(bytes) {
            for member in archive.members() {
                let Ok(member) = member else {
                    self.inputs.push((name.to_string(), Fingerprint::of(bytes)));
                    return;
                };
                if let Ok(data) = member.data(bytes) {
                    let member = String::from_utf8_lossy(member.name());
                    self.add(&format!("{name}({member})"), data);
                }
            }
            return;
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
            let symbols = file.symbols().chain(file.dynamic_symbols());
            let names = symbols.filter(|s| s.is_global() || s.is_undefined());
            self.names.extend(names.filter_map(|s| s.name().ok().map(String::from)));
        } else if let Some(text) = script(bytes) {
            self.names.extend(identifiers(text).map(String::from));
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
            if name.is_empty() || name.contains('.') || is_ours || recorded.contains(name) {
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
