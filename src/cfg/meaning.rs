//! What a name means: a fingerprint for every declaration that covers all it
//! depends on, through pointers and cycles; and the fingerprints of tokens
//! made with them. Most declarations of a unit come from headers and are never
//! asked for, so each is fingerprinted when it is.

use super::forms::Forms;
use super::pragmas::Pragmas;
use crate::frontend::lex::Kind;
use crate::frontend::names::{Name, kw};
use crate::frontend::symbols::LINE;
use crate::frontend::tree::*;
use crate::ids::{DeclId, Fingerprint, FpHasher, Mark};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, OnceCell, RefCell};

/// Whether line numbers count as they are or as symbols.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    Symbolic,
    True,
}

/// What a declaration says by itself, and what it refers to.
pub type Said = (Fingerprint, Vec<DeclId>);

pub struct Meanings<'a, 't> {
    tree: &'a Tree<'t>,
    pub pragmas: Pragmas,
    /// By declaration, as far as asked for.
    fingerprints: Vec<Cell<Option<Fingerprint>>>,
    said: Vec<OnceCell<Said>>,
    search: RefCell<Search>,
    forms: Forms,
    /// Names that occur in items which were not understood.
    doubtful: FxHashMap<Name, Fingerprint>,
    /// All text that was not understood.
    not_understood: Fingerprint,
    /// File-scope declarations of each name, in any name space.
    by_name: OnceCell<FxHashMap<Name, Vec<DeclId>>>,
}

/// The state of the search for cycles among declarations.
struct Search {
    order: Vec<u32>,
    low: Vec<u32>,
    stack: Vec<usize>,
    next: u32,
}

impl Search {
    const NEW: u32 = u32::MAX;
}

impl<'a, 't> Meanings<'a, 't> {
    pub fn of(tree: &'a Tree<'t>) -> Self {
        let count = tree.decls.len();
        let mut meanings = Self {
            tree,
            pragmas: Pragmas::of(tree),
            fingerprints: vec![Cell::new(None); count],
            said: vec![OnceCell::new(); count],
            search: RefCell::new(Search {
                order: vec![Search::NEW; count],
                low: vec![0; count],
                stack: Vec::new(),
                next: 0,
            }),
            forms: Forms::default(),
            doubtful: FxHashMap::default(),
            not_understood: Fingerprint::default(),
            by_name: OnceCell::new(),
        };
        meanings.collect_doubts();
        meanings
    }

    fn by_name(&self) -> &FxHashMap<Name, Vec<DeclId>> {
        self.by_name.get_or_init(|| {
            let mut by_name: FxHashMap<Name, Vec<DeclId>> = FxHashMap::default();
            for (index, decl) in self.tree.decls.iter().enumerate() {
                if let (Some(name), DeclScope::File) = (decl.name, decl.scope) {
                    by_name.entry(name).or_default().push(DeclId::new(index));
                }
            }
            by_name
        })
    }

    fn collect_doubts(&mut self) {
        let mut all = FpHasher::new("not understood");
        for (range, _) in &self.tree.not_understood {
            let mut item = FpHasher::new("item not understood");
            for token in range.start..range.end {
                item.bytes(self.tree.token_text(token));
            }
            let item = item.finish();
            all.fp(&item);
            for token in &self.tree.tokens.all[range.start as usize..range.end as usize] {
                if token.kind == Kind::Word && !token.name.is_keyword() {
                    let known = self.doubtful.entry(token.name).or_default();
                    let mut both = FpHasher::new("doubt");
                    both.fp(known);
                    both.fp(&item);
                    *known = both.finish();
                }
            }
        }
        self.not_understood = all.finish();
    }

