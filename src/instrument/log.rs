//! The text with a log: every node notes that it runs. What the program does
//! with it is up to whoever defines the two functions that are called.

use super::edits::Edits;
use crate::cfg::draft::RunSite;
use crate::cfg::unit::Analysis;
use crate::frontend::Tree;

/// Declares `__edgewise_enter`, which numbers the run of a procedure, and
/// `__edgewise_node`, which notes that in a run a node of a procedure runs.
/// `unit` tells the procedures of units apart.
pub fn log_nodes(tree: &Tree<'_>, analysis: &Analysis, unit: u32) -> Vec<u8> {
    let mut edits = Edits::default();
    edits.first(
        tree,
        String::from(
            "extern unsigned __edgewise_enter(void);\
             extern void __edgewise_node(unsigned,unsigned,unsigned,unsigned); ",
        ),
    );
    for (number, (procedure, runs)) in tree.procedures.iter().zip(&analysis.runs).enumerate() {
        if runs.is_empty() {
            continue;
        }
        let enter = " unsigned __edgewise_run __attribute__((__unused__))=__edgewise_enter();";
        edits.put_behind(tree, procedure.opened, enter.to_string());
        for (node, run) in runs.iter().enumerate() {
            let note = format!("__edgewise_node(__edgewise_run,{unit},{number},{node})");
            let name = format!("__edgewise_n{number}_{node}");
            let declaration = format!(" int {name} __attribute__((__unused__))=({note},0);");
            match *run {
                RunSite::None => {}
                RunSite::Before(range) => {
                    edits.enclose_all(tree, range, format!("({note},"), String::from(")"));
                }
                RunSite::Behind(range) => {
                    edits.enclose(tree, range, String::from("("), format!(",{note})"));
                }
                RunSite::Outcome(range) => {
                    let close = format!(")?({note},1):({note},0))");
                    edits.enclose(tree, range, String::from("(("), close);
                }
                RunSite::Value(range) => {
                    let open = format!("__extension__({{__auto_type {name}=(");
                    edits.enclose(tree, range, open, format!(");{note};{name};}})"));
                }
                RunSite::DeclaredBefore(token) => edits.prefix(tree, token, declaration),
                RunSite::DeclaredBehind(token) => edits.put_behind(tree, token, declaration),
                RunSite::Block(range) => {
                    edits.enclose(tree, range, format!("{{{note};"), String::from("}"));
                }
            }
        }
    }
    edits.apply(&tree.text)
}
