//! What is around every page: head, navigation and search.

use super::words::{self, Part};
use super::writer::Html;
use super::{Page, Site};
use crate::select::SourceLine;
use std::fmt::Display;

pub const STYLE: &str = include_str!("assets/page.css");

/// A page that is being written.
pub struct Frame<'s> {
    pub site: &'s Site,
    pub html: Html,
    path: String,
    /// From the page to the report's own directory.
    pub up: &'static str,
    /// The names of the columns of a table, and at which of them its row is.
    columns: Vec<String>,
    column: usize,
}

impl<'s> Frame<'s> {
    pub fn new(site: &'s Site, path: String, title: impl Display) -> Self {
        let up = if path.contains('/') { "../" } else { "" };
        let mut html = Html::page();
        html.begin("html").attr("lang", "en");
        html.begin("head");
        html.begin("meta").attr("charset", "utf-8").end();
        html.begin("meta").attr("name", "viewport");
        html.attr("content", "width=device-width, initial-scale=1").end();
        html.begin("meta").attr("name", "color-scheme").attr("content", "light dark").end();
        html.begin("meta").attr("name", "generator").attr("content", GENERATOR).end();
        html.element("title", format_args!("{title} – {}", site.project));
        html.begin("link").attr("rel", "stylesheet");
        html.attr("href", format_args!("{up}edgewise.css")).end();
        html.end();
        html.begin("body");
        html.begin("a").attr("class", "skip").attr("href", "#content");
        html.text("Skip to the content").end();
        html.begin("header");
        html.begin("p").attr("class", "project").text(&site.project).end();
        html.begin("nav").attr("aria-label", "Pages of this report").begin("ul");
        for (target, name, below) in NAVIGATION {
            html.begin("li").begin("a").attr("href", format_args!("{up}{target}"));
            if target == path {
                html.attr("aria-current", "page");
            } else if below.iter().any(|below| path.starts_with(below)) {
                html.attr("aria-current", "true");
            }
            html.text(name).end().end();
        }
        html.end().end();
        html.begin("form").attr("role", "search");
        html.attr("action", format_args!("{up}search.html")).attr("method", "get");
        html.begin("label").attr("for", "find").text("Find").end().text(" ");
        html.begin("input").attr("id", "find").attr("name", "q").attr("type", "search");
        html.attr("placeholder", "test, file, procedure, file:line").end();
        html.begin("button").attr("type", "submit").text("Search").end();
        html.end();
        html.end();
        html.begin("main").attr("id", "content");
        html.element("h1", title);
        Self { site, html, path, up, columns: Vec::new(), column: 0 }
    }

    pub fn finish(mut self) -> Page {
        self.html.end();
        self.html.begin("footer").begin("p");
        self.html.text("Written by edgewise. ").text(&self.site.compared).end().end();
        Page { path: self.path, text: self.html.finish() }
    }

    /// A target as it is called from this page.
    pub fn to(&self, target: impl Display) -> String {
        format!("{}{target}", self.up)
    }

    /// A link to a line of a source.
    pub fn line(&mut self, file: &str, line: u32) {
        let target = self.site.line_href(file, line).map(|target| self.to(target));
        self.html.begin("span").attr("class", "path");
        self.html.maybe_link(target, format_args!("{file}:{line}")).end();
    }

    /// A link to a line of the old version of a procedure, where that is shown.
    pub fn old_line(&mut self, procedure: usize, line: &SourceLine) {
        let shown = &self.site.procedures[procedure];
        let mut lines = shown.old.iter().flat_map(|old| &old.lines);
        let is_here = shown.file == line.file && lines.any(|known| known.number == line.line);
        let target = self.site.procedure_href(procedure).filter(|_| is_here);
        let target = target.map(|target| self.to(format_args!("{target}#o{}", line.line)));
        self.html.begin("span").attr("class", "path");
        self.html.maybe_link(target, format_args!("{}:{}", line.file, line.line)).end();
    }

    pub fn file(&mut self, file: &str) {
        let target = self.site.file_href(file).or_else(|| self.site.text_href(file));
        let target = target.map(|target| self.to(target));
        self.html.begin("span").attr("class", "path").maybe_link(target, file).end();
    }

