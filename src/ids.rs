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
pub struct FpHasher(blake3::Hasher);

impl FpHasher {
    pub fn new(domain: &str) -> Self {
        let mut hasher = Self(blake3::Hasher::new());
        hasher.str(domain);
        hasher
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    pub fn str(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub fn number(&mut self, number: u64) {
        self.0.update(&number.to_le_bytes());
    }

    pub fn fp(&mut self, fp: &Fingerprint) {
        self.0.update(&fp.0);
    }

    pub fn finish(&self) -> Fingerprint {
        let mut out = [0; 16];
        out.copy_from_slice(&self.0.finalize().as_bytes()[..16]);
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
    }
}
