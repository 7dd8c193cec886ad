//! Procedures that are entered from code that is not analysed, or through
//! pointers: the trace knows who entered them. Each kind of entry has an edit
//! that selects who came in there and nobody else, from sources and from the
//! build.

use crate::support::Project;
use std::collections::BTreeSet;

const MAIN: &str = r#"
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "library.h"

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static int descending(const void *a, const void *b)
{
    return *(const int *)b - *(const int *)a;
}

static volatile sig_atomic_t seen;

static void on_signal(int number)
{
    seen = number;
}

static void *in_thread(void *argument)
{
    *(int *)argument += 40;
    return NULL;
}

static void at_the_end(void)
{
    puts("end");
}

static void print_number(int number)
{
    printf("number %d\n", number);
}

static int twice(int number) { return 2 * number; }
static int thrice(int number) { return 3 * number; }

typedef int function(int);
static function *const table[] = { twice, thrice };

static function *chosen(int which)
{
    return which ? thrice : twice;
}

static int deep(int depth)
{
    if (depth == 0)
        return 1;
    return deep(depth - 1) + 1;
}

int main(int argc, char **argv)
{
    int numbers[] = { 2, 3, 1 };
    int value = 2;
    const char *what = argc > 1 ? argv[1] : "";

    if (!strcmp(what, "ascending") || !strcmp(what, "descending")) {
        qsort(numbers, 3, sizeof numbers[0], *what == 'a' ? ascending : descending);
        printf("%d%d%d\n", numbers[0], numbers[1], numbers[2]);
    } else if (!strcmp(what, "signal")) {
        signal(SIGUSR1, on_signal);
        raise(SIGUSR1);
        printf("%d\n", seen != 0);
    } else if (!strcmp(what, "thread")) {
        pthread_t thread;
        pthread_create(&thread, NULL, in_thread, &value);
        pthread_join(thread, NULL);
        printf("%d\n", value);
    } else if (!strcmp(what, "atexit")) {
        atexit(at_the_end);
    } else if (!strcmp(what, "callback")) {
        library_each(3, print_number);
    } else if (!strcmp(what, "table")) {
        printf("%d\n", table[argc - 2](value));
    } else if (!strcmp(what, "chosen")) {
        printf("%d\n", chosen(argc - 2)(value));
    } else if (!strcmp(what, "exported")) {
        printf("%d\n", library_sum(2, 3));
    } else if (!strcmp(what, "plugin")) {
        void *plugin = dlopen("./plugin.so", RTLD_NOW);
        int (*answer)(void) = plugin ? (int (*)(void))dlsym(plugin, "answer") : NULL;
        printf("%d\n", answer ? answer() : -1);
    } else if (!strcmp(what, "deep")) {
        printf("%d\n", deep(100));
    }
    return 0;
}
"#;

const LIBRARY_H: &str = "\
int library_sum(int a, int b);
void library_each(int count, void (*visit)(int));
";

const LIBRARY: &str = r#"
#include "library.h"
#include <stdio.h>

__attribute__((constructor)) static void when_loaded(void)
{
    fputs("loaded\n", stderr);
}

int library_sum(int a, int b)
{
    return a + b;
}

void library_each(int count, void (*visit)(int))
{
    while (count-- > 0)
        visit(count);
}

int library_unused(int a)
{
    return a;
}
"#;

const PLUGIN: &str = "\
static int secret(void)
{
    return 42;
}

int answer(void)
{
    return secret();
}
";

/// A program of its own, with an entry of its own.
const OTHER: &str = "\
#include <stdio.h>
int main(void)
{
    puts(\"another program\");
    return 0;
}
";

const MAKEFILE: &str = "\
all: prog plugin.so other
prog: main.c liblibrary.so library.h
\t$(CC) -O1 -o prog main.c -L. -llibrary -Wl,-rpath,'$$ORIGIN' -lpthread -ldl
liblibrary.so: library.c library.h
\t$(CC) -O1 -fPIC -shared -o liblibrary.so library.c
plugin.so: plugin.c
\t$(CC) -O1 -fPIC -shared -o plugin.so plugin.c
other: other.c
\t$(CC) -O1 -o other other.c
";

/// All tests of the first program.
const PROG: [&str; 12] = [
    "ascending",
    "atexit",
    "callback",
    "chosen",
    "deep",
    "descending",
    "exported",
    "plugin",
    "signal",
    "table",
    "table-2",
    "thread",
];

fn project() -> Project {
    let project = Project::empty();
    restore(&project);
    project.write("Makefile", MAKEFILE);
    project.write_config();
    let own = |name: &&str| *name != "table-2";
    let list = PROG.iter().filter(|name| own(name)).map(|name| format!("{name} ./prog {name}\n"));
    let mut list: String = list.collect();
    list.push_str("table-2 ./prog table x\nother ./other\n");
    project.write("tests.list", &list);
    project.record();
    project
}

fn restore(project: &Project) {
    for (name, text) in
        [("main.c", MAIN), ("library.c", LIBRARY), ("library.h", LIBRARY_H), ("plugin.c", PLUGIN)]
    {
        project.write(name, text);
    }
    project.write("other.c", OTHER);
}

fn names(answer: &str) -> BTreeSet<String> {
    answer.lines().map(|line| line.rsplit('/').next().unwrap().to_string()).collect()
}

/// An edit, and who must be selected: no more and no fewer.
type Case = (&'static str, &'static str, &'static str, &'static str, &'static [&'static str]);

