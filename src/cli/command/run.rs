//! `edgewise run`: tests into the history.

use super::wanted::Wanted;
use crate::bytes;
use crate::cli::exit;
use crate::cli::files::Files;
use crate::cli::printer;
use crate::cli::recording::{self, NO_PROGRAM, Results, RunOptions};
use crate::cli::selecting;
use crate::cli::shadowing;
use crate::cli::snapshot::Source;
use crate::cli::workspace::Workspace;
use crate::history::History;
use crate::report::doctor::Way;
use crate::report::results::{self, Fate, TestResult};
use crate::report::shadow::Shadow;
use crate::report::text::{counted, one_line};
use crate::report::{Report, markdown};
use crate::select::Algorithm;
use crate::suite::TestCase;
use crate::suite::schedule::with_fixtures;
use anyhow::{Context, bail};
use std::collections::HashSet;
use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

/// Run tests and record which edges each of them takes
///
/// All tests, unless arguments say which. The programs have to be built with `edgewise build` first.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  edgewise run\n  edgewise run -j4 parser/\n  edgewise run --shard 2/8 --junit results.xml\n  \
                  edgewise select | edgewise run --names -\n  edgewise run --shadow --json results.json"
)]
pub struct Args {
    #[command(flatten)]
    wanted: Wanted,
    /// Run only those that this file names, one a line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    names: Option<PathBuf>,
    /// Run them all the same, and say what selection would have skipped, what
    /// that would have saved, and whether a skipped test failed
    ///
    /// Selection looks at the programs as they are built. The exit code is 5 if a
    /// test failed that would have been skipped.
    #[arg(long)]
    shadow: bool,
    #[command(flatten)]
    pub options: RunArgs,
}

/// How tests are run.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// How many tests run at a time; without it, one for each core
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Seconds after which a test is ended and counts as failed, unless its
    /// suite says otherwise
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// Try a test that fails again, up to N times; one that then passes counts
    /// as unstable
    #[arg(long, value_name = "N", default_value_t = 0)]
    retries: u32,
    /// Run each test N times, to find those that do not do the same each time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Write the results as JUnit's XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a summary for a pull request, as Markdown: what ran, what failed, what was skipped
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

impl RunArgs {
    pub fn options(&self) -> RunOptions {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        RunOptions {
            jobs: self.jobs.map_or(cores, usize::from),
            timeout: self.timeout.map(Duration::from_secs),
            retries: self.retries,
            repeat: self.repeat,
        }
    }

    pub fn writes_markdown(&self) -> bool {
        self.markdown.is_some()
    }

    /// Whether the reports have a place, before a long run shows that they have none.
    pub fn check(&self) -> anyhow::Result<()> {
        for path in [&self.junit, &self.json, &self.markdown].into_iter().flatten() {
            let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            if let Some(directory) = directory.filter(|directory| !directory.is_dir()) {
                bail!(
                    "cannot write {}: there is no directory {}",
                    path.display(),
                    directory.display()
                );
            }
        }
        Ok(())
    }

    /// Writes the reports that were asked for.
    pub fn report(
        &self,
        tests: &[TestResult],
        selection: Option<&Report>,
        shadow: Option<&Shadow>,
    ) -> anyhow::Result<()> {
        if let Some(path) = &self.markdown {
            let text = markdown::results(tests, selection, shadow);
            fs_err::write(path, text).context("cannot write the summary")?;
        }
        if let Some(path) = &self.junit {
            fs_err::write(path, results::junit(tests)).context("cannot write the results")?;
        }
        if let Some(path) = &self.json {
            let mut value = results::json(tests);
            if let Some(shadow) = shadow {
                value["shadow"] = serde_json::json!(shadow);
            }
            let text = format!("{value:#}\n");
            fs_err::write(path, text).context("cannot write the results")?;
        }
        Ok(())
    }
}

impl Args {
    /// The names that a file asks for, each of which has to be a test.
    fn listed(&self, all: &[TestCase]) -> anyhow::Result<Option<HashSet<String>>> {
        let Some(path) = &self.names else { return Ok(None) };
        let mut text = Vec::new();
        match path.as_os_str() == "-" {
            true => std::io::stdin().read_to_end(&mut text),
            false => fs_err::File::open(path).and_then(|mut file| file.read_to_end(&mut text)),
        }
        .context("cannot read the names")?;
        let text = bytes::to_text(&text);
        // As `select` prints them.
        let known: HashSet<String> = all.iter().map(|test| one_line(&test.name)).collect();
        let names: HashSet<String> =
            text.lines().filter(|line| !line.is_empty()).map(str::to_string).collect();
        if let Some(name) = names.iter().find(|name| !known.contains(*name)) {
            bail!("no test is called `{name}`");
        }
        Ok(Some(names))
    }
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    args.options.check()?;
    let workspace = Workspace::open()?;
    let _lock = workspace.lock()?;
    let mut history = workspace.history()?;
    let all = workspace.tests(&history)?;
    let listed = args.listed(&all)?;
    let is_listed =
        |test: &TestCase| listed.as_ref().is_none_or(|names| names.contains(&one_line(&test.name)));
    let tests = with_fixtures(&all, |test| args.wanted.holds(test) && is_listed(test));
    if tests.is_empty() && (listed.is_none() || args.wanted.has_filters()) {
        args.wanted.complain()?;
    }
    let (disabled, tests): (Vec<_>, Vec<_>) = tests.into_iter().partition(|t| t.disabled.is_some());
    let (by_harness, tests): (Vec<_>, Vec<_>) = tests.into_iter().partition(|t| t.by_harness);
    let known: HashSet<&str> = all.iter().map(|test| test.name.as_str()).collect();
    history.retain_tests(|name| known.contains(name));
    if args.shadow {
        let others = disabled.iter().map(not_run).chain(by_harness.iter().map(left_to_harness));
        let others: Vec<TestResult> = others.collect();
        return run_in_shadow(args, &workspace, &mut history, &all, &tests, others);
    }
    let files = Files::scan(&workspace)?;
    let mut results =
        recording::run(&workspace, &mut history, &tests, &files, &args.options.options())?;
    results.tests.extend(disabled.iter().map(not_run));
    results.tests.extend(by_harness.iter().map(left_to_harness));
    args.options.report(&results.tests, None, None)?;
    printer::tell(&summary(&workspace, &results));
    printer::tell(&harness_hint(&by_harness));
    let is_asked_for = listed.is_some() || args.wanted.has_filters();
    Ok(match exit_code(&results) {
        exit::OK if is_asked_for && !by_harness.is_empty() => exit::INCOMPLETE,
        code => code,
    })
}

