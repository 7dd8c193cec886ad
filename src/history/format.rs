//! The types of the history as they are on disk.

use crate::cfg::format::Archives;
use crate::ids::Fingerprint;
use crate::trace::module::Binding;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Raised with any change of the types below or of the file's layout.
pub const VERSION: u32 = 6;

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
    pub binding: Binding,
    /// Units whose objects are not what their records say.
    pub altered: Vec<Fingerprint>,
    pub archives: Archives,
}

/// Files with the fingerprints of their content; for a file that is not there
/// nothing is said.
pub type FileState = BTreeMap<String, Fingerprint>;

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Passed,
    /// It says itself that it did nothing.
    Skipped,
    Failed,
    TimedOut,
    Interrupted,
    /// It ran inside of a harness, which has not said whether it passed.
    Unjudged,
}

/// All that is known of one test, apart from its rows.
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
    /// Rows may hold edges that the test does not take.
    pub inexact: bool,
    /// Its traces were not the same each time: the rows are what they have together.
    pub unstable: bool,
    /// State of the project's files when it ran.
    pub files: Fingerprint,
    /// Content of the modules that its processes loaded.
    pub loaded: Fingerprint,
    /// The [`FileUses`] of its processes.
    pub uses: Fingerprint,
    /// The [`Entered`] of its processes, if there are any.
    pub once: Option<Fingerprint>,
    /// The [`Paths`] of its processes, where they were logged.
    pub paths: Option<Fingerprint>,
    /// How to run it, if no suite knows.
    pub outsider: Option<Outsider>,
}

/// Files of the project that a test used, with what it depends on of each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileUses {
    /// Relative to the root, by name.
    pub files: Vec<(String, FileUse)>,
    /// Why there may be more, if so.
    pub incomplete: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileUse {
    pub how: How,
    /// When the run began; `None` if it was not there.
    pub then: Option<Fingerprint>,
    /// How the test itself left it, if it is the test's own work: where nothing was
    /// before, or the names of what it made in a directory.
    pub left: Option<Fingerprint>,
}

/// What of a file counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    /// Its state as one of the project's files: of what is built, that it is there.
    State,
    /// Its bytes, also of what is built.
    Content,
    /// The names in a directory.
    Listed,
}

/// Procedures, by unit and number, that a test entered exactly once, in one
/// process.
pub type Entered = BTreeMap<Fingerprint, Vec<u32>>;

/// For procedures, by unit and number, the nodes of each run as they were
/// logged; a procedure of which that is not known in full is left out.
pub type Paths = BTreeMap<Fingerprint, BTreeMap<u32, Vec<Vec<u32>>>>;

/// A test that a harness of its own runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Outsider {
    pub command: Vec<String>,
    /// Relative to the project's root where below it.
    pub directory: String,
}

impl Test {
    /// What else of the history it refers to, apart from units.
    pub fn blobs(&self) -> impl Iterator<Item = BlobId> {
        let programs = self.programs.iter().map(|program| (BlobKind::Program, *program));
        let others = [
            (BlobKind::Files, self.files),
            (BlobKind::Files, self.loaded),
            (BlobKind::Uses, self.uses),
        ];
        let runs = [(BlobKind::Once, self.once), (BlobKind::Paths, self.paths)];
        let runs = runs.into_iter().filter_map(|(kind, id)| Some((kind, id?)));
        programs.chain(others).chain(runs)
    }

    /// Whether its rows count: it passed, with a complete trace.
    pub fn is_clean(&self) -> bool {
        self.outcome == Outcome::Passed && self.unclean.is_none()
    }
}

/// What a blob holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum BlobKind {
    Unit,
    Program,
    Files,
    Uses,
    Once,
    Paths,
}

/// Name of a blob.
pub type BlobId = (BlobKind, Fingerprint);

/// Where something is in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BlobAt {
    pub offset: u64,
    pub length: u64,
    /// Of the bytes as they are in the file.
    pub check: Fingerprint,
}

/// A test as one segment has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    pub name: String,
    pub test: Test,
    /// The rows that older segments have of it count as well: the test was
    /// carried over to another version, not run.
    pub keeps_older_rows: bool,
}

/// Tests of a segment, by name. A column of it says their places here.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SegmentTests {
    pub entries: Vec<Entry>,
    /// Tests of older segments that are forgotten.
    pub removed: Vec<String>,
}

/// Where the columns of a segment are: several small ones share a page.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SegmentIndex {
    pub pages: Vec<BlobAt>,
    pub units: BTreeMap<Fingerprint, Vec<ColumnAt>>,
}

/// A column within a page.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ColumnAt {
    pub procedure: u32,
    pub page: u32,
    pub start: u32,
    pub length: u32,
}

/// A number of tests that were written together, with all that they brought.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct SegmentAt {
    pub count: u64,
    /// Bytes of its pages.
    pub size: u64,
    pub tests: BlobAt,
    pub index: BlobAt,
    pub blobs: BlobAt,
}

/// The table of contents of one commit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Manifest {
    /// The oldest first.
    pub segments: Vec<SegmentAt>,
    /// When it was written, in seconds since 1970.
    pub seconds: u64,
    /// What the history was at earlier versions of the programs, the oldest first.
    pub snapshots: Vec<SnapshotAt>,
}

/// A history as it was. Its segments may be those of others as well.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SnapshotAt {
    /// Stands for all versions of programs that its tests ran.
    pub id: Fingerprint,
    pub seconds: u64,
    pub tests: u64,
    /// Fingerprints of all units of these programs, sorted.
    pub units: BlobAt,
    /// The [`FileState`] that most of its tests ran with.
    pub files: BlobAt,
    pub segments: Vec<SegmentAt>,
}
