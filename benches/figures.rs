//! Figures beside what they are measured against and the bar they have to meet, a row
//! each; `scripts/bench all` puts those of all benchmarks into one table.

use std::fmt::Write;

/// The words above the rows, by which they are found again.
const TITLE: &str = "## Bars";

#[derive(Default)]
pub struct Bars {
    rows: String,
}

impl Bars {
    /// A ratio that must not be larger.
    pub fn at_most(&mut self, figure: &str, ours: &str, peer: &str, ratio: f64, bar: f64) {
        self.add(figure, ours, peer, ratio, &format!("at most {bar}"), ratio <= bar);
    }

    /// A ratio that must not be smaller.
    #[allow(dead_code)]
    pub fn at_least(&mut self, figure: &str, ours: &str, peer: &str, ratio: f64, bar: f64) {
        self.add(figure, ours, peer, ratio, &format!("at least {bar}"), ratio >= bar);
    }

    fn add(&mut self, figure: &str, ours: &str, peer: &str, ratio: f64, bar: &str, met: bool) {
        let met = if met { "met" } else { "NOT MET" };
        let _ = writeln!(self.rows, "| {figure} | {ours} | {peer} | {ratio:.3} | {bar} | {met} |");
    }

    pub fn print(&self) {
        println!(
            "\n{TITLE}\n\n| figure | edgewise | beside | ratio | bar | |\n|---|--:|--:|--:|--:|---|"
        );
        println!("{}", self.rows);
    }
}
