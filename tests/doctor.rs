//! `edgewise doctor`: at every stage of a project it says what is there, what is not, and
//! what to do.

use crate::support::Project;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

const OK: i32 = 0;
const HISTORY_UNUSABLE: i32 = 3;
const TO_DO: i32 = 7;

const MAIN: &str = "\
#include <stdio.h>
int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        puts(\"more\");
    return 0;
}
";

fn project() -> Project {
    Project::of_source(MAIN, &[("none", ""), ("one", "a")])
}

/// The same at the moment in which all is well.
fn recorded() -> Project {
    let project = project();
    project.record();
    project
}

#[track_caller]
fn assert_says(project: &Project, code: i32, expected: &[&str]) -> String {
    let (found, said) = project.says(&["doctor"]);
    for text in expected {
        assert!(said.contains(text), "{text}\nin:\n{said}");
    }
    assert_eq!(found, code, "{said}");
    let ends_well = said.ends_with("\nOK\n");
    assert_eq!(ends_well, code == OK, "{said}");
    said
}

/// What is to be done, as commands.
#[track_caller]
fn commands(project: &Project) -> Vec<String> {
    let value = json(project);
    let to_do = value["to_do"].as_array().unwrap();
    assert_eq!(value["ok"], to_do.is_empty());
    to_do.iter().map(|advice| advice["command"].as_str().unwrap().to_string()).collect()
}

#[track_caller]
fn json(project: &Project) -> Value {
    serde_json::from_str(&project.says(&["doctor", "--format", "json"]).1).unwrap()
}

#[test]
fn a_project_without_a_configuration() {
    let project = Project::empty();
    project.write("main.c", MAIN);
    let expected = [
        "0 UNITS INSTRUMENTED: no program was built with edgewise yet",
        "edgewise.toml: there is none",
        "history: there is none",
        "1. there is no edgewise.toml\n         edgewise init\n",
    ];
    assert_says(&project, TO_DO, &expected);
    let wanted = ["edgewise init", "make clean && edgewise build -- make", "edgewise run"];
    assert_eq!(commands(&project), wanted);
}

#[test]
fn a_configuration_that_is_not_right() {
    let project = recorded();
    project.write("edgewise.toml", "[build]\ncomand = \"make\"\n");
    assert_says(&project, TO_DO, &["edgewise.toml: edgewise.toml is not right", "comand"]);
    assert_eq!(commands(&project)[0], "edgewise init --force");
    project.write("edgewise.toml", "[build]\ncommand = \"make\"\n");
    assert_says(&project, TO_DO, &["edgewise.toml names no suite"]);
}

#[test]
fn a_project_that_was_not_built_and_one_that_was_not_run() {
    let project = project();
    let expected = [
        "0 UNITS INSTRUMENTED",
        "edgewise.toml: 1 suite, 2 tests",
        "1. nothing was built with edgewise yet",
    ];
    assert_says(&project, TO_DO, &expected);
    assert_eq!(commands(&project), ["make clean && edgewise build", "edgewise run"]);

    project.ok(&["build"]);
    let said =
        assert_says(&project, TO_DO, &["prog: 1 unit\n", "1 unit instrumented, 1 procedure"]);
    assert!(!said.contains("0 UNITS"), "{said}");
    assert_eq!(commands(&project), ["edgewise run"]);
}

#[test]
fn all_is_well_after_a_run() {
    let project = recorded();
    let expected = [
        "edgewise.toml: 1 suite, 2 tests\n",
        "1 unit, as when they were built",
        "/cc, gcc (",
        "ld: 1 program, as when they were linked",
        "history: 2 tests, 1 version, ",
        "assumed, and how it is checked:\n  tests do the same every time",
        "`edgewise run --repeat N` flags those that do not",
        ".edgewise: ",
        "  builds.json: ",
        "  history: ",
        "library that is not analysed, a change of its content selects the tests that load it",
        ": 2 tests\n",
    ];
    assert_says(&project, OK, &expected);
    let value = json(&project);
    assert_eq!(value["version"], 1);
    let found = &value["found"];
    assert_eq!(found["compilers"][0]["state"], "same", "{found}");
    assert_eq!(found["compilers"][0]["units"], 1);
    assert_eq!(found["history"]["tests"], 2);
    assert_eq!(found["programs"][0]["is_run"], true);
    assert_eq!(value["assumptions"].as_array().unwrap().len(), 7);

    // Another version of it, and a program that no test runs.
    project.edit("main.c", "\"more\"", "\"less\"");
    project.write("Makefile", "all: prog other\nprog other: main.c\n\t$(CC) -O2 -o $@ main.c\n");
    project.ok(&["test"]);
    let expected = [
        "history: 2 tests, 2 versions, ",
        "1 \u{d7} program with probes that no test ran, nothing is known of it:\n  other\n",
    ];
    assert_says(&project, OK, &expected);
}

