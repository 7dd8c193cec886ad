//! What a test's processes left, turned into edges.

pub mod cases;
pub mod collect;
pub mod derive;
pub mod format;
pub mod module;
pub mod paths;
pub mod uses;
