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
//! replaced by what follows it.

use super::draft::{Draft, DraftEdge, DraftLabel, DraftNode, PlainLabel, Site};
use super::format::NodeKind;
use super::holes::{bare, calls_anything, has_indirect_call, is_hole, own_parts, pieces_around};
use crate::frontend::lex::Kind;
use crate::frontend::names::Name;
use crate::frontend::tree::*;
use crate::ids::NodeId;
use rustc_hash::FxHashMap;

/// Builds the graph of a procedure, or says what stands in the way.
pub fn build(tree: &Tree<'_>, procedure: &Procedure, body: &Stmt) -> Result<Draft, Problem> {
    let mut builder = Builder {
        tree,
        nodes: Vec::new(),
        edges: Vec::new(),
        labels: FxHashMap::default(),
        breaks: Vec::new(),
        continues: Vec::new(),
        switches: Vec::new(),
        problem: None,
    };
    let entry = builder.add(NodeKind::Entry, Vec::new(), procedure.range);
    let exit = builder.add(NodeKind::Exit, Vec::new(), procedure.range);
    let site = Site::Entry { open: procedure.body_range.start };
    let flow = vec![Dangling { from: entry, label: PlainLabel::Always.into(), site }];
    let flow = builder.statement(body, flow, true);
    builder.connect(flow, exit);
    match builder.problem {
        Some(problem) => Err(problem),
        None => Ok(builder.finish()),
    }
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
    nodes: Vec<Item>,
    edges: Vec<DraftEdge>,
    labels: FxHashMap<Name, NodeId>,
    breaks: Vec<NodeId>,
    continues: Vec<NodeId>,
    switches: Vec<Switch>,
    problem: Option<Problem>,
}

