//! Edits that edgewise once selected too little for. Each stays here under the
//! name it was found by: it must select the tests that behave differently,
//! from sources and from a build.

mod declared;

use crate::support::Project;
use crate::support::misses::{ALL, MAKEFILE, Miss, main_with};

#[test]
fn elvis_keeps_its_value() {
    let body = "const char *p = a ? \"some\" : 0; char *q = (char *)p ?: \"none\";\n    \
                printf(\"%d %s\\n\", (a * 7) ?: -1, q);";
    let project = Project::of_source(&main_with("", body), &[]);
    project
        .write("check.sh", "test \"$(./prog 1)\" = '7 some' && test \"$(./prog 0)\" = '-1 none'\n");
    project.write("tests.list", "value sh check.sh\n");
    project.record();
}

#[test]
fn elvis_or() {
    Miss::of_main("", "int x = a || 0; printf(\"%d\\n\", x);").edit(
        "main.c",
        "a || 0",
        "a ?: 0",
        &["two"],
    );
}

#[test]
fn order_of_evaluation() {
    let exits = "static int chk(int n) { if (n > 0) exit(0); return n; }\nstatic int one = 1;";
    let sequenced = "int n = chk(a), ok = one && n > 0; printf(\"%d\\n\", ok);";
    Miss::of_main(exits, sequenced).edit("main.c", "chk(a)", "chk(a * 2 - 1)", &["one"]);
    let arguments = "printf(\"%s %d\\n\", one ? \"a\" : \"b\", chk(a));";
    Miss::of_main(exits, arguments).edit("main.c", "chk(a)", "chk(a - 1)", &["one"]);
    let two_holes = "printf(\"%d %d\\n\", one && a < 9, a && chk(a));";
    Miss::of_main(exits, two_holes).edit("main.c", "a && chk", "a > 1 && chk", &["one"]);
}

#[test]
fn cleanup_scope() {
    let declarations = "static void bye(int *p) { puts(\"bye\"); }";
    let body = "{ __attribute__((cleanup(bye))) int x = 1; puts(\"a\"); } puts(\"b\");";
    Miss::of_main(declarations, body).edit(
        "main.c",
        "puts(\"a\"); } puts(\"b\");",
        "puts(\"a\"); puts(\"b\"); }",
        ALL,
    );
}

#[test]
fn typedef_of_variable_size() {
    let body = "int n = 3; typedef char T[n++]; printf(\"%d %d\\n\", n, (int)sizeof(T));";
    Miss::of_main("", body).edit("main.c", "n++", "n--", ALL);
}

#[test]
fn pragmas_inside_of_bodies() {
    let body = "#pragma pack(1)\n    struct s { char c; int i; } s;\n#pragma pack()\n    printf(\"%d\\n\", (int)sizeof s);";
    Miss::of_main("", body).edit("main.c", "pack(1)", "pack(2)", ALL);
    let leaks = "static void f(void) {\n#pragma pack(1)\n}\nstruct s { char c; int i; };";
    Miss::of_main(leaks, "printf(\"%d\\n\", (int)sizeof(struct s));")
        .edit("main.c", "pack(1)", "pack(2)", ALL);
    let between = "struct s { char c;\n#pragma pack(1)\nint i; };";
    Miss::of_main(between, "printf(\"%d\\n\", (int)sizeof(struct s));")
        .edit("main.c", "pack(1)", "pack(2)", ALL);
}

#[test]
fn enumerations_beyond_int() {
    let print = "printf(\"%d\\n\", (int)sizeof(enum e));";
    Miss::of_main("enum e { X = 0xffffffff };", print).edit(
        "main.c",
        "0xffffffff",
        "0x1ffffffff",
        ALL,
    );
    let sign = "enum e v = X; printf(\"%d\\n\", v - 9 > 0);";
    Miss::of_main("enum e { X = 10 / 2 };", sign).edit("main.c", "10 / 2", "10 / 2, Y = -1", ALL);
}

