//! Pragmas that change options in the middle of a text: `#pragma GCC target`, `optimize` and their kin.
//! They define macros for what follows (`__AVX2__`, `__OPTIMIZE__`). Older versions of gcc do that when they
//! compile, and not with `-E`. If something behind such a pragma may ask for such a macro, the
//! preprocessed text need not be the text that is compiled.

use super::preprocess::{Job, files_of};
use super::toolchain;
use crate::bytes;
use crate::frontend::lines::unquote;
use memchr::memmem;
use std::collections::BTreeMap;

/// Why a unit is left to the real compiler.
pub const UNSEEN: &str =
    "a pragma changes options, and `-E` does not show what the macros of these options select";

/// Whether macros that pragmas define may have chosen another text than this one.
pub fn may_choose_otherwise(job: &Job, text: &[u8]) -> bool {
    let pragmas = memmem::find_iter(text, b"#pragma GCC ");
    let mut words = pragmas.map(|at| &text[at + b"#pragma GCC ".len()..]);
    if !words.any(|rest| rest.starts_with(b"target") || rest.starts_with(b"optimize")) {
        return false;
    }
    // Its pragmas of this kind define nothing.
    if toolchain::identity(&job.compiler).is_clang {
        return false;
    }
    let stretches = Stretches::of(text);
    if stretches.found.is_empty() {
        return false;
    }
    let read = |file: &str| std::fs::read(job.directory.join(bytes::path(file)));
    let asks = stretches.found.iter().any(|stretch| match read(&stretch.file) {
        Ok(source) => asks_between(&source, stretch),
        Err(_) => true,
    });
    if asks || job.arguments.iter().any(|word| word.starts_with("-D") && names_macro(word)) {
        return true;
    }
    // A macro that is defined before the pragma may be used behind it.
    let own = files_of(text).into_iter().filter(|file| !is_of_system(file));
    { own }.any(|file| read(&file).is_ok_and(|source| definition_asks(&source)))
}

/// Lines of a file for which other options than those of the command are in force.
struct Stretch {
    file: String,
    first: u32,
    last: u32,
}

#[derive(Default)]
struct Stretches {
    found: Vec<Stretch>,
    /// The stretches that go on, by their files.
    open: BTreeMap<String, (u32, u32)>,
    is_active: bool,
    /// For each `push_options`, whether such options were in force.
    pushed: Vec<bool>,
}

impl Stretches {
    fn of(text: &[u8]) -> Self {
        let mut all = Self::default();
        let (mut file, mut line) = (String::new(), 0);
        for content in text.split(|byte| *byte == b'\n') {
            if let Some((number, name, flag)) = marker(content) {
                match flag {
                    Some(b'1') => all.note(&name, 0),
                    Some(b'2') => all.note(&file, u32::MAX),
                    _ => {}
                }
                (file, line) = (name, number);
                all.note(&file, line);
                continue;
            }
            if let Some(rest) = content.strip_prefix(b"#pragma GCC ")
                && !is_of_compiler(&file)
            {
                all.pragma(&bytes::to_text(rest), &file, line);
            }
            all.note(&file, line);
            line += 1;
        }
        all.note(&file, u32::MAX);
        all.end();
        all
    }

    fn note(&mut self, file: &str, line: u32) {
        if !self.is_active || file.starts_with('<') || is_of_compiler(file) {
            return;
        }
        match self.open.get_mut(file) {
            Some((first, last)) => (*first, *last) = ((*first).min(line), (*last).max(line)),
            None => drop(self.open.insert(file.to_string(), (line, line))),
        }
    }

    fn pragma(&mut self, words: &str, file: &str, line: u32) {
        let was_active = self.is_active;
        let word = words.split(|c: char| !(c.is_alphanumeric() || c == '_')).next();
        match word.unwrap_or_default() {
            "push_options" => self.pushed.push(was_active),
            "pop_options" => self.is_active = self.pushed.pop().unwrap_or(was_active),
            "reset_options" => self.is_active = false,
            "target" | "optimize" => self.is_active = true,
            _ => return,
        }
        if was_active && !self.is_active {
            self.is_active = true;
            self.note(file, line);
            self.end();
        }
    }

    fn end(&mut self) {
        let open = std::mem::take(&mut self.open).into_iter();
        self.found.extend(open.map(|(file, (first, last))| Stretch { file, first, last }));
        self.is_active = false;
    }
}

/// A line marker: the line, the file, and the first flag.
fn marker(line: &[u8]) -> Option<(u32, String, Option<u8>)> {
    let rest = line.strip_prefix(b"# ")?;
    let quote = memchr::memchr(b'"', rest)?;
    let number = std::str::from_utf8(&rest[..quote]).ok()?.trim().parse().ok()?;
    let name = unquote(&rest[quote..])?;
    let end = memchr::memrchr(b'"', rest)?;
    let flag = rest[end + 1..].iter().copied().find(|byte| *byte != b' ');
    Some((number, name, flag))
}

/// Whether a header is the compiler's own. These ask for its macros only to declare what there is.
fn is_of_compiler(file: &str) -> bool {
    file.contains("/lib/gcc/") || file.contains("/lib/gcc-cross/")
}

fn is_of_system(file: &str) -> bool {
    is_of_compiler(file) || file.starts_with("/usr/")
}

