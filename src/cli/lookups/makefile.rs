//! What makefiles say of the files that a make looks for.

use super::pattern::{Pattern, escape};
use crate::bytes;
use crate::cli::build_state::BuildState;
use crate::cli::files;
use std::collections::BTreeSet;
use std::path::Path;

/// Targets that a build of programs does not make.
const NOT_OF_BUILDS: &[&str] = &[
    "check",
    "test",
    "tests",
    "install",
    "uninstall",
    "dist",
    "distdir",
    "distcheck",
    "clean",
    "distclean",
    "mostlyclean",
    "maintainer-clean",
    "tags",
    "TAGS",
    "ctags",
    "cscope",
    "format",
    "fmt",
    "lint",
    "cppcheck",
    "help",
    "coverage",
    ".PHONY",
];
/// Variables that stand for all prerequisites of a rule.
const ALL_PREREQUISITES: &[&str] =
    &["$^", "$+", "$?", "$(^", "$(+", "$(?", "${^", "${+", "${?", "$|"];

/// The words of makefiles and of their parts.
#[derive(Debug, Default)]
pub struct Makefiles {
    pub text: String,
    /// Names with a rule of their own. If a make has a use for such a file, it makes it, so that a
    /// build that did not make it does not look for it as a target or prerequisite.
    targets: BTreeSet<String>,
    /// Lines by which a make finds a file with a rule all the same: `wildcard`, `include`, and the
    /// variables that these may use.
    searching: String,
    lines: Vec<Line>,
}

/// A line with what it is for.
#[derive(Debug)]
struct Line {
    text: String,
    kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// Gives a variable its value.
    Variable(String),
    /// Targets and prerequisites. `hands_on` says whether the recipe uses all prerequisites.
    Rule { hands_on: bool },
    /// A command of a build.
    Recipe,
    /// A command of `make install` and its like.
    NotOfBuilds,
    /// A condition, a part of a makefile, or anything else.
    Other,
}

impl Makefiles {
    pub fn read(root: &Path, state: &BuildState) -> Self {
        let names = state.described.iter().map(|name| root.join(bytes::path(name)));
        let names = names.filter(|name| !files::is_list_of_dependencies(name));
        let texts = names.filter_map(|name| std::fs::read(name).ok());
        let texts = texts.map(|bytes| bytes::to_text(&bytes).into_owned());
        Self::of(texts.collect::<Vec<_>>().join("\n"))
    }

    pub fn of(text: String) -> Self {
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
        let targets = { joined.lines() }.flat_map(targets).collect();
        Self { targets, searching, lines: lines(&joined), text }
    }

    /// Whether a make looks for a file of this name when it lists a directory.
    pub fn look_for(&self, base: &str) -> bool {
        let lines = if self.targets.contains(base) { &self.searching } else { &self.text };
        is_word_of(lines, base)
    }

    /// Whether the names that a pattern finds may become part of what is built by another way
    /// than as prerequisites: in a recipe, a flag or a condition, or as parts of makefiles.
    pub fn use_names_of(&self, pattern: &str) -> bool {
        let last = pattern.rsplit('/').next().unwrap_or(pattern);
        let asks = |text: &str| wildcards(text).iter().any(|word| stands_for(word, last));
        let mut is_found = false;
        let mut variables: Vec<&str> = Vec::new();
        for line in &self.lines {
            let is_word = line.text.split_whitespace().any(|word| base_of(word) == last);
            if !asks(&line.text) && !is_word {
                continue;
            }
            is_found = true;
            match &line.kind {
                Kind::Variable(name) => variables.push(name),
                kind if is_use(kind) => return true,
                _ => {}
            }
        }
        let mut at = 0;
        while let Some(variable) = variables.get(at).copied() {
            at += 1;
            for line in self.lines.iter().filter(|line| refers_to(&line.text, variable)) {
                match &line.kind {
                    Kind::Variable(name) if !variables.contains(&name.as_str()) => {
                        variables.push(name);
                    }
                    Kind::Variable(_) => {}
                    kind if is_use(kind) => return true,
                    _ => {}
                }
            }
        }
        !is_found
    }

