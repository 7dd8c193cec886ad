//! Names that the linker may resolve, numbered for the record, and what a unit
//! does with them.

use crate::cfg::format::Symbol;
use crate::frontend::lex::Kind;
use crate::frontend::names::{Name, kw};
use crate::frontend::tree::*;
use crate::ids::DeclId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

pub struct Symbols<'a, 't> {
    tree: &'a Tree<'t>,
    all: Vec<Symbol>,
    numbers: FxHashMap<Symbol, u32>,
    /// By declaration, as far as asked for.
    of_decls: Vec<Known>,
    of_undeclared: FxHashMap<Name, u32>,
    /// Names of the file's own variables and functions.
    statics: FxHashSet<Name>,
    address_taken: BTreeSet<u32>,
}

#[derive(Clone, Copy)]
enum Known {
    NotYet,
    /// The linker does not know it.
    Nothing,
    Symbol(u32),
}

impl<'a, 't> Symbols<'a, 't> {
    pub fn of(tree: &'a Tree<'t>) -> Self {
        let statics = tree
            .decls
            .iter()
            .filter(|decl| decl.is_static && decl.scope == DeclScope::File)
            .filter_map(|decl| decl.name);
        Self {
            tree,
            all: Vec::new(),
            numbers: FxHashMap::default(),
            of_decls: vec![Known::NotYet; tree.decls.len()],
            of_undeclared: FxHashMap::default(),
            statics: statics.collect(),
            address_taken: BTreeSet::new(),
        }
    }

    pub fn finish(self) -> Vec<Symbol> {
        self.all
    }

