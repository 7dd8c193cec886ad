//! What a process of the build opened, listed or looked for in vain is an input, whatever it is
//! called: a file that comes, goes or is edited there was once overlooked. And the other direction:
//! what no process looks for selects nothing, and a reason is gone when a build took it up.

use crate::support::Project;

const MAIN: &str = "#include <stdio.h>\nextern const char *text;\n\
    int main(void)\n{\n    puts(text);\n    return 0;\n}\n";

/// A program around `text.c`, which a rule writes.
fn makefile(prerequisites: &str, recipe: &str) -> String {
    format!(
        "prog: main.o text.o\n\t$(CC) -o prog main.o text.o\nmain.o: main.c\ntext.o: text.c\n\
         text.c: {prerequisites}\n\t{recipe}\nclean:\n\trm -f *.o prog text.c\n"
    )
}

fn recorded(files: &[(&str, &str)]) -> Project {
    let project = Project::empty();
    project.write_config();
    project.write("tests.list", "only ./prog\n");
    project.write("main.c", MAIN);
    files.iter().for_each(|(name, text)| project.write(name, text));
    project.record();
    assert_quiet(&project, "after it was recorded");
    project.ok(&["build"]);
    assert_quiet(&project, "after it was built again");
    project
}

/// A script that writes `text.c` from the names and texts that a command prints.
fn generator(command: &str) -> String {
    format!("printf 'const char *text = \"'\n{command} | tr '\\n' ' '\nprintf '\";\\n'\n")
}

fn from_build(project: &Project) -> Vec<String> {
    let selected = project.ok(&["select", "--from-build"]);
    selected.lines().map(|line| line.rsplit('/').next().unwrap().to_string()).collect()
}

#[track_caller]
fn assert_quiet(project: &Project, when: &str) {
    let (_, said) = project.says(&["select"]);
    assert!(project.selected().is_empty(), "{when}: {said}");
    let (_, said) = project.says(&["select", "--from-build"]);
    assert!(from_build(project).is_empty(), "{when}, from the build: {said}");
}

/// A change that the build takes up by itself.
#[track_caller]
fn is_taken_up(project: &Project) {
    assert_eq!(project.selected(), ["only"]);
    project.ok(&["test"]);
    assert_quiet(project, "after the build took it up");
}

/// A change that no build takes up until everything is made anew.
#[track_caller]
fn stays_selected(project: &Project) {
    assert_eq!(project.selected(), ["only"], "from sources");
    assert_eq!(from_build(project), ["only"], "before a build");
    for step in [&["build"][..], &["test"], &["test"]] {
        project.edgewise(step);
        assert_eq!(from_build(project), ["only"], "after {step:?}");
        assert_eq!(project.selected(), ["only"], "from sources, after {step:?}");
    }
    clean(project);
    project.edgewise(&["test"]);
    assert_quiet(project, "after all was made anew");
}

fn clean(project: &Project) {
    let make = std::process::Command::new("make").arg("clean").current_dir(project.root()).output();
    assert!(make.unwrap().status.success());
}

fn remove(project: &Project, name: &str) {
    std::fs::remove_file(project.path(name)).unwrap();
}

fn shell(project: &Project, text: &str) {
    let mut sh = std::process::Command::new("sh");
    let status = sh.args(["-c", text]).current_dir(project.root()).status();
    assert!(status.unwrap().success(), "{text}");
}

/// The rule forgets what its script lists.
fn forgetful(command: &str, files: &[(&str, &str)]) -> Project {
    let script = generator(command);
    let makefile = makefile("gen.sh", "sh gen.sh >text.c");
    recorded(&[&[("Makefile", &*makefile), ("gen.sh", &*script)], files].concat())
}

#[test]
fn a_new_name_in_a_directory_that_a_script_lists() {
    for new in ["parts/two", "parts/two.md", "parts/two.h", "parts/two.c", "parts/sub/two"] {
        let project = forgetful("ls parts", &[("parts/one.txt", "")]);
        project.write(new, "");
        stays_selected(&project);
    }
    let project = forgetful("ls parts", &[("parts/one.txt", "")]);
    std::fs::create_dir(project.path("parts/empty")).unwrap();
    stays_selected(&project);
}

#[test]
fn a_name_that_is_gone_from_a_directory_that_a_script_lists() {
    let project = forgetful("ls parts", &[("parts/one.txt", ""), ("parts/two", "")]);
    remove(&project, "parts/two");
    stays_selected(&project);
}

