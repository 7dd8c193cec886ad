//! From joins and nodes to a graph of nodes.

use super::*;
use rustc_hash::FxHashSet;

impl Builder<'_, '_> {
    /// Replaces joins by what follows them and drops what cannot be reached.
    pub(super) fn finish(mut self) -> Draft {
        let mut next: Vec<Option<NodeId>> = vec![None; self.nodes.len()];
        for edge in &self.edges {
            if matches!(self.nodes[edge.from.ix()], Item::Join) {
                next[edge.from.ix()] = Some(edge.to);
            }
        }
        let targets: Vec<NodeId> =
            (0..self.nodes.len()).map(|id| self.follow(NodeId::new(id), &mut next)).collect();
        // Keep the real nodes that can be reached, in the order they were made.
        let mut out: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (index, edge) in self.edges.iter().enumerate() {
            let is_real = matches!(self.nodes[edge.from.ix()], Item::Node(_));
            if is_real {
                out[edge.from.ix()].push(index);
            }
        }
        let mut reached = vec![false; self.nodes.len()];
        reached[1] = true;
        let mut todo = vec![NodeId(0)];
        while let Some(node) = todo.pop() {
            if !std::mem::replace(&mut reached[node.ix()], true) {
                todo.extend(out[node.ix()].iter().map(|e| targets[self.edges[*e].to.ix()]));
            }
        }
        let mut number = vec![NodeId(0); self.nodes.len()];
        let mut draft = Draft::default();
        for (old, item) in self.nodes.into_iter().enumerate() {
            if let (Item::Node(node), true) = (item, reached[old]) {
                number[old] = NodeId::new(draft.nodes.len());
                draft.nodes.push(node);
            }
        }
        for edge in self.edges {
            if reached[edge.from.ix()] && !out[edge.from.ix()].is_empty() {
                draft.edges.push(DraftEdge {
                    from: number[edge.from.ix()],
                    to: number[targets[edge.to.ix()].ix()],
                    label: edge.label,
                    site: edge.site,
                });
            }
        }
        draft.edges.sort_by_key(|edge| edge.from);
        draft
    }

    /// The real node that a chain of joins leads to. A ring of joins is an
    /// endless loop and becomes a node.
    fn follow(&mut self, start: NodeId, next: &mut [Option<NodeId>]) -> NodeId {
        let mut seen = Vec::new();
        let mut is_seen = FxHashSet::default();
        let mut at = start;
        while matches!(self.nodes[at.ix()], Item::Join) {
            if !is_seen.insert(at) {
                let spin = DraftNode::new(NodeKind::Spin, Vec::new(), self.start);
                self.nodes[at.ix()] = Item::Node(spin);
                return at;
            }
            seen.push(at);
            match next[at.ix()] {
                Some(to) => at = to,
                // Behind a loop that never ends: nobody gets there.
                None => return NodeId(1),
            }
        }
        // Later walks take the short way.
        for join in seen {
            next[join.ix()] = Some(at);
        }
        at
    }
}
