//! Tests × edges: what each test did, for the version of the programs it ran.

pub mod carry;
mod check;
pub mod column;
pub mod diff;
pub mod format;
pub mod merge;
mod rewrite;
mod segment;
pub mod snapshot;
pub mod store;
mod update;

use crate::ids::Fingerprint;
use crate::trace::derive::EdgeBits;
use bitvec::prelude::*;
use column::{Column, ColumnBuilder, TestBits};
use format::{
    BlobAt, BlobId, BlobKind, Entered, Entry, FileState, FileUses, Manifest, Paths, Program,
    SegmentTests, Test,
};
use rustc_hash::{FxHashMap, FxHashSet};
use segment::{Segment, SegmentWriter};
use serde::Serialize;
use serde::de::DeserializeOwned;
use snapshot::Leaving;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use store::{Appender, Store, StoreError};

/// The history of a project. Tests have numbers, which hold as long as it is open.
pub struct History {
    store: Store,
    segments: Vec<Segment>,
    /// By their numbers; a test that was forgotten leaves a gap.
    tests: Vec<Option<(String, Test)>>,
    numbers: BTreeMap<String, u32>,
    blobs: FxHashMap<BlobId, BlobAt>,
    fresh: Fresh,
    holders: OnceCell<Holders>,
    /// The version that it was at when it was opened, or before it went to another,
    /// and whether that is among the snapshots.
    leaving: Leaving,
}

/// What the next commit writes.
#[derive(Default)]
struct Fresh {
    blobs: BTreeMap<BlobId, Vec<u8>>,
    tests: BTreeMap<String, FreshTest>,
    removed: BTreeSet<String>,
}

struct FreshTest {
    test: Test,
    keeps_older_rows: bool,
    rows: Vec<Row>,
}

/// What one test did in one procedure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    pub unit: Fingerprint,
    /// Its place in the unit.
    pub procedure: u32,
    pub edges: Vec<u8>,
}

impl Row {
    /// Whether an edge of the procedure was taken.
    pub fn is_taken(&self, edge: usize) -> bool {
        self.edges.get(edge / 8).is_some_and(|byte| byte >> (edge % 8) & 1 == 1)
    }
}

/// Which tests ran a program that holds a unit.
#[derive(Default)]
struct Holders {
    programs_of_unit: FxHashMap<Fingerprint, Vec<Fingerprint>>,
    tests_of_program: FxHashMap<Fingerprint, TestBits>,
}

