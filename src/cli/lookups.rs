//! The names that builds look for. A file that comes or goes under one of them may change what
//! a build makes, whatever it is called.

mod cmake;
mod leading;
mod makefile;
mod pattern;
mod shell;

use super::build_state::BuildState;
use super::files::{self, Links};
use crate::bytes;
use crate::compiler::project::relative;
use crate::history::format::FileState;
use crate::trace::uses::{Listing, Uses};
use leading::{Listed, Told};
use makefile::{Makefiles, is_word_of};
use pattern::{Pattern, before_pattern, escape};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Endings from which make's own rules make something.
const ENDINGS_OF_MAKE: &[&str] = &[
    "y", "l", "ym", "yl", "s", "S", "cc", "C", "cpp", "p", "f", "F", "m", "r", "sh", "w", "web",
    "ch", "def", "mod",
];

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
            let text = relative(root, &pattern.path);
            let of_its_kind = match pattern.is_of_make {
                true => &mut self.patterns_of_make,
                false => &mut self.patterns,
            };
            match text.split('/').any(|part| part == "..") {
                true => self.searched.insert(before_pattern(&text)),
                false => of_its_kind.insert(text),
            };
        }
        if uses.listings.is_empty() {
            return;
        }
        let links = Links::among(root, uses.files.keys());
        let mut descriptions = None;
        for listing in &uses.listings {
            let program = listing.arguments.first().map(|first| bytes::to_text(first));
            let program = program.unwrap_or_default();
            let found = match program.rsplit('/').next() {
                Some("find") => of_find(root, listing),
                Some("cmake") => {
                    let read = || cmake::Descriptions::read(root, inputs);
                    descriptions.get_or_insert_with(read).told(root, listing, &links)
                }
                _ => of_shell(root, listing, &links),
            };
            match found {
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
    patterns: Vec<Pattern>,
    makefiles: OnceCell<Makefiles>,
    /// Names, without directories, of what builds read and make.
    bases: OnceCell<BTreeSet<String>>,
    links: OnceCell<Links>,
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
        let makefiles = OnceCell::new();
        let of_make = patterns_that_count(root, state, sought, &makefiles);
        let patterns = sought.patterns.iter().chain(of_make).map(|text| Pattern::new(text));
        let patterns = patterns.collect();
        let (bases, links) = (OnceCell::new(), OnceCell::new());
        Self { root, state, sought, patterns, makefiles, bases, links }
    }

    /// Whether a build looks for a name that comes or goes between two states.
    pub fn between(&self, name: &str, old: &FileState, new: &FileState) -> Option<Lookup> {
        let differs = |directory: &str| old.contains_key(directory) != new.contains_key(directory);
        if !differs(name) {
            return None;
        }
        self.links.get_or_init(|| Links::new(self.root, new));
        let is_link = |name: &str| {
            let directory = format!("{name}/");
            let is_one =
                |state: &FileState| state.contains_key(name) && state.contains_key(&directory);
            is_one(old) || is_one(new)
        };
        self.look(name, differs, is_link)
    }

    /// Whether a build looks for a name, where nothing else comes or goes.
    pub fn at(&self, name: &str) -> Option<Lookup> {
        self.links.get_or_init(|| match self.state.known() {
            Some(known) => Links::new(self.root, known),
            None => Links::default(),
        });
        self.look(name, |_| false, |_| false)
    }

    fn look(
        &self,
        name: &str,
        differs: impl Fn(&str) -> bool,
        is_link: impl Fn(&str) -> bool,
    ) -> Option<Lookup> {
        let name = name.trim_end_matches('/');
        let is_made = |name: &str| {
            self.state.outputs.contains(name) || self.state.left_by_tests.contains_key(name)
        };
        if !files::is_file(name) || Path::new(name).is_absolute() || is_made(name) {
            return None;
        }
        // A directory that comes or goes with it is a name, too.
        let mut top = name;
        let mut found = self.is_asked(name, is_link(name));
        while let Some((directory, _)) = top.rsplit_once('/')
            && differs(&format!("{directory}/"))
            && !is_made(directory)
        {
            found |= self.is_asked(directory, false);
            top = directory;
        }
        if found || self.sought.searched.contains(directory_of(top)) {
            return Some(Lookup::Process);
        }
        let is_cached = self.sought.cached.contains(directory_of(name));
        is_cached.then(|| self.by_make(name)).flatten()
    }

    /// Whether a process asks for a name, or for another name of the same file. Behind a link to a
    /// directory there may be files that a pattern matches.
    fn is_asked(&self, name: &str, is_link: bool) -> bool {
        let is_match = |name: &str| {
            let mut patterns = self.patterns.iter();
            patterns
                .any(|pattern| pattern.is_match(name) || is_link && pattern.is_match_below(name))
        };
        let others = || self.links.get().map(|links| links.others(name)).unwrap_or_default();
        self.sought.asked.contains(name)
            || is_match(name)
            || !self.patterns.is_empty() && others().iter().any(|name| is_match(name))
    }

    fn makefiles(&self) -> &Makefiles {
        self.makefiles.get_or_init(|| Makefiles::read(self.root, self.state))
    }

    /// Whether a make that lists a directory has a use for a file in it.
    fn by_make(&self, name: &str) -> Option<Lookup> {
        let base = name.rsplit('/').next().unwrap_or(name);
        let makefiles = self.makefiles();
        if makefiles.look_for(base) {
            return Some(Lookup::Makefile);
        }
        let (stem, ending) = base.rsplit_once('.')?;
        // A search path, or another rule, leads from a file to one of another directory.
        let bases = self.bases.get_or_init(|| {
            let names = self.state.inputs.iter().chain(&self.state.outputs);
            names.map(|name| name.rsplit('/').next().unwrap_or(name).to_string()).collect()
        });
        // Sources and headers are looked at in other ways.
        let is_ending = ENDINGS_OF_MAKE.contains(&ending)
            || !["c", "h"].contains(&ending)
                && (is_word_of(&makefiles.text, &format!("%.{ending}"))
                    || makefiles.have_suffix_rule(ending));
        let start = format!("{stem}.");
        let has_stem = || {
            let mut others = bases.range(start.clone()..);
            bases.contains(stem) || others.next().is_some_and(|other| other.starts_with(&start))
        };
        let is_of_rule = is_ending && has_stem() || makefiles.have_rule_for(base, bases);
        is_of_rule.then_some(Lookup::Rule)
    }
}

