//! The algorithms on random pairs of graphs and random paths, against brute
//! force: whoever leaves the new graph is selected, however the path ends and
//! however many were taken; and each algorithm is as sharp as it should be. As
//! the papers print them, two of them are not safe: that shows here too.

use bitvec::prelude::*;
use edgewise::cfg::format::{Edge, EdgeLabel, Graph, Logged, Node, NodeKind, Noted, Place};
use edgewise::ids::{EdgeId, Fingerprint, NodeId};
use edgewise::select::algorithm::{Sharpness, rejected};
use edgewise::select::pairs::{Because, PairGraph, Target};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

type Row = BitVec<u8, Lsb0>;

const ALL: [Sharpness; 4] = [Sharpness::Rh, Sharpness::Partial, Sharpness::Full, Sharpness::Valid];

/// For each node its text, and where its edges lead; the last node is the exit.
#[derive(Clone, Debug)]
struct Sketch(Vec<(u8, Vec<usize>)>);

impl Sketch {
    /// As a graph: the entry, the exit, and then the nodes.
    fn graph(&self) -> Graph {
        let last = self.0.len() - 1;
        let place = |node: usize| if node == last { Graph::EXIT } else { NodeId::new(node + 2) };
        let mut graph = Graph {
            nodes: vec![node(NodeKind::Entry, 250), node(NodeKind::Exit, 251)],
            edges: vec![edge(Graph::ENTRY, place(0), EdgeLabel::Always)],
        };
        for (number, (text, targets)) in self.0[..last].iter().enumerate() {
            graph.nodes.push(node(NodeKind::Statement, *text));
            for (way, target) in targets.iter().enumerate() {
                let label = match (targets.len(), way) {
                    (1, _) => EdgeLabel::Always,
                    (_, 0) => EdgeLabel::True,
                    _ => EdgeLabel::False,
                };
                graph.edges.push(edge(place(number), place(*target), label));
            }
        }
        graph
    }

    /// Every node is reached, and from every node the exit.
    fn is_sound(&self) -> bool {
        let reach = |from: usize| {
            let (mut seen, mut todo) = (BTreeSet::from([from]), vec![from]);
            while let Some(node) = todo.pop() {
                todo.extend(self.0[node].1.iter().filter(|to| seen.insert(**to)));
            }
            seen
        };
        let last = self.0.len() - 1;
        reach(0).len() == self.0.len() && (0..last).all(|node| reach(node).contains(&last))
    }
}

fn node(kind: NodeKind, text: u8) -> Node {
    Node {
        kind,
        label: Fingerprint::of(&[text]),
        strict: None,
        place: Place::default(),
        token: 0,
        text: String::new(),
        calls: Vec::new(),
        calls_are_certain: true,
        calls_in_full: Vec::new(),
        calls_pointer: false,
        mentions: Vec::new(),
        logged: Logged::Not,
    }
}

fn edge(from: NodeId, to: NodeId, label: EdgeLabel) -> Edge {
    Edge { from, to, label, noted: Noted::Follows }
}

fn pairs(old: &Graph, new: &Graph) -> PairGraph {
    PairGraph::between(old, new, |a, b| (a.label != b.label).then_some(Because::Node))
}

/// Two graphs over the same texts. Equal texts have equal numbers of ways out.
fn sketches() -> impl Strategy<Value = (Sketch, Sketch)> {
    let arities = prop::collection::vec(1..=2usize, 2..=4);
    arities.prop_flat_map(|arities| (sketch(arities.clone(), 6), sketch(arities, 7)))
}

fn sketch(arities: Vec<usize>, most: usize) -> impl Strategy<Value = Sketch> {
    let texts = prop::collection::vec(0..arities.len(), 1..most - 1);
    let ways = prop::collection::vec(any::<prop::sample::Index>(), 2 * most);
    (texts, ways).prop_map(move |(mut texts, ways)| {
        texts[0] = 0;
        let size = texts.len() + 1;
        let mut ways = ways.into_iter();
        let mut nodes: Vec<(u8, Vec<usize>)> = Vec::new();
        for text in texts {
            let targets = (&mut ways).take(arities[text]);
            let targets = targets.map(|to| 1 + to.index(size - 1)).collect();
            nodes.push((text as u8, targets));
        }
        nodes.push((251, Vec::new()));
        Sketch(nodes)
    })
}

/// A path by choices; complete if it comes to the exit within them.
fn follow(graph: &Graph, choices: &[bool]) -> (Vec<EdgeId>, bool) {
    let (mut at, mut path) = (Graph::ENTRY, Vec::new());
    for choice in choices {
        let ways: Vec<_> = graph.out_edges(at).collect();
        let Some((id, edge)) = ways.get(usize::from(*choice) % ways.len().max(1)) else { break };
        path.push(*id);
        at = edge.to;
    }
    (path, at == Graph::EXIT)
}

