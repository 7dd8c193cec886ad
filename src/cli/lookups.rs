//! The names that builds look for. A file that comes or goes under one of them may change what
//! a build makes, whatever it is called.

use super::build_state::BuildState;
use super::files;
use crate::bytes;
use crate::compiler::project::relative;
use crate::history::format::FileState;
use crate::trace::uses::{Listing, Uses};
use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// Endings from which make's own rules make something.
const ENDINGS_OF_MAKE: &[&str] = &[
    "y", "l", "ym", "yl", "s", "S", "cc", "C", "cpp", "p", "f", "F", "m", "r", "sh", "w", "web",
    "ch", "def", "mod",
];
/// Words that stand for themselves in a pattern, or for a part of it.
const META: &[char] = &['*', '?', '['];

/// What processes of builds looked for, relative to the root.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sought {
    /// Names that another process than a make or a compiler of ours asked for, whether there was
    /// such a file or not.
    pub asked: BTreeSet<String>,
    /// Directories that were listed by a process of which nothing else is known: any name counts.
    #[serde(alias = "listed")]
    pub searched: BTreeSet<String>,
    /// What the names have to match that a process looked for in directories that it listed.
    pub patterns: BTreeSet<String>,
    /// The same for a make.
    pub patterns_of_make: BTreeSet<String>,
    /// Directories in which a make looked for files that its rules could use.
    pub cached: BTreeSet<String>,
}

impl Sought {
    /// Adds what one build looked for. `inputs` are files that builds read.
    pub fn add(&mut self, root: &Path, uses: &Uses, inputs: &BTreeSet<String>) {
        for (path, used) in &uses.files {
            let name = relative(root, path);
            if used.looked_for_by_others && path != root {
                self.asked.insert(name.clone());
            }
            if used.cached {
                self.cached.insert(name.clone());
            }
            if used.searched {
                self.searched.insert(name);
            }
        }
        for pattern in &uses.patterns {
            let text = relative(root, &pattern.path).replace('{', "\\{").replace('}', "\\}");
            let of_its_kind = match pattern.is_of_make {
                true => &mut self.patterns_of_make,
                false => &mut self.patterns,
            };
            match glob(&text) {
                Some(_) => of_its_kind.insert(text),
                None => self.searched.insert(before_pattern(&text)),
            };
        }
        let mut globs_of_cmake = None;
        for listing in &uses.listings {
            let program = listing.arguments.first().map(|first| bytes::to_text(first));
            let program = program.unwrap_or_default();
            let found = match program.rsplit('/').next() {
                Some("find") => of_find(root, listing),
                Some("cmake") => {
                    let names = globs_of_cmake.get_or_insert_with(|| globs_in_cmake(root, inputs));
                    { names }.as_ref().map(|names| below(root, &listing.directory, names))
                }
                _ => of_shell(root, listing),
            };
            match found.filter(|found| found.iter().all(|text| glob(text).is_some())) {
                Some(found) => self.patterns.extend(found),
                None => {
                    self.searched.insert(relative(root, &listing.directory));
                }
            }
        }
    }
}

/// Questions to what builds looked for.
pub struct Lookups<'a> {
    root: &'a Path,
    state: &'a BuildState,
    sought: &'a Sought,
    patterns: GlobSet,
    makefiles: OnceCell<Makefiles>,
}

/// How a build looks for a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// A process of it does, which may not run in every build.
    Process,
    /// A makefile names it. What becomes of a source that a unit is made of is known better.
    Makefile,
    /// A make finds it when it looks which rules it can use, in every build.
    Rule,
}

impl<'a> Lookups<'a> {
    pub fn new(root: &'a Path, state: &'a BuildState) -> Self {
        Self::of(root, state, &state.sought)
    }

    /// What a part of the builds looked for.
    pub fn of(root: &'a Path, state: &'a BuildState, sought: &'a Sought) -> Self {
        let of_make = patterns_that_count(state, sought);
        let all = sought.patterns.iter().chain(of_make);
        let patterns = set(all.filter_map(|text| glob(text)));
        Self { root, state, sought, patterns, makefiles: OnceCell::new() }
    }

