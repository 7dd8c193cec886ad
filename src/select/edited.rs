//! Which lines of a file are new or changed, and where the others were before.

use crate::ids::Fingerprint;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Up to this many pairs of lines are compared.
const MOST_PAIRS: usize = 1 << 22;
/// Lines that a statement may have.
const STATEMENT: usize = 20;

/// Where a line comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is new or changed.
    New,
    /// This line of the earlier version.
    Old(u32),
    /// It is not new, and which line it was is not known.
    Unknown,
}

/// The lines of a file.
#[derive(Debug, Default)]
pub struct Lines {
    origins: BTreeMap<u32, Origin>,
    is_same: bool,
    /// Without comments and strings, from the first line on; none if the file cannot be read.
    code: Vec<String>,
    text: Vec<String>,
}

/// The code of a file by its lines, of which the text is not known.
#[derive(Clone, Debug, Default)]
pub struct Code(BTreeMap<(u32, Part), BTreeSet<String>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// The labels of a switch that stand before what is on the line.
    Cases,
    Code,
}

impl Code {
    /// Adds what is on a line, with the labels of a switch that lead there.
    pub fn add(&mut self, line: u32, text: &str, cases: Vec<String>) {
        self.0.entry((line, Part::Code)).or_default().insert(text.to_string());
        if !cases.is_empty() {
            self.0.entry((line, Part::Cases)).or_default().extend(cases);
        }
    }
}

/// A run of lines of the later version which stands for one of the earlier version, as
/// `@@ -a,b +c,d @@` says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hunk {
    pub old: (u32, u32),
    pub new: (u32, u32),
}

impl Hunk {
    /// All hunks of a diff without context.
    pub fn all(diff: &str) -> Vec<Self> {
        let heads = diff.lines().filter_map(|line| line.strip_prefix("@@ -"));
        let hunks = heads.filter_map(|head| {
            let (old, rest) = head.split_once(" +")?;
            let (new, _) = rest.split_once(" @@")?;
            let run = |text: &str| {
                let (first, count) = text.split_once(',').unwrap_or((text, "1"));
                Some((first.parse().ok()?, count.parse().ok()?))
            };
            Some(Self { old: run(old)?, new: run(new)? })
        });
        hunks.collect()
    }
}

impl Lines {
    /// A file that is what it was.
    pub fn same(text: &[String]) -> Self {
        Self { is_same: true, ..Self::default() }.with(text)
    }

    /// A file by a diff of it. What is new only by its white space, according to `spaced`, a
    /// diff without regard to that, is not new.
    pub fn of_diff(text: &[String], hunks: &[Hunk], spaced: &[Hunk]) -> Self {
        let holds = |hunk: &Hunk, line: u32| {
            let (first, count) = hunk.new;
            (first..first.saturating_add(count)).contains(&line)
        };
        let mut lines = Self::default();
        let (mut at, mut offset) = (0, 0i64);
        for line in 1..=text.len() as u32 {
            // One without new lines stands behind the line that it names.
            let is_past = |hunk: &Hunk| match hunk.new {
                (first, 0) => line > first,
                (first, count) => line >= first.saturating_add(count),
            };
            while let Some(hunk) = hunks.get(at).filter(|hunk| is_past(hunk)) {
                offset += i64::from(hunk.old.1) - i64::from(hunk.new.1);
                at += 1;
            }
            let is_new = hunks.get(at).is_some_and(|hunk| holds(hunk, line));
            let origin = match is_new {
                true if spaced.iter().any(|hunk| holds(hunk, line)) => Origin::New,
                true => Origin::Unknown,
                false => Origin::Old((i64::from(line) + offset).try_into().unwrap_or_default()),
            };
            lines.origins.insert(line, origin);
        }
        lines.with(text)
    }

    /// A file of which the earlier text is not known, by the code that was and is on its lines.
    /// Jumps and the later lines of a statement are then not known to be new.
    pub fn of_code(then: &Code, now: &Code, text: &[String]) -> Self {
        let key = |texts: &BTreeSet<String>| {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            Fingerprint::of(texts.join("\n").as_bytes())
        };
        let [before, after] = [then, now].map(|code| code.0.values().map(key).collect::<Vec<_>>());
        let numbers: Vec<u32> = then.0.keys().map(|(line, _)| *line).collect();
        let mut lines = Self::default().with(text);
        let mut cases = Vec::new();
        for (((line, part), texts), then) in now.0.iter().zip(in_common(&before, &after)) {
            match part {
                Part::Code => {
                    let origin = then.map_or(Origin::New, |at| Origin::Old(numbers[at]));
                    lines.origins.insert(*line, origin);
                }
                Part::Cases if then.is_none() => cases.push((*line, texts)),
                Part::Cases => {}
            }
        }
        for (line, labels) in cases {
            // Labels that led there before are not new because of another one.
            let known = match lines.origin(line) {
                Origin::Old(then_line) => then.0.get(&(then_line, Part::Cases)),
                Origin::New | Origin::Unknown => None,
            };
            let fresh = labels.iter().filter(|label| known.is_none_or(|k| !k.contains(*label)));
            let found: Vec<u32> = fresh.filter_map(|label| lines.label(line, label)).collect();
            found.into_iter().for_each(|at| _ = lines.origins.insert(at, Origin::New));
        }
        lines
    }

