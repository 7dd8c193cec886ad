//! Code that is new or changed between two versions of a history, and what of it no
//! test reaches.

use super::reached::{Procedure, Reached};
use crate::cfg::format::Graph;
use crate::history::History;
use crate::history::format::FileState;
use crate::history::store::StoreError;
use crate::ids::{EdgeId, Fingerprint};
use crate::select::gaps::{self, Gap};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

pub struct NewCode {
    /// What no test reaches.
    pub gaps: Vec<Gap>,
    /// All lines that are new or changed, reached or not.
    pub lines: BTreeSet<(String, u32)>,
    /// Files that are other ones now than in the later version.
    pub stale: BTreeSet<String>,
}

/// Compares a version with an earlier one. `files` are as they are now.
pub fn find(earlier: &History, later: &History, files: &FileState) -> Result<NewCode, StoreError> {
    let then = later.common_files()?;
    let before = Reached::new(earlier, |_| true)?;
    let now = Reached::new(later, |_| true)?;
    let indexes = || before.units().flat_map(|unit| &unit.index.procedures);
    let same: FxHashSet<Fingerprint> = indexes().map(|index| index.fingerprint).collect();
    // By file and name: that is how a procedure is found again.
    let mut known: FxHashMap<(String, String), Vec<Graph>> = FxHashMap::default();
    let mut changed: FxHashSet<&str> = FxHashSet::default();
    for unit in now.units() {
        let procedures = unit.index.procedures.iter();
        changed
            .extend(procedures.filter(|p| !same.contains(&p.fingerprint)).map(|p| p.name.as_str()));
    }
    before.each::<StoreError>(
        |_, index| changed.contains(index.name.as_str()),
        |procedure| {
            known.entry(name(procedure)).or_default().push(procedure.graph.clone());
            Ok(())
        },
    )?;
    let mut open: BTreeSet<Gap> = BTreeSet::new();
    // What is in several units, an inline function say, is reached in one of them.
    let mut reached: FxHashSet<(String, u32, String, Option<String>)> = FxHashSet::default();
    let mut lines = BTreeSet::new();
    let mut stale = BTreeSet::new();
    now.each::<StoreError>(
        |_, index| !same.contains(&index.fingerprint),
        |procedure| {
            let name = name(procedure);
            if then.get(&name.0) != files.get(&name.0) {
                stale.insert(name.0.clone());
            }
            let earlier: Vec<&Graph> = known.get(&name).into_iter().flatten().collect();
            let taken = |edge: EdgeId| procedure.tests_on_edge(edge).any();
            for place in gaps::places(procedure.unit, procedure.place, &earlier, &taken) {
                lines.insert((place.gap.file.clone(), place.gap.line));
                if place.is_reached {
                    reached.insert(key(&place.gap));
                } else {
                    open.insert(place.gap);
                }
            }
            Ok(())
        },
    )?;
    let is_reached = |gap: &Gap| reached.contains(&key(gap));
    let gaps = open.into_iter().filter(|gap| !is_reached(gap)).collect();
    Ok(NewCode { gaps, lines, stale })
}

fn name(procedure: &Procedure<'_>) -> (String, String) {
    (procedure.file(procedure.index.place).to_string(), procedure.index.name.clone())
}

/// What makes two gaps the same, whichever unit they are in.
fn key(gap: &Gap) -> (String, u32, String, Option<String>) {
    (gap.file.clone(), gap.line, gap.text.clone(), gap.never.clone())
}
