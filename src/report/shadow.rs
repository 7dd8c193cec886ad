//! What a selection would have meant for a run of all tests.

use super::results::{Fate, TestResult};
use super::text::{counted, one_line};
use serde::Serialize;
use std::collections::HashMap;
use std::fmt::Write;

/// Of tests that took another way so many are shown, and the others counted.
const SHOWN: usize = 10;

/// A selection that was not followed, and what the tests did.
#[derive(Debug, Default, Serialize)]
pub struct Shadow {
    /// How many of the tests that ran would have been selected.
    pub selected: usize,
    /// Those that would have been skipped.
    pub skipped: Vec<String>,
    /// Seconds of all tests that ran, one after another, and of the skipped ones.
    pub seconds: f64,
    pub seconds_saved: f64,
    /// Skipped ones that failed, although they had passed before.
    pub missed: Vec<Missed>,
    /// Skipped ones that passed, and took other edges than was known of them.
    pub other_edges: Vec<OtherEdges>,
    /// Skipped ones of which that cannot be said, since this run left no complete
    /// trace of them.
    pub not_compared: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct Missed {
    pub name: String,
    pub why: String,
}

#[derive(Debug, Serialize)]
pub struct OtherEdges {
    pub name: String,
    /// In these.
    pub procedures: Vec<String>,
}

impl Shadow {
    /// Lays the results of a run beside the names that were selected. Tests that
    /// did not run count for nothing.
    pub fn new(skipped: &[String], results: &[TestResult]) -> Self {
        let did_run = |result: &&TestResult| {
            let is_left = matches!(result.fate, Fate::Disabled | Fate::NotSelected);
            !is_left && result.fate != Fate::Interrupted
        };
        let by_name: HashMap<&str, &TestResult> =
            results.iter().filter(did_run).map(|result| (result.name.as_str(), result)).collect();
        let seconds = results.iter().filter(did_run).map(|result| result.duration.as_secs_f64());
        let mut shadow = Self { seconds: seconds.sum(), ..Self::default() };
        for name in skipped {
            let Some(result) = by_name.get(name.as_str()) else { continue };
            shadow.skipped.push(name.clone());
            shadow.seconds_saved += result.duration.as_secs_f64();
            if result.fate != Fate::Passed {
                let why = match result.fate {
                    Fate::TimedOut => String::from("ran out of time"),
                    Fate::Skipped => String::from("did nothing now: skipped by itself"),
                    _ => result.why.clone(),
                };
                shadow.missed.push(Missed { name: name.clone(), why });
            }
        }
        shadow.selected = by_name.len() - shadow.skipped.len();
        shadow
    }

    pub fn text(&self) -> String {
        let Self { selected, skipped, seconds, seconds_saved, .. } = self;
        let all = selected + skipped.len();
        let percent = if *seconds > 0.0 { 100.0 * seconds_saved / seconds } else { 0.0 };
        let mut out = format!(
            "shadow: of {} that ran, {selected} would have been selected and {} skipped\n\
             shadow: that would have saved {seconds_saved:.2} of {seconds:.2} s of test time ({percent:.0} %)\n",
            counted(all, "test"),
            skipped.len(),
        );
        if !self.not_compared.is_empty() {
            let count = counted(self.not_compared.len(), "skipped test");
            let _ = writeln!(
                out,
                "shadow: {count} left no complete trace now, so their edges were not compared"
            );
        }
        if !self.other_edges.is_empty() {
            let count = counted(self.other_edges.len(), "skipped test");
            let _ = writeln!(
                out,
                "warning: {count} passed, but took other edges than was known: either they do not do \
                 the same each time, or selection missed something:"
            );
            for OtherEdges { name, procedures } in self.other_edges.iter().take(SHOWN) {
                let _ = writeln!(out, "    {}: in {}", one_line(name), procedures.join(", "));
            }
            if self.other_edges.len() > SHOWN {
                let _ = writeln!(out, "    and {} more", self.other_edges.len() - SHOWN);
            }
        }
        if self.missed.is_empty() {
            out.push_str("shadow: none of the skipped tests failed\n");
            return out;
        }
        let count = counted(self.missed.len(), "test");
        let _ = writeln!(
            out,
            "\nSHADOW MISS: {count} that would have been skipped did not pass, and had passed before:"
        );
        for Missed { name, why } in &self.missed {
            let _ = writeln!(out, "    {}: {}", one_line(name), one_line(why));
        }
        out.push_str(
            "hint: either the test is not deterministic (`edgewise run --repeat 5 NAME` shows it), it \
             depends on something that edgewise does not see, or this is a bug of edgewise\n",
        );
        out
    }
}
