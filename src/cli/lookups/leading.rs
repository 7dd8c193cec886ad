//! Whether a word that may be a pattern leads a process to a directory, and which names it looks for
//! there.

use super::pattern::{Pattern, escape, is_pattern};
use super::shell::Piece;
use crate::bytes;
use crate::cli::files::Links;
use crate::compiler::project::relative;
use std::path::{Component, Path, PathBuf};

/// A directory that a process listed.
pub struct Listed<'a> {
    root: &'a Path,
    real_root: PathBuf,
    /// Where relative words begin, if that is known.
    from: Option<&'a Path>,
    /// The name of the directory, empty for the root of the project.
    name: String,
    /// That, and its names by way of links.
    names: Vec<String>,
}

/// What a word says of a directory.
#[derive(Debug, PartialEq, Eq)]
pub enum Told {
    /// The word leads elsewhere.
    Nothing,
    /// These names are looked for.
    Patterns(Vec<String>),
    /// Any name may be looked for.
    Any,
}

impl<'a> Listed<'a> {
    pub fn new(root: &'a Path, directory: &Path, from: Option<&'a Path>, links: &Links) -> Self {
        let name = match relative(root, directory) {
            name if name == "." => String::new(),
            name => name,
        };
        let inside = if name.is_empty() { String::from("x") } else { format!("{name}/x") };
        let others = links.others(&inside).into_iter();
        let others = others.map(|other| other.trim_end_matches("/x").to_string());
        let names = std::iter::once(name.clone()).chain(others).collect();
        let real_root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        Self { root, real_root, from, name, names }
    }

    /// What is looked for in the directory, by one word.
    pub fn told_by(&self, word: &[Piece], has_globstar: bool) -> Told {
        // Another home.
        let begins_anywhere =
            matches!(word.first(), Some(Piece::Text | Piece::Any | Piece::Char('~')));
        let mut found = Vec::new();
        for (place, piece) in word.iter().enumerate() {
            let start = start_of_component(word, place);
            let before = &word[..start];
            if *piece == Piece::Any {
                if place == start && before.is_empty()
                    || self.is_at_or_below(before, begins_anywhere)
                {
                    return Told::Any;
                }
                continue;
            }
            let end = end_of_component(word, place);
            let component = text_of(&word[start..end], has_globstar);
            let rest = text_of(&word[start..], has_globstar);
            if !has_meta(&word[start..end]) {
                continue;
            }
            if place == start && self.is_at(before, begins_anywhere) {
                found.push(rest.clone());
            }
            // The listing of all directories below, and a text with slashes in it.
            let is_below = || self.is_at_or_below(before, begins_anywhere);
            if place == start && component == "**" && has_globstar && is_below() {
                found.push(rest);
            } else if *piece == Piece::Text && is_below() {
                found.push(format!("*{}", text_of(&word[place + 1..], has_globstar)));
            }
        }
        let is_known = |rest: &String| !rest.split('/').any(|part| part == "..");
        if !found.iter().all(is_known) {
            return Told::Any;
        }
        let place = escape(&self.name);
        let slash = if place.is_empty() { "" } else { "/" };
        let found: Vec<String> = found
            .into_iter()
            .map(|rest| format!("{place}{slash}{}", rest.trim_end_matches('/')))
            .collect();
        if found.is_empty() { Told::Nothing } else { Told::Patterns(found) }
    }

    /// Whether a word without its last component leads to the directory.
    fn is_at(&self, before: &[Piece], begins_anywhere: bool) -> bool {
        let Some(text) = self.path(before, begins_anywhere) else { return true };
        self.names.iter().any(|name| Pattern::new(&text).is_match(name))
    }

    /// Whether such a word leads to the directory, or to one above it.
    pub fn is_at_or_below(&self, before: &[Piece], begins_anywhere: bool) -> bool {
        let Some(text) = self.path(before, begins_anywhere) else { return true };
        if text == ABOVE {
            return true;
        }
        let below = if text.is_empty() { String::from("**") } else { format!("{text}/**") };
        let patterns = [Pattern::new(&text), Pattern::new(&below)];
        self.names.iter().any(|name| patterns.iter().any(|pattern| pattern.is_match(name)))
    }

