//! Edits that edgewise once selected too little for, of files that have several names: by symbolic
//! links, hard links, and names that are not UTF-8. Each stays here under the name it was found by.

use crate::support::Project;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

/// Does one thing with the path that it is given.
const TOOL: &str = r#"
#define _GNU_SOURCE
#include <dirent.h>
#include <fts.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
static int count;
static int each(const char *path, const struct stat *status, int type) { return count++, 0; }
static int each_new(const char *path, const struct stat *status, int type, struct FTW *at) { return count++, 0; }
static void walk(char *path, int options, int follow)
{
    char *paths[] = {path, NULL};
    FTS *tree = fts_open(paths, options, NULL);
    FTSENT *entry;
    while (tree && (entry = fts_read(tree))) {
        count++;
        if (follow && entry->fts_info == FTS_SL)
            fts_set(tree, entry, FTS_FOLLOW);
    }
}
int main(int argc, char **argv)
{
    const char *how = argv[1];
    char *path = argv[2], text[200] = "";
    struct stat status;
    FILE *file;
    if (!strcmp(how, "ls")) {
        DIR *directory = opendir(path);
        while (directory && readdir(directory))
            count++;
    } else if (!strcmp(how, "cat")) {
        if ((file = fopen(path, "r")))
            fgets(text, sizeof text, file);
    } else if (!strcmp(how, "stat")) {
        count = stat(path, &status) ? -1 : (int)status.st_size;
    } else if (!strcmp(how, "readlink")) {
        readlink(path, text, sizeof text - 1);
    } else if (!strcmp(how, "tz")) {
        time_t now = 0;
        setenv("TZ", path, 1);
        tzset();
        count = localtime(&now)->tm_hour;
    } else if (!strcmp(how, "ftw")) {
        ftw(path, each, 10);
    } else if (!strcmp(how, "nftw")) {
        nftw(path, each_new, 10, 0);
    } else if (!strcmp(how, "nftw-physical")) {
        nftw(path, each_new, 10, FTW_PHYS);
    } else if (!strcmp(how, "fts")) {
        walk(path, FTS_LOGICAL, 0);
    } else if (!strcmp(how, "fts-set")) {
        walk(path, FTS_PHYSICAL, 1);
    }
    printf("%s %d %s\n", how, count, text);
    return 0;
}
"#;

/// Tests that use files by names that links make, in two projects in which the links come before
/// and behind what they lead to: a directory is read in any order.
struct Linked {
    project: Project,
}

fn link(project: &Project, name: &str, target: impl AsRef<Path>) {
    symlink(target, project.path(name)).expect("a link");
}

fn recorded(tests: &str, prepare: impl Fn(&Project)) -> Linked {
    let project = Project::empty();
    project.write_config();
    project.write("Makefile", "prog: tool.c\n\t$(CC) -w -o prog tool.c\n");
    project.write("tool.c", TOOL);
    project.write("tests.list", tests);
    prepare(&project);
    project.record();
    assert!(project.selected().is_empty(), "the same version selects nothing");
    Linked { project }
}

/// Names of the tests that are selected from the programs as they are built.
fn from_build(project: &Project) -> Vec<String> {
    project.ok(&["build"]);
    let said = project.ok(&["select", "--from-build"]);
    let mut names: Vec<String> =
        said.lines().map(|line| line.rsplit('/').next().unwrap_or(line).to_string()).collect();
    names.sort();
    names
}

impl Linked {
    #[track_caller]
    fn expect(&self, expected: &[&str]) {
        let expected = sorted(expected);
        assert_eq!(self.project.selected(), expected, "from sources");
        assert_eq!(from_build(&self.project), expected, "from the build");
    }
}