/// A build that edgewise cannot get into, and one that finds everything made already.
#[test]
fn nothing_instrumented_is_said_loudly_with_the_usual_causes() {
    let gcc = Command::new("sh").args(["-c", "command -v gcc"]).output().unwrap().stdout;
    let gcc = String::from_utf8(gcc).unwrap();
    let by_path = project();
    by_path.write("Makefile", &format!("prog: main.c\n\t{} -o prog main.c\n", gcc.trim()));
    by_path.ok(&["build"]);
    let made_before = project();
    let status = Command::new("make").arg("-s").current_dir(made_before.root()).status();
    assert!(status.unwrap().success());
    made_before.ok(&["build"]);
    for project in [by_path, made_before] {
        let expected = [
            "0 UNITS INSTRUMENTED: builds ran, and no program has a probe in it. Usual causes:",
            "calls a compiler by its full path",
            "objects that were made without edgewise were not rebuilt",
        ];
        let said = assert_says(&project, TO_DO, &expected);
        assert!(said.starts_with("0 UNITS"), "{said}");
        let commands = commands(&project);
        assert_eq!(commands[0], "make clean && edgewise build");
        assert_eq!(commands[1], "edgewise build -- make CC=\"edgewise cc\"");
        // Tests that run without a trace do not make it better.
        project.ok(&["run"]);
        let expected = ["2 \u{d7} test without a trace", "no test left a trace"];
        assert_says(&project, TO_DO, &expected);
    }
}

#[test]
fn a_damaged_history_is_said_to_be_so() {
    let project = recorded();
    let history = project.path(".edgewise/history");
    let whole = std::fs::read(&history).unwrap();
    // Wherever it is: what nobody refers to any more may be anything.
    let (mut found, mut tried) = (0, 0);
    for at in (8192..whole.len()).step_by(whole.len() / 12) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        std::fs::write(&history, damaged).unwrap();
        let (code, said) = project.says(&["doctor"]);
        tried += 1;
        if code == HISTORY_UNUSABLE {
            found += 1;
            assert!(said.contains("the history is damaged"), "{said}");
        } else {
            assert_eq!(code, OK, "byte {at}: {said}");
        }
    }
    assert!(found * 2 > tried, "{found} of {tried}");
    for cut in [0, 100, 5000, whole.len() / 2] {
        std::fs::write(&history, &whole[..cut]).unwrap();
        let expected = [
            "history: CANNOT BE USED: ",
            "edgewise.toml: 1 suite, 2 tests\n",
            "prog: 1 unit\n",
            "mv .edgewise/history .edgewise/history.old && edgewise run",
        ];
        assert_says(&project, HISTORY_UNUSABLE, &expected);
    }
    std::fs::write(&history, &whole).unwrap();
    assert_says(&project, OK, &[]);
}

#[test]
fn a_history_of_another_version_is_said_to_be_so() {
    let project = recorded();
    let history = project.path(".edgewise/history");
    let mut bytes = std::fs::read(&history).unwrap();
    for slot in [0, 4096] {
        if bytes[slot..].starts_with(b"EDGWHIST") {
            bytes[slot + 8] = 99;
        }
    }
    std::fs::write(&history, bytes).unwrap();
    let expected = ["history of format 99", "mv .edgewise/history .edgewise/history.old"];
    assert_says(&project, HISTORY_UNUSABLE, &expected);
    assert_eq!(json(&project)["found"]["history"]["is"], "unusable");
}

#[test]
fn what_is_known_of_builds_may_be_damaged() {
    let project = recorded();
    project.write(".edgewise/builds.json", "{");
    let expected =
        ["what is known of the builds cannot be read", "rm .edgewise/builds.json && make"];
    assert_says(&project, TO_DO, &expected);
}

