//! Expressions as nodes: which parts are nodes of their own and leave a hole,
//! and what is left of the expression around them.

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

/// Finds the holes and the calls of the node that an expression makes.
pub fn own_parts<'e>(expr: &'e Expr, holes: &mut Vec<&'e Expr>, calls: &mut Vec<u32>) {
    if is_hole(expr) {
        holes.push(expr);
        return;
    }
    for kid in &expr.kids {
        own_parts(kid, holes, calls);
    }
    if let ExprKind::Call { callee: Some(token) } = expr.kind {
        calls.push(token);
    }
}

pub fn calls_anything(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call { .. } | ExprKind::Block(_) => true,
        _ => expr.kids.iter().any(calls_anything),
    }
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
