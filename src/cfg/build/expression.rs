//! Expressions: one node, or several where operands branch.

use super::*;
use crate::cfg::holes::{
    OwnParts, bare, calls_anything, has_indirect_call, is_hole, pieces_around,
};
use crate::frontend::lex::Kind;
use crate::frontend::names::kw;

/// What becomes of the value of an expression that is a node.
#[derive(Clone, Copy)]
pub(super) enum Used {
    /// Nothing.
    Dropped,
    /// It decides where to go, as something true or false.
    Condition,
    Returned,
    /// The expression stands for a whole declaration.
    Declaration,
    /// The same in the head of a loop.
    InHead,
    /// Something else.
    Otherwise,
}

impl Used {
    /// Where to note that a node runs that nothing inside of it comes before.
    fn before(self, expr: Range) -> RunSite {
        match self {
            Self::Declaration => RunSite::DeclaredBefore(expr.start),
            Self::InHead => RunSite::None,
            _ => RunSite::Before(expr),
        }
    }

    /// The same for one whose operands are nodes that run before it.
    fn behind(self, expr: Range) -> RunSite {
        match self {
            Self::Dropped => RunSite::Behind(expr),
            Self::Condition => RunSite::Outcome(expr),
            Self::Returned => RunSite::Value(expr),
            Self::Declaration => RunSite::DeclaredBehind(expr.end - 1),
            Self::InHead | Self::Otherwise => RunSite::None,
        }
    }
}

