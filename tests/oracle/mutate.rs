//! Mutants of a C project: every place where one small edit can change what the
//! program does, and a fixed spread of them over kinds of edits and files.
//!
//! The kinds are chosen after what selection has to see: not only statements,
//! but also all that reaches a statement from elsewhere, such as types, macros,
//! enumerators, initialisers, tables and headers.

use super::outline::{self, Item, Part, Tokens};
use super::replace::{self, CallTargets};
use super::tokens::{Token, TokenKind, tokens};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// Any number: it only has to stay the same.
const SEED: u64 = 0x7a11_7a11;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Header,
    Macro,
    Enumerator,
    FieldType,
    FieldOrder,
    Condition,
    Statement,
    Operator,
    Constant,
    Return,
    CaseLabel,
    CallTarget,
    LocalType,
    Initialiser,
    TableOrder,
    TableValue,
}

impl Kind {
    /// All kinds with how many mutants of each are tried. Those that take the
    /// longest come first, so that no worker is left with one at the end.
    pub const ALL: [(Kind, usize); 16] = [
        (Kind::Header, 10),
        (Kind::Macro, 12),
        (Kind::Enumerator, 12),
        (Kind::FieldType, 12),
        (Kind::FieldOrder, 12),
        (Kind::Condition, 18),
        (Kind::Statement, 18),
        (Kind::Operator, 18),
        (Kind::Constant, 14),
        (Kind::Return, 14),
        (Kind::CaseLabel, 12),
        (Kind::CallTarget, 10),
        (Kind::LocalType, 8),
        (Kind::Initialiser, 8),
        (Kind::TableOrder, 12),
        (Kind::TableValue, 10),
    ];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Header => "code in a header",
            Kind::Macro => "macro",
            Kind::Enumerator => "enumerator",
            Kind::FieldType => "type of a field",
            Kind::FieldOrder => "order of fields",
            Kind::Condition => "condition negated",
            Kind::Statement => "statement deleted",
            Kind::Operator => "operator",
            Kind::Constant => "constant",
            Kind::Return => "returned value",
            Kind::CaseLabel => "case label removed",
            Kind::CallTarget => "call target",
            Kind::LocalType => "type of a local",
            Kind::Initialiser => "global initialiser",
            Kind::TableOrder => "order in a table",
            Kind::TableValue => "value in a table",
        }
    }
}

/// One edit of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    pub kind: Kind,
    pub file: String,
    pub line: usize,
    /// The lines as they are, and as they become.
    pub before: String,
    pub after: String,
    range: Range<usize>,
}

impl Mutant {
    /// The text of the file with the edit in it.
    pub fn apply(&self, text: &str) -> String {
        let mut edited = text.to_string();
        edited.replace_range(self.range.clone(), &self.after);
        edited
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} at {}:{}", self.kind.name(), self.file, self.line)?;
        write!(f, "- {}\n+ {}", self.before.trim_end(), self.after.trim_end())
    }
}

/// A C file: its path in the project and its text.
pub struct Source {
    pub file: String,
    pub text: String,
}

/// All mutants of each kind, those of one file spread evenly over the others.
pub fn mutants(sources: &[Source]) -> BTreeMap<Kind, Vec<Mutant>> {
    let mut by_kind: BTreeMap<Kind, BTreeMap<String, Vec<Mutant>>> = BTreeMap::new();
    for mutant in all(sources) {
        let files = by_kind.entry(mutant.kind).or_default();
        files.entry(mutant.file.clone()).or_default().push(mutant);
    }
    let mut random = Random(SEED);
    by_kind
        .into_iter()
        .map(|(kind, files)| {
            let mut files: Vec<Vec<Mutant>> = files.into_values().collect();
            files.iter_mut().for_each(|file| random.shuffle(file));
            random.shuffle(&mut files);
            let longest = files.iter().map(Vec::len).max().unwrap_or(0);
            let rounds =
                (0..longest).flat_map(|round| files.iter().filter_map(move |f| f.get(round)));
            (kind, rounds.cloned().collect())
        })
        .collect()
}

fn all(sources: &[Source]) -> Vec<Mutant> {
    let cut: Vec<(&Source, Vec<Token>, Vec<Token>)> = sources
        .iter()
        .map(|source| {
            let (directives, code) = tokens(&source.text, 0)
                .into_iter()
                .partition(|token| token.kind == TokenKind::Directive);
            (source, directives, code)
        })
        .collect();
    let items: Vec<Vec<Item>> = cut.iter().map(|(_, _, code)| outline::items(code)).collect();
    let heads = cut.iter().zip(&items).flat_map(|((source, _, _), items)| {
        items.iter().map(|item| (source.file.as_str(), item.head))
    });
    let targets = CallTargets::of(heads);
    let mut found = Vec::new();
    for ((source, directives, _), items) in cut.iter().zip(&items) {
        let mut finder = Finder { source, targets: &targets, found: Vec::new() };
        for directive in directives {
            finder.directive(directive);
        }
        for item in items {
            finder.item(item);
        }
        found.append(&mut finder.found);
    }
    found
}

struct Finder<'a> {
    source: &'a Source,
    targets: &'a CallTargets,
    found: Vec<Mutant>,
}

impl Finder<'_> {
    /// Replaces a range of the text. The mutant has the whole lines, since one
    /// sign alone says little to a reader.
    fn add(&mut self, kind: Kind, range: Range<usize>, instead: &str) {
        let text = &self.source.text;
        let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
        let length = text[range.end..].find('\n');
        let end = length.map_or(text.len(), |length| range.end + length);
        let (left, right) = (&text[start..range.start], &text[range.end..end]);
        self.found.push(Mutant {
            kind,
            file: self.source.file.clone(),
            line: text[..range.start].matches('\n').count() + 1,
            before: text[start..end].to_string(),
            after: format!("{left}{instead}{right}"),
            range: start..end,
        });
    }

    /// Leaves the lines of the text as they are.
    fn blank(&mut self, kind: Kind, range: Range<usize>, instead: &str) {
        let lines = "\n".repeat(self.source.text[range.clone()].matches('\n').count());
        self.add(kind, range, &format!("{instead}{lines}"));
    }

    /// Exchanges two pieces of text, the first before the second.
    fn swap(&mut self, kind: Kind, first: Range<usize>, second: Range<usize>) {
        let text = &self.source.text;
        let between = &text[first.end..second.start];
        let after = format!("{}{between}{}", &text[second.clone()], &text[first.clone()]);
        self.add(kind, first.start..second.end, &after);
    }

    /// The value and the operators of a macro.
    fn directive(&mut self, directive: &Token) {
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

    fn item(&mut self, item: &Item) {
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

    fn types(&mut self, kind: Kind, declaration: Tokens) {
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
fn range(tokens: Tokens) -> Range<usize> {
    tokens[0].start..tokens[tokens.len() - 1].end()
}

/// SplitMix64: the same everywhere, whatever the version of any crate.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = (self.next() % (last as u64 + 1)) as usize;
            items.swap(last, other);
        }
    }
}
