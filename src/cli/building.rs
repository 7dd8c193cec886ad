//! Runs a build with our names for the compilers first on the path.

use super::build_state::BuildState;
use super::files;
use super::workspace::Workspace;
use crate::compiler::log::{self, Event};
use crate::compiler::project::{
    BUILD_DIRECTORY_VARIABLE, LOG_VARIABLE, ROOT_VARIABLE, SHIMS_VARIABLE,
};
use crate::trace::format::{ENVIRONMENT, TraceFile};
use crate::trace::module::Module;
use anyhow::Context;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a build did.
#[derive(Debug, Default)]
pub struct Built {
    pub code: i32,
    pub units: usize,
    pub procedures: usize,
    pub opaque: usize,
    pub untouched: Vec<(String, String)>,
    pub programs: BTreeSet<String>,
    /// Programs that leave no trace, and why.
    pub without_runtime: BTreeSet<(String, String)>,
}

/// Runs a build command to its end.
pub fn build(workspace: &Workspace, mut command: Command) -> anyhow::Result<Built> {
    let state = workspace.state();
    fs_err::create_dir_all(&state)?;
    let shims = make_shims(&state)?;
    let log = tempfile::Builder::new().prefix("build.").tempfile_in(&state)?;
    let descriptions = files::descriptions(&files::scan(workspace)?);
    // Programs that run during the build leave a trace here.
    let traces = tempfile::Builder::new().prefix("edgewise-build").tempdir()?;
    let mut path = OsString::from(&shims);
    if let Some(old) = std::env::var_os("PATH") {
        path.push(":");
        path.push(old);
    }
    command
        .env("PATH", path)
        .env(ROOT_VARIABLE, &workspace.project.root)
        .env(BUILD_DIRECTORY_VARIABLE, std::env::current_dir()?)
        .env(SHIMS_VARIABLE, &shims)
        .env(LOG_VARIABLE, log.path())
        .env(ENVIRONMENT, traces.path());
    // An absolute compiler in CC would pass our names by.
    if let Some(compiler) = std::env::var_os("CC").map(PathBuf::from)
        && compiler.is_absolute()
        && let Some(name) = compiler.file_name()
        && shims.join(name).exists()
    {
        command.env("CC", shims.join(name));
    }
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot run `{program}`"))?;
    let mut state = BuildState::read(workspace)?;
    let mut built = Built { code: crate::compiler::exit_code(status), ..Built::default() };
    for event in log::read(log.path()) {
        match event {
            Event::Compiled { source, procedures, opaque, untouched } => {
                built.units += 1;
                built.procedures += procedures;
                built.opaque += opaque;
                built.untouched.extend(untouched.map(|why| (source, why)));
            }
            Event::Linked { output } => {
                built.programs.insert(output);
            }
            Event::LinkedWithoutRuntime { output, reason } => {
                built.without_runtime.insert((output, reason));
            }
            Event::NotAnalysed { sources, .. } => state.unanalysed.extend(sources),
        }
    }
    state.programs.extend(built.programs.iter().cloned());
    state.generator_files.extend(generator_files(workspace, traces.path()));
    if built.code == 0 {
        state.descriptions = Some(descriptions);
    }
    state.write(workspace)?;
    Ok(built)
}

/// Files of the units of all programs that left a trace.
fn generator_files(workspace: &Workspace, traces: &Path) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    let Ok(entries) = std::fs::read_dir(traces) else { return files };
    for entry in entries.flatten() {
        let bytes = std::fs::read(entry.path()).unwrap_or_default();
        let Ok(trace) = TraceFile::parse(&bytes) else { continue };
        // A program that a configure script tried out is gone already.
        let Ok(module) = Module::read(&trace.module) else { continue };
        for unit in &module.records.units {
            files.extend(unit.index().map(|index| index.files).unwrap_or_default());
        }
    }
    files.retain(|file| {
        !file.is_empty() && workspace.project.root.join(file).starts_with(&workspace.project.root)
    });
    files
}

/// Links named like the compilers of this machine, all to this program.
fn make_shims(state: &Path) -> anyhow::Result<PathBuf> {
    let shims = state.join("shims");
    fs_err::create_dir_all(&shims)?;
    let own = std::env::current_exe().context("cannot find this program")?;
    let mut names: BTreeSet<OsString> = BTreeSet::new();
    for directory in std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()) {
        if directory == shims {
            continue;
        }
        let Ok(entries) = std::fs::read_dir(&directory) else {
            continue;
        };
        for entry in entries.flatten() {
            if entry.file_name().to_str().is_some_and(is_compiler_name) {
                names.insert(entry.file_name());
            }
        }
    }
    for name in names {
        let link = shims.join(&name);
        if std::fs::read_link(&link).is_ok_and(|target| target == own) {
            continue;
        }
        // Beside it first: another build may be using the old one.
        let fresh = shims.join(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
        std::os::unix::fs::symlink(&own, &fresh)?;
        fs_err::rename(&fresh, &link)?;
    }
    Ok(shims)
}

/// `cc`, `gcc`, `clang`, those of C++, with a version behind or a target before it.
pub fn is_compiler_name(name: &str) -> bool {
    let base = match name.rsplit_once('-') {
        Some((base, version)) if version.chars().all(|c| c.is_ascii_digit() || c == '.') => base,
        _ => name,
    };
    let driver = base.rsplit('-').next().unwrap_or(base);
    match driver {
        "c99" | "c89" => base == driver,
        _ => ["cc", "gcc", "clang", "c++", "g++", "clang++"].contains(&driver),
    }
}

#[cfg(test)]
mod tests {
    use super::is_compiler_name;

    #[test]
    fn knows_compilers_by_name() {
        for name in [
            "cc",
            "gcc",
            "gcc-12",
            "clang-15",
            "x86_64-linux-gnu-gcc-12",
            "c99",
            "g++",
            "clang++-15",
        ] {
            assert!(is_compiler_name(name), "{name}");
        }
        for name in ["gcc-ar", "ccache", "gcov", "clang-format", "ld", "gcc-nm-12"] {
            assert!(!is_compiler_name(name), "{name}");
        }
    }
}
