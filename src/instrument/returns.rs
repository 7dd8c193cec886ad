//! Calls that are known to return. Where one of these does not after all, the
//! edge behind the call counts as taken although it was not: never the other
//! way round.

use crate::cfg::format::{Graph, Node, Symbol};
use crate::cfg::unit::Analysis;
use crate::ids::NodeId;
use rustc_hash::FxHashMap;

/// Functions of the C library that do nothing but their work, sorted. None calls
/// back, waits or ends anything.
const LIBRARY: &[&str] = &[
    "__ctype_b_loc",
    "__ctype_tolower_loc",
    "__ctype_toupper_loc",
    "__errno_location",
    "abs",
    "atof",
    "atoi",
    "atol",
    "calloc",
    "ceil",
    "ceilf",
    "clock_gettime",
    "cos",
    "exp",
    "fabs",
    "fabsf",
    "floor",
    "floorf",
    "fmax",
    "fmin",
    "fmod",
    "free",
    "frexp",
    "getenv",
    "gettimeofday",
    "isalnum",
    "isalpha",
    "isdigit",
    "islower",
    "isspace",
    "isupper",
    "labs",
    "ldexp",
    "llabs",
    "log",
    "log10",
    "malloc",
    "memchr",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "modf",
    "pow",
    "realloc",
    "sin",
    "snprintf",
    "sprintf",
    "sqrt",
    "sqrtf",
    "strcasecmp",
    "strcat",
    "strchr",
    "strcmp",
    "strcpy",
    "strcspn",
    "strdup",
    "strerror",
    "strlen",
    "strncasecmp",
    "strncat",
    "strncmp",
    "strncpy",
    "strndup",
    "strnlen",
    "strpbrk",
    "strrchr",
    "strspn",
    "strstr",
    "strtod",
    "strtol",
    "strtoll",
    "strtoul",
    "strtoull",
    "tan",
    "time",
    "tolower",
    "toupper",
    "vsnprintf",
    "vsprintf",
];

/// Built-in functions that do not, or may not, return.
const LEAVING: &[&str] = &["abort", "apply", "eh_return", "exit", "longjmp", "setjmp", "trap"];

/// What `assert` calls when it fails, in the C libraries of Linux: the end of the
/// process.
const FAILING: &[&str] = &["__assert", "__assert_fail", "__assert_perror_fail"];

/// What a unit knows of the functions it calls.
pub struct Returns {
    /// For each symbol, whether it is what an assertion calls when it fails.
    failing: Vec<bool>,
    /// For each symbol, whether a call of it returns.
    known: Vec<bool>,
}

impl Returns {
    pub fn of(analysis: &Analysis, trusted: Trusted) -> Self {
        let mut defined: FxHashMap<&str, usize> = FxHashMap::default();
        for (number, procedure) in analysis.procedures.iter().enumerate() {
            defined.insert(&procedure.name, number);
        }
        // Each procedure of the unit returns until something speaks against it.
        let targets: Vec<Target> = analysis
            .symbols
            .iter()
            .map(|symbol| match defined.get(symbol.name.as_str()) {
                Some(number) if symbol.is_static || trusted == Trusted::AllOfUnit => {
                    Target::Here(*number)
                }
                None if !symbol.is_static && is_known(&symbol.name) => Target::Returns,
                _ => Target::Unknown,
            })
            .collect();
        let failing = |symbol: &Symbol| !symbol.is_static && FAILING.contains(&&*symbol.name);
        let mut known =
            Self { failing: analysis.symbols.iter().map(failing).collect(), known: Vec::new() };
        let mut returns: Vec<bool> = analysis
            .procedures
            .iter()
            .zip(&analysis.graphs)
            .map(|(procedure, graph)| {
                procedure.opaque.is_none() && known.always_gets_to_exit(graph)
            })
            .collect();
        loop {
            known.known = targets
                .iter()
                .map(|target| match target {
                    Target::Here(number) => returns[*number],
                    Target::Returns => true,
                    Target::Unknown => false,
                })
                .collect();
            let before = returns.clone();
            for (returns, graph) in returns.iter_mut().zip(&analysis.graphs) {
                *returns = *returns && graph.nodes.iter().all(|node| known.goes_on(node));
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

    /// Whether control comes back to a node that calls, unless the process ends.
    fn goes_on(&self, node: &Node) -> bool {
        self.all_of(node) || self.is_failure(node)
    }

    /// Whether a node does nothing but end the process, since an assertion failed.
    pub fn is_failure(&self, node: &Node) -> bool {
        !node.calls_pointer
            && !node.calls.is_empty()
            && node.calls.iter().all(|symbol| self.failing[*symbol as usize])
    }

    /// No node of the graph is a dead end, but where an assertion fails.
    fn always_gets_to_exit(&self, graph: &Graph) -> bool {
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
        let mut nodes = graph.nodes.iter().zip(gets_there);
        nodes.all(|(node, gets_there)| gets_there || self.is_failure(node))
    }
}

/// Whose calls are taken to reach the procedure of this unit that has the name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Trusted {
    /// Those of static ones, which nothing can take the place of.
    Statics,
    AllOfUnit,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(LIBRARY.is_sorted());
    }
}
