//! Edits of C that mean nothing to a test and something to a comparison: a branch
//! that is never taken, a case that never comes, another name, a line more.

use regex::Regex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A sequence of numbers that is always the same.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// One edit of one file.
pub struct Edit {
    pub what: String,
    pub path: PathBuf,
    pub before: String,
    pub after: String,
}

/// A statement on a line of its own that is an assignment or a call.
static STATEMENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s+[A-Za-z_][\w.]*(?:(?:->|\.)\w+|\[\w+\])*\s*(?:[-+|&]?=[^=]|\().*;\s*$")
        .unwrap()
});
static DEFAULT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\s+default:\s*$").unwrap());
/// The head of a procedure that only its file knows.
static HEAD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^static [\w \*]*?\b([a-z_]\w+)\s*\([^;{]*\)\s*\{?$").unwrap()
});

/// Makes a file with an edit in it, near a line that tests reach.
pub fn next(
    root: &Path,
    reached: &BTreeMap<String, Vec<usize>>,
    originals: &mut BTreeMap<PathBuf, String>,
    random: &mut Random,
) -> Option<Edit> {
    // Where there is more code there are more edits; that of the project, not of its tests.
    let is_test = |file: &String| file.to_lowercase().contains("test");
    let has_others = !reached.keys().all(is_test);
    let files = reached.iter().filter(|(file, _)| !has_others || !is_test(file));
    let lines: Vec<&String> =
        files.flat_map(|(file, lines)| std::iter::repeat_n(file, lines.len())).collect();
    let file = lines[random.below(lines.len())];
    let path = root.join(file);
    let before = std::fs::read_to_string(&path).ok()?;
    let original = originals.entry(path.clone()).or_insert_with(|| before.clone()).clone();
    let (what, after) = match random.below(6) {
        0 if before != original => (String::from("as it was"), original),
        1 => (String::from("a line more"), format!("/* A line more. */\n{before}")),
        2 => renamed(&before, random)?,
        3 => with_case(&before, random)?,
        _ => with_branch(&before, &reached[file], random)?,
    };
    (after != before).then(|| Edit { what: format!("{file}: {what}"), path, before, after })
}

fn with_branch(text: &str, reached: &[usize], random: &mut Random) -> Option<(String, String)> {
    let mut lines: Vec<String> = text.split('\n').map(String::from).collect();
    let is_behind_statement = |at: usize| {
        let mut before = lines[..at].iter().rev().map(|line| line.trim_end());
        let before = before.find(|line| !line.is_empty());
        before.is_some_and(|line| line.ends_with([';', '{', '}']))
    };
    let candidates = reached.iter().map(|line| line - 1).filter(|at| {
        *at < lines.len() && STATEMENT.is_match(&lines[*at]) && is_behind_statement(*at)
    });
    let candidates: Vec<usize> = candidates.collect();
    let at = *candidates.get(random.below(candidates.len()))?;
    let statement = lines[at].trim().to_string();
    let indent = lines[at].len() - lines[at].trim_start().len();
    let indent = lines[at][..indent].to_string();
    lines[at] = format!(
        "{indent}{{ static int edgewise_calls; if (edgewise_calls++ < 0) edgewise_calls = 0; {statement} }}"
    );
    Some((format!("a branch before `{statement}`"), lines.join("\n")))
}

fn with_case(text: &str, random: &mut Random) -> Option<(String, String)> {
    let mut lines: Vec<String> = text.split('\n').map(String::from).collect();
    let places: Vec<usize> = (0..lines.len()).filter(|at| DEFAULT.is_match(&lines[*at])).collect();
    let at = *places.get(random.below(places.len()))?;
    lines[at] = format!("case 987654: break;\n{}", lines[at]);
    Some((format!("a case before line {}", at + 1), lines.join("\n")))
}

fn renamed(text: &str, random: &mut Random) -> Option<(String, String)> {
    let names: Vec<&str> =
        HEAD.captures_iter(text).map(|found| found.get(1).unwrap().as_str()).collect();
    let name = names.get(random.below(names.len()))?;
    let word = Regex::new(&format!(r"\b{name}\b")).unwrap();
    let after = word.replace_all(text, format!("{name}_called_otherwise").as_str());
    Some((format!("{name} renamed"), after.into_owned()))
}
