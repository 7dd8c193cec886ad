//! Cases of one process: what an earlier case leaves behind decides what a later one does. Each of
//! these once selected the earlier case alone.

use crate::support::Project;

const HEADER: &str = include_str!("../instrument-runtime/edgewise.h");

/// A program with the cases `one`, `two` and `three`, which run in this order. `setup` is code of the file;
/// each case is a body.
fn source(setup: &str, cases: [&str; 3]) -> String {
    let [one, two, three] = cases;
    format!(
        r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "edgewise.h"
{setup}
static void one(void) {{ {one} }}
static void two(void) {{ {two} }}
static void three(void) {{ {three} }}
static const struct {{ const char *name; void (*run)(void); }} cases[] = {{
    {{"one", one}}, {{"two", two}}, {{"three", three}},
}};
#ifndef RUN
#define RUN(i) edgewise_test_begin(cases[i].name); cases[i].run(); edgewise_test_end();
#endif
int main(int argc, char **argv)
{{
    if (argc > 1 && strcmp(argv[1], "--list") == 0)
        return puts("one\ntwo\nthree") < 0;
    for (int i = 0; i < 3; i++) {{
        int wanted = argc == 1;
        for (int k = 1; k < argc; k++)
            wanted |= strcmp(argv[k], cases[i].name) == 0;
        if (wanted) {{
            RUN(i)
        }}
    }}
    return 0;
}}
"#
    )
}

/// A recorded suite of such cases.
fn recorded(source: &str, command: &str, keys: &str) -> Project {
    let project = Project::of_source(source, &[]);
    project.write("edgewise.h", HEADER);
    project.write("Makefile", "prog: main.c\n\t$(CC) -w -O1 -o prog main.c -lpthread\n");
    configure(&project, command, keys);
    project.record();
    assert!(project.selected().is_empty());
    project
}

fn configure(project: &Project, command: &str, keys: &str) {
    project.write(
        "edgewise.toml",
        &format!(
            "[build]\ncommand = \"make -s\"\n[[suite]]\nname = \"t\"\nkind = \"cases\"\n\
             list = \"./prog --list\"\ncommand = \"{command}\"\n{keys}"
        ),
    );
}

/// What is selected for an edit that is taken back.
fn selected_by(project: &Project, from: &str, to: &str) -> Vec<String> {
    project.edit("main.c", from, to);
    let selected = project.selected();
    project.edit("main.c", to, from);
    selected
}

const TABLE: &str = "
static int *table;
static int fill(int n) { return 7 * n; }
static int look(int n)
{
    if (!table) {
        table = calloc(8, sizeof *table);
        for (int i = 0; i < 8; i++)
            table[i] = fill(i);
    }
    return table[n];
}
static int own(int n) { return n + 40; }
";

const BY_TABLE: [&str; 3] =
    ["if (look(1) != 7) abort();", "if (look(2) != 14) abort();", "if (own(2) != 42) abort();"];

const FILL: (&str, &str) = ("return 7 * n;", "return n > 1 ? 8 * n : 7 * n;");
const OWN: (&str, &str) = ("return n + 40;", "return 40 + n;");

#[test]
fn what_the_first_case_initialises_counts_for_the_cases_behind_it() {
    let project = recorded(&source(TABLE, BY_TABLE), "./prog", "");
    assert_eq!(selected_by(&project, FILL.0, FILL.1), ["one", "three", "two"]);
    // What a later case runs is nothing to an earlier one.
    assert_eq!(selected_by(&project, OWN.0, OWN.1), ["three"]);
    // Run again, alone as far as it is asked for, the process runs all of them.
    project.ok(&["run", "two"]);
    assert_eq!(selected_by(&project, FILL.0, FILL.1), ["one", "three", "two"]);
    // The edit makes `two` fail.
    project.edit("main.c", FILL.0, FILL.1);
    assert_eq!(project.edgewise(&["test"]).status.code(), Some(1));
    assert_eq!(project.selected(), ["one", "three", "two"]);
}

#[test]
fn what_is_initialised_once_for_threads_counts_for_the_cases_behind_it() {
    let setup = "
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int base;
static void prepare(void) { base = 7; }
static int look(int n) { pthread_once(&once, prepare); return base * n; }";
    let source = source(setup, ["look(1);", "if (look(2) != 14) abort();", ""]);
    let project = recorded(&source, "./prog", "");
    assert_eq!(selected_by(&project, "base = 7;", "base = 8;"), ["one", "three", "two"]);
}

#[test]
fn state_that_an_earlier_case_leaves_counts_for_a_later_one() {
    let setup = "
static int mode;
static void set_mode(int n) { mode = n; }
static int answer(int n) { return mode == 3 ? n : -n; }";
    let cases = ["set_mode(3);", "set_mode(mode + 0);", "if (answer(1) != 1) abort();"];
    let project = recorded(&source(setup, cases), "./prog", "");
    assert_eq!(selected_by(&project, "mode = n;", "mode = n + 1;"), ["one", "three", "two"]);
    assert_eq!(selected_by(&project, "set_mode(mode + 0);", "set_mode(0);"), ["three", "two"]);
}

/// A program that takes names can run a case alone.
#[test]
fn a_case_that_can_run_alone_has_a_process_of_its_own() {
    let project = recorded(&source(TABLE, BY_TABLE), "./prog {cases}", "");
    assert_eq!(selected_by(&project, FILL.0, FILL.1), ["one", "two"]);
    project.ok(&["run", "two"]);
    assert_eq!(selected_by(&project, FILL.0, FILL.1), ["one", "two"]);
    project.edit("main.c", FILL.0, FILL.1);
    let said = String::from_utf8(project.edgewise(&["test"]).stderr).unwrap();
    assert!(said.contains("1 passed, 1 failed"), "{said}");
    assert_eq!(project.selected(), ["two"]);
}

