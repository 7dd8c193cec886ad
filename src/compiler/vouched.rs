//! Which recorded compile commands a selection may run. A record may come from another machine,
//! in a history or in a program, so it must not decide which program runs here or which option it
//! gets. Three things may be used:
//!
//! - a compiler with a usual name, as the PATH of this machine finds it;
//! - options that can neither run, load nor write anything, about files of the project and of the
//!   system (`flags.rs`, [`Recorded`]);
//! - whatever this project's own build says: edgewise.toml, `CC`, a compile_commands.json, and
//!   what `edgewise cc` compiled for this user in this directory.
//!
//! The last of these is kept outside of the project, since a cache may bring `.edgewise`.

use super::commands;
use super::flags::{self, Recorded};
use super::preprocess::{Job, PreprocessError};
use super::project::{CONFIG_FILE, Project, clean};
use super::toolchain::Compiler;
use super::unit::Unit;
use crate::bytes;
use crate::cfg::format::Command;
use crate::ids::{Fingerprint, FpHasher};
use rustc_hash::FxHashSet;
use serde::Deserialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Directories of the system, whose files anybody may read.
const SYSTEM: &[&str] = &["/usr", "/nix/store", "/gnu/store"];
/// One with packages of all kinds: of these, their headers.
const PACKAGES: &str = "/opt";

/// Variables by which the user of this machine names a compiler.
const VARIABLES: &[&str] = &["CC", "EDGEWISE_CC"];

/// What the project vouches for, read when a record asks for more than the usual.
#[derive(Debug, Default)]
pub struct Vouched(OnceLock<Known>);

#[derive(Debug, Default)]
struct Known {
    compilers: FxHashSet<String>,
    /// What stands for commands and compilers, as notes have it.
    ids: FxHashSet<String>,
}

/// The part of edgewise.toml that is read here.
#[derive(Default, Deserialize)]
struct Config {
    #[serde(default)]
    build: Build,
}

#[derive(Default, Deserialize)]
struct Build {
    #[serde(default)]
    compilers: Vec<String>,
}

/// The compiler of a record, if it may be run.
pub fn compiler(project: &Project, name: &str) -> Option<Compiler> {
    let usual = Compiler::find_usual(name);
    // A name alone means the same to both.
    if (usual.is_none() || name.contains('/')) && project.vouched.of(project).names(name) {
        return Compiler::find(name);
    }
    usual
}

/// The preprocessor run of a recorded unit, if that may be run.
pub fn job(project: &Project, unit: &Unit) -> Result<Job, PreprocessError> {
    let Command { compiler: name, source, .. } = &unit.command;
    let compiler = compiler(project, name).ok_or_else(|| {
        match Compiler::is_usual(name) || project.vouched.of(project).names(name) {
            true => PreprocessError::Failed(format!("compiler `{name}` not found")),
            false => PreprocessError::Refused(format!("compiler `{name}`")),
        }
    })?;
    let mut job = Job {
        compiler,
        directory: project.place(&unit.command.directory),
        arguments: expanded(project, &unit.command),
        source: project.expand_argument(source),
    };
    match usual_arguments(project, &job) {
        Ok(arguments) => job.arguments = arguments,
        Err(what) if !project.vouched.of(project).ids.contains(&id(&unit.command)) => {
            return Err(PreprocessError::Refused(what));
        }
        Err(_) => {}
    }
    Ok(job)
}

/// Notes a command of the local build, if a selection would not run it otherwise.
pub fn note(project: &Project, unit: &Unit, job: &Job) {
    let mut lines = Vec::new();
    let name = &unit.command.compiler;
    let is_found = Compiler::find_usual(name).is_some_and(|usual| usual == job.compiler);
    lines.extend((!is_found).then(|| of_compiler(name)));
    lines.extend(usual_arguments(project, job).is_err().then(|| id(&unit.command)));
    if lines.is_empty() {
        return;
    }
    let Some(path) = notes(project) else { return };
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    lines.retain(|line| !known.lines().any(|known| known == line));
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let made = path.parent().is_some_and(|parent| std::fs::create_dir_all(parent).is_ok());
    if made && !text.is_empty() {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        let _ = file.and_then(|mut file| file.write_all(text.as_bytes()));
    }
}

impl Vouched {
    fn of(&self, project: &Project) -> &Known {
        self.0.get_or_init(|| Known::read(project))
    }
}

