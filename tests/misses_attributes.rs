//! Misses of attributes that reach a declaration from somewhere else, and of places that
//! built-in functions tell.

use crate::support::Project;
use crate::support::misses::{ALL, MAKEFILE, Miss, main_with};

const FIRST: &str = "static int v = 1;\n\
    static void first(void) __attribute__((constructor));\nstatic void first(void) { }\n";

/// A miss whose program is compiled by clang.
fn by_clang(declarations: &str, body: &str) -> Miss {
    let makefile = MAKEFILE.replace("$(CC)", "clang");
    Miss::new(&[("Makefile", &makefile), ("main.c", &main_with(declarations, body))])
}

#[test]
fn a_constructor_by_copy() {
    let declarations =
        format!("{FIRST}static void second(void);\nstatic void second(void) {{ v = 5; }}");
    Miss::of_main(&declarations, "printf(\"%d\\n\", v);").edit(
        "main.c",
        "second(void);",
        "second(void) __attribute__((copy(first)));",
        ALL,
    );
}

#[test]
fn a_constructor_by_a_copy_of_a_copy() {
    let declarations = format!(
        "{FIRST}[[gnu::__copy__(first)]] static void second(void);\n\
         static void second(void) {{ }}\n\
         static void third(void) __attribute__((noinline, copy(second)));\n\
         static void third(void) {{ v += 3; }}"
    );
    // It also runs where no call names it.
    Miss::of_main(&declarations, "if (a == 2) third(); printf(\"%d\\n\", v);")
        .edit("main.c", "v += 3", "v += 4", ALL);
}

#[test]
fn a_section_by_copy() {
    let declarations = "static int one __attribute__((section(\"regs\"), used)) = 1;\n\
        static int two __attribute__((copy(one))) = 2;\nextern int __start_regs[], __stop_regs[];";
    let body = "int s = 0; for (int *p = __start_regs; p < __stop_regs; p++) s += *p; printf(\"%d\\n\", s);";
    Miss::of_main(declarations, body).edit("main.c", "= 2;", "= 3;", ALL);
}

#[test]
fn a_cleanup_by_copy() {
    let declarations = "static void bye(int *p) { printf(\"bye %d\\n\", *p); }";
    let body = "{ __attribute__((cleanup(bye))) int x = 1; if (a < 2) { int y __attribute__((copy(x))) = 2; puts(\"y\"); } }";
    let miss = Miss::of_main(declarations, body);
    miss.edit("main.c", "puts(\"y\"); }", "} puts(\"y\");", ALL);
}

#[test]
fn a_function_in_a_section_has_another_way_in() {
    let declarations = "static __attribute__((section(\"fns\"), noinline)) int f(void) { return 1; }\n\
         extern char __start_fns[];";
    let body = "int r; if (a == 2) r = f(); else r = ((int (*)(void))__start_fns)(); printf(\"%d\\n\", r);";
    Miss::of_main(declarations, body).edit("main.c", "return 1;", "return 4;", ALL);
}

#[test]
fn an_alias_in_two_pieces() {
    let declarations = "static int f_impl(void) { return 1; }\n\
        int f(void) __attribute__((alias(\"f\" \"_i\\x6dpl\")));";
    let body = "int r; if (a == 2) r = f_impl(); else r = f(); printf(\"%d\\n\", r);";
    Miss::of_main(declarations, body).edit("main.c", "return 1;", "return 4;", ALL);
}

#[test]
fn a_name_for_the_assembler() {
    let declarations = "static int own asm(\"other\") = 1;";
    let body = "if (a == 2) printf(\"%d\\n\", own++);\n    else { int r; asm volatile(\"movl oth\" \"er(%%rip), %0\" : \"=r\"(r)); printf(\"%d\\n\", r); }";
    Miss::of_main(declarations, body).edit("main.c", "= 1;", "= 7;", ALL);
    let inside = "static int own asm(\"other\") = 1; int r;\n    if (a == 2) printf(\"%d\\n\", own++);\n    else r = get();";
    let get = "static int get(void) { int r; asm volatile(\"movl other(%%rip), %0\" : \"=r\"(r)); printf(\"%d\\n\", r); return r; }";
    Miss::of_main(get, inside).edit("main.c", "= 1;", "= 7;", &["zero", "one"]);
}

#[test]
fn a_visibility_by_pragma() {
    let main = main_with(
        "#define __USE_GNU 1\n#include <dlfcn.h>",
        "printf(\"%d\\n\", dlsym(0, \"hook\") != 0);",
    );
    let miss = Miss::new(&[("main.c", &main), ("hook.c", "int hook(void)\n{ return 1; }\n")]);
    miss.edit(
        "hook.c",
        "int hook",
        "#pragma GCC visibility push(hidden)\nint hook(void);\n#pragma GCC visibility pop\nint hook",
        ALL,
    );
}

