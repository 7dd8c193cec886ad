//! Random edits: one small change of a program at a time.

use super::check::is_valid;
use super::options::listed;
use super::program::*;
use super::random::Random;
use super::{edit_code, edit_declarations, edit_neutral, edit_procedures};

/// What an edit can do to the behaviour of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The program means exactly the same: no test has to run again.
    None,
    Maybe,
}

listed! {
    EditKind {
        // What means the same.
        Comment,
        LineShift,
        Spacing,
        DeclarationsReordered,
        ProceduresReordered,
        MacroRenamed,
        MacroIndirection,
        MacroReflowed,
        HeaderRenamed,
        HeaderInlined,
        PrototypeRenamed,
        // Statements.
        StatementAdded,
        StatementDeleted,
        StatementMoved,
        StatementsSwapped,
        BlockFlattened,
        ElseToggled,
        ReturnAdded,
        GotoRetargeted,
        GotoAdded,
        LoopKind,
        LoopBound,
        LoopPart,
        CaseAdded,
        CaseRemoved,
        CasesSwapped,
        CaseValue,
        DefaultMoved,
        DefaultToggled,
        FallThrough,
        SpecialReordered,
        // Expressions.
        ConditionNegated,
        ConditionReplaced,
        OperatorChanged,
        ConstantChanged,
        AndOrSwapped,
        ArmsSwapped,
        OperandReplaced,
        CalleeChanged,
        ArgumentsSwapped,
        VariableReplaced,
        ResultChanged,
        // Declarations.
        LocalType,
        LocalInitialiser,
        LocalStorage,
        StaticInitialiser,
        ShadowAdded,
        ShadowRemoved,
        CleanupToggled,
        GlobalType,
        GlobalInitialiser,
        MemberType,
        MembersReordered,
        Packed,
        EnumeratorChanged,
        TypedefChanged,
        MacroBody,
        TableEntry,
        ComparatorChanged,
        // Procedures.
        ParameterType,
        ResultType,
        EntryGuard,
        ProcedureAdded,
        ProcedureRemoved,
        ProcedureRenamed,
        ProcedureMoved,
        LinkageChanged,
        OverrideToggled,
    }
}

impl EditKind {
    pub fn effect(self) -> Effect {
        if self < EditKind::StatementAdded { Effect::None } else { Effect::Maybe }
    }

    /// Such edits change the code, or where it is, but never what it does.
    pub fn is_refactoring(self) -> bool {
        matches!(
            self,
            EditKind::ProcedureRenamed | EditKind::ProcedureMoved | EditKind::LinkageChanged
        )
    }

