//! Looks at all of a project, at whatever stage it is. What cannot be read is part of the
//! answer.

use super::build_state::BuildState;
use super::cache::Cache;
use super::config::Config;
use super::files::{self, Files};
use super::gathering;
use super::snapshot;
use super::stale::{self, Stale};
use super::workspace::Workspace;
use crate::bytes;
use crate::cfg::format::{UnitIndex, UnitKey};
use crate::compiler::linked::{self, LINKER};
use crate::compiler::preprocess::preprocess;
use crate::compiler::project::{CONFIG_FILE, Project};
use crate::compiler::toolchain;
use crate::compiler::unit::Unit;
use crate::compiler::vouched;
use crate::history::History;
use crate::history::format::{Outcome, Test};
use crate::history::store::StoreError;
use crate::ids::Fingerprint;
use crate::report::doctor::{
    self, CompilerState, Configuration, Health, Note, Recorded, Tests, Way,
};
use crate::select::version::ProgramVersion;
use crate::suite::TestCase;
use crate::trace::module::Module;
use anyhow::Context;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Units by which a compiler is recognised, of those that can be preprocessed.
const TRIED: usize = 3;
/// Units that are kept to be tried.
const KEPT: usize = 20;

/// What a compiler compiled: all units by their keys, and some of them.
#[derive(Default)]
struct Compiled {
    keys: BTreeSet<UnitKey>,
    some: Vec<UnitIndex>,
}

/// Examines the project around the working directory.
pub fn examine() -> anyhow::Result<Health> {
    let directory = std::env::current_dir().context("no working directory")?;
    let project = Project::at(&directory);
    let mut health = Health::default();
    let config = match project.root.join(CONFIG_FILE).exists() {
        false => Config::default(),
        true => match Config::read(&project.root) {
            Ok(config) => {
                health.configuration = Configuration::Good {
                    suites: config.suites().len(),
                    has_build_command: config.build.command.is_some(),
                };
                config
            }
            Err(why) => {
                health.configuration = Configuration::Wrong(format!("{why:#}"));
                Config::default()
            }
        },
    };
    let workspace = Workspace { project, config };
    workspace.check_state()?;
    let built = add_builds(&mut health, &workspace);
    match open_history(&workspace) {
        Ok(history) => {
            if let Err(why) = add_history(&mut health, &workspace, &history, &built) {
                health.history = Recorded::Unusable { why: format!("{why:#}") };
            }
        }
        Err(why) => {
            health.history = Recorded::Unusable { why: why.to_string() };
            list_tests(&mut health, &workspace);
        }
    }
    health.disk = disk(&workspace.state());
    Ok(health)
}

/// The tests, of which nothing is known but their names.
fn list_tests(health: &mut Health, workspace: &Workspace) {
    if !workspace.config.has_suites() {
        return;
    }
    match workspace.config.tests(&workspace.project.root) {
        Ok(listed) => {
            health.tests.listed = Some(listed.len());
            health.tests.disabled = listed.iter().filter(|test| test.disabled.is_some()).count();
        }
        Err(why) => health.tests.problem = Some(format!("{why:#}")),
    }
}

/// The history, all of it read once.
fn open_history(workspace: &Workspace) -> Result<History, StoreError> {
    let history = History::open(&workspace.history_path())?;
    history.check()?;
    Ok(history)
}

