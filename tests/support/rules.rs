//! One recorded project, many edits: each is asked about from sources, then built
//! and asked about from the build, and undone.

use super::Project;
use std::collections::BTreeSet;
use std::process::Command;

pub struct Recorded {
    pub project: Project,
    /// All of it as it was recorded, with the times of its files.
    kept: tempfile::TempDir,
    /// Variables for every command.
    variables: Vec<(String, String)>,
}

/// A name that stands for all tests.
pub const ALL: &str = "*";

impl Recorded {
    pub fn new(project: Project) -> Self {
        Self::with_variables(project, &[])
    }

    pub fn with_variables(project: Project, variables: &[(&str, String)]) -> Self {
        let kept = tempfile::Builder::new().prefix("edgewise-kept").tempdir().unwrap();
        let variables = variables.iter().map(|(name, value)| (name.to_string(), value.clone()));
        let recorded = Self { project, kept, variables: variables.collect() };
        recorded.run(&["build"]);
        recorded.run(&["run"]);
        assert_eq!(recorded.select(&[]), BTreeSet::new(), "the same version selects nothing");
        copy(recorded.project.root(), recorded.kept.path());
        recorded
    }

    /// Edits, and asks from sources and from a build for exactly these tests.
    #[track_caller]
    pub fn both(&self, title: &str, edit: impl Fn(&Project), expected: &[&str]) {
        self.rule(title, edit, expected, expected);
    }

    /// The same where the sources do not tell as much as the build.
    #[track_caller]
    pub fn rule(&self, title: &str, edit: impl Fn(&Project), sources: &[&str], build: &[&str]) {
        edit(&self.project);
        assert_eq!(self.select(&[]), self.named(sources), "{title}, from sources");
        self.run(&["build"]);
        let built = self.select(&["--from-build"]);
        assert_eq!(built, self.named(build), "{title}, from the build");
        let again = self.select(&[]);
        assert!(again.is_superset(&built), "{title}, from sources that are built: {again:?}");
        self.restore();
    }

    /// Only the sources are asked.
    #[track_caller]
    pub fn unbuilt(&self, title: &str, edit: impl Fn(&Project), expected: &[&str]) -> String {
        edit(&self.project);
        assert_eq!(self.select(&[]), self.named(expected), "{title}");
        let said = self.command(&["select"]).output().unwrap().stderr;
        self.restore();
        String::from_utf8(said).unwrap()
    }

    pub fn restore(&self) {
        for entry in std::fs::read_dir(self.project.root()).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() && !path.is_symlink() {
                true => std::fs::remove_dir_all(path).unwrap(),
                false => std::fs::remove_file(path).unwrap(),
            }
        }
        copy(self.kept.path(), self.project.root());
    }

    fn named(&self, names: &[&str]) -> BTreeSet<String> {
        let list = self.project.read("tests.list");
        let all = list.lines().filter_map(|line| line.split_whitespace().next());
        let is_wanted = |name: &&str| names.contains(&ALL) || names.contains(name);
        let found: BTreeSet<String> = all.filter(is_wanted).map(String::from).collect();
        assert!(names.contains(&ALL) || found.len() == names.len(), "{names:?}");
        found
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.project.command();
        command.args(arguments);
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        command
    }

    pub fn run(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "edgewise {arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Names of the selected tests without their suite.
    pub fn select(&self, options: &[&str]) -> BTreeSet<String> {
        let said = self.run(&[&["select"], options].concat());
        said.lines().map(|line| line.rsplit('/').next().unwrap().to_string()).collect()
    }
}

/// Copies a directory with the times of its files.
fn copy(from: &std::path::Path, to: &std::path::Path) {
    let status = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status().unwrap();
    assert!(status.success());
}
