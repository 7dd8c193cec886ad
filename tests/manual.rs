//! Every example of the manual, run: a page is a session in a fresh directory, its files are written, its
//! edits made, its commands run on a terminal, and what they print is what the page shows.
//!
//! `EDGEWISE_MANUAL=write` puts what commands really print into the pages.

use crate::support::page;
use crate::support::terminal;

use crate::support::{Project, copy, testdata};
use edgewise::cli::config::Config;
use page::{Kind, Page, exchanges, matches};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How a study of hours is repeated, which is not done here.
const HOURS: &str = "docs/evidence.md";

/// Variables that would make the commands of a page do something else than on its reader's terminal.
const NOT_FOR_SESSIONS: &[&str] =
    &["EDGEWISE_TRACE", "EDGEWISE_CC", "CC", "CFLAGS", "LDFLAGS", "MAKEFLAGS", "DESTDIR"];

/// Nobody writes figures into the README that `scripts/bench all` did not come to.
#[test]
fn the_readme_quotes_the_benchmarks() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let results = std::fs::read_dir(root.join("benches/results")).unwrap().flatten();
    let mut all: Vec<_> = results.map(|entry| entry.path()).collect();
    all.retain(|path| path.to_str().unwrap().ends_with("-all"));
    let table = std::fs::read_to_string(all.iter().max().unwrap().join("table")).unwrap();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let figures = readme.split("## Figures\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows: Vec<&str> = figures.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert!(rows.len() > 5);
    for row in rows {
        assert!(table.lines().any(|line| line == row), "nobody measured: {row}");
    }
}

/// Nor those that the study did not come to.
#[test]
fn the_readme_quotes_the_study() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("docs/evidence/outcome.json")).unwrap();
    let all = &serde_json::from_str::<serde_json::Value>(&text).unwrap()["all"];
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let readme = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    let count = |name: &str| {
        let digits = all[name].as_u64().unwrap().to_string();
        let (thousands, rest) = digits.split_at(digits.len() - 3);
        format!("{thousands},{rest}")
    };
    for quoted in [
        format!("{} changes of twelve real programs", count("changes")),
        format!("{} times a test that behaves differently", count("differ")),
    ] {
        assert!(readme.contains(&quoted), "README.md does not say: {quoted}");
    }
    assert_eq!(all["missed"], 0);
}

#[test]
fn start_make() {
    play("docs/start-make.md");
}

#[test]
fn start_cmake() {
    play("docs/start-cmake.md");
}

#[test]
fn start_meson() {
    play("docs/start-meson.md");
}

#[test]
fn start_autotools() {
    play("docs/start-autotools.md");
}

#[test]
fn ci() {
    play("docs/ci.md");
}

#[test]
fn suites() {
    play("docs/suites.md");
}

#[test]
fn troubleshooting() {
    play("docs/troubleshooting.md");
}

#[test]
fn readme() {
    play("README.md");
}

/// What the README shows of the demo is what the demo prints.
#[test]
fn the_demo_of_the_readme() {
    let page = Page::read("README.md");
    let shown = page.text.lines().skip_while(|line| *line != "    $ edgewise select").skip(1);
    let shown: Vec<&str> =
        shown.take_while(|line| line.is_empty() || line.starts_with("    ")).collect();
    let shown: Vec<&str> =
        shown.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    assert!(shown.len() > 5, "{shown:?}");
    let project = Project::empty();
    let (lines, status) = terminal::run(shell(project.root(), "edgewise demo played"));
    assert!(status.success(), "{}", lines.join("\n"));
    let printed: Vec<&str> =
        lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    let found = printed.windows(shown.len()).any(|window| window == shown);
    assert!(found, "{}", lines.join("\n"));
}

/// Pages that are not played above, since nothing is to be run there: that is checked as well.
#[test]
fn other_pages() {
    let played = [
        "start-make",
        "start-cmake",
        "start-meson",
        "start-autotools",
        "suites",
        "troubleshooting",
        "ci",
    ];
    let played: Vec<String> = played.iter().map(|name| format!("docs/{name}.md")).collect();
    for name in pages() {
        if played.contains(&name) || name == "README.md" || name == HOURS {
            continue;
        }
        let blocks = Page::read(&name).blocks;
        assert!(blocks.iter().all(|block| block.kind != Kind::Session), "{name} is not played");
        play(&name);
    }
}

