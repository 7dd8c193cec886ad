//! Real runners on small real projects: the tests that we list are those that the
//! runner lists, and what becomes of each is what becomes of it there.

mod running;

use crate::support::Project;
use edgewise::cli::config::Config;
use edgewise::history::format::Outcome;
use edgewise::suite::TestCase;
use regex::Regex;
use running::run_all;
use std::collections::{BTreeMap, HashMap};
use std::process::Command;

const MAIN: &str = "int main(int argc, char **argv) { (void)argv; return argc > 1; }\n";

/// What a shell command in the project prints, and whether it succeeded.
fn sh(project: &Project, line: &str) -> (String, bool) {
    let output = Command::new("/bin/sh")
        .args(["-c", line])
        .current_dir(project.root())
        .env_remove("EDGEWISE_TRACE")
        .env_remove("MAKEFLAGS")
        .env_remove("CC")
        .env("LC_ALL", "C")
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

#[track_caller]
fn tests(project: &Project) -> Vec<TestCase> {
    let config = Config::read(project.root()).unwrap();
    config.tests(project.root()).unwrap_or_else(|error| panic!("{error:#}"))
}

fn error(project: &Project) -> String {
    let tests = Config::read(project.root()).and_then(|config| config.tests(project.root()));
    format!("{:#}", tests.unwrap_err())
}

fn suite(project: &Project, rest: &str) {
    project.write("edgewise.toml", &format!("[[suite]]\nname = \"s\"\n{rest}\n"));
}

fn named<'a>(tests: &'a [TestCase], name: &str) -> &'a TestCase {
    tests.iter().find(|test| test.name == name).unwrap_or_else(|| panic!("no {name}"))
}

/// Our results, and those of the runner, test by test.
#[track_caller]
fn compare(project: &Project, tests: &[TestCase], theirs: &[(String, Outcome)]) {
    let mut listed: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
    let mut expected: Vec<&str> = theirs.iter().map(|(name, _)| name.as_str()).collect();
    listed.sort_unstable();
    expected.sort_unstable();
    assert_eq!(listed, expected);
    let ours: BTreeMap<_, _> = run_all(tests, project.root()).into_iter().collect();
    let theirs: BTreeMap<_, _> = theirs.iter().cloned().collect();
    assert_eq!(ours, theirs);
}

const CTEST: &str = r#"
cmake_minimum_required(VERSION 3.19)
project(fixture C)
include(CTest)
add_executable(prog main.c)
add_executable(never EXCLUDE_FROM_ALL main.c)
function(script name text)
  add_test(NAME ${name} COMMAND sh -c "${text}")
  if(ARGN)
    set_tests_properties(${name} PROPERTIES ${ARGN})
  endif()
endfunction()

add_test(NAME program COMMAND prog)
add_test(NAME program-fails COMMAND prog "an argument")
add_test(old-style prog)
add_test(NAME "a name/with: all" COMMAND prog)
add_test(NAME placeholder COMMAND sh -c "test -x '$<TARGET_FILE:prog>' && test '$<CONFIG>' = ''")
add_test(NAME not-built COMMAND never)
add_test(NAME no-such-program COMMAND no-such-program x)
set_tests_properties(no-such-program PROPERTIES WILL_FAIL ON)
add_test(NAME here COMMAND sh -c "test $PWD = ${CMAKE_BINARY_DIR}")
add_test(NAME elsewhere COMMAND sh -c "test $PWD = /" WORKING_DIRECTORY /)

