//! The new version of programs from the sources as they are now. Only what may
//! have changed is preprocessed, and only what the change can concern is read.

use super::cache::Cache;
use super::listed;
use super::roles::UnitFiles;
use super::snapshot::{self, Effort};
use super::summary::{Summaries, files_read, variant};
use crate::cfg::format::{RawRecord, UnitIndex};
use crate::compiler::linked;
use crate::compiler::project::Project;
use crate::compiler::text::seen::Seen;
use crate::compiler::text::stamp::Stamp;
use crate::compiler::text::{Noted, asked};
use crate::compiler::unit::Unit;
use crate::compiler::vouched;
use crate::history::History;
use crate::history::format::Program;
use crate::history::store::StoreError;
use crate::ids::{Fingerprint, FpHasher, TestId};
use crate::select::NewProgram;
use crate::select::version::{ProgramVersion, UnitVersion};
use crate::trace::module::Module;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Programs of a history, with the tests that ran them.
pub type Programs = BTreeMap<Fingerprint, (Program, Vec<TestId>)>;

/// All programs as the sources make them now.
pub struct FromSources {
    /// By the program of the history.
    pub now: BTreeMap<Fingerprint, Result<Program, String>>,
    pub units: Units,
    pub files: UnitFiles,
    /// Units that the build system lists and no program has.
    pub fresh: Vec<UnitIndex>,
    pub effort: Effort,
}

/// Records of units, read when asked for.
#[derive(Default)]
pub struct Units {
    read: FxHashMap<Fingerprint, Arc<UnitVersion>>,
    unreadable: FxHashSet<Fingerprint>,
}

impl Units {
    /// A unit that was read or analysed, or that the history has; none if its
    /// record is of another version.
    pub fn get(
        &mut self,
        history: &History,
        id: Fingerprint,
    ) -> Result<Option<Arc<UnitVersion>>, StoreError> {
        if let Some(known) = self.read.get(&id) {
            return Ok(Some(known.clone()));
        }
        if self.unreadable.contains(&id) || !history.has_unit(id) {
            return Ok(None);
        }
        match RawRecord::new(history.unit(id)?).and_then(UnitVersion::of_raw) {
            Ok(unit) => {
                let unit = Arc::new(unit);
                self.read.insert(id, unit.clone());
                Ok(Some(unit))
            }
            Err(_) => {
                self.unreadable.insert(id);
                Ok(None)
            }
        }
    }

    fn add(&mut self, unit: Arc<UnitVersion>) {
        self.read.entry(unit.fingerprint()).or_insert(unit);
    }

    pub fn count(&self) -> usize {
        self.read.values().filter(|unit| unit.raw_bytes().is_some()).count()
    }

    pub fn procedures_decoded(&self) -> usize {
        self.read.values().map(|unit| unit.procedures_decoded()).sum()
    }
}

/// What became of a unit.
type Renewed = Result<Fingerprint, String>;

impl FromSources {
    pub fn analyse(
        project: &Project,
        history: &History,
        cache: &mut Cache,
        programs: &Programs,
        listed: &[Unit],
    ) -> Result<Self, StoreError> {
        let mut analysis = Analysis { project, history, cache, listed, units: Units::default() };
        let mut built = BTreeMap::new();
        for (id, (program, _)) in programs {
            built.insert(*id, analysis.built(program)?);
        }
        analysis.summarise(programs, &built)?;
        let wanted: FxHashSet<Fingerprint> =
            built.values().flat_map(|program| program.units.iter().copied()).collect();
        let (renewed, mut effort) = analysis.renew(&wanted, programs)?;
        let Analysis { units, .. } = analysis;
        effort.units = wanted.len();
        let files = unit_files(&cache.summaries, &units, programs, &wanted, &renewed);
        let is_new = |unit: &&Unit| !files.sources.contains(&unit.key.source);
        let fresh: Vec<&Unit> = listed.iter().filter(is_new).collect();
        let fresh = fresh.par_iter().filter_map(|unit| listed::analysed(project, unit)).collect();
        let now = built.into_iter().map(|(id, program)| (id, apply(program, &renewed))).collect();
        let used: FxHashSet<Fingerprint> = programs
            .values()
            .flat_map(|(program, _)| program.units.iter().copied())
            .chain(wanted)
            .collect();
        cache.summaries.retain(|id| used.contains(&id));
        Ok(Self { now, units, files, fresh, effort })
    }
}

/// A program with its units as they are now.
fn apply(
    mut program: Program,
    renewed: &FxHashMap<Fingerprint, Renewed>,
) -> Result<Program, String> {
    for unit in &mut program.units {
        *unit = match renewed.get(unit) {
            Some(Ok(now)) => *now,
            Some(Err(why)) => return Err(why.clone()),
            None => return Err(String::from("its records cannot be read")),
        };
    }
    Ok(program)
}

