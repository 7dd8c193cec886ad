//! Which declaration makes two nodes of the same text differ.

use super::version::UnitVersion;
use crate::cfg::format::{Declaration, Node};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeSet, VecDeque};

/// Says which declaration changed that a node depends on, the nearest first.
pub fn changed_declaration(old: &UnitVersion, new: &UnitVersion, node: &Node) -> Option<String> {
    let unknown = || Some(String::from("a declaration that it depends on changed"));
    if old.index.outside == new.index.outside {
        return unknown();
    }
    let before = &old.index.declarations;
    let after = by_name(&new.index.declarations);
    let says = by_name(before);
    let is_break = |c: char| !(c.is_alphanumeric() || c == '_');
    let words: FxHashSet<&str> = node.text.split(is_break).collect();
    let mut todo: VecDeque<u32> = VecDeque::new();
    for (index, declaration) in before.iter().enumerate() {
        if words.contains(declaration.name.as_str()) && !declaration.name.is_empty() {
            todo.push_back(index as u32);
        }
    }
    let mut seen: FxHashSet<u32> = todo.iter().copied().collect();
    while let Some(index) = todo.pop_front() {
        let declaration = before.get(index as usize)?;
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
    unknown()
}

/// What is said of each name, in all name spaces together.
fn by_name(declarations: &[Declaration]) -> FxHashMap<&str, BTreeSet<crate::ids::Fingerprint>> {
    let mut found: FxHashMap<&str, BTreeSet<_>> = FxHashMap::default();
    for declaration in declarations {
        found.entry(&declaration.name).or_default().insert(declaration.says);
    }
    found
}
