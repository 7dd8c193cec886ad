//! Programs and libraries as files: build-id and records.

use crate::cfg::format::{FormatError, Records};
use crate::instrument::RECORD_SECTION;
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::HashSet;
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

/// Names that a library exports or takes from others.
pub fn dynamic_names(path: &Path) -> Option<HashSet<String>> {
    let bytes = fs_err::read(path).ok()?;
    let elf = object::File::parse(&*bytes).ok()?;
    let names = elf.dynamic_symbols().filter_map(|symbol| symbol.name().ok().map(String::from));
    Some(names.collect())
}

impl Module {
    pub fn read(path: &Path) -> Result<Self, ModuleError> {
        let name = || path.display().to_string();
        let bytes =
            fs_err::read(path).map_err(|source| ModuleError::Read { path: name(), source })?;
        let elf = object::File::parse(&*bytes)
            .map_err(|source| ModuleError::Elf { path: name(), source })?;
        let build_id = elf.build_id().ok().flatten().unwrap_or_default().to_vec();
        let section = elf.section_by_name(RECORD_SECTION);
        let data = section.and_then(|section| section.data().ok()).unwrap_or_default();
        let records =
            Records::read(data).map_err(|source| ModuleError::Record { path: name(), source })?;
        Ok(Self { path: path.to_path_buf(), build_id, records })
    }
}
