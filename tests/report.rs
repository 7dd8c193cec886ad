//! `edgewise report --html`: what the pages hold, that nothing in them is taken for
//! markup, and that they say what is missing. How they look and work in a browser,
//! `scripts/report-browser` tries out.

use crate::support::{Project, sample};
use edgewise::report::html::{
    self, Change, File, FileProcedure, Group, LineState, Site, Test, Verdict,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The pages of a report by their names.
fn pages(directory: &Path) -> BTreeMap<String, String> {
    fn add(root: &Path, directory: &Path, found: &mut BTreeMap<String, String>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                add(root, &path, found);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_string();
                found.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    add(directory, directory, &mut found);
    found
}

fn report(project: &Project) -> BTreeMap<String, String> {
    project.ok(&["report", "--html", ".edgewise/report"]);
    let pages = pages(&project.path(".edgewise/report"));
    check_links(&pages);
    pages
}

fn attributes<'p>(page: &'p str, name: &'p str) -> impl Iterator<Item = &'p str> {
    page.split(name).skip(1).filter_map(|rest| rest.split('"').next())
}

/// Whatever a page links to is there, and no two elements have the same id.
fn check_links(pages: &BTreeMap<String, String>) {
    let mut ids: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for (name, page) in pages.iter().filter(|(name, _)| name.ends_with(".html")) {
        let own = ids.entry(name).or_default();
        for id in attributes(page, " id=\"") {
            assert!(own.insert(id), "{name} has the id {id} twice");
        }
    }
    for (name, page) in pages.iter().filter(|(name, _)| name.ends_with(".html")) {
        for link in attributes(page, " href=\"").chain(attributes(page, " src=\"")) {
            let (file, id) = link.split_once('#').map_or((link, None), |(f, id)| (f, Some(id)));
            let directory = name.rsplit_once('/').map_or("", |(directory, _)| directory);
            let target = match (file, file.strip_prefix("../")) {
                ("", _) => name.clone(),
                (_, Some(above)) => above.to_string(),
                (file, None) if directory.is_empty() => file.to_string(),
                (file, None) => format!("{directory}/{file}"),
            };
            assert!(pages.contains_key(&target), "{name} links to {link}");
            if let Some(id) = id {
                assert!(ids[target.as_str()].contains(id), "{name} links to {link}");
            }
            assert!(!link.contains("//"), "{name} asks others: {link}");
        }
    }
}

/// The text of a page, without markup.
fn text(page: &str) -> String {
    const INLINE: [&str; 5] = ["a", "code", "span", "text", "td"];
    let mut text = String::new();
    for (tag, behind) in page.split('<').filter_map(|part| part.split_once('>')) {
        let name = tag.trim_start_matches('/').split(' ').next().unwrap_or_default();
        if !INLINE.contains(&name) {
            text.push(' ');
        }
        text.push_str(behind);
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn change_sample(project: &Project) {
    project.edit(
        "lib/stats.c",
        "return (values[middle - 1] + values[middle]) / 2.0;",
        "return values[middle - 1] + (values[middle] - values[middle - 1]) / 2.0;",
    );
}

#[test]
fn the_sample_before_and_after_its_tests() {
    let project = sample();
    project.record();
    change_sample(&project);
    let selected = project.ok(&["select"]);
    let before = report(&project);
    let index = text(&before["index.html"]);
    assert!(index.contains("Selected 3 of 74 tests") && index.contains("Skipped 71"), "{index}");
    for name in selected.lines() {
        assert!(index.contains(name), "{name}: {index}");
    }
    let procedure = &before["procedures/1.html"];
    let said = text(procedure);
    for part in [
        "From lib/stats.c:46 count % 2 == 0, on T",
        "before: lib/stats.c:47 return (values[middle - 1] + values[middle]) / 2.0;",
        "now: lib/stats.c:47 return values[middle - 1] + (values[middle] - values[middle - 1]) / 2.0;",
        "3 tests behind it cli/median-even cli/stats-even cli/stats-tabs",
        "The history keeps no sources",
        "T dangerous 1",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // Both graphs, with one dangerous edge each, and nothing known of the new node.
    let graphs = procedure.split("class=\"graphs\"").nth(1).unwrap();
    assert_eq!(graphs.matches("<svg").count(), 2);
    assert_eq!(graphs.matches("class=\"edge dangerous\"").count(), 2, "{procedure}");
    // The legend has a picture of every kind of line.
    let legend = procedure.split("class=\"legend\"").nth(1).unwrap().split("</ul>").next().unwrap();
    for class in ["edge matched\"", "edge dangerous\"", "edge unvisited\"", "edge matched never\""]
    {
        assert!(legend.contains(class), "{class}: {legend}");
    }
    assert!(said.contains("6 tests enter it") && procedure.contains("href=\"#entered\""), "{said}");
    assert!(said.contains("line 47, 3 tests, differs") && said.contains("line 47, differs"));
    let tests = text(&before["tests/1.html"]);
    assert!(tests.contains("cli/median-even selected"), "{tests}");
    assert!(
        tests.contains("in stats_median, on T of count % 2 == 0, to lib/stats.c:47"),
        "{tests}"
    );
    assert!(tests.contains("It enters procedures that changed, but takes no edge"), "{tests}");
    assert!(
        text(&before["files.html"])
            .contains("1 line, new, changed or behind a change, did not run yet")
    );
    // Nothing is left to select when the tests have run, and the report is of these.
    project.edit(
        "lib/stats.c",
        "return values[middle];",
        "if (count == 99)\n        return 0;\n    return values[middle];",
    );
    project.ok(&["test"]);
    let after = report(&project);
    let index = text(&after["index.html"]);
    assert!(index.contains("Nothing changed since the last tests"), "{index}");
    let files = text(&after["files.html"]);
    assert!(
        files.contains("lib/stats.c:49: new or changed in stats_median, and no test reaches it"),
        "{files}"
    );
    assert!(
        files.contains(
            "lib/stats.c:48: new or changed in stats_median, and in no test count == 99 is true"
        ),
        "{files}"
    );
    assert!(text(&after["procedures/1.html"]).contains("line 47, 3 tests, differs"));
}

/// By what it declares, by who uses it: a file need not have code in it to select tests.
#[test]
fn the_summary_counts_the_tests_behind_every_changed_file() {
    let project = Project::empty();
    project.write("shape.h", "struct shape { int width; int height; };\n");
    project.write(
        "main.c",
        "#include <stdio.h>\n#include \"shape.h\"\nint main(int argc, char **argv)\n{\n    struct shape s = {argc, 2};\n    \
         (void)argv;\n    if (argc > 1)\n        printf(\"%d\\n\", s.width);\n    return 0;\n}\n",
    );
    project.write("data.txt", "1\n");
    project.write("Makefile", "prog: main.c shape.h\n\t$(CC) -g -O1 -o prog main.c\n");
    project.write_config();
    project.write("tests.list", "reads cat data.txt && ./prog\nprints ./prog a\nnothing ./prog\n");
    project.record();
    project.write("data.txt", "2\n");
    let pages = report(&project);
    let index = text(&pages["index.html"]);
    assert!(index.contains("data.txt changed: selects the tests that use it01"), "{index}");
    assert!(!index.contains("Did not pass"), "{index}");
    assert!(!text(&pages["files.html"]).contains(" . "), "the directory is no source");
    project.write("shape.h", "struct shape { long width; int height; };\n");
    let index = text(&report(&project)["index.html"]);
    let row = index.split("shape.h changed").nth(1).unwrap_or_else(|| panic!("{index}"));
    assert!(!row.trim_start().starts_with(": compared procedure by procedure00"), "{index}");
    project.write("tests.list", "reads false\nprints ./prog a\nnothing ./prog\n");
    project.edgewise(&["test"]);
    let index = text(&report(&project)["index.html"]);
    assert!(index.contains("Did not pass 1 "), "{index}");
}

/// The page of a source.
fn page_of<'p>(pages: &'p BTreeMap<String, String>, file: &str) -> &'p str {
    let title = format!("<title>{file} ");
    let mut found =
        pages.iter().filter(|(name, page)| name.starts_with("files/") && page.contains(&title));
    found.next().unwrap_or_else(|| panic!("no page of {file}")).1
}

/// The numbers of the lines of a source that are marked as changed.
fn marked(page: &str) -> Vec<u32> {
    let rows = page.split("<tr id=\"L").skip(1);
    let rows = rows.filter(|row| row.contains("</a> +</td>"));
    rows.map(|row| row.split('"').next().unwrap().parse().unwrap()).collect()
}

/// The number beside a line leads to the names of the tests that reach it.
#[test]
fn the_page_of_a_source_names_who_reaches_a_line() {
    let source = "#include <stdio.h>\nint main(int argc, char **argv)\n{\n    (void)argv;\n    \
                  if (argc > 1)\n        puts(\"some\");\n    else\n        puts(\"none\");\n    \
                  return 0;\n}\n";
    let names: Vec<String> = (0..12).map(|number| format!("many{number:02}")).collect();
    let mut tests: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    tests.push(("alone", ""));
    let project = Project::of_source(source, &tests);
    project.record();
    let pages = report(&project);
    let page = page_of(&pages, "main.c");
    let said = text(page);
    assert!(said.contains("line 8 1 test: t/alone "), "{said}");
    assert!(said.contains("line 6 12 tests: t/many00, t/many01, "), "{said}");
    assert!(
        said.contains("t/many09 and 2 more, which edgewise history show main.c:6 names"),
        "{said}"
    );
    assert!(said.contains("lines 2 to 5, 9 13 tests: t/alone, t/many00, "), "{said}");
    let row = page.split("<tr id=\"L8\"").nth(1).unwrap().split("</tr>").next().unwrap();
    let group = attributes(row, "href=\"#g").next().unwrap();
    let named = page.split(&format!("<dt id=\"g{group}\"")).nth(1).unwrap();
    assert!(named.split("</dd>").next().unwrap().contains(">t/alone</a>"), "{named}");
}

fn in_git(project: &Project, arguments: &[&str]) {
    let mut git = std::process::Command::new("git");
    git.current_dir(project.root()).args(["-c", "user.name=t", "-c", "user.email=t@t"]);
    assert!(git.args(arguments).output().unwrap().status.success(), "{arguments:?}");
}

/// A header has no code of its own: what counts is who depends on what changed in it.
#[test]
fn the_page_of_a_header_says_who_depends_on_it() {
    let project = Project::empty();
    project.write(
        "shape.h",
        "struct shape {\n    int width;\n    int height;\n};\n#define LIMIT 10\nint unused(void);\n",
    );
    project.write("other.h", "#define STEP 1\n");
    project.write(
        "area.c",
        "#include \"shape.h\"\nint area(struct shape *s)\n{\n    return s->width * s->height;\n}\n",
    );
    project.write(
        "main.c",
        "#include \"shape.h\"\n#include \"other.h\"\nint area(struct shape *s);\nint main(int argc, char **argv)\n{\n    \
         struct shape s = {argc, 2};\n    (void)argv;\n    if (argc > LIMIT)\n        return 0;\n    \
         return area(&s) < STEP;\n}\n",
    );
    project.write(
        "Makefile",
        "prog: main.c area.c shape.h other.h\n\t$(CC) -g -O1 -o prog main.c area.c\n",
    );
    project.write_config();
    project.write("tests.list", "one ./prog\ntwo ./prog a\n");
    project.write(".gitignore", ".edgewise\nprog\n");
    in_git(&project, &["init", "-q"]);
    in_git(&project, &["add", "-A"]);
    in_git(&project, &["commit", "-qm", "first"]);
    project.record();
    let unchanged = report(&project);
    let page = text(page_of(&unchanged, "shape.h"));
    assert!(page.contains("Included by area.c, main.c."), "{page}");
    assert!(!page.contains("What depends on"), "{page}");

    project.edit("shape.h", "    int width;\n", "    /* in metres */\n    long width;\n");
    project.edit("shape.h", "int unused(void);\n", "");
    let pages = report(&project);
    let page = page_of(&pages, "shape.h");
    let said = text(page);
    assert_eq!(marked(page), [2, 3], "{said}");
    assert!(said.contains("1 line here is gone"), "{said}");
    assert!(said.contains("Procedures elsewhere that are others because of it:"), "{said}");
    assert!(said.contains("area (area.c:2): 2 tests"), "{said}");
    assert!(page.contains("#d1\">2 tests</a>"), "{page}");
    assert!(said.contains("2 tests are selected for it: t/one t/two"), "{said}");
    assert!(pages["index.html"].contains("#tests\">2</a>"), "{}", pages["index.html"]);

    // Two headers that main is made of changed: which of them is the cause is not known.
    project.edit("shape.h", "LIMIT 10", "LIMIT 20");
    project.edit("other.h", "STEP 1", "STEP 3");
    let said = text(page_of(&report(&project), "other.h"));
    assert!(
        said.contains("which one makes the difference is not known: main (main.c:4)"),
        "{said}"
    );

    // Without the old text, what reasons name is marked, and that is said.
    std::fs::remove_dir_all(project.path(".git")).unwrap();
    let pages = report(&project);
    let page = page_of(&pages, "shape.h");
    assert!(text(page).contains("Which lines changed is not known"), "{}", text(page));
    assert!(!marked(page).is_empty(), "a reason names the declaration: {page}");
    // What a reason says is code and links, and no backticks.
    let tests = &pages["tests/1.html"];
    assert!(!tests.contains('`'), "{tests}");
    assert!(
        tests.contains("is declared otherwise (<span class=\"path\"><a href=\"../files/"),
        "{tests}"
    );
}

/// They come from the same place as what `edgewise gaps` says.
#[test]
fn gaps_are_those_of_the_command_or_not_known() {
    let project = Project::of_source(
        "int main(int argc, char **argv)\n{\n    (void)argv;\n    return argc > 9;\n}\n",
        &[("one", "")],
    );
    let claims = |pages: &BTreeMap<String, String>| {
        text(&pages["files.html"]).contains("Tests reach all code that is new or changed")
    };
    assert!(!claims(&report(&project)), "there is no history");
    project.record();
    let pages = report(&project);
    assert!(!claims(&pages), "there is no earlier version");
    let files = text(&pages["files.html"]);
    assert!(files.contains("no earlier version to compare with"), "{files}");
    assert!(text(&pages["index.html"]).contains("Gaps not known"), "{}", pages["index.html"]);
    project.edit(
        "main.c",
        "    return argc > 9;",
        "    if (argc > 3) {\n        argc--;\n        argc--;\n    }\n    return argc > 9;",
    );
    assert!(!claims(&report(&project)), "nothing ran yet");
    project.ok(&["test"]);
    let told = project.ok(&["gaps"]);
    let pages = report(&project);
    let (index, files) = (text(&pages["index.html"]), text(&pages["files.html"]));
    let count = told.lines().last().unwrap().split(' ').next().unwrap();
    assert_eq!(count, "2", "{told}");
    assert!(index.contains(&format!("Gaps {count} places")), "{index}");
    for place in told.lines().filter(|line| line.starts_with("main.c:")) {
        assert!(files.contains(&place.replace('`', "")), "{place}: {files}");
    }
    assert!(text(page_of(&pages, "main.c")).contains("2 gaps in new or changed code"));
    // Nothing that could be compared is no claim either.
    std::fs::rename(project.path("main.c"), project.path("main.out")).unwrap();
    let pages = report(&project);
    assert!(!claims(&pages), "{}", text(&pages["files.html"]));
    let output = project.edgewise(&["report", "--html", ".edgewise/report"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!said.contains("1 source could not"), "{said}");
}

#[test]
fn a_source_that_cannot_be_read_is_named() {
    let project = sample();
    project.record();
    let header = project.path("include/units.h");
    let size = std::fs::read(&header).unwrap();
    std::fs::write(&header, [size, vec![b'\n'; 21 << 20]].concat()).unwrap();
    let output = project.edgewise(&["report", "--html", ".edgewise/report"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("hint: include/units.h could not be read: it has "), "{said}");
}

#[test]
fn the_navigation_says_where_one_is() {
    let project = sample();
    project.record();
    change_sample(&project);
    let pages = report(&project);
    for (name, current) in [
        ("index.html", "Summary"),
        ("tests/1.html", "Tests"),
        ("files.html", "Files"),
        ("files/1.html", "Files"),
        ("procedures/1.html", "Changes"),
    ] {
        let marked = pages[name].split(" aria-current=\"").nth(1).unwrap();
        let marked = marked.split('>').nth(1).unwrap().split('<').next().unwrap();
        assert_eq!(marked, current, "{name}");
        assert_eq!(pages[name].matches("aria-current").count(), 1, "{name}");
    }
    // What is counted leads to the list of it.
    let changes = &pages["changes.html"];
    assert!(changes.contains("href=\"procedures/1.html#entered\">6</a>"), "{changes}");
    assert!(changes.contains("href=\"procedures/1.html#d1\">3</a>"), "{changes}");
    assert!(changes.contains("data-label=\"Tests behind these\""), "{changes}");
}

#[test]
fn old_sources_come_from_git_if_they_are_the_recorded_ones() {
    let project = sample();
    let git = |arguments: &[&str]| in_git(&project, arguments);
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "first"]);
    project.record();
    change_sample(&project);
    let page = text(&report(&project)["procedures/1.html"]);
    assert!(!page.contains("The history keeps no sources"), "{page}");
    assert!(page.contains("46 if (count % 2 == 0)46 if (count % 2 == 0)"), "{page}");
    // Another text is not taken for it.
    git(&["commit", "-qam", "second"]);
    git(&["update-ref", "-d", "HEAD"]);
    git(&["commit", "-qam", "other root"]);
    let page = text(&report(&project)["procedures/1.html"]);
    assert!(page.contains("The history keeps no sources"), "{page}");
}

#[test]
fn files_that_are_not_compiled_stand_side_by_side() {
    let project = Project::empty();
    project.write_config();
    project.write("main.c", "#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n");
    project.write("Makefile", "prog: main.c\n\t$(CC) -o prog main.c\n");
    project.write("tests.list", "reads ./prog && cat data/<words>\nother ./prog\n");
    project.write("data/<words>", "one\ntwo\nthree\n");
    project.edit("tests.list", "data/<words>", "'data/<words>'");
    in_git(&project, &["init", "-q"]);
    in_git(&project, &["add", "-A"]);
    in_git(&project, &["commit", "-qm", "first"]);
    project.record();
    project.write("data/<words>", "one\n<b>2</b>\nthree\n");
    project.write("data/picture", "\0\u{1}");
    let pages = report(&project);
    let page = &pages["changes.html"];
    assert!(page.contains("<tr class=\"changed\">"), "{page}");
    assert!(page.contains("<code>two</code>"), "what it was");
    assert!(page.contains("<code>&lt;b&gt;2&lt;/b&gt;</code>"), "{page}");
    assert!(page.contains("What changed in it"), "{page}");
    assert!(text(page).contains("It is not text."), "{page}");
    assert!(pages["index.html"].contains("changes.html#x"), "and the summary leads there");
    // Nobody knows what it was.
    std::fs::remove_dir_all(project.path(".git")).unwrap();
    let page = text(&report(&project)["changes.html"]);
    assert!(page.contains("git does not have this file as it was recorded"), "{page}");
}

/// Generators write names that are relative to where they ran.
#[test]
fn a_source_that_line_markers_name_is_found_where_it_is() {
    let project = Project::empty();
    project.write("src/grammar.y", "%%\nint parse(int n)\n{\n    return n + 1;\n}\n");
    let parse = "#line 2 \"../src/grammar.y\"\nint parse(int n)\n{\n    return n + 1;\n}\n";
    project.write("gen/parse.c", parse);
    project.write("src/lex.l", "\n\nint scan(int n)\n{\n    return n + 2;\n}\n");
    let scan = "#line 3 \"src/lex.l\"\nint scan(int n)\n{\n    return n + 2;\n}\n";
    project.write("gen/scan.c", scan);
    let lost = "#line 3 \"../lost.y\"\nint lost(int n)\n{\n    return n + 3;\n}\n";
    project.write("gen/lost.c", lost);
    let main = "int parse(int), scan(int), lost(int);\nint main(int argc, char **argv)\n{\n    \
                (void)argv;\n    return parse(argc) + scan(argc) + lost(argc) == 0;\n}\n";
    project.write("main.c", main);
    // One is compiled in the root, one in its own directory.
    project.write(
        "Makefile",
        "prog: main.c gen/parse.c gen/scan.c gen/lost.c\n\t$(CC) -c gen/parse.c gen/lost.c\n\t\
         cd gen && $(CC) -c scan.c\n\t$(CC) -o prog main.c parse.o lost.o gen/scan.o\n",
    );
    project.write_config();
    project.write("tests.list", "a ./prog\n");
    project.record();
    let pages = report(&project);
    let page = |name: &str| {
        let heading = format!("<h1>{name}</h1>");
        text(
            pages.values().find(|page| page.contains(&heading)).unwrap_or_else(|| panic!("{name}")),
        )
    };
    assert!(page("src/grammar.y").contains("return n + 1;"), "{}", page("src/grammar.y"));
    assert!(page("src/lex.l").contains("return n + 2;"), "{}", page("src/lex.l"));
    let said = page("lost.y");
    assert!(said.contains("The source cannot be shown: No such file"), "{said}");
    assert!(said.contains("A `#line` names it, and it is neither in the directory of"), "{said}");
    for line in ["src/grammar.y:4", "src/lex.l:5"] {
        let said = project.ok(&["explain", line]);
        assert!(said.contains("return n + ") && said.contains("t/a"), "{said}");
    }
    project.edit("gen/scan.c", "n + 2", "n + 4");
    project.edit("src/lex.l", "n + 2", "n + 4");
    let (_, said) = project.says(&["explain", "scan"]);
    assert!(said.contains("src/lex.l"), "{said}");
}

#[test]
fn names_and_texts_are_no_markup() {
    let source = "\
#include <stdio.h>
#line 4 \"we'ird<b>.c\"
int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        puts(\"<script>alert('&quot;')</script>\");
    return 0;
}
";
    let project = Project::of_source(source, &[]);
    project.write("da\"ta\n<i>.txt", "1\n");
    project.write("tests.list", "<script> ./prog a\n\"><img/src=x> ./prog && cat da*\n");
    project.record();
    project.edit("main.c", "alert('", "alert('2");
    project.write("da\"ta\n<i>.txt", "2\n");
    let pages = report(&project);
    for (name, page) in &pages {
        for wrong in ["<script>", "<img", "<i>", "<b>", "<script>alert"] {
            assert!(!page.contains(wrong), "{wrong} in {name}");
        }
    }
    let tests = text(&pages["tests/1.html"]);
    assert!(tests.contains("t/<script> selected") && tests.contains("t/\"><img/src=x> selected"));
    assert!(text(&pages["changes.html"]).contains("<i>.txt changed, and it uses it"));
    assert!(
        text(&pages["procedures/1.html"]).contains("puts(\"<script>alert('&quot;')</script>\");")
    );
    // The index of the search is JSON in a script.
    let index = pages["search-index.js"].strip_prefix("window.edgewiseIndex = ").unwrap();
    let index: serde_json::Value =
        serde_json::from_str(index.trim_end().trim_end_matches(';')).unwrap();
    assert_eq!(index["tests"][0], "t/<script>");
    assert!(index["files"].as_array().unwrap().iter().any(|f| f == "we'ird<b>.c"), "{index}");
}

#[test]
fn what_is_missing_is_said_and_the_rest_is_shown() {
    let project = sample();
    let nothing = report(&project);
    let index = text(&nothing["index.html"]);
    assert!(index.contains("There is no history yet") && index.contains("Selected 74"), "{index}");
    project.record();
    // A source that is gone.
    std::fs::remove_file(project.path("include/units.h")).unwrap();
    let pages = report(&project);
    let index = text(&pages["index.html"]);
    assert!(index.contains("What is missing here Nothing is known of build/tally"), "{index}");
    assert!(index.contains("include/units.h is gone"), "{index}");
    assert!(text(&pages["files.html"]).contains("lib/stats.c 5454100 %"));
}

#[test]
fn damage_that_selection_does_without_is_said() {
    let project = sample();
    project.record();
    let path = project.path(".edgewise/history");
    let whole = std::fs::read(&path).unwrap();
    let mut said = 0;
    // Where the rows are, and how many bytes they have, is not the same each time.
    for part in 1..200 {
        if part >= 24 && said > 0 {
            break;
        }
        let mut bytes = whole.clone();
        let at = bytes.len() * (part * 59 % 200) / 200;
        bytes[at] ^= 0x40;
        std::fs::write(&path, &bytes).unwrap();
        if !project.edgewise(&["select"]).status.success() {
            continue;
        }
        let index = text(&report(&project)["index.html"]);
        assert!(index.contains("Skipped 74"), "{index}");
        said += usize::from(index.contains("What the tests reach is not known:"));
    }
    assert!(said > 0, "no byte is of the rows alone");
}

#[test]
fn reports_replace_reports_and_nothing_else() {
    let project = sample();
    project.record();
    change_sample(&project);
    let first = report(&project);
    assert_eq!(first, report(&project), "the same input gives the same bytes");
    let output = project.edgewise(&["report", "--html", "lib"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("holds something else") && said.contains("hint:"), "{said}");
    assert!(project.path("lib/stats.c").exists());
}

#[test]
fn one_picture() {
    let project = sample();
    let svg = project.ok(&["cfg", "--svg", "lib/stats.c", "stats_median", "--", "-Iinclude"]);
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""), "{svg}");
    assert!(svg.contains("prefers-color-scheme: dark") && svg.contains("count % 2 == 0"), "{svg}");
    let all = project.edgewise(&["cfg", "--svg", "lib/stats.c", "--", "-Iinclude"]);
    assert_eq!(all.status.code(), Some(2));
    let cases: String = (0..2000).map(|n| format!("if (n == {n}) n *= 3;\n")).collect();
    project.write("large.c", &format!("int f(int n)\n{{\n{cases}return n;\n}}\n"));
    let large = project.edgewise(&["cfg", "--svg", "large.c", "f"]);
    let said = String::from_utf8(large.stderr).unwrap();
    assert_eq!(large.status.code(), Some(2), "{said}");
    assert!(said.contains("too many for a picture") && said.contains("hint:"), "{said}");
}

#[test]
fn a_graph_that_is_too_large_is_a_list() {
    let cases: String = (0..400).map(|n| format!("    if (n == {n})\n        n *= 3;\n")).collect();
    let source = format!("int main(int n, char **v)\n{{\n    (void)v;\n{cases}    return 0;\n}}\n");
    let project = Project::of_source(&source, &[("one", "")]);
    project.record();
    project.edit("main.c", "n == 399)", "n == 1399)");
    let page = &report(&project)["procedures/1.html"];
    assert!(text(page).contains("too many for a picture: its nodes as a list."));
    assert!(text(page).contains("dangerous edge 1"), "the edge is in the list");
    assert!(page.len() < 2 << 20, "{} bytes", page.len());
}

/// A report of 10,000 tests and 5,000 files, without a project behind it.
fn large() -> (Site, String) {
    let line = |number: u32| LineState {
        tests: Some(number as usize * 7 % 10_000),
        group: Some(number as usize % 10),
        is_new: number.is_multiple_of(50),
        gaps: Vec::new(),
    };
    let file = |number: usize| File {
        name: format!("src/part{}/file{number}.c", number % 100),
        lines: (1..200).map(|number| (number, line(number))).collect(),
        procedures: (0..6)
            .map(|p| FileProcedure {
                name: format!("proc{number}_{p}"),
                line: p * 30 + 1,
                is_entered: true,
            })
            .collect(),
        groups: (0..10)
            .map(|group| Group {
                tests: (0..10)
                    .map(|test| {
                        let number = group * 10 + test;
                        format!("suite/group{}/test{number}", number % 37)
                    })
                    .collect(),
                count: 100,
            })
            .collect(),
        note: None,
        is_named: false,
        included_by: Vec::new(),
        changed: None,
    };
    let mut files: Vec<File> = (0..5000).map(file).collect();
    files.sort_by(|a, b| a.name.cmp(&b.name));
    let danger = |tests: Vec<usize>| html::Danger {
        reason: edgewise::select::EdgeReason {
            program: String::from("prog"),
            procedure: String::from("proc1_0"),
            from: source_line("if (n > 3)"),
            edge: String::from("T"),
            old: source_line("return 1;"),
            new: Some(source_line("return 2;")),
            because: String::new(),
            behind: edgewise::select::Behind::default(),
            chain: vec![String::from("main")],
            by: edgewise::select::Rule::Statement,
        },
        tests,
    };
    let procedure = |number: usize| html::Procedure {
        name: format!("proc{number}_0"),
        file: format!("src/part{}/file{number}.c", number % 100),
        line: 1,
        change: Change::Changed,
        programs: vec![String::from("prog")],
        is_excluded: false,
        entered: 9000,
        dangers: vec![danger((0..5000).collect())],
        old: None,
        new: None,
        has_page: true,
        calls: Vec::new(),
        through: Vec::new(),
    };
    let test = |number: usize| Test {
        name: format!("suite/group{}/test{number}", number % 37),
        verdict: if number < 5000 { Verdict::Selected } else { Verdict::Skipped },
        reasons: match number < 5000 {
            true => (0..20).map(|procedure| html::Why::Danger { procedure, danger: 0 }).collect(),
            false => Vec::new(),
        },
        has_failed: false,
        last: Some((String::from("passed"), Duration::from_millis(20))),
        enters: Vec::new(),
    };
    let mut site = Site {
        project: String::from("large"),
        compared: String::from("One version compared with another."),
        tests: (0..10_000).map(test).collect(),
        procedures: (0..20).map(procedure).collect(),
        files,
        ..Site::default()
    };
    site.arrange();
    let text: String =
        (0..250).map(|n| format!("    value += compute(value, {n}); /* line */\n")).collect();
    (site, text)
}

fn source_line(text: &str) -> edgewise::select::SourceLine {
    edgewise::select::SourceLine {
        file: String::from("src/part1/file1.c"),
        line: 3,
        text: text.to_string(),
    }
}

/// Into the directory that `EDGEWISE_LARGE_REPORT` names, if there is one: then a
/// browser can look at it.
#[test]
fn ten_thousand_tests_and_five_thousand_files() {
    let target = std::env::var_os("EDGEWISE_LARGE_REPORT").map(PathBuf::from);
    let began = Instant::now();
    let (site, text) = large();
    let mut largest = 0;
    let mut count = 0;
    let mut look = |page: html::Page| {
        largest = largest.max(page.text.len());
        count += 1;
        if let Some(target) = &target {
            let path = target.join(&page.path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &page.text).unwrap();
        }
    };
    site.pages().for_each(&mut look);
    for number in 0..site.files.len() {
        html::source(&site, number, Ok(&text)).into_iter().for_each(&mut look);
    }
    assert!(count > 5000 && largest < 2 << 20, "{count} pages, the largest of {largest} bytes");
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

/// Tests are selected for its macro, so the page does not deny that the file has an effect.
#[test]
fn the_page_of_a_header_without_code_says_how_it_takes_effect() {
    let source = "#include \"limit.h\"\nint main(int argc, char **argv) { (void)argv; return argc > LIMIT; }\n";
    let project = Project::of_source(source, &[("one", "")]);
    project.write("limit.h", "#define LIMIT 10\n");
    project.record();
    project.write("limit.h", "#define LIMIT 11\n");
    let pages = report(&project);
    let page = pages.values().find(|page| page.contains("<h1>limit.h")).expect("a page");
    assert!(page.contains("take effect in the files that include it"), "{page}");
    assert!(!page.contains("no code that is compared"), "{page}");
}
