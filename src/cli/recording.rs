//! Runs tests and writes what they did into the history.

use super::files;
use super::interrupt;
use super::workspace::Workspace;
use crate::compiler::project::relative;
use crate::history::History;
use crate::history::format::{FileState, Outcome, Program, Test};
use crate::ids::Fingerprint;
use crate::select::NewProgram;
use crate::suite::TestCase;
use crate::suite::pool::{Finished, Pool};
use rustc_hash::FxHashMap;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often a run makes permanent what it has so far.
const COMMIT_EVERY: Duration = Duration::from_secs(1);
/// How much of a failed test's output is shown.
const SHOWN_OUTPUT: usize = 4000;

/// Why a test without any trace stays selected.
pub const NO_PROGRAM: &str = "it ran no instrumented program";

pub struct RunOptions {
    pub jobs: usize,
    pub timeout: Option<Duration>,
}

#[derive(Debug, Default)]
pub struct Results {
    pub passed: usize,
    pub failed: usize,
    pub interrupted: bool,
    /// Tests that passed but whose trace is not complete, or that left none.
    pub unclean: Vec<(String, String)>,
    /// Steps in logs of nodes, and edges that were laid beside them.
    pub steps: usize,
    pub compared: usize,
}

/// Runs tests, each with its own trace, into the history. `files` is the state
/// of the project's files before the first of them started.
pub fn run(
    workspace: &Workspace,
    history: &mut History,
    tests: &[TestCase],
    files: &FileState,
    options: &RunOptions,
) -> anyhow::Result<Results> {
    interrupt::listen();
    let scratch = tempfile::Builder::new().prefix("edgewise-run").tempdir()?;
    let pool = Pool {
        root: &workspace.project.root,
        scratch: scratch.path(),
        jobs: options.jobs,
        timeout: options.timeout,
        asked_to_stop: &interrupt::asked_to_stop,
    };
    let mut recorder = Recorder {
        workspace,
        files: history.put_files(files),
        history,
        contents: FxHashMap::default(),
        results: Results::default(),
        total: tests.len(),
        committed: Instant::now(),
        problem: None,
    };
    let finished = pool.run(tests, |finished| recorder.take(finished));
    recorder.results.interrupted = !finished;
    recorder.end_progress();
    if let Some(problem) = recorder.problem {
        return Err(problem);
    }
    recorder.history.commit()?;
    Ok(recorder.results)
}

struct Recorder<'a> {
    workspace: &'a Workspace,
    history: &'a mut History,
    files: Fingerprint,
    /// Content of modules, read once in a run.
    contents: FxHashMap<PathBuf, Option<Fingerprint>>,
    results: Results,
    total: usize,
    committed: Instant,
    problem: Option<anyhow::Error>,
}

