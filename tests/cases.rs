//! Tests inside one process, with a row for each.

use crate::support::Project;
use edgewise::trace::cases::Cases;
use edgewise::trace::collect::{Collector, Rows, TestTrace};
use edgewise::trace::derive::Reading;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

const HEADER: &str = include_str!("../instrument-runtime/edgewise.h");
const CASES: &str = include_str!("cases/cases.c");
const LIBRARY: &str = include_str!("cases/library.c");
const PLUGIN: &str = include_str!("cases/plugin.c");
const DOUBTFUL: &str = include_str!("cases/doubtful.c");

fn built(source: &str) -> Project {
    let project = Project::of_source(source, &[]);
    project.write("edgewise.h", HEADER);
    project.write("library.c", LIBRARY);
    project.write("plugin.c", PLUGIN);
    project.write(
        "Makefile",
        "all: prog plugin.so\n\
         plugin.so: plugin.c\n\t$(CC) -O2 -fPIC -shared -o plugin.so plugin.c\n\
         liblibrary.so: library.c\n\t$(CC) -O2 -fPIC -shared -o liblibrary.so library.c\n\
         prog: main.c liblibrary.so\n\
         \t$(CC) -O2 -o prog main.c -L. -llibrary -lpthread -ldl -Wl,-rpath,'$$ORIGIN'\n",
    );
    project.ok(&["build"]);
    project
}

/// Runs the program, and reads what it left.
fn trace(project: &Project, argument: &str) -> TestTrace {
    let directory = tempfile::tempdir().unwrap();
    let status = Command::new(project.path("prog"))
        .arg(argument)
        .current_dir(project.root())
        .env("EDGEWISE_TRACE", directory.path())
        .status();
    assert!(status.unwrap().success());
    let collector = Collector::default();
    let trace = collector.collect_as(directory.path(), Reading::Exact, None, Cases::Independent);
    assert_eq!(trace.unclean, None);
    trace
}

fn lines(trace: &TestTrace, rows: &Rows, source: &str) -> BTreeSet<u32> {
    let mut lines = BTreeSet::new();
    for unit in trace.programs.iter().flat_map(|program| &program.units) {
        let Some(file) = unit.index.files.iter().position(|file| file == source) else {
            continue;
        };
        let row = &rows[&unit.index.fingerprint];
        let graphs = unit.raw.graphs(&unit.index).unwrap();
        let edges = graphs.iter().flat_map(|graph| graph.edges.iter().map(move |e| (graph, e)));
        for ((graph, edge), taken) in edges.zip(row) {
            let place = graph.node(edge.to).place;
            if *taken && place.file as usize == file {
                lines.insert(place.line);
            }
        }
    }
    lines
}

/// Each of the cases reached exactly the lines marked with its name, and the
/// test as a whole what any of them did.
fn assert_cases(project: &Project, trace: &TestTrace, sources: &[&str], cases: &[&str]) {
    let found: Vec<&str> = trace.cases.keys().map(String::as_str).collect();
    assert_eq!(found, cases);
    for source in sources {
        let all = lines(trace, &trace.rows, source);
        for (number, line) in (1..).zip(project.read(source).lines()) {
            let Some((_, names)) = line.split_once("// @") else { continue };
            let names: Vec<&str> = names.split_whitespace().collect();
            for case in cases {
                let reached = lines(trace, &trace.cases[*case], source).contains(&number);
                assert_eq!(reached, names.contains(case), "{case}: line {number} of {source}");
            }
            let any = cases.iter().any(|case| names.contains(case));
            assert_eq!(all.contains(&number), any, "line {number} of {source}");
        }
    }
}

#[test]
fn two_cases_of_a_process_have_rows_of_their_own() {
    let project = built(CASES);
    let trace = trace(&project, "plain");
    assert_cases(&project, &trace, &["main.c", "library.c"], &["one", "two"]);
}

#[test]
fn a_module_that_is_loaded_within_a_case_takes_part_in_it() {
    let project = built(CASES);
    let trace = trace(&project, "plugin");
    assert_cases(&project, &trace, &["plugin.c"], &["loads", "uses"]);
}

#[test]
fn a_case_may_have_a_process_of_its_own() {
    let project = built(CASES);
    let trace = trace(&project, "forks");
    assert_cases(&project, &trace, &["main.c"], &["again", "forked"]);
}

#[test]
fn a_loop_may_go_on_from_case_to_case() {
    let project = built(CASES);
    for (kind, mark) in [("rounds", "// @rounds"), ("hooks", "// @hooks")] {
        let trace = trace(&project, kind);
        let line = 1 + CASES.lines().position(|line| line.ends_with(mark)).unwrap() as u32;
        assert_eq!(trace.cases.len(), 3);
        for (case, rows) in &trace.cases {
            assert!(lines(&trace, rows, "main.c").contains(&line), "{kind}, {case}");
        }
    }
}

