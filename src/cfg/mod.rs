//! Control-flow graphs: what they are, how they are built, what their labels
//! mean, and how units make a program. No I/O, no failure.

pub mod build;
pub mod format;
mod meaning;
mod pragmas;
pub mod unit;
