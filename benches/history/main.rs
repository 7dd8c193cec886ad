//! How the history holds out at the size of a large project: on disk, in memory,
//! and how long it takes to add a test, to read a procedure and to merge shards.

#[path = "../figures.rs"]
mod figures;
mod synthetic;

use anyhow::{Context, ensure};
use clap::Parser;
use edgewise::history::History;
use edgewise::history::merge::merge;
use figures::Bars;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use synthetic::{Numbers, Project, name};

#[derive(Parser)]
struct Args {
    #[arg(long, default_value_t = 100_000)]
    tests: u64,
    #[arg(long, default_value_t = 20_000)]
    procedures: usize,
    #[arg(long, default_value_t = 8)]
    shards: u64,
    /// Tests in a commit while a shard is recorded
    #[arg(long, default_value_t = 200)]
    batch: u64,
    #[arg(long, default_value = "target/history-scale")]
    scratch: PathBuf,
    /// Take the shards that are there from an earlier run
    #[arg(long)]
    reuse: bool,
    /// Cargo says this to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    if args.scratch.exists() && !args.reuse {
        fs_err::remove_dir_all(&args.scratch)?;
    }
    fs_err::create_dir_all(&args.scratch)?;
    let project = Project::new(args.procedures);
    println!("| what | figure |\n|---|--:|");
    let edges = args.procedures * synthetic::EDGES;
    println!("| tests, edges | {}, {edges} |", args.tests);
    let shards = match args.reuse {
        true => (0..args.shards).map(|shard| shard_path(&args, shard)).collect(),
        false => {
            let (shards, making, recording) = record(&args, &project)?;
            println!("| recording all, commits of {} | {recording:.1?} |", args.batch);
            eprintln!("(making up the tests took {making:.1?})");
            shards
        }
    };

    let path = args.scratch.join("history");
    let inputs: Vec<History> =
        shards.iter().map(|path| History::open(path)).collect::<Result<_, _>>()?;
    let start = Clock::start();
    let merged = merge(&inputs, &path)?;
    println!("| merging {} shards | {} |", args.shards, start.seconds());
    let mut bars = Bars::default();
    let (merging, _) = start.elapsed();
    limit(&mut bars, &args, "merging", merging.as_secs_f64(), 60.0, "s");
    ensure!(merged.tests as u64 == args.tests, "{} tests", merged.tests);
    drop(inputs);
    let size = fs_err::metadata(&path)?.len() as f64 / 1e6;
    println!("| on disk | {size:.0} MB |");
    limit(&mut bars, &args, "on disk", size, 1000.0, "MB");

    let start = Instant::now();
    let mut history = History::open(&path)?;
    println!("| opening | {} |", milliseconds(start.elapsed()));
    check(&args, &project, &history)?;
    let adding = adds(&args, &project, &mut history)?;
    limit(&mut bars, &args, "adding a test", adding, 50.0, "ms");
    let reading = reads(&project, &history, "after these")?;
    limit(&mut bars, &args, "reading a procedure", reading, 5.0, "ms");
    let start = Clock::start();
    history.compact()?;
    println!("| gc | {} |", start.seconds());
    reads(&project, &history, "after gc")?;
    let memory = peak()? / 1024;
    println!("| memory at most | {memory} MB |");
    limit(&mut bars, &args, "memory", memory as f64, 1000.0, "MB");
    bars.print();
    Ok(())
}

/// A figure beside the most that it may be.
fn limit(bars: &mut Bars, args: &Args, what: &str, figure: f64, most: f64, unit: &str) {
    let title = format!("a history of {} tests, {what}; to {most} {unit}", args.tests);
    bars.at_most(
        &title,
        &format!("{figure:.2} {unit}"),
        &format!("{most} {unit}"),
        figure / most,
        1.0,
    );
}

fn shard_path(args: &Args, shard: u64) -> PathBuf {
    args.scratch.join(format!("shard-{shard}"))
}

/// Wall time, and CPU time of this process.
#[derive(Clone, Copy)]
struct Clock {
    wall: Instant,
    cpu: Duration,
}

impl Clock {
    fn start() -> Self {
        Self { wall: Instant::now(), cpu: cpu_time() }
    }

    fn elapsed(self) -> (Duration, Duration) {
        (self.wall.elapsed(), cpu_time().saturating_sub(self.cpu))
    }

    fn seconds(self) -> String {
        let (wall, cpu) = self.elapsed();
        format!("{:.1} s, CPU {:.1} s", wall.as_secs_f64(), cpu.as_secs_f64())
    }
}

