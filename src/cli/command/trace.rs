//! `edgewise trace`: one test that somebody else runs.

use crate::cli::completing;
use crate::cli::files::Files;
use crate::cli::recording;
use crate::cli::workspace::Workspace;
use crate::compiler::project::relative;
use crate::history::format::Outsider;
use crate::suite::TestCase;
use crate::trace::format::ENVIRONMENT;
use anyhow::{Context, bail};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Run one command as a test, for harnesses that run tests themselves
///
/// The command runs where you are, with its own input and output, and its exit
/// code is that of this command. What it did goes into the history under the
/// name: of a test of a suite, or of any other, which is then known by its
/// command from now on. Several may run at a time.
///
/// The programs find the directory for their traces in the variable
/// EDGEWISE_TRACE, which has to reach them; without it they run as if they were
/// not instrumented. A command that is part of a test already, since the variable
/// is set, counts for that test.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  edgewise trace --test parser/empty -- ./run-test.sh empty")]
pub struct Args {
    /// The name of the test
    #[arg(long, value_name = "NAME", add = completing::tests())]
    test: String,
    /// The command and its arguments
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    if std::env::var_os(ENVIRONMENT).is_some() {
        let error = Command::new(&args.command[0]).args(&args.command[1..]).exec();
        bail!("cannot run {}: {error}", args.command[0]);
    }
    let workspace = Workspace::open_without_suites()?;
    let root = &workspace.project.root;
    let here = std::env::current_dir().context("no working directory")?;
    let outsider = Outsider { command: args.command.clone(), directory: relative(root, &here) };
    let tests = match workspace.config.has_suites() {
        true => workspace.config.tests(root)?,
        false => Vec::new(),
    };
    let listed = tests.into_iter().find(|test| test.name == args.test);
    let as_given = TestCase::outsider(&args.test, &outsider);
    let test = listed.clone().unwrap_or_else(|| as_given.clone());
    // The harness knows how to run it, and when.
    let to_run = TestCase { judgement: test.judgement.clone(), ..as_given };
    let files = Files::scan(&workspace)?;
    let finished = recording::run_one(&workspace, &to_run)?;
    let status = finished.ran.status;
    let outsider = listed.is_none().then_some(outsider);
    let _lock = workspace.lock_quietly()?;
    let mut history = workspace.history()?;
    recording::record_one(&workspace, &mut history, &test, &files, finished, outsider)?;
    Ok(crate::compiler::exit_code(status))
}
