//! `edgewise instrument` and `edgewise cfg`.

use crate::support::Project;
use edgewise::trace::collect::Collector;
use std::process::Command;

const MAIN: &str = "\
int twice(int n);
int main(int argc, char **argv)
{
    (void)argv;
    return argc > 3 ? twice(argc) : 0;
}
";
const TWICE: &str = "#include \"factor.h\"\nint twice(int n)\n{\n    return FACTOR * n;\n}\n";

fn two_units() -> Project {
    let project = Project::empty();
    project.write("main.c", MAIN);
    project.write("lib/twice.c", TWICE);
    project.write("include/factor.h", "#define FACTOR 2\n");
    project
}

/// Compiles what was written below `probed`, and runs it.
fn compile_and_run(project: &Project) -> edgewise::trace::collect::TestTrace {
    let runtime = "probed/edgewise-runtime";
    let mut gcc = Command::new("gcc");
    gcc.current_dir(project.root()).args(["-O2", "-o", "prog", "probed/main.i"]);
    gcc.args(["probed/lib/twice.i", "-x", "c", &format!("{runtime}/edgewise.c"), "-x", "none"]);
    gcc.args([&format!("-Wl,-T,{runtime}/edgewise.ld"), "-Wl,--build-id=sha1"]);
    let output = gcc.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let traces = tempfile::tempdir().unwrap();
    let mut prog = Command::new(project.path("prog"));
    let status = prog.args(["a", "b", "c"]).env("EDGEWISE_TRACE", traces.path()).status().unwrap();
    assert_eq!(status.code(), Some(8));
    Collector::default().collect(traces.path())
}

#[test]
fn what_instrument_writes_compiles_and_leaves_a_trace() {
    let project = two_units();
    let said = project.ok(&[
        "instrument",
        "main.c",
        "lib/twice.c",
        "--out",
        "probed",
        "--",
        "-Iinclude",
        "-O2",
    ]);
    assert_eq!(said, "probed/main.i\nprobed/lib/twice.i\n");
    let trace = compile_and_run(&project);
    assert_eq!(trace.unclean, None);
    assert_eq!(trace.rows.len(), 2);
    assert!(trace.rows.values().all(|row| row.any()), "{:?}", trace.rows);
    // Nobody noted what else was linked, so all of the program counts.
    assert!(trace.loaded.contains(&project.path("prog").canonicalize().unwrap()));
}

#[test]
fn instrument_takes_a_compilation_database() {
    let project = two_units();
    let root = project.root().to_str().unwrap();
    let entries = serde_json::json!([
        {"directory": root, "file": "main.c", "command": "cc -O2 -c main.c -o main.o"},
        {"directory": format!("{root}/lib"), "file": "twice.c",
         "arguments": ["gcc", "-O2", "-I../include", "-c", "twice.c"]},
    ]);
    project.write("build/compile_commands.json", &entries.to_string());
    project.write(".git/HEAD", "");
    let database = "build/compile_commands.json";
    project.ok(&["instrument", "--compile-commands", database, "--out", "probed"]);
    assert_eq!(compile_and_run(&project).rows.len(), 2);
}

#[test]
fn instrument_says_what_it_cannot_do() {
    let project = two_units();
    for (arguments, expected) in [
        (vec!["instrument", "gone.c", "--out", "o"], "gone.c"),
        (vec!["instrument", "lib/twice.c", "--out", "o"], "hint: arguments for the compiler"),
        (vec!["instrument", "include/factor.h", "--out", "o"], "cannot be instrumented"),
        (
            vec!["instrument", "--compile-commands", "main.c", "--out", "o"],
            "no compilation database",
        ),
    ] {
        let output = project.edgewise(&arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
}

/// Behind a macro call of several lines, and inside of a header.
#[test]
fn nodes_have_the_lines_of_the_users_files() {
    let project = Project::empty();
    project.write(
        "inner.h",
        "static inline int inner(int n)\n{\n    if (n > 2)\n        return 1;\n    return 0;\n}\n\
         #define BOTH(a, b) do { \\\n        if (a) \\\n            b; \\\n    } while (0)\n",
    );
    project.write(
        "main.c",
        "#include \"inner.h\"\nint g(int);\nint f(int n)\n{\n    BOTH(n > 1,\n         g(n));\n    \
         n = g(n\n          + 1);\n    return inner(n);\n}\n",
    );
    let lines = |procedure: &str| -> Vec<(String, String)> {
        let said = project.ok(&["cfg", "main.c", procedure]);
        let nodes =
            said.lines().filter_map(|line| line.trim_start().split_once(' ')?.1.split_once("  "));
        let nodes = nodes.filter(|(place, _)| place.contains(':'));
        nodes.map(|(place, rest)| (place.to_string(), rest.trim().to_string())).collect()
    };
    let places =
        |procedure| lines(procedure).into_iter().map(|(place, _)| place).collect::<Vec<_>>();
    assert_eq!(places("inner"), ["inner.h:3", "inner.h:4", "inner.h:5"]);
    assert_eq!(places("f"), ["main.c:5", "main.c:5", "main.c:5", "main.c:7", "main.c:9"]);
    assert!(lines("f")[3].1.starts_with("n = g(n + 1);"), "{:?}", lines("f"));
}

/// A command that builds nothing, where no project is, leaves nothing behind.
#[test]
fn a_build_of_nothing_keeps_nothing() {
    let project = Project::empty();
    for (command, code) in [("true", 0), ("false", 1), ("no-such-command", 2)] {
        let output = project.edgewise(&["build", "--", command]);
        assert_eq!(output.status.code(), Some(code), "{command}");
        assert!(!project.path(".edgewise").exists(), "{command}");
    }
    let said = String::from_utf8(project.edgewise(&["build", "--", "true"]).stderr).unwrap();
    assert!(said.contains("no edgewise.toml here or above") && said.contains("hint:"), "{said}");
    // What made something may refer to our compilers, and what compiled something is a build.
    project.ok(&["build", "--", "touch", "made"]);
    assert!(project.path(".edgewise").exists());
    let project = two_units();
    std::fs::remove_dir_all(project.path(".edgewise")).ok();
    project.ok(&["build", "--", "cc", "-c", "main.c"]);
    assert!(project.path(".edgewise/builds.json").exists());
}

/// Where nothing was recorded, there is nothing to list, which is no error; to ask for a
/// thing of it is one.
#[test]
fn without_a_history_there_is_nothing_to_show() {
    let project = Project::empty();
    project.write_config();
    for arguments in [&["history", "show"][..], &["history", "log"]] {
        let output = project.edgewise(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty());
        assert_eq!(said, "there is no history yet: `edgewise run` records one\n");
    }
    let output = project.edgewise(&["history", "show", "main"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("nothing is known of `main`") && said.contains("hint:"), "{said}");
}
