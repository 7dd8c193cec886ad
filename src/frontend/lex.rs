//! Preprocessed text into tokens. Line markers go into the line map, pragmas
//! stand beside the tokens. Never fails: a byte that begins no token of C
//! becomes a one-byte punctuator, and the parser stumbles over it later.

use super::lines::LineMap;
use super::literal;
use super::names::{Name, Names};
use std::ops::Range;

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
    /// Pragmas, by the token they stand before.
    pub pragmas: Vec<PragmaAt>,
    pub names: Names,
    pub lines: LineMap,
    /// Offsets of digraphs, with what each stands for.
    pub digraphs: Vec<(u32, [u8; 2])>,
    /// Raw string literals that span lines, by their bytes, in order.
    pub raw: Vec<Range<usize>>,
}

#[derive(Clone, Debug)]
pub struct PragmaAt {
    pub token: u32,
    pub start: u32,
    pub end: u32,
}

/// Cuts preprocessed text into tokens.
pub fn lex(text: &[u8]) -> Tokens {
    let mut scanner = Scanner::new(text);
    let mut names = Names::for_text(text.len());
    let mut all = Vec::with_capacity(text.len() / 5);
    let mut pragmas = Vec::new();
    loop {
        let Raw { kind, start, end } = scanner.token();
        let name = match kind {
            Kind::Pragma => {
                pragmas.push(PragmaAt { token: all.len() as u32, start, end });
                continue;
            }
            Kind::Word => {
                let word = &text[start as usize..end as usize];
                if std::mem::take(&mut scanner.is_escaped) {
                    names.intern(&literal::spelled_out(word))
                } else {
                    names.intern(word)
                }
            }
            _ => Name(u32::MAX),
        };
        all.push(Token { start, end, kind, name });
        if kind == Kind::End {
            all.shrink_to_fit();
            names.shrink_to_fit();
            let Scanner { mut lines, digraphs, raw, .. } = scanner;
            lines.shrink_to_fit();
            return Tokens { all, pragmas, names, lines, digraphs, raw };
        }
    }
}

/// A token without its name.
pub struct Raw {
    pub kind: Kind,
    pub start: u32,
    pub end: u32,
}

enum Directive {
    Pragma,
    /// Nothing that anybody has to know.
    Nothing,
    Unknown,
}

/// Tokens one by one.
pub struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    line_start: bool,
    /// The second byte of a digraph, which is no part of any token.
    skip: usize,
    lines: LineMap,
    digraphs: Vec<(u32, [u8; 2])>,
    raw: Vec<Range<usize>>,
    /// Whether the last word has a character by its number (`\u00e9`).
    is_escaped: bool,
}

const fn starts_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn continues_word(byte: u8) -> bool {
    /// Looked up rather than computed: most bytes of a text are asked for.
    const IN_WORD: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = 0;
        while byte < table.len() {
            table[byte] = starts_word(byte as u8) || (byte as u8).is_ascii_digit();
            byte += 1;
        }
        table
    };
    IN_WORD[byte as usize]
}