impl History {
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let store = Store::open(path)?;
        let segments = store.manifest.segments.clone();
        Self::of_segments(store, &segments)
    }

    /// What segments of a file make together.
    fn of_segments(store: Store, segments: &[format::SegmentAt]) -> Result<Self, StoreError> {
        let mut history = Self {
            store,
            segments: Vec::new(),
            tests: Vec::new(),
            numbers: BTreeMap::new(),
            blobs: FxHashMap::default(),
            fresh: Fresh::default(),
            holders: OnceCell::new(),
            leaving: Leaving::Nothing,
        };
        for at in segments {
            let blobs: Vec<(BlobId, BlobAt)> = history.store.read_value(at.blobs)?;
            history.blobs.extend(blobs);
            let tests: SegmentTests = history.store.read_value(at.tests)?;
            history.add_segment(*at, tests);
        }
        Ok(history)
    }

    /// Adds a segment that is newer than all others.
    fn add_segment(&mut self, at: format::SegmentAt, tests: SegmentTests) {
        let mut replaced = FxHashSet::default();
        for name in &tests.removed {
            if let Some(number) = self.numbers.remove(name) {
                self.tests[number as usize] = None;
                replaced.insert(number);
            }
        }
        let mut numbers = Vec::with_capacity(tests.entries.len());
        for Entry { name, test, keeps_older_rows } in tests.entries {
            let number = match self.numbers.get(&name) {
                Some(number) => *number,
                None => {
                    let number = self.tests.len() as u32;
                    self.numbers.insert(name.clone(), number);
                    self.tests.push(None);
                    number
                }
            };
            if !keeps_older_rows {
                replaced.insert(number);
            }
            self.tests[number as usize] = Some((name, test));
            numbers.push(Some(number));
        }
        self.segments.iter_mut().for_each(|segment| segment.forget(&replaced));
        self.segments.push(Segment::new(at, numbers));
        self.holders = OnceCell::new();
    }

    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty() && self.fresh.tests.is_empty()
    }

    /// How many numbers of tests there are.
    pub fn test_numbers(&self) -> usize {
        self.tests.len()
    }

    /// All tests by name, as the last commit has them.
    pub fn tests(&self) -> impl Iterator<Item = (&String, &Test)> {
        self.numbers.values().filter_map(|number| {
            let (name, test) = self.tests[*number as usize].as_ref()?;
            Some((name, test))
        })
    }

    /// Tests of whose last run nothing is kept but how it ended, by name.
    pub fn without_rows(&self) -> Vec<String> {
        let unclean = self.tests().filter(|(_, test)| !test.is_clean());
        let mut names: Vec<String> = unclean.map(|(name, _)| name.clone()).collect();
        names.sort_unstable();
        names
    }

    pub fn number(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    pub fn name(&self, number: u32) -> Option<&str> {
        Some(&self.tests.get(number as usize)?.as_ref()?.0)
    }

    pub fn test(&self, name: &str) -> Option<&Test> {
        Some(&self.tests[self.number(name)? as usize].as_ref()?.1)
    }

    /// A test that was run: all that was known of it is replaced.
    pub fn record(&mut self, name: &str, test: Test, rows: Vec<Row>) {
        self.set(name, FreshTest { test, keeps_older_rows: false, rows });
    }

    /// A test that was not run, at another version of its programs. Its rows in
    /// units that stay the same remain as they are.
    pub fn carry(&mut self, name: &str, test: Test, rows: Vec<Row>) {
        let is_fresh = self.fresh.tests.get(name).is_some_and(|known| !known.keeps_older_rows);
        self.set(name, FreshTest { test, keeps_older_rows: !is_fresh, rows });
    }

    fn set(&mut self, name: &str, mut test: FreshTest) {
        test.rows.retain(|row| row.edges.iter().any(|byte| *byte != 0));
        self.fresh.removed.remove(name);
        self.fresh.tests.insert(name.to_string(), test);
    }

    /// Forgets tests that are no longer in the suite.
    pub fn retain_tests(&mut self, keep: impl Fn(&str) -> bool) {
        let gone = self.numbers.keys().filter(|name| !keep(name)).cloned();
        self.fresh.removed.extend(gone);
        self.fresh.tests.retain(|name, _| keep(name));
    }

    pub fn unit(&self, id: Fingerprint) -> Result<Vec<u8>, StoreError> {
        self.blob((BlobKind::Unit, id))
    }

    pub fn has_unit(&self, id: Fingerprint) -> bool {
        let id = (BlobKind::Unit, id);
        self.blobs.contains_key(&id) || self.fresh.blobs.contains_key(&id)
    }

    pub fn put_unit(&mut self, id: Fingerprint, record: &[u8]) {
        self.put((BlobKind::Unit, id), record);
    }

    pub fn program(&self, id: Fingerprint) -> Result<Program, StoreError> {
        self.value((BlobKind::Program, id))
    }

    pub fn put_program(&mut self, program: &Program) -> Fingerprint {
        self.put_value(BlobKind::Program, program)
    }

    pub fn files(&self, id: Fingerprint) -> Result<FileState, StoreError> {
        self.value((BlobKind::Files, id))
    }

    pub fn put_files(&mut self, files: &FileState) -> Fingerprint {
        self.put_value(BlobKind::Files, files)
    }

    pub fn uses(&self, id: Fingerprint) -> Result<FileUses, StoreError> {
        self.value((BlobKind::Uses, id))
    }

    pub fn put_uses(&mut self, uses: &FileUses) -> Fingerprint {
        self.put_value(BlobKind::Uses, uses)
    }

    pub fn once(&self, id: Fingerprint) -> Result<Entered, StoreError> {
        self.value((BlobKind::Once, id))
    }

    pub fn put_once(&mut self, once: &Entered) -> Fingerprint {
        self.put_value(BlobKind::Once, once)
    }

    pub fn paths(&self, id: Fingerprint) -> Result<Paths, StoreError> {
        self.value((BlobKind::Paths, id))
    }

    pub fn put_paths(&mut self, paths: &Paths) -> Fingerprint {
        self.put_value(BlobKind::Paths, paths)
    }

    fn value<T: DeserializeOwned>(&self, id: BlobId) -> Result<T, StoreError> {
        postcard::from_bytes(&self.blob(id)?).map_err(|_| self.store.damaged("contents"))
    }

    fn put_value<T: Serialize>(&mut self, kind: BlobKind, value: &T) -> Fingerprint {
        let bytes = postcard::to_stdvec(value).expect("plain data always serialises");
        let id = Fingerprint::of(&bytes);
        self.put((kind, id), &bytes);
        id
    }

    fn blob(&self, id: BlobId) -> Result<Vec<u8>, StoreError> {
        if let Some(bytes) = self.fresh.blobs.get(&id) {
            return Ok(bytes.clone());
        }
        let at = self.blobs.get(&id).ok_or_else(|| self.store.damaged("a part is missing"))?;
        self.store.read(*at)
    }

    /// Adds a blob, to be written by the next commit.
    fn put(&mut self, id: BlobId, bytes: &[u8]) {
        if !self.blobs.contains_key(&id) {
            self.fresh.blobs.entry(id).or_insert_with(|| bytes.to_vec());
        }
    }

    /// The rows of a procedure of a unit, by the numbers of the tests.
    pub fn column(&self, unit: Fingerprint, procedure: u32) -> Result<Column, StoreError> {
        let mut builder = ColumnBuilder::default();
        let holders = self.holders()?.of(unit);
        for segment in &self.segments {
            if let Some(column) = segment.column(&self.store, unit, procedure)? {
                builder.add_column(&column, |test| {
                    segment.number(test).filter(|number| holders.hold(*number))
                });
            }
        }
        Ok(builder.finish_unordered())
    }

    /// What one test took of a procedure, without the rows of all others; none if it did
    /// not enter it.
    pub fn row(
        &self,
        unit: Fingerprint,
        procedure: u32,
        test: u32,
    ) -> Result<Option<EdgeBits>, StoreError> {
        if !self.holders()?.of(unit).hold(test) {
            return Ok(None);
        }
        let mut found: Option<EdgeBits> = None;
        for segment in &self.segments {
            let Some(place) = segment.numbers().position(|number| number == Some(test)) else {
                continue;
            };
            let column = segment.column(&self.store, unit, procedure)?;
            if let Some(row) = column.as_ref().and_then(|column| column.row(place as u32)) {
                match &mut found {
                    Some(known) => *known |= row,
                    None => found = Some(row.to_bitvec()),
                }
            }
        }
        Ok(found)
    }

    /// Procedures of a unit of which there are rows.
    pub fn procedures(&self, unit: Fingerprint) -> Result<BTreeSet<u32>, StoreError> {
        let mut procedures = BTreeSet::new();
        for segment in &self.segments {
            let columns = segment.index(&self.store)?.units.get(&unit);
            procedures.extend(columns.into_iter().flatten().map(|column| column.procedure));
        }
        Ok(procedures)
    }

    /// All rows of a test. It has to look at every procedure of its programs.
    pub fn rows(&self, name: &str) -> Result<Vec<Row>, StoreError> {
        let Some(number) = self.number(name) else { return Ok(Vec::new()) };
        let mut units = BTreeSet::new();
        for program in self.test(name).map(|test| &test.programs).into_iter().flatten() {
            units.extend(self.program(*program)?.units);
        }
        let mut rows = Vec::new();
        for unit in units {
            for procedure in self.procedures(unit)? {
                let column = self.column(unit, procedure)?;
                if let Some(edges) = column.row(number) {
                    let edges = edges.domain().collect();
                    rows.push(Row { unit, procedure, edges });
                }
            }
        }
        Ok(rows)
    }

    fn holders(&self) -> Result<&Holders, StoreError> {
        if let Some(holders) = self.holders.get() {
            return Ok(holders);
        }
        let tests = self.tests.iter().enumerate();
        let tests = tests.filter_map(|(number, test)| Some((number, &test.as_ref()?.1)));
        let holders = Holders::new(self.tests.len(), tests, |program| self.program(program))?;
        Ok(self.holders.get_or_init(|| holders))
    }

    /// Makes everything so far permanent.
    pub fn commit(&mut self) -> Result<(), StoreError> {
        self.fresh.removed.retain(|name| self.numbers.contains_key(name));
        let is_elsewhere = matches!(self.leaving, Leaving::Elsewhere(_));
        if self.fresh.tests.is_empty() && self.fresh.removed.is_empty() && !is_elsewhere {
            return Ok(());
        }
        let mut out = self.store.begin(false)?;
        let kept = self.kept_version()?;
        let snapshots = self.snapshots_with(kept.as_ref(), &mut out)?;
        let (at, tests, blobs) = self.write_fresh(&mut out).map_err(|e| self.store.failed(e))?;
        let mut segments = self.segment_places();
        segments.push(at);
        self.store.end(out, Manifest { segments, snapshots, ..Manifest::now() })?;
        // A commit that only carries tests over leaves nothing: the next one may.
        if kept.is_some() {
            self.leaving = Leaving::Left;
        }
        self.fresh = Fresh::default();
        self.blobs.extend(blobs);
        self.add_segment(at, tests);
        self.keep_few_segments(at.count)
    }

    #[allow(clippy::type_complexity)]
    fn write_fresh(
        &self,
        out: &mut Appender,
    ) -> std::io::Result<(format::SegmentAt, SegmentTests, Vec<(BlobId, BlobAt)>)> {
        let mut blobs = Vec::new();
        for (id, bytes) in &self.fresh.blobs {
            blobs.push((*id, out.put(bytes)?));
        }
        let blobs_at = out.put_value(&blobs)?;
        let mut columns: BTreeMap<(Fingerprint, u32), ColumnBuilder> = BTreeMap::new();
        let mut tests = SegmentTests::default();
        for (place, (name, fresh)) in (0..).zip(&self.fresh.tests) {
            let FreshTest { test, keeps_older_rows, rows } = fresh;
            let (name, test) = (name.clone(), test.clone());
            tests.entries.push(Entry { name, test, keeps_older_rows: *keeps_older_rows });
            for Row { unit, procedure, edges } in rows {
                columns.entry((*unit, *procedure)).or_default().add(place, edges);
            }
        }
        tests.removed = self.fresh.removed.iter().cloned().collect();
        let mut writer = SegmentWriter::new(out);
        for ((unit, procedure), column) in columns {
            writer.add(unit, procedure, column)?;
        }
        Ok((writer.finish(&tests, blobs_at)?, tests, blobs))
    }
}

