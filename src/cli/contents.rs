//! Contents of files by their stamps, so that what did not change is not read
//! again.

use crate::compiler::text::stamp::{Moment, Stamp};
use crate::ids::Fingerprint;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::path::Path;

#[derive(Default, Serialize, Deserialize)]
pub struct Contents {
    known: FxHashMap<String, Known>,
    #[serde(skip)]
    is_new: bool,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Known {
    stamp: Stamp,
    /// What counts of the file; nothing for what builds leave on their way.
    content: Option<Fingerprint>,
}

impl Contents {
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// What a regular file is, read if it is not known. With what to remember
    /// of it, if that is worth it.
    pub fn look(
        &self,
        name: &str,
        path: &Path,
        began: Moment,
        read: impl FnOnce() -> Option<Fingerprint>,
    ) -> (Option<Fingerprint>, Option<Known>) {
        let Some(stamp) = Stamp::of(path).filter(Stamp::is_file) else { return (read(), None) };
        if let Some(known) = self.known.get(name).filter(|known| known.stamp == stamp) {
            return (known.content, None);
        }
        let content = read();
        // Unless it changed while we read.
        let is_sure = stamp.is_settled(began) && Stamp::of(path) == Some(stamp);
        (content, is_sure.then_some(Known { stamp, content }))
    }

    pub fn remember(&mut self, name: String, known: Known) {
        self.is_new = true;
        self.known.insert(name, known);
    }

    /// Forgets everything if most of it must be of files that are gone.
    pub fn limit(&mut self, files: usize) {
        if self.known.len() > 4 * files + 1000 {
            self.known.clear();
            self.is_new = true;
        }
    }
}
