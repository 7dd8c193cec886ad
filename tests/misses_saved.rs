//! Files that are saved while their unit is being compiled: the content that counts is the one that was
//! compiled. Each of these once left a program that nothing ever called stale.

use crate::support::Project;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

const MAIN: &str = "#include <stdio.h>\n#include \"include/limit.h\"\n\
    int main(void) { printf(\"%d\\n\", LIMIT); return 0; }\n";
const MAKEFILE: &str = "prog: main.o\n\t$(CC) -o prog main.o\n\
    main.o: main.c include/limit.h\n\t$(CC) $(FLAGS) -c -o main.o main.c\n";

/// The compiler, which runs `before.sh` and `after.sh`, if they are there, around each of its runs.
const COMPILER: &str = "#!/bin/sh\n\
    [ ! -f before.sh ] || . ./before.sh\n\
    PATH=${PATH#*/tools:} /usr/bin/gcc \"$@\"; code=$?\n\
    [ ! -f after.sh ] || . ./after.sh\n\
    exit $code\n";

/// A run of the compiler, as a pattern of its arguments.
const PREPROCESSES: &str = "*' -E '*main.c*";
const COMPILES: &str = "*' -c '*main.i*";

/// Builds, and saves by a command of the shell while the compiler waits: behind or before runs that fit
/// the pattern, the first `times` of them. A process of the build would have made what it saves.
fn build_saving(project: &Project, script: &str, pattern: &str, times: usize, save: &str) {
    for pipe in ["ask.sh", "answer.sh"] {
        let path = std::ffi::CString::new(project.path(pipe).to_str().unwrap()).unwrap();
        // SAFETY: the path is a string that ends with a zero.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
    }
    let wait = "echo >ask.sh; read reply <answer.sh; [ $reply = more ] || rm";
    project.write(script, &format!("case \" $* \" in {pattern}) {wait} {script};; esac\n"));
    let (ask, answer) = (project.path("ask.sh"), project.path("answer.sh"));
    let root = project.root().to_path_buf();
    let save = save.to_string();
    let saver = std::thread::spawn(move || {
        for time in 1..=times {
            if std::fs::read(&ask).unwrap() == b"end" {
                return time - 1;
            }
            let mut shell = Command::new("sh");
            let saved = shell.args(["-c", &save]).env("TIME", time.to_string()).current_dir(&root);
            assert!(saved.status().unwrap().success());
            let reply = if time < times { "more\n" } else { "last\n" };
            std::fs::write(&answer, reply).unwrap();
        }
        times
    });
    edgewise(project, &["build"]);
    if project.path(script).exists() {
        std::fs::write(project.path("ask.sh"), "end").unwrap();
        std::fs::remove_file(project.path(script)).unwrap();
    }
    assert!(saver.join().unwrap() > 0, "nothing was saved");
    for pipe in ["ask.sh", "answer.sh"] {
        std::fs::remove_file(project.path(pipe)).unwrap();
    }
}

/// A recorded project whose compiler can be told to save files.
fn recorded(files: &[(&str, &str)]) -> Project {
    let project = Project::empty();
    project.write("edgewise.toml", CONFIG);
    project.write("tests.list", "only ./prog\n");
    project.write("main.c", MAIN);
    project.write("include/limit.h", "#define LIMIT 10\n");
    project.write("Makefile", MAKEFILE);
    files.iter().for_each(|(name, text)| project.write(name, text));
    for name in ["cc", "gcc"] {
        let name = format!("tools/{name}");
        project.write(&name, COMPILER);
        std::fs::set_permissions(project.path(&name), PermissionsExt::from_mode(0o755)).unwrap();
    }
    edgewise(&project, &["build"]);
    edgewise(&project, &["run"]);
    assert_eq!(selected(&project), [""; 0]);
    project
}

const CONFIG: &str = "ignore = [\"*.sh\", \"tools/**\"]\n[build]\ncommand = \"make -s\"\n\
    [[suite]]\nname = \"t\"\nkind = \"list\"\nfile = \"tests.list\"\n";

/// Runs edgewise with that compiler, and returns what it prints and says.
fn edgewise(project: &Project, arguments: &[&str]) -> (String, String) {
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", project.path("tools").display());
    let output = project.command().args(arguments).env("PATH", path).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments:?}: {said}");
    (String::from_utf8(output.stdout).unwrap(), said)
}

/// What the programs select as they are built.
fn selected(project: &Project) -> Vec<String> {
    let (names, _) = edgewise(project, &["select", "--from-build"]);
    names.lines().map(String::from).collect()
}

fn prints(project: &Project) -> String {
    let output = std::process::Command::new(project.path("prog")).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}

/// Another comment, so that `main.c` is compiled again.
fn touch(project: &Project) {
    project.edit("main.c", "#include <stdio.h>\n", "#include <stdio.h> // again\n");
}

/// The test runs again, and then nothing is left.
fn is_settled_by_a_test(project: &Project) {
    let (_, said) = edgewise(project, &["test"]);
    assert!(said.contains("1 passed"), "{said}");
    assert_eq!(selected(project), [""; 0]);
    assert_eq!(edgewise(project, &["select"]).0, "");
}