#[test]
fn a_new_file_that_a_pattern_of_a_script_finds() {
    for new in ["parts/2.h", "parts/2.inc", "parts/2.hpp", "parts/2", "parts/2.txt"] {
        let project = forgetful("cat parts/[0-9]*", &[("parts/1.txt", "one\n")]);
        project.write("parts/notes", "nothing\n");
        assert_quiet(&project, "another name");
        project.write(new, "two\n");
        stays_selected(&project);
    }
    // In a recipe of one line.
    let makefile = makefile("", "printf 'const char *text = \"%s\";' `cat parts/*.h` >text.c");
    let project = recorded(&[("Makefile", &makefile), ("parts/1.h", "one")]);
    project.write("parts/2.txt", "two");
    assert_quiet(&project, "another name");
    project.write("parts/2.h", "two");
    stays_selected(&project);
}

/// Each of these was hidden by another pattern that leads to the same directory.
#[test]
fn a_pattern_that_another_one_hides() {
    // From the environment.
    let makefile = format!(
        "all: prog\nP = parts/*.dat\nexport P\n{}",
        makefile("gen.sh", "sh gen.sh >text.c")
    );
    let script = generator("rm -f parts/*.tmp; cat $P");
    let project =
        recorded(&[("Makefile", &makefile), ("gen.sh", &script), ("parts/1.dat", "one\n")]);
    project.write("parts/2.dat", "two\n");
    stays_selected(&project);
    for (command, first, new) in [
        ("rm -f parts/*.tmp; cat parts/$(echo a)*.txt", "parts/a1.txt", "parts/a2.txt"),
        (
            "rm -f parts/*.tmp; for k in $(cat kinds); do cat parts/$k; done",
            "parts/1.txt",
            "parts/2.txt",
        ),
        ("E='*.txt'; rm -f parts/*.tmp; cat parts/$E", "parts/1.txt", "parts/2.txt"),
        ("rm -f parts/*.tmp; cat ${Q:-parts/*.txt}", "parts/1.txt", "parts/2.txt"),
        (
            "rm -f parts/*.tmp; cat <kinds | while read k; do cat parts/$k; done",
            "parts/1.txt",
            "parts/2.txt",
        ),
    ] {
        let project = forgetful(command, &[("kinds", "*.txt\n"), (first, "one\n")]);
        project.write(new, "two\n");
        stays_selected(&project);
    }
    // What other words say is still exact.
    let command = "for f in parts/*.txt; do n=$(basename $f); echo $n; done";
    let project = forgetful(command, &[("parts/1.txt", "one\n")]);
    project.write("parts/notes", "\n");
    assert_quiet(&project, "another name");
}

#[test]
fn a_pattern_behind_a_link_that_another_one_hides() {
    let project = Project::empty();
    project.write_config();
    project.write("tests.list", "only ./prog\n");
    project.write("main.c", MAIN);
    project.write("Makefile", &makefile("gen.sh", "sh gen.sh >text.c"));
    project.write("gen.sh", &generator("rm -f parts/*.tmp; cat lnk/*.txt"));
    project.write("parts/1.txt", "one\n");
    shell(&project, "ln -s parts lnk");
    project.record();
    assert_quiet(&project, "recorded");
    project.write("parts/notes", "");
    assert_quiet(&project, "another name");
    project.write("parts/2.txt", "two\n");
    stays_selected(&project);
}

#[test]
fn patterns_of_bash() {
    let bash = |command: &str, files: &[(&str, &str)]| {
        let makefile = makefile("gen.sh", "bash gen.sh >text.c");
        let script = generator(command);
        recorded(&[&[("Makefile", &*makefile), ("gen.sh", &*script)], files].concat())
    };
    let project = bash(
        "shopt -s extglob\ncat parts/*.h parts/+([0-9]).txt",
        &[("parts/a.h", "h\n"), ("parts/1.txt", "one\n")],
    );
    project.write("parts/2.txt", "two\n");
    stays_selected(&project);
    for command in ["cat **/*.txt", "cat parts/*.txt parts/**/*.txt"] {
        let project = bash(
            &format!("shopt -s globstar\n{command}"),
            &[("parts/1.txt", "one\n"), ("parts/a/a.txt", "a\n")],
        );
        project.write("parts/new/notes", "");
        assert_quiet(&project, "another name");
        project.write("parts/new/2.txt", "two\n");
        stays_selected(&project);
    }
}

