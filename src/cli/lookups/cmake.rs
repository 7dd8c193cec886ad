//! What CMake looks for when it lists a directory, by the descriptions of the project.

use super::leading::{Listed, Told};
use super::shell::Piece;
use crate::bytes;
use crate::cli::files::Links;
use crate::trace::uses::Listing;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Words of commands by which CMake lists directories.
#[derive(Debug, Default)]
pub struct Descriptions {
    globs: Vec<Word>,
    /// Directories of which any name counts: those that are copied, say.
    directories: Vec<Word>,
}

#[derive(Debug)]
struct Word {
    pieces: Vec<Piece>,
    /// Where a relative word begins, if that is known.
    from: Option<PathBuf>,
    is_deep: bool,
}

impl Descriptions {
    pub fn read(root: &Path, inputs: &BTreeSet<String>) -> Self {
        let is_of_cmake =
            |name: &&String| name.ends_with("CMakeLists.txt") || name.ends_with(".cmake");
        let mut found = Self::default();
        for name in inputs.iter().filter(is_of_cmake) {
            let path = root.join(bytes::path(name));
            let bytes = std::fs::read(&path).unwrap_or_default();
            let text = bytes::to_text(&bytes).to_ascii_lowercase();
            // A function may be called from anywhere.
            let is_plain = name.ends_with("CMakeLists.txt")
                && !["function", "macro"].iter().any(|word| text.contains(word));
            let from = path.parent().filter(|_| is_plain).map(Path::to_path_buf);
            found.add(&bytes::to_text(&bytes), from.as_deref());
        }
        found
    }

    fn add(&mut self, text: &str, from: Option<&Path>) {
        for (name, arguments) in calls(text) {
            let word = |text: &String, is_deep| {
                let (pieces, from) = (pieces(text), from.map(Path::to_path_buf));
                Word { pieces, from, is_deep }
            };
            let kind = arguments.first().map_or("", String::as_str);
            match (name.as_str(), kind) {
                ("file", "GLOB" | "GLOB_RECURSE") => {
                    let is_deep = kind == "GLOB_RECURSE";
                    let mut words = arguments.iter().skip(2);
                    while let Some(text) = words.next() {
                        match text.as_str() {
                            "RELATIVE" | "LIST_DIRECTORIES" => _ = words.next(),
                            "CONFIGURE_DEPENDS" | "FOLLOW_SYMLINKS" => {}
                            _ => self.globs.push(word(text, is_deep)),
                        }
                    }
                }
                ("file", "COPY" | "INSTALL") => {
                    let words = arguments.iter().skip(1).take_while(|word| *word != "DESTINATION");
                    self.directories.extend(words.map(|text| word(text, true)));
                }
                ("aux_source_directory", _) => self.directories.push(word(&arguments[0], true)),
                _ => {}
            }
        }
    }

    /// The names that count in a directory. None if any name may.
    pub fn told(&self, root: &Path, listing: &Listing, links: &Links) -> Option<Vec<String>> {
        let is_option = |word: &[u8]| listing.arguments.iter().skip(1).any(|given| given == word);
        if is_option(b"-E") {
            return None;
        }
        let is_copied = |word: &&Word| {
            let begins_anywhere = matches!(word.pieces.first(), Some(Piece::Any));
            // A variable alone may be any directory.
            listed(root, listing, links, word).is_at_or_below(&word.pieces, begins_anywhere)
        };
        if self.directories.iter().any(|word| is_copied(&word)) {
            return None;
        }
        let mut found = Vec::new();
        for word in &self.globs {
            // Text with a variable in it is known but for that.
            let is_variable = word.pieces == [Piece::Any];
            if is_variable {
                return None;
            }
            let mut pieces: Vec<Piece> = word.pieces.clone();
            pieces.iter_mut().filter(|piece| **piece == Piece::Any).for_each(|p| *p = Piece::Text);
            if word.is_deep {
                let last = pieces.iter().rposition(|piece| *piece == Piece::Char('/'));
                let deep = ['*', '*', '/'].map(Piece::Char);
                let at = last.map_or(0, |slash| slash + 1);
                pieces.splice(at..at, deep);
            }
            match listed(root, listing, links, word).told_by(&pieces, word.is_deep) {
                Told::Nothing => {}
                Told::Patterns(patterns) => found.extend(patterns),
                Told::Any => return None,
            }
        }
        (!found.is_empty()).then_some(found)
    }
}

fn listed<'a>(root: &'a Path, listing: &Listing, links: &Links, word: &'a Word) -> Listed<'a> {
    Listed::new(root, &listing.directory, word.from.as_deref(), links)
}

/// The commands of a description, in small letters, with their arguments.
fn calls(text: &str) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for command in ["file", "aux_source_directory"] {
        let lower = text.to_ascii_lowercase();
        for (at, _) in lower.match_indices(command) {
            let behind = text[at + command.len()..].trim_start();
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let Some(inside) = behind.strip_prefix('(') else { continue };
            if text[..at].ends_with(is_part) {
                continue;
            }
            let words = words(inside);
            if !words.is_empty() {
                found.push((command.to_string(), words));
            }
        }
    }
    found
}

/// The arguments of a command, up to its closing parenthesis. A list is several of them.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '"' => is_quoted = !is_quoted,
            '\\' => words.last_mut().into_iter().for_each(|word| word.extend(rest.next())),
            '#' if !is_quoted => {
                words.push(String::new());
                while rest.next().is_some_and(|c| c != '\n') {}
            }
            ')' if !is_quoted => break,
            ';' => words.push(String::new()),
            c if c.is_whitespace() && !is_quoted => words.push(String::new()),
            c => words.last_mut().into_iter().for_each(|word| word.push(c)),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A word, where variables and generator expressions may be any text.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '$' {
            pieces.push(Piece::Char(c));
            continue;
        }
        let mut depth = 0;
        for c in rest.by_ref() {
            depth += i32::from("{<".contains(c)) - i32::from("}>".contains(c));
            if depth <= 0 && "}>".contains(c) {
                break;
            }
        }
        pieces.push(Piece::Any);
    }
    pieces
}
