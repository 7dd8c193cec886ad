//! `edgewise test`: build, select, run the selected, bring the history up to
//! date.

use super::build;
use super::run::{RunArgs, exit_code, harness_hint, left_to_harness, not_run, summary};
use super::wanted::Wanted;
use crate::cli::building::{self, Extent};
use crate::cli::completing;
use crate::cli::exit;
use crate::cli::printer::{self, Stream};
use crate::cli::recording;
use crate::cli::selecting::{self, Project};
use crate::cli::snapshot::Source;
use crate::cli::unprobed::{self, Affected, Known};
use crate::cli::versions;
use crate::cli::workspace::Workspace;
use crate::compiler::selective::{self, Selective};
use crate::ids::Fingerprint;
use crate::report::Report;
use crate::report::results::{Fate, TestResult};
use crate::report::text::{self, counted};
use crate::select::Algorithm;
use crate::suite::TestCase;
use crate::suite::schedule::with_fixtures;
use std::collections::HashSet;

/// Build, run the tests that the change can affect, and update the history
///
/// A test that is selected and not run, because it is not asked for or because of an
/// interrupt, stays selected.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  edgewise test -j4\n  edgewise test parser/\n  edgewise test --all\n  edgewise test --junit results.xml --markdown summary.md"
)]
pub struct Args {
    #[command(flatten)]
    wanted: Wanted,
    /// Run tests also if no change can affect them
    #[arg(long)]
    all: bool,
    /// Build probes only into procedures that can run after a change; what the selected
    /// tests do in the others is known from before
    ///
    /// Only for tests of one program that does one thing after the other; otherwise
    /// everything gets its probes.
    #[arg(long, conflicts_with_all = ["no_build", "all"])]
    selective: bool,
    /// Do not build first
    #[arg(long)]
    no_build: bool,
    /// Compare with this version of the history, as `edgewise history log` names it. The
    /// default is the one that is most like what is built
    #[arg(long, value_name = "ID", add = completing::versions())]
    against: Option<String>,
    #[command(flatten)]
    options: RunArgs,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    args.options.check()?;
    let workspace = Workspace::open()?;
    let _lock = workspace.lock()?;
    // Looked at before anything is built: a history that cannot be used says so.
    workspace.history()?;
    let plan = if args.selective { Plan::make(&workspace, args)? } else { None };
    if args.no_build {
        printer::tell("edgewise: not built first, so edits since the last build are not seen\n");
    } else {
        let code = build(&workspace, plan.as_ref())?;
        if code != 0 {
            printer::tell(&format!("edgewise: the build failed with code {code}\n"));
            return Ok(code);
        }
    }
    let mut project = Project::look_at(&workspace, Source::Build)?;
    project.has_just_built = !args.no_build;
    project.wants_unreached = args.options.writes_markdown();
    let against = args.against.as_deref();
    let (mut history, said) = versions::choose(&workspace, Source::Build, &project.files, against)?;
    let tests = workspace.tests(&history)?;
    if !tests.iter().any(|test| args.wanted.holds(test)) {
        args.wanted.complain()?;
    }
    let known: HashSet<&str> = tests.iter().map(|test| test.name.as_str()).collect();
    history.retain_tests(|name| known.contains(name));
    let (disabled, tests): (Vec<_>, Vec<_>) = tests.into_iter().partition(|t| t.disabled.is_some());
    let mut selected = selecting::select(&workspace, &history, &tests, project, Algorithm::Auto)?;
    selected.report.hints.extend(said);
    // The tests are recorded in a moment.
    selected.report.hints.retain(|hint| hint != selecting::NO_HISTORY);
    if args.all {
        let wanted = tests.iter().filter(|test| args.wanted.holds(test));
        let wanted: HashSet<&str> = wanted.map(|test| test.name.as_str()).collect();
        selected.report.run_anyway(|name| wanted.contains(name));
    }
    printer::tell(&text::selection(&selected.report, Stream::Err.style()));
    // What can be affected is known for one version only.
    let plan = plan.filter(|plan| plan.version == history.id());
    let known = plan.map(|plan| Known::of(&history, &selected, plan.affected)).transpose()?;
    recording::carry_over(&workspace, &mut history, &selected)?;
    history.commit()?;