script(will-fail "exit 3" WILL_FAIL ON)
script(will-fail-and-passes "exit 0" WILL_FAIL ON)
script(will-fail-and-crashes "kill -SEGV $$" WILL_FAIL ON)
script(crash-and-pass-expression "echo done; kill -SEGV $$" PASS_REGULAR_EXPRESSION done)
script(crash-and-skip-expression "echo done; kill -ABRT $$" SKIP_REGULAR_EXPRESSION done)
script(pass-expression "echo it is fine >&2; exit 1" PASS_REGULAR_EXPRESSION "no\;is f[h-j]ne")
script(pass-expression-missing "echo it is bad" PASS_REGULAR_EXPRESSION "fine")
script(pass-and-fail-expression "echo fine error" PASS_REGULAR_EXPRESSION fine FAIL_REGULAR_EXPRESSION error)
script(fail-expression "echo an ERROR" FAIL_REGULAR_EXPRESSION "[Ee][Rr]+OR")
script(fail-expression-will-fail "echo error" FAIL_REGULAR_EXPRESSION error WILL_FAIL ON)
script(brace-is-a-brace "echo aa" FAIL_REGULAR_EXPRESSION "a{2}")
script(end-of-line "echo done" PASS_REGULAR_EXPRESSION "done$")
script(end-without-newline "printf done" PASS_REGULAR_EXPRESSION "done$")
script(first-line "echo a; echo b" PASS_REGULAR_EXPRESSION "^b")
script(dot-and-newline "echo a; echo b" PASS_REGULAR_EXPRESSION "a.b")
script(backslash-d "echo 7" PASS_REGULAR_EXPRESSION "\\d")
script(skip-expression "echo no network; exit 1" SKIP_REGULAR_EXPRESSION "no net")
script(skip-over-fail "echo skip error; exit 1" SKIP_REGULAR_EXPRESSION skip FAIL_REGULAR_EXPRESSION error)
script(skip-code "exit 4" SKIP_RETURN_CODE 4)
script(skip-code-will-fail "exit 4" SKIP_RETURN_CODE 4 WILL_FAIL ON)
script(skip-code-pass-expression "echo a; exit 4" SKIP_RETURN_CODE 4 PASS_REGULAR_EXPRESSION b)
script(environment "test \"$ONE-$TWO-$CTEST_INTERACTIVE_DEBUG_MODE\" = '1-x=y-1'" ENVIRONMENT "ONE=1\;TWO=x=y")
script(modified "test \"$LIST-$TEXT-$GONE-$BACK-$NEW\" = 'a:b:c-xyz--first-n'"
  ENVIRONMENT "LIST=b\;TEXT=y\;GONE=1\;BACK=first"
  ENVIRONMENT_MODIFICATION "LIST=path_list_prepend:a\;LIST=path_list_append:c\;TEXT=string_append:z\;TEXT=string_prepend:x\;GONE=unset:\;BACK=set:second\;BACK=reset:\;NEW=cmake_list_append:n")
script(too-slow "exec sleep 30" TIMEOUT 1)
script(too-slow-will-fail "exec sleep 30" TIMEOUT 1 WILL_FAIL ON)
script(no-limit "exit 0" TIMEOUT 0)
script(required "exit 0" REQUIRED_FILES "CMakeCache.txt\;${CMAKE_SOURCE_DIR}/main.c")
script(required-missing "exit 0" REQUIRED_FILES "CMakeCache.txt\;nowhere" WILL_FAIL ON)
script(disabled "exit 1" DISABLED ON)
script(many "exit 0" LABELS "slow\;net" RESOURCE_LOCK "port\;disk" RUN_SERIAL ON PROCESSORS 3)

script(set-up "touch made" FIXTURES_SETUP made)
script(uses "test -e made && test -e ordered" FIXTURES_REQUIRED made DEPENDS ordered)
script(ordered "touch ordered")
script(clean-up "rm made" FIXTURES_CLEANUP made)
script(bad-set-up "exit 1" FIXTURES_SETUP bad)
script(uses-bad "exit 0" FIXTURES_REQUIRED bad)
script(cleans-bad "exit 0" FIXTURES_CLEANUP bad)
script(disabled-set-up "exit 1" FIXTURES_SETUP off DISABLED ON)
script(uses-disabled "exit 0" FIXTURES_REQUIRED off)
script(skipped-set-up "exit 4" FIXTURES_SETUP skipped SKIP_RETURN_CODE 4)
script(uses-skipped "exit 0" FIXTURES_REQUIRED skipped)
add_subdirectory(sub)
"#;

const CTEST_SUB: &str =
    "add_test(NAME sub-here COMMAND sh -c \"test $PWD = ${CMAKE_CURRENT_BINARY_DIR}\")\n";

/// What `ctest` says of each test.
fn of_ctest(text: &str) -> Vec<(String, Outcome)> {
    let line = Regex::new(r"(?m)^ *\d+/\d+ Test +#\d+: (.+?) \.+[^\n]*?(Passed|Failed|Skipped|Not Run \(Disabled\)|Not Run|Timeout|Exception)").unwrap();
    let outcome = |word: &str| match word {
        "Passed" => Outcome::Passed,
        "Skipped" | "Not Run (Disabled)" => Outcome::Skipped,
        "Timeout" => Outcome::TimedOut,
        _ => Outcome::Failed,
    };
    line.captures_iter(text).map(|found| (format!("s/{}", &found[1]), outcome(&found[2]))).collect()
}

