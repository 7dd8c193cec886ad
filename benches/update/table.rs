//! What a version came to, and how it is printed.

use std::ops::AddAssign;
use std::time::Duration;

/// A history that was updated, beside that of a run of everything.
#[derive(Clone, Copy, Default)]
pub struct Beside {
    pub ran: usize,
    /// Tests with the same rows, with rows that hold too much, without rows in one of them.
    pub equal: usize,
    pub contained: usize,
    pub without_rows: usize,
    /// Tests whose rows are marked inexact.
    pub inexact: usize,
    /// Tests with other rows: there must be none.
    pub different: usize,
    /// Tests that were skipped and have another outcome than before: none either.
    pub missed: usize,
}

impl AddAssign for Beside {
    fn add_assign(&mut self, other: Self) {
        self.ran += other.ran;
        self.equal += other.equal;
        self.contained += other.contained;
        self.without_rows += other.without_rows;
        self.inexact += other.inexact;
        self.different += other.different;
        self.missed += other.missed;
    }
}

/// How long things took. Builds are those of the project's own command.
#[derive(Clone, Copy, Default)]
pub struct Cost {
    pub plain_build: Duration,
    pub full_build: Duration,
    pub selective_build: Duration,
    /// All tests without probes.
    pub all_plain: Duration,
    /// `edgewise select`, and the tests that it names, without probes.
    pub select: Duration,
    pub selected_plain: Duration,
    /// What `edgewise build` and `edgewise test` take beside the build.
    pub update: Duration,
    pub selective: Duration,
    /// All tests with all probes.
    pub all: Duration,
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.plain_build += other.plain_build;
        self.full_build += other.full_build;
        self.selective_build += other.selective_build;
        self.all_plain += other.all_plain;
        self.select += other.select;
        self.selected_plain += other.selected_plain;
        self.update += other.update;
        self.selective += other.selective;
        self.all += other.all;
    }
}

#[derive(Clone, Copy, Default)]
pub struct Step {
    pub tests: usize,
    pub selected: usize,
    pub updated: Beside,
    pub selective: Beside,
    /// Procedures of the programs of tests, and those of them that a selective build left
    /// without probes.
    pub procedures: usize,
    pub unprobed: usize,
    /// What coverage of the first version selects: how many, too many, too few.
    pub outdated: usize,
    pub false_positives: usize,
    pub false_negatives: usize,
    pub cost: Cost,
}

impl AddAssign for Step {
    fn add_assign(&mut self, other: Self) {
        self.tests += other.tests;
        self.selected += other.selected;
        self.updated += other.updated;
        self.selective += other.selective;
        self.procedures += other.procedures;
        self.unprobed += other.unprobed;
        self.outdated += other.outdated;
        self.false_positives += other.false_positives;
        self.false_negatives += other.false_negatives;
        self.cost += other.cost;
    }
}

const RIGHT: &str = "--:|";

fn print(cells: &[String]) {
    println!("| {} |", cells.join(" | "));
}

/// The histories, and what coverage that is not updated selects.
pub fn print_histories(name: &str, steps: &[(String, Step)], total: &Step) {
    println!(
        "| {name} | edit | of | selected | run | equal | contained | inexact | without rows | different | missed | --selective: run | equal | contained | inexact | without rows | different | missed | procedures | without probes | outdated: selected | false + | false - |"
    );
    println!("|---|---|{}", RIGHT.repeat(21));
    for (number, (what, step)) in (1..).zip(steps) {
        histories(&number.to_string(), what, step);
    }
    histories("all", "", total);
}

fn histories(number: &str, what: &str, step: &Step) {
    let what: String = what.replace('|', "\\|").chars().take(160).collect();
    let mut cells = vec![number.to_string(), what];
    let mut figures = vec![step.tests, step.selected];
    for beside in [&step.updated, &step.selective] {
        let Beside { ran, equal, contained, inexact, without_rows, different, missed } = *beside;
        figures.extend([ran, equal, contained, inexact, without_rows, different, missed]);
    }
    figures.extend([
        step.procedures,
        step.unprobed,
        step.outdated,
        step.false_positives,
        step.false_negatives,
    ]);
    cells.extend(figures.iter().map(usize::to_string));
    print(&cells);
}

/// Each part by itself.
pub fn print_costs(name: &str, steps: &[(String, Step)], total: &Step) {
    println!(
        "| {name}, seconds | plain build | build, all probes | build, --selective | all tests | select | selected tests | test, without the build | test --selective, without the build | all tests, all probes |"
    );
    println!("|---|{}", RIGHT.repeat(9));
    for (number, (_, step)) in (1..).zip(steps) {
        costs(&number.to_string(), &step.cost);
    }
    costs("all", &total.cost);
}

fn costs(number: &str, cost: &Cost) {
    let parts = [
        cost.plain_build,
        cost.full_build,
        cost.selective_build,
        cost.all_plain,
        cost.select,
        cost.selected_plain,
        cost.update,
        cost.selective,
        cost.all,
    ];
    let mut cells = vec![number.to_string()];
    cells.extend(parts.iter().map(|part| format!("{:.2}", part.as_secs_f64())));
    print(&cells);
}

/// The columns of the paper's table 11: seconds a version, without builds and with them.
pub fn summary(name: &str, versions: usize, total: &Step) -> String {
    let cost = &total.cost;
    let select_only = cost.select + cost.selected_plain;
    let parts = [
        cost.all_plain,
        select_only,
        cost.update,
        cost.selective,
        cost.plain_build + cost.all_plain,
        cost.plain_build + select_only,
        cost.full_build + cost.update,
        cost.selective_build + cost.selective,
    ];
    let each = parts.map(|part| format!("{:.2}", part.as_secs_f64() / versions.max(1) as f64));
    format!("| {name} | {versions} | {} |", each.join(" | "))
}
