//! Where the next version comes from: edits that build, or patches in their order.

use crate::edits::{self, Edit, Random};
use crate::trees::{Tree, Trees};
use anyhow::{Context, bail, ensure};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// So many edits may not build before we give up.
const ATTEMPTS: usize = 200;

pub enum Versions {
    Edits {
        /// How many make a version.
        count: usize,
        /// Lines that tests reach, by file.
        reached: BTreeMap<String, Vec<usize>>,
        originals: BTreeMap<PathBuf, String>,
        random: Random,
    },
    Patches(std::vec::IntoIter<PathBuf>),
}

/// What makes a version of the one before.
pub struct Change {
    pub what: String,
    how: How,
}

enum How {
    Files(BTreeMap<PathBuf, String>),
    Patch(PathBuf),
}

impl Change {
    /// Changes the tree that is at its place.
    pub fn apply(&self, root: &Path) -> anyhow::Result<()> {
        match &self.how {
            How::Files(files) => {
                for (path, text) in files {
                    std::fs::write(path, text)?;
                }
            }
            How::Patch(file) => {
                let mut command = Command::new("patch");
                command.args(["-p1", "-N", "-s", "--no-backup-if-mismatch", "-i"]).arg(file);
                let output = command.current_dir(root).output().context("cannot run patch")?;
                let said = String::from_utf8_lossy(&output.stdout);
                ensure!(output.status.success(), "{} does not apply: {said}", file.display());
            }
        }
        Ok(())
    }
}

impl Versions {
    /// Edits are tried out in the tree without probes, and are left there.
    pub fn next(&mut self, trees: &mut Trees) -> anyhow::Result<Option<Change>> {
        match self {
            Versions::Patches(patches) => Ok(patches.next().map(|file| {
                let what = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                Change { what, how: How::Patch(file) }
            })),
            Versions::Edits { count, reached, originals, random } => {
                trees.enter(Tree::Plain)?;
                let mut done = Vec::new();
                let mut files = BTreeMap::new();
                for _ in 0..ATTEMPTS {
                    let edit = edits::next(trees.root(), reached, originals, random);
                    let Some(Edit { what, path, before, after }) = edit else { continue };
                    std::fs::write(&path, &after)?;
                    if trees.build_plainly()?.is_none() {
                        std::fs::write(&path, before)?;
                        continue;
                    }
                    files.insert(path, after);
                    done.push(what);
                    if done.len() == *count {
                        let (what, how) = (done.join("; "), How::Files(files));
                        return Ok(Some(Change { what, how }));
                    }
                }
                bail!("no edit builds")
            }
        }
    }
}
