//! Who calls whom by name, for telling how a procedure is reached from a root.

use crate::cfg::format::UnitIndex;
use crate::ids::{Fingerprint, ProcIx, TestId};
use crate::trace::derive::EdgeBits;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// How many calls are looked at for one chain, before the procedure stands alone.
const MOST_CALLS: usize = 300;

/// Answers how a procedure is reached. Only what is asked for has to be read.
pub trait Calls {
    /// Names of procedures from a root of a program to one of its procedures, by calls that
    /// a test came to, or from wherever these are last known. Without a test, by what the
    /// program says.
    fn chain(
        &self,
        program: &str,
        unit: Fingerprint,
        procedure: ProcIx,
        way: Option<&Way<'_>>,
    ) -> Vec<String>;

    /// Tests that ran a unit, by a program with it that they ran.
    fn programs(&self, unit: Fingerprint, tests: &[TestId]) -> Vec<(String, Vec<TestId>)>;
}

/// What one test did.
pub struct Way<'w> {
    pub test: TestId,
    /// What it took of a procedure; none if it did not enter it.
    pub took: &'w dyn Fn(Fingerprint, ProcIx) -> Option<EdgeBits>,
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
    /// Whether every number is in range; false only for what was tampered with.
    pub fn is_sound(&self) -> bool {
        let mut calls = self.procedures.iter().flat_map(|procedure| &procedure.calls);
        calls.all(|name| (*name as usize) < self.names.len())
    }

    pub fn has(&self, procedure: ProcIx) -> bool {
        procedure.ix() < self.procedures.len()
    }

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
pub type Place = (usize, usize);

/// The calls of a program, turned round.
pub struct Callers {
    of: FxHashMap<Place, Vec<Place>>,
    /// How many calls lead at least from a root to each procedure that any lead to by name.
    depths: FxHashMap<Place, usize>,
}

/// Calls that lead to a procedure, as far as a search came.
pub enum Found {
    /// From a root on.
    FromRoot(Vec<String>),
    /// From where nobody calls by name any more.
    FromWithin(Vec<String>),
    /// There are too many.
    Nothing,
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
        let mut meant: Vec<Vec<Option<Place>>> = Vec::new();
        for (unit, calls) in units.iter().enumerate() {
            let own = calls.own();
            let names = calls.names.iter().map(|name| match own.get(name.as_str()) {
                Some(number) => Some((unit, *number)),
                None => globals.get(name.as_str()).copied(),
            });
            let names: Vec<Option<Place>> = names.collect();
            for (number, procedure) in calls.procedures.iter().enumerate() {
                for callee in procedure.calls.iter().filter_map(|name| names[*name as usize]) {
                    of.entry(callee).or_default().push((unit, number));
                }
            }
            meant.push(names);
        }
        Self { of, depths: depths(units, &meant) }
    }

    /// A shortest chain of calls to a procedure that a test came to, which `is_step` tells for
    /// a caller and whom it calls. Who is nearest to a root is asked first.
    pub fn taken(
        &self,
        units: &[&UnitCalls],
        procedure: Place,
        is_step: &mut dyn FnMut(Place, Place) -> bool,
    ) -> Found {
        let known = |(unit, number): Place| units.get(unit)?.procedures.get(number);
        // One that no root leads to by name comes behind all others.
        let far = |at: &Place| self.depths.get(at).copied().unwrap_or(usize::MAX / 2);
        let mut next: FxHashMap<Place, Place> = FxHashMap::default();
        let mut settled = Vec::new();
        let mut todo = BinaryHeap::from([Reverse((0, Reverse(0), 0, procedure, procedure))]);
        let (mut pushed, mut asked) = (0, 0);
        while let Some(Reverse((_, Reverse(calls), _, at, callee))) = todo.pop() {
            if next.contains_key(&at) {
                continue;
            }
            if at != procedure {
                if asked == MOST_CALLS {
                    return Found::Nothing;
                }
                asked += 1;
                if !is_step(at, callee) {
                    continue;
                }
            }
            next.insert(at, callee);
            settled.push(at);
            if known(at).is_some_and(|procedure| procedure.is_root) {
                return Found::FromRoot(names(units, &next, at, procedure));
            }
            for caller in self.of.get(&at).into_iter().flatten() {
                if !next.contains_key(caller) {
                    pushed += 1;
                    let length = calls + 1 + far(caller);
                    // Of chains that promise the same the one that is nearly there goes on.
                    todo.push(Reverse((length, Reverse(calls + 1), pushed, *caller, at)));
                }
            }
        }
        let called: FxHashSet<Place> =
            settled.iter().filter(|at| **at != procedure).map(|at| next[at]).collect();
        let first = settled.into_iter().find(|at| !called.contains(at)).unwrap_or(procedure);
        Found::FromWithin(names(units, &next, first, procedure))
    }

    /// The name of a procedure.
    pub fn name<'u>(units: &[&'u UnitCalls], (unit, number): Place) -> &'u str {
        let procedure = units.get(unit).and_then(|unit| unit.procedures.get(number));
        procedure.map_or("", |procedure| procedure.name.as_str())
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
        names(units, &next, first, procedure)
    }
}

