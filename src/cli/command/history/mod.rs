//! `edgewise history`: what was recorded, for people and for other tools.

mod diff;
mod export;
mod gc;
mod log;
mod merge;
mod show;

use clap::Subcommand;

/// Said by those that have nothing to list: that is no error.
const NO_HISTORY: &str = "there is no history yet: `edgewise run` records one\n";

/// Look at the history, merge histories, or make room
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    edgewise history show lib/stats.c:47\n  \
    edgewise history merge shard-1/history shard-2/history")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Merge(merge::Args),
    Show(show::Args),
    Export(export::Args),
    Gc(gc::Args),
    Log(log::Args),
    Diff(diff::Args),
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    match &args.command {
        Command::Merge(args) => merge::run(args),
        Command::Show(args) => show::run(args),
        Command::Export(args) => export::run(args),
        Command::Gc(args) => gc::run(args),
        Command::Log(args) => log::run(args),
        Command::Diff(args) => diff::run(args),
    }
}