const CASES: &[Case] = &[
    (
        "the comparison of qsort",
        "main.c",
        "*(const int *)a - *",
        "*(const int *)a + 0 - *",
        &["ascending"],
    ),
    (
        "the other comparison",
        "main.c",
        "*(const int *)b - *",
        "*(const int *)b + 0 - *",
        &["descending"],
    ),
    ("a handler of signals", "main.c", "seen = number;", "seen = number + 1;", &["signal"]),
    ("the routine of a thread", "main.c", "+= 40", "+= 41", &["thread"]),
    ("what runs at exit", "main.c", "puts(\"end\")", "puts(\"the end\")", &["atexit"]),
    ("a callback of a library", "main.c", "number %d", "the number %d", &["callback"]),
    (
        "a target of a table",
        "main.c",
        "return 2 * number",
        "return number + number",
        &["table", "chosen"],
    ),
    ("another target of it", "main.c", "return 3 * number", "return number * 3", &["table-2"]),
    (
        "a procedure that calls itself",
        "main.c",
        "deep(depth - 1) + 1",
        "1 + deep(depth - 1)",
        &["deep"],
    ),
    (
        "an exported procedure of a library",
        "library.c",
        "return a + b",
        "return b + a",
        &["exported"],
    ),
    ("one that calls back", "library.c", "count-- > 0", "count-- >= 1", &["callback"]),
    ("an exported one that nobody called", "library.c", "return a;", "return a + 1;", &[]),
    ("a procedure of a plug-in", "plugin.c", "return 42;", "return 43;", &["plugin"]),
    ("an entry of a plug-in", "plugin.c", "return secret();", "return secret() + 1;", &["plugin"]),
    ("the entry of another program", "other.c", "another program", "a program", &["other"]),
    ("what runs when a library is loaded", "library.c", "loaded\\n", "is loaded\\n", &PROG),
    // The set of things a call can reach: whoever makes the call.
    (
        "a table with other targets",
        "main.c",
        "{ twice, thrice }",
        "{ thrice, twice }",
        &["table", "table-2"],
    ),
    (
        "a table with more targets",
        "main.c",
        "{ twice, thrice }",
        "{ twice, thrice, twice }",
        &["table", "table-2"],
    ),
    (
        "a choice of targets",
        "main.c",
        "which ? thrice : twice",
        "which ? twice : thrice",
        &["chosen"],
    ),
    (
        "another routine for a thread",
        "main.c",
        "NULL, in_thread, &value",
        "NULL, &*in_thread, &value",
        &["thread"],
    ),
];

#[test]
fn edits_select_who_came_in_there() {
    let project = project();
    assert!(project.selected().is_empty(), "the same version selects nothing");
    for (title, file, from, to, expected) in CASES {
        project.edit(file, from, to);
        let expected: BTreeSet<String> = expected.iter().map(ToString::to_string).collect();
        let selected = names(&project.ok(&["select"]));
        assert_eq!(selected, expected, "{title}");
        // An algorithm that follows calls comes to the same by the rest.
        let followed = names(&project.ok(&["select", "--algorithm", "rh"]));
        assert_eq!(followed, expected, "{title}, with calls followed");
        restore(&project);
    }
}

#[test]
fn the_build_tells_the_same_as_the_sources() {
    let project = project();
    for (title, file, from, to, expected) in CASES.iter().step_by(3) {
        project.edit(file, from, to);
        project.ok(&["build"]);
        let expected: BTreeSet<String> = expected.iter().map(ToString::to_string).collect();
        let built = names(&project.ok(&["select", "--from-build"]));
        assert_eq!(built, expected, "{title}");
        restore(&project);
    }
}

/// The descent into callees is a loop, not a recursion of ours.
#[test]
fn a_chain_of_fifty_thousand_calls_is_followed() {
    let depth = 50_000;
    let mut source = String::from("int last(int n) { return n + 1; }\n");
    for number in 0..depth {
        let callee = if number == 0 { String::from("last") } else { format!("f{}", number - 1) };
        source.push_str(&format!("int f{number}(int n) {{ return {callee}(n); }}\n"));
    }
    source.push_str(&format!(
        "int main(int c, char **v) {{ return c > 1 && f{}(c) < 0; }}\n",
        depth - 1
    ));
    let project = Project::of_source(&source, &[("short", ""), ("long", "x")]);
    project.write("Makefile", "prog: main.c\n\t$(CC) -O0 -o prog main.c\n");
    project.record();
    project.edit("main.c", "return n + 1;", "return 1 + n;");
    for algorithm in ["auto", "rh", "valid"] {
        let answer = project.ok(&["select", "--algorithm", algorithm]);
        assert_eq!(names(&answer), BTreeSet::from([String::from("long")]), "{algorithm}");
    }
}
