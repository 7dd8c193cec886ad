//! The outline of a C file: its top-level items and the parts of a body.
//!
//! Just enough structure to aim a mutation: where a statement begins and ends,
//! what is a condition, a case label, a member, an enumerator, a row of a
//! table. It knows nothing of macros and types. Where it is wrong the mutant does
//! not compile, and then it does not count.

use super::tokens::{Token, TokenKind};

pub type Tokens<'a> = &'a [Token<'a>];

/// A declaration or definition at file scope.
pub struct Item<'a> {
    /// All before the body or the initialiser.
    pub head: Tokens<'a>,
    /// Inside the braces of a function.
    pub body: Option<Tokens<'a>>,
    /// Between `=` and `;`.
    pub initialiser: Option<Tokens<'a>>,
    /// Where its text ends, with its last brace or `;`.
    pub end: usize,
}

/// A part of the body of a function.
pub enum Part<'a> {
    /// Of `if`, `while`, `do` or the middle of a `for`.
    Condition(Tokens<'a>),
    /// `case …:` or `default:`.
    Label(Tokens<'a>),
    /// What a `return` gives back.
    Returned(Tokens<'a>),
    Declaration(Tokens<'a>),
    /// Any other statement without a part of its own, with its `;`.
    Simple(Tokens<'a>),
}

/// Cuts the tokens of a file, without its directives, into items.
pub fn items<'a>(mut tokens: Tokens<'a>) -> Vec<Item<'a>> {
    let mut found = Vec::new();
    while !tokens.is_empty() {
        let mut at = 0;
        let mut equals = None;
        while at < tokens.len() && !tokens[at].is(";") {
            if tokens[at].is("=") && equals.is_none() {
                equals = Some(at);
            }
            if is_open(&tokens[at]) {
                let close = close(tokens, at);
                if tokens[at].is("{") && equals.is_none() && at > 0 && tokens[at - 1].is(")") {
                    found.push(Item {
                        head: &tokens[..at],
                        body: Some(inside(tokens, at)),
                        initialiser: None,
                        end: tokens[close].end(),
                    });
                    tokens = &tokens[close + 1..];
                    at = 0;
                    continue;
                }
                at = close;
            }
            at += 1;
        }
        let end = at.min(tokens.len());
        let head = &tokens[..equals.unwrap_or(end)];
        if let Some(last) = tokens.get(end).or(tokens.last()).filter(|_| !head.is_empty()) {
            found.push(Item {
                head,
                body: None,
                initialiser: equals.map(|equals| &tokens[equals + 1..end]),
                end: last.end(),
            });
        }
        tokens = &tokens[(end + 1).min(tokens.len())..];
    }
    found
}

/// The members of each structure or union that the tokens define.
pub fn members<'a>(tokens: Tokens<'a>) -> Vec<Vec<Tokens<'a>>> {
    blocks_of(tokens, &["struct", "union"]).into_iter().map(|block| split(block, ";")).collect()
}

/// The enumerators of each enumeration that the tokens define.
pub fn enumerators<'a>(tokens: Tokens<'a>) -> Vec<Vec<Tokens<'a>>> {
    blocks_of(tokens, &["enum"]).into_iter().map(|block| split(block, ",")).collect()
}

/// The elements of an initialiser in braces.
pub fn elements<'a>(tokens: Tokens<'a>) -> Option<Vec<Tokens<'a>>> {
    let last = tokens.len().checked_sub(1)?;
    (tokens[0].is("{") && close(tokens, 0) == last).then(|| split(&tokens[1..last], ","))
}

/// What stands inside the braces after one of these keywords and perhaps a tag.
fn blocks_of<'a>(tokens: Tokens<'a>, keywords: &[&str]) -> Vec<Tokens<'a>> {
    let is_keyword = |at: usize| keywords.iter().any(|keyword| tokens[at].is(keyword));
    (1..tokens.len())
        .filter(|&at| tokens[at].is("{"))
        .filter(|&at| is_keyword(at - 1) || (at > 1 && is_keyword(at - 2)))
        .map(|at| inside(tokens, at))
        .collect()
}

/// The pieces between separators that are in no brackets, without empty ones.
pub fn split<'a>(tokens: Tokens<'a>, separator: &str) -> Vec<Tokens<'a>> {
    let mut pieces = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < tokens.len() {
        if tokens[at].is(separator) {
            pieces.push(&tokens[start..at]);
            start = at + 1;
        } else if is_open(&tokens[at]) {
            at = close(tokens, at);
        }
        at += 1;
    }
    pieces.push(&tokens[start..]);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn is_open(token: &Token) -> bool {
    ["(", "[", "{"].iter().any(|open| token.is(open))
}

/// What stands between a bracket and the one that closes it.
fn inside<'a>(tokens: Tokens<'a>, open: usize) -> Tokens<'a> {
    let close = close(tokens, open);
    &tokens[(open + 1).min(close)..close]
}

