//! Random expressions.
//!
//! C leaves the order of most operands open, so it must not show. There are
//! three sorts of expression:
//!
//! - *stable*: constants and what is never assigned;
//! - *pure*: also reads variables, and may call what only reads;
//! - *rich*: whatever C has. Next to a rich operand all others are stable.
//!
//! An expression is *active* if it branches or calls. Where programs are to be
//! strictly ordered, of several unsequenced operands only one may be active.

use super::maker::Maker;
use super::options::Construct;
use super::program::*;

impl Maker<'_> {
    pub fn strict(&self) -> bool {
        self.program.options.strict_order
    }

    pub fn constant(&mut self) -> Expr {
        let value = match self.random.below(10) {
            0..=5 => self.random.number(8),
            6 | 7 => self.random.number(100),
            8 => self.random.number(70_000),
            _ => self.random.number(u32::MAX),
        };
        let digits = match self.random.below(12) {
            0 => Digits::Hex,
            1 => Digits::Octal,
            2 => Digits::Char,
            _ => Digits::Decimal,
        };
        Expr::Number(value, digits)
    }

    fn enumerator(&mut self) -> Expr {
        match self.random.pick(&self.program.enums) {
            Some(one) => Expr::Enumerator(one.id, self.random.below(one.constants.len())),
            None => self.constant(),
        }
    }

    fn var(&mut self, classes: &[Class]) -> Option<Var> {
        let fitting: Vec<Var> =
            self.vars.iter().copied().filter(|var| classes.contains(&var.class)).collect();
        // Locals make the more interesting graphs: look there first.
        let local: Vec<Var> = fitting.iter().copied().filter(|var| !var.global).collect();
        let chosen = if self.random.percent(70) && !local.is_empty() { &local } else { &fitting };
        self.random.pick(chosen).copied()
    }

    pub fn stable(&mut self) -> Expr {
        if let Some(var) = self.var(&[Class::Const])
            && self.random.percent(40)
        {
            return Expr::Read(var);
        }
        if self.random.percent(10) { self.enumerator() } else { self.constant() }
    }

    pub fn leaf(&mut self) -> Expr {
        if self.parameters > 0 && self.random.percent(50) {
            return Expr::Parameter(self.random.below(self.parameters));
        }
        let scalars = [
            Class::Wide,
            Class::Narrow,
            Class::Const,
            Class::Counter,
            Class::Parameter,
            Class::Volatile,
            Class::Pointer,
            Class::Cleanup,
        ];
        match self.random.below(20) {
            0..=3 => self.constant(),
            4 => self.enumerator(),
            5 if !self.pure => Expr::Input(self.random.number(8)),
            6 | 7 => self.member().unwrap_or_else(|| self.constant()),
            _ => self.var(&scalars).map_or_else(|| self.constant(), Expr::Read),
        }
    }

    fn struct_var(&mut self) -> Option<(Var, Id)> {
        let fitting: Vec<(Var, Id)> = self
            .vars
            .iter()
            .filter_map(|var| match var.class {
                Class::Struct(id) | Class::StructPointer(id) => Some((*var, id)),
                _ => None,
            })
            .collect();
        self.random.pick(&fitting).copied()
    }

    fn member(&mut self) -> Option<Expr> {
        let (var, id) = self.struct_var()?;
        let members = &self.program.struct_of(id).members;
        Some(Expr::Member(var, self.random.pick(members)?.number))
    }

    fn boxed(&mut self, depth: usize, active: bool) -> Box<Expr> {
        Box::new(self.pure(depth, active))
    }

    /// Unsequenced operands: all active, or one of them where the order is
    /// strict.
    pub fn operands(&mut self, count: usize, depth: usize, active: bool) -> Vec<Expr> {
        let chosen = self.random.below(count.max(1));
        let strict = self.strict();
        (0..count).map(|place| self.pure(depth, active && (!strict || place == chosen))).collect()
    }

    pub fn pure(&mut self, depth: usize, active: bool) -> Expr {
        if depth == 0 {
            return self.leaf();
        }
        let less = depth - 1;
        let activity = if active { 10 } else { 0 };
        match self.random.weighted(&[14, 26, 7, activity, activity, activity, activity, 26]) {
            0 => self.leaf(),
            1 | 2 => {
                let comparison = self.random.percent(35);
                let operators: &[Binary] =
                    if comparison { &Binary::COMPARISONS } else { &Binary::ARITHMETIC };
                let operator = self.random.one(operators);
                let mut both = self.operands(2, less, active);
                let right = Box::new(both.remove(1));
                Expr::Binary(operator, Box::new(both.remove(0)), right)
            }
            3 => {
                let (a, b) = (self.boxed(less, true), self.boxed(less, true));
                if self.random.percent(50) { Expr::And(a, b) } else { Expr::Or(a, b) }
            }
            4 => {
                let (a, b) = (self.boxed(less, true), self.boxed(less, true));
                if self.random.percent(20) {
                    Expr::Elvis(a, b)
                } else {
                    Expr::Choose(a, b, self.boxed(less, true))
                }
            }
            5 => self.call_pure(less),
            6 => {
                if self.pure || self.parameters > 0 || self.random.percent(60) {
                    let operand = Box::new(self.leaf());
                    if self.allows(Construct::ConstantP) {
                        Expr::Constant(operand)
                    } else {
                        *operand
                    }
                } else {
                    Expr::Tick(self.boxed(less, true))
                }
            }
            _ => self.odd(less, active),
        }
    }

    fn call_pure(&mut self, depth: usize) -> Expr {
        match self.callee(true) {
            Some((id, count)) => {
                let arguments = self.operands(count, depth, true);
                Expr::Call(id, arguments)
            }
            None => Expr::Not(self.boxed(depth, true)),
        }
    }

    /// Less common ones that neither branch nor write by themselves.
    fn odd(&mut self, depth: usize, active: bool) -> Expr {
        match self.random.below(14) {
            0 => Expr::Not(self.boxed(depth, active)),
            1 => Expr::Negate(self.random.percent(50), self.boxed(depth, active)),
            2 => Expr::Cast(self.any_type(), self.boxed(depth, active)),
            3 => Expr::Expect(self.boxed(depth, active), self.random.percent(50)),
            4 | 5 => match self.var(&[Class::Array]) {
                Some(array) => Expr::Index(array, self.boxed(depth, active)),
                None => self.leaf(),
            },
            6 => match self.random.pick(&self.program.structs).cloned() {
                Some(of) => {
                    let member = self.random.pick(&of.members).expect("members").number;
                    let init = self.operands(of.members.len(), 0, false);
                    Expr::Literal(of.id, init, member)
                }
                None => self.leaf(),
            },
            7 => {
                let mut both = self.operands(2, depth, active);
                let index = Box::new(both.remove(1));
                Expr::Pun(Box::new(both.remove(0)), index)
            }
            8 => Expr::Text(self.random.below(TEXTS.len()), self.boxed(depth, active)),
            9 => match self.var(&[Class::Wide, Class::Narrow, Class::Parameter]) {
                Some(var) => Expr::Generic(var),
                None => self.leaf(),
            },
            10 => match self.random.pick(&self.program.structs) {
                Some(of) if self.random.percent(60) => Expr::SizeOfStruct(of.id),
                _ => match self.var(&[Class::Wide, Class::Narrow, Class::Array]) {
                    Some(var) => Expr::SizeOf(var),
                    None => self.leaf(),
                },
            },
            _ => self.macro_use(depth, active).unwrap_or_else(|| self.leaf()),
        }
    }

    pub fn any_type(&mut self) -> Type {
        match self.random.pick(&self.program.typedefs) {
            Some(one) if self.random.percent(30) => Type::Typedef(one.id),
            _ => self.random.one(&Type::ANY),
        }
    }

    /// A use of a macro whose body is pure. Bodies read only the variables that
    /// every unit sees.
    fn macro_use(&mut self, depth: usize, active: bool) -> Option<Expr> {
        if self.parameters > 0 {
            return None;
        }
        let (strict, pure) = (self.strict(), self.pure);
        let fits = |body: &Expr| {
            !contains_block(body) && (active || !branches(body)) && (!pure || is_quiet(body))
        };
        let fitting: Vec<(Id, usize)> = self
            .visible_macros()
            .filter(|defined| matches!(&defined.body, MacroBody::Expr(body) if fits(body)))
            .map(|defined| (defined.id, defined.parameters))
            .collect();
        let (id, count) = self.random.pick(&fitting).copied()?;
        // A body may use a parameter twice.
        let arguments = self.operands(count, depth, active && !strict);
        Some(Expr::Macro(id, arguments))
    }

    /// An expression with side effects, if the procedure may have any.
    pub fn rich(&mut self, depth: usize) -> Expr {
        if depth == 0 || self.pure || self.parameters > 0 {
            return self.pure(depth, true);
        }
        let less = depth - 1;
        match self.random.weighted(&[20, 22, 8, 12, 10, 10, 6, 6, 8, 5, 5]) {
            0 => self.pure(depth, true),
            1 => match self.callee(false) {
                Some((id, count)) => Expr::Call(id, self.arguments(count, less)),
                None => self.pure(depth, true),
            },
            2 => match self.random.pick(&self.program.tables).map(|table| table.id) {
                Some(table) if self.rank < 1000 && self.may_call() => {
                    let mut all = self.arguments(3, less);
                    Expr::Indirect(table, Box::new(all.remove(0)), all)
                }
                _ => self.pure(depth, true),
            },
            3 => {
                let operator = self.random.one(&Binary::ARITHMETIC);
                let (one, other) = (Box::new(self.rich(less)), Box::new(self.stable()));
                if self.random.percent(50) {
                    Expr::Binary(operator, one, other)
                } else {
                    Expr::Binary(operator, other, one)
                }
            }
            4 => {
                let (a, b) = (Box::new(self.rich(less)), Box::new(self.rich(less)));
                if self.random.percent(50) { Expr::And(a, b) } else { Expr::Or(a, b) }
            }
            5 => {
                let (a, b) = (Box::new(self.rich(less)), Box::new(self.rich(less)));
                if self.random.percent(20) {
                    Expr::Elvis(a, b)
                } else {
                    Expr::Choose(a, b, Box::new(self.rich(less)))
                }
            }
            6 => Expr::Comma(Box::new(self.rich(less)), Box::new(self.rich(less))),
            7 if !self.assigning => self.assignment(less),
            // Seldom within one another, or they would be most of the program.
            8 if self.allows(Construct::StatementExpression)
                && (!self.context.inner || self.random.percent(15)) =>
            {
                self.statement_expression(less)
            }
            9 if !self.assigning => self.step().unwrap_or_else(|| self.pure(depth, true)),
            _ => self.macro_with_block(less).unwrap_or_else(|| self.pure(depth, true)),
        }
    }

    /// Of a call that is not pure: one may be rich, then the others are stable.
    pub fn arguments(&mut self, count: usize, depth: usize) -> Vec<Expr> {
        if count > 0 && self.random.percent(25) {
            let chosen = self.random.below(count);
            let all = (0..count)
                .map(|place| if place == chosen { self.rich(depth) } else { self.stable() });
            all.collect()
        } else {
            self.operands(count, depth, true)
        }
    }

    fn macro_with_block(&mut self, depth: usize) -> Option<Expr> {
        // What it writes may have the name of a local that has to keep its value.
        if self.context.writable > 0 {
            return None;
        }
        let fitting: Vec<&Macro> = self
            .visible_macros()
            .filter(
                |defined| matches!(&defined.body, MacroBody::Expr(body) if contains_block(body)),
            )
            .collect();
        let chosen = self.random.pick(&fitting)?;
        let (id, count) = (chosen.id, chosen.parameters);
        Some(Expr::Macro(id, self.operands(count, depth, false)))
    }

    /// What the name means here: the last of the variables that have it.
    fn is_writable(&self, var: Var) -> bool {
        let place = self.vars.iter().rposition(|known| *known == var).unwrap_or(0);
        if place < self.globals { !self.pure } else { place >= self.context.writable }
    }

    /// Something to assign to. The index of an array is stable, so that it does
    /// not matter when it is evaluated.
    pub fn target(&mut self) -> Option<Expr> {
        let mut targets = Vec::new();
        for var in &self.vars {
            let assignable = match var.class {
                Class::Volatile => true,
                Class::Wide
                | Class::Narrow
                | Class::Parameter
                | Class::Array
                | Class::Struct(_) => self.is_writable(*var),
                Class::Pointer | Class::StructPointer(_) => {
                    !self.pure && self.context.writable == 0
                }
                Class::Const | Class::Counter | Class::Cleanup => false,
            };
            if assignable {
                targets.push(*var);
            }
        }
        let var = self.random.pick(&targets).copied()?;
        Some(match var.class {
            Class::Array => Expr::Index(var, Box::new(self.stable())),
            Class::Struct(id) | Class::StructPointer(id) => {
                let members = &self.program.struct_of(id).members;
                Expr::Member(var, self.random.pick(members)?.number)
            }
            _ => Expr::Read(var),
        })
    }

    pub fn assignment(&mut self, depth: usize) -> Expr {
        let Some(target) = self.target() else { return self.pure(depth, true) };
        let wide = matches!(&target, Expr::Read(var)
            if matches!(var.class, Class::Wide | Class::Pointer));
        let before = std::mem::replace(&mut self.assigning, true);
        let assignment = if wide && self.random.percent(35) {
            let simple = [Binary::Add, Binary::Sub, Binary::Xor, Binary::Mul, Binary::BitOr];
            let operator = self.random.one(&simple);
            Expr::Assign(Box::new(target), Some(operator), self.boxed(depth, true))
        } else {
            Expr::Assign(Box::new(target), None, Box::new(self.rich(depth)))
        };
        self.assigning = before;
        assignment
    }

    pub fn step(&mut self) -> Option<Expr> {
        match self.target()? {
            Expr::Read(var) if var.class == Class::Wide => Some(Expr::Step {
                var,
                up: self.random.percent(60),
                before: self.random.percent(40),
            }),
            _ => None,
        }
    }

    pub fn condition(&mut self, depth: usize) -> Expr {
        match self.random.below(10) {
            0..=2 => {
                let operator = self.random.one(&Binary::COMPARISONS);
                Expr::Binary(operator, Box::new(self.leaf()), Box::new(self.stable()))
            }
            3..=6 => self.pure(depth, true),
            _ => self.rich(depth),
        }
    }
}

/// Holds a statement expression.
pub fn contains_block(expr: &Expr) -> bool {
    let (exprs, block) = expr.parts();
    block.is_some() || exprs.into_iter().any(contains_block)
}

/// Fit for a procedure that may be called in any order.
fn is_quiet(expr: &Expr) -> bool {
    !matches!(expr, Expr::Input(_) | Expr::Tick(_) | Expr::Macro(..))
        && expr.parts().0.into_iter().all(is_quiet)
}

/// Has control flow or calls of its own.
pub fn branches(expr: &Expr) -> bool {
    let own = matches!(
        expr,
        Expr::And(..)
            | Expr::Or(..)
            | Expr::Choose(..)
            | Expr::Elvis(..)
            | Expr::Constant(_)
            | Expr::Call(..)
            | Expr::Indirect(..)
            | Expr::Tick(_)
            | Expr::Statement(..)
    );
    own || expr.parts().0.into_iter().any(branches)
}