    /// Whether a build looks for a name that comes or goes between two states.
    pub fn between(&self, name: &str, old: &FileState, new: &FileState) -> Option<Lookup> {
        let differs = |directory: &str| old.contains_key(directory) != new.contains_key(directory);
        match differs(name) {
            true => self.look(name, differs),
            false => None,
        }
    }

    /// Whether a build looks for a name, where nothing else comes or goes.
    pub fn at(&self, name: &str) -> Option<Lookup> {
        self.look(name, |_| false)
    }

    fn look(&self, name: &str, differs: impl Fn(&str) -> bool) -> Option<Lookup> {
        let name = name.trim_end_matches('/');
        let is_made = |name: &str| {
            self.state.outputs.contains(name) || self.state.left_by_tests.contains_key(name)
        };
        if !files::is_file(name) || Path::new(name).is_absolute() || is_made(name) {
            return None;
        }
        // A directory that comes or goes with it is a name, too.
        let mut top = name;
        let is_asked =
            |name: &str| self.sought.asked.contains(name) || self.patterns.is_match(name);
        let mut found = is_asked(name);
        while let Some((directory, _)) = top.rsplit_once('/')
            && differs(&format!("{directory}/"))
            && !is_made(directory)
        {
            found |= is_asked(directory);
            top = directory;
        }
        if found || self.sought.searched.contains(directory_of(top)) {
            return Some(Lookup::Process);
        }
        let is_cached = self.sought.cached.contains(directory_of(name));
        is_cached.then(|| self.by_make(name)).flatten()
    }

    /// Whether a make that lists a directory has a use for a file in it.
    fn by_make(&self, name: &str) -> Option<Lookup> {
        let base = name.rsplit('/').next().unwrap_or(name);
        let makefiles = self.makefiles.get_or_init(|| Makefiles::read(self.root, self.state));
        if makefiles.look_for(base) {
            return Some(Lookup::Makefile);
        }
        let (stem, ending) = name.rsplit_once('.')?;
        // Sources and headers are looked at in other ways.
        let is_ending = ENDINGS_OF_MAKE.contains(&ending)
            || !["c", "h"].contains(&ending) && is_word_of(&makefiles.text, &format!("%.{ending}"));
        let start = format!("{stem}.");
        let has_stem = |names: &BTreeSet<String>| {
            let others = names.range(start.clone()..).take_while(|name| name.starts_with(&start));
            names.contains(stem) || { others }.any(|other| !other[start.len()..].contains('/'))
        };
        let is_known = || has_stem(&self.state.inputs) || has_stem(&self.state.outputs);
        (is_ending && is_known()).then_some(Lookup::Rule)
    }
}

/// Patterns of a make whose files another process reads. Those of other files make prerequisites,
/// which a make sees to itself. Of one that finds nothing it is not known what becomes of it.
fn patterns_that_count<'s>(state: &BuildState, sought: &'s Sought) -> Vec<&'s String> {
    let all: Vec<&String> = sought.patterns_of_make.iter().collect();
    if all.is_empty() {
        return all;
    }
    let matcher = set(all.iter().filter_map(|text| glob(text)));
    let (mut finds, mut counts) = (vec![false; all.len()], vec![false; all.len()]);
    for name in state.known().into_iter().flat_map(|known| known.keys()) {
        let is_read = || {
            let is_code = name.ends_with(".c") || files::is_build_description(name);
            state.inputs.contains(name)
                && state.is_read_by_others(name)
                && !state.described.contains(name)
                && !is_code
        };
        let found = matcher.matches(name);
        let is_read = !found.is_empty() && is_read();
        for place in found {
            finds[place] = true;
            counts[place] |= is_read;
        }
    }
    let counting = all.into_iter().zip(finds.into_iter().zip(counts));
    counting.filter(|(_, (finds, counts))| !finds || *counts).map(|(text, _)| text).collect()
}

fn glob(text: &str) -> Option<Glob> {
    GlobBuilder::new(text).literal_separator(true).build().ok()
}

fn set(globs: impl Iterator<Item = Glob>) -> GlobSet {
    let mut builder = GlobSetBuilder::new();
    globs.for_each(|glob| {
        builder.add(glob);
    });
    builder.build().unwrap_or_else(|_| GlobSet::empty())
}

fn directory_of(name: &str) -> &str {
    name.rsplit_once('/').map_or(".", |(directory, _)| directory)
}