fn cpu_time() -> Duration {
    // SAFETY: all zeroes is a valid value of this plain structure, and the call only
    // writes to it.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time);
        time
    };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Records shards, and says how long it took to make tests up and to write them.
fn record(args: &Args, project: &Project) -> anyhow::Result<(Vec<PathBuf>, Duration, Duration)> {
    let (mut making, mut recording) = (Duration::ZERO, Duration::ZERO);
    let mut shards = Vec::new();
    for shard in 0..args.shards {
        let path = shard_path(args, shard);
        let mut history = History::open(&path)?;
        let tests: Vec<u64> = (shard..args.tests).step_by(args.shards as usize).collect();
        for batch in tests.chunks(args.batch as usize) {
            let start = Instant::now();
            batch.iter().for_each(|test| project.add(&mut history, *test));
            making += start.elapsed();
            let start = Instant::now();
            history.commit()?;
            recording += start.elapsed();
        }
        let start = Instant::now();
        history.tidy()?;
        recording += start.elapsed();
        eprintln!("shard {shard}: {:.0} MB", fs_err::metadata(&path)?.len() as f64 / 1e6);
        shards.push(path);
    }
    Ok((shards, making, recording))
}

/// What was written is what is read, for some tests in some procedures.
fn check(args: &Args, project: &Project, history: &History) -> anyhow::Result<()> {
    let mut numbers = Numbers::new(3);
    for _ in 0..20 {
        let test = numbers.below(args.tests);
        let number = history.number(&name(test)).context("a test is missing")?;
        let rows = project.rows(test);
        for row in rows.iter().step_by(97) {
            let column = history.column(row.unit, row.procedure)?;
            let read = column.row(number).context("a row is missing")?;
            let expected = |edge: usize| row.is_taken(edge);
            ensure!((0..synthetic::EDGES).all(|e| read[e] == expected(e)), "another row");
        }
    }
    Ok(())
}

/// The median, in milliseconds.
fn adds(args: &Args, project: &Project, history: &mut History) -> anyhow::Result<f64> {
    let mut times = Vec::new();
    for test in args.tests..args.tests + 100 {
        project.add(history, test);
        let start = Clock::start();
        history.commit()?;
        times.push(start.elapsed());
    }
    Ok(tell("adding a test", &mut times))
}

/// The median, in milliseconds.
fn reads(project: &Project, history: &History, when: &str) -> anyhow::Result<f64> {
    let mut numbers = Numbers::new(9);
    let mut times = Vec::new();
    let read = |procedure: usize| -> anyhow::Result<(Duration, Duration)> {
        let (unit, place) = project.place(procedure);
        let start = Clock::start();
        let column = history.column(unit, place)?;
        let tests = column.tests_on_edge(edgewise::ids::EdgeId::new(0), history.test_numbers());
        ensure!(tests.any() || column.is_empty(), "nobody took the first edge");
        Ok(start.elapsed())
    };
    // The tables of contents are read once.
    read(0)?;
    for _ in 0..200 {
        times.push(read(numbers.below(project.procedures() as u64) as usize)?);
    }
    let median = tell(&format!("reading a procedure, {when}"), &mut times);
    let most = (0..5).map(|_| read(project.most_entered())).collect::<anyhow::Result<Vec<_>>>()?;
    let (wall, cpu) = (most.iter().map(|m| m.0).max(), most.iter().map(|m| m.1).max());
    let (wall, cpu) =
        (milliseconds(wall.unwrap_or_default()), milliseconds(cpu.unwrap_or_default()));
    println!("| reading the one that most tests enter, {when} | {wall}, CPU {cpu} |");
    Ok(median)
}

/// Prints them; the median of the wall times, in milliseconds.
fn tell(what: &str, times: &mut [(Duration, Duration)]) -> f64 {
    let mut sorted = |which: fn(&(Duration, Duration)) -> Duration| {
        times.sort_by_key(which);
        let of = |place: usize| milliseconds(which(&times[place]));
        (of(times.len() / 2), of(times.len() - 1))
    };
    let (wall, cpu) = (sorted(|time| time.0), sorted(|time| time.1));
    println!("| {what}, median | {}, CPU {} |", wall.0, cpu.0);
    println!("| {what}, the slowest | {}, CPU {} |", wall.1, cpu.1);
    times.sort_by_key(|time| time.0);
    times[times.len() / 2].0.as_secs_f64() * 1e3
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

/// The most memory that this process ever had, in KiB.
fn peak() -> anyhow::Result<u64> {
    let status = fs_err::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    Ok(line.context("no VmHWM")?.trim().trim_end_matches(" kB").parse()?)
}
