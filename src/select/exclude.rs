//! Code that the user does not want tests to be selected for: what drives tests,
//! sets them up and checks what they did, as opposed to what they test.
//!
//! A change is passed over only if it is one of that code's own text. Whoever passes
//! one over does not do any more what its rows say, so that any other change may
//! concern it.

use super::pairs::{Because, PairGraph, Target};
use super::program::{Comparison, NewProgram, Outcome, pair_units};
use super::reason::Reason;
use super::rule::Rule;
use super::version::UnitVersion;
use crate::cfg::format::{EdgeLabel, Graph, ProcedureIndex};
use crate::ids::{Fingerprint, NodeId, TestId};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// Says which code is excluded.
pub trait Exclusion {
    /// Whether a procedure of this name in this file is.
    fn holds(&self, file: &str, procedure: &str) -> bool;

    /// Whether a file is, with all that is in it.
    fn holds_file(&self, file: &str) -> bool;
}

/// A change in excluded code, and the tests that it would have selected.
#[derive(Clone, Debug)]
pub struct PassedOver {
    pub change: Reason,
    pub tests: Vec<TestId>,
}

/// Files that are not what they were when the tests of a program ran: for all of
/// them, and for some.
#[derive(Debug, Default)]
pub struct Edits {
    pub surely: FxHashSet<String>,
    pub perhaps: FxHashSet<String>,
}

/// What is excluded and was edited. What changes although its file did not, changes
/// because of something else.
#[derive(Clone, Copy)]
pub struct Excluded<'e> {
    pub exclusion: &'e dyn Exclusion,
    pub edits: &'e Edits,
}

impl Excluded<'_> {
    pub fn holds(&self, file: &str, procedure: &str) -> bool {
        self.exclusion.holds(file, procedure) && self.edits.surely.contains(file)
    }

    /// The same for what is defined in a file, or in a procedure there.
    pub fn holds_definition(&self, file: &str, procedure: Option<&str>) -> bool {
        let is_held = self.exclusion.holds_file(file)
            || procedure.is_some_and(|procedure| self.exclusion.holds(file, procedure));
        is_held && self.edits.surely.contains(file)
    }
}

/// Whether a rejected edge leads to another text, as opposed to the same one that
/// means something else.
pub fn leads_to_other_text(old: &Graph, new: &Graph, pairs: &PairGraph, reject: usize) -> bool {
    let to = Target::Reject(reject as u32);
    let reject = &pairs.rejects[reject];
    let edge = old.edge(reject.edge);
    match &reject.because {
        Because::Node => {
            reject.new.is_some_and(|node| new.node(node).text != old.node(edge.to).text)
        }
        Because::Signature => old.node(Graph::ENTRY).text != new.node(Graph::ENTRY).text,
        Because::EdgeGone => {
            let from = pairs.edges().iter().find(|edge| edge.to == to).map(|edge| edge.from);
            let from = from.map(|from| pairs.nodes[from as usize].1);
            match (&edge.label, from) {
                (EdgeLabel::Case(_, text), Some(from)) => !has_case(new, from, text),
                (EdgeLabel::Label(_), _) => true,
                _ => false,
            }
        }
        Because::CaseAdded(text) => !has_case(old, edge.from, text),
        Because::CaseValue(before, now) => before != now,
        Because::Definition(_) | Because::Call(_) | Because::Flags | Because::Unreadable => false,
    }
}

fn has_case(graph: &Graph, node: NodeId, text: &str) -> bool {
    let mut edges = graph.out_edges(node);
    edges.any(|(_, edge)| matches!(&edge.label, EdgeLabel::Case(_, known) if known == text))
}

/// Whether two procedures have another text.
pub fn texts_differ(old: &Graph, new: &Graph) -> bool {
    let texts = |graph: &Graph| graph.nodes.iter().map(|node| node.text.clone()).collect();
    let (old, new): (Vec<String>, Vec<String>) = (texts(old), texts(new));
    old != new
}

/// Selects those who passed over a change of excluded code, if their programs have
/// any other change.
pub fn select_doubtful(
    comparisons: &[Comparison],
    exclusion: &dyn Exclusion,
    outcome: &mut Outcome,
) {
    let passed = outcome.passed_over.iter().flat_map(|passed| passed.tests.iter().copied());
    let passed: BTreeSet<TestId> = passed.collect();
    if passed.is_empty() {
        return;
    }
    for comparison in comparisons {
        let mut tests = comparison.tests.iter().filter(|test| passed.contains(test)).peekable();
        if tests.peek().is_none() {
            continue;
        }
        if let Some(reason) = other_change(comparison, exclusion) {
            tests.for_each(|test| outcome.select(*test, reason.clone()));
        }
    }
}

