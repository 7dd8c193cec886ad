//! Reasons where several programs share code: the calls are those of the program that the
//! test ran, and a reason is told once.

use crate::support::Project;
use serde_json::Value;

const MAKEFILE: &str = "\
all: prog1 prog2 prog3 prog4 prog5
prog%: m%.o libx.a
\t$(CC) -o $@ $< -L. -lx
libx.a: x.o
\trm -f $@; ar rcs $@ $^
%.o: %.c
\t$(CC) -w -O1 -c -o $@ $<
";

const LIBRARY: &str = "int parse_int(const char *s)\n{\n    int n = 0;\n    while (*s)\n        \
                       n = 10 * n + (*s++ - '0');\n    return n;\n}\n";

/// Programs that call a function of a library, some of them by way of another function.
fn project() -> Project {
    let project = Project::empty();
    project.write_config();
    project.write("Makefile", MAKEFILE);
    project.write("x.c", LIBRARY);
    let way = |name: &str| {
        format!(
            "#include <stdio.h>\nint parse_int(const char *);\n\
             static __attribute__((noinline)) int {name}(const char *s) {{ return parse_int(s); }}\n\
             int main(int c, char **v) {{ printf(\"%d\\n\", {name}(v[1])); return 0; }}\n"
        )
    };
    let direct = "#include <stdio.h>\nint parse_int(const char *);\n\
                  int main(int c, char **v) { printf(\"%d\\n\", parse_int(v[1])); return 0; }\n";
    project.write("m1.c", &way("t"));
    project.write("m2.c", &way("u"));
    project.write("m3.c", direct);
    project.write("m4.c", &format!("{direct}/* the same once more */\n"));
    // The same calls as in another program.
    project.write("m5.c", &format!("{}int more;\n", way("t")));
    let tests = "a ./prog1 5\nb ./prog2 5\nc ./prog3 5\nd ./prog4 5\ne ./prog5 5\n\
                 both ./prog2 5 && ./prog1 5\n";
    project.write("tests.list", tests);
    project.record();
    project.edit("x.c", "10 * n", "(10 * n)");
    project
}

fn chains(selection: &Value) -> Vec<(String, Vec<String>)> {
    let tests = selection["selected"].as_array().unwrap().iter();
    let chains = tests.map(|test| {
        let reasons = test["reasons"].as_array().unwrap().iter();
        let names = |reason: &Value| {
            let names = reason["chain"].as_array().unwrap().iter();
            names.map(|name| name.as_str().unwrap()).collect::<Vec<_>>().join(" > ")
        };
        (test["name"].as_str().unwrap().to_string(), reasons.map(names).collect())
    });
    chains.collect()
}

#[test]
fn calls_are_those_of_the_program_that_the_test_ran() {
    let project = project();
    let json = project.ok(&["select", "--format", "json"]);
    let selection: Value = serde_json::from_str(&json).unwrap();
    let (t, u) = ("main > t > parse_int", "main > u > parse_int");
    let direct = "main > parse_int";
    let expected = [("a", t), ("b", u), ("c", direct), ("d", direct), ("e", t)];
    let found = chains(&selection);
    for (test, chain) in expected {
        let (_, chains) = found.iter().find(|(name, _)| name == &format!("t/{test}")).unwrap();
        assert!(chains.iter().all(|found| found == chain), "{test}: {chains:?}");
    }
    let (_, both) = found.iter().find(|(name, _)| name == "t/both").unwrap();
    let edges: Vec<&Value> = selection["selected"].as_array().unwrap().iter().collect();
    let count = |test: &str| {
        let test = edges.iter().find(|found| found["name"] == format!("t/{test}")).unwrap();
        test["reasons"].as_array().unwrap().len()
    };
    assert_eq!(count("both"), count("a"), "two programs tell of one change: {both:?}");
    let in_program: &[(&str, &str)] =
        &[("prog1", t), ("prog2", u), ("prog3", direct), ("prog4", direct), ("prog5", t)];
    for edge in selection["dangerous_edges"].as_array().unwrap() {
        let (_, expected) = in_program.iter().find(|(name, _)| edge["program"] == **name).unwrap();
        let names = edge["chain"].as_array().unwrap().iter();
        let chain: Vec<&str> = names.map(|name| name.as_str().unwrap()).collect();
        assert_eq!(chain.join(" > "), *expected, "{}", edge["program"]);
    }
}

#[test]
fn a_reason_that_several_programs_share_is_told_once() {
    let project = project();
    let command = project.edgewise(&["select"]);
    let text = String::from_utf8(command.stderr).unwrap();
    for chain in ["in main > t > parse_int", "in main > u > parse_int", "in main > parse_int"] {
        let groups = text.split("\n\n").filter(|group| group.contains(chain)).count();
        assert_eq!(groups, 1, "{chain}: {text}");
    }
    let group = |chain: &str| text.split("\n\n").find(|group| group.contains(chain)).unwrap();
    assert!(group("in main > parse_int").starts_with("t/c\nt/d\n"), "{text}");
    assert!(group("in main > t >").contains("t/a\n"), "{text}");
    assert!(group("in main > t >").contains("t/e\n"), "{text}");
    let markdown = project.ok(&["select", "--format", "markdown"]);
    for chain in ["in main > t > parse_int", "in main > u > parse_int", "in main > parse_int"] {
        let blocks = markdown.split("```diff").filter(|block| block.contains(chain)).count();
        assert_eq!(blocks, 1, "{chain}: {markdown}");
    }
    let explained = project.ok(&["explain", "t/b"]);
    assert!(!explained.contains("> t >"), "{explained}");
}

#[test]
fn a_page_names_the_program_of_each_chain() {
    let project = project();
    project.ok(&["report", "--html", "pages"]);
    let pages = std::fs::read_dir(project.root().join("pages/procedures")).unwrap();
    let pages: Vec<String> = pages
        .map(|page| std::fs::read_to_string(page.unwrap().path()).unwrap_or_default())
        .collect();
    let page = pages.iter().find(|page| page.contains("Called like this")).unwrap();
    for (programs, chain) in [
        ("prog1, prog5", "main &gt; t &gt; parse_int"),
        ("prog2", "main &gt; u &gt; parse_int"),
        ("prog3, prog4", "main &gt; parse_int"),
    ] {
        let line = page.split("<p>").find(|line| line.contains(chain)).unwrap_or_default();
        assert!(line.contains(&format!("in {programs}:")), "{chain}: {line}");
    }
}
