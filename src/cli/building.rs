//! Runs a build with our names for the compilers first on the path.

use super::build_state::{BuildState, Contents};
use super::files;
use super::from_before;
use super::interrupt;
use super::taken_up::Made;
use super::under_way::{self, Begun, Killed, UnderWay};
use super::workspace::{SHIMS, Workspace};
use crate::bytes;
use crate::compiler::ld::is_linker_name;
use crate::compiler::log::{self, Event};
use crate::compiler::made;
use crate::compiler::project::{
    BUILD_DIRECTORY_VARIABLE, LOG_VARIABLE, ROOT_VARIABLE, SHIMS_VARIABLE,
};
use crate::compiler::selective;
use crate::compiler::settings::{GRANULARITY_VARIABLE, Settings};
use crate::compiler::text::stamp::Moment;
use crate::history::format::FileState;
use crate::suite::preload::{self, Preload};
use crate::trace::format::{ENVIRONMENT, TraceFile};
use crate::trace::module::Module;
use crate::trace::uses::{self, Room, Uses};
use anyhow::{Context, ensure};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// More files for ccache to look at, with `:` between them.
const CCACHE_FILES: &str = "CCACHE_EXTRAFILES";

/// What a build did.
#[derive(Debug, Default)]
pub struct Built {
    pub code: i32,
    pub units: usize,
    pub procedures: usize,
    pub opaque: usize,
    pub untouched: Vec<(String, String)>,
    /// Sources that the real compiler compiled alone, and why.
    pub unanalysed: BTreeSet<(String, String)>,
    pub programs: BTreeSet<String>,
    /// Whether there are units, compiled now or part of a program that was
    /// linked: objects may come from a cache or from an earlier build.
    pub has_records: bool,
    /// Whether a configure script tried the compiler out.
    pub is_configuring: bool,
    /// Programs that leave no trace, and why.
    pub without_runtime: BTreeSet<(String, String)>,
    /// Whether it called no compiler and made no file where no project is: nothing is kept.
    pub is_nothing: bool,
}

/// How much of the project a build builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it: the command of the configuration.
    Everything,
    /// Nobody knows.
    Something,
}

/// Runs a build command to its end.
pub fn build(workspace: &Workspace, mut command: Command, extent: Extent) -> anyhow::Result<Built> {
    let state = workspace.state();
    // Perhaps not even a project: then nothing stays that nothing refers to.
    let is_stray = !state.exists() && !workspace.has_config();
    fs_err::create_dir_all(&state)?;
    let shims = make_shims(&state)?;
    let log = tempfile::Builder::new().prefix(under_way::LOG).tempfile_in(&state)?;
    let began = Moment::now();
    let mut files = files::scan(workspace)?;
    // Programs that run during the build leave a trace here.
    let traces = tempfile::Builder::new().prefix(under_way::TRACES).tempdir()?;
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
    if let Some(files) = files_for_ccache(&state, &workspace.project.root, &command)? {
        command.env(CCACHE_FILES, files);
    }
    if let Some(compiler) = compiler_for(std::env::var_os("CC"), &shims) {
        command.env("CC", compiler);
    }
    let preload = Preload::make(&made::directory(&workspace.project.root), &workspace.project.root);
    if let Some(library) = preload.prepare(traces.path(), Room::BUILD) {
        preload::add_to(&mut command, library.as_os_str(), |name| std::env::var_os(name));
    }
    let mut asked = command.get_envs().filter(|(name, _)| *name == GRANULARITY_VARIABLE);
    let logs_nodes = match asked.next() {
        Some((_, granularity)) => granularity.is_some_and(|granularity| granularity == "path"),
        None => Settings::of_environment(&workspace.project.root).logs_nodes(),
    };
    // Who stops the build wants it to end, not to be forgotten: what it made stays.
    interrupt::listen();
    let begun = Begun::new(began, &files, traces.path(), log.path());
    let under_way = UnderWay::begin(workspace, &begun)?;
    let program = command.get_program().to_string_lossy().into_owned();
    let process = command.spawn().with_context(|| format!("cannot run `{program}`"));
    let mut process = match process {
        Ok(process) => process,
        Err(error) => {
            under_way.end()?;
            if is_stray {
                remove_stray(workspace)?;
            }
            return Err(error);
        }
    };
    let _ = uses::note_first(traces.path(), process.id());
    let status = under_way::wait(&mut process)?;
    let mut state = BuildState::read(workspace)?;
    state.logs_nodes |= logs_nodes;
    let mut built = Built { code: crate::compiler::exit_code(status), ..Built::default() };
    let events = log::read(log.path());
    let uses = Uses::read(traces.path());
    let made_nothing = uses.incomplete.is_none() && uses.files.values().all(|used| !used.made);
    if is_stray && events.is_empty() && made_nothing {
        under_way.end()?;
        remove_stray(workspace)?;
        built.is_nothing = true;
        return Ok(built);
    }
    let (killed, is_running) = under_way::killed(workspace);
    state.was_killed = is_running;
    for killed in &killed {
        add_killed(workspace, &mut state, killed);
    }
    add_events(workspace, &mut state, &mut built, events);
    let has_units = |program: &String| {
        let module = Module::read(&workspace.project.root.join(bytes::path(program)));
        module.is_ok_and(|module| !module.records.units.is_empty())
    };
    built.has_records = built.units > 0 || built.programs.iter().any(has_units);
    add_record(workspace, &mut state, &begun, traces.path(), &uses);
    state.failed = (built.code != 0).then_some(built.code);
    let linked = &built.programs;
    let unanalysed = &built.unanalysed.iter().map(|(source, _)| source.clone()).collect();
    let made = Made { workspace, extent, uses: &uses, linked, unanalysed, began };
    if built.code == 0 {
        files::add_elsewhere(&mut files, &state, began);
        made.note(&mut state, files);
    } else {
        made.note_mixed(&mut state, &files);
        state.note_contents(&workspace.project.root, &uses, Contents::Written);
    }
    state.write(workspace)?;
    // What they did is noted now, so the notes of these builds can go.
    killed.into_iter().try_for_each(|killed| killed.forget(workspace))?;
    under_way.end()?;
    Ok(built)
}