/// Why a test that runs changed excluded code is selected, if anything else changed
/// in a program.
pub fn other_change(comparison: &Comparison, exclusion: &dyn Exclusion) -> Option<Reason> {
    let NewProgram::Version(new) = &comparison.new else { return None };
    let old = &comparison.old;
    let pairing = pair_units(old, new);
    let is_outside = |unit: &UnitVersion| !exclusion.holds_file(&unit.index.key.source);
    let mut pairs = old.units.iter().zip(&pairing);
    let what = pairs.find_map(|(unit, successor)| match successor {
        Some(successor) => change_of_unit(unit, new.unit(*successor), &comparison.edits, exclusion),
        None => is_outside(unit).then(|| format!("{} is gone", unit.index.key.source)),
    });
    let what = what.or_else(|| {
        let paired: FxHashSet<usize> = pairing.iter().flatten().map(|unit| unit.ix()).collect();
        let mut fresh = new.units.iter().enumerate().filter(|(ix, _)| !paired.contains(ix));
        let fresh = fresh.find(|(_, unit)| is_outside(unit));
        fresh.map(|(_, unit)| format!("{} is new", unit.index.key.source))
    });
    let what =
        format!("excluded code changed, so that it is not known what it runs, and {}", what?);
    let by = Rule::AfterExclusion;
    Some(Reason::Program { program: old.path.clone(), what, by })
}

/// What of a unit changed beside excluded code.
fn change_of_unit(
    old: &UnitVersion,
    new: &UnitVersion,
    edits: &Edits,
    exclusion: &dyn Exclusion,
) -> Option<String> {
    if old.fingerprint() == new.fingerprint() {
        return None;
    }
    let is_excluded = |unit: &UnitVersion, procedure: &ProcedureIndex| {
        exclusion.holds(unit.file(procedure.place), &procedure.name)
    };
    // Where a part of a file is excluded, its bytes do not tell what changed.
    let holds_excluded = |file: &str| {
        [old, new].iter().any(|unit| {
            let mut procedures = unit.index.procedures.iter();
            procedures.any(|p| unit.file(p.place) == file && is_excluded(unit, p))
        })
    };
    let mut files = old.index.files.iter().chain(&new.index.files);
    let edited = files.find(|file| {
        edits.perhaps.contains(*file) && !exclusion.holds_file(file) && !holds_excluded(file)
    });
    if let Some(file) = edited {
        return Some(format!("{file} changed"));
    }
    let procedures = |unit: &UnitVersion| -> Said {
        let procedures = unit.index.procedures.iter().filter(|p| !is_excluded(unit, p));
        said(procedures.map(|p| (p.name.clone(), p.fingerprint)))
    };
    let definitions = |unit: &UnitVersion| -> Said {
        let outside = unit.index.definitions.iter().filter(|definition| {
            let within = definition.within;
            let within = within.and_then(|(at, _)| unit.index.procedures.get(at as usize));
            !exclusion.holds_file(unit.file(definition.place))
                && !within.is_some_and(|procedure| is_excluded(unit, procedure))
        });
        let name = |symbol: u32| unit.index.symbols[symbol as usize].name.clone();
        said(outside.map(|d| (name(d.symbol), d.fingerprint)))
    };
    let declarations = |unit: &UnitVersion| -> Said {
        let outside = unit.index.declarations.iter().filter(|declaration| {
            !declaration.name.is_empty()
                && !exclusion.holds(unit.file(declaration.place), &declaration.name)
        });
        said(outside.map(|d| (d.name.clone(), d.says)))
    };
    let changed = difference(&procedures(old), &procedures(new))
        .or_else(|| difference(&definitions(old), &definitions(new)))
        .or_else(|| {
            // Where nothing outside of bodies changed, declarations are not listed; nor
            // are those that no code depends on.
            if old.index.outside == new.index.outside {
                return None;
            }
            let (mut before, mut after) = (declarations(old), declarations(new));
            before.retain(|name, _| after.contains_key(name));
            after.retain(|name, _| before.contains_key(name));
            difference(&before, &after)
        });
    changed.map(|name| format!("`{name}` in {} changed", new.index.key.source))
}

/// What is said of each name.
type Said = BTreeMap<String, BTreeSet<Fingerprint>>;

fn said(all: impl Iterator<Item = (String, Fingerprint)>) -> Said {
    let mut said = Said::new();
    for (name, what) in all {
        said.entry(name).or_default().insert(what);
    }
    said
}

/// A name of which not the same is said.
fn difference(old: &Said, new: &Said) -> Option<String> {
    let mut names = old.keys().chain(new.keys());
    names.find(|name| old.get(*name) != new.get(*name)).cloned()
}
