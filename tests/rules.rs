//! What selects what, row by row: on real compiled programs, both ways, from
//! sources and from a build. `tests/changes.rs` has the rows about edits of code
//! that need no more than two units; here are all others.

use crate::support::Project;
use crate::support::rules::{ALL, Recorded};

const NONE: [&str; 0] = [];

fn edit<'e>(file: &'e str, from: &'e str, to: &'e str) -> impl Fn(&Project) + 'e {
    move |project: &Project| project.edit(file, from, to)
}

/// A project of these files, with tests `name command`.
fn project(files: &[(&str, &str)], tests: &[(&str, &str)]) -> Project {
    let project = Project::empty();
    project.write_config();
    let list = tests.iter().map(|(name, command)| format!("{name} {command}\n"));
    project.write("tests.list", &list.collect::<String>());
    for (name, text) in files {
        project.write(name, text);
    }
    project
}

/// Each test reaches one of the procedures, which uses one kind of declaration.
const CODE_MAIN: &str = r#"
#include <stdio.h>
#include <string.h>
#include "all.h"

static int of_local(int n) { int wide = n; return wide / 2; }
static int of_typedef(void) { number n = 300; return n; }
static int of_struct(void) { struct pair p = { 1, 2 }; return p.left; }
static int of_union(void) { union word w; w.all = 1; return w.all; }
static int of_enum(void) { return HIGH; }
static int of_bits(void) { struct bits b = { 1, 2 }; return b.second; }
static int of_attribute(void) { return (int)sizeof(struct spread); }
static int of_pack(void) { return (int)sizeof(struct packed); }
static int of_choice(int n)
{
    int sum = 1;
    switch (n) {
    case 1:
        sum += 10;
        break;
    case 2:
        sum += 20;
        break;
    default:
        sum += 1;
    }
    return sum;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int r = 0;
    if (!strcmp(what, "local"))
        r = of_local(3);
    else if (!strcmp(what, "typedef"))
        r = of_typedef();
    else if (!strcmp(what, "struct"))
        r = of_struct();
    else if (!strcmp(what, "union"))
        r = of_union();
    else if (!strcmp(what, "enum"))
        r = of_enum();
    else if (!strcmp(what, "bits"))
        r = of_bits();
    else if (!strcmp(what, "attribute"))
        r = of_attribute();
    else if (!strcmp(what, "pack"))
        r = of_pack();
    else if (!strcmp(what, "first"))
        r = of_choice(1);
    else if (!strcmp(what, "second"))
        r = of_choice(2);
    else if (!strcmp(what, "other"))
        r = of_choice(3);
    else if (!strcmp(what, "table"))
        r = **table;
    else if (!strcmp(what, "common"))
        r = common;
    else if (!strcmp(what, "helper"))
        r = helper(2);
    else if (!strcmp(what, "outer"))
        r = outer(2);
    printf("%d\n", r);
    return 0;
}
"#;

const CODE_HEADER: &str = "\
typedef int number;
struct pair { int left, right; };
union word { int all; char parts[4]; };
enum level { LOW, HIGH = 5 };
struct bits { unsigned first : 3, second : 5; };
struct spread { char c; int i; } __attribute__((aligned(8)));
#pragma pack(push, 2)
struct packed { char c; int i; };
#pragma pack(pop)
extern int *table[];
extern int common;
int helper(int n);
int outer(int n);
";

const CODE_FAR: &str = "\
#include \"all.h\"
static int deep = 3;
int *table[] = { &deep };
int common;
int helper(int n)
{
    return n + 1;
}
int inner(int n) __attribute__((aligned(16)));
int inner(int n)
{
    return n + 2;
}
int outer(int n)
{
    return inner(n);
}
";

const CODE_MAKEFILE: &str = "\
prog: $(patsubst %.c,%.o,$(wildcard *.c))
\t$(CC) -o prog $^
%.o: %.c Makefile $(wildcard *.h)
\t$(CC) -O1 -fcommon -c -o $@ $<
";

const CODE_TESTS: &[&str] = &[
    "local",
    "typedef",
    "struct",
    "union",
    "enum",
    "bits",
    "attribute",
    "pack",
    "first",
    "second",
    "other",
    "table",
    "common",
    "helper",
    "outer",
];

fn code() -> Recorded {
    let tests: Vec<(&str, String)> =
        CODE_TESTS.iter().map(|name| (*name, format!("./prog {name}"))).collect();
    let tests: Vec<(&str, &str)> = tests.iter().map(|(name, c)| (*name, c.as_str())).collect();
    Recorded::new(project(
        &[
            ("main.c", CODE_MAIN),
            ("all.h", CODE_HEADER),
            ("far.c", CODE_FAR),
            ("near.c", "int near = 1;\n"),
            ("Makefile", CODE_MAKEFILE),
        ],
        &tests,
    ))
}

