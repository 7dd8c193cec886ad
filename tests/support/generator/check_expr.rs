//! Whether expressions are valid, and what they do.

use super::check::Checker;
use super::expressions::contains_block;
use super::maker::NO_UNIT;
use super::program::*;

/// What can be said of an expression.
#[derive(Debug, Clone, Copy, Default)]
pub struct Effects {
    /// Writes, or calls what may.
    pub rich: bool,
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

impl Checker<'_> {
    /// Operands in no order: next to one that writes, the others must not read
    /// what can be written; where the order is strict, one may be active.
    pub fn unsequenced<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) -> Effects {
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

    pub fn expr(&mut self, expr: &Expr) -> Effects {
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

    pub fn call(&mut self, id: Id, list: &[Expr], is_statement: bool) -> Effects {
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

    pub fn macro_use(&mut self, id: Id, list: &[Expr], is_statement: bool) -> Effects {
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
pub fn mentioned(program: &Program, expr: &Expr, names: &mut Vec<Var>) {
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
