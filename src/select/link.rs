//! What a link from archives may do: a name that is needed for the first time can
//! pull in a unit that the program did not have, and so can one that such a unit defines
//! for the first time; a name that is no longer needed can leave one out. From sources this
//! cannot be seen, only suspected.

use super::changes::ChangedDefinitions;
use super::program::{Comparison, NewProgram, Outside, empty_composition, pair_units};
use super::rule::Rule;
use super::version::{ProgramVersion, UnitVersion};
use rustc_hash::{FxHashMap, FxHashSet};

/// What a unit does with names of the image.
#[derive(Default)]
pub struct UnitNames<'n> {
    pub defines: FxHashSet<&'n str>,
    /// Those that it uses and does not define: a link takes in a member for them.
    pub needs: FxHashSet<&'n str>,
    /// Those that it may do without.
    pub weak: FxHashSet<&'n str>,
}

impl<'n> UnitNames<'n> {
    pub fn of(unit: &'n UnitVersion) -> Self {
        let defines: FxHashSet<&str> = names_defined(unit).collect();
        let (mut needs, mut weak) = (FxHashSet::default(), FxHashSet::default());
        for (number, symbol) in (0..).zip(&unit.index.symbols) {
            let name = symbol.name.as_str();
            if !symbol.is_static && !defines.contains(name) {
                let is_weak = unit.index.weak.binary_search(&number).is_ok();
                if is_weak { &mut weak } else { &mut needs }.insert(name);
            }
        }
        Self { defines, needs, weak }
    }
}

