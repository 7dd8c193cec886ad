//! Procedures that nothing can enter but calls by name in their own unit, so
//! that the calls tell when they are entered.

use super::symbols::{Symbols, words};
use crate::bytes;
use crate::cfg::draft::DraftNode;
use crate::frontend::lex::Kind;
use crate::frontend::names::{Name, kw};
use crate::frontend::tree::*;
use crate::ids::DeclId;
use rustc_hash::{FxHashMap, FxHashSet};

#[derive(Default)]
pub struct Callers {
    /// Whose calls are of interest.
    defined: FxHashSet<DeclId>,
    /// Tokens by which something is called as soon as its node runs, unless
    /// that is left by another call.
    sure: FxHashSet<u32>,
    /// Those other calls, by what is called.
    others: FxHashMap<DeclId, FxHashSet<u32>>,
}

impl Callers {
    pub fn of(tree: &Tree<'_>) -> Self {
        Self {
            defined: tree.procedures.iter().map(|procedure| procedure.decl).collect(),
            ..Self::default()
        }
    }

    /// Adds the calls of a procedure.
    pub fn add(&mut self, nodes: &[DraftNode], symbols: &mut Symbols<'_, '_>) {
        for node in nodes.iter().filter(|node| node.calls_are_certain && !node.calls_pointer) {
            for call in node.calls.iter().filter(|call| !call.is_early) {
                let callee = symbols.function_at(call.token);
                let Some(callee) = callee.filter(|decl| self.defined.contains(decl)) else {
                    continue;
                };
                // Arguments are evaluated before the call around them.
                let others = node
                    .calls
                    .iter()
                    .filter(|other| other.token != call.token && !other.range.contains(call.token));
                let known: Option<Vec<u32>> = others.map(|other| symbols.at(other.token)).collect();
                if let Some(known) = known {
                    self.sure.insert(call.token);
                    self.others.entry(callee).or_default().extend(known);
                }
            }
        }
    }

    /// For every procedure the others by which its callers may be left before
    /// they call it, or `None` if there may be another way into it.
    pub fn finish(mut self, tree: &Tree<'_>) -> Vec<Option<Vec<u32>>> {
        let mut candidates: FxHashMap<Name, DeclId> = FxHashMap::default();
        for procedure in &tree.procedures {
            let is_candidate = procedure.is_static && is_plain(tree, procedure);
            if is_candidate && self.others.contains_key(&procedure.decl) {
                candidates.insert(procedure.name, procedure.decl);
            }
        }
        self.look_for_other_uses(tree, &mut candidates);
        let mut only_called = Vec::with_capacity(tree.procedures.len());
        for procedure in &tree.procedures {
            let mut others: Vec<u32> =
                self.others.remove(&procedure.decl).into_iter().flatten().collect();
            others.sort_unstable();
            let is_only_called = candidates.get(&procedure.name) == Some(&procedure.decl);
            only_called.push(is_only_called.then_some(others));
        }
        only_called
    }

    /// Takes away all candidates whose name stands anywhere but in a call that
    /// is known, or where the file declares it.
    fn look_for_other_uses(&self, tree: &Tree<'_>, candidates: &mut FxHashMap<Name, DeclId>) {
        let mut file = FileLevel::default();
        let bodies: Vec<Range> =
            tree.procedures.iter().filter(|p| !p.is_nested).map(|p| p.body_range).collect();
        let mut bodies = bodies.iter().peekable();
        let mut asserted = Range::new(0, 0);
        for (token, this) in (0..).zip(&tree.tokens.all) {
            while bodies.peek().is_some_and(|body| body.end <= token) {
                bodies.next();
                file.end_of_item();
            }
            let in_body = bodies.peek().is_some_and(|body| body.contains(token));
            if this.kind != Kind::Word {
                if !in_body {
                    file.pass(tree.token_text(token));
                }
                // Attributes may name it in a string, in any of their spellings.
                let is_attribute = in_body && opens_attribute(tree, token);
                if is_attribute || !in_body && begins_literals(tree, token) {
                    strings_behind(tree, token, candidates);
                }
                continue;
            }
            // Outside of bodies all strings were looked at.
            if in_body && matches!(this.name, kw::ATTRIBUTE | kw::ASM) {
                strings_behind(tree, token, candidates);
            }
            if this.name == kw::SIZEOF && in_body {
                asserted = size_of_truth(tree, token).unwrap_or(asserted);
            }
            let Some(decl) = candidates.get(&this.name) else { continue };
            let is_known = tree.refs.get(token) == Ref::Decl(*decl)
                && if in_body {
                    self.sure.contains(&token) || asserted.contains(token)
                } else {
                    file.may_declare() && tree.token_text(token + 1) == b"("
                };
            if !is_known {
                candidates.remove(&this.name);
            }
        }
        for pragma in &tree.tokens.pragmas {
            let text = &tree.text[pragma.start as usize..pragma.end as usize];
            remove_words(tree, &bytes::to_text(text), candidates);
        }
        // What was not understood may lead to all that it names.
        for (range, _) in &tree.not_understood {
            for token in &tree.tokens.all[range.start as usize..range.end as usize] {
                candidates.remove(&token.name);
            }
        }
    }
}

