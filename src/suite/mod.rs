//! Test suites: which tests there are, and how one is run.

pub mod channel;
pub mod keeper;
pub mod list;
pub mod pool;
pub mod process;

use crate::ids::{Fingerprint, FpHasher};

/// One test of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCase {
    /// Suite and name: `cli/sum-basic`.
    pub name: String,
    /// A command for the shell, run in the root of the project.
    pub command: String,
}

impl TestCase {
    /// What the test is made of: another fingerprint is another test.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut hasher = FpHasher::new("test");
        hasher.str(&self.name);
        hasher.str(&self.command);
        hasher.finish()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    #[error("cannot read the list of tests {path}: {what}")]
    Read { path: String, what: std::io::ErrorKind },
    #[error("{path}:{line}: {what}")]
    Line { path: String, line: usize, what: String },
    #[error("two tests have the name `{0}`")]
    Duplicate(String),
}
