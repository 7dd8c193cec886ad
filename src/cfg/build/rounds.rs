//! What each round of a loop begins with: its condition, and checks that leave it.
//! Whoever passes these again has passed them in the round before.

use super::*;

/// A loop, for a condition that decides whether it goes on.
#[derive(Clone, Copy)]
pub(super) struct Round {
    pub(super) of: Range,
    pub(super) goes_on_if: bool,
}

impl Round {
    /// None if a round can begin in the middle of the body.
    pub(super) fn of(stmt: &Stmt, body: &Stmt) -> Option<Self> {
        let has_one_beginning = !can_be_jumped_into(body, false);
        has_one_beginning.then_some(Self { of: stmt.range, goes_on_if: true })
    }

    pub(super) fn opposite(self) -> Self {
        Self { goes_on_if: !self.goes_on_if, ..self }
    }

    /// The checks at the beginning of the body that leave the loop, by the first
    /// token of their condition.
    pub(super) fn checks(self, body: &Stmt) -> Vec<(u32, Self)> {
        let items = match &body.kind {
            StmtKind::Block(items) => items.as_slice(),
            _ => std::slice::from_ref(body),
        };
        let mut found = Vec::new();
        for item in items {
            match &item.kind {
                StmtKind::Expr(_) | StmtKind::Decl(_) | StmtKind::Empty => {}
                StmtKind::If { arms, otherwise: None } => match arms.as_slice() {
                    [(condition, then)] if leaves(then) => {
                        found.push((condition.range.start, self.opposite()));
                    }
                    _ => break,
                },
                _ => break,
            }
        }
        found
    }
}

/// Whether a statement ends in a jump out of the loop around it.
fn leaves(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Break | StmtKind::Return(_) => true,
        StmtKind::Block(items) => items.last().is_some_and(leaves),
        _ => false,
    }
}

/// Whether a statement has a label that something outside of it may jump to.
fn can_be_jumped_into(stmt: &Stmt, in_switch: bool) -> bool {
    let into = |stmt: &Stmt| can_be_jumped_into(stmt, in_switch);
    match &stmt.kind {
        StmtKind::Labelled { labels, body } => {
            let is_open = |label: &LabelAt| !in_switch || matches!(label.kind, LabelKind::Named(_));
            labels.iter().any(is_open) || into(body)
        }
        StmtKind::Switch { body, .. } => can_be_jumped_into(body, true),
        StmtKind::Block(items) => items.iter().any(into),
        StmtKind::If { arms, otherwise } => {
            arms.iter().any(|(_, then)| into(then)) || otherwise.as_deref().is_some_and(into)
        }
        StmtKind::While { body, .. } | StmtKind::Do { body, .. } => into(body),
        StmtKind::For(parts) => into(&parts.body),
        _ => false,
    }
}
