//! Calls that are known to return. Where one of these does not after all, the
//! edge behind the call counts as taken although it was not: never the other
//! way round.

use crate::cfg::format::{Graph, Node};
use crate::cfg::unit::Analysis;
use crate::ids::NodeId;
use rustc_hash::FxHashMap;

/// Functions of the C library that compilers know and may replace by code of
/// their own, sorted.
const LIBRARY: &[&str] = &[
    "abs", "ceil", "ceilf", "exp", "fabs", "fabsf", "floor", "floorf", "fmax", "fmin", "fmod",
    "isalnum", "isalpha", "isdigit", "islower", "isspace", "isupper", "labs", "ldexp", "llabs",
    "log", "memchr", "memcmp", "memcpy", "memmove", "memset", "pow", "sqrt", "sqrtf", "strcat",
    "strchr", "strcmp", "strcpy", "strcspn", "strlen", "strncat", "strncmp", "strncpy", "strnlen",
    "strpbrk", "strrchr", "strspn", "strstr", "tolower", "toupper",
];

/// Built-in functions that do not, or may not, return.
const LEAVING: &[&str] = &["abort", "apply", "eh_return", "exit", "longjmp", "setjmp", "trap"];

/// What a unit knows of the functions it calls.
pub struct Returns {
    /// For each symbol, whether a call of it returns.
    known: Vec<bool>,
}

impl Returns {
    pub fn of(analysis: &Analysis) -> Self {
        let mut defined: FxHashMap<&str, usize> = FxHashMap::default();
        for (number, procedure) in analysis.procedures.iter().enumerate() {
            defined.insert(&procedure.name, number);
        }
        // Each procedure of the unit returns until something speaks against it.
        let targets: Vec<Target> = analysis
            .symbols
            .iter()
            .map(|symbol| match defined.get(symbol.name.as_str()) {
                Some(number) if symbol.is_static => Target::Here(*number),
                None if !symbol.is_static && is_known(&symbol.name) => Target::Returns,
                _ => Target::Unknown,
            })
            .collect();
        let mut returns: Vec<bool> = analysis
            .procedures
            .iter()
            .zip(&analysis.graphs)
            .map(|(procedure, graph)| procedure.opaque.is_none() && always_gets_to_exit(graph))
            .collect();
        loop {
            let known = Self {
                known: targets
                    .iter()
                    .map(|target| match target {
                        Target::Here(number) => returns[*number],
                        Target::Returns => true,
                        Target::Unknown => false,
                    })
                    .collect(),
            };
            let before = returns.clone();
            for (returns, graph) in returns.iter_mut().zip(&analysis.graphs) {
                *returns = *returns && graph.nodes.iter().all(|node| known.all_of(node));
            }
            if returns == before {
                return known;
            }
        }
    }

    /// Whether all calls of a node return.
    pub fn all_of(&self, node: &Node) -> bool {
        !node.calls_pointer && node.calls.iter().all(|symbol| self.symbol(*symbol))
    }

    pub fn symbol(&self, symbol: u32) -> bool {
        self.known[symbol as usize]
    }
}

enum Target {
    /// The procedure of this number in the unit.
    Here(usize),
    Returns,
    Unknown,
}

fn is_known(name: &str) -> bool {
    let built_in = name.strip_prefix("__builtin_");
    built_in.is_some_and(|name| !LEAVING.contains(&name)) || LIBRARY.binary_search(&name).is_ok()
}

/// No node of the graph is a dead end.
fn always_gets_to_exit(graph: &Graph) -> bool {
    let mut into: Vec<Vec<NodeId>> = vec![Vec::new(); graph.nodes.len()];
    for edge in &graph.edges {
        into[edge.to.ix()].push(edge.from);
    }
    let mut gets_there = vec![false; graph.nodes.len()];
    let mut todo = vec![Graph::EXIT];
    while let Some(node) = todo.pop() {
        if !std::mem::replace(&mut gets_there[node.ix()], true) {
            todo.extend(&into[node.ix()]);
        }
    }
    gets_there.into_iter().all(|it| it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(LIBRARY.is_sorted());
    }
}
