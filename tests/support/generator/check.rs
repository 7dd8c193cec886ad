//! Whether a program is one that the generator may print.
//!
//! Edits change programs without looking far; here is the one place that knows
//! what makes a program valid, free of undefined behaviour, sure to end, and of
//! one meaning: names are declared, nothing is read before it has a value, jumps
//! do not skip declarations, unsequenced operands do not disturb one another.

use super::check_expr::mentioned;
use super::expressions::contains_block;
use super::make::fits_table;
use super::maker::NO_UNIT;
use super::program::*;
use std::collections::BTreeSet;

pub fn is_valid(program: &Program) -> bool {
    let mut names = BTreeSet::new();
    let unique = program.procedures.iter().all(|one| names.insert(&one.name));
    let headers: BTreeSet<&String> =
        program.units.iter().filter_map(|unit| unit.header.as_ref()).collect();
    let with_header = program.units.iter().filter(|unit| unit.header.is_some()).count();
    unique
        && headers.len() == with_header
        && program.procedures.iter().all(|one| is_valid_procedure(program, one))
        && program.tables.iter().all(|table| is_valid_table(program, table))
        && program.comparators.iter().all(|one| {
            let mut checker = Checker::new(program, &program.procedures[0]);
            checker.pure = true;
            checker.unit = NO_UNIT;
            checker.expr(&one.key);
            checker.valid
        })
}

fn is_valid_table(program: &Program, table: &Table) -> bool {
    table.entries.len() == 4
        && table.entries.iter().all(|id| {
            let entry = program.procedures.iter().find(|one| one.id == *id);
            entry.is_some_and(|one| fits_table(one) && one.linkage != Linkage::Static)
        })
}

fn is_valid_procedure(program: &Program, one: &Procedure) -> bool {
    let like = |other: Id| {
        program.procedures.iter().find(|p| p.id == other).is_some_and(|other| {
            other.parameters == one.parameters
                && other.result.as_ref().map(|r| r.0) == one.result.as_ref().map(|r| r.0)
        })
    };
    let fits = match one.role {
        Role::Alias(target) => {
            let target = program.procedures.iter().find(|p| p.id == target);
            return target.is_some_and(|target| {
                target.linkage != Linkage::Inline
                    && target.linkage != Linkage::Weak
                    && target.unit == one.unit
            }) && like(target.expect("just found").id);
        }
        Role::Override(weak) => {
            like(weak)
                && program.procedure(weak).linkage == Linkage::Weak
                && program.procedure(weak).unit != one.unit
        }
        _ => true,
    };
    let promoted = !one.old_style || one.parameters.iter().all(|of| Type::WIDE.contains(of));
    let read_as_is = one.cast || one.result.as_ref().is_none_or(|r| Type::WIDE.contains(&r.0));
    let mut checker = Checker::new(program, one);
    checker.items(&one.body.items);
    if let Some((_, value)) = &one.result {
        checker.expr(value);
    }
    checker.jumps();
    fits && promoted && read_as_is && checker.valid
}

pub struct Scope {
    number: usize,
    vars: Vec<Var>,
    /// No goto leaves it.
    closed: bool,
}

/// Scopes around a place, each with the number of its declarations so far.
type Chain = Vec<(usize, usize, bool)>;

/// The cases of a switch, and where its body lies in the scopes.
pub struct Cases {
    values: BTreeSet<u32>,
    has_default: bool,
    depth: usize,
}

pub struct Checker<'a> {
    pub program: &'a Program,
    pub procedure: &'a Procedure,
    pub pure: bool,
    pub unit: usize,
    valid: bool,
    pub scopes: Vec<Scope>,
    next: usize,
    /// None inside of what is no part of a switch's body.
    pub cases: Vec<Option<Cases>>,
    pub breaks: bool,
    pub continues: bool,
    pub returns: bool,
    /// Locals of scopes below this one must keep their values.
    frozen: usize,
    pub inner: bool,
    computed: usize,
    pub macro_body: bool,
    labels: Vec<(u32, usize, Chain)>,
    gotos: Vec<(u32, usize, bool, Chain)>,
    place: usize,
}

