//! What a project says of its instrumentation: `[instrument]` in edgewise.toml,
//! and what `edgewise build` was asked for.

use super::project::CONFIG_FILE;
use super::selective::Selective;
use crate::bytes;
use crate::cfg::format::{Detail, Granularity};
use globset::{Glob, GlobSetBuilder};
use serde::Deserialize;
use std::ffi::OsString;
use std::path::Path;

/// Variables that `edgewise build` hands to `edgewise cc`.
pub const GRANULARITY_VARIABLE: &str = "EDGEWISE_GRANULARITY";
pub const COUNT_ENTRIES_VARIABLE: &str = "EDGEWISE_COUNT_ENTRIES";

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Settings {
    /// Sources that get no probes, as globs: any test that runs a program with
    /// them in it counts as running all of them.
    #[serde(default)]
    pub skip: Vec<String>,
    #[serde(default)]
    granularity: Granularity,
    #[serde(default)]
    count_entries: bool,
    /// What `edgewise test --selective` asks for.
    #[serde(skip)]
    pub selective: Selective,
}

/// The part of edgewise.toml that is read here.
#[derive(Default, Deserialize)]
struct File {
    #[serde(default)]
    instrument: Settings,
}

impl Settings {
    /// Those of a project and of the environment.
    pub fn of_environment(root: &Path) -> Self {
        let settings = Self::of_project(root).given(|name| std::env::var_os(name));
        Self { selective: Selective::of_environment(), ..settings }
    }

    /// Those of a project. A file that cannot be read is as none: a compile is
    /// not the place to complain, and with all probes nothing is lost.
    pub fn of_project(root: &Path) -> Self {
        let text = std::fs::read_to_string(root.join(CONFIG_FILE)).unwrap_or_default();
        toml::from_str::<File>(&text).unwrap_or_default().instrument
    }

    /// The same with what variables ask for.
    pub fn given(mut self, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let asked = variable(GRANULARITY_VARIABLE).and_then(|name| name.into_string().ok());
        if let Some(granularity) = asked.as_deref().and_then(granularity) {
            self.granularity = granularity;
        }
        self.count_entries |= variable(COUNT_ENTRIES_VARIABLE).is_some();
        self
    }

    pub fn detail(&self) -> Detail {
        Detail { granularity: self.granularity, counts_entries: self.count_entries }
    }

    /// Whether programs keep a log of nodes.
    pub fn logs_nodes(&self) -> bool {
        self.granularity == Granularity::Path
    }

    /// Whether a source, relative to the root, is to be left alone.
    pub fn skips(&self, source: &str) -> bool {
        let mut set = GlobSetBuilder::new();
        self.skip.iter().filter_map(|pattern| Glob::new(pattern).ok()).for_each(|glob| {
            set.add(glob);
        });
        set.build().is_ok_and(|set| set.is_match(source) || set.is_match(&*bytes::path(source)))
    }
}

/// A granularity by the name that people give.
fn granularity(name: &str) -> Option<Granularity> {
    Granularity::deserialize(serde::de::value::StrDeserializer::<serde::de::value::Error>::new(
        name,
    ))
    .ok()
}
