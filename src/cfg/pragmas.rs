//! Pragmas as part of the meaning of what follows them.

use super::unit::words;
use crate::bytes;
use crate::frontend::parse::in_force::acts_on_program;
use crate::frontend::tree::{Range, Tree};
use crate::ids::{Fingerprint, FpHasher};
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

/// Pragmas that want the code behind them in a certain form.
const SHAPING: &[&str] = &["omp", "acc"];

/// Pragmas about the loop behind them, whose head then must stay as it is.
const OF_A_LOOP: &[&str] = &["GCC unroll", "GCC ivdep", "clang loop", "unroll", "nounroll"];

/// Pragmas that act on the program rather than on the text behind them, and name what
/// they act on.
const OF_THE_PROGRAM: &[&str] = &["weak", "redefine_extname", "init", "fini"];

/// Pragmas that say something to the linker.
const OF_THE_LINK: &str = "comment";

pub struct Pragmas {
    /// State of the file from a token on, in order.
    states: Vec<(u32, Fingerprint)>,
    /// Pragmas inside of bodies, by the token they stand before; each with all
    /// that stand before it in the same body. They also change the state for
    /// what follows the body.
    inside: Vec<Inside>,
    /// Places of those among them that want the code behind them in a certain
    /// form, which probes would spoil.
    shaping: Vec<u32>,
    /// Tokens before which pragmas about loops stand.
    loops: Vec<u32>,
    /// Pragmas that act on the program, in order.
    pub of_the_program: Vec<OfTheProgram>,
    /// The visibility that pragmas give from a token on, in order.
    visibilities: Vec<(u32, Option<String>)>,
}

/// A pragma that acts on the program.
pub struct OfTheProgram {
    pub text: String,
    /// What it names, if it names anything.
    pub names: Vec<String>,
}

struct Inside {
    token: u32,
    body_end: u32,
    pragmas: Fingerprint,
}

