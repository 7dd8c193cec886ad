//! What was found, for people.

use super::{
    Advice, CompilerState, Configuration, Gone, Health, Note, Recorded, Unit, advice, everyday,
};
use crate::report::text::{counted, one_line};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What the answers rest on, and how each is checked.
pub const ASSUMPTIONS: [(&str, &str); 7] = [
    (
        "tests do the same every time they run on the same programs",
        "`edgewise run --repeat N` flags those that do not; all that they did counts",
    ),
    (
        "the environment stays as it is",
        "compilers, system headers, files of the project and variables that `variables` names are compared; the clock, the network and other variables are not",
    ),
    (
        "code that is not analysed stays as it is",
        "libraries, and what is linked without a record, are compared by their content",
    ),
    ("no code writes other code", "not checked"),
    (
        "nothing depends on undefined behaviour across procedures, on addresses, code size or time",
        "not checked; `edgewise run --shadow` runs everything and says whether a test failed that would have been skipped",
    ),
    (
        "no program reads its own binary or source",
        "a test that is seen to open a file of the project is selected when that changes; its own binary is not such a file",
    ),
    (
        "tests do not depend on each other",
        "fixtures and orders that a suite declares are followed; others are not seen",
    ),
];

/// Of each kind of thing, so many are shown, and the others counted.
pub fn text(health: &Health, shown: usize) -> String {
    let mut out = String::new();
    // A unit may be part of several programs.
    let units: BTreeMap<(&str, &str), &Unit> =
        health.units().map(|unit| ((unit.source.as_str(), unit.object.as_str()), unit)).collect();
    if units.is_empty() {
        out.push_str(nothing(health));
    }
    configuration(&mut out, health);
    compilers(&mut out, health);
    programs(&mut out, health, shown);
    if !units.is_empty() {
        let procedures: usize = units.values().map(|unit| unit.procedures).sum();
        let probes: u32 = units.values().map(|unit| unit.probes).sum();
        let touched = units.values().filter(|unit| unit.untouched.is_none()).count();
        let _ = writeln!(
            out,
            "\n{} instrumented, {}, {probes} probes",
            counted(touched, "unit"),
            counted(procedures, "procedure"),
        );
    }
    let units: Vec<&Unit> = units.into_values().collect();
    for (what, meaning, lines) in code_lists(health, &units).into_iter().chain(test_lists(health)) {
        list(&mut out, what, meaning, &lines, shown);
    }
    history(&mut out, health);
    out.push_str("\nassumed, and how it is checked:\n");
    for (assumed, checked) in ASSUMPTIONS {
        let _ = writeln!(out, "  {assumed}\n      {checked}");
    }
    let unstable = health.tests.unstable.len();
    if unstable > 0 {
        let flagged = if unstable == 1 { "is" } else { "are" };
        let _ = writeln!(out, "  {} {flagged} flagged now", counted(unstable, "test"));
    }
    disk(&mut out, health);
    numbered(
        &mut out,
        "since the last run; tests that it concerns are selected:",
        &everyday(health),
    );
    let to_do = advice(health);
    if to_do.is_empty() {
        out.push_str("\nOK\n");
    }
    numbered(&mut out, "to do:", &to_do);
    out
}

fn numbered(out: &mut String, title: &str, all: &[Advice]) {
    if !all.is_empty() {
        let _ = writeln!(out, "\n{title}");
    }
    for (number, advice) in all.iter().enumerate() {
        let _ = writeln!(out, "  {}. {}\n         {}", number + 1, advice.what, advice.command);
    }
}

/// Says loudly that nothing is instrumented, and why that usually is.
fn nothing(health: &Health) -> &'static str {
    if health.programs.iter().any(|program| program.unreadable.is_some()) {
        return "";
    }
    match health.has_built {
        false => "0 UNITS INSTRUMENTED: no program was built with edgewise yet\n\n",
        true if health.build_failed.is_some() => {
            "0 UNITS INSTRUMENTED: the last build failed, and no program was built yet\n\n"
        }
        true if !health.gone.is_empty() => {
            "0 UNITS INSTRUMENTED: the programs that were built and tested are not there any more\n\n"
        }
        true => {
            "0 UNITS INSTRUMENTED: builds ran, and no program has a probe in it. Usual causes:\n  \
             the build calls a compiler by its full path, and passes edgewise by\n  \
             objects that were made without edgewise were not rebuilt\n\n"
        }
    }
}

