//! Workflows of CI services, run on this machine: every job in a directory of its own, with what the
//! services hand from one to the next.

pub mod expression;
pub mod github;
pub mod gitlab;
pub mod real;

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Success,
    Failure,
    Skipped,
}

impl Fate {
    pub fn word(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Skipped => "skipped",
        }
    }
}

pub fn yaml(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A list, or one alone.
pub fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::String(one) => vec![one.clone()],
        Value::Array(all) => all.iter().flat_map(strings).collect(),
        other => panic!("{other} is no list of words"),
    }
}

/// A repository that a service has cloned from.
pub struct Origin {
    pub directory: tempfile::TempDir,
}

impl Origin {
    /// Of what is in a directory, on a branch `main`.
    pub fn new(fill: impl FnOnce(&Path)) -> Self {
        let origin = Self { directory: tempfile::tempdir().unwrap() };
        fill(origin.directory.path());
        origin.git(&["init", "-q", "-b", "main"]);
        origin.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
        origin.commit("first");
        origin
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        git(self.directory.path(), arguments)
    }

    /// Commits all that is there.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub fn edit(&self, name: &str, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.path(name)).unwrap();
        assert_eq!(text.matches(from).count(), 1, "`{from}` in {name}");
        std::fs::write(self.path(name), text.replace(from, to)).unwrap();
    }

    /// What a service checks out for a branch: its merge with main.
    pub fn merged(&self, branch: &str) -> String {
        self.git(&["checkout", "-q", "--detach", "main"]);
        self.git(&["merge", "-q", "--no-ff", "-m", "merge", branch]);
        let sha = self.git(&["rev-parse", "HEAD"]);
        self.git(&["checkout", "-q", branch]);
        sha
    }
}

pub fn git(directory: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args([
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.org",
        "-c",
        "commit.gpgsign=false",
    ]);
    command.args(arguments).current_dir(directory).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}

/// One version alone, and none of the branches.
pub fn check_out(into: &Path, origin: &Path, sha: &str) {
    git(into, &["init", "-q"]);
    git(into, &["fetch", "-q", "--depth", "1", origin.to_str().unwrap(), sha]);
    git(into, &["checkout", "-q", "FETCH_HEAD"]);
}

/// One machine of a service, for one job.
pub struct Machine {
    directory: tempfile::TempDir,
    /// Of a length of its own, so that no absolute path is the same twice.
    pub work: PathBuf,
}

impl Machine {
    pub fn new(number: usize) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let work =
            directory.path().join(format!("runner{}", "-x".repeat(number % 7))).join("project");
        std::fs::create_dir_all(&work).unwrap();
        std::fs::create_dir_all(directory.path().join("home/.cargo/bin")).unwrap();
        Self { directory, work }
    }

    pub fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    pub fn scratch(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn check_out(&self, origin: &Path, sha: &str) {
        check_out(&self.work, origin, sha);
    }

    /// A shell with a fresh environment, in the directory of the project.
    pub fn shell(&self, options: &[&str], script: &str) -> Command {
        let file = self.scratch("script");
        std::fs::write(&file, script).unwrap();
        let mut shell = Command::new("bash");
        shell.args(options).arg(file).current_dir(&self.work).env_clear();
        let system = std::env::var("PATH").unwrap();
        shell.env("PATH", format!("{}:{system}", self.home().join(".cargo/bin").display()));
        shell.env("HOME", self.home()).env("LC_ALL", "C.UTF-8").env("CI", "true");
        // What edgewise compiles for itself is made once for all machines.
        shell.envs(std::env::var_os("EDGEWISE_CACHE").map(|cache| ("EDGEWISE_CACHE", cache)));
        shell
    }

    /// Tests that ran here.
    pub fn tests(&self) -> BTreeSet<String> {
        tests_in(&self.work.join(".edgewise/results.xml"))
    }
}

/// Tests that ran, as the results for JUnit name them.
pub fn tests_in(results: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(results).unwrap_or_default();
    let expression = regex::Regex::new("<testcase classname=\"(.*?)\" name=\"(.*?)\"").unwrap();
    let name = |found: regex::Captures<'_>| format!("{}/{}", &found[1], &found[2]);
    expression.captures_iter(&text).map(name).collect()
}

/// The programs that a machine has after an installation.
pub fn install(into: &Path) {
    std::fs::create_dir_all(into).unwrap();
    let built = Path::new(env!("CARGO_BIN_EXE_edgewise")).parent().unwrap();
    for name in ["edgewise", "edgewise-cc"] {
        std::os::unix::fs::symlink(built.join(name), into.join(name)).unwrap();
    }
}

/// Copies a file or a directory, links as links.
pub fn copy_any(from: &Path, to: &Path) {
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    if from.is_symlink() {
        let _ = std::fs::remove_file(to);
        std::os::unix::fs::symlink(std::fs::read_link(from).unwrap(), to).unwrap();
    } else if from.is_dir() {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy_any(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        std::fs::copy(from, to).unwrap();
    }
}
