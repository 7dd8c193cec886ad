//! Branches that the optimizer decides: a condition with `__builtin_constant_p` and its kin may hold in a
//! program with probes and not in the same program without them, and the other way round. So whatever
//! lies between such a branch and the place where its ways meet counts as taken, whichever way
//! the program went.

use crate::cfg::format::Graph;
use crate::ids::NodeId;
use std::collections::BTreeSet;

/// What counts as taken in one graph because of such branches.
#[derive(Debug, Default, PartialEq)]
pub struct Doubt {
    /// Nodes that took all their ways if they ran.
    pub nodes: BTreeSet<NodeId>,
    /// Nodes on one of the ways, with what is called there and not on all the others: it may have run
    /// without a trace. As indices into the symbols.
    pub calls: Vec<(NodeId, u32)>,
}

impl Doubt {
    /// `asks` says of each node whether it asks the optimizer.
    pub fn of(graph: &Graph, asks: &[bool]) -> Self {
        let mut doubt = Self::default();
        if !asks.contains(&true) {
            return doubt;
        }
        let meets = Meetings::of(graph);
        let mut calls: BTreeSet<(NodeId, u32)> = BTreeSet::new();
        for node in (0..asks.len()).filter(|ix| asks[*ix]).map(NodeId::new) {
            let ways: Vec<NodeId> = graph.out_edges(node).map(|(_, edge)| edge.to).collect();
            // A value that is kept may decide about anything behind it.
            let until = meets.of_ways(node).filter(|_| ways.len() > 1);
            let behind: Vec<BTreeSet<NodeId>> =
                ways.iter().map(|way| reached(graph, *way, until)).collect();
            let called = |nodes: &BTreeSet<NodeId>| -> BTreeSet<u32> {
                nodes.iter().flat_map(|node| graph.node(*node).calls.iter().copied()).collect()
            };
            let called: Vec<BTreeSet<u32>> = behind.iter().map(called).collect();
            for node in behind.iter().flatten() {
                let own = graph.node(*node).calls.iter().copied();
                let unsure = own.filter(|call| called.iter().any(|way| !way.contains(call)));
                calls.extend(unsure.map(|call| (*node, call)));
            }
            doubt.nodes.insert(node);
            doubt.nodes.extend(behind.into_iter().flatten());
        }
        doubt.calls = calls.into_iter().collect();
        doubt
    }
}

/// Nodes that a way leads to before it comes to another one.
fn reached(graph: &Graph, way: NodeId, until: Option<NodeId>) -> BTreeSet<NodeId> {
    let mut found = BTreeSet::new();
    let mut todo = vec![way];
    while let Some(node) = todo.pop() {
        if Some(node) != until && found.insert(node) {
            todo.extend(graph.out_edges(node).map(|(_, edge)| edge.to));
        }
    }
    found
}

/// For each node, the first one that all ways from it come to (its immediate post-dominator), by the
/// algorithm of Cooper, Harvey and Kennedy. Nodes without a way out lead to one end together.
struct Meetings {
    next: Vec<Option<usize>>,
}

impl Meetings {
    fn of(graph: &Graph) -> Self {
        let end = graph.nodes.len();
        let mut ways: Vec<Vec<usize>> = vec![Vec::new(); end + 1];
        let mut back: Vec<Vec<usize>> = vec![Vec::new(); end + 1];
        for edge in &graph.edges {
            ways[edge.from.ix()].push(edge.to.ix());
        }
        ways[..end].iter_mut().filter(|ways| ways.is_empty()).for_each(|ways| ways.push(end));
        for (from, ways) in ways.iter().enumerate() {
            ways.iter().for_each(|to| back[*to].push(from));
        }
        let order = postorder(&back, end);
        let mut number = vec![usize::MAX; end + 1];
        order.iter().enumerate().for_each(|(place, node)| number[*node] = place);
        let mut next: Vec<Option<usize>> = vec![None; end + 1];
        next[end] = Some(end);
        let mut is_settled = false;
        while !is_settled {
            is_settled = true;
            for node in order.iter().rev().filter(|node| **node != end) {
                let known = ways[*node].iter().copied().filter(|way| next[*way].is_some());
                let meeting = known.reduce(|a, b| meet(&next, &number, a, b));
                if meeting != next[*node] {
                    next[*node] = meeting;
                    is_settled = false;
                }
            }
        }
        Self { next }
    }

    fn of_ways(&self, node: NodeId) -> Option<NodeId> {
        let end = self.next.len() - 1;
        self.next[node.ix()].filter(|next| *next != end).map(NodeId::new)
    }
}

fn meet(next: &[Option<usize>], number: &[usize], mut a: usize, mut b: usize) -> usize {
    let up = |node: usize| next[node].unwrap_or(next.len() - 1);
    while a != b {
        while number[a] < number[b] {
            a = up(a);
        }
        while number[b] < number[a] {
            b = up(b);
        }
    }
    a
}

/// Nodes that lead to the end, each behind those that it is the way on from.
fn postorder(back: &[Vec<usize>], end: usize) -> Vec<usize> {
    let mut order = Vec::with_capacity(back.len());
    let mut is_seen = vec![false; back.len()];
    is_seen[end] = true;
    let mut todo = vec![(end, 0)];
    while let Some((node, at)) = todo.pop() {
        match back[node].get(at) {
            Some(before) => {
                todo.push((node, at + 1));
                if !std::mem::replace(&mut is_seen[*before], true) {
                    todo.push((*before, 0));
                }
            }
            None => order.push(node),
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cfg::unit;
    use crate::frontend;
    use rustc_hash::FxHashMap;

    /// Texts of the nodes of `f` that count as having taken all ways, and what may have been called.
    fn doubt(body: &str) -> (Vec<String>, Vec<String>) {
        let text = format!("int a(int), b(int), c(int);\nint f(int x)\n{{ {body} }}\n");
        let mut tree = frontend::analyse(text.as_bytes(), None, &|_| false);
        let analysis = unit::analyse(&mut tree, &FxHashMap::default());
        let graph = &analysis.graphs[0];
        let doubt = Doubt::of(graph, &analysis.asks_optimizer[0]);
        let texts = doubt.nodes.iter().map(|node| graph.node(*node).text.clone()).collect();
        let calls =
            doubt.calls.iter().map(|(_, call)| analysis.symbols[*call as usize].name.clone());
        (texts, calls.collect())
    }

    #[test]
    fn ways_count_until_they_meet() {
        let (nodes, calls) =
            doubt("if (__builtin_constant_p(x)) { if (x) a(x); b(x); } else b(x); c(x); return 1;");
        assert_eq!(nodes, ["__builtin_constant_p(x)", "x", "a(x);", "b(x);", "b(x);"]);
        assert_eq!(calls, ["a"]);
    }

    #[test]
    fn behind_a_return_the_rest_is_the_other_way() {
        let (nodes, calls) =
            doubt("a(1); if (!__builtin_constant_p(x)) return b(x); c(x); return 1;");
        assert_eq!(nodes, ["!__builtin_constant_p(x)", "return b(x);", "c(x);", "return 1;"]);
        assert_eq!(calls, ["b", "c"]);
    }

    #[test]
    fn a_value_counts_for_all_that_is_behind_it() {
        let (nodes, calls) = doubt("int k = __builtin_object_size(&x, 0); if (k) a(x); return 1;");
        assert_eq!(nodes.len(), 5, "{nodes:?}");
        assert!(calls.is_empty());
        assert_eq!(doubt("if (x) a(x); return 1;"), (Vec::new(), Vec::new()));
    }
}
