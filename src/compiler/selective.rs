//! Which procedures of which units get probes, where not all of them do: those that
//! can run after a change. `edgewise test --selective` writes it down for the build.

use crate::ids::Fingerprint;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Names the file, for `edgewise cc`.
pub const VARIABLE: &str = "EDGEWISE_SELECTIVE";

/// For units, by their fingerprints in hex, the names of such procedures. What is
/// not named here gets all its probes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selective(BTreeMap<String, BTreeSet<String>>);

impl Selective {
    /// What the environment names; a file that cannot be read is as none.
    pub fn of_environment() -> Self {
        let path = std::env::var_os(VARIABLE);
        let text = path.and_then(|path| std::fs::read(path).ok());
        Self(text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default())
    }

    pub fn add(&mut self, unit: Fingerprint, procedures: BTreeSet<String>) {
        self.0.insert(unit.hex(), procedures);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        fs_err::write(path, serde_json::to_vec(&self.0).expect("plain data always serialises"))
    }

    /// The procedures of a unit that get probes, if not all do.
    pub fn of(&self, unit: Fingerprint) -> Option<&BTreeSet<String>> {
        self.0.get(&unit.hex())
    }
}