/// Does what a page says until all is built, at some place.
fn build_as(page: &Page, root: &Path) {
    std::fs::create_dir_all(root).unwrap();
    page.projects.iter().for_each(|start| copy(&testdata(start), root));
    for block in &page.blocks {
        match &block.kind {
            Kind::File(path) => std::fs::write(root.join(path), &block.text).unwrap(),
            Kind::Session => {
                for exchange in exchanges(&block.text) {
                    if exchange.command == "edgewise run" {
                        return;
                    }
                    let output = shell(root, &exchange.command).output().unwrap();
                    assert!(output.status.success(), "{}: {output:?}", exchange.command);
                }
            }
            _ => {}
        }
    }
    panic!("{} does not run its tests", page.name);
}

/// A history that was recorded in one place serves another one, whatever paths the build system
/// writes down.
#[test]
fn a_history_is_of_no_place() {
    for name in ["start-make", "start-cmake", "start-meson", "start-autotools"] {
        let page = Page::read(&format!("docs/{name}.md"));
        let directory = tempfile::tempdir().unwrap();
        let [here, there] = ["here", "quite/another/place"].map(|name| directory.path().join(name));
        build_as(&page, &here);
        build_as(&page, &there);
        let output = shell(&here, "edgewise run").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        std::fs::copy(here.join(".edgewise/history"), there.join(".edgewise/history")).unwrap();
        for command in ["edgewise select --from-build", "edgewise select"] {
            let output = shell(&there, command).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(said, "no test is affected: all 5 safely skipped\n", "{name}: {command}");
        }
    }
}

#[test]
fn links_lead_somewhere_and_every_page_is_in_the_index() {
    let links =
        |name: &str| page::links(&std::fs::read_to_string(repository().join(name)).unwrap());
    for name in pages() {
        let directory = repository().join(&name);
        for link in links(&name) {
            let target = directory.parent().unwrap().join(&link);
            assert!(target.exists(), "{name} links to {link}");
        }
    }
    let index = links("docs/README.md");
    let index: BTreeSet<PathBuf> = index.iter().map(|link| Path::new("docs").join(link)).collect();
    for name in pages().iter().filter(|name| *name != "docs/README.md" && *name != "README.md") {
        assert!(index.contains(Path::new(name)), "{name} is not in docs/README.md");
    }
}

/// The keys that the configuration has, as its own errors name them: `suite.name`.
fn keys() -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    let tables = [
        ("", ""),
        ("build.", "[build]\n"),
        ("instrument.", "[instrument]\n"),
        ("exclude.", "[exclude]\n"),
        ("suite.", "[[suite]]\n"),
    ];
    for (prefix, text) in tables {
        for key in expected(&format!("{text}no-such-key = 1\n")) {
            keys.insert(format!("{prefix}{key}"));
        }
    }
    // The tables themselves.
    for table in ["build", "instrument", "exclude", "suite"] {
        assert!(keys.remove(table), "{table} in {keys:?}");
    }
    keys
}

/// What a configuration that is wrong should have had instead.
fn expected(text: &str) -> Vec<String> {
    let error = format!("{:#}", Config::parse(text).unwrap_err());
    let list = error.split("expected ").nth(1).unwrap_or_else(|| panic!("{error}"));
    let list = list.lines().next().unwrap();
    list.split('`').skip(1).step_by(2).map(str::to_string).collect()
}

/// The keys that examples of a page have.
fn keys_shown(page: &Page) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for block in page.blocks.iter().filter(|block| block.kind == Kind::Configuration) {
        let table: toml::Table = block.text.parse().unwrap();
        for (name, value) in table {
            let tables = match &value {
                toml::Value::Table(table) => vec![table],
                toml::Value::Array(tables) if tables.iter().all(|table| table.is_table()) => {
                    tables.iter().filter_map(toml::Value::as_table).collect()
                }
                _ => {
                    keys.insert(name);
                    continue;
                }
            };
            keys.extend(
                tables.iter().flat_map(|table| table.keys()).map(|key| format!("{name}.{key}")),
            );
        }
    }
    keys
}

#[test]
fn the_configuration_page_has_every_key_and_no_other() {
    let page = Page::read("docs/configuration.md");
    let rows = page.text.lines().take_while(|line| !line.starts_with("## "));
    let cells = rows.filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let explained = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let explained: BTreeSet<String> = explained.map(str::to_string).collect();
    assert_eq!(explained, keys(), "the table");
    assert_eq!(keys_shown(&page), keys(), "the examples");
}

