//! The proof on real projects: edits of their sources and pairs of their versions,
//! with all tests run on both sides. Whoever does something else must be selected.
//!
//! `scripts/study` prepares the subjects and calls this.

mod change;
mod coverage;
#[path = "../figures.rs"]
mod figures;
mod outcome;
mod path;
mod plan;
mod plot;
mod record;
mod report;
mod selection;
mod subject;
mod sums;
mod table;
mod tables;
mod tests;
mod tree;

#[path = "../../tests/support/mutants/mod.rs"]
mod mutants;

use clap::{Parser, Subcommand};
use std::path::PathBuf;

#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    what: What,
    /// Cargo says this to every benchmark
    #[arg(long, hide = true, global = true)]
    bench: bool,
}

#[derive(Subcommand)]
enum What {
    /// Does whoever behaves differently get selected?
    Outcome(outcome::Args),
    /// How near do the algorithms come to the tests whose path differs?
    Path(path::Args),
    /// Tables, CSV, JSON and plots of all that is known by now
    Report {
        /// Where the results of the subjects are
        #[arg(long)]
        results: PathBuf,
        /// Where the pages go
        #[arg(long)]
        out: PathBuf,
    },
}

fn main() -> anyhow::Result<()> {
    match Args::parse().what {
        What::Outcome(args) => outcome::run(&args),
        What::Path(args) => path::run(&args),
        What::Report { results, out } => report::write(&results, &out),
    }
}
