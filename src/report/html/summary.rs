//! The first page: how much was selected, for which changes, and what is missing.

use super::frame::Frame;
use super::{ChangedFile, Page, Site, Verdict};
use crate::report::text::counted;
use crate::report::time::span;
use std::collections::BTreeSet;

/// Selected tests that are named here.
const SHOWN_TESTS: usize = 100;
const SHOWN_FILES: usize = 500;

pub fn page(site: &Site) -> Page {
    let mut frame = Frame::new(site, String::from("index.html"), "Test selection");
    frame.html.element("p", &site.compared);
    missing(&mut frame);
    figures(&mut frame);
    changes_by_file(&mut frame);
    selected(&mut frame);
    frame.finish()
}

fn missing(frame: &mut Frame<'_>) {
    for (title, sentences) in
        [("What is missing here", &frame.site.missing), ("Hints", &frame.site.hints)]
    {
        if sentences.is_empty() {
            continue;
        }
        frame.html.begin("section").attr("class", "note").element("h2", title).begin("ul");
        for sentence in sentences {
            frame.html.element("li", sentence);
        }
        frame.html.end().end();
    }
}

fn figures(frame: &mut Frame<'_>) {
    let site = frame.site;
    let (selected, skipped) = (site.count(Verdict::Selected), site.count(Verdict::Skipped));
    let (took, _) = site.time(Verdict::Selected);
    let (saved, known) = site.time(Verdict::Skipped);
    let total = took + saved;
    let part = if total.is_zero() { 0.0 } else { saved.as_secs_f64() / total.as_secs_f64() };
    let dangers: usize = site.procedures.iter().map(|procedure| procedure.dangers.len()).sum();
    let gaps: usize = site.files.iter().map(super::File::gaps).sum();
    let new: usize = site.files.iter().map(super::File::unknown).sum();
    let mut figures = vec![
        ("Selected", selected.to_string(), format!("of {}", counted(selected + skipped, "test"))),
        ("Skipped", skipped.to_string(), String::from("which no change can affect")),
        (
            "Time saved",
            span(saved),
            format!(
                "{:.0} % of {}, by the last times of {}",
                part * 100.0,
                span(total),
                counted(known, "test")
            ),
        ),
        (
            "Changed procedures",
            site.procedures.len().to_string(),
            format!("with {}", counted(dangers, "dangerous edge")),
        ),
    ];
    if new > 0 {
        figures.push((
            "Not run yet",
            new.to_string(),
            String::from("lines of new or changed code: run the selected tests to know"),
        ));
    } else {
        figures.push((
            "Gaps",
            gaps.to_string(),
            String::from(match site.missing.is_empty() {
                true => "places in new or changed code that no test reaches",
                false => "places that no test reaches, in what could be compared: see above",
            }),
        ));
    }
    let failed = site.tests.iter().filter(|test| test.has_failed).count();
    if failed > 0 {
        figures.push((
            "Did not pass",
            failed.to_string(),
            String::from(match failed {
                1 => "the last time: it stays selected until it does",
                _ => "the last time: they stay selected until they do",
            }),
        ));
    }
    frame.html.begin("section").attr("aria-label", "Figures").begin("dl").attr("class", "figures");
    for (name, value, more) in figures {
        frame.html.begin("div").element("dt", name).element("dd", value);
        frame.html.begin("dd").attr("class", "more").text(more).end().end();
    }
    frame.html.end().end();
}

fn changes_by_file(frame: &mut Frame<'_>) {
    let site = frame.site;
    frame.html.begin("section").element("h2", "Changes by file");
    if site.changed_files.is_empty() && site.procedures.is_empty() {
        frame.html.element("p", "No file changed.").end();
        return;
    }
    let mut files: BTreeSet<&str> = site.procedures.iter().map(|p| p.file.as_str()).collect();
    files.extend(site.changed_files.iter().map(|change| change.file.as_str()));
    let caption = format!("{} with changes", counted(files.len(), "file"));
    frame.table(caption, &["File", "What counts", "Procedures", "#Dangerous edges", "#Tests"]);
    for file in files.iter().take(SHOWN_FILES) {
        let known = site.changed_files.iter().find(|change| change.file == *file);
        let procedures: Vec<usize> =
            (0..site.procedures.len()).filter(|at| site.procedures[*at].file == *file).collect();
        frame.html.begin("tr").begin("th").attr("scope", "row");
        frame.file(file);
        frame.html.end();
        let says = match known {
            Some(change) => format!("{}: {}", change.verb, change.role),
            None => String::from("as it was, but what its code means changed"),
        };
        frame.html.element("td", says);
        frame.html.begin("td");
        for (number, procedure) in procedures.iter().enumerate().take(20) {
            frame.html.text(if number > 0 { ", " } else { "" });
            frame.procedure(*procedure);
        }
        if procedures.len() > 20 {
            frame.html.text(" and ");
            frame.html.link("changes.html", format_args!("{} more", procedures.len() - 20));
        }
        frame.html.end();
        let (dangers, tests) = behind(site, file, known);
        frame.number(dangers);
        frame.number(tests);
        frame.html.end();
    }
    frame.end_table();
    if files.len() > SHOWN_FILES {
        let more = files.len() - SHOWN_FILES;
        frame.html.begin("p").text(format_args!("and {more} more files: "));
        frame.html.link("changes.html", "all changes").end();
    }
    frame.html.end();
}

/// The dangerous edges that a changed file has to do with, and the tests that are selected for it:
/// by its code, by what it declares, or for using it.
fn behind(site: &Site, file: &str, known: Option<&ChangedFile>) -> (usize, usize) {
    let declared = format!("({file}:");
    let mut tests: BTreeSet<usize> = BTreeSet::new();
    let mut edges = 0;
    for procedure in &site.procedures {
        for danger in &procedure.dangers {
            if procedure.file == file || danger.reason.because.contains(&declared) {
                edges += 1;
                tests.extend(&danger.tests);
            }
        }
    }
    if let Some(change) = known {
        let begin = format!("{file} {}", change.verb);
        let others = site.others.iter().filter(|other| other.what.starts_with(&begin));
        others.for_each(|other| tests.extend(&other.tests));
    }
    (edges, tests.len())
}

fn selected(frame: &mut Frame<'_>) {
    let site = frame.site;
    let tests = site.tests.iter().enumerate();
    let tests: Vec<usize> = tests
        .filter(|(_, test)| test.verdict == Verdict::Selected)
        .map(|(number, _)| number)
        .collect();
    frame.html.begin("section").element("h2", "Selected tests");
    if tests.is_empty() {
        frame.html.element("p", "No test is affected.");
    } else {
        frame.tests(&tests[..tests.len().min(SHOWN_TESTS)], SHOWN_TESTS);
    }
    if tests.len() > SHOWN_TESTS {
        let more = tests.len() - SHOWN_TESTS;
        frame.html.begin("p").text(format_args!("and {more} more: "));
        frame.html.link("tests/1.html", "all tests with their reasons").end();
    }
    frame.html.end();
}
