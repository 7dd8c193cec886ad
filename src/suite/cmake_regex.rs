//! Regular expressions of CMake in the words of the `regex` crate. CMake knows
//! `^ $ . [] * + ? | ()` and a backslash before any byte, and nothing else: `{`
//! is a brace, `\d` is a d, and there are no classes within brackets.

/// Groups that CMake has room for, in its newer versions.
const GROUPS_MAX: usize = 31;

/// Translates an expression. What CMake itself rejects is an error: it would
/// then find it nowhere.
pub fn translate(expression: &str) -> Result<String, String> {
    let mut translator =
        Translator { rest: expression.as_bytes(), out: String::from("(?s-u)"), groups: 0 };
    translator.alternatives()?;
    if !translator.rest.is_empty() {
        return Err(String::from("a `)` has no `(`"));
    }
    Ok(translator.out)
}

struct Translator<'a> {
    rest: &'a [u8],
    out: String,
    groups: usize,
}

impl Translator<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Whether what follows takes at least one byte, as CMake reckons.
    fn alternatives(&mut self) -> Result<bool, String> {
        let mut has_width = self.branch()?;
        while self.peek() == Some(b'|') {
            self.next();
            self.out.push('|');
            has_width &= self.branch()?;
        }
        Ok(has_width)
    }

    fn branch(&mut self) -> Result<bool, String> {
        let mut has_width = false;
        while let Some(byte) = self.peek() {
            if [b'|', b')'].contains(&byte) {
                break;
            }
            has_width |= self.piece()?;
        }
        Ok(has_width)
    }

    fn piece(&mut self) -> Result<bool, String> {
        let has_width = self.atom()?;
        let Some(operator) = self.peek().filter(|byte| b"*+?".contains(byte)) else {
            return Ok(has_width);
        };
        self.next();
        if !has_width && operator != b'?' {
            return Err(String::from("what `*` or `+` repeats could be empty"));
        }
        if self.peek().is_some_and(|byte| b"*+?".contains(&byte)) {
            return Err(String::from("`*`, `+` or `?` follows another"));
        }
        self.out.push(char::from(operator));
        Ok(operator == b'+' && has_width)
    }

    fn atom(&mut self) -> Result<bool, String> {
        match self.next() {
            Some(anchor @ (b'^' | b'$')) => {
                // In a group, since it must not be repeated without one.
                self.out.push_str(if anchor == b'^' { "(?:^)" } else { "(?:$)" });
                Ok(false)
            }
            Some(b'.') => {
                self.out.push('.');
                Ok(true)
            }
            Some(b'[') => self.set().map(|()| true),
            Some(b'(') => {
                self.groups += 1;
                if self.groups > GROUPS_MAX {
                    return Err(String::from("too many groups"));
                }
                self.out.push_str("(?:");
                let has_width = self.alternatives()?;
                match self.next() {
                    Some(b')') => self.out.push(')'),
                    _ => return Err(String::from("a `(` has no `)`")),
                }
                Ok(has_width)
            }
            Some(b'*' | b'+' | b'?') => Err(String::from("`*`, `+` or `?` follows nothing")),
            Some(b'\\') => {
                let byte = self.next().ok_or("a backslash is the end of it")?;
                self.byte(byte);
                Ok(true)
            }
            Some(byte) => {
                self.byte(byte);
                Ok(true)
            }
            None => Err(String::from("it ends too early")),
        }
    }

    /// What stands behind `[`. A backslash is a backslash.
    fn set(&mut self) -> Result<(), String> {
        const UNMATCHED: &str = "a `[` has no `]`";
        self.out.push('[');
        if self.peek() == Some(b'^') {
            self.next();
            self.out.push('^');
        }
        let mut last = None;
        if let Some(first @ (b']' | b'-')) = self.peek() {
            self.next();
            self.byte(first);
            last = Some(first);
        }
        loop {
            let byte = self.next().ok_or(UNMATCHED)?;
            match (byte, self.peek(), last) {
                (b']', _, _) => break,
                (b'-', Some(end), Some(start)) if end != b']' => {
                    self.next();
                    if start > end {
                        return Err(String::from("a range within `[]` goes backwards"));
                    }
                    self.out.push_str(&format!("\\x{start:02x}-\\x{end:02x}"));
                    last = Some(end);
                }
                _ => {
                    self.byte(byte);
                    last = Some(byte);
                }
            }
        }
        self.out.push(']');
        Ok(())
    }

    fn byte(&mut self, byte: u8) {
        if byte.is_ascii_alphanumeric() {
            self.out.push(char::from(byte));
        } else {
            self.out.push_str(&format!("\\x{byte:02x}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::bytes::Regex;

    fn matches(expression: &str, text: &str) -> bool {
        let translated = translate(expression).unwrap();
        Regex::new(&translated).unwrap().is_match(text.as_bytes())
    }

    #[test]
    fn what_is_special_elsewhere_is_not_here() {
        assert!(matches("b{2}", "ab{2}c"));
        assert!(!matches("b{2}", "bb"));
        assert!(matches("\\d", "d"));
        assert!(!matches("\\d", "1"));
        assert!(matches("a~&#-z", "a~&#-z"));
    }

    #[test]
    fn anchors_are_those_of_the_text() {
        assert!(matches("^a", "a\nb"));
        assert!(!matches("^b", "a\nb"));
        assert!(!matches("a$", "a\nb"));
        assert!(matches("a.b", "a\nb"));
        assert!(matches("x|^$", ""));
    }

    #[test]
    fn sets() {
        assert!(matches("[]a]+$", "]a]"));
        assert!(matches("^[^]a]$", "b"));
        assert!(matches("^[-a]$", "-"));
        assert!(matches("^[a-]$", "-"));
        assert!(matches("^[\\d]$", "\\"));
        assert!(matches("^[[:digit:]]$", "g]"));
        assert!(matches("[0-9a-f]+h", "1fh"));
        assert!(matches("^[ä]+$", "ä"));
    }

    #[test]
    fn repeats_and_groups() {
        assert!(matches("^(ab)+(c|d)?$", "ababd"));
        assert!(matches("^(a|b)*$", "abba"));
    }

    #[test]
    fn what_cmake_rejects_is_rejected() {
        for expression in
            ["(?:x)", "(a*)*", "a**", "*a", "a)", "(a", "[a", "a\\", "[b-a]", "^*", "(a|b*)+"]
        {
            assert!(translate(expression).is_err(), "{expression}");
        }
    }
}