/// The shell went elsewhere, where another script has the same name.
#[test]
fn a_script_of_the_same_name_elsewhere() {
    let files = [("sub/gen.sh", "rm -f *.o\n"), ("sub/1.dat", "one\n")];
    let project = forgetful("(cd sub; cat *.dat)", &files);
    project.write("sub/notes", "");
    assert_quiet(&project, "another name");
    project.write("sub/2.dat", "two\n");
    stays_selected(&project);
}

#[test]
fn a_class_of_characters_in_a_pattern() {
    let files = [("parts/1.txt", "one\n")];
    for command in ["cat parts/[[:digit:]]*.txt", "find parts -name '[[:digit:]]*.txt'"] {
        let project = forgetful(command, &files);
        project.write("parts/2.txt", "two\n");
        stays_selected(&project);
    }
    let makefile = makefile("$(wildcard parts/[[:digit:]]*.txt) gen.sh", "sh gen.sh $^ >text.c");
    let script = generator("cat $1");
    let project = recorded(&[("Makefile", &makefile), ("gen.sh", &script), files[0]]);
    project.write("parts/0.txt", "two\n");
    is_taken_up(&project);
}

/// One place of a pattern matches a character of several bytes, or a byte that is no character.
#[test]
fn a_pattern_and_names_of_any_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let write = |project: &Project, name: &[u8]| {
        let path = project.root().join(std::ffi::OsStr::from_bytes(name));
        std::fs::write(path, "two\n").unwrap();
    };
    for (command, new) in [
        ("cat parts/?.txt", "parts/\u{e4}.txt".as_bytes()),
        ("cat parts/[\u{e4}1].txt", "parts/\u{e4}.txt".as_bytes()),
        ("cat parts/?.txt", b"parts/\xff.txt"),
    ] {
        let project = forgetful(command, &[("parts/1.txt", "one\n")]);
        write(&project, new);
        stays_selected(&project);
    }
    let project = Project::empty();
    project.write_config();
    project.write("tests.list", "only ./prog\n");
    project.write("main.c", MAIN);
    project.write("Makefile", &makefile("gen.sh", "sh gen.sh >text.c"));
    let script = generator("cat parts/BYTE*.txt").into_bytes();
    let at = script.windows(4).position(|four| four == b"BYTE").unwrap();
    let script = [&script[..at], b"\xe4", &script[at + 4..]].concat();
    std::fs::write(project.path("gen.sh"), script).unwrap();
    project.write("parts/notes", "");
    write(&project, b"parts/\xe41.txt");
    project.record();
    assert_quiet(&project, "recorded");
    write(&project, b"parts/\xe42.txt");
    stays_selected(&project);
}

/// Names that a make finds and no process reads.
#[test]
fn names_that_only_a_make_uses() {
    let main =
        "#include <stdio.h>\nint main(void)\n{\n    printf(\"%d\\n\", COUNT);\n    return 0;\n}\n";
    let flags = "prog: main.c\n\t$(CC) -DCOUNT=$(words $(wildcard parts/*.txt)) -o prog main.c\nclean:\n\trm -f prog\n";
    let project = recorded(&[("Makefile", flags), ("main.c", main), ("parts/1.txt", "")]);
    project.write("parts/notes", "");
    assert_quiet(&project, "another name");
    project.write("parts/2.txt", "");
    stays_selected(&project);

    let named =
        makefile("", "echo 'const char *text = \"$(notdir $(wildcard plugins/*))\";' >text.c");
    let project = recorded(&[("Makefile", &named), ("plugins/a", "")]);
    project.write("plugins/b", "");
    stays_selected(&project);

    let how = makefile("", "echo 'const char *text = \"$(HOW)\";' >text.c");
    let included = format!("all: prog\ninclude $(wildcard conf.d/*.conf)\n{how}");
    let project = recorded(&[("Makefile", &included), ("conf.d/a.conf", "HOW = one\n")]);
    project.write("conf.d/b.conf", "HOW = two\n");
    stays_selected(&project);

    let included = format!("all: prog\nKIND = a\nHOW = one\n-include local-$(KIND).inc\n{how}");
    let project = recorded(&[("Makefile", &included)]);
    project.write("local-a.inc", "HOW = two\n");
    stays_selected(&project);

    let asked =
        format!("all: prog\nKIND = a\nHOW = $(if $(wildcard feature-$(KIND)),with,without)\n{how}");
    let project = recorded(&[("Makefile", &asked), ("feature-a", "")]);
    remove(&project, "feature-a");
    stays_selected(&project);
}

