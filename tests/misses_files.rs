//! Edits that edgewise once selected too little for, of files that somebody reads of whom
//! nobody thought, and some that it selected too much for. Each stays here under the name it was
//! found by.

use crate::support::Project;
use crate::support::misses::Miss;
use std::path::Path;

/// A project with its own settings and tests, recorded.
fn recorded(ignore: &str, tests: &str, files: &[(&str, &str)]) -> Miss {
    let project = Project::empty();
    project.write(
        "edgewise.toml",
        &format!(
            "ignore = [{ignore}]\n[build]\ncommand = \"make -s\"\n[[suite]]\nname = \"t\"\n\
             kind = \"list\"\nfile = \"tests.list\"\n"
        ),
    );
    project.write("tests.list", tests);
    files.iter().for_each(|(name, text)| project.write(name, text));
    project.record();
    assert!(project.selected().is_empty(), "the same version selects nothing");
    project.ok(&["build"]);
    assert!(project.selected().is_empty(), "nor does building it again");
    Miss { project }
}

const COPIES: &str = "\
prog: t.o lib.o names.o
\t$(CC) -o prog t.o lib.o names.o
inc/api.h: src/api.h
\tmkdir -p inc && cp src/api.h inc/api.h
names.c: src/names.h
\tsed -n 's|^/\\* name: \\(.*\\) \\*/|const char *name = \"\\1\";|p' src/names.h >$@
t.o: t.c inc/api.h
\t$(CC) -w -Iinc -c -o $@ t.c
lib.o: src/lib.c src/api.h src/own.h src/names.h
\t$(CC) -w -Isrc -c -o $@ src/lib.c
names.o: names.c
\t$(CC) -w -c -o $@ names.c
";

/// A unit includes the header, and another one a copy of it that the build makes.
#[test]
fn a_header_that_is_copied() {
    let files = [
        ("Makefile", COPIES),
        ("src/api.h", "#define FIRST 0\nint twice(int n);\n"),
        ("src/own.h", "#define STEP 2\n"),
        ("src/names.h", "/* name: first */\nextern const char *name;\n"),
        (
            "src/lib.c",
            "#include \"api.h\"\n#include \"own.h\"\n#include \"names.h\"\n\
             int twice(int n) { return n * STEP; }\n",
        ),
        (
            "t.c",
            "#include \"api.h\"\n#include <stdio.h>\nextern const char *name;\n\
             int main(void) { printf(\"%d %s\\n\", twice(FIRST), name); return 0; }\n",
        ),
    ];
    let miss = recorded("", "only ./prog\n", &files);
    // What is only included is looked at as ever.
    miss.project.edit("src/own.h", "#define", "/* A comment. */\n#define");
    assert!(miss.project.selected().is_empty());
    miss.edit("src/api.h", "FIRST 0", "FIRST 1", &["only"]);
    let miss = recorded("", "only ./prog\n", &files);
    miss.edit("src/names.h", "name: first", "name: second", &["only"]);
}

const READER: &str = "#include <stdio.h>\nint main(int argc, char **argv)\n{\n    char line[80];\n    \
                      FILE *file = argc > 1 ? fopen(argv[1], \"r\") : NULL;\n    \
                      if (file && fgets(line, 80, file))\n        fputs(line, stdout);\n    return 0;\n}\n";

/// `ignore` names what builds leave, and the data of a test is part of that.
#[test]
fn data_that_the_build_copies_to_an_ignored_directory() {
    let makefile = "all: prog out/data.txt\nprog: main.c\n\t$(CC) -w -o prog main.c\n\
                    out/data.txt: data.txt\n\tmkdir -p out && cp data.txt out/data.txt\n";
    let files = [("Makefile", makefile), ("main.c", READER), ("data.txt", "one\n")];
    let tests = "reads ./prog out/data.txt\nnot ./prog\nlogs ./prog >>out/log; ./prog out/log\n";
    let miss = recorded("\"out/**\"", tests, &files);
    miss.edit("data.txt", "one", "two", &["reads"]);
    let built = miss.project.ok(&["select", "--from-build"]);
    assert_eq!(built, "t/reads\n");
}

/// The same for a file that is said to be documentation.
#[test]
fn an_ignored_file_that_a_test_reads() {
    let makefile = "prog: main.c\n\t$(CC) -w -o prog main.c\n";
    let files = [
        ("Makefile", makefile),
        ("main.c", READER),
        ("tests/data.md", "one\n"),
        ("other.md", "one\n"),
    ];
    let miss = recorded("\"*.md\"", "reads ./prog tests/data.md\nnot ./prog\n", &files);
    miss.project.edit("other.md", "one", "two");
    assert!(miss.project.selected().is_empty());
    miss.edit("tests/data.md", "one", "two", &["reads"]);
    assert_eq!(miss.project.selected(), ["reads"]);
}

/// Runs edgewise where a shell would after `cd` to a link, and returns the names of tests.
fn through(project: &Project, link: &Path, arguments: &[&str]) -> Vec<String> {
    let mut command = project.command();
    command.current_dir(link).env("PWD", link).args(arguments);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(String::from).collect()
}

