//! Which version of the history to compare with.

use super::files::Files;
use super::snapshot::{self, Source};
use super::workspace::Workspace;
use crate::history::History;
use crate::history::format::FileState;
use crate::history::snapshot::Snapshot;
use crate::ids::Fingerprint;
use crate::report::time;
use anyhow::bail;
use rustc_hash::FxHashSet;

/// Letters of an id that people are shown.
const SHOWN: usize = 12;

/// The version that somebody means by the beginning of its id.
pub fn find(history: &History, id: &str) -> anyhow::Result<Snapshot> {
    let all = history.snapshots()?;
    let wanted = id.to_lowercase();
    let found: Vec<&Snapshot> = all.iter().filter(|s| s.id.hex().starts_with(&wanted)).collect();
    match found[..] {
        [one] => Ok(one.clone()),
        [] => bail!("the history has no version `{id}`\nhint: `edgewise history log` lists them"),
        _ => bail!("several versions begin with `{id}`\nhint: `edgewise history log` lists them"),
    }
}

pub fn short(id: Fingerprint) -> String {
    id.hex().chars().take(SHOWN).collect()
}

/// Goes to a version of the history, and says so if it is not the last one.
fn go_to(history: History, id: Fingerprint) -> anyhow::Result<(History, Option<String>)> {
    let all = history.snapshots()?;
    let Some(earlier) = all.iter().find(|s| s.id == id && !s.is_current) else {
        return Ok((history, None));
    };
    let when = time::of_day(earlier.seconds);
    let said = format!("compared with version {} of {when}, not with the last one", short(id));
    Ok((history.go_to(id)?, Some(said)))
}

/// The history at the version to compare with: the one that is asked for, or the
/// nearest. With a word on it if it is not the last one.
pub fn choose(
    workspace: &Workspace,
    source: Source,
    files: &Files,
    against: Option<&str>,
) -> anyhow::Result<(History, Option<String>)> {
    let history = workspace.history()?;
    let id = match (against, source) {
        (Some(id), _) => find(&history, id)?.id,
        (None, Source::Build) => nearest_to_build(workspace, &history)?,
        (None, Source::Sources) => nearest_to_sources(&history, files)?,
    };
    go_to(history, id)
}

/// The version that has the most units in common with what is built.
fn nearest_to_build(workspace: &Workspace, history: &History) -> anyhow::Result<Fingerprint> {
    let current = history.id();
    if !history.has_snapshots() {
        return Ok(current);
    }
    let mut now: FxHashSet<Fingerprint> = FxHashSet::default();
    let mut programs: FxHashSet<String> = FxHashSet::default();
    let ids: FxHashSet<Fingerprint> =
        history.tests().flat_map(|(_, test)| test.programs.iter().copied()).collect();
    for id in ids {
        let program = history.program(id)?;
        if programs.insert(program.path.clone()) {
            now.extend(snapshot::units_of_built(&workspace.project, &program));
        }
    }
    nearest(history, |id| {
        let units = history.units_of(id)?;
        let shared = units.iter().filter(|unit| now.contains(unit)).count();
        Ok((shared, units.len() - shared))
    })
}

/// The version whose files are most like those that are there: what its units
/// would be is not known without preprocessing them.
fn nearest_to_sources(history: &History, files: &Files) -> anyhow::Result<Fingerprint> {
    let current = history.id();
    if !history.has_snapshots() {
        return Ok(current);
    }
    let score = |then: &FileState| {
        let shared = then.iter().filter(|(name, was)| files.now.get(*name) == Some(*was)).count();
        (shared, then.len() - shared)
    };
    if score(&history.common_files()?).1 == 0 {
        return Ok(current);
    }
    nearest(history, |id| Ok(score(&history.files_of(id)?)))
}

/// The one that shares the most and has the least of its own; of several the
/// current one, or else the newest. Where none shares anything, none is nearer than the current.
fn nearest(
    history: &History,
    score: impl Fn(Fingerprint) -> anyhow::Result<(usize, usize)>,
) -> anyhow::Result<Fingerprint> {
    let mut best = (history.id(), score(history.id())?);
    for snapshot in history.snapshots()?.iter().filter(|snapshot| !snapshot.is_current) {
        let (shared, own) = score(snapshot.id)?;
        let (most, least) = best.1;
        if shared > most || shared == most && shared > 0 && own < least {
            best = (snapshot.id, (shared, own));
        }
    }
    Ok(best.0)
}