    /// A sentence, with its code and its places as such.
    pub fn said(&mut self, text: &str) {
        let site = self.site;
        for part in words::parts(text, &|file| site.links.files.contains_key(file)) {
            match part {
                Part::Text(text) => {
                    self.html.text(text);
                }
                Part::Code(code) => {
                    self.html.code(code);
                }
                Part::Place(file, Some(line)) => self.line(file, line),
                Part::Place(file, None) => self.file(file),
            }
        }
    }

    /// The same without links, for what is one.
    pub fn said_plainly(&mut self, text: &str) {
        for part in words::parts(text, &|_| false) {
            match part {
                Part::Code(code) => self.html.code(code),
                Part::Text(text) | Part::Place(text, _) => self.html.text(text),
            };
        }
    }

    /// A paragraph of it.
    pub fn paragraph(&mut self, text: &str) {
        self.html.begin("p");
        self.said(text);
        self.html.end();
    }

    pub fn procedure(&mut self, procedure: usize) {
        let target = self.site.procedure_href(procedure).map(|target| self.to(target));
        let name = &self.site.procedures[procedure].name;
        self.html.begin("code").maybe_link(target, name).end();
    }

    /// Links to tests; of very many, the first, and how many there are besides.
    pub fn tests(&mut self, tests: &[usize], most: usize) {
        self.html.begin("ul").attr("class", "tests");
        for test in tests.iter().take(most) {
            let target = self.to(self.site.test_href(*test));
            self.html.begin("li").link(target, &self.site.tests[*test].name).end();
        }
        self.html.end();
        if tests.len() > most {
            let more = tests.len() - most;
            self.paragraph(&format!(
                "and {more} more; every test has its reasons on its own page, and \
                 `edgewise select --format json` has all of them"
            ));
        }
    }

    /// The beginning of a table, in a box of its own that it may be wider than. `#`
    /// before the name of a column says that it has numbers.
    pub fn table(&mut self, caption: impl Display, columns: &[&str]) {
        let caption = caption.to_string();
        self.html.begin("div").attr("class", "wide").attr("role", "region");
        self.html.attr("tabindex", "0").attr("aria-label", &caption);
        self.html.begin("table").element("caption", &caption);
        self.html.begin("thead").begin("tr");
        let names = columns.iter().map(|column| column.trim_start_matches('#').to_string());
        self.columns = names.collect();
        for column in columns {
            self.html.begin("th").attr("scope", "col");
            match column.strip_prefix('#') {
                Some(number) => self.html.attr("class", "number").text(number),
                None => self.html.text(column),
            };
            self.html.end();
        }
        self.html.end().end().begin("tbody");
    }

    pub fn end_table(&mut self) {
        self.html.end().end().end();
    }

    /// A row, in whose first cell its name is to be written.
    pub fn row(&mut self) {
        self.column = 1;
        self.html.begin("tr").begin("th").attr("scope", "row");
    }

    /// The next cell of a row. Where a screen is too narrow for columns, their names
    /// stand in the cells.
    pub fn cell(&mut self) -> &mut Html {
        self.html.begin("td");
        if let Some(name) = self.columns.get(self.column) {
            self.html.attr("data-label", name);
        }
        self.column += 1;
        &mut self.html
    }

    pub fn number(&mut self, number: impl Display) {
        self.cell().attr("class", "number").text(number).end();
    }

    /// A number that leads to what it counts.
    pub fn count(&mut self, count: usize, target: Option<String>) {
        let target = target.filter(|_| count > 0).map(|target| self.to(target));
        self.cell().attr("class", "number").maybe_link(target, count).end();
    }

    /// Links to the parts of something that is on several pages.
    pub fn pager(&mut self, of: &str, names: &[(String, String)], current: usize) {
        if names.len() < 2 {
            return;
        }
        self.html.begin("nav").attr("class", "pager").attr("aria-label", of).begin("ul");
        for (number, (target, title)) in names.iter().enumerate() {
            let target = self.to(target);
            self.html.begin("li").begin("a").attr("href", target).attr("title", title);
            if number == current {
                self.html.attr("aria-current", "page");
            }
            self.html.text(number + 1).end().end();
        }
        self.html.end().end();
    }
}

pub const GENERATOR: &str = "edgewise report";

/// Pages with their names, and how the paths of those below them begin.
const NAVIGATION: [(&str, &str, &[&str]); 4] = [
    ("index.html", "Summary", &[]),
    ("changes.html", "Changes", &["changes-", "procedures/"]),
    ("tests/1.html", "Tests", &["tests/"]),
    ("files.html", "Files", &["files-", "files/"]),
];
