//! What is said of a source that does not parse, and that what parses selects no more than
//! it has to: literals, identifiers and attributes of any spelling.

use crate::support::misses::{ALL, Miss, main_with};

/// What `select` says of all tests, as text.
fn reasons(miss: &Miss) -> String {
    miss.project.select_json(&[]).to_string()
}

#[test]
fn a_source_that_does_not_parse() {
    let twice = "int twice(int n)\n{\n    return 2 * n;\n}\n";
    let main = main_with("int twice(int);", "printf(\"%d\\n\", twice(a));");
    let miss = Miss::new(&[("main.c", &main), ("src.c", twice)]);
    for (text, place) in [
        (
            format!("int broken( {{\n{twice}"),
            "src.c:1: does not parse: expected a parameter before `{`",
        ),
        (format!("{twice}\nint x = ;\n"), "src.c:6: does not parse: expected an expression"),
        (format!("{twice}}}\n"), "src.c:5: does not parse: expected a name before `}`"),
        (format!("{twice}int y"), "src.c:5: does not parse: expected"),
    ] {
        miss.project.write("src.c", &text);
        let mut selected = miss.project.selected();
        selected.sort();
        assert_eq!(selected, ["one", "two", "zero"]);
        let said = reasons(&miss);
        assert!(said.contains(place), "{place}: {said}");
        for false_word in ["constructors", "was no part of it", "defines any more"] {
            assert!(!said.contains(false_word), "{false_word}: {said}");
        }
    }
    // A body alone concerns the tests that enter it.
    miss.project.write("src.c", &twice.replace("2 * n;", "2 * ;"));
    assert_eq!(miss.project.selected().len(), ALL.len());
    let said = reasons(&miss);
    assert!(said.contains("cannot be analysed any more") && said.contains("src.c:3"), "{said}");
    miss.project.write("src.c", twice);
    assert!(miss.project.selected().is_empty());
}

/// Selects this test and no other, also from the build.
#[track_caller]
fn only(miss: &Miss, from: &str, to: &str, expected: &[&str]) {
    miss.project.edit("main.c", from, to);
    assert_eq!(miss.project.selected(), expected, "{}", reasons(miss));
    miss.expect(expected);
}

#[test]
fn raw_strings_select_no_more_than_others() {
    let declarations = "static const char *const text = R\"x(a \" b\n# 5\n\n)x\";";
    let body =
        "if (a == 1) puts(text); else if (a == 2) puts(R\"(one\n\ntwo)\"); else puts(\"none\");";
    only(&Miss::of_main(declarations, body), "# 5", "# 6", &["one"]);
    only(&Miss::of_main(declarations, body), "one\n\ntwo", "one\ntwo", &["two"]);
    only(&Miss::of_main(declarations, body), "none", "nothing", &["zero"]);
}

#[test]
fn identifiers_in_utf_8_select_no_more_than_others() {
    let declarations = "static int größe = 3;\nint \\u00e9t\\u00e9 = 1;\n\
        int maß(int n) { return n + größe; }\nstatic int other(int n) { return n * 2; }";
    let body = "if (a == 1) printf(\"%d\\n\", maß(a)); else printf(\"%d %d\\n\", other(a), été);";
    only(&Miss::of_main(declarations, body), "n + größe", "n - größe", &["one"]);
    only(&Miss::of_main(declarations, body), "größe = 3", "größe = 4", &["one"]);
    only(&Miss::of_main(declarations, body), "\\u00e9 = 1", "\\u00e9 = 2", &["two", "zero"]);
}

#[test]
fn words_of_attributes_are_no_symbols() {
    let declarations = "static int one(const char *text) { return text[0]; }\n\
        static int other(int n) { return n * 2; }";
    let body = "if (a == 1) printf(\"%d\\n\", one(\"x\")); else printf(\"%d\\n\", other(a));";
    for attribute in [
        "__attribute__((visibility(\"default\")))",
        "__attribute__((noinline, format(gnu_printf, 1, 0)))",
        "[[gnu::nonnull(1), gnu::__access__(read_only, 1)]]",
    ] {
        let to = format!("{attribute} static int one");
        only(&Miss::of_main(declarations, body), "static int one", &to, &["one"]);
    }
    let asm = "asm(\"\" : [value] \"+r\"(n)); return n * 2;";
    only(&Miss::of_main(declarations, body), "return n * 2;", asm, &["two", "zero"]);
    let goes = "asm goto(\"\" : : : : elsewhere); elsewhere: return n * 2;";
    only(&Miss::of_main(declarations, body), "return n * 2;", goes, &["two", "zero"]);
    let typed = "int v __attribute__((mode(DI))) = n; return v * 2;";
    only(&Miss::of_main(declarations, body), "return n * 2;", typed, &["two", "zero"]);
}

/// What a unit declares that does not parse is not known: nothing is told of it.
#[test]
fn declarations_of_a_source_that_does_not_parse_are_not_told_as_gone_or_changed() {
    let main = main_with("int two(int);", "printf(\"%d\\n\", two(a));");
    let source = "static int one(int x)\n{\n    return x;\n}\n\nint two(int x)\n{\n    \
                  int y = one(x);\n    return y;\n}\n";
    let miss = Miss::new(&[("main.c", &main), ("src.c", source)]);
    miss.project.edit("src.c", "one(x);", "one(x;");
    let test = miss.project.ok(&["select"]).lines().next().unwrap().to_string();
    let mut outputs: Vec<String> = [
        &["explain", test.as_str()][..],
        &["select", "--format", "markdown"],
        &["select", "--format", "annotations"],
    ]
    .map(|arguments| miss.project.ok(arguments))
    .into();
    miss.project.ok(&["report", "--html", "report"]);
    outputs.push(miss.project.read("report/changes.html"));
    for output in &outputs {
        assert!(output.contains("does not parse"), "{output}");
        for false_words in ["no longer defined", "is gone", "declared otherwise", "a variable, in"]
        {
            assert!(!output.contains(false_words), "{false_words}: {output}");
        }
    }
    assert!(!outputs[1].contains("`main`") && !outputs[1].contains("`one`"), "{}", outputs[1]);
    let function = miss.project.ok(&["explain", "two"]);
    assert!(
        function.contains("whether it changed is not known: src.c does not parse"),
        "{function}"
    );
    // A function of another source is still compared.
    miss.project.edit("main.c", "two(a)", "two(a + 1)");
    let markdown = miss.project.ok(&["select", "--format", "markdown"]);
    assert!(markdown.contains("| `main` |"), "{markdown}");
}
