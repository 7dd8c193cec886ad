//! Reads a whole history, so that damage is found wherever it is.

use super::History;
use super::format::{BlobAt, BlobId, SegmentIndex, SegmentTests};
use super::store::StoreError;
use rustc_hash::FxHashSet;

impl History {
    /// Looks at every byte that this version or an earlier one refers to.
    pub fn check(&self) -> Result<(), StoreError> {
        let manifest = &self.store.manifest;
        let mut seen: FxHashSet<BlobAt> = FxHashSet::default();
        let mut segments: Vec<_> = manifest.segments.clone();
        for snapshot in &manifest.snapshots {
            self.store.verify(snapshot.units)?;
            self.store.verify(snapshot.files)?;
            segments.extend(&snapshot.segments);
        }
        for at in segments {
            if !seen.insert(at.index) {
                continue;
            }
            let _: SegmentTests = self.store.read_value(at.tests)?;
            let index: SegmentIndex = self.store.read_value(at.index)?;
            let blobs: Vec<(BlobId, BlobAt)> = self.store.read_value(at.blobs)?;
            for part in index.pages.into_iter().chain(blobs.into_iter().map(|(_, at)| at)) {
                if seen.insert(part) {
                    self.store.verify(part)?;
                }
            }
        }
        Ok(())
    }
}
