//! Whether a program is one that the generator may print.
//!
//! Edits change programs without looking far; here is the one place that knows
//! what makes a program valid, free of undefined behaviour, sure to end, and of
//! one meaning: names are declared, nothing is read before it has a value, jumps
//! do not skip declarations, unsequenced operands do not disturb one another.

use super::expressions::{NO_UNIT, contains_block};
use super::make::fits_table;
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

/// What can be said of an expression.
#[derive(Debug, Clone, Copy, Default)]
struct Effects {
    /// Writes, or calls what may.
    rich: bool,
    /// Branches or calls.
    active: bool,
    /// Reads something that could be written.
    reads: bool,
    /// Assigns without a sequence point behind it.
    assigns: bool,
}

impl Effects {
    fn and(self, other: Self) -> Self {
        Self {
            rich: self.rich || other.rich,
            active: self.active || other.active,
            reads: self.reads || other.reads,
            assigns: self.assigns || other.assigns,
        }
    }
}

struct Scope {
    number: usize,
    vars: Vec<Var>,
    /// No goto leaves it.
    closed: bool,
}

/// Scopes around a place, each with the number of its declarations so far.
type Chain = Vec<(usize, usize, bool)>;

/// The cases of a switch, and where its body lies in the scopes.
struct Cases {
    values: BTreeSet<u32>,
    has_default: bool,
    depth: usize,
}