struct Analysis<'a> {
    project: &'a Project,
    history: &'a History,
    cache: &'a mut Cache,
    listed: &'a [Unit],
    units: Units,
}

impl Analysis<'_> {
    /// Which units a program has, and how they are compiled, the program says
    /// that is built; where there is none, that of the history.
    fn built(&mut self, program: &Program) -> Result<Program, StoreError> {
        let path = self.project.place(&program.path);
        let stamp = Stamp::of(&path);
        if let Some(known) = self.cache.summaries.program(&program.path, stamp) {
            let now = known.now.clone();
            if self.read_unrecorded(&path, &now.units) {
                return Ok(now);
            }
        }
        let NewProgram::Version(version) = snapshot::from_build(self.project, program) else {
            return Ok(program.clone());
        };
        let mut units = Vec::new();
        for unit in &version.units {
            let recorded = self.units.get(self.history, unit.fingerprint())?;
            let (id, unit) = match recorded {
                // A unit that is as it was recorded is the one that was recorded.
                Some(recorded) if recorded.index.command == unit.index.command => {
                    (unit.fingerprint(), recorded)
                }
                Some(_) => (variant(unit), unit.clone()),
                None => (unit.fingerprint(), unit.clone()),
            };
            self.cache.summaries.add_unit(id, &unit);
            self.units.read.insert(id, unit);
            units.push(id);
        }
        let ProgramVersion { path: name, link, outside_names, binding, altered, archives, .. } =
            version;
        let mut now = Program {
            path: name,
            link,
            units,
            outside_names,
            binding,
            altered,
            archives: *archives,
        };
        let inputs = self.relink(&path, &mut now);
        let is_settled = |stamp: &Stamp| stamp.is_settled(self.cache.began);
        let are_settled = inputs.iter().all(|(_, stamp)| stamp.is_none_or(|s| is_settled(&s)));
        if let Some(stamp) = stamp.filter(is_settled)
            && are_settled
            && Stamp::of(&path) == Some(stamp)
        {
            self.cache.summaries.add_program(&program.path, stamp, inputs, &now);
        }
        Ok(now)
    }

    /// Looks at what the link of a program took in: objects and libraries of
    /// others may be other ones now. Returns these files.
    fn relink(&self, path: &Path, now: &mut Program) -> Vec<(PathBuf, Option<Stamp>)> {
        let links = Module::read(path).map(|module| module.records.links).unwrap_or_default();
        let files: BTreeSet<PathBuf> =
            links.iter().flat_map(|link| linked::files(self.project, link)).collect();
        let files = files.into_iter().map(|file| (file.clone(), Stamp::of(&file))).collect();
        if !links.iter().all(|link| linked::is_same(self.project, link)) {
            let mut hasher = FpHasher::new("linked with other objects");
            hasher.fp(&now.link);
            now.link = hasher.finish();
        }
        files
    }

    /// Reads those units from a program that the history does not have. False if
    /// they are not there.
    fn read_unrecorded(&mut self, path: &Path, units: &[Fingerprint]) -> bool {
        let is_known =
            |id: &Fingerprint| self.history.has_unit(*id) || self.units.read.contains_key(id);
        if units.iter().all(is_known) {
            return true;
        }
        let Ok(module) = Module::read(path) else { return false };
        if module.records.units.len() != units.len() {
            return false;
        }
        for (raw, id) in module.records.units.into_iter().zip(units) {
            if self.history.has_unit(*id) {
                continue;
            }
            match UnitVersion::of_raw(raw) {
                Ok(unit) if unit.fingerprint() == *id || variant(&unit) == *id => {
                    self.units.read.insert(*id, Arc::new(unit));
                }
                _ => return false,
            }
        }
        true
    }

    /// Reads the records of units that are not known yet.
    fn summarise(
        &mut self,
        programs: &Programs,
        built: &BTreeMap<Fingerprint, Program>,
    ) -> Result<(), StoreError> {
        let old = programs.values().flat_map(|(program, _)| &program.units);
        let new = built.values().flat_map(|program| &program.units);
        for id in old.chain(new) {
            if self.cache.summaries.unit(*id).is_none()
                && let Some(unit) = self.units.get(self.history, *id)?
            {
                self.cache.summaries.add_unit(*id, &unit);
            }
        }
        Ok(())
    }

    /// Preprocesses those of the units that may have another text.
    fn renew(
        &mut self,
        wanted: &FxHashSet<Fingerprint>,
        programs: &Programs,
    ) -> Result<(FxHashMap<Fingerprint, Renewed>, Effort), StoreError> {
        let Cache { texts, tools, summaries, began, .. } = &mut *self.cache;
        texts.review(*began);
        let old: FxHashSet<Fingerprint> =
            programs.values().flat_map(|(program, _)| program.units.iter().copied()).collect();
        let mut renewed: FxHashMap<Fingerprint, Renewed> = FxHashMap::default();
        let mut doubtful = Vec::new();
        let mut others = FxHashMap::default();
        if !self.listed.is_empty() {
            let mut known = Vec::new();
            for id in wanted {
                known.extend(self.units.get(self.history, *id)?);
            }
            let known = known.iter().map(|unit| &unit.index);
            others = listed::other_commands(self.listed, known);
        }
        for id in wanted {
            let Some(summary) = summaries.unit(*id) else { continue };
            if others.contains_key(&summary.fingerprint) {
                doubtful.push((*id, None));
                continue;
            }
            let compiler = vouched::compiler(self.project, &summary.compiler);
            let compiler = compiler.and_then(|compiler| tools.fingerprint(&compiler, *began));
            let asked = compiler.map(|c| asked::id(self.project, c, summary.command));
            match asked.and_then(|asked| texts.unit(asked)) {
                Some(now) if now == summary.fingerprint || old.contains(&now) => {
                    renewed.insert(*id, Ok(now));
                }
                _ => doubtful.push((*id, asked)),
            }
        }
        let mut work = Vec::new();
        for (id, mut asked) in doubtful {
            if let Some(unit) = self.units.get(self.history, id)? {
                // A history that was merged may have it with another command.
                let command = Unit::of_index(&unit.index).command_id();
                if summaries.unit(id).is_some_and(|summary| summary.command != command) {
                    summaries.forget_programs();
                    asked = None;
                }
                let symbols = asked.is_some_and(|asked| texts.expects_symbols(asked));
                work.push((id, unit, asked, symbols));
            }
        }
        // Those that take long come first.
        work.sort_by_key(|(_, unit, ..)| std::cmp::Reverse(unit.index.procedures.len()));
        small_pages(work.len() < MANY);
        let seen = if work.is_empty() { Seen::default() } else { texts.seen() };
        let (project, began) = (self.project, *began);
        let done: Vec<_> = work
            .par_iter()
            .with_max_len(1)
            .map(|(id, unit, asked, symbols)| {
                let other = others.get(&unit.fingerprint());
                let asked = *asked;
                let renew = snapshot::Renew { project, seen: &seen, began, asked, other };
                (*id, unit.fingerprint(), renew.unit(unit, *symbols))
            })
            .collect();
        let mut effort = Effort { units_preprocessed: done.len(), ..Effort::default() };
        let mut notes: Vec<Noted> = Vec::new();
        for (id, then, result) in done {
            match result {
                Ok((unit, note)) => {
                    effort.units_analysed += usize::from(unit.fingerprint() != then);
                    effort.preprocessor_runs += 1 + usize::from(note.has_symbols);
                    if note.id.is_some() {
                        notes.push(note);
                    }
                    renewed.insert(id, Ok(unit.fingerprint()));
                    self.units.add(unit);
                }
                Err(why) => {
                    renewed.insert(id, Err(why));
                }
            }
        }
        if !notes.is_empty() {
            texts.add(notes, &seen);
        }
        Ok((renewed, effort))
    }
}

