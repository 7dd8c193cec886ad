//! Files and directories as they were when first looked at, read once for all
//! units.

use super::names::{Told, told};
use super::stamp::Stamp;
use crate::bytes;
use crate::ids::Fingerprint;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

#[derive(Default)]
pub struct Seen {
    files: Memo<SeenFile>,
    directories: Memo<Directory>,
}

type Memo<T> = Mutex<FxHashMap<PathBuf, Option<Arc<T>>>>;

pub struct SeenFile {
    pub stamp: Stamp,
    pub content: Fingerprint,
    pub told: Told,
}

/// What a directory holds.
pub struct Directory {
    pub stamp: Stamp,
    pub entries: FxHashMap<String, Kind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    File,
    Directory,
    Link,
    Other,
}

impl Seen {
    /// Adds what is known without reading.
    pub fn know_file(&self, path: &Path, file: SeenFile) {
        if let Ok(mut files) = self.files.lock() {
            files.insert(path.to_path_buf(), Some(Arc::new(file)));
        }
    }

    pub fn know_directory(&self, path: &Path, directory: Directory) {
        if let Ok(mut directories) = self.directories.lock() {
            directories.insert(path.to_path_buf(), Some(Arc::new(directory)));
        }
    }

    /// A file that is read, if it is one.
    pub fn file(&self, path: &Path) -> Option<Arc<SeenFile>> {
        memoised(&self.files, path, || {
            let stamp = Stamp::of(path).filter(Stamp::is_file)?;
            let bytes = std::fs::read(path).ok()?;
            Some(SeenFile { stamp, content: Fingerprint::of(&bytes), told: told(&bytes) })
        })
    }

    pub fn directory(&self, path: &Path) -> Option<Arc<Directory>> {
        memoised(&self.directories, path, || Directory::read(path))
    }
}

impl Directory {
    pub fn read(path: &Path) -> Option<Self> {
        let stamp = Stamp::of(path).filter(Stamp::is_directory)?;
        let mut entries = FxHashMap::default();
        for entry in std::fs::read_dir(path).ok()? {
            let entry = entry.ok()?;
            let kind = match entry.file_type().ok()? {
                kind if kind.is_symlink() => Kind::Link,
                kind if kind.is_dir() => Kind::Directory,
                kind if kind.is_file() => Kind::File,
                _ => Kind::Other,
            };
            entries.insert(bytes::name(entry.file_name()), kind);
        }
        Some(Self { stamp, entries })
    }
}

fn memoised<T>(memo: &Memo<T>, path: &Path, read: impl FnOnce() -> Option<T>) -> Option<Arc<T>> {
    let known = memo.lock().ok().and_then(|memo| memo.get(path).cloned());
    known.unwrap_or_else(|| {
        // Two may read it at once: the one that is kept is what both go by.
        let read = read().map(Arc::new);
        match memo.lock() {
            Ok(mut memo) => memo.entry(path.to_path_buf()).or_insert(read).clone(),
            Err(_) => read,
        }
    })
}
