//! The words of a shell's text, as far as it takes to know which patterns the shell may expand. What
//! is not certain counts as a word that may be any pattern.

use std::collections::{BTreeMap, BTreeSet};

/// What a shell was started with.
pub struct Source<'a> {
    /// Its script, or the text behind `-c`.
    pub text: &'a str,
    /// Arguments of the script.
    pub arguments: &'a [String],
    /// Variables of its environment whose values have characters of patterns.
    pub variables: &'a BTreeSet<String>,
    /// Whether files that a word names, which may be a pattern, have such characters in them.
    pub has_patterns: &'a dyn Fn(&str) -> bool,
}

/// A word as a pattern, piece by piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Char(char),
    /// Any text without characters of patterns, also with slashes.
    Text,
    /// Any text, also a pattern.
    Any,
}

/// The words that a shell may expand.
#[derive(Debug, Default)]
pub struct Words {
    pub words: Vec<Vec<Piece>>,
    /// In bash, `**` matches directories below each other.
    pub has_globstar: bool,
}

/// Commands that print no characters of patterns, unless these are in their arguments or in names of
/// files.
const PRINT_NAMES: &[&str] = &[
    "basename", "cd", "date", "dirname", "echo", "expr", "find", "hostname", "id", "ls", "mktemp",
    "nproc", "printf", "pwd", "readlink", "realpath", "seq", "stat", "uname", "wc", "whoami",
    "which", "test", "[", "true", "false", "command",
];
/// The same, if the text that they read has none either.
const FILTERS: &[&str] = &["cut", "grep", "head", "sort", "tail", "tr", "uniq"];
/// Words behind which a command begins.
const KEYWORDS: &[&str] =
    &["if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "fi", "done", "time"];

/// The words of a shell's text. None if it executes text that is not here.
pub fn words(source: &Source<'_>) -> Option<Words> {
    let mut parser = Parser::new(source.text, false);
    parser.parse();
    // The text of a here-document has quotes of its own. So has what was not understood.
    let mut is_plain = Parser::new("", true);
    if parser.has_document || parser.is_unbalanced {
        is_plain = Parser::new(source.text, true);
        is_plain.parse();
    }
    if parser.executes_text || is_plain.executes_text {
        return None;
    }
    let has = |word: &str| {
        source.text.contains(word) || source.arguments.iter().any(|argument| argument == word)
    };
    // Names that match whatever their case is.
    if has("nocaseglob") {
        return None;
    }
    let mut found = Words { words: Vec::new(), has_globstar: has("globstar") };
    for parser in [parser, is_plain] {
        found.words.extend(Values::of(&parser, source).words(&parser));
    }
    for argument in source.arguments {
        let pieces = argument.split_whitespace().map(|word| word.chars().map(Piece::Char));
        found.words.extend(pieces.map(Iterator::collect));
    }
    found.words.sort_by_key(|word| format!("{word:?}"));
    found.words.dedup();
    Some(found)
}

#[derive(Clone, Debug)]
enum Part {
    Char(char, bool),
    Variable(String, bool),
    /// What a command prints, by its place in the list of them.
    Output(usize, bool),
    /// A choice, in braces or between brackets of bash.
    Choice,
    Text,
    Any,
}

#[derive(Clone, Debug, Default)]
struct Word {
    parts: Vec<Part>,
    /// The shell does not expand patterns in it.
    is_kept: bool,
}

impl Word {
    fn literal(&self) -> String {
        let chars = self.parts.iter().map(|part| match part {
            Part::Char(c, _) => *c,
            _ => '$',
        });
        chars.collect()
    }
}

/// A command whose output becomes part of a word.
#[derive(Clone, Debug)]
struct Output {
    prints_names: bool,
    /// It prints files.
    is_cat: bool,
    words: Vec<Word>,
}

impl Output {
    /// Whether the files that it prints are known, and have no characters of patterns.
    fn is_plain(&self, source: &Source<'_>) -> bool {
        let text = |word: &Word| {
            let is_char = |part: &Part| matches!(part, Part::Char(..));
            word.parts.iter().all(is_char).then(|| word.literal())
        };
        let files = self.words.iter().skip(1).map(text);
        self.is_cat && self.words.len() > 1 && { files }
            .all(|name| name.is_some_and(|name| !(source.has_patterns)(&name)))
    }
}

struct Parser {
    text: Vec<char>,
    at: usize,
    ignores_quotes: bool,
    has_extglob: bool,
    words: Vec<Word>,
    outputs: Vec<Output>,
    assigned: Vec<(String, Word)>,
    /// Variables of `for`: their words are expanded.
    looped: Vec<(String, Word)>,
    /// Variables whose values come from elsewhere.
    read: BTreeSet<String>,
    has_functions: bool,
    has_document: bool,
    is_unbalanced: bool,
    executes_text: bool,
}

/// A command that is being read.
#[derive(Default)]
struct Command {
    word: Word,
    is_word: bool,
    /// The words before, as far as they are text.
    before: Vec<String>,
    names: Vec<String>,
}

impl Parser {
    fn new(text: &str, ignores_quotes: bool) -> Self {
        Self {
            text: text.chars().collect(),
            at: 0,
            ignores_quotes,
            has_extglob: text.contains("extglob"),
            words: Vec::new(),
            outputs: Vec::new(),
            assigned: Vec::new(),
            looped: Vec::new(),
            read: BTreeSet::new(),
            has_functions: false,
            has_document: false,
            is_unbalanced: false,
            executes_text: false,
        }
    }

    fn parse(&mut self) {
        while self.at < self.text.len() {
            self.code(None);
        }
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn is_next(&self, offset: usize, c: char) -> bool {
        self.text.get(self.at + offset) == Some(&c)
    }

    /// Reads commands up to a character. Returns the names of the commands.
    fn code(&mut self, stop: Option<char>) -> Vec<String> {
        let mut command = Command::default();
        let mut depth = 0;
        loop {
            let Some(c) = self.peek() else {
                self.is_unbalanced |= stop.is_some();
                break;
            };
            self.at += 1;
            if Some(c) == stop && depth == 0 {
                break;
            }
            match c {
                ' ' | '\t' => self.end_word(&mut command),
                '\n' | ';' | '|' | '&' => self.end_command(&mut command),
                '#' if !command.is_word => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                '?' | '*' | '+' | '@' | '!' if self.has_extglob && self.is_next(0, '(') => {
                    self.skip_group();
                    command.push(Part::Choice);
                    command.push(Part::Char('*', false));
                }
                '(' => {
                    self.has_functions |= self.is_next(0, ')');
                    depth += usize::from(stop == Some(')'));
                    self.end_command(&mut command);
                }
                ')' => {
                    depth = depth.saturating_sub(1);
                    self.end_command(&mut command);
                }
                '<' | '>' => {
                    let is_number = command
                        .word
                        .parts
                        .iter()
                        .all(|part| matches!(part, Part::Char(c, false) if c.is_ascii_digit()));
                    match is_number {
                        true => command.word = Word::default(),
                        false => self.end_word(&mut command),
                    }
                    command.is_word = false;
                    if c == '<' && self.is_next(0, '<') && !self.is_next(1, '<') {
                        self.has_document = true;
                    }
                }
                c => self.part(c, &mut command, false),
            }
        }
        self.end_command(&mut command);
        command.names
    }

    /// A part of a word that begins with a character.
    fn part(&mut self, c: char, command: &mut Command, is_quoted: bool) {
        match c {
            '\'' | '"' if self.ignores_quotes => {}
            '\'' if !is_quoted => {
                command.is_word = true;
                loop {
                    match self.peek() {
                        Some('\'') => break self.at += 1,
                        Some(c) => command.push(Part::Char(c, true)),
                        None => break self.is_unbalanced = true,
                    }
                    self.at += 1;
                }
            }
            '"' if !is_quoted => {
                command.is_word = true;
                loop {
                    match self.peek() {
                        Some('"') => break self.at += 1,
                        Some(c) => {
                            self.at += 1;
                            self.part(c, command, true);
                        }
                        None => break self.is_unbalanced = true,
                    }
                }
            }
            '\\' => {
                if let Some(c) = self.peek() {
                    self.at += 1;
                    if c != '\n' {
                        command.push(Part::Char(c, true));
                    }
                }
            }
            '`' => {
                let mut text = String::new();
                loop {
                    match self.peek() {
                        Some('`') => break self.at += 1,
                        Some('\\') if self.is_next(1, '`') || self.is_next(1, '\\') => {
                            text.extend(self.text.get(self.at + 1));
                            self.at += 1;
                        }
                        Some(c) => text.push(c),
                        None => break self.is_unbalanced = true,
                    }
                    self.at += 1;
                }
                let output = self.inner(&text);
                command.push(Part::Output(output, is_quoted));
            }
            '$' => self.dollar(command, is_quoted),
            c => command.push(Part::Char(c, is_quoted)),
        }
    }

    /// Reads other text as commands whose output is used.
    fn inner(&mut self, text: &str) -> usize {
        let text = std::mem::replace(&mut self.text, text.chars().collect());
        let at = std::mem::replace(&mut self.at, 0);
        let first = self.words.len();
        let mut names = Vec::new();
        while self.at < self.text.len() {
            names.extend(self.code(None));
        }
        (self.text, self.at) = (text, at);
        self.add_output(first, &names)
    }

    fn add_output(&mut self, first: usize, names: &[String]) -> usize {
        let is_name = |name: &String| PRINT_NAMES.contains(&last_of(name));
        let prints_names = names.first().is_none_or(is_name) && { names.iter() }
            .all(|name| is_name(name) || FILTERS.contains(&last_of(name)));
        let is_cat = names.len() == 1 && last_of(&names[0]) == "cat";
        self.outputs.push(Output { prints_names, is_cat, words: self.words[first..].to_vec() });
        self.outputs.len() - 1
    }

    fn dollar(&mut self, command: &mut Command, is_quoted: bool) {
        let Some(c) = self.peek() else { return command.push(Part::Char('$', is_quoted)) };
        match c {
            '(' => {
                self.at += 1;
                let is_number = self.is_next(0, '(');
                let first = self.words.len();
                let names = self.code(Some(')'));
                if is_number {
                    let is_operator = |word: &Word| ["*", "**", "?"].contains(&&*word.literal());
                    let inside = self.words.split_off(first);
                    self.words.extend(inside.into_iter().filter(|word| !is_operator(word)));
                    command.push(Part::Text);
                } else {
                    let output = self.add_output(first, &names);
                    command.push(Part::Output(output, is_quoted));
                }
            }
            '{' => {
                self.at += 1;
                self.braces(command, is_quoted);
            }
            '\'' | '"' if !is_quoted => {}
            c if c.is_ascii_alphabetic() || c == '_' => {
                let name = self.name();
                command.push(Part::Variable(name, is_quoted));
            }
            c if c.is_ascii_digit() || "@*".contains(c) => {
                self.at += 1;
                command.push(Part::Variable(String::from("@"), is_quoted));
            }
            '#' | '?' | '$' | '!' | '-' => {
                self.at += 1;
                command.push(Part::Text);
            }
            _ => command.push(Part::Char('$', is_quoted)),
        }
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self.peek().filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
            name.push(c);
            self.at += 1;
        }
        name
    }

    /// What stands between `${` and `}`.
    fn braces(&mut self, command: &mut Command, is_quoted: bool) {
        let sign = self.peek().filter(|c| "!#".contains(*c) && !self.is_next(1, '}'));
        self.at += usize::from(sign.is_some());
        let mut name = self.name();
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            self.at += usize::from(name.is_empty());
            name = String::from("@");
        }
        let mut inside = Command::default();
        let is_closed = loop {
            let Some(c) = self.peek() else { break false };
            self.at += 1;
            match c {
                '}' => break true,
                c => self.part(c, &mut inside, is_quoted),
            }
        };
        self.is_unbalanced |= !is_closed;
        let word = inside.word;
        let text = word.literal();
        let operator = text.trim_start_matches(':');
        let takes_word = operator.starts_with(['-', '=', '+']) && !text.starts_with("::");
        command.push(match sign {
            Some('#') => Part::Text,
            Some(_) => Part::Any,
            None if text.starts_with('/') && super::pattern::is_pattern(&text) => Part::Any,
            None => Part::Variable(name.clone(), is_quoted),
        });
        if takes_word {
            let skipped = text.chars().count() - operator.chars().count() + 1;
            let word = Word { parts: word.parts[skipped..].to_vec(), is_kept: is_quoted };
            self.words.push(word.clone());
            self.assigned.push((name, word));
        }
    }

    fn skip_group(&mut self) {
        let mut depth = 0;
        while let Some(c) = self.peek() {
            self.at += 1;
            depth += i32::from(c == '(') - i32::from(c == ')');
            if depth == 0 {
                return;
            }
        }
        self.is_unbalanced = true;
    }

    fn end_word(&mut self, command: &mut Command) {
        let is_word = std::mem::take(&mut command.is_word);
        let mut word = std::mem::take(&mut command.word);
        if !is_word {
            return;
        }
        let text = word.literal();
        let first = command.before.first().map_or("", String::as_str);
        let is_first = command.before.is_empty();
        if let Some((name, value)) = assignment(&word) {
            word.is_kept = is_first;
            self.assigned.push((name, value));
            if is_first {
                self.words.push(word);
                return;
            }
        }
        word.is_kept |= first == "case" && command.before.len() == 1 || first == "[[";
        match first {
            "read" | "mapfile" | "readarray" | "getopts" => {
                self.read.insert(text.clone());
            }
            "printf" if command.before.last().is_some_and(|last| last == "-v") => {
                self.read.insert(text.clone());
            }
            "for" | "select" if command.before.len() > 1 => {
                self.looped.push((command.before[1].clone(), word.clone()));
            }
            _ => {}
        }
        let is_behind = ["command", "builtin", "exec"].contains(&first);
        self.executes_text |= (is_first || is_behind) && [".", "source", "eval"].contains(&&*text);
        self.has_functions |= is_first && ["function", "set"].contains(&&*text);
        if first == "trap" && command.before.len() == 1 {
            self.inner(&text);
        }
        self.words.push(word);
        if is_first && KEYWORDS.contains(&&*text) {
            return;
        }
        if is_first && !["for", "case", "select", "in", "esac"].contains(&&*text) {
            command.names.push(text.clone());
        }
        command.before.push(text);
    }

    fn end_command(&mut self, command: &mut Command) {
        self.end_word(command);
        command.before.clear();
    }
}

