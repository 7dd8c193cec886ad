//! `[exclude]`: changes in driver, set-up and oracle code do not select and are
//! listed; everything else is compared as ever.

use crate::support::Project;
use serde_json::Value;

const NONE: [&str; 0] = [];

const DRIVER: &str = r#"
#include <stdio.h>
#include <string.h>
#include "core.h"

struct state { int ready; };
static struct state state;

static void set_up(struct state *s)
{
    s->ready = 1;
}

int check(int found)
{
    if (found < 0)
        return 1;
    return 0;
}

static int (*const calls[])(int) = { core_add, core_double };

static int run(int which)
{
    switch (which) {
    case 0:
        return calls[0](1);
    case 1:
        return calls[1](2);
    default:
        return core_last(3);
    }
}

int main(int argc, char **argv)
{
    set_up(&state);
    (void)argv;
    printf("ready %d\n", state.ready);
    return check(run(argc - 1));
}
"#;

const CORE_H: &str = "int core_add(int n);\nint core_double(int n);\nint core_last(int n);\n";

const CORE: &str = "\
#include \"core.h\"
int core_add(int n)
{
    return n + 1;
}
int core_double(int n)
{
    return n * 2;
}
int core_last(int n)
{
    return n - 1;
}
";

/// Three tests, each through one procedure of the core; with what is excluded.
fn project(exclude: &str) -> Project {
    let project = Project::empty();
    project.write("driver.c", DRIVER);
    project.write("core.c", CORE);
    project.write("core.h", CORE_H);
    project.write(
        "Makefile",
        "prog: driver.c core.c core.h Makefile\n\t$(CC) -O1 -o prog driver.c core.c\n",
    );
    project.write_config();
    project.write("tests.list", "add ./prog\ndouble ./prog x\nlast ./prog x y\n");
    project.record();
    exclude_in(&project, exclude);
    project
}

fn exclude_in(project: &Project, exclude: &str) {
    let config = project.read("edgewise.toml");
    project.write("edgewise.toml", &format!("{config}[exclude]\n{exclude}\n"));
}

/// Excluded changes as `file:line procedure`, each with its tests.
fn excluded(selection: &Value) -> Vec<(String, Vec<&str>)> {
    let changes = selection["excluded"].as_array().unwrap().iter().map(|excluded| {
        let change = &excluded["change"];
        let place = match change["rule"].as_str() {
            Some("edge" | "procedure-gone") => {
                let (old, procedure) = (&change["old"], change["procedure"].as_str().unwrap());
                format!("{}:{} {procedure}", old["file"].as_str().unwrap(), old["line"])
            }
            _ => change["what"].as_str().unwrap().to_string(),
        };
        let tests = excluded["tests"].as_array().unwrap().iter();
        (place, tests.map(|test| test.as_str().unwrap()).collect())
    });
    changes.collect()
}

