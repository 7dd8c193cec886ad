//! The function that a call enters is the one that it enters without probes, whatever
//! the linker, the loader or a tool puts in the place of another.

use crate::support::Project;
use crate::support::compare::compilers;
use crate::support::misses::Miss;
use std::process::Command;

/// A unit with a small function, which it calls.
fn unit(extra: &str) -> String {
    format!(
        "#include <stdio.h>\nint f(int x);\nint f(int x) {{ return x + 1; }}\n\
         int run(int x);\nint run(int x) {{ return f(x) * 10; }}\n{extra}\n\
         int main(void) {{ printf(\"%d\\n\", run(1) + f(2)); return 0; }}\n"
    )
}

const MOCK: &str = "int f(int x);\nint f(int x) { return 76 + x; }\n\
                    int __wrap_f(int x);\nint __wrap_f(int x) { return 500 + x; }\n";

/// Runs a script with a compiler as `$CC`, in a directory of its own.
fn output(compiler: &str, real: &str, level: &str, script: &str, extra: &str) -> String {
    let project = Project::empty();
    project.write("a.c", &unit(extra));
    project.write("m.c", MOCK);
    project.write("g.c", "int g(int x);\nint g(int x) { return 900 + x; }\n");
    let output = Command::new("sh")
        .args(["-ec", script])
        .current_dir(project.root())
        .env("CC", compiler)
        .env("EDGEWISE_CC", real)
        .env("O", level)
        .env_remove("EDGEWISE_TRACE")
        .output()
        .unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), output.status)
}

fn is_the_same(script: &str, extra: &str) {
    for compiler in compilers() {
        for level in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
            let plain = output(compiler, compiler, level, script, extra);
            let ours = env!("CARGO_BIN_EXE_edgewise-cc");
            let probed = output(ours, compiler, level, script, extra);
            assert_eq!(probed, plain, "{compiler} {level}: {script}");
        }
    }
}

const LINK: &str = "$CC -w $O a.c m.c -o p; ./p";

#[test]
fn weak_by_a_pragma_behind_the_definition() {
    is_the_same(LINK, "#pragma weak f");
}

#[test]
fn weak_by_a_later_declaration() {
    is_the_same(LINK, "int f(int x) __attribute__((weak));");
}

#[test]
fn not_inlined_by_a_later_declaration() {
    is_the_same(
        "$CC -w $O -c a.c; $CC -w $O -c m.c; objcopy --weaken-symbol=f a.o; $CC a.o m.o -o p; ./p",
        "int f(int x) __attribute__((noinline));",
    );
}

#[test]
fn weakened_by_objcopy() {
    for option in ["--weaken-symbol=f", "--weaken", "--redefine-sym f=f2"] {
        let script = format!(
            "$CC -w $O -c a.c; $CC -w $O -c m.c; objcopy {option} a.o; $CC a.o m.o -o p; ./p"
        );
        is_the_same(&script, "");
    }
}

#[test]
fn several_definitions_are_allowed() {
    for option in ["-z,muldefs", "--allow-multiple-definition"] {
        for order in ["a.c m.c", "m.c a.c"] {
            is_the_same(&format!("$CC -w $O {order} -Wl,{option} -o p; ./p"), "");
        }
    }
}

#[test]
fn wrapped_or_defined_by_the_linker() {
    is_the_same("$CC -w $O -c m.c; objcopy -N f m.o; $CC -w $O a.c m.o -Wl,--wrap=f -o p; ./p", "");
    is_the_same("$CC -w $O a.c g.c -Wl,--defsym=f=g -o p; ./p", "");
}

#[test]
fn in_a_shared_library() {
    let script = |code: &str, link: &str| {
        format!(
            "$CC -w $O {code} -Dmain=start -shared a.c {link} -o liba.so; \
             echo 'int start(void); int main(void) {{ return start(); }}' > s.c; \
             $CC -w $O s.c ./liba.so -o p; $CC -w $O -fPIC -shared m.c -o m.so; \
             ./p; LD_PRELOAD=./m.so ./p"
        )
    };
    is_the_same(&script("-fPIC", ""), "");
    is_the_same(&script("-fPIC", "-Wl,-Bsymbolic"), "");
    is_the_same(&script("-fPIC -fno-semantic-interposition", ""), "");
}

#[test]
fn in_an_executable_that_shows_its_names() {
    let script = "$CC -w $O -fPIE -pie -rdynamic a.c -o p; $CC -w $O -fPIC -shared m.c -o m.so; \
                  LD_PRELOAD=./m.so ./p";
    is_the_same(script, "");
}

#[test]
fn by_alias_and_ifunc() {
    is_the_same(LINK, "int f2(int x) __attribute__((alias(\"f\"))); _Pragma(\"weak f\")");
    is_the_same(
        "$CC -w $O a.c -o p; ./p",
        "static int k(int x) { return x + 9; }\nstatic void *which(void) { return (void *)k; }\n\
         int h(int x) __attribute__((ifunc(\"which\")));\nint last(void) { return h(1); }",
    );
}

#[test]
fn an_edit_of_the_mock_selects_its_tests() {
    let main = "#include <stdio.h>\n__attribute__((noipa)) int f(int x);\nint f(int x) { return x + 1; }\n\
                int main(void) { printf(\"%d\\n\", f(1)); return 0; }\n";
    let project = Project::empty();
    project.write_config();
    project.write("tests.list", "one ./prog\n");
    project.write(
        "Makefile",
        "prog: main.c m.c\n\t$(CC) -w -O2 -c main.c\n\tobjcopy --weaken-symbol=f main.o\n\
         \t$(CC) -w -O2 -c m.c\n\t$(CC) -o prog main.o m.o\n",
    );
    project.write("main.c", main);
    project.write("m.c", MOCK);
    project.record();
    assert!(project.selected().is_empty());
    Miss { project }.edit("m.c", "76", "77", &["one"]);
}