/// The units that names lead to from those that a link takes in whatever happens. `is_needed`
/// tells which names something else needs.
pub fn reached(
    units: &[UnitNames<'_>],
    is_root: &[bool],
    is_needed: impl Fn(&str) -> bool,
) -> Vec<bool> {
    let mut definers: FxHashMap<&str, usize> = FxHashMap::default();
    for (ix, unit) in units.iter().enumerate() {
        for name in &unit.defines {
            let first = definers.entry(name).or_insert(ix);
            if is_root[ix] && !is_root[*first] {
                *first = ix;
            }
        }
    }
    let is_first = |ix: usize| is_root[ix] || units[ix].defines.iter().any(|name| is_needed(name));
    let mut reached: Vec<bool> = (0..units.len()).map(is_first).collect();
    let mut todo: Vec<usize> = (0..units.len()).filter(|ix| reached[*ix]).collect();
    while let Some(ix) = todo.pop() {
        for definer in units[ix].needs.iter().filter_map(|name| definers.get(name)) {
            if !std::mem::replace(&mut reached[*definer], true) {
                todo.push(*definer);
            }
        }
    }
    reached
}

/// Units of a program that names may have led to and do so no more: for each unit of the old
/// version with its successor, whether it is one.
pub fn left_out(
    old: &[UnitNames<'_>],
    new: &[UnitNames<'_>],
    is_member: &[bool],
    successors: &[Option<usize>],
    is_needed: impl Fn(&str) -> bool,
) -> Vec<bool> {
    let is_main = |unit: &UnitNames<'_>| unit.defines.contains("main");
    let mut is_root: Vec<bool> =
        old.iter().zip(is_member).map(|(unit, is_member)| !is_member || is_main(unit)).collect();
    let before = reached(old, &is_root, &is_needed);
    // What is in the program is there for some reason.
    is_root.iter_mut().zip(&before).for_each(|(is_root, reached)| *is_root |= !reached);
    let mut is_root_now = vec![true; new.len()];
    for (successor, is_root) in successors.iter().zip(&is_root) {
        successor.iter().for_each(|successor| is_root_now[*successor] = *is_root);
    }
    let after = reached(new, &is_root_now, &is_needed);
    let is_left = |successor: &Option<usize>| successor.is_some_and(|ix| !after[ix]);
    successors.iter().map(is_left).collect()
}

/// Why the set of units in a program may be another one, if so.
pub fn changes_of_membership(
    comparison: &Comparison,
    new: &ProgramVersion,
    changed: &ChangedDefinitions,
    outside: &dyn Outside,
) -> Vec<(Rule, String)> {
    let old = &comparison.old;
    let successors = pair_units(old, new);
    let successors: Vec<Option<usize>> = successors.iter().map(|ix| ix.map(|ix| ix.ix())).collect();
    let [before, after] = [old, new].map(|program| -> Vec<UnitNames<'_>> {
        program.units.iter().map(|unit| UnitNames::of(unit)).collect()
    });
    let offers = |name: &str| old.archives.offer(name) || new.archives.offer(name);
    let defined: FxHashSet<&str> = after.iter().flat_map(|unit| &unit.defines).copied().collect();
    let needed_before: FxHashSet<&str> =
        before.iter().flat_map(|unit| &unit.needs).copied().collect();
    let weak_before: FxHashSet<&str> = before.iter().flat_map(|unit| &unit.weak).copied().collect();
    let mut found = Vec::new();
    let mut predecessors: Vec<Option<&UnitNames<'_>>> = vec![None; after.len()];
    for (unit, successor) in before.iter().zip(&successors) {
        successor.iter().for_each(|ix| predecessors[*ix] = Some(unit));
    }
    let fresh = after.iter().zip(&predecessors).flat_map(|(unit, predecessor)| {
        let was_weak = |name: &&&str| predecessor.is_some_and(|then| then.weak.contains(**name));
        unit.needs.iter().chain(unit.weak.iter().filter(move |name| !was_weak(name)))
    });
    let fresh = fresh.filter(|name| !needed_before.contains(**name) && !defined.contains(**name));
    let fresh = fresh.filter(|name| {
        let is_there = || outside.provides(comparison, name);
        !is_the_compilers(name) && (offers(name) || weak_before.contains(**name) || !is_there())
    });
    if let Some(name) = fresh.min() {
        let what = match weak_before.contains(name) {
            true => format!("it needs `{name}` now, which it only used if it was there"),
            false => format!("it uses `{name}` now, which was no part of it"),
        };
        found.push((Rule::Link, what));
    }
    let used_now =
        |name: &str| after.iter().any(|unit| unit.needs.contains(name) || unit.weak.contains(name));
    let lost = before.iter().flat_map(|unit| &unit.defines);
    let lost = lost.filter(|name| !defined.contains(**name) && used_now(name));
    if let Some(name) = lost.min() {
        let what = format!("it uses `{name}`, which none of its sources defines any more");
        found.push((Rule::Link, what));
    }
    // A member without a record may do anything by itself.
    let needed_now = |name: &str| after.iter().any(|unit| unit.needs.contains(name));
    let dropped = needed_before.iter().filter(|name| old.archives.offer(name) && !needed_now(name));
    if let Some(name) = dropped.min().filter(|_| old.is_whole && new.is_whole) {
        let what = format!("it needs `{name}` no more, and a link may leave it out");
        found.push((Rule::Link, what));
    }
    // Of a name without a value and one with it, a link takes the one with it.
    let is_member = |unit: &UnitVersion| {
        let id = unit.index.key.id();
        [&old.archives, &new.archives].iter().any(|a| a.members.binary_search(&id).is_ok())
    };
    let doubles = changed.external().map(|(name, _)| name).filter(|name| {
        let holders =
            new.units.iter().zip(&after).filter(|(_, names)| names.defines.contains(name));
        let holders: Vec<&UnitVersion> = holders.map(|(unit, _)| &**unit).collect();
        match holders.len() {
            0 => false,
            1 => offers(name),
            _ => holders.iter().any(|unit| is_member(unit)),
        }
    });
    if let Some(name) = doubles.min() {
        let what = format!("another definition of `{name}` than before may be linked");
        found.push((Rule::Link, what));
    }
    found.extend(members_left_out(comparison, new, (&before, &after), &successors, outside));
    found
}

/// Members that a link may leave out now, where something notices.
fn members_left_out(
    comparison: &Comparison,
    new: &ProgramVersion,
    (before, after): (&[UnitNames<'_>], &[UnitNames<'_>]),
    successors: &[Option<usize>],
    outside: &dyn Outside,
) -> Vec<(Rule, String)> {
    let old = &comparison.old;
    if !(old.is_whole && new.is_whole) {
        return Vec::new();
    }
    let is_member =
        |unit: &UnitVersion| old.archives.members.binary_search(&unit.index.key.id()).is_ok();
    let is_member: Vec<bool> = old.units.iter().map(|unit| is_member(unit)).collect();
    let needs = |name: &str| old.outside_names.binary_search_by(|n| n.as_str().cmp(name)).is_ok();
    let left = left_out(before, after, &is_member, successors, needs);
    let mut found = Vec::new();
    for (unit, names) in
        old.units.iter().zip(before).zip(&left).filter(|(_, l)| **l).map(|(u, _)| u)
    {
        let source = &unit.index.key.source;
        let is_weak = |name: &&&str| after.iter().any(|unit| unit.weak.contains(**name));
        let is_used = |name: &&&str| is_weak(name) || outside.uses(comparison, name);
        if unit.index.composition != empty_composition() {
            let what = format!("nothing uses {source} any more, which acts on the whole program");
            found.push((Rule::Link, what));
        } else if let Some(name) = names.defines.iter().filter(is_used).min() {
            let what =
                format!("nothing needs {source} any more, so that a link may leave out `{name}`");
            found.push((Rule::Link, what));
        }
    }
    found
}

/// A unit that changed, seen from programs that do not have it.
struct Beside<'c> {
    now: &'c UnitVersion,
    /// Names that it did not define before, or may not have.
    newly: Vec<&'c str>,
}

/// Programs that may have a unit more, by their places, each with the reason: the unit
/// is part of another program, and defines a name now that this one takes from elsewhere.
/// A link that comes to it first in an archive takes it from there.
pub fn joined(comparisons: &[Comparison], outside: &dyn Outside) -> Vec<(usize, String)> {
    let beside: Vec<Beside<'_>> = comparisons.iter().flat_map(changed_units).collect();
    let mut found = Vec::new();
    for (number, comparison) in comparisons.iter().enumerate() {
        let NewProgram::Version(new) = &comparison.new else { continue };
        let mentioned: FxHashSet<&str> =
            new.units.iter().flat_map(|unit| names_mentioned(unit)).collect();
        let why = beside.iter().find_map(|unit| {
            let Beside { now, newly } = unit;
            if new.units.iter().any(|own| own.index.key == now.index.key) {
                return None;
            }
            let source = &now.index.key.source;
            // Not all units are read: what a library has, the program may use.
            let takes = |name: &&&str| {
                mentioned.contains(**name)
                    || outside.uses(comparison, name)
                    || outside.provides(comparison, name)
            };
            let name = newly.iter().find(takes)?;
            Some(format!("{source} defines `{name}` now, and a link may take it from there"))
        });
        found.extend(why.map(|why| (number, why)));
    }
    found
}

/// Units of a program that are not what they were and that a link may take from an
/// archive: what has a `main` stays away from other programs.
fn changed_units(comparison: &Comparison) -> Vec<Beside<'_>> {
    let NewProgram::Version(new) = &comparison.new else { return Vec::new() };
    let old = &comparison.old;
    let mut then: FxHashMap<usize, &UnitVersion> = FxHashMap::default();
    for (unit, successor) in old.units.iter().zip(pair_units(old, new)) {
        then.extend(successor.map(|successor| (successor.ix(), &**unit)));
    }
    let mut found = Vec::new();
    for (ix, now) in new.units.iter().enumerate() {
        let then = then.get(&ix);
        // One that is weak, which nothing but its composition tells, gives way to another.
        let has_main = now.defines("main") && now.index.composition == empty_composition();
        if has_main || then.is_some_and(|then| then.fingerprint() == now.fingerprint()) {
            continue;
        }
        let before: FxHashSet<&str> =
            then.iter().flat_map(|unit| names_defined(unit).chain(names_acting(unit))).collect();
        let after = names_defined(now).chain(names_acting(now));
        let newly: Vec<&str> = after.filter(|name| !before.contains(name)).collect();
        if !newly.is_empty() {
            found.push(Beside { now, newly });
        }
    }
    found
}