#[test]
fn statements_and_cases() {
    let at = code();
    at.both("a statement added", edit("main.c", "sum += 20;", "sum += 20; sum++;"), &["second"]);
    at.both("a statement deleted", edit("main.c", "        sum += 20;\n", ""), &["second"]);
    at.both(
        "a statement moved",
        |project| {
            project.edit("main.c", "        sum += 10;\n        break;\n", "        break;\n");
            project.edit(
                "main.c",
                "        sum += 20;\n",
                "        sum += 20;\n        sum += 10;\n",
            );
        },
        &["first", "second"],
    );
    at.both(
        "a case added",
        edit("main.c", "    case 2:", "    case 9:\n        sum = 9;\n        break;\n    case 2:"),
        &["other"],
    );
    at.both("a case changed", edit("main.c", "case 2:", "case 7:"), &["other", "second"]);
    at.both(
        "a case removed",
        edit("main.c", "    case 2:\n        sum += 20;\n        break;\n", ""),
        &["second"],
    );
}

#[test]
fn declarations_select_who_reaches_a_use() {
    let at = code();
    at.both("a local", edit("main.c", "int wide", "char wide"), &["local"]);
    at.both("a typedef", edit("all.h", "typedef int", "typedef signed char"), &["typedef"]);
    at.both("a structure", edit("all.h", "left, right", "right, left"), &["struct"]);
    at.both("a union", edit("all.h", "parts[4]", "parts[8]"), &["union"]);
    at.both("an enumerator", edit("all.h", "HIGH = 5", "HIGH = 6"), &["enum"]);
    at.both("a bit-field", edit("all.h", "second : 5", "second : 4"), &["bits"]);
    at.both("an attribute", edit("all.h", "aligned(8)", "aligned(16)"), &["attribute"]);
    at.both("a state of pack", edit("all.h", "push, 2", "push, 1"), &["pack"]);
    at.both(
        "a type that nobody uses",
        edit("all.h", "typedef", "struct no { int i; };\ntypedef"),
        &NONE,
    );
    at.both("an initialiser behind others", edit("far.c", "deep = 3", "deep = 4"), &["table"]);
    at.both(
        "a type behind others",
        edit("far.c", "static int deep", "static const int deep"),
        &["table"],
    );
    at.both(
        "one of several definitions",
        edit("near.c", "int near = 1;", "int near = 1;\nint common = 4;"),
        &["common"],
    );
}

#[test]
fn procedures_that_come_go_and_change() {
    let at = code();
    at.both(
        "one that is new and called",
        |project| {
            project.edit("far.c", "return n + 1;", "return fresh(n);");
            project.edit(
                "far.c",
                "int helper",
                "int fresh(int n)\n{\n    return n;\n}\nint helper",
            );
        },
        &["helper"],
    );
    at.both(
        "one with another name",
        |project| {
            project.edit("far.c", "int inner(int n) ", "int within(int n) ");
            project.edit("far.c", "int inner(int n)\n", "int within(int n)\n");
            project.edit("far.c", "return inner(n)", "return within(n)");
        },
        &["outer"],
    );
    at.both(
        "one that is deleted",
        |project| {
            project.edit("far.c", "int inner(int n) __attribute__((aligned(16)));\n", "");
            project.edit("far.c", "int inner(int n)\n{\n    return n + 2;\n}\n", "");
            project.edit("far.c", "return inner(n)", "return n + 2");
        },
        &["outer"],
    );
    at.both(
        "one that is static now",
        edit("far.c", "int inner(int n) ", "static int inner(int n) "),
        &["outer"],
    );
    at.both(
        "one that moves, and is the same there",
        |project| {
            project.edit("far.c", "int helper(int n)\n{\n    return n + 1;\n}\n", "");
            project.edit(
                "near.c",
                "int near = 1;\n",
                "int near = 1;\nint helper(int n)\n{\n    return n + 1;\n}\n",
            );
        },
        &NONE,
    );
    at.both(
        "one that moves, and is another one",
        |project| {
            project.edit("far.c", "int helper(int n)\n{\n    return n + 1;\n}\n", "");
            project.edit(
                "near.c",
                "int near = 1;\n",
                "int near = 1;\nint helper(int n)\n{\n    return n + 3;\n}\n",
            );
        },
        &["helper"],
    );
    at.both(
        "a signature",
        |project| {
            project.edit("far.c", "int inner(int n) ", "long inner(int n) ");
            project.edit("far.c", "int inner(int n)\n", "long inner(int n)\n");
        },
        &["outer"],
    );
    at.both("an attribute", edit("far.c", "aligned(16)", "aligned(32)"), &["outer"]);
}