    let names = selected.report.selected.iter().map(|(name, _)| name.as_str());
    let names: HashSet<&str> = names.collect();
    let is_selected = |test: &TestCase| names.contains(test.name.as_str());
    let to_run =
        with_fixtures(&tests, |test| args.wanted.holds(test) && (args.all || is_selected(test)));
    let (by_harness, to_run): (Vec<_>, Vec<_>) = to_run.into_iter().partition(|t| t.by_harness);
    let by_harness: Vec<TestCase> = by_harness.into_iter().filter(&is_selected).collect();
    let run: HashSet<&str> = to_run.iter().map(|test| test.name.as_str()).collect();
    let others = tests.iter().filter(|test| !run.contains(test.name.as_str()));
    let others = others.filter(|test| !by_harness.contains(test));
    let left = others.clone().filter(|test| is_selected(test)).count();
    let others = others.map(|test| left_out(test, is_selected(test)));
    let others = others.chain(by_harness.iter().map(left_to_harness));
    let others: Vec<TestResult> = others.chain(disabled.iter().map(not_run)).collect();
    let code = if to_run.is_empty() {
        args.options.report(&others, Some(&selected.report), None)?;
        exit::OK
    } else {
        let (files, options) = (&selected.files, args.options.options());
        let known = known.as_ref();
        let mut results =
            recording::run_knowing(&workspace, &mut history, &to_run, files, &options, known)?;
        selected.report.note_times(&results.tests);
        results.tests.extend(others);
        args.options.report(&results.tests, Some(&selected.report), None)?;
        printer::tell(&summary(&workspace, &results));
        exit_code(&results)
    };
    if left > 0 {
        let they = if left == 1 { "it stays" } else { "they stay" };
        let left = counted(left, "test");
        printer::tell(&format!("{left} selected and not asked for: {they} selected\n"));
    }
    printer::tell(&harness_hint(&by_harness));
    printer::tell(&saved(&selected.report));
    Ok(match code {
        exit::OK if !by_harness.is_empty() => exit::INCOMPLETE,
        code => code,
    })
}

/// Builds everything, and returns the exit code.
fn build(workspace: &Workspace, plan: Option<&Plan>) -> anyhow::Result<i32> {
    let mut command = build::configured(workspace)?;
    if let Some(plan) = plan {
        command.env(selective::VARIABLE, plan.file.path());
    }
    Ok(building::build(workspace, command, Extent::Everything)?.code)
}

/// Which probes a build may leave out.
struct Plan {
    /// For the compiler.
    file: tempfile::NamedTempFile,
    /// The version of the history that the sources were compared with.
    version: Fingerprint,
    affected: Affected,
}

impl Plan {
    /// From the sources, before they are built. None if all probes are needed.
    fn make(workspace: &Workspace, args: &Args) -> anyhow::Result<Option<Self>> {
        let mut project = Project::look_at(workspace, Source::Sources)?;
        project.wants_affected = true;
        let against = args.against.as_deref();
        let (history, _) = versions::choose(workspace, Source::Sources, &project.files, against)?;
        let mut tests = workspace.tests(&history)?;
        tests.retain(|test| test.disabled.is_none());
        let selected = selecting::select(workspace, &history, &tests, project, Algorithm::Auto)?;
        if let Some(why) = unprobed::obstacle(&history, &selected) {
            printer::tell(&format!("edgewise: all probes are built in: {why}\n"));
            return Ok(None);
        }
        let mut selective = Selective::default();
        for unit in selected.new_units() {
            if let Some(Some(affected)) = selected.affected.get(&unit.fingerprint()) {
                let names = affected.iter().map(|at| unit.procedure(*at).name.clone());
                selective.add(unit.fingerprint(), names.collect());
            }
        }
        if selective.is_empty() {
            return Ok(None);
        }
        let file = tempfile::Builder::new().prefix("edgewise-selective").tempfile()?;
        selective.write(file.path())?;
        Ok(Some(Self { file, version: history.id(), affected: selected.affected }))
    }
}

/// How much time the skipped tests took when they last ran.
fn saved(report: &Report) -> String {
    report.saved().map_or_else(String::new, |saved| format!("{saved}\n"))
}

fn left_out(test: &TestCase, is_selected: bool) -> TestResult {
    let why = match is_selected {
        true => "selected, and not asked for: it stays selected",
        false => "safely skipped: no change can affect it",
    };
    let (name, why) = (test.name.clone(), why.to_string());
    TestResult { name, fate: Fate::NotSelected, why, ..TestResult::default() }
}
