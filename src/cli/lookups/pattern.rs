//! Patterns for names of files, as shells, `glob()`, `find` and CMake have them. Which characters a
//! pattern matches may depend on the locale of the process: what is not certain matches.

use crate::bytes;

/// Characters that make a pattern of a word.
pub const META: &[char] = &['*', '?', '['];

/// A pattern. `*` matches within a component of a path, `**` matches across components, and a
/// backslash makes the next character an ordinary one.
#[derive(Clone, Debug)]
pub struct Pattern {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Byte(u8),
    One(Class),
    /// Anything but a slash.
    Some,
    /// Anything.
    Deep,
    /// Nothing, or anything with a slash behind it.
    Directories,
}

/// The characters that one place of a pattern matches.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Class {
    ascii: [bool; 128],
    /// Characters of several bytes, and bytes that are no character, are not told apart.
    others: bool,
}

impl Class {
    fn any() -> Self {
        let mut ascii = [true; 128];
        ascii[usize::from(b'/')] = false;
        Self { ascii, others: true }
    }

    /// The class between brackets. A named class, an equivalence and a collating symbol may be
    /// any character. So may a range of letters be any letter, in some locales.
    fn of(text: &[char]) -> Self {
        let (is_negated, text) = match text {
            ['!' | '^', rest @ ..] => (true, rest),
            text => (false, text),
        };
        let is_special = text.windows(2).any(|pair| pair[0] == '[' && ":=.".contains(pair[1]));
        if is_special {
            return Self::any();
        }
        let mut class = Self { ascii: [false; 128], others: is_negated };
        let mut at = 0;
        while at < text.len() {
            if text[at] == '\\' && at + 1 < text.len() {
                at += 1;
            }
            let first = text[at];
            if at + 2 < text.len() && text[at + 1] == '-' {
                let escaped = usize::from(text[at + 2] == '\\' && at + 3 < text.len());
                class.add_range(first, text[at + 2 + escaped]);
                at += 3 + escaped;
                continue;
            }
            match u8::try_from(first).ok().filter(u8::is_ascii) {
                Some(byte) => class.ascii[usize::from(byte)] = true,
                None => class.others = true,
            }
            at += 1;
        }
        if is_negated {
            // Where letters were added for the sake of a locale, both may be right.
            let has_range = text.windows(3).any(|three| three[1] == '-');
            match has_range {
                true => return Self::any(),
                false => class.ascii.iter_mut().for_each(|is_in| *is_in = !*is_in),
            }
            class.ascii[usize::from(b'/')] = false;
        }
        class
    }

    fn add_range(&mut self, first: char, last: char) {
        self.others = true;
        let is_letters = first.is_ascii_alphabetic() && last.is_ascii_alphabetic();
        let is_digits = first.is_ascii_digit() && last.is_ascii_digit();
        for byte in 0..128u8 {
            let is_between = (first..=last).contains(&char::from(byte));
            let is_like = match is_letters {
                true => byte.is_ascii_alphabetic(),
                false => !is_digits && byte.is_ascii_alphanumeric(),
            };
            let is_in = is_between || is_like;
            self.ascii[usize::from(byte)] |= is_in && byte != b'/';
        }
    }

    fn has(&self, byte: u8) -> bool {
        self.ascii.get(usize::from(byte)).copied().unwrap_or(self.others)
    }
}

impl Pattern {
    pub fn new(text: &str) -> Self {
        let text: Vec<char> = text.chars().collect();
        let mut parts = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            let is_start = at == 0 || text[at - 1] == '/';
            let length = match rest {
                ['*', '*', '/', ..] if is_start => {
                    parts.push(Part::Directories);
                    3
                }
                ['*', '*', ..] => {
                    parts.push(Part::Deep);
                    2
                }
                ['*', ..] => {
                    parts.push(Part::Some);
                    1
                }
                ['?', ..] => {
                    parts.push(Part::One(Class::any()));
                    1
                }
                ['[', ..] => match end_of_class(rest) {
                    Some(end) => {
                        parts.push(Part::One(Class::of(&rest[1..end])));
                        end + 1
                    }
                    None => {
                        push_bytes(&mut parts, '[');
                        1
                    }
                },
                ['\\', escaped, ..] => {
                    push_bytes(&mut parts, *escaped);
                    2
                }
                [other, ..] => {
                    push_bytes(&mut parts, *other);
                    1
                }
                [] => break,
            };
            at += length;
        }
        Self { parts }
    }

    pub fn is_match(&self, name: &str) -> bool {
        self.run(&bytes::of_text(name)).contains(&self.parts.len())
    }

    /// Whether the pattern may match something below a directory.
    pub fn is_match_below(&self, directory: &str) -> bool {
        let name = format!("{directory}/");
        !self.run(&bytes::of_text(&name)).is_empty()
    }

    /// The places of the pattern that may come next behind these bytes.
    fn run(&self, name: &[u8]) -> Vec<usize> {
        let mut places = Vec::new();
        self.add(&mut places, 0);
        for byte in name {
            let mut next = Vec::new();
            for place in places {
                match &self.parts.get(place) {
                    Some(Part::Byte(wanted)) if wanted == byte => self.add(&mut next, place + 1),
                    Some(Part::One(class)) if class.has(*byte) => {
                        self.add(&mut next, place + 1);
                        // It may be a byte of a longer character.
                        if !byte.is_ascii() {
                            self.add(&mut next, place);
                        }
                    }
                    Some(Part::Some) if *byte != b'/' => self.add(&mut next, place),
                    Some(Part::Deep) => self.add(&mut next, place),
                    Some(Part::Directories) => {
                        if !next.contains(&place) {
                            next.push(place);
                        }
                        if *byte == b'/' {
                            self.add(&mut next, place + 1);
                        }
                    }
                    _ => {}
                }
            }
            if next.is_empty() {
                return next;
            }
            places = next;
        }
        places
    }

    /// Adds a place, and those behind it that nothing need match before.
    fn add(&self, places: &mut Vec<usize>, place: usize) {
        if places.contains(&place) {
            return;
        }
        places.push(place);
        if matches!(self.parts.get(place), Some(Part::Some | Part::Deep | Part::Directories)) {
            self.add(places, place + 1);
        }
    }
}

