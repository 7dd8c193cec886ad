//! Preprocessed text into tokens. Line markers go into the line map, pragmas
//! become tokens of their own. Never fails: a byte that begins no token of C
//! becomes a one-byte punctuator, and the parser stumbles over it later.

use super::lines::LineMap;
use super::names::{Name, Names};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An identifier or keyword.
    Word,
    Number,
    /// A string literal, with its prefix.
    Text,
    /// A character constant, with its prefix.
    Char,
    Punct,
    /// A whole `#pragma` line.
    Pragma,
    /// One past the last token.
    End,
}

#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub start: u32,
    pub end: u32,
    pub kind: Kind,
    /// The name of a word; for other kinds without meaning.
    pub name: Name,
}

pub struct Tokens {
    pub all: Vec<Token>,
    pub names: Names,
    pub lines: LineMap,
}

/// Cuts preprocessed text into tokens.
pub fn lex(text: &[u8]) -> Tokens {
    let mut lexer = Lexer {
        text,
        at: 0,
        tokens: Vec::with_capacity(text.len() / 5),
        names: Names::default(),
        lines: LineMap::default(),
    };
    lexer.run();
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    lexer.tokens.push(Token { start: end, end, kind: Kind::End, name: Name(u32::MAX) });
    Tokens { all: lexer.tokens, names: lexer.names, lines: lexer.lines }
}

struct Lexer<'t> {
    text: &'t [u8],
    at: usize,
    tokens: Vec<Token>,
    names: Names,
    lines: LineMap,
}

fn starts_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn continues_word(byte: u8) -> bool {
    starts_word(byte) || byte.is_ascii_digit()
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn run(&mut self) {
        let mut line_start = true;
        self.lines.newline(0);
        while self.at < self.text.len() {
            let byte = self.text[self.at];
            match byte {
                b'\n' => {
                    self.at += 1;
                    self.lines.newline(self.at);
                    line_start = true;
                    continue;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {
                    self.at += 1;
                    continue;
                }
                b'#' if line_start => self.directive(),
                b'/' if self.peek(1) == b'*' => self.block_comment(),
                b'/' if self.peek(1) == b'/' => self.skip_line(),
                b'"' => self.quoted(self.at, b'"', Kind::Text),
                b'\'' => self.quoted(self.at, b'\'', Kind::Char),
                b'0'..=b'9' => self.number(),
                b'.' if self.peek(1).is_ascii_digit() => self.number(),
                _ if starts_word(byte) => self.word(),
                _ => self.punctuator(),
            }
            line_start = false;
        }
    }

    fn push(&mut self, start: usize, kind: Kind, name: Name) {
        self.tokens.push(Token { start: start as u32, end: self.at as u32, kind, name });
    }

    fn skip_line(&mut self) {
        while self.at < self.text.len() && self.text[self.at] != b'\n' {
            self.at += 1;
        }
    }

    /// Comments are gone from preprocessed text unless `-C` was given.
    fn block_comment(&mut self) {
        self.at += 2;
        while self.at < self.text.len() {
            if self.text[self.at] == b'*' && self.peek(1) == b'/' {
                self.at += 2;
                return;
            }
            if self.text[self.at] == b'\n' {
                self.lines.newline(self.at + 1);
            }
            self.at += 1;
        }
    }

    /// A line that begins with `#`: a line marker, or a pragma.
    fn directive(&mut self) {
        let start = self.at;
        self.skip_line();
        let line = &self.text[start..self.at];
        if self.lines.marker(line, self.at + 1) {
            return;
        }
        let word = line[1..].trim_ascii_start();
        if word.starts_with(b"pragma") {
            self.push(start, Kind::Pragma, Name(u32::MAX));
        }
    }

    fn word(&mut self) {
        let start = self.at;
        while self.at < self.text.len() && continues_word(self.text[self.at]) {
            self.at += 1;
        }
        let word = &self.text[start..self.at];
        if word.len() <= 2 && matches!(word, b"L" | b"u" | b"U" | b"u8") {
            match self.peek(0) {
                b'"' => return self.quoted(start, b'"', Kind::Text),
                b'\'' => return self.quoted(start, b'\'', Kind::Char),
                _ => {}
            }
        }
        let name = self.names.intern(word);
        self.push(start, Kind::Word, name);
    }

    fn number(&mut self) {
        let start = self.at;
        while self.at < self.text.len() {
            let byte = self.text[self.at];
            let sign_of_exponent = matches!(byte, b'+' | b'-')
                && matches!(self.text[self.at - 1], b'e' | b'E' | b'p' | b'P')
                && self.at > start;
            let separator = byte == b'\'' && continues_word(self.peek(1));
            if !(continues_word(byte) || byte == b'.' || sign_of_exponent || separator) {
                break;
            }
            self.at += 1;
        }
        self.push(start, Kind::Number, Name(u32::MAX));
    }

    /// A literal from `start` whose opening quote is at the current place. It
    /// ends at the closing quote, or unfinished at the end of the line.
    fn quoted(&mut self, start: usize, quote: u8, kind: Kind) {
        self.at += 1;
        while self.at < self.text.len() {
            match self.text[self.at] {
                b'\\' if self.peek(1) != b'\n' => self.at += 2,
                b'\n' => break,
                byte => {
                    self.at += 1;
                    if byte == quote {
                        break;
                    }
                }
            }
        }
        self.at = self.at.min(self.text.len());
        self.push(start, kind, Name(u32::MAX));
    }

    fn punctuator(&mut self) {
        const THREE: [&[u8; 3]; 3] = [b"...", b"<<=", b">>="];
        const TWO: [&[u8; 2]; 20] = [
            b"->", b"++", b"--", b"<<", b">>", b"<=", b">=", b"==", b"!=", b"&&", b"||", b"+=",
            b"-=", b"*=", b"/=", b"%=", b"&=", b"|=", b"^=", b"##",
        ];
        let start = self.at;
        let rest = &self.text[start..];
        self.at += if THREE.iter().any(|p| rest.starts_with(*p)) {
            3
        } else if TWO.iter().any(|p| rest.starts_with(*p)) {
            2
        } else {
            1
        };
        self.push(start, Kind::Punct, Name(u32::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        let tokens = lex(source.as_bytes());
        tokens
            .all
            .iter()
            .filter(|t| t.kind != Kind::End)
            .map(|t| source[t.start as usize..t.end as usize].to_string())
            .collect()
    }

    #[test]
    fn splits_as_c_does() {
        assert_eq!(texts("a+++b>>=1.5e-3"), ["a", "++", "+", "b", ">>=", "1.5e-3"]);
        assert_eq!(texts(r#"L"x\"y" u8"z" 'a' '\''"#), [r#"L"x\"y""#, r#"u8"z""#, "'a'", r"'\''"]);
    }

    #[test]
    fn line_markers_are_no_tokens_and_pragmas_are_one() {
        assert_eq!(
            texts("# 1 \"a.c\"\nint x;\n#pragma pack(1)\ny"),
            ["int", "x", ";", "#pragma pack(1)", "y"]
        );
    }

    #[test]
    fn unfinished_literals_end_with_the_line() {
        assert_eq!(texts("\"ab\ncd"), ["\"ab", "cd"]);
        assert_eq!(texts("'\\"), ["'\\"]);
    }
}