#[test]
fn tests_that_are_selected_each_time_are_listed_with_the_reason() {
    let project = Project::of_source(MAIN, &[]);
    project.write(
        "tests.list",
        "fine ./prog\nbad ./prog && false\nslow ./prog && sleep 600\nscript true\nidle exit 77\n\
         cut ./prog; for f in $EDGEWISE_TRACE/*.trace; do : > $f; done\n",
    );
    project.ok(&["build"]);
    project.edgewise(&["run", "--timeout", "1"]);
    let list = project.read("tests.list");
    project.write("tests.list", &format!("{list}later ./prog\n"));
    let said = assert_says(
        &project,
        TO_DO,
        &[
            "1 \u{d7} test that was never run, selected:\n  t/later\n",
            "t/bad: it failed the last time\n",
            "t/slow: it ran out of time the last time\n",
            "1 \u{d7} test whose trace is not complete, selected each time:\n  t/cut: its trace is not complete: ",
            "t/script: it left no trace: it ran no instrumented program\n",
            "1 test (t/later) was never run\n         edgewise test\n",
            "without a complete trace: see why\n         edgewise explain t/cut\n",
        ],
    );
    assert!(!said.contains("t/fine"), "{said}");
    let tests = &json(&project)["found"]["tests"];
    assert_eq!(tests["listed"], 7);
    assert_eq!(tests["never_run"], serde_json::json!(["t/later"]));

    // A test that is no more is nobody's concern.
    project.write("tests.list", "fine ./prog\n");
    assert_says(&project, OK, &[]);

    std::fs::remove_file(project.path("tests.list")).unwrap();
    let expected = ["tests that cannot be listed", "the tests cannot be listed: ", "tests.list"];
    assert_says(&project, TO_DO, &expected);
}