/// Names of which one is a directory and the others links to it.
fn linked_directory(tests: &str) -> Vec<Linked> {
    ["data", "mmm", "zzz"]
        .map(|real| {
            let tests = tests.replace("REAL", real);
            recorded(&tests, |project| {
                project.write(&format!("{real}/one.txt"), "one\n");
                project.write("other/x.txt", "x\n");
                link(project, "kkk", real);
                link(project, "chain", "kkk");
                link(project, "nnn", project.path(real));
                project.write("deep/er/y.txt", "y\n");
                link(project, "deep/er/up", "../..");
                link(project, "deep/up", format!("../{real}"));
            })
        })
        .into()
}

const LISTS: &str = "by-chain ./prog ls chain\nby-link ./prog ls kkk\nby-absolute ./prog ls nnn\n\
                     by-name ./prog ls REAL\nby-parent ./prog ls deep/er/up/deep/up\nother ./prog ls other\n\
                     physical ./prog nftw-physical deep\nlooks ./prog stat kkk/new.txt\n\
                     looks-chain ./prog cat chain/new.txt\n\
                     fts ./prog fts deep\nfts-set ./prog fts-set deep\nftw ./prog ftw deep\nnftw ./prog nftw deep\n";

fn sorted(names: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
    names.sort();
    names
}

/// Whatever name of a directory a test lists it by, a new file in it is seen.
#[test]
fn a_directory_that_a_link_also_leads_to_is_listed() {
    for linked in linked_directory(LISTS) {
        let project = &linked.project;
        project.write("kkk/new.txt", "new\n");
        let selected = project.selected();
        let expected = sorted(&[
            "by-absolute",
            "by-chain",
            "by-link",
            "by-name",
            "by-parent",
            "fts",
            "fts-set",
            "ftw",
            "looks",
            "looks-chain",
            "nftw",
        ]);
        assert_eq!(selected, expected);
    }
}

const USES: &str = "stat-link ./prog stat kkk/one.txt\nstat-name ./prog stat REAL/one.txt\n\
                    stat-chain ./prog stat deep/up/one.txt\ncat-link ./prog cat nnn/one.txt\n\
                    dots ./prog stat deep/er/up/kkk/../kkk/one.txt\nother ./prog stat other/x.txt\n";

/// Whatever name of a file a test asks for, an edit of it is seen, and so is its end.
#[test]
fn a_file_that_a_link_also_leads_to_is_asked_for() {
    let expected = sorted(&["cat-link", "dots", "stat-chain", "stat-link", "stat-name"]);
    for linked in linked_directory(USES) {
        let project = &linked.project;
        project.write("kkk/one.txt", "another\n");
        let selected = project.selected();
        assert_eq!(selected, expected, "edited");
        project.ok(&["test"]);
        assert!(project.selected().is_empty(), "until the tests ran");
        std::fs::remove_file(project.path("kkk/one.txt")).expect("removed");
        let selected = project.selected();
        assert_eq!(selected, expected, "gone");
    }
}

/// A test looked for a file below a name that became a link to a directory with that file.
#[test]
fn a_link_that_is_made_after_recording() {
    let tests = "looks ./prog stat late/one.txt\nlists ./prog ls late\nother ./prog ls other\n";
    let linked = recorded(tests, |project| {
        project.write("data/one.txt", "one\n");
        project.write("other/x.txt", "x\n");
    });
    link(&linked.project, "late", "data");
    linked.expect(&["looks", "lists"]);
}

/// A link leads to another directory, or to another file with the same text.
#[test]
fn a_link_that_leads_elsewhere() {
    let tests = "by-link ./prog cat current/one.txt\nlists ./prog ls current\n\
                 name ./prog readlink name.txt\ntext ./prog cat name.txt\n\
                 direct ./prog cat v1/one.txt\n";
    let prepare = |project: &Project| {
        project.write("v1/one.txt", "one\n");
        project.write("v2/one.txt", "two\n");
        project.write("v2/two.txt", "two\n");
        project.write("a.txt", "same\n");
        project.write("b.txt", "same\n");
        link(project, "current", "v1");
        link(project, "name.txt", "a.txt");
    };
    let linked = recorded(tests, prepare);
    std::fs::remove_file(linked.project.path("current")).expect("removed");
    link(&linked.project, "current", "v2");
    linked.expect(&["by-link", "lists"]);
    let linked = recorded(tests, prepare);
    std::fs::remove_file(linked.project.path("name.txt")).expect("removed");
    link(&linked.project, "name.txt", "b.txt");
    linked.expect(&["name", "text"]);
}

