//! What tests did in procedures without probes, which `edgewise test --selective`
//! leaves: they cannot run after a change, so it is what was known before.

use super::selecting::Selected;
use crate::history::{History, Row, rows_of_unit};
use crate::ids::{Fingerprint, ProcIx};
use crate::select::Reason;
use crate::trace::collect::TestTrace;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// What can run after a change, by unit; none if that may be all of it.
pub type Affected = FxHashMap<Fingerprint, Option<BTreeSet<ProcIx>>>;

/// What is known of tests that are about to run.
pub struct Known {
    affected: Affected,
    /// Rows of the new version, by test; whether they may hold too much.
    rows: FxHashMap<String, (RowsByPlace, bool)>,
}

/// By unit and number of the procedure.
type RowsByPlace = FxHashMap<(Fingerprint, u32), Vec<u8>>;

/// Why a build cannot leave out probes for a selection, if so. It takes tests that
/// are selected for a change of code alone, and of which it is known what they did.
pub fn obstacle(history: &History, selected: &Selected) -> Option<String> {
    let is_code = |reason: &Reason| {
        matches!(reason, Reason::Edge(_) | Reason::Procedure { .. } | Reason::ProcedureGone { .. })
    };
    for (name, reasons) in &selected.report.selected {
        if !reasons.iter().all(is_code) {
            return Some(format!("{name} is selected for more than a change of code"));
        }
        let known = history.test(name).filter(|test| test.is_clean());
        let Some(test) = known else { return Some(format!("it is not known what {name} does")) };
        if test.programs.len() != 1 {
            return Some(format!("{name} runs several programs"));
        }
    }
    None
}

impl Known {
    /// From the history, before the tests run.
    pub fn of(history: &History, selected: &Selected, affected: Affected) -> anyhow::Result<Self> {
        let mut rows = FxHashMap::default();
        if obstacle(history, selected).is_none() {
            for (name, _) in &selected.report.selected {
                let inexact = history.test(name).is_some_and(|test| test.inexact);
                let carried = selected.map.carry_same(&history.rows(name)?);
                rows.insert(name.clone(), (carried, inexact));
            }
        }
        Ok(Self { affected, rows })
    }

    /// What a test did in a procedure without probes; none if that is not known.
    fn row(
        &self,
        name: &str,
        trace: &TestTrace,
        place: (Fingerprint, u32),
    ) -> Option<(Vec<u8>, bool)> {
        let affected = self.affected.get(&place.0)?.as_ref()?;
        let is_one = trace.programs.len() == 1 && trace.processes == 1 && trace.cases.is_empty();
        if affected.contains(&ProcIx(place.1)) || !is_one {
            return None;
        }
        let (rows, inexact) = self.rows.get(name)?;
        Some((rows.get(&place).cloned().unwrap_or_default(), *inexact))
    }
}

/// The rows of a test in procedures without probes, and whether they may hold too
/// much: where nothing is known, all edges count as taken.
pub fn rows(known: Option<&Known>, name: &str, trace: &TestTrace) -> (Vec<Row>, bool) {
    let (mut rows, mut inexact) = (Vec::new(), false);
    for unit in trace.programs.iter().flat_map(|program| &program.units) {
        let id = unit.index.fingerprint;
        let procedures = (0..).zip(&unit.index.procedures);
        for (number, procedure) in procedures.filter(|(_, procedure)| procedure.unprobed) {
            let (edges, holds_more) =
                match known.and_then(|known| known.row(name, trace, (id, number))) {
                    Some(row) => row,
                    None => (all_edges(procedure.edge_count as usize), true),
                };
            inexact |= holds_more;
            rows.push(Row { unit: id, procedure: number, edges });
        }
    }
    (rows, inexact)
}

fn all_edges(count: usize) -> Vec<u8> {
    let all = bitvec::bitvec![u8, bitvec::order::Lsb0; 1; count];
    let rows = rows_of_unit(Fingerprint::default(), [count as u32].into_iter(), &all);
    rows.into_iter().next().map(|row| row.edges).unwrap_or_default()
}
