//! A tiny C tokenizer for the mutator.
//!
//! It exists so that a mutation never lands in a comment, and a string or a
//! preprocessor line is one piece that is changed on purpose or not at all. It
//! is deliberately not the front end of edgewise: what checks a tool must not
//! share its mistakes.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    Word,
    Number,
    /// A character constant.
    Char,
    /// A string.
    Text,
    Sign,
    /// A preprocessor line with the lines that continue it.
    Directive,
}

#[derive(Debug, Clone, Copy)]
pub struct Token<'a> {
    pub kind: TokenKind,
    pub text: &'a str,
    /// Byte offset in the text of the file.
    pub start: usize,
}

impl Token<'_> {
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// A word or a sign with this text.
    pub fn is(&self, text: &str) -> bool {
        matches!(self.kind, TokenKind::Word | TokenKind::Sign) && self.text == text
    }
}

/// Longer ones first.
const SIGNS: &[&str] = &[
    "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=",
];

/// Cuts C text into tokens; `offset` is where it stands in its file.
pub fn tokens(text: &str, offset: usize) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    // Nothing but white space and comments so far on this line.
    let mut line_is_empty = true;
    while at < bytes.len() {
        let rest = &text[at..];
        if let Some(comment) = comment(rest) {
            at += comment;
            continue;
        }
        if bytes[at].is_ascii_whitespace() || bytes[at] == b'\\' {
            line_is_empty |= bytes[at] == b'\n';
            at += 1;
            continue;
        }
        let (kind, length) = match bytes[at] {
            b'#' if line_is_empty => (TokenKind::Directive, directive(rest)),
            b'"' => (TokenKind::Text, quoted(rest)),
            b'\'' => (TokenKind::Char, quoted(rest)),
            b'0'..=b'9' => (TokenKind::Number, number(rest)),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => (TokenKind::Word, word(rest)),
            _ => (TokenKind::Sign, sign(rest)),
        };
        let length = length.min(rest.len());
        // Bytes of a character stay together.
        let length = (length..).find(|length| rest.is_char_boundary(*length)).unwrap_or(length);
        line_is_empty = false;
        found.push(Token { kind, text: &rest[..length], start: offset + at });
        at += length;
    }
    found
}

/// The length of the comment that the text begins with.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("/*") {
        Some(text.find("*/").map_or(text.len(), |end| end + 2))
    } else if text.starts_with("//") {
        Some(text.find('\n').unwrap_or(text.len()))
    } else {
        None
    }
}

fn directive(text: &str) -> usize {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        if !line.trim_end().ends_with('\\') {
            break;
        }
    }
    text[..end].trim_end().len()
}

fn quoted(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() && bytes[at] != bytes[0] {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

/// As the preprocessor has it: `1e-3` is one number.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        let signed = matches!(bytes[at], b'+' | b'-') && matches!(bytes[at - 1], b'e' | b'E');
        if !signed && bytes[at] != b'.' && !bytes[at].is_ascii_alphanumeric() {
            break;
        }
        at += 1;
    }
    at
}

fn word(text: &str) -> usize {
    text.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(text.len())
}

fn sign(text: &str) -> usize {
    SIGNS.iter().find(|sign| text.starts_with(**sign)).map_or(1, |sign| sign.len())
}

#[test]
fn comments_strings_and_directives_hide_what_is_in_them() {
    let text = "#define A(x) \\\n  (x + 1)\nint a /* - */ = 'x' <= \"a + \\\" b\"; // + 1\n+1e-3";
    let found: Vec<_> = tokens(text, 0).iter().map(|t| (t.kind, t.text)).collect();
    use TokenKind::{Char, Directive, Number, Sign, Text, Word};
    assert_eq!(
        found,
        [
            (Directive, "#define A(x) \\\n  (x + 1)"),
            (Word, "int"),
            (Word, "a"),
            (Sign, "="),
            (Char, "'x'"),
            (Sign, "<="),
            (Text, "\"a + \\\" b\""),
            (Sign, ";"),
            (Sign, "+"),
            (Number, "1e-3"),
        ]
    );
}
