//! A parser of preprocessed GNU C that tracks typedefs and scopes, so that a
//! cast is never taken for a call nor a declaration for an expression. Where
//! it stumbles inside a body, that procedure is opaque; where it stumbles at
//! file scope, that item counts as not understood. It never fails and never
//! guesses.

mod acting;
mod constant;
mod decl;
mod expr;
pub mod in_force;
mod item;
mod scope;
mod stmt;

use super::Assembler;
use super::lex::{Kind, Token, Tokens};
use super::names::{Name, kw};
use super::tree::*;
use crate::ids::{DeclId, Fingerprint};
use rustc_hash::{FxHashMap, FxHashSet};
use scope::{Scopes, Space};
use std::borrow::Cow;

/// How deep blocks, parentheses and declarators may nest.
const MAX_DEPTH: u32 = 400;

/// Where and why the parser cannot go on.
type Parse<T> = Result<T, Problem>;

/// Parses a unit. `is_system` tells for each file of the line map whether its
/// procedures are left alone; so are those whose body is `known`.
pub fn parse<'t>(
    text: &'t [u8],
    tokens: Tokens,
    is_system: &dyn Fn(&str) -> bool,
    assembler: Assembler,
    known: &[Option<Fingerprint>],
) -> Tree<'t> {
    let mut text = Cow::Borrowed(text);
    for (offset, meaning) in &tokens.digraphs {
        let offset = *offset as usize;
        text.to_mut()[offset..offset + meaning.len()].copy_from_slice(meaning);
    }
    let system_files: Vec<bool> = tokens.lines.files.iter().map(|file| is_system(file)).collect();
    let count = tokens.all.len();
    let pragmas = in_force::Pragmas::of(&text, &tokens.pragmas);
    let mut parser = Parser {
        tree: Tree {
            text,
            tokens,
            refs: Refs::new(count),
            decls: Vec::new(),
            procedures: Vec::new(),
            not_understood: Vec::new(),
            composition: Vec::new(),
            nameless: FxHashSet::default(),
            constants: Vec::new(),
            symbols: FxHashMap::default(),
            places: FxHashMap::default(),
            symbol_tokens: Vec::new(),
        },
        at: 0,
        depth: 0,
        scopes: Scopes::default(),
        unevaluated: 0,
        procedure: None,
        in_members: 0,
        in_parameters: 0,
        linked: FxHashMap::default(),
        objects: 0,
        system_files,
        known,
        definitions: 0,
        plain_asm: Vec::new(),
        has_asm_macros: assembler == Assembler::Macros,
        pragmas,
    };
    parser.items();
    parser.settle_asm();
    let mut tree = parser.tree;
    tree.decls.shrink_to_fit();
    tree.procedures.shrink_to_fit();
    tree
}

struct Parser<'t, 'k> {
    tree: Tree<'t>,
    at: u32,
    depth: u32,
    scopes: Scopes,
    /// Depth of `sizeof`, `typeof` and constant expressions around this place.
    unevaluated: u32,
    procedure: Option<InProcedure>,
    /// Depth of member lists around this place.
    in_members: u32,
    /// Depth of parameter lists around this place.
    in_parameters: u32,
    /// The first declaration of each variable and function of the file or of
    /// other units; whether it is a function.
    linked: FxHashMap<(bool, Name), DeclId>,
    /// How many references to objects were evaluated so far.
    objects: u32,
    system_files: Vec<bool>,
    /// Bodies that need not be parsed, by the number of the definition.
    known: &'k [Option<Fingerprint>],
    /// How many procedures of the project were defined so far.
    definitions: usize,
    /// Asm in bodies that does nothing before it is run, if it uses no macros.
    plain_asm: Vec<Range>,
    /// Whether some asm may define a macro.
    has_asm_macros: bool,
    /// Pragmas by which declarations act.
    pragmas: in_force::Pragmas,
}

/// What is known of the procedure whose body is being parsed.
struct InProcedure {
    name: Name,
    /// How often each name was declared so far, by name space. Procedures
    /// inside of others go on counting.
    declared: FxHashMap<(bool, Name), u32>,
    /// How many procedures are around it.
    nesting: u32,
    labels: Labels,
    /// See [`Procedure::is_closed`].
    is_closed: bool,
}

/// Labels of a procedure.
#[derive(Default)]
struct Labels {
    /// Those that `__label__` declares in the blocks around this place.
    local: Vec<Label>,
    /// The same of the procedures around this one.
    outer: Vec<Label>,
    /// How many blocks declared labels so far.
    blocks: u32,
    /// Those whose address is taken.
    addressed: Vec<(u32, Label)>,
}

impl Parser<'_, '_> {
    fn token(&self) -> &Token {
        &self.tree.tokens.all[self.at as usize]
    }

    fn ahead(&self, by: u32) -> &Token {
        let last = self.tree.tokens.all.len() - 1;
        &self.tree.tokens.all[((self.at + by) as usize).min(last)]
    }

