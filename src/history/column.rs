//! What all tests did in one procedure: few vectors of edges, most of them
//! taken by many tests, so each is kept once.

use crate::ids::EdgeId;
use bitvec::prelude::*;
use rustc_hash::FxHashMap;

/// A set of tests, by their numbers.
pub type TestBits = BitVec<u64, Lsb0>;

/// Rows of one procedure. A test that took none of its edges is not in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// Bytes of a vector.
    width: usize,
    vectors: Vec<u8>,
    /// Tests in their order, each with the number of its vector.
    entries: Vec<(u32, u32)>,
}

impl Column {
    /// The paper's TestsOnEdge: which of `tests` tests took an edge.
    pub fn tests_on_edge(&self, edge: EdgeId, tests: usize) -> TestBits {
        let takes: Vec<bool> =
            self.vectors().map(|v| v.get(edge.ix()).is_some_and(|bit| *bit)).collect();
        let mut found = bitvec![u64, Lsb0; 0; tests];
        for (test, vector) in &self.entries {
            if takes[*vector as usize] {
                found.set(*test as usize, true);
            }
        }
        found
    }

    fn vectors(&self) -> impl Iterator<Item = &BitSlice<u8, Lsb0>> {
        self.vectors.chunks(self.width.max(1)).map(BitSlice::from_slice)
    }

    /// All rows, in the order of the tests.
    pub fn rows(&self) -> impl Iterator<Item = (u32, &BitSlice<u8, Lsb0>)> {
        self.entries.iter().map(|(test, vector)| (*test, self.vector(*vector)))
    }

    /// The vectors that tests took, each with its tests in their order.
    pub fn groups(&self) -> Vec<(&BitSlice<u8, Lsb0>, Vec<u32>)> {
        let mut tests: Vec<Vec<u32>> = self.vectors().map(|_| Vec::new()).collect();
        for (test, vector) in &self.entries {
            tests[*vector as usize].push(*test);
        }
        self.vectors().zip(tests).filter(|(_, tests)| !tests.is_empty()).collect()
    }

    /// What one test took.
    pub fn row(&self, test: u32) -> Option<&BitSlice<u8, Lsb0>> {
        let place = self.entries.binary_search_by_key(&test, |entry| entry.0).ok()?;
        Some(self.vector(self.entries[place].1))
    }

    fn vector(&self, number: u32) -> &BitSlice<u8, Lsb0> {
        let start = number as usize * self.width;
        BitSlice::from_slice(&self.vectors[start..start + self.width])
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Appends the column's bytes: vectors, then the tests as differences, then
    /// the number of the vector of each.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put(out, self.width as u64);
        put(out, (self.vectors.len() / self.width.max(1)) as u64);
        out.extend_from_slice(&self.vectors);
        put(out, self.entries.len() as u64);
        let mut next = 0;
        for (test, _) in &self.entries {
            put(out, u64::from(test - next));
            next = test + 1;
        }
        for (_, vector) in &self.entries {
            put(out, u64::from(*vector));
        }
    }

    /// Reads a column; none if the bytes are not one.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let width = take(&mut rest)? as usize;
        let count = take(&mut rest)? as usize;
        // Vectors without bytes would be as many as the number says.
        if width == 0 && count > 0 {
            return None;
        }
        let (vectors, after) = rest.split_at_checked(width.checked_mul(count)?)?;
        rest = after;
        let length = take(&mut rest)? as usize;
        let mut entries = Vec::with_capacity(length.min(bytes.len()));
        let mut next = 0u32;
        for _ in 0..length {
            let test = next.checked_add(u32::try_from(take(&mut rest)?).ok()?)?;
            entries.push((test, 0));
            next = test.checked_add(1)?;
        }
        for entry in &mut entries {
            entry.1 = u32::try_from(take(&mut rest)?).ok()?;
            if entry.1 as usize >= count {
                return None;
            }
        }
        Some(Self { width, vectors: vectors.to_vec(), entries })
    }
}

/// Puts a column together. What is said of a test twice counts both times.
#[derive(Default)]
pub struct ColumnBuilder {
    numbers: FxHashMap<Box<[u8]>, u32>,
    vectors: Vec<Box<[u8]>>,
    entries: Vec<(u32, u32)>,
}

impl ColumnBuilder {
    pub fn add(&mut self, test: u32, row: &[u8]) {
        let vector = self.number(row);
        self.entries.push((test, vector));
    }

    /// Adds a column, with the tests under other numbers or left out.
    pub fn add_column(&mut self, column: &Column, renumber: impl Fn(u32) -> Option<u32>) {
        let mut known: Vec<Option<u32>> = vec![None; column.vectors.len() / column.width.max(1)];
        for (test, vector) in &column.entries {
            let Some(test) = renumber(*test) else { continue };
            let start = *vector as usize * column.width;
            let number = match known[*vector as usize] {
                Some(number) => number,
                None => self.number(&column.vectors[start..start + column.width]),
            };
            known[*vector as usize] = Some(number);
            self.entries.push((test, number));
        }
    }

    fn number(&mut self, row: &[u8]) -> u32 {
        if let Some(number) = self.numbers.get(row) {
            return *number;
        }
        let number = self.vectors.len() as u32;
        self.vectors.push(row.into());
        self.numbers.insert(row.into(), number);
        number
    }

