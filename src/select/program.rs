//! One program against its successor: what selects all who ran it, the walk
//! from its roots, and the rest.

use super::changes::ChangedDefinitions;
use super::culprit;
use super::link;
use super::matrix::TestsOnEdge;
use super::reason::{EdgeReason, Reason, SourceLine};
use super::version::{ProcRef, ProgramVersion, UnitVersion};
use super::walk::{Because, Dangerous, ProcPair, Status, Walk};
use crate::cfg::format::{EdgeLabel, Graph, Node, NodeKind, UnitKey};
use crate::history::carry::{EntityMap, ProcedureMap, UnitMap};
use crate::ids::{TestId, UnitIx};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::collections::BTreeMap;

/// A program of the history and what became of it.
pub struct Comparison {
    pub old: ProgramVersion,
    pub new: NewProgram,
    /// Tests that ran it.
    pub tests: Vec<TestId>,
}

pub enum NewProgram {
    Version(ProgramVersion),
    /// Nothing is known of it, for this reason.
    Unknown(String),
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
    pub map: EntityMap,
    pub statistics: Statistics,
    /// The proctables: pairs of procedures that the walks opened, in order.
    pub analysed: Vec<Analysed>,
    /// Dangerous edges as found, for those who want to see them.
    pub dangerous: Vec<EdgeReason>,
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
    /// Whether code that is not analysed, in a process of this program, may
    /// use or define a name.
    fn knows(&self, program: &Comparison, name: &str) -> bool;
}

/// Compares all programs of a history with their successors.
pub fn compare(
    comparisons: &[Comparison],
    matrix: &dyn TestsOnEdge,
    outside: &dyn Outside,
    strict_lines: bool,
) -> Outcome {
    let mut outcome = Outcome::default();
    for comparison in comparisons {
        let new = match &comparison.new {
            NewProgram::Version(new) => new,
            NewProgram::Unknown(what) => {
                outcome.select_all(comparison, what);
                continue;
            }
        };
        let changed = changed_definitions(comparisons, comparison, new);
        let mut wholes = whole_program_changes(&comparison.old, new);
        wholes.extend(changes_seen_outside(comparison, &changed, outside));
        wholes.extend(link::changes_of_membership(comparison, new, outside));
        for what in &wholes {
            outcome.select_all(comparison, what);
        }
        let walk = Walk::new(&comparison.old, new, &changed, strict_lines);
        let mut program = ProgramSelection {
            comparison,
            new,
            matrix,
            walk,
            pairing: pair_units(&comparison.old, new),
            explained: 0,
            outcome: &mut outcome,
        };
        if wholes.is_empty() {
            program.run(&changed);
        }
        program.add_to_map();
    }
    outcome
}

impl Outcome {
    fn select(&mut self, test: TestId, reason: Reason) {
        let reasons = self.selected.entry(test).or_default();
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }

    fn select_all(&mut self, comparison: &Comparison, what: &str) {
        for test in &comparison.tests {
            let program = comparison.old.path.clone();
            self.select(*test, Reason::Program { program, what: what.to_string() });
        }
    }
}

/// Changed definitions of the images that a program may be part of: itself and
/// all libraries; for a library, everything.
fn changed_definitions(
    comparisons: &[Comparison],
    this: &Comparison,
    new: &ProgramVersion,
) -> ChangedDefinitions {
    let is_library = |program: &ProgramVersion| program.global("main").is_none();
    let mut before = vec![&this.old];
    let mut after = vec![new];
    for other in comparisons {
        let is_this = std::ptr::eq(other, this);
        if is_this || !(is_library(&this.old) || is_library(&other.old)) {
            continue;
        }
        before.push(&other.old);
        if let NewProgram::Version(new) = &other.new {
            after.push(new);
        }
    }
    ChangedDefinitions::between(&before, &after)
}

/// Units of the old program with their successors.
fn pair_units(old: &ProgramVersion, new: &ProgramVersion) -> Vec<Option<UnitIx>> {
    let by_key: FxHashMap<&UnitKey, UnitIx> =
        new.units.iter().enumerate().map(|(ix, unit)| (&unit.index.key, UnitIx::new(ix))).collect();
    old.units.iter().map(|unit| by_key.get(&unit.index.key).copied()).collect()
}