/// Adds what was built, and returns the names of all programs that ever were.
fn add_builds(health: &mut Health, workspace: &Workspace) -> BTreeSet<String> {
    let state = match BuildState::read(workspace) {
        Ok(state) => state,
        Err(why) => {
            health.build_problem = Some(format!("{why:#}"));
            BuildState::default()
        }
    };
    health.has_built = workspace.state().join("builds.json").exists();
    health.build_failed = state.failed;
    let is_there = |name: &str| workspace.project.root.join(bytes::path(name)).exists();
    health.way = Way::of(workspace.config.build.command.as_deref(), &is_there);
    let unseen = state.unseen().filter(|_| state.descriptions.is_some() || state.was_killed);
    health.build_unseen = unseen.map(String::from);
    health.build_killed = state.was_killed;
    health.unseen_from_before.clone_from(&state.unseen_from_before);
    let unanalysed = state.unanalysed_sources.iter();
    let unanalysed = unanalysed.map(|(name, why)| Note { name: name.clone(), why: why.clone() });
    health.unanalysed = unanalysed.collect();
    let root = &workspace.project.root;
    let is_there = |name: &&String| root.join(bytes::path(name)).exists();
    health.untraced = state.untraced.keys().filter(is_there).cloned().collect();
    let mut versions = Vec::new();
    let mut linked_by = Linkers::new();
    let mut compiled: BTreeMap<String, Compiled> = BTreeMap::new();
    for name in state.programs.iter().filter(is_there) {
        let mut program = empty(name);
        match Module::read(&root.join(bytes::path(name))) {
            Ok(module) => {
                add_links(&mut program, &module, &mut linked_by);
                if !module.records.units.is_empty() {
                    match snapshot::program_of(&workspace.project, module) {
                        Ok(version) => {
                            add_units(&mut program, &version, &mut compiled);
                            versions.push((health.programs.len(), version));
                        }
                        Err(why) => program.unreadable = Some(why),
                    }
                }
            }
            Err(why) => program.unreadable = Some(why.to_string()),
        }
        health.programs.push(program);
    }
    health.compilers =
        compiled.iter().map(|(name, of)| compiler(&workspace.project, name, of)).collect();
    health.linkers = linkers(root, linked_by);
    let mut cache = Cache::open(workspace);
    let programs: Vec<&ProgramVersion> = versions.iter().map(|(_, version)| version).collect();
    let found = stale::reasons(&workspace.project, &state, &programs, &mut cache);
    for ((place, program), why) in versions.iter().zip(found) {
        let health = &mut health.programs[*place];
        health.is_left_by_build = why.as_ref().is_some_and(|why| {
            let file = why.file();
            let then = state.complete.as_ref().and_then(|files| files.get(file));
            let is_built = then
                .is_some_and(|then| files::content(&root.join(bytes::path(file))) == Some(*then));
            let sets = [&state.gone, &state.appeared, &state.left];
            is_built || sets.iter().any(|files| files.contains(file))
        });
        // A build may remove what it generates: that is no reason, and worth to be told.
        let mut sources = program.units.iter().map(|unit| &unit.index.key.source);
        let gone =
            sources.find(|name| !root.join(bytes::path(name)).exists()).cloned().map(Stale::Gone);
        health.stale = why.or(gone).map(|why| why.to_string());
    }
    if !state.left.is_empty() {
        let now = Files::scan_knowing(workspace, &state, &mut cache.contents, cache.began);
        let now = now.map(|files| files.now).unwrap_or_default();
        let known = state.complete.as_ref();
        let is_left = |name: &&String| known.and_then(|k| k.get(*name)) != now.get(*name);
        health.left = state.left.iter().filter(is_left).cloned().collect();
        health.left.extend(state.reconfigured(root));
        health.left.sort_unstable();
        health.left.dedup();
        health.from_before.clone_from(&state.from_before);
    }
    state.programs.into_iter().collect()
}

fn empty(name: &str) -> doctor::Program {
    doctor::Program {
        name: name.to_string(),
        units: Vec::new(),
        unreadable: None,
        is_run: false,
        stale: None,
        is_left_by_build: false,
        without_record: Vec::new(),
        altered: Vec::new(),
    }
}

/// Linkers as they were, with the programs that they linked.
type Linkers = BTreeMap<(String, Fingerprint), BTreeSet<String>>;

/// Whether linkers are still what they were.
fn linkers(root: &Path, linkers: Linkers) -> Vec<doctor::Linker> {
    let linkers = linkers.into_iter().map(|((path, then), programs)| {
        let place = root.join(bytes::path(&path));
        let state = match (place.is_file(), toolchain::of_program(&place) == then) {
            (false, _) => CompilerState::Missing,
            (true, true) => CompilerState::Same,
            (true, false) => CompilerState::Another,
        };
        doctor::Linker { path, programs: programs.len(), state }
    });
    linkers.collect()
}

