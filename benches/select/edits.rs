//! Edits of a file that are undone again.

use anyhow::{Context, ensure};
use std::path::{Path, PathBuf};

pub struct Edit {
    path: PathBuf,
    before: String,
}

impl Edit {
    /// Text in front of all.
    pub fn top(path: &Path, text: &str) -> anyhow::Result<Self> {
        let before = fs_err::read_to_string(path)?;
        fs_err::write(path, format!("{text}{before}"))?;
        Ok(Self { path: path.to_path_buf(), before })
    }

    /// `old=>new`, for something that stands there once.
    pub fn line(path: &Path, edit: &str) -> anyhow::Result<Self> {
        let (old, new) = edit.split_once("=>").context("an edit is `old=>new`")?;
        let before = fs_err::read_to_string(path)?;
        ensure!(before.matches(old).count() == 1, "`{old}` is not once in {}", path.display());
        fs_err::write(path, before.replace(old, new))?;
        Ok(Self { path: path.to_path_buf(), before })
    }

    pub fn undo(self) -> anyhow::Result<()> {
        fs_err::write(&self.path, &self.before)?;
        Ok(())
    }
}
