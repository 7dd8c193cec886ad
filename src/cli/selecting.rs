//! Puts together what a selection needs: the tests, the history, the state of
//! the files, and both versions of the programs.

use super::build_state::BuildState;
use super::cache::Cache;
use super::calls::HistoryCalls;
use super::concerned::{self, Concerned, Extent};
use super::files::Files;
use super::gathering::{Parts, Selection};
use super::listed;
use super::matrix::HistoryMatrix;
use super::naming::Macros;
use super::outside::LoadedNames;
use super::roles::UnitFiles;
use super::snapshot::{self, Effort, OldUnits, Source};
use super::sources::{self, FromSources, Programs};
use super::stale;
use super::summary::{Summaries, files_read};
use super::unprobed::Affected;
use super::workspace::Workspace;
use crate::cfg::format::UnitIndex;
use crate::history::History;
use crate::ids::{Fingerprint, TestId};
use crate::report::Report;
use crate::select::reason::keep_once;
use crate::select::version::UnitVersion;
use crate::select::{
    self, Algorithm, ComparedPair, Comparison, Edits, NewProgram, Options, Reason, Rule,
};
use crate::suite::TestCase;
use std::collections::{BTreeMap, HashSet};

/// What is said where no test was recorded.
pub const NO_HISTORY: &str = "there is no history yet: `edgewise run` records one";

/// A selection with all that an update of the history needs.
pub struct Selected {
    pub report: Report,
    pub comparisons: Vec<Comparison>,
    /// The program of the history behind each comparison.
    pub programs: Vec<Fingerprint>,
    pub map: crate::history::carry::EntityMap,
    /// What can run after the changes, if that was asked for.
    pub affected: Affected,
    /// Procedures that were compared, if they are to be shown.
    pub pairs: Vec<ComparedPair>,
    /// The files that belong to the programs as they are built.
    pub files: Files,
}

impl Selected {
    /// Units of the new version, each once.
    pub fn new_units(&self) -> impl Iterator<Item = &UnitVersion> {
        let mut seen = HashSet::new();
        let versions = self.comparisons.iter().filter_map(|comparison| match &comparison.new {
            NewProgram::Version(new) => Some(&new.units),
            NewProgram::Unknown(_) => None,
        });
        let units = versions.flatten().map(|unit| &**unit);
        units.filter(move |unit| seen.insert(unit.fingerprint()))
    }
}

/// Why a program is not compared whose records are damaged or of another version.
pub const UNREADABLE: &str = "the history of its units cannot be read";

/// What a selection needs to know of the project, whatever it compares with.
pub struct Project {
    built: BuildState,
    cache: Cache,
    pub files: Files,
    source: Source,
    /// Whether it is to be said what can run after the changes.
    pub wants_affected: bool,
    /// Whether all changed procedures are to be shown.
    pub wants_pairs: bool,
    /// Whether it is to be said which changes no test is known to reach.
    pub wants_unreached: bool,
    /// Whether the project was built right before.
    pub has_just_built: bool,
    /// The tests that are asked about, by name.
    pub asked: Vec<String>,
    /// Whether these are compared also if they are other tests now: that selects them, and
    /// what else would is to be told.
    pub looks_past_tests: bool,
}

impl Project {
    pub fn look_at(workspace: &Workspace, source: Source) -> anyhow::Result<Self> {
        sources::small_pages(source == Source::Sources);
        let (built, mut cache) =
            rayon::join(|| BuildState::read(workspace), || Cache::open(workspace));
        let built = built?;
        let files = Files::scan_knowing(workspace, &built, &mut cache.contents, cache.began)?;
        Ok(Self {
            built,
            cache,
            files,
            source,
            wants_affected: false,
            wants_pairs: false,
            wants_unreached: false,
            has_just_built: false,
            asked: Vec::new(),
            looks_past_tests: false,
        })
    }
}

