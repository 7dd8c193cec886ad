//! Versions in sequence, branches and reverts: the rows of a version that was
//! there before are found again.

use crate::support::Project;
use serde_json::Value;

const MAIN: &str = "\
#include <stdlib.h>
int part(int n);
int other(int n);
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    if (n > 100)
        return other(n) < 0;
    return part(n) < 0;
}
";
const PART: &str = "int part(int n)\n{\n    if (n > 10)\n        return n - 1;\n    return n;\n}\n";
const OTHER: &str = "int other(int n)\n{\n    return n + 1;\n}\n";

fn project() -> Project {
    let project = Project::empty();
    project.write("main.c", MAIN);
    project.write("part.c", PART);
    project.write("other.c", OTHER);
    project.write("Makefile", "prog: main.o part.o other.o\n\t$(CC) -o prog $^\n");
    project.write_config();
    project.write("tests.list", "small ./prog 1\nmiddle ./prog 20\nlarge ./prog 200\n");
    project.record();
    project
}

/// What `edgewise test` ran, without the suite.
#[track_caller]
fn test(project: &Project, arguments: &[&str]) -> Vec<String> {
    let results = project.path("results.json");
    let mut words = vec!["test", "--json", results.to_str().unwrap()];
    words.extend(arguments);
    project.ok(&words);
    ran(project)
}

fn ran(project: &Project) -> Vec<String> {
    let results: Value = serde_json::from_str(&project.read("results.json")).unwrap();
    let tests = results["tests"].as_array().unwrap().iter();
    let ran =
        tests.filter(|test| ["passed", "failed"].contains(&test["outcome"].as_str().unwrap()));
    let names = ran.map(|test| test["name"].as_str().unwrap());
    let mut names: Vec<String> = names.map(|n| n.rsplit('/').next().unwrap().into()).collect();
    names.sort();
    names
}

fn log(project: &Project) -> Vec<Value> {
    let log: Value = serde_json::from_str(&project.ok(&["history", "log", "--json"])).unwrap();
    log["snapshots"].as_array().unwrap().clone()
}

fn id(snapshot: &Value) -> String {
    snapshot["id"].as_str().unwrap().to_string()
}

const NONE: [&str; 0] = [];

#[test]
fn going_back_and_forth_runs_nothing_twice() {
    let project = project();
    let first = id(&log(&project)[0]);
    project.edit("part.c", "n - 1", "n - 2");
    assert_eq!(test(&project, &[]), ["middle"]);
    let second = id(&log(&project)[0]);
    assert_eq!(log(&project).iter().map(id).collect::<Vec<_>>(), [second.clone(), first.clone()]);
    // Back: from sources and by a build, nothing is to be run.
    project.edit("part.c", "n - 2", "n - 1");
    assert_eq!(project.selected(), NONE);
    assert_eq!(test(&project, &[]), NONE);
    assert_eq!(id(&log(&project)[0]), first);
    // And forth again.
    project.edit("part.c", "n - 1", "n - 2");
    assert_eq!(project.selected(), NONE);
    assert_eq!(test(&project, &[]), NONE);
    assert_eq!(id(&log(&project)[0]), second);
    assert_eq!(log(&project).len(), 2);
    // With the version that it was before, the edit is one.
    project.edit("other.c", "n + 1", "n + 2");
    assert_eq!(project.selected(), ["large"]);
    let against = |id: &str| project.ok(&["select", "--against", &id[..8]]).lines().count();
    assert_eq!((against(&second), against(&first)), (1, 2));
}

/// Two branches, and what both of them make together: only what neither ran on its
/// own is run.
#[test]
fn a_merge_of_branches_runs_what_differs_from_the_nearest() {
    let project = project();
    project.edit("part.c", "n - 1", "n - 2");
    assert_eq!(test(&project, &[]), ["middle"]);
    project.edit("part.c", "n - 2", "n - 1");
    project.edit("other.c", "n + 1", "n + 2");
    assert_eq!(test(&project, &[]), ["large"]);
    project.edit("part.c", "n - 1", "n - 2");
    let ran = test(&project, &[]);
    assert!(ran == ["middle"] || ran == ["large"], "{ran:?}");
    assert_eq!(log(&project).len(), 4);
}

