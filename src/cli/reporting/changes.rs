//! The procedures that changed, each with both versions of it.

use super::earlier::Texts;
use crate::cfg::format::Graph;
use crate::cli::explaining;
use crate::cli::reached;
use crate::cli::selecting::Selected;
use crate::cli::workspace::Workspace;
use crate::history::History;
use crate::history::column::TestBits;
use crate::history::store::StoreError;
use crate::ids::{Fingerprint, TestId};
use crate::report::html::{Change, Danger, Procedure, Side, Site, TextLine};
use crate::report::picture::{Mark, Picture};
use crate::report::text::counted;
use crate::select::pairs::{PairGraph, Target};
use crate::select::program::unparsed;
use crate::select::version::{ProcRef, ProgramVersion, UnitVersion};
use crate::select::{ComparedPair, Comparison, Exclusion, NewProgram};
use bitvec::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Procedures that have a page of their own.
const MOST_PAGES: usize = 500;
/// Lines behind the last node of a procedure that may still belong to it.
const MOST_BEHIND: usize = 12;

pub struct Changes<'c> {
    pub workspace: &'c Workspace,
    pub history: &'c History,
    pub selected: &'c Selected,
    /// The history as it is, and the units that its tests ran.
    pub last: &'c History,
    pub tested: &'c HashSet<Fingerprint>,
    /// Where the tests of the selection are in the report.
    pub places: &'c FxHashMap<TestId, usize>,
}

/// What makes two changes one: file, name, and both versions.
type Key = (String, String, Option<Fingerprint>, Option<Fingerprint>);

/// A procedure in one program or several: in each where it was and is.
#[derive(Default)]
struct Found<'s> {
    line: u32,
    within: Vec<(&'s Comparison, Option<ProcRef>, Option<ProcRef>)>,
    pairs: Vec<&'s ComparedPair>,
}

/// What tests did in the old version.
#[derive(Default)]
struct Did {
    nodes: Vec<TestBits>,
    edges: Vec<TestBits>,
}

impl<'c> Changes<'c> {
    pub fn add(&self, site: &mut Site, texts: &mut Texts<'_>) -> anyhow::Result<()> {
        let found = self.find();
        let mut order: Vec<(usize, usize)> = found
            .values()
            .enumerate()
            .map(|(place, found)| {
                let tests = found.pairs.iter().flat_map(|pair| &pair.dangers);
                (place, tests.map(|(_, tests)| tests.len()).sum())
            })
            .collect();
        order.sort_by_key(|(_, tests)| std::cmp::Reverse(*tests));
        let shown: FxHashSet<usize> = order.iter().take(MOST_PAGES).map(|(at, _)| *at).collect();
        let names = site.tests.iter().enumerate();
        let by_number: FxHashMap<u32, usize> = names
            .filter_map(|(place, test)| Some((self.history.number(&test.name)?, place)))
            .collect();
        let changed: HashSet<String> =
            site.changed_files.iter().map(|change| change.file.clone()).collect();
        for (place, (key, found)) in found.into_iter().enumerate() {
            let number = site.procedures.len();
            let did = self.did(&found).unwrap_or_else(|error| {
                let (file, name, ..) = &key;
                let what = format!("What the tests did in {name} ({file}) is not known: {error}.");
                site.missing.push(what);
                Did::default()
            });
            let entered = did.nodes.first().into_iter().flat_map(|tests| tests.iter_ones());
            for test in entered.filter_map(|number| by_number.get(&(number as u32))) {
                site.tests[*test].enters.push(number);
            }
            let has_page = shown.contains(&place);
            let through = through(&key.0, &found, &changed);
            let procedure = self.procedure(key, &found, &did, has_page, texts)?;
            site.procedures.push(Procedure { through, ..procedure });
        }
        if site.procedures.len() > MOST_PAGES {
            let more = counted(site.procedures.len() - MOST_PAGES, "changed procedure");
            site.missing.push(format!(
                "{more} with the fewest tests behind them have no page of their own, since there are so many."
            ));
        }
        Ok(())
    }