impl Command {
    fn push(&mut self, part: Part) {
        self.is_word = true;
        self.word.parts.push(part);
    }
}

fn last_of(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The name and the value, if a word is an assignment.
fn assignment(word: &Word) -> Option<(String, Word)> {
    let mut name = String::new();
    for (place, part) in word.parts.iter().enumerate() {
        match part {
            Part::Char('=', false) if !name.is_empty() => {
                let parts = word.parts[place + 1..].to_vec();
                return Some((name, Word { parts, is_kept: true }));
            }
            Part::Char('+', false) => {}
            Part::Char(c, false) if c.is_ascii_alphanumeric() || *c == '_' => name.push(*c),
            _ => return None,
        }
    }
    None
}

/// What a variable, or the output of a command, may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Held {
    Text,
    /// A pattern that is a word of the text.
    Pattern,
    Any,
}

/// What the variables of a text hold.
struct Values<'a> {
    held: BTreeMap<&'a str, Held>,
    variables: &'a BTreeSet<String>,
    outputs: Vec<Held>,
}

impl<'a> Values<'a> {
    fn of(parser: &'a Parser, source: &'a Source<'_>) -> Self {
        let mut values = Self {
            held: BTreeMap::new(),
            variables: source.variables,
            outputs: vec![Held::Text; parser.outputs.len()],
        };
        let is_pattern = |argument: &String| super::pattern::is_pattern(argument);
        if source.arguments.iter().any(is_pattern) {
            values.held.insert("@", Held::Pattern);
        }
        values.held.extend(parser.read.iter().map(|name| (name.as_str(), Held::Any)));
        let is_plain: Vec<bool> =
            parser.outputs.iter().map(|output| output.is_plain(source)).collect();
        // Each round makes at least one of them hold more.
        loop {
            let mut changed = false;
            let mut raise = |held: &mut Held, now: Held| {
                changed |= now > *held;
                *held = now.max(*held);
            };
            for (place, output) in parser.outputs.iter().enumerate() {
                let inside = output.words.iter().map(|word| values.of_word(&word.parts, false));
                let now = match output.prints_names || is_plain[place] {
                    true => inside.max().unwrap_or(Held::Text),
                    false => Held::Any,
                };
                raise(&mut values.outputs[place], now);
            }
            for (name, word) in &parser.assigned {
                let now = values.of_word(&word.parts, false);
                raise(values.held.entry(name).or_insert(Held::Text), now);
            }
            for (name, word) in &parser.looped {
                let now = values.of_word(&word.parts, true);
                raise(values.held.entry(name).or_insert(Held::Text), now);
            }
            // Functions are called with what variables hold.
            if parser.has_functions {
                let held = values.held.values().chain(&values.outputs).max().copied();
                let now = match held {
                    None | Some(Held::Text) => Held::Text,
                    _ => Held::Any,
                };
                raise(values.held.entry("@").or_insert(Held::Text), now);
            }
            if !changed {
                return values;
            }
        }
    }

