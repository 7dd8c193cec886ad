//! Calls programs that know the tests of a project: `ctest`, `meson`, `make`, or
//! a command of the user.

use super::SuiteError;
use crate::bytes;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Lines of a tool's own words that are shown.
const WORDS_MAX: usize = 12;

/// What a reader is told of its suite.
pub struct Place<'a> {
    pub root: &'a Path,
    /// Name of the suite, with its configuration.
    pub suite: &'a str,
    /// Build directory, relative to the root.
    pub directory: &'a Path,
}

impl Place<'_> {
    pub fn error(&self, what: impl Into<String>) -> SuiteError {
        SuiteError::Tool { suite: self.suite.to_string(), what: what.into() }
    }

    pub fn absolute(&self) -> PathBuf {
        self.root.join(self.directory)
    }

    /// A path as tests have it: relative to the root if below it.
    pub fn relative(&self, path: &str) -> PathBuf {
        let path = self.absolute().join(bytes::path(path));
        let of_root = path.strip_prefix(self.root).map(Path::to_path_buf);
        // Tools may have resolved a link on the way to the root.
        let resolved = || {
            let root = self.root.canonicalize().ok()?;
            path.strip_prefix(root).ok().map(Path::to_path_buf)
        };
        of_root.ok().or_else(resolved).unwrap_or(path)
    }

    /// Runs a program in a directory, the build directory if none is given, and
    /// returns what it prints.
    pub fn run(
        &self,
        words: &[&str],
        directory: Option<&Path>,
        input: &str,
    ) -> Result<String, SuiteError> {
        let called = shlex::try_join(words.iter().copied()).unwrap_or_else(|_| words.join(" "));
        let directory = directory.map_or_else(|| self.absolute(), Path::to_path_buf);
        let place = shown(directory.strip_prefix(self.root).unwrap_or(&directory));
        if !directory.is_dir() {
            return Err(self.error(format!(
                "its directory {place} is not there\nhint: build the project first"
            )));
        }
        let failed = |what: &str| self.error(format!("`{called}` in {place}: {what}"));
        let [program, arguments @ ..] = words else { return Err(failed("no command")) };
        // A file, since a pipe that nobody reads would end us.
        let input = file_of(input).map_err(|error| failed(&error.to_string()))?;
        let output = Command::new(&*bytes::os(program))
            .args(bytes::all(arguments))
            .current_dir(&directory)
            .stdin(input)
            .output()
            .map_err(|error| failed(&format!("cannot be run: {error}\nhint: install {program}")))?;
        let text = bytes::to_text(&output.stdout).into_owned();
        if !output.status.success() {
            let words = bytes::to_text(&output.stderr);
            let words = if words.trim().is_empty() { &text } else { &*words };
            return Err(failed(&format!("{}\n{}", output.status, last_lines(words))));
        }
        Ok(text)
    }
}

fn file_of(text: &str) -> std::io::Result<Stdio> {
    let mut file = tempfile::tempfile()?;
    file.write_all(&bytes::of_text(text))?;
    file.rewind()?;
    Ok(Stdio::from(file))
}

/// A directory of the project for people.
pub fn shown(directory: &Path) -> String {
    match bytes::name(directory) {
        root if root.is_empty() => String::from("the root"),
        other => other,
    }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(WORDS_MAX)..].join("\n")
}
