//! Runs all stages that work on text, and checks what they return.

use crate::{ranges, strip};
use edgewise::cfg::draft::Site;
use edgewise::cfg::format::{
    Declaration, Definition, Detail, EdgeLabel, Granularity, Graph, NodeKind, ProcedureIndex,
    Symbol,
};
use edgewise::cfg::unit::{self, Analysis};
use edgewise::frontend::symbols::Symbolic;
use edgewise::frontend::{self, Tree};
use edgewise::ids::Fingerprint;
use edgewise::instrument::{self, Architecture};
use rustc_hash::FxHashMap;

const CODE: instrument::Code = instrument::Code { plain: instrument::PlainCode::GoesOn };

/// All that later stages are told of a unit.
#[derive(Debug, PartialEq)]
pub struct Found {
    pub symbols: Vec<Symbol>,
    pub definitions: Vec<Definition>,
    pub declarations: Vec<Declaration>,
    pub composition: Fingerprint,
    pub procedures: Vec<ProcedureIndex>,
    pub graphs: Vec<Graph>,
    pub problems: Vec<String>,
}

/// Files with absolute names count as the system's.
pub fn is_system(file: &str) -> bool {
    file.starts_with('/')
}

/// Analyses a text and checks whatever must hold of the outcome.
pub fn check(text: &[u8]) -> Found {
    let mut tree = frontend::analyse(text, None, &is_system);
    ranges::check(&tree);
    let mut analysis = unit::analyse(&mut tree, &FxHashMap::default());
    check_analysis(&tree, &analysis);
    check_probes(&mut analysis);
    let unit = Fingerprint::of(text);
    let how = instrument::Compiled {
        architecture: Architecture::X86_64,
        granularity: Granularity::Edge,
        is_optimized: true,
    };
    let out = instrument::instrument(&tree, &analysis, unit, b"record", how);
    strip::check(text, &out, unit);
    let found = found(analysis);
    check_again(text, &found);
    found
}

fn found(analysis: Analysis) -> Found {
    Found {
        problems: analysis.problems(),
        symbols: analysis.symbols,
        definitions: analysis.definitions,
        declarations: analysis.declarations,
        composition: analysis.composition,
        procedures: analysis.procedures,
        graphs: analysis.graphs,
    }
}

/// The same text gives the same result, also when it stands for the second
/// preprocessing, in which then no token is a symbol.
fn check_again(text: &[u8], first: &Found) {
    let symbolic = Symbolic { text, root: "." };
    let mut tree = frontend::analyse(text, Some(&symbolic), &is_system);
    let mut analysis = unit::analyse(&mut tree, &FxHashMap::default());
    instrument::assign_probes(&mut analysis, CODE, Detail::default());
    assert_eq!(*first, found(analysis), "another result the second time");
}

fn check_analysis(tree: &Tree<'_>, analysis: &Analysis) {
    let symbols = analysis.symbols.len();
    let is_symbol = |symbol: &u32| (*symbol as usize) < symbols;
    assert_eq!(analysis.procedures.len(), tree.procedures.len());
    assert_eq!(analysis.graphs.len(), tree.procedures.len());
    assert_eq!(analysis.sites.len(), tree.procedures.len());
    assert_eq!(analysis.problems().len(), tree.not_understood.len());
    for problem in &analysis.problems() {
        assert!(problem.contains(": "), "a problem without a place: {problem}");
    }
    for (index, procedure) in analysis.procedures.iter().enumerate() {
        let (graph, sites) = (&analysis.graphs[index], &analysis.sites[index]);
        assert_eq!(graph.edges.len(), procedure.edge_count as usize);
        assert_eq!(graph.edges.len(), sites.len());
        assert!(procedure.mentions.iter().all(is_symbol));
        check_graph(graph, symbols);
        let body = &tree.procedures[index].body_range;
        match &procedure.opaque {
            Some(reason) => {
                assert!(!reason.is_empty());
                assert_eq!(graph.nodes.len(), 3);
            }
            None => {
                assert!(graph.nodes.iter().all(|node| node.kind != NodeKind::Opaque));
                assert!(ranges::is_balanced(tree, *body), "a graph of an unbalanced body");
            }
        }
    }
    for definition in &analysis.definitions {
        assert!(is_symbol(&definition.symbol) && definition.mentions.iter().all(is_symbol));
    }
    let declarations = analysis.declarations.len();
    for declaration in &analysis.declarations {
        assert!(declaration.refers.iter().all(|other| (*other as usize) < declarations));
    }
}

