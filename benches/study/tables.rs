//! Tables of what the study found, as Markdown.

use super::path::{ALGORITHMS, PathRecord};
use super::report::TECHNIQUES;
use super::sums::{Sum, Sums};
use super::table::Paths;
use std::collections::BTreeMap;
use std::fmt::Write;

const HEAD: &str = "| | changes | do not build | with a test that hangs | pairs of change and test | differ | missed | \
selected | by procedure | by file | by changed lines | missed by procedure | by file | by changed lines |\n\
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";

/// Of the columns, those that a reader wants first.
const SHORT_HEAD: &str = "| | changes | pairs of change and test | differ | missed | selected | by procedure | by file | \
by changed lines | missed by changed lines |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";

/// All figures.
pub fn all(sums: &Sums) -> String {
    let mut text = String::from(HEAD);
    for (name, sum) in &sums.by_subject {
        text += &row(name, sum);
    }
    text += &row("all mutants", &sums.mutants);
    text += &row("all edits of what is no source", &sums.beside);
    text += &row("all versions", &sums.versions);
    text += &row("all", &sums.all);
    let _ = write!(
        text,
        "\nLooked at from a build as well: {} changes. Different in nothing but numbers of lines, and selected with \
             `strict-lines`: {} pairs.\n\n{HEAD}",
        sums.all.from_build, sums.all.numbers_only
    );
    for (name, sum) in &sums.by_kind {
        text += &row(name, sum);
    }
    text += &row("any of these in a header", &sums.in_headers);
    let _ = write!(text, "\n{HEAD}");
    for (name, sum) in sums.by_row() {
        text += &row(name, &sum);
    }
    text
}

/// The figures for who reads no more than a page.
pub fn short(sums: &Sums) -> String {
    let mut text = String::from(SHORT_HEAD);
    for (name, sum) in &sums.by_subject {
        text += &short_row(name, sum);
    }
    text += &short_row("all", &sums.all);
    let _ = write!(text, "\n{SHORT_HEAD}");
    for (name, sum) in sums.by_row() {
        text += &short_row(name, &sum);
    }
    text += &short_row("other versions", &sums.versions);
    let codes = sums.by_code.iter().map(|(code, count)| format!("`{code}` ({count} changes)"));
    let codes = codes.collect::<Vec<_>>().join(", ");
    let _ = write!(text, "\nCompared with edgewise as of {codes}.\n");
    text
}

fn short_row(name: &str, sum: &Sum) -> String {
    let mut row =
        format!("| {name} | {} | {} | {} | {} |", sum.changes, sum.tests, sum.differ, sum.missed);
    for technique in TECHNIQUES {
        let _ = write!(row, " {:.1} % |", sum.share(technique) * 100.0);
    }
    let _ = writeln!(row, " {} |", sum.missed_by.get("changed lines").copied().unwrap_or(0));
    row
}

fn row(name: &str, sum: &Sum) -> String {
    let mut row = format!(
        "| {name} | {} | {} | {} | {} | {} | {} |",
        sum.changes, sum.do_not_build, sum.hang, sum.tests, sum.differ, sum.missed
    );
    for technique in TECHNIQUES {
        let _ = write!(row, " {:.1} % |", sum.share(technique) * 100.0);
    }
    for technique in &TECHNIQUES[1..] {
        let _ = write!(row, " {} |", sum.missed_by.get(*technique).copied().unwrap_or(0));
    }
    row.push('\n');
    row
}

/// What each algorithm selects of the tests whose path differs, and how often a node
/// has several counterparts.
pub fn paths(paths: &Paths) -> String {
    if paths.is_empty() {
        return String::new();
    }
    let mut text = String::from("\n| | changes |");
    ALGORITHMS.iter().for_each(|algorithm| text.push_str(&format!(" {algorithm} |")));
    text += " auto / path | procedures walked | with several counterparts |\n|---|--:|";
    text += &"--:|".repeat(ALGORITHMS.len() + 3);
    text.push('\n');
    let all: Vec<&PathRecord> = paths.values().flat_map(BTreeMap::values).collect();
    for (name, records) in paths {
        text += &path_row(name, &records.values().collect::<Vec<_>>());
    }
    text + &path_row("all", &all)
}

fn path_row(name: &str, records: &[&PathRecord]) -> String {
    let sum = |algorithm: &str| -> usize {
        records.iter().filter_map(|record| record.selected.get(algorithm)).sum()
    };
    let mut row = format!("| {name} | {} |", records.len());
    for algorithm in ALGORITHMS {
        let _ = write!(row, " {} |", sum(algorithm));
    }
    let walked: u64 = records.iter().map(|record| record.walked).sum();
    let multiply: u64 = records.iter().map(|record| record.multiply_visited).sum();
    let ratio = sum("auto") as f64 / sum("path").max(1) as f64;
    let _ = writeln!(row, " {ratio:.3} | {walked} | {multiply} |");
    row
}
