//! The outcome oracle: a test that behaves differently must be selected.
//!
//! Mutants of the bundled sample. For each, edgewise says from the sources
//! which tests the edit can affect; then a plain gcc builds the mutant and all
//! tests run on it. A test whose stdout, stderr or exit status is not that of
//! the unchanged program and that was not selected is a miss, and one miss is
//! one too many. For every tenth mutant the selection from a build is checked
//! too: it must have no miss, and the one from the sources must contain it.

use crate::support::mutants;
pub mod plain;

use crate::support::Project;
use mutants::{Kind, Mutant, Source};
use plain::{Outcome, Plain, SHORT_TIMEOUT, TIMEOUT, Test};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many mutants of each kind are tried.
const WANTED: [(Kind, usize); 25] = [
    (Kind::Header, 10),
    (Kind::Macro, 12),
    (Kind::Enumerator, 12),
    (Kind::FieldType, 12),
    (Kind::FieldOrder, 12),
    (Kind::Pack, 3),
    (Kind::Typedef, 0),
    (Kind::Condition, 18),
    (Kind::Statement, 18),
    (Kind::Operator, 18),
    (Kind::Constant, 14),
    (Kind::Return, 14),
    (Kind::CaseLabel, 12),
    (Kind::CallTarget, 10),
    (Kind::LocalType, 8),
    (Kind::Initialiser, 8),
    (Kind::TableOrder, 12),
    (Kind::TableValue, 10),
    (Kind::Signature, 6),
    (Kind::Moved, 8),
    (Kind::Renamed, 8),
    (Kind::Added, 8),
    (Kind::Deleted, 4),
    (Kind::Constructor, 3),
    (Kind::LineMore, 3),
];
const WORKERS: usize = 2;
/// One mutant of so many is built with edgewise as well.
const FROM_BUILD: usize = 10;
/// With fewer, the check would have little to fail on.
const LEAST_DIFFERENT: usize = 1000;

#[test]
fn a_test_whose_outcome_changes_is_selected() {
    let baseline = Baseline::record();
    let mutants = mutants::mutants(&sources(&baseline.plain));
    let none = Vec::new();
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                let worker = Worker::new(&baseline);
                while let Some((kind, wanted)) = WANTED.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let candidates = mutants.get(kind).unwrap_or(&none);
                    let result = worker.try_kind(*kind, candidates, *wanted);
                    results.lock().unwrap().push(result);
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap();
    results.sort_by_key(|result| result.kind);
    println!("{}", table(&results));

    let problems: Vec<&str> =
        results.iter().flat_map(|result| result.problems.iter().map(String::as_str)).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
    let sum = |count: fn(&KindResult) -> usize| results.iter().map(count).sum::<usize>();
    for (result, (kind, wanted)) in results.iter().zip(WANTED) {
        assert_eq!((result.kind, result.mutants), (kind, wanted));
    }
    assert!(sum(|result| result.different) >= LEAST_DIFFERENT);
    assert!(sum(|result| result.built) >= sum(|result| result.mutants) / FROM_BUILD);
}

/// What all mutants are compared with.
struct Baseline {
    /// Built and run with edgewise.
    recorded: Project,
    plain: Plain,
    tests: Vec<Test>,
    outcomes: Vec<Outcome>,
}

impl Baseline {
    fn record() -> Self {
        let recorded = crate::support::sample();
        recorded.record();
        assert_eq!(select(&recorded, &[]), BTreeSet::new(), "nothing changed");

        let plain = Plain::sample();
        let tests = plain::tests(&plain.read("tests/list"));
        let run = || tests.iter().map(|test| plain.run(test, TIMEOUT));
        let outcomes: Vec<Outcome> = run().collect();
        assert!(run().eq(outcomes.iter().cloned()), "tests must be deterministic");
        assert!(!outcomes.contains(&Outcome::TimedOut));
        Self { recorded, plain, tests, outcomes }
    }
}

/// The C files of the sample.
fn sources(plain: &Plain) -> Vec<Source> {
    let mut files = Vec::new();
    for directory in ["include", "lib", "src"] {
        for entry in std::fs::read_dir(crate::support::testdata("sample").join(directory)).unwrap()
        {
            let name = entry.unwrap().file_name().into_string().unwrap();
            files.push(format!("{directory}/{name}"));
        }
    }
    // The order of a directory is that of its file system.
    files.sort();
    files.into_iter().map(|file| Source { text: plain.read(&file), file }).collect()
}

/// Names of the selected tests without their suite.
fn select(project: &Project, arguments: &[&str]) -> BTreeSet<String> {
    let selection = project.select_json(arguments);
    let selected = selection["selected"].as_array().unwrap();
    selected
        .iter()
        .map(|test| test["name"].as_str().unwrap())
        .map(|name| name.strip_prefix("cli/").unwrap().to_string())
        .collect()
}

/// One thread with trees of its own.
struct Worker<'a> {
    baseline: &'a Baseline,
    /// With the history. Only its sources ever change.
    recorded: Project,
    plain: Plain,
}

