//! From joins and nodes to a graph of nodes.

use super::*;
use rustc_hash::FxHashSet;

impl Builder<'_, '_> {
    /// Replaces joins by what follows them and drops what cannot be reached.
    pub(super) fn finish(mut self) -> Draft {
        self.edges.sort_by_key(|edge| edge.from);
        let mut next: Vec<Option<NodeId>> = vec![None; self.nodes.len()];
        for edge in &self.edges {
            if matches!(self.nodes[edge.from.ix()], Item::Join) {
                next[edge.from.ix()] = Some(edge.to);
            }
        }
        let targets: Vec<NodeId> =
            (0..self.nodes.len()).map(|id| self.follow(NodeId::new(id), &mut next)).collect();
        // Keep the real nodes that can be reached, in the order they were made.
        let mut reached = vec![false; self.nodes.len()];
        reached[1] = true;
        let mut todo = vec![NodeId(0)];
        while let Some(node) = todo.pop() {
            if !std::mem::replace(&mut reached[node.ix()], true) {
                let first = self.edges.partition_point(|edge| edge.from < node);
                let out = self.edges[first..].iter().take_while(|edge| edge.from == node);
                todo.extend(out.map(|edge| targets[edge.to.ix()]));
            }
        }
        let mut number = Vec::with_capacity(self.nodes.len());
        let mut count = 0;
        for is_reached in &reached {
            number.push(NodeId::new(count));
            count += usize::from(*is_reached);
        }
        let real = |(old, item)| match item {
            Item::Node(node) if reached[old] => Some(node),
            _ => None,
        };
        let mut nodes: Vec<DraftNode> =
            self.nodes.into_iter().enumerate().filter_map(real).collect();
        nodes.shrink_to_fit();
        // Joins are never reached, so these are the edges of real nodes.
        self.edges.retain(|edge| reached[edge.from.ix()]);
        for edge in &mut self.edges {
            edge.from = number[edge.from.ix()];
            edge.to = number[targets[edge.to.ix()].ix()];
        }
        self.edges.shrink_to_fit();
        Draft { nodes, edges: self.edges }
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
