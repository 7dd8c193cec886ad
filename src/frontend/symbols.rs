//! `__LINE__` and its kin as symbols. A second preprocessing with these macros
//! defined as names is laid beside the true text, token by token; a token that
//! is a symbol there becomes the symbol in labels.

use super::lex::{Kind, Scanner};
use super::tree::{Range, Tree};
use rustc_hash::FxHashMap;

/// The macros, each with the name that stands for it. `__COUNTER__` is not one
/// of them: pasted into a name it would not be seen anyway, and as a value it
/// is logic of the program.
pub const SYMBOLS: [(&str, &str); 4] = [
    ("__LINE__", "__edgewise_LINE"),
    ("__DATE__", "__edgewise_DATE"),
    ("__TIME__", "__edgewise_TIME"),
    ("__TIMESTAMP__", "__edgewise_TIMESTAMP"),
];

/// The second text, and what `__FILE__` must not carry.
pub struct Symbolic<'s> {
    pub text: &'s [u8],
    /// The project's root as it may stand at the start of a file name.
    pub root: &'s str,
}

/// The tokens that stand for a symbol. Empty if the two texts differ in any
/// other way, since then nothing is certain.
pub fn align(tree: &Tree<'_>, symbolic: &Symbolic<'_>) -> FxHashMap<u32, String> {
    let mut found = FxHashMap::default();
    if *symbolic.text == *tree.text {
        return found;
    }
    let mut other = Scanner::new(symbolic.text);
    for (index, token) in tree.tokens.all.iter().enumerate() {
        let raw = loop {
            let raw = other.token();
            if raw.kind != Kind::Pragma {
                break raw;
            }
        };
        if (raw.kind == Kind::End) != (token.kind == Kind::End) {
            return FxHashMap::default();
        }
        let there = &symbolic.text[raw.start as usize..raw.end as usize];
        let here = tree.token_text(index as u32);
        if here == there {
            continue;
        }
        let symbol = SYMBOLS.iter().find(|(_, name)| name.as_bytes() == there);
        if let Some((_, name)) = symbol {
            found.insert(index as u32, (*name).to_string());
        } else if is_file_below_root(here, there, symbolic.root) {
            found.insert(index as u32, String::from_utf8_lossy(there).into_owned());
        } else if !names_symbol(there) {
            return FxHashMap::default();
        }
        // A symbol pasted into another token: there the true value counts.
    }
    let constants = merged(&tree.constants);
    found.retain(|token, _| !stands_in(&constants, *token));
    found
}

fn names_symbol(text: &[u8]) -> bool {
    SYMBOLS.iter().any(|(_, name)| text.windows(name.len()).any(|w| w == name.as_bytes()))
}

/// Is `here` the absolute name of a file below the root, and `there` the same
/// with the root mapped to a dot?
fn is_file_below_root(here: &[u8], there: &[u8], root: &str) -> bool {
    let prefix = format!("\"{root}");
    match (here.strip_prefix(prefix.as_bytes()), there.strip_prefix(b"\".")) {
        (Some(here), Some(there)) => here == there,
        _ => false,
    }
}

/// The same tokens as disjoint ranges in order.
fn merged(ranges: &[Range]) -> Vec<Range> {
    let mut sorted = ranges.to_vec();
    sorted.sort_by_key(|range| range.start);
    let mut merged: Vec<Range> = Vec::new();
    for range in sorted {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

fn stands_in(merged: &[Range], token: u32) -> bool {
    let before = merged.partition_point(|range| range.start <= token);
    before > 0 && merged[before - 1].contains(token)
}