#[test]
fn types_completed_by_an_initialiser() {
    let names = "static const char *names[] = { \"a\", \"b\" };\nenum { N = sizeof names / sizeof *names };";
    Miss::of_main(names, "printf(\"%d\\n\", N);").edit("main.c", "\"b\"", "\"b\", \"c\"", ALL);
    Miss::of_main(names, "char z[N]; printf(\"%d\\n\", (int)sizeof z);").edit(
        "main.c",
        "\"b\"",
        "\"b\", \"c\"",
        ALL,
    );
}

#[test]
fn registries_in_sections() {
    let declarations = "struct cmd { const char *name; int n; };\nstatic int seven = 7;\n\
        static struct cmd b __attribute__((section(\"cmds\"), used, aligned(8))) = { \"b\", 2 };\n\
        extern struct cmd __start_cmds[], __stop_cmds[];";
    let body = "for (struct cmd *c = __start_cmds; c < __stop_cmds; c++) printf(\"%s %d\\n\", c->name, c->n);";
    Miss::of_main(declarations, body).edit("main.c", "\"b\", 2", "\"b\", 7", ALL);
}

#[test]
fn procedures_that_move() {
    let miss = Miss::new(&[
        ("main.c", &main_with("int get(void);", "printf(\"%d\\n\", get());")),
        (
            "a.c",
            "static int v = 1;\nint get(void) { return v; }\nint other_a(void) { return v; }\n",
        ),
        ("b.c", "static int v = 2;\nint other_b(void) { return v; }\n"),
    ]);
    miss.project.edit("a.c", "int get(void) { return v; }\n", "");
    miss.edit(
        "b.c",
        "static int v = 2;\n",
        "static int v = 2;\nint get(void) { return v; }\n",
        ALL,
    );

    let get = "int get(void) { return (char)200 > 0; }\n";
    let miss = Miss::new(&[
        ("main.c", &main_with("int get(void);", "printf(\"%d\\n\", get());")),
        ("a.c", &format!("int a;\n{get}")),
        ("b.c", "int b;\n"),
        ("Makefile", &MAKEFILE.replace("prog:", "CFLAGS_a = -funsigned-char\nprog:")),
    ]);
    miss.project.write("a.c", "int a;\n");
    miss.project.write("b.c", &format!("int b;\n{get}"));
    miss.expect(ALL);
}

#[test]
fn a_strong_definition_over_a_weak_one() {
    let miss = Miss::new(&[
        (
            "main.c",
            &main_with(
                "__attribute__((weak)) int g(void) { return 1; }",
                "printf(\"%d\\n\", g());",
            ),
        ),
        ("b.c", "int b;\n"),
    ]);
    miss.edit("b.c", "int b;", "int g(void) { return 2; }", ALL);
}

#[test]
fn names_that_a_library_knows() {
    let miss = Miss::of_main("", "printf(\"hello\\n\");");
    miss.edit(
        "main.c",
        "int main",
        "int puts(const char *s) { return write(1, \"x\\n\", 2); }\nint main",
        ALL,
    );
}

#[test]
fn names_that_link_otherwise_than_they_read() {
    let print = "printf(\"%d\\n\", other);";
    let alias = "int lim = 5;\nextern int other __attribute__((alias(\"lim\")));";
    Miss::of_main(alias, print).edit("main.c", "lim = 5", "lim = 6", ALL);
    let label = "int lim = 5;\nextern int other __asm__(\"lim\");";
    Miss::of_main(label, print).edit("main.c", "lim = 5", "lim = 6", ALL);
    let pragma = "int lim = 5;\nextern int other;\n#pragma weak other = lim";
    Miss::of_main(pragma, print).edit("main.c", "lim = 5", "lim = 6", ALL);
    let asm = "int lim = 5;";
    let body =
        "int other; __asm__(\"movl lim(%%rip), %0\" : \"=r\"(other)); printf(\"%d\\n\", other);";
    Miss::of_main(asm, body).edit("main.c", "lim = 5", "lim = 6", ALL);
}

