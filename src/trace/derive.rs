//! All edges of a unit from those that carry a probe: a node ran if an edge
//! into it or out of it was taken, and then took what follows from that.

use crate::cfg::format::{Graph, Noted, Symbol, UnitIndex};
use crate::ids::{EdgeId, NodeId, ProbeId};
use bitvec::prelude::*;
use rustc_hash::FxHashMap;

/// Edge bits of a unit: its procedures' edges in their order.
pub type EdgeBits = BitVec<u8, Lsb0>;

/// How probes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// By their word.
    Exact,
    /// A process died of a trap. The compiler may move what traps above probes,
    /// those of procedures it put in place of their calls too: every procedure
    /// that ran, or is called by name from there, took all its edges.
    AfterTrap,
}

/// The graphs of a unit, prepared for reading traces of it.
pub struct Derivation {
    graphs: Vec<Graph>,
    /// For each graph, the number of its first edge in the unit.
    starts: Vec<usize>,
    /// For each symbol, the procedure of this unit that calls of it enter, if
    /// that has no probe for it.
    entered_by_calls: Vec<Option<usize>>,
    /// For each symbol, the procedure of this unit with its name.
    defined: Vec<Option<usize>>,
    /// For each graph, the one edge into a node that is known by the node.
    behind: Vec<FxHashMap<NodeId, EdgeId>>,
}

impl Derivation {
    pub fn new(index: &UnitIndex, graphs: Vec<Graph>) -> Self {
        let mut by_name: FxHashMap<&str, usize> = FxHashMap::default();
        let procedures = index.procedures.iter().enumerate();
        let all: FxHashMap<&str, usize> =
            procedures.map(|(number, procedure)| (procedure.name.as_str(), number)).collect();
        let defined = index.symbols.iter().map(|symbol| all.get(symbol.name.as_str()).copied());
        let defined = defined.collect();
        for (number, (procedure, graph)) in index.procedures.iter().zip(&graphs).enumerate() {
            let mut ways_in = graph.out_edges(Graph::ENTRY);
            if ways_in.any(|(_, edge)| edge.noted == Noted::Calls) {
                by_name.insert(&procedure.name, number);
            }
        }
        let entered_by_calls = |symbol: &Symbol| {
            let number = by_name.get(symbol.name.as_str()).copied();
            number.filter(|number| symbol.is_static == index.procedures[*number].is_static)
        };
        let entered_by_calls = index.symbols.iter().map(entered_by_calls).collect();
        let behind = graphs.iter().map(|graph| {
            let edges = graph.edges.iter().enumerate();
            let behind = edges.filter(|(_, edge)| edge.noted == Noted::Behind);
            behind.map(|(number, edge)| (edge.to, EdgeId::new(number))).collect()
        });
        let behind = behind.collect();
        let mut starts = Vec::with_capacity(graphs.len());
        let mut next = 0;
        for graph in &graphs {
            starts.push(next);
            next += graph.edges.len();
        }
        Self { graphs, starts, entered_by_calls, defined, behind }
    }

    pub fn edge_count(&self) -> usize {
        self.graphs.iter().map(|graph| graph.edges.len()).sum()
    }

    pub fn graphs(&self) -> &[Graph] {
        &self.graphs
    }

    /// The probe at the entry of a procedure, if it has one.
    pub fn entry_probe(&self, procedure: usize) -> Option<ProbeId> {
        self.graphs[procedure].out_edges(Graph::ENTRY).find_map(|(_, edge)| edge.noted.probe())
    }

    /// The edges that were taken, given the bytes of the unit's probes.
    pub fn edges_taken(&self, probes: &[u8], reading: Reading) -> EdgeBits {
        let mut taken = Taken {
            unit: self,
            reading,
            edges: bitvec![u8, Lsb0; 0; self.edge_count()],
            ran: self.graphs.iter().map(|_| Vec::new()).collect(),
            todo: Vec::new(),
            in_full: vec![false; self.graphs.len()],
        };
        for (number, graph) in self.graphs.iter().enumerate() {
            for (index, edge) in graph.edges.iter().enumerate() {
                let byte = edge.noted.probe().and_then(|probe| probes.get(probe.ix()));
                if byte.is_some_and(|byte| *byte != 0) {
                    taken.take(number, EdgeId::new(index));
                }
            }
        }
        taken.finish()
    }
}

struct Taken<'a> {
    unit: &'a Derivation,
    reading: Reading,
    edges: EdgeBits,
    /// For each graph, which nodes ran; empty as long as none is known.
    ran: Vec<Vec<bool>>,
    todo: Vec<(usize, NodeId)>,
    /// For each graph, whether it counts as run in full.
    in_full: Vec<bool>,
}

impl Taken<'_> {
    fn take(&mut self, number: usize, edge: EdgeId) {
        let bit = self.unit.starts[number] + edge.ix();
        if !self.edges.replace(bit, true) {
            let edge = self.unit.graphs[number].edge(edge);
            self.run(number, edge.from);
            self.run(number, edge.to);
        }
    }

    fn run(&mut self, number: usize, node: NodeId) {
        let ran = &mut self.ran[number];
        if ran.is_empty() {
            ran.resize(self.unit.graphs[number].nodes.len(), false);
            if self.reading == Reading::AfterTrap {
                self.todo.extend((0..ran.len()).map(|node| (number, NodeId::new(node))));
                ran.fill(true);
            }
        }
        if !std::mem::replace(&mut ran[node.ix()], true) {
            self.todo.push((number, node));
        }
    }

    fn finish(mut self) -> EdgeBits {
        while let Some((number, node)) = self.todo.pop() {
            let graph = &self.unit.graphs[number];
            if self.reading == Reading::AfterTrap {
                graph.out_edges(node).for_each(|(edge, _)| self.take(number, edge));
                for symbol in &graph.node(node).calls {
                    if let Some(callee) = self.unit.defined[*symbol as usize] {
                        self.enter(callee);
                    }
                }
            }
            // Of several that follow, as `a ?: b` has, any may have been taken.
            for (edge, _) in graph.out_edges(node).filter(|(_, e)| e.noted == Noted::Follows) {
                self.take(number, edge);
            }
            if let Some(edge) = self.unit.behind[number].get(&node) {
                self.take(number, *edge);
            }
            for symbol in &graph.node(node).calls {
                if let Some(callee) = self.unit.entered_by_calls[*symbol as usize] {
                    self.enter(callee);
                }
            }
            let called = graph.node(node);
            let in_full = if self.in_full[number] { &called.calls } else { &called.calls_in_full };
            for symbol in in_full {
                if let Some(callee) = self.unit.defined[*symbol as usize] {
                    self.run_in_full(callee);
                }
            }
        }
        self.edges
    }

    /// All of a procedure, and of those of the unit that it calls by name.
    fn run_in_full(&mut self, number: usize) {
        if !std::mem::replace(&mut self.in_full[number], true) {
            let graph = &self.unit.graphs[number];
            (0..graph.edges.len()).for_each(|edge| self.take(number, EdgeId::new(edge)));
            // Nodes that ran before have calls that count only now.
            self.todo.extend((0..graph.nodes.len()).map(|node| (number, NodeId::new(node))));
        }
    }

    fn enter(&mut self, number: usize) {
        let entry = self.unit.graphs[number].out_edges(Graph::ENTRY).next();
        if let Some((edge, _)) = entry {
            self.take(number, edge);
        }
    }
}

/// The procedure was entered.
pub fn entered(graph: &Graph, taken: &BitSlice<u8, Lsb0>) -> bool {
    graph.out_edges(Graph::ENTRY).any(|(edge, _)| taken[edge.ix()])
}