    fn of_variable(&self, name: &str) -> Held {
        if self.variables.contains(name) || self.variables.contains("*") && name != "@" {
            return Held::Any;
        }
        self.held.get(name).copied().unwrap_or(Held::Text)
    }

    /// What a word holds, or what is left of it after patterns were expanded.
    fn of_word(&self, parts: &[Part], is_expanded: bool) -> Held {
        let of_part = |part: &Part| match part {
            Part::Char(c, quoted) if *quoted || !is_expanded => match "*?[".contains(*c) {
                true => Held::Pattern,
                false => Held::Text,
            },
            Part::Choice if !is_expanded => Held::Pattern,
            Part::Variable(name, quoted) if *quoted || !is_expanded => self.of_variable(name),
            Part::Output(place, quoted) if *quoted || !is_expanded => self.outputs[*place],
            Part::Any => Held::Any,
            _ => Held::Text,
        };
        let segments = parts.split(is_space);
        let held = segments.map(|segment| {
            let held = segment.iter().map(of_part).max().unwrap_or(Held::Text);
            let is_value = |part: &Part| matches!(part, Part::Variable(..) | Part::Output(..));
            // A pattern that is put together is no word of the text.
            let is_composed = segment.len() > 1
                && segment.iter().any(|part| is_value(part) && of_part(part) == Held::Pattern);
            if is_composed { Held::Any } else { held }
        });
        held.max().unwrap_or(Held::Text)
    }