    /// All procedures that are new, gone or other ones, by file and name.
    fn find(&self) -> BTreeMap<Key, Found<'c>> {
        let mut all: BTreeMap<Key, Found<'c>> = BTreeMap::new();
        let selected = self.selected;
        // Where every edge leads where it led, only line numbers are others.
        for pair in selected.pairs.iter().filter(|pair| !pair.graph.rejects.is_empty()) {
            let comparison = &selected.comparisons[pair.comparison];
            let NewProgram::Version(new) = &comparison.new else { continue };
            let found = add(&mut all, comparison, new, Some(pair.old), Some(pair.new));
            found.pairs.push(pair);
        }
        for comparison in &selected.comparisons {
            let NewProgram::Version(new) = &comparison.new else { continue };
            let old = &comparison.old;
            let unparsed = unparsed(old, new);
            let parsed = |program: &ProgramVersion, at: &ProcRef| {
                !unparsed.contains(&program.unit(at.unit).index.key)
            };
            for at in without_counterpart(old, new).into_iter().filter(|at| parsed(old, at)) {
                add(&mut all, comparison, new, Some(at), None);
            }
            for at in without_counterpart(new, old).into_iter().filter(|at| parsed(new, at)) {
                add(&mut all, comparison, new, None, Some(at));
            }
        }
        all
    }

    fn procedure(
        &self,
        (file, name, ..): Key,
        found: &Found<'c>,
        did: &Did,
        has_page: bool,
        texts: &mut Texts<'_>,
    ) -> anyhow::Result<Procedure> {
        let (old, new) = found.within.first().map_or((None, None), |(_, old, new)| (*old, *new));
        let mut programs: Vec<String> =
            found.within.iter().map(|(comparison, ..)| comparison.old.path.clone()).collect();
        programs.sort_unstable();
        programs.dedup();
        let pair = found.pairs.first().copied();
        let mut procedure = Procedure {
            is_excluded: match pair {
                Some(pair) => pair.is_excluded,
                None => self.workspace.config.excluded()?.holds(&file, &name),
            },
            name,
            file,
            line: found.line,
            change: match (old, new) {
                (Some(_), None) => Change::Gone,
                (None, _) => Change::New,
                _ => Change::Changed,
            },
            programs,
            entered: did.nodes.first().map_or(0, |tests| tests.count_ones()),
            dangers: self.dangers(found),
            calls: calls(found),
            old: None,
            new: None,
            has_page,
            through: Vec::new(),
        };
        if has_page && let Some((comparison, ..)) = found.within.first() {
            let picture =
                |side: &Shown<'_>| side.graph.map(|graph| Picture::of(&side.unit.index, graph));
            let graph = pair.map(|pair| &pair.graph);
            let old = old.map(|at| Shown::of(&comparison.old, at));
            let new = match &comparison.new {
                NewProgram::Version(program) => new.map(|at| Shown::of(program, at)),
                NewProgram::Unknown(_) => None,
            };
            let (mut before, mut now) =
                (old.as_ref().and_then(picture), new.as_ref().and_then(picture));
            if let Some(before) = &mut before {
                mark_old(before, graph, did);
            }
            if let Some(now) = &mut now {
                let of_new = new.as_ref().and_then(|new| self.did_now(new));
                mark_new(now, graph, did, of_new.as_ref());
            }
            let (left, right) = sides(old.as_ref(), new.as_ref(), texts);
            procedure.old = old.map(|_| Side { picture: before, ..left });
            procedure.new = new.map(|_| Side { picture: now, ..right });
        }
        Ok(procedure)
    }

    /// The dangerous edges, with the tests of all programs behind each.
    fn dangers(&self, found: &Found<'c>) -> Vec<Danger> {
        let mut dangers: Vec<Danger> = Vec::new();
        for pair in &found.pairs {
            for (place, (reason, tests)) in pair.dangers.iter().enumerate() {
                if dangers.len() <= place {
                    dangers.push(Danger { reason: reason.clone(), tests: Vec::new() });
                }
                let tests = tests.iter().filter_map(|test| self.places.get(test));
                dangers[place].tests.extend(tests);
            }
        }
        for danger in &mut dangers {
            danger.tests.sort_unstable();
            danger.tests.dedup();
        }
        dangers
    }

    fn everybody(&self) -> TestBits {
        bitvec![u64, Lsb0; 1; self.history.test_numbers()]
    }

    /// What tests did in the old version, in all units that it is in.
    fn did(&self, found: &Found<'c>) -> Result<Did, StoreError> {
        let mut did = Did::default();
        let mut seen = FxHashSet::default();
        for (comparison, old, _) in &found.within {
            let Some(old) = old else { continue };
            let unit = comparison.old.unit(old.unit).fingerprint();
            let Some(graph) = comparison.old.graph(*old) else { continue };
            if !seen.insert((unit, old.procedure)) {
                continue;
            }
            let column = self.history.column(unit, old.procedure.0)?;
            let (nodes, edges) = reached::nodes_and_edges(graph, &column, &self.everybody());
            join(&mut did.nodes, nodes);
            join(&mut did.edges, edges);
        }
        Ok(did)
    }

    /// What tests did in the new version, if they ran it.
    fn did_now(&self, new: &Shown<'_>) -> Option<Did> {
        let unit = new.unit.fingerprint();
        if !self.tested.contains(&unit) {
            return None;
        }
        let column = self.last.column(unit, new.at.procedure.0).ok()?;
        let all = bitvec![u64, Lsb0; 1; self.last.test_numbers()];
        let (nodes, edges) = reached::nodes_and_edges(new.graph?, &column, &all);
        Some(Did { nodes, edges })
    }
}

