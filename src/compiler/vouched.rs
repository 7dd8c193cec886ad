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
//! The last of these is kept outside of the project, since a cache may bring `.edgewise`. Files in
//! `.edgewise` and `.git` are no sources, whatever vouches for a command that names them.
//!
//! A command that looks usual may still choose what a source includes, by a macro. So the line
//! markers of its text are looked at ([`check`]).

use super::commands;
use super::flags::{self, Recorded};
use super::preprocess::{Job, PreprocessError};
use super::project::{CONFIG_FILE, Project, clean, is_hidden};
use super::toolchain::Compiler;
use super::unit::Unit;
use crate::bytes;
use crate::cfg::format::Command;
use crate::frontend::lines::unquote;
use crate::ids::{Fingerprint, FpHasher};
use rustc_hash::FxHashSet;
use serde::Deserialize;
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

/// Directories of the system, whose files anybody may read.
const SYSTEM: &[&str] = &["/usr", "/nix/store", "/gnu/store"];
/// How the names of most of their headers begin.
const HEADERS: &[&str] = &["/usr/include/", "/usr/lib/gcc/"];
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
        recorded: None,
    };
    let id = id(&unit.command);
    match usual_arguments(project, &job) {
        Ok(arguments) => (job.arguments, job.recorded) = (arguments, Some(id)),
        Err(Objection { what, is_final })
            if is_final || !project.vouched.of(project).ids.contains(&id) =>
        {
            return Err(PreprocessError::Refused(what));
        }
        Err(_) => {}
    }
    Ok(job)
}

/// Refuses the text of a recorded command if it holds a file that only the command can have named.
pub fn check(project: &Project, job: &Job, text: &[u8]) -> Result<(), PreprocessError> {
    let Some(id) = &job.recorded else { return Ok(()) };
    match chosen_file(project, job, text) {
        Some(Objection { what, is_final })
            if is_final || !project.vouched.of(project).ids.contains(id) =>
        {
            Err(PreprocessError::Refused(what))
        }
        _ => Ok(()),
    }
}

/// Notes a command of the local build, if a selection would not run it otherwise.
pub fn note(project: &Project, unit: &Unit, job: &Job, text: &[u8]) {
    let mut lines = Vec::new();
    let name = &unit.command.compiler;
    let is_found = Compiler::find_usual(name).is_some_and(|usual| usual == job.compiler);
    lines.extend((!is_found).then(|| of_compiler(name)));
    let is_usual =
        usual_arguments(project, job).is_ok() && chosen_file(project, job, text).is_none();
    lines.extend((!is_usual).then(|| id(&unit.command)));
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

/// What stands against a recorded command.
struct Objection {
    what: String,
    /// Whether it stands whatever vouches for the command.
    is_final: bool,
}

/// The arguments of a run that nothing vouches for, without those that the preprocessor does not
/// need; or what stands against it.
fn usual_arguments(project: &Project, job: &Job) -> Result<Vec<String>, Objection> {
    let root = project.root.canonicalize().unwrap_or_else(|_| project.root.clone());
    let places = Places { root: &root, directory: &job.directory };
    let object = |what: String, leads: Leads| match leads {
        Leads::ToProject => Ok(()),
        _ => Err(Objection { what, is_final: leads == Leads::ToHidden }),
    };
    object(format!("directory {}", job.directory.display()), places.leads(Path::new("")))?;
    let source = bytes::path(&job.source);
    let is_option = job.source.starts_with(['-', '@']);
    let leads = if is_option {
        Leads::Elsewhere
    } else {
        places.leads(&source).of_source(&job.directory.join(&source))
    };
    object(format!("source {}", job.source), leads)?;
    let searched = flags::each(&job.arguments).filter_map(|given| match given.recorded() {
        Recorded::Place(place) => Some(job.directory.join(bytes::path(place))),
        _ => None,
    });
    let beside = job.directory.join(source.parent().unwrap_or(Path::new("")));
    let searched: Vec<PathBuf> = searched.chain([beside]).collect();
    let mut kept = Vec::new();
    for given in flags::each(&job.arguments) {
        let leads = match given.recorded() {
            Recorded::Kept => Leads::ToProject,
            Recorded::Place(place) => places.of_directory(place),
            Recorded::File(name) => places.of_included(&bytes::path(name), &searched),
            Recorded::Macro(text) if places.may_hang(text, &searched) => Leads::Elsewhere,
            Recorded::Macro(_) => Leads::ToProject,
            Recorded::Dropped => continue,
            Recorded::Refused => Leads::Elsewhere,
        };
        let words = given.words.iter().map(|word| word.to_string());
        let is_allowed = matches!(leads, Leads::ToProject | Leads::ToSystem);
        let leads = if is_allowed { Leads::ToProject } else { leads };
        object(format!("option `{}`", given.words.join(" ")), leads)?;
        kept.extend(words);
    }
    Ok(kept)
}

/// A file in the text of a command that no source can have asked for by its name: it is neither of the
/// project nor of the system, and the file that includes it does not name it.
fn chosen_file(project: &Project, job: &Job, text: &[u8]) -> Option<Objection> {
    let root = project.root.canonicalize().unwrap_or_else(|_| project.root.clone());
    let places = Places { root: &root, directory: &job.directory };
    let mut seen = FxHashSet::default();
    let mut inside: Vec<String> = Vec::new();
    let mut outermost = String::new();
    for line in text.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"# ")) {
        let Some((name, flags)) = marker(line) else { continue };
        if flags.contains(&"2") {
            inside.pop();
        }
        if !flags.contains(&"1") {
            if inside.is_empty() {
                outermost = name;
            }
            continue;
        }
        let by = match inside.last() {
            Some(file) => file.clone(),
            None if outermost.starts_with('<') => outermost.clone(),
            // A `#line` may have given it another name.
            None => job.source.clone(),
        };
        inside.push(name.clone());
        if name.starts_with('<') || is_header(&name) || !seen.insert((name.clone(), by.clone())) {
            continue;
        }
        let leads = places.leads(&bytes::path(&name));
        let is_chosen = match leads {
            Leads::ToProject | Leads::ToSystem => false,
            Leads::ToHidden => true,
            // The options that include files were looked at.
            _ => !by.starts_with('<') && !names(&job.directory.join(bytes::path(&by)), &name),
        };
        if is_chosen {
            let is_final = leads == Leads::ToHidden;
            return Some(Objection { what: format!("included file {name}"), is_final });
        }
    }
    None
}

