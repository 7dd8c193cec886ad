//! `edgewise history gc`: room.

use crate::cli::exit;
use crate::cli::workspace::Workspace;

/// Write the history anew, without what no test needs any more
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  edgewise history gc")]
pub struct Args {}

pub fn run(_args: &Args) -> anyhow::Result<i32> {
    let workspace = Workspace::open_without_suites()?;
    let _lock = workspace.lock()?;
    let mut history = workspace.history()?;
    let before = history.size();
    history.compact()?;
    let kilobytes = |bytes: u64| bytes.div_ceil(1000);
    eprintln!("{} kB, before {} kB", kilobytes(history.size()), kilobytes(before));
    Ok(exit::OK)
}
