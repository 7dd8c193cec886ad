//! Changes that no test is known to reach: they select nobody, and whoever reads about a
//! change wants to know of them all the same.

use super::matrix::Matrix;
use super::program::{ComparedPair, Comparison, NewProgram, pair_units, unparsed};
use super::rule::Rule;
use super::version::{ProgramVersion, UnitVersion};
use crate::cfg::format::{Place, ProcedureIndex, UnitIndex};
use crate::ids::{Fingerprint, ProcIx};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// What is not reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A procedure that no test entered.
    Procedure,
    /// A way in a procedure that tests enter.
    Way,
    /// A procedure that nothing uses which a test runs.
    NewProcedure,
    /// The same of a variable that is new or has another definition.
    Variable,
}

/// A change that no test is known to reach.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unreached {
    pub file: String,
    /// Lines of the new version; none where code is gone.
    pub lines: BTreeSet<u32>,
    pub name: String,
    pub kind: Kind,
}

/// All of them, each once, in order. `pairs` are all that changed.
pub fn find(
    comparisons: &[Comparison],
    pairs: &[ComparedPair],
    matrix: &dyn Matrix,
) -> Vec<Unreached> {
    let reach = Reach::of(comparisons, matrix);
    let mut found: BTreeMap<(String, String, Kind), BTreeSet<u32>> = BTreeMap::new();
    let mut tested: FxHashSet<(&str, &str, u32)> = FxHashSet::default();
    for pair in pairs.iter().filter(|pair| !pair.is_excluded) {
        for (reason, tests) in &pair.dangers {
            let line = reason.new.as_ref().unwrap_or(&reason.old);
            let is_gone = reason.new.is_none();
            if !tests.is_empty() {
                tested.insert((&line.file, &reason.procedure, line.line));
            } else if reason.by != Rule::Flags && !reach.newly.contains(reason.procedure.as_str()) {
                let old = &comparisons[pair.comparison].old;
                let file = old.unit(pair.old.unit).file(old.procedure(pair.old).place);
                let is_entered = reach.entered.contains(&(file, reason.procedure.as_str()));
                let kind = if is_entered { Kind::Way } else { Kind::Procedure };
                let key = (line.file.clone(), reason.procedure.clone(), kind);
                let lines = found.entry(key).or_default();
                lines.extend((!is_gone).then_some(line.line));
            }
        }
    }
    // What is in several programs, or in several units of one, is reached in one of them.
    found.retain(|(file, name, _), lines| {
        let had_lines = !lines.is_empty();
        lines.retain(|line| !tested.contains(&(file.as_str(), name.as_str(), *line)));
        !had_lines || !lines.is_empty()
    });
    let is_unused = |name: &str| !reach.newly.contains(name) && !reach.used.contains(name);
    for fresh in reach.fresh.iter().filter(|fresh| is_unused(fresh.name)) {
        let key = (fresh.file.to_string(), fresh.name.to_string(), fresh.kind);
        found.entry(key).or_default().insert(fresh.line);
    }
    let found = found.into_iter();
    let found = found.map(|((file, name, kind), lines)| Unreached { file, lines, name, kind });
    let mut found: Vec<Unreached> = found.collect();
    found.sort_unstable();
    found
}

/// A procedure or variable of the new version that the old one does not have as it is.
struct Fresh<'c> {
    file: &'c str,
    line: u32,
    name: &'c str,
    kind: Kind,
}

/// Procedures that are new, and variables that are new or other ones.
fn fresh(comparisons: &[Comparison]) -> Vec<Fresh<'_>> {
    let mut procedures: FxHashSet<(&str, &str)> = FxHashSet::default();
    let mut variables: FxHashSet<(&str, Fingerprint)> = FxHashSet::default();
    for unit in comparisons.iter().flat_map(|comparison| &comparison.old.units) {
        let index = &unit.index;
        procedures.extend(index.procedures.iter().map(|p| (unit.file(p.place), p.name.as_str())));
        variables
            .extend(index.definitions.iter().map(|d| (symbol(index, d.symbol), d.fingerprint)));
    }
    let mut fresh = Vec::new();
    for (old, new) in versions(comparisons) {
        let unparsed = unparsed(old, new);
        for unit in new.units.iter().filter(|unit| !unparsed.contains(&unit.index.key)) {
            let (index, place) = (&unit.index, |place: Place| (unit.file(place), place.line));
            for procedure in &index.procedures {
                let ((file, line), name) = (place(procedure.place), procedure.name.as_str());
                let runs_by_itself = procedure.is_constructor || name == "main";
                if !runs_by_itself && !procedures.contains(&(file, name)) {
                    fresh.push(Fresh { file, line, name, kind: Kind::NewProcedure });
                }
            }
            for definition in index.definitions.iter().filter(|d| !d.acts && d.within.is_none()) {
                let ((file, line), name) =
                    (place(definition.place), symbol(index, definition.symbol));
                if line > 0 && !variables.contains(&(name, definition.fingerprint)) {
                    fresh.push(Fresh { file, line, name, kind: Kind::Variable });
                }
            }
        }
    }
    fresh
}

