//! Who calls whom by name, for telling how a procedure is reached from a root.

use crate::cfg::format::UnitIndex;
use crate::ids::{Fingerprint, ProcIx};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Answers how a procedure is reached. Only what is asked for has to be read.
pub trait Calls {
    /// Names of procedures from a root of a program to one of its procedures, or
    /// from wherever calls are last known by name.
    fn chain(&self, program: &str, unit: Fingerprint, procedure: ProcIx) -> Vec<String>;
}

/// The calls in a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitCalls {
    procedures: Vec<ProcedureCalls>,
    /// Names of what is called.
    names: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ProcedureCalls {
    name: String,
    is_static: bool,
    /// Control enters it by itself.
    is_root: bool,
    /// Places of the names that it calls.
    calls: Vec<u32>,
}

impl UnitCalls {
    pub fn of(index: &UnitIndex) -> Self {
        let mut names = Vec::new();
        let mut places: FxHashMap<u32, u32> = FxHashMap::default();
        let procedures = index.procedures.iter().map(|procedure| {
            // One whose address is taken may be called by anybody.
            let called = procedure.mentions.iter().filter(|name| !procedure.takes.contains(name));
            let calls = called.map(|symbol| {
                *places.entry(*symbol).or_insert_with(|| {
                    names.push(index.symbols[*symbol as usize].name.clone());
                    names.len() as u32 - 1
                })
            });
            ProcedureCalls {
                calls: calls.collect(),
                name: procedure.name.clone(),
                is_static: procedure.is_static,
                is_root: procedure.is_constructor || procedure.name == "main",
            }
        });
        let procedures = procedures.collect();
        Self { procedures, names }
    }

    /// The procedure that a name means here.
    fn own(&self) -> FxHashMap<&str, usize> {
        let mut own: FxHashMap<&str, usize> = FxHashMap::default();
        let statics = |(_, procedure): &(usize, &ProcedureCalls)| procedure.is_static;
        let (inner, outer): (Vec<_>, Vec<_>) =
            self.procedures.iter().enumerate().partition(statics);
        for (number, procedure) in inner.into_iter().chain(outer) {
            own.entry(&procedure.name).or_insert(number);
        }
        own
    }
}

/// A procedure by the places of its unit and in it.
type Place = (usize, usize);

/// The calls of a program, turned round.
pub struct Callers {
    of: FxHashMap<Place, Vec<Place>>,
}

impl Callers {
    /// Of units in their order.
    pub fn of(units: &[&UnitCalls]) -> Self {
        let mut globals: FxHashMap<&str, Place> = FxHashMap::default();
        for (unit, calls) in units.iter().enumerate() {
            for (number, procedure) in calls.procedures.iter().enumerate() {
                if !procedure.is_static {
                    // Of several (weak, inline) the first stands for all.
                    globals.entry(&procedure.name).or_insert((unit, number));
                }
            }
        }
        let mut of: FxHashMap<Place, Vec<Place>> = FxHashMap::default();
        for (unit, calls) in units.iter().enumerate() {
            let own = calls.own();
            let meant: Vec<Option<Place>> = calls
                .names
                .iter()
                .map(|name| match own.get(name.as_str()) {
                    Some(number) => Some((unit, *number)),
                    None => globals.get(name.as_str()).copied(),
                })
                .collect();
            for (number, procedure) in calls.procedures.iter().enumerate() {
                for callee in procedure.calls.iter().filter_map(|name| meant[*name as usize]) {
                    of.entry(callee).or_default().push((unit, number));
                }
            }
        }
        Self { of }
    }

    /// A shortest chain of calls to a procedure: from a root, or from wherever
    /// calls are last known by name.
    pub fn chain(&self, units: &[&UnitCalls], procedure: Place) -> Vec<String> {
        let known = |(unit, number): Place| units.get(unit)?.procedures.get(number);
        let mut next: FxHashMap<Place, Place> = FxHashMap::default();
        let mut seen = FxHashSet::from_iter([procedure]);
        let mut todo = VecDeque::from([procedure]);
        let mut first = procedure;
        while let Some(at) = todo.pop_front() {
            if known(at).is_some_and(|procedure| procedure.is_root) {
                first = at;
                break;
            }
            for caller in self.of.get(&at).into_iter().flatten() {
                if seen.insert(*caller) {
                    next.insert(*caller, at);
                    todo.push_back(*caller);
                }
            }
        }
        let mut places = vec![first];
        let mut at = first;
        while let Some(callee) = next.get(&at).filter(|_| at != procedure) {
            places.push(*callee);
            at = *callee;
        }
        let names = places.into_iter().filter_map(known);
        names.map(|procedure| procedure.name.clone()).collect()
    }
}