/// What asm and the like name, which may define it.
fn names_acting(unit: &UnitVersion) -> impl Iterator<Item = &str> {
    let symbol = |number: u32| &unit.index.symbols[number as usize];
    let acting = unit.index.definitions.iter().filter(|definition| definition.acts);
    let named = acting.flat_map(|definition| &definition.mentions).map(move |n| symbol(*n));
    named.filter(|symbol| !symbol.is_static).map(|symbol| symbol.name.as_str())
}

/// Names of the image that a unit uses or defines.
fn names_mentioned(unit: &UnitVersion) -> impl Iterator<Item = &str> {
    let symbols = unit.index.symbols.iter().filter(|symbol| !symbol.is_static);
    names_defined(unit).chain(symbols.map(|symbol| symbol.name.as_str()))
}

/// Names that other units may take from a unit.
pub fn names_defined(unit: &UnitVersion) -> impl Iterator<Item = &str> {
    let procedures = unit.index.procedures.iter().filter(|p| !p.is_static);
    let variables = unit.index.definitions.iter().map(|d| &unit.index.symbols[d.symbol as usize]);
    let variables = variables.filter(|symbol| !symbol.is_static);
    procedures.map(|p| p.name.as_str()).chain(variables.map(|symbol| symbol.name.as_str()))
}

/// Names that the compiler itself gives a meaning.
fn is_the_compilers(name: &str) -> bool {
    ["__builtin_", "__sync_", "__atomic_", "__c11_atomic_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
        || ["__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"].contains(&name)
}
