//! The real compiler: where it is and which one it is.

use super::project::SHIMS_VARIABLE;
use crate::bytes;
use crate::ids::{Fingerprint, FpHasher};
use crate::instrument::Architecture;
use object::{Object, ReadCache};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};

/// Our programs, which stand side by side.
const PROGRAMS: [&str; 2] = ["edgewise", "edgewise-cc"];

/// A real compiler, with the launcher before it if it has one (`ccache gcc`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Compiler {
    program: PathBuf,
    /// Words between the program and its arguments.
    words: Vec<String>,
}

impl Compiler {
    /// Finds a compiler by what the user calls it.
    pub fn find(name: &str) -> Option<Self> {
        // All units of a project name the same few.
        static KNOWN: OnceLock<Mutex<HashMap<String, Compiler>>> = OnceLock::new();
        let known = KNOWN.get_or_init(Mutex::default);
        if let Some(compiler) = known.lock().ok().and_then(|known| known.get(name).cloned()) {
            return Some(compiler);
        }
        let found = Self::look_for(name)?;
        if let Ok(mut known) = known.lock() {
            known.insert(name.to_string(), found.clone());
        }
        Some(found)
    }

    fn look_for(name: &str) -> Option<Self> {
        if let Some(program) = find(name) {
            return Some(Self { program, words: Vec::new() });
        }
        let mut words = name.split_whitespace().map(String::from);
        let program = find(&words.next()?)?;
        Some(Self { program, words: words.collect() })
    }

    /// Whether a name is one that compilers usually have, also with a directory or behind a launcher.
    pub fn is_usual(name: &str) -> bool {
        usual_words(name).is_some()
    }

    /// Finds a compiler that a record names: by its name alone, on the path of this machine. None if
    /// the name is not one of a compiler.
    pub fn find_usual(name: &str) -> Option<Self> {
        let mut words = usual_words(name)?.into_iter();
        let program = find(words.next()?).filter(|program| program.is_absolute())?;
        let words: Vec<String> = words.map(String::from).collect();
        let are_found = words.iter().all(|word| find(word).is_some_and(|p| p.is_absolute()));
        are_found.then_some(Self { program, words })
    }

    /// A call of it. What it calls itself by name must not be us again.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(bytes::all(&self.words));
        if let Some(path) = path_without_shims() {
            command.env("PATH", path);
        }
        command
    }

    /// The program, if nothing stands before it.
    pub fn alone(&self) -> Option<&Path> {
        self.words.is_empty().then_some(self.program.as_path())
    }

    pub fn display(&self) -> impl std::fmt::Display {
        self.program.display()
    }
}

/// Launchers that stand before compilers.
const LAUNCHERS: &[&str] = &["ccache", "sccache"];
/// Compilers, without what may stand before and behind: `x86_64-linux-gnu-gcc-12`.
const COMPILERS: &[&str] = &["c89", "c99", "cc", "clang", "gcc", "icc", "icx", "tcc"];

/// The words of a compiler's name without directories, if all are usual ones.
fn usual_words(name: &str) -> Option<Vec<&str>> {
    let file = |word| Path::new(word).file_name().and_then(|file: &OsStr| file.to_str());
    if let Some(alone) = file(name).filter(|name| is_compiler(name)) {
        return Some(vec![alone]);
    }
    let words: Vec<&str> = name.split_whitespace().map(file).collect::<Option<_>>()?;
    let [launchers @ .., compiler] = &words[..] else { return None };
    let is_known = launchers.iter().all(|word| LAUNCHERS.contains(word)) && is_compiler(compiler);
    is_known.then_some(words)
}

fn is_compiler(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_version = |end: &str| end.chars().all(|c| c.is_ascii_digit() || c == '.');
    let plain = match name.rsplit_once('-') {
        Some((start, end)) if is_version(end) => start,
        _ => name,
    };
    let last = plain.rsplit('-').next().unwrap_or_default();
    name.chars().all(is_letter) && !name.starts_with(['-', '.']) && COMPILERS.contains(&last)
}

/// What is known of a compiler by asking it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its version with the target it compiles for, and its programs.
    pub version: String,
    pub architecture: Architecture,
    pub is_clang: bool,
}

/// Finds a program on the path, leaving out our own names for compilers.
pub fn find(name: &str) -> Option<PathBuf> {
    let is_real = |path: &Path| is_executable(path) && !is_ours(path);
    let name = bytes::path(name);
    let mut name = &*name;
    if name.components().count() > 1 {
        if is_real(name) {
            return Some(name.to_path_buf());
        }
        name = Path::new(name.file_name().filter(|_| is_ours(name))?);
    }
    let path = path_without_shims().or_else(|| std::env::var_os("PATH"))?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|path| is_real(path))
}

/// What a compiler is called: one of our own names, with its directory, stands
/// for the real one.
pub fn real_name(name: &str) -> &str {
    let path = bytes::path(name);
    match path.file_name().and_then(|file| file.to_str()) {
        Some(file) if path.components().count() > 1 && is_ours(&path) => {
            &name[name.len() - file.len()..]
        }
        _ => name,
    }
}

