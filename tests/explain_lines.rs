//! `edgewise explain FILE:LINE` where no code begins, and reasons that name what is behind
//! a change: a macro, a declaration, an input of a test.

use crate::support::Project;
use serde_json::Value;
use std::process::Command;

const CONFIG: &str = r#"#ifndef CONFIG_H
#define CONFIG_H
/* Settings. */
#define LIMIT 10
#define SCALE(x) \
    ((x) * 2)
enum mode {
    FAST,
    SLOW = 5
};
typedef int number;
struct item {
    int id;
    number weight;
};
extern int level;
int weigh(struct item *item);
#endif
"#;

const MAIN: &str = r#"#include "config.h"
#include <stdio.h>
#include <stdlib.h>
#define GREETING "hello"
#define UNUSED 3

int level = 1;

static int clamp(int n)
{
    return n > LIMIT ? LIMIT : n;
}

int weigh(struct item *item)
{
    return item->weight + level;
}

static int heavy(int n)
{
    struct item box;
    box.id = n;
    return box.id;
}

static int read_file(const char *name)
{
    int n = 0;
    FILE *file = fopen(name, "r");
    if (!file || fscanf(file, "%d", &n) != 1)
        return 1;
    fclose(file);
    n = SCALE(n);
    n = SCALE(n);
    printf("%d\n", n);
    return 0;
}

static int greet(void)
{
    struct item item = {1, 2};
    enum mode mode = SLOW;
    printf("%s %d\n", GREETING, weigh(&item));
    return mode == FAST;
}

int main(int argc, char **argv)
{
    if (argc > 3)
        return heavy(argc) == 0;
    if (argc > 2)
        return read_file(argv[2]);
    if (argc > 1)
        printf("%d\n", clamp(atoi(argv[1])));
    else
        return greet();
    return 0;
}
"#;

fn project() -> Project {
    let project = Project::empty();
    project.write("config.h", CONFIG);
    project.write("main.c", MAIN);
    project.write("Makefile", "prog: main.c config.h\n\t$(CC) -O2 -o prog main.c\n");
    project.write(
        "edgewise.toml",
        "[build]\ncommand = \"make -s\"\n[[suite]]\nname = \"t\"\nkind = \"list\"\nfile = \"tests.list\"\n\
         inputs = [\"extra/*\"]\nvariables = [\"EDGEWISE_TEST_MOOD\"]\n\
         [[suite]]\nname = \"u\"\nkind = \"list\"\nfile = \"more.list\"\n",
    );
    project.write(
        "tests.list",
        "greet ./prog\nclamp ./prog 30\nread ./prog read data.txt\nheavy ./prog 1 2 3\n",
    );
    project.write("more.list", "clamp ./prog 3\n");
    project.write("data.txt", "7\n");
    project.write("other.txt", "7\n");
    project.write("extra/a", "a\n");
    project.record();
    project
}

/// The number of the line of a file that has some text in it.
#[track_caller]
fn line_of(project: &Project, file: &str, text: &str) -> String {
    let lines = project.read(file);
    let place = lines.lines().position(|line| line.contains(text));
    format!("{file}:{}", place.unwrap_or_else(|| panic!("`{text}` in {file}")) + 1)
}

#[track_caller]
fn explain(project: &Project, file: &str, text: &str) -> (String, Value) {
    let line = line_of(project, file, text);
    let said = project.ok(&["explain", &line]);
    let value = project.ok(&["explain", "--format", "json", &line]);
    let value: Value = serde_json::from_str(&value).unwrap();
    (said, value["lines"][0].clone())
}

#[track_caller]
fn assert_has(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.contains(line), "{line}\nin:\n{text}");
    }
}

fn names(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

fn commit(project: &Project) {
    for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "first"]] {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments);
        assert!(git.current_dir(project.root()).output().unwrap().status.success());
    }
}

/// The reasons of a selection, for people.
fn reasons(project: &Project) -> String {
    String::from_utf8(project.edgewise(&["select"]).stderr).unwrap()
}

