//! The new version of the programs of a history: from the sources as they are
//! now, or from the programs as they were built.

use crate::cfg::format::RawRecord;
use crate::cfg::unit::Known;
use crate::compiler::preprocess::PreprocessError;
use crate::compiler::project::Project;
use crate::compiler::text::seen::Seen;
use crate::compiler::text::stamp::Moment;
use crate::compiler::text::{self, Noted, asked};
use crate::compiler::unit::{self, Unit};
use crate::compiler::vouched;
use crate::history::History;
use crate::history::format::Program;
use crate::history::store::StoreError;
use crate::ids::Fingerprint;
use crate::select::NewProgram;
use crate::select::version::{ProgramVersion, UnitVersion};
use crate::trace::module::Module;
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
    /// A second time for those with line numbers and the like in them.
    pub preprocessor_runs: usize,
    pub units_analysed: usize,
    /// Records of which at least the index was read.
    pub units_read: usize,
    /// Graphs of these that were read.
    pub procedures_decoded: usize,
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
        Some(ProgramVersion::new(program.clone(), units?))
    }
}

/// A unit as its command makes it now.
pub struct Renew<'a> {
    pub project: &'a Project,
    pub seen: &'a Seen,
    pub began: Moment,
    /// What stands for the request, if its answer may be noted.
    pub asked: Option<Fingerprint>,
    /// The unit with another command than that of its record, if so.
    pub other: Option<&'a Unit>,
}

impl Renew<'_> {
    /// The unit, the old one if it is the same, and what to note.
    pub fn unit(
        &self,
        old: &Arc<UnitVersion>,
        expects_symbols: bool,
    ) -> Result<(Arc<UnitVersion>, Noted), String> {
        let source = &old.index.key.source;
        let explain = |error: PreprocessError| {
            if matches!(error, PreprocessError::Refused(_) | PreprocessError::Options) {
                return format!("{source} is not compared: {error}");
            }
            let error = error.to_string();
            let first = error.lines().find(|l| l.contains("error")).or(error.lines().next());
            format!("{source} does not preprocess: {}", first.unwrap_or_default())
        };
        let recorded = Unit::of_index(&old.index);
        let unit = self.other.unwrap_or(&recorded);
        let job = vouched::job(self.project, unit).map_err(explain)?;
        let names = self.asked.and_then(|_| asked::included(&job.arguments));
        let names = names.as_deref();
        let observed =
            text::observe(self.project, &job, self.seen, self.began, names, expects_symbols);
        let (preprocessed, grounds) = observed.map_err(explain)?;
        let fingerprint = unit.fingerprint(self.project, &job, &preprocessed.text);
        let has_symbols = preprocessed.symbolic.is_some();
        let noted = Noted { id: self.asked, unit: fingerprint, has_symbols, grounds };
        if fingerprint == old.fingerprint() {
            return Ok((old.clone(), noted));
        }
        let forced = forced_opaque(old);
        let known = Known::of_record(&old.index, old.graphs());
        let analysed =
            unit::analyse_changes(self.project, unit, &job, &preprocessed, &forced, &known);
        let record = analysed.record(self.project, unit, &job, old.index.untouched.clone());
        Ok((Arc::new(UnitVersion::of_record(record)), noted))
    }
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
    let path = project.place(&old.path);
    let module = match Module::read(&path) {
        Ok(module) => module,
        Err(error) => return NewProgram::Unknown(error.to_string()),
    };
    match program_of(project, module) {
        Ok(program) => NewProgram::Version(program),
        Err(why) => NewProgram::Unknown(why),
    }
}

/// Fingerprints of the units in a program as it lies in the build directory.
pub fn units_of_built(project: &Project, old: &Program) -> Vec<Fingerprint> {
    let module = Module::read(&project.place(&old.path));
    let units = module.map(|module| module.records.units).unwrap_or_default();
    units.iter().filter_map(|raw| Some(raw.index().ok()?.fingerprint)).collect()
}

/// A program as a file has it.
pub fn program_of(project: &Project, module: Module) -> Result<ProgramVersion, String> {
    let program = Program {
        path: crate::compiler::project::relative(&project.root, &module.path),
        link: module.records.link_fingerprint(),
        units: Vec::new(),
        outside_names: module.records.outside_names(),
        binding: module.binding(),
        altered: module.records.altered(),
        archives: module.records.archives(),
    };
    let mut units = Vec::new();
    for raw in module.records.units {
        units.push(Arc::new(UnitVersion::of_raw(raw).map_err(|e| e.to_string())?));
    }
    if units.is_empty() {
        return Err(String::from("it holds no instrumented code any more"));
    }
    Ok(ProgramVersion::new(program, units))
}
