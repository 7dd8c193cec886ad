//! Time and instructions of programs.

use crate::programs::Program;
use crate::work::Prepared;
use anyhow::{Context, ensure};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

#[derive(Default)]
pub struct Figures {
    pub instructions: u64,
    pub times: Vec<Duration>,
    pub text: u64,
    pub compile: Duration,
}

impl Figures {
    pub fn time(&self) -> Duration {
        self.times.iter().min().copied().unwrap_or_default()
    }
}

/// Runs a command, which must succeed; the CPU time of it and its children.
pub fn run(command: &mut Command) -> anyhow::Result<Duration> {
    let before = time_of_children();
    let output = command.stdin(Stdio::null()).stdout(Stdio::null()).output()?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {}\n{told}", output.status);
    Ok(time_of_children() - before)
}

/// CPU time of the children of this process that have ended.
fn time_of_children() -> Duration {
    // SAFETY: all zeroes is a valid value of this plain structure.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid place for the result.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage) };
    let of = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    of(usage.ru_utime) + of(usage.ru_stime)
}

pub fn cpu_time(program: &Program, path: &Path, work: &Prepared) -> anyhow::Result<Duration> {
    let mut total = Duration::ZERO;
    for _ in 0..program.work.runs {
        work.clear()?;
        total += run(work.give(&mut Command::new(path)))?;
    }
    Ok(total)
}

/// Instructions that cachegrind counts, of a copy without symbols: valgrind
/// gives up on some that clang's coverage has.
pub fn instructions(path: &Path, work: &Prepared) -> anyhow::Result<u64> {
    work.clear()?;
    let stripped = path.with_extension("stripped");
    let strip = Command::new("strip").arg("-o").arg(&stripped).arg(path).status();
    ensure!(strip.context("strip")?.success(), "cannot strip {}", path.display());
    let mut command = Command::new("valgrind");
    command.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    work.give(command.arg(stripped)).stdin(Stdio::null()).stdout(Stdio::null());
    let output = command.output().context("valgrind")?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {told}");
    let line = told.lines().find(|line| line.contains("I refs:") || line.contains("I   refs:"));
    let line = line.context("valgrind did not count")?;
    let count = line.rsplit(':').next().unwrap_or_default();
    Ok(count.chars().filter(char::is_ascii_digit).collect::<String>().parse()?)
}
