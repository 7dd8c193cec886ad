//! What selects what, both ways: every row of the safety rules that an edit
//! can cause, on real compiled programs.

use crate::support::Project;

const NONE: [&str; 0] = [];

/// A project of two units and a header, with a test per command.
const MAIN: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "shape.h"

static int scale = 2;
static const char *names[] = { "zero", "one", "two" };

static int by_size(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static int counter(void)
{
    static int count = 5;
    return ++count;
}

static void sorted(void)
{
    int values[] = { 3, 1, 2 };
    qsort(values, 3, sizeof values[0], by_size);
    printf("%d%d%d\n", values[0], values[1], values[2]);
}

static int unused(int n)
{
    return n + 1;
}

static const struct command {
    const char *name;
    int (*run)(struct shape *);
} commands[] = {
    { "area", shape_area },
    { "edge", shape_edge },
};

int main(int argc, char **argv)
{
    struct shape shape = { 3, 4, BLUE };
    const char *what = argc > 1 ? argv[1] : "";
    size_t i;

    for (i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, what) == 0) {
            printf("%d\n", commands[i].run(&shape));
            return 0;
        }
    if (strcmp(what, "sort") == 0) {
        sorted();
    } else if (strcmp(what, "name") == 0) {
        puts(names[argc - 2]);
    } else if (strcmp(what, "count") == 0) {
        printf("%d\n", counter());
    } else if (strcmp(what, "scale") == 0) {
        printf("%d\n", LIMIT * scale);
    } else if (strcmp(what, "color") == 0) {
        printf("%d\n", shape.color);
    } else if (strcmp(what, "level") == 0) {
        printf("%d\n", level);
    } else {
        return unused(argc) < 0;
    }
    return 0;
}
"#;

const SHAPE_H: &str = "\
#ifndef SHAPE_H
#define SHAPE_H
#define LIMIT 10
enum color { RED, GREEN, BLUE };
struct shape {
    int width;
    int height;
    enum color color;
};
extern int level;
int shape_area(struct shape *s);
int shape_edge(struct shape *s);
#endif
";

const SHAPE_C: &str = "\
#include \"shape.h\"
int level = 7;
int shape_area(struct shape *s)
{
    return s->width * s->height;
}
int shape_edge(struct shape *s)
{
    if (s->width > s->height)
        return s->width;
    return s->height;
}
";

const MAKEFILE: &str = "\
CFLAGS = -O1
prog: main.o shape.o
\t$(CC) $(CFLAGS) -o prog main.o shape.o
main.o: main.c shape.h
\t$(CC) $(CFLAGS) -c main.c
shape.o: shape.c shape.h
\t$(CC) $(CFLAGS) -c shape.c
";

const TESTS: &[&str] =
    &["area", "edge", "sort", "name", "count", "scale", "color", "level", "other"];

fn project() -> Project {
    let project = Project::empty();
    restore(&project);
    project.write_config();
    let list = TESTS.iter().map(|name| format!("{name} ./prog {name}\n"));
    project.write("tests.list", &list.collect::<String>());
    project.record();
    project
}

fn restore(project: &Project) {
    project.write("main.c", MAIN);
    project.write("shape.h", SHAPE_H);
    project.write("shape.c", SHAPE_C);
    project.write("Makefile", MAKEFILE);
}

/// Asks from sources, then from a build, and puts the sources back. What is
/// built shows exactly what the sources show.
fn check(project: &Project, title: &str, edit: impl Fn(&Project), expected: &[&str]) {
    edit(project);
    let from_sources = project.selected();
    assert_eq!(from_sources, expected, "{title}, from sources");
    project.ok(&["build"]);
    let mut from_build: Vec<String> = project
        .ok(&["select", "--from-build"])
        .lines()
        .map(|line| line.rsplit('/').next().unwrap().to_string())
        .collect();
    from_build.sort();
    assert_eq!(from_build, expected, "{title}, from the build");
    restore(project);
}

