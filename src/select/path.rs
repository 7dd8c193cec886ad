//! The complete paths of a test against a graph of pairs: the most precise
//! answer there is.

use super::pairs::{PairGraph, PairIx, Target};
use crate::cfg::format::{Graph, Logged, NodeKind};
use crate::ids::NodeId;
use bitvec::prelude::*;
use rustc_hash::FxHashSet;

/// The rejected edges that paths take, each the nodes of one run of the
/// procedure as they were logged.
pub fn rejected(
    old: &Graph,
    pairs: &PairGraph,
    taken: &BitSlice<u8, Lsb0>,
    paths: &[Vec<NodeId>],
) -> Vec<u32> {
    let mut found = FxHashSet::default();
    let follower = Follower { old, pairs, taken };
    for path in paths {
        let mut at = FxHashSet::from_iter([PairGraph::ENTRY]);
        for node in path {
            at = follower.step(&at, Some(*node), &mut found);
        }
        follower.step(&at, None, &mut found);
    }
    let mut found: Vec<u32> = found.into_iter().collect();
    found.sort_unstable();
    found
}

struct Follower<'a> {
    old: &'a Graph,
    pairs: &'a PairGraph,
    taken: &'a BitSlice<u8, Lsb0>,
}

impl Follower<'_> {
    /// Goes on to the next node that was logged, or to wherever a path may have
    /// ended. Nodes between may log nothing: then all ways count that the test
    /// took at some time.
    fn step(
        &self,
        from: &FxHashSet<PairIx>,
        node: Option<NodeId>,
        found: &mut FxHashSet<u32>,
    ) -> FxHashSet<PairIx> {
        let mut next = FxHashSet::default();
        let mut todo: Vec<PairIx> = from.iter().copied().collect();
        let mut seen = from.clone();
        while let Some(pair) = todo.pop() {
            for edge in self.pairs.out_edges(pair) {
                let is_taken = self.taken.get(edge.old.ix()).is_some_and(|bit| *bit);
                let target = self.old.edge(edge.old).to;
                let is_there = node == Some(target);
                if !is_taken || !(is_there || self.is_silent(target, node.is_none())) {
                    continue;
                }
                match edge.to {
                    Target::Reject(place) => {
                        found.insert(place);
                    }
                    Target::Pair(to, _) if is_there => {
                        next.insert(to);
                    }
                    Target::Pair(to, _) => {
                        if seen.insert(to) {
                            todo.push(to);
                        }
                    }
                }
            }
        }
        next
    }

    /// Whether a node may have run although the log does not have it.
    fn is_silent(&self, node: NodeId, is_last: bool) -> bool {
        let node = self.old.node(node);
        match node.logged {
            Logged::Not => is_last || node.kind != NodeKind::Exit,
            // Its calls did not return.
            Logged::Done => is_last,
            Logged::Begun => false,
        }
    }
}