impl Recorder<'_> {
    fn take(&mut self, finished: Finished) {
        let name = finished.test.name.clone();
        for walked in finished.trace.walked.values() {
            self.results.steps += walked.steps;
            self.results.compared += walked.compared;
        }
        match finished.ran.outcome {
            Outcome::Passed => self.results.passed += 1,
            Outcome::Interrupted | Outcome::Skipped => {}
            Outcome::Failed | Outcome::TimedOut => {
                self.results.failed += 1;
                self.show_failure(&finished);
            }
        }
        let test = self.entry(finished);
        if test.outcome == Outcome::Passed {
            if let Some(why) = &test.unclean {
                self.results.unclean.push((name.clone(), why.clone()));
            } else if test.programs.is_empty() {
                let why = String::from(NO_PROGRAM);
                self.results.unclean.push((name.clone(), why));
            }
        }
        self.history.set_test(&name, test);
        if self.committed.elapsed() > COMMIT_EVERY && self.problem.is_none() {
            self.problem = self.history.commit().err().map(Into::into);
            self.committed = Instant::now();
        }
        self.show_progress();
    }

    /// What the history keeps of a test. Only one that passed has rows.
    fn entry(&mut self, finished: Finished) -> Test {
        let Finished { test, ran, trace, .. } = finished;
        let mut entry = Test {
            fingerprint: test.fingerprint(),
            outcome: ran.outcome,
            unclean: trace.unclean,
            milliseconds: ran.duration.as_millis() as u64,
            programs: Vec::new(),
            rows: Vec::new(),
            inexact: false,
            files: self.files,
            loaded: self.history.put_files(&FileState::new()),
        };
        if entry.outcome != Outcome::Passed || entry.unclean.is_some() {
            return entry;
        }
        let root = &self.workspace.project.root;
        for program in &trace.programs {
            let units = program.units.iter();
            for unit in units.clone() {
                self.history.put_unit(unit.index.fingerprint, unit.raw.bytes());
            }
            entry.programs.push(self.history.put_program(&Program {
                path: relative(root, &program.path),
                link: program.link,
                units: units.map(|unit| unit.index.fingerprint).collect(),
                outside_names: program.outside_names.clone(),
            }));
        }
        // A unit in which nothing was taken needs no row.
        let rows = trace.rows.iter().filter(|(_, row)| row.any());
        entry.rows = rows.map(|(unit, row)| (*unit, self.history.put_row(row))).collect();
        let mut loaded = FileState::new();
        for path in &trace.loaded {
            let content =
                *self.contents.entry(path.clone()).or_insert_with(|| files::content(path));
            match content {
                Some(content) => {
                    loaded.insert(relative(root, path), content);
                }
                None => {
                    let why = format!("{}, which it loaded, is gone", path.display());
                    entry.unclean = Some(why);
                }
            }
        }
        entry.loaded = self.history.put_files(&loaded);
        entry
    }

    fn show_failure(&self, finished: &Finished) {
        self.end_progress();
        let what = match finished.ran.outcome {
            Outcome::TimedOut => "ran out of time",
            _ => "failed",
        };
        eprintln!("{}: {what} ({})", finished.test.name, finished.ran.ending);
        let start = finished.ran.printed.len().saturating_sub(SHOWN_OUTPUT);
        let text = String::from_utf8_lossy(&finished.ran.printed[start..]);
        for line in text.lines() {
            eprintln!("    {line}");
        }
    }

    fn show_progress(&self) {
        if std::io::stderr().is_terminal() {
            let done = self.results.passed + self.results.failed;
            eprint!("\r{done} of {} tests, {} failed ", self.total, self.results.failed);
            let _ = std::io::stderr().flush();
        }
    }

    fn end_progress(&self) {
        if std::io::stderr().is_terminal() {
            eprint!("\r\x1b[K");
        }
    }
}

/// Carries over the tests that were not selected, to the version that was just
/// built. A test that cannot be carried keeps what it has: it is then compared
/// from its older version again.
pub fn carry_over(
    workspace: &Workspace,
    history: &mut History,
    selected: &super::selecting::Selected,
) -> anyhow::Result<()> {
    let files = history.put_files(&selected.files);
    let mut successors: FxHashMap<Fingerprint, Fingerprint> = FxHashMap::default();
    for (id, comparison) in selected.programs.iter().zip(&selected.comparisons) {
        let NewProgram::Version(new) = &comparison.new else {
            continue;
        };
        for unit in &new.units {
            if let Some(bytes) = unit.raw_bytes() {
                history.put_unit(unit.fingerprint(), bytes);
            }
        }
        let successor = history.put_program(&Program {
            path: relative(&workspace.project.root, new.path.as_ref()),
            link: new.link,
            units: new.units.iter().map(|unit| unit.fingerprint()).collect(),
            outside_names: new.outside_names.clone(),
        });
        successors.insert(*id, successor);
    }
    for name in &selected.report.skipped {
        let Some(test) = history.test(name).cloned() else {
            continue;
        };
        let programs: Option<Vec<Fingerprint>> =
            test.programs.iter().map(|program| successors.get(program).copied()).collect();
        let Some(programs) = programs else { continue };
        let mut rows = Vec::new();
        for (unit, row) in &test.rows {
            rows.push((*unit, history.row(*row)?));
        }
        let Ok(carried) = selected.map.carry(rows.iter().map(|(unit, row)| (*unit, row))) else {
            continue;
        };
        let rows = carried.rows.iter().map(|(unit, row)| (*unit, history.put_row(row))).collect();
        let inexact = test.inexact || carried.inexact;
        history.set_test(name, Test { programs, rows, inexact, files, ..test });
    }
    Ok(())
}
