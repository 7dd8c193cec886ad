//! A selection for people and for programs: pure functions.

pub mod changed;
pub mod doctor;
pub mod explain;
pub mod gaps;
pub mod github;
pub mod graph;
pub mod html;
pub mod json;
mod labels;
pub mod layout;
pub mod markdown;
pub mod order;
pub mod outline;
pub mod picture;
pub mod results;
pub mod runners;
pub mod sarif;
pub mod shadow;
pub mod style;
pub mod svg;
pub mod text;
pub mod time;
pub mod wrap;

use crate::select::program::Analysed;
use crate::select::unreached::Unreached;
use crate::select::{EdgeReason, Reason, Statistics};
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

/// A selection, ready to be shown.
#[derive(Debug, Default)]
pub struct Report {
    /// Names in the order of the suite, with reasons.
    pub selected: Vec<(String, Vec<Reason>)>,
    pub skipped: Vec<String>,
    /// Tests that no change can affect and that run all the same.
    pub run_anyway: Vec<String>,
    /// Changes in excluded code, which select nobody.
    pub excluded: Vec<ExcludedChange>,
    /// Selected tests that did not fit into the budget.
    pub cut: Vec<(String, Vec<Reason>)>,
    pub budget: Option<Duration>,
    /// Selected tests that are not asked for, or that the output cannot hold.
    pub left_out: Vec<String>,
    /// How long the selected tests took the last time, as far as that is known.
    pub durations: BTreeMap<String, Duration>,
    /// The same of those that are skipped.
    pub durations_skipped: BTreeMap<String, Duration>,
    /// Sources that the real compiler compiled alone, and why.
    pub unanalysed: Vec<(String, String)>,
    pub hints: Vec<String>,
    pub statistics: Statistics,
    /// All dangerous edges, whether a test takes them or not.
    pub dangerous: Vec<EdgeReason>,
    /// Dangerous edges with all tests that take them, also those that are selected for another
    /// one; known only where all that changed was compared.
    pub behind: Vec<(EdgeReason, Vec<String>)>,
    /// Changes that no test is known to reach, known where the same holds.
    pub unreached: Vec<Unreached>,
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
    /// How many tests are selected, whether the output holds them or not.
    pub fn selected_count(&self) -> usize {
        self.selected.len() + self.cut.len() + self.left_out.len()
    }

    /// How many tests there are.
    pub fn total(&self) -> usize {
        self.selected_count() + self.skipped.len() + self.run_anyway.len()
    }

    /// Notes which of the tests that no change can affect run all the same.
    pub fn run_anyway(&mut self, is_run: impl Fn(&str) -> bool) {
        let skipped = std::mem::take(&mut self.skipped).into_iter();
        (self.run_anyway, self.skipped) = skipped.partition(|name| is_run(name));
    }

    /// Notes how long tests took that ran after the selection was made.
    pub fn note_times(&mut self, results: &[results::TestResult]) {
        let ran = results
            .iter()
            .filter(|result| result.fate == results::Fate::Passed || result.fate.is_failure());
        for result in ran {
            let is_unaffected = self.run_anyway.contains(&result.name);
            let times =
                if is_unaffected { &mut self.durations_skipped } else { &mut self.durations };
            times.insert(result.name.clone(), result.duration);
        }
    }

    /// The sum of what the skipped tests took when they last ran, and that of all tests.
    pub fn time_saved(&self) -> (Duration, Duration) {
        let skipped = self.skipped.iter().filter_map(|name| self.durations_skipped.get(name));
        let all = self.durations.values().chain(self.durations_skipped.values());
        (skipped.sum(), all.sum())
    }

    /// A sentence about that, without its full stop, if anything is saved.
    pub fn saved(&self) -> Option<String> {
        let (saved, all) = self.time_saved();
        let [shown, of] = [saved, all].map(time::span);
        (!saved.is_zero()).then(|| {
            format!(
                "saved {shown} of {of} of test time (the sum of the last run times of all tests)"
            )
        })
    }

    /// Selected tests of which it is not known what they reach: they are new, did not pass, or
    /// their trace is not complete.
    pub fn tests_without_record(&self) -> Vec<&str> {
        let has_none = |reasons: &[Reason]| {
            let mut reasons = reasons.iter();
            reasons.any(|r| matches!(r, Reason::State { .. } | Reason::NewTest | Reason::NoHistory))
        };
        let all = self.selected.iter().chain(&self.cut);
        all.filter(|(_, reasons)| has_none(reasons)).map(|(name, _)| name.as_str()).collect()
    }

    /// Says that the reach of these tests is not known.
    pub fn reach_unknown(&self, names: impl Fn(&[&str]) -> String) -> Option<String> {
        let tests = self.tests_without_record();
        let why = "new, did not pass, or without a complete trace";
        (!tests.is_empty()).then(|| {
            let count = text::counted(tests.len(), "test");
            format!("What {count} may reach is not known ({why}): {}", names(&tests))
        })
    }

    /// Tests that run excluded code which changed.
    pub fn passed_over(&self) -> HashSet<&str> {
        self.excluded.iter().flat_map(|change| change.tests.iter().map(String::as_str)).collect()
    }
}
