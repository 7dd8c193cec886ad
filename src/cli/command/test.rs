//! `edgewise test`: build, select, run the selected, bring the history up to
//! date.

use super::build;
use super::run::{RunArgs, exit_code, not_run, summary};
use crate::cli::building::{self, Extent};
use crate::cli::exit;
use crate::cli::recording;
use crate::cli::selecting;
use crate::cli::snapshot::Source;
use crate::cli::workspace::Workspace;
use crate::report::results::{Fate, TestResult};
use crate::report::text;
use crate::select::Algorithm;
use crate::suite::TestCase;
use crate::suite::schedule::with_fixtures;
use std::collections::HashSet;

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
        let built =
            building::build(&workspace, build::configured(&workspace)?, Extent::Everything)?;
        if built.code != 0 {
            eprintln!("edgewise: the build failed with code {}", built.code);
            return Ok(built.code);
        }
    }
    let tests = workspace.tests(&history)?;
    let known: HashSet<&str> = tests.iter().map(|test| test.name.as_str()).collect();
    history.retain_tests(|name| known.contains(name));
    let (disabled, tests): (Vec<_>, Vec<_>) = tests.into_iter().partition(|t| t.disabled.is_some());
    let selected = selecting::select(&workspace, &history, &tests, Source::Build, Algorithm::Auto)?;
    eprint!("{}", text::selection(&selected.report));
    recording::carry_over(&workspace, &mut history, &selected)?;
    history.commit()?;
    let names: HashSet<&str> =
        selected.report.selected.iter().map(|(name, _)| name.as_str()).collect();
    let to_run = with_fixtures(&tests, |test| names.contains(test.name.as_str()));
    let run: HashSet<&str> = to_run.iter().map(|test| test.name.as_str()).collect();
    let others = tests.iter().filter(|test| !run.contains(test.name.as_str()));
    let not_run: Vec<TestResult> =
        others.map(not_selected).chain(disabled.iter().map(not_run)).collect();
    if to_run.is_empty() {
        args.options.report(&not_run)?;
        return Ok(exit::OK);
    }
    let mut results = recording::run(
        &workspace,
        &mut history,
        &to_run,
        &selected.files,
        &args.options.options(),
    )?;
    results.tests.extend(not_run);
    args.options.report(&results.tests)?;
    eprint!("{}", summary(&results));
    Ok(exit_code(&results))
}

fn not_selected(test: &TestCase) -> TestResult {
    let why = String::from("safely skipped: no change can affect it");
    TestResult { name: test.name.clone(), fate: Fate::NotSelected, why, ..TestResult::default() }
}
