//! The user sees the real compiler's words, all of them and no others, and they
//! decide whether a build fails.

use crate::support::compare::{Bench, compilers};

const STRICT: &str = "-Wall -Wextra -Werror -Wimplicit-fallthrough -Wswitch -Wswitch-enum \
    -Wreturn-type -Wunused -Wmisleading-indentation -Wdeclaration-after-statement -Wshadow \
    -Wpedantic -Wparentheses -Wstrict-prototypes -Wmissing-prototypes -Wredundant-decls \
    -Wundef -Wwrite-strings -Wcast-qual -Wconversion -Wnull-dereference -Wuninitialized \
    -Wnested-externs -Winline -Wvla";

/// All that likes to warn, without a reason to.
const CLEAN: &str = r#"#include <stdio.h>
#include <string.h>
#include "clean.h"

enum colour { RED, GREEN, BLUE };

static int rank(enum colour colour)
{
    switch (colour) {
    case RED:
        return 1;
    case GREEN:
    case BLUE:
        return 2;
    }
    return 0;
}

static int falls(int n)
{
    int sum = 0;
    switch (n) {
    case 1:
        sum++;
        /* fall through */
    case 2:
        sum += 2;
        /* FALLTHRU */
    case 3:
        sum += 3;
        break;
    default:
        break;
    }
    return sum;
}

static int loops(const char *text, int limit)
{
    int n = 0, i;
    for (i = 0; i < limit; i++) {
        int c;
        if ((c = text[i]) == 0)
            break;
        if (c == ' ' || (c == '\t' && i > 0))
            continue;
        n += c > 'a' ? 1 : 2;
    }
    while (n > 100)
        n /= 2;
    do {
        n++;
    } while (n < 3);
    return n;
}

static const char *name(int n)
{
    if (n < 0)
        goto bad;
    if (MANY(n))
        return "many";
    else if (n > 1)
        return "some";
    else
        return "one";
bad:
    return "bad";
}

static int last(int a, int b)
{
    int value;
    if (a && !b)
        value = 1;
    else if (a || b)
        value = 2;
    else
        value = 3;
    if (a)
        return value;
    return -value;
}

int main(int argc, char **argv)
{
    int total = rank(argc > 1 ? GREEN : RED) + falls(argc) + last(argc > 2, argc);
    (void)argv;
    if (argc > 1)
        total += loops(argv[1], (int)strlen(argv[1]));
    printf("%d %s\n", total, name(total));
    return 0;
}
"#;

const HEADER: &str = "#define MANY(n) ((n) > 10 && (n) < 1000)\n";

#[test]
fn a_source_without_warnings_stays_without() {
    let bench = Bench::new(&[("clean.c", CLEAN), ("clean.h", HEADER)]);
    for compiler in compilers() {
        for level in ["-O0", "-O2", "-O2 -g", "-O1 -std=c99", "-Os -std=gnu89 -Wno-long-long"] {
            // clang knows no comments.
            let more = if compiler == "clang" { "-Wno-implicit-fallthrough" } else { "" };
            let line = format!("{level} {STRICT} {more} -c clean.c -o clean.o");
            let ours = bench.same(compiler, &line);
            assert_eq!(ours.outcome.stderr, "", "{compiler} {level}");
            assert!(ours.is_analysed("clean.c"), "{compiler} {level}: {}", ours.log);
        }
    }
}

