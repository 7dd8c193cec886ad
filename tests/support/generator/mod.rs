//! Random C programs with tests, and random edits of them.
//!
//! A `Program` is abstract: edits change it, not its text, so that whatever
//! comes out is again a valid program without undefined behaviour, and edits
//! can follow one another. Nothing here reads or writes anything, and the same
//! seed gives the same program everywhere.
//!
//! A program ends by construction: it has a tank of fuel, and every round of a
//! loop, jump back and recursive call uses some. Its output does not depend on
//! addresses, on the compiler, or on what C leaves open (`expressions`).
//!
//!     let program = program(seed, &Options::small());
//!     program.files();   // names and texts, sources and headers
//!     program.sources(); // the C files to compile and link
//!     program.tests();   // names and arguments
//!     let (edited, edit) = edit(&program, &mut Random::new(seed));
//!
//! `program` and `tree` are the program; `make`, `expressions`, `statements`,
//! `locals` and `special` make one with a `maker`; `check` knows what is valid;
//! `print*` write it as C, and `edit*` change it.

// Each test that uses this uses a part of it.
mod check;
mod check_expr;
mod edit;
mod edit_code;
mod edit_declarations;
mod edit_neutral;
mod edit_procedures;
mod expressions;
mod locals;
mod make;
mod maker;
mod options;
mod print;
mod print_code;
mod print_expr;
mod print_special;
mod program;
mod random;
mod special;
mod statements;
mod tree;

/// The seeds to look at: as usual, or what `EDGEWISE_SEEDS` asks for, `N` of them or those
/// of a range `A..B`.
pub fn seeds(usual: u64) -> std::ops::Range<u64> {
    let asked = std::env::var("EDGEWISE_SEEDS").unwrap_or_default();
    let (from, to) = asked.split_once("..").unwrap_or(("0", &asked));
    from.parse().unwrap_or(0)..to.parse().unwrap_or(usual)
}

pub use check::is_valid;
pub use edit::{EditKind, Effect, edit, edit_of_kind};
pub use make::program;
pub use options::{Construct, Options};
pub use program::Program;
pub use random::Random;
