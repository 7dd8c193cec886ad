//! SARIF 2.1.0, the format of OASIS for results of analyses.

use crate::bytes;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// What relative addresses are relative to, by the name that readers know.
const ROOT: &str = "%SRCROOT%";

/// What results are instances of.
pub struct Rule {
    pub id: &'static str,
    pub name: &'static str,
    pub short: &'static str,
    pub full: &'static str,
}

/// One result.
pub struct Finding<'f> {
    /// Which of the rules.
    pub rule: usize,
    /// Relative to the root, or absolute.
    pub file: &'f str,
    /// First and last lines of the places it is about; at least one.
    pub lines: Vec<(u32, u32)>,
    pub message: String,
    /// The same as long as the finding is, wherever its lines move.
    pub fingerprint: String,
}

pub fn document(rules: &[Rule], mut results: Vec<Value>) -> Value {
    for result in &mut results {
        let rule = result["ruleIndex"].as_u64().and_then(|index| rules.get(index as usize));
        result["ruleId"] = rule.map_or(Value::Null, |rule| rule.id.into());
    }
    let rules = rules.iter().map(|rule| {
        json!({
            "id": rule.id,
            "name": rule.name,
            "shortDescription": { "text": rule.short },
            "fullDescription": { "text": rule.full },
            "help": { "text": rule.full },
            "defaultConfiguration": { "level": "warning" },
            "properties": { "tags": ["test-coverage"] },
        })
    });
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "edgewise",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.collect::<Vec<_>>(),
            }},
            "originalUriBaseIds": { ROOT: { "description": { "text": "The root of the repository." } } },
            "results": results,
        }],
    })
}

impl Finding<'_> {
    pub fn result(&self) -> Value {
        let mut runs = self.lines.iter().copied();
        let mut result = json!({
            "ruleIndex": self.rule,
            "level": "warning",
            "message": { "text": self.message },
            "locations": [self.location(runs.next())],
            "partialFingerprints": { "edgewise/v1": self.fingerprint },
        });
        // Readers show the first place only; these go with it.
        let others: Vec<Value> = runs.map(|run| self.location(Some(run))).collect();
        if !others.is_empty() {
            result["relatedLocations"] = others.into();
        }
        result
    }

    fn location(&self, lines: Option<(u32, u32)>) -> Value {
        let artifact = match self.file.starts_with('/') {
            true => json!({ "uri": format!("file://{}", encoded(self.file)) }),
            false => json!({ "uri": encoded(self.file), "uriBaseId": ROOT }),
        };
        let mut place = json!({ "artifactLocation": artifact });
        if let Some((first, last)) = lines {
            // Lines count from one.
            place["region"] = json!({ "startLine": first.max(1), "endLine": last.max(1) });
        }
        json!({ "physicalLocation": place })
    }
}

/// Lines that follow each other, as first and last.
pub fn runs(lines: &BTreeSet<u32>) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for line in lines {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *line => *last = *line,
            _ => runs.push((*line, *line)),
        }
    }
    runs
}

/// A path as part of an address.
fn encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in bytes::of_text(path).iter().copied() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_encoded() {
        assert_eq!(encoded("src/a b#é.c"), "src/a%20b%23%C3%A9.c");
        // It would be taken for a scheme.
        assert_eq!(encoded("a:b.c"), "a%3Ab.c");
    }

    #[test]
    fn lines_that_follow_each_other_are_one_place() {
        let lines = BTreeSet::from([3, 4, 7]);
        let finding = Finding {
            rule: 0,
            file: "a.c",
            lines: runs(&lines),
            message: String::new(),
            fingerprint: String::new(),
        };
        let result = finding.result();
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert_eq!(region, &json!({ "startLine": 3, "endLine": 4 }));
        let related = &result["relatedLocations"][0]["physicalLocation"]["region"];
        assert_eq!(related, &json!({ "startLine": 7, "endLine": 7 }));
    }
}
