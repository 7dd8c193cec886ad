//! A project under study as `scripts/study` left it: its tree, its tests, and what
//! may be edited in it.

use anyhow::Context;
use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// What `study.toml` in the subject says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    pub name: String,
    /// Sources and headers that are edited.
    pub sources: Vec<String>,
    /// Files that tests read.
    #[serde(default)]
    pub data: Vec<String>,
    /// Grammars that sources are made of by the build.
    #[serde(default)]
    pub grammars: Vec<String>,
    /// Flags that change what the program does, and the files that set CFLAGS.
    #[serde(default)]
    pub flags: Vec<String>,
    #[serde(default)]
    pub flag_files: Vec<String>,
    /// Pairs of procedures: the linker is to take the second for the first. And where its
    /// words stand: a file, and what they follow there.
    #[serde(default)]
    pub links: Vec<[String; 2]>,
    #[serde(default)]
    pub link_place: Option<[String; 2]>,
    /// Directories with headers, each with one that is searched before it.
    #[serde(default)]
    pub shadows: Vec<[String; 2]>,
    /// Makes the next build build everything.
    #[serde(default)]
    pub clean: String,
}

pub struct Subject {
    pub description: Description,
    /// The tree, configured, not built.
    pub base: PathBuf,
    /// Other versions: a directory each, with the files that differ.
    pub versions: Vec<PathBuf>,
    /// The command that builds it.
    pub build: String,
    /// Sources that are built without probes.
    pub unprobed: Vec<String>,
}

/// A glob that stays within a directory unless it says `**`.
fn globs(patterns: &[String]) -> anyhow::Result<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = globset::GlobBuilder::new(pattern).literal_separator(true).build();
        set.add(glob.unwrap_or(Glob::new(pattern)?));
    }
    Ok(set.build()?)
}

impl Subject {
    pub fn read(directory: &Path) -> anyhow::Result<Self> {
        let base = directory.join("base");
        let text = fs_err::read_to_string(directory.join("study.toml"))?;
        let description = toml::from_str(&text).context("study.toml")?;
        let config: toml::Table =
            toml::from_str(&fs_err::read_to_string(base.join("edgewise.toml"))?)?;
        let build = config["build"]["command"].as_str().context("no build command")?.to_string();
        let skipped = config.get("instrument").and_then(|table| table["skip"].as_array());
        let skipped = skipped.into_iter().flatten().filter_map(toml::Value::as_str);
        let unprobed = skipped.map(String::from).collect();
        let mut versions = Vec::new();
        if let Ok(found) = fs_err::read_dir(directory.join("versions")) {
            for entry in found {
                versions.push(entry?.path());
            }
        }
        versions.sort();
        Ok(Self { description, base, versions, build, unprobed })
    }

    /// Files of the tree that one of the patterns matches, sorted.
    pub fn files(&self, patterns: &[String]) -> anyhow::Result<Vec<String>> {
        let globs = globs(patterns)?;
        let mut found: Vec<String> = super::tree::files(&self.base)?.into_keys().collect();
        found.retain(|file| globs.is_match(file));
        found.sort();
        Ok(found)
    }
}
