//! Runs tests and writes what they did into the history.

use super::build_state::BuildState;
use super::files::{self, Files};
use super::interrupt;
use super::made_of::MadeOf;
use super::printer::{self, Stream};
use super::progress::Progress;
use super::scratch::Scratch;
use super::unprobed::{self, Known};
use super::uses::Seen;
use super::workspace::Workspace;
use crate::bytes;
use crate::compiler::made;
use crate::compiler::project::relative;
use crate::history::format::{
    Entered, FileState, FileUses, Outcome, Outsider, Paths, Program, Test,
};
use crate::history::{History, Row, rows_of_unit};
use crate::ids::{Fingerprint, FpHasher};
use crate::report::results::{Fate, TestResult};
use crate::report::text::one_line;
use crate::select::NewProgram;
use crate::suite::TestCase;
use crate::suite::cases::{self, Batch};
use crate::suite::pool::{self, Event, Finished, Pool};
use crate::suite::preload::{self, Preload};
use crate::suite::tap::SubTest;
use crate::trace::collect::TestTrace;
use crate::trace::derive::EdgeBits;
use anyhow::bail;
use bitvec::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often a run makes permanent what it has so far.
const COMMIT_EVERY: Duration = Duration::from_secs(1);
/// How much of a failed test's output is shown, and kept for reports.
const SHOWN_OUTPUT: usize = 4000;
const KEPT_OUTPUT: usize = 64 * 1024;

/// Why a test without any trace stays selected.
pub const NO_PROGRAM: &str = "it ran no instrumented program";

/// Why a case that did not run has failed.
const NO_CASE: &str = "the process did not run it: nobody called edgewise_test_begin with its name";

/// Why a test stays selected that was traced a second time before there was a verdict: rows are kept of one
/// command.
const TRACED_TWICE: &str =
    "its harness traced several commands under this name, or ended before it judged the first";

/// Why a test stays selected that several commands are traced for: rows and outcome are those of the last.
const SEVERAL: &str =
    "its harness traced several commands under this name; give each command a name of its own";

pub struct RunOptions {
    pub jobs: usize,
    pub timeout: Option<Duration>,
    pub retries: u32,
    pub repeat: u32,
}

#[derive(Debug, Default)]
pub struct Results {
    pub tests: Vec<TestResult>,
    pub interrupted: bool,
    /// Steps in logs of nodes, and edges that were laid beside them.
    pub steps: usize,
    pub compared: usize,
}

/// Runs tests, each with its own trace, into the history. `files` is the
/// project before the first of them started.
pub fn run(
    workspace: &Workspace,
    history: &mut History,
    tests: &[TestCase],
    files: &Files,
    options: &RunOptions,
) -> anyhow::Result<Results> {
    run_knowing(workspace, history, tests, files, options, None)
}

