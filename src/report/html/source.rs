//! A source with what the tests reach in it, line by line.

use super::frame::Frame;
use super::{File, Group, LINES_OF_PAGE, LineState, Page, Site, depends};
use crate::report::text::counted;
use std::collections::BTreeMap;
use std::ops::Range;

/// Letters of a line that are shown: of generated code, lines may have no end.
const MOST_LETTERS: usize = 2000;
/// Sources, procedures and tests that are named.
const SHOWN: usize = 100;
/// Runs of lines that are named of one group of tests.
const RUNS: usize = 10;

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
        if part == 0 {
            dependents(&mut frame, file);
        }
        frame.pager("Parts of this file", &names, part);
        let range = part * most + 1..(part + 1) * most + 1;
        match text {
            Ok(_) => {
                let shown = lines.iter().enumerate().skip(range.start - 1).take(most);
                table(&mut frame, file, shown.map(|(place, line)| (place as u32 + 1, *line)));
            }
            // What is known of its lines can be told all the same.
            Err(_) => {
                let known = file.lines.keys().filter(|line| range.contains(&(**line as usize)));
                table(&mut frame, file, known.map(|line| (*line, "")));
            }
        }
        reaching(&mut frame, file, range);
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
    let mut says = match file.lines.len() {
        0 if file.note.is_some() => String::new(),
        0 => String::from("No code that tests could reach is known of it."),
        _ => format!("Tests reach {reached} of {} with code.", counted(known, "line")),
    };
    if unknown > 0 {
        says.push_str(&format!(" {} did not run yet.", counted(unknown, "more line")));
    }
    let gaps = frame.site.gaps_of(&file.name);
    if gaps > 0 {
        says.push_str(&format!(" {} in new or changed code.", counted(gaps, "gap")));
    }
    if !says.is_empty() {
        frame.html.element("p", says);
    }
    if !file.included_by.is_empty() {
        frame.html.begin("p").text("Included by ");
        for (place, source) in file.included_by.iter().enumerate().take(SHOWN) {
            frame.html.text(if place > 0 { ", " } else { "" });
            frame.file(source);
        }
        and_more(frame, file.included_by.len());
        frame.html.text(".").end();
    }
    if file.changed.as_ref().is_some_and(|changed| !changed.is_whole) {
        let says = "Which lines changed is not known: the history keeps no sources, and git does not \
                    have this file as it was recorded. Lines that reasons name are marked.";
        frame.html.begin("p").attr("class", "note").text(says).end();
    }
    let changed = frame.site.procedures.iter().enumerate();
    let changed: Vec<usize> =
        changed.filter(|(_, p)| p.file == file.name).map(|(number, _)| number).collect();
    if !changed.is_empty() {
        frame.html.begin("p").text("Changed procedures: ");
        for (place, procedure) in changed.iter().enumerate().take(SHOWN) {
            frame.html.text(if place > 0 { ", " } else { "" });
            frame.procedure(*procedure);
        }
        and_more(frame, changed.len());
        frame.html.end();
    }
}

fn and_more(frame: &mut Frame<'_>, count: usize) {
    if count > SHOWN {
        frame.html.text(format_args!(" and {} more", count - SHOWN));
    }
}

