//! A changed procedure: its dangerous edges with the tests behind them, both
//! versions of its source side by side, and both graphs.

use super::align::{Row, align};
use super::frame::Frame;
use super::writer::Html;
use super::{Change, Danger, Page, Procedure, Side, Site, Test, TextLine, Verdict};
use crate::report::layout::TooLarge;
use crate::report::picture::{Mark, Picture};
use crate::report::svg;
use crate::report::text::counted;
use std::collections::BTreeMap;

/// Tests that are named behind an edge.
const SHOWN_TESTS: usize = 200;

/// Brings what matters of large pictures into view.
pub const SCRIPT: &str = include_str!("assets/graphs.js");

pub fn page(site: &Site, number: usize) -> Page {
    let procedure = &site.procedures[number];
    let path = format!("procedures/{}.html", number + 1);
    let mut frame = Frame::new(site, path, &procedure.name);
    intro(&mut frame, number);
    dangers(&mut frame, number);
    sources(&mut frame, procedure);
    graphs(&mut frame, procedure);
    entered(&mut frame, number);
    frame.finish()
}

fn entered(frame: &mut Frame<'_>, number: usize) {
    let tests = &frame.site.links.entered[number];
    if !tests.is_empty() {
        frame.html.begin("section").attr("id", "entered");
        frame.html.element("h2", "Tests that enter it");
        frame.tests(tests, SHOWN_TESTS);
        frame.html.end();
    }
}

fn intro(frame: &mut Frame<'_>, number: usize) {
    let procedure = &frame.site.procedures[number];
    frame.html.begin("p");
    frame.line(&procedure.file, procedure.line);
    frame.html.text(format_args!(", {}", procedure.change.word()));
    if !procedure.programs.is_empty() {
        frame.html.text(format_args!(", in {}", procedure.programs.join(", ")));
    }
    frame.html.text(". ");
    let entered = &frame.site.links.entered[number];
    let target = (!entered.is_empty()).then(|| String::from("#entered"));
    let is_known =
        |test: &Test| test.verdict == Verdict::Disabled || test.last.is_some() && !test.has_failed;
    let is_all_known = frame.site.tests.iter().all(is_known);
    match procedure.entered {
        0 if !is_all_known => frame.html.text(
            "No recorded test run enters it, and not all tests have a recorded run that passed",
        ),
        0 => frame.html.text("No test enters it"),
        1 => frame.html.maybe_link(target, "1 test enters it"),
        count => frame.html.maybe_link(target, format_args!("{count} tests enter it")),
    };
    frame.html.text(".").end();
    if procedure.is_excluded {
        let says = "It is excluded by edgewise.toml: what changed here selects nothing.";
        frame.html.begin("p").attr("class", "note").text(says).end();
    }
    for (programs, chain) in procedure.calls.iter().filter(|(_, chain)| chain.len() > 1) {
        let programs = match procedure.calls.len() {
            1 => String::new(),
            _ => format!(" in {}", programs.join(", ")),
        };
        frame.html.begin("p").text(format_args!("Called like this{programs}: "));
        frame.html.code(chain.join(" > ")).end();
    }
}

fn dangers(frame: &mut Frame<'_>, number: usize) {
    let procedure = &frame.site.procedures[number];
    frame.html.begin("section").element("h2", "Dangerous edges");
    if procedure.dangers.is_empty() {
        let says = match procedure.change {
            Change::Gone => "It is gone: whoever entered it is selected.",
            _ => "It is new, so no test took any of its edges.",
        };
        frame.html.element("p", says);
    }
    for (place, danger) in procedure.dangers.iter().enumerate() {
        one_danger(frame, number, place, danger);
    }
    frame.html.end();
}

fn one_danger(frame: &mut Frame<'_>, procedure: usize, number: usize, danger: &Danger) {
    let reason = &danger.reason;
    frame.html.begin("section").attr("class", "danger");
    frame.html.attr("id", format_args!("d{}", number + 1));
    frame.html.element("h3", format_args!("Dangerous edge {}", number + 1));
    frame.html.begin("p").text("From ");
    frame.old_line(procedure, &reason.from);
    frame.html.text(" ").code(&reason.from.text);
    if !reason.edge.is_empty() {
        frame.html.text(", on ").code(&reason.edge);
    }
    if !reason.because.is_empty() {
        frame.html.text(": ");
        frame.said(&reason.because);
    }
    frame.html.end();
    frame.html.begin("p").attr("class", "was").text("− before: ");
    frame.old_line(procedure, &reason.old);
    frame.html.text(" ").code(&reason.old.text).end();
    if let Some(new) = &reason.new {
        frame.html.begin("p").attr("class", "now").text("+ now: ");
        frame.line(&new.file, new.line);
        frame.html.text(" ").code(&new.text).end();
    }
    match danger.tests.len() {
        0 => {
            frame.html.element("p", "No test is selected for it.");
        }
        count => {
            frame.html.begin("details");
            if count <= 20 {
                frame.html.flag("open");
            }
            frame.html.element("summary", format_args!("{} behind it", counted(count, "test")));
            frame.tests(&danger.tests, SHOWN_TESTS);
            frame.html.end();
        }
    }
    frame.html.end();
}

