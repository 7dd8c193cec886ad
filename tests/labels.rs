//! Labels: what means the same has the same fingerprint, and what can mean
//! something else has another one.

use crate::support::generator;
use crate::support::graph_text;

use edgewise::cfg::unit::{self, Analysis, Known};
use edgewise::frontend;
use edgewise::ids::Fingerprint;
use generator::{Effect, Options, Program, Random, edit, program, seeds};
use graph_text::analyse;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The fingerprint of the last procedure of a source.
fn label(source: &str) -> Fingerprint {
    let analysis = analyse(source);
    let last = analysis.procedures.last().unwrap_or_else(|| panic!("no procedure: {source}"));
    assert_eq!(last.opaque, None, "{source}");
    last.fingerprint
}

/// The same of the one with this name.
fn label_of(name: &str, source: &str) -> Fingerprint {
    let analysis = analyse(source);
    let found = analysis.procedures.iter().find(|procedure| procedure.name == name);
    found.unwrap_or_else(|| panic!("no {name}: {source}")).fingerprint
}

#[track_caller]
fn same(one: &str, other: &str) {
    assert_eq!(label(one), label(other), "\n{one}\n{other}");
}

/// The two differ by an edit that counts.
#[track_caller]
fn differ(one: &str, other: &str) {
    assert_ne!(one, other);
    assert_ne!(label(one), label(other), "\n{one}\n{other}");
}

/// The same with what stands behind the first `{}` filled in.
#[track_caller]
fn differ_in(source: &str, one: &str, other: &str) {
    differ(&source.replacen("{}", one, 1), &source.replacen("{}", other, 1));
}

#[track_caller]
fn same_in(source: &str, one: &str, other: &str) {
    same(&source.replacen("{}", one, 1), &source.replacen("{}", other, 1));
}

#[test]
fn layout_and_comments_mean_nothing() {
    same("int f(int a) { return a + 1; }", "int f(int a)\n{\n\treturn a /* more */ + 1; // one\n}");
    same("int f(int a) { return a; }", "\n\n# 90 \"other.h\"\nint f(int a) { return a; }");
    same("int f(void) { return 1; }", "int unused; int f(void) { return 1; }");
}

#[test]
fn declarations_that_nothing_depends_on_may_be_reordered() {
    let f = "int f(struct a *p) { return p->x + B; }";
    let declarations = ["struct a { int x; };", "enum { B = 3 };", "typedef int t;", "int g(t);"];
    let forward = declarations.concat() + f;
    let mut backward = declarations.to_vec();
    backward.swap(0, 1);
    same(&forward, &(backward.concat() + f));
    same(&forward, &format!("int g(int);{forward}").replace("int g(t);", ""));
}

#[test]
fn names_that_mean_nothing_may_change() {
    same(
        "int g(int a); int f(int a) { return g(a); }",
        "int g(int b); int f(int a) { return g(a); }",
    );
    same(
        "int g(int); int f(int a) { return g(a); }",
        "extern int g(int); int f(int a) { return g(a); }",
    );
    same(
        "enum e { A = 1 + 1, B }; int f(void) { return B; }",
        "enum e { A = 2, B = 3 }; int f(void) { return B; }",
    );
}

