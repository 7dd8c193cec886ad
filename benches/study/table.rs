//! Tables with a line for each change, that are kept with the sources: the figures can
//! be made of them anywhere, and a study goes on from them on another machine.

use super::path::{ALGORITHMS, PathRecord};
use super::record::{Answer, Record, State};
use super::report::TECHNIQUES;
use anyhow::{Context, ensure};
use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

/// The files.
pub const OUTCOMES: &str = "outcome.csv";
pub const PATHS: &str = "path.csv";

/// By subject and by the name of the change.
pub type Outcomes = BTreeMap<String, BTreeMap<String, Record>>;
pub type Paths = BTreeMap<String, BTreeMap<String, PathRecord>>;

fn outcome_head() -> String {
    let mut head = String::from(
        "subject,kind,file,id,code,state,tests,differ,hang,numbers_only,missed,from_build",
    );
    for technique in TECHNIQUES {
        head.push_str(&format!(",{technique},missed by {technique}"));
    }
    head
}

fn path_head() -> String {
    format!("subject,kind,id,tests,walked,multiply_visited,{}", ALGORITHMS.join(","))
}

pub fn of_outcomes(outcomes: &Outcomes) -> anyhow::Result<String> {
    let rows = outcomes.iter().flat_map(|(subject, records)| {
        records.values().map(move |record| {
            let state = match record.state {
                State::Compared => "compared",
                State::DoesNotBuild => "does-not-build",
            };
            let mut cells = vec![
                subject.clone(),
                record.kind.clone(),
                record.file.clone().unwrap_or_default(),
                record.id.clone(),
                record.code.clone(),
                state.to_string(),
            ];
            let counts =
                [record.tests, record.differ, record.hang, record.numbers_only, record.missed];
            cells.extend(counts.iter().map(usize::to_string));
            cells.push(record.built.to_string());
            for technique in TECHNIQUES {
                let answer = record.answers.get(technique).cloned().unwrap_or_default();
                cells.extend([answer.selected.to_string(), answer.missed.to_string()]);
            }
            cells
        })
    });
    table(&outcome_head(), rows)
}

pub fn of_paths(paths: &Paths) -> anyhow::Result<String> {
    let rows = paths.iter().flat_map(|(subject, records)| {
        records.values().map(move |record| {
            let mut cells = vec![subject.clone(), record.kind.clone(), record.id.clone()];
            cells.push(record.tests.to_string());
            cells.extend([record.walked, record.multiply_visited].map(|count| count.to_string()));
            let selected = |algorithm: &str| record.selected.get(algorithm).copied().unwrap_or(0);
            cells.extend(ALGORITHMS.map(|algorithm| selected(algorithm).to_string()));
            cells
        })
    });
    table(&path_head(), rows)
}

fn table(head: &str, rows: impl Iterator<Item = Vec<String>>) -> anyhow::Result<String> {
    let mut text = format!("{head}\n");
    for row in rows {
        // No name of a subject's file has one so far.
        ensure!(row.iter().all(|cell| !cell.contains([',', '\n'])), "a comma in {row:?}");
        text.push_str(&row.join(","));
        text.push('\n');
    }
    Ok(text)
}

/// The cells of a table's lines, one after the other.
struct Cells<'a>(std::str::Split<'a, char>);

impl<'a> Cells<'a> {
    fn text(&mut self) -> anyhow::Result<&'a str> {
        self.0.next().context("a line of the table is too short")
    }

    fn value<T: FromStr>(&mut self) -> anyhow::Result<T> {
        let text = self.text()?;
        text.parse().map_err(|_| anyhow::anyhow!("`{text}` in the table is no value"))
    }
}

/// All lines of a table that may not be there yet.
fn lines<T>(
    path: &Path,
    head: &str,
    read: impl Fn(&mut Cells) -> anyhow::Result<(String, T)>,
) -> anyhow::Result<Vec<(String, T)>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = fs_err::read_to_string(path)?;
    let mut lines = text.lines();
    ensure!(
        lines.next() == Some(head),
        "{} is a table of another version\nhint: remove it to begin anew",
        path.display()
    );
    lines.map(|line| read(&mut Cells(line.split(',')))).collect()
}

pub fn read_outcomes(directory: &Path) -> anyhow::Result<Outcomes> {
    let mut outcomes = Outcomes::new();
    let read = |cells: &mut Cells| {
        let subject = cells.text()?.to_string();
        let mut record = Record {
            kind: cells.text()?.to_string(),
            file: Some(cells.text()?.to_string()).filter(|file| !file.is_empty()),
            id: cells.text()?.to_string(),
            code: cells.text()?.to_string(),
            what: String::new(),
            state: match cells.text()? {
                "compared" => State::Compared,
                _ => State::DoesNotBuild,
            },
            tests: cells.value()?,
            differ: cells.value()?,
            hang: cells.value()?,
            numbers_only: cells.value()?,
            missed: cells.value()?,
            misses: Vec::new(),
            built: cells.value()?,
            answers: BTreeMap::new(),
            seconds: 0.0,
        };
        for technique in TECHNIQUES {
            let answer = Answer { selected: cells.value()?, missed: cells.value()? };
            record.answers.insert(technique.to_string(), answer);
        }
        Ok((subject, record))
    };
    for (subject, record) in lines(&directory.join(OUTCOMES), &outcome_head(), read)? {
        outcomes.entry(subject).or_default().insert(record.id.clone(), record);
    }
    Ok(outcomes)
}

pub fn read_paths(directory: &Path) -> anyhow::Result<Paths> {
    let mut paths = Paths::new();
    let read = |cells: &mut Cells| {
        let subject = cells.text()?.to_string();
        let mut record = PathRecord {
            kind: cells.text()?.to_string(),
            id: cells.text()?.to_string(),
            tests: cells.value()?,
            walked: cells.value()?,
            multiply_visited: cells.value()?,
            selected: BTreeMap::new(),
            wrong: Vec::new(),
        };
        for algorithm in ALGORITHMS {
            record.selected.insert(algorithm.to_string(), cells.value()?);
        }
        Ok((subject, record))
    };
    for (subject, record) in lines(&directory.join(PATHS), &path_head(), read)? {
        paths.entry(subject).or_default().insert(record.id.clone(), record);
    }
    Ok(paths)
}
