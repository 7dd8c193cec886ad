//! `edgewise gaps`: changed code that no test reaches.

use crate::support::Project;
use serde_json::Value;

const MAIN: &str = "\
#include <stdlib.h>
int part(int n);
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    return part(n) < 0;
}
";
const PART: &str = "\
#include \"twice.h\"
int part(int n)
{
    if (n > 10)
        return twice(n);
    return n;
}
";
const TWICE: &str = "static inline int twice(int n)\n{\n    return n + n;\n}\n";

fn project() -> Project {
    let project = Project::empty();
    project.write("main.c", MAIN);
    project.write("part.c", PART);
    project.write("twice.h", TWICE);
    project.write("Makefile", "prog: main.o part.o\n\t$(CC) -o prog $^\npart.o: twice.h\n");
    project.write_config();
    project.write("tests.list", "small ./prog 1\nmiddle ./prog 20\n");
    project.record();
    project
}

/// Places without a test, as `FILE:LINE PROCEDURE KIND`.
fn gaps(project: &Project) -> Vec<String> {
    let said: Value = serde_json::from_str(&project.ok(&["gaps", "--format", "json"])).unwrap();
    let gaps = said["gaps"].as_array().unwrap().iter();
    let text = |gap: &Value, key: &str| gap[key].as_str().unwrap().to_string();
    let gaps = gaps.map(|gap| {
        let (file, procedure, kind) =
            (text(gap, "file"), text(gap, "procedure"), text(gap, "kind"));
        format!("{file}:{} {procedure} {kind}", gap["line"])
    });
    gaps.collect()
}

#[test]
fn new_code_is_told_and_old_code_is_not() {
    let project = project();
    let output = project.edgewise(&["gaps"]);
    assert_eq!(output.status.code(), Some(2), "nothing to compare with");
    // Code that nobody reaches was there before: part(n) is never negative.
    project.edit("part.c", "    return n;", "    if (n == 7)\n        n = 8;\n    return n;");
    project.ok(&["test"]);
    assert_eq!(gaps(&project), ["part.c:6 part branch", "part.c:7 part code"]);
    let text = project.ok(&["gaps"]);
    assert!(text.contains("part.c:7: new or changed in part, and no test reaches it"), "{text}");
    assert!(text.contains("in no test `n == 7` is true"), "{text}");
    assert!(text.ends_with("2 places without a test\n"), "{text}");
    let github = project.ok(&["gaps", "--format", "github"]);
    assert!(github.contains("::warning file=part.c,line=7,endLine=7,title="), "{github}");
    // With a test there is none.
    project.write("tests.list", "small ./prog 1\nmiddle ./prog 20\nseven ./prog 7\n");
    project.ok(&["test"]);
    assert_eq!(gaps(&project), Vec::<String>::new());
    assert!(project.ok(&["gaps"]).starts_with("tests reach all code"));
}

/// What lies between is reached, and is not marked.
#[test]
fn annotations_are_where_the_gaps_are() {
    let project = project();
    let more = "    if (n == 7)\n        n = 8;\n    n = n + 0;\n    if (n == 9)\n        n = 3;\n    return n;";
    project.edit("part.c", "    return n;", more);
    project.ok(&["test"]);
    let github = project.ok(&["gaps", "--format", "github"]);
    for line in [7, 10] {
        let place = format!("::warning file=part.c,line={line},endLine={line},title=");
        assert!(github.contains(&place), "{github}");
    }
    assert!(!github.contains("line=7,endLine=10"), "{github}");
}

#[test]
fn a_new_procedure_and_a_changed_one() {
    let project = project();
    project.edit("part.c", "int part", "int lost(int n)\n{\n    return n - 1;\n}\nint part");
    project.edit("twice.h", "n + n", "2 * n");
    project.ok(&["test"]);
    assert_eq!(gaps(&project), ["part.c:2 lost procedure", "part.c:4 lost procedure"]);
    // Against a version that has it too there is nothing new.
    project.edit("part.c", "n > 10", "n > 11");
    project.ok(&["test"]);
    assert_eq!(gaps(&project), Vec::<String>::new());
    let log: Value = serde_json::from_str(&project.ok(&["history", "log", "--json"])).unwrap();
    let first = log["snapshots"][2]["id"].as_str().unwrap().to_string();
    let said = project.ok(&["gaps", "--against", &first]);
    assert!(
        said.starts_with("part.c:2, 4: lost is new or changed, and no test enters it\n"),
        "{said}"
    );
}

