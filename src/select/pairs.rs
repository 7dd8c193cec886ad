//! The intersection graph of an old and a new procedure: pairs of nodes that
//! match and are reached over the same edges, and the edges that lead elsewhere
//! now.
//!
//! ```text
//!     old   entry ──> S1 ──> P2 ──T──> S3        pairs  (entry,entry') (S1,S1') (P2,P2')
//!     new   entry'──> S1'──> P2'──T──> S9'       P2 -T-> S3 is rejected: S3 ≠ S9'
//! ```
//!
//! What the papers call accept is the pair of the two exits.

use crate::cfg::format::{EdgeLabel, Graph, Node};
use crate::ids::{EdgeId, Fingerprint, NodeId};
use rustc_hash::{FxHashMap, FxHashSet};

/// From how many edges on they are looked up in a table.
const MANY_EDGES: usize = 8;

/// A pair by its place in the graph.
pub type PairIx = u32;

/// Why an edge is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Because {
    /// Another text or another meaning of it.
    Node,
    /// The same text, but something it mentions is defined otherwise.
    Definition(String),
    /// A call that means another procedure.
    Call(String),
    /// The edge is gone.
    EdgeGone,
    /// A case was added, which default may have stood for.
    CaseAdded(String),
    /// A case label that is still there has a different value: its text before and after.
    CaseValue(String, String),
    /// The signature or the attributes of the procedure.
    Signature,
    /// It moved to a unit that is compiled otherwise.
    Flags,
    /// The graph cannot be read.
    Unreadable,
}

/// An edge of the old procedure that leads elsewhere in the new one.
#[derive(Clone, Debug)]
pub struct Reject {
    pub edge: EdgeId,
    /// The node that the edge leads to now, if the edge is still there.
    pub new: Option<NodeId>,
    pub because: Because,
}

/// An edge between pairs, with the old edge it stands for.
#[derive(Clone, Copy, Debug)]
pub struct PairEdge {
    pub from: PairIx,
    pub old: EdgeId,
    pub to: Target,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A pair, over this edge of the new procedure.
    Pair(PairIx, EdgeId),
    /// By its place in [`PairGraph::rejects`].
    Reject(u32),
}

/// A finished intersection graph. The first pair is that of the entries.
#[derive(Debug, Default)]
pub struct PairGraph {
    pub nodes: Vec<(NodeId, NodeId)>,
    /// By the pair they leave.
    edges: Vec<PairEdge>,
    /// For each pair, where its edges begin.
    starts: Vec<u32>,
    pub rejects: Vec<Reject>,
    /// The pair of the exits, if it is reached.
    pub accept: Option<PairIx>,
    /// Some node has more than one counterpart.
    pub is_multiply_visited: bool,
}

impl PairGraph {
    pub const ENTRY: PairIx = 0;

    /// The graph of two procedures whose calls can all be passed. `difference`
    /// says why two nodes are not equivalent, if they are not.
    pub fn between(
        old: &Graph,
        new: &Graph,
        mut difference: impl FnMut(&Node, &Node) -> Option<Because>,
    ) -> Self {
        let mut builder = PairBuilder::default();
        while let Some(pair) = builder.take() {
            builder.successors(old, new, pair, &mut difference);
        }
        builder.finish()
    }

    pub fn out_edges(&self, pair: PairIx) -> &[PairEdge] {
        let start = self.starts[pair as usize] as usize;
        let end = self.starts.get(pair as usize + 1).map_or(self.edges.len(), |at| *at as usize);
        &self.edges[start..end]
    }

    pub fn edges(&self) -> &[PairEdge] {
        &self.edges
    }

    /// Old edges with their counterparts.
    pub fn matched(&self) -> impl Iterator<Item = (EdgeId, EdgeId)> {
        self.edges.iter().filter_map(|edge| match edge.to {
            Target::Pair(_, new) => Some((edge.old, new)),
            Target::Reject(_) => None,
        })
    }
}

/// Makes an intersection graph, pair by pair, so that the walk may look into a
/// callee in between.
pub struct PairBuilder {
    graph: PairGraph,
    known: FxHashMap<(NodeId, NodeId), PairIx>,
    /// Pairs whose successors were not looked at.
    todo: Vec<PairIx>,
}

impl Default for PairBuilder {
    fn default() -> Self {
        let entry = (Graph::ENTRY, Graph::ENTRY);
        let graph = PairGraph { nodes: vec![entry], ..PairGraph::default() };
        let known = FxHashMap::from_iter([(entry, PairGraph::ENTRY)]);
        Self { graph, known, todo: vec![PairGraph::ENTRY] }
    }
}