/// Each source has warnings, under options that ask for them.
const WARNED: &[(&str, &str, &str)] = &[
    (
        "assignment",
        "-Wall",
        "int f(int a, int b)\n{\n    if (a = b)\n        return 1;\n    return 0;\n}\n",
    ),
    (
        "switch",
        "-Wall",
        "enum e { A, B, C };\nint f(enum e e)\n{\n    switch (e) {\n    case A: return 1;\n    \
         case B: return 2;\n    }\n    return 0;\n}\n",
    ),
    (
        "default",
        "-Wswitch-default",
        "int f(int e)\n{\n    switch (e) {\n    case 1: return 1;\n    }\n    return 0;\n}\n",
    ),
    (
        "fall-through",
        "-Wextra",
        "int f(int n)\n{\n    int s = 0;\n    switch (n) {\n    case 1:\n        s++;\n    case 2:\n        \
         s += 2;\n    }\n    return s;\n}\n",
    ),
    ("return", "-Wall", "int f(int n)\n{\n    if (n)\n        return 1;\n}\n"),
    (
        "unused",
        "-Wall -Wextra",
        "static int g(int x) { return x; }\nint f(int n, int m)\n{\n    int unused;\nlabel:\n    \
         return n;\n}\n",
    ),
    (
        "indentation",
        "-Wall",
        "int f(int n)\n{\n    if (n)\n        n++;\n        n += 2;\n    return n;\n}\n",
    ),
    (
        "uninitialized",
        "-Wall -O2",
        "int g(void);\nint f(int n)\n{\n    int x;\n    if (n)\n        x = g();\n    g();\n    \
         return x;\n}\n",
    ),
    ("shadow", "-Wshadow", "int f(int n)\n{\n    { int n = 3; (void)n; }\n    return n;\n}\n"),
    (
        "declaration",
        "-Wdeclaration-after-statement",
        "int f(int n)\n{\n    n++;\n    int m = n;\n    return m;\n}\n",
    ),
    ("empty", "-Wextra", "int f(int n)\n{\n    if (n);\n    return n;\n}\n"),
    ("value", "-Wall", "int f(int n)\n{\n    n == 1;\n    n ? 1 : 2;\n    return n;\n}\n"),
    ("implicit", "", "int f(int n)\n{\n    return nowhere(n);\n}\n"),
    ("macro", "-Wall -Wundef", "#if NOWHERE\n#endif\n#define X 1\n#define X 2\nint x = X;\n"),
    ("format", "-Wall", "#include <stdio.h>\nvoid f(long n) { printf(\"%d\\n\", n); }\n"),
    (
        "dangling",
        "-Wall",
        "int f(int a, int b)\n{\n    if (a)\n        if (b) return 1;\n    else return 2;\n    return 3;\n}\n",
    ),
    (
        "pedantic",
        "-pedantic -std=c90",
        "int f(int n)\n{\n    long long x = n;\n    return (int)x;\n}\n",
    ),
];

#[test]
fn warnings_are_those_of_the_real_compiler() {
    for (name, options, source) in WARNED {
        let bench = Bench::new(&[("main.c", source)]);
        for compiler in compilers() {
            let ours = bench.same(compiler, &format!("{options} -c main.c -o main.o"));
            assert_eq!(ours.outcome.code, Some(0), "{name}");
            assert!(ours.is_analysed("main.c"), "{compiler} {name}: {}", ours.log);
        }
    }
}

#[test]
fn warnings_that_are_errors_fail_as_the_real_compiler_does() {
    let mut failed = 0;
    for (_, options, source) in WARNED {
        let bench = Bench::new(&[("main.c", source)]);
        for compiler in compilers() {
            let ours = bench.same(compiler, &format!("{options} -Werror -c main.c -o main.o"));
            let is_there = ours.outcome.files.contains_key("main.o");
            assert_eq!(is_there, ours.outcome.code == Some(0));
            failed += usize::from(!is_there);
        }
    }
    assert!(failed > WARNED.len());
}

#[test]
fn a_failed_compile_leaves_the_old_object_as_the_compiler_does() {
    let bench = Bench::new(&[("main.c", WARNED[0].2), ("main.o", "old")]);
    for compiler in compilers() {
        bench.same(compiler, "-Wall -Werror -c main.c -o main.o");
    }
}

#[test]
fn mistakes_are_reported_once_with_the_users_lines() {
    let bench = Bench::new(&[("dir/main.c", "int f(int n)\n{\n    return n +;\n}\n")]);
    for compiler in compilers() {
        let ours = bench.same(compiler, "-Wall -c dir/main.c");
        assert_eq!(ours.outcome.code, Some(1));
        assert_eq!(ours.outcome.stderr.matches("dir/main.c:3:").count(), 1);
    }
}
