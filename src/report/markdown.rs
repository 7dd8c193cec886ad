//! Summaries for a pull request, in the Markdown of GitHub. Whatever comes from the
//! project stands in code, where nothing is markup, a mention or a link.

use super::changed;
use super::results::{Fate, TestResult};
use super::shadow::Shadow;
use super::text::{self, counted, one_line, ranges, short};
use super::{Report, time};
use crate::bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;

/// Bytes of each part; together they stay below what GitHub takes as a comment, which
/// is 65,536 characters.
const ROOM_WARNINGS: usize = 5_000;
const ROOM_FAILURES: usize = 8_000;
const ROOM_OUTPUTS: usize = 8_000;
const ROOM_CHANGES: usize = 9_000;
const ROOM_UNREACHED: usize = 3_000;
const ROOM_REASONS: usize = 12_000;
const ROOM_SHADOW: usize = 4_000;
const ROOM_NAMES: usize = 3_000;
/// The end of what a failed test printed.
const OUTPUT: usize = 2_000;
/// Tests that are named for one change or one reason.
const NAMED: usize = 20;

/// What is selected, and why.
pub fn selection(report: &Report) -> String {
    let selected = report.selected_count();
    let total = counted(report.total(), "test");
    let mut out = match selected {
        0 => format!("## edgewise: no test is affected, of {total}\n"),
        _ => format!("## edgewise: {selected} of {total} selected\n"),
    };
    out.push_str(&saved(report));
    out.push_str(&why(report));
    out
}

/// What ran, what failed and what was skipped; why, if it was selected.
pub fn results(results: &[TestResult], report: Option<&Report>, shadow: Option<&Shadow>) -> String {
    let of = |which: fn(Fate) -> bool| -> Vec<&TestResult> {
        results.iter().filter(|result| which(result.fate)).collect()
    };
    let failed = of(Fate::is_failure);
    let passed = of(|fate| fate == Fate::Passed);
    let interrupted = of(|fate| fate == Fate::Interrupted);
    let ran = failed.len() + passed.len();
    let mut out = match (failed.len(), ran) {
        (0, 0) => format!("## edgewise: {}\n", without_results(results, report)),
        (0, _) => format!("## edgewise: {} passed\n", counted(ran, "test")),
        (failed, _) => format!("## edgewise: {failed} of {} failed\n", counted(ran, "test")),
    };
    let took: Duration = results.iter().map(|result| result.duration).sum();
    let mut counts = vec![format!("{} passed", passed.len()), format!("{} failed", failed.len())];
    for (fate, what) in [
        (Fate::Skipped, "skipped by themselves"),
        (Fate::Disabled, "disabled"),
        (
            Fate::Interrupted,
            match interrupted.len() {
                1 => "interrupted, which stays selected",
                _ => "interrupted, which stay selected",
            },
        ),
    ] {
        let count = results.iter().filter(|result| result.fate == fate).count();
        if count > 0 {
            counts.push(format!("{count} {what}"));
        }
    }
    let _ = writeln!(out, "\n{}, in {} of test time.", counts.join(", "), time::span(took));
    if !interrupted.is_empty() {
        out.push_str("\n> [!WARNING]\n> The run was interrupted.\n");
    }
    out.push_str(&failures(&failed));
    let noted = |note: fn(&TestResult) -> bool| -> Vec<&str> {
        results.iter().filter(|r| note(r)).map(|r| r.name.as_str()).collect()
    };
    fold(&mut out, "not the same each time", &noted(|result| result.unstable));
    let unclean = noted(|result| result.unclean.is_some());
    let stay = |count: usize| if count == 1 { "stays" } else { "stay" };
    let what = format!("without a complete trace, which {} selected", stay(unclean.len()));
    fold(&mut out, &what, &unclean);
    if let Some(shadow) = shadow {
        let mut text = String::new();
        let lines = shadow.text();
        let more = fill(&mut text, ROOM_SHADOW, lines.lines().map(|line| format!("{line}\n")));
        if more > 0 {
            let _ = writeln!(text, "and {}", counted(more, "more line"));
        }
        let text = block("text", &text);
        let _ = write!(out, "\n### What selection would have done\n\n{text}");
    }
    if let Some(report) = report {
        let selected = report.selected_count();
        let total = counted(report.total(), "test");
        let _ = writeln!(out, "\n### {selected} of {total} selected");
        out.push_str(&saved(report));
        let left = not_run(results, report);
        let what = format!("selected and not asked for, which {} selected", stay(left.len()));
        fold(&mut out, &what, &left);
        out.push_str(&why(report));
    }
    out
}

