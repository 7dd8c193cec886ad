//! References that an edit may bring into an object, or take out of it, while its source names the same
//! as before. A compiler leaves out what nothing uses and what no way leads to: static functions, branches
//! on constants. A link takes in a member of an archive for what the object refers to, not for what
//! the source names.

use super::version::UnitVersion;
use crate::cfg::format::Graph;
use crate::ids::Fingerprint;
use rustc_hash::{FxHashMap, FxHashSet};

/// A procedure or variable of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Part<'n> {
    name: &'n str,
    is_procedure: bool,
}

/// What both versions of a unit say together.
#[derive(Default)]
struct Parts<'n> {
    mentions: FxHashMap<Part<'n>, Vec<&'n str>>,
    mentioned_by: FxHashMap<&'n str, Vec<Part<'n>>>,
    by_name: FxHashMap<&'n str, Vec<Part<'n>>>,
    local: FxHashSet<&'n str>,
}

impl<'n> Parts<'n> {
    /// Adds a version; what its parts are.
    fn add(&mut self, unit: &'n UnitVersion) -> FxHashMap<Part<'n>, Vec<Fingerprint>> {
        let symbols = &unit.index.symbols;
        let mut parts: FxHashMap<Part<'n>, Vec<Fingerprint>> = FxHashMap::default();
        let procedures = unit.index.procedures.iter().map(|procedure| {
            let part = Part { name: procedure.name.as_str(), is_procedure: true };
            (part, procedure.is_static, procedure.fingerprint, &procedure.mentions)
        });
        let variables = unit.index.definitions.iter().map(|definition| {
            let symbol = &symbols[definition.symbol as usize];
            let part = Part { name: symbol.name.as_str(), is_procedure: false };
            (part, symbol.is_static, definition.fingerprint, &definition.mentions)
        });
        for (part, is_static, fingerprint, mentions) in procedures.chain(variables) {
            parts.entry(part).or_default().push(fingerprint);
            self.by_name.entry(part.name).or_default().push(part);
            if is_static {
                self.local.insert(part.name);
            }
            for symbol in mentions {
                let name = symbols[*symbol as usize].name.as_str();
                self.mentions.entry(part).or_default().push(name);
                self.mentioned_by.entry(name).or_default().push(part);
            }
        }
        parts
    }

    /// The parts that mention a static part of these, also by way of other static parts.
    fn with_users(&self, parts: &FxHashSet<Part<'n>>) -> FxHashSet<Part<'n>> {
        let mut found = parts.clone();
        let mut todo: Vec<Part<'n>> = parts.iter().copied().collect();
        while let Some(part) = todo.pop() {
            if !self.local.contains(part.name) {
                continue;
            }
            for user in self.mentioned_by.get(part.name).into_iter().flatten() {
                if found.insert(*user) {
                    todo.push(*user);
                }
            }
        }
        found
    }

    /// These and all that they mention, of the unit.
    fn with_used(&self, parts: FxHashSet<Part<'n>>) -> FxHashSet<Part<'n>> {
        let mut todo: Vec<Part<'n>> = parts.iter().copied().collect();
        let mut found = parts;
        while let Some(part) = todo.pop() {
            let names = self.mentions.get(&part).into_iter().flatten();
            for used in names.filter_map(|name| self.by_name.get(name)).flatten() {
                if found.insert(*used) {
                    todo.push(*used);
                }
            }
        }
        found
    }
}

/// Names that a unit mentions before and after a change, and that its object may refer to in one of both
/// alone: something changed that has a part in whether a mention counts.
pub fn unsure<'n>(then: &'n UnitVersion, now: &'n UnitVersion) -> FxHashSet<&'n str> {
    if then.fingerprint() == now.fingerprint() {
        return FxHashSet::default();
    }
    let mut parts = Parts::default();
    let (before, after) = (parts.add(then), parts.add(now));
    let all = before.keys().chain(after.keys()).copied();
    let mut changed: FxHashSet<Part<'_>> = match then.index.how == now.index.how {
        true => all.filter(|part| before.get(part) != after.get(part)).collect(),
        false => all.collect(),
    };
    // Who writes to a static variable decides whether it is constant.
    let written = changed.iter().filter_map(|part| parts.mentions.get(part)).flatten();
    let written = written.filter(|name| parts.local.contains(**name));
    let written: Vec<Part<'_>> =
        written.filter_map(|name| parts.by_name.get(name)).flatten().copied().collect();
    changed.extend(written.into_iter().filter(|part| !part.is_procedure));
    let touched = parts.with_used(parts.with_users(&changed));
    let touched = touched.iter().filter_map(|part| parts.mentions.get(part)).flatten();
    let mut found: FxHashSet<&str> = touched.copied().collect();
    if !found.is_empty() {
        let sure = [then, now].map(surely_called);
        found.retain(|name| !sure.iter().all(|sure| sure.contains(name)));
    }
    found
}

/// Names that functions call which the object has in any case, before anything decides over the way.
fn surely_called(unit: &UnitVersion) -> FxHashSet<&str> {
    let mut found = FxHashSet::default();
    for (procedure, graph) in unit.index.procedures.iter().zip(unit.graphs()) {
        let signature = &graph.node(Graph::ENTRY).text;
        // A compiler may leave out what is static or inline.
        let may_be_left_out = procedure.is_static
            || procedure.is_nested
            || procedure.opaque.is_some()
            || signature.contains("inline")
            || signature.ends_with('…');
        if may_be_left_out {
            continue;
        }
        let is_own = |symbol: &u32| {
            let name = &unit.index.symbols[*symbol as usize].name;
            unit.index.procedures.iter().any(|procedure| procedure.name == *name)
        };
        let mut at = Graph::ENTRY;
        for _ in 0..graph.nodes.len() {
            let mut ways = graph.out_edges(at);
            let (Some((_, way)), None) = (ways.next(), ways.next()) else { break };
            at = way.to;
            let node = graph.node(at);
            // The compiler may know of a function of the unit that it does not return.
            if !node.calls_are_certain || node.calls.iter().any(is_own) {
                break;
            }
            let names =
                node.calls.iter().map(|call| unit.index.symbols[*call as usize].name.as_str());
            found.extend(names);
        }
    }
    found
}
