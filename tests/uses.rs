//! Files that tests and builds use: who reads a file is selected when it changes,
//! and nobody else.

use crate::support::Project;

/// A calculator from a grammar, with tests that are shell scripts.
fn calculator() -> Project {
    let project = Project::empty();
    project.write(
        "calc.y",
        r#"%{
#include <stdio.h>
#include <ctype.h>
static const char *at;
static int yylex(void)
{
    while (*at == ' ')
        at++;
    return *at ? *at++ : 0;
}
static void yyerror(const char *what)
{
    printf("%s\n", what);
}
%}
%left '+' '-'
%left '*'
%%
all: sum { printf("%d\n", $1); };
sum: sum '+' sum { $$ = $1 + $3; }
   | sum '-' sum { $$ = $1 - $3; }
   | sum '*' sum { $$ = $1 * $3; }
   | digit;
digit: '1' { $$ = 1; } | '2' { $$ = 2; } | '3' { $$ = 3; };
%%
int main(int argc, char **argv)
{
    at = argc > 1 ? argv[1] : "";
    return yyparse();
}
"#,
    );
    project.write(
        "Makefile",
        "calc: calc.c\n\t$(CC) -O1 -o calc calc.c\ncalc.c: calc.y\n\tbison -o calc.c calc.y\n",
    );
    project.write(
        "check.sh",
        "#!/bin/sh\n\
         . ./options.sh 2>/dev/null\n\
         test -f \"tests/$1.skip\" && exit 0\n\
         ./calc \"$(cat tests/$1.in)\" > \"$1.out\"\n\
         diff \"$1.out\" tests/$1.expected\n",
    );
    for (name, input, expected) in
        [("plus", "1+2", "3"), ("minus", "3-1", "2"), ("times", "2*3", "6")]
    {
        project.write(&format!("tests/{name}.in"), input);
        project.write(&format!("tests/{name}.expected"), &format!("{expected}\n"));
    }
    project.write("options.sh", ":\n");
    project.write("README", "A calculator.\n");
    project.write(
        "edgewise.toml",
        "[build]\ncommand = \"make -s\"\n[[suite]]\nname = \"t\"\nkind = \"list\"\n\
         file = \"tests.list\"\n",
    );
    project.write(
        "tests.list",
        "plus sh check.sh plus\nminus sh check.sh minus\ntimes sh check.sh times\n",
    );
    project
}

