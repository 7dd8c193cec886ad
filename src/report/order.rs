//! The selected tests in another order, and cut to a budget of time.

use super::Report;
use crate::select::Reason;
use std::collections::BTreeMap;
use std::time::Duration;

/// For tests of which no duration is known, if there are no others.
const UNKNOWN: Duration = Duration::from_secs(1);
/// Durations are kept in milliseconds, and none is nothing.
const SHORTEST: Duration = Duration::from_millis(1);

/// Puts those first that cross the most dangerous edges for their time.
pub fn by_danger(report: &mut Report) {
    let times = Times::of(report);
    report.selected.sort_by(|(a, reasons_a), (b, reasons_b)| {
        let value = |reasons: &[Reason], other: &str| crossings(reasons) * times.of_test(other);
        // More edges for the same time, or the same edges in less of it.
        value(reasons_b, a).cmp(&value(reasons_a, b))
    });
}

/// What a test crosses. Any reason that is no edge counts as one, if there are
/// no edges: nobody knows how much such a change touches.
fn crossings(reasons: &[Reason]) -> u128 {
    let edges = reasons.iter().filter(|reason| matches!(reason, Reason::Edge(_))).count();
    if edges > 0 { edges as u128 } else { reasons.len().max(1) as u128 }
}

/// Takes tests in their order as long as they fit, and moves the others to
/// [`Report::cut`].
pub fn cut(report: &mut Report, budget: Duration) {
    let times = Times::of(report);
    let mut left = budget.as_micros();
    let all = std::mem::take(&mut report.selected);
    for (name, reasons) in all {
        let time = times.of_test(&name);
        if time <= left {
            left -= time;
            report.selected.push((name, reasons));
        } else {
            report.cut.push((name, reasons));
        }
    }
    report.budget = Some(budget);
}

/// Cuts tests into parts of about the same time, in their order within each.
pub fn parts(report: &Report, most: usize) -> Vec<Part<'_>> {
    let times = Times::of(report);
    let names = report.selected.iter().map(|(name, _)| name.as_str());
    let mut names: Vec<(usize, &str)> = names.enumerate().collect();
    let count = most.min(names.len());
    names.sort_by_key(|(place, name)| (std::cmp::Reverse(times.of_test(name)), *place));
    let mut parts: Vec<(u128, Vec<(usize, &str)>)> = vec![(0, Vec::new()); count];
    for test in names {
        let emptiest = parts.iter_mut().min_by_key(|(time, tests)| (*time, tests.len()));
        if let Some((time, tests)) = emptiest {
            *time += times.of_test(test.1);
            tests.push(test);
        }
    }
    let in_order = parts.into_iter().map(|(time, mut tests)| {
        tests.sort_unstable();
        let names = tests.into_iter().map(|(_, name)| name).collect();
        Part { names, time: Duration::from_micros(time as u64) }
    });
    in_order.collect()
}

/// Some of the selected tests, and how long they take one after another.
pub struct Part<'r> {
    pub names: Vec<&'r str>,
    pub time: Duration,
}

/// How long tests take, in microseconds.
struct Times {
    known: BTreeMap<String, Duration>,
    /// For the others: the mean of those that are known.
    unknown: Duration,
}

impl Times {
    fn of(report: &Report) -> Self {
        let known = report.durations.clone();
        let count = known.len() as u32;
        let unknown = if count == 0 { UNKNOWN } else { known.values().sum::<Duration>() / count };
        Self { known, unknown }
    }

    fn of_test(&self, name: &str) -> u128 {
        self.known.get(name).copied().unwrap_or(self.unknown).max(SHORTEST).as_micros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::{EdgeReason, SourceLine};
    use std::sync::Arc;

    fn edges(count: u32) -> Vec<Reason> {
        let line = |line| SourceLine { file: String::new(), line, text: String::new() };
        let edge = |number| EdgeReason {
            program: String::new(),
            procedure: String::new(),
            from: line(0),
            edge: String::new(),
            old: line(number),
            new: None,
            because: String::new(),
            behind: crate::select::Behind::default(),
            chain: Vec::new(),
            by: crate::select::Rule::Statement,
        };
        (0..count).map(|number| Reason::Edge(Arc::new(edge(number)))).collect()
    }

    /// Tests with the number of their edges and milliseconds.
    fn report(tests: &[(&str, u32, Option<u64>)]) -> Report {
        let mut report = Report::default();
        for (name, count, milliseconds) in tests {
            let reasons = if *count == 0 { vec![Reason::NewTest] } else { edges(*count) };
            report.selected.push((name.to_string(), reasons));
            let time = milliseconds.map(Duration::from_millis);
            report.durations.extend(time.map(|time| (name.to_string(), time)));
        }
        report
    }

    fn names(tests: &[(String, Vec<Reason>)]) -> Vec<&str> {
        tests.iter().map(|(name, _)| name.as_str()).collect()
    }

    #[test]
    fn the_most_edges_for_the_time_come_first() {
        let mut report = report(&[
            ("slow", 4, Some(4000)),
            ("quick", 2, Some(100)),
            ("new", 0, None),
            ("nothing", 1, Some(0)),
            ("same-as-slow", 1, Some(1000)),
        ]);
        by_danger(&mut report);
        assert_eq!(names(&report.selected), ["nothing", "quick", "slow", "same-as-slow", "new"]);
    }

    #[test]
    fn a_budget_takes_what_fits_and_keeps_the_rest() {
        let tests = [("a", 9, Some(400)), ("b", 5, Some(700)), ("c", 1, Some(600))];
        let mut report = report(&tests);
        cut(&mut report, Duration::from_secs(1));
        assert_eq!(names(&report.selected), ["a", "c"]);
        assert_eq!(names(&report.cut), ["b"]);
        cut(&mut report, Duration::ZERO);
        assert!(report.selected.is_empty());
        assert_eq!(names(&report.cut), ["b", "a", "c"]);
    }

    #[test]
    fn parts_hold_every_test_once_and_take_about_the_same_time() {
        let tests =
            [("a", 1, Some(900)), ("b", 1, Some(500)), ("c", 1, Some(400)), ("d", 1, Some(100))];
        let report = report(&tests);
        let parts_of = |most| -> Vec<Vec<&str>> {
            parts(&report, most).into_iter().map(|part| part.names).collect()
        };
        assert_eq!(parts_of(2), [vec!["a", "d"], vec!["b", "c"]]);
        assert_eq!(parts_of(9).len(), 4);
        assert!(parts(&Report::default(), 3).is_empty());
    }
}