/// The heading if no test passed or failed.
fn without_results(results: &[TestResult], report: Option<&Report>) -> String {
    let count = |fate: Fate| results.iter().filter(|result| result.fate == fate).count();
    let left = report.map_or(0, |report| not_run(results, report).len());
    if count(Fate::Interrupted) > 0 {
        return String::from("interrupted before a test finished");
    }
    match (count(Fate::Skipped), count(Fate::Unjudged), left) {
        (0, 0, 0) => String::from("no test had to run"),
        (0, 0, left) => format!("no test ran, {} not asked for", counted(left, "selected test")),
        (0, unjudged, _) => format!("{} left to the harness", counted(unjudged, "test")),
        (1, ..) => String::from("1 test skipped by itself"),
        (skipped, ..) => format!("{skipped} tests skipped by themselves"),
    }
}

/// Selected tests that did not run.
fn not_run<'r>(results: &[TestResult], report: &'r Report) -> Vec<&'r str> {
    let run = results.iter().filter(|result| result.fate != Fate::NotSelected);
    let run: BTreeSet<&str> = run.map(|result| result.name.as_str()).collect();
    let names = report.selected.iter().map(|(name, _)| name.as_str());
    names.filter(|name| !run.contains(name)).collect()
}

fn failures(failed: &[&TestResult]) -> String {
    if failed.is_empty() {
        return String::new();
    }
    let mut out = String::from("\n| failed | why | time |\n|---|---|---|\n");
    let rows = failed.iter().map(|result| {
        let why = match result.fate {
            Fate::TimedOut => String::from("ran out of time"),
            _ => cell(&result.why),
        };
        format!("| {} | {why} | {} |\n", cell(&result.name), time::span(result.duration))
    });
    let more = fill(&mut out, ROOM_FAILURES, rows);
    and_more(&mut out, more, "failed test");
    let outputs = failed.iter().filter(|result| !result.output.is_empty()).map(|result| {
        let start = result.output.len().saturating_sub(OUTPUT);
        let text = String::from_utf8_lossy(&result.output[start..]);
        let name = html(&result.name);
        format!(
            "\n<details><summary>Output of <code>{name}</code></summary>\n\n{}\n</details>\n",
            block("text", &text)
        )
    });
    let more = fill(&mut out, ROOM_OUTPUTS, outputs);
    and_more(&mut out, more, "output");
    out
}

/// The line about what is skipped, and what that saves.
fn saved(report: &Report) -> String {
    let passed_over = report.passed_over();
    let passed_over = report.skipped.iter().filter(|name| passed_over.contains(name.as_str()));
    let passed_over = passed_over.count();
    let mut out = String::new();
    if !report.run_anyway.is_empty() {
        let count = counted(report.run_anyway.len(), "test");
        let _ = writeln!(out, "\n{count} that no change can affect ran as well (`--all`).");
    }
    match (report.skipped.len(), passed_over) {
        (0, _) => return out,
        (skipped, 0) => {
            let _ = write!(out, "\n{} safely skipped", counted(skipped, "test"));
        }
        (skipped, some) => {
            let skipped = counted(skipped, "test");
            let _ = write!(out, "\n{skipped} skipped, {some} of them because `[exclude]` says so");
        }
    }
    if let Some(saved) = report.saved() {
        let _ = write!(out, ": {saved}");
    }
    out.push_str(".\n");
    out
}

/// Warnings, what changed, and the reasons of each test.
fn why(report: &Report) -> String {
    let mut out = warnings(report);
    out.push_str(&changes(report));
    out.push_str(&unreached(report));
    out.push_str(&reasons(report));
    let skipped: Vec<&str> = report.skipped.iter().map(String::as_str).collect();
    fold(&mut out, "skipped", &skipped);
    if !report.hints.is_empty() {
        let hints = report.hints.iter().map(|hint| format!("hint: {hint}\n"));
        let mut text = String::new();
        let more = fill(&mut text, ROOM_NAMES, hints);
        if more > 0 {
            let _ = writeln!(text, "and {more} more");
        }
        let _ = write!(out, "\n{}", block("text", &text));
    }
    out
}