/// A make finds a prerequisite in an earlier directory, or by an earlier rule.
#[test]
fn an_earlier_prerequisite() {
    let recipe = "(printf 'const char *text = \"'; cat $< | tr -d '\\n'; echo '\";') >$@";
    let program = "prog: main.o text.o\n\t$(CC) -o prog main.o text.o\n.SECONDARY:\nclean:\n\trm -f *.o prog text.c\n";
    for rules in [
        format!("all: prog\nVPATH = over parts\n{program}%.c: %.txt\n\t{recipe}\n"),
        format!("{program}%.c: over/%.txt\n\t{recipe}\n%.c: parts/%.txt\n\t{recipe}\n"),
    ] {
        let project =
            recorded(&[("Makefile", &rules), ("parts/text.txt", "one\n"), ("over/readme", "")]);
        project.write("over/other.txt", "");
        assert_quiet(&project, "another name");
        project.write("over/text.txt", "two\n");
        assert_eq!(project.selected(), ["only"], "{rules}");
    }
}

/// A link on the way that a pattern takes, or a new one.
#[test]
fn links_below_patterns() {
    let cases = [
        ("$(wildcard mods/*/*.txt)", "sh gen.sh $^ >text.c", "cat $*"),
        ("gen.sh", "sh gen.sh >text.c", "cat mods/*/*.txt"),
        ("gen.sh", "sh gen.sh >text.c", "find -L mods -name '*.txt' | sort"),
    ];
    for (prerequisites, recipe, command) in cases {
        let prepared = |link: &str| {
            let project = Project::empty();
            project.write_config();
            project.write("tests.list", "only ./prog\n");
            project.write("main.c", MAIN);
            project.write("Makefile", &makefile(prerequisites, recipe));
            project.write("gen.sh", &generator(command));
            project.write("mods/a/1.txt", "one\n");
            project.write("real/b/x", "");
            project.write("real/b/y.txt", "x\n");
            shell(&project, link);
            project.record();
            assert_quiet(&project, "recorded");
            project
        };
        let project = prepared("ln -s ../real/b mods/b");
        project.write("real/b/2.txt", "two\n");
        assert_eq!(project.selected(), ["only"], "{command}: a file behind a link");
        let project = prepared("true");
        shell(&project, "ln -s ../real/b mods/b");
        assert_eq!(project.selected(), ["only"], "{command}: a new link");
    }
}

#[test]
fn a_new_file_that_find_finds() {
    let project =
        forgetful("find parts -name '*.txt'", &[("parts/a/1.txt", ""), ("parts/b/x", "")]);
    project.write("parts/b/notes", "");
    assert_quiet(&project, "another name");
    project.write("parts/c/2.txt", "");
    stays_selected(&project);
}

#[test]
fn a_new_file_that_a_python_script_lists() {
    let script = "import os\nnames = ' '.join(sorted(os.listdir('parts')))\n\
                  open('text.c', 'w').write('const char *text = \"%s\";' % names)\n";
    let makefile = makefile("gen.py", "python3 gen.py");
    let project = recorded(&[("Makefile", &makefile), ("gen.py", script), ("parts/one", "")]);
    project.write("parts/two.x", "");
    stays_selected(&project);
}

/// A header or another file that a make finds and a generator reads.
#[test]
fn a_new_file_that_a_wildcard_of_make_finds() {
    for kind in ["h", "inc", "txt", "hpp"] {
        let recipe = "(printf 'const char *text = \"'; cat $^; printf '\";') >text.c";
        let makefile = makefile(&format!("$(wildcard parts/*.{kind})"), recipe);
        let first = format!("parts/1.{kind}");
        let project = recorded(&[("Makefile", &makefile), (&first, "one")]);
        project.write("parts/notes.md", "Nobody reads this.\n");
        assert_quiet(&project, "another kind of file");
        project.write(&format!("parts/2.{kind}"), "two");
        is_taken_up(&project);
    }
    // The rule forgets them.
    let recipe =
        "(printf 'const char *text = \"'; cat $(wildcard parts/*.h); printf '\";') >text.c";
    let project = recorded(&[("Makefile", &makefile("", recipe)), ("parts/1.h", "one")]);
    project.write("parts/2.h", "two");
    stays_selected(&project);
}

