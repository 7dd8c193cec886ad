//! `@file`: arguments from a file, as gcc and clang read them.

use crate::bytes;
use std::path::Path;

/// How deep files may name files, as in libiberty's spirit: a file that names
/// itself must end somewhere.
const DEPTH: usize = 200;
/// Words longer than this together go to a file of ours.
const LONG: usize = 100_000;

/// The arguments with those of files in their place. A file that cannot be read
/// is an argument like any other.
pub fn expand(directory: &Path, arguments: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    for argument in arguments {
        expand_into(directory, argument, DEPTH, &mut out);
    }
    out
}

fn expand_into(directory: &Path, argument: &str, depth: usize, out: &mut Vec<String>) {
    let text = argument
        .strip_prefix('@')
        .filter(|_| depth > 0)
        .and_then(|name| fs_err::read(directory.join(bytes::path(name))).ok());
    match text {
        Some(text) => {
            let text = bytes::to_text(&text);
            split(&text).iter().for_each(|word| expand_into(directory, word, depth - 1, out));
        }
        None => out.push(argument.to_string()),
    }
}

/// Words apart by white space; quotes keep it, a backslash takes the next
/// character as it is.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\\', _) => word.get_or_insert_default().extend(characters.next()),
            (c, Some(q)) if c == q => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            (c @ ('"' | '\''), None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_ascii_whitespace() || c == '\x0b' => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The words, or a file in `scratch` with them if they are too long for a
/// command line.
pub fn shorten(words: Vec<String>, scratch: &Path) -> std::io::Result<Vec<String>> {
    if words.iter().map(|word| word.len() + 1).sum::<usize>() < LONG {
        return Ok(words);
    }
    let file = scratch.join("arguments");
    let quoted: Vec<String> = words.iter().map(|word| quote(word)).collect();
    fs_err::write(&file, bytes::of_text(&quoted.join("\n")))?;
    Ok(vec![format!("@{}", bytes::name(file))])
}

fn quote(word: &str) -> String {
    if word.is_empty() {
        return String::from("\"\"");
    }
    let special = |c: char| c.is_ascii_whitespace() || matches!(c, '\\' | '"' | '\'' | '\x0b');
    let quoted = word.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c]));
    quoted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_gcc_does() {
        let text = "-DA=\"x y\" '-DB=\\'\\'' a\\ b \"\"\n\t-c";
        assert_eq!(split(text), ["-DA=x y", "-DB=''", "a b", "", "-c"]);
    }

    #[test]
    fn what_is_quoted_is_read_back() {
        for word in ["a b", "\"", "x\\y", "", "-DA='1'"] {
            assert_eq!(split(&quote(word)), [word]);
        }
    }

    #[test]
    fn a_file_that_names_itself_ends() {
        let scratch = tempfile::tempdir().unwrap();
        fs_err::write(scratch.path().join("a"), "-c @a").unwrap();
        assert!(expand(scratch.path(), &[String::from("@a")]).len() > 1);
        let missing = [String::from("@nowhere")];
        assert_eq!(expand(scratch.path(), &missing), missing);
    }
}