/// What the mutants of one kind did.
struct KindResult {
    kind: Kind,
    /// Number of its first mutant among those of all kinds.
    first: usize,
    mutants: usize,
    /// Mutants whose selection from a build was looked at.
    built: usize,
    /// Pairs of a mutant and a test.
    different: usize,
    selected: usize,
    misses: usize,
    problems: Vec<String>,
}

impl<'a> Worker<'a> {
    fn new(baseline: &'a Baseline) -> Self {
        let recorded = Project::empty();
        plain::copy_built(baseline.recorded.root(), recorded.root());
        Self { baseline, recorded, plain: baseline.plain.duplicate() }
    }

    /// Tries candidates until `wanted` of them compile.
    fn try_kind(&self, kind: Kind, candidates: &[Mutant], wanted: usize) -> KindResult {
        let before = WANTED.iter().take_while(|(other, _)| *other != kind);
        let mut result = KindResult {
            kind,
            first: before.map(|(_, wanted)| wanted).sum(),
            mutants: 0,
            built: 0,
            different: 0,
            selected: 0,
            misses: 0,
            problems: Vec::new(),
        };
        for mutant in candidates {
            if result.mutants == wanted {
                break;
            }
            let original = self.baseline.plain.read(&mutant.file);
            let text = mutant.apply(&original);
            if self.plain.build_with(&mutant.file, &text) {
                self.recorded.write(&mutant.file, &text);
                self.check(mutant, &text, &mut result);
                self.recorded.write(&mutant.file, &original);
            }
            self.plain.restore(&self.baseline.plain, &mutant.file);
        }
        result
    }

    /// Checks a mutant that is in both trees, and built in the plain one.
    fn check(&self, mutant: &Mutant, text: &str, result: &mut KindResult) {
        let selected = select(&self.recorded, &[]);
        let different = self.different(&selected);
        result.selected += selected.len();
        result.different += different.len();
        result.misses += self.misses(mutant, "sources", &selected, &different, result);
        if (result.first + result.mutants).is_multiple_of(FROM_BUILD) {
            let from_build = self.select_from_build(mutant, text);
            self.misses(mutant, "a build", &from_build, &different, result);
            let more: Vec<_> = from_build.difference(&selected).collect();
            if !more.is_empty() {
                result.problems.push(format!(
                    "{mutant}\nselected from a build but not from sources: {more:?}"
                ));
            }
            result.built += 1;
        }
        result.mutants += 1;
    }

    /// The tests that do not behave as before, by number.
    fn different(&self, selected: &BTreeSet<String>) -> Vec<(usize, Outcome)> {
        let Baseline { tests, outcomes, .. } = self.baseline;
        let mut different = Vec::new();
        for (number, (test, before)) in tests.iter().zip(outcomes).enumerate() {
            let mut now = self.plain.run(test, SHORT_TIMEOUT);
            // Mutants that hang would take minutes. Where the answer decides
            // over a miss, time is not spared.
            if now == Outcome::TimedOut && !selected.contains(&test.name) {
                now = self.plain.run(test, TIMEOUT);
            }
            if now != *before {
                different.push((number, now));
            }
        }
        different
    }

    /// Notes each test that differs and is not selected; their number.
    fn misses(
        &self,
        mutant: &Mutant,
        source: &str,
        selected: &BTreeSet<String>,
        different: &[(usize, Outcome)],
        result: &mut KindResult,
    ) -> usize {
        let is_missed = |number: usize| !selected.contains(&self.baseline.tests[number].name);
        let before = result.problems.len();
        for (number, now) in different.iter().filter(|(number, _)| is_missed(*number)) {
            result.problems.push(format!(
                "{mutant}\nmissed by the selection from {source}: {}\n  before: {}\n  after:  {now}",
                self.baseline.tests[*number].name, self.baseline.outcomes[*number]
            ));
        }
        result.problems.len() - before
    }

    /// In a fresh copy, so that nothing but the mutant is built.
    fn select_from_build(&self, mutant: &Mutant, text: &str) -> BTreeSet<String> {
        let project = Project::empty();
        plain::copy_built(self.baseline.recorded.root(), project.root());
        project.write(&mutant.file, text);
        project.ok(&["build"]);
        select(&project, &["--from-build"])
    }
}

fn table(results: &[KindResult]) -> String {
    let mut text = format!(
        "{:<20}{:>8}{:>8}{:>11}{:>10}{:>8}\n",
        "kind", "mutants", "built", "different", "selected", "misses"
    );
    let mut total = [0; 5];
    let line = |name: &str, counts: [usize; 5]| {
        let [mutants, built, different, selected, misses] = counts;
        format!("{name:<20}{mutants:>8}{built:>8}{different:>11}{selected:>10}{misses:>8}\n")
    };
    for result in results {
        let counts =
            [result.mutants, result.built, result.different, result.selected, result.misses];
        text += &line(result.kind.name(), counts);
        total = std::array::from_fn(|i| total[i] + counts[i]);
    }
    text + &line("all", total)
}
