//! Segments: tests that were written together, and their columns. A history is a
//! few of them, each much larger than the next, so that adding a test writes
//! little and reading a procedure looks at few places.

use super::Holders;
use super::column::{Column, ColumnBuilder};
use super::format::{BlobAt, ColumnAt, SegmentAt, SegmentIndex, SegmentTests};
use super::store::{Appender, Store, StoreError};
use crate::ids::Fingerprint;
use rustc_hash::FxHashSet;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

/// Small columns are put together until a page has this many bytes.
const PAGE: usize = 1 << 16;

/// A segment of an open history.
pub struct Segment {
    pub at: SegmentAt,
    /// For each of its tests, the number that it has in the history now, if the
    /// rows in this segment still count.
    numbers: Vec<Option<u32>>,
    /// How many of these there are.
    live: usize,
    index: OnceCell<SegmentIndex>,
    /// The page that was read last: columns are mostly asked for in their order.
    page: RefCell<Option<(u32, Vec<u8>)>>,
}

impl Segment {
    pub fn new(at: SegmentAt, numbers: Vec<Option<u32>>) -> Self {
        let live = numbers.iter().flatten().count();
        Self { at, numbers, live, index: OnceCell::new(), page: RefCell::default() }
    }

    /// The number of the test at a place, if its rows here count.
    pub fn number(&self, place: u32) -> Option<u32> {
        self.numbers[place as usize]
    }

    pub fn numbers(&self) -> impl Iterator<Item = Option<u32>> {
        self.numbers.iter().copied()
    }

    /// Rows of these tests do not count any more.
    pub fn forget(&mut self, tests: &FxHashSet<u32>) {
        for number in &mut self.numbers {
            if number.is_some_and(|number| tests.contains(&number)) {
                *number = None;
                self.live -= 1;
            }
        }
    }

    /// Bytes of its pages that count, as a share of the tests.
    pub fn live_size(&self) -> u64 {
        self.at.size.saturating_mul(self.live as u64) / self.at.count.max(1)
    }

    pub fn index(&self, store: &Store) -> Result<&SegmentIndex, StoreError> {
        if let Some(index) = self.index.get() {
            return Ok(index);
        }
        let index = store.read_value(self.at.index)?;
        Ok(self.index.get_or_init(|| index))
    }

    /// The rows of a procedure, by the places of the tests in this segment.
    pub fn column(
        &self,
        store: &Store,
        unit: Fingerprint,
        procedure: u32,
    ) -> Result<Option<Column>, StoreError> {
        if self.live == 0 {
            return Ok(None);
        }
        let index = self.index(store)?;
        let Some(columns) = index.units.get(&unit) else { return Ok(None) };
        let Ok(place) = columns.binary_search_by_key(&procedure, |column| column.procedure) else {
            return Ok(None);
        };
        let column = columns[place];
        let mut page = self.page.borrow_mut();
        if page.as_ref().is_none_or(|(number, _)| *number != column.page) {
            let at = index.pages.get(column.page as usize);
            let at = at.ok_or_else(|| store.damaged("a part is missing"))?;
            *page = Some((column.page, store.read(*at)?));
        }
        let bytes = page.as_ref().map(|(_, bytes)| bytes.as_slice()).unwrap_or_default();
        let end = column.start as usize + column.length as usize;
        let bytes = bytes.get(column.start as usize..end);
        let read = bytes.and_then(Column::decode).ok_or_else(|| store.damaged("contents"))?;
        // Numbers beyond the tests would be nobody's.
        match read.rows().last() {
            Some((last, _)) if last as usize >= self.numbers.len() => {
                Err(store.damaged("contents"))
            }
            _ => Ok(Some(read)),
        }
    }
}

/// Writes a segment, column by column in their order.
pub struct SegmentWriter<'a> {
    out: &'a mut Appender,
    index: SegmentIndex,
    page: Vec<u8>,
    size: u64,
}

impl<'a> SegmentWriter<'a> {
    pub fn new(out: &'a mut Appender) -> Self {
        Self { out, index: SegmentIndex::default(), page: Vec::new(), size: 0 }
    }

    /// Adds the rows of a procedure, unless there are none.
    pub fn add(
        &mut self,
        unit: Fingerprint,
        procedure: u32,
        column: ColumnBuilder,
    ) -> std::io::Result<()> {
        let column = column.finish();
        if column.is_empty() {
            return Ok(());
        }
        let start = self.page.len();
        column.encode(&mut self.page);
        let at = ColumnAt {
            procedure,
            page: self.index.pages.len() as u32,
            start: start as u32,
            length: (self.page.len() - start) as u32,
        };
        self.index.units.entry(unit).or_default().push(at);
        if self.page.len() > PAGE { self.end_page() } else { Ok(()) }
    }

    fn end_page(&mut self) -> std::io::Result<()> {
        let at = self.out.put(&self.page)?;
        self.size += at.length;
        self.index.pages.push(at);
        self.page.clear();
        Ok(())
    }

    pub fn finish(mut self, tests: &SegmentTests, blobs: BlobAt) -> std::io::Result<SegmentAt> {
        if !self.page.is_empty() {
            self.end_page()?;
        }
        Ok(SegmentAt {
            count: tests.entries.len() as u64,
            size: self.size,
            tests: self.out.put_value(tests)?,
            index: self.out.put_value(&self.index)?,
            blobs,
        })
    }
}

/// A segment that goes into another, with the places its tests have there.
pub struct Part<'a> {
    pub store: &'a Store,
    pub segment: &'a Segment,
    pub places: Vec<Option<u32>>,
}

/// Puts the columns of several segments together. `holders` are the tests, by
/// their new places, whose rows in a unit are still of use.
pub fn unite(
    parts: &[Part<'_>],
    writer: &mut SegmentWriter<'_>,
    holders: &Holders,
) -> Result<(), StoreError> {
    let mut units: BTreeMap<Fingerprint, Vec<u32>> = BTreeMap::new();
    for part in parts {
        for (unit, columns) in &part.segment.index(part.store)?.units {
            units.entry(*unit).or_default().extend(columns.iter().map(|at| at.procedure));
        }
    }
    for (unit, mut procedures) in units {
        let holders = holders.of(unit);
        procedures.sort_unstable();
        procedures.dedup();
        for procedure in procedures {
            let mut builder = ColumnBuilder::default();
            for part in parts {
                if let Some(column) = part.segment.column(part.store, unit, procedure)? {
                    builder.add_column(&column, |test| {
                        part.places[test as usize].filter(|place| holders.hold(*place))
                    });
                }
            }
            let store = parts[0].store;
            writer.add(unit, procedure, builder).map_err(|e| store.failed(e))?;
        }
    }
    Ok(())
}
