//! What is not C, or not all of it, gives no graph that is wrong: it is opaque
//! or a problem, each with file and line.

use edgewise::cfg::format::{Detail, Granularity, Graph};
use edgewise::cfg::unit::{self, Analysis};
use edgewise::frontend;
use edgewise::ids::Fingerprint;
use edgewise::instrument::{self, Architecture};
use rustc_hash::FxHashMap;

fn analyse(source: &[u8]) -> Analysis {
    let mut text = b"# 1 \"t.c\"\n".to_vec();
    text.extend(source);
    let mut tree = frontend::analyse(&text, None, &|_| false);
    let mut analysis = unit::analyse(&mut tree, &FxHashMap::default());
    instrument::assign_probes(&mut analysis, instrument::Code::default(), Detail::default());
    let unit = Fingerprint::default();
    let how = instrument::Compiled {
        architecture: Architecture::X86_64,
        granularity: Granularity::Edge,
        is_optimized: true,
    };
    instrument::instrument(&tree, &analysis, unit, b"record", how);
    analysis
}

/// Names of the procedures that have a graph.
fn understood(analysis: &Analysis) -> Vec<&str> {
    let procedures = analysis.procedures.iter().filter(|procedure| procedure.opaque.is_none());
    procedures.map(|procedure| procedure.name.as_str()).collect()
}

/// The source has no procedure that is understood but these, and says where it
/// was not understood: at these lines.
#[track_caller]
fn check(source: &[u8], names: &[&str], lines: &[u32]) {
    let analysis = analyse(source);
    assert_eq!(understood(&analysis), names, "{:?}", analysis.problems());
    let opaque = analysis.procedures.iter().filter_map(|procedure| procedure.opaque.clone());
    let said: Vec<String> = analysis.problems().into_iter().chain(opaque).collect();
    let found: Vec<u32> = said.iter().map(|problem| line_of(problem)).collect();
    assert_eq!(found, lines, "{said:?}");
}

/// The line that a problem names, which is `t.c:12: …` or `… at t.c:12`.
fn line_of(problem: &str) -> u32 {
    let (_, rest) = problem.split_once("t.c:").unwrap_or_else(|| panic!("no place: {problem}"));
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("no line: {problem}"))
}

#[test]
fn nothing_at_all() {
    for source in [&b""[..], b"\n\n", b"/* only */ // comments\n", b"#pragma once\n", b";;;"] {
        check(source, &[], &[]);
    }
    // Without even a marker, nobody knows the file.
    let mut tree = frontend::analyse(b"", None, &|_| false);
    assert!(unit::analyse(&mut tree, &FxHashMap::default()).procedures.is_empty());
}

#[test]
fn a_picture() {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10\x08\x06\0\0\0".to_vec();
    png.extend((0..20_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8));
    let analysis = analyse(&png);
    assert_eq!(understood(&analysis), Vec::<&str>::new());
    assert!(!analysis.problems().is_empty());
    analysis.problems().iter().for_each(|problem| assert!(line_of(problem) > 0));
}

#[test]
fn english() {
    check(b"It was a dark and stormy night; the rain\nfell in torrents.\n", &[], &[1, 1]);
}

#[test]
fn python() {
    let source = b"import os\n\ndef main(a):\n    if a:\n        return {1: 'x'}\n\nmain(3)\n";
    let analysis = analyse(source);
    assert_eq!(understood(&analysis), Vec::<&str>::new());
    assert!(!analysis.problems().is_empty());
}

#[test]
fn c_plus_plus() {
    let source = b"namespace n {\nclass C { public: int f() { return 1; } };\n}\n\
        template <typename T> T twice(T t) { return t + t; }\n\
        int plain(int a) { return a; }\n\
        int uses(int a) { auto g = [&](int b) { return a + b; }; return n::C().f(); }\n\
        bool over(const C &c) { return true; }\n";
    let analysis = analyse(source);
    assert_eq!(understood(&analysis), ["plain"], "{:?}", analysis.problems());
    assert!(!analysis.problems().is_empty());
}

#[test]
fn nul_bytes() {
    check(b"int f(int a) { return\0a; }\n", &[], &[1]);
    check(b"\0\0\0\n\0", &[], &[1]);
    check(b"int g(void) { return 0; }\n\0;\nint h(void) { return 0; }\n", &["g", "h"], &[2]);
}

/// Bytes from 0x80 are letters, as gcc has them.
#[test]
fn invalid_utf_8() {
    let analysis = analyse(b"int f\xff\xfe(int \xc3) { return \xc3; }\nchar *s = \"\xff\";\n");
    assert_eq!(analysis.procedures.len(), 1);
    assert_eq!(analysis.procedures[0].opaque, None);
    assert_eq!(analysis.problems(), Vec::<String>::new());
}

/// Two names that are no UTF-8 stay two names.
#[test]
fn invalid_utf_8_is_not_mixed_up() {
    let label = |source: &[u8]| {
        let analysis = analyse(source);
        analysis.procedures.last().expect("a procedure").fingerprint
    };
    let one = label(b"int a\xff, a\xfe; int f(void) { return a\xff; }");
    let other = label(b"int a\xff, a\xfe; int f(void) { return a\xfe; }");
    assert_ne!(one, other);
}