#[test]
fn ctest_with_all_its_properties() {
    let project = Project::empty();
    project.write("CMakeLists.txt", CTEST);
    project.write("sub/CMakeLists.txt", CTEST_SUB);
    project.write("main.c", MAIN);
    must(&project, "cmake -S . -B build && cmake --build build");
    suite(
        &project,
        "kind = \"ctest\"\ndirectory = \"build\"\ninputs = [\"data/**\"]\nvariables = [\"LANG\"]",
    );
    let (theirs, _) = sh(&project, "ctest --test-dir build");
    let listed = must(&project, "ctest --test-dir build -N");
    let theirs = of_ctest(&theirs);
    assert!(listed.contains(&format!("Total Tests: {}\n", theirs.len())), "{listed}");
    let tests = tests(&project);
    compare(&project, &tests, &theirs);

    let many = named(&tests, "s/many");
    assert_eq!(many.labels, ["net", "slow"]);
    assert_eq!((many.resources.processors, many.resources.alone), (3, true));
    assert_eq!(many.resources.locks, ["disk", "port"]);
    assert_eq!(
        (&many.inputs[..], &many.variables[..]),
        (&["data/**".into()][..], &["LANG".into()][..])
    );
    assert_eq!(many.timeout.map(|t| t.as_secs()), Some(1500));
    assert_eq!(named(&tests, "s/no-limit").timeout, None);
    assert_eq!(named(&tests, "s/clean-up").cleans_up_for, ["s/uses"]);
    assert_eq!(named(&tests, "s/uses").needs, ["s/set-up"]);
    assert!(named(&tests, "s/uses-disabled").needs.is_empty());
    assert_eq!(named(&tests, "s/sub-here").directory.to_str(), Some("build/sub"));
}

#[test]
fn ctest_without_a_module_has_no_limit_and_names_no_root() {
    let text = "cmake_minimum_required(VERSION 3.13)\nproject(p NONE)\nenable_testing()\nadd_test(NAME a COMMAND sh -c \"echo ${CMAKE_BINARY_DIR}\")\n";
    let of = || {
        let project = Project::empty();
        project.write("CMakeLists.txt", text);
        must(&project, "cmake -S . -B build");
        suite(&project, "kind = \"ctest\"\ndirectory = \"build\"\nconfiguration = \"debug\"");
        tests(&project).remove(0)
    };
    let (first, second) = (of(), of());
    assert_eq!((first.name.as_str(), first.timeout), ("debug:s/a", None));
    assert_ne!(first.command, second.command);
    assert_eq!(first.fingerprint(), second.fingerprint());
}

#[test]
fn several_configurations_of_one_project() {
    let project = Project::empty();
    let text = "cmake_minimum_required(VERSION 3.19)\nproject(p C)\nenable_testing()\nadd_executable(prog main.c)\n\
        add_test(NAME program COMMAND prog)\nadd_test(NAME which COMMAND sh -c \"test $<CONFIG> = Debug\")\n";
    project.write("CMakeLists.txt", text);
    project.write("main.c", MAIN);
    must(
        &project,
        "cmake -G 'Ninja Multi-Config' -S . -B build && cmake --build build --config Debug",
    );
    let each = ["Debug", "Release", "None"].map(|name| {
        let build_type = match name {
            "None" => String::new(),
            _ => format!("build-type = \"{name}\"\n"),
        };
        format!("[[suite]]\nname = \"s\"\nkind = \"ctest\"\nconfiguration = \"{name}\"\ndirectory = \"build\"\n{build_type}")
    });
    project.write("edgewise.toml", &each.concat());
    let mut theirs = Vec::new();
    for name in ["Debug", "Release", "None"] {
        let option = if name == "None" { String::new() } else { format!("-C {name}") };
        let (text, _) = sh(&project, &format!("ctest --test-dir build {option}"));
        let named =
            of_ctest(&text).into_iter().map(|(test, outcome)| (format!("{name}:{test}"), outcome));
        theirs.extend(named);
    }
    assert_eq!(theirs.len(), 6);
    compare(&project, &tests(&project), &theirs);
}

#[test]
fn ctest_complains() {
    let project = Project::empty();
    project.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.13)\nproject(p NONE)\nenable_testing()\nadd_test(NAME a COMMAND true)\nset_tests_properties(a PROPERTIES PASS_REGULAR_EXPRESSION \"(a*)*\")\n");
    suite(&project, "kind = \"ctest\"\ndirectory = \"build\"");
    assert!(error(&project).contains("suite `s`: its directory build is not there\nhint: "));
    must(&project, "mkdir build");
    assert!(error(&project).contains("has no CTestTestfile.cmake\nhint: "), "{}", error(&project));
    must(&project, "cmake -S . -B build");
    let error = error(&project);
    assert!(error.contains("suite `s`: `ctest --show-only=json-v1`"), "{error}");
    assert!(error.contains("operand could be empty"), "{error}");
}

