//! A procedure or a line: whether it changed, who reaches it, whom it selects.

use super::diff::Diff;
use super::{SHOWN, names, rule, some_names, way};
use crate::report::text::{code_line, one_line, short};
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
    /// Tests that did not pass, of which nothing is kept.
    pub unknown: Vec<String>,
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
    /// The line that was asked for, if what is there began before.
    pub asked: Option<u32>,
    /// As it is in the file.
    pub text: Option<String>,
    /// Procedures that it is part of.
    pub procedures: Vec<String>,
    /// What stands there, if it is no code.
    pub stands: Option<Stands>,
    /// Variables and types that it declares, if it is no code.
    pub declares: Vec<String>,
    /// Procedures that depend on that, by what the sources say.
    pub users: Vec<String>,
    pub change: LineChange,
    /// Whether this very line of a macro or a declaration was edited, if that is known.
    #[serde(skip)]
    pub is_edited: Option<bool>,
    pub is_excluded: bool,
    /// Edges into it that led elsewhere.
    pub dangers: Vec<Danger>,
    /// Tests that reach it, or a use of what it declares, by the rows of the version that
    /// it is compared with; none if that is not known.
    pub reached: Option<Vec<String>>,
    pub selected: Vec<String>,
    /// Tests that are selected for a change of code that depends on it, perhaps for this one.
    pub perhaps: Vec<String>,
    /// Tests that are selected for the file as a whole.
    pub selected_for_file: Vec<String>,
    /// Tests of which it is not known which files they use, for a file that is no source.
    pub unseen: Vec<String>,
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
    /// It says what it said, and a jump behind it was edited: control goes on elsewhere.
    LeadsElsewhere,
    /// It is new, or behind something that changed: no test ran it yet.
    NotRunYet,
    /// It says what it said, behind something that changed.
    Behind,
    /// No code begins there now.
    NoCode,
    Unknown(String),
}

/// What is on a line without code.
#[derive(Debug, Serialize)]
pub struct Stands {
    pub is: Standing,
    /// The macro, or all that the declaration declares.
    pub names: Vec<String>,
    pub first: u32,
    pub last: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    Macro,
    Include,
    Condition,
    Directive,
    Declaration,
    /// A line of a procedure on which nothing begins.
    Inside,
    /// A comment, or nothing.
    Blank,
    /// A line of a file that no program is made of.
    Data,
}

impl Stands {
    fn text(&self, file: &str, line: u32, declares: &[String]) -> String {
        let Self { first, last, .. } = self;
        let span = match first == last {
            true => format!("{file}:{first}"),
            false => format!("{file}:{first}-{last}"),
        };
        let quoted = |names: &[String]| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            short(&names.join(", "))
        };
        let names = quoted(&self.names);
        match self.is {
            Standing::Macro if line == *first => format!("it defines the macro {names}"),
            Standing::Macro => format!("it is part of the macro {names} ({span})"),
            Standing::Include => String::from("it includes a file"),
            Standing::Condition => String::from("it is a condition for the preprocessor"),
            Standing::Directive => String::from("it is a line for the preprocessor"),
            Standing::Declaration if !declares.is_empty() => {
                format!("it declares {}", declares.join(", "))
            }
            Standing::Declaration if names.is_empty() => {
                format!("it is part of a declaration ({span})")
            }
            Standing::Declaration => format!("it is part of the declaration of {names} ({span})"),
            Standing::Inside => {
                format!(
                    "no statement or condition begins there; it is part of {names} ({span}), which \
                     `edgewise explain` tells of"
                )
            }
            Standing::Blank => String::new(),
            Standing::Data => String::from("no program that tests ran is made of this file"),
        }
    }
}

#[derive(Debug, Serialize)]
pub struct Before {
    pub text: Option<String>,
    /// What it said to the compiler then, and says now, where the text is the same.
    pub meant: Option<(String, String)>,
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
            some_names(&mut out, UNKNOWN, &self.unknown);
        }
        // Tests of which it is not known stand between.
        let told = if self.unknown.is_empty() { &self.entered[..] } else { &[] };
        add_selected(&mut out, &self.change, told, &self.selected, &self.selected_otherwise);
        out
    }
}

