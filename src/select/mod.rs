//! Which tests can behave differently, and why. Pure functions of two versions
//! and a history: no I/O, no failure.

pub mod affected;
pub mod algorithm;
pub mod callers;
pub mod changes;
pub mod checks;
pub mod culprit;
pub mod edited;
pub mod exclude;
pub mod explain;
pub mod gaps;
pub mod link;
mod map;
pub mod matrix;
pub mod one_path;
pub mod pairs;
mod path;
mod procedures;
pub mod program;
pub mod reason;
pub mod rule;
pub mod unreached;
pub mod version;
pub mod walk;

pub use algorithm::Algorithm;
pub use exclude::{Edits, Exclusion, PassedOver, other_change};
pub use matrix::{Matrix, Taken};
pub use program::{
    ComparedPair, Comparison, NewProgram, Options, Outcome, Outside, Statistics, compare,
};
pub use reason::{Behind, EdgeReason, Reason, SourceLine};
pub use rule::Rule;
