//! What edgewise selects.

use super::tree::Tree;
use anyhow::{Context, ensure};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[derive(Clone)]
pub struct Edgewise(pub PathBuf);

/// A selection, with what it says of itself.
pub struct Selection {
    pub tests: BTreeSet<String>,
    pub said: Value,
}

impl Edgewise {
    pub fn run(&self, root: &Path, words: &[&str]) -> anyhow::Result<Output> {
        Command::new(&self.0).args(words).current_dir(root).output().context("cannot run edgewise")
    }

    pub fn ok(&self, root: &Path, words: &[&str]) -> anyhow::Result<Output> {
        let output = self.run(root, words)?;
        ensure!(
            output.status.success(),
            "edgewise {words:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(output)
    }

    /// The tests by their names without the suite.
    pub fn select(&self, root: &Path, words: &[&str]) -> anyhow::Result<Selection> {
        let all = [&["select", "--format", "json"], words].concat();
        let output = self.ok(root, &all)?;
        let said: Value = serde_json::from_slice(&output.stdout)?;
        let selected = said["selected"].as_array().context("no selection")?.iter();
        let names = selected.filter_map(|test| test["name"].as_str());
        let tests = names.map(|name| name.rsplit('/').next().unwrap_or(name).to_string());
        Ok(Selection { tests: tests.collect(), said })
    }

    /// The same with `strict-lines`.
    pub fn select_strictly(&self, tree: &Tree) -> anyhow::Result<Selection> {
        let config = fs_err::read(tree.root.join("edgewise.toml"))?;
        tree.write("edgewise.toml", &[&b"strict-lines = true\n"[..], &config].concat())?;
        let selection = self.select(&tree.root, &[]);
        tree.write("edgewise.toml", &config)?;
        selection
    }
}
