//! The files that a test used: as they were when its run began, and as they are
//! now.

use super::excluding::Excluded;
use super::files::{self, Links};
use super::git;
use super::workspace::Workspace;
use crate::bytes;
use crate::compiler::project::relative;
use crate::history::format::{FileState, FileUse, FileUses, How};
use crate::ids::{Fingerprint, FpHasher};
use crate::select::Exclusion;
use crate::trace::collect::{TestTrace, real};
use crate::trace::module::is_code;
use crate::trace::uses::{First, Use};
use globset::GlobSet;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

fn listed(names: BTreeSet<&str>) -> Fingerprint {
    let mut hasher = FpHasher::new("names");
    names.iter().for_each(|name| hasher.str(name));
    hasher.finish()
}

/// The state of the project's files, asked about by those who use them.
pub struct Seen<'a> {
    root: &'a Path,
    files: &'a FileState,
    ignored: GlobSet,
    /// Other names of directories. What was looked for in vain may be there by way of one now.
    links: Links,
    /// What is not in the state, built objects above all, is read once.
    contents: HashMap<PathBuf, Option<Fingerprint>>,
}

impl<'a> Seen<'a> {
    pub fn new(workspace: &'a Workspace, files: &'a FileState) -> anyhow::Result<Self> {
        let ignored = workspace.config.ignored()?;
        let root = &workspace.project.root;
        let links = Links::new(root, files);
        Ok(Self { root, files, ignored, links, contents: HashMap::new() })
    }

    fn is_ignored(&self, name: &str) -> bool {
        files::matches(&self.ignored, name)
    }

    /// What a test used, with the state of it all.
    pub fn of_trace(&mut self, trace: &TestTrace) -> FileUses {
        let traced = trace.traced();
        let written: BTreeSet<&Path> = trace
            .uses
            .files
            .iter()
            .filter(|(_, used)| used.written)
            .map(|(path, _)| path.as_path())
            .collect();
        let mut uses =
            FileUses { incomplete: trace.uses.incomplete.clone(), ..FileUses::default() };
        for (path, used) in &trace.uses.files {
            let name = relative(self.root, path);
            let is_traced = traced.contains(&real(path));
            // Code that runs counts, also in a directory for what builds leave.
            let is_run = !is_traced && path.is_file() && (used.executed || is_code(path));
            let is_ignored = self.is_ignored(&name) && !is_run;
            // What nobody is said to read counts for who is seen to read it all the same. Who
            // writes it as well has it for a log.
            let is_read = used.read && !used.written && !is_traced && path.is_file();
            // A library that the loader did not find there would be loaded from there.
            let is_sought = used.looked_for && !used.written && is_missing_library(path);
            if used.first == First::Output || (is_ignored && !is_read && !is_sought) {
                continue;
            }
            let hows = match is_ignored {
                true => vec![How::Content],
                false => self.how(path, &name, *used, is_traced),
            };
            for how in hows {
                let then = self.state(&name, how);
                let left = match how {
                    How::Listed => self.listed_after(path, &name, &written),
                    _ if used.written && !self.is_there(&name) => self.left(path, how),
                    _ => None,
                };
                uses.files.push((name.clone(), FileUse { how, then, left }));
            }
        }
        if trace.uses.asks_git {
            let then = self.state(git::STATE, How::State);
            let git = FileUse { how: How::State, then, left: None };
            uses.files.push((String::from(git::STATE), git));
        }
        uses
    }

    /// What of a file counts for a use of it.
    fn how(&self, path: &Path, name: &str, used: Use, is_traced: bool) -> Vec<How> {
        let mut hows = Vec::new();
        if used.listed {
            hows.push(How::Listed);
        }
        let is_known = self.files.contains_key(name);
        // What a build of ours made is known by its records, as far as it ran. Who
        // reads it otherwise depends on its bytes.
        let is_built =
            path.is_file() && (!is_known || files::is_presence(path, self.files.get(name)));
        if is_built && (used.read || used.executed) && !is_traced && !used.made {
            hows.push(How::Content);
        } else if used.read || used.looked_for || used.executed {
            hows.push(How::State);
        }
        hows
    }

    fn state(&mut self, name: &str, how: How) -> Option<Fingerprint> {
        match how {
            How::State => {
                let known = |name: &str| match self.files.get(name) {
                    Some(state) => Some(*state),
                    None => self.directory(name),
                };
                known(name).or_else(|| known(&self.links.real(name)?))
            }
            How::Listed => {
                let real = self.links.real(name);
                Some(listed(self.names_in(real.as_deref().unwrap_or(name))))
            }
            How::Content => {
                let path = self.root.join(bytes::path(name));
                *self.contents.entry(path).or_insert_with_key(|path| files::content(path))
            }
        }
    }

    /// Whether a file or directory was there.
    fn is_there(&self, name: &str) -> bool {
        let is_root = name.is_empty() || name == ".";
        is_root || self.files.contains_key(name) || self.files.contains_key(&format!("{name}/"))
    }

