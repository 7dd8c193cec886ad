//! The paper's TestsOnEdge: which tests took an edge.

use crate::history::is_taken;
use crate::ids::{Fingerprint, TestId};
use crate::trace::derive::EdgeBits;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Rows of all tests that may be skipped, by unit.
#[derive(Default)]
pub struct Matrix {
    rows: FxHashMap<Fingerprint, Vec<(TestId, Arc<EdgeBits>)>>,
}

impl Matrix {
    pub fn add(&mut self, test: TestId, unit: Fingerprint, row: Arc<EdgeBits>) {
        self.rows.entry(unit).or_default().push((test, row));
    }

    /// Tests that took an edge, given by its place in the rows of its unit.
    pub fn tests_on_edge(&self, unit: Fingerprint, edge: usize) -> impl Iterator<Item = TestId> {
        let rows = self.rows.get(&unit).map(Vec::as_slice).unwrap_or_default();
        rows.iter().filter(move |(_, row)| is_taken(row, edge)).map(|(test, _)| *test)
    }
}
