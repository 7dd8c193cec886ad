//! `edgewise select`: which tests, and why.

use crate::cli::exit;
use crate::cli::selecting;
use crate::cli::snapshot::Source;
use crate::cli::workspace::Workspace;
use crate::report::{json, text};
use crate::select::Algorithm;
use std::io::IsTerminal;

/// Say which tests a change can affect, and why
///
/// Compares the sources as they are now with the version that the history was
/// recorded on. Nothing is built or run. Names go to stdout, reasons to stderr.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  edgewise select\n  edgewise select --format json | jq -r '.selected[].name'"
)]
pub struct Args {
    /// What to print
    #[arg(long, value_enum, default_value = "names")]
    format: Format,
    /// Compare with the programs as they are built, instead of the sources
    #[arg(long)]
    from_build: bool,
    /// How to select; all but the default are for comparison
    #[arg(long, value_enum, default_value = "auto")]
    algorithm: Algorithm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// One name a line, with the reasons on stderr
    Names,
    /// Everything, for programs
    Json,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let workspace = Workspace::open()?;
    let history = workspace.history()?;
    let mut tests = workspace.tests(&history)?;
    tests.retain(|test| test.disabled.is_none());
    let source = if args.from_build { Source::Build } else { Source::Sources };
    let selected = selecting::select(&workspace, &history, &tests, source, args.algorithm)?;
    match args.format {
        Format::Json => println!("{:#}", json::selection(&selected.report)),
        // On a terminal the two streams make one text; otherwise each is
        // complete by itself.
        Format::Names if std::io::stdout().is_terminal() => {
            for group in text::groups(&selected.report) {
                group.names.iter().for_each(|name| println!("{name}"));
                eprintln!("{}", group.reasons);
            }
            eprint!("{}", text::summary(&selected.report));
        }
        Format::Names => {
            eprint!("{}", text::selection(&selected.report));
            for (name, _) in &selected.report.selected {
                println!("{name}");
            }
        }
    }
    Ok(exit::OK)
}
