//! One procedure in, its graph out.

use edgewise::cfg::format::{Graph, NodeKind};
use edgewise::cfg::unit;
use edgewise::frontend;
use edgewise::ids::NodeId;
use edgewise::select::program::edge_name;
use rustc_hash::FxHashMap;

fn analyse(source: &str) -> unit::Analysis {
    let text = format!("# 1 \"t.c\"\n{source}\n");
    let tree = frontend::analyse(text.as_bytes(), None, &|_| false);
    unit::analyse(&tree, &FxHashMap::default())
}

/// The last graph of a source, a line a node: `text: label-> text, …`. The
/// nodes are named by their text, entry and exit by these words.
fn graph(source: &str) -> String {
    let analysis = analyse(source);
    assert_eq!(analysis.problems, Vec::<String>::new());
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

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    assert_eq!(graph(source).lines().collect::<Vec<_>>(), expected, "{source}");
}

#[test]
fn straight_code_and_returns() {
    check("void f(void) { }", &["entry > exit"]);
    check("void f(int a) { a = 1; ; a = 2; }", &["entry > a = 1", "a = 1 > a = 2", "a = 2 > exit"]);
    check("int f(int a) { return a; a = 1; }", &["entry > return a", "return a > exit"]);
    check(
        "void f(int a) { int b; int c = a; b = c; }",
        &["entry > int c = a", "int c = a > b = c", "b = c > exit"],
    );
}

#[test]
fn if_else() {
    check("void f(int a) { if (a) a = 1; }", &["entry > a", "a T> a = 1 F> exit", "a = 1 > exit"]);
    check(
        "void f(int a) { if (a) a = 1; else if (!a) a = 2; else a = 3; a = 4; }",
        &[
            "entry > a",
            "a T> a = 1 F> !a",
            "a = 1 > a = 4",
            "!a T> a = 2 F> a = 3",
            "a = 2 > a = 4",
            "a = 3 > a = 4",
            "a = 4 > exit",
        ],
    );
}

#[test]
fn loops() {
    check("void f(int a) { while (a) a--; }", &["entry > a", "a T> a-- F> exit", "a-- > a"]);
    check("void f(int a) { do a--; while (a); }", &["entry > a--", "a-- > a", "a T> a-- F> exit"]);
    check(
        "void f(int a) { for (a = 0; a < 3; a++) { if (a == 2) continue; if (a) break; } }",
        &[
            "entry > a = 0",
            "a = 0 > a < 3",
            "a < 3 T> a == 2 F> exit",
            "a == 2 T> a++ F> a",
            "a T> exit F> a++",
            "a++ > a < 3",
        ],
    );
    check("void f(int a) { for (;;) a++; }", &["entry > a++", "a++ > a++"]);
    check("void f(void) { for (;;) ; }", &["entry > spin", "spin > spin"]);
    check("void f(int a) { while (1) if (a) return; }", &["entry > 1", "1 T> a", "a T> exit F> 1"]);
    check(
        "void f(int a) { for (int i = a; i; ) i--; }",
        &["entry > int i = a", "int i = a > i", "i T> i-- F> exit", "i-- > i"],
    );
}

#[test]
fn switches() {
    check(
        "void f(int a) { switch (a) { case 1: a = 1; case 2: case 3: a = 2; break; default: a = 3; } }",
        &[
            "entry > a",
            "a case 1> a = 1 case 2> a = 2 case 3> a = 2 default> a = 3",
            "a = 1 > a = 2",
            "a = 2 > exit",
            "a = 3 > exit",
        ],
    );
    check(
        "void f(int a) { switch (a) { case 1 ... 5: a = 1; } }",
        &["entry > a", "a case 1 ... 5> a = 1 default> exit", "a = 1 > exit"],
    );
    // Duff's device: cases inside of a loop inside of the switch.
    check(
        "void f(int n) { switch (n % 2) { case 0: do { n++; case 1: n--; } while (n); } }",
        &[
            "entry > n % 2",
            "n % 2 case 0> n++ case 1> n-- default> exit",
            "n++ > n--",
            "n-- > n",
            "n T> n++ F> exit",
        ],
    );
    assert_eq!(
        graph("void f(int a) { switch (a) case 1: a = 2; }"),
        "opaque: a switch whose body is not a block at t.c:1"
    );
}

#[test]
fn gotos_and_labels() {
    check(
        "void f(int a) { again: a--; if (a) goto again; goto end; a = 9; end: ; }",
        &["entry > a--", "a-- > a", "a T> a-- F> exit"],
    );
    check(
        "void f(int a) { if (a) goto out; a = 1; out: a = 2; }",
        &["entry > a", "a T> a = 2 F> a = 1", "a = 1 > a = 2", "a = 2 > exit"],
    );
}