/// The calls that lead to a procedure in each of its programs, as a dangerous edge tells of
/// them that tests took, if there is one.
fn calls(found: &Found<'_>) -> Vec<(Vec<String>, Vec<String>)> {
    let mut all: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for pair in &found.pairs {
        let taken = pair.dangers.iter().find(|(_, tests)| !tests.is_empty());
        let Some((reason, _)) = taken.or(pair.dangers.first()) else { continue };
        match all.iter_mut().find(|(_, chain)| *chain == reason.chain) {
            Some((programs, _)) if programs.contains(&reason.program) => {}
            Some((programs, _)) => programs.push(reason.program.clone()),
            None => all.push((vec![reason.program.clone()], reason.chain.clone())),
        }
    }
    all.iter_mut().for_each(|(programs, _)| programs.sort_unstable());
    all.sort_unstable();
    all
}

fn add<'a, 'c>(
    all: &'a mut BTreeMap<Key, Found<'c>>,
    comparison: &'c Comparison,
    new: &'c ProgramVersion,
    before: Option<ProcRef>,
    now: Option<ProcRef>,
) -> &'a mut Found<'c> {
    let old = &comparison.old;
    let index = |program: &'c ProgramVersion, at: ProcRef| {
        let (unit, index) = (program.unit(at.unit), program.procedure(at));
        (unit.file(index.place).to_string(), index)
    };
    let (was, is) = (before.map(|at| index(old, at)), now.map(|at| index(new, at)));
    let fingerprints =
        (was.as_ref().map(|w| w.1.fingerprint), is.as_ref().map(|i| i.1.fingerprint));
    let (file, name, line) = is.or(was).map_or_else(Default::default, |(file, index)| {
        (file, index.name.clone(), index.place.line)
    });
    let found = all.entry((file, name, fingerprints.0, fingerprints.1)).or_default();
    found.line = line;
    found.within.push((comparison, before, now));
    found
}

/// Files that changed, of those that a procedure is made of, without its own.
fn through(own: &str, found: &Found<'_>, changed: &HashSet<String>) -> Vec<String> {
    let mut names = BTreeSet::new();
    for (comparison, old, new) in &found.within {
        let old = old.map(|at| comparison.old.unit(at.unit));
        let new = match &comparison.new {
            NewProgram::Version(program) => new.map(|at| program.unit(at.unit)),
            NewProgram::Unknown(_) => None,
        };
        let files = old.into_iter().chain(new).flat_map(|unit| &unit.index.files);
        names.extend(files.filter(|file| *file != own && changed.contains(*file)));
    }
    names.into_iter().cloned().collect()
}

