//! Definitions that changed anywhere in an image: nodes that mention one
//! differ, whatever their text.

use super::version::ProgramVersion;
use crate::cfg::format::{Symbol, UnitKey};
use crate::ids::Fingerprint;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// A name with linkage: of the whole image, or of one unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Linked {
    External(String),
    Static(UnitKey, String),
}

fn linked(key: &UnitKey, symbol: &Symbol) -> Linked {
    if symbol.is_static {
        Linked::Static(key.clone(), symbol.name.clone())
    } else {
        Linked::External(symbol.name.clone())
    }
}

/// The names whose definition is another one in the new version, each with
/// what is to be said about it.
#[derive(Default)]
pub struct ChangedDefinitions(FxHashMap<Linked, String>);

/// All definitions of an image.
#[derive(Default)]
struct Definitions {
    /// What defines each name. Several for tentative and weak ones.
    by_name: FxHashMap<Linked, BTreeSet<Fingerprint>>,
    /// Units that define each procedure.
    definers: FxHashMap<Linked, BTreeSet<UnitKey>>,
    /// Where each is defined, for people.
    places: FxHashMap<Linked, String>,
    /// Which names occur in the initialiser of which.
    mentioned_by: FxHashMap<Linked, Vec<Linked>>,
}

impl Definitions {
    /// Whether a name means one certain procedure, or the same ones of several
    /// (weak, inline) as in `other`. One that moved is compared where it is.
    fn same_definers(&self, other: &Self, name: &Linked) -> bool {
        match (self.definers.get(name), other.definers.get(name)) {
            (Some(a), Some(b)) => a == b || (a.len() == 1 && b.len() == 1),
            _ => true,
        }
    }

    fn of(programs: &[&ProgramVersion]) -> Self {
        let mut found = Self::default();
        for unit in programs.iter().flat_map(|program| &program.units) {
            let key = &unit.index.key;
            for definition in &unit.index.definitions {
                let name = linked(key, &unit.index.symbols[definition.symbol as usize]);
                for mention in &definition.mentions {
                    let mention = linked(key, &unit.index.symbols[*mention as usize]);
                    found.mentioned_by.entry(mention).or_default().push(name.clone());
                }
                if definition.place.line > 0 {
                    let place =
                        format!("{}:{}", unit.file(definition.place), definition.place.line);
                    found.places.insert(name.clone(), place);
                }
                found.by_name.entry(name).or_default().insert(definition.fingerprint);
            }
            // A procedure's name stands for the procedure: it counts whether it
            // is there, not what it says.
            for procedure in &unit.index.procedures {
                let symbol =
                    Symbol { name: procedure.name.clone(), is_static: procedure.is_static };
                let name = linked(key, &symbol);
                found.by_name.entry(name.clone()).or_default();
                found.definers.entry(name).or_default().insert(key.clone());
            }
        }
        found
    }
}

impl ChangedDefinitions {
    /// Compares all programs of an image with their successors.
    pub fn between(old: &[&ProgramVersion], new: &[&ProgramVersion]) -> Self {
        let before = Definitions::of(old);
        let after = Definitions::of(new);
        let mut changed = FxHashMap::default();
        let mut todo: Vec<Linked> = Vec::new();
        let names: FxHashSet<&Linked> = before.by_name.keys().chain(after.by_name.keys()).collect();
        for name in names {
            let what = match (before.by_name.get(name), after.by_name.get(name)) {
                (Some(a), Some(b)) if a == b && before.same_definers(&after, name) => continue,
                (Some(_), Some(_)) => "has another definition",
                (Some(_), None) => "is no longer defined",
                (None, _) => "is now defined",
            };
            let place = after.places.get(name).or(before.places.get(name));
            let place = place.map_or_else(String::new, |place| format!(" ({place})"));
            changed.insert(name.clone(), format!("`{}` {what}{place}", name.name()));
            todo.push(name.clone());
        }
        // Whoever's initialiser mentions a changed name is changed too.
        while let Some(name) = todo.pop() {
            let because = format!("through `{}`", name.name());
            for definitions in [&before, &after] {
                for user in definitions.mentioned_by.get(&name).into_iter().flatten() {
                    if !changed.contains_key(user) {
                        changed.insert(
                            user.clone(),
                            format!("`{}` has another definition {because}", user.name()),
                        );
                        todo.push(user.clone());
                    }
                }
            }
        }
        Self(changed)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Names of the whole image whose definition changed, in order.
    pub fn external(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut names: Vec<(&str, &str)> = self
            .0
            .iter()
            .filter_map(|(name, what)| match name {
                Linked::External(name) => Some((name.as_str(), what.as_str())),
                Linked::Static(..) => None,
            })
            .collect();
        names.sort_unstable();
        names.into_iter()
    }

    /// What to say of a symbol of a unit, if its definition changed.
    pub fn of_symbol(&self, key: &UnitKey, symbol: &Symbol) -> Option<&str> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&linked(key, symbol)).map(String::as_str)
    }
}

impl Linked {
    fn name(&self) -> &str {
        match self {
            Self::External(name) | Self::Static(_, name) => name,
        }
    }
}