/// The same, with a selection beside it that nobody follows.
fn run_in_shadow(
    args: &Args,
    workspace: &Workspace,
    history: &mut History,
    all: &[TestCase],
    tests: &[TestCase],
    others: Vec<TestResult>,
) -> anyhow::Result<i32> {
    // Of all tests: a fixture that is not run may be what selects one.
    let enabled: Vec<TestCase> =
        all.iter().filter(|test| test.disabled.is_none()).cloned().collect();
    let project = selecting::Project::look_at(workspace, Source::Build)?;
    let selected = selecting::select(workspace, history, &enabled, project, Algorithm::Auto)?;
    let expected = shadowing::expect(history, &selected)?;
    let options = args.options.options();
    let mut results = recording::run(workspace, history, tests, &selected.files, &options)?;
    let shadow = shadowing::compare(&expected, history, &selected, &results.tests)?;
    results.tests.extend(others);
    args.options.report(&results.tests, None, Some(&shadow))?;
    printer::tell(&format!("{}{}", summary(workspace, &results), shadow.text()));
    Ok(match exit_code(&results) {
        exit::OK | exit::TESTS_FAILED if !shadow.missed.is_empty() => exit::MISSED,
        code => code,
    })
}

/// A test that its suite says not to run.
pub fn not_run(test: &TestCase) -> TestResult {
    let why = test.disabled.clone().unwrap_or_default();
    TestResult { name: test.name.clone(), fate: Fate::Disabled, why, ..TestResult::default() }
}

/// A test that only its harness runs.
pub fn left_to_harness(test: &TestCase) -> TestResult {
    let why = String::from("only its harness can run it");
    TestResult { name: test.name.clone(), fate: Fate::Unjudged, why, ..TestResult::default() }
}

/// What to do about tests that were not run because only a harness can run them.
pub fn harness_hint(tests: &[TestCase]) -> String {
    let Some(first) = tests.first() else { return String::new() };
    let (count, name) = (counted(tests.len(), "test"), one_line(&first.name));
    format!(
        "{count} not run: only a harness that calls `edgewise trace` runs {name}\n\
         hint: run the harness, or configure it as a suite\n"
    )
}

pub fn exit_code(results: &Results) -> i32 {
    if results.interrupted {
        exit::INTERRUPTED
    } else if results.tests.iter().any(|test| test.fate.is_failure()) {
        exit::TESTS_FAILED
    } else {
        exit::OK
    }
}

pub fn summary(workspace: &Workspace, results: &Results) -> String {
    let count = |which: fn(Fate) -> bool| results.tests.iter().filter(|t| which(t.fate)).count();
    let (passed, failed) = (count(|fate| fate == Fate::Passed), count(Fate::is_failure));
    let mut out = format!("{passed} passed, {failed} failed");
    for (fate, what) in [(Fate::Skipped, "skipped by themselves"), (Fate::Disabled, "disabled")] {
        let count = results.tests.iter().filter(|test| test.fate == fate).count();
        if count > 0 {
            out.push_str(&format!(", {count} {what}"));
        }
    }
    if results.interrupted {
        out.push_str(", interrupted: what was recorded stays, the others stay selected");
    }
    out.push('\n');
    if results.steps > 0 {
        let Results { steps, compared, .. } = results;
        out.push_str(&format!("{steps} steps logged, {compared} edges laid beside them\n"));
    }
    let unstable: Vec<_> = results.tests.iter().filter(|test| test.unstable).collect();
    if let Some(first) = unstable.first() {
        out.push_str(&format!(
            "warning: {} not the same each time; for example {}\n",
            counted(unstable.len(), "test"),
            first.name
        ));
    }
    let unclean: Vec<(&str, &str)> = results
        .tests
        .iter()
        .filter_map(|test| Some((test.name.as_str(), test.unclean.as_deref()?)))
        .collect();
    if let Some((name, why)) = unclean.first() {
        out.push_str(&format!(
            "warning: {} without a complete trace, which {} selected; for example {name}: {why}\n",
            counted(unclean.len(), "test"),
            if unclean.len() == 1 { "stays" } else { "stay" }
        ));
        let all = unclean.iter().all(|(_, why)| *why == NO_PROGRAM);
        if all && unclean.len() == passed + failed {
            out.push_str(&untraced(workspace));
        }
    }
    out
}

/// What to do if no program that tests ran has probes.
fn untraced(workspace: &Workspace) -> String {
    if !workspace.state().join("builds.json").exists() {
        return String::from("hint: build the programs with `edgewise build` first\n");
    }
    let is_there = |name: &str| workspace.project.root.join(crate::bytes::path(name)).exists();
    let way = Way::of(workspace.config.build.command.as_deref(), &is_there);
    format!(
        "hint: the programs have no probes: they were built without edgewise, and no later build \
         made them again; `{}` does that, and `edgewise doctor` says more\n",
        way.build_anew()
    )
}
