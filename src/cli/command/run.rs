//! `edgewise run`: tests into the history.

use crate::cli::exit;
use crate::cli::files;
use crate::cli::recording::{self, NO_PROGRAM, Results, RunOptions};
use crate::cli::workspace::Workspace;
use crate::report::text::counted;
use crate::suite::TestCase;
use anyhow::bail;
use std::time::Duration;

/// Run tests and record which edges each of them takes
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  edgewise run\n  edgewise run -j4 parser/")]
pub struct Args {
    /// Run only tests whose name contains one of these
    filters: Vec<String>,
    #[command(flatten)]
    pub options: RunArgs,
}

/// How tests are run.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// Tests at a time; without it, one for each core
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Seconds after which a test is ended and counts as failed
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
}

impl RunArgs {
    pub fn options(&self) -> RunOptions {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        RunOptions {
            jobs: self.jobs.map_or(cores, usize::from),
            timeout: self.timeout.map(Duration::from_secs),
        }
    }
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let workspace = Workspace::open()?;
    let all = workspace.config.tests(&workspace.project.root)?;
    let tests: Vec<TestCase> = all
        .iter()
        .filter(|test| {
            args.filters.is_empty() || args.filters.iter().any(|f| test.name.contains(f))
        })
        .cloned()
        .collect();
    if tests.is_empty() {
        bail!("no test matches {}", args.filters.join(", "));
    }
    let _lock = workspace.lock()?;
    let mut history = workspace.history()?;
    history.retain_tests(|name| all.iter().any(|test| test.name == name));
    let files = files::as_built(&workspace, files::scan(&workspace)?)?;
    let results =
        recording::run(&workspace, &mut history, &tests, &files, &args.options.options())?;
    eprint!("{}", summary(&results));
    Ok(exit_code(&results))
}

pub fn exit_code(results: &Results) -> i32 {
    if results.interrupted {
        exit::INTERRUPTED
    } else if results.failed > 0 {
        exit::TESTS_FAILED
    } else {
        exit::OK
    }
}

pub fn summary(results: &Results) -> String {
    let Results { passed, failed, interrupted, unclean, steps, compared } = results;
    let mut out = format!("{passed} passed, {failed} failed");
    if *interrupted {
        out.push_str(", interrupted: what was recorded stays, the others stay selected");
    }
    out.push('\n');
    if *steps > 0 {
        out.push_str(&format!("{steps} steps logged, {compared} edges laid beside them\n"));
    }
    if let Some((name, why)) = unclean.first() {
        out.push_str(&format!(
            "warning: {} without a complete trace, which stay selected; for example {name}: {why}\n",
            counted(unclean.len(), "test")
        ));
        let all = unclean.iter().all(|(_, why)| why == NO_PROGRAM);
        if all && unclean.len() == passed + failed {
            out.push_str("hint: build the programs with `edgewise build` first\n");
        }
    }
    out
}
