//! What goes wrong goes wrong clearly, and nothing looks clean because of it.

use crate::support::{Project, sample};
use std::process::{Command, Stdio};
use std::time::Duration;

const SOURCE: &str = "\
#include <stdlib.h>
int main(int argc, char **argv)
{
    if (argc > 1 && atoi(argv[1]) > 0)
        return 0;
    return 0;
}
";

fn small() -> Project {
    Project::of_source(SOURCE, &[("none", ""), ("one", "1")])
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_source_that_does_not_compile_gets_the_compilers_own_words() {
    let project = small();
    project.edit("main.c", "atoi(argv[1]) > 0", "atoi(argv[1] > 0");
    let plain = Command::new("cc")
        .args(["-c", "main.c", "-o", "x.out"])
        .current_dir(project.root())
        .output()
        .unwrap();
    let ours = project.edgewise(&["cc", "-c", "main.c", "-o", "x.out"]);
    assert_eq!(text(&ours.stderr), text(&plain.stderr));
    assert!(text(&ours.stderr).contains("main.c:4:"));
    assert_eq!(ours.status.code(), plain.status.code());
    assert!(!project.path("x.out").exists());
    let build = project.edgewise(&["build"]);
    assert_eq!(build.status.code(), Some(2), "as make does");
    assert!(!project.path(".edgewise/history").exists());
}

#[test]
fn a_missing_header_gets_the_compilers_own_words() {
    let project = small();
    project.edit("main.c", "<stdlib.h>", "\"nowhere.h\"");
    let ours = project.edgewise(&["cc", "-c", "main.c", "-o", "x.out"]);
    assert_eq!(ours.status.code(), Some(1));
    assert!(text(&ours.stderr).contains("main.c:1:10: fatal error: nowhere.h"));
}

#[test]
fn without_a_history_every_test_is_selected_with_a_hint() {
    let project = small();
    let output = project.edgewise(&["select"]);
    assert!(output.status.success());
    assert_eq!(text(&output.stdout), "t/none\nt/one\n");
    let said = text(&output.stderr);
    assert!(said.contains("there is no history yet") && said.contains("`edgewise run`"), "{said}");
}

#[test]
fn sources_that_no_longer_preprocess_select_who_ran_them() {
    let project = small();
    project.record();
    project.edit("main.c", "<stdlib.h>", "\"nowhere.h\"");
    let output = project.edgewise(&["select"]);
    assert_eq!(text(&output.stdout), "t/none\nt/one\n");
    assert!(text(&output.stderr).contains("nowhere.h: No such file"), "{}", text(&output.stderr));
}

/// Every command that uses the history, on one that cannot be used.
fn refuses(project: &Project, what: &str) {
    let path = project.path(".edgewise/history");
    let before = std::fs::read(&path).unwrap();
    for command in [["select"].as_slice(), &["run"], &["test"]] {
        let output = project.edgewise(command);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{command:?}: {said}");
        let first = said.lines().next().unwrap();
        assert!(first.contains(what), "{command:?}: {first}");
        assert!(said.contains("hint: "), "{said}");
        assert!(output.stdout.is_empty());
    }
    assert!(std::fs::read(&path).unwrap() == before, "nothing is overwritten");
}

#[test]
fn a_damaged_history_is_refused_and_kept() {
    let project = small();
    project.record();
    let path = project.path(".edgewise/history");
    let good = std::fs::read(&path).unwrap();
    for (name, bad) in [
        ("cut", good[..good.len() / 2].to_vec()),
        ("short", good[..100].to_vec()),
        ("empty", Vec::new()),
        ("zeros", vec![0; good.len()]),
        ("flipped", {
            let mut bytes = good.clone();
            let last = bytes.len() - 5;
            bytes[last] ^= 0x40;
            bytes
        }),
    ] {
        std::fs::write(&path, bad).unwrap();
        println!("{name}");
        refuses(&project, "damaged");
    }
    std::fs::write(&path, good).unwrap();
    assert!(project.selected().is_empty());
}

#[test]
fn a_newer_history_is_refused_and_kept() {
    let project = small();
    project.record();
    let path = project.path(".edgewise/history");
    let mut bytes = std::fs::read(&path).unwrap();
    for slot in [0, 4096] {
        bytes[slot..slot + 8].copy_from_slice(b"EDGWHIST");
        bytes[slot + 8] = 200;
    }
    std::fs::write(&path, bytes).unwrap();
    refuses(&project, "format 200");
}

#[test]
fn any_flipped_byte_is_damage_or_changes_nothing() {
    let project = small();
    project.record();
    let path = project.path(".edgewise/history");
    let good = std::fs::read(&path).unwrap();
    // Every part of the file: slots, units, rows, programs, contents.
    let step = good.len() / 60;
    for at in (0..good.len()).step_by(step.max(1)) {
        let mut bytes = good.clone();
        bytes[at] ^= 0x11;
        std::fs::write(&path, bytes).unwrap();
        let output = project.edgewise(&["select"]);
        let fine = output.status.success() && output.stdout.is_empty();
        assert!(fine || output.status.code() == Some(3), "byte {at}: {}", text(&output.stderr));
    }
}

#[test]
fn ctrl_c_keeps_what_was_recorded_and_the_interrupted_test_selected() {
    let project = small();
    project.write(
        "tests.list",
        "first ./prog 1\nslow ./prog; touch slow.out; sleep 30\nlast ./prog\n",
    );
    project.ok(&["build"]);
    let mut child = project.hearing().args(["run", "-j1"]).stderr(Stdio::piped()).spawn().unwrap();
    while !project.path("slow.out").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    // SAFETY: signals the child that was just started.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(project.selected(), ["last", "slow"]);
}

/// In a script's background job interrupts are ignored, and so are they by its
/// children: the suite of make notices.
#[test]
fn a_signal_that_is_ignored_stays_so_for_tests() {
    for signal in ["INT", "TERM"] {
        let project = small();
        project.write("tests.list", &format!("heard ./prog; kill -{signal} $$\n"));
        project.ok(&["build"]);
        assert_eq!(project.hearing().arg("run").status().unwrap().code(), Some(1));
        let ours = project.command();
        let mut shell = Command::new("/bin/sh");
        let ignoring = format!("trap '' {signal}; exec \"$@\"");
        shell.args(["-c", &ignoring, "sh"]).arg(ours.get_program()).arg("run");
        shell.current_dir(project.root()).env_remove("EDGEWISE_TRACE");
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{signal}: {}", text(&output.stderr));
        assert!(project.selected().is_empty());
    }
}

#[test]
fn a_killed_run_leaves_a_history_that_opens() {
    let project = small();
    let list: String = (0..40).map(|n| format!("n{n} ./prog {n}; sleep 0.05\n")).collect();
    project.write("tests.list", &list);
    project.ok(&["build"]);
    for wait in [300, 700, 1300] {
        let mut child =
            project.command().args(["run", "-j2"]).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
        project.ok(&["select"]);
    }
    project.ok(&["run"]);
    assert!(project.selected().is_empty());
}

#[test]
fn tests_that_do_not_end_well_stay_selected() {
    let project = small();
    project.write(
        "tests.list",
        "good ./prog\nfails ./prog && false\nmissing ./nowhere\nslow ./prog; sleep 20\nnotrace true\n",
    );
    project.ok(&["build"]);
    let output = project.edgewise(&["run", "--timeout", "1"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(project.selected(), ["fails", "missing", "notrace", "slow"]);
}

#[test]
fn configuration_mistakes_are_named() {
    let project = Project::empty();
    let output = project.edgewise(&["select"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("no edgewise.toml"));
    project.write("edgewise.toml", "sutie = 3\n");
    let output = project.edgewise(&["run"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("unknown field `sutie`"), "{}", text(&output.stderr));
    project.write_config();
    project.write("tests.list", "a true\na false\n");
    let output = project.edgewise(&["run"]);
    assert!(text(&output.stderr).contains("two tests have the name `t/a`"));
}

#[test]
fn the_demo_without_make_says_what_to_install() {
    let project = Project::empty();
    let output = project.command().arg("demo").env("PATH", "/nonexistent").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("needs `cc`") && said.contains("apt-get install"), "{said}");
}

#[test]
fn the_sample_has_what_the_demo_promises() {
    let project = sample();
    let list = project.read("tests/list");
    let tests = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).count();
    assert!(tests >= 25);
    let output = project.command().args(["demo", "played"]).output().unwrap();
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("safely skipped") && said.contains("Try there:"), "{said}");
    assert!(project.path("played/build/tally").exists());
}

/// Taken for empty, it would leave out reasons to select.
#[test]
fn a_damaged_state_of_the_builds_is_refused() {
    let project = small();
    project.record();
    project.write(".edgewise/builds.json", "{ \"programs\": [");
    for command in [["select"].as_slice(), &["run"], &["test"], &["build"]] {
        let output = project.edgewise(command);
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        let said = text(&output.stderr);
        assert!(said.contains("is damaged") && said.contains("hint: "), "{said}");
    }
}

/// Two programs, one of a directory of its own.
fn two_programs() -> Project {
    let project = Project::empty();
    project.write("src/one.c", SOURCE);
    project.write("two.c", SOURCE);
    project.write(
        "Makefile",
        "all: one two\none: src/one.c\n\t$(CC) -o one src/one.c\ntwo: two.c\n\t$(CC) -o two two.c\n",
    );
    project.write_config();
    project.write("tests.list", "none ./one\nsome ./one 1\ntwo ./two\n");
    project
}

fn selected_with_reasons(project: &Project) -> (Vec<String>, String) {
    let output = project.edgewise(&["select"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    (project.selected(), text(&output.stderr))
}

#[test]
fn a_unit_that_does_not_preprocess_concerns_its_programs_alone() {
    let project = two_programs();
    project.record();
    project.edit("src/one.c", "<stdlib.h>", "\"nowhere.h\"");
    let (selected, why) = selected_with_reasons(&project);
    assert_eq!(selected, ["none", "some"], "{why}");
    assert!(why.contains("src/one.c does not preprocess") && why.contains("nowhere.h"), "{why}");
    project.edit("src/one.c", "\"nowhere.h\"", "<stdlib.h>");
    project.edit("src/one.c", "int main", "#if 1\nint main");
    let (selected, why) = selected_with_reasons(&project);
    assert_eq!(selected, ["none", "some"], "{why}");
    assert!(why.contains("unterminated"), "{why}");
    project.edit("src/one.c", "#if 1\n", "");
    assert!(project.selected().is_empty());
}

#[test]
fn a_source_that_is_gone_selects_who_ran_it() {
    let project = two_programs();
    project.record();
    std::fs::remove_file(project.path("src/one.c")).unwrap();
    let (selected, why) = selected_with_reasons(&project);
    assert_eq!(selected, ["none", "some"], "{why}");
    assert!(why.contains("src/one.c"), "{why}");
    project.write("src/one.c", SOURCE);
    assert!(project.selected().is_empty());
}

#[test]
fn a_compiler_that_is_gone_selects_who_ran_what_it_made() {
    let tools = Project::empty();
    tools.write("mycc", "#!/bin/sh\nexec gcc \"$@\"\n");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(tools.path("mycc"), executable).unwrap();
    let project = two_programs();
    let makefile = project.read("Makefile");
    project.write("Makefile", &makefile.replace("\t$(CC) -o one", "\t$(OURS) -o one"));
    let build = project
        .command()
        .args(["build"])
        .env("OURS", env!("CARGO_BIN_EXE_edgewise-cc"))
        .env("EDGEWISE_CC", tools.path("mycc"))
        .output()
        .unwrap();
    assert!(build.status.success(), "{}", text(&build.stderr));
    project.ok(&["run"]);
    assert!(project.selected().is_empty());
    std::fs::remove_file(tools.path("mycc")).unwrap();
    let (selected, why) = selected_with_reasons(&project);
    assert!(["none", "some"].iter().all(|test| selected.iter().any(|s| s == test)), "{why}");
    assert!(why.contains("mycc` not found"), "{why}");
}

#[test]
fn a_project_that_was_moved_is_the_same() {
    let project = two_programs();
    project.record();
    let elsewhere = tempfile::tempdir().unwrap();
    let place = elsewhere.path().join("moved");
    std::fs::rename(project.root(), &place).unwrap();
    let run = |arguments: &[&str]| {
        let output = project.command().args(arguments).current_dir(&place).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    assert_eq!(run(&["select"]), "");
    assert_eq!(run(&["select", "--from-build"]), "");
    let changed = SOURCE.replace("> 0)\n        return 0;", "> 0)\n        return 1 - 1;");
    std::fs::write(place.join("src/one.c"), changed).unwrap();
    assert_eq!(run(&["select"]), "t/some\n");
    run(&["build"]);
    assert_eq!(run(&["select", "--from-build"]), "t/some\n");
    run(&["test"]);
    assert_eq!(run(&["select"]), "");
    std::fs::create_dir(project.root()).unwrap();
}

#[test]
fn a_directory_of_sources_with_another_name() {
    let project = two_programs();
    project.record();
    std::fs::rename(project.path("src"), project.path("lib")).unwrap();
    // As long as the build does not know of it.
    let (selected, why) = selected_with_reasons(&project);
    assert_eq!(selected.len(), 3, "a source is new: {why}");
    assert!(why.contains("src/one.c") && why.contains("lib/one.c is new"), "{why}");
    let makefile = project.read("Makefile");
    project.write("Makefile", &makefile.replace("src/", "lib/"));
    assert_eq!(project.selected().len(), 3);
    // The command that links it names its source.
    project.write("lib/one.c", SOURCE);
    project.ok(&["build"]);
    let built = project.ok(&["select", "--from-build"]);
    assert_eq!(built.lines().count(), 3, "the other program was not made anew");
    ["one", "two"].iter().for_each(|name| std::fs::remove_file(project.path(name)).unwrap());
    project.ok(&["build"]);
    assert_eq!(project.ok(&["select", "--from-build"]), "t/none\nt/some\n");
    project.ok(&["test"]);
    assert!(project.selected().is_empty());
    project.edit("lib/one.c", "> 0)\n        return 0;", "> 0)\n        return 1 - 1;");
    assert_eq!(project.selected(), ["some"]);
}

#[test]
fn the_history_of_another_project_skips_nothing() {
    let other = two_programs();
    other.record();
    let project = two_programs();
    for name in ["src/one.c", "two.c"] {
        project.edit(name, "> 0)", "> 1 - 1)");
        project.edit(name, "if (argc", "int n = argc;\n    if (n");
    }
    project.ok(&["build"]);
    std::fs::copy(other.path(".edgewise/history"), project.path(".edgewise/history")).unwrap();
    let (selected, why) = selected_with_reasons(&project);
    assert_eq!(selected, ["none", "some", "two"], "{why}");
    let built = project.ok(&["select", "--from-build"]);
    assert_eq!(built.lines().count(), 3);
}

#[test]
fn what_is_wrong_with_a_list_or_an_argument_is_said_with_its_place() {
    let project = small();
    project.record();
    let fails = |arguments: &[&str], code: i32| {
        let output = project.edgewise(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stderr)
    };
    let zero = fails(&["run", "--timeout", "0"], 2);
    assert!(zero.contains("--timeout <SECONDS>") && zero.contains("0 is not in 1.."), "{zero}");
    let html = fails(&["report", "--html", "/proc/x"], 2);
    assert!(html.contains("cannot write the report to /proc/x: "), "{html}");
    assert!(html.contains("\nhint: ") && !html.contains("os error"), "{html}");
    let list = project.read("tests.list");
    project.write("tests.list", &format!("{list}\n# again\n{list}"));
    let twice = fails(&["run"], 2);
    assert!(
        twice.contains("two tests have the name `t/none`: tests.list:1, tests.list:5\n"),
        "{twice}"
    );
    std::fs::remove_file(project.path("tests.list")).unwrap();
    let missing = fails(&["run"], 2);
    assert!(
        missing.contains(
            "cannot read tests.list, the list of tests of suite `t`: there is no such file\nhint: "
        ),
        "{missing}"
    );
}