#[test]
fn names_of_files_mean_nothing() {
    let at = code();
    at.both(
        "a header with another name",
        |project| {
            std::fs::rename(project.path("all.h"), project.path("every.h")).unwrap();
            project.edit("main.c", "all.h", "every.h");
            project.edit("far.c", "all.h", "every.h");
        },
        &NONE,
    );
    let rename = |project: &Project| {
        std::fs::rename(project.path("far.c"), project.path("away.c")).unwrap();
        let makefile =
            CODE_MAKEFILE.replace("$(patsubst %.c,%.o,$(wildcard *.c))", "far.o main.o near.o");
        project.write(
            "Makefile",
            &format!("{makefile}far.o: away.c Makefile\n\t$(CC) -O1 -fcommon -c -o $@ $<\n"),
        );
    };
    // What a table holds and is static is known by its source: more than has to be.
    at.rule("a source with another name", rename, &[ALL], &["table"]);
}

/// Two programs; what acts on the first as a whole is no concern of the second.
fn two_programs(part: &str, library: &str) -> Recorded {
    let makefile = "\
all: prog other
prog: main.o part.o libx.so extra.ld
\t$(CC) $(LDFLAGS) -o prog main.o part.o extra.ld -L. -lx -Wl,-rpath,.
other: other.o
\t$(CC) -o other other.o
libx.so: x.o x.map
\t$(CC) -shared -Wl,--version-script=x.map -o libx.so x.o
%.o: %.c Makefile
\t$(CC) -O1 -fPIC -c -o $@ $<
";
    let main = "#include <stdio.h>\nint part(int n);\nint x(void);\n\
        int main(int argc, char **argv)\n{\n    (void)argv;\n    printf(\"%d\\n\", argc > 1 ? part(argc) : x());\n    return 0;\n}\n";
    Recorded::new(project(
        &[
            ("main.c", main),
            ("part.c", part),
            ("x.c", library),
            ("x.map", "V1 { global: x; local: *; };\n"),
            ("extra.ld", "PROVIDE(limit = 16);\n"),
            ("other.c", "int main(void)\n{\n    return 0;\n}\n"),
            ("Makefile", makefile),
        ],
        &[("none", "./prog"), ("part", "./prog 1"), ("apart", "./other")],
    ))
}