#[test]
fn operands_that_branch_are_nodes() {
    check(
        "void f(int a, int b) { if (a && b) a = 1; }",
        &["entry > a", "a T> b F> exit", "b T> a = 1 F> exit", "a = 1 > exit"],
    );
    check(
        "void f(int a, int b) { if (!(a || b)) a = 1; }",
        &["entry > a", "a F> b T> exit", "b F> a = 1 T> exit", "a = 1 > exit"],
    );
    check(
        "int f(int a, int b) { return a && b; }",
        &["entry > a", "a T> b F> return a && b", "b > return a && b", "return a && b > exit"],
    );
    check(
        "void f(int a, int b) { a = b ? 1 : b > 2 ? 2 : 3; }",
        &[
            "entry > b",
            "b T> 1 F> b > 2",
            "1 > a = b ? 1 : b > 2 ? 2 : 3",
            "b > 2 T> 2 F> 3",
            "2 > a = b ? 1 : b > 2 ? 2 : 3",
            "3 > a = b ? 1 : b > 2 ? 2 : 3",
            "a = b ? 1 : b > 2 ? 2 : 3 > exit",
        ],
    );
}

#[test]
fn what_is_not_evaluated_is_no_node() {
    check(
        "int f(int a) { return sizeof(a ? 1 : 2); }",
        &["entry > return sizeof(a ? 1 : 2)", "return sizeof(a ? 1 : 2) > exit"],
    );
    check("void f(int a) { static int s = 1 ? 2 : 3; a = s; }", &["entry > a = s", "a = s > exit"]);
    check("void f(void) { int b[1 ? 2 : 3]; b[0] = 1; }", &["entry > b[0] = 1", "b[0] = 1 > exit"]);
}

#[test]
fn calls_that_never_return_lead_nowhere() {
    check(
        "_Noreturn void die(void); void f(int a) { if (a) die(); a = 1; }",
        &["entry > a", "a T> die() F> a = 1", "die() ", "a = 1 > exit"],
    );
}

#[test]
fn statement_expressions_have_their_control_flow_in_the_graph() {
    check(
        "int f(int a) { return ({ if (a) a = 1; a + 2; }); }",
        &[
            "entry > return ({ if (a) a = 1; a + 2; })",
            "return ({ if (a) a = 1; a + 2; }) > a",
            "a T> a = 1 F> a + 2",
            "a = 1 > a + 2",
            "a + 2 > return ({ if (a) a = 1; a + 2; })",
            "return ({ if (a) a = 1; a + 2; }) > exit",
        ],
    );
}

/// C does not say which operand comes first, so whoever enters an expression
/// of which one operand may leave has reached all of it: a node in front.
#[test]
fn an_operand_that_may_leave_puts_a_node_in_front() {
    check(
        "int g(int); void f(int a, int b) { a = 5, b && g(a); }",
        &[
            "entry > a = 5, b && g(a)",
            "a = 5, b && g(a) > b",
            "b T> g(a) F> a = 5, b && g(a)",
            "g(a) > a = 5, b && g(a)",
            "a = 5, b && g(a) > exit",
        ],
    );
    check(
        "int g(int); void f(int a, int b) { if (b && g(a)) a = 5; }",
        &["entry > b", "b T> g(a) F> exit", "g(a) T> a = 5 F> exit", "a = 5 > exit"],
    );
}

#[test]
fn what_is_not_understood_is_opaque() {
    for source in [
        "void f(void) { void *p = &&l; goto *p; l: ; }",
        "void f(int a) { int g(void) { return a; } g(); }",
        "void f(int a) { a = = 2; }",
        "void f(int a) { __label__ l; l: ; }",
    ] {
        assert!(graph(source).starts_with("opaque: "), "{source}: {}", graph(source));
    }
}

#[test]
fn casts_are_no_calls() {
    let calls = |source: &str| {
        let analysis = analyse(source);
        let nodes = analysis.graphs.last().expect("a graph").nodes.clone();
        nodes
            .iter()
            .flat_map(|n| n.calls.clone())
            .map(|s| analysis.symbols[s as usize].name.clone())
            .collect::<Vec<_>>()
    };
    assert!(calls("typedef int T; int f(int x) { return (T)(x); }").is_empty());
    assert_eq!(calls("int g(int); int f(int x) { return (g)(x); }"), ["g"]);
    assert_eq!(calls("int g(int); int f(int x) { return g(g(x)); }"), ["g", "g"]);
    assert!(calls("int f(int (*h)(int)) { return h(1); }").is_empty());
}

#[test]
fn old_style_definitions_and_odd_declarators() {
    check(
        "struct s *f(a, b) int a; char *b; { return 0; }",
        &["entry > return 0", "return 0 > exit"],
    );
    check("f(a) { return a; }", &["entry > return a", "return a > exit"]);
    check(
        "typedef int T; int f(void) { T (x), *y = &x, (*z)(T) = 0; return *y; }",
        &[
            "entry > T (x), *y = &x, (*z)(T) = 0",
            "T (x), *y = &x, (*z)(T) = 0 > return *y",
            "return *y > exit",
        ],
    );
}
