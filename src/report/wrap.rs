//! Lines that are too long for a terminal, broken between words.

use super::style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Below this, a terminal breaks lines as well as we could.
const NARROWEST: usize = 20;
/// What continues a line stands so much further in than its beginning.
const FURTHER: usize = 2;

/// Breaks lines that take more columns. Words stay whole, however long, so that paths
/// and names can be copied.
pub fn wrap(text: &str, columns: usize) -> String {
    if columns < NARROWEST {
        return text.to_string();
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        wrap_line(&mut out, line, columns);
    }
    out
}

fn wrap_line(out: &mut String, line: &str, columns: usize) {
    if width(line) <= columns {
        out.push_str(line);
        return;
    }
    let (text, end) = match line.strip_suffix('\n') {
        Some(text) => (text, "\n"),
        None => (line, ""),
    };
    let indent = text.len() - text.trim_start_matches(' ').len();
    // However deep, half of the columns are left for words.
    let further = (indent + FURTHER).min(columns / 2);
    let mut column = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let gap = rest.len() - rest.trim_start_matches(' ').len();
        let word = rest[gap..].find(' ').map_or(rest.len(), |end| gap + end);
        let (blank, word, behind) = (&rest[..gap], &rest[gap..word], &rest[word..]);
        let is_first = column == 0;
        if !is_first && column + gap + width(word) > columns {
            out.push('\n');
            out.push_str(&" ".repeat(further));
            column = further;
        } else {
            out.push_str(blank);
            column += gap;
        }
        out.push_str(word);
        column += width(word);
        rest = behind;
    }
    out.push_str(end);
}

/// Columns that a text takes; our own colours take none.
pub fn width(text: &str) -> usize {
    let mut columns = 0;
    let mut rest = text;
    while let Some(place) = rest.find('\x1b') {
        columns += rest[..place].width();
        let behind = &rest[place..];
        rest = &behind[style::code(behind).map_or(1, str::len)..];
    }
    columns + rest.trim_end_matches('\n').width()
}

/// As much of a text as fits, with a mark if something is missing.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_string();
    }
    let mut out = String::new();
    let mut left = columns.saturating_sub(1);
    for c in text.chars() {
        let Some(rest) = left.checked_sub(c.width().unwrap_or(0)) else { break };
        left = rest;
        out.push(c);
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::style::Style;

    #[test]
    fn lines_break_between_words_and_stay_further_in() {
        let text = "    one two three four five six\nshort\n";
        assert_eq!(wrap(text, 20), "    one two three\n      four five six\nshort\n");
        assert_eq!(wrap(text, 31), text);
        assert_eq!(wrap(text, 10), text, "no terminal is that narrow");
    }

    #[test]
    fn words_stay_whole() {
        let text = "a/very/long/path/that/does/not/fit b\n";
        assert_eq!(wrap(text, 20), "a/very/long/path/that/does/not/fit\n  b\n");
    }

    #[test]
    fn columns_are_those_of_the_terminal() {
        let style = Style { color: true };
        let text = format!("{} two three four\n", style.name("漢字漢字"));
        assert_eq!(width(&text), 23);
        assert_eq!(wrap(&text, 23), text);
        assert_eq!(wrap(&text, 22), format!("{} two three\n  four\n", style.name("漢字漢字")));
        assert_eq!(cut("漢字漢字", 5), "漢字…");
        assert_eq!(cut("abc", 3), "abc");
    }

    #[test]
    fn however_deep_words_are_left_some_room() {
        let text = format!("{}one two three\n", " ".repeat(30));
        let wrapped = wrap(&text, 20);
        assert_eq!(wrapped.lines().count(), 2, "{wrapped}");
    }
}
