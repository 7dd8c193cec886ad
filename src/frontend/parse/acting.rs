//! What acts on the program whether it is run and named or not: declarations with
//! certain attributes, wherever they stand, and asm that puts something where others
//! find it.

use super::in_force::InForce;
use super::*;
use crate::bytes;
use crate::frontend::literal::add_text;

impl Parser<'_, '_> {
    /// Notes a declaration that acts: what is said for all declarators, and for this
    /// one.
    pub(super) fn note_composition(&mut self, shared: Range, own: Range) -> bool {
        let acts = [shared, own].iter().any(|range| self.has_acting_attribute(*range))
            || self.in_force(shared.start, own.end).acts;
        if acts && !self.in_system_file(shared.start) {
            self.add_acting(shared, false);
            self.add_acting(own, false);
        }
        acts
    }

    /// Notes an asm that begins at `start` and whose brackets are `group`.
    pub(super) fn note_asm(&mut self, start: u32, group: Range) {
        let range = Range::new(start, group.end);
        let template = self.template(group);
        self.has_asm_macros |= template.as_ref().is_none_or(|text| has_macros(text));
        if self.procedure.is_none() || template.is_none_or(|text| puts_elsewhere(&text)) {
            self.add_acting(range, true);
        } else {
            self.plain_asm.push(range);
        }
    }

    /// The same for all that is in a body which was not understood.
    pub(super) fn note_opaque(&mut self, body: Range) {
        let plain = self.plain_asm.len();
        let known = self.tree.composition.len();
        for token in body.start..body.end {
            if self.tree.tokens.all[token as usize].name == kw::ASM
                && let Some(open) =
                    (token + 1..body.end).find(|at| self.tree.token_text(*at) == b"(")
                && let Some(end) = self.matching(open)
            {
                self.note_asm(token, Range::new(open, end));
            }
        }
        let acts = self.tree.composition.len() > known || self.has_acting_attribute(body);
        self.tree.composition.truncate(known);
        if acts {
            self.add_acting(body, true);
        } else if self.plain_asm.len() > plain {
            self.plain_asm.truncate(plain);
            self.plain_asm.push(body);
        }
    }

    /// An assembler's macro may do anything, wherever it is used.
    pub(super) fn settle_asm(&mut self) {
        if !self.has_asm_macros {
            return;
        }
        for range in std::mem::take(&mut self.plain_asm) {
            self.add_acting(range, true);
            let around = self.tree.procedures.iter_mut();
            around
                .filter(|procedure| procedure.range.contains(range.start))
                .for_each(|procedure| procedure.is_closed = false);
        }
        self.tree.composition.sort_by_key(|acting| acting.range.start);
    }

    fn add_acting(&mut self, range: Range, names_count: bool) {
        self.tree.composition.push(Acting { range, names_count });
        if let Some(procedure) = &mut self.procedure {
            procedure.is_closed = false;
        }
    }

    /// Whether the attributes in a range say that something acts.
    fn has_acting_attribute(&self, range: Range) -> bool {
        let mut at = range.start;
        while at < range.end {
            let is_attribute = self.tree.tokens.all[at as usize].name == kw::ATTRIBUTE;
            let is_standard =
                self.tree.token_text(at) == b"[" && self.tree.token_text(at + 1) == b"[";
            if !is_attribute && !is_standard {
                at += 1;
                continue;
            }
            let open = at + u32::from(is_attribute);
            let end = self.matching(open).unwrap_or(range.end).clamp(at + 1, range.end);
            let is_acting =
                |token| acts(self.tree.token_text(token)) || self.copied(token).any(|d| d.acts);
            if (open..end).any(is_acting) {
                return true;
            }
            at = end;
        }
        false
    }

    /// The declarations whose attributes `copy(f)` takes over, if that stands at a token.
    pub(super) fn copied(&self, token: u32) -> impl Iterator<Item = &Decl> {
        let group = Some(token + 1).filter(|_| is_copy(self.tree.token_text(token)));
        let group = group.filter(|open| self.tree.token_text(*open) == b"(");
        let end = group.and_then(|open| self.matching(open)).unwrap_or(token);
        (token..end).filter_map(|token| match self.tree.refs.get(token) {
            Ref::Decl(decl) => Some(&self.tree.decls[decl.ix()]),
            _ => None,
        })
    }

    /// Whether a local declaration takes over attributes of another one. What these do at the
    /// end of its scope (`cleanup`) is not followed.
    pub(super) fn has_copy(&self, range: Range) -> bool {
        (range.start..range.end).any(|token| {
            is_copy(self.tree.token_text(token)) && self.tree.token_text(token + 1) == b"("
        })
    }