/// The directories of a pattern before its first part that is one.
fn before_pattern(text: &str) -> String {
    let parts: Vec<&str> = text.split('/').take_while(|part| !part.contains(META)).collect();
    if parts.is_empty() { String::from(".") } else { parts.join("/") }
}

/// The words of makefiles and of their parts.
#[derive(Debug, Default)]
struct Makefiles {
    text: String,
    /// Names with a rule of their own. If a make has a use for such a file, it makes it, so that a
    /// build that did not make it does not look for it as a target or prerequisite.
    targets: BTreeSet<String>,
    /// Lines by which a make finds a file with a rule all the same: `wildcard`, `include`, and the
    /// variables that these may use.
    searching: String,
}

impl Makefiles {
    fn read(root: &Path, state: &BuildState) -> Self {
        let names = state.described.iter().map(|name| root.join(bytes::path(name)));
        let names = names.filter(|name| !files::is_list_of_dependencies(name));
        let texts = names.filter_map(|name| std::fs::read(name).ok());
        let texts = texts.map(|bytes| bytes::to_text(&bytes).into_owned());
        Self::of(texts.collect::<Vec<_>>().join("\n"))
    }

    fn of(text: String) -> Self {
        let joined = text.replace("\\\n", " ");
        let is_search = |line: &&str| {
            let word = line.split_whitespace().next().unwrap_or_default();
            let functions = ["wildcard", "$(file", "${file", "$(eval", "${eval"];
            ["include", "-include", "sinclude", "vpath"].contains(&word)
                || functions.iter().any(|function| line.contains(function))
        };
        let mut searching: Vec<&str> = joined.lines().filter(is_search).collect();
        let names_variable = |line: &&str| {
            let line = line.replace("$(wildcard", "").replace("${wildcard", "");
            line.contains('$')
        };
        if searching.iter().any(names_variable) {
            // What a variable stands for may be looked for.
            let is_variable = |line: &&str| !line.starts_with('\t') && line.contains('=');
            searching.extend(joined.lines().filter(is_variable));
        }
        let searching = searching.join("\n");
        Self { targets: { joined.lines() }.flat_map(targets).collect(), searching, text }
    }

    /// Whether a make looks for a file of this name when it lists a directory.
    fn look_for(&self, base: &str) -> bool {
        let lines = if self.targets.contains(base) { &self.searching } else { &self.text };
        is_word_of(lines, base)
    }
}

/// The names, without directories, that a line of a makefile has a rule for.
fn targets(line: &str) -> Vec<String> {
    let is_rule = |names: &str, rest: &str| {
        !line.starts_with(['\t', '#']) && !rest.starts_with('=') && !names.contains(['=', '$', '#'])
    };
    match line.split_once(':').filter(|(names, rest)| is_rule(names, rest.trim_start_matches(':')))
    {
        Some((names, _)) => {
            let names = names.split_whitespace().filter(|name| !name.contains('%'));
            names.map(|name| name.rsplit('/').next().unwrap_or(name).to_string()).collect()
        }
        None => Vec::new(),
    }
}

fn is_word_of(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "._-%~#".contains(c);
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
    })
}

/// Names that match below a directory, at any depth.
fn below(root: &Path, directory: &Path, names: &[String]) -> Vec<String> {
    let place = match relative(root, directory) {
        place if place == "." => String::new(),
        place => format!("{}/", globset::escape(&place)),
    };
    names.iter().map(|name| format!("{place}**/{name}")).collect()
}

/// What `find` looks for, if its arguments say no more than which names count.
fn of_find(root: &Path, listing: &Listing) -> Option<Vec<String>> {
    let arguments: Vec<_> =
        listing.arguments.iter().map(|argument| bytes::to_text(argument)).collect();
    let is_other = |word: &str| ["!", "-not", ",", "-iname"].contains(&word);
    if arguments.iter().any(|word| is_other(word)) {
        return None;
    }
    let alternatives = arguments.iter().filter(|word| *word == "-o" || *word == "-or").count();
    let pairs = arguments.windows(2).filter(|pair| pair[0] == "-name");
    let names: Vec<String> =
        pairs.map(|pair| pair[1].replace('{', "\\{").replace('}', "\\}")).collect();
    let is_told = names.len() > alternatives && names.iter().all(|name| !name.contains('/'));
    is_told.then(|| below(root, &listing.directory, &names))
}

