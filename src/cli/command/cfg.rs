//! `edgewise cfg`: the graph of a procedure.

use crate::cli::exit;
use crate::cli::printer;
use crate::cli::word;
use crate::compiler::plan::{self, Plan};
use crate::compiler::preprocess;
use crate::compiler::project::Project;
use crate::compiler::unit::{self, Unit};
use crate::report::picture::Picture;
use crate::report::{graph, svg};
use anyhow::{Context, anyhow, bail};
use rustc_hash::FxHashMap;

/// Print the control-flow graph of a procedure
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  edgewise cfg src/main.c main -- -Iinclude\n  edgewise cfg --svg a.c f > f.svg\n  edgewise cfg --format dot a.c f | dot -Tsvg > f.svg"
)]
pub struct Args {
    /// The C source
    #[arg(value_parser = word())]
    file: String,
    /// The name of a procedure, which is what C calls a function; without it, all of the file
    function: Option<String>,
    /// What to print
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The same as --format svg: a picture of one procedure
    #[arg(long, conflicts_with = "format")]
    svg: bool,
    /// Arguments for the compiler
    #[arg(last = true, value_name = "FLAG", value_parser = word())]
    flags: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A line for each node, with its edges
    Text,
    /// For Graphviz
    Dot,
    /// A picture of one procedure
    Svg,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let format = if args.svg { Format::Svg } else { args.format };
    if format == Format::Svg && args.function.is_none() {
        bail!(
            "a picture is of one procedure\nhint: name it behind the file, as in `edgewise cfg --svg a.c main`"
        );
    }
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
    let preprocessed = preprocess::preprocess(&project, &job, &[]).map_err(|error| {
        anyhow!(
            "cannot preprocess {}: {}\nhint: arguments for the compiler go behind `--`, as in \
             `edgewise cfg a.c -- -Iinclude`",
            args.file,
            format!("{error:#}").trim_end()
        )
    })?;
    let analysed = unit::analyse(&project, &unit, &job, &preprocessed, &FxHashMap::default());
    let record = analysed.record(&project, &unit, &job, None);
    let mut found = false;
    for (procedure, graph) in record.index.procedures.iter().zip(&record.graphs) {
        if args.function.as_ref().is_some_and(|name| *name != procedure.name) {
            continue;
        }
        found = true;
        if let Some(why) = &procedure.opaque {
            printer::tell(&format!("{} is opaque: {why}\n", procedure.name));
        }
        let picture = match format {
            Format::Text => graph::text(&record.index, &procedure.name, graph),
            Format::Dot => graph::dot(&record.index, &procedure.name, graph),
            Format::Svg => svg::document(&Picture::of(&record.index, graph), &procedure.name)
                .map_err(|why| {
                    anyhow!(
                        "{}: {why}\nhint: `--format text` and `--format dot` take graphs of any size",
                        procedure.name
                    )
                })?,
        };
        let picture = format!("{}\n", picture.trim_end());
        match format {
            Format::Text => printer::show(&picture),
            Format::Dot | Format::Svg => printer::data(&picture),
        }
        // Nested procedures may share a name; a document holds one picture.
        if format == Format::Svg {
            break;
        }
    }
    match &args.function {
        Some(name) if !found => bail!("{} defines no procedure `{name}`", args.file),
        _ => Ok(exit::OK),
    }
}
