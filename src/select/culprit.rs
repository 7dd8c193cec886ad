//! Which declaration makes two nodes of the same text differ.

use super::version::UnitVersion;
use crate::cfg::format::{Declaration, Node, Place};
use crate::ids::{Fingerprint, ProcIx};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeSet, VecDeque};

/// Says which declaration changed that a node of a procedure depends on, the nearest first.
pub fn changed_declaration(
    (old, procedure): (&UnitVersion, ProcIx),
    (new, successor): (&UnitVersion, ProcIx),
    node: &Node,
) -> String {
    // Where nothing outside of bodies changed, it is something inside of this one.
    let inside = || format!("a declaration inside of `{}` changed", old.procedure(procedure).name);
    if old.index.outside == new.index.outside {
        return inside();
    }
    let before = &old.index.declarations;
    let is_break = |c: char| !(c.is_alphanumeric() || c == '_');
    let words: FxHashSet<&str> = node.text.split(is_break).collect();
    let is_named = |declaration: &Declaration| {
        words.contains(declaration.name.as_str()) && !declaration.name.is_empty()
    };
    // The text of a node names its own variables, whose types it does not show.
    let own = Body::of(old, procedure);
    let is_own = |declaration: &Declaration| own.has(old, declaration);
    for is_first in [&is_named as &dyn Fn(&Declaration) -> bool, &is_own] {
        if let Some(found) = search(old, new, is_first) {
            return found;
        }
    }
    let said: FxHashSet<Fingerprint> =
        before.iter().filter(|d| is_own(d)).map(|declaration| declaration.says).collect();
    let body = Body::of(new, successor);
    let mut now = new.index.declarations.iter().filter(|declaration| body.has(new, declaration));
    match now.find(|declaration| !said.contains(&declaration.says)) {
        Some(other) => format!("{} ({}:{})", inside(), new.file(other.place), other.place.line),
        None => String::from("a declaration that it depends on changed"),
    }
}

/// Looks for a name that is declared otherwise, from some declarations on.
fn search(
    old: &UnitVersion,
    new: &UnitVersion,
    is_first: &dyn Fn(&Declaration) -> bool,
) -> Option<String> {
    let before = &old.index.declarations;
    let (says, after) = (by_name(before), by_name(&new.index.declarations));
    let first = before.iter().enumerate().filter(|(_, declaration)| is_first(declaration));
    let mut todo: VecDeque<u32> = first.map(|(index, _)| index as u32).collect();
    let mut seen: FxHashSet<u32> = todo.iter().copied().collect();
    while let Some(index) = todo.pop_front() {
        let Some(declaration) = before.get(index as usize) else { continue };
        let name = declaration.name.as_str();
        if !name.is_empty() && says.get(name) != after.get(name) {
            let now = new.index.declarations.iter().find(|d| d.name == name);
            let (unit, at) = now.map_or((old, declaration), |now| (new, now));
            return Some(format!(
                "`{name}` is declared otherwise ({}:{})",
                unit.file(at.place),
                at.place.line
            ));
        }
        todo.extend(declaration.refers.iter().filter(|target| seen.insert(**target)));
    }
    None
}

/// The lines of a procedure.
struct Body {
    from: Place,
    /// The line of the next procedure of the file.
    to: u32,
}

impl Body {
    fn of(unit: &UnitVersion, procedure: ProcIx) -> Self {
        let from = unit.procedure(procedure).place;
        let others = unit.index.procedures.iter().filter(|p| !p.is_nested).map(|p| p.place);
        let behind = others.filter(|place| place.file == from.file && place.line > from.line);
        let to = behind.map(|place| place.line).min().unwrap_or(u32::MAX);
        Self { from, to }
    }

    /// Whether a declaration is one of the procedure's own, which are listed without a name.
    fn has(&self, unit: &UnitVersion, declaration: &Declaration) -> bool {
        let place = declaration.place;
        declaration.name.is_empty()
            && unit.file(place) == unit.file(self.from)
            && (self.from.line..self.to).contains(&place.line)
    }
}

/// What is said of each name, in all name spaces together. A structure without a name is
/// part of whatever refers to it.
pub fn by_name(declarations: &[Declaration]) -> FxHashMap<&str, BTreeSet<Fingerprint>> {
    let mut found: FxHashMap<&str, BTreeSet<_>> = FxHashMap::default();
    for declaration in declarations.iter().filter(|declaration| !declaration.name.is_empty()) {
        let said = found.entry(&declaration.name).or_default();
        said.insert(declaration.says);
        let mut todo = declaration.refers.clone();
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        while let Some(target) = todo.pop() {
            let parts = declarations.get(target as usize).filter(|part| part.name.is_empty());
            if let Some(part) = parts.filter(|_| seen.insert(target)) {
                said.insert(part.says);
                todo.extend(&part.refers);
            }
        }
    }
    found
}
