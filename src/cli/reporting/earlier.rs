//! Sources as they were. The history knows them by their fingerprints alone; git may
//! have the text, and the fingerprint says whether it is the right one.

use crate::bytes;
use crate::cli::files;
use crate::compiler::project::is_hidden;
use crate::history::format::FileState;
use crate::ids::Fingerprint;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Commits of a file that are looked into.
const MOST_COMMITS: &str = "30";
/// Files that are looked for, of very many that changed.
const MOST_FILES: usize = 300;

pub struct Texts<'t> {
    root: PathBuf,
    then: &'t FileState,
    now: &'t FileState,
    known: HashMap<(String, bool), Option<Vec<String>>>,
    asked: usize,
}

impl<'t> Texts<'t> {
    pub fn new(root: &Path, then: &'t FileState, now: &'t FileState) -> Self {
        Self { root: root.to_path_buf(), then, now, known: HashMap::new(), asked: 0 }
    }

    /// The lines of a file as it is, if it can be read.
    pub fn now(&mut self, file: &str) -> Option<&[String]> {
        let root = &self.root;
        let read = || lines(&read(root, file).ok()?);
        let known = self.known.entry((file.to_string(), true));
        known.or_insert_with(read).as_deref()
    }

    /// The lines that it had when it was recorded, if they can be had.
    pub fn then(&mut self, file: &str) -> Option<&[String]> {
        let wanted = *self.then.get(file)?;
        if self.now.get(file) == Some(&wanted) {
            return self.now(file);
        }
        let key = (file.to_string(), false);
        if !self.known.contains_key(&key) {
            self.asked += 1;
            let found = if self.asked > MOST_FILES { None } else { self.in_git(file, wanted) };
            self.known.insert(key.clone(), found.and_then(|bytes| lines(&bytes)));
        }
        self.known.get(&key)?.as_deref()
    }

    fn in_git(&self, file: &str, wanted: Fingerprint) -> Option<Vec<u8>> {
        let is_it = |bytes: &[u8]| {
            [0, 0o111].iter().any(|mode| files::content_with(bytes, *mode) == wanted)
        };
        let in_index = self.git(&["cat-file", "blob", &format!(":./{file}")]);
        if let Some(bytes) = in_index.filter(|bytes| is_it(bytes)) {
            return Some(bytes);
        }
        let commits = self.git(&["rev-list", "-n", MOST_COMMITS, "HEAD", "--", file])?;
        String::from_utf8(commits).ok()?.lines().find_map(|commit| {
            let bytes = self.git(&["cat-file", "blob", &format!("{commit}:./{file}")]);
            bytes.filter(|bytes| is_it(bytes))
        })
    }

    fn git(&self, arguments: &[&str]) -> Option<Vec<u8>> {
        let mut git = Command::new("git");
        git.arg("-C").arg(&self.root).arg("--literal-pathspecs").args(bytes::all(arguments));
        git.stdin(Stdio::null()).stderr(Stdio::null());
        let output = git.output().ok()?;
        output.status.success().then_some(output.stdout)
    }
}

/// Directories of the system's headers, which anybody may read.
const HEADERS: [&str; 4] = ["/usr/include", "/usr/local/include", "/usr/lib/gcc", "/usr/lib/llvm"];

/// Larger ones are not for reading.
const MOST_BYTES: u64 = 20 << 20;

/// A source, or why it cannot be shown. A `#line` and a history may name any file: only those are
/// shown that belong to the project or to the system's headers, wherever links lead.
pub fn read(root: &Path, name: &str) -> Result<Vec<u8>, String> {
    let path = root.join(bytes::path(name)).canonicalize().map_err(|error| error.to_string())?;
    let root = root.canonicalize().map_err(|error| error.to_string())?;
    let is_of_project = match path.strip_prefix(&root) {
        Ok(below) => !is_hidden(below),
        Err(_) => HEADERS.iter().any(|system| path.starts_with(system)),
    };
    if !is_of_project {
        return Err(String::from("it is not a file of the project"));
    }
    let meta = path.metadata().map_err(|error| error.to_string())?;
    if !meta.is_file() {
        return Err(String::from("it is not a regular file"));
    }
    if meta.len() > MOST_BYTES {
        return Err(format!("it has {} bytes", meta.len()));
    }
    std::fs::read(path).map_err(|error| error.to_string())
}

fn lines(bytes: &[u8]) -> Option<Vec<String>> {
    Some(String::from_utf8_lossy(bytes).lines().map(String::from).collect())
}