/// What depends on what changed in a file: procedures elsewhere, and tests.
fn dependents(frame: &mut Frame<'_>, file: &File) {
    let site = frame.site;
    let is_changed = site.changed_files.iter().any(|change| change.file == file.name);
    let has_changed = site.procedures.iter().any(|procedure| procedure.file == file.name);
    if !is_changed && !has_changed {
        return;
    }
    let found = depends::of(site, &file.name);
    frame.html.begin("section").attr("id", "depends");
    frame.html.element("h2", "What depends on what changed here");
    if !found.certain.is_empty() {
        frame.html.element("p", "Procedures elsewhere that are others because of it:");
        procedures(frame, &found.certain);
    }
    if !found.possible.is_empty() {
        let says = "Procedures that are others and include this file; other files that they are made \
                    of changed as well, and which one makes the difference is not known:";
        frame.html.element("p", says);
        procedures(frame, &found.possible);
    }
    if !has_changed && found.certain.is_empty() && found.possible.is_empty() {
        let says = match site.missing.is_empty() {
            true => "No procedure is another one because of it.",
            false => {
                "No procedure that could be compared is another one because of it; what could \
                      not is on the summary."
            }
        };
        frame.html.element("p", says);
    }
    let tests: Vec<usize> = found.tests.into_iter().collect();
    if tests.is_empty() {
        let is_known = found.possible.is_empty();
        let says = if is_known {
            "No test is selected for it."
        } else {
            "No test is selected for it alone."
        };
        frame.html.element("p", says);
    } else {
        let are = if tests.len() == 1 { "is" } else { "are" };
        frame.html.begin("section").attr("id", "tests");
        frame
            .html
            .element("p", format_args!("{} {are} selected for it:", counted(tests.len(), "test")));
        frame.tests(&tests, SHOWN);
        frame.html.end();
    }
    frame.html.end();
}

fn procedures(frame: &mut Frame<'_>, numbers: &[usize]) {
    frame.html.begin("ul");
    for number in numbers.iter().take(SHOWN) {
        let procedure = &frame.site.procedures[*number];
        frame.html.begin("li");
        frame.procedure(*number);
        frame.html.text(" (");
        frame.line(&procedure.file, procedure.line);
        frame.html.text("): ");
        let is_listed = !procedure.dangers.is_empty();
        let target = frame.site.procedure_href(*number).filter(|_| is_listed);
        let target = target.map(|target| frame.to(format_args!("{target}#d1")));
        frame.html.maybe_link(target, counted(procedure.selects(), "test")).end();
    }
    frame.html.end();
    if numbers.len() > SHOWN {
        let more = numbers.len() - SHOWN;
        frame.html.begin("p").text(format_args!("and {more} more: "));
        let all = frame.to("changes.html");
        frame.html.link(all, "all changes").end();
    }
}

fn table<'t>(frame: &mut Frame<'_>, file: &File, lines: impl Iterator<Item = (u32, &'t str)>) {
    frame.html.begin("table").attr("class", "source");
    frame.html.begin("caption").text("Lines with the number of tests that reach them");
    let is_marked = file.changed.is_some() || file.lines.values().any(|line| line.is_new);
    frame.html.text(if is_marked {
        "; + is for lines that changed, a bar also for code that means something else"
    } else {
        ""
    });
    frame.html.end();
    frame.html.begin("thead").begin("tr");
    for column in ["Line", "Tests", "Source"] {
        frame.html.begin("th").attr("scope", "col").text(column).end();
    }
    frame.html.end().end().begin("tbody");
    let mut last = 0;
    for (number, text) in lines {
        let state = file.lines.get(&number);
        frame.html.begin("tr").attr("id", format_args!("L{number}"));
        let changed = file.changed.as_ref();
        let is_changed = changed.is_some_and(|changed| changed.lines.contains(&number));
        let class = class(state, is_changed);
        if !class.is_empty() {
            frame.html.attr("class", class);
        }
        frame.html.begin("td").link(format_args!("#L{number}"), number);
        frame.html.text(if is_changed { " +" } else { "" }).end();
        let group = state.and_then(|state| state.group);
        let target = group.map(|group| format!("#g{}", group + 1));
        frame.html.begin("td").maybe_link(target, count(state)).end();
        frame.html.begin("td");
        gone(frame, file, number);
        frame.html.begin("code");
        match text.char_indices().nth(MOST_LETTERS) {
            Some((end, _)) => frame.html.text(&text[..end]).text(" …"),
            None => frame.html.text(text),
        };
        frame.html.end();
        for gap in state.iter().flat_map(|state| &state.gaps) {
            frame.html.begin("span").attr("class", "gap").text("gap: ");
            frame.said_plainly(gap);
            frame.html.end();
        }
        frame.html.end().end();
        last = number;
    }
    if file.changed.as_ref().is_some_and(|changed| changed.gone.contains_key(&(last + 1))) {
        frame.html.begin("tr").begin("td").end().begin("td").end().begin("td");
        gone(frame, file, last + 1);
        frame.html.end().end();
    }
    frame.html.end().end();
}

