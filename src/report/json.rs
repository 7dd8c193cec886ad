//! A selection as JSON.

use super::Report;
use crate::select::Reason;
use serde_json::{Value, json};
use std::time::Duration;

/// Raised when the shape of the output changes.
const VERSION: u32 = 2;

pub fn selection(report: &Report) -> Value {
    let tests = |tests: &[(String, Vec<Reason>)]| -> Vec<Value> {
        let test = |(name, reasons): &(String, Vec<Reason>)| {
            let seconds = report.durations.get(name).map(Duration::as_secs_f64);
            json!({ "name": name, "reasons": reasons, "seconds": seconds })
        };
        tests.iter().map(test).collect()
    };
    let excluded = report.excluded.iter();
    let excluded = excluded.map(|e| json!({ "change": e.change, "tests": e.tests }));
    json!({
        "version": VERSION,
        // Whether running the selected tests is enough.
        "safe": report.cut.is_empty() && report.left_out.is_empty(),
        "selected": tests(&report.selected),
        "skipped": report.skipped,
        "excluded": excluded.collect::<Vec<_>>(),
        "cut": tests(&report.cut),
        "seconds_saved": report.time_saved().0.as_secs_f64(),
        "budget_seconds": report.budget.map(|budget| budget.as_secs_f64()),
        "left_out": report.left_out,
        "hints": report.hints,
        "dangerous_edges": report.dangerous,
        "procedures_analysed": report.analysed,
        "statistics": report.statistics,
        "effort": report.effort,
    })
}
