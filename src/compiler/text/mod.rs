//! Whether the text of a unit is still what it was, without preprocessing it.
//!
//! The text depends on the command, the compiler, every file that was read, and
//! every place where an include was looked for. A note of a preprocessor run
//! (`notes.rs`) has all of these; it holds as long as the files are the same and
//! none of the directories that were searched has gained or lost an entry of a
//! name that the unit may look for. What cannot be known that way is never
//! noted, and is preprocessed every time.

pub mod asked;
pub mod names;
pub mod notes;
mod observe;
pub mod seen;
pub mod stamp;
mod tools;

pub use notes::{Noted, Notes};
pub use observe::observe;
pub use tools::Tools;
