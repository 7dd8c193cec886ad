//! How the cost of the analysis grows with the size of a unit: every shape of
//! `tests/scale/shapes.rs` at a quarter, half and all of its size, each in a
//! process of its own, by the time of the processor. An exponent above 1.3 is
//! flagged.
//!
//!     cargo bench --bench scale [-- PART_OF_A_NAME…]

mod figures;
#[allow(dead_code, reason = "what must come of a shape is for the tests")]
#[path = "../tests/scale/shapes.rs"]
mod shapes;

use edgewise::cfg::format::{Detail, Granularity};
use edgewise::cfg::unit;
use edgewise::frontend;
use edgewise::ids::Fingerprint;
use edgewise::instrument::{self, Architecture};
use rustc_hash::FxHashMap;
use shapes::{SHAPES, Shape};
use std::hint::black_box;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Above this a growth counts as more than linear.
const STEEP: f64 = 1.3;
/// Below this a time says nothing about growth.
const TOO_SHORT: f64 = 0.1;
/// Short times are taken several times, and the best one counts.
const SHORT: f64 = 0.5;
const TIMES: usize = 3;
/// A process that takes longer is given up.
const LIMIT: Duration = Duration::from_secs(30);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if let [one, name, size] = arguments.as_slice()
        && one == "--one"
    {
        return measure_one(name, size);
    }
    println!("{:42} {:>9} {:>9} {:>9} {:>9}  exponent", "shape", "size", "n/4", "n/2", "n");
    let mut steep = 0;
    let mut worst: Option<(&str, f64)> = None;
    for shape in SHAPES.iter().filter(|shape| is_asked_for(shape, &arguments)) {
        let exponent = report(shape);
        steep += usize::from(exponent.is_some_and(|exponent| exponent > STEEP));
        if let Some(exponent) = exponent.filter(|e| worst.is_none_or(|(_, most)| *e > most)) {
            worst = Some((shape.name, exponent));
        }
    }
    println!("{steep} of them grow too fast or do not end");
    if let Some((name, exponent)) = worst {
        let mut bars = figures::Bars::default();
        let figure =
            format!("exponent of time by size of a unit, the worst of all shapes ({name})");
        bars.at_most(&figure, &format!("{exponent:.2}"), "1", exponent, STEEP);
        bars.print();
    }
    if steep == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn is_asked_for(shape: &Shape, parts: &[String]) -> bool {
    parts.is_empty() || parts.iter().any(|part| shape.name.contains(part.as_str()))
}

/// Prints the line of a shape; the exponent of its growth, if its time says anything about that.
fn report(shape: &Shape) -> Option<f64> {
    let mut seconds = Vec::new();
    for size in [shape.size / 4, shape.size / 2, shape.size] {
        match best(shape.name, size) {
            Ok(time) => seconds.push(time),
            Err(why) => {
                println!("{:42} {size:>9} {why}   <---", shape.name);
                return Some(f64::INFINITY);
            }
        }
    }
    let exponent = (seconds[2] / seconds[0]).log(4.0);
    let is_steep = seconds[2] > TOO_SHORT && exponent > STEEP;
    let flag = if is_steep { "   <---" } else { "" };
    println!(
        "{:42} {:>9} {:>8.3}s {:>8.3}s {:>8.3}s  {exponent:.2}{flag}",
        shape.name, shape.size, seconds[0], seconds[1], seconds[2]
    );
    (seconds[2] > TOO_SHORT).then_some(exponent)
}

fn best(name: &str, size: usize) -> Result<f64, String> {
    let mut best = in_process(name, size)?;
    for _ in 1..TIMES {
        if best < SHORT {
            best = best.min(in_process(name, size)?);
        }
    }
    Ok(best)
}

fn in_process(name: &str, size: usize) -> Result<f64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut child = Command::new(program)
        .args(["--one", name, &size.to_string()])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let start = Instant::now();
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        if start.elapsed() > LIMIT {
            child.kill().map_err(|error| error.to_string())?;
            child.wait().map_err(|error| error.to_string())?;
            return Err(format!("not done after {} s", LIMIT.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.trim().parse() {
        Ok(seconds) if output.status.success() => Ok(seconds),
        _ => Err(output.status.to_string()),
    }
}

fn measure_one(name: &str, size: &str) -> ExitCode {
    let shape = SHAPES.iter().find(|shape| shape.name == name);
    let (Some(shape), Ok(size)) = (shape, size.parse()) else {
        return ExitCode::FAILURE;
    };
    let text = format!("# 1 \"t.c\"\n{}", (shape.make)(size));
    // On a thread like those that do the work in a build.
    let work = move || {
        let start = seconds_used();
        let mut tree = frontend::analyse(text.as_bytes(), None, &|_| false);
        let mut analysis = unit::analyse(&mut tree, &FxHashMap::default());
        instrument::assign_probes(&mut analysis, instrument::Code::default(), Detail::default());
        let unit = Fingerprint::default();
        let how = instrument::Compiled {
            architecture: Architecture::Other,
            granularity: Granularity::Edge,
            is_optimized: true,
        };
        black_box(instrument::instrument(&tree, &analysis, unit, &[], how));
        println!("{}", seconds_used() - start);
    };
    match std::thread::spawn(work).join() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Time that this process had a processor for.
fn seconds_used() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: only writes to the struct it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
