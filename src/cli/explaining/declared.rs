//! What a line declares: variables and types, which are no nodes of a graph.

use super::Basis;
use super::code::Spot;
use crate::cfg::format::Place;
use crate::history::column::TestBits;
use crate::history::store::StoreError;
use crate::ids::Fingerprint;
use crate::select::EdgeReason;
use crate::select::culprit::by_name;
use crate::select::version::UnitVersion;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// What is declared on a line.
#[derive(Default)]
pub struct Declared {
    pub names: BTreeSet<String>,
    pub is_changed: bool,
    /// Whether both versions say something of one of them.
    pub is_known: bool,
    /// Tests that reach a use of a variable; of types it is not known where they are used.
    pub reached: Option<TestBits>,
}

impl Declared {
    /// Whether an edge leads elsewhere for what is declared here.
    pub fn is_behind(&self, edge: &EdgeReason) -> bool {
        self.names.iter().any(|name| edge.because.contains(&format!("`{name}`")))
    }
}

/// The names that a unit declares somewhere; `true` for variables that it defines.
fn declared(unit: &UnitVersion, is_meant: impl Fn(&str, Place) -> bool) -> Vec<(&str, bool)> {
    let index = &unit.index;
    let variables = index.definitions.iter().map(|definition| {
        (index.symbols[definition.symbol as usize].name.as_str(), true, definition.place)
    });
    let others = index.declarations.iter();
    let others = others.map(|declaration| (declaration.name.as_str(), false, declaration.place));
    let all = variables.chain(others).filter(|(name, _, _)| !name.is_empty());
    let meant = all.filter(|(name, _, place)| is_meant(name, *place));
    meant.map(|(name, is_variable, _)| (name, is_variable)).collect()
}

/// What a unit says of a name, wherever it stands.
fn says(unit: &UnitVersion, name: &str, is_variable: bool) -> BTreeSet<Fingerprint> {
    let index = &unit.index;
    match is_variable {
        true => {
            let all = index.definitions.iter();
            let all = all.filter(|d| index.symbols[d.symbol as usize].name == name);
            all.map(|definition| definition.fingerprint).collect()
        }
        false => by_name(&index.declarations).remove(name).unwrap_or_default(),
    }
}

impl Basis<'_> {
    /// What is declared on a line of the new version: the names that the text has there, or
    /// else whatever units say is there.
    pub(super) fn declared_on(
        &self,
        place: &Spot<'_>,
        names: &[String],
        outdated: &FxHashMap<Fingerprint, Option<String>>,
    ) -> Result<Declared, StoreError> {
        let mut found = Declared::default();
        let before: FxHashMap<_, &UnitVersion> =
            self.reached.units().map(|unit| (&unit.index.key, unit)).collect();
        let kept = self.reached.units().filter(|u| !outdated.contains_key(&u.fingerprint()));
        let units = kept.chain(self.selected.new_units()).filter(|unit| place.may_be_in(unit));
        let units: Vec<&UnitVersion> = units.collect();
        let mut variables: FxHashSet<&str> = FxHashSet::default();
        let by_name = |unit: &UnitVersion, name: &str, at: Place| {
            names.iter().any(|wanted| wanted == name) && place.is_in_file(unit, at)
        };
        let by_place = |unit: &UnitVersion, _: &str, at: Place| place.is_at(unit, at);
        for is_meant in [&by_name as &dyn Fn(&UnitVersion, &str, Place) -> bool, &by_place] {
            for unit in &units {
                let then = before.get(&unit.index.key).copied();
                // Where nothing but bodies changed, declarations are listed once.
                let listed = then.filter(|then| {
                    unit.index.declarations.is_empty() && then.index.outside == unit.index.outside
                });
                let all = declared(unit, |name, at| is_meant(unit, name, at)).into_iter();
                let as_before = listed.into_iter().flat_map(|then| {
                    let declared = declared(then, |name, at| is_meant(then, name, at));
                    declared.into_iter().filter(|(_, is_variable)| !is_variable)
                });
                for (name, is_variable) in all.chain(as_before) {
                    found.names.insert(name.to_string());
                    variables.extend(is_variable.then_some(name));
                    let then = then.map(|unit| says(unit, name, is_variable));
                    let now =
                        says(listed.filter(|_| !is_variable).unwrap_or(unit), name, is_variable);
                    let then = then.filter(|then| !then.is_empty());
                    found.is_known |= then.is_some();
                    found.is_changed |= then.is_some_and(|then| then != now);
                }
            }
            if !found.names.is_empty() {
                break;
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
