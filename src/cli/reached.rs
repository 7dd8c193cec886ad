//! Who reaches what, as the history has it: procedures of all programs with the
//! tests on each of their edges.

use super::snapshot::OldUnits;
use crate::cfg::format::{Graph, Place, ProcedureIndex};
use crate::history::History;
use crate::history::column::{Column, TestBits};
use crate::history::store::StoreError;
use crate::ids::{EdgeId, Fingerprint, ProcIx};
use crate::select::version::UnitVersion;
use bitvec::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// All versions of all units that tests of a history ran.
pub struct Reached<'a> {
    pub history: &'a History,
    units: BTreeMap<Fingerprint, Arc<UnitVersion>>,
    /// Tests that count; the others are as if they were not there.
    wanted: TestBits,
}

/// A procedure at one version, with its rows.
pub struct Procedure<'r> {
    pub unit: &'r UnitVersion,
    /// Where it is in the unit.
    pub place: ProcIx,
    pub index: &'r ProcedureIndex,
    pub graph: &'r Graph,
    column: Column,
    wanted: &'r TestBits,
}

impl<'a> Reached<'a> {
    /// For the tests that are wanted, by name.
    pub fn new(history: &'a History, wanted: impl Fn(&str) -> bool) -> Result<Self, StoreError> {
        let mut programs = BTreeSet::new();
        let mut numbers = bitvec![u64, Lsb0; 0; history.test_numbers()];
        for (name, test) in history.tests().filter(|(name, _)| wanted(name)) {
            programs.extend(&test.programs);
            if let Some(number) = history.number(name) {
                numbers.set(number as usize, true);
            }
        }
        let programs = programs.into_iter().map(|id| history.program(id));
        let programs: Vec<_> = programs.collect::<Result<_, _>>()?;
        let units = OldUnits::read(history, programs.into_iter())?;
        let units = units.values().map(|unit| (unit.fingerprint(), unit.clone())).collect();
        Ok(Self { history, units, wanted: numbers })
    }

