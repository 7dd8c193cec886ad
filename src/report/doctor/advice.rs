//! What to do about what was found, in the order in which it is best done.

use super::{CompilerState, Configuration, Health, Note, Recorded};
use crate::report::text::{counted, one_line};
use serde::Serialize;
use std::collections::BTreeSet;

/// Of several names so many are shown.
const SHOWN: usize = 3;

#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Advice {
    pub what: String,
    /// To be typed.
    pub command: String,
}

/// Nothing is to be done if it is empty.
pub fn advice(health: &Health) -> Vec<Advice> {
    let mut found = Vec::new();
    let mut add = |what: String, command: &str| {
        found.push(Advice { what, command: command.to_string() });
    };
    match &health.configuration {
        Configuration::Missing => {
            add(String::from("there is no edgewise.toml"), "edgewise init");
        }
        Configuration::Wrong(why) => {
            let what = format!("edgewise.toml is not right: {}", first_line(why));
            add(format!("{what}. Mend it, or have it written anew"), "edgewise init --force");
        }
        Configuration::Good { suites: 0, .. } => {
            let what = "edgewise.toml names no suite: add a [[suite]], or have one looked for";
            add(String::from(what), "edgewise init --force");
        }
        Configuration::Good { .. } => {}
    }
    let way = &health.way;
    let clean_build = way.build_anew();
    let has_units = health.units().next().is_some();
    if let Some(why) = &health.build_problem {
        let what = format!("what is known of the builds cannot be read: {}", first_line(why));
        add(what, &format!("rm .edgewise/builds.json && {clean_build}"));
    } else if !health.has_built {
        let what = "nothing was built with edgewise yet; objects that are there already have to be made anew";
        add(String::from(what), &clean_build);
    } else if let Some(code) = health.build_failed.filter(|_| !has_units) {
        add(format!("the last build failed with code {code}: mend what it says"), &way.build());
    } else if !has_units && health.gone.is_empty() && health.programs.iter().all(is_readable) {
        let what = "0 units are instrumented: objects that were made before have to be made anew";
        add(String::from(what), &clean_build);
        let (what, command) = way.hand_over();
        add(String::from(what), &command);
    }
    let has_failed = health.build_failed.is_some() && !has_units;
    if health.has_built && health.build_problem.is_none() && !has_failed {
        add_gone(health, &mut add);
    }
    if health.build_killed {
        let what = "a build was killed, and until the next build every changed file that it may \
                    have read selects every test";
        add(String::from(what), &way.build());
    } else if let (Some(why), Some(left)) = (&health.build_unseen, &health.unseen_from_before) {
        let what = format!(
            "every changed file that the build may read selects every test: {why}; {} may be \
             left from that build",
            one_line(left)
        );
        add(what, &clean_build);
    }
    let unreadable = health.programs.iter().filter(|program| !is_readable(program));
    let unreadable: Vec<&str> = unreadable.map(|program| program.name.as_str()).collect();
    if !unreadable.is_empty() {
        add(format!("the records of {} cannot be read", some(&unreadable)), &clean_build);
    }
    let compilers = health.compilers.iter().map(|compiler| (&compiler.name, compiler.state));
    let linkers = health.linkers.iter().map(|linker| (&linker.path, linker.state));
    for (name, state) in compilers.chain(linkers) {
        match state {
            CompilerState::Missing => {
                let what = format!("{name} is not there any more: install it, or build anew");
                add(what, &clean_build);
            }
            CompilerState::Another => {
                let what = format!("{name} is not the one that the programs were built with");
                add(what, &clean_build);
            }
            CompilerState::Same | CompilerState::Unknown => {}
        }
    }
    match &health.history {
        Recorded::Unusable { why } => {
            let command = "mv .edgewise/history .edgewise/history.old && edgewise run";
            add(format!("the history cannot be used: {}", first_line(why)), command);
        }
        Recorded::Missing => {
            add(String::from("no test was run with edgewise yet"), "edgewise run");
        }
        Recorded::Good { .. } => add_tests(health, &mut found),
    }
    found
}

/// What a build made that is there no more, and tests ran.
fn add_gone(health: &Health, add: &mut dyn FnMut(String, &str)) {
    let gone: Vec<_> = health.gone.iter().filter(|gone| gone.is_built).collect();
    if gone.is_empty() {
        return;
    }
    let programs: Vec<&str> = gone.iter().map(|gone| gone.name.as_str()).collect();
    let tests: BTreeSet<&str> =
        gone.iter().flat_map(|gone| gone.tests.iter().map(String::as_str)).collect();
    let tests: Vec<&str> = tests.into_iter().collect();
    let it = if programs.len() == 1 { "it" } else { "them" };
    let what =
        format!("{} gone, and {} {it}: build {it}", is(&programs), have(&tests, "ran", "ran"));
    add(what, &health.way.build());
}

