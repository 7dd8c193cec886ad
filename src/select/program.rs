//! All programs against their successors: what selects whoever ran one of them.

use super::algorithm::Algorithm;
use super::callers::Calls;
use super::changes::ChangedDefinitions;
use super::exclude::{self, Edits, Excluded, Exclusion, PassedOver};
use super::link;
use super::matrix::Matrix;
use super::pairs::PairGraph;
use super::procedures::ProgramSelection;
use super::reason::{self, EdgeReason, Reason};
use super::rule::Rule;
use super::unreached::{self, Unreached};
use super::version::{ProcRef, ProgramVersion, UnitVersion};
use super::walk::Status;
use crate::cfg::format::{UnitIndex, UnitKey};
use crate::history::carry::EntityMap;
use crate::ids::{Fingerprint, ProcIx, TestId, UnitIx};
use crate::trace::module::LOOK_UPS;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// A program of the history and what became of it.
pub struct Comparison {
    pub old: ProgramVersion,
    pub new: NewProgram,
    /// Tests that ran it, in order.
    pub tests: Vec<TestId>,
    /// What was edited since then; needed only where code is excluded.
    pub edits: Edits,
}

pub enum NewProgram {
    Version(ProgramVersion),
    /// Nothing is known of it, for this reason.
    Unknown(String),
}

/// How to compare.
#[derive(Clone, Copy)]
pub struct Options<'o> {
    pub algorithm: Algorithm,
    /// A changed line number alone is a change.
    pub strict_lines: bool,
    pub exclusion: &'o dyn Exclusion,
    pub calls: &'o dyn Calls,
    /// Tests that are asked about: where several are selected for an edge, calls are told as
    /// one of these came there.
    pub asked: &'o [TestId],
    /// Whether it is to be said what can run after the changes.
    pub wants_affected: bool,
    /// Whether all changed procedures are compared, to be shown: also where that
    /// selects nobody who is not selected already.
    pub wants_pairs: bool,
    /// Whether it is to be said which changes no test is known to reach.
    pub wants_unreached: bool,
}

/// What was looked at, counted.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Statistics {
    pub procedures_analysed: usize,
    pub pairs_visited: usize,
    pub dangerous_edges: usize,
    pub multiply_visited_procedures: usize,
    /// Nodes that differ by nothing but line numbers, which did not count.
    pub line_numbers_only: usize,
}

/// The tests to run, with their reasons, and the map for those that are not.
#[derive(Default)]
pub struct Outcome {
    pub selected: BTreeMap<TestId, Vec<Reason>>,
    /// Changes in excluded code, which selected nobody.
    pub passed_over: Vec<PassedOver>,
    pub map: EntityMap,
    pub statistics: Statistics,
    /// The proctables: pairs of procedures that the walks opened, in order.
    pub analysed: Vec<Analysed>,
    /// Dangerous edges as found, for those who want to see them.
    pub dangerous: Vec<EdgeReason>,
    /// For units of the new version, the procedures that can run after a change; none
    /// if that may be all of them.
    pub affected: FxHashMap<Fingerprint, Option<BTreeSet<ProcIx>>>,
    /// The pairs of procedures that were compared, if these are wanted.
    pub pairs: Vec<ComparedPair>,
    /// What no test is known to reach, if that is wanted.
    pub unreached: Vec<Unreached>,
}

/// A pair of procedures with its intersection graph.
pub struct ComparedPair {
    /// Its place among the comparisons.
    pub comparison: usize,
    pub old: ProcRef,
    pub new: ProcRef,
    pub graph: PairGraph,
    /// For each rejected edge, why it is, and the tests behind it.
    pub dangers: Vec<(EdgeReason, Vec<TestId>)>,
    pub is_excluded: bool,
}

/// A pair of procedures that a walk opened, with its final status.
#[derive(Clone, Debug, Serialize)]
pub struct Analysed {
    pub program: String,
    pub procedure: String,
    pub status: Status,
    /// Some node had more than one counterpart.
    pub multiply_visited: bool,
}

/// What is known about the world around the programs.
pub trait Outside {
    /// Whether code that is not analysed, in a process of this program, may use a name
    /// that the program defines.
    fn uses(&self, program: &Comparison, name: &str) -> bool;

    /// Whether such code may define a name that the program uses, and is there already.
    fn provides(&self, program: &Comparison, name: &str) -> bool;

    /// Whether such code, in a process of a test, looks up names while it runs.
    fn looks_up(&self, test: TestId) -> bool;
}