/// The same, where something is known of what they do in procedures without probes.
pub fn run_knowing(
    workspace: &Workspace,
    history: &mut History,
    tests: &[TestCase],
    files: &Files,
    options: &RunOptions,
    known: Option<&Known>,
) -> anyhow::Result<Results> {
    interrupt::listen();
    let scratch = Scratch::make(workspace)?;
    let preload = Preload::make(&made::directory(&workspace.project.root), &workspace.project.root);
    let pool = Pool {
        root: &workspace.project.root,
        traces: scratch.traces.path(),
        outputs: scratch.outputs.path(),
        jobs: options.jobs,
        timeout: options.timeout,
        retries: options.retries,
        repeat: options.repeat,
        preload: &preload,
        asked_to_stop: &interrupt::asked_to_stop,
    };
    let batches = cases::batches(tests);
    let last_time = |batch: &Batch| {
        let mut members = batch.members.iter().map(|member| history.test(&tests[*member].name));
        members.next()?.map(|test| Duration::from_millis(test.milliseconds))
    };
    let expected = batches.iter().map(last_time).collect();
    let mut made_of = MadeOf::new(&files.now);
    let fingerprints = tests.iter().map(|test| made_of.fingerprint(test));
    let mut recorder = Recorder {
        workspace,
        tests,
        fingerprints: fingerprints.collect::<anyhow::Result<_>>()?,
        files: history.put_files(&files.as_built),
        seen: Seen::new(workspace, &files.now)?,
        history,
        contents: FxHashMap::default(),
        written: BTreeSet::new(),
        results: Results::default(),
        progress: Progress::new(expected, options.jobs),
        committed: Instant::now(),
        problem: None,
        known,
    };
    let processes: Vec<TestCase> = batches.iter().map(|batch| batch.test.clone()).collect();
    let finished = pool.run(&processes, |event| match event {
        Event::Started(test) => recorder.progress.started(&processes[test].name),
        Event::Finished(finished) => {
            let batch = &batches[finished.test];
            let failed = Fate::from(finished.ran.outcome).is_failure();
            recorder.progress.ended(finished.test, &batch.test.name, failed);
            for member in &batch.members {
                recorder.take(*member, &finished);
            }
        }
    });
    recorder.results.interrupted = !finished;
    recorder.progress.clear();
    if let Some(problem) = recorder.problem {
        return Err(problem);
    }
    BuildState::note_tests(workspace, &files.now, &recorder.written)?;
    recorder.history.commit()?;
    recorder.history.tidy()?;
    Ok(recorder.results)
}

/// Runs a test that somebody else asks for, with our own input and output.
pub fn run_one(workspace: &Workspace, test: &TestCase) -> anyhow::Result<Finished> {
    let scratch = Scratch::make(workspace)?;
    let root = &workspace.project.root;
    let preload = Preload::make(&made::directory(root), root);
    Ok(pool::run_attached(root, scratch.traces.path(), &preload, test)?)
}

/// What stands for the traced command of a test that a suite lists. There is no command in it: the test
/// is forgotten once the suite does not list it any more.
pub fn of_listed(traced: &Outsider) -> Outsider {
    let mut hasher = FpHasher::new("traced command");
    [&traced.directory].into_iter().chain(&traced.command).for_each(|word| hasher.str(word));
    Outsider { command: Vec::new(), directory: hasher.finish().hex() }
}

/// Records such a test. Unless its command is all of it, it waits for a verdict.
pub fn record_one(
    workspace: &Workspace,
    history: &mut History,
    test: &TestCase,
    files: &Files,
    mut finished: Finished,
    outsider: Outsider,
    is_judged: bool,
) -> anyhow::Result<()> {
    let tests = std::slice::from_ref(test);
    let before = history.test(&test.name).cloned();
    let waits = before.as_ref().is_some_and(|test| test.outcome == Outcome::Unjudged);
    // Arguments and input of the command come from the harness as well.
    let unseen = String::from("its harness may read files beside the command that was traced");
    finished.trace.uses.incomplete.get_or_insert(unseen);
    let mut recorder = Recorder {
        workspace,
        tests,
        fingerprints: vec![MadeOf::new(&files.now).fingerprint(test)?],
        files: history.put_files(&files.as_built),
        seen: Seen::new(workspace, &files.now)?,
        history,
        contents: FxHashMap::default(),
        written: BTreeSet::new(),
        results: Results::default(),
        progress: Progress::new(vec![None], 1),
        committed: Instant::now(),
        problem: None,
        known: None,
    };
    let outcome = match outcome_of(test, &finished) {
        // The harness may compare what it prints, and may want it to fail.
        Outcome::Passed | Outcome::Failed if !is_judged => Outcome::Unjudged,
        outcome => outcome,
    };
    let (mut entry, rows) = recorder.entry(0, outcome, &finished);
    entry.outsider = Some(outsider);
    BuildState::note_tests(workspace, &files.now, &recorder.written)?;
    if before.is_some_and(|before| is_one_of_several(history, &before, &entry)) {
        entry.unclean = Some(String::from(SEVERAL));
    } else if waits && !is_judged {
        entry.unclean.get_or_insert(String::from(TRACED_TWICE));
    }
    history.record(&test.name, entry, rows);
    history.commit()?;
    Ok(())
}

