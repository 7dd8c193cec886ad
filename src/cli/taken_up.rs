//! What a build took up of what changed. One that succeeds may have left programs as they
//! were: `make` does not look at flags, and rules forget what they depend on. Such a change
//! stays one until the programs are made anew.

use super::build_state::{BuildState, Contents};
use super::building::Extent;
use super::files;
use super::from_before;
use super::git;
use super::lookups::{Lookup, Lookups, Sought};
use super::workspace::Workspace;
use crate::bytes;
use crate::compiler::project::relative;
use crate::compiler::text::stamp::{Moment, Stamp};
use crate::history::format::FileState;
use crate::ids::Fingerprint;
use crate::trace::module::Module;
use crate::trace::uses::Uses;
use std::collections::BTreeSet;
use std::path::Path;

/// A build that ended.
pub struct Made<'a> {
    pub workspace: &'a Workspace,
    pub extent: Extent,
    pub uses: &'a Uses,
    /// Programs that were linked, and sources that were compiled without being analysed.
    pub linked: &'a BTreeSet<String>,
    pub unanalysed: &'a BTreeSet<String>,
    pub began: Moment,
}

impl Made<'_> {
    /// Notes the files as the programs know them, after a build that succeeded; `files` are
    /// those when it began.
    pub fn note(&self, state: &mut BuildState, files: FileState) {
        if state.inputs_incomplete.is_some() && self.uses.incomplete.is_none() {
            match self.unseen(state, &files) {
                Some(name) => state.unseen_from_before = Some(name),
                None => state.forget_unseen(),
            }
        }
        let root = &self.workspace.project.root;
        let made = state.made_descriptions(&self.workspace.project.root);
        let then = state.known().cloned();
        let is_another = then.as_ref().is_some_and(|then| *then != files)
            || state.configured.as_ref().is_some_and(|then| *then != made);
        let is_asked = is_another || !state.appeared.is_empty();
        let old = then.as_ref().filter(|_| is_asked).and_then(|_| self.left_over(state));
        let is_whole = old.is_none();
        let known = match &then {
            Some(then) if !is_whole => self.known(state, then, &files),
            _ => files.clone(),
        };
        if !is_whole {
            self.note_mixed(state, &files);
        }
        let configured = match &state.configured {
            Some(then) if !is_whole => self.configured(then, &made),
            _ => made.clone(),
        };
        let is_complete = is_whole && self.extent == Extent::Everything;
        let contents = match self.has_made(|_| true) {
            _ if is_complete && is_asked => Contents::All,
            true => Contents::Read,
            false => Contents::Written,
        };
        state.note_contents(root, self.uses, contents);
        state.descriptions = Some(files::made_from(root, state, &known));
        if self.extent == Extent::Everything {
            let others = known.iter().filter(|(name, known)| files.get(*name) != Some(*known));
            let new = files.keys().filter(|name| !known.contains_key(*name));
            let made = configured.iter().filter(|(name, known)| made.get(*name) != Some(*known));
            let names = others.chain(made).map(|(name, _)| name);
            state.left = names.chain(new).cloned().collect();
            state.complete = Some(known);
            state.from_before = old.filter(|_| !state.left.is_empty());
            if is_whole && is_asked {
                state.appeared.clear();
            }
        }
        state.configured = Some(configured);
    }

    /// Notes that programs may be made in two ways now: in that of before, and in that of
    /// descriptions that changed. Then none of the two is what they are made by.
    pub fn note_mixed(&self, state: &mut BuildState, files: &FileState) {
        if !self.has_made_objects() {
            return;
        }
        let Some(then) = state.known() else { return };
        let names: BTreeSet<&String> = then.keys().chain(files.keys()).collect();
        let names = names.into_iter().filter(|name| then.get(*name) != files.get(*name));
        let names = names.filter(|name| self.is_description(state, name));
        let mixed: Vec<String> =
            names.filter(|name| !self.is_taken_up(state, then, name)).cloned().collect();
        for known in [&mut state.complete, &mut state.descriptions].into_iter().flatten() {
            known.extend(mixed.iter().map(|name| (name.clone(), in_two_ways())));
        }
    }

    /// The files, where those that were not taken up are what they were.
    fn known(&self, state: &BuildState, then: &FileState, files: &FileState) -> FileState {
        let is_mixed = self.has_made_objects();
        let root = &self.workspace.project.root;
        let lookups = Lookups::new(root, state);
        let mut now = Sought::default();
        now.add(root, self.uses, &state.inputs);
        let lookups_now = Lookups::of(root, state, &now);
        let mut known = files.clone();
        let names: BTreeSet<&String> = then.keys().chain(files.keys()).collect();
        for name in names {
            // A build that needs what is gone fails, unless it finds it by itself.
            let is_gone = !files.contains_key(name)
                && !self.is_description(state, name)
                && !is_of_others(state, name);
            let is_same = then.get(name) == files.get(name);
            // CMake and Meson ask for each source that they name, and name it no more.
            let is_dropped = is_gone && name.ends_with(".c") && self.has_configured();
            let is_left = match lookups.between(name, then, files) {
                _ if is_dropped => false,
                Some(Lookup::Process | Lookup::Makefile) if !self.is_description(state, name) => {
                    let is_again = lookups_now.between(name, then, files).is_some();
                    !(self.is_read(name) || is_again && self.has_made(|_| true))
                }
                _ => false,
            };
            if is_same || !is_left && (is_gone || self.is_taken_up(state, then, name)) {
                continue;
            }
            let content = match is_mixed && self.is_description(state, name) {
                true => Some(in_two_ways()),
                false => then.get(name).copied(),
            };
            match content {
                Some(content) => known.insert(name.clone(), content),
                None => known.remove(name),
            };
        }
        known
    }

    /// The same for build descriptions that a build made.
    fn configured(&self, then: &FileState, made: &FileState) -> FileState {
        let is_mixed = self.has_made_objects();
        let mut known = then.clone();
        for (name, content) in made.iter().filter(|(name, now)| then.get(*name) != Some(*now)) {
            match then.contains_key(name) {
                true if is_mixed => known.insert(name.clone(), in_two_ways()),
                true => None,
                // Nothing was built by it before.
                false => known.insert(name.clone(), *content),
            };
        }
        known.retain(|name, _| made.contains_key(name));
        known
    }

    fn is_taken_up(&self, state: &BuildState, then: &FileState, name: &str) -> bool {
        if name == git::STATE {
            return self.uses.asks_git || !state.inputs.contains(name);
        }
        if self.is_description(state, name) {
            return self.is_followed(state, then, name);
        }
        // What the build makes is known by what that is made of.
        if state.outputs.contains(name) {
            return true;
        }
        if state.unanalysed.contains(name) {
            return self.is_compiled(state, name);
        }
        // Whether units were compiled from it as it is, their records say.
        let is_new = state.missing.contains(name) && !then.contains_key(name);
        if !(is_new || is_of_others(state, name)) {
            return true;
        }
        self.is_read(name)
    }

    /// Whether a process of this build read a file, and the build made something.
    fn is_read(&self, name: &str) -> bool {
        let path = self.workspace.project.root.join(bytes::path(name));
        let is_used = self.uses.files.get(&path).is_some_and(|used| used.read || used.executed);
        is_used && self.has_made(|_| true)
    }

    /// Whether CMake or Meson read their descriptions in this build.
    fn has_configured(&self) -> bool {
        let root = &self.workspace.project.root;
        let mut read = self.uses.files.iter().filter(|(_, used)| used.read_by_others);
        read.any(|(path, _)| {
            let name = relative(root, path);
            is_of_cmake_or_meson(&name) && !name.ends_with(".ninja")
        })
    }

    /// Whether a file says how to build: by its name, or since a make reads it, or since the
    /// build command names it.
    fn is_description(&self, state: &BuildState, name: &str) -> bool {
        let command = self.workspace.config.build.command.as_deref().unwrap_or_default();
        let is_named = || {
            let end = |c: char| c.is_whitespace() || "'\"();&|=".contains(c);
            command.split(end).any(|word| word.trim_start_matches("./") == name)
        };
        files::is_build_description(name) || state.described.contains(name) || is_named()
    }

    /// Whether what a build description says is followed without everything being made anew.
    fn is_followed(&self, state: &BuildState, then: &FileState, name: &str) -> bool {
        if !files::is_file(name) {
            return !then.contains_key(name) || self.all_are_tracked(state);
        }
        let is_known = state.unseen().is_none();
        let is_read = state.inputs.contains(name) || state.missing.contains(name);
        // What a build made is compared with what it was at the end of that.
        state.outputs.contains(name)
            || is_of_cmake_or_meson(name)
            || files::is_tracked(&self.workspace.project.root, name)
            || is_known && !is_read
            || !is_known && self.all_are_tracked(state)
    }

    /// Whether all that is compiled from a file without being analysed was compiled now.
    fn is_compiled(&self, state: &BuildState, name: &str) -> bool {
        let root = &self.workspace.project.root;
        let sources = state.unanalysed_sources.keys();
        sources.filter(|source| root.join(bytes::path(source)).exists()).all(|source| {
            let made_of = state.unanalysed_inputs.get(source);
            made_of.is_some_and(|made_of| !made_of.contains(name))
                || self.unanalysed.contains(source)
        })
    }

    /// Whether this build made such a file.
    fn has_made(&self, is_such: impl Fn(&Path) -> bool) -> bool {
        let made = self.uses.files.iter().filter(|(_, used)| used.made || used.written);
        self.uses.incomplete.is_some() || { made }.any(|(path, _)| is_such(path))
    }

    fn has_made_objects(&self) -> bool {
        !self.linked.is_empty() || self.has_made(from_before::is_object)
    }

    /// A program that was not made in this build, or what it or another is made of and an
    /// earlier build made.
    fn left_over(&self, state: &BuildState) -> Option<String> {
        if !self.has_made_objects() {
            return Some(String::from("what is built"));
        }
        let root = &self.workspace.project.root;
        let is_made = |name: &str| {
            let used = self.uses.files.get(&root.join(bytes::path(name)));
            self.linked.contains(name) || used.is_some_and(|used| used.made)
        };
        let program =
            self.programs(state).find(|name| !is_made(name) && !self.is_abandoned(state, name));
        let program = program.cloned();
        let programs = self.programs(state).filter(|name| is_made(name));
        program.or_else(|| from_before::find(programs, state, root, self.uses, self.began))
    }

    /// Whether a program cannot be made any more, since a source of it is gone. Tests that run it are
    /// selected for that (`BuildState::gone`), and no build will make it.
    fn is_abandoned(&self, state: &BuildState, name: &str) -> bool {
        let root = &self.workspace.project.root;
        let Ok(module) = Module::read(&root.join(bytes::path(name))) else { return false };
        let units = module.records.units.iter().filter_map(|unit| unit.index().ok());
        let mut sources = units.map(|unit| unit.key.source.clone());
        sources.any(|source| {
            !self.workspace.project.place(&source).exists() && state.was_there(&source)
        })
    }

    /// Something that is there and that a build made, or may have made, whose inputs are not
    /// known as a whole: what programs are made of, or a file that is new or changed since then
    /// and that neither this build made nor git knows.
    fn unseen(&self, state: &BuildState, files: &FileState) -> Option<String> {
        if let Some(old) = self.left_over(state) {
            return Some(old);
        }
        let root = &self.workspace.project.root;
        let used = self.uses.files.iter().filter(|(_, used)| !used.made);
        let mut names: BTreeSet<String> = used.map(|(path, _)| relative(root, path)).collect();
        names.extend(files.keys().filter(|name| files::is_file(name)).cloned());
        names.retain(|name| {
            let path = root.join(name);
            let is_made = self.uses.files.get(&path).is_some_and(|used| used.made);
            let is_seen = state.seen.as_ref().is_some_and(|seen| {
                let was_there = seen.files.contains(name) && !state.outputs.contains(name);
                was_there || Stamp::of(&path).is_some_and(|stamp| stamp.is_settled(seen.until))
            });
            // An empty file holds nothing of what made it.
            let has_content = path.metadata().is_ok_and(|meta| meta.is_file() && meta.len() > 0);
            has_content && !is_made && !is_seen
        });
        if names.is_empty() {
            return None;
        }
        let known = git::known(root);
        names.into_iter().find(|name| !known.contains(name))
    }

    /// Programs that are there.
    fn programs<'s>(&'s self, state: &'s BuildState) -> impl Iterator<Item = &'s String> {
        let root = &self.workspace.project.root;
        // One may have another name than it was linked by.
        let made = state.outputs.iter().filter(|name| {
            let path = root.join(bytes::path(name));
            self.uses.files.contains_key(&path) && from_before::is_program(&path)
        });
        let linked = state.programs.iter().filter(|name| root.join(bytes::path(name)).exists());
        linked.chain(made)
    }

    fn all_are_tracked(&self, state: &BuildState) -> bool {
        let root = &self.workspace.project.root;
        let mut programs = self.programs(state).peekable();
        programs.peek().is_some() && programs.all(|program| files::is_tracked(root, program))
    }
}

/// Stands for a description by which only a part of the programs is made.
fn in_two_ways() -> Fingerprint {
    Fingerprint::of(b"made in two ways")
}

/// Whether somebody else reads a file in a build than a compiler that makes a unit of it.
fn is_of_others(state: &BuildState, name: &str) -> bool {
    let is_read = state.inputs.contains(name) && state.is_read_by_others(name);
    is_read || state.generator_files.contains(name) || state.unanalysed.contains(name)
}

/// Whether a build description is one of CMake or Meson, which follow what it says.
fn is_of_cmake_or_meson(name: &str) -> bool {
    let base = Path::new(name).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let names = ["CMakeLists.txt", "meson.build", "meson_options.txt", "meson.options"];
    names.contains(&base) || [".cmake", ".ninja"].iter().any(|end| base.ends_with(end))
}
