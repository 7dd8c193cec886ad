//! What every command prints, on the bundled sample: files in `tests/snapshots/`, one for each
//! command. `UPDATE=1 cargo test snapshots::` writes them anew; look at the difference in git.

use crate::support::{Project, sample};
use regex::Regex;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Lines of an export that are kept.
const HEAD: usize = 20;

struct Snapshots {
    project: Project,
    /// What is not the same everywhere, and what stands for it.
    rules: Vec<(Regex, &'static str)>,
    seen: BTreeSet<String>,
    wrong: Vec<String>,
}

impl Snapshots {
    fn new(project: Project) -> Self {
        let root = regex::escape(project.root().canonicalize().unwrap().to_str().unwrap());
        let program = regex::escape(env!("CARGO_BIN_EXE_edgewise"));
        let version = regex::escape(concat!("edgewise ", env!("CARGO_PKG_VERSION")));
        let version_key = format!("\"semanticVersion\": \"{}\"", env!("CARGO_PKG_VERSION"));
        let rules = [
            (root.as_str(), "ROOT"),
            (&program, "EDGEWISE"),
            (&version, "edgewise VERSION"),
            (&regex::escape(&version_key), "\"semanticVersion\": \"VERSION\""),
            // How far a run is, which a slow machine says now and then.
            (r"(?m)^edgewise: \d+ of \d+ tests?(, .*)?\n", ""),
            (r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "DATE"),
            (r"\b[0-9a-f]{64}\b", "FINGERPRINT"),
            (r"\b[0-9a-f]{32}\b", "FINGERPRINT"),
            (r"\b[0-9a-f]{12}\b", "ID"),
            (r"\b\d+ (kB|bytes)\b", "N kB"),
            (r"(?m)^(compiler|linker) \S+: (.*; )?(\d+ (unit|program))", "$1 TOOL: $3"),
            (r"(?m)^  /\S+: (\d+ tests?)$", "  LIBRARY: $1"),
            (r"\b\d+ libraries\b", "N libraries"),
            (r"\b\d+(\.\d+)? ms\b", "N ms"),
            (r"\b\d+ min \d+ s\b", "N s"),
            (r"\b\d+\.\d+ of \d+\.\d+ s\b", "N of N s"),
            (r"\b\d+\.\d+ s\b", "N s"),
            (r"\(\d+ %\)", "(N %)"),
            (r#""(seconds|seconds_saved)":( ?)\d+(\.\d+)?(e-?\d+)?"#, "\"$1\":${2}N"),
            (r#""milliseconds":( ?)\d+"#, "\"milliseconds\":${1}N"),
            // How much has to be looked at depends on how soon after a write that is.
            (r#""(preprocessor_runs|procedures_decoded|units_[a-z]+)": \d+"#, "\"$1\": N"),
            (r"\bit used \d+ files? of the project.*", "it used N files of the project"),
            (r#" time="\d+\.\d+""#, " time=\"N\""),
            // Macros of the C library are not the same everywhere.
            (r"\b\d+ of \d+ edges\b", "N of N edges"),
            (r"\b\d+ probes\b", "N probes"),
        ];
        let rules = rules.iter().map(|(text, stands)| (Regex::new(text).unwrap(), *stands));
        Self { rules: rules.collect(), project, seen: BTreeSet::new(), wrong: Vec::new() }
    }

    fn normal(&self, text: &str) -> String {
        let each = |text: String, (rule, stands): &(Regex, &str)| {
            rule.replace_all(&text, *stands).into_owned()
        };
        self.rules.iter().fold(text.to_string(), each)
    }

    fn run(&self, directory: &Path, arguments: &[&str]) -> Output {
        let mut command: Command = self.project.command();
        command.current_dir(directory).args(arguments);
        for variable in ["NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "COLUMNS", "EDGEWISE_CACHE"] {
            command.env_remove(variable);
        }
        command.output().unwrap()
    }

    /// Runs a command, and lays what it printed beside what it printed before.
    fn check(&mut self, name: &str, arguments: &[&str]) {
        self.check_in(".", name, arguments, usize::MAX);
    }

    fn check_in(&mut self, directory: &str, name: &str, arguments: &[&str], lines: usize) {
        let Output { status, stdout, stderr } = self.run(&self.project.path(directory), arguments);
        let mut text = format!("$ edgewise {}\n", arguments.join(" "));
        for (stream, bytes) in [("stdout", stdout), ("stderr", stderr)] {
            let printed = self.normal(&String::from_utf8(bytes).unwrap());
            if printed.is_empty() {
                continue;
            }
            let _ = writeln!(text, "--- {stream}");
            for line in printed.lines().take(lines) {
                let _ = writeln!(text, "{line}");
            }
            if printed.lines().count() > lines {
                text.push_str("…\n");
            }
        }
        let _ = writeln!(text, "--- exit code {}", status.code().unwrap());
        self.compare(name, &text);
    }

    /// The same of a file that a command wrote.
    fn check_file(&mut self, name: &str, file: &str) {
        let text = self.normal(&self.project.read(file));
        self.compare(name, &text);
    }

    fn compare(&mut self, name: &str, text: &str) {
        assert!(self.seen.insert(format!("{name}.txt")), "two are called {name}");
        let path = directory().join(format!("{name}.txt"));
        if is_update() {
            std::fs::create_dir_all(directory()).unwrap();
            std::fs::write(&path, text).unwrap();
            return;
        }
        let known = std::fs::read_to_string(&path).unwrap_or_default();
        if known != text {
            self.wrong.push(format!("=== {name}\n{}", difference(&known, text)));
        }
    }

    /// Complains of all that is not as it was, and of files that nothing is compared with.
    fn finish(self, is_ours: impl Fn(&str) -> bool) {
        let mut wrong = self.wrong;
        for entry in std::fs::read_dir(directory()).into_iter().flatten() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if is_ours(&name) && !self.seen.contains(&name) {
                match is_update() {
                    true => std::fs::remove_file(directory().join(&name)).unwrap(),
                    false => wrong.push(format!("=== {name} is of nothing any more\n")),
                }
            }
        }
        assert!(
            wrong.is_empty(),
            "{}\nIf that is as it should be: UPDATE=1 cargo test snapshots::",
            wrong.concat()
        );
    }
}

fn is_update() -> bool {
    std::env::var_os("UPDATE").is_some_and(|value| value == "1")
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots")
}

/// From the first line that differs to the last.
fn difference(known: &str, text: &str) -> String {
    let (known, text): (Vec<&str>, Vec<&str>) = (known.lines().collect(), text.lines().collect());
    let same = known.iter().zip(&text).take_while(|(a, b)| a == b).count();
    let rest = (&known[same..], &text[same..]);
    let behind = rest.0.iter().rev().zip(rest.1.iter().rev()).take_while(|(a, b)| a == b).count();
    let mut out = String::new();
    for (mark, lines) in [("-", rest.0), ("+", rest.1)] {
        for line in &lines[..lines.len() - behind] {
            let _ = writeln!(out, "{mark} {line}");
        }
    }
    out
}

/// The commands that a help lists.
fn listed(help: &str) -> Vec<String> {
    let behind = help.split_once("\nCommands:\n").map_or("", |(_, behind)| behind);
    let lines = behind.lines().take_while(|line| line.starts_with("  "));
    let names = lines.filter(|line| !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_string).collect()
}

#[test]
fn help() {
    let mut snapshots = Snapshots::new(Project::empty());
    let mut left: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(words) = left.pop() {
        let mut arguments = vec!["help"];
        arguments.extend(words.iter().map(String::as_str));
        let name =
            format!("help{}", words.iter().map(|word| format!("-{word}")).collect::<String>());
        snapshots.check(&name, &arguments);
        let output = snapshots.run(snapshots.project.root(), &arguments);
        for command in listed(&String::from_utf8(output.stdout).unwrap()) {
            left.push(words.iter().cloned().chain([command]).collect());
        }
    }
    assert!(snapshots.seen.len() > 20, "{:?}", snapshots.seen);
    snapshots.check("help-short", &["-h"]);
    snapshots.check("version", &["--version"]);
    snapshots.finish(|name| name.starts_with("help") || name.starts_with("version"));
}

/// The way of a project through all commands; each stands where the one before left it.
#[test]
fn commands_on_the_sample() {
    let project = sample();
    std::fs::create_dir(project.path("elsewhere")).unwrap();
    let mut at = Snapshots::new(project);

    at.check("init-is-there", &["init"]);
    at.check("init", &["init", "--force"]);
    at.check_file("init-file", "edgewise.toml");
    // Several jobs would print in any order.
    let config = std::fs::read_to_string(crate::support::testdata("sample/edgewise.toml")).unwrap();
    let config =
        config.replace("make -j2", "make -s").replace("README.md\"", "README.md\", \"out/**\"");
    at.project.write("edgewise.toml", &config);

    at.check("doctor-before-build", &["doctor"]);
    at.check_in(".", "select-before-run", &["select"], HEAD);
    at.check("history-show-nothing", &["history", "show"]);
    at.check("history-log-nothing", &["history", "log"]);
    at.check("gaps-nothing", &["gaps"]);
    at.check("build", &["build"]);
    at.check("build-nothing-to-do", &["build"]);
    at.check("doctor", &["doctor"]);
    at.check("run-nowhere-to-write", &["run", "--json", "out/results.json"]);
    std::fs::create_dir(at.project.path("out")).unwrap();
    at.check("run-some", &["run", "median", "version"]);
    at.check("run", &["run"]);
    at.check("select-nothing", &["select"]);

    let earlier = at.project.path("out/earlier");
    std::fs::copy(at.project.path(".edgewise/history"), &earlier).unwrap();
    change(&at.project);
    at.check("select", &["select"]);
    at.check("select-json", &["select", "--format", "json"]);
    at.check("select-markdown", &["select", "--format", "markdown"]);
    at.check("select-annotations", &["select", "--format", "annotations"]);
    at.check("select-github", &["select", "--format", "github"]);
    for format in ["ctest-file", "ctest-regex", "meson", "automake"] {
        at.check(&format!("select-{format}"), &["select", "--format", format]);
    }
    at.check("select-explain", &["select", "--explain", "cli/median-even"]);
    at.check("explain", &["explain", "cli/median-even"]);
    at.check("explain-skipped", &["explain", "cli/version"]);
    at.check("explain-procedure", &["explain", "stats_median"]);
    at.check("explain-line", &["explain", "lib/stats.c:47"]);
    at.check("explain-line-inside", &["explain", "lib/stats.c:11"]);
    at.check("explain-line-as-it-was", &["explain", "lib/text.c:19"]);
    at.check("explain-json", &["explain", "lib/stats.c:47", "--format", "json"]);
    at.check("doctor-after-change", &["doctor"]);
    at.check("select-all", &["select", "--algorithm", "all", "--format", "annotations"]);
    at.check("report", &["report", "--html", "out/report"]);
    at.check("test", &["test", "--markdown", "out/summary.md", "--junit", "out/results.xml"]);
    at.check_file("test-markdown", "out/summary.md");
    // Tests stand in the order in which they ended.
    let mut lines: Vec<String> = at
        .normal(&at.project.read("out/results.xml"))
        .lines()
        .map(|line| format!("{line}\n"))
        .collect();
    lines.sort();
    at.compare("test-junit", &lines.concat());
    at.check("test-nothing", &["test"]);
    at.check("run-shadow", &["run", "--shadow"]);

    at.check("gaps", &["gaps"]);
    at.check("gaps-json", &["gaps", "--format", "json"]);
    at.check("gaps-github", &["gaps", "--format", "github"]);
    at.check("gaps-sarif", &["gaps", "--format", "sarif"]);
    at.check("history-show", &["history", "show"]);
    at.check("history-show-test", &["history", "show", "cli/version"]);
    at.check("history-show-procedure", &["history", "show", "stats_median"]);
    at.check("history-show-line", &["history", "show", "lib/stats.c:47"]);
    at.check("history-log", &["history", "log"]);
    at.check("history-log-json", &["history", "log", "--json"]);
    at.check("history-diff", &["history", "diff", "out/earlier"]);
    at.check("history-diff-json", &["history", "diff", "out/earlier", "--json"]);
    for format in ["csv", "json", "lcov"] {
        let arguments = ["history", "export", "--format", format, "--test", "cli/version"];
        at.check_in(".", &format!("history-export-{format}"), &arguments, HEAD);
    }
    let merge = ["history", "merge", "out/earlier", ".edgewise/history", "--output", "out/merged"];
    at.check("history-merge", &merge);
    at.check("history-gc", &["history", "gc", "--keep", "0"]);

    at.check("cfg", &["cfg", "lib/text.c", "text_trim", "--", "-Iinclude"]);
    at.check("cfg-dot", &["cfg", "--format", "dot", "lib/text.c", "text_trim", "--", "-Iinclude"]);
    at.check("cfg-svg", &["cfg", "--svg", "lib/text.c", "text_trim", "--", "-Iinclude"]);
    let instrument = ["instrument", "lib/stats.c", "--out", "out/probed", "--", "-Iinclude"];
    at.check("instrument", &instrument);
    at.check("trace", &["trace", "--test", "by-hand/version", "--", "build/tally", "version"]);
    at.check("trace-verdict", &["trace", "--test", "by-hand/version", "--verdict", "passed"]);
    at.check("trace-fails", &["trace", "--test", "by-hand/bad", "--", "build/tally", "bad"]);
    let list = at.project.read("tests/list");
    at.project.write("tests/list", &format!("{list}bad build/tally bad\n"));
    at.check(
        "test-fails",
        &["test", "--no-build", "--json", "out/results.json", "--markdown", "out/summary.md"],
    );
    at.check_file("test-fails-markdown", "out/summary.md");
    let results = at.project.read("out/results.json");
    let shown: String = results.lines().take(2 * HEAD).map(|line| format!("{line}\n")).collect();
    at.compare("test-fails-json", &at.normal(&shown));

    at.check("error-no-command", &["nonsense"]);
    at.check("error-no-test", &["run", "nothing-like-it"]);
    at.check("error-no-label", &["run", "--label", "slow"]);
    at.check("error-no-such-test", &["select", "--explain", "cli/nothing"]);
    at.check("error-explain", &["explain", "cli/median-evn"]);
    at.check("error-explain-line", &["explain", "lib/stats.c:9999"]);
    at.check("error-no-suite", &["select", "--suite", "nothing"]);
    at.check("error-no-version", &["select", "--against", "nothing"]);
    at.check("error-no-line", &["history", "show", "lib/stats.c:1"]);
    at.check("error-no-procedure", &["history", "show", "nothing"]);
    at.check("error-no-history", &["history", "merge", "nothing"]);
    at.check("error-cfg-procedure", &["cfg", "lib/text.c", "nothing", "--", "-Iinclude"]);
    at.check("error-cfg-picture", &["cfg", "--svg", "lib/text.c"]);
    at.check("error-report-elsewhere", &["report", "--html", "lib"]);
    at.project.write("edgewise.toml", "[build]\ncommand = 3\n");
    at.check("error-configuration", &["select"]);
    at.finish(|name| !is_of_others(name));
}

/// What the other tests write.
fn is_of_others(name: &str) -> bool {
    ["help", "version", "demo", "nowhere"].iter().any(|begin| name.starts_with(begin))
}

/// A change with a test behind it, and one without.
fn change(project: &Project) {
    project.edit(
        "lib/stats.c",
        "return (values[middle - 1] + values[middle]) / 2.0;",
        "return values[middle - 1] + (values[middle] - values[middle - 1]) / 2.0;",
    );
    let source = project.read("lib/stats.c");
    project.write(
        "lib/stats.c",
        &format!("{source}\nint stats_nobody(int n)\n{{\n    return n;\n}}\n"),
    );
}

#[test]
fn without_a_project() {
    let mut at = Snapshots::new(Project::empty());
    for command in ["init", "build", "run", "select", "test", "gaps", "doctor"] {
        at.check(&format!("nowhere-{command}"), &[command]);
    }
    at.check("nowhere-history-show", &["history", "show"]);
    at.check("nowhere-report", &["report", "--html", "report"]);
    at.finish(|name| name.starts_with("nowhere"));
}

#[test]
fn demo() {
    let mut at = Snapshots::new(Project::empty());
    at.check("demo", &["demo", "sample"]);
    at.check("demo-is-there", &["demo", "sample"]);
    at.finish(|name| name.starts_with("demo"));
}
