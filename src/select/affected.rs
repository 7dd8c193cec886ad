//! What can run after a change: RECOVER's affected entities. Within a procedure
//! these are the nodes behind the change; within a program whatever control comes
//! to from there, through calls, returns and later calls.

use super::pairs::Target;
use super::procedures::ProgramSelection;
use super::program::empty_composition;
use super::version::{ProcRef, ProgramVersion, UnitVersion};
use crate::cfg::format::{Graph, Node, NodeKind};
use crate::ids::{NodeId, ProcIx, UnitIx};
use bitvec::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Who has one of these does not do one thing after the other, or looks up what
/// it calls. Sorted.
const UNFORESEEN: &[&str] = &[
    "bsd_signal",
    "dlsym",
    "dlvsym",
    "pthread_create",
    "setitimer",
    "sigaction",
    "signal",
    "sigset",
    "sigvec",
    "thrd_create",
    "timer_create",
    "timer_settime",
];

/// A node where a version is not the other one.
type Change = (ProcRef, NodeId);

/// Nodes that can run after some nodes of a graph, and these themselves.
pub fn within(graph: &Graph, from: impl IntoIterator<Item = NodeId>) -> BitVec {
    let mut reached = bitvec![0; graph.nodes.len()];
    let mut todo: Vec<NodeId> = from.into_iter().collect();
    while let Some(node) = todo.pop() {
        if !reached.replace(node.ix(), true) {
            todo.extend(graph.out_edges(node).map(|(_, edge)| edge.to));
        }
    }
    reached
}

impl ProgramSelection<'_> {
    /// Notes which procedures of the new version can run after a change, or could in
    /// the old one.
    pub fn add_affected(&mut self, all_changed: bool) {
        let reached = if all_changed { None } else { self.affected() };
        for (number, unit) in self.new.units.iter().enumerate() {
            let number = UnitIx::new(number);
            let of_unit = reached.as_ref().map(|reached| -> BTreeSet<ProcIx> {
                let of_unit = unit.procedures(number).filter(|at| reached.contains(at));
                of_unit.map(|at| at.procedure).collect()
            });
            let known = self.outcome.affected.entry(unit.fingerprint());
            let known = known.or_insert_with(|| Some(BTreeSet::new()));
            // A unit of several programs is affected by what is so in any of them.
            *known = known.take().zip(of_unit).map(|(mut known, of_unit)| {
                known.extend(of_unit);
                known
            });
        }
    }

    /// None if it may be all of them.
    fn affected(&self) -> Option<FxHashSet<ProcRef>> {
        let (old, new) = (&self.comparison.old, self.new);
        if !is_sequential(old) || !is_sequential(new) {
            return None;
        }
        let (before, after) = self.changes();
        let mut affected = procedures(new, &after)?;
        // What ran after the change then, and does not now, is not what it did.
        let gone = procedures(old, &before)?;
        affected.extend(gone.into_iter().filter_map(|procedure| self.counterpart(procedure)));
        Some(affected)
    }

    /// Nodes of the old and of the new version where they are not the same.
    fn changes(&self) -> (Vec<Change>, Vec<Change>) {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut known: FxHashSet<ProcRef> = FxHashSet::default();
        for old in self.comparison.old.procedures() {
            let Some(new) = self.counterpart(old) else {
                before.push((old, Graph::ENTRY));
                continue;
            };
            known.insert(new);
            if !self.differs((old, new)) {
                continue;
            }
            let Some(graph) = self.walk.graphs.get(&(old, new)) else {
                before.push((old, Graph::ENTRY));
                after.push((new, Graph::ENTRY));
                continue;
            };
            let edges = graph.edges().iter();
            for edge in edges.filter(|edge| matches!(edge.to, Target::Reject(_))) {
                let nodes = graph.nodes[edge.from as usize];
                before.push((old, nodes.0));
                after.push((new, nodes.1));
            }
        }
        let new = self.new.procedures().filter(|procedure| !known.contains(procedure));
        after.extend(new.map(|procedure| (procedure, Graph::ENTRY)));
        (before, after)
    }
}

/// Whether all that a program does is one thing after the other, as far as its
/// own code tells.
fn is_sequential(program: &ProgramVersion) -> bool {
    let mut symbols = program.units.iter().flat_map(|unit| &unit.index.symbols);
    let is_unforeseen = |name: &str| UNFORESEEN.binary_search(&name).is_ok();
    // Aliases, sections, asm of the file: who is called by what name is not plain.
    let acts = |unit: &Arc<UnitVersion>| unit.index.composition != empty_composition();
    let mut flags = program.units.iter().flat_map(|unit| &unit.index.command.arguments);
    super::one_path::keeps_to_paths(program)
        && !symbols.any(|symbol| is_unforeseen(&symbol.name))
        && !program.units.iter().any(acts)
        && !flags.any(|flag| {
            ["-fopenmp", "-fopenacc", "-ftree-parallelize"].iter().any(|f| flag.starts_with(f))
        })
}

/// Procedures that can run after a change of some nodes. None if that can be any.
fn procedures(program: &ProgramVersion, changes: &[Change]) -> Option<FxHashSet<ProcRef>> {
    let mut reach = Reach::of(program)?;
    reach.by_themselves();
    for (procedure, node) in changes {
        reach.reach(*procedure, *node, Way::Within);
    }
    while let Some((procedure, node, way)) = reach.todo.pop() {
        reach.go_on(procedure, node, way)?;
    }
    Some(reach.affected)
}

