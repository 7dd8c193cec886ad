//! Edits of declarations: all that reaches a statement from elsewhere.

use super::edit::{EditKind, change_block, change_item};
use super::program::*;
use super::random::Random;

pub fn apply(kind: EditKind, program: &mut Program, random: &mut Random) -> Option<String> {
    match kind {
        EditKind::LocalType
        | EditKind::LocalInitialiser
        | EditKind::LocalStorage
        | EditKind::StaticInitialiser => local(kind, program, random),
        EditKind::ShadowAdded | EditKind::ShadowRemoved | EditKind::CleanupToggled => {
            scope(kind, program, random)
        }
        _ => at_file_scope(kind, program, random),
    }
}

fn other_type(class: Class, random: &mut Random) -> Type {
    if class == Class::Wide { random.one(&Type::WIDE) } else { random.one(&Type::ANY) }
}

fn local(kind: EditKind, program: &mut Program, random: &mut Random) -> Option<String> {
    let fits = |statement: &Statement| {
        let Statement::Declare(declare) = statement else { return false };
        let typed = matches!(declare.var.class, Class::Wide | Class::Narrow | Class::Array);
        let is_static = declare.storage == Storage::Static;
        match kind {
            EditKind::LocalType => typed && declare.spelled == Spelled::Plain,
            EditKind::LocalInitialiser => !declare.init.is_empty() && !is_static,
            EditKind::StaticInitialiser => is_static,
            _ => matches!(declare.var.class, Class::Wide | Class::Narrow),
        }
    };
    change_item(program, random, &fits, &mut |statement, random| {
        let Statement::Declare(declare) = statement else { return };
        match kind {
            EditKind::LocalType => declare.of = other_type(declare.var.class, random),
            EditKind::LocalInitialiser | EditKind::StaticInitialiser => {
                let place = random.below(declare.init.len());
                declare.init[place] = Expr::number(random.number(100));
            }
            _ if declare.storage == Storage::Static => declare.storage = Storage::Auto,
            _ => {
                declare.storage = Storage::Static;
                declare.init = vec![Expr::number(random.number(20))];
            }
        }
    })
}

/// Names that a procedure, or the file around it, declares.
fn declared(program: &mut Program) -> Vec<Var> {
    let mut vars: Vec<Var> = program.globals.iter().map(|global| global.var).collect();
    vars.extend((0..2).map(|number| Var { class: Class::Parameter, number, global: false }));
    for one in &mut program.procedures {
        one.body.each_block(&mut |block| {
            vars.extend(block.items.iter().filter_map(|item| match &item.statement {
                Statement::Declare(declare) => Some(declare.var),
                _ => None,
            }));
        });
    }
    vars.retain(|var| matches!(var.class, Class::Wide | Class::Narrow | Class::Parameter));
    vars
}

fn scope(kind: EditKind, program: &mut Program, random: &mut Random) -> Option<String> {
    match kind {
        EditKind::ShadowAdded => {
            let vars = declared(program);
            let var = *random.pick(&vars)?;
            let declare = Declare {
                var,
                of: Type::Unsigned,
                storage: Storage::Auto,
                spelled: Spelled::Plain,
                init: vec![Expr::number(random.number(50))],
                target: None,
            };
            change_block(
                program,
                random,
                false,
                &|block, _| mentions(block, var),
                &mut |block, at, _| {
                    block.items.insert(at, Statement::Declare(declare.clone()).into());
                },
            )
        }
        EditKind::ShadowRemoved => {
            let is_declaration = |block: &Block, at: usize| {
                matches!(&block.items[at].statement, Statement::Declare(declare)
                    if matches!(declare.var.class, Class::Wide | Class::Narrow | Class::Parameter))
            };
            change_block(program, random, false, &is_declaration, &mut |block, at, _| {
                block.items.remove(at);
            })
        }
        _ => change_item(
            program,
            random,
            &|s| {
                matches!(s, Statement::Declare(declare)
                if matches!(declare.var.class, Class::Wide | Class::Const | Class::Cleanup))
            },
            &mut |s, random| {
                // A name of the other class would have to change wherever it is
                // used, so one that is not used elsewhere comes or goes.
                if let Statement::Declare(declare) = s {
                    if declare.var.class == Class::Cleanup {
                        declare.init = vec![Expr::number(random.number(30))];
                        declare.var.number += 1;
                    } else {
                        declare.var = Var {
                            class: Class::Cleanup,
                            number: declare.var.number + 500,
                            global: false,
                        };
                        declare.storage = Storage::Auto;
                        declare.spelled = Spelled::Plain;
                    }
                }
            },
        ),
    }
}

