//! `[exclude]` in `edgewise.toml`: code whose changes do not select.

use super::config::globs;
use crate::compiler::project::CONFIG_FILE;
use crate::select::Exclusion;
use anyhow::{Context, ensure};
use globset::{Glob, GlobMatcher, GlobSet};
use serde::Deserialize;

/// As it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Written {
    /// Files, as globs.
    #[serde(default)]
    files: Vec<String>,
    /// Names of procedures, as globs; `file:name` for those of some files.
    #[serde(default)]
    procedures: Vec<String>,
}

/// What is excluded.
#[derive(Debug, Default)]
pub struct Excluded {
    files: GlobSet,
    /// A glob of files, if there is one, and a glob of names.
    procedures: Vec<(Option<GlobMatcher>, GlobMatcher)>,
}

impl Written {
    pub fn resolve(&self) -> anyhow::Result<Excluded> {
        let files = globs(&self.files, "files of [exclude]")?;
        let procedures = self.procedures.iter().map(|written| {
            let (file, name) = match written.rsplit_once(':') {
                Some((file, name)) => (Some(matcher(file)?), name),
                None => (None, written.as_str()),
            };
            // An empty name would never match, and nobody would notice.
            let place = format!("{CONFIG_FILE}: procedures of [exclude]");
            ensure!(!name.is_empty(), "{place}: `{written}` names no procedure");
            Ok((file, matcher(name)?))
        });
        Ok(Excluded { files, procedures: procedures.collect::<anyhow::Result<_>>()? })
    }
}

fn matcher(pattern: &str) -> anyhow::Result<GlobMatcher> {
    let glob = Glob::new(pattern);
    let glob = glob.with_context(|| format!("{CONFIG_FILE}: procedures of [exclude]"))?;
    Ok(glob.compile_matcher())
}

impl Excluded {
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.procedures.is_empty()
    }

    pub fn has_files(&self) -> bool {
        !self.files.is_empty()
    }
}

impl Exclusion for Excluded {
    fn holds(&self, file: &str, procedure: &str) -> bool {
        let mut procedures = self.procedures.iter();
        self.holds_file(file)
            || procedures.any(|(files, names)| {
                files.as_ref().is_none_or(|files| files.is_match(file)) && names.is_match(procedure)
            })
    }

    fn holds_file(&self, file: &str) -> bool {
        self.files.is_match(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::config::Config;

    fn excluded(text: &str) -> Excluded {
        let config = Config::parse(&format!("[exclude]\n{text}\n")).unwrap();
        config.excluded().unwrap()
    }

    #[test]
    fn by_file_by_name_and_by_both() {
        let by_file = excluded("files = [\"tests/*.c\"]");
        assert!(by_file.holds("tests/a.c", "f") && !by_file.holds("lib/a.c", "f"));
        let by_name = excluded("procedures = [\"set_up\", \"check_*\"]");
        assert!(by_name.holds("a.c", "set_up") && by_name.holds("a.c", "check_all"));
        assert!(!by_name.holds("a.c", "set_up_2"));
        let by_both = excluded("procedures = [\"lib/a.c:f\"]");
        assert!(by_both.holds("lib/a.c", "f") && !by_both.holds("lib/b.c", "f"));
    }

    #[test]
    fn nothing_is_excluded_by_mistake() {
        assert!(!excluded("").holds("a.c", "f"));
        for wrong in ["procedures = [\"a.c:\"]", "files = [\"[\"]", "file = [\"a\"]"] {
            let error = Config::parse(&format!("[exclude]\n{wrong}\n")).unwrap_err();
            assert!(format!("{error:#}").contains("edgewise.toml"), "{error:#}");
        }
    }
}
