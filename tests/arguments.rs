//! What `edgewise cc` does with each kind of arguments: as the real compiler
//! does, and each unit is analysed or listed as not analysed.

use crate::support::compare::{Bench, Ours, compilers, has_tool};

const MAIN: &str = "#include \"dir/a.h\"\nint other(void);\nint main(int argc, char **argv)\n{\n    \
    (void)argv;\n    if (argc > 1)\n        return A;\n    return other() - 2;\n}\n";
const OTHER: &str =
    "#include <stddef.h>\nint other(void)\n{\n    return (int)sizeof(size_t) > 4 ? 2 : 3;\n}\n";
const ASSEMBLER: &str =
    "    .globl from_asm\nfrom_asm:\n    ret\n    .section .note.GNU-stack,\"\",@progbits\n";

fn bench() -> Bench {
    Bench::new(&[
        ("main.c", MAIN),
        ("other.c", OTHER),
        ("dir/a.h", "#define A 1\n"),
        ("out/keep", ""),
        ("asm.s", ASSEMBLER),
        ("asm2.S", "#include \"dir/a.h\"\n    .section .note.GNU-stack,\"\",@progbits\n"),
        ("more.cpp", "#include \"dir/a.h\"\nint more() { return A; }\n"),
        ("code.inc", OTHER),
        ("pre.i", "# 1 \"pre.c\"\nint pre(void) { return 1; }\n"),
        ("pch.h", "#include <stdio.h>\nstatic inline int pch(int n) { return n + 1; }\n"),
        ("uses.c", "int uses(int n) { if (n) puts(\"\"); return pch(n); }\n"),
        ("args", "-DX='a b' -c \"main.c\" @more -o out/x.o\n"),
        ("more", "-O1\n -Wall"),
        ("link.args", "main.c other.c\n-o\nprog\n"),
    ])
}

#[track_caller]
fn analysed(line: &str, sources: &[&str]) {
    each(line, |ours, compiler| {
        for source in sources {
            assert!(ours.is_analysed(source), "{compiler} {line}: {source}: {}", ours.log);
        }
        let count = ours.log.matches("\"event\":\"compiled\"").count();
        assert_eq!(count, sources.len(), "{compiler} {line}: {}", ours.log);
        assert!(!ours.log.contains("not_analysed"), "{compiler} {line}: {}", ours.log);
    });
}

#[track_caller]
fn listed(line: &str, sources: &[&str]) {
    each(line, |ours, compiler| {
        for source in sources {
            assert!(ours.is_listed(source), "{compiler} {line}: {source}: {}", ours.log);
        }
        assert!(!ours.log.contains("\"event\":\"compiled\""), "{compiler} {line}: {}", ours.log);
    });
}

#[track_caller]
fn nothing(line: &str) {
    each(line, |ours, compiler| assert!(ours.is_left_alone(), "{compiler} {line}"));
}

#[track_caller]
fn each(line: &str, check: impl Fn(&Ours, &str)) {
    let bench = bench();
    for compiler in compilers() {
        check(&bench.same(compiler, line), compiler);
    }
}

#[test]
fn compiles() {
    analysed("-c main.c", &["main.c"]);
    analysed("-O2 -g -Wall -c main.c -o out/main.o", &["main.c"]);
    analysed("-O2 -g3 -c main.c -o out/main.o", &["main.c"]);
    analysed("-c main.c other.c", &["main.c", "other.c"]);
    analysed("-pipe -c -omain.obj ./main.c", &["main.c"]);
    analysed("-fPIC -fvisibility=hidden -ffunction-sections -c main.c", &["main.c"]);
}

#[test]
fn one_source_that_fails_does_not_keep_the_others_from_it() {
    let bench = Bench::new(&[("a.c", "int a = ;\n"), ("b.c", "int b;\n"), ("c.c", "int c(;\n")]);
    for compiler in compilers() {
        let ours = bench.same(compiler, "-c a.c b.c c.c");
        assert!(ours.outcome.files.contains_key("b.o"));
        bench.same(compiler, "a.c b.c c.c -o prog");
    }
}

