//! Which declaration makes two nodes of the same text differ.

use super::version::UnitVersion;
use crate::cfg::format::{Declaration, Node, Place};
use crate::frontend::lex::{self, Kind};
use crate::ids::{Fingerprint, ProcIx};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeSet, VecDeque};

/// Of more names nobody would know which is meant.
const MOST_NAMES: usize = 3;

/// Says which declaration changed that a node of a procedure depends on, the nearest first.
pub fn changed_declaration(
    (old, procedure): (&UnitVersion, ProcIx),
    (new, successor): (&UnitVersion, ProcIx),
    node: &Node,
) -> String {
    // Where nothing outside of bodies changed, it is something inside of this one.
    let inside = || {
        let own = own_names((old, procedure), (new, successor), node);
        let procedure = &old.procedure(procedure).name;
        match own.is_empty() || own.len() > MOST_NAMES {
            true => format!("a declaration inside of `{procedure}` changed"),
            false => declared_inside(&own, procedure),
        }
    };
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

/// What to say of variables, one of which is another one inside of a procedure.
pub fn declared_inside(names: &[String], procedure: &str) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("{} is declared otherwise inside of `{procedure}`", names.join(" or "))
}

/// Names in a node that may be variables of the procedure's own which are others now: no node
/// that means what it meant has them, and the unit declares nothing of that name outside.
/// Records do not say what the variables of a procedure are called.
fn own_names(
    (old, procedure): (&UnitVersion, ProcIx),
    (new, successor): (&UnitVersion, ProcIx),
    node: &Node,
) -> Vec<String> {
    let Some((before, after)) = old.graph(procedure).zip(new.graph(successor)) else {
        return Vec::new();
    };
    let labels: FxHashSet<Fingerprint> = after.nodes.iter().map(|node| node.label).collect();
    let same = before.nodes.iter().filter(|node| labels.contains(&node.label));
    let mut known: FxHashSet<String> = same.flat_map(|node| variables(&node.text)).collect();
    known.extend(old.index.declarations.iter().map(|declaration| declaration.name.clone()));
    known.extend(old.index.symbols.iter().map(|symbol| symbol.name.clone()));
    let mut found: Vec<String> = Vec::new();
    for name in variables(&node.text) {
        if !known.contains(&name) && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// Words of a text that may be variables: no keywords, and no fields or labels.
fn variables(text: &str) -> Vec<String> {
    let tokens = lex::lex(text.as_bytes());
    let part = |place: usize| {
        let token = &tokens.all[place];
        text.get(token.start as usize..token.end as usize).unwrap_or_default()
    };
    let words = tokens.all.iter().enumerate();
    let words = words.filter(|(_, token)| token.kind == Kind::Word && !token.name.is_keyword());
    let words = words.map(|(place, _)| place).filter(|place| {
        let before = place.checked_sub(1).map_or("", part);
        !matches!(before, "." | "->" | "goto" | "struct" | "union" | "enum")
            && !part(*place).starts_with("__")
    });
    words.map(|place| part(place).to_string()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_may_be_variables() {
        let text = "for (n = item->size * unit . size; n < sizeof (int); n ++) puts(\"a\")";
        assert_eq!(variables(text), ["n", "item", "unit", "n", "n", "puts"]);
        assert_eq!(variables("goto end"), [""; 0]);
    }
}