#[test]
fn edits_of_code_and_declarations() {
    let project = project();
    let all: &[&str] =
        &["area", "color", "count", "edge", "level", "name", "other", "scale", "sort"];
    let edit = |file: &'static str, from: &'static str, to: &'static str| {
        move |project: &Project| project.edit(file, from, to)
    };
    assert!(project.selected().is_empty(), "the same version selects nothing");

    check(&project, "a statement", edit("shape.c", "return s->width;", "return -s->width;"), &NONE);
    check(&project, "a statement", edit("shape.c", "return s->height;", "return 0;"), &["edge"]);
    check(&project, "a condition", edit("shape.c", "> s->height", ">= s->height"), &["edge"]);
    check(&project, "a callback of qsort", edit("main.c", "*(const int *)a -", "9 -"), &["sort"]);
    check(&project, "a static local", edit("main.c", "count = 5", "count = 6"), &["count"]);
    check(&project, "a static global", edit("main.c", "scale = 2", "scale = 3"), &["scale"]);
    check(&project, "a string table", edit("main.c", "\"zero\"", "\"null\""), &["name"]);
    check(&project, "a global of another unit", edit("shape.c", "= 7", "= 8"), &["level"]);
    check(&project, "a macro", edit("shape.h", "LIMIT 10", "LIMIT 11"), &["scale"]);
    check(
        &project,
        "a dispatch table",
        edit("main.c", "\"edge\", shape_edge", "\"edge\", shape_area"),
        all,
    );
    check(&project, "an enumerator's value", edit("shape.h", "RED, ", "RED = 3, "), all);
    check(
        &project,
        "an enumerator that nobody uses",
        edit("shape.h", "BLUE }", "BLUE, PINK }"),
        &NONE,
    );
    check(&project, "a member's type", edit("shape.h", "int width", "unsigned char width"), all);
    check(
        &project,
        "a signature",
        |project: &Project| {
            project.edit("shape.h", "int shape_edge(struct", "long shape_edge(struct");
            project.edit("shape.c", "int shape_edge(struct", "long shape_edge(struct");
            project.edit("main.c", "shape_edge }", "(int (*)(struct shape *))shape_edge }");
        },
        all,
    );
    check(
        &project,
        "a deleted procedure",
        |project: &Project| {
            project.edit("main.c", "unused(argc) < 0", "0");
            project.edit("main.c", "static int unused(int n)\n{\n    return n + 1;\n}\n", "");
        },
        &["other"],
    );
}

#[test]
fn edits_that_mean_the_same_select_nothing() {
    let project = project();
    let edit = |file: &'static str, from: &'static str, to: &'static str| {
        move |project: &Project| project.edit(file, from, to)
    };
    check(&project, "a comment on top", edit("shape.h", "#ifndef", "/* new */\n\n#ifndef"), &NONE);
    check(
        &project,
        "spaces",
        edit("shape.c", "s->width * s->height", "s -> width*s->height"),
        &NONE,
    );
    check(
        &project,
        "an unused macro",
        edit("shape.h", "#define LIMIT", "#define MORE 1\n#define LIMIT"),
        &NONE,
    );
    check(
        &project,
        "an unused prototype",
        edit("shape.h", "extern int level;", "extern int level;\nint other_thing(int);"),
        &NONE,
    );
    check(
        &project,
        "a parameter's name in a prototype",
        edit("shape.h", "shape_area(struct shape *s)", "shape_area(struct shape *shape)"),
        &NONE,
    );
    check(
        &project,
        "a macro with the same expansion",
        |project: &Project| {
            project.edit("shape.h", "#define LIMIT 10", "#define TEN 10\n#define LIMIT TEN");
        },
        &NONE,
    );
    check(
        &project,
        "a new procedure that nobody calls",
        edit("shape.c", "int level = 7;", "int level = 7;\nint fresh(void) { return 1; }"),
        &NONE,
    );
    check(
        &project,
        "reordered declarations",
        edit(
            "shape.h",
            "int shape_area(struct shape *s);\nint shape_edge(struct shape *s);",
            "int shape_edge(struct shape *s);\nint shape_area(struct shape *s);",
        ),
        &NONE,
    );
}

#[test]
fn changes_of_the_program_as_a_whole() {
    let project = project();
    let all: Vec<&str> = {
        let mut all = TESTS.to_vec();
        all.sort();
        all
    };
    let selected_after = |edit: &dyn Fn(&Project)| {
        edit(&project);
        let names = project.selected();
        restore(&project);
        names
    };
    assert_eq!(selected_after(&|p| p.edit("Makefile", "-O1", "-O2")), all, "build description");
    assert_eq!(
        selected_after(&|p| p.edit(
            "shape.c",
            "int level",
            "__attribute__((constructor)) static void f(void) {}\nint level"
        )),
        all,
        "a new constructor"
    );
    assert_eq!(
        selected_after(&|p| p.edit(
            "shape.c",
            "int level",
            "int strcmp(const char *a, const char *b) { return *a - *b; }\nint level"
        )),
        all,
        "a function that a library knows"
    );
    assert_eq!(
        selected_after(&|p| p.edit("shape.c", "int level", "__asm__(\"nop\");\nint level")),
        all,
        "asm at file level"
    );
    // Flags, seen in what was built.
    project.edit("Makefile", "-O1", "-O1 -fwrapv");
    std::fs::remove_file(project.path("main.o")).unwrap();
    std::fs::remove_file(project.path("shape.o")).unwrap();
    project.ok(&["build"]);
    assert_eq!(project.ok(&["select", "--from-build"]).lines().count(), all.len(), "flags");
}