/// Adds what the compilers of a build said.
fn add_events(
    workspace: &Workspace,
    state: &mut BuildState,
    built: &mut Built,
    events: Vec<Event>,
) {
    for event in events {
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
                state.add_untraced(&output, files_of_program(workspace, &output));
                built.without_runtime.insert((output, reason));
            }
            Event::Tried => built.is_configuring = true,
            Event::NotAnalysed { sources, inputs, reason, .. } => {
                state.has_unknown_inputs |= inputs.is_none();
                for source in &sources {
                    let made_of = inputs.iter().flatten().chain([source]).cloned().collect();
                    match &inputs {
                        Some(_) => state.unanalysed_inputs.insert(source.clone(), made_of),
                        None => state.unanalysed_inputs.remove(source),
                    };
                }
                state.unanalysed.extend(inputs.into_iter().flatten());
                state.unanalysed.extend(sources.iter().cloned());
                let why = sources.iter().map(|source| (source.clone(), reason.clone()));
                state.unanalysed_sources.extend(why);
                built.unanalysed.extend(sources.into_iter().map(|source| (source, reason.clone())));
            }
        }
    }
    state.programs.extend(built.programs.iter().cloned());
}

/// Adds the files that a build used.
fn add_record(
    workspace: &Workspace,
    state: &mut BuildState,
    begun: &Begun,
    traces: &Path,
    uses: &Uses,
) {
    let root = &workspace.project.root;
    state.generator_files.extend(generator_files(workspace, traces));
    state.add_files(root, &begun.files);
    state.add_uses(root, uses);
    from_before::note(state, root, &begun.files, uses);
    if let Some(why) = &uses.incomplete {
        state.add_unseen(why, begun.began, &begun.files);
    }
}

/// Adds what a build did before it was killed, like what a build did that failed: its log is
/// still there, unless the directory for temporary files was emptied.
fn add_killed(workspace: &Workspace, state: &mut BuildState, killed: &Killed) {
    let Some(begun) = &killed.begun else {
        state.add_unseen(under_way::KILLED, Moment::BEGINNING, &FileState::new());
        return;
    };
    let (log, traces) = (begun.log(workspace), begun.traces());
    let mut built = Built::default();
    let is_lost = log.is_none() || traces.is_none();
    let (log, traces) = (log.unwrap_or_default(), traces.unwrap_or_default());
    add_events(workspace, state, &mut built, log::read(&log));
    let mut uses = Uses::read(&traces);
    if is_lost || uses.incomplete.is_some() {
        uses.incomplete = Some(String::from(under_way::KILLED));
    }
    add_record(workspace, state, begun, &traces, &uses);
    let (linked, unanalysed) = (&built.programs, &BTreeSet::new());
    let (extent, began) = (Extent::Something, begun.began);
    let made = Made { workspace, extent, uses: &uses, linked, unanalysed, began };
    made.note_mixed(state, &begun.files);
    state.note_contents(&workspace.project.root, &uses, Contents::Written);
}

