//! The matrix of tests and edges, as selection asks for it.

use crate::ids::{Fingerprint, NodeId, ProcIx, TestId};
use crate::trace::derive::EdgeBits;
use std::rc::Rc;

/// Tests that took the same edges of a procedure.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    pub edges: EdgeBits,
    pub tests: Vec<TestId>,
}

/// What tests did. Only what is asked for has to be read.
pub trait Matrix {
    /// What tests did in a procedure of a unit, which has so many edges. Where
    /// that cannot be known, every test took all of them.
    fn rows(&self, unit: Fingerprint, procedure: ProcIx, edges: usize) -> Rc<Vec<Taken>>;

    /// What one test took of a procedure; none if it did not enter it, or if that cannot
    /// be known.
    fn took(&self, test: TestId, unit: Fingerprint, procedure: ProcIx) -> Option<EdgeBits>;

    /// Whether a test entered a procedure exactly once, in one process, and its row
    /// holds what it took there and nothing else.
    fn is_one_entry(&self, test: TestId, unit: Fingerprint, procedure: ProcIx) -> bool;

    /// The nodes that ran, for each time that a test entered a procedure, if that
    /// was recorded in full.
    fn paths(
        &self,
        test: TestId,
        unit: Fingerprint,
        procedure: ProcIx,
    ) -> Option<Rc<Vec<Vec<NodeId>>>>;
}