/// A link leads out of the project, to a directory with a link that leads back; another one leads
/// to the same directory outside.
#[test]
fn a_link_that_leads_out_and_back() {
    let outside = tempfile::tempdir().expect("a directory");
    let tests = "back ./prog cat out/back/one.txt\nlists ./prog ls out/back\n\
                 again ./prog cat again/own.txt\nother ./prog ls other\n";
    let linked = recorded(tests, |project| {
        project.write("data/one.txt", "one\n");
        project.write("other/x.txt", "x\n");
        std::fs::write(outside.path().join("own.txt"), "own\n").expect("written");
        let _ = symlink(project.path("data"), outside.path().join("back"));
        let _ = symlink(".", outside.path().join("self"));
        link(project, "out", outside.path());
        link(project, "again", outside.path());
    });
    linked.project.write("data/one.txt", "two\n");
    linked.expect(&["back"]);
    linked.project.ok(&["test"]);
    linked.project.write("data/two.txt", "two\n");
    linked.expect(&["lists"]);
    linked.project.ok(&["test"]);
    std::fs::write(outside.path().join("own.txt"), "another\n").expect("written");
    assert!(linked.project.selected().contains(&String::from("again")));
}

/// Two names of one file, neither of which is a link.
#[test]
fn a_hard_link_in_the_project() {
    let tests = "first ./prog cat one.txt\nsecond ./prog cat sub/two.txt\nother ./prog ls other\n";
    let linked = recorded(tests, |project| {
        project.write("one.txt", "one\n");
        project.write("sub/x.txt", "x\n");
        project.write("other/x.txt", "x\n");
        std::fs::hard_link(project.path("one.txt"), project.path("sub/two.txt")).expect("a link");
    });
    linked.project.write("one.txt", "another\n");
    linked.expect(&["first", "second"]);
}

const BUILD: &str = "\
prog: main.o gen.o
\t$(CC) -o prog main.o gen.o
main.o: main.c real/conf.h
\t$(CC) -w -Ilink -Iheaders -c -o main.o main.c
gen.c: real/names.txt
\t(printf 'const char *names = \"'; cat link/list/*.txt | tr '\\n' ' '; cat link/names.txt | tr -d '\\n'; \
cat link/extra.txt 2>/dev/null | tr -d '\\n'; echo '\";') >gen.c
gen.o: gen.c
\t$(CC) -w -c -o gen.o gen.c
.PHONY: gen.c
";

/// What a build reads, lists and looks for by the name of a link.
#[test]
fn a_build_that_reads_by_the_name_of_a_link() {
    for (real, other) in [("real", "aaa"), ("real", "zzz")] {
        let project = Project::empty();
        project.write_config();
        project.write("Makefile", &BUILD.replace("link", other));
        project.write("tests.list", "only ./prog\n");
        project.write(&format!("{real}/conf.h"), "#define STEP 1\n");
        project.write(&format!("{real}/names.txt"), "names\n");
        project.write(&format!("{real}/list/a.txt"), "a\n");
        project.write("src/inner.h", "#define INNER 1\n");
        project.write("headers/x.txt", "\n");
        link(&project, "headers/inner.h", "../src/inner.h");
        link(&project, other, real);
        project.write(
            "main.c",
            "#include <stdio.h>\n#include \"conf.h\"\n#include \"inner.h\"\nextern const char *names;\n\
             int main(void) { printf(\"%s %d\\n\", names, STEP + INNER); return 0; }\n",
        );
        project.record();
        assert!(project.selected().is_empty(), "the same version selects nothing");
        // What is only included is compared as code, whatever its name.
        for header in [&format!("{real}/conf.h"), "src/inner.h"] {
            project.edit(header, "#define", "/* A comment. */\n#define");
            assert_eq!(project.selected(), Vec::<String>::new(), "{header}");
        }
        let changed = |what: &str| {
            let selected = project.selected();
            assert!(selected.contains(&String::from("only")), "{what}: {selected:?}");
            let built = from_build(&project);
            assert!(built.contains(&String::from("only")), "{what}, from the build: {built:?}");
            project.ok(&["test"]);
            assert!(project.selected().is_empty(), "{what}, after the tests ran");
        };
        project.edit("src/inner.h", "INNER 1", "INNER 2");
        assert_eq!(project.selected(), ["only"], "a header behind a link");
        project.edit(&format!("{real}/conf.h"), "STEP 1", "STEP 2");
        assert_eq!(project.selected(), ["only"], "a header in a linked directory");
        changed("headers");
        project.edit(&format!("{real}/names.txt"), "names", "others");
        changed("an input of a generator");
        project.write(&format!("{real}/list/b.txt"), "b\n");
        changed("a listed directory");
        project.write(&format!("{real}/extra.txt"), "extra\n");
        changed("an optional input");
    }
}