impl PairBuilder {
    /// For a graph in which every way into the procedure is rejected.
    pub fn rejected(old: Option<&Graph>, because: &Because) -> Self {
        let mut builder = Self::default();
        builder.todo.clear();
        for (edge, _) in old.into_iter().flat_map(|graph| graph.out_edges(Graph::ENTRY)) {
            builder.reject(PairGraph::ENTRY, edge, Some(Graph::ENTRY), because.clone());
        }
        builder
    }

    /// A pair that is reached and was not looked at yet.
    pub fn take(&mut self) -> Option<PairIx> {
        self.todo.pop()
    }

    pub fn nodes_of(&self, pair: PairIx) -> (NodeId, NodeId) {
        self.graph.nodes[pair as usize]
    }

    /// Compare: for each edge out of the old node, do its target and the new
    /// one match?
    pub fn successors(
        &mut self,
        old: &Graph,
        new: &Graph,
        pair: PairIx,
        difference: &mut dyn FnMut(&Node, &Node) -> Option<Because>,
    ) {
        let (old_node, new_node) = self.nodes_of(pair);
        let counterparts = Ways::of(new, new_node);
        let revalued = Revalued::between((old, old_node), (new, new_node), &counterparts);
        for (old_id, old_edge) in old.out_edges(old_node) {
            let Some(new_id) = counterparts.like(new, &old_edge.label) else {
                match revalued.now(old_id) {
                    Some(now) => {
                        let because = revalued.because(old, old_id, new, now);
                        self.reject(pair, old_id, Some(new.edge(now).to), because);
                    }
                    None => self.reject(pair, old_id, None, Because::EdgeGone),
                }
                continue;
            };
            let targets = (old_edge.to, new.edge(new_id).to);
            let to = match self.known.get(&targets) {
                Some(known) => *known,
                None => {
                    let (before, after) = (old.node(targets.0), new.node(targets.1));
                    if let Some(because) = difference(before, after) {
                        self.reject(pair, old_id, Some(targets.1), because);
                        continue;
                    }
                    self.reach(targets)
                }
            };
            let to = Target::Pair(to, new_id);
            self.graph.edges.push(PairEdge { from: pair, old: old_id, to });
        }
        // A new case takes what default took before.
        let default = old.out_edges(old_node).find(|(_, edge)| edge.label == EdgeLabel::Default);
        let Some((default, _)) = default else { return };
        let before = Ways::of(old, old_node);
        for (added_id, added) in new.out_edges(new_node) {
            let EdgeLabel::Case(_, text) = &added.label else { continue };
            if before.like(old, &added.label).is_none() {
                let because = match revalued.before(added_id) {
                    Some(was) => revalued.because(old, was, new, added_id),
                    None => Because::CaseAdded(text.clone()),
                };
                self.reject(pair, default, Some(added.to), because);
            }
        }
    }

    fn reach(&mut self, nodes: (NodeId, NodeId)) -> PairIx {
        let pair = self.graph.nodes.len() as PairIx;
        self.graph.nodes.push(nodes);
        self.known.insert(nodes, pair);
        self.todo.push(pair);
        pair
    }

    fn reject(&mut self, from: PairIx, old: EdgeId, new: Option<NodeId>, because: Because) {
        let to = Target::Reject(self.graph.rejects.len() as u32);
        self.graph.rejects.push(Reject { edge: old, new, because });
        self.graph.edges.push(PairEdge { from, old, to });
    }

    pub fn finish(self) -> PairGraph {
        let Self { mut graph, known, .. } = self;
        graph.edges.sort_by_key(|edge| edge.from);
        let mut at = 0;
        for pair in 0..graph.nodes.len() as PairIx {
            graph.starts.push(at as u32);
            while graph.edges.get(at).is_some_and(|edge| edge.from == pair) {
                at += 1;
            }
        }
        graph.accept = known.get(&(Graph::EXIT, Graph::EXIT)).copied();
        let mut seen = FxHashSet::default();
        graph.is_multiply_visited = !graph.nodes.iter().all(|(old, _)| seen.insert(*old));
        graph
    }
}

/// Case labels of a `switch` that are in both versions with different values. This only
/// decides what is said: their edges are rejected like those of cases that are gone or new.
#[derive(Default)]
struct Revalued {
    pairs: Vec<(EdgeId, EdgeId)>,
}