fn warnings(report: &Report) -> String {
    let mut warnings: Vec<String> = Vec::new();
    if !report.cut.is_empty() {
        let cut = counted(report.cut.len(), "selected test");
        let names: Vec<&str> = report.cut.iter().map(|(name, _)| name.as_str()).collect();
        warnings.push(format!(
            "**Not safe**: {cut} did not fit into `--budget` and may fail unseen: {}",
            some(&names)
        ));
    }
    if !report.left_out.is_empty() {
        let count = counted(report.left_out.len(), "selected test");
        let names: Vec<&str> = report.left_out.iter().map(String::as_str).collect();
        warnings.push(format!(
            "{count} not in this output, to be run in another way: {}",
            some(&names)
        ));
    }
    let mut excluded: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for change in &report.excluded {
        let tests = excluded.entry(text::place(&change.change)).or_default();
        tests.extend(change.tests.iter().map(String::as_str));
    }
    for (place, tests) in excluded {
        let would = counted(tests.len(), "test");
        warnings.push(format!(
            "Changed in excluded code, which selects nothing: {}; it would have selected {would}",
            code(&place)
        ));
    }
    if let Some((source, why)) = report.unanalysed.first() {
        let count = counted(report.unanalysed.len(), "source");
        warnings.push(format!(
            "{count} not analysed, a change of which selects every test; for example {}: {}",
            code(source),
            code(why)
        ));
    }
    if warnings.is_empty() {
        return String::new();
    }
    let mut out = String::from("\n> [!WARNING]\n");
    let more = fill(&mut out, ROOM_WARNINGS, warnings.iter().map(|text| format!("> - {text}\n")));
    if more > 0 {
        let _ = writeln!(out, "> - and {} more", counted(more, "warning"));
    }
    out
}

/// What changed in some procedures of a file.
#[derive(Default)]
struct Place<'r> {
    lines: BTreeSet<u32>,
    /// Code is gone, which has no line any more.
    is_gone: bool,
    tests: BTreeSet<&'r str>,
}

/// A row for each procedure of a file, and for each change that is not in code.
fn changes(report: &Report) -> String {
    let lines = changed::lines(report);
    let others = changed::others(report);
    if lines.is_empty() && others.is_empty() {
        return String::new();
    }
    // By file and procedures.
    let mut places: BTreeMap<(&str, String), Place<'_>> = BTreeMap::new();
    for ((file, line), changed) in &lines {
        let procedures: Vec<&str> = changed.procedures.iter().copied().collect();
        let place = places.entry((file, procedures.join(", "))).or_default();
        place.lines.extend(line);
        place.is_gone |= line.is_none();
        place.tests.extend(&changed.tests);
    }
    let rows = places.into_iter().map(|((file, procedures), Place { lines, is_gone, tests })| {
        let mut place = file.to_string();
        if !lines.is_empty() {
            let _ = write!(place, ":{}", ranges(&lines));
        }
        let mut what = cell(&procedures);
        if is_gone {
            what.push_str(" (code is gone)");
        }
        let names: Vec<&str> = tests.iter().copied().collect();
        let tests = match names.len() {
            0 => String::from("no recorded test run reaches it"),
            count if count <= 3 => {
                names.iter().map(|name| cell(name)).collect::<Vec<_>>().join(", ")
            }
            count => counted(count, "test"),
        };
        format!("| {} | {what} | {tests} |\n", cell(&place))
    });
    let others = others.into_iter().map(|(other, count)| {
        let what = text::reason(other);
        format!("| | {} | {} |\n", cell(what.trim()), counted(count, "test"))
    });
    let mut out = String::from("\n| changed | in | selects |\n|---|---|---|\n");
    let rows: Vec<String> = rows.chain(others).collect();
    let more = fill(&mut out, ROOM_CHANGES, rows.into_iter());
    and_more(&mut out, more, "change");
    out
}

/// What changed without selecting anybody, since no test is known to reach it.
fn unreached(report: &Report) -> String {
    if report.unreached.is_empty() {
        return String::new();
    }
    let count = counted(report.unreached.len(), "change");
    let mut out = format!(
        "\n**{count} that no test is known to reach**\n\n| changed | in | why |\n|---|---|---|\n"
    );
    let rows = report.unreached.iter().map(|change| {
        let mut place = change.file.clone();
        if !change.lines.is_empty() {
            let _ = write!(place, ":{}", ranges(&change.lines));
        }
        format!(
            "| {} | {} | {} |\n",
            cell(&place),
            cell(&change.name),
            changed::unreached(change, report)
        )
    });
    let more = fill(&mut out, ROOM_UNREACHED, rows);
    and_more(&mut out, more, "change");
    if let Some(unknown) = report.reach_unknown(some) {
        let _ = writeln!(out, "\n{unknown}.");
    }
    out
}

fn reasons(report: &Report) -> String {
    if report.selected.is_empty() {
        return String::new();
    }
    let count = counted(report.selected.len(), "selected test");
    let mut out = format!("\n<details><summary>Why: {count} with reasons</summary>\n");
    let groups = text::groups(report);
    let mut left = report.selected.len();
    let texts = groups.iter().map(|group| {
        let lines = group.reasons.lines().map(|line| line.strip_prefix("    ").unwrap_or(line));
        let lines: String = lines.map(|line| format!("{line}\n")).collect();
        format!("\n{}\n\n{}", some(&group.names), block("diff", &lines))
    });
    let more = fill(&mut out, ROOM_REASONS, texts);
    groups.iter().take(groups.len() - more).for_each(|group| left -= group.names.len());
    and_more(&mut out, left, "test");
    out.push_str("\n</details>\n");
    out
}