    fn bytes(&self, token: &Token) -> &[u8] {
        &self.tree.text[token.start as usize..token.end as usize]
    }

    fn at_end(&self) -> bool {
        self.token().kind == Kind::End
    }

    fn is(&self, punct: &str) -> bool {
        self.is_ahead(0, punct)
    }

    fn is_ahead(&self, by: u32, punct: &str) -> bool {
        let token = self.ahead(by);
        token.kind == Kind::Punct && self.bytes(token) == punct.as_bytes()
    }

    fn is_word(&self, name: Name) -> bool {
        self.word() == Some(name)
    }

    /// The word at this place, keyword or not.
    fn word(&self) -> Option<Name> {
        let token = self.token();
        (token.kind == Kind::Word).then_some(token.name)
    }

    /// The identifier (no keyword) `by` tokens ahead.
    fn identifier_ahead(&self, by: u32) -> Option<Name> {
        let token = self.ahead(by);
        (token.kind == Kind::Word && !token.name.is_keyword()).then_some(token.name)
    }

    fn advance(&mut self) {
        if !self.at_end() {
            self.at += 1;
        }
    }

    fn eat(&mut self, punct: &str) -> bool {
        let found = self.is(punct);
        if found {
            self.advance();
        }
        found
    }

    fn eat_word(&mut self, name: Name) -> bool {
        let found = self.is_word(name);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, punct: &'static str) -> Parse<()> {
        if self.eat(punct) { Ok(()) } else { self.stop(missing(punct)) }
    }

    fn stop<T>(&self, what: &'static str) -> Parse<T> {
        Err(Problem { token: self.at, what })
    }

