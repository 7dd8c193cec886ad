//! `edgewise run --shadow`: whether tests that selection would have skipped did
//! what was known of them.

use super::selecting::Selected;
use crate::history::History;
use crate::ids::{Fingerprint, ProcIx};
use crate::report::results::TestResult;
use crate::report::shadow::{OtherEdges, Shadow};
use crate::select::NewProgram;
use crate::select::version::UnitVersion;
use crate::trace::derive::EdgeBits;
use bitvec::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// What tests took in each unit.
type Rows = BTreeMap<Fingerprint, EdgeBits>;

/// What the skipped tests have to do, in edges of the programs as they are.
pub struct Expected(FxHashMap<String, ExpectedRows>);

struct ExpectedRows {
    rows: Rows,
    /// They may hold more than the test takes.
    inexact: bool,
}

/// Reads it from the history, before the run replaces it.
pub fn expect(history: &History, selected: &Selected) -> anyhow::Result<Expected> {
    let sizes = selected.map.units.iter().map(|(unit, map)| {
        let bases = map.procedures.iter().map(|(base, count, _)| (*base, *count)).collect();
        (*unit, bases)
    });
    let mut taken = rows_by_test(history, sizes)?;
    let mut expected = FxHashMap::default();
    // Who runs excluded code that changed may do anything.
    let passed_over = selected.report.passed_over();
    for name in selected.report.skipped.iter().filter(|name| !passed_over.contains(name.as_str())) {
        let Some((number, test)) = history.number(name).zip(history.test(name)) else { continue };
        let rows = taken.remove(&number).unwrap_or_default();
        if let Ok(carried) = selected.map.carry(rows.iter().map(|(unit, row)| (*unit, row))) {
            let inexact = carried.inexact || test.inexact || test.unstable;
            expected.insert(name.clone(), ExpectedRows { rows: carried.rows, inexact });
        }
    }
    Ok(Expected(expected))
}

/// Compares it with what the run recorded.
pub fn compare(
    expected: &Expected,
    history: &History,
    selected: &Selected,
    results: &[TestResult],
) -> anyhow::Result<Shadow> {
    let mut shadow = Shadow::new(&selected.report.skipped, results);
    let units = new_units(selected);
    let bases = units.iter().map(|(id, unit)| {
        let counts = unit.index.procedures.iter().map(|p| p.edge_count as usize).enumerate();
        let bases = counts.map(|(ix, count)| (unit.base(ProcIx::new(ix)), count)).collect();
        (*id, bases)
    });
    let mut taken = rows_by_test(history, bases)?;
    let missed: BTreeSet<&str> = shadow.missed.iter().map(|missed| missed.name.as_str()).collect();
    let passed = shadow.skipped.iter().filter(|name| !missed.contains(name.as_str()));
    for name in passed {
        let entry = history.number(name).zip(history.test(name).filter(|test| test.is_clean()));
        let (Some((number, test)), Some(expected)) = (entry, expected.0.get(name)) else {
            shadow.not_compared.push(name.clone());
            continue;
        };
        let rows = taken.remove(&number).unwrap_or_default();
        let mut procedures = differences(expected, &rows, &units);
        for program in &test.programs {
            let program = history.program(*program)?;
            if program.units.iter().any(|unit| !units.contains_key(unit)) {
                procedures.insert(format!("{}, which it had not run", program.path));
            }
        }
        if !procedures.is_empty() {
            let procedures = procedures.into_iter().collect();
            shadow.other_edges.push(OtherEdges { name: name.clone(), procedures });
        }
    }
    Ok(shadow)
}

fn new_units(selected: &Selected) -> FxHashMap<Fingerprint, &UnitVersion> {
    let mut units = FxHashMap::default();
    for comparison in &selected.comparisons {
        if let NewProgram::Version(new) = &comparison.new {
            units.extend(new.units.iter().map(|unit| (unit.fingerprint(), &**unit)));
        }
    }
    units
}

/// Rows of all tests, by their numbers, in units with these procedures: where
/// their edges begin, and how many they are.
fn rows_by_test(
    history: &History,
    units: impl Iterator<Item = (Fingerprint, Vec<(usize, usize)>)>,
) -> anyhow::Result<FxHashMap<u32, Rows>> {
    let mut rows: FxHashMap<u32, Rows> = FxHashMap::default();
    for (unit, procedures) in units {
        let size = procedures.last().map_or(0, |(base, count)| base + count);
        for procedure in history.procedures(unit)? {
            let Some((base, count)) = procedures.get(procedure as usize).copied() else { continue };
            for (test, taken) in history.column(unit, procedure)?.rows() {
                let row = rows.entry(test).or_default().entry(unit);
                let row = row.or_insert_with(|| bitvec![u8, Lsb0; 0; size]);
                let count = count.min(taken.len());
                row[base..base + count].copy_from_bitslice(&taken[..count]);
            }
        }
    }
    Ok(rows)
}

/// Procedures in which a test took other edges.
fn differences(
    expected: &ExpectedRows,
    found: &Rows,
    units: &FxHashMap<Fingerprint, &UnitVersion>,
) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let nothing = EdgeBits::new();
    let ids: BTreeSet<&Fingerprint> = expected.rows.keys().chain(found.keys()).collect();
    for id in ids {
        let Some(unit) = units.get(id) else { continue };
        let before = expected.rows.get(id).unwrap_or(&nothing);
        let after = found.get(id).unwrap_or(&nothing);
        for (ix, procedure) in unit.index.procedures.iter().enumerate() {
            let base = unit.base(ProcIx::new(ix));
            let is_taken = |row: &EdgeBits, edge: usize| row.get(edge).is_some_and(|bit| *bit);
            let differs = (base..base + procedure.edge_count as usize).any(|edge| {
                match (is_taken(before, edge), is_taken(after, edge)) {
                    (true, false) => !expected.inexact,
                    (before, after) => before != after,
                }
            });
            if differs {
                names.insert(procedure.name.clone());
            }
        }
    }
    names
}
