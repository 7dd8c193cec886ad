//! `edgewise select` with the history of a large project: a real program of many
//! procedures, one test of it that ran, and as many others made up after it.

#[path = "../figures.rs"]
mod figures;
#[path = "../history/synthetic.rs"]
#[allow(dead_code)]
mod synthetic;

use anyhow::{Context, ensure};
use clap::Parser;
use edgewise::cfg::format::RawRecord;
use edgewise::history::History;
use edgewise::history::format::Test;
use edgewise::suite::definition::{Source, Suite};
use figures::Bars;
use std::fmt::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use synthetic::{EDGES, PROCEDURES_OF_UNIT, Project};

#[derive(Parser)]
struct Args {
    #[arg(long)]
    edgewise: PathBuf,
    #[arg(long, default_value_t = 100_000)]
    tests: u64,
    #[arg(long, default_value_t = 20_000)]
    procedures: usize,
    /// Tests in a commit while they are made up
    #[arg(long, default_value_t = 200)]
    batch: u64,
    #[arg(long, default_value = "target/select-scale")]
    scratch: PathBuf,
    /// Take what is there from an earlier run
    #[arg(long)]
    reuse: bool,
    #[arg(long, default_value_t = 5)]
    repeat: usize,
    /// Cargo says this to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// Longer than files take to settle.
const SETTLED: Duration = Duration::from_millis(2300);

fn main() -> anyhow::Result<()> {
    let mut args = Args::parse();
    args.edgewise = args.edgewise.canonicalize()?;
    if !args.reuse {
        if args.scratch.exists() {
            fs_err::remove_dir_all(&args.scratch)?;
        }
        write_project(&args)?;
        run(&args, &["build"])?;
        run(&args, &["run", &name(0)])?;
        record(&args)?;
    }
    std::thread::sleep(SETTLED);
    println!("| change | selected of {} | wall time | memory |\n|---|--:|--:|--:|", args.tests);
    let history = args.scratch.join(".edgewise/history");
    tell(&args, "the first time after a build")?;
    tell(&args, "nothing")?;
    let source = args.scratch.join("u0007.c");
    let text = fs_err::read_to_string(&source)?;
    let mut bars = Bars::default();
    for (what, from, to) in [
        ("a branch of one procedure", "if (n & 8) s += 3;", "if (n & 8) s += 4;"),
        ("the beginning of all of a unit", "int s = 0;", "int s = 0 * n;"),
    ] {
        let place = if what.starts_with('a') { 1 } else { usize::MAX };
        fs_err::write(&source, text.replacen(from, to, place))?;
        let (time, memory) = tell(&args, what)?;
        fs_err::write(&source, &text)?;
        let title = format!("select, {} tests, {what}", args.tests);
        bars.at_most(&format!("{title}; to 2 s"), &format!("{time:.2} s"), "2 s", time / 2.0, 1.0);
        let gigabytes = memory as f64 / 1e6;
        bars.at_most(
            &format!("{title}; to 1 GB"),
            &format!("{gigabytes:.2} GB"),
            "1 GB",
            gigabytes,
            1.0,
        );
    }
    println!("\nThe history has {} MB.", fs_err::metadata(history)?.len() / 1_000_000);
    bars.print();
    Ok(())
}

fn name(test: u64) -> String {
    format!("test-number-{test:07}")
}

/// Units of so many procedures, each with so many edges.
fn write_project(args: &Args) -> anyhow::Result<()> {
    fs_err::create_dir_all(&args.scratch)?;
    let units = args.procedures / PROCEDURES_OF_UNIT;
    for unit in 0..units {
        let mut text = String::new();
        for procedure in 0..PROCEDURES_OF_UNIT {
            let _ = write!(text, "int f{unit}_{procedure}(int n)\n{{\n    int s = 0;\n");
            // The way in, three edges for each branch, and the way out.
            for branch in 0..(EDGES - 2) / 3 {
                let _ = writeln!(text, "    if (n & {}) s += {branch};", 1 << branch);
            }
            text.push_str("    return s;\n}\n");
        }
        fs_err::write(args.scratch.join(format!("u{unit:04}.c")), text)?;
    }
    let write = |name: &str, text: &str| fs_err::write(args.scratch.join(name), text);
    write(
        "main.c",
        "int f0_0(int n);\nint main(int argc, char **argv)\n{\n    (void)argv;\n    return f0_0(argc) < 0;\n}\n",
    )?;
    write(
        "Makefile",
        "prog: $(patsubst %.c,%.o,$(wildcard *.c))\n\t@$(CC) -o prog $^\n%.o: %.c\n\t@$(CC) -O0 -c -o $@ $<\n",
    )?;
    write(
        "edgewise.toml",
        "[build]\ncommand = \"make -s -j2\"\n[[suite]]\nname = \"suite\"\nkind = \"list\"\nfile = \"tests.list\"\n",
    )?;
    let list: String = (0..args.tests).map(|test| format!("{} ./prog\n", name(test))).collect();
    write("tests.list", &list)?;
    Ok(())
}

fn run(args: &Args, words: &[&str]) -> anyhow::Result<()> {
    let status = Command::new(&args.edgewise).args(words).current_dir(&args.scratch).status()?;
    ensure!(status.success(), "edgewise {words:?}: {status}");
    Ok(())
}

/// Makes up all tests but the first, after it.
fn record(args: &Args) -> anyhow::Result<()> {
    let mut history = History::open(&args.scratch.join(".edgewise/history"))?;
    let first = history.test(&format!("suite/{}", name(0))).context("no test ran")?.clone();
    let mut units = Vec::new();
    for unit in history.program(first.programs[0])?.units {
        let index = RawRecord::new(history.unit(unit)?)?.index()?;
        if index.procedures.len() == PROCEDURES_OF_UNIT {
            let edges = index.procedures[0].edge_count as usize;
            ensure!((EDGES..=56).contains(&edges), "{edges} edges in a procedure");
            units.push(unit);
        }
    }
    let mut project = Project::new(args.procedures);
    ensure!(units.len() == project.units.len(), "{} units", units.len());
    project.units = units;
    let start = Instant::now();
    let suite = Suite {
        name: String::from("suite"),
        source: Source::File(String::from("tests.list")),
        ..Suite::default()
    };
    let tests = suite.tests(&args.scratch.canonicalize()?)?;
    for (case, test) in tests.iter().zip(0..).skip(1) {
        let entry = Test { fingerprint: case.fingerprint(), ..first.clone() };
        history.record(&case.name, entry, project.rows(test));
        if test % args.batch == 0 {
            history.commit()?;
        }
    }
    history.commit()?;
    history.tidy()?;
    eprintln!("(making up the tests took {:.0?})", start.elapsed());
    Ok(())
}

/// Selects some times, and says how long that took at the median: seconds, and the most
/// kilobytes.
fn tell(args: &Args, what: &str) -> anyhow::Result<(f64, i64)> {
    let repeat = if what.starts_with("the first") { 1 } else { args.repeat };
    let mut times = Vec::new();
    let (mut selected, mut memory) = (0, 0);
    for _ in 0..repeat {
        let start = Instant::now();
        let mut child = Command::new(&args.edgewise)
            .arg("select")
            .current_dir(&args.scratch)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let said = std::io::read_to_string(child.stdout.take().context("no output")?)?;
        let (status, peak) = wait(child.id())?;
        times.push(start.elapsed());
        ensure!(status.success(), "select: {status}");
        selected = said.lines().count();
        memory = memory.max(peak);
    }
    times.sort();
    let time = times[times.len() / 2].as_secs_f64();
    println!("| {what} | {selected} | {time:.2} s | {} MB |", memory / 1000);
    Ok((time, memory))
}

/// Waits for a process; how it ended, and the kilobytes that it had at most.
fn wait(process: u32) -> anyhow::Result<(std::process::ExitStatus, i64)> {
    let mut status = 0;
    // SAFETY: all zeroes is a valid value of this plain structure, and the call only
    // writes to what it is given.
    let (code, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(process as libc::pid_t, &raw mut status, 0, &raw mut usage), usage)
    };
    ensure!(code > 0, "cannot wait: {}", std::io::Error::last_os_error());
    Ok((std::process::ExitStatus::from_raw(status), usage.ru_maxrss))
}
