//! How long `edgewise select` takes on a real project that was built and
//! recorded, beside the preprocessor runs that a change asks for, in one run.

mod edits;
#[path = "../figures.rs"]
mod figures;
mod measure;

use anyhow::{Context, ensure};
use clap::Parser;
use edgewise::cfg::format::RawRecord;
use edgewise::compiler::preprocess::{self, Job};
use edgewise::compiler::project::Project;
use edgewise::compiler::unit::Unit;
use edgewise::history::History;
use edits::Edit;
use figures::Bars;
use measure::{Cost, measured};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

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
    /// How often all units are preprocessed
    #[arg(long, default_value_t = 2)]
    repeat_all: usize,
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
    let units = Units::read(&args)?;
    println!("{} units, {} lines of C\n", units.all.len(), lines(&args.project)?);
    println!("Each cell: wall time, CPU time of all processes.\n");
    println!("| change | `cc -E` of each unit | all runs it needs | select | select / runs |");
    println!("|---|--:|--:|--:|--:|");
    let mut efforts = Vec::new();

    std::thread::sleep(SETTLED);
    select(&args)?;
    let mut best = Cost::MOST;
    let mut answer = Value::Null;
    for _ in 0..2 * args.repeat {
        let (cost, said) = measured(|| select(&args))?;
        best = best.min(cost);
        answer = said;
    }
    println!("| nothing | - | - | {best} | - |");
    efforts.push(("nothing", answer));
    let mut bars = Bars::default();
    let ms = |time: f64| format!("{time:.1} ms");
    let time = best.milliseconds();
    bars.at_most("select, nothing changed; to 30 ms", &ms(time), "30 ms", time / 30.0, 1.0);

    let edit = Edit::line(&args.project.join(&args.source), &args.edit)?;
    let one = units.all.iter().filter(|unit| unit.files.contains(&args.source)).collect();
    let costs = changed(&args, &units, "one unit", one, args.repeat)?;
    let [plain, runs, time] = [costs.plain, costs.runs, costs.selection].map(Cost::milliseconds);
    let allowed = 1.5 * runs + 30.0;
    let title = "select, one unit; to 1.5 times its preprocessor runs and 30 ms";
    bars.at_most(title, &ms(time), &ms(allowed), time / allowed, 1.0);
    bars.at_most("select, one unit; to one `cc -E`", &ms(time), &ms(plain), time / plain, 2.2);
    efforts.push(("one unit", costs.answer));
    edit.undo()?;

    let edit = Edit::top(&args.project.join(&args.header), "/* Seen by all. */\n")?;
    let what = "a comment in a header of all units";
    let all = units.all.iter().collect();
    let costs = changed(&args, &units, what, all, args.repeat_all)?;
    let [runs, time] = [costs.runs, costs.selection].map(Cost::milliseconds);
    let title = "select, a header of all units; to their preprocessor runs";
    bars.at_most(title, &ms(time), &ms(runs), time / runs, 1.3);
    efforts.push((what, costs.answer));
    edit.undo()?;

    println!(
        "\n| change | selected | units preprocessed | runs | analysed | records read | procedures decoded | pairs visited |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for (what, answer) in efforts {
        let effort = |key: &str| answer["effort"][key].to_string();
        println!(
            "| {what} | {} | {} | {} | {} | {} | {} | {} |",
            answer["selected"].as_array().map_or(0, Vec::len),
            effort("units_preprocessed"),
            effort("preprocessor_runs"),
            effort("units_analysed"),
            effort("units_read"),
            effort("procedures_decoded"),
            answer["statistics"]["pairs_visited"],
        );
    }
    bars.print();
    Ok(())
}

/// What a selection takes beside the preprocessor alone.
struct Costs {
    plain: Cost,
    runs: Cost,
    selection: Cost,
    answer: Value,
}

/// Measures preprocessors and selection by turns.
fn changed(
    args: &Args,
    units: &Units,
    what: &str,
    wanted: Vec<&Recorded>,
    repeat: usize,
) -> anyhow::Result<Costs> {
    ensure!(!wanted.is_empty(), "no unit is concerned by {what}");
    let (mut plain, mut runs, mut selection) = (Cost::MOST, Cost::MOST, Cost::MOST);
    let mut answer = Value::Null;
    // Once for what both have to read.
    select(args)?;
    for _ in 0..repeat {
        plain = plain.min(measured(|| in_parallel(&wanted, |unit| units.plain(unit)))?.0);
        runs = runs.min(measured(|| in_parallel(&wanted, |unit| units.needed(unit)))?.0);
        let (cost, said) = measured(|| select(args))?;
        selection = selection.min(cost);
        answer = said;
    }
    println!("| {what} | {plain} | {runs} | {selection} | {} |", selection.over(runs));
    Ok(Costs { plain, runs, selection, answer })
}

fn select(args: &Args) -> anyhow::Result<Value> {
    let output = Command::new(&args.edgewise)
        .args(["select", "--format", "json"])
        .current_dir(&args.project)
        .output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The units of all programs of the history.
struct Units {
    project: Project,
    all: Vec<Recorded>,
}

struct Recorded {
    compiler: String,
    job: Job,
    files: Vec<String>,
}

impl Units {
    fn read(args: &Args) -> anyhow::Result<Self> {
        let project = Project::at(&args.project);
        let history = History::open(&args.project.join(".edgewise/history"))?;
        let mut programs = BTreeSet::new();
        history.tests().for_each(|(_, test)| programs.extend(&test.programs));
        let mut ids = BTreeSet::new();
        for program in programs {
            ids.extend(history.program(program)?.units);
        }
        let mut all = Vec::new();
        for id in ids {
            let index = RawRecord::new(history.unit(id)?)?.index()?;
            let unit = Unit::of_index(&index);
            let job = unit.job(&project).context("a unit without a compiler")?;
            all.push(Recorded { compiler: unit.command.compiler, job, files: index.files });
        }
        Ok(Self { project, all })
    }

    fn plain(&self, unit: &Recorded) -> anyhow::Result<()> {
        let Job { directory, arguments, source, .. } = &unit.job;
        let mut command = Command::new(&unit.compiler);
        command.current_dir(directory).arg("-E").args(arguments).arg(source);
        ensure!(command.output()?.status.success(), "{source} does not preprocess");
        Ok(())
    }

    fn needed(&self, unit: &Recorded) -> anyhow::Result<()> {
        preprocess::preprocess(&self.project, &unit.job, &[])?;
        Ok(())
    }
}

/// As many at a time as there are processors.
fn in_parallel(
    units: &[&Recorded],
    run: impl Fn(&Recorded) -> anyhow::Result<()> + Sync,
) -> anyhow::Result<()> {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let work = || -> anyhow::Result<()> {
            while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
                run(unit)?;
            }
            Ok(())
        };
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..processors).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a thread that works"))
    })
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