fn configuration(out: &mut String, health: &Health) {
    let _ = match &health.configuration {
        Configuration::Missing => writeln!(out, "edgewise.toml: there is none"),
        Configuration::Wrong(why) => writeln!(out, "edgewise.toml: {why}"),
        Configuration::Good { suites, has_build_command } => {
            let build = if *has_build_command { "" } else { ", no build command" };
            let tests = match health.tests.listed {
                Some(tests) => counted(tests, "test"),
                None if health.tests.problem.is_some() => {
                    String::from("tests that cannot be listed")
                }
                None => String::from("whose tests were not listed"),
            };
            writeln!(out, "edgewise.toml: {}, {tests}{build}", counted(*suites, "suite"))
        }
    };
    if let Some(why) = &health.tests.problem
        && matches!(health.configuration, Configuration::Good { suites: 1.., .. })
    {
        let _ = writeln!(out, "  {why}");
    }
    if let Some(why) = &health.build_problem {
        let _ = writeln!(out, ".edgewise/builds.json: {why}");
    }
}

fn compilers(out: &mut String, health: &Health) {
    for compiler in &health.compilers {
        let name = &compiler.name;
        let found = match (&compiler.path, &compiler.version) {
            (Some(path), Some(version)) => format!("{path}, {version}"),
            _ => String::from("it is not there"),
        };
        let state = match compiler.state {
            CompilerState::Same => ", as when they were built",
            CompilerState::Another => {
                ", ANOTHER ONE than they were built with, or files that its flags name changed"
            }
            CompilerState::Missing => "",
            CompilerState::Unknown => ", and none of them can be preprocessed now",
        };
        let units = counted(compiler.units, "unit");
        let _ = writeln!(out, "compiler {name}: {found}; {units}{state}");
    }
    for linker in &health.linkers {
        let programs = counted(linker.programs, "program");
        let state = match linker.state {
            CompilerState::Same | CompilerState::Unknown => "as when they were linked",
            CompilerState::Another => "ANOTHER ONE than they were linked with",
            CompilerState::Missing => "and it is not there any more",
        };
        let _ = writeln!(out, "linker {}: {programs}, {state}", linker.path);
    }
}

fn programs(out: &mut String, health: &Health, shown: usize) {
    for program in health.programs.iter().take(shown.max(1)) {
        let name = one_line(&program.name);
        let _ = match (&program.unreadable, program.units.len()) {
            (Some(why), _) => writeln!(out, "{name}: cannot be read: {why}"),
            (None, 0) => writeln!(out, "{name}: nothing in it was instrumented"),
            (None, units) => writeln!(out, "{name}: {}", counted(units, "unit")),
        };
    }
    if health.programs.len() > shown {
        let more = counted(health.programs.len() - shown, "more program");
        let _ = writeln!(out, "and {more}; --all shows them");
    }
}

type List = (&'static str, &'static str, Vec<String>);

fn code_lists(health: &Health, units: &[&Unit]) -> Vec<List> {
    let mut untouched = Vec::new();
    let mut opaque = Vec::new();
    let mut problems = Vec::new();
    for unit in units {
        let source = &unit.source;
        untouched.extend(unit.untouched.as_ref().map(|why| format!("{source}: {why}")));
        problems.extend(unit.problems.iter().cloned());
        let notes = unit.opaque.iter();
        opaque.extend(notes.map(|Note { name, why }| format!("{source}: {name}: {why}")));
    }
    let programs = || health.programs.iter();
    let stale = programs()
        .filter_map(|program| Some(format!("{}: {}", program.name, program.stale.as_ref()?)));
    let is_unrun = |program: &&super::Program| !program.is_run && !program.units.is_empty();
    let has_history = matches!(health.history, Recorded::Good { .. });
    let unrun = programs().filter(is_unrun).filter(|_| has_history);
    let of_program = |lists: fn(&super::Program) -> &Vec<String>| -> Vec<String> {
        let lines = programs()
            .flat_map(|program| lists(program).iter().map(move |what| (program, what)))
            .map(|(program, what)| format!("{}: {what}", program.name));
        lines.collect()
    };
    let loaded = health.loaded.iter();
    let loaded = loaded.map(|(file, tests)| format!("{file}: {}", counted(*tests, "test")));
    vec![
        ("opaque procedure", "compared as a whole", opaque),
        ("unit without probes", "all of it counts as run", untouched),
        ("place that was not understood", "names in it count as changed with it", problems),
        (
            "stale program",
            "until it is built again, `select --from-build` selects whoever ran it",
            stale.collect(),
        ),
        (
            "change that the last build did not take up",
            "until all is built anew, it selects every test",
            health.left.clone(),
        ),
        (
            "program that is gone",
            "until it is built again, `select --from-build` selects whoever ran it",
            health.gone.iter().map(ran_by).collect(),
        ),
        (
            "program with probes that no test ran",
            "nothing is known of it",
            unrun.map(|program| program.name.clone()).collect(),
        ),
        ("program without a trace", "a change of it selects every test", health.untraced.clone()),
        (
            "source that is not analysed",
            "a change of it, or of what it includes, selects every test",
            health.unanalysed.iter().map(said).collect(),
        ),
        (
            "object or archive linked without a record",
            "a change of it selects who ran the program",
            of_program(|program| &program.without_record),
        ),
        (
            "unit whose object is not what its record says",
            "a change of it selects who ran the program",
            of_program(|program| &program.altered),
        ),
        (
            "library that is not analysed",
            "a change of its content selects the tests that load it",
            loaded.collect(),
        ),
    ]
}