/// Names the variable in an expression of its own statements.
fn mentions(block: &Block, var: Var) -> bool {
    let mut found = false;
    let mut copy = block.clone();
    copy.each_expr(&mut |expr| {
        found |= matches!(expr, Expr::Read(known) | Expr::Step { var: known, .. } if *known == var);
    });
    found
}

fn at_file_scope(kind: EditKind, program: &mut Program, random: &mut Random) -> Option<String> {
    match kind {
        EditKind::GlobalType => {
            let place = random.below(program.globals.len());
            let one = &mut program.globals[place];
            one.of = other_type(one.var.class, random);
            Some(one.var.name())
        }
        EditKind::GlobalInitialiser => {
            let place = random.below(program.globals.len());
            let one = &mut program.globals[place];
            match one.init.len() {
                0 => one.init.push(random.number(50) + 1),
                count => one.init[random.below(count)] = random.number(60),
            }
            Some(one.var.name())
        }
        EditKind::MemberType => {
            let one = any(&mut program.structs, random)?;
            let member = any(&mut one.members, random)?;
            if random.percent(40) {
                (member.of, member.bits) = (Type::Unsigned, Some(random.number(12) + 1));
            } else {
                (member.of, member.bits) = (random.one(&Type::ANY), None);
            }
            Some(format!("struct s{}", one.id))
        }
        EditKind::MembersReordered => {
            let one = any(&mut program.structs, random)?;
            let (a, b) = (random.below(one.members.len()), random.below(one.members.len()));
            one.members.swap(a, b);
            Some(format!("struct s{}", one.id))
        }
        EditKind::Packed => {
            let one = any(&mut program.structs, random)?;
            one.packed = !one.packed;
            Some(format!("struct s{}", one.id))
        }
        EditKind::EnumeratorChanged => {
            let one = any(&mut program.enums, random)?;
            let value = any(&mut one.constants, random)?;
            *value = if random.percent(30) { None } else { Some(random.number(12)) };
            Some(format!("enum e{}", one.id))
        }
        EditKind::TypedefChanged => {
            let one = any(&mut program.typedefs, random)?;
            one.of = random.one(&Type::ANY);
            Some(format!("type{}", one.id))
        }
        EditKind::MacroBody => {
            let one = any(&mut program.macros, random)?;
            macro_body(&mut one.body, random);
            Some(one.name.clone())
        }
        EditKind::TableEntry => {
            let others: Vec<Id> = program.procedures.iter().map(|one| one.id).collect();
            let table = any(&mut program.tables, random)?;
            let entry = any(&mut table.entries, random)?;
            *entry = *random.pick(&others)?;
            Some(format!("table{}", table.id))
        }
        EditKind::ComparatorChanged => {
            let one = any(&mut program.comparators, random)?;
            if random.percent(60) {
                one.descending = !one.descending;
            } else {
                let key = Box::new(one.key.clone());
                let constant = Box::new(Expr::number(random.number(8)));
                one.key = Expr::Binary(random.one(&Binary::ARITHMETIC), key, constant);
            }
            Some(format!("compare{}", one.id))
        }
        _ => unreachable!("{kind:?} is no edit of a declaration"),
    }
}

fn any<'a, T>(list: &'a mut [T], random: &mut Random) -> Option<&'a mut T> {
    let place = random.below(list.len().max(1));
    list.get_mut(place)
}

/// Another constant or operator, or something more.
fn macro_body(body: &mut MacroBody, random: &mut Random) {
    let mut constants = 0;
    let mut visit = |expr: &mut Expr| match expr {
        Expr::Number(value, _) => {
            constants += 1;
            *value = value.wrapping_add(random.number(3));
        }
        Expr::Binary(operator, ..) if !operator.is_comparison() => {
            *operator = random.one(&Binary::ARITHMETIC);
        }
        _ => {}
    };
    match body {
        MacroBody::Expr(expr) => expr.each_expr(&mut visit),
        MacroBody::Block(block) => block.each_expr(&mut visit),
    }
    let more = Expr::number(random.number(20) + 1);
    match body {
        MacroBody::Expr(expr) if random.percent(40) && !matches!(expr, Expr::Statement(..)) => {
            *expr = Expr::Binary(Binary::Add, Box::new(expr.clone()), Box::new(more));
        }
        MacroBody::Block(block) if random.percent(40) => {
            block.items.push(Statement::Emit(more).into());
        }
        _ => {}
    }
}
