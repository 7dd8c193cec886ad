//! How the history holds out at the size of a large project: on disk, in memory,
//! and how long it takes to add a test, to read a procedure and to merge shards.

mod synthetic;

use anyhow::{Context, ensure};
use clap::Parser;
use edgewise::history::History;
use edgewise::history::merge::merge;
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
    /// Cargo says this to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    if args.scratch.exists() {
        fs_err::remove_dir_all(&args.scratch)?;
    }
    fs_err::create_dir_all(&args.scratch)?;
    let project = Project::new(args.procedures);
    println!("| what | figure |\n|---|--:|");
    let edges = args.procedures * synthetic::EDGES;
    println!("| tests, edges | {}, {edges} |", args.tests);
    let (shards, making, recording) = record(&args, &project)?;
    println!("| recording all, commits of {} | {:.1} s |", args.batch, recording.as_secs_f64());
    eprintln!("(making up the tests took {:.1} s)", making.as_secs_f64());

    let path = args.scratch.join("history");
    let inputs: Vec<History> =
        shards.iter().map(|path| History::open(path)).collect::<Result<_, _>>()?;
    let start = Instant::now();
    let merged = merge(&inputs, &path)?;
    println!("| merging {} shards | {:.1} s |", args.shards, start.elapsed().as_secs_f64());
    ensure!(merged.tests as u64 == args.tests, "{} tests", merged.tests);
    drop(inputs);
    println!("| on disk | {:.0} MB |", fs_err::metadata(&path)?.len() as f64 / 1e6);

    let start = Instant::now();
    let mut history = History::open(&path)?;
    println!("| opening | {} |", milliseconds(start.elapsed()));
    check(&args, &project, &history)?;
    adds(&args, &project, &mut history)?;
    reads(&project, &history, "after these")?;
    let start = Instant::now();
    history.compact()?;
    println!("| gc | {:.1} s |", start.elapsed().as_secs_f64());
    reads(&project, &history, "after gc")?;
    println!("| memory at most | {} MB |", peak()? / 1024);
    Ok(())
}

/// Records shards, and says how long it took to make tests up and to write them.
fn record(args: &Args, project: &Project) -> anyhow::Result<(Vec<PathBuf>, Duration, Duration)> {
    let (mut making, mut recording) = (Duration::ZERO, Duration::ZERO);
    let mut shards = Vec::new();
    for shard in 0..args.shards {
        let path = args.scratch.join(format!("shard-{shard}"));
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

fn adds(args: &Args, project: &Project, history: &mut History) -> anyhow::Result<()> {
    let mut times = Vec::new();
    for test in args.tests..args.tests + 100 {
        project.add(history, test);
        let start = Instant::now();
        history.commit()?;
        times.push(start.elapsed());
    }
    tell("adding a test", &mut times);
    Ok(())
}

fn reads(project: &Project, history: &History, when: &str) -> anyhow::Result<()> {
    let mut numbers = Numbers::new(9);
    let mut times = Vec::new();
    let read = |procedure: usize| -> anyhow::Result<Duration> {
        let (unit, place) = project.place(procedure);
        let start = Instant::now();
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
    tell(&format!("reading a procedure, {when}"), &mut times);
    let most = (0..5).map(|_| read(project.most_entered())).collect::<anyhow::Result<Vec<_>>>()?;
    let most = most.into_iter().max().unwrap_or_default();
    println!("| reading the one that most tests enter, {when} | {} |", milliseconds(most));
    Ok(())
}

fn tell(what: &str, times: &mut [Duration]) {
    times.sort();
    let middle = milliseconds(times[times.len() / 2]);
    println!("| {what}, median | {middle} |");
    println!("| {what}, the slowest | {} |", milliseconds(times[times.len() - 1]));
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
