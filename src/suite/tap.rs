//! The Test Anything Protocol, as `prove` and as Meson read it: they do not
//! agree on all of it.

use crate::bytes;
use regex::Regex;
use std::sync::LazyLock;

/// Whose reading counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// A plan is a must; a test that is to do may pass.
    Prove,
    /// A plan is not needed; a test that is to do must not pass, and if all
    /// are skipped, so is the whole.
    Meson,
}

/// One line of the kind `ok 3 - adds up # TODO later`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubTest {
    pub number: u64,
    pub description: String,
    pub ok: bool,
    /// Why it may fail.
    pub todo: Option<String>,
    /// Why it did nothing.
    pub skip: Option<String>,
}

/// What a test printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tap {
    pub tests: Vec<SubTest>,
    /// How many tests were announced.
    pub plan: Option<u64>,
    /// Why nothing at all is tested, if so.
    pub skip_all: Option<String>,
    pub bail_out: Option<String>,
    /// Where the output breaks the rules.
    pub errors: Vec<String>,
}

/// What all lines together mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sum {
    Passed,
    Skipped(String),
    Failed(String),
    /// Not a failure of what is tested, but of the test.
    Error(String),
}

struct Grammar {
    test: Regex,
    directive: Regex,
    plan: Regex,
    bail_out: Regex,
}

/// The expressions of `TAP::Parser::Grammar`.
static PROVE: LazyLock<Grammar> = LazyLock::new(|| Grammar {
    test: expression(r"^((?:not )?ok)\b\s*([0-9]+)?\s*(.*)$"),
    directive: expression(r"(?i)^((?:[^\\#]|\\.)*)#\s*(SKIP|TODO)\b\s*(.*)$"),
    plan: expression(r"(?i)^1\.\.([0-9]+)\s*(?:#\s*(SKIP)\S*\s*(.*)|(todo(?:\s+[0-9]+)+)\s*)?$"),
    bail_out: expression(r"^\s*Bail out!\s*(.*)"),
});

/// The expressions of Meson's `mtest.py`.
static MESON: LazyLock<Grammar> = LazyLock::new(|| Grammar {
    test: expression(r"^((?:not )?ok)\s*(?:([0-9]+)\s*)?(.*)$"),
    directive: expression(r"(?i)^([^#]*?)\s*#\s*(SKIP\S*|TODO)\b\s*(.*)$"),
    plan: expression(r"(?i)^1\.\.([0-9]+)(?:\s*#\s*(SKIP)\S*\b\s*(.*))?()"),
    bail_out: expression(r"^Bail out!\s*(.*)"),
});

static VERSION: LazyLock<Regex> =
    LazyLock::new(|| expression(r"(?i)^TAP\s+version\s+([0-9]+)\s*$"));

fn expression(text: &str) -> Regex {
    Regex::new(text).expect("written here")
}

