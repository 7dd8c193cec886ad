//! `.edgewise/cache`: what need not be found out again. It may be lost at any
//! moment: then everything is looked at anew.

use super::contents::Contents;
use super::summary::Summaries;
use super::workspace::Workspace;
use crate::cfg::format;
use crate::compiler::text::stamp::Moment;
use crate::compiler::text::{Notes, Tools};
use crate::ids::Fingerprint;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Raised with any change of what is kept or of how it comes about.
const VERSION: u32 = 4;
const MAGIC: &[u8; 8] = b"EDGWCACH";
/// Magic, two versions, and the check of all that follows.
const HEADER: usize = 32;

#[derive(Default, Serialize, Deserialize)]
struct Kept {
    contents: Contents,
    tools: Tools,
    texts: Notes,
    summaries: Summaries,
}

pub struct Cache {
    path: PathBuf,
    /// What is older than this is not being written to.
    pub began: Moment,
    pub contents: Contents,
    pub tools: Tools,
    pub texts: Notes,
    pub summaries: Summaries,
}

impl Cache {
    /// The cache of a project; an empty one if there is none that can be read.
    pub fn open(workspace: &Workspace) -> Self {
        let path = workspace.state().join("cache");
        let kept = read(&path).filter(|kept: &Kept| kept.texts.is_sound()).unwrap_or_default();
        let Kept { contents, tools, texts, summaries } = kept;
        Self { path, began: Moment::now(), contents, tools, texts, summaries }
    }

    /// Keeps what is new.
    pub fn save(self) {
        let is_new = self.contents.is_new()
            || self.tools.is_new()
            || self.texts.is_new()
            || self.summaries.is_new();
        if is_new {
            let Self { path, contents, tools, texts, summaries, .. } = self;
            write(&path, &Kept { contents, tools, texts, summaries });
        }
    }
}

fn header(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER + body.len());
    out.extend(MAGIC);
    out.extend(VERSION.to_le_bytes());
    out.extend(format::VERSION.to_le_bytes());
    out.extend(Fingerprint::of(body).0);
    out
}

fn encode(kept: &impl Serialize) -> Vec<u8> {
    let body = postcard::to_stdvec(kept).unwrap_or_default();
    let mut out = header(&body);
    out.extend(body);
    out
}

fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (start, body) = bytes.split_at_checked(HEADER)?;
    if start != header(body) {
        return None;
    }
    postcard::from_bytes(body).ok()
}

/// What is kept in a file, if that can be read.
pub fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    std::fs::read(path).ok().and_then(|bytes| decode(&bytes))
}

/// Keeps something. Whoever comes last wins; a failure costs nothing but time.
pub fn write(path: &Path, kept: &impl Serialize) {
    let Some(directory) = path.parent() else { return };
    let written = tempfile::NamedTempFile::new_in(directory)
        .and_then(|mut file| file.write_all(&encode(kept)).map(|()| file));
    if let Ok(file) = written {
        let _ = file.persist(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_damaged_is_not_read() {
        let bytes = encode(&Kept::default());
        assert!(decode::<Kept>(&bytes).is_some());
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(decode::<Kept>(&damaged).is_none(), "byte {at}");
            assert!(decode::<Kept>(&bytes[..at]).is_none(), "cut at {at}");
        }
    }
}
