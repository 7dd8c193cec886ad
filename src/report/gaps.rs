//! Changed code that no test reaches, for people and for CI.

use super::style::Style;
use super::text::{counted, ranges};
use crate::select::gaps::{Gap, Kind};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Lines of a procedure that nobody reaches, or a way that nobody takes.
struct Group<'g> {
    file: &'g str,
    procedure: &'g str,
    kind: Kind,
    lines: BTreeSet<u32>,
    text: &'g str,
    never: &'g str,
}

fn groups(gaps: &[Gap]) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<(&str, u32, &str, Kind, &str), Group<'_>> = BTreeMap::new();
    let mut first: BTreeMap<(&str, &str, Kind), u32> = BTreeMap::new();
    for gap in gaps {
        let Gap { file, line, procedure, kind, text, never } = gap;
        let never = never.as_deref().unwrap_or_default();
        // Ways out of code are told one by one.
        let start = match kind {
            Kind::Branch => *line,
            _ => *first.entry((file, procedure, *kind)).or_insert(*line),
        };
        let group = groups.entry((file, start, procedure, *kind, never)).or_insert_with(|| Group {
            file,
            procedure,
            kind: *kind,
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
        match self.kind {
            Kind::Procedure => format!("{procedure} is new or changed, and no test enters it"),
            Kind::Code => format!("new or changed in {procedure}, and no test reaches it"),
            Kind::Branch => {
                format!("new or changed in {procedure}, and in no test `{text}` {never}")
            }
        }
    }

    fn place(&self) -> String {
        format!("{}:{}", self.file, ranges(&self.lines))
    }
}

/// What nobody does, where it stands.
pub fn says(gap: &Gap) -> String {
    let Gap { procedure, text, never, .. } = gap;
    match gap.kind {
        Kind::Procedure => format!("no test enters {procedure}"),
        Kind::Code => String::from("no test reaches this"),
        Kind::Branch => {
            format!("in no test `{text}` {}", never.as_deref().unwrap_or("goes this way"))
        }
    }
}

pub fn text(gaps: &[Gap], style: Style) -> String {
    let groups = groups(gaps);
    let mut out = String::new();
    for group in &groups {
        let _ = writeln!(out, "{}: {}", style.name(&group.place()), group.what());
        if group.kind == Kind::Code {
            let _ = writeln!(out, "    {}", group.text);
        }
    }
    if groups.is_empty() {
        out.push_str("tests reach all code that is new or changed\n");
    } else {
        let _ = writeln!(out, "{} without a test", counted(groups.len(), "place"));
    }
    out
}

/// Annotations of GitHub Actions, which show the line in the pull request.
pub fn github(gaps: &[Gap]) -> String {
    let mut out = String::new();
    for group in groups(gaps) {
        let (first, last) = (group.lines.first().unwrap_or(&1), group.lines.last().unwrap_or(&1));
        let _ = writeln!(
            out,
            "::warning file={},line={first},endLine={last},title=no test reaches this::{}",
            property(group.file),
            data(&group.what()),
        );
    }
    out
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
