//! Coverage by file, and the gaps in changed code.

use super::frame::Frame;
use super::{File, Page, Site, parts};
use crate::report::text::counted;

const FILES_OF_PAGE: usize = 1000;
const SHOWN_GAPS: usize = 500;

pub fn pages(site: &Site) -> Vec<Page> {
    let parts = parts(site.files.len(), FILES_OF_PAGE);
    let names: Vec<(String, String)> = parts
        .iter()
        .enumerate()
        .map(|(number, part)| {
            let first = site.files.get(part.start).map_or("", |file| file.name.as_str());
            (path(number), format!("from {first} on"))
        })
        .collect();
    let pages = parts.iter().enumerate().map(|(number, part)| {
        let mut frame = Frame::new(site, path(number), "Files");
        if number == 0 {
            gaps(&mut frame);
        }
        frame.html.begin("section").element("h2", "What the tests reach");
        frame.pager("Parts of the list of files", &names, number);
        files(&mut frame, &site.files[part.clone()]);
        frame.html.end();
        frame.finish()
    });
    pages.collect()
}

fn path(number: usize) -> String {
    if number == 0 { String::from("files.html") } else { format!("files-{}.html", number + 1) }
}

fn gaps(frame: &mut Frame<'_>) {
    let site = frame.site;
    frame.html.begin("section").element("h2", "Gaps in new or changed code");
    let unknown: usize = site.files.iter().map(File::unknown).sum();
    if unknown > 0 {
        let lines = counted(unknown, "line");
        frame.paragraph(&format!(
            "{lines}, new, changed or behind a change, did not run yet: which of these no test reaches is \
             known when the selected tests have run (`edgewise test`)."
        ));
    } else if let Some(why) = &site.gaps.unknown {
        frame.paragraph(why);
    } else if site.gaps.places.is_empty() {
        frame.html.element("p", "Tests reach all code that is new or changed.");
    }
    let all = &site.gaps.places;
    if !all.is_empty() {
        frame.html.begin("ul");
        for gap in all.iter().take(SHOWN_GAPS) {
            frame.html.begin("li").begin("span").attr("class", "path");
            let target = site.line_href(&gap.file, gap.line).map(|target| frame.to(target));
            frame.html.maybe_link(target, &gap.shown).end().text(": ");
            frame.said(&gap.what);
            frame.html.end();
        }
        frame.html.end();
    }
    if all.len() > SHOWN_GAPS {
        let more = all.len() - SHOWN_GAPS;
        frame.paragraph(&format!("and {more} more, which `edgewise gaps` lists"));
    }
    frame.html.end();
}

fn files(frame: &mut Frame<'_>, files: &[File]) {
    if files.is_empty() {
        frame.html.element("p", "Nothing is known of any file: no test was recorded.");
        return;
    }
    let caption = format!("Coverage of {}", counted(frame.site.files.len(), "file"));
    frame.table(
        caption,
        &[
            "File",
            "#Lines reached",
            "#Of lines with code",
            "#Share",
            "#Procedures entered",
            "#Gaps",
        ],
    );
    for file in files {
        let (reached, known) = (file.reached(), file.lines.len() - file.unknown());
        frame.row();
        frame.file(&file.name);
        frame.html.end();
        frame.number(reached);
        frame.number(known);
        match known {
            0 => frame.number("–"),
            known => frame.number(format_args!("{:.0} %", reached as f64 * 100.0 / known as f64)),
        }
        let entered = file.procedures.iter().filter(|procedure| procedure.is_entered).count();
        frame.number(format_args!("{entered} of {}", file.procedures.len()));
        match file.unknown() {
            0 if frame.site.gaps.unknown.is_some() && frame.site.gaps_of(&file.name) == 0 => {
                frame.number("–");
            }
            0 => frame.number(frame.site.gaps_of(&file.name)),
            unknown => frame.number(format_args!("{unknown} not run yet")),
        }
        frame.html.end();
    }
    frame.end_table();
}
