//! `edgewise test`: build, select, run the selected, bring the history up to
//! date.

use super::build;
use super::run::{RunArgs, exit_code, summary};
use crate::cli::building;
use crate::cli::exit;
use crate::cli::recording;
use crate::cli::selecting;
use crate::cli::snapshot::Source;
use crate::cli::workspace::Workspace;
use crate::report::text;
use crate::suite::TestCase;

/// Build, run the tests that the change can affect, and update the history
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  edgewise test -j4")]
pub struct Args {
    /// Do not build first
    #[arg(long)]
    no_build: bool,
    #[command(flatten)]
    options: RunArgs,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let workspace = Workspace::open()?;
    let _lock = workspace.lock()?;
    // Looked at before anything is built: a history that cannot be used says so.
    let mut history = workspace.history()?;
    if args.no_build {
        eprintln!("edgewise: not built first, so edits since the last build are not seen");
    } else {
        let built = building::build(&workspace, build::configured(&workspace)?)?;
        if built.code != 0 {
            eprintln!("edgewise: the build failed with code {}", built.code);
            return Ok(built.code);
        }
    }
    let tests = workspace.config.tests(&workspace.project.root)?;
    history.retain_tests(|name| tests.iter().any(|test| test.name == name));
    let selected = selecting::select(&workspace, &history, &tests, Source::Build)?;
    eprint!("{}", text::selection(&selected.report));
    recording::carry_over(&workspace, &mut history, &selected)?;
    history.commit()?;
    let to_run: Vec<TestCase> = tests
        .into_iter()
        .filter(|test| selected.report.selected.iter().any(|(name, _)| *name == test.name))
        .collect();
    if to_run.is_empty() {
        return Ok(exit::OK);
    }
    let results = recording::run(
        &workspace,
        &mut history,
        &to_run,
        &selected.files,
        &args.options.options(),
    )?;
    eprint!("{}", summary(&results));
    Ok(exit_code(&results))
}
