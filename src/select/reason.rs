//! Why a test is selected.

use super::rule::Rule;
use rustc_hash::FxHashSet;
use serde::Serialize;
use std::sync::Arc;

/// A line of source as a reason shows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct SourceLine {
    pub file: String,
    pub line: u32,
    pub text: String,
}

/// One reason. Its `rule` says what kind it is, and `by` the line of the safety rules
/// where there are several of a kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case", tag = "rule")]
pub enum Reason {
    /// A dangerous edge: the test took it, and it leads elsewhere now.
    /// Shared, since many tests may have it.
    Edge(Arc<EdgeReason>),
    /// A procedure that the test entered is gone.
    ProcedureGone {
        program: String,
        procedure: String,
        old: SourceLine,
    },
    /// A procedure that the test entered changed, somewhere.
    Procedure {
        program: String,
        procedure: String,
        old: SourceLine,
        new: SourceLine,
    },
    /// The program as a whole is made otherwise.
    Program {
        program: String,
        what: String,
        by: Rule,
    },
    /// Something outside of the programs changed.
    Files {
        what: String,
        by: Rule,
    },
    /// The test itself is new or another one.
    NewTest,
    TestChanged,
    /// The test did not end well, or its trace cannot be relied upon.
    State {
        what: String,
    },
    /// What it needs to run, a fixture say, is selected.
    Dependency {
        test: String,
    },
    /// There is no history to compare with.
    NoHistory,
    /// All tests were asked for.
    All,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct EdgeReason {
    pub program: String,
    pub procedure: String,
    /// From where control came, with the edge's label.
    pub from: SourceLine,
    pub edge: String,
    pub old: SourceLine,
    pub new: Option<SourceLine>,
    /// What is different, where the text alone does not show it.
    pub because: String,
    /// Procedures from the root to this one.
    pub chain: Vec<String>,
    pub by: Rule,
}

impl Reason {
    /// The rule that it goes by.
    pub fn rule(&self) -> Rule {
        match self {
            Self::Edge(edge) => edge.by,
            Self::ProcedureGone { .. } => Rule::Gone,
            Self::Procedure { .. } => Rule::Procedure,
            Self::Program { by, .. } | Self::Files { by, .. } => *by,
            Self::NewTest => Rule::NewTest,
            Self::TestChanged => Rule::TestChanged,
            Self::State { .. } => Rule::State,
            Self::Dependency { .. } => Rule::Dependency,
            Self::NoHistory => Rule::NoHistory,
            Self::All => Rule::All,
        }
    }
}

/// Keeps each reason once, in their order.
pub fn keep_once(reasons: &mut Vec<Reason>) {
    let mut seen = FxHashSet::default();
    let first: Vec<bool> = reasons.iter().map(|reason| seen.insert(reason)).collect();
    let mut first = first.into_iter();
    reasons.retain(|_| first.next() == Some(true));
}
