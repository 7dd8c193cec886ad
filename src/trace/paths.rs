//! Logs of nodes: every step is to be an edge, and the edges that follow from
//! the probes are to be those of the log.

use super::format::{START, STEP_SIZE, TraceFile, u32_at};
use crate::cfg::format::{Edge, Granularity, Graph, Logged, Node, NodeKind, Noted, UnitIndex};
use crate::ids::{Fingerprint, NodeId};
use bitvec::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How many nodes of paths are kept of a unit; beyond that, the procedure whose
/// path it is has none.
const MOST_KEPT: usize = 2_000_000;

/// A thread of a module: the part of a log's name before the number of its
/// window.
type Thread = String;

/// The files of all threads of a test, window by window.
#[derive(Default)]
pub struct Logs(BTreeMap<Thread, BTreeMap<u64, PathBuf>>);

/// A node that ran.
#[derive(Clone, Copy)]
struct Step {
    run: u32,
    map: u32,
    procedure: u32,
    node: u32,
}

impl Logs {
    /// Takes in a window by its name without the suffix.
    pub fn add(&mut self, name: &str, file: PathBuf) {
        let (thread, window) = name.rsplit_once('.').unwrap_or((name, ""));
        let windows = self.0.entry(thread.to_string()).or_default();
        windows.insert(window.parse().unwrap_or_default(), file);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The steps of one window.
fn steps(window: &[u8]) -> impl Iterator<Item = Step> {
    let number = |record: &[u8], at: usize| u32_at(record, 4 * at);
    let steps = window.chunks_exact(STEP_SIZE).map(move |record| Step {
        run: number(record, 0),
        map: number(record, 1),
        procedure: number(record, 2),
        node: number(record, 3),
    });
    steps.filter(|step| step.run != 0)
}

/// A unit as its records have it.
#[derive(Clone, Copy)]
pub struct Unit<'u> {
    pub index: &'u UnitIndex,
    pub graphs: &'u [Graph],
}

/// What a log says of one unit.
#[derive(Default)]
pub struct Walked {
    pub steps: usize,
    /// Steps by procedure, from which node to which.
    pub taken: FxHashSet<(usize, NodeId, NodeId)>,
    /// Steps that may have been such.
    perhaps: FxHashSet<(usize, NodeId, NodeId)>,
    /// Nodes at which a forked process went on with a run of its parent.
    resumed: FxHashSet<(usize, NodeId)>,
    /// Nodes after which a run logged no other, or perhaps another from where it came
    /// back to.
    last: FxHashSet<(usize, NodeId)>,
    /// The different paths of each procedure; none if one is not known in full.
    paths: BTreeMap<usize, Option<FxHashSet<Vec<u32>>>>,
    /// How many nodes they have together.
    kept: usize,
    /// How many edges the probes had to tell in both directions.
    pub compared: usize,
    /// Steps that are no edges, told for people.
    pub violations: Vec<String>,
}

/// The run of a procedure, as far as the log has it.
struct Run {
    number: u32,
    unit: Fingerprint,
    procedure: usize,
    at: NodeId,
    /// Nodes that called setjmp, to which longjmp may come back.
    setjmps: Vec<NodeId>,
    /// All its nodes in their order, as long as each follows from the one before.
    path: Option<Vec<u32>>,
}

/// The runs of a thread that have not ended, each called by the one before it.
#[derive(Default)]
struct Stack {
    runs: Vec<Run>,
    /// Runs up to this number are known, or began in the process that forked
    /// this one.
    known: u32,
}

/// Follows the logs of one module through the graphs of its units. Fails if a
/// log cannot be read.
pub fn walk<'u>(
    logs: &Logs,
    module: &TraceFile,
    unit_of: &dyn Fn(Fingerprint) -> Option<Unit<'u>>,
    walked: &mut BTreeMap<Fingerprint, Walked>,
) -> std::io::Result<()> {
    let build_id: String = module.build_id.iter().map(|byte| format!("{byte:02x}")).collect();
    let units: FxHashMap<u32, (Fingerprint, Unit<'_>)> = (module.offsets.iter())
        .filter_map(|(offset, id)| Some((*offset as u32, (*id, unit_of(*id)?))))
        .collect();
    let own = logs.0.iter().filter(|(thread, _)| {
        thread.strip_prefix(&build_id).is_some_and(|rest| rest.starts_with('.'))
    });
    for windows in own.map(|(_, windows)| windows) {
        let mut stack = Stack::default();
        for window in windows.values() {
            for step in steps(&fs_err::read(window)?) {
                if step.run == START {
                    stack.known = step.map;
                    continue;
                }
                // One with a lower number goes on: those above it have ended.
                stack.end_above(step.run, walked);
                let Some((id, unit)) = units.get(&step.map) else { continue };
                walked.entry(*id).or_default().take(*unit, *id, step, &mut stack);
            }
        }
        stack.end_above(0, walked);
    }
    Ok(())
}

impl Stack {
    fn end_above(&mut self, number: u32, walked: &mut BTreeMap<Fingerprint, Walked>) {
        while let Some(run) = self.runs.pop_if(|run| run.number > number) {
            if let Some(walked) = walked.get_mut(&run.unit) {
                walked.end(run);
            }
        }
    }
}

impl Walked {
    fn end(&mut self, run: Run) {
        self.last.insert((run.procedure, run.at));
        self.keep(run.procedure, run.path);
    }

    fn keep(&mut self, procedure: usize, path: Option<Vec<u32>>) {
        let known = self.paths.entry(procedure).or_insert_with(|| Some(FxHashSet::default()));
        match path.filter(|path| self.kept + path.len() <= MOST_KEPT) {
            None => *known = None,
            Some(path) => {
                let length = path.len();
                if known.as_mut().is_some_and(|known| known.insert(path)) {
                    self.kept += length;
                }
            }
        }
    }

    /// Adds what another run of the same test logged.
    pub fn unite(&mut self, other: Self) {
        self.steps += other.steps;
        self.compared += other.compared;
        for (procedure, paths) in other.paths {
            match paths {
                Some(paths) => paths.into_iter().for_each(|path| self.keep(procedure, Some(path))),
                None => self.keep(procedure, None),
            }
        }
    }

    /// The paths of procedures of which all are known, in a fixed order.
    pub fn paths(&self) -> BTreeMap<u32, Vec<Vec<u32>>> {
        let known = self.paths.iter().filter_map(|(procedure, paths)| {
            let mut paths: Vec<Vec<u32>> = paths.as_ref()?.iter().cloned().collect();
            paths.sort_unstable();
            Some((*procedure as u32, paths))
        });
        known.collect()
    }

    fn take(&mut self, unit: Unit<'_>, id: Fingerprint, step: Step, stack: &mut Stack) {
        self.steps += 1;
        let (procedure, node) = (step.procedure as usize, NodeId(step.node));
        let graph = unit.graphs.get(procedure).filter(|graph| node.ix() < graph.nodes.len());
        let Some(graph) = graph else {
            self.violations.push(format!("no node {} in procedure {procedure}", node.0));
            return;
        };
        if stack.runs.last().is_none_or(|run| run.number != step.run) {
            // Those that are known began in another process, or on another stack.
            let is_resumed = step.run <= stack.known;
            let at = if is_resumed { node } else { Graph::ENTRY };
            let setjmps = Vec::new();
            let path = (!is_resumed).then(Vec::new);
            stack.runs.push(Run { number: step.run, unit: id, procedure, at, setjmps, path });
            stack.known = stack.known.max(step.run);
            if is_resumed {
                self.resumed.insert((procedure, node));
                return;
            }
        }
        let Some(run) = stack.runs.last_mut() else { return };
        let from = std::mem::replace(&mut run.at, node);
        if let Some(path) = &mut run.path {
            path.push(node.0);
            if path.len() > MOST_KEPT {
                run.path = None;
            }
        }
        if calls_setjmp(unit.index, graph.node(node)) && !run.setjmps.contains(&node) {
            run.setjmps.push(node);
        }
        let mut sources = returned_from(graph, run, from, node);
        if !sources.is_empty() {
            run.path = None;
            self.last.insert((procedure, from));
        }
        if sources.is_empty() && self.taken.contains(&(procedure, from, node)) {
            return;
        }
        if leads(graph, from, node) {
            sources.push(from);
        }
        let steps = sources.iter().map(|from| (procedure, *from, node));
        match sources.len() {
            0 => {
                let text = |node: NodeId| format!("{} {:?}", node.0, graph.node(node).text);
                let name = &unit.index.procedures[procedure].name;
                self.violations.push(format!("{name}: {} -> {}", text(from), text(node)));
            }
            1 => self.taken.extend(steps),
            // Back at a setjmp or not: the log does not tell.
            _ => self.perhaps.extend(steps),
        }
    }

    /// What is wrong with the edges of a unit that follow from its probes, and
    /// how many had to be right in both directions.
    pub fn compare(&self, unit: Unit<'_>, row: &BitSlice<u8, Lsb0>) -> (usize, Vec<String>) {
        let (mut exact, mut wrong) = (0, Vec::new());
        let doubtful = self.doubtful(unit);
        let mut bit = 0;
        for (procedure, graph) in unit.graphs.iter().enumerate() {
            for edge in &graph.edges {
                let derived = row[bit];
                bit += 1;
                let is_logged =
                    |node: NodeId| node == Graph::ENTRY || graph.node(node).logged != Logged::Not;
                let target = graph.node(edge.to);
                let taken = self.taken.contains(&(procedure, edge.from, edge.to));
                let may_differ = !is_logged(edge.from)
                    || !is_logged(edge.to)
                    || doubtful.contains(&(procedure, edge.from))
                    || self.resumed.contains(&(procedure, edge.to))
                    || self.perhaps.contains(&(procedure, edge.from, edge.to))
                    || target.logged == Logged::Done && calls(target)
                    || target.kind == NodeKind::Exit;
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
                        target.text,
                        edge.noted,
                        if taken { "was taken and is lost" } else { "was not taken" },
                    ));
                }
            }
        }
        (exact, wrong)
    }

    /// Nodes of a unit that may count as run although they did not. Several ways
    /// lead on from a node, and nothing tells which was taken; or a call in an
    /// operand, behind which there is no place for a probe, left it; or the
    /// process died there. Up to the next probe it then looks as if it went on.
    fn doubtful(&self, unit: Unit<'_>) -> FxHashSet<(usize, NodeId)> {
        let mut todo: Vec<(usize, NodeId)> = Vec::new();
        for (procedure, graph) in unit.graphs.iter().enumerate() {
            for node in (0..graph.nodes.len()).map(NodeId::new) {
                let ways = graph.out_edges(node).count();
                let may_leave = calls(graph.node(node));
                if follows(graph, node).count() > 0 && (ways > 1 || may_leave) {
                    todo.push((procedure, node));
                }
            }
        }
        let died = |(procedure, node): &&(usize, NodeId)| {
            !calls(unit.graphs[*procedure].node(*node)) && *node != Graph::ENTRY
        };
        todo.extend(self.last.iter().filter(died));
        let mut found = FxHashSet::default();
        while let Some((procedure, node)) = todo.pop() {
            if !found.insert((procedure, node)) {
                continue;
            }
            let graph = &unit.graphs[procedure];
            todo.extend(follows(graph, node).map(|edge| (procedure, edge.to)));
            for symbol in &graph.node(node).calls {
                let name = &unit.index.symbols[*symbol as usize].name;
                let called = unit.index.procedures.iter().position(|p| p.name == *name);
                todo.extend(called.map(|called| (called, Graph::ENTRY)));
            }
        }
        found
    }
}

