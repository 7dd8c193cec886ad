//! What a link from archives may do: a name that is used for the first time can
//! pull in a unit that the program did not have, and a name that is no longer
//! used can leave one out. From sources this cannot be seen, only suspected.

use super::program::{Comparison, Outside, empty_composition};
use super::rule::Rule;
use super::version::{ProgramVersion, UnitVersion};
use rustc_hash::FxHashSet;

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

/// Names that other units may take from a unit.
pub(super) fn names_defined(unit: &UnitVersion) -> impl Iterator<Item = &str> {
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
