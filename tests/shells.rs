//! Completions in real shells, and manual pages in the formatter of `man`.

use crate::support::terminal;

use crate::support::Project;
use std::path::Path;
use std::process::{Command, Stdio};
use terminal::Terminal;

const MAIN: &str = "int main(void)\n{\n    return 0;\n}\n";

fn project() -> Project {
    let project = Project::of_source(MAIN, &[("first", ""), ("second", "")]);
    project.record();
    project
}

/// A shell in the project, with edgewise on its path.
fn shell(project: &Project, name: &str, arguments: &[&str]) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_edgewise"));
    let path =
        format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(name);
    command.args(arguments).current_dir(project.root()).env("PATH", path);
    // No file of somebody's home is read or written.
    command.env("HOME", project.root()).env("ZDOTDIR", project.root()).env("LC_ALL", "C.UTF-8");
    for variable in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "EDGEWISE_TRACE"] {
        command.env_remove(variable);
    }
    command
}

/// What is there is completed, and the command runs.
fn completes(terminal: &mut Terminal, begun: &str, expected: &str) {
    terminal.type_in(begun);
    terminal.type_in("\t");
    terminal.wait_for(expected);
    // Away with the line.
    terminal.type_in("\x15");
}

fn completes_all(mut terminal: Terminal) {
    completes(&mut terminal, "edgewise doct", "edgewise doctor");
    completes(&mut terminal, "edgewise history exp", "edgewise history export");
    completes(&mut terminal, "edgewise select --forma", "edgewise select --format");
    completes(&mut terminal, "edgewise select --format mark", "--format markdown");
    completes(&mut terminal, "edgewise select --explain t/sec", "--explain t/second");
    completes(&mut terminal, "edgewise run t/fir", "edgewise run t/first");
    terminal.end();
}

#[test]
fn bash_completes() {
    let project = project();
    let mut terminal =
        Terminal::start(shell(&project, "bash", &["--norc", "--noprofile", "-i"]), 200);
    terminal
        .type_in("PS1='ready> '; set -u; eval \"$(edgewise completions bash)\"; echo $?-loaded\n");
    terminal.wait_for("0-loaded");
    completes_all(terminal);
}

#[test]
fn zsh_completes() {
    let project = project();
    let mut terminal = Terminal::start(shell(&project, "zsh", &["-f", "-i"]), 200);
    terminal.type_in("autoload -U compinit && compinit -u -D; eval \"$(edgewise completions zsh)\"; echo $?-loaded\n");
    terminal.wait_for("0-loaded");
    completes_all(terminal);
}

#[test]
fn fish_completes() {
    let project = project();
    let script = project.ok(&["completions", "fish"]);
    project.write("edgewise.fish", &script);
    for (begun, expected) in [
        ("edgewise doct", "doctor"),
        ("edgewise history exp", "export"),
        ("edgewise select --format mark", "markdown"),
        ("edgewise select --explain t/sec", "t/second"),
        ("edgewise run t/fir", "t/first"),
    ] {
        let asked = format!("source edgewise.fish; complete -C '{begun}'");
        let output = shell(&project, "fish", &["-N", "-c", &asked]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let found = said.lines().any(|line| line.split('\t').next() == Some(expected));
        assert!(found, "{expected} in {said}");
    }
}

#[test]
fn elvish_completes() {
    let project = project();
    let mut terminal = Terminal::start(shell(&project, "elvish", &["-norc"]), 200);
    terminal.type_in("eval (edgewise completions elvish | slurp); echo (+ 40 2)-loaded\n");
    terminal.wait_for("42-loaded");
    for (begun, expected) in [
        ("doct", "doctor"),
        ("history exp", "export"),
        ("select --format mark", "markdown"),
        ("select --explain t/sec", "t/second"),
        ("run t/fir", "t/first"),
    ] {
        let completer = "$edit:completion:arg-completer[edgewise]";
        terminal.type_in(&format!("echo says-({completer} edgewise {begun})\n"));
        terminal.wait_for(&format!("says-{expected}"));
    }
    terminal.end();
}

#[test]
fn a_shell_that_is_not_here_gets_a_script_too() {
    let script = Project::empty().ok(&["completions", "powershell"]);
    assert!(script.contains("EDGEWISE_COMPLETE"), "{script}");
}

/// Somebody is typing, and nobody wants to read what is wrong with the project.
#[test]
fn where_there_is_no_project_there_are_no_names() {
    let project = Project::empty();
    let mut command = project.command();
    command.env("EDGEWISE_COMPLETE", "fish").args(["--", "edgewise", "run", ""]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("t/"), "{output:?}");
}

#[test]
fn manual_pages_are_without_a_warning() {
    let project = Project::empty();
    let written = project.ok(&["man", "--out", "man1"]);
    let pages: Vec<&str> = written.lines().collect();
    for page in ["edgewise.1", "edgewise-select.1", "edgewise-history.1", "edgewise-history-log.1"]
    {
        assert!(pages.contains(&format!("man1/{page}").as_str()), "{page} in {written}");
    }
    let mut text = String::new();
    for page in pages {
        let mut groff = Command::new("groff");
        groff.current_dir(project.root()).args(["-man", "-Tutf8", "-ww", "-P-cbu", page]);
        let output = groff.output().unwrap();
        let warnings = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && warnings.is_empty(), "{page}: {warnings}");
        let page = String::from_utf8(output.stdout).unwrap();
        assert!(page.contains("SYNOPSIS"), "{page}");
        text.push_str(&page);
    }
    // Examples keep their lines, and characters that roff knows are themselves.
    for expected in [
        "edgewise select --format json | jq -r '.selected[].name'\n",
        "ctest --test-dir build -R \"$(edgewise select --format ctest-regex)\"\n",
        "EXIT CODES\n",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    assert_eq!(project.ok(&["man"]), project.read("man1/edgewise.1"));
}
