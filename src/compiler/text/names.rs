//! What a file may include, read from its bytes without preprocessing.

use crate::bytes;
use memchr::memmem;

/// What the bytes of a file tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Names in `#include` and `__has_include`, taken or not.
    pub names: Vec<String>,
    /// The text it makes depends on what no stamp shows: the time, or whether a
    /// file is there whose name is computed.
    pub is_fickle: bool,
    /// It may be left out where another file has the same bytes and the same
    /// time, as `#pragma once` has it.
    pub may_be_once: bool,
    /// It names one of the macros that symbols stand for.
    pub names_symbol: bool,
}

const FICKLE: [&str; 5] = ["__DATE__", "__TIME__", "__TIMESTAMP__", "__has_embed", "??/"];
const BLANK: [u8; 4] = [b' ', b'\t', 0x0b, 0x0c];

pub fn told(bytes: &[u8]) -> Told {
    let joined = without_splices(bytes);
    let bytes = joined.as_deref().unwrap_or(bytes);
    let has = |what: &str| memmem::find(bytes, what.as_bytes()).is_some();
    let mut told = Told {
        is_fickle: FICKLE.iter().any(|what| has(what)),
        may_be_once: memmem::find_iter(bytes, b"once").any(|at| is_pragma(&bytes[..at])),
        names_symbol: crate::frontend::symbols::words().any(has),
        ..Told::default()
    };
    for at in memmem::find_iter(bytes, b"include") {
        told.include(bytes, at);
    }
    for at in memmem::find_iter(bytes, b"import") {
        if is_directive(&bytes[..at]) {
            told.may_be_once = true;
            told.names.extend(literal(skip(bytes, at + 6)));
        }
    }
    told.is_fickle |= memmem::find_iter(bytes, b"embed").any(|at| is_directive(&bytes[..at]));
    told
}

impl Told {
    /// One place where the word `include` stands.
    fn include(&mut self, bytes: &[u8], at: usize) {
        let (before, mut behind) = (&bytes[..at], at + b"include".len());
        if bytes[behind..].starts_with(b"_next") {
            behind += b"_next".len();
        }
        let rest = skip(bytes, behind);
        if before.ends_with(b"__has_") {
            // Only behind a parenthesis it asks for something.
            match rest.split_first() {
                Some((b'(', inside)) => match literal(skip(inside, 0)) {
                    Some(name) => self.names.push(name),
                    None => self.is_fickle = true,
                },
                Some((b'/', _)) => self.is_fickle = true,
                _ => {}
            }
        } else if is_directive(before) {
            // One whose name is computed is known by what it led to.
            self.names.extend(literal(rest));
        }
    }
}

/// Whether what stands before a word makes it a directive, perhaps.
fn is_directive(before: &[u8]) -> bool {
    let end = before.iter().rposition(|byte| !BLANK.contains(byte)).map_or(0, |at| at + 1);
    let before = &before[..end];
    before.ends_with(b"#") || before.ends_with(b"%:") || before.ends_with(b"*/")
}

/// Whether what stands before a word may make it a pragma, as directive or as
/// operator.
fn is_pragma(before: &[u8]) -> bool {
    let is_between = |byte: &u8| BLANK.contains(byte) || b"(\"".contains(byte);
    let end = before.iter().rposition(|byte| !is_between(byte)).map_or(0, |at| at + 1);
    before[..end].ends_with(b"ragma") || before[..end].ends_with(b"*/")
}

/// The bytes from a place on, without blanks and comments at their start.
fn skip(bytes: &[u8], from: usize) -> &[u8] {
    let mut rest = &bytes[from..];
    loop {
        let blanks = rest.iter().take_while(|byte| BLANK.contains(byte)).count();
        rest = &rest[blanks..];
        if !rest.starts_with(b"/*") {
            return rest;
        }
        match memmem::find(&rest[2..], b"*/") {
            Some(end) => rest = &rest[end + 4..],
            None => return rest,
        }
    }
}

/// The name in quotes or angle brackets at the start.
fn literal(bytes: &[u8]) -> Option<String> {
    let end = match bytes.first()? {
        b'"' => b'"',
        b'<' => b'>',
        _ => return None,
    };
    let line = bytes[1..].split(|byte| *byte == b'\n').next()?;
    let name = &line[..memchr::memchr(end, line)?];
    Some(bytes::to_text(name).into_owned())
}

/// The bytes with lines joined that a backslash continues, if there are any.
fn without_splices(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut from = 0;
    for at in memchr::memchr_iter(b'\\', bytes) {
        let rest = &bytes[at + 1..];
        let blanks = rest.iter().take_while(|b| BLANK.contains(b) || **b == b'\r').count();
        if rest.get(blanks) == Some(&b'\n') {
            out.extend_from_slice(&bytes[from..at]);
            from = at + 1 + blanks + 1;
        }
    }
    if from == 0 {
        return None;
    }
    out.extend_from_slice(&bytes[from..]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        told(text.as_bytes()).names
    }

    #[test]
    fn names_are_found_however_they_are_written() {
        assert_eq!(names("#include \"a.h\"\n  #  include <b/c.h> // x\n"), ["a.h", "b/c.h"]);
        assert_eq!(names("%:include_next /* x */ <d.h>\n#import \"e.h\"\n"), ["d.h", "e.h"]);
        assert_eq!(names("#inc\\\nlude \"f\\\n.h\"\n"), ["f.h"]);
        assert_eq!(names("/* x */ # /* y */ include \"g.h\"\n"), ["g.h"]);
        assert_eq!(names("we include \"nothing\" here\n"), [""; 0]);
    }

    #[test]
    fn what_is_asked_for_counts_and_what_is_computed_is_fickle() {
        let asked = told(b"#if defined(__has_include) && __has_include ( <x.h> )\n");
        assert_eq!((asked.names, asked.is_fickle), (vec![String::from("x.h")], false));
        assert!(!told(b"#ifdef __has_include\n").is_fickle);
        assert!(told(b"#if __has_include(NAME)\n").is_fickle);
        assert!(told(b"#define HAS(x) __has_include(x)\n").is_fickle);
        assert!(
            told(b"#if __has_include/**/(<x.h>)\n").is_fickle
                || !names("#if __has_include/**/(<x.h>)\n").is_empty()
        );
    }

    #[test]
    fn time_is_fickle_and_once_is_said() {
        assert!(told(b"const char *t = __TIME__;").is_fickle);
        assert!(told(b"x = __TIMEST\\\nAMP__;").is_fickle);
        assert!(told(b"# embed \"x\"").is_fickle);
        assert!(told(b"#pragma once\n").may_be_once);
        assert!(told(b"_Pragma ( \"once\")\n").may_be_once);
        assert!(!told(b"#pragma pack(1)\n/* once */\n").may_be_once);
        assert!(!told(b"int a;").may_be_once);
    }
}
