//! How far a run is: one line that is written over on a terminal, a line now and
//! then elsewhere.

use super::printer::{self, Stream};
use crate::report::text::{counted, one_line};
use crate::report::wrap::cut;
use std::io::Write;
use std::time::{Duration, Instant};

/// How often a line is written where it cannot be written over.
const PLAIN_EVERY: Duration = Duration::from_secs(10);
const TERMINAL_EVERY: Duration = Duration::from_millis(50);

pub struct Progress {
    /// Whether a line can be written over.
    is_terminal: bool,
    start: Instant,
    shown: Option<Instant>,
    /// Time that each test took the last time, if that is known.
    expected: Vec<Option<Duration>>,
    left: Duration,
    /// Tests of which it is not known how long they take.
    unknown: usize,
    pub total: usize,
    pub done: usize,
    pub failed: usize,
    jobs: usize,
    running: Vec<String>,
}

impl Progress {
    pub fn new(expected: Vec<Option<Duration>>, jobs: usize) -> Self {
        Self {
            is_terminal: Stream::Err.is_terminal()
                && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb"),
            start: Instant::now(),
            shown: None,
            left: expected.iter().flatten().sum(),
            unknown: expected.iter().filter(|time| time.is_none()).count(),
            total: expected.len(),
            expected,
            done: 0,
            failed: 0,
            jobs,
            running: Vec::new(),
        }
    }

    pub fn started(&mut self, name: &str) {
        self.running.push(name.to_string());
        self.show();
    }

    pub fn ended(&mut self, test: usize, name: &str, failed: bool) {
        self.running.retain(|running| running != name);
        self.done += 1;
        self.failed += usize::from(failed);
        match self.expected[test] {
            Some(time) => self.left = self.left.saturating_sub(time),
            None => self.unknown = self.unknown.saturating_sub(1),
        }
        self.show();
    }

    /// Time that is left: of tests that ran before as long as they took, of
    /// others the mean of this run.
    fn time_left(&self) -> Option<Duration> {
        let elapsed = self.start.elapsed();
        let mean = elapsed.checked_div(u32::try_from(self.done).ok()?)?;
        let unknown = mean.checked_mul(u32::try_from(self.unknown).ok()?)?;
        Some(self.left / u32::try_from(self.jobs.max(1)).ok()? + unknown)
    }

    fn show(&mut self) {
        let every = if self.is_terminal { TERMINAL_EVERY } else { PLAIN_EVERY };
        if self.shown.unwrap_or(self.start).elapsed() < every {
            return;
        }
        self.shown = Some(Instant::now());
        let mut line = format!("{} of {}", self.done, counted(self.total, "test"));
        if self.failed > 0 {
            line.push_str(&format!(", {} failed", self.failed));
        }
        if let Some(left) = self.time_left() {
            line.push_str(&format!(", about {} left", span(left)));
        }
        if self.is_terminal {
            if let Some(running) = self.running.first() {
                line.push_str(&format!(": {}", one_line(running)));
            }
            // One column less: behind the last one some terminals begin a new line.
            let columns = Stream::Err.columns().unwrap_or(80).saturating_sub(1);
            over(&cut(&line, columns));
        } else {
            printer::tell(&format!("edgewise: {line}\n"));
        }
    }

    /// Makes room for something else on the terminal.
    pub fn clear(&self) {
        if self.is_terminal {
            over("");
        }
    }
}

/// Writes over the line that is there.
fn over(line: &str) {
    let _ = std::io::stderr().write_all(format!("\r\x1b[K{line}").as_bytes());
}

fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}
