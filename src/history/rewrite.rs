//! Writes a history anew, or a part of it: fewer segments, and nothing in them
//! that is of no use any more.

use super::format::{BlobAt, BlobId, BlobKind, Entry, Manifest, SegmentAt, SegmentTests};
use super::segment::{Part, Segment, SegmentWriter, unite};
use super::snapshot::Copier;
use super::store::{Appender, StoreError};
use super::{Fresh, History, Holders};
use crate::ids::Fingerprint;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// As many segments of about the same number of tests become one.
const FEW: usize = 8;
/// As many tests are rewritten at most when one is added; more at the end.
const AT_ONCE: u64 = 16;
/// A file that is this many times what it holds is written anew.
const WASTE: u64 = 3;
const SMALL: u64 = 1 << 20;

impl History {
    /// Puts small segments together after a commit of some tests: those whose
    /// number is in proportion.
    pub(super) fn keep_few_segments(&mut self, committed: u64) -> Result<(), StoreError> {
        self.unite_segments(AT_ONCE.max(FEW as u64 * committed))
    }

    /// What a run does at its end: puts segments together, and writes the file
    /// anew if most of it is of no use.
    pub fn tidy(&mut self) -> Result<(), StoreError> {
        self.unite_segments(u64::MAX)?;
        let live: u64 = self.live_blobs()?.iter().map(|(_, at)| at.length).sum();
        let pages: u64 = self.segments.iter().map(Segment::live_size).sum();
        let index: u64 = self.segments.iter().map(|s| s.at.index.length + s.at.tests.length).sum();
        let needed = live + pages + index + self.size_of_snapshots()?;
        if self.store.size() > SMALL && self.store.size() > WASTE * needed {
            self.compact()?;
        }
        Ok(())
    }

    fn unite_segments(&mut self, limit: u64) -> Result<(), StoreError> {
        let class = |count: u64| count.max(1).ilog(FEW as u64);
        let counts: Vec<u64> = self.segments.iter().map(|segment| segment.at.count).collect();
        let mut from = counts.len();
        let (mut start, mut total) = (counts.len(), 0);
        for top in 0..=class(u64::MAX) {
            while start > 0 && class(counts[start - 1]) <= top && total + counts[start - 1] <= limit
            {
                start -= 1;
                total += counts[start];
            }
            if counts.len() - start >= FEW {
                from = start;
            }
        }
        if from == counts.len() { Ok(()) } else { self.unite_from(from) }
    }

    /// Makes one segment of the newest ones, from a place on.
    fn unite_from(&mut self, from: usize) -> Result<(), StoreError> {
        let mut tests = SegmentTests::default();
        let mut entries: FxHashMap<String, Entry> = FxHashMap::default();
        let mut removed: BTreeSet<String> = BTreeSet::new();
        let mut blobs: Vec<(BlobId, BlobAt)> = Vec::new();
        for segment in &self.segments[from..] {
            let read: SegmentTests = self.store.read_value(segment.at.tests)?;
            for name in read.removed {
                entries.remove(&name);
                removed.insert(name);
            }
            for mut entry in read.entries {
                if let Some(known) = entries.get(&entry.name) {
                    entry.keeps_older_rows &= known.keeps_older_rows;
                }
                // What was removed and came again does not get its old rows back.
                entry.keeps_older_rows &= !removed.contains(&entry.name);
                entries.insert(entry.name.clone(), entry);
            }
            blobs.extend(self.store.read_value::<Vec<(BlobId, BlobAt)>>(segment.at.blobs)?);
        }
        removed.retain(|name| !entries.contains_key(name));
        tests.entries = entries.into_values().collect();
        tests.entries.sort_by(|a, b| a.name.cmp(&b.name));
        if from > 0 {
            tests.removed = removed.into_iter().collect();
        }
        let mut out = self.store.begin(false)?;
        let at = self.write_united(from, &tests, &blobs, &mut out)?;
        let mut segments = self.segment_places();
        segments.truncate(from);
        segments.push(at);
        let Manifest { seconds, snapshots, .. } = self.store.manifest.clone();
        self.store.end(out, Manifest { segments, seconds, snapshots })?;
        self.segments.truncate(from);
        self.add_segment(at, tests);
        Ok(())
    }

