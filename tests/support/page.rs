//! The blocks of a page of the manual, and what becomes of each.

use std::path::Path;

/// Between three backquotes.
#[derive(Debug)]
pub struct Block {
    /// Of the line that opens it, from 1 on.
    pub line: usize,
    pub kind: Kind,
    /// With a newline behind each line.
    pub text: String,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Kind {
    /// `console`: commands behind `$ `, each with what it prints.
    Session,
    /// `LANGUAGE file=PATH`: a file of the project.
    File(String),
    /// `LANGUAGE append=PATH`: more lines of such a file.
    More(String),
    /// `diff`: an edit of the project.
    Edit,
    /// `toml`: a configuration.
    Configuration,
    /// `LANGUAGE from=PATH`: lines of a file of this repository.
    Excerpt(String),
}

pub struct Page {
    pub name: String,
    pub text: String,
    pub blocks: Vec<Block>,
    /// What the session of the page begins with, below testdata, the one over the other.
    pub projects: Vec<String>,
}

impl Page {
    /// Reads a page of this repository. A block that nothing would check is an error.
    pub fn read(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut page =
            Self { name: name.to_string(), text, blocks: Vec::new(), projects: Vec::new() };
        // What stands there is seen without running it on the reader's machine.
        let mut may_be_indented = name == "README.md";
        let lines: Vec<String> = page.text.lines().map(str::to_string).collect();
        let mut at = 0;
        while at < lines.len() {
            let line = &lines[at];
            if let Some(rest) = line.strip_prefix("<!-- project: ") {
                let names = rest.trim_end_matches("-->").split_whitespace();
                page.projects = names.map(str::to_string).collect();
            }
            may_be_indented &= !line.starts_with("## ");
            let is_indented = line.starts_with("    ") && !line.trim().is_empty();
            let is_after_blank = at == 0 || lines[at - 1].trim().is_empty();
            let is_example = is_indented && is_after_blank && !may_be_indented;
            assert!(!is_example, "{name}:{}: an example without fences", at + 1);
            let Some(info) = line.trim_start().strip_prefix("```") else {
                at += 1;
                continue;
            };
            assert!(line.starts_with("```"), "{name}:{}: an indented example", at + 1);
            let Some(kind) = kind(info) else {
                panic!("{name}:{}: nothing checks an example of `{info}`", at + 1)
            };
            let end = lines[at + 1..].iter().position(|line| line == "```");
            let end = at + 1 + end.unwrap_or_else(|| panic!("{name}:{}: without an end", at + 1));
            let text = lines[at + 1..end].iter().map(|line| format!("{line}\n")).collect();
            page.blocks.push(Block { line: at + 1, kind, text });
            at = end + 1;
        }
        page
    }
}

/// Where the relative links of a page lead, without what is behind `#`.
pub fn links(text: &str) -> Vec<String> {
    let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let links = links.map(|link| link.split('#').next().unwrap_or(""));
    links.filter(|link| !link.is_empty() && !link.contains("://")).map(str::to_string).collect()
}

fn kind(info: &str) -> Option<Kind> {
    let (language, rest) = info.split_once(' ').unwrap_or((info, ""));
    match (language, rest.split_once('=')) {
        ("console", None) => Some(Kind::Session),
        ("diff", None) => Some(Kind::Edit),
        ("toml", None) => Some(Kind::Configuration),
        (_, Some(("file", path))) => Some(Kind::File(path.to_string())),
        (_, Some(("append", path))) => Some(Kind::More(path.to_string())),
        (_, Some(("from", path))) => Some(Kind::Excerpt(path.to_string())),
        _ => None,
    }
}

/// A command of a session, and what the page says that it prints.
#[derive(Debug)]
pub struct Exchange {
    /// Lines within the block, from 0 on: of the command, and behind its output.
    pub lines: (usize, usize),
    pub command: String,
    pub output: Vec<String>,
}

/// The commands of a session: behind `$ `, and behind `> ` where they go on.
pub fn exchanges(text: &str) -> Vec<Exchange> {
    let mut all: Vec<Exchange> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if let Some(command) = line.strip_prefix("$ ") {
            let command = command.to_string();
            all.push(Exchange { lines: (number, number + 1), command, output: Vec::new() });
            continue;
        }
        let last = all.last_mut().unwrap_or_else(|| panic!("`{line}` is behind no command"));
        last.lines.1 = number + 1;
        match line.strip_prefix("> ") {
            Some(more) if last.output.is_empty() => {
                last.command.push('\n');
                last.command.push_str(more);
            }
            _ => last.output.push(line.to_string()),
        }
    }
    all
}

/// Whether lines are as expected, where `...` stands for any number of them.
pub fn matches(expected: &[String], lines: &[String]) -> bool {
    // It is not said where tests took less than a millisecond.
    let is_saving =
        |line: &&String| normalised(line).starts_with("saved TIME of TIME of test time ");
    let without = |lines: &[String]| lines.iter().filter(|l| !is_saving(l)).cloned().collect();
    let (expected, lines): (Vec<String>, Vec<String>) = (without(expected), without(lines));
    are_alike(&expected, &lines)
}

fn are_alike(expected: &[String], lines: &[String]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first == "..." => {
            (0..=lines.len()).any(|skipped| are_alike(rest, &lines[skipped..]))
        }
        Some((first, rest)) => lines.split_first().is_some_and(|(line, others)| {
            normalised(first) == normalised(line) && are_alike(rest, others)
        }),
    }
}

/// Without what is another one each time: how long something took, names of versions, which are
/// made of what a compiler says, when they were recorded, and how many files and libraries shells
/// and tools have looked for.
fn normalised(line: &str) -> String {
    let line = line.trim_end();
    let time = regex::Regex::new(r"\b[0-9]+(\.[0-9]+)? (ms|s|min)\b").unwrap();
    let line = time.replace_all(line, "TIME");
    let version = regex::Regex::new(r"\b[0-9a-f]{8,64}\b").unwrap();
    let line = version.replace_all(&line, "VERSION");
    let when = regex::Regex::new(r"\b[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2} UTC").unwrap();
    let line = when.replace_all(&line, "WHEN");
    let files = regex::Regex::new(r"\b(it used|any of the) [0-9]+ (files|libraries)").unwrap();
    files.replace_all(&line, "$1 SOME $2").into_owned()
}