    fn local(&self, id: DeclId) -> Said {
        let decl = &self.tree.decls[id.ix()];
        let mut forms: Vec<Said> = decl
            .forms
            .iter()
            .map(|form| {
                let mut refers = Vec::new();
                let mut hasher = FpHasher::new("form");
                hasher.fp(&self.pragmas.state_at(form.at));
                hasher.fp(&self.pragmas.state_at(form.end));
                self.hash_form(id, &form.pieces, &mut hasher, &mut refers);
                (hasher.finish(), refers)
            })
            .collect();
        // Saying the same thing twice, or in another order, changes nothing.
        forms.sort();
        forms.dedup();
        let mut refers: Vec<DeclId> = forms.iter().flat_map(|(_, refers)| refers.clone()).collect();
        let forms = forms.into_iter().map(|(form, _)| form);
        let mut hasher = FpHasher::new("declaration");
        hasher.number(decl.kind as u64);
        if let Some(name) = decl.name {
            hasher.bytes(self.tree.tokens.names.text(name));
        }
        match decl.scope {
            DeclScope::File => hasher.str("file"),
            DeclScope::Parameter { index, nesting } => {
                hasher.str("parameter");
                hasher.number(u64::from(nesting) << 32 | u64::from(index));
            }
            DeclScope::Local(count) => {
                hasher.str("local");
                hasher.number(u64::from(count));
            }
        }
        hasher.number(u64::from(decl.is_static));
        hasher.number(u64::from(decl.noreturn));
        match decl.enumeration() {
            None => {}
            Some(EnumInfo::Value(value)) => hasher.str(&format!("value {value}")),
            Some(EnumInfo::Span(low, high)) => hasher.str(&enumeration_size(*low, *high)),
            Some(EnumInfo::After(range, steps)) => {
                hasher.str("after");
                hasher.number(u64::from(*steps));
                if let Some(range) = range {
                    self.hash_form(id, &[Piece::Tokens(*range)], &mut hasher, &mut refers);
                }
            }
        }
        for form in forms {
            hasher.fp(&form);
        }
        (hasher.finish(), refers)
    }

    fn hash_form(
        &self,
        of: DeclId,
        pieces: &[Piece],
        hasher: &mut FpHasher,
        refers: &mut Vec<DeclId>,
    ) {
        for piece in pieces {
            match piece {
                Piece::Tokens(range) => {
                    for token in range.start..range.end {
                        if self.tree.nameless.contains(&token) || self.is_idle_extern(token, pieces)
                        {
                            continue;
                        }
                        self.hash_text(token, Lines::True, hasher);
                        self.hash_doubt(token, hasher);
                        self.hash_place(token, Lines::True, hasher);
                        match self.tree.refs.get(token) {
                            Ref::Decl(decl) => {
                                // Of itself it says the same in any order.
                                if decl != of {
                                    self.hash_view(decl, token, hasher);
                                }
                                refers.push(decl);
                            }
                            Ref::Undeclared => hasher.fp(&self.not_understood),
                            Ref::None => {}
                        }
                    }
                }
                Piece::Decl(decl) => {
                    hasher.str("◦");
                    refers.push(*decl);
                }
                Piece::Hole(hole) => {
                    hasher.mark(Mark::Hole);
                    hasher.number(*hole as u64);
                }
                Piece::TypeOf(_) => {}
            }
        }
    }

    /// `extern` says nothing about what a name means, except with `inline`.
    fn is_idle_extern(&self, token: u32, pieces: &[Piece]) -> bool {
        let word = |token: u32| self.tree.tokens.all[token as usize].name;
        word(token) == kw::EXTERN
            && !pieces.iter().any(|piece| match piece {
                Piece::Tokens(range) => (range.start..range.end).any(|t| word(t) == kw::INLINE),
                _ => false,
            })
    }

    fn hash_doubt(&self, token: u32, hasher: &mut FpHasher) {
        if self.doubtful.is_empty() {
            return;
        }
        let token = &self.tree.tokens.all[token as usize];
        if token.kind == Kind::Word
            && let Some(doubt) = self.doubtful.get(&token.name)
        {
            hasher.mark(Mark::Doubt);
            hasher.fp(doubt);
        }
    }

