//! What all changes of all subjects came to, by subject, kind and row of what selects
//! what.

use super::change;
use super::record::{Record, State};
use serde::Serialize;
use std::collections::BTreeMap;

/// Rows of "what selects what" in docs/safety.md that an edit can cause, with the kinds of
/// changes that do.
const ROWS: [(&str, &[&str]); 13] = [
    (
        "statements, conditions, cases",
        &[
            "statement deleted",
            "condition negated",
            "case label removed",
            "operator",
            "constant",
            "returned value",
            "call target",
        ],
    ),
    (
        "declarations and types",
        &[
            "type of a local",
            "type of a field",
            "order of fields",
            "packed structure",
            "typedef",
            "enumerator",
        ],
    ),
    ("macros and code in headers", &["macro", "code in a header"]),
    ("global variables", &["global initialiser", "order in a table", "value in a table"]),
    (
        "procedures as a whole",
        &[
            "procedure added",
            "procedure deleted",
            "procedure renamed",
            "procedure moved",
            "made static or global",
        ],
    ),
    ("signatures", &["signature"]),
    ("what a program is made of", &["constructor added", change::LINK]),
    ("flags and the description of the build", &[change::FLAG]),
    ("files that sources are made of", &[change::GRAMMAR]),
    ("a header before another", &[change::SHADOW]),
    ("code without probes", &[change::UNPROBED]),
    ("files that a test uses", &[change::DATA]),
    ("how a test is started", &[change::COMMAND]),
];
/// What is no edit of a source.
const BESIDE: [&str; 5] =
    [change::FLAG, change::LINK, change::GRAMMAR, change::DATA, change::COMMAND];
/// Sums over changes.
#[derive(Default, Clone, Serialize)]
pub struct Sum {
    pub changes: usize,
    pub do_not_build: usize,
    pub hang: usize,
    pub from_build: usize,
    pub tests: usize,
    pub differ: usize,
    pub numbers_only: usize,
    pub missed: usize,
    pub selected: BTreeMap<String, usize>,
    pub missed_by: BTreeMap<String, usize>,
}

impl Sum {
    pub fn add(&mut self, record: &Record) {
        if record.state == State::DoesNotBuild {
            self.do_not_build += 1;
            return;
        }
        self.changes += 1;
        self.hang += usize::from(record.hang > 0);
        self.from_build += usize::from(record.built);
        self.tests += record.tests;
        self.differ += record.differ;
        self.numbers_only += record.numbers_only;
        self.missed += record.missed;
        for (technique, answer) in &record.answers {
            *self.selected.entry(technique.clone()).or_default() += answer.selected;
            *self.missed_by.entry(technique.clone()).or_default() += answer.missed;
        }
    }

    fn merge(&mut self, other: &Sum) {
        self.changes += other.changes;
        self.do_not_build += other.do_not_build;
        self.hang += other.hang;
        self.from_build += other.from_build;
        self.tests += other.tests;
        self.differ += other.differ;
        self.numbers_only += other.numbers_only;
        self.missed += other.missed;
        for (technique, count) in &other.selected {
            *self.selected.entry(technique.clone()).or_default() += count;
        }
        for (technique, count) in &other.missed_by {
            *self.missed_by.entry(technique.clone()).or_default() += count;
        }
    }

    /// Selected by a technique, of all tests.
    pub fn share(&self, technique: &str) -> f64 {
        let selected = self.selected.get(technique).copied().unwrap_or(0);
        selected as f64 / self.tests.max(1) as f64
    }
}

#[derive(Default)]
pub struct Sums {
    pub all: Sum,
    pub mutants: Sum,
    pub beside: Sum,
    pub versions: Sum,
    pub in_headers: Sum,
    pub by_subject: BTreeMap<String, Sum>,
    pub mutants_of: BTreeMap<String, Sum>,
    pub by_kind: BTreeMap<String, Sum>,
    /// How many changes each version of edgewise was asked about.
    pub by_code: BTreeMap<String, usize>,
}

impl Sums {
    pub fn add(&mut self, subject: &str, record: &Record) {
        self.all.add(record);
        if record.state == State::Compared {
            *self.by_code.entry(record.code.clone()).or_default() += 1;
        }
        let of_class = match record.kind.as_str() {
            change::VERSION => &mut self.versions,
            kind if BESIDE.contains(&kind) => &mut self.beside,
            _ => {
                self.mutants_of.entry(subject.to_string()).or_default().add(record);
                &mut self.mutants
            }
        };
        of_class.add(record);
        if record.file.as_ref().is_some_and(|file| file.ends_with(".h")) {
            self.in_headers.add(record);
        }
        self.by_subject.entry(subject.to_string()).or_default().add(record);
        self.by_kind.entry(record.kind.clone()).or_default().add(record);
    }

    pub fn by_row(&self) -> Vec<(&'static str, Sum)> {
        let of_row = |kinds: &[&str]| {
            let mut sum = Sum::default();
            kinds.iter().filter_map(|kind| self.by_kind.get(*kind)).for_each(|of| sum.merge(of));
            sum
        };
        ROWS.iter().map(|(row, kinds)| (*row, of_row(kinds))).collect()
    }
}
