//! A selection for people and for programs: pure functions.

pub mod doctor;
pub mod graph;
pub mod json;
pub mod results;
pub mod text;

use crate::select::program::Analysed;
use crate::select::{EdgeReason, Reason, Statistics};

/// A selection, ready to be shown.
#[derive(Debug, Default)]
pub struct Report {
    /// Names in the order of the suite, with reasons.
    pub selected: Vec<(String, Vec<Reason>)>,
    pub skipped: Vec<String>,
    pub hints: Vec<String>,
    pub statistics: Statistics,
    /// All dangerous edges, whether a test takes them or not.
    pub dangerous: Vec<EdgeReason>,
    /// The proctable: pairs of procedures that the walk opened.
    pub analysed: Vec<Analysed>,
    /// What had to be looked at.
    pub effort: Option<serde_json::Value>,
}
