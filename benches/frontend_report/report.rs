//! Outcomes of units, added up and as text.

use crate::commands::{Level, Subject};
use crate::figures::Bars;
use crate::unit::{Outcome, Procedure};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The share of procedures that must have a full graph.
const WANTED: f64 = 0.999;
/// Units below this are not worth a place among the slowest, in seconds.
const NOTICEABLE: f64 = 0.005;
const WORST: usize = 25;

/// A line of the table. Procedures count once, in however many units.
#[derive(Default, Clone)]
pub struct Row {
    name: String,
    units: usize,
    failed: usize,
    lines: usize,
    procedures: usize,
    analysed: usize,
    opaque: usize,
    missing: usize,
    extra: usize,
    problems: usize,
    panics: usize,
    bytes: usize,
    preprocessor: f64,
    ours: f64,
    after_edit: f64,
    /// Peak memory by size of text, of every unit.
    peaks: Vec<f64>,
}

impl Row {
    pub fn of(subject: &Subject, outcomes: &[Outcome]) -> Self {
        let mut row = Self { name: subject.name.clone(), units: outcomes.len(), ..Self::default() };
        let mut files = BTreeSet::new();
        let mut procedures: BTreeMap<&Procedure, bool> = BTreeMap::new();
        let (mut missing, mut extra) = (BTreeSet::new(), BTreeSet::new());
        for outcome in outcomes {
            files.extend(&outcome.files);
            for (procedure, opaque) in &outcome.procedures {
                *procedures.entry(procedure).or_default() |= opaque.is_some();
            }
            missing.extend(&outcome.missing);
            extra.extend(&outcome.extra);
            row.failed += usize::from(outcome.failed.is_some());
            row.panics += usize::from(outcome.panic.is_some());
            row.problems += outcome.problems.len();
            row.analysed += outcome.procedures.len();
            row.bytes += outcome.text;
            row.preprocessor += outcome.preprocessor.as_secs_f64();
            row.ours += outcome.ours.as_secs_f64();
            row.after_edit += outcome.after_edit.as_secs_f64();
            if outcome.text > 0 && outcome.peak > 0 {
                row.peaks.push(outcome.peak as f64 / outcome.text as f64);
            }
        }
        // What #line names is counted in the file it was generated into.
        let is_c = |path: &&std::path::PathBuf| {
            !path.extension().is_some_and(|extension| extension == "y" || extension == "l")
        };
        let texts = files.into_iter().filter(is_c).filter_map(|path| fs_err::read(path).ok());
        row.lines = texts.map(|text| memchr::memchr_iter(b'\n', &text).count()).sum();
        row.procedures = procedures.len();
        row.opaque = procedures.values().filter(|opaque| **opaque).count();
        row.missing = missing.len();
        row.extra = extra.len();
        row
    }

    pub fn total(rows: &[Row]) -> Self {
        let mut total = Self { name: String::from("total"), ..Self::default() };
        for row in rows {
            total.units += row.units;
            total.failed += row.failed;
            total.lines += row.lines;
            total.procedures += row.procedures;
            total.analysed += row.analysed;
            total.opaque += row.opaque;
            total.missing += row.missing;
            total.extra += row.extra;
            total.problems += row.problems;
            total.panics += row.panics;
            total.bytes += row.bytes;
            total.preprocessor += row.preprocessor;
            total.ours += row.ours;
            total.after_edit += row.after_edit;
            total.peaks.extend(&row.peaks);
        }
        total
    }

    /// What `--strict` does not accept.
    pub fn failures(&self) -> Vec<String> {
        let mut failures = Vec::new();
        if self.panics > 0 {
            failures.push(format!("{} units panic", self.panics));
        }
        if self.missing > 0 {
            failures.push(format!("{} procedures are missing", self.missing));
        }
        if self.failed > 0 {
            failures.push(format!("{} units could not be looked at", self.failed));
        }
        let full = (self.procedures - self.opaque) as f64;
        if full < WANTED * self.procedures as f64 {
            failures.push(format!("{} of {} are opaque", self.opaque, self.procedures));
        }
        failures
    }

    /// What has to be met, by all subjects together.
    pub fn bars(&self, level: Level, bars: &mut Bars) {
        let level = level.name();
        let seconds = |time: f64| format!("{time:.2} s");
        let theirs = self.preprocessor.max(1e-9);
        for (what, time, bar) in
            [("whole units", self.ours, 1.5), ("after an edit", self.after_edit, 0.3)]
        {
            let title = format!("front end, {level}, {what}; to `gcc -E`");
            bars.at_most(&title, &seconds(time), &seconds(theirs), time / theirs, bar);
        }
        let worst = self.peaks.iter().copied().fold(0.0, f64::max);
        let title = format!("front end, {level}, memory of the worst unit; to its text");
        bars.at_most(&title, &format!("{worst:.1}"), "1", worst, 20.0);
        let full = (self.procedures - self.opaque) as f64;
        let title = format!("front end, {level}, procedures with a full graph; to all");
        let share = full / self.procedures.max(1) as f64;
        bars.at_least(&title, &full.to_string(), &self.procedures.to_string(), share, WANTED);
        let title = format!("front end, {level}, procedures that gcc has and we do not");
        bars.at_most(&title, &self.missing.to_string(), "0", self.missing as f64, 0.0);
    }

