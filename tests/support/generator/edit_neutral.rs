//! Edits that leave everything as it is, as far as the compiler can see.

use super::edit::{EditKind, change_block};
use super::program::*;
use super::random::Random;

pub fn apply(kind: EditKind, program: &mut Program, random: &mut Random) -> Option<String> {
    match kind {
        EditKind::Comment => {
            change_block(program, random, false, &|_, _| true, &mut |block, at, random| {
                block.items[at].comment = random.number(9);
            })
        }
        EditKind::LineShift => {
            let lines = random.number(9);
            layout(program, random, |layout, _| layout.lines = lines)
        }
        EditKind::Spacing => layout(program, random, |layout, random| match random.below(3) {
            0 => layout.tall = !layout.tall,
            1 => layout.airy = !layout.airy,
            _ => layout.indent = random.between(1, 8),
        }),
        EditKind::DeclarationsReordered => reordered(program, random),
        EditKind::ProceduresReordered => {
            let is_plain = |one: &Procedure| {
                matches!(one.role, Role::Plain | Role::Pure) && one.linkage != Linkage::Weak
            };
            let count = program.procedures.len();
            let (a, b) = (random.below(count), random.below(count));
            let both = [&program.procedures[a], &program.procedures[b]];
            let place = program.procedures[a].name.clone();
            let fits = both.iter().all(|one| is_plain(one)) && a != b;
            fits.then(|| program.procedures.swap(a, b)).map(|()| place)
        }
        EditKind::MacroRenamed => {
            let fresh = program.fresh();
            let one = any_macro(program, random)?;
            let old = std::mem::replace(&mut one.name, format!("NAME{fresh}"));
            Some(old)
        }
        EditKind::MacroIndirection => {
            let one = any_macro(program, random)?;
            one.indirect = !one.indirect;
            Some(one.name.clone())
        }
        EditKind::MacroReflowed => {
            let one = any_macro(program, random)?;
            one.tall = !one.tall;
            Some(one.name.clone())
        }
        EditKind::HeaderRenamed => {
            let fresh = program.fresh();
            let unit = random.below(program.units.len());
            let header = program.units[unit].header.as_mut()?;
            Some(std::mem::replace(header, format!("header{fresh}")) + ".h")
        }
        EditKind::HeaderInlined => {
            let unit = random.below(program.units.len());
            let unit = &mut program.units[unit];
            unit.header = match unit.header {
                Some(_) => None,
                None => Some(format!("{}_local", unit.name)),
            };
            Some(unit.name.clone())
        }
        EditKind::PrototypeRenamed => {
            let place = random.below(program.procedures.len());
            let one = &mut program.procedures[place];
            one.names += 1;
            Some(one.name.clone())
        }
        _ => unreachable!("{kind:?} is not neutral"),
    }
}

fn any_macro<'a>(program: &'a mut Program, random: &mut Random) -> Option<&'a mut Macro> {
    let place = random.below(program.macros.len().max(1));
    program.macros.get_mut(place)
}

fn layout(
    program: &mut Program,
    random: &mut Random,
    change: impl FnOnce(&mut Layout, &mut Random),
) -> Option<String> {
    let place = random.below(program.units.len() + 1);
    if let Some(unit) = program.units.get_mut(place) {
        change(&mut unit.layout, random);
        Some(format!("{}.c", unit.name))
    } else {
        change(&mut program.header, random);
        Some(String::from("common.h"))
    }
}

/// None of these depends on another of its sort.
fn reordered(program: &mut Program, random: &mut Random) -> Option<String> {
    let (sort, count) = random.one(&[
        ("typedefs", program.typedefs.len()),
        ("enums", program.enums.len()),
        ("structs", program.structs.len()),
        ("macros", program.macros.len()),
        ("globals", program.globals.len()),
    ]);
    if count < 2 {
        return None;
    }
    let a = random.below(count - 1);
    match sort {
        "typedefs" => program.typedefs.swap(a, a + 1),
        "enums" => program.enums.swap(a, a + 1),
        "structs" => program.structs.swap(a, a + 1),
        "macros" => program.macros.swap(a, a + 1),
        _ => program.globals.swap(a, a + 1),
    }
    Some(sort.to_string())
}
