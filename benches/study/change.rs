//! Changes of a subject: mutants of its sources, other versions of it, and edits of
//! all that is not a source: flags, the command that links, grammars, data, commands of tests, headers that
//! come to stand before others.

use super::mutants::Mutant;
use super::tests;
use anyhow::Context;
use std::path::{Path, PathBuf};

#[derive(Clone)]
pub struct Change {
    pub kind: &'static str,
    pub edit: Edit,
}

#[derive(Clone)]
pub enum Edit {
    Mutant(Mutant),
    /// A mutant of a header, under a path that is searched before it.
    Shadow(Mutant, String),
    /// A header with a line more, under a path that is searched before it.
    ShadowWith {
        header: String,
        to: String,
        line: &'static str,
    },
    /// Files of another version, in a directory.
    Version(PathBuf),
    /// A flag more, in files that set CFLAGS.
    Flag(String, Vec<String>),
    /// A word more for the linker, behind a text of a file.
    Link {
        flag: String,
        file: String,
        behind: String,
    },
    /// A text in the place of another in a file.
    Text {
        file: String,
        at: usize,
        before: String,
        after: String,
    },
    /// Other commands for some of the tests.
    Commands(Vec<String>),
}

pub const VERSION: &str = "version";
pub const FLAG: &str = "flag";
pub const LINK: &str = "link command";
pub const GRAMMAR: &str = "grammar";
pub const DATA: &str = "file of a test";
pub const COMMAND: &str = "command of a test";
pub const UNPROBED: &str = "source without probes";
pub const SHADOW: &str = "header before another";

/// What builds everything again.
pub const COSTLY: [&str; 4] = [FLAG, LINK, GRAMMAR, SHADOW];

impl Change {
    /// The same for the same change of the same subject.
    pub fn id(&self) -> String {
        let text = match &self.edit {
            Edit::Mutant(mutant) => format!("{mutant:?}"),
            Edit::Shadow(mutant, to) => format!("{to} {mutant:?}"),
            Edit::ShadowWith { to, line, .. } => format!("{to} {line}"),
            Edit::Version(path) => path.file_name().unwrap_or_default().to_string_lossy().into(),
            Edit::Flag(flag, _) | Edit::Link { flag, .. } => flag.clone(),
            Edit::Text { file, at, before, after } => format!("{file} {at} {before} {after}"),
            Edit::Commands(names) => names.join(" "),
        };
        blake3::hash(format!("{} {text}", self.kind).as_bytes()).to_hex()[..16].to_string()
    }

    /// For people.
    pub fn what(&self) -> String {
        match &self.edit {
            Edit::Mutant(mutant) => mutant.to_string(),
            Edit::Shadow(mutant, to) => format!("as {to}: {mutant}"),
            Edit::ShadowWith { header, to, line } => format!("{header} as {to}\n+ {line}"),
            Edit::Version(path) => path.file_name().unwrap_or_default().to_string_lossy().into(),
            Edit::Flag(flag, _) | Edit::Link { flag, .. } => flag.clone(),
            Edit::Text { file, at, before, after } => {
                format!("{file}, byte {at}\n- {before}\n+ {after}")
            }
            Edit::Commands(names) => names.join(" "),
        }
    }

    /// The files that change, with their new contents.
    pub fn files(&self, base: &Path) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
        let read = |file: &str| fs_err::read_to_string(base.join(file));
        Ok(match &self.edit {
            Edit::Mutant(mutant) => {
                vec![(mutant.file.clone(), mutant.apply(&read(&mutant.file)?).into_bytes())]
            }
            Edit::Shadow(mutant, to) => {
                vec![(to.clone(), mutant.apply(&read(&mutant.file)?).into_bytes())]
            }
            Edit::ShadowWith { header, to, line } => {
                vec![(to.clone(), format!("{}\n{line}\n", read(header)?).into_bytes())]
            }
            Edit::Version(directory) => {
                let names = super::tree::files(directory)?.into_keys();
                let files =
                    names.map(|name| Ok((name.clone(), fs_err::read(directory.join(name))?)));
                files.collect::<anyhow::Result<_>>()?
            }
            Edit::Flag(flag, files) => {
                let mut edited = Vec::new();
                for file in files {
                    let text = read(file)?;
                    let lines =
                        text.split_inclusive('\n').map(|line| match line.strip_prefix("CFLAGS") {
                            Some(rest) if rest.trim_start().starts_with('=') => {
                                format!("{} {flag}\n", line.trim_end())
                            }
                            _ => line.to_string(),
                        });
                    let lines: String = lines.collect();
                    anyhow::ensure!(lines != text, "{file} does not set CFLAGS");
                    edited.push((file.clone(), lines.into_bytes()));
                }
                edited
            }
            Edit::Link { flag, file, behind } => {
                let text = read(file)?;
                let edited = text.replace(behind, &format!("{behind} {flag} "));
                anyhow::ensure!(edited != text, "{file} does not say {behind}");
                vec![(file.clone(), edited.into_bytes())]
            }
            Edit::Text { file, at, before, after } => {
                let mut text = fs_err::read(base.join(file))?;
                text.splice(*at..at + before.len(), after.bytes());
                vec![(file.clone(), text)]
            }
            Edit::Commands(names) => {
                let text = read(tests::LIST)?;
                let lines = text.lines().map(|line| {
                    let is_changed =
                        line.split(' ').next().is_some_and(|n| names.iter().any(|o| o == n));
                    if is_changed { format!("{line}; echo more\n") } else { format!("{line}\n") }
                });
                vec![(tests::LIST.to_string(), lines.collect::<String>().into_bytes())]
            }
        })
    }

    /// Whether make does not see by itself what has to be built again.
    pub fn wants_clean_build(&self) -> bool {
        // Of a header that is new, nobody's list of what includes what tells.
        let is_shadow = self.kind == SHADOW;
        is_shadow || matches!(self.edit, Edit::Flag(..) | Edit::Link { .. } | Edit::Version(_))
    }

    pub fn wants_build(&self) -> bool {
        !matches!(self.edit, Edit::Commands(_)) && self.kind != DATA
    }

    pub fn file(&self) -> Option<&str> {
        match &self.edit {
            Edit::Mutant(mutant) | Edit::Shadow(mutant, _) => Some(&mutant.file),
            Edit::ShadowWith { header, .. } => Some(header),
            Edit::Text { file, .. } => Some(file),
            _ => None,
        }
    }
}

/// Operators and words of many languages, each with another.
const OTHERS: &[(&str, &str)] = &[
    (" == ", " != "),
    (" && ", " || "),
    (" < ", " > "),
    (" + ", " - "),
    (" - ", " + "),
    (" and ", " or "),
    ("true", "false"),
];

/// Every place of a text where a number, or one of a few operators, can be another
/// one; for files whose language nobody here knows.
pub fn texts(kind: &'static str, file: &str, root: &Path) -> anyhow::Result<Vec<Change>> {
    let bytes = fs_err::read(root.join(file)).context("a file of the subject")?;
    let Ok(text) = String::from_utf8(bytes) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    let mut add = |at: usize, before: &str, after: &str| {
        let (file, before, after) = (file.to_string(), before.to_string(), after.to_string());
        found.push(Change { kind, edit: Edit::Text { file, at, before, after } });
    };
    for (before, after) in OTHERS {
        text.match_indices(before).for_each(|(at, _)| add(at, before, after));
    }
    for (at, digit) in text.match_indices(|c: char| c.is_ascii_digit()) {
        let other = ((digit.as_bytes()[0] - b'0' + 1) % 10).to_string();
        add(at, digit, &other);
    }
    Ok(found)
}
