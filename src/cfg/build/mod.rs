//! Control-flow graphs from the parsed body of a procedure.
//!
//! A node is a simple statement, a condition, a switch, or a declaration that
//! does something. Operands of `&&` and `||` and arms of `?:` are nodes of
//! their own, and leave a hole in the node around them:
//!
//! ```text
//!     x = p && p->n > 0 ? f(p) : 0;
//!
//!     (p) -T-> (p->n > 0) -T-> (f(p)) ---> (x = ◦;) --->
//!      |            |                        ^
//!      F            F                        |
//!      +------------+--------> (0) ----------+
//! ```
//!
//! `break`, `continue`, `goto`, labels, empty statements and a bare `return`
//! are edges only. While building they are joins; at the end every join is
//! replaced by what follows it (`finish.rs`).
//!
//! All computed gotos of a procedure meet in one node, from which an edge
//! leads to every label whose address is taken. What a scope calls when it is
//! left is a node on every way out of it (`jumps.rs`).

mod expression;
mod finish;
mod jumps;
mod rounds;
mod statement;

use super::draft::{Draft, DraftCall, DraftEdge, DraftLabel, DraftNode, PlainLabel, RunSite, Site};
use super::format::NodeKind;
use super::pragmas::Pragmas;
use crate::frontend::tree::*;
use crate::ids::NodeId;
use expression::Used;
use jumps::{AsmJump, Guard, LabelState, PendingGoto, Target};
use rounds::Round;
use rustc_hash::FxHashMap;

/// Builds the graph of a procedure, or says what stands in the way.
pub fn build(
    tree: &Tree<'_>,
    pragmas: &Pragmas,
    procedure: &Procedure,
    body: &Stmt,
) -> Result<Draft, Problem> {
    let mut builder = Builder {
        tree,
        pragmas,
        start: Range::new(procedure.body_range.start, procedure.body_range.start),
        nodes: Vec::new(),
        edges: Vec::new(),
        labels: FxHashMap::default(),
        breaks: Vec::new(),
        continues: Vec::new(),
        switches: Vec::new(),
        guards: Vec::new(),
        guard_count: 0,
        pending: Vec::new(),
        asm_jumps: Vec::new(),
        dispatch: None,
        head_stays: false,
        rounds: Vec::new(),
        problem: None,
    };
    let entry = builder.add(NodeKind::Entry, Vec::new(), procedure.range);
    let exit = builder.add(NodeKind::Exit, Vec::new(), procedure.range);
    let site = Site::Entry { open: procedure.opened };
    let flow = vec![Dangling { from: entry, label: PlainLabel::Always.into(), site }];
    let flow = builder.statement(body, flow, true);
    builder.connect(flow, exit);
    builder.resolve_gotos();
    builder.dispatch_to(&procedure.addressed);
    match builder.problem {
        Some(problem) => Err(problem),
        None => within_limits(builder.finish(), procedure),
    }
}

/// Refuses a graph with so many branches that compilers take far longer, or use far
/// more memory, with a probe on each than without. Such a body is opaque.
///
/// Measured with gcc at -O0, -O2 and -Os (`benches/results/2026-11-18-large-functions.md`): a branch
/// with code of its own costs at most four times as much with a probe, however many there are. Branches
/// that meet in one place (`goto`, operands of `&&` and `||`, case labels) cost more the more there are of them.
fn within_limits(draft: Draft, procedure: &Procedure) -> Result<Draft, Problem> {
    const MOST_BRANCHES: usize = 20_000;
    const WEIGHT_OF_MEETING: usize = 10;
    const MOST_LABELS: usize = 300;
    let token = procedure.body_range.start;
    // Probes behind calls cost a compiler little.
    let is_branch = |edge: &&DraftEdge| {
        let is_behind = matches!(
            edge.site,
            Site::None | Site::AfterExpression { .. } | Site::AfterDeclaration { .. }
        );
        !is_behind
    };
    let mut ways_in = vec![0usize; draft.nodes.len()];
    draft.edges.iter().filter(is_branch).for_each(|edge| ways_in[edge.to.ix()] += 1);
    let weight = |ways: usize| if ways > 1 { ways * WEIGHT_OF_MEETING } else { ways };
    if ways_in.into_iter().map(weight).sum::<usize>() > MOST_BRANCHES {
        return Err(Problem { token, what: "more branches than the limit, too many for probes" });
    }
    // Case labels of one statement, one directly behind another.
    let mut labels = 0;
    let mut next = None;
    for edge in &draft.edges {
        if let Site::Case { start, colon, .. } = edge.site {
            labels = if next == Some(start) { labels + 1 } else { 1 };
            next = Some(colon + 1);
            if labels > MOST_LABELS {
                let what = "more than 300 case labels of one statement, too many for probes";
                return Err(Problem { token, what });
            }
        }
    }
    Ok(draft)
}

/// An edge whose target is not known yet.
#[derive(Clone)]
struct Dangling {
    from: NodeId,
    label: DraftLabel,
    site: Site,
}

type Flow = Vec<Dangling>;

struct Switch {
    node: NodeId,
    has_default: bool,
}

/// Either a real node or a place where edges meet.
enum Item {
    Node(DraftNode),
    Join,
}

struct Builder<'a, 't> {
    tree: &'a Tree<'t>,
    pragmas: &'a Pragmas,
    /// Where the body begins, for what is nowhere in the text.
    start: Range,
    nodes: Vec<Item>,
    edges: Vec<DraftEdge>,
    labels: FxHashMap<Label, LabelState>,
    breaks: Vec<Target>,
    continues: Vec<Target>,
    switches: Vec<Switch>,
    /// What the scopes around this place call when they are left.
    guards: Vec<Guard>,
    guard_count: u32,
    /// Gotos that may leave a scope with something to call.
    pending: Vec<PendingGoto>,
    asm_jumps: Vec<AsmJump>,
    dispatch: Option<NodeId>,
    /// Nothing may be put into the head of this loop.
    head_stays: bool,
    /// Conditions ahead that leave the loop around them, by their first token.
    rounds: Vec<(u32, Round)>,
    problem: Option<Problem>,
}

impl Builder<'_, '_> {
    fn add(&mut self, kind: NodeKind, pieces: Vec<Piece>, range: Range) -> NodeId {
        let id = NodeId::new(self.nodes.len());
        self.nodes.push(Item::Node(DraftNode::new(kind, pieces, range)));
        id
    }

    fn join(&mut self) -> NodeId {
        let id = NodeId::new(self.nodes.len());
        self.nodes.push(Item::Join);
        id
    }

    fn connect(&mut self, flow: Flow, to: NodeId) {
        for Dangling { from, label, site } in flow {
            self.edges.push(DraftEdge { from, to, label, site });
        }
    }

    fn from_join(join: NodeId) -> Flow {
        vec![Dangling { from: join, label: PlainLabel::Always.into(), site: Site::None }]
    }

    fn stuck(&mut self, token: u32, what: &'static str) {
        self.problem.get_or_insert(Problem { token, what });
    }
}
