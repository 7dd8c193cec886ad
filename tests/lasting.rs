//! Reasons that outlast their cause: once the next build is done, a build that was killed or
//! interrupted selects nothing any more.

use crate::support::Project;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const MAKEFILE: &str = "\
prog: main.o big.o small.o
\t$(CC) -o prog main.o big.o small.o
main.o: main.c made.h
made.h: made.in
\tcat made.in >made.h
big.o: big.c
\tif test -e stop; then echo >waiting; fi; while test -e stop; do sleep 0.05; done
\t$(CC) -c big.c
clean:
\trm -f *.o prog made.h
";
const MAIN: &str = "\
#include <stdio.h>
#include \"made.h\"
int big(int n);
int small(int n);
int main(int argc, char **argv) { (void)argv; printf(\"%d\\n\", argc > 1 ? big(argc) + MADE : small(argc)); return 0; }
";

fn recorded() -> Project {
    let project = Project::empty();
    project.write_config();
    project.write("tests.list", "big ./prog 1\nsmall ./prog\n");
    project.write("main.c", MAIN);
    project.write("big.c", "int big(int n) { return n + 1; }\n");
    project.write("small.c", "int small(int n) { return n * 2; }\n");
    project.write("made.in", "#define MADE 1\n");
    project.write("Makefile", MAKEFILE);
    project.record();
    project
}

/// Stops a build in its middle by a signal, with temporary files in a directory; then lets what
/// is left of it come to its end.
fn stop_build(project: &Project, temporary: &Path, signal: i32) {
    project.edit("big.c", "n + 1", "n + 3");
    project.write("stop", "");
    let mut command = project.hearing();
    command.arg("build").env("TMPDIR", temporary).stdout(Stdio::null()).stderr(Stdio::null());
    let mut build = command.spawn().unwrap();
    wait_until(|| project.path("waiting").exists());
    // SAFETY: the process is ours.
    unsafe { libc::kill(build.id() as i32, signal) };
    build.wait().unwrap();
    std::fs::remove_file(project.path("stop")).unwrap();
    std::fs::remove_file(project.path("waiting")).unwrap();
    // A make that is not told to stop goes on.
    wait_until(|| !is_running(temporary));
}

fn wait_until(is_so: impl Fn() -> bool) {
    while !is_so() {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a process has this directory for its temporary files.
fn is_running(temporary: &Path) -> bool {
    let wanted = format!("TMPDIR={}", temporary.display());
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut environments = processes.filter_map(|p| std::fs::read(p.path().join("environ")).ok());
    environments.any(|all| all.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes()))
}

fn edgewise(project: &Project, temporary: &Path, arguments: &[&str]) -> String {
    let output = project.command().args(arguments).env("TMPDIR", temporary).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn clean(project: &Project) {
    let make = Command::new("make").arg("clean").current_dir(project.root()).output();
    assert!(make.unwrap().status.success());
}

/// Edits select the tests that they concern, and `doctor` has nothing to say; twice.
fn is_as_ever(project: &Project, temporary: &Path) {
    for edit in ["n * 3", "n * 4"] {
        let doctor = edgewise(project, temporary, &["doctor"]);
        assert!(doctor.ends_with("\nOK\n"), "{doctor}");
        project.write("small.c", &format!("int small(int n) {{ return {edit}; }}\n"));
        assert_eq!(edgewise(project, temporary, &["select"]), "t/small\n", "from sources");
        edgewise(project, temporary, &["build"]);
        assert_eq!(edgewise(project, temporary, &["select", "--from-build"]), "t/small\n");
        edgewise(project, temporary, &["test"]);
    }
    project.write("made.in", "#define MADE 2\n");
    assert_eq!(
        edgewise(project, temporary, &["select"]),
        "t/big\nt/small\n",
        "an input of the build"
    );
}

#[test]
fn a_killed_build_counts_until_the_next_build() {
    let temporary = tempfile::tempdir().unwrap();
    let project = recorded();
    stop_build(&project, temporary.path(), libc::SIGKILL);
    let doctor = edgewise(&project, temporary.path(), &["doctor"]);
    assert!(doctor.contains("a build was killed"), "{doctor}");
    assert!(!doctor.ends_with("\nOK\n"), "{doctor}");
    edgewise(&project, temporary.path(), &["test"]);
    is_as_ever(&project, temporary.path());
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "nothing is left of it");
}

#[test]
fn a_killed_build_whose_log_is_lost_counts_until_a_clean_build() {
    let temporary = tempfile::tempdir().unwrap();
    let project = recorded();
    stop_build(&project, temporary.path(), libc::SIGKILL);
    for entry in std::fs::read_dir(temporary.path()).unwrap() {
        std::fs::remove_dir_all(entry.unwrap().path()).unwrap();
    }
    edgewise(&project, temporary.path(), &["test"]);
    let doctor = edgewise(&project, temporary.path(), &["doctor"]);
    assert!(doctor.contains("a build was killed"), "{doctor}");
    project.edit("small.c", "n * 2", "n + n");
    assert_eq!(edgewise(&project, temporary.path(), &["select"]), "t/big\nt/small\n");
    clean(&project);
    edgewise(&project, temporary.path(), &["test"]);
    is_as_ever(&project, temporary.path());
}

/// What the killed build made and the clean one does not make again may have other inputs.
#[test]
fn a_file_of_a_killed_build_that_stays_counts_after_a_clean_build() {
    let temporary = tempfile::tempdir().unwrap();
    let project = recorded();
    project.edit("Makefile", "rm -f *.o prog made.h", "rm -f *.o prog");
    project.edit(
        "Makefile",
        "made.h: made.in\n\tcat made.in",
        "made.h: made.in\n\tcat made.in other.in",
    );
    project.write("other.in", "#define OTHER 1\n");
    project.write("made.in", "#define MADE 3\n");
    stop_build(&project, temporary.path(), libc::SIGKILL);
    for entry in std::fs::read_dir(temporary.path()).unwrap() {
        std::fs::remove_dir_all(entry.unwrap().path()).unwrap();
    }
    clean(&project);
    edgewise(&project, temporary.path(), &["test"]);
    let doctor = edgewise(&project, temporary.path(), &["doctor"]);
    assert!(doctor.contains("made.h"), "{doctor}");
    project.write("other.in", "#define OTHER 2\n");
    assert_eq!(edgewise(&project, temporary.path(), &["select"]), "t/big\nt/small\n");
}

#[test]
fn an_interrupted_build_counts_until_the_next_build() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let temporary = tempfile::tempdir().unwrap();
        let project = recorded();
        stop_build(&project, temporary.path(), signal);
        edgewise(&project, temporary.path(), &["test"]);
        is_as_ever(&project, temporary.path());
    }
}

/// Two programs with a test each; the second source is removed with its program and its test.
fn remove_second(project: &Project, description: &str, before: &str, after: &str) {
    std::fs::remove_file(project.path("two.c")).unwrap();
    project.edit(description, before, after);
}

#[track_caller]
fn assert_nothing_is_selected(project: &Project) {
    project.ok(&["build"]);
    for source in [&["--from-build"][..], &[]] {
        let selected = project.select_json(source);
        assert_eq!(selected["selected"], serde_json::json!([]), "{source:?}");
    }
}

const EMPTY_MAIN: &str = "int main(void)\n{\n    return 0;\n}\n";

#[test]
fn a_source_that_meson_names_no_more() {
    let project = Project::empty();
    project.write("meson.build", "project('p', 'c')\nforeach name : ['one', 'two']\n  test(name, executable(name, name + '.c'))\nendforeach\n");
    project.write("one.c", EMPTY_MAIN);
    project.write("two.c", EMPTY_MAIN);
    project.ok(&["init"]);
    project.record();
    remove_second(&project, "meson.build", "'one', 'two'", "'one'");
    project.ok(&["test"]);
    project.edit("one.c", "int main", "/* one */ int main");
    assert_nothing_is_selected(&project);
}

#[test]
fn a_program_that_no_rule_makes_any_more() {
    let project = Project::empty();
    project.write(
        "Makefile",
        "P = one two\nall: $(P)\n$(P): %: %.c\n\t$(CC) -o $@ $<\nclean:\n\trm -f $(P)\n",
    );
    project.write("one.c", EMPTY_MAIN);
    project.write("two.c", EMPTY_MAIN);
    project.write_config();
    project.write("tests.list", "one ./one\ntwo ./two\n");
    project.record();
    remove_second(&project, "Makefile", "P = one two", "P = one");
    project.write("tests.list", "one ./one\n");
    std::fs::remove_file(project.path("one")).unwrap();
    project.ok(&["test"]);
    assert!(project.path("two").exists());
    project.edit("one.c", "int main", "/* one */ int main");
    assert_nothing_is_selected(&project);
}

/// The program stays, and its test as well: a clean build would not make it.
#[test]
fn a_test_of_a_program_whose_source_is_gone_stays_selected() {
    let project = Project::empty();
    project.write("Makefile", "P = one two\nall: $(P)\n$(P): %: %.c\n\t$(CC) -o $@ $<\n");
    project.write("one.c", EMPTY_MAIN);
    project.write("two.c", EMPTY_MAIN);
    project.write_config();
    project.write("tests.list", "one ./one\ntwo ./two\n");
    project.record();
    remove_second(&project, "Makefile", "P = one two", "P = one");
    std::fs::remove_file(project.path("one")).unwrap();
    project.ok(&["test"]);
    let selected = project.select_json(&["--from-build"]);
    let names: Vec<&str> = selected["selected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["name"].as_str().unwrap())
        .collect();
    assert!(names.iter().any(|name| name.ends_with("two")), "{selected}");
    assert!(!names.iter().any(|name| name.ends_with("one")), "{selected}");
}

/// When a unit was compiled is no edit, wherever the program keeps it.
#[test]
fn the_time_of_a_compile() {
    let main = |declarations: &str, body: &str| {
        format!(
            "#include <stdio.h>\n{declarations}\nint main(int argc, char **argv)\n{{\n    (void)argv;\n    \
             if (argc > 1)\n        {body}\n    return 0;\n}}\n"
        )
    };
    let built = "const char *const built = __DATE__ \" \" __TIME__;";
    let kept = main(built, "printf(\"%d\\n\", built[0] != 0);");
    let inside = main("", "puts(__TIME__ __TIMESTAMP__);");
    let local = main("", "{ static const char when[] = __TIME__; puts(when); }");
    for source in [kept, inside, local] {
        let project = Project::of_source(&source, &[("zero", ""), ("one", "1")]);
        project.record();
        std::thread::sleep(Duration::from_millis(1100));
        let (_, said) = project.says(&["select"]);
        assert!(!said.contains("t/") && !said.contains("number"), "{said}");
        assert!(project.selected().is_empty());
        project.edit("main.c", "argc > 1", "argc > 2");
        assert_eq!(project.selected().len(), 2);
    }
}
