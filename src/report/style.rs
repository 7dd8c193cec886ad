//! How text for people looks: few colours, none of which says anything that the words
//! do not say, and nothing in it that a terminal would take for a command.

use crate::bytes;
use std::fmt::Write;

/// Whether text is coloured. Without colour, every method gives back what it was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    pub color: bool,
}

const BOLD: &str = "\x1b[1m";
const FAINT: &str = "\x1b[2m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const CYAN: &str = "\x1b[36m";
const RESET: &str = "\x1b[0m";
/// All that we write ourselves. Whatever else a terminal would obey is foreign.
const CODES: [&str; 7] = [BOLD, FAINT, RED, GREEN, YELLOW, CYAN, RESET];

impl Style {
    pub const PLAIN: Self = Self { color: false };

    fn paint(self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("{code}{text}{RESET}")
        } else {
            text.to_string()
        }
    }

    /// A test, or whatever else a text is about.
    pub fn name(self, text: &str) -> String {
        self.paint(BOLD, text)
    }

    /// What is of less interest.
    pub fn faint(self, text: &str) -> String {
        self.paint(FAINT, text)
    }

    /// What was there before, and what is not as it should be.
    pub fn removed(self, text: &str) -> String {
        self.paint(RED, text)
    }

    /// What is there now, and what is as it should be.
    pub fn added(self, text: &str) -> String {
        self.paint(GREEN, text)
    }

    pub fn error(self, text: &str) -> String {
        self.paint(RED, text)
    }

    pub fn warning(self, text: &str) -> String {
        self.paint(YELLOW, text)
    }

    pub fn hint(self, text: &str) -> String {
        self.paint(CYAN, text)
    }

    /// Colours lines by how they begin: `hint:`, `warning:`, and `-` and `+` before a
    /// line of a source as it was and as it is.
    pub fn lines(self, text: &str) -> String {
        if !self.color {
            return text.to_string();
        }
        text.split_inclusive('\n').map(|line| self.line(line)).collect()
    }

    fn line(self, line: &str) -> String {
        let (text, end) = match line.strip_suffix('\n') {
            Some(text) => (text, "\n"),
            None => (line, ""),
        };
        let words = text.trim_start_matches(' ');
        let indent = &text[..text.len() - words.len()];
        let painted = if let Some(rest) = words.strip_prefix("hint:") {
            format!("{}{rest}", self.hint("hint:"))
        } else if let Some(rest) = words.strip_prefix("warning:") {
            format!("{}{rest}", self.warning("warning:"))
        } else if !indent.is_empty() && words.starts_with("- ") {
            self.removed(words)
        } else if !indent.is_empty() && words.starts_with("+ ") {
            self.added(words)
        } else {
            words.to_string()
        };
        format!("{indent}{painted}{end}")
    }
}

/// The code of ours that a text begins with.
pub fn code(text: &str) -> Option<&'static str> {
    CODES.into_iter().find(|code| text.starts_with(code))
}

/// A text with whatever would command a terminal, or turn the direction of writing,
/// shown as an escape. Lines, tabs and our own colours stay.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(code) = code(rest) {
            out.push_str(code);
            rest = &rest[code.len()..];
            continue;
        }
        match c {
            '\n' | '\t' => out.push(c),
            _ if bytes::stands_for(c).is_some() => {
                out.push_str(&bytes::shown(c.encode_utf8(&mut [0; 4])));
            }
            _ if c.is_control() || turns(c) => {
                let _ = write!(out, "{}", c.escape_default());
            }
            _ => out.push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// Turns the direction in which a terminal writes, so that a text may look like another.
fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colour_nothing_is_added() {
        let text = "a\n    - b\n    + c\nhint: d\nwarning: e\n";
        assert_eq!(Style::PLAIN.lines(text), text);
        assert_eq!(Style::PLAIN.name("a"), "a");
    }

    #[test]
    fn lines_are_coloured_by_how_they_begin() {
        let style = Style { color: true };
        let text = "- no source\n    - b\n    + c\nhint: d\n";
        let expected =
            "- no source\n    \x1b[31m- b\x1b[0m\n    \x1b[32m+ c\x1b[0m\n\x1b[36mhint:\x1b[0m d\n";
        assert_eq!(style.lines(text), expected);
    }

    #[test]
    fn what_commands_a_terminal_is_shown() {
        let name = Style { color: true }.name("a");
        assert_eq!(visible(&name), name);
        assert_eq!(visible("\x1b[2Jx\x07\u{9b}\r\n\ty"), "\\u{1b}[2Jx\\u{7}\\u{9b}\\r\n\ty");
        assert_eq!(visible("\u{202e}abc"), "\\u{202e}abc");
        assert_eq!(visible("\x1b[8mx é 漢"), "\\u{1b}[8mx é 漢");
    }
}
