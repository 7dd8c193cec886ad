//! The library that is preloaded into the processes of tests and builds, to
//! see which files of the project they use.

use super::keeper;
use crate::compiler::made::Made;
use crate::compiler::runtime;
use crate::trace::uses::{self, Room};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Tells the keeper of a test which library its processes get.
pub const VARIABLE: &str = "EDGEWISE_PRELOAD";
const PRELOAD: &str = "LD_PRELOAD";
/// The runtime of gcc's sanitizer refuses to start if another library comes
/// before it, unless it is told otherwise.
const ASAN: &str = "ASAN_OPTIONS";
const ASAN_ORDER: &str = "verify_asan_link_order=0";
const LIBRARY: &str = "libedgewise-files.so";

/// Whether a file that a process loaded is our own library.
pub fn is_ours(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == LIBRARY)
}

/// The library, or why there is none; and what starts processes with it.
pub struct Preload {
    library: Result<PathBuf, String>,
    keeper: Option<PathBuf>,
    root: PathBuf,
    /// Where the library is, if it could not stay where it was made.
    _elsewhere: Option<tempfile::TempDir>,
}

impl Preload {
    /// Makes the library for a project, unless it is there already. That there is none is no
    /// error: then nothing is recorded, and the traces say so.
    pub fn make(kept: &Path, root: &Path) -> Self {
        let mut elsewhere = None;
        let library = compile(kept).and_then(|library| {
            if is_plain(&library) {
                return Ok(library);
            }
            let directory = tempfile::Builder::new().prefix("edgewise-preload").tempdir();
            let directory = directory.map_err(|error| error.to_string())?;
            let copy = directory.path().join(LIBRARY);
            std::fs::copy(&library, &copy).map_err(|error| error.to_string())?;
            elsewhere = Some(directory);
            if is_plain(&copy) { Ok(copy) } else { Err(String::from("no path for LD_PRELOAD")) }
        });
        let library = library.and_then(|library| try_out(&library).map(|()| library));
        let library = library.map_err(|why| format!("file uses are not recorded: {why}"));
        let keeper = keeper::make(kept);
        Self { library, keeper, root: root.to_path_buf(), _elsewhere: elsewhere }
    }

    /// The small keeper, if there is one.
    pub fn keeper(&self) -> Option<&Path> {
        self.keeper.as_deref()
    }

    /// Makes the log in a trace directory. Returns the library that is to be
    /// preloaded, if there is one.
    pub fn prepare(&self, trace: &Path, room: Room) -> Option<&Path> {
        let library = self.library.as_deref().map_err(String::clone);
        let made = library.and_then(|library| {
            let made = uses::create(trace, &self.root, library, room);
            made.map(|()| library).map_err(|error| format!("no log of file uses: {error}"))
        });
        match made {
            Ok(library) => Some(library),
            Err(why) => {
                let _ = uses::create_off(trace, &why);
                None
            }
        }
    }
}

/// Gives a command the library, behind those it has already: it is to see what
/// these make of a call. `get` knows the variables that the command would have.
pub fn add_to(command: &mut Command, library: &OsStr, get: impl Fn(&str) -> Option<OsString>) {
    let joined = |name: &str, value: &OsStr| {
        let mut joined = get(name).unwrap_or_default();
        if !joined.is_empty() {
            joined.push(":");
        }
        joined.push(value);
        joined
    };
    command.env(PRELOAD, joined(PRELOAD, library));
    command.env(ASAN, joined(ASAN, OsStr::new(ASAN_ORDER)));
}

/// The same, with the variables as they are here and as the command changes them.
pub fn add(command: &mut Command, library: &OsStr) {
    let changed = command.get_envs().filter(|(name, _)| *name == PRELOAD || *name == ASAN);
    let changed: Vec<(OsString, Option<OsString>)> = changed
        .map(|(name, value)| (name.to_os_string(), value.map(OsStr::to_os_string)))
        .collect();
    add_to(command, library, |name| match changed.iter().find(|(known, _)| known == name) {
        Some((_, value)) => value.clone(),
        None => std::env::var_os(name),
    });
}

/// Whether LD_PRELOAD can name it.
fn is_plain(path: &Path) -> bool {
    path.to_str().is_some_and(|path| !path.contains([' ', '\t', '\n', ':', '$']))
}

/// The library in the directory of what is kept, made if it is not there.
fn compile(kept: &Path) -> Result<PathBuf, String> {
    let made = Made {
        name: LIBRARY,
        sources: runtime::FILES_SOURCES,
        main: runtime::FILES_MAIN_SOURCE,
        flags: &[
            "-fPIC",
            "-shared",
            "-fvisibility=hidden",
            "-fno-delete-null-pointer-checks",
            "-Wl,--hash-style=gnu,-O1,-z,noexecstack",
            // Each mapping costs time at every start of a process.
            "-Wl,-z,norelro,-z,noseparate-code,--build-id=none",
        ],
    };
    made.make_freestanding(kept)
}

/// Whether a process starts with it, without a word: the loader complains of
/// what it cannot load.
fn try_out(library: &Path) -> Result<(), String> {
    let output = Command::new("/bin/sh").args(["-c", ":"]).env(PRELOAD, library).output();
    let output = output.map_err(|error| error.to_string())?;
    let words = String::from_utf8_lossy(&output.stderr);
    if output.status.success() && words.is_empty() {
        return Ok(());
    }
    Err(format!("the library does not load: {}", words.lines().next().unwrap_or_default()))
}