/// What tests come to, and may come to now.
#[derive(Default)]
struct Reach<'c> {
    fresh: Vec<Fresh<'c>>,
    /// Procedures of changed units that tests entered, by file and name.
    entered: FxHashSet<(&'c str, &'c str)>,
    /// Names that stand in procedures which tests entered, or in initialisers.
    used: FxHashSet<&'c str>,
    /// Names that code which tests enter did not mention before, and whatever these lead to: a
    /// run may come there for the first time.
    newly: FxHashSet<&'c str>,
}

impl<'c> Reach<'c> {
    fn of(comparisons: &'c [Comparison], matrix: &dyn Matrix) -> Self {
        let mut reach = Self { fresh: fresh(comparisons), ..Self::default() };
        let wanted: FxHashSet<&str> = reach.fresh.iter().map(|fresh| fresh.name).collect();
        let mut todo: Vec<&str> = Vec::new();
        for (old, new) in versions(comparisons) {
            let successors = pair_units(old, new);
            for (unit, successor) in old.units.iter().zip(successors) {
                let successor = successor.map(|at| new.unit(at));
                let is_same = successor.is_some_and(|s| s.fingerprint() == unit.fingerprint());
                for (number, index) in unit.index.procedures.iter().enumerate() {
                    let before: FxHashSet<&str> = names(&unit.index, &index.mentions).collect();
                    // Of a unit that is as it was, only who uses what is new counts.
                    if is_same && before.is_disjoint(&wanted) {
                        continue;
                    }
                    let (at, edges) = (ProcIx::new(number), index.edge_count as usize);
                    if matrix.rows(unit.fingerprint(), at, edges).is_empty() {
                        continue;
                    }
                    reach.entered.insert((unit.file(index.place), &index.name));
                    for name in mentioned_now(index, successor, new) {
                        reach.used.insert(name);
                        if !before.contains(name) {
                            todo.push(name);
                        }
                    }
                }
            }
        }
        // By name, what the procedures of the new version mention.
        let mut mentions: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
        for unit in versions(comparisons).flat_map(|(_, new)| &new.units) {
            for index in &unit.index.procedures {
                mentions
                    .entry(&index.name)
                    .or_default()
                    .extend(names(&unit.index, &index.mentions));
            }
            let initialisers = unit.index.definitions.iter();
            reach.used.extend(initialisers.flat_map(|d| names(&unit.index, &d.mentions)));
        }
        while let Some(name) = todo.pop() {
            if reach.newly.insert(name) {
                todo.extend(mentions.get(name).into_iter().flatten());
            }
        }
        reach
    }
}

/// Programs with their successors, where these are known.
fn versions(
    comparisons: &[Comparison],
) -> impl Iterator<Item = (&ProgramVersion, &ProgramVersion)> {
    comparisons.iter().filter_map(|comparison| match &comparison.new {
        NewProgram::Version(new) => Some((&comparison.old, new)),
        NewProgram::Unknown(_) => None,
    })
}

/// What stands in the new version of a procedure.
fn mentioned_now<'c>(
    old: &ProcedureIndex,
    successor: Option<&'c UnitVersion>,
    new: &'c ProgramVersion,
) -> Vec<&'c str> {
    let own = successor.and_then(|s| Some((s, s.named(&old.name, old.is_static)?)));
    let elsewhere = || {
        let at = new.global(&old.name).filter(|_| !old.is_static)?;
        Some((new.unit(at.unit), at.procedure))
    };
    let now = own.or_else(elsewhere);
    now.map_or_else(Vec::new, |(unit, at)| {
        names(&unit.index, &unit.procedure(at).mentions).collect()
    })
}

fn symbol(index: &UnitIndex, symbol: u32) -> &str {
    &index.symbols[symbol as usize].name
}

fn names<'u>(index: &'u UnitIndex, symbols: &'u [u32]) -> impl Iterator<Item = &'u str> + use<'u> {
    symbols.iter().map(|at| symbol(index, *at))
}
