//! A log of nodes: each notes that it runs.

use super::edits::Edits;
use super::text::Writer;
use crate::cfg::draft::RunSite;
use crate::cfg::format::Logged;
use crate::cfg::unit::Analysis;
use crate::frontend::Tree;

/// Says in the graphs which nodes a log has.
pub fn mark_logged(analysis: &mut Analysis) {
    for (graph, runs) in analysis.graphs.iter_mut().zip(&analysis.runs) {
        for (node, run) in graph.nodes.iter_mut().zip(runs) {
            node.logged = match run {
                RunSite::None => Logged::Not,
                RunSite::Before(_) | RunSite::DeclaredBefore(_) | RunSite::Block(_) => {
                    Logged::Begun
                }
                RunSite::Behind(_)
                | RunSite::Outcome(_)
                | RunSite::Value(_)
                | RunSite::DeclaredBehind(_) => Logged::Done,
            };
        }
    }
}

/// Notes every node. It comes around what probes need, so it is to be added
/// before these.
pub fn add(tree: &Tree<'_>, analysis: &Analysis, writer: &Writer, edits: &mut Edits) {
    for (number, (procedure, runs)) in tree.procedures.iter().zip(&analysis.runs).enumerate() {
        if runs.is_empty() {
            continue;
        }
        edits.put_behind(tree, procedure.opened, writer.run_of_procedure());
        for (node, run) in runs.iter().enumerate() {
            let note = writer.note_node(number, node);
            let name = format!("__edgewise_n{number}_{node}");
            let declaration = format!(" int {name} __attribute__((__unused__))=({note},0);");
            match *run {
                RunSite::None => {}
                RunSite::Before(range) => {
                    edits.enclose_all(tree, range, format!("({note},"), String::from(")"));
                }
                RunSite::Behind(range) => {
                    edits.enclose_probes(tree, range, String::from("("), format!(",{note})"));
                }
                RunSite::Outcome(range) => {
                    let close = format!(")?({note},1):({note},0))");
                    edits.enclose_probes(tree, range, String::from("(("), close);
                }
                RunSite::Value(range) => {
                    let open = format!("__extension__({{__auto_type {name}=(");
                    edits.enclose_probes(tree, range, open, format!(");{note};{name};}})"));
                }
                RunSite::DeclaredBefore(token) => edits.prefix(tree, token, declaration),
                RunSite::DeclaredBehind(token) => edits.put_behind(tree, token, declaration),
                RunSite::Block(range) => {
                    edits.enclose_probes(tree, range, format!("{{{note};"), String::from("}"));
                }
            }
        }
    }
}
