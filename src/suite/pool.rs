//! Runs many tests, several at a time, and hands each to a consumer as it ends.

use super::TestCase;
use super::process::{Processes, Ran};
use crate::history::format::Outcome;
use crate::trace::collect::{Collector, TestTrace};
use crate::trace::derive::Reading;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// A test that has ended.
pub struct Finished {
    pub test: TestCase,
    pub ran: Ran,
    pub trace: TestTrace,
}

pub struct Pool<'a> {
    pub root: &'a Path,
    /// Where traces and outputs go, one directory a test.
    pub scratch: &'a Path,
    pub jobs: usize,
    pub timeout: Option<Duration>,
    /// Asked now and then whether to stop.
    pub asked_to_stop: &'a (dyn Fn() -> bool + Sync),
}

impl Pool<'_> {
    /// Runs the tests; false if it was interrupted.
    pub fn run(&self, tests: &[TestCase], mut consume: impl FnMut(Finished)) -> bool {
        let processes = Processes::default();
        let collector = Collector::default();
        let next = AtomicUsize::new(0);
        let done = AtomicBool::new(false);
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| processes.watch(&done, self.asked_to_stop));
            for _ in 0..self.jobs.max(1) {
                let sender = sender.clone();
                scope.spawn(|| {
                    let sender = sender;
                    while !processes.is_interrupted() {
                        let index = next.fetch_add(1, Ordering::SeqCst);
                        let Some(test) = tests.get(index) else { break };
                        let finished = self.run_one(index, test, &processes, &collector);
                        if sender.send(finished).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            for finished in receiver {
                consume(finished);
            }
            done.store(true, Ordering::SeqCst);
        });
        !processes.is_interrupted()
    }

    fn run_one(
        &self,
        index: usize,
        test: &TestCase,
        processes: &Processes,
        collector: &Collector,
    ) -> Finished {
        let trace = self.scratch.join(format!("{index}.trace"));
        let output = self.scratch.join(format!("{index}.out"));
        let ran = std::fs::create_dir(&trace)
            .and_then(|()| processes.run(test, self.root, &trace, &output, self.timeout));
        let ran = ran.unwrap_or_else(|error| {
            let outcome = match error.kind() {
                std::io::ErrorKind::Interrupted => Outcome::Interrupted,
                _ => Outcome::Failed,
            };
            Ran { outcome, ending: error.to_string(), ..Ran::failed() }
        });
        let reading = if ran.trapped { Reading::AfterTrap } else { Reading::Exact };
        let mut collected = collector.collect_as(&trace, reading);
        // What was said is clearer than what could still be written.
        if ran.unclean.is_some() {
            collected.unclean.clone_from(&ran.unclean);
        }
        let _ = std::fs::remove_file(&output);
        let _ = std::fs::remove_dir_all(&trace);
        Finished { test: test.clone(), ran, trace: collected }
    }
}
