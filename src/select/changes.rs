//! Definitions that changed anywhere in an image: nodes that mention one
//! differ, whatever their text.

use super::exclude::Excluded;
use super::version::{ProgramVersion, UnitVersion};
use crate::cfg::format::{Symbol, UnitKey};
use crate::ids::Fingerprint;
use crate::trace::module::Binding;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

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
pub struct ChangedDefinitions {
    what: FxHashMap<Linked, Changed>,
    /// The first of those that can be found by their name while the program runs.
    looked_up: Option<Linked>,
    /// Definitions were not compared, because a source does not parse.
    is_unknown: bool,
}

struct Changed {
    what: String,
    /// Nothing but excluded code changed it.
    is_excluded: bool,
}

/// What defines a name in one program, in the order of its units: of several
/// (tentative, weak, inline) the linker takes one by their order.
#[derive(Default)]
struct Held<'p> {
    variables: Vec<Fingerprint>,
    procedures: Vec<&'p UnitKey>,
    /// The units that define it, where that makes a difference.
    bound: Vec<&'p UnitKey>,
}

impl Held<'_> {
    /// Whether a name means the same as in `other`. One certain procedure that moved
    /// is compared where it is.
    fn is_same(&self, other: &Self) -> bool {
        let moved = self.procedures.len() == 1 && other.procedures.len() == 1;
        self.variables == other.variables
            && self.bound == other.bound
            && (moved || self.procedures == other.procedures)
    }
}

/// All definitions of an image.
#[derive(Default)]
struct Definitions<'p> {
    /// What defines each name, by the path of the program that holds it: which one
    /// is meant hangs on who asks.
    by_name: FxHashMap<Linked, BTreeMap<&'p str, Held<'p>>>,
    /// Where each is defined, for people.
    places: FxHashMap<Linked, String>,
    /// Which names occur in the initialiser of which.
    mentioned_by: FxHashMap<Linked, Vec<Linked>>,
    /// Programs that show no name to those who look for it.
    closed: FxHashSet<&'p str>,
    /// Names of which some definition is not in excluded code.
    outside: FxHashSet<Linked>,
}

impl<'p> Definitions<'p> {
    fn of(programs: &[&'p ProgramVersion], excluded: Option<Excluded<'_>>) -> Self {
        let mut found = Self::default();
        for program in programs {
            if program.binding == Binding::Closed {
                found.closed.insert(&program.path);
            }
            program.units.iter().for_each(|unit| found.add(program, unit, excluded));
        }
        found
    }

    fn add(
        &mut self,
        program: &'p ProgramVersion,
        unit: &'p UnitVersion,
        excluded: Option<Excluded<'_>>,
    ) {
        let key = &unit.index.key;
        for definition in &unit.index.definitions {
            let name = linked(key, &unit.index.symbols[definition.symbol as usize]);
            for mention in &definition.mentions {
                let mention = linked(key, &unit.index.symbols[*mention as usize]);
                self.mentioned_by.entry(mention).or_default().push(name.clone());
            }
            let file = unit.file(definition.place);
            let within = definition.within;
            let within = within.and_then(|(at, _)| unit.index.procedures.get(at as usize));
            let within = within.map(|procedure| procedure.name.as_str());
            if !excluded.is_some_and(|e| e.holds_definition(file, within)) {
                self.outside.insert(name.clone());
            }
            if definition.place.line > 0 {
                let place = format!("{file}:{}", definition.place.line);
                self.places.insert(name.clone(), place);
            }
            self.held(name, program, key).variables.push(definition.fingerprint);
        }
        // A procedure's name stands for the procedure: it counts whether it
        // is there, not what it says.
        for procedure in &unit.index.procedures {
            let symbol = Symbol { name: procedure.name.clone(), is_static: procedure.is_static };
            let name = linked(key, &symbol);
            if !excluded.is_some_and(|e| e.holds(unit.file(procedure.place), &procedure.name)) {
                self.outside.insert(name.clone());
            }
            self.held(name, program, key).procedures.push(key);
        }
    }

    fn held(
        &mut self,
        name: Linked,
        program: &'p ProgramVersion,
        key: &'p UnitKey,
    ) -> &mut Held<'p> {
        let is_bound = program.is_wrapped(name.name());
        let held = self.by_name.entry(name).or_default().entry(&program.path).or_default();
        held.bound.extend(is_bound.then_some(key));
        held
    }

    /// Whether a program has a name that can be found while it runs.
    fn is_shown(&self, name: &Linked) -> bool {
        let mut holders = self.by_name.get(name).into_iter().flat_map(BTreeMap::keys);
        matches!(name, Linked::External(_)) && holders.any(|holder| !self.closed.contains(holder))
    }

    /// Whether a name means in all programs what it means in `other`.
    fn is_same(&self, other: &Self, name: &Linked) -> bool {
        let (Some(a), Some(b)) = (self.by_name.get(name), other.by_name.get(name)) else {
            return false;
        };
        let is_same = |program: &str, held: &Held<'_>| {
            b.get(program).is_some_and(|other| held.is_same(other))
        };
        a.len() == b.len() && a.iter().all(|(program, held)| is_same(program, held))
    }
}