#[test]
fn a_suite_may_say_that_its_cases_are_independent() {
    for command in ["./prog {cases}", "./prog"] {
        let project = recorded(&source(TABLE, BY_TABLE), command, "independent = true\n");
        assert_eq!(selected_by(&project, FILL.0, FILL.1), ["one"], "{command}");
        // A suite that no longer says so does not keep what was recorded by that word.
        configure(&project, command, "");
        assert_eq!(project.selected(), ["one", "three", "two"], "{command}");
    }
    let project = recorded(&source(TABLE, BY_TABLE), "./prog {case}", "");
    configure(&project, "./prog {case}", "independent = true\n");
    let output = project.edgewise(&["select"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("`independent`"), "{said}");
}

/// As Check and Criterion do it: nothing of one child is left for the next, but what the parent
/// ran before counts for each.
#[test]
fn a_forked_case_counts_what_its_parent_ran_and_not_its_siblings() {
    let run = "
#define RUN(i) prepare(i); if (fork() == 0) { \\
    edgewise_test_begin(cases[i].name); cases[i].run(); edgewise_test_end(); exit(0); } wait(NULL);
static int prepared;
static void prepare(int n) { prepared += n + 1; }";
    let source = source(&format!("{TABLE}{run}"), BY_TABLE);
    let project = recorded(&source, "./prog", "");
    assert_eq!(selected_by(&project, FILL.0, FILL.1), ["one", "two"]);
    assert_eq!(selected_by(&project, OWN.0, OWN.1), ["three"]);
    assert_eq!(
        selected_by(&project, "prepared += n + 1;", "prepared += n + 2;"),
        ["one", "three", "two"]
    );
}

/// A case that the parent ran itself is left to a child that runs another.
#[test]
fn a_forked_case_counts_the_cases_that_its_parent_ran() {
    let run = "
#define RUN(i) if (i == 0 || fork() == 0) { \\
    edgewise_test_begin(cases[i].name); cases[i].run(); edgewise_test_end(); if (i) exit(0); } \\
    else wait(NULL);";
    let project = recorded(&source(&format!("{TABLE}{run}"), BY_TABLE), "./prog", "");
    assert_eq!(selected_by(&project, FILL.0, FILL.1), ["one", "three", "two"]);
    let two = ("look(2) != 14", "look(2) != 2 * 7");
    assert_eq!(selected_by(&project, two.0, two.1), ["two"]);
}

/// Round after round of the same cases: the first round of one counts for all in the second.
#[test]
fn a_case_that_runs_again_counts_what_ran_in_between() {
    let run = "
#define RUN(i) if (i == 2) for (int k = 0; k < 300; k++) { \\
    edgewise_test_begin(cases[k % 3].name); cases[k % 3].run(); edgewise_test_end(); }";
    let project = recorded(&source(&format!("{TABLE}{run}"), BY_TABLE), "./prog", "");
    assert_eq!(selected_by(&project, OWN.0, OWN.1), ["one", "three", "two"]);
}

/// A harness that traces a test of a suite with a command that does not run its case.
#[test]
fn a_traced_command_that_does_not_run_the_case_is_no_pass() {
    let project = recorded(&source(TABLE, BY_TABLE), "./prog", "");
    project.edgewise(&["trace", "--test", "t/two", "--", "./prog", "three"]);
    assert_eq!(project.selected(), ["two"]);
}

/// A new image of the process knows nothing of the cases before it, but may be handed what they left.
#[test]
fn cases_before_an_exec_count_for_the_cases_behind_it() {
    let setup = "
static int f(int n) { return n > 1 ? n * 2 : n; }
static int own(int n) { return n + 40; }
static int state;
#define NEXT(name) char text[16]; sprintf(text, \"%d\", state); setenv(\"STATE\", text, 0); \\
    execl(\"/proc/self/exe\", \"prog\", name, (char *)0); abort();
#define STATE atoi(getenv(\"STATE\"))
#define RUN(i) edgewise_test_begin(cases[i].name); cases[i].run(); edgewise_test_end(); after(i);
static void after(int i);
";
    let hand_on = [
        // The process itself.
        "if (i == 0) { NEXT(\"two\") } if (i == 1) { NEXT(\"three\") }",
        // A child, which gets what its parent computed.
        "if (i < 2) { int s; if (!fork()) { if (i == 0) { NEXT(\"two\") } NEXT(\"three\") } wait(&s); exit(s != 0); }",
        // A child of the new image.
        "if (i == 0) { NEXT(\"two\") } \
         if (i == 1) { int s; if (!fork()) { edgewise_test_begin(\"three\"); three(); edgewise_test_end(); exit(0); } wait(&s); exit(s != 0); }",
    ];
    let cases = ["state = f(3);", "if (STATE != 6) abort();", "if (STATE + own(2) != 48) abort();"];
    for after in hand_on {
        let text = source(setup, cases) + &format!("static void after(int i) {{ {after} }}\n");
        let project = recorded(&text, "./prog", "");
        let edit = ("n * 2", "n * 3");
        assert_eq!(selected_by(&project, edit.0, edit.1), ["one", "three", "two"], "{after}");
        assert_eq!(selected_by(&project, OWN.0, OWN.1), ["three"], "{after}");
    }
}