const MESON: &str = r#"
project('fixture', 'c')
prog = executable('prog', 'main.c')
sh = find_program('sh')
test('ok', prog)
test('ok', prog, suite: ['one', 'two'])
test('fails', prog, args: ['an argument'])
test('should fail', prog, args: ['1'], should_fail: true)
test('should fail and passes', prog, should_fail: true)
test('crashes', sh, args: ['-c', 'kill -SEGV $$'])
test('should fail and crashes', sh, args: ['-c', 'kill -SEGV $$'], should_fail: true)
test('skip', sh, args: ['-c', 'exit 77'])
test('should fail and skips', sh, args: ['-c', 'exit 77'], should_fail: true)
test('error', sh, args: ['-c', 'exit 99'])
test('should fail and has an error', sh, args: ['-c', 'exit 99'], should_fail: true)
test('here', sh, args: ['-c', 'test $PWD = ' + meson.current_build_dir()])
test('elsewhere', sh, args: ['-c', 'test $PWD = ' + meson.current_source_dir()], workdir: meson.current_source_dir())
test('alone', prog, is_parallel: false, priority: 5)
test('too slow', sh, args: ['-c', 'exec sleep 30'], timeout: 1)
test('no limit', prog, timeout: 0)
env = environment()
env.append('PATH', '/last')
env.prepend('PATH', '/first')
env.set('ONE', '1', '2')
env.append('NEW', 'n', separator: ',')
test('environment', sh, env: env, args: ['-c', 'case $PATH in /first:*bin*:/last) ;; *) exit 1 ;; esac; test "$ONE-$NEW-$SETUP" = 1:2-n-s'])
test('list of variables', sh, env: ['A=b=c'], args: ['-c', 'test "$A" = b=c && test -n "$MALLOC_PERTURB_"'])

taps = {
  'passes': 'echo 1..2; echo ok 1; echo ok 2 - b',
  'fails': 'echo 1..2; echo ok 1; echo not ok 2',
  'without a plan': 'echo ok 1',
  'too few': 'echo 1..2; echo ok 1',
  'out of order': 'echo 1..2; echo ok 2; echo ok 1',
  'to do': 'echo 1..1; echo "not ok 1 # TODO x"',
  'to do and passes': 'echo 1..1; echo "ok 1 # TODO x"',
  'all skipped': 'echo 1..1; echo "ok 1 # SKIP x"',
  'skip all': 'echo "1..0 # SKIP nothing"',
  'some skipped': 'echo 1..2; echo "ok 1 # SKIP x"; echo ok 2',
  'prints nothing': 'true',
  'bails out': 'echo 1..2; echo ok 1; echo "Bail out! no"',
  'exit code': 'echo 1..1; echo ok 1; exit 1',
  'exit code 77': 'echo 1..1; echo ok 1; exit 77',
  'stderr': 'echo 1..1; echo not ok 7 >&2; echo ok 1',
  'yaml': 'printf "TAP version 13\n1..1\nok 1\n  ---\n  not ok: 1\n  ...\n"',
}
foreach name, text : taps
  test('tap ' + name, sh, args: ['-c', text], protocol: 'tap')
  test('tap should fail ' + name, sh, args: ['-c', text], protocol: 'tap', should_fail: true)
endforeach
test('gtest', sh, args: ['-c', 'test $# = 0 && case $0 in --gtest_output=xml:gtest.xml) ;; *) exit 1 ;; esac'], protocol: 'gtest')
add_test_setup('usual', is_default: true, env: ['SETUP=s'], timeout_multiplier: 2)
"#;

fn of_meson(text: &str, prefix: &str) -> Vec<(String, Outcome)> {
    let each = text.lines().map(|line| {
        let test: serde_json::Value = serde_json::from_str(line).unwrap();
        let outcome = match test["result"].as_str().unwrap() {
            "OK" | "EXPECTEDFAIL" => Outcome::Passed,
            "SKIP" => Outcome::Skipped,
            "TIMEOUT" => Outcome::TimedOut,
            _ => Outcome::Failed,
        };
        (format!("{prefix}{}", test["name"].as_str().unwrap()), outcome)
    });
    each.collect()
}

#[test]
fn meson_with_all_its_properties() {
    let project = Project::empty();
    project.write("meson.build", MESON);
    project.write("main.c", MAIN);
    must(&project, "meson setup build && ninja -C build");
    suite(&project, "kind = \"meson\"\ndirectory = \"build\"");
    sh(&project, "meson test -C build --no-rebuild");
    let theirs = of_meson(&project.read("build/meson-logs/testlog.json"), "s/");
    let listed = must(&project, "meson test -C build --no-rebuild --list");
    assert_eq!(
        listed.lines().filter(|line| line.contains(" / ")).count(),
        theirs.len(),
        "{listed}"
    );
    let tests = tests(&project);
    compare(&project, &tests, &theirs);

    assert_eq!(named(&tests, "s/fixture / ok").timeout.map(|t| t.as_secs()), Some(60));
    assert_eq!(named(&tests, "s/fixture / no limit").timeout, None);
    assert!(named(&tests, "s/fixture / alone").resources.alone);
    assert!(!named(&tests, "s/fixture / ok").resources.alone);
    assert_eq!(named(&tests, "s/fixture:one+two / ok").labels, ["fixture:one", "fixture:two"]);
    assert_eq!(tests[0].name, "s/fixture / alone");
}

