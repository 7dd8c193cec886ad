//! `edgewise explain` and `select --explain`: why a test is selected, why another may be
//! skipped, and whom a function or a line concerns.

use crate::support::Project;
use serde_json::Value;

const MAIN: &str = r#"
#include <stdio.h>

static int twice(int n)
{
    return n + n;
}

static int never(int n)
{
    return n - 1;
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 2)
        printf("%d\n", twice(argc));
    else if (argc > 1)
        puts("one");
    else
        puts("none");
    return argc > 9 ? never(argc) : 0;
}
"#;

fn project() -> Project {
    let project = Project::of_source(MAIN, &[("none", ""), ("one", "a"), ("two", "a b")]);
    project.write("data.txt", "1\n");
    project.write("other.txt", "1\n");
    project.write("tests.list", "none ./prog <data.txt\none ./prog a\ntwo ./prog a b\n");
    project.record();
    project
}

#[track_caller]
fn explain(project: &Project, test: &str) -> (String, Value) {
    let text = project.ok(&["select", "--explain", test]);
    let value: Value =
        serde_json::from_str(&project.ok(&["select", "--explain", test, "--format", "json"]))
            .unwrap();
    (text, value["tests"][0].clone())
}

#[test]
fn a_selected_test_has_all_its_reasons() {
    let project = project();
    project.edit("main.c", "return n + n;", "return 2 * n;");
    project.edit("main.c", "return argc > 9", "return argc > 8");
    let (text, value) = explain(&project, "t/two");
    assert!(text.starts_with("t/two: selected\n"), "{text}");
    assert_eq!(value["verdict"], "selected");
    assert!(
        text.contains("- main.c:6: return n + n;") && text.contains("+ main.c:6: return 2 * n;"),
        "{text}"
    );
    assert!(text.contains("twice (main.c:4): it enters it"), "{text}");
    let reasons = value["reasons"].as_array().unwrap();
    assert!(
        !reasons.is_empty() && reasons.iter().all(|reason| reason["rule"] == "edge"),
        "{value}"
    );
}

