//! `__LINE__` and its kin as symbols. A second preprocessing with these macros
//! defined as names is laid beside the true text, token by token; a token that
//! is a symbol there becomes the symbol in labels. Built-in functions that say where they
//! stand (`__builtin_LINE`) are found in the text itself.

use super::lex::{Kind, Raw, Scanner};
use super::lines::Place;
use super::names::Name;
use super::tree::{Range, Told, Tree};
use crate::bytes;
use rustc_hash::FxHashMap;

/// The macros, each with the name that stands for it. `__COUNTER__` is not one
/// of them: pasted into a name it would not be seen anyway, and as a value it
/// is logic of the program.
pub const SYMBOLS: [(&str, &str); 4] = [
    ("__LINE__", LINE),
    ("__DATE__", "__edgewise_DATE"),
    ("__TIME__", "__edgewise_TIME"),
    ("__TIMESTAMP__", "__edgewise_TIMESTAMP"),
];

/// What stands for the number of a line.
pub const LINE: &str = "__edgewise_LINE";

/// Built-in functions whose value is a place: whether it holds the file, the line, and
/// the column.
const PLACES: [(&str, [bool; 3]); 5] = [
    ("__builtin_LINE", [false, true, false]),
    ("__builtin_COLUMN", [false, false, true]),
    ("__builtin_FILE", [true, false, false]),
    ("__builtin_FILE_NAME", [true, false, false]),
    ("__builtin_source_location", [true, true, true]),
];

/// Every word by which a text may say where it stands or when it was compiled.
pub fn words() -> impl Iterator<Item = &'static str> {
    let macros = SYMBOLS.iter().map(|(name, _)| *name);
    macros.chain(PLACES.iter().map(|(name, _)| *name))
}

/// The second text, and what `__FILE__` must not carry.
pub struct Symbolic<'s> {
    pub text: &'s [u8],
    /// The project's root as it may stand at the start of a file name.
    pub root: &'s str,
}

/// The tokens that stand for a symbol. Empty if the two texts differ in any
/// other way, since then nothing is certain.
pub fn align(tree: &Tree<'_>, symbolic: &Symbolic<'_>) -> FxHashMap<u32, String> {
    let mut found = symbols(tree, symbolic).unwrap_or_default();
    let constants = merged(&tree.constants);
    found.retain(|token, _| !stands_in(&constants, *token));
    found
}

/// The tokens that name a built-in function of [`PLACES`], with what its value is there.
/// The name of a file below `root` counts from there.
pub fn places(tree: &Tree<'_>, root: Option<&str>) -> FxHashMap<u32, Told> {
    let mut found = FxHashMap::default();
    let names = &tree.tokens.names;
    let used =
        PLACES.iter().filter_map(|(name, holds)| Some((names.find(name.as_bytes())?, holds)));
    let used: Vec<_> = used.collect();
    if used.is_empty() {
        return found;
    }
    let constants = merged(&tree.constants);
    for (token, this) in (0..).zip(&tree.tokens.all) {
        let is_it = |(name, _): &&(Name, _)| this.kind == Kind::Word && this.name == *name;
        let Some((_, [file, line, column])) = used.iter().find(is_it) else { continue };
        let lines = &tree.tokens.lines;
        let place = lines.place(this.start);
        // Compilers mean the line of the name or that of the bracket behind it.
        let bracket = lines.place(tree.tokens.all[token as usize + 1].start);
        let number = |place: Option<Place>| place.map_or(0, |place| place.line);
        let mut told = Told { is_constant: stands_in(&constants, token), ..Told::default() };
        if *file {
            let name = place.map_or("", |place| lines.files[place.file as usize].as_str());
            let below = root.and_then(|root| name.strip_prefix(root)?.strip_prefix('/'));
            told.file = below.map_or_else(|| name.to_string(), |below| format!("./{below}"));
        }
        if *line {
            told.numbers.extend([number(place), number(bracket)]);
        }
        if *column {
            let before = &tree.text[..this.start as usize];
            let start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
            told.numbers.push(this.start - start as u32);
        }
        found.insert(token, told);
    }
    found
}

