//! One test's traces into edges.

use super::cases::{Cases, Order, Probes, Traced};
use super::derive::{Derivation, EdgeBits, Reading};
use super::format::{
    CASES_NAME, LOADED_NAME, PATH_SUFFIX, TRACE_SUFFIX, TraceFile, UNCLEAN_PREFIX,
};
use super::module::{Binding, Module, ModuleError, is_code};
use super::paths::{self, Logs, Walked};
use super::uses::Uses;
use crate::bytes;
use crate::cfg::format::{Archives, RawRecord, UnitIndex};
use crate::ids::{Fingerprint, ProbeId};
use bitvec::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

/// A program as some test ran it.
pub struct ProgramRan {
    pub path: PathBuf,
    pub link: Fingerprint,
    pub units: Vec<Arc<LoadedUnit>>,
    pub outside_names: Vec<String>,
    pub binding: Binding,
    /// Units whose objects are not what their records say.
    pub altered: Vec<Fingerprint>,
    pub archives: Archives,
    /// It was linked without us, so nobody noted what else is in it.
    is_linked_elsewhere: bool,
    /// It left no trace, although a process of the test ran it or may have done so.
    is_untraced: bool,
}

impl ProgramRan {
    /// Whether its code may call `main`.
    fn mentions_main(&self) -> bool {
        let symbols = self.units.iter().flat_map(|unit| &unit.index.symbols);
        symbols.into_iter().any(|symbol| symbol.name == MAIN)
            || self.outside_names.binary_search_by(|name| name.as_str().cmp(MAIN)).is_ok()
    }

    /// Adds all edges.
    fn add_full_rows(&self, rows: &mut Rows) {
        for unit in &self.units {
            add_row(rows, unit.index.fingerprint, unit.full_row());
        }
    }

    /// Adds the edges that follow from probes.
    fn add_rows(&self, probes: &Probes, reading: Reading, rows: &mut Rows) {
        for unit in &self.units {
            let id = unit.index.fingerprint;
            let row = match probes.get(&id) {
                _ if unit.index.untouched.is_some() || self.altered.contains(&id) => {
                    unit.full_row()
                }
                Some(probes) if probes.len() == unit.index.probe_count as usize => {
                    unit.edges_taken(probes, reading)
                }
                None if unit.index.probe_count == 0 => unit.edges_taken(&[], reading),
                // Dropped by the linker, or not what the record says.
                _ => unit.full_row(),
            };
            add_row(rows, id, row);
        }
    }
}

/// How often procedures were entered, by unit and number.
type Entries = FxHashMap<(Fingerprint, usize), usize>;

pub struct LoadedUnit {
    pub index: UnitIndex,
    pub raw: RawRecord,
    derivation: Derivation,
    /// What follows from the bytes of its probes: most tests do in most units
    /// what another did before.
    known: Mutex<FxHashMap<Vec<u8>, EdgeBits>>,
}

/// As many ways through a unit are kept in mind.
const KNOWN_MAX: usize = 128;

impl LoadedUnit {
    fn edges_taken(&self, probes: &[u8], reading: Reading) -> EdgeBits {
        if reading != Reading::Exact {
            return self.derivation.edges_taken(probes, reading);
        }
        let Ok(mut known) = self.known.lock() else {
            return self.derivation.edges_taken(probes, reading);
        };
        if let Some(edges) = known.get(probes) {
            return edges.clone();
        }
        let edges = self.derivation.edges_taken(probes, reading);
        if known.len() < KNOWN_MAX {
            known.insert(probes.to_vec(), edges.clone());
        }
        edges
    }

    fn full_row(&self) -> EdgeBits {
        bitvec![u8, Lsb0; 1; self.derivation.edge_count()]
    }

