//! Pragmas that give attributes to the declarations behind them.

use super::acting::{acts, is_of_start};
use crate::frontend::lex::PragmaAt;
use std::collections::BTreeSet;

/// What pragmas do to a declaration.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct InForce {
    /// It acts on the program without being named.
    pub acts: bool,
    /// It runs before `main` or after `exit`.
    pub is_constructor: bool,
}

impl InForce {
    pub fn and(self, other: Self) -> Self {
        Self {
            acts: self.acts || other.acts,
            is_constructor: self.is_constructor || other.is_constructor,
        }
    }
}

/// Pragmas of Microsoft's compilers, which clang knows too. They hold for good here.
const SECTIONS: [&str; 6] = ["section", "data_seg", "bss_seg", "const_seg", "code_seg", "init_seg"];

/// Pragmas by which something acts, in the order of the text.
#[derive(Default)]
pub struct Pragmas {
    /// What is in force from a token on.
    states: Vec<(u32, InForce)>,
    /// `#pragma clang attribute push`, each with its name space.
    pushed: Vec<(String, InForce)>,
    /// Kinds of `#pragma clang section` that name one.
    sections: BTreeSet<String>,
    for_good: InForce,
}

impl Pragmas {
    pub fn of(text: &[u8], pragmas: &[PragmaAt]) -> Self {
        let mut found = Self::default();
        for pragma in pragmas {
            let line = crate::bytes::to_text(&text[pragma.start as usize..pragma.end as usize]);
            let line = line.trim_start_matches('#').trim_start();
            let line = line.strip_prefix("pragma").unwrap_or(line);
            if found.apply(line) {
                let pushed = found.pushed.iter().map(|(_, state)| *state);
                let mut state = pushed.fold(found.for_good, InForce::and);
                state.acts |= !found.sections.is_empty();
                found.states.push((pragma.token, state));
            }
        }
        found
    }

    /// What is in force at a token.
    pub fn at(&self, token: u32) -> InForce {
        let before = self.states.partition_point(|(from, _)| *from <= token);
        self.states[..before].last().map_or_else(InForce::default, |(_, state)| *state)
    }

    /// Takes in a pragma; whether it matters.
    fn apply(&mut self, line: &str) -> bool {
        let squeezed: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        if let Some(rest) = squeezed.strip_prefix("clangattribute") {
            self.attribute(rest);
        } else if let Some(rest) = squeezed.strip_prefix("clangsection") {
            self.section(rest);
        } else if words(line).next().is_some_and(|word| SECTIONS.contains(&word)) {
            self.for_good.acts = true;
        } else {
            return false;
        }
        true
    }

    /// `push(…)`, `pop`, the same behind a name and a dot, or more for what was pushed.
    fn attribute(&mut self, text: &str) {
        let (head, rest) = text.split_at(text.find('(').unwrap_or(text.len()));
        let (space, what) = head.rsplit_once('.').unwrap_or(("", head));
        let state = InForce {
            acts: words(rest).any(|word| acts(word.as_bytes())),
            is_constructor: words(rest).any(|word| is_of_start(word.as_bytes())),
        };
        match what {
            "push" => self.pushed.push((space.to_string(), state)),
            "pop" => {
                if let Some(at) = self.pushed.iter().rposition(|(pushed, _)| pushed == space) {
                    self.pushed.remove(at);
                }
            }
            _ => {
                let top = self.pushed.last_mut().map_or(&mut self.for_good, |(_, top)| top);
                *top = top.and(state);
            }
        }
    }

    /// `bss="name"`, `data=""` and their like, one behind the other.
    fn section(&mut self, mut text: &str) {
        while let Some((kind, rest)) = text.split_once("=\"") {
            let (name, behind) = rest.split_once('"').unwrap_or((rest, ""));
            if name.is_empty() {
                self.sections.remove(kind);
            } else {
                self.sections.insert(kind.to_string());
            }
            text = behind;
        }
    }
}

/// Whether a pragma gives attributes or a section by which declarations act.
pub fn acts_on_program(pragma: &str) -> bool {
    let mut pragmas = Pragmas::default();
    pragmas.apply(pragma);
    let pushed = pragmas.pushed.iter().map(|(_, state)| *state);
    pushed.fold(pragmas.for_good, InForce::and).acts || !pragmas.sections.is_empty()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::Pragmas;
    use crate::frontend::lex::lex;

    #[test]
    fn pragmas_hold_until_they_are_taken_back() {
        let source = "a\n#pragma clang attribute push (__attribute__((constructor)), apply_to = function)\nb\n\
            #pragma clang attribute x.push([[gnu::noinline]], apply_to=function)\nc\n\
            #pragma clang attribute x.pop\n#pragma clang attribute pop\nd\n\
            #pragma clang section bss=\"one\" data = \"two\"\ne\n#pragma clang section bss=\"\"\nf\n\
            #pragma clang section data=\"\"\ng\n#pragma data_seg(\"three\")\nh\n";
        let tokens = lex(source.as_bytes());
        let pragmas = Pragmas::of(source.as_bytes(), &tokens.pragmas);
        let acts: Vec<bool> = (0..8).map(|token| pragmas.at(token).acts).collect();
        assert_eq!(acts, [false, true, true, false, true, true, false, true]);
        assert!(pragmas.at(2).is_constructor && !pragmas.at(3).is_constructor);
    }
}