fn check_graph(graph: &Graph, symbols: usize) {
    let count = graph.nodes.len();
    assert!(count >= 2, "entry and exit are missing");
    assert_eq!(graph.node(Graph::ENTRY).kind, NodeKind::Entry);
    assert_eq!(graph.node(Graph::EXIT).kind, NodeKind::Exit);
    assert!(graph.edges.iter().all(|edge| edge.from.ix() < count && edge.to.ix() < count));
    assert!(graph.edges.is_sorted_by_key(|edge| edge.from));
    let mut reached = vec![false; count];
    let mut todo = vec![Graph::ENTRY];
    while let Some(node) = todo.pop() {
        if !std::mem::replace(&mut reached[node.ix()], true) {
            todo.extend(graph.out_edges(node).map(|(_, edge)| edge.to));
        }
    }
    reached[Graph::EXIT.ix()] = true;
    assert!(reached.iter().all(|reached| *reached), "a node that nothing leads to");
    for (index, node) in graph.nodes.iter().enumerate() {
        assert!(node.calls.iter().chain(&node.mentions).all(|s| (*s as usize) < symbols));
        let is_border = matches!(node.kind, NodeKind::Entry | NodeKind::Exit);
        assert_eq!(is_border, index < 2, "entry and exit come first, and once");
        check_ways_out(graph, node.kind, index);
    }
}

/// Which edges may leave a node of each kind.
fn check_ways_out(graph: &Graph, kind: NodeKind, index: usize) {
    let labels: Vec<&EdgeLabel> =
        graph.edges.iter().filter(|edge| edge.from.ix() == index).map(|edge| &edge.label).collect();
    let count = |label: EdgeLabel| labels.iter().filter(|known| ***known == label).count();
    let jumps = labels.iter().filter(|label| matches!(label, EdgeLabel::Label(_))).count();
    let is_fine = match kind {
        NodeKind::Exit => labels.is_empty(),
        NodeKind::Entry | NodeKind::Opaque | NodeKind::Spin | NodeKind::Cleanup => {
            labels.len() <= 1 && count(EdgeLabel::Always) == labels.len()
        }
        // An asm goto may also jump.
        NodeKind::Statement => {
            count(EdgeLabel::Always) <= 1 && count(EdgeLabel::Always) + jumps == labels.len()
        }
        NodeKind::Dispatch => jumps == labels.len(),
        NodeKind::Predicate => {
            let (yes, no) = (count(EdgeLabel::True), count(EdgeLabel::False));
            yes <= 1 && no <= 1 && yes + no == labels.len()
        }
        NodeKind::Switch => {
            let cases = labels.iter().filter(|label| matches!(label, EdgeLabel::Case(..)));
            cases.count() + count(EdgeLabel::Default) == labels.len()
        }
    };
    assert!(is_fine, "a {kind:?} with the edges {labels:?}");
}

/// Probes are numbered without gaps, and only where there is a place for them.
fn check_probes(analysis: &mut Analysis) {
    let count = instrument::assign_probes(analysis, CODE, Detail::default());
    let mut next = 0;
    for (graph, sites) in analysis.graphs.iter().zip(&analysis.sites) {
        for (edge, site) in graph.edges.iter().zip(sites) {
            if let Some(probe) = edge.noted.probe() {
                assert_ne!(*site, Site::None);
                assert_eq!(probe.0, next);
                next += 1;
            }
        }
    }
    assert_eq!(count, next);
}
