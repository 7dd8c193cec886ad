//! Expressions. Operands that neither branch nor call are dropped, so most
//! expressions are a bare range of tokens.

use super::scope::Space;
use super::*;
use crate::frontend::literal;

/// Precedence of a binary operator; `&&` and `||` are the two weakest.
fn precedence(operator: &[u8]) -> Option<u8> {
    Some(match operator {
        b"||" => 1,
        b"&&" => 2,
        b"|" => 3,
        b"^" => 4,
        b"&" => 5,
        b"==" | b"!=" => 6,
        b"<" | b">" | b"<=" | b">=" => 7,
        b"<<" | b">>" => 8,
        b"+" | b"-" => 9,
        b"*" | b"/" | b"%" => 10,
        _ => return None,
    })
}

fn is_assignment(operator: &[u8]) -> bool {
    matches!(
        operator,
        b"=" | b"+=" | b"-=" | b"*=" | b"/=" | b"%=" | b"&=" | b"|=" | b"^=" | b"<<=" | b">>="
    )
}

impl Parser<'_, '_> {
    /// `a, b, c`
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        let first = self.assignment()?;
        if !self.is(",") {
            return Ok(first);
        }
        let start = first.range;
        let mut kids = Vec::new();
        keep(&mut kids, first);
        while self.eat(",") {
            let next = self.assignment()?;
            keep(&mut kids, next);
        }
        let mut expr = Expr::plain(Range::new(start.start, self.at), kids);
        expr.weak = true;
        Ok(expr)
    }

    pub(super) fn assignment(&mut self) -> Parse<Expr> {
        self.deeper(|p| {
            let left = p.conditional()?;
            let token = p.token();
            if token.kind != Kind::Punct || !is_assignment(p.bytes(token)) {
                return Ok(left);
            }
            p.advance();
            let range = left.range;
            let mut kids = Vec::new();
            keep(&mut kids, left);
            let right = p.assignment()?;
            keep(&mut kids, right);
            let mut expr = Expr::plain(Range::new(range.start, p.at), kids);
            expr.weak = true;
            Ok(expr)
        })
    }

    pub(super) fn conditional(&mut self) -> Parse<Expr> {
        let cond = self.binary(0)?;
        if !self.eat("?") {
            return Ok(cond);
        }
        let start = cond.range.start;
        let mut kids = Vec::with_capacity(3);
        kids.push(cond);
        self.deeper(|p| {
            if !p.is(":") {
                kids.push(p.expression()?);
            }
            p.expect(":")?;
            kids.push(p.conditional()?);
            Ok(())
        })?;
        Ok(Expr {
            kind: ExprKind::Conditional,
            range: Range::new(start, self.at),
            kids,
            weak: true,
        })
    }

    fn binary(&mut self, least: u8) -> Parse<Expr> {
        let mut left = self.cast()?;
        loop {
            let token = self.token();
            if token.kind != Kind::Punct {
                return Ok(left);
            }
            let operator = self.bytes(token);
            let Some(level) = precedence(operator).filter(|level| *level > least) else {
                return Ok(left);
            };
            let chain = match operator {
                b"&&" => Some("&&"),
                b"||" => Some("||"),
                _ => None,
            };
            let start = left.range.start;
            left = if let Some(operator) = chain {
                let mut kids = Vec::with_capacity(2);
                kids.push(left);
                while self.eat(operator) {
                    kids.push(self.deeper(|p| p.binary(level))?);
                }
                let kind = if operator == "&&" { ExprKind::And } else { ExprKind::Or };
                Expr { kind, range: Range::new(start, self.at), kids, weak: false }
            } else {
                self.advance();
                let right = self.deeper(|p| p.binary(level))?;
                let mut chain = self.widened(left);
                keep(&mut chain.kids, right);
                chain
            };
        }
    }

    /// What is made of `expr` and something behind it. Plain operands are
    /// evaluated in the order of the source, so a chain of them is one node
    /// with many kids, however long it is.
    fn widened(&self, expr: Expr) -> Expr {
        let range = Range::new(expr.range.start, self.at);
        if matches!(expr.kind, ExprKind::Plain) {
            return Expr { range, weak: false, ..expr };
        }
        let mut kids = Vec::new();
        keep(&mut kids, expr);
        Expr::plain(range, kids)
    }

    fn cast(&mut self) -> Parse<Expr> {
        if !(self.is("(") && self.type_starts(1)) {
            return self.unary();
        }
        let start = self.at;
        self.advance();
        self.type_name()?;
        self.expect(")")?;
        if self.is("{") {
            let kids = self.initializer_list()?;
            return self.postfix(Expr::plain(Range::new(start, self.at), kids));
        }
        let operand = self.deeper(Self::cast)?;
        Ok(self.around(start, operand))
    }

    /// An expression made of `operand` and something before or behind it.
    fn around(&self, start: u32, operand: Expr) -> Expr {
        let mut kids = Vec::new();
        keep(&mut kids, operand);
        Expr::plain(Range::new(start, self.at), kids)
    }

    fn unary(&mut self) -> Parse<Expr> {
        let start = self.at;
        let token = *self.token();
        if token.kind == Kind::Punct {
            match self.bytes(&token) {
                b"!" => {
                    self.advance();
                    let operand = self.deeper(Self::cast)?;
                    return Ok(Expr {
                        kind: ExprKind::Not,
                        range: Range::new(start, self.at),
                        kids: vec![operand],
                        weak: false,
                    });
                }
                b"&&" => {
                    self.advance();
                    self.label_address()?;
                    return Ok(Expr::plain(Range::new(start, self.at), Vec::new()));
                }
                b"++" | b"--" | b"&" | b"*" | b"+" | b"-" | b"~" => {
                    self.advance();
                    let operand = self.deeper(Self::cast)?;
                    return Ok(self.around(start, operand));
                }
                _ => {}
            }
        }
        match self.word() {
            Some(kw::SIZEOF | kw::ALIGNOF) => {
                self.advance();
                self.unevaluated(|p| {
                    if p.is("(") && p.type_starts(1) {
                        p.advance();
                        p.type_name()?;
                        p.expect(")")?;
                        // `sizeof (T){ … }` is the size of a compound literal.
                        if p.is("{") {
                            p.initializer_list()?;
                        }
                        Ok(())
                    } else {
                        p.deeper(Self::unary).map(drop)
                    }
                })?;
                Ok(Expr::plain(Range::new(start, self.at), Vec::new()))
            }
            Some(kw::EXTENSION | kw::REAL_IMAG) => {
                self.advance();
                let operand = self.deeper(Self::cast)?;
                Ok(self.around(start, operand))
            }
            _ => {
                let primary = self.primary()?;
                self.postfix(primary)
            }
        }
    }

    /// `&&label`.
    fn label_address(&mut self) -> Parse<()> {
        let Some(name) = self.identifier_ahead(0) else {
            return self.stop("expected a label");
        };
        let label = self.label(name)?;
        match &mut self.procedure {
            Some(procedure) => procedure.labels.addressed.push((self.at, label)),
            None => return self.stop("the address of a label outside of a procedure"),
        }
        self.advance();
        Ok(())
    }

    fn primary(&mut self) -> Parse<Expr> {
        let start = self.at;
        let token = *self.token();
        match token.kind {
            Kind::Number => {
                self.advance();
                let mut expr = Expr::plain(Range::new(start, self.at), Vec::new());
                if let Some(value) = literal::integer(self.bytes(&token)) {
                    expr.kind = ExprKind::Literal(value != 0);
                }
                Ok(expr)
            }
            Kind::Char => {
                self.advance();
                Ok(Expr::plain(Range::new(start, self.at), Vec::new()))
            }
            Kind::Text => {
                while self.token().kind == Kind::Text {
                    self.advance();
                }
                Ok(Expr::plain(Range::new(start, self.at), Vec::new()))
            }
            Kind::Word => self.primary_word(token.name),
            Kind::Punct if self.is("(") => self.parenthesised(),
            _ => self.stop("expected an expression"),
        }
    }

    fn primary_word(&mut self, name: Name) -> Parse<Expr> {
        let start = self.at;
        match name {
            kw::GENERIC => {
                self.advance();
                return self.generic(start);
            }
            kw::UNEVALUATED => {
                self.advance();
                self.skip_group()?;
            }
            kw::VA_ARG => {
                self.advance();
                self.expect("(")?;
                let list = self.assignment()?;
                self.expect(",")?;
                self.type_name()?;
                self.expect(")")?;
                return Ok(self.around(start, list));
            }
            _ if name.is_keyword() => return self.stop("expected an expression"),
            _ => {
                let target = self.refer(start, Space::Ordinary, name);
                self.note_object(target);
                self.advance();
            }
        }
        Ok(Expr::plain(Range::new(start, self.at), Vec::new()))
    }

    /// `(e)` or `({ … })`.
    fn parenthesised(&mut self) -> Parse<Expr> {
        let start = self.at;
        self.advance();
        if self.is("{") {
            if self.procedure.is_none() {
                return self.stop("a statement expression outside of a procedure");
            }
            let block = self.deeper(Self::compound)?;
            self.expect(")")?;
            let range = Range::new(start, self.at);
            if self.unevaluated > 0 {
                if self.has_jump(range) {
                    return self.stop("a jump out of what may not be evaluated");
                }
                return Ok(Expr::plain(range, Vec::new()));
            }
            return Ok(Expr {
                kind: ExprKind::Block(Box::new(block)),
                range,
                kids: Vec::new(),
                weak: false,
            });
        }
        let inner = self.deeper(Self::expression)?;
        self.expect(")")?;
        Ok(Expr {
            kind: ExprKind::Paren,
            range: Range::new(start, self.at),
            kids: vec![inner],
            weak: false,
        })
    }

    fn postfix(&mut self, mut expr: Expr) -> Parse<Expr> {
        let start = expr.range.start;
        let mut calls = 0;
        loop {
            if self.is("(") {
                calls += 1;
                if calls > MAX_DEPTH {
                    return self.stop("nested too deeply");
                }
                let callee = self.callee(&expr);
                let mut kids = Vec::new();
                keep(&mut kids, expr);
                self.advance();
                while !self.is(")") {
                    let argument = self.assignment()?;
                    keep(&mut kids, argument);
                    if !self.eat(",") {
                        break;
                    }
                }
                self.expect(")")?;
                let range = Range::new(start, self.at);
                expr = if self.unevaluated > 0 {
                    Expr::plain(range, Vec::new())
                } else {
                    Expr { kind: ExprKind::Call { callee }, range, kids, weak: false }
                };
                continue;
            }
            if self.is("[") {
                self.advance();
                let index = self.expression()?;
                self.expect("]")?;
                expr = self.widened(expr);
                keep(&mut expr.kids, index);
                continue;
            }
            if self.is(".") || self.is("->") {
                self.advance();
                if self.word().is_none() {
                    return self.stop("expected a member");
                }
                self.advance();
            } else if self.is("++") || self.is("--") {
                self.advance();
            } else {
                return Ok(expr);
            }
            expr = self.widened(expr);
        }
    }

    /// The token of the name that a call by name calls, through parentheses.
    fn callee(&self, expr: &Expr) -> Option<u32> {
        let mut expr = expr;
        while let (ExprKind::Paren, [inner]) = (&expr.kind, expr.kids.as_slice()) {
            expr = inner;
        }
        let token = expr.range.start;
        let is_name =
            expr.range.end == token + 1 && self.tree.tokens.all[token as usize].kind == Kind::Word;
        match self.tree.refs.get(token) {
            Ref::Undeclared if is_name => Some(token),
            Ref::Decl(decl) if is_name => {
                (self.tree.decls[decl.ix()].kind == DeclKind::Function).then_some(token)
            }
            _ => None,
        }
    }

    /// `_Generic(e, T: e, default: e)`. Which branch counts is the compiler's
    /// choice.
    fn generic(&mut self, start: u32) -> Parse<Expr> {
        self.expect("(")?;
        self.unevaluated(|p| p.assignment().map(drop))?;
        let mut types = Vec::new();
        let mut kids = Vec::new();
        while self.eat(",") {
            let from = self.at;
            let is_default = self.eat_word(kw::DEFAULT);
            if !is_default {
                self.type_name()?;
            }
            types.push((!is_default).then_some(Range::new(from, self.at)));
            self.expect(":")?;
            kids.push(self.assignment()?);
        }
        self.expect(")")?;
        let range = Range::new(start, self.at);
        if self.unevaluated > 0 || !kids.iter().any(Expr::is_interesting) {
            return Ok(Expr::plain(range, Vec::new()));
        }
        Ok(Expr { kind: ExprKind::Generic { types: Box::new(types) }, range, kids, weak: false })
    }

    /// `{ … }` after `=` or in a compound literal.
    pub(super) fn initializer_list(&mut self) -> Parse<Vec<Expr>> {
        let mut kids = Vec::new();
        self.deeper(|p| {
            p.expect("{")?;
            while !p.eat("}") {
                p.designators()?;
                if p.is("{") {
                    kids.extend(p.initializer_list()?);
                } else {
                    let value = p.assignment()?;
                    keep(&mut kids, value);
                }
                if !p.eat(",") && !p.is("}") {
                    return p.stop("expected `,` or `}`");
                }
            }
            Ok(())
        })?;
        Ok(kids)
    }

    fn designators(&mut self) -> Parse<()> {
        let start = self.at;
        // The old GNU form `member: value`.
        if self.identifier_ahead(0).is_some() && self.is_ahead(1, ":") {
            self.advance();
            self.advance();
            return Ok(());
        }
        loop {
            if self.is("[") {
                self.advance();
                self.constant_expression()?;
                if self.eat("...") {
                    self.constant_expression()?;
                }
                self.expect("]")?;
            } else if self.is(".") {
                self.advance();
                self.advance();
            } else {
                break;
            }
        }
        if self.at > start {
            self.eat("=");
        }
        Ok(())
    }
}

/// Most operators have one or two operands of interest: room for these and no
/// more is a large part of the size of the tree.
fn keep(kids: &mut Vec<Expr>, expr: Expr) {
    if expr.is_interesting() {
        if kids.len() < 2 {
            kids.reserve_exact(1);
        }
        kids.push(expr);
    }
}
