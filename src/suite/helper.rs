//! Small programs and libraries that are made of C for the processes of tests.

use crate::compiler::toolchain::Compiler;
use crate::ids::FpHasher;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// What is to be made.
pub struct Made<'a> {
    pub name: &'a str,
    /// Paths and texts of all sources.
    pub sources: &'a [(&'a str, &'a str)],
    /// The one that includes the others.
    pub main: &'a str,
    /// Beside those that all of them get.
    pub flags: &'a [&'a str],
}

/// The file in the state directory, made if it is not there.
pub fn make(state: &Path, made: &Made<'_>) -> Result<PathBuf, String> {
    let compiler = ["cc", "gcc", "clang"].iter().find_map(|name| Compiler::find(name));
    let compiler = compiler.ok_or("there is no C compiler")?;
    let mut hasher = FpHasher::new("helper");
    for (name, text) in made.sources {
        hasher.str(name);
        hasher.str(text);
    }
    made.flags.iter().for_each(|flag| hasher.str(flag));
    // Asking it for its version takes longer than a test.
    let program = compiler.display().to_string();
    let stamp = std::fs::metadata(&program).and_then(|meta| Ok((meta.len(), meta.modified()?)));
    hasher.str(&format!("{program} {:?}", stamp.ok()));
    let directory = state.join("preload").join(hasher.finish().hex());
    let file = directory.join(made.name);
    if file.exists() {
        return file.canonicalize().map_err(|error| error.to_string());
    }
    let problem = |error: std::io::Error| error.to_string();
    fs_err::create_dir_all(&directory).map_err(problem)?;
    // In a directory of its own: others may be at it as well.
    let scratch =
        tempfile::Builder::new().prefix(".new").tempdir_in(&directory).map_err(problem)?;
    for (name, text) in made.sources {
        let path = scratch.path().join(name);
        fs_err::create_dir_all(path.parent().unwrap_or(scratch.path())).map_err(problem)?;
        fs_err::write(path, text).map_err(problem)?;
    }
    let output = compiler
        .command()
        .current_dir(scratch.path())
        .args(["-std=gnu11", "-O2", "-nostdlib", "-ffreestanding", "-w"])
        .args(["-fno-stack-protector", "-fno-lto"])
        .args(made.flags)
        .args(["-o", made.name, made.main])
        .env_remove("LD_PRELOAD")
        .stdin(Stdio::null())
        .output()
        .map_err(problem)?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        let first = messages.lines().find_map(|line| line.split_once("error: "));
        let first = first.map_or("", |(_, message)| message);
        return Err(format!("{} does not compile: {first}", made.name));
    }
    fs_err::rename(scratch.path().join(made.name), &file).map_err(problem)?;
    file.canonicalize().map_err(problem)
}
