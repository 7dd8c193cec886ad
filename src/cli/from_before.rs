//! What programs are made of that an earlier build made, perhaps in another way: a `make` that
//! finds an object does not ask how it came to be.

use super::build_state::BuildState;
use super::files;
use super::lookups::{Lookup, Lookups};
use crate::bytes;
use crate::compiler::project::relative;
use crate::compiler::text::stamp::{Moment, Stamp};
use crate::history::format::FileState;
use crate::ids::FpHasher;
use crate::trace::module::Module;
use crate::trace::uses::Uses;
use std::io::Read;
use std::path::{Path, PathBuf};

/// With this begins what ccache keeps.
const CCACHE: &[u8] = &[0xcc, 0xac];
const ELF: &[u8] = b"\x7fELF";
const ARCHIVE: &[u8] = b"!<arch>";
/// Where the kind of an ELF file is, and that of an object.
const KIND: usize = 16;
const RELOCATABLE: u8 = 1;

/// Notes the files that a build made since what says how to make them is what it is: build
/// descriptions, and what is read by others than compilers. `files` are those when it began.
pub fn note(state: &mut BuildState, root: &Path, files: &FileState, uses: &Uses) {
    let mut hasher = FpHasher::new("how files are made");
    let lookups = Lookups::new(root, state);
    for (name, content) in files.iter().filter(|(name, _)| !state.outputs.contains(*name)) {
        let is_read = || state.inputs.contains(name) && state.is_read_by_others(name);
        let is_source = || state.unanalysed.contains(name);
        let is_tool = || state.generator_files.contains(name) || is_read() && !is_source();
        if files::is_build_description(name) || is_tool() {
            hasher.str(name);
            hasher.fp(content);
        } else if matches!(lookups.at(name), Some(Lookup::Process | Lookup::Makefile)) {
            hasher.str(name);
        }
    }
    let fresh_for = Some(hasher.finish());
    if state.fresh_for != fresh_for {
        state.fresh.clear();
        state.fresh_for = fresh_for;
    }
    let made = uses.files.iter().filter(|(_, used)| used.made || used.written);
    state.fresh.extend(made.map(|(path, _)| relative(root, path)));
}

/// A file that went into these programs in this build and that another one made: an object or
/// a library, or a source that is older than what says how to make it.
pub fn find<'p>(
    programs: impl Iterator<Item = &'p String>,
    state: &BuildState,
    root: &Path,
    uses: &Uses,
    began: Moment,
) -> Option<String> {
    // What is used elsewhere nobody notes.
    let mut programs = programs.map(|name| root.join(bytes::path(name)));
    if let Some(old) = programs.find_map(|program| elsewhere(root, &program, began)) {
        return Some(old);
    }
    if uses.incomplete.is_some() {
        return object_in(root, root, began).or_else(|| source_of(state, root, began));
    }
    let used = uses.files.iter().filter(|(_, used)| used.read && !used.made);
    let mut used = used.map(|(path, used)| (path, used, relative(root, path)));
    let found = used.find(|(path, used, name)| {
        // What ccache keeps is found by what it is made of.
        let is_compiled = || used.compiled && !starts_with(path, CCACHE);
        let is_source = || is_compiled() || state.unanalysed.contains(name);
        let is_old = || is_source() && !state.fresh.contains(name) && !is_of_configure(path);
        // Objects that nobody needs any more may be gone.
        let is_object = || is_object_or_was(root, name);
        state.outputs.contains(name) && (is_object() || is_old())
    });
    found.map(|(.., name)| name)
}

/// An object in a directory that was there when the build began. Of a build that is not known
/// as a whole, each of them may be part of programs.
fn object_in(root: &Path, directory: &Path, began: Moment) -> Option<String> {
    // What cannot be looked at may be one.
    let Ok(paths) = files::paths(directory, |_| false) else {
        return Some(relative(root, directory));
    };
    let is_part = |path: &Path| is_object(path) && !is_program(path);
    let old = paths.files.into_iter().find(|(_, path)| is_part(path) && is_before(path, began));
    old.map(|(_, path)| relative(root, &path))
}

/// A source that some build made, and this one did not.
fn source_of(state: &BuildState, root: &Path, began: Moment) -> Option<String> {
    let is_source = |name: &&String| [".c", ".h"].iter().any(|end| name.ends_with(end));
    let mut made = state.outputs.iter().filter(is_source);
    let is_old =
        |path: PathBuf| path.exists() && is_before(&path, began) && !is_of_configure(&path);
    made.find(|name| is_old(root.join(bytes::path(name)))).cloned()
}

/// An object that went into a program and lies outside of the project; or, if the program
/// does, whatever is there.
fn elsewhere(root: &Path, program: &Path, began: Moment) -> Option<String> {
    let (Ok(real_root), Ok(real)) = (root.canonicalize(), program.canonicalize()) else {
        return Some(relative(root, program));
    };
    if !real.starts_with(&real_root) {
        let directories = real.ancestors().skip(1);
        // Of `/tmp` or `/home`, only what is below.
        let is_apart = |directory: &&Path| !real_root.starts_with(directory);
        let is_deep = |directory: &&Path| directory.components().count() > 2;
        return match directories.take_while(is_apart).take_while(is_deep).last() {
            Some(directory) => object_in(root, directory, began),
            None => Some(relative(root, program)),
        };
    }
    let units = Module::read(program).ok()?.records.units;
    let units = units.iter().filter_map(|unit| unit.index().ok());
    let mut objects = units.map(|unit| root.join(bytes::path(&unit.key.object)));
    let old = objects.find(|object| {
        let real = object.canonicalize();
        real.is_ok_and(|real| !real.starts_with(&real_root) && is_before(&real, began))
    });
    old.map(|object| relative(root, &object))
}

fn is_before(path: &Path, began: Moment) -> bool {
    Stamp::of(path).is_none_or(|stamp| stamp.is_before(began))
}

/// Whether a file goes into programs as it is, or is one: an object, an archive, a library.
pub fn is_object(path: &Path) -> bool {
    starts_with(path, ELF) || starts_with(path, ARCHIVE)
}

/// The same of a file that may be gone, and then has the name of one.
pub fn is_object_or_was(root: &Path, name: &str) -> bool {
    let path = root.join(bytes::path(name));
    is_object(&path) || !path.exists() && is_name_of_object(name)
}

/// Whether a file can be run or loaded.
pub fn is_program(path: &Path) -> bool {
    let start = start(path, KIND + 1);
    start.is_some_and(|start| start.starts_with(ELF) && start[KIND] != RELOCATABLE)
}

fn is_name_of_object(name: &str) -> bool {
    [".o", ".lo", ".a", ".so"].iter().any(|end| name.ends_with(end))
}

fn starts_with(path: &Path, magic: &[u8]) -> bool {
    start(path, magic.len()).is_some_and(|start| start == magic)
}

fn start(path: &Path, length: usize) -> Option<Vec<u8>> {
    // A pipe would keep us waiting for ever.
    path.metadata().ok().filter(|meta| meta.is_file())?;
    let mut start = vec![0; length];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).ok()?;
    Some(start)
}

/// Whether autoconf's `configure` wrote a file, and says so: it does that for all makefiles.
fn is_of_configure(path: &Path) -> bool {
    let bytes = std::fs::read(path).unwrap_or_default();
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    line.contains(" Generated from ") && line.contains(" by configure.")
}