    /// What a built-in function says of the place where it stands: the name of the file, and
    /// where line numbers count, the line and column.
    fn hash_place(&self, token: u32, lines: Lines, hasher: &mut FpHasher) {
        if self.tree.places.is_empty() {
            return;
        }
        if let Some(told) = self.tree.places.get(&token) {
            hasher.mark(Mark::Place);
            hasher.str(&told.file);
            if lines == Lines::True || told.is_constant {
                told.numbers.iter().for_each(|number| hasher.number(u64::from(*number)));
            }
        }
    }

    /// Which declarations of a name a use of it sees, if not all.
    fn hash_view(&self, decl: DeclId, token: u32, hasher: &mut FpHasher) {
        if let Some(before) = self.forms.before(self.tree, &self.pragmas, decl, token) {
            hasher.mark(Mark::View);
            hasher.fp(&before);
        }
    }

    /// What a declaration says by itself, and what it refers to.
    pub fn says(&self, decl: DeclId) -> &Said {
        self.said[decl.ix()].get_or_init(|| self.local(decl))
    }

    pub fn of_decl(&self, decl: DeclId) -> Fingerprint {
        if let Some(known) = self.fingerprints[decl.ix()].get() {
            return known;
        }
        self.fingerprint_from(decl);
        self.fingerprints[decl.ix()].get().expect("the search finishes what it begins with")
    }

    /// Tarjan's strongly connected components, without recursion: members of a
    /// cycle are fingerprinted together, then whatever depends on them.
    fn fingerprint_from(&self, root: DeclId) {
        let mut search = self.search.borrow_mut();
        let search = &mut *search;
        let mut work = vec![(root.ix(), 0usize)];
        while let Some((node, child)) = work.pop() {
            if child == 0 {
                search.order[node] = search.next;
                search.low[node] = search.next;
                search.next += 1;
                search.stack.push(node);
            }
            if let Some(target) = self.says(DeclId::new(node)).1.get(child) {
                work.push((node, child + 1));
                let target = target.ix();
                if search.order[target] == Search::NEW {
                    work.push((target, 0));
                } else if self.fingerprints[target].get().is_none() {
                    search.low[node] = search.low[node].min(search.order[target]);
                }
                continue;
            }
            if let Some((parent, _)) = work.last() {
                search.low[*parent] = search.low[*parent].min(search.low[node]);
            }
            if search.low[node] == search.order[node] {
                let at = search.stack.iter().rposition(|n| *n == node).unwrap_or(0);
                let members = search.stack.split_off(at);
                self.fingerprint_cycle(&members);
            }
        }
    }

    fn fingerprint_cycle(&self, members: &[usize]) {
        let inside: FxHashSet<usize> = members.iter().copied().collect();
        let mut parts: Vec<Fingerprint> = members
            .iter()
            .map(|member| {
                let (local, refers) = self.says(DeclId::new(*member));
                let mut hasher = FpHasher::new("member");
                hasher.fp(local);
                for target in refers {
                    // Inside of the cycle the target's own local part is
                    // enough: the whole is covered by the sum of all members.
                    if inside.contains(&target.ix()) {
                        hasher.fp(&self.says(*target).0);
                    } else {
                        hasher.fp(&self.fingerprints[target.ix()].get().unwrap_or_default());
                    }
                }
                hasher.finish()
            })
            .collect();
        let own = parts.clone();
        parts.sort();
        let mut whole = FpHasher::new("cycle");
        parts.iter().for_each(|part| whole.fp(part));
        let whole = whole.finish();
        for (member, own) in members.iter().zip(own) {
            let mut hasher = FpHasher::new("meaning");
            hasher.fp(&own);
            hasher.fp(&whole);
            self.fingerprints[*member].set(Some(hasher.finish()));
        }
    }

