//! Finds test programs, and reads from their comments how to compile them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

pub struct Source {
    pub path: PathBuf,
    pub work: Work,
    pub flags: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Compile, link and run.
    Run,
    Compile,
}

/// Adds all C sources below the directory.
pub fn find(directory: &Path, found: &mut Vec<Source>) -> anyhow::Result<()> {
    for entry in fs_err::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, found)?;
        } else if path.extension() == Some(OsStr::new("c")) {
            let text = String::from_utf8_lossy(&fs_err::read(&path)?).into_owned();
            let path = fs_err::canonicalize(path)?;
            found.extend(read(path, &text));
        }
    }
    Ok(())
}

fn read(path: PathBuf, text: &str) -> Option<Source> {
    let executed = path.parent().is_some_and(|p| p.ends_with("execute") || p.ends_with("ieee"));
    let work =
        if executed || has_directive(text, "dg-do", "run") { Work::Run } else { Work::Compile };
    // Parts of a program with several sources, and what needs a plugin or profile, are not for us.
    if ["dg-additional-sources", "dg-do profile", "-fprofile", "-fplugin"]
        .iter()
        .any(|w| text.contains(w))
    {
        return None;
    }
    let mut flags = Vec::new();
    for line in text.lines() {
        if line.contains("dg-options") || line.contains("dg-additional-options") {
            // Options for some targets only have a selector behind them.
            let Some((before, options)) = line.split_once('"') else { continue };
            let Some((options, behind)) = options.split_once('"') else { continue };
            if before.contains("dg-") && !behind.contains("target") {
                flags.extend(options.split_whitespace().map(str::to_owned));
            }
        } else if let Some((_, command)) = line.split_once("RUN:") {
            flags.extend(command.split_whitespace().filter(|w| is_language(w)).map(str::to_owned));
            if !flags.is_empty() {
                break;
            }
        }
    }
    flags.retain(|f| is_harmless(f));
    Some(Source { path, work, flags })
}

/// Of the commands of clang's tests only what decides over the language counts: the others are for its inner driver.
fn is_language(word: &str) -> bool {
    [
        "-std=",
        "-D",
        "-fms-",
        "-fblocks",
        "-fgnu",
        "-fno-",
        "-fopenmp",
        "-fshort",
        "-funsigned",
        "-fsigned",
    ]
    .iter()
    .any(|start| word.starts_with(start))
}

/// Not what writes files, stops before an object, or names a file of the harness.
fn is_harmless(flag: &str) -> bool {
    flag.starts_with('-')
        && ![
            "-fdump",
            "-o",
            "-E",
            "-S",
            "-save-temps",
            "-M",
            "-c",
            "-x",
            "-B",
            "-I",
            "-include",
            "-fcompare-debug",
        ]
        .iter()
        .any(|start| flag.starts_with(start))
}

fn has_directive(text: &str, directive: &str, value: &str) -> bool {
    text.lines().any(|line| {
        line.split_once(directive)
            .is_some_and(|(_, rest)| rest.split_whitespace().next() == Some(value))
    })
}
