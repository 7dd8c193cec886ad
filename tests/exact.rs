//! Exactness: the edges that follow from the probes are those of a log of all
//! nodes, for every test of generated programs.
//!
//! `EDGEWISE_SEEDS=N` looks at N generated programs instead of a few.

#[path = "paths/check.rs"]
mod check;
#[path = "support/generator/mod.rs"]
mod generator;

use check::Logged;
use edgewise::trace::collect::{Collector, TestTrace};
use edgewise::trace::paths::Unit;
use generator::{Construct, Options, program};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

/// How many programs are looked at unless somebody asks for more.
const USUAL: u64 = 24;
const LEVELS: [&str; 3] = ["-O2", "-O0", "-O3"];

fn seeds() -> u64 {
    std::env::var("EDGEWISE_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(USUAL)
}

/// Builds with probes.
fn build(directory: &Path, sources: &[String], level: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_edgewise"));
    command.current_dir(directory).env_remove("EDGEWISE_TRACE").env("EDGEWISE_ROOT", directory);
    command.args(["cc", "gcc", "-std=gnu11", "-w", level, "-o", "probed"]).args(sources);
    let output = command.arg("-lm").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What is wrong with the edges of one test, and how many had to be right in
/// both directions.
fn compare(logged: &TestTrace, probed: &TestTrace) -> (usize, Vec<String>) {
    let (mut exact, mut wrong) = (0, Vec::new());
    assert_eq!(probed.unclean, None);
    let units = |trace: &TestTrace| {
        let units = trace.programs.iter().flat_map(|program| program.units.clone());
        units.collect::<Vec<_>>()
    };
    let others = units(probed);
    for unit in units(logged) {
        let twin = others.iter().find(|other| other.index.key.source == unit.index.key.source);
        let twin = twin.expect("both programs are made of the same units");
        let graphs = unit.raw.graphs(&unit.index).unwrap();
        let walked = &logged.walked[&unit.index.fingerprint];
        let row = &probed.rows[&twin.index.fingerprint];
        let (compared, found) = walked.compare(Unit { index: &unit.index, graphs: &graphs }, row);
        exact += compared;
        wrong.extend(found);
    }
    (exact, wrong)
}

fn check_seed(seed: u64) -> (usize, Vec<String>) {
    let options = if seed.is_multiple_of(3) { Options::medium() } else { Options::small() };
    // What the optimiser knows is another thing with a log than with probes, and
    // it may leave out calls that nobody needs.
    let uneven = [Construct::ConstantP, Construct::Pure];
    let options = options.for_gcc().strictly_ordered().without(&uneven);
    let program = program(seed, &options);
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in program.files() {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    let sources = program.sources();
    build(directory.path(), &sources, LEVELS[seed as usize % LEVELS.len()]);
    let logged = Logged::build(directory.path(), &sources, &["-std=gnu11"]);
    let (mut edges, mut wrong) = (0, Vec::new());
    for (name, arguments) in program.tests() {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let (_, log) = logged.trace(Command::new(&logged.program).args(&arguments));
        wrong.extend(log.unclean.iter().map(|what| format!("seed {seed}, {name}: {what}")));
        let traces = tempfile::tempdir().unwrap();
        let mut command = Command::new(directory.path().join("probed"));
        command.args(&arguments).env("EDGEWISE_TRACE", traces.path()).output().unwrap();
        let trace = Collector::default().collect(traces.path());
        let (exact, found) = compare(&log, &trace);
        edges += exact;
        wrong.extend(found.iter().map(|what| format!("seed {seed}, {name}: {what}")));
    }
    (edges, wrong)
}

#[test]
fn edges_of_generated_programs_are_those_of_a_log() {
    let results = Mutex::new((0, Vec::new()));
    std::thread::scope(|scope| {
        for half in 0..2 {
            let results = &results;
            scope.spawn(move || {
                for seed in (0..seeds()).filter(|seed| seed % 2 == half) {
                    let (edges, wrong) = check_seed(seed);
                    let mut results = results.lock().unwrap();
                    results.0 += edges;
                    results.1.extend(wrong);
                }
            });
        }
    });
    let (edges, mut wrong) = results.into_inner().unwrap();
    println!("{} programs, {edges} edges compared, {} differ", seeds(), wrong.len());
    wrong.truncate(20);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(edges > 10_000, "only {edges} edges");
}