impl<'a> Checker<'a> {
    fn new(program: &'a Program, procedure: &'a Procedure) -> Self {
        let unit = if procedure.linkage == Linkage::Inline { NO_UNIT } else { procedure.unit };
        let globals =
            program.globals.iter().filter(|global| !global.is_static || global.unit == unit);
        let outer = Scope { number: 0, vars: globals.map(|g| g.var).collect(), closed: false };
        let mut own: Vec<Var> =
            (0..procedure.parameters.len()).map(|number| procedure.parameter(number)).collect();
        if procedure.role == Role::Variadic {
            own.push(Var { class: Class::Wide, number: 0, global: false });
        }
        let own = Scope { number: 1, vars: own, closed: false };
        Self {
            program,
            procedure,
            pure: procedure.role == Role::Pure,
            unit,
            valid: true,
            scopes: vec![outer, own],
            next: 1,
            cases: Vec::new(),
            breaks: false,
            continues: false,
            returns: procedure.role != Role::Main,
            frozen: 0,
            inner: false,
            computed: 0,
            macro_body: false,
            labels: Vec::new(),
            gotos: Vec::new(),
            place: 0,
        }
    }

    pub fn demand(&mut self, holds: bool) {
        self.valid &= holds;
    }

    fn chain(&self) -> Chain {
        self.scopes.iter().map(|scope| (scope.number, scope.vars.len(), scope.closed)).collect()
    }

    /// A jump finds every declaration before its label already made.
    fn jumps(&mut self) {
        let mut seen = BTreeSet::new();
        let unique = self.labels.iter().all(|(label, ..)| seen.insert(*label));
        let fits = self.gotos.iter().all(|(label, from, guarded, chain)| {
            self.labels.iter().find(|(name, ..)| name == label).is_some_and(|(_, to, target)| {
                let inside = chain.len() >= target.len()
                    && target
                        .iter()
                        .zip(chain)
                        .all(|(label, goto)| label.0 == goto.0 && goto.1 >= label.1);
                let open = chain.iter().skip(target.len()).all(|scope| !scope.2);
                inside && open && (*guarded || to > from)
            })
        });
        self.demand(unique);
        self.demand(fits);
        self.demand(self.computed <= 1);
    }

    pub fn find(&mut self, var: Var) -> usize {
        let found = self.scopes.iter().rposition(|scope| scope.vars.contains(&var));
        self.demand(found.is_some());
        found.unwrap_or(0)
    }

    pub fn writable(&mut self, var: Var) {
        let scope = self.find(var);
        let fits = match var.class {
            Class::Volatile => true,
            Class::Wide | Class::Narrow | Class::Parameter | Class::Array | Class::Struct(_) => {
                if scope == 0 {
                    !self.pure
                } else {
                    scope >= self.frozen
                }
            }
            Class::Pointer | Class::StructPointer(_) => !self.pure && self.frozen == 0,
            Class::Const | Class::Counter | Class::Cleanup => false,
        };
        self.demand(fits);
    }

    pub fn open(&mut self, vars: Vec<Var>, closed: bool) {
        self.next += 1;
        self.scopes.push(Scope { number: self.next, vars, closed });
    }

    fn block(&mut self, block: &Block) {
        self.open(Vec::new(), false);
        self.items(&block.items);
        self.scopes.pop();
    }

    /// A block in a context of its own, with variables around it. No case label
    /// in it belongs to a switch outside.
    pub fn apart(&mut self, block: &Block, vars: Vec<Var>, closed: bool) {
        self.cases.push(None);
        self.open(vars, closed);
        self.block(block);
        self.scopes.pop();
        self.cases.pop();
    }

    fn loop_body(&mut self, vars: Vec<Var>, block: &Block) {
        let outer = (self.breaks, self.continues);
        (self.breaks, self.continues) = (true, true);
        self.open(vars, false);
        self.block(block);
        self.scopes.pop();
        (self.breaks, self.continues) = outer;
    }

    /// Without anything to leave: for what stands in a head.
    fn head(&mut self, expr: &Expr) {
        let outer = (self.breaks, self.continues);
        (self.breaks, self.continues) = (false, false);
        self.expr(expr);
        (self.breaks, self.continues) = outer;
    }

