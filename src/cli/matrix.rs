//! TestsOnEdge from the history, procedure by procedure as the walk asks.

use crate::history::History;
use crate::history::column::Column;
use crate::history::store::StoreError;
use crate::ids::{EdgeId, Fingerprint, ProcIx, TestId};
use crate::select::TestsOnEdge;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// The rows of those tests that may be skipped.
pub struct Matrix<'a> {
    history: &'a History,
    /// By their numbers in the history.
    tests: Vec<Option<TestId>>,
    columns: RefCell<FxHashMap<(Fingerprint, ProcIx), Column>>,
    problem: RefCell<Option<StoreError>>,
}

impl<'a> Matrix<'a> {
    /// For tests by their names.
    pub fn new<'n>(
        history: &'a History,
        candidates: impl Iterator<Item = (TestId, &'n str)>,
    ) -> Self {
        let mut tests = vec![None; history.test_numbers()];
        for (id, name) in candidates {
            if let Some(number) = history.number(name) {
                tests[number as usize] = Some(id);
            }
        }
        Self { history, tests, columns: RefCell::default(), problem: RefCell::default() }
    }

    /// What went wrong in reading, if anything did: then more than needed was
    /// told.
    pub fn finish(self) -> Result<(), StoreError> {
        self.problem.into_inner().map_or(Ok(()), Err)
    }
}

impl TestsOnEdge for Matrix<'_> {
    fn tests_on_edge(&self, unit: Fingerprint, procedure: ProcIx, edge: EdgeId) -> Vec<TestId> {
        let mut columns = self.columns.borrow_mut();
        let column = match columns.entry((unit, procedure)) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => {
                match self.history.column(unit, procedure.0) {
                    Ok(column) => place.insert(column),
                    Err(error) => {
                        self.problem.borrow_mut().get_or_insert(error);
                        return self.tests.iter().copied().flatten().collect();
                    }
                }
            }
        };
        let found = column.tests_on_edge(edge, self.tests.len());
        let mut found: Vec<TestId> = found.iter_ones().filter_map(|n| self.tests[n]).collect();
        found.sort_unstable();
        found
    }
}
