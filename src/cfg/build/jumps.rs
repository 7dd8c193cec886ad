//! Jumps and what happens on the way: labels, gotos, computed gotos, asm goto,
//! and the calls that scopes make when they are left.

use super::*;
use rustc_hash::FxHashSet;

/// Where `break` or `continue` leads.
#[derive(Clone, Copy)]
pub(super) enum Target {
    Join {
        join: NodeId,
        /// How many guards are in force there.
        guards: usize,
    },
    /// Compilers do not agree.
    Doubtful,
}

/// Something to call at the end of a scope.
#[derive(Clone, Copy)]
pub(super) struct Guard {
    number: u32,
    cleanup: Cleanup,
}

pub(super) struct LabelState {
    join: NodeId,
    /// A token that names it.
    named: u32,
    /// Where the label stands, as far as it was seen.
    place: Option<LabelPlace>,
}

struct LabelPlace {
    start: u32,
    /// The end of the statement that has to become a block if something is put
    /// before the label.
    block: Option<u32>,
    guards: Vec<u32>,
}

pub(super) struct PendingGoto {
    flow: Flow,
    label: Label,
    guards: Vec<Guard>,
}

pub(super) struct AsmJump {
    token: u32,
    label: Label,
    guards: Vec<u32>,
}

impl Builder<'_, '_> {
    pub(super) fn target(&self, join: NodeId) -> Target {
        Target::Join { join, guards: self.guards.len() }
    }

    /// `break` and `continue`.
    pub(super) fn jump(&mut self, target: Option<Target>, stmt: &Stmt, flow: Flow) -> Flow {
        match target {
            Some(Target::Join { join, guards }) => {
                let flow = self.clean_up(guards, flow);
                self.connect(flow, join);
            }
            Some(Target::Doubtful) => {
                self.stuck(stmt.range.start, "a break or continue in the head of a loop");
            }
            None => self.stuck(stmt.range.start, "a jump out of nothing"),
        }
        Vec::new()
    }

    fn label_join(&mut self, label: Label, named: u32) -> NodeId {
        if let Some(known) = self.labels.get(&label) {
            return known.join;
        }
        let join = self.join();
        self.labels.insert(label, LabelState { join, named, place: None });
        join
    }

    pub(super) fn define_label(&mut self, label: Label, start: u32, block: Option<u32>) -> NodeId {
        let join = self.label_join(label, start);
        let guards = self.guards.iter().map(|guard| guard.number).collect();
        let place = LabelPlace { start, block, guards };
        let known = self.labels.get_mut(&label).and_then(|state| state.place.replace(place));
        if known.is_some() {
            self.stuck(start, "a label that stands twice");
        }
        join
    }

    pub(super) fn goto(&mut self, label: Label, stmt: &Stmt, flow: Flow) -> Flow {
        let join = self.label_join(label, stmt.range.start);
        if self.guards.is_empty() {
            self.connect(flow, join);
        } else {
            let guards = self.guards.clone();
            self.pending.push(PendingGoto { flow, label, guards });
        }
        Vec::new()
    }

    /// Now that all labels are known, so is which scopes the gotos leave.
    pub(super) fn resolve_gotos(&mut self) {
        for PendingGoto { flow, label, guards } in std::mem::take(&mut self.pending) {
            let state = &self.labels[&label];
            let (join, there) = (state.join, state.place.as_ref().map(|place| &place.guards));
            let stay = there.map_or(0, |there| {
                guards.iter().zip(there).take_while(|(here, there)| here.number == **there).count()
            });
            self.guards = guards;
            let flow = self.clean_up(stay, flow);
            self.connect(flow, join);
        }
        self.guards.clear();
        for AsmJump { token, label, guards } in std::mem::take(&mut self.asm_jumps) {
            let there = self.labels.get(&label).and_then(|state| state.place.as_ref());
            // Compilers do not agree on what is called on the way.
            if there.is_some_and(|place| place.guards != guards) {
                self.stuck(token, "an asm goto out of a scope with a cleanup");
            }
        }
        let lost = self.labels.values().filter(|state| state.place.is_none());
        if let Some(named) = lost.map(|state| state.named).min() {
            self.stuck(named, "a jump to a label that is not there");
        }
    }

