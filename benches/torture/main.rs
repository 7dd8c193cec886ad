//! Compiles the test programs of gcc and clang with and without probes and compares the results.
//! `scripts/torture` fetches the programs first.
//!
//! A program that runs must print the same and exit the same. A program that only compiles must be accepted
//! or rejected alike. In both cases a compile with probes must stay within a bound of CPU time and memory.

mod measure;
mod sources;

use anyhow::Context;
use clap::Parser;
use measure::{Measured, measured};
use sources::{Source, Work};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[derive(Parser)]
struct Args {
    /// Directories with the test programs
    #[arg(long, required = true)]
    sources: Vec<PathBuf>,
    /// Where programs are compiled and run; its old content is removed
    #[arg(long, default_value = "target/torture/scratch")]
    scratch: PathBuf,
    /// The edgewise binary that is tested
    #[arg(long)]
    edgewise: PathBuf,
    #[arg(long, default_value = "gcc")]
    compiler: String,
    /// Optimization levels, each a compile of every program
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, default_value = "-O0,-O2,-Os")]
    levels: Vec<String>,
    /// Takes every N-th program only
    #[arg(long, default_value_t = 1)]
    every: usize,
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Seconds that a compile or a run may take
    #[arg(long, default_value_t = 60)]
    limit: u64,
    /// Cargo passes this to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// What became of one program at one level.
enum Outcome {
    Same,
    /// The plain compiler or the plain program fails in a way that says nothing about probes.
    NotUsable,
    Different(String),
    Costly(String),
}

/// A compile with probes may take this many times the plain one, and as much again below the floor.
const MOST_TIMES: f64 = 5.0;
/// CPU seconds below which a ratio is mostly the start of processes.
const CPU_FLOOR: f64 = 1.0;
/// Kilobytes that the analysis itself may take.
const MEMORY_FLOOR: u64 = 200_000;

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    if args.scratch.exists() {
        fs_err::remove_dir_all(&args.scratch)?;
    }
    fs_err::create_dir_all(&args.scratch)?;
    let scratch = fs_err::canonicalize(&args.scratch)?;
    let edgewise = fs_err::canonicalize(&args.edgewise)?;
    let mut all = Vec::new();
    for directory in &args.sources {
        sources::find(directory, &mut all).with_context(|| directory.display().to_string())?;
    }
    all.sort_by(|a, b| a.path.cmp(&b.path));
    let chosen: Vec<Source> = all.into_iter().step_by(args.every.max(1)).collect();
    let work: Vec<(&Source, &String)> =
        chosen.iter().flat_map(|s| args.levels.iter().map(move |l| (s, l))).collect();

    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..args.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&(source, level)) = work.get(index) else { break };
                    let room = scratch.join(index.to_string());
                    let outcome =
                        compare(&args, &edgewise, source, level, &room).unwrap_or_else(|e| {
                            Outcome::Different(format!("cannot be compared: {e:#}"))
                        });
                    let _ = fs_err::remove_dir_all(&room);
                    outcomes.lock().expect("no thread panics").push((index, outcome));
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().expect("no thread panics");
    outcomes.sort_by_key(|(index, _)| *index);
    report(&args, &work, &outcomes)
}

fn report(
    args: &Args,
    work: &[(&Source, &String)],
    outcomes: &[(usize, Outcome)],
) -> anyhow::Result<()> {
    let (mut same, mut unusable, mut different, mut costly) = (0, 0, 0, 0);
    let mut text = String::new();
    for (index, outcome) in outcomes {
        let (source, level) = work[*index];
        let mut line = |kind: &str, what: &str| {
            writeln!(text, "{kind}: {} {level}: {what}", source.path.display())
        };
        match outcome {
            Outcome::Same => same += 1,
            Outcome::NotUsable => unusable += 1,
            Outcome::Different(what) => {
                different += 1;
                line("different", what)?;
            }
            Outcome::Costly(what) => {
                costly += 1;
                line("costly", what)?;
            }
        }
    }
    print!("{text}");
    println!(
        "{}: {} compiles compared: {same} the same, {different} different, {costly} costly; {unusable} not usable with the plain compiler",
        args.compiler,
        outcomes.len() - unusable
    );
    anyhow::ensure!(different == 0 && costly == 0, "{different} differ, {costly} are costly");
    anyhow::ensure!(same > 0, "no program was compared");
    Ok(())
}

fn compare(
    args: &Args,
    edgewise: &Path,
    source: &Source,
    level: &str,
    room: &Path,
) -> anyhow::Result<Outcome> {
    let limit = Duration::from_secs(args.limit);
    // The runtime is compiled once for all programs.
    let cache = room.with_file_name("made");
    let compile = |name: &str, probes: bool, limit: Duration| -> anyhow::Result<Measured> {
        let directory = room.join(name);
        fs_err::create_dir_all(&directory)?;
        let mut command = Command::new(&args.compiler);
        if probes {
            command = Command::new(edgewise);
            command.arg("cc").env("EDGEWISE_CC", &args.compiler).env("EDGEWISE_CACHE", &cache);
        }
        command.current_dir(&directory).args(["-w", level]).args(&source.flags).arg(&source.path);
        match source.work {
            Work::Run => command.args(["-o", "program", "-lm"]),
            Work::Compile => command.args(["-c", "-o", "object.o"]),
        };
        measured(command, limit)
    };
    let plain = compile("plain", false, limit)?;
    if plain.status.is_none() || (source.work == Work::Run && plain.status != Some(0)) {
        return Ok(Outcome::NotUsable);
    }
    // A slower machine is no difference: the bound below judges the cost.
    let ours = compile("probes", true, limit * 6)?;
    if ours.status != plain.status {
        let what = format!(
            "the compiler exits with {}, with probes {}",
            shown(plain.status),
            shown(ours.status)
        );
        return Ok(Outcome::Different(what));
    }
    if source.work == Work::Run {
        let run = |name: &str, limit: Duration| {
            let mut command = Command::new(room.join(name).join("program"));
            command.current_dir(room.join(name));
            measured(command, limit)
        };
        let expected = run("plain", limit)?;
        if expected.status.is_none() {
            return Ok(Outcome::NotUsable);
        }
        let seen = run("probes", limit * 3)?;
        if (seen.status, &seen.output) != (expected.status, &expected.output) {
            let again = run("plain", limit)?;
            if (again.status, &again.output) != (expected.status, &expected.output) {
                return Ok(Outcome::NotUsable);
            }
            let what = format!(
                "the program exits with {}, with probes {}",
                shown(expected.status),
                shown(seen.status)
            );
            return Ok(Outcome::Different(what));
        }
    }
    Ok(cost(plain, ours))
}

fn cost(plain: Measured, ours: Measured) -> Outcome {
    if ours.cpu > CPU_FLOOR + MOST_TIMES * plain.cpu {
        return Outcome::Costly(format!(
            "{:.2} s of CPU, with probes {:.2} s",
            plain.cpu, ours.cpu
        ));
    }
    if ours.memory > MEMORY_FLOOR + MOST_TIMES as u64 * plain.memory {
        return Outcome::Costly(format!(
            "{} kB of memory, with probes {} kB",
            plain.memory, ours.memory
        ));
    }
    Outcome::Same
}

fn shown(status: Option<i32>) -> String {
    status.map_or_else(|| "no answer in time".to_owned(), |s| s.to_string())
}