fn sources(frame: &mut Frame<'_>, procedure: &Procedure) {
    frame.html.begin("section").element("h2", "Source");
    if let Some(old) = procedure.old.as_ref().filter(|old| !old.is_whole)
        && procedure.change == Change::Changed
    {
        let says = if old.lines.is_empty() {
            "Nothing of the old source can be shown: its record cannot be read."
        } else {
            "The history keeps no sources: on the old side stands what it has of the nodes of the graph."
        };
        frame.html.begin("p").attr("class", "note").text(says).end();
    }
    if procedure.new.as_ref().is_some_and(|new| !new.is_whole) {
        let says = "The file is not there to be read: on the new side stands what is known of the nodes of the graph.";
        frame.html.begin("p").attr("class", "note").text(says).end();
    }
    let lines =
        |side: &'_ Option<Side>| side.iter().flat_map(|side| &side.lines).cloned().collect();
    let (old, new): (Vec<TextLine>, Vec<TextLine>) = (lines(&procedure.old), lines(&procedure.new));
    if old.is_empty() && new.is_empty() {
        frame.html.element("p", "Neither version can be shown.").end();
        return;
    }
    let (old_keys, new_keys) = (keys(&old), keys(&new));
    let marks = Marks::of(procedure);
    frame.html.begin("table").attr("class", "diff");
    let caption =
        format!("{} before and now; dangerous edges lead to the marked lines", procedure.name);
    frame.html.element("caption", caption);
    frame.html.begin("thead").begin("tr");
    for column in ["Line before", "Before", "Line now", "Now"] {
        frame.html.begin("th").attr("scope", "col").text(column).end();
    }
    frame.html.end().end().begin("tbody");
    let is_partial = procedure.old.as_ref().is_some_and(|old| !old.is_whole);
    for row in align(&old_keys, &new_keys) {
        let before_is;
        let (class, before, now) = match row {
            // The record has the tokens of a line: what is the same reads better as it is.
            Row::Same(i, j) if is_partial => {
                before_is = TextLine { number: old[i].number, ..new[j].clone() };
                ("same", Some(&before_is), Some(&new[j]))
            }
            Row::Same(i, j) => ("same", Some(&old[i]), Some(&new[j])),
            Row::Changed(i, j) => ("changed", Some(&old[i]), Some(&new[j])),
            Row::Removed(i) => ("removed", Some(&old[i]), None),
            Row::Added(j) => ("added", None, Some(&new[j])),
            Row::Beside(j) => ("beside", None, Some(&new[j])),
        };
        frame.html.begin("tr").attr("class", class);
        cell(frame, procedure, before, "o", marks.before(before));
        cell(frame, procedure, now, "n", marks.now(now));
        frame.html.end();
    }
    frame.html.end().end().end();
}

fn keys(lines: &[TextLine]) -> Vec<Option<&str>> {
    lines.iter().map(|line| line.key.as_deref()).collect()
}

/// Which dangerous edges lead to which lines.
struct Marks {
    old: BTreeMap<u32, Vec<usize>>,
    new: BTreeMap<u32, Vec<usize>>,
}

impl Marks {
    fn of(procedure: &Procedure) -> Self {
        let (mut old, mut new): (BTreeMap<u32, Vec<usize>>, BTreeMap<u32, Vec<usize>>) =
            Default::default();
        for (number, danger) in procedure.dangers.iter().enumerate() {
            old.entry(danger.reason.old.line).or_default().push(number);
            if let Some(now) = &danger.reason.new {
                new.entry(now.line).or_default().push(number);
            }
        }
        Self { old, new }
    }

    fn before(&self, line: Option<&TextLine>) -> &[usize] {
        line.and_then(|line| self.old.get(&line.number)).map_or(&[], Vec::as_slice)
    }

    fn now(&self, line: Option<&TextLine>) -> &[usize] {
        line.and_then(|line| self.new.get(&line.number)).map_or(&[], Vec::as_slice)
    }
}

fn cell(
    frame: &mut Frame<'_>,
    procedure: &Procedure,
    line: Option<&TextLine>,
    side: &'static str,
    dangers: &[usize],
) {
    let class = if side == "o" { "before" } else { "now" };
    let Some(line) = line else {
        frame.html.begin("td").attr("class", format_args!("line {class}")).end();
        frame.html.begin("td").attr("class", format_args!("{class} nothing")).end();
        return;
    };
    let number = line.number;
    frame.html.begin("td").attr("id", format_args!("{side}{number}"));
    frame.html.attr("class", format_args!("line {class}"));
    let target = match side {
        "n" => frame.site.line_href(&procedure.file, number).map(|target| frame.to(target)),
        _ => Some(format!("#o{number}")),
    };
    frame.html.maybe_link(target, number).end();
    let danger = if dangers.is_empty() { "" } else { " dangerous" };
    frame.html.begin("td").attr("class", format_args!("{class}{danger}"));
    frame.html.code(&line.text);
    for danger in dangers.iter().take(5) {
        let text = format!("dangerous edge {}", danger + 1);
        frame.html.text(" ").begin("a").attr("class", "mark");
        frame.html.attr("href", format_args!("#d{}", danger + 1)).text(text).end();
    }
    if dangers.len() > 5 {
        frame.html.text(format_args!(" and {} more", dangers.len() - 5));
    }
    frame.html.end();
}

