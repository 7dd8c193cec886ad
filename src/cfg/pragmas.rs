//! Pragmas as part of the meaning of what follows them.

use crate::frontend::tree::{Range, Tree};
use crate::ids::{Fingerprint, FpHasher};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Pragmas that cannot change what a program does.
const HARMLESS: &[&str] = &[
    "GCC diagnostic",
    "GCC message",
    "GCC warning",
    "GCC error",
    "GCC system_header",
    "GCC dependency",
    "GCC poison",
    "clang diagnostic",
    "once",
    "region",
    "endregion",
    "message",
    "mark",
];

/// Pragmas that act on the program rather than on the text behind them.
const OF_THE_PROGRAM: &[&str] = &["weak", "redefine_extname"];

pub struct Pragmas {
    /// State of the file from a token on, in order.
    states: Vec<(u32, Fingerprint)>,
    /// Pragmas inside of bodies, by the token they stand before. They also
    /// change the state for what follows the body.
    inside: FxHashMap<u32, Fingerprint>,
    /// Pragmas that act on the program, in order.
    pub of_the_program: Vec<String>,
}

impl Pragmas {
    pub fn of(tree: &Tree<'_>) -> Self {
        let mut found =
            Self { states: Vec::new(), inside: FxHashMap::default(), of_the_program: Vec::new() };
        let bodies: Vec<Range> = tree.procedures.iter().map(|p| p.body_range).collect();
        let mut state = State::default();
        for pragma in &tree.pragmas {
            let line = &tree.text[pragma.start as usize..pragma.end as usize];
            let line = String::from_utf8_lossy(line);
            let text = line.trim_start_matches('#').trim_start();
            let text = text.strip_prefix("pragma").unwrap_or(text);
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            if HARMLESS.iter().any(|harmless| starts_with_words(&text, harmless)) {
                continue;
            }
            let next = bodies.partition_point(|body| body.end <= pragma.token);
            let is_inside =
                bodies.get(next).is_some_and(|b| b.start < pragma.token && pragma.token < b.end);
            if is_inside {
                let before = found.inside.entry(pragma.token).or_default();
                let mut hasher = FpHasher::new("pragma inside");
                hasher.fp(before);
                hasher.str(&text);
                *before = hasher.finish();
            }
            if OF_THE_PROGRAM.iter().any(|word| starts_with_words(&text, word)) {
                found.of_the_program.push(text.clone());
            }
            state.apply(&text);
            found.states.push((pragma.token, state.fingerprint()));
        }
        found
    }

    /// The state in force at a token of the file's own level.
    pub fn state_at(&self, token: u32) -> Fingerprint {
        let before = self.states.partition_point(|(from, _)| *from <= token);
        self.states[..before].last().map_or_else(Fingerprint::default, |(_, fp)| *fp)
    }

    /// Whether a pragma that counts stands inside of a body.
    pub fn has_inside(&self, body: Range) -> bool {
        self.inside.keys().any(|token| body.contains(*token))
    }

    pub fn inside_at(&self, token: u32) -> Option<&Fingerprint> {
        self.inside.get(&token)
    }
}

fn starts_with_words(text: &str, words: &str) -> bool {
    text.strip_prefix(words).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
}

/// What is in force: a stack for what can be pushed and popped, and all else
/// for good.
#[derive(Default)]
struct State {
    stacks: BTreeMap<&'static str, Vec<Vec<String>>>,
    rest: Vec<String>,
}

impl State {
    fn apply(&mut self, text: &str) {
        let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        for (family, push, pop) in [
            ("pack", "pack(push", "pack(pop"),
            ("GCCvisibility", "GCCvisibilitypush", "GCCvisibilitypop"),
            ("GCCoptions", "GCCpush_options", "GCCpop_options"),
        ] {
            let stack = self.stacks.entry(family).or_insert_with(|| vec![Vec::new()]);
            if squeezed.starts_with(push) {
                let mut top = stack.last().cloned().unwrap_or_default();
                top.push(squeezed);
                stack.push(top);
                return;
            }
            if squeezed.starts_with(pop) {
                if stack.len() > 1 {
                    stack.pop();
                }
                return;
            }
            let sets = match family {
                "pack" => squeezed.starts_with("pack("),
                "GCCoptions" => {
                    squeezed.starts_with("GCCoptimize") || squeezed.starts_with("GCCtarget")
                }
                _ => false,
            };
            if sets {
                if let Some(top) = stack.last_mut() {
                    if family == "pack" {
                        top.clear();
                    }
                    if squeezed != "pack()" {
                        top.push(squeezed);
                    }
                }
                return;
            }
        }
        self.rest.push(squeezed);
    }

    fn fingerprint(&self) -> Fingerprint {
        let mut hasher = FpHasher::new("pragmas");
        let mut is_plain = self.rest.is_empty();
        for (family, stack) in &self.stacks {
            let top = stack.last().map(Vec::as_slice).unwrap_or_default();
            is_plain &= top.is_empty();
            hasher.str(family);
            hasher.number(top.len() as u64);
            top.iter().for_each(|text| hasher.str(text));
        }
        hasher.number(self.rest.len() as u64);
        self.rest.iter().for_each(|text| hasher.str(text));
        if is_plain { Fingerprint::default() } else { hasher.finish() }
    }
}
