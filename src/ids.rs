//! The small types every stage shares: typed indices, fingerprints and the
//! hasher that makes them.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Declares an index type that cannot be mixed up with another.
macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("more than 4 billion items"))
            }

            pub fn ix(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

index!(
    /// A declaration of a unit: one entity in one scope.
    DeclId
);
index!(
    /// A node of one control-flow graph.
    NodeId
);
index!(
    /// An edge of one control-flow graph.
    EdgeId
);
index!(
    /// A probe of a unit: the index of its byte in the unit's map.
    ProbeId
);
index!(
    /// A unit within a program.
    UnitIx
);
index!(
    /// A procedure within a unit.
    ProcIx
);
index!(
    /// A test within a selection.
    TestId
);

/// 128 bits that stand for some content. Equal fingerprints mean equal content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Fingerprint(pub [u8; 16]);

impl Fingerprint {
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = FpHasher::new("bytes");
        hasher.bytes(bytes);
        hasher.finish()
    }

    pub fn hex(&self) -> String {
        self.0.iter().map(|b| format!("{b:02x}")).collect()
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex()[..12])
    }
}

/// Builds a fingerprint from parts. Every part is length-prefixed, so that no
/// two sequences of parts can run together into the same bytes.
///
/// Most fingerprints are made of a few dozen bytes, so these are gathered and
/// hashed at once; only what is long goes through a hasher piece by piece.
pub struct FpHasher {
    gathered: Vec<u8>,
    long: Option<Box<blake3::Hasher>>,
}

/// How many bytes are gathered before they are hashed.
const GATHERED: usize = 1 << 14;

/// Lengths of parts begin with a smaller byte, or with the largest.
const MARKS: u8 = 240;

/// What a fingerprint among parts of text stands for.
#[derive(Clone, Copy)]
pub enum Mark {
    Meaning,
    NoMeaning,
    Doubt,
    Hole,
    View,
    Place,
}

impl FpHasher {
    pub fn new(domain: &str) -> Self {
        let mut hasher = Self { gathered: Vec::with_capacity(128), long: None };
        hasher.str(domain);
        hasher
    }

    fn put(&mut self, bytes: &[u8]) {
        if self.gathered.len() + bytes.len() > GATHERED {
            let long = self.long.get_or_insert_default();
            long.update(&self.gathered);
            long.update(bytes);
            self.gathered.clear();
        } else {
            self.gathered.extend_from_slice(bytes);
        }
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        match u8::try_from(bytes.len()) {
            Ok(length) if length < MARKS => self.put(&[length]),
            _ => {
                self.put(&[u8::MAX]);
                self.number(bytes.len() as u64);
            }
        }
        self.put(bytes);
    }

    /// Says that something else than text follows.
    pub fn mark(&mut self, mark: Mark) {
        self.put(&[MARKS + mark as u8]);
    }

    pub fn str(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub fn number(&mut self, number: u64) {
        self.put(&number.to_le_bytes());
    }

    pub fn fp(&mut self, fp: &Fingerprint) {
        self.put(&fp.0);
    }

    pub fn finish(mut self) -> Fingerprint {
        let hash = match &mut self.long {
            Some(long) => long.update(&self.gathered).finalize(),
            None => blake3::hash(&self.gathered),
        };
        let mut out = [0; 16];
        out.copy_from_slice(&hash.as_bytes()[..16]);
        Fingerprint(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_together() {
        let of = |parts: &[&str]| {
            let mut hasher = FpHasher::new("test");
            parts.iter().for_each(|part| hasher.str(part));
            hasher.finish()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
        let long = "x".repeat(3 * GATHERED);
        assert_ne!(of(&["a", &long]), of(&["b", &long]));
        assert_ne!(of(&[&long, "a"]), of(&[&long, "b"]));
    }
}
