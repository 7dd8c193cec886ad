//! Which lines of the sources as they are now the tests reach.

use crate::cfg::format::Graph;
use crate::cli::explaining;
use crate::cli::reached::{self, Reached};
use crate::cli::selecting::Selected;
use crate::history::History;
use crate::history::column::TestBits;
use crate::history::format::FileState;
use crate::history::store::StoreError;
use crate::ids::{Fingerprint, NodeId, UnitIx};
use crate::report::html::{File, FileProcedure, Group, LineState, NAMED_OF_GROUP};
use crate::select::gaps::Gap;
use crate::select::version::{ProcRef, ProgramVersion, UnitVersion};
use crate::select::{ComparedPair, Comparison, NewProgram};
use bitvec::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Tests that reach a line; unknown where it did not run at this version.
type Reach = Option<SetId>;

/// Stands for a set of tests: most lines of a file share theirs with others.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct SetId(u32);

#[derive(Default)]
struct Sets {
    all: Vec<TestBits>,
    known: FxHashMap<TestBits, SetId>,
}

impl Sets {
    fn id(&mut self, tests: &TestBits) -> SetId {
        if let Some(id) = self.known.get(tests) {
            return *id;
        }
        let id = SetId(self.all.len() as u32);
        self.all.push(tests.clone());
        self.known.insert(tests.clone(), id);
        id
    }

    fn join(&mut self, a: SetId, b: SetId) -> SetId {
        if a == b {
            return a;
        }
        let mut both = self.all[a.0 as usize].clone();
        both |= self.all[b.0 as usize].as_bitslice();
        self.id(&both)
    }

    fn count(&self, id: SetId) -> usize {
        self.all[id.0 as usize].count_ones()
    }

    fn group(&self, id: SetId, history: &History) -> Group {
        let numbers = self.all[id.0 as usize].iter_ones();
        let mut tests: Vec<&str> =
            numbers.filter_map(|number| history.name(number as u32)).collect();
        tests.sort_unstable();
        let tests = tests.into_iter().take(NAMED_OF_GROUP).map(String::from).collect();
        Group { tests, count: self.count(id) }
    }
}

pub struct Coverage {
    sets: Sets,
    files: BTreeMap<String, FileCover>,
    /// Lines of files that changed since the tests ran are told by new units alone.
    stale: FxHashSet<String>,
}

#[derive(Default)]
struct FileCover {
    lines: BTreeMap<u32, Reach>,
    /// By line and name: whether a test enters it.
    procedures: BTreeMap<(u32, String), bool>,
    new: BTreeSet<u32>,
    gaps: BTreeMap<u32, Vec<String>>,
    /// Sources of units that it is a part of.
    included_by: BTreeSet<String>,
    /// Some unit reads it.
    is_read: bool,
}

/// Names of all files that units of either version are made of.
pub fn code_files(selected: &Selected) -> HashSet<&str> {
    let old = selected.comparisons.iter().flat_map(|comparison| &comparison.old.units);
    let old = old.map(|unit| &**unit);
    let units = old.chain(selected.new_units());
    units.flat_map(|unit| unit.index.files.iter().map(String::as_str)).collect()
}

