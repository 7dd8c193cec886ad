//! All changes: procedures by file, and what else selects tests.

use super::frame::Frame;
use super::{Page, Site, parts, texts};
use crate::report::text::counted;

const PROCEDURES_OF_PAGE: usize = 800;
/// Tests that are named behind a reason.
const SHOWN_TESTS: usize = 100;

pub fn pages(site: &Site) -> Vec<Page> {
    let parts = parts(site.procedures.len(), PROCEDURES_OF_PAGE);
    let names: Vec<(String, String)> = parts
        .iter()
        .enumerate()
        .map(|(number, part)| {
            let first = site.procedures.get(part.start).map_or("", |p| p.file.as_str());
            (path(number), format!("from {first} on"))
        })
        .collect();
    let pages = parts.iter().enumerate().map(|(number, part)| {
        let mut frame = Frame::new(site, path(number), "Changes");
        if number == 0 {
            others(&mut frame, false);
        }
        frame.html.begin("section").element("h2", "Procedures");
        frame.pager("Parts of the list of procedures", &names, number);
        procedures(&mut frame, part.clone());
        frame.html.end();
        if number == 0 {
            others(&mut frame, true);
            texts::section(&mut frame);
        }
        frame.finish()
    });
    pages.collect()
}

fn path(number: usize) -> String {
    if number == 0 { String::from("changes.html") } else { format!("changes-{}.html", number + 1) }
}

fn procedures(frame: &mut Frame<'_>, part: std::ops::Range<usize>) {
    let site = frame.site;
    if site.procedures.is_empty() {
        frame.html.element("p", "No procedure is another one.");
        return;
    }
    let caption = format!("{} that changed", counted(site.procedures.len(), "procedure"));
    frame.table(
        caption,
        &["Procedure", "Change", "Place", "#Enter it", "#Dangerous edges", "#Tests behind these"],
    );
    for number in part {
        let procedure = &site.procedures[number];
        frame.row();
        frame.procedure(number);
        frame.html.end();
        let excluded = if procedure.is_excluded { ", excluded" } else { "" };
        frame.cell().text(procedure.change.word()).text(excluded).end();
        frame.cell();
        frame.line(&procedure.file, procedure.line);
        frame.html.end();
        let page = site.procedure_href(number);
        let within = |id: &str| page.as_ref().map(|page| format!("{page}#{id}"));
        let entered = site.links.entered[number].len();
        frame.count(procedure.entered, within("entered").filter(|_| entered > 0));
        frame.count(procedure.dangers.len(), within("d1"));
        frame.count(procedure.selects(), within("d1"));
        frame.html.end();
    }
    frame.end_table();
}

/// Reasons that are no edges.
fn others(frame: &mut Frame<'_>, is_excluded: bool) {
    let site = frame.site;
    let all = site.others.iter().enumerate();
    let all: Vec<_> = all.filter(|(_, other)| other.is_excluded == is_excluded).collect();
    if all.is_empty() {
        return;
    }
    let title = match is_excluded {
        true => "Changes in excluded code, which select nothing",
        false => "What selects tests besides code",
    };
    frame.html.begin("section").element("h2", title);
    for (number, other) in all {
        frame.html.begin("details").attr("id", format_args!("o{}", number + 1));
        if other.tests.len() <= 20 {
            frame.html.flag("open");
        }
        let would = if is_excluded { "would select " } else { "" };
        let count = counted(other.tests.len(), "test");
        frame.html.begin("summary");
        frame.said_plainly(&other.what);
        frame.html.text(format_args!(": {would}{count}")).end();
        if let Some(place) = &other.place {
            frame.html.begin("p");
            frame.line(&place.file, place.line);
            frame.html.text(" ").code(&place.text).end();
        }
        let changed = site.changed_files.iter().map(|change| &change.file);
        let file = { changed }.find(|file| other.what.starts_with(&format!("{file} ")));
        if let Some(target) = file.and_then(|file| site.text_href(file)) {
            let target = frame.to(target);
            frame.html.begin("p").link(target, "What changed in it").end();
        }
        frame.tests(&other.tests, SHOWN_TESTS);
        frame.html.end();
    }
    frame.html.end();
}
