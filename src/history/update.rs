//! What was recorded elsewhere since, into a history: that of a pull request, from the shards
//! that ran what was selected.

use super::format::BlobKind;
use super::store::StoreError;
use super::{History, Row};
use std::collections::{BTreeMap, BTreeSet};

impl History {
    /// Takes all tests of another history as if they had been run here, for the next commit. What this
    /// one knew of them is replaced.
    pub fn take(&mut self, from: &History) -> Result<usize, StoreError> {
        let mut units = BTreeSet::new();
        let mut blobs = BTreeSet::new();
        for (_, test) in from.tests() {
            blobs.extend(test.blobs());
        }
        for (_, program) in blobs.iter().filter(|(kind, _)| *kind == BlobKind::Program) {
            units.extend(from.program(*program)?.units);
        }
        blobs.extend(units.iter().map(|unit| (BlobKind::Unit, *unit)));
        for id in blobs {
            self.put(id, &from.blob(id)?);
        }
        let mut rows: BTreeMap<u32, Vec<Row>> = BTreeMap::new();
        for unit in units {
            for procedure in from.procedures(unit)? {
                for (edges, tests) in from.column(unit, procedure)?.groups() {
                    let edges: Vec<u8> = edges.domain().collect();
                    for test in tests {
                        let row = Row { unit, procedure, edges: edges.clone() };
                        rows.entry(test).or_default().push(row);
                    }
                }
            }
        }
        let mut taken = 0;
        for (name, test) in from.tests() {
            let rows = from.number(name).and_then(|number| rows.remove(&number));
            self.record(name, test.clone(), rows.unwrap_or_default());
            taken += 1;
        }
        Ok(taken)
    }
}