/// Whether a path leads to one of our own programs.
fn is_ours(path: &Path) -> bool {
    let own = std::env::current_exe().and_then(|exe| exe.canonicalize());
    let (Ok(own), Ok(path)) = (own, path.canonicalize()) else { return false };
    let has_our_name = path.file_name().is_some_and(|name| PROGRAMS.iter().any(|p| name == *p));
    path == own || has_our_name && path.parent() == own.parent()
}

/// The path without the directory of our names, if that is known.
pub fn path_without_shims() -> Option<OsString> {
    let shims = std::env::var_os(SHIMS_VARIABLE).map(PathBuf::from)?;
    let path = std::env::var_os("PATH")?;
    let others = std::env::split_paths(&path).filter(|directory| *directory != shims);
    std::env::join_paths(others).ok()
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// What stands for the programs that a compiler consists of and starts: others
/// may have the same version.
fn tools(compiler: &Compiler) -> Fingerprint {
    let mut hasher = FpHasher::new("tools");
    hasher.fp(&of_program(&compiler.program));
    for program in compiler.words.iter().filter_map(|word| find(word)) {
        hasher.fp(&of_program(&program));
    }
    let question = ["-###", "-x", "c", "-c", "/dev/null", "-o", "/dev/null"];
    let output = compiler.command().args(question).stdin(Stdio::null()).output();
    let said = output.map(|output| output.stderr).unwrap_or_default();
    for line in String::from_utf8_lossy(&said).lines().filter(|line| line.starts_with(' ')) {
        let program = line.split_whitespace().next().unwrap_or_default().trim_matches('"');
        if let Some(program) = find(program) {
            hasher.fp(&of_program(&program));
        }
    }
    hasher.finish()
}

/// What stands for a program: its build-id, which is quickly read, or all of it.
pub fn of_program(path: &Path) -> Fingerprint {
    let Ok(file) = std::fs::File::open(path) else { return Fingerprint::default() };
    let size = file.metadata().map_or(0, |meta| meta.len());
    let bytes = ReadCache::new(file);
    let elf = object::File::parse(&bytes).ok();
    if let Some(id) = elf.and_then(|elf| elf.build_id().ok().flatten()) {
        let mut hasher = FpHasher::new("program");
        hasher.number(size);
        hasher.bytes(id);
        return hasher.finish();
    }
    std::fs::read(path).map_or(Fingerprint::default(), |bytes| Fingerprint::of(&bytes))
}

static IDENTITIES: OnceLock<Mutex<HashMap<Compiler, Identity>>> = OnceLock::new();

/// Takes it as said by a compiler who it is.
pub fn remember(compiler: &Compiler, identity: Identity) {
    if let Ok(mut known) = IDENTITIES.get_or_init(Mutex::default).lock() {
        known.insert(compiler.clone(), identity);
    }
}

/// Asks a compiler who it is, once per process.
pub fn identity(compiler: &Compiler) -> Identity {
    let known = IDENTITIES.get_or_init(Mutex::default);
    if let Some(identity) = known.lock().ok().and_then(|k| k.get(compiler).cloned()) {
        return identity;
    }
    let ask = |argument: &str| {
        let output =
            compiler.command().arg(argument).stdin(Stdio::null()).stderr(Stdio::null()).output();
        let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
        text.ok().and_then(|t| t.lines().next().map(String::from)).unwrap_or_default()
    };
    let machine = ask("-dumpmachine");
    let architecture =
        if machine.starts_with("x86_64") { Architecture::X86_64 } else { Architecture::Other };
    // The first line of --version begins with the name it was called by.
    let version = ask("--version");
    let is_clang = version.contains("clang");
    let version = version.split_once(' ').map_or(version.as_str(), |(_, rest)| rest);
    let version = format!("{version} for {machine}, {:?}", tools(compiler));
    let identity = Identity { version, architecture, is_clang };
    if let Ok(mut known) = known.lock() {
        known.insert(compiler.clone(), identity.clone());
    }
    identity
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_names_of_compilers() {
        for name in ["gcc", "cc", "clang-15", "gcc-12.2", "/usr/bin/gcc", "ccache gcc"] {
            assert!(Compiler::is_usual(name), "{name}");
        }
        for name in ["x86_64-linux-gnu-gcc-12", "arm-none-eabi-gcc", "/a/ccache /b/clang"] {
            assert!(Compiler::is_usual(name), "{name}");
        }
        let unusual =
            ["", "sh", "/bin/sh", "evil", "gcc -wrapper", "gcc sh", "sh gcc", "env X=1 gcc"];
        for name in unusual.into_iter().chain(["ccache", "-gcc", "gcc;x", ".gcc", "ccache a=b gcc"])
        {
            assert!(!Compiler::is_usual(name), "{name}");
        }
        assert_eq!(usual_words("/tmp/evil/gcc"), Some(vec!["gcc"]));
    }
}
