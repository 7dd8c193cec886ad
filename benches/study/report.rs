//! What all subjects came to: tables, CSV, JSON and plots.

use super::change;
use super::figures::Bars;
use super::path::{self, ALGORITHMS, PathRecord};
use super::plot::{self, Group};
use super::record::{self, Record, State};
use anyhow::ensure;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// From the sharpest to the coarsest.
const TECHNIQUES: [&str; 4] = ["auto", "procedure", "file", "changed lines"];

/// Sums over changes.
#[derive(Default, Clone, Serialize)]
pub struct Sum {
    changes: usize,
    do_not_build: usize,
    hang: usize,
    from_build: usize,
    tests: usize,
    differ: usize,
    numbers_only: usize,
    missed: usize,
    selected: BTreeMap<String, usize>,
    missed_by: BTreeMap<String, usize>,
}

impl Sum {
    fn add(&mut self, record: &Record) {
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
        self.missed += record.missed.len();
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

    fn share(&self, technique: &str) -> f64 {
        let selected = self.selected.get(technique).copied().unwrap_or(0);
        selected as f64 / self.tests.max(1) as f64
    }

    fn row(&self, name: &str) -> String {
        let mut row = format!(
            "| {name} | {} | {} | {} | {} | {} | {} |",
            self.changes, self.do_not_build, self.hang, self.tests, self.differ, self.missed
        );
        for technique in TECHNIQUES {
            let _ = write!(row, " {:.1} % |", self.share(technique) * 100.0);
        }
        for technique in &TECHNIQUES[1..] {
            let _ = write!(row, " {} |", self.missed_by.get(*technique).copied().unwrap_or(0));
        }
        row.push('\n');
        row
    }

    fn group(&self, name: &str) -> Group {
        let mut values = vec![self.differ as f64 / self.tests.max(1) as f64];
        values.extend(TECHNIQUES.map(|technique| self.share(technique)));
        Group { name: name.to_string(), values }
    }
}

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
/// Kinds that have to be seen as often, each by itself.
const NAMED: [&str; 9] = [
    "statement deleted",
    "operator",
    "constant",
    "condition negated",
    "case label removed",
    "call target",
    "macro",
    "procedure moved",
    "procedure renamed",
];
/// Pairs that have to differ in each row and in each of these kinds.
const LEAST: usize = 100;
/// What is no edit of a source.
const BESIDE: [&str; 5] =
    [change::FLAG, change::LINK, change::GRAMMAR, change::DATA, change::COMMAND];
/// The largest subject, and how many mutants of it have to be compared.
const LARGEST: (&str, usize) = ("tcl", 100);

const HEAD: &str = "| | changes | do not build | with a test that hangs | pairs of change and test | differ | missed | \
selected | by procedure | by file | by changed lines | missed by procedure | by file | by changed lines |\n\
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";

#[derive(Default)]
struct Sums {
    all: Sum,
    mutants: Sum,
    beside: Sum,
    versions: Sum,
    in_headers: Sum,
    by_subject: BTreeMap<String, Sum>,
    mutants_of: BTreeMap<String, Sum>,
    by_kind: BTreeMap<String, Sum>,
}

pub fn write(results: &Path, out: &Path) -> anyhow::Result<()> {
    fs_err::create_dir_all(out)?;
    let mut sums = Sums::default();
    let mut paths: BTreeMap<String, Vec<PathRecord>> = BTreeMap::new();
    let mut csv =
        String::from("subject,kind,file,id,state,tests,differ,hang,numbers_only,missed,from_build");
    TECHNIQUES.iter().for_each(|technique| csv.push_str(&format!(",{technique}")));
    csv.push('\n');
    let mut names = Vec::new();
    for entry in fs_err::read_dir(results)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".jsonl").map(String::from));
    }
    names.sort();
    for name in names {
        if let Some(subject) = name.strip_suffix(".path") {
            let known = path::read(&results.join(format!("{name}.jsonl")))?;
            paths.insert(subject.to_string(), known.into_values().collect());
            continue;
        }
        for record in record::read(&results.join(format!("{name}.jsonl")))?.values() {
            sums.add(&name, record);
            line(&mut csv, &name, record);
        }
    }
    ensure!(sums.all.changes > 0, "there are no results in {}", results.display());
    fs_err::write(out.join("outcome.csv"), csv)?;
    let json = serde_json::json!({
        "all": sums.all, "mutants": sums.mutants, "no source": sums.beside,
        "versions": sums.versions, "subjects": sums.by_subject, "kinds": sums.by_kind,
    });
    fs_err::write(out.join("outcome.json"), format!("{json:#}\n"))?;
    fs_err::write(out.join("tables.md"), sums.tables() + &path_table(&paths))?;
    let series = ["differ", "edgewise", "procedure", "file", "changed lines"];
    let groups = |sums: &BTreeMap<String, Sum>| -> Vec<Group> {
        sums.iter().map(|(name, sum)| sum.group(name)).collect()
    };
    let title = "Tests that behave differently, and tests selected, of all";
    fs_err::write(out.join("subjects.svg"), plot::bars(title, &series, &groups(&sums.by_subject)))?;
    fs_err::write(out.join("kinds.svg"), plot::bars(title, &series, &groups(&sums.by_kind)))?;
    print!("{}{}", sums.tables(), path_table(&paths));
    bars(&sums, &paths).print();
    Ok(())
}

