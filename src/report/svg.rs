//! Pictures of control-flow graphs as SVG. Colours come from classes, so that a
//! page decides over light and dark; every mark is a word or a kind of line as well.

use super::html::writer::Html;
use super::labels::{self, Area};
use super::layout::{self, Layout, Point, Size, TooLarge};
use super::picture::{Mark, Picture, PictureEdge, PictureNode};
use crate::cfg::format::NodeKind;
use std::collections::BTreeMap;
use std::fmt::Write;

/// How wide a letter is at the size of 13 pixels, in any usual font of one width.
const LETTER: f64 = 8.0;
const LINE: f64 = 17.0;
const PADDING: f64 = 8.0;
/// Letters of a line of a node, and lines of its text.
const MOST_LETTERS: usize = 34;
const MOST_LINES: usize = 3;
/// Names of edges that are shown where several lead the same way.
const MOST_NAMES: usize = 3;
/// How far the letters of the name of an edge reach below their line.
const BELOW: f64 = 4.0;

/// The colours of pictures, by class.
pub const STYLE: &str = include_str!("html/assets/graph.css");

/// Where a node and a dangerous edge lead when they are followed.
pub struct Links<'l> {
    pub line: &'l dyn Fn(&str, u32) -> Option<String>,
    pub danger: &'l dyn Fn(usize) -> Option<String>,
}

impl Links<'_> {
    pub const NONE: Links<'static> = Links { line: &|_, _| None, danger: &|_| None };
}

/// A picture that can stand alone.
pub fn document(picture: &Picture, title: &str) -> Result<String, TooLarge> {
    let mut html = Html::fragment();
    draw(&mut html, picture, title, &Links::NONE, Some(STYLE))?;
    Ok(html.finish())
}

/// The same as part of a page; how wide it is.
pub fn add(
    html: &mut Html,
    picture: &Picture,
    title: &str,
    links: &Links<'_>,
) -> Result<f64, TooLarge> {
    draw(html, picture, title, links, None)
}

/// Edges that lead from one node to another and have the same to be said of them.
struct Bundle<'p> {
    from: usize,
    to: usize,
    first: &'p PictureEdge,
    names: Vec<&'p str>,
}

fn bundles(picture: &Picture) -> Vec<Bundle<'_>> {
    let mut places: BTreeMap<(usize, usize, Mark, bool, Option<usize>), usize> = BTreeMap::new();
    let mut bundles: Vec<Bundle<'_>> = Vec::new();
    for edge in &picture.edges {
        let key = (edge.from, edge.to, edge.mark, edge.tests == Some(0), edge.danger);
        let place = *places.entry(key).or_insert(bundles.len());
        if place == bundles.len() {
            let (from, to) = (edge.from, edge.to);
            bundles.push(Bundle { from, to, first: edge, names: Vec::new() });
        }
        bundles[place].names.push(&edge.label);
    }
    bundles
}

fn draw(
    html: &mut Html,
    picture: &Picture,
    title: &str,
    links: &Links<'_>,
    style: Option<&str>,
) -> Result<f64, TooLarge> {
    let texts: Vec<Vec<String>> = picture.nodes.iter().map(lines).collect();
    let sizes: Vec<Size> = texts.iter().map(|lines| size(lines)).collect();
    let bundles = bundles(picture);
    let edges: Vec<(usize, usize)> = bundles.iter().map(|b| (b.from, b.to)).collect();
    let Layout { size, nodes, mut edges } = layout::layout(&sizes, &edges)?;
    for (line, bundle) in edges.iter_mut().zip(&bundles).filter(|(line, _)| line.is_empty()) {
        *line = around(nodes[bundle.from], sizes[bundle.from]);
    }
    let names: Vec<String> = bundles.iter().map(name).collect();
    let boxes: Vec<Area> =
        nodes.iter().zip(&sizes).map(|(at, size)| Area::of(*at, *size)).collect();
    let wanted: Vec<Size> = names.iter().map(|name| room(name)).collect();
    let places = labels::place(&boxes, &edges, &wanted);
    // The name of an edge may stand out.
    let named = || names.iter().zip(&places).filter(|(name, _)| !name.is_empty());
    let left = named().map(|(_, place)| place.left - PADDING).fold(0.0, f64::min).floor();
    let right = named().map(|(_, place)| place.right + PADDING).fold(size.width, f64::max);
    let width = right.ceil() - left;
    html.begin("svg");
    if style.is_some() {
        html.attr("xmlns", "http://www.w3.org/2000/svg");
    }
    html.attr("class", "cfg").attr("role", "group").attr("aria-label", title);
    html.attr("width", width).attr("height", size.height);
    html.attr("viewBox", format_args!("{left} 0 {width} {}", size.height));
    html.attr("style", format_args!("--width:{width}px"));
    html.element("title", title);
    if let Some(style) = style {
        html.begin("style").raw(style).end();
    }
    for (bundle, line) in bundles.iter().zip(&edges) {
        edge(html, bundle, line);
    }
    for ((node, lines), (at, size)) in
        picture.nodes.iter().zip(&texts).zip(nodes.iter().zip(&sizes))
    {
        shape(html, node, lines, *at, *size, links);
    }
    // On top of everything: where there is no free place, lines pass behind a name.
    for ((bundle, name), place) in bundles.iter().zip(&names).zip(&places) {
        if !name.is_empty() {
            label(html, bundle, name, *place, links);
        }
    }
    html.end();
    Ok(width)
}

