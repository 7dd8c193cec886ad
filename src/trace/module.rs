//! Programs and libraries as files: build-id and records.

use crate::cfg::format::{FormatError, Records};
use crate::instrument::RECORD_SECTION;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// An executable or shared library with the records of its units.
pub struct Module {
    pub path: PathBuf,
    pub build_id: Vec<u8>,
    pub records: Records,
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

/// Names that a library exports or takes from others. Of a program that was
/// linked without us, all names; `None` if it does not have them any more.
pub fn known_names(path: &Path) -> Option<HashSet<String>> {
    let bytes = fs_err::read(path).ok()?;
    let elf = object::File::parse(&*bytes).ok()?;
    let is_ours = elf.section_by_name(RECORD_SECTION).is_some();
    if is_ours && elf.symbols().next().is_none() {
        return None;
    }
    let inside = elf.symbols().filter(|_| is_ours);
    let symbols = elf.dynamic_symbols().chain(inside);
    Some(symbols.filter_map(|symbol| symbol.name().ok().map(String::from)).collect())
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
        let bytes =
            fs_err::read(path).map_err(|source| ModuleError::Read { path: name(), source })?;
        let elf_error = |source| ModuleError::Elf { path: name(), source };
        let mut module =
            Self { path: path.to_path_buf(), build_id: Vec::new(), records: Records::default() };
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
        self.build_id = elf.build_id().ok().flatten().unwrap_or_default().to_vec();
        let section = elf.section_by_name(RECORD_SECTION);
        let data = section.and_then(|section| section.data().ok()).unwrap_or_default();
        let records =
            Records::read(data).map_err(|source| ModuleError::Record { path: name(), source })?;
        self.records.units.extend(records.units);
        self.records.links.extend(records.links);
        Ok(())
    }
}