#[test]
fn compiles_and_links() {
    analysed("main.c other.c", &["main.c", "other.c"]);
    analysed("main.c other.c -o prog", &["main.c", "other.c"]);
    analysed("-static main.c other.c -o prog -lm", &["main.c", "other.c"]);
    analysed("-shared -fPIC other.c -o libother.so", &["other.c"]);
    analysed("-r other.c -o part.o", &["other.c"]);
}

#[test]
fn link_time_optimization() {
    if has_tool("gcc") {
        let ours = bench().same("gcc", "-flto -O2 main.c other.c -o prog");
        assert!(ours.is_analysed("main.c"));
        assert!(ours.log.contains("\"linked\""), "{}", ours.log);
        bench().same("gcc", "-flto -O2 -c main.c -o out/main.o");
    }
}

#[test]
fn dependency_files_name_the_users_headers() {
    for line in [
        "-MD -c main.c",
        "-MMD -MP -c main.c -o out/main.o",
        "-MMD -MF out/x.d -MT 'a b' -c main.c -o out/main.o",
        "-MD -MQ 'a$b' -MFq.d -c main.c",
        "-Wp,-MD,out/.main.d -c main.c -o out/main.o",
        "-Wp,-MMD,out/.main.d,-MT,x -c main.c",
        "-Wp,-MD,x.d -MD -c main.c -o out/main.o",
        "-MD -c main.c -o out/noext",
    ] {
        analysed(line, &["main.c"]);
    }
    for line in ["-MD main.c other.c -o prog", "-MD main.c other.c -o out/p.x"] {
        analysed(line, &["main.c", "other.c"]);
    }
    listed("-MMD -shared -fPIC other.c", &["other.c"]);
    listed("-MMD main.c other.c", &["main.c", "other.c"]);
}

#[test]
fn questions_are_for_the_real_compiler() {
    for line in [
        "-E main.c",
        "-E main.c -o main.pre",
        "-M main.c",
        "-MM main.c -MF x.d",
        "-fsyntax-only main.c",
        "--version",
        "-dumpmachine",
        "-print-search-dirs",
        "-dM -E -x c /dev/null",
        "-E - < main.c",
    ] {
        nothing(line);
    }
}

#[test]
fn products_other_than_objects_are_listed() {
    listed("-S main.c", &["main.c"]);
    listed("-S -o - main.c", &["main.c"]);
    listed("-c -x c - -o x.o < other.c", &["-"]);
    listed("-c pre.i", &["pre.i"]);
    listed("-save-temps -c main.c", &["main.c"]);
    each("-S -MD -MF x.d main.c", |ours, _| {
        assert!(ours.log.contains("\"sources\":[\"main.c\"]"), "{}", ours.log);
    });
    listed("-c -Wp,-v main.c 2>err; rm err", &["main.c"]);
}

#[test]
fn languages_by_x() {
    analysed("-x c -c code.inc -o code.o", &["code.inc"]);
    analysed("-xc code.inc -x none main.c -o prog", &["code.inc", "main.c"]);
    listed("-x c++ -c main.c -o out/m.o", &["main.c"]);
    listed("-x assembler-with-cpp -c asm2.S", &["asm2.S"]);
}

#[test]
fn other_languages_are_listed_with_their_inputs() {
    listed("-c asm.s", &["asm.s"]);
    listed("-c asm2.S -o out/asm.o", &["asm2.S"]);
    each("-c asm2.S -o out/asm.o", |ours, _| assert!(ours.is_listed("dir/a.h"), "{}", ours.log));
    each("-c more.cpp", |ours, _| assert!(ours.is_listed("dir/a.h"), "{}", ours.log));
    for line in ["-c main.c asm.s", "main.c other.c asm.s -o prog"] {
        each(line, |ours, compiler| {
            assert!(ours.is_analysed("main.c"), "{compiler} {line}: {}", ours.log);
            assert!(ours.is_listed("asm.s"), "{compiler} {line}: {}", ours.log);
        });
    }
}

#[test]
fn arguments_from_files() {
    analysed("@args", &["main.c"]);
    analysed("-O2 @link.args", &["main.c", "other.c"]);
    each("@nowhere -c main.c", |ours, _| assert_ne!(ours.outcome.code, Some(0)));
}