/// Patterns of a make whose files another process reads, or that are parts of makefiles, or whose
/// names go elsewhere than to prerequisites, which a make sees to itself. Of one that finds nothing
/// it is not known what becomes of it.
fn patterns_that_count<'s>(
    root: &Path,
    state: &BuildState,
    sought: &'s Sought,
    makefiles: &OnceCell<Makefiles>,
) -> Vec<&'s String> {
    let all: Vec<&String> = sought.patterns_of_make.iter().collect();
    if all.is_empty() {
        return all;
    }
    let matchers: Vec<Pattern> = all.iter().map(|text| Pattern::new(text)).collect();
    let (mut finds, mut counts) = (vec![false; all.len()], vec![false; all.len()]);
    for name in state.known().into_iter().flat_map(|known| known.keys()) {
        let is_read = || {
            let is_code = name.ends_with(".c") || files::is_build_description(name);
            state.inputs.contains(name) && state.is_read_by_others(name) && !is_code
        };
        for (place, matcher) in matchers.iter().enumerate() {
            if !(finds[place] && counts[place]) && matcher.is_match(name) {
                finds[place] = true;
                counts[place] |= is_read();
            }
        }
    }
    let goes_further = |text: &str| {
        let makefiles = makefiles.get_or_init(|| Makefiles::read(root, state));
        !text.ends_with(".c") && makefiles.use_names_of(text)
    };
    let counting = all.into_iter().zip(finds.into_iter().zip(counts));
    let counting =
        counting.filter(|(text, (finds, counts))| !finds || *counts || goes_further(text));
    counting.map(|(text, _)| text).collect()
}

