//! Whether a test passed, by the rules of its suite.

use super::tap::{self, Dialect, Sum};
use crate::history::format::Outcome;
use regex::bytes::Regex;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// How a suite tells whether a test passed. By default exit code 0 does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// It has to fail.
    pub will_fail: bool,
    /// To die of a signal is a failure like any other: a test that has to fail
    /// may do so. Otherwise it fails whatever it printed.
    pub may_crash: bool,
    /// With any of these the output says that it passed, whatever its exit code is.
    pub pass: Vec<String>,
    /// With any of these the output says that it failed.
    pub fail: Vec<String>,
    /// With any of these the output says that it did nothing.
    pub skip: Vec<String>,
    /// With this exit code it did nothing.
    pub skip_code: Option<i32>,
    /// With this exit code it fails, also if it has to fail.
    pub error_code: Option<i32>,
    /// Its standard output is the Test Anything Protocol, read in this way.
    pub tap: Option<Dialect>,
    /// Files without which it is not run, and fails.
    pub required_files: Vec<String>,
}

/// Verdict, with what people want to know about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub outcome: Outcome,
    pub why: String,
}

impl Judgement {
    /// Whether what a test printed decides.
    pub fn reads_output(&self) -> bool {
        let expressions = [&self.pass, &self.fail, &self.skip];
        self.tap.is_some() || expressions.iter().any(|patterns| !patterns.is_empty())
    }

    /// Judges a process that came to its end by itself.
    pub fn judge(&self, status: ExitStatus, output: &[u8]) -> Verdict {
        if status.signal().is_some() && !self.may_crash {
            return verdict(Outcome::Failed, status.to_string());
        }
        let code = status.code();
        if code.is_some() && code == self.skip_code {
            return verdict(Outcome::Skipped, format!("{status}: skipped by itself"));
        }
        if let Some(dialect) = self.tap {
            return self.judge_tap(dialect, status, output);
        }
        let lines = lines_of(output);
        let found = |patterns: &[String]| patterns.iter().find(|p| matches(p, &lines)).cloned();
        if let Some(pattern) = found(&self.skip) {
            return verdict(Outcome::Skipped, format!("its output matches `{pattern}`"));
        }
        if code.is_some() && code == self.error_code {
            return verdict(Outcome::Failed, format!("{status}: a hard error"));
        }
        let (passed, why) = if let Some(pattern) = found(&self.fail) {
            (false, format!("its output matches `{pattern}`"))
        } else if !self.pass.is_empty() {
            match found(&self.pass) {
                Some(_) => (true, status.to_string()),
                None => (false, String::from("its output matches none of the expressions to pass")),
            }
        } else {
            (status.success(), status.to_string())
        };
        self.passed_or_failed(passed, why)
    }

    /// Breaking the protocol, and any exit code but 0, is a hard error.
    fn judge_tap(&self, dialect: Dialect, status: ExitStatus, output: &[u8]) -> Verdict {
        let sum = tap::parse(output, dialect).sum(dialect);
        if !status.success() {
            let why = match sum {
                Sum::Failed(why) | Sum::Error(why) => format!("{status}: {why}"),
                Sum::Passed | Sum::Skipped(_) => status.to_string(),
            };
            return verdict(Outcome::Failed, why);
        }
        match sum {
            Sum::Passed => self.passed_or_failed(true, status.to_string()),
            Sum::Failed(why) => self.passed_or_failed(false, why),
            Sum::Skipped(why) => verdict(Outcome::Skipped, why),
            Sum::Error(why) => verdict(Outcome::Failed, why),
        }
    }

    fn passed_or_failed(&self, passed: bool, why: String) -> Verdict {
        match (passed, self.will_fail) {
            (true, true) => verdict(Outcome::Failed, format!("{why}: it passed and has to fail")),
            (true, false) | (false, true) => verdict(Outcome::Passed, why),
            (false, false) => verdict(Outcome::Failed, why),
        }
    }
}

fn verdict(outcome: Outcome, why: String) -> Verdict {
    Verdict { outcome, why }
}

/// Output as CTest hands it to expressions: in lines, each with a newline behind
/// it, also the last. So `done$` is found in no output.
fn lines_of(output: &[u8]) -> Vec<u8> {
    let mut lines = Vec::with_capacity(output.len() + 1);
    let text = output.strip_suffix(b"\n").unwrap_or(output);
    if output.is_empty() {
        return lines;
    }
    for line in text.split(|byte| [b'\n', 0].contains(byte)) {
        let end = line.iter().rposition(|byte| *byte != b'\r').map_or(0, |last| last + 1);
        lines.extend(&line[..end]);
        lines.push(b'\n');
    }
    lines
}