#[test]
fn cases_that_cannot_be_told_apart_lose_nothing() {
    let project = built(DOUBTFUL);
    let nested = trace(&project, "nested");
    assert_cases(&project, &nested, &["main.c"], &["inner", "last", "outer"]);
    let threads = trace(&project, "threads");
    assert_cases(&project, &threads, &["main.c"], &["first", "second"]);
}

/// A suite that knows nothing of cases sees one test with all they did.
#[test]
fn a_test_is_the_sum_of_its_cases() {
    let project = built(CASES);
    project.write("tests.list", "all ./prog plain\n");
    project.ok(&["run"]);
    project.edit("main.c", "count = 2;", "count = 3;");
    assert_eq!(project.selected(), ["all"]);
}

#[test]
fn without_edgewise_the_header_does_nothing() {
    let project = Project::empty();
    project.write("edgewise.h", HEADER);
    let source = "#include \"edgewise.h\"\n\
                  int main(void) { edgewise_test_begin(\"a\"); edgewise_test_end(); return 0; }\n";
    project.write("a.c", source);
    project.write("a.cc", source);
    let compilers: [&[&str]; 5] = [
        &["gcc", "-std=c89", "-pedantic-errors", "a.c"],
        &["gcc", "-std=c11", "-static", "a.c"],
        &["gcc", "-O2", "-fno-pie", "-no-pie", "a.c"],
        &["g++", "-std=c++98", "-pedantic-errors", "a.cc"],
        &["clang", "-std=c99", "-pedantic-errors", "a.c"],
    ];
    for command in compilers {
        if !is_there(command[0]) {
            eprintln!("skipped: no {}", command[0]);
            continue;
        }
        let output = Command::new(command[0])
            .current_dir(project.root())
            .args(&command[1..])
            .args(["-Wall", "-Wextra", "-Werror", "-o", "a"])
            .output()
            .unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {messages}");
        assert!(Command::new(project.path("a")).status().unwrap().success());
    }
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| Path::new(&directory).join(program).exists())
}

const UNIT: &str = r#"
#include <stdio.h>
#include <string.h>
#include "edgewise.h"
static int twice(int n) { return 2 * n; }
static int thrice(int n) { return 3 * n; }
static int started(void) { return 1; }
static void test_twice(void) { printf("%d\n", twice(2)); }
static void test_thrice(void) { printf("%d\n", thrice(2)); }
static const struct { const char *name; void (*run)(void); } tests[] = {
    {"twice", test_twice}, {"thrice", test_thrice},
};
int main(int count, char **names)
{
    if (count > 1 && !strcmp(names[1], "--list")) {
        puts("twice\nthrice\nforgotten");
        return 0;
    }
    int ran = !started();
    for (int i = 0; i < 2; i++) {
        int wanted = count == 1;
        for (int j = 1; j < count; j++)
            wanted |= !strcmp(names[j], tests[i].name);
        if (!wanted)
            continue;
        edgewise_test_begin(tests[i].name);
        tests[i].run();
        edgewise_test_end();
        ran++;
    }
    FILE *log = fopen("ran.out", "a");
    fprintf(log, "%d\n", ran);
    return 0;
}
"#;

/// With and without a way to name those that are to run.
#[test]
fn a_suite_may_be_the_cases_of_one_process() {
    for command in ["./prog {cases}", "./prog"] {
        let project = Project::of_source(UNIT, &[]);
        project.write("edgewise.h", HEADER);
        project.write(
            "edgewise.toml",
            &format!(
                "ignore = [\"*.out\"]\n[build]\ncommand = \"make -s\"\n[[suite]]\nname = \"u\"\n\
                 kind = \"cases\"\nlist = \"./prog --list\"\ncommand = \"{command}\"\n\
                 independent = true\n"
            ),
        );
        project.ok(&["build"]);
        // One that the process does not run has failed.
        let output = project.edgewise(&["run"]);
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("u/forgotten: failed (the process did not run it"), "{said}");
        assert!(said.contains("2 passed, 1 failed"), "{said}");
        assert_eq!(project.read("ran.out"), "2\n", "one process for all");
        assert_eq!(project.selected(), ["forgotten"]);
        project.edit("main.c", "return 3 * n;", "return n + n + n;");
        assert_eq!(project.selected(), ["forgotten", "thrice"]);
        project.ok(&["build"]);
        project.ok(&["run", "thrice"]);
        let ran = if command.contains("{cases}") { "2\n1\n" } else { "2\n2\n" };
        assert_eq!(project.read("ran.out"), ran);
        assert_eq!(project.selected(), ["forgotten"]);
        // What is outside of any counts for all.
        project.edit("main.c", "started(void) { return 1; }", "started(void) { return 2 - 1; }");
        assert_eq!(project.selected(), ["forgotten", "thrice", "twice"]);
    }
}
