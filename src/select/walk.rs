//! SelectInterTests: walks the old and the new graph side by side, from the
//! roots of a program, and finds the edges that lead elsewhere now.
//!
//! ```text
//!     old   entry ──> S1 ──> P2 ──T──> S3        pairs  (entry,entry') (S1,S1') (P2,P2')
//!     new   entry'──> S1'──> P2'──T──> S9'       P2 -T-> S3 is dangerous: S3 ≠ S9'
//! ```
//!
//! A pair of procedures is opened only when the walk reaches a call to it, and
//! the walk goes on behind a call only if the callee can be passed unchanged.
//! Both the walk inside a procedure and the descent into callees are loops
//! over explicit stacks.

use super::changes::ChangedDefinitions;
use super::exclude::{Exclusion, NothingExcluded};
use super::version::{ProcRef, ProgramVersion};
use crate::cfg::format::{EdgeLabel, Graph, Node};
use crate::ids::{EdgeId, Fingerprint, NodeId, UnitIx};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

/// Status of a pair of procedures in the proctable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Its walk has begun, and it may be passed unchanged.
    Visited,
    /// Nobody passes it unchanged.
    SelectsAll,
}

/// A procedure with its counterpart.
pub type ProcPair = (ProcRef, ProcRef);

/// An edge of the old program that leads elsewhere in the new one.
#[derive(Clone, Debug)]
pub struct Dangerous {
    pub pair: ProcPair,
    pub edge: EdgeId,
    /// The node that the edge leads to now, if the edge is still there.
    pub new: Option<NodeId>,
    pub because: Because,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Because {
    /// Another text or another meaning of it.
    Node,
    /// The same text, but something it mentions is defined otherwise.
    Definition(String),
    /// A call that means another procedure.
    Call(String),
    /// The edge is gone.
    EdgeGone,
    /// A case was added, which default may have stood for.
    CaseAdded(String),
    /// The signature or the attributes of the procedure.
    Signature,
    /// It moved to a unit that is compiled otherwise.
    Flags,
    /// The graph cannot be read.
    Unreadable,
}

/// The walk over one program and its successor.
pub struct Walk<'p> {
    pub old: &'p ProgramVersion,
    pub new: &'p ProgramVersion,
    changed: &'p ChangedDefinitions,
    strict_lines: bool,
    pub exclusion: &'p dyn Exclusion,
    /// The paper's proctable, keyed by both sides.
    pub proctable: FxHashMap<ProcPair, Status>,
    /// Pairs in the order they were opened, each with the one it was called from.
    pub opened: Vec<(ProcPair, Option<ProcPair>)>,
    pub dangerous: Vec<Dangerous>,
    /// Old edges with their counterparts.
    pub edge_map: FxHashMap<ProcPair, FxHashSet<(EdgeId, EdgeId)>>,
    /// Procedures in which a node had more than one counterpart.
    pub multiply_visited: FxHashSet<ProcPair>,
    pub pairs_visited: usize,
    /// Nodes that differ by nothing but line numbers.
    pub lines_only: usize,
}

/// The walk of one pair of procedures.
struct Frame {
    pair: ProcPair,
    visited: FxHashSet<(NodeId, NodeId)>,
    todo: Vec<Step>,
}

enum Step {
    /// The nodes match and can be passed: look at what follows them.
    Successors(NodeId, NodeId),
    /// The nodes match: see whether the call with this number can be passed.
    Call(NodeId, NodeId, usize),
}

impl<'p> Walk<'p> {
    pub fn new(
        old: &'p ProgramVersion,
        new: &'p ProgramVersion,
        changed: &'p ChangedDefinitions,
        strict_lines: bool,
    ) -> Self {
        Self {
            old,
            new,
            changed,
            strict_lines,
            exclusion: &NothingExcluded,
            proctable: FxHashMap::default(),
            opened: Vec::new(),
            dangerous: Vec::new(),
            edge_map: FxHashMap::default(),
            multiply_visited: FxHashSet::default(),
            pairs_visited: 0,
            lines_only: 0,
        }
    }

    /// Walks from a pair of procedures and whatever they call. Nothing is done
    /// for a pair that was opened before.
    pub fn from_root(&mut self, root: ProcPair) {
        let mut frames = Vec::new();
        self.open(root, None, &mut frames);
        while let Some(frame) = frames.last_mut() {
            match frame.todo.pop() {
                Some(Step::Successors(old, new)) => self.successors(frame, old, new),
                Some(Step::Call(old, new, number)) => {
                    if let Some(callee) = self.call(frame, old, new, number) {
                        let caller = frame.pair;
                        self.open(callee, Some(caller), &mut frames);
                    }
                }
                None => {
                    self.close(frame);
                    frames.pop();
                }
            }
        }
    }

