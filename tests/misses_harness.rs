//! Tests of a harness that calls `edgewise trace` inside of its own check: the exit status of the command
//! says nothing of the check. Each of these was once a pass.

use crate::support::Project;

const SOURCE: &str = "#include <stdio.h>\n#include <stdlib.h>\n\
    static int twice(int n) { return 2 * n; }\n\
    int main(int argc, char **argv)\n{\n    if (argc < 2)\n        return 2;\n\
    \x20   printf(\"%d\\n\", twice(atoi(argv[1])));\n    return 0;\n}\n";

/// Compares what the program prints, and says whether that is right if `says` is not empty.
const HARNESS: &str = "#!/bin/sh\n\
    [ \"$1\" != --list ] || { echo two; exit; }\n\
    got=$(\"$EDGEWISE\" trace --test h/two -- ./prog 2)\n\
    if [ \"$got\" = \"$(cat expected)\" ]; then verdict=passed; else verdict=failed; fi\n\
    [ -z \"$SAYS\" ] || \"$EDGEWISE\" trace --test h/two --verdict $verdict\n\
    [ $verdict = passed ]\n";

fn built() -> Project {
    let project = Project::of_source(SOURCE, &[]);
    project.write("edgewise.toml", "[build]\ncommand = \"make -s\"\n");
    project.write("harness.sh", HARNESS);
    project.write("expected", "4\n");
    project.ok(&["build"]);
    project
}

/// Runs the harness: whether its check passed.
fn harness(project: &Project, says: &str) -> bool {
    let mut command = std::process::Command::new("sh");
    command.arg("harness.sh").current_dir(project.root()).env_remove("EDGEWISE_TRACE");
    command.env("EDGEWISE", env!("CARGO_BIN_EXE_edgewise")).env("SAYS", says);
    command.status().unwrap().success()
}

