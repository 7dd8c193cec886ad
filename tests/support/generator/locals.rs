//! Random declarations of local variables.

use super::maker::Maker;
use super::options::Construct;
use super::program::*;

impl Maker<'_> {
    pub fn new_var(&mut self, class: Class) -> Var {
        Var { class, number: self.fresh(), global: false }
    }

    pub fn declaration(&mut self) -> Statement {
        let class = match self.random.below(20) {
            0..=6 => Class::Wide,
            7..=10 => Class::Narrow,
            11..=12 => Class::Const,
            13..=14 => Class::Array,
            15 => Class::Pointer,
            16 if self.allows(Construct::Cleanup) && !self.pure => Class::Cleanup,
            17..=18 => match self.random.pick(&self.program.structs) {
                Some(of) => Class::Struct(of.id),
                None => Class::Narrow,
            },
            _ => return self.struct_pointer(),
        };
        self.declare(class)
    }

    fn struct_pointer(&mut self) -> Statement {
        let targets = self.vars.iter().filter_map(|var| match var.class {
            Class::Struct(id) => Some((*var, id)),
            _ => None,
        });
        let targets: Vec<(Var, Id)> = targets.collect();
        match self.random.pick(&targets).copied() {
            Some((target, id)) if !self.pure && self.context.writable == 0 => {
                let var = self.new_var(Class::StructPointer(id));
                self.declared(var, Type::Unsigned, Vec::new(), Some(target))
            }
            _ => self.declare(Class::Wide),
        }
    }

    fn declare(&mut self, class: Class) -> Statement {
        if class == Class::Pointer {
            let wide: Vec<Var> =
                self.vars.iter().copied().filter(|var| var.class == Class::Wide).collect();
            return match self.random.pick(&wide).copied() {
                Some(target) if !self.pure && self.context.writable == 0 => {
                    let var = self.new_var(Class::Pointer);
                    self.declared(var, Type::Unsigned, Vec::new(), Some(target))
                }
                _ => self.declare(Class::Narrow),
            };
        }
        let shadowed = self.shadowed(class);
        let var = shadowed.unwrap_or_else(|| self.new_var(class));
        let of = match class {
            Class::Wide if self.random.percent(80) => Type::Unsigned,
            Class::Wide => self.random.one(&Type::WIDE),
            Class::Narrow | Class::Array => self.any_type(),
            _ => Type::Unsigned,
        };
        // The name is in scope in its own initialiser, where it has no value.
        let scope = self.vars.clone();
        self.vars.retain(|known| *known != var);
        let plain = self.plain;
        self.plain |= var.global;
        let init = match class {
            Class::Array => {
                let count = self.random.below(4) + 1;
                self.operands(count, 1, false)
            }
            Class::Struct(id) => {
                let count = self.program.struct_of(id).members.len();
                self.operands(count, 1, false)
            }
            _ => vec![self.rich(2)],
        };
        self.plain = plain;
        self.vars = scope;
        self.declared(var, of, init, None)
    }

    /// A variable of an outer scope with the same name. Not where only newer
    /// variables may be assigned: the order of `vars` is what tells them apart.
    fn shadowed(&mut self, class: Class) -> Option<Var> {
        if !self.random.percent(12) || self.context.writable > 0 {
            return None;
        }
        let outer = self.vars[..self.scope].iter().copied().filter(|var| var.class == class);
        let outer = outer.filter(|var| !self.vars[self.scope..].contains(var));
        let outer: Vec<Var> = outer.collect();
        self.random.pick(&outer).copied()
    }

    fn declared(
        &mut self,
        var: Var,
        of: Type,
        mut init: Vec<Expr>,
        target: Option<Var>,
    ) -> Statement {
        let scalar = matches!(var.class, Class::Wide | Class::Narrow);
        let storage = match self.random.below(12) {
            0 if scalar && !self.pure => {
                init = vec![self.constant()];
                Storage::Static
            }
            1 if scalar && var.class == Class::Narrow => Storage::Register,
            _ => Storage::Auto,
        };
        let spelled = match self.random.below(10) {
            0 if var.class == Class::Wide => Spelled::Auto,
            1 if scalar => {
                let like: Vec<Var> = self
                    .vars
                    .iter()
                    .copied()
                    .filter(|v| v.class == var.class && *v != var)
                    .collect();
                self.random.pick(&like).map_or(Spelled::Plain, |like| Spelled::Typeof(*like))
            }
            _ => Spelled::Plain,
        };
        self.vars.push(var);
        Statement::Declare(Declare { var, of, storage, spelled, init, target })
    }
}
