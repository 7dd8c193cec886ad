//! Which lines each test comes to, as the history has it; and what a technique
//! selects that knows nothing but changed lines.

use anyhow::{Context, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

pub struct Coverage {
    /// Tests by file and line.
    lines: BTreeMap<String, BTreeMap<u64, BTreeSet<String>>>,
}

impl Coverage {
    pub fn read(edgewise: &Path, root: &Path) -> anyhow::Result<Self> {
        let output = Command::new(edgewise)
            .args(["history", "export", "--format", "json"])
            .current_dir(root)
            .output()?;
        ensure!(output.status.success(), "export: {}", String::from_utf8_lossy(&output.stderr));
        let said: Value = serde_json::from_slice(&output.stdout)?;
        let mut lines: BTreeMap<String, BTreeMap<u64, BTreeSet<String>>> = BTreeMap::new();
        for procedure in said["procedures"].as_array().context("no procedures")? {
            let file = procedure["file"].as_str().context("no file")?;
            let lines = lines.entry(file.to_string()).or_default();
            for edge in procedure["taken"].as_array().into_iter().flatten() {
                let tests = edge["tests"].as_array().into_iter().flatten();
                let tests: Vec<String> =
                    tests.filter_map(|name| name.as_str().map(String::from)).collect();
                for end in ["from", "to"] {
                    let line = edge[end].as_u64().unwrap_or(0);
                    lines.entry(line).or_default().extend(tests.iter().cloned());
                }
            }
        }
        Ok(Self { lines })
    }

    pub fn is_reached(&self, file: &str, line: usize) -> bool {
        self.lines.get(file).is_some_and(|lines| lines.contains_key(&(line as u64)))
    }

    /// Tests that come to a line that is not in the new text any more, or to the one
    /// before new lines.
    pub fn on_changed_lines(
        &self,
        file: &str,
        old: &Path,
        new: &Path,
    ) -> anyhow::Result<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        let Some(lines) = self.lines.get(file) else {
            return Ok(found);
        };
        let output = Command::new("diff").arg("-U0").arg(old).arg(new).output()?;
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            // @@ -first,count +first,count @@
            let Some(hunk) = line.strip_prefix("@@ -") else { continue };
            let place = hunk.split(' ').next().unwrap_or_default();
            let (first, count) = place.split_once(',').unwrap_or((place, "1"));
            let (first, count): (u64, u64) = (first.parse()?, count.parse()?);
            for (_, tests) in lines.range(first..first + count.max(1)) {
                found.extend(tests.iter().cloned());
            }
        }
        Ok(found)
    }
}