    pub fn markdown(&self) -> String {
        let mut peaks = self.peaks.clone();
        peaks.sort_by(f64::total_cmp);
        let median = peaks.get(peaks.len() / 2).copied().unwrap_or_default();
        let peak = peaks.last().copied().unwrap_or_default();
        let full = self.procedures - self.opaque;
        format!(
            "| {} | {} | {} | {} | {} | {} ({:.2} %) | {} | {} | {} | {} | {} | {:.1} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {median:.1}, {peak:.1} |",
            self.name,
            self.units,
            self.lines,
            self.analysed,
            self.procedures,
            full,
            100.0 * full as f64 / (self.procedures.max(1)) as f64,
            self.opaque,
            self.missing,
            self.extra,
            self.problems,
            self.panics,
            self.bytes as f64 / 1e6,
            self.preprocessor,
            self.ours,
            self.ours / self.preprocessor.max(1e-9),
            self.after_edit,
            self.after_edit / self.preprocessor.max(1e-9),
        )
    }
}

pub fn table(level: Level, rows: &[Row], total: &Row) -> String {
    let mut text = format!("## {}\n\n", level.name());
    text.push_str("| project | units | lines | analysed | procedures | full | opaque | missing vs gcc | extra vs gcc | problems | panics | MB | gcc -E CPU s | ours CPU s | ratio | after an edit CPU s | ratio | peak memory / text: median, max |\n");
    text.push_str("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    for row in rows.iter().chain([total]) {
        text.push_str(&row.markdown());
        text.push('\n');
    }
    text
}

/// The lists behind the table.
#[derive(Default)]
pub struct Summary {
    text: BTreeMap<&'static str, BTreeSet<String>>,
    /// Ratio, with what to print.
    slow: Vec<(f64, String)>,
    /// Peak memory by size of text, with what to print.
    large: Vec<(f64, String)>,
}

impl Summary {
    pub fn add(
        &mut self,
        subject: &str,
        level: Level,
        outcomes: &[Outcome],
        left_out: &BTreeMap<String, usize>,
    ) {
        let level = level.name();
        let mut put = |list: &'static str, line: String| {
            self.text.entry(list).or_default().insert(format!("{subject} {level} {line}"));
        };
        let at = |p: &Procedure| format!("{} {}:{}", p.name, p.file, p.line);
        for (why, count) in left_out {
            put("left out", format!("{why} ({count})"));
        }
        for outcome in outcomes {
            let source = &outcome.source;
            for (procedure, why) in &outcome.procedures {
                if let Some(why) = why {
                    put("opaque", format!("{}: {why}", at(procedure)));
                }
            }
            outcome.problems.iter().for_each(|p| put("problems", format!("{p} (in {source})")));
            outcome.missing.iter().for_each(|p| put("missing", format!("{} ({source})", at(p))));
            outcome.nested.iter().for_each(|p| put("nested", at(p)));
            outcome.extra.iter().for_each(|p| put("extra", format!("{} ({source})", at(p))));
            outcome.panic.iter().for_each(|p| put("panics", format!("{source}: {p}")));
            outcome.failed.iter().for_each(|why| put("failed", format!("{source}: {why}")));
            let (theirs, ours) = (outcome.preprocessor.as_secs_f64(), outcome.ours.as_secs_f64());
            if outcome.text > 0 {
                let peak = outcome.peak as f64 / outcome.text as f64;
                let (held, size) = (outcome.peak as f64 / 1e6, outcome.text as f64 / 1e6);
                let line =
                    format!("{subject} {level} {source}: {peak:.1} ({held:.1} of {size:.2} MB)");
                self.large.push((peak, line));
            }
            if ours >= NOTICEABLE && theirs > 0.0 {
                let ratio = ours / theirs;
                let size = outcome.text as f64 / 1e6;
                let symbols = if outcome.symbolic { ", with symbols" } else { "" };
                self.slow.push((ratio, format!("{subject} {level} {source}: {ratio:.2} ({ours:.3} s, gcc -E {theirs:.3} s, {size:.2} MB{symbols})")));
            }
        }
    }

    pub fn text(&self) -> String {
        let mut text = String::from("# What the front end found\n");
        for (list, lines) in &self.text {
            let _ = write!(text, "\n## {list} ({})\n\n", lines.len());
            for line in lines {
                let _ = writeln!(text, "- {line}");
            }
        }
        let worst =
            [("slowest beside gcc -E", &self.slow), ("largest beside their text", &self.large)];
        for (title, units) in worst {
            let mut units: Vec<_> = units.iter().collect();
            units.sort_by(|a, b| b.0.total_cmp(&a.0));
            let _ = write!(text, "\n## {title}\n\n");
            for (_, line) in units.into_iter().take(WORST) {
                let _ = writeln!(text, "- {line}");
            }
        }
        text
    }
}
