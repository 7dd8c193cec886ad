//! Programs that log their nodes, and whether every step they take is an edge.

#![allow(dead_code)]

use edgewise::cfg::draft::RunSite;
use edgewise::cfg::format::{Graph, NodeKind};
use edgewise::cfg::unit::{self, Analysis};
use edgewise::ids::NodeId;
use edgewise::{frontend, instrument};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A program made of units that log their nodes.
pub struct Logged {
    pub program: PathBuf,
    /// In the order of the sources.
    pub units: Vec<Analysis>,
    log: PathBuf,
}

/// What was seen in one run.
#[derive(Default)]
pub struct Seen {
    pub steps: usize,
    pub opaque: usize,
    /// Steps that are no edges, told for people.
    pub violations: Vec<String>,
    /// The steps: unit, procedure, and from which node to which.
    pub taken: FxHashSet<(u32, u32, NodeId, NodeId)>,
}

fn run(command: &mut Command) -> Output {
    let output = command.output().expect("a compiler");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {told}");
    output
}

impl Logged {
    /// Builds the sources in a directory.
    pub fn build(directory: &Path, sources: &[String], flags: &[&str]) -> Self {
        let mut units = Vec::new();
        let mut texts = Vec::new();
        for (number, source) in sources.iter().enumerate() {
            let mut gcc = Command::new("gcc");
            gcc.current_dir(directory).arg("-E").args(flags).arg(source);
            let text = run(&mut gcc).stdout;
            let mut tree = frontend::analyse(&text, None, &|file| file.starts_with('/'));
            let analysis = unit::analyse(&mut tree, &FxHashMap::default());
            let path = directory.join(format!("logged{number}.i"));
            std::fs::write(&path, instrument::log_nodes(&tree, &analysis, number as u32)).unwrap();
            units.push(analysis);
            texts.push(path);
        }
        let program = directory.join("logged");
        let logger = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/paths/log.c");
        let mut gcc = Command::new("gcc");
        gcc.current_dir(directory).args(flags).args(["-O0", "-w", "-o"]).arg(&program);
        gcc.args(["-x", "cpp-output"]).args(&texts).args(["-x", "c"]).arg(logger);
        run(gcc.arg("-lm"));
        Self { program, units, log: directory.join("nodes") }
    }

    /// The file for `EDGEWISE_NODES`, empty.
    pub fn log_file(&self) -> &Path {
        let _ = std::fs::remove_file(&self.log);
        &self.log
    }

    /// Checks the steps that were logged since.
    pub fn check(&self) -> Seen {
        let log = std::fs::read(&self.log).unwrap_or_default();
        let procedures = self.units.iter().flat_map(|unit| &unit.procedures);
        let opaque = procedures.filter(|procedure| procedure.opaque.is_some()).count();
        let mut seen = Seen { opaque, ..Seen::default() };
        let mut runs: FxHashMap<u32, Run> = FxHashMap::default();
        for record in log.chunks_exact(16) {
            let number = |at: usize| u32::from_le_bytes(record[at..at + 4].try_into().unwrap());
            let (id, unit, procedure, node) = (number(0), number(4), number(8), NodeId(number(12)));
            let run = runs.entry(id).or_insert(Run { at: Graph::ENTRY, setjmps: Vec::new() });
            seen.steps += 1;
            let from = std::mem::replace(&mut run.at, node);
            let analysis = &self.units[unit as usize];
            let graph = &analysis.graphs[procedure as usize];
            if calls_setjmp(analysis, graph, node) {
                run.setjmps.push(node);
            }
            if seen.taken.contains(&(unit, procedure, from, node)) {
                continue;
            }
            let silent = &analysis.runs[procedure as usize];
            let is_edge = leads(graph, silent, from, node);
            let called = graph.node(from);
            if is_edge {
                seen.taken.insert((unit, procedure, from, node));
                continue;
            }
            let may_come_back = !called.calls.is_empty()
                || called.calls_pointer
                || passes_call(graph, silent, from);
            let mut from_setjmp = Vec::new();
            if may_come_back {
                from_setjmp.clone_from(&run.setjmps);
                from_setjmp.retain(|setjmp| leads(graph, silent, *setjmp, node));
            }
            seen.taken.extend(from_setjmp.iter().map(|from| (unit, procedure, *from, node)));
            if from_setjmp.is_empty() {
                let text = |node: NodeId| format!("{} {:?}", node.0, graph.node(node).text);
                let name = &analysis.procedures[procedure as usize].name;
                seen.violations.push(format!("{name}: {} -> {}", text(from), text(node)));
            }
        }
        seen
    }
}

struct Run {
    at: NodeId,
    /// Nodes that called setjmp, to which longjmp may come back.
    setjmps: Vec<NodeId>,
}

fn calls_setjmp(analysis: &Analysis, graph: &Graph, node: NodeId) -> bool {
    let calls = graph.node(node).calls.iter();
    calls.map(|call| &analysis.symbols[*call as usize].name).any(|name| name.contains("setjmp"))
}

/// Whether a path leads from a node to another through nodes that log nothing.
fn leads(graph: &Graph, runs: &[RunSite], from: NodeId, to: NodeId) -> bool {
    let mut todo = vec![from];
    let mut seen = FxHashSet::default();
    while let Some(node) = todo.pop() {
        for (_, edge) in graph.out_edges(node) {
            if edge.to == to {
                return true;
            }
            let is_silent =
                runs[edge.to.ix()] == RunSite::None && graph.node(edge.to).kind != NodeKind::Exit;
            if is_silent && seen.insert(edge.to) {
                todo.push(edge.to);
            }
        }
    }
    false
}

/// Whether a node may run behind this that calls something before it logs that
/// it runs, if it ever does.
fn passes_call(graph: &Graph, runs: &[RunSite], from: NodeId) -> bool {
    (0..graph.nodes.len()).map(NodeId::new).any(|node| {
        let calls = !graph.node(node).calls.is_empty() || graph.node(node).calls_pointer;
        let logs_before = matches!(
            runs[node.ix()],
            RunSite::Before(_) | RunSite::DeclaredBefore(_) | RunSite::Block(_)
        );
        calls && !logs_before && leads(graph, runs, from, node)
    })
}
