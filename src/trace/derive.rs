//! All edges of a graph from those that carry a probe: a node ran if an edge
//! into it was taken, and a node with one way out took it.

use crate::cfg::format::Graph;
use crate::ids::{EdgeId, NodeId};
use bitvec::prelude::*;

/// Edge bits of one procedure.
pub type EdgeBits = BitVec<u8, Lsb0>;

/// The edges that were taken, given the bytes of the unit's probes.
pub fn edges_taken(graph: &Graph, probes: &[u8]) -> EdgeBits {
    let mut taken = bitvec![u8, Lsb0; 0; graph.edges.len()];
    let mut ran = vec![false; graph.nodes.len()];
    let mut todo: Vec<NodeId> = Vec::new();
    let take = |edge: EdgeId, taken: &mut EdgeBits, ran: &mut Vec<bool>, todo: &mut Vec<NodeId>| {
        if !taken[edge.ix()] {
            taken.set(edge.ix(), true);
            let to = graph.edge(edge).to;
            if !std::mem::replace(&mut ran[to.ix()], true) {
                todo.push(to);
            }
        }
    };
    for (index, edge) in graph.edges.iter().enumerate() {
        let set = edge.probe.is_some_and(|p| probes.get(p.ix()).is_some_and(|byte| *byte != 0));
        if set {
            take(EdgeId::new(index), &mut taken, &mut ran, &mut todo);
        }
    }
    while let Some(node) = todo.pop() {
        // An edge with a probe speaks for itself. Of several without one, as
        // `a ?: b` has, any may have been taken.
        for (edge, _) in graph.out_edges(node).filter(|(_, edge)| edge.probe.is_none()) {
            take(edge, &mut taken, &mut ran, &mut todo);
        }
    }
    taken
}

/// The procedure was entered.
pub fn entered(graph: &Graph, taken: &BitSlice<u8, Lsb0>) -> bool {
    graph.out_edges(Graph::ENTRY).any(|(edge, _)| taken[edge.ix()])
}