/// Everything that a front end might leave out of the text it looks at.
#[test]
fn nothing_is_left_out() {
    // Attributes, of every kind of declaration and of statements.
    differ_in(
        "struct s { char c; int x; } {}; int f(struct s *p) { return p->x; }",
        "",
        "__attribute__((packed))",
    );
    differ_in(
        "struct s { int x {}; }; int f(struct s *p) { return p->x; }",
        "",
        "__attribute__((aligned(16)))",
    );
    differ_in("int g(int) {}; int f(int a) { return g(a); }", "", "__attribute__((const))");
    differ_in(
        "int f(int a) { int b {} = a; return b; }",
        "__attribute__((aligned(8)))",
        "__attribute__((aligned(16)))",
    );
    differ_in(
        "{} int f(int a) { return a; }",
        "__attribute__((noinline))",
        "__attribute__((optimize(0)))",
    );
    differ_in("typedef int t {}; int f(t *a) { return *a; }", "", "__attribute__((aligned(1)))");
    differ_in(
        "int f(int a) { int v[2] {} = {a, a}; return v[0]; }",
        "",
        "__attribute__((vector_size(8)))",
    );
    // The text, operands and clobbers of asm, and its labels.
    differ_in("int f(int a) { asm volatile({} : \"+r\"(a)); return a; }", "\"nop\"", "\"inc %0\"");
    differ_in("int f(int a, int b) { asm volatile(\"nop\" : \"+r\"({})); return a; }", "a", "b");
    differ_in("int f(int a) { asm volatile(\"nop\" : : : {}); return a; }", "\"memory\"", "\"cc\"");
    differ_in("int f(int a) { asm goto(\"\" : : : : {}); l: a = 1; m: return a; }", "l", "m");
    differ_in("int g(void) asm({}); int f(void) { return g(); }", "\"one\"", "\"two\"");
    // typeof and __auto_type.
    differ_in("int f(int a, long b) { typeof({}) c = a; return sizeof c; }", "a", "b");
    differ_in("int f(int a) { __typeof__({}) c = a; return sizeof c; }", "int", "short");
    differ_in("{} g(void); int f(void) { __auto_type x = g(); return sizeof x; }", "int", "long");
    // Unnamed bit-fields, and widths.
    differ_in(
        "struct s { int a : 3; int : {}; int b : 3; }; int f(struct s *p) { return p->b; }",
        "2",
        "9",
    );
    differ_in("struct s { int a : {}; }; int f(struct s *p) { return p->a; }", "3", "4");
    // Built-in operators on types and members.
    differ_in(
        "struct s { int a, b; }; int f(void) { return __builtin_offsetof(struct s, {}); }",
        "a",
        "b",
    );
    differ_in(
        "struct s { {} int b; }; int f(void) { return __builtin_offsetof(struct s, b); }",
        "",
        "int a;",
    );
    differ_in("int f(void) { return __builtin_types_compatible_p(int, {}); }", "int", "long");
    differ_in(
        "int f(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n); return __builtin_va_arg(l, {}); }",
        "int",
        "long",
    );
    differ_in("int f(int a) { return __builtin_choose_expr(1, {}, 2); }", "a", "a + 1");
    differ_in("int f(void) { return _Alignof({}); }", "int", "char");
    differ_in("int f(int a) { return _Generic(a, {}: 1, default: 2); }", "int", "long");
    // _Atomic, both spellings.
    differ_in("int f({} *p) { return ++*p; }", "int", "_Atomic(int)");
    differ_in("int f({} int *p) { return ++*p; }", "", "_Atomic");
    // Old-style parameters, and implicit ones.
    differ_in("int f(a, b) {} a; char b; { return a + b; }", "int", "unsigned");
    differ("int f(a, b) int a; { return a; }", "int f(b, a) int a; { return a; }");
    // Case ranges, at both ends.
    differ_in("int f(int a) { switch (a) { case 1 ... {}: return 1; } return 0; }", "5", "6");
    differ_in("int f(int a) { switch (a) { case {} ... 9: return 1; } return 0; }", "5", "6");
    // Computed gotos.
    differ_in(
        "int f(int a) { void *t[] = {&&l, &&m}; goto *{}; l: return 1; m: return 2; }",
        "t[a]",
        "t[0]",
    );
    differ_in(
        "int f(int a) { void *t[] = {&&l, &&{}}; goto *t[a]; l: return 1; m: return 2; }",
        "l",
        "m",
    );
    // Pragmas: of the file, of a body, of a loop.
    differ_in(
        "#pragma pack({})\nstruct s { char c; int x; };\n#pragma pack()\nint f(struct s *p) { return p->x; }",
        "1",
        "2",
    );
    differ_in(
        "int f(int a) { a++;\n#pragma {}\nwhile (a < 9) a++; return a; }",
        "GCC unroll 2",
        "GCC unroll 4",
    );
    differ_in("#pragma GCC {}\nint f(int a) { return a; }", "optimize(0)", "optimize(2)");
    differ_in("int f(double a) {\n#pragma STDC FP_CONTRACT {}\nreturn a * a + 1; }", "ON", "OFF");
    // Qualifiers and other words.
    differ_in("int f({} int *p) { return *p + *p; }", "", "volatile");
    differ_in("int f(int *{} p, int *q) { *q = 1; return *p; }", "", "__restrict");
    differ_in("int f({} char a) { return a; }", "__signed__", "unsigned");
    differ_in(
        "{} int g(int a) { return a; } int f(int a) { return g(a); }",
        "static",
        "static __inline__",
    );
    differ_in("int f({} double a) { return __real__ a; }", "", "_Complex");
    differ_in(
        "_Noreturn void g(void); {} void h(void); int f(void) { h(); return 1; }",
        "",
        "_Noreturn",
    );
    differ_in("int f(int a) { return sizeof({}); }", "int", "a + 1L");
    differ_in("int f(void) { return (struct { int a; } {}){1}.a; }", "", "__attribute__((packed))");
}