/// What a program was linked by, and from without a record of it.
fn add_links(program: &mut doctor::Program, module: &Module, linkers: &mut Linkers) {
    let inputs = module.records.links.iter().flat_map(|link| &link.inputs);
    for (name, then) in inputs {
        match name.strip_prefix(LINKER) {
            Some(path) => {
                linkers.entry((path.to_string(), *then)).or_default().insert(program.name.clone());
            }
            None => program.without_record.push(linked::file_of(name).to_string()),
        }
    }
    program.without_record.sort_unstable();
    program.without_record.dedup();
    let altered: BTreeSet<_> = module.records.altered().into_iter().collect();
    for unit in &module.records.units {
        if let Ok(index) = unit.index()
            && altered.contains(&index.fingerprint)
        {
            program.altered.push(index.key.source);
        }
    }
}

fn add_units(
    program: &mut doctor::Program,
    version: &ProgramVersion,
    by_compiler: &mut BTreeMap<String, Compiled>,
) {
    for unit in &version.units {
        let index = &unit.index;
        let opaque = index.procedures.iter().filter_map(|procedure| {
            Some(Note { name: procedure.name.clone(), why: procedure.opaque.clone()? })
        });
        program.units.push(doctor::Unit {
            source: index.key.source.clone(),
            object: index.key.object.clone(),
            procedures: index.procedures.len(),
            probes: index.probe_count,
            opaque: opaque.collect(),
            untouched: index.untouched.clone(),
            problems: index.problems.clone(),
        });
        let name = toolchain::real_name(&index.command.compiler).to_string();
        let known = by_compiler.entry(name).or_default();
        // A unit may be part of several programs.
        if known.keys.insert(index.key.clone()) && known.some.len() < KEPT {
            known.some.push(index.clone());
        }
    }
}

/// Whether a compiler is there, and is the one that units say they were compiled with.
fn compiler(project: &Project, name: &str, compiled: &Compiled) -> doctor::Compiler {
    let mut found = doctor::Compiler {
        name: name.to_string(),
        path: None,
        version: None,
        units: compiled.keys.len(),
        state: CompilerState::Missing,
    };
    let Some(compiler) = vouched::compiler(project, name) else { return found };
    found.path = Some(compiler.display().to_string());
    let version = toolchain::identity(&compiler).version;
    // Behind the comma is what stands for its programs.
    let version = version.rsplit_once(", ").map_or(version.as_str(), |(version, _)| version);
    // What gcc says of itself begins with the name that it was called by, which is not kept.
    let family = if version.starts_with('(') { "gcc " } else { "" };
    found.version = Some(format!("{family}{version}"));
    let answers: Vec<bool> =
        compiled.some.iter().filter_map(|i| is_made_alike(project, i)).take(TRIED).collect();
    found.state = match answers.is_empty() {
        true => CompilerState::Unknown,
        false if answers.contains(&true) => CompilerState::Same,
        false => CompilerState::Another,
    };
    found
}

/// Whether a unit would be compiled now as its record says, whatever its text is.
fn is_made_alike(project: &Project, index: &UnitIndex) -> Option<bool> {
    let unit = Unit::of_index(index);
    let job = vouched::job(project, &unit).ok()?;
    let text = preprocess(project, &job, &[]).ok()?.text;
    Some(unit.how(project, &job, &text) == index.how)
}