#[test]
fn an_optional_input_that_make_does_not_know() {
    for name in ["extra.txt", "extra.h", "more/extra", "extra"] {
        let command = format!("(cat base; test ! -e {name} || cat {name})");
        let project = forgetful(&command, &[("base", "one\n")]);
        project.write(name, "two\n");
        stays_selected(&project);
        // And without it again.
        remove(&project, name);
        stays_selected(&project);
    }
    // Whether a directory is there.
    let project = forgetful("(echo one; test ! -d more || cat more/*)", &[]);
    project.write("more/x", "two\n");
    stays_selected(&project);
}

#[test]
fn an_optional_file_that_a_condition_of_make_asks_for() {
    let makefile = makefile("", "echo 'const char *text = \"$(HOW)\";' >text.c");
    let makefile = format!("HOW = $(if $(wildcard feature),with,without)\n{makefile}");
    let project = recorded(&[("Makefile", &makefile)]);
    project.write("feature", "");
    stays_selected(&project);
}

/// The build copies a default if there is no configuration; people edit the copy.
#[test]
fn a_configuration_that_the_build_copies_once() {
    let script =
        format!("test -e config.txt || cp default.txt config.txt\n{}", generator("cat config.txt"));
    // No rule depends on it.
    let makefile_forgets = makefile("gen.sh", "sh gen.sh >text.c");
    let files = [("Makefile", &*makefile_forgets), ("gen.sh", &*script), ("default.txt", "one\n")];
    let project = recorded(&files);
    project.write("config.txt", "two\n");
    stays_selected(&project);
    // Taken back.
    project.write("config.txt", "three\n");
    assert_eq!(project.selected(), ["only"]);
    project.write("config.txt", "two\n");
    assert_quiet(&project, "as it was");
    // A rule makes and another one depends on it.
    let recipe = "sh gen.sh >text.c\nconfig.txt:\n\tcp default.txt config.txt";
    let makefile = makefile("gen.sh config.txt", recipe);
    let gen_ = generator("cat config.txt");
    let project = recorded(&[("Makefile", &makefile), ("gen.sh", &gen_), ("default.txt", "one\n")]);
    project.write("config.txt", "two\n");
    is_taken_up(&project);
    clean(&project);
    project.ok(&["build"]);
    assert_quiet(&project, "the same, made anew");
}

#[test]
fn a_new_header_of_code_that_is_not_analysed() {
    let makefile = "prog: main.o text.o\n\t$(CC) -o prog main.o text.o\nmain.o: main.c\n\
        text.o: text.cc second/limit.h\n\tg++ -Ifirst -Isecond -c -o $@ text.cc\nclean:\n\trm -f *.o prog\n";
    let text = "#include \"limit.h\"\n#if __has_include(\"extra.hpp\")\n#define MORE \"more\"\n#else\n\
        #define MORE \"\"\n#endif\nextern \"C\" { extern const char *const text; const char *const text = LIMIT MORE; }\n";
    let main = MAIN.replace("const char *text", "const char *const text");
    let files = [
        ("Makefile", makefile),
        ("text.cc", text),
        ("main.c", &*main),
        ("second/limit.h", "#define LIMIT \"one\"\n"),
        ("first/other.h", ""),
    ];
    for new in ["first/limit.h", "first/extra.hpp", "extra.hpp", "limit.h"] {
        let project = recorded(&files);
        project.write("first/unrelated.h", "");
        assert_quiet(&project, "a header that nobody includes");
        project.write(new, "#define LIMIT \"two\"\n");
        stays_selected(&project);
    }
    // The same for assembler.
    let text = "#include \"limit.h\"\n.data\n.globl text\ntext: .quad 1f\n1: .asciz LIMIT\n\
        .section .note.GNU-stack,\"\",@progbits\n";
    let makefile = makefile.replace("text.cc", "text.S").replace("g++", "gcc");
    let files = [
        ("Makefile", &*makefile),
        ("text.S", text),
        ("second/limit.h", "#define LIMIT \"one\"\n"),
        ("first/other.h", ""),
    ];
    let project = recorded(&files);
    project.write("first/limit.h", "#define LIMIT \"two\"\n");
    stays_selected(&project);
}