fn select(project: &Project) -> (Vec<String>, String) {
    let output = project.edgewise(&["select"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (project.selected(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn exactly_the_readers_of_a_file_are_selected() {
    let project = calculator();
    project.record();
    // What a test leaves is its own affair.
    assert!(project.path("plus.out").exists());
    assert!(project.selected().is_empty(), "{:?}", select(&project));

    project.write("tests/plus.expected", "4\n");
    let (selected, why) = select(&project);
    assert_eq!(selected, ["plus"]);
    assert!(why.contains("tests/plus.expected changed, and it uses it"), "{why}");
    project.write("tests/plus.expected", "3\n");
    assert!(project.selected().is_empty());

    project.write("README", "A very good calculator.\n");
    project.write("NEWS", "It is new.\n");
    let (selected, why) = select(&project);
    assert!(selected.is_empty(), "{why}");

    // Looked for in vain.
    project.write("tests/minus.skip", "");
    let (selected, why) = select(&project);
    assert_eq!(selected, ["minus"]);
    assert!(why.contains("tests/minus.skip is new, and it looks for it"), "{why}");
    std::fs::remove_file(project.path("tests/minus.skip")).unwrap();

    // The script that all of them run, and what it includes.
    project.edit("check.sh", "#!/bin/sh\n", "#!/bin/sh\n# All of it.\n");
    assert_eq!(project.selected(), ["minus", "plus", "times"]);
    project.edit("check.sh", "# All of it.\n", "");
    std::fs::remove_file(project.path("options.sh")).unwrap();
    let (selected, why) = select(&project);
    assert_eq!(selected, ["minus", "plus", "times"]);
    assert!(why.contains("options.sh is gone, and it uses it"), "{why}");
}

#[test]
fn a_grammar_selects_all_until_it_is_built() {
    let project = calculator();
    project.record();
    project.edit("calc.y", "$1 * $3", "$1 * $3 + 0");
    let (selected, why) = select(&project);
    assert_eq!(selected, ["minus", "plus", "times"]);
    assert!(why.contains("calc.y changed: the build reads it"), "{why}");
    assert!(why.contains("hint: rebuild"), "{why}");
    project.ok(&["build"]);
    let (selected, why) = select(&project);
    assert_eq!(selected, ["times"], "{why}");
    assert!(why.contains("$1 * $3 + 0") || why.contains("+ 0"), "{why}");
    project.ok(&["test"]);
    assert!(project.selected().is_empty());
}

#[test]
fn a_test_whose_files_are_not_known_is_selected_by_any() {
    let project = calculator();
    project.write("look.c", "int main(void)\n{\n    return 0;\n}\n");
    let gcc = std::process::Command::new("gcc")
        .args(["-static", "-o", "look", "look.c"])
        .current_dir(project.root())
        .status();
    assert!(gcc.unwrap().success());
    project.write("tests.list", "plus sh check.sh plus\nstatic ./look && ./calc 1\n");
    project.write(
        "edgewise.toml",
        &format!("ignore = [\"look*\"]\n{}", project.read("edgewise.toml")),
    );
    project.record();
    project.write("README", "Another one.\n");
    let (selected, why) = select(&project);
    assert_eq!(selected, ["static"], "{why}");
    assert!(why.contains("README changed"), "{why}");
}

#[test]
fn a_test_that_reads_sources_is_selected_with_them() {
    let project = calculator();
    project
        .write("tests.list", "style ! grep -n fopen calc.y && ./calc 1\nplus sh check.sh plus\n");
    project.record();
    project.write("calc.y", &format!("{}\n/* The end. */\n", project.read("calc.y")));
    project.ok(&["build"]);
    let (selected, why) = select(&project);
    assert_eq!(selected, ["style"], "{why}");
}

#[test]
fn names_in_a_directory_count_for_who_lists_it() {
    let project = calculator();
    project.write("tests.list", "all ./calc 1 && ls tests\nplus sh check.sh plus\n");
    project.record();
    project.write("tests/new.in", "1");
    let (selected, why) = select(&project);
    assert_eq!(selected, ["all"], "{why}");
    assert!(why.contains("tests has other files in it"), "{why}");
}

#[test]
fn declared_inputs_and_variables_are_part_of_a_test() {
    let project = calculator();
    let config = project.read("edgewise.toml");
    project.write(
        "edgewise.toml",
        &format!("{config}inputs = [\"data/**\"]\nvariables = [\"CALC_MODE\"]\n"),
    );
    project.write("data/table", "1\n");
    project.record();
    assert!(project.selected().is_empty());
    project.write("data/table", "2\n");
    assert_eq!(project.selected().len(), 3);
    project.write("data/table", "1\n");
    let output = project.command().arg("select").env("CALC_MODE", "strict").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 3);
    assert!(project.selected().is_empty());
}

/// What sets a fixture up counts for who needs it: its code and its files.
#[test]
fn a_fixture_counts_for_its_users() {
    let project = Project::empty();
    project.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.13)\nproject(p C)\nenable_testing()\n\
         foreach(name set_up user later other clean_up)\n\
           add_executable(${name} ${name}.c)\n\
           add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})\n\
         endforeach()\n\
         set_tests_properties(set_up PROPERTIES FIXTURES_SETUP data)\n\
         set_tests_properties(clean_up PROPERTIES FIXTURES_CLEANUP data)\n\
         set_tests_properties(user PROPERTIES FIXTURES_REQUIRED data)\n\
         set_tests_properties(later PROPERTIES DEPENDS user)\n",
    );
    let plain = "int main(void)\n{\n    int code = 0;\n    return code;\n}\n";
    for name in ["user", "later", "other", "clean_up"] {
        project.write(&format!("{name}.c"), plain);
    }
    project.write(
        "set_up.c",
        "#include <stdio.h>\nint main(void)\n{\n    FILE *seed = fopen(\"seed.txt\", \"r\");\n    return !seed;\n}\n",
    );
    project.write("seed.txt", "1\n");
    project.write(
        "edgewise.toml",
        "ignore = [\"build/**\"]\n[build]\ncommand = \"cmake -S . -B build && cmake --build build\"\n\
         [[suite]]\nname = \"c\"\nkind = \"ctest\"\ndirectory = \"build\"\n",
    );
    project.record();
    assert!(project.selected().is_empty(), "{:?}", select(&project));
    project.write("seed.txt", "2\n");
    let (selected, why) = select(&project);
    assert_eq!(selected, ["clean_up", "later", "set_up", "user"], "{why}");
    assert!(why.contains("it needs c/set_up, which is selected"), "{why}");
    project.write("seed.txt", "1\n");
    project.edit("set_up.c", "return !seed", "return seed == 0");
    assert_eq!(project.selected(), ["clean_up", "later", "set_up", "user"]);
    // Whoever runs brings its fixture, and what cleans up behind it.
    let output = project.edgewise(&["test", "--json", "build/run.json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_str(&project.read("build/run.json")).unwrap();
    let mut ran: Vec<&str> = json["tests"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|test| test["outcome"] == "passed")
        .map(|test| test["name"].as_str().unwrap())
        .collect();
    ran.sort_unstable();
    assert_eq!(ran, ["c/clean_up", "c/later", "c/set_up", "c/user"]);
    assert!(project.selected().is_empty());
    project.edit("other.c", "int code = 0;", "int code = 1 - 1;");
    assert_eq!(project.selected(), ["other"]);
}
