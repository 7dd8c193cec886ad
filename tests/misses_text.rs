//! Edits that were missed because the text that is compiled with probes does not do what the plain
//! program does: macros that pragmas define, answers of the optimizer, words of the assembler.

use crate::support::Project;
use crate::support::compare::compilers;
use crate::support::misses::{ALL, MAKEFILE, Miss, main_with};
use std::path::Path;
use std::process::Command;

/// A project whose only source is compiled by this command.
fn compiled(compiler: &str, flags: &str, files: &[(&str, &str)]) -> Miss {
    let makefile = format!("prog: $(wildcard *)\n\t{compiler} -w {flags} -o prog main.c\n");
    Miss::new(&[&[("Makefile", makefile.as_str())], files].concat())
}

/// Checks that the program prints what it prints without probes.
#[track_caller]
fn prints_the_same(project: &Project, compiler: &str, flags: &str) {
    let elsewhere = Project::empty();
    let plain = elsewhere.path("plain");
    let mut command = Command::new(compiler);
    command.arg("-w").args(flags.split_whitespace()).arg("-o").arg(&plain).arg("main.c");
    assert!(command.current_dir(project.root()).status().unwrap().success());
    for argument in ["0", "1", "2"] {
        let output = |program: &Path| {
            let mut command = Command::new(program);
            let output = command.arg(argument).env_remove("EDGEWISE_TRACE").output().unwrap();
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        assert_eq!(output(&project.path("prog")), output(&plain), "{compiler} {flags}: {argument}");
    }
}

/// A unit that says which way a condition goes, beside a `main` that no pragma is about.
fn beside_main(compiler: &str, flags: &str, unit: &str, more: &[(&str, &str)]) -> Miss {
    let makefile = format!(
        "prog: main.c unit.c $(wildcard *.h)\n\t{compiler} -w {flags} -o prog main.c unit.c\n"
    );
    let main = main_with("const char *r(void);", "puts(r());");
    let files = [("Makefile", makefile.as_str()), ("main.c", &main), ("unit.c", unit)];
    Miss::new(&[&files, more].concat())
}

/// A function that says whether a macro is defined.
fn says_whether(macro_name: &str) -> String {
    format!(
        "#ifdef {macro_name}\nconst char *r(void) {{ return \"yes\"; }}\n#else\n\
         const char *r(void) {{ return \"no\"; }}\n#endif\n"
    )
}

/// Checks that an edit of the code that `gcc` compiles is seen.
#[track_caller]
fn sees_options(miss: &Miss, flags: &str, file: &str) {
    prints_the_same(&miss.project, "gcc", &format!("{flags} unit.c"));
    miss.edit(file, "\"yes\"", "\"YES\"", ALL);
}

#[test]
fn a_macro_by_a_target() {
    let unit = format!("#pragma GCC target(\"avx2\")\n{}", says_whether("__AVX2__"));
    sees_options(&beside_main("gcc", "-O1", &unit, &[]), "-O1", "unit.c");
}

#[test]
fn a_macro_by_an_optimization() {
    let unit = format!("#pragma GCC optimize(\"O2\")\n{}", says_whether("__OPTIMIZE__"));
    sees_options(&beside_main("gcc", "-O0", &unit, &[]), "-O0", "unit.c");
}

#[test]
fn a_macro_by_pushed_options() {
    let unit = format!(
        "#pragma GCC push_options\n_Pragma(\"GCC optimize(\\\"fast-math\\\")\")\n{}\
         #pragma GCC pop_options\n",
        says_whether("__FAST_MATH__")
    );
    sees_options(&beside_main("gcc", "-O1", &unit, &[]), "-O1", "unit.c");
}

/// The header is read behind the pragma, and a macro that is older than the pragma is used there.
#[test]
fn a_macro_by_a_target_in_a_header() {
    let unit = "#define HAS defined(__AVX2__)\n#pragma GCC target(\"avx2\")\n#include \"r.h\"\n";
    let header = says_whether("x").replace("#ifdef x", "#if HAS");
    let miss = beside_main("gcc", "-O1", unit, &[("r.h", &header)]);
    sees_options(&miss, "-O1", "r.h");
}

#[test]
fn a_pragma_that_comes_before_a_condition() {
    let miss = beside_main("gcc", "-O1", &says_whether("__AVX2__"), &[]);
    miss.edit("unit.c", "#ifdef", "#pragma GCC target(\"avx2\")\n#ifdef", ALL);
    prints_the_same(&miss.project, "gcc", "-O1 unit.c");
}

/// Options that no macro can tell of do not keep a unit from being analysed.
#[test]
fn options_that_nothing_asks_for() {
    let declarations = "#include <immintrin.h>\n#include <math.h>\n\
        #pragma GCC push_options\n#pragma GCC target(\"avx2\")\n\
        #if defined(__GNUC__) && __GNUC__ > 3\n\
        int wide(int n)\n{\n    return _mm256_extract_epi32(_mm256_set1_epi32(n), 0);\n}\n\
        #endif\n#pragma GCC pop_options\n\
        #ifdef __AVX2__\n#define R \"yes\"\n#else\n#define R \"no\"\n#endif";
    let main = main_with(declarations, "if (a) puts(R);");
    let miss = compiled("gcc", "-O1", &[("main.c", &main)]);
    prints_the_same(&miss.project, "gcc", "-O1");
    miss.project.edit("main.c", "return _mm256", "n++; return _mm256");
    assert!(miss.project.selected().is_empty(), "no test runs it");
    miss.project.edit("main.c", "\"no\"", "\"NO\"");
    assert_eq!(miss.project.selected(), ["one", "two"]);
}

const IS_CONSTANT: &str = "static int id(int x) { if (__builtin_constant_p(x)) return 100; return x; }\n\
     __attribute__((noinline)) int br(int a) { int k = 1; if (a > 0) k = 2; if (a > 0) return id(k); return id(k) + 1; }";

#[test]
fn whether_a_value_is_constant() {
    for compiler in compilers() {
        for level in ["-O1", "-O2"] {
            let main = main_with(IS_CONSTANT, "printf(\"%d\\n\", br(a));");
            let miss = compiled(compiler, level, &[("main.c", &main)]);
            miss.edit("main.c", "return 100", "return 200", ALL);
        }
    }
}

#[test]
fn whether_a_value_is_constant_in_a_switch() {
    let declarations = "static int id(int x) { return __builtin_constant_p(x) ? 100 : x; }\n\
        static int sw(int a) { switch (a) { case 1: case 2: case 3: return id(a); default: return id(a) + 5; } }\n\
        static int cmp(int a) { if (a == 5) return id(a); return 0; }";
    for compiler in compilers() {
        let main = main_with(declarations, "printf(\"%d\\n\", sw(a) + cmp(a + 4));");
        let miss = compiled(compiler, "-O1", &[("main.c", &main)]);
        miss.edit("main.c", "? 100", "? 200", ALL);
    }
}

/// What only one of the ways calls may be what the plain program runs, with all branches in it.
#[test]
fn what_is_called_for_a_constant() {
    let declarations = "static __attribute__((noinline)) int fast(int x) { if (x > 0) return 100; return 50; }\n\
        static int id(int x) { if (__builtin_constant_p(x)) return fast(x); return x; }\n\
        __attribute__((noinline)) int br(int a) { int k = 1; if (a > 0) k = 2; if (a > 0) return id(k); return id(k) + 1; }";
    for compiler in compilers() {
        let main = main_with(declarations, "printf(\"%d\\n\", br(a));");
        let miss = compiled(compiler, "-O2", &[("main.c", &main)]);
        miss.edit("main.c", "return 100", "return 200", ALL);
    }
}

/// Behind a way that returns, the rest of the body is the other way.
#[test]
fn the_rest_of_a_body_behind_a_constant() {
    let declarations = "static int id(int x) { int known = !__builtin_constant_p(x); if (known) return x;\n\
        if (x > 1) return 100; return 101; }\n\
        __attribute__((noinline)) int br(int a) { int k = 1; if (a > 0) k = 2; if (a > 0) return id(k); return id(k) + 1; }";
    for compiler in compilers() {
        let main = main_with(declarations, "printf(\"%d\\n\", br(a));");
        let miss = compiled(compiler, "-O2", &[("main.c", &main)]);
        miss.edit("main.c", "return 100", "return 200", &["one", "two"]);
    }
}

#[test]
fn the_size_of_an_object() {
    let declarations = "static int os(char *p)\n{\n    if (__builtin_object_size(p, 0) > 15) return 1;\n    return 2;\n}";
    let body = "char b[10], q[20]; char *r; if (a < 100) r = b; else r = q; b[0] = q[0] = 1; printf(\"%d\\n\", os(r));";
    for compiler in compilers() {
        for (from, to) in [("return 1;", "return 3;"), ("return 2;", "return 4;")] {
            let main = main_with(declarations, body);
            let miss = compiled(compiler, "-O2", &[("main.c", &main)]);
            miss.edit("main.c", from, to, ALL);
        }
    }
}

const SUM: &str =
    "int s = 0; for (int *p = __start_regs; p < __stop_regs; p++) s += *p; printf(\"%d\\n\", s);";

/// A unit whose asm puts a number into a table, by a macro that no test runs.
fn with_macro(definition: &str) -> String {
    let declarations = format!(
        "__asm__(\".pushsection regs,\\\"aw\\\"\\n.long 1\\n.popsection\\n\");\n{definition}\n\
         extern int __start_regs[], __stop_regs[];\n\
         void unused(void) {{ __asm__ volatile(\"put 5\"); }}"
    );
    main_with(&declarations, SUM)
}

#[test]
fn a_macro_of_the_assembler_in_any_case() {
    for word in [".macro", ".MACRO", ".Macro", ".\\155acro"] {
        let definition = format!(
            "__asm__(\"{word} put v\\n.pushsection regs,\\\"aw\\\"\\n.long \\\\v\\n.popsection\\n.endm\");"
        );
        let miss = compiled("gcc", "-O1", &[("main.c", &with_macro(&definition))]);
        miss.edit("main.c", "put 5", "put 6", ALL);
    }
}

#[test]
fn a_macro_of_the_assembler_in_a_file_of_the_command() {
    let macros = ".macro put v\n.pushsection regs,\"aw\"\n.long \\v\n.popsection\n.endm\n";
    for flags in ["-O1 -Wa,macros.s", "-O1 -Xassembler macros.s"] {
        let files = [("main.c", &*with_macro("")), ("macros.s", macros)];
        compiled("gcc", flags, &files).edit("main.c", "put 5", "put 6", ALL);
    }
}

#[test]
fn a_file_that_asm_takes_in_in_any_case() {
    for word in [".incbin", ".INCBIN", ".IncBin", ".\\151ncbin"] {
        let declarations = format!(
            "extern const char d[];\n__asm__(\".section .rodata\\n.globl d\\nd: {word} \\\"data.txt\\\"\\n.byte 0\\n.text\");"
        );
        let main = main_with(&declarations, "if (a) puts(d);");
        let miss = compiled("gcc", "-O1", &[("main.c", &main), ("data.txt", "one\n")]);
        miss.edit("data.txt", "one", "two", &["one", "two"]);
    }
}

#[test]
fn the_charset_of_the_source() {
    let source = b"#include <stdio.h>\nint main(int c, char **v)\n{\n    const char *s = \"caf\xe9\";\n    (void)c;\n    for (; *s; s++)\n        printf(\"%02x \", *s & 255);\n    puts(v[1]);\n    return 0;\n}\n";
    for flags in ["-finput-charset=iso-8859-1", "-finput-charset=latin1 -fexec-charset=latin1"] {
        let project = Project::empty();
        project.write_config();
        project.write("tests.list", "zero ./prog 0\none ./prog 1\n");
        project.write("Makefile", &MAKEFILE.replace("-O1", &format!("-O1 {flags}")));
        std::fs::write(project.path("main.c"), source).unwrap();
        project.record();
        prints_the_same(&project, "gcc", flags);
        assert!(project.selected().is_empty());
    }
}

/// A makefile names a directory of headers by a variable: a selection from sources looks there, too.
#[test]
fn headers_by_a_variable_of_the_makefile() {
    for variable in ["CPATH", "C_INCLUDE_PATH"] {
        let makefile = format!(
            "export {variable} = inc:more\nprog: main.c $(wildcard inc/*.h more/*.h)\n\t$(CC) -w -o prog main.c\n"
        );
        let declarations = "#include <conf.h>\n#if __has_include(<more.h>)\n#include <more.h>\n#endif\n\
            #ifndef W\n#define W 0\n#endif";
        let main = main_with(declarations, "if (a) printf(\"%d\\n\", V + W);");
        let miss = Miss::new(&[
            ("Makefile", &makefile),
            ("main.c", &main),
            ("inc/conf.h", "#define V 1\n"),
            ("more/other.h", ""),
        ]);
        miss.project.edit("main.c", "int main", "/* no code */ int main");
        assert!(miss.project.selected().is_empty(), "a comment");
        miss.edit("inc/conf.h", "V 1", "V 2", &["one", "two"]);
        miss.project.ok(&["test"]);
        assert!(miss.project.selected().is_empty());
        miss.project.write("more/more.h", "#define W 5\n");
        miss.expect(&["one", "two"]);
    }
}