/// The last parts of the patterns that `file(GLOB)` has in the descriptions of a project. None if
/// there are none, or one of them is not known.
fn globs_in_cmake(root: &Path, inputs: &BTreeSet<String>) -> Option<Vec<String>> {
    let is_of_cmake = |name: &&String| name.ends_with("CMakeLists.txt") || name.ends_with(".cmake");
    let mut found = Vec::new();
    for name in inputs.iter().filter(is_of_cmake) {
        let bytes = std::fs::read(root.join(bytes::path(name))).unwrap_or_default();
        let text = bytes::to_text(&bytes);
        for (at, _) in text.match_indices("GLOB") {
            let behind = &text[at + "GLOB".len()..];
            let is_word = behind.starts_with(char::is_whitespace) || behind.starts_with("_RECURSE");
            if !is_word || !text[..at].trim_end().ends_with('(') {
                continue;
            }
            let call = behind.split(')').next().unwrap_or_default();
            let words = call.split(|c: char| c.is_whitespace() || "\"(;".contains(c));
            let ends = words.map(|word| word.rsplit('/').next().unwrap_or(word));
            let before = found.len();
            found.extend(
                ends.filter(|end| end.contains(META) && !end.contains('$')).map(String::from),
            );
            if found.len() == before {
                return None;
            }
        }
    }
    (!found.is_empty()).then_some(found)
}

/// The patterns of a shell's text by which it comes to list a directory. None if no pattern leads
/// there: then it was told elsewhere what to look for.
fn of_shell(root: &Path, listing: &Listing) -> Option<Vec<String>> {
    let mut text = Vec::new();
    for argument in listing.arguments.iter().skip(1) {
        text.extend(argument);
        text.push(b'\n');
    }
    let is_text = listing.arguments.iter().any(|argument| argument == b"-c");
    if !is_text {
        let mut names = listing.arguments.iter().skip(1);
        let script = names.find(|name| !name.starts_with(b"-") && !name.starts_with(b"+"))?;
        let script = listing.working_directory.join(std::ffi::OsStr::from_bytes(script));
        text.extend(std::fs::read(script).ok()?);
    }
    let text = bytes::to_text(&text);
    // It reads other scripts, whose text is not here, or makes text of its own.
    let reads_others = |word: &str| [".", "source", "eval"].contains(&word);
    if text.split_whitespace().any(reads_others) {
        return None;
    }
    let directory = relative(root, &listing.directory);
    let directory = if directory == "." { "" } else { &*directory };
    let mut found = Vec::new();
    for word in words_with_patterns(&text) {
        let Some(path) = inside(root, &listing.working_directory, &word) else { continue };
        let parts: Vec<&str> = path.split('/').collect();
        for (count, part) in parts.iter().enumerate().filter(|(_, part)| part.contains(META)) {
            let before = parts[..count].join("/");
            let leads_there = match glob(&before) {
                Some(glob) if !before.is_empty() => glob.compile_matcher().is_match(directory),
                _ => directory.is_empty(),
            };
            // What is left of a variable says nothing.
            if leads_there && *part != "**" {
                let place = globset::escape(directory);
                let slash = if place.is_empty() { "" } else { "/" };
                found.push(format!("{place}{slash}{}", parts[count..].join("/")));
            }
        }
    }
    (!found.is_empty()).then_some(found)
}

/// Words of a shell's text that are patterns. What stands for something else, a variable or a
/// choice in braces, may be anything.
fn words_with_patterns(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut is_pattern = false;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '$' if rest.peek() != Some(&'(') => {
                if rest.next_if_eq(&'{').is_some() {
                    while rest.next().is_some_and(|c| c != '}') {}
                } else {
                    while rest.next_if(|c| c.is_alphanumeric() || *c == '_').is_some() {}
                }
                word.push_str("**");
            }
            '{' if rest.peek().is_some_and(|c| !c.is_whitespace()) => {
                while rest.next().is_some_and(|c| c != '}') {}
                word.push('*');
            }
            '"' | '\'' => {}
            '\\' => {
                rest.next();
                word.push('?');
            }
            c if c.is_whitespace() || ";|&<>()`=,{}$".contains(c) => {
                if std::mem::take(&mut is_pattern) {
                    words.push(std::mem::take(&mut word));
                }
                word.clear();
            }
            c => {
                is_pattern |= c == '*' || c == '?' || c == ']' && word.contains('[');
                word.push(c);
            }
        }
    }
    words.extend(is_pattern.then_some(word));
    words.retain(|word| glob(word).is_some());
    words
}

