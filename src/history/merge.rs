//! Histories of several machines into one: the same result in any order.

use super::format::{BlobAt, BlobId, BlobKind, Entry, Manifest, SegmentTests, SnapshotAt, Test};
use super::segment::{Part, SegmentWriter, unite};
use super::snapshot::{Copier, KEPT};
use super::store::{Store, StoreError};
use super::{History, Holders};
use crate::ids::Fingerprint;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::path::Path;

/// What became of a merge.
#[derive(Debug, Default)]
pub struct Merged {
    pub tests: usize,
    /// Tests of which the histories do not say the same, and what was kept.
    pub conflicts: Vec<(String, &'static str)>,
}

/// Writes what several histories hold into one file, which is replaced.
pub fn merge(inputs: &[History], out: &Path) -> Result<Merged, StoreError> {
    merge_beyond(inputs, None, out)
}

/// The same with those tests alone that the base, which the others may have begun with, does not
/// have just as they are. One that did not pass in the base stays as it is there unless who says
/// that it passed began with the base: the others may be older.
pub fn merge_beyond(
    inputs: &[History],
    base: Option<&History>,
    out: &Path,
) -> Result<Merged, StoreError> {
    let mut merged = Merged::default();
    let mut names: BTreeMap<&str, Vec<(usize, &Test)>> = BTreeMap::new();
    for (input, history) in inputs.iter().enumerate() {
        let is_later = match base {
            Some(base) => history.store.continues(&base.store)?,
            None => true,
        };
        for (name, test) in history.tests() {
            let known = base.and_then(|base| base.test(name));
            if known == Some(test) {
                continue;
            }
            if !is_later && test.is_clean() && known.is_some_and(|known| !known.is_clean()) {
                let what =
                    "it did not pass here, and may have passed elsewhere before: it stays selected";
                merged.conflicts.push((name.clone(), what));
                continue;
            }
            names.entry(name).or_default().push((input, test));
        }
    }
    merged.tests = names.len();
    let mut tests = SegmentTests::default();
    let mut places: Vec<Vec<Option<u32>>> =
        inputs.iter().map(|history| vec![None; history.test_numbers()]).collect();
    // Any of the inputs that has a blob can give it.
    let mut blobs: BTreeMap<BlobId, usize> = BTreeMap::new();
    for (name, candidates) in names {
        let Choice { test, inputs: kept, conflict } = choose(&candidates);
        merged.conflicts.extend(conflict.map(|what| (name.to_string(), what)));
        let place = tests.entries.len() as u32;
        for input in &kept {
            let number = inputs[*input].number(name);
            if let Some(number) = number {
                places[*input][number as usize] = Some(place);
            }
        }
        for id in test.blobs() {
            blobs.entry(id).or_insert(kept[0]);
        }
        tests.entries.push(Entry { name: name.to_string(), test, keeps_older_rows: false });
    }
    let programs: Vec<(Fingerprint, usize)> = blobs
        .iter()
        .filter(|((kind, _), _)| *kind == BlobKind::Program)
        .map(|((_, id), input)| (*id, *input))
        .collect();
    for (program, input) in &programs {
        for unit in inputs[*input].program(*program)?.units {
            blobs.entry((BlobKind::Unit, unit)).or_insert(*input);
        }
    }
    let holder_of: BTreeMap<Fingerprint, usize> = programs.into_iter().collect();
    let of_tests = tests.entries.iter().map(|entry| &entry.test);
    let holders = Holders::new(tests.entries.len(), (0..).zip(of_tests), |program| {
        inputs[holder_of[&program]].program(program)
    })?;

    let mut store = Store::replacing(out);
    let mut writer = store.begin(true)?;
    let mut at: Vec<(BlobId, BlobAt)> = Vec::new();
    let mut copier = Copier { out: &mut writer, blobs: FxHashMap::default() };
    for (id, input) in blobs {
        let history = &inputs[input];
        let from = history.blobs.get(&id);
        let from = from.ok_or_else(|| history.store.damaged("a part is missing"))?;
        at.push((id, copier.blob(&history.store, id, *from)?));
    }
    let mut snapshots = Vec::new();
    for history in inputs {
        snapshots.extend(copier.snapshots(&history.store)?);
    }
    let failed = |why| StoreError::Io { path: out.display().to_string(), why };
    let at = writer.put_value(&at).map_err(failed)?;
    let parts: Vec<Part<'_>> =
        inputs.iter().zip(&places).flat_map(|(history, places)| history.parts(0, places)).collect();
    let mut segment = SegmentWriter::new(&mut writer);
    unite(&parts, &mut segment, &holders)?;
    let segment = segment.finish(&tests, at).map_err(failed)?;
    let seconds = inputs.iter().map(|history| history.store.manifest.seconds).max();
    let snapshots = newest_of_each(snapshots);
    store.end(
        writer,
        Manifest { segments: vec![segment], seconds: seconds.unwrap_or(0), snapshots },
    )?;
    Ok(merged)
}

/// Of the same version that one which was written last; the oldest first.
fn newest_of_each(mut snapshots: Vec<SnapshotAt>) -> Vec<SnapshotAt> {
    let check = |at: &SnapshotAt| at.segments.iter().map(|s| s.tests.check).collect::<Vec<_>>();
    snapshots.sort_by_key(|at| (at.id, at.seconds, at.tests, check(at)));
    snapshots.reverse();
    snapshots.dedup_by_key(|at| at.id);
    snapshots.sort_by_key(|at| (at.seconds, at.id));
    let surplus = snapshots.len().saturating_sub(KEPT);
    snapshots.split_off(surplus)
}

struct Choice {
    test: Test,
    /// Histories whose rows of the test count.
    inputs: Vec<usize>,
    conflict: Option<&'static str>,
}

/// What is kept of a test. It depends on what is said of it, not on who says it,
/// and what is kept of some is kept of all: so the order does not matter.
fn choose(candidates: &[(usize, &Test)]) -> Choice {
    let unclean = candidates.iter().filter(|(_, test)| !test.is_clean());
    let worst = unclean.max_by_key(|(_, test)| (test.outcome, encoded(test)));
    if let Some((input, test)) = worst {
        let differs = candidates.iter().any(|(_, other)| other.is_clean());
        let conflict =
            differs.then_some("it passed elsewhere, and did not here: it stays selected");
        return Choice { test: (*test).clone(), inputs: vec![*input], conflict };
    }
    let version =
        |test: &Test| (test.fingerprint, test.programs.clone(), test.files, test.loaded, test.uses);
    let newest = candidates.iter().map(|(_, test)| version(test)).max();
    let kept: Vec<&(usize, &Test)> =
        candidates.iter().filter(|(_, test)| Some(version(test)) == newest).collect();
    let mut test = kept[0].1.clone();
    for (_, other) in &kept {
        test.milliseconds = test.milliseconds.max(other.milliseconds);
        test.inexact |= other.inexact;
        test.unstable |= other.unstable;
    }
    // Rows of several runs are no longer those of one path each.
    if kept.len() > 1 {
        test.once = None;
        test.paths = None;
    }
    let is_one = kept.len() == candidates.len();
    let conflict = (!is_one).then_some("recorded with different programs or files: one is kept");
    Choice { test, inputs: kept.iter().map(|(input, _)| *input).collect(), conflict }
}

fn encoded(test: &Test) -> Vec<u8> {
    postcard::to_stdvec(test).expect("plain data always serialises")
}
