//! Control-flow graphs: what they are, how they are built, what their labels
//! mean, and how units make a program. No I/O, no failure.

mod build;
pub mod draft;
pub mod format;
mod forms;
mod holes;
mod meaning;
mod pragmas;
pub mod unit;