/// The names of other projects' directories below that of this one.
#[test]
fn fixtures_in_directories_of_version_control() {
    for place in ["data/.svn", "data/.hg", "data/.edgewise", "data/.git", "a/b/.git/refs"] {
        let project =
            forgetful(&format!("cat {place}/entries"), &[(&format!("{place}/entries"), "one\n")]);
        project.write("tests.list", &format!("only ./prog\nreads ./prog; cat {place}/entries\nlists ./prog; ls {place}\nnone ./prog -x\n"));
        project.ok(&["test"]);
        assert_quiet(&project, place);
        project.write(&format!("{place}/more"), "");
        assert_eq!(project.selected(), ["lists"], "{place}");
        remove(&project, &format!("{place}/more"));
        project.write(&format!("{place}/entries"), "two\n");
        assert_eq!(project.selected(), ["lists", "none", "only", "reads"], "{place}");
        project.ok(&["build"]);
        assert_eq!(from_build(&project).len(), 4, "{place}");
    }
    // Those of the project itself hold nothing of it.
    let project = forgetful("echo one", &[]);
    shell(
        &project,
        "mkdir .hg .svn && echo >.hg/x && echo >.svn/x && git init -q . && echo >.edgewise/x",
    );
    assert_quiet(&project, "in the root");
}

/// The loader looks in the first directory, and finds the library in the second.
#[test]
fn a_library_that_comes_earlier_in_the_search_path() {
    for (flags, ignore) in
        [("", ""), ("-Wl,--disable-new-dtags", ""), ("", "\"first/**\", \"second/**\"")]
    {
        let project = Project::empty();
        project.write(
            "edgewise.toml",
            &format!(
                "ignore = [{ignore}]\n[build]\ncommand = \"make -s\"\n[[suite]]\nname = \"t\"\n\
                 kind = \"list\"\nfile = \"tests.list\"\n"
            ),
        );
        let makefile = format!(
            "prog: main.c second/libtext.so\n\t$(CC) -o prog main.c -Lsecond -ltext {flags} \
             -Wl,-rpath,'$$ORIGIN/first:$$ORIGIN/second'\n\
             second/libtext.so: text.c\n\t$(CC) -shared -fPIC -o $@ text.c\n\
             other: main.c text.c\n\t$(CC) -o other main.c text.c\n"
        );
        project.write("Makefile", &makefile.replace("prog: ", "all: prog other\nprog: "));
        project.write(
            "main.c",
            &MAIN
                .replace("extern const char *text;", "const char *text(void);")
                .replace("text)", "text())"),
        );
        project.write("text.c", "const char *text(void) { return \"one\"; }\n");
        project.write("first/readme", "");
        project.write("second/readme", "");
        project.write("tests.list", "uses ./prog\nnot ./other\n");
        project.record();
        assert!(project.selected().is_empty());
        shell(
            &project,
            "echo 'const char *text(void) { return \"two\"; }' | gcc -shared -fPIC -o first/libtext.so -xc -",
        );
        assert_eq!(project.selected(), ["uses"], "{flags} {ignore}");
        assert_eq!(from_build(&project), ["uses"], "{flags} {ignore}");
        project.ok(&["test"]);
        assert!(project.selected().is_empty(), "{flags} {ignore}");
    }
}

/// The same for a library that is loaded later.
#[test]
fn a_library_that_comes_earlier_for_dlopen() {
    let project = Project::empty();
    project.write_config();
    project.write(
        "Makefile",
        "all: prog second/libtext.so\nprog: main.c\n\t$(CC) -o prog main.c -ldl -Wl,-rpath,'$$ORIGIN/first:$$ORIGIN/second'\n\
         second/libtext.so: text.c\n\t$(CC) -shared -fPIC -o $@ text.c\n",
    );
    project.write(
        "main.c",
        "#include <dlfcn.h>\n#include <stdio.h>\nint main(int argc, char **argv)\n{\n    (void)argv;\n    \
         if (argc > 1) {\n        void *library = dlopen(\"libtext.so\", RTLD_NOW);\n        \
         puts(((const char *(*)(void))dlsym(library, \"text\"))());\n    }\n    return 0;\n}\n",
    );
    project.write("text.c", "const char *text(void) { return \"one\"; }\n");
    project.write("first/readme", "");
    project.write("second/readme", "");
    project.write("tests.list", "uses ./prog 1\nnot ./prog\n");
    project.record();
    assert!(project.selected().is_empty());
    shell(&project, "cp second/libtext.so first/libtext.so");
    assert!(project.selected().contains(&String::from("uses")));
}

