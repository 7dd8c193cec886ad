//! A suite as the configuration defines it, and its tests.

use super::tool::Place;
use super::{SuiteError, TestCase, automake, ctest, list, meson, scripts};
use crate::trace::cases::Cases;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What all kinds of suites have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suite {
    pub name: String,
    /// Which of several builds of the project it belongs to.
    pub configuration: Option<String>,
    /// Build directory, relative to the root.
    pub directory: PathBuf,
    pub inputs: Vec<String>,
    pub variables: Vec<String>,
    /// For tests without a limit of their own.
    pub timeout: Option<Duration>,
    pub source: Source,
}

/// Who knows the tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// With the name of one of several configurations in one build directory.
    Ctest {
        build_type: Option<String>,
    },
    Meson,
    Automake,
    Tap {
        patterns: Vec<String>,
        command: Option<String>,
    },
    /// A file, relative to the root.
    File(String),
    Generator(String),
    Glob {
        patterns: Vec<String>,
        command: String,
    },
    Cases {
        list: String,
        command: String,
        cases: Cases,
    },
}

impl Default for Source {
    fn default() -> Self {
        Self::File(String::new())
    }
}

impl Suite {
    /// `debug:unit`, or the name alone.
    pub fn full_name(&self) -> String {
        match &self.configuration {
            Some(configuration) => format!("{configuration}:{}", self.name),
            None => self.name.clone(),
        }
    }

    /// The file that lists the tests, if one does.
    pub fn file(&self) -> Option<&str> {
        match &self.source {
            Source::File(file) => Some(file),
            _ => None,
        }
    }

    /// All its tests, with whole names, as its runner lists them.
    pub fn tests(&self, root: &Path) -> Result<Vec<TestCase>, SuiteError> {
        let suite = self.full_name();
        let place = Place { root, suite: &suite, directory: &self.directory };
        let mut tests = match &self.source {
            Source::Ctest { build_type } => {
                ctest::read(&place, build_type.as_deref(), self.timeout)
            }
            Source::Meson => meson::read(&place),
            Source::Automake => automake::read(&place),
            Source::Tap { patterns, command } => scripts::tap(&place, patterns, command.as_deref()),
            Source::File(file) => list::read(&place, file),
            Source::Generator(generator) => list::generate(&place, generator),
            Source::Glob { patterns, command } => scripts::glob(&place, patterns, command),
            Source::Cases { list, command, cases } => list::cases(&place, list, command, *cases),
        }?;
        for test in &mut tests {
            if test.runner_name.is_empty() {
                test.runner_name.clone_from(&test.name);
            }
            let others =
                test.needs.iter_mut().chain(&mut test.after).chain(&mut test.cleans_up_for);
            for name in others.chain([&mut test.name]) {
                *name = format!("{suite}/{name}");
            }
            test.root = root.to_path_buf();
            test.inputs.extend(self.inputs.iter().cloned());
            test.variables.extend(self.variables.iter().cloned());
            test.timeout = test.timeout.or(self.timeout);
        }
        Ok(tests)
    }
}