#[test]
fn tests_that_are_not_the_same_each_time_are_named() {
    let source = "\
#include <stdio.h>
int main(int argc, char **argv)
{
    FILE *file = fopen(argv[argc - 1], \"a\");
    if (!file)
        return 2;
    fputc('x', file);
    if (ftell(file) % 2 == 0)
        puts(\"even\");
    return 0;
}
";
    let project = Project::of_source(source, &[("flips", "flips.out"), ("same", "/dev/null")]);
    project.ok(&["build"]);
    project.ok(&["run", "--repeat", "3"]);
    let expected = [
        "1 \u{d7} test that does not do the same each time, all that it did counts:\n  t/flips\n",
        "1 test is flagged now",
        "edgewise run --repeat 5 t/flips\n",
    ];
    assert_says(&project, TO_DO, &expected);
}

#[test]
fn tests_whose_files_cannot_be_seen_are_named() {
    let project = project();
    // What a static program uses is not seen.
    project.write("look.out.c", "int main(void)\n{\n    return 0;\n}\n");
    let mut gcc = Command::new("gcc");
    gcc.args(["-static", "-o", "look.out", "look.out.c"]).current_dir(project.root());
    assert!(gcc.status().unwrap().success());
    project.write("tests.list", "none ./prog\none ./look.out && ./prog a\n");
    project.record();
    let expected = ["1 \u{d7} test whose files could not be seen, ", "  t/one: "];
    let said = assert_says(&project, OK, &expected);
    assert!(!said.contains("t/none"), "{said}");
}

#[test]
fn a_program_that_is_not_what_its_sources_would_make() {
    let project = recorded();
    project.edit("main.c", "return 0;", "return 0; /* a comment */");
    assert_says(&project, OK, &[]);
    project.edit("main.c", "\"more\"", "\"less\"");
    let expected = [
        "1 \u{d7} stale program, until it is built again, `select --from-build` selects whoever ran it:\n  \
         prog: not built from main.c as that is now\n",
        "since the last run; tests that it concerns are selected:\n  \
         1. prog is older than the sources, which were edited since\n         edgewise test\n\nOK\n",
    ];
    // An edit is no fault in how the project is set up.
    assert_says(&project, OK, &expected);
    let value = json(&project);
    assert_eq!(
        (&value["ok"], &value["everyday"][0]["command"]),
        (&true.into(), &"edgewise test".into())
    );
    project.ok(&["test"]);
    assert!(!assert_says(&project, OK, &[]).contains("since the last run"));
    std::fs::rename(project.path("main.c"), project.path("main.out")).unwrap();
    assert_says(&project, OK, &["  prog: built from main.c, which is gone\n"]);
}

#[test]
fn a_program_that_is_gone() {
    let project = recorded();
    std::fs::remove_file(project.path("prog")).unwrap();
    let expected = [
        "0 UNITS INSTRUMENTED: the programs that were built and tested are not there any more\n",
        "1 \u{d7} program that is gone, until it is built again, `select --from-build` selects whoever ran it:\n  \
         prog: 2 tests ran it: t/none, t/one\n",
        "  1. prog is gone, and 2 tests (t/none, t/one) ran it: build it\n         edgewise build\n",
    ];
    let said = assert_says(&project, TO_DO, &expected);
    assert!(!said.contains("full path"), "{said}");
    assert_eq!(commands(&project), ["edgewise build"]);
    assert_eq!(json(&project)["found"]["gone"][0]["tests"], serde_json::json!(["t/none", "t/one"]));
    project.ok(&["build"]);
    assert_says(&project, OK, &["prog: 1 unit\n"]);

    // Beside one that is there.
    project.write("Makefile", "all: prog other\nprog other: main.c\n\t$(CC) -O2 -o $@ main.c\n");
    project.write("tests.list", "none ./prog\none ./prog more && ./other\n");
    std::fs::remove_file(project.path("prog")).unwrap();
    project.ok(&["test"]);
    assert_says(&project, OK, &["other: 1 unit\n"]);
    std::fs::remove_file(project.path("other")).unwrap();
    let said = assert_says(
        &project,
        TO_DO,
        &["  1. other is gone, and 1 test (t/one) ran it: build it\n"],
    );
    assert!(!said.contains("0 UNITS"), "{said}");
    // What no build makes any more, and no test runs, is nobody's concern.
    project.write("Makefile", "all: prog\nprog: main.c\n\t$(CC) -O2 -o $@ main.c\n");
    project.write("tests.list", "none ./prog\none ./prog more\n");
    project.ok(&["test"]);
    let said = assert_says(&project, TO_DO, &["  Makefile\n"]);
    assert!(said.contains("1. Makefile changed since programs were built"), "{said}");
    assert_eq!(commands(&project), ["make clean && edgewise build"]);
    std::fs::remove_file(project.path("prog")).unwrap();
    project.ok(&["test"]);
    assert_says(&project, OK, &["prog: 1 unit\n"]);
}

#[test]
fn a_header_that_is_gone() {
    let project = Project::of_source(
        "#include \"size.h\"\nint main(void)\n{\n    return SIZE;\n}\n",
        &[("only", "")],
    );
    project.write("size.h", "#define SIZE 0\n");
    project.record();
    assert!(!assert_says(&project, OK, &[]).contains("is gone"));
    std::fs::remove_file(project.path("size.h")).unwrap();
    assert_says(&project, OK, &["  prog: built from size.h, which is gone\n"]);
}

/// A makefile that does not say what its target depends on: no build makes it right.
#[test]
fn a_program_that_builds_leave_as_it_was() {
    let project = project();
    project.write("Makefile", "prog:\n\t$(CC) -O2 -o prog main.c\n");
    project.record();
    project.edit("main.c", "\"more\"", "\"less\"");
    assert_says(&project, OK, &["older than the sources"]);
    project.ok(&["build"]);
    let expected = ["prog is not what the sources would make, and the last build left it so"];
    assert_says(&project, TO_DO, &expected);
    assert_eq!(commands(&project), ["make clean && edgewise build"]);
}

/// What to do after a build that failed is to mend it, and the commands are the project's own.
#[test]
fn a_build_that_failed_is_told_in_the_words_of_the_project() {
    let project = project();
    project.edit("main.c", "return 0;", "return 0");
    assert_eq!(project.says(&["build"]).0, 2);
    let expected = [
        "0 UNITS INSTRUMENTED: the last build failed",
        "1. the last build failed with code 2: mend what it says\n         edgewise build\n",
    ];
    let said = assert_says(&project, TO_DO, &expected);
    assert!(!said.contains("make clean"), "{said}");
    project.edit("main.c", "return 0", "return 0;");
    project.record();
    assert_says(&project, OK, &[]);
    // Later, with programs that are there, it belongs to the work.
    project.edit("main.c", "return 0;", "return 0");
    assert_eq!(project.says(&["build"]).0, 2);
    assert_says(&project, OK, &["1. the last build failed with code 2"]);

    let cmake = Project::empty();
    cmake.write("main.c", "int main(void)\n{\n    return 0\n}\n");
    cmake.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_executable(prog main.c)\n",
    );
    assert_eq!(
        commands(&cmake)[1],
        "edgewise build -- cmake -S . -B build-edgewise && edgewise build -- cmake --build build-edgewise"
    );
    cmake.write_config();
    cmake.write("tests.list", "one out/prog\n");
    cmake.edit("edgewise.toml", "make -s", "cmake -S . -B out && cmake --build out");
    assert_ne!(cmake.says(&["build"]).0, OK);
    assert_eq!(commands(&cmake), ["edgewise build", "edgewise run"]);
    cmake.edit("main.c", "return 0", "return 0;");
    cmake.record();
    assert_says(&cmake, OK, &[]);
    cmake.write(".edgewise/builds.json", "{");
    let wanted = "rm .edgewise/builds.json && cmake --build out --target clean && edgewise build";
    assert_eq!(commands(&cmake)[0], wanted);
}

#[test]
fn a_compiler_that_is_another_one_or_gone() {
    let project = project();
    let script = project.path("tools.out/odd-gcc");
    let write = |comment: &str| {
        project.write("tools.out/odd-gcc", &format!("#!/bin/sh\n# {comment}\nexec gcc \"$@\"\n"));
        std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    };
    write("first");
    project.write("Makefile", "prog: main.c\n\todd-gcc -O2 -o prog main.c\n");
    let path =
        format!("{}:{}", project.path("tools.out").display(), std::env::var("PATH").unwrap());
    let run = |arguments: &[&str]| {
        let output = project.command().args(arguments).env("PATH", &path).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(run(&["build"]).0, OK);
    assert_eq!(run(&["run"]).0, OK);
    let (code, said) = run(&["doctor"]);
    assert_eq!(code, OK, "{said}");
    assert!(said.contains("compiler odd-gcc: ") && said.contains("tools.out/odd-gcc, "), "{said}");
    write("second");
    let (code, said) = run(&["doctor"]);
    assert_eq!(code, TO_DO, "{said}");
    assert!(said.contains("ANOTHER ONE than they were built with"), "{said}");
    assert!(said.contains("odd-gcc is not the one that the programs were built with"), "{said}");
    let expected = ["compiler odd-gcc: it is not there; 1 unit\n", "odd-gcc is not there any more"];
    assert_says(&project, TO_DO, &expected);
}

#[test]
fn what_is_opaque_or_not_analysed_is_named() {
    let project = Project::empty();
    project.write_config();
    project.write("plus.h", "extern \"C\" int plus(int n);\n");
    project
        .write("plus.cpp", "#include \"plus.h\"\nextern \"C\" int plus(int n) { return n + 1; }\n");
    project.write(
        "main.c",
        "int plus(int n);\nint odd(int n)\n{\n#pragma omp parallel\n    n++;\n    return n;\n}\n\
         int main(void)\n{\n    return plus(odd(0)) - 2;\n}\n",
    );
    project.write("Makefile", "prog: main.c plus.cpp\n\t$(CC) -w -c main.c\n\tg++ -c plus.cpp\n\t$(CC) -o prog main.o plus.o\n");
    project.write("tests.list", "one ./prog\n");
    project.record();
    // None of it is a reason not to rely on the answers.
    let said = assert_says(
        &project,
        OK,
        &[
            "prog: 1 unit\n",
            "1 unit instrumented, 2 procedures",
            "main.c: odd: ",
            "1 \u{d7} source that is not analysed",
            "plus.cpp: a language that is not analysed",
            "object or archive linked without a record, a change of it selects who ran the program:\n  prog: plus.o\n",
        ],
    );
    // Of a project tested from C++, its headers and those of the system would
    // hide the few sources.
    assert!(!said.contains("plus.h"), "{said}");
}

#[test]
fn a_program_of_another_version_is_to_be_built_anew() {
    let project = recorded();
    let mut bytes = std::fs::read(project.path("prog")).unwrap();
    let records: Vec<usize> =
        bytes.windows(8).enumerate().filter(|(_, w)| *w == b"EDGWUNIT").map(|(at, _)| at).collect();
    assert!(!records.is_empty());
    for at in records {
        bytes[at + 8] = 99;
    }
    std::fs::write(project.path("prog"), bytes).unwrap();
    let expected =
        ["prog: cannot be read: ", "record of format 99", "the records of prog cannot be read"];
    let said = assert_says(&project, TO_DO, &expected);
    assert!(!said.contains("0 UNITS"), "{said}");
}

#[test]
fn long_lists_are_cut_unless_all_is_asked_for() {
    let project = recorded();
    let many: String = (0..30).map(|number| format!("new{number:02} ./prog\n")).collect();
    project.write("tests.list", &many);
    let (_, said) = project.says(&["doctor"]);
    assert!(said.contains("and 20 more; --all shows them") && !said.contains("t/new25"), "{said}");
    let (_, said) = project.says(&["doctor", "--all"]);
    assert!(said.contains("  t/new25\n"), "{said}");
}
