//! What people see: colours, the width of a terminal, and names that would command it.

use crate::support::terminal;

use crate::support::Project;
use std::process::{Command, Output};
use terminal::{Terminal, plain};

const MAIN: &str = "\
#include <stdio.h>
#include <string.h>
int area(int width, int height)
{
    return width * height;
}
int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], \"wide\") == 0)
        printf(\"%d is the area of a rectangle that is very wide, and so is this line\\n\", area(9, 1));
    else
        puts(\"narrow\");
    return 0;
}
";

fn project() -> Project {
    let tests = [("wide", "wide"), ("also-wide", "wide"), ("narrow", "")];
    let project = Project::of_source(MAIN, &tests);
    project.record();
    project.edit(
        "main.c",
        "return width * height;",
        "return height * width + 0 * (width - height);",
    );
    project
}

fn on_terminal(
    project: &Project,
    columns: u16,
    arguments: &[&str],
    set: &[(&str, &str)],
) -> String {
    let mut command = project.command();
    command.args(arguments);
    set.iter().for_each(|(name, value)| {
        command.env(name, value);
    });
    Terminal::start(command, columns).finish().1
}

fn piped(project: &Project, arguments: &[&str], set: &[(&str, &str)]) -> (String, String) {
    let mut command: Command = project.command();
    command.args(arguments).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    set.iter().for_each(|(name, value)| {
        command.env(name, value);
    });
    let Output { stdout, stderr, .. } = command.output().unwrap();
    (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

fn words(text: &str) -> Vec<String> {
    plain(text).split_whitespace().map(str::to_string).collect()
}

#[test]
fn a_narrow_terminal_gets_the_same_words_in_more_lines() {
    let project = project();
    project.ok(&["test"]);
    project.edit(
        "main.c",
        "\"narrow\"",
        "\"not wide, and so long that forty columns are not enough\"",
    );
    let commands: [&[&str]; 9] = [
        &["demo", "--help"],
        &["select"],
        &["select", "--explain", "t/narrow"],
        &["history", "log"],
        &["history", "show"],
        &["history", "show", "t/wide"],
        &["gaps"],
        &["doctor"],
        &["run", "--names", "no/such/file"],
    ];
    for arguments in commands {
        let wide = on_terminal(&project, 500, arguments, &[]);
        let narrow = on_terminal(&project, 40, arguments, &[]);
        assert_eq!(words(&wide), words(&narrow), "{arguments:?}");
        for line in plain(&narrow).lines() {
            let is_one_word = line.split_whitespace().count() <= 1;
            assert!(line.chars().count() <= 40 || is_one_word, "{arguments:?}: {line:?}");
        }
    }
    // Where nobody looks, nothing is broken.
    let (_, said) = piped(&project, &["select"], &[]);
    assert!(said.lines().any(|line| line.len() > 40), "{said}");
    let wide = on_terminal(&project, 500, &["select"], &[("NO_COLOR", "1")]);
    assert_eq!(wide, said);
}

/// What continues an example stands further in, so that it is not taken for another.
#[test]
fn examples_keep_their_shape_on_a_narrow_terminal() {
    let project = Project::empty();
    let help = plain(&on_terminal(&project, 40, &["gaps", "--help"], &[])).replace('\r', "");
    let examples = help.split("Examples:\n").nth(1).unwrap();
    let expected = "  edgewise test; edgewise gaps\n  edgewise gaps --against 1f4e9a3c\n    --format github\n  \
                    edgewise gaps --format sarif\n    >gaps.sarif\n";
    assert_eq!(examples, expected);
    let (piped, _) = piped(&project, &["gaps", "--help"], &[]);
    assert!(piped.contains("\n  edgewise gaps --against 1f4e9a3c --format github\n"), "{piped}");
}

#[test]
fn colours_come_if_they_are_wanted_and_say_nothing_alone() {
    let project = project();
    let coloured = on_terminal(&project, 200, &["select"], &[]);
    for expected in ["\x1b[1mt/wide\x1b[0m", "\x1b[31m- main.c:5:", "\x1b[32m+ main.c:5:"] {
        assert!(coloured.contains(expected), "{expected:?} in {coloured:?}");
    }
    let without = on_terminal(&project, 200, &["select"], &[("NO_COLOR", "1")]);
    assert_eq!(plain(&coloured), without);
    assert!(!without.contains('\x1b'));
    for (arguments, set) in [
        (vec!["select", "--color", "never"], ("CLICOLOR_FORCE", "1")),
        (vec!["--color=never", "select"], ("A", "1")),
        (vec!["select"], ("CLICOLOR", "0")),
        (vec!["--help"], ("NO_COLOR", "1")),
        (vec!["--color=never", "--help"], ("A", "1")),
    ] {
        let text = on_terminal(&project, 200, &arguments, &[set]);
        assert!(!text.contains('\x1b'), "{arguments:?} {set:?}: {text:?}");
    }

    // Elsewhere only if somebody asks for it; and never in names that others read.
    let (names, said) = piped(&project, &["select"], &[]);
    assert_eq!(names, "t/wide\nt/also-wide\n");
    assert!(!said.contains('\x1b'));
    for (arguments, set) in [
        (vec!["select", "--color", "always"], ("NO_COLOR", "1")),
        (vec!["select", "--color=always"], ("A", "1")),
        (vec!["select"], ("CLICOLOR_FORCE", "1")),
    ] {
        let (coloured_names, coloured) = piped(&project, &arguments, &[set]);
        assert_eq!(coloured_names, names);
        assert_ne!(coloured, said, "{arguments:?}");
        assert_eq!(plain(&coloured), said);
    }
    let (help, _) = piped(&project, &["--color", "always", "--help"], &[]);
    assert!(help.contains('\x1b'));
    let (_, said) = piped(&project, &["history", "show", "nothing", "--color", "always"], &[]);
    assert!(said.starts_with("\x1b[31medgewise:\x1b[0m "), "{said:?}");
    assert!(said.contains("\n\x1b[36mhint:\x1b[0m "), "{said:?}");
}

#[test]
fn progress_stays_in_its_line() {
    let project = project();
    let name = "a-name-that-alone-is-longer-than-the-terminal-is-wide";
    project.write(
        "tests.list",
        &format!("{name} sleep 0.3; ./prog\nb sleep 0.3; ./prog\nc sleep 0.3\n"),
    );
    let text = on_terminal(&project, 40, &["run", "-j1"], &[]);
    let lines: Vec<&str> = text.split("\r\x1b[K").skip(1).collect();
    assert!(lines.iter().any(|line| line.contains("of 3 tests")), "{text:?}");
    for line in &lines[..lines.len() - 1] {
        assert!(line.chars().count() < 40 && !line.contains('\n'), "{line:?}");
    }
    assert!(text.ends_with("\n"), "{text:?}");
    // A terminal that cannot write over a line gets none.
    let mut command = project.command();
    command.args(["run", "-j1"]);
    let mut shell = Command::new("/bin/sh");
    shell.current_dir(project.root()).args(["-c", "TERM=dumb exec \"$0\" run -j1"]);
    shell.arg(command.get_program());
    let (_, text) = Terminal::start(shell, 40).finish();
    assert!(!text.contains('\x1b'), "{text:?}");
}

#[test]
fn nothing_of_a_project_commands_the_terminal() {
    const CLEAR: &str = "\x1b[2J";
    let project = Project::empty();
    project.write(
        "main.c",
        "int main(int argc, char **argv)\n{\n    (void)argv;\n    return argc > 1;\n}\n",
    );
    project.write("Makefile", "prog: main.c\n\t$(CC) -o prog main.c\n");
    let name = format!("x{CLEAR}y\u{9b}2J");
    project.write(&format!("t/{name}.sh"), &format!("cat 'data{CLEAR}' && ./prog\n"));
    project.write(&format!("t/bad{CLEAR}.sh"), "printf '\\033[2Jprinted'; ./prog 1\n");
    project.write(&format!("data{CLEAR}"), "a\n");
    project.write(
        "edgewise.toml",
        "[build]\ncommand = \"make -s\"\n[[suite]]\nname = \"g\"\nkind = \"glob\"\npattern = \"t/*.sh\"\ncommand = \"sh {}\"\n",
    );
    project.ok(&["build"]);
    let full = format!("g/{name}");
    let mut seen = String::new();
    let mut look = |arguments: &[&str]| {
        let text = on_terminal(&project, 80, arguments, &[]);
        for foreign in [CLEAR, "\u{9b}"] {
            assert!(!text.contains(foreign), "{arguments:?}: {text:?}");
        }
        seen.push_str(&text);
    };
    look(&["run"]);
    project.write(&format!("data{CLEAR}"), "b\n");
    look(&["select"]);
    look(&["select", "--explain", &full]);
    look(&["select", "--format", "markdown"]);
    look(&["select", "--format", "annotations"]);
    look(&["select", "--suite", &full]);
    look(&["history", "show", &full]);
    look(&["history", "show", "main.c:4"]);
    look(&["history", "show", CLEAR]);
    look(&["test"]);
    look(&["run", "--names", &format!("no{CLEAR}")]);
    for shown in ["\\u{1b}[2J", "g/x\\u{1b}[2Jy\\u{9b}2J", "data\\u{1b}[2J changed"] {
        assert!(seen.contains(shown), "{shown} in {seen}");
    }
}

#[test]
fn what_cannot_be_written_is_an_error() {
    let project = project();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = project.command().args(["select"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("edgewise: cannot write the output: "), "{said}");
}