#[test]
fn a_constructor_by_a_pragma_of_clang() {
    let pushed = "#pragma clang attribute push(__attribute__((constructor)), apply_to = function)";
    let pop = "#pragma clang attribute pop";
    let second = "static void second(void) { v = 5; }";
    let miss = by_clang(
        &format!("static int v = 1;\n{second}"),
        "if (a > 5) second(); printf(\"%d\\n\", v);",
    );
    miss.edit("main.c", second, &format!("{pushed}\n{second}\n{pop}"), ALL);
    let third =
        format!("static int v = 1;\n{pushed}\nstatic void third(void) {{ v += 3; }}\n{pop}");
    let miss = by_clang(&third, "if (a == 2) third(); printf(\"%d\\n\", v);");
    miss.edit("main.c", "v += 3", "v += 4", ALL);
}

#[test]
fn a_section_by_a_pragma_of_clang() {
    let declarations = "#pragma clang section data=\"regs\"\nint one = 1;\nint two = 2;\n\
        #pragma clang section data=\"\"\nextern int __start_regs[], __stop_regs[];";
    let body = "int s = 0; for (int *p = __start_regs; p < __stop_regs; p++) s += *p; printf(\"%d\\n\", s);";
    by_clang(declarations, body).edit("main.c", "= 2;", "= 3;", ALL);
    by_clang(declarations, body).edit("main.c", "int two", "int three = 5;\nint two", ALL);
}

/// A project whose line numbers count.
fn strict(source: &str) -> Project {
    let project = Project::of_source(source, &[("zero", "0"), ("one", "1")]);
    project.edit("edgewise.toml", "ignore", "strict-lines = true\nignore");
    project.record();
    assert!(project.selected().is_empty());
    project
}

#[test]
fn a_line_by_a_built_in_function() {
    let source = main_with("", "if (a) printf(\"%d\\n\", __builtin_LINE());");
    let project = strict(&source);
    project.write("main.c", &format!("\n{source}"));
    assert_eq!(project.selected(), ["one"]);
    project.edit("edgewise.toml", "strict-lines = true\n", "");
    assert!(project.selected().is_empty(), "a shift alone is no change");
    project.ok(&["build"]);
    assert_eq!(project.ok(&["select", "--from-build"]), "");
}

#[test]
fn a_line_by_a_built_in_function_in_a_macro_of_a_header() {
    let source = "#include \"check.h\"\nint main(int argc, char **argv)\n{\n    \
        if (argv[1][0] == '1') CHECK(argc);\n    return 0;\n}\n";
    let project = Project::of_source(source, &[("zero", "0"), ("one", "1")]);
    let header = "#include <stdio.h>\n#define CHECK(x) \\\n    printf(\"%s:%d\\n\", __builtin_FILE(), __builtin_LINE())\n";
    project.write("check.h", header);
    project.edit("edgewise.toml", "ignore", "strict-lines = true\nignore");
    project.record();
    project.write("check.h", &format!("\n{header}"));
    assert!(project.selected().is_empty(), "the line is that of the use");
    project.write("check.h", header);
    project.edit("main.c", "\nint main", "\n\nint main");
    assert_eq!(project.selected(), ["one"]);
}

#[test]
fn a_line_that_is_a_size() {
    let declarations = "static char buffer[__builtin_LINE()];\nenum { LINE = __builtin_LINE() };";
    let body = "if (a) printf(\"%d\\n\", (int)sizeof buffer); else printf(\"%d\\n\", LINE);";
    let miss = Miss::of_main(declarations, body);
    miss.edit("main.c", "static char", "\n\nstatic char", ALL);
}

#[test]
fn a_line_that_is_a_case() {
    let body = "switch (a + __builtin_LINE()) {\n    case __builtin_LINE(): puts(\"0\"); break;\n    default: puts(\"1\"); }";
    Miss::of_main("", body).edit("main.c", "case", "\n    case", ALL);
}

#[test]
fn a_file_by_a_built_in_function() {
    let miss = Miss::of_main("", "if (a) puts(__builtin_FILE());");
    miss.edit("main.c", "int main", "#line 5 \"other.c\"\nint main", &["one", "two"]);
    let global = "const char *file = __builtin_FILE();";
    let miss = Miss::of_main(global, "if (a) puts(file);");
    miss.edit("main.c", "const char", "#line 5 \"other.c\"\nconst char", &["one", "two"]);
}

#[test]
fn a_function_by_its_name() {
    for name in ["__builtin_FUNCTION()", "__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"] {
        let declarations = format!(
            "int outer(void) asm(\"shown\");\nint outer(void) {{ puts({name}); return 0; }}"
        );
        let miss = Miss::of_main(&declarations, "int shown(void); if (a) shown();");
        let text = miss.project.read("main.c").replace("outer", "inner");
        miss.project.write("main.c", &text);
        miss.expect(&["one", "two"]);
    }
}
