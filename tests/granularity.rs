//! How much is noted, where that is not the usual: entries alone, entries
//! counted, sources that are left alone, and programs that leave no trace.

use crate::support::Project;
use edgewise::trace::collect::{Collector, TestTrace};
use std::process::Command;

const SOURCE: &str = "\
#include <stdlib.h>
static int twice(int x) { return 2 * x; }
static int plain(int x) { if (x > 5) return 1; return 0; }
static int other(int x) { return x ? twice(x) + twice(x + 1) : 3; }
int main(int argc, char **argv)
{
    int a = argc > 1 ? atoi(argv[1]) : 0;
    return (a < 10 ? plain(a) : other(a)) < 0;
}
";

const TESTS: [(&str, &str); 3] = [("small", "1"), ("middle", "7"), ("large", "20")];

/// Builds with some options, and runs the program once.
fn trace_of(options: &[&str], arguments: &[&str]) -> (Project, TestTrace) {
    let project = Project::of_source(SOURCE, &TESTS);
    project.ok(&[&["build"], options].concat());
    let traces = tempfile::tempdir().unwrap();
    let mut program = Command::new(project.path("prog"));
    program.args(arguments).env("EDGEWISE_TRACE", traces.path());
    assert!(program.status().unwrap().success());
    let trace = Collector::default().collect(traces.path());
    assert_eq!(trace.unclean, None);
    (project, trace)
}

#[test]
fn entries_alone_select_by_procedure() {
    let project = Project::of_source(SOURCE, &TESTS);
    project.ok(&["build", "--granularity", "procedure"]);
    project.ok(&["run"]);
    assert!(project.selected().is_empty());
    project.edit("main.c", "return 1;", "return 2;");
    // With edges this would be the middle one alone.
    assert_eq!(project.selected(), ["middle", "small"]);
    project.edit("main.c", "return 2 * x;", "return 2 + x;");
    assert_eq!(project.selected(), ["large", "middle", "small"]);
}

#[test]
fn entries_alone_cost_a_probe_for_each_procedure() {
    let (_project, trace) = trace_of(&["--granularity", "procedure"], &["1"]);
    let unit = &trace.programs[0].units[0].index;
    assert_eq!(unit.probe_count as usize, unit.procedures.len());
    let (_project, trace) = trace_of(&[], &["1"]);
    assert!(trace.programs[0].units[0].index.probe_count > 4);
}

#[test]
fn the_configuration_may_ask_for_a_granularity() {
    let project = Project::of_source(SOURCE, &TESTS);
    let config = project.read("edgewise.toml");
    let config = config.replace("[build]", "[instrument]\ngranularity = \"procedure\"\n[build]");
    project.write("edgewise.toml", &config);
    project.record();
    project.edit("main.c", "return 1;", "return 2;");
    assert_eq!(project.selected(), ["middle", "small"]);
}

#[test]
fn entries_are_counted_when_asked_for() {
    let (_project, trace) = trace_of(&["--count-entries"], &["20"]);
    let unit = &trace.programs[0].units[0].index;
    let once = trace.entered_once.iter().map(|(_, number)| unit.procedures[*number].name.as_str());
    assert_eq!(once.collect::<Vec<_>>(), ["other", "main"]);
    let (_project, trace) = trace_of(&[], &["20"]);
    assert!(trace.entered_once.is_empty());
}

/// What a process runs before it is attached does not count itself, so in a
/// test of two processes nothing is known to be entered once.
#[test]
fn nothing_is_entered_once_in_two_processes() {
    let project = Project::of_source(SOURCE, &TESTS);
    project.ok(&["build", "--count-entries"]);
    let traces = tempfile::tempdir().unwrap();
    for argument in ["1", "20"] {
        let mut program = Command::new(project.path("prog"));
        assert!(
            program.arg(argument).env("EDGEWISE_TRACE", traces.path()).status().unwrap().success()
        );
    }
    let trace = Collector::default().collect(traces.path());
    assert!(!trace.rows.is_empty());
    assert!(trace.entered_once.is_empty());
}