/// What a mark looks like, for a legend.
pub fn sample(html: &mut Html, class: &str) {
    html.begin("svg").attr("class", "cfg").attr("aria-hidden", "true");
    html.attr("width", 80).attr("height", 28).attr("viewBox", "0 0 80 28");
    html.begin("g").attr("class", format_args!("node {class}"));
    html.begin("rect").attr("x", 3).attr("y", 4).attr("width", 28).attr("height", 20);
    html.attr("rx", 2).end().end();
    html.begin("g").attr("class", format_args!("edge {class}"));
    html.begin("polyline").attr("points", "38,14 70,14").end();
    let (before, end) = (Point { x: 38.0, y: 14.0 }, Point { x: 76.0, y: 14.0 });
    html.begin("polygon").attr("points", arrow(before, end)).end();
    html.end().end();
}

fn size(lines: &[String]) -> Size {
    let letters = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    Size {
        width: (letters as f64 * LETTER + 2.0 * PADDING).ceil().max(56.0),
        height: lines.len() as f64 * LINE + PADDING,
    }
}

/// What stands in a node: what is known of it, and its text.
fn lines(node: &PictureNode) -> Vec<String> {
    let mut lines = Vec::new();
    let says = node.says();
    if !says.is_empty() {
        lines.push(says);
    }
    lines.extend(wrap(&node.text));
    lines
}

/// Cuts a text into few lines, between words where it can.
fn wrap(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let letters: Vec<char> = word.chars().collect();
        for part in letters.chunks(MOST_LETTERS) {
            let last = lines.last().map_or(0, |line| line.chars().count());
            if last > 0 && last + 1 + part.len() > MOST_LETTERS {
                lines.push(String::new());
            }
            if let Some(line) = lines.last_mut() {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.extend(part);
            }
        }
    }
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES);
        if let Some(line) = lines.last_mut() {
            line.push_str(" …");
        }
    }
    lines
}

fn shape(
    html: &mut Html,
    node: &PictureNode,
    lines: &[String],
    at: Point,
    size: Size,
    links: &Links<'_>,
) {
    let link = if node.has_place() { (links.line)(&node.file, node.line) } else { None };
    if let Some(link) = &link {
        // The list of lines has the same links for the keyboard.
        html.begin("a").attr("href", link).attr("tabindex", "-1");
    }
    let never = if node.tests == Some(0) { " never" } else { "" };
    html.begin("g").attr("class", format_args!("node {}{never}", node.mark.class()));
    html.element("title", format_args!("{}: {}", node.says(), node.text));
    let (x, y, width, height) = (at.x, at.y, size.width, size.height);
    match node.kind {
        NodeKind::Predicate | NodeKind::Switch | NodeKind::Dispatch => {
            let (right, bottom, middle) = (x + width, y + height, y + height / 2.0);
            let (left, edge) = (x + 6.0, right - 6.0);
            html.begin("polygon").attr(
                "points",
                format_args!(
                    "{left},{y} {edge},{y} {right},{middle} {edge},{bottom} {left},{bottom} {x},{middle}"
                ),
            );
        }
        kind => {
            let is_end = matches!(kind, NodeKind::Entry | NodeKind::Exit);
            html.begin("rect").attr("x", x).attr("y", y).attr("width", width);
            html.attr("height", height).attr("rx", if is_end { height / 2.0 } else { 2.0 });
        }
    }
    html.end();
    let has_words = !node.says().is_empty();
    for (number, line) in lines.iter().enumerate() {
        html.begin("text").attr("x", x + width / 2.0);
        html.attr("y", y + LINE * (number + 1) as f64);
        if number == 0 && has_words {
            html.attr("class", "words");
        }
        html.text(line).end();
    }
    html.end();
    if link.is_some() {
        html.end();
    }
}

fn name(bundle: &Bundle<'_>) -> String {
    let names: Vec<&str> = bundle.names.iter().copied().filter(|name| !name.is_empty()).collect();
    let mut name = names.iter().take(MOST_NAMES).copied().collect::<Vec<_>>().join(", ");
    if names.len() > MOST_NAMES {
        let _ = write!(name, " and {} more", names.len() - MOST_NAMES);
    }
    if name.chars().count() > MOST_LETTERS {
        name = name.chars().take(MOST_LETTERS).chain(['…']).collect();
    }
    if let Some(danger) = bundle.first.danger {
        let gap = if name.is_empty() { "" } else { " " };
        let _ = write!(name, "{gap}dangerous {}", danger + 1);
    }
    name
}

