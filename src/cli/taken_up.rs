//! What a build took up of what changed. One that succeeds may have left programs as they
//! were: `make` does not look at flags, and rules forget what they depend on. Such a change
//! stays one until the programs are made anew.

use super::build_state::BuildState;
use super::building::Extent;
use super::files;
use super::from_before;
use super::git;
use super::workspace::Workspace;
use crate::compiler::text::stamp::Moment;
use crate::history::format::FileState;
use crate::trace::uses::Uses;
use std::collections::BTreeSet;
use std::path::Path;

/// A build that succeeded.
pub struct Made<'a> {
    pub workspace: &'a Workspace,
    pub extent: Extent,
    pub uses: &'a Uses,
    /// Programs that were linked.
    pub linked: &'a BTreeSet<String>,
    pub began: Moment,
}

impl Made<'_> {
    /// Notes the files as the programs know them; `files` are those when the build began.
    pub fn note(&self, state: &mut BuildState, files: FileState) {
        let old = self.left_over(state);
        let is_whole = old.is_none();
        let known = |then: Option<&FileState>| match then {
            Some(then) if !is_whole => self.known(state, then, &files),
            _ => files.clone(),
        };
        let descriptions = known(state.complete.as_ref().or(state.descriptions.as_ref()));
        let complete = (self.extent == Extent::Everything).then(|| known(state.complete.as_ref()));
        state.descriptions = Some(files::made_from(state, &descriptions));
        if let Some(complete) = complete {
            let others = complete.iter().filter(|(name, known)| files.get(*name) != Some(*known));
            let new = files.keys().filter(|name| !complete.contains_key(*name));
            state.left = others.map(|(name, _)| name).chain(new).cloned().collect();
            state.complete = Some(complete);
            state.from_before = old.filter(|_| !state.left.is_empty());
            if is_whole {
                state.appeared.clear();
            }
        }
    }

    /// The files, where those that were not taken up are what they were.
    fn known(&self, state: &BuildState, then: &FileState, files: &FileState) -> FileState {
        let mut known = files.clone();
        let names: BTreeSet<&String> = then.keys().chain(files.keys()).collect();
        for name in names {
            let is_gone = !files.contains_key(name) && !files::is_build_description(name);
            let is_same = then.get(name) == files.get(name);
            // A build that needs what is gone fails.
            if is_same || is_gone || self.is_taken_up(state, then, name) {
                continue;
            }
            match then.get(name) {
                Some(content) => known.insert(name.clone(), *content),
                None => known.remove(name),
            };
        }
        known
    }

    fn is_taken_up(&self, state: &BuildState, then: &FileState, name: &str) -> bool {
        if name == git::STATE {
            return self.uses.asks_git || !state.inputs.contains(name);
        }
        // What the build makes is known by what that is made of.
        if state.outputs.contains(name) {
            return true;
        }
        if files::is_build_description(name) {
            return is_followed(name) || self.is_tracked(name) || self.all_are_tracked(state);
        }
        // Whether units were compiled from it as it is, their records say.
        let is_new = state.missing.contains(name) && !then.contains_key(name);
        let is_input = state.inputs.contains(name) || state.generator_files.contains(name);
        let is_of_others = state.is_read_by_others(name) || state.generator_files.contains(name);
        if !(is_new || is_input && is_of_others) {
            return true;
        }
        let path = self.workspace.project.root.join(name);
        self.uses.files.get(&path).is_some_and(|used| used.read || used.executed)
    }

    /// A program that was not linked in this build, or what it or another is made of and an
    /// earlier build made.
    fn left_over(&self, state: &BuildState) -> Option<String> {
        let mut programs = self.programs(state).peekable();
        if programs.peek().is_none() {
            return Some(String::from("what is built"));
        }
        let program = programs.find(|name| !self.linked.contains(*name)).cloned();
        let (root, programs) = (&self.workspace.project.root, self.programs(state));
        program.or_else(|| from_before::find(programs, state, root, self.uses, self.began))
    }

    /// Programs that are there. A build of everything looks at all that are still part of it.
    fn programs<'s>(&'s self, state: &'s BuildState) -> impl Iterator<Item = &'s String> {
        let root = &self.workspace.project.root;
        let is_there = |name: &&String| root.join(name).exists();
        let is_looked_at = |name: &&String| {
            self.extent != Extent::Everything
                || self.uses.incomplete.is_some()
                // Of what is elsewhere no use is noted.
                || Path::new(*name).is_absolute()
                || self.uses.files.contains_key(&root.join(name))
                || self.linked.contains(*name)
        };
        state.programs.iter().filter(is_there).filter(is_looked_at)
    }

    fn all_are_tracked(&self, state: &BuildState) -> bool {
        let mut programs = self.programs(state).peekable();
        programs.peek().is_some() && programs.all(|program| self.is_tracked(program))
    }

    /// Whether a file lies where CMake or ninja builds: these make anew what has another
    /// command.
    fn is_tracked(&self, name: &str) -> bool {
        let root = &self.workspace.project.root;
        let directories = Path::new(name).ancestors().skip(1);
        { directories }.map(|directory| root.join(directory)).any(|directory| {
            ["CMakeCache.txt", "build.ninja"].iter().any(|file| directory.join(file).exists())
        })
    }
}

/// Whether a build description is one of CMake or Meson, which follow what it says.
fn is_followed(name: &str) -> bool {
    let base = Path::new(name).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let names = ["CMakeLists.txt", "meson.build", "meson_options.txt", "meson.options"];
    names.contains(&base) || [".cmake", ".ninja"].iter().any(|end| base.ends_with(end))
}
