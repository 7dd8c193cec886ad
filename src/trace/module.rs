//! Programs and libraries as files: build-id and records.

use crate::cfg::format::{FormatError, Records};
use crate::compiler::linked::taken_from_others;
use crate::instrument::RECORD_SECTION;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectKind, ObjectSection, ObjectSymbol, SymbolKind};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// An executable or shared library with the records of its units.
pub struct Module {
    pub path: PathBuf,
    pub build_id: Vec<u8>,
    pub records: Records,
    is_executable: bool,
    exports_code: bool,
}

/// What others in a process can see of a program. Whether it has a `main` does not
/// tell: libraries may have one for their own tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Binding {
    /// An executable that exports nothing by itself. No other executable is ever in
    /// a process with it.
    Closed,
    /// An executable whose names may be looked up.
    Open,
    /// Whatever may be loaded into a process of others.
    Library,
}

#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    #[error("cannot read {path}: {source}")]
    Read { path: String, source: std::io::Error },
    #[error("{path} is not a program: {source}")]
    Elf { path: String, source: object::read::Error },
    #[error("{path}: {source}; rebuild it with this edgewise")]
    Record { path: String, source: FormatError },
}

/// What a module that is not analysed can say of names.
pub struct KnownNames {
    /// Those that it finds through the dynamic linker, in others or in itself.
    pub uses: HashSet<String>,
    /// Those that it defines for others.
    pub provides: HashSet<String>,
    /// It asks for names while it runs.
    pub looks_up: bool,
}

/// Calls by which others are found by their name.
pub const LOOK_UPS: [&str; 2] = ["dlsym", "dlvsym"];

/// The names of a library. Of a program that was linked without us, all names;
/// `None` if it does not have them any more.
pub fn known_names(path: &Path) -> Option<KnownNames> {
    let bytes = read(path).ok()?;
    let elf = object::File::parse(&*bytes).ok()?;
    let is_ours = elf.section_by_name(RECORD_SECTION).is_some();
    if is_ours && elf.symbols().next().is_none() {
        return None;
    }
    // Without sections nothing is known of its names.
    elf.sections().next()?;
    let inside = elf.symbols().filter(|_| is_ours);
    let taken = taken_from_others(&elf);
    let uses_any = is_ours || taken.is_none();
    let uses = taken.unwrap_or_default();
    let mut known = KnownNames { uses, provides: HashSet::new(), looks_up: false };
    for symbol in elf.dynamic_symbols().chain(inside) {
        let Ok(name) = symbol.name() else { continue };
        known.looks_up |= symbol.is_undefined() && LOOK_UPS.contains(&name);
        if uses_any {
            known.uses.insert(name.to_string());
        }
        if !symbol.is_undefined() {
            known.provides.insert(name.to_string());
        }
    }
    Some(known)
}

/// The bytes of a regular file. A history may name anything: a device has no end.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    if !fs_err::metadata(path)?.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    fs_err::read(path)
}

/// Whether a file is a program, a library, an object or an archive of these.
pub fn is_code(path: &Path) -> bool {
    let mut start = [0; 4];
    // A pipe would keep us waiting for ever.
    path.is_file()
        && std::fs::File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok())
        && [*b"\x7fELF", *b"!<ar"].contains(&start)
}

impl Module {
    /// Of an archive, what its members have together.
    pub fn read(path: &Path) -> Result<Self, ModuleError> {
        let name = || path.display().to_string();
        let bytes = read(path).map_err(|source| ModuleError::Read { path: name(), source })?;
        let elf_error = |source| ModuleError::Elf { path: name(), source };
        let mut module = Self {
            path: path.to_path_buf(),
            build_id: Vec::new(),
            records: Records::default(),
            is_executable: false,
            exports_code: false,
        };
        if let Ok(archive) = ArchiveFile::parse(&*bytes) {
            for member in archive.members() {
                let data = member.and_then(|member| member.data(&*bytes)).map_err(elf_error)?;
                if data.starts_with(b"\x7fELF") {
                    module.add(data)?;
                }
            }
        } else {
            module.add(&bytes)?;
        }
        Ok(module)
    }

    fn add(&mut self, bytes: &[u8]) -> Result<(), ModuleError> {
        let name = || self.path.display().to_string();
        let elf = object::File::parse(bytes)
            .map_err(|source| ModuleError::Elf { path: name(), source })?;
        self.is_executable = is_executable(&elf);
        let mut exported = elf.dynamic_symbols().filter(|symbol| symbol.is_definition());
        self.exports_code = exported.any(|symbol| symbol.kind() == SymbolKind::Text);
        self.build_id = elf.build_id().ok().flatten().unwrap_or_default().to_vec();
        let section = elf.section_by_name(RECORD_SECTION);
        let data = section.and_then(|section| section.data().ok()).unwrap_or_default();
        let records =
            Records::read(data).map_err(|source| ModuleError::Record { path: name(), source })?;
        self.records.units.extend(records.units);
        self.records.links.extend(records.links);
        Ok(())
    }

    pub fn binding(&self) -> Binding {
        if !self.is_executable {
            return Binding::Library;
        }
        let mut words = self.records.links.iter().flat_map(|link| &link.arguments);
        let is_open = self.exports_code || !self.records.has_link() || words.any(|w| exports(w));
        if is_open { Binding::Open } else { Binding::Closed }
    }
}

/// Whether a word of a link may make an executable export names: `-rdynamic`,
/// `--export-dynamic`, `-E`, a list of names, or what a file says.
fn exports(word: &str) -> bool {
    let mut parts = word.split(',');
    word.contains("dynamic") || word.contains('@') || parts.any(|part| part == "-E")
}

/// Whether a file is a program that is started, never loaded by another one. A
/// library may name an interpreter too; an executable that may be put anywhere says
/// what it is.
fn is_executable(elf: &object::File<'_>) -> bool {
    const FLAGS_1: u64 = 0x6fff_fffb;
    const PIE: u64 = 0x0800_0000;
    let section = elf.section_by_name(".dynamic").filter(|_| elf.is_64() && elf.is_little_endian());
    let data = section.and_then(|section| section.data().ok()).unwrap_or_default();
    let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
    let mut entries = data.chunks_exact(16).map(|entry| (number(&entry[..8]), number(&entry[8..])));
    elf.kind() == ObjectKind::Executable
        || elf.kind() == ObjectKind::Dynamic
            && entries.any(|(tag, value)| tag == FLAGS_1 && value & PIE != 0)
}
