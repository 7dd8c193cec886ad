//! Names that the linker may resolve, numbered for the record, and what a unit
//! does with them.

use crate::cfg::format::Symbol;
use crate::frontend::lex::Kind;
use crate::frontend::names::{Name, kw};
use crate::frontend::tree::*;
use crate::ids::DeclId;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

pub struct Symbols<'a, 't> {
    tree: &'a Tree<'t>,
    all: Vec<Symbol>,
    numbers: FxHashMap<Symbol, u32>,
    /// By declaration, as far as asked for.
    of_decls: Vec<Known>,
    of_undeclared: FxHashMap<Name, u32>,
    /// The file's own variables and functions, by their names for the assembler.
    statics: FxHashMap<String, Symbol>,
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
        let mut found = Self {
            tree,
            all: Vec::new(),
            numbers: FxHashMap::default(),
            of_decls: vec![Known::NotYet; tree.decls.len()],
            of_undeclared: FxHashMap::default(),
            statics: FxHashMap::default(),
            address_taken: BTreeSet::new(),
        };
        for decl in tree.decls.iter().filter(|decl| decl.is_static) {
            let name = match decl.link_name() {
                Some(name) => Some(name.to_string()),
                // The compiler gives a name of its own to what is inside of a procedure.
                None if decl.scope != DeclScope::File => None,
                None => decl.name.map(|name| tree.tokens.names.string(name)),
            };
            if let Some(name) = name
                && let Some(symbol) = found.of_decl(decl)
            {
                found.statics.insert(name, symbol);
            }
        }
        found
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

    pub fn all(&self) -> &[Symbol] {
        &self.all
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
                let text = self.tree.tokens.names.string(name);
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
        match (decl.scope, decl.owner) {
            (DeclScope::File, _) => {
                let name = match decl.link_name() {
                    Some(name) => name.to_string(),
                    None => self.tree.tokens.names.string(decl.name?),
                };
                Some(Symbol { name, is_static: decl.is_static })
            }
            (DeclScope::Local(count), Some(owner)) => {
                let name = self.tree.tokens.names.string(decl.name?);
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

    /// The same for one asm of a body: only its text names something, not its operands.
    pub fn in_asm_statement(&mut self, range: Range) -> Vec<u32> {
        let is_colon = |token: &u32| matches!(self.tree.token_text(*token), b":" | b"::");
        let end = (range.start..range.end).find(is_colon).unwrap_or(range.end);
        let literals = self.tree.literals(Range::new(range.start, end));
        let words: Vec<String> = literals.iter().flat_map(|text| operands(text)).collect();
        let found: Vec<u32> = words.iter().map(|name| self.named(name)).collect();
        self.address_taken.extend(&found);
        found
    }

    /// What a name in asm, a pragma or an alias stands for, which may be
    /// static in this unit.
    pub fn named(&mut self, name: &str) -> u32 {
        let own = self.statics.get(name).cloned();
        self.intern(own.unwrap_or_else(|| Symbol { name: name.to_string(), is_static: false }))
    }

    /// Words inside of the string literals of a range, as asm has them.
    pub fn words_in_strings(&self, range: Range) -> Vec<String> {
        let literals = self.tree.literals(range);
        literals.iter().flat_map(|text| words(text)).map(String::from).collect()
    }
}

pub fn sorted(mut symbols: Vec<u32>) -> Vec<u32> {
    symbols.sort_unstable();
    symbols.dedup();
    symbols
}

/// Words of instructions, without what they do and without registers.
fn operands(template: &str) -> Vec<String> {
    let is_break = |c: char| !(c.is_alphanumeric() || c == '_');
    let mut found = Vec::new();
    for statement in template.split(['\n', '\r', ';']) {
        let mut rest = statement.trim_start().trim_start_matches('.');
        loop {
            let (word, behind) = rest.split_at(rest.find(is_break).unwrap_or(rest.len()));
            let is_label = behind.trim_start().starts_with([':', '=']);
            found.extend(words(word).filter(|_| is_label).map(String::from));
            let label = behind.trim_start().strip_prefix(':');
            rest = label.unwrap_or(behind);
            if label.is_none() {
                break;
            }
            rest = rest.trim_start();
        }
        let mut at = 0;
        for part in rest.split(is_break) {
            let before = rest[..at].trim_end_matches('[');
            if !before.ends_with('%') {
                found.extend(words(part).map(String::from));
            }
            at += part.len() + rest[at + part.len()..].chars().next().map_or(0, char::len_utf8);
        }
    }
    found
}

/// Runs of letters, digits and underscores.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_break = |c: char| !(c.is_alphanumeric() || c == '_');
    text.split(is_break).filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::operands;

    #[test]
    fn asm_names_what_its_instructions_work_on() {
        let names = |template: &str| operands(template).join(" ");
        assert_eq!(names("nop"), "");
        assert_eq!(names("movl other(%%rip), %0\n\tcall f; jmp *%[to]"), "other f");
        assert_eq!(names("1: g: call {f|h}\n.long t\nx = y"), "g f h t x y");
        assert_eq!(names("lea größe(%%rip), %%rax"), "größe");
    }
}