    /// The column with its vectors as they came, which is quicker.
    pub fn finish_unordered(mut self) -> Column {
        self.settle();
        let width = self.vectors.iter().map(|vector| vector.len()).max().unwrap_or(0);
        let mut vectors = Vec::with_capacity(self.vectors.len() * width);
        for (number, vector) in self.vectors.iter().enumerate() {
            vectors.extend_from_slice(vector);
            vectors.resize((number + 1) * width, 0);
        }
        Column { width, vectors, entries: self.entries }
    }

    /// Puts the tests in their order, one entry for each.
    fn settle(&mut self) {
        if self.entries.is_sorted_by(|one, next| one.0 < next.0) {
            return;
        }
        self.entries.sort_unstable();
        self.entries.dedup();
        self.unite();
    }

    pub fn finish(mut self) -> Column {
        self.settle();
        // Frequent vectors have small numbers, and the same rows give the same
        // bytes wherever they come from.
        let mut counts = vec![0u32; self.vectors.len()];
        for (_, vector) in &self.entries {
            counts[*vector as usize] += 1;
        }
        let mut order: Vec<u32> = (0..self.vectors.len() as u32).collect();
        order.retain(|vector| counts[*vector as usize] > 0);
        order.sort_by(|a, b| {
            let key = |v: u32| (u32::MAX - counts[v as usize], &self.vectors[v as usize]);
            key(*a).cmp(&key(*b))
        });
        let width = order.iter().map(|v| self.vectors[*v as usize].len()).max().unwrap_or(0);
        let mut vectors = Vec::with_capacity(order.len() * width);
        let mut renumbered = vec![0; self.vectors.len()];
        for (number, vector) in order.iter().enumerate() {
            renumbered[*vector as usize] = number as u32;
            vectors.extend_from_slice(&self.vectors[*vector as usize]);
            vectors.resize((number + 1) * width, 0);
        }
        for (_, vector) in &mut self.entries {
            *vector = renumbered[*vector as usize];
        }
        Column { width, vectors, entries: self.entries }
    }

    /// Makes one entry of several for the same test.
    fn unite(&mut self) {
        if self.entries.windows(2).all(|pair| pair[0].0 != pair[1].0) {
            return;
        }
        let mut united: Vec<(u32, u32)> = Vec::with_capacity(self.entries.len());
        for (test, vector) in std::mem::take(&mut self.entries) {
            match united.last().copied() {
                Some((last, other)) if last == test => {
                    let (one, other) =
                        (&self.vectors[vector as usize], &self.vectors[other as usize]);
                    let (long, short) =
                        if one.len() > other.len() { (one, other) } else { (other, one) };
                    let mut both = long.clone();
                    both.iter_mut().zip(short.iter()).for_each(|(byte, more)| *byte |= more);
                    let number = self.number(&both);
                    united.pop();
                    united.push((test, number));
                }
                _ => united.push((test, vector)),
            }
        }
        self.entries = united;
    }
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn column(rows: &[(u32, Vec<u8>)]) -> Column {
        let mut builder = ColumnBuilder::default();
        rows.iter().for_each(|(test, row)| builder.add(*test, row));
        builder.finish()
    }

    proptest! {
        #[test]
        fn what_was_added_is_read_back(
            rows in prop::collection::vec((0u32..300, prop::collection::vec(any::<u8>(), 3)), 0..200)
        ) {
            let mut expected: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
            for (test, row) in &rows {
                let known = expected.entry(*test).or_insert_with(|| vec![0; 3]);
                known.iter_mut().zip(row).for_each(|(byte, more)| *byte |= more);
            }
            let made = column(&rows);
            let mut bytes = Vec::new();
            made.encode(&mut bytes);
            let read = Column::decode(&bytes).unwrap();
            prop_assert_eq!(&read, &made);
            for edge in 0..24 {
                let on_edge = read.tests_on_edge(EdgeId::new(edge), 300);
                for test in 0..300 {
                    let row = expected.get(&test);
                    let taken = row.is_some_and(|row| row[edge / 8] >> (edge % 8) & 1 == 1);
                    prop_assert_eq!(on_edge[test as usize], taken);
                }
            }
            for (row, tests) in read.groups() {
                for test in tests {
                    prop_assert_eq!(read.row(test), Some(row));
                }
            }
            let grouped: usize = read.groups().iter().map(|(_, tests)| tests.len()).sum();
            prop_assert_eq!(grouped, expected.len());
            // The order in which rows come does not matter.
            let mut other = rows.clone();
            other.reverse();
            prop_assert_eq!(column(&other), read);
        }

        #[test]
        fn any_bytes_are_a_column_or_not(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = Column::decode(&bytes);
        }
    }

    #[test]
    fn vectors_without_bytes_are_no_column() {
        assert_eq!(Column::decode(&[0, 3, 1, 0, 0]), None);
        let many = [0, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 0, 0];
        assert_eq!(Column::decode(&many), None);
        assert!(Column::decode(&[0, 0, 0]).is_some_and(|column| column.is_empty()));
    }

    #[test]
    fn columns_are_put_together_under_other_numbers() {
        let first = column(&[(0, vec![1]), (1, vec![2])]);
        let second = column(&[(0, vec![2]), (3, vec![4])]);
        let mut builder = ColumnBuilder::default();
        builder.add_column(&first, |test| (test == 0).then_some(7));
        builder.add_column(&second, |test| Some(test + 4));
        assert_eq!(builder.finish(), column(&[(4, vec![2]), (7, vec![1 | 4])]));
    }
}