/// Threads, a child that goes on with a run of its parent, and a kill: each
/// thread has a log of its own, and none is lost.
const PATHS: &str = "\
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int square(int x) { return x * x; }
static void *work(void *at) { int i, *sum = at; for (i = 0; i < 9000; i++) *sum += square(i) & 1; return 0; }
static int child(int n) { if (n) return square(n); raise(SIGKILL); return 0; }
int main(void)
{
    pthread_t threads[3];
    int i, sums[3] = {0, 0, 0};
    for (i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, &sums[i]);
    for (i = 0; i < 3; i++) pthread_join(threads[i], 0);
    for (i = 0; i < 2; i++)
        if (fork() == 0) exit(child(i) != 1);
    while (wait(&i) > 0) { }
    return 0;
}
";

#[test]
fn a_path_build_logs_every_thread_and_child() {
    let project = Project::of_source(PATHS, &[("all", "")]);
    project.edit("Makefile", "-O2", "-pthread -O2");
    project.ok(&["build", "--granularity", "path"]);
    let traces = tempfile::tempdir().unwrap();
    let mut program = Command::new(project.path("prog"));
    assert!(program.env("EDGEWISE_TRACE", traces.path()).status().unwrap().success());
    let logs = std::fs::read_dir(traces.path()).unwrap().flatten().filter(|entry| {
        // The first window of each.
        entry.file_name().to_string_lossy().ends_with(".0.0.path")
    });
    assert_eq!(logs.count(), 6, "main, three threads, two children");
    let trace = Collector::default().collect(traces.path());
    assert_eq!(trace.unclean, None);
    let walked = trace.walked.values().next().unwrap();
    assert!(walked.steps > 3 * 9000 * 3, "{}", walked.steps);
    assert!(walked.compared > 5, "{}", walked.compared);
}

#[test]
fn a_path_build_says_what_it_checked() {
    let project = Project::of_source(SOURCE, &TESTS);
    project.ok(&["build", "--granularity", "path"]);
    let said = String::from_utf8(project.edgewise(&["run"]).stderr).unwrap();
    assert!(said.contains("3 passed, 0 failed\n"), "{said}");
    assert!(said.contains(" steps logged, "), "{said}");
    // It selects as any other.
    project.edit("main.c", "return 1;", "return 2;");
    assert_eq!(project.selected(), ["middle"]);
}

/// Objects of a path build in a program that is linked without the runtime.
#[test]
fn a_path_build_links_without_the_runtime() {
    let project = Project::of_source(SOURCE, &TESTS);
    let mut command = project.command();
    command.args(["cc", "gcc", "-O2", "-c", "main.c"]).env("EDGEWISE_GRANULARITY", "path");
    assert!(command.status().unwrap().success());
    let mut gcc = Command::new("gcc");
    assert!(
        gcc.current_dir(project.root()).args(["-o", "prog", "main.o"]).status().unwrap().success()
    );
    assert!(Command::new(project.path("prog")).status().unwrap().success());
}

/// A program with a library of somebody else in it.
fn with_vendored() -> Project {
    let project = Project::empty();
    project.write("vendored/lib.c", "int lib(int x) { if (x > 5) return 1; return 0; }\n");
    project.write("vendored/own.c", "int unused(int x) { return x; }\n");
    project.write(
        "main.c",
        "int lib(int);\nint main(int argc, char **argv) { (void)argv; return argc > 9 && lib(argc); }\n",
    );
    project.write("Makefile", "prog: main.c vendored/lib.c vendored/own.c\n\t$(CC) -Wall -O2 -o prog main.c vendored/lib.c vendored/own.c\n");
    project.write(
        "edgewise.toml",
        "[build]\ncommand = \"make -s\"\n[instrument]\nskip = [\"vendored/**\"]\n[[suite]]\nname = \"t\"\n\
         kind = \"list\"\nfile = \"tests.list\"\n",
    );
    project.write("tests.list", "one ./prog\n");
    project
}

#[test]
fn what_is_skipped_has_no_probes_but_counts() {
    let project = with_vendored();
    let built = project.edgewise(&["build"]);
    let said = String::from_utf8(built.stderr).unwrap();
    assert!(said.contains("vendored/lib.c is compiled without probes: `skip`"), "{said}");
    project.ok(&["run"]);
    assert!(project.selected().is_empty());
    // Whether it ran is not known: it counts as if it did.
    project.edit("vendored/lib.c", "return 1;", "return 2;");
    assert_eq!(project.selected(), ["one"]);
    project.ok(&["build"]);
    assert_eq!(project.select_json(&["--from-build"])["selected"].as_array().unwrap().len(), 1);
}