impl Line {
    pub fn text(&self) -> String {
        let Self { file, line, .. } = self;
        let is = self.stands.as_ref().map(|stands| stands.is);
        let is_inside = is == Some(Standing::Inside)
            || is == Some(Standing::Declaration) && self.declares.is_empty();
        let changed = match &self.change {
            LineChange::Same if is == Some(Standing::Data) => String::from("the file is as it was"),
            LineChange::Changed if is == Some(Standing::Data) => String::from("the file changed"),
            LineChange::Same if is == Some(Standing::Blank) => {
                String::from("it is blank or a comment, which is no code")
            }
            LineChange::Changed if self.is_edited == Some(true) => String::from("it changed"),
            LineChange::Changed if is_inside || self.is_edited == Some(false) => {
                String::from("what it is part of changed")
            }
            LineChange::Same if is_inside => String::from("what it is part of is as it was"),
            LineChange::Same => String::from("it is as it was"),
            LineChange::Changed => String::from("it changed"),
            LineChange::LeadsElsewhere => {
                String::from("it is as it was, and the jump behind it leads elsewhere now")
            }
            LineChange::Behind => String::from(
                "it is as it was, and lies behind something that changed: who reaches it is known \
                 when the tests ran",
            ),
            LineChange::NotRunYet => {
                String::from("it is new, or lies behind something that changed: no test ran it yet")
            }
            LineChange::NoCode => String::from("no statement or condition begins there now"),
            LineChange::Unknown(why) => format!("whether it changed is not known: {why}"),
        };
        let mut out = String::new();
        if let Some(asked) = self.asked {
            let _ = writeln!(out, "{file}:{asked} is part of what begins on line {line}:");
        }
        let _ = writeln!(out, "{file}:{line}: {changed}");
        if let Some(text) = self.text.as_ref().filter(|text| !text.trim().is_empty()) {
            let _ = writeln!(out, "      {}", code_line(&short(text.trim())));
        }
        if !self.procedures.is_empty() {
            let _ = writeln!(out, "    it is part of {}", self.procedures.join(", "));
        }
        if let Some(stands) = &self.stands {
            let said = stands.text(file, *line, &self.declares);
            if !said.is_empty() {
                let _ = writeln!(out, "    {said}");
            }
        } else if !self.declares.is_empty() {
            let _ = writeln!(out, "    it declares {}", self.declares.join(", "));
        }
        if matches!(is, Some(Standing::Macro | Standing::Declaration)) {
            self.add_users(&mut out);
        }
        if self.is_excluded {
            out.push_str("    [exclude] names it: an edit of it selects nothing\n");
        }
        add_dangers(&mut out, &self.dangers, self.is_excluded);
        let is_told = !matches!(self.change, LineChange::NotRunYet | LineChange::NoCode)
            && is != Some(Standing::Inside);
        if is_told {
            let what = match self.change {
                _ if is == Some(Standing::Data) => "used it",
                LineChange::Behind => "reached it before",
                _ if !self.declares.is_empty() => "reached a use of it",
                LineChange::Changed => "reached what was there before",
                _ => "reached it",
            };
            if let Some(reached) = &self.reached {
                names(&mut out, (what, what), reached);
            }
            some_names(&mut out, UNSEEN, &self.unseen);
            let is_open = self.stands.is_some() && matches!(self.change, LineChange::Unknown(_));
            let selects_otherwise = self.perhaps.len() + self.selected_for_file.len() > 0;
            let change = match self.change {
                LineChange::Changed | LineChange::LeadsElsewhere if !selects_otherwise => {
                    Change::Changed
                }
                _ if is_open && !selects_otherwise => Change::Changed,
                _ => Change::Same,
            };
            let told = self.reached.as_deref().filter(|_| self.unseen.is_empty());
            let told = told.unwrap_or_default();
            add_selected(&mut out, &change, told, &self.selected, &self.selected_otherwise);
            some_names(&mut out, PERHAPS, &self.perhaps);
            some_names(&mut out, FOR_FILE, &self.selected_for_file);
        }
        if let Some(before) = &self.before {
            if let Some((then, now)) = &before.meant {
                out.push_str(
                    "    when the tests ran, the same text meant something else, by a macro or a \
                     declaration that changed:\n",
                );
                let _ = writeln!(out, "    - {}", code_line(&short(then)));
                let _ = writeln!(out, "    + {}", code_line(&short(now)));
            } else {
                let _ = writeln!(out, "    when the tests ran, {file}:{line} was something else:");
                if let Some(text) = &before.text {
                    let _ = writeln!(out, "    - {}", code_line(&short(text.trim())));
                }
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

impl Line {
    fn add_users(&self, out: &mut String) {
        const MOST: usize = 10;
        let shown: Vec<&str> = self.users.iter().take(MOST).map(String::as_str).collect();
        let _ = match self.users.len() {
            0 => write!(out, "    no procedure depends on it"),
            1 => write!(out, "    1 procedure depends on it: {}", shown[0]),
            count => write!(out, "    {count} procedures depend on it: {}", shown.join(", ")),
        };
        if self.users.len() > MOST {
            let _ = write!(out, " and {} more", self.users.len() - MOST);
        }
        out.push('\n');
    }
}

const UNKNOWN: (&str, &str) = (
    "may have entered it: it did not pass, and nothing is kept of that",
    "may have entered it: they did not pass, and nothing is kept of that",
);
const UNSEEN: (&str, &str) = (
    "may have used it: not all files that it uses are known",
    "may have used it: not all files that they use are known",
);
const PERHAPS: (&str, &str) = (
    "is selected for code that depends on it; whether for this is not known",
    "are selected for code that depends on it; whether for this is not known",
);
const FOR_FILE: (&str, &str) =
    ("is selected for the file as a whole", "are selected for the file as a whole");
const SELECTED: (&str, &str) = ("is selected for it", "are selected for it");

/// Adds who is selected; `told` are the tests that were named right before.
fn add_selected(
    out: &mut String,
    change: &Change,
    told: &[String],
    selected: &[String],
    otherwise: &[String],
) {
    /// So few names are as easily read twice.
    const FEW: usize = 3;
    if selected.len() > FEW && selected == told {
        out.push_str("    all of them are selected for it\n");
    } else if *change != Change::Same || !selected.is_empty() {
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