struct Reach<'p> {
    program: &'p ProgramVersion,
    graphs: FxHashMap<ProcRef, &'p Graph>,
    /// Nodes that call a procedure by its name.
    callers: FxHashMap<ProcRef, Vec<(ProcRef, NodeId)>>,
    /// Nodes that may call any procedure whose address somebody has.
    open_calls: Vec<(ProcRef, NodeId)>,
    /// These procedures.
    open: FxHashSet<ProcRef>,
    /// Nodes that are reached, those of each way by themselves.
    reached: FxHashMap<(ProcRef, Way), BitVec>,
    affected: FxHashSet<ProcRef>,
    todo: Vec<(ProcRef, NodeId, Way)>,
}

/// How control came into a procedure after the change.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Way {
    /// It was there when the change ran, or one that it called was: it may return to
    /// whoever calls it.
    Within,
    /// By a call that came after the change: it returns behind that call, where
    /// control comes anyway.
    Called,
}

impl<'p> Reach<'p> {
    fn of(program: &'p ProgramVersion) -> Option<Self> {
        let mut reach = Self {
            program,
            graphs: FxHashMap::default(),
            callers: FxHashMap::default(),
            open_calls: Vec::new(),
            open: FxHashSet::default(),
            reached: FxHashMap::default(),
            affected: FxHashSet::default(),
            todo: Vec::new(),
        };
        for procedure in program.procedures() {
            let index = program.procedure(procedure);
            if !program.is_executable() && !index.is_static {
                reach.open.insert(procedure);
            }
            let graph = program.graph(procedure)?;
            reach.graphs.insert(procedure, graph);
            for (number, node) in graph.nodes.iter().enumerate() {
                let at = (procedure, NodeId::new(number));
                let (callees, is_open) = callees(program, procedure, node);
                for callee in callees {
                    reach.callers.entry(callee).or_default().push(at);
                }
                if is_open {
                    reach.open_calls.push(at);
                }
            }
        }
        for (number, unit) in program.units.iter().enumerate() {
            let unit_ix = UnitIx::new(number);
            let taken = unit.index.address_taken.iter();
            reach.open.extend(taken.filter_map(|symbol| program.resolve(unit_ix, *symbol)));
        }
        // Names that code without graphs knows.
        for name in &program.outside_names {
            reach.open.extend(program.global(name));
        }
        Some(reach)
    }

    /// What may run at any time without being called by name, at the end of the
    /// process say, and all that it mentions.
    fn by_themselves(&mut self) {
        let program = self.program;
        let acts = |at: &ProcRef| program.procedure(*at).is_constructor;
        let mut todo: Vec<ProcRef> = self.open.iter().copied().collect();
        todo.extend(program.procedures().filter(acts));
        while let Some(procedure) = todo.pop() {
            if self.affected.insert(procedure) {
                let mentions = &program.procedure(procedure).mentions;
                let meant =
                    mentions.iter().filter_map(|name| program.resolve(procedure.unit, *name));
                todo.extend(meant);
            }
        }
    }

    fn reach(&mut self, procedure: ProcRef, node: NodeId, way: Way) {
        let count = self.graphs.get(&procedure).map_or(0, |graph| graph.nodes.len());
        let reached = self.reached.entry((procedure, way)).or_insert_with(|| bitvec![0; count]);
        if node.ix() < count && !reached.replace(node.ix(), true) {
            self.affected.insert(procedure);
            self.todo.push((procedure, node, way));
        }
    }

    /// None if anything may run now.
    fn go_on(&mut self, procedure: ProcRef, at: NodeId, way: Way) -> Option<()> {
        let graph = *self.graphs.get(&procedure)?;
        for (_, edge) in graph.out_edges(at) {
            self.reach(procedure, edge.to, way);
        }
        let (mut callees, is_open) = callees(self.program, procedure, graph.node(at));
        if is_open {
            callees.extend(&self.open);
        }
        for callee in callees {
            self.reach(callee, Graph::ENTRY, Way::Called);
        }
        if at == Graph::EXIT && way == Way::Within {
            let mut callers = self.callers.get(&procedure).cloned().unwrap_or_default();
            if self.open.contains(&procedure) {
                callers.extend(&self.open_calls);
            }
            for (caller, node) in callers {
                self.reach(caller, node, Way::Within);
            }
        }
        Some(())
    }
}

/// The procedures that a node calls by name, and whether it may call any whose
/// address somebody has: what is not ours may call back.
fn callees(program: &ProgramVersion, of: ProcRef, node: &Node) -> (Vec<ProcRef>, bool) {
    let is_opaque = matches!(node.kind, NodeKind::Opaque | NodeKind::Cleanup);
    let opaque = is_opaque.then_some(&node.mentions);
    let mut is_open = node.calls_pointer || is_opaque;
    let mut callees = Vec::new();
    for symbol in node.calls.iter().chain(opaque.into_iter().flatten()) {
        match program.resolve(of.unit, *symbol) {
            Some(callee) if program.is_entered_surely(callee) => callees.push(callee),
            Some(callee) => {
                callees.push(callee);
                callees.extend(program.all_named(&program.procedure(callee).name));
                is_open = true;
            }
            None => is_open = true,
        }
    }
    (callees, is_open)
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_can_be_searched() {
        assert!(super::UNFORESEEN.is_sorted());
    }
}