/// A unit includes a header by way of a link that leads elsewhere since, to a header that is older
/// than the object: make has nothing to do.
#[test]
fn a_build_whose_link_leads_elsewhere() {
    let project = Project::empty();
    project.write_config();
    project.write(
        "Makefile",
        "prog: main.c\n\t$(CC) -w -Icurrent -o prog main.c\nclean:\n\trm -f prog\n",
    );
    project.write("tests.list", "only ./prog\n");
    project.write("v1/conf.h", "#define STEP 1\n");
    project.write("v2/conf.h", "#define STEP 2\n");
    link(&project, "current", "v1");
    project.write(
        "main.c",
        "#include <stdio.h>\n#include \"conf.h\"\nint main(void) { return !printf(\"%d\\n\", STEP); }\n",
    );
    project.record();
    assert!(project.selected().is_empty(), "the same version selects nothing");
    std::fs::remove_file(project.path("current")).expect("removed");
    link(&project, "current", "v2");
    assert_eq!(project.selected(), ["only"], "from sources");
    assert_eq!(from_build(&project), ["only"], "from a build that did nothing");
    std::fs::remove_file(project.path("prog")).expect("removed");
    assert_eq!(from_build(&project), ["only"], "from a build of everything");
    project.ok(&["test"]);
    assert!(project.selected().is_empty() && from_build(&project).is_empty(), "after that");
}

/// A name that is not UTF-8, with one of two bytes that are no text.
fn odd(start: &str, byte: u8, end: &str) -> OsString {
    OsString::from_vec([start.as_bytes(), &[byte], end.as_bytes()].concat())
}

fn write(project: &Project, name: &OsString, text: &str) {
    let path = project.root().join(name);
    std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
    std::fs::write(path, text).expect("written");
}

/// A list of tests whose commands name files by bytes.
fn list(lines: &[(&str, &str, OsString)]) -> Vec<u8> {
    let line = |(name, how, path): &(&str, &str, OsString)| {
        [name.as_bytes(), b" ./prog ", how.as_bytes(), b" ", path.as_bytes(), b"\n"].concat()
    };
    lines.iter().flat_map(line).collect()
}

