//! Whether the edges that a run of a procedure took are those of one path, which
//! valid reachability needs.

use super::version::ProgramVersion;
use crate::cfg::format::{Graph, NodeKind, Noted};

/// Behind a call of these, what is left of a run may run twice, or begin
/// somewhere in the middle. Sorted.
pub const SPLITTERS: &[&str] = &[
    "_Fork",
    "__builtin_longjmp",
    "__builtin_setjmp",
    "__clone2",
    "__sigsetjmp",
    "_longjmp",
    "_setjmp",
    "clone",
    "clone3",
    "daemon",
    "fork",
    "forkpty",
    "getcontext",
    "longjmp",
    "makecontext",
    "setcontext",
    "setjmp",
    "siglongjmp",
    "sigsetjmp",
    "swapcontext",
    "syscall",
    "vfork",
];

/// Whether nothing in a program makes a run of a procedure more than one path.
pub fn keeps_to_paths(program: &ProgramVersion) -> bool {
    let symbols = program.units.iter().flat_map(|unit| &unit.index.symbols);
    symbols.map(|symbol| symbol.name.as_str()).all(|name| SPLITTERS.binary_search(&name).is_err())
}

/// Whether a row holds what was taken and nothing else: of no node several edges
/// count as taken just because it ran.
pub fn is_exact(graph: &Graph) -> bool {
    let is_exact = |edges: &[crate::cfg::format::Edge]| {
        edges.len() < 2 || edges.iter().all(|edge| edge.noted != Noted::Follows)
    };
    graph.edges.chunk_by(|one, next| one.from == next.from).all(is_exact)
        && graph.nodes.iter().all(|node| node.kind != NodeKind::Opaque)
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_can_be_searched() {
        assert!(super::SPLITTERS.is_sorted());
    }
}