/// An edge to its own node goes round its right side.
fn around(at: Point, size: Size) -> Vec<Point> {
    let (right, top, bottom) = (at.x + size.width, at.y + 6.0, at.y + size.height - 6.0);
    let corners = [(right, bottom), (right + 10.0, bottom), (right + 10.0, top), (right, top)];
    corners.map(|(x, y)| Point { x, y }).to_vec()
}

/// How much room the name of an edge takes.
fn room(name: &str) -> Size {
    Size { width: name.chars().count() as f64 * LETTER, height: LINE }
}

fn edge(html: &mut Html, bundle: &Bundle<'_>, line: &[Point]) {
    let first = bundle.first;
    let never = if first.tests == Some(0) { " never" } else { "" };
    html.begin("g").attr("class", format_args!("edge {}{never}", first.mark.class()));
    let points: Vec<String> = line.iter().map(|point| format!("{},{}", point.x, point.y)).collect();
    html.begin("polyline").attr("points", points.join(" ")).end();
    if let [.., before, end] = line {
        html.begin("polygon").attr("points", arrow(*before, *end)).end();
    }
    html.end();
}

fn label(html: &mut Html, bundle: &Bundle<'_>, name: &str, place: Area, links: &Links<'_>) {
    let first = bundle.first;
    html.begin("g").attr("class", format_args!("name {}", first.mark.class()));
    let link = first.danger.and_then(|danger| (links.danger)(danger));
    if let Some(link) = &link {
        html.begin("a").attr("href", link);
    }
    html.begin("text").attr("x", place.left.round()).attr("y", (place.bottom - BELOW).round());
    html.text(name).end();
    if link.is_some() {
        html.end();
    }
    html.end();
}

fn arrow(before: Point, end: Point) -> String {
    let (dx, dy) = (end.x - before.x, end.y - before.y);
    let length = dx.hypot(dy).max(1.0);
    let (dx, dy) = (dx / length, dy / length);
    let side = |sign: f64| (end.x - 8.0 * dx - sign * 4.0 * dy, end.y - 8.0 * dy + sign * 4.0 * dx);
    let ((ax, ay), (bx, by)) = (side(1.0), side(-1.0));
    format!("{},{} {ax:.1},{ay:.1} {bx:.1},{by:.1}", end.x, end.y)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(text: &str) -> PictureNode {
        PictureNode {
            kind: NodeKind::Statement,
            file: String::from("a.c"),
            line: 3,
            text: text.to_string(),
            mark: Mark::Matched,
            tests: Some(0),
        }
    }

    fn line(from: usize, to: usize, label: &str, danger: Option<usize>) -> PictureEdge {
        let mark = if danger.is_some() { Mark::Dangerous } else { Mark::Matched };
        PictureEdge { from, to, label: label.to_string(), mark, tests: Some(2), danger }
    }

    #[test]
    fn texts_are_escaped_and_marks_are_words() {
        let nodes = vec![node("x = \"<b>\" && y;"), node("return x;")];
        let edges = vec![line(0, 1, "T", Some(0)), line(0, 0, "", None)];
        let svg = document(&Picture { nodes, edges }, "a <title>").unwrap();
        assert!(!svg.contains("<b>") && !svg.contains("a <title>"), "{svg}");
        assert!(svg.contains("x = \"&lt;b&gt;\" &amp;&amp; y;"), "{svg}");
        assert!(svg.contains("line 3, 0 tests, same") && svg.contains("T dangerous 1"), "{svg}");
        assert!(svg.contains("class=\"node matched never\""), "{svg}");
    }

    #[test]
    fn ways_that_lead_to_one_place_are_one_line() {
        let nodes = vec![node("switch"), node("return;")];
        let cases = ["case 1", "case 2", "case 3", "case 4", "case 5"];
        let edges: Vec<PictureEdge> = cases.iter().map(|case| line(0, 1, case, None)).collect();
        let svg = document(&Picture { nodes, edges }, "f").unwrap();
        assert_eq!(svg.matches("<polyline").count(), 1);
        assert!(svg.contains("case 1, case 2, case 3 and 2 more"), "{svg}");
    }

    #[test]
    fn long_texts_are_cut_between_words() {
        assert_eq!(wrap("a short one"), ["a short one"]);
        let long = wrap(&"word ".repeat(40));
        assert_eq!(long.len(), MOST_LINES);
        assert!(long.iter().all(|line| line.chars().count() <= MOST_LETTERS + 2), "{long:?}");
        assert_eq!(wrap(&"x".repeat(50))[0].len(), MOST_LETTERS);
    }
}
