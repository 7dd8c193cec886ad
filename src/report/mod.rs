//! A selection for people and for programs: pure functions.

pub mod graph;
pub mod json;
pub mod text;

use crate::select::{Reason, Statistics};

/// A selection, ready to be shown.
#[derive(Debug, Default)]
pub struct Report {
    /// Names in the order of the suite, with reasons.
    pub selected: Vec<(String, Vec<Reason>)>,
    pub skipped: Vec<String>,
    pub hints: Vec<String>,
    pub statistics: Statistics,
    /// What had to be looked at.
    pub effort: Option<serde_json::Value>,
}
