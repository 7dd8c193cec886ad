//! A project as the commands see it: its root, configuration and state.

use super::config::Config;
use crate::compiler::project::{CONFIG_FILE, Project, STATE_DIRECTORY};
use crate::history::History;
use crate::suite::TestCase;
use anyhow::Context;
use std::collections::HashSet;
use std::path::PathBuf;

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
        self.check_links()?;
        Ok(History::open(&self.history_path())?)
    }

    /// Refuses links among the files that are written in their place: a cache may bring a link
    /// that leads to any file of the user.
    pub fn check_links(&self) -> anyhow::Result<()> {
        for name in ["history", "lock", "building"] {
            let path = self.state().join(name);
            anyhow::ensure!(
                !path.is_symlink(),
                "{} is a symbolic link\nhint: remove it; edgewise writes only in {STATE_DIRECTORY}",
                path.display()
            );
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
        self.check_links()?;
        let path = self.state().join("lock");
        let file = fs_err::File::create(&path)?.into_parts().0;
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
            .filter_map(|(name, test)| Some(TestCase::outsider(name, test.outsider.as_ref()?)));
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
