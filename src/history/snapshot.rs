//! Earlier versions. Segments are never changed, so what a history was is the list
//! of segments that it had: a snapshot costs a few lines of the manifest as long
//! as its segments are in use anyway.

use super::History;
use super::format::{BlobAt, BlobId, FileState, Manifest, SegmentAt, SegmentIndex, SnapshotAt};
use super::store::{Appender, Store, StoreError};
use crate::ids::{Fingerprint, FpHasher};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

/// How many earlier versions are kept.
pub const KEPT: usize = 16;

/// What the next commit leaves behind.
pub(super) enum Leaving {
    /// The version that is there, if the commit is of another one.
    Nothing,
    /// Another version than the one this history is of.
    Elsewhere(Box<Version>),
    /// That was done before.
    Left,
}

/// A version before it is written down.
#[derive(Clone)]
pub(super) struct Version {
    id: Fingerprint,
    seconds: u64,
    tests: u64,
    units: Vec<Fingerprint>,
    files: FileState,
    segments: Vec<SegmentAt>,
}

/// A version of the history, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    #[serde(serialize_with = "as_hex")]
    pub id: Fingerprint,
    pub seconds: u64,
    pub tests: u64,
    pub units: usize,
    pub is_current: bool,
}

fn as_hex<S: Serializer>(id: &Fingerprint, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&id.hex())
}

impl Manifest {
    /// An empty one of this moment.
    pub(super) fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { seconds: since.as_secs(), ..Self::default() }
    }
}

impl History {
    /// Stands for the versions of all programs that tests ran.
    pub fn id(&self) -> Fingerprint {
        let mut hasher = FpHasher::new("snapshot");
        let programs: BTreeSet<Fingerprint> =
            self.tests().flat_map(|(_, test)| test.programs.iter().copied()).collect();
        programs.iter().for_each(|program| hasher.fp(program));
        hasher.finish()
    }

    /// Fingerprints of all units of programs that tests ran, sorted.
    pub fn units(&self) -> Result<Vec<Fingerprint>, StoreError> {
        let mut units = BTreeSet::new();
        let programs: FxHashSet<Fingerprint> =
            self.tests().flat_map(|(_, test)| test.programs.iter().copied()).collect();
        for program in programs {
            units.extend(self.program(program)?.units);
        }
        Ok(units.into_iter().collect())
    }

    /// The state of files that most tests ran with.
    pub fn common_files(&self) -> Result<FileState, StoreError> {
        let mut counts: BTreeMap<Fingerprint, usize> = BTreeMap::new();
        for (_, test) in self.tests() {
            *counts.entry(test.files).or_default() += 1;
        }
        match counts.into_iter().max_by_key(|(_, count)| *count) {
            Some((files, _)) => self.files(files),
            None => Ok(FileState::new()),
        }
    }

    /// All versions, the newest first, beginning with the one that it is at.
    pub fn snapshots(&self) -> Result<Vec<Snapshot>, StoreError> {
        let current = Snapshot {
            id: self.id(),
            seconds: self.store.manifest.seconds,
            tests: self.numbers.len() as u64,
            units: self.units()?.len(),
            is_current: true,
        };
        let mut all = Vec::new();
        for at in self.earlier() {
            let units: Vec<Fingerprint> = self.store.read_value(at.units)?;
            let SnapshotAt { id, seconds, tests, .. } = *at;
            all.push(Snapshot { id, seconds, tests, units: units.len(), is_current: false });
        }
        if !self.is_empty() {
            all.insert(0, current);
        }
        Ok(all)
    }

    /// Snapshots of other versions, the newest first.
    fn earlier(&self) -> impl Iterator<Item = &SnapshotAt> {
        let current = self.id();
        self.store.manifest.snapshots.iter().rev().filter(move |at| at.id != current)
    }

    pub fn has_snapshots(&self) -> bool {
        !self.store.manifest.snapshots.is_empty()
    }

    /// Units of an earlier version, sorted.
    pub fn units_of(&self, id: Fingerprint) -> Result<Vec<Fingerprint>, StoreError> {
        match self.earlier().find(|at| at.id == id) {
            Some(at) => self.store.read_value(at.units),
            None => self.units(),
        }
    }

    /// The files of an earlier version.
    pub fn files_of(&self, id: Fingerprint) -> Result<FileState, StoreError> {
        match self.earlier().find(|at| at.id == id) {
            Some(at) => self.store.read_value(at.files),
            None => self.common_files(),
        }
    }

    /// Goes to an earlier version: what is committed from now on comes behind it,
    /// and what there is now becomes a snapshot. Tests that did not pass with a
    /// complete trace the last time stay so.
    pub fn go_to(self, id: Fingerprint) -> Result<Self, StoreError> {
        let Some(at) = self.earlier().find(|at| at.id == id).cloned() else { return Ok(self) };
        let version = self.version()?;
        // What did not end well the last time is not well for having been so before.
        let mut unwell = Vec::new();
        for (name, test) in self.tests().filter(|(_, test)| !test.is_clean()) {
            let blobs = test.blobs().map(|id| Ok((id, self.blob(id)?)));
            let blobs = blobs.collect::<Result<Vec<_>, StoreError>>()?;
            unwell.push((name.clone(), test.clone(), blobs));
        }
        let mut history = Self::of_segments(self.store, &at.segments)?;
        history.leaving = Leaving::Elsewhere(Box::new(version));
        for (name, test, blobs) in unwell {
            blobs.iter().for_each(|(id, bytes)| history.put(*id, bytes));
            if let Some(number) = history.number(&name) {
                history.tests[number as usize] = Some((name.clone(), test.clone()));
            }
            history.record(&name, test, Vec::new());
        }
        Ok(history)
    }