fn add_tests(health: &Health, found: &mut Vec<Advice>) {
    let mut add = |what: String, command: String| found.push(Advice { what, command });
    let tests = &health.tests;
    if let Some(why) = &tests.problem {
        let what = format!("the tests cannot be listed: {}", first_line(why));
        add(what, String::from("edgewise select"));
    }
    let left: Vec<&str> = stale(health, true).collect();
    if !left.is_empty() {
        let what = format!(
            "{} not what the sources would make, and the last build left it so: the build does not \
             know what it depends on, or builds less than all",
            is(&left)
        );
        add(what, health.way.build_anew());
    }
    if !health.left.is_empty() {
        let left: Vec<&str> = health.left.iter().map(String::as_str).collect();
        let what = format!(
            "{} changed since programs were built that the last build left as they were{}",
            some(&left),
            health
                .from_before
                .iter()
                .map(|file| format!(": {file} is from before"))
                .collect::<String>()
        );
        add(what, health.way.build_anew());
    }
    if let Some(first) = tests.unjudged.first() {
        let what = format!(
            "{} traced inside of a harness that did not say whether they passed: let the harness \
             say so, or configure it as a suite",
            have(&names(&tests.unjudged), "was", "were")
        );
        add(what, format!("edgewise trace --test {} --verdict passed", quoted(&first.name)));
    }
    if let Some(first) = tests.unclean.first() {
        let what = format!(
            "{} run each time, without a complete trace: see why",
            have(&names(&tests.unclean), "is", "are")
        );
        add(what, format!("edgewise explain {}", quoted(&first.name)));
    }
    let recorded = match health.history {
        Recorded::Good { tests, .. } => tests,
        _ => 0,
    };
    if recorded > 0 && tests.without_trace.len() == recorded {
        let what =
            "no test left a trace: they do not run the programs that were built with edgewise";
        add(String::from(what), String::from("edgewise build && edgewise run"));
    }
    if let Some(first) = tests.unstable.first() {
        let all: Vec<&str> = tests.unstable.iter().map(String::as_str).collect();
        let what = format!(
            "{} not the same each time: mend what makes the difference (time, random numbers, order), and look again",
            have(&all, "does", "do")
        );
        add(what, format!("edgewise run --repeat 5 {}", quoted(first)));
    }
}

/// Programs that are not what their sources would make, by whether a build had these.
fn stale(health: &Health, is_left: bool) -> impl Iterator<Item = &str> {
    let stale = health.programs.iter().filter(|program| program.stale.is_some());
    let stale = stale.filter(move |program| program.is_left_by_build == is_left);
    stale.map(|program| program.name.as_str())
}

/// What belongs to the work on a project, and is no fault in how it is set up: edits that were
/// not built or tested yet. Whatever it concerns is selected.
pub fn everyday(health: &Health) -> Vec<Advice> {
    let mut found = Vec::new();
    let mut add = |what: String, command: &str| {
        found.push(Advice { what, command: command.to_string() });
    };
    if let Some(code) = health.build_failed.filter(|_| health.units().next().is_some()) {
        add(format!("the last build failed with code {code}: mend what it says"), "edgewise build");
    }
    if !matches!(health.history, Recorded::Good { .. }) {
        return found;
    }
    let tests = &health.tests;
    let edited: Vec<&str> = stale(health, false).collect();
    if !edited.is_empty() {
        let what = format!("{} older than the sources, which were edited since", is(&edited));
        add(what, "edgewise test");
    }
    if !tests.never_run.is_empty() {
        let names: Vec<&str> = tests.never_run.iter().map(String::as_str).collect();
        add(format!("{} never run", have(&names, "was", "were")), "edgewise test");
    }
    if !tests.failed.is_empty() {
        add(format!("{} not pass", have(&names(&tests.failed), "did", "did")), "edgewise test");
    }
    found
}

fn is_readable(program: &super::Program) -> bool {
    program.unreadable.is_none()
}

fn first_line(text: &str) -> String {
    one_line(text.lines().next().unwrap_or_default())
}

fn names(notes: &[Note]) -> Vec<&str> {
    notes.iter().map(|note| note.name.as_str()).collect()
}

/// The first of several names, and how many more there are.
fn some(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| one_line(name)).collect();
    match names.len().checked_sub(SHOWN) {
        None | Some(0) => shown.join(", "),
        Some(more) => format!("{} and {more} more", shown.join(", ")),
    }
}

fn is(names: &[&str]) -> String {
    format!("{} {}", some(names), if names.len() == 1 { "is" } else { "are" })
}

/// `2 tests (a, b) were`.
fn have(names: &[&str], one: &str, several: &str) -> String {
    let verb = if names.len() == 1 { one } else { several };
    format!("{} ({}) {verb}", counted(names.len(), "test"), some(names))
}

/// A name as a word of a shell.
fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:+,@%=".contains(c);
    match !name.is_empty() && name.chars().all(is_plain) {
        true => name.to_string(),
        false => format!("'{}'", name.replace('\'', "'\\''")),
    }
}
