//! A selection as text.

use super::Report;
use super::style::Style;
use crate::select::{Behind, EdgeReason, Reason, SourceLine};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write;

/// Reasons shown per test; the others are counted.
const SHOWN_REASONS: usize = 2;

/// Tests that share their reasons, and these as text.
pub struct Group<'r> {
    pub names: Vec<&'r str>,
    pub reasons: String,
}

/// The selected tests in groups, in the order of the suite. Reasons that read alike are one,
/// whichever programs they come from.
pub fn groups(report: &Report) -> Vec<Group<'_>> {
    let mut groups: Vec<(&Vec<Reason>, Vec<&str>)> = Vec::new();
    let mut places: FxHashMap<&Vec<Reason>, usize> = FxHashMap::default();
    let mut by_text: FxHashMap<BTreeSet<String>, usize> = FxHashMap::default();
    for (name, reasons) in &report.selected {
        let place = *places.entry(reasons).or_insert_with(|| {
            let text = reasons.iter().map(reason).collect();
            *by_text.entry(text).or_insert(groups.len())
        });
        match groups.get_mut(place) {
            Some((_, names)) => names.push(name),
            None => groups.push((reasons, vec![name])),
        }
    }
    groups
        .into_iter()
        .map(|(reasons, names)| {
            // The code first: it says the most.
            let is_edge = |reason: &&Reason| matches!(reason, Reason::Edge(_));
            let (edges, others): (Vec<_>, Vec<_>) = reasons.iter().partition(is_edge);
            let shown = edges.into_iter().chain(others).take(SHOWN_REASONS);
            let mut text: String = shown.map(reason).collect();
            if reasons.len() > SHOWN_REASONS {
                let more = reasons.len() - SHOWN_REASONS;
                let _ = writeln!(text, "    and {} besides", counted(more, "reason"));
            }
            Group { names, reasons: text }
        })
        .collect()
}

/// Selected tests with reasons, and how many are skipped.
pub fn selection(report: &Report, style: Style) -> String {
    let mut out = String::new();
    for group in groups(report) {
        for name in &group.names {
            let _ = writeln!(out, "{}", style.name(&one_line(name)));
        }
        let _ = writeln!(out, "{}", group.reasons);
    }
    out.push_str(&summary(report));
    out
}

/// `1 test`, `2 tests`.
pub fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Numbers as ranges: `3-5, 8`.
pub fn ranges(numbers: &BTreeSet<u32>) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    let shown = ranges.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// One line of counts, and the hints.
pub fn summary(report: &Report) -> String {
    let selected = report.selected_count();
    let skipped = report.skipped.len();
    let total = report.total();
    let tests = counted(total, "test");
    let passed_over = report.passed_over();
    let passed_over = report.skipped.iter().filter(|name| passed_over.contains(name.as_str()));
    let skipped = match passed_over.count() {
        0 => format!("{skipped} safely skipped"),
        some => format!("{skipped} skipped, {some} of them because [exclude] says so"),
    };
    let mut out = match (selected, report.run_anyway.len()) {
        (0, 0) if total < 2 => format!("no test is affected: {skipped}\n"),
        (0, 0) => format!("no test is affected: all {skipped}\n"),
        (0, 1) if total == 1 => String::from("no test is affected; --all runs the only test\n"),
        (0, more) if more == total => format!("no test is affected; --all runs all {total}\n"),
        (_, 0) => format!("{selected} of {tests} selected, {skipped}\n"),
        (_, more) if report.skipped.is_empty() => {
            format!("{selected} of {tests} selected; --all runs the other {more} as well\n")
        }
        (_, more) => {
            format!("{selected} of {tests} selected, {skipped}; --all runs {more} more\n")
        }
    };
    out.push_str(&excluded(report));
    out.push_str(&missing(report));
    for hint in &report.hints {
        let _ = writeln!(out, "hint: {hint}");
    }
    out
}

/// Changes in excluded code, with how many tests they would have selected.
fn excluded(report: &Report) -> String {
    let selected: HashSet<&str> = report.selected.iter().map(|(name, _)| name.as_str()).collect();
    let mut places: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for change in &report.excluded {
        let tests = places.entry(place(&change.change)).or_default();
        tests.extend(change.tests.iter().map(String::as_str));
    }
    let mut out = String::new();
    if !places.is_empty() {
        let count = counted(places.len(), "change");
        let _ = writeln!(out, "{count} in excluded code, which selected nothing:");
    }
    for (place, tests) in places {
        let only = tests.iter().filter(|test| !selected.contains(*test)).count();
        let would = match tests.len() {
            0 => String::from("no test runs it"),
            all => format!("would have selected {}, {only} more than now", counted(all, "test")),
        };
        let _ = writeln!(out, "    {place}: {would}");
    }
    out
}

