//! The lines that a selection is about, with the tests behind each.

use super::Report;
use crate::select::unreached::{Kind, Unreached};
use crate::select::{Reason, SourceLine};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A line where the way of a test may be another one now.
#[derive(Debug, Default)]
pub struct ChangedLine<'r> {
    pub procedures: BTreeSet<&'r str>,
    /// What is different, where the line itself is the same.
    pub because: BTreeSet<&'r str>,
    pub tests: BTreeSet<&'r str>,
}

/// By file and line; code that is gone has no line any more.
pub type ChangedLines<'r> = BTreeMap<(&'r str, Option<u32>), ChangedLine<'r>>;

/// All changed lines, also those that no test ran, unless [`Report::unreached`] tells of them. What is
/// selected counts, whether the output holds it or not.
pub fn lines(report: &Report) -> ChangedLines<'_> {
    let shown = report.selected.iter().chain(&report.cut);
    let shown: HashSet<&str> = shown.map(|(name, _)| name.as_str()).collect();
    let mut lines = ChangedLines::new();
    for edge in &report.dangerous {
        add(&mut lines, &edge.old, edge.new.as_ref(), &edge.procedure, &edge.because);
    }
    for (edge, tests) in &report.behind {
        let new = edge.new.as_ref();
        let line = add(&mut lines, &edge.old, new, &edge.procedure, &edge.because);
        line.tests
            .extend(tests.iter().filter(|name| shown.contains(name.as_str())).map(String::as_str));
    }
    for (name, reasons) in report.selected.iter().chain(&report.cut) {
        for reason in reasons {
            let line = match reason {
                Reason::Edge(edge) => {
                    let new = edge.new.as_ref();
                    add(&mut lines, &edge.old, new, &edge.procedure, &edge.because)
                }
                Reason::Procedure { procedure, old, new, .. } => {
                    add(&mut lines, old, Some(new), procedure, "")
                }
                Reason::ProcedureGone { procedure, old, .. } => {
                    add(&mut lines, old, None, procedure, "")
                }
                _ => continue,
            };
            line.tests.insert(name);
        }
    }
    lines.retain(|(file, line), changed| {
        let is_told = |other: &Unreached| {
            other.file == *file
                && changed.procedures.contains(other.name.as_str())
                && line.map_or(other.lines.is_empty(), |line| other.lines.contains(&line))
        };
        !changed.tests.is_empty() || !report.unreached.iter().any(is_told)
    });
    lines
}

fn add<'l, 'r>(
    lines: &'l mut ChangedLines<'r>,
    old: &'r SourceLine,
    new: Option<&'r SourceLine>,
    procedure: &'r str,
    because: &'r str,
) -> &'l mut ChangedLine<'r> {
    let place = match new {
        Some(new) => (new.file.as_str(), Some(new.line)),
        None => (old.file.as_str(), None),
    };
    let line = lines.entry(place).or_default();
    line.procedures.insert(procedure);
    if !because.is_empty() {
        line.because.insert(because);
    }
    line
}

/// Reasons that are no lines of code, each with the number of tests that it selects.
pub fn others(report: &Report) -> BTreeMap<&Reason, usize> {
    let mut others = BTreeMap::new();
    let all = report.selected.iter().chain(&report.cut).flat_map(|(_, reasons)| reasons);
    for reason in all {
        let is_line = matches!(
            reason,
            Reason::Edge(_) | Reason::Procedure { .. } | Reason::ProcedureGone { .. }
        );
        if !is_line {
            *others.entry(reason).or_default() += 1;
        }
    }
    others
}

/// What there is to say of a change that no test is known to reach.
pub fn unreached(change: &Unreached, report: &Report) -> &'static str {
    let is_all_known = report.tests_without_record().is_empty();
    match change.kind {
        Kind::Procedure if !is_all_known => "no recorded test run enters it",
        Kind::Way if !is_all_known && change.lines.is_empty() => {
            "code is gone that no recorded test run reached"
        }
        Kind::Way if !is_all_known => "no recorded test run goes this way",
        Kind::NewProcedure if !is_all_known => "new, and no recorded test run uses it",
        Kind::Variable if !is_all_known => "no recorded test run uses it",
        Kind::Procedure => "no test enters it",
        Kind::Way if change.lines.is_empty() => "code is gone that no test ran",
        Kind::Way => "no test goes this way",
        Kind::NewProcedure => "new, and nothing that tests run uses it",
        Kind::Variable => "nothing that tests run uses it",
    }
}
