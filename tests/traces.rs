//! Traces that nothing can lose: real processes, really killed.

use crate::support::Project;
use std::collections::BTreeSet;

/// The source lines of nodes that a test reached, by its rows.
fn lines_reached(project: &Project, test: &str) -> BTreeSet<u32> {
    project.lines_reached("main.c", test)
}

const LOOP: &str = "\
#include <stdio.h>
#include <unistd.h>
static volatile int turns;
static int even(int n)
{
    return n % 2 == 0;
}
int main(void)
{
    puts(\"started\");
    fflush(stdout);
    for (;;) {
        if (even(turns))
            turns += 3;
        else
            turns -= 1;
        if (turns < 0)
            break;
    }
    puts(\"never\");
    return 0;
}
";

#[test]
fn a_loop_killed_with_sigkill_has_all_its_edges() {
    let project = Project::of_source(LOOP, &[]);
    project.write(
        "killed.sh",
        "./prog > started.out & pid=$!\n\
         while ! grep -q started started.out; do sleep 0.01; done\n\
         sleep 0.1; kill -9 $pid; wait $pid; test $? = 137\n",
    );
    project.write("tests.list", "killed sh killed.sh\n");
    project.record();
    let lines = lines_reached(&project, "killed");
    for line in [6, 10, 11, 13, 14, 16, 17] {
        assert!(lines.contains(&line), "line {line} of {lines:?}");
    }
    for line in [18, 20, 21] {
        assert!(!lines.contains(&line), "line {line} of {lines:?}");
    }
}

#[test]
fn what_follows_a_call_that_exits_does_not_look_taken() {
    let source = "\
#include <stdlib.h>
static void stop(int code)
{
    exit(code);
}
static void maybe(int n)
{
    if (n > 0)
        stop(0);
}
int main(int argc, char **argv)
{
    int seen = 0;
    maybe(argc - 2);
    seen++;
    if (seen)
        seen--;
    return seen;
}
";
    let project = Project::of_source(source, &[("exits", "a b"), ("returns", "")]);
    project.record();
    let exits = lines_reached(&project, "exits");
    assert!(exits.contains(&4) && exits.contains(&9), "{exits:?}");
    assert!(!exits.contains(&15) && !exits.contains(&16), "{exits:?}");
    let returns = lines_reached(&project, "returns");
    assert!(returns.contains(&15) && returns.contains(&17) && !returns.contains(&4));
}

#[test]
fn children_and_their_programs_count_for_the_test() {
    let source = "\
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int child(const char *how)
{
    if (strcmp(how, \"fork\") == 0)
        return 3;
    return 4;
}
int main(int argc, char **argv)
{
    int status;
    if (argc > 2)
        return child(argv[1]) - 4;
    if (fork() == 0) {
        if (strcmp(argv[1], \"fork\") == 0)
            _exit(child(argv[1]) - 3);
        execl(\"./prog\", \"prog\", argv[1], \"again\", (char *)0);
        _exit(9);
    }
    wait(&status);
    return status != 0;
}
";
    let project = Project::of_source(source, &[("fork", "fork"), ("exec", "exec")]);
    project.record();
    let fork = lines_reached(&project, "fork");
    assert!(fork.contains(&7) && !fork.contains(&8), "{fork:?}");
    let exec = lines_reached(&project, "exec");
    assert!(exec.contains(&8) && exec.contains(&13) && !exec.contains(&7), "{exec:?}");
}

#[test]
fn a_process_that_outlives_its_test_makes_it_unclean() {
    let source = "#include <unistd.h>\nint main(void) { sleep(2); return 0; }\n";
    let project = Project::of_source(source, &[]);
    project.write("tests.list", "daemon ./prog >/dev/null 2>&1 & exit 0\n");
    project.record();
    assert_eq!(project.selected(), ["daemon"]);
}

#[test]
fn switch_edges_are_exact_also_with_fall_through() {
    let source = "\
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), got = 0;
    switch (n) {
    case 1:
        got += 1;
    case 2:
    case 3:
        got += 2;
        break;
    case 4: {
        got += 4;
    }
    }
    return got == 99 && argc;
}
";
    let tests = [("one", "1"), ("two", "2"), ("three", "3"), ("four", "4"), ("five", "5")];
    let project = Project::of_source(source, &tests);
    project.record();
    let selected = |from: &str, to: &str| {
        project.edit("main.c", from, to);
        let names = project.selected();
        project.write("main.c", source);
        names
    };
    // Falling in from above is not the edge of the case.
    assert_eq!(selected("    case 2:\n", "    case 7:\n"), ["five", "two"]);
    assert_eq!(selected("    case 3:\n", ""), ["three"]);
    assert_eq!(selected("got += 2;", "got += 3;"), ["one", "three", "two"]);
    assert_eq!(selected("    case 4: {", "    case 6: got = 9; break;\n    case 4: {"), ["five"]);
}
