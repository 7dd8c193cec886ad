//! Procedures that nothing can enter but calls by name in their own unit, so
//! that the calls tell when they are entered; and small ones that others can enter
//! too, so that the calls of the unit may go to a copy.

use super::symbols::{Symbols, words};
use crate::cfg::draft::DraftNode;
use crate::frontend::lex::Kind;
use crate::frontend::names::{Name, kw};
use crate::frontend::tree::*;
use crate::ids::DeclId;
use rustc_hash::{FxHashMap, FxHashSet};

/// How the procedures of a unit are entered.
#[derive(Default)]
pub struct Entries {
    /// For every procedure the others by which its callers may be left before
    /// they call it, or `None` if there may be another way into it.
    pub only_called: Vec<Option<Vec<u32>>>,
    /// For every procedure whose calls in the unit may go to a copy of it.
    pub small: Vec<Option<SmallCalls>>,
}

/// The calls of a small procedure in its own unit.
pub struct SmallCalls {
    /// By which others its callers may be left before they call it.
    pub others: Vec<u32>,
    /// The tokens that call it, behind its definition.
    pub tokens: Vec<u32>,
}

#[derive(Default)]
pub struct Callers {
    /// Whose calls are of interest.
    defined: FxHashSet<DeclId>,
    /// Those others can enter too, and their calls as far as these were seen.
    small: FxHashMap<DeclId, Vec<u32>>,
    /// Tokens by which something is called as soon as its node runs, unless
    /// that is left by another call.
    sure: FxHashSet<u32>,
    /// Those other calls, by what is called.
    others: FxHashMap<DeclId, FxHashSet<u32>>,
}

impl Callers {
    pub fn of(tree: &Tree<'_>) -> Self {
        let small = tree.procedures.iter().filter(|procedure| is_small(tree, procedure));
        Self {
            small: small.map(|procedure| (procedure.decl, Vec::new())).collect(),
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

    pub fn finish(mut self, tree: &Tree<'_>) -> Entries {
        let mut candidates: FxHashMap<Name, DeclId> = FxHashMap::default();
        for procedure in &tree.procedures {
            let is_candidate = procedure.is_static && is_plain(tree, procedure);
            if is_candidate && self.others.contains_key(&procedure.decl) {
                candidates.insert(procedure.name, procedure.decl);
            }
        }
        self.look_for_other_uses(tree, &mut candidates);
        let mut found = Entries::default();
        for procedure in &tree.procedures {
            let mut others: Vec<u32> =
                self.others.remove(&procedure.decl).into_iter().flatten().collect();
            others.sort_unstable();
            let is_only_called = candidates.get(&procedure.name) == Some(&procedure.decl);
            found.only_called.push(is_only_called.then(|| others.clone()));
            let tokens = self.small.remove(&procedure.decl).map(|mut tokens| {
                tokens.retain(|token| *token >= procedure.range.end);
                tokens
            });
            let tokens = tokens.filter(|tokens| !tokens.is_empty());
            found.small.push(tokens.map(|tokens| SmallCalls { others, tokens }));
        }
        found
    }

    /// Takes away all candidates whose name stands anywhere but in a call that
    /// is known, or where the file declares it.
    fn look_for_other_uses(&mut self, tree: &Tree<'_>, candidates: &mut FxHashMap<Name, DeclId>) {
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
                if !in_body && this.kind == Kind::Text {
                    remove_words(tree, tree.token_text(token), candidates);
                }
                continue;
            }
            // Outside of bodies all strings were looked at.
            if in_body && matches!(this.name, kw::ATTRIBUTE | kw::ASM) {
                strings_behind(tree, token).for_each(|text| remove_words(tree, text, candidates));
            }
            if this.name == kw::SIZEOF && in_body {
                asserted = size_of_truth(tree, token).unwrap_or(asserted);
            }
            if in_body
                && !asserted.contains(token)
                && let Ref::Decl(decl) = tree.refs.get(token)
                && let Some(calls) = self.small.get_mut(&decl)
            {
                if self.sure.contains(&token) {
                    calls.push(token);
                } else if tree.token_text(token + 1) == b"(" {
                    self.small.remove(&decl);
                }
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
            remove_words(tree, text, candidates);
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

/// Whether the text of a procedure that other units can call may stand in the unit
/// a second time, under another name: a few tokens that nothing is known by.
fn is_small(tree: &Tree<'_>, procedure: &Procedure) -> bool {
    const MOST_TOKENS: u32 = 64;
    let Range { start, end } = procedure.range;
    if procedure.is_static || end - start > MOST_TOKENS || !is_plain(tree, procedure) {
        return false;
    }
    let head = start..procedure.body_range.start;
    let names_itself = |token: &u32| tree.tokens.all[*token as usize].name == procedure.name;
    let is_harmless = |token: u32| {
        let this = &tree.tokens.all[token as usize];
        let is_known =
            matches!(this.name, kw::STATIC | kw::EXTERN | kw::INLINE | kw::ASM | kw::ATTRIBUTE);
        let text = tree.token_text(token);
        let has_brace = text == b"{" && token != procedure.body_range.start;
        !(this.kind == Kind::Word && (is_known || text.starts_with(b"__")))
            && !has_brace
            && !matches!(text, b"[" | b"...")
    };
    tree.token_text(procedure.body_range.start - 1) == b")"
        && head.filter(names_itself).count() == 1
        && (start..end).all(is_harmless)
        && tree.pragmas_in(procedure.range).is_empty()
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
fn remove_words(tree: &Tree<'_>, text: &[u8], candidates: &mut FxHashMap<Name, DeclId>) {
    for word in words(&String::from_utf8_lossy(text)) {
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

/// The string literals in the brackets behind `__attribute__` or `asm`.
fn strings_behind<'a>(tree: &'a Tree<'_>, token: u32) -> impl Iterator<Item = &'a [u8]> {
    let mut depth = 0;
    let mut is_over = false;
    let rest = (token + 1)..tree.tokens.all.len() as u32;
    rest.take_while(move |token| {
        match tree.token_text(*token) {
            b"(" => depth += 1,
            b")" => depth -= 1,
            b";" | b"{" | b"}" if depth == 0 => is_over = true,
            _ => {}
        }
        let goes_on = !is_over;
        is_over |= depth <= 0 && tree.token_text(*token) == b")";
        goes_on
    })
    .filter(|token| tree.tokens.all[*token as usize].kind == Kind::Text)
    .map(|token| tree.token_text(token))
}