impl Coverage {
    /// By the rows of a history. Where it has none of a unit of the new version, what
    /// is the same as in the old one counts as it did there.
    pub fn new(base: &History, selected: &Selected) -> Result<Self, StoreError> {
        let reached = Reached::new(base, |_| true)?;
        let now = &selected.files.now;
        let stale = stale(&base.common_files()?, now);
        let mut coverage = Self { sets: Sets::default(), files: BTreeMap::new(), stale };
        let known: HashSet<Fingerprint> = reached.units().map(|unit| unit.fingerprint()).collect();
        // Of a source that is compiled otherwise now, the new unit says what it includes.
        let recent: HashSet<&str> =
            selected.new_units().map(|unit| unit.index.key.source.as_str()).collect();
        let is_recent = |unit: &UnitVersion| recent.contains(unit.index.key.source.as_str());
        let units = reached.units().map(|unit| (unit, !is_recent(unit)));
        for (unit, is_told) in units.chain(selected.new_units().map(|unit| (unit, true))) {
            let source = &unit.index.key.source;
            let files = (0..).zip(&unit.index.files);
            let files = files.filter(|(_, file)| !file.starts_with('/') && !file.is_empty());
            for (number, file) in files {
                // What is gone has no lines now; its own page would be empty.
                if now.contains_key(file) || !coverage.stale.contains(file) {
                    let cover = coverage.files.entry(file.clone()).or_default();
                    cover.is_read |= !unit.index.only_named.contains(&number);
                    if is_told && file != source && !cover.included_by.contains(source) {
                        cover.included_by.insert(source.clone());
                    }
                }
            }
        }
        reached.each::<StoreError>(
            |_, _| true,
            |procedure| {
                let (nodes, _) = procedure.nodes_and_edges();
                let is_entered = procedure.entered().any();
                let nodes: Vec<Option<TestBits>> = nodes.into_iter().map(Some).collect();
                let (unit, graph) = (procedure.unit, procedure.graph);
                let at = ProcRef { unit: UnitIx(0), procedure: procedure.place };
                coverage.add(unit, at, graph, &nodes, is_entered, false);
                Ok(())
            },
        )?;
        let mut done = HashSet::new();
        for (number, comparison) in selected.comparisons.iter().enumerate() {
            let NewProgram::Version(new) = &comparison.new else { continue };
            for (place, unit) in new.units.iter().enumerate() {
                let id = unit.fingerprint();
                if !known.contains(&id) && done.insert(id) {
                    let pairs = selected.pairs.iter().filter(|pair| pair.comparison == number);
                    let pairs = pairs.filter(|pair| pair.new.unit.ix() == place);
                    let pairs: FxHashMap<ProcRef, &ComparedPair> =
                        pairs.map(|pair| (pair.new, pair)).collect();
                    coverage.add_untested(base, comparison, new, UnitIx::new(place), &pairs)?;
                }
            }
        }
        Ok(coverage)
    }

    fn add(
        &mut self,
        unit: &UnitVersion,
        at: ProcRef,
        graph: &Graph,
        nodes: &[Option<TestBits>],
        is_entered: bool,
        is_of_new_unit: bool,
    ) {
        let index = unit.procedure(at.procedure);
        let file = unit.file(index.place);
        if self.is_told(file, is_of_new_unit)
            && let Some(cover) = self.files.get_mut(file)
        {
            let key = (index.place.line, index.name.clone());
            *cover.procedures.entry(key).or_default() |= is_entered;
        }
        for (number, (node, tests)) in graph.nodes.iter().zip(nodes).enumerate() {
            // The end is where the procedure begins, as far as lines go.
            if NodeId::new(number) == Graph::EXIT || node.place.line == 0 {
                continue;
            }
            let file = unit.file(node.place);
            if !self.is_told(file, is_of_new_unit) {
                continue;
            }
            let reach = tests.as_ref().map(|tests| self.sets.id(tests));
            let Some(cover) = self.files.get_mut(file) else { continue };
            let line = node.place.line;
            if reach.is_none() {
                cover.new.insert(line);
            }
            let joined = match (cover.lines.get(&line).copied().flatten(), reach) {
                (Some(a), Some(b)) => Some(self.sets.join(a, b)),
                (a, b) => a.or(b),
            };
            cover.lines.insert(line, joined);
        }
    }

    /// Whether the lines of a file are those that a unit says.
    fn is_told(&self, file: &str, is_of_new_unit: bool) -> bool {
        is_of_new_unit || !self.stale.contains(file)
    }

    /// Adds a unit that no test ran at this version.
    fn add_untested(
        &mut self,
        base: &History,
        comparison: &Comparison,
        new: &ProgramVersion,
        unit: UnitIx,
        pairs: &FxHashMap<ProcRef, &ComparedPair>,
    ) -> Result<(), StoreError> {
        for at in new.unit(unit).procedures(unit) {
            let Some(graph) = new.graph(at) else { continue };
            let pair = pairs.get(&at).copied();
            let (nodes, is_entered) = reach_of_new(base, comparison, new, at, pair)?;
            self.add(new.unit(unit), at, graph, &nodes, is_entered, true);
        }
        Ok(())
    }

