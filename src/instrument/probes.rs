//! Which edges get a probe, and how all others are known without one.

use super::doubt::Doubt;
use super::log::mark_logged;
use super::returns::{Returns, Trusted};
use crate::cfg::draft::Site;
use crate::cfg::format::{Detail, Edge, Granularity, Graph, Noted};
use crate::cfg::unit::Analysis;
use crate::ids::{EdgeId, NodeId, ProbeId};
use std::collections::BTreeSet;

/// What code without calls and without memory behind pointers can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PlainCode {
    /// Nothing but go on.
    #[default]
    GoesOn,
    /// End the process: on overflow, say.
    MayTrap,
}

/// How a unit is compiled, as far as probes depend on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Code {
    pub plain: PlainCode,
}

/// Decides for every edge how it is noted, and numbers the probes of the unit.
/// Returns how many there are.
pub fn assign_probes(analysis: &mut Analysis, code: Code, detail: Detail) -> u32 {
    assign_probes_to(analysis, code, detail, None)
}

/// The same where only some procedures get probes, by their names.
pub fn assign_probes_to(
    analysis: &mut Analysis,
    code: Code,
    detail: Detail,
    only: Option<&BTreeSet<String>>,
) -> u32 {
    let returns = Returns::of(analysis, Trusted::AllOfUnit);
    let mut is_called = entries_by_calls(analysis, &returns);
    let only_entries = detail.granularity == Granularity::Procedure;
    if detail.granularity == Granularity::Path {
        mark_logged(analysis);
    }
    if only_entries || detail.counts_entries || only.is_some() {
        is_called.fill(false);
    }
    let mut next = 0;
    for (number, graph) in analysis.graphs.iter_mut().enumerate() {
        let procedure = &mut analysis.procedures[number];
        procedure.unprobed = only.is_some_and(|names| !names.contains(&procedure.name));
        if procedure.unprobed {
            graph.edges.iter_mut().for_each(|edge| edge.noted = Noted::Follows);
            continue;
        }
        let mut plan = Plan {
            graph,
            sites: &analysis.sites[number],
            may_leave: &analysis.may_leave[number],
            wants: Vec::new(),
            ways_in: Vec::new(),
            fails: graph.nodes.iter().map(|node| returns.is_failure(node)).collect(),
        };
        plan.start(&returns);
        let asks = analysis.asks_optimizer.get(number).map_or(&[][..], Vec::as_slice);
        let doubt = Doubt::of(plan.graph, asks);
        plan.count_all(&doubt);
        if only_entries {
            plan.keep_entries();
        } else if code.plain == PlainCode::GoesOn {
            plan.leave_to_what_follows(detail.counts_entries);
        }
        let wants = plan.wants;
        for (node, call) in doubt.calls {
            graph.nodes[node.ix()].calls_in_full.push(call);
        }
        for (edge, want) in graph.edges.iter_mut().zip(wants) {
            edge.noted = match want {
                Want::Nothing => Noted::Follows,
                Want::Behind => Noted::Behind,
                Want::Probe if edge.from == Graph::ENTRY && is_called[number] => Noted::Calls,
                Want::Probe => {
                    next += 1;
                    Noted::Probe(ProbeId(next - 1))
                }
            };
        }
        if detail.counts_entries {
            analysis.procedures[number].again = Some(ProbeId(next));
            next += 1;
        }
    }
    next
}

/// Procedures whose calls say when they are entered: the nodes that call them
/// cannot be left before they do, but by the end of the process.
fn entries_by_calls(analysis: &Analysis, returns: &Returns) -> Vec<bool> {
    let opaque = analysis.procedures.iter().map(|procedure| procedure.opaque.is_some());
    let only_called = analysis.only_called.iter().zip(opaque);
    let is_called = only_called.map(|(others, is_opaque)| {
        let others = others.as_ref();
        !is_opaque
            && others.is_some_and(|others| others.iter().all(|symbol| returns.symbol(*symbol)))
    });
    is_called.collect()
}

#[derive(Clone, Copy, PartialEq)]
enum Want {
    Nothing,
    Probe,
    Behind,
}

struct Plan<'a> {
    graph: &'a Graph,
    sites: &'a [Site],
    may_leave: &'a [bool],
    wants: Vec<Want>,
    /// How many edges lead to each node.
    ways_in: Vec<u32>,
    /// For each node, whether an assertion fails there.
    fails: Vec<bool>,
}

