//! What is known of the builds of a project beyond their programs. All of it
//! only ever adds reasons to select.

use super::lookups::Sought;
use super::workspace::Workspace;
use super::{files, from_before, git, under_way};
use crate::bytes;
use crate::compiler::project::relative;
use crate::compiler::text::stamp::Moment;
use crate::history::format::FileState;
use crate::ids::Fingerprint;
use crate::trace::uses::Uses;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where files that tests left are noted.
const LEFT_BY_TESTS: &str = "left-by-tests.json";

/// Which files that builds made are part of programs as they are now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Those that the build wrote.
    Written,
    /// Those that it read as well: it made something.
    Read,
    /// All of them: nothing is left of an earlier build.
    All,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct BuildState {
    /// Programs and libraries that were linked, relative to the root.
    pub programs: BTreeSet<String>,
    /// Sources of programs that ran during a build: what they generate may
    /// become part of any program.
    pub generator_files: BTreeSet<String>,
    /// What the real compiler compiled alone: sources, and all that they are
    /// made of.
    pub unanalysed: BTreeSet<String>,
    /// The sources among them, and why.
    #[serde(default)]
    pub unanalysed_sources: BTreeMap<String, String>,
    /// What each of these was made of the last time, if that is known.
    #[serde(default)]
    pub unanalysed_inputs: BTreeMap<String, BTreeSet<String>>,
    /// Of some of them it is not known what they are made of.
    #[serde(default)]
    pub has_unknown_inputs: bool,
    /// Programs that left no trace in some build, each with the files of its units if these
    /// are known: any test may run them.
    #[serde(default)]
    pub untraced: BTreeMap<String, Option<BTreeSet<String>>>,
    /// Files of the project, relative to its root, that processes of some build read, executed
    /// or looked for, and that no build makes.
    #[serde(default)]
    pub inputs: BTreeSet<String>,
    /// Those of them that somebody else than a compiler of ours read, if that is known: what
    /// units include may be copied, too, or be made into something else.
    #[serde(default)]
    pub read_by_others: Option<BTreeSet<String>>,
    /// Those of them that a make read, to know how to build.
    #[serde(default)]
    pub described: BTreeSet<String>,
    /// What builds looked for by its name, or by listing directories.
    #[serde(flatten)]
    pub sought: Sought,
    /// Those that were looked for and not there.
    #[serde(default)]
    pub missing: BTreeSet<String>,
    /// Those of them that were there in a later build: what was compiled before does not know
    /// of them.
    #[serde(default)]
    pub appeared: BTreeSet<String>,
    /// Files that were there in some build, and not in a later one.
    #[serde(default)]
    pub gone: BTreeSet<String>,
    /// What changed and the last build did not take up: programs are still made of what it was.
    #[serde(default)]
    pub left: BTreeSet<String>,
    /// What programs are still made of and an earlier build made, if something is left.
    #[serde(default)]
    pub from_before: Option<String>,
    /// What builds make. An incremental build reads what an earlier one made.
    #[serde(default)]
    pub outputs: BTreeSet<String>,
    /// What a build left of those that a process read which is no compiler of ours: somebody
    /// may edit them since.
    #[serde(default)]
    pub contents_made: FileState,
    /// Those of them that somebody edited before a build read them: without them a build makes
    /// something else.
    #[serde(default)]
    pub edited_once: BTreeSet<String>,
    /// Files that tests made, and what they left of those that builds make. What tests leave where
    /// a build looks is nothing new to it. Kept apart: tests may run while something is built.
    #[serde(skip)]
    pub left_by_tests: FileState,
    /// Those that were made since build descriptions are what they are, and what these are.
    #[serde(default)]
    pub fresh: BTreeSet<String>,
    #[serde(default)]
    pub fresh_for: Option<Fingerprint>,
    /// Build descriptions that builds made, as the programs know them: a makefile of configure.
    #[serde(default)]
    pub configured: Option<FileState>,
    /// The same of CMake, ninja and Meson, as the last build that succeeded left them.
    #[serde(default)]
    pub made_by_tools: FileState,
    /// Why there may be more inputs, if so: of one build, until everything is made anew by builds
    /// whose inputs are known.
    #[serde(default = "before_uses")]
    pub inputs_incomplete: Option<String>,
    /// The files that were there when the first such build began, and when that was: what is new
    /// or changed since then may be made of such inputs.
    #[serde(default)]
    pub seen: Option<Seen>,
    /// What keeps the last build, whose inputs are known, from being all that counts.
    #[serde(default)]
    pub unseen_from_before: Option<String>,
    /// A build was killed, and no other has noted yet what it did.
    #[serde(skip)]
    pub was_killed: bool,
    /// Some program keeps a log of nodes.
    #[serde(default)]
    pub logs_nodes: bool,
    /// The exit code of the last build, if it failed.
    #[serde(default)]
    pub failed: Option<i32>,
    /// Build descriptions, sources and what else builds read, when the last build began that
    /// succeeded; what that did not take up, as it was before.
    pub descriptions: Option<FileState>,
    /// The same of all files, and for the last build of everything: what is the same since
    /// then, the programs are made of.
    #[serde(default)]
    pub complete: Option<FileState>,
}

