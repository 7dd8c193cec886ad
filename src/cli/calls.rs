//! Who calls whom in the programs of the history. The units that a selection
//! reads are few, the calls that lead to them may be anywhere: they are kept in
//! `.edgewise/calls`, which is read when a reason is to be told.

use super::cache;
use super::sources::Programs;
use super::workspace::Workspace;
use crate::cfg::format::RawRecord;
use crate::history::History;
use crate::ids::{Fingerprint, ProcIx};
use crate::select::callers::{Callers, Calls, UnitCalls};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{OnceCell, RefCell};
use std::path::PathBuf;

pub struct HistoryCalls<'a> {
    path: PathBuf,
    history: &'a History,
    programs: &'a Programs,
    units: OnceCell<FxHashMap<Fingerprint, UnitCalls>>,
    /// By program.
    callers: RefCell<FxHashMap<Fingerprint, Callers>>,
}

impl<'a> HistoryCalls<'a> {
    pub fn new(workspace: &Workspace, history: &'a History, programs: &'a Programs) -> Self {
        let path = workspace.state().join("calls");
        Self { path, history, programs, units: OnceCell::new(), callers: RefCell::default() }
    }

    /// All units of the programs, as far as they can be read.
    fn units(&self) -> &FxHashMap<Fingerprint, UnitCalls> {
        self.units.get_or_init(|| {
            let mut units: FxHashMap<Fingerprint, UnitCalls> =
                cache::read(&self.path).unwrap_or_default();
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
}

impl Calls for HistoryCalls<'_> {
    fn chain(&self, program: &str, unit: Fingerprint, procedure: ProcIx) -> Vec<String> {
        let mut programs = self.programs.iter();
        let holder =
            programs.find(|(_, (known, _))| known.path == program && known.units.contains(&unit));
        let Some((id, (holder, _))) = holder else { return Vec::new() };
        let units = self.units();
        let ids = || holder.units.iter().filter(|id| units.contains_key(id));
        let Some(place) = ids().position(|id| *id == unit) else { return Vec::new() };
        let units: Vec<&UnitCalls> = ids().map(|id| &units[id]).collect();
        let mut known = self.callers.borrow_mut();
        let callers = known.entry(*id).or_insert_with(|| Callers::of(&units));
        callers.chain(&units, (place, procedure.ix()))
    }
}
