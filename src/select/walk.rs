//! SelectInterTests: walks the old and the new graph side by side, from the
//! roots of a program, and finds the edges that lead elsewhere now.
//!
//! A pair of procedures is opened only when the walk reaches a call to it, and
//! the walk goes on behind a call only if the callee can be passed unchanged.
//! Both the walk inside a procedure and the descent into callees are loops
//! over explicit stacks. A walk that does not follow calls, for techniques that
//! compare each procedure by itself, passes them all.

use super::changes::ChangedDefinitions;
use super::exclude::Excluded;
use super::pairs::{Because, PairBuilder, PairGraph, PairIx};
use super::program::Options;
use super::version::{ProcRef, ProgramVersion};
use crate::cfg::format::{Graph, Node, Symbol};
use crate::ids::{Fingerprint, UnitIx};
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

/// The walk over one program and its successor.
pub struct Walk<'p> {
    pub old: &'p ProgramVersion,
    pub new: &'p ProgramVersion,
    changed: &'p ChangedDefinitions,
    excluded: Excluded<'p>,
    options: Options<'p>,
    /// The paper's proctable, keyed by both sides.
    pub proctable: FxHashMap<ProcPair, Status>,
    /// Pairs in the order they were opened, each with the one it was called from.
    pub opened: Vec<(ProcPair, Option<ProcPair>)>,
    /// The graphs of all opened pairs.
    pub graphs: FxHashMap<ProcPair, PairGraph>,
    /// Who went on behind a call of a pair.
    passed_by: FxHashMap<ProcPair, FxHashSet<ProcPair>>,
    /// Pairs that went on behind a call of one that nobody passes, as is known by
    /// now.
    stale: FxHashSet<ProcPair>,
    /// Nodes that differ by nothing but line numbers.
    pub lines_only: usize,
}

/// The walk of one pair of procedures.
#[derive(Default)]
struct Frame {
    builder: PairBuilder,
    /// A pair of nodes whose calls are looked at, and the next of these.
    at_call: Option<(PairIx, usize)>,
}

/// What became of the calls of a pair of nodes.
enum Calls {
    Passed,
    Impassable,
    /// The callee of the call with this number has to be walked first.
    Open(ProcPair, usize),
}

impl<'p> Walk<'p> {
    pub fn new(
        old: &'p ProgramVersion,
        new: &'p ProgramVersion,
        changed: &'p ChangedDefinitions,
        excluded: Excluded<'p>,
        options: Options<'p>,
    ) -> Self {
        Self {
            old,
            new,
            changed,
            excluded,
            options,
            proctable: FxHashMap::default(),
            opened: Vec::new(),
            graphs: FxHashMap::default(),
            passed_by: FxHashMap::default(),
            stale: FxHashSet::default(),
            lines_only: 0,
        }
    }

    /// Walks from a pair of procedures and whatever they call. Nothing is done
    /// for a pair that was opened before.
    pub fn from_root(&mut self, root: ProcPair) {
        if self.proctable.contains_key(&root) {
            return;
        }
        let mut frames = vec![(root, self.open(root, None))];
        while let Some((pair, frame)) = frames.last_mut() {
            let pair = *pair;
            if let Some(callee) = self.advance(pair, frame) {
                let opened = self.open(callee, Some(pair));
                frames.push((callee, opened));
            } else if let Some((_, frame)) = frames.pop() {
                self.close(pair, frame.builder.finish());
            }
        }
    }

    fn graphs_of(&self, pair: ProcPair) -> Option<(&'p Graph, &'p Graph)> {
        Some((self.old.graph(pair.0)?, self.new.graph(pair.1)?))
    }

    /// SelectTests2: enters a pair in the proctable and begins its walk.
    fn open(&mut self, pair: ProcPair, caller: Option<ProcPair>) -> Frame {
        self.proctable.insert(pair, Status::Visited);
        self.opened.push((pair, caller));
        match self.rejected_whole(pair) {
            Some(because) => {
                let builder = PairBuilder::rejected(self.old.graph(pair.0), &because);
                Frame { builder, at_call: None }
            }
            None => Frame::default(),
        }
    }

    /// Why no way into a procedure is as it was, if so.
    fn rejected_whole(&mut self, pair: ProcPair) -> Option<Because> {
        let Some((old, new)) = self.graphs_of(pair) else {
            return Some(Because::Unreadable);
        };
        let how = |program: &ProgramVersion, at: ProcRef| program.unit(at.unit).index.how;
        if how(self.old, pair.0) != how(self.new, pair.1) {
            return Some(Because::Flags);
        }
        let (old, new) = (old.node(Graph::ENTRY), new.node(Graph::ENTRY));
        let is_same = self.same_label(old, new) && self.changed_mention(pair.0.unit, old).is_none();
        (!is_same).then_some(Because::Signature)
    }

    /// Goes on with the walk of a pair of procedures: to its end, or to a callee
    /// that has to be walked first.
    fn advance(&mut self, pair: ProcPair, frame: &mut Frame) -> Option<ProcPair> {
        let (old, new) = self.graphs_of(pair)?;
        loop {
            let (at, number) = match frame.at_call.take() {
                Some(at) => at,
                None => (frame.builder.take()?, 0),
            };
            match self.calls(pair, &frame.builder, at, number) {
                Calls::Impassable => continue,
                Calls::Open(callee, number) => {
                    frame.at_call = Some((at, number));
                    return Some(callee);
                }
                Calls::Passed => {}
            }
            let mut difference = |old: &Node, new: &Node| self.difference(pair, old, new);
            frame.builder.successors(old, new, at, &mut difference);
        }
    }