/// A pattern from the root on. One that begins with a variable may begin anywhere.
fn inside(root: &Path, from: &Path, word: &str) -> Option<String> {
    if let Some(rest) = word.strip_prefix("**") {
        return Some(if rest.starts_with('/') { word.to_string() } else { format!("**/*{rest}") });
    }
    let mut path = PathBuf::new();
    for part in from.join(word).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path.strip_prefix(root).map(bytes::name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(directory: &str, arguments: &[&str]) -> Listing {
        Listing {
            directory: PathBuf::from(directory),
            working_directory: PathBuf::from("/p"),
            arguments: arguments.iter().map(|argument| argument.as_bytes().to_vec()).collect(),
        }
    }

    fn shell(directory: &str, text: &str) -> Option<Vec<String>> {
        of_shell(Path::new("/p"), &listing(directory, &["/bin/sh", "-c", text]))
    }

    #[test]
    fn a_shell_says_which_names_count() {
        let found = |texts: &[&str]| Some(texts.iter().map(|text| text.to_string()).collect());
        assert_eq!(shell("/p/parts", "cat parts/*.txt >out"), found(&["parts/*.txt"]));
        assert_eq!(shell("/p", "rm -f *.tmp; cat ./a?"), found(&["*.tmp", "a?"]));
        assert_eq!(shell("/p/a/b", "for f in $d/x*; do cat $f; done"), found(&["a/b/x*"]));
        assert_eq!(shell("/p/a", "cat */x/*.c"), None);
        assert_eq!(shell("/p/a/x", "cat */x/*.c"), found(&["a/x/*.c"]));
        assert_eq!(shell("/p", "cat */x/*.c"), found(&["*/x/*.c"]));
        assert_eq!(shell("/p/parts", "cat $FILES"), None);
        assert_eq!(shell("/p/parts", ". ./more; cat parts/*.txt"), None);
        assert_eq!(shell("/p/parts", "[ -f x ] && ls"), None);
        assert_eq!(shell("/p/parts", "ls parts/[ab]"), found(&["parts/[ab]"]));
    }

    #[test]
    fn a_make_does_not_look_for_what_it_makes() {
        let rules = "PROGRAMS = prog \\\n  late\nall: prog\nlate: late.o\n\tcc -o late late.o\n";
        let looked_for =
            |more: &str, name: &str| Makefiles::of(format!("{rules}{more}")).look_for(name);
        assert!(!looked_for("", "late"));
        assert!(looked_for("", "prog"));
        assert!(!looked_for("", "other"));
        assert!(looked_for("ifneq ($(wildcard late),)\n", "late"));
        assert!(looked_for("FOUND := $(wildcard $(PROGRAMS))\n", "late"));
        assert!(!looked_for("FOUND := $(wildcard *.c)\n", "late"));
        assert!(looked_for("-include late\n", "late"));
        assert!(looked_for("later: ; cat config\n", "config"));
        assert!(!looked_for("a/config: x\n\tmake-it\n", "config"));
        assert!(looked_for("config := a:b\n", "config"));
    }

    #[test]
    fn find_says_which_names_count() {
        let of = |words: &[&str]| of_find(Path::new("/p"), &listing("/p/src", words));
        let found = |texts: &[&str]| Some(texts.iter().map(|text| text.to_string()).collect());
        assert_eq!(of(&["find", "src", "-name", "*.c"]), found(&["src/**/*.c"]));
        assert_eq!(
            of(&["find", "src", "-name", "*.c", "-o", "-name", "*.h"]),
            found(&["src/**/*.c", "src/**/*.h"])
        );
        assert_eq!(of(&["find", "src", "-name", "*.c", "-o", "-type", "f"]), None);
        assert_eq!(of(&["find", "src", "!", "-name", "*.c"]), None);
        assert_eq!(of(&["find", "src"]), None);
    }
}