fn stderr(project: &Project, arguments: &[&str]) -> (Option<i32>, String) {
    let output = project.edgewise(arguments);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

const EDIT: (&str, &str) = ("return 2 * n;", "return 3 * n;");

#[test]
fn a_traced_command_that_exits_with_0_is_no_pass_of_its_harness() {
    let project = built();
    assert!(harness(&project, "yes"));
    assert_eq!(project.selected(), [""; 0]);
    project.edit("main.c", EDIT.0, EDIT.1);
    assert_eq!(project.selected(), ["two"]);
    // The bare command would end well.
    for _ in 0..2 {
        let (code, said) = stderr(&project, &["test"]);
        assert_eq!(code, Some(4), "{said}");
        assert!(!said.contains("1 passed") && said.contains("only a harness"), "{said}");
        assert_eq!(project.selected(), ["two"]);
    }
    let (code, said) = stderr(&project, &["run", "h/two"]);
    assert!(code == Some(4) && said.contains("0 passed"), "{said}");
    assert_eq!(project.selected(), ["two"]);
    // The harness fails, whether it says so or not.
    for says in ["", "yes"] {
        assert!(!harness(&project, says));
        assert_eq!(project.selected(), ["two"]);
    }
    project.edit("main.c", EDIT.1, EDIT.0);
    project.ok(&["build"]);
    assert!(harness(&project, "yes"));
    assert_eq!(project.selected(), [""; 0]);
}

#[test]
fn a_test_whose_harness_says_nothing_stays_selected_with_the_reason() {
    let project = built();
    assert!(harness(&project, ""));
    assert_eq!(project.selected(), ["two"]);
    let (_, said) = stderr(&project, &["select"]);
    assert!(said.contains("its harness has not said whether it passed"), "{said}");
    let explained = project.ok(&["explain", "h/two"]);
    assert!(explained.contains("harness"), "{explained}");
    let (code, doctor) = project.says(&["doctor"]);
    assert!(code == 7 && doctor.contains("--verdict passed"), "{doctor}");
}

/// Neither the expected output nor the harness is seen to be read.
#[test]
fn what_the_harness_reads_beside_the_command_counts() {
    for (file, from, to) in [("expected", "4\n", "5\n"), ("harness.sh", "./prog 2", "./prog 3")] {
        let project = built();
        assert!(harness(&project, "yes"));
        project.edit(file, from, to);
        assert_eq!(project.selected(), ["two"], "{file}");
    }
}

#[test]
fn a_harness_that_is_a_suite_runs_its_tests_again() {
    let project = built();
    let suite = "[build]\ncommand = \"make -s\"\n[[suite]]\nname = \"h\"\nkind = \"cases\"\n\
                 list = \"sh harness.sh --list\"\ncommand = \"sh harness.sh {case}\"\n";
    project.write("edgewise.toml", suite);
    let with = |arguments: &[&str]| {
        let mut command = project.command();
        let output = command.args(arguments).env("EDGEWISE", env!("CARGO_BIN_EXE_edgewise"));
        let output = output.env("SAYS", "yes").output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(with(&["run"]).0, Some(0));
    assert_eq!(project.selected(), [""; 0]);
    // Traced by the harness alone, it waits for the word of the harness.
    assert!(harness(&project, ""));
    assert_eq!(project.selected(), ["two"]);
    // The first verdict cannot tell the run before it from a part of the same test.
    assert!(harness(&project, "yes"));
    assert_eq!(project.selected(), ["two"]);
    assert!(harness(&project, "yes"));
    assert_eq!(project.selected(), [""; 0]);
    project.edit("main.c", EDIT.0, EDIT.1);
    let (code, said) = with(&["test"]);
    assert!(code == Some(1) && said.contains("0 passed, 1 failed"), "{said}");
    assert_eq!(project.selected(), ["two"]);
}

#[test]
fn a_command_that_is_the_whole_test_is_judged_by_its_exit_status() {
    let project = built();
    let whole = || {
        let command = "test $(./prog 2) = $(cat expected)";
        let all = ["trace", "--test", "h/w", "--verdict", "exit-status", "--", "sh", "-c", command];
        project.edgewise(&all).status.code()
    };
    project.write("expected", "5\n");
    assert_eq!(whole(), Some(1));
    assert_eq!(project.selected(), ["w"]);
    project.write("expected", "4\n");
    assert_eq!(whole(), Some(0));
    assert_eq!(project.selected(), [""; 0]);
    // It is not replayed all the same.
    project.edit("main.c", EDIT.0, EDIT.1);
    assert_eq!(stderr(&project, &["test"]).0, Some(4));
    assert_eq!(project.selected(), ["w"]);
}

/// A program that has to fail, and does.
#[test]
fn a_harness_may_want_a_command_to_fail() {
    let project = built();
    assert_eq!(
        project.edgewise(&["trace", "--test", "h/none", "--", "./prog"]).status.code(),
        Some(2)
    );
    assert_eq!(project.selected(), ["none"]);
    project.ok(&["trace", "--test", "h/none", "--verdict", "passed"]);
    assert_eq!(project.selected(), [""; 0]);
    project.edit("main.c", "argc < 2", "argc < 1");
    assert_eq!(project.selected(), ["none"]);
}

/// A source with a procedure for each command.
const TWO: &str = "#include <stdlib.h>\n\
    static int one(int n) { return n + 1; }\n\
    static int two(int n) { return n * 2; }\n\
    int main(int argc, char **argv)\n{\n    int n = argc > 1 ? atoi(argv[1]) : 0;\n\
    \x20   if (n == 1)\n        return one(1) != 2;\n    return two(2) != 4;\n}\n";

fn built_of_two() -> Project {
    let project = built();
    project.write("main.c", TWO);
    project.ok(&["build"]);
    project
}

/// Traces commands that are the whole test, all of them under one name: their exit codes.
fn whole(project: &Project, arguments: &[&str]) -> Vec<Option<i32>> {
    let trace = |argument: &&str| {
        let all = ["trace", "--test", "h/t", "--verdict", "exit-status", "--", "./prog", argument];
        project.edgewise(&all).status.code()
    };
    arguments.iter().map(trace).collect()
}

/// Rows are kept of one command.
#[test]
fn a_test_of_two_traced_commands_is_not_passed_by_the_second() {
    let project = built();
    for argument in ["1", "2"] {
        project.ok(&["trace", "--test", "h/t", "--", "./prog", argument]);
    }
    project.ok(&["trace", "--test", "h/t", "--verdict", "passed"]);
    assert_eq!(project.selected(), ["t"]);
    // Nor is it by one of the commands alone, until the program changes.
    for argument in ["1", "1"] {
        project.ok(&["trace", "--test", "h/t", "--", "./prog", argument]);
        project.ok(&["trace", "--test", "h/t", "--verdict", "passed"]);
        assert_eq!(project.selected(), ["t"]);
    }
    project.edit("main.c", "return 2 * n;", "return n + n;");
    project.ok(&["build"]);
    project.ok(&["trace", "--test", "h/t", "--", "./prog", "1"]);
    project.ok(&["trace", "--test", "h/t", "--verdict", "passed"]);
    assert_eq!(project.selected(), [""; 0]);
}

#[test]
fn each_command_under_one_name_counts() {
    let listed = "[build]\ncommand = \"make -s\"\n[[suite]]\nname = \"h\"\nkind = \"list\"\n\
                  file = \"tests.list\"\n";
    for config in ["[build]\ncommand = \"make -s\"\n", listed] {
        let project = built_of_two();
        project.write("edgewise.toml", config);
        project.write("tests.list", "t ./prog 1 && ./prog 2\n");
        assert_eq!(whole(&project, &["1", "2"]), [Some(0), Some(0)]);
        assert_eq!(project.selected(), ["t"]);
        let (_, said) = stderr(&project, &["select"]);
        assert!(said.contains("several commands"), "{said}");
        // A repeated command does not hide the other one.
        whole(&project, &["2", "2"]);
        assert_eq!(project.selected(), ["t"]);
        // Nor does a new version, once it runs both again.
        project.edit("main.c", "return n + 1;", "return n + 2;");
        project.ok(&["build"]);
        assert_eq!(whole(&project, &["1", "2"]), [Some(1), Some(0)]);
        assert_eq!(project.selected(), ["t"]);
        assert_eq!(whole(&project, &["2"]), [Some(0)]);
        assert_eq!(project.selected(), ["t"]);
    }
}

#[test]
fn verdicts_of_two_commands_under_one_name_do_not_hide_each_other() {
    let project = built_of_two();
    for verdicts in [["passed", "passed"], ["failed", "passed"], ["passed", "failed"]] {
        for (argument, verdict) in ["1", "2"].iter().zip(verdicts) {
            project.ok(&["trace", "--test", "h/t", "--", "./prog", argument]);
            project.ok(&["trace", "--test", "h/t", "--verdict", verdict]);
        }
        assert_eq!(project.selected(), ["t"], "{verdicts:?}");
    }
}

/// The same command again is the next run of the test.
#[test]
fn a_command_that_is_run_again_replaces_its_result() {
    let project = built_of_two();
    assert_eq!(whole(&project, &["1"]), [Some(0)]);
    assert_eq!(project.selected(), [""; 0]);
    project.edit("main.c", "return n + 1;", "return n + 2;");
    project.ok(&["build"]);
    assert_eq!(whole(&project, &["1"]), [Some(1)]);
    assert_eq!(project.selected(), ["t"]);
    project.edit("main.c", "return n + 2;", "return 1 + n;");
    project.ok(&["build"]);
    assert_eq!(whole(&project, &["1", "1"]), [Some(0), Some(0)]);
    assert_eq!(project.selected(), [""; 0]);
}

/// Arguments, redirections and here-documents are in the harness, which is not seen to be read.
#[test]
fn an_edit_of_a_harness_selects_tests_that_exit_statuses_judge() {
    let project = built();
    let harness = "trace() { \"$EDGEWISE\" trace --test h/$1 --verdict exit-status -- sh -c \"$2\"; }\n\
                   trace argument 'test $(./prog 2) = 4'\n\
                   trace input 'read n; test $(./prog $n) = 4' <<X\n2\nX\n";
    project.write("harness.sh", harness);
    assert!(self::harness(&project, "") && project.selected().is_empty());
    project.edit("harness.sh", "\n2\n", "\n3\n");
    assert_eq!(project.selected(), ["argument", "input"]);
    project.edit("harness.sh", "\n3\n", "\n2\n");
    project.edit("harness.sh", "./prog 2", "./prog 3");
    assert_eq!(project.selected(), ["argument", "input"]);
}

/// An empty variable says nothing of a test around the command.
#[test]
fn an_empty_variable_does_not_keep_a_command_from_being_traced() {
    let project = built();
    let trace = |arguments: &[&str]| {
        let mut command = project.command();
        let command = command.env("EDGEWISE_TRACE", "").args(["trace", "--test", "h/t"]);
        assert!(command.args(arguments).output().unwrap().status.success(), "{arguments:?}");
    };
    trace(&["--", "./prog", "2"]);
    assert_eq!(project.selected(), ["t"]);
    trace(&["--verdict", "passed"]);
    assert_eq!(project.selected(), [""; 0]);
    project.edit("main.c", EDIT.0, EDIT.1);
    assert_eq!(project.selected(), ["t"]);
}

#[test]
fn a_verdict_needs_a_run() {
    let project = built();
    let passed = ["trace", "--test", "h/t", "--verdict", "passed"];
    assert_eq!(stderr(&project, &passed).0, Some(2));
    project.ok(&["trace", "--test", "h/t", "--", "./prog", "1"]);
    project.ok(&passed);
    assert_eq!(stderr(&project, &passed).0, Some(2), "it was judged");
    assert_eq!(project.selected(), [""; 0]);
    project.ok(&["trace", "--test", "h/t", "--verdict", "failed"]);
    assert_eq!(project.selected(), ["t"]);
    assert_eq!(stderr(&project, &["trace", "--test", "h/t"]).0, Some(2));
}
