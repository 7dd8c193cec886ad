//! `compile_commands.json`: units as the build system compiles them.

use super::plan::{self, Plan};
use super::project::Project;
use super::toolchain::real_name;
use super::unit::Unit;
use crate::bytes;
use serde::Deserialize;
use std::path::{Path, PathBuf};

const NAME: &str = "compile_commands.json";

#[derive(Deserialize)]
struct Entry {
    directory: String,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    arguments: Vec<String>,
}

/// Where lists may be: in the root of a project and right below it.
pub fn lists(root: &Path) -> impl Iterator<Item = PathBuf> {
    let below = std::fs::read_dir(root).into_iter().flatten().flatten();
    let below = below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let below = below.filter(|entry| entry.file_name() != super::project::STATE_DIRECTORY);
    let directories = std::iter::once(root.to_path_buf()).chain(below.map(|entry| entry.path()));
    directories.map(|directory| directory.join(NAME))
}

/// The units of a list. One that cannot be read says nothing.
pub fn units(project: &Project, list: &Path) -> Vec<Unit> {
    let Ok(bytes) = std::fs::read(list) else { return Vec::new() };
    let entries: Vec<Entry> = serde_json::from_str(&bytes::to_text(&bytes)).unwrap_or_default();
    entries.iter().flat_map(|entry| units_of(project, entry)).collect()
}

fn units_of(project: &Project, entry: &Entry) -> Vec<Unit> {
    let words = match &entry.command {
        Some(command) => shlex::split(command).unwrap_or_default(),
        None => entry.arguments.clone(),
    };
    let Some((compiler, arguments)) = words.split_first() else { return Vec::new() };
    let Plan::Work(work) = plan::plan(arguments) else { return Vec::new() };
    if !work.compile_only {
        return Vec::new();
    }
    let directory = &*bytes::path(&entry.directory);
    let unit = |source: &String| {
        let object = work.output.clone().unwrap_or_else(|| plan::default_object(source));
        Unit::of_compile(project, directory, real_name(compiler), &work, source, &object)
    };
    work.sources.iter().map(unit).collect()
}
