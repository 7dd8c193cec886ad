//! Whether a test passed, by the rules of its suite.

use crate::history::format::Outcome;
use regex::bytes::Regex;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// How a suite tells whether a test passed. By default exit code 0 does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// It has to fail.
    pub will_fail: bool,
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
    /// Its output is the Test Anything Protocol.
    pub tap: bool,
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
    /// Judges a process that came to its end by itself.
    pub fn judge(&self, status: ExitStatus, output: &[u8]) -> Verdict {
        let code = status.code();
        let found = |patterns: &[String]| patterns.iter().find(|p| matches(p, output)).cloned();
        if let Some(pattern) = found(&self.skip) {
            return verdict(Outcome::Skipped, format!("its output matches `{pattern}`"));
        }
        if code.is_some() && code == self.skip_code {
            return verdict(Outcome::Skipped, format!("{status}: skipped by itself"));
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
        // A crash is a failure even of a test that has to fail.
        if self.will_fail && status.signal().is_none() {
            return match passed {
                true => verdict(Outcome::Failed, format!("{why}: it passed and has to fail")),
                false => verdict(Outcome::Passed, why),
            };
        }
        verdict(if passed { Outcome::Passed } else { Outcome::Failed }, why)
    }
}

fn verdict(outcome: Outcome, why: String) -> Verdict {
    Verdict { outcome, why }
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
