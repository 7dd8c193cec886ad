//! Edits of statements and expressions.

use super::edit::{EditKind, change_block, change_expr, change_item};
use super::maker::Maker;
use super::program::*;
use super::random::Random;

pub fn apply(kind: EditKind, program: &mut Program, random: &mut Random) -> Option<String> {
    match kind {
        EditKind::StatementAdded
        | EditKind::ReturnAdded
        | EditKind::GotoAdded
        | EditKind::ConditionReplaced
        | EditKind::OperandReplaced
        | EditKind::StatementMoved => made(kind, program, random),
        EditKind::ConditionNegated
        | EditKind::OperatorChanged
        | EditKind::ConstantChanged
        | EditKind::AndOrSwapped
        | EditKind::ArmsSwapped
        | EditKind::CalleeChanged
        | EditKind::ArgumentsSwapped
        | EditKind::VariableReplaced
        | EditKind::ResultChanged => expression(kind, program, random),
        EditKind::LoopKind
        | EditKind::LoopBound
        | EditKind::LoopPart
        | EditKind::ElseToggled
        | EditKind::SpecialReordered
        | EditKind::GotoRetargeted => changed(kind, program, random),
        _ => listed(kind, program, random),
    }
}

fn is_label(statement: &Statement) -> bool {
    matches!(statement, Statement::Case(_) | Statement::Default)
}

/// Is a block with a case label of its own.
fn is_switch(block: &Block) -> bool {
    block.items.iter().any(|item| is_label(&item.statement))
}

/// Edits of the list of statements of a block.
fn listed(kind: EditKind, program: &mut Program, random: &mut Random) -> Option<String> {
    let is =
        |block: &Block, at: usize, fits: fn(&Statement) -> bool| fits(&block.items[at].statement);
    match kind {
        EditKind::StatementDeleted => {
            let fits = |statement: &Statement| {
                !is_label(statement)
                    && !matches!(
                        statement,
                        Statement::Declare(_) | Statement::Empty | Statement::Pragma(_)
                    )
            };
            change_block(program, random, false, &|b, at| is(b, at, fits), &mut |block, at, _| {
                block.items.remove(at);
            })
        }
        EditKind::StatementsSwapped => change_block(
            program,
            random,
            false,
            &|block, at| at + 1 < block.items.len(),
            &mut |block, at, _| block.items.swap(at, at + 1),
        ),
        EditKind::BlockFlattened => change_block(
            program,
            random,
            false,
            &|b, at| {
                is(b, at, |s| {
                    matches!(s, Statement::If(..) | Statement::Loop(..) | Statement::Count(..))
                })
            },
            &mut |block, at, _| {
                let inner = block.items[at].statement.parts_mut().1.remove(0).clone();
                block.items[at].statement = Statement::Block(inner);
            },
        ),
        EditKind::CaseAdded => {
            let value = CaseLabel::Value(random.number(8));
            let emit = Statement::Emit(Expr::number(random.number(100)));
            let leave = random.percent(60);
            change_block(
                program,
                random,
                true,
                &|block, _| is_switch(block),
                &mut |block, at, _| {
                    let mut added: Vec<Item> =
                        vec![Statement::Case(value).into(), emit.clone().into()];
                    if leave {
                        added.push(Statement::Break.into());
                    }
                    block.items.splice(at..at, added);
                },
            )
        }
        EditKind::CaseRemoved => change_block(
            program,
            random,
            false,
            &|b, at| is(b, at, |s| matches!(s, Statement::Case(_))),
            &mut |block, at, _| {
                block.items.remove(at);
            },
        ),
        EditKind::CasesSwapped => change_block(
            program,
            random,
            false,
            &|block, at| is(block, at, is_label) && is_switch(block),
            &mut |block, at, random| {
                let others: Vec<usize> = (0..block.items.len())
                    .filter(|other| *other != at && is_label(&block.items[*other].statement))
                    .collect();
                if let Some(other) = random.pick(&others) {
                    block.items.swap(at, *other);
                }
            },
        ),
        EditKind::CaseValue => {
            change_item(program, random, &|s| matches!(s, Statement::Case(_)), &mut |s, random| {
                *s = Statement::Case(match random.below(3) {
                    0 => {
                        let low = random.number(6);
                        CaseLabel::Range(low, low + random.number(3))
                    }
                    _ => CaseLabel::Value(random.number(9)),
                });
            })
        }
        EditKind::DefaultMoved => change_block(
            program,
            random,
            false,
            &|b, at| is(b, at, |s| matches!(s, Statement::Default)),
            &mut |block, at, random| {
                let default = block.items.remove(at);
                block.items.insert(random.below(block.items.len() + 1), default);
            },
        ),
        EditKind::DefaultToggled => change_block(
            program,
            random,
            true,
            &|block, _| is_switch(block),
            &mut |block, at, _| {
                let is_default = |item: &Item| matches!(item.statement, Statement::Default);
                match block.items.iter().position(is_default) {
                    Some(place) => {
                        block.items.remove(place);
                    }
                    None => block.items.insert(at, Statement::Default.into()),
                }
            },
        ),
        EditKind::FallThrough => change_block(
            program,
            random,
            false,
            &|block, at| {
                is_switch(block)
                    && (is(block, at, is_label) || is(block, at, |s| matches!(s, Statement::Break)))
            },
            &mut |block, at, _| {
                if matches!(block.items[at].statement, Statement::Break) {
                    block.items.remove(at);
                } else {
                    block.items.insert(at, Statement::Break.into());
                }
            },
        ),
        _ => unreachable!("{kind:?} does not edit a list"),
    }
}