/// Where a change is, in a line.
pub fn place(change: &Reason) -> String {
    match change {
        Reason::Edge(edge) => {
            format!("{}:{} in {}", edge.old.file, edge.old.line, edge.procedure)
        }
        Reason::ProcedureGone { procedure, old, .. } => {
            format!("{}:{} in {procedure}, which is gone", old.file, old.line)
        }
        other => reason(other).trim().to_string(),
    }
}

/// Says loudly which selected tests the output does not hold.
fn missing(report: &Report) -> String {
    let mut out = String::new();
    if !report.cut.is_empty() {
        let budget = report.budget.unwrap_or_default().as_secs_f64();
        let cut = counted(report.cut.len(), "selected test");
        let _ = writeln!(
            out,
            "warning: NOT SAFE: {cut} did not fit into the {budget} s of --budget and may fail unseen:"
        );
        for (name, _) in &report.cut {
            let _ = writeln!(out, "    {}", one_line(name));
        }
    }
    if !report.left_out.is_empty() {
        let count = counted(report.left_out.len(), "selected test");
        let _ = writeln!(out, "warning: {count} not in this output, to be run in another way:");
        for name in &report.left_out {
            let _ = writeln!(out, "    {}", one_line(name));
        }
    }
    out
}

/// A name in one line: what would break it, or command a terminal, is escaped.
pub fn one_line(name: &str) -> String {
    let each = name.chars().map(|c| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    });
    each.collect()
}

/// Text of a source as one line: what stands between words is only distance.
pub fn code_line(text: &str) -> String {
    one_line(&text.replace(['\t', '\u{b}', '\u{c}'], " "))
}

/// A reason as indented lines.
pub fn reason(reason: &Reason) -> String {
    match reason {
        Reason::Edge(edge) => edge_reason(edge),
        Reason::ProcedureGone { procedure, old, .. } => {
            format!("    `{procedure}` is gone\n{}", source("-", old))
        }
        Reason::Procedure { procedure, old, new, .. } => {
            let lines = format!("{}{}", source("-", old), source("+", new));
            format!("    `{procedure}` changed\n{lines}")
        }
        Reason::Program { program, what, .. } => {
            format!("    {}: {}\n", one_line(program), one_line(what))
        }
        Reason::Files { what, .. } => format!("    {}\n", one_line(what)),
        Reason::NewTest => String::from("    it is new\n"),
        Reason::Dependency { test } => {
            format!("    it needs {}, which is selected\n", one_line(test))
        }
        Reason::State { what } | Reason::TestChanged { what } => {
            format!("    {}\n", one_line(what))
        }
        Reason::All => String::from("    all tests were asked for\n"),
        Reason::NoHistory => String::from("    there is no history yet\n"),
    }
}

fn edge_reason(edge: &EdgeReason) -> String {
    let chain = chain(&edge.chain);
    let mut out = format!("    in {chain}");
    if !edge.edge.is_empty() {
        let _ = write!(out, ", on `{}` of `{}`", edge.edge, short(&edge.from.text));
    }
    if !edge.because.is_empty() {
        let _ = write!(out, ": {}", edge.because);
    }
    out.push('\n');
    out.push_str(&change(edge));
    out
}

/// Where an edge led, and where it leads now, below what is behind that.
pub fn change(edge: &EdgeReason) -> String {
    let mut out = behind(&edge.behind);
    match &edge.new {
        Some(new) if new.text == edge.old.text => out.push_str(&source(" ", new)),
        Some(new) => {
            out.push_str(&source("-", &edge.old));
            out.push_str(&source("+", new));
        }
        None => out.push_str(&source("-", &edge.old)),
    }
    out
}

/// The first lines of a declaration or macro that were and that are.
fn behind(Behind { old, new }: &Behind) -> String {
    const SHOWN: usize = 3;
    let mut out = String::new();
    for (mark, lines) in [("-", old), ("+", new)] {
        lines.iter().take(SHOWN).for_each(|line| out.push_str(&source(mark, line)));
    }
    let more = old.len().saturating_sub(SHOWN) + new.len().saturating_sub(SHOWN);
    if more > 0 {
        let _ = writeln!(out, "      and {} of it", counted(more, "more line"));
    }
    out
}

/// Calls from a root to a procedure; of many, the first and the last.
pub fn chain(calls: &[String]) -> String {
    const ENDS: usize = 5;
    if calls.len() <= 2 * ENDS {
        return calls.join(" > ");
    }
    let (first, last) = (&calls[..ENDS], &calls[calls.len() - ENDS..]);
    format!("{} > … > {}", first.join(" > "), last.join(" > "))
}

fn source(mark: &str, line: &SourceLine) -> String {
    let (file, text) = (one_line(&line.file), code_line(&short(&line.text)));
    format!("    {mark} {file}:{}: {text}\n", line.line)
}

/// A text cut off where it is too long for a line.
pub fn short(text: &str) -> String {
    const MOST: usize = 100;
    if text.chars().count() <= MOST {
        return text.to_string();
    }
    let mut cut: String = text.chars().take(MOST - 1).collect();
    cut.push('…');
    cut
}