#[test]
fn looked_up_by_dlsym() {
    let declarations = "#define _GNU_SOURCE\n#include <dlfcn.h>\nint lim = 5;";
    let source = main_with("", "printf(\"%d\\n\", *(int *)dlsym(RTLD_DEFAULT, \"lim\"));");
    let source = format!("{declarations}\n{source}");
    Miss::new(&[("main.c", &source)]).edit("main.c", "lim = 5", "lim = 6", ALL);
}

#[test]
fn items_that_are_not_understood() {
    let miss = Miss::new(&[
        (
            "main.c",
            &main_with("int sum(int, int *);", "int v[] = { a, 2 }; printf(\"%d\\n\", sum(2, v));"),
        ),
        (
            "b.c",
            "int sum(int n; int n, int a[n]) { int s = 0; while (n--) s += a[n]; return s; }\n",
        ),
    ]);
    miss.edit("b.c", "s += a[n]", "s -= a[n]", ALL);
}

#[test]
fn a_lost_environment() {
    let miss = Miss::of_main("", "if (a == 1) puts(\"one\"); else puts(\"none\");");
    let list = "both ./prog 0 && env -i ./prog 1\nunset unset EDGEWISE_TRACE; ./prog 1\n";
    miss.project.write("tests.list", list);
    miss.project.ok(&["run"]);
    miss.edit("main.c", "puts(\"one\")", "puts(\"uno\")", &["both", "unset"]);
}

#[test]
fn data_with_the_extension_of_something_built() {
    let miss = Miss::of_main("", "if (a == 1) puts(\"one\");");
    let list = "look for f in d o a la so.1; do test -e in.$f; done; ./prog 0\nother ./prog 1\n";
    miss.project.write("tests.list", list);
    miss.project.ok(&["run"]);
    for name in ["in.d", "in.o", "in.a", "in.la", "in.so.1"] {
        miss.project.write(name, "data");
        assert_eq!(miss.project.selected(), ["look"], "{name}");
        std::fs::remove_file(miss.project.path(name)).unwrap();
    }
}

#[test]
fn permissions_and_pipes() {
    use std::os::unix::fs::PermissionsExt;
    let miss = Miss::of_main("", "if (a == 1) puts(\"one\");");
    miss.project.write("r.sh", "true\n");
    miss.project.write("tests.list", "look test -x r.sh; test -e p; ./prog 0\nother ./prog 1\n");
    miss.project.ok(&["run"]);
    assert!(miss.project.selected().is_empty());
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(miss.project.path("r.sh"), mode).unwrap();
    assert_eq!(miss.project.selected(), ["look"]);
    std::fs::set_permissions(miss.project.path("r.sh"), PermissionsExt::from_mode(0o644)).unwrap();
    assert!(miss.project.selected().is_empty());
    // Reading a pipe that nobody writes to would take for ever.
    let pipe = std::process::Command::new("mkfifo").arg(miss.project.path("p")).status();
    assert!(pipe.unwrap().success());
    assert_eq!(miss.project.selected(), ["look"]);
}

#[test]
fn a_header_of_a_generator() {
    let miss = Miss::new(&[
        ("main.c", &main_with("#include \"n.h\"\n#include \"made.h\"", "printf(\"%d\\n\", MADE);")),
        ("n.h", "#define OTHER 4\n#define IGNORED 5\n"),
        (
            "gen/gen.c",
            "#include <stdio.h>\n#include \"../n.h\"\nint main(void) { printf(\"#define MADE %d\\n\", OTHER); return 0; }\n",
        ),
        (
            "Makefile",
            &format!(
                "all: prog\nmain.o: made.h\nmade.h: generate\n\t./generate > made.h\ngenerate: gen/gen.c n.h\n\t$(CC) -o generate gen/gen.c\n{MAKEFILE}"
            ),
        ),
    ]);
    miss.edit("n.h", "OTHER 4", "OTHER 6", ALL);
}