/// Nothing but its name leads to a procedure, whatever else may.
fn is_plain(tree: &Tree<'_>, procedure: &Procedure) -> bool {
    let decl = &tree.decls[procedure.decl.ix()];
    !procedure.is_nested
        && !decl.is_constructor
        && !decl.acts
        && !decl.is_weak
        && decl.link_name().is_none()
}

/// The operand of `sizeof (e ? 1 : 0)`, by which `assert` has its condition
/// checked once more. It is an `int` whatever `e` is, so nothing in it ever runs.
fn size_of_truth(tree: &Tree<'_>, size_of: u32) -> Option<Range> {
    let rest = (size_of + 1)..tree.tokens.all.len() as u32;
    let mut depth = 0;
    let close = rest.into_iter().find(|token| {
        match tree.token_text(*token) {
            b"(" => depth += 1,
            b")" => depth -= 1,
            _ => {}
        }
        depth <= 0
    })?;
    let ends = [b"?", b"1", b":", b"0", b")"];
    let is_truth = (close.saturating_sub(4)..=close)
        .zip(ends)
        .all(|(token, text)| tree.token_text(token) == text)
        && tree.tokens.all.get(close as usize + 1).is_some()
        && tree.token_text(close + 1) != b"[";
    is_truth.then(|| Range::new(size_of, close))
}

/// Takes away the candidates whose names stand in a text.
fn remove_words(tree: &Tree<'_>, text: &str, candidates: &mut FxHashMap<Name, DeclId>) {
    for word in words(text) {
        if let Some(name) = tree.tokens.names.find(word.as_bytes()) {
            candidates.remove(&name);
        }
    }
}

/// Where in the items of the file, outside of bodies, a token stands.
#[derive(Default)]
struct FileLevel {
    depth: u32,
    in_initializer: bool,
}

impl FileLevel {
    fn pass(&mut self, text: &[u8]) {
        match text {
            b"(" | b"[" | b"{" => self.depth += 1,
            b")" | b"]" | b"}" => self.depth = self.depth.saturating_sub(1),
            b"=" => self.in_initializer = true,
            b";" if self.depth == 0 => self.in_initializer = false,
            _ => {}
        }
    }

    fn end_of_item(&mut self) {
        *self = Self::default();
    }

    /// Not in brackets, not in an initialiser: what stands here is declared.
    fn may_declare(&self) -> bool {
        self.depth == 0 && !self.in_initializer
    }
}

/// Whether `[[` stands at a token.
fn opens_attribute(tree: &Tree<'_>, token: u32) -> bool {
    tree.token_text(token) == b"[" && tree.token_text(token + 1) == b"["
}

/// Whether a token is the first of the string literals that make one.
fn begins_literals(tree: &Tree<'_>, token: u32) -> bool {
    let is_text = |token: u32| tree.tokens.all[token as usize].kind == Kind::Text;
    is_text(token) && !token.checked_sub(1).is_some_and(is_text)
}

/// Takes away the candidates that string literals name: those that begin at a token, or
/// those in the first brackets from there on, of `__attribute__`, `asm` or `[[`.
fn strings_behind(tree: &Tree<'_>, token: u32, candidates: &mut FxHashMap<Name, DeclId>) {
    let is_literal = begins_literals(tree, token);
    let mut depth = 0;
    let mut is_over = false;
    let count = tree.tokens.all.len() as u32;
    let end = (token..count).find(|token| {
        if is_over || is_literal && tree.tokens.all[*token as usize].kind != Kind::Text {
            return true;
        }
        match tree.token_text(*token) {
            b"(" | b"[" => depth += 1,
            b")" | b"]" => depth -= 1,
            b";" | b"{" | b"}" if depth == 0 => return true,
            _ => return false,
        }
        is_over = depth <= 0;
        false
    });
    for text in tree.literals(Range::new(token, end.unwrap_or(count))) {
        remove_words(tree, &text, candidates);
    }
}