    fn write_united(
        &self,
        from: usize,
        tests: &SegmentTests,
        blobs: &[(BlobId, BlobAt)],
        out: &mut Appender,
    ) -> Result<SegmentAt, StoreError> {
        let failed = |error| self.store.failed(error);
        let blobs = out.put_value(&blobs).map_err(failed)?;
        let places = self.places(tests);
        let parts = self.parts(from, &places);
        let mut writer = SegmentWriter::new(out);
        // By what their programs are now, also of tests that a newer segment has.
        let current = tests.entries.iter().enumerate();
        let current = current.filter_map(|(place, entry)| Some((place, self.test(&entry.name)?)));
        let count = tests.entries.len();
        let holders = Holders::new(count, current, |program| self.program(program))?;
        unite(&parts, &mut writer, &holders)?;
        writer.finish(tests, blobs).map_err(failed)
    }

    /// The place that each test, by its number, has among others.
    pub(super) fn places(&self, tests: &SegmentTests) -> Vec<Option<u32>> {
        let mut places = vec![None; self.tests.len()];
        for (place, entry) in (0..).zip(&tests.entries) {
            if let Some(number) = self.number(&entry.name) {
                places[number as usize] = Some(place);
            }
        }
        places
    }

    pub(super) fn parts(&self, from: usize, places: &[Option<u32>]) -> Vec<Part<'_>> {
        let segments = self.segments[from..].iter();
        let parts = segments.map(|segment| {
            let numbers = segment.numbers();
            let places = numbers.map(|number| places[number? as usize]).collect();
            Part { store: &self.store, segment, places }
        });
        parts.collect()
    }

    /// Blobs that some test refers to, by their names.
    pub(super) fn live_blobs(&self) -> Result<Vec<(BlobId, BlobAt)>, StoreError> {
        let mut live: BTreeSet<BlobId> = BTreeSet::new();
        let mut programs: BTreeSet<Fingerprint> = BTreeSet::new();
        for (_, test) in self.tests() {
            programs.extend(&test.programs);
            live.extend(test.blobs());
        }
        for id in programs {
            let units = self.program(id)?.units;
            live.extend(units.into_iter().map(|unit| (BlobKind::Unit, unit)));
        }
        let found = live.into_iter().map(|id| match self.blobs.get(&id) {
            Some(at) => Ok((id, *at)),
            None => Err(self.store.damaged("a part is missing")),
        });
        found.collect()
    }

    /// Writes the file anew with nothing in it that is of no use: one segment.
    pub fn compact(&mut self) -> Result<(), StoreError> {
        self.commit()?;
        let entries = self.tests().map(|(name, test)| Entry {
            name: name.clone(),
            test: test.clone(),
            keeps_older_rows: false,
        });
        let tests = SegmentTests { entries: entries.collect(), removed: Vec::new() };
        let mut out = self.store.begin(true)?;
        let mut blobs = Vec::new();
        let mut copier = Copier { out: &mut out, blobs: FxHashMap::default() };
        for (id, at) in self.live_blobs()? {
            blobs.push((id, copier.blob(&self.store, id, at)?));
        }
        let snapshots = copier.snapshots(&self.store)?;
        let at = self.write_united(0, &tests, &blobs, &mut out)?;
        let seconds = self.store.manifest.seconds;
        self.store.end(out, Manifest { segments: vec![at], seconds, snapshots })?;
        self.segments.clear();
        self.fresh = Fresh::default();
        self.blobs = blobs.into_iter().collect();
        self.add_segment(at, tests);
        Ok(())
    }

    /// Bytes of the file.
    pub fn size(&self) -> u64 {
        self.store.size()
    }
}