fn row(graph: &Graph, edges: &[EdgeId]) -> Row {
    let mut row = bitvec![u8, Lsb0; 0; graph.edges.len()];
    edges.iter().for_each(|edge| row.set(edge.ix(), true));
    row
}

/// Whether a path leaves the new graph.
fn leaves(pairs: &PairGraph, path: &[EdgeId]) -> bool {
    let mut at = PairGraph::ENTRY;
    for edge in path {
        match pairs.out_edges(at).iter().find(|pair| pair.old == *edge).unwrap().to {
            Target::Reject(_) => return true,
            Target::Pair(to, _) => at = to,
        }
    }
    false
}

/// Whether any complete path with exactly these edges leaves the new graph.
fn some_path_leaves(old: &Graph, pairs: &PairGraph, row: &Row) -> bool {
    let numbers: BTreeMap<usize, u32> = row.iter_ones().zip(0..).collect();
    let every = (1u64 << numbers.len()) - 1;
    let start = (Graph::ENTRY, Some(PairGraph::ENTRY), 0u64);
    let (mut seen, mut todo) = (HashSet::from([start]), VecDeque::from([start]));
    while let Some((node, pair, taken)) = todo.pop_front() {
        if node == Graph::EXIT && pair.is_none() && taken == every {
            return true;
        }
        for (id, edge) in old.out_edges(node) {
            let Some(number) = numbers.get(&id.ix()) else { continue };
            let pair = pair.and_then(|pair| {
                let ways = pairs.out_edges(pair);
                match ways.iter().find(|way| way.old == id).unwrap().to {
                    Target::Reject(_) => None,
                    Target::Pair(to, _) => Some(to),
                }
            });
            let next = (edge.to, pair, taken | 1 << number);
            if seen.insert(next) {
                todo.push_back(next);
            }
        }
    }
    false
}

fn is_selected(sharpness: Sharpness, old: &Graph, pairs: &PairGraph, row: &Row) -> bool {
    !rejected(sharpness, old, pairs, row).is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn no_path_that_leaves_the_new_graph_is_missed(
        (old, new) in sketches().prop_filter("sound", |(a, b)| a.is_sound() && b.is_sound()),
        choices in prop::collection::vec(prop::collection::vec(any::<bool>(), 40), 4),
        cut in 1..20usize,
    ) {
        let (old, new) = (old.graph(), new.graph());
        let pairs = pairs(&old, &new);
        let paths: Vec<(Vec<EdgeId>, bool)> =
            choices.iter().map(|choices| follow(&old, choices)).collect();
        for (path, is_complete) in &paths {
            for path in [&path[..], &path[..cut.min(path.len())]] {
                let row = row(&old, path);
                let verdicts = ALL.map(|sharpness| is_selected(sharpness, &old, &pairs, &row));
                prop_assert!(verdicts.is_sorted_by(|a, b| a >= b), "one is sharper: {verdicts:?}");
                if leaves(&pairs, path) {
                    prop_assert_eq!(verdicts, [true; 4], "{:?}", path);
                }
            }
            // Edge-optimal: what is not selected by `valid` and what need not be are
            // the same.
            let row = row(&old, path);
            if *is_complete && row.count_ones() < 20 {
                let needed = some_path_leaves(&old, &pairs, &row);
                prop_assert_eq!(is_selected(Sharpness::Valid, &old, &pairs, &row), needed);
            }
        }
        // Several runs of a procedure: `valid` needs one path.
        for (one, other) in paths.iter().zip(&paths[1..]) {
            let both: Vec<EdgeId> = one.0.iter().chain(&other.0).copied().collect();
            let row = row(&old, &both);
            if leaves(&pairs, &one.0) || leaves(&pairs, &other.0) {
                for sharpness in [Sharpness::Rh, Sharpness::Partial, Sharpness::Full] {
                    prop_assert!(is_selected(sharpness, &old, &pairs, &row), "{:?}", sharpness);
                }
            }
        }
        // Where each node has one counterpart, the first is as sharp as the last.
        if !pairs.is_multiply_visited {
            for (path, _) in &paths {
                let row = row(&old, path);
                let [rh, .., valid] = ALL.map(|s| is_selected(s, &old, &pairs, &row));
                prop_assert_eq!(rh, valid);
            }
        }
    }
}

/// How many pairs of graphs: more for a longer look.
fn cases() -> u32 {
    let seeds = std::env::var("EDGEWISE_SEEDS").ok().and_then(|n| n.parse().ok());
    seeds.unwrap_or(2000)
}

fn taken(old: &Graph, choices: &[bool]) -> (Vec<EdgeId>, Row) {
    let (path, is_complete) = follow(old, choices);
    assert!(is_complete);
    (path.clone(), row(old, &path))
}

