//! How long `edgewise select` takes on a real project that was built and
//! recorded, beside the preprocessor runs that a change asks for, in one run.

mod edits;

use anyhow::{Context, ensure};
use clap::Parser;
use edits::Edit;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[derive(Parser)]
struct Args {
    #[arg(long)]
    edgewise: PathBuf,
    /// The project: built, and its tests recorded
    #[arg(long)]
    project: PathBuf,
    /// A source of one unit that is edited
    #[arg(long)]
    source: String,
    /// A line of it, and what takes its place: `old=>new`
    #[arg(long)]
    edit: String,
    /// A header that every unit includes
    #[arg(long)]
    header: String,
    #[arg(long, default_value_t = 7)]
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
    args.project = args.project.canonicalize()?;
    let units = commands(&args)?;
    println!("{} units, {} lines\n", units.len(), lines(&args.project)?);
    println!(
        "| change | selected | preprocessed | analysed | records read | procedures decoded | preprocessor alone | select | ratio |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");

    std::thread::sleep(SETTLED);
    select(&args)?;
    let (time, answer) = best(args.repeat, || select(&args))?;
    row("nothing", &answer, None, time);

    let edit = Edit::line(&args.project.join(&args.source), &args.edit)?;
    let wanted: Vec<&Unit> = units.iter().filter(|unit| unit.reads(&args.source)).collect();
    ensure!(!wanted.is_empty(), "no unit is made of {}", args.source);
    changed(&args, "one unit", &wanted, 1)?;
    edit.undo()?;

    let edit = Edit::top(&args.project.join(&args.header), "/* Seen by all. */\n")?;
    let wanted: Vec<&Unit> = units.iter().collect();
    changed(&args, "a comment in a header of all units", &wanted, 2)?;
    edit.undo()?;
    Ok(())
}

/// Measures preprocessor and selection by turns.
fn changed(args: &Args, what: &str, units: &[&Unit], threads: usize) -> anyhow::Result<()> {
    let (mut alone, mut all) = (Duration::MAX, (Duration::MAX, Value::Null));
    for _ in 0..args.repeat {
        alone = alone.min(preprocess(units, threads)?);
        let taken = select(args)?;
        if taken.0 < all.0 {
            all = taken;
        }
    }
    row(what, &all.1, Some(alone), all.0);
    Ok(())
}

fn row(what: &str, answer: &Value, alone: Option<Duration>, time: Duration) {
    let milliseconds = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
    let effort = |key: &str| answer["effort"][key].to_string();
    let selected = answer["selected"].as_array().map_or(0, Vec::len);
    println!(
        "| {what} | {selected} | {} | {} | {} | {} | {} | {} | {} |",
        effort("units_preprocessed"),
        effort("units_analysed"),
        effort("units_read"),
        effort("procedures_decoded"),
        alone.map_or(String::from("-"), milliseconds),
        milliseconds(time),
        alone.map_or(String::from("-"), |alone| format!(
            "{:.2}",
            time.as_secs_f64() / alone.as_secs_f64()
        )),
    );
}

fn best(
    repeat: usize,
    mut run: impl FnMut() -> anyhow::Result<(Duration, Value)>,
) -> anyhow::Result<(Duration, Value)> {
    let mut best = run()?;
    for _ in 1..repeat {
        let next = run()?;
        if next.0 < best.0 {
            best = next;
        }
    }
    Ok(best)
}

fn select(args: &Args) -> anyhow::Result<(Duration, Value)> {
    let start = Instant::now();
    let output = Command::new(&args.edgewise)
        .args(["select", "--format", "json"])
        .current_dir(&args.project)
        .output()?;
    let time = start.elapsed();
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok((time, serde_json::from_slice(&output.stdout)?))
}

/// A unit as its record says it is compiled.
struct Unit {
    directory: PathBuf,
    compiler: String,
    arguments: Vec<String>,
    source: String,
    files: Vec<String>,
}

impl Unit {
    fn reads(&self, file: &str) -> bool {
        self.files.iter().any(|name| name == file)
    }

    fn preprocess(&self) -> anyhow::Result<()> {
        let status = Command::new(&self.compiler)
            .current_dir(&self.directory)
            .arg("-E")
            .args(&self.arguments)
            .arg(&self.source)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .output()?
            .status;
        ensure!(status.success(), "{} does not preprocess", self.source);
        Ok(())
    }
}

/// The units of all programs of the history.
fn commands(args: &Args) -> anyhow::Result<Vec<Unit>> {
    use edgewise::cfg::format::RawRecord;
    let history = edgewise::history::History::open(&args.project.join(".edgewise/history"))?;
    let mut ids = std::collections::BTreeSet::new();
    for (_, test) in history.tests() {
        for program in &test.programs {
            ids.extend(history.program(*program)?.units);
        }
    }
    let root = args.project.to_str().context("a path that is no text")?;
    let mut units = Vec::new();
    for id in ids {
        let index = RawRecord::new(history.unit(id)?)?.index()?;
        let expand = |word: &String| word.replace("%ROOT%", root);
        let command = &index.command;
        units.push(Unit {
            directory: args.project.join(&command.directory),
            compiler: command.compiler.clone(),
            arguments: command.arguments.iter().map(expand).collect(),
            source: expand(&command.source),
            files: index.files.clone(),
        });
    }
    Ok(units)
}

/// Preprocesses units, this many at a time.
fn preprocess(units: &[&Unit], threads: usize) -> anyhow::Result<Duration> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let start = Instant::now();
    std::thread::scope(|scope| {
        let work = || -> anyhow::Result<()> {
            loop {
                let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let Some(unit) = units.get(number) else { return Ok(()) };
                unit.preprocess()?;
            }
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a thread that works"))
    })?;
    Ok(start.elapsed())
}

/// Lines of C in the project.
fn lines(directory: &Path) -> anyhow::Result<usize> {
    let mut count = 0;
    for entry in fs_err::read_dir(directory)? {
        let path = entry?.path();
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if path.is_dir() && !path.ends_with(".edgewise") {
            count += lines(&path)?;
        } else if ["c", "h"].contains(&extension) && path.is_file() {
            count += fs_err::read(&path)?.iter().filter(|byte| **byte == b'\n').count();
        }
    }
    Ok(count)
}