#[test]
fn a_header_of_code_that_is_not_analysed() {
    let miss = Miss::new(&[
        ("main.c", &main_with("#include \"n.h\"\nextern int lim;", "printf(\"%d\\n\", lim);")),
        ("n.h", "#define N 4\n"),
        ("s.S", "#include \"n.h\"\n.globl lim\n.data\nlim: .long N\n"),
        (
            "Makefile",
            "prog: main.o s.o\n\t$(CC) -o prog main.o s.o\nmain.o: main.c n.h\n\t$(CC) -c main.c\ns.o: s.S n.h\n\t$(CC) -c s.S\n",
        ),
    ]);
    miss.edit("n.h", "N 4", "N 6", ALL);
}

#[test]
fn the_build_command_changes() {
    let miss = Miss::of_main("#ifndef X\n#define X 1\n#endif", "printf(\"%d\\n\", X);");
    miss.project.edit("edgewise.toml", "make -s", "make -s CFLAGS_main=-DX=2");
    assert_eq!(miss.project.selected().len(), 3);
}

#[test]
fn a_run_without_the_build_that_a_changed_makefile_needs() {
    let miss = Miss::of_main("#ifndef X\n#define X 1\n#endif", "printf(\"%d\\n\", X);");
    miss.project.edit("Makefile", "prog:", "CFLAGS_main = -DX=2\nprog:");
    miss.project.ok(&["run"]);
    assert_eq!(miss.project.selected().len(), 3);
}

#[test]
fn counted_by_the_preprocessor() {
    let miss = Miss::of_main(
        "static int first = __COUNTER__;\nstatic int second = __COUNTER__;",
        "printf(\"%d\\n\", second);",
    );
    miss.edit("main.c", "static int first = __COUNTER__;\n", "", ALL);
}

#[test]
fn an_archive_member_with_a_constructor() {
    let makefile = "\
prog: main.o libx.a
\t$(CC) -o prog main.o libx.a
main.o: main.c
\t$(CC) -c main.c
libx.a: x.c
\t$(CC) -c x.c && ar rcsD libx.a x.o
";
    let miss = Miss::new(&[
        ("main.c", &main_with("int foo(void);", "if (a == 9) puts(\"nine\"); puts(\"end\");")),
        (
            "x.c",
            "#include <stdio.h>\nint foo(void) { return 1; }\n__attribute__((constructor)) static void hi(void) { puts(\"hi\"); }\n",
        ),
        ("Makefile", makefile),
    ]);
    miss.edit("main.c", "puts(\"nine\")", "foo()", ALL);
}

#[test]
fn hidden_from_dlsym() {
    let source = main_with(
        "int lim(void) { return 5; }",
        "printf(\"%d\\n\", dlsym(RTLD_DEFAULT, \"lim\") != 0);",
    );
    let source = format!("#define _GNU_SOURCE\n#include <dlfcn.h>\n{source}");
    let hidden = "__attribute__((visibility(\"hidden\"))) int lim";
    Miss::new(&[("main.c", &source)]).edit("main.c", "int lim", hidden, ALL);
}

#[test]
fn an_operand_that_leaves_hides_its_statement() {
    let die = "static int die(int n) { printf(\"die %d\\n\", n); exit(0); }\nstatic int g;";
    let body = "int n = a + 5, ok = n != 6 || die(n); printf(\"%d %d\\n\", ok, n);";
    Miss::of_main(die, body).edit("main.c", "a + 5", "a + 5 + (a == 1)", &["one"]);
    let body = "g = 5, a == 1 && die(g); printf(\"%d\\n\", g);";
    Miss::of_main(die, body).edit("main.c", "g = 5", "g = 6", &["one"]);
    let returns = "static int f(int a) { int q = (g = 5), z = ({ if (a == 1) return 7; 2; }); return q + z; }";
    let body = "int r = f(a); printf(\"%d %d\\n\", r, g);";
    Miss::of_main(&format!("{die}\n{returns}"), body).edit("main.c", "g = 5", "g = 6", &["one"]);
    let order = "static int f(int a) { struct { int a, b; } z = { .b = ({ if (a == 1) return 7; 2; }), .a = ({ g = 5; 3; }) }; return z.a; }";
    Miss::of_main(&format!("{die}\n{order}"), body).edit("main.c", "g = 5", "g = 6", &["one"]);
}

