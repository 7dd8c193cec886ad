//! `edgewise trace`: one test that somebody else runs.

use crate::bytes;
use crate::cli::completing;
use crate::cli::exit;
use crate::cli::files::Files;
use crate::cli::recording;
use crate::cli::word;
use crate::cli::workspace::Workspace;
use crate::compiler::project::relative;
use crate::history::format::{Outcome, Outsider};
use crate::suite::TestCase;
use crate::trace::format::ENVIRONMENT;
use anyhow::{Context, bail, ensure};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Run one command as a test, for harnesses that run tests themselves
///
/// The command runs where you are, with its own input and output, and its exit
/// code is that of this command. What it did goes into the history under the
/// name: of a test of a suite, or of any other. Several may run at a time.
///
/// Whether the test passed is for the harness to say, since it may look at what
/// the command prints. Until it does, the test stays selected. Only the harness
/// runs such a test again, unless a suite lists it.
///
/// The programs find the directory for their traces in the variable
/// EDGEWISE_TRACE, which has to reach them; without it they run as if they were
/// not instrumented. A command that is part of a test already, since the variable
/// is set, counts for that test.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    edgewise trace --test parser/empty -- ./parser empty.txt > out\n  \
    cmp out expected && edgewise trace --test parser/empty --verdict passed\n  \
    edgewise trace --test parser/empty --verdict exit-status -- ./run-test.sh empty")]
pub struct Args {
    /// The name of the test
    #[arg(long, value_name = "NAME", value_parser = word(), add = completing::tests())]
    test: String,
    /// What the harness says of the test: with a command, that its exit status
    /// decides; without one, how the test ended that was traced before
    #[arg(long, value_name = "VERDICT")]
    verdict: Option<Verdict>,
    /// The command and its arguments
    #[arg(last = true, value_parser = word())]
    command: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Verdict {
    /// The command is all of the test, with every check of it
    ExitStatus,
    /// The test that was traced before passed
    Passed,
    /// The test that was traced before failed
    Failed,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let is_judged = args.verdict == Some(Verdict::ExitStatus);
    if args.command.is_empty() {
        return judge(args);
    }
    ensure!(
        args.verdict.is_none() || is_judged,
        "a verdict comes after the command\nhint: `--verdict exit-status` if the exit status of \
         the command decides"
    );
    if is_part_of_a_test() {
        let error =
            Command::new(&*bytes::os(&args.command[0])).args(bytes::all(&args.command[1..])).exec();
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
    let outsider = if listed.is_none() { outsider } else { recording::of_listed(&outsider) };
    let _lock = workspace.lock_quietly()?;
    let mut history = workspace.history()?;
    recording::record_one(&workspace, &mut history, &test, &files, finished, outsider, is_judged)?;
    Ok(crate::compiler::exit_code(status))
}

/// Whether a test or a build that is traced runs this command. An empty variable names no directory.
fn is_part_of_a_test() -> bool {
    std::env::var_os(ENVIRONMENT).is_some_and(|directory| !directory.is_empty())
}

/// What the harness says of a test that it traced before.
fn judge(args: &Args) -> anyhow::Result<i32> {
    let outcome = match args.verdict {
        Some(Verdict::Passed) => Outcome::Passed,
        Some(Verdict::Failed) => Outcome::Failed,
        Some(Verdict::ExitStatus) | None => {
            bail!(
                "there is no command to run\nhint: edgewise trace --test {} -- COMMAND",
                args.test
            )
        }
    };
    // Part of a test of a suite, which is judged by that.
    if is_part_of_a_test() {
        return Ok(exit::OK);
    }
    let workspace = Workspace::open_without_suites()?;
    let _lock = workspace.lock_quietly()?;
    let mut history = workspace.history()?;
    recording::judge(&mut history, &args.test, outcome)?;
    Ok(exit::OK)
}
