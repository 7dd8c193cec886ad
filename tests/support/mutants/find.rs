//! Where in a file an edit can be made: constants, operators, conditions,
//! statements, members, enumerators, initialisers.

use super::outline::{self, Item, Part, Tokens};
use super::replace::{self, CallTargets};
use super::tokens::{Token, tokens};
use super::{Edit, Kind, Mutant, Source};
use std::collections::BTreeMap;
use std::ops::Range;

pub struct Finder<'a> {
    pub source: &'a Source,
    pub targets: &'a CallTargets,
    /// How many files mention a word.
    pub mentions: &'a BTreeMap<&'a str, usize>,
    pub found: Vec<Mutant>,
}

impl Finder<'_> {
    /// Replaces a range of the text.
    pub fn add(&mut self, kind: Kind, range: Range<usize>, instead: &str) {
        self.add_edits(kind, vec![Edit { range, after: instead.to_string() }]);
    }

    /// Replaces several ranges, in the order of the text. The mutant shows whole lines,
    /// since one sign alone says little to a reader.
    pub fn add_edits(&mut self, kind: Kind, edits: Vec<Edit>) {
        let text = &self.source.text;
        let Edit { range, after } = &edits[0];
        let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
        let length = text[range.end..].find('\n');
        let end = length.map_or(text.len(), |length| range.end + length);
        let (left, right) = (&text[start..range.start], &text[range.end..end]);
        self.found.push(Mutant {
            kind,
            file: self.source.file.clone(),
            line: text[..range.start].matches('\n').count() + 1,
            before: text[start..end].to_string(),
            after: format!("{left}{after}{right}"),
            edits,
        });
    }

    /// Leaves the lines of the text as they are.
    pub fn blank(&mut self, kind: Kind, range: Range<usize>, instead: &str) {
        let lines = "\n".repeat(self.source.text[range.clone()].matches('\n').count());
        self.add(kind, range, &format!("{instead}{lines}"));
    }

    /// Exchanges two pieces of text, the first before the second.
    pub fn swap(&mut self, kind: Kind, first: Range<usize>, second: Range<usize>) {
        let text = &self.source.text;
        let between = &text[first.end..second.start];
        let after = format!("{}{between}{}", &text[second.clone()], &text[first.clone()]);
        self.add(kind, first.start..second.end, &after);
    }

    /// The value and the operators of a macro.
    pub fn directive(&mut self, directive: &Token) {
        let Some(rest) = directive.text.strip_prefix("#define ") else {
            return;
        };
        let name = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric());
        let Some(mut body) = name.map(|length| &rest[length..]) else {
            return;
        };
        if body.starts_with('(') {
            body = body.split_once(')').map_or("", |(_, body)| body);
        }
        let offset = directive.end() - body.len();
        self.constants_and_operators(&tokens(body, offset), Kind::Macro, Kind::Macro);
    }

    fn constants_and_operators(&mut self, tokens: Tokens, constants: Kind, operators: Kind) {
        for token in tokens {
            if let Some(after) = replace::constant(token) {
                self.add(constants, token.start..token.end(), &after);
            }
            if let Some(after) = replace::operator(token, &self.source.text) {
                self.add(operators, token.start..token.end(), after);
            }
        }
    }

    pub fn item(&mut self, item: &Item) {
        for members in outline::members(item.head) {
            for member in &members {
                self.types(Kind::FieldType, member);
            }
            for pair in members.windows(2) {
                self.swap(Kind::FieldOrder, range(pair[0]), range(pair[1]));
            }
        }
        for enumerators in outline::enumerators(item.head) {
            self.enumerators(&enumerators);
        }
        if let Some(initialiser) = item.initialiser {
            self.initialiser(item.head, initialiser);
        }
        if let Some(body) = item.body {
            let first = self.found.len();
            self.body(body);
            if self.source.file.ends_with(".h") {
                self.found[first..].iter_mut().for_each(|mutant| mutant.kind = Kind::Header);
            }
        }
    }

    pub fn types(&mut self, kind: Kind, declaration: Tokens) {
        for at in 0..declaration.len() {
            if let Some(after) = replace::type_name(declaration, at) {
                self.add(kind, range(&declaration[at..=at]), after);
            }
        }
    }

    fn enumerators(&mut self, enumerators: &[Tokens]) {
        for pair in enumerators.windows(2) {
            self.swap(Kind::Enumerator, range(&pair[0][..1]), range(&pair[1][..1]));
        }
        for enumerator in enumerators {
            match enumerator {
                [name] => {
                    let after = format!("{} = 70", name.text);
                    self.add(Kind::Enumerator, range(enumerator), &after);
                }
                [_, _, value @ ..] => {
                    let kind = Kind::Enumerator;
                    self.constants_and_operators(value, kind, kind);
                }
                [] => {}
            }
        }
    }

    /// Of a variable of the program, or of a table: an array of structures.
    fn initialiser(&mut self, head: Tokens, value: Tokens) {
        if value.is_empty() {
            return;
        }
        let elements = outline::elements(value).unwrap_or_default();
        let rows: Vec<Vec<Tokens>> = elements.iter().filter_map(|e| outline::elements(e)).collect();
        if rows.is_empty() {
            let kind = Kind::Initialiser;
            self.constants_and_operators(value, kind, kind);
            // Without its initialiser the variable is zero.
            self.blank(kind, head[head.len() - 1].end()..range(value).end, "");
            for element in elements {
                self.blank(kind, range(element), "0");
            }
            return;
        }
        self.constants_and_operators(value, Kind::TableValue, Kind::TableValue);
        for pair in elements.windows(2) {
            self.swap(Kind::TableOrder, range(pair[0]), range(pair[1]));
        }
        for pair in rows.windows(2) {
            for (first, second) in pair[0].iter().zip(&pair[1]) {
                if self.source.text[range(first)] != self.source.text[range(second)] {
                    self.swap(Kind::TableOrder, range(first), range(second));
                }
            }
        }
    }

    fn body(&mut self, body: Tokens) {
        self.constants_and_operators(body, Kind::Constant, Kind::Operator);
        for token in body {
            if let Some(other) = self.targets.other(token) {
                let other = other.to_string();
                self.add(Kind::CallTarget, token.start..token.end(), &other);
            }
        }
        for part in outline::parts(body) {
            match part {
                Part::Condition(tokens) => {
                    let after = format!("!({})", &self.source.text[range(tokens)]);
                    self.add(Kind::Condition, range(tokens), &after);
                }
                Part::Label(tokens) => self.blank(Kind::CaseLabel, range(tokens), ""),
                Part::Returned(tokens) => {
                    let zero = tokens[0].is("NULL") || tokens[0].text == "0";
                    let after = if zero { "1" } else { "0" };
                    self.blank(Kind::Return, range(tokens), after);
                }
                Part::Declaration(tokens) => {
                    let declared = outline::split(tokens, "=")[0];
                    self.types(Kind::LocalType, declared);
                }
                Part::Simple(tokens) => self.blank(Kind::Statement, range(tokens), ";"),
            }
        }
    }
}

/// From the first to the last of the tokens.
pub fn range(tokens: Tokens) -> Range<usize> {
    tokens[0].start..tokens[tokens.len() - 1].end()
}