#[test]
fn an_excluded_change_selects_nobody_and_is_listed() {
    let project = project("procedures = [\"set_up\"]");
    project.edit("driver.c", "s->ready = 1;", "s->ready = 2;");
    let selection = project.select_json(&[]);
    assert_eq!(selection["selected"], serde_json::json!([]));
    let all = vec!["t/add", "t/double", "t/last"];
    assert_eq!(excluded(&selection), [("driver.c:11 set_up".to_string(), all)]);
    let output = project.edgewise(&["select"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "{text}");
    assert!(text.contains("all 3 skipped, 3 of them because [exclude] says so"), "{text}");
    let line = "driver.c:11 in set_up: would have selected 3 tests, 3 more than now";
    assert!(text.contains(line), "{text}");
}

#[test]
fn without_exclusion_the_same_change_selects() {
    let project = project("");
    project.edit("driver.c", "s->ready = 1;", "s->ready = 2;");
    assert_eq!(project.selected(), ["add", "double", "last"]);
    assert_eq!(project.select_json(&[])["excluded"], serde_json::json!([]));
}

#[test]
fn what_comes_behind_an_excluded_procedure_is_compared() {
    // Nobody passes set_up unchanged, and yet main goes on behind it.
    let project = project("procedures = [\"set_up\"]");
    project.edit("driver.c", "s->ready = 1;", "s->ready = 2;");
    for algorithm in ["auto", "rh", "partial", "full", "valid", "procedure"] {
        assert_eq!(project.ok(&["select", "--algorithm", algorithm]), "", "{algorithm}");
    }
    project.edit(
        "driver.c",
        "case 1:\n        return calls[1](2);",
        "case 1:\n        return calls[1](7);",
    );
    let selection = project.select_json(&[]);
    let of = |test: &str| {
        let all = selection["selected"].as_array().unwrap().iter();
        let mut reasons = all.filter(|selected| selected["name"] == test);
        reasons.next().unwrap()["reasons"].to_string()
    };
    assert!(of("t/double").contains("\"edge\""), "{selection}");
    assert!(!of("t/add").contains("\"edge\""), "{selection}");
}

/// Whoever runs excluded code that changed may do anything in the rest: as soon as
/// that changes, it is run.
#[test]
fn what_an_excluded_driver_calls_is_compared() {
    // The whole driver differs from its first statement on.
    let project = project("files = [\"driver.c\"]");
    project.edit(
        "driver.c",
        "    set_up(&state);\n",
        "    puts(\"begin\");\n    set_up(&state);\n",
    );
    assert_eq!(project.selected(), NONE);
    project.edit("core.c", "return n * 2;", "return n + n;");
    assert_eq!(project.selected(), ["add", "double", "last"]);
    let selection = project.select_json(&[]);
    let text = selection.to_string();
    assert!(text.contains("excluded code changed, so that it is not known what it runs"), "{text}");
    let listed = excluded(&selection);
    assert!(
        listed.iter().any(|(place, tests)| place.ends_with(" main") && tests.len() == 3),
        "{listed:?}"
    );
}

/// It ran, so that it is known again what it does.
#[test]
fn once_it_ran_only_what_it_does_counts() {
    let project = project("files = [\"driver.c\"]");
    project.edit(
        "driver.c",
        "    set_up(&state);\n",
        "    set_up(&state);\n    puts(\"begin\");\n",
    );
    project.edit("core.c", "return n * 2;", "return n + n;");
    project.ok(&["test"]);
    assert_eq!(project.selected(), NONE);
    project.edit("core.c", "return n - 1;", "return n - 2;");
    assert_eq!(project.selected(), ["last"]);
}

#[test]
fn excluded_code_that_reads_a_variable() {
    let project = project("files = [\"driver.c\"]");
    let variable = "extern int limit;\n    if (found < limit)";
    project.edit("driver.c", "if (found < 0)", variable);
    project.write("core.c", &format!("{CORE}int limit = 0;\n"));
    project.record();
    project.edit("core.c", "limit = 0", "limit = -1");
    for algorithm in ["auto", "rh", "rh-intra", "partial", "full", "valid", "procedure"] {
        let selected = project.ok(&["select", "--algorithm", algorithm]);
        assert_eq!(selected.lines().count(), 3, "{algorithm}: {selected}");
    }
    // So it is behind a change that is passed over.
    project.edit("driver.c", "    set_up(&state);\n", "    puts(\"a\");\n    set_up(&state);\n");
    assert_eq!(project.selected().len(), 3);
    // A variable of the excluded code is its own.
    project.edit("core.c", "limit = -1", "limit = 0");
    assert_eq!(project.selected(), NONE);
    project.edit("driver.c", "struct state state;", "struct state state = { 7 };");
    assert_eq!(project.selected(), NONE);
}

/// Excluded code is as it was, and means something else.
#[test]
fn excluded_code_whose_headers_change() {
    for (before, after) in [
        ("#define STEP 1\n", "#define STEP 2\n"),
        ("enum { STEP = 1 };\n", "enum { STEP = 2 };\n"),
        ("static const int STEP = 1;\n", "static const int STEP = 2;\n"),
    ] {
        let project = project("files = [\"driver.c\"]");
        project.edit("driver.c", "return core_last(3);", "return core_last(3 + STEP);");
        project.write("core.h", &format!("{before}{CORE_H}"));
        project.record();
        project.edit("core.h", before, after);
        assert!(project.selected().contains(&String::from("last")), "{before}");
        // Beside an edit of the driver it cannot be told who is concerned.
        project.edit(
            "driver.c",
            "    set_up(&state);\n",
            "    puts(\"a\");\n    set_up(&state);\n",
        );
        assert_eq!(project.selected().len(), 3, "{before}");
    }
}

#[test]
fn excluded_code_that_calls_another() {
    let project = project("files = [\"driver.c\"]");
    project.edit("driver.c", "return core_last(3);", "return core_add(3);");
    assert_eq!(project.selected(), NONE);
    project.ok(&["test"]);
    // Only one took the changed way, and its rows know nothing of core_add.
    project.edit("core.c", "return n + 1;", "return n + 7;");
    assert_eq!(project.selected(), ["add", "last"]);
    assert_eq!(project.ok(&["select", "--algorithm", "procedure"]), "t/add\nt/last\n");
}

#[test]
fn an_excluded_script_that_runs_another_program() {
    let project = Project::empty();
    for name in ["one", "two"] {
        project.write(&format!("{name}.c"), "int main(void) { return 0; }\n");
    }
    project.write("Makefile", "all: one two\n%: %.c\n\t$(CC) -o $@ $<\n");
    project.write_config();
    project.write("run.sh", "./one && cat a.txt\n");
    project.write("a.txt", "a\n");
    project.write("b.txt", "b\n");
    project.write("tests.list", "script sh run.sh\nother ./two\n");
    project.record();
    exclude_in(&project, "files = [\"*.sh\"]");
    project.write("run.sh", "./two && cat b.txt\n");
    assert_eq!(project.selected(), NONE);
    project.write("b.txt", "c\n");
    assert_eq!(project.selected(), ["script"]);
    project.write("b.txt", "b\n");
    assert_eq!(project.selected(), NONE);
    project.edit("two.c", "return 0;", "return 0 * 1;");
    assert_eq!(project.selected(), ["other", "script"]);
}

#[test]
fn an_excluded_procedure_that_is_gone_is_listed() {
    let project = project("files = [\"driver.c\"]");
    let text = project.read("driver.c").replace("set_up", "prepare");
    project.write("driver.c", &text);
    let selection = project.select_json(&[]);
    assert_eq!(selection["selected"], serde_json::json!([]));
    let listed = excluded(&selection);
    assert!(listed.iter().any(|(place, _)| place == "driver.c:9 set_up"), "{listed:?}");
}

#[test]
fn a_procedure_that_leaves_excluded_code_is_compared() {
    let project = project("files = [\"driver.c\"]");
    let check =
        "int check(int found)\n{\n    if (found < 0)\n        return 1;\n    return 0;\n}\n";
    project.edit("driver.c", check, "");
    let moved = check.replace("return 1;", "return 2;").replace("< 0", "<= 0");
    project.write("core.c", &format!("{CORE}{moved}"));
    project.write("core.h", &format!("{CORE_H}int check(int found);\n"));
    assert_eq!(project.selected(), ["add", "double", "last"]);
}

#[test]
fn who_runs_a_changed_excluded_procedure_is_not_carried_over() {
    // Its rows would say what it did before the driver changed: a table that sends
    // it elsewhere, a case that takes it from the default.
    for (from, to) in [
        ("{ core_add, core_double }", "{ core_last, core_double }"),
        ("    default:\n", "    case 2:\n        return core_add(5);\n    default:\n"),
    ] {
        let project = project("files = [\"driver.c\"]");
        project.edit("driver.c", from, to);
        let before = excluded(&project.select_json(&[])).len();
        assert!(before > 0);
        project.ok(&["test"]);
        let selection = project.select_json(&["--from-build"]);
        assert_eq!(selection["selected"], serde_json::json!([]));
        assert_eq!(excluded(&selection).len(), before, "still listed, since nobody ran it");
        // Once it ran, it is known what it does now.
        project.ok(&["run"]);
        let selection = project.select_json(&[]);
        assert_eq!(excluded(&selection), []);
        project.edit("core.c", "return n + 1;", "return 1 + n;");
        let expected = if from.starts_with('{') { NONE.to_vec() } else { vec!["add", "last"] };
        assert_eq!(project.selected(), expected);
    }
}

#[test]
fn scripts_and_data_can_be_excluded() {
    let project = Project::of_source(
        "#include <stdio.h>\nint main(void) { puts(\"fine\"); return 0; }\n",
        &[("plain", "")],
    );
    project.write("oracle.sh", "./prog | grep -q \"$(cat \"$1\")\"\n");
    project.write("a.txt", "fine\n");
    project.write("tests.list", "plain ./prog\nchecked sh oracle.sh a.txt\n");
    project.record();
    exclude_in(&project, "files = [\"*.sh\"]");
    project.write("oracle.sh", "./prog | grep \"$(cat \"$1\")\"\n");
    let selection = project.select_json(&[]);
    assert_eq!(selection["selected"], serde_json::json!([]));
    let listed = excluded(&selection);
    assert_eq!(listed, [("oracle.sh changed, and it uses it".to_string(), vec!["t/checked"])]);
    project.write("a.txt", "fine\n\n");
    assert_eq!(project.selected(), ["checked"]);
}

#[test]
fn build_descriptions_and_flags_are_never_excluded() {
    let project = project("files = [\"*\"]");
    project.write(
        "Makefile",
        "prog: driver.c core.c core.h Makefile\n\t$(CC) -O2 -o prog driver.c core.c\n",
    );
    assert_eq!(project.selected(), ["add", "double", "last"]);
    project.ok(&["build"]);
    let selection = project.select_json(&["--from-build"]);
    assert_eq!(selection["selected"].as_array().unwrap().len(), 3);
}