#[test]
fn a_missing_brace() {
    check(
        b"int f(int a) { return a; }\nint g(int a) { if (a) {\n return a; }\n\
          int h(void) { return 0; }\n",
        &["f"],
        &[2],
    );
    check(b"int f(int a) {\n", &[], &[1]);
    check(b"struct s { int x;\nint f(void) { return 0; }\n", &[], &[2]);
    check(b"enum e { A,\n", &[], &[1]);
    check(b"int v[] = { 1,\n 2", &[], &[2]);
}

#[test]
fn an_extra_brace() {
    check(b"int f(int a) { return a; } }\nint g(void) { return 0; }\n", &["f"], &[1]);
    check(b"}\n", &[], &[1]);
}

#[test]
fn other_brackets_that_do_not_match() {
    check(b"int f(int a) {\n return (a;\n}\nint g(void) { return 0; }\n", &[], &[1]);
    check(b"int f(int a) {\n return (a];\n}\nint g(void) { return 0; }\n", &["g"], &[2]);
    check(b"int f(int a {\n return a;\n}\n", &[], &[1]);
    check(b"int f(int a) {\n a[1;\n}\n", &[], &[1]);
    check(b"int f(int a) {\n __asm__(\"nop\" : : \"r\"(a]);\n}\n", &[], &[2]);
    check(b"int f(int a) {\n return __builtin_constant_p(a};\n}\n", &[], &[2]);
}

#[test]
fn literals_without_an_end() {
    check(b"int f(void) {\n return \"open;\n}\nint g(void) { return 0; }\n", &["g"], &[2]);
    check(b"int f(void) {\n return 'x;\n}\nint g(void) { return 0; }\n", &["g"], &[2]);
    check(b"char *s = \"open;\nint g(void) { return 0; }\n", &[], &[1]);
}

#[test]
fn a_literal_without_an_end_that_parses() {
    check(b"int f(char *p) {\n return p == \"open\n; }\n", &[], &[2]);
    check(b"int f(int p) {\n return p == 'o\n; }\n", &[], &[2]);
}

#[test]
fn a_comment_without_an_end() {
    check(b"int f(void) { return 0; }\n/* and so\nint g(void) { return 0; }\n", &["f"], &[2]);
    check(b"int f(void) { return 0; /* and so }\n", &[], &[1]);
}

/// Text that was not preprocessed: what a directive hides is not known.
#[test]
fn directives_that_the_preprocessor_should_have_taken() {
    check(b"int f(int a) {\n#if 0\n return a;\n#endif\n return 0;\n}\n", &[], &[2]);
    let analysis = analyse(b"#include <stdio.h>\nint f(void) { return 0; }\n");
    assert_eq!(analysis.problems().first().map(|problem| line_of(problem)), Some(1));
}

#[test]
fn trigraphs_digraphs_and_splices() {
    check(b"int f(int a) <% return a; %>\nint g(void) { return 0; }\n", &["f", "g"], &[]);
    check(b"int f(int a) { a\\\n++; }\nint g(void) { return 0; }\n", &["g"], &[1]);
}

#[test]
fn code_outside_of_procedures() {
    check(b"if (1) { f(); }\nint g(void) { return 0; }\n", &["g"], &[1]);
    check(b"return 0;\nint g(void) { return 0; }\n", &["g"], &[1]);
    check(b"int f(void);\n{ f(); }\nint g(void) { return 0; }\n", &["g"], &[2]);
}

#[test]
fn jumps_to_nowhere() {
    check(b"int f(int a) {\n break;\n}\n", &[], &[2]);
    check(b"int f(int a) {\n case 1: return 1;\n}\n", &[], &[2]);
    check(b"int f(int a) {\n goto nowhere;\n}\n", &[], &[2]);
}

#[test]
fn one_label_twice() {
    check(b"int f(int a) {\n l: a++;\n l: return a;\n}\n", &[], &[3]);
}

#[test]
fn one_default_or_case_twice() {
    check(b"int f(int a) {\n switch (a) { default: a++; default: return a; }\n}\n", &[], &[2]);
}

/// Both of the same name have a graph; whoever compares them finds both.
#[test]
fn one_procedure_twice() {
    let analysis = analyse(b"int f(void) { return 0; }\nint f(void) { return 1; }\n");
    assert_eq!(understood(&analysis), ["f", "f"]);
}

#[test]
fn line_numbers_at_the_end_of_what_fits() {
    let analysis = analyse(b"# 4294967295 \"t.c\"\n\n\n\n@;\nint f(void) { return 0; }\n");
    assert_eq!(understood(&analysis), ["f"]);
    assert_eq!(line_of(&analysis.problems()[0]), u32::MAX);
    // Beyond that it is no marker.
    assert!(!analyse(b"# 99999999999999 \"t.c\"\n@;\n").problems().is_empty());
}

#[test]
fn a_graph_always_has_entry_and_exit() {
    let analysis = analyse(b"void f(void) { for (;;); }\nvoid g(void) { l: goto l; }\n");
    for graph in &analysis.graphs {
        assert!(graph.nodes.len() >= 2);
        assert!(graph.out_edges(Graph::ENTRY).count() == 1);
    }
}
