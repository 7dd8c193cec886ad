//! A procedure or a line: whether it changed, who reaches it, whom it selects.

use super::diff::Diff;
use super::{SHOWN, names, rule, way};
use crate::report::text::{one_line, short};
use crate::select::EdgeReason;
use serde::Serialize;
use std::fmt::Write;
use std::sync::Arc;

/// A procedure at one place.
#[derive(Debug, Serialize)]
pub struct Function {
    pub name: String,
    pub file: String,
    /// Where it is now, or was if it is gone.
    pub line: u32,
    pub change: Change,
    /// An edit of it selects nothing.
    pub is_excluded: bool,
    /// Programs that tests ran with it in them.
    pub programs: Vec<String>,
    /// Why it is compared as a whole, if so.
    pub opaque: Option<String>,
    pub diff: Option<Diff>,
    /// Edges that lead elsewhere now, with the tests that are selected for each.
    pub dangers: Vec<Danger>,
    /// Tests that entered it when they ran.
    pub entered: Vec<String>,
    /// Tests that are selected for it.
    pub selected: Vec<String>,
    /// Tests that entered it and are selected for something else alone.
    pub selected_otherwise: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "is", content = "why")]
pub enum Change {
    Same,
    Changed,
    New,
    Gone,
    /// Nothing is known of its program as it is now.
    Unknown(String),
}

/// An edge that leads elsewhere now.
#[derive(Debug, Serialize)]
pub struct Danger {
    pub edge: Arc<EdgeReason>,
    /// Tests that are selected for it, or would be if it was not excluded.
    pub tests: Vec<String>,
}

/// A line of a source.
#[derive(Debug, Serialize)]
pub struct Line {
    pub file: String,
    pub line: u32,
    /// As it is in the file.
    pub text: Option<String>,
    /// Procedures that it is part of.
    pub procedures: Vec<String>,
    /// Variables and types that it declares, if it is no code.
    pub declares: Vec<String>,
    pub change: LineChange,
    pub is_excluded: bool,
    /// Edges into it that led elsewhere.
    pub dangers: Vec<Danger>,
    /// Tests that reach it, or a use of what it declares, by the rows of the version that
    /// it is compared with; none if that is not known.
    pub reached: Option<Vec<String>>,
    pub selected: Vec<String>,
    pub selected_otherwise: Vec<String>,
    /// What had this number before, if it was something else.
    pub before: Option<Before>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "is", content = "why")]
pub enum LineChange {
    Same,
    /// An edge into it led elsewhere before.
    Changed,
    /// It is new, or behind something that changed: no test ran it yet.
    NotRunYet,
    /// No code begins there now.
    NoCode,
    Unknown(String),
}

#[derive(Debug, Serialize)]
pub struct Before {
    pub text: Option<String>,
    pub dangers: Vec<Danger>,
    pub reached: Vec<String>,
    pub selected: Vec<String>,
}

impl Function {
    pub fn text(&self) -> String {
        let Self { name, file, line, .. } = self;
        let changed = match &self.change {
            Change::Same => String::from("it is as it was"),
            Change::Changed => String::from("it changed"),
            Change::New => String::from("it is new: no test ran it yet"),
            Change::Gone => String::from("it is gone"),
            Change::Unknown(why) => format!("whether it changed is not known: {why}"),
        };
        let mut out = format!("{} ({file}:{line}): {changed}\n", one_line(name));
        if self.is_excluded {
            out.push_str("    [exclude] names it: an edit of it selects nothing\n");
        }
        if let Some(why) = &self.opaque {
            let _ = writeln!(out, "    it is opaque, and compared as a whole: {why}");
        }
        if !self.programs.is_empty() {
            let _ = writeln!(out, "    it is part of {}", short(&self.programs.join(", ")));
        }
        if let Some(diff) = &self.diff {
            diff.text(&mut out);
        }
        match self.dangers.len() {
            0 if self.change == Change::Changed => {
                out.push_str("    every edge of it leads where it led\n");
            }
            0 => {}
            1 => out.push_str("    1 of its edges leads elsewhere now:\n"),
            count => {
                let _ = writeln!(out, "    {count} of its edges lead elsewhere now:");
            }
        }
        add_dangers(&mut out, &self.dangers, self.is_excluded);
        if self.change == Change::Gone && !self.selected.is_empty() {
            out.push_str(&rule(crate::select::Rule::Gone));
        }
        if self.change != Change::New {
            names(&mut out, ("entered it", "entered it"), &self.entered);
        }
        add_selected(&mut out, &self.change, &self.selected, &self.selected_otherwise);
        out
    }
}

