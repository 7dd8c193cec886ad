//! Random statements of fixed shape.

use super::maker::{Context, Maker};
use super::options::Construct;
use super::program::*;

impl Maker<'_> {
    pub fn special(&mut self, depth: usize) -> Statement {
        let kinds = [
            (Construct::Duff, Special::Duff),
            (Construct::ComputedGoto, Special::Computed { offsets: false }),
            (Construct::ComputedGotoOffsets, Special::Computed { offsets: true }),
            (Construct::AsmGoto, Special::AsmGoto { jumps: false }),
            (Construct::AsmGotoJumping, Special::AsmGoto { jumps: true }),
            (Construct::Asm, Special::Asm),
            (Construct::Setjmp, Special::Try),
            (Construct::Setjmp, Special::Try),
            (Construct::Vla, Special::Vla),
            (Construct::Qsort, Special::Sort(0)),
            (Construct::Unreachable, Special::Unreachable),
            (Construct::BareSwitch, Special::BareSwitch(self.random.number(3))),
            (Construct::NestedFunction, Special::Nested),
            (Construct::Float, Special::Float),
        ];
        let allowed: Vec<Special> = kinds
            .into_iter()
            .filter(|(construct, _)| self.allows(*construct))
            .map(|(_, special)| special)
            .collect();
        match self.random.pick(&allowed).copied() {
            Some(special) => self.special_of(special, depth),
            None => Statement::Block(self.block(depth)),
        }
    }

    fn special_of(&mut self, mut special: Special, depth: usize) -> Statement {
        let number = self.fresh();
        let mut exprs = Vec::new();
        let mut blocks = Vec::new();
        let context = self.context;
        match special {
            Special::Duff => {
                exprs.push(self.pure(1, true));
                let context = Context { breaks: true, continues: true, ..context };
                blocks = self.blocks(3, context, depth);
            }
            // clang wants each of these to fit the labels of all of them in the
            // procedure, so there is one.
            Special::Computed { .. } | Special::AsmGoto { .. }
                if self.computed || context.inner =>
            {
                return Statement::Block(self.block(depth));
            }
            Special::Computed { .. } => {
                self.computed = true;
                exprs = vec![self.pure(2, true), self.pure(1, true)];
                blocks = self.blocks(3, context, depth);
            }
            Special::AsmGoto { .. } => {
                self.computed = true;
                exprs.push(self.pure(1, true));
                blocks = self.blocks(2, context, depth);
            }
            Special::Asm => exprs = self.operands(2, 1, true),
            Special::Try => {
                if context.inner || context.writable > 0 {
                    return Statement::Throw(self.stable());
                }
                let volatile = Var { class: Class::Volatile, number, global: false };
                exprs.push(self.pure(1, true));
                let writable = self.vars.len();
                let inside = Context {
                    breaks: false,
                    continues: false,
                    returns: false,
                    writable,
                    inner: true,
                };
                self.vars.push(volatile);
                blocks.extend(self.blocks(1, inside, depth));
                if self.random.percent(60) {
                    let test = self.pure(1, true);
                    let throw = Block::of(vec![Statement::Throw(self.stable())]);
                    blocks[0].items.push(Statement::If(test, throw, None).into());
                }
                blocks.extend(self.blocks(1, context, depth));
                self.vars.pop();
            }
            Special::Vla => exprs = self.operands(3, 1, false),
            Special::Sort(_) => {
                let fitting: Vec<Id> = self
                    .program
                    .comparators
                    .iter()
                    .filter(|one| one.unit == self.unit)
                    .map(|one| one.id)
                    .collect();
                let Some(id) = self.random.pick(&fitting).copied() else {
                    return Statement::Block(self.block(depth));
                };
                special = Special::Sort(id);
                exprs = self.operands(4, 1, true);
            }
            Special::Unreachable => {
                exprs.push(self.pure(1, true));
                let context = Context { breaks: true, ..context };
                blocks = self.blocks(2, context, depth);
            }
            Special::BareSwitch(_) => {
                exprs.push(self.pure(1, true));
                let context = Context { breaks: true, ..context };
                blocks = self.blocks(1, context, depth);
            }
            Special::Nested => {
                if context.inner {
                    return Statement::Block(self.block(depth));
                }
                exprs.push(self.pure(1, true));
                let parameter = Var { class: Class::Parameter, number, global: false };
                let inside = Context {
                    breaks: false,
                    continues: false,
                    returns: false,
                    inner: true,
                    ..context
                };
                self.vars.push(parameter);
                blocks = self.blocks(1, inside, depth);
                exprs.push(self.pure(2, true));
                self.vars.pop();
            }
            Special::Float => exprs = self.operands(2, 1, true),
        }
        Statement::Special(special, number, exprs, blocks)
    }

    fn blocks(&mut self, count: usize, context: Context, depth: usize) -> Vec<Block> {
        let outer = std::mem::replace(&mut self.context, context);
        let made = (0..count).map(|_| self.block(depth.saturating_sub(1))).collect();
        self.context = outer;
        made
    }
}
