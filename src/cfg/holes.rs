//! Expressions as nodes: which parts are nodes of their own and leave a hole,
//! and what is left of the expression around them.

use super::draft::DraftCall;
use crate::frontend::tree::{Expr, ExprKind, Hole, Piece, Range, Ref, Tree};

/// An expression without the parentheses around it.
pub fn bare(mut expr: &Expr) -> &Expr {
    while let (ExprKind::Paren, [inner]) = (&expr.kind, expr.kids.as_slice()) {
        expr = inner;
    }
    expr
}

pub fn is_hole(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::And
            | ExprKind::Or
            | ExprKind::Conditional
            | ExprKind::Block(_)
            | ExprKind::Generic { .. }
    )
}

/// The holes and the calls by name of the node that an expression makes.
#[derive(Default)]
pub struct OwnParts<'e> {
    pub holes: Vec<&'e Expr>,
    /// Those inside of others come before them.
    pub calls: Vec<DraftCall>,
}

impl<'e> OwnParts<'e> {
    pub fn of(expr: &'e Expr) -> Self {
        let mut parts = Self::default();
        parts.add(expr);
        if let (Some(first), Some(last)) = (parts.holes.first(), parts.holes.last()) {
            let holes = first.range.to(last.range);
            for call in &mut parts.calls {
                let (start, end) = (call.range.start, call.range.end);
                call.is_early = !(start <= holes.start && holes.end <= end);
            }
        }
        parts
    }

    fn add(&mut self, expr: &'e Expr) {
        if is_hole(expr) {
            self.holes.push(expr);
            return;
        }
        expr.kids.iter().for_each(|kid| self.add(kid));
        if let ExprKind::Call { callee: Some(token) } = expr.kind {
            self.calls.push(DraftCall { token, range: expr.range, is_early: false });
        }
    }
}

pub fn calls_anything(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call { .. } | ExprKind::Block(_) => true,
        _ => expr.kids.iter().any(calls_anything),
    }
}

/// The same in those parts of an expression that are nodes of their own.
pub fn operands_call(expr: &Expr) -> bool {
    if is_hole(expr) { calls_anything(expr) } else { expr.kids.iter().any(operands_call) }
}

pub fn pieces_around(tree: &Tree<'_>, range: Range, holes: &[&Expr]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut from = range.start;
    for hole in holes {
        pieces.push(Piece::Tokens(Range::new(from, hole.range.start)));
        pieces.push(Piece::Hole(hole_kind(hole)));
        types_of_arms(tree, hole, &mut pieces);
        from = hole.range.end;
    }
    pieces.push(Piece::Tokens(Range::new(from, range.end)));
    pieces
}

fn hole_kind(hole: &Expr) -> Hole {
    match (&hole.kind, hole.kids.len()) {
        (ExprKind::And, _) => Hole::And,
        (ExprKind::Or, _) => Hole::Or,
        (ExprKind::Conditional, 2) => Hole::Either,
        (ExprKind::Conditional, _) => Hole::Conditional,
        (ExprKind::Generic { .. }, _) => Hole::Generic,
        _ => Hole::Block,
    }
}

/// A call through a pointer in the node that an expression makes.
pub fn has_indirect_call(expr: &Expr) -> bool {
    !is_hole(expr)
        && (matches!(expr.kind, ExprKind::Call { callee: None })
            || expr.kids.iter().any(has_indirect_call))
}

/// What decides the type of the value of `?:`, whichever arm is taken: as
/// little as can be said with certainty, or else all of an arm. The same for
/// the branches of `_Generic`.
fn types_of_arms(tree: &Tree<'_>, hole: &Expr, pieces: &mut Vec<Piece>) {
    let first = match (&hole.kind, hole.kids.len()) {
        // In `c ?: b` the condition is an arm.
        (ExprKind::Conditional, 2) | (ExprKind::Generic { .. }, _) => 0,
        (ExprKind::Conditional, _) => 1,
        _ => return,
    };
    for arm in &hole.kids[first..] {
        let arm = bare(arm);
        match arm.kind {
            ExprKind::Conditional | ExprKind::Generic { .. } => types_of_arms(tree, arm, pieces),
            // Always int.
            ExprKind::And | ExprKind::Or | ExprKind::Not => pieces.push(Piece::Hole(Hole::Int)),
            // What a built-in function returns may depend on its arguments.
            ExprKind::Call { callee: Some(token) } if tree.refs.get(token) != Ref::Undeclared => {
                pieces.push(Piece::TypeOf(Range::new(token, token + 1)));
            }
            _ => pieces.push(Piece::TypeOf(arm.range)),
        }
    }
}
