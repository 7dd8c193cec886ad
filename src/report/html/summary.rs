//! The first page: how much was selected, for which changes, and what is missing.

use super::frame::Frame;
use super::{Page, Site, Test, Verdict, depends};
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
            frame.html.begin("li");
            frame.said(sentence);
            frame.html.end();
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
    let new: usize = site.files.iter().map(super::File::unknown).sum();
    let first = |is_wanted: &dyn Fn(&Test) -> bool| {
        Some(site.test_href(site.tests.iter().position(is_wanted)?))
    };
    let mut figures = vec![
        (
            "Selected",
            selected.to_string(),
            format!("of {}", counted(selected + skipped, "test")),
            first(&|test| test.verdict == Verdict::Selected),
        ),
        (
            "Skipped",
            skipped.to_string(),
            String::from("which no change can affect"),
            first(&|test| test.verdict == Verdict::Skipped),
        ),
        (
            "Time saved",
            span(saved),
            format!(
                "{:.0} % of {}, by the last times of {}",
                part * 100.0,
                span(total),
                counted(known, "test")
            ),
            None,
        ),
        (
            "Changed procedures",
            site.procedures.len().to_string(),
            format!("with {}", counted(dangers, "dangerous edge")),
            Some(String::from("changes.html")).filter(|_| !site.procedures.is_empty()),
        ),
    ];
    let to_files = Some(String::from("files.html"));
    if new > 0 {
        figures.push((
            "Not run yet",
            new.to_string(),
            String::from("lines of new or changed code: run the selected tests to know"),
            to_files,
        ));
    } else {
        let (gaps, unknown) = (site.gaps.places.len(), &site.gaps.unknown);
        figures.push((
            "Gaps",
            if gaps == 0 && unknown.is_some() {
                String::from("not known")
            } else {
                gaps.to_string()
            },
            match unknown {
                None if site.missing.is_empty() => {
                    String::from("places in new or changed code that no test reaches")
                }
                None => String::from(
                    "places that no test reaches, in what could be compared: see above",
                ),
                Some(why) => why.replace('`', ""),
            },
            to_files,
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
            first(&|test| test.has_failed),
        ));
    }
    frame.html.begin("section").attr("aria-label", "Figures").begin("dl").attr("class", "figures");
    for (name, value, more, target) in figures {
        frame.html.begin("div").element("dt", name);
        frame.html.begin("dd").maybe_link(target, value).end();
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
        frame.row();
        frame.file(file);
        frame.html.end();
        let says = match known {
            Some(change) => format!("{}: {}", change.verb, change.role),
            None => String::from("as it was, but what its code means changed"),
        };
        frame.cell().text(says).end();
        frame.cell();
        for (number, procedure) in procedures.iter().enumerate().take(20) {
            frame.html.text(if number > 0 { ", " } else { "" });
            frame.procedure(*procedure);
        }
        if procedures.len() > 20 {
            frame.html.text(" and ");
            frame.html.link("changes.html", format_args!("{} more", procedures.len() - 20));
        }
        frame.html.end();
        let behind = depends::of(site, file);
        let page = site.file_href(file);
        let within = |id: &str| page.as_ref().map(|page| format!("{page}#{id}"));
        frame.count(behind.edges, within("depends"));
        // What has no page of its own is among what else selects tests.
        let begin = format!("{file} ");
        let other = site.others.iter().position(|other| other.what.starts_with(&begin));
        let other = other.map(|number| format!("changes.html#o{}", number + 1));
        frame.count(behind.tests.len(), within("tests").or(other));
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
