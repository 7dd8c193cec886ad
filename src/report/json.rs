//! A selection as JSON.

use super::Report;
use serde_json::{Value, json};

/// Raised when the shape of the output changes.
const VERSION: u32 = 1;

pub fn selection(report: &Report) -> Value {
    let selected: Vec<Value> = report
        .selected
        .iter()
        .map(|(name, reasons)| json!({ "name": name, "reasons": reasons }))
        .collect();
    json!({
        "version": VERSION,
        "selected": selected,
        "skipped": report.skipped,
        "hints": report.hints,
        "dangerous_edges": report.dangerous,
        "procedures_analysed": report.analysed,
        "statistics": report.statistics,
        "effort": report.effort,
    })
}