    /// Nobody who did not reach the exit passes the procedure unchanged.
    fn close(&mut self, pair: ProcPair, graph: PairGraph) {
        let graph = if self.stale.remove(&pair) { self.walk_again(pair) } else { graph };
        let is_passed = graph.accept.is_some();
        self.graphs.insert(pair, graph);
        // Who does not pass an excluded procedure unchanged is not selected for it,
        // and what comes behind it has to be looked at.
        if !is_passed && !self.is_excluded(pair) {
            self.give_up(pair);
        }
    }

    /// Whether nobody is selected for what was edited in a procedure. One that left
    /// the excluded code is not excluded any more.
    pub fn is_excluded(&self, (old, new): ProcPair) -> bool {
        self.holds(self.old, old) && self.holds(self.new, new)
    }

    /// The same for one that is gone.
    pub fn was_excluded(&self, old: ProcRef) -> bool {
        self.holds(self.old, old)
    }

    fn holds(&self, program: &ProgramVersion, at: ProcRef) -> bool {
        let procedure = program.procedure(at);
        let file = program.unit(at.unit).file(procedure.place);
        self.excluded.holds(file, &procedure.name)
    }

    /// Nobody passes a pair. Those who did, while it was not known, are walked
    /// again: what they reached behind it counts no more.
    fn give_up(&mut self, pair: ProcPair) {
        let mut todo = vec![pair];
        while let Some(pair) = todo.pop() {
            self.proctable.insert(pair, Status::SelectsAll);
            for caller in self.passed_by.remove(&pair).unwrap_or_default() {
                if !self.graphs.contains_key(&caller) {
                    self.stale.insert(caller);
                    continue;
                }
                let graph = self.walk_again(caller);
                let is_lost = graph.accept.is_none();
                self.graphs.insert(caller, graph);
                let is_lost = is_lost && !self.is_excluded(caller);
                if is_lost && self.proctable.get(&caller) == Some(&Status::Visited) {
                    todo.push(caller);
                }
            }
        }
    }

    /// The graph of a pair whose callees are all known.
    fn walk_again(&mut self, pair: ProcPair) -> PairGraph {
        let mut frame = Frame::default();
        while self.advance(pair, &mut frame).is_some() {}
        frame.builder.finish()
    }

    /// Passes the calls of a matched pair of nodes one by one.
    fn calls(&mut self, pair: ProcPair, builder: &PairBuilder, at: PairIx, from: usize) -> Calls {
        if !self.options.algorithm.follows_calls() {
            return Calls::Passed;
        }
        let Some((old_graph, new_graph)) = self.graphs_of(pair) else {
            return Calls::Passed;
        };
        let (old, new) = builder.nodes_of(at);
        let (old_node, new_node) = (old_graph.node(old), new_graph.node(new));
        let calls = old_node.calls.iter().zip(&new_node.calls).enumerate().skip(from);
        for (number, (old_call, new_call)) in calls {
            let callee = self.old.resolve(pair.0.unit, *old_call);
            let counterpart = self.new.resolve(pair.1.unit, *new_call);
            let (Some(callee), Some(counterpart)) = (callee, counterpart) else {
                continue;
            };
            // A call that is certain to run when its node runs, and to enter what it
            // means: nobody gets past it unselected.
            let is_certain = old_node.calls_are_certain
                && self.old.is_entered_surely(callee)
                && self.new.is_entered_surely(counterpart);
            let callee = (callee, counterpart);
            match self.proctable.get(&callee) {
                None => return Calls::Open(callee, number),
                Some(Status::SelectsAll) if is_certain => return Calls::Impassable,
                Some(Status::SelectsAll) => {}
                Some(Status::Visited) => {
                    if is_certain {
                        self.passed_by.entry(callee).or_default().insert(pair);
                    }
                }
            }
        }
        Calls::Passed
    }

    fn label(&self, node: &Node) -> Fingerprint {
        if self.options.strict_lines { node.strict.unwrap_or(node.label) } else { node.label }
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
            if before != after && !self.changed.is_unknown() {
                let symbols = &self.old.unit(pair.0.unit).index.symbols;
                return Some(Because::Call(symbols[*old_call as usize].name.clone()));
            }
        }
        None
    }

    /// In a procedure that moved, a name that is static where it was, or that the
    /// linker leads elsewhere but where it is defined: it means something else.
    fn static_elsewhere(&self, pair: ProcPair, node: &Node) -> Option<String> {
        let (old, new) = (self.old.unit(pair.0.unit), self.new.unit(pair.1.unit));
        if old.index.key == new.index.key {
            return None;
        }
        let mut mentions = node.mentions.iter().map(|m| &old.index.symbols[*m as usize]);
        let is_led_elsewhere =
            |name: &str| self.old.is_wrapped(name) && old.defines(name) != new.defines(name);
        let is_another = |symbol: &&Symbol| symbol.is_static || is_led_elsewhere(&symbol.name);
        mentions.find(is_another).map(|symbol| symbol.name.clone())
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
