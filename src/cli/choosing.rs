//! Selected tests for a runner: which of them it can run, and what it calls them.

use super::config::Config;
use crate::bytes;
use crate::report::Report;
use crate::report::runners::{self, MakeTests};
use crate::report::text::counted;
use crate::suite::definition::{Source, Suite};
use crate::suite::{TestCase, TestCommand};
use anyhow::{anyhow, bail};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The runners that there is an output for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    CtestFile,
    CtestExpression,
    Meson,
    Automake,
}

impl Runner {
    fn kind(self) -> &'static str {
        match self {
            Self::CtestFile | Self::CtestExpression => "ctest",
            Self::Meson => "meson",
            Self::Automake => "automake",
        }
    }

    fn runs(self, suite: &Suite) -> bool {
        match suite.source {
            Source::Ctest { .. } => self.kind() == "ctest",
            Source::Meson => self == Self::Meson,
            Source::Automake => self == Self::Automake,
            _ => false,
        }
    }
}

/// Keeps the tests of one suite. The selected ones of others are left out, and
/// named.
pub fn keep_suite(config: &Config, report: &mut Report, suite: &str) -> anyhow::Result<()> {
    let names: Vec<String> = config.suites().iter().map(Suite::full_name).collect();
    let named = config.suites().iter().filter(|s| s.full_name() == suite || s.name == suite);
    let named: Vec<String> = named.map(Suite::full_name).collect();
    let [name] = &named[..] else {
        let all = names.join(", ");
        let what = if named.is_empty() { "no suite is" } else { "several suites are" };
        bail!("{what} called `{suite}`\nhint: the suites are {all}");
    };
    let is_of_suite = |test: &str| suite_of(test) == name;
    report.skipped.retain(|test| is_of_suite(test));
    leave_out(report, is_of_suite);
    Ok(())
}

/// Keeps the tests that a runner can run, and says them in its words.
pub fn for_runner(
    config: &Config,
    tests: &[TestCase],
    report: &mut Report,
    runner: Runner,
) -> anyhow::Result<String> {
    let kind = runner.kind();
    let suites: Vec<&Suite> = config.suites().iter().filter(|suite| runner.runs(suite)).collect();
    if suites.is_empty() {
        bail!("no suite is of kind {kind}\nhint: `--format names` has the tests of all suites");
    }
    let own: HashSet<String> = suites.iter().map(|suite| suite.full_name()).collect();
    leave_out(report, |test| own.contains(suite_of(test)));
    let of_suites: HashSet<&str> = report.selected.iter().map(|(name, _)| suite_of(name)).collect();
    // Each Makefile is named; CTest and Meson work on one build directory.
    if runner != Runner::Automake && of_suites.len() > 1 {
        let mut of_suites: Vec<&str> = of_suites.into_iter().collect();
        of_suites.sort_unstable();
        let shown = of_suites.join(", ");
        bail!(
            "tests of several suites of kind {kind} are selected: {shown}\nhint: `--suite {}` and so \
             on, once for each",
            of_suites[0]
        );
    }
    let by_name: HashMap<&str, &TestCase> =
        tests.iter().map(|test| (test.name.as_str(), test)).collect();
    let chosen: Vec<&TestCase> = report
        .selected
        .iter()
        .map(|(name, _)| by_name.get(name.as_str()).copied().ok_or_else(|| anyhow!("no {name}")))
        .collect::<anyhow::Result<_>>()?;
    let names: Vec<&str> = chosen.iter().map(|test| test.runner_name.as_str()).collect();
    let text = match runner {
        Runner::CtestFile => runners::ctest_file(&names),
        Runner::CtestExpression => runners::ctest_expression(&names),
        Runner::Meson => runners::meson(&names),
        Runner::Automake => runners::automake(&directories(&chosen)),
    };
    let text = text.map_err(|what| anyhow!("{what}"))?;
    let brought = brought_along(tests, &chosen, runner);
    if let Some(first) = brought.first() {
        let count = counted(brought.len(), "other test");
        report.hints.push(format!(
            "{kind} runs {count} as well, which it cannot tell from these; for example {first}"
        ));
    }
    Ok(text)
}

fn leave_out(report: &mut Report, keep: impl Fn(&str) -> bool) {
    let (kept, others): (Vec<_>, Vec<_>) =
        std::mem::take(&mut report.selected).into_iter().partition(|(name, _)| keep(name));
    report.selected = kept;
    report.left_out.extend(others.into_iter().map(|(name, _)| name));
}

/// Configuration and name of a suite hold no slash.
fn suite_of(test: &str) -> &str {
    test.split('/').next().unwrap_or_default()
}

fn is_check_local(test: &TestCase) -> bool {
    matches!(test.command, TestCommand::Shell(_))
}

fn directories(tests: &[&TestCase]) -> Vec<MakeTests> {
    let mut found: Vec<MakeTests> = Vec::new();
    for test in tests {
        let empty = test.directory.as_os_str().is_empty();
        let directory = if empty { Path::new(".") } else { &test.directory };
        let directory = bytes::name(directory);
        let place = found.iter().position(|known| known.directory == directory);
        let place = place.unwrap_or_else(|| {
            found.push(MakeTests { directory, ..MakeTests::default() });
            found.len() - 1
        });
        match is_check_local(test) {
            true => found[place].check_local = true,
            false => found[place].tests.push(test.runner_name.clone()),
        }
    }
    found
}

/// Tests that a runner runs although they are not chosen: those with the same
/// name to it, and `check-local` beside other tests of its directory.
fn brought_along<'t>(tests: &'t [TestCase], chosen: &[&TestCase], runner: Runner) -> Vec<&'t str> {
    let is_chosen: HashSet<&str> = chosen.iter().map(|test| test.name.as_str()).collect();
    let key = |test: &TestCase| {
        let suite = suite_of(&test.name).to_string();
        let name = if runner == Runner::Automake { "" } else { &test.runner_name };
        let directory = if runner == Runner::Automake { Some(&test.directory) } else { None };
        (suite, name.to_string(), directory.cloned())
    };
    let keys: HashSet<_> = chosen.iter().map(|test| key(test)).collect();
    let others = tests.iter().filter(|test| !is_chosen.contains(test.name.as_str()));
    let others = others.filter(|test| runner != Runner::Automake || is_check_local(test));
    others.filter(|test| keys.contains(&key(test))).map(|test| test.name.as_str()).collect()
}