#[test]
fn a_line_without_code_says_what_stands_there() {
    let project = project();
    for (file, text, expected) in [
        ("config.h", "Settings", "it is blank or a comment, which is no code\n"),
        ("config.h", "#ifndef", "it is a condition for the preprocessor\n"),
        ("config.h", "LIMIT", "it defines the macro `LIMIT`\n    1 procedure depends on it: clamp"),
        ("config.h", "((x) * 2)", "it is part of the macro `SCALE` (config.h:5-6)\n"),
        ("config.h", "enum mode", "it declares mode\n    1 procedure depends on it: greet"),
        ("config.h", "FAST", "it declares FAST\n    1 procedure depends on it: greet"),
        ("config.h", "typedef", "it declares number\n    3 procedures depend on it: greet"),
        ("config.h", "weight;", "it is part of the declaration of `item` (config.h:12-15)\n"),
        ("config.h", "extern int level", "it declares level\n    1 procedure depends on it: weigh"),
        ("main.c", "#include \"config.h\"", "it includes a file\n"),
        ("main.c", "UNUSED", "it defines the macro `UNUSED`\n    no procedure depends on it\n"),
        ("data.txt", "7", "1 test used it:\n        t/read\n"),
        ("other.txt", "7", "no test used it\n"),
    ] {
        let (said, value) = explain(&project, file, text);
        assert_has(&said, &[expected]);
        assert!(!said.contains("changed") && !said.contains("not known"), "{said}");
        assert!(!said.contains("selected"), "{said}");
        assert_eq!(value["change"]["is"], "same", "{value}");
        assert_ne!(value["stands"], Value::Null, "{value}");
    }
    let (_, value) = explain(&project, "config.h", "weight;");
    assert_eq!(value["stands"]["is"], "declaration");
    assert_eq!(names(&value["stands"]["names"]), ["item"]);
    assert_eq!(
        names(&value["users"]),
        ["greet (main.c:39)", "heavy (main.c:19)", "weigh (main.c:14)"]
    );
}

#[test]
fn a_line_of_a_procedure_on_which_nothing_begins() {
    let project = project();
    project.edit("main.c", "GREETING, weigh", "GREETING,\n\n           weigh");
    project.record();
    let (said, value) = explain(&project, "main.c", "           weigh(&item)");
    assert_has(
        &said,
        &["main.c:45 is part of what begins on line 43:\nmain.c:43: it is as it was\n"],
    );
    assert_has(&said, &["1 test reached it:\n        t/greet\n"]);
    assert_eq!((&value["line"], &value["asked"]), (&Value::from(43), &Value::from(45)));
    let between = project.ok(&["explain", "main.c:44"]);
    assert_has(&between, &["main.c:44: it is blank or a comment, which is no code\n"]);
    for text in ["    struct item box;", "    else"] {
        let (said, value) = explain(&project, "main.c", text);
        assert_has(&said, &["what it is part of is as it was", "no statement or condition begins"]);
        assert_eq!(value["stands"]["is"], "inside");
    }
    project.edit("main.c", "box.id = n;", "box.id = n + 1;");
    let (said, _) = explain(&project, "main.c", "    struct item box;");
    assert_has(&said, &["what it is part of changed\n", "it is part of `heavy` (main.c:19-24), "]);
}

#[test]
fn a_macro_says_whom_it_selects_and_is_named_as_a_reason() {
    let project = project();
    project.edit("config.h", "#define LIMIT 10", "#define LIMIT 12");
    assert_eq!(project.selected(), ["clamp", "clamp"]);
    // The file of the statement is what it was, so it needs no old text of the macro.
    let expected = "`LIMIT` is defined otherwise (config.h:4)\n    - main.c:11: n > 10\n";
    assert_has(&reasons(&project), &[expected]);
    let (said, value) = explain(&project, "config.h", "LIMIT");
    assert_has(
        &said,
        &["config.h:4: it changed\n", "2 tests are selected for it:\n        t/clamp"],
    );
    assert_eq!(names(&value["selected"]), ["t/clamp", "u/clamp"]);
    // Another one of the file selects nobody, changed or not.
    let (said, value) = explain(&project, "config.h", "((x) * 2)");
    assert_has(&said, &["whether it changed is not known: git", "no test is selected for it\n"]);
    assert_eq!(names(&value["perhaps"]), [""; 0]);
    // What everything may depend on may have selected everybody.
    let (said, value) = explain(&project, "config.h", "#ifndef");
    assert_has(&said, &["2 tests are selected for code that depends on it; whether for this"]);
    assert_eq!(names(&value["perhaps"]), ["t/clamp", "u/clamp"]);
}