struct Checker<'a> {
    program: &'a Program,
    procedure: &'a Procedure,
    pure: bool,
    unit: usize,
    valid: bool,
    scopes: Vec<Scope>,
    next: usize,
    /// None inside of what is no part of a switch's body.
    cases: Vec<Option<Cases>>,
    breaks: bool,
    continues: bool,
    returns: bool,
    /// Locals of scopes below this one must keep their values.
    frozen: usize,
    inner: bool,
    computed: usize,
    macro_body: bool,
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

    fn demand(&mut self, holds: bool) {
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

    fn find(&mut self, var: Var) -> usize {
        let found = self.scopes.iter().rposition(|scope| scope.vars.contains(&var));
        self.demand(found.is_some());
        found.unwrap_or(0)
    }

    fn writable(&mut self, var: Var) {
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

    fn open(&mut self, vars: Vec<Var>, closed: bool) {
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
    fn apart(&mut self, block: &Block, vars: Vec<Var>, closed: bool) {
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

    fn items(&mut self, items: &[Item]) {
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
                self.demand(!self.macro_body && !(self.pure && *guarded));
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
                    let effects = exprs.iter().map(|expr| self.expr(expr).rich);
                    let rich = effects.fold(false, |any, rich| any || rich);
                    self.demand(!rich);
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

    /// Operands in no order: next to one that writes, the others must not read
    /// what can be written; where the order is strict, one may be active.
    fn unsequenced<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) -> Effects {
        let all: Vec<Effects> = exprs.into_iter().map(|expr| self.expr(expr)).collect();
        self.disjoint(&all)
    }

    fn disjoint(&mut self, all: &[Effects]) -> Effects {
        let rich = all.iter().filter(|effects| effects.rich).count();
        let reading = all.iter().filter(|effects| !effects.rich && effects.reads).count();
        let active = all.iter().filter(|effects| effects.active).count();
        self.demand(rich == 0 || (rich == 1 && reading == 0));
        self.demand(active <= 1 || !self.program.options.strict_order);
        all.iter().fold(Effects::default(), |sum, effects| sum.and(*effects))
    }

    fn expr(&mut self, expr: &Expr) -> Effects {
        let reads = Effects { reads: true, ..Effects::default() };
        let active = Effects { active: true, ..Effects::default() };
        let rich = Effects { rich: true, active: true, reads: true, assigns: false };
        match expr {
            Expr::Number(..) => Effects::default(),
            Expr::Enumerator(id, place) => {
                let of = self.program.enums.iter().find(|one| one.id == *id);
                self.demand(of.is_some_and(|of| *place < of.constants.len()));
                Effects::default()
            }
            Expr::Input(_) => {
                self.demand(!self.pure);
                reads
            }
            Expr::Parameter(_) => reads,
            Expr::Read(var) => {
                self.find(*var);
                if var.class == Class::Const { Effects::default() } else { reads }
            }
            Expr::SizeOf(var) | Expr::Generic(var) => {
                self.find(*var);
                Effects::default()
            }
            Expr::SizeOfStruct(_) => Effects::default(),
            Expr::Member(var, number) => {
                self.member(*var, *number);
                reads
            }
            Expr::Index(var, index) => {
                self.find(*var);
                self.expr(index).and(reads)
            }
            Expr::Negate(_, a)
            | Expr::Not(a)
            | Expr::Cast(_, a)
            | Expr::Expect(a, _)
            | Expr::Text(_, a) => self.expr(a),
            Expr::Binary(_, a, b) | Expr::Pun(a, b) => self.unsequenced([&**a, &**b]),
            Expr::And(a, b) | Expr::Or(a, b) | Expr::Elvis(a, b) => {
                self.expr(a).and(self.expr(b)).and(active)
            }
            Expr::Comma(a, b) => self.expr(a).and(self.expr(b)),
            Expr::Choose(a, b, c) => self.expr(a).and(self.expr(b)).and(self.expr(c)).and(active),
            Expr::Constant(a) => {
                let effects = self.expr(a);
                self.demand(!effects.active && !effects.rich);
                effects.and(active)
            }
            Expr::Literal(id, list, number) => {
                let of = self.program.structs.iter().find(|one| one.id == *id);
                self.demand(of.is_some_and(|of| {
                    of.members.len() >= list.len() && of.members.iter().any(|m| m.number == *number)
                }));
                self.unsequenced(list)
            }
            Expr::Tick(a) => {
                self.demand(!self.pure);
                self.expr(a).and(active)
            }
            Expr::Call(id, list) => self.call(*id, list, false),
            Expr::Indirect(_, index, list) => {
                self.demand(!self.pure && self.procedure.rank < 1000);
                self.unsequenced(std::iter::once(&**index).chain(list)).and(rich)
            }
            Expr::Macro(id, list) => self.macro_use(*id, list, false),
            Expr::Step { var, .. } => {
                self.writable(*var);
                self.demand(var.class == Class::Wide);
                Effects { assigns: true, ..rich }
            }
            Expr::Assign(target, operator, value) => self.assign(target, *operator, value),
            Expr::Statement(block, value) => {
                self.demand(!self.pure);
                let inner = std::mem::replace(&mut self.inner, true);
                self.cases.push(None);
                self.open(Vec::new(), false);
                self.items(&block.items);
                self.expr(value);
                self.scopes.pop();
                self.cases.pop();
                self.inner = inner;
                rich
            }
        }
    }

    fn member(&mut self, var: Var, number: usize) {
        self.find(var);
        if let Class::Struct(id) | Class::StructPointer(id) = var.class {
            let of = self.program.structs.iter().find(|one| one.id == id);
            self.demand(of.is_some_and(|of| of.members.iter().any(|m| m.number == number)));
        }
    }

    fn assign(&mut self, target: &Expr, operator: Option<Binary>, value: &Expr) -> Effects {
        let mut operands = Vec::new();
        match target {
            Expr::Read(var) => self.writable(*var),
            Expr::Member(var, number) => {
                self.writable(*var);
                self.member(*var, *number);
            }
            Expr::Index(var, index) => {
                self.writable(*var);
                operands.push(self.expr(index));
            }
            _ => self.demand(false),
        }
        if operator.is_some() {
            operands.push(Effects { reads: true, ..Effects::default() });
            // Only what is as wide as `unsigned` may be computed with as it is.
            let wide = matches!(target, Expr::Read(var)
                if matches!(var.class, Class::Wide | Class::Pointer));
            self.demand(wide);
        }
        let value = self.expr(value);
        self.demand(!value.assigns);
        operands.push(value);
        let effects = self.disjoint(&operands);
        Effects { rich: true, assigns: true, reads: true, ..effects }
    }

    fn call(&mut self, id: Id, list: &[Expr], is_statement: bool) -> Effects {
        let Some(callee) = self.program.procedures.iter().find(|one| one.id == id) else {
            self.demand(false);
            return Effects::default();
        };
        let callable = match callee.role {
            Role::Main | Role::Constructor | Role::Override(_) => false,
            Role::Variadic => list.len() <= 3,
            _ => list.len() == callee.parameters.len(),
        };
        let visible = match callee.linkage {
            Linkage::Static => callee.unit == self.unit,
            Linkage::Inline => self.unit != NO_UNIT,
            Linkage::Extern | Linkage::Weak => true,
        };
        let is_pure = callee.role == Role::Pure;
        let ends = callee.rank > self.procedure.rank || (callee.guarded && !self.pure);
        self.demand(callable && visible && ends && !self.macro_body);
        self.demand(is_statement || callee.result.is_some());
        self.demand(is_pure || !self.pure);
        let effects = self.unsequenced(list);
        effects.and(Effects { rich: !is_pure, active: true, reads: true, assigns: false })
    }

    fn macro_use(&mut self, id: Id, list: &[Expr], is_statement: bool) -> Effects {
        let Some(used) = self.program.macros.iter().find(|one| one.id == id) else {
            self.demand(false);
            return Effects::default();
        };
        self.demand(used.unit.is_none_or(|unit| unit == self.unit));
        self.demand(used.parameters == list.len() && !list.iter().any(contains_block));
        let arguments = self.unsequenced(list);
        self.demand(!arguments.rich);
        let outer = std::mem::replace(&mut self.macro_body, true);
        let body = match &used.body {
            MacroBody::Expr(body) => {
                self.demand(!is_statement);
                // A body may use a parameter twice.
                self.demand(!(arguments.active && self.program.options.strict_order));
                self.expr(body)
            }
            MacroBody::Block(block) => {
                self.demand(is_statement);
                let context = (self.breaks, self.continues, self.returns);
                (self.breaks, self.continues, self.returns) = (false, false, false);
                self.apart(block, Vec::new(), true);
                (self.breaks, self.continues, self.returns) = context;
                Effects::default()
            }
        };
        self.macro_body = outer;
        arguments.and(body)
    }
}

/// Every variable named in an expression, also by way of macros.
fn mentioned(program: &Program, expr: &Expr, names: &mut Vec<Var>) {
    let mut inside = expr.clone();
    inside.each_expr(&mut |expr| match expr {
        Expr::Read(var)
        | Expr::Index(var, _)
        | Expr::Member(var, _)
        | Expr::SizeOf(var)
        | Expr::Generic(var)
        | Expr::Step { var, .. } => names.push(*var),
        Expr::Macro(id, _) => match &program.macro_of(*id).body {
            MacroBody::Expr(body) => mentioned(program, body, names),
            MacroBody::Block(_) => {}
        },
        _ => {}
    });
    inside.each_block(&mut |block| {
        for item in &block.items {
            if let Statement::MacroCall(id, _) = &item.statement
                && let MacroBody::Block(body) = &program.macro_of(*id).body
            {
                let whole = Expr::Statement(body.clone(), Box::new(Expr::number(0)));
                mentioned(program, &whole, names);
            }
        }
    });
}
