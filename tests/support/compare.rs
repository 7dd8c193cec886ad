//! The same command line for a plain compiler and for `edgewise cc`, in two
//! copies of a directory: what comes out must be the same.

use super::Project;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a command left.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// Files with their text, where it is text.
    pub files: BTreeMap<String, Option<String>>,
}

/// Sources of one comparison.
pub struct Bench {
    files: Vec<(&'static str, String)>,
}

/// One run of ours: what it left, and what it logged.
pub struct Ours {
    pub outcome: Outcome,
    pub log: String,
}

impl Ours {
    /// Whether nothing was compiled with us, linked or listed.
    pub fn is_left_alone(&self) -> bool {
        self.log.lines().all(|line| line.contains("\"tried\""))
    }

    /// Whether the source was compiled with probes.
    pub fn is_analysed(&self, source: &str) -> bool {
        let line = format!("\"event\":\"compiled\",\"source\":\"{source}\"");
        let mut lines = self.log.lines().filter(|l| l.contains(&line));
        lines.any(|line| line.contains("\"untouched\":null"))
    }

    /// Whether the source is listed as not analysed.
    pub fn is_listed(&self, source: &str) -> bool {
        let mut lines = self.log.lines().filter(|line| line.contains("\"not_analysed\""));
        lines.any(|line| line.contains(&format!("\"{source}\"")))
    }
}

impl Bench {
    pub fn new(files: &[(&'static str, &str)]) -> Self {
        Self { files: files.iter().map(|(name, text)| (*name, text.to_string())).collect() }
    }

    fn lay_out(&self) -> Project {
        let project = Project::empty();
        for (name, text) in &self.files {
            project.write(name, text);
        }
        project
    }

    /// Runs the compiler on a line of arguments without us.
    pub fn plain(&self, compiler: &str, line: &str) -> Outcome {
        let project = self.lay_out();
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(format!("{compiler} {line}")).current_dir(project.root());
        run(&mut command, project.root())
    }

    /// Runs it through us.
    pub fn ours(&self, compiler: &str, line: &str) -> Ours {
        let project = self.lay_out();
        let log = tempfile::NamedTempFile::new().unwrap();
        let mut command = Command::new("/bin/sh");
        let program = env!("CARGO_BIN_EXE_edgewise-cc");
        command
            .arg("-c")
            .arg(format!("{program} {line}"))
            .current_dir(project.root())
            .env("EDGEWISE_CC", compiler)
            .env("EDGEWISE_ROOT", project.root())
            .env("EDGEWISE_BUILD_LOG", log.path())
            .env_remove("EDGEWISE_TRACE");
        let outcome = run(&mut command, project.root());
        Ours { outcome, log: std::fs::read_to_string(log.path()).unwrap() }
    }

    /// Both must leave the same. What ours did.
    #[track_caller]
    pub fn same(&self, compiler: &str, line: &str) -> Ours {
        let plain = self.plain(compiler, line);
        let ours = self.ours(compiler, line);
        assert_eq!(ours.outcome, plain, "{compiler} {line}");
        ours
    }
}

fn run(command: &mut Command, root: &Path) -> Outcome {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let mut files = BTreeMap::new();
    collect(root, root, &mut files);
    // Names that compilers make up for files of theirs differ from run to run.
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).replace(&*root.to_string_lossy(), "ROOT");
        let lines = text.lines().filter(|line| !line.contains("/tmp/cc"));
        lines.map(|line| format!("{line}\n")).collect()
    };
    Outcome {
        code: output.status.code(),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
        files,
    }
}

/// Objects and programs count by being there.
fn collect(root: &Path, directory: &Path, into: &mut BTreeMap<String, Option<String>>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, into);
            continue;
        }
        let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        let text = std::fs::read(&path).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        into.insert(name, text.filter(|text| !text.contains('\0')));
    }
}

/// The compilers of this machine among gcc and clang.
pub fn compilers() -> Vec<&'static str> {
    let is_there = |name: &&str| has_tool(name);
    ["gcc", "clang"].into_iter().filter(is_there).collect()
}

/// Whether a tool is installed; says so if not.
pub fn has_tool(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&path).any(|directory| directory.join(name).exists());
    if !is_there {
        println!("skipped: {name} is not installed");
    }
    is_there
}
