//! Summaries, annotations and results of analyses for other tools: `--format markdown`,
//! `annotations` and `sarif`, and `--markdown`.

mod support;

use regex::Regex;
use serde_json::Value;
use support::Project;

/// What GitHub makes of a Markdown text, by a port of its own renderer.
fn rendered(text: &str) -> String {
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
    support::copy(project.root(), &whole.path("part/of, it"));
    whole.write(".git/HEAD", "ref: refs/heads/main\n");
    let mut command = whole.command();
    command.current_dir(whole.path("part/of, it"));
    let output = command.args(["select", "--format", "annotations"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("file=part/of%2C it/main.c,line=5,"), "{text}");
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
