//! Two histories of the same version, laid beside each other test by test.

use super::History;
use super::store::StoreError;
use crate::ids::Fingerprint;
use std::collections::{BTreeMap, BTreeSet};

/// What is to be said of a test that both have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The same rows.
    Equal,
    /// One of them is known to hold too much, and holds all of the other.
    Contained,
    /// Other programs, or other versions of them.
    OtherVersion,
    /// It did not pass with a complete trace in both.
    NotClean,
    /// Other rows.
    Different,
}

#[derive(Clone, Debug, Default)]
pub struct Difference {
    pub verdicts: BTreeMap<String, Verdict>,
    /// Where tests differ: unit and number of the procedure.
    pub places: BTreeMap<String, Vec<(Fingerprint, u32)>>,
    pub only_here: Vec<String>,
    pub only_there: Vec<String>,
}

/// What a test did, by procedure.
type Rows = BTreeMap<(Fingerprint, u32), Vec<u8>>;

pub fn diff(here: &History, there: &History) -> Result<Difference, StoreError> {
    let mut difference = Difference::default();
    let (mut ours, mut theirs) = (rows(here)?, rows(there)?);
    for (name, test) in here.tests() {
        let Some(other) = there.test(name) else {
            difference.only_here.push(name.clone());
            continue;
        };
        let of = |rows: &mut BTreeMap<u32, Rows>, history: &History| {
            history.number(name).and_then(|number| rows.remove(&number)).unwrap_or_default()
        };
        let (mine, its) = (of(&mut ours, here), of(&mut theirs, there));
        let verdict = if !test.is_clean() || !other.is_clean() {
            Verdict::NotClean
        } else if programs(test.programs.iter()) != programs(other.programs.iter()) {
            Verdict::OtherVersion
        } else {
            let places = places(&mine, &its, test.inexact, other.inexact);
            let is_equal = mine == its;
            let verdict = match (is_equal, places.is_empty()) {
                (true, _) => Verdict::Equal,
                (false, true) => Verdict::Contained,
                (false, false) => Verdict::Different,
            };
            if verdict == Verdict::Different {
                difference.places.insert(name.clone(), places);
            }
            verdict
        };
        difference.verdicts.insert(name.clone(), verdict);
    }
    let known = |name: &&String| here.test(name).is_none();
    difference.only_there = there.tests().map(|(name, _)| name).filter(known).cloned().collect();
    Ok(difference)
}

fn programs<'p>(ids: impl Iterator<Item = &'p Fingerprint>) -> BTreeSet<Fingerprint> {
    ids.copied().collect()
}

/// The rows of all tests, by their numbers.
fn rows(history: &History) -> Result<BTreeMap<u32, Rows>, StoreError> {
    let mut rows: BTreeMap<u32, Rows> = BTreeMap::new();
    for unit in history.units()? {
        for procedure in history.procedures(unit)? {
            for (test, edges) in history.column(unit, procedure)?.rows() {
                let mut edges: Vec<u8> = edges.domain().collect();
                while edges.last() == Some(&0) {
                    edges.pop();
                }
                rows.entry(test).or_default().insert((unit, procedure), edges);
            }
        }
    }
    Ok(rows)
}

/// Procedures in which rows differ, apart from what an inexact one has too much.
fn places(
    mine: &Rows,
    its: &Rows,
    is_mine_inexact: bool,
    is_its_inexact: bool,
) -> Vec<(Fingerprint, u32)> {
    let keys: BTreeSet<&(Fingerprint, u32)> = mine.keys().chain(its.keys()).collect();
    let nothing = Vec::new();
    let differs = |key: &&&(Fingerprint, u32)| {
        let (mine, its) = (mine.get(**key).unwrap_or(&nothing), its.get(**key).unwrap_or(&nothing));
        let length = mine.len().max(its.len());
        (0..length).any(|at| {
            let byte = |row: &Vec<u8>| row.get(at).copied().unwrap_or(0);
            let (mine, its) = (byte(mine), byte(its));
            mine & !its != 0 && !is_mine_inexact || its & !mine != 0 && !is_its_inexact
        })
    };
    keys.iter().filter(differs).map(|key| **key).collect()
}