/// Changes that no edge of the program shows.
fn whole_program_changes(old: &ProgramVersion, new: &ProgramVersion) -> Vec<String> {
    let mut found = Vec::new();
    if old.link != new.link {
        found.push(String::from("it is linked with other flags or other objects"));
    }
    let pairing = pair_units(old, new);
    for (unit, successor) in old.units.iter().zip(&pairing) {
        let source = &unit.index.key.source;
        let Some(successor) = successor.map(|ix| new.unit(ix)) else {
            if unit.index.composition != empty_composition() {
                found.push(format!("{source} is gone, which acted on the whole program"));
            }
            continue;
        };
        if unit.fingerprint() == successor.fingerprint() {
            continue;
        }
        if unit.index.how != successor.index.how {
            found.push(format!("{source} is compiled with other flags or another compiler"));
        }
        if unit.index.composition != successor.index.composition {
            found.push(format!(
                "{source}: sections, constructors, aliases, weak symbols or asm changed"
            ));
        }
        if unit.index.untouched.is_some() || successor.index.untouched.is_some() {
            found.push(format!("{source} changed, and it is not instrumented"));
        }
    }
    let known: FxHashSet<&UnitKey> = old.units.iter().map(|unit| &unit.index.key).collect();
    for unit in &new.units {
        let is_new = !known.contains(&unit.index.key);
        if is_new && unit.index.composition != empty_composition() {
            let source = &unit.index.key.source;
            found.push(format!("{source} is new and acts on the whole program"));
        }
    }
    found
}