#[test]
fn precompiled_headers() {
    nothing("-c pch.h -o pch.h.gch; rm -f pch.h.gch");
    if has_tool("gcc") {
        // With the header and without it beside what was made of it.
        let gcc = env!("CARGO_BIN_EXE_edgewise-cc");
        let make = format!("pch.h -o pch.h.gch && {gcc} -include pch.h -c uses.c; rm pch.h.gch");
        let ours = bench().ours("gcc", &make);
        assert_eq!((ours.outcome.code, ours.outcome.stderr.as_str()), (Some(0), ""));
        assert!(ours.is_analysed("uses.c"), "{}", ours.log);
        let make = format!("pch.h -o gone.h.gch && {gcc} -include gone.h -c uses.c; rm gone.h.gch");
        let ours = bench().ours("gcc", &make);
        assert_eq!((ours.outcome.code, ours.outcome.stderr.as_str()), (Some(0), ""));
        assert!(ours.is_listed("uses.c"), "{}", ours.log);
    }
    if has_tool("clang") {
        let clang = env!("CARGO_BIN_EXE_edgewise-cc");
        for using in ["-include pch.h", "-include-pch pch.h.pch"] {
            let line = format!("pch.h -o pch.h.pch && {clang} {using} -c uses.c && rm pch.h.pch");
            let ours = bench().ours("clang", &line);
            assert_eq!((ours.outcome.code, ours.outcome.stderr.as_str()), (Some(0), ""), "{using}");
            assert!(ours.is_listed("uses.c") || ours.is_analysed("uses.c"), "{}", ours.log);
        }
    }
}

#[test]
fn files_beside_the_object() {
    for line in [
        "--coverage -c main.c -o out/main.o",
        "--coverage -Wall -Wextra -c main.c -o out/main.o",
        "-fstack-usage -Wall -c main.c -o out/main.o",
        "-gsplit-dwarf -g -Wextra -c main.c -o out/main.o",
    ] {
        let bench = bench();
        for compiler in compilers() {
            let plain = bench.plain(compiler, line);
            let ours = bench.ours(compiler, line);
            let names =
                |o: &crate::support::compare::Outcome| o.files.keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(&ours.outcome), names(&plain), "{compiler} {line}");
            assert!(ours.is_analysed("main.c"));
        }
    }
    listed("--coverage main.c other.c -o prog; rm -f *.gcno", &["main.c", "other.c"]);
}

#[test]
fn inputs_of_a_link_that_is_not_done() {
    analysed("-c main.c -lm", &["main.c"]);
    nothing("-c main.c nowhere.o");
    analysed("-c main.c out/keep", &["main.c"]);
    analysed("-c -static -L. main.c", &["main.c"]);
}

#[test]
fn names_that_are_no_text_are_left_to_the_real_compiler() {
    for compiler in compilers() {
        let bench = bench();
        let line = "-c other.c -o \"$(printf 'x\\377.o')\"; test -f x?.o; echo $?; rm -f x*.o";
        let ours = bench.same(compiler, line);
        assert_eq!(ours.outcome.stdout, "0\n");
    }
}

#[test]
fn trials_of_configure_scripts_are_left_alone() {
    let bench = Bench::new(&[
        ("conftest.c", "int main(void) { return 0; }\n"),
        ("b/CMakeFiles/CMakeScratch/t/x.c", "int main(void) { return 0; }\n"),
        ("b/meson-private/tmp/testfile.c", "int main(void) { return 0; }\n"),
    ]);
    for compiler in compilers() {
        for line in [
            "-c conftest.c",
            "-o conftest conftest.c",
            "b/CMakeFiles/CMakeScratch/t/x.c -o b/x",
            "b/meson-private/tmp/testfile.c -o b/meson-private/tmp/out",
            "-Wall -Werror -S -o /dev/null -x c /dev/null",
        ] {
            let ours = bench.same(compiler, line);
            assert!(ours.is_left_alone(), "{line}: {}", ours.log);
        }
    }
}
