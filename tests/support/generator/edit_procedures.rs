//! Edits of procedures as a whole.

use super::edit::EditKind;
use super::make::{plain_signature, with_body};
use super::program::*;
use super::random::Random;

pub fn apply(kind: EditKind, program: &mut Program, random: &mut Random) -> Option<String> {
    let place = random.below(program.procedures.len());
    let id = program.procedures[place].id;
    let name = program.procedures[place].name.clone();
    let role = program.procedures[place].role;
    let is_plain = role == Role::Plain;
    match kind {
        EditKind::ParameterType if is_plain => {
            let count = program.procedures[place].parameters.len();
            let number = random.below(count);
            let of = random.one(&Type::ANY);
            for one in with_same_type(program, id) {
                one.parameters[number] = of;
            }
        }
        EditKind::ResultType if is_plain => {
            let of = random.one(&Type::ANY);
            for one in with_same_type(program, id) {
                one.result.as_mut()?.0 = of;
            }
        }
        EditKind::EntryGuard if is_plain => {
            for one in with_same_type(program, id) {
                one.guarded = !one.guarded;
            }
        }
        EditKind::ProcedureAdded => return added(program, random),
        EditKind::ProcedureRemoved if is_plain => removed(program, id)?,
        EditKind::ProcedureRenamed if role != Role::Main => {
            let fresh = program.fresh();
            program.procedures[place].name = format!("renamed{fresh}");
        }
        EditKind::ProcedureMoved if is_plain => {
            program.procedures[place].unit = random.below(program.units.len());
        }
        EditKind::LinkageChanged if is_plain => {
            let one = &mut program.procedures[place];
            one.linkage = random.one(&[Linkage::Extern, Linkage::Static, Linkage::Inline]);
            if one.linkage == Linkage::Inline {
                one.old_style = false;
            }
        }
        EditKind::OverrideToggled => return toggled(program, random),
        _ => return None,
    }
    Some(name)
}

/// A procedure with its aliases and its overriding definition.
fn with_same_type(program: &mut Program, id: Id) -> impl Iterator<Item = &mut Procedure> {
    program.procedures.iter_mut().filter(move |one| {
        one.id == id || matches!(one.role, Role::Alias(of) | Role::Override(of) if of == id)
    })
}

/// A new procedure, and a call to it.
fn added(program: &mut Program, random: &mut Random) -> Option<String> {
    let rank = random.number(20) + 1;
    let mut one = plain_signature(program, random, rank);
    if one.linkage == Linkage::Weak {
        one.linkage = Linkage::Extern;
    }
    let one = with_body(program, &one, random);
    let call =
        Expr::Call(one.id, one.parameters.iter().map(|_| Expr::number(random.number(9))).collect());
    let call = match one.result {
        Some(_) => Statement::Emit(call),
        None => Statement::Expr(call),
    };
    let caller = random.below(program.procedures.len());
    let items = &mut program.procedures[caller].body.items;
    items.insert(random.below(items.len() + 1), call.into());
    let name = one.name.clone();
    program.procedures.push(one);
    Some(name)
}

/// Takes a procedure away, and every call to it.
fn removed(program: &mut Program, id: Id) -> Option<()> {
    let is_tied =
        |one: &Procedure| matches!(one.role, Role::Alias(of) | Role::Override(of) if of == id);
    if program.procedures.iter().any(is_tied) {
        return None;
    }
    program.procedures.retain(|one| one.id != id);
    for one in &mut program.procedures {
        one.body.each_block(&mut |block| {
            for item in &mut block.items {
                if matches!(&item.statement, Statement::Expr(Expr::Call(of, _)) if *of == id) {
                    item.statement = Statement::Empty;
                }
            }
        });
        let mut forget = |expr: &mut Expr| {
            if matches!(expr, Expr::Call(of, _) if *of == id) {
                *expr = Expr::number(3);
            }
        };
        one.body.each_expr(&mut forget);
        if let Some((_, value)) = &mut one.result {
            value.each_expr(&mut forget);
        }
    }
    Some(())
}

/// Gives a weak procedure a strong definition, or takes that away.
fn toggled(program: &mut Program, random: &mut Random) -> Option<String> {
    let weak: Vec<Procedure> =
        program.procedures.iter().filter(|one| one.linkage == Linkage::Weak).cloned().collect();
    let weak = random.pick(&weak)?.clone();
    let role = Role::Override(weak.id);
    let before = program.procedures.len();
    program.procedures.retain(|one| one.role != role);
    if program.procedures.len() == before {
        let id = program.fresh();
        let signature = Procedure {
            id,
            name: format!("f{id}"),
            unit: (weak.unit + 1) % program.units.len(),
            linkage: Linkage::Extern,
            role,
            old_style: false,
            next: 0,
            body: Block::default(),
            ..weak.clone()
        };
        let one = with_body(program, &signature, random);
        program.procedures.push(one);
    }
    Some(weak.name)
}