#[test]
fn jumps_out_of_what_looks_unevaluated() {
    let body = "int x = __builtin_choose_expr(1, ({ if (a == 1) goto out; 3; }), 0); printf(\"%d\\n\", x); return 0; out: puts(\"A\");";
    Miss::of_main("", body).edit("main.c", "\"A\"", "\"B\"", &["one"]);
    let body = "while (1) { int v[({ if (a == 1) break; a = 1; 3; })]; printf(\"%d\\n\", (int)sizeof v); } puts(\"A\");";
    Miss::of_main("", body).edit("main.c", "\"A\"", "\"B\"", ALL);
}

#[test]
fn a_global_in_a_signature() {
    let declarations = "static int W = 3;\nstatic int f(int (*m)[W]) { return m[1][0]; }";
    let body = "int v[20]; for (int i = 0; i < 20; i++) v[i] = i; printf(\"%d\\n\", f((void *)v));";
    Miss::of_main(declarations, body).edit("main.c", "W = 3", "W = 4", ALL);
}

#[test]
fn the_type_of_a_built_in_function() {
    let body = "printf(\"%d\\n\", (a ? -1 : __atomic_load_n(&q, 0)) > 0);";
    Miss::of_main("int q;", body).edit("main.c", "int q", "unsigned q", &["one", "two"]);
}

#[test]
fn lines_that_claim_to_be_the_systems() {
    for name in ["<stdout>", "/usr/include/gen.h"] {
        let miss = Miss::new(&[
            ("main.c", &main_with("int f(int);", "printf(\"%d\\n\", f(a));")),
            (
                "b.c",
                &format!(
                    "int unused;\n#line 3 \"{name}\"\nint f(int x) {{ if (x == 1) return 5; return 0; }}\n"
                ),
            ),
        ]);
        miss.edit("b.c", "return 5", "return 6", &["one"]);
    }
}

#[test]
fn tags_in_a_condition_end_with_its_statement() {
    let body = "int c = 0; if (sizeof(struct S { char c[3]; }) == 3) c++; printf(\"%d\\n\", (int)sizeof(struct S));";
    Miss::of_main("struct S { char c[9]; };", body).edit("main.c", "c[9]", "c[8]", ALL);
}

#[test]
fn names_that_are_keywords_elsewhere() {
    for word in ["alignas", "static_assert", "typeof_unqual", "thread_local"] {
        let declarations = format!("static void {word}(int x) {{ printf(\"%d\\n\", x); }}");
        Miss::of_main(&declarations, &format!("{word}(a);"))
            .edit("main.c", "(a);", "(a + 1);", ALL);
    }
    let miss = Miss::new(&[
        ("main.c", &main_with("static void typeof(int x) { printf(\"%d\\n\", x); }", "typeof(a);")),
        ("Makefile", &MAKEFILE.replace("-w ", "-w -std=c99 ")),
    ]);
    miss.edit("main.c", "typeof(a);", "typeof(a + 1);", ALL);
}

#[test]
fn an_anonymous_member_of_a_tag() {
    let miss = Miss::new(&[
        (
            "main.c",
            &main_with(
                "struct B { int q; };",
                "struct A { struct B; int y; } z; printf(\"%d\\n\", (int)sizeof z);",
            ),
        ),
        ("Makefile", &MAKEFILE.replace("-w ", "-w -fms-extensions ")),
    ]);
    miss.edit("main.c", "int q;", "long q[2];", ALL);
}

#[test]
fn a_recipe_that_a_test_runs() {
    let miss = Miss::of_main("", "printf(\"%d\\n\", a);");
    let makefile = format!("{MAKEFILE}run:\n\t@./prog 1\n");
    miss.project.write("Makefile", &makefile);
    miss.project.write("tests.list", "recipe make -s run\n");
    miss.project.ok(&["build"]);
    miss.project.ok(&["run"]);
    miss.edit("Makefile", "./prog 1", "./prog 2", &["recipe"]);
}

