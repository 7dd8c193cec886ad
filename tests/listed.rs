//! `compile_commands.json`: what a build system would compile, before it does.

use crate::support::Project;

const MAIN: &str = "\
int helper(int n)
{
    return n;
}
int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
#ifdef LEVEL
        return LEVEL - LEVEL;
#else
        return 0;
#endif
    return argc - 1;
}
";

fn project() -> Project {
    let project = Project::empty();
    project.write("main.c", MAIN);
    project.write(
        "Makefile",
        "prog: main.o\n\t$(CC) -o prog main.o\nmain.o: main.c\n\t$(CC) -O1 -c main.c\n",
    );
    project.write_config();
    project.write("tests.list", "none ./prog\none ./prog 1\n");
    project.record();
    project
}

fn list(project: &Project, commands: &[(&str, &str)]) {
    let entries: Vec<serde_json::Value> = commands
        .iter()
        .map(|(file, command)| {
            serde_json::json!({ "directory": project.root(), "file": file, "command": command })
        })
        .collect();
    project.write("compile_commands.json", &serde_json::to_string(&entries).unwrap());
}

#[test]
fn a_known_unit_counts_with_the_flags_that_are_listed_now() {
    let project = project();
    list(&project, &[("main.c", "/usr/bin/cc -O1 -c main.c")]);
    assert!(project.selected().is_empty(), "the same flags");
    list(&project, &[("main.c", "cc -O1 -DLEVEL=3 -o main.o -c main.c")]);
    assert_eq!(project.selected(), ["one"], "another text");
    list(&project, &[("main.c", "cc -O2 -c main.c")]);
    assert_eq!(project.selected(), ["none", "one"], "other code");
    list(&project, &[("main.c", "cc -O2 -c main.c -o elsewhere/main.o")]);
    assert!(project.selected().is_empty(), "another build of the same source");
}

#[test]
fn a_new_source_that_is_listed_and_concerns_nobody_selects_nothing() {
    let project = project();
    project.write("more.c", "int more(int n)\n{\n    return n + 1;\n}\n");
    assert_eq!(project.selected(), ["none", "one"], "it may become part of any program");
    list(&project, &[("more.c", "cc -O1 -c more.c")]);
    assert!(project.selected().is_empty());
    project.write("more.c", "int puts(const char *s)\n{\n    return !s;\n}\n");
    assert!(project.selected().is_empty(), "a name that a library only defines");
    for (text, why) in [
        ("int helper(int n)\n{\n    return n + 2;\n}\n", "a name that the program mentions"),
        ("void free(void *p)\n{\n    (void)p;\n}\n", "a name that a library looks up"),
        ("__attribute__((constructor)) static void f(void)\n{\n}\n", "it acts by itself"),
        ("#error\n", "it does not preprocess"),
    ] {
        project.write("more.c", text);
        assert_eq!(project.selected(), ["none", "one"], "{why}");
    }
}

#[test]
fn a_list_that_is_no_list_says_nothing() {
    let project = project();
    project.write("compile_commands.json", "{ \"not\": \"a list\" ");
    assert!(project.selected().is_empty());
    project.write("compile_commands.json", "[{\"directory\": \"/\", \"command\": \"'\"}]");
    assert!(project.selected().is_empty());
}