    /// What is there now, as the next state of the project's files will have it.
    fn left(&self, path: &Path, how: How) -> Option<Fingerprint> {
        match how {
            _ if path.is_dir() && !path.is_symlink() => Some(files::directory()),
            How::Content => files::content(path),
            _ => files::content_unless_built(path),
        }
    }

    /// The same for the names in a directory, if all that is new in it, or gone
    /// from it, is the test's own work.
    fn listed_after(
        &self,
        path: &Path,
        name: &str,
        written: &BTreeSet<&Path>,
    ) -> Option<Fingerprint> {
        let then = self.names_in(name);
        let mut now = BTreeSet::new();
        for entry in std::fs::read_dir(path).ok()?.flatten() {
            let (file, path) = (entry.file_name(), entry.path());
            let counts = match path.is_dir() {
                true => {
                    let name = files::directory_name(self.root, &path);
                    !files::is_skipped(self.root, &path) && !self.is_ignored(&name)
                }
                false => {
                    !self.is_ignored(&relative(self.root, &path))
                        && files::content_unless_built(&path).is_some()
                }
            };
            now.extend(counts.then(|| bytes::name(file)));
        }
        let now: BTreeSet<&str> = now.iter().map(String::as_str).collect();
        let is_own = |file: &&str| written.contains(path.join(bytes::path(file)).as_path());
        now.symmetric_difference(&then).all(is_own).then(|| listed(now))
    }

    /// The names in a directory when the run began.
    fn names_in(&self, directory: &str) -> BTreeSet<&'a str> {
        let files = self.below(directory).filter(|rest| files::is_file(rest));
        let names = files.filter_map(|rest| rest.split('/').next());
        names.filter(|name| !name.is_empty()).collect()
    }

    /// That a directory is there. Of a link that leads out of the project all that
    /// is behind it counts: who reads there is seen to pass the link, and no more.
    fn directory(&self, name: &str) -> Option<Fingerprint> {
        if !self.is_there(name) {
            return None;
        }
        let path = self.root.join(bytes::path(name));
        let is_inside = || {
            let real = self.root.canonicalize();
            real.and_then(|root| Ok(path.canonicalize()?.starts_with(root))).unwrap_or(false)
        };
        if !path.is_symlink() || is_inside() {
            return Some(files::directory());
        }
        let mut hasher = FpHasher::new("directory outside");
        for rest in self.below(name) {
            hasher.str(rest);
            if let Some(content) = self.files.get(&format!("{name}/{rest}")) {
                hasher.fp(content);
            }
        }
        Some(hasher.finish())
    }

    /// Files below a directory, relative to it.
    fn below(&self, directory: &str) -> impl Iterator<Item = &'a str> {
        let is_root = directory.is_empty() || directory == ".";
        let prefix = if is_root { String::new() } else { format!("{directory}/") };
        let files = self.files.range(prefix.clone()..).map(|(name, _)| name.as_str());
        let length = prefix.len();
        files.take_while(move |name| name.starts_with(&prefix)).map(move |name| &name[length..])
    }

    /// Why a test with these uses is selected, if so. Excluded files do not count.
    pub fn change(&mut self, uses: &FileUses, excluded: &Excluded) -> Option<String> {
        let mut files = uses.files.iter().filter(|(name, _)| !excluded.holds_file(name));
        files.find_map(|(name, used)| self.change_of(name, used))
    }

    /// What changed in excluded files.
    pub fn excluded_changes(&mut self, uses: &FileUses, excluded: &Excluded) -> Vec<String> {
        if !excluded.has_files() {
            return Vec::new();
        }
        let files = uses.files.iter().filter(|(name, _)| excluded.holds_file(name));
        files.filter_map(|(name, used)| self.change_of(name, used)).collect()
    }

    fn change_of(&mut self, name: &str, FileUse { how, then, left }: &FileUse) -> Option<String> {
        let now = self.state(name, *how);
        let what = match (then, now) {
            (then, now) if *then == now => return None,
            // Only the test itself was there since.
            (_, Some(now)) if *left == Some(now) => return None,
            _ if *how == How::Listed => "has other files in it, and it lists these",
            (None, _) => "is new, and it looks for it",
            (_, None) => "is gone, and it uses it",
            _ => "changed, and it uses it",
        };
        let name = if name.is_empty() { "." } else { name };
        Some(format!("{name} {what}"))
    }
}

/// Whether a library has this name, and is not there.
fn is_missing_library(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    (name.ends_with(".so") || name.contains(".so.")) && !path.exists()
}

/// What became of a file, by whether it was and is there.
pub fn verb(was_there: bool, is_there: bool) -> &'static str {
    match (was_there, is_there) {
        (true, true) => "changed",
        (false, _) => "is new",
        (_, false) => "is gone",
    }
}
