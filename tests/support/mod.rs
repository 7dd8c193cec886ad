//! A project in a temporary directory, and edgewise run in it.

pub mod ci;
pub mod compare;
pub mod generator;
pub mod graph_text;
pub mod misses;
pub mod mutants;
pub mod page;
mod reached;
pub mod rules;
pub mod terminal;

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub struct Project {
    pub directory: tempfile::TempDir,
}

/// The bundled sample.
pub fn sample() -> Project {
    let project = Project::empty();
    copy(&testdata("sample"), project.root());
    project
}

pub fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

/// Copies a directory with all that is in it; links stay links.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            copy(&entry.path(), &target);
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(entry.path()).unwrap(), target).unwrap();
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

impl Project {
    pub fn empty() -> Self {
        let directory = tempfile::Builder::new().prefix("edgewise-test").tempdir().unwrap();
        Self { directory }
    }

    /// A program of one source, built by `make`, with tests `name: arguments`.
    pub fn of_source(source: &str, tests: &[(&str, &str)]) -> Self {
        let project = Self::empty();
        project.write("main.c", source);
        project.write("Makefile", "prog: main.c\n\t$(CC) -O2 -o prog main.c\n");
        project.write_config();
        let list = tests.iter().map(|(name, args)| format!("{name} ./prog {args}\n"));
        project.write("tests.list", &list.collect::<String>());
        project
    }

    pub fn write_config(&self) {
        self.write(
            "edgewise.toml",
            "ignore = [\"*.out\"]\n[build]\ncommand = \"make -s\"\n[[suite]]\nname = \"t\"\n\
             kind = \"list\"\nfile = \"tests.list\"\n",
        );
    }

    pub fn root(&self) -> &Path {
        self.directory.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Replaces text that must occur exactly once.
    pub fn edit(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert_eq!(text.matches(from).count(), 1, "`{from}` in {name}");
        self.write(name, &text.replace(from, to));
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_edgewise"));
        command.current_dir(self.root()).env_remove("EDGEWISE_TRACE");
        command
    }

    /// The same, to be interrupted: where a shell runs us in the background, interrupts are
    /// ignored, and so they would be by whomever we start.
    pub fn hearing(&self) -> Command {
        let mut command = self.command();
        // SAFETY: the call is allowed between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::signal(libc::SIGINT, libc::SIG_DFL);
                libc::signal(libc::SIGHUP, libc::SIG_DFL);
                Ok(())
            });
        }
        command
    }

    pub fn edgewise(&self, arguments: &[&str]) -> Output {
        self.command().args(arguments).output().unwrap()
    }

    /// Runs edgewise, which must succeed; its stdout.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let output = self.edgewise(arguments);
        assert!(
            output.status.success(),
            "edgewise {arguments:?}: {}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs edgewise: its exit code, and its stdout.
    pub fn says(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.edgewise(arguments);
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    }

    /// Builds and records all tests.
    pub fn record(&self) {
        self.ok(&["build"]);
        self.ok(&["run"]);
    }

    /// Names of the selected tests without their suite, sorted.
    pub fn selected(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .ok(&["select"])
            .lines()
            .map(|line| line.rsplit('/').next().unwrap().to_string())
            .collect();
        names.sort();
        names
    }

    pub fn select_json(&self, arguments: &[&str]) -> serde_json::Value {
        let mut all = vec!["select", "--format", "json"];
        all.extend(arguments);
        serde_json::from_str(&self.ok(&all)).unwrap()
    }
}
