//! Files that are not compiled, and changed: where they differ, both versions side by side.

use super::align::{Row, align};
use super::frame::Frame;
use super::{ChangedFile, Site};
use crate::report::text::counted;

/// Lines before and behind one that differs.
const AROUND: usize = 3;
/// Rows of a file, and letters of a line, that are shown.
const MOST_ROWS: usize = 300;
const MOST_LETTERS: usize = 500;
/// Files that are shown.
const MOST_FILES: usize = 100;
/// A file with more rows is folded.
const MOST_OPEN: usize = 40;

/// What there is to be seen of a changed file that has no page of its own.
#[derive(Debug)]
pub enum TextChange {
    Rows {
        rows: Vec<TextRow>,
        is_cut: bool,
    },
    /// Why nothing, in a sentence.
    Unknown(&'static str),
}

/// A line of both versions, with its number in each.
#[derive(Debug, PartialEq, Eq)]
pub struct TextRow {
    class: &'static str,
    before: Option<(usize, String)>,
    now: Option<(usize, String)>,
}

impl TextChange {
    /// Lays two versions beside each other; what is new has no lines before.
    pub fn between(before: &[String], now: &[String]) -> Self {
        let is_text = |line: &String| !line.contains(['\0', char::REPLACEMENT_CHARACTER]);
        if !before.iter().chain(now).all(is_text) {
            return Self::Unknown("It is not text.");
        }
        let all = align(&keys(before), &keys(now));
        let is_same = |at: usize| matches!(all.get(at), None | Some(Row::Same(..)));
        let is_near = |at: usize| (at.saturating_sub(AROUND)..=at + AROUND).any(|at| !is_same(at));
        let mut rows = Vec::new();
        for (at, row) in all.iter().enumerate() {
            if is_near(at) {
                rows.push(TextRow::of(*row, before, now));
            } else if at > 0 && is_near(at - 1) {
                rows.push(TextRow { class: "left-out", before: None, now: None });
            }
        }
        // Nothing follows it.
        rows.pop_if(|row| row.class == "left-out");
        let is_cut = rows.len() > MOST_ROWS;
        rows.truncate(MOST_ROWS);
        Self::Rows { rows, is_cut }
    }
}

fn keys(lines: &[String]) -> Vec<Option<&str>> {
    lines.iter().map(|line| Some(line.as_str())).collect()
}

impl TextRow {
    fn of(row: Row, before: &[String], now: &[String]) -> Self {
        let line = |lines: &[String], at: usize| {
            let text = &lines[at];
            let shown: String = text.chars().take(MOST_LETTERS).collect();
            let more = if shown.len() < text.len() { " …" } else { "" };
            Some((at + 1, shown + more))
        };
        let (class, before, now) = match row {
            Row::Same(i, j) => ("same", line(before, i), line(now, j)),
            Row::Changed(i, j) => ("changed", line(before, i), line(now, j)),
            Row::Removed(i) => ("removed", line(before, i), None),
            Row::Added(j) | Row::Beside(j) => ("added", None, line(now, j)),
        };
        Self { class, before, now }
    }
}

/// The changed files of which there is something to be seen here.
fn shown(site: &Site) -> impl Iterator<Item = (&ChangedFile, &TextChange)> {
    let texts = site.changed_files.iter().filter_map(|file| Some((file, file.text.as_ref()?)));
    texts.take(MOST_FILES)
}

impl Site {
    /// Where both versions of a file stand that is not compiled.
    pub(super) fn text_href(&self, file: &str) -> Option<String> {
        let place = shown(self).position(|(change, _)| change.file == file)?;
        Some(format!("changes.html#x{}", place + 1))
    }
}

pub fn section(frame: &mut Frame<'_>) {
    let site = frame.site;
    if shown(site).next().is_none() {
        return;
    }
    frame.html.begin("section").attr("id", "texts");
    frame.html.element("h2", "Files that are not compiled");
    for (number, (change, text)) in shown(site).enumerate() {
        frame.html.begin("details").attr("id", format_args!("x{}", number + 1));
        let rows = match text {
            TextChange::Rows { rows, .. } => rows.as_slice(),
            TextChange::Unknown(_) => &[],
        };
        if rows.len() <= MOST_OPEN {
            frame.html.flag("open");
        }
        frame.html.begin("summary").begin("span").attr("class", "path").text(&change.file).end();
        frame.html.text(format_args!(" {}", change.verb)).end();
        match text {
            TextChange::Unknown(why) => {
                frame.html.begin("p").attr("class", "note").text(why).end();
            }
            TextChange::Rows { rows, is_cut } => {
                table(frame, &change.file, rows);
                if *is_cut {
                    frame.html.element("p", "More lines differ, which are not shown.");
                }
            }
        }
        frame.html.end();
    }
    let all = site.changed_files.iter().filter(|file| file.text.is_some()).count();
    if all > MOST_FILES {
        let more = counted(all - MOST_FILES, "more file");
        frame.html.element("p", format_args!("{more} changed, which are not shown."));
    }
    frame.html.end();
}

fn table(frame: &mut Frame<'_>, file: &str, rows: &[TextRow]) {
    frame.html.begin("table").attr("class", "diff");
    frame.html.element("caption", format_args!("{file} before and now, where it differs"));
    frame.html.begin("thead").begin("tr");
    for column in ["Line before", "Before", "Line now", "Now"] {
        frame.html.begin("th").attr("scope", "col").text(column).end();
    }
    frame.html.end().end().begin("tbody");
    for row in rows {
        frame.html.begin("tr").attr("class", row.class);
        for (side, line) in [("before", &row.before), ("now", &row.now)] {
            frame.html.begin("td").attr("class", format_args!("line {side}"));
            match line {
                Some((number, text)) => {
                    frame.html.text(number).end();
                    frame.html.begin("td").attr("class", side).code(text).end();
                }
                None if row.class == "left-out" => {
                    frame.html.text("⋮").end();
                    frame.html.begin("td").attr("class", side).end();
                }
                None => {
                    frame.html.end().begin("td");
                    frame.html.attr("class", format_args!("{side} nothing")).end();
                }
            }
        }
        frame.html.end();
    }
    frame.html.end().end();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(before: &str, now: &str) -> Vec<String> {
        let lines = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        let TextChange::Rows { rows, is_cut } = TextChange::between(&lines(before), &lines(now))
        else {
            return vec![String::from("not text")];
        };
        assert!(!is_cut);
        let number = |side: &Option<(usize, String)>| side.as_ref().map_or(0, |(at, _)| *at);
        let each = rows.iter().map(|row| match row.class {
            "left-out" => String::from("…"),
            class => format!("{class} {} {}", number(&row.before), number(&row.now)),
        });
        each.collect()
    }

    #[test]
    fn what_is_near_a_difference_is_shown() {
        assert_eq!(rows("a b", "a c"), ["same 1 1", "changed 2 2"]);
        assert_eq!(rows("a", "a b"), ["same 1 1", "added 0 2"]);
        let far = rows("x 1 2 3 4 5 6 7 8 9 y z", "X 1 2 3 4 5 6 7 8 9 Y z");
        assert_eq!(far.len(), 1 + 3 + 1 + 3 + 1 + 1);
        assert_eq!(far[4], "…");
        assert_eq!(rows("x 1 2 3 4 5", "X 1 2 3 4 5").len(), 4, "no dots at the end");
        assert_eq!(rows("a\0", "b"), ["not text"]);
    }
}