/// A program with the tests that ran it.
fn ran_by(gone: &Gone) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = gone.tests.iter().take(SHOWN).map(|name| one_line(name)).collect();
    let more = match gone.tests.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let tests = counted(gone.tests.len(), "test");
    format!("{}: {tests} ran it: {}{more}", one_line(&gone.name), shown.join(", "))
}

fn test_lists(health: &Health) -> Vec<List> {
    let tests = &health.tests;
    let notes = |notes: &[Note]| -> Vec<String> { notes.iter().map(said).collect() };
    let has_history = matches!(health.history, Recorded::Good { .. });
    let never = tests.never_run.iter().filter(|_| has_history);
    let unseen = health.build_unseen.iter().map(|why| format!("the build: {why}"));
    vec![
        ("test that was never run", "selected", never.map(|name| one_line(name)).collect()),
        ("test that did not pass", "selected until it does", notes(&tests.failed)),
        ("test that its harness has not judged", "selected until it is", notes(&tests.unjudged)),
        ("test whose trace is not complete", "selected each time", notes(&tests.unclean)),
        ("test without a trace", "selected each time", notes(&tests.without_trace)),
        (
            "test that does not do the same each time",
            "all that it did counts",
            tests.unstable.iter().map(|name| one_line(name)).collect(),
        ),
        (
            "test whose files could not be seen",
            "any file that nobody accounts for selects it",
            unseen.chain(notes(&tests.unseen)).collect(),
        ),
    ]
}

fn said(note: &Note) -> String {
    format!("{}: {}", one_line(&note.name), note.why)
}

fn list(out: &mut String, what: &str, meaning: &str, lines: &[String], shown: usize) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{} \u{d7} {what}, {meaning}:", lines.len());
    for line in lines.iter().take(shown) {
        let _ = writeln!(out, "  {line}");
    }
    if lines.len() > shown {
        let _ = writeln!(out, "  and {} more; --all shows them", lines.len() - shown);
    }
}

fn history(out: &mut String, health: &Health) {
    let _ = match &health.history {
        Recorded::Missing => writeln!(out, "\nhistory: there is none"),
        Recorded::Unusable { why } => writeln!(out, "\nhistory: CANNOT BE USED: {why}"),
        Recorded::Good { tests, versions, bytes } => writeln!(
            out,
            "\nhistory: {}, {}, {}",
            counted(*tests, "test"),
            counted(*versions, "version"),
            size(*bytes)
        ),
    };
    let inexact = health.tests.inexact;
    if inexact > 0 {
        let were = if inexact == 1 { "was" } else { "were" };
        let tests = counted(inexact, "test");
        let _ = writeln!(out, "  {tests} {were} carried over with edges to spare");
    }
}

fn disk(out: &mut String, health: &Health) {
    if health.disk.is_empty() {
        return;
    }
    let total: u64 = health.disk.iter().map(|(_, bytes)| bytes).sum();
    let _ = writeln!(out, "\n.edgewise: {}", size(total));
    for (name, bytes) in &health.disk {
        let _ = writeln!(out, "  {}: {}", one_line(name), size(*bytes));
    }
}

/// Bytes for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
