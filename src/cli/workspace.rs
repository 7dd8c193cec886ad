//! A project as the commands see it: its root, configuration and state.

use super::config::Config;
use crate::compiler::project::{CONFIG_FILE, Project, STATE_DIRECTORY};
use crate::history::History;
use crate::suite::TestCase;
use anyhow::{Context, bail};
use std::collections::HashSet;
use std::fs::FileType;
use std::path::{Path, PathBuf};

/// The directory of our names for compilers, in the state directory.
pub const SHIMS: &str = "shims";

pub struct Workspace {
    pub project: Project,
    pub config: Config,
}

impl Workspace {
    /// The project around the working directory.
    pub fn open() -> anyhow::Result<Self> {
        let directory = std::env::current_dir().context("no working directory")?;
        let project = Project::at(&directory);
        let config = Config::read(&project.root)?;
        let workspace = Self { project, config };
        workspace.check_state()?;
        Ok(workspace)
    }

    /// The same for a build, which does not need a configuration.
    pub fn open_without_suites() -> anyhow::Result<Self> {
        let directory = std::env::current_dir().context("no working directory")?;
        let project = Project::at(&directory);
        let has_config = project.root.join(CONFIG_FILE).exists();
        let config = if has_config { Config::read(&project.root)? } else { Config::default() };
        let workspace = Self { project, config };
        workspace.check_state()?;
        Ok(workspace)
    }

    pub fn has_config(&self) -> bool {
        self.project.root.join(CONFIG_FILE).exists()
    }

    pub fn state(&self) -> PathBuf {
        self.project.root.join(STATE_DIRECTORY)
    }

    pub fn history_path(&self) -> PathBuf {
        self.state().join("history")
    }

    pub fn history(&self) -> anyhow::Result<History> {
        Ok(History::open(&self.history_path())?)
    }

    /// Refuses a state directory with anything in it but files and directories. A cache may bring it: behind
    /// a symbolic link, files of the user would be written or removed, and who reads a pipe waits forever. All
    /// commands ask this first, so that nothing below has to be careful.
    pub fn check_state(&self) -> anyhow::Result<()> {
        let state = self.state();
        let Ok(meta) = state.symlink_metadata() else { return Ok(()) };
        check_kind(&state, meta.file_type())?;
        let shims = state.join(SHIMS);
        let mut todo = vec![state];
        while let Some(directory) = todo.pop() {
            for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
                // Another edgewise may remove it meanwhile.
                let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
                check_kind(&path, kind)?;
                // The links in there are made anew by each build.
                todo.extend(Some(path).filter(|path| kind.is_dir() && *path != shims));
            }
        }
        Ok(())
    }

    /// Holds everybody else off the history, waiting for them first.
    pub fn lock(&self) -> anyhow::Result<std::fs::File> {
        self.lock_saying(false)
    }

    /// The same without a word: somebody reads what the caller prints.
    pub fn lock_quietly(&self) -> anyhow::Result<std::fs::File> {
        self.lock_saying(true)
    }

    fn lock_saying(&self, quietly: bool) -> anyhow::Result<std::fs::File> {
        fs_err::create_dir_all(self.state())?;
        let path = self.state().join("lock");
        // Nothing is written to it, and nothing lost if it is another name of some file.
        let file =
            fs_err::OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
        let file = file.into_parts().0;
        if file.try_lock().is_err() {
            if !quietly {
                super::printer::tell(
                    "edgewise: another edgewise works on this project; waiting for it\n",
                );
            }
            file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
        }
        Ok(file)
    }

    /// All tests: of the suites, and those of other harnesses that the history
    /// knows.
    pub fn tests(&self, history: &History) -> anyhow::Result<Vec<TestCase>> {
        let outsiders = history
            .tests()
            .filter_map(|(name, test)| Some((name, test.outsider.as_ref()?)))
            .filter(|(_, outsider)| !outsider.command.is_empty())
            .map(|(name, outsider)| TestCase::outsider(name, outsider));
        let mut outsiders: Vec<TestCase> = outsiders.collect();
        if outsiders.is_empty() || self.config.has_suites() {
            let listed = self.config.tests(&self.project.root)?;
            let names: HashSet<&str> = listed.iter().map(|test| test.name.as_str()).collect();
            outsiders.retain(|test| !names.contains(test.name.as_str()));
            return Ok(listed.into_iter().chain(outsiders).collect());
        }
        Ok(outsiders)
    }
}

/// Refuses what is neither a file nor a directory.
fn check_kind(path: &Path, kind: FileType) -> anyhow::Result<()> {
    let what = match kind {
        kind if kind.is_symlink() => "is a symbolic link",
        kind if kind.is_file() || kind.is_dir() => return Ok(()),
        _ => "is neither a file nor a directory",
    };
    bail!(
        "{} {what}\nhint: remove it; edgewise reads and writes only in {STATE_DIRECTORY}",
        path.display()
    )
}
