//! `compile_commands.json`: units as the build system would compile them now.

use super::workspace::Workspace;
use crate::cfg::format::{Detail, UnitIndex};
use crate::compiler::commands;
use crate::compiler::preprocess;
use crate::compiler::project::Project;
use crate::compiler::unit::{self, Unit};
use rustc_hash::FxHashMap;
use std::path::Path;

/// The units of lists that are newer than the history, in the root and right
/// below it: what an older one says the programs show that were built since. A
/// list that cannot be read says nothing.
pub fn units(workspace: &Workspace) -> Vec<Unit> {
    let modified = |path: &Path| path.metadata().and_then(|meta| meta.modified()).ok();
    let Some(recorded) = modified(&workspace.history_path()) else { return Vec::new() };
    let root = &workspace.project.root;
    let lists = commands::lists(root);
    let newer = lists.filter(|path| modified(path).is_some_and(|time| time > recorded));
    newer.flat_map(|path| commands::units(&workspace.project, &path)).collect()
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