/// Removes what we made for a build, unless another one wrote something of its own meanwhile.
fn remove_stray(workspace: &Workspace) -> anyhow::Result<()> {
    let state = workspace.state();
    if !BuildState::read(workspace)?.is_empty() || state.join("history").exists() {
        return Ok(());
    }
    Ok(fs_err::remove_dir_all(state)?)
}

/// What ccache looks at beside sources and arguments: a file that says how we
/// instrument, without which it would give out objects of another granularity.
/// None if there is no name for it.
fn files_for_ccache(
    state: &Path,
    root: &Path,
    command: &Command,
) -> anyhow::Result<Option<OsString>> {
    let settings = Settings::of_project(root).given(|name| {
        let given = command.get_envs().find(|(given, _)| *given == name);
        given.map_or_else(|| std::env::var_os(name), |(_, value)| value.map(OsString::from))
    });
    let asked = command.get_envs().find(|(name, _)| *name == selective::VARIABLE);
    let plan = asked.and_then(|(_, path)| std::fs::read_to_string(path?).ok()).unwrap_or_default();
    let text = format!("{settings:?}\n{plan}\n");
    let file = state.join("instrument");
    if !std::fs::read(&file).is_ok_and(|old| old == text.as_bytes()) {
        let mut fresh = tempfile::NamedTempFile::new_in(state)?;
        fresh.write_all(text.as_bytes())?;
        fresh.persist(&file)?;
    }
    let mut files = std::env::var_os(CCACHE_FILES).unwrap_or_default();
    if !files.is_empty() {
        files.push(":");
    }
    files.push(&file);
    Ok((!file.to_string_lossy().contains(':')).then_some(files))
}

/// What CC is to be: one of our names with its directory, so that it holds where
/// a build has a path of its own. None leaves it as it is.
fn compiler_for(given: Option<OsString>, shims: &Path) -> Option<OsString> {
    let ours = |name: &OsStr| Some(shims.join(name)).filter(|shim| shim.exists());
    let Some(given) = given.filter(|given| !given.is_empty()) else {
        let ours = ["cc", "gcc", "clang"].iter().find_map(|name| ours(OsStr::new(name)))?;
        // Builds take it apart at white space.
        let is_one_word = !ours.to_string_lossy().contains(char::is_whitespace);
        return is_one_word.then(|| ours.into_os_string());
    };
    let given = Path::new(&given);
    given.is_absolute().then(|| ours(given.file_name()?))?.map(PathBuf::into_os_string)
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
        !file.is_empty()
            && workspace.project.root.join(bytes::path(file)).starts_with(&workspace.project.root)
    });
    files
}

/// Files of the units of a program that leaves no trace: any test may run it.
/// `None` if it cannot be read.
fn files_of_program(workspace: &Workspace, program: &str) -> Option<BTreeSet<String>> {
    let module = Module::read(&workspace.project.root.join(bytes::path(program))).ok()?;
    let mut files = BTreeSet::new();
    for unit in &module.records.units {
        files.extend(unit.index().ok()?.files);
    }
    files.retain(|file| !file.is_empty());
    Some(files)
}

/// Links named like the compilers of this machine, all to this program.
fn make_shims(state: &Path) -> anyhow::Result<PathBuf> {
    let shims = state.join(SHIMS);
    fs_err::create_dir_all(&shims)?;
    let own = std::env::current_exe().context("cannot find this program")?;
    // Links that lead nowhere would be passed by on the path, and the real compilers found.
    let is_there = own.exists();
    ensure!(is_there, "{} was replaced or removed while it ran: run it again", own.display());
    let mut names: BTreeSet<OsString> = BTreeSet::new();
    for directory in std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()) {
        if directory == shims {
            continue;
        }
        let Ok(entries) = std::fs::read_dir(&directory) else {
            continue;
        };
        for entry in entries.flatten() {
            if entry.file_name().to_str().is_some_and(is_tool_name) {
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
    // Whatever else is there would come before the programs of this machine.
    for entry in fs_err::read_dir(&shims)?.flatten() {
        let path = entry.path();
        let is_ours = std::fs::read_link(&path).is_ok_and(|target| target == own);
        if !is_ours && entry.file_type().is_ok_and(|kind| !kind.is_dir()) {
            fs_err::remove_file(&path)?;
        }
    }
    Ok(shims)
}

fn is_tool_name(name: &str) -> bool {
    is_compiler_name(name) || is_linker_name(name)
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
