//! The tests, some hundred a page, each with its reasons.

use super::frame::Frame;
use super::{Page, Site, Test, Verdict, Why};
use crate::report::text::{counted, short};
use crate::report::time::span;

/// Reasons and procedures that are named of a test.
const SHOWN: usize = 1000;
const SHOWN_AT_ONCE: usize = 5;
const SHOWN_ENTERED: usize = 20;

pub fn page(site: &Site, number: usize) -> Page {
    let path = format!("tests/{}.html", number + 1);
    let pages = &site.links.test_pages;
    let title = match pages.len() {
        0 | 1 => String::from("Tests"),
        count => format!("Tests, page {} of {count}", number + 1),
    };
    let mut frame = Frame::new(site, path, title);
    let (selected, skipped) = (site.count(Verdict::Selected), site.count(Verdict::Skipped));
    frame.html.begin("p").text(format_args!("{} selected, ", counted(selected, "test")));
    let first = site.tests.iter().position(|test| test.verdict == Verdict::Skipped);
    let first = first.map(|test| frame.to(site.test_href(test)));
    frame.html.maybe_link(first, format_args!("{skipped} skipped"));
    frame.html.text(". Selected ones come first.").end();
    let names: Vec<(String, String)> = pages
        .iter()
        .enumerate()
        .map(|(number, range)| {
            let first = site.tests.get(range.start).map_or("", |test| test.name.as_str());
            (format!("tests/{}.html", number + 1), format!("from {first} on"))
        })
        .collect();
    frame.pager("Pages of tests", &names, number);
    for test in pages.get(number).cloned().unwrap_or_default() {
        one(&mut frame, test);
    }
    frame.finish()
}

fn one(frame: &mut Frame<'_>, number: usize) {
    let site = frame.site;
    let test = &site.tests[number];
    let (verdict, class) = match test.verdict {
        Verdict::Selected => ("selected", "selected"),
        Verdict::Skipped => ("skipped", "skipped"),
        Verdict::Disabled => ("disabled: its suite says that it is not to be run", "skipped"),
    };
    let id = format!("t{}", number + 1);
    frame.html.begin("section").attr("class", "test").attr("id", &id);
    frame.html.begin("h2").link(format_args!("#{id}"), &test.name).text(" ");
    frame.html.begin("span").attr("class", format_args!("verdict {class}")).text(verdict).end();
    frame.html.end();
    if let Some((outcome, time)) = &test.last {
        let says = format!("The last time it {outcome}, in {}.", span(*time));
        frame.html.begin("p").attr("class", "dim").text(says).end();
    }
    if test.verdict == Verdict::Selected {
        reasons(frame, test);
    } else {
        entered(frame, test);
    }
    frame.html.end();
}

fn reasons(frame: &mut Frame<'_>, test: &Test) {
    let shown = &test.reasons[..test.reasons.len().min(SHOWN)];
    let (first, more) = shown.split_at(shown.len().min(SHOWN_AT_ONCE));
    list(frame, first);
    if !more.is_empty() {
        let count = counted(test.reasons.len() - first.len(), "more reason");
        frame.html.begin("details").element("summary", count);
        list(frame, more);
        frame.html.end();
    }
    if test.reasons.len() > SHOWN {
        let more = test.reasons.len() - SHOWN;
        frame.paragraph(&format!("and {more} besides, which `edgewise select --format json` has"));
    }
}

fn list(frame: &mut Frame<'_>, reasons: &[Why]) {
    let site = frame.site;
    frame.html.begin("ul").attr("class", "reasons");
    for reason in reasons {
        frame.html.begin("li");
        match *reason {
            Why::Other(other) => {
                let target = frame.to(format_args!("changes.html#o{}", other + 1));
                frame.html.begin("a").attr("href", target);
                frame.said_plainly(&site.others[other].what);
                frame.html.end();
            }
            Why::Danger { procedure, danger } => {
                let shown = &site.procedures[procedure];
                let reason = &shown.dangers[danger].reason;
                frame.html.text("in ");
                let target = site.procedure_href(procedure);
                let target = target.map(|t| frame.to(format_args!("{t}#d{}", danger + 1)));
                frame.html.begin("code").maybe_link(target, &shown.name).end();
                if !reason.edge.is_empty() {
                    frame.html.text(", on ").code(&reason.edge).text(" of ");
                    frame.html.code(short(&reason.from.text));
                }
                frame.html.text(", to ");
                frame.old_line(procedure, &reason.old);
                if !reason.because.is_empty() {
                    frame.html.text(": ");
                    frame.said(&reason.because);
                }
            }
        }
        frame.html.end();
    }
    frame.html.end();
}

/// What speaks for skipping: the changed procedures that it runs unchanged.
fn entered(frame: &mut Frame<'_>, test: &Test) {
    if test.enters.is_empty() {
        if test.verdict == Verdict::Skipped {
            frame.html.element("p", "It enters no procedure that changed.");
        }
        return;
    }
    frame
        .html
        .begin("p")
        .text("It enters procedures that changed, but takes no edge that leads elsewhere: ");
    for (place, procedure) in test.enters.iter().enumerate().take(SHOWN_ENTERED) {
        frame.html.text(if place > 0 { ", " } else { "" });
        frame.procedure(*procedure);
    }
    if test.enters.len() > SHOWN_ENTERED {
        frame.html.text(format_args!(" and {} more", test.enters.len() - SHOWN_ENTERED));
    }
    frame.html.text(".").end();
}