/// Compares all programs of a history with their successors.
pub fn compare(
    comparisons: &[Comparison],
    matrix: &dyn Matrix,
    outside: &dyn Outside,
    options: Options<'_>,
) -> Outcome {
    let mut outcome = Outcome::default();
    for (number, comparison) in comparisons.iter().enumerate() {
        let new = match &comparison.new {
            NewProgram::Version(new) => new,
            NewProgram::Unknown(what) => {
                outcome.select_all(comparison, Rule::UnknownProgram, what);
                continue;
            }
        };
        let changed = changed_definitions(comparisons, comparison, options.exclusion);
        let mut wholes = whole_program_changes(&comparison.old, new);
        // What a source defines and uses that does not parse is not known: all else that seems
        // to have changed may follow from that.
        let is_unparsed = wholes.iter().any(|(rule, _)| *rule == Rule::Unparsed);
        if !is_unparsed {
            wholes.extend(changes_seen_outside(comparison, &changed, outside));
            wholes.extend(link::changes_of_membership(comparison, new, &changed, outside));
        }
        for (by, what) in &wholes {
            outcome.select_all(comparison, *by, what);
        }
        if options.algorithm == Algorithm::File && is_changed(comparisons, comparison) {
            let what = "a file that it is made of changed";
            outcome.select_all(comparison, Rule::ChangedFile, what);
        }
        let is_selected = !wholes.is_empty();
        if let Some(what) = changed.seen_by_look_up().filter(|_| !is_unparsed) {
            outcome.select_those_who_look_up(comparison, what, outside);
        }
        let mut program =
            ProgramSelection::new(comparison, new, matrix, &changed, options, &mut outcome);
        if !is_selected {
            program.run();
        }
        program.add_to_map();
        if options.wants_affected {
            program.add_affected(is_selected);
        }
        if options.wants_pairs || options.wants_unreached {
            match is_unparsed {
                false => program.keep_pairs(number),
                // All tests of the program are selected. Definitions are left out of what is shown.
                true => {
                    let unknown = ChangedDefinitions::unknown();
                    ProgramSelection::new(comparison, new, matrix, &unknown, options, &mut outcome)
                        .keep_pairs(number);
                }
            }
        }
    }
    if options.wants_unreached {
        outcome.unreached = unreached::find(comparisons, &outcome.pairs, matrix);
    }
    exclude::select_doubtful(comparisons, options.exclusion, &mut outcome);
    for (test, reasons) in &mut outcome.selected {
        reason::keep_own(reasons, |path| {
            let mut ran = comparisons.iter().filter(|comparison| comparison.old.path == path);
            ran.any(|comparison| comparison.tests.binary_search(test).is_ok())
        });
        reason::keep_once(reasons);
    }
    outcome
}

impl Outcome {
    pub(super) fn select(&mut self, test: TestId, reason: Reason) {
        self.selected.entry(test).or_default().push(reason);
    }

    pub(super) fn select_all(&mut self, comparison: &Comparison, by: Rule, what: &str) {
        for test in &comparison.tests {
            let program = comparison.old.path.clone();
            self.select(*test, Reason::Program { program, what: what.to_string(), by });
        }
    }

    /// Selects tests in whose processes code without graphs looks up names: it
    /// may be any that changed.
    fn select_those_who_look_up(
        &mut self,
        comparison: &Comparison,
        what: &str,
        outside: &dyn Outside,
    ) {
        for test in comparison.tests.iter().filter(|test| outside.looks_up(**test)) {
            let program = comparison.old.path.clone();
            let what = format!("{what}, and code that is not analysed looks up names");
            let by = Rule::UnanalysedCode;
            self.select(*test, Reason::Program { program, what, by });
        }
    }
}

/// Programs that may be part of an image with this one, and it: those that some
/// test ran beside it, and of two executables never both.
fn image<'c>(
    comparisons: &'c [Comparison],
    this: &'c Comparison,
) -> impl Iterator<Item = &'c Comparison> {
    comparisons.iter().filter(move |other| {
        std::ptr::eq(*other, this)
            || !(this.old.is_executable() && other.old.is_executable())
                && ran_together(&this.tests, &other.tests)
    })
}

/// Whether two lists of tests, in order, have one in common.
fn ran_together(some: &[TestId], others: &[TestId]) -> bool {
    let (few, many) = if some.len() < others.len() { (some, others) } else { (others, some) };
    few.iter().any(|test| many.binary_search(test).is_ok())
}

