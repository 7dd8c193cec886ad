//! Tests, runners and disks that misbehave: a clear error or a failed test with
//! its reason, the history intact, and nothing that looks clean and is not.

use crate::support::Project;
use edgewise::history::History;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const SOURCE: &str = "int main(int argc, char **argv)\n{\n    return argc > 2;\n}\n";

fn project(tests: &str) -> Project {
    let project = Project::of_source(SOURCE, &[]);
    project.write("tests.list", tests);
    project.ok(&["build"]);
    project
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn works(program: &str, arguments: &[&str]) -> bool {
    let status = Command::new(program).args(arguments).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Why a test stays selected although it passed.
fn unclean(project: &Project, name: &str) -> Option<String> {
    let history = History::open(&project.path(".edgewise/history")).unwrap();
    history.test(&format!("t/{name}")).unwrap().unclean.clone()
}

#[test]
fn a_runner_of_an_unknown_version_is_refused() {
    let project = Project::empty();
    let cmake = "cmake_minimum_required(VERSION 3.13)\nproject(p NONE)\nenable_testing()\n\
                 add_test(NAME a COMMAND true)\n";
    project.write("CMakeLists.txt", cmake);
    let suite = "[[suite]]\nname = \"s\"\nkind = \"ctest\"\ndirectory = \"build\"\n";
    project.write("edgewise.toml", suite);
    assert!(works("cmake", &["-S", &at(&project, ""), "-B", &at(&project, "build")]));
    // The real one, from a future in which its list is another one.
    let script =
        "#!/bin/sh\nPATH=${PATH#*:}\nctest \"$@\" | sed 's/\"major\" : 1/\"major\" : 7/'\n";
    project.write("bin/ctest", script);
    assert!(works("chmod", &["+x", &at(&project, "bin/ctest")]));
    let path = format!("{}:{}", at(&project, "bin"), std::env::var("PATH").unwrap());
    let output = project.command().arg("run").env("PATH", path).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("ctestInfo of version 7, and we know ctestInfo of version 1"), "{said}");
    assert!(!project.path(".edgewise/history").exists());
}

fn at(project: &Project, name: &str) -> String {
    project.path(name).display().to_string()
}

#[test]
fn a_test_that_hangs_is_ended_with_what_it_started() {
    let project = project(
        "stops ./prog; kill -STOP $$\n\
         deaf trap '' TERM INT; ./prog; while :; do sleep 1; done\n\
         away ./prog; setsid sleep 7 & ./prog; sleep 60\n\
         fine ./prog\n",
    );
    let output = project.edgewise(&["run", "--timeout", "4", "-j2"]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    for name in ["stops", "deaf", "away"] {
        assert!(said.contains(&format!("t/{name}: ran out of time")), "{said}");
    }
    assert_eq!(project.selected(), ["away", "deaf", "stops"]);
}

#[test]
fn binary_output_is_shown_without_harm_and_kept() {
    let project = project("bin ./prog; printf 'a\\000b\\033[2J\\377\\n'; exit 3\n");
    let output = project.edgewise(&["run", "--json", "run.out", "--junit", "junit.out"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!output.stderr.contains(&0x1b) && !output.stderr.contains(&0), "{}", stderr(&output));
    assert!(stderr(&output).contains("exit status: 3"), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_str(&project.read("run.out")).unwrap();
    assert!(json["tests"][0]["output"].as_str().unwrap().contains("a\0b"));
    assert!(project.read("junit.out").is_ascii() || project.read("junit.out").contains('\u{fffd}'));
}

#[test]
fn a_gigabyte_of_output_is_no_trouble() {
    let project = project(
        "much ./prog && head -c 1073741824 /dev/zero | tr '\\000' x\n\
         fails ./prog && head -c 1073741824 /dev/zero; echo the end >&2; exit 1\n",
    );
    let output = project.edgewise(&["run", "-j1", "--json", "run.out"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("the end"));
    let json = project.read("run.out");
    assert!(json.len() < 1 << 20, "{}", json.len());
    assert_eq!(project.selected(), ["fails"]);
}

/// CTest looks at all of the output.
#[test]
fn what_is_left_out_of_long_output_is_still_judged() {
    let project = Project::empty();
    let long = "head -c 30000000 /dev/zero | tr '\\\\000' x";
    let cmake = format!(
        "cmake_minimum_required(VERSION 3.13)\nproject(p NONE)\nenable_testing()\n\
         add_test(NAME bad COMMAND sh -c \"{long}; echo ERROR; {long}\")\n\
         set_tests_properties(bad PROPERTIES FAIL_REGULAR_EXPRESSION ERROR)\n\
         add_test(NAME good COMMAND sh -c \"{long}; echo FINE; {long}\")\n\
         set_tests_properties(good PROPERTIES PASS_REGULAR_EXPRESSION FINE)\n"
    );
    project.write("CMakeLists.txt", &cmake);
    let suite = "[[suite]]\nname = \"s\"\nkind = \"ctest\"\ndirectory = \"build\"\n";
    project.write("edgewise.toml", suite);
    assert!(works("cmake", &["-S", &at(&project, ""), "-B", &at(&project, "build")]));
    let output = project.edgewise(&["run", "--json", "run.out"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_str(&project.read("run.out")).unwrap();
    for test in json["tests"].as_array().unwrap() {
        let expected = if test["name"] == "s/bad" { "failed" } else { "passed" };
        assert_eq!(test["outcome"], expected, "{}", test["why"]);
    }
}

#[test]
fn a_test_whose_trace_cannot_be_read_stays_selected() {
    let project = project(
        "fine ./prog\n\
         damaged ./prog; for f in $EDGEWISE_TRACE/*.trace; do echo nonsense > $f; done\n\
         cut ./prog; for f in $EDGEWISE_TRACE/*.trace; do : > $f; done\n\
         replaced ./prog; rm -r $EDGEWISE_TRACE; echo > $EDGEWISE_TRACE\n",
    );
    project.edgewise(&["run"]);
    assert_eq!(project.selected(), ["cut", "damaged", "replaced"]);
    for name in ["cut", "damaged", "replaced"] {
        assert!(unclean(&project, name).is_some(), "{name}");
    }
    let said = stderr(&project.edgewise(&["select"]));
    assert!(said.contains("its trace is not complete: "), "{said}");
}

/// Who ignores the end of its children never learns how they ended.
#[test]
fn a_caller_that_ignores_sigchld_makes_no_test_pass_or_fail() {
    let project = project("good ./prog\nbad ./prog a b\n");
    let mut command = project.command();
    // SAFETY: one call that is safe behind a fork.
    unsafe {
        command.arg("run").pre_exec(|| {
            libc::signal(libc::SIGCHLD, libc::SIG_IGN);
            Ok(())
        });
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("1 passed, 1 failed"), "{}", stderr(&output));
    assert_eq!(project.selected(), ["bad"]);
}

#[test]
fn a_full_disk_leaves_the_history_as_it_was() {
    if !works("unshare", &["-rm", "sh", "-c", "mount -t tmpfs none /mnt"]) {
        eprintln!("skipped: no file system of our own");
        return;
    }
    let tests: String = (0..300).map(|n| format!("n{n} ./prog {n}\n")).collect();
    let project = project(&tests);
    project.ok(&["run", "n1"]);
    let before = project.selected();
    assert!(!before.is_empty() && before.len() < 300);
    let script = "cp -a .edgewise kept.d && mount -t tmpfs -o size=1200k none .edgewise && \
                  cp -a kept.d/. .edgewise/ && dd if=/dev/zero of=.edgewise/fill bs=1k 2>/dev/null; \
                  \"$0\" run; echo \"code $?\" >&2; \"$0\" select > after.out; \
                  \"$0\" history gc; echo \"gc $?\" >&2; \
                  \"$0\" history merge kept.d/history; echo \"merge $?\" >&2; \
                  \"$0\" select | cmp - after.out && echo same >&2; \
                  rm .edgewise/fill; \"$0\" run && test -z \"$(\"$0\" select)\" && echo again >&2";
    let output = Command::new("unshare")
        .current_dir(project.root())
        .args(["-rm", "sh", "-c", script, env!("CARGO_BIN_EXE_edgewise")])
        .output()
        .unwrap();
    let said = stderr(&output);
    assert!(said.contains("No space left on device"), "{said}");
    for line in ["code 2", "gc 2", "merge 2", "same", "again"] {
        assert!(said.lines().any(|said| said == line), "{line}: {said}");
    }
    // The first commits of the run may still have found room.
    let after = project.read("after.out");
    assert!(!after.is_empty());
    for name in after.lines().map(|name| name.trim_start_matches("t/")) {
        assert!(before.iter().any(|before| before == name), "{name} was recorded before");
    }
}

#[test]
fn who_comes_second_waits_and_says_so() {
    let project = project("slow ./prog; touch started.out; sleep 2\nquick ./prog\n");
    let mut first = project.command().args(["run", "slow"]).stderr(Stdio::null()).spawn().unwrap();
    while !project.path("started.out").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let second = project.edgewise(&["run", "quick"]);
    assert!(second.status.success());
    let said = stderr(&second);
    assert!(said.contains("another edgewise works on this project; waiting for it"), "{said}");
    assert!(first.wait().unwrap().success());
    assert!(project.selected().is_empty());
}

/// What a harness gives a test as its input was opened before the test began.
#[test]
fn a_file_that_is_the_input_of_a_traced_command_counts() {
    let source = "#include <stdio.h>\nint main(void)\n{\n    return getchar() == EOF;\n}\n";
    let project = Project::of_source(source, &[]);
    project.write("edgewise.toml", "[build]\ncommand = \"make -s\"\n");
    project.write("data/in.txt", "x\n");
    project.write("data/other.txt", "x\n");
    project.ok(&["build"]);
    let script = "\"$0\" trace --test h/in --verdict exit-status -- ./prog < data/in.txt && \
                  \"$0\" trace --test h/five --verdict exit-status -- sh -c './prog <&5' 5< data/other.txt && \
                  \"$0\" trace --test h/three --verdict exit-status -- sh -c './prog <&3' 3< data/other.txt";
    let status = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_edgewise")])
        .current_dir(project.root())
        .status();
    assert!(status.unwrap().success());
    assert!(project.selected().is_empty());
    // Any file may be one that the harness reads; of these it is known who reads them.
    let history = History::open(&project.path(".edgewise/history")).unwrap();
    for (name, file) in [("in", "in.txt"), ("five", "other.txt"), ("three", "other.txt")] {
        let uses = history.uses(history.test(&format!("h/{name}")).unwrap().uses).unwrap();
        let data: Vec<&str> =
            uses.files.iter().filter_map(|(used, _)| used.strip_prefix("data/")).collect();
        assert_eq!(data, [file], "{name}");
    }
    project.write("data/in.txt", "y\n");
    assert_eq!(project.selected(), ["five", "in", "three"]);
}

/// The test finds its name free. Once it is not, it does something else.
#[test]
fn a_name_that_a_test_took_counts_when_somebody_else_takes_it() {
    let source = "\
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    const char *how = argv[1], *taken = argv[2];
    int fails = 0;
    if (!strcmp(how, \"create\"))
        fails = open(taken, O_RDWR | O_CREAT, 0644) < 0;
    else if (!strcmp(how, \"exclusive\"))
        fails = open(taken, O_RDWR | O_CREAT | O_EXCL, 0644) < 0;
    else if (!strcmp(how, \"append\"))
        fails = !fopen(taken, \"a+\");
    else if (!strcmp(how, \"directory\"))
        fails = mkdir(taken, 0755);
    else if (!strcmp(how, \"link\"))
        fails = symlink(\"nowhere\", taken);
    else
        fails = !fopen(taken, \"w\");
    remove(taken);
    return fails;
}
";
    let names = ["create", "exclusive", "append", "directory", "link"];
    let tests: String =
        names.iter().map(|how| format!("{how} ./prog {how} {how}.taken\n")).collect();
    let project = Project::of_source(source, &[]);
    project.write("tests.list", &format!("{tests}empties ./prog empties empties.taken\n"));
    project.record();
    assert!(project.selected().is_empty());
    // A name for each: they run beside each other.
    for how in names.iter().chain(&["empties"]) {
        project.write(&format!("{how}.taken"), "x\n");
    }
    let mut expected = names.to_vec();
    expected.sort_unstable();
    assert_eq!(project.selected(), expected);
}

/// What the test itself has left is no reason to run it again.
#[test]
fn what_a_test_makes_and_leaves_is_its_own() {
    let project = project(
        "makes ./prog && mkdir -p left/deep && echo a >> left/log && ln -sf log left/link\n\
         asks ./prog && { test -d place || mkdir place; }\n",
    );
    project.ok(&["run"]);
    assert!(project.selected().is_empty(), "{}", stderr(&project.edgewise(&["select"])));
    project.write("left/log", "another\n");
    assert_eq!(project.selected(), ["makes"]);
}

/// What it finds there the next time is its own work.
#[test]
fn what_a_test_makes_in_a_directory_that_it_lists_is_its_own() {
    let project = project(
        "own ./prog && ls data && echo > data/own\n\
         other ./prog && ls data && echo > elsewhere\n",
    );
    project.write("data/a", "");
    project.ok(&["run", "-j1"]);
    assert_eq!(project.selected(), ["other"]);
    project.ok(&["run", "other"]);
    assert!(project.selected().is_empty());
    project.write("data/b", "");
    assert_eq!(project.selected(), ["other", "own"]);
}

/// `edgewise trace` passes the output on and does not look at it.
#[test]
fn a_test_that_is_judged_by_its_output_is_not_clean_if_nobody_saw_that() {
    let project = Project::empty();
    let cmake = "cmake_minimum_required(VERSION 3.13)\nproject(p C)\nenable_testing()\n\
                 add_executable(prog main.c)\nadd_test(NAME a COMMAND prog)\n\
                 set_tests_properties(a PROPERTIES FAIL_REGULAR_EXPRESSION ERROR)\n";
    project.write("CMakeLists.txt", cmake);
    project.write("main.c", "#include <stdio.h>\nint main(void) { return puts(\"ERROR\") < 0; }\n");
    let suite = "ignore = [\"build/**\"]\n[[suite]]\nname = \"t\"\nkind = \"ctest\"\n\
                 directory = \"build\"\n";
    project.write("edgewise.toml", suite);
    project.ok(&["build", "--", "cmake", "-S", ".", "-B", "build"]);
    project.ok(&["build", "--", "cmake", "--build", "build"]);
    project.ok(&["trace", "--test", "t/a", "--", "build/prog"]);
    assert_eq!(project.selected(), ["a"]);
    assert!(unclean(&project, "a").unwrap().contains("nobody saw that"));
}

#[test]
fn an_empty_directory_counts_for_who_looks_for_it() {
    let project = project("looks ./prog; test -d cache; ./prog\nlists ./prog && ls data\n");
    project.write("data/a", "");
    project.ok(&["run"]);
    assert!(project.selected().is_empty());
    std::fs::create_dir(project.path("cache")).unwrap();
    assert_eq!(project.selected(), ["looks"]);
    std::fs::create_dir(project.path("data/new")).unwrap();
    assert_eq!(project.selected(), ["lists", "looks"]);
}

#[test]
fn a_history_of_a_newer_edgewise_is_refused_by_every_command() {
    let project = project("one ./prog\n");
    project.ok(&["run"]);
    let path = project.path(".edgewise/history");
    let good = std::fs::read(&path).unwrap();
    let mut newer = good.clone();
    for slot in [0, 4096] {
        newer[slot..slot + 8].copy_from_slice(b"EDGWHIST");
        newer[slot + 8] = 200;
    }
    std::fs::write(&path, &newer).unwrap();
    let commands: &[&[&str]] = &[
        &["history", "show"],
        &["history", "gc"],
        &["history", "export", "--format", "csv"],
        &["history", "merge", ".edgewise/history"],
        &["trace", "--test", "t/one", "--", "./prog"],
    ];
    for command in commands {
        let output = project.edgewise(command);
        assert_eq!(output.status.code(), Some(3), "{command:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("format 200"), "{command:?}: {}", stderr(&output));
        assert_eq!(std::fs::read(&path).unwrap(), newer, "{command:?}");
    }
}

/// Our names for the compilers would lead nowhere, and the real ones be found behind
/// them: a build without probes that looks like one with them.
#[test]
fn a_program_that_was_replaced_while_it_ran_builds_nothing() {
    let project = Project::of_source(SOURCE, &[]);
    std::fs::copy(env!("CARGO_BIN_EXE_edgewise"), project.path("replaced")).unwrap();
    // What runs is the file that the shell has open, which has no name any more.
    let script = "exec 9<replaced && rm replaced && exec /proc/self/fd/9 build";
    let output = Command::new("sh").args(["-c", script]).current_dir(project.root()).output();
    let output = output.unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("was replaced or removed while it ran"), "{said}");
    assert!(!project.path("prog").exists());
}
