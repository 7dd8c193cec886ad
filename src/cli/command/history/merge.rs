//! `edgewise history merge`: histories of several machines into one.

use crate::cli::exit;
use crate::cli::printer;
use crate::cli::workspace::Workspace;
use crate::history::History;
use crate::history::merge::{Merged, merge, merge_beyond};
use crate::report::text::{counted, one_line};
use anyhow::ensure;
use std::path::PathBuf;

/// How many tests that are not the same everywhere are named.
const NAMED: usize = 10;

/// Merge histories: those of CI's shards, say
///
/// The result does not depend on their order. A test that did not pass everywhere, or
/// whose trace is not complete everywhere, stays selected.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  edgewise history merge shard-*/.edgewise/history\n  \
                  edgewise history merge --update shard-*/.edgewise/history")]
pub struct Args {
    /// Histories to merge, beside the project's own if it has one
    #[arg(required = true, value_name = "FILE")]
    histories: Vec<PathBuf>,
    /// Write the result here, and leave the project's own history alone
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What these histories say of a test takes the place of what the project's own says: they
    /// began with a copy of it, and were recorded since
    #[arg(long, conflicts_with = "output")]
    update: bool,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let mut inputs = Vec::new();
    for path in &args.histories {
        ensure!(path.exists(), "there is no history `{}`", path.display());
        inputs.push(History::open(path)?);
    }
    let merged = match &args.output {
        Some(output) => merge(&inputs, output)?,
        None if args.update => update(&inputs)?,
        None => {
            let workspace = Workspace::open_without_suites()?;
            let _lock = workspace.lock()?;
            inputs.push(workspace.history()?);
            merge(&inputs, &workspace.history_path())?
        }
    };
    for (name, what) in merged.conflicts.iter().take(NAMED) {
        printer::tell(&format!("{}: {what}\n", one_line(name)));
    }
    if let Some(more) = merged.conflicts.len().checked_sub(NAMED).filter(|more| *more > 0) {
        let more = counted(more, "more test");
        printer::tell(&format!("and {more} not the same everywhere\n"));
    }
    let tests = counted(merged.tests, "test");
    let histories = match inputs.len() {
        1 => String::from("1 history"),
        count => format!("{count} histories"),
    };
    printer::tell(&format!("{tests} from {histories}\n"));
    Ok(exit::OK)
}

/// What they have together beyond the project's own history, into that.
fn update(inputs: &[History]) -> anyhow::Result<Merged> {
    let workspace = Workspace::open_without_suites()?;
    let _lock = workspace.lock()?;
    let mut own = workspace.history()?;
    let together = tempfile::Builder::new().prefix("merge.").tempfile_in(workspace.state())?;
    let merged = merge_beyond(inputs, Some(&own), together.path())?;
    own.take(&History::open(together.path())?)?;
    own.commit()?;
    Ok(merged)
}
