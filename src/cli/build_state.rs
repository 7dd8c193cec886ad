//! What is known of the builds of a project beyond their programs. All of it
//! only ever adds reasons to select.

use super::workspace::Workspace;
use crate::history::format::FileState;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct BuildState {
    /// Programs and libraries that were linked, relative to the root.
    pub programs: BTreeSet<String>,
    /// Sources of programs that ran during a build: what they generate may
    /// become part of any program.
    pub generator_files: BTreeSet<String>,
    /// Sources that the real compiler compiled alone: nobody knows what else
    /// they are made of.
    pub unanalysed: BTreeSet<String>,
    /// Build descriptions when the last build began that succeeded.
    pub descriptions: Option<FileState>,
}

impl BuildState {
    /// The state, or an empty one: without it less is known, and a selection
    /// from sources has fewer reasons of this kind.
    pub fn read(workspace: &Workspace) -> Self {
        let text = std::fs::read_to_string(path(workspace)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    pub fn write(&self, workspace: &Workspace) -> anyhow::Result<()> {
        fs_err::create_dir_all(workspace.state())?;
        let mut file = tempfile::NamedTempFile::new_in(workspace.state())?;
        file.write_all(serde_json::to_string(self)?.as_bytes())?;
        file.persist(path(workspace))?;
        Ok(())
    }
}

fn path(workspace: &Workspace) -> PathBuf {
    workspace.state().join("builds.json")
}