/// Whether a traced command is not the only one of its test. If it is the same as the last one, it may
/// be a part of the test that is repeated, or all of a test whose command changed: which of them it is shows
/// when it runs a new version of its program.
fn is_one_of_several(history: &History, before: &Test, now: &Test) -> bool {
    if before.outsider.is_none() {
        return false;
    }
    if before.outsider != now.outsider {
        return true;
    }
    let programs = |test: &Test| -> BTreeMap<String, Fingerprint> {
        let programs = test.programs.iter();
        programs.filter_map(|id| Some((history.program(*id).ok()?.path, *id))).collect()
    };
    let (then, now) = (programs(before), programs(now));
    let is_new = then.iter().any(|(path, id)| now.get(path).is_some_and(|now| now != id));
    before.unclean.as_deref() == Some(SEVERAL) && !is_new
}

/// What a harness says of a test that it traced.
pub fn judge(history: &mut History, name: &str, outcome: Outcome) -> anyhow::Result<()> {
    let Some(test) = history.test(name).cloned() else {
        bail!("no test is called `{name}`\nhint: trace its command first");
    };
    match outcome {
        Outcome::Passed if test.outcome == Outcome::Unjudged => {
            history.carry(name, Test { outcome, ..test }, Vec::new());
        }
        Outcome::Passed => bail!("`{name}` was not traced since it was last judged"),
        // Of a test that fails nothing but that is kept.
        _ => history.record(name, Test { outcome, programs: Vec::new(), ..test }, Vec::new()),
    }
    history.commit()?;
    Ok(())
}

struct Recorder<'a> {
    workspace: &'a Workspace,
    tests: &'a [TestCase],
    /// What each test is made of.
    fingerprints: Vec<Fingerprint>,
    history: &'a mut History,
    files: Fingerprint,
    seen: Seen<'a>,
    /// Content of modules, read once in a run.
    contents: FxHashMap<PathBuf, Option<Fingerprint>>,
    /// Files that tests wrote.
    written: BTreeSet<String>,
    results: Results,
    progress: Progress,
    committed: Instant,
    problem: Option<anyhow::Error>,
    known: Option<&'a Known>,
}