/// Names, folded away.
fn fold(out: &mut String, what: &str, names: &[&str]) {
    if names.is_empty() {
        return;
    }
    let count = counted(names.len(), "test");
    let mut text = String::new();
    let more = fill(&mut text, ROOM_NAMES, names.iter().map(|name| one_line(name) + "\n"));
    if more > 0 {
        let _ = writeln!(text, "and {more} more");
    }
    let _ = write!(
        out,
        "\n<details><summary>{count} {what}</summary>\n\n{}\n</details>\n",
        block("text", &text)
    );
}

/// Adds what there is room for, and returns how many are missing.
fn fill(out: &mut String, room: usize, texts: impl Iterator<Item = String>) -> usize {
    let end = out.len() + room;
    let mut missing = 0;
    for text in texts {
        // In their order: behind one that is missing, all are.
        if missing > 0 || out.len() + text.len() > end {
            missing += 1;
        } else {
            out.push_str(&text);
        }
    }
    missing
}

fn and_more(out: &mut String, more: usize, what: &str) {
    if more > 0 {
        let _ = writeln!(out, "\nand {}", counted(more, &format!("more {what}")));
    }
}

/// Some names, and how many more there are.
fn some(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(NAMED).map(|name| code(name)).collect();
    let mut out = shown.join(", ");
    if names.len() > NAMED {
        let _ = write!(out, " and {} more", names.len() - NAMED);
    }
    out
}

/// The longest run of backticks in a text.
fn backticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// A text as code within a line.
fn code(text: &str) -> String {
    let text = short(&bytes::shown(&one_line(text)));
    let fence = "`".repeat(backticks(&text) + 1);
    let ends = |c| text.starts_with(c) || text.ends_with(c);
    // One space on each side is not part of it.
    let pad = if text.is_empty() || ends('`') || ends(' ') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// The same within a table, where a bar would end the cell.
fn cell(text: &str) -> String {
    code(text).replace('|', "\\|")
}

/// Lines as code.
fn block(language: &str, text: &str) -> String {
    let lines: String = text.lines().map(|line| one_line_with_tabs(line) + "\n").collect();
    let fence = "`".repeat(backticks(&lines).max(2) + 1);
    format!("{fence}{language}\n{lines}{fence}\n")
}

fn one_line_with_tabs(line: &str) -> String {
    line.split('\t').map(one_line).collect::<Vec<_>>().join("\t")
}

/// A name within HTML.
fn html(text: &str) -> String {
    let text = short(&bytes::shown(&one_line(text)));
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::Reason;

    /// What GitHub takes.
    const LIMIT: usize = 65_536;

    #[test]
    fn whatever_a_name_holds_is_code() {
        assert_eq!(code("<script>"), "`<script>`");
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`a"), "`` `a ``");
        assert_eq!(code("a\nb"), "`a\\nb`");
        assert_eq!(cell("a|b"), "`a\\|b`");
        assert_eq!(block("text", "```\n\x1b[2J"), "````text\n```\n\\u{1b}[2J\n````\n");
        assert_eq!(html("</summary><b>&"), "&lt;/summary&gt;&lt;b&gt;&amp;");
    }

    #[test]
    fn long_lists_are_cut_and_counted() {
        let name = |number: usize| format!("suite/{}{number}", "long".repeat(20));
        let mut report = Report::default();
        for number in 0..5000 {
            let reason = Reason::State { what: format!("data/{} changed", name(number)) };
            report.selected.push((name(number), vec![reason.clone()]));
            report.cut.push((name(number), vec![reason]));
            report.skipped.push(name(number));
            report.hints.push(name(number));
            report.unanalysed.push((name(number), String::from("it is no C")));
            let change = Reason::State { what: name(number) };
            report.excluded.push(crate::report::ExcludedChange { change, tests: Vec::new() });
        }
        let results = (0..5000).map(|number| TestResult {
            name: name(number),
            fate: Fate::Failed,
            output: "`x".repeat(40_000).into_bytes(),
            unstable: true,
            unclean: Some(String::from("it is")),
            ..TestResult::default()
        });
        let results: Vec<TestResult> = results.collect();
        let text = super::results(&results, Some(&report), None);
        assert!(text.len() < LIMIT, "{}", text.len());
        assert!(text.contains("more failed tests\n"), "{text}");
        assert!(selection(&report).len() < LIMIT);
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    }

    #[test]
    fn nothing_to_say_is_said() {
        let mut report = Report::default();
        report.skipped.push(String::from("t/a"));
        let text = selection(&report);
        assert!(text.starts_with("## edgewise: no test is affected, of 1 test\n"), "{text}");
        assert!(text.contains("1 test safely skipped.\n"), "{text}");
    }
}
