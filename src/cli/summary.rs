//! What is known of units and of built programs without reading their records.

use crate::cfg::format::UnitIndex;
use crate::compiler::text::stamp::Stamp;
use crate::compiler::unit::Unit;
use crate::history::format::Program;
use crate::ids::{Fingerprint, FpHasher};
use crate::select::link::UnitNames;
use crate::select::version::UnitVersion;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Default, Serialize, Deserialize)]
pub struct Summaries {
    /// By the fingerprint of the unit; see [`variant`].
    units: FxHashMap<Fingerprint, UnitSummary>,
    /// By the path relative to the root.
    programs: FxHashMap<String, ProgramSummary>,
    /// Names of files that units are made of.
    files: Vec<String>,
    #[serde(skip)]
    numbers: FxHashMap<String, u32>,
    #[serde(skip)]
    is_new: bool,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct UnitSummary {
    pub fingerprint: Fingerprint,
    pub source: String,
    pub compiler: String,
    /// [`crate::cfg::format::UnitKey::id`]
    pub key: Fingerprint,
    /// Stands for the unit's key and its command.
    pub command: Fingerprint,
    /// The files it reads, by their numbers.
    files: Vec<u32>,
    /// All names with external linkage that it defines or mentions, a line each.
    pub names: String,
    /// Those of them that it defines, and that it may do without.
    pub defines: String,
    pub weak: String,
    /// It acts on a program without being named.
    pub acts: bool,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct ProgramSummary {
    stamp: Stamp,
    /// What went into it without a record.
    inputs: Vec<(PathBuf, Option<Stamp>)>,
    pub now: Program,
}

impl Summaries {
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    pub fn unit(&self, id: Fingerprint) -> Option<&UnitSummary> {
        self.units.get(&id)
    }

    pub fn files_of(&self, unit: &UnitSummary) -> impl Iterator<Item = &String> {
        unit.files.iter().filter_map(|number| self.files.get(*number as usize))
    }

    pub fn add_unit(&mut self, id: Fingerprint, unit: &UnitVersion) {
        let command = Unit::of_index(&unit.index).command_id();
        if self.units.get(&id).is_some_and(|known| known.command == command) {
            return;
        }
        if self.numbers.is_empty() {
            self.numbers = self.files.iter().cloned().zip(0..).collect();
        }
        let index = &unit.index;
        let files = files_read(index).map(|file| {
            let next = self.numbers.len() as u32;
            *self.numbers.entry(file.clone()).or_insert_with(|| {
                self.files.push(file.clone());
                next
            })
        });
        let files = files.collect();
        let mut names: Vec<&str> = external_names(index).collect();
        names.sort_unstable();
        names.dedup();
        let own = UnitNames::of(unit);
        let summary = UnitSummary {
            fingerprint: unit.fingerprint(),
            source: index.key.source.clone(),
            key: index.key.id(),
            compiler: index.command.compiler.clone(),
            command,
            files,
            names: names.join("\n"),
            defines: listed(own.defines),
            weak: listed(own.weak),
            acts: index.composition != crate::select::program::empty_composition(),
        };
        self.units.insert(id, summary);
        self.is_new = true;
    }

    /// A program as it lies there, if it is the one that was read.
    pub fn program(&self, path: &str, stamp: Option<Stamp>) -> Option<&ProgramSummary> {
        let known = self.programs.get(path)?;
        let are_known = known.now.units.iter().all(|unit| self.units.contains_key(unit));
        let is_same = |(path, stamp): &(PathBuf, Option<Stamp>)| Stamp::of(path) == *stamp;
        (Some(known.stamp) == stamp && are_known && known.inputs.iter().all(is_same))
            .then_some(known)
    }

    pub fn add_program(
        &mut self,
        path: &str,
        stamp: Stamp,
        inputs: Vec<(PathBuf, Option<Stamp>)>,
        now: &Program,
    ) {
        let summary = ProgramSummary { stamp, inputs, now: now.clone() };
        self.programs.insert(path.to_string(), summary);
        self.is_new = true;
    }

    /// Forgets which units programs have.
    pub fn forget_programs(&mut self) {
        self.programs.clear();
        self.is_new = true;
    }

    /// Forgets units that are of no use any more, if there are many.
    pub fn retain(&mut self, keep: impl Fn(Fingerprint) -> bool) {
        let wanted = self.units.keys().filter(|id| keep(**id)).count();
        if self.units.len() > 4 * wanted + 100 {
            let built: Vec<Fingerprint> =
                self.programs.values().flat_map(|program| program.now.units.clone()).collect();
            self.units.retain(|id, _| keep(*id) || built.contains(id));
            self.is_new = true;
        }
    }
}

impl UnitSummary {
    pub fn link_names(&self) -> UnitNames<'_> {
        let defines: FxHashSet<&str> = self.defines.lines().collect();
        let weak: FxHashSet<&str> = self.weak.lines().collect();
        let is_needed = |name: &&str| !defines.contains(name) && !weak.contains(name);
        let needs = self.names.lines().filter(is_needed).collect();
        UnitNames { defines, needs, weak }
    }
}

/// Names, a line each.
fn listed(names: FxHashSet<&str>) -> String {
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_unstable();
    names.join("\n")
}

/// What a unit goes by whose text is that of the history, but not its command:
/// what differs in the command may make a difference later.
pub fn variant(unit: &UnitVersion) -> Fingerprint {
    let mut hasher = FpHasher::new("variant");
    hasher.fp(&unit.fingerprint());
    hasher.fp(&Unit::of_index(&unit.index).command_id());
    hasher.finish()
}

/// Files that the preprocessor read for a unit.
pub fn files_read(index: &UnitIndex) -> impl Iterator<Item = &String> {
    let files = (0..).zip(&index.files);
    files.filter(|(number, _)| !index.only_named.contains(number)).map(|(_, file)| file)
}

/// Names with external linkage that a unit defines or mentions.
pub fn external_names(index: &UnitIndex) -> impl Iterator<Item = &str> {
    let symbols = index.symbols.iter().filter(|symbol| !symbol.is_static);
    let procedures = index.procedures.iter().filter(|procedure| !procedure.is_static);
    symbols.map(|s| s.name.as_str()).chain(procedures.map(|p| p.name.as_str()))
}
