//! What a link from archives may do: a name that is used for the first time can
//! pull in a unit that the program did not have, and so can one that such a unit defines
//! for the first time; a name that is no longer used can leave one out. From sources this
//! cannot be seen, only suspected.

use super::program::{Comparison, NewProgram, Outside, empty_composition, pair_units};
use super::rule::Rule;
use super::version::{ProgramVersion, UnitVersion};
use rustc_hash::{FxHashMap, FxHashSet};

/// Why the set of units in a program may be another one, if so.
pub fn changes_of_membership(
    comparison: &Comparison,
    new: &ProgramVersion,
    outside: &dyn Outside,
) -> Vec<(Rule, String)> {
    let mut found = Vec::new();
    let used_before = names_used(&comparison.old);
    let used_now = names_used(new);
    let defined: FxHashSet<&str> = new.units.iter().flat_map(|unit| names_defined(unit)).collect();
    let mut fresh: Vec<&&str> = used_now
        .iter()
        .filter(|name| !used_before.contains(**name) && !defined.contains(**name))
        .filter(|name| !is_the_compilers(name) && !outside.knows(comparison, name))
        .collect();
    fresh.sort_unstable();
    if let Some(name) = fresh.first() {
        found.push((Rule::Link, format!("it uses `{name}` now, which was no part of it")));
    }
    let lost = comparison.old.units.iter().flat_map(|unit| names_defined(unit));
    let lost = lost.filter(|name| used_now.contains(name) && !defined.contains(name));
    if let Some(name) = lost.min() {
        let what = format!("it uses `{name}`, which none of its sources defines any more");
        found.push((Rule::Link, what));
    }
    for unit in &comparison.old.units {
        // Only a unit that acts without being called is missed by nobody.
        if unit.index.composition == empty_composition() {
            continue;
        }
        let mut names = names_defined(unit).filter(|name| used_before.contains(name)).peekable();
        if names.peek().is_some() && names.all(|name| !used_now.contains(name)) {
            let source = &unit.index.key.source;
            let what = format!("nothing uses {source} any more, which acts on the whole program");
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
            let takes =
                |name: &&&str| mentioned.contains(**name) || outside.knows(comparison, name);
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

/// Names of the image that a unit uses without defining them.
fn names_used(program: &ProgramVersion) -> FxHashSet<&str> {
    let mut used = FxHashSet::default();
    for unit in &program.units {
        let own: FxHashSet<&str> = names_defined(unit).collect();
        let symbols = unit.index.symbols.iter().filter(|symbol| !symbol.is_static);
        used.extend(symbols.map(|symbol| symbol.name.as_str()).filter(|name| !own.contains(name)));
    }
    used
}

/// Names that the compiler itself gives a meaning.
fn is_the_compilers(name: &str) -> bool {
    ["__builtin_", "__sync_", "__atomic_"].iter().any(|prefix| name.starts_with(prefix))
        || ["__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"].contains(&name)
}
