//! `compile_commands.json`: units as the build system would compile them now.

use super::workspace::Workspace;
use crate::cfg::format::{Detail, UnitIndex};
use crate::compiler::plan::{self, Plan};
use crate::compiler::preprocess;
use crate::compiler::project::Project;
use crate::compiler::toolchain::real_name;
use crate::compiler::unit::{self, Unit};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::path::{Path, PathBuf};

const NAME: &str = "compile_commands.json";

#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    arguments: Vec<String>,
}

/// The units of lists that are newer than the history, in the root and right
/// below it: what an older one says the programs show that were built since. A
/// list that cannot be read says nothing.
pub fn units(workspace: &Workspace) -> Vec<Unit> {
    let modified = |path: &Path| path.metadata().and_then(|meta| meta.modified()).ok();
    let Some(recorded) = modified(&workspace.history_path()) else { return Vec::new() };
    let root = &workspace.project.root;
    let below = std::fs::read_dir(root).into_iter().flatten().flatten();
    let below = below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let directories = std::iter::once(root.clone()).chain(below.map(|entry| entry.path()));
    let lists = directories.map(|directory| directory.join(NAME));
    let newer = lists.filter(|path| modified(path).is_some_and(|time| time > recorded));
    newer.flat_map(|path| read(&workspace.project, &path)).collect()
}

fn read(project: &Project, path: &Path) -> Vec<Unit> {
    let Ok(bytes) = std::fs::read(path) else { return Vec::new() };
    let entries: Vec<Entry> = serde_json::from_slice(&bytes).unwrap_or_default();
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
    let directory = &entry.directory;
    let unit = |source: &String| {
        let object = work.output.clone().unwrap_or_else(|| plan::default_object(source));
        Unit::of_compile(project, directory, real_name(compiler), &work, source, &object)
    };
    work.sources.iter().map(unit).collect()
}

/// Known units that are listed with another command, by their sources and objects.
pub fn other_commands<'l>(
    listed: &'l [Unit],
    known: impl Iterator<Item = &'l UnitIndex>,
) -> FxHashMap<crate::ids::Fingerprint, Unit> {
    let by_key: FxHashMap<_, &Unit> = listed.iter().map(|unit| (&unit.key, unit)).collect();
    let mut found = FxHashMap::default();
    for index in known {
        let Some(unit) = by_key.get(&index.key) else { continue };
        // The compiler is the one that was found: lists have its full path.
        let (then, now) = (&index.command, &unit.command);
        if then.arguments != now.arguments || then.directory != now.directory {
            let mut command = now.clone();
            command.compiler.clone_from(&then.compiler);
            let unit = Unit { key: index.key.clone(), command, detail: index.detail };
            found.insert(index.fingerprint, unit);
        }
    }
    found
}

/// A listed unit that no program has, analysed. None if it does not preprocess.
pub fn analysed(project: &Project, unit: &Unit) -> Option<UnitIndex> {
    let unit =
        Unit { key: unit.key.clone(), command: unit.command.clone(), detail: Detail::default() };
    let job = unit.job(project).ok()?;
    let preprocessed = preprocess::preprocess(project, &job, &[]).ok()?;
    let analysed = unit::analyse(project, &unit, &job, &preprocessed, &FxHashMap::default());
    Some(analysed.record(project, &unit, &job, None).index)
}