/// Selects among `tests`.
pub fn select(
    workspace: &Workspace,
    history: &History,
    tests: &[TestCase],
    project: Project,
    algorithm: Algorithm,
) -> anyhow::Result<Selected> {
    let Project { built, mut cache, files, source, wants_affected, .. } = project;
    let (asked, past) = (project.asked, project.looks_past_tests);
    let asked = asked.iter().filter_map(|name| tests.iter().position(|test| test.name == *name));
    let asked: Vec<TestId> = asked.map(TestId::new).collect();
    let mut selection = Selection {
        workspace,
        built: &built,
        history,
        tests,
        reasons: BTreeMap::new(),
        passed_over: Vec::new(),
        hints: Vec::new(),
        has_just_built: project.has_just_built,
    };
    if history.is_empty() {
        for index in 0..tests.len() {
            selection.add(TestId::new(index), Reason::NoHistory);
        }
        let hint = String::from(NO_HISTORY);
        selection.hints.push(hint);
        return selection.finish(Parts::default(), files);
    }
    let candidates = selection.by_state(&files.now, if past { &asked } else { &[] })?;
    let programs = selection.programs(&candidates)?;
    selection.by_loaded(&candidates, &mut cache)?;
    if algorithm == Algorithm::All {
        selection.add_all(&candidates, &Reason::All);
    }
    let outside = LoadedNames::new(&workspace.project.root, history, &candidates, &programs);
    let mut parts = Parts::default();
    let mut from_sources = None;
    let (concerned, mut unit_files) = match source {
        Source::Sources => {
            let project = &workspace.project;
            let follows_calls = algorithm.follows_calls();
            let extent =
                if follows_calls || wants_affected { Extent::Whole } else { Extent::Concerned };
            let listed = listed::units(workspace);
            let mut sources =
                FromSources::analyse(project, history, &mut cache, &programs, &listed)?;
            let concerned =
                concerned::comparisons(history, &cache.summaries, &programs, &mut sources, extent)?;
            let FromSources { mut files, units, fresh, effort, .. } = sources;
            from_sources = Some((units, effort));
            for unit in &fresh {
                if is_harmless(unit, &programs, &cache.summaries, &outside) {
                    files.all.extend(files_read(unit).cloned());
                    files.sources.insert(unit.key.source.clone());
                }
            }
            (concerned, files)
        }
        Source::Build => {
            if let Some(code) = built.failed {
                let hint = "programs may not be what their sources make";
                selection.hints.push(format!("the last build failed with code {code}: {hint}"));
            }
            let compared = from_build(workspace, history, &programs)?;
            for (program, why) in
                stale::programs(&workspace.project, &built, &compared.0, &mut cache)
            {
                selection.add_stale(&programs[&program], &why);
            }
            compared
        }
    };
    // Meanwhile: nobody waits for it but the end.
    let saving = std::thread::spawn(move || cache.save());
    for Concerned { program: id, comparison } in concerned {
        if let Some(comparison) = comparison {
            parts.comparisons.push(comparison);
            parts.programs.push(id);
            continue;
        }
        let (program, tests) = &programs[&id];
        for test in tests {
            let what = String::from(UNREADABLE);
            let (program, by) = (program.path.clone(), Rule::UnknownProgram);
            selection.add(*test, Reason::Program { program, what, by });
        }
    }
    let named = candidates.iter().map(|(id, _)| (*id, tests[id.ix()].name.as_str()));
    let matrix = HistoryMatrix::new(history, named);
    let excluded = workspace.config.excluded()?;
    if !excluded.is_empty() {
        selection.note_edits(&candidates, &files.now, &mut parts.comparisons)?;
    }
    let strict_lines = workspace.config.strict_lines;
    let calls = HistoryCalls::new(workspace, history, &programs);
    let options = Options {
        algorithm,
        strict_lines,
        exclusion: &excluded,
        calls: &calls,
        asked: &asked,
        wants_affected,
        wants_pairs: project.wants_pairs,
        wants_unreached: project.wants_unreached,
    };
    let outcome = select::compare(&parts.comparisons, &matrix, &outside, options);
    matrix.finish()?;
    // What is built shows what became part of a program.
    if source == Source::Sources {
        for (number, what) in select::link::joined(&parts.comparisons, &outside) {
            let Comparison { old, tests, .. } = &parts.comparisons[number];
            for test in tests {
                let (program, what) = (old.path.clone(), what.clone());
                selection.add(*test, Reason::Program { program, what, by: Rule::Link });
            }
        }
    }
    for (test, reasons) in outcome.selected {
        let known = selection.reasons.entry(test).or_default();
        known.extend(reasons);
        keep_once(known);
    }
    selection.passed_over.extend(outcome.passed_over);
    unit_files.follow_links(&workspace.project);
    selection.by_files(&candidates, &files.now, &unit_files, source)?;
    selection.by_excluded_files(&parts.comparisons, &excluded);
    parts.dangerous = outcome.dangerous;
    parts.pairs = outcome.pairs;
    parts.unreached = outcome.unreached;
    let shown = parts.pairs.iter().flat_map(|pair| &pair.dangers).map(|(edge, _)| edge);
    if parts.dangerous.iter().chain(shown).any(Macros::has_more_of) {
        let then = history.common_files()?;
        let Selection { reasons, passed_over, .. } = &mut selection;
        Macros::new(&workspace.project.root, &then, &files.now).name_in(
            reasons,
            passed_over,
            &mut parts.dangerous,
            &mut parts.pairs,
        );
    }
    parts.analysed = outcome.analysed;
    parts.map = outcome.map;
    parts.affected = outcome.affected;
    parts.statistics = outcome.statistics;
    sources::small_pages(false);
    parts.effort = from_sources.map(|(units, effort)| Effort {
        units_read: units.count(),
        procedures_decoded: units.procedures_decoded(),
        ..effort
    });
    let selected = selection.finish(parts, files);
    let _ = saving.join();
    selected
}