/// Edits within one statement.
fn changed(kind: EditKind, program: &mut Program, random: &mut Random) -> Option<String> {
    match kind {
        EditKind::LoopKind => {
            change_item(program, random, &|s| matches!(s, Statement::Loop(..)), &mut |s, random| {
                if let Statement::Loop(kind, head, _) = s {
                    *kind = random.one(&[Loop::While, Loop::Do, Loop::For]);
                    if *kind != Loop::For {
                        (head.init, head.step) = (None, None);
                        head.test.get_or_insert(Expr::number(1));
                    }
                }
            })
        }
        EditKind::LoopBound => change_item(
            program,
            random,
            &|s| matches!(s, Statement::Count(..)),
            &mut |s, random| {
                if let Statement::Count(count, rounds, _) = s {
                    match random.below(3) {
                        0 => count.limit = random.one(&[2, 4, 8, 16]),
                        1 => count.down = !count.down,
                        _ => {
                            let one = Box::new(Expr::number(1));
                            let old = Box::new(rounds.clone());
                            *rounds = Expr::Binary(Binary::Add, old, one);
                        }
                    }
                }
            },
        ),
        EditKind::LoopPart => change_item(
            program,
            random,
            &|s| matches!(s, Statement::Loop(Loop::For, ..)),
            &mut |s, random| {
                if let Statement::Loop(_, head, _) = s {
                    match random.below(4) {
                        0 => head.init = None,
                        1 => head.step = None,
                        2 => {
                            head.test = None;
                            head.fuel_in_test = false;
                        }
                        _ => head.test = Some(Expr::Input(random.number(8))),
                    }
                }
            },
        ),
        EditKind::ElseToggled => {
            let emit = Statement::Emit(Expr::number(random.number(100)));
            change_item(program, random, &|s| matches!(s, Statement::If(..)), &mut |s, random| {
                if let Statement::If(_, then, other) = s {
                    *other = match other.take() {
                        Some(other) if random.percent(50) => Some(std::mem::replace(then, other)),
                        Some(_) => None,
                        None => Some(Block::of(vec![emit.clone()])),
                    };
                }
            })
        }
        EditKind::SpecialReordered => change_item(
            program,
            random,
            &|s| {
                matches!(s, Statement::Special(_, _, exprs, blocks)
                if blocks.len() > 1 || exprs.len() > 1)
            },
            &mut |s, random| {
                if let Statement::Special(special, _, exprs, blocks) = s {
                    if blocks.len() > 1 && *special != Special::Try {
                        let by = random.below(blocks.len());
                        blocks.rotate_left(by);
                    } else if *special != Special::Nested {
                        exprs.reverse();
                    }
                }
            },
        ),
        EditKind::GotoRetargeted => {
            let mut labels = Vec::new();
            for one in &mut program.procedures {
                one.body.each_block(&mut |block| {
                    labels.extend(block.items.iter().filter_map(|item| match item.statement {
                        Statement::Label(label) => Some(label),
                        _ => None,
                    }));
                });
            }
            let target = *random.pick(&labels)?;
            let is_goto = |s: &Statement| matches!(s, Statement::Goto { .. });
            change_item(program, random, &is_goto, &mut |s, random| {
                *s = Statement::Goto { label: target, guarded: random.percent(70) };
            })
        }
        _ => unreachable!("{kind:?} is no edit within a statement"),
    }
}