#[test]
fn what_did_not_pass_is_not_clean_at_any_version() {
    let project = project();
    project.edit("part.c", "return n - 1", "return -1");
    let output = project.edgewise(&["test"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(project.selected(), ["middle"]);
    // There it passed; but it stays selected until it does so again.
    project.edit("part.c", "return -1", "return n - 1");
    assert_eq!(project.selected(), ["middle"]);
    assert_eq!(test(&project, &["small"]), NONE, "it is not asked for");
    assert_eq!(project.selected(), ["middle"], "and has not been run");
    assert_eq!(test(&project, &[]), ["middle"]);
    assert_eq!(project.selected(), NONE);
    project.edit("part.c", "return n - 1", "return -1");
    assert_eq!(project.selected(), ["middle"], "and there it failed");
}

/// Where nothing is as it was in any version, the last one counts: not an older one with less in it.
#[test]
fn where_everything_changed_the_last_version_counts() {
    let project = project();
    let header = "typedef int number;\n";
    project.write("number.h", header);
    for name in ["main.c", "part.c", "other.c"] {
        project.write(
            name,
            &format!("#include \"number.h\"\nextern number known;\n{}", project.read(name)),
        );
    }
    project.write("known.c", "#include \"number.h\"\nnumber known;\n");
    let make = project.read("Makefile");
    project.write("Makefile", &format!("{make}main.o part.o other.o known.o: number.h\n"));
    test(&project, &[]);
    project.write(
        "Makefile",
        &format!(
            "{}main.o part.o other.o known.o: number.h\n",
            make.replace("other.o", "other.o known.o")
        ),
    );
    test(&project, &[]);
    assert_eq!(log(&project).len(), 3);
    project.write("number.h", "typedef unsigned number;\n");
    project.ok(&["build"]);
    let output = project.edgewise(&["select", "--from-build"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("compared with version"), "{said}");
    assert!(!said.contains("linked with other"), "{said}");
}

#[test]
fn a_part_of_the_selected_leaves_the_others_selected() {
    let project = project();
    project.edit("main.c", "argc > 1 ?", "argc > 1 && argv ?");
    assert_eq!(test(&project, &["small"]), ["small"]);
    assert_eq!(project.selected(), ["large", "middle"]);
    let results: Value = serde_json::from_str(&project.read("results.json")).unwrap();
    let why = |name: &str| {
        let tests = results["tests"].as_array().unwrap();
        let test = tests.iter().find(|test| test["name"].as_str().unwrap().ends_with(name));
        test.unwrap()["why"].as_str().unwrap_or_default().to_string()
    };
    assert!(why("large").contains("stays selected"), "{}", why("large"));
    let mut shards = Vec::new();
    for shard in ["1/2", "2/2"] {
        shards.extend(test(&project, &["--shard", shard]));
    }
    shards.sort();
    assert_eq!(shards, ["large", "middle"]);
    assert_eq!(project.selected(), NONE);
    assert_eq!(test(&project, &["--all"]), ["large", "middle", "small"]);
    assert_eq!(test(&project, &["--all", "mid"]), ["middle"]);
    let output = project.edgewise(&["test", "nobody"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_build_that_fails_leaves_the_history_at_the_last_version() {
    let project = project();
    let before = log(&project);
    project.edit("part.c", "n - 1", "n - 2");
    project.edit("other.c", "return n", "return no");
    let output = project.edgewise(&["test"]);
    assert!(!output.status.success());
    assert_eq!(log(&project), before);
    project.edit("other.c", "return no", "return n");
    assert_eq!(project.selected(), ["middle"]);
    assert_eq!(test(&project, &[]), ["middle"]);
}

#[test]
fn versions_survive_gc_and_merge() {
    let project = project();
    let first = id(&log(&project)[0]);
    project.edit("part.c", "n - 1", "n - 2");
    test(&project, &[]);
    let versions = log(&project);
    let rows = |project: &Project| project.ok(&["history", "export", "--format", "csv"]);
    let now = rows(&project);
    project.ok(&["history", "gc"]);
    assert_eq!(log(&project), versions);
    assert_eq!(rows(&project), now);
    let merged = project.path("merged");
    let own = project.path(".edgewise/history");
    let merged = merged.to_str().unwrap();
    project.ok(&[
        "history",
        "merge",
        own.to_str().unwrap(),
        own.to_str().unwrap(),
        "--output",
        merged,
    ]);
    std::fs::copy(merged, &own).unwrap();
    assert_eq!(log(&project), versions);
    project.edit("part.c", "n - 2", "n - 1");
    assert_eq!(test(&project, &[]), NONE);
    assert_eq!(id(&log(&project)[0]), first);
    project.ok(&["history", "gc", "--keep", "0"]);
    assert_eq!(log(&project).len(), 1);
    project.edit("part.c", "n - 1", "n - 2");
    assert_eq!(project.selected(), ["middle"]);
}

#[test]
fn only_so_many_versions_are_kept() {
    let project = project();
    for number in 0..20 {
        let offset = |number: u32| format!("n - 1 + {number} * 2;");
        let from = if number == 0 { String::from("n - 1;") } else { offset(number) };
        project.edit("part.c", &from, &offset(number + 1));
        assert_eq!(test(&project, &[]), ["middle"], "step {number}");
    }
    assert_eq!(log(&project).len(), 17, "the last one and those that are kept");
    let output = project.edgewise(&["select", "--against", "zzzz"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("history log"), "{said}");
}

/// The tests that are skipped ran a program that stays, and are carried over first.
#[test]
fn the_version_before_is_kept_where_programs_are_independent() {
    let project = Project::empty();
    project.write("a.c", "int main(void)\n{\n    return 0;\n}\n");
    project.write("b.c", "int main(void)\n{\n    return 0;\n}\n");
    project.write("Makefile", "all: a b\na: a.c\n\t$(CC) -o a a.c\nb: b.c\n\t$(CC) -o b b.c\n");
    project.write_config();
    project.write("tests.list", "a ./a\nb ./b\n");
    project.record();
    for (count, text) in ["return 0 + 0;", "return 0 - 0;"].into_iter().enumerate() {
        project.write("a.c", &format!("int main(void)\n{{\n    {text}\n}}\n"));
        assert_eq!(test(&project, &[]), ["a"]);
        assert_eq!(log(&project).len(), count + 2);
    }
    project.ok(&["gaps"]);
}