    /// Counts how often procedures were entered: not, once, or more often. Of
    /// those that do not note it, only a `main` that nobody calls is known.
    fn count_entries(
        &self,
        probes: &Probes,
        processes: u32,
        calls_main: bool,
        entries: &mut Entries,
    ) {
        let id = self.index.fingerprint;
        let probes = probes.get(&id).filter(|p| p.len() == self.index.probe_count as usize);
        let Some(probes) = probes else { return };
        let is_set = |probe: ProbeId| probes.get(probe.ix()).is_some_and(|byte| *byte != 0);
        for (number, procedure) in self.index.procedures.iter().enumerate() {
            let first = self.derivation.entry_probe(number);
            let is_main = procedure.name == MAIN && !procedure.is_static && !calls_main;
            let count = match (first, procedure.again) {
                (Some(first), Some(again)) if is_set(first) => 1 + u32::from(is_set(again)),
                (_, None) if is_main => 1,
                _ => continue,
            };
            // What another process ran before it was attached does not count itself.
            *entries.entry((id, number)).or_default() += count.max(processes) as usize;
        }
    }
}

/// Where programs begin.
const MAIN: &str = "main";

/// Edges by unit.
pub type Rows = BTreeMap<Fingerprint, EdgeBits>;

/// What one test left behind.
#[derive(Default)]
pub struct TestTrace {
    pub programs: Vec<Arc<ProgramRan>>,
    /// Edges taken, by unit.
    pub rows: Rows,
    /// The same for each case that its processes told apart: its own edges, those outside of any,
    /// and those of earlier cases unless the cases are independent.
    pub cases: BTreeMap<String, Rows>,
    /// Procedures that were entered once and no more, by unit and number. Of
    /// those of units that do not count entries nothing is known.
    pub entered_once: BTreeSet<(Fingerprint, usize)>,
    /// What logs of nodes say, by unit.
    pub walked: BTreeMap<Fingerprint, Walked>,
    /// Modules that its processes had loaded and that are not analysed.
    pub loaded: BTreeSet<PathBuf>,
    /// Files of the project that its processes used.
    pub uses: Uses,
    /// Why the trace is not complete, if so.
    pub unclean: Option<String>,
    /// How many processes ran one of the programs, those aside that were forked.
    pub processes: u32,
}

impl TestTrace {
    /// Files, without links, of programs and libraries that left a trace.
    pub fn traced(&self) -> BTreeSet<PathBuf> {
        let traced = self.programs.iter().filter(|program| !program.is_untraced);
        traced.map(|program| real(&program.path)).collect()
    }

    /// Adds what another run of the same test left.
    pub fn unite(&mut self, other: Self) {
        for program in other.programs {
            let is_same = |known: &Arc<ProgramRan>| {
                let units = |p: &ProgramRan| -> Vec<_> {
                    p.units.iter().map(|unit| unit.index.fingerprint).collect()
                };
                known.path == program.path
                    && known.link == program.link
                    && units(known) == units(&program)
            };
            if !self.programs.iter().any(is_same) {
                self.programs.push(program);
            }
        }
        unite_rows(&mut self.rows, other.rows);
        for (case, rows) in other.cases {
            unite_rows(self.cases.entry(case).or_default(), rows);
        }
        // What was entered once each time was entered twice.
        self.entered_once.clear();
        for (unit, walked) in other.walked {
            self.walked.entry(unit).or_default().unite(walked);
        }
        self.loaded.extend(other.loaded);
        self.uses.unite(other.uses);
        self.processes += other.processes;
        self.unclean = self.unclean.take().or(other.unclean);
    }
}

fn unite_rows(rows: &mut Rows, others: Rows) {
    others.into_iter().for_each(|(unit, row)| add_row(rows, unit, row));
}

fn add_row(rows: &mut Rows, unit: Fingerprint, row: EdgeBits) {
    match rows.get_mut(&unit) {
        Some(known) => *known |= row,
        None => {
            rows.insert(unit, row);
        }
    }
}

/// A path without links, as far as it leads anywhere.
pub fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// Reads programs once, however many tests run them.
#[derive(Default)]
pub struct Collector {
    programs: Mutex<FxHashMap<PathBuf, Known>>,
    /// Modules without records.
    plain: Mutex<BTreeSet<PathBuf>>,
    /// What a file that left no trace holds, if it has records.
    untraced: Mutex<FxHashMap<PathBuf, Untraced>>,
}

