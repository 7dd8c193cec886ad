//! What stat tells of a file. A file with the same stamp has the same content,
//! unless it changed while we looked: that is what `is_settled` is for.

use serde::{Deserialize, Serialize};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Files that changed later than this before we looked may change again within
/// the same tick of their clock.
const TICK: i64 = 2_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    mode: u32,
    /// In nanoseconds.
    modified: i64,
    /// Nobody can set this one back.
    changed: i64,
}

/// Which file is at a place, whatever its content.
pub type Identity = (u64, u64, u32);

/// A moment, in nanoseconds since the beginning of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Moment(i64);

impl Moment {
    /// Before any file was written.
    pub const BEGINNING: Self = Self(0);

    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_nanos()).unwrap_or(i64::MIN))
    }
}

impl Stamp {
    /// The stamp of what a path leads to.
    pub fn of(path: &Path) -> Option<Self> {
        path.metadata().ok().map(|meta| Self::of_metadata(&meta))
    }

    pub fn of_metadata(meta: &std::fs::Metadata) -> Self {
        let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000) + rest;
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.size(),
            mode: meta.mode(),
            modified: nanoseconds(meta.mtime(), meta.mtime_nsec()),
            changed: nanoseconds(meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// Whether the file was for some time what it is, at this moment: what was
    /// read since then is what the stamp stands for.
    pub fn is_settled(&self, at: Moment) -> bool {
        self.modified.max(self.changed) < at.0.saturating_sub(TICK)
    }

    /// Whether the file was there before this moment, as it is.
    pub fn is_before(&self, at: Moment) -> bool {
        self.modified.min(self.changed) < at.0
    }

    /// Whether a directory changed later than its entries did: it was moved, or got other rights.
    pub fn is_moved(&self) -> bool {
        self.modified != self.changed
    }

    pub fn is_file(&self) -> bool {
        self.mode & libc::S_IFMT == libc::S_IFREG
    }

    pub fn is_directory(&self) -> bool {
        self.mode & libc::S_IFMT == libc::S_IFDIR
    }

    /// What of it counts where only that it is there matters.
    pub fn identity(&self) -> Identity {
        (self.device, self.inode, self.mode)
    }

    /// Bits that say whether it may be run.
    pub fn mode(&self) -> u32 {
        self.mode
    }
}
