//! Values of integer constant expressions, as far as enumerators need them.
//! Whatever is not plainly computable has no value here and is compared by its
//! tokens instead.

use super::*;

impl Parser<'_, '_> {
    /// The value of a parsed range, if it is made of literals, enumerators with
    /// known values and integer operators.
    pub(super) fn evaluate(&self, range: Range) -> Option<i128> {
        let mut evaluator = Evaluator { parser: self, at: range.start, end: range.end };
        let value = evaluator.binary(0)?;
        (evaluator.at == range.end && (-(1 << 62)..1 << 62).contains(&value)).then_some(value)
    }
}

struct Evaluator<'p, 't, 'k> {
    parser: &'p Parser<'t, 'k>,
    at: u32,
    end: u32,
}

impl Evaluator<'_, '_, '_> {
    fn text(&self) -> &[u8] {
        if self.at < self.end { self.parser.tree.token_text(self.at) } else { b"" }
    }

    fn binary(&mut self, least: u8) -> Option<i128> {
        let mut left = self.unary()?;
        loop {
            let (level, operator) = match self.text() {
                b"|" => (1, b'|'),
                b"^" => (2, b'^'),
                b"&" => (3, b'&'),
                b"<<" => (4, b'<'),
                b">>" => (4, b'>'),
                b"+" => (5, b'+'),
                b"-" => (5, b'-'),
                b"*" => (6, b'*'),
                _ => return Some(left),
            };
            if level <= least {
                return Some(left);
            }
            self.at += 1;
            let right = self.binary(level)?;
            left = match operator {
                b'|' => left | right,
                b'^' => left ^ right,
                b'&' => left & right,
                b'<' if (0..31).contains(&right) => left.checked_shl(right as u32)?,
                b'>' if (0..31).contains(&right) && left >= 0 => left >> right,
                b'+' => left + right,
                b'-' => left - right,
                b'*' => left.checked_mul(right)?,
                _ => return None,
            };
            // Beyond int the type of the operands would matter.
            if i32::try_from(left).is_err() {
                return None;
            }
        }
    }

    fn unary(&mut self) -> Option<i128> {
        let token = self.at;
        match self.text() {
            b"(" => {
                self.at += 1;
                let value = self.binary(0)?;
                (self.text() == b")").then_some(())?;
                self.at += 1;
                Some(value)
            }
            b"-" => {
                self.at += 1;
                Some(-self.unary()?)
            }
            b"+" => {
                self.at += 1;
                self.unary()
            }
            text if text.first().is_some_and(u8::is_ascii_digit) => {
                let value = super::super::literal::integer(text)?;
                self.at += 1;
                i32::try_from(value).ok().map(i128::from)
            }
            [b'\'', byte, b'\''] if byte.is_ascii() && *byte != b'\\' => {
                let value = i128::from(*byte);
                self.at += 1;
                Some(value)
            }
            _ => {
                let Ref::Decl(decl) = self.parser.tree.refs.get(token) else {
                    return None;
                };
                match self.parser.tree.decls[decl.ix()].enumeration() {
                    Some(EnumInfo::Value(value))
                        if self.parser.tree.decls[decl.ix()].kind == DeclKind::Enumerator =>
                    {
                        let value = *value;
                        self.at += 1;
                        Some(value)
                    }
                    _ => None,
                }
            }
        }
    }
}
