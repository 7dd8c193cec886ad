//! Programs that are not what their sources would make: a build that did nothing, or
//! failed, or did not link again. What tests do with them says nothing of the sources.

use super::cache::Cache;
use super::concerned::Concerned;
use crate::compiler::preprocess::preprocess;
use crate::compiler::project::Project;
use crate::compiler::unit::Unit;
use crate::ids::{Fingerprint, FpHasher};
use crate::select::NewProgram;
use crate::select::version::{ProgramVersion, UnitVersion};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// For each program, a file that it was built from as it is no more.
pub fn programs(
    project: &Project,
    concerned: &[Concerned],
    cache: &mut Cache,
) -> Vec<(Fingerprint, String)> {
    let built: Vec<(Fingerprint, &ProgramVersion)> = concerned
        .iter()
        .filter_map(|concerned| Some((concerned.program, built(concerned)?)))
        .collect();
    let programs: Vec<&ProgramVersion> = built.iter().map(|(_, program)| *program).collect();
    let found = files(project, &programs, cache);
    let found = built.into_iter().zip(found).filter_map(|((id, _), file)| Some((id, file?)));
    found.collect()
}

/// For each program as it is built, a file that it was built from as it is no more, if
/// there is one.
pub fn files(
    project: &Project,
    programs: &[&ProgramVersion],
    cache: &mut Cache,
) -> Vec<Option<String>> {
    let mut doubtful: FxHashMap<Fingerprint, (&UnitVersion, String)> = FxHashMap::default();
    let mut seen = FxHashSet::default();
    let mut contents = Contents { project, cache, known: FxHashMap::default() };
    for unit in programs.iter().flat_map(|program| &program.units) {
        let id = made_of(unit);
        if seen.insert(id)
            && let Some(file) = contents.changed(unit)
        {
            doubtful.insert(id, (unit, file));
        }
    }
    // Another comment makes no other unit.
    let doubtful: Vec<_> = doubtful.into_iter().collect();
    let stale = doubtful.into_par_iter().filter(|(_, (unit, _))| is_another(project, unit));
    let stale: FxHashMap<Fingerprint, String> = stale.map(|(id, (_, file))| (id, file)).collect();
    let of_program = |program: &&ProgramVersion| {
        program.units.iter().find_map(|unit| stale.get(&made_of(unit))).cloned()
    };
    programs.iter().map(of_program).collect()
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
    let now = recorded.job(project).and_then(|job| {
        let text = preprocess(project, &job, &[])?.text;
        Ok(recorded.fingerprint(project, &job, &text))
    });
    now.map_or(true, |now| now != unit.fingerprint())
}

struct Contents<'a> {
    project: &'a Project,
    cache: &'a mut Cache,
    known: FxHashMap<String, Option<Fingerprint>>,
}

impl Contents<'_> {
    /// A file that is not what it was when the unit was compiled. What a build
    /// removes again is not known any more.
    fn changed(&mut self, unit: &UnitVersion) -> Option<String> {
        let files = unit.index.files.iter().zip(&unit.index.contents);
        let files = files.filter(|(_, then)| **then != Fingerprint::default());
        let mut files = files.filter(|(file, then)| self.now(file).is_some_and(|n| n != **then));
        files.next().map(|(file, _)| file.clone())
    }

    fn now(&mut self, file: &str) -> Option<Fingerprint> {
        if let Some(known) = self.known.get(file) {
            return *known;
        }
        let path = self.project.root.join(file);
        // The state of the project's files has another content of it.
        let name = format!("bytes {file}");
        let read = || std::fs::read(&path).ok().map(|bytes| Fingerprint::of(&bytes));
        let (content, fresh) = self.cache.contents.look(&name, &path, self.cache.began, read);
        fresh.into_iter().for_each(|fresh| self.cache.contents.remember(name.clone(), fresh));
        self.known.insert(file.to_string(), content);
        content
    }
}
