//! Summaries, annotations and results of analyses for other tools: `--format markdown`,
//! `annotations` and `sarif`, and `--markdown`.

use crate::support::Project;
use regex::Regex;
use serde_json::Value;

/// What GitHub makes of a Markdown text, by a port of its own renderer.
pub fn rendered(text: &str) -> String {
    let mut options = comrak::Options::default();
    options.extension.table = true;
    options.extension.autolink = true;
    options.extension.strikethrough = true;
    options.render.r#unsafe = true;
    comrak::markdown_to_html(text, &options)
}

const MAIN: &str = "\
#include <stdio.h>
#include <string.h>
static int left(int n)
{
    return n + 1;
}
static int right(int n)
{
    return n + 2;
}
int main(int argc, char **argv)
{
    int is_left = argc > 1 && strcmp(argv[1], \"left\") == 0;
    printf(\"%d\\n\", is_left ? left(argc) : right(argc));
    return 0;
}
";

/// Names that are markup, or would be.
const NAMES: [&str; 6] =
    ["<script>alert(1)<", "a|b", "it`s ``code``", "@someone #1", "*bold* _it_", "https:__x.y"];

fn hostile() -> Project {
    let project = Project::empty();
    project.write("main.c", MAIN);
    project.write("Makefile", "prog: main.c\n\t$(CC) -O1 -o prog main.c\n");
    for name in NAMES {
        project.write(&format!("t/{name}.sh"), "./prog left\n");
    }
    project.write("t/other.sh", "./prog right\n");
    project.write(
        "edgewise.toml",
        "ignore = [\"*.md\"]\n[build]\ncommand = \"make -s\"\n[[suite]]\nname = \"g\"\nkind = \"glob\"\npattern = \"t/*.sh\"\ncommand = \"sh {}\"\n",
    );
    project.record();
    project.edit("main.c", "return n + 1;", "return n - 1;");
    project
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Whatever is not ours stands in code, and no element is there that we did not write.
fn is_harmless(html: &str) {
    let tag = Regex::new(r"</?([a-zA-Z0-9]+)").unwrap();
    let known = [
        "h2",
        "h3",
        "p",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "code",
        "pre",
        "details",
        "summary",
        "blockquote",
        "ul",
        "li",
        "strong",
    ];
    for found in tag.captures_iter(html) {
        assert!(known.contains(&&found[1]), "<{}> in {html}", &found[1]);
    }
    let outside = Regex::new(r"(?s)<code[^>]*>.*?</code>").unwrap().replace_all(html, "");
    for word in ["@someone", "https:", "alert", "bold"] {
        assert!(!outside.contains(word), "{word} in {outside}");
    }
}

#[test]
fn a_selection_as_markdown_shows_every_name_as_itself() {
    let project = hostile();
    let text = project.ok(&["select", "--format", "markdown"]);
    assert!(text.starts_with("## edgewise: 6 of 7 tests selected\n"), "{text}");
    assert!(text.contains("1 test safely skipped"), "{text}");
    let html = rendered(&text);
    is_harmless(&html);
    for name in NAMES {
        let code = format!("<code>g/{}</code>", escaped(name));
        assert!(html.contains(&code), "{code} in {html}");
    }
    // A table with the place, the procedure and how many tests.
    assert!(
        html.contains(
            "<td><code>main.c:5</code></td>\n<td><code>left</code></td>\n<td>6 tests</td>"
        ),
        "{html}"
    );
    // The lines as they were and as they are, folded.
    let folded = Regex::new(
        r"(?s)<details>.*?- main.c:5: return n \+ 1;\n\+ main.c:5: return n - 1;.*?</details>",
    );
    assert!(folded.unwrap().is_match(&html), "{html}");
}

#[test]
fn a_run_as_markdown_says_what_ran_failed_and_was_skipped() {
    let project = hostile();
    project.write("t/a|b.sh", "./prog left; echo '</details> ``` @someone'; exit 3\n");
    let output = project.edgewise(&["test", "--markdown", "summary.md"]);
    assert_eq!(output.status.code(), Some(1));
    let text = project.read("summary.md");
    assert!(text.starts_with("## edgewise: 1 of 6 tests failed\n"), "{text}");
    assert!(text.contains("5 passed, 1 failed, in "), "{text}");
    assert!(text.contains("1 test safely skipped"), "{text}");
    let html = rendered(&text);
    is_harmless(&html);
    assert!(
        html.contains("<td><code>g/a|b</code></td>\n<td><code>exit status: 3</code></td>"),
        "{html}"
    );
    assert!(html.contains("&lt;/details&gt; ``` @someone"), "{html}");
    assert_eq!(html.matches("<details>").count(), html.matches("</details>").count());

    // Nothing to do is said as well; and a run without a selection.
    project.write("t/a|b.sh", "./prog left\n");
    project.ok(&["test"]);
    project.ok(&["test", "--markdown", "summary.md"]);
    assert!(project.read("summary.md").starts_with("## edgewise: no test had to run\n"));
    project.ok(&["run", "--shadow", "--markdown", "summary.md"]);
    let text = project.read("summary.md");
    assert!(text.starts_with("## edgewise: 7 tests passed\n"), "{text}");
    assert!(text.contains("shadow: of 7 tests that ran, 0 would have been selected"), "{text}");
}

#[test]
fn a_summary_warns_of_what_was_not_analysed_excluded_or_cut() {
    let project = hostile();
    project.write("plus.cpp", "extern \"C\" int plus(int n) { return n + 1; }\n");
    project.write(
        "Makefile",
        "prog: main.c plus.cpp\n\tg++ -c plus.cpp\n\t$(CC) -O1 -o prog main.c plus.o\n",
    );
    project.record();
    project.edit("main.c", "return n + 2;", "return n + 4;");
    let config = project.read("edgewise.toml");
    project.write("edgewise.toml", &format!("{config}[exclude]\nprocedures = [\"right\"]\n"));
    let text = project.ok(&["select", "--format", "markdown"]);
    assert!(text.contains("1 of them because `[exclude]` says so"), "{text}");
    project.edit("main.c", "return n - 1;", "return n - 3;");
    let output = project.edgewise(&["select", "--format", "markdown", "--budget", "1ms"]);
    assert_eq!(output.status.code(), Some(4));
    let text = String::from_utf8(output.stdout).unwrap();
    for expected in [
        "> - **Not safe**: ",
        "> - Changed in excluded code, which selects nothing: `main.c:9 in right`; it would have selected 1 test\n",
        "> - 1 source not analysed, a change of which selects every test; for example `plus.cpp`: ",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    is_harmless(&rendered(&text));
}

#[test]
fn annotations_name_the_line_and_the_tests_behind_it() {
    let project = hostile();
    project.edit("main.c", "int main", "int unused(int n)\n{\n    return n;\n}\nint main");
    let text = project.ok(&["select", "--format", "annotations"]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines.iter().all(|line| line.starts_with("::notice ") || line.starts_with("::warning "))
    );
    let line = lines.iter().find(|line| line.contains("file=main.c,line=5,endLine=5,")).unwrap();
    assert!(line.contains(",title=6 tests behind this change::in left%0Ag/"), "{line}");
    assert!(line.contains("%0Ag/a|b"), "{line}");

    // GitHub takes names of files from the root of the repository.
    let whole = Project::empty();
    crate::support::copy(project.root(), &whole.path("part/of, it"));
    whole.write(".git/HEAD", "ref: refs/heads/main\n");
    let mut command = whole.command();
    command.current_dir(whole.path("part/of, it"));
    let output = command.args(["select", "--format", "annotations"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("file=part/of%2C it/main.c,line=5,"), "{text}");
}

#[test]
fn a_summary_names_changes_that_no_test_reaches() {
    let project = hostile();
    let spare = "int table[2] = {1, 2};\nint spare(int n)\n{\n    return n + 3;\n}\n";
    let rare = "    if (argc > 77)\n        return 3;\n    return 0;";
    project.edit("main.c", "int main", &format!("{spare}int main"));
    project.edit("main.c", "    return 0;", rare);
    project.record();
    project.edit("main.c", "return n - 1;", "return n - 2;");
    project.edit("main.c", "{1, 2}", "{1, 3}");
    project.edit("main.c", "return n + 3;", "return n + 4;");
    project.edit("main.c", "return 3;", "return 4;");
    let fresh = "int fresh(int n)\n{\n    return n;\n}\n";
    project.edit("main.c", "int main", &format!("{fresh}int main"));
    // What a change leads to for the first time is nothing that no test reaches.
    let called = "int called(int n)\n{\n    return n;\n}\n";
    project.edit("main.c", "static int left", &format!("{called}static int left"));
    project.edit("main.c", "return n - 2;", "return called(n) - 2;");
    let text = project.ok(&["select", "--format", "markdown"]);
    let expected = "\n**4 changes that no test is known to reach**\n
| changed | in | why |
|---|---|---|
| `main.c:15` | `table` | nothing that tests run uses it |
| `main.c:18` | `spare` | no test enters it |
| `main.c:20` | `fresh` | new, and nothing that tests run uses it |
| `main.c:29` | `main` | no test goes this way |
";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("| `main.c:9` | `left` | 6 tests |"), "{text}");
    assert!(!text.contains("`called`"), "{text}");
    is_harmless(&rendered(&text));
    // It tells more, and selects the same.
    assert!(text.starts_with("## edgewise: 6 of 7 tests selected\n"), "{text}");
    assert_eq!(project.ok(&["select"]).lines().count(), 6);
    let annotations = project.ok(&["select", "--format", "annotations"]);
    for expected in [
        "::warning file=main.c,line=29,endLine=29,title=no test is known to reach this change::main: no test goes this way\n",
        "::warning file=main.c,line=18,endLine=18,title=no test is known to reach this change::spare: no test enters it\n",
    ] {
        assert!(annotations.contains(expected), "{annotations}");
    }
    assert_eq!(annotations.matches("::warning ").count(), 4, "{annotations}");
}

#[test]
fn a_summary_of_many_changes_without_tests_is_short_and_counts_them() {
    let project = hostile();
    let spare = |by: u32| {
        let one = |n: u32| {
            format!("int spare_with_a_long_name_{n}(int n)\n{{\n    return n + {by};\n}}\n")
        };
        (0..200).map(one).collect::<String>()
    };
    project.write("spare.c", &spare(1));
    project.write("Makefile", "prog: main.c spare.c\n\t$(CC) -O1 -o prog main.c spare.c\n");
    project.record();
    project.write("spare.c", &spare(2));
    let text = project.ok(&["select", "--format", "markdown"]);
    assert!(text.starts_with("## edgewise: no test is affected, of 7 tests\n"), "{text}");
    assert!(text.contains("**200 changes that no test is known to reach**"), "{text}");
    assert!(text.contains(" more changes\n"), "{text}");
    assert!(text.len() < 5_000, "{text}");
    let annotations = project.ok(&["select", "--format", "annotations"]);
    assert_eq!(annotations.matches("::warning file=spare.c,").count(), 20, "{annotations}");
    assert!(annotations.contains("title=180 more changes that no test is known to reach"));
}

#[test]
fn gaps_as_sarif_have_what_the_schema_asks_for() {
    let project = hostile();
    let source = project.read("main.c");
    project.write("main.c", &format!("#include \"odd name#.h\"\n{source}"));
    project.write("odd name#.h", "static inline int odd(int n)\n{\n    return n;\n}\n");
    project.edit("main.c", "return n - 1;", "if (n > 77)\n        n = odd(n);\n    return n - 1;");
    project.ok(&["test"]);
    let sarif: Value = serde_json::from_str(&project.ok(&["gaps", "--format", "sarif"])).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    assert!(sarif["$schema"].as_str().unwrap().ends_with("sarif-2.1.0.json"));
    let [run] = &sarif["runs"].as_array().unwrap()[..] else { panic!("{sarif}") };
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "edgewise");
    let rules = driver["rules"].as_array().unwrap();
    for rule in rules {
        for key in ["shortDescription", "fullDescription"] {
            assert!(!rule[key]["text"].as_str().unwrap().is_empty(), "{rule}");
        }
    }
    let results = run["results"].as_array().unwrap();
    let mut places = Vec::new();
    for result in results {
        let rule = &rules[result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        assert_eq!(result["level"], "warning");
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        assert!(result["partialFingerprints"]["edgewise/v1"].is_string());
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uriBaseId"], "%SRCROOT%");
        let region = &place["region"];
        assert!(region["startLine"].as_u64().unwrap() >= 1);
        assert!(region["endLine"].as_u64() >= region["startLine"].as_u64());
        let uri = place["artifactLocation"]["uri"].as_str().unwrap();
        places.push(format!(
            "{uri}:{} {}",
            region["startLine"],
            result["ruleId"].as_str().unwrap()
        ));
    }
    places.sort();
    let expected = [
        "main.c:6 untested-branch",
        "main.c:7 untested-code",
        "odd%20name%23.h:1 untested-procedure",
    ];
    assert_eq!(places, expected);

    // Without gaps it is a document as well: code scanning closes what it had.
    project.edit("main.c", "if (n > 77)\n        n = odd(n);\n    return n - 1;", "return n - 1;");
    project.ok(&["test"]);
    let sarif: Value = serde_json::from_str(&project.ok(&["gaps", "--format", "sarif"])).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 0);
}

fn told(project: &Project, arguments: &[&str]) -> String {
    String::from_utf8(project.edgewise(arguments).stderr).unwrap()
}

/// Tests that ran are not counted as skipped.
#[test]
fn with_all_no_test_that_ran_is_called_skipped() {
    let project = hostile();
    project.edit("main.c", "return n - 1;", "return n + 1;");
    let said = told(&project, &["test", "--all", "--markdown", "all.md"]);
    assert!(said.contains("no test is affected; --all runs all 7\n"), "{said}");
    let text = project.read("all.md");
    assert!(text.contains("7 tests that no change can affect ran as well (`--all`).\n"), "{text}");
    assert!(!text.contains("skipped"), "{text}");
    let said = told(&project, &["test", "--all", "other", "--markdown", "one.md"]);
    assert!(
        said.contains("0 of 7 tests selected, 6 safely skipped; --all runs 1 more\n"),
        "{said}"
    );
    let text = project.read("one.md");
    assert!(text.contains("\n6 tests safely skipped"), "{text}");
}

/// The time is a sum, which is longer than the run if tests run side by side.
#[test]
fn saved_time_is_told_as_a_sum() {
    let project = hostile();
    let said = told(&project, &["test"]);
    let sum = Regex::new(
        r"\nsaved [\d.]+ s of [\d.]+ s of test time \(the sum of the last run times of all tests\)\n",
    );
    assert!(sum.unwrap().is_match(&said), "{said}");
}

/// `test` has just built: to build once more would change nothing.
#[test]
fn after_a_plain_make_a_clean_build_is_asked_for() {
    let project = hostile();
    std::fs::remove_file(project.path("prog")).unwrap();
    let make = std::process::Command::new("make").current_dir(project.root()).output();
    assert!(make.unwrap().status.success());
    let said = told(&project, &["test"]);
    assert!(said.contains("`make clean && edgewise build` does that"), "{said}");
    assert!(!said.contains("`edgewise build` first"), "{said}");
}

const CODES: &str = "\
#include <stdio.h>
#define LIMIT 5
enum code { OK, FULL, SYNTAX };
static const char *name(enum code code)
{
    switch (code) {
    case OK:
        return \"ok\";
    case FULL:
        return \"full\";
    case SYNTAX:
        return \"syntax\";
    }
    return \"?\";
}
static const char *size(int n)
{
    switch (n) {
    case LIMIT:
        return \"limit\";
    default:
        return \"small\";
    }
}
int main(int argc, char **argv)
{
    puts(argc > 3 ? size(LIMIT) : argc > 2 ? size(argc) : name(argc > 1 ? FULL : OK));
    return 0;
}
";

#[test]
fn a_case_with_another_value_is_not_told_as_gone_or_new() {
    let tests = [("ok", ""), ("full", "x"), ("small", "x x"), ("limit", "x x x")];
    let project = Project::of_source(CODES, &tests);
    project.record();
    let outputs = |project: &Project| {
        let formats = ["names", "markdown", "annotations"].map(|format| {
            let output = project.edgewise(&["select", "--format", format]);
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat()
        });
        formats.join("\n---\n")
    };
    for (from, to, line, said) in [
        (
            "OK, FULL",
            "OK, EMPTY, FULL",
            10,
            "on `case FULL` of `code`: `FULL` is declared otherwise (main.c:3)",
        ),
        (
            "LIMIT 5",
            "LIMIT 6",
            20,
            "on `case 5` of `n`: the value of this case label changed from `5` to `6`",
        ),
    ] {
        project.edit("main.c", from, to);
        let all = outputs(&project);
        for false_words in ["is gone", "was added", "no test runs this change"] {
            assert!(!all.contains(false_words), "{false_words}: {all}");
        }
        assert!(all.contains(said), "{said}: {all}");
        assert!(all.contains(&format!("| `main.c:{line}` |")), "{all}");
        project.edit("main.c", to, from);
    }
    // A case that is really new or gone is still told so.
    project.edit("main.c", "    case LIMIT:\n        return \"limit\";\n", "");
    assert!(outputs(&project).contains("on `case 5` of `n`: this way is gone"));
}

/// What a test reaches that did not pass is not known.
#[test]
fn of_code_that_a_failing_test_may_enter_it_is_not_said_that_no_test_does() {
    let source = "#include <stdlib.h>\nstatic void f(int x)\n{\n    if (x + 2 != 2)\n        \
                  abort();\n}\nint main(int argc, char **argv)\n{\n    if (argc > 1)\n        \
                  f(1);\n    return 0;\n}\n";
    let project = Project::of_source(source, &[("fails", "x"), ("passes", "")]);
    project.ok(&["build"]);
    project.edgewise(&["run"]);
    project.edit("main.c", "x + 2 != 2", "x + 1 != 2");
    let markdown = project.ok(&["select", "--format", "markdown"]);
    assert!(
        markdown.contains("| `main.c:4` | `f` | no recorded test run enters it |"),
        "{markdown}"
    );
    let unknown = "What 1 test may reach is not known (new, did not pass, or without a complete \
                   trace): ";
    assert!(markdown.contains(&format!("{unknown}`t/fails`.\n")), "{markdown}");
    let annotations = project.ok(&["select", "--format", "annotations"]);
    assert!(annotations.contains(&format!("{unknown}t/fails")), "{annotations}");
    project.ok(&["report", "--html", "report"]);
    let pages = std::fs::read_dir(project.path("report/procedures")).unwrap();
    let pages: String =
        pages.map(|page| std::fs::read_to_string(page.unwrap().path()).unwrap()).collect();
    assert!(pages.contains("No recorded test run enters it"), "{pages}");
    for all in [markdown, annotations, pages] {
        assert!(!all.to_lowercase().contains("no test enters it"), "{all}");
    }
}

/// Two programs of one source each.
fn two_programs() -> Project {
    let project = Project::empty();
    project.write_config();
    let source = "int main(void)\n{\n    return 0;\n}\n";
    project.write("a.c", source);
    project.write("b.c", source);
    project.write("Makefile", "all: a b\n%: %.c\n\t$(CC) -o $@ $<\n");
    project.write("tests.list", "aaa ./a\nbbb ./b\n");
    project.record();
    project
}

#[test]
fn a_heading_does_not_say_that_no_test_had_to_run_if_one_is_selected() {
    let project = two_programs();
    project.edit("a.c", "return 0", "return 0 + 0");
    project.ok(&["test", "bbb", "--markdown", "summary.out"]);
    let text = project.read("summary.out");
    let heading = "## edgewise: no test ran, 1 selected test not asked for\n";
    assert!(text.starts_with(heading), "{text}");
    project.ok(&["test", "--shard", "2/2", "--markdown", "summary.out"]);
    let text = project.read("summary.out");
    assert!(text.starts_with(heading), "{text}");
    // A test that skips itself ran.
    project.ok(&["test"]);
    project.write("tests.list", "aaa ./a && exit 77\nbbb ./b\n");
    project.edgewise(&["test", "--markdown", "summary.out"]);
    let text = project.read("summary.out");
    assert!(!text.contains("no test had to run"), "{text}");
}

#[test]
fn a_new_test_that_just_ran_is_part_of_the_sum_of_times() {
    let project = two_programs();
    project.write("tests.list", "aaa ./a\nbbb ./b\nslow sleep 1; ./b\n");
    let said = told(&project, &["test", "--markdown", "summary.out"]);
    let sum = Regex::new(r"saved [\d.]+ s of ([\d.]+) s of test time").unwrap();
    for text in [said, project.read("summary.out")] {
        let all = sum.captures(&text).unwrap_or_else(|| panic!("{text}"));
        assert!(all[1].parse::<f64>().unwrap() >= 1.0, "{text}");
    }
}

#[test]
fn a_hint_does_not_ask_for_the_build_that_was_just_done() {
    let project = two_programs();
    project.write("Makefile", &format!("{}# A comment.\n", project.read("Makefile")));
    assert!(told(&project, &["select"]).contains("hint: rebuild (edgewise test)"));
    let clean = "hint: the last build did not make everything anew: clean first (make clean), \
                 then run `edgewise test`\n";
    for arguments in ["test", "select", "test", "select"] {
        let said = told(&project, &[arguments]);
        assert!(said.contains(clean), "{arguments}: {said}");
        assert!(!said.contains("hint: build") && !said.contains("rebuild"), "{arguments}: {said}");
    }
    for program in ["a", "b"] {
        std::fs::remove_file(project.path(program)).unwrap();
    }
    project.ok(&["test"]);
    let said = told(&project, &["select"]);
    assert!(said.contains("no test is affected") && !said.contains("hint"), "{said}");
}

const SHARED: &str = "\
#include <stdio.h>
struct s { int n; };
static int get(const struct s *s) { return s->n; }
static int one(void)
{
    struct s s = {1};
    return get(&s);
}
static int two(int n)
{
    struct s s = {2};
    s.n = n;
    return get(&s);
}
static int unused(void) { return 1; }
int main(int argc, char **argv)
{
    int r = argc > 9 ? unused() : argc > 1 ? one() : two(3);
    printf(\"%d\\n\", r);
    return 0;
}
";

/// A test may be selected for several changes: each is told, by `test` as well.
#[test]
fn the_changes_of_a_run_are_those_of_the_selection() {
    let project = Project::of_source(SHARED, &[("one", "x"), ("two", "")]);
    project.record();
    project.edit("main.c", "struct s { int n; }", "struct s { int n, m; }");
    project.edit("main.c", "return s->n;", "return s->n + s->m;");
    project.edit("main.c", "return 1;", "return 2;");
    let tables = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with('|')).map(String::from).collect()
    };
    let selection = project.ok(&["select", "--format", "markdown"]);
    project.ok(&["test", "--markdown", "summary.out"]);
    let run = project.read("summary.out");
    assert_eq!(tables(&run), tables(&selection));
    assert!(run.contains("| `main.c:6` | `one` | `t/one` |\n"), "{run}");
    assert!(run.contains("| `main.c:15` | `unused` | no test enters it |\n"), "{run}");
}

#[test]
fn one_test_is_counted_as_one() {
    let project = Project::of_source("int main(void)\n{\n    return 0;\n}\n", &[("a", "")]);
    project.record();
    assert_eq!(told(&project, &["select"]), "no test is affected: 1 safely skipped\n");
    project.edit("main.c", "return 0", "return 1");
    assert!(told(&project, &["select"]).contains("\n1 of 1 test selected, 0 safely skipped\n"));
}