/// When it was read, and what it is.
type Untraced = (Stamp, Option<Arc<ProgramRan>>);

/// Size and time of a file that was read.
type Stamp = (u64, Option<SystemTime>);

fn stamp_of(path: &Path) -> std::io::Result<Stamp> {
    let meta = fs_err::metadata(path)?;
    Ok((meta.len(), meta.modified().ok()))
}

#[derive(Clone)]
struct Known {
    stamp: Stamp,
    build_id: Vec<u8>,
    program: Arc<ProgramRan>,
}

impl Collector {
    /// Collects what the processes of a test left in `directory`.
    pub fn collect(&self, directory: &Path) -> TestTrace {
        self.collect_as(directory, Reading::Exact, None, Cases::InOrder)
    }

    /// The same for a test whose first process is known by its number.
    pub fn collect_as(
        &self,
        directory: &Path,
        reading: Reading,
        first: Option<u32>,
        cases: Cases,
    ) -> TestTrace {
        let mut trace = TestTrace { uses: Uses::read_of(directory, first), ..TestTrace::default() };
        if let Err(problem) = self.collect_into(directory, reading, cases, &mut trace) {
            trace.unclean = Some(problem);
        }
        trace
    }

    fn collect_into(
        &self,
        directory: &Path,
        reading: Reading,
        counting: Cases,
        trace: &mut TestTrace,
    ) -> Result<(), String> {
        let entries = fs_err::read_dir(directory).map_err(|e| e.to_string())?;
        let mut names: Vec<String> = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|e| e.to_string())?;
            names.push(bytes::name(entry.file_name()));
        }
        names.sort();
        for name in &names {
            if name.starts_with(UNCLEAN_PREFIX) {
                let why = fs_err::read_to_string(directory.join(name)).unwrap_or_default();
                return Err(format!("a process could not be traced: {}", why.trim()));
            }
        }
        let mut files = Vec::new();
        let mut by_hash: BTreeMap<String, String> = BTreeMap::new();
        for name in &names {
            let Some(stem) = name.strip_suffix(TRACE_SUFFIX) else { continue };
            let bytes = fs_err::read(directory.join(name)).map_err(|e| e.to_string())?;
            let file = TraceFile::parse(&bytes).map_err(|e| e.to_string())?;
            if let Some((case, (_, hash))) = file.case.as_ref().zip(stem.rsplit_once('.')) {
                by_hash.insert(hash.to_string(), case.clone());
            }
            files.push(file);
        }
        let order = match counting {
            Cases::InOrder => {
                let list = std::fs::read_to_string(directory.join(CASES_NAME));
                list.ok().and_then(|list| Order::parse(&list, &by_hash))
            }
            Cases::Independent => None,
        };
        let traced: BTreeSet<PathBuf> = files.iter().map(|file| file.module.clone()).collect();
        let mut logs = Logs::default();
        for name in names.iter().filter_map(|name| name.strip_suffix(PATH_SUFFIX)) {
            let window = directory.join(format!("{name}{PATH_SUFFIX}"));
            logs.add(name, window);
        }
        let files_of_modules = if logs.is_empty() { Vec::new() } else { files.clone() };
        let modules = Traced::by_module(files);
        let cases: BTreeSet<&String> = modules.iter().flat_map(Traced::case_names).collect();
        let mut entries = Entries::default();
        for module in &modules {
            let program = self.program(module)?;
            let everything = module.everything();
            let calls_main = program.mentions_main();
            let is_altered =
                |unit: &Arc<LoadedUnit>| program.altered.contains(&unit.index.fingerprint);
            for unit in program.units.iter().filter(|unit| !is_altered(unit)) {
                unit.count_entries(&everything, module.processes, calls_main, &mut entries);
            }
            trace.processes = trace.processes.max(module.processes);
            program.add_rows(&everything, reading, &mut trace.rows);
            let mut add = |name: &str, probes: &Probes| {
                let rows = trace.cases.entry(name.to_string()).or_default();
                program.add_rows(probes, reading, rows);
            };
            match &order {
                Some(order) => module.in_order(order, add),
                None if counting == Cases::Independent => {
                    cases.iter().for_each(|name| add(name, &module.of_case(name)));
                }
                // Which case came first is not known: any may depend on any other.
                None => cases.iter().for_each(|name| add(name, &everything)),
            }
            if program.is_linked_elsewhere {
                trace.loaded.insert(program.path.clone());
            }
            trace.programs.push(program);
        }
        self.check_logs(&logs, &files_of_modules, reading, trace)?;
        if reading == Reading::Exact {
            entries.retain(|_, count| *count == 1);
            trace.entered_once.extend(entries.into_keys());
        }
        let loaded = directory.join(LOADED_NAME);
        if loaded.exists() {
            let loaded = fs_err::read(loaded).map_err(|e| e.to_string())?;
            let loaded = loaded.split(|byte| *byte == b'\n').filter(|path| !path.is_empty());
            let loaded = loaded.map(|path| PathBuf::from(OsStr::from_bytes(path)));
            for path in loaded.filter(|path| !traced.contains(path)) {
                if self.has_records(&path) {
                    let path = path.display();
                    return Err(format!("{path} has probes but left no trace"));
                }
                trace.loaded.insert(path);
            }
        }
        self.add_untraced(trace)
    }

    /// Adds programs that processes ran without leaving a trace: linked where
    /// nobody added the runtime, or unable to say anything. The test counts as
    /// having run all of them. What a test without any trace ran is not asked: it
    /// stays selected.
    fn add_untraced(&self, trace: &mut TestTrace) -> Result<(), String> {
        if trace.programs.is_empty() {
            return Ok(());
        }
        let traced = trace.traced();
        let used = trace.uses.files.iter().filter(|(_, used)| used.read || used.executed);
        let used = used.map(|(path, used)| (real(path), used.executed));
        let executed = trace.uses.programs.iter().map(|path| (real(path), true));
        let mut files: BTreeMap<PathBuf, bool> = BTreeMap::new();
        for (path, is_executed) in used.chain(executed) {
            *files.entry(path).or_default() |= is_executed;
        }
        for (path, is_executed) in files {
            if traced.contains(&path) || !is_code(&path) {
                continue;
            }
            // One that has the runtime would have left a trace, had it been loaded.
            let Some(program) = self
                .untraced_program(&path)?
                .filter(|program| is_executed || program.is_linked_elsewhere)
            else {
                continue;
            };
            let units: BTreeSet<_> = program.units.iter().map(|u| u.index.fingerprint).collect();
            trace.entered_once.retain(|(unit, _)| !units.contains(unit));
            program.add_full_rows(&mut trace.rows);
            trace.cases.values_mut().for_each(|rows| program.add_full_rows(rows));
            if program.is_linked_elsewhere {
                trace.loaded.insert(path);
            }
            trace.programs.push(program);
        }
        Ok(())
    }

    /// What is in a file that left no trace, if that has records.
    fn untraced_program(&self, path: &Path) -> Result<Option<Arc<ProgramRan>>, String> {
        let stamp = stamp_of(path).map_err(|e| e.to_string())?;
        let mut known = self.untraced.lock().map_err(|_| "a thread failed")?;
        if let Some((_, program)) = known.get(path).filter(|(then, _)| *then == stamp) {
            return Ok(program.clone());
        }
        let program = match Module::read(path) {
            Ok(module) if module.records.units.is_empty() => None,
            Ok(module) => {
                let program = load(module).map_err(|e| e.to_string())?;
                Some(Arc::new(ProgramRan { is_untraced: true, ..program }))
            }
            Err(ModuleError::Elf { .. }) => None,
            Err(error) => return Err(error.to_string()),
        };
        known.insert(path.to_path_buf(), (stamp, program.clone()));
        Ok(program)
    }

    /// Lays the logs of nodes, if there are any, beside the edges.
    fn check_logs(
        &self,
        logs: &Logs,
        modules: &[TraceFile],
        reading: Reading,
        trace: &mut TestTrace,
    ) -> Result<(), String> {
        let units = trace.programs.iter().flat_map(|program| &program.units);
        let units: FxHashMap<Fingerprint, paths::Unit<'_>> = units
            .filter(|unit| paths::is_logged(&unit.index))
            .map(|unit| {
                let graphs = unit.derivation.graphs();
                (unit.index.fingerprint, paths::Unit { index: &unit.index, graphs })
            })
            .collect();
        for module in modules.iter().filter(|module| module.case.is_none()) {
            paths::walk(logs, module, &|id| units.get(&id).copied(), &mut trace.walked)
                .map_err(|e| e.to_string())?;
        }
        for (id, unit) in units.iter().filter(|_| !logs.is_empty()) {
            let Some(row) = trace.rows.get(id) else { continue };
            let walked = trace.walked.entry(*id).or_default();
            if let Some(violation) = walked.violations.first() {
                return Err(format!(
                    "the log of granularity `path` has a step that is no edge ({violation}): gcc \
                     evaluates arguments and operands from right to left, or the process called \
                     vfork; build with clang, or without granularity `path`"
                ));
            }
            let (compared, wrong) = walked.compare(*unit, row);
            walked.compared = compared;
            let lost = |what: &&String| reading == Reading::Exact || what.ends_with("lost");
            if let Some(what) = wrong.iter().find(lost) {
                return Err(format!("probes and log disagree: {what}"));
            }
        }
        Ok(())
    }

    /// Whether a module that a process loaded is instrumented.
    fn has_records(&self, path: &Path) -> bool {
        let known = self.plain.lock().is_ok_and(|plain| plain.contains(path));
        if known {
            return false;
        }
        let has = Module::read(path).is_ok_and(|module| !module.records.units.is_empty());
        if !has && let Ok(mut plain) = self.plain.lock() {
            plain.insert(path.to_path_buf());
        }
        has
    }

    /// The program that left a trace, if it is still the same file.
    fn program(&self, traced: &Traced) -> Result<Arc<ProgramRan>, String> {
        let path = &traced.module;
        let stamp = stamp_of(path)
            .map_err(|_| format!("{} is gone, so its trace cannot be read", path.display()))?;
        let known = self.programs.lock().map_err(|_| "a thread failed")?.get(path).cloned();
        let known = match known.filter(|known| known.stamp == stamp) {
            Some(known) => known,
            None => {
                let module = Module::read(path).map_err(|e| e.to_string())?;
                let known = Known {
                    stamp,
                    build_id: module.build_id.clone(),
                    program: Arc::new(load(module).map_err(|e| e.to_string())?),
                };
                let mut programs = self.programs.lock().map_err(|_| "a thread failed")?;
                programs.insert(path.clone(), known.clone());
                known
            }
        };
        if known.build_id != traced.build_id {
            return Err(format!("{} was rebuilt while the test ran", path.display()));
        }
        Ok(known.program)
    }
}

/// A module with all its graphs.
pub fn load(module: Module) -> Result<ProgramRan, ModuleError> {
    let path = module.path.display().to_string();
    let damaged = |source| ModuleError::Record { path: path.clone(), source };
    let link = module.records.link_fingerprint();
    let outside_names = module.records.outside_names();
    let is_linked_elsewhere = !module.records.has_link();
    let binding = module.binding();
    let altered = module.records.altered();
    let archives = module.records.archives();
    let mut units = Vec::new();
    for raw in module.records.units {
        let index = raw.index().map_err(damaged)?;
        let graphs = raw.graphs(&index).map_err(damaged)?;
        let derivation = Derivation::new(&index, graphs);
        let known = Mutex::default();
        units.push(Arc::new(LoadedUnit { index, raw, derivation, known }));
    }
    Ok(ProgramRan {
        path: module.path,
        link,
        units,
        outside_names,
        binding,
        altered,
        archives,
        is_linked_elsewhere,
        is_untraced: false,
    })
}
