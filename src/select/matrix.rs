//! The paper's TestsOnEdge, as selection asks for it.

use crate::ids::{EdgeId, Fingerprint, ProcIx, TestId};

/// Which tests took an edge. Only what is asked for has to be read.
pub trait TestsOnEdge {
    /// Tests that took an edge of a procedure of a unit, in their order. Where
    /// that cannot be known, all of them.
    fn tests_on_edge(&self, unit: Fingerprint, procedure: ProcIx, edge: EdgeId) -> Vec<TestId>;
}