    /// The words that may be expanded, as patterns.
    fn words(&self, parser: &Parser) -> Vec<Vec<Piece>> {
        let mut found = Vec::new();
        for word in &parser.words {
            for whole in word.parts.split(is_space).filter(|parts| !parts.is_empty()) {
                let has_choice = whole.iter().any(|part| matches!(part, Part::Char('{', false)));
                let ends = |part: &Part| match part {
                    Part::Char(',', _) => !has_choice,
                    part => matches!(part, Part::Char('=' | ':', _)),
                };
                let some = whole.split(ends).skip(1).filter(|parts| !parts.is_empty());
                for parts in std::iter::once(whole).chain(some) {
                    let pieces = self.pieces(parts, word.is_kept);
                    let is_char = |c: &char| pieces.contains(&Piece::Char(*c));
                    let is_pattern =
                        ['*', '?'].iter().any(is_char) || ['[', ']'].iter().all(is_char);
                    if is_pattern || pieces.contains(&Piece::Any) {
                        found.push(pieces);
                    }
                }
            }
        }
        found
    }

    fn pieces(&self, parts: &[Part], is_kept: bool) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut in_braces = 0;
        for part in parts {
            let held = match part {
                Part::Variable(name, quoted) => Some((self.of_variable(name), *quoted)),
                Part::Output(place, quoted) => Some((self.outputs[*place], *quoted)),
                Part::Any => Some((Held::Any, false)),
                _ => None,
            };
            let is_alone = parts.len() == 1;
            match (part, held) {
                (Part::Char('{', false), _) => {
                    in_braces += 1;
                    pieces.push(Piece::Text);
                }
                (Part::Char('}', false), _) if in_braces > 0 => in_braces -= 1,
                (Part::Char(c, _), _) if in_braces == 0 => pieces.push(Piece::Char(*c)),
                // Those within the braces may make a pattern as well.
                (Part::Char(c, _), _) if super::pattern::META.contains(c) => {
                    pieces.push(Piece::Char('*'));
                }
                (Part::Char(..), _) => {}
                (_, Some((held, quoted))) => {
                    let may_be_pattern = match held {
                        Held::Text => false,
                        Held::Pattern => !is_alone,
                        Held::Any => true,
                    };
                    pieces.push(match may_be_pattern && !quoted && !is_kept {
                        true => Piece::Any,
                        false => Piece::Text,
                    });
                }
                (Part::Choice, _) => pieces.push(Piece::Text),
                _ => pieces.push(Piece::Text),
            }
        }
        pieces
    }
}

