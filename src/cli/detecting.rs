//! What a project is built and tested with, by a look at its files: the first
//! version of its `edgewise.toml`.

use crate::report::text::counted;
use std::path::{Path, PathBuf};

/// Where out-of-tree builds of edgewise go, beside the user's own.
const BUILD: &str = "build-edgewise";
/// How deep directories are looked into.
const DEPTH_MAX: usize = 4;
/// Directories of scripts that may be tests.
const SCRIPT_DIRECTORIES: &[&str] = &["tests", "test", "t"];
/// Files that may list tests, a name and a command a line.
const LISTS: &[&str] = &["tests/list", "test/list", "t/list", "tests.list"];

/// What was found, and what goes into the file.
#[derive(Debug, Default)]
pub struct Found {
    /// For people: what was seen, and what to look out for.
    pub notes: Vec<String>,
    build: Option<Build>,
    suites: Vec<Suite>,
    ignore: Vec<&'static str>,
}

#[derive(Debug)]
struct Build {
    command: String,
    comment: &'static str,
}

#[derive(Debug)]
struct Suite {
    name: &'static str,
    /// Lines behind the name.
    keys: String,
    comment: &'static str,
    /// It is one test.
    is_whole: bool,
}

/// The files of a project that say how it is built and tested.
struct Files {
    root: PathBuf,
    /// Relative to the root.
    all: Vec<PathBuf>,
}

pub fn detect(root: &Path) -> std::io::Result<Found> {
    let mut files = Files { root: root.to_path_buf(), all: Vec::new() };
    files.walk(Path::new(""), 0)?;
    let mut found = Found { ignore: vec!["**/*.log"], ..Found::default() };
    if files.has("CMakeLists.txt") {
        found.cmake(&files);
    } else if files.has("meson.build") {
        found.meson(&files);
    } else if files.has("configure.ac") || files.has("configure") {
        found.autotools(&files);
    } else if let Some(makefile) = files.first(&["GNUmakefile", "makefile", "Makefile"]) {
        found.make(&files, makefile);
    }
    // A list tells tests apart that a target runs as one.
    if found.suites.iter().all(|suite| suite.is_whole) {
        found.list(&files);
    }
    if found.suites.is_empty() {
        found.scripts(&files);
    }
    Ok(found)
}

impl Files {
    fn walk(&mut self, directory: &Path, depth: usize) -> std::io::Result<()> {
        for entry in fs_err::read_dir(self.root.join(directory))? {
            let entry = entry?;
            let path = directory.join(entry.file_name());
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            if !entry.file_type()?.is_dir() {
                self.all.push(path);
            } else if !is_hidden && depth < DEPTH_MAX && !is_build_directory(&entry.path()) {
                self.walk(&path, depth + 1)?;
            }
        }
        if depth == 0 {
            self.all.sort();
        }
        Ok(())
    }

    fn has(&self, name: &str) -> bool {
        self.root.join(name).is_file()
    }

    fn first(&self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().copied().find(|name| self.has(name))
    }

    /// The first file of these names in which a line is as wanted.
    fn with_line(&self, names: &[&str], is_wanted: impl Fn(&str) -> bool) -> Option<&Path> {
        let is_named = |path: &&PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            names.iter().any(|wanted| match wanted.strip_prefix('*') {
                Some(end) => name.ends_with(end),
                None => name == *wanted,
            })
        };
        let has_line = |path: &&PathBuf| {
            let text = std::fs::read(self.root.join(path)).unwrap_or_default();
            String::from_utf8_lossy(&text).lines().any(&is_wanted)
        };
        self.all.iter().filter(is_named).find(has_line).map(PathBuf::as_path)
    }

    /// How many files of a directory have an extension, and whether some are
    /// further down.
    fn scripts(&self, directory: &str, extension: &str) -> (usize, bool) {
        let is_script = |path: &&PathBuf| {
            path.starts_with(directory) && path.extension().is_some_and(|e| e == extension)
        };
        let scripts: Vec<&PathBuf> = self.all.iter().filter(is_script).collect();
        let is_deep = scripts.iter().any(|path| path.components().count() > 2);
        (scripts.len(), is_deep)
    }
}