const ANOTHER: &str = "has another definition";

/// The procedure and the name of a variable that a procedure keeps, `procedure.name#1`.
fn own_variable(name: &str) -> Option<(&str, &str)> {
    let (name, number) = name.rsplit_once('#')?;
    number.parse::<u32>().ok()?;
    name.split_once('.')
}

/// A name for people.
fn told(name: &str) -> String {
    match own_variable(name) {
        Some((procedure, variable)) => format!("`{variable}` inside of `{procedure}`"),
        None => format!("`{name}`"),
    }
}

impl ChangedDefinitions {
    /// For a program with a source that does not parse: which names it defines is not known.
    pub fn unknown() -> Self {
        Self { is_unknown: true, ..Self::default() }
    }

    pub fn is_unknown(&self) -> bool {
        self.is_unknown
    }

    /// Compares all programs of an image with their successors.
    pub fn between(
        old: &[&ProgramVersion],
        new: &[&ProgramVersion],
        excluded: Option<Excluded<'_>>,
    ) -> Self {
        let before = Definitions::of(old, excluded);
        let after = Definitions::of(new, excluded);
        let mut changed: FxHashMap<Linked, Changed> = FxHashMap::default();
        let (mut outside, mut inside): (Vec<Linked>, Vec<Linked>) = (Vec::new(), Vec::new());
        let names: FxHashSet<&Linked> = before.by_name.keys().chain(after.by_name.keys()).collect();
        for name in names {
            let what = match (before.by_name.get(name), after.by_name.get(name)) {
                _ if before.is_same(&after, name) => continue,
                (Some(_), Some(_)) => ANOTHER,
                (Some(_), None) => "is no longer defined",
                (None, _) => "is now defined",
            };
            let place = after.places.get(name).or(before.places.get(name));
            let place = place.map_or_else(String::new, |place| format!(" ({place})"));
            let what = match own_variable(name.name()) {
                Some((procedure, variable)) if what == ANOTHER => {
                    format!("`{variable}` is declared otherwise inside of `{procedure}`")
                }
                _ => format!("{} {what}{place}", told(name.name())),
            };
            let is_excluded = !before.outside.contains(name) && !after.outside.contains(name);
            changed.insert(name.clone(), Changed { what, is_excluded });
            if is_excluded { &mut inside } else { &mut outside }.push(name.clone());
        }
        // Whoever's initialiser mentions a changed name is changed too.
        for (mut todo, is_excluded) in [(outside, false), (inside, true)] {
            while let Some(name) = todo.pop() {
                for definitions in [&before, &after] {
                    for user in definitions.mentioned_by.get(&name).into_iter().flatten() {
                        let is_new = match changed.get_mut(user) {
                            None => true,
                            Some(known) => known.is_excluded && !is_excluded,
                        };
                        if is_new {
                            let (user_name, name) = (told(user.name()), told(name.name()));
                            let what = format!("{user_name} {ANOTHER} through {name}");
                            changed.insert(user.clone(), Changed { what, is_excluded });
                            todo.push(user.clone());
                        }
                    }
                }
            }
        }
        let is_shown = |name: &&Linked| before.is_shown(name) || after.is_shown(name);
        let looked_up = changed.keys().filter(is_shown).min().cloned();
        Self { what: changed, looked_up, is_unknown: false }
    }

    pub fn is_empty(&self) -> bool {
        self.what.is_empty()
    }

    /// What to say of a change that who looks up names may find, if there is one.
    pub fn seen_by_look_up(&self) -> Option<&str> {
        self.what.get(self.looked_up.as_ref()?).map(|changed| changed.what.as_str())
    }

    /// Names of the whole image whose definition changed, in order.
    pub fn external(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut names: Vec<(&str, &str)> = self
            .what
            .iter()
            .filter_map(|(name, changed)| match name {
                Linked::External(name) => Some((name.as_str(), changed.what.as_str())),
                Linked::Static(..) => None,
            })
            .collect();
        names.sort_unstable();
        names.into_iter()
    }

    /// What to say of a symbol of a unit, if its definition changed.
    pub fn of_symbol(&self, key: &UnitKey, symbol: &Symbol) -> Option<&str> {
        if self.what.is_empty() {
            return None;
        }
        self.what.get(&linked(key, symbol)).map(|changed| changed.what.as_str())
    }

    /// Whether nothing but excluded code changed the definition of a symbol, if it
    /// changed.
    pub fn is_excluded(&self, key: &UnitKey, symbol: &Symbol) -> Option<bool> {
        self.what.get(&linked(key, symbol)).map(|changed| changed.is_excluded)
    }
}

impl Linked {
    fn name(&self) -> &str {
        match self {
            Self::External(name) | Self::Static(_, name) => name,
        }
    }
}
