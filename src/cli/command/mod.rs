//! One file a command: its arguments and what it does.

pub mod build;
pub mod cc;
pub mod cfg;
pub mod completions;
pub mod demo;
pub mod doctor;
pub mod explain;
pub mod gaps;
pub mod history;
pub mod init;
pub mod instrument;
pub mod man;
pub mod report;
pub mod run;
pub mod select;
pub mod test;
pub mod trace;
mod wanted;