#[test]
fn sources_that_were_not_tested_yet_are_told() {
    let project = project();
    project.edit("part.c", "n > 10", "n > 11");
    project.ok(&["test"]);
    project.edit("part.c", "n > 11", "n > 12");
    let output = project.edgewise(&["gaps"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said, "not known yet, since the tests ran before it changed:\n    part.c\n");
}

/// Of a test that failed nothing is kept: what it reaches may seem a gap.
#[test]
fn tests_that_failed_are_told() {
    let project = project();
    project.edit("part.c", "return twice(n);", "return -twice(n);");
    assert_eq!(project.edgewise(&["test"]).status.code(), Some(1));
    let output = project.edgewise(&["gaps"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("t/middle did not pass, and what it reaches is not known"), "{said}");
    let value: Value = serde_json::from_str(&project.ok(&["gaps", "--format", "json"])).unwrap();
    assert_eq!(value["tests_not_known"], serde_json::json!(["t/middle"]));
    let said = project.ok(&["explain", "twice"]);
    assert!(said.contains("no test entered it\n    1 test may have entered it: "), "{said}");
}

/// A function with branches that no test takes.
const BRANCHES: &str = "\
#include <stdio.h>
#include \"limit.h\"
int part(int n)
{
    int i, s = 0;
    if (n > 30)
        return -1;
    if (n > LIMIT)
        return 0;
    for (i = 0; i < n; i++) {
        if (i == 50)
            continue;
        s += i;
    }
    switch (s) {
    case 1:
        s = 2;
        break;
    case 70:
        s = 3;
        break;
    default:
        s = 4;
    }
    printf(\"%d %d\\n\",
           s,
           n);
    return 0;
}
";

fn branches(has_git: bool) -> Project {
    let project = Project::empty();
    project.write("main.c", MAIN);
    project.write("part.c", BRANCHES);
    project.write("limit.h", "#define LIMIT 25\n");
    project.write("Makefile", "prog: main.c part.c limit.h\n\t$(CC) -o prog main.c part.c\n");
    project.write_config();
    project.write("tests.list", "small ./prog 1\nmiddle ./prog 20\n");
    if has_git {
        project.write(".gitignore", "prog\n.edgewise\n");
        git(&project, &["init", "-q"]);
        git(&project, &["add", "-A"]);
        git(&project, &["commit", "-qm", "all"]);
    }
    project.record();
    project
}

fn git(project: &Project, arguments: &[&str]) -> String {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
    let mut command = std::process::Command::new("git");
    let output = command.args(identity).args(arguments).current_dir(project.root()).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

/// Edits, each with the lines of part.c that are gaps then. `git diff` has all of these lines.
const EDITS: [(&str, &str, &str, &[u32]); 12] = [
    // The same statement again, before and behind the one that was there.
    (
        "before",
        "    if (n > 30)\n",
        "    if (n > 90)\n        return -1;\n    if (n > 30)\n",
        &[6, 7],
    ),
    (
        "behind",
        "        return 0;\n",
        "        return 0;\n    if (n == 77)\n        return 0;\n",
        &[10, 11],
    ),
    ("above", "int part", "/* about\n   it */\nint part", &[]),
    ("on one line", "        s += i;", "        s += i; if (i == 99) s = 1;", &[13]),
    (
        "else if",
        "        return 0;\n",
        "        return 0;\n    else if (n == -5)\n        s = 1;\n    else if (n == -6)\n        s = 1;\n",
        &[10, 11, 12, 13],
    ),
    (
        "loop",
        "    switch (s) {",
        "    while (s > 1000) {\n        s--;\n    }\n    switch (s) {",
        &[15, 16],
    ),
    ("new function", "int part", "int fresh(int n)\n{\n    return n;\n}\nint part", &[3, 5]),
    (
        "renamed",
        "int part(int n)",
        "int piece(int n);\nint part(int n)\n{\n    return piece(n);\n}\nint piece(int n)",
        &[],
    ),
    ("case", "    case 70:", "    case 71:", &[19]),
    (
        "case added",
        "    case 70:",
        "    case 80:\n        s = 3;\n        break;\n    case 70:",
        &[19, 20, 21],
    ),
    ("jump", "            continue;", "            break;", &[12]),
    (
        "rest of a statement",
        "        return -1;",
        "        return n >\n               40;",
        &[7, 8],
    ),
];

fn edited_lines(project: &Project) -> Vec<u32> {
    let diff = git(project, &["diff", "-U0", "--", "part.c"]);
    let heads = diff.lines().filter_map(|line| line.strip_prefix("@@ ")?.split('+').nth(1));
    let runs = heads.map(|head| {
        let run = head.split(' ').next().unwrap();
        let (first, count) = run.split_once(',').unwrap_or((run, "1"));
        let (first, count): (u32, u32) = (first.parse().unwrap(), count.parse().unwrap());
        first..first + count
    });
    runs.flatten().collect()
}

fn gap_lines(project: &Project) -> Vec<u32> {
    let said: Value = serde_json::from_str(&project.ok(&["gaps", "--format", "json"])).unwrap();
    let gaps = said["gaps"].as_array().unwrap().iter();
    let mut lines: Vec<u32> = gaps.map(|gap| gap["line"].as_u64().unwrap() as u32).collect();
    lines.dedup();
    lines
}

#[test]
fn only_lines_that_a_diff_has_are_new_and_none_of_them_is_left_out() {
    for (name, from, to, expected) in EDITS {
        let project = branches(true);
        project.edit("part.c", from, to);
        project.ok(&["test"]);
        let diff = edited_lines(&project);
        let lines = gap_lines(&project);
        assert!(lines.iter().all(|line| diff.contains(line)), "{name}: {lines:?} {diff:?}");
        assert_eq!(lines, expected, "{name}");
    }
}

/// The history keeps no sources. What a line without code of its own was is then not known.
#[test]
fn without_the_old_source_no_line_is_called_new_that_is_not() {
    for (name, from, to, expected) in EDITS {
        let project = branches(false);
        project.edit("part.c", from, to);
        project.ok(&["test"]);
        let expected: Vec<u32> = match name {
            "jump" => Vec::new(),
            "case added" => vec![19, 20],
            "rest of a statement" => vec![7],
            _ => expected.to_vec(),
        };
        assert_eq!(gap_lines(&project), expected, "{name}");
    }
}

#[test]
fn a_line_that_moved_is_new_where_it_is() {
    let project = branches(true);
    project.edit("part.c", "    if (n > 30)\n        return -1;\n", "");
    project.edit(
        "part.c",
        "    switch (s) {",
        "    if (n > 30)\n        return -1;\n    switch (s) {",
    );
    project.ok(&["test"]);
    assert_eq!(gap_lines(&project), [13, 14]);
    assert_eq!(edited_lines(&project), [13, 14]);
}

/// The line is what it was, so it is not called new.
#[test]
fn a_macro_that_changed_makes_no_line_new() {
    let project = branches(true);
    project.write("limit.h", "#define LIMIT 26\n");
    project.ok(&["test"]);
    let text = project.ok(&["gaps"]);
    let expected = "part.c:8: in no test `n > 26` is true in part, and a macro, type or declaration that it uses changed\n";
    assert_eq!(text, format!("{expected}1 place without a test\n"));
}

#[test]
fn a_branch_that_no_test_takes_is_not_called_unreached() {
    let project = branches(true);
    project.edit("part.c", "n > 30", "n > 31");
    project.ok(&["test"]);
    let text = project.ok(&["gaps"]);
    assert!(
        text.starts_with("part.c:6: new or changed in part, and in no test `n > 31` is true\n"),
        "{text}"
    );
    let github = project.ok(&["gaps", "--format", "github"]);
    assert!(github.contains("line=6,endLine=6,title=no test takes this branch::"), "{github}");
    assert!(!github.contains("no test reaches"), "{github}");
}

/// A check that runs is reached, though its failure branch is not. Outside of test sources, a macro
/// counts as a check by its name alone: `MUST` and `TRY` may handle errors that a test can cause.
#[test]
fn failure_branches_of_checks_are_no_gaps() {
    let checks = "\
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
static int failures;
#define CHECK(x) do { if (!(x)) { printf(\"failed: %s\\n\", #x); failures++; } } while (0)
#define MUST(x) if (!(x)) { printf(\"failed\\n\"); exit(1); }
#define TRY(x) if ((x) < 0) return 1
int part(int n);
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    (void)n;
    return failures;
}
";
    let more = "    assert(n >= 0 && n < 100);\n    CHECK(part(n) == 0 || n < 0);\n    MUST(n != 50);\n    \
                TRY(n);\n    if (n == 51) {\n        printf(\"bad\\n\");\n        abort();\n    }\n    \
                if (n == 52)\n        CHECK(n);\n";
    for (file, expected) in [("test_part.c", &[20, 21][..]), ("driver.c", &[14, 15, 20, 21])] {
        let project = Project::empty();
        project.write(file, checks);
        project.write("part.c", "int part(int n) { return n * 0; }\n");
        project.write("Makefile", &format!("prog: {file} part.c\n\t$(CC) -o prog {file} part.c\n"));
        project.write_config();
        project.write("tests.list", "small ./prog 1\nmiddle ./prog 20\n");
        project.record();
        project.edit(file, "    (void)n;\n", more);
        project.ok(&["test"]);
        assert_eq!(gap_lines(&project), expected, "{file}");
    }
}

/// Each unit that includes a header has a copy of its inline functions.
#[test]
fn an_inline_function_that_one_unit_uses() {
    let project = Project::empty();
    let head =
        |body: &str| format!("static inline int min(int a, int b)\n{{\n{body}}}\nint two(void);\n");
    project.write("m.h", &head("    return a < b ? a : b;\n"));
    project.write("a.c", "#include \"m.h\"\nint main(void)\n{\n    return min(1, two()) - 1;\n}\n");
    project.write("b.c", "#include \"m.h\"\nint two(void)\n{\n    return 2;\n}\n");
    project.write("Makefile", "prog: a.c b.c m.h\n\t$(CC) -o prog a.c b.c\n");
    project.write_config();
    project.write("tests.list", "one ./prog\n");
    project.record();
    project.write("m.h", &head("    if (a < b)\n        return a;\n    return b;\n"));
    project.ok(&["test"]);
    let says = project.ok(&["gaps"]);
    assert!(!says.contains("no test enters"), "{says}");
    assert!(says.contains("m.h:5") && says.matches("m.h:5").count() == 1, "{says}");
}

/// The last version did not touch it, and it is edited after the tests ran.
#[test]
fn a_source_that_changed_since_the_tests_ran() {
    let project = Project::empty();
    project.write("a.c", "int f(void);\nint main(void)\n{\n    return f();\n}\n");
    project.write("b.c", "int f(void)\n{\n    return 0;\n}\n");
    project.write("Makefile", "prog: a.c b.c\n\t$(CC) -o prog a.c b.c\n");
    project.write_config();
    project.write("tests.list", "one ./prog\n");
    project.record();
    project.edit("b.c", "return 0", "return 0 + 0");
    project.ok(&["test"]);
    assert!(project.ok(&["gaps"]).contains("tests reach all code"));
    project.edit("a.c", "int main", "int unused(int x)\n{\n    return x ? 1 : 2;\n}\nint main");
    let says = project.ok(&["gaps"]);
    assert!(says.contains("not known yet") && says.contains("a.c"), "{says}");
}
