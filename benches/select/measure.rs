//! Wall time, and CPU time of this process and all that it started.

use std::fmt;
use std::time::{Duration, Instant};

#[derive(Clone, Copy)]
pub struct Cost {
    wall: Duration,
    cpu: Duration,
}

impl Cost {
    pub const MOST: Self = Self { wall: Duration::MAX, cpu: Duration::MAX };

    /// The least of each.
    pub fn min(self, other: Self) -> Self {
        Self { wall: self.wall.min(other.wall), cpu: self.cpu.min(other.cpu) }
    }

    /// Wall time, in milliseconds.
    pub fn milliseconds(self) -> f64 {
        self.wall.as_secs_f64() * 1e3
    }

    pub fn over(self, other: Self) -> String {
        let ratio = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64();
        format!("{:.2}, {:.2}", ratio(self.wall, other.wall), ratio(self.cpu, other.cpu))
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        write!(f, "{:.1} ms, {:.1} ms", milliseconds(self.wall), milliseconds(self.cpu))
    }
}

pub fn measured<T>(run: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(Cost, T)> {
    let (start, before) = (Instant::now(), cpu());
    let result = run()?;
    Ok((Cost { wall: start.elapsed(), cpu: cpu().saturating_sub(before) }, result))
}

/// Of this process and of its children that have ended.
fn cpu() -> Duration {
    [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN]
        .map(|who| {
            // SAFETY: a struct of numbers, which the call fills.
            let usage = unsafe {
                let mut usage: libc::rusage = std::mem::zeroed();
                libc::getrusage(who, &raw mut usage);
                usage
            };
            let time = |time: libc::timeval| {
                Duration::from_micros(time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64)
            };
            time(usage.ru_utime) + time(usage.ru_stime)
        })
        .into_iter()
        .sum()
}
