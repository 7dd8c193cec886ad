//! What became of the tests of a run: for people, as JSON, and as JUnit's XML.

use crate::history::format::Outcome;
use std::fmt::Write;
use std::time::Duration;

/// What became of one test.
#[derive(Clone, Debug, Default)]
pub struct TestResult {
    pub name: String,
    pub fate: Fate,
    /// Exit code or signal, or why it did not run, for people.
    pub why: String,
    pub duration: Duration,
    /// How often it ran.
    pub times: u32,
    /// It was not the same each time.
    pub unstable: bool,
    /// Why it stays selected although it passed.
    pub unclean: Option<String>,
    /// Tests within it: what they are called, and whether they passed.
    pub parts: Vec<(String, Fate)>,
    /// The end of what it printed, if it failed.
    pub output: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    #[default]
    Passed,
    Failed,
    TimedOut,
    /// It says itself that it did nothing.
    Skipped,
    /// Its suite says that it is not to be run.
    Disabled,
    /// No change can affect it.
    NotSelected,
    Interrupted,
    /// Only its harness can run it, or say whether it passed.
    Unjudged,
}

impl From<Outcome> for Fate {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Passed => Self::Passed,
            Outcome::Skipped => Self::Skipped,
            Outcome::Failed => Self::Failed,
            Outcome::TimedOut => Self::TimedOut,
            Outcome::Interrupted => Self::Interrupted,
            Outcome::Unjudged => Self::Unjudged,
        }
    }
}

impl Fate {
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::TimedOut)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::TimedOut => "timed-out",
            Self::Skipped => "skipped",
            Self::Disabled => "disabled",
            Self::NotSelected => "not-selected",
            Self::Interrupted => "interrupted",
            Self::Unjudged => "left-to-its-harness",
        }
    }
}

pub fn json(results: &[TestResult]) -> serde_json::Value {
    let tests = results.iter().map(|result| {
        let mut value = serde_json::json!({
            "name": result.name,
            "outcome": result.fate.word(),
            "why": result.why,
            "seconds": result.duration.as_secs_f64(),
            "times": result.times,
            "unstable": result.unstable,
        });
        if let Some(why) = &result.unclean {
            value["unclean"] = why.clone().into();
        }
        if !result.parts.is_empty() {
            let parts = result.parts.iter();
            let parts = parts
                .map(|(name, fate)| serde_json::json!({ "name": name, "outcome": fate.word() }));
            value["parts"] = parts.collect();
        }
        if !result.output.is_empty() {
            value["output"] = String::from_utf8_lossy(&result.output).into();
        }
        value
    });
    serde_json::json!({ "version": 1, "tests": tests.collect::<Vec<_>>() })
}

/// JUnit's XML, a testsuite for each suite.
pub fn junit(results: &[TestResult]) -> String {
    let mut suites: Vec<(&str, Vec<&TestResult>)> = Vec::new();
    for result in results {
        let suite = result.name.split('/').next().unwrap_or_default();
        match suites.iter_mut().find(|(name, _)| *name == suite) {
            Some((_, tests)) => tests.push(result),
            None => suites.push((suite, vec![result])),
        }
    }
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for (suite, tests) in suites {
        let count = |which: fn(Fate) -> bool| tests.iter().filter(|t| which(t.fate)).count();
        let seconds: f64 = tests.iter().map(|test| test.duration.as_secs_f64()).sum();
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" time=\"{seconds:.3}\">",
            escaped(suite),
            tests.len(),
            count(Fate::is_failure),
            count(|fate| !fate.is_failure() && fate != Fate::Passed),
        );
        tests.iter().for_each(|test| test_case(&mut out, suite, test));
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn test_case(out: &mut String, suite: &str, test: &TestResult) {
    let name = test.name.strip_prefix(suite).and_then(|name| name.strip_prefix('/'));
    let _ = write!(
        out,
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
        escaped(suite),
        escaped(name.unwrap_or(&test.name)),
        test.duration.as_secs_f64()
    );
    if test.fate == Fate::Passed {
        out.push_str("/>\n");
        return;
    }
    let why = escaped(&test.why);
    if test.fate.is_failure() {
        let word = test.fate.word();
        let _ = write!(out, ">\n      <failure type=\"{word}\" message=\"{why}\">");
        out.push_str(&escaped(&String::from_utf8_lossy(&test.output)));
        out.push_str("</failure>\n    </testcase>\n");
    } else {
        let _ = writeln!(out, ">\n      <skipped message=\"{why}\"/>\n    </testcase>");
    }
}

/// Text as XML has it. What XML cannot hold at all becomes a mark.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            '\0'..='\x1f' | '\x7f' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(name: &str, fate: Fate, why: &str, output: &[u8]) -> TestResult {
        TestResult {
            name: name.to_string(),
            fate,
            why: why.to_string(),
            output: output.to_vec(),
            ..TestResult::default()
        }
    }

    #[test]
    fn junit_holds_anything_that_tests_print() {
        let results = [
            result("a/one", Fate::Passed, "", b""),
            result("b/x<y", Fate::Failed, "exit status: 1", b"\xff\x00 <&>\n"),
            result("a/two", Fate::NotSelected, "no change can affect it", b""),
        ];
        let expected = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites>
  <testsuite name=\"a\" tests=\"2\" failures=\"0\" skipped=\"1\" time=\"0.000\">
    <testcase classname=\"a\" name=\"one\" time=\"0.000\"/>
    <testcase classname=\"a\" name=\"two\" time=\"0.000\">
      <skipped message=\"no change can affect it\"/>
    </testcase>
  </testsuite>
  <testsuite name=\"b\" tests=\"1\" failures=\"1\" skipped=\"0\" time=\"0.000\">
    <testcase classname=\"b\" name=\"x&lt;y\" time=\"0.000\">
      <failure type=\"failed\" message=\"exit status: 1\">\u{fffd}\u{fffd} &lt;&amp;&gt;
</failure>
    </testcase>
  </testsuite>
</testsuites>
";
        assert_eq!(junit(&results), expected);
    }
}
