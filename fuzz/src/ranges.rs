//! Ranges of tokens stay inside of the text and of each other.

use edgewise::frontend::Tree;
use edgewise::frontend::lex::Kind;
use edgewise::frontend::tree::{
    Body, Expr, ExprKind, LabelKind, Piece, Range, Ref, Stmt, StmtKind,
};

pub fn check(tree: &Tree<'_>) {
    check_tokens(tree);
    let all = Range::new(0, tree.tokens.all.len() as u32 - 1);
    let mut end = 0;
    for procedure in &tree.procedures {
        // Those inside of others come before them.
        if !procedure.is_nested {
            assert!(procedure.range.start >= end, "procedures overlap");
            end = procedure.range.end;
        }
        inside(procedure.range, all);
        inside(procedure.body_range, procedure.range);
        assert_eq!(procedure.body_range.end, procedure.range.end);
        assert_eq!(tree.token_text(procedure.body_range.start), b"{");
        check_pieces(tree, &procedure.signature.pieces, all);
        match &procedure.body {
            Body::Parsed(body) => statement(body, procedure.body_range),
            Body::Opaque(problem) => assert!(problem.token <= all.end && !problem.what.is_empty()),
            Body::Known => panic!("a body that was left out, though nothing is known"),
        }
        assert!(procedure.decl.ix() < tree.decls.len());
    }
    let mut end = 0;
    for (range, problem) in &tree.not_understood {
        assert!(range.start >= end && range.start < range.end, "items overlap or are empty");
        end = range.end;
        inside(*range, all);
        assert!(problem.token <= all.end && !problem.what.is_empty());
    }
    tree.composition.iter().for_each(|acting| inside(acting.range, all));
    tree.constants.iter().for_each(|range| inside(*range, all));
    for decl in &tree.decls {
        decl.forms.iter().for_each(|form| check_pieces(tree, &form.pieces, all));
        decl.definitions().iter().filter_map(|d| d.initializer).for_each(|r| inside(r, all));
        assert!(decl.at <= all.end);
    }
    for token in 0..all.end {
        if let Ref::Decl(decl) = tree.refs.get(token) {
            assert!(decl.ix() < tree.decls.len());
        }
    }
}

fn check_tokens(tree: &Tree<'_>) {
    let mut end = 0;
    for token in &tree.tokens.all {
        assert!(token.start >= end && token.end >= token.start, "tokens overlap");
        assert!(token.end > token.start || token.kind == Kind::End, "a token of nothing");
        end = token.end;
    }
    assert!(end as usize <= tree.text.len());
    assert!(tree.tokens.all.last().is_some_and(|token| token.kind == Kind::End));
    for pragma in &tree.tokens.pragmas {
        assert!(pragma.start < pragma.end && pragma.end as usize <= tree.text.len());
        assert!((pragma.token as usize) < tree.tokens.all.len());
    }
}

fn check_pieces(tree: &Tree<'_>, pieces: &[Piece], all: Range) {
    for piece in pieces {
        match piece {
            Piece::Tokens(range) | Piece::TypeOf(range) => inside(*range, all),
            Piece::Decl(decl) => assert!(decl.ix() < tree.decls.len()),
            Piece::Hole(_) => {}
        }
    }
}

fn inside(inner: Range, outer: Range) {
    let is_inside =
        outer.start <= inner.start && inner.start <= inner.end && inner.end <= outer.end;
    assert!(is_inside, "{inner:?} leaves {outer:?}");
}

fn statement(stmt: &Stmt, outer: Range) {
    let range = stmt.range;
    inside(range, outer);
    match &stmt.kind {
        StmtKind::Expr(expr) | StmtKind::Decl(expr) => expression(expr, range),
        StmtKind::If { arms, otherwise } => {
            for (cond, then) in arms {
                expression(cond, range);
                statement(then, range);
            }
            otherwise.iter().for_each(|stmt| statement(stmt, range));
        }
        StmtKind::While { cond, body } | StmtKind::Do { body, cond } => {
            expression(cond, range);
            statement(body, range);
        }
        StmtKind::For(parts) => {
            parts.init.iter().for_each(|init| statement(init, range));
            parts.cond.iter().chain(&parts.step).for_each(|expr| expression(expr, range));
            statement(&parts.body, range);
        }
        StmtKind::Switch { value, body } => {
            expression(value, range);
            statement(body, range);
        }
        StmtKind::Labelled { labels, body } => {
            for label in labels {
                inside(Range::new(label.start, label.colon + 1), range);
                if let LabelKind::Case(value) = label.kind {
                    inside(value, range);
                }
            }
            statement(body, range);
        }
        StmtKind::ComputedGoto(target) => expression(target, range),
        StmtKind::AsmGoto(labels) => {
            labels.iter().for_each(|(token, _)| inside(Range::new(*token, token + 1), range));
        }
        StmtKind::Guarded { declaration, .. } => statement(declaration, range),
        StmtKind::Return(value) => value.iter().for_each(|value| expression(value, range)),
        StmtKind::Block(items) => in_order(items.iter().map(|item| item.range), || {
            items.iter().for_each(|item| statement(item, range));
        }),
        StmtKind::Goto(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Asm
        | StmtKind::Empty => {}
    }
}

fn expression(expr: &Expr, outer: Range) {
    inside(expr.range, outer);
    if let ExprKind::Block(block) = &expr.kind {
        statement(block, expr.range);
    }
    in_order(expr.kids.iter().map(|kid| kid.range), || {
        expr.kids.iter().for_each(|kid| expression(kid, expr.range));
    });
}

fn in_order(ranges: impl Iterator<Item = Range>, then: impl FnOnce()) {
    let mut end = 0;
    for range in ranges {
        assert!(range.start >= end, "out of order at token {}", range.start);
        end = range.end;
    }
    then();
}

/// Whether each bracket of a range is closed by one of its kind.
pub fn is_balanced(tree: &Tree<'_>, range: Range) -> bool {
    let mut open = Vec::new();
    for token in range.start..range.end {
        if tree.tokens.all[token as usize].kind != Kind::Punct {
            continue;
        }
        let closes = match tree.token_text(token) {
            [bracket @ (b'(' | b'[' | b'{')] => {
                open.push(*bracket);
                continue;
            }
            b")" => b'(',
            b"]" => b'[',
            b"}" => b'{',
            _ => continue,
        };
        if open.pop() != Some(closes) {
            return false;
        }
    }
    open.is_empty()
}