#[test]
fn meson_names_do_not_change_with_another_suite() {
    let project = Project::empty();
    project.write(
        "meson.build",
        "project('p')\nsh = find_program('sh')\ntest('a', sh)\ntest('a', sh, args: '-c')\n",
    );
    must(&project, "meson setup build");
    suite(&project, "kind = \"meson\"\ndirectory = \"build\"");
    let names: Vec<String> = tests(&project).into_iter().map(|test| test.name).collect();
    assert_eq!(names, ["s/p / a", "s/p / a#2"]);
    project.write("meson.build", "project('p')\n");
    must(&project, "meson setup --wipe build");
    assert!(tests(&project).is_empty());
    must(&project, "rm -rf build/*");
    assert!(error(&project).contains("suite `s`: "), "{}", error(&project));
}

const AUTOMAKE: &str = r#"
SUBDIRS = . serial po
TEST_EXTENSIONS = .sh .tap
SH_LOG_COMPILER = $(SHELL)
AM_SH_LOG_FLAGS = -e
TAP_LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
AM_TESTS_ENVIRONMENT = COLOUR='deep red'; export COLOUR;
TESTS_ENVIRONMENT = SHAPE="a b"
export EXPORTED = from make
check_PROGRAMS = prog dir/prog2
dir_prog2_SOURCES = main.c
prog_SOURCES = main.c
nodist_check_SCRIPTS = made.sh
TESTS = prog dir/prog2 $(TEXTS) made.sh plain
TEXTS = ok.sh fail.sh skip.sh error.sh xfail.sh xpass.sh xerror.sh xcrash.sh environment.sh later.sh \
  all.tap some.tap none.tap todo.tap todo-passes.tap bail.tap few.tap skipped.tap
XFAIL_TESTS = xfail.sh xpass.sh xerror.sh xcrash.sh
later.log: environment.log
made.sh:
	echo 'exit 0' >$@
check-local:
	test -n "$(EXPORTED)"
"#;

const AUTOMAKE_SERIAL: &str = "AUTOMAKE_OPTIONS = serial-tests\nTESTS = ok.sh fail.sh skip.sh error.sh xfail.sh xpass.sh xcrash.sh\n\
    XFAIL_TESTS = xfail.sh xpass.sh xcrash.sh\nTESTS_ENVIRONMENT = SHAPE=\"a b\" $(SHELL)\n";

fn automake() -> Project {
    let project = Project::empty();
    project.write("configure.ac", "AC_INIT([fixture],[1])\nAC_CONFIG_AUX_DIR([build-aux])\nAM_INIT_AUTOMAKE([foreign subdir-objects])\n\
        AC_PROG_CC\nAC_PROG_AWK\nAC_REQUIRE_AUX_FILE([tap-driver.sh])\nAC_CONFIG_FILES([Makefile serial/Makefile po/Makefile])\nAC_OUTPUT\n");
    project.write("Makefile.am", AUTOMAKE);
    project.write("main.c", "int main(void) { return 0; }\n");
    let scripts = [
        ("ok.sh", "exit 0"),
        ("fail.sh", "exit 1"),
        ("skip.sh", "exit 77"),
        ("error.sh", "exit 99"),
        ("xfail.sh", "exit 1"),
        ("xpass.sh", "exit 0"),
        ("xerror.sh", "exit 99"),
        ("xcrash.sh", "kill -SEGV $$"),
        (
            "environment.sh",
            "test \"$COLOUR-$SHAPE-$EXPORTED\" = 'deep red-a b-from make' && test -f $srcdir/ok.sh && touch first",
        ),
        ("later.sh", "test -f first"),
        ("plain", "#!/bin/sh\necho stderr >&2\nexit 0"),
        ("all.tap", "#!/bin/sh\necho 1..2; echo ok 1; echo ok 2"),
        ("some.tap", "#!/bin/sh\necho 1..2; echo ok 1; echo not ok 2"),
        ("none.tap", "#!/bin/sh\nexit 0"),
        ("todo.tap", "#!/bin/sh\necho 1..1; echo 'not ok 1 # TODO x'"),
        ("todo-passes.tap", "#!/bin/sh\necho 1..1; echo 'ok 1 # TODO x'"),
        ("bail.tap", "#!/bin/sh\necho 1..2; echo ok 1; echo 'Bail out! no'"),
        ("few.tap", "#!/bin/sh\necho 1..2; echo ok 1"),
        ("skipped.tap", "#!/bin/sh\necho '1..0 # SKIP nothing here'"),
    ];
    for (name, text) in scripts {
        project.write(name, &format!("{text}\n"));
        project.write(&format!("serial/{name}"), &format!("{text}\n"));
    }
    project.write("serial/Makefile.am", AUTOMAKE_SERIAL);
    project.write("serial/xcrash.sh", "test \"$SHAPE\" = 'a b' && kill -SEGV $$\n");
    // As gettext has it: not of automake.
    project.write("po/Makefile.in", "all check:\n");
    must(&project, "chmod +x *.tap plain serial/*.sh; autoreconf -fi");
    project
}