/// Procedures of units that changed for which the other version has none.
fn without_counterpart(of: &ProgramVersion, other: &ProgramVersion) -> Vec<ProcRef> {
    let known: FxHashSet<Fingerprint> = other.units.iter().map(|unit| unit.fingerprint()).collect();
    let all = of.procedures().filter(|at| !known.contains(&of.unit(at.unit).fingerprint()));
    all.filter(|at| explaining::counterpart(of, *at, other).is_none()).collect()
}

fn join(known: &mut Vec<TestBits>, more: Vec<TestBits>) {
    if known.is_empty() {
        *known = more;
        return;
    }
    known.iter_mut().zip(more).for_each(|(known, more)| *known |= more.as_bitslice());
}

/// The nodes of a line.
#[derive(Default)]
struct Nodes {
    text: String,
    labels: Vec<Fingerprint>,
}

/// A version of a procedure.
struct Shown<'s> {
    at: ProcRef,
    unit: &'s UnitVersion,
    graph: Option<&'s Graph>,
}

impl<'s> Shown<'s> {
    fn of(program: &'s ProgramVersion, at: ProcRef) -> Self {
        Self { at, unit: program.unit(at.unit), graph: program.graph(at) }
    }

    fn file(&self) -> &'s str {
        self.unit.file(self.unit.procedure(self.at.procedure).place)
    }

    fn first_line(&self) -> u32 {
        self.unit.procedure(self.at.procedure).place.line
    }

    /// What the nodes of each of its lines say.
    fn by_line(&self) -> BTreeMap<u32, Nodes> {
        let mut lines: BTreeMap<u32, Nodes> = BTreeMap::new();
        let nodes = self.graph.into_iter().flat_map(|graph| graph.nodes.iter().enumerate());
        for (number, node) in nodes {
            let is_here = self.unit.file(node.place) == self.file();
            if number == Graph::EXIT.ix() || !is_here || node.place.line == 0 {
                continue;
            }
            let line = lines.entry(node.place.line).or_default();
            if !line.text.is_empty() {
                line.text.push_str("  ");
            }
            line.text.push_str(&node.text);
            line.labels.push(node.label);
        }
        lines
    }

    /// Its lines in the text of its file: to the brace behind its last node.
    fn within(&self, text: &[String], by_line: &BTreeMap<u32, Nodes>) -> Vec<TextLine> {
        let first = self.first_line().max(1) as usize;
        let last = by_line.keys().next_back().map_or(first, |line| *line as usize).max(first);
        let mut behind = text.iter().skip(last).take(MOST_BEHIND);
        let behind = behind.position(|line| line.starts_with('}')).map_or(0, |at| at + 1);
        let lines = text.iter().enumerate().skip(first - 1).take(last + behind + 1 - first);
        let lines = lines.map(|(place, text)| TextLine {
            number: place as u32 + 1,
            text: text.clone(),
            key: Some(text.trim().to_string()),
        });
        lines.collect()
    }
}

/// Both versions of the source of a procedure, without pictures.
pub fn sides_of(
    old: Option<(&ProgramVersion, ProcRef)>,
    new: Option<(&ProgramVersion, ProcRef)>,
    texts: &mut Texts<'_>,
) -> (Side, Side) {
    let [old, new] = [old, new].map(|side| side.map(|(program, at)| Shown::of(program, at)));
    sides(old.as_ref(), new.as_ref(), texts)
}

/// Both versions of the source. Where one is known by the nodes of its graph alone,
/// these are what lines are recognised by.
fn sides(old: Option<&Shown<'_>>, new: Option<&Shown<'_>>, texts: &mut Texts<'_>) -> (Side, Side) {
    let nothing = || Side { lines: Vec::new(), is_whole: false, picture: None };
    let (mut left, mut right) = (nothing(), nothing());
    let (mut before, mut by_nodes) = (BTreeMap::new(), BTreeMap::new());
    if let Some(new) = new {
        by_nodes = new.by_line();
        match texts.now(new.file()) {
            Some(text) => {
                right.lines = new.within(text, &by_nodes);
                right.is_whole = true;
            }
            None => right.lines = of_nodes(&by_nodes),
        }
    }
    if let Some(old) = old {
        before = old.by_line();
        match texts.then(old.file()) {
            Some(text) if right.is_whole || new.is_none() => {
                left.lines = old.within(text, &before);
                left.is_whole = true;
            }
            _ => left.lines = of_nodes(&before),
        }
    }
    if old.is_some() && !left.is_whole {
        // Texts may differ by line numbers alone, where the labels are the same.
        let known: FxHashMap<&[Fingerprint], &str> =
            before.values().rev().map(|nodes| (&nodes.labels[..], &nodes.text[..])).collect();
        for line in &mut right.lines {
            line.key = by_nodes.get(&line.number).map(|nodes| {
                known.get(&nodes.labels[..]).copied().unwrap_or(&nodes.text).to_string()
            });
        }
    }
    (left, right)
}

