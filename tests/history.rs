//! The history of a project: merged, asked, exported, written by several.

use crate::support::{Project, sample};
use edgewise::history::{History, Row};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// Everything that a history says of its tests.
fn contents(path: &Path) -> BTreeMap<String, (String, Vec<Row>)> {
    let history = History::open(path).unwrap();
    let tests = history.tests().map(|(name, test)| {
        let mut test = test.clone();
        // The one thing that is never the same twice.
        test.milliseconds = 0;
        (name.clone(), (format!("{test:?}"), history.rows(name).unwrap()))
    });
    tests.collect()
}

fn history_of(project: &Project) -> std::path::PathBuf {
    project.path(".edgewise/history")
}

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn shards_make_the_whole_in_any_order() {
    let project = sample();
    project.ok(&["build"]);
    let shards = tempfile::tempdir().unwrap();
    let mut names = Vec::new();
    for shard in 1..=3 {
        project.ok(&["run", "--shard", &format!("{shard}/3")]);
        let to = shards.path().join(format!("{shard}"));
        std::fs::rename(history_of(&project), &to).unwrap();
        names.push(to.display().to_string());
    }
    let counts: Vec<usize> = names.iter().map(|path| contents(Path::new(path)).len()).collect();
    assert_eq!(counts.iter().sum::<usize>(), 74, "{counts:?}");
    let mut results = Vec::new();
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let out = shards.path().join("out").display().to_string();
        let mut arguments = vec!["history", "merge", "--output", &out];
        arguments.extend(order.iter().map(|shard| names[*shard].as_str()));
        project.ok(&arguments);
        results.push(std::fs::read(&out).unwrap());
    }
    assert!(results.iter().all(|result| *result == results[0]), "the order matters");
    // Two first, then the third.
    let (two, three) = (shards.path().join("two"), shards.path().join("three"));
    let (two, three) = (two.display().to_string(), three.display().to_string());
    project.ok(&["history", "merge", "--output", &two, &names[2], &names[1]]);
    project.ok(&["history", "merge", "--output", &three, &two, &names[0]]);
    assert_eq!(std::fs::read(&three).unwrap(), results[0]);
    // Into the project, which then knows what one run would have told it.
    project.ok(&["history", "merge", &names[0], &names[1], &names[2]]);
    let merged = contents(&history_of(&project));
    project.ok(&["run"]);
    assert_eq!(merged, contents(&history_of(&project)));
    assert!(project.selected().is_empty());
}

/// What others ran of what was selected takes the place of what was known, whether they began with a
/// copy of it or with nothing; and there is an earlier version then.
#[test]
fn an_update_is_as_if_it_had_run_here() {
    let project = sample();
    project.record();
    let elsewhere = tempfile::tempdir().unwrap();
    let [base, first, second] = ["base", "first", "second"].map(|name| elsewhere.path().join(name));
    std::fs::copy(history_of(&project), &base).unwrap();
    let old = "return (values[middle - 1] + values[middle]) / 2.0;";
    let new = "return values[middle - 1] + (values[middle] - values[middle - 1]) / 2.0;";
    project.edit("lib/stats.c", old, new);
    project.ok(&["build"]);
    assert_eq!(project.selected(), ["median-even", "stats-even", "stats-tabs"]);
    std::fs::remove_file(history_of(&project)).unwrap();
    project.ok(&["run", "cli/median-even"]);
    std::fs::rename(history_of(&project), &first).unwrap();
    std::fs::copy(&base, history_of(&project)).unwrap();
    project.ok(&["run", "cli/stats-even", "cli/stats-tabs"]);
    std::fs::copy(history_of(&project), &second).unwrap();

    project.ok(&["run", "cli/median-even"]);
    let here = contents(&history_of(&project));
    for order in [[&first, &second], [&second, &first]] {
        std::fs::copy(&base, history_of(&project)).unwrap();
        let [one, other] = order.map(|path| path.display().to_string());
        project.ok(&["history", "merge", "--update", &one, &other]);
        assert_eq!(contents(&history_of(&project)), here);
        assert!(project.selected().is_empty());
        assert_eq!(project.ok(&["history", "log"]).lines().count(), 2);
    }
}