/// The files of a project at the last moment of which it is known what had made them.
#[derive(Debug, Serialize, Deserialize)]
pub struct Seen {
    pub until: Moment,
    pub files: BTreeSet<String>,
}

/// A state of an edgewise that did not record the files of builds.
fn before_uses() -> Option<String> {
    Some(String::from("an earlier build was not recorded"))
}

impl BuildState {
    /// The state, empty before the first build. One that cannot be read is an
    /// error: taken for empty it would leave out reasons to select.
    pub fn read(workspace: &Workspace) -> anyhow::Result<Self> {
        let path = path(workspace);
        let state: Self = match fs_err::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).with_context(|| {
                format!(
                    "{} is damaged\nhint: remove it, clean, and `edgewise build` again",
                    path.display()
                )
            })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::default(),
            Err(error) => return Err(error.into()),
        };
        Ok(Self {
            was_killed: under_way::was_killed(workspace),
            left_by_tests: left_by_tests(workspace),
            ..state
        })
    }

    /// Why builds may have read more than is known, if so.
    pub fn unseen(&self) -> Option<&str> {
        let killed = self.was_killed.then_some(under_way::KILLED);
        self.inputs_incomplete.as_deref().or(killed)
    }

    /// Notes that a build may have read more than is known; `files` are those when it began.
    pub fn add_unseen(&mut self, why: &str, began: Moment, files: &FileState) {
        if self.inputs_incomplete.is_none() {
            let files = files.keys().cloned().collect();
            self.seen = Some(Seen { until: began, files });
        }
        self.inputs_incomplete.get_or_insert_with(|| why.to_string());
    }

    /// All that is there was made by builds whose inputs are known.
    pub fn forget_unseen(&mut self) {
        (self.inputs_incomplete, self.seen, self.unseen_from_before) = (None, None, None);
    }

    /// Notes a program that leaves no trace. What it was made of in earlier
    /// builds still counts: tests may have been recorded with these.
    pub fn add_untraced(&mut self, program: &str, files: Option<BTreeSet<String>>) {
        let known = self.untraced.entry(program.to_string()).or_insert(Some(BTreeSet::new()));
        match (known.as_mut(), files) {
            (Some(known), Some(files)) => known.extend(files),
            _ => *known = None,
        }
    }

    /// The files that the programs are made of, as far as they are known.
    pub fn known(&self) -> Option<&FileState> {
        self.complete.as_ref().or(self.descriptions.as_ref())
    }

    /// Build descriptions that builds made, as they are now. Those of CMake and Meson are
    /// their own affair.
    pub fn made_descriptions(&self, root: &Path) -> FileState {
        // Who includes whom says nothing of how.
        let says_how = |name: &&String| {
            self.described.contains(*name)
                && !files::is_list_of_dependencies(&root.join(bytes::path(name)))
        };
        let made = self.outputs.iter();
        let made = made.filter(|name| files::is_build_description(name) || says_how(name));
        let made = made.filter(|name| !files::is_tracked(root, name));
        made.filter_map(|name| Some((name.clone(), files::content(&root.join(bytes::path(name)))?)))
            .collect()
    }

    /// Build descriptions that builds made, and what they were when the programs were made.
    pub fn descriptions_made(&self) -> impl Iterator<Item = (&String, &Fingerprint)> {
        let made = self.configured.iter().flatten().chain(&self.made_by_tools);
        made.filter(|(name, _)| self.outputs.contains(*name))
    }

    /// Build descriptions that are others than those by which programs were made: somebody
    /// configured again.
    pub fn reconfigured(&self, root: &Path) -> impl Iterator<Item = String> {
        let now = self.made_descriptions(root);
        let known = self.configured.clone().unwrap_or_default();
        known
            .into_iter()
            .filter(move |(name, then)| now.get(name).is_some_and(|now| now != then))
            .map(|(name, _)| name)
    }

    /// Files that a build made, that others than compilers read, and that are not what the build
    /// left: somebody edited them.
    pub fn edited(&self, root: &Path) -> impl Iterator<Item = String> {
        let made = self.contents_made.iter();
        let is_edited = |(name, then): &(&String, &Fingerprint)| match files::content_made(
            &root.join(bytes::path(name)),
        ) {
            Some(now) => now != **then && self.left_by_tests.get(*name) != Some(&now),
            None => self.edited_once.contains(*name),
        };
        made.filter(is_edited).map(|(name, _)| name.clone())
    }

    /// Notes what a build left of the files that it made. One that it only read keeps the content
    /// that programs are known to be made of, unless the build made something of it.
    pub fn note_contents(&mut self, root: &Path, uses: &Uses, extent: Contents) {
        for (path, used) in &uses.files {
            let name = relative(root, path);
            let is_link = path.is_symlink();
            let is_read =
                used.read_by_others || used.executed || is_link && used.looked_for_by_others;
            let is_known = self.contents_made.contains_key(&name);
            let counts = self.outputs.contains(&name)
                && (is_read || is_known)
                && !self.described.contains(&name)
                && !is_of_build_tool(root, &name);
            if !counts || !is_link && !path.is_file() {
                continue;
            }
            if (used.written || !is_known || extent == Contents::Read)
                && !from_before::is_object(path)
                && let Some(content) = files::content_made(path)
            {
                let then = self.contents_made.insert(name.clone(), content);
                if used.written {
                    self.edited_once.remove(&name);
                } else if then.is_some_and(|then| then != content) {
                    self.edited_once.insert(name);
                }
            }
        }
        let is_by_tool =
            |name: &&String| files::is_build_description(name) && files::is_tracked(root, name);
        let made = self.outputs.iter().filter(is_by_tool).filter_map(|name| {
            Some((name.clone(), files::content_unless_built(&root.join(bytes::path(name)))?))
        });
        self.made_by_tools = made.collect();
        if extent == Contents::All {
            let made = self.contents_made.iter_mut();
            for (name, known) in made {
                let now = files::content_made(&root.join(bytes::path(name)));
                match now {
                    None => _ = self.edited_once.remove(name),
                    Some(now) if now != *known => _ = self.edited_once.insert(name.clone()),
                    Some(_) => {}
                }
                *known = now.unwrap_or(*known);
            }
        }
    }

    /// Notes files that tests wrote: those that were not there before, and those that builds make.
    pub fn note_tests(
        workspace: &Workspace,
        before: &FileState,
        written: &BTreeSet<String>,
    ) -> anyhow::Result<()> {
        let state = Self::read(workspace)?;
        let root = &workspace.project.root;
        let mut left = state.left_by_tests.clone();
        for name in written {
            let path = root.join(bytes::path(name));
            let was_there = before.contains_key(name) || before.contains_key(&format!("{name}/"));
            if state.contents_made.contains_key(name) {
                left.extend(files::content_made(&path).map(|content| (name.clone(), content)));
            } else if !was_there && path.symlink_metadata().is_ok() {
                left.entry(name.clone()).or_default();
            }
        }
        left.retain(|name, _| root.join(bytes::path(name)).symlink_metadata().is_ok());
        if left == state.left_by_tests || state.is_empty() {
            return Ok(());
        }
        let mut file = tempfile::NamedTempFile::new_in(workspace.state())?;
        file.write_all(serde_json::to_string(&left)?.as_bytes())?;
        file.persist(workspace.state().join(LEFT_BY_TESTS))?;
        Ok(())
    }

    /// Whether a build used, or looked for, anything below this name: it may be a link to a
    /// directory by now.
    pub fn looks_below(&self, name: &str) -> bool {
        let prefix = format!("{name}/");
        [&self.inputs, &self.missing, &self.sought.searched, &self.sought.asked].iter().any(
            |names| {
                names.range(prefix.clone()..).next().is_some_and(|first| first.starts_with(&prefix))
            },
        )
    }

    /// Notes what came and went between builds, before the next of them is known.
    pub fn add_files(&mut self, root: &Path, files: &FileState) {
        self.appeared.extend(self.found_now(root).cloned().collect::<Vec<_>>());
        let before = self.known().into_iter().flat_map(|before| before.keys());
        let gone: Vec<String> = before.filter(|name| !files.contains_key(*name)).cloned().collect();
        self.gone.extend(gone);
        self.gone.retain(|name| !files.contains_key(name));
    }

    /// Files that a build looked for in vain, and that are there.
    fn found_now(&self, root: &Path) -> impl Iterator<Item = &String> {
        self.missing.iter().filter(move |name| root.join(bytes::path(name)).exists())
    }

    /// A file that builds looked for before it was there.
    pub fn found_since(&self, root: &Path) -> Option<&String> {
        let mut found = self.appeared.iter().chain(self.found_now(root));
        found.find(|name| !self.outputs.contains(*name) && root.join(bytes::path(name)).exists())
    }

    /// Whether a file was there when programs were built, and no build makes it.
    pub fn was_there(&self, name: &str) -> bool {
        let is_of_build = self.complete.as_ref().is_some_and(|files| files.contains_key(name));
        (is_of_build || self.gone.contains(name)) && !self.outputs.contains(name)
    }

    /// Adds the files that one build used.
    pub fn add_uses(&mut self, root: &Path, uses: &Uses) {
        let mut others = BTreeSet::new();
        for (path, used) in &uses.files {
            let name = relative(root, path);
            if path == root || used.is_only_appended_to() {
                continue;
            }
            if used.described && !path.is_dir() {
                self.described.insert(name.clone());
            }
            if used.made {
                self.outputs.insert(name);
            } else if path.symlink_metadata().is_err() {
                self.missing.insert(name);
            } else if !path.is_dir() || path.is_symlink() {
                self.missing.remove(&name);
                if used.read_by_others {
                    others.insert(name.clone());
                }
                self.inputs.insert(name);
            }
        }
        // Of what earlier builds did that did not note it, nobody knows.
        if self.read_by_others.is_some() || !self.has_built() {
            self.read_by_others.get_or_insert_default().extend(others);
        }
        self.inputs.extend(uses.asks_git.then(|| String::from(git::STATE)));
        self.inputs.retain(|name| !self.outputs.contains(name));
        self.missing.retain(|name| !self.outputs.contains(name));
        self.sought.add(root, uses, &self.inputs);
        if let Some(read) = &mut self.read_by_others {
            read.retain(|name| !self.outputs.contains(name));
        }
    }

    /// Whether no build has noted anything.
    pub fn is_empty(&self) -> bool {
        !self.has_built() && self.programs.is_empty() && self.inputs.is_empty()
    }

    /// Whether a build before this one was ours.
    fn has_built(&self) -> bool {
        self.complete.is_some() || self.descriptions.is_some()
    }

    /// Whether a file that units are made of may become part of something else as well.
    pub fn is_read_by_others(&self, name: &str) -> bool {
        let is_known = self.unseen().is_none();
        match &self.read_by_others {
            Some(read) if is_known => read.contains(name),
            // Of a build that is not ours nothing is known, here as elsewhere.
            _ => self.has_built(),
        }
    }

    pub fn write(&self, workspace: &Workspace) -> anyhow::Result<()> {
        fs_err::create_dir_all(workspace.state())?;
        let mut file = tempfile::NamedTempFile::new_in(workspace.state())?;
        file.write_all(serde_json::to_string(self)?.as_bytes())?;
        file.persist(path(workspace))?;
        Ok(())
    }
}

/// Whether a file is one of those by which CMake, ninja, Meson or autoconf know what they did.
fn is_of_build_tool(root: &Path, name: &str) -> bool {
    let base = name.rsplit('/').next().unwrap_or(name);
    let is_log = base.ends_with(".log") || base.starts_with(".ninja_");
    let places = ["CMakeFiles", "Testing", "meson-private", "meson-info", "meson-logs"];
    let is_inside = || name.split('/').any(|part| places.contains(&part));
    let is_of_tool = || {
        let names = ["CMakeCache.txt", "compile_commands.json", "install_manifest.txt"];
        is_inside() || names.contains(&base) || files::is_build_description(name)
    };
    is_log || files::is_tracked(root, name) && is_of_tool()
}

/// Files that tests left, none if that cannot be read: that only adds reasons.
fn left_by_tests(workspace: &Workspace) -> FileState {
    let text = std::fs::read_to_string(workspace.state().join(LEFT_BY_TESTS));
    text.ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

fn path(workspace: &Workspace) -> PathBuf {
    workspace.state().join("builds.json")
}