impl Sums {
    fn add(&mut self, subject: &str, record: &Record) {
        self.all.add(record);
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

    fn tables(&self) -> String {
        let mut text = String::from(HEAD);
        for (name, sum) in &self.by_subject {
            text += &sum.row(name);
        }
        text += &self.mutants.row("all mutants");
        text += &self.beside.row("all edits of what is no source");
        text += &self.versions.row("all versions");
        text += &self.all.row("all");
        let _ = write!(
            text,
            "\nLooked at from a build as well: {} changes. Different in nothing but numbers of lines, and selected with \
             `strict-lines`: {} pairs.\n\n{HEAD}",
            self.all.from_build, self.all.numbers_only
        );
        for (name, sum) in &self.by_kind {
            text += &sum.row(name);
        }
        text += &self.in_headers.row("any of these in a header");
        let _ = write!(text, "\n{HEAD}");
        for (name, sum) in self.by_row() {
            text += &sum.row(name);
        }
        text
    }

    fn by_row(&self) -> Vec<(&'static str, Sum)> {
        let of_row = |kinds: &[&str]| {
            let mut sum = Sum::default();
            kinds.iter().filter_map(|kind| self.by_kind.get(*kind)).for_each(|of| sum.merge(of));
            sum
        };
        ROWS.iter().map(|(row, kinds)| (*row, of_row(kinds))).collect()
    }
}

/// What has to be met.
fn bars(sums: &Sums, paths: &BTreeMap<String, Vec<PathRecord>>) -> Bars {
    let mut bars = Bars::default();
    let [missed, differ] = [sums.all.missed, sums.all.differ].map(|count| count.to_string());
    let share = sums.all.missed as f64 / sums.all.differ.max(1) as f64;
    bars.at_most(
        "tests that behave differently and are missed; to all that do",
        &missed,
        &differ,
        share,
        0.0,
    );
    let least = |bars: &mut Bars, what: &str, count: usize, least: usize| {
        let ratio = count as f64 / least as f64;
        bars.at_least(
            &format!("{what}; to {least}"),
            &count.to_string(),
            &least.to_string(),
            ratio,
            1.0,
        );
    };
    least(&mut bars, "mutants", sums.mutants.changes, 5_000);
    least(&mut bars, "pairs of versions", sums.versions.changes, 20);
    least(&mut bars, "pairs of change and test that differ", sums.all.differ, 20_000);
    let of_kind = |kind: &'static str| (kind, sums.by_kind.get(kind).map_or(0, |sum| sum.differ));
    let rows = sums.by_row().into_iter().map(|(row, sum)| (row, sum.differ));
    let in_headers = ("edits of headers", sums.in_headers.differ);
    let counts = rows.chain(NAMED.map(of_kind)).chain([in_headers]);
    if let Some((kind, fewest)) = counts.min_by_key(|(_, differ)| *differ) {
        least(&mut bars, &format!("of these where there are fewest ({kind})"), fewest, LEAST);
    }
    let largest = sums.mutants_of.get(LARGEST.0).map_or(0, |sum| sum.changes);
    least(
        &mut bars,
        &format!("mutants of the largest subject ({})", LARGEST.0),
        largest,
        LARGEST.1,
    );
    let sum = |algorithm: &str| -> usize {
        paths.values().flatten().filter_map(|record| record.selected.get(algorithm)).sum()
    };
    if sum("path") > 0 {
        let (auto, path) = (sum("auto"), sum("path"));
        let ratio = auto as f64 / path as f64;
        bars.at_most(
            "tests selected; to those whose path differs",
            &auto.to_string(),
            &path.to_string(),
            ratio,
            1.02,
        );
    }
    bars
}

fn line(csv: &mut String, subject: &str, record: &Record) {
    let state = match record.state {
        State::Compared => "compared",
        State::DoesNotBuild => "does-not-build",
    };
    let _ = write!(
        csv,
        "{subject},{},{},{},{state},{},{},{},{},{},{}",
        record.kind,
        record.file.as_deref().unwrap_or_default(),
        record.id,
        record.tests,
        record.differ,
        record.hang,
        record.numbers_only,
        record.missed.len(),
        record.built
    );
    for technique in TECHNIQUES {
        let selected = record.answers.get(technique).map_or(0, |answer| answer.selected);
        let _ = write!(csv, ",{selected}");
    }
    csv.push('\n');
}

/// What each algorithm selects of the tests whose path differs, and how often a node
/// has several counterparts.
fn path_table(paths: &BTreeMap<String, Vec<PathRecord>>) -> String {
    if paths.is_empty() {
        return String::new();
    }
    let mut text = String::from("\n| | changes |");
    ALGORITHMS.iter().for_each(|algorithm| text.push_str(&format!(" {algorithm} |")));
    text += " auto / path | procedures walked | with several counterparts |\n|---|--:|";
    text += &"--:|".repeat(ALGORITHMS.len() + 3);
    text.push('\n');
    let all: Vec<&PathRecord> = paths.values().flatten().collect();
    for (name, records) in paths {
        text += &path_row(name, &records.iter().collect::<Vec<_>>());
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
