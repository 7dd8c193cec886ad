//! What `edgewise select` prints for others: fed back to the real runners it runs
//! the selected tests and no others, whatever their names are.

use crate::support::Project;
use regex::Regex;
use serde_json::Value;
use std::process::{Command, Output, Stdio};

const MAIN: &str = r#"
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "left") == 0)
        puts("left");
    else
        puts("right");
    return 0;
}
"#;

/// Names of tests on the left, which will be selected, and others that careless
/// quoting would take for them.
const LEFT: &[&str] = &[
    "plain",
    "a b",
    "x.y",
    "x+y",
    "br[ac]",
    "par(en)",
    "q\"uote",
    "semi;colon",
    "$dollar",
    "^caret",
    "pi|pe",
    "back\\slash",
    "it's",
    "\u{fc}n\u{ef}",
    "#hash",
];
const RIGHT: &[&str] = &["plain2", "xzy", "xxy", "bra", "pi", "pe", "a", "b", "paren"];

fn change(project: &Project) {
    project.edit("main.c", "puts(\"left\")", "puts(\"links\")");
}

fn sh(project: &Project, line: &str) -> (String, bool) {
    let output = Command::new("/bin/sh")
        .args(["-c", line])
        .current_dir(project.root())
        .env_remove("EDGEWISE_TRACE")
        .env_remove("MAKEFLAGS")
        .env_remove("CC")
        .env("LC_ALL", "C.UTF-8")
        .env("EDGEWISE", env!("CARGO_BIN_EXE_edgewise"))
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&text).into_owned(), output.status.success())
}

#[track_caller]
fn must(project: &Project, line: &str) -> String {
    let (text, is_fine) = sh(project, line);
    assert!(is_fine, "{line}\n{text}");
    text
}

fn sorted<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = names.into_iter().map(str::to_string).collect();
    names.sort();
    names
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A project of CMake, recorded, with the change.
fn cmake() -> Project {
    let project = Project::empty();
    project.write("main.c", MAIN);
    let mut text = String::from(
        "cmake_minimum_required(VERSION 3.19)\nproject(p C)\nenable_testing()\nadd_executable(prog main.c)\n",
    );
    for (names, side) in [(LEFT, "left"), (RIGHT, "right")] {
        for name in names {
            text.push_str(&format!("add_test(NAME [==[{name}]==] COMMAND prog {side})\n"));
        }
    }
    project.write("CMakeLists.txt", &text);
    project.write("extra.list", "left build/prog left\nright build/prog right\n");
    project.write(
        "edgewise.toml",
        "ignore = [\"build/Testing/**\"]\n[[suite]]\nname = \"c\"\nkind = \"ctest\"\ndirectory = \"build\"\n\
         [[suite]]\nname = \"extra\"\nkind = \"list\"\nfile = \"extra.list\"\n",
    );
    project.ok(&["build", "--", "cmake", "-S", ".", "-B", "build"]);
    project.ok(&["build", "--", "cmake", "--build", "build"]);
    project.ok(&["run"]);
    change(&project);
    project
}

/// Names of the tests that CTest ran.
fn ran(text: &str) -> Vec<String> {
    let line = Regex::new(r"(?m)^ *\d+/\d+ Test +#\d+: (.+?) \.+ +Passed").unwrap();
    let found: Vec<String> = line.captures_iter(text).map(|found| found[1].to_string()).collect();
    sorted(found.iter().map(String::as_str))
}

#[test]
fn ctest_runs_the_selected_tests_and_no_others() {
    let project = cmake();
    let names = project.ok(&["select"]);
    let expected: Vec<String> =
        LEFT.iter().map(|name| format!("c/{name}")).chain([String::from("extra/left")]).collect();
    assert_eq!(names.lines().collect::<Vec<_>>(), expected);

    let select = "\"$EDGEWISE\" select --suite c --format";
    let text = must(
        &project,
        &format!("ctest --test-dir build -R \"$({select} ctest-regex 2>/dev/null)\""),
    );
    assert_eq!(ran(&text), sorted(LEFT.iter().copied()), "{text}");

    // The file, which older versions of CTest do not know. It is looked for in the
    // build directory.
    must(&project, &format!("{select} ctest-file > names"));
    assert_eq!(project.read("names").lines().collect::<Vec<_>>(), LEFT);
    let ctest = std::env::var("EDGEWISE_TEST_CTEST").unwrap_or_else(|_| String::from("ctest"));
    if must(&project, &format!("{ctest} --help")).contains("--tests-from-file") {
        let text =
            must(&project, &format!("{ctest} --test-dir build --tests-from-file \"$PWD/names\""));
        assert_eq!(ran(&text), sorted(LEFT.iter().copied()), "{text}");
    } else {
        println!("skipped: this CTest has no --tests-from-file");
    }

    // Nothing is selected any more, and then nothing is run.
    project.edit("main.c", "puts(\"links\")", "puts(\"left\")");
    let text = must(
        &project,
        &format!("ctest --test-dir build -R \"$({select} ctest-regex 2>/dev/null)\""),
    );
    assert!(ran(&text).is_empty() && text.contains("No tests were found"), "{text}");
    assert_eq!(must(&project, &format!("{select} ctest-file 2>/dev/null")), "");
}