    /// A word as a pattern from the root of the project on. None if it may lead anywhere.
    fn path(&self, before: &[Piece], begins_anywhere: bool) -> Option<String> {
        if begins_anywhere {
            let text = text_of(before, false);
            // What is left of a variable.
            let text = text.trim_end_matches('/').trim_start_matches(['~', '*']);
            let text = text.trim_start_matches('/');
            let is_known = !text.is_empty() && !text.split('/').any(|part| part == "..");
            return is_known.then(|| format!("**/{text}"));
        }
        let literal: Option<String> = { before.iter() }
            .map(|piece| match piece {
                Piece::Char(c) if !super::pattern::META.contains(c) => Some(*c),
                _ => None,
            })
            .collect();
        let is_absolute = before.first() == Some(&Piece::Char('/'));
        let from = match self.from {
            Some(from) => from,
            None if is_absolute => Path::new("/"),
            None => {
                let text = text_of(before, false);
                let text = text.trim_end_matches('/').trim_start_matches("./");
                return (!text.is_empty() && !text.contains("..")).then(|| format!("**/{text}"));
            }
        };
        if let Some(literal) = literal {
            let path = from.join(bytes::path(&literal));
            if let Ok(real) = path.canonicalize() {
                return Some(self.inside(&real));
            }
            return Some(self.inside(&without_dots(&path)));
        }
        let mut parts: Vec<String> = Vec::new();
        if !is_absolute {
            parts.extend(from.iter().skip(1).map(|part| escape(&bytes::name(part))));
        }
        for part in text_of(before, false).split('/') {
            match part {
                "" | "." => {}
                ".." => match parts.pop() {
                    Some(last) if !is_pattern(&last) => {}
                    _ => return None,
                },
                part => parts.push(part.to_string()),
            }
        }
        let root = self.root.iter().skip(1).map(|part| escape(&bytes::name(part)));
        let root: Vec<String> = root.collect();
        match parts.strip_prefix(root.as_slice()) {
            Some(inside) => Some(inside.join("/")),
            // A pattern may match the names of directories above the project.
            None if parts.iter().take(root.len()).any(|part| is_pattern(part)) => None,
            None => Some(OUTSIDE.to_string()),
        }
    }

    fn inside(&self, path: &Path) -> String {
        match path.strip_prefix(&self.real_root).or_else(|_| path.strip_prefix(self.root)) {
            Ok(inside) => escape(&bytes::name(inside)),
            Err(_) if self.real_root.starts_with(path) => ABOVE.to_string(),
            Err(_) => OUTSIDE.to_string(),
        }
    }
}

/// No directory of the project, and one that the project is in.
const OUTSIDE: &str = "/";
const ABOVE: &str = "//";

fn without_dots(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                found.pop();
            }
            Component::CurDir => {}
            part => found.push(part),
        }
    }
    found
}

fn has_meta(component: &[Piece]) -> bool {
    let has = |c: char| component.contains(&Piece::Char(c));
    has('*') || has('?') || has('[') && has(']')
}

fn start_of_component(word: &[Piece], place: usize) -> usize {
    let before = word[..place].iter().rposition(|piece| *piece == Piece::Char('/'));
    before.map_or(0, |slash| slash + 1)
}

fn end_of_component(word: &[Piece], place: usize) -> usize {
    let end = word[place..].iter().position(|piece| *piece == Piece::Char('/'));
    end.map_or(word.len(), |length| place + length)
}

/// A word as the text of a pattern.
fn text_of(word: &[Piece], has_globstar: bool) -> String {
    let mut text = String::new();
    for (place, piece) in word.iter().enumerate() {
        match piece {
            Piece::Char('*') => {
                let component =
                    &word[start_of_component(word, place)..end_of_component(word, place)];
                let is_deep = has_globstar && component == [Piece::Char('*'), Piece::Char('*')];
                // Elsewhere two of them are one.
                if is_deep || place == 0 || word[place - 1] != Piece::Char('*') {
                    text.push('*');
                }
            }
            Piece::Char('\\') => text.push_str("\\\\"),
            Piece::Char(c) => text.push(*c),
            Piece::Text | Piece::Any => {
                while text.ends_with('*') {
                    text.pop();
                }
                text.push_str("**");
            }
        }
    }
    text
}