    fn version(&self) -> Result<Version, StoreError> {
        Ok(Version {
            id: self.id(),
            seconds: self.store.manifest.seconds,
            tests: self.numbers.len() as u64,
            units: self.units()?,
            files: self.common_files()?,
            segments: self.segment_places(),
        })
    }

    pub(super) fn segment_places(&self) -> Vec<SegmentAt> {
        self.segments.iter().map(|segment| segment.at).collect()
    }

    /// Whether what is to be committed is of other programs than what there is.
    fn is_of_another_version(&self) -> bool {
        self.fresh.tests.iter().any(|(name, fresh)| {
            // What did not pass has no programs.
            let known = self.test(name).filter(|known| known.is_clean());
            known.is_some_and(|known| known.programs != fresh.test.programs)
        })
    }

    /// The version that the next commit leaves, if it becomes a snapshot.
    pub(super) fn kept_version(&self) -> Result<Option<Version>, StoreError> {
        match &self.leaving {
            Leaving::Elsewhere(version) => Ok(Some((**version).clone())),
            Leaving::Nothing if self.is_of_another_version() => Ok(Some(self.version()?)),
            Leaving::Nothing | Leaving::Left => Ok(None),
        }
    }

    /// The snapshots of the next commit, with the version that it leaves.
    pub(super) fn snapshots_with(
        &self,
        kept: Option<&Version>,
        out: &mut Appender,
    ) -> Result<Vec<SnapshotAt>, StoreError> {
        let mut snapshots = self.store.manifest.snapshots.clone();
        let Some(version) = kept else { return Ok(snapshots) };
        let put = |out: &mut Appender| -> std::io::Result<SnapshotAt> {
            Ok(SnapshotAt {
                id: version.id,
                seconds: version.seconds,
                tests: version.tests,
                units: out.put_value(&version.units)?,
                files: out.put_value(&version.files)?,
                segments: version.segments.clone(),
            })
        };
        snapshots.retain(|known| known.id != version.id);
        snapshots.push(put(out).map_err(|e| self.store.failed(e))?);
        let surplus = snapshots.len().saturating_sub(KEPT);
        snapshots.drain(..surplus);
        Ok(snapshots)
    }

    /// Bytes that snapshots need beside what the history itself needs.
    pub(super) fn size_of_snapshots(&self) -> Result<u64, StoreError> {
        let mut known: FxHashSet<BlobAt> =
            self.segments.iter().map(|segment| segment.at.index).collect();
        let mut blobs: FxHashSet<BlobAt> =
            self.live_blobs()?.into_iter().map(|(_, at)| at).collect();
        let mut size = 0;
        for snapshot in &self.store.manifest.snapshots {
            size += snapshot.units.length + snapshot.files.length;
            for at in &snapshot.segments {
                if known.insert(at.index) {
                    size += at.size + at.index.length + at.tests.length;
                    let listed: Vec<(BlobId, BlobAt)> = self.store.read_value(at.blobs)?;
                    let new = listed.into_iter().filter(|(_, at)| blobs.insert(*at));
                    size += new.map(|(_, at)| at.length).sum::<u64>();
                }
            }
        }
        Ok(size)
    }

    /// Forgets all but the newest snapshots.
    pub fn keep_snapshots(&mut self, count: usize) {
        let snapshots = &mut self.store.manifest.snapshots;
        let surplus = snapshots.len().saturating_sub(count);
        snapshots.drain(..surplus);
    }
}

/// Copies snapshots from one file to another.
pub(super) struct Copier<'a> {
    pub out: &'a mut Appender,
    /// Where blobs are in the new file.
    pub blobs: FxHashMap<BlobId, BlobAt>,
}

impl Copier<'_> {
    pub fn snapshots(&mut self, store: &Store) -> Result<Vec<SnapshotAt>, StoreError> {
        // Of one file: several snapshots may have a segment.
        let mut copied: FxHashMap<BlobAt, SegmentAt> = FxHashMap::default();
        let mut snapshots = Vec::new();
        for snapshot in &store.manifest.snapshots {
            let mut segments = Vec::new();
            for at in &snapshot.segments {
                let known = copied.get(&at.index).copied();
                let new = known.map_or_else(|| self.segment(store, at), Ok)?;
                copied.insert(at.index, new);
                segments.push(new);
            }
            snapshots.push(SnapshotAt {
                units: store.copy(snapshot.units, self.out)?,
                files: store.copy(snapshot.files, self.out)?,
                segments,
                ..snapshot.clone()
            });
        }
        Ok(snapshots)
    }

    fn segment(&mut self, store: &Store, at: &SegmentAt) -> Result<SegmentAt, StoreError> {
        let failed = |error| store.failed(error);
        let listed: Vec<(BlobId, BlobAt)> = store.read_value(at.blobs)?;
        let mut blobs = Vec::new();
        for (id, from) in listed {
            blobs.push((id, self.blob(store, id, from)?));
        }
        let mut index: SegmentIndex = store.read_value(at.index)?;
        for page in &mut index.pages {
            *page = store.copy(*page, self.out)?;
        }
        Ok(SegmentAt {
            count: at.count,
            size: at.size,
            tests: store.copy(at.tests, self.out)?,
            index: self.out.put_value(&index).map_err(failed)?,
            blobs: self.out.put_value(&blobs).map_err(failed)?,
        })
    }

    /// Copies a blob unless it is there.
    pub fn blob(&mut self, store: &Store, id: BlobId, from: BlobAt) -> Result<BlobAt, StoreError> {
        if let Some(at) = self.blobs.get(&id) {
            return Ok(*at);
        }
        let at = store.copy(from, self.out)?;
        self.blobs.insert(id, at);
        Ok(at)
    }
}