    /// Tokens with what their names mean. This is what labels are made of.
    pub fn hash_pieces(&self, pieces: &[Piece], lines: Lines, hasher: &mut FpHasher) {
        for piece in pieces {
            match piece {
                Piece::Tokens(range) => self.hash_tokens(*range, lines, hasher),
                Piece::Decl(decl) => hasher.fp(&self.of_decl(*decl)),
                Piece::Hole(hole) => {
                    hasher.mark(Mark::Hole);
                    hasher.number(*hole as u64);
                }
                Piece::TypeOf(range) => match self.plain_type(*range) {
                    Some(class) => hasher.str(class),
                    None => self.hash_tokens(*range, lines, hasher),
                },
            }
        }
    }

    /// The type of a lone literal, as far as it needs no more than a word.
    fn plain_type(&self, range: Range) -> Option<&'static str> {
        if range.end != range.start + 1 {
            return None;
        }
        let text = self.tree.token_text(range.start);
        match self.tree.tokens.all[range.start as usize].kind {
            Kind::Number => {
                let is_int = text.iter().all(u8::is_ascii_digit) && text.len() < 10;
                is_int.then_some("an int")
            }
            Kind::Text => text.starts_with(b"\"").then_some("a string"),
            Kind::Char => text.starts_with(b"'").then_some("an int"),
            _ => None,
        }
    }

    fn hash_tokens(&self, range: Range, lines: Lines, hasher: &mut FpHasher) {
        for token in range.start..range.end {
            self.hash_doubt(token, hasher);
            self.hash_place(token, lines, hasher);
            match self.tree.refs.get(token) {
                // What it means includes what it is called.
                Ref::Decl(decl) => {
                    hasher.mark(Mark::Meaning);
                    hasher.fp(&self.of_decl(decl));
                    self.hash_view(decl, token, hasher);
                    continue;
                }
                Ref::Undeclared => {
                    hasher.mark(Mark::NoMeaning);
                    hasher.fp(&self.not_understood);
                }
                Ref::None => {}
            }
            self.hash_text(token, lines, hasher);
        }
    }

    /// What a token says. When a unit is compiled, and where the project lies, does not count: only numbers
    /// of lines may count as they are.
    fn hash_text(&self, token: u32, lines: Lines, hasher: &mut FpHasher) {
        let symbols = Some(&self.tree.symbols).filter(|symbols| !symbols.is_empty());
        let symbol = symbols.and_then(|symbols| symbols.get(&token));
        match symbol.filter(|symbol| lines == Lines::Symbolic || *symbol != LINE) {
            Some(symbol) => hasher.str(symbol),
            None => hasher.bytes(self.tree.token_text(token)),
        }
    }

    /// A body of which nothing is known but its tokens: every declaration of
    /// every name in it counts, in any name space.
    pub fn hash_opaque(&self, range: Range, lines: Lines, hasher: &mut FpHasher) {
        self.hash_tokens(range, lines, hasher);
        let mut seen = FxHashSet::default();
        for token in &self.tree.tokens.all[range.start as usize..range.end as usize] {
            if token.kind != Kind::Word || token.name.is_keyword() || !seen.insert(token.name) {
                continue;
            }
            match self.by_name().get(&token.name) {
                Some(decls) => decls.iter().for_each(|decl| hasher.fp(&self.of_decl(*decl))),
                None => hasher.fp(&self.not_understood),
            }
        }
    }
}

/// The values of enumerators count one by one where they are used; of the
/// enumeration as a whole only what decides its size and sign. Small ones (`packed`,
/// `-fshort-enums`) have the smallest type that holds all values, with a sign only if
/// one of them needs it.
fn enumeration_size(low: i128, high: i128) -> String {
    let signed = |value: i128| match value {
        -0x80..=0x7f => 8,
        -0x8000..=0x7fff => 16,
        -0x8000_0000..=0x7fff_ffff => 32,
        _ => 64,
    };
    let unsigned = |value: i128| match value {
        ..=0xff => 8,
        0x100..=0xffff => 16,
        0x1_0000..=0xffff_ffff => 32,
        _ => 64,
    };
    let bits = signed(low).max(signed(high));
    if low < 0 {
        format!("enumeration of {bits} bits, signed")
    } else {
        format!("enumeration of {} bits, {bits} with a sign", unsigned(high))
    }
}
