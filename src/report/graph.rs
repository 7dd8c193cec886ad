//! A control-flow graph as text and as DOT.

use crate::cfg::format::{Graph, Node, NodeKind, UnitIndex};
use crate::ids::NodeId;
use crate::select::explain::edge_name;
use std::fmt::Write;

/// One line a node, with its edges:
///
/// ```text
/// median
///   0 entry                      -> 2
///   2 stats.c:12  n % 2 == 0     T-> 3, F-> 4
/// ```
pub fn text(index: &UnitIndex, name: &str, graph: &Graph) -> String {
    let mut out = format!("{name}\n");
    let rows: Vec<(String, String)> = graph
        .nodes
        .iter()
        .enumerate()
        .map(|(id, node)| {
            let edges: Vec<String> = graph
                .out_edges(NodeId::new(id))
                .map(|(_, edge)| format!("{}-> {}", edge_name(&edge.label), edge.to.0))
                .collect();
            (format!("{id:>4} {}", title(index, node)), edges.join(", "))
        })
        .collect();
    let width = rows.iter().map(|(left, _)| left.chars().count()).max().unwrap_or(0).min(70);
    for (left, right) in rows {
        let pad = " ".repeat(width.saturating_sub(left.chars().count()));
        let _ = writeln!(out, "{}", format!("{left}{pad}  {right}").trim_end());
    }
    out
}

pub fn dot(index: &UnitIndex, name: &str, graph: &Graph) -> String {
    let mut out = format!("digraph {} {{\n  node [shape=box, fontname=monospace];\n", quoted(name));
    for (id, node) in graph.nodes.iter().enumerate() {
        let shape = match node.kind {
            NodeKind::Predicate | NodeKind::Switch => ", shape=diamond",
            NodeKind::Entry | NodeKind::Exit => ", shape=oval",
            _ => "",
        };
        let _ = writeln!(out, "  n{id} [label={}{shape}];", quoted(&title(index, node)));
    }
    for edge in &graph.edges {
        let label = quoted(&edge_name(&edge.label));
        let _ = writeln!(out, "  n{} -> n{} [label={label}];", edge.from.0, edge.to.0);
    }
    out.push_str("}\n");
    out
}

fn title(index: &UnitIndex, node: &Node) -> String {
    match node.kind {
        NodeKind::Entry => String::from("entry"),
        NodeKind::Exit => String::from("exit"),
        NodeKind::Spin => String::from("endless loop"),
        _ => {
            let file = index.files.get(node.place.file as usize).map_or("", String::as_str);
            let file = file.rsplit('/').next().unwrap_or_default();
            format!("{file}:{}  {}", node.place.line, node.text)
        }
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