/// Attributes behind a tag that only refers to a type are those of what is
/// declared.
#[test]
fn attributes_behind_a_tag_count() {
    let attributes = ["__attribute__((aligned(4)))", "__attribute__((aligned(64)))"];
    for source in [
        "struct s { int a; }; extern struct s {} v; int f(void) { return __alignof__(v); }",
        "struct s { int a; }; int f(void) { struct s {} v; return __alignof__ (v); }",
        "enum e { A }; int g(enum e {}); int f(void) { return g(A); }",
    ] {
        differ_in(source, attributes[0], attributes[1]);
    }
}

/// A use sees the declarations before it; which of several that say the same, and
/// in which order, means nothing.
#[test]
fn declarations_of_one_name_count_from_where_they_stand() {
    let f = "int f(void) { return __alignof__(v); }";
    let aligned = "extern char v __attribute__((aligned(64)));";
    differ(&format!("extern char v; {aligned} {f}"), &format!("extern char v; {f} {aligned}"));
    same(&format!("extern char v; {aligned} {f}"), &format!("{aligned} extern char v; {f}"));
    same(&format!("extern char v; {f}"), &format!("extern char v; extern char v; {f}"));
    same(&format!("extern char v; {f}"), &format!("extern char v; {f} char v;"));
    // A plain declaration adds nothing to one with attributes.
    let g = "static int g(int) __attribute__((noinline));";
    let of_g = "static int g(int n) { return n; }";
    let first = label_of("f", &format!("{g} int f(int a) {{ return g(a); }} {of_g}"));
    assert_eq!(first, label_of("f", &format!("{g} {of_g} int f(int a) {{ return g(a); }}")));
    // Through the size of an array that a declaration completes.
    let n = "enum { N = sizeof(*(typeof(&w))0) };";
    let h = "int h(void) { return N; }";
    differ(
        &format!("extern int w[2]; {n} extern int w[2] __attribute__((aligned(64))); {h}"),
        &format!("extern int w[2]; extern int w[2] __attribute__((aligned(64))); {n} {h}"),
    );
}

#[test]
fn names_of_attributes_are_only_words_elsewhere() {
    let composition = |source: &str| analyse(source).composition;
    let f = "int f(int i) { return i; }";
    for word in ["used", "section", "alias", "weak"] {
        let source = format!("static int {word}[4]; int f(int i) {{ int {word}[2]; return i; }}");
        assert_eq!(composition(&source), composition(f), "{source}");
    }
    let declared = "int f(int i) { static int k __attribute__((used)); return i; }";
    assert_ne!(composition(declared), composition(f));
}