#[test]
fn a_test_that_failed_anywhere_stays_selected_after_a_merge() {
    let source = "#include <stdlib.h>\nint main(void)\n{\n    return getenv(\"FAIL\") != 0;\n}\n";
    let project = Project::of_source(source, &[("one", ""), ("two", "")]);
    project.record();
    let passed = project.path("passed.out");
    std::fs::rename(history_of(&project), &passed).unwrap();
    let run = project.command().args(["run", "one"]).env("FAIL", "1").output().unwrap();
    assert_eq!(run.status.code(), Some(1));
    let output = project.edgewise(&["history", "merge", "passed.out"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("t/one: it passed elsewhere"), "{}", stderr(&output));
    assert_eq!(project.selected(), ["one"]);
}

/// What edgewise compiles for itself lies in the project, or elsewhere; it is nothing that tests depend on.
#[test]
fn a_history_serves_a_clone_that_was_never_built() {
    let project = sample();
    for words in ["build", "run"] {
        let output = project.command().env_remove("EDGEWISE_CACHE").arg(words).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let clone = sample();
    std::fs::create_dir(clone.path(".edgewise")).unwrap();
    std::fs::copy(history_of(&project), history_of(&clone)).unwrap();
    drop(project);
    let output = clone.command().env_remove("EDGEWISE_CACHE").arg("select").output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{}", stderr(&output));
}

/// A history that was not begun with ours may be older: that a test passed there says nothing of
/// the failure that we know of.
#[test]
fn an_update_that_did_not_begin_here_hides_no_failure() {
    let source = "#include <stdlib.h>\nint main(void)\n{\n    return getenv(\"FAIL\") != 0;\n}\n";
    let project = Project::of_source(source, &[("one", ""), ("two", "")]);
    project.record();
    std::fs::copy(history_of(&project), project.path("older.out")).unwrap();
    let run = project.command().args(["run", "one"]).env("FAIL", "1").output().unwrap();
    assert_eq!(run.status.code(), Some(1));
    std::fs::copy(history_of(&project), project.path("failed.out")).unwrap();
    let output = project.edgewise(&["history", "merge", "--update", "older.out"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("t/one: it did not pass here"), "{}", stderr(&output));
    assert_eq!(project.selected(), ["one"]);
    // Put right by somebody who began with what we know.
    project.ok(&["run", "one"]);
    std::fs::rename(history_of(&project), project.path("mended.out")).unwrap();
    std::fs::rename(project.path("failed.out"), history_of(&project)).unwrap();
    project.ok(&["history", "merge", "--update", "mended.out"]);
    assert!(project.selected().is_empty());
}

#[test]
fn shows_who_reaches_what() {
    let project = sample();
    project.record();
    let on_line = project.ok(&["history", "show", "lib/stats.c:47"]);
    assert_eq!(on_line, "cli/median-even\ncli/stats-even\ncli/stats-tabs\n");
    let entered = project.ok(&["history", "show", "stats_median"]);
    assert!(entered.lines().any(|line| line == "cli/median-odd"), "{entered}");
    assert!(!entered.lines().any(|line| line == "cli/sum-basic"), "{entered}");
    let test = project.ok(&["history", "show", "cli/median-even"]);
    let lines = test.lines().find(|line| line.starts_with("lib/stats.c: ")).unwrap();
    assert!(lines.contains("47"), "{test}");
    let overview = project.ok(&["history", "show"]);
    assert!(overview.contains("74 tests") && overview.contains("74 passed"), "{overview}");
    for nobody in ["lib/stats.c:1", "nothing.c:3", "no_such_function"] {
        let output = project.edgewise(&["history", "show", nobody]);
        assert_eq!(output.status.code(), Some(2), "{nobody}");
    }
}

#[test]
fn exports_say_the_same() {
    let project = sample();
    project.record();
    let csv = project.ok(&["history", "export", "--format", "csv"]);
    let json = project.ok(&["history", "export", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let mut from_json = Vec::new();
    for procedure in json["procedures"].as_array().unwrap() {
        for edge in procedure["taken"].as_array().unwrap() {
            for test in edge["tests"].as_array().unwrap() {
                let unit = procedure["unit"].as_str().unwrap();
                let name = procedure["procedure"].as_str().unwrap();
                from_json.push(format!(
                    "{unit} {name} {} {}",
                    edge["edge"],
                    test.as_str().unwrap()
                ));
            }
        }
    }
    let mut from_csv: Vec<String> = csv
        .lines()
        .skip(1)
        .map(|line| {
            // Labels may hold commas; names of this project do not.
            let fields: Vec<&str> = line.split(',').collect();
            format!("{} {} {} {}", fields[0], fields[2], fields[3], fields[fields.len() - 1])
        })
        .collect();
    from_json.sort();
    from_csv.sort();
    assert!(from_csv.len() > 10_000);
    assert_eq!(from_csv, from_json);
    let lcov = project.ok(&["history", "export", "--format", "lcov"]);
    let stats = lcov.split("end_of_record").find(|part| part.contains("SF:lib/stats.c\n")).unwrap();
    assert!(stats.contains("DA:47,3\n"), "{stats}");
    assert!(stats.lines().any(|line| line.starts_with("FNDA:") && line.ends_with(",stats_median")));
    let one = project.ok(&["history", "export", "--format", "lcov", "--test", "cli/median-even"]);
    assert!(one.contains("DA:47,1\n"));
}

#[test]
fn gc_makes_room_and_loses_nothing() {
    let project = sample();
    project.record();
    for _ in 0..3 {
        project.ok(&["run"]);
    }
    let before = contents(&history_of(&project));
    let size = std::fs::metadata(history_of(&project)).unwrap().len();
    project.ok(&["history", "gc"]);
    assert!(std::fs::metadata(history_of(&project)).unwrap().len() < size);
    assert_eq!(contents(&history_of(&project)), before);
    project.ok(&["history", "gc"]);
    assert_eq!(contents(&history_of(&project)), before);
}

#[test]
fn two_runs_at_a_time_lose_nothing() {
    let project = sample();
    project.ok(&["build"]);
    let start = |filter: &str| {
        let mut command = project.command();
        command.args(["run", "-j2", filter]).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let runs = [start("cli/s"), start("cli/m"), start("cli/e")];
    for run in runs {
        let output = run.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let history = History::open(&history_of(&project)).unwrap();
    let expected: Vec<String> = project
        .read("tests/list")
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| ["s", "m", "e"].iter().any(|first| name.starts_with(first)))
        .map(|name| format!("cli/{name}"))
        .collect();
    assert!(expected.len() > 10);
    for name in expected {
        assert!(history.test(&name).is_some_and(|test| test.is_clean()), "{name}");
    }
}

#[test]
fn a_harness_of_its_own_records_through_trace() {
    let source = "\
#include <stdio.h>
int main(int argc, char **argv)
{
    if (argc > 1)
        printf(\"%s\\n\", argv[1]);
    return argc > 2;
}
";
    let project = Project::of_source(source, &[]);
    project.write("edgewise.toml", "[build]\ncommand = \"make -s\"\n");
    project.ok(&["build"]);
    let trace = |name: &str, arguments: &[&str]| {
        let mut all = vec!["trace", "--test", name, "--verdict", "exit-status", "--", "./prog"];
        all.extend(arguments);
        project.edgewise(&all)
    };
    let with = trace("h/with", &["word"]);
    assert_eq!((with.status.code(), with.stdout.as_slice()), (Some(0), b"word\n".as_slice()));
    assert_eq!(trace("h/without", &[]).status.code(), Some(0));
    assert_eq!(trace("h/fails", &["a", "b"]).status.code(), Some(1), "its own exit code");
    assert_eq!(project.selected(), ["fails"]);
    project.edit("main.c", "\"%s\\n\"", "\"<%s>\\n\"");
    assert_eq!(project.selected(), ["fails", "with"]);
    // Only the harness runs them again.
    let output = project.edgewise(&["test"]);
    assert!(stderr(&output).contains("2 tests not run"), "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(4));
    assert_eq!(project.selected(), ["fails", "with"]);
    assert_eq!(trace("h/with", &["word"]).status.code(), Some(0));
    assert_eq!(project.selected(), ["fails"]);
}

#[test]
fn many_harnesses_at_a_time_wait_for_each_other() {
    let project = Project::of_source("int main(void)\n{\n    return 0;\n}\n", &[]);
    project.write("edgewise.toml", "[build]\ncommand = \"make -s\"\n");
    project.ok(&["build"]);
    let children: Vec<_> = (0..12)
        .map(|number| {
            let mut command: Command = project.command();
            let name = format!("h/{number}");
            command.args(["trace", "--test", &name, "--verdict", "exit-status", "--", "./prog"]);
            command.spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let history = History::open(&history_of(&project)).unwrap();
    assert_eq!(history.tests().filter(|(_, test)| test.is_clean()).count(), 12);
}

#[test]
fn what_is_not_the_same_each_time_is_found_by_repeating() {
    let source = "\
#include <stdio.h>
int main(int argc, char **argv)
{
    FILE *file = fopen(argv[1], \"a\");
    if (!file)
        return 2;
    fputc('x', file);
    if (ftell(file) % 2 == 0)
        puts(\"even\");
    else
        puts(\"odd\");
    return argc > 2 && ftell(file) < 2;
}
";
    let project = Project::of_source(
        source,
        &[("flips", "flips.out"), ("same", "/dev/null"), ("flaky", "flaky.out again")],
    );
    project.ok(&["build"]);
    let output = project.edgewise(&["run", "--repeat", "3", "flips", "same"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("1 test not the same each time"), "{}", stderr(&output));
    let history = History::open(&history_of(&project)).unwrap();
    assert!(history.test("t/flips").unwrap().unstable);
    assert!(!history.test("t/same").unwrap().unstable);
    drop(history);
    // Both ways count.
    for line in [9, 11] {
        let tests = project.ok(&["history", "show", &format!("main.c:{line}")]);
        assert!(tests.contains("t/flips"), "{line}: {tests}");
    }
    let output = project.edgewise(&["run", "flaky"]);
    assert_eq!(output.status.code(), Some(1));
    std::fs::remove_file(project.path("flaky.out")).unwrap();
    let output = project.edgewise(&["run", "--retries", "1", "flaky"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let history = History::open(&history_of(&project)).unwrap();
    assert!(history.test("t/flaky").unwrap().unstable);
}

#[test]
fn results_are_written_for_other_tools() {
    let project = Project::of_source(
        "int main(int argc, char **argv)\n{\n    return argc > 1;\n}\n",
        &[("good", ""), ("bad", "x; printf '\\001<\\377'; exit 3"), ("slow", "; sleep 60")],
    );
    project.ok(&["build"]);
    let output = project.edgewise(&[
        "run",
        "--timeout",
        "1",
        "--junit",
        "results.out",
        "--json",
        "json.out",
    ]);
    assert_eq!(output.status.code(), Some(1));
    let json: serde_json::Value = serde_json::from_str(&project.read("json.out")).unwrap();
    let mut outcomes: Vec<(String, String)> = json["tests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|test| {
            let text = |key: &str| test[key].as_str().unwrap().to_string();
            (text("name"), text("outcome"))
        })
        .collect();
    outcomes.sort();
    let expected = [("t/bad", "failed"), ("t/good", "passed"), ("t/slow", "timed-out")];
    assert_eq!(outcomes, expected.map(|(name, what)| (name.to_string(), what.to_string())));
    let junit = project.read("results.out");
    assert!(junit.contains("tests=\"3\" failures=\"2\" skipped=\"0\""), "{junit}");
    assert!(junit.contains("\u{fffd}&lt;\u{fffd}"), "{junit}");
    // A test that is safely skipped is shown as skipped.
    project.edgewise(&["test", "--timeout", "1", "--junit", "results.out"]);
    let junit = project.read("results.out");
    assert!(junit.contains("name=\"good\""), "{junit}");
    assert!(
        junit.contains("<skipped message=\"safely skipped: no change can affect it\"/>"),
        "{junit}"
    );
}