/// Two names that differ in bytes that are not text are two files.
#[test]
fn names_that_are_not_utf_8() {
    for (first, second) in [(0xe9, 0xe8), (0xff, 0xfe)] {
        let (a, b) = (odd("data/caf", first, ".txt"), odd("data/caf", second, ".txt"));
        let (new, directory) = (odd("data/new", first, ".txt"), odd("dir", first, ""));
        let inner = odd("dir", first, "/x.txt");
        let linked = recorded("", |project| {
            write(project, &a, "a\n");
            write(project, &b, "b\n");
            write(project, &inner, "x\n");
            write(project, &odd("dir", second, "/x.txt"), "x\n");
            let lines = [
                ("a", "cat", a.clone()),
                ("b", "cat", b.clone()),
                ("new", "stat", new.clone()),
                ("inner", "cat", inner.clone()),
                ("lists", "ls", directory.clone()),
                ("other", "ls", odd("dir", second, "")),
            ];
            std::fs::write(project.path("tests.list"), list(&lines)).expect("written");
        });
        let project = &linked.project;
        write(project, &b, "another\n");
        linked.expect(&["b"]);
        project.ok(&["test"]);
        write(project, &a, "another\n");
        linked.expect(&["a"]);
        project.ok(&["test"]);
        write(project, &new, "new\n");
        linked.expect(&["new"]);
        project.ok(&["test"]);
        write(project, &inner, "another\n");
        linked.expect(&["inner"]);
        project.ok(&["test"]);
        write(project, &odd("dir", first, "/y.txt"), "y\n");
        linked.expect(&["lists"]);
    }
}

/// Tests, and the scripts that they are, have names of any bytes.
#[test]
fn tests_whose_names_are_not_utf_8() {
    let project = Project::empty();
    project.write(
        "edgewise.toml",
        "[build]\ncommand = \"make -s\"\n[[suite]]\nname = \"s\"\nkind = \"glob\"\n\
         pattern = \"tests/*.sh\"\ncommand = \"sh {}\"\n[[suite]]\nname = \"l\"\nkind = \"list\"\n\
         file = \"tests.list\"\n",
    );
    project.write("Makefile", "prog: tool.c\n\t$(CC) -w -o prog tool.c\n");
    project.write("tool.c", TOOL);
    let (one, two) = (odd("tests/t", 0xe9, ".sh"), odd("tests/t", 0xe8, ".sh"));
    write(&project, &one, "./prog cat one.txt\n");
    write(&project, &two, "./prog cat two.txt\n");
    project.write("one.txt", "one\n");
    project.write("two.txt", "two\n");
    let lines = b"l\xe9 ./prog cat one.txt\nl\xe8 ./prog cat two.txt\n";
    std::fs::write(project.path("tests.list"), lines).expect("written");
    project.ok(&["build"]);
    project.ok(&["run"]);
    let selected = || {
        let said = project.command().arg("select").output().expect("run").stdout;
        let mut names: Vec<&[u8]> = said.split_inclusive(|byte| *byte == b'\n').collect();
        names.sort();
        names.concat()
    };
    assert_eq!(selected(), b"");
    project.write("two.txt", "another\n");
    assert_eq!(selected(), b"l/l\xe8\ns/t\xe8\n");
    let json = project.select_json(&[]);
    let names: Vec<&str> = json["selected"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|t| t["name"].as_str())
        .collect();
    assert_eq!(BTreeSet::from_iter(names), BTreeSet::from(["l/l\u{10ffe8}", "s/t\u{10ffe8}"]));
    // The names that are printed are those that are taken.
    let mut run = project.command();
    run.arg("run").arg("--names").arg("-").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut run = run.spawn().expect("started");
    run.stdin.take().expect("a pipe").write_all(&selected()).expect("written");
    assert!(run.wait().expect("ended").success());
    assert_eq!(selected(), b"");
    let explained = project.command().arg("explain").arg(odd("s/t", 0xe8, "")).output();
    let explained = explained.expect("run");
    let said = String::from_utf8(explained.stdout).expect("text for people is text");
    assert!(explained.status.success() && said.contains("s/t\\xE8"), "{said}");
    write(&project, &one, "./prog cat one.txt; true\n");
    assert_eq!(selected(), b"s/t\xe9\n", "the script itself");
}

