//! Statements that are no jumps: blocks, branches, loops, switches.

use super::*;
use crate::cfg::holes::operands_call;

impl Builder<'_, '_> {
    /// Lowers a statement. `in_block` if statements may be put before it.
    pub(super) fn statement(&mut self, stmt: &Stmt, mut flow: Flow, in_block: bool) -> Flow {
        match &stmt.kind {
            StmtKind::Empty => flow,
            StmtKind::Block(items) => {
                let guards = self.guards.len();
                for item in items {
                    flow = self.statement(item, flow, true);
                }
                self.close_scope(guards, flow)
            }
            StmtKind::Expr(expr) => {
                let in_operands = operands_call(expr);
                let site = Site::AfterExpression { end: expr.range.end, in_operands };
                self.simple(expr, Used::Dropped, stmt.range, site, flow)
            }
            StmtKind::Decl(expr) => {
                let in_operands = operands_call(expr);
                let site = Site::AfterDeclaration { end: stmt.range.end, in_operands };
                self.simple(expr, Used::Declaration, stmt.range, site, flow)
            }
            StmtKind::Guarded { declaration, cleanups } => {
                let flow = self.statement(declaration, flow, in_block);
                self.guard(cleanups);
                flow
            }
            StmtKind::Asm => {
                let id = self.asm(stmt, flow);
                Self::from_join(id)
            }
            StmtKind::AsmGoto(labels) => self.asm_goto(stmt, labels, flow),
            StmtKind::If { arms, otherwise } => {
                let mut out = Vec::new();
                for (cond, then) in arms {
                    let known =
                        self.rounds.iter().position(|(token, _)| *token == cond.range.start);
                    let around = known.map(|index| self.rounds.swap_remove(index).1);
                    let (yes, no) = self.condition_of(cond, flow, around);
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
                let around = self.round_of(stmt, body);
                let (yes, no) = self.head(stmt, cond, Self::from_join(head), around);
                self.rounds = around.map_or_else(Vec::new, |round| round.checks(body));
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
                let (yes, no) = self.head(stmt, cond, Self::from_join(check), None);
                self.connect(yes, head);
                self.leave(no, after)
            }
            StmtKind::For(parts) => {
                let For { init, cond, step, body } = &**parts;
                let guards = self.guards.len();
                if let Some(init) = init {
                    flow = self.for_init(init, flow);
                }
                let head = self.join();
                self.connect(flow, head);
                let around = self.round_of(stmt, body);
                let (yes, no) = match cond {
                    Some(cond) => self.head(stmt, cond, Self::from_join(head), around),
                    None => (Self::from_join(head), Vec::new()),
                };
                let next = self.join();
                self.rounds = around.map_or_else(Vec::new, |round| round.checks(body));
                let (out, after) = self.looped(body, yes, next);
                self.connect(out, next);
                let mut back = Self::from_join(next);
                if let Some(step) = step {
                    let in_operands = operands_call(step);
                    let site = Site::AfterExpression { end: step.range.end, in_operands };
                    back = self.in_head(|b| b.simple(step, Used::Dropped, step.range, site, back));
                }
                self.connect(back, head);
                let out = self.leave(no, after);
                self.close_scope(guards, out)
            }
            StmtKind::Switch { value, body } => self.switch(value, body, flow),
            StmtKind::Labelled { labels, body } => {
                self.labelled(stmt, labels, body, flow, in_block)
            }
            StmtKind::Goto(label) => self.goto(*label, stmt, flow),
            StmtKind::ComputedGoto(target) => self.computed_goto(target, stmt, flow),
            StmtKind::Break => self.jump(self.breaks.last().copied(), stmt, flow),
            StmtKind::Continue => self.jump(self.continues.last().copied(), stmt, flow),
            StmtKind::Return(value) => {
                if let Some(value) = value {
                    let (_, out) = self.expression_node(
                        NodeKind::Statement,
                        value,
                        Used::Returned,
                        stmt.range,
                        flow,
                    );
                    flow = out;
                }
                let flow = self.clean_up(0, flow);
                self.connect(flow, NodeId(1));
                Vec::new()
            }
        }
    }

    /// Nothing can be put behind a declaration in the head of a loop.
    fn for_init(&mut self, init: &Stmt, flow: Flow) -> Flow {
        match &init.kind {
            StmtKind::Decl(expr) => self.simple(expr, Used::InHead, init.range, Site::None, flow),
            StmtKind::Guarded { declaration, cleanups } => {
                let flow = self.for_init(declaration, flow);
                self.guard(cleanups);
                flow
            }
            _ => self.statement(init, flow, false),
        }
    }

    /// Nothing may be put between a loop and a pragma that is about it.
    fn round_of(&self, stmt: &Stmt, body: &Stmt) -> Option<Round> {
        let may_be_enclosed = !self.pragmas.is_about_loop(stmt.range.start);
        Round::of(stmt, body).filter(|_| may_be_enclosed)
    }

    /// The condition of a loop; `around` if the only way into its body is that
    /// the condition holds.
    fn head(
        &mut self,
        stmt: &Stmt,
        cond: &Expr,
        flow: Flow,
        around: Option<Round>,
    ) -> (Flow, Flow) {
        self.head_stays = self.pragmas.is_about_loop(stmt.range.start);
        let ways = self.in_head(|builder| builder.condition_of(cond, flow, around));
        self.head_stays = false;
        ways
    }

    /// gcc and clang do not agree on what a `break` in the head of a loop
    /// breaks, which a statement expression can hold.
    fn in_head<T>(&mut self, build: impl FnOnce(&mut Self) -> T) -> T {
        self.breaks.push(Target::Doubtful);
        self.continues.push(Target::Doubtful);
        let built = build(self);
        self.breaks.pop();
        self.continues.pop();
        built
    }

    /// The body of a loop. Returns what falls out of its end, and the join
    /// behind the loop.
    fn looped(&mut self, body: &Stmt, flow: Flow, next: NodeId) -> (Flow, NodeId) {
        let after = self.join();
        self.breaks.push(self.target(after));
        self.continues.push(self.target(next));
        let out = self.statement(body, flow, false);
        self.breaks.pop();
        self.continues.pop();
        (out, after)
    }

    fn leave(&mut self, flow: Flow, after: NodeId) -> Flow {
        self.connect(flow, after);
        Self::from_join(after)
    }

    fn switch(&mut self, value: &Expr, body: &Stmt, flow: Flow) -> Flow {
        let (node, reached) =
            self.expression_node(NodeKind::Switch, value, Used::Otherwise, value.range, flow);
        let after = self.join();
        self.breaks.push(self.target(after));
        self.switches.push(Switch { node, has_default: false });
        let out = self.statement(body, Vec::new(), false);
        let switch = self.switches.pop();
        self.breaks.pop();
        let falls_in = self.is_reachable(&out);
        self.connect(out, after);
        if switch.is_some_and(|switch| !switch.has_default) && !reached.is_empty() {
            let site = match body.kind {
                StmtKind::Block(_) => Site::MissingDefault { close: body.range.end - 1, falls_in },
                _ => Site::MissingBlock { body: body.range, falls_in },
            };
            let label = PlainLabel::Default.into();
            self.connect(vec![Dangling { from: node, label, site }], after);
        }
        Self::from_join(after)
    }

    fn labelled(
        &mut self,
        stmt: &Stmt,
        labels: &[LabelAt],
        body: &Stmt,
        mut flow: Flow,
        mut in_block: bool,
    ) -> Flow {
        for label in labels {
            let block = (!in_block).then_some(stmt.range.end);
            match label.kind {
                LabelKind::Named(name) => {
                    let join = self.define_label(name, label.start, block);
                    self.connect(flow, join);
                    flow = Self::from_join(join);
                    continue;
                }
                LabelKind::Case(value) => {
                    self.case(DraftLabel::Case(value), label, block, &mut flow);
                }
                LabelKind::Default => {
                    self.case(PlainLabel::Default.into(), label, block, &mut flow);
                }
            }
            in_block = true;
        }
        self.statement(body, flow, in_block)
    }

    fn case(&mut self, label: DraftLabel, at: &LabelAt, block: Option<u32>, flow: &mut Flow) {
        let falls_in = self.is_reachable(flow);
        let Some(switch) = self.switches.last_mut() else {
            self.stuck(at.start, "a case label outside of a switch");
            return;
        };
        let is_default = label == PlainLabel::Default.into();
        let is_second = is_default && std::mem::replace(&mut switch.has_default, true);
        let from = switch.node;
        if is_second {
            self.stuck(at.start, "a second default");
        }
        let site = Site::Case { start: at.start, colon: at.colon, falls_in, block };
        flow.push(Dangling { from, label, site });
    }

    /// Whether control may be here; when in doubt, yes.
    fn is_reachable(&self, flow: &Flow) -> bool {
        !flow.is_empty()
    }
}