    /// Whether nobody is selected for what is in a procedure. One that left the
    /// excluded code is not excluded any more.
    pub fn is_excluded(&self, (old, new): ProcPair) -> bool {
        self.holds(self.old, old) && self.holds(self.new, new)
    }

    fn holds(&self, program: &ProgramVersion, at: ProcRef) -> bool {
        let procedure = program.procedure(at);
        self.exclusion.holds(program.unit(at.unit).file(procedure.place), &procedure.name)
    }

    /// The same for one that is gone.
    pub fn was_excluded(&self, old: ProcRef) -> bool {
        self.holds(self.old, old)
    }

    fn graphs(&self, pair: ProcPair) -> Option<(&'p Graph, &'p Graph)> {
        Some((self.old.graph(pair.0)?, self.new.graph(pair.1)?))
    }

    /// SelectTests2: enters a pair in the proctable and begins its walk.
    fn open(&mut self, pair: ProcPair, caller: Option<ProcPair>, frames: &mut Vec<Frame>) {
        if self.proctable.contains_key(&pair) {
            return;
        }
        self.proctable.insert(pair, Status::Visited);
        self.opened.push((pair, caller));
        let mut frame = Frame { pair, visited: FxHashSet::default(), todo: Vec::new() };
        let how = |program: &ProgramVersion, at: ProcRef| program.unit(at.unit).index.how;
        match self.graphs(pair) {
            None => self.reject_entry(pair, Because::Unreadable),
            Some(_) if how(self.old, pair.0) != how(self.new, pair.1) => {
                self.reject_entry(pair, Because::Flags);
            }
            Some((old, new))
                if !self.same_label(old.node(Graph::ENTRY), new.node(Graph::ENTRY)) =>
            {
                self.reject_entry(pair, Because::Signature);
            }
            Some((old, _))
                if self.changed_mention(pair.0.unit, old.node(Graph::ENTRY)).is_some() =>
            {
                self.reject_entry(pair, Because::Signature);
            }
            Some(_) => frame.todo.push(Step::Successors(Graph::ENTRY, Graph::ENTRY)),
        }
        frame.visited.insert((Graph::ENTRY, Graph::ENTRY));
        frames.push(frame);
    }

    /// Every way into the procedure is dangerous.
    fn reject_entry(&mut self, pair: ProcPair, because: Because) {
        let edges = self.old.graph(pair.0).into_iter();
        let edges: Vec<EdgeId> =
            edges.flat_map(|g| g.out_edges(Graph::ENTRY).map(|(edge, _)| edge)).collect();
        for edge in edges {
            let because = because.clone();
            self.dangerous.push(Dangerous { pair, edge, new: Some(Graph::ENTRY), because });
        }
    }

    /// Nobody who did not reach the exit passes the procedure unchanged.
    fn close(&mut self, frame: &Frame) {
        // Who does not pass an excluded procedure unchanged is not selected for it,
        // and what comes behind it has to be looked at.
        let is_passed = frame.visited.contains(&(Graph::EXIT, Graph::EXIT));
        if !is_passed && !self.is_excluded(frame.pair) {
            self.proctable.insert(frame.pair, Status::SelectsAll);
        }
        let mut counterparts: FxHashMap<NodeId, NodeId> = FxHashMap::default();
        for (old, new) in &frame.visited {
            if counterparts.insert(*old, *new).is_some() {
                self.multiply_visited.insert(frame.pair);
            }
        }
        self.pairs_visited += frame.visited.len();
    }

    /// Compare: for each edge out of the old node, do its target and the new
    /// one match?
    fn successors(&mut self, frame: &mut Frame, old_node: NodeId, new_node: NodeId) {
        let pair = frame.pair;
        let Some((old, new)) = self.graphs(pair) else {
            return;
        };
        let reject = |walk: &mut Self, edge, new, because| {
            walk.dangerous.push(Dangerous { pair, edge, new, because });
        };
        for (old_id, old_edge) in old.out_edges(old_node) {
            let counterpart =
                new.out_edges(new_node).find(|(_, edge)| same_edge(&edge.label, &old_edge.label));
            let Some((new_id, new_edge)) = counterpart else {
                reject(self, old_id, None, Because::EdgeGone);
                continue;
            };
            let (old_to, new_to) = (old_edge.to, new_edge.to);
            if !frame.visited.contains(&(old_to, new_to)) {
                if let Some(because) = self.difference(pair, old.node(old_to), new.node(new_to)) {
                    reject(self, old_id, Some(new_to), because);
                    continue;
                }
                frame.visited.insert((old_to, new_to));
                frame.todo.push(Step::Call(old_to, new_to, 0));
            }
            self.edge_map.entry(pair).or_default().insert((old_id, new_id));
        }
        // A new case takes what default took before.
        for (_, added) in new.out_edges(new_node) {
            let EdgeLabel::Case(_, text) = &added.label else {
                continue;
            };
            if old.out_edges(old_node).any(|(_, edge)| same_edge(&edge.label, &added.label)) {
                continue;
            }
            for (old_id, edge) in old.out_edges(old_node) {
                if edge.label == EdgeLabel::Default {
                    let because = Because::CaseAdded(text.clone());
                    reject(self, old_id, Some(added.to), because);
                }
            }
        }
    }

