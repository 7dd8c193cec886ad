//! What a line declares: variables and types, which are no nodes of a graph.

use super::Basis;
use super::code::Spot;
use crate::history::column::TestBits;
use crate::history::store::StoreError;
use crate::ids::Fingerprint;
use crate::select::EdgeReason;
use crate::select::version::UnitVersion;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// What is declared on a line.
#[derive(Default)]
pub struct Declared {
    pub names: BTreeSet<String>,
    pub is_changed: bool,
    /// Tests that reach a use of a variable; of types it is not known where they are used.
    pub reached: Option<TestBits>,
}

impl Declared {
    /// Whether an edge leads elsewhere for what is declared here.
    pub fn is_behind(&self, edge: &EdgeReason) -> bool {
        self.names.iter().any(|name| edge.because.contains(&format!("`{name}`")))
    }
}

/// The names that a unit declares on a line, with what they say. `true` for variables
/// that it defines.
fn declared<'u>(
    unit: &'u UnitVersion,
    place: &Spot<'_>,
) -> impl Iterator<Item = (&'u str, bool, Fingerprint)> {
    let index = &unit.index;
    let is_here = |at: crate::cfg::format::Place| place.is_at(unit, at);
    let variables = index.definitions.iter().filter(|d| is_here(d.place)).map(|definition| {
        (index.symbols[definition.symbol as usize].name.as_str(), true, definition.fingerprint)
    });
    let others = index.declarations.iter().filter(|d| is_here(d.place));
    let others = others.map(|declaration| (declaration.name.as_str(), false, declaration.says));
    variables.chain(others).collect::<Vec<_>>().into_iter()
}

/// What a unit says of a name, wherever it stands.
fn says(unit: &UnitVersion, name: &str, is_variable: bool) -> Option<Fingerprint> {
    let index = &unit.index;
    match is_variable {
        true => {
            let mut all = index.definitions.iter();
            let found = all.find(|d| index.symbols[d.symbol as usize].name == name)?;
            Some(found.fingerprint)
        }
        false => Some(index.declarations.iter().find(|d| d.name == name)?.says),
    }
}

impl Basis<'_> {
    /// What stands on a line of the new version without being code.
    pub(super) fn declared_on(
        &self,
        place: &Spot<'_>,
        outdated: &FxHashMap<Fingerprint, Option<String>>,
    ) -> Result<Declared, StoreError> {
        let mut found = Declared::default();
        let before: FxHashMap<_, &UnitVersion> =
            self.reached.units().map(|unit| (&unit.index.key, unit)).collect();
        let kept = self.reached.units().filter(|u| !outdated.contains_key(&u.fingerprint()));
        let units = kept.chain(self.selected.new_units()).filter(|unit| place.may_be_in(unit));
        let mut variables: FxHashSet<&str> = FxHashSet::default();
        for unit in units {
            for (name, is_variable, now) in declared(unit, place) {
                found.names.insert(name.to_string());
                variables.extend(is_variable.then_some(name));
                let then = before.get(&unit.index.key);
                let then = then.and_then(|unit| says(unit, name, is_variable));
                found.is_changed |= then.is_some_and(|then| then != now);
            }
        }
        if variables.is_empty() {
            return Ok(found);
        }
        let mut reached = self.reached.nobody();
        let names = |unit: &UnitVersion, mentions: &[u32]| {
            let mut symbols = mentions.iter().map(|m| &unit.index.symbols[*m as usize]);
            symbols.any(|symbol| variables.contains(symbol.name.as_str()))
        };
        self.reached.each::<StoreError>(
            |unit, index| names(unit, &index.mentions),
            |procedure| {
                let (nodes, _) = procedure.nodes_and_edges();
                let all = procedure.graph.nodes.iter().zip(nodes);
                for (_, tests) in all.filter(|(n, _)| names(procedure.unit, &n.mentions)) {
                    reached |= tests;
                }
                Ok(())
            },
        )?;
        found.reached = Some(reached);
        Ok(found)
    }
}