/// Where the bracket at `open` is closed; where it never is, because a directive
/// chooses between two halves, the last token.
pub fn close(tokens: Tokens, open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if is_open(token) {
            depth += 1;
        } else if [")", "]", "}"].iter().any(|close| token.is(close)) {
            depth -= 1;
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len() - 1
}

/// The parts of a function's body.
pub fn parts<'a>(body: Tokens<'a>) -> Vec<Part<'a>> {
    let mut walk = Walk { tokens: body, at: 0, parts: Vec::new() };
    while walk.at < body.len() {
        walk.statement();
    }
    walk.parts
}

struct Walk<'a> {
    tokens: Tokens<'a>,
    at: usize,
    parts: Vec<Part<'a>>,
}

impl<'a> Walk<'a> {
    fn statement(&mut self) {
        let tokens = self.tokens;
        let start = self.at;
        let Some(first) = tokens.get(start) else {
            return;
        };
        match first.text {
            "{" => {
                let end = close(tokens, start);
                self.at += 1;
                while self.at < end {
                    self.statement();
                }
                self.at = end + 1;
            }
            "if" | "while" | "for" | "switch" => {
                self.header(first.text);
                self.statement();
                if self.at < tokens.len() && tokens[self.at].is("else") {
                    self.at += 1;
                    self.statement();
                }
            }
            "do" => {
                self.at += 1;
                self.statement();
                self.header("while");
                self.at += 1;
            }
            "case" | "default" => {
                self.to(":");
                self.parts.push(Part::Label(&tokens[start..self.at]));
            }
            "return" => {
                self.to(";");
                self.parts.push(match &tokens[start..self.at] {
                    [_, value @ .., _] if !value.is_empty() => Part::Returned(value),
                    all => Part::Simple(all),
                });
            }
            _ if tokens.get(start + 1).is_some_and(|token| token.is(":")) => self.at += 2,
            _ => {
                self.to(";");
                let all = &tokens[start..self.at];
                self.parts.push(match is_declaration(all) {
                    true => Part::Declaration(all),
                    false => Part::Simple(all),
                });
            }
        }
    }

    /// A keyword with what follows it in parentheses.
    fn header(&mut self, keyword: &str) {
        // Of a macro that looks like one, nothing is known.
        if !self.tokens.get(self.at + 1).is_some_and(|token| token.is("(")) {
            self.at += 1;
            return;
        }
        let end = close(self.tokens, self.at + 1);
        let inside = inside(self.tokens, self.at + 1);
        match keyword {
            "switch" => {}
            "for" => {
                // The middle part, which may be empty.
                let ends: Vec<usize> = (0..inside.len()).filter(|&i| inside[i].is(";")).collect();
                if let [first, second] = ends[..]
                    && first + 1 < second
                {
                    self.parts.push(Part::Condition(&inside[first + 1..second]));
                }
            }
            _ if inside.is_empty() => {}
            _ => self.parts.push(Part::Condition(inside)),
        }
        self.at = end + 1;
    }

    /// Goes on past the next such sign outside of brackets.
    fn to(&mut self, sign: &str) {
        while let Some(token) = self.tokens.get(self.at) {
            if is_open(token) {
                self.at = close(self.tokens, self.at);
            }
            self.at += 1;
            if token.is(sign) {
                break;
            }
        }
        self.at = self.at.min(self.tokens.len());
    }
}

/// `size_t i;`, `const Unit *unit;`, but not `*low = 1;` or `APPEND(…);`.
fn is_declaration(statement: Tokens) -> bool {
    let is_word = |token: &Token| token.kind == TokenKind::Word;
    let is_jump = ["goto", "break", "continue"].iter().any(|jump| statement[0].is(jump));
    let second = statement[1..].iter().find(|token| !token.is("*"));
    is_word(&statement[0]) && !is_jump && second.is_some_and(is_word)
}

#[test]
fn finds_the_parts_of_a_body() {
    let text = "int i = 0; do { i++; } while (i < 3); for (;i;) f(i); \
                switch (i) { case 1: return; default: return i; } done: goto done;";
    let tokens = super::tokens::tokens(text, 0);
    let shown: Vec<String> = parts(&tokens)
        .iter()
        .map(|part| {
            let (name, tokens) = match part {
                Part::Condition(tokens) => ("condition", tokens),
                Part::Label(tokens) => ("label", tokens),
                Part::Returned(tokens) => ("returned", tokens),
                Part::Declaration(tokens) => ("declaration", tokens),
                Part::Simple(tokens) => ("simple", tokens),
            };
            let words: Vec<&str> = tokens.iter().map(|token| token.text).collect();
            format!("{name} {}", words.join(" "))
        })
        .collect();
    assert_eq!(
        shown,
        [
            "declaration int i = 0 ;",
            "simple i ++ ;",
            "condition i < 3",
            "condition i",
            "simple f ( i ) ;",
            "label case 1 :",
            "simple return ;",
            "label default :",
            "returned i",
            "simple goto done ;",
        ]
    );
}