    /// Whether a rule for names with a `%`, or for endings, has a use for a file, where these
    /// names, without directories, are those of a build.
    pub fn have_rule_for(&self, base: &str, known: &BTreeSet<String>) -> bool {
        let words = || {
            let is_end = |c: char| c.is_whitespace() || ":;,()".contains(c);
            let words = self.text.split(is_end).filter(|word| word.contains('%'));
            words.filter_map(|word| base_of(word).split_once('%'))
        };
        words().any(|(before, behind)| {
            let stem = base.strip_prefix(before).and_then(|rest| rest.strip_suffix(behind));
            // Sources and headers are looked at in other ways.
            let is_other = !behind.is_empty() && ![".c", ".h"].contains(&behind);
            let is_made = |stem: &str| {
                words().any(|(before, behind)| known.contains(&format!("{before}{stem}{behind}")))
            };
            is_other && stem.is_some_and(is_made)
        })
    }

    /// Whether a suffix rule makes something from files of this ending.
    pub fn have_suffix_rule(&self, ending: &str) -> bool {
        let start = format!(".{ending}.");
        let is_rule = |line: &str| line.starts_with(&start) && line.contains(':');
        self.text.lines().any(is_rule)
    }
}

fn is_use(kind: &Kind) -> bool {
    matches!(kind, Kind::Recipe | Kind::Other | Kind::Rule { hands_on: true })
}

fn base_of(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// The lines of a makefile, each with what it is for.
fn lines(text: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut is_of_builds = true;
    let mut in_define = false;
    let mut rule = None;
    for text in text.lines() {
        let mut words = text.split_whitespace();
        let first = words.next().unwrap_or_default();
        let is_recipe = text.starts_with('\t') && rule.is_some();
        let without_comment = text.split(" #").next().unwrap_or(text);
        let kind = if in_define || is_recipe {
            if ALL_PREREQUISITES.iter().any(|variable| text.contains(variable))
                && let Some(Kind::Rule { hands_on }) =
                    rule.and_then(|at: usize| lines.get_mut(at)).map(|line| &mut line.kind)
            {
                *hands_on |= is_of_builds;
            }
            if is_of_builds || in_define { Kind::Recipe } else { Kind::NotOfBuilds }
        } else if first.is_empty() || first.starts_with('#') {
            continue;
        } else if let Some(name) = assigned(without_comment) {
            Kind::Variable(name)
        } else if !is_directive(first) && without_comment.contains(':') {
            let targets = without_comment.split(':').next().unwrap_or_default();
            let is_other = |target: &str| NOT_OF_BUILDS.contains(&target);
            is_of_builds = targets.is_empty() || !targets.split_whitespace().all(is_other);
            rule = Some(lines.len());
            Kind::Rule { hands_on: text.contains(';') && is_of_builds }
        } else {
            Kind::Other
        };
        if first == "define" {
            in_define = true;
        } else if first == "endef" {
            in_define = false;
        }
        lines.push(Line { text: text.to_string(), kind });
    }
    lines
}

fn is_directive(word: &str) -> bool {
    let words = ["include", "-include", "sinclude", "ifeq", "ifneq", "ifdef", "ifndef", "else"];
    words.contains(&word) || word == "export" || word == "vpath"
}

/// The variable that a line gives a value. One that is exported is used by recipes.
fn assigned(line: &str) -> Option<String> {
    let (before, _) = line.split_once('=')?;
    let before = before.trim_end_matches([':', '?', '+', '!']);
    let mut words = before.split_whitespace().rev();
    let name = words.next()?;
    let is_name = !name.contains([':', '(', ')', '$', '#', '"', '\'']);
    let is_modified = |word: &str| ["override", "private"].contains(&word);
    (is_name && { words }.all(is_modified)).then(|| name.to_string())
}

fn refers_to(text: &str, variable: &str) -> bool {
    ["$(", "${"].iter().any(|start| {
        text.match_indices(&format!("{start}{variable}"))
            .any(|(at, found)| text[at + found.len()..].starts_with([')', '}', ':']))
    })
}

/// The words of the `wildcard` functions in a line.
fn wildcards(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, start) in text.match_indices("wildcard") {
        if !text[..at].ends_with(['(', '{']) {
            continue;
        }
        let mut depth = 0;
        let mut word = String::new();
        for c in text[at + start.len()..].chars() {
            match c {
                '(' | '{' => depth += 1,
                ')' | '}' => depth -= 1,
                _ => {}
            }
            if depth < 0 {
                break;
            }
            if c.is_whitespace() && depth == 0 {
                found.push(std::mem::take(&mut word));
            } else {
                word.push(c);
            }
        }
        found.push(word);
    }
    found.retain(|word| !word.is_empty());
    found
}