#[test]
fn a_procedure_is_a_constructor_wherever_that_is_said() {
    let attribute = "__attribute__((destructor))";
    for source in [
        format!("static void f(void) {attribute}; static void f(void) {{ }}"),
        format!("static void f(void) {{ }} static void f(void) {attribute};"),
        format!("{attribute} static void f(void) {{ }}"),
        format!("void f(void) {{ }} void g(void) {{ void f(void) {attribute}; f(); }}"),
    ] {
        let analysis = analyse(&source);
        let f = analysis.procedures.iter().find(|procedure| procedure.name == "f").unwrap();
        assert!(f.is_constructor, "{source}");
    }
}

#[test]
fn packing_ends_where_it_is_popped() {
    let f = "struct s { char c; int x; }; int f(struct s *p) { return p->x; }";
    same(f, &format!("#pragma pack(push, a, 1)\n#pragma pack(pop, a)\n{f}"));
    let nested = "#pragma pack(push, a, 1)\n#pragma pack(push, b, 2)\n#pragma pack(pop, a)\n";
    same(f, &format!("{nested}{f}"));
    differ(f, &format!("{}{f}", nested.replace("pop, a", "pop, b")));
    differ(f, &format!("{}{f}", nested.replace("pop, a", "pop, c")));
    let odd = "#pragma pack(push, 1)\n#pragma pack(push, 2)\n#pragma pack(pop, 4)\n";
    differ(&format!("{odd}{f}"), &format!("{odd}#pragma pack(pop)\n{f}"));
}

#[test]
fn harmless_pragmas_mean_nothing() {
    same_in("{}int f(int a) { return a; }", "", "#pragma GCC diagnostic push\n");
    same_in("int f(int a) {\n{}return a; }", "", "#pragma GCC diagnostic ignored \"-Wall\"\n");
}

#[test]
fn pragmas_that_end_with_their_block_mean_nothing_behind_it() {
    let f = "int f(int a) { return a; }";
    same(f, &format!("int g(int a) {{\n#pragma STDC FP_CONTRACT OFF\nreturn a; }} {f}"));
    same(f, &format!("int g(int a) {{\n#pragma GCC unroll 4\nwhile (a--) ; return a; }} {f}"));
    let packed = "int g(int a) {\n#pragma pack(1)\nreturn a; } struct s { char c; int x; };";
    let h = "int h(struct s *p) { return p->x; }";
    differ(&format!("struct s {{ char c; int x; }}; {h}"), &format!("{packed} {h}"));
}

#[test]
fn types_count_through_whatever_they_are_made_of() {
    let f = "int f(struct a *p) { return p->b->c.d; }";
    let types = |last: &str| {
        format!(
            "struct c {{ {last} d; }}; typedef struct c t; struct b {{ t c; }}; struct a {{ struct b *b; }}; {f}"
        )
    };
    differ(&types("int"), &types("long"));
    differ(&types("int"), &types("unsigned"));
    differ_in(
        "struct a { struct a *next; {} x; }; int f(struct a *p) { return p->next->x; }",
        "int",
        "long",
    );
    differ_in(
        "union u { int a; {} b; }; int f(union u *u) { return u->a + sizeof *u; }",
        "int",
        "long",
    );
    differ_in("enum e { A, B{} }; int f(void) { return B; }", "", " = 5");
    differ_in("enum e { A{}, B }; int f(void) { return B; }", "", " = 5");
    same_in("enum e { A, B{} }; int f(void) { return A; }", "", " = 5");
    differ_in("enum e { A, B = {} }; int f(enum e x) { return sizeof x; }", "1", "0x1ffffffff");
    differ_in("int g({}); int f(int a) { return g(a); }", "int", "long");
    differ_in("{} g(int); int f(int a) { return g(a); }", "int", "long");
    differ_in("extern {} v; int f(void) { return v; }", "int", "short");
    differ_in("extern int v[{}]; int f(void) { return sizeof v; }", "2", "3");
    differ_in("typedef int (*t)({}); int f(t g) { return g(1); }", "int", "long");
}