impl Builder<'_, '_> {
    /// A node for an expression: what it evaluates on the way first, then
    /// itself. The flow behind it is empty if it calls what never returns.
    pub(super) fn expression_node(
        &mut self,
        kind: NodeKind,
        expr: &Expr,
        used: Used,
        shown: Range,
        flow: Flow,
    ) -> (NodeId, Flow) {
        let OwnParts { holes, calls } = OwnParts::of(expr);
        let front = self.nodes.len();
        let flow = self.unordered(expr, shown, &holes, &calls, flow);
        if let Some(Item::Node(front)) = self.nodes.get_mut(front) {
            front.run = used.before(expr.range);
        }
        let flow = self.operands(expr, flow);
        let id = self.add(kind, pieces_around(self.tree, shown, &holes), shown);
        self.connect(flow, id);
        let never_returns = calls.iter().any(|call| self.never_returns(call.token));
        let may_leave = self.may_leave(shown, &holes) || has_indirect_call(expr);
        if let Item::Node(node) = &mut self.nodes[id.ix()] {
            node.calls = calls;
            node.may_leave = may_leave;
            node.calls_pointer = has_indirect_call(expr);
            let is_first = holes.is_empty();
            node.run = if is_first { used.before(expr.range) } else { used.behind(expr.range) };
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
        calls: &[DraftCall],
        flow: Flow,
    ) -> Flow {
        if holes.is_empty() {
            return flow;
        }
        let own_leaves = self.may_leave(shown, holes);
        let hole_leaves =
            holes.iter().any(|hole| calls_anything(hole) || self.may_leave(hole.range, &[]));
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
        let mut holes = holes.iter().peekable();
        (range.start..range.end).any(|token| {
            while holes.peek().is_some_and(|hole| hole.range.end <= token) {
                holes.next();
            }
            let is_inside = holes.peek().is_some_and(|hole| hole.range.contains(token));
            !is_inside
                && match self.tree.token_text(token) {
                    b"*" => token == range.start || !self.is_product(token),
                    b"/" | b"%" | b"[" | b"->" | b"/=" | b"%=" => true,
                    // A statement does not leave by being one.
                    b"return" | b"goto" | b"break" | b"continue" | b"{" => token > range.start,
                    // A name or a closing bracket before it makes it a call; of those
                    // that are known otherwise, parentheses.
                    b"(" => {
                        token > range.start
                            && (self.tree.token_text(token - 1) == b"]" || self.is_name(token - 1))
                    }
                    _ => false,
                }
        })
    }

    /// Whether a `*` multiplies, or is part of a type: it reads no memory.
    fn is_product(&self, star: u32) -> bool {
        let before = &self.tree.tokens.all[star as usize - 1];
        before.kind == Kind::Number || self.is_name(star - 1) || before.name == kw::TYPE_WORD
    }

    fn is_name(&self, token: u32) -> bool {
        let token = &self.tree.tokens.all[token as usize];
        token.kind == Kind::Word && !token.name.is_keyword()
    }

    pub(super) fn never_returns(&self, callee: u32) -> bool {
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
            ExprKind::Generic { types } => self.generic(expr, types, flow),
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
        let (id, out) =
            self.expression_node(NodeKind::Predicate, cond, Used::Otherwise, cond.range, flow);
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
        let guards = self.guards.len();
        for (index, item) in items.iter().enumerate() {
            flow = match &item.kind {
                StmtKind::Expr(value) if index + 1 == items.len() => {
                    self.simple(value, Used::Otherwise, item.range, Site::None, flow)
                }
                _ => self.statement(item, flow, true),
            };
        }
        self.close_scope(guards, flow)
    }

    /// `_Generic`: the compiler chose a branch, nobody tells us which. It has
    /// no probe, so all of them count as taken.
    fn generic(&mut self, expr: &Expr, types: &[Option<Range>], flow: Flow) -> Flow {
        let branches: Vec<&Expr> = expr.kids.iter().collect();
        let pieces = pieces_around(self.tree, expr.range, &branches);
        let id = self.add(NodeKind::Switch, pieces, expr.range);
        self.connect(flow, id);
        let mut out = Vec::new();
        for (branch, kind) in expr.kids.iter().zip(types) {
            let label = kind.map_or(PlainLabel::Default.into(), DraftLabel::Case);
            out.extend(self.value(branch, vec![Dangling { from: id, label, site: Site::None }]));
        }
        out
    }

    /// An operand that is evaluated for its value, as a node of its own unless
    /// it consists of nothing but such operands.
    fn value(&mut self, expr: &Expr, flow: Flow) -> Flow {
        let inner = bare(expr);
        if is_hole(inner) {
            return self.operands(inner, flow);
        }
        self.expression_node(NodeKind::Statement, inner, Used::Otherwise, inner.range, flow).1
    }

    /// A condition: the flow when it holds and when it does not.
    pub(super) fn condition(&mut self, expr: &Expr, flow: Flow) -> (Flow, Flow) {
        self.condition_of(expr, flow, None)
    }

    /// The same for one that decides whether a loop goes on.
    pub(super) fn condition_of(
        &mut self,
        expr: &Expr,
        mut flow: Flow,
        around: Option<Round>,
    ) -> (Flow, Flow) {
        match (&expr.kind, expr.kids.as_slice()) {
            (ExprKind::Paren, [inner]) => self.condition_of(inner, flow, around),
            // `!` of a plain operand stays part of its node, so that an edge
            // says what the source says.
            (ExprKind::Not, [inner]) if is_hole(bare(inner)) => {
                let around = around.map(Round::opposite);
                let (yes, no) = self.condition_of(inner, flow, around);
                (no, yes)
            }
            (ExprKind::And | ExprKind::Or, kids) => {
                let is_and = matches!(expr.kind, ExprKind::And);
                let around = around.filter(|round| round.goes_on_if == is_and);
                let mut leaving = Vec::new();
                for kid in kids {
                    let (yes, no) = self.condition_of(kid, flow, around);
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
                let (id, _) = self.expression_node(
                    NodeKind::Predicate,
                    expr,
                    Used::Condition,
                    expr.range,
                    flow,
                );
                let label = if holds { PlainLabel::True } else { PlainLabel::False };
                let out = vec![Dangling { from: id, label: label.into(), site: Site::None }];
                if holds { (out, Vec::new()) } else { (Vec::new(), out) }
            }
            _ => {
                let (id, out) = self.expression_node(
                    NodeKind::Predicate,
                    expr,
                    Used::Condition,
                    expr.range,
                    flow,
                );
                let stays = self.head_stays;
                let arm = |label: PlainLabel, outcome| {
                    let first_of = around.filter(|round| round.goes_on_if == outcome);
                    let first_of = first_of.map(|round| round.of);
                    let arm =
                        Site::Arm { condition: expr.range, weak: expr.weak, outcome, first_of };
                    let site = if stays { Site::None } else { arm };
                    vec![Dangling { from: id, label: label.into(), site }]
                };
                if out.is_empty() {
                    return (Vec::new(), Vec::new());
                }
                (arm(PlainLabel::True, true), arm(PlainLabel::False, false))
            }
        }
    }

    /// A statement that is one node.
    pub(super) fn simple(
        &mut self,
        expr: &Expr,
        used: Used,
        shown: Range,
        site: Site,
        flow: Flow,
    ) -> Flow {
        let (_, mut out) = self.expression_node(NodeKind::Statement, expr, used, shown, flow);
        if calls_anything(expr) {
            out.iter_mut().for_each(|edge| edge.site = site);
        }
        out
    }
}
