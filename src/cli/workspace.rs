//! A project as the commands see it: its root, configuration and state.

use super::config::Config;
use crate::compiler::project::{CONFIG_FILE, Project};
use crate::history::History;
use anyhow::Context;
use std::path::PathBuf;

/// Directory of everything edgewise keeps in a project.
pub const STATE_DIRECTORY: &str = ".edgewise";

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
        Ok(Self { project, config })
    }

    /// The same for a build, which does not need a configuration.
    pub fn open_without_suites() -> anyhow::Result<Self> {
        let directory = std::env::current_dir().context("no working directory")?;
        let project = Project::at(&directory);
        let has_config = project.root.join(CONFIG_FILE).exists();
        let config = if has_config { Config::read(&project.root)? } else { Config::default() };
        Ok(Self { project, config })
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

    /// Holds everybody else off the history, waiting for them first.
    pub fn lock(&self) -> anyhow::Result<std::fs::File> {
        fs_err::create_dir_all(self.state())?;
        let path = self.state().join("lock");
        let file = fs_err::File::create(&path)?.into_parts().0;
        if file.try_lock().is_err() {
            eprintln!("edgewise: another edgewise works on this project; waiting for it");
            file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
        }
        Ok(file)
    }
}
