//! Programs that were linked or built where edgewise did not see it, and that a
//! test runs beside traced ones: each of these edits once selected nothing.

use crate::support::Project;
use std::path::Path;
use std::process::Command;

/// A traced program, and objects for others. Nothing but the traced one is made
/// by `edgewise build`; a unit is part of all of them.
fn project(rules: &str, list: &str) -> Project {
    let project = Project::empty();
    project.write(
        "main.c",
        "int common(void);\nint main(int n, char **v) { (void)v; return n > 9 ? common() : 0; }\n",
    );
    project.write("common.c", "int common(void) { return 0; }\n");
    project.write("late.c", "int common(void);\nint main(void) { return common(); }\n");
    project.write("tool.c", "int main(void) { return 0; }\n");
    project.write(
        "Makefile",
        &format!(
            "all: prog late.o libcommon.a\nprog: main.o common.o\n\t$(CC) -o prog main.o common.o\n\
             libcommon.a: common.o\n\tar rc libcommon.a common.o\n{rules}"
        ),
    );
    project.write_config();
    project.write("tests.list", list);
    project.ok(&["build"]);
    project
}

/// Runs make without us.
fn make(project: &Project, target: &str) {
    let mut make = Command::new("make");
    make.current_dir(project.root()).args(["-s", target]).env_remove("CC");
    assert!(make.status().unwrap().success());
}

fn selected_from_build(project: &Project) -> usize {
    project.select_json(&["--from-build"])["selected"].as_array().unwrap().len()
}

/// An edit of the shared unit, which the traced program does not run.
fn assert_edit_is_selected(project: &Project, build: &dyn Fn()) {
    assert!(project.selected().is_empty(), "{:?}", project.select_json(&[]));
    project.edit("common.c", "return 0;", "return 1;");
    assert_eq!(project.selected(), ["both"]);
    project.ok(&["build"]);
    build();
    assert_eq!(selected_from_build(project), 1);
}

#[test]
fn a_program_that_was_linked_out_of_sight() {
    let project = project(
        "late: late.o common.o\n\tgcc -o late late.o common.o\n",
        "both ./prog && ./late\n",
    );
    make(&project, "late");
    project.ok(&["run"]);
    assert_edit_is_selected(&project, &|| make(&project, "late"));
}

/// Neither its rows nor its content come from the project's own files then.
#[test]
fn a_program_that_was_linked_out_of_sight_and_outside_of_the_project() {
    let elsewhere = tempfile::tempdir().unwrap();
    let late = elsewhere.path().join("late");
    let late = late.display();
    let rule = format!("{late}: late.o common.o\n\tgcc -static -o {late} late.o common.o\n");
    let project = project(&rule, &format!("both ./prog && {late}\n"));
    make(&project, &late.to_string());
    project.ok(&["run"]);
    assert_edit_is_selected(&project, &|| make(&project, &late.to_string()));
}

#[test]
fn a_library_that_was_linked_out_of_sight_and_that_an_untraced_program_loads() {
    let project = project(
        "common.o late.o: CFLAGS += -fPIC\n\
         libcommon.so: common.o\n\tgcc -shared -o libcommon.so common.o\n\
         late: libcommon.so\n\tgcc -o late late.c -L. -lcommon -Wl,-rpath,'$$ORIGIN'\n",
        "both ./prog && ./late\n",
    );
    make(&project, "late");
    project.ok(&["run"]);
    assert_edit_is_selected(&project, &|| make(&project, "libcommon.so"));
}

/// The test links an instrumented library, and removes what it linked.
#[test]
fn a_program_that_the_test_itself_links() {
    let project = project(
        "",
        "both ./prog && gcc -o t.out late.c libcommon.a && ./t.out; s=$?; rm -f t.out; exit $s\n",
    );
    project.ok(&["run"]);
    assert_edit_is_selected(&project, &|| ());
}

/// A program without any record: its content counts, whatever is ignored.
#[test]
fn a_plain_program_that_was_built_out_of_sight() {
    for ignored in [false, true] {
        let project = project(
            "bin/tool: tool.c\n\tmkdir -p bin && gcc -o bin/tool tool.c\n",
            "both ./prog && bin/tool\n",
        );
        if ignored {
            project.edit("edgewise.toml", "\"*.out\"", "\"*.out\", \"bin/**\"");
        }
        // It counts as one of ours by its name alone.
        project.ok(&["build", "--", "make", "-s", "bin/tool"]);
        std::fs::remove_file(project.path("bin/tool")).unwrap();
        make(&project, "bin/tool");
        project.ok(&["run"]);
        assert!(project.selected().is_empty());
        project.edit("tool.c", "return 0;", "return 1;");
        assert_eq!(project.selected(), ["both"]);
        make(&project, "bin/tool");
        assert_eq!(selected_from_build(&project), 1, "ignored: {ignored}");
    }
}

/// Who only copies a traced program does not run it.
#[test]
fn a_traced_program_that_a_test_reads_is_not_run() {
    let project =
        project("", "both cp libcommon.a /dev/null && ./prog\nreads cp prog /dev/null && ./prog\n");
    project.ok(&["run"]);
    assert!(Path::new(&project.path("prog")).exists());
    project.edit("common.c", "return 0;", "return 1;");
    // What reads an archive may link it; what reads a program that has a runtime does not run it unseen.
    assert_eq!(project.selected(), ["both"]);
}

/// Closed before the process is killed, so that nobody can look at what it loaded.
#[test]
fn a_plain_library_that_was_closed_again() {
    let project = Project::empty();
    project.write(
        "main.c",
        "#include <dlfcn.h>\n#include <signal.h>\n#include <unistd.h>\nint main(void)\n{\n    \
         void *library = dlopen(\"./plugin.so\", RTLD_NOW);\n    \
         int (*answer)(void) = (int (*)(void))dlsym(library, \"answer\");\n    \
         if (answer())\n        return 1;\n    dlclose(library);\n    kill(getpid(), SIGKILL);\n}\n",
    );
    project.write("plugin.c", "int answer(void) { return 0; }\n");
    project.write(
        "Makefile",
        "prog: main.c\n\t$(CC) -o prog main.c -ldl\n\
         plugin.so: plugin.c\n\tgcc -shared -fPIC -o plugin.so plugin.c\n",
    );
    project.write_config();
    project.write("tests.list", "killed ./prog; test $? = 137\n");
    project.ok(&["build"]);
    make(&project, "plugin.so");
    project.ok(&["run"]);
    assert!(project.selected().is_empty());
    project.edit("plugin.c", "return 0;", "return 1;");
    make(&project, "plugin.so");
    assert_eq!(selected_from_build(&project), 1);
}
