//! A project in three copies that take turns at one path: builds know their own path,
//! and what they make has to be comparable.

use anyhow::{Context, ensure};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tree {
    /// Without probes.
    Plain,
    /// With all probes.
    Full,
    /// With probes where a change can lead.
    Selective,
}

impl Tree {
    fn name(self) -> &'static str {
        match self {
            Tree::Plain => "plain",
            Tree::Full => "full",
            Tree::Selective => "selective",
        }
    }
}

pub struct Trees {
    edgewise: PathBuf,
    /// Where each of them is while it is looked at.
    root: PathBuf,
    /// The command that builds the project.
    build: String,
    here: Tree,
}

/// A command that has run, and how long it took.
pub struct Ran {
    pub output: Output,
    pub time: Duration,
}

impl Ran {
    pub fn said(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }
}

impl Trees {
    /// The tree with all probes is at its place; that without any beside it.
    pub fn new(edgewise: PathBuf, root: PathBuf, build: &str) -> anyhow::Result<Self> {
        let trees = Self { edgewise, root, build: build.to_string(), here: Tree::Full };
        let configuration = trees.root.join("edgewise.toml");
        // The command notes by itself how long it took: `edgewise test` does more than build.
        let text = std::fs::read_to_string(&configuration)?;
        let time = trees.beside("time").into_os_string().into_string();
        let time = time.map_err(|path| anyhow::anyhow!("{} is not text", path.display()))?;
        let command = format!(
            "began=$(date +%s%N); {build}; code=$?; echo $(($(date +%s%N) - began)) >'{time}'; exit $code"
        );
        let text = format!("{text}\n[build]\ncommand = '''{command}'''\n");
        std::fs::write(&configuration, &text)?;
        std::fs::write(trees.beside(Tree::Plain.name()).join("edgewise.toml"), &text)?;
        Ok(trees)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path next to the project.
    pub fn beside(&self, name: &str) -> PathBuf {
        let mut path = OsString::from(&self.root);
        path.push(".");
        path.push(name);
        PathBuf::from(path)
    }

    /// Makes a copy of the tree with all probes, for selective builds.
    pub fn fork(&mut self) -> anyhow::Result<()> {
        self.enter(Tree::Full)?;
        copy(&self.root, &self.beside(Tree::Selective.name()))
    }

    pub fn enter(&mut self, tree: Tree) -> anyhow::Result<()> {
        if tree != self.here {
            std::fs::rename(&self.root, self.beside(self.here.name()))?;
            std::fs::rename(self.beside(tree.name()), &self.root)?;
            self.here = tree;
        }
        Ok(())
    }

    /// Runs edgewise where we are. Exit codes 0 and 1 are those of tests that pass and fail.
    pub fn edgewise(&self, words: &[&str]) -> anyhow::Result<Ran> {
        // A test has to do the same each time: addresses must not be chance.
        let mut command = Command::new("setarch");
        command.arg("-R").arg(&self.edgewise).args(words).current_dir(&self.root);
        timed(command)
    }

    /// The same where anything but a test that fails is trouble.
    pub fn run(&self, words: &[&str]) -> anyhow::Result<Ran> {
        let ran = self.edgewise(words)?;
        let is_done = matches!(ran.output.status.code(), Some(0 | 1));
        ensure!(is_done, "edgewise {}: {}", words.join(" "), ran.said());
        Ok(ran)
    }

    /// Builds where we are, without edgewise. None if that fails.
    pub fn build_plainly(&self) -> anyhow::Result<Option<Duration>> {
        let mut command = Command::new("sh");
        command.arg("-c").arg(&self.build).current_dir(&self.root);
        let ran = timed(command)?;
        Ok(ran.output.status.success().then_some(ran.time))
    }

    /// How long the command of the last build with edgewise took, of all that edgewise did.
    pub fn build_time(&self) -> anyhow::Result<Duration> {
        let text = std::fs::read_to_string(self.beside("time"))?;
        Ok(Duration::from_nanos(text.trim().parse()?))
    }

    pub fn history(&self) -> PathBuf {
        self.root.join(".edgewise/history")
    }

    /// Keeps what edgewise knows of the tree where we are.
    pub fn keep_state(&self, name: &str) -> anyhow::Result<()> {
        copy(&self.root.join(".edgewise"), &self.beside(name))
    }

    pub fn restore_state(&self, name: &str) -> anyhow::Result<()> {
        copy(&self.beside(name), &self.root.join(".edgewise"))
    }
}

fn timed(mut command: Command) -> anyhow::Result<Ran> {
    let began = Instant::now();
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    Ok(Ran { output, time: began.elapsed() })
}

/// A copy with all times, which decide what make builds again.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    if to.exists() {
        std::fs::remove_dir_all(to)?;
    }
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status()?;
    ensure!(status.success(), "cannot copy {}", from.display());
    Ok(())
}