#[test]
fn a_macro_beside_its_use_is_told_apart_from_an_edit_by_git() {
    let project = project();
    project.edit("main.c", "\"hello\"", "\"hi\"");
    // Without the old text, it may be the statement that was edited.
    let (said, value) = explain(&project, "main.c", "#define GREETING");
    assert_has(&said, &["whether it changed is not known", "1 test is selected for code that"]);
    assert_eq!(names(&value["perhaps"]), ["t/greet"]);
    assert!(!reasons(&project).contains("defined otherwise"));
    project.write("main.c", MAIN);
    commit(&project);
    project.edit("main.c", "\"hello\"", "\"hi\"");
    assert_has(&reasons(&project), &["`GREETING` is defined otherwise (main.c:4)\n"]);
    let (said, value) = explain(&project, "main.c", "#define GREETING");
    assert_has(&said, &["main.c:4: it changed\n", "1 test is selected for it:\n        t/greet\n"]);
    assert_eq!(names(&value["perhaps"]), [""; 0]);
    assert_has(&explain(&project, "main.c", "UNUSED").0, &["main.c:5: it is as it was\n"]);
    // A statement that uses another macro now was edited, and the macro was not.
    project.write("main.c", MAIN);
    project.edit("main.c", "GREETING, weigh", "VERSION, weigh");
    project.edit("main.c", "#define UNUSED 3", "#define UNUSED 4\n#define VERSION \"hi\"");
    assert_eq!(project.selected(), ["greet"]);
    let said = reasons(&project);
    assert!(!said.contains("defined otherwise"), "{said}");
}

#[test]
fn the_same_text_with_another_meaning_is_called_so() {
    let project = project();
    project.edit("config.h", "((x) * 2)", "((x) * 3)");
    assert_eq!(project.selected(), ["read"]);
    assert_has(&reasons(&project), &["`SCALE` is defined otherwise (config.h:5)\n"]);
    // The second of two statements lies behind the first, which tells it.
    let line = line_of(&project, "main.c", "n = SCALE(n);");
    let (file, number) = line.split_once(':').unwrap();
    let second = format!("{file}:{}", number.parse::<u32>().unwrap() + 1);
    let said = project.ok(&["explain", &second]);
    assert_has(
        &said,
        &[
            "the same text meant something else, by a macro or a declaration that changed:\n",
            "    - n = ((n) * 2);\n    + n = ((n) * 3);\n    1 test reached that:\n        t/read\n",
        ],
    );
    assert!(!said.contains("was something else"), "{said}");
}

#[test]
fn a_field_is_part_of_its_declaration() {
    let project = project();
    project.edit("config.h", "number weight;", "long weight;");
    assert_eq!(project.selected(), ["greet", "heavy"]);
    let (said, value) = explain(&project, "config.h", "weight;");
    assert_has(
        &said,
        &[
            "config.h:14: what it is part of changed\n      long weight;\n",
            "2 tests are selected for it:\n        t/greet\n        t/heavy\n",
        ],
    );
    assert_eq!(names(&value["selected"]), ["t/greet", "t/heavy"]);
    let (_, value) = explain(&project, "config.h", "struct item {");
    assert_eq!(names(&value["selected"]), ["t/greet", "t/heavy"]);
    assert_eq!(names(&value["declares"]), ["item"]);
    // It is named where nothing but a variable of the procedure leads there.
    let said = project.ok(&["explain", "t/heavy"]);
    assert_has(&said, &["in heavy, ", ": `item` is declared otherwise (config.h:12)\n"]);
    // What is behind that lies behind it.
    let (said, _) = explain(&project, "main.c", "return item->weight");
    assert_has(&said, &["lies behind something that changed", "1 test reached it before:\n"]);
}

/// `typedef struct { … } name`: the structure goes by the name of the type.
#[test]
fn a_field_of_a_structure_without_a_tag() {
    let project = Project::of_source(
        "#include <stdio.h>\ntypedef struct {\n    int low;\n    struct {\n        int width;\n    } \
         of;\n} range;\nstatic int size(range *r)\n{\n    return r->of.width;\n}\n\
         int main(int c, char **v)\n{\n    if (c > 1) {\n        range r = {1, {2}};\n        \
         printf(\"%d\\n\", size(&r));\n    }\n    return 0;\n}\n",
        &[],
    );
    project.write("tests.list", "size ./prog 1\nnone ./prog\n");
    project.record();
    for (field, line, other) in [("int width", 5, "char width"), ("int low", 3, "long low")] {
        project.edit("main.c", field, other);
        assert_eq!(project.selected(), ["size"]);
        let (said, value) = explain(&project, "main.c", other);
        assert_has(&said, &[&format!("main.c:{line}: what it is part of changed\n")]);
        assert_eq!(names(&value["selected"]), ["t/size"]);
        assert_has(&project.ok(&["explain", "t/size"]), &["`range` is declared otherwise"]);
        project.edit("main.c", other, field);
    }
}

