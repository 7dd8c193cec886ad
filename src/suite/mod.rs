//! Test suites: which tests there are, and how one is run.

mod automake;
pub mod cases;
pub mod channel;
mod cmake_regex;
mod ctest;
pub mod definition;
mod inherited;
pub mod judgement;
pub mod keeper;
pub mod list;
mod meson;
pub mod output;
pub mod pool;
pub mod preload;
pub mod process;
pub mod schedule;
mod scripts;
pub mod tap;
mod tool;

use crate::bytes;
use crate::history::format::Outsider;
use crate::ids::{Fingerprint, FpHasher};
use crate::trace::cases::Cases;
use judgement::Judgement;
use std::path::PathBuf;
use std::time::Duration;

/// Stands for the root of the project.
const ROOT_MARK: &str = "%ROOT%";

/// One test of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestCase {
    /// Configuration, suite and name: `cli/sum-basic`, `debug:cli/sum-basic`.
    pub name: String,
    /// What its own runner calls it.
    pub runner_name: String,
    pub command: TestCommand,
    /// The root of the project, which its fingerprint leaves out: histories move
    /// between machines, and build systems like absolute paths.
    pub root: PathBuf,
    /// Where it runs, relative to the root of the project.
    pub directory: PathBuf,
    /// What it changes in the environment, in this order.
    pub environment: Vec<Variable>,
    /// After this time it is ended, if the suite says so.
    pub timeout: Option<Duration>,
    pub judgement: Judgement,
    pub resources: Resources,
    /// Tests that have to pass before it starts: what sets its fixtures up, or
    /// what it says it depends on. Their traces count for it.
    pub needs: Vec<String>,
    /// Tests that have to end before it starts, if they run at all.
    pub after: Vec<String>,
    /// It cleans up for these: it runs whenever one of them does.
    pub cleans_up_for: Vec<String>,
    pub labels: Vec<String>,
    /// The line of a file that lists it, if there is one.
    pub listed: Option<ListedAt>,
    /// Listed, and never run: why.
    pub disabled: Option<String>,
    /// It is this case of a process that runs several: see [`cases`].
    pub case: Option<String>,
    /// What counts for it beside what it ran itself, if it is a case.
    pub cases: Cases,
    /// Only a harness of its own runs it: what was traced is one of its commands, and the check of
    /// the result is outside of that.
    pub by_harness: bool,
    /// Globs of files that it is made of, beside those it is seen to open.
    pub inputs: Vec<String>,
    /// Variables of the environment that count.
    pub variables: Vec<String>,
}

/// A line of a list of tests, whose path is relative to the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedAt {
    pub file: String,
    pub line: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestCommand {
    /// For `/bin/sh`.
    Shell(String),
    /// A program and its arguments.
    Words(Vec<String>),
}

impl TestCommand {
    /// Whether it has this text in it.
    pub fn mentions(&self, text: &str) -> bool {
        match self {
            Self::Shell(line) => line.contains(text),
            Self::Words(words) => words.iter().any(|word| word.contains(text)),
        }
    }
}

impl Default for TestCommand {
    fn default() -> Self {
        Self::Words(Vec::new())
    }
}

/// A change of one variable of the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    pub change: Change,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Set(String),
    Unset,
    /// The text, with this between it and what is there already.
    Append(String, &'static str),
    Prepend(String, &'static str),
}

/// What a test takes while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resources {
    /// How many of the places of `-j`.
    pub processors: usize,
    /// Nothing else runs beside it.
    pub alone: bool,
    /// No two tests with one of these run at a time.
    pub locks: Vec<String>,
}

impl Default for Resources {
    fn default() -> Self {
        Self { processors: 1, alone: false, locks: Vec::new() }
    }
}

impl TestCase {
    /// A command of the shell in the root of the project.
    pub fn shell(name: String, command: String) -> Self {
        Self { name, command: TestCommand::Shell(command), ..Self::default() }
    }

    /// A test that a harness of its own runs.
    pub fn outsider(name: &str, outsider: &Outsider) -> Self {
        Self {
            name: name.to_string(),
            command: TestCommand::Words(outsider.command.clone()),
            directory: bytes::path(&outsider.directory).into_owned(),
            by_harness: true,
            ..Self::default()
        }
    }

    /// What the test is made of by its own words: another fingerprint is another
    /// test. Files and variables that it names come on top.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut hasher = FpHasher::new("test");
        hasher.str(&self.name);
        // How much it takes of the machine, and with whom it shares it, is not
        // what it does.
        let Self { command, directory, environment, timeout, judgement, .. } = self;
        let made_of =
            format!("{command:?} {directory:?} {environment:?} {timeout:?} {judgement:?}");
        let root = format!("{:?}", self.root);
        match root.trim_matches('"') {
            "" | "/" => hasher.str(&made_of),
            root => hasher.str(&made_of.replace(root, ROOT_MARK)),
        };
        for need in &self.needs {
            hasher.str(need);
        }
        if self.by_harness {
            hasher.str("by its harness");
        }
        // Rows of cases that are no longer called independent are too small.
        if self.case.is_some() {
            hasher.str(&format!("{:?}", self.cases));
        }
        hasher.finish()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    #[error(
        "cannot read {path}, the list of tests of suite `{suite}`: {what}\nhint: `file` of that \
         [[suite]] in edgewise.toml names it, relative to the root of the project"
    )]
    Read { path: String, suite: String, what: String },
    #[error("{path}:{line}: {what}")]
    Line { path: String, line: usize, what: String },
    #[error("two tests have the name `{name}`{places}")]
    Duplicate { name: String, places: String },
    /// A tool that knows the tests failed, or said what we do not understand.
    #[error("suite `{suite}`: {what}")]
    Tool { suite: String, what: String },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_may_move() {
        let at = |root: &str| TestCase {
            root: PathBuf::from(root),
            ..TestCase::shell(String::from("s/t"), format!("{root}/build/t --data {root}/data"))
        };
        assert_eq!(at("/home/a/p").fingerprint(), at("/srv/b").fingerprint());
        let other = TestCase::shell(String::from("s/t"), String::from("/srv/b/build/t"));
        assert_ne!(at("/srv/b").fingerprint(), other.fingerprint());
    }
}