/// As printed, one pair of edges e before f, with f on a way to reject and e not,
/// clears the test, although reject can be reached without f.
#[test]
fn valid_reachability_as_printed_misses_a_path() {
    // A -> P, B -> P, P -0-> B, P -1-> exit; A and B have the same text.
    let old = Sketch(vec![(0, vec![1]), (1, vec![2, 3]), (0, vec![1]), (251, vec![])]).graph();
    // A -> P, P -0-> exit, P -1-> P.
    let new = Sketch(vec![(0, vec![1]), (1, vec![2, 1]), (251, vec![])]).graph();
    let pairs = pairs(&old, &new);
    // entry, A, P0, B, P0, B, P1.
    let (path, row) = taken(&old, &[false, false, false, false, false, false, true]);
    assert!(leaves(&pairs, &path));
    assert!(is_selected(Sharpness::Valid, &old, &pairs, &row));
}

/// As printed, nothing leaves the accepting pairs if there are none.
#[test]
fn partial_reachability_as_printed_misses_all_where_every_path_changes() {
    let old = Sketch(vec![(0, vec![1]), (251, vec![])]).graph();
    let new = Sketch(vec![(1, vec![1]), (251, vec![])]).graph();
    let pairs = pairs(&old, &new);
    assert_eq!(pairs.accept, None);
    let (_, row) = taken(&old, &[false, false]);
    assert!(is_selected(Sharpness::Partial, &old, &pairs, &row));
}

/// A program that ends in the middle leaves the accepting pairs without being
/// rejected: it did not come as far as the change.
#[test]
fn partial_reachability_knows_a_path_that_was_cut_short() {
    // 0 -T-> 1 -> 2 -> exit, 0 -F-> exit; the new one has another 2.
    let old = [(0, vec![1, 3]), (1, vec![2]), (2, vec![3]), (251, vec![])];
    let new = [(0, vec![1, 3]), (1, vec![2]), (3, vec![3]), (251, vec![])];
    let (old, new) = (Sketch(old.to_vec()).graph(), Sketch(new.to_vec()).graph());
    let pairs = pairs(&old, &new);
    let (path, _) = follow(&old, &[false, false, false]);
    let short = row(&old, &path[..2]);
    assert!(!is_selected(Sharpness::Partial, &old, &pairs, &short));
    let long = row(&old, &path);
    assert!(is_selected(Sharpness::Partial, &old, &pairs, &long));
}

/// Two runs of a procedure leave edges that no single path has. `valid` would
/// read them as one and miss, so it is not asked.
#[test]
fn valid_reachability_is_not_for_the_union_of_two_paths() {
    // Figure 5: U -> A, A -T-> A, A -F-> V; only who takes A -T-> first is as before.
    let old = Sketch(vec![(0, vec![1]), (1, vec![1, 2]), (2, vec![3]), (251, vec![])]).graph();
    let new = [(0, vec![1]), (1, vec![2, 4]), (1, vec![2, 3]), (2, vec![5]), (3, vec![5])];
    let new = Sketch(new.into_iter().chain([(251, vec![])]).collect()).graph();
    let pairs = pairs(&old, &new);
    let (leaving, _) = taken(&old, &[false, false, true, false]);
    assert!(leaves(&pairs, &leaving));
    let (staying, _) = taken(&old, &[false, false, false, true, false]);
    assert!(!leaves(&pairs, &staying));
    let both: Vec<EdgeId> = leaving.into_iter().chain(staying).collect();
    let row = row(&old, &both);
    assert!(is_selected(Sharpness::Full, &old, &pairs, &row));
    assert!(!is_selected(Sharpness::Valid, &old, &pairs, &row), "this is the miss");
}

/// Neither recursion nor a table of all ways out of each node.
#[test]
fn large_graphs_are_walked() {
    let long: Vec<(u8, Vec<usize>)> =
        (0..100_000).map(|n| ((n % 200) as u8, vec![n + 1])).chain([(251, vec![])]).collect();
    let graph = Sketch(long).graph();
    let chain = pairs(&graph, &graph);
    assert_eq!(chain.nodes.len(), graph.nodes.len());
    assert!(chain.accept.is_some() && chain.rejects.is_empty());
    let all = Row::repeat(true, graph.edges.len());
    assert!(!is_selected(Sharpness::Valid, &graph, &chain, &all));

    let switch = |cases: u32, another: u8| {
        let mut graph = Sketch(vec![(0, vec![1]), (251, vec![])]).graph();
        graph.edges.pop();
        for case in 0..cases {
            let value = Fingerprint::of(&case.to_le_bytes());
            let text = if case + 1 == cases { another } else { 1 };
            graph.nodes.push(node(NodeKind::Statement, text));
            let to = NodeId::new(graph.nodes.len() - 1);
            let label = EdgeLabel::Case(value, case.to_string());
            graph.edges.push(edge(NodeId(2), to, label));
        }
        let ends = 3..graph.nodes.len();
        graph.edges.extend(ends.map(|n| edge(NodeId::new(n), Graph::EXIT, EdgeLabel::Always)));
        graph
    };
    let (old, new) = (switch(100_000, 1), switch(100_000, 2));
    assert_eq!(pairs(&old, &new).rejects.len(), 1);
}
