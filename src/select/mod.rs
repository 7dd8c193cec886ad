//! Which tests can behave differently, and why. Pure functions of two versions
//! and a history: no I/O, no failure.

pub mod changes;
mod culprit;
pub mod exclude;
mod link;
pub mod matrix;
pub mod program;
pub mod reason;
pub mod version;
pub mod walk;

pub use exclude::{Exclusion, PassedOver};
pub use matrix::TestsOnEdge;
pub use program::{Comparison, NewProgram, Outcome, Outside, Statistics, compare};
pub use reason::{EdgeReason, Reason, SourceLine};