#[test]
fn a_skipped_test_has_what_speaks_for_skipping_it() {
    let project = project();
    project.edit("main.c", "return n + n;", "return 2 * n;");
    project.edit("main.c", "puts(\"one\")", "puts(\"eins\")");
    project.write("other.txt", "2\n");
    let (text, value) = explain(&project, "none");
    assert!(text.starts_with("t/none: may be skipped\n"), "{text}");
    for line in [
        "the last time it passed, in ",
        "it ran prog: 1 unit, 1 changed since",
        "twice (main.c:4): it does not enter it",
        "main (main.c:14): it enters it; these ways lead elsewhere now:",
        "`T` to main.c:20: does not select it",
        "main.c changed: compared as code",
        "other.txt changed: it does not use it",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert_eq!(value["verdict"], "skipped");
    assert_eq!(value["reasons"], serde_json::json!([]));
    assert_eq!(value["last"]["outcome"], "passed");
    let files = value["files"].as_array().unwrap().iter();
    let files: Vec<_> =
        files.map(|f| (f["file"].as_str().unwrap(), f["role"].as_str().unwrap())).collect();
    assert_eq!(files, [("main.c", "code"), ("other.txt", "unused")]);

    // Nothing changed at all.
    project.write("main.c", MAIN);
    project.write("other.txt", "1\n");
    let (text, _) = explain(&project, "none");
    assert!(text.contains("1 unit, all as they were"), "{text}");
    assert!(text.contains("no procedure in these programs changed"), "{text}");
}

#[test]
fn files_and_states_are_reasons_too() {
    let project = project();
    project.write("data.txt", "2\n");
    project
        .write("tests.list", "none ./prog <data.txt\none ./prog a\ntwo ./prog a b\nnew ./prog\n");
    let (text, _) = explain(&project, "none");
    assert!(text.contains("t/none: selected\n    data.txt changed, and it uses it"), "{text}");
    assert!(text.contains("data.txt changed: it uses it"), "{text}");
    let (text, value) = explain(&project, "new");
    assert!(text.contains("t/new: selected\n    it is new"), "{text}");
    assert_eq!(value["last"], Value::Null);
    let (text, _) = explain(&project, "one");
    assert!(text.contains("t/one: may be skipped"), "{text}");
}

#[test]
fn excluded_changes_are_told_from_safe_skips() {
    let project = project();
    let config = project.read("edgewise.toml");
    project.write("edgewise.toml", &format!("{config}[exclude]\nprocedures = [\"twice\"]\n"));
    project.edit("main.c", "return n + n;", "return 2 * n;");
    let (text, value) = explain(&project, "two");
    assert!(text.starts_with("t/two: skipped because [exclude] says so\n"), "{text}");
    assert!(
        text.contains("changes in excluded code that it runs:\n        main.c:6 in twice"),
        "{text}"
    );
    assert_eq!(value["excluded"].as_array().unwrap().len(), 1);
    let (text, _) = explain(&project, "one");
    assert!(text.starts_with("t/one: may be skipped\n"), "{text}");
}

#[test]
fn a_name_that_no_test_has_is_an_error_with_a_hint() {
    let project = project();
    let output = project.edgewise(&["select", "--explain", "tw"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("no test is called `tw`\nhint: perhaps t/two"), "{text}");
}

/// The same project with a second suite, and a function in two files.
fn larger() -> Project {
    let project = Project::empty();
    project
        .write("main.c", &MAIN.replace("static int never", "int help(int n);\n\nstatic int never"));
    project.edit("main.c", "never(argc) : 0", "help(never(argc)) : 0");
    project.write(
        "help.c",
        "#define STEP 1\n\nstatic int twice(int n)\n{\n    return n + STEP;\n}\n\n\
         int help(int n)\n{\n    return twice(n);\n}\n",
    );
    project.write("Makefile", "prog: main.c help.c\n\t$(CC) -O2 -o prog main.c help.c\n");
    project.write(
        "edgewise.toml",
        "[build]\ncommand = \"make -s\"\n[[suite]]\nname = \"t\"\nkind = \"list\"\nfile = \"tests.list\"\n\
         [[suite]]\nname = \"u\"\nkind = \"list\"\nfile = \"more.list\"\n",
    );
    project.write(
        "tests.list",
        "none ./prog\none ./prog a\ntwo ./prog a b\nhelp ./prog 1 2 3 4 5 6 7 8 9 >all.log; true\n",
    );
    project.write("more.list", "two ./prog a b\n");
    project.record();
    project
}

fn json(project: &Project, arguments: &[&str]) -> Value {
    let all = [&["explain", "--format", "json"], arguments].concat();
    serde_json::from_str(&project.ok(&all)).unwrap()
}

fn names(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

#[track_caller]
fn assert_has(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.contains(line), "{line}\nin:\n{text}");
    }
}

#[test]
fn explain_and_select_say_the_same_of_a_test() {
    let project = project();
    project.edit("main.c", "return n + n;", "return 2 * n;");
    let said = project.ok(&["explain", "two"]);
    assert_eq!(said, project.ok(&["select", "--explain", "two"]));
    assert_has(
        &said,
        &[
            "in twice, by the calls main > twice, on the edge from main.c:4 to main.c:6\n",
            "    - main.c:6: return n + n;\n    + main.c:6: return 2 * n;\n",
            "    rule: a statement, condition or case that was added, changed, moved or deleted \
             selects the tests that took the edge into it\n",
            "what changed in twice (main.c):\n",
            "    -     6  return n + n;\n    +     6      return 2 * n;\n",
        ],
    );
    let value = json(&project, &["two"]);
    assert_eq!(value, {
        let said = project.ok(&["select", "--explain", "two", "--format", "json"]);
        serde_json::from_str::<Value>(&said).unwrap()
    });
    assert_eq!(value["tests"][0]["reasons"][0]["by"], "statement");
    assert_eq!(value["rules"][0]["rule"], "statement");
}

/// The shortest way by what the program says is not the one that every test takes.
#[test]
fn calls_are_those_that_the_test_came_to() {
    let project = Project::of_source(
        "static int deep(int n)\n{\n    return n + 1;\n}\n\n\
         static int lower(int n)\n{\n    return deep(n);\n}\n\n\
         static int upper(int n)\n{\n    return lower(n) + 1;\n}\n\n\
         static int command(int n)\n{\n    return deep(n) + 2;\n}\n\n\
         static int (*const commands[])(int) = {command};\n\n\
         static int taken(int n)\n{\n    return deep(n) + 3;\n}\n\n\
         int main(int argc, char **argv)\n{\n    (void)argv;\n    \
         int (*of)(int) = taken;\n    if (argc > 3)\n        return of(argc) == 0;\n    \
         if (argc > 2)\n        return commands[argc - 3](argc) == 0;\n    \
         if (argc > 1)\n        return deep(argc) == 0;\n    return upper(argc) == 0;\n}\n",
        &[("around", ""), ("straight", "a"), ("pointer", "a b"), ("address", "a b c")],
    );
    project.record();
    project.edit("main.c", "return n + 1;", "return 1 + n;");
    let calls = |test: &str| {
        let value = json(&project, &[test]);
        let chain = names(&value["tests"][0]["reasons"][0]["chain"]).join(" > ");
        let said = format!("in deep, by the calls {chain}, on the edge");
        assert_has(&project.ok(&["explain", test]), &[&said]);
        chain
    };
    assert_eq!(calls("around"), "main > upper > lower > deep");
    assert_eq!(calls("straight"), "main > deep");
    // Nobody calls it by name, also where its address is taken.
    assert_eq!(calls("pointer"), "command > deep");
    assert_eq!(calls("address"), "taken > deep");
    // What tests share is told as the first of them came there.
    let output = project.edgewise(&["select"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_has(&said, &["in main > upper > lower > deep\n"]);
}

#[test]
fn many_names_are_told_once() {
    let tests = ["a", "b", "c", "d"].map(|name| (name, ""));
    let project = Project::of_source("int main(void)\n{\n    return 0;\n}\n", &tests);
    project.record();
    project.edit("main.c", "return 0;", "return 1 - 1;");
    for place in ["main", "main.c:3"] {
        let said = project.ok(&["explain", place]);
        assert_has(&said, &["4 tests ", "    all of them are selected for it\n"]);
        assert_eq!(said.matches("t/c").count(), 1, "{said}");
    }
}

/// That its command changed is enough to select it, and not all that there is to say.
#[test]
fn a_test_that_is_another_one_is_compared_all_the_same() {
    let project = project();
    project.edit("main.c", "return n + n;", "return 2 * n;");
    let changed = [
        "it ran prog: 1 unit, 1 changed since\n",
        "twice (main.c:4): it enters it, which selects it; these ways lead elsewhere now:\n",
        "main.c:4, to main.c:6: selects it\n",
    ];
    project.write("tests.list", "none ./prog <data.txt\none ./prog a\ntwo ./prog a c\n");
    let (text, value) = explain(&project, "two");
    assert_has(&text, &changed);
    assert!(!text.contains("does not select it"), "{text}");
    let rules: Vec<&Value> =
        value["reasons"].as_array().unwrap().iter().map(|reason| &reason["rule"]).collect();
    assert_eq!(rules, ["test-changed", "edge"], "{value}");
    let (text, _) = explain(&project, "none");
    assert!(text.starts_with("t/none: may be skipped\n"), "{text}");
    // Also if nobody else ran the program.
    project.write("tests.list", "none ./prog b\none ./prog b\ntwo ./prog a c\n");
    let (text, _) = explain(&project, "two");
    assert_has(&text, &changed);
}

#[test]
fn what_a_test_ran_that_failed_is_not_known() {
    let project = project();
    project.write("tests.list", "none ./prog <data.txt\ntwo ./prog a b\nbad ./prog a b; false\n");
    assert_ne!(project.edgewise(&["run"]).status.code(), Some(0));
    project.edit("main.c", "return n + n;", "return 2 * n;");
    let (text, value) = explain(&project, "bad");
    assert_has(&text, &["t/bad: selected\n    it failed the last time\n"]);
    assert!(!text.contains("it used") && !text.contains("does not enter"), "{text}");
    assert_eq!(value["last"]["files_used"], Value::Null);
}

#[test]
fn all_changed_procedures_that_a_test_enters_are_listed() {
    let procedure = |n| format!("static int f{n}(int n)\n{{\n    return n + {n};\n}}\n\n");
    let procedures: String = (0..50).map(procedure).collect();
    let calls = |numbers: std::ops::Range<u32>| {
        numbers.map(|n| format!("f{n}(argc)")).collect::<Vec<_>>().join(" + ")
    };
    let source = format!(
        "{procedures}int main(int argc, char **argv)\n{{\n    (void)argv;\n    \
         if (argc > 1)\n        return {} == 0;\n    return {} == 0;\n}}\n",
        calls(0..45),
        calls(40..50)
    );
    let project = Project::of_source(&source, &[("few", ""), ("many", "a")]);
    project.record();
    project.write("main.c", &source.replace("return n + ", "return 1 + n + "));
    let (text, value) = explain(&project, "few");
    for n in 40..50 {
        assert_has(&text, &[&format!("f{n} (main.c:{}): it enters it, which", 5 * n + 1)]);
    }
    assert_has(&text, &["        and 40 others that it does not enter; --format json has them\n"]);
    assert_eq!(value["procedures"].as_array().unwrap().len(), 50);
    let (text, _) = explain(&project, "many");
    for n in 0..45 {
        assert_has(&text, &[&format!("f{n} (main.c:{}): it enters it, which", 5 * n + 1)]);
    }
    assert_has(&text, &["f49 (main.c:246): it does not enter it\n"]);
}

#[test]
fn a_file_that_is_looked_for_in_vain_is_not_used() {
    let project = project();
    project.write("tests.list", "none test ! -e absent.txt && ./prog <data.txt\n");
    project.ok(&["run"]);
    let (text, value) = explain(&project, "none");
    assert_has(&text, &["    it looked for 1 file in vain: absent.txt\n"]);
    let last = &value["last"];
    assert_eq!(names(&last["looked_for"]), ["absent.txt"]);
    assert_eq!(last["files_used"], last["used"].as_array().unwrap().len());
    assert!(!names(&last["used"]).contains(&"absent.txt"), "{last}");
    project.write("absent.txt", "");
    let (text, _) = explain(&project, "none");
    assert_has(
        &text,
        &["absent.txt is new, and it looks for it", "absent.txt is new: it looked for it in vain"],
    );
}

/// Of the sources as they were git has the text, if it is the right one.
#[test]
fn old_lines_are_those_of_git_where_it_has_them() {
    let project = project();
    let git = |arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments);
        assert!(git.current_dir(project.root()).output().unwrap().status.success());
    };
    let partial = "git does not have the old file";
    project.edit("main.c", "    return n + n;", "    return 2 * n; /* twice */");
    assert_has(&project.ok(&["explain", "two"]), &["-     6  return n + n;", partial]);
    project.edit("main.c", "    return 2 * n; /* twice */", "    return n + n;");
    git(&["init", "-q"]);
    git(&["add", "main.c"]);
    git(&["commit", "-qm", "first"]);
    project.edit("main.c", "    return n + n;", "    return 2 * n; /* twice */");
    let said = project.ok(&["explain", "two"]);
    assert_has(&said, &["-     6      return n + n;", "+     6      return 2 * n; /* twice */"]);
    assert!(!said.contains(partial), "{said}");
}

#[test]
fn a_skipped_test_has_its_version_and_what_it_did() {
    let project = project();
    project.edit("main.c", "puts(\"one\")", "puts(\"eins\")");
    let said = project.ok(&["explain", "none"]);
    assert_has(
        &said,
        &[
            "t/none: may be skipped\n",
            "the last time it passed, in ",
            "; it is compared with version ",
            "it entered 1 procedure over ",
            ": all of them were compared, and none of these edges leads elsewhere\n",
            "    no file that it used changed, nor did any of the ",
        ],
    );
    let last = &json(&project, &["none"])["tests"][0]["last"];
    assert_eq!(last["procedures"], 1);
    assert_eq!(last["compared_procedures"], 1);
    assert_eq!(last["edges"], last["compared_edges"]);
    let log = project.ok(&["history", "log"]);
    assert!(log.contains(last["version"]["id"].as_str().unwrap()), "{log}");
    // Nothing that `one` and `two` share is compared if nothing changed.
    project.write("main.c", MAIN);
    let last = &json(&project, &["two"])["tests"][0]["last"];
    assert_eq!((&last["procedures"], &last["compared_procedures"]), (&2.into(), &0.into()));
}

#[test]
fn a_function_says_how_it_changed_and_whom_that_selects() {
    let project = project();
    project.edit("main.c", "puts(\"one\")", "puts(\"eins\")");
    let said = project.ok(&["explain", "main"]);
    assert_has(
        &said,
        &[
            "main (main.c:14): it changed\n",
            "    it is part of prog\n",
            "    1 of its edges leads elsewhere now:\n",
            "on the edge `T` of `argc > 1` from main.c:19 to main.c:20\n",
            "    1 test is selected for this edge\n",
            "    3 tests entered it:\n        t/none\n        t/one\n        t/two\n",
            "    1 test is selected for it:\n        t/one\n",
        ],
    );
    let said = project.ok(&["explain", "twice"]);
    assert_has(
        &said,
        &["twice (main.c:4): it is as it was\n", "1 test entered it:\n        t/two\n"],
    );
    assert_has(&project.ok(&["explain", "never"]), &["it is as it was\n", "no test entered it\n"]);

    // One that is new, and one that is gone.
    project.edit("main.c", "static int never(int n)", "static int fresh(int n)");
    project.edit("main.c", "never(argc)", "fresh(argc)");
    assert_has(&project.ok(&["explain", "fresh"]), &["it is new: no test ran it yet\n"]);
    assert_has(&project.ok(&["explain", "never"]), &["never (main.c:9): it is gone\n"]);
    project.edit("main.c", "printf(\"%d\\n\", twice(argc));", "puts(\"2\");");
    project.edit("main.c", "static int twice(int n)\n{\n    return n + n;\n}\n", "");
    let said = project.ok(&["explain", "twice"]);
    assert_has(
        &said,
        &[
            "twice (main.c:4): it is gone\n",
            "rule: a procedure that is gone selects the tests that entered it\n",
            "1 test is selected for it:\n        t/two\n",
        ],
    );
    let value = json(&project, &["twice"]);
    assert_eq!(value["functions"][0]["change"]["is"], "gone");
    assert_eq!(names(&value["functions"][0]["selected"]), ["t/two"]);
}

#[test]
fn a_line_says_who_reaches_it_and_whether_it_changed() {
    let project = project();
    let said = project.ok(&["explain", "main.c:6"]);
    assert_has(
        &said,
        &[
            "main.c:6: it is as it was\n      return n + n;\n    it is part of twice\n",
            "    1 test reached it:\n        t/two\n",
        ],
    );
    // One that it moved to, one that changed, one that is new, and what was there.
    project.edit("main.c", "    return n + n;", "    n += 0;\n    return n + n;");
    project.edit("main.c", "puts(\"one\")", "puts(\"eins\")");
    let said = project.ok(&["explain", "main.c:6"]);
    assert_has(
        &said,
        &[
            "main.c:6: it changed\n      n += 0;\n",
            "    - main.c:6: return n + n;\n    + main.c:6: n += 0;\n",
            "1 test is selected for it:\n        t/two\n",
        ],
    );
    let said = project.ok(&["explain", "main.c:7"]);
    assert_has(
        &said,
        &["main.c:7: it is new, or lies behind something that changed: no test ran it yet\n"],
    );
    let value = json(&project, &["main.c:21"]);
    let line = &value["lines"][0];
    assert_eq!(line["change"]["is"], "changed");
    assert_eq!(names(&line["reached"]), ["t/one"]);
    assert_eq!(names(&line["selected"]), ["t/one"]);
    let value = json(&project, &["main.c:23"]);
    let line = &value["lines"][0];
    assert_eq!(line["change"]["is"], "same", "{line}");
    assert_eq!(names(&line["reached"]), ["t/none"]);
    assert_eq!(names(&line["selected"]), [""; 0]);

    // The number of a line that moved on leads to what was there, too.
    let said = project.ok(&["explain", "main.c:20"]);
    assert_has(
        &said,
        &[
            "main.c:20: it is as it was\n      else if (argc > 1)\n",
            "when the tests ran, main.c:20 was something else:\n",
            "    + main.c:21: puts(\"eins\");\n",
        ],
    );
    let said = project.ok(&["explain", "main.c:5"]);
    assert_has(&said, &["main.c:5 is part of what begins on line 4:\nmain.c:4: it is as it was\n"]);
}

/// That nothing is known is not that nothing changed.
#[test]
fn what_is_gone_is_not_as_it_was() {
    let project = larger();
    std::fs::rename(project.path("help.c"), project.path("help.log")).unwrap();
    for what in ["help", "help.c:10"] {
        let said = project.ok(&["explain", what]);
        assert!(said.contains("whether it changed is not known: "), "{said}");
        assert!(!said.contains("as it was"), "{said}");
    }
}

#[test]
fn a_declaration_says_who_uses_it() {
    let project = Project::of_source(
        "struct pair {\n    int a, b;\n};\nstatic int limit = 3;\n\n\
         static int sum(struct pair p)\n{\n    return p.a + p.b;\n}\n\n\
         int main(int argc, char **argv)\n{\n    struct pair p = {argc, 1};\n    (void)argv;\n    \
         if (argc > 2)\n        return sum(p) > 99;\n    return argc > 1 ? limit > 9 : 0;\n}\n",
        &[("none", ""), ("one", "a"), ("two", "a b")],
    );
    project.record();
    let said = project.ok(&["explain", "main.c:4"]);
    assert_has(
        &said,
        &[
            "main.c:4: it is as it was\n      static int limit = 3;\n    it declares limit\n",
            "1 test reached a use of it:\n        t/one\n",
        ],
    );
    project.edit("main.c", "limit = 3", "limit = 4");
    let said = project.ok(&["explain", "main.c:4"]);
    assert_has(
        &said,
        &[
            "main.c:4: it changed\n",
            "`limit` has another definition (main.c:4)",
            "rule: a variable, in whatever unit it is defined, whose type or initialiser changed",
            "1 test is selected for it:\n        t/one\n",
        ],
    );
    project.edit("main.c", "limit = 4", "limit = 3");
    project.edit("main.c", "int a, b;", "int a, b, c;");
    let value = json(&project, &["main.c:1"]);
    let line = &value["lines"][0];
    assert_eq!(line["change"]["is"], "changed", "{line}");
    assert!(!names(&line["selected"]).is_empty(), "{line}");
    // By the signature of the one that takes it, and by the declaration in the other.
    let edges = line["dangers"].as_array().unwrap().iter().map(|danger| &danger["edge"]);
    let rules: Vec<&Value> = edges.map(|edge| &edge["by"]).collect();
    assert_eq!(rules, ["signature", "declaration"], "{line}");
}

#[test]
fn from_a_build_and_by_other_algorithms() {
    let project = project();
    project.edit("main.c", "puts(\"one\")", "puts(\"eins\")");
    // Nothing was built yet: the program is not what its sources would make.
    let said = project.ok(&["explain", "none", "--from-build"]);
    assert_has(&said, &["t/none: selected\n", "a program that is not built from its sources"]);
    project.ok(&["build"]);
    let value = json(&project, &["none", "main", "main.c:20", "--from-build"]);
    assert_eq!(value["tests"][0]["verdict"], "skipped");
    assert_eq!(names(&value["functions"][0]["selected"]), ["t/one"]);
    assert_eq!(names(&value["lines"][0]["selected"]), ["t/one"]);
    let said = project.ok(&["explain", "none", "--algorithm", "procedure"]);
    assert_has(&said, &["t/none: selected\n", "rule: a procedure that changed anywhere"]);
    let said = project.ok(&["explain", "twice", "--algorithm", "all"]);
    assert_has(
        &said,
        &[
            "twice (main.c:4): it is as it was\n",
            "1 test that reaches it is selected for something else",
        ],
    );
    for algorithm in ["rh", "rh-intra", "partial", "full", "valid", "file"] {
        let said = project.ok(&["explain", "one", "--algorithm", algorithm]);
        assert_has(&said, &["t/one: selected\n"]);
    }

    // Against an earlier version, that is all that happened since then.
    let first = project.ok(&["history", "log"]);
    let first = first.split_whitespace().next().unwrap().to_string();
    project.ok(&["test"]);
    assert_has(&project.ok(&["explain", "one"]), &["t/one: may be skipped\n"]);
    let said = project.ok(&["explain", "one", "--against", &first]);
    assert_has(&said, &["t/one: selected\n", "- main.c:20: puts(\"one\");"]);
}

#[test]
fn names_with_several_meanings_are_answered_for_all() {
    let project = larger();
    // A test of two suites.
    let value = json(&project, &["two"]);
    let tests = value["tests"].as_array().unwrap().iter();
    let tests: Vec<&str> = tests.map(|test| test["name"].as_str().unwrap()).collect();
    assert_eq!(tests, ["t/two", "u/two"]);
    assert_eq!(json(&project, &["u/two"])["tests"].as_array().unwrap().len(), 1);
    // A test and a function.
    let value = json(&project, &["help"]);
    assert_eq!(value["tests"][0]["name"], "t/help");
    assert_eq!(value["functions"][0]["file"], "help.c");
    // A static function of two files, and of one.
    project.edit("help.c", "#define STEP 1", "#define STEP 2");
    let value = json(&project, &["twice"]);
    let functions = value["functions"].as_array().unwrap().iter();
    let functions: Vec<(&str, &str)> = functions
        .map(|f| (f["file"].as_str().unwrap(), f["change"]["is"].as_str().unwrap()))
        .collect();
    assert_eq!(functions, [("help.c", "changed"), ("main.c", "same")]);
    let value = json(&project, &["help.c:twice"]);
    assert_eq!(value["functions"].as_array().unwrap().len(), 1);
    assert_eq!(names(&value["functions"][0]["selected"]), ["t/help"]);
    // From within a directory, a file has another name.
    std::fs::create_dir(project.path("below")).unwrap();
    let mut command = project.command();
    command.current_dir(project.path("below")).args(["explain", "../help.c:5"]);
    let output = command.output().unwrap();
    assert_has(&String::from_utf8(output.stdout).unwrap(), &["help.c:5: it changed\n"]);
}

#[test]
fn names_that_mean_nothing_are_errors_with_what_is_like_them() {
    let project = larger();
    for (name, expected) in [
        ("twcie", "no test and no function is called `twcie`\nhint: perhaps the function twice"),
        ("t/tow", "hint: perhaps the test t/two"),
        ("nothing-like-it", "hint: tests are named like suite/name, lines like src/file.c:12"),
        ("halp.c:3", "no test ran a program with halp.c in it\nhint: perhaps help.c"),
        ("help.c:9999", "help.c has "),
    ] {
        let output = project.edgewise(&["explain", name]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert_has(&String::from_utf8(output.stderr).unwrap(), &[expected]);
    }
    assert_eq!(project.edgewise(&["explain"]).status.code(), Some(2));
}

#[test]
fn before_there_is_a_history() {
    let project = Project::of_source(MAIN, &[("none", "")]);
    let said = project.ok(&["explain", "none"]);
    assert_has(&said, &["t/none: selected\n    there is no history yet\n", "rule: no history"]);
    let output = project.edgewise(&["explain", "main.c:6"]);
    assert_eq!(output.status.code(), Some(2));
    assert_has(&String::from_utf8(output.stderr).unwrap(), &["there is no history yet"]);
}

/// On a terminal old and new lines have colours, unless somebody does not want them.
#[test]
fn colours_are_for_terminals() {
    let project = project();
    project.edit("main.c", "return n + n;", "return 2 * n;");
    let edgewise = env!("CARGO_BIN_EXE_edgewise");
    let on_terminal = |variable: &str| {
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &format!("'{edgewise}' explain two"), "/dev/null"]);
        script.current_dir(project.root()).env_remove("NO_COLOR").env("TERM", "xterm");
        if !variable.is_empty() {
            script.env(variable, "1");
        }
        String::from_utf8(script.output().unwrap().stdout).unwrap()
    };
    let said = on_terminal("");
    assert!(said.contains("\x1b[31m- main.c:6: return n + n;\x1b[0m"), "{said:?}");
    assert!(said.contains("\x1b[32m+ main.c:6: return 2 * n;\x1b[0m"), "{said:?}");
    let said = on_terminal("NO_COLOR");
    assert!(said.contains("- main.c:6: return n + n;") && !said.contains('\x1b'), "{said:?}");
    assert!(!project.ok(&["explain", "two"]).contains('\x1b'));
}
