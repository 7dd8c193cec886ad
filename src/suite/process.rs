//! Runs one test in a process group of its own, and finds out whether any of
//! its processes outlives it.

use crate::history::format::Outcome;
use crate::trace::format::ENVIRONMENT;
use std::collections::HashMap;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long leftovers of a test may take to end.
const GRACE: Duration = Duration::from_millis(300);
/// How often running tests are looked after.
const WATCH: Duration = Duration::from_millis(20);

/// What a test's processes did, apart from their traces.
pub struct Ran {
    pub outcome: Outcome,
    /// Exit code or signal, for people.
    pub ending: String,
    pub duration: Duration,
    /// A process of the test was still alive when it ended.
    pub left_over: bool,
}

/// Runs tests and ends them when asked to.
#[derive(Default)]
pub struct Processes {
    running: Mutex<HashMap<u32, Running>>,
    interrupted: AtomicBool,
}

struct Running {
    deadline: Option<Instant>,
    timed_out: bool,
}

impl Processes {
    /// Becomes the parent of orphans, so that daemons of tests are noticed.
    pub fn new() -> Self {
        // SAFETY: a plain prctl with constant arguments.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
        Self::default()
    }

    /// Ends all tests, now and later.
    pub fn interrupt(&self) {
        self.interrupted.store(true, Ordering::SeqCst);
        self.kill(|_| true);
    }

    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    /// Ends tests whose time is up, until `done`.
    pub fn watch(&self, done: &AtomicBool, asked_to_stop: &dyn Fn() -> bool) {
        while !done.load(Ordering::SeqCst) {
            if asked_to_stop() {
                self.interrupt();
            }
            let now = Instant::now();
            self.kill(|running| {
                let late = running.deadline.is_some_and(|deadline| deadline <= now);
                running.timed_out |= late;
                late
            });
            std::thread::sleep(WATCH);
        }
    }

    fn kill(&self, mut which: impl FnMut(&mut Running) -> bool) {
        let Ok(mut running) = self.running.lock() else {
            return;
        };
        for (leader, test) in running.iter_mut() {
            if which(test) {
                // SAFETY: signals the process group that this test leads.
                unsafe { libc::kill(-(*leader as i32), libc::SIGKILL) };
            }
        }
    }

    /// Runs a command of the shell to its end.
    pub fn run(
        &self,
        command: &str,
        directory: &Path,
        trace: &Path,
        output: &Path,
        timeout: Option<Duration>,
    ) -> std::io::Result<Ran> {
        let file = fs_err::File::create(output)?.into_parts().0;
        let start = Instant::now();
        let mut child = {
            // Held over the start, so that an interrupt cannot slip between.
            let mut running = self.running.lock().map_err(|_| std::io::ErrorKind::Other)?;
            if self.is_interrupted() {
                return Err(std::io::ErrorKind::Interrupted.into());
            }
            let child = Command::new("/bin/sh")
                .arg("-c")
                .arg(command)
                .current_dir(directory)
                .env(ENVIRONMENT, trace)
                .stdin(Stdio::null())
                .stdout(file.try_clone()?)
                .stderr(file)
                .process_group(0)
                .spawn()?;
            let deadline = timeout.map(|timeout| start + timeout);
            running.insert(child.id(), Running { deadline, timed_out: false });
            child
        };
        let leader = child.id();
        let status = child.wait();
        let duration = start.elapsed();
        let timed_out = match self.running.lock() {
            Ok(mut running) => running.remove(&leader).is_some_and(|test| test.timed_out),
            Err(_) => false,
        };
        let status = status?;
        let left_over = self.leaves_processes(trace);
        let outcome = if timed_out {
            Outcome::TimedOut
        } else if self.is_interrupted() {
            Outcome::Interrupted
        } else if status.success() {
            Outcome::Passed
        } else {
            Outcome::Failed
        };
        Ok(Ran { outcome, ending: status.to_string(), duration, left_over })
    }

    /// Whether processes of the test are still alive after a short grace.
    fn leaves_processes(&self, trace: &Path) -> bool {
        let start = Instant::now();
        loop {
            if !self.has_orphans(trace) {
                return false;
            }
            if start.elapsed() > GRACE {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Children of ours that lead no test are orphans of one. An orphan that
    /// cannot be told apart counts against every test that asks.
    fn has_orphans(&self, trace: &Path) -> bool {
        let own = std::process::id();
        for child in children(own) {
            let leads = self.running.lock().map_or(true, |running| running.contains_key(&child));
            if leads {
                continue;
            }
            if is_dead(child) {
                // SAFETY: takes note of a dead orphan that nobody else waits for.
                unsafe { libc::waitpid(child as i32, std::ptr::null_mut(), libc::WNOHANG) };
                continue;
            }
            match trace_of(child) {
                Some(other) if other != trace.as_os_str().as_encoded_bytes() => {}
                _ => return true,
            }
        }
        false
    }
}

/// Children of all threads of a process.
fn children(process: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else {
        return found;
    };
    for thread in threads.flatten() {
        let text = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        found.extend(text.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
    }
    found
}

/// A zombie is no longer running, only not yet waited for.
fn is_dead(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
    matches!(state, None | Some('Z' | 'X'))
}

/// The trace directory that a process was started with.
fn trace_of(process: u32) -> Option<Vec<u8>> {
    let environment = std::fs::read(format!("/proc/{process}/environ")).ok()?;
    let prefix = format!("{ENVIRONMENT}=");
    let variable = environment.split(|b| *b == 0).find_map(|v| v.strip_prefix(prefix.as_bytes()));
    variable.map(<[u8]>::to_vec)
}
