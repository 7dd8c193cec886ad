//! `edgewise history show`: which tests reach this, what does this test reach.

use super::NO_HISTORY;
use crate::cli::completing;
use crate::cli::exit;
use crate::cli::printer::{self, Stream};
use crate::cli::reached::{Reached, as_line};
use crate::cli::word;
use crate::cli::workspace::Workspace;
use crate::history::History;
use crate::history::column::TestBits;
use crate::history::format::{Outcome, Test};
use crate::history::store::StoreError;
use crate::report::text::{counted, one_line, ranges};
use anyhow::bail;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Say which tests reach a line or a function, or what a test reaches
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    edgewise history show                  how much there is\n  \
    edgewise history show cli/sum-basic    which lines a test reaches\n  \
    edgewise history show stats_median     which tests enter a function\n  \
    edgewise history show lib/stats.c:47   which tests reach a line")]
pub struct Args {
    /// A test, a function, or a line as FILE:LINE
    #[arg(value_name = "TEST|FUNCTION|FILE:LINE", value_parser = word(), add = completing::tests())]
    what: Option<String>,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let workspace = Workspace::open_without_suites()?;
    let history = workspace.history()?;
    let Some(what) = &args.what else {
        match history.is_empty() {
            true => printer::tell(NO_HISTORY),
            false => overview(&history)?,
        }
        return Ok(exit::OK);
    };
    if history.is_empty() {
        bail!(
            "there is no history yet, so nothing is known of `{what}`\nhint: `edgewise run` records one"
        );
    }
    if let Some(test) = history.test(what) {
        show_test(&history, what, test)?;
    } else if let Some((file, line)) = as_line(what) {
        show_line(&history, file, line)?;
    } else {
        show_procedure(&history, what)?;
    }
    Ok(exit::OK)
}

fn overview(history: &History) -> Result<(), StoreError> {
    let mut programs = BTreeSet::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, test) in history.tests() {
        programs.extend(&test.programs);
        *counts.entry(state(test)).or_default() += 1;
        if test.unstable {
            *counts.entry("not the same each time").or_default() += 1;
        }
        if test.inexact {
            *counts.entry("with rows that were carried over inexactly").or_default() += 1;
        }
    }
    let tests = counted(history.tests().count(), "test");
    let mut out = format!("{tests}, {} kB\n", history.size().div_ceil(1000));
    for (what, count) in counts {
        let _ = writeln!(out, "    {count} {what}");
    }
    let reached = Reached::new(history, |_| true)?;
    let (mut procedures, mut entered, mut edges, mut taken) = (0, 0, 0, 0);
    reached.each::<StoreError>(
        |_, _| true,
        |procedure| {
            procedures += 1;
            entered += usize::from(procedure.entered().any());
            edges += procedure.graph.edges.len();
            let all = (0..procedure.graph.edges.len()).map(crate::ids::EdgeId::new);
            taken += all.filter(|edge| procedure.tests_on_edge(*edge).any()).count();
            Ok(())
        },
    )?;
    let _ = writeln!(out, "{}", counted(programs.len(), "program"));
    for program in programs {
        let _ = writeln!(out, "    {}", history.program(program)?.path);
    }
    let procedures = counted(procedures, "procedure");
    let edges = counted(edges, "edge");
    let _ = writeln!(out, "{entered} of {procedures} entered, {taken} of {edges} taken");
    printer::show(&out);
    Ok(())
}

fn state(test: &Test) -> &'static str {
    match test.outcome {
        Outcome::Passed if test.unclean.is_some() => "passed, with a trace that is not complete",
        Outcome::Passed if test.programs.is_empty() => "passed, without a trace",
        Outcome::Passed => "passed",
        Outcome::Skipped => "skipped by themselves",
        Outcome::Failed => "failed",
        Outcome::TimedOut => "ran out of time",
        Outcome::Interrupted => "interrupted",
        Outcome::Unjudged => "not judged by its harness",
    }
}

fn show_test(history: &History, name: &str, test: &Test) -> Result<(), StoreError> {
    let shown = Stream::Out.style().name(&one_line(name));
    let mut out = format!("{shown}: {}, {} ms\n", state(test), test.milliseconds);
    if let Some(why) = &test.unclean {
        let _ = writeln!(out, "    {why}");
    }
    for program in &test.programs {
        let _ = writeln!(out, "    ran {}", history.program(*program)?.path);
    }
    let mut lines: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    Reached::new(history, |other| other == name)?.each::<StoreError>(
        |_, _| true,
        |procedure| {
            for (place, tests) in procedure.lines() {
                if tests.any() {
                    let file = procedure.file(place).to_string();
                    lines.entry(file).or_default().insert(place.line);
                }
            }
            Ok(())
        },
    )?;
    for (file, lines) in lines {
        let _ = writeln!(out, "{file}: {}", ranges(&lines));
    }
    printer::show(&out);
    Ok(())
}

fn show_line(history: &History, file: &str, line: u32) -> anyhow::Result<()> {
    let reached = Reached::new(history, |_| true)?;
    if !reached.knows_file(file) {
        bail!("no test ran a program with {file} in it");
    }
    let Some(tests) = reached.on_line(file, line, |_| true)? else {
        bail!("{file}:{line} is not where a statement or a condition begins");
    };
    tell(&reached, &tests, &format!("{file}:{line}"));
    Ok(())
}

fn show_procedure(history: &History, name: &str) -> anyhow::Result<()> {
    let reached = Reached::new(history, |_| true)?;
    let found = reached.named(name)?;
    if found.is_empty() {
        bail!(
            "no test, function or line `{name}` is known\nhint: tests are named like suite/name, \
             lines like src/file.c:12"
        );
    }
    for ((file, line), tests) in found {
        tell(&reached, &tests, &format!("{name} ({file}:{line})"));
    }
    Ok(())
}

fn tell(reached: &Reached<'_>, tests: &TestBits, what: &str) {
    let all = reached.history.tests().count();
    printer::tell(&format!("{what}: {} of {}\n", tests.count_ones(), counted(all, "test")));
    let names = reached.names(tests);
    printer::names(&names.iter().map(|name| format!("{}\n", one_line(name))).collect::<String>());
}
