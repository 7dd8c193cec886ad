//! Tests × edges: what each test did, for the version of the programs it ran.

pub mod carry;
pub mod format;
pub mod store;

use crate::ids::Fingerprint;
use crate::trace::derive::EdgeBits;
use bitvec::prelude::*;
use format::{BlobKind, FileState, Program, Test};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::path::Path;
use store::{Store, StoreError};

/// The history of a project.
pub struct History {
    store: Store,
}

impl History {
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Ok(Self { store: Store::open(path)? })
    }

    pub fn is_empty(&self) -> bool {
        self.store.is_empty()
    }

    pub fn tests(&self) -> impl Iterator<Item = (&String, &Test)> {
        self.store.manifest.tests.iter()
    }

    pub fn test(&self, name: &str) -> Option<&Test> {
        self.store.manifest.tests.get(name)
    }

    pub fn set_test(&mut self, name: &str, test: Test) {
        self.store.manifest.tests.insert(name.to_string(), test);
    }

    /// Forgets tests that are no longer in the suite.
    pub fn retain_tests(&mut self, keep: impl Fn(&str) -> bool) {
        self.store.manifest.tests.retain(|name, _| keep(name));
    }

    pub fn unit(&self, id: Fingerprint) -> Result<Vec<u8>, StoreError> {
        self.store.blob(BlobKind::Unit, id)
    }

    pub fn put_unit(&mut self, id: Fingerprint, record: &[u8]) {
        self.store.put(BlobKind::Unit, id, record);
    }

    pub fn program(&self, id: Fingerprint) -> Result<Program, StoreError> {
        self.value(BlobKind::Program, id)
    }

    fn value<T: DeserializeOwned>(&self, kind: BlobKind, id: Fingerprint) -> Result<T, StoreError> {
        let bytes = self.store.blob(kind, id)?;
        postcard::from_bytes(&bytes).map_err(|_| self.store.damaged("contents"))
    }

    pub fn put_program(&mut self, program: &Program) -> Fingerprint {
        self.put_value(BlobKind::Program, program)
    }

    pub fn files(&self, id: Fingerprint) -> Result<FileState, StoreError> {
        self.value(BlobKind::Files, id)
    }

    pub fn put_files(&mut self, files: &FileState) -> Fingerprint {
        self.put_value(BlobKind::Files, files)
    }

    fn put_value<T: Serialize>(&mut self, kind: BlobKind, value: &T) -> Fingerprint {
        let bytes = postcard::to_stdvec(value).expect("plain data always serialises");
        let id = Fingerprint::of(&bytes);
        self.store.put(kind, id, &bytes);
        id
    }

    /// The bits of a row. A row shorter than its unit has nothing taken there.
    pub fn row(&self, id: Fingerprint) -> Result<EdgeBits, StoreError> {
        Ok(EdgeBits::from_vec(self.store.blob(BlobKind::Row, id)?))
    }

    /// Adds a row; equal rows are one.
    pub fn put_row(&mut self, row: &EdgeBits) -> Fingerprint {
        let mut row = row.clone();
        row.set_uninitialized(false);
        let bytes: &[u8] = row.as_raw_slice();
        let id = Fingerprint::of(bytes);
        self.store.put(BlobKind::Row, id, bytes);
        id
    }

    /// Makes everything permanent, and forgets what no test refers to.
    pub fn commit(&mut self) -> Result<(), StoreError> {
        let mut live = BTreeSet::new();
        let mut programs = BTreeSet::new();
        for (_, test) in self.tests() {
            programs.extend(test.programs.iter().copied());
            live.extend(test.rows.iter().map(|(_, row)| (BlobKind::Row, *row)));
            live.insert((BlobKind::Files, test.files));
            live.insert((BlobKind::Files, test.loaded));
        }
        for id in programs {
            live.insert((BlobKind::Program, id));
            let units = self.program(id)?.units;
            live.extend(units.into_iter().map(|unit| (BlobKind::Unit, unit)));
        }
        self.store.commit(&live)
    }
}

/// Whether an edge of a row was taken.
pub fn is_taken(row: &BitSlice<u8, Lsb0>, edge: usize) -> bool {
    row.get(edge).is_some_and(|bit| *bit)
}