fn graphs(frame: &mut Frame<'_>, procedure: &Procedure) {
    frame.html.begin("section").element("h2", "Control-flow graphs");
    legend(frame);
    frame.html.begin("div").attr("class", "graphs");
    let sides = [(&procedure.old, "Before", "It is new."), (&procedure.new, "Now", "It is gone.")];
    let drawn = sides.map(|(side, title, _)| {
        let picture = side.as_ref()?.picture.as_ref()?;
        Some(drawing(frame, picture, &label(title, &procedure.name)))
    });
    let widths = drawn.iter().flatten().flatten().map(|drawing| drawing.width);
    let widest = widths.fold(1.0, f64::max);
    for ((side, title, absent), drawn) in sides.into_iter().zip(drawn) {
        frame.html.begin("section").attr("class", "graph");
        if let Some(Ok(drawing)) = &drawn {
            // Two that are made smaller for want of room are so alike.
            let share = drawing.width / widest * 100.0;
            frame.html.attr("style", format_args!("--share:{share:.1}%"));
        }
        frame.html.element("h3", title);
        match (side.as_ref().map(|side| side.picture.as_ref()), drawn) {
            (None, _) => {
                frame.html.element("p", absent);
            }
            (Some(Some(_)), Some(Ok(drawing))) => {
                frame.html.begin("div").attr("class", "wide").attr("tabindex", "0");
                frame.html.attr("role", "region");
                frame.html.attr("aria-label", label(title, &procedure.name));
                frame.html.raw(&drawing.svg).end();
            }
            (Some(Some(picture)), Some(Err(why))) => {
                frame.html.element("p", format_args!("{why}: its nodes as a list."));
                listed(frame, picture);
            }
            _ => {
                frame.html.element("p", "Its graph cannot be read.");
            }
        }
        frame.html.end();
    }
    frame.html.end().end();
    frame.html.begin("script").attr("src", frame.up.to_string() + "graphs.js").end();
}

/// What is read aloud in the place of a picture.
fn label(title: &str, procedure: &str) -> String {
    format!("{title}: the graph of {procedure}")
}

struct Drawing {
    svg: String,
    width: f64,
}

fn drawing(frame: &Frame<'_>, picture: &Picture, label: &str) -> Result<Drawing, TooLarge> {
    let (site, up) = (frame.site, frame.up);
    let line = |file: &str, line: u32| site.line_href(file, line).map(|to| format!("{up}{to}"));
    let danger = |number: usize| Some(format!("#d{}", number + 1));
    let links = svg::Links { line: &line, danger: &danger };
    let mut drawn = Html::fragment();
    let width = svg::add(&mut drawn, picture, label, &links)?;
    Ok(Drawing { svg: drawn.finish(), width })
}

/// A graph that is too large for a picture.
fn listed(frame: &mut Frame<'_>, picture: &Picture) {
    const MOST: usize = 5000;
    frame.html.begin("ol").attr("class", "nodes").attr("start", "0");
    let mut edges = picture.edges.iter().peekable();
    for (number, node) in picture.nodes.iter().enumerate().take(MOST) {
        frame.html.begin("li").attr("class", node.mark.class()).code(&node.text);
        frame.html.text(format_args!(" ({})", node.says()));
        while let Some(edge) = edges.next_if(|edge| edge.from <= number) {
            let label = if edge.label.is_empty() { "" } else { " " };
            frame.html.text(format_args!("; {}{label}to {}", edge.label, edge.to));
            match (edge.mark, edge.danger) {
                (_, Some(danger)) => {
                    frame.html.text(", ");
                    let text = format!("dangerous edge {}", danger + 1);
                    frame.html.link(format_args!("#d{}", danger + 1), text);
                }
                (Mark::NotVisited, None) => {
                    frame.html.text(", not visited");
                }
                _ => {}
            }
        }
        frame.html.end();
    }
    frame.html.end();
    if picture.nodes.len() > MOST {
        frame.html.element("p", format_args!("and {} more", picture.nodes.len() - MOST));
    }
}

fn legend(frame: &mut Frame<'_>) {
    frame.html.begin("ul").attr("class", "legend");
    for (class, says) in [
        ("matched", "same: it has a counterpart, thin lines"),
        ("dangerous", "differs: the dangerous edge leads elsewhere now, thick lines"),
        ("unvisited", "not visited: behind a difference, broken lines"),
        ("matched never", "0 tests: nobody runs it, grey nodes and dotted edges"),
    ] {
        frame.html.begin("li");
        svg::sample(&mut frame.html, class);
        frame.html.text(says).end();
    }
    frame.html.end();
}
