//! The graph of a procedure as text, for tests.

use edgewise::cfg::format::{Graph, NodeKind};
use edgewise::cfg::unit;
use edgewise::frontend;
use edgewise::ids::NodeId;
use edgewise::select::explain::edge_name;
use rustc_hash::FxHashMap;

pub fn analyse(source: &str) -> unit::Analysis {
    let text = format!("# 1 \"t.c\"\n{source}\n");
    let mut tree = frontend::analyse(text.as_bytes(), None, &|_| false);
    unit::analyse(&mut tree, &FxHashMap::default())
}

/// The last graph of a source, a line a node: `text: label-> text, …`. The
/// nodes are named by their text, entry and exit by these words.
pub fn graph(source: &str) -> String {
    let analysis = analyse(source);
    assert_eq!(analysis.problems(), Vec::<String>::new());
    let procedure = analysis.procedures.last().expect("a procedure");
    if let Some(why) = &procedure.opaque {
        return format!("opaque: {why}");
    }
    text(analysis.graphs.last().expect("a graph"))
}

fn text(graph: &Graph) -> String {
    let name = |id: NodeId| match graph.node(id).kind {
        NodeKind::Entry => String::from("entry"),
        NodeKind::Exit => String::from("exit"),
        NodeKind::Spin => String::from("spin"),
        _ => graph.node(id).text.trim_end_matches(';').to_string(),
    };
    let lines = (0..graph.nodes.len()).map(NodeId::new).filter_map(|id| {
        let edges: Vec<String> = graph
            .out_edges(id)
            .map(|(_, edge)| format!("{}> {}", edge_name(&edge.label), name(edge.to)))
            .collect();
        let is_exit = graph.node(id).kind == NodeKind::Exit;
        (!is_exit).then(|| format!("{} {}", name(id), edges.join(" ")))
    });
    lines.collect::<Vec<_>>().join("\n")
}
