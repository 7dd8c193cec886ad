//! The entity map: where the edges of the old procedures are in the new version.

use super::procedures::ProgramSelection;
use super::version::ProcRef;
use crate::history::carry::{ProcedureMap, UnitMap};
use crate::ids::{ProcIx, UnitIx};
use rustc_hash::FxHashMap;

impl ProgramSelection<'_> {
    /// Where the edges of each old procedure are now.
    pub fn add_to_map(&mut self) {
        for unit in &self.new.units {
            self.outcome.map.sizes.insert(unit.fingerprint(), unit.edge_count());
        }
        for (unit_ix, unit) in self.comparison.old.units.iter().enumerate() {
            let mut map = UnitMap::default();
            for (ix, procedure) in unit.index.procedures.iter().enumerate() {
                let at = ProcRef { unit: UnitIx::new(unit_ix), procedure: ProcIx::new(ix) };
                let base = unit.base(at.procedure);
                let count = procedure.edge_count as usize;
                map.procedures.push((base, count, self.procedure_map(at)));
            }
            // A unit of several programs went the same way in all of them, or
            // its tests cannot be carried.
            let known = self.outcome.map.units.entry(unit.fingerprint());
            known.and_modify(|known| merge_unit(known, &map)).or_insert(map);
        }
    }

    fn procedure_map(&self, old: ProcRef) -> ProcedureMap {
        let Some(new) = self.counterpart(old) else {
            return ProcedureMap::Gone;
        };
        let unit = self.new.unit(new.unit);
        let base = unit.base(new.procedure);
        let same = self.comparison.old.procedure(old).fingerprint
            == unit.procedure(new.procedure).fingerprint;
        if same {
            let number = new.procedure.0;
            return ProcedureMap::Same { unit: unit.fingerprint(), number, base };
        }
        let Some(graph) = self.walk.graphs.get(&(old, new)) else {
            return ProcedureMap::Gone;
        };
        let mut edges: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (from, to) in graph.matched() {
            let targets = edges.entry(from.ix()).or_default();
            if !targets.contains(&(base + to.ix())) {
                targets.push(base + to.ix());
            }
        }
        ProcedureMap::Edges { unit: unit.fingerprint(), edges }
    }
}

/// Joins what two programs know of one unit.
fn merge_unit(known: &mut UnitMap, other: &UnitMap) {
    for ((_, _, known), (_, _, other)) in known.procedures.iter_mut().zip(&other.procedures) {
        match (&mut *known, other) {
            (
                ProcedureMap::Same { unit, base, .. },
                ProcedureMap::Same { unit: u, base: b, .. },
            ) if unit == u && base == b => {}
            (
                ProcedureMap::Edges { unit, edges },
                ProcedureMap::Edges { unit: other_unit, edges: other_edges },
            ) if unit == other_unit => {
                for (edge, targets) in other_edges {
                    let known = edges.entry(*edge).or_default();
                    known.extend(targets);
                    known.sort_unstable();
                    known.dedup();
                }
            }
            _ => *known = ProcedureMap::Gone,
        }
    }
}