impl Revalued {
    fn between(
        (old, old_node): (&Graph, NodeId),
        (new, new_node): (&Graph, NodeId),
        counterparts: &Ways,
    ) -> Self {
        let mut gone: Vec<(EdgeId, &str)> = cases(old, old_node)
            .filter(|(id, _)| counterparts.like(new, &old.edge(*id).label).is_none())
            .collect();
        if gone.is_empty() {
            return Self::default();
        }
        let before = Ways::of(old, old_node);
        let mut added: Vec<(EdgeId, &str)> = cases(new, new_node)
            .filter(|(id, _)| before.like(old, &new.edge(*id).label).is_none())
            .collect();
        let mut pairs = Vec::new();
        let mut pair_up = |key_of_old: &dyn Fn(EdgeId, &str) -> String,
                           key_of_new: &dyn Fn(EdgeId, &str) -> String| {
            let mut by_key: FxHashMap<String, Vec<EdgeId>> = FxHashMap::default();
            for (id, text) in added.iter().rev() {
                by_key.entry(key_of_new(*id, text)).or_default().push(*id);
            }
            let mut taken: FxHashSet<EdgeId> = FxHashSet::default();
            gone.retain(|(id, text)| {
                let found = by_key.get_mut(&key_of_old(*id, text)).and_then(Vec::pop);
                pairs.extend(found.map(|now| (*id, now)));
                taken.extend(found);
                found.is_none()
            });
            added.retain(|(id, _)| !taken.contains(id));
        };
        // The text of a label stays the same if it names an enumerator. A macro is expanded, and
        // a number may be edited: then the code behind the label shows which label it is.
        pair_up(&|_, text| text.to_string(), &|_, text| text.to_string());
        let target = |graph: &Graph, id: EdgeId| graph.node(graph.edge(id).to).text.clone();
        pair_up(&|id, _| target(old, id), &|id, _| target(new, id));
        Self { pairs }
    }

    fn now(&self, old: EdgeId) -> Option<EdgeId> {
        self.pairs.iter().find(|(before, _)| *before == old).map(|(_, now)| *now)
    }

    fn before(&self, new: EdgeId) -> Option<EdgeId> {
        self.pairs.iter().find(|(_, now)| *now == new).map(|(before, _)| *before)
    }

    fn because(&self, old: &Graph, before: EdgeId, new: &Graph, now: EdgeId) -> Because {
        let text = |label: &EdgeLabel| match label {
            EdgeLabel::Case(_, text) => text.clone(),
            _ => String::new(),
        };
        Because::CaseValue(text(&old.edge(before).label), text(&new.edge(now).label))
    }
}

/// The case labels of a `switch` with their texts.
fn cases(graph: &Graph, node: NodeId) -> impl Iterator<Item = (EdgeId, &str)> {
    graph.out_edges(node).filter_map(|(id, edge)| match &edge.label {
        EdgeLabel::Case(_, text) => Some((id, text.as_str())),
        _ => None,
    })
}

/// The edges out of a node, by their labels.
enum Ways {
    Few(NodeId),
    Many { cases: FxHashMap<Fingerprint, EdgeId>, others: FxHashMap<EdgeLabel, EdgeId> },
}

impl Ways {
    fn of(graph: &Graph, node: NodeId) -> Self {
        if graph.out_edges(node).count() < MANY_EDGES {
            return Self::Few(node);
        }
        let (mut cases, mut others) = (FxHashMap::default(), FxHashMap::default());
        for (id, edge) in graph.out_edges(node) {
            match &edge.label {
                EdgeLabel::Case(value, _) => cases.entry(*value).or_insert(id),
                label => others.entry(label.clone()).or_insert(id),
            };
        }
        Self::Many { cases, others }
    }

    /// Cases match by what their value means, whatever its text.
    fn like(&self, graph: &Graph, label: &EdgeLabel) -> Option<EdgeId> {
        match (self, label) {
            (Self::Few(node), _) => {
                let same = |other: &EdgeLabel| match (other, label) {
                    (EdgeLabel::Case(a, _), EdgeLabel::Case(b, _)) => a == b,
                    _ => other == label,
                };
                graph.out_edges(*node).find(|(_, edge)| same(&edge.label)).map(|(id, _)| id)
            }
            (Self::Many { cases, .. }, EdgeLabel::Case(value, _)) => cases.get(value).copied(),
            (Self::Many { others, .. }, _) => others.get(label).copied(),
        }
    }
}
