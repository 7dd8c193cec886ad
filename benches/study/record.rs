//! What became of each change, one line of JSON each, so that a study that was
//! interrupted goes on where it was.

use fs_err::File;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    Compared,
    DoesNotBuild,
}

/// A technique's answer to one change.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Answer {
    pub selected: usize,
    pub missed: usize,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    pub id: String,
    pub kind: String,
    pub file: Option<String>,
    pub what: String,
    pub state: State,
    /// The version of edgewise that it was compared with.
    #[serde(default)]
    pub code: String,
    pub tests: usize,
    /// Tests that do something else, without those that only ran out of time.
    #[serde(default)]
    pub differ: usize,
    /// Tests that ran out of time.
    #[serde(default)]
    pub hang: usize,
    /// Of those that differ: not selected, and nothing but numbers of lines is different.
    #[serde(default)]
    pub numbers_only: usize,
    /// By technique.
    #[serde(default)]
    pub answers: BTreeMap<String, Answer>,
    /// Tests that differ and are not selected.
    #[serde(default)]
    pub missed: usize,
    /// What these did.
    #[serde(default)]
    pub misses: Vec<String>,
    /// Whether the selection from a build was looked at too.
    #[serde(default)]
    pub built: bool,
    #[serde(default)]
    pub seconds: f64,
}

/// The file of all records of a subject.
pub struct Records {
    file: Mutex<File>,
    pub known: BTreeMap<String, Record>,
}

pub fn read(path: &Path) -> anyhow::Result<BTreeMap<String, Record>> {
    let mut known = BTreeMap::new();
    let text = if path.exists() { fs_err::read_to_string(path)? } else { String::new() };
    for line in text.lines() {
        // The last line may have been cut off.
        if let Ok(record) = serde_json::from_str::<Record>(line) {
            known.insert(record.id.clone(), record);
        }
    }
    Ok(known)
}

impl Records {
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let known = read(path)?;
        let mut file = File::options().create(true).append(true).open(path)?;
        // Whatever was cut off ends here.
        writeln!(file)?;
        Ok(Self { file: Mutex::new(file), known })
    }

    pub fn add(&self, record: &Record) -> anyhow::Result<()> {
        let mut line = serde_json::to_string(record)?;
        line.push('\n');
        let mut file = self.file.lock().unwrap_or_else(|broken| broken.into_inner());
        Ok(file.write_all(line.as_bytes())?)
    }
}