/// Sources, headers, directories and arguments of a build that are not UTF-8.
#[test]
fn sources_whose_names_are_not_utf_8() {
    let project = Project::empty();
    project.write_config();
    let makefile = b"prog: a\xe9.c b\xe8.c inc\xff/x\xe9.h inc\xff/x\xe8.h names\xe9.txt names\xe8.txt\n\
        \t(printf 'const char *names = \"'; cat names\xe9.txt names\xe8.txt | tr -d '\\n'; echo '\";') >gen.c\n\
        \t$(CC) -w -Iinc\xff -c -o a\xe9.o a\xe9.c\n\
        \t$(CC) -w -Iinc\xff -c -o b\xe8.o b\xe8.c\n\
        \t$(CC) -w -Iinc\xff -o prog a\xe9.o b\xe8.o gen.c\n";
    std::fs::write(project.path("Makefile"), makefile).expect("written");
    project.write("tests.list", "both ./prog\na ./prog 1\nb ./prog 1 2\n");
    let source = |name: u8, rest: &str| {
        let bytes = [b"#include \"x", &[name][..], b".h\"\n", rest.as_bytes()].concat();
        std::fs::write(
            project.root().join(odd(if name == 0xe9 { "a" } else { "b" }, name, ".c")),
            bytes,
        )
        .expect("written");
    };
    source(
        0xe9,
        "#include <stdio.h>\nint b(void);\nextern const char *names;\nstatic int a(void) { return A; }\n\
         int main(int argc, char **argv) {\n  int n = 0;\n  if (argc != 3)\n    n += a();\n  if (argc != 2)\n    \
         n += b();\n  if (argc == 1)\n    puts(names);\n  printf(\"%d\\n\", n);\n  return 0;\n}\n",
    );
    source(0xe8, "int b(void) { return B; }\n");
    let (x, y) = (odd("inc", 0xff, "/x"), odd("inc", 0xff, "/x"));
    let header = |base: &OsString, byte: u8| {
        let mut name = base.clone();
        name.push(odd("", byte, ".h"));
        name
    };
    let (of_a, of_b) = (header(&x, 0xe9), header(&y, 0xe8));
    write(&project, &of_a, "#define A 1\n");
    write(&project, &of_b, "#define B 1\n");
    write(&project, &odd("names", 0xe9, ".txt"), "one\n");
    write(&project, &odd("names", 0xe8, ".txt"), "two\n");
    project.record();
    assert!(project.selected().is_empty(), "the same version selects nothing");
    let changed = |what: &str, expected: &[&str]| {
        let expected = sorted(expected);
        assert_eq!(project.selected(), expected, "{what}, from sources");
        assert_eq!(from_build(&project), expected, "{what}, from the build");
        project.ok(&["test"]);
        assert!(project.selected().is_empty(), "{what}, after the tests ran");
    };
    write(&project, &of_b, "/* A comment. */\n#define B 1\n");
    assert!(project.selected().is_empty(), "a comment");
    write(&project, &of_b, "#define B 2\n");
    changed("the header of the one", &["both", "b"]);
    write(&project, &of_a, "#define A 2\n");
    changed("the header of the other", &["both", "a"]);
    source(0xe8, "int b(void) { return B + 1; }\n");
    changed("a source", &["both", "b"]);
    write(&project, &odd("names", 0xe8, ".txt"), "three\n");
    assert!(project.selected().contains(&String::from("both")), "an input of a generator");
}

/// Text of a source that is not UTF-8 stays as it is in the program with probes.
#[test]
fn a_source_in_latin_1_prints_the_same_bytes_with_probes() {
    let project = Project::empty();
    project.write_config();
    project.write("Makefile", "prog: main.c\n\t$(CC) -w -O2 -o prog main.c\n");
    project.write("tests.list", "only ./prog\n");
    let source = |byte: u8| {
        let start = b"#include <stdio.h>\nconst char *name(void) { return \"caf".as_slice();
        let end = b"\"; }\nint main(void) { puts(name()); return 0; }\n";
        std::fs::write(project.path("main.c"), [start, &[byte], end].concat()).expect("written");
    };
    source(0xe9);
    project.record();
    let printed = std::process::Command::new(project.path("prog")).output().expect("run").stdout;
    assert_eq!(printed, b"caf\xe9\n");
    assert!(project.selected().is_empty());
    source(0xe8);
    assert_eq!(project.selected(), ["only"]);
}