impl Builder<'_, '_> {
    fn add(&mut self, kind: NodeKind, pieces: Vec<Piece>, range: Range) -> NodeId {
        let id = NodeId::new(self.nodes.len());
        let calls = Vec::new();
        let node = DraftNode { kind, pieces, range, calls, calls_are_certain: true, is_asm: false };
        self.nodes.push(Item::Node(node));
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

    /// A node for an expression: what it evaluates on the way first, then
    /// itself. The flow behind it is empty if it calls what never returns.
    fn expression_node(
        &mut self,
        kind: NodeKind,
        expr: &Expr,
        shown: Range,
        flow: Flow,
    ) -> (NodeId, Flow) {
        let mut holes = Vec::new();
        let mut calls = Vec::new();
        own_parts(expr, &mut holes, &mut calls);
        let flow = self.unordered(expr, shown, &holes, &calls, flow);
        let flow = self.operands(expr, flow);
        let id = self.add(kind, pieces_around(self.tree, shown, &holes), shown);
        self.connect(flow, id);
        let never_returns = calls.iter().any(|token| self.never_returns(*token));
        if let Item::Node(node) = &mut self.nodes[id.ix()] {
            node.calls = calls;
        }
        let out = if never_returns { Vec::new() } else { Self::from_join(id) };
        (id, out)
    }

    /// C leaves open in which order operands are evaluated. Where one of them
    /// may leave the expression (by a call that does not return, or a trap)
    /// before the others, those on the way into the expression have reached
    /// all of it: a node in front says so.
    fn unordered(
        &mut self,
        expr: &Expr,
        shown: Range,
        holes: &[&Expr],
        calls: &[u32],
        flow: Flow,
    ) -> Flow {
        if holes.is_empty() {
            return flow;
        }
        let own_leaves = self.may_leave(shown, holes);
        let hole_leaves = holes.iter().any(|hole| self.may_leave(hole.range, &[]));
        if !own_leaves && !hole_leaves && !has_indirect_call(expr) {
            return flow;
        }
        // Operands behind the first may run without the edge that leads to
        // them in the graph, so all of their tokens count here.
        let id = self.add(NodeKind::Statement, pieces_around(self.tree, shown, &holes[..1]), shown);
        if let Item::Node(node) = &mut self.nodes[id.ix()] {
            node.calls = calls.to_vec();
            node.calls_are_certain = false;
        }
        self.connect(flow, id);
        Self::from_join(id)
    }

    /// Whether a range of tokens, apart from holes in it, can end the process
    /// or jump out: calls, and whatever can trap.
    fn may_leave(&self, range: Range, holes: &[&Expr]) -> bool {
        (range.start..range.end).any(|token| {
            let is_inside = holes.iter().any(|hole| hole.range.contains(token));
            !is_inside
                && match self.tree.token_text(token) {
                    b"*" | b"/" | b"%" | b"[" | b"->" | b"/=" | b"%=" => true,
                    // A statement does not leave by being one.
                    b"return" | b"goto" | b"break" | b"continue" | b"{" => token > range.start,
                    // A name or a closing bracket before it makes it a call.
                    b"(" => {
                        token > range.start && {
                            let before = self.tree.token_text(token - 1);
                            before == b")" || before == b"]" || self.is_name(token - 1)
                        }
                    }
                    _ => false,
                }
        })
    }

    fn is_name(&self, token: u32) -> bool {
        let token = &self.tree.tokens.all[token as usize];
        token.kind == Kind::Word && !token.name.is_keyword()
    }

    fn never_returns(&self, callee: u32) -> bool {
        match self.tree.refs.get(callee) {
            Ref::Decl(decl) => self.tree.decls[decl.ix()].noreturn,
            _ => matches!(
                self.tree.token_text(callee),
                b"__builtin_unreachable"
                    | b"__builtin_trap"
                    | b"__builtin_abort"
                    | b"__builtin_exit"
                    | b"__builtin_longjmp"
            ),
        }
    }

    /// The branching operands of an expression, in the order of the source.
    fn operands(&mut self, expr: &Expr, mut flow: Flow) -> Flow {
        match &expr.kind {
            ExprKind::And | ExprKind::Or => {
                let is_and = matches!(expr.kind, ExprKind::And);
                let mut leaving = Vec::new();
                let (last, firsts) = expr.kids.split_last().expect("a chain has operands");
                for kid in firsts {
                    let (yes, no) = self.condition(kid, flow);
                    let (on, off) = if is_and { (yes, no) } else { (no, yes) };
                    flow = on;
                    leaving.extend(off);
                }
                leaving.extend(self.value(last, flow));
                leaving
            }
            ExprKind::Conditional => match expr.kids.as_slice() {
                [cond, then, otherwise] => {
                    let (yes, no) = self.condition(cond, flow);
                    let mut out = self.value(then, yes);
                    out.extend(self.value(otherwise, no));
                    out
                }
                [cond, otherwise] => self.either(cond, otherwise, flow),
                _ => flow,
            },
            ExprKind::Block(block) => self.value_block(block, flow),
            _ => {
                for kid in &expr.kids {
                    flow = self.operands(kid, flow);
                }
                flow
            }
        }
    }

    /// `a ?: b` for its value, which is that of `a` unless that is zero. Nothing
    /// can be put around `a`, so only the other way has a probe.
    fn either(&mut self, cond: &Expr, otherwise: &Expr, flow: Flow) -> Flow {
        let (id, out) = self.expression_node(NodeKind::Predicate, cond, cond.range, flow);
        if out.is_empty() {
            return out;
        }
        let way = |label: PlainLabel, site| Dangling { from: id, label: label.into(), site };
        let operand = otherwise.range;
        let no = vec![way(PlainLabel::False, Site::Otherwise { operand })];
        let mut out = vec![way(PlainLabel::True, Site::None)];
        out.extend(self.value(otherwise, no));
        out
    }

    /// `({ … })`. Nothing may be put behind its last statement, which is its
    /// value.
    fn value_block(&mut self, block: &Stmt, mut flow: Flow) -> Flow {
        let StmtKind::Block(items) = &block.kind else {
            return self.statement(block, flow, true);
        };
        for (index, item) in items.iter().enumerate() {
            flow = match &item.kind {
                StmtKind::Expr(value) if index + 1 == items.len() => {
                    self.simple(value, item.range, Site::None, flow)
                }
                _ => self.statement(item, flow, true),
            };
        }
        flow
    }

    /// An operand that is evaluated for its value, as a node of its own unless
    /// it consists of nothing but such operands.
    fn value(&mut self, expr: &Expr, flow: Flow) -> Flow {
        let inner = bare(expr);
        if is_hole(inner) {
            return self.operands(inner, flow);
        }
        self.expression_node(NodeKind::Statement, inner, inner.range, flow).1
    }

    /// A condition: the flow when it holds and when it does not.
    fn condition(&mut self, expr: &Expr, mut flow: Flow) -> (Flow, Flow) {
        match (&expr.kind, expr.kids.as_slice()) {
            (ExprKind::Paren, [inner]) => self.condition(inner, flow),
            // `!` of a plain operand stays part of its node, so that an edge
            // says what the source says.
            (ExprKind::Not, [inner]) if is_hole(bare(inner)) => {
                let (yes, no) = self.condition(inner, flow);
                (no, yes)
            }
            (ExprKind::And | ExprKind::Or, kids) => {
                let is_and = matches!(expr.kind, ExprKind::And);
                let mut leaving = Vec::new();
                for kid in kids {
                    let (yes, no) = self.condition(kid, flow);
                    let (on, off) = if is_and { (yes, no) } else { (no, yes) };
                    flow = on;
                    leaving.extend(off);
                }
                if is_and { (flow, leaving) } else { (leaving, flow) }
            }
            (ExprKind::Conditional, [cond, then, otherwise]) => {
                let (yes, no) = self.condition(cond, flow);
                let (mut yes_out, mut no_out) = self.condition(then, yes);
                let (yes, no) = self.condition(otherwise, no);
                yes_out.extend(yes);
                no_out.extend(no);
                (yes_out, no_out)
            }
            (ExprKind::Conditional, [cond, otherwise]) => {
                let (mut yes_out, no) = self.condition(cond, flow);
                let (yes, no_out) = self.condition(otherwise, no);
                yes_out.extend(yes);
                (yes_out, no_out)
            }
            (ExprKind::Literal(holds), _) => {
                let holds = *holds;
                let (id, _) = self.expression_node(NodeKind::Predicate, expr, expr.range, flow);
                let label = if holds { PlainLabel::True } else { PlainLabel::False };
                let out = vec![Dangling { from: id, label: label.into(), site: Site::None }];
                if holds { (out, Vec::new()) } else { (Vec::new(), out) }
            }
            _ => {
                let (id, out) = self.expression_node(NodeKind::Predicate, expr, expr.range, flow);
                let arm = |label: PlainLabel, outcome| {
                    let site = Site::Arm { condition: expr.range, weak: expr.weak, outcome };
                    vec![Dangling { from: id, label: label.into(), site }]
                };
                if out.is_empty() {
                    return (Vec::new(), Vec::new());
                }
                (arm(PlainLabel::True, true), arm(PlainLabel::False, false))
            }
        }
    }

    /// Lowers a statement. `in_block` if statements may be put before it.
    fn statement(&mut self, stmt: &Stmt, mut flow: Flow, in_block: bool) -> Flow {
        match &stmt.kind {
            StmtKind::Empty => flow,
            StmtKind::Block(items) => {
                for item in items {
                    flow = self.statement(item, flow, true);
                }
                flow
            }
            StmtKind::Expr(expr) => {
                let site = Site::AfterExpression { end: expr.range.end };
                self.simple(expr, stmt.range, site, flow)
            }
            StmtKind::Decl(expr) => {
                let site = Site::AfterDeclaration { end: stmt.range.end };
                self.simple(expr, stmt.range, site, flow)
            }
            StmtKind::Asm => {
                let pieces = vec![Piece::Tokens(stmt.range)];
                let id = self.add(NodeKind::Statement, pieces, stmt.range);
                if let Item::Node(node) = &mut self.nodes[id.ix()] {
                    node.is_asm = true;
                }
                self.connect(flow, id);
                Self::from_join(id)
            }
            StmtKind::If { arms, otherwise } => {
                let mut out = Vec::new();
                for (cond, then) in arms {
                    let (yes, no) = self.condition(cond, flow);
                    out.extend(self.statement(then, yes, false));
                    flow = no;
                }
                if let Some(otherwise) = otherwise {
                    flow = self.statement(otherwise, flow, false);
                }
                out.extend(flow);
                out
            }
            StmtKind::While { cond, body } => {
                let head = self.join();
                self.connect(flow, head);
                let (yes, no) = self.condition(cond, Self::from_join(head));
                let (out, after) = self.looped(body, yes, head);
                self.connect(out, head);
                self.leave(no, after)
            }
            StmtKind::Do { body, cond } => {
                let head = self.join();
                self.connect(flow, head);
                let check = self.join();
                let (out, after) = self.looped(body, Self::from_join(head), check);
                self.connect(out, check);
                let (yes, no) = self.condition(cond, Self::from_join(check));
                self.connect(yes, head);
                self.leave(no, after)
            }
            StmtKind::For { init, cond, step, body } => {
                if let Some(init) = init {
                    flow = self.for_init(init, flow);
                }
                let head = self.join();
                self.connect(flow, head);
                let (yes, no) = match cond {
                    Some(cond) => self.condition(cond, Self::from_join(head)),
                    None => (Self::from_join(head), Vec::new()),
                };
                let next = self.join();
                let (out, after) = self.looped(body, yes, next);
                self.connect(out, next);
                let mut back = Self::from_join(next);
                if let Some(step) = step {
                    let site = Site::AfterExpression { end: step.range.end };
                    back = self.simple(step, step.range, site, back);
                }
                self.connect(back, head);
                self.leave(no, after)
            }
            StmtKind::Switch { value, body } => self.switch(value, body, flow),
            StmtKind::Case { value, body } => {
                let colon = value.end;
                self.case(DraftLabel::Case(*value), stmt.range.start, colon, body, flow, in_block)
            }
            StmtKind::Default { body } => {
                let colon = stmt.range.start + 1;
                let label = PlainLabel::Default.into();
                self.case(label, stmt.range.start, colon, body, flow, in_block)
            }
            StmtKind::Label { name, body } => {
                let join = self.label(*name);
                self.connect(flow, join);
                self.statement(body, Self::from_join(join), in_block)
            }
            StmtKind::Goto(name) => {
                let join = self.label(*name);
                self.connect(flow, join);
                Vec::new()
            }
            StmtKind::Break => self.jump(self.breaks.last().copied(), stmt, flow),
            StmtKind::Continue => self.jump(self.continues.last().copied(), stmt, flow),
            StmtKind::Return(value) => {
                if let Some(value) = value {
                    let (_, out) =
                        self.expression_node(NodeKind::Statement, value, stmt.range, flow);
                    flow = out;
                }
                self.connect(flow, NodeId(1));
                Vec::new()
            }
        }
    }

    /// A statement that is one node.
    fn simple(&mut self, expr: &Expr, shown: Range, site: Site, flow: Flow) -> Flow {
        let (_, mut out) = self.expression_node(NodeKind::Statement, expr, shown, flow);
        if calls_anything(expr) {
            out.iter_mut().for_each(|edge| edge.site = site);
        }
        out
    }

    /// Nothing can be put behind a declaration in the head of a loop.
    fn for_init(&mut self, init: &Stmt, flow: Flow) -> Flow {
        match &init.kind {
            StmtKind::Decl(expr) => self.simple(expr, init.range, Site::None, flow),
            _ => self.statement(init, flow, false),
        }
    }

    /// The body of a loop. Returns what falls out of its end, and the join
    /// behind the loop.
    fn looped(&mut self, body: &Stmt, flow: Flow, next: NodeId) -> (Flow, NodeId) {
        let after = self.join();
        self.breaks.push(after);
        self.continues.push(next);
        let out = self.statement(body, flow, false);
        self.breaks.pop();
        self.continues.pop();
        (out, after)
    }

    fn leave(&mut self, flow: Flow, after: NodeId) -> Flow {
        self.connect(flow, after);
        Self::from_join(after)
    }

    fn jump(&mut self, target: Option<NodeId>, stmt: &Stmt, flow: Flow) -> Flow {
        match target {
            Some(target) => self.connect(flow, target),
            None => self.stuck(stmt.range.start, "a jump out of nothing"),
        }
        Vec::new()
    }

    fn label(&mut self, name: Name) -> NodeId {
        if let Some(join) = self.labels.get(&name) {
            return *join;
        }
        let join = self.join();
        self.labels.insert(name, join);
        join
    }

    fn switch(&mut self, value: &Expr, body: &Stmt, flow: Flow) -> Flow {
        let (node, reached) = self.expression_node(NodeKind::Switch, value, value.range, flow);
        if !matches!(body.kind, StmtKind::Block(_)) {
            self.stuck(body.range.start, "a switch whose body is not a block");
        }
        let after = self.join();
        self.breaks.push(after);
        self.switches.push(Switch { node, has_default: false });
        let out = self.statement(body, Vec::new(), false);
        let switch = self.switches.pop();
        self.breaks.pop();
        let falls_in = self.is_reachable(&out);
        self.connect(out, after);
        if switch.is_some_and(|switch| !switch.has_default) && !reached.is_empty() {
            let site = Site::MissingDefault { close: body.range.end - 1, falls_in };
            let label = PlainLabel::Default.into();
            self.connect(vec![Dangling { from: node, label, site }], after);
        }
        Self::from_join(after)
    }

    fn case(
        &mut self,
        label: DraftLabel,
        start: u32,
        colon: u32,
        body: &Stmt,
        mut flow: Flow,
        in_block: bool,
    ) -> Flow {
        if !in_block {
            self.stuck(start, "a case label inside of another statement");
        }
        let falls_in = self.is_reachable(&flow);
        let Some(switch) = self.switches.last_mut() else {
            self.stuck(start, "a case label outside of a switch");
            return flow;
        };
        switch.has_default |= label == PlainLabel::Default.into();
        let from = switch.node;
        flow.push(Dangling { from, label, site: Site::Case { start, colon, falls_in } });
        self.statement(body, flow, true)
    }

    /// Whether control may be here; when in doubt, yes.
    fn is_reachable(&self, flow: &Flow) -> bool {
        !flow.is_empty()
    }

    /// Replaces joins by what follows them and drops what cannot be reached.
    fn finish(mut self) -> Draft {
        let mut next: Vec<Option<NodeId>> = vec![None; self.nodes.len()];
        for edge in &self.edges {
            if matches!(self.nodes[edge.from.ix()], Item::Join) {
                next[edge.from.ix()] = Some(edge.to);
            }
        }
        let targets: Vec<NodeId> =
            (0..self.nodes.len()).map(|id| self.follow(NodeId::new(id), &mut next)).collect();
        // Keep the real nodes that can be reached, in the order they were made.
        let mut out: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (index, edge) in self.edges.iter().enumerate() {
            let is_real = matches!(self.nodes[edge.from.ix()], Item::Node(_));
            if is_real {
                out[edge.from.ix()].push(index);
            }
        }
        let mut reached = vec![false; self.nodes.len()];
        reached[1] = true;
        let mut todo = vec![NodeId(0)];
        while let Some(node) = todo.pop() {
            if !std::mem::replace(&mut reached[node.ix()], true) {
                todo.extend(out[node.ix()].iter().map(|e| targets[self.edges[*e].to.ix()]));
            }
        }
        let mut number = vec![NodeId(0); self.nodes.len()];
        let mut draft = Draft::default();
        for (old, item) in self.nodes.into_iter().enumerate() {
            if let (Item::Node(node), true) = (item, reached[old]) {
                number[old] = NodeId::new(draft.nodes.len());
                draft.nodes.push(node);
            }
        }
        for edge in self.edges {
            if reached[edge.from.ix()] && !out[edge.from.ix()].is_empty() {
                draft.edges.push(DraftEdge {
                    from: number[edge.from.ix()],
                    to: number[targets[edge.to.ix()].ix()],
                    label: edge.label,
                    site: edge.site,
                });
            }
        }
        draft.edges.sort_by_key(|edge| edge.from);
        draft
    }

    /// The real node that a chain of joins leads to. A ring of joins is an
    /// endless loop and becomes a node.
    fn follow(&mut self, start: NodeId, next: &mut [Option<NodeId>]) -> NodeId {
        let mut seen = Vec::new();
        let mut at = start;
        while matches!(self.nodes[at.ix()], Item::Join) {
            if seen.contains(&at) {
                let range = Range::new(0, 0);
                self.nodes[at.ix()] = Item::Node(DraftNode {
                    kind: NodeKind::Spin,
                    pieces: Vec::new(),
                    range,
                    calls: Vec::new(),
                    calls_are_certain: true,
                    is_asm: false,
                });
                return at;
            }
            seen.push(at);
            match next[at.ix()] {
                Some(to) => at = to,
                // Behind a loop that never ends: nobody gets there.
                None => return NodeId(1),
            }
        }
        // Later walks take the short way.
        for join in seen {
            next[join.ix()] = Some(at);
        }
        at
    }
}