fn push_bytes(parts: &mut Vec<Part>, character: char) {
    let text = character.to_string();
    parts.extend(bytes::of_text(&text).iter().map(|byte| Part::Byte(*byte)));
}

/// Where a class ends that begins here. Without an end the bracket is an ordinary character.
fn end_of_class(text: &[char]) -> Option<usize> {
    let mut at = 1 + usize::from(matches!(text.get(1), Some('!' | '^')));
    let first = at;
    loop {
        match text.get(at)? {
            ']' if at > first => return Some(at),
            '/' => return None,
            '[' if matches!(text.get(at + 1), Some(':' | '=' | '.')) => {
                let kind = text[at + 1];
                let inside = text[at + 2..].windows(2);
                match { inside }.position(|pair| pair[0] == kind && pair[1] == ']') {
                    Some(length) => at += 2 + length + 2,
                    None => at += 1,
                }
            }
            '\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Whether a part of a pattern is more than an ordinary word.
pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?']) || text.contains('[') && text.contains(']')
}

/// A name as a pattern that matches nothing else.
pub fn escape(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for character in name.chars() {
        if "*?[]\\".contains(character) {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

/// The directories of a pattern before its first part that is one.
pub fn before_pattern(text: &str) -> String {
    let parts: Vec<&str> = text.split('/').take_while(|part| !part.contains(META)).collect();
    if parts.is_empty() { String::from(".") } else { parts.join("/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, matching: &[&str], others: &[&str]) {
        let compiled = Pattern::new(pattern);
        matching.iter().for_each(|name| assert!(compiled.is_match(name), "{pattern} {name}"));
        others.iter().for_each(|name| assert!(!compiled.is_match(name), "{pattern} {name}"));
    }

    #[test]
    fn patterns_match_names() {
        check("a/*.txt", &["a/1.txt", "a/.txt"], &["a/b/1.txt", "b/1.txt", "a/1.txt~"]);
        check("**/*.txt", &["1.txt", "a/1.txt", "a/b/1.txt"], &["a/b/1.c"]);
        check("a/**/x", &["a/x", "a/b/c/x"], &["a/bx", "ax"]);
        check("a/b**", &["a/b", "a/bc/d"], &["a/c"]);
        check("a?c", &["abc", "a\u{e4}c", "a\u{10ffe9}c"], &["ac", "abbc", "a/c"]);
        check("[a-c]1", &["b1", "z1", "\u{e4}1"], &["11", "b"]);
        check("[0-9]x", &["5x"], &["ax", "x"]);
        check("[[:digit:]]x", &["5x"], &["x", "55x"]);
        check("[!a]x", &["bx", "\u{10ffe9}x"], &["ax"]);
        check("[]a]", &["]", "a"], &["b"]);
        check("[*]", &["*"], &["a"]);
        check("a[b", &["a[b"], &["ab"]);
        check("\\*\\{", &["*{"], &["a{"]);
        check("{a,b}", &["{a,b}"], &["a"]);
        check("\u{10ffe4}*", &["\u{10ffe4}1"], &["\u{e4}1"]);
        check("[\u{e4}\u{f6}].x", &["\u{f6}.x"], &["o.x"]);
        check(&escape("a[1]*\\b"), &["a[1]*\\b"], &["a1x\\b"]);
    }

    #[test]
    fn patterns_match_below_directories() {
        let below = |pattern: &str, name: &str| Pattern::new(pattern).is_match_below(name);
        assert!(below("mods/*/*.txt", "mods/b"));
        assert!(below("mods/**/*.txt", "mods/b/c"));
        assert!(!below("mods/*.txt", "mods/b"));
        assert!(!below("mods/*/*.txt", "other"));
    }
}
