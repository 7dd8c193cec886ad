//! Bytes as text without loss. Names of files, arguments and what runners print may be any
//! bytes; records, histories and reports are text.
//!
//! A byte that is not part of valid UTF-8 becomes the character U+10FF00 plus the byte, which
//! is one of the private use area. A character of that range in the input is taken apart into
//! its bytes, so that no two inputs have the same text.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

const BASE: u32 = 0x10_FF00;
/// The first byte, in UTF-8, of all characters that stand for bytes.
const FIRST: u8 = 0xF4;

/// The byte that a character stands for.
pub fn stands_for(character: char) -> Option<u8> {
    let number = (character as u32).checked_sub(BASE)?;
    u8::try_from(number).ok().filter(|byte| *byte >= 0x80)
}

fn push(text: &mut String, bytes: &[u8]) {
    text.extend(bytes.iter().filter_map(|byte| char::from_u32(BASE + u32::from(*byte))));
}

/// Bytes as text.
pub fn to_text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !may_stand_for_bytes(text) => return Cow::Borrowed(text),
        _ => {}
    }
    let mut text = String::with_capacity(bytes.len());
    for part in bytes.utf8_chunks() {
        for character in part.valid().chars() {
            match stands_for(character) {
                Some(_) => push(&mut text, character.encode_utf8(&mut [0; 4]).as_bytes()),
                None => text.push(character),
            }
        }
        push(&mut text, part.invalid());
    }
    Cow::Owned(text)
}

/// The bytes that a text stands for: undoes [`to_text`].
pub fn of_text(text: &str) -> Cow<'_, [u8]> {
    if !may_stand_for_bytes(text) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for character in text.chars() {
        match stands_for(character) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

fn may_stand_for_bytes(text: &str) -> bool {
    memchr::memchr(FIRST, text.as_bytes()).is_some()
}

/// A word of the system as text.
pub fn name(word: impl AsRef<OsStr>) -> String {
    to_text(word.as_ref().as_bytes()).into_owned()
}

/// The word of the system that a text stands for.
pub fn os(text: &str) -> Cow<'_, OsStr> {
    match of_text(text) {
        Cow::Borrowed(bytes) => Cow::Borrowed(OsStr::from_bytes(bytes)),
        Cow::Owned(bytes) => Cow::Owned(OsString::from_vec(bytes)),
    }
}

/// The same for several words.
pub fn all(words: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<OsString> {
    words.into_iter().map(|word| os(word.as_ref()).into_owned()).collect()
}

/// The path that a text stands for.
pub fn path(text: &str) -> Cow<'_, Path> {
    match os(text) {
        Cow::Borrowed(path) => Cow::Borrowed(Path::new(path)),
        Cow::Owned(path) => Cow::Owned(PathBuf::from(path)),
    }
}

/// A text for people: bytes are shown as `\xE9`.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !may_stand_for_bytes(text) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match stands_for(character) {
            Some(byte) => shown.push_str(&format!("\\x{byte:02X}")),
            None => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_inputs_have_the_same_text() {
        let inputs: &[&[u8]] = &[
            b"plain",
            "caf\u{e9}".as_bytes(),
            b"caf\xe9",
            b"caf\xe8",
            b"\xff\xfe",
            b"\xef\xbf\xbd",
            "\u{10ffe9}".as_bytes(),
            b"\\xE9",
            b"a\xc3",
            b"\xed\xa0\x80",
        ];
        let mut texts = std::collections::HashSet::new();
        for input in inputs {
            let text = to_text(input);
            assert_eq!(of_text(&text), *input);
            assert!(texts.insert(text.into_owned()), "{input:?}");
        }
        assert_eq!(to_text(b"caf\xe9"), "caf\u{10ffe9}");
        assert_eq!(shown(&to_text(b"caf\xe9")), "caf\\xE9");
    }
}
