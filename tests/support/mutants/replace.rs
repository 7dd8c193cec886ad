//! What a token is replaced by to make a mutant.
//!
//! Each replacement changes the meaning, or at least can, and most often still
//! compiles. None adds or removes a line: numbers of lines are not a change by
//! default, so a mutant must not depend on them.

use super::outline::{Tokens, split};
use super::tokens::{Token, TokenKind};
use std::collections::BTreeMap;

/// Functions of the C library that can stand for each other.
const LIBRARY: &[&[&str]] = &[
    &["isdigit", "isalpha", "isalnum"],
    &["floor", "fabs", "sqrt"],
    &["strspn", "strcspn"],
    &["strcmp", "strcoll"],
    &["strchr", "strrchr"],
    &["putchar", "tolower"],
];

/// A constant of another value: the next number or character, a longer text.
pub fn constant(token: &Token) -> Option<String> {
    let text = token.text;
    match token.kind {
        TokenKind::Number => Some(match text.parse::<u64>() {
            Ok(number) => (number + 1).to_string(),
            Err(_) => format!("1{text}"),
        }),
        TokenKind::Char => match text.as_bytes() {
            [_, c, _] if c.is_ascii_alphabetic() => Some(format!("'{}'", char::from(c ^ 1))),
            _ => Some(String::from("'@'")),
        },
        TokenKind::Text => Some(format!("{}x\"", &text[..text.len() - 1])),
        _ => None,
    }
}

/// Another operator. Binary ones have blanks on both sides in the sample, which
/// tells `a * b` from `char *b`.
pub fn operator(token: &Token, text: &str) -> Option<&'static str> {
    let is_blank = |at: Option<&u8>| at.is_some_and(u8::is_ascii_whitespace);
    let bytes = text.as_bytes();
    let is_binary =
        token.start > 0 && is_blank(bytes.get(token.start - 1)) && is_blank(bytes.get(token.end()));
    if token.kind != TokenKind::Sign {
        return None;
    }
    Some(match (token.text, is_binary) {
        ("+", true) => "-",
        ("-", true) => "+",
        ("*", true) | ("%", true) => "/",
        ("/", true) => "*",
        ("<", true) => "<=",
        ("<=", true) => "<",
        (">", true) => ">=",
        (">=", true) => ">",
        ("==", true) => "!=",
        ("!=", true) => "==",
        ("&&", true) => "||",
        ("||", true) => "&&",
        ("&", true) => "|",
        ("+=", true) => "-=",
        ("-=", true) => "+=",
        ("*=", true) => "/=",
        ("/=", true) => "*=",
        ("++", _) => "--",
        ("--", _) => "++",
        ("!", _) => "!!",
        _ => return None,
    })
}

/// Another type in the place of token `at` of a declaration, narrow enough to
/// lose what the program keeps in it. What pointers point to stays.
pub fn type_name(declaration: Tokens, at: usize) -> Option<&'static str> {
    let next = declaration.get(at + 1)?;
    if next.is("*") {
        return None;
    }
    match declaration[at].text {
        "double" => Some("int"),
        "int" | "size_t" => Some("_Bool"),
        // A bit-field of one bit that is set becomes negative.
        "unsigned" => Some("int"),
        "char" => Some("short"),
        // The name of a type of the project: only its enumerations compile.
        word if word.starts_with(|c: char| c.is_ascii_uppercase()) => {
            (next.kind == TokenKind::Word).then_some("_Bool")
        }
        _ => None,
    }
}

/// For each function the one that a call of it is turned to: the next one of
/// the same file and signature.
#[derive(Default)]
pub struct CallTargets {
    targets: BTreeMap<String, String>,
}

impl CallTargets {
    /// From the heads of all items, each with the name of its file.
    pub fn of<'a>(heads: impl Iterator<Item = (&'a str, Tokens<'a>)>) -> Self {
        let mut groups: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
        for (file, head) in heads {
            if let Some((name, signature)) = signature(head) {
                let group = groups.entry((file.to_string(), signature)).or_default();
                if !group.contains(&name) {
                    group.push(name);
                }
            }
        }
        let library =
            LIBRARY.iter().map(|group| group.iter().map(|name| name.to_string()).collect());
        let mut targets = BTreeMap::new();
        for group in groups.into_values().chain(library) {
            for (index, name) in group.iter().enumerate() {
                let next = &group[(index + 1) % group.len()];
                if next != name {
                    targets.insert(name.clone(), next.clone());
                }
            }
        }
        Self { targets }
    }

    pub fn other(&self, token: &Token) -> Option<&str> {
        let is_word = token.kind == TokenKind::Word;
        self.targets.get(token.text).filter(|_| is_word).map(String::as_str)
    }
}

/// The name of a function, and its types without the names of the parameters.
fn signature(head: Tokens) -> Option<(String, String)> {
    let open = head.iter().position(|token| token.is("("))?;
    let name = head[..open].last().filter(|t| t.kind == TokenKind::Word)?;
    if head[0].is("typedef") || head.iter().any(|token| token.is("{")) {
        return None;
    }
    let mut words: Vec<&str> = head[..open - 1]
        .iter()
        .map(|token| token.text)
        .filter(|word| !["static", "inline", "extern", "NO_RETURN"].contains(word))
        .collect();
    let close = super::outline::close(head, open);
    for parameter in split(&head[open + 1..close], ",") {
        let named = parameter.len() > 1 && parameter[parameter.len() - 1].kind == TokenKind::Word;
        let types = &parameter[..parameter.len() - usize::from(named)];
        words.push(",");
        words.extend(types.iter().map(|token| token.text));
    }
    Some((name.text.to_string(), words.join(" ")))
}