impl<'t> Scanner<'t> {
    pub fn new(text: &'t [u8]) -> Self {
        let mut lines = LineMap::default();
        lines.newline(0);
        Self {
            text,
            at: 0,
            line_start: true,
            skip: 0,
            lines,
            digraphs: Vec::new(),
            raw: Vec::new(),
            is_escaped: false,
        }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// The next token; `End` again and again once the text is over.
    pub fn token(&mut self) -> Raw {
        self.at += std::mem::take(&mut self.skip);
        while let Some(byte) = self.text.get(self.at).copied() {
            let start = self.at;
            let kind = match byte {
                b'\n' => {
                    self.at += 1;
                    self.lines.newline(self.at);
                    self.line_start = true;
                    continue;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {
                    self.at += 1;
                    continue;
                }
                b'/' if self.peek(1) == b'*' => {
                    if self.block_comment() {
                        continue;
                    }
                    Kind::Punct
                }
                b'/' if self.peek(1) == b'/' => {
                    self.skip_line();
                    continue;
                }
                b'#' if self.line_start => match self.directive() {
                    Directive::Pragma => Kind::Pragma,
                    Directive::Nothing => continue,
                    Directive::Unknown => Kind::Punct,
                },
                b'"' => self.quoted(b'"', Kind::Text),
                b'\'' => self.quoted(b'\'', Kind::Char),
                b'0'..=b'9' => self.number(),
                b'.' if self.peek(1).is_ascii_digit() => self.number(),
                _ if starts_word(byte) => self.word(),
                b'\\' if literal::numbered(&self.text[start..]).is_some() => self.word(),
                _ => self.punctuator(),
            };
            self.line_start = false;
            return Raw { kind, start: start as u32, end: self.at as u32 };
        }
        let end = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        Raw { kind: Kind::End, start: end, end }
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    }

    /// Comments are gone from preprocessed text unless `-C` was given.
    /// False, with only its first byte taken, if one has no end.
    fn block_comment(&mut self) -> bool {
        let start = self.at;
        self.at += 2;
        while self.at < self.text.len() {
            if self.text[self.at] == b'*' && self.peek(1) == b'/' {
                self.at += 2;
                return true;
            }
            if self.text[self.at] == b'\n' {
                self.lines.newline(self.at + 1);
            }
            self.at += 1;
        }
        self.lines.forget_after(start);
        self.at = start + 1;
        false
    }

    /// A line that begins with `#`.
    fn directive(&mut self) -> Directive {
        let start = self.at;
        self.skip_line();
        let line = &self.text[start..self.at];
        if self.lines.marker(line, self.at + 1) {
            return Directive::Nothing;
        }
        let line = line[1..].trim_ascii_start();
        let length = line.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        match &line[..length] {
            b"pragma" => Directive::Pragma,
            // What preprocessors leave and compilers pass over.
            b"ident" | b"sccs" | b"define" | b"undef" | b"assert" | b"unassert" => {
                Directive::Nothing
            }
            b"" if line.is_empty() => Directive::Nothing,
            _ => {
                self.at = start + 1;
                Directive::Unknown
            }
        }
    }

    fn word(&mut self) -> Kind {
        let start = self.at;
        loop {
            let rest = &self.text[self.at..];
            self.at += rest.iter().position(|byte| !continues_word(*byte)).unwrap_or(rest.len());
            // Preprocessors write characters beyond ASCII by their numbers.
            let Some((_, length)) = literal::numbered(&self.text[self.at..]) else { break };
            self.at += length;
            self.is_escaped = true;
        }
        let word = &self.text[start..self.at];
        let is_raw = word.len() <= 3 && matches!(word, b"R" | b"LR" | b"uR" | b"UR" | b"u8R");
        if is_raw && self.raw_string(start) {
            return Kind::Text;
        }
        if word.len() <= 2 && matches!(word, b"L" | b"u" | b"U" | b"u8") {
            match self.peek(0) {
                b'"' => return self.quoted(b'"', Kind::Text),
                b'\'' => return self.quoted(b'\'', Kind::Char),
                _ => {}
            }
        }
        Kind::Word
    }

    /// `"delimiter(text)delimiter"` behind a prefix that ends with `R`. False, with
    /// nothing taken, if there is no such literal.
    fn raw_string(&mut self, start: usize) -> bool {
        const LONGEST_DELIMITER: usize = 16;
        let Some(rest) = self.text[self.at..].strip_prefix(b"\"") else { return false };
        let open = rest.iter().take(LONGEST_DELIMITER + 1).position(|byte| *byte == b'(');
        let Some(open) = open else { return false };
        let delimiter = &rest[..open];
        let is_allowed = |byte: &u8| byte.is_ascii_graphic() && !b"()\\\"".contains(byte);
        let end = [b")", delimiter, b"\""].concat();
        let length = memchr::memmem::find(&rest[open..], &end);
        let Some(length) = length.filter(|_| delimiter.iter().all(is_allowed)) else {
            return false;
        };
        self.at += 1 + open + length + end.len();
        let literal = &self.text[start..self.at];
        let mut spans_lines = false;
        for newline in memchr::memchr_iter(b'\n', literal) {
            self.lines.newline(start + newline + 1);
            spans_lines = true;
        }
        if spans_lines {
            self.raw.push(start..self.at);
        }
        true
    }

    fn number(&mut self) -> Kind {
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
        Kind::Number
    }

    /// A literal whose opening quote is at the current place. One that is not
    /// finished ends with the line, and is none.
    fn quoted(&mut self, quote: u8, kind: Kind) -> Kind {
        self.at += 1;
        while self.at < self.text.len() {
            match self.text[self.at] {
                b'\\' if self.peek(1) != b'\n' => self.at += 2,
                b'\n' => break,
                byte => {
                    self.at += 1;
                    if byte == quote {
                        return kind;
                    }
                }
            }
        }
        self.at = self.at.min(self.text.len());
        Kind::Punct
    }

    fn punctuator(&mut self) -> Kind {
        let (first, second, third) = (self.peek(0), self.peek(1), self.peek(2));
        let length = match (first, second) {
            (b'.', b'.') if third == b'.' => 3,
            (b'<', b'<') | (b'>', b'>') => 2 + usize::from(third == b'='),
            (b'-', b'>' | b'-' | b'=')
            | (b'+', b'+' | b'=')
            | (b'&', b'&' | b'=')
            | (b'|', b'|' | b'=')
            | (b'<' | b'>' | b'=' | b'!' | b'*' | b'/' | b'%' | b'^', b'=')
            | (b'#', b'#') => 2,
            (b'<', b':') => self.digraph(*b"[ "),
            (b':', b'>') => self.digraph(*b"] "),
            (b'<', b'%') => self.digraph(*b"{ "),
            (b'%', b'>') => self.digraph(*b"} "),
            _ => 1,
        };
        self.at += length;
        Kind::Punct
    }

    /// Another spelling of a bracket: both its bytes have to be overwritten, and
    /// the token is the first.
    fn digraph(&mut self, meaning: [u8; 2]) -> usize {
        self.digraphs.push((self.at as u32, meaning));
        self.skip = 1;
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        let tokens = lex(source.as_bytes());
        let texts = tokens.all.iter().filter(|t| t.kind != Kind::End);
        texts.map(|t| source[t.start as usize..t.end as usize].to_string()).collect()
    }

    #[test]
    fn splits_as_c_does() {
        assert_eq!(texts("a+++b>>=1.5e-3"), ["a", "++", "+", "b", ">>=", "1.5e-3"]);
        assert_eq!(texts(r#"L"x\"y" u8"z" 'a' '\''"#), [r#"L"x\"y""#, r#"u8"z""#, "'a'", r"'\''"]);
    }

    #[test]
    fn line_markers_and_pragmas_are_no_tokens() {
        let source = "# 1 \"a.c\"\nint x;\n#pragma pack(1)\ny";
        assert_eq!(texts(source), ["int", "x", ";", "y"]);
        let pragmas = lex(source.as_bytes()).pragmas;
        assert_eq!(pragmas.iter().map(|pragma| pragma.token).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn digraphs_are_brackets() {
        let found = lex(b"a<:1:> <% %> a<::b").digraphs;
        let places: Vec<u32> = found.iter().map(|(at, _)| *at).collect();
        assert_eq!(places, [1, 4, 7, 10, 14]);
    }

    #[test]
    fn raw_strings_end_with_their_delimiter() {
        let source = "R\"(a\"b)\" uR\"x()\"\n# 5\n)x\" R LR\"y\"\nz";
        let expected = ["R\"(a\"b)\"", "uR\"x()\"\n# 5\n)x\"", "R", "LR", "\"y\"", "z"];
        assert_eq!(texts(source), expected);
        assert_eq!(lex(source.as_bytes()).raw.len(), 1);
    }

    #[test]
    fn characters_by_their_numbers_are_part_of_words() {
        let source = "gr\\U000000f6\\u00dfe größe \\u00e9 \\ux";
        let tokens = lex(source.as_bytes());
        let words: Vec<String> =
            tokens.all[..3].iter().map(|token| tokens.names.string(token.name)).collect();
        assert_eq!(words, ["größe", "größe", "é"]);
        assert_eq!(tokens.all[3].kind, Kind::Punct);
    }

    #[test]
    fn unfinished_literals_end_with_the_line() {
        assert_eq!(texts("\"ab\ncd"), ["\"ab", "cd"]);
        assert_eq!(texts("'\\"), ["'\\"]);
    }
}