    /// Passes the calls of a matched pair one by one. Returns a callee that
    /// has to be walked first.
    fn call(&self, frame: &mut Frame, old: NodeId, new: NodeId, from: usize) -> Option<ProcPair> {
        let (old_graph, new_graph) = self.graphs(frame.pair)?;
        let (old_node, new_node) = (old_graph.node(old), new_graph.node(new));
        for (number, (old_call, new_call)) in
            old_node.calls.iter().zip(&new_node.calls).enumerate().skip(from)
        {
            let callee = self.old.resolve(frame.pair.0.unit, *old_call);
            let counterpart = self.new.resolve(frame.pair.1.unit, *new_call);
            let (Some(callee), Some(counterpart)) = (callee, counterpart) else {
                continue;
            };
            match self.proctable.get(&(callee, counterpart)) {
                None => {
                    frame.todo.push(Step::Call(old, new, number));
                    return Some((callee, counterpart));
                }
                // A call that is certain to run when its node runs: nobody
                // gets past it unselected.
                Some(Status::SelectsAll) if old_node.calls_are_certain => return None,
                Some(_) => {}
            }
        }
        frame.todo.push(Step::Successors(old, new));
        None
    }

    fn label(&self, node: &Node) -> Fingerprint {
        if self.strict_lines { node.strict.unwrap_or(node.label) } else { node.label }
    }

    fn same_label(&mut self, old: &Node, new: &Node) -> bool {
        let same = self.label(old) == self.label(new);
        if same && old.strict != new.strict {
            self.lines_only += 1;
        }
        same
    }

    /// Why two nodes are not equivalent, if they are not.
    fn difference(&mut self, pair: ProcPair, old: &Node, new: &Node) -> Option<Because> {
        if !self.same_label(old, new) {
            return Some(Because::Node);
        }
        if let Some(what) = self.changed_mention(pair.0.unit, old) {
            return Some(Because::Definition(what));
        }
        if let Some(name) = self.static_elsewhere(pair, old) {
            return Some(Because::Definition(format!("`{name}` is that of another unit now")));
        }
        if old.calls.len() != new.calls.len() {
            return Some(Because::Node);
        }
        for (old_call, new_call) in old.calls.iter().zip(&new.calls) {
            let before = self.old.resolve(pair.0.unit, *old_call).is_some();
            let after = self.new.resolve(pair.1.unit, *new_call).is_some();
            if before != after {
                let symbols = &self.old.unit(pair.0.unit).index.symbols;
                return Some(Because::Call(symbols[*old_call as usize].name.clone()));
            }
        }
        None
    }

    /// In a procedure that moved, a name that is static where it was: it means
    /// something else where it is.
    fn static_elsewhere(&self, pair: ProcPair, node: &Node) -> Option<String> {
        let (old, new) = (self.old.unit(pair.0.unit), self.new.unit(pair.1.unit));
        if old.index.key == new.index.key {
            return None;
        }
        let mut mentions = node.mentions.iter().map(|m| &old.index.symbols[*m as usize]);
        mentions.find(|symbol| symbol.is_static).map(|symbol| symbol.name.clone())
    }

    /// A name that a node mentions and whose definition changed.
    fn changed_mention(&self, unit: UnitIx, node: &Node) -> Option<String> {
        let index = &self.old.unit(unit).index;
        node.mentions.iter().find_map(|mention| {
            let symbol = &index.symbols[*mention as usize];
            self.changed.of_symbol(&index.key, symbol).map(String::from)
        })
    }
}

/// Cases match by what their value means, whatever its text.
fn same_edge(a: &EdgeLabel, b: &EdgeLabel) -> bool {
    match (a, b) {
        (EdgeLabel::Case(a, _), EdgeLabel::Case(b, _)) => a == b,
        _ => a == b,
    }
}