#[test]
fn files_of_unknown_role_select_who_may_use_them_and_are_named() {
    let project = project();
    // What a static program uses is not seen.
    project.write("look.out.c", "int main(void)\n{\n    return 0;\n}\n");
    let mut gcc = std::process::Command::new("gcc");
    gcc.args(["-static", "-o", "look.out", "look.out.c"]).current_dir(project.root());
    assert!(gcc.status().unwrap().success());
    std::fs::remove_file(project.path("look.out.c")).unwrap();
    project.edit("tests.list", "area ./prog area", "area ./look.out && ./prog area");
    project.record();
    let select = |project: &Project| {
        let output = project.edgewise(&["select"]);
        (project.selected(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(select(&project).0, NONE);
    project.write("data.txt", "input");
    let (names, said) = select(&project);
    assert_eq!(names, ["area"], "all others are known not to have looked for it");
    assert!(said.contains("data.txt is new, and it is not known which tests read it"), "{said}");
    std::fs::remove_file(project.path("data.txt")).unwrap();
    project.write("fresh.c", "int fresh;");
    let (names, said) = select(&project);
    assert_eq!(names.len(), TESTS.len());
    assert!(said.contains("fresh.c is new: it may become part of a program"), "{said}");
    std::fs::remove_file(project.path("fresh.c")).unwrap();
    project.write("scratch.out", "ignored");
    assert_eq!(select(&project).0, NONE);
}

#[test]
fn line_numbers_count_only_if_asked_to() {
    let source = "\
#include <assert.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    assert(argc > 0);
    if (argc > 1)
        printf(\"%d\\n\", __LINE__);
    return 0;
}
";
    let project = Project::of_source(source, &[("plain", ""), ("line", "x")]);
    project.record();
    project.write("main.c", &format!("\n{source}"));
    let output = project.edgewise(&["select"]);
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("strict-lines"), "{said}");
    project.edit("edgewise.toml", "ignore", "strict-lines = true\nignore");
    assert_eq!(project.selected(), ["line"], "an assertion that holds prints no line");
    // A line number that decides something counts in any case.
    project.edit("edgewise.toml", "strict-lines = true\n", "");
    project.write("main.c", &source.replace("argc > 1", "argc > 1 + (__LINE__ == 7)"));
    assert_eq!(project.selected(), ["line", "plain"]);
}

#[test]
fn tests_that_are_new_or_changed() {
    let project = project();
    project.edit("tests.list", "sort ./prog sort", "sort ./prog sort \nagain ./prog sort");
    project.edit("tests.list", "edge ./prog edge", "edge ./prog edge now");
    assert_eq!(project.selected(), ["again", "edge"]);
    project.ok(&["test"]);
    assert!(project.selected().is_empty());
}

#[test]
fn rows_that_were_carried_over_still_count() {
    let project = project();
    // Each step changes one thing; only its tests run again, and the rows of
    // all others come over by the map.
    let steps: &[(&str, &str, &str, &[&str])] = &[
        ("shape.c", "return s->height;", "return s->height + 0;", &["edge"]),
        ("main.c", "return ++count;", "count++;\n    return count;", &["count"]),
        ("shape.h", "LIMIT 10", "LIMIT (5 + 5)", &["scale"]),
        ("main.c", "int values[] =", "int spare = 0, values[] =", &["sort"]),
        ("shape.c", "s->width * s->height", "s->height * s->width", &["area"]),
        ("main.c", "puts(names[argc - 2]);", "puts(*(names + argc - 2));", &["name"]),
        ("shape.c", "> s->height)", ">= s->height)", &["edge"]),
        ("main.c", "    count++;\n", "    count += 1;\n", &["count"]),
    ];
    for (file, from, to, expected) in steps {
        project.edit(file, from, to);
        assert_eq!(&project.selected(), expected, "{from} -> {to}");
        project.ok(&["test"]);
        assert!(project.selected().is_empty(), "{from} -> {to}");
    }
    // Another version in the middle of everything: carried rows equal fresh ones.
    let carried = rows(&project);
    project.ok(&["run"]);
    assert_eq!(carried, rows(&project));
}

/// All rows of all tests.
fn rows(project: &Project) -> Vec<(String, Vec<String>)> {
    let path = project.path(".edgewise/history");
    let history = edgewise::history::History::open(&path).unwrap();
    let tests = history.tests();
    tests
        .map(|(name, _)| {
            let rows = history.rows(name).unwrap();
            (name.clone(), rows.iter().map(|row| format!("{row:?}")).collect())
        })
        .collect()
}

/// A changed type in one arm of `?:` changes the value of the other arm too.
#[test]
fn the_arms_of_a_conditional_share_their_type() {
    let source = "\
#include <stdio.h>
int main(int argc, char **argv)
{
    int one = -1;
    int other = 5;
    long long value = argc > 1 ? one : other;
    printf(\"%lld\\n\", value);
    return 0;
}
";
    let project = Project::of_source(source, &[("one", "x"), ("other", "")]);
    project.record();
    project.edit("main.c", "int other", "unsigned other");
    assert_eq!(project.selected(), ["one", "other"]);
    // A change of value in one arm is none of the other's business.
    project.write("main.c", &source.replace("one : other", "one : 7"));
    project.ok(&["test"]);
    project.edit("main.c", "one : 7", "one : 8");
    assert_eq!(project.selected(), ["other"]);
}

/// An opaque body is compared by its tokens and by every declaration of every
/// name in it.
#[test]
fn opaque_procedures_depend_on_all_their_declarations() {
    let source = "\
#include <stdio.h>
#include <stdlib.h>
struct pair { int left, right; };
static int unused_by_it = 1;
static int sum(struct pair *p)
{
    int twice(int n) { return 2 * n; }
    return twice(p->left) + p->right;
}
int main(int argc, char **argv)
{
    struct pair pair = { 1, 2 };
    if (argc > 1)
        printf(\"%d\\n\", sum(&pair));
    else
        printf(\"%d\\n\", unused_by_it);
    return 0;
}
";
    let project = Project::of_source(source, &[("opaque", "x"), ("plain", "")]);
    project.record();
    let selected_after = |from: &str, to: &str| {
        project.edit("main.c", from, to);
        let names = project.selected();
        project.write("main.c", source);
        names
    };
    assert_eq!(selected_after("2 * n", "3 * n"), ["opaque"], "its tokens");
    assert_eq!(selected_after("return twice", "return /* 2 */  twice"), NONE, "not its spaces");
    let layout = selected_after("int left, right;", "long left; int right;");
    assert!(layout.contains(&String::from("opaque")), "a type it names: {layout:?}");
    assert_eq!(selected_after("unused_by_it = 1", "unused_by_it = 2"), ["plain"]);
}

/// A name stands for its declaration: deleting an inner one rebinds it.
#[test]
fn names_that_are_bound_anew() {
    let source = "\
#include <stdio.h>
static int a = 1;
int main(int argc, char **argv)
{
    if (argc > 1) {
        int a;
        a = argc;
        printf(\"%d\\n\", a);
    }
    printf(\"%d\\n\", a);
    return 0;
}
";
    let project = Project::of_source(source, &[("inner", "x"), ("outer", "")]);
    project.record();
    project.edit("main.c", "        int a;\n", "");
    assert_eq!(project.selected(), ["inner"]);
    // Only the outer one changes its type.
    project.write("main.c", &source.replace("static int a", "static char a"));
    assert_eq!(project.selected(), ["inner", "outer"]);
}

/// A reason says what changed also where the line itself did not.
#[test]
fn reasons_name_the_declaration_behind_an_unchanged_line() {
    let project = project();
    let said_after = |file: &str, from: &str, to: &str| {
        project.edit(file, from, to);
        let said = String::from_utf8(project.edgewise(&["select"]).stderr).unwrap();
        restore(&project);
        said
    };
    let said = said_after("shape.h", "int width", "unsigned char width");
    assert!(said.contains("`shape` is declared otherwise (shape.h:5)"), "{said}");
    let said = said_after("shape.h", "RED, ", "RED = 3, ");
    assert!(said.contains("is declared otherwise (shape.h:4)"), "{said}");
    let said = said_after("shape.c", "level = 7", "level = 8");
    assert!(said.contains("`level` has another definition (shape.c:2)"), "{said}");
}
