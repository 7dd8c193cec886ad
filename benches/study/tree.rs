//! Copies of a project that are edited, built and put back as they were.

use anyhow::{Context, ensure};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// When a file was changed, and how long it is.
type Stamp = (SystemTime, u64);

/// A tree that can be put back.
pub struct Tree {
    pub root: PathBuf,
    kept: PathBuf,
    stamps: BTreeMap<String, Stamp>,
}

/// All files of a tree but those in which edgewise keeps its state.
pub fn files(root: &Path) -> anyhow::Result<BTreeMap<String, Stamp>> {
    let mut found = BTreeMap::new();
    let mut todo = vec![PathBuf::new()];
    while let Some(directory) = todo.pop() {
        for entry in fs_err::read_dir(root.join(&directory))? {
            let entry = entry?;
            let path = directory.join(entry.file_name());
            // Files may vanish while we look, temporary ones of a build say.
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() {
                if entry.file_name() != ".edgewise" {
                    todo.push(path);
                }
            } else if meta.is_file()
                && let Some(name) = path.to_str()
            {
                found.insert(name.to_string(), (meta.modified()?, meta.size()));
            }
        }
    }
    Ok(found)
}

/// A copy with all times as they are.
pub fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    let _ = std::fs::remove_dir_all(to);
    if let Some(parent) = to.parent() {
        fs_err::create_dir_all(parent)?;
    }
    let output = Command::new("cp").arg("-a").arg(from).arg(to).output()?;
    ensure!(output.status.success(), "cp: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

impl Tree {
    /// A copy of a tree that nobody changes.
    pub fn copy_of(kept: &Path, root: &Path) -> anyhow::Result<Self> {
        copy(kept, root)?;
        Ok(Self { root: root.to_path_buf(), kept: kept.to_path_buf(), stamps: files(kept)? })
    }

    pub fn write(&self, file: &str, text: &[u8]) -> anyhow::Result<()> {
        let path = self.root.join(file);
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent)?;
        }
        Ok(fs_err::write(path, text)?)
    }

    /// Puts back what was edited or built, with its times, so that the next edit has
    /// nothing but itself to build.
    pub fn put_back(&self) -> anyhow::Result<()> {
        let now = files(&self.root)?;
        for file in now.keys().filter(|file| !self.stamps.contains_key(*file)) {
            fs_err::remove_file(self.root.join(file))?;
        }
        for (file, stamp) in &self.stamps {
            if now.get(file) == Some(stamp) {
                continue;
            }
            let path = self.root.join(file);
            if let Some(parent) = path.parent() {
                fs_err::create_dir_all(parent)?;
            }
            // Not by writing into it: somebody may have a link to it.
            let _ = std::fs::remove_file(&path);
            fs_err::copy(self.kept.join(file), &path)?;
            fs_err::File::options()
                .write(true)
                .open(&path)
                .map_or(Ok(()), |f| f.file().set_modified(stamp.0))?;
        }
        Ok(())
    }

    /// Runs the command that builds it; whether it could.
    pub fn build(&self, command: &str) -> anyhow::Result<bool> {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(&self.root).env_remove("MAKEFLAGS");
        Ok(shell.output().context("cannot run the build")?.status.success())
    }
}