    pub fn items(&mut self, items: &[Item]) {
        for (place, item) in items.iter().enumerate() {
            self.place += 1;
            if matches!(item.statement, Statement::Fallthrough) {
                let next = items.get(place + 1).map(|item| &item.statement);
                self.demand(matches!(next, Some(Statement::Case(_) | Statement::Default)));
            }
            self.statement(&item.statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Empty | Statement::Fallthrough => {}
            Statement::Expr(Expr::Call(id, list)) => {
                self.call(*id, list, true);
            }
            Statement::Expr(expr) => {
                self.expr(expr);
            }
            Statement::Emit(expr) | Statement::Throw(expr) => {
                self.demand(!self.pure);
                self.expr(expr);
            }
            Statement::Exit { status, .. } => {
                self.demand(!self.pure);
                self.expr(status);
            }
            Statement::Declare(declare) => self.declare(declare),
            Statement::If(test, then, other) => {
                self.expr(test);
                self.block(then);
                other.iter().for_each(|other| self.block(other));
            }
            Statement::Loop(kind, head, body) => {
                self.demand(!self.pure);
                self.demand(*kind == Loop::For || head.test.is_some());
                self.demand(*kind == Loop::For || (head.init.is_none() && head.step.is_none()));
                self.demand(head.test.is_some() || !head.fuel_in_test);
                let parts = [&head.init, &head.test, &head.step];
                parts.into_iter().flatten().for_each(|expr| self.head(expr));
                self.loop_body(Vec::new(), body);
            }
            Statement::Count(count, rounds, body) => {
                self.head(rounds);
                self.demand(!contains_block(rounds));
                self.loop_body(vec![count.var], body);
            }
            Statement::Switch(value, body) => {
                self.head(value);
                self.switch(body);
            }
            Statement::Case(label) => self.case(*label),
            Statement::Default => {
                let fresh = self
                    .cases
                    .last_mut()
                    .and_then(Option::as_mut)
                    .is_some_and(|cases| !std::mem::replace(&mut cases.has_default, true));
                self.demand(fresh && self.nothing_skipped());
            }
            Statement::Break => self.demand(self.breaks),
            Statement::Continue => self.demand(self.continues),
            Statement::Goto { label, guarded } => {
                self.demand(!self.macro_body);
                self.demand(!(self.pure && *guarded));
                let chain = self.chain();
                self.gotos.push((*label, self.place, *guarded, chain));
            }
            Statement::Label(label) => {
                self.demand(!self.macro_body);
                let chain = self.chain();
                self.labels.push((*label, self.place, chain));
            }
            Statement::Return(value) => {
                self.demand(self.returns);
                self.demand(value.is_some() == self.procedure.result.is_some());
                value.iter().for_each(|value| {
                    self.expr(value);
                });
            }
            Statement::Block(block) => self.block(block),
            Statement::MacroCall(id, list) => {
                self.macro_use(*id, list, true);
            }
            Statement::Pragma(_) => self.demand(!self.macro_body),
            Statement::Special(special, number, exprs, blocks) => {
                self.demand(!self.pure);
                self.special(*special, *number, exprs, blocks);
            }
        }
    }

    fn switch(&mut self, body: &Block) {
        let breaks = std::mem::replace(&mut self.breaks, true);
        let cases = Cases { values: BTreeSet::new(), has_default: false, depth: self.scopes.len() };
        self.cases.push(Some(cases));
        self.block(body);
        self.cases.pop();
        self.breaks = breaks;
    }

    /// No declaration between the innermost switch and this place.
    fn nothing_skipped(&self) -> bool {
        let Some(Some(cases)) = self.cases.last() else { return false };
        self.scopes[cases.depth..].iter().all(|scope| scope.vars.is_empty())
    }

    fn case(&mut self, label: CaseLabel) {
        let (low, high) = match label {
            CaseLabel::Value(value) => (value, value),
            CaseLabel::Range(low, high) => (low, high),
            CaseLabel::Enumerator(id, place) => {
                let of = self.program.enums.iter().find(|one| one.id == id);
                let value = of.and_then(|of| of.values().get(place).copied());
                self.demand(value.is_some());
                let value = value.unwrap_or_default();
                (value, value)
            }
        };
        self.demand(low <= high && high - low < 100);
        self.demand(self.nothing_skipped());
        if !self.valid {
            return;
        }
        if let Some(Some(cases)) = self.cases.last_mut() {
            let fresh = (low..=high).all(|value| cases.values.insert(value));
            self.demand(fresh);
        }
    }

    fn declare(&mut self, declare: &Declare) {
        let Declare { var, storage, spelled, init, target, .. } = declare;
        let constant = |expr: &Expr| matches!(expr, Expr::Number(..));
        self.demand(*storage != Storage::Static || (!self.pure && init.iter().all(constant)));
        self.demand(*storage != Storage::Register || var.class == Class::Narrow);
        let mut names = Vec::new();
        init.iter().for_each(|expr| mentioned(self.program, expr, &mut names));
        self.demand(!names.contains(var));
        if let Spelled::Typeof(like) = spelled {
            self.find(*like);
            self.demand(like != var && like.class == var.class);
        }
        if let Some(target) = target {
            self.find(*target);
            self.demand(target != var && !self.pure);
        }
        if let Class::Struct(id) = var.class {
            let of = self.program.structs.iter().find(|one| one.id == id);
            self.demand(of.is_some_and(|of| of.members.len() >= init.len()));
        }
        let effects = self.unsequenced(init);
        self.demand(init.len() == 1 || !effects.rich);
        let scope = self.scopes.last_mut().expect("a scope");
        let fresh = !scope.vars.contains(var);
        scope.vars.push(*var);
        self.demand(fresh);
    }

    fn special(&mut self, special: Special, number: u32, exprs: &[Expr], blocks: &[Block]) {
        let outer = (self.breaks, self.continues, self.returns, self.inner, self.frozen);
        let volatile = Var { class: Class::Volatile, number, global: false };
        let parameter = Var { class: Class::Parameter, number, global: false };
        match special {
            Special::Nested => {
                self.demand(!self.inner);
                self.expr(&exprs[0]);
                self.inner = true;
                (self.breaks, self.continues, self.returns) = (false, false, false);
                self.apart(&blocks[0], vec![parameter], true);
                self.open(vec![parameter], true);
                self.expr(&exprs[1]);
                self.scopes.pop();
            }
            Special::Try => {
                self.demand(!self.inner && self.frozen == 0);
                self.expr(&exprs[0]);
                self.inner = true;
                (self.breaks, self.continues, self.returns) = (false, false, false);
                // The scope of the volatile variable is below those that `apart`
                // opens within.
                self.open(vec![volatile], false);
                self.frozen = self.scopes.len();
                self.apart(&blocks[0], Vec::new(), true);
                self.scopes.pop();
                (self.breaks, self.continues, self.returns, self.inner, self.frozen) = outer;
                self.apart(&blocks[1], vec![volatile], false);
            }
            _ => {
                if let Special::Computed { .. } = special {
                    // Its two are never evaluated together.
                    for expr in exprs {
                        let effects = self.expr(expr);
                        self.demand(!effects.rich);
                    }
                } else {
                    let effects = self.unsequenced(exprs);
                    self.demand(!effects.rich);
                }
                let labelled =
                    matches!(special, Special::Computed { .. } | Special::AsmGoto { .. });
                if labelled {
                    self.computed += 1;
                    self.demand(!self.inner);
                }
                if let Special::Sort(id) = special {
                    let found = self.program.comparators.iter().find(|one| one.id == id);
                    self.demand(found.is_some_and(|one| one.unit == self.unit));
                }
                let switches = matches!(
                    special,
                    Special::Duff | Special::Unreachable | Special::BareSwitch(_)
                );
                self.breaks |= switches;
                self.continues |= special == Special::Duff;
                blocks.iter().for_each(|block| self.apart(block, Vec::new(), false));
            }
        }
        (self.breaks, self.continues, self.returns, self.inner, self.frozen) = outer;
    }
}
