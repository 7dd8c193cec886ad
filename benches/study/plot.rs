//! Bars, as SVG that follows the reader's colours.

use std::fmt::Write;

/// A group of bars with a name: one value, from 0 to 1, for each series.
pub struct Group {
    pub name: String,
    pub values: Vec<f64>,
}

const BAR: usize = 9;
const GAP: usize = 12;
const LEFT: usize = 170;
const WIDTH: usize = 520;
const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#222}.axis{stroke:#999;stroke-width:1}\
.s0{fill:#1b6ca8}.s1{fill:#e08e0b}.s2{fill:#6a994e}.s3{fill:#8d5a97}.s4{fill:#888}\
@media(prefers-color-scheme:dark){text{fill:#ddd}}";

/// Horizontal bars, a group below the other.
pub fn bars(title: &str, series: &[&str], groups: &[Group]) -> String {
    let group_height = series.len() * BAR + GAP;
    let top = 60;
    let height = top + groups.len() * group_height + 30;
    let total = LEFT + WIDTH + 70;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {total} {height}\" role=\"img\" \
         aria-label=\"{}\"><style>{STYLE}</style><text x=\"8\" y=\"18\" font-weight=\"bold\">{}</text>\n",
        escaped(title),
        escaped(title)
    );
    let mut x = 8;
    for (number, name) in series.iter().enumerate() {
        let _ = writeln!(
            svg,
            "<rect class=\"s{number}\" x=\"{x}\" y=\"32\" width=\"10\" height=\"10\"/>\
             <text x=\"{}\" y=\"41\">{}</text>",
            x + 14,
            escaped(name)
        );
        x += 30 + name.len() * 7;
    }
    for (number, group) in groups.iter().enumerate() {
        let y = top + number * group_height;
        let middle = y + series.len() * BAR / 2 + 4;
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{middle}\" text-anchor=\"end\">{}</text>",
            LEFT - 8,
            escaped(&group.name)
        );
        for (bar, value) in group.values.iter().enumerate() {
            let width = (value.clamp(0.0, 1.0) * WIDTH as f64).max(0.5);
            let y = y + bar * BAR;
            let _ = writeln!(
                svg,
                "<rect class=\"s{bar}\" x=\"{LEFT}\" y=\"{y}\" width=\"{width:.1}\" height=\"{}\">\
                 <title>{}, {}: {:.1} %</title></rect>",
                BAR - 1,
                escaped(&group.name),
                escaped(series.get(bar).copied().unwrap_or_default()),
                value * 100.0
            );
        }
    }
    for percent in [0, 25, 50, 75, 100] {
        let x = LEFT + WIDTH * percent / 100;
        let _ = writeln!(
            svg,
            "<line class=\"axis\" x1=\"{x}\" x2=\"{x}\" y1=\"{}\" y2=\"{}\" stroke-dasharray=\"2 3\"/>\
             <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{percent} %</text>",
            top - 6,
            height - 24,
            height - 8
        );
    }
    svg.push_str("</svg>\n");
    svg
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