impl Holders {
    fn new<'t>(
        count: usize,
        tests: impl Iterator<Item = (usize, &'t Test)>,
        program: impl Fn(Fingerprint) -> Result<Program, StoreError>,
    ) -> Result<Self, StoreError> {
        let mut holders = Self::default();
        for (number, test) in tests {
            for program in &test.programs {
                let tests = holders.tests_of_program.entry(*program);
                let tests = tests.or_insert_with(|| bitvec![u64, Lsb0; 0; count]);
                tests.set(number, true);
            }
        }
        let programs: BTreeSet<Fingerprint> = holders.tests_of_program.keys().copied().collect();
        for id in programs {
            for unit in program(id)?.units {
                holders.programs_of_unit.entry(unit).or_default().push(id);
            }
        }
        Ok(holders)
    }

    fn of(&self, unit: Fingerprint) -> HoldersOf<'_> {
        let programs = self.programs_of_unit.get(&unit).into_iter().flatten();
        HoldersOf(programs.filter_map(|program| self.tests_of_program.get(program)).collect())
    }
}

/// Tests that ran a program with one unit in it.
struct HoldersOf<'a>(Vec<&'a TestBits>);

impl HoldersOf<'_> {
    fn hold(&self, test: u32) -> bool {
        self.0.iter().any(|tests| tests[test as usize])
    }
}

/// Cuts the edges of a unit into rows of its procedures, which have these
/// numbers of edges.
pub fn rows_of_unit(
    unit: Fingerprint,
    edge_counts: impl Iterator<Item = u32>,
    edges: &EdgeBits,
) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut start = 0;
    for (procedure, count) in (0..).zip(edge_counts) {
        let end = (start + count as usize).min(edges.len());
        let taken = edges.get(start.min(end)..end).unwrap_or_default();
        if taken.any() {
            let mut bits = EdgeBits::from_bitslice(taken);
            // The copy may begin in the middle of a byte, as the slice did.
            bits.force_align();
            bits.set_uninitialized(false);
            rows.push(Row { unit, procedure, edges: bits.into_vec() });
        }
        start += count as usize;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_begin_at_the_first_bit_wherever_they_come_from() {
        let edges = bitvec![u8, Lsb0; 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1];
        let rows = rows_of_unit(Fingerprint([1; 16]), [3, 5, 5].into_iter(), &edges);
        let rows: Vec<_> = rows.into_iter().map(|row| (row.procedure, row.edges)).collect();
        assert_eq!(rows, [(0, vec![0b101]), (2, vec![0b11000])]);
    }
}
