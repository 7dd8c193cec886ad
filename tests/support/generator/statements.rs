//! Random statements and blocks.

use super::maker::{Context, Maker};
use super::options::Construct;
use super::program::*;

impl Maker<'_> {
    /// What is made within has its own scope.
    fn scoped<T>(&mut self, context: Context, make: impl FnOnce(&mut Self) -> T) -> T {
        let outer = (self.context, self.scope, self.assigning);
        self.scope = self.vars.len();
        self.context = context;
        self.assigning = false;
        let made = make(self);
        self.vars.truncate(self.scope);
        (self.context, self.scope, self.assigning) = outer;
        made
    }

    pub fn block(&mut self, depth: usize) -> Block {
        self.scoped(self.context, |maker| {
            let count = maker.random.between(1, maker.program.options.statements);
            let items = maker.items(count, depth, true);
            maker.finish_block(items)
        })
    }

    fn block_in(&mut self, context: Context, depth: usize) -> Block {
        self.scoped(context, |maker| maker.block(depth))
    }

    /// Adds what concerns a block as a whole. Its scope is still open, so what
    /// is added reads only what was there before.
    fn finish_block(&mut self, items: Vec<Item>) -> Block {
        let mut block = Block { items, ..Block::default() };
        self.show_locals(&mut block);
        if !self.pure && self.random.percent(22) {
            self.add_label(&mut block);
        }
        block.digraphs = self.allows(Construct::Digraph) && self.random.percent(2);
        block.contract = self.allows(Construct::PragmaContract) && self.random.percent(2);
        block
    }

    /// What a block computed shall not be lost with its variables.
    pub fn show_locals(&mut self, block: &mut Block) {
        let scalar = [Class::Wide, Class::Narrow, Class::Const];
        for var in &self.vars[self.scope..] {
            if !self.pure && scalar.contains(&var.class) && self.random.percent(40) {
                block.items.push(Statement::Emit(Expr::Read(*var)).into());
            }
        }
    }

    pub fn items(&mut self, count: usize, depth: usize, declare: bool) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::new();
        for _ in 0..count {
            if declare && self.random.percent(28) {
                items.push(self.declaration().into());
            } else {
                items.push(self.statement(depth).into());
            }
        }
        for item in &mut items {
            if self.random.percent(6) {
                item.comment = self.random.number(5) + 1;
            }
        }
        items
    }

    /// A label, and a jump to it from before or from behind. No declaration of
    /// this block may stand between them when the jump goes forward.
    pub fn add_label(&mut self, block: &mut Block) {
        let label = self.fresh();
        let at = self.random.below(block.items.len() + 1);
        let is_declaration = |item: &Item| matches!(item.statement, Statement::Declare(_));
        let scope = std::mem::take(&mut self.vars);
        self.vars = scope.iter().copied().filter(|var| var.global).collect();
        let forward = self.random.percent(60);
        let test = self.pure(1, true);
        let goto = Statement::Goto { label, guarded: !forward };
        let jump = match self.random.below(8) {
            0 if self.allows(Construct::StatementExpression) => {
                let jump = Statement::If(test, Block::of(vec![goto]), None);
                let value = Box::new(self.stable());
                Statement::Emit(Expr::Statement(Block::of(vec![jump]), value))
            }
            1 | 2 => {
                Statement::If(test, Block::of(vec![goto]), Some(Block::of(vec![Statement::Empty])))
            }
            _ => Statement::If(test, Block::of(vec![goto]), None),
        };
        self.vars = scope;
        let label = Item::from(Statement::Label(label));
        if forward {
            let first = block.items[..at].iter().rposition(is_declaration).map_or(0, |p| p + 1);
            let from = self.random.between(first, at);
            block.items.insert(at, label);
            self.put_jump(&mut block.items, from, at, jump);
        } else {
            let behind = self.random.between(at, block.items.len());
            self.put_jump(&mut block.items, behind, behind, jump);
            block.items.insert(at, label);
        }
    }

    /// Puts a jump at `from`, or into a block of a statement between `from` and
    /// `to`.
    fn put_jump(&mut self, items: &mut Vec<Item>, from: usize, to: usize, jump: Statement) {
        if from < to
            && self.random.percent(40)
            && let Statement::If(_, inner, _)
            | Statement::Loop(_, _, inner)
            | Statement::Count(_, _, inner) = &mut items[from].statement
        {
            let place = self.random.below(inner.items.len() + 1);
            let after_declarations = inner.items[..place]
                .iter()
                .all(|item| !matches!(item.statement, Statement::Fallthrough | Statement::Case(_)));
            if after_declarations {
                inner.items.insert(place, jump.into());
                return;
            }
        }
        items.insert(from, jump.into());
    }

    pub fn statement(&mut self, depth: usize) -> Statement {
        if depth == 0 || self.random.percent(35) {
            return self.simple(depth);
        }
        let less = depth - 1;
        if self.pure {
            return match self.random.below(3) {
                0 => self.count(less),
                1 => self.switch(less),
                _ => self.if_else(less),
            };
        }
        match self.random.weighted(&[26, 16, 12, 14, 3, 32]) {
            0 => self.if_else(less),
            1 => self.endless(less),
            2 => self.count(less),
            3 => self.switch(less),
            4 => Statement::Block(self.block(less)),
            _ => self.special(less),
        }
    }

    fn simple(&mut self, depth: usize) -> Statement {
        if self.pure {
            return match self.random.below(8) {
                0 => self.leave(),
                1 => Statement::Empty,
                _ => Statement::Expr(self.assignment(2)),
            };
        }
        match self.random.weighted(&[30, 30, 12, 6, 3, 3, 6, 4, 2]) {
            0 => Statement::Emit(self.rich(2)),
            1 => Statement::Expr(self.assignment(2)),
            2 => match self.callee(false) {
                Some((id, count)) => Statement::Expr(Expr::Call(id, self.arguments(count, 2))),
                None => Statement::Emit(self.rich(2)),
            },
            3 => self.leave(),
            4 => Statement::Empty,
            5 => match self.void_call() {
                Some(call) => call,
                None => Statement::Expr(Expr::Comma(
                    Box::new(self.assignment(1)),
                    Box::new(self.assignment(1)),
                )),
            },
            6 => match self.step() {
                Some(step) => Statement::Expr(step),
                None => Statement::Emit(self.pure(2, true)),
            },
            7 => self.macro_call().unwrap_or_else(|| Statement::Emit(self.rich(2))),
            _ if depth > 0 && self.allows(Construct::PragmaDiagnostic) => {
                Statement::Pragma(self.random.percent(50))
            }
            _ => Statement::Emit(self.pure(1, true)),
        }
    }

    fn void_call(&mut self) -> Option<Statement> {
        let fitting: Vec<(Id, usize)> = self
            .program
            .procedures
            .iter()
            .filter(|one| one.role == Role::Plain && one.result.is_none())
            .filter(|one| one.rank > self.rank)
            .filter(|one| self.sees(one))
            .map(|one| (one.id, one.parameters.len()))
            .collect();
        let (id, count) = self.random.pick(&fitting).copied()?;
        self.calls = self.calls.checked_sub(1)?;
        Some(Statement::Expr(Expr::Call(id, self.arguments(count, 2))))
    }

    fn macro_call(&mut self) -> Option<Statement> {
        if self.context.writable > 0 {
            return None;
        }
        let fitting: Vec<&Macro> = self
            .visible_macros()
            .filter(|defined| matches!(defined.body, MacroBody::Block(_)))
            .collect();
        let chosen = self.random.pick(&fitting)?;
        let (id, count) = (chosen.id, chosen.parameters);
        Some(Statement::MacroCall(id, self.operands(count, 1, true)))
    }

    /// A statement that jumps, most often behind a condition.
    fn leave(&mut self) -> Statement {
        let mut ways = Vec::new();
        if self.context.breaks {
            ways.extend([Statement::Break, Statement::Break]);
        }
        if self.context.continues {
            ways.extend([Statement::Continue, Statement::Continue]);
        }
        if self.context.returns {
            ways.push(self.give_back());
        }
        if !self.pure {
            if self.allows(Construct::Exit) && self.random.percent(25) {
                let report = self.random.percent(60);
                ways.push(Statement::Exit { report, status: self.stable() });
            }
            if self.allows(Construct::Setjmp) {
                ways.push(Statement::Throw(self.stable()));
            }
        }
        let Some(way) = self.random.pick(&ways).cloned() else { return Statement::Empty };
        if self.random.percent(8) {
            return way;
        }
        Statement::If(self.condition(2), Block::of(vec![way]), None)
    }

    pub fn give_back(&mut self) -> Statement {
        Statement::Return((!self.is_void).then(|| self.rich(1)))
    }

    fn if_else(&mut self, depth: usize) -> Statement {
        let test = self.condition(2);
        let then = self.block(depth);
        let other = match self.random.below(10) {
            0..=3 => None,
            4..=6 => Some(Block::of(vec![self.if_else(depth.saturating_sub(1))])),
            _ => Some(self.block(depth)),
        };
        Statement::If(test, then, other)
    }

    fn in_loop(&self) -> Context {
        Context { breaks: true, continues: true, ..self.context }
    }

    /// A break in the head of a loop means different loops to gcc and to clang.
    fn head<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let context = Context { breaks: false, continues: false, ..self.context };
        self.scoped(context, make)
    }

    /// A loop that only its condition or the fuel ends.
    fn endless(&mut self, depth: usize) -> Statement {
        let kind = self.random.one(&[Loop::While, Loop::Do, Loop::For]);
        let is_for = kind == Loop::For;
        let (init, test, step) = self.head(|maker| {
            let init = (is_for && maker.random.percent(50)).then(|| maker.assignment(1));
            let test = (!is_for || maker.random.percent(60)).then(|| match maker.random.below(6) {
                0 => Expr::number(1),
                1..=3 => maker.counting(),
                _ => maker.condition(2),
            });
            let step = (is_for && maker.random.percent(60)).then(|| match maker.random.below(4) {
                0 => Expr::Comma(Box::new(maker.assignment(1)), Box::new(maker.assignment(0))),
                1 => maker.rich(1),
                _ => maker.assignment(1),
            });
            (init, test, step)
        });
        let fuel_in_test = test.is_some() && self.random.percent(30);
        let head = LoopHead { init, test, step, fuel_in_test, unroll: self.unroll() };
        let is_constant = matches!(head.test, None | Some(Expr::Number(..)));
        let mut body = self.block_in(self.in_loop(), depth);
        if is_constant && self.random.percent(85) {
            let test = self.counting();
            body.items.push(Statement::If(test, Block::of(vec![Statement::Break]), None).into());
        }
        Statement::Loop(kind, head, body)
    }

    /// A test that changes each time, so that a loop does not use all the fuel.
    fn counting(&mut self) -> Expr {
        let Some(step) = self.step() else { return self.condition(2) };
        let modulus = Expr::number(self.random.number(4) + 2);
        Expr::Binary(Binary::Mod, Box::new(step), Box::new(modulus))
    }

    fn unroll(&mut self) -> bool {
        self.allows(Construct::PragmaUnroll) && self.random.percent(4)
    }

    fn count(&mut self, depth: usize) -> Statement {
        let var = self.new_var(Class::Counter);
        let limit = if self.pure { 4 } else { self.random.one(&[4, 8, 8, 16]) };
        let count = Count { var, down: self.random.percent(25), limit, unroll: self.unroll() };
        let rounds = self.head(|maker| maker.pure(1, false));
        let body = self.scoped(self.in_loop(), |maker| {
            maker.vars.push(var);
            maker.block(depth)
        });
        Statement::Count(count, rounds, body)
    }

    fn switch(&mut self, depth: usize) -> Statement {
        let value = self.head(|maker| {
            let value = Box::new(if maker.random.percent(25) {
                maker.rich(1)
            } else {
                maker.pure(2, true)
            });
            if maker.random.percent(50) {
                Expr::Binary(Binary::BitAnd, value, Box::new(Expr::number(7)))
            } else {
                Expr::Binary(Binary::Mod, value, Box::new(Expr::number(maker.random.number(4) + 3)))
            }
        });
        let context = Context { breaks: true, ..self.context };
        let body = self.scoped(context, |maker| maker.switch_body(depth));
        Statement::Switch(value, body)
    }

    fn switch_body(&mut self, depth: usize) -> Block {
        let mut labels = self.case_labels();
        let default = self.random.below(labels.len() + 3);
        let mut items: Vec<Item> = Vec::new();
        let mut place = 0;
        while !labels.is_empty() || place == default {
            if place == default {
                items.push(Statement::Default.into());
            } else {
                items.push(Statement::Case(labels.remove(0)).into());
                if self.random.percent(20) && !labels.is_empty() {
                    items.push(Statement::Case(labels.remove(0)).into());
                }
            }
            place += 1;
            let count = self.random.between(1, 2);
            if self.random.percent(30) {
                let mut inner = self.block(depth);
                // A case within, if no declaration would be jumped over.
                if !labels.is_empty() && self.random.percent(50) {
                    let first = inner
                        .items
                        .iter()
                        .position(|item| matches!(item.statement, Statement::Declare(_)));
                    let at = self.random.below(first.unwrap_or(inner.items.len()) + 1);
                    inner.items.insert(at, Statement::Case(labels.remove(0)).into());
                }
                items.push(Statement::Block(inner).into());
            } else {
                items.extend(self.items(count, depth, false));
            }
            let more = !labels.is_empty() || place == default;
            match self.random.below(10) {
                0..=6 => items.push(Statement::Break.into()),
                7 if more => items.push(Statement::Fallthrough.into()),
                _ => {}
            }
        }
        Block { items, ..Block::default() }
    }

    /// Different values, some as ranges or enumerators.
    fn case_labels(&mut self) -> Vec<CaseLabel> {
        let count = self.random.between(2, 4);
        let mut labels = Vec::new();
        let mut next = self.random.number(2);
        for _ in 0..count {
            if self.random.percent(20) {
                let last = next + self.random.number(3);
                labels.push(CaseLabel::Range(next, last));
                next = last + 1;
            } else {
                labels.push(CaseLabel::Value(next));
                next += 1 + self.random.number(2);
            }
        }
        if let Some(one) = self.random.pick(&self.program.enums)
            && self.random.percent(40)
        {
            let values = one.values();
            if let Some(place) = values.iter().position(|value| *value >= next) {
                labels.push(CaseLabel::Enumerator(one.id, place));
            }
        }
        self.random.shuffle(&mut labels);
        labels
    }

    pub fn statement_expression(&mut self, depth: usize) -> Expr {
        let context = Context { inner: true, ..self.context };
        self.scoped(context, |maker| {
            let count = maker.random.between(1, 3);
            let mut block =
                Block { items: maker.items(count, depth.min(1), true), ..Block::default() };
            let value = maker.pure(1, true);
            if maker.allows(Construct::LocalLabel) && maker.random.percent(30) {
                maker.add_label(&mut block);
                block.local_labels = true;
            }
            Expr::Statement(block, Box::new(value))
        })
    }
}
