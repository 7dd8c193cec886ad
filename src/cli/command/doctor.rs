//! `edgewise doctor`: whether the project is set up so that answers can be relied upon.

use crate::cli::{examining, exit, printer};
use crate::report::doctor::{self, Recorded};

/// Lines of one kind that are shown without --all.
const SHOWN: usize = 10;

/// Say whether the project is set up well, what is assumed, and what to do
///
/// Looks at the configuration, compilers, programs, tests and the history: what is
/// instrumented and what is not, and why; which tests are selected each time; which
/// programs are not what their sources would make. Works at every stage of a project,
/// also before the first build.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Ends with OK, or with a list of what to do and exit code 7 (3 if the history
cannot be used). Edits that were not built or tested yet are told, and are no fault."
)]
pub struct Args {
    /// Show everything, however much it is
    #[arg(long)]
    all: bool,
    /// What to print
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let health = examining::examine()?;
    match args.format {
        Format::Json => printer::data(&format!("{:#}\n", health.json())),
        Format::Text => {
            printer::show(&doctor::text(&health, if args.all { usize::MAX } else { SHOWN }));
        }
    }
    Ok(match health.history {
        Recorded::Unusable { .. } => exit::HISTORY_UNUSABLE,
        _ if doctor::advice(&health).is_empty() => exit::OK,
        _ => exit::TO_DO,
    })
}
