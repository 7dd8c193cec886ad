//! The real compiler: where it is and which one it is.

use super::project::SHIMS_VARIABLE;
use crate::instrument::Architecture;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};

/// What is known of a compiler by asking it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its version with the target it compiles for.
    pub version: String,
    pub architecture: Architecture,
}

/// Finds a program on the path, leaving out our own names for compilers.
pub fn find(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name));
    }
    let shims = std::env::var_os(SHIMS_VARIABLE).map(PathBuf::from);
    let own = std::env::current_exe().and_then(|exe| exe.canonicalize()).ok();
    std::env::split_paths(&std::env::var_os("PATH")?)
        .filter(|dir| Some(dir) != shims.as_ref())
        .map(|dir| dir.join(name))
        .find(|path| is_executable(path) && (own.is_none() || path.canonicalize().ok() != own))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Asks a compiler who it is, once per process.
pub fn identity(compiler: &Path) -> Identity {
    static KNOWN: OnceLock<Mutex<HashMap<PathBuf, Identity>>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    if let Some(identity) = known.lock().ok().and_then(|k| k.get(compiler).cloned()) {
        return identity;
    }
    let ask = |argument: &str| {
        let output = Command::new(compiler)
            .arg(argument)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
        text.ok().and_then(|t| t.lines().next().map(String::from)).unwrap_or_default()
    };
    let machine = ask("-dumpmachine");
    let architecture =
        if machine.starts_with("x86_64") { Architecture::X86_64 } else { Architecture::Other };
    // The first line of --version begins with the name it was called by.
    let version = ask("--version");
    let version = version.split_once(' ').map_or(version.as_str(), |(_, rest)| rest);
    let identity = Identity { version: format!("{version} for {machine}"), architecture };
    if let Ok(mut known) = known.lock() {
        known.insert(compiler.to_path_buf(), identity.clone());
    }
    identity
}
