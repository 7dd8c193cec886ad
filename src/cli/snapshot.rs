//! The new version of the programs of a history: from the sources as they are
//! now, or from the programs as they were built.

use crate::cfg::format::{RawRecord, UnitIndex};
use crate::cfg::unit::Known;
use crate::compiler::preprocess;
use crate::compiler::project::Project;
use crate::compiler::unit::{self, Unit};
use crate::history::History;
use crate::history::format::Program;
use crate::history::store::StoreError;
use crate::ids::Fingerprint;
use crate::select::NewProgram;
use crate::select::version::{ProgramVersion, UnitVersion};
use crate::trace::module::Module;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Where the new version comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    Sources,
    Build,
}

/// Counts of what had to be looked at.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Effort {
    pub units: usize,
    pub units_preprocessed: usize,
    pub units_analysed: usize,
}

/// Units of a history, read once.
pub struct OldUnits(FxHashMap<Fingerprint, Arc<UnitVersion>>);

impl OldUnits {
    pub fn read(
        history: &History,
        programs: impl Iterator<Item = Program>,
    ) -> Result<Self, StoreError> {
        let mut units = FxHashMap::default();
        for id in programs.flat_map(|program| program.units) {
            if units.contains_key(&id) {
                continue;
            }
            // A record of another version cannot be read: whoever ran it is
            // selected, since the unit is then missing.
            let raw = RawRecord::new(history.unit(id)?);
            if let Ok(unit) = raw.and_then(UnitVersion::of_raw) {
                units.insert(id, Arc::new(unit));
            }
        }
        Ok(Self(units))
    }

    pub fn values(&self) -> impl Iterator<Item = &Arc<UnitVersion>> {
        self.0.values()
    }

    /// A program of the history, if all its units can be read.
    pub fn program(&self, program: &Program) -> Option<ProgramVersion> {
        let units: Option<Vec<_>> =
            program.units.iter().map(|unit| self.0.get(unit).cloned()).collect();
        let names = program.outside_names.clone();
        Some(ProgramVersion::new(program.path.clone(), program.link, units?, names))
    }
}

/// Preprocesses every unit as it is now; those with another text are analysed.
/// Which units a program has, and how they are compiled, the programs say that
/// are built; where there are none, those of the history.
pub struct FromSources {
    built: FxHashMap<Fingerprint, ProgramVersion>,
    units: FxHashMap<Fingerprint, Result<Arc<UnitVersion>, String>>,
    pub effort: Effort,
}

impl FromSources {
    pub fn analyse<'p>(
        project: &Project,
        old: &OldUnits,
        programs: impl Iterator<Item = (Fingerprint, &'p Program)>,
    ) -> Self {
        let mut built = FxHashMap::default();
        let mut wanted: FxHashMap<Fingerprint, Arc<UnitVersion>> = FxHashMap::default();
        for (id, program) in programs {
            // A unit that is as it was recorded is the one that was recorded.
            let known = |unit: &Arc<UnitVersion>| {
                let unit = old.0.get(&unit.fingerprint()).unwrap_or(unit);
                (unit.fingerprint(), unit.clone())
            };
            match from_build(project, program) {
                NewProgram::Version(version) => {
                    wanted.extend(version.units.iter().map(known));
                    built.insert(id, version);
                }
                NewProgram::Unknown(_) => {
                    let units = program.units.iter().filter_map(|unit| old.0.get(unit));
                    wanted.extend(units.map(known));
                }
            }
        }
        let units: FxHashMap<_, _> =
            wanted.par_iter().map(|(id, unit)| (*id, renew(project, unit))).collect();
        let analysed = units
            .iter()
            .filter(|(id, unit)| unit.as_ref().is_ok_and(|unit| unit.fingerprint() != **id))
            .count();
        let effort = Effort {
            units: units.len(),
            units_preprocessed: units.len(),
            units_analysed: analysed,
        };
        Self { built, units, effort }
    }

    pub fn program(&self, id: Fingerprint, old: &Program) -> NewProgram {
        let (ids, link, names): (Vec<Fingerprint>, _, _) = match self.built.get(&id) {
            Some(built) => {
                let ids = built.units.iter().map(|unit| unit.fingerprint()).collect();
                (ids, built.link, &built.outside_names)
            }
            None => (old.units.clone(), old.link, &old.outside_names),
        };
        let mut units = Vec::new();
        for id in ids {
            match self.units.get(&id) {
                Some(Ok(unit)) => units.push(unit.clone()),
                Some(Err(why)) => return NewProgram::Unknown(why.clone()),
                None => return NewProgram::Unknown(String::from("its records cannot be read")),
            }
        }
        NewProgram::Version(ProgramVersion::new(old.path.clone(), link, units, names.clone()))
    }
}

/// The unit as its command makes it now.
fn renew(project: &Project, old: &Arc<UnitVersion>) -> Result<Arc<UnitVersion>, String> {
    let source = &old.index.key.source;
    let explain = |error: preprocess::PreprocessError| {
        let error = error.to_string();
        let first = error.lines().find(|l| l.contains("error")).or(error.lines().next());
        format!("{source} does not preprocess: {}", first.unwrap_or_default())
    };
    let UnitIndex { key, command, detail, .. } = &old.index;
    let unit = Unit { key: key.clone(), command: command.clone(), detail: *detail };
    let job = unit.job(project).map_err(explain)?;
    let preprocessed = preprocess::preprocess(project, &job, &[]).map_err(explain)?;
    if unit.fingerprint(project, &job, &preprocessed.text) == old.fingerprint() {
        return Ok(old.clone());
    }
    let forced = forced_opaque(old);
    let known = Known::of_record(&old.index, old.graphs());
    let analysed = unit::analyse_changes(project, &unit, &job, &preprocessed, &forced, &known);
    let record = analysed.record(project, &unit, &job, old.index.untouched.clone());
    Ok(Arc::new(UnitVersion::of_record(record)))
}

/// Procedures whose probes the compiler rejected stay opaque.
fn forced_opaque(old: &UnitVersion) -> FxHashMap<String, String> {
    old.index
        .procedures
        .iter()
        .filter_map(|p| Some((p.name.clone(), p.opaque.clone()?)))
        .filter(|(_, why)| why.starts_with(crate::compiler::REJECTED))
        .collect()
}

/// The program as it lies in the build directory.
pub fn from_build(project: &Project, old: &Program) -> NewProgram {
    let path = project.root.join(&old.path);
    let module = match Module::read(&path) {
        Ok(module) => module,
        Err(error) => return NewProgram::Unknown(error.to_string()),
    };
    match program_of(project, module) {
        Ok(program) => NewProgram::Version(program),
        Err(why) => NewProgram::Unknown(why),
    }
}

fn program_of(project: &Project, module: Module) -> Result<ProgramVersion, String> {
    let link = module.records.link_fingerprint();
    let names = module.records.outside_names();
    let mut units = Vec::new();
    for raw in module.records.units {
        units.push(Arc::new(UnitVersion::of_raw(raw).map_err(|e| e.to_string())?));
    }
    if units.is_empty() {
        return Err(String::from("it holds no instrumented code any more"));
    }
    let path = crate::compiler::project::relative(&project.root, &module.path);
    Ok(ProgramVersion::new(path, link, units, names))
}