/// A test opens a file of the project by another name outside of it.
#[test]
fn a_hard_link_outside_of_the_project() {
    let outside = tempfile::tempdir().expect("a directory");
    let name = outside.path().join("name.txt");
    let tests = format!("outside ./prog cat {}\nother ./prog ls other\n", name.display());
    let linked = recorded(&tests, |project| {
        project.write("data/one.txt", "one\n");
        project.write("other/x.txt", "x\n");
        std::fs::hard_link(project.path("data/one.txt"), &name).expect("a link");
    });
    linked.project.write("data/one.txt", "another\n");
    linked.expect(&["outside"]);
}

/// The kernel looks for each directory on the way, also for one that it leaves again.
#[test]
fn a_directory_that_a_path_leaves_again() {
    let tests =
        "comes ./prog cat gen/../data/x\ngoes ./prog cat out/../data/x\nother ./prog cat data/x\n";
    let linked = recorded(tests, |project| {
        project.write("data/x", "one\n");
        project.write("out/README", "\n");
    });
    std::fs::create_dir(linked.project.path("gen")).expect("a directory");
    linked.expect(&["comes"]);
    linked.project.ok(&["test"]);
    std::fs::remove_dir_all(linked.project.path("out")).expect("removed");
    linked.expect(&["goes"]);
}

/// An absolute link to a file of the project leads to another file with the same text.
#[test]
fn an_absolute_link_that_leads_to_the_same_text() {
    let linked = recorded("reads ./prog readlink cur\nother ./prog cat v1/conf\n", |project| {
        project.write("v1/conf", "same\n");
        project.write("v2/conf", "same\n");
        link(project, "cur", project.path("v1/conf"));
    });
    std::fs::remove_file(linked.project.path("cur")).expect("removed");
    link(&linked.project, "cur", linked.project.path("v2/conf"));
    linked.expect(&["reads"]);
}

/// Links to what holds the project, and to what changes all the time, are not walked.
#[test]
fn links_to_the_root_and_into_proc() {
    let linked = recorded("stats ./prog stat fix/root\nother ./prog cat data\n", |project| {
        project.write("data", "one\n");
        project.write("fix/x", "");
        link(project, "fix/root", "/");
        link(project, "fix/self", "/proc/self");
        link(project, "fix/dev", "/dev");
    });
    linked.project.write("data", "two\n");
    linked.expect(&["other"]);
}

/// A name of version control below the project, a directory that cannot be removed once it is
/// there, and a variable that the program sets itself.
#[test]
fn smaller_ways_to_a_file() {
    let elsewhere = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let hard = elsewhere.path().join("hard");
    let place = std::cell::RefCell::new(None);
    let tests = format!(
        "hard ./prog cat {}\nrmdir rmdir scratch 2>/dev/null; ./prog ls scratch\n\
         zone ./prog tz :$PWD/zone\nother ./prog cat data/x\n",
        hard.display()
    );
    let linked = recorded(&tests, |project| {
        project.write("data/x", "x\n");
        project.write("data/.svn/entries", "one\n");
        std::fs::copy("/usr/share/zoneinfo/UTC", project.path("zone")).ok();
        let linked = std::fs::hard_link(project.path("data/.svn/entries"), &hard);
        *place.borrow_mut() = Some(linked.is_ok());
    });
    let project = &linked.project;
    if place.into_inner() == Some(true) {
        let mut file = std::fs::File::create(project.path("data/.svn/entries")).expect("opened");
        file.write_all(b"two\n").expect("written");
        assert!(project.selected().contains(&String::from("hard")));
        project.ok(&["test"]);
    }
    project.write("scratch/x", "");
    assert!(project.selected().contains(&String::from("rmdir")));
    project.ok(&["test"]);
    project.write("zone", "another\n");
    assert!(project.selected().contains(&String::from("zone")));
    assert!(!project.selected().contains(&String::from("other")));
}
