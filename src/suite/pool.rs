//! Runs many tests, several at a time, and tells a consumer as each starts and
//! ends.

use super::preload::Preload;
use super::process::{Processes, Ran, Streams};
use super::schedule::{Next, Schedule};
use super::{TestCase, inherited};
use crate::history::format::Outcome;
use crate::trace::collect::{Collector, TestTrace};
use crate::trace::derive::Reading;
use crate::trace::uses::Room;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, mpsc};
use std::time::Duration;

/// Input, output and errors of a test are its own.
const STANDARD_STREAMS: i32 = 3;

/// What happens while tests run.
pub enum Event {
    /// The test at this place has started.
    Started(usize),
    Finished(Box<Finished>),
}

/// A test that has ended.
pub struct Finished {
    /// Its place among the tests.
    pub test: usize,
    /// The last time it ran.
    pub ran: Ran,
    /// All that it did, however often it ran.
    pub trace: TestTrace,
    /// How often it ran.
    pub times: u32,
    /// It did not end the same way each time, or its traces differ.
    pub unstable: bool,
}

pub struct Pool<'a> {
    pub root: &'a Path,
    /// Where traces go, one directory a test.
    pub traces: &'a Path,
    /// Where goes what tests print.
    pub outputs: &'a Path,
    pub jobs: usize,
    /// For tests that have none of their own.
    pub timeout: Option<Duration>,
    /// How often a test that fails is tried again.
    pub retries: u32,
    /// How often each test runs.
    pub repeat: u32,
    /// Sees which files tests use.
    pub preload: &'a Preload,
    /// Asked now and then whether to stop.
    pub asked_to_stop: &'a (dyn Fn() -> bool + Sync),
}

impl Pool<'_> {
    /// Runs the tests; false if it was interrupted.
    pub fn run(&self, tests: &[TestCase], mut consume: impl FnMut(Event)) -> bool {
        let processes = Processes::new(self.preload.keeper());
        let collector = Collector::default();
        let schedule = Mutex::new(Schedule::new(tests, self.jobs));
        let changed = Condvar::new();
        let done = AtomicBool::new(false);
        let (sender, receiver) = mpsc::channel();
        let worker = Worker {
            pool: self,
            tests,
            processes: &processes,
            collector: &collector,
            schedule: &schedule,
            changed: &changed,
            inherited: inherited::files(self.root, STANDARD_STREAMS..),
        };
        std::thread::scope(|scope| {
            scope.spawn(|| processes.watch(&done, self.asked_to_stop));
            for _ in 0..self.jobs.max(1) {
                let (sender, worker) = (sender.clone(), &worker);
                scope.spawn(move || worker.work(&sender));
            }
            drop(sender);
            for event in receiver {
                consume(event);
            }
            done.store(true, Ordering::SeqCst);
        });
        !processes.is_interrupted()
    }
}

struct Worker<'a> {
    pool: &'a Pool<'a>,
    tests: &'a [TestCase],
    processes: &'a Processes,
    collector: &'a Collector,
    schedule: &'a Mutex<Schedule<'a>>,
    changed: &'a Condvar,
    /// Files of the project that every test finds open.
    inherited: Vec<PathBuf>,
}

