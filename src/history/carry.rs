//! RECOVER's update: the row of a test that was not run again, carried over to
//! the new version by the map of matched edges.

use super::Row;
use crate::ids::Fingerprint;
use crate::trace::derive::EdgeBits;
use bitvec::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Where the edges of one old procedure are in the new version.
#[derive(Clone, Debug)]
pub enum ProcedureMap {
    /// The graph is the same, node for node.
    Same { unit: Fingerprint, number: u32, base: usize },
    /// Old edge (within the procedure) to new edge (within the new unit).
    Edges { unit: Fingerprint, edges: FxHashMap<usize, Vec<usize>> },
    /// It is gone, or was not looked at.
    Gone,
}

/// Where everything of one old unit went.
#[derive(Clone, Debug, Default)]
pub struct UnitMap {
    /// For each procedure in order: first edge, number of edges, where they are.
    pub procedures: Vec<(usize, usize, ProcedureMap)>,
}

impl UnitMap {
    /// Whether every edge is where it was, in the same unit.
    pub fn stays(&self, id: Fingerprint) -> bool {
        self.procedures.iter().all(|(start, _, target)| {
            matches!(target, ProcedureMap::Same { unit, base, .. } if *unit == id && base == start)
        })
    }
}

/// The paper's entity map, by old unit, with the sizes of the new units.
#[derive(Clone, Debug, Default)]
pub struct EntityMap {
    pub units: FxHashMap<Fingerprint, UnitMap>,
    pub sizes: FxHashMap<Fingerprint, usize>,
}

/// Rows at the new version.
#[derive(Debug, Default)]
pub struct Carried {
    pub rows: BTreeMap<Fingerprint, EdgeBits>,
    /// An edge had several counterparts: the rows may hold too much.
    pub inexact: bool,
}

/// An edge that was taken has no counterpart, so the test cannot be carried.
#[derive(Debug, PartialEq, Eq)]
pub struct Unmapped;

impl EntityMap {
    /// Carries the rows of one test.
    pub fn carry<'r>(
        &self,
        rows: impl Iterator<Item = (Fingerprint, &'r EdgeBits)>,
    ) -> Result<Carried, Unmapped> {
        let mut carried = Carried::default();
        for (unit, row) in rows {
            let map = self.units.get(&unit).ok_or(Unmapped)?;
            for (base, count, target) in &map.procedures {
                let end = (base + count).min(row.len());
                let taken = row.get((*base).min(end)..end).unwrap_or_default();
                if taken.any() {
                    self.carry_procedure(taken, target, &mut carried)?;
                }
            }
        }
        Ok(carried)
    }

    /// What of a test's rows is in procedures that are the same, node for node: where
    /// it is in the new version.
    pub fn carry_same(&self, rows: &[Row]) -> FxHashMap<(Fingerprint, u32), Vec<u8>> {
        let mut carried = FxHashMap::default();
        for Row { unit, procedure, edges } in rows {
            let map = self.units.get(unit).and_then(|map| map.procedures.get(*procedure as usize));
            if let Some((_, _, ProcedureMap::Same { unit, number, .. })) = map {
                carried.insert((*unit, *number), edges.clone());
            }
        }
        carried
    }

    fn carry_procedure(
        &self,
        taken: &BitSlice<u8, Lsb0>,
        target: &ProcedureMap,
        carried: &mut Carried,
    ) -> Result<(), Unmapped> {
        match target {
            ProcedureMap::Gone => Err(Unmapped),
            ProcedureMap::Same { unit, base, .. } => {
                let row = self.row(*unit, carried)?;
                for edge in taken.iter_ones() {
                    row.get_mut(base + edge).ok_or(Unmapped)?.set(true);
                }
                Ok(())
            }
            ProcedureMap::Edges { unit, edges } => {
                let mut inexact = false;
                let row = self.row(*unit, carried)?;
                for edge in taken.iter_ones() {
                    let targets = edges.get(&edge).ok_or(Unmapped)?;
                    inexact |= targets.len() > 1;
                    // With OR: what one counterpart sets, another must not unset.
                    for target in targets {
                        row.get_mut(*target).ok_or(Unmapped)?.set(true);
                    }
                }
                carried.inexact |= inexact;
                Ok(())
            }
        }
    }

    fn row<'c>(
        &self,
        unit: Fingerprint,
        carried: &'c mut Carried,
    ) -> Result<&'c mut EdgeBits, Unmapped> {
        let size = *self.sizes.get(&unit).ok_or(Unmapped)?;
        Ok(carried.rows.entry(unit).or_insert_with(|| bitvec![u8, Lsb0; 0; size]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fp(n: u8) -> Fingerprint {
        Fingerprint([n; 16])
    }

    fn map(target: ProcedureMap) -> EntityMap {
        let unit = UnitMap { procedures: vec![(0, 3, target)] };
        EntityMap {
            units: FxHashMap::from_iter([(fp(1), unit)]),
            sizes: FxHashMap::from_iter([(fp(2), 5)]),
        }
    }

    fn carry(map: &EntityMap, row: EdgeBits) -> Result<Carried, Unmapped> {
        map.carry([(fp(1), &row)].into_iter())
    }

    #[test]
    fn a_later_pair_does_not_unset_what_an_earlier_one_set() {
        // Old edges 0 (taken) and 1 (not taken) both match new edge 4.
        let edges = FxHashMap::from_iter([(0, vec![4]), (1, vec![4])]);
        let map = map(ProcedureMap::Edges { unit: fp(2), edges });
        let carried = carry(&map, bitvec![u8, Lsb0; 1, 0, 0]).unwrap();
        assert_eq!(carried.rows[&fp(2)], bitvec![u8, Lsb0; 0, 0, 0, 0, 1]);
        assert!(!carried.inexact);
    }

    #[test]
    fn several_counterparts_make_a_row_inexact() {
        let edges = FxHashMap::from_iter([(0, vec![1, 2])]);
        let map = map(ProcedureMap::Edges { unit: fp(2), edges });
        let carried = carry(&map, bitvec![u8, Lsb0; 1, 0, 0]).unwrap();
        assert!(carried.inexact);
    }

    #[test]
    fn a_taken_edge_without_counterpart_cannot_be_carried() {
        let edges = FxHashMap::from_iter([(0, vec![1])]);
        let map = map(ProcedureMap::Edges { unit: fp(2), edges });
        assert_eq!(carry(&map, bitvec![u8, Lsb0; 1, 1, 0]).unwrap_err(), Unmapped);
    }
}