#[test]
fn a_selected_test_that_a_format_does_not_hold_is_never_dropped_in_silence() {
    let project = cmake();
    let output = project.edgewise(&["select", "--format", "ctest-file"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert_eq!(stdout(&output).lines().count(), LEFT.len());
    let missing =
        "warning: 1 selected test not in this output, to be run in another way:\n    extra/left\n";
    assert!(stderr(&output).contains(missing), "{}", stderr(&output));

    let output = project.edgewise(&["select", "--suite", "c", "--format", "ctest-file"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains(missing), "{}", stderr(&output));

    let output = project.edgewise(&["select", "--suite", "extra", "--format", "json"]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["selected"].as_array().unwrap().len(), 1);
    assert_eq!(value["left_out"].as_array().unwrap().len(), LEFT.len());
    assert_eq!(value["safe"], false);

    let error = |arguments: &[&str]| {
        let output = project.edgewise(arguments);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
        stderr(&output)
    };
    let text = error(&["select", "--suite", "none"]);
    assert!(text.contains("no suite is called `none`\nhint: the suites are c, extra"), "{text}");
    let text = error(&["select", "--format", "meson"]);
    assert!(text.contains("no suite is of kind meson"), "{text}");

    // Two build directories cannot be one list of names.
    let config = project.read("edgewise.toml");
    let second = "[[suite]]\nname = \"d\"\nkind = \"ctest\"\ndirectory = \"build\"\n";
    project.write("edgewise.toml", &format!("{config}{second}"));
    let text = error(&["select", "--format", "ctest-regex"]);
    assert!(text.contains("several suites of kind ctest are selected: c, d"), "{text}");
}

#[test]
fn meson_runs_the_selected_tests_and_no_others() {
    let project = Project::empty();
    project.write("main.c", MAIN);
    let left = ["plain", "a b", "it's", "x[1]", "semi;colon", "q\"uote", "star*", "$dollar"];
    let right = ["plain2", "a", "b", "quote"];
    let mut text = String::from("project('p', 'c')\nprog = executable('prog', 'main.c')\n");
    for (names, side) in [(&left[..], "left"), (&right[..], "right")] {
        for name in names {
            let name = name.replace('\'', "\\'");
            text.push_str(&format!("test('{name}', prog, args: ['{side}'])\n"));
        }
    }
    project.write("meson.build", &text);
    project.write(
        "edgewise.toml",
        "ignore = [\"build/meson-logs/**\"]\n[[suite]]\nname = \"m\"\nkind = \"meson\"\ndirectory = \"build\"\n",
    );
    project.ok(&["build", "--", "meson", "setup", "build"]);
    project.ok(&["build", "--", "meson", "compile", "-C", "build"]);
    project.ok(&["run"]);
    change(&project);
    must(
        &project,
        "\"$EDGEWISE\" select --format meson | xargs -r meson test -C build --no-rebuild",
    );
    let log = project.read("build/meson-logs/testlog.json");
    let ran = log.lines().map(|line| {
        let result: Value = serde_json::from_str(line).unwrap();
        let name = result["name"].as_str().unwrap();
        name.rsplit(" / ").next().unwrap().to_string()
    });
    let mut ran: Vec<String> = ran.collect();
    ran.sort();
    assert_eq!(ran, sorted(left));
}

#[test]
fn make_runs_the_selected_tests_of_each_directory() {
    let project = Project::empty();
    project.write("main.c", MAIN);
    project.write(
        "configure.ac",
        "AC_INIT([p], [1])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\n\
         AC_CONFIG_FILES([Makefile sub/Makefile last/Makefile])\nAC_OUTPUT\n",
    );
    project.write(
        "Makefile.am",
        "SUBDIRS = . sub last\nnoinst_PROGRAMS = prog\nprog_SOURCES = main.c\nTESTS = a.sh b.sh c.sh\n\
         check-local:\n\t@./prog right && echo LOCAL: top\n",
    );
    project.write("sub/Makefile.am", "TESTS = d.sh e.sh\n");
    project.write("last/Makefile.am", "check-local:\n\t@../prog left && echo LOCAL: last\n");
    let sides =
        [("a", "left"), ("b", "right"), ("c", "left"), ("sub/d", "right"), ("sub/e", "left")];
    for (name, side) in sides {
        let prog = if name.starts_with("sub/") { "../prog" } else { "./prog" };
        project.write(&format!("{name}.sh"), &format!("#!/bin/sh\nexec {prog} {side}\n"));
    }
    must(&project, "chmod +x *.sh sub/*.sh && autoreconf -i");
    project.write(
        "edgewise.toml",
        "ignore = [\"**/*.log\", \"**/*.trs\"]\n[[suite]]\nname = \"am\"\nkind = \"automake\"\n",
    );
    project.ok(&["build", "--", "./configure"]);
    project.ok(&["build", "--", "make"]);
    project.ok(&["run"]);
    change(&project);
    let names = project.ok(&["select"]);
    assert_eq!(sorted(names.lines()), ["am/a.sh", "am/c.sh", "am/last/check-local", "am/sub/e.sh"]);

    let output = project.edgewise(&["select", "--format", "automake"]);
    let lines =
        "-C . check-am 'TESTS=a.sh c.sh'\n-C sub check-am TESTS=e.sh\n-C last check-local\n";
    assert_eq!(stdout(&output), lines);
    // It cannot be helped that make runs this as well.
    assert!(
        stderr(&output)
            .contains("automake runs 1 other test as well, which it cannot tell from these; for example am/check-local")
    );
    let text =
        must(&project, "\"$EDGEWISE\" select --format automake 2>/dev/null | xargs -r -L1 make");
    let line = Regex::new(r"(?m)^(?:PASS|LOCAL): (\S+)$").unwrap();
    let found: Vec<&str> =
        line.captures_iter(&text).map(|found| found.get(1).unwrap().as_str()).collect();
    assert_eq!(sorted(found), ["a.sh", "c.sh", "e.sh", "last", "top"]);
}

/// Tests of a list that take different time and cross different edges.
fn timed() -> Project {
    let project = Project::empty();
    project.write(
        "main.c",
        "#include <stdio.h>\n#include <unistd.h>\nint main(int argc, char **argv)\n{\n    (void)argv;\n    if (argc > 1)\n        puts(\"one\");\n    \
         if (argc > 2)\n        puts(\"two\");\n    if (argc > 3)\n        puts(\"three\");\n    if (argc > 4)\n        \
         usleep(300000);\n    return 0;\n}\n",
    );
    project.write("Makefile", "prog: main.c\n\t$(CC) -O1 -o prog main.c\n");
    project.write_config();
    project.write(
        "tests.list",
        "none ./prog\none ./prog a\nslow ./prog a b c d\ntwo ./prog a b\nthree ./prog a b c\n",
    );
    project.record();
    for (from, to) in [("\"one\"", "\"eins\""), ("\"two\"", "\"zwei\""), ("\"three\"", "\"drei\"")]
    {
        project.edit("main.c", from, to);
    }
    project
}

/// Name, dangerous edges crossed, and seconds.
fn listed(value: &Value) -> Vec<(String, f64, f64)> {
    let tests = value.as_array().unwrap().iter().map(|test| {
        let edges = test["reasons"].as_array().unwrap().len() as f64;
        (test["name"].as_str().unwrap().to_string(), edges, test["seconds"].as_f64().unwrap())
    });
    tests.collect()
}

#[test]
fn the_order_is_that_of_edges_per_second() {
    let project = timed();
    let selection = project.select_json(&["--order"]);
    let tests = listed(&selection["selected"]);
    assert_eq!(tests.len(), 4);
    let rate = |(_, edges, seconds): &(String, f64, f64)| edges / seconds.max(0.001);
    assert!(tests.is_sorted_by(|a, b| rate(a) >= rate(b) * 0.999_999), "{tests:?}");
    assert!(tests.iter().any(|(_, edges, _)| *edges > 1.0), "{tests:?}");
    assert_eq!(selection["safe"], true);
    let names: Vec<String> = tests.into_iter().map(|(name, _, _)| name).collect();
    assert_eq!(project.ok(&["select", "--order"]).lines().collect::<Vec<_>>(), names);
}

#[test]
fn a_budget_that_cuts_says_that_it_is_not_safe() {
    let project = timed();
    let order = listed(&project.select_json(&["--order"])["selected"]);
    // Enough for the first of them, and for nothing else.
    let budget = format!("{}ms", (order[0].2 * 1000.0).round().max(1.0));
    let output = project.edgewise(&["select", "--budget", &budget]);
    assert_eq!(output.status.code(), Some(4));
    assert_eq!(stdout(&output), format!("{}\n", order[0].0));
    let text = stderr(&output);
    assert!(text.contains("warning: NOT SAFE: 3 selected tests did not fit"), "{text}");
    assert!(text.contains("4 of 5 tests selected, 1 safely skipped"), "{text}");
    let output = project.edgewise(&["select", "--budget", &budget, "--format", "json"]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert_eq!(value["safe"], false);
    let cut: Vec<String> = listed(&value["cut"]).into_iter().map(|(name, _, _)| name).collect();
    let behind: Vec<String> = order[1..].iter().map(|(name, _, _)| name.clone()).collect();
    assert_eq!(cut, behind);

    // One that is enough changes nothing.
    let output = project.edgewise(&["select", "--budget", "2h"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stdout(&output).lines().count(), 4);
    assert!(!stderr(&output).contains("NOT SAFE"));
    let output = project.edgewise(&["select", "--budget", "soon"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_matrix_of_github_holds_every_test_once_for_edgewise_run() {
    let project = timed();
    let matrix = |split: &str| -> Value {
        let text = project.ok(&["select", "--format", "github", "--split", split]);
        assert_eq!(text.lines().count(), 1, "{text}");
        serde_json::from_str(&text).unwrap()
    };
    let jobs = matrix("3");
    let jobs = jobs["include"].as_array().unwrap();
    assert_eq!(jobs.len(), 3);
    let mut all = Vec::new();
    for job in jobs {
        let names = job["tests"].as_str().unwrap();
        let mut command = project.command();
        command.args(["run", "--names", "-", "--json", "results.out"]).stdin(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), names.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
        let results: Value = serde_json::from_str(&project.read("results.out")).unwrap();
        let ran = results["tests"].as_array().unwrap().iter();
        let ran = sorted(ran.map(|test| test["name"].as_str().unwrap()));
        assert_eq!(ran, sorted(names.lines()));
        all.extend(ran);
    }
    assert_eq!(sorted(all.iter().map(String::as_str)), ["t/one", "t/slow", "t/three", "t/two"]);
    // All of them ran, on the program as it was, and that is not what the sources say.
    let matrix_of_build = || project.ok(&["select", "--from-build", "--format", "github"]);
    assert_ne!(matrix_of_build(), "{\"include\":[]}\n");
    for (from, to) in [("\"eins\"", "\"one\""), ("\"zwei\"", "\"two\""), ("\"drei\"", "\"three\"")]
    {
        project.edit("main.c", from, to);
    }
    assert_eq!(matrix_of_build(), "{\"include\":[]}\n");
}

#[test]
fn names_for_a_run_have_to_be_tests() {
    let project = timed();
    project.write("names.out", "t/one\nt/on\n");
    let output = project.edgewise(&["run", "--names", "names.out"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no test is called `t/on`"), "{}", stderr(&output));
    // No names are no tests, not all of them.
    project.write("names.out", "");
    let output = project.edgewise(&["run", "--names", "names.out"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("0 passed, 0 failed"), "{}", stderr(&output));
}

#[test]
fn a_name_stays_in_its_line() {
    let project = Project::empty();
    project.write("main.c", MAIN);
    project.write("Makefile", "prog: main.c\n\t$(CC) -O1 -o prog main.c\n");
    project.write("t/one\nline.sh", "./prog left\n");
    project.write("t/it's \"two\"; words.sh", "./prog left\n");
    project.write(
        "edgewise.toml",
        "[build]\ncommand = \"make -s\"\n[[suite]]\nname = \"g\"\nkind = \"glob\"\npattern = \"t/*.sh\"\ncommand = \"sh {}\"\n",
    );
    project.record();
    change(&project);
    let text = project.ok(&["select"]);
    let expected = ["g/it's \"two\"; words", "g/one\\nline"];
    assert_eq!(sorted(text.lines()), expected, "{text}");
    let selection = project.select_json(&[]);
    let names = selection["selected"].as_array().unwrap().iter();
    let names = sorted(names.map(|test| test["name"].as_str().unwrap()));
    assert_eq!(names, ["g/it's \"two\"; words", "g/one\nline"]);
    project.write("names", &text);
    project.ok(&["run", "--names", "names", "--json", "results"]);
    let results: Value = serde_json::from_str(&project.read("results")).unwrap();
    assert_eq!(results["tests"].as_array().unwrap().len(), 2);
}