impl Line {
    pub fn text(&self) -> String {
        let Self { file, line, .. } = self;
        let changed = match &self.change {
            LineChange::Same => String::from("it is as it was"),
            LineChange::Changed => String::from("it changed"),
            LineChange::NotRunYet => {
                String::from("it is new, or lies behind something that changed: no test ran it yet")
            }
            LineChange::NoCode => String::from("no statement or condition begins there now"),
            LineChange::Unknown(why) => format!("whether it changed is not known: {why}"),
        };
        let mut out = format!("{file}:{line}: {changed}\n");
        if let Some(text) = &self.text {
            let _ = writeln!(out, "      {}", one_line(&short(text.trim())));
        }
        if !self.procedures.is_empty() {
            let _ = writeln!(out, "    it is part of {}", self.procedures.join(", "));
        }
        if !self.declares.is_empty() {
            let _ = writeln!(out, "    it declares {}", self.declares.join(", "));
        }
        if self.is_excluded {
            out.push_str("    [exclude] names it: an edit of it selects nothing\n");
        }
        add_dangers(&mut out, &self.dangers, self.is_excluded);
        if matches!(self.change, LineChange::Same | LineChange::Changed | LineChange::Unknown(_)) {
            let what = match self.change {
                _ if !self.declares.is_empty() => "reached a use of it",
                LineChange::Changed => "reached what was there before",
                _ => "reached it",
            };
            if let Some(reached) = &self.reached {
                names(&mut out, (what, what), reached);
            }
            let change = match self.change {
                LineChange::Changed => Change::Changed,
                _ => Change::Same,
            };
            add_selected(&mut out, &change, &self.selected, &self.selected_otherwise);
        }
        if let Some(before) = &self.before {
            let _ = writeln!(out, "    when the tests ran, {file}:{line} was something else:");
            if let Some(text) = &before.text {
                let _ = writeln!(out, "    - {}", one_line(&short(text.trim())));
            }
            add_dangers(&mut out, &before.dangers, self.is_excluded);
            names(&mut out, ("reached that", "reached that"), &before.reached);
            if !before.dangers.is_empty() {
                names(&mut out, SELECTED, &before.selected);
            }
        }
        out
    }
}

const SELECTED: (&str, &str) = ("is selected for it", "are selected for it");

fn add_selected(out: &mut String, change: &Change, selected: &[String], otherwise: &[String]) {
    if *change != Change::Same || !selected.is_empty() {
        names(out, SELECTED, selected);
    }
    if !otherwise.is_empty() {
        let one = "that reaches it is selected for something else";
        names(out, (one, "that reach it are selected for something else"), otherwise);
    }
}

fn add_dangers(out: &mut String, dangers: &[Danger], is_excluded: bool) {
    for (place, danger) in dangers.iter().enumerate().take(SHOWN) {
        out.push_str(&way(&danger.edge));
        let _ = match (danger.tests.len(), is_excluded) {
            (0, _) => writeln!(out, "    no test is selected for this edge"),
            (1, true) => writeln!(out, "    1 test would be selected for this edge"),
            (1, false) => writeln!(out, "    1 test is selected for this edge"),
            (some, true) => writeln!(out, "    {some} tests would be selected for this edge"),
            (some, false) => writeln!(out, "    {some} tests are selected for this edge"),
        };
        let is_last = dangers.get(place + 1).is_none_or(|next| next.edge.by != danger.edge.by);
        if is_last || place + 1 == SHOWN {
            out.push_str(&rule(danger.edge.by));
        }
    }
    if dangers.len() > SHOWN {
        let _ = writeln!(out, "    and {} more; --format json has them", dangers.len() - SHOWN);
    }
}
