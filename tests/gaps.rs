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