fn expression(kind: EditKind, program: &mut Program, random: &mut Random) -> Option<String> {
    match kind {
        EditKind::ConditionNegated => change_item(
            program,
            random,
            &|s| matches!(s, Statement::If(..) | Statement::Loop(..)),
            &mut |s, _| {
                if let Statement::If(test, ..)
                | Statement::Loop(_, LoopHead { test: Some(test), .. }, _) = s
                {
                    let old = std::mem::replace(test, Expr::number(0));
                    *test = match old {
                        Expr::Not(inner) => *inner,
                        other => Expr::Not(Box::new(other)),
                    };
                }
            },
        ),
        EditKind::OperatorChanged => {
            change_expr(program, random, &|e| matches!(e, Expr::Binary(..)), &mut |e, random| {
                if let Expr::Binary(operator, ..) = e {
                    let list: &[Binary] = if operator.is_comparison() {
                        &Binary::COMPARISONS
                    } else {
                        &Binary::ARITHMETIC
                    };
                    *operator = random.one(list);
                }
            })
        }
        EditKind::ConstantChanged => {
            change_expr(program, random, &|e| matches!(e, Expr::Number(..)), &mut |e, random| {
                if let Expr::Number(value, _) = e {
                    *value = match random.below(4) {
                        0 => random.number(200),
                        1 => value.wrapping_sub(1),
                        _ => value.wrapping_add(1),
                    };
                }
            })
        }
        EditKind::AndOrSwapped => change_expr(
            program,
            random,
            &|e| matches!(e, Expr::And(..) | Expr::Or(..)),
            &mut |e, _| {
                *e = match std::mem::replace(e, Expr::number(0)) {
                    Expr::And(a, b) => Expr::Or(a, b),
                    Expr::Or(a, b) => Expr::And(a, b),
                    other => other,
                };
            },
        ),
        EditKind::ArmsSwapped => {
            change_expr(program, random, &|e| matches!(e, Expr::Choose(..)), &mut |e, _| {
                if let Expr::Choose(_, a, b) = e {
                    std::mem::swap(a, b);
                }
            })
        }
        EditKind::CalleeChanged => {
            let callees: Vec<(Id, usize)> =
                program.procedures.iter().map(|one| (one.id, one.parameters.len())).collect();
            change_expr(program, random, &|e| matches!(e, Expr::Call(..)), &mut |e, random| {
                if let Expr::Call(id, list) = e {
                    let like: Vec<Id> = callees
                        .iter()
                        .filter(|(other, count)| *count == list.len() && other != id)
                        .map(|(other, _)| *other)
                        .collect();
                    *id = random.pick(&like).copied().unwrap_or(*id);
                }
            })
        }
        EditKind::ArgumentsSwapped => change_expr(
            program,
            random,
            &|e| matches!(e, Expr::Call(_, list) | Expr::Macro(_, list) if list.len() > 1),
            &mut |e, _| {
                if let Expr::Call(_, list) | Expr::Macro(_, list) = e {
                    list.reverse();
                }
            },
        ),
        EditKind::VariableReplaced => {
            let mut known = Vec::new();
            for one in &mut program.procedures {
                one.body.each_expr(&mut |e| {
                    if let Expr::Read(var) = e {
                        known.push(*var);
                    }
                });
            }
            let other = *random.pick(&known)?;
            change_expr(program, random, &|e| matches!(e, Expr::Read(_)), &mut |e, _| {
                *e = Expr::Read(other);
            })
        }
        EditKind::ResultChanged => {
            let place = random.below(program.procedures.len());
            let one = &mut program.procedures[place];
            let (_, value) = one.result.as_mut()?;
            let old = Box::new(std::mem::replace(value, Expr::number(0)));
            let operator = random.one(&Binary::ARITHMETIC);
            *value = Expr::Binary(operator, old, Box::new(Expr::number(random.number(9) + 1)));
            (one.role != Role::Main).then(|| one.name.clone())
        }
        _ => unreachable!("{kind:?} is no edit of an expression"),
    }
}