/// Changed definitions of the images that a program may be part of.
fn changed_definitions(
    comparisons: &[Comparison],
    this: &Comparison,
    exclusion: &dyn Exclusion,
) -> ChangedDefinitions {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for program in image(comparisons, this) {
        before.push(&program.old);
        if let NewProgram::Version(new) = &program.new {
            after.push(new);
        }
    }
    let excluded = Excluded { exclusion, edits: &this.edits };
    ChangedDefinitions::between(&before, &after, Some(excluded))
}

/// Whether any unit is another one, in the images that a program may be part of.
fn is_changed(comparisons: &[Comparison], this: &Comparison) -> bool {
    let units = |program: &ProgramVersion| -> Vec<_> {
        program.units.iter().map(|unit| unit.fingerprint()).collect()
    };
    image(comparisons, this).any(|program| match &program.new {
        NewProgram::Version(new) => units(&program.old) != units(new),
        NewProgram::Unknown(_) => true,
    })
}

/// Units of the old program with their successors. Several of one key, whose
/// objects were moved, follow each other in their order.
pub(super) fn pair_units(old: &ProgramVersion, new: &ProgramVersion) -> Vec<Option<UnitIx>> {
    let mut by_key: FxHashMap<&UnitKey, VecDeque<UnitIx>> = FxHashMap::default();
    for (ix, unit) in new.units.iter().enumerate() {
        by_key.entry(&unit.index.key).or_default().push_back(UnitIx::new(ix));
    }
    let successor = |unit: &Arc<UnitVersion>| by_key.get_mut(&unit.index.key)?.pop_front();
    old.units.iter().map(successor).collect()
}

/// Changes that no edge of the program shows.
fn whole_program_changes(old: &ProgramVersion, new: &ProgramVersion) -> Vec<(Rule, String)> {
    let mut found = Vec::new();
    if old.link != new.link {
        found.push((Rule::Link, String::from("it is linked with other flags or other objects")));
    }
    found.extend(named_otherwise(old, new).map(|what| (Rule::Link, what)));
    let pairing = pair_units(old, new);
    for (unit, successor) in old.units.iter().zip(&pairing) {
        let source = &unit.index.key.source;
        let Some(successor) = successor.map(|ix| new.unit(ix)) else {
            if unit.index.composition != empty_composition() {
                let what = format!("{source} is gone, which acted on the whole program");
                found.push((Rule::Composition, what));
            }
            continue;
        };
        let (before, after) = (unit.fingerprint(), successor.fingerprint());
        let was_altered = old.altered.contains(&before);
        let is_altered = new.altered.contains(&after);
        if (was_altered || is_altered) && (before != after || was_altered != is_altered) {
            let what = format!("{source} changed, and its object has other names than it says");
            found.push((Rule::NotInstrumented, what));
        }
        if before == after {
            continue;
        }
        if unit.index.how != successor.index.how {
            found.push((Rule::Flags, format!("{source} is compiled with other flags, files that these or asm name, or another compiler")));
        }
        if unit.index.composition != successor.index.composition {
            found.push(change_of_composition(&unit.index, &successor.index));
        }
        if unit.index.untouched.is_some() || successor.index.untouched.is_some() {
            let what = format!("{source} changed, and it is not instrumented");
            found.push((Rule::NotInstrumented, what));
        }
    }
    let known: FxHashSet<&UnitKey> = old.units.iter().map(|unit| &unit.index.key).collect();
    for unit in &new.units {
        let is_new = !known.contains(&unit.index.key);
        if is_new && unit.index.composition != empty_composition() {
            let source = &unit.index.key.source;
            found.push(match unit.index.problems.first() {
                Some(problem) => (Rule::Unparsed, not_parsed(problem)),
                None => {
                    let what = format!("{source} is new and acts on the whole program");
                    (Rule::Composition, what)
                }
            });
        }
    }
    found
}

/// Units that do not parse, or did not parse before: nothing can be said of what they declare.
pub fn unparsed<'p>(old: &'p ProgramVersion, new: &'p ProgramVersion) -> FxHashSet<&'p UnitKey> {
    let mut found = FxHashSet::default();
    for (unit, successor) in old.units.iter().zip(pair_units(old, new)) {
        let Some(successor) = successor.map(|ix| new.unit(ix)) else { continue };
        if unit.fingerprint() != successor.fingerprint()
            && unit.index.composition != successor.index.composition
            && change_of_composition(&unit.index, &successor.index).0 == Rule::Unparsed
        {
            found.insert(&unit.index.key);
        }
    }
    let known: FxHashSet<&UnitKey> = old.units.iter().map(|unit| &unit.index.key).collect();
    let fresh = new.units.iter().map(|unit| &unit.index);
    let fresh = fresh.filter(|index| !known.contains(&index.key) && !index.problems.is_empty());
    let fresh = fresh.filter(|index| index.composition != empty_composition());
    found.extend(fresh.map(|index| &index.key));
    found
}