    /// Runs `parse` one level deeper, unless that is too deep.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= MAX_DEPTH {
            return self.stop("nested too deeply");
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn unevaluated<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.unevaluated += 1;
        let result = parse(self);
        self.unevaluated -= 1;
        result
    }

    /// The index one past the bracket that closes the one at `open`, if all
    /// between them match.
    fn matching(&self, open: u32) -> Option<u32> {
        self.matching_if(open, true)
    }

    /// The same; where brackets of another kind may close, if not `strict`.
    fn matching_if(&self, open: u32, strict: bool) -> Option<u32> {
        let mut opened = Vec::new();
        for (index, token) in self.tree.tokens.all.iter().enumerate().skip(open as usize) {
            if token.kind != Kind::Punct {
                continue;
            }
            match self.bytes(token) {
                b"(" => opened.push(b')'),
                b"[" => opened.push(b']'),
                b"{" => opened.push(b'}'),
                [closer @ (b')' | b']' | b'}')] => {
                    let expected = opened.pop()?;
                    if strict && expected != *closer {
                        return None;
                    }
                    if opened.is_empty() {
                        return Some(index as u32 + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Skips a bracketed group without parsing it; every name in it that has a
    /// declaration counts as used.
    fn skip_group(&mut self) -> Parse<Range> {
        let start = self.at;
        let Some(end) = self.matching(start) else {
            return self.stop("unbalanced brackets");
        };
        self.refer_to_all(Range::new(start, end));
        self.at = end;
        let range = Range::new(start, end);
        if self.procedure.is_some() {
            if self.has_jump(range) {
                return self.stop("a jump out of what may not be evaluated");
            }
            self.note_label_addresses(range)?;
        }
        Ok(range)
    }

    /// Finds `&&label` in a range that nobody parsed.
    fn note_label_addresses(&mut self, range: Range) -> Parse<()> {
        for token in range.start + 1..range.end {
            let before = &self.tree.tokens.all[token as usize - 1];
            let is_operand = before.kind == Kind::Punct
                && !matches!(self.bytes(before), b")" | b"]")
                || before.kind == Kind::Word && before.name.is_keyword();
            let name = &self.tree.tokens.all[token as usize + 1];
            if is_operand && self.tree.token_text(token) == b"&&" && name.kind == Kind::Word {
                let label = self.label(name.name)?;
                if let Some(procedure) = &mut self.procedure {
                    procedure.labels.addressed.push((token + 1, label));
                }
            }
        }
        Ok(())
    }

    fn has_jump(&self, range: Range) -> bool {
        let tokens = &self.tree.tokens.all[range.start as usize..range.end as usize];
        let is_jump =
            |name| matches!(name, kw::GOTO | kw::BREAK | kw::CONTINUE | kw::RETURN | kw::CASE);
        tokens.iter().any(|token| token.kind == Kind::Word && is_jump(token.name))
    }

    /// Sets references for every name of a range that nobody parsed.
    fn refer_to_all(&mut self, range: Range) {
        for index in range.start..range.end {
            let token = &self.tree.tokens.all[index as usize];
            if token.kind != Kind::Word || token.name.is_keyword() {
                continue;
            }
            if self.names_no_entity(index) {
                self.tree.refs.set(index, Ref::None);
                continue;
            }
            let after_tag_word = index > 0 && {
                let before = &self.tree.tokens.all[index as usize - 1];
                before.kind == Kind::Word
                    && matches!(before.name, kw::STRUCT | kw::UNION | kw::ENUM)
            };
            let ordinary = self.scopes.find(Space::Ordinary, token.name);
            let tag = self.scopes.find(Space::Tags, token.name);
            let found = if after_tag_word { tag.or(ordinary) } else { ordinary.or(tag) };
            let target = found.map_or(Ref::Undeclared, Ref::Decl);
            self.tree.refs.set(index, target);
        }
        let mut index = range.start;
        while index < range.end {
            let is_attribute = self.tree.tokens.all[index as usize].name == kw::ATTRIBUTE;
            let is_one = is_attribute || self.opens_attribute(index);
            index += u32::from(is_attribute || !is_one);
            if is_one {
                index = self.forget_words_of_attribute(Range::new(index, range.end));
            }
        }
    }

    /// Whether a word is the name of a member, or of an operand of asm.
    fn names_no_entity(&self, index: u32) -> bool {
        let text = |at: u32| self.tree.token_text(at);
        let Some(before) = index.checked_sub(1) else { return false };
        match text(before) {
            b"." | b"->" => true,
            b"[" => {
                text(index + 1) == b"]"
                    && self.tree.tokens.all[index as usize + 2].kind == Kind::Text
            }
            _ => false,
        }
    }

    /// Whether `[[` stands at a token.
    fn opens_attribute(&self, token: u32) -> bool {
        self.tree.token_text(token) == b"[" && self.tree.token_text(token + 1) == b"["
    }

    /// Takes back references in the brackets of an attribute, with which a range begins: its
    /// words name nothing, and its arguments only what is declared. Returns where it ends.
    fn forget_words_of_attribute(&mut self, group: Range) -> u32 {
        const DEPTH_OF_NAMES: u32 = 2;
        let mut depth = 0;
        let mut attribute = group.start;
        for token in group.start..group.end {
            match self.tree.token_text(token) {
                b"(" | b"[" => depth += 1,
                b")" | b"]" if depth > 1 => depth -= 1,
                b")" | b"]" => return token + 1,
                _ => {}
            }
            if self.tree.tokens.all[token as usize].kind != Kind::Word {
                continue;
            }
            let is_name = depth <= DEPTH_OF_NAMES;
            if is_name {
                attribute = token;
            }
            let name = acting::plain(self.tree.token_text(attribute));
            let has_words = matches!(name, b"format" | b"mode" | b"access");
            let has_functions = matches!(name, b"cleanup" | b"copy" | b"malloc");
            let is_undeclared = self.tree.refs.get(token) == Ref::Undeclared;
            if is_name || has_words || is_undeclared && !has_functions {
                self.tree.refs.set(token, Ref::None);
            }
        }
        group.end
    }

    fn refer(&mut self, token: u32, space: Space, name: Name) -> Ref {
        let target = self.scopes.find(space, name).map_or(Ref::Undeclared, Ref::Decl);
        self.tree.refs.set(token, target);
        target
    }

    fn is_typedef(&self, name: Name) -> bool {
        self.scopes
            .find(Space::Ordinary, name)
            .is_some_and(|decl| self.tree.decls[decl.ix()].kind == DeclKind::Typedef)
    }

    /// Does a type or declaration begin `by` tokens ahead?
    fn type_starts(&self, mut by: u32) -> bool {
        let mut token = self.ahead(by);
        while token.kind == Kind::Word && token.name == kw::EXTENSION {
            by += 1;
            token = self.ahead(by);
        }
        if token.kind != Kind::Word {
            return false;
        }
        if !token.name.is_keyword() {
            return self.is_typedef(token.name);
        }
        matches!(
            token.name,
            kw::AUTO
                | kw::CONST
                | kw::ENUM
                | kw::EXTERN
                | kw::INLINE
                | kw::REGISTER
                | kw::RESTRICT
                | kw::STATIC
                | kw::STRUCT
                | kw::TYPEDEF
                | kw::UNION
                | kw::VOLATILE
                | kw::TYPEOF
                | kw::AUTO_TYPE
                | kw::ALIGNAS
                | kw::ATOMIC
                | kw::NORETURN
                | kw::THREAD
                | kw::TYPE_WORD
        )
    }

    fn in_system_file(&self, token: u32) -> bool {
        let offset = self.tree.tokens.all[token as usize].start;
        let place = self.tree.tokens.lines.place(offset);
        place.is_some_and(|place| self.system_files[place.included as usize])
    }

    fn new_decl(&mut self, mut decl: Decl) -> DeclId {
        decl.at = decl.forms.first().map_or(self.at.saturating_sub(1), |form| form.at);
        let id = DeclId::new(self.tree.decls.len());
        self.tree.decls.push(decl);
        id
    }
}

fn missing(punct: &'static str) -> &'static str {
    match punct {
        ";" => "expected `;`",
        ")" => "expected `)`",
        "(" => "expected `(`",
        "{" => "expected `{`",
        "}" => "expected `}`",
        "]" => "expected `]`",
        ":" => "expected `:`",
        _ => "expected another token",
    }
}