/// Edits that put something new into a procedure.
fn made(kind: EditKind, program: &mut Program, random: &mut Random) -> Option<String> {
    let whole = program.clone();
    let bodies: Vec<usize> = (0..program.procedures.len())
        .filter(|place| !program.procedures[*place].body.items.is_empty())
        .collect();
    let place = *random.pick(&bodies)?;
    let one = &mut program.procedures[place];
    let mut count = 0;
    one.body.each_block(&mut |block| count += usize::from(!block.items.is_empty()));
    let chosen = random.below(count.max(1));
    let mut number = 0;
    let mut moved: Option<Item> = None;
    if kind == EditKind::StatementMoved {
        let from = random.below(count.max(1));
        let mut number = 0;
        one.body.each_block(&mut |block| {
            if !block.items.is_empty() {
                if number == from {
                    let at = random.below(block.items.len());
                    if !matches!(block.items[at].statement, Statement::Declare(_)) {
                        moved = Some(block.items.remove(at));
                    }
                }
                number += 1;
            }
        });
        moved.as_ref()?;
    }
    let mut next = one.next;
    let signature = whole.procedures[place].clone();
    let mut change = |block: &mut Block, random: &mut Random| {
        let at = random.below(block.items.len() + 1);
        let mut maker = Maker::of(&whole, &signature, random);
        let declared = block.items[..at].iter().filter_map(|item| match &item.statement {
            Statement::Declare(declare) => Some(declare.var),
            _ => None,
        });
        maker.vars.extend(declared);
        match kind {
            EditKind::StatementAdded => {
                let depth = maker.random.below(3);
                let added = maker.statement(depth);
                block.items.insert(at, added.into());
            }
            EditKind::ReturnAdded => {
                let added = maker.give_back();
                block.items.insert(at, added.into());
            }
            EditKind::GotoAdded => maker.add_label(block),
            EditKind::StatementMoved => {
                if let Some(item) = &moved {
                    block.items.insert(at, item.clone());
                }
            }
            _ => {
                let replaced = maker.pure(2, true);
                let is_test = |item: &Item| {
                    matches!(
                        item.statement,
                        Statement::If(..) | Statement::Loop(..) | Statement::Switch(..)
                    )
                };
                let items = block
                    .items
                    .iter_mut()
                    .filter(|item| kind == EditKind::OperandReplaced || is_test(item));
                let exprs = items.map(|item| item.statement.parts_mut().0);
                let mut exprs: Vec<&mut Expr> = exprs.flatten().collect();
                if let Some(last) = exprs.len().checked_sub(1) {
                    let expr = &mut *exprs[maker.random.between(0, last)];
                    let mut parts = expr.parts_mut().0;
                    match parts.pop() {
                        Some(part) if kind == EditKind::OperandReplaced => *part = replaced,
                        _ => *expr = replaced,
                    }
                }
            }
        }
        next = maker.next;
    };
    let mut done = false;
    one.body.each_block(&mut |block| {
        if !block.items.is_empty() {
            if number == chosen {
                change(block, random);
                done = true;
            }
            number += 1;
        }
    });
    one.next = next;
    done.then(|| one.name.clone())
}
