//! Who calls whom in the programs of the history. The units that a selection
//! reads are few, the calls that lead to them may be anywhere: they are kept in
//! `.edgewise/calls`, which is read when a reason is to be told.

use super::cache;
use super::sources::Programs;
use super::workspace::Workspace;
use crate::cfg::format::{Graph, RawRecord};
use crate::history::History;
use crate::ids::{Fingerprint, ProcIx, TestId};
use crate::select::callers::{Callers, Calls, Found, Place, UnitCalls, Way};
use crate::select::version::UnitVersion;
use crate::trace::derive::EdgeBits;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, OnceCell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;

/// So many rows are read for all chains of a selection, and so many units for the calls in
/// them: chains are words, and must not cost more than the selection.
const MOST_ROWS: usize = 3000;
const MOST_UNITS: usize = 60;

/// What was read, as far as it is there.
type Read<K, T> = RefCell<FxHashMap<K, Option<Rc<T>>>>;

pub struct HistoryCalls<'a> {
    path: PathBuf,
    history: &'a History,
    programs: &'a Programs,
    units: OnceCell<FxHashMap<Fingerprint, UnitCalls>>,
    /// By program.
    callers: RefCell<FxHashMap<Fingerprint, Callers>>,
    rows: Read<(TestId, Fingerprint, ProcIx), EdgeBits>,
    graphs: Read<Fingerprint, UnitVersion>,
    /// Whether something was asked for beyond what is read.
    is_exhausted: Cell<bool>,
}

impl<'a> HistoryCalls<'a> {
    pub fn new(workspace: &Workspace, history: &'a History, programs: &'a Programs) -> Self {
        let path = workspace.state().join("calls");
        Self {
            path,
            history,
            programs,
            units: OnceCell::new(),
            callers: RefCell::default(),
            rows: RefCell::default(),
            graphs: RefCell::default(),
            is_exhausted: Cell::new(false),
        }
    }

    /// All units of the programs, as far as they can be read.
    fn units(&self) -> &FxHashMap<Fingerprint, UnitCalls> {
        self.units.get_or_init(|| {
            let mut units: FxHashMap<Fingerprint, UnitCalls> =
                cache::read(&self.path).unwrap_or_default();
            units.retain(|_, unit| unit.is_sound());
            let wanted = self.programs.values().flat_map(|(program, _)| &program.units);
            let wanted: FxHashSet<Fingerprint> = wanted.copied().collect();
            let missing = wanted.iter().filter(|id| !units.contains_key(id));
            let read: Vec<_> = missing.filter_map(|id| Some((*id, self.read(*id)?))).collect();
            if !read.is_empty() {
                units.extend(read);
                units.retain(|id, _| wanted.contains(id));
                cache::write(&self.path, &units);
            }
            units
        })
    }

    fn read(&self, id: Fingerprint) -> Option<UnitCalls> {
        let raw = RawRecord::new(self.history.unit(id).ok()?).ok()?;
        Some(UnitCalls::of(&raw.index().ok()?))
    }

    /// What a test took of a procedure.
    fn took(&self, way: &Way<'_>, unit: Fingerprint, procedure: ProcIx) -> Option<Rc<EdgeBits>> {
        let mut rows = self.rows.borrow_mut();
        let key = (way.test, unit, procedure);
        if rows.len() == MOST_ROWS && !rows.contains_key(&key) {
            self.is_exhausted.set(true);
            return None;
        }
        let read = || (way.took)(unit, procedure).filter(|taken| taken.any()).map(Rc::new);
        rows.entry(key).or_insert_with(read).clone()
    }

    /// A unit with its graphs, unless too many of them were read.
    fn graphs(&self, id: Fingerprint) -> Option<Rc<UnitVersion>> {
        let mut graphs = self.graphs.borrow_mut();
        if graphs.len() == MOST_UNITS && !graphs.contains_key(&id) {
            return None;
        }
        let read = || {
            let raw = RawRecord::new(self.history.unit(id).ok()?).ok()?;
            Some(Rc::new(UnitVersion::of_raw(raw).ok()?))
        };
        graphs.entry(id).or_insert_with(read).clone()
    }

    /// Whether who took these edges of a procedure came to a call of a name, as far as it is
    /// known what is called where. Where only its address is taken, nobody calls it.
    fn came_to(&self, taken: &EdgeBits, unit: Fingerprint, procedure: ProcIx, name: &str) -> bool {
        let Some(version) = self.graphs(unit) else { return true };
        let Some(graph) = version.graph(procedure) else { return true };
        let symbols = &version.index.symbols;
        let is_it = |symbol: &u32| symbols[*symbol as usize].name == name;
        let is_opaque = version.index.procedures[procedure.ix()].opaque.is_some();
        is_opaque || ran(graph, taken).any(|node| graph.nodes[node].calls.iter().any(is_it))
    }
}

/// The nodes that ran where edges were taken.
fn ran(graph: &Graph, taken: &EdgeBits) -> impl Iterator<Item = usize> {
    let edges = taken.iter_ones().filter_map(|number| graph.edges.get(number));
    edges.flat_map(|edge| [edge.from.ix(), edge.to.ix()])
}

impl Calls for HistoryCalls<'_> {
    fn programs(&self, unit: Fingerprint, tests: &[TestId]) -> Vec<(String, Vec<TestId>)> {
        let has_unit = self.programs.values().filter(|(known, _)| known.units.contains(&unit));
        let mut left = tests.to_vec();
        let mut found = Vec::new();
        for (program, ran) in has_unit {
            let (own, others): (Vec<TestId>, Vec<TestId>) =
                left.iter().partition(|test| ran.binary_search(test).is_ok());
            left = others;
            if !own.is_empty() {
                found.push((program.path.clone(), own));
            }
        }
        found
    }

    fn chain(
        &self,
        program: &str,
        unit: Fingerprint,
        procedure: ProcIx,
        way: Option<&Way<'_>>,
    ) -> Vec<String> {
        // Units are judged for all who ran them, in whatever program: its calls are told by one
        // that the test ran.
        let has_unit = self.programs.iter().filter(|(_, (known, _))| known.units.contains(&unit));
        let holder = has_unit.min_by_key(|(_, (known, tests))| {
            let is_run = way.is_some_and(|way| tests.binary_search(&way.test).is_ok());
            (!is_run, known.path != program)
        });
        let Some((id, (holder, _))) = holder else { return Vec::new() };
        let units = self.units();
        let ids = || holder.units.iter().filter(|id| units.contains_key(id));
        let Some(place) = ids().position(|id| *id == unit) else { return Vec::new() };
        let ids: Vec<Fingerprint> = ids().copied().collect();
        let units: Vec<&UnitCalls> = ids.iter().map(|id| &units[id]).collect();
        if !units[place].has(procedure) {
            return Vec::new();
        }
        let mut known = self.callers.borrow_mut();
        let callers = known.entry(*id).or_insert_with(|| Callers::of(&units));
        let at = (place, procedure.ix());
        let Some(way) = way else { return callers.chain(&units, at) };
        let row = |(unit, number): Place| self.took(way, ids[unit], ProcIx::new(number));
        let mut is_call = |caller: Place, callee: Place| {
            let (unit, number) = caller;
            let name = Callers::name(&units, callee);
            row(caller)
                .is_some_and(|taken| self.came_to(&taken, ids[unit], ProcIx::new(number), name))
        };
        match callers.taken(&units, at, &mut is_call) {
            Found::FromRoot(chain) => chain,
            Found::FromWithin(chain) if !self.is_exhausted.get() => chain,
            _ => vec![Callers::name(&units, at).to_string()],
        }
    }
}