/// What `make check` found: the results of each log, and what the serial
/// harness prints.
fn of_automake(project: &Project, directory: &str, text: &str) -> Vec<(String, Outcome)> {
    let mut all = Vec::new();
    let names = must(project, &format!("cd {directory} && find . -name '*.trs'"));
    for file in names.lines().map(|line| line.trim_start_matches("./")) {
        let results = project.read(&format!("{directory}/{file}"));
        let results: Vec<&str> = results
            .lines()
            .filter_map(|line| line.strip_prefix(":test-result:")?.split_whitespace().next())
            .collect();
        let is_bad = |result: &&str| ["FAIL", "XPASS", "ERROR"].contains(result);
        let outcome = if results.iter().any(is_bad) {
            Outcome::Failed
        } else if results.iter().all(|result| *result == "SKIP") {
            Outcome::Skipped
        } else {
            Outcome::Passed
        };
        let base = file.trim_end_matches(".trs");
        let endings = ["", ".sh", ".tap"];
        let is_test = |end: &&&str| {
            text.contains(&format!(": {base}{end}\n")) || text.contains(&format!(": {base}{end} "))
        };
        let end = endings.iter().find(is_test).unwrap_or_else(|| panic!("{base} in\n{text}"));
        all.push((format!("s/{base}{end}"), outcome));
    }
    let serial = text.split_once("Making check in serial").unwrap().1;
    for line in serial.lines() {
        let Some((result, name)) = line.split_once(": ") else { continue };
        let outcome = match result {
            "PASS" | "XFAIL" => Outcome::Passed,
            "SKIP" => Outcome::Skipped,
            "FAIL" | "XPASS" => Outcome::Failed,
            _ => continue,
        };
        all.push((format!("s/serial/{name}"), outcome));
    }
    all.push((String::from("s/check-local"), Outcome::Passed));
    all
}

#[test]
fn automake_with_both_harnesses_and_tap() {
    let project = automake();
    must(
        &project,
        "mkdir build && cd build && ../configure && make && { make -k check TESTS= || true; }",
    );
    suite(&project, "kind = \"automake\"\ndirectory = \"build\"");
    let fresh = tests(&project);
    assert!(!project.path("build/ok.log").exists(), "listing runs nothing");
    let (text, _) = sh(&project, "cd build && make -k check");
    let theirs = of_automake(&project, "build", &text);
    let with_logs = tests(&project);
    assert_eq!(fresh, with_logs, "the list does not hang on what ran already");
    must(&project, "rm build/first");
    compare(&project, &fresh, &theirs);
    assert_eq!(named(&fresh, "s/later.sh").after, ["s/environment.sh"]);
    assert_eq!(named(&fresh, "s/serial/ok.sh").directory.to_str(), Some("build/serial"));
}

#[test]
fn automake_in_the_sources() {
    let project = automake();
    must(&project, "./configure && make && { make -k check TESTS= || true; }");
    suite(&project, "kind = \"automake\"");
    let (text, _) = sh(&project, "make -k check");
    let theirs = of_automake(&project, ".", &text);
    must(&project, "rm first");
    compare(&project, &tests(&project), &theirs);
}

#[test]
fn automake_complains() {
    let project = Project::empty();
    suite(&project, "kind = \"automake\"");
    assert!(error(&project).contains("suite `s`: there is no Makefile\nhint: "));
    project.write("Makefile", "check:\n\ttrue\n");
    assert!(error(&project).contains("suite `s`: its Makefile is not one of automake"));
    project.write("Makefile", "# generated by automake\nTESTS = a\nTEST_LOGS = a.log\n");
    let error = error(&project);
    assert!(error.contains("suite `s`: make does not say how a.log is made"), "{error}");
    project
        .write("Makefile", "# generated by automake\nTESTS = a\nTEST_LOGS = a.log\na.log: gone\n");
    let error = self::error(&project);
    assert!(error.contains("No rule to make target 'gone'"), "{error}");
}

