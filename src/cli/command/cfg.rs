//! `edgewise cfg`: the graph of a procedure.

use crate::cli::exit;
use crate::compiler::plan::{self, Plan};
use crate::compiler::preprocess;
use crate::compiler::project::Project;
use crate::compiler::unit::{self, Unit};
use crate::report::graph;
use anyhow::{Context, bail};
use rustc_hash::FxHashMap;

/// Print the control-flow graph of a procedure
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  edgewise cfg src/main.c main -- -Iinclude\n  edgewise cfg --format dot a.c f | dot -Tsvg > f.svg"
)]
pub struct Args {
    /// The C source
    file: String,
    /// The procedure; without it, all of the file
    function: Option<String>,
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Arguments for the compiler
    #[arg(last = true)]
    flags: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Dot,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let directory = std::env::current_dir().context("no working directory")?;
    let project = Project::at(&directory);
    let mut words = args.flags.clone();
    words.push(args.file.clone());
    let work = match plan::plan(&words) {
        Plan::Work(work) if !work.sources.is_empty() => work,
        Plan::Work(_) => bail!("{} is not a C source", args.file),
        Plan::Untouched(why) => bail!("cannot analyse {}: {why}", args.file),
    };
    let object = plan::default_object(&args.file);
    let unit = Unit::of_compile(&project, &directory, "cc", &work, &args.file, &object);
    let job = unit.job(&project)?;
    let preprocessed = preprocess::preprocess(&project, &job, &[]).context(
        "hint: arguments for the compiler go behind `--`, as in `edgewise cfg a.c -- -Iinclude`",
    )?;
    let analysed = unit::analyse(&project, &unit, &job, &preprocessed, &FxHashMap::default());
    let record = analysed.record(&project, &unit, &job, None);
    let mut found = false;
    for (procedure, graph) in record.index.procedures.iter().zip(&record.graphs) {
        if args.function.as_ref().is_some_and(|name| *name != procedure.name) {
            continue;
        }
        found = true;
        if let Some(why) = &procedure.opaque {
            eprintln!("{} is opaque: {why}", procedure.name);
        }
        let picture = match args.format {
            Format::Text => graph::text(&record.index, &procedure.name, graph),
            Format::Dot => graph::dot(&record.index, &procedure.name, graph),
        };
        println!("{}", picture.trim_end());
    }
    match &args.function {
        Some(name) if !found => bail!("{} defines no procedure `{name}`", args.file),
        _ => Ok(exit::OK),
    }
}
