//! Both versions of a procedure as the lines that differ, with a few around them.

use crate::report::html::align::{Row, align};
use crate::report::html::{Side, TextLine};
use crate::report::text::short;
use serde::Serialize;
use std::fmt::Write;

/// Lines before and behind what differs.
const AROUND: usize = 2;
/// Of one procedure so many lines are shown.
const SHOWN: usize = 60;

#[derive(Debug, Default, Serialize)]
pub struct Diff {
    pub lines: Vec<DiffLine>,
    /// The old lines are not those of the file, which nobody has any more, but what the
    /// history has of the nodes of the graph.
    pub is_partial: bool,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct DiffLine {
    pub mark: Mark,
    /// In the version that it is of.
    pub number: u32,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    Same,
    Old,
    New,
}

impl Diff {
    pub fn of(old: &Side, new: &Side) -> Self {
        let keys = |side: &'_ Side| -> Vec<Option<String>> {
            side.lines.iter().map(|line| line.key.clone()).collect()
        };
        let (before, now) = (keys(old), keys(new));
        let before: Vec<Option<&str>> = before.iter().map(Option::as_deref).collect();
        let now: Vec<Option<&str>> = now.iter().map(Option::as_deref).collect();
        let rows = align(&before, &now);
        let is_same = |row: &Row| matches!(row, Row::Same(..) | Row::Beside(_));
        let changed: Vec<usize> = (0..rows.len()).filter(|place| !is_same(&rows[*place])).collect();
        let is_near = |place: usize| {
            let next = changed.partition_point(|at| *at + AROUND < place);
            changed.get(next).is_some_and(|at| *at <= place + AROUND)
        };
        let mut lines = Vec::new();
        // What was comes before what is, where several lines in a row differ.
        let mut behind = Vec::new();
        for (place, row) in rows.iter().enumerate() {
            let line = |mark, line: &TextLine| DiffLine {
                mark,
                number: line.number,
                text: line.text.trim_end().to_string(),
            };
            match row {
                Row::Same(_, j) | Row::Beside(j) => {
                    lines.append(&mut behind);
                    if is_near(place) {
                        lines.push(line(Mark::Same, &new.lines[*j]));
                    }
                }
                Row::Changed(i, j) => {
                    lines.push(line(Mark::Old, &old.lines[*i]));
                    behind.push(line(Mark::New, &new.lines[*j]));
                }
                Row::Removed(i) => lines.push(line(Mark::Old, &old.lines[*i])),
                Row::Added(j) => behind.push(line(Mark::New, &new.lines[*j])),
            }
        }
        lines.append(&mut behind);
        let is_partial = !old.is_whole && lines.iter().any(|line| line.mark == Mark::Old);
        Self { lines, is_partial }
    }

    pub fn text(&self, out: &mut String) {
        for line in self.lines.iter().take(SHOWN) {
            let mark = match line.mark {
                Mark::Same => ' ',
                Mark::Old => '-',
                Mark::New => '+',
            };
            let text = short(&line.text.replace('\t', "        "));
            let _ = writeln!(out, "    {mark} {:>5}  {text}", line.number);
        }
        if self.lines.len() > SHOWN {
            let _ = writeln!(out, "      and {} more lines", self.lines.len() - SHOWN);
        }
        if self.is_partial {
            out.push_str("    (git does not have the old file: these are the statements that the history has of it)\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(text: &str) -> Side {
        let lines = (1..).zip(text.lines()).map(|(number, text)| TextLine {
            number,
            text: text.to_string(),
            key: Some(text.trim().to_string()),
        });
        Side { lines: lines.collect(), is_whole: true, picture: None }
    }

    #[test]
    fn only_what_differs_is_shown_with_a_few_lines_around_it() {
        let old = side("a\nb\nc\nd\ne\nf\ng\nh\ni\n");
        let new = side("a\nb\nc\nd\nE\nF\ng\nh\ni\n");
        let mut out = String::new();
        Diff::of(&old, &new).text(&mut out);
        let said: Vec<&str> = out.lines().map(str::trim).collect();
        assert_eq!(
            said,
            [
                "3  c",
                "4  d",
                "-     5  e",
                "-     6  f",
                "+     5  E",
                "+     6  F",
                "7  g",
                "8  h"
            ]
        );
        assert!(Diff::of(&old, &side("a\nb\nc\nd\ne\nf\ng\nh\ni\n")).lines.is_empty());
    }

    #[test]
    fn a_procedure_that_is_new_or_gone_is_all_of_one_side() {
        let nothing = Side { lines: Vec::new(), is_whole: false, picture: None };
        let marks = |diff: Diff| diff.lines.iter().map(|line| line.mark).collect::<Vec<_>>();
        assert_eq!(marks(Diff::of(&nothing, &side("a\nb\n"))), [Mark::New, Mark::New]);
        assert_eq!(marks(Diff::of(&side("a\nb\n"), &nothing)), [Mark::Old, Mark::Old]);
    }
}