/// Whether a unit that no program has would change none if it became part of it:
/// nobody knows the names that it defines, and it does nothing by itself.
fn is_harmless(
    unit: &UnitIndex,
    programs: &Programs,
    summaries: &Summaries,
    outside: &LoadedNames<'_>,
) -> bool {
    if unit.composition != select::program::empty_composition() {
        return false;
    }
    let procedures = unit.procedures.iter().filter(|procedure| !procedure.is_static);
    let variables = unit.definitions.iter().map(|d| &unit.symbols[d.symbol as usize]);
    let variables = variables.filter(|symbol| !symbol.is_static).map(|symbol| &symbol.name);
    let defined: HashSet<&str> =
        procedures.map(|p| &p.name).chain(variables).map(String::as_str).collect();
    let mut known = programs.values().flat_map(|(program, _)| {
        let units = program.units.iter().filter_map(|id| summaries.unit(*id));
        let names = units.flat_map(|unit| unit.names.lines());
        names.chain(program.outside_names.iter().map(String::as_str))
    });
    !known.any(|name| defined.contains(name))
        && !defined.iter().any(|name| outside.anyone_uses(name))
}

/// All programs as they are built, with the files of their units.
fn from_build(
    workspace: &Workspace,
    history: &History,
    programs: &Programs,
) -> anyhow::Result<(Vec<Concerned>, UnitFiles)> {
    let units = OldUnits::read(history, programs.values().map(|(program, _)| program.clone()))?;
    let compared = programs.iter().map(|(id, (program, tests))| {
        let comparison = units.program(program).map(|old| {
            let new = snapshot::from_build(&workspace.project, program);
            Comparison { old, new, tests: tests.clone(), edits: Edits::default() }
        });
        Concerned { program: *id, comparison }
    });
    let concerned: Vec<Concerned> = compared.collect();
    let comparisons = concerned.iter().filter_map(|concerned| concerned.comparison.as_ref());
    let files = unit_files(&units, comparisons);
    Ok((concerned, files))
}

/// Files of the units of both versions.
fn unit_files<'c>(old: &OldUnits, comparisons: impl Iterator<Item = &'c Comparison>) -> UnitFiles {
    let mut files = UnitFiles { all: HashSet::new(), sources: HashSet::new() };
    let new = comparisons.filter_map(|comparison| match &comparison.new {
        NewProgram::Version(new) => Some(&new.units),
        NewProgram::Unknown(_) => None,
    });
    for unit in old.values().chain(new.flatten()) {
        files.all.extend(files_read(&unit.index).cloned());
        files.sources.insert(unit.index.key.source.clone());
    }
    files
}