fn add_history(
    health: &mut Health,
    workspace: &Workspace,
    history: &History,
    built: &BTreeSet<String>,
) -> anyhow::Result<()> {
    let mut tests = Tests::default();
    let listed = match (&health.configuration, history.is_empty()) {
        // What is wrong with it is said already.
        (Configuration::Good { suites: 1.., .. }, _) | (_, false) => workspace.tests(history),
        _ => Ok(Vec::new()),
    };
    // What is in no suite any more is nobody's concern.
    let mut is_listed: Box<dyn Fn(&str) -> bool> = Box::new(|_| true);
    match listed {
        Ok(listed) => {
            add_listed(&mut tests, history, &listed);
            let names: BTreeSet<String> = listed.into_iter().map(|test| test.name).collect();
            is_listed = Box::new(move |name| names.contains(name));
        }
        // Without a suite there is nothing to list, which is said already.
        Err(why) if matches!(health.configuration, Configuration::Good { suites: 1.., .. }) => {
            tests.problem = Some(format!("{why:#}"));
        }
        Err(_) => {}
    }
    health.tests = tests;
    if history.is_empty() {
        return Ok(());
    }
    let mut programs: BTreeMap<Fingerprint, Vec<&String>> = BTreeMap::new();
    let mut loaded: BTreeMap<String, usize> = BTreeMap::new();
    for (name, test) in history.tests().filter(|(name, _)| is_listed(name)) {
        test.programs.iter().for_each(|id| programs.entry(*id).or_default().push(name));
        add_test(&mut health.tests, name, test);
        if let Some(why) = history.uses(test.uses)?.incomplete {
            health.tests.unseen.push(Note { name: name.clone(), why });
        }
        for file in history.files(test.loaded)?.into_keys() {
            *loaded.entry(file).or_default() += 1;
        }
    }
    health.loaded = loaded.into_iter().collect();
    let mut paths: BTreeMap<String, BTreeSet<&String>> = BTreeMap::new();
    for (program, tests) in programs {
        paths.entry(history.program(program)?.path).or_default().extend(tests);
    }
    let root = &workspace.project.root;
    // A library is loaded by another name than it was linked under.
    let real = |name: &String| root.join(bytes::path(name)).canonicalize().ok();
    let run: BTreeSet<_> = paths.keys().filter_map(real).collect();
    for program in &mut health.programs {
        let is_run = |path| run.contains(&path);
        program.is_run =
            paths.contains_key(&program.name) || real(&program.name).is_some_and(is_run);
    }
    let gone = paths.into_iter().filter(|(path, _)| !root.join(bytes::path(path)).exists());
    let gone = gone.map(|(name, tests)| doctor::Gone {
        is_built: built.contains(&name),
        tests: tests.into_iter().cloned().collect(),
        name,
    });
    health.gone = gone.collect();
    health.history = Recorded::Good {
        tests: history.tests().count(),
        versions: history.snapshots()?.len(),
        bytes: history.size(),
    };
    Ok(())
}

fn add_listed(tests: &mut Tests, history: &History, listed: &[TestCase]) {
    tests.listed = Some(listed.len());
    tests.disabled = listed.iter().filter(|test| test.disabled.is_some()).count();
    let is_unknown =
        |test: &&TestCase| test.disabled.is_none() && history.test(&test.name).is_none();
    tests.never_run = listed.iter().filter(is_unknown).map(|test| test.name.clone()).collect();
}

/// Adds what there is to say of the run of a test.
fn add_test(tests: &mut Tests, name: &str, test: &Test) {
    if test.unstable {
        tests.unstable.push(name.to_string());
    }
    tests.inexact += usize::from(test.inexact);
    let Some(why) = gathering::state_of_run(test) else { return };
    let list = match (test.outcome, &test.unclean) {
        (Outcome::Failed | Outcome::TimedOut | Outcome::Interrupted, _) => &mut tests.failed,
        (Outcome::Unjudged, _) => &mut tests.unjudged,
        (Outcome::Passed, Some(_)) => &mut tests.unclean,
        (Outcome::Passed | Outcome::Skipped, _) => &mut tests.without_trace,
    };
    list.push(Note { name: name.to_string(), why });
}

/// Sizes of what a directory holds, the largest first.
fn disk(directory: &Path) -> Vec<(String, u64)> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut parts: Vec<(String, u64)> = entries
        .map(|entry| {
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let name = entry.file_name().to_string_lossy().into_owned();
            let name = if is_directory { format!("{name}/") } else { name };
            (name, room(&entry.path()))
        })
        .collect();
    parts.sort_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.cmp(b)));
    parts
}

/// Bytes of a file, or of all files below a directory. Links are not followed.
fn room(path: &Path) -> u64 {
    let Ok(meta) = path.symlink_metadata() else { return 0 };
    if !meta.is_dir() {
        return meta.len();
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| room(&entry.path())).sum()
}