    /// Marks code that is new, and what of it no test reaches.
    pub fn add_new_code<'g>(
        &mut self,
        lines: &BTreeSet<(String, u32)>,
        gaps: impl Iterator<Item = (&'g Gap, String)>,
    ) {
        for (file, line) in lines {
            if let Some(cover) = self.files.get_mut(file) {
                cover.new.insert(*line);
            }
        }
        for (gap, says) in gaps {
            if let Some(cover) = self.files.get_mut(&gap.file) {
                let known = cover.gaps.entry(gap.line).or_default();
                if !known.contains(&says) {
                    known.push(says);
                }
            }
        }
    }

    /// The files, with the names that a history has for tests.
    pub fn finish(self, history: &History) -> Vec<File> {
        let Self { sets, files, stale } = self;
        let files = files.into_iter().map(|(name, mut cover)| {
            let is_blank = cover.lines.is_empty() && stale.contains(&name);
            let mut places: FxHashMap<SetId, usize> = FxHashMap::default();
            let mut groups: Vec<Group> = Vec::new();
            let lines = cover.lines.iter().map(|(line, reach)| {
                let tests = reach.map(|set| sets.count(set));
                let set = reach.filter(|_| tests != Some(0));
                let group = set.map(|set| {
                    *places.entry(set).or_insert_with(|| {
                        groups.push(sets.group(set, history));
                        groups.len() - 1
                    })
                });
                let state = LineState {
                    tests,
                    group,
                    is_new: cover.new.contains(line),
                    gaps: cover.gaps.remove(line).unwrap_or_default(),
                };
                (*line, state)
            });
            let lines = lines.collect();
            let procedures = cover
                .procedures
                .into_iter()
                .map(|((line, name), is_entered)| FileProcedure { name, line, is_entered });
            let note = is_blank.then(|| {
                let mut note = String::from(
                    "It changed since the tests ran. No function that was compared has code in this file.",
                );
                if !cover.included_by.is_empty() {
                    note.push_str(
                        " Its macros and declarations take effect in the files that include it.",
                    );
                }
                note
            });
            File {
                name,
                lines,
                procedures: procedures.collect(),
                groups,
                note,
                is_named: !cover.is_read,
                included_by: cover.included_by.into_iter().collect(),
                changed: None,
            }
        });
        files.collect()
    }
}

/// The tests that ran each node of a procedure of a version that no test ran, as far as
/// that is what it was, and whether any test entered it.
pub fn reach_of_new(
    base: &History,
    comparison: &Comparison,
    new: &ProgramVersion,
    at: ProcRef,
    pair: Option<&ComparedPair>,
) -> Result<(Vec<Option<TestBits>>, bool), StoreError> {
    let old = &comparison.old;
    let count = new.graph(at).map_or(0, |graph| graph.nodes.len());
    let mut nodes: Vec<Option<TestBits>> = vec![None; count];
    let before = match pair {
        Some(pair) => Some(pair.old),
        None => explaining::counterpart(new, at, old),
    };
    let Some((before, earlier)) = before.and_then(|before| Some((before, old.graph(before)?)))
    else {
        return Ok((nodes, false));
    };
    let all = bitvec![u64, Lsb0; 1; base.test_numbers()];
    let column = base.column(old.unit(before.unit).fingerprint(), before.procedure.0)?;
    let (reached, _) = reached::nodes_and_edges(earlier, &column, &all);
    let is_entered = reached.first().is_some_and(|tests| tests.any());
    let same = old.procedure(before).fingerprint == new.procedure(at).fingerprint;
    match pair {
        Some(pair) => {
            for (then, now) in &pair.graph.nodes {
                join(&mut nodes[now.ix()], &reached[then.ix()]);
            }
        }
        None if same => nodes = reached.into_iter().map(Some).collect(),
        None => {}
    }
    Ok((nodes, is_entered))
}

fn join(known: &mut Option<TestBits>, more: &TestBits) {
    match known {
        Some(known) => *known |= more.as_bitslice(),
        None => *known = Some(more.clone()),
    }
}

/// Files that are other ones than they were.
fn stale(then: &FileState, now: &FileState) -> FxHashSet<String> {
    let names = then.keys().chain(now.keys());
    names.filter(|name| then.get(*name) != now.get(*name)).cloned().collect()
}