/// How many units are so many that they need memory for long.
const MANY: usize = 8;

/// Whether memory comes in small pages: large ones take longer to be cleared than
/// a selection may take.
pub fn small_pages(small: bool) {
    // SAFETY: it takes numbers only, and says how later pages come.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, libc::c_ulong::from(small), 0, 0, 0) };
}

/// Files of the units of both versions.
fn unit_files(
    summaries: &Summaries,
    units: &Units,
    programs: &Programs,
    wanted: &FxHashSet<Fingerprint>,
    renewed: &FxHashMap<Fingerprint, Renewed>,
) -> UnitFiles {
    let mut files = UnitFiles { all: HashSet::new(), sources: HashSet::new() };
    let old = programs.values().flat_map(|(program, _)| &program.units);
    let all: FxHashSet<Fingerprint> = old.chain(wanted).copied().collect();
    let mut names: FxHashSet<&String> = FxHashSet::default();
    for summary in all.iter().filter_map(|id| summaries.unit(*id)) {
        names.extend(summaries.files_of(summary));
        files.sources.insert(summary.source.clone());
    }
    let now = renewed.values().flatten().filter(|id| !all.contains(id));
    for unit in now.filter_map(|id| units.read.get(id)) {
        names.extend(files_read(&unit.index));
        files.sources.insert(unit.index.key.source.clone());
    }
    files.all.extend(names.into_iter().cloned());
    files
}