#[test]
fn what_acts_without_being_named() {
    const PART: &str = "\
struct entry { int n; };
static struct entry one __attribute__((section(\"entries\"), used)) = { 1 };
static struct entry two __attribute__((section(\"entries\"), used)) = { 2 };
__attribute__((constructor(201))) static void start(void) { }
__attribute__((destructor)) static void end(void) { }
static int real(int n) { return n; }
int part(int n) __attribute__((alias(\"real\")));
__attribute__((weak)) int maybe(int n) { return n; }
static int reference(int) __attribute__((weakref(\"maybe\")));
int uses(int n) { return reference(n) + (int)sizeof one + (int)sizeof two; }
__asm__(\".globl mark\\nmark = 5\");
";
    const LIBRARY: &str = "int x(void) { return 1; }\nint spare(void) { return 2; }\n";
    let at = two_programs(PART, LIBRARY);
    let run = ["none", "part"];
    let add = |what: &'static str| {
        move |project: &Project| project.edit("part.c", "int uses", &format!("{what}\nint uses"))
    };
    let to = |from: &'static str, to: &'static str| edit("part.c", from, to);
    at.both(
        "a section, changed",
        to("\"entries\"), used)) = { 2 }", "\"others\"), used)) = { 2 }"),
        &run,
    );
    at.both("an entry of a section, changed", to("{ 2 }", "{ 3 }"), &run);
    at.both(
        "entries of a section, in another order",
        |project| {
            project.edit("part.c", "{ 1 }", "{ x }");
            project.edit("part.c", "{ 2 }", "{ 1 }");
            project.edit("part.c", "{ x }", "{ 2 }");
        },
        &run,
    );
    at.both(
        "used, removed",
        to(
            "static struct entry two __attribute__((section(\"entries\"), used))",
            "static struct entry two __attribute__((section(\"entries\")))",
        ),
        &run,
    );
    at.both("retain, added", add("__attribute__((used, retain)) static int kept = 1;"), &run);
    at.both("a constructor, changed", to("constructor(201)", "constructor(202)"), &run);
    at.both(
        "a constructor, added",
        add("__attribute__((constructor)) static void more(void) { }"),
        &run,
    );
    at.both(
        "a destructor, removed",
        to("__attribute__((destructor)) static void end(void) { }\n", ""),
        &run,
    );
    at.both("an alias, changed", to("alias(\"real\")", "alias(\"maybe\")"), &run);
    at.both("an alias, added", add("int second(int n) __attribute__((alias(\"real\")));"), &run);
    at.both(
        "an ifunc, added",
        add("static int (*choose(void))(int) { return real; }\nint chosen(int n) __attribute__((ifunc(\"choose\")));"),
        &run,
    );
    at.both("weak, removed", to("__attribute__((weak)) int maybe", "int maybe"), &run);
    at.both("weak, added", add("__attribute__((weak)) int perhaps(int n) { return n; }"), &run);
    at.both("a weakref, changed", to("weakref(\"maybe\")", "weakref(\"part\")"), &run);
    at.both("asm, changed", to("mark = 5", "mark = 6"), &run);
    at.both("asm, removed", to("__asm__(\".globl mark\\nmark = 5\");\n", ""), &run);
    at.both("a comment among all these", to("struct entry {", "/* new */ struct entry {"), &NONE);
    at.both("a procedure that nobody calls", add("static int idle(int n) { return n; }"), &NONE);
    at.both(
        "a symver, added",
        |project| {
            project.edit("x.c", "int spare", "__attribute__((symver(\"old@V1\"))) int spare");
        },
        &run,
    );
}

#[test]
fn the_link_and_what_it_names() {
    let at = two_programs("int part(int n) { return n; }\n", "int x(void) { return 1; }\n");
    let run = ["none", "part"];
    at.rule("a linker script", edit("extra.ld", "16", "17"), &[ALL], &run);
    at.rule("a version script", edit("x.map", "V1", "V2"), &[ALL], &run);
    at.rule(
        "the link command",
        |project| {
            project.edit("Makefile", "$(LDFLAGS)", "-Wl,-z,now");
            std::fs::remove_file(project.path("prog")).unwrap();
        },
        &[ALL],
        &run,
    );
    at.rule(
        "a new unit that takes the place of a name",
        |project| {
            project.write(
                "more.c",
                "int strange(void) { return 1; }\nint puts(const char *s) { return *s; }\n",
            );
            project.edit("Makefile", "prog: main.o", "prog: more.o main.o");
            project.edit("Makefile", "-o prog main.o", "-o prog more.o main.o");
        },
        &[ALL],
        &run,
    );
    at.rule("a comment in the Makefile", edit("Makefile", "all:", "# all\nall:"), &[ALL], &NONE);
}

/// Units that are made of more than their text.
#[test]
fn flags_and_the_files_they_name() {
    let makefile = "\
all: prog other
prog: main.o part.o
\t$(CC) -o prog main.o part.o
other: other.o
\t$(CC) -o other other.o
part.o: part.c blob.bin more.s plug.so list Makefile
\t$(CC) -O1 $(HOW) -fplugin=./plug.so -Wa,-Isub -c -o part.o part.c
%.o: %.c Makefile
\t$(CC) -O1 -c -o $@ $<
";
    let project = project(
        &[
            (
                "main.c",
                "#include <stdio.h>\nextern const char blob[];\nint main(int argc, char **argv)\n{\n    (void)argv;\n    if (argc > 1)\n        puts(blob);\n    return 0;\n}\n",
            ),
            (
                "part.c",
                "__asm__(\".section .rodata\\n.globl blob\\nblob:\\n.incbin \\\"\" \"blob.bin\\\"\\n.include \\\"more.s\\\"\\n.previous\");\nint unused;\n",
            ),
            ("blob.bin", "bytes"),
            ("more.s", ".byte 0\n.include \"deep.s\"\n"),
            ("sub/deep.s", ".byte 1\n"),
            ("list", ""),
            ("other.c", "int main(void)\n{\n    return 0;\n}\n"),
            ("Makefile", makefile),
        ],
        &[("none", "./prog"), ("blob", "./prog 1"), ("apart", "./other")],
    );
    let plug = |project: &Project, name: &str| {
        let source = format!(
            "int plugin_is_GPL_compatible;\nint {name};\n\
             int plugin_init(void *a, void *b) {{ return 0 * (a == b); }}\n"
        );
        shared(&source, &project.path("plug.so"));
    };
    plug(&project, "one");
    let at = Recorded::new(project);
    let run = ["blob", "none"];
    at.rule("a flag", edit("Makefile", "$(HOW)", "-fwrapv"), &[ALL], &run);
    at.rule("an unknown flag", edit("Makefile", "$(HOW)", "-frandom-seed=7"), &[ALL], &run);
    at.rule("harmless flags", edit("Makefile", "$(HOW)", "-Wall -g"), &[ALL], &NONE);
    at.rule("what .incbin names", |p| p.write("blob.bin", "other"), &[ALL], &run);
    at.rule("what .include names", |p| p.write("more.s", ".byte 0\n.byte 2\n"), &[ALL], &run);
    let deep = |project: &Project| {
        project.write("sub/deep.s", ".byte 3\n");
        std::fs::remove_file(project.path("part.o")).unwrap();
    };
    at.rule("what that names", deep, &[ALL], &run);
    at.rule("a plug-in", |project| plug(project, "two"), &[ALL], &run);
    at.rule("a file that only make names", |p| p.write("list", "x\n"), &[ALL], &NONE);
}

/// Compiles a library out of our sight.
fn shared(source: &str, to: &std::path::Path) {
    compile(source, &["-shared", "-fPIC"], to);
}

fn compile(source: &str, flags: &[&str], to: &std::path::Path) {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("made.c");
    std::fs::write(&file, source).unwrap();
    let mut gcc = std::process::Command::new("gcc");
    assert!(gcc.args(flags).arg("-o").arg(to).arg(file).status().unwrap().success());
}

/// The compiler's parts, each behind a script that can be another one.
#[test]
fn compiler_assembler_and_linker() {
    let tools = Project::empty();
    let script = |name: &str, real: &str, comment: &str| {
        use std::os::unix::fs::PermissionsExt;
        tools.write(name, &format!("#!/bin/sh\n# {comment}\nexec {real} \"$@\"\n"));
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(tools.path(name), mode).unwrap();
    };
    let real = |what: &str| {
        let mut gcc = std::process::Command::new("gcc");
        let said = gcc.arg(format!("-print-prog-name={what}")).output().unwrap().stdout;
        let name = String::from_utf8(said).unwrap().trim().to_string();
        if name.contains('/') { name } else { format!("/usr/bin/{name}") }
    };
    let parts = [("as", real("as")), ("cc1", real("cc1")), ("ld", real("ld"))];
    parts.iter().for_each(|(name, real)| script(name, real, "one"));
    let makefile =
        "all: prog\nprog: main.o\n\t$(CC) -o prog main.o\n%.o: %.c\n\t$(CC) -c -o $@ $<\n";
    let source = "int main(int argc, char **argv)\n{\n    (void)argv;\n    return argc > 9;\n}\n";
    let at = Recorded::with_variables(
        project(
            &[("main.c", source), ("Makefile", makefile)],
            &[("one", "./prog"), ("two", "./prog 1")],
        ),
        &[("COMPILER_PATH", tools.root().display().to_string())],
    );
    let clean = |project: &Project| project.write("main.c", source);
    at.both("all as it was, built anew", clean, &NONE);
    for (name, real) in &parts {
        let another = |project: &Project| {
            clean(project);
            script(name, real, "two");
        };
        at.both(&format!("another {name}"), another, &[ALL]);
        script(name, real, "one");
    }
    let selected = |path: &str| {
        let output = at.command(&["select"]).env("COMPILER_PATH", path).output().unwrap();
        String::from_utf8(output.stdout).unwrap().lines().count()
    };
    assert_eq!(selected("/nowhere"), 2, "the compiler's own parts");
    assert_eq!(selected(&tools.root().display().to_string()), 0);
}

/// Specs of gcc say what else its parts are told, in files of the project and
/// of others.
#[test]
fn specs_of_the_compiler() {
    let outside = Project::empty();
    let value = |number: u32| format!("*cpp_unique_options:\n+ -DVALUE={number}\n");
    outside.write("far.specs", &value(1));
    let far = outside.path("far.specs");
    let makefile = format!(
        "prog: main.o near.o far.o\n\t$(CC) -o prog main.o near.o far.o\n\
         near.o: near.c near.specs\n\t$(CC) -specs=near.specs -c -o near.o near.c\n\
         far.o: far.c {far}\n\t$(CC) -specs={far} -c -o far.o far.c\n",
        far = far.display()
    );
    let main = "#include <stdio.h>\nint near(void), far(void);\nint main(int argc, char **argv)\n{\n    \
        (void)argv;\n    printf(\"%d\\n\", argc > 1 ? far() : near());\n    return 0;\n}\n";
    // What changes shortly before or during a build is not known to be in it.
    std::thread::sleep(std::time::Duration::from_millis(2100));
    let at = Recorded::new(project(
        &[
            ("main.c", main),
            ("near.c", "int near(void)\n{\n    return VALUE;\n}\n"),
            ("far.c", "int far(void)\n{\n    return VALUE;\n}\n"),
            ("near.specs", &value(1)),
            ("Makefile", &makefile),
        ],
        &[("near", "./prog"), ("far", "./prog 1")],
    ));
    at.both("specs of the project", |project| project.write("near.specs", &value(2)), &[ALL]);
    at.both("specs of others", |_| outside.write("far.specs", &value(2)), &[ALL]);
}

/// What lies outside of the project: headers, libraries, and what was compiled
/// by others.
#[test]
fn what_is_not_ours() {
    let outside = Project::empty();
    outside.write(
        "include/sys_one.h",
        "#define SYS_ONE 1\nstatic inline int sys_two(void) { return 2; }\n",
    );
    outside.write("variable/sys_three.h", "#define SYS_THREE 3\n");
    let library = |value: u32| {
        shared(&format!("int loaded(void) {{ return {value}; }}\n"), &outside.path("libloaded.so"));
    };
    library(1);
    let archive = |value: u32| {
        compile(
            &format!("int joined(void) {{ return {value}; }}\n"),
            &["-c"],
            &outside.path("joined.o"),
        );
        let ar = std::process::Command::new("ar")
            .arg("rcsD")
            .arg(outside.path("libjoined.a"))
            .arg(outside.path("joined.o"))
            .status();
        assert!(ar.unwrap().success());
    };
    archive(1);
    let place = outside.root().display();
    let makefile = format!(
        "all: prog apart\nprog: main.o object.o {place}/libjoined.a\n\t$(CC) -o prog main.o object.o -L{place} -lloaded -l:libjoined.a -Wl,-rpath,{place}\n\
         apart: apart.o\n\t$(CC) -o apart apart.o\n%.o: %.c\n\t$(CC) -O1 -isystem {place}/include -c -o $@ $<\n"
    );
    let main = "#include <stdio.h>\n#include <sys_one.h>\n#include <sys_three.h>\nint loaded(void), joined(void), object(void);\n\
        int main(int argc, char **argv)\n{\n    (void)argv;\n    if (argc == 2)\n        printf(\"%d\\n\", SYS_ONE);\n    else if (argc == 3)\n        printf(\"%d\\n\", sys_two());\n    \
        else if (argc == 4)\n        printf(\"%d\\n\", SYS_THREE);\n    else\n        printf(\"%d\\n\", loaded() + joined() + object());\n    return 0;\n}\n";
    let made = project(
        &[
            ("main.c", main),
            ("apart.c", "int main(void)\n{\n    return 0;\n}\n"),
            ("Makefile", &makefile),
        ],
        &[
            ("none", "./prog"),
            ("one", "./prog 1"),
            ("two", "./prog 1 2"),
            ("three", "./prog 1 2 3"),
            ("apart", "./apart"),
        ],
    );
    let object = |project: &Project, value: u32| {
        compile(
            &format!("int object(void) {{ return {value}; }}\n"),
            &["-c"],
            &project.path("object.o"),
        );
    };
    object(&made, 1);
    let variables = [("C_INCLUDE_PATH", outside.path("variable").display().to_string())];
    let at = Recorded::with_variables(made, &variables);
    let run = ["none", "one", "two", "three"];
    let again = |project: &Project| project.write("main.c", main);
    let header = |name: &'static str, from: &'static str, to: &'static str| {
        let outside = &outside;
        move |project: &Project| {
            outside.edit(name, from, to);
            again(project);
        }
    };
    at.both("a macro", header("include/sys_one.h", "SYS_ONE 1", "SYS_ONE 4"), &["one"]);
    at.both(
        "that nobody uses",
        header("include/sys_one.h", "#define", "#define NEW 1\n#define"),
        &["one"],
    );
    outside.edit("include/sys_one.h", "#define NEW 1\n#define SYS_ONE 4", "#define SYS_ONE 1");
    at.both("a procedure", header("include/sys_one.h", "return 2", "return 5"), &["two"]);
    outside.edit("include/sys_one.h", "return 5", "return 2");
    at.both("by a variable", header("variable/sys_three.h", "3", "6"), &["three"]);
    outside.write("variable/sys_three.h", "#define SYS_THREE 3\n");
    at.both(
        "before the other",
        |project| {
            outside.write("include/sys_three.h", "#define SYS_THREE 7\n");
            again(project);
        },
        &["three"],
    );
    std::fs::remove_file(outside.path("include/sys_three.h")).unwrap();
    at.both("all as it was", again, &NONE);
    at.both("a library that is loaded", |_| library(2), &run);
    library(1);
    at.both("an archive that is linked", |_| archive(2), &run);
    archive(1);
    at.rule("an object of others", |project| object(project, 2), &[ALL], &run);
}

/// Where an include leads to another file than before.
#[test]
fn new_files_with_the_names_of_headers() {
    let makefile = "\
all: prog apart
prog: main.c $(wildcard */*.h */*/*.h)
\t$(CC) -Ifirst -Isecond -o prog main.c
apart: apart.c
\t$(CC) -o apart apart.c
";
    let main = "#include <stdio.h>\n#include <where.h>\n#if __has_include(\"maybe/extra.h\")\n\
        #define EXTRA 1\n#else\n#define EXTRA 0\n#endif\n\
        int main(int argc, char **argv)\n{\n    (void)argv;\n    if (argc > 2)\n        \
        printf(\"%d\\n\", EXTRA);\n    else if (argc > 1)\n        printf(\"%d\\n\", WHERE);\n    return 0;\n}\n";
    let at = Recorded::new(project(
        &[
            ("main.c", main),
            ("first/none.h", "\n"),
            ("second/where.h", "#define WHERE 2\n"),
            ("third/none.h", "\n"),
            ("apart.c", "int main(void)\n{\n    return 0;\n}\n"),
            ("Makefile", makefile),
        ],
        &[("none", "./prog"), ("where", "./prog 1"), ("extra", "./prog 1 2"), ("apart", "./apart")],
    ));
    // So that what is known of files by their stamps is used.
    std::thread::sleep(std::time::Duration::from_millis(2300));
    at.run(&["select"]);
    at.run(&["select"]);
    let new = |name: &'static str, text: &'static str| move |p: &Project| p.write(name, text);
    at.both("found before", new("first/where.h", "#define WHERE 1\n"), &["where"]);
    at.both("found before, the same", new("first/where.h", "#define WHERE 2\n"), &NONE);
    at.both("not looked for there", new("third/where.h", "#define WHERE 3\n"), &NONE);
    // A pattern of the makefile finds a file for the first time: what make does with it is not known before.
    at.rule("asked for", new("second/maybe/extra.h", "\n"), &[ALL], &["extra"]);
    let said = at.unbuilt("a new C file", new("fresh.c", "int fresh;\n"), &[ALL]);
    assert!(said.contains("fresh.c is new") && said.contains("hint: rebuild"), "{said}");
    let said = at.unbuilt("a new Makefile", new("sub/Makefile", "all:\n"), &[ALL]);
    assert!(said.contains("hint: rebuild"), "{said}");
}

#[test]
fn generators_and_what_they_are_made_of() {
    let makefile = "\
all: prog
prog: main.c made.h own.h plus.o
\t$(CXX) -c plus.cc && $(CC) -o prog main.c plus.o
plus.o: plus.cc plus.h
\t$(CXX) -c plus.cc
made.h: generate
\t./generate >made.h
generate: generate.c generate.h
\t$(CC) -o generate generate.c
";
    let at = Recorded::new(project(
        &[
            (
                "main.c",
                "#include <stdio.h>\n#include \"made.h\"\n#include \"own.h\"\nint plus(void);\nint main(int argc, char **argv)\n{\n    (void)argv;\n    if (argc > 2)\n        printf(\"%d\\n\", MADE);\n    else if (argc > 1)\n        printf(\"%d\\n\", OWN + plus());\n    return 0;\n}\n",
            ),
            ("own.h", "#define OWN 1\n"),
            (
                "generate.c",
                "#include <stdio.h>\n#include \"generate.h\"\nint main(void)\n{\n    printf(\"#define MADE %d\\n\", VALUE);\n    return 0;\n}\n",
            ),
            ("generate.h", "#define VALUE 1\n#define UNUSED 1\n"),
            ("plus.cc", "#include \"plus.h\"\nextern \"C\" int plus() { return PLUS; }\n"),
            ("plus.h", "#define PLUS 1\n"),
            ("Makefile", makefile),
        ],
        &[("none", "./prog"), ("own", "./prog 1"), ("made", "./prog 1 2")],
    ));
    at.rule("a generator", edit("generate.c", "VALUE", "VALUE + 1"), &[ALL], &["made"]);
    at.rule("its header", edit("generate.h", "VALUE 1", "VALUE 2"), &[ALL], &["made"]);
    at.rule("its header, to no effect", edit("generate.h", "UNUSED 1", "UNUSED 2"), &[ALL], &NONE);
    at.rule("C++", edit("plus.cc", "PLUS;", "PLUS + 1;"), &[ALL], &[ALL]);
    at.rule("a header of C++", edit("plus.h", "PLUS 1", "PLUS 3"), &[ALL], &[ALL]);
    at.both("another header", edit("own.h", "OWN 1", "OWN 2"), &["own"]);
}

#[test]
fn a_run_of_a_stale_program_counts_as_what_it_was() {
    let at = code();
    at.project.edit("main.c", "wide / 2", "wide / 3");
    at.run(&["run"]);
    assert_eq!(at.select(&[]).into_iter().collect::<Vec<_>>(), ["local"], "from sources");
    at.run(&["build"]);
    let built = at.select(&["--from-build"]);
    assert_eq!(built.into_iter().collect::<Vec<_>>(), ["local"], "from the build");
}

#[test]
fn files_that_the_user_declares() {
    let made = project(
        &[
            ("main.c", "int main(void)\n{\n    return 0;\n}\n"),
            ("Makefile", "prog: main.c\n\t$(CC) -o prog main.c\n"),
            ("schema/a.txt", "1"),
            ("notes.txt", "1"),
        ],
        &[("one", "./prog"), ("two", "./prog 2")],
    );
    let config = made.read("edgewise.toml");
    made.write("edgewise.toml", &format!("retest-all = [\"schema/**\"]\n{config}"));
    let at = Recorded::new(made);
    at.both("one of them", edit("schema/a.txt", "1", "2"), &[ALL]);
    at.both("a new one", |p| p.write("schema/b.txt", "2"), &[ALL]);
    at.both("one that is gone", |p| std::fs::remove_file(p.path("schema/a.txt")).unwrap(), &[ALL]);
    at.both("one that nobody reads", edit("notes.txt", "1", "2"), &NONE);
}

#[test]
fn a_test_is_selected_with_its_fixture() {
    let cmake = "\
cmake_minimum_required(VERSION 3.13)
project(fixture C)
enable_testing()
add_executable(prog main.c)
add_test(NAME up COMMAND prog up)
add_test(NAME uses COMMAND prog uses)
add_test(NAME apart COMMAND prog)
set_tests_properties(up PROPERTIES FIXTURES_SETUP it)
set_tests_properties(uses PROPERTIES FIXTURES_REQUIRED it)
";
    let main = "#include <stdio.h>\n#include <string.h>\nint main(int argc, char **argv)\n{\n    \
        const char *what = argc > 1 ? argv[1] : \"\";\n    if (!strcmp(what, \"up\"))\n        puts(\"up\");\n    \
        else if (!strcmp(what, \"uses\"))\n        puts(\"uses\");\n    return 0;\n}\n";
    let made = project(
        &[("main.c", main), ("CMakeLists.txt", cmake)],
        &[("up", ""), ("uses", ""), ("apart", "")],
    );
    made.write(
        "edgewise.toml",
        "ignore = [\"build/**\"]\n[build]\ncommand = \"cmake -S . -B build >/dev/null && cmake --build build >/dev/null\"\n\
         [[suite]]\nname = \"t\"\nkind = \"ctest\"\ndirectory = \"build\"\n",
    );
    let at = Recorded::new(made);
    at.both("the fixture", edit("main.c", "puts(\"up\")", "puts(\"UP\")"), &["up", "uses"]);
    at.both("who uses it", edit("main.c", "puts(\"uses\")", "puts(\"USES\")"), &["uses"]);
}

#[test]
fn code_outside_of_cases_counts_for_all_of_them() {
    let main = "#include <stdio.h>\n#include <string.h>\n#include \"edgewise.h\"\n\
        static void prepare(void)\n{\n    puts(\"prepare\");\n}\n\
        static void one(void)\n{\n    puts(\"one\");\n}\nstatic void two(void)\n{\n    puts(\"two\");\n}\n\
        int main(int argc, char **argv)\n{\n    prepare();\n    for (int i = 1; i < argc; i++) {\n        \
        edgewise_test_begin(argv[i]);\n        if (!strcmp(argv[i], \"one\"))\n            one();\n        \
        else\n            two();\n        edgewise_test_end();\n    }\n    return 0;\n}\n";
    let made = project(
        &[
            ("main.c", main),
            ("edgewise.h", include_str!("../instrument-runtime/edgewise.h")),
            ("Makefile", "prog: main.c\n\t$(CC) -O1 -o prog main.c\n"),
        ],
        &[("one", ""), ("two", "")],
    );
    made.write("tests.list", "one\ntwo\n");
    made.write(
        "edgewise.toml",
        "[build]\ncommand = \"make -s\"\n[[suite]]\nname = \"t\"\nkind = \"cases\"\n\
         list = \"cat tests.list\"\ncommand = \"./prog {cases}\"\n",
    );
    let at = Recorded::new(made);
    at.both("a case", edit("main.c", "puts(\"one\")", "puts(\"ONE\")"), &["one"]);
    at.both("what comes before", edit("main.c", "puts(\"prepare\")", "puts(\"ready\")"), &[ALL]);
}
