//! Writes HTML and SVG: all text is escaped, and every element is closed.

use crate::bytes;
use std::fmt::{Display, Write};

/// Elements that have no end.
const EMPTY: &[&str] = &["meta", "link", "input", "br", "hr", "col"];
/// Elements that begin a line, so that pages can be read and compared.
const LINES: &[&str] = &[
    "head", "body", "meta", "link", "title", "header", "main", "footer", "nav", "section", "h1",
    "h2", "h3", "p", "ul", "li", "table", "thead", "tbody", "tr", "caption", "svg", "g", "div",
    "form", "details", "dl", "dt", "script",
];

#[derive(Debug)]
pub struct Html {
    out: String,
    open: Vec<&'static str>,
    /// The begin of the last element still takes attributes.
    in_tag: bool,
}

impl Html {
    /// A part of a page, or another kind of document.
    pub fn fragment() -> Self {
        Self { out: String::new(), open: Vec::new(), in_tag: false }
    }

    pub fn page() -> Self {
        Self { out: String::from("<!DOCTYPE html>\n"), ..Self::fragment() }
    }

    pub fn begin(&mut self, name: &'static str) -> &mut Self {
        self.leave_tag();
        if LINES.contains(&name) && !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.out.push('<');
        self.out.push_str(name);
        self.open.push(name);
        self.in_tag = true;
        self
    }

    /// An attribute of the element that was just begun.
    pub fn attr(&mut self, name: &str, value: impl Display) -> &mut Self {
        debug_assert!(self.in_tag, "`{name}` belongs to the begin of an element");
        let _ = write!(self.out, " {name}=\"");
        let _ = write!(Escaping { out: &mut self.out, in_attribute: true }, "{value}");
        self.out.push('"');
        self
    }

    /// One without a value.
    pub fn flag(&mut self, name: &str) -> &mut Self {
        self.out.push(' ');
        self.out.push_str(name);
        self
    }

    pub fn text(&mut self, text: impl Display) -> &mut Self {
        self.leave_tag();
        let _ = write!(Escaping { out: &mut self.out, in_attribute: false }, "{text}");
        self
    }

    /// Our own text, as it is.
    pub fn raw(&mut self, text: &str) -> &mut Self {
        self.leave_tag();
        self.out.push_str(text);
        self
    }

    pub fn end(&mut self) -> &mut Self {
        self.leave_tag();
        if let Some(name) = self.open.pop()
            && !EMPTY.contains(&name)
        {
            self.out.push_str("</");
            self.out.push_str(name);
            self.out.push('>');
        }
        self
    }

    /// An element with a text.
    pub fn element(&mut self, name: &'static str, text: impl Display) -> &mut Self {
        self.begin(name).text(text).end()
    }

    pub fn link(&mut self, target: impl Display, text: impl Display) -> &mut Self {
        self.begin("a").attr("href", target).text(text).end()
    }

    /// A link where there is a target; the plain text otherwise.
    pub fn maybe_link(&mut self, target: Option<String>, text: impl Display) -> &mut Self {
        match target {
            Some(target) => self.link(target, text),
            None => self.text(text),
        }
    }

    pub fn code(&mut self, text: impl Display) -> &mut Self {
        self.element("code", text)
    }

    /// Closes whatever is open.
    pub fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.end();
        }
        self.out.push('\n');
        self.out
    }

    fn leave_tag(&mut self) {
        if std::mem::take(&mut self.in_tag) {
            self.out.push('>');
        }
    }
}

struct Escaping<'o> {
    out: &'o mut String,
    in_attribute: bool,
}

impl Write for Escaping<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for c in text.chars() {
            match c {
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '&' => self.out.push_str("&amp;"),
                '"' if self.in_attribute => self.out.push_str("&quot;"),
                '\n' if self.in_attribute => self.out.push_str("&#10;"),
                // What HTML may not hold, and what may turn the text around it.
                '\t' | '\n' => self.out.push(c),
                c if bytes::stands_for(c).is_some() => {
                    self.out.push_str(&bytes::shown(c.encode_utf8(&mut [0; 4])));
                }
                c if c.is_control() || is_direction(c) => {
                    let _ = write!(self.out, "\\u{{{:x}}}", c as u32);
                }
                c => self.out.push(c),
            }
        }
        Ok(())
    }
}

/// Characters that change the direction of the text behind them: with these, source
/// can be made to look like other source.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_it_is_given_stays_text() {
        let mut html = Html::fragment();
        html.begin("a").attr("href", "x\"y&<z>\n").text("<script>alert('&')</script>").end();
        html.begin("input").attr("name", "q").end();
        html.begin("p").text("a\u{0}b\u{202e}c");
        assert_eq!(
            html.finish(),
            "<a href=\"x&quot;y&amp;&lt;z&gt;&#10;\">&lt;script&gt;alert('&amp;')&lt;/script&gt;</a>\
             <input name=\"q\">\n<p>a\\u{0}b\\u{202e}c</p>\n"
        );
    }
}