#[test]
fn what_a_signature_means_is_named() {
    let project = project();
    project.edit("config.h", "typedef int number", "typedef long number");
    let said = project.ok(&["explain", "t/greet"]);
    assert!(said.contains("`number` is declared otherwise (config.h:11)"), "{said}");
    assert!(!said.contains("a declaration that it depends on"), "{said}");
    let (_, value) = explain(&project, "config.h", "typedef");
    assert_eq!(names(&value["selected"]), ["t/greet", "t/heavy"]);
    project.write("config.h", CONFIG);
    project.edit("config.h", "SLOW = 5", "SLOW = 6");
    let (said, value) = explain(&project, "config.h", "SLOW");
    assert_has(&said, &["config.h:9: it changed\n", "it declares SLOW\n"]);
    assert_eq!(names(&value["selected"]), ["t/greet"]);
}

/// Where nothing but a body changed, declarations are where they were, on other lines.
#[test]
fn what_is_behind_a_reason_is_shown_as_it_was_and_as_it_is() {
    let project = project();
    commit(&project);
    let both = |expected: &str, test: &str| {
        assert_has(&reasons(&project), &[expected]);
        assert_has(&project.ok(&["explain", test]), &[expected]);
    };
    project.edit("config.h", "    int id;", "    long id;");
    both(
        ": `item` is declared otherwise (config.h:12)\n    - config.h:13: int id;\n    \
         + config.h:13: long id;\n      main.c:22: box.id = n;\n",
        "t/heavy",
    );
    let value = project.ok(&["explain", "--format", "json", "t/heavy"]);
    let value: Value = serde_json::from_str(&value).unwrap();
    assert_eq!(value["tests"][0]["reasons"][0]["behind"]["new"][0]["text"], "long id;");
    project.edit("config.h", "    long id;", "    int id;");
    project.edit("config.h", "LIMIT 10", "LIMIT 20");
    both(
        ": `LIMIT` is defined otherwise (config.h:4)\n    - config.h:4: #define LIMIT 10\n    \
         + config.h:4: #define LIMIT 20\n    - main.c:11: n > 10\n    + main.c:11: n > 20\n",
        "t/clamp",
    );
    project.edit("config.h", "LIMIT 20", "LIMIT 10");
    project.edit("main.c", "int level = 1;", "int level = 2;");
    both(
        ": `level` has another definition (main.c:7)\n    - main.c:7: int level = 1;\n    \
         + main.c:7: int level = 2;\n",
        "t/greet",
    );
}

#[test]
fn a_variable_of_a_procedure_is_named_whose_type_changed() {
    let project = Project::of_source(
        "static int half(int m)\n{\n    int n;\n    int q;\n    int k = m + 1;\n    \
         n = k / 2;\n    return n + m;\n}\n\nint main(int argc, char **argv)\n{\n    \
         (void)argv;\n    return half(argc) == 9;\n}\n",
        &[("one", "")],
    );
    project.record();
    project.edit("main.c", "    int n;", "    long n;");
    let named = "in main > half: `n` is declared otherwise inside of `half`\n";
    assert_has(&reasons(&project), &[&format!("{named}      main.c:6: n = k / 2;\n")]);
    // Where it may be either, git knows.
    project.edit("main.c", "    long n;", "    int n;");
    project.edit("main.c", "n = k / 2;", "n = q = k;");
    project.record();
    project.edit("main.c", "    int n;", "    long n;");
    let either = "in main > half: `n` or `q` is declared otherwise inside of `half`\n";
    assert_has(&reasons(&project), &[either]);
    project.edit("main.c", "    long n;", "    int n;");
    commit(&project);
    project.edit("main.c", "    int n;", "    long n;");
    let lines = "    - main.c:3: int n;\n    + main.c:3: long n;\n      main.c:6: n = q = k;\n";
    assert_has(&reasons(&project), &[&format!("{named}{lines}")]);
}

#[test]
fn a_declaration_that_moved_is_still_one() {
    let project = project();
    project.edit("main.c", "static int clamp", "struct late {\n    int a;\n};\n\nstatic int clamp");
    project.edit("main.c", "    box.id = n;", "    struct late late = {n};\n    box.id = late.a;");
    project.ok(&["build"]);
    project.ok(&["run"]);
    project.edit("main.c", "    return n > LIMIT", "    n += 0;\n    return n > LIMIT");
    let (said, value) = explain(&project, "main.c", "struct late {");
    assert_has(&said, &["it is as it was\n", "it declares late\n", "heavy (main.c:24)\n"]);
    assert_eq!(value["change"]["is"], "same");
}