impl Pragmas {
    pub fn of(tree: &Tree<'_>) -> Self {
        let mut found = Self {
            states: Vec::new(),
            inside: Vec::new(),
            shaping: Vec::new(),
            loops: Vec::new(),
            of_the_program: Vec::new(),
            visibilities: Vec::new(),
        };
        let mut pushed: Vec<String> = Vec::new();
        let outermost = tree.procedures.iter().filter(|procedure| !procedure.is_nested);
        let bodies: Vec<Range> = outermost.map(|procedure| procedure.body_range).collect();
        let mut state = State::default();
        for pragma in &tree.tokens.pragmas {
            let line = &tree.text[pragma.start as usize..pragma.end as usize];
            let line = bytes::to_text(line);
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
                let before = found.inside_before(pragma.token);
                let mut hasher = FpHasher::new("pragma inside");
                hasher.fp(&before.unwrap_or_default());
                hasher.str(&text);
                found.inside.push(Inside {
                    token: pragma.token,
                    body_end: bodies[next].end,
                    pragmas: hasher.finish(),
                });
                if SHAPING.iter().any(|word| starts_with_words(&text, word)) {
                    found.shaping.push(pragma.token);
                }
                if OF_A_LOOP.iter().any(|words| starts_with_words(&text, words)) {
                    found.loops.push(pragma.token);
                }
            }
            if OF_THE_PROGRAM.iter().any(|word| starts_with_words(&text, word)) {
                let names = words(&text).skip(1).map(String::from).collect();
                found.of_the_program.push(OfTheProgram { text: text.clone(), names });
            } else if acts_on_program(&text) || starts_with_words(&text, OF_THE_LINK) {
                found.of_the_program.push(OfTheProgram { text: text.clone(), names: Vec::new() });
            }
            if starts_with_words(&text, "GCC visibility") {
                match text.split_once("push") {
                    Some((_, pushes)) => pushed.push(pushes.replace(' ', "")),
                    None => drop(pushed.pop()),
                }
                found.visibilities.push((pragma.token, pushed.last().cloned()));
            }
            // Those end with the block or the statement they stand in.
            let is_confined = [&["STDC"][..], OF_A_LOOP, SHAPING].concat();
            if is_inside && is_confined.iter().any(|words| starts_with_words(&text, words)) {
                continue;
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

    /// The visibility that a pragma gives to what is declared at a token.
    pub fn visibility_at(&self, token: u32) -> Option<&str> {
        let before = self.visibilities.partition_point(|(from, _)| *from <= token);
        self.visibilities[..before].last()?.1.as_deref()
    }

    /// Whether a pragma inside of a body wants code in a certain form.
    pub fn shapes_code(&self, body: Range) -> bool {
        let first = self.shaping.partition_point(|token| *token < body.start);
        self.shaping.get(first).is_some_and(|token| body.contains(*token))
    }

    /// Whether a pragma is about the loop that begins at a token.
    pub fn is_about_loop(&self, token: u32) -> bool {
        self.loops.binary_search(&token).is_ok()
    }

    /// All pragmas that count and stand in the body around a token, before it.
    pub fn inside_before(&self, token: u32) -> Option<Fingerprint> {
        let before = self.inside.partition_point(|inside| inside.token <= token);
        let last = self.inside[..before].last()?;
        (token < last.body_end).then_some(last.pragmas)
    }
}

fn starts_with_words(text: &str, words: &str) -> bool {
    text.strip_prefix(words).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
}

/// What is in force, each time as one fingerprint of all that was said: a stack
/// for what can be pushed and popped, and all else for good.
#[derive(Default)]
struct State {
    stacks: BTreeMap<&'static str, Stack>,
    rest: Fingerprint,
}

#[derive(Default)]
struct Stack {
    /// What is in force where nothing is pushed.
    base: Fingerprint,
    pushed: Vec<Pushed>,
    /// How much is pushed is not known any more.
    is_unknown: bool,
}

struct Pushed {
    /// By which it may be popped with all that is above it.
    name: Option<String>,
    state: Fingerprint,
}

/// Families of pragmas with a stack: how they push, how they pop, and what else
/// changes the top.
const FAMILIES: &[(&str, &str, &str, &[&str])] = &[
    ("pack", "pack(push", "pack(pop", &["pack("]),
    ("clangattribute", "clangattributepush", "clangattributepop", &[]),
    ("GCCvisibility", "GCCvisibilitypush", "GCCvisibilitypop", &[]),
    ("GCCoptions", "GCCpush_options", "GCCpop_options", &["GCCoptimize", "GCCtarget"]),
];

impl State {
    fn apply(&mut self, text: &str) {
        let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        for (family, push, pop, others) in FAMILIES {
            let stack = self.stacks.entry(family).or_default();
            if let Some(arguments) = squeezed.strip_prefix(push) {
                let name = arguments_of(arguments).find(|word| is_name(word)).map(String::from);
                let state = also(stack.top(), &squeezed);
                stack.pushed.push(Pushed { name, state });
                return;
            }
            if let Some(arguments) = squeezed.strip_prefix(pop) {
                stack.pop(&squeezed, arguments);
                return;
            }
            if others.iter().any(|other| squeezed.starts_with(other)) {
                let now = match (*family, squeezed.as_str()) {
                    ("pack", "pack()") => Fingerprint::default(),
                    ("pack", _) => also(Fingerprint::default(), &squeezed),
                    _ => also(stack.top(), &squeezed),
                };
                match stack.pushed.last_mut() {
                    Some(top) => top.state = now,
                    None => stack.base = now,
                }
                return;
            }
        }
        self.rest = also(self.rest, &squeezed);
    }

    fn fingerprint(&self) -> Fingerprint {
        let tops = || self.stacks.values().map(Stack::top);
        let nothing = Fingerprint::default();
        if self.rest == nothing && tops().all(|top| top == nothing) {
            return nothing;
        }
        let mut hasher = FpHasher::new("pragmas");
        tops().for_each(|top| hasher.fp(&top));
        hasher.fp(&self.rest);
        hasher.finish()
    }
}

impl Stack {
    fn top(&self) -> Fingerprint {
        self.pushed.last().map_or(self.base, |top| top.state)
    }

    /// Compilers agree on what a plain pop does, and one by a name that was pushed.
    /// Any other leaves a state that only all that was said before tells.
    fn pop(&mut self, text: &str, arguments: &str) {
        let arguments: Vec<&str> = arguments_of(arguments).collect();
        let named = |name: &str| {
            self.pushed.iter().rposition(|pushed| pushed.name.as_deref() == Some(name))
        };
        let left = match arguments[..] {
            _ if self.is_unknown => None,
            [] => Some(self.pushed.len().saturating_sub(1)),
            [name] => named(name),
            _ => None,
        };
        if let Some(left) = left {
            self.pushed.truncate(left);
            return;
        }
        self.is_unknown = true;
        let mut hasher = FpHasher::new("popped");
        hasher.fp(&also(self.base, text));
        self.pushed.iter().for_each(|pushed| hasher.fp(&pushed.state));
        let unknown = hasher.finish();
        self.base = unknown;
        self.pushed.iter_mut().for_each(|pushed| pushed.state = unknown);
    }
}

/// What is between commas, of `push,a,b)` or `pop)` without its first word.
fn arguments_of(text: &str) -> impl Iterator<Item = &str> {
    text.trim_end_matches(')').split(',').filter(|argument| !argument.is_empty())
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// A state with one more pragma.
fn also(state: Fingerprint, text: &str) -> Fingerprint {
    let mut hasher = FpHasher::new("pragma");
    hasher.fp(&state);
    hasher.str(text);
    hasher.finish()
}