impl Recorder<'_> {
    /// Takes a test that has ended, which may be one of several in a process.
    fn take(&mut self, place: usize, finished: &Finished) {
        let test = &self.tests[place];
        for walked in finished.trace.walked.values() {
            self.results.steps += walked.steps;
            self.results.compared += walked.compared;
        }
        let (outcome, why) = match outcome_of(test, finished) {
            outcome if outcome == finished.ran.outcome => (outcome, finished.ran.ending.clone()),
            outcome => (outcome, String::from(NO_CASE)),
        };
        let parts = finished.ran.parts.iter().map(|part| (part_name(part), part_fate(part)));
        let mut result = TestResult {
            name: test.name.clone(),
            fate: Fate::from(outcome),
            why,
            duration: finished.ran.duration,
            times: finished.times,
            unstable: finished.unstable,
            parts: parts.collect(),
            ..TestResult::default()
        };
        if result.fate.is_failure() {
            let printed = &finished.ran.printed;
            result.output = printed[printed.len().saturating_sub(KEPT_OUTPUT)..].to_vec();
            self.show_failure(&result);
        }
        let (entry, rows) = self.entry(place, outcome, finished);
        if entry.outcome == Outcome::Passed {
            let is_without = entry.programs.is_empty().then(|| String::from(NO_PROGRAM));
            result.unclean = entry.unclean.clone().or(is_without);
        }
        self.history.record(&test.name, entry, rows);
        self.results.tests.push(result);
        if self.committed.elapsed() > COMMIT_EVERY && self.problem.is_none() {
            self.problem = self.history.commit().err().map(Into::into);
            self.committed = Instant::now();
        }
    }

    /// What the history keeps of a test. Only one that passed, or may have passed, has rows.
    fn entry(&mut self, place: usize, outcome: Outcome, finished: &Finished) -> (Test, Vec<Row>) {
        let Finished { ran, trace, unstable, .. } = finished;
        let test = &self.tests[place];
        let named = |outsider: &Outsider| !outsider.command.is_empty();
        let written = trace.uses.files.iter().filter(|(_, used)| used.written);
        let root = &self.workspace.project.root;
        self.written.extend(written.map(|(path, _)| relative(root, path)));
        let mut entry = Test {
            fingerprint: self.fingerprints[place],
            outcome,
            unclean: trace.unclean.clone(),
            milliseconds: ran.duration.as_millis() as u64,
            programs: Vec::new(),
            inexact: false,
            unstable: *unstable,
            files: self.files,
            loaded: self.history.put_files(&FileState::new()),
            uses: self.history.put_uses(&FileUses::default()),
            once: None,
            paths: None,
            outsider: self
                .history
                .test(&test.name)
                .and_then(|test| test.outsider.clone())
                .filter(named),
        };
        let has_rows = matches!(entry.outcome, Outcome::Passed | Outcome::Unjudged);
        if !has_rows || entry.unclean.is_some() {
            return (entry, Vec::new());
        }
        let taken = match &test.case {
            Some(case) => trace.cases.get(case),
            None => Some(&trace.rows),
        };
        let mut rows = Vec::new();
        for program in &trace.programs {
            let units = program.units.iter();
            for unit in units.clone() {
                let id = unit.index.fingerprint;
                self.history.put_unit(id, unit.raw.bytes());
                if let Some(row) = taken.and_then(|rows| rows.get(&id)) {
                    let counts = unit.index.procedures.iter().map(|p| p.edge_count);
                    rows.extend(rows_of_unit(id, counts, row));
                }
            }
            entry.programs.push(self.history.put_program(&Program {
                path: relative(root, &program.path),
                link: program.link,
                units: units.map(|unit| unit.index.fingerprint).collect(),
                outside_names: program.outside_names.clone(),
                binding: program.binding,
                altered: program.altered.clone(),
                archives: program.archives.clone(),
            }));
        }
        let (others, inexact) = unprobed::rows(self.known, &test.name, trace);
        rows.extend(others);
        entry.inexact = inexact;
        let mut loaded = FileState::new();
        // Our own library is nothing of theirs, and lies elsewhere on other machines.
        for path in trace.loaded.iter().filter(|path| !preload::is_ours(path)) {
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
        entry.uses = self.history.put_uses(&self.seen.of_trace(trace));
        // Of cases in one process it is not known which of them entered what.
        if test.case.is_none() && !unstable {
            let once = entered_once(trace);
            entry.once = (!once.is_empty()).then(|| self.history.put_once(&once));
            let paths: Paths = trace.walked.iter().map(|(id, w)| (*id, w.paths())).collect();
            entry.paths = (!paths.is_empty()).then(|| self.history.put_paths(&paths));
        }
        (entry, rows)
    }

    fn show_failure(&self, result: &TestResult) {
        self.progress.clear();
        let what = match result.fate {
            Fate::TimedOut => "ran out of time",
            _ => "failed",
        };
        let style = Stream::Err.style();
        let name = style.name(&one_line(&result.name));
        printer::tell(&format!("{name}: {} ({})\n", style.removed(what), result.why));
        let start = result.output.len().saturating_sub(SHOWN_OUTPUT);
        let text = String::from_utf8_lossy(&result.output[start..]);
        for line in text.lines() {
            // What a terminal would take for commands is not for it.
            let line: String =
                line.chars().map(|c| if c.is_control() && c != '\t' { '?' } else { c }).collect();
            printer::quote(&format!("    {line}\n"));
        }
    }
}

/// How a test ended. One that is a case of its process has failed if the process did not run it.
fn outcome_of(test: &TestCase, finished: &Finished) -> Outcome {
    let has_run = |case: &String| finished.trace.cases.contains_key(case);
    match finished.ran.outcome {
        Outcome::Passed if !test.case.as_ref().is_none_or(has_run) => Outcome::Failed,
        outcome => outcome,
    }
}