/// An ordinary project: none of this is anything that its build looks for.
#[test]
fn a_plain_project_of_make_stays_quiet() {
    let makefile = "SRC := $(sort $(wildcard src/*.c) src/made.c)\nOBJ := $(SRC:src/%.c=obj/%.o)\nTESTS := $(wildcard tests/*.sh)\n\
        prog: $(OBJ)\n\t$(CC) -o $@ $(OBJ)\n\trm -f *.tmp obj/*.tmp\n\
        obj/%.o: src/%.c\n\t@mkdir -p obj\n\t$(CC) -Iinclude -MMD -c -o $@ $<\n\
        -include $(wildcard obj/*.d)\n\
        src/made.c: tools/names.txt\n\tsed 's/.*/const char *text = \"&\";/' tools/names.txt >work.tmp && mv work.tmp $@\n\
        check: $(TESTS)\n\tfor t in tests/*.sh; do sh $$t; done\nclean:\n\trm -rf obj prog\n";
    let main = MAIN.replace("#include <stdio.h>", "#include <stdio.h>\n#include \"api.h\"");
    let project = Project::empty();
    project.write_config();
    project.write("Makefile", makefile);
    project.write("src/main.c", &main);
    project.write("include/api.h", "");
    project.write("tools/names.txt", "one\n");
    project.write("tests/a.sh", "./prog >tests/a.out; cat tests/a.out; echo done >run.log\n");
    project.write("tests.list", "only sh tests/a.sh\n");
    project.record();
    assert_quiet(&project, "after it was recorded");
    project.ok(&["build"]);
    assert_quiet(&project, "after it was built again");
    project.ok(&["run"]);
    assert_quiet(&project, "after it ran again");
    for new in [
        "README.md",
        "src/main.c~",
        "src/.main.c.swp",
        "src/#main.c#",
        "src/main.c.orig",
        "src/notes.txt",
        "include/unused.h",
        "tests/b.sh",
        "Makefile~",
        "tags",
        "other/deep/file",
    ] {
        project.write(new, "x\n");
        assert_quiet(&project, new);
    }
    project.ok(&["build"]);
    assert_quiet(&project, "after all that");
    project.edit("tools/names.txt", "one", "two");
    is_taken_up(&project);
    clean(&project);
    project.ok(&["build"]);
    assert_quiet(&project, "after a clean build");
}

/// A directory that is listed in each build.
#[test]
fn a_directory_that_every_build_lists() {
    let makefile = makefile(
        "FORCE",
        "sh gen.sh >new.tmp; cmp -s new.tmp text.c || cp new.tmp text.c; rm new.tmp",
    );
    let makefile = format!("{makefile}FORCE:\n");
    let script = generator("for f in $(ls parts); do case $f in *.txt) cat parts/$f;; esac; done");
    let project =
        recorded(&[("Makefile", &makefile), ("gen.sh", &script), ("parts/1.txt", "one\n")]);
    project.write("parts/1.txt~", "a backup\n");
    is_taken_up(&project);
    remove(&project, "parts/1.txt~");
    is_taken_up(&project);
    project.write("parts/2.txt", "two\n");
    is_taken_up(&project);
}

