//! Edits that change which members a link takes from an archive, where a program refers
//! to a member weakly. Each stays here under the name it was found by.

use crate::support::misses::{ALL, Miss, main_with};

const ARCHIVE: &str = "\
prog: main.o b.o libx.a
\t$(CC) $(LINK) -o $@ main.o b.o -L. -lx
libx.a: x1.o opt.o
\trm -f $@; ar rcs $@ $^
%.o: %.c $(wildcard *.h)
\t$(CC) -w -O1 $(CFLAGS_$*) -c -o $@ $<
%.o: %.s
\t$(CC) -c -o $@ $<
";

const OPT: &str = "int opt(int n) { return n + 40; }\nint opt_two(int n) { return n + 41; }\n";
const X1: &str = "int f(int n) { return n; }\n";
const WEAK: &str = "int opt(int) __attribute__((weak));\nint b(int);";
const BODY: &str = "printf(\"%d\\n\", opt ? opt(a) : b(a));";

/// A program whose `main` uses `opt` weakly: `b.c` decides whether the link takes it.
fn program(weak: &str, b: &str, more: &[(&str, &str)]) -> Miss {
    let main = main_with(weak, BODY);
    let files = [
        ("Makefile", ARCHIVE),
        ("main.c", main.as_str()),
        ("b.c", b),
        ("x1.c", X1),
        ("opt.c", OPT),
    ];
    Miss::new(&[&files, more].concat())
}

const B: &str = "int f(int);\nint b(int n) { return f(n); }\nint unused(int n) { return n; }\n";

/// An edit of a function that no test runs.
#[track_caller]
fn refer(miss: &Miss, declarations: &str, expression: &str) {
    miss.project.edit("b.c", "int f(int);\n", &format!("int f(int);\n{declarations}\n"));
    miss.edit("b.c", "{ return n; }", &format!("{{ return {expression}; }}"), ALL);
}

#[test]
fn a_first_strong_reference_in_another_unit() {
    let miss = program(WEAK, B, &[]);
    // Not run, and no new symbol of the program.
    refer(&miss, "int opt(int);", "opt(n)");
}

#[test]
fn the_strong_reference_is_gone() {
    let b = B.replace("{ return n; }", "{ int opt(int); return opt(n); }");
    let miss = program(WEAK, &b, &[]);
    miss.edit("b.c", "{ int opt(int); return opt(n); }", "{ return n; }", ALL);
}

#[test]
fn weak_by_pragma() {
    let weak = "#pragma weak opt\nint opt(int), b(int);";
    refer(&program(weak, B, &[]), "int opt(int);", "opt(n)");
}

#[test]
fn weak_by_weakref() {
    let weak = "static int weak_opt(int) __attribute__((weakref(\"opt\")));\nint b(int);";
    let main = main_with(weak, "printf(\"%d\\n\", weak_opt ? weak_opt(a) : b(a));");
    refer(&program(weak, B, &[("main.c", &main)]), "int opt(int);", "opt(n)");
}

#[test]
fn weak_by_weakref_and_strong_in_the_same_unit() {
    let weak = "static int weak_opt(int) __attribute__((weakref(\"opt\")));\nint opt(int), b(int);\n\
                int unused_here(int n) { return n; }\n";
    let main = main_with(weak, "printf(\"%d\\n\", weak_opt ? weak_opt(a) : b(a));");
    let miss = program("int opt(int), b(int);", B, &[("main.c", &main)]);
    miss.edit("main.c", "{ return n; }", "{ return opt(n); }", ALL);
}

#[test]
fn weak_by_asm() {
    let weak = "int opt(int), b(int);\n__asm__(\".weak opt\");\nint (*volatile way)(int) = opt;";
    let main = main_with(weak, "printf(\"%d\\n\", way ? way(a) : b(a));");
    refer(&program(weak, B, &[("main.c", &main)]), "int opt(int);", "opt(n)");
}

#[test]
fn strong_by_a_table() {
    let miss = program(WEAK, B, &[]);
    refer(&miss, "int opt(int);\nint (*const table[])(int) = { opt };", "n");
}

#[test]
fn strong_by_another_name_of_the_member() {
    let miss = program(WEAK, B, &[]);
    refer(&miss, "int opt_two(int);", "opt_two(n)");
}

#[test]
fn strong_by_asm_in_a_body() {
    let miss = program(WEAK, B, &[]);
    miss.edit("b.c", "{ return n; }", "{ __asm__(\"call opt\"); return n; }", ALL);
}

/// `f` is taken from a member, which refers to another for the first time.
#[test]
fn strong_in_a_member() {
    let miss = program(WEAK, B, &[]);
    miss.edit(
        "x1.c",
        X1,
        "int opt(int);\nint f(int n) { return n; }\nint g(int n) { return opt(n); }\n",
        ALL,
    );
}

/// What is left out takes others with it, also if they refer to each other.
#[test]
fn the_strong_references_of_a_member_that_is_left_out() {
    let makefile = ARCHIVE.replace("x1.o opt.o", "x1.o opt.o way.o");
    let way = ("way.c", "int opt(int);\nint way(int n) { return opt(n); }\n");
    let opt = ("opt.c", "int way(int);\nint opt(int n) { return n > 90 ? way(n) : n + 40; }\n");
    let b = B.replace("{ return n; }", "{ int way(int); return way(n); }");
    let miss = program(WEAK, &b, &[("Makefile", &makefile), way, opt]);
    miss.edit("b.c", "{ int way(int); return way(n); }", "{ return n; }", ALL);
}

