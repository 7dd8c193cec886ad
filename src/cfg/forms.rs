//! Where a name is declared more than once and not always in the same way, which of
//! its declarations stand before a use: a later one says nothing about the type or
//! the attributes that the use sees.

use super::pragmas::Pragmas;
use crate::frontend::lex::Kind;
use crate::frontend::names::kw;
use crate::frontend::tree::*;
use crate::ids::{DeclId, Fingerprint, FpHasher};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

#[derive(Default)]
pub struct Forms {
    /// By declaration, as far as asked for: what is seen from a token on, in order.
    views: RefCell<FxHashMap<DeclId, Vec<View>>>,
}

struct View {
    from: u32,
    /// None where all that is said is seen.
    seen: Option<Fingerprint>,
}

/// What one declaration says, without asking what its names mean: that is part of
/// what all of them mean together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Said {
    core: Fingerprint,
    /// Attributes and the like; none for a plain one.
    more: Option<Fingerprint>,
}

impl Forms {
    /// What stands before a token, unless that is everything.
    pub fn before(
        &self,
        tree: &Tree<'_>,
        pragmas: &Pragmas,
        decl: DeclId,
        token: u32,
    ) -> Option<Fingerprint> {
        let forms = &tree.decls[decl.ix()].forms;
        if forms.len() < 2 {
            return None;
        }
        let mut views = self.views.borrow_mut();
        let views = views.entry(decl).or_insert_with(|| views_of(tree, pragmas, forms));
        let at = views.partition_point(|view| view.from <= token);
        views[..at].last().and_then(|view| view.seen)
    }
}

fn views_of(tree: &Tree<'_>, pragmas: &Pragmas, forms: &[Form]) -> Vec<View> {
    let mut said: Vec<Said> = Vec::new();
    let mut starts = vec![0];
    for form in forms {
        let this = says(tree, pragmas, form);
        // Saying the same thing twice changes nothing.
        if !said.contains(&this) {
            said.push(this);
            starts.push(form.end);
        }
    }
    if said.len() < 2 {
        return Vec::new();
    }
    let all = together(&said);
    let views = starts.into_iter().enumerate().map(|(count, from)| {
        let seen = together(&said[..count]);
        View { from, seen: (seen != all).then_some(seen) }
    });
    views.collect()
}

/// A plain declaration adds nothing to the same one with attributes.
fn together(said: &[Said]) -> Fingerprint {
    let has_more = |core: Fingerprint| said.iter().any(|s| s.core == core && s.more.is_some());
    let mut kept: Vec<Said> =
        said.iter().filter(|s| s.more.is_some() || !has_more(s.core)).copied().collect();
    kept.sort_unstable();
    let mut hasher = FpHasher::new("declared before");
    for said in kept {
        hasher.fp(&said.core);
        hasher.fp(&said.more.unwrap_or_default());
    }
    hasher.finish()
}

fn says(tree: &Tree<'_>, pragmas: &Pragmas, form: &Form) -> Said {
    let (mut core, mut more) = (FpHasher::new("core"), FpHasher::new("more"));
    core.fp(&pragmas.state_at(form.at));
    core.fp(&pragmas.state_at(form.end));
    let mut is_plain = true;
    for piece in &form.pieces {
        let Piece::Tokens(range) = piece else {
            core.str("◦");
            continue;
        };
        // An initialiser completes the type of all, from where it stands on.
        if range.start < form.at || range.start > form.end + 1 {
            continue;
        }
        let mut at = range.start;
        while at < range.end {
            let token = &tree.tokens.all[at as usize];
            let is_group = match token.kind {
                Kind::Word => matches!(token.name, kw::ATTRIBUTE | kw::ASM | kw::ALIGNAS),
                _ => tree.token_text(at) == b"[" && tree.token_text(at + 1) == b"[",
            };
            let is_word = token.kind == Kind::Word;
            let is_idle = is_word && matches!(token.name, kw::EXTERN | kw::STATIC);
            let end = if is_group { end_of_group(tree, at, range.end) } else { at + 1 };
            if is_group || is_word && matches!(token.name, kw::INLINE | kw::NORETURN) {
                (at..end).for_each(|token| more.bytes(tree.token_text(token)));
                is_plain = false;
            } else if !is_idle && !tree.nameless.contains(&at) {
                core.bytes(tree.token_text(at));
            }
            at = end;
        }
    }
    Said { core: core.finish(), more: (!is_plain).then(|| more.finish()) }
}

/// One past the brackets that begin at a token or behind it.
fn end_of_group(tree: &Tree<'_>, start: u32, limit: u32) -> u32 {
    let mut depth = 0u32;
    for token in start..limit {
        match tree.token_text(token) {
            b"(" | b"[" => depth += 1,
            b")" | b"]" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return token + 1;
                }
            }
            _ => {}
        }
    }
    limit
}