/// The procedures from one on, each with whom it calls, to another.
fn names(
    units: &[&UnitCalls],
    next: &FxHashMap<Place, Place>,
    first: Place,
    last: Place,
) -> Vec<String> {
    let mut places = vec![first];
    let mut at = first;
    while let Some(callee) = next.get(&at).filter(|_| at != last) {
        places.push(*callee);
        at = *callee;
    }
    places.into_iter().map(|place| Callers::name(units, place).to_string()).collect()
}

/// How far procedures are from a root, where names in each unit mean these.
fn depths(units: &[&UnitCalls], meant: &[Vec<Option<Place>>]) -> FxHashMap<Place, usize> {
    let places = units.iter().enumerate().flat_map(|(unit, calls)| {
        let roots = calls.procedures.iter().enumerate().filter(|(_, p)| p.is_root);
        roots.map(move |(number, _)| (unit, number))
    });
    let mut todo: VecDeque<(Place, usize)> = places.map(|root| (root, 0)).collect();
    let mut depths: FxHashMap<Place, usize> = todo.iter().copied().collect();
    while let Some(((unit, number), depth)) = todo.pop_front() {
        let calls = &units[unit].procedures[number].calls;
        for callee in calls.iter().filter_map(|name| meant[unit][*name as usize]) {
            depths.entry(callee).or_insert_with(|| {
                todo.push_back((callee, depth + 1));
                depth + 1
            });
        }
    }
    depths
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A unit of procedures with whom each calls.
    fn unit(procedures: &[(&str, &[&str])]) -> UnitCalls {
        let names: Vec<String> = procedures.iter().map(|(name, _)| name.to_string()).collect();
        let place = |name: &&str| names.iter().position(|own| own == name).unwrap() as u32;
        let procedures = procedures.iter().map(|(name, calls)| ProcedureCalls {
            name: name.to_string(),
            is_static: false,
            is_root: *name == "main",
            calls: calls.iter().map(place).collect(),
        });
        UnitCalls { procedures: procedures.collect(), names: names.clone() }
    }

    /// The chain to `f` through procedures that were entered.
    fn chain(unit: &UnitCalls, entered: &[&str]) -> String {
        let units = [unit];
        let f = unit.procedures.iter().position(|procedure| procedure.name == "f").unwrap();
        let mut is_step = |caller: Place, _| entered.contains(&Callers::name(&units, caller));
        match Callers::of(&units).taken(&units, (0, f), &mut is_step) {
            Found::FromRoot(chain) => chain.join(" > "),
            Found::FromWithin(chain) => format!("… > {}", chain.join(" > ")),
            Found::Nothing => String::from("nothing"),
        }
    }

    #[test]
    fn calls_lead_through_what_was_entered() {
        let unit = unit(&[
            ("main", &["f", "a", "b"]),
            ("a", &["f"]),
            ("b", &["c"]),
            ("c", &["f"]),
            ("f", &[]),
        ]);
        assert_eq!(chain(&unit, &["main", "a", "b", "c"]), "main > f");
        assert_eq!(chain(&unit, &["a", "b", "c"]), "… > a > f");
        assert_eq!(chain(&unit, &[]), "… > f");
    }

    #[test]
    fn one_that_is_called_by_a_pointer_is_where_a_chain_begins() {
        let unit = unit(&[
            ("main", &["other"]),
            ("other", &["f"]),
            ("command", &["g"]),
            ("g", &["f", "g"]),
            ("f", &["g"]),
        ]);
        assert_eq!(chain(&unit, &["main", "command", "g", "f"]), "… > command > g > f");
    }

    #[test]
    fn a_search_that_goes_on_and_on_is_given_up() {
        let callers: Vec<String> = (0..1000).map(|number| format!("caller{number}")).collect();
        let callers: Vec<&str> = callers.iter().map(String::as_str).collect();
        let mut all: Vec<(&str, &[&str])> = vec![("main", &callers), ("f", &[])];
        all.extend(callers.iter().map(|name| (*name, &["f"] as &[&str])));
        assert_eq!(chain(&unit(&all), &["main"]), "nothing");
        assert_eq!(chain(&unit(&all), &["main", "caller7"]), "main > caller7 > f");
    }
}
