//! What a test is made of: its own words, the files it declares, and the
//! variables that it names.

use super::git;
use crate::history::format::FileState;
use crate::ids::{Fingerprint, FpHasher};
use crate::suite::TestCase;
use anyhow::Context;
use globset::{Glob, GlobSetBuilder};
use rustc_hash::FxHashMap;

/// Fingerprints of tests, for one state of the project's files.
pub struct MadeOf<'a> {
    files: &'a FileState,
    /// Declared inputs are mostly those of a whole suite.
    inputs: FxHashMap<Vec<String>, Fingerprint>,
}

impl<'a> MadeOf<'a> {
    pub fn new(files: &'a FileState) -> Self {
        Self { files, inputs: FxHashMap::default() }
    }

    pub fn fingerprint(&mut self, test: &TestCase) -> anyhow::Result<Fingerprint> {
        let own = test.fingerprint();
        if test.inputs.is_empty() && test.variables.is_empty() {
            return Ok(own);
        }
        let mut hasher = FpHasher::new("test and inputs");
        hasher.fp(&own);
        hasher.fp(&self.inputs(test)?);
        for name in &test.variables {
            hasher.str(name);
            match std::env::var_os(name) {
                Some(value) => hasher.bytes(value.as_encoded_bytes()),
                None => hasher.number(0),
            }
        }
        Ok(hasher.finish())
    }

    fn inputs(&mut self, test: &TestCase) -> anyhow::Result<Fingerprint> {
        if let Some(known) = self.inputs.get(&test.inputs) {
            return Ok(*known);
        }
        let mut set = GlobSetBuilder::new();
        for pattern in &test.inputs {
            set.add(Glob::new(pattern).with_context(|| format!("inputs of {}", test.name))?);
        }
        let set = set.build()?;
        let mut hasher = FpHasher::new("inputs");
        let files = self.files.iter().filter(|(name, _)| *name != git::STATE);
        for (name, content) in files.filter(|(name, _)| set.is_match(name)) {
            hasher.str(name);
            hasher.fp(content);
        }
        let inputs = hasher.finish();
        self.inputs.insert(test.inputs.clone(), inputs);
        Ok(inputs)
    }
}
