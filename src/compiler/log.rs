//! What a build did, one line an event. `edgewise build` names the file;
//! without it nothing is written.

use super::project::LOG_VARIABLE;
use crate::cfg::format::UnitIndex;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::Path;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    Compiled {
        source: String,
        procedures: usize,
        opaque: usize,
        /// Why the unit carries no probes, if so.
        untouched: Option<String>,
    },
    Linked {
        output: String,
    },
    /// A configure script tried the compiler out.
    Tried,
    /// A program that leaves no trace.
    LinkedWithoutRuntime {
        output: String,
        reason: String,
    },
    /// The real compiler did it alone.
    NotAnalysed {
        arguments: Vec<String>,
        reason: String,
        /// What it compiled, relative to the root.
        sources: Vec<String>,
        /// The files of which that is made, sources among them, as far as known.
        inputs: Option<Vec<String>>,
    },
}

impl Event {
    pub fn compiled(index: &UnitIndex) -> Self {
        Self::Compiled {
            source: index.key.source.clone(),
            procedures: index.procedures.len(),
            opaque: index.procedures.iter().filter(|p| p.opaque.is_some()).count(),
            untouched: index.untouched.clone(),
        }
    }
}

/// Whether a build wants to know.
pub fn is_kept() -> bool {
    std::env::var_os(LOG_VARIABLE).is_some()
}

/// Adds an event. A line is written at once, so that parallel builds do not
/// mix; a log that cannot be written must not fail a compile.
pub fn add(event: &Event) {
    let Some(path) = std::env::var_os(LOG_VARIABLE) else {
        return;
    };
    let Ok(mut line) = serde_json::to_string(event) else {
        return;
    };
    line.push('\n');
    let file = fs_err::OpenOptions::new().append(true).create(true).open(Path::new(&path));
    if let Ok(mut file) = file {
        let _ = file.write_all(line.as_bytes());
    }
}

/// All events of a log that can be read.
pub fn read(path: &Path) -> Vec<Event> {
    let text = fs_err::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