fn entered_once(trace: &TestTrace) -> Entered {
    let mut once = Entered::new();
    for (unit, procedure) in &trace.entered_once {
        once.entry(*unit).or_default().push(*procedure as u32);
    }
    once
}

fn part_name(part: &SubTest) -> String {
    format!("{} {}", part.number, part.description).trim_end().to_string()
}

fn part_fate(part: &SubTest) -> Fate {
    if part.skip.is_some() {
        Fate::Skipped
    } else if part.ok || part.todo.is_some() {
        Fate::Passed
    } else {
        Fate::Failed
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
    let files = history.put_files(&selected.files.as_built);
    let mut successors: FxHashMap<Fingerprint, Fingerprint> = FxHashMap::default();
    let mut edge_counts: FxHashMap<Fingerprint, Vec<u32>> = FxHashMap::default();
    for (id, comparison) in selected.programs.iter().zip(&selected.comparisons) {
        let NewProgram::Version(new) = &comparison.new else {
            continue;
        };
        for unit in &new.units {
            if let Some(bytes) = unit.raw_bytes() {
                history.put_unit(unit.fingerprint(), bytes);
            }
            let counts = unit.index.procedures.iter().map(|p| p.edge_count).collect();
            edge_counts.insert(unit.fingerprint(), counts);
        }
        let successor = history.put_program(&Program {
            path: relative(&workspace.project.root, &bytes::path(&new.path)),
            link: new.link,
            units: new.units.iter().map(|unit| unit.fingerprint()).collect(),
            outside_names: new.outside_names.clone(),
            binding: new.binding,
            altered: new.altered.clone(),
            archives: (*new.archives).clone(),
        });
        successors.insert(*id, successor);
    }
    let mut rows = rows_to_carry(history, selected)?;
    // Who runs changed code that is excluded does not do what its rows say: it
    // stays at the version that it ran.
    let passed_over = selected.report.passed_over();
    for name in selected.report.skipped.iter().filter(|name| !passed_over.contains(name.as_str())) {
        let Some((number, test)) = history.number(name).zip(history.test(name).cloned()) else {
            continue;
        };
        let programs: Option<Vec<Fingerprint>> =
            test.programs.iter().map(|program| successors.get(program).copied()).collect();
        let Some(programs) = programs else { continue };
        let rows = rows.remove(&number).unwrap_or_default();
        let Ok(carried) = selected.map.carry(rows.iter().map(|(unit, row)| (*unit, row))) else {
            continue;
        };
        let rows = carried.rows.iter().flat_map(|(unit, row)| {
            let counts = edge_counts.get(unit).into_iter().flatten().copied();
            rows_of_unit(*unit, counts, row)
        });
        let rows = rows.collect();
        let inexact = test.inexact || carried.inexact;
        history.carry(name, Test { programs, inexact, files, ..test }, rows);
    }
    Ok(())
}

/// What each test, by its number, took in units that are not the same any more.
fn rows_to_carry(
    history: &History,
    selected: &super::selecting::Selected,
) -> anyhow::Result<FxHashMap<u32, BTreeMap<Fingerprint, EdgeBits>>> {
    let mut rows: FxHashMap<u32, BTreeMap<Fingerprint, EdgeBits>> = FxHashMap::default();
    for (unit, map) in &selected.map.units {
        if map.stays(*unit) {
            continue;
        }
        let size = map.procedures.last().map_or(0, |(base, count, _)| base + count);
        for procedure in history.procedures(*unit)? {
            let Some((base, count, _)) = map.procedures.get(procedure as usize) else { continue };
            for (test, taken) in history.column(*unit, procedure)?.rows() {
                let row = rows.entry(test).or_default().entry(*unit);
                let row = row.or_insert_with(|| bitvec![u8, Lsb0; 0; size]);
                row[*base..base + count].copy_from_bitslice(&taken[..*count]);
            }
        }
    }
    Ok(rows)
}