/// Reads what a test printed to its standard output.
pub fn parse(output: &[u8], dialect: Dialect) -> Tap {
    let grammar = match dialect {
        Dialect::Prove => &*PROVE,
        Dialect::Meson => &*MESON,
    };
    let mut reader = Reader { grammar, tap: Tap::default(), version: 12, late_plan: false };
    let mut todo = Vec::new();
    let mut yaml: Option<String> = None;
    let mut is_behind_test = false;
    for (number, line) in bytes::to_text(output).lines().enumerate() {
        let line = line.trim_end();
        if let Some(indent) = &yaml {
            let is_inside = line.starts_with(indent.as_str()) || line.is_empty();
            if line.trim_start() == "..." || !is_inside {
                yaml = None;
            }
            if is_inside {
                continue;
            }
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let begins_yaml = !indent.is_empty() && line.trim_start().starts_with("---");
        if is_behind_test && reader.version >= 13 && begins_yaml {
            yaml = Some(indent.to_string());
            continue;
        }
        is_behind_test = reader.line(number, line, &mut todo);
    }
    let mut tap = reader.tap;
    for test in tap.tests.iter_mut().filter(|test| todo.contains(&test.number)) {
        test.todo.get_or_insert_default();
    }
    let count = tap.tests.len() as u64;
    match tap.plan {
        _ if tap.bail_out.is_some() => {}
        Some(plan) if plan != count => {
            tap.errors.push(format!("{plan} tests were planned and {count} were run"));
        }
        None if dialect == Dialect::Prove => tap.errors.push(String::from("there is no plan")),
        _ => {}
    }
    tap
}

struct Reader {
    grammar: &'static Grammar,
    tap: Tap,
    version: u32,
    late_plan: bool,
}

impl Reader {
    /// Takes a line; true if it was that of a test.
    fn line(&mut self, number: usize, line: &str, todo: &mut Vec<u64>) -> bool {
        let tap = &mut self.tap;
        if let Some(found) = self.grammar.test.captures(line) {
            if self.late_plan {
                tap.errors.push(String::from("a test comes after the plan at the end"));
                self.late_plan = false;
            }
            let expected = tap.tests.len() as u64 + 1;
            let number = found.get(2).and_then(|n| n.as_str().parse().ok()).unwrap_or(expected);
            if number != expected {
                tap.errors.push(format!("test {number} comes where {expected} was expected"));
            }
            let ok = &found[1] == "ok";
            tap.tests.push(self.grammar.sub_test(number, ok, &found[3]));
            return true;
        }
        if let Some(found) = self.grammar.plan.captures(line) {
            if tap.plan.is_some() {
                tap.errors.push(String::from("there is more than one plan"));
                return false;
            }
            let count = found[1].parse().unwrap_or(u64::MAX);
            if count == 0 {
                let why = found.get(3).map_or("", |why| why.as_str());
                tap.skip_all = Some(why.trim().to_string());
            } else if found.get(2).is_some() {
                tap.errors.push(String::from("a plan with tests cannot skip all"));
            }
            if let Some(list) = found.get(4) {
                todo.extend(list.as_str().split_whitespace().filter_map(|n| n.parse::<u64>().ok()));
            }
            tap.plan = Some(count);
            self.late_plan = !tap.tests.is_empty();
        } else if let Some(found) = self.grammar.bail_out.captures(line) {
            tap.bail_out.get_or_insert_with(|| found[1].to_string());
        } else if let Some(found) = VERSION.captures(line) {
            if number == 0 {
                self.version = found[1].parse().unwrap_or(u32::MAX);
            }
            if number > 0 || self.version < 13 {
                tap.errors.push(format!("`{line}` is not right here"));
            }
        }
        false
    }
}

impl Grammar {
    fn sub_test(&self, number: u64, ok: bool, rest: &str) -> SubTest {
        let mut test = SubTest { number, ok, ..SubTest::default() };
        let mut description = rest;
        if let Some(found) = self.directive.captures(rest) {
            let why = Some(found[3].trim().to_string());
            description = found.get(1).map_or("", |text| text.as_str());
            match found[2].to_ascii_uppercase().starts_with("TODO") {
                true => test.todo = why,
                false => test.skip = why,
            }
        }
        test.description = description.trim().trim_start_matches("- ").to_string();
        test
    }
}

impl Tap {
    pub fn sum(&self, dialect: Dialect) -> Sum {
        let is_bad = |test: &&SubTest| match (dialect, &test.todo) {
            (Dialect::Prove, Some(_)) => false,
            (Dialect::Meson, Some(_)) => test.ok,
            (_, None) => !test.ok,
        };
        let bad: Vec<&SubTest> = self.tests.iter().filter(is_bad).collect();
        // Meson looks at this last, and it overrides what is wrong otherwise.
        let all_skipped = self.tests.iter().all(|test| test.ok && test.skip.is_some());
        if dialect == Dialect::Meson && all_skipped {
            return Sum::Skipped(self.why_skipped());
        }
        if let Some(why) = &self.bail_out {
            return Sum::Error(format!("it bailed out: {why}"));
        }
        if let Some(error) = self.errors.first() {
            return Sum::Error(error.clone());
        }
        if let Some(first) = bad.first() {
            let number = first.number;
            let (count, description) = (bad.len(), &first.description);
            return Sum::Failed(format!("{count} sub-tests failed, first {number} {description}"));
        }
        match &self.skip_all {
            Some(_) => Sum::Skipped(self.why_skipped()),
            None => Sum::Passed,
        }
    }

    fn why_skipped(&self) -> String {
        let of_tests = || self.tests.iter().find_map(|test| test.skip.clone());
        let why = self.skip_all.clone().or_else(of_tests).filter(|why| !why.is_empty());
        why.unwrap_or_else(|| String::from("all of it is skipped"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prove(text: &str) -> Sum {
        parse(text.as_bytes(), Dialect::Prove).sum(Dialect::Prove)
    }

    fn meson(text: &str) -> Sum {
        parse(text.as_bytes(), Dialect::Meson).sum(Dialect::Meson)
    }

    fn failed(sum: &Sum) -> bool {
        matches!(sum, Sum::Failed(_) | Sum::Error(_))
    }

    #[test]
    fn sub_tests_have_number_description_and_directive() {
        let text = "TAP version 13\n1..4\nok 1 - a\n  ---\n  ok: 1\n  ...\nnot ok 2 b # TODO later\nok 3 # skip no net\n    ok 1 nested\nnot ok\n";
        let tap = parse(text.as_bytes(), Dialect::Prove);
        let a = SubTest { number: 1, description: "a".into(), ok: true, ..SubTest::default() };
        let b = SubTest {
            number: 2,
            description: "b".into(),
            todo: Some("later".into()),
            ..SubTest::default()
        };
        let c = SubTest { number: 3, ok: true, skip: Some("no net".into()), ..SubTest::default() };
        let d = SubTest { number: 4, ..SubTest::default() };
        assert_eq!(tap.tests, [a, b, c, d]);
        assert_eq!((tap.plan, tap.errors.len()), (Some(4), 0));
    }

    #[test]
    fn prove_wants_a_plan_that_holds() {
        assert_eq!(prove("1..2\nok 1\nok 2\n"), Sum::Passed);
        assert_eq!(prove("ok 1\nok 2\n1..2\n"), Sum::Passed);
        for text in ["ok 1\n", "1..2\nok 1\n", "1..1\nok 1\nok 2\n", "1..2\nok 2\nok 1\n", ""] {
            assert!(failed(&prove(text)), "{text}");
        }
        assert!(failed(&prove("1..1\n1..1\nok 1\n")));
        assert!(failed(&prove("ok 1\n1..2\nok 2\n")));
    }

    #[test]
    fn what_is_to_do_may_pass_for_prove_and_must_not_for_meson() {
        assert_eq!(prove("1..1\nok 1 # TODO x\n"), Sum::Passed);
        assert_eq!(prove("1..2 todo 2\nok 1\nnot ok 2\n"), Sum::Passed);
        assert!(failed(&meson("1..1\nok 1 # TODO x\n")));
        assert_eq!(meson("1..1\nnot ok 1 # TODO x\n"), Sum::Passed);
    }

    #[test]
    fn skips() {
        assert_eq!(prove("1..0 # SKIP no net\n"), Sum::Skipped("no net".into()));
        assert_eq!(prove("1..1\nok 1 # SKIP a\n"), Sum::Passed);
        assert_eq!(meson("1..1\nok 1 # SKIP a\n"), Sum::Skipped("a".into()));
        assert_eq!(meson(""), Sum::Skipped("all of it is skipped".into()));
        assert!(failed(&prove("1..1\nnot ok 1 # SKIP a\n")));
        assert!(failed(&meson("1..1\nnot ok 1 # SKIP a\n")));
    }

    #[test]
    fn bailing_out_fails_whatever_was_ok() {
        let expected = Sum::Error("it bailed out: no disk".into());
        assert_eq!(prove("1..2\nok 1\nBail out! no disk\n"), expected);
        assert_eq!(meson("1..2\nok 1\nBail out! no disk\n"), expected);
    }
}
