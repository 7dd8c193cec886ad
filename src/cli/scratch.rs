//! Where the traces and the output of running tests are.

use super::build_state::BuildState;
use super::workspace::Workspace;
use crate::compiler::settings::Settings;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use tempfile::TempDir;

/// Hidden, so that a test which removes `"$TMPDIR"/*` leaves it.
const PREFIX: &str = ".edgewise-run";
/// Files here are in memory.
const MEMORY: &str = "/dev/shm";
/// With less room than this, traces are better off on a disk.
const ENOUGH: u64 = 1 << 30;

pub struct Scratch {
    pub traces: TempDir,
    /// Tests may print very much.
    pub outputs: TempDir,
}

impl Scratch {
    /// Traces are small, and gone as soon as they are read: making and removing files
    /// on a disk takes longer than a small test. Logs of nodes are not small. Who
    /// names a directory for temporary files means it.
    pub fn make(workspace: &Workspace) -> anyhow::Result<Self> {
        let settings = Settings::of_environment(&workspace.project.root);
        let is_large = settings.logs_nodes() || BuildState::read(workspace)?.logs_nodes;
        let is_told = std::env::var_os("TMPDIR").is_some_and(|directory| !directory.is_empty());
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix(PREFIX);
        let memory = Path::new(MEMORY);
        let in_memory = !is_large && !is_told && room_in(memory).is_some_and(|room| room >= ENOUGH);
        let in_memory = if in_memory { builder.tempdir_in(memory).ok() } else { None };
        let traces = match in_memory {
            Some(traces) => traces,
            None => builder.tempdir()?,
        };
        Ok(Self { traces, outputs: builder.tempdir()? })
    }
}

/// Bytes that are free in a file system.
fn room_in(directory: &Path) -> Option<u64> {
    let path = CString::new(directory.as_os_str().as_bytes()).ok()?;
    // SAFETY: all zeroes is a valid value of this plain structure, and the call only
    // reads a string and writes to it.
    unsafe {
        let mut status: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(path.as_ptr(), &raw mut status) == 0)
            .then(|| status.f_bavail.saturating_mul(status.f_frsize))
    }
}