/// The tests that reach the lines of a page, by groups of lines that the same ones reach.
fn reaching(frame: &mut Frame<'_>, file: &File, lines: Range<usize>) {
    let mut groups: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for (line, state) in &file.lines {
        if let Some(group) = state.group.filter(|_| lines.contains(&(*line as usize))) {
            groups.entry(group).or_default().push(*line);
        }
    }
    if groups.is_empty() {
        return;
    }
    frame.html.begin("section").attr("id", "reaching");
    frame.html.element("h2", "Which tests reach these lines");
    frame.html.begin("dl").attr("class", "reaching");
    for (group, lines) in groups {
        let Some(Group { tests, count }) = file.groups.get(group) else { continue };
        frame.html.begin("dt").attr("id", format_args!("g{}", group + 1));
        let runs = runs(&lines, file);
        frame.html.text(if lines.len() == 1 { "line " } else { "lines " });
        for (place, (first, last)) in runs.iter().enumerate().take(RUNS) {
            frame.html.text(if place > 0 { ", " } else { "" });
            let shown = match first == last {
                true => first.to_string(),
                false => format!("{first} to {last}"),
            };
            frame.html.link(format_args!("#L{first}"), shown);
        }
        if runs.len() > RUNS {
            frame.html.text(format_args!(" and {} more places", runs.len() - RUNS));
        }
        frame.html.end().begin("dd").text(counted(*count, "test")).text(": ");
        for (place, name) in tests.iter().enumerate() {
            frame.html.text(if place > 0 { ", " } else { "" });
            let test = frame.site.links.tests.get(name).copied();
            let target = test.map(|test| frame.to(frame.site.test_href(test)));
            frame.html.maybe_link(target, name);
        }
        if *count > tests.len() {
            frame.html.text(format_args!(" and {} more, which ", count - tests.len()));
            let line = runs.first().map_or(0, |(first, _)| *first);
            let command = format!("edgewise history show {}:{line}", file.name);
            frame.html.code(&command).text(" names");
        }
        frame.html.end();
    }
    frame.html.end().end();
}

/// First and last lines, where no other line of code comes between.
fn runs(lines: &[u32], file: &File) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for line in lines {
        match runs.last_mut() {
            Some((_, last)) if file.lines.range(*last + 1..*line).next().is_none() => *last = *line,
            _ => runs.push((*line, *line)),
        }
    }
    runs
}

/// How many lines stood before a line that are there no more.
fn gone(frame: &mut Frame<'_>, file: &File, line: u32) {
    let changed = file.changed.as_ref();
    if let Some(gone) = changed.and_then(|changed| changed.gone.get(&line)) {
        let are = if *gone == 1 { "is" } else { "are" };
        let says = format!("− {} here {are} gone", counted(*gone, "line"));
        frame.html.begin("span").attr("class", "gone").text(says).end();
    }
}

fn class(state: Option<&LineState>, is_changed: bool) -> &'static str {
    let is_new = is_changed || state.is_some_and(|state| state.is_new);
    match (state.map(|state| state.tests), is_new) {
        (None, false) => "",
        (None, true) => "new",
        (Some(None), false) => "unrun",
        (Some(None), true) => "unrun new",
        (Some(Some(0)), false) => "never",
        (Some(Some(0)), true) => "never new",
        (Some(Some(_)), false) => "reached",
        (Some(Some(_)), true) => "reached new",
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
