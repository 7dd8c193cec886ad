//! Changed code that no test reaches, for people and for CI.

use super::github::Annotation;
use super::sarif::{self, Finding, Rule};
use super::style::Style;
use super::text::{counted, ranges};
use crate::ids::FpHasher;
use crate::select::gaps::{Change, Gap, Kind};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Sources that changed since, which are named.
const SHOWN: usize = 10;

/// Lines of a procedure that nobody reaches, or a way that nobody takes.
struct Group<'g> {
    file: &'g str,
    procedure: &'g str,
    kind: Kind,
    change: Change,
    lines: BTreeSet<u32>,
    text: &'g str,
    never: &'g str,
}

/// What gaps have in common that are told as one: file, first line, procedure, kind, change, and
/// what never happens.
type Key<'g> = (&'g str, u32, &'g str, Kind, Change, &'g str);

fn groups(gaps: &[Gap]) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<Key<'_>, Group<'_>> = BTreeMap::new();
    let mut first: BTreeMap<(&str, &str, Kind, Change), u32> = BTreeMap::new();
    for gap in gaps {
        let Gap { file, line, procedure, kind, change, text, never } = gap;
        let never = never.as_deref().unwrap_or_default();
        // Ways out of code are told one by one.
        let start = match kind {
            Kind::Branch => *line,
            _ => *first.entry((file, procedure, *kind, *change)).or_insert(*line),
        };
        let key = (file.as_str(), start, procedure.as_str(), *kind, *change, never);
        let group = groups.entry(key).or_insert_with(|| Group {
            file,
            procedure,
            kind: *kind,
            change: *change,
            lines: BTreeSet::new(),
            text,
            never,
        });
        group.lines.insert(*line);
    }
    groups.into_values().collect()
}

impl Group<'_> {
    fn what(&self) -> String {
        let Self { procedure, text, never, .. } = self;
        let why = match self.change {
            Change::Edited => "new or changed",
            Change::Meaning => "a macro, type or declaration that it uses changed",
        };
        match (self.kind, self.change) {
            (Kind::Procedure, Change::Edited) => {
                format!("{procedure} is {why}, and no test enters it")
            }
            (Kind::Procedure, Change::Meaning) => {
                format!("no test enters {procedure}, and {why}")
            }
            (Kind::Code, Change::Edited) => {
                format!("{why} in {procedure}, and no test reaches it")
            }
            (Kind::Code, Change::Meaning) => {
                format!("no test reaches this code of {procedure}, and {why}")
            }
            (Kind::Branch, Change::Edited) => {
                format!("{why} in {procedure}, and in no test `{text}` {never}")
            }
            (Kind::Branch, Change::Meaning) => {
                format!("in no test `{text}` {never} in {procedure}, and {why}")
            }
        }
    }

    /// A few words for an annotation.
    fn title(&self) -> &'static str {
        match self.kind {
            Kind::Procedure => "no test enters this function",
            Kind::Code => "no test reaches this code",
            Kind::Branch => "no test takes this branch",
        }
    }

    /// First and last lines of the places it is about.
    fn runs(&self) -> Vec<(u32, u32)> {
        let whole = self.lines.first().copied().zip(self.lines.last().copied());
        match self.kind {
            // All of it, with the lines between that are no code.
            Kind::Procedure => whole.into_iter().collect(),
            _ => sarif::runs(&self.lines),
        }
    }

    fn place(&self) -> String {
        format!("{}:{}", self.file, ranges(&self.lines))
    }
}

/// Gaps that are told as one, with what there is to say of them.
#[derive(Debug)]
pub struct Place {
    pub file: String,
    pub line: u32,
    /// The file with all its lines.
    pub shown: String,
    pub what: String,
}

/// The places that are counted, the same for all who tell of them.
pub fn places(gaps: &[Gap]) -> Vec<Place> {
    let places = groups(gaps).into_iter().map(|group| Place {
        file: group.file.to_string(),
        line: group.lines.first().copied().unwrap_or_default(),
        shown: group.place(),
        what: group.what(),
    });
    places.collect()
}

/// What nobody does, where it stands.
pub fn says(gap: &Gap) -> String {
    let Gap { procedure, text, never, .. } = gap;
    match gap.kind {
        Kind::Procedure => format!("no test enters {procedure}"),
        Kind::Code => format!("no test reaches `{text}`"),
        Kind::Branch => {
            format!("in no test `{text}` {}", never.as_deref().unwrap_or("goes this way"))
        }
    }
}

/// For people. Of sources that changed since the tests ran, `stale`, nothing is known.
pub fn text(gaps: &[Gap], stale: &BTreeSet<String>, style: Style) -> String {
    let groups = groups(gaps);
    let mut out = String::new();
    for group in &groups {
        let _ = writeln!(out, "{}: {}", style.name(&group.place()), group.what());
        if group.kind == Kind::Code {
            let _ = writeln!(out, "    {}", group.text);
        }
    }
    if !groups.is_empty() {
        let _ = writeln!(out, "{} without a test", counted(groups.len(), "place"));
    } else if stale.is_empty() {
        out.push_str("tests reach all code that is new or changed\n");
    }
    if !stale.is_empty() {
        let _ = writeln!(out, "not known yet, since the tests ran before it changed:");
        for file in stale.iter().take(SHOWN) {
            let _ = writeln!(out, "    {file}");
        }
        if let Some(more) = stale.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            let _ = writeln!(out, "    and {}", counted(more, "more source"));
        }
    }
    out
}

/// Annotations of GitHub Actions, which show the line in the pull request.
pub fn github(gaps: &[Gap]) -> String {
    let mut out = String::new();
    for group in groups(gaps) {
        for lines in group.runs() {
            let place = Some((group.file, Some(lines)));
            let title = group.title();
            let message = &group.what();
            out.push_str(&Annotation { level: "warning", place, title, message }.line());
        }
    }
    out
}

/// SARIF, for code scanning of GitHub and whatever else reads results of analyses.
pub fn sarif(gaps: &[Gap]) -> Value {
    let results = groups(gaps).into_iter().map(|group| {
        let mut id = FpHasher::new("gap");
        let parts = [group.file, group.procedure, group.text, group.never];
        parts.iter().for_each(|part| id.str(part));
        id.number(group.kind as u64);
        id.number(group.change as u64);
        let lines = group.runs();
        Finding {
            rule: group.kind as usize,
            file: group.file,
            lines,
            message: group.what(),
            fingerprint: id.finish().hex(),
        }
        .result()
    });
    sarif::document(&RULES, results.collect())
}

/// In the order of the kinds.
const RULES: [Rule; 3] = [
    Rule {
        id: "untested-procedure",
        name: "UntestedProcedure",
        short: "A procedure that is new or changed is entered by no test",
        full: "The procedure is new, or differs from the version before, and none of the tests that \
               were recorded enters it.",
    },
    Rule {
        id: "untested-code",
        name: "UntestedCode",
        short: "Code that is new or changed is reached by no test",
        full: "The procedure runs in tests, but what is new or changed in it is reached by none of them.",
    },
    Rule {
        id: "untested-branch",
        name: "UntestedBranch",
        short: "A condition that is new or changed goes only one way in all tests",
        full: "The condition is new or changed and runs in tests, but none of them takes this way out of it.",
    },
];