fn of_nodes(by_line: &BTreeMap<u32, Nodes>) -> Vec<TextLine> {
    let lines = by_line.iter().map(|(number, nodes)| TextLine {
        number: *number,
        text: nodes.text.clone(),
        key: Some(nodes.text.clone()),
    });
    lines.collect()
}

fn count(tests: Option<&TestBits>) -> Option<usize> {
    tests.map(|tests| tests.count_ones())
}

fn mark_old(picture: &mut Picture, pairs: Option<&PairGraph>, did: &Did) {
    for (number, node) in picture.nodes.iter_mut().enumerate() {
        node.tests = count(did.nodes.get(number));
    }
    for (number, edge) in picture.edges.iter_mut().enumerate() {
        edge.tests = count(did.edges.get(number));
    }
    let Some(pairs) = pairs else { return };
    picture.nodes.iter_mut().for_each(|node| node.mark = Mark::NotVisited);
    picture.edges.iter_mut().for_each(|edge| edge.mark = Mark::NotVisited);
    for (old, _) in pairs.matched() {
        picture.edges[old.ix()].mark = Mark::Matched;
    }
    for (place, reject) in pairs.rejects.iter().enumerate() {
        let edge = &mut picture.edges[reject.edge.ix()];
        edge.mark = Mark::Dangerous;
        edge.danger.get_or_insert(place);
        picture.nodes[edge.to].mark = Mark::Dangerous;
    }
    for (old, _) in &pairs.nodes {
        picture.nodes[old.ix()].mark = Mark::Matched;
    }
}

/// What is the same counts as it did in the old version, unless tests ran the new one.
fn mark_new(picture: &mut Picture, pairs: Option<&PairGraph>, did: &Did, now: Option<&Did>) {
    let mut from_old: Vec<Option<usize>> = vec![None; picture.nodes.len()];
    if let Some(pairs) = pairs {
        picture.nodes.iter_mut().for_each(|node| node.mark = Mark::NotVisited);
        picture.edges.iter_mut().for_each(|edge| edge.mark = Mark::NotVisited);
        for (old, new) in pairs.matched() {
            let edge = &mut picture.edges[new.ix()];
            edge.mark = Mark::Matched;
            edge.tests = edge.tests.max(count(did.edges.get(old.ix())));
        }
        for edge in pairs.edges() {
            let Target::Reject(place) = edge.to else { continue };
            let Some(reject) = pairs.rejects.get(place as usize) else { continue };
            let Some(to) = reject.new else { continue };
            picture.nodes[to.ix()].mark = Mark::Dangerous;
            let from = pairs.nodes[edge.from as usize].1;
            let ways = picture.edges.iter_mut();
            for way in ways.filter(|way| way.from == from.ix() && way.to == to.ix()) {
                way.mark = Mark::Dangerous;
                way.danger.get_or_insert(place as usize);
            }
        }
        for (old, new) in &pairs.nodes {
            picture.nodes[new.ix()].mark = Mark::Matched;
            from_old[new.ix()] = from_old[new.ix()].max(count(did.nodes.get(old.ix())));
        }
    }
    for (number, node) in picture.nodes.iter_mut().enumerate() {
        node.tests = match now {
            Some(now) => count(now.nodes.get(number)),
            None => from_old[number],
        };
    }
    if let Some(now) = now {
        for (number, edge) in picture.edges.iter_mut().enumerate() {
            edge.tests = count(now.edges.get(number));
        }
    }
}
