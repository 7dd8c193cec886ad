//! The state of the project's files, and what role a changed one plays.

use super::workspace::{STATE_DIRECTORY, Workspace};
use crate::compiler::project::{CONFIG_FILE, relative};
use crate::history::format::FileState;
use crate::ids::Fingerprint;
use rayon::prelude::*;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// Directories that hold no files of the project.
const SKIPPED_DIRECTORIES: &[&str] = &[".git", ".hg", ".svn", STATE_DIRECTORY];

/// Extensions of what builds leave. What matters in them is known through the
/// programs that are made of them, or through what a process loads.
const BUILT: &[&str] = &["o", "a", "so", "d", "lo", "la", "gcno", "gcda"];

/// Names and extensions of files that say how to build.
const BUILD_DESCRIPTIONS: &[&str] = &[
    "Makefile",
    "makefile",
    "GNUmakefile",
    "CMakeLists.txt",
    "meson.build",
    "meson_options.txt",
    "meson.options",
    "configure",
    "configure.ac",
    "configure.in",
    "config.status",
];
const BUILD_EXTENSIONS: &[&str] = &["mk", "cmake", "am", "ac", "m4", "ninja"];

/// Fingerprints of all files of the project that are not ignored or built.
pub fn scan(workspace: &Workspace) -> anyhow::Result<FileState> {
    let root = &workspace.project.root;
    let ignored = workspace.config.ignored()?;
    let programs = linked_programs(workspace);
    let mut paths = Vec::new();
    let mut todo = vec![root.clone()];
    while let Some(directory) = todo.pop() {
        for entry in fs_err::read_dir(&directory)? {
            let entry = entry?;
            let path = entry.path();
            let name = relative(root, &path);
            let kind = entry.file_type()?;
            if kind.is_dir() {
                let is_skipped =
                    SKIPPED_DIRECTORIES.iter().any(|skipped| entry.file_name() == *skipped);
                if !is_skipped && !ignored.is_match(format!("{name}/")) {
                    todo.push(path);
                }
            } else if !ignored.is_match(&name) && !is_built(&path) && !programs.contains(&name) {
                paths.push((name, path));
            }
        }
    }
    Ok(paths.into_par_iter().filter_map(|(name, path)| Some((name, content(&path)?))).collect())
}

/// The fingerprint of a file's content, or of where a link points that leads
/// nowhere. None if there is nothing.
pub fn content(path: &Path) -> Option<Fingerprint> {
    match std::fs::read(path) {
        Ok(bytes) => Some(Fingerprint::of(&bytes)),
        Err(_) => {
            let target = std::fs::read_link(path).ok()?;
            Some(Fingerprint::of(target.as_os_str().as_encoded_bytes()))
        }
    }
}

fn is_built(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    BUILT.contains(&extension) || name.contains(".so.")
}

/// Programs that builds linked: they change with every build.
fn linked_programs(workspace: &Workspace) -> HashSet<String> {
    let text = std::fs::read_to_string(workspace.programs_path()).unwrap_or_default();
    text.lines().map(String::from).collect()
}

/// Adds programs to the list of those that builds linked.
pub fn note_programs(workspace: &Workspace, new: &BTreeSet<String>) -> anyhow::Result<()> {
    let mut all: BTreeSet<String> = linked_programs(workspace).into_iter().collect();
    all.extend(new.iter().cloned());
    let text: String = all.iter().map(|program| format!("{program}\n")).collect();
    fs_err::create_dir_all(workspace.state())?;
    let mut file = tempfile::NamedTempFile::new_in(workspace.state())?;
    std::io::Write::write_all(&mut file, text.as_bytes())?;
    file.persist(workspace.programs_path())?;
    Ok(())
}

/// What a changed file means when selecting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A build description: how programs are made may change.
    BuildDescription,
    /// A source that no unit is made of yet.
    NewSource,
    /// The user said that it matters to all.
    RetestAll,
    /// Nobody knows who reads it.
    Unknown,
}

/// Changed, added and removed files that no unit and no suite accounts for.
pub fn changes(
    workspace: &Workspace,
    old: &FileState,
    new: &FileState,
    unit_files: &HashSet<String>,
) -> anyhow::Result<Vec<(String, Role)>> {
    let ignored = workspace.config.ignored()?;
    let retest_all = workspace.config.retest_all()?;
    let suite_files: HashSet<&str> = workspace.config.suite_files().collect();
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut found = Vec::new();
    for name in names {
        if old.get(name) == new.get(name) {
            continue;
        }
        if retest_all.is_match(name) {
            found.push((name.clone(), Role::RetestAll));
            continue;
        }
        let is_known = unit_files.contains(name)
            || suite_files.contains(name.as_str())
            || name == CONFIG_FILE
            || ignored.is_match(name);
        if is_known {
            continue;
        }
        let role = if is_build_description(name) {
            Role::BuildDescription
        } else if name.ends_with(".c") && !old.contains_key(name) {
            Role::NewSource
        } else {
            Role::Unknown
        };
        found.push((name.clone(), role));
    }
    Ok(found)
}

fn is_build_description(name: &str) -> bool {
    let path = PathBuf::from(name);
    let base = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    BUILD_DESCRIPTIONS.contains(&base) || BUILD_EXTENSIONS.contains(&extension)
}
