//! Safe regression test selection for C. See ARCHITECTURE.md for the map.

pub mod bytes;
pub mod cfg;
pub mod cli;
pub mod compiler;
pub mod frontend;
pub mod history;
pub mod ids;
pub mod instrument;
pub mod report;
pub mod select;
pub mod suite;
pub mod trace;
