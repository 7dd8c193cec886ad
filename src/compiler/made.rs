//! What is made of the C sources that we carry is made once and kept: the runtime,
//! and small programs and libraries for the processes of tests.

use super::project::STATE_DIRECTORY;
use super::toolchain::Compiler;
use crate::ids::FpHasher;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Names a directory for it. Without it, each user has one.
const DIRECTORY_VARIABLE: &str = "EDGEWISE_CACHE";

/// What is to be made.
pub struct Made<'a> {
    pub name: &'a str,
    /// Paths and texts of all sources.
    pub sources: &'a [(&'a str, &'a str)],
    /// The one that includes the others.
    pub main: &'a str,
    pub flags: &'a [&'a str],
}

/// Where it is kept: not in the project, where a cache that others may write could bring programs
/// that we would run.
pub fn directory(root: &Path) -> PathBuf {
    if let Some(directory) = std::env::var_os(DIRECTORY_VARIABLE).filter(|name| !name.is_empty()) {
        return root.join(directory);
    }
    let below_home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    let of_user = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(below_home);
    let of_user = of_user.map(|cache| cache.join("edgewise"));
    let is_good = |path: &PathBuf| path.is_absolute() && !path.starts_with(root);
    match of_user.filter(is_good).filter(|path| is_writable(path)) {
        Some(directory) => directory,
        None => temporary(),
    }
}

/// The same for a compiler, which may run anywhere and leaves nothing there.
pub fn existing_directory(root: &Path) -> Option<PathBuf> {
    let directory = directory(root);
    let has_state = || root.join(STATE_DIRECTORY).is_dir();
    (!directory.starts_with(root) || has_state()).then_some(directory)
}

fn is_writable(directory: &Path) -> bool {
    let Ok(name) = CString::new(directory.as_os_str().as_bytes()) else { return false };
    // SAFETY: the name is a string that lives as long as the call.
    std::fs::create_dir_all(directory).is_ok()
        && unsafe { libc::access(name.as_ptr(), libc::W_OK) } == 0
}

/// A directory of this user among the temporary ones. One that belongs to another user is not used:
/// a name in it says that there is no such place.
fn temporary() -> PathBuf {
    // SAFETY: a call without memory.
    let user = unsafe { libc::geteuid() };
    let directory = std::env::temp_dir().join(format!("edgewise-{user}"));
    let _ = std::fs::DirBuilder::new().mode(0o700).create(&directory);
    let is_ours = directory
        .symlink_metadata()
        .is_ok_and(|meta| meta.is_dir() && meta.uid() == user && meta.mode() & 0o022 == 0);
    if is_ours { directory } else { PathBuf::from("/proc/self/fdinfo/edgewise") }
}

impl Made<'_> {
    /// The same for what works without any library, by any compiler.
    pub fn make_freestanding(&self, kept: &Path) -> Result<PathBuf, String> {
        let compiler = ["cc", "gcc", "clang"].iter().find_map(|name| Compiler::find(name));
        let compiler = compiler.ok_or("there is no C compiler")?;
        // Asking it for its version takes longer than a test.
        let program = compiler.display().to_string();
        let stamp = std::fs::metadata(&program).and_then(|meta| Ok((meta.len(), meta.modified()?)));
        let by = format!("{program} {:?}", stamp.ok());
        let mut flags = vec!["-std=gnu11", "-nostdlib", "-ffreestanding", "-fno-stack-protector"];
        flags.extend(self.flags);
        Made { flags: &flags, ..*self }.make(kept, &compiler, &by)
    }

    /// The file in the directory of all that is kept, made if it is not there.
    /// `by` says which compiler it is.
    pub fn make(&self, kept: &Path, compiler: &Compiler, by: &str) -> Result<PathBuf, String> {
        let mut hasher = FpHasher::new("made");
        for (name, text) in self.sources {
            hasher.str(name);
            hasher.str(text);
        }
        hasher.str(self.main);
        self.flags.iter().for_each(|flag| hasher.str(flag));
        hasher.str(by);
        let directory = kept.join(hasher.finish().hex());
        let file = directory.join(self.name);
        let problem = |error: std::io::Error| error.to_string();
        if !file.exists() {
            fs_err::create_dir_all(&directory).map_err(problem)?;
            // In a directory of its own: others may be at it as well.
            let scratch =
                tempfile::Builder::new().prefix(".new").tempdir_in(&directory).map_err(problem)?;
            let made = self.make_in(scratch.path(), compiler)?;
            // It is never found half written, even if the machine stops here.
            let written = fs_err::File::open(&made).and_then(|file| file.sync_all());
            written.and_then(|()| fs_err::rename(&made, &file)).map_err(problem)?;
        }
        file.canonicalize().map_err(problem)
    }

    /// Makes it in a directory for once.
    pub fn make_in(&self, directory: &Path, compiler: &Compiler) -> Result<PathBuf, String> {
        let problem = |error: std::io::Error| error.to_string();
        for (name, text) in self.sources {
            let path = directory.join(name);
            fs_err::create_dir_all(path.parent().unwrap_or(directory)).map_err(problem)?;
            fs_err::write(path, text).map_err(problem)?;
        }
        let output = compiler
            .command()
            .current_dir(directory)
            .args(["-O2", "-w", "-fno-lto"])
            .args(self.flags)
            .args(["-o", self.name, "-x", "c", self.main])
            .env_remove("LD_PRELOAD")
            .stdin(Stdio::null())
            .output()
            .map_err(problem)?;
        if output.status.success() {
            return Ok(directory.join(self.name));
        }
        let messages = String::from_utf8_lossy(&output.stderr);
        let first = messages.lines().find_map(|line| line.split_once("error: "));
        let first = first.map_or("", |(_, message)| message);
        Err(format!("{} does not compile: {first}", self.name))
    }
}