impl Plan<'_> {
    /// A probe wherever there is a place for one, but behind calls that return
    /// and assertions that hold.
    fn start(&mut self, returns: &Returns) {
        for (edge, site) in self.graph.edges.iter().zip(self.sites) {
            let is_left_by_own_calls = matches!(
                site,
                Site::AfterExpression { in_operands: false, .. }
                    | Site::AfterDeclaration { in_operands: false, .. }
            );
            let goes_on = is_left_by_own_calls && returns.all_of(self.graph.node(edge.from));
            let is_free = *site == Site::None || goes_on || self.holds(edge);
            self.wants.push(if is_free { Want::Nothing } else { Want::Probe });
        }
        self.ways_in = vec![0; self.graph.nodes.len()];
        for edge in &self.graph.edges {
            self.ways_in[edge.to.ix()] += 1;
        }
    }

    /// Whether an edge is the way on from a condition whose other ways all end in
    /// a failed assertion: it is taken unless the process ends.
    fn holds(&self, edge: &Edge) -> bool {
        let mut ways = 0;
        let mut others = self.graph.out_edges(edge.from).filter(|(_, way)| {
            ways += 1;
            !self.fails[way.to.ix()]
        });
        others.next().is_some_and(|(_, way)| way.to == edge.to && way.label == edge.label)
            && others.next().is_none()
            && ways > 1
    }

    /// Drops the probes of ways that count as taken, whichever the program took.
    fn count_all(&mut self, doubt: &Doubt) {
        for (want, edge) in self.wants.iter_mut().zip(&self.graph.edges) {
            if doubt.nodes.contains(&edge.from) {
                *want = Want::Nothing;
            }
        }
    }

    /// Drops all probes but those of entries.
    fn keep_entries(&mut self) {
        for (want, edge) in self.wants.iter_mut().zip(&self.graph.edges) {
            if edge.from != Graph::ENTRY {
                *want = Want::Nothing;
            }
        }
    }

    /// Drops the probe of an edge from which nothing but code that can neither
    /// leave nor trap leads to a branch, if that has probes on all its ways:
    /// one of these tells the same. Nothing else may lead there. Entries that
    /// are counted keep theirs.
    fn leave_to_what_follows(&mut self, but_entries: bool) {
        if self.may_leave.is_empty() {
            return;
        }
        for index in 0..self.graph.edges.len() {
            let edge = EdgeId::new(index);
            let may_go = self.wants[index] == Want::Probe && stands_alone(self.sites[index]);
            let stays = but_entries && self.graph.edge(edge).from == Graph::ENTRY;
            if stays || !may_go || !self.leads_to_branch(edge) {
                continue;
            }
            // All edges on the way follow from this one, and back.
            self.wants[index] = Want::Behind;
            let mut at = self.graph.edge(edge).to;
            while let Some(on) = self.way_on(at) {
                self.wants[on.ix()] = Want::Behind;
                at = self.graph.edge(on).to;
            }
        }
    }

    /// Whether what an edge leads to comes to a branch, whatever happens.
    fn leads_to_branch(&self, edge: EdgeId) -> bool {
        let mut at = self.graph.edge(edge).to;
        loop {
            if self.ways_in[at.ix()] != 1 || self.may_leave[at.ix()] || at == Graph::EXIT {
                return false;
            }
            match self.way_on(at) {
                Some(on) => at = self.graph.edge(on).to,
                None => return self.is_told(at),
            }
        }
    }

    /// The edge out of a node that has only one, or of a condition that is
    /// asserted: the others have probes.
    fn way_on(&self, node: NodeId) -> Option<EdgeId> {
        let mut ways = self
            .graph
            .out_edges(node)
            .filter(|(edge, way)| !self.fails[way.to.ix()] || self.wants[edge.ix()] != Want::Probe);
        match (ways.next(), ways.next()) {
            (Some((edge, _)), None) => Some(edge),
            _ => None,
        }
    }

    /// Whether the edges out of a node tell that it ran.
    fn is_told(&self, node: NodeId) -> bool {
        let mut ways = self.graph.out_edges(node).peekable();
        ways.peek().is_some() && ways.all(|(edge, _)| self.wants[edge.ix()] != Want::Nothing)
    }
}

/// Whether the text can do without the probe of a site.
fn stands_alone(site: Site) -> bool {
    !matches!(site, Site::AsmStays { .. } | Site::AsmJumps { .. } | Site::Landing { .. })
}
