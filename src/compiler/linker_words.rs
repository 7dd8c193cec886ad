//! What the linker itself is told, whichever way it is told, and the names that
//! this gives a meaning.

use super::linked::Taken;
use super::response;
use std::collections::BTreeSet;
use std::path::Path;

/// Options of which a name is the value, or several. The linker takes them with one
/// dash or two, and cut short.
const NAMING: [&str; 8] = [
    "defsym",
    "entry",
    "export-dynamic-symbol",
    "fini",
    "init",
    "require-defined",
    "undefined",
    "wrap",
];

/// Options that name a file with a list of names. It says who may see these, and
/// ties none of them to another.
const LISTS: [&str; 4] =
    ["dynamic-list", "export-dynamic-symbol-list", "retain-symbols-file", "version-script"];

/// Options that others begin with.
const OTHERS: [&str; 3] = ["dy", "export-dynamic", "version"];

/// The words of a command as the linker gets them: those that a compiler passes on
/// without their wrapping, those of files in the place of `@file`.
pub fn words(directory: &Path, given: impl Iterator<Item = String>) -> Vec<String> {
    let mut words = Vec::new();
    let mut given = given.peekable();
    while let Some(word) = given.next() {
        match word.strip_prefix("-Wl,") {
            Some(list) => words.extend(list.split(',').map(String::from)),
            None if word == "-Xlinker" => words.extend(given.next()),
            None => words.push(word),
        }
    }
    response::expand(directory, &words)
}

/// The name of an option and its value, if it is one with that.
fn option(word: &str) -> Option<(&str, Option<&str>)> {
    let name = word.strip_prefix("--").or(word.strip_prefix('-'))?;
    Some(match name.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (name, None),
    })
}

/// Whether a word is one of some options, in full or cut short.
fn is_one_of(word: &str, options: &[&str]) -> bool {
    let name = option(word).map_or("", |(name, _)| name);
    let is_begin = name.len() > 1 && !OTHERS.contains(&name);
    is_begin && options.iter().any(|option| option.starts_with(name))
}

/// Whether the file that a word names, which stands behind another, is a list of
/// names.
pub fn is_list(before: &str, word: &str) -> bool {
    is_one_of(word, &LISTS) || is_one_of(before, &LISTS) && !before.contains('=')
}

/// Follows what a word says of the files behind it: when a link takes these in. `modes` has what
/// holds now, above what was saved.
pub fn follow(word: &str, modes: &mut Vec<Option<Taken>>) {
    let Some((name, None)) = option(word) else { return };
    let Some(mode) = modes.last_mut() else { return };
    match name {
        "whole-archive" => *mode = Some(Taken::Surely),
        "start-lib" => *mode = Some(Taken::IfNeeded),
        "no-whole-archive" | "end-lib" => *mode = None,
        "push-state" => modes.extend_from_within(modes.len() - 1..),
        "pop-state" if modes.len() > 1 => modes.truncate(modes.len() - 1),
        _ => {}
    }
}

/// Names to which options give a meaning: what calls or reads them, or what they
/// stand for, is not what the code says.
pub fn names(words: &[String]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (word, next) in words.iter().zip(words.iter().skip(1).map(Some).chain([None])) {
        let value = match option(word) {
            Some((_, value)) if is_one_of(word, &NAMING) => value.or(next.map(String::as_str)),
            Some(("u" | "e", None)) => next.map(String::as_str),
            Some((joined, _)) if !word.starts_with("--") && joined.starts_with(['u', 'e']) => {
                Some(&joined[1..])
            }
            _ => None,
        };
        for name in value.into_iter().flat_map(identifiers) {
            if is_one_of(word, &["wrap"]) {
                found.extend([format!("__wrap_{name}"), format!("__real_{name}")]);
            }
            found.insert(name.to_string());
        }
    }
    found
}

/// Whatever may be a name in a text.
pub fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.');
    let words = text.split(move |c| !is_part(c));
    words.filter(|word| word.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(given: &str) -> Vec<String> {
        let given = given.split(' ').map(String::from);
        names(&words(Path::new("/nowhere"), given)).into_iter().collect()
    }

    #[test]
    fn a_name_is_found_however_it_is_passed() {
        for given in [
            "-Wl,--defsym,v=w",
            "-Wl,--defsym=v=w",
            "-Wl,-defsym,v=w",
            "-Xlinker --defsym -Xlinker v=w",
            "-Wl,--defs=v=w+4",
            "--defsym v=w",
        ] {
            assert_eq!(names_in(given), ["v", "w"], "{given}");
        }
        for given in ["-u f", "-uf", "-Wl,-u,f", "--undefined=f", "-Wl,--entry,f"] {
            assert_eq!(names_in(given), ["f"], "{given}");
        }
        assert_eq!(names_in("-Wl,--wrap=f"), ["__real_f", "__wrap_f", "f"]);
        let others = "-Wl,-rpath,/lib -Wl,-soname,libx.so.1 main.o -lm -Wl,--version-script,x.map";
        assert_eq!(names_in(others), [""; 0]);
        assert_eq!(names_in("-Wl,--export-dynamic main.o"), [""; 0]);
    }

    #[test]
    fn lists_are_known() {
        assert!(is_list("", "--version-script=x.map") && is_list("-dynamic-list", "x"));
        assert!(!is_list("--defsym=v=w", "x.map"));
        assert!(!is_list("--version-script=x.map", "main.o"));
        assert!(!is_list("--export-dynamic", "main.o"));
    }
}