    /// The functions whose address was taken since this was asked before.
    pub fn taken(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.address_taken).into_iter().collect()
    }

    /// Notes that the address of a function is taken.
    pub fn take(&mut self, symbol: u32) {
        self.address_taken.insert(symbol);
    }

    pub fn name(&self, symbol: u32) -> &str {
        &self.all[symbol as usize].name
    }

    pub fn intern(&mut self, symbol: Symbol) -> u32 {
        if let Some(index) = self.numbers.get(&symbol) {
            return *index;
        }
        let index = self.all.len() as u32;
        self.all.push(symbol.clone());
        self.numbers.insert(symbol, index);
        index
    }

    /// The linkable thing that a token names, if it does.
    pub fn at(&mut self, token: u32) -> Option<u32> {
        match self.tree.refs.get(token) {
            Ref::None => None,
            Ref::Undeclared => {
                let name = self.tree.tokens.all[token as usize].name;
                if let Some(known) = self.of_undeclared.get(&name) {
                    return Some(*known);
                }
                let text = String::from_utf8_lossy(self.tree.token_text(token)).into_owned();
                let number = self.intern(Symbol { name: text, is_static: false });
                self.of_undeclared.insert(name, number);
                Some(number)
            }
            Ref::Decl(decl) => self.number_of(decl),
        }
    }

    /// The function of this file that a token names, if it is one.
    pub fn function_at(&self, token: u32) -> Option<DeclId> {
        match self.tree.refs.get(token) {
            Ref::Decl(id) => {
                let decl = &self.tree.decls[id.ix()];
                let is_one = decl.kind == DeclKind::Function && decl.scope == DeclScope::File;
                is_one.then_some(id)
            }
            _ => None,
        }
    }

    fn number_of(&mut self, decl: DeclId) -> Option<u32> {
        match self.of_decls[decl.ix()] {
            Known::Symbol(number) => Some(number),
            Known::Nothing => None,
            Known::NotYet => {
                let symbol = self.of_decl(&self.tree.decls[decl.ix()]);
                let number = symbol.map(|symbol| self.intern(symbol));
                self.of_decls[decl.ix()] = number.map_or(Known::Nothing, Known::Symbol);
                number
            }
        }
    }

    pub fn of_decl(&self, decl: &Decl) -> Option<Symbol> {
        if !matches!(decl.kind, DeclKind::Variable | DeclKind::Function) {
            return None;
        }
        let name = match decl.link_name() {
            Some(name) => name.to_string(),
            None => self.tree.tokens.names.string(decl.name?),
        };
        match (decl.scope, decl.owner) {
            (DeclScope::File, _) => Some(Symbol { name, is_static: decl.is_static }),
            (DeclScope::Local(count), Some(owner)) => {
                let owner = self.tree.tokens.names.string(owner);
                Some(Symbol { name: format!("{owner}.{name}#{count}"), is_static: true })
            }
            _ => None,
        }
    }

    /// What tokens mention, sorted.
    pub fn mentions(&mut self, pieces: &[Piece]) -> Vec<u32> {
        let mut found = Vec::new();
        for range in pieces.iter().filter_map(Piece::tokens) {
            for token in range.start..range.end {
                found.extend(self.at(token));
            }
        }
        sorted(found)
    }

    /// The same for code that runs, or a value that is used: a function that
    /// is named without being called has its address taken. `callees` are the
    /// tokens that name what is called, sorted.
    pub fn uses(&mut self, pieces: &[Piece], callees: &[u32]) -> Vec<u32> {
        for range in pieces.iter().filter_map(Piece::tokens) {
            for token in range.start..range.end {
                let is_function = matches!(self.tree.refs.get(token),
                    Ref::Decl(decl) if self.tree.decls[decl.ix()].kind == DeclKind::Function);
                if is_function && callees.binary_search(&token).is_err() {
                    let taken = self.at(token);
                    self.address_taken.extend(taken);
                }
            }
        }
        self.mentions(pieces)
    }

    /// Names in a body that was not parsed. One without a declaration is most
    /// likely local, unless it is called.
    pub fn uses_of_opaque(&mut self, body: Range) -> Vec<u32> {
        let tokens = (body.start..body.end).filter(|token| {
            self.tree.refs.get(*token) != Ref::Undeclared || self.tree.token_text(token + 1) == b"("
        });
        let tokens: Vec<Piece> =
            tokens.map(|token| Piece::Tokens(Range::new(token, token + 1))).collect();
        let mut found = self.uses(&tokens, &[]);
        let all = &self.tree.tokens.all[body.start as usize..body.end as usize];
        if all.iter().any(|token| token.kind == Kind::Word && token.name == kw::ASM) {
            found.extend(self.in_asm(body));
        }
        sorted(found)
    }

    /// Whatever the text of an asm may name. Functions among it count as if
    /// their address was taken.
    pub fn in_asm(&mut self, range: Range) -> Vec<u32> {
        let words = self.words_in_strings(range);
        let found: Vec<u32> = words.iter().map(|name| self.named(name)).collect();
        self.address_taken.extend(&found);
        found
    }

    /// What a name in asm, a pragma or an alias stands for, which may be
    /// static in this unit.
    pub fn named(&mut self, name: &str) -> u32 {
        let known = self.tree.tokens.names.find(name.as_bytes());
        let is_static = known.is_some_and(|known| self.statics.contains(&known));
        self.intern(Symbol { name: name.to_string(), is_static })
    }

    /// Words inside of the string literals of a range, as asm has them.
    pub fn words_in_strings(&self, range: Range) -> Vec<String> {
        let mut found = Vec::new();
        for token in range.start..range.end {
            if self.tree.tokens.all[token as usize].kind == Kind::Text {
                let text = String::from_utf8_lossy(self.tree.token_text(token));
                found.extend(words(&text).map(String::from));
            }
        }
        found
    }
}

pub fn sorted(mut symbols: Vec<u32>) -> Vec<u32> {
    symbols.sort_unstable();
    symbols.dedup();
    symbols
}

/// Runs of letters, digits and underscores.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_break = |c: char| !(c.is_alphanumeric() || c == '_');
    text.split(is_break).filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}