    /// Looks at every procedure of units that are of interest, in their order.
    pub fn each<E: From<StoreError>>(
        &self,
        is_of_interest: impl Fn(&UnitVersion, &ProcedureIndex) -> bool,
        mut look: impl FnMut(&Procedure<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut units: Vec<_> = self.units.iter().collect();
        units.sort_by_key(|(id, unit)| (&unit.index.key.source, *id));
        for (id, unit) in units {
            for (place, index) in unit.index.procedures.iter().enumerate() {
                if !is_of_interest(unit, index) {
                    continue;
                }
                let column = self.history.column(*id, place as u32)?;
                let place = ProcIx::new(place);
                let Some(graph) = unit.graph(place) else { continue };
                look(&Procedure { unit, place, index, graph, column, wanted: &self.wanted })?;
            }
        }
        Ok(())
    }

    /// The tests that reach a line, by the units that are of interest; none if no code
    /// of these begins there.
    pub fn on_line(
        &self,
        file: &str,
        line: u32,
        is_of_interest: impl Fn(&UnitVersion) -> bool,
    ) -> Result<Option<TestBits>, StoreError> {
        let mut found: Option<TestBits> = None;
        let has_file = |unit: &UnitVersion, _: &ProcedureIndex| {
            unit.index.files.iter().any(|f| f == file) && is_of_interest(unit)
        };
        self.each::<StoreError>(has_file, |procedure| {
            for (place, on_line) in procedure.lines() {
                if place.line == line && procedure.file(place) == file {
                    *found.get_or_insert_with(|| self.nobody()) |= on_line;
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Where procedures of a name are, by file and line, with the tests that enter each.
    pub fn named(&self, name: &str) -> Result<BTreeMap<(String, u32), TestBits>, StoreError> {
        let mut found: BTreeMap<(String, u32), TestBits> = BTreeMap::new();
        self.each::<StoreError>(
            |_, procedure| procedure.name == name,
            |procedure| {
                let place = procedure.index.place;
                let place = (procedure.file(place).to_string(), place.line);
                *found.entry(place).or_insert_with(|| self.nobody()) |= procedure.entered();
                Ok(())
            },
        )?;
        Ok(found)
    }

    /// Whether a test ran a program with a file in it.
    pub fn knows_file(&self, file: &str) -> bool {
        self.units.values().any(|unit| unit.index.files.iter().any(|f| f == file))
    }

    pub fn units(&self) -> impl Iterator<Item = &UnitVersion> {
        self.units.values().map(|unit| &**unit)
    }

    pub fn names(&self, tests: &TestBits) -> Vec<&'a str> {
        let names = tests.iter_ones().filter_map(|number| self.history.name(number as u32));
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        names
    }

    pub fn nobody(&self) -> TestBits {
        bitvec![u64, Lsb0; 0; self.wanted.len()]
    }
}

/// A file and a line of it, if they are meant: `lib/stats.c:47`.
pub fn as_line(what: &str) -> Option<(&str, u32)> {
    let (file, line) = what.rsplit_once(':')?;
    Some((file, line.parse().ok()?))
}

/// The tests that run each node of a graph, and those that take each of its edges, by
/// the rows of its procedure.
pub fn nodes_and_edges(
    graph: &Graph,
    column: &Column,
    wanted: &TestBits,
) -> (Vec<TestBits>, Vec<TestBits>) {
    let nobody = bitvec![u64, Lsb0; 0; wanted.len()];
    let mut nodes = vec![nobody.clone(); graph.nodes.len()];
    let mut edges = vec![nobody.clone(); graph.edges.len()];
    for (taken, numbers) in column.groups() {
        let mut tests = nobody.clone();
        numbers.iter().for_each(|number| tests.set(*number as usize, true));
        tests &= wanted.as_bitslice();
        let mut is_run = vec![false; graph.nodes.len()];
        for number in taken.iter_ones().filter(|number| *number < graph.edges.len()) {
            edges[number] |= tests.as_bitslice();
            let edge = &graph.edges[number];
            is_run[edge.from.ix()] = true;
            is_run[edge.to.ix()] = true;
        }
        for (node, _) in is_run.iter().enumerate().filter(|(_, is_run)| **is_run) {
            nodes[node] |= tests.as_bitslice();
        }
    }
    (nodes, edges)
}

impl Procedure<'_> {
    pub fn tests_on_edge(&self, edge: EdgeId) -> TestBits {
        let mut tests = self.column.tests_on_edge(edge, self.wanted.len());
        tests &= self.wanted.as_bitslice();
        tests
    }

    /// The tests that run each of its nodes, and those that take each of its edges.
    pub fn nodes_and_edges(&self) -> (Vec<TestBits>, Vec<TestBits>) {
        nodes_and_edges(self.graph, &self.column, self.wanted)
    }

    /// Tests that entered it.
    pub fn entered(&self) -> TestBits {
        self.on_any(self.graph.out_edges(Graph::ENTRY).map(|(edge, _)| edge))
    }

    fn on_any(&self, edges: impl Iterator<Item = EdgeId>) -> TestBits {
        let mut tests = bitvec![u64, Lsb0; 0; self.wanted.len()];
        edges.for_each(|edge| tests |= self.tests_on_edge(edge));
        tests
    }

    /// The tests that reach each of its lines.
    pub fn lines(&self) -> BTreeMap<Place, TestBits> {
        let mut lines: BTreeMap<Place, TestBits> = BTreeMap::new();
        for (number, edge) in self.graph.edges.iter().enumerate() {
            let tests = self.tests_on_edge(EdgeId::new(number));
            for node in [edge.from, edge.to] {
                // The end is where the procedure begins, as far as lines go.
                if node == Graph::EXIT {
                    continue;
                }
                let place = self.graph.node(node).place;
                match lines.get_mut(&place) {
                    Some(known) => *known |= tests.as_bitslice(),
                    None => {
                        lines.insert(place, tests.clone());
                    }
                }
            }
        }
        lines
    }

    pub fn file(&self, place: Place) -> &str {
        self.unit.file(place)
    }
}
