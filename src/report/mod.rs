//! A selection for people and for programs: pure functions.

pub mod doctor;
pub mod explain;
pub mod gaps;
pub mod graph;
pub mod html;
pub mod json;
pub mod layout;
pub mod order;
pub mod picture;
pub mod results;
pub mod runners;
pub mod shadow;
pub mod style;
pub mod svg;
pub mod text;
pub mod time;

use crate::select::program::Analysed;
use crate::select::{EdgeReason, Reason, Statistics};
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

/// A selection, ready to be shown.
#[derive(Debug, Default)]
pub struct Report {
    /// Names in the order of the suite, with reasons.
    pub selected: Vec<(String, Vec<Reason>)>,
    pub skipped: Vec<String>,
    /// Changes in excluded code, which select nobody.
    pub excluded: Vec<ExcludedChange>,
    /// Selected tests that did not fit into the budget.
    pub cut: Vec<(String, Vec<Reason>)>,
    pub budget: Option<Duration>,
    /// Selected tests that are not asked for, or that the output cannot hold.
    pub left_out: Vec<String>,
    /// How long the selected tests took the last time, as far as that is known.
    pub durations: BTreeMap<String, Duration>,
    pub hints: Vec<String>,
    pub statistics: Statistics,
    /// All dangerous edges, whether a test takes them or not.
    pub dangerous: Vec<EdgeReason>,
    /// The proctable: pairs of procedures that the walk opened.
    pub analysed: Vec<Analysed>,
    /// What had to be looked at.
    pub effort: Option<serde_json::Value>,
}

/// A change in excluded code.
#[derive(Debug)]
pub struct ExcludedChange {
    pub change: Reason,
    /// Tests that it would have selected.
    pub tests: Vec<String>,
}

impl Report {
    /// Tests that run excluded code which changed.
    pub fn passed_over(&self) -> HashSet<&str> {
        self.excluded.iter().flat_map(|change| change.tests.iter().map(String::as_str)).collect()
    }
}
