//! What programs are made of that an earlier build made, perhaps in another way: a `make` that
//! finds an object does not ask how it came to be.

use super::build_state::BuildState;
use super::files;
use crate::compiler::project::relative;
use crate::compiler::text::stamp::{Moment, Stamp};
use crate::history::format::FileState;
use crate::ids::FpHasher;
use crate::trace::uses::Uses;
use std::io::Read;
use std::path::Path;

/// With this begins what ccache keeps.
const CCACHE: &[u8] = &[0xcc, 0xac];

/// Notes the files that a build made since the build descriptions are what they are; `files`
/// are those when it began.
pub fn note(state: &mut BuildState, root: &Path, files: &FileState, uses: &Uses) {
    let mut hasher = FpHasher::new("build descriptions");
    let is_description = |name: &str| files::is_build_description(name);
    let descriptions = files.iter().filter(|(name, _)| is_description(name));
    for (name, content) in descriptions.filter(|(name, _)| !state.outputs.contains(*name)) {
        hasher.bytes(name.as_bytes());
        hasher.fp(content);
    }
    let descriptions = Some(hasher.finish());
    if state.fresh_for != descriptions {
        state.fresh.clear();
        state.fresh_for = descriptions;
    }
    let made = uses.files.iter().filter(|(_, used)| used.made || used.written);
    state.fresh.extend(made.map(|(path, _)| relative(root, path)));
}

/// A file that went into these programs in this build and that another one made: an object or
/// a library, or a source since which a build description changed.
pub fn find<'p>(
    programs: impl Iterator<Item = &'p String>,
    state: &BuildState,
    root: &Path,
    uses: &Uses,
    began: Moment,
) -> Option<String> {
    // What is used there nobody notes.
    let mut elsewhere = programs.filter(|name| Path::new(name).is_absolute());
    if let Some(old) = elsewhere.find_map(|program| object_elsewhere(root, program, began)) {
        return Some(old);
    }
    if uses.incomplete.is_some() {
        return object_from_before(root, root, began);
    }
    let used = uses.files.iter().filter(|(_, used)| used.read && !used.made);
    let mut used = used.map(|(path, used)| (path, used, relative(root, path)));
    let found = used.find(|(path, used, name)| {
        // What ccache keeps is found by what it is made of.
        let is_compiled = || used.compiled && !starts_with(path, CCACHE);
        let is_source = || is_compiled() || state.unanalysed.contains(name);
        let is_old = || is_source() && !state.fresh.contains(name) && !is_of_configure(path);
        state.outputs.contains(name) && (is_object(path) || is_old())
    });
    found.map(|(.., name)| name)
}

/// An object that was there when the build began. Of a build that is not known as a whole,
/// each of them may be part of programs.
fn object_from_before(root: &Path, directory: &Path, began: Moment) -> Option<String> {
    let is_old = |path: &Path| Stamp::of(path).is_none_or(|stamp| stamp.is_before(began));
    // What cannot be looked at may be one.
    let Ok(paths) = files::paths(directory, |_| false) else {
        return Some(relative(root, directory));
    };
    let old = paths.files.into_iter().find(|(_, path)| is_object(path) && is_old(path));
    old.map(|(_, path)| relative(root, &path))
}

/// The same for a program that is built outside of the project, in the whole tree that it is
/// part of and the project is not.
fn object_elsewhere(root: &Path, program: &str, began: Moment) -> Option<String> {
    let directories = Path::new(program).ancestors().skip(1);
    let is_apart = |directory: &&Path| !root.starts_with(directory);
    // Of `/tmp` or `/home`, only what is below.
    let is_deep = |directory: &&Path| directory.components().count() > 2;
    match directories.take_while(is_apart).take_while(is_deep).last() {
        Some(directory) => object_from_before(root, directory, began),
        None => Some(program.to_string()),
    }
}

/// Whether a file goes into programs as it is: an object, an archive, a library.
fn is_object(path: &Path) -> bool {
    starts_with(path, b"\x7fELF") || starts_with(path, b"!<arch>")
}

fn starts_with(path: &Path, magic: &[u8]) -> bool {
    let mut start = vec![0; magic.len()];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == magic
}

/// Whether autoconf's `configure` wrote a file, and says so: it does that for all makefiles.
fn is_of_configure(path: &Path) -> bool {
    let bytes = std::fs::read(path).unwrap_or_default();
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    line.contains(" Generated from ") && line.contains(" by configure.")
}