#[test]
fn a_data_file_says_who_uses_it() {
    let project = project();
    project.write("data.txt", "8\n");
    let (said, value) = explain(&project, "data.txt", "8");
    assert_has(
        &said,
        &["data.txt:1: the file changed\n", "1 test is selected for it:\n        t/read\n"],
    );
    assert_eq!(value["stands"]["is"], "data");
    project.write("Makefile", &format!("{}\n# more\n", project.read("Makefile")));
    let (said, value) = explain(&project, "Makefile", "prog:");
    assert_has(&said, &["Makefile:1: the file changed\n", "5 tests are selected for it:\n"]);
    assert_eq!(names(&value["selected"]).len(), 5);
    let output = project.edgewise(&["explain", "nothing.txt:1"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn what_makes_a_test_another_one_is_named() {
    let project = project();
    project.write("extra/a", "b\n");
    assert_eq!(project.selected(), ["clamp", "greet", "heavy", "read"]);
    let said = reasons(&project);
    assert_has(&said, &["    extra/a changed, which it declares as an input\n"]);
    let (said, value) = explain(&project, "extra/a", "b");
    assert_has(&said, &["4 tests are selected for it:\n"]);
    assert_eq!(names(&value["selected"]).len(), 4);
    project.write("extra/b", "b\n");
    let expected = "extra/a changed, which it declares as an input, and 1 more did\n";
    assert_has(&reasons(&project), &[expected]);
    std::fs::remove_file(project.path("extra/b")).unwrap();
    project.write("extra/a", "a\n");
    let mut select = project.command();
    let output = select.arg("select").env("EDGEWISE_TEST_MOOD", "good").output().unwrap();
    assert_has(
        &String::from_utf8(output.stderr).unwrap(),
        &["EDGEWISE_TEST_MOOD was not set when it ran, and it declares that as a variable\n"],
    );
    // A command with nothing declared beside it.
    project.write("more.list", "clamp ./prog 4\n");
    assert_eq!(project.selected(), ["clamp"]);
    let said = reasons(&project);
    let line =
        "    more.list:1: its command is `./prog 4` now and was another one, or its directory,";
    assert_has(&said, &[line]);
    assert!(!said.contains("variable"), "{said}");
    project.write("tests.list", &project.read("tests.list").replace("prog 30", "prog 31"));
    assert_has(
        &reasons(&project),
        &["or the value of a variable that counts for it (EDGEWISE_TEST_MOOD)\n"],
    );
}

/// What git has of a list says which command it had.
#[test]
fn an_edited_line_of_a_list_is_named_with_both_commands() {
    let project = project();
    let git = |arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments);
        assert!(git.current_dir(project.root()).output().unwrap().status.success());
    };
    git(&["init", "-q"]);
    git(&["add", "more.list"]);
    git(&["commit", "-qm", "first"]);
    let before = project.read("more.list");
    let command = before.trim().strip_prefix("clamp ").unwrap();
    project.write("more.list", "# Edited.\nclamp ./prog 4\n");
    let expected = format!("    more.list:2: its command was `{command}`, and is `./prog 4`\n");
    assert_has(&reasons(&project), &[&expected]);
    assert_eq!(project.selected(), ["clamp"]);
    // A line that says what it said is no reason.
    project.write("more.list", &format!("# Edited.\n{before}"));
    assert!(project.selected().is_empty());
    let config = project.read("edgewise.toml");
    let limited = config.replace("file = \"more.list\"\n", "file = \"more.list\"\ntimeout = 77\n");
    assert_ne!(config, limited);
    project.write("edgewise.toml", &limited);
    let expected = "    its directory, environment, time limit or how it is judged changed\n";
    assert_has(&reasons(&project), &[expected]);
}

#[test]
fn a_test_has_its_files_and_the_procedures_that_select_it() {
    let project = project();
    project.edit("config.h", "/* Settings. */", "/* My settings. */");
    for number in 0..7 {
        project.write(&format!("pages/{number}.html"), "a\n");
    }
    let said = project.ok(&["explain", "t/read"]);
    assert_has(
        &said,
        &[
            "it used 2 files of the project: data.txt, prog\n",
            "config.h changed: compared as code\n",
            "7 files in pages/ are new: it does not use them\n",
        ],
    );
    assert!(!said.contains("pages/1.html") && !said.contains("pages/ is new"), "{said}");
    let value: Value =
        serde_json::from_str(&project.ok(&["explain", "t/read", "--format", "json"])).unwrap();
    assert_eq!(names(&value["tests"][0]["last"]["used"]), ["data.txt", "prog"]);
    let files = value["tests"][0]["files"].as_array().unwrap();
    assert_eq!(files.len(), 8, "{files:?}");

    project.edit("main.c", "return n > LIMIT", "return n >= LIMIT");
    project.edit("main.c", "return greet();", "return 0;");
    let gone = "static int greet(void)\n{\n    struct item item = {1, 2};\n    enum mode mode = SLOW;\n    \
                printf(\"%s %d\\n\", GREETING, weigh(&item));\n    return mode == FAST;\n}\n";
    project.edit("main.c", gone, "");
    let said = project.ok(&["explain", "t/clamp"]);
    assert_has(
        &said,
        &[
            "clamp (main.c:9): it enters it, which selects it; these ways lead elsewhere now:\n",
            "greet (main.c:39) is gone: it does not enter it\n",
        ],
    );
    let said = project.ok(&["explain", "t/greet"]);
    assert_has(
        &said,
        &[
            "clamp (main.c:9): it does not enter it\n",
            "greet (main.c:39) is gone: it enters it, which selects it\n",
        ],
    );
}

#[test]
fn a_jump_that_was_edited_is_not_called_as_it_was() {
    let source = "#include <stdio.h>\nint main(int argc, char **argv)\n{\n    for (int i = 1; i < \
                  argc; i++) {\n        if (argv[i][0] == '#')\n            continue;\n        \
                  puts(argv[i]);\n    }\n    return 0;\n}\n";
    let project = Project::of_source(source, &[("comment", "'#' x"), ("plain", "x")]);
    project.record();
    commit(&project);
    project.edit("main.c", "continue", "break");
    let (said, value) = explain(&project, "main.c", "break");
    assert_has(
        &said,
        &[
            "main.c:5: it is as it was, and the jump behind it leads elsewhere now\n",
            "    - main.c:4: i++\n    + main.c:9: return 0;\n",
            "1 test is selected for it:\n        t/comment\n",
        ],
    );
    assert!(!said.contains("selected for something else"), "{said}");
    assert_eq!(value["change"]["is"], "leads-elsewhere");
    // A jump that stays, beside a statement that changed.
    project.edit("main.c", "break", "continue");
    project.edit("main.c", "puts(argv[i]);", "puts(argv[0]);");
    let (said, _) = explain(&project, "main.c", "continue");
    assert_has(&said, &["main.c:5: it is as it was\n"]);
}

#[test]
fn the_edited_line_of_a_macro_or_a_declaration_is_told_apart() {
    let project = Project::of_source(
        "#include \"m.h\"\nint main(void)\n{\n    struct s s = {1, 2};\n    TWICE(s.a);\n    \
         return s.a != s.b;\n}\n",
        &[("a", "")],
    );
    project.write(
        "m.h",
        "#define TWICE(x) \\\n    do { \\\n        (x) *= 2; \\\n        (x) += 0; \\\n    } \
         while (0)\nstruct s {\n    int a;\n    int b;\n};\n",
    );
    project.record();
    commit(&project);
    project.edit("m.h", "+= 0", "-= 0");
    project.edit("m.h", "int b;", "long b;");
    for (line, said) in [
        (1, "what it is part of changed"),
        (3, "what it is part of changed"),
        (4, "it changed"),
        (7, "what it is part of changed"),
        (8, "it changed"),
    ] {
        let answer = project.ok(&["explain", &format!("m.h:{line}")]);
        assert!(answer.starts_with(&format!("m.h:{line}: {said}\n")), "{answer}");
    }
}

#[test]
fn a_line_that_only_moved_has_its_new_number() {
    let source = "#include <stdio.h>\nstatic const char *const names[] = {\n    \"a\",\n};\n\n\
                  int main(void)\n{\n    printf(\"%zu\\n\", sizeof names);\n    return 0;\n}\n";
    let project = Project::of_source(source, &[("a", "")]);
    project.record();
    commit(&project);
    project.edit("main.c", "    \"a\",\n", "    \"a\",\n    \"b\",\n    \"c\",\n");
    let said = reasons(&project);
    assert_has(&said, &["      main.c:10: printf(\"%zu\\n\", sizeof names);\n"]);
    assert!(!said.contains("main.c:8:"), "{said}");
}
