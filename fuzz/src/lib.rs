//! What must hold of the analysis of any text, and changes of C text that are
//! likely to break it.

mod invariants;
mod mutate;
mod ranges;
mod spaces;
mod strip;

pub use invariants::{Found, check};
pub use mutate::{cross, mutate};
pub use spaces::check_spaces;

/// Small numbers from a seed, the same every time.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides.max(1)
    }
}