#[test]
fn locals_count_by_which_declaration_they_mean() {
    differ(
        "int f(int a) { { int a = 1; a++; } return a; }",
        "int f(int a) { { a++; int b = 1; b++; } return a; }",
    );
    differ(
        "int f(void) { int a = 1; { {} a = 2; } return a; }",
        "int f(void) { int a = 1; { int a; a = 2; } return a; }",
    );
    differ(
        "int a; int f(void) { int a; a = 1; return a; }",
        "int a; int f(void) { a = 1; return a; }",
    );
    differ("int f(int a, int b) { return a; }", "int f(int b, int a) { return a; }");
    differ(
        "int f(int a) { for (int a = 0; a < 2; a++) ; return a; }",
        "int f(int a) { for (a = 0; a < 2; a++) ; return a; }",
    );
    differ_in("int f(int a) { {} b = a; return b; }", "int", "char");
}

#[test]
fn the_four_name_spaces_are_apart() {
    // A tag, a member, a label and a variable of one name.
    same_in("struct a { int x; }; {} int f(struct a *p) { return p->x; }", "", "typedef long x;");
    same_in(
        "struct a { int b; }; {} int f(struct a *p) { return p->b; }",
        "",
        "struct b { long c; };",
    );
    same_in("{} int f(int x) { goto a; a: return x; }", "", "int a;");
    differ_in("{} a; struct a { int b; }; int f(void) { return sizeof a; }", "int", "long");
    differ_in("int a; struct a { {} b; }; int f(void) { return sizeof(struct a); }", "int", "long");
}

/// What a unit says, in the order it says it.
fn says(analysis: &Analysis) -> Vec<(String, Fingerprint)> {
    let procedures = analysis.procedures.iter().map(|p| (p.name.clone(), p.fingerprint));
    let name = |symbol: u32| analysis.symbols[symbol as usize].name.clone();
    let definitions = analysis.definitions.iter().map(|d| (name(d.symbol), d.fingerprint));
    let rest = [(String::from("composition"), analysis.composition)];
    procedures.chain(definitions).chain(rest).collect()
}

struct Unit {
    name: String,
    text: Vec<u8>,
}

impl Unit {
    fn analyse(&self) -> Analysis {
        let mut tree = frontend::analyse(&self.text, None, &|file| file.starts_with('/'));
        unit::analyse(&mut tree, &FxHashMap::default())
    }
}

fn preprocessed(program: &Program, directory: &Path) -> Vec<Unit> {
    for (name, text) in program.files() {
        std::fs::write(directory.join(name), text).unwrap();
    }
    let units = program.sources().into_iter().map(|name| {
        let mut gcc = Command::new("gcc");
        let output = gcc.current_dir(directory).args(["-std=gnu11", "-E"]).arg(&name).output();
        let output = output.expect("gcc");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Unit { name, text: output.stdout }
    });
    units.collect()
}

/// What gcc makes of a unit, without anything about lines. Optimised a little,
/// so that dead code leaves no trace.
fn object(directory: &Path, unit: &Unit) -> Vec<u8> {
    let text: Vec<u8> = unit
        .text
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.starts_with(b"# "))
        .flat_map(|line| line.iter().copied().chain([b'\n']))
        .collect();
    std::fs::write(directory.join("unit.i"), text).unwrap();
    let mut gcc = Command::new("gcc");
    gcc.current_dir(directory).args(["-std=gnu11", "-O1", "-w", "-c", "unit.i"]);
    assert!(gcc.status().expect("gcc").success(), "{}", unit.name);
    std::fs::read(directory.join("unit.o")).unwrap()
}