#[test]
fn tap_scripts_as_prove_runs_them() {
    let project = Project::empty();
    let scripts = [
        ("perl-without-line.t", "print qq{1..2\\nok 1\\nok 2\\n};"),
        (
            "perl.t",
            "#!/usr/bin/perl -w\nprint qq{1..1\\n}; print $^W ? qq{ok 1\\n} : qq{not ok 1\\n};",
        ),
        ("shell.t", "#!/bin/sh\necho 1..1; echo ok 1"),
        ("late-plan.t", "#!/bin/sh\necho ok 1; echo ok 2; echo 1..2"),
        ("fails.t", "#!/bin/sh\necho 1..2; echo ok 1; echo not ok 2"),
        ("exit.t", "#!/bin/sh\necho 1..1; echo ok 1; exit 3"),
        ("crash.t", "#!/bin/sh\necho 1..1; echo ok 1; kill -SEGV $$"),
        ("no-plan.t", "#!/bin/sh\necho ok 1"),
        ("nothing.t", "#!/bin/sh\n"),
        ("few.t", "#!/bin/sh\necho 1..3; echo ok 1"),
        ("many.t", "#!/bin/sh\necho 1..1; echo ok 1; echo ok 2"),
        ("order.t", "#!/bin/sh\necho 1..2; echo ok 2; echo ok 1"),
        ("two-plans.t", "#!/bin/sh\necho 1..1; echo ok 1; echo 1..1"),
        ("todo.t", "#!/bin/sh\necho 1..2; echo 'not ok 1 # TODO x'; echo 'ok 2 # todo y'"),
        ("escaped.t", "#!/bin/sh\necho 1..1; echo 'not ok 1 a \\# TODO x'"),
        ("skips.t", "#!/bin/sh\necho 1..1; echo 'ok 1 # skip x'"),
        ("not-ok-skip.t", "#!/bin/sh\necho 1..1; echo 'not ok 1 # skip x'"),
        ("skip-all.t", "#!/bin/sh\necho '1..0 # SKIP no net'"),
        ("skip-all-exit.t", "#!/bin/sh\necho '1..0 # SKIP no net'; exit 1"),
        ("zero.t", "#!/bin/sh\necho 1..0"),
        ("bail.t", "#!/bin/sh\necho 1..2; echo ok 1; echo 'Bail out! no'"),
        ("stderr.t", "#!/bin/sh\necho 1..1; echo not ok 1 >&2; echo ok 1"),
        ("nested.t", "#!/bin/sh\necho 1..1; echo '    not ok 1'; echo '    1..1'; echo ok 1"),
        (
            "yaml.t",
            "#!/bin/sh\nprintf 'TAP version 13\\n1..1\\nok 1\\n  ---\\n  message: not ok\\n  ...\\n'",
        ),
        ("word.t", "#!/bin/sh\necho 1..1; echo okay; echo ok 1"),
        ("deep/inside.t", "#!/bin/sh\necho 1..1; echo ok"),
    ];
    for (name, text) in scripts {
        project.write(&format!("t/{name}"), &format!("{text}\n"));
    }
    project.write(
        "program.c",
        "#include <stdio.h>\nint main(void) { puts(\"1..1\\nok 1\"); return 0; }\n",
    );
    must(&project, "cc -o t/program.t program.c");
    suite(&project, "kind = \"tap\"\npattern = \"t/**/*.t\"");
    let listed = must(&project, "prove --dry -r t");
    let theirs: Vec<(String, Outcome)> = listed
        .lines()
        .map(|file| {
            let (text, is_fine) = sh(&project, &format!("prove {file}"));
            let outcome = match is_fine {
                true if text.contains(".. skipped") => Outcome::Skipped,
                true => Outcome::Passed,
                false => Outcome::Failed,
            };
            (format!("s/{}", file.trim_start_matches("t/").trim_end_matches(".t")), outcome)
        })
        .collect();
    assert_eq!(theirs.len(), scripts.len() + 1);
    compare(&project, &tests(&project), &theirs);
}