fn is_space(part: &Part) -> bool {
    matches!(part, Part::Char(c, _) if c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(source: &Source<'_>) -> Option<Vec<String>> {
        let words = words(source)?.words.into_iter().map(|word| {
            let pieces = word.into_iter().map(|piece| match piece {
                Piece::Char(c) => c,
                Piece::Text => '_',
                Piece::Any => '%',
            });
            pieces.collect()
        });
        Some(words.collect())
    }

    fn of(text: &str) -> Vec<String> {
        shown(&Source {
            text,
            arguments: &[],
            variables: &BTreeSet::new(),
            has_patterns: &|name| name != "plain",
        })
        .expect("known")
    }

    #[test]
    fn words_that_may_be_patterns() {
        assert_eq!(of("cat a/*.txt >out # don't"), ["a/*.txt"]);
        assert_eq!(of("for f in $d/x*; do cat $f; done"), ["_/x*"]);
        assert_eq!(of("for f in a/*; do n=$(basename $f .c); echo $n \"$f\"; done"), ["a/*"]);
        assert_eq!(of("cat $(cat list)"), ["%"]);
        assert_eq!(of("cat \"$(cat list)\""), [""; 0]);
        assert_eq!(of("cat $(cat plain)"), [""; 0]);
        assert_eq!(of("cat a/$(cat list)/x"), ["a/%/x"]);
        assert_eq!(of("cat parts/$(echo a)*.txt"), ["parts/_*.txt"]);
        assert_eq!(of("x=`cat list`; cat $x"), ["%"]);
        assert_eq!(of("x=`cat list`; cat \"$x\"; case $x in a) ;; esac"), [""; 0]);
        assert_eq!(of("while read f; do cat $f; done <list"), ["%"]);
        assert_eq!(of("P='a/*.x'; cat $P"), ["P=a/*.x", "a/*.x"]);
        assert_eq!(of("E='*.x'; cat a/$E"), ["*.x", "E=*.x", "a/%"]);
        assert_eq!(of("cat ${P:-a/*.x}"), ["a/*.x"]);
        assert_eq!(of("cat $((a * b)) $# $?"), [""; 0]);
        assert_eq!(of("cat ${f%.*}"), [""; 0]);
        assert_eq!(of("[ -f x ] && ls"), [""; 0]);
        assert_eq!(of("f() { cat $1; }; f \"$(cat list)\""), ["%"]);
        assert_eq!(of("shopt -s extglob; cat a/+([0-9]).txt"), ["a/_*.txt"]);
        assert_eq!(of("cat {a,b}/*.x"), ["_/*.x"]);
        assert_eq!(of("trap 'rm -f $x' 0; x=$(cat list)"), ["%"]);
    }

    #[test]
    fn text_that_is_not_here() {
        let none = BTreeSet::new();
        let is_known = |text| {
            words(&Source { text, arguments: &[], variables: &none, has_patterns: &|_| true })
                .is_some()
        };
        assert!(!is_known(". ./more; cat a/*"));
        assert!(!is_known("x=1 && eval \"$x\""));
        assert!(is_known("find . -name x; echo eval"));
        assert!(!is_known("shopt -s nocaseglob; cat a/*"));
    }

    #[test]
    fn arguments_and_variables() {
        let variables = BTreeSet::from([String::from("P")]);
        let arguments = [String::from("a/*.x"), String::from("b")];
        let source = Source {
            text: "cat $P $Q $1",
            arguments: &arguments,
            variables: &variables,
            has_patterns: &|_| true,
        };
        assert_eq!(shown(&source).expect("known"), ["%", "a/*.x", "b"]);
    }
}
