//! `edgewise run --shadow`: everything runs, and a selection that nobody follows
//! is held against what happened.

use crate::support::{Project, sample};
use serde_json::Value;
use std::process::Output;

const SOURCE: &str = r#"
#include <stdio.h>
#include <stdlib.h>

static int aside(void)
{
    return 1;
}

int main(int argc, char **argv)
{
    (void)argv;
    if (getenv("ASIDE"))
        printf("%d\n", aside());
    if (argc > 1)
        puts("more");
    else
        puts("one");
    return 0;
}
"#;

fn project() -> Project {
    let project = Project::of_source(SOURCE, &[("one", ""), ("more", "x")]);
    project.write("tests.list", "one ./prog\nmore test -z \"$BREAK\" && ./prog x\n");
    project.record();
    project
}

/// Runs in shadow with a variable set that nobody told edgewise about.
fn shadow(project: &Project, variable: &str) -> (Output, Value) {
    let mut command = project.command();
    command.args(["run", "--shadow", "--json", "results.out"]);
    if !variable.is_empty() {
        command.env(variable, "1");
    }
    let output = command.output().unwrap();
    let results: Value = serde_json::from_str(&project.read("results.out")).unwrap();
    (output, results["shadow"].clone())
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn everything_runs_and_is_recorded() {
    let project = project();
    project.edit("main.c", "puts(\"one\")", "puts(\"eins\")");
    project.ok(&["build"]);
    let (output, shadow) = shadow(&project, "");
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("2 passed, 0 failed"), "{text}");
    let counts = "of 2 tests that ran, 1 would have been selected and 1 skipped";
    assert!(text.contains(counts), "{text}");
    assert!(text.contains("none of the skipped tests failed"), "{text}");
    assert_eq!(shadow["selected"], 1);
    assert_eq!(shadow["skipped"], serde_json::json!(["t/more"]));
    for empty in ["missed", "other_edges", "not_compared"] {
        assert_eq!(shadow[empty], serde_json::json!([]), "{empty}");
    }
    let (saved, all) = (&shadow["seconds_saved"], &shadow["seconds"]);
    assert!(saved.as_f64().unwrap() > 0.0 && saved.as_f64() < all.as_f64(), "{shadow}");
    assert_eq!(project.selected(), [""; 0], "what ran is recorded");
}

#[test]
fn a_skipped_test_that_fails_is_shown_loudly() {
    let project = project();
    let (output, shadow) = shadow(&project, "BREAK");
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(5), "{text}");
    assert!(text.contains("SHADOW MISS: 1 test that would have been skipped"), "{text}");
    assert!(text.contains("    t/more: exit status: 1"), "{text}");
    assert_eq!(shadow["missed"][0]["name"], "t/more");
    assert_eq!(project.selected(), ["more"], "a test that failed stays selected");
}

#[test]
fn a_selected_test_that_fails_is_no_miss() {
    let project = project();
    project.edit("main.c", "puts(\"more\")", "return puts(\"more\") > 0");
    project.ok(&["build"]);
    let (output, shadow) = shadow(&project, "");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(shadow["missed"], serde_json::json!([]));
    assert_eq!(shadow["skipped"], serde_json::json!(["t/one"]));
}

#[test]
fn a_skipped_test_that_goes_another_way_is_named_with_the_procedures() {
    let project = project();
    let (output, shadow) = shadow(&project, "ASIDE");
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("warning: 2 skipped tests passed, but took other edges"), "{text}");
    let expected = serde_json::json!({ "name": "t/one", "procedures": ["aside", "main"] });
    assert_eq!(shadow["other_edges"][0], expected);
}

#[test]
fn without_a_history_everything_would_have_been_selected() {
    let project = Project::of_source(SOURCE, &[("one", "")]);
    project.ok(&["build"]);
    let (output, shadow) = shadow(&project, "");
    assert!(output.status.success());
    assert_eq!((&shadow["selected"], &shadow["skipped"]), (&1.into(), &serde_json::json!([])));
}

#[test]
fn tests_that_are_not_run_do_not_count() {
    let project = project();
    let mut command = project.command();
    command.args(["run", "--shadow", "--json", "results.out", "one"]).env("BREAK", "1");
    assert!(command.output().unwrap().status.success());
    let results: Value = serde_json::from_str(&project.read("results.out")).unwrap();
    assert_eq!(results["shadow"]["skipped"], serde_json::json!(["t/one"]));
}

#[test]
fn skipped_tests_of_the_sample_take_the_edges_that_they_are_carried_to() {
    let project = sample();
    project.record();
    project.edit(
        "lib/stats.c",
        "return (values[middle - 1] + values[middle]) / 2.0;",
        "return values[middle - 1] + (values[middle] - values[middle - 1]) / 2.0;",
    );
    project.ok(&["build"]);
    project.ok(&["run", "--shadow", "--json", "build/results.json"]);
    let results: Value = serde_json::from_str(&project.read("build/results.json")).unwrap();
    let shadow = &results["shadow"];
    assert_eq!(shadow["selected"], 3);
    assert_eq!(shadow["skipped"].as_array().unwrap().len(), 71);
    assert_eq!(shadow["other_edges"], serde_json::json!([]));
    assert_eq!(shadow["not_compared"], serde_json::json!([]));
}
