//! Safe regression test selection for C. See ARCHITECTURE.md for the map.

pub mod cfg;
pub mod compiler;
pub mod frontend;
pub mod ids;
pub mod instrument;
