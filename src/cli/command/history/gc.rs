//! `edgewise history gc`: room.

use crate::cli::exit;
use crate::cli::printer;
use crate::cli::workspace::Workspace;

/// Make room: write the history anew, without what no version needs any more
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  edgewise history gc\n  edgewise history gc --keep 0")]
pub struct Args {
    /// Forget all but the N newest of the earlier versions
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let workspace = Workspace::open_without_suites()?;
    let _lock = workspace.lock()?;
    let mut history = workspace.history()?;
    let before = history.size();
    if let Some(count) = args.keep {
        history.keep_snapshots(count);
    }
    history.compact()?;
    let kilobytes = |bytes: u64| bytes.div_ceil(1000);
    let (now, before) = (kilobytes(history.size()), kilobytes(before));
    printer::tell(&format!("the history takes {now} kB now, {before} kB before\n"));
    Ok(exit::OK)
}