/// Lays token beside token, but for the many lines that are equal. `None` if
/// the texts differ in more than symbols.
fn symbols(tree: &Tree<'_>, symbolic: &Symbolic<'_>) -> Option<FxHashMap<u32, String>> {
    let (here, there) = (&*tree.text, symbolic.text);
    let (mut at, mut other) = (0, 0);
    let mut found = FxHashMap::default();
    loop {
        let same = equal_bytes(&here[at..], &there[other..]);
        if at + same == here.len() && other + same == there.len() {
            return Some(found);
        }
        let line = start_of_line(tree, at, at + same) - at;
        (at, other) = (at + line, other + line);
        // From here on by tokens, until both texts are at the end of a line.
        let mut index = tree.tokens.all.partition_point(|token| (token.start as usize) < at);
        let mut scanner = Scanner::new(&there[other..]);
        (at, other) = loop {
            let (token, raw) = (&tree.tokens.all[index], next(&mut scanner));
            match (token.kind == Kind::End, raw.kind == Kind::End) {
                (true, true) => return Some(found),
                (false, false) => {}
                _ => return None,
            }
            let end = other + raw.end as usize;
            let text = &there[other + raw.start as usize..end];
            note(tree, index as u32, text, symbolic.root, &mut found)?;
            index += 1;
            let ends = (next_line(here, token.end as usize), next_line(there, end));
            if let (Some(line), Some(other_line)) = ends {
                break (line, other_line);
            }
        };
    }
}

/// Where the line of a place begins, not before `from` and not inside of a literal.
fn start_of_line(tree: &Tree<'_>, from: usize, mut place: usize) -> usize {
    loop {
        let line =
            memchr::memrchr(b'\n', &tree.text[from..place]).map_or(from, |end| from + end + 1);
        let raw = &tree.tokens.raw;
        let before = raw.partition_point(|literal| literal.start < line);
        match raw[..before].last() {
            Some(literal) if line < literal.end && literal.start >= from => place = literal.start,
            _ => return line,
        }
    }
}

/// Where the next line begins, if nothing more stands on this one.
fn next_line(text: &[u8], from: usize) -> Option<usize> {
    let blank = text[from..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    (text.get(from + blank) == Some(&b'\n')).then_some(from + blank + 1)
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
        found.insert(token, bytes::to_text(there).into_owned());
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

    /// How many symbols are found, `None` if the texts do not fit.
    fn count(text: &str, symbolic: &str) -> Option<usize> {
        let tree = frontend::analyse(text.as_bytes(), None, &|_| false);
        let symbolic = Symbolic { text: symbolic.as_bytes(), root: "/home/p" };
        symbols(&tree, &symbolic).map(|found| found.len())
    }

    const TEXT: &str = "# 1 \"a.c\"\nint a = 1;\nint f(void)\n{\n return 5 + 6;\n}\nint b;\n";

    #[test]
    fn symbols_are_found_where_the_texts_differ() {
        let symbolic = TEXT.replace('5', "__edgewise_LINE");
        assert_eq!(count(TEXT, TEXT), Some(0));
        assert_eq!(count(TEXT, &symbolic), Some(1));
        assert_eq!(count(TEXT.trim_end(), symbolic.trim_end()), Some(1));
        let twice = symbolic.replace('6', "__edgewise_LINE").replace("b;", "b ;");
        assert_eq!(count(TEXT, &twice), Some(2));
        let file = TEXT.replace('5', "\"/home/p/a.c\"");
        assert_eq!(count(&file, &TEXT.replace('5', "\"./a.c\"")), Some(1));
    }

    #[test]
    fn lines_and_markers_may_be_others() {
        let text = TEXT.replace("5 + 6", "5 +\n# 9 \"a.c\" 3 4\n 6");
        let marked = TEXT.replace("5 + 6", "\n# 5 \"a.c\"\n __edgewise_LINE\n# 5 \"a.c\" 3\n + 6");
        assert_eq!(count(TEXT, &marked), Some(1));
        assert_eq!(count(&text, &marked), Some(1));
        assert_eq!(count(&text, TEXT), Some(0));
    }

    #[test]
    fn other_differences_leave_nothing_certain() {
        let symbolic = TEXT.replace('5', "__edgewise_LINE");
        for other in [
            TEXT.replace('5', "4"),
            symbolic.replace("6;", "6; ;"),
            symbolic.replace("int b;\n", ""),
            format!("{symbolic}int c;\n"),
            symbolic.replace("int a", "long a"),
            String::new(),
        ] {
            assert_eq!(count(TEXT, &other), None, "{other}");
        }
    }
}