/// Changed definitions that code without graphs may see: a library that is
/// interposed, an object that was not analysed, a look-up by name.
fn changes_seen_outside(
    comparison: &Comparison,
    changed: &ChangedDefinitions,
    outside: &dyn Outside,
) -> Vec<String> {
    let looks_up = ["dlsym", "dlvsym"].iter().find(|name| {
        let units = &comparison.old.units;
        units.iter().any(|unit| unit.index.symbols.iter().any(|symbol| symbol.name == **name))
    });
    let mut found = acting_definitions(comparison, changed);
    for (name, what) in changed.external() {
        if let Some(looks_up) = looks_up {
            found.push(format!("{what}, and the program looks up names by {looks_up}"));
        } else if outside.knows(comparison, name) {
            found.push(format!("{what}, and code that is not analysed uses that name"));
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

struct ProgramSelection<'a> {
    comparison: &'a Comparison,
    new: &'a ProgramVersion,
    matrix: &'a dyn TestsOnEdge,
    walk: Walk<'a>,
    pairing: Vec<Option<UnitIx>>,
    /// How many dangerous edges were turned into reasons.
    explained: usize,
    outcome: &'a mut Outcome,
}

impl ProgramSelection<'_> {
    fn run(&mut self, changed: &ChangedDefinitions) {
        for root in self.roots() {
            self.walk.from_root(root);
        }
        self.explain();
        self.rest(changed);
        // Without the old graph there are no edges to say who took them.
        let opened = &self.walk.opened;
        if opened.iter().any(|(pair, _)| self.comparison.old.graph(pair.0).is_none()) {
            self.outcome.select_all(self.comparison, "its old graphs cannot be read");
        }
        let statistics = &mut self.outcome.statistics;
        statistics.procedures_analysed += self.walk.opened.len();
        statistics.pairs_visited += self.walk.pairs_visited;
        statistics.dangerous_edges += self.walk.dangerous.len();
        statistics.multiply_visited_procedures += self.walk.multiply_visited.len();
        statistics.line_numbers_only += self.walk.lines_only;
        for (pair, _) in &self.walk.opened {
            self.outcome.analysed.push(Analysed {
                program: self.comparison.old.path.clone(),
                procedure: self.comparison.old.procedure(pair.0).name.clone(),
                status: self.walk.proctable[pair],
                multiply_visited: self.walk.multiply_visited.contains(pair),
            });
        }
    }

    /// Where control enters by itself: main, and constructors.
    fn roots(&self) -> Vec<ProcPair> {
        let old = &self.comparison.old;
        let mut roots = Vec::new();
        if let (Some(main), Some(counterpart)) = (old.global("main"), self.new.global("main")) {
            roots.push((main, counterpart));
        }
        for procedure in old.procedures() {
            if old.procedure(procedure).is_constructor
                && let Some(counterpart) = self.counterpart(procedure)
            {
                roots.push((procedure, counterpart));
            }
        }
        roots
    }

    /// The procedure that stands for an old one when nobody calls it by name.
    fn counterpart(&self, procedure: ProcRef) -> Option<ProcRef> {
        let old = self.comparison.old.procedure(procedure);
        let in_unit = self.pairing[procedure.unit.ix()].and_then(|unit| {
            let procedures = &self.new.unit(unit).index.procedures;
            let at = procedures
                .iter()
                .position(|p| p.name == old.name && p.is_static == old.is_static)?;
            Some(ProcRef { unit, procedure: crate::ids::ProcIx::new(at) })
        });
        in_unit.or_else(|| (!old.is_static).then(|| self.new.global(&old.name)).flatten())
    }

    /// Procedures that the walk did not reach and that tests entered all the
    /// same: through a pointer, from a library, as a handler. The trace knows
    /// who entered them, so each is compared from its own entry.
    fn rest(&mut self, changed: &ChangedDefinitions) {
        let procedures: Vec<ProcRef> = self.comparison.old.procedures().collect();
        for procedure in procedures {
            let Some(counterpart) = self.counterpart(procedure) else {
                self.select_entered(procedure);
                continue;
            };
            let pair = (procedure, counterpart);
            if self.walk.proctable.contains_key(&pair)
                || !self.differs(pair, changed)
                || !self.someone_unselected_entered(procedure)
            {
                continue;
            }
            self.walk.from_root(pair);
            self.explain();
        }
    }

    /// Whether a procedure may behave otherwise, as far as the index tells.
    fn differs(&self, (old, new): ProcPair, changed: &ChangedDefinitions) -> bool {
        let before = self.comparison.old.procedure(old);
        if before.fingerprint != self.new.procedure(new).fingerprint {
            return true;
        }
        let index = &self.comparison.old.unit(old.unit).index;
        let successor = &self.new.unit(new.unit).index;
        if index.key != successor.key {
            return true;
        }
        before.mentions.iter().any(|mention| {
            changed.of_symbol(&index.key, &index.symbols[*mention as usize]).is_some()
        })
    }

    fn entered(&self, procedure: ProcRef) -> Vec<TestId> {
        let unit = self.comparison.old.unit(procedure.unit);
        let Some(graph) = unit.graph(procedure.procedure) else {
            return self.comparison.tests.clone();
        };
        let (id, place) = (unit.fingerprint(), procedure.procedure);
        let mut tests: Vec<TestId> = graph
            .out_edges(Graph::ENTRY)
            .flat_map(|(edge, _)| self.matrix.tests_on_edge(id, place, edge))
            .collect();
        tests.sort();
        tests.dedup();
        tests
    }

    fn someone_unselected_entered(&self, procedure: ProcRef) -> bool {
        self.entered(procedure).iter().any(|test| !self.outcome.selected.contains_key(test))
    }

    fn select_entered(&mut self, procedure: ProcRef) {
        let unit = self.comparison.old.unit(procedure.unit);
        let index = unit.procedure(procedure.procedure);
        let text = unit.graph(procedure.procedure).map(|g| g.node(Graph::ENTRY).text.clone());
        let reason = Reason::ProcedureGone {
            program: self.comparison.old.path.clone(),
            procedure: index.name.clone(),
            old: SourceLine {
                file: unit.file(index.place).to_string(),
                line: index.place.line,
                text: text.unwrap_or_default(),
            },
        };
        for test in self.entered(procedure) {
            self.outcome.select(test, reason.clone());
        }
    }

    /// Turns dangerous edges found since the last time into reasons.
    fn explain(&mut self) {
        let fresh: Vec<Dangerous> = self.walk.dangerous[self.explained..].to_vec();
        self.explained = self.walk.dangerous.len();
        let callers: FxHashMap<ProcPair, Option<ProcPair>> =
            self.walk.opened.iter().copied().collect();
        for dangerous in fresh {
            let reason = self.reason(&dangerous, &callers);
            let unit = self.comparison.old.unit(dangerous.pair.0.unit);
            let procedure = dangerous.pair.0.procedure;
            let id = unit.fingerprint();
            for test in self.matrix.tests_on_edge(id, procedure, dangerous.edge) {
                self.outcome.select(test, Reason::Edge(Box::new(reason.clone())));
            }
            self.outcome.dangerous.push(reason);
        }
    }

    fn reason(
        &self,
        dangerous: &Dangerous,
        callers: &FxHashMap<ProcPair, Option<ProcPair>>,
    ) -> EdgeReason {
        let (old, new) = dangerous.pair;
        let program = &self.comparison.old;
        let unit = program.unit(old.unit);
        let mut reason = EdgeReason {
            program: program.path.clone(),
            procedure: unit.procedure(old.procedure).name.clone(),
            from: SourceLine { file: String::new(), line: 0, text: String::new() },
            edge: String::new(),
            old: SourceLine { file: String::new(), line: 0, text: String::new() },
            new: None,
            because: explain_because(&dangerous.because),
            chain: Vec::new(),
        };
        if let Some(graph) = unit.graph(old.procedure) {
            let edge = graph.edge(dangerous.edge);
            reason.from = source_line(unit, graph.node(edge.from));
            reason.edge = edge_name(&edge.label);
            let shown = if dangerous.because == Because::Signature { edge.from } else { edge.to };
            reason.old = source_line(unit, graph.node(shown));
        }
        if let (Some(node), Some(graph)) = (dangerous.new, self.new.graph(new)) {
            reason.new = Some(source_line(self.new.unit(new.unit), graph.node(node)));
        }
        let same_text = reason.new.as_ref().is_some_and(|new| new.text == reason.old.text);
        if dangerous.because == Because::Node
            && same_text
            && let Some(graph) = unit.graph(old.procedure)
        {
            let node = graph.node(graph.edge(dangerous.edge).to);
            let what = culprit::changed_declaration(unit, self.new.unit(new.unit), node);
            reason.because = what.unwrap_or_default();
        }
        let mut at = Some(dangerous.pair);
        while let Some(pair) = at {
            reason.chain.push(program.procedure(pair.0).name.clone());
            at = callers.get(&pair).copied().flatten();
        }
        reason.chain.reverse();
        reason
    }

    /// Where the edges of each old procedure are now.
    fn add_to_map(&mut self) {
        for unit in &self.new.units {
            self.outcome.map.sizes.insert(unit.fingerprint(), unit.edge_count());
        }
        for (unit_ix, unit) in self.comparison.old.units.iter().enumerate() {
            let mut map = UnitMap::default();
            for (ix, procedure) in unit.index.procedures.iter().enumerate() {
                let at =
                    ProcRef { unit: UnitIx::new(unit_ix), procedure: crate::ids::ProcIx::new(ix) };
                let base = unit.base(at.procedure);
                let count = procedure.edge_count as usize;
                map.procedures.push((base, count, self.procedure_map(at)));
            }
            // A unit of several programs went the same way in all of them, or
            // its tests cannot be carried.
            let known = self.outcome.map.units.entry(unit.fingerprint());
            known.and_modify(|known| merge_unit(known, &map)).or_insert(map);
        }
    }

    fn procedure_map(&self, old: ProcRef) -> ProcedureMap {
        let Some(new) = self.counterpart(old) else {
            return ProcedureMap::Gone;
        };
        let unit = self.new.unit(new.unit);
        let base = unit.base(new.procedure);
        let same = self.comparison.old.procedure(old).fingerprint
            == unit.procedure(new.procedure).fingerprint;
        if same {
            return ProcedureMap::Same { unit: unit.fingerprint(), base };
        }
        let Some(pairs) = self.walk.edge_map.get(&(old, new)) else {
            return ProcedureMap::Gone;
        };
        let mut edges: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (from, to) in pairs {
            edges.entry(from.ix()).or_default().push(base + to.ix());
        }
        ProcedureMap::Edges { unit: unit.fingerprint(), edges }
    }
}

/// Joins what two programs know of one unit.
fn merge_unit(known: &mut UnitMap, other: &UnitMap) {
    for ((_, _, known), (_, _, other)) in known.procedures.iter_mut().zip(&other.procedures) {
        match (&mut *known, other) {
            (ProcedureMap::Same { unit, base }, ProcedureMap::Same { unit: u, base: b })
                if unit == u && base == b => {}
            (
                ProcedureMap::Edges { unit, edges },
                ProcedureMap::Edges { unit: other_unit, edges: other_edges },
            ) if unit == other_unit => {
                for (edge, targets) in other_edges {
                    let known = edges.entry(*edge).or_default();
                    known.extend(targets);
                    known.sort_unstable();
                    known.dedup();
                }
            }
            _ => *known = ProcedureMap::Gone,
        }
    }
}

fn source_line(unit: &UnitVersion, node: &Node) -> SourceLine {
    let text = match node.kind {
        NodeKind::Exit => String::from("the end of the procedure"),
        NodeKind::Spin => String::from("an endless loop"),
        _ => node.text.clone(),
    };
    SourceLine { file: unit.file(node.place).to_string(), line: node.place.line, text }
}

pub fn edge_name(label: &EdgeLabel) -> String {
    match label {
        EdgeLabel::Always => String::new(),
        EdgeLabel::True => String::from("T"),
        EdgeLabel::False => String::from("F"),
        EdgeLabel::Case(_, text) => format!("case {text}"),
        EdgeLabel::Default => String::from("default"),
        EdgeLabel::Label(name) => name.clone(),
    }
}

fn explain_because(because: &Because) -> String {
    match because {
        Because::Node => String::new(),
        Because::Definition(what) => what.clone(),
        Because::Call(name) => format!("`{name}` means another procedure now"),
        Because::EdgeGone => String::from("this way is gone"),
        Because::CaseAdded(text) => format!("`case {text}` was added"),
        Because::Signature => String::from("signature or attributes changed"),
        Because::Flags => String::from("it is compiled with other flags or another compiler"),
        Because::Unreadable => String::from("its graph cannot be read"),
    }
}
