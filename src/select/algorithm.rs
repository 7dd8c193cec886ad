//! The techniques that `--algorithm` offers, and what each makes of one pair of
//! procedures and the edges that a test took in it.

use super::pairs::{PairGraph, PairIx, Target};
use crate::cfg::format::Graph;
use crate::ids::{EdgeId, NodeId};
use bitvec::prelude::*;
use rustc_hash::FxHashSet;

/// Beyond so many steps `valid` is not worth its time, and `full`
/// answers instead.
const MOST_ORDERED: usize = 20_000_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Algorithm {
    /// The sharpest that is safe for each procedure, at the least cost
    #[default]
    Auto,
    /// SelectTests of Rothermel and Harrold, on each pair of procedures
    RhIntra,
    /// SelectInterTests of Rothermel and Harrold, from main on
    Rh,
    /// Ball's partial reachability
    Partial,
    /// Ball's full reachability
    Full,
    /// Ball's valid reachability where it is safe, else full
    Valid,
    /// The complete paths that were recorded, with `--granularity path`
    Path,
    /// Tests that entered a changed procedure
    Procedure,
    /// Tests that ran a program with a changed file in it
    File,
    /// All tests
    All,
}

impl Algorithm {
    /// Whether procedures are opened along the calls from the roots on. Others
    /// compare each changed procedure by itself.
    pub fn follows_calls(self) -> bool {
        matches!(self, Self::Rh | Self::Partial | Self::Full | Self::Valid)
    }
}

/// What is asked of one pair of procedures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharpness {
    /// The test took an edge that is rejected from some pair.
    Rh,
    /// It also left the pairs from which the exits can be reached.
    Partial,
    /// A rejected edge can be reached over edges that the test took.
    Full,
    /// The same, in an order in which one path can take them.
    Valid,
}

impl Algorithm {
    /// How to look at a pair of procedures. `is_one_path` says that what the test
    /// took there is one path, and exactly that.
    pub fn sharpness(self, pairs: &PairGraph, is_one_path: bool) -> Sharpness {
        let sharpest = if is_one_path { Sharpness::Valid } else { Sharpness::Full };
        match self {
            Self::Partial => Sharpness::Partial,
            Self::Full => Sharpness::Full,
            Self::Valid => sharpest,
            // Where each node has one counterpart, the others find nothing more.
            Self::Auto | Self::Path if pairs.is_multiply_visited => sharpest,
            _ => Sharpness::Rh,
        }
    }
}

/// The rejected edges for which a test is selected, by their places in the
/// graph of pairs; none if it is not.
pub fn rejected(
    sharpness: Sharpness,
    old: &Graph,
    pairs: &PairGraph,
    taken: &BitSlice<u8, Lsb0>,
) -> Vec<u32> {
    match sharpness {
        Sharpness::Rh => rejects_taken(pairs, taken),
        Sharpness::Partial => {
            let accepting = accepting(pairs);
            let enters = accepting[PairGraph::ENTRY as usize];
            if enters && !leaves(pairs, &accepting, taken) {
                return Vec::new();
            }
            rejects_taken(pairs, taken)
        }
        Sharpness::Full => ways_to_reject(pairs, taken, &FxHashSet::default()).rejects,
        Sharpness::Valid => valid(old, pairs, taken),
    }
}

fn is_taken(taken: &BitSlice<u8, Lsb0>, edge: EdgeId) -> bool {
    taken.get(edge.ix()).is_some_and(|bit| *bit)
}

fn rejects_taken(pairs: &PairGraph, taken: &BitSlice<u8, Lsb0>) -> Vec<u32> {
    let rejects = (0..).zip(&pairs.rejects);
    rejects.filter(|(_, reject)| is_taken(taken, reject.edge)).map(|(place, _)| place).collect()
}

/// Pairs from which accept can be reached.
fn accepting(pairs: &PairGraph) -> Vec<bool> {
    let mut into: Vec<Vec<PairIx>> = vec![Vec::new(); pairs.nodes.len()];
    for edge in pairs.edges() {
        if let Target::Pair(to, _) = edge.to {
            into[to as usize].push(edge.from);
        }
    }
    let mut found = vec![false; pairs.nodes.len()];
    let mut todo: Vec<PairIx> = pairs.accept.into_iter().collect();
    while let Some(pair) = todo.pop() {
        if !std::mem::replace(&mut found[pair as usize], true) {
            todo.append(&mut into[pair as usize]);
        }
    }
    found
}

/// Whether an edge was taken that leads out of the accepting pairs.
fn leaves(pairs: &PairGraph, accepting: &[bool], taken: &BitSlice<u8, Lsb0>) -> bool {
    pairs.edges().iter().any(|edge| {
        let stays = match edge.to {
            Target::Pair(to, _) => accepting[to as usize],
            Target::Reject(_) => false,
        };
        accepting[edge.from as usize] && !stays && is_taken(taken, edge.old)
    })
}

/// The part of a graph of pairs that lies on ways from its entry to a rejected
/// edge.
#[derive(Default)]
struct WaysToReject {
    rejects: Vec<u32>,
    /// Old edges on such ways: the paper's R.
    edges: FxHashSet<EdgeId>,
}