/// The build spells its files by the name of a link to the project, as CMake does.
#[test]
fn a_project_behind_a_link() {
    let home = tempfile::tempdir().unwrap();
    let link = home.path().join("link");
    let project = Project::empty();
    std::os::unix::fs::symlink(project.root(), &link).unwrap();
    project.write(
        "Makefile",
        "prog: main.c names.c include/twice.h\n\t\
         $(CC) -I$(PWD)/include -c -o $(PWD)/names.o $(PWD)/names.c\n\t\
         $(CC) -I$(PWD)/include -o $(PWD)/prog $(PWD)/main.c $(PWD)/names.o\n\
         names.c: include/names.h\n\t\
         sed -n 's|^/\\* name: \\(.*\\) \\*/|const char *name = \"\\1\";|p' $< >$@\n",
    );
    project
        .write("include/twice.h", "/* Two. */\nstatic int twice(int n)\n{\n    return n + n;\n}\n");
    project.write("include/names.h", "/* name: first */\nextern const char *name;\n");
    project.write(
        "main.c",
        "#include <stdio.h>\n#include \"twice.h\"\n#include \"names.h\"\n/* Start. */\n\
         int main(int argc, char **argv)\n{\n    (void)argv;\n    if (argc > 1)\n        \
         printf(\"%d\\n\", twice(argc));\n    puts(name);\n    return 0;\n}\n",
    );
    project.write_config();
    project.write("tests.list", "none ./prog\none ./prog a\n");
    through(&project, &link, &["build"]);
    through(&project, &link, &["run"]);
    let select = || {
        let selected = through(&project, &link, &["select"]);
        assert_eq!(through(&project, project.root(), &["select"]), selected, "by its own name");
        selected
    };
    assert!(select().is_empty());
    // Comments are none, wherever they stand.
    project.edit("include/twice.h", "Two", "2");
    assert!(select().is_empty());
    project.edit("main.c", "Start", "The start");
    assert!(select().is_empty());
    // But where somebody else reads them.
    project.edit("include/names.h", "first", "second");
    assert_eq!(select(), ["t/none", "t/one"]);
    project.edit("include/names.h", "second", "first");
    assert!(select().is_empty());
    project.edit("include/twice.h", "return n + n;", "return 2 * n;");
    assert_eq!(select(), ["t/one"]);
    let reasons = project.select_json(&[]);
    assert_eq!(reasons["selected"][0]["reasons"][0]["new"]["file"], "include/twice.h", "{reasons}");
    through(&project, &link, &["build"]);
    assert_eq!(through(&project, &link, &["select", "--from-build"]), ["t/one"]);
    project.edit("include/twice.h", "return 2 * n;", "return n + n;");
    assert!(select().is_empty());

    // Where the link leads to another project, the recorded commands are not this project's own.
    let other = Project::empty();
    crate::support::copy(project.root(), other.root());
    other.edit("include/twice.h", "return n + n;", "return n * 3;");
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(other.root(), &link).unwrap();
    let why = String::from_utf8(project.edgewise(&["select"]).stderr).unwrap();
    assert!(why.contains("is not known to be this project's own"), "{why}");
    assert_eq!(through(&project, project.root(), &["select"]), ["t/none", "t/one"]);
    std::fs::remove_file(&link).unwrap();
    assert_eq!(through(&project, project.root(), &["select"]), ["t/none", "t/one"]);
}

/// A header that a program is made of, and that one of which nobody sees what it opens prints.
#[test]
fn a_static_program_that_reads_a_header() {
    let files = [
        (
            "Makefile",
            "all: show prog\nshow: show.c\n\t$(CC) -static -o $@ show.c\nprog: prog.c api.h\n\t$(CC) -o $@ prog.c\n",
        ),
        ("show.c", READER),
        ("api.h", "#define FIRST 0\n"),
        ("prog.c", "#include \"api.h\"\nint main(void) { return FIRST; }\n"),
    ];
    let miss = recorded("", "shown ./show api.h\nelse ./show Makefile\nrun ./prog\n", &files);
    miss.edit("api.h", "#define FIRST", "/* A comment. */\n#define FIRST", &["shown"]);
    let said = miss.project.ok(&["explain", "t/else"]);
    assert!(said.contains("which files it used is not known: "), "{said}");
}

/// ccache reads what it looks up, and preprocesses it: nothing else becomes of that.
#[test]
fn sources_that_ccache_reads() {
    let makefile = "export CCACHE_DIR := $(CURDIR)/cache\nprog: main.o part.o\n\t$(CC) -o $@ main.o part.o\n\
                    %.o: %.c part.h Makefile\n\tccache $(CC) -c -o $@ $<\n";
    let files = [
        ("Makefile", makefile),
        ("part.h", "int part(int n);\n"),
        ("part.c", "#include \"part.h\"\nint part(int n)\n{\n    return n;\n}\n"),
        (
            "main.c",
            "#include \"part.h\"\nint main(int argc, char **argv)\n{\n    (void)argv;\n    \
             return argc > 1 ? part(0) : 0;\n}\n",
        ),
    ];
    let Miss { project } = recorded("\"cache/**\"", "none ./prog\npart ./prog x\n", &files);
    // From the cache.
    std::fs::remove_file(project.path("prog")).unwrap();
    std::fs::remove_file(project.path("part.o")).unwrap();
    project.ok(&["build"]);
    assert!(project.selected().is_empty());
    project.edit("part.c", "return n;", "return n + 0;");
    assert_eq!(project.selected(), ["part"]);
    project.edit("part.h", "int part", "/* A comment. */\nint part");
    assert_eq!(project.selected(), ["part"]);
}