fn directory_of(name: &str) -> &str {
    name.rsplit_once('/').map_or(".", |(directory, _)| directory)
}

/// Names that match below a directory, at any depth.
fn below(root: &Path, directory: &Path, names: &[String]) -> Vec<String> {
    let place = match relative(root, directory) {
        place if place == "." => String::new(),
        place => format!("{}/", escape(&place)),
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
    let mut names = Vec::new();
    for alternative in arguments.split(|word| *word == "-o" || *word == "-or") {
        let pairs = alternative.windows(2).filter(|pair| pair[0] == "-name");
        let before = names.len();
        names.extend(pairs.map(|pair| pair[1].to_string()));
        if names.len() == before {
            return None;
        }
    }
    let is_told = names.iter().all(|name| !name.contains('/'));
    is_told.then(|| below(root, &listing.directory, &names))
}

/// The patterns of a shell's text by which it comes to list a directory. None if no pattern leads
/// there, or if a word may be any pattern: then any name may be looked for.
fn of_shell(root: &Path, listing: &Listing, links: &Links) -> Option<Vec<String>> {
    let arguments: Vec<String> =
        listing.arguments.iter().map(|argument| bytes::to_text(argument).into_owned()).collect();
    let is_option = |word: &&String| word.starts_with(['-', '+']);
    let options = arguments.iter().skip(1).take_while(is_option).count();
    let is_text =
        arguments.iter().skip(1).take(options).any(|word| {
            word.starts_with('-') && !word.starts_with("--") && word[1..].contains('c')
        });
    let given = arguments.get(1 + options)?;
    let text = match is_text {
        true => given.clone(),
        false => {
            let name = &listing.arguments[1 + options];
            let script = listing.start_directory.join(std::ffi::OsStr::from_bytes(name));
            bytes::to_text(&std::fs::read(script).ok()?).into_owned()
        }
    };
    let has_patterns = |word: &str| {
        let (directory, base) = word.rsplit_once('/').unwrap_or((".", word));
        let place = listing.working_directory.join(bytes::path(directory));
        let matcher = Pattern::new(base);
        let Ok(entries) = std::fs::read_dir(place) else { return true };
        let is_named = |name: &std::ffi::OsStr| matcher.is_match(&bytes::name(name));
        let files = entries.flatten().filter(|entry| is_named(&entry.file_name()));
        let texts: Vec<_> = files.map(|entry| std::fs::read(entry.path())).collect();
        let has_meta = |text: &Vec<u8>| text.iter().any(|byte| b"*?[".contains(byte));
        let is_plain = |text: &Result<Vec<u8>, _>| { text }.as_ref().is_ok_and(|t| !has_meta(t));
        pattern::is_pattern(directory) || texts.is_empty() || !texts.iter().all(is_plain)
    };
    let source = shell::Source {
        has_patterns: &has_patterns,
        text: &text,
        arguments: &arguments[2 + options..],
        variables: &listing.variables,
    };
    let words = shell::words(&source)?;
    let listed = Listed::new(root, &listing.directory, Some(&listing.working_directory), links);
    let mut found = Vec::new();
    for word in &words.words {
        match listed.told_by(word, words.has_globstar) {
            Told::Nothing => {}
            Told::Patterns(patterns) => found.extend(patterns),
            Told::Any => return None,
        }
    }
    found.sort();
    found.dedup();
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn listing(directory: &str, arguments: &[&str]) -> Listing {
        Listing {
            directory: PathBuf::from(directory),
            working_directory: PathBuf::from("/p"),
            start_directory: PathBuf::from("/p"),
            variables: BTreeSet::new(),
            arguments: arguments.iter().map(|argument| argument.as_bytes().to_vec()).collect(),
        }
    }

    fn shell(directory: &str, text: &str) -> Option<Vec<String>> {
        of_shell(Path::new("/p"), &listing(directory, &["/bin/sh", "-c", text]), &Links::default())
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
