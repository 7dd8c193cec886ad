//! Wall time and CPU time, of this process and of all that it waits for.

use anyhow::ensure;
use edgewise::history::History;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// In seconds.
#[derive(Clone, Copy)]
pub struct Cost {
    pub wall: f64,
    pub cpu: f64,
}

impl Cost {
    pub const MAX: Self = Self { wall: f64::MAX, cpu: f64::MAX };

    pub fn min(self, other: Self) -> Self {
        Self { wall: self.wall.min(other.wall), cpu: self.cpu.min(other.cpu) }
    }

    /// Of one of several.
    pub fn pair(self, count: f64) -> (f64, f64) {
        (self.wall / count, self.cpu / count)
    }

    /// The same, if all tests were recorded.
    pub fn checked(self, history: &Path, tests: usize) -> anyhow::Result<Self> {
        let history = History::open(history)?;
        let clean = history.tests().filter(|(_, t)| t.is_clean() && !t.programs.is_empty()).count();
        ensure!(clean == tests, "{clean} of {tests} tests are clean");
        Ok(self)
    }
}

pub fn measured(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<Cost> {
    let (start, cpu) = (Instant::now(), cpu_time());
    work()?;
    Ok(Cost { wall: start.elapsed().as_secs_f64(), cpu: cpu_time() - cpu })
}

fn cpu_time() -> f64 {
    let of = |who: libc::c_int| {
        // SAFETY: all zeroes is a valid value of this plain structure, and the call
        // only writes to it.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(who, &raw mut usage);
            usage
        };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        seconds(usage.ru_utime) + seconds(usage.ru_stime)
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

/// Does what is to be done for each number, several at a time.
pub fn by_threads(
    jobs: usize,
    count: usize,
    work: impl Fn(usize) -> anyhow::Result<()> + Sync,
) -> anyhow::Result<()> {
    let next = AtomicUsize::new(0);
    let problem = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    if let Err(error) = work(number) {
                        next.store(count, Ordering::Relaxed);
                        *problem.lock().expect("nobody panics") = Some(error);
                    }
                }
            });
        }
    });
    match problem.into_inner().expect("nobody panics") {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Runs a command as a runner of tests does: what it prints is captured, and
/// thrown away if it succeeds.
pub fn capture(command: &mut Command, output: &Path) -> anyhow::Result<()> {
    let file = fs_err::File::create(output)?.into_parts().0;
    let errors = file.try_clone()?;
    let status = command.stdin(Stdio::null()).stdout(file).stderr(errors).status()?;
    let printed = fs_err::read(output)?;
    ensure!(status.success(), "{status}: {}", String::from_utf8_lossy(&printed));
    fs_err::remove_file(output)?;
    Ok(())
}
