//! Misses of what a name means, and of what acts on a program without being run.

use super::{ALL, MAKEFILE, Miss, main_with};

const REGISTRY: &str = "struct d { int n; };\nextern struct d __start_set[], __stop_set[];";
const ITERATE: &str = "for (struct d *p = __start_set; p < __stop_set; p++) printf(\"%d\\n\", p->n);\n    \
     if (a > 5) never();";

/// Nobody runs the procedure, and what it declares is in the program all the same.
#[test]
fn a_registry_inside_of_a_procedure() {
    let never = "void never(void) { static struct d k __attribute__((section(\"set\"), used)) \
                 = { 3 }; k.n++; }";
    let miss = Miss::of_main(&format!("{REGISTRY}\n{never}"), ITERATE);
    miss.edit("main.c", "{ 3 }", "{ 4 }", ALL);
    let miss = Miss::of_main(&format!("{REGISTRY}\n{never}"), ITERATE);
    let second = "static struct d l __attribute__((section(\"set\"), used)) = { 5 };";
    miss.edit("main.c", "k.n++; }", &format!("k.n++; {second} }}"), ALL);
    // Its value changes with that of another name.
    let through = never.replace("{ 3 }", "{ VALUE }");
    let miss = Miss::of_main(&format!("enum {{ VALUE = 3 }};\n{REGISTRY}\n{through}"), ITERATE);
    miss.edit("main.c", "VALUE = 3", "VALUE = 4", ALL);
    // In a procedure that is not understood.
    let opaque = never.replace("k.n++;", "int; k.n++;");
    let miss = Miss::of_main(&format!("{REGISTRY}\n{opaque}"), ITERATE);
    miss.edit("main.c", "{ 3 }", "{ 4 }", ALL);
}

#[test]
fn a_constructor_declared_in_a_block() {
    let declarations = "static int v;\nvoid ini(void) { v = 5; }\n\
                        void never(void) { void ini(void); ini(); }";
    let miss = Miss::of_main(declarations, "printf(\"%d\\n\", v); if (a > 5) never();");
    let constructor = "{ void ini(void) __attribute__((constructor)); ini(); }";
    miss.edit("main.c", "{ void ini(void); ini(); }", constructor, ALL);
}

#[test]
fn asm_that_puts_data_elsewhere() {
    let never = "void never(void) { __asm__ volatile(\".pushsection set,\\\"aw\\\"\\n.long %c0\\n\
                 .popsection\" : : \"i\"(VALUE)); }";
    let miss = Miss::of_main(&format!("enum {{ VALUE = 5 }};\n{REGISTRY}\n{never}"), ITERATE);
    miss.edit("main.c", "VALUE = 5", "VALUE = 6", ALL);
    // The address of a variable, whose value changes in another unit.
    let pointers = "extern int limit;\nextern int *__start_set[], *__stop_set[];\n\
                    void never(void) { __asm__ volatile(\".pushsection set,\\\"aw\\\"\\n.quad %c0\\n\
                    .popsection\" : : \"i\"(&limit)); }";
    let iterate = "for (int **p = __start_set; p < __stop_set; p++) printf(\"%d\\n\", **p);\n    \
                   if (a > 5) never();";
    let makefile = MAKEFILE.replace("-w ", "-w -fno-pie ").replace("-rdynamic", "-no-pie");
    let files: [(&str, &str); 3] = [
        ("main.c", &main_with(pointers, iterate)),
        ("b.c", "int limit = 5;\n"),
        ("Makefile", &makefile),
    ];
    Miss::new(&files).edit("b.c", "limit = 5", "limit = 6", ALL);
    // By a macro of the assembler, which is defined elsewhere.
    let by_macro = "__asm__(\".macro put n\\n.pushsection set,\\\"aw\\\"\\n.long \\\\n\\n\
                    .popsection\\n.endm\");\nvoid never(void) { __asm__ volatile(\"put 5\"); }";
    let miss = Miss::of_main(&format!("{REGISTRY}\n{by_macro}"), ITERATE);
    miss.edit("main.c", "put 5", "put 6", ALL);
}

#[test]
fn asm_that_defines_a_name() {
    let declarations = "extern int blob;\n__attribute__((noinline)) void never(void) { __asm__ \
        volatile(\".pushsection .data\\n.globl blob\\nblob: .long 5\\n.popsection\"); }";
    let miss = Miss::of_main(declarations, "printf(\"%d\\n\", blob); if (a > 5) never();");
    miss.edit("main.c", ".long 5", ".long 6", ALL);
}

/// What is declared behind a use says nothing about it.
#[test]
fn a_declaration_that_moves_in_front_of_a_use() {
    let al = "int al(void) { return __alignof__(x); }";
    let again = "extern char x __attribute__((aligned(64)));";
    let miss = Miss::of_main(
        &format!("extern char x;\n{al}\n{again}\nchar x;"),
        "printf(\"%d\\n\", al());",
    );
    miss.edit("main.c", &format!("{al}\n{again}"), &format!("{again}\n{al}"), ALL);
    // The same through another declaration.
    let constant = "enum { N = __alignof__(x) };";
    let miss = Miss::of_main(
        &format!("extern char x;\n{constant}\n{again}\nchar x;"),
        "printf(\"%d\\n\", N);",
    );
    miss.edit("main.c", &format!("{constant}\n{again}"), &format!("{again}\n{constant}"), ALL);
}

#[test]
fn small_enumerations() {
    let print = "printf(\"%d\\n\", (int)sizeof(enum e));";
    for (from, to) in [("200", "300"), ("40000", "70000"), ("-1, Y = 100", "-1, Y = 200")] {
        let packed = format!("enum __attribute__((packed)) e {{ X = {from} }};");
        Miss::of_main(&packed, print).edit("main.c", from, to, ALL);
    }
    let makefile = MAKEFILE.replace("-w ", "-w -fshort-enums ");
    let source = main_with("enum e { X = 40000 };", print);
    let miss = Miss::new(&[("main.c", &source), ("Makefile", &makefile)]);
    miss.edit("main.c", "40000", "70000", ALL);
}

#[test]
fn packing_that_is_popped_by_name_or_with_a_number() {
    let print = "printf(\"%d\\n\", (int)sizeof(struct s));";
    for to in ["pack(pop, a)", "pack(pop, 4)", "pack(pop, a, 8)"] {
        let pushed = "#pragma pack(push, a, 1)\n#pragma pack(push, b, 2)\n#pragma pack(pop)\n\
                      struct s { char c; int i; };";
        Miss::of_main(pushed, print).edit("main.c", "pack(pop)", to, ALL);
    }
}

/// What we add to the text of a unit stands behind all its pragmas.
#[test]
fn pragmas_that_are_in_force_at_the_end_of_a_file() {
    for pragma in [
        "scalar_storage_order big-endian",
        "pack(1)",
        "GCC visibility push(hidden)",
        "GCC optimize(\"O0\")",
        "GCC target(\"sse4.2\")",
    ] {
        let source = main_with("", "if (a == 1) puts(\"one\");");
        let miss = Miss::new(&[("main.c", &format!("{source}#pragma {pragma}\n"))]);
        miss.edit("main.c", "puts(\"one\")", "puts(\"uno\")", &["one"]);
        assert_eq!(miss.project.selected(), ["one"], "{pragma}");
    }
}
