//! What recording costs beside running the same tests without it, and beside
//! gcov with a directory for each test. `scripts/bench record` fetches Lua first.

#[path = "../figures.rs"]
mod figures;
mod gcov;
mod measure;
mod project;

use clap::Parser;
use edgewise::suite::TestCase;
use edgewise::suite::preload::Preload;
use edgewise::suite::process::{Processes, Streams};
use figures::Bars;
use measure::{Cost, by_threads, measured};
use project::Project;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Parser)]
struct Args {
    /// Where the projects are
    #[arg(long, default_value = "target/subjects")]
    subjects: PathBuf,
    /// Where programs are built and tests run; what is there is removed
    #[arg(long, default_value = "target/record")]
    scratch: PathBuf,
    /// The real edgewise
    #[arg(long)]
    edgewise: PathBuf,
    #[arg(long, default_value_t = 5000)]
    tests: usize,
    /// Tests that gcov is measured with
    #[arg(long, default_value_t = 200)]
    gcov_tests: usize,
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// How often each way is measured, in turns; the least counts
    #[arg(long, default_value_t = 3)]
    repeat: u32,
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
    let scratch = fs_err::canonicalize(&args.scratch)?;
    let edgewise = fs_err::canonicalize(&args.edgewise)?;
    let lua = args.subjects.join("lua/src/src");
    let project = Project::make(&lua, &scratch.join("edgewise"), args.tests)?;
    project.build(Command::new(&edgewise).args(["build", "--"]))?;
    let covered = Project::make(&lua, &scratch.join("gcov"), args.tests)?;
    covered.build(Command::new("env").arg("X=--coverage"))?;

    let [mut bare, mut kept, mut recorded, mut gcov] = [Cost::MAX; 4];
    let few = project.tests.len().min(args.gcov_tests);
    for round in 0..args.repeat {
        bare = bare.min(run_bare(&project, args.jobs)?);
        kept = kept.min(run_kept(&project, args.jobs)?);
        recorded = recorded.min(record(&project, &edgewise, args.jobs)?);
        gcov = gcov.min(gcov::run(&covered, few, args.jobs)?);
        eprintln!("round {}", round + 1);
    }
    let tests = args.tests as f64;
    println!("{} tests of Lua, {} units, -j{}\n", args.tests, project.units, args.jobs);
    println!("| a test, in ms | wall | CPU |\n|---|--:|--:|");
    let row = |what: &str, cost: Cost, count: f64| {
        let (wall, cpu) = (cost.wall / count * 1e3, cost.cpu / count * 1e3);
        println!("| {what} | {wall:.2} | {cpu:.2} |");
    };
    row("run by a plain loop, not traced", bare, tests);
    row("run by our runner, traced, nothing collected", kept, tests);
    row("edgewise run", recorded, tests);
    row("gcov: run, and `gcov --json-format`", gcov, few as f64);
    println!("\n| ratio | wall | CPU |\n|---|--:|--:|");
    let ratio = |what: &str, one: (f64, f64), other: (f64, f64)| {
        println!("| {what} | {:.3} | {:.3} |", one.0 / other.0, one.1 / other.1);
    };
    ratio("edgewise run to the plain loop", recorded.pair(1.0), bare.pair(1.0));
    ratio("edgewise run to our runner without collecting", recorded.pair(1.0), kept.pair(1.0));
    let (collecting, adding) = (recorded.wall / kept.wall, (recorded.wall - kept.wall) / tests);
    let mut bars = Bars::default();
    bars.at_most(
        "recording, to running without collecting",
        &format!("{:.2} ms a test", recorded.wall / tests * 1e3),
        &format!("{:.2} ms", kept.wall / tests * 1e3),
        collecting,
        1.25,
    );
    let by_gcov = gcov.wall / few as f64 - bare.wall / tests;
    bars.at_least(
        "what gcov adds to a test, to what collecting adds",
        &format!("{:.2} ms", adding * 1e3),
        &format!("{:.2} ms", by_gcov * 1e3),
        by_gcov / adding,
        50.0,
    );
    let (bare, ours, theirs) = (bare.pair(tests), recorded.pair(tests), gcov.pair(few as f64));
    let more = |one: (f64, f64)| (one.0 - bare.0, one.1 - bare.1);
    ratio("gcov to edgewise, all of a test", theirs, ours);
    ratio("gcov to edgewise, what is added to the plain loop", more(theirs), more(ours));
    bars.print();
    Ok(())
}

/// A loop that starts the commands and waits for them. The programs have their
/// probes; nobody asks for a trace.
fn run_bare(project: &Project, jobs: usize) -> anyhow::Result<Cost> {
    let outputs = tempfile::tempdir_in(&project.root)?;
    measured(|| {
        by_threads(jobs, project.tests.len(), |number| {
            let output = outputs.path().join(number.to_string());
            let mut command = Command::new("/bin/sh");
            command.args(["-c", &project.tests[number]]).current_dir(&project.root);
            measure::capture(&mut command, &output)
        })
    })
}

/// The runner of edgewise with all its processes, and with traces that nobody
/// reads.
fn run_kept(project: &Project, jobs: usize) -> anyhow::Result<Cost> {
    let scratch = tempfile::tempdir_in(&project.root)?;
    let preload = Preload::make(&project.root.join(".edgewise"), &project.root);
    let processes = Processes::new(preload.keeper());
    measured(|| {
        by_threads(jobs, project.tests.len(), |number| {
            let test = TestCase::shell(number.to_string(), project.tests[number].clone());
            let trace = scratch.path().join(number.to_string());
            let output = scratch.path().join(format!("{number}.out"));
            fs_err::create_dir(&trace)?;
            let streams = Streams::File(&output);
            let ran = processes.run(&test, &project.root, &trace, streams, None, None)?;
            anyhow::ensure!(ran.status.success(), "{}: {}", test.name, ran.ending);
            fs_err::remove_file(&output)?;
            fs_err::remove_dir_all(&trace)?;
            Ok(())
        })
    })
}

fn record(project: &Project, edgewise: &Path, jobs: usize) -> anyhow::Result<Cost> {
    let history = project.root.join(".edgewise/history");
    if history.exists() {
        fs_err::remove_file(&history)?;
    }
    measured(|| {
        let mut command = Command::new(edgewise);
        command.args(["run", "-j", &jobs.to_string()]).current_dir(&project.root);
        let status = command.stderr(Stdio::null()).status()?;
        anyhow::ensure!(status.success(), "edgewise run: {status}");
        Ok(())
    })?
    .checked(&history, project.tests.len())
}