/// Ways over edges that were taken, apart from `dead` ones.
fn ways_to_reject(
    pairs: &PairGraph,
    taken: &BitSlice<u8, Lsb0>,
    dead: &FxHashSet<EdgeId>,
) -> WaysToReject {
    let mut ways = WaysToReject::default();
    let mut reached = vec![false; pairs.nodes.len()];
    let mut into: Vec<Vec<(PairIx, EdgeId)>> = vec![Vec::new(); pairs.nodes.len()];
    let (mut todo, mut before_reject) = (vec![PairGraph::ENTRY], Vec::new());
    reached[PairGraph::ENTRY as usize] = true;
    while let Some(pair) = todo.pop() {
        for edge in pairs.out_edges(pair) {
            if !is_taken(taken, edge.old) || dead.contains(&edge.old) {
                continue;
            }
            match edge.to {
                Target::Reject(place) => {
                    ways.rejects.push(place);
                    ways.edges.insert(edge.old);
                    before_reject.push(pair);
                }
                Target::Pair(to, _) => {
                    into[to as usize].push((pair, edge.old));
                    if !std::mem::replace(&mut reached[to as usize], true) {
                        todo.push(to);
                    }
                }
            }
        }
    }
    let mut seen = vec![false; pairs.nodes.len()];
    while let Some(pair) = before_reject.pop() {
        if std::mem::replace(&mut seen[pair as usize], true) {
            continue;
        }
        for (from, edge) in &into[pair as usize] {
            ways.edges.insert(*edge);
            before_reject.push(*from);
        }
    }
    ways.rejects.sort_unstable();
    ways.rejects.dedup();
    ways
}

/// Valid reachability. As printed, one edge e outside of R that comes before an
/// edge f of R clears the test, although another way to reject may do without
/// f. So f alone is taken away, and what is left is looked at again.
fn valid(old: &Graph, pairs: &PairGraph, taken: &BitSlice<u8, Lsb0>) -> Vec<u32> {
    let count = taken.count_ones();
    if count.saturating_mul(count.max(old.nodes.len())) > MOST_ORDERED {
        return ways_to_reject(pairs, taken, &FxHashSet::default()).rejects;
    }
    let order = Order::new(old, taken);
    let mut dead = FxHashSet::default();
    loop {
        let ways = ways_to_reject(pairs, taken, &dead);
        if ways.rejects.is_empty() {
            return Vec::new();
        }
        let outside: Vec<EdgeId> =
            order.edges.iter().copied().filter(|edge| !ways.edges.contains(edge)).collect();
        let before = dead.len();
        for first in outside {
            dead.extend(order.behind(first).filter(|edge| ways.edges.contains(edge)));
        }
        if dead.len() == before {
            return ways.rejects;
        }
    }
}

/// The edges that a path took, and which of them come first on every path over
/// them.
struct Order<'g> {
    old: &'g Graph,
    edges: Vec<EdgeId>,
    /// For each node, the edges taken that leave it.
    out: Vec<Vec<EdgeId>>,
}

impl<'g> Order<'g> {
    fn new(old: &'g Graph, taken: &BitSlice<u8, Lsb0>) -> Self {
        let edges = taken.iter_ones().filter(|edge| *edge < old.edges.len());
        let edges: Vec<EdgeId> = edges.map(EdgeId::new).collect();
        let mut out = vec![Vec::new(); old.nodes.len()];
        for edge in &edges {
            out[old.edge(*edge).from.ix()].push(*edge);
        }
        Self { old, edges, out }
    }

    /// Edges f whose first run comes behind the first run of `first`, on every path
    /// that takes both: those that cannot be reached without it, and those from
    /// which no way leads back to it.
    fn behind(&self, first: EdgeId) -> impl Iterator<Item = EdgeId> {
        let (from, to) = (self.old.edge(first).from, self.old.edge(first).to);
        let without = self.reach(Graph::ENTRY, Some(first));
        let after = self.reach(to, None);
        let leads_here: Vec<bool> = self.leading_to(from);
        self.edges.iter().copied().filter(move |edge| {
            let other = self.old.edge(*edge);
            *edge != first
                && (!without[other.from.ix()]
                    || after[other.from.ix()] && !leads_here[other.to.ix()])
        })
    }

    fn reach(&self, from: NodeId, without: Option<EdgeId>) -> Vec<bool> {
        let mut reached = vec![false; self.out.len()];
        let mut todo = vec![from];
        while let Some(node) = todo.pop() {
            if !std::mem::replace(&mut reached[node.ix()], true) {
                let edges = self.out[node.ix()].iter().filter(|edge| Some(**edge) != without);
                todo.extend(edges.map(|edge| self.old.edge(*edge).to));
            }
        }
        reached
    }

    /// Nodes from which a node can be reached.
    fn leading_to(&self, node: NodeId) -> Vec<bool> {
        let mut into: Vec<Vec<NodeId>> = vec![Vec::new(); self.out.len()];
        for edge in self.edges.iter().map(|edge| self.old.edge(*edge)) {
            into[edge.to.ix()].push(edge.from);
        }
        let mut found = vec![false; self.out.len()];
        let mut todo = vec![node];
        while let Some(node) = todo.pop() {
            if !std::mem::replace(&mut found[node.ix()], true) {
                todo.append(&mut into[node.ix()]);
            }
        }
        found
    }
}
