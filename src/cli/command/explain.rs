//! `edgewise explain`: why a test is selected or may be skipped, whom a change of a
//! function or a line concerns.

use crate::cli::completing;
use crate::cli::explaining::{self, Question};
use crate::cli::snapshot::Source;
use crate::cli::workspace::Workspace;
use crate::cli::{exit, printer, word};
use crate::select::Algorithm;

/// Say why a test is selected or may be skipped, or whom a function or a line concerns
///
/// Compares as `edgewise select` does. Of a test it says what changed and on which edge the
/// test gets there, with the rule that applies, or why it may be skipped; of a function or a
/// line, whether it changed, which tests reach it, and which of them are selected for it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  edgewise explain cli/median-even         a test, with or without its suite
  edgewise explain stats_median            a function
  edgewise explain lib/stats.c:clamp       a function of one file
  edgewise explain lib/stats.c:47          a line, as the file is now

A name that means several things is answered for each of them, if these are no more than eight.")]
pub struct Args {
    /// A test, a function, or a line as FILE:LINE
    #[arg(required = true, value_parser = word(), add = completing::tests())]
    what: Vec<String>,
    /// Compare with the programs as they are built, instead of the sources
    #[arg(long)]
    from_build: bool,
    /// Compare with this version of the history, as `edgewise history log` names it. The
    /// default is the one that is most like what is there
    #[arg(long, value_name = "ID", add = completing::versions())]
    against: Option<String>,
    /// How to select; all but the default are for comparison
    #[arg(long, value_enum, default_value = "auto")]
    algorithm: Algorithm,
    /// What to print
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let question = Question {
        what: &args.what,
        source: if args.from_build { Source::Build } else { Source::Sources },
        against: args.against.as_deref(),
        algorithm: args.algorithm,
        only_tests: false,
    };
    answer(&Workspace::open()?, &question, args.format)
}

/// Prints the answers to a question.
pub fn answer(
    workspace: &Workspace,
    question: &Question<'_>,
    format: Format,
) -> anyhow::Result<i32> {
    let (answers, hints) = explaining::answer(workspace, question)?;
    match format {
        Format::Json => printer::data(&format!("{:#}\n", answers.json())),
        Format::Text => printer::show(&answers.text()),
    }
    hints.iter().for_each(|hint| printer::tell(&format!("hint: {hint}\n")));
    Ok(exit::OK)
}
