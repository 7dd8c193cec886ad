//! What random code is made with: the place, and what can be seen from it.

use super::options::Construct;
use super::program::*;
use super::random::Random;

/// Where a statement stands: what may leave it, and what it may write.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    pub breaks: bool,
    pub continues: bool,
    pub returns: bool,
    /// The first of the variables in scope that may be assigned although it is
    /// local: what changes between setjmp and longjmp is lost.
    pub writable: usize,
    /// Within a statement expression or a nested function.
    pub inner: bool,
}

/// The unit of what every unit sees.
pub const NO_UNIT: usize = usize::MAX;

/// Makes the parts of one procedure.
pub struct Maker<'a> {
    pub program: &'a Program,
    pub random: &'a mut Random,
    pub unit: usize,
    pub rank: u32,
    pub pure: bool,
    pub is_void: bool,
    pub vars: Vec<Var>,
    /// How many of them are global.
    pub globals: usize,
    /// Where those of the innermost scope begin.
    pub scope: usize,
    pub next: u32,
    pub context: Context,
    /// Inside the right side of an assignment, where another one could meet it
    /// without a sequence point between.
    pub assigning: bool,
    /// There is a statement that jumps to any of several labels.
    pub computed: bool,
    /// Macros are left out: their bodies may name what is being declared.
    pub plain: bool,
    /// Parameters of the macro whose body is made.
    pub parameters: usize,
    /// Calls still to make. With many in each procedure every test would run
    /// everything, until the fuel is gone.
    pub calls: usize,
}

impl<'a> Maker<'a> {
    pub fn of(program: &'a Program, procedure: &Procedure, random: &'a mut Random) -> Self {
        let pure = procedure.role == Role::Pure;
        let visible = |global: &&Global| match procedure.linkage {
            Linkage::Inline => !global.is_static,
            _ => !global.is_static || global.unit == procedure.unit,
        };
        let mut vars: Vec<Var> = Vec::new();
        vars.extend(program.globals.iter().filter(visible).map(|global| global.var));
        let scope = vars.len();
        vars.extend((0..procedure.parameters.len()).map(|number| procedure.parameter(number)));
        if procedure.role == Role::Variadic {
            vars.push(Var { class: Class::Wide, number: 0, global: false });
        }
        let context = Context {
            breaks: false,
            continues: false,
            returns: procedure.role != Role::Main,
            writable: 0,
            inner: false,
        };
        Self {
            program,
            random,
            // What is in the common header sees nothing of any unit.
            unit: if procedure.linkage == Linkage::Inline { NO_UNIT } else { procedure.unit },
            rank: procedure.rank,
            pure,
            is_void: procedure.result.is_none(),
            vars,
            globals: scope,
            scope,
            next: procedure.next,
            context,
            assigning: false,
            computed: false,
            plain: false,
            parameters: 0,
            calls: if procedure.role == Role::Main { 1 } else { 3 },
        }
    }

    pub fn allows(&self, construct: Construct) -> bool {
        self.program.options.allows(construct)
    }

    pub fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    pub fn visible_macros(&self) -> impl Iterator<Item = &'a Macro> + use<'a> {
        let (unit, plain) = (self.unit, self.plain);
        let is_visible =
            move |defined: &&Macro| !plain && defined.unit.is_none_or(|own| own == unit);
        self.program.macros.iter().filter(is_visible)
    }

    /// Procedures in the common header do not call one another, so that their
    /// order does not matter.
    pub fn sees(&self, one: &Procedure) -> bool {
        match one.linkage {
            Linkage::Static => one.unit == self.unit,
            Linkage::Inline => self.unit != NO_UNIT,
            _ => true,
        }
    }

    pub fn may_call(&mut self) -> bool {
        let may = self.calls > 0;
        self.calls = self.calls.saturating_sub(1);
        may
    }

    /// A procedure that may be called from here, with its number of arguments.
    pub fn callee(&mut self, pure: bool) -> Option<(Id, usize)> {
        if !pure && !self.may_call() {
            return None;
        }
        // Recursion is welcome, but not everywhere.
        let recursive = self.random.percent(25);
        let own_pure = self.pure;
        let fitting: Vec<(Id, usize, Role)> = self
            .program
            .procedures
            .iter()
            .filter(|one| one.result.is_some() && (one.role == Role::Pure) == pure)
            .filter(|one| !matches!(one.role, Role::Main | Role::Constructor | Role::Override(_)))
            .filter(|one| one.rank > self.rank || (one.guarded && recursive && !own_pure))
            .filter(|one| self.sees(one))
            .map(|one| (one.id, one.parameters.len(), one.role))
            .collect();
        let (id, count, role) = self.random.pick(&fitting).copied()?;
        Some((id, if role == Role::Variadic { self.random.below(4) } else { count }))
    }
}