    /// What pragmas do to a declaration between two tokens.
    pub(super) fn in_force(&self, start: u32, end: u32) -> InForce {
        self.pragmas.at(start).and(self.pragmas.at(end))
    }

    /// The text of an asm, if it is given as literals.
    fn template(&self, group: Range) -> Option<String> {
        let mut text = String::new();
        let mut at = group.start + 1;
        while self.tree.tokens.all[at as usize].kind == Kind::Text {
            add_text(&bytes::to_text(self.tree.token_text(at)), &mut text);
            at += 1;
        }
        let ends = at + 1 >= group.end || matches!(self.tree.token_text(at), b":" | b"::");
        (ends && at > group.start + 1).then_some(text)
    }
}

/// The word of an attribute without the underscores that may stand around it.
pub(super) fn plain(word: &[u8]) -> &[u8] {
    let word = word.strip_prefix(b"__").unwrap_or(word);
    word.strip_suffix(b"__").unwrap_or(word)
}

fn is_copy(word: &[u8]) -> bool {
    plain(word) == b"copy"
}

/// Whether an attribute makes a function run before `main` or after `exit`.
pub(super) fn is_of_start(word: &[u8]) -> bool {
    matches!(plain(word), b"constructor" | b"destructor")
}

/// Whether a declaration with an attribute acts on the program.
pub(super) fn acts(word: &[u8]) -> bool {
    matches!(
        plain(word),
        b"section"
            | b"used"
            | b"retain"
            | b"constructor"
            | b"destructor"
            | b"alias"
            | b"ifunc"
            | b"weak"
            | b"weakref"
            | b"symver"
            | b"patchable_function_entry"
            | b"selectany"
            | b"weak_import"
    )
}

/// Directives after which everything is where it was: alignment, instructions by
/// their bits, how what follows is written.
const STAYING: &[&str] = &[
    "align",
    "balign",
    "p2align",
    "nop",
    "nops",
    "inst",
    "insn",
    "att_syntax",
    "intel_syntax",
    "arch_extension",
    "loc",
];

/// Whether the text of an asm holds more than instructions: sections, data, symbols
/// or labels that others may know.
fn puts_elsewhere(text: &str) -> bool {
    // What `%=` stands for is another number wherever the asm is put.
    const UNIQUE: &str = "\u{1}";
    text.replace("%=", UNIQUE).split(['\n', '\r', ';', '{', '|', '}']).any(|statement| {
        let mut rest = statement.trim();
        loop {
            let is_break = |c: char| !(c.is_alphanumeric() || "_.$%[]\u{1}".contains(c));
            let (word, behind) = rest.split_at(rest.find(is_break).unwrap_or(rest.len()));
            let behind = behind.trim_start();
            if let Some(next) = behind.strip_prefix(':') {
                let is_local = word.bytes().all(|byte| byte.is_ascii_digit());
                if word.is_empty() || !is_local && !word.contains(UNIQUE) {
                    return true;
                }
                rest = next.trim_start();
                continue;
            }
            let names_something = behind.starts_with('=') || rest.starts_with('"');
            let directive = word.strip_prefix('.');
            let stays = |name: &str| STAYING.contains(&name) || name.starts_with("cfi_");
            return names_something || directive.is_some_and(|name| !stays(name));
        }
    })
}

/// Whether an assembler's macros may come from a text. Directives may have any case.
fn has_macros(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains(".macro") || text.contains(".include")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_stay_where_they_are() {
        for text in [
            "",
            "nop",
            "rep; movsb",
            "1:\tdecl %0\n\tjnz 1b",
            ".Lagain%=: jmp .Lagain%=",
            "lock; cmpxchgl %2, %1",
            ".p2align 4\n\tret",
            "mov{l}\t{%1, %0|%0, %1}",
            "movl %%fs:0, %0",
            "1: 2: jmp 1b",
            ".cfi_def_cfa_offset 16",
        ] {
            assert!(!puts_elsewhere(text), "{text}");
        }
    }

    #[test]
    fn directives_have_any_case() {
        for text in [".macro m\n.endm", ".MACRO m\n.ENDM", "nop; .Include \"m.s\""] {
            assert!(has_macros(text), "{text}");
        }
        assert!(!has_macros("nop"));
    }

    #[test]
    fn all_else_may_be_found() {
        for text in [
            ".pushsection set,\"aw\"\n.long 1\n.popsection",
            "nop; .data; .long 5; .text",
            "1: .globl f\nf: ret",
            "f:",
            "\"f\": ret",
            "f = 5",
            ".set f, 5",
            "jmp 1f\n.long 5\n1:",
            ".Ltable: .quad 1",
            "%c0: ret",
            ".macro m\n.endm",
        ] {
            assert!(puts_elsewhere(text), "{text}");
        }
    }
}
