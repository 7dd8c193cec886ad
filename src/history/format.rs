//! The types of the history as they are on disk.

use crate::ids::Fingerprint;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Raised with any change of the types below or of the file's layout.
pub const VERSION: u32 = 1;

/// A program at one version: the units in it and how it was linked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Relative to the project's root where below it.
    pub path: String,
    pub link: Fingerprint,
    /// Fingerprints of the units, in the order of the link.
    pub units: Vec<Fingerprint>,
    /// Names that code in it which is not analysed defines or uses, sorted.
    pub outside_names: Vec<String>,
}

/// Files with the fingerprints of their content; for a file that is not there
/// nothing is said.
pub type FileState = BTreeMap<String, Fingerprint>;

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Passed,
    /// It says itself that it did nothing.
    Skipped,
    Failed,
    TimedOut,
    Interrupted,
}

/// All that is known of one test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Test {
    /// Command and whatever else the test is made of.
    pub fingerprint: Fingerprint,
    pub outcome: Outcome,
    /// Why its trace cannot be relied upon, if so.
    pub unclean: Option<String>,
    pub milliseconds: u64,
    /// Programs it ran, by the fingerprint of their [`Program`].
    pub programs: Vec<Fingerprint>,
    /// Rows: unit, and the fingerprint of the bits taken in it.
    pub rows: Vec<(Fingerprint, Fingerprint)>,
    /// Rows may hold edges that the test does not take.
    pub inexact: bool,
    /// State of the project's files when it ran.
    pub files: Fingerprint,
    /// Content of the modules that its processes loaded.
    pub loaded: Fingerprint,
}

/// What a blob holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum BlobKind {
    Unit,
    Row,
    Program,
    Files,
}

/// Where a blob is in the file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlobAt {
    pub offset: u64,
    pub length: u64,
    /// Of the bytes as they are in the file.
    pub check: Fingerprint,
}

/// The table of contents of one commit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Manifest {
    pub tests: BTreeMap<String, Test>,
    pub blobs: BTreeMap<(BlobKind, Fingerprint), BlobAt>,
}
