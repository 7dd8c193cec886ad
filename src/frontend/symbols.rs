//! `__LINE__` and its kin as symbols. A second preprocessing with these macros
//! defined as names is laid beside the true text, token by token; a token that
//! is a symbol there becomes the symbol in labels.

use super::lex::{Kind, Raw, Scanner};
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
    let found = by_lines(tree, symbolic).or_else(|| by_tokens(tree, symbolic));
    let mut found = found.unwrap_or_default();
    let constants = merged(&tree.constants);
    found.retain(|token, _| !stands_in(&constants, *token));
    found
}

/// Lays line beside line: most are equal, and are not looked at any further.
/// `None` if that does not come out even.
fn by_lines(tree: &Tree<'_>, symbolic: &Symbolic<'_>) -> Option<FxHashMap<u32, String>> {
    let (here, there) = (&*tree.text, symbolic.text);
    let (mut at, mut other) = (0, 0);
    let mut found = FxHashMap::default();
    while at < here.len() && other < there.len() {
        let same = equal_bytes(&here[at..], &there[other..]);
        let line = memchr::memrchr(b'\n', &here[at..at + same]).map_or(0, |end| end + 1);
        (at, other) = (at + line, other + line);
        let (end, other_end) = (end_of_line(here, at), end_of_line(there, other));
        if here[at..end] != there[other..other_end] {
            let first = tree.tokens.all.partition_point(|token| (token.start as usize) < at);
            let mut scanner = Scanner::new(&there[other..other_end]);
            for (index, token) in tree.tokens.all.iter().enumerate().skip(first) {
                let raw = next(&mut scanner);
                if token.start as usize >= end || token.kind == Kind::End {
                    (raw.kind == Kind::End).then_some(())?;
                    break;
                }
                let text = &there[other..][raw.start as usize..raw.end as usize];
                note(tree, index as u32, text, symbolic.root, &mut found)?;
            }
        }
        (at, other) = (end, other_end);
    }
    (at == here.len() && other == there.len()).then_some(found)
}

/// Lays token beside token. `None` if the texts differ in more than symbols.
fn by_tokens(tree: &Tree<'_>, symbolic: &Symbolic<'_>) -> Option<FxHashMap<u32, String>> {
    let mut found = FxHashMap::default();
    let mut other = Scanner::new(symbolic.text);
    for (index, token) in tree.tokens.all.iter().enumerate() {
        let raw = next(&mut other);
        if (raw.kind == Kind::End) != (token.kind == Kind::End) {
            return None;
        }
        let there = &symbolic.text[raw.start as usize..raw.end as usize];
        note(tree, index as u32, there, symbolic.root, &mut found)?;
    }
    Some(found)
}

fn next(scanner: &mut Scanner<'_>) -> Raw {
    loop {
        let raw = scanner.token();
        if raw.kind != Kind::Pragma {
            return raw;
        }
    }
}

/// Notes a token if it is a symbol in the other text. `None` if it is another
/// one there for no reason that we know.
fn note(
    tree: &Tree<'_>,
    token: u32,
    there: &[u8],
    root: &str,
    found: &mut FxHashMap<u32, String>,
) -> Option<()> {
    let here = tree.token_text(token);
    if here == there {
        return Some(());
    }
    let symbol = SYMBOLS.iter().find(|(_, name)| name.as_bytes() == there);
    if let Some((_, name)) = symbol {
        found.insert(token, (*name).to_string());
    } else if is_file_below_root(here, there, root) {
        found.insert(token, String::from_utf8_lossy(there).into_owned());
    } else if !names_symbol(there) {
        return None;
    }
    // A symbol pasted into another token: there the true value counts.
    Some(())
}

/// How many bytes two texts have in common at their start.
fn equal_bytes(here: &[u8], there: &[u8]) -> usize {
    const STEP: usize = 64;
    let chunks = here.chunks_exact(STEP).zip(there.chunks_exact(STEP));
    let same = chunks.take_while(|(here, there)| here == there).count() * STEP;
    let rest = here[same..].iter().zip(&there[same..]);
    same + rest.take_while(|(here, there)| here == there).count()
}

/// Behind the end of the line that begins at some place.
fn end_of_line(text: &[u8], start: usize) -> usize {
    memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |length| start + length + 1)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend;

    fn both(text: &str, symbolic: &str) -> (Option<usize>, Option<usize>) {
        let tree = frontend::analyse(text.as_bytes(), None, &|_| false);
        let symbolic = Symbolic { text: symbolic.as_bytes(), root: "/home/p" };
        let count = |found: Option<FxHashMap<u32, String>>| found.map(|found| found.len());
        (count(by_lines(&tree, &symbolic)), count(by_tokens(&tree, &symbolic)))
    }

    #[test]
    fn lines_and_tokens_tell_the_same() {
        let text = "# 1 \"a.c\"\nint a = 1;\nint f(void)\n{\n return 5 + 6;\n}\n";
        let symbolic = text.replace('5', "__edgewise_LINE");
        assert_eq!(both(text, text), (Some(0), Some(0)));
        assert_eq!(both(text, &symbolic), (Some(1), Some(1)));
        assert_eq!(both(text.trim_end(), symbolic.trim_end()), (Some(1), Some(1)));
        let file = text.replace('5', "\"/home/p/a.c\"");
        let mapped = text.replace('5', "\"./a.c\"");
        assert_eq!(both(&file, &mapped), (Some(1), Some(1)));
        assert_eq!(both(text, &text.replace('5', "4")), (None, None));
        assert_eq!(both(text, &symbolic.replace("6;", "6; ;")), (None, None));
        assert_eq!(both(text, &format!("{symbolic}int b;\n")), (None, None));
    }

    #[test]
    fn other_lines_with_the_same_tokens_are_found_by_tokens() {
        let text = "int a = 1;\nint b = 2;\n";
        assert_eq!(both(text, "int a =\n1;\nint b = __edgewise_LINE;\n"), (None, Some(1)));
    }
}