/// Copies of the project's files, and of others, are there.
fn is_build_directory(path: &Path) -> bool {
    ["CMakeCache.txt", "meson-private", "config.status"].iter().any(|mark| path.join(mark).exists())
}

impl Found {
    fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    fn cmake(&mut self, files: &Files) {
        let command = format!("cmake -S . -B {BUILD} && cmake --build {BUILD} -j4");
        let comment = "Add the options that your tests need, -DBUILD_TESTING=ON for example.";
        self.build = Some(Build { command, comment });
        self.ignore.push("build-edgewise/**");
        let is_testing = |line: &str| {
            let line = line.trim().to_lowercase().replace(' ', "");
            line.starts_with("enable_testing(") || line.starts_with("include(ctest)")
        };
        match files.with_line(&["CMakeLists.txt", "*.cmake"], is_testing) {
            Some(file) => {
                self.note(format!("found CMake, and tests of CTest ({})", file.display()));
                self.suites.push(Suite {
                    name: "ctest",
                    keys: format!("kind = \"ctest\"\ndirectory = \"{BUILD}\"\n"),
                    comment: "",
                    is_whole: false,
                });
            }
            None => self.note("found CMake, but neither enable_testing() nor include(CTest)"),
        }
    }

    fn meson(&mut self, files: &Files) {
        let set_up = format!("{{ test -f {BUILD}/build.ninja || meson setup {BUILD}; }}");
        let comment = "Add the options that your tests need to `meson setup`.";
        self.build = Some(Build { command: format!("{set_up} && ninja -C {BUILD}"), comment });
        self.ignore.push("build-edgewise/**");
        let is_test = |line: &str| line.trim_start().starts_with("test(");
        match files.with_line(&["meson.build"], is_test) {
            Some(file) => {
                self.note(format!("found Meson, and tests ({})", file.display()));
                self.suites.push(Suite {
                    name: "meson",
                    keys: format!("kind = \"meson\"\ndirectory = \"{BUILD}\"\n"),
                    comment: "",
                    is_whole: false,
                });
            }
            None => self.note("found Meson, but no test() in a meson.build"),
        }
    }

    fn autotools(&mut self, files: &Files) {
        let is_tests = |line: &str| {
            let rest = line.strip_prefix("TESTS").map(str::trim_start);
            rest.is_some_and(|rest| rest.starts_with(['=', '+']))
        };
        let tests = files.with_line(&["Makefile.am"], is_tests);
        // Sources that are configured in their own directory refuse another.
        let is_in_tree = files.has("config.status") || files.has("Makefile");
        let configure = if files.has("configure") { "" } else { "autoreconf -fi && " };
        let check = if tests.is_some() { " && make check TESTS=" } else { "" };
        let command = match is_in_tree {
            true => format!("make -j4{check}"),
            false => {
                let configure = match configure {
                    "" => String::new(),
                    _ => format!(
                        "{{ test -x configure || {}; }} && ",
                        configure.trim_end_matches(" && ")
                    ),
                };
                let directory = format!("mkdir -p {BUILD} && cd {BUILD}");
                let set_up = "{ test -f Makefile || ../configure; }";
                format!("{configure}{directory} && {set_up} && make -j4{check}")
            }
        };
        let comment = match tests {
            Some(_) => "`make check TESTS=` builds the programs of the tests and runs none.",
            None => "",
        };
        self.build = Some(Build { command, comment });
        let directory = if is_in_tree { "." } else { BUILD };
        if is_in_tree {
            self.note("the sources are configured already: `make clean` before the first build");
            let outputs = ["**/*.trs", "**/.deps/**", "**/.libs/**", "autom4te.cache/**"];
            self.ignore.extend(outputs);
        } else {
            self.ignore.extend(["build-edgewise/**", "autom4te.cache/**"]);
        }
        match tests {
            Some(file) => {
                self.note(format!("found automake, and TESTS ({})", file.display()));
                self.suites.push(Suite {
                    name: "check",
                    keys: format!("kind = \"automake\"\ndirectory = \"{directory}\"\n"),
                    comment: "",
                    is_whole: false,
                });
            }
            None => {
                self.note("found a configure script, but no TESTS in a Makefile.am");
                if files.with_line(&["Makefile.in", "Makefile.am"], is_check).is_some() {
                    self.whole("make check", directory);
                }
            }
        }
    }

