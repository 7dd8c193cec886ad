//! `edgewise.toml`.

use super::excluding::{self, Excluded};
use super::suites::{self, Written};
use crate::compiler::project::CONFIG_FILE;
use crate::compiler::settings::Settings;
use crate::suite::definition::Suite;
use crate::suite::{SuiteError, TestCase};
use anyhow::{Context, bail};
use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::Deserialize;
use std::collections::HashSet;
use std::path::Path;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Config {
    /// Files that neither the build nor a test reads, as globs.
    #[serde(default)]
    ignore: Vec<String>,
    /// A change of any of these selects everything.
    #[serde(default)]
    retest_all: Vec<String>,
    /// Whether a changed line number alone is a change.
    #[serde(default)]
    pub strict_lines: bool,
    #[serde(default)]
    pub build: Build,
    #[serde(default)]
    instrument: Settings,
    #[serde(default)]
    exclude: excluding::Written,
    #[serde(default, rename = "suite")]
    written: Vec<toml::Spanned<Written>>,
    #[serde(skip)]
    suites: Vec<Suite>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Build {
    /// Shell command that builds the project, run in its root.
    pub command: Option<String>,
    /// Compilers that a selection may run if a history names them, beside those with usual names
    /// on the path. They are read in `compiler/vouched.rs`.
    #[serde(default)]
    pub compilers: Vec<String>,
}

impl Config {
    /// Reads the configuration of the project at `root`.
    pub fn read(root: &Path) -> anyhow::Result<Self> {
        let path = root.join(CONFIG_FILE);
        let text = match fs_err::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                bail!(
                    "no {CONFIG_FILE} here or above\nhint: `edgewise init` in the root of the project writes \
                     one; or write it yourself:\n\n    [build]\n    command = \"make\"\n\n    [[suite]]\n    \
                     name = \"all\"\n    kind = \"list\"\n    \
                     file = \"tests/list\"   # a name and a shell command a line"
                )
            }
            Err(error) => return Err(error.into()),
        };
        Self::parse(&text)
    }

    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let mut config: Self =
            toml::from_str(text).with_context(|| format!("{CONFIG_FILE} is not right"))?;
        globs(&config.instrument.skip, "skip of [instrument]")?;
        config.exclude.resolve()?;
        config.suites = suites::resolve(&config.written, text)?;
        for suite in &config.suites {
            globs(&suite.inputs, &format!("inputs of suite `{}`", suite.name))?;
        }
        Ok(config)
    }

    pub fn suites(&self) -> &[Suite] {
        &self.suites
    }

    pub fn has_suites(&self) -> bool {
        !self.suites.is_empty()
    }

    /// All tests of all suites, in order.
    pub fn tests(&self, root: &Path) -> anyhow::Result<Vec<TestCase>> {
        if self.suites.is_empty() {
            bail!("{CONFIG_FILE} names no suite\nhint: add a [[suite]] with name and kind");
        }
        let mut tests = Vec::new();
        for suite in &self.suites {
            tests.extend(suite.tests(root)?);
        }
        let mut seen = HashSet::new();
        if let Some(twice) = tests.iter().find(|test| !seen.insert(&test.name)) {
            let same = tests.iter().filter(|test| test.name == twice.name);
            let places: Vec<String> = same
                .filter_map(|test| test.listed.as_ref())
                .map(|at| format!("{}:{}", at.file, at.line))
                .collect();
            let places = match places.is_empty() {
                true => String::new(),
                false => format!(": {}", places.join(", ")),
            };
            bail!(SuiteError::Duplicate { name: twice.name.clone(), places });
        }
        Ok(tests)
    }

    /// Files whose content is known in another way: the lists of tests.
    pub fn suite_files(&self) -> impl Iterator<Item = &str> {
        self.suites.iter().filter_map(Suite::file)
    }

    pub fn ignored(&self) -> anyhow::Result<GlobSet> {
        globs(&self.ignore, "ignore")
    }

    /// Code whose changes do not select.
    pub fn excluded(&self) -> anyhow::Result<Excluded> {
        self.exclude.resolve()
    }

    pub fn retest_all(&self) -> anyhow::Result<GlobSet> {
        globs(&self.retest_all, "retest-all")
    }
}

pub fn globs(patterns: &[String], key: &str) -> anyhow::Result<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern).with_context(|| format!("{CONFIG_FILE}: {key}"))?);
    }
    Ok(set.build()?)
}