/// All that later stages look at, with symbols by name.
fn in_full(analysis: &Analysis) -> BTreeMap<String, String> {
    let name = |symbol: &u32| analysis.symbols[*symbol as usize].name.clone();
    let names = |symbols: &[u32]| {
        let mut names: Vec<String> = symbols.iter().map(name).collect();
        names.sort();
        names
    };
    let mut all = BTreeMap::new();
    for (procedure, graph) in analysis.procedures.iter().zip(&analysis.graphs) {
        let mut text =
            format!("{:?} {:?} {:?}", procedure.fingerprint, procedure.place, procedure.body);
        text += &format!("{:?} {:?}\n", names(&procedure.mentions), names(&procedure.takes));
        for node in &graph.nodes {
            let calls: Vec<String> = node.calls.iter().map(name).collect();
            // Text that is taken over keeps its old spacing.
            let shown: String =
                node.text.chars().filter(|c| !c.is_whitespace()).take(100).collect();
            text += &format!(
                "{:?} {:?} {:?} {} {} {calls:?} {:?} {} {}\n",
                node.kind,
                node.label,
                node.place,
                node.token,
                shown,
                names(&node.mentions),
                node.calls_are_certain,
                node.calls_pointer,
            );
        }
        for edge in &graph.edges {
            text += &format!("{:?} {:?} {:?}\n", edge.from, edge.to, edge.label);
        }
        all.insert(procedure.name.clone(), text);
    }
    for one in &analysis.definitions {
        let text = format!(
            "{:?} {:?} {} {:?} {:?}",
            one.fingerprint,
            names(&one.mentions),
            one.acts,
            one.place,
            one.within
        );
        all.insert(format!("definition of {}", name(&one.symbol)), text);
    }
    all.insert(String::from(" taken"), format!("{:?}", names(&analysis.address_taken)));
    all.insert(
        String::from(" composition"),
        format!("{:?} {:?}", analysis.composition, analysis.outside),
    );
    all
}

#[track_caller]
fn assert_alike(quick: &BTreeMap<String, String>, full: &BTreeMap<String, String>, told: &str) {
    assert_eq!(quick.keys().collect::<Vec<_>>(), full.keys().collect::<Vec<_>>(), "{told}");
    for (name, quick) in quick {
        for (quick, full) in quick.lines().zip(full[name].lines()) {
            assert_eq!(quick, full, "{name}, {told}");
        }
    }
}

/// Chains of edits. Where an edit means nothing, no fingerprint changes. Where
/// all fingerprints are equal, gcc makes the same object of both. And what is
/// taken from the old version is what a new analysis finds.
#[test]
fn edits_show_if_and_only_if_they_mean_something() {
    let directory = tempfile::tempdir().unwrap();
    let (mut neutral, mut shown, mut reused) = (0, 0, 0);
    for seed in seeds(25) {
        let mut random = Random::new(seed);
        let mut old = program(seed, &Options::small().for_gcc());
        let mut before = preprocessed(&old, directory.path());
        for _ in 0..4 {
            let (new, what) = edit(&old, &mut random);
            let after = preprocessed(&new, directory.path());
            for (one, other) in before.iter().zip(&after) {
                let told =
                    format!("seed {seed}: {:?} of {} in {}", what.kind, what.place, one.name);
                let (old, new) = (one.analyse(), other.analyse());
                let is_equal = says(&old) == says(&new);
                if what.effect == Effect::None {
                    let sorted = |analysis| says(analysis).into_iter().collect::<BTreeMap<_, _>>();
                    assert_eq!(sorted(&old), sorted(&new), "{told}");
                    neutral += 1;
                } else if is_equal && one.text != other.text {
                    let (one, other) =
                        (object(directory.path(), one), object(directory.path(), other));
                    assert!(one == other, "equal fingerprints of what differs: {told}");
                } else if !is_equal {
                    shown += 1;
                }
                let known = Known::of_analysis(&old);
                let system = |file: &str| file.starts_with('/');
                let mut tree = frontend::analyse_unknown(
                    &other.text,
                    None,
                    &system,
                    frontend::Assembler::Plain,
                    &known.bodies(),
                );
                if let Some(quick) = unit::analyse_unknown(&mut tree, &FxHashMap::default(), &known)
                {
                    assert_alike(&in_full(&quick), &in_full(&new), &told);
                    reused += 1;
                }
            }
            (old, before) = (new, after);
        }
    }
    println!("{neutral} units with neutral edits, {shown} that show theirs, {reused} taken over");
    assert!(neutral > 10 && shown > 10 && reused > 10, "{neutral} {shown} {reused}");
}
