//! `edgewise select --explain`: why a test is selected, and why another may be
//! skipped.

mod support;

use serde_json::Value;
use support::Project;

const MAIN: &str = r#"
#include <stdio.h>

static int twice(int n)
{
    return n + n;
}

static int never(int n)
{
    return n - 1;
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 2)
        printf("%d\n", twice(argc));
    else if (argc > 1)
        puts("one");
    else
        puts("none");
    return argc > 9 ? never(argc) : 0;
}
"#;

fn project() -> Project {
    let project = Project::of_source(MAIN, &[("none", ""), ("one", "a"), ("two", "a b")]);
    project.write("data.txt", "1\n");
    project.write("other.txt", "1\n");
    project.write("tests.list", "none ./prog <data.txt\none ./prog a\ntwo ./prog a b\n");
    project.record();
    project
}

#[track_caller]
fn explain(project: &Project, test: &str) -> (String, Value) {
    let text = project.ok(&["select", "--explain", test]);
    let value: Value =
        serde_json::from_str(&project.ok(&["select", "--explain", test, "--format", "json"]))
            .unwrap();
    (text, value["tests"][0].clone())
}

#[test]
fn a_selected_test_has_all_its_reasons() {
    let project = project();
    project.edit("main.c", "return n + n;", "return 2 * n;");
    project.edit("main.c", "return argc > 9", "return argc > 8");
    let (text, value) = explain(&project, "t/two");
    assert!(text.starts_with("t/two: selected\n"), "{text}");
    assert_eq!(value["verdict"], "selected");
    assert!(
        text.contains("- main.c:6: return n + n;") && text.contains("+ main.c:6: return 2 * n;"),
        "{text}"
    );
    assert!(text.contains("twice (main.c:4): it enters it"), "{text}");
    let reasons = value["reasons"].as_array().unwrap();
    assert!(
        !reasons.is_empty() && reasons.iter().all(|reason| reason["rule"] == "edge"),
        "{value}"
    );
}

#[test]
fn a_skipped_test_has_what_speaks_for_skipping_it() {
    let project = project();
    project.edit("main.c", "return n + n;", "return 2 * n;");
    project.edit("main.c", "puts(\"one\")", "puts(\"eins\")");
    project.write("other.txt", "2\n");
    let (text, value) = explain(&project, "none");
    assert!(text.starts_with("t/none: may be skipped\n"), "{text}");
    for line in [
        "the last time it passed, in ",
        "it ran prog: 1 unit, 1 changed since",
        "twice (main.c:4): it does not enter it",
        "main (main.c:14): it enters it; these ways lead elsewhere now:",
        "`T` to main.c:20: does not select it",
        "main.c changed: compared as code",
        "other.txt changed: it does not use it",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert_eq!(value["verdict"], "skipped");
    assert_eq!(value["reasons"], serde_json::json!([]));
    assert_eq!(value["last"]["outcome"], "passed");
    let files = value["files"].as_array().unwrap().iter();
    let files: Vec<_> =
        files.map(|f| (f["file"].as_str().unwrap(), f["role"].as_str().unwrap())).collect();
    assert_eq!(files, [("main.c", "code"), ("other.txt", "unused")]);

    // Nothing changed at all.
    project.write("main.c", MAIN);
    project.write("other.txt", "1\n");
    let (text, _) = explain(&project, "none");
    assert!(text.contains("1 unit, all as they were"), "{text}");
    assert!(text.contains("no procedure in these programs changed"), "{text}");
}

#[test]
fn files_and_states_are_reasons_too() {
    let project = project();
    project.write("data.txt", "2\n");
    project
        .write("tests.list", "none ./prog <data.txt\none ./prog a\ntwo ./prog a b\nnew ./prog\n");
    let (text, _) = explain(&project, "none");
    assert!(text.contains("t/none: selected\n    data.txt changed, and it uses it"), "{text}");
    assert!(text.contains("data.txt changed: it uses it"), "{text}");
    let (text, value) = explain(&project, "new");
    assert!(text.contains("t/new: selected\n    it is new"), "{text}");
    assert_eq!(value["last"], Value::Null);
    let (text, _) = explain(&project, "one");
    assert!(text.contains("t/one: may be skipped"), "{text}");
}

#[test]
fn excluded_changes_are_told_from_safe_skips() {
    let project = project();
    let config = project.read("edgewise.toml");
    project.write("edgewise.toml", &format!("{config}[exclude]\nprocedures = [\"twice\"]\n"));
    project.edit("main.c", "return n + n;", "return 2 * n;");
    let (text, value) = explain(&project, "two");
    assert!(text.starts_with("t/two: skipped because [exclude] says so\n"), "{text}");
    assert!(
        text.contains("changes in excluded code that it runs:\n        main.c:6 in twice"),
        "{text}"
    );
    assert_eq!(value["excluded"].as_array().unwrap().len(), 1);
    let (text, _) = explain(&project, "one");
    assert!(text.starts_with("t/one: may be skipped\n"), "{text}");
}

#[test]
fn a_name_that_no_test_has_is_an_error_with_a_hint() {
    let project = project();
    let output = project.edgewise(&["select", "--explain", "tw"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("no test is called `tw`\nhint: perhaps t/two"), "{text}");
}