/// Whether a unit keeps a log.
pub fn is_logged(index: &UnitIndex) -> bool {
    index.detail.granularity == Granularity::Path && index.untouched.is_none()
}

/// The calls of setjmp of a run from which a step may come. Any node may have been
/// left by longjmp: by a call, or by the handler of a signal.
fn returned_from(graph: &Graph, run: &Run, from: NodeId, to: NodeId) -> Vec<NodeId> {
    let setjmps = run.setjmps.iter().copied();
    setjmps.filter(|setjmp| *setjmp != from && leads(graph, *setjmp, to)).collect()
}

fn calls(node: &Node) -> bool {
    !node.calls.is_empty() || node.calls_pointer
}

fn follows(graph: &Graph, node: NodeId) -> impl Iterator<Item = &Edge> {
    let is_entry = node == Graph::ENTRY;
    graph
        .out_edges(node)
        .map(|(_, edge)| edge)
        .filter(move |edge| edge.noted == Noted::Follows || is_entry && edge.noted == Noted::Calls)
}

fn calls_setjmp(index: &UnitIndex, node: &Node) -> bool {
    let names = node.calls.iter().map(|call| &index.symbols[*call as usize].name);
    names.into_iter().any(|name| name.contains("setjmp"))
}

/// Whether a path leads from a node to another through nodes that log nothing.
fn leads(graph: &Graph, from: NodeId, to: NodeId) -> bool {
    let mut todo = vec![from];
    let mut seen = FxHashSet::default();
    while let Some(node) = todo.pop() {
        for (_, edge) in graph.out_edges(node) {
            if edge.to == to {
                return true;
            }
            let target = graph.node(edge.to);
            let is_silent = target.logged == Logged::Not && target.kind != NodeKind::Exit;
            if is_silent && seen.insert(edge.to) {
                todo.push(edge.to);
            }
        }
    }
    false
}
