//! Mutants of a C project: every place where one small edit can change what the
//! program does, and a fixed spread of them over kinds of edits and files.
//!
//! The kinds are chosen after what selection has to see: not only statements,
//! but also all that reaches a statement from elsewhere, such as types, macros,
//! enumerators, initialisers, tables and headers; and procedures as a whole.

mod find;
mod outline;
mod replace;
mod tokens;
mod whole;

use find::Finder;
use outline::Item;
use replace::CallTargets;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use tokens::{Token, TokenKind, tokens};

/// Any number: it only has to stay the same.
const SEED: u64 = 0x7a11_7a11;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Header,
    Macro,
    Enumerator,
    FieldType,
    FieldOrder,
    Pack,
    Typedef,
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
    Signature,
    Moved,
    Renamed,
    Added,
    Deleted,
    Constructor,
    LineMore,
    Linkage,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Header => "code in a header",
            Kind::Macro => "macro",
            Kind::Enumerator => "enumerator",
            Kind::FieldType => "type of a field",
            Kind::FieldOrder => "order of fields",
            Kind::Pack => "packed structure",
            Kind::Typedef => "typedef",
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
            Kind::Signature => "signature",
            Kind::Moved => "procedure moved",
            Kind::Renamed => "procedure renamed",
            Kind::Added => "procedure added",
            Kind::Deleted => "procedure deleted",
            Kind::Constructor => "constructor added",
            Kind::LineMore => "line more",
            Kind::Linkage => "made static or global",
        }
    }

    /// Whether it is an edit of one place in a body, which is for nothing if no
    /// test comes there.
    pub fn is_in_body(self) -> bool {
        use Kind::{
            CallTarget, CaseLabel, Condition, Constant, LocalType, Operator, Return, Statement,
        };
        matches!(
            self,
            CallTarget
                | CaseLabel
                | Condition
                | Constant
                | LocalType
                | Operator
                | Return
                | Statement
        )
    }
}

/// A text that takes the place of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub range: Range<usize>,
    pub after: String,
}

/// An edit of one file, perhaps in several places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    pub kind: Kind,
    pub file: String,
    pub line: usize,
    /// The lines of the first place as they are, and as they become.
    pub before: String,
    pub after: String,
    /// In the order of the text.
    edits: Vec<Edit>,
}

impl Mutant {
    /// The text of the file with the edit in it.
    pub fn apply(&self, text: &str) -> String {
        let mut edited = text.to_string();
        for edit in self.edits.iter().rev() {
            edited.replace_range(edit.range.clone(), &edit.after);
        }
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
    let mentions = mentions(&cut);
    let mut found = Vec::new();
    for ((source, directives, code), items) in cut.iter().zip(&items) {
        let mut finder =
            Finder { source, targets: &targets, mentions: &mentions, found: Vec::new() };
        for directive in directives {
            finder.directive(directive);
        }
        for (number, item) in items.iter().enumerate() {
            finder.item(item);
            finder.whole(number, items, code);
        }
        finder.file(code);
        found.append(&mut finder.found);
    }
    found
}

/// How many files mention a word, in code or in a directive.
fn mentions<'a>(cut: &[(&Source, Vec<Token<'a>>, Vec<Token<'a>>)]) -> BTreeMap<&'a str, usize> {
    let mut mentions = BTreeMap::new();
    for (_, directives, code) in cut {
        let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
        let in_directives = directives.iter().flat_map(|token| token.text.split(|c| !is_part(c)));
        let words: BTreeSet<&str> =
            code.iter().map(|token| token.text).chain(in_directives).collect();
        words.into_iter().for_each(|word| *mentions.entry(word).or_default() += 1);
    }
    mentions
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
