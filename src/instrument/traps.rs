//! Which probes a division may be moved above. A compiler keeps what traps
//! behind whatever may not return, and takes a probe to return. Where each way
//! from an edge comes to a division, it may divide before the probe of the edge,
//! and the edge is lost if that kills the process. Such probes are written as
//! one that may not return. Loads and stores are held by the memory that a probe
//! is said to change.

use crate::cfg::format::{Graph, NodeKind};
use crate::cfg::unit::Analysis;
use crate::frontend::Tree;
use crate::frontend::names::kw;
use crate::frontend::tree::{DeclKind, Range, Ref};
use crate::ids::{NodeId, ProbeId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Probes with nothing but a division ahead.
pub fn probes_before_divisions(tree: &Tree<'_>, analysis: &Analysis) -> FxHashSet<ProbeId> {
    let mut guarded = FxHashSet::default();
    let divides = divisions(tree, analysis);
    if !divides.iter().flatten().any(|divides| *divides) {
        return guarded;
    }
    let ahead = Ahead::of(analysis, divides);
    for (number, graph) in analysis.graphs.iter().enumerate() {
        for edge in &graph.edges {
            if let Some(probe) = edge.noted.probe()
                && ahead.ahead[number][edge.to.ix()]
            {
                guarded.insert(probe);
            }
        }
    }
    guarded
}

/// For each node, whether a division may be in it.
fn divisions(tree: &Tree<'_>, analysis: &Analysis) -> Vec<Vec<bool>> {
    let mut all = Vec::new();
    for (procedure, graph) in tree.procedures.iter().zip(&analysis.graphs) {
        let starts = starts_of_divisions(tree, procedure.body_range);
        let divides = graph.nodes.iter().map(|node| match node.kind {
            NodeKind::Opaque => !starts.is_empty(),
            _ => starts.contains(&(procedure.range.start + node.token)),
        });
        all.push(divides.collect());
    }
    all
}

/// Where within a pair of parentheses an expression may begin.
#[derive(Default)]
struct Level {
    starts: Vec<u32>,
    /// A statement ended in it, so that no expression around it goes on.
    is_cut: bool,
}

/// Tokens at which an expression with a division may begin: those of the same
/// statement that no closed parentheses keep apart from it.
fn starts_of_divisions(tree: &Tree<'_>, body: Range) -> FxHashSet<u32> {
    let mut found = FxHashSet::default();
    let mut inner = Level::default();
    let mut outer: Vec<Level> = Vec::new();
    for token in body.start..body.end {
        if may_trap(tree, token) {
            for level in std::iter::once(&mut inner).chain(outer.iter_mut().rev()) {
                found.extend(level.starts.drain(..));
                if level.is_cut {
                    break;
                }
            }
        }
        match tree.token_text(token) {
            b"(" => {
                inner.starts.push(token);
                outer.push(std::mem::take(&mut inner));
            }
            b")" => inner = outer.pop().unwrap_or_default(),
            b";" => inner = Level { starts: Vec::new(), is_cut: true },
            _ => inner.starts.push(token),
        }
    }
    found
}

/// A division by something that is not a constant other than 0: a number, a size,
/// a constant of an enumeration. Compilers warn of one that is 0.
fn may_trap(tree: &Tree<'_>, token: u32) -> bool {
    if !matches!(tree.token_text(token), b"/" | b"%" | b"/=" | b"%=") {
        return false;
    }
    let divisor = tree.token_text(token + 1);
    if divisor.first().is_some_and(u8::is_ascii_digit) {
        return !divisor.iter().any(|digit| (b'1'..=b'9').contains(digit));
    }
    let is_enumerator = match tree.refs.get(token + 1) {
        Ref::Decl(decl) => tree.decls[decl.ix()].kind == DeclKind::Enumerator,
        _ => false,
    };
    !is_enumerator && tree.tokens.all[token as usize + 1].name != kw::SIZEOF
}

/// For each node, whether every way from its start comes to a division, also
/// through procedures of the unit that the compiler puts in place of their calls.
/// All nodes count until something speaks against it.
struct Ahead<'a> {
    analysis: &'a Analysis,
    divides: Vec<Vec<bool>>,
    ahead: Vec<Vec<bool>>,
    /// For each symbol, the procedure of that name.
    defined: Vec<Option<usize>>,
    /// For each procedure, the nodes that call it.
    callers: Vec<Vec<(usize, NodeId)>>,
    /// For each node, those it can be reached from.
    before: Vec<Vec<Vec<NodeId>>>,
}

impl<'a> Ahead<'a> {
    fn of(analysis: &'a Analysis, divides: Vec<Vec<bool>>) -> Self {
        let graphs = &analysis.graphs;
        let names: FxHashMap<&str, usize> =
            analysis.procedures.iter().enumerate().map(|(n, p)| (p.name.as_str(), n)).collect();
        let defined: Vec<Option<usize>> =
            analysis.symbols.iter().map(|s| names.get(s.name.as_str()).copied()).collect();
        let mut callers = vec![Vec::new(); graphs.len()];
        let mut before: Vec<Vec<Vec<NodeId>>> = Vec::new();
        for (number, graph) in graphs.iter().enumerate() {
            let mut of_graph = vec![Vec::new(); graph.nodes.len()];
            graph.edges.iter().for_each(|edge| of_graph[edge.to.ix()].push(edge.from));
            before.push(of_graph);
            for (index, node) in graph.nodes.iter().enumerate() {
                for callee in node.calls.iter().filter_map(|symbol| defined[*symbol as usize]) {
                    callers[callee].push((number, NodeId::new(index)));
                }
            }
        }
        let ahead = graphs.iter().map(|graph| vec![true; graph.nodes.len()]).collect();
        let mut found = Self { analysis, divides, ahead, defined, callers, before };
        found.settle();
        found
    }

    fn settle(&mut self) {
        let mut todo: Vec<(usize, NodeId)> = Vec::new();
        for (number, graph) in self.analysis.graphs.iter().enumerate() {
            todo.extend((0..graph.nodes.len()).map(|node| (number, NodeId::new(node))));
        }
        while let Some((number, node)) = todo.pop() {
            if !self.ahead[number][node.ix()] || self.holds(number, node) {
                continue;
            }
            self.ahead[number][node.ix()] = false;
            todo.extend(self.before[number][node.ix()].iter().map(|before| (number, *before)));
            if node == Graph::ENTRY {
                todo.extend(&self.callers[number]);
            }
            // What follows a call is what follows the end of the procedure.
            for before in &self.before[number][node.ix()] {
                todo.extend(self.callees(number, *before).map(|callee| (callee, Graph::EXIT)));
            }
        }
    }

    fn holds(&self, number: usize, node: NodeId) -> bool {
        if node == Graph::EXIT {
            return self.callers[number]
                .iter()
                .any(|(caller, at)| self.divides[*caller][at.ix()] || self.follows(*caller, *at));
        }
        self.divides[number][node.ix()]
            || self.callees(number, node).any(|callee| self.ahead[callee][Graph::ENTRY.ix()])
            || self.follows(number, node)
    }

    /// Whether all ways on from a node come to a division.
    fn follows(&self, number: usize, node: NodeId) -> bool {
        let mut ways = self.analysis.graphs[number].out_edges(node).peekable();
        ways.peek().is_some() && ways.all(|(_, edge)| self.ahead[number][edge.to.ix()])
    }

    fn callees(&self, number: usize, node: NodeId) -> impl Iterator<Item = usize> {
        let calls = &self.analysis.graphs[number].node(node).calls;
        calls.iter().filter_map(|symbol| self.defined[*symbol as usize])
    }
}