/// Ways to save the header so that it says 20.
const SAVES: &[&str] = &[
    "echo '#define LIMIT 20' > include/limit.h",
    "echo '#define LIMIT 20' > include/new; mv include/new include/limit.h",
    // With the time of the old one.
    "echo '#define LIMIT 20' > include/new; touch -r include/limit.h include/new; mv include/new include/limit.h",
    // One that has long been there.
    "mv include include.old; mv include.next include",
    "ln -sf ../20.h include/limit.h",
];

#[test]
fn a_header_that_is_saved_while_its_unit_is_compiled_is_compiled() {
    for save in SAVES {
        let others =
            [("include.next/limit.h", "#define LIMIT 20\n"), ("20.h", "#define LIMIT 20\n")];
        let project = recorded(&others);
        touch(&project);
        build_saving(&project, "after.sh", PREPROCESSES, 1, save);
        assert_eq!(prints(&project), "20", "{save}");
        assert_eq!(selected(&project), ["t/only"], "{save}");
        is_settled_by_a_test(&project);
    }
}

/// Saved after each run of the preprocessor, so that no text is what is there.
#[test]
fn a_header_that_is_saved_again_and_again_makes_its_unit_stale() {
    let project = recorded(&[]);
    touch(&project);
    let save = "echo '#define LIMIT '2$TIME > include/limit.h";
    build_saving(&project, "after.sh", PREPROCESSES, 100, save);
    let last = project.read("include/limit.h");
    assert!(!last.contains(&format!(" {}\n", prints(&project))), "the last was not compiled");
    assert_eq!(selected(&project), ["t/only"]);
    // `make` does not see it, since the object is newer.
    edgewise(&project, &["test"]);
    assert_eq!(selected(&project), ["t/only"]);
    project.edit("main.c", "// again", "// once more");
    is_settled_by_a_test(&project);
}

/// Nothing is known of the content, but the text is what the files make: there is nothing to say.
#[test]
fn a_header_that_is_saved_as_it_was_makes_no_unit_stale() {
    let project = recorded(&[]);
    touch(&project);
    let save = "echo '#define LIMIT 10' > include/limit.h";
    build_saving(&project, "after.sh", PREPROCESSES, 100, save);
    assert_eq!(selected(&project), [""; 0]);
}

/// The real compiler compiles the source a second time, for its words.
#[test]
fn a_header_that_is_saved_before_the_compile_for_the_words_is_not_taken_for_compiled() {
    let main = MAIN.replace("return 0;", "int unused; return 0;");
    let files = [("main.c", main.as_str()), ("Makefile", &format!("FLAGS = -Wall\n{MAKEFILE}"))];
    let project = recorded(&files);
    // Our text has been compiled by then.
    touch(&project);
    build_saving(&project, "after.sh", COMPILES, 1, SAVES[0]);
    assert_eq!(prints(&project), "10");
    assert_eq!(selected(&project), ["t/only"]);
}

/// The assembler reads it, later than the preprocessor is done.
#[test]
fn data_that_is_saved_before_the_assembler_takes_it_in_is_not_what_it_was() {
    let main = "#include <stdio.h>\n\
        __asm__(\".data\\n.globl blob\\nblob: .incbin \\\"blob.txt\\\"\\n.byte 0\\n.text\");\n\
        extern char blob[];\nint main(void) { return puts(blob) < 0; }\n";
    let project = recorded(&[("main.c", main), ("blob.txt", "old")]);
    touch(&project);
    build_saving(&project, "before.sh", COMPILES, 1, "printf new > blob.txt");
    assert_eq!(prints(&project), "new");
    assert_eq!(selected(&project), ["t/only"]);
    is_settled_by_a_test(&project);
}

/// Code that is not analysed has no record: what it is made of counts as it was before the build.
#[test]
fn an_input_of_code_that_is_not_analysed_that_is_saved_meanwhile_is_a_change() {
    let makefile = "prog: main.o part.o\n\t$(CC) -o prog main.o part.o\n\
        main.o: main.c include/limit.h\n\t$(CC) -c -o main.o main.c\n\
        part.o: part.S include/part.h\n\t$(CC) -c -o part.o part.S\n";
    let part = "#include \"include/part.h\"\n.data\n.globl part\npart: .long PART\n\
                .section .note.GNU-stack,\"\",@progbits\n";
    let main = "#include <stdio.h>\nextern int part;\nint main(void) { printf(\"%d\\n\", part); return 0; }\n";
    let files = [
        ("Makefile", makefile),
        ("part.S", part),
        ("main.c", main),
        ("include/part.h", "#define PART 1\n"),
    ];
    let project = recorded(&files);
    project.edit("part.S", ".data\n", ".data\n\n");
    let save = "echo '#define PART 2' > include/part.h";
    build_saving(&project, "after.sh", "*' -c '*part.S*", 1, save);
    assert_eq!(prints(&project), "1");
    assert_eq!(selected(&project), ["t/only"]);
}