/// `main` is named by the member, so that each refers to the other.
#[test]
fn a_member_that_refers_to_the_unit_with_main() {
    let opt = ("opt.c", "extern int verbose;\nint opt(int n) { return n + 40 + verbose; }\n");
    let weak =
        format!("int verbose;\nint unused_here(int n) {{ int opt_now(int); return n; }}\n{WEAK}");
    let b = B.replace("{ return n; }", "{ int opt(int); return opt(n); }");
    let miss = program(&weak, &b, &[opt]);
    miss.edit("b.c", "{ int opt(int); return opt(n); }", "{ return n; }", ALL);
}

const ASM_OPT: &str = "\t.globl opt\n\t.text\nopt:\n\tmovl $40, %eax\n\tret\n\
                       \t.section .note.GNU-stack,\"\",@progbits\n";

/// A member that is not analysed is known to every link of its archive.
#[test]
fn a_member_in_assembler() {
    let makefile = ARCHIVE.replace("opt.o\n", "aopt.o\n");
    let files = [("Makefile", makefile.as_str()), ("aopt.s", ASM_OPT)];
    refer(&program(WEAK, B, &files), "int opt(int);", "opt(n)");
    let b = B.replace("{ return n; }", "{ int opt(int); return opt(n); }");
    let miss = program(WEAK, &b, &files);
    miss.edit("b.c", "{ int opt(int); return opt(n); }", "{ return n; }", ALL);
}

const CONSTRUCTOR: &str = "#include <stdio.h>\n\
    __attribute__((constructor)) static void hello(void) { puts(\"hello\"); }\n";

/// In a static program everything may be a name of the C library.
#[test]
fn a_member_of_a_static_program() {
    let makefile = format!("LINK = -static\n{ARCHIVE}");
    let opt = format!("{CONSTRUCTOR}int fresh(int n) {{ return n; }}\n");
    let files = [("Makefile", makefile.as_str()), ("opt.c", opt.as_str())];
    refer(&program(WEAK, B, &files), "int fresh(int);", "fresh(n)");
    let miss = program(WEAK, B, &[("Makefile", &makefile)]);
    refer(&miss, "int opt(int);", "opt(n)");
}

/// The C library has the name too, but the archive comes first.
#[test]
fn a_member_that_defines_a_name_of_a_library() {
    let opt = format!("{CONSTRUCTOR}int ffs(int n) {{ return n; }}\n");
    let miss = program(WEAK, B, &[("opt.c", &opt)]);
    refer(&miss, "int ffs(int);\nint (*volatile way)(int);", "(way = ffs, way(n))");
}

/// A definition that becomes a common symbol gives way to that of a member.
#[test]
fn a_common_symbol() {
    let makefile = format!("CFLAGS_b = -fcommon\n{ARCHIVE}");
    let opt = format!("{CONSTRUCTOR}int shared = 5;\n");
    let b = format!("{B}int shared = 0;\n");
    let files = [("Makefile", makefile.as_str()), ("opt.c", opt.as_str())];
    let miss = program(WEAK, &b, &files);
    miss.edit("b.c", "int shared = 0;", "int shared;", ALL);
    let miss = program(WEAK, &b.replace("shared = 0", "shared"), &files);
    miss.edit("b.c", "int shared;", "int shared = 0;", ALL);
}

/// A unit that is in an archive and in no program defines a name for the first time.
#[test]
fn a_member_of_no_program() {
    let b = B.replace("return f(n)", "return f(n) + (getppid() == 7)");
    let miss = program(WEAK, &format!("int getppid(void);\n{b}"), &[]);
    let fresh = format!("{CONSTRUCTOR}int getppid(void) {{ return 7; }}\n");
    miss.edit("opt.c", "int opt(", &format!("{fresh}int opt("), ALL);
}

#[test]
fn the_linker_is_told_of_the_member() {
    for option in ["-Wl,-u,opt", "-Wl,--undefined=opt"] {
        let makefile =
            |flags: &str| ARCHIVE.replace("prog: ", &format!("LINK = {flags}\nprog: Makefile "));
        let miss = program(WEAK, B, &[("Makefile", &makefile(""))]);
        miss.project.write("Makefile", &makefile(option));
        miss.expect(ALL);
    }
    let miss = program(
        WEAK,
        B,
        &[
            (
                "Makefile",
                &ARCHIVE
                    .replace("-lx\n", "-lx more.ld\n")
                    .replace("main.o b.o libx.a", "main.o b.o libx.a more.ld"),
            ),
            ("more.ld", "x1_alias = f;\n"),
        ],
    );
    miss.edit("more.ld", "x1_alias = f;", "EXTERN(opt)", ALL);
}

/// Links that take everything, or leave out what no code reaches: nothing is needless.
#[test]
fn links_that_an_edit_does_not_change() {
    let whole = ARCHIVE.replace("-L. -lx", "-L. -Wl,--whole-archive -lx -Wl,--no-whole-archive");
    let miss = program(WEAK, B, &[("Makefile", &whole)]);
    miss.project.edit("b.c", "{ return n; }", "{ int opt(int); return opt(n); }");
    assert!(miss.project.selected().is_empty(), "the member was there already");
    let b = B.replace("{ return n; }", "{ int opt(int); return opt(n) + opt(n); }");
    let miss = program(WEAK, &b, &[]);
    miss.project.edit("b.c", "opt(n) + opt(n)", "opt(n)");
    assert!(miss.project.selected().is_empty(), "one reference is left");
    let miss = program(WEAK, B, &[]);
    miss.project.edit("b.c", "{ return n; }", "{ int puts(const char *); return puts(\"x\"); }");
    assert!(miss.project.selected().is_empty(), "the C library is there already");
}