/// An expression that we do not understand is found in no output.
fn matches(pattern: &str, output: &[u8]) -> bool {
    Regex::new(pattern).is_ok_and(|regex| regex.is_match(output))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(judgement: &Judgement, raw: i32, output: &str) -> Outcome {
        judgement.judge(ExitStatus::from_raw(raw), output.as_bytes()).outcome
    }

    const ONE: i32 = 1 << 8;

    #[test]
    fn by_default_the_exit_code_counts() {
        let judgement = Judgement::default();
        assert_eq!(judge(&judgement, 0, ""), Outcome::Passed);
        assert_eq!(judge(&judgement, ONE, ""), Outcome::Failed);
        assert_eq!(judge(&judgement, libc::SIGSEGV, ""), Outcome::Failed);
    }

    #[test]
    fn a_test_that_has_to_fail_must_not_crash() {
        let judgement = Judgement { will_fail: true, ..Judgement::default() };
        assert_eq!(judge(&judgement, ONE, ""), Outcome::Passed);
        assert_eq!(judge(&judgement, 0, ""), Outcome::Failed);
        assert_eq!(judge(&judgement, libc::SIGSEGV, ""), Outcome::Failed);
    }

    #[test]
    fn what_is_printed_can_decide() {
        let pass = Judgement { pass: vec![String::from("^ok")], ..Judgement::default() };
        assert_eq!(judge(&pass, ONE, "ok then"), Outcome::Passed);
        assert_eq!(judge(&pass, 0, "no"), Outcome::Failed);
        let fail = Judgement { fail: vec![String::from("[Ee]rror")], ..Judgement::default() };
        assert_eq!(judge(&fail, 0, "an error"), Outcome::Failed);
        assert_eq!(judge(&fail, 0, "fine"), Outcome::Passed);
    }

    #[test]
    fn expressions_see_whole_lines() {
        let end = Judgement { pass: vec![String::from("done$")], ..Judgement::default() };
        assert_eq!(judge(&end, 0, "done"), Outcome::Failed);
        let lines = Judgement { pass: vec![String::from("a\nb\n")], ..Judgement::default() };
        assert_eq!(judge(&lines, 0, "a\r\nb"), Outcome::Passed);
    }

    #[test]
    fn a_crash_fails_whatever_was_printed_unless_the_suite_says_otherwise() {
        let any = || vec![String::from("done")];
        for (pass, skip) in [(any(), vec![]), (vec![], any())] {
            let judgement = Judgement { pass, skip, will_fail: true, ..Judgement::default() };
            assert_eq!(judge(&judgement, libc::SIGSEGV, "done"), Outcome::Failed);
        }
        let meson = Judgement { will_fail: true, may_crash: true, ..Judgement::default() };
        assert_eq!(judge(&meson, libc::SIGSEGV, ""), Outcome::Passed);
    }

    #[test]
    fn breaking_tap_is_no_failure_that_was_asked_for() {
        let tap = Some(Dialect::Meson);
        let judgement = Judgement { tap, will_fail: true, ..Judgement::default() };
        assert_eq!(judge(&judgement, 0, "1..1\nnot ok 1\n"), Outcome::Passed);
        assert_eq!(judge(&judgement, 0, "1..1\nok 1\n"), Outcome::Failed);
        assert_eq!(judge(&judgement, 0, "1..2\nok 1\n"), Outcome::Failed);
        assert_eq!(judge(&judgement, ONE, "1..1\nnot ok 1\n"), Outcome::Failed);
        assert_eq!(judge(&judgement, 0, "1..1\nok 1 # SKIP\n"), Outcome::Skipped);
    }

    #[test]
    fn codes_of_automake() {
        let judgement = Judgement {
            skip_code: Some(77),
            error_code: Some(99),
            will_fail: true,
            ..Judgement::default()
        };
        assert_eq!(judge(&judgement, 77 << 8, ""), Outcome::Skipped);
        assert_eq!(judge(&judgement, 99 << 8, ""), Outcome::Failed);
        assert_eq!(judge(&judgement, ONE, ""), Outcome::Passed);
    }
}
