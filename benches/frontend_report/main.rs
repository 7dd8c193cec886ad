//! How much of real C the front end understands, and what it costs: runs it on
//! every unit that `scripts/subjects` built, beside the compiler itself.
//!
//! `scripts/frontend-report` fetches the subjects and calls this.

mod check;
mod commands;
mod edited;
#[path = "../figures.rs"]
mod figures;
mod measure;
mod report;
mod unit;

use clap::Parser;
use commands::{Level, Subject};
use report::{Row, Summary};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use unit::Outcome;

#[global_allocator]
static ALLOCATOR: measure::Counting = measure::Counting;

/// As much as the main thread of a program has, where the product works.
const STACK: usize = 8 << 20;

/// Report on the front end over real projects
#[derive(Parser)]
struct Args {
    /// The directory that scripts/subjects filled
    #[arg(long, default_value = "target/subjects")]
    subjects: PathBuf,
    /// Fail on a panic, on a missing procedure, and below 99.9 % of full graphs
    #[arg(long)]
    strict: bool,
    /// Units at a time; timing is best with one
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// How often both sides are timed; the best of them counts
    #[arg(long, default_value_t = 3)]
    repeat: u32,
    /// Only these levels
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["o2", "o0"])]
    levels: Vec<Level>,
    /// Where the lists of what was found go [default: SUBJECTS/frontend-report.md]
    #[arg(long)]
    details: Option<PathBuf>,
    /// Where the text of units goes that panic [default: SUBJECTS/panics]
    #[arg(long)]
    panics: Option<PathBuf>,
    /// Cargo says this to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
    /// Names of subjects
    #[arg(required = true)]
    names: Vec<String>,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    let details = args.details.clone().unwrap_or_else(|| args.subjects.join("frontend-report.md"));
    let panics = args.panics.clone().unwrap_or_else(|| args.subjects.join("panics"));
    unit::keep_panics();
    let subjects: Vec<Subject> = args
        .names
        .iter()
        .map(|name| Subject::read(&args.subjects, name))
        .collect::<anyhow::Result<_>>()?;
    let mut summary = Summary::default();
    let mut failures = Vec::new();
    let mut bars = figures::Bars::default();
    for level in &args.levels {
        let mut rows = Vec::new();
        for subject in &subjects {
            let (outcomes, left_out) = look_at_all(subject, *level, &args, &panics);
            let row = Row::of(subject, &outcomes);
            summary.add(&subject.name, *level, &outcomes, &left_out);
            eprintln!("{}", row.markdown());
            rows.push(row);
            // A long run can be read while it goes on.
            fs_err::write(&details, summary.text())?;
        }
        let total = Row::total(&rows);
        println!("{}", report::table(*level, &rows, &total));
        total.bars(*level, &mut bars);
        failures.extend(total.failures().iter().map(|what| format!("{}: {what}", level.name())));
    }
    bars.print();
    println!("Lists of all that was found are in {}", details.display());
    failures.iter().for_each(|failure| println!("{failure}"));
    let fails = args.strict && !failures.is_empty();
    Ok(if fails { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

type LeftOut = std::collections::BTreeMap<String, usize>;

/// Looks at all units of a subject, in their order.
fn look_at_all(
    subject: &Subject,
    level: Level,
    args: &Args,
    panics: &Path,
) -> (Vec<Outcome>, LeftOut) {
    let (compiles, left_out) = subject.compiles(level);
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || {
        while let Some((number, compile)) = {
            let number = next.fetch_add(1, Ordering::Relaxed);
            compiles.get(number).map(|compile| (number, compile))
        } {
            let outcome = unit::look_at(subject, compile, args.repeat, panics);
            done.lock().expect("no thread panics with it").push((number, outcome));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..args.jobs.max(1) {
            let thread = std::thread::Builder::new().stack_size(STACK);
            thread.spawn_scoped(scope, work).expect("a thread starts");
        }
    });
    let mut done = done.into_inner().expect("no thread panics with it");
    done.sort_by_key(|(number, _)| *number);
    (done.into_iter().map(|(_, outcome)| outcome).collect(), left_out)
}