    pub fn name(self) -> String {
        format!("{self:?}")
    }

    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

#[derive(Debug, Clone)]
pub struct Edit {
    pub kind: EditKind,
    /// The procedure, file or declared thing that was edited.
    pub place: String,
    /// Lines that went and lines that came, with their files.
    #[expect(dead_code, reason = "for those who read why a test failed")]
    pub description: String,
    pub effect: Effect,
}

/// How often a kind is tried where it does not fit at once.
const ATTEMPTS: usize = 40;

/// A random edit of any kind.
pub fn edit(program: &Program, random: &mut Random) -> (Program, Edit) {
    loop {
        let kind = random.one(EditKind::ALL);
        if let Some(done) = edit_of_kind(kind, program, random) {
            return done;
        }
    }
}

/// A random edit of this kind, if one is found.
pub fn edit_of_kind(
    kind: EditKind,
    program: &Program,
    random: &mut Random,
) -> Option<(Program, Edit)> {
    let before = program.files();
    for _ in 0..ATTEMPTS {
        let mut edited = program.clone();
        let Some(place) = apply(kind, &mut edited, random) else { continue };
        if !is_valid(&edited) {
            continue;
        }
        let (after, constructs) = edited.print();
        if after != before && constructs.is_disjoint(&program.options.without) {
            let description = difference(&before, &after);
            return Some((edited, Edit { kind, place, description, effect: kind.effect() }));
        }
    }
    None
}

/// The place of the edit; None if this kind does not fit anywhere.
fn apply(kind: EditKind, program: &mut Program, random: &mut Random) -> Option<String> {
    if kind.effect() == Effect::None {
        edit_neutral::apply(kind, program, random)
    } else if kind < EditKind::LocalType {
        edit_code::apply(kind, program, random)
    } else if kind < EditKind::ParameterType {
        edit_declarations::apply(kind, program, random)
    } else {
        edit_procedures::apply(kind, program, random)
    }
}

/// What is between the lines that both texts begin and end with.
fn difference(before: &[(String, String)], after: &[(String, String)]) -> String {
    let mut text = String::new();
    for (name, old) in before {
        match after.iter().find(|(other, _)| other == name) {
            None => text += &format!("- file {name}\n"),
            Some((_, new)) if new == old => {}
            Some((_, new)) => {
                let (old, new): (Vec<&str>, Vec<&str>) =
                    (old.lines().collect(), new.lines().collect());
                let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
                let rest = old[same..].iter().rev().zip(new[same..].iter().rev());
                let end = rest.take_while(|(a, b)| a == b).count();
                text += &format!("{name}:{}\n", same + 1);
                for line in &old[same..old.len() - end] {
                    text += &format!("- {line}\n");
                }
                for line in &new[same..new.len() - end] {
                    text += &format!("+ {line}\n");
                }
            }
        }
    }
    for (name, _) in after.iter().filter(|(name, _)| before.iter().all(|(old, _)| old != name)) {
        text += &format!("+ file {name}\n");
    }
    text
}

/// Changes one of the expressions that fit, anywhere in the code of procedures;
/// the name of the procedure.
pub fn change_expr(
    program: &mut Program,
    random: &mut Random,
    fits: &dyn Fn(&Expr) -> bool,
    change: &mut dyn FnMut(&mut Expr, &mut Random),
) -> Option<String> {
    let mut total = 0;
    let each = |procedures: &mut [Procedure], visit: &mut dyn FnMut(&mut Expr, &str)| {
        for one in procedures {
            let name = one.name.clone();
            let mut visit = |expr: &mut Expr| visit(expr, &name);
            one.body.each_expr(&mut visit);
            if let Some((_, value)) = &mut one.result
                && one.role != Role::Main
            {
                value.each_expr(&mut visit);
            }
        }
    };
    each(&mut program.procedures, &mut |expr, _| total += usize::from(fits(expr)));
    if total == 0 {
        return None;
    }
    let chosen = random.below(total);
    let (mut seen, mut place) = (0, None);
    each(&mut program.procedures, &mut |expr, name| {
        if place.is_none() && fits(expr) {
            if seen == chosen {
                change(expr, random);
                place = Some(name.to_string());
            }
            seen += 1;
        }
    });
    place
}

/// Changes a block at one of the places that fit; the name of the procedure.
/// With `whole`, also behind its last statement.
pub fn change_block(
    program: &mut Program,
    random: &mut Random,
    whole: bool,
    fits: &dyn Fn(&Block, usize) -> bool,
    change: &mut dyn FnMut(&mut Block, usize, &mut Random),
) -> Option<String> {
    let mut total = 0;
    let places = |block: &Block| {
        (0..block.items.len() + usize::from(whole))
            .filter(|at| fits(block, *at))
            .collect::<Vec<_>>()
    };
    for one in &mut program.procedures {
        one.body.each_block(&mut |block| total += places(block).len());
    }
    if total == 0 {
        return None;
    }
    let mut rest = random.below(total);
    let mut place = None;
    for one in &mut program.procedures {
        let name = one.name.clone();
        one.body.each_block(&mut |block| {
            if place.is_some() {
                return;
            }
            let here = places(block);
            match here.get(rest) {
                Some(at) => {
                    change(block, *at, random);
                    place = Some(name.clone());
                }
                None => rest -= here.len(),
            }
        });
    }
    place
}

/// Changes one of the items that fit.
pub fn change_item(
    program: &mut Program,
    random: &mut Random,
    fits: &dyn Fn(&Statement) -> bool,
    change: &mut dyn FnMut(&mut Statement, &mut Random),
) -> Option<String> {
    change_block(
        program,
        random,
        false,
        &|block, at| fits(&block.items[at].statement),
        &mut |block, at, random| change(&mut block.items[at].statement, random),
    )
}
