//! Code that the user does not want tests to be selected for: what drives tests,
//! sets them up and checks what they did, as opposed to what they test.

use super::reason::Reason;
use crate::ids::TestId;

/// Says which code is excluded.
pub trait Exclusion {
    /// Whether a procedure of this name in this file is.
    fn holds(&self, file: &str, procedure: &str) -> bool;
}

/// A change in excluded code, and the tests that it would have selected.
#[derive(Clone, Debug)]
pub struct PassedOver {
    pub change: Reason,
    pub tests: Vec<TestId>,
}