#[test]
fn files_behind_a_link_to_a_directory() {
    let elsewhere = Project::empty();
    elsewhere.write("data.txt", "one");
    let miss = Miss::of_main("", "printf(\"%d\\n\", a);");
    std::os::unix::fs::symlink(elsewhere.root(), miss.project.path("data")).unwrap();
    miss.project.write("tests.list", "reads cat data/data.txt; ./prog 0\nother ./prog 1\n");
    miss.project.ok(&["run"]);
    assert!(miss.project.selected().is_empty());
    elsewhere.write("data.txt", "two");
    assert_eq!(miss.project.selected(), ["other", "reads"]);
}

#[test]
fn an_executable_that_takes_the_place_of_a_librarys_procedure() {
    let makefile = "\
prog: main.o libx.so
\t$(CC) -rdynamic -o prog main.o -L. -lx -Wl,-rpath,.
main.o: main.c
\t$(CC) -c main.c
libx.so: x.c
\t$(CC) -fPIC -shared -o libx.so x.c
";
    let miss = Miss::new(&[
        ("main.c", &main_with("int outer(void);", "printf(\"%d\\n\", outer());")),
        ("x.c", "int inner(void) { return 1; }\nint outer(void) { return inner(); }\n"),
        ("Makefile", makefile),
    ]);
    miss.edit("main.c", "int outer(void);", "int outer(void);\nint inner(void) { return 2; }", ALL);
}

/// Its entry was taken to follow from the calls in its own unit.
#[test]
fn a_static_procedure_with_an_alias_in_brackets_is_entered_from_elsewhere() {
    let project = Project::empty();
    project.write(
        "one.c",
        "static int f(int n)\n{\n    return n + 1;\n}\n\
         int g(int n)\n{\n    return f(n);\n}\n[[gnu::alias(\"f\")]] int k(int n);\n",
    );
    project.write(
        "main.c",
        "int g(int n), k(int n);\nint main(int argc, char **argv)\n{\n    (void)argv;\n    \
         return (argc > 1 ? k(0) : g(0)) - 1;\n}\n",
    );
    project.write("Makefile", "prog: one.c main.c\n\t$(CC) -std=gnu2x -O2 -o prog one.c main.c\n");
    project.write_config();
    project.write("tests.list", "direct ./prog\nalias ./prog a\n");
    project.record();
    project.edit("one.c", "return n + 1;", "return 1 + n;");
    assert_eq!(project.selected(), ["alias", "direct"]);
}

/// What asm takes in is no part of the text of a unit.
#[test]
fn bytes_that_asm_takes_in() {
    let miss = Miss::new(&[
        (
            "main.c",
            &main_with(
                "extern const char blob[];\n__asm__(\".section .rodata\\n.globl blob\\nblob: \
                 .incbin \\\"blob.bin\\\"\\n.byte 0\\n.previous\");",
                "if (a == 1) puts(blob);",
            ),
        ),
        ("blob.bin", "one"),
        ("Makefile", &MAKEFILE.replace("*.h)", "*.h) blob.bin")),
    ]);
    miss.project.write("blob.bin", "two");
    miss.expect(ALL);
}

/// Tests ran a program that was older than what it is generated from.
#[test]
fn a_run_without_the_build_that_a_changed_input_needs() {
    let miss = Miss::new(&[
        ("main.c", &main_with("#include \"made.h\"", "printf(\"%d\\n\", MADE);")),
        ("value.txt", "#define MADE 1\n"),
        (
            "Makefile",
            &format!(
                "all: prog\nmain.o: made.h\nmade.h: value.txt\n\tcp value.txt made.h\n{MAKEFILE}"
            ),
        ),
    ]);
    miss.project.write("value.txt", "#define MADE 2\n");
    miss.project.ok(&["run"]);
    assert_eq!(miss.project.selected().len(), 3);
    miss.project.ok(&["test"]);
    assert!(miss.project.selected().is_empty());
}