/// A project of CMake with sources and data that it finds itself.
#[test]
fn a_project_of_cmake_takes_up_what_it_lists() {
    let project = Project::empty();
    project.write(
        "edgewise.toml",
        "ignore = [\"build/**\"]\n[build]\ncommand = \"cmake -S . -B build >/dev/null && cmake --build build >/dev/null\"\n\
         [[suite]]\nname = \"t\"\nkind = \"list\"\nfile = \"tests.list\"\n",
    );
    project.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.10)\nproject(p C)\n\
         file(GLOB SOURCES CONFIGURE_DEPENDS src/*.c)\nfile(GLOB PARTS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/parts/*.txt)\n\
         add_custom_command(OUTPUT text.c DEPENDS ${PARTS} gen.sh COMMAND sh ${CMAKE_SOURCE_DIR}/gen.sh ${PARTS} > text.c)\n\
         add_executable(prog ${SOURCES} ${CMAKE_CURRENT_BINARY_DIR}/text.c)\n",
    );
    project.write("gen.sh", &generator("cat \"$@\""));
    project.write("src/main.c", MAIN);
    project.write("parts/1.txt", "one\n");
    project.write("tests.list", "only build/prog >run.out\n");
    project.record();
    assert_quiet(&project, "after it was recorded");
    project.ok(&["build"]);
    assert_quiet(&project, "after it was built again");
    project.ok(&["run"]);
    assert_quiet(&project, "after it ran again");
    for new in ["README", "src/main.c~", "src/notes.md", "parts/.1.txt.swp", "parts/notes.md"] {
        project.write(new, "x\n");
        assert_quiet(&project, new);
    }
    project.write("parts/2.txt", "two\n");
    is_taken_up(&project);
    project.write("src/more.c", "int more;\n");
    project.ok(&["test"]);
    assert_quiet(&project, "a source that it finds");
}

/// CMake lists directories in other ways than by patterns.
#[test]
fn directories_that_cmake_lists() {
    let copied = "add_custom_target(copydata ALL COMMAND ${CMAKE_COMMAND} -E copy_directory ${CMAKE_SOURCE_DIR}/data ${CMAKE_BINARY_DIR}/data)";
    let configured = "set(EXT txt)\nfile(GLOB D CONFIGURE_DEPENDS src/*.c data/*.${EXT})\nlist(LENGTH D N)\nconfigure_file(n.in n.txt)";
    for more in [copied, "file(COPY data DESTINATION ${CMAKE_BINARY_DIR})", configured] {
        let project = Project::empty();
        project.write(
            "edgewise.toml",
            "ignore = [\"build/**\"]\n[build]\ncommand = \"cmake -S . -B build >/dev/null && cmake --build build >/dev/null\"\n\
             [[suite]]\nname = \"t\"\nkind = \"list\"\nfile = \"tests.list\"\n",
        );
        project.write(
            "CMakeLists.txt",
            &format!(
                "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nfile(GLOB S CONFIGURE_DEPENDS src/*.c)\n\
                 add_executable(prog ${{S}})\n{more}\n"
            ),
        );
        project.write("src/main.c", "int main(void) { return 0; }\n");
        project.write("n.in", "@N@\n");
        project.write("data/1.txt", "one\n");
        project.write("tests.list", "only build/prog; cat build/data/2.txt build/n.txt; true\n");
        project.record();
        assert_quiet(&project, "recorded");
        project.write("src/notes.md", "\n");
        assert_quiet(&project, "notes");
        project.write("data/2.txt", "two\n");
        assert_eq!(project.selected(), ["only"], "{more}");
    }
}

/// An empty element of the search path is the working directory. `$LIB` has several values.
#[test]
fn a_library_in_a_directory_without_a_name() {
    let two = "echo 'const char *text(void) { return \"two\"; }' | gcc -shared -fPIC -xc - -o";
    for (flags, test, new) in [
        ("", "LD_LIBRARY_PATH=:second ./prog", "libtext.so"),
        ("", "LD_LIBRARY_PATH=second: ./prog", "libtext.so"),
        ("-Wl,-rpath,'$$ORIGIN/$$LIB:$$ORIGIN/second'", "./prog", "lib64/libtext.so"),
    ] {
        let project = Project::empty();
        project.write_config();
        project.write(
            "Makefile",
            &format!(
                "prog: main.c second/libtext.so\n\t$(CC) -o prog main.c -Lsecond -ltext {flags}\n\
                 second/libtext.so: text.c\n\t$(CC) -shared -fPIC -o $@ text.c\n"
            ),
        );
        project.write("text.c", "const char *text(void) { return \"one\"; }\n");
        let main = MAIN.replace("extern const char *text;", "const char *text(void);");
        project.write("main.c", &main.replace("text)", "text())"));
        project.write("second/readme", "");
        project.write("tests.list", &format!("uses {test}\n"));
        project.record();
        assert!(project.selected().is_empty());
        shell(&project, &format!("mkdir -p `dirname {new}` && {two} {new}"));
        assert_eq!(project.selected(), ["uses"], "{test} {flags}");
    }
}

/// A build makes a link, or copies a file, unless there is one.
#[test]
fn what_was_made_once_and_is_a_persons() {
    let files = [("default.cfg", "one\n"), ("custom.cfg", "two\n")];
    let project = forgetful("(test -e config || ln -s default.cfg config; cat config)", &files);
    shell(&project, "ln -sfn custom.cfg config");
    stays_selected(&project);
    let project = forgetful("(test -e config || cp default.cfg config; cat config)", &files);
    project.write("config", "two\n");
    clean(&project);
    project.ok(&["test"]);
    assert_quiet(&project, "after it was taken up");
    remove(&project, "config");
    stays_selected(&project);
}
