//! A source with what the tests reach in it, line by line.

use super::frame::Frame;
use super::{File, LINES_OF_PAGE, LineState, Page, Site};
use crate::report::text::counted;

/// Letters of a line that are shown: of generated code, lines may have no end.
const MOST_LETTERS: usize = 2000;

/// The pages of a file, whose text may not be there.
pub fn source(site: &Site, number: usize, text: Result<&str, &str>) -> Vec<Page> {
    let file = &site.files[number];
    let lines: Vec<&str> = text.map(|text| text.lines().collect()).unwrap_or_default();
    let most = LINES_OF_PAGE as usize;
    // Where the text is shorter than what is known of it, links have to lead somewhere.
    let last = file.lines.keys().next_back().map_or(0, |line| *line as usize);
    let count = lines.len().max(last).div_ceil(most).max(1);
    let names: Vec<(String, String)> = (0..count)
        .map(|part| (path(number, part), format!("lines from {} on", part * most + 1)))
        .collect();
    let pages = (0..count).map(|part| {
        let mut frame = Frame::new(site, path(number, part), &file.name);
        header(&mut frame, file, text.err());
        frame.pager("Parts of this file", &names, part);
        let range = part * most..(part + 1) * most;
        match text {
            Ok(_) => {
                let shown = lines.iter().enumerate().skip(range.start).take(most);
                table(&mut frame, file, shown.map(|(place, line)| (place as u32 + 1, *line)));
            }
            // What is known of its lines can be told all the same.
            Err(_) => {
                let known = file.lines.keys().filter(|line| range.contains(&(**line as usize - 1)));
                table(&mut frame, file, known.map(|line| (*line, "")));
            }
        }
        frame.finish()
    });
    pages.collect()
}

fn path(number: usize, part: usize) -> String {
    match part {
        0 => format!("files/{}.html", number + 1),
        part => format!("files/{}-{}.html", number + 1, part + 1),
    }
}

fn header(frame: &mut Frame<'_>, file: &File, problem: Option<&str>) {
    for note in problem.into_iter().chain(file.note.as_deref()) {
        frame.html.begin("p").attr("class", "note").text(note).end();
    }
    let (reached, unknown) = (file.reached(), file.unknown());
    let known = file.lines.len() - unknown;
    let mut says = format!("Tests reach {reached} of {} with code.", counted(known, "line"));
    if unknown > 0 {
        says.push_str(&format!(" {} did not run yet.", counted(unknown, "more line")));
    }
    if file.gaps() > 0 {
        says.push_str(&format!(" {} in new or changed code.", counted(file.gaps(), "gap")));
    }
    frame.html.element("p", says);
    let changed = frame.site.procedures.iter().enumerate();
    let changed: Vec<usize> =
        changed.filter(|(_, p)| p.file == file.name).map(|(number, _)| number).collect();
    if !changed.is_empty() {
        frame.html.begin("p").text("Changed procedures: ");
        for (place, procedure) in changed.iter().enumerate().take(100) {
            frame.html.text(if place > 0 { ", " } else { "" });
            frame.procedure(*procedure);
        }
        frame.html.end();
    }
}

fn table<'t>(frame: &mut Frame<'_>, file: &File, lines: impl Iterator<Item = (u32, &'t str)>) {
    frame.html.begin("table").attr("class", "source");
    frame.html.element("caption", "Lines with the number of tests that reach them");
    frame.html.begin("thead").begin("tr");
    for column in ["Line", "Tests", "Source"] {
        frame.html.begin("th").attr("scope", "col").text(column).end();
    }
    frame.html.end().end().begin("tbody");
    for (number, text) in lines {
        let state = file.lines.get(&number);
        frame.html.begin("tr").attr("id", format_args!("L{number}"));
        if let Some(state) = state {
            frame.html.attr("class", class(state));
        }
        frame.html.begin("td").link(format_args!("#L{number}"), number).end();
        frame.html.element("td", count(state));
        frame.html.begin("td").begin("code");
        match text.char_indices().nth(MOST_LETTERS) {
            Some((end, _)) => frame.html.text(&text[..end]).text(" …"),
            None => frame.html.text(text),
        };
        frame.html.end();
        for gap in state.iter().flat_map(|state| &state.gaps) {
            frame.html.begin("span").attr("class", "gap").text("gap: ").text(gap).end();
        }
        frame.html.end().end();
    }
    frame.html.end().end();
}

fn class(state: &LineState) -> &'static str {
    match (state.tests, state.is_new) {
        (None, _) => "unrun",
        (Some(0), false) => "never",
        (Some(0), true) => "never new",
        (Some(_), false) => "reached",
        (Some(_), true) => "reached new",
    }
}

fn count(state: Option<&LineState>) -> String {
    match state {
        None => String::new(),
        Some(LineState { tests: None, .. }) => String::from("not run"),
        Some(LineState { tests: Some(0), .. }) => String::from("none"),
        Some(LineState { tests: Some(count), .. }) => count.to_string(),
    }
}