/// Whether a path is plainly that of a header of the system. Texts have many of them.
fn is_header(name: &str) -> bool {
    HEADERS.iter().any(|start| name.starts_with(start)) && !name.contains("/../")
}

/// The name and the flags of a line marker.
fn marker(line: &[u8]) -> Option<(String, Vec<&str>)> {
    let start = memchr::memchr(b'"', line)?;
    let end = memchr::memrchr(b'"', line)?;
    let flags = std::str::from_utf8(&line[end + 1..]).ok()?;
    Some((unquote(&line[start..])?, flags.split_whitespace().collect()))
}

/// Whether a file has an include with the last part of this path.
fn names(file: &Path, path: &str) -> bool {
    let last = bytes::path(path);
    let Some(last) = last.file_name() else { return false };
    let text = match file.is_file() {
        true => std::fs::read(file).unwrap_or_default(),
        false => return false,
    };
    let mut lines = text.split(|byte| *byte == b'\n');
    lines.any(|line| {
        memchr::memmem::find(line, b"include").is_some()
            && memchr::memmem::find(line, last.as_encoded_bytes()).is_some()
    })
}

/// Which files a recorded command may name.
struct Places<'a> {
    /// Without links.
    root: &'a Path,
    directory: &'a Path,
}

/// Where a name leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leads {
    ToProject,
    ToSystem,
    /// To what is in the project and no source.
    ToHidden,
    Elsewhere,
}

impl Leads {
    /// The same for a source, which is none of the system and no pipe.
    fn of_source(self, path: &Path) -> Self {
        let is_pipe = || path.exists() && !path.is_file();
        if self == Self::ToSystem || is_pipe() { Self::Elsewhere } else { self }
    }
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

    fn leads(&self, name: &Path) -> Leads {
        let is_system = |place: &Path| SYSTEM.iter().any(|system| place.starts_with(system));
        let place = self.place(name);
        let is_header = || place.components().any(|part| part.as_os_str() == "include");
        match place.strip_prefix(self.root) {
            Ok(below) if is_hidden(below) => Leads::ToHidden,
            Ok(_) => Leads::ToProject,
            Err(_) if is_system(&place) => Leads::ToSystem,
            Err(_) if place.starts_with(PACKAGES) && is_header() => Leads::ToSystem,
            Err(_) => Leads::Elsewhere,
        }
    }

    fn of_directory(&self, name: &str) -> Leads {
        // Behind `=` is a path below the root of the target system.
        self.leads(&bytes::path(name.strip_prefix('=').unwrap_or(name)))
    }

    /// The same for a file that `-include` names: the working directory comes first, then all that is
    /// searched, and the directories of the system last. Only a regular file is read.
    fn of_included(&self, name: &Path, searched: &[PathBuf]) -> Leads {
        let here = self.leads(name);
        let is_allowed = |leads| matches!(leads, Leads::ToProject | Leads::ToSystem);
        if !is_allowed(here) || is_hidden(name) {
            return if is_hidden(name) { Leads::ToHidden } else { here };
        }
        let leads_up = name.components().any(|part| part == Component::ParentDir);
        if leads_up {
            return if self.directory.join(name).is_file() { here } else { Leads::Elsewhere };
        }
        let all = [self.directory].into_iter().chain(searched.iter().map(PathBuf::as_path));
        let found = all.map(|directory| directory.join(name)).filter(|path| path.exists());
        let leads = |path: PathBuf| match path.is_file() {
            true => self.leads(&path),
            false => Leads::Elsewhere,
        };
        found.map(leads).find(|leads| !is_allowed(*leads)).unwrap_or(here)
    }

    /// Whether the text of a macro names what is there and is neither a file nor a directory: a source that
    /// includes it would never be read to its end.
    fn may_hang(&self, text: &str, searched: &[PathBuf]) -> bool {
        let words = text.split(|c: char| c.is_whitespace() || "\"'<>\\=,()".contains(c));
        words.filter(|word| word.contains(['/', '.'])).any(|word| {
            let all = [self.directory].into_iter().chain(searched.iter().map(PathBuf::as_path));
            all.map(|directory| directory.join(bytes::path(word)))
                .any(|path| path.metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir()))
        })
    }
}
