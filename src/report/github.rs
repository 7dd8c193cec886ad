//! Annotations of GitHub Actions: lines that the runner takes for commands, and shows
//! beside the code of a pull request.

use super::Report;
use super::changed::{self, ChangedLine};
use super::text::{counted, one_line, place, reason};
use std::fmt::Write;

/// Tests that an annotation names; the others are counted.
const NAMED: usize = 10;
/// Changes without a test that have an annotation each; the others are counted in one.
const UNREACHED: usize = 20;

pub struct Annotation<'a> {
    /// `notice`, `warning` or `error`.
    pub level: &'a str,
    /// A file, and the first and the last line if they are known.
    pub place: Option<(&'a str, Option<(u32, u32)>)>,
    pub title: &'a str,
    pub message: &'a str,
}

impl Annotation<'_> {
    pub fn line(&self) -> String {
        let mut out = format!("::{} ", self.level);
        if let Some((file, lines)) = self.place {
            let _ = write!(out, "file={},", property(file));
            if let Some((first, last)) = lines {
                let _ = write!(out, "line={first},endLine={last},");
            }
        }
        let _ = writeln!(out, "title={}::{}", property(self.title), data(self.message));
        out
    }
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// What a selection wants to be seen. GitHub shows only the first ten of a step and kind: what is
/// not safe comes first, then lines without a test, then those with the most tests. `folder` is
/// where the project is in its repository, with a slash behind it, or nothing.
pub fn selection(report: &Report, folder: &str) -> String {
    let mut out = missing(report);
    out.push_str(&unreached(report, folder));
    let lines = changed::lines(report);
    let mut lines: Vec<_> = lines.into_iter().collect();
    lines.sort_by_key(|(_, line)| (!line.tests.is_empty(), std::cmp::Reverse(line.tests.len())));
    for ((file, line), changed) in &lines {
        let file = in_repository(file, folder);
        let (title, message) = says(changed, line.is_none());
        let place = Some((file.as_str(), line.map(|line| (line, line))));
        let level = if changed.tests.is_empty() { "warning" } else { "notice" };
        out.push_str(&Annotation { level, place, title: &title, message: &message }.line());
    }
    for (other, count) in changed::others(report) {
        let title = format!("selects {}", counted(count, "test"));
        let message = reason(other);
        let message = message.trim();
        out.push_str(&Annotation { level: "notice", place: None, title: &title, message }.line());
    }
    for hint in &report.hints {
        out.push_str(
            &Annotation { level: "notice", place: None, title: "hint", message: hint }.line(),
        );
    }
    out
}

fn in_repository(file: &str, folder: &str) -> String {
    match file.starts_with('/') {
        true => file.to_string(),
        false => format!("{folder}{file}"),
    }
}

/// Changes that select nobody, since no test is known to reach them.
fn unreached(report: &Report, folder: &str) -> String {
    let mut out = String::new();
    let title = "no test is known to reach this change";
    let unknown = report.reach_unknown(|names| some(&mut names.iter().copied()));
    for change in report.unreached.iter().take(UNREACHED) {
        let file = in_repository(&change.file, folder);
        let lines = change.lines.first().copied().zip(change.lines.last().copied());
        let mut message = format!("{}: {}", change.name, changed::unreached(change, report));
        if let Some(unknown) = &unknown {
            let _ = write!(message, "\n{unknown}");
        }
        let place = Some((file.as_str(), lines));
        out.push_str(&Annotation { level: "warning", place, title, message: &message }.line());
    }
    if let Some(more) = report.unreached.len().checked_sub(UNREACHED).filter(|more| *more > 0) {
        let title = format!("{} that no test is known to reach", counted(more, "more change"));
        let message = "`edgewise select --format markdown` and `edgewise report` name more of them";
        out.push_str(&Annotation { level: "warning", place: None, title: &title, message }.line());
    }
    out
}

/// What makes the selection less than safe, or leaves it to the user.
fn missing(report: &Report) -> String {
    let names = |tests: &mut dyn Iterator<Item = &str>| some(tests);
    let mut out = String::new();
    let mut warn = |title: &str, message: &str| {
        out.push_str(&Annotation { level: "warning", place: None, title, message }.line());
    };
    if !report.cut.is_empty() {
        let title =
            format!("not safe: {} cut by --budget", counted(report.cut.len(), "selected test"));
        warn(&title, &names(&mut report.cut.iter().map(|(name, _)| name.as_str())));
    }
    if !report.left_out.is_empty() {
        let count = counted(report.left_out.len(), "selected test");
        let title = format!("{count} not in this output, to be run in another way");
        warn(&title, &names(&mut report.left_out.iter().map(String::as_str)));
    }
    for change in &report.excluded {
        let title = "a change in excluded code selected nothing";
        let would = counted(change.tests.len(), "test");
        warn(title, &format!("{}: would have selected {would}", place(&change.change)));
    }
    out
}

fn says(line: &ChangedLine<'_>, is_gone: bool) -> (String, String) {
    let procedures: Vec<&str> = line.procedures.iter().copied().collect();
    let mut what = format!("in {}", procedures.join(", "));
    if is_gone {
        what.push_str(", code is gone");
    }
    for because in &line.because {
        let _ = write!(what, "; {because}");
    }
    if line.tests.is_empty() {
        return (String::from("no recorded test run reaches this change"), what);
    }
    let title = format!("{} behind this change", counted(line.tests.len(), "test"));
    (title, format!("{what}\n{}", some(&mut line.tests.iter().copied())))
}

/// Some names, and how many more there are.
fn some(names: &mut dyn Iterator<Item = &str>) -> String {
    let shown: Vec<String> = names.take(NAMED).map(one_line).collect();
    let mut out = shown.join("\n");
    let more = names.count();
    if more > 0 {
        let _ = write!(out, "\nand {more} more");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped_as_the_runner_wants_them() {
        let annotation = Annotation {
            level: "notice",
            place: Some(("a,b:c%.c", Some((1, 2)))),
            title: "x: y",
            message: "50 %\nof: a, b\r",
        };
        let expected =
            "::notice file=a%2Cb%3Ac%25.c,line=1,endLine=2,title=x%3A y::50 %25%0Aof: a, b%0D\n";
        assert_eq!(annotation.line(), expected);
    }

    #[test]
    fn a_name_cannot_be_a_command_of_its_own() {
        let mut report = Report::default();
        report.left_out.push(String::from("a\n::error::b"));
        let text = selection(&report, "");
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.ends_with("::a\\n::error::b\n"), "{text}");
    }
}