impl Known {
    fn read(project: &Project) -> Self {
        let mut known = Self::default();
        let text = std::fs::read_to_string(project.root.join(CONFIG_FILE)).unwrap_or_default();
        known.compilers.extend(toml::from_str::<Config>(&text).unwrap_or_default().build.compilers);
        known.compilers.extend(VARIABLES.iter().filter_map(|name| std::env::var(name).ok()));
        for unit in commands::lists(&project.root).flat_map(|l| commands::units(project, &l)) {
            known.ids.insert(id(&unit.command));
            known.compilers.insert(unit.command.compiler);
        }
        let notes = notes(project).and_then(|path| std::fs::read_to_string(path).ok());
        let notes = notes.unwrap_or_default();
        known.ids.extend(notes.lines().map(String::from));
        known
    }

    fn names(&self, compiler: &str) -> bool {
        self.compilers.contains(compiler) || self.ids.contains(&of_compiler(compiler))
    }
}

/// Stands for what a command asks of its compiler.
fn id(command: &Command) -> String {
    let Command { arguments, directory, source, .. } = command;
    let mut hasher = FpHasher::new("vouched command");
    [directory, source].into_iter().chain(arguments).for_each(|word| hasher.str(word));
    hasher.finish().hex()
}

fn of_compiler(name: &str) -> String {
    let mut hasher = FpHasher::new("vouched compiler");
    hasher.str(name);
    hasher.finish().hex()
}

/// Where commands of local builds are noted: not in the project, which others write as well.
fn notes(project: &Project) -> Option<PathBuf> {
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state"));
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).or_else(home)?;
    let root = project.root.canonicalize().ok()?;
    let name = Fingerprint::of(root.as_os_str().as_encoded_bytes()).hex();
    let is_ours = state.is_absolute() && !state.starts_with(&root);
    is_ours.then(|| state.join("edgewise").join(name))
}

fn expanded(project: &Project, command: &Command) -> Vec<String> {
    command.arguments.iter().map(|word| project.expand_argument(word)).collect()
}

/// The arguments of a run that nothing vouches for, without those that the preprocessor does not
/// need; or what stands against it.
fn usual_arguments(project: &Project, job: &Job) -> Result<Vec<String>, String> {
    let root = project.root.canonicalize().unwrap_or_else(|_| project.root.clone());
    let places = Places { root: &root, directory: &job.directory };
    if !places.is_of_project(Path::new("")) {
        return Err(format!("directory {}", job.directory.display()));
    }
    if job.source.starts_with(['-', '@']) || !places.is_of_project(&bytes::path(&job.source)) {
        return Err(format!("source {}", job.source));
    }
    let mut kept = Vec::new();
    for given in flags::each(&job.arguments) {
        let is_kept = match given.recorded() {
            Recorded::Kept => true,
            Recorded::Place(place) => places.may_be_read(place),
            Recorded::Dropped => continue,
            Recorded::Refused => false,
        };
        if !is_kept {
            return Err(format!("option `{}`", given.words.join(" ")));
        }
        kept.extend(given.words.iter().map(|word| word.to_string()));
    }
    Ok(kept)
}

/// Which files a recorded command may name.
struct Places<'a> {
    /// Without links.
    root: &'a Path,
    directory: &'a Path,
}

impl Places<'_> {
    /// Where a name leads. Of one that leads nowhere, the directories count that are there.
    fn place(&self, name: &Path) -> PathBuf {
        let path = self.directory.join(name);
        let path = clean(&path.canonicalize().unwrap_or(path));
        let known = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
        match known.and_then(|(above, real)| Some(real.join(path.strip_prefix(above).ok()?))) {
            Some(real) => real,
            None => path,
        }
    }

    fn is_of_project(&self, name: &Path) -> bool {
        self.place(name).starts_with(self.root)
    }

    fn may_be_read(&self, name: &str) -> bool {
        // Behind `=` is a path below the root of the target system.
        let place = self.place(&bytes::path(name.strip_prefix('=').unwrap_or(name)));
        let is_header = || place.components().any(|part| part.as_os_str() == "include");
        place.starts_with(self.root)
            || SYSTEM.iter().any(|system| place.starts_with(system))
            || place.starts_with(PACKAGES) && is_header()
    }
}
