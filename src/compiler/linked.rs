//! What goes into a program without a record of its own, and whether it is
//! still what went into it.

use super::project::Project;
use super::toolchain;
use crate::cfg::format::LinkRecord;
use crate::ids::Fingerprint;
use crate::instrument::RECORD_SECTION;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::BTreeSet;
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
    let names: BTreeSet<&str> = record.inputs.iter().map(|(name, _)| name.as_str()).collect();
    let of_file = |file: &str| -> BTreeSet<&(String, Fingerprint)> {
        let is_of_file = |name: &str| !is_whole(name) && file_of(name) == file;
        record.inputs.iter().filter(|(name, _)| is_of_file(name)).collect()
    };
    let wholes = record.inputs.iter().filter(|(name, _)| is_whole(name));
    let same_wholes = { wholes }.all(|(name, then)| {
        let path = project.root.join(file_of(name));
        !path.is_file() || toolchain::of_program(&path) == *then
    });
    let files: BTreeSet<&str> =
        names.iter().filter(|name| !is_whole(name)).map(|name| file_of(name)).collect();
    same_wholes
        && files.into_iter().all(|file| {
            let Ok(bytes) = std::fs::read(project.root.join(file)) else { return true };
            let mut now = Unanalysed::default();
            now.add(file, &bytes);
            now.inputs.iter().collect::<BTreeSet<_>>() == of_file(file)
        })
}

fn is_whole(name: &str) -> bool {
    name.starts_with(LINKER) || name.starts_with(WHOLE)
}

/// The file of an input, without the member of an archive.
fn file_of(name: &str) -> &str {
    let name = name.strip_prefix(LINKER).or(name.strip_prefix(WHOLE)).unwrap_or(name);
    match name.strip_suffix(')').and_then(|name| name.rsplit_once('(')) {
        Some((file, _)) => file,
        None => name,
    }
}

/// What goes into a program without a record of its own.
#[derive(Default)]
pub struct Unanalysed {
    pub inputs: Vec<(String, Fingerprint)>,
    pub names: BTreeSet<String>,
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
        let has_record = file
            .as_ref()
            .is_ok_and(|f| f.section_by_name(RECORD_SECTION).is_some_and(|s| s.size() > 0));
        if has_record {
            return;
        }
        self.inputs.push((name.to_string(), Fingerprint::of(bytes)));
        if let Ok(file) = file {
            let symbols = file.symbols().chain(file.dynamic_symbols());
            let names = symbols.filter(|s| s.is_global() || s.is_undefined());
            self.names.extend(names.filter_map(|s| s.name().ok().map(String::from)));
        }
    }
}
