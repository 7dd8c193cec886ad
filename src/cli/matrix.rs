//! Tests × edges from the history, procedure by procedure as selection asks.

use crate::history::History;
use crate::history::format::{Entered, Paths};
use crate::history::store::StoreError;
use crate::ids::{Fingerprint, NodeId, ProcIx, TestId};
use crate::select::{Matrix, Taken};
use crate::trace::derive::EdgeBits;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// What was read, by name.
type Known<K, T> = RefCell<FxHashMap<K, Rc<T>>>;

/// The rows of those tests that may be skipped.
pub struct HistoryMatrix<'a> {
    history: &'a History,
    /// By their numbers in the history.
    tests: Vec<Option<TestId>>,
    /// By their places in the selection.
    runs: FxHashMap<TestId, Run>,
    rows: Known<(Fingerprint, ProcIx), Vec<Taken>>,
    once: Known<Fingerprint, Entered>,
    paths: Known<Fingerprint, Paths>,
    problem: RefCell<Option<StoreError>>,
}

/// What is known of the run of a test.
struct Run {
    /// Its number in the history.
    number: u32,
    /// What says which procedures it entered once, and along which paths it went.
    once: Option<Fingerprint>,
    paths: Option<Fingerprint>,
}

impl<'a> HistoryMatrix<'a> {
    /// For tests by their names.
    pub fn new<'n>(
        history: &'a History,
        candidates: impl Iterator<Item = (TestId, &'n str)>,
    ) -> Self {
        let mut tests = vec![None; history.test_numbers()];
        let mut runs = FxHashMap::default();
        for (id, name) in candidates {
            if let Some((number, test)) = history.number(name).zip(history.test(name)) {
                tests[number as usize] = Some(id);
                // What was carried over holds more than the test did.
                let once = test.once.filter(|_| !test.inexact);
                runs.insert(id, Run { number, once, paths: test.paths });
            }
        }
        Self {
            history,
            tests,
            runs,
            rows: RefCell::default(),
            once: RefCell::default(),
            paths: RefCell::default(),
            problem: RefCell::default(),
        }
    }

    /// What went wrong in reading, if anything did: then more than needed was
    /// told.
    pub fn finish(self) -> Result<(), StoreError> {
        self.problem.into_inner().map_or(Ok(()), Err)
    }

    fn read(&self, unit: Fingerprint, procedure: ProcIx) -> Result<Vec<Taken>, StoreError> {
        let column = self.history.column(unit, procedure.0)?;
        let mut rows = Vec::new();
        for (edges, tests) in column.groups() {
            let mut tests: Vec<TestId> =
                tests.into_iter().filter_map(|number| self.tests[number as usize]).collect();
            tests.sort_unstable();
            if !tests.is_empty() {
                rows.push(Taken { edges: edges.to_bitvec(), tests });
            }
        }
        Ok(rows)
    }

    /// A part of the history that many tests may share, read once.
    fn shared<T: Default>(
        &self,
        known: &Known<Fingerprint, T>,
        id: Fingerprint,
        read: impl FnOnce() -> Result<T, StoreError>,
    ) -> Rc<T> {
        let mut known = known.borrow_mut();
        let value = known.entry(id).or_insert_with(|| {
            Rc::new(read().unwrap_or_else(|error| {
                self.problem.borrow_mut().get_or_insert(error);
                T::default()
            }))
        });
        value.clone()
    }
}

impl Matrix for HistoryMatrix<'_> {
    fn rows(&self, unit: Fingerprint, procedure: ProcIx, edges: usize) -> Rc<Vec<Taken>> {
        let mut known = self.rows.borrow_mut();
        let rows = known.entry((unit, procedure)).or_insert_with(|| {
            Rc::new(self.read(unit, procedure).unwrap_or_else(|error| {
                self.problem.borrow_mut().get_or_insert(error);
                let tests = self.tests.iter().copied().flatten().collect();
                vec![Taken { edges: EdgeBits::repeat(true, edges), tests }]
            }))
        });
        rows.clone()
    }

    fn took(&self, test: TestId, unit: Fingerprint, procedure: ProcIx) -> Option<EdgeBits> {
        let number = self.runs.get(&test)?.number;
        self.history.row(unit, procedure.0, number).ok()?
    }

    fn is_one_entry(&self, test: TestId, unit: Fingerprint, procedure: ProcIx) -> bool {
        let Some(id) = self.runs.get(&test).and_then(|run| run.once) else { return false };
        let once = self.shared(&self.once, id, || self.history.once(id));
        once.get(&unit).is_some_and(|procedures| procedures.contains(&procedure.0))
    }

    fn paths(
        &self,
        test: TestId,
        unit: Fingerprint,
        procedure: ProcIx,
    ) -> Option<Rc<Vec<Vec<NodeId>>>> {
        let id = self.runs.get(&test)?.paths?;
        let all = self.shared(&self.paths, id, || self.history.paths(id));
        let paths = all.get(&unit)?.get(&procedure.0)?;
        let nodes = |path: &Vec<u32>| path.iter().map(|node| NodeId(*node)).collect();
        Some(Rc::new(paths.iter().map(nodes).collect()))
    }
}
