//! `edgewise history log`: the versions that there are rows of.

use super::NO_HISTORY;
use crate::cli::exit;
use crate::cli::printer::{self, Stream};
use crate::cli::versions;
use crate::cli::workspace::Workspace;
use crate::report::text::counted;
use crate::report::time;

/// List the versions of the programs that the history knows, the newest first
///
/// `select` and `test` compare with the one that is most like what is there, or with
/// the one that --against names.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  edgewise history log")]
pub struct Args {
    /// Print it for programs
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let history = Workspace::open_without_suites()?.history()?;
    let snapshots = history.snapshots()?;
    if args.json {
        let value = serde_json::json!({ "version": 1, "snapshots": snapshots });
        printer::data(&format!("{value:#}\n"));
        return Ok(exit::OK);
    }
    let style = Stream::Out.style();
    for snapshot in &snapshots {
        let last = if snapshot.is_current { "  (the last one)" } else { "" };
        printer::show(&format!(
            "{}  {}  {}, {}{last}\n",
            style.name(&versions::short(snapshot.id)),
            time::of_day(snapshot.seconds),
            counted(snapshot.tests as usize, "test"),
            counted(snapshot.units, "unit"),
        ));
    }
    if snapshots.is_empty() {
        printer::tell(NO_HISTORY);
    }
    Ok(exit::OK)
}
