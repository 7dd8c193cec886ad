//! Exactness: the edges that follow from the probes are those of a log of all
//! nodes, for every test of generated programs.
//!
//! `EDGEWISE_SEEDS=N` looks at N generated programs instead of a few.

#[path = "paths/check.rs"]
mod check;
#[path = "support/generator/mod.rs"]
mod generator;

use check::{Logged, Seen};
use edgewise::cfg::draft::RunSite;
use edgewise::cfg::format::{Edge, Graph, NodeKind, Noted, UnitIndex};
use edgewise::ids::NodeId;
use edgewise::trace::collect::{Collector, TestTrace};
use generator::{Construct, Options, program};
use rustc_hash::FxHashSet;
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
fn compare(
    sources: &[String],
    logged: &Logged,
    seen: &Seen,
    trace: &TestTrace,
) -> (usize, Vec<String>) {
    let (mut exact, mut wrong) = (0, Vec::new());
    assert_eq!(trace.unclean, None);
    let units = trace.programs.iter().flat_map(|program| &program.units);
    let mut compared = 0;
    for unit in units {
        let Some(number) = sources.iter().position(|source| *source == unit.index.key.source)
        else {
            panic!("{}: no such source", unit.index.key.source);
        };
        compared += 1;
        let analysis = &logged.units[number];
        let graphs = unit.raw.graphs(&unit.index).unwrap();
        let row = &trace.rows[&unit.index.fingerprint];
        let doubtful = doubtful(&unit.index, &graphs);
        let mut bit = 0;
        for (procedure, graph) in graphs.iter().enumerate() {
            let runs = &analysis.runs[procedure];
            assert_eq!(graph.nodes.len(), analysis.graphs[procedure].nodes.len());
            for edge in &graph.edges {
                let derived = row[bit];
                bit += 1;
                let is_logged =
                    |node: NodeId| node == Graph::ENTRY || runs[node.ix()] != RunSite::None;
                let key = (number as u32, procedure as u32, edge.from, edge.to);
                let taken = seen.taken.contains(&key);
                let may_differ = !is_logged(edge.from)
                    || !is_logged(edge.to)
                    || doubtful.contains(&(procedure, edge.from))
                    || logs_when_done(graph, runs, edge.to)
                    || graph.node(edge.to).kind == NodeKind::Exit;
                exact += usize::from(!may_differ);
                let twins =
                    graph.out_edges(edge.from).filter(|(_, other)| other.to == edge.to).count();
                let is_wrong = match (taken, derived) {
                    // One of several edges between two nodes was taken.
                    (true, false) => twins == 1,
                    (false, true) => !may_differ,
                    _ => false,
                };
                if is_wrong {
                    wrong.push(format!(
                        "{}: {:?} -> {:?} ({:?}) {}",
                        unit.index.procedures[procedure].name,
                        graph.node(edge.from).text,
                        graph.node(edge.to).text,
                        edge.noted,
                        if taken { "was taken and is lost" } else { "was not taken" },
                    ));
                }
            }
        }
    }
    assert_eq!(compared, sources.len(), "units with a trace");
    (exact, wrong)
}

/// Nodes of a unit that may count as run although they did not. Several ways lead
/// on from a node, and nothing tells which was taken; or a call in an operand,
/// behind which there is no place for a probe, left it. Up to the next probe it
/// then looks as if it went on.
fn doubtful(index: &UnitIndex, graphs: &[Graph]) -> FxHashSet<(usize, NodeId)> {
    let mut todo: Vec<(usize, NodeId)> = Vec::new();
    for (procedure, graph) in graphs.iter().enumerate() {
        for node in (0..graph.nodes.len()).map(NodeId::new) {
            let ways = graph.out_edges(node).count();
            let calls = graph.node(node);
            let may_leave = !calls.calls.is_empty() || calls.calls_pointer;
            if follows(graph, node).count() > 0 && (ways > 1 || may_leave) {
                todo.push((procedure, node));
            }
        }
    }
    let mut found = FxHashSet::default();
    while let Some((procedure, node)) = todo.pop() {
        if !found.insert((procedure, node)) {
            continue;
        }
        let graph = &graphs[procedure];
        todo.extend(follows(graph, node).map(|edge| (procedure, edge.to)));
        for symbol in &graph.node(node).calls {
            let name = &index.symbols[*symbol as usize].name;
            let called = index.procedures.iter().position(|p| p.name == *name);
            todo.extend(called.map(|called| (called, Graph::ENTRY)));
        }
    }
    found
}

fn follows(graph: &Graph, node: NodeId) -> impl Iterator<Item = &Edge> {
    let is_entry = node == Graph::ENTRY;
    graph
        .out_edges(node)
        .map(|(_, edge)| edge)
        .filter(move |edge| edge.noted == Noted::Follows || is_entry && edge.noted == Noted::Calls)
}

/// The log has a node only when its calls have returned.
fn logs_when_done(graph: &Graph, runs: &[RunSite], node: NodeId) -> bool {
    let (calls, run) = (graph.node(node), &runs[node.ix()]);
    let is_before =
        matches!(run, RunSite::Before(_) | RunSite::DeclaredBefore(_) | RunSite::Block(_));
    !is_before && (!calls.calls.is_empty() || calls.calls_pointer)
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
        let mut command = Command::new(&logged.program);
        command.args(&arguments).env("EDGEWISE_NODES", logged.log_file()).output().unwrap();
        let seen = logged.check();
        let traces = tempfile::tempdir().unwrap();
        let mut command = Command::new(directory.path().join("probed"));
        command.args(&arguments).env("EDGEWISE_TRACE", traces.path()).output().unwrap();
        let trace = Collector::default().collect(traces.path());
        let (exact, found) = compare(&sources, &logged, &seen, &trace);
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
