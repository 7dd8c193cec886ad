//! Why a test is selected or may be skipped, and whom a procedure or a line concerns.

mod code;
mod diff;
mod test;

pub use code::{Before, Change, Danger, Function, Line, LineChange, Standing, Stands};
pub use diff::{Diff, DiffLine, Mark};
pub use test::{
    ChangedFile, ChangedProcedure, Explanation, FileRole, LastRun, ProcedureDiff, ProgramRun,
    Verdict, Version,
};

use super::text::{self, one_line, short};
use crate::select::{EdgeReason, Reason, Rule};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Raised when the shape of the output changes.
const VERSION: u32 = 2;
/// Of each list so many lines are shown.
const SHOWN: usize = 30;

/// What there is to say about all that was asked for.
#[derive(Debug, Default)]
pub struct Answers {
    pub tests: Vec<Explanation>,
    pub functions: Vec<Function>,
    pub lines: Vec<Line>,
}

impl Answers {
    pub fn text(&self) -> String {
        let tests = self.tests.iter().map(Explanation::text);
        let functions = self.functions.iter().map(Function::text);
        let lines = self.lines.iter().map(Line::text);
        tests.chain(functions).chain(lines).collect::<Vec<_>>().join("\n")
    }

    pub fn json(&self) -> Value {
        let of_tests = self.tests.iter().flat_map(|test| test.reasons.iter().map(Reason::rule));
        let dangers = self.functions.iter().flat_map(|function| &function.dangers);
        let dangers = dangers.chain(self.lines.iter().flat_map(|line| &line.dangers));
        let rules: BTreeSet<Rule> = of_tests.chain(dangers.map(|danger| danger.edge.by)).collect();
        let rules: Vec<Value> = rules
            .into_iter()
            .map(|rule| json!({ "rule": rule, "change": rule.change(), "selects": rule.selects() }))
            .collect();
        json!({
            "version": VERSION,
            "tests": self.tests,
            "functions": self.functions,
            "lines": self.lines,
            "rules": rules,
        })
    }
}

/// The rule that a reason goes by, in a line.
fn rule(rule: Rule) -> String {
    format!("    rule: {} selects {}\n", rule.change(), rule.selects())
}

fn list(out: &mut String, what: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "    {what}:");
    for line in lines.iter().take(SHOWN) {
        let _ = writeln!(out, "        {line}");
    }
    if lines.len() > SHOWN {
        let _ = writeln!(out, "        and {} more; --format json has them", lines.len() - SHOWN);
    }
}

/// Tests by their names, with how many they are. What is said of them is said of one,
/// and of several.
fn names(out: &mut String, (one, several): (&str, &str), names: &[String]) {
    let what = match names.len() {
        0 => {
            let _ = writeln!(out, "    no test {one}");
            return;
        }
        1 => format!("1 test {one}"),
        count => format!("{count} tests {several}"),
    };
    list(out, &what, names.iter().map(|name| one_line(name)));
}

/// The same, if there are any.
fn some_names(out: &mut String, what: (&str, &str), tests: &[String]) {
    if !tests.is_empty() {
        names(out, what, tests);
    }
}

/// A reason with all that is known of the way there.
fn reason(reason: &Reason) -> String {
    match reason {
        Reason::Edge(edge) => way(edge),
        other => text::reason(other),
    }
}

/// An edge that leads elsewhere now, with the calls that lead to its procedure.
fn way(edge: &EdgeReason) -> String {
    let mut out = format!("    in {}", one_line(&edge.procedure));
    if edge.chain.len() > 1 {
        let _ = write!(out, ", by the calls {}", text::chain(&edge.chain));
    }
    out.push_str(", on the edge");
    if !edge.edge.is_empty() {
        let _ = write!(out, " `{}` of `{}`", edge.edge, short(&edge.from.text));
    }
    let (from, to) = (&edge.from, &edge.old);
    let _ = write!(out, " from {}:{} to {}:{}", from.file, from.line, to.file, to.line);
    if !edge.because.is_empty() {
        let _ = write!(out, ": {}", edge.because);
    }
    out.push('\n');
    out.push_str(&text::change(edge));
    out
}