#[test]
fn a_pattern_that_is_none_is_said() {
    let project = with_vendored();
    project.edit("edgewise.toml", "vendored/**", "vendored/[");
    let output = project.edgewise(&["run"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("skip of [instrument]"), "{said}");
}

/// A test that runs a traced program and then one that cannot be: the edit of
/// the latter once went unseen.
#[test]
fn a_program_without_the_runtime_beside_a_traced_one() {
    let project = Project::empty();
    project.write("main.c", "int main(void) { return 0; }\n");
    let end = "__asm__ volatile(\"syscall\" : : \"a\"(231L), \"D\"(answer()))";
    let bare = format!("int answer(void) {{ return 0; }}\nvoid _start(void) {{ {end}; }}\n");
    project.write("bare.c", &bare);
    project.write(
        "Makefile",
        "all: prog bare\nprog: main.c\n\t$(CC) -o prog main.c\n\
         bare: bare.c\n\t$(CC) -nostdlib -static -fno-stack-protector -o bare bare.c\n",
    );
    project.write_config();
    project.write("tests.list", "both ./prog && ./bare\n");
    let built = project.edgewise(&["build"]);
    let said = String::from_utf8(built.stderr).unwrap();
    assert!(said.contains("bare leaves no trace"), "{said}");
    assert!(project.says(&["doctor"]).1.contains("program without a trace"));
    project.ok(&["run"]);
    assert!(project.selected().is_empty());
    project.edit("bare.c", "return 0;", "return 1;");
    assert_eq!(project.selected(), ["both"]);
    project.ok(&["build"]);
    assert_eq!(project.select_json(&["--from-build"])["selected"].as_array().unwrap().len(), 1);
}

/// The same program, which is traced from the next build on: the test was still
/// recorded without it.
#[test]
fn a_program_that_had_no_runtime_when_the_test_was_recorded() {
    let project = Project::empty();
    project.write("main.c", "int main(void) { return 0; }\n");
    // Part of both programs, and the traced one does not run it.
    project.write("common.c", "int common(void) { return 0; }\n");
    project.write("late.c", "int common(void);\nint main(void) { return common(); }\n");
    project.write(
        "Makefile",
        "all: prog late\nprog: main.c common.c\n\t$(CC) -o prog main.c common.c\n\
         late: late.c common.c\n\t$(CC) $(LATE) -o late late.c common.c\n",
    );
    project.write_config();
    project.write("tests.list", "both ./prog && ./late\n");
    // Only `-lc` tells edgewise that there is a C library.
    let libraries = "LATE=-nodefaultlibs -Wl,--push-state -Wl,-l:libc.so.6 -Wl,--pop-state -lgcc";
    let built = project.edgewise(&["build", "--", "make", "-s", libraries]);
    let said = String::from_utf8(built.stderr).unwrap();
    assert!(said.contains("late leaves no trace"), "{said}");
    project.ok(&["run"]);
    project.edit("common.c", "return 0;", "return 1;");
    project.ok(&["build"]);
    assert_eq!(project.select_json(&["--from-build"])["selected"].as_array().unwrap().len(), 1);
}

/// gcc evaluates arguments from right to left. A test whose log shows it says what to do.
#[test]
fn a_path_build_says_why_steps_are_no_edges() {
    let source = "#include <stdio.h>\n\
        int main(int c, char **v) { printf(\"%s %s\\n\", c > 1 ? v[1] : \"a\", c > 2 ? v[2] : \"b\"); return 0; }\n";
    let project = Project::of_source(source, &[("a", "")]);
    project.ok(&["build", "--granularity", "path"]);
    project.ok(&["run"]);
    let output = project.edgewise(&["select"]);
    let said = String::from_utf8(output.stderr).unwrap();
    for part in ["gcc evaluates arguments", "vfork", "build with clang", "granularity `path`"] {
        assert!(said.contains(part), "{said}");
    }
}