/// What to say of a unit that acts on the whole program in another way than before.
fn change_of_composition(before: &UnitIndex, after: &UnitIndex) -> (Rule, String) {
    let source = &after.key.source;
    // Only the line may have changed where the cause is the same.
    let cause = |problem: &str| problem.split_once(": ").map(|(_, cause)| cause.to_string());
    let mut known: Vec<_> = before.problems.iter().map(|problem| cause(problem)).collect();
    let new = after.problems.iter().find(|problem| {
        let place = known.iter().position(|known| *known == cause(problem));
        place.map(|place| known.remove(place)).is_none()
    });
    if let Some(problem) = new {
        return (Rule::Unparsed, not_parsed(problem));
    }
    let what = "sections, constructors, aliases, weak symbols or asm changed";
    match (before.problems.first(), after.problems.first()) {
        (_, Some(problem)) => {
            let what = format!("{source}: {what}, or code that does not parse ({problem})");
            (Rule::Composition, what)
        }
        (Some(problem), None) => {
            let place = problem.split_once(": ").map_or(problem.as_str(), |(place, _)| place);
            (Rule::Unparsed, format!("{place}: parses now, and did not before"))
        }
        (None, None) => (Rule::Composition, format!("{source}: {what}")),
    }
}

/// `file:line: why` in the words of a reason.
fn not_parsed(problem: &str) -> String {
    match problem.split_once(": ") {
        Some((place, why)) => format!("{place}: does not parse: {why}"),
        None => format!("{problem}: does not parse"),
    }
}

/// A name of the program that its objects use beside what their sources say, in one
/// version and not in the other.
fn named_otherwise(old: &ProgramVersion, new: &ProgramVersion) -> Option<String> {
    if old.outside_names == new.outside_names {
        return None;
    }
    let [before, after] = [old, new].map(|p| p.outside_names.iter().collect::<FxHashSet<_>>());
    let units = old.units.iter().chain(&new.units);
    let defined: FxHashSet<&str> = units.flat_map(|unit| link::names_defined(unit)).collect();
    let mut names = before.symmetric_difference(&after).collect::<Vec<_>>();
    names.sort_unstable();
    let name = names.into_iter().find(|name| defined.contains(name.as_str()))?;
    Some(format!("objects in it use `{name}`, which their sources do not say, or do so no more"))
}

/// Changed definitions that code without graphs may see: a library that is
/// interposed, an object that was not analysed, a look-up by name.
fn changes_seen_outside(
    comparison: &Comparison,
    changed: &ChangedDefinitions,
    outside: &dyn Outside,
) -> Vec<(Rule, String)> {
    let looks_up = LOOK_UPS.iter().find(|name| {
        let units = &comparison.old.units;
        units.iter().any(|unit| unit.index.symbols.iter().any(|symbol| symbol.name == **name))
    });
    let acting = acting_definitions(comparison, changed).into_iter();
    let mut found: Vec<_> = acting.map(|what| (Rule::Composition, what)).collect();
    for (name, what) in changed.external() {
        if let Some(looks_up) = looks_up {
            let what = format!("{what}, and the program looks up names by {looks_up}");
            found.push((Rule::UnanalysedCode, what));
        } else if outside.uses(comparison, name) {
            let what = format!("{what}, and code that is not analysed uses that name");
            found.push((Rule::UnanalysedCode, what));
        }
    }
    found
}

/// Variables that act without being named (in a section that something
/// iterates over, kept by `used`), directly or through their initialisers.
fn acting_definitions(comparison: &Comparison, changed: &ChangedDefinitions) -> Vec<String> {
    let units = comparison.old.units.iter().map(|unit| &unit.index);
    units
        .flat_map(|index| {
            let acting = index.definitions.iter().filter(|definition| definition.acts);
            acting.filter_map(|definition| {
                let symbol = &index.symbols[definition.symbol as usize];
                changed.of_symbol(&index.key, symbol).map(String::from)
            })
        })
        .collect()
}

pub fn empty_composition() -> crate::ids::Fingerprint {
    crate::ids::FpHasher::new("composition").finish()
}