    /// `goto *e;` jumps without calling what scopes would call.
    pub(super) fn computed_goto(&mut self, target: &Expr, stmt: &Stmt, flow: Flow) -> Flow {
        let (_, out) =
            self.expression_node(NodeKind::Statement, target, Used::Otherwise, stmt.range, flow);
        let dispatch = match self.dispatch {
            Some(dispatch) => dispatch,
            None => self.add(NodeKind::Dispatch, Vec::new(), stmt.range),
        };
        self.dispatch = Some(dispatch);
        self.connect(out, dispatch);
        Vec::new()
    }

    /// An edge from all computed gotos to every label whose address is taken.
    pub(super) fn dispatch_to(&mut self, addressed: &[(u32, Label)]) {
        let Some(dispatch) = self.dispatch else {
            return;
        };
        let mut done = FxHashSet::default();
        for (token, label) in addressed {
            if !done.insert(*label) {
                continue;
            }
            let Some((join, place)) =
                self.labels.get(label).and_then(|s| Some((s.join, s.place.as_ref()?)))
            else {
                self.stuck(*token, "the address of a label that is not there");
                return;
            };
            let site = Site::Landing { label: *label, start: place.start, block: place.block };
            let label = DraftLabel::Label(*label);
            self.connect(vec![Dangling { from: dispatch, label, site }], join);
        }
    }

    pub(super) fn asm(&mut self, stmt: &Stmt, flow: Flow) -> NodeId {
        let pieces = vec![Piece::Tokens(stmt.range)];
        let id = self.add(NodeKind::Statement, pieces, stmt.range);
        if let Item::Node(node) = &mut self.nodes[id.ix()] {
            node.is_asm = true;
            node.run = RunSite::Block(stmt.range);
        }
        self.connect(flow, id);
        id
    }

    pub(super) fn asm_goto(&mut self, stmt: &Stmt, labels: &[(u32, Label)], flow: Flow) -> Flow {
        let from = self.asm(stmt, flow);
        let guards: Vec<u32> = self.guards.iter().map(|guard| guard.number).collect();
        for (token, label) in labels {
            let join = self.label_join(*label, *token);
            self.asm_jumps.push(AsmJump { token: *token, label: *label, guards: guards.clone() });
            let site = Site::AsmJumps { asm: stmt.range, label: *token };
            let label = DraftLabel::Label(*label);
            self.connect(vec![Dangling { from, label, site }], join);
        }
        let site = Site::AsmStays { asm: stmt.range };
        vec![Dangling { from, label: PlainLabel::Always.into(), site }]
    }

    /// From here on the scope has something to call when it is left.
    pub(super) fn guard(&mut self, cleanups: &[Cleanup]) {
        for cleanup in cleanups {
            let number = self.guard_count;
            self.guard_count += 1;
            self.guards.push(Guard { number, cleanup: *cleanup });
        }
    }

    pub(super) fn close_scope(&mut self, guards: usize, flow: Flow) -> Flow {
        let flow = self.clean_up(guards, flow);
        self.guards.truncate(guards);
        flow
    }

    /// Calls all guards but the first so many, the last first.
    pub(super) fn clean_up(&mut self, keep: usize, mut flow: Flow) -> Flow {
        for index in (keep..self.guards.len()).rev() {
            if flow.is_empty() {
                break;
            }
            let Cleanup { callee, range } = self.guards[index].cleanup;
            let called = Piece::Tokens(Range::new(callee, callee + 1));
            let pieces = vec![Piece::Hole(Hole::Cleanup), called, Piece::Tokens(range)];
            let id = self.add(NodeKind::Cleanup, pieces, range);
            if let Item::Node(node) = &mut self.nodes[id.ix()] {
                let range = Range::new(callee, callee + 1);
                node.calls = vec![DraftCall { token: callee, range, is_early: true }];
            }
            self.connect(flow, id);
            flow = if self.never_returns(callee) { Vec::new() } else { Self::from_join(id) };
        }
        flow
    }
}