#[test]
fn the_page_of_suites_has_an_example_of_every_kind() {
    let page = Page::read("docs/suites.md");
    let kinds = expected("[[suite]]\nname = \"s\"\nkind = \"no-such-kind\"\n");
    assert_eq!(kinds.len(), 7, "{kinds:?}");
    for kind in kinds {
        assert!(page.text.contains(&format!("\n## {kind}\n")), "{kind} has no section");
        assert!(
            page.blocks.iter().any(|b| b.text.contains(&format!("kind = \"{kind}\""))),
            "{kind}"
        );
    }
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All pages of the manual, relative to the repository.
fn pages() -> Vec<String> {
    let entries = std::fs::read_dir(repository().join("docs")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<String> =
        names.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}")).collect();
    pages.push(String::from("README.md"));
    pages.sort();
    pages
}

/// Plays a page from its beginning to its end.
#[track_caller]
fn play(name: &str) {
    let page = Page::read(name);
    let project = Project::empty();
    for start in &page.projects {
        copy(&testdata(start), project.root());
    }
    let mut real: Vec<(usize, usize, Vec<String>)> = Vec::new();
    for block in &page.blocks {
        let place = format!("{name}:{}", block.line);
        match &block.kind {
            Kind::File(path) => project.write(path, &block.text),
            Kind::More(path) => {
                let text = project.read(path);
                project.write(path, &format!("{text}\n{}", block.text));
            }
            Kind::Edit => edit(&project, &block.text, &place),
            Kind::Configuration => {
                Config::parse(&block.text).unwrap_or_else(|error| panic!("{place}: {error:#}"));
            }
            Kind::Excerpt(path) => {
                let all = std::fs::read_to_string(repository().join(path)).unwrap();
                assert!(all.contains(&block.text), "{place}: {path} does not have these lines");
            }
            Kind::Session => {
                for exchange in exchanges(&block.text) {
                    let line = block.line + 1 + exchange.lines.0;
                    let (lines, status) = terminal::run(shell(project.root(), &exchange.command));
                    let said = lines.join("\n");
                    assert!(
                        status.success(),
                        "{name}:{line}: {status}\n$ {}\n{said}",
                        exchange.command
                    );
                    if !matches(&exchange.output, &lines) {
                        let commands = exchange.command.lines().count();
                        real.push((line + commands - 1, exchange.output.len(), lines));
                    }
                }
            }
        }
    }
    if std::env::var("EDGEWISE_MANUAL").is_ok_and(|wish| wish == "write") {
        return rewrite(&page, &real);
    }
    let different = real.iter().map(|(line, _, lines)| {
        format!("{name}:{line} prints something else:\n{}\n", lines.join("\n"))
    });
    let different: Vec<String> = different.collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// A shell as the reader has it, in the root of the project.
fn shell(root: &Path, command: &str) -> Command {
    let ours = Path::new(env!("CARGO_BIN_EXE_edgewise")).parent().unwrap();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = [ours.to_path_buf()].into_iter().chain(std::env::split_paths(&others));
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command).current_dir(root);
    shell.env("PATH", std::env::join_paths(path).unwrap());
    shell.env("EDGEWISE_SOURCES", repository());
    shell.env("LC_ALL", "C.UTF-8").env("TERM", "dumb").env("NO_COLOR", "1");
    NOT_FOR_SESSIONS.iter().for_each(|name| {
        shell.env_remove(name);
    });
    shell
}

/// Makes an edit as a person would, now: what a build made before has to be older.
fn edit(project: &Project, text: &str, place: &str) {
    std::thread::sleep(std::time::Duration::from_millis(20));
    let patch = project.path(".edit.patch");
    std::fs::write(&patch, text).unwrap();
    let output = Command::new("git")
        .args(["apply", "--unidiff-zero", ".edit.patch"])
        .current_dir(project.root())
        .env("GIT_CEILING_DIRECTORIES", project.root().parent().unwrap())
        .output()
        .unwrap();
    std::fs::remove_file(patch).unwrap();
    assert!(output.status.success(), "{place}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Puts what was really printed behind the commands of a page.
fn rewrite(page: &Page, real: &[(usize, usize, Vec<String>)]) {
    let mut lines: Vec<String> = page.text.lines().map(str::to_string).collect();
    for (line, count, printed) in real.iter().rev() {
        lines.splice(*line..line + count, printed.iter().cloned());
    }
    std::fs::write(repository().join(&page.name), format!("{}\n", lines.join("\n"))).unwrap();
}
