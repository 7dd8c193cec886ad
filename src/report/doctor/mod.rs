//! Whether a project is set up so that answers can be relied upon: what was found, and
//! what to do about it.

mod advice;
mod builder;
mod text;

pub use advice::{Advice, advice, everyday};
pub use builder::Way;
pub use text::text;

use serde::Serialize;
use serde_json::{Value, json};

/// Raised when the shape of the output changes.
const VERSION: u32 = 1;

/// All that was found, as far as it can be read.
#[derive(Debug, Default, Serialize)]
pub struct Health {
    pub configuration: Configuration,
    /// Whether there was a build at all, and why what is known of it cannot be read.
    pub has_built: bool,
    pub build_problem: Option<String>,
    /// How the project is built.
    pub way: Way,
    /// The exit code of the last build, if it failed.
    pub build_failed: Option<i32>,
    /// Why the build may read more files than were seen, if so.
    pub build_unseen: Option<String>,
    /// A build was killed, and no other build ran since.
    pub build_killed: bool,
    /// What the last build left, if that is all that keeps its inputs from being known.
    pub unseen_from_before: Option<String>,
    /// Build descriptions and other inputs that changed, and that the last build did not take up.
    pub left: Vec<String>,
    /// What programs are made of since before that, if known.
    pub from_before: Option<String>,
    pub compilers: Vec<Compiler>,
    pub linkers: Vec<Linker>,
    pub programs: Vec<Program>,
    /// Programs that tests of the history ran, and that are not there any more, with these tests.
    pub gone: Vec<Gone>,
    /// Programs that leave no trace.
    pub untraced: Vec<String>,
    /// Sources that the real compiler compiled alone, and why.
    pub unanalysed: Vec<Note>,
    pub history: Recorded,
    pub tests: Tests,
    /// Libraries and programs without records that processes of tests loaded or ran, with
    /// how many tests did.
    pub loaded: Vec<(String, usize)>,
    /// What `.edgewise` holds, by name, with bytes.
    pub disk: Vec<(String, u64)>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case", tag = "is", content = "why")]
pub enum Configuration {
    #[default]
    Missing,
    Wrong(String),
    Good {
        suites: usize,
        has_build_command: bool,
    },
}

/// Something with what there is to say of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    pub name: String,
    pub why: String,
}

#[derive(Debug, Serialize)]
pub struct Compiler {
    /// As the build calls it.
    pub name: String,
    pub path: Option<String>,
    pub version: Option<String>,
    /// Units that it compiled.
    pub units: usize,
    pub state: CompilerState,
}

#[derive(Debug, Serialize)]
pub struct Linker {
    pub path: String,
    /// Programs that it linked.
    pub programs: usize,
    pub state: CompilerState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CompilerState {
    Same,
    /// Another one, or files that its flags name are others.
    Another,
    Missing,
    /// No unit of it can be preprocessed now.
    Unknown,
}

#[derive(Debug, Serialize)]
pub struct Program {
    pub name: String,
    pub units: Vec<Unit>,
    /// Why its records cannot be read, if so.
    pub unreadable: Option<String>,
    /// Whether a test of the history ran it.
    pub is_run: bool,
    /// Why it is not what its sources would make, if so.
    pub stale: Option<String>,
    /// The last build had these sources already, and left it as it was.
    pub is_left_by_build: bool,
    /// What was linked into it without a record.
    pub without_record: Vec<String>,
    /// Sources whose objects are not what their records say.
    pub altered: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct Gone {
    pub name: String,
    /// A build made it, so that another one will.
    pub is_built: bool,
    pub tests: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Unit {
    pub source: String,
    pub object: String,
    pub procedures: usize,
    pub probes: u32,
    /// Procedures that are compared as a whole, and why.
    pub opaque: Vec<Note>,
    /// Why it has no probes, if so.
    pub untouched: Option<String>,
    pub problems: Vec<String>,
}

/// The history as it is on disk.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Recorded {
    #[default]
    Missing,
    /// Damaged, or of another version.
    Unusable { why: String },
    Good {
        tests: usize,
        /// This version and earlier ones.
        versions: usize,
        bytes: u64,
    },
}

#[derive(Debug, Default, Serialize)]
pub struct Tests {
    /// Tests of all suites; none if they cannot be listed.
    pub listed: Option<usize>,
    pub problem: Option<String>,
    pub disabled: usize,
    pub never_run: Vec<String>,
    /// They failed, ran out of time or were interrupted.
    pub failed: Vec<Note>,
    /// Their harness has not said whether they passed.
    pub unjudged: Vec<Note>,
    pub unclean: Vec<Note>,
    /// They ran nothing that has probes, or did nothing at all.
    pub without_trace: Vec<Note>,
    /// Their traces were not the same each time.
    pub unstable: Vec<String>,
    /// Carried over to later versions, with edges to spare.
    pub inexact: usize,
    /// It is not known which files they use, and why.
    pub unseen: Vec<Note>,
}

impl Health {
    pub fn units(&self) -> impl Iterator<Item = &Unit> {
        self.programs.iter().flat_map(|program| &program.units)
    }

    pub fn json(&self) -> Value {
        let to_do = advice(self);
        let assumptions: Vec<Value> = text::ASSUMPTIONS
            .iter()
            .map(|(assumed, checked)| json!({ "assumed": assumed, "checked": checked }))
            .collect();
        json!({
            "version": VERSION,
            "ok": to_do.is_empty(),
            "to_do": to_do,
            "everyday": everyday(self),
            "found": self,
            "assumptions": assumptions,
        })
    }
}