    /// The line of a label of a switch that stands on a line or before it.
    fn label(&self, line: u32, label: &str) -> Option<u32> {
        let plain = |text: &str| text.split_whitespace().collect::<String>();
        let lines = self.code.get(..line as usize)?.iter().enumerate().rev().take(STATEMENT);
        let mut lines = lines.filter(|(_, code)| plain(code).contains(&plain(label)));
        lines.next().map(|(at, _)| at as u32 + 1)
    }

    fn with(self, text: &[String]) -> Self {
        Self { text: text.to_vec(), code: code(text), ..self }
    }

    pub fn origin(&self, line: u32) -> Origin {
        match self.origins.get(&line) {
            Some(origin) => *origin,
            None if self.is_same => Origin::Old(line),
            None => Origin::Unknown,
        }
    }

    /// A statement that begins on a line, with what may belong to it.
    pub fn text_from(&self, line: u32) -> Option<String> {
        let first = (line as usize).checked_sub(1)?;
        let lines = self.text.get(first..)?.iter().take(STATEMENT);
        let lines: Vec<&str> = lines.map(String::as_str).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// The lines of a body, from the one on which its function is named.
    pub fn body(&self, line: u32) -> Option<Range<u32>> {
        let first = (line as usize).checked_sub(1)?;
        let mut depth = 0i64;
        for (at, code) in self.code.iter().enumerate().skip(first) {
            for c in code.chars() {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    _ => {}
                }
                if c == '}' && depth <= 0 {
                    return Some(line..at as u32 + 1);
                }
            }
        }
        None
    }

    /// What is on a line beside comments, braces and `else`; none if that is nothing, or a
    /// directive of the preprocessor.
    pub fn code(&self, line: u32) -> Option<String> {
        let code = self.code.get((line as usize).checked_sub(1)?)?;
        let mut rest = code.trim();
        if rest.starts_with('#') {
            return None;
        }
        loop {
            let start = rest.trim_start_matches(['{', '}', ';']).trim_start();
            let word = ["else", "do"].iter().find_map(|word| {
                let rest = start.strip_prefix(word)?;
                let goes_on = rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
                (!goes_on).then_some(rest.trim_start())
            });
            match word {
                Some(more) => rest = more,
                None if start == rest => break,
                None => rest = start,
            }
        }
        let has_words = rest.contains(|c: char| c.is_alphanumeric());
        has_words.then(|| self.text[line as usize - 1].trim().to_string())
    }

    /// The last line with code before one.
    fn before(&self, line: u32) -> Option<&str> {
        let lines = self.code.get(..(line as usize).checked_sub(1)?)?;
        lines.iter().rev().map(|line| line.trim()).find(|line| !line.is_empty())
    }

    /// Whether a line goes on with the statement of the one before it.
    pub fn is_continued(&self, line: u32) -> bool {
        self.before(line).is_some_and(|before| {
            !before.starts_with('#') && !before.ends_with([';', '{', '}', ':'])
        })
    }

    /// Whether a line is what an `else` leads to.
    pub fn is_behind_else(&self, line: u32) -> bool {
        let own = self.code.get((line as usize).saturating_sub(1)).map_or("", |code| code.trim());
        let starts = own.trim_start_matches(['}', ' ']).starts_with("else");
        let before = self.before(line).unwrap_or_default();
        starts || before.trim_end_matches(['{', ' ']).ends_with("else")
    }
}

/// The lines of a text with blanks in the place of comments, strings and characters.
fn code(text: &[String]) -> Vec<String> {
    let mut is_comment = false;
    let blank = |line: &String| {
        let mut out = String::with_capacity(line.len());
        let mut letters = line.chars().peekable();
        let mut quote: Option<char> = None;
        while let Some(c) = letters.next() {
            let next = letters.peek().copied();
            if is_comment {
                if c == '*' && next == Some('/') {
                    letters.next();
                    is_comment = false;
                }
                out.push(' ');
            } else if let Some(end) = quote {
                if c == '\\' {
                    letters.next();
                } else if c == end {
                    quote = None;
                    out.push(end);
                }
            } else if c == '/' && next == Some('*') {
                letters.next();
                is_comment = true;
            } else if c == '/' && next == Some('/') {
                break;
            } else {
                quote = Some(c).filter(|c| ['"', '\''].contains(c));
                out.push(c);
            }
        }
        out
    };
    text.iter().map(blank).collect()
}

