//! Search: a page that asks, and an index that is a script, since pages that are
//! opened from a disk may load nothing else.

use super::frame::Frame;
use super::{LINES_OF_PAGE, Page, Site};
use serde_json::json;

pub const SCRIPT: &str = include_str!("assets/search.js");

pub fn page(site: &Site) -> Page {
    let mut frame = Frame::new(site, String::from("search.html"), "Search");
    frame.html.begin("noscript").begin("p");
    frame.html.text("Search needs JavaScript. Without it, everything is in the lists of ");
    frame.html.link("changes.html", "changes").text(", ");
    frame.html.link("tests/1.html", "tests").text(" and ");
    frame.html.link("files.html", "files").text(".").end().end();
    frame.html.begin("p").attr("id", "status").attr("role", "status").end();
    frame.html.begin("div").attr("id", "results").end();
    frame.html.begin("script").attr("src", "search-index.js").end();
    frame.html.begin("script").attr("src", "search.js").end();
    frame.finish()
}

/// Names of everything, with what the addresses of their pages follow from.
pub fn index(site: &Site) -> Page {
    let tests: Vec<&str> = site.tests.iter().map(|test| test.name.as_str()).collect();
    let files: Vec<&str> = site.files.iter().map(|file| file.name.as_str()).collect();
    let procedures: Vec<_> = site
        .files
        .iter()
        .enumerate()
        .flat_map(|(file, known)| known.procedures.iter().map(move |p| (&p.name, file, p.line)))
        .collect();
    let changed: Vec<_> = site
        .procedures
        .iter()
        .enumerate()
        .filter(|(_, procedure)| procedure.has_page)
        .map(|(number, procedure)| (&procedure.name, &procedure.file, number + 1))
        .collect();
    let ends: Vec<usize> = site.links.test_pages.iter().map(|range| range.end).collect();
    let value = json!({
        "tests": tests,
        "testPages": ends,
        "files": files,
        "linesOfPage": LINES_OF_PAGE,
        "procedures": procedures,
        "changed": changed,
    });
    // No text of the index can end the script, wherever it may be copied to.
    let text = value.to_string().replace('<', "\\u003c");
    Page {
        path: String::from("search-index.js"),
        text: format!("window.edgewiseIndex = {text};\n"),
    }
}
