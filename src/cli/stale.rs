//! Programs that are not what their sources would make: a build that did nothing, or
//! failed, or did not link again. What tests do with them says nothing of the sources.

use super::build_state::BuildState;
use super::cache::Cache;
use super::concerned::Concerned;
use crate::compiler::linked;
use crate::compiler::preprocess::preprocess;
use crate::compiler::project::Project;
use crate::compiler::unit::Unit;
use crate::compiler::vouched;
use crate::ids::{Fingerprint, FpHasher};
use crate::select::NewProgram;
use crate::select::version::{ProgramVersion, UnitVersion};
use crate::trace::module::Module;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// Why a program is not what its sources would make.
#[derive(Clone)]
pub enum Stale {
    Changed(String),
    Gone(String),
    /// It would be found before another file, or is asked for.
    New(String),
    /// Asm of this source takes in a file that changed.
    TakenIn(String),
}

impl Stale {
    pub fn file(&self) -> &str {
        match self {
            Self::Changed(file) | Self::Gone(file) | Self::New(file) | Self::TakenIn(file) => file,
        }
    }
}

impl std::fmt::Display for Stale {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Changed(file) => write!(f, "not built from {file} as that is now"),
            Self::Gone(file) => write!(f, "built from {file}, which is gone"),
            Self::New(file) => write!(f, "built before {file} was there"),
            Self::TakenIn(file) => write!(f, "a file that asm in {file} includes changed"),
        }
    }
}

/// For each program that is not what its sources would make, why.
pub fn programs(
    project: &Project,
    state: &BuildState,
    concerned: &[Concerned],
    cache: &mut Cache,
) -> Vec<(Fingerprint, Stale)> {
    let built: Vec<(Fingerprint, &ProgramVersion)> = concerned
        .iter()
        .filter_map(|concerned| Some((concerned.program, built(concerned)?)))
        .collect();
    let programs: Vec<&ProgramVersion> = built.iter().map(|(_, program)| *program).collect();
    let found = reasons(project, state, &programs, cache);
    let found = built.into_iter().zip(found).filter_map(|((id, _), why)| Some((id, why?)));
    found.collect()
}

/// For each program as it is built, why it is not what its sources would make, if so.
pub fn reasons(
    project: &Project,
    state: &BuildState,
    programs: &[&ProgramVersion],
    cache: &mut Cache,
) -> Vec<Option<Stale>> {
    let mut doubtful: FxHashMap<Fingerprint, (&UnitVersion, Stale)> = FxHashMap::default();
    let mut seen = FxHashSet::default();
    let mut contents = Contents { project, state, cache, known: FxHashMap::default() };
    let new = state.found_since(&project.root).map(|file| Stale::New(file.clone()));
    for unit in programs.iter().flat_map(|program| &program.units) {
        let id = made_of(unit);
        if seen.insert(id)
            && let Some(why) = contents.changed(unit).or(new.clone()).or_else(|| taken_in(unit))
        {
            doubtful.insert(id, (unit, why));
        }
    }
    // Another comment makes no other unit.
    let doubtful: Vec<_> = doubtful.into_iter().collect();
    let stale = doubtful.into_par_iter().filter(|(_, (unit, _))| is_another(project, unit));
    let stale: FxHashMap<Fingerprint, Stale> = stale.map(|(id, (_, why))| (id, why)).collect();
    let of_program = |program: &&ProgramVersion| {
        let why = program.units.iter().find_map(|unit| stale.get(&made_of(unit))).cloned();
        why.or_else(|| link_input(project, program))
    };
    programs.iter().map(of_program).collect()
}

/// No content is recorded of what asm takes in, so a unit with such asm is always compared.
fn taken_in(unit: &UnitVersion) -> Option<Stale> {
    unit.index.takes_files.then(|| Stale::TakenIn(unit.index.key.source.clone()))
}

/// A program as it is built.
fn built(concerned: &Concerned) -> Option<&ProgramVersion> {
    match &concerned.comparison.as_ref()?.new {
        NewProgram::Version(new) => Some(new),
        NewProgram::Unknown(_) => None,
    }
}

/// Stands for a unit with the files it was compiled from.
fn made_of(unit: &UnitVersion) -> Fingerprint {
    let mut hasher = FpHasher::new("made of");
    hasher.fp(&unit.fingerprint());
    unit.index.contents.iter().for_each(|content| hasher.fp(content));
    hasher.finish()
}

/// Whether a unit would be another one if it was compiled now.
fn is_another(project: &Project, unit: &UnitVersion) -> bool {
    let recorded = Unit::of_index(&unit.index);
    let now = vouched::job(project, &recorded).and_then(|job| {
        let text = preprocess(project, &job, &[])?.text;
        Ok(recorded.fingerprint(project, &job, &text))
    });
    now.map_or(true, |now| now != unit.fingerprint())
}

/// What the link of a program would take in now and did not: a script of the linker, an
/// object that is not analysed.
fn link_input(project: &Project, program: &ProgramVersion) -> Option<Stale> {
    let module = Module::read(&project.place(&program.path)).ok()?;
    let mut links = module.records.links.iter();
    links.find_map(|link| linked::changed(project, link)).map(Stale::Changed)
}

struct Contents<'a> {
    project: &'a Project,
    state: &'a BuildState,
    cache: &'a mut Cache,
    known: FxHashMap<String, Option<Fingerprint>>,
}

impl Contents<'_> {
    /// A file that is not what it was when the unit was compiled. What a build removes again is
    /// not known any more, and no loss.
    fn changed(&mut self, unit: &UnitVersion) -> Option<Stale> {
        let files = unit.index.files.iter().zip(&unit.index.contents);
        let mut files = files.filter(|(_, then)| **then != Fingerprint::default());
        files.find_map(|(file, then)| match self.now(file) {
            Some(now) => (now != *then).then(|| Stale::Changed(file.clone())),
            None => self.state.was_there(file).then(|| Stale::Gone(file.clone())),
        })
    }

    fn now(&mut self, file: &str) -> Option<Fingerprint> {
        if let Some(known) = self.known.get(file) {
            return *known;
        }
        let path = self.project.place(file);
        // The state of the project's files has another content of it.
        let name = format!("bytes {file}");
        // A record may name anything, also what has no end.
        let read = || path.is_file().then(|| std::fs::read(&path).ok()).flatten();
        let read = || read().map(|bytes| Fingerprint::of(&bytes));
        let (content, fresh) = self.cache.contents.look(&name, &path, self.cache.began, read);
        fresh.into_iter().for_each(|fresh| self.cache.contents.remember(name.clone(), fresh));
        self.known.insert(file.to_string(), content);
        content
    }
}