#[test]
fn lists_globs_generators_and_cases() {
    let project = Project::empty();
    for (name, text) in [("a", "exit 0"), ("b c", "exit 1"), ("sub/d", "test -f mark")] {
        project.write(&format!("tests/{name}.sh"), text);
    }
    project.write("build/mark", "");
    project.write("all.list", "one true\ntwo false\n");
    project.write("cases.sh", "case $1 in --list) echo first; echo 'second case' ;; *) test \"$1\" = 'second case' ;; esac\n");
    project.write(
        "edgewise.toml",
        "[[suite]]\nname = \"list\"\nkind = \"list\"\nfile = \"all.list\"\n\
         [[suite]]\nname = \"made\"\nkind = \"list\"\ngenerator = \"ls | sed 's/.*/& test -e &/'\"\ndirectory = \"build\"\n\
         [[suite]]\nname = \"glob\"\nkind = \"glob\"\npattern = [\"tests/*.sh\", \"tests/sub/*.sh\"]\ncommand = \"sh {}\"\ndirectory = \"build\"\ntimeout = 9\n\
         [[suite]]\nname = \"cases\"\nkind = \"cases\"\nlist = \"sh cases.sh --list\"\ncommand = \"sh cases.sh {case}\"\n",
    );
    let expected = [
        ("list/one", Outcome::Passed),
        ("list/two", Outcome::Failed),
        ("made/mark", Outcome::Passed),
        ("glob/a", Outcome::Passed),
        ("glob/b c", Outcome::Failed),
        ("glob/d", Outcome::Passed),
        ("cases/first", Outcome::Failed),
        ("cases/second case", Outcome::Passed),
    ];
    let expected = expected.map(|(name, outcome)| (name.to_string(), outcome));
    let found = tests(&project);
    compare(&project, &found, &expected);
    assert_eq!(named(&found, "glob/a").inputs, ["tests/a.sh"]);
    assert_eq!(named(&found, "glob/a").timeout.map(|t| t.as_secs()), Some(9));
    let config = Config::read(project.root()).unwrap();
    assert_eq!(config.suite_files().collect::<Vec<_>>(), ["all.list"]);
    project.write("tests/sub/a.sh", "");
    assert!(error(&project).contains("two tests have the name `glob/a`"));
}

#[test]
fn a_runner_that_is_missing_is_named() {
    let project = Project::empty();
    project.write("build/meson-private/x", "");
    suite(&project, "kind = \"meson\"\ndirectory = \"build\"");
    let output = project.command().arg("run").env("PATH", "/nowhere").output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words}");
    assert!(words.contains("suite `s`: `meson runpython"), "{words}");
    assert!(words.contains("hint: install meson"), "{words}");
}

/// Writes a configuration, builds and lists with it.
#[track_caller]
fn initialised(files: &[(&str, &str)]) -> (Project, HashMap<String, Outcome>) {
    let project = Project::empty();
    for (name, text) in files {
        project.write(name, text);
    }
    let output = project.edgewise(&["init"]);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && words.contains("wrote edgewise.toml"), "{words}");
    project.ok(&["build"]);
    let outcomes = run_all(&tests(&project), project.root());
    (project, outcomes)
}

#[test]
fn init_writes_a_configuration_that_works() {
    let cmake = "cmake_minimum_required(VERSION 3.13)\nproject(p C)\nenable_testing()\nadd_executable(prog main.c)\nadd_test(NAME a COMMAND prog)\n";
    let meson = "project('p', 'c')\ntest('a', executable('prog', 'main.c'))\n";
    let ac = "AC_INIT([p],[1])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n";
    let am = "check_PROGRAMS = prog\nprog_SOURCES = main.c\nTESTS = prog\n";
    let make = "prog: main.c\n\t$(CC) -o prog main.c\ncheck: prog\n\t./prog\n";
    let cases: &[(&str, &[(&str, &str)])] = &[
        ("ctest/a", &[("CMakeLists.txt", cmake)]),
        ("meson/p / a", &[("meson.build", meson)]),
        ("check/prog", &[("configure.ac", ac), ("Makefile.am", am)]),
        ("make/all", &[("Makefile", make)]),
        (
            "tap/a",
            &[
                ("Makefile", "prog: main.c\n\t$(CC) -o prog main.c\n"),
                ("t/a.t", "system './prog'; print qq{1..1\\nok 1\\n};"),
            ],
        ),
        (
            "scripts/a",
            &[("Makefile", "prog: main.c\n\t$(CC) -o prog main.c\n"), ("tests/a.sh", "./prog")],
        ),
    ];
    for (name, files) in cases {
        let files: Vec<_> = files.iter().copied().chain([("main.c", MAIN)]).collect();
        let (project, outcomes) = initialised(&files);
        let expected = HashMap::from([(name.to_string(), Outcome::Passed)]);
        assert_eq!(outcomes, expected, "{}", project.read("edgewise.toml"));
    }
}

#[test]
fn init_does_not_write_over_what_is_there() {
    let project = Project::empty();
    project.write("Makefile", "check:\n\ttrue\n");
    project.write("edgewise.toml", "# mine\n");
    let output = project.edgewise(&["init"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(project.read("edgewise.toml"), "# mine\n");
    project.ok(&["init", "--force"]);
    assert!(project.read("edgewise.toml").contains("make check"));
    let empty = Project::empty();
    let output = empty.edgewise(&["init"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("hint: "));
    assert!(!empty.path("edgewise.toml").exists());
}