    fn make(&mut self, files: &Files, makefile: &'static str) {
        // Whether it can do several things at a time, its author knows.
        let comment = "Add -j4 if the makefile says all that its targets need.";
        self.build = Some(Build { command: String::from("make"), comment });
        self.note(format!("found a {makefile}: `make clean` before the first build"));
        self.ignore.push("**/*.o");
        let text = std::fs::read(files.root.join(makefile)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let has = |target: &str| text.lines().any(|line| is_target(line, target));
        if has("check") {
            self.whole("make check", ".");
        } else if has("test") {
            self.whole("make test", ".");
        }
    }

    /// A list of tests, which says more than a target that runs all of them.
    fn list(&mut self, files: &Files) {
        let is_list = |name: &&&str| {
            let text = std::fs::read_to_string(files.root.join(name)).unwrap_or_default();
            let lines = text.lines().map(str::trim);
            let mut tests =
                lines.filter(|line| !line.is_empty() && !line.starts_with('#')).peekable();
            tests.peek().is_some() && tests.all(|test| test.contains(char::is_whitespace))
        };
        let Some(name) = LISTS.iter().find(is_list) else { return };
        self.notes.retain(|note| !note.contains(ONE_TEST));
        self.note(format!("found a list of tests, {name}"));
        self.suites = vec![Suite {
            name: "all",
            keys: format!("kind = \"list\"\nfile = \"{name}\"\n"),
            comment: "",
            is_whole: false,
        }];
    }

    /// A target that runs all tests at once.
    fn whole(&mut self, command: &'static str, directory: &str) {
        self.note(format!("`{command}` {ONE_TEST}: tell its tests apart if you can"));
        self.suites.push(Suite {
            name: "make",
            keys: format!(
                "kind = \"list\"\ndirectory = \"{directory}\"\ngenerator = \"echo all {command}\"\n"
            ),
            comment: "All of it is one test. A list with a line for each of its tests, a name and a\n\
                # shell command, lets edgewise choose among them: see `edgewise help init`.",
            is_whole: true,
        });
    }

    fn scripts(&mut self, files: &Files) {
        for directory in SCRIPT_DIRECTORIES {
            let (count, is_deep) = files.scripts(directory, "t");
            let below = if is_deep { "**/" } else { "" };
            if count > 0 {
                self.note(format!("found {count} TAP scripts in {directory}/"));
                self.suites.push(Suite {
                    name: "tap",
                    keys: format!("kind = \"tap\"\npattern = \"{directory}/{below}*.t\"\n"),
                    comment: "",
                    is_whole: false,
                });
                return;
            }
            let (count, is_deep) = files.scripts(directory, "sh");
            let below = if is_deep { "**/" } else { "" };
            if count > 0 {
                let count = counted(count, "shell script");
                self.note(format!("found {count} in {directory}/"));
                self.suites.push(Suite {
                    name: "scripts",
                    keys: format!(
                        "kind = \"glob\"\npattern = \"{directory}/{below}*.sh\"\ncommand = \"sh {{}}\"\n"
                    ),
                    comment: "Name the scripts that are tests: those that others read in are none.",
                    is_whole: false,
                });
                return;
            }
        }
    }

    pub fn has_build(&self) -> bool {
        self.build.is_some()
    }

    pub fn has_tests(&self) -> bool {
        !self.suites.is_empty()
    }

    /// The text of `edgewise.toml`.
    pub fn text(&self) -> String {
        let ignore: Vec<String> = self.ignore.iter().map(|glob| format!("{glob:?}")).collect();
        let mut out = format!(
            "# What neither the build nor a test reads: outputs, logs, documentation. Never a\n\
             # source, a build description or data of a test.\nignore = [{}]\n\n[build]\n",
            ignore.join(", ")
        );
        match &self.build {
            Some(Build { command, comment }) => {
                out.push_str("# Run in this directory, also when nothing has to be done.\n");
                if !comment.is_empty() {
                    out.push_str(&format!("# {comment}\n"));
                }
                out.push_str(&format!("command = {command:?}\n"));
            }
            None => out.push_str("# command = \"make\"\n"),
        }
        for Suite { name, keys, comment, .. } in &self.suites {
            let comment = if comment.is_empty() { String::new() } else { format!("# {comment}\n") };
            out.push_str(&format!("\n{comment}[[suite]]\nname = \"{name}\"\n{keys}"));
        }
        if self.suites.is_empty() {
            out.push_str(
                "\n# Tests: one [[suite]] for each place that knows of some. A list has a line for\n\
                 # each test, its name and a shell command.\n# [[suite]]\n# name = \"all\"\n\
                 # kind = \"list\"\n# file = \"tests/list\"\n",
            );
        }
        out
    }
}

const ONE_TEST: &str = "is taken as one test";

fn is_check(line: &str) -> bool {
    is_target(line, "check")
}

/// Whether a line of a makefile is a rule for a target, which may be one of several.
fn is_target(line: &str, target: &str) -> bool {
    let Some((targets, rest)) = line.split_once(':') else { return false };
    let is_assignment = rest.starts_with('=') || rest.starts_with(":=") || targets.contains('=');
    let is_recipe = line.starts_with(['\t', '#']);
    !is_assignment && !is_recipe && targets.split_whitespace().any(|name| name == target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::config::Config;

    fn detected(files: &[(&str, &str)]) -> String {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let text = detect(root.path()).unwrap().text();
        Config::parse(&text).unwrap();
        text
    }

    #[test]
    fn every_kind_of_project_gives_a_file_that_is_right() {
        let cases: &[(&[(&str, &str)], &str)] = &[
            (&[("CMakeLists.txt", "Enable_Testing ()")], "kind = \"ctest\""),
            (
                &[("CMakeLists.txt", ""), ("x/CMakeLists.txt", " include(CTest)")],
                "kind = \"ctest\"",
            ),
            (&[("meson.build", ""), ("t/meson.build", "  test('a', b)")], "kind = \"meson\""),
            (&[("configure.ac", ""), ("Makefile.am", "TESTS = a")], "kind = \"automake\""),
            (&[("configure", ""), ("Makefile.in", "check: all")], "echo all make check"),
            (&[("Makefile", "test: all\n")], "echo all make test"),
            (&[("Makefile", "test check : all\n\t$(MAKE) -j4 run\n")], "echo all make check"),
            (
                &[("Makefile", "check: all\n"), ("tests/list", "# x\na ./a -v\n")],
                "file = \"tests/list\"",
            ),
            (
                &[("Makefile", ""), ("tests/list", "one two\nthree\n"), ("tests/a.sh", "")],
                "tests/*.sh",
            ),
            (&[("Makefile", "a:\n\ttest: x\ntest := 3\n")], "# kind = \"list\""),
            (&[("Makefile", ""), ("t/a.t", "")], "pattern = \"t/*.t\""),
            (&[("tests/x/a.sh", "")], "pattern = \"tests/**/*.sh\""),
            (&[], "# kind = \"list\""),
        ];
        for (files, expected) in cases {
            let text = detected(files);
            assert!(text.contains(expected), "{files:?}\n{text}");
        }
    }

    #[test]
    fn a_project_that_is_configured_in_place_is_built_there() {
        let files = [("configure", ""), ("config.status", ""), ("Makefile.am", "TESTS += a")];
        let text = detected(&files);
        assert!(text.contains("command = \"make -j4 && make check TESTS=\""), "{text}");
        assert!(text.contains("directory = \".\""), "{text}");
    }
}