impl Worker<'_> {
    fn work(&self, sender: &mpsc::Sender<Event>) {
        loop {
            let next = {
                let mut schedule = self.schedule.lock().unwrap_or_else(PoisonError::into_inner);
                loop {
                    if self.processes.is_interrupted() {
                        self.changed.notify_all();
                        return;
                    }
                    match schedule.pick() {
                        Next::Wait => {
                            let waited = self.changed.wait(schedule);
                            schedule = waited.unwrap_or_else(PoisonError::into_inner);
                        }
                        next => break next,
                    }
                }
            };
            let (test, finished) = match next {
                Next::Start(test) => {
                    let _ = sender.send(Event::Started(test));
                    let finished = self.run(test);
                    let mut schedule = self.schedule.lock().unwrap_or_else(PoisonError::into_inner);
                    schedule.ended(test, finished.ran.outcome);
                    (test, finished)
                }
                Next::GiveUp(test, why) => {
                    let ran = Ran { ending: why, ..Ran::failed() };
                    let trace = TestTrace::default();
                    (test, Finished { test, ran, trace, times: 0, unstable: false })
                }
                Next::Wait | Next::Done => {
                    self.changed.notify_all();
                    return;
                }
            };
            debug_assert_eq!(test, finished.test);
            self.changed.notify_all();
            if sender.send(Event::Finished(Box::new(finished))).is_err() {
                return;
            }
        }
    }

    /// Runs a test as often as it has to be.
    fn run(&self, test: usize) -> Finished {
        let mut finished = self.run_once(test, 0);
        let pool = self.pool;
        loop {
            let is_over = match finished.ran.outcome {
                Outcome::Passed => finished.times >= pool.repeat,
                Outcome::Failed | Outcome::TimedOut => finished.times > pool.retries,
                Outcome::Skipped | Outcome::Interrupted | Outcome::Unjudged => true,
            };
            if is_over {
                return finished;
            }
            let again = self.run_once(test, finished.times);
            // A failure before counts as an unstable test, one behind it as a failure.
            finished.unstable |= finished.ran.outcome != again.ran.outcome
                || finished.trace.rows != again.trace.rows;
            finished.trace.unite(again.trace);
            finished.times += 1;
            finished.ran = again.ran;
        }
    }

    fn run_once(&self, place: usize, time: u32) -> Finished {
        let (pool, test) = (self.pool, &self.tests[place]);
        let trace = pool.traces.join(format!("{place}.{time}.trace"));
        let output = pool.outputs.join(format!("{place}.{time}.out"));
        let timeout = test.timeout.or(pool.timeout);
        let ran = std::fs::create_dir(&trace).and_then(|()| {
            let library = pool.preload.prepare(&trace, Room::TEST);
            let streams = Streams::File(&output);
            self.processes.run(test, pool.root, &trace, streams, timeout, library)
        });
        let (ran, mut trace_left) = collect(test, ran, &trace, self.collector);
        trace_left.uses.add_read(&self.inherited);
        let _ = std::fs::remove_file(&output);
        let _ = std::fs::remove_dir_all(&trace);
        Finished { test: place, ran, trace: trace_left, times: 1, unstable: false }
    }
}

/// What a test left, however it ended.
fn collect(
    test: &TestCase,
    ran: std::io::Result<Ran>,
    trace: &Path,
    collector: &Collector,
) -> (Ran, TestTrace) {
    let ran = ran.unwrap_or_else(|error| {
        let outcome = match error.kind() {
            std::io::ErrorKind::Interrupted => Outcome::Interrupted,
            _ => Outcome::Failed,
        };
        Ran { outcome, ending: error.to_string(), ..Ran::failed() }
    });
    let reading = if ran.trapped { Reading::AfterTrap } else { Reading::Exact };
    let mut collected = collector.collect_as(trace, reading, ran.process, test.cases);
    // What was said is clearer than what could still be written.
    if ran.unclean.is_some() {
        collected.unclean.clone_from(&ran.unclean);
    }
    (ran, collected)
}

/// Runs one test with our own input and output.
pub fn run_attached(
    root: &Path,
    scratch: &Path,
    preload: &Preload,
    test: &TestCase,
) -> std::io::Result<Finished> {
    let trace = scratch.join("trace");
    std::fs::create_dir(&trace)?;
    let processes = Processes::new(preload.keeper());
    let library = preload.prepare(&trace, Room::TEST);
    let ran = processes.run(test, root, &trace, Streams::Own, None, library);
    let (ran, mut trace) = collect(test, ran, &trace, &Collector::default());
    trace.uses.add_read(&inherited::files(root, 0..));
    Ok(Finished { test: 0, ran, trace, times: 1, unstable: false })
}