/// Both are built, and both are there.
#[test]
fn a_link_that_leads_to_another_program() {
    use std::os::unix::fs::symlink;
    let makefile = "\
all: prog first second
prog: main.c one.so two.so
\t$(CC) -o prog main.c -L. -l:libx.so -Wl,-rpath,.
%.so: %.c
\t$(CC) -fPIC -shared -o $@ $<
first second: %: %.c
\t$(CC) -o $@ $<
";
    let project = Project::empty();
    project.write("main.c", &main_with("int x(void);", "printf(\"%d\\n\", x() + a);"));
    project.write("one.c", "int x(void) { return 1; }\n");
    project.write("two.c", "int x(void) { return 2; }\n");
    project.write("first.c", &main_with("", "printf(\"%d\\n\", 1);"));
    project.write("second.c", &main_with("", "printf(\"%d\\n\", 2);"));
    project.write("Makefile", makefile);
    project.write_config();
    project.write("tests.list", "library ./prog\nprogram ./current\ndirect ./first\n");
    symlink("one.so", project.path("libx.so")).unwrap();
    symlink("first", project.path("current")).unwrap();
    project.record();
    assert!(project.selected().is_empty());
    let lead = |link: &str, to: &str| {
        std::fs::remove_file(project.path(link)).unwrap();
        symlink(to, project.path(link)).unwrap();
    };
    lead("current", "second");
    assert_eq!(project.selected(), ["program"]);
    // A build reads this one, so that from sources it may mean anything.
    lead("libx.so", "two.so");
    assert_eq!(project.selected(), ["direct", "library", "program"]);
    assert_eq!(project.ok(&["select", "--from-build"]), "t/library\nt/program\n");
    lead("libx.so", "one.so");
    lead("current", "first");
    assert!(project.selected().is_empty());
}

/// Their objects had one name before they were moved.
#[test]
fn two_units_of_one_name() {
    let makefile = "\
prog: main.c twice.c
\t$(CC) -DNAME=one -DV=1 -c twice.c -o t.o && mv t.o one.o
\t$(CC) -DNAME=two -DV=2 -c twice.c -o t.o && mv t.o two.o
\t$(CC) -o prog main.c one.o two.o
";
    let twice = "static int value(void) { return V; }\nint NAME(void) { return value(); }\n";
    let miss = Miss::new(&[
        (
            "main.c",
            &main_with("int one(void), two(void);", "printf(\"%d\\n\", a == 1 ? one() : two());"),
        ),
        ("twice.c", twice),
        ("Makefile", makefile),
    ]);
    let swapped = "static int value(void) { return 3 - V; }\nint NAME(void) { return value(); }\n";
    miss.project.write("twice.c", &swapped.replace("3 - V", "V == 1 ? 2 : 1"));
    miss.expect(ALL);
}

/// A call of a weak procedure enters the one that takes its place: that nobody passes
/// the weak one unchanged says nothing of what is behind the call.
#[test]
fn behind_a_call_of_a_weak_procedure_that_another_replaces() {
    let project = Project::empty();
    project.write(
        "main.c",
        "int other(int n);\n__attribute__((weak)) int other(int n)\n{\n    return n + 1;\n}\n\
         static int last(int n)\n{\n    return n > 5;\n}\n\
         int main(int argc, char **argv)\n{\n    (void)argv;\n    argc = other(argc);\n    return last(argc);\n}\n",
    );
    project.write("strong.c", "int other(int n)\n{\n    return n + 2;\n}\n");
    project.write("Makefile", "prog: main.c strong.c\n\t$(CC) -o prog main.c strong.c\n");
    project.write_config();
    project.write("tests.list", "only ./prog\n");
    project.record();
    project.edit("main.c", "return n + 1;", "return n + 3;");
    project.edit("main.c", "return last(argc);", "return last(argc) + 0 * argc;");
    for algorithm in ["auto", "rh", "partial", "full", "valid"] {
        let selected = project.ok(&["select", "--algorithm", algorithm]);
        assert_eq!(selected, "t/only\n", "{algorithm}");
    }
}