/// Whether a word of a makefile may be the last component of a pattern.
fn stands_for(word: &str, last: &str) -> bool {
    let mut text = String::new();
    let mut rest = word.chars();
    while let Some(c) = rest.next() {
        if c != '$' {
            match c {
                '/' => text.push('/'),
                c => text.push_str(&escape(&c.to_string())),
            }
            continue;
        }
        let mut depth = 0;
        for c in rest.by_ref() {
            depth += i32::from("({".contains(c)) - i32::from(")}".contains(c));
            if depth <= 0 {
                break;
            }
        }
        text.push_str("**");
    }
    Pattern::new(&format!("**/{text}")).is_match(&format!("x/{last}"))
        || Pattern::new(base_of(&text)).is_match(last)
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

pub fn is_word_of(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "._-%~#".contains(c);
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn names_that_go_further_than_prerequisites() {
        let uses = |text: &str| Makefiles::of(text.to_string()).use_names_of("parts/*.txt");
        assert!(uses("prog: main.c\n\tcc -DN=$(words $(wildcard parts/*.txt)) main.c\n"));
        assert!(uses("N := $(words $(wildcard $(DIR)/*.txt))\nF = -DN=$(N)\nprog: x\n\tcc $(F)\n"));
        assert!(uses("P = $(wildcard parts/*.txt)\nall: $(P)\n\techo $^ >out\n"));
        assert!(uses("include $(wildcard parts/*.txt)\n"));
        assert!(uses("ifneq ($(wildcard parts/*.$(KIND)),)\nendif\n"));
        assert!(uses("$(foreach f,$(wildcard parts/*.txt),$(eval $(call rule,$f)))\n"));
        assert!(uses("include parts/*.txt\n"));
        assert!(uses("nothing: here\n"));
        assert!(!uses("P = $(wildcard parts/*.txt)\nall: $(P)\n\ttouch $@\n"));
        assert!(!uses("P = $(wildcard parts/*.txt)\nall: parts/*.txt\n\ttouch $@\n"));
        assert!(!uses("P = $(wildcard parts/*.txt)\nQ = $(P)\ninstall: $(P)\n\tcp $(Q) $^ /x\n"));
    }

    #[test]
    fn rules_for_names_with_a_part_that_varies() {
        let known = BTreeSet::from(["libtext.c", "text.txt", "x.o"].map(String::from));
        let has =
            |text: &str, base: &str| Makefiles::of(text.to_string()).have_rule_for(base, &known);
        assert!(has("lib%.c: over/%.txt\n", "text.txt"));
        assert!(!has("lib%.c: over/%.txt\n", "other.txt"));
        assert!(has("%.o: over/%.cc\n", "x.cc"));
        assert!(!has("%.o: %.c\n", "x.c"));
    }
}
