//! A chain of versions with random edits: at each step, whoever behaves differently
//! is run, and the history that is only ever updated is the one that running
//! everything records.
//!
//! `EDGEWISE_SEEDS=N` makes the chain N versions long.

#[allow(dead_code)]
use crate::oracle::plain;
use crate::support::mutants;

use crate::support::Project;
use mutants::{Kind, Source};
use plain::{Outcome, Plain, TIMEOUT, Test};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const USUAL: usize = 30;
const SELECTIVE: usize = 10;
/// With fewer, the chain would show little.
const LEAST_DIFFERENT: usize = 20;

/// Kinds of mutants beside those in bodies.
const WANTED: [Kind; 7] = [
    Kind::Header,
    Kind::Macro,
    Kind::Enumerator,
    Kind::FieldType,
    Kind::Initialiser,
    Kind::TableValue,
    Kind::Renamed,
];

/// A sequence of numbers that is always the same.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

struct Chain {
    project: Project,
    plain: Plain,
    tests: Vec<Test>,
    outcomes: Vec<Outcome>,
    /// The files as they were at the beginning.
    originals: BTreeMap<String, String>,
    random: Random,
}

impl Chain {
    fn begin() -> Self {
        let project = crate::support::sample();
        project.record();
        let plain = Plain::sample();
        let tests = plain::tests(&plain.read("tests/list"));
        let outcomes = tests.iter().map(|test| plain.run(test, TIMEOUT)).collect();
        let mut originals = BTreeMap::new();
        for directory in ["include", "lib", "src"] {
            for entry in std::fs::read_dir(project.path(directory)).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                let file = format!("{directory}/{name}");
                originals.insert(file.clone(), plain.read(&file));
            }
        }
        Self { project, plain, tests, outcomes, originals, random: Random(7) }
    }

    /// A file with an edit in it: one that may mean anything, one that means
    /// nothing but adds a branch, or all edits of a file taken back.
    fn edit(&mut self) -> (String, String, String) {
        let sources = self
            .originals
            .keys()
            .map(|file| Source { file: file.clone(), text: self.plain.read(file) });
        let sources: Vec<Source> = sources.collect();
        match self.random.below(4) {
            0 => {
                let edited: Vec<&Source> =
                    sources.iter().filter(|s| s.text != self.originals[&s.file]).collect();
                if !edited.is_empty() {
                    let file = edited[self.random.below(edited.len())].file.clone();
                    let text = self.originals[&file].clone();
                    return (format!("{file} as it was"), file, text);
                }
                self.neutral(&sources)
            }
            1 => {
                let mutants = mutants::mutants(&sources);
                // Most of the others say nothing, or no test passes any more in any version behind them.
                let is_wanted = |kind: Kind| kind.is_in_body() || WANTED.contains(&kind);
                let kinds = mutants.iter().filter(|(kind, _)| is_wanted(**kind));
                let kinds: Vec<&Vec<_>> = kinds.map(|(_, of_kind)| of_kind).collect();
                let of_kind = kinds[self.random.below(kinds.len())];
                let mutant = &of_kind[self.random.below(of_kind.len())];
                let text = mutant.apply(&self.plain.read(&mutant.file));
                (mutant.to_string(), mutant.file.clone(), text)
            }
            _ => self.neutral(&sources),
        }
    }

    /// A statement with a branch before it that is never taken.
    fn neutral(&mut self, sources: &[Source]) -> (String, String, String) {
        let mutants = mutants::mutants(sources);
        let statements = &mutants[&Kind::Statement];
        let mutant = &statements[self.random.below(statements.len())];
        let text = self.plain.read(&mutant.file);
        let statement = mutant.before.trim();
        let wrapped = format!("{{ static int calls; if (calls++ < 0) calls = 0; {statement} }}");
        let line = text.lines().nth(mutant.line - 1).unwrap_or_default();
        let title = format!("{}:{}: {line}", mutant.file, mutant.line);
        let at: usize = text.lines().take(mutant.line - 1).map(|line| line.len() + 1).sum();
        let edited = format!("{}{}", &text[..at], text[at..].replacen(statement, &wrapped, 1));
        (title, mutant.file.clone(), edited)
    }

    /// The next version that compiles and does not hang, with its outcomes.
    fn next(&mut self) -> (String, Vec<Outcome>) {
        loop {
            let (title, file, text) = self.edit();
            let before = self.plain.read(&file);
            if text == before {
                continue;
            }
            let outcomes = self.plain.build_with(&file, &text).then(|| {
                let run = self.tests.iter().map(|test| self.plain.run(test, TIMEOUT));
                run.collect::<Vec<_>>()
            });
            match outcomes {
                Some(outcomes) if !outcomes.contains(&Outcome::TimedOut) => {
                    self.project.write(&file, &text);
                    return (title, outcomes);
                }
                _ => assert!(self.plain.build_with(&file, &before)),
            }
        }
    }

    /// What `edgewise test` ran, without the suite.
    fn test(&self, more: &[&str]) -> BTreeSet<String> {
        let results = self.project.path("build/results.json");
        let mut words = vec!["test", "--json", results.to_str().unwrap()];
        words.extend(more);
        let output = self.project.edgewise(&words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{said}");
        let results: Value =
            serde_json::from_str(&self.project.read("build/results.json")).unwrap();
        let tests = results["tests"].as_array().unwrap().iter();
        let ran = tests.filter(|test| test["outcome"] != "not-selected");
        let names = ran.map(|test| test["name"].as_str().unwrap());
        names.map(|name| name.strip_prefix("cli/").unwrap().to_string()).collect()
    }

    /// Lays the history beside one of a run of everything, which is then forgotten.
    fn compare(&self, title: &str) -> Value {
        let history = self.project.path(".edgewise/history");
        let kept = self.project.path(".edgewise/history-kept");
        std::fs::copy(&history, &kept).unwrap();
        let output = self.project.edgewise(&["run"]);
        assert!(matches!(output.status.code(), Some(0 | 1)));
        let all = self.project.path(".edgewise/history-of-all");
        std::fs::rename(&history, &all).unwrap();
        std::fs::rename(&kept, &history).unwrap();
        self.diff(title, &all)
    }

    /// The same with one that is built and run elsewhere, with all probes.
    fn compare_elsewhere(&self, title: &str) -> Value {
        let elsewhere = crate::support::sample();
        for file in self.originals.keys() {
            elsewhere.write(file, &self.project.read(file));
        }
        elsewhere.ok(&["build"]);
        let output = elsewhere.edgewise(&["run"]);
        assert!(matches!(output.status.code(), Some(0 | 1)));
        self.diff(title, &elsewhere.path(".edgewise/history"))
    }

    fn diff(&self, title: &str, all: &Path) -> Value {
        let output = self.project.edgewise(&["history", "diff", "--json", all.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{title}: {said}");
        serde_json::from_str(&said).unwrap()
    }
}

#[test]
fn a_chain_of_versions_is_kept_up_to_date() {
    let asked = std::env::var("EDGEWISE_SEEDS").ok().and_then(|text| text.parse().ok());
    let versions = asked.unwrap_or(USUAL);
    let mut chain = Chain::begin();
    let (mut ran, mut different, mut equal, mut contained) = (0, 0, 0, 0);
    for step in 0..versions {
        let (title, outcomes) = chain.next();
        let tests = chain.test(&[]);
        let changed = chain.tests.iter().zip(chain.outcomes.iter().zip(&outcomes));
        for (test, _) in changed.filter(|(_, (before, after))| before != after) {
            different += 1;
            assert!(tests.contains(&test.name), "step {step}, {title}: {} is missed", test.name);
        }
        ran += tests.len();
        let said = chain.compare(&format!("step {step}, {title}"));
        equal += said["equal"].as_u64().unwrap();
        contained += said["contained"].as_u64().unwrap();
        chain.outcomes = outcomes;
    }
    let all = versions * chain.tests.len();
    println!(
        "{versions} versions: {ran} of {all} tests run, {different} differ; {equal} tests with the same rows, {contained} with rows that hold too much"
    );
    assert!(different >= LEAST_DIFFERENT.min(versions), "{different}");
    assert!(ran < all / 2, "{ran} of {all}");
    assert!(equal as usize > all / 2, "{equal} of {all}");
}

/// The same where probes are built in only where a change can lead.
#[test]
fn a_chain_of_versions_with_probes_where_they_are_needed() {
    let mut chain = Chain::begin();
    chain.random = Random(11);
    let (mut equal, mut contained) = (0, 0);
    for step in 0..SELECTIVE {
        let (title, outcomes) = chain.next();
        let tests = chain.test(&["--selective"]);
        let changed = chain.tests.iter().zip(chain.outcomes.iter().zip(&outcomes));
        for (test, _) in changed.filter(|(_, (before, after))| before != after) {
            assert!(tests.contains(&test.name), "step {step}, {title}: {} is missed", test.name);
        }
        let said = chain.compare_elsewhere(&format!("step {step}, {title}"));
        equal += said["equal"].as_u64().unwrap();
        contained += said["contained"].as_u64().unwrap();
        chain.outcomes = outcomes;
    }
    println!("{equal} tests with the same rows, {contained} with rows that hold too much");
    assert!(equal > 0);
}