fn asks_between(source: &[u8], stretch: &Stretch) -> bool {
    let is_of_system = is_of_system(&stretch.file);
    lines(source).any(|(number, line)| {
        let is_inside = stretch.first <= number && number <= stretch.last;
        is_inside && if is_of_system { names_known_macro(&line) } else { asks(&line) }
    })
}

/// The logical lines of a source, each with the number of its last line.
fn lines(source: &[u8]) -> impl Iterator<Item = (u32, String)> {
    let mut rest = source.split(|byte| *byte == b'\n');
    let mut number = 0;
    std::iter::from_fn(move || {
        let mut whole = Vec::new();
        loop {
            let line = rest.next()?;
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            number += 1;
            match line.strip_suffix(b"\\") {
                Some(start) => whole.extend_from_slice(start),
                None => {
                    whole.extend_from_slice(line);
                    return Some((number, bytes::to_text(&whole).into_owned()));
                }
            }
        }
    })
}

/// The name of the directive on a line, if it is one.
fn directive(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = ["#", "%:", "??="].iter().find_map(|start| line.strip_prefix(start))?;
    words(rest).next()
}

fn asks(line: &str) -> bool {
    let is_directive = directive(line).is_some_and(|name| name != "pragma");
    names_macro(line) || is_directive && (words(line).any(is_lower_macro) || pastes(line))
}

fn definition_asks(source: &[u8]) -> bool {
    lines(source).any(|(_, line)| {
        directive(&line) == Some("define") && (names_macro(&line) || pastes(&line))
    })
}

/// Whether a directive may put the name of such a macro together.
fn pastes(line: &str) -> bool {
    let line = line.replace(' ', "");
    line.contains("__##") || line.contains("##__")
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| !word.is_empty())
}

/// Names with two underscores and a capital letter that no option has a part in, as they begin.
const OTHERS: &[&str] = &[
    "BASE_FILE__",
    "BIGGEST_ALIGNMENT__",
    "BYTE_ORDER__",
    "CHAR",
    "COUNTER__",
    "DATE__",
    "ELF__",
    "FILE__",
    "FUNCTION__",
    "GLIBC",
    "GNUC",
    "INCLUDE_LEVEL__",
    "INT",
    "LINE__",
    "MINGW",
    "ORDER_",
    "PRETTY_FUNCTION__",
    "PTRDIFF",
    "SCHAR",
    "SHRT",
    "SIZE",
    "STDC",
    "TIME",
    "UINT",
    "VA_",
    "VERSION__",
    "WCHAR",
    "WINT",
];

fn names_macro(line: &str) -> bool {
    words(line).any(|word| {
        let Some(name) = word.strip_prefix("__") else { return false };
        let is_guard =
            ["_H", "_INCLUDED"].iter().any(|end| name.trim_end_matches('_').ends_with(end));
        name.starts_with(|c: char| c.is_ascii_uppercase())
            && !is_guard
            && !OTHERS.iter().any(|start| name.starts_with(start))
    })
}

/// The same for names with small letters: of processors, which `target("arch=...")` sets.
fn is_lower_macro(word: &str) -> bool {
    const OTHERS: &[&str] = &[
        "aarch64",
        "arm__",
        "asm",
        "attribute",
        "builtin_",
        "clang",
        "const",
        "cplusplus",
        "extension",
        "has_",
        "i386",
        "inline",
        "linux",
        "restrict",
        "signed",
        "typeof",
        "unix",
        "volatile",
        "x86_64",
    ];
    let name = word.strip_prefix("__");
    name.is_some_and(|name| {
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && !OTHERS.iter().any(|start| name.starts_with(start))
    })
}

/// Macros of options that headers of a system ask for, by what is part of their names.
fn names_known_macro(line: &str) -> bool {
    const KNOWN: &[&str] = &["__OPTIMIZE", "_MATH", "__NO_INLINE__", "__FLT_EVAL_METHOD__"];
    directive(line).is_some()
        && words(line).any(|word| KNOWN.iter().any(|part| word.contains(part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_end_where_options_are_popped() {
        let text = b"# 1 \"a.c\"\nint a;\n#pragma GCC push_options\n#pragma GCC target(\"avx2\")\nint b;\n\
            # 1 \"b.h\" 1\nint c;\n# 6 \"a.c\" 2\n#pragma GCC pop_options\nint d;\n\
            # 1 \"/usr/lib/gcc/x/include/e.h\" 1 3 4\n#pragma GCC target(\"avx\")\n# 9 \"a.c\" 2\n\
            #pragma GCC optimize 3\nint e;\n";
        let found = Stretches::of(text).found;
        let found: Vec<_> = found.iter().map(|s| (s.file.as_str(), s.first, s.last)).collect();
        assert_eq!(found, [("a.c", 3, 6), ("b.h", 0, u32::MAX), ("a.c", 9, u32::MAX)]);
    }

    #[test]
    fn what_asks_for_a_macro() {
        for line in [
            "#ifdef __AVX2__",
            "  # if 1 && __OPTIMIZE__",
            "x = __FAST_MATH__;",
            "#if __haswell",
            "#define A(x) __##x##__",
        ] {
            assert!(asks(line), "{line}");
        }
        for line in [
            "#ifndef __A_B_H__",
            "#if __GNUC__ > 3",
            "return __builtin_ctz(x);",
            "__m256i x;",
            "#pragma GCC x",
        ] {
            assert!(!asks(line), "{line}");
        }
    }
}
