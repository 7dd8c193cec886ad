//! Names that a library defines: a change of the program's own definition of such a name
//! matters to the library only if it looks the name up through the dynamic linker.

use crate::support::misses::{ALL, Miss, main_with};

const MAKEFILE: &str = "\
prog: main.o b.o libout.so
\t$(CC) $(LINK) -o $@ main.o b.o ./libout.so -ldl
%.o: %.c
\t$(CC) -w -O1 -c -o $@ $<
libout.so: out.cpp
\t$(CXX) -w -O1 -fPIC -shared $(SHARED) -o $@ $<
";

/// A program with its own `step`, which tests `one` and `two` use; and a library that is not
/// analysed.
fn program(b: &str, library: &str, flags: &str) -> Miss {
    let declarations = "int out(int);\nextern int step; int with_step(int);";
    let main = main_with(declarations, "printf(\"%d\\n\", a ? with_step(a) : out(a));");
    let makefile = format!("{flags}\n{MAKEFILE}");
    Miss::new(&[("Makefile", &makefile), ("main.c", &main), ("b.c", b), ("out.cpp", library)])
}

const VARIABLE: &str = "int step = 3;\nint with_step(int n) { return n + step; }\n";
const FUNCTION: &str = "__attribute__((noinline)) int step(int n) { return n + 3; }\n\
                        int with_step(int n) { return step(n); }\nint kind = 1;\n";

#[track_caller]
fn expect_some(miss: &Miss, from: &str, to: &str) {
    miss.project.edit("b.c", from, to);
    assert_eq!(miss.project.selected(), ["one", "two"], "from sources");
    miss.project.ok(&["build"]);
    assert_eq!(miss.project.ok(&["select", "--from-build"]), "t/one\nt/two\n");
}

/// libc defines `step`, and does not look it up.
#[test]
fn a_name_that_the_c_library_defines() {
    expect_some(&program(VARIABLE, "extern \"C\" int out(int n) { return n; }\n", ""), "3", "4");
}

#[test]
fn a_name_that_a_library_defines_and_keeps() {
    let library = "extern \"C\" int step = 5;\nextern \"C\" int out(int n) { return n; }\n";
    expect_some(&program(VARIABLE, library, ""), "3", "4");
    let library = "extern \"C\" int step = 5;\nextern \"C\" int out(int n) { return n + step; }\n";
    expect_some(&program(VARIABLE, library, "SHARED = -Wl,-Bsymbolic"), "3", "4");
}

#[test]
fn a_name_that_a_library_looks_up() {
    let library = "extern \"C\" int step = 5;\nextern \"C\" int out(int n) { return n + step; }\n";
    let miss = program(VARIABLE, library, "");
    miss.edit("b.c", "3", "4", ALL);
    let library = "extern \"C\" int step;\nextern \"C\" int out(int n) { return n + step; }\n";
    let miss = program(VARIABLE, library, "");
    miss.edit("b.c", "3", "4", ALL);
    let library = "extern \"C\" __attribute__((weak)) int step;\n\
                   extern \"C\" int out(int n) { return &step ? step : n; }\n";
    let miss = program(VARIABLE, library, "");
    miss.edit("b.c", "3", "4", ALL);
}

/// Through the procedure linkage table, and by a table of addresses.
#[test]
fn a_function_that_a_library_looks_up() {
    let library = "extern \"C\" __attribute__((noinline)) int step(int n) { return n + 5; }\n\
                   extern \"C\" int out(int n) { return step(n); }\n";
    let main =
        main_with("int out(int), with_step(int);", "printf(\"%d\\n\", a ? with_step(a) : out(a));");
    let of = |library: &str| {
        Miss::new(&[
            ("Makefile", MAKEFILE),
            ("main.c", &main),
            ("b.c", FUNCTION),
            ("out.cpp", library),
        ])
    };
    let gone = "__attribute__((noinline)) int step(int n) { return n + 3; }";
    let by_another = "static __attribute__((noinline)) int step(int n) { return n + 3; }";
    of(library).edit("b.c", gone, by_another, ALL);
    let library = "extern \"C\" int step(int n) { return n + 5; }\n\
                   int (*table[])(int) = { step };\n\
                   extern \"C\" int out(int n) { return table[n](n); }\n";
    of(library).edit("b.c", gone, by_another, ALL);
}

/// A library that is given by its path, so that the link knows its names.
#[test]
fn a_name_looked_up_while_the_program_runs() {
    let library = "#include <dlfcn.h>\nextern \"C\" int out(int n)\n{\n    \
                   int *step = (int *)dlsym(RTLD_DEFAULT, \"step\");\n    \
                   return step ? *step : n;\n}\n";
    let miss = program(VARIABLE, library, "LINK = -rdynamic");
    miss.edit("b.c", "3", "4", ALL);
}