/// Which item of `before` each of `after` stands for, in the same order.
fn in_common(before: &[Fingerprint], after: &[Fingerprint]) -> Vec<Option<usize>> {
    let mut kept = vec![None; after.len()];
    let same = |(a, b): &(&Fingerprint, &Fingerprint)| a == b;
    let start = before.iter().zip(after).take_while(same).count();
    let (middle, rest) = (&before[start..], &after[start..]);
    let end = middle.iter().rev().zip(rest.iter().rev()).take_while(same).count();
    for (at, kept) in kept.iter_mut().enumerate().take(start) {
        *kept = Some(at);
    }
    for at in 0..end {
        kept[after.len() - 1 - at] = Some(before.len() - 1 - at);
    }
    let (middle, rest) = (&middle[..middle.len() - end], &rest[..rest.len() - end]);
    let found = match middle.len().saturating_mul(rest.len()) > MOST_PAIRS {
        true => in_any_order(middle, rest),
        false => in_order(middle, rest),
    };
    for (now, then) in found {
        kept[start + now] = Some(start + then);
    }
    kept
}

/// A longest common subsequence.
fn in_order(before: &[Fingerprint], after: &[Fingerprint]) -> Vec<(usize, usize)> {
    let width = after.len() + 1;
    let mut best = vec![0u32; (before.len() + 1) * width];
    for i in (0..before.len()).rev() {
        for j in (0..after.len()).rev() {
            best[i * width + j] = match before[i] == after[j] {
                true => best[(i + 1) * width + j + 1] + 1,
                false => best[(i + 1) * width + j].max(best[i * width + j + 1]),
            };
        }
    }
    let mut kept = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < before.len() && j < after.len() {
        if before[i] == after[j] {
            kept.push((j, i));
            (i, j) = (i + 1, j + 1);
        } else if best[(i + 1) * width + j] >= best[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    kept
}

fn in_any_order(before: &[Fingerprint], after: &[Fingerprint]) -> Vec<(usize, usize)> {
    let mut places: FxHashMap<Fingerprint, Vec<usize>> = FxHashMap::default();
    for (at, item) in before.iter().enumerate().rev() {
        places.entry(*item).or_default().push(at);
    }
    let after = after.iter().enumerate();
    after.filter_map(|(now, item)| Some((now, places.get_mut(item)?.pop()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(before: &str, after: &str) -> String {
        let of = |text: &str| text.bytes().map(|b| Fingerprint([b; 16])).collect::<Vec<_>>();
        let kept = in_common(&of(before), &of(after));
        after
            .chars()
            .zip(kept)
            .map(|(item, kept)| if kept.is_some() { item } else { '+' })
            .collect()
    }

    #[test]
    fn lines_are_found_again_by_a_diff() {
        let text: Vec<String> = "a b c d e f".split(' ').map(String::from).collect();
        // Before: `a x c e f`; `b` stands for `x`, `d` is new.
        let diff = "@@ -2 +2 @@\n-x\n+b\n@@ -3,0 +4 @@\n+d\n";
        let hunks = Hunk::all(diff);
        let lines = Lines::of_diff(&text, &hunks, &hunks);
        let origins: Vec<Origin> = (1..=6).map(|line| lines.origin(line)).collect();
        use Origin::{New, Old};
        assert_eq!(origins, [Old(1), New, Old(3), New, Old(4), Old(5)]);
        // Before: `a b x y c d e f`.
        let hunks = Hunk::all("@@ -3,2 +2,0 @@\n-x\n-y\n");
        let lines = Lines::of_diff(&text, &hunks, &hunks);
        let origins: Vec<Origin> = (1..=6).map(|line| lines.origin(line)).collect();
        assert_eq!(origins, [Old(1), Old(2), Old(5), Old(6), Old(7), Old(8)]);
    }

    #[test]
    fn a_body_ends_with_its_brace() {
        let text = "int f(void)\n{\n    /* } */ if (x) {\n        puts(\"}\");\n    }\n}\nint y;\n";
        let text: Vec<String> = text.lines().map(String::from).collect();
        assert_eq!(Lines::same(&text).body(1), Some(1..6));
    }

    #[test]
    fn what_is_new_is_told_from_what_stayed() {
        assert_eq!(kept("abcd", "abcd"), "abcd");
        assert_eq!(kept("abcd", "abxcd"), "ab+cd");
        assert_eq!(kept("abcd", "abxd"), "ab+d");
        assert_eq!(kept("aab", "aaab"), "aa+b");
        assert_eq!(kept("", "ab"), "++");
        assert_eq!(kept("abc", "cab"), "+ab");
        assert_eq!(kept("axbycz", "abc"), "abc");
    }

    #[test]
    fn of_many_items_the_order_does_not_count() {
        let of = |range: std::ops::Range<u32>| range.map(|n| Fingerprint::of(&n.to_le_bytes()));
        let before: Vec<Fingerprint> = of(0..3000).collect();
        let after: Vec<Fingerprint> = of(1000..4000).rev().collect();
        let kept = in_common(&before, &after);
        assert_eq!(kept.iter().flatten().count(), 2000);
    }
}
