//! Who calls whom, whose address is taken, and what runs without being called.

use crate::support::graph_text;

use edgewise::cfg::unit::Analysis;
use graph_text::analyse;

/// Names called by the last procedure, in order.
fn calls(source: &str) -> Vec<String> {
    let analysis = analyse(source);
    let graph = analysis.graphs.last().expect("a graph");
    let calls = graph.nodes.iter().filter(|node| node.calls_are_certain).flat_map(|n| &n.calls);
    calls.map(|symbol| analysis.symbols[*symbol as usize].name.clone()).collect()
}

fn calls_pointer(source: &str) -> bool {
    let analysis = analyse(source);
    analysis.graphs.last().expect("a graph").nodes.iter().any(|node| node.calls_pointer)
}

/// Functions whose address is taken, sorted.
fn taken(source: &str) -> Vec<String> {
    let analysis = analyse(source);
    let name = |symbol: &u32| analysis.symbols[*symbol as usize].name.clone();
    let mut names: Vec<String> = analysis.address_taken.iter().map(name).collect();
    names.sort();
    names
}

fn procedure<'a>(analysis: &'a Analysis, name: &str) -> &'a edgewise::cfg::format::ProcedureIndex {
    analysis.procedures.iter().find(|procedure| procedure.name == name).expect("a procedure")
}

#[test]
fn casts_are_no_calls() {
    assert!(calls("typedef int T; int f(int x) { return (T)(x); }").is_empty());
    assert!(calls("typedef int T; typedef T U; int f(int x) { return (T)(U)(x); }").is_empty());
    assert_eq!(calls("int g(); int f(int s) { return (g ()) + s; }"), ["g"]);
    assert_eq!(calls("int g(int); int f(int a, int y) { return (g((a))) & y; }"), ["g"]);
    assert!(
        calls("typedef int T; int f(void) { T (*pp)(T); T(q) = 1; T *(a[2]); return q; }")
            .is_empty()
    );
}

#[test]
fn calls_by_name() {
    assert_eq!(calls("int g(int); int f(int x) { return (g)(x); }"), ["g"]);
    assert_eq!(calls("int g(int); int f(int x) { return g(g(x)); }"), ["g", "g"]);
    assert_eq!(calls("int f(int x) { return undeclared(x); }"), ["undeclared"]);
    assert_eq!(calls("int g(int) asm(\"h\"); int f(int x) { return g(x); }"), ["h"]);
    assert_eq!(calls("int f(int x) { int g(void) { return x; } return g(); }"), ["f.g#1"]);
    assert!(calls("int g(int); int f(int x) { return sizeof g(x); }").is_empty());
}

#[test]
fn calls_through_pointers() {
    assert!(calls("int f(int (*h)(int)) { return h(1); }").is_empty());
    assert!(calls_pointer("int f(int (*h)(int)) { return h(1); }"));
    assert!(calls_pointer("int f(int (*h)(int)) { return (*h)(1); }"));
    assert!(calls_pointer("struct s { int (*m)(int); }; int f(struct s *p) { return p->m(1); }"));
    assert!(calls_pointer("int (*t[2])(int); int f(int i) { return t[i](1); }"));
    assert!(!calls_pointer("int g(int); int f(int i) { return g(i); }"));
}

#[test]
fn addresses_that_are_taken() {
    let g = "int g(int); int h(int);";
    let in_code =
        |code: &str| taken(&format!("{g} void use(void *); int f(int x) {{ {code} return x; }}"));
    assert!(in_code("x = g(x);").is_empty());
    assert!(in_code("x = (g)(x) + g(h(x));").is_empty());
    assert_eq!(in_code("use(g);"), ["g"]);
    assert_eq!(in_code("use(&g);"), ["g"]);
    assert_eq!(in_code("use((void *)g);"), ["g"]);
    assert_eq!(in_code("use(x ? (void *)g : (void *)h);"), ["g", "h"]);
    assert_eq!(in_code("int (*p)(int) = g; x = p(h(x));"), ["g"]);
    assert_eq!(in_code("static int (*t[])(int) = {h}; x = t[0](1);"), ["h"]);
    assert_eq!(in_code("x = (*g)(x);"), ["g"]);
    assert_eq!(in_code("asm(\"call g\");"), ["g"]);
    assert_eq!(taken(&format!("{g} int (*p)(int) = g; int f(void) {{ return 1; }}")), ["g"]);
    assert_eq!(
        taken(&format!("{g} void *t[] = {{0, (void *)&h}}; int f(void) {{ return 1; }}")),
        ["h"]
    );
    // A procedure is not taken by being defined, nor by calling itself.
    assert!(taken("int f(int n) { return n ? f(n - 1) : 0; }").is_empty());
}

#[test]
fn what_is_opaque_may_take_any_address() {
    let source = "int g(int); int f(int x) { x = g(x); goto nowhere; }";
    assert_eq!(taken(source), ["g"]);
}

#[test]
fn roots_and_linkage() {
    let source = "__attribute__((constructor)) static void early(void) { }\n\
                  __attribute__((destructor)) void late(void) { }\n\
                  __attribute__((weak)) int soft(void) { return 1; }\n\
                  int plain(void) { return 2; }\n\
                  int other(void) __attribute__((alias(\"plain\")));\n\
                  static int own(void) { return 3; }\n\
                  #pragma weak plain\n";
    let analysis = analyse(source);
    assert!(procedure(&analysis, "early").is_constructor);
    assert!(procedure(&analysis, "early").is_static);
    assert!(procedure(&analysis, "late").is_constructor);
    assert!(procedure(&analysis, "soft").is_weak);
    assert!(!procedure(&analysis, "plain").is_constructor);
    assert!(!procedure(&analysis, "plain").is_static);
    assert!(procedure(&analysis, "own").is_static);
    let name = |symbol: u32| analysis.symbols[symbol as usize].name.as_str();
    let alias = analysis.definitions.iter().find(|one| name(one.symbol) == "other");
    let alias = alias.expect("an alias is a definition");
    assert_eq!(alias.mentions.iter().map(|symbol| name(*symbol)).collect::<Vec<_>>(), ["plain"]);
}

#[test]
fn an_alias_behind_a_tag_is_one() {
    let source = "struct s { int a; } real; extern struct s __attribute__((weak, alias(\"real\"))) other;\n\
                  int f(void) { return other.a; }";
    let analysis = analyse(source);
    let name = |symbol: u32| analysis.symbols[symbol as usize].name.as_str();
    let alias = analysis.definitions.iter().find(|one| name(one.symbol) == "other");
    let mentions = &alias.expect("an alias is a definition").mentions;
    assert_eq!(mentions.iter().map(|symbol| name(*symbol)).collect::<Vec<_>>(), ["real"]);
}
