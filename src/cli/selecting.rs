//! Puts together what a selection needs: the tests, the history, the state of
//! the files, and both versions of the programs.

use super::build_state::BuildState;
use super::cache::Cache;
use super::calls::HistoryCalls;
use super::concerned::{self, Concerned, Extent};
use super::excluding::Excluded;
use super::files::{self, Files};
use super::listed;
use super::made_of::MadeOf;
use super::matrix::HistoryMatrix;
use super::naming::Macros;
use super::outside::LoadedNames;
use super::roles::{self, Role, UnitFiles};
use super::snapshot::{self, Effort, OldUnits, Source};
use super::sources::{self, FromSources, Programs};
use super::stale;
use super::summary::{Summaries, files_read};
use super::unprobed::Affected;
use super::uses::{self, Seen};
use super::workspace::Workspace;
use crate::cfg::format::UnitIndex;
use crate::history::History;
use crate::history::format::{FileState, Outcome, Program, Test};
use crate::history::store::StoreError;
use crate::ids::{Fingerprint, TestId};
use crate::report::{ExcludedChange, Report};
use crate::select::reason::keep_once;
use crate::select::unreached::Unreached;
use crate::select::version::UnitVersion;
use crate::select::{
    self, Algorithm, ComparedPair, Comparison, Edits, Exclusion, NewProgram, Options, PassedOver,
    Reason, Rule,
};
use crate::suite::TestCase;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

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
    };
    if history.is_empty() {
        for index in 0..tests.len() {
            selection.add(TestId::new(index), Reason::NoHistory);
        }
        let hint = String::from("there is no history yet: `edgewise run` records one");
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
    let (concerned, unit_files) = match source {
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
            let built = from_build(workspace, history, &programs)?;
            for (program, file) in stale::programs(&workspace.project, &built.0, &mut cache) {
                selection.add_stale(&programs[&program], &file);
            }
            built
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

#[derive(Default)]
struct Parts {
    comparisons: Vec<Comparison>,
    programs: Vec<Fingerprint>,
    map: crate::history::carry::EntityMap,
    affected: Affected,
    pairs: Vec<ComparedPair>,
    unreached: Vec<Unreached>,
    statistics: select::Statistics,
    dangerous: Vec<select::EdgeReason>,
    analysed: Vec<select::program::Analysed>,
    effort: Option<Effort>,
}

struct Selection<'a> {
    workspace: &'a Workspace,
    built: &'a BuildState,
    history: &'a History,
    tests: &'a [TestCase],
    reasons: BTreeMap<TestId, Vec<Reason>>,
    /// Changes in excluded code.
    passed_over: Vec<PassedOver>,
    hints: Vec<String>,
}

impl<'a> Selection<'a> {
    fn add(&mut self, test: TestId, reason: Reason) {
        let reasons = self.reasons.entry(test).or_default();
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }

    fn add_all(&mut self, tests: &[(TestId, &Test)], reason: &Reason) {
        for (test, _) in tests {
            self.add(*test, reason.clone());
        }
    }

    /// Selects tests for what they are, and returns those whose trace counts. That of these
    /// counts also if they are others now.
    fn by_state(
        &mut self,
        files: &FileState,
        past: &[TestId],
    ) -> anyhow::Result<Vec<(TestId, &'a Test)>> {
        let mut candidates = Vec::new();
        let mut made_of = MadeOf::new(files);
        for (index, test) in self.tests.iter().enumerate() {
            let id = TestId::new(index);
            match self.history.test(&test.name) {
                None => self.add(id, Reason::NewTest),
                Some(known) if known.fingerprint != made_of.fingerprint(test)? => {
                    let what = made_of.difference(test, known, self.history)?;
                    self.add(id, Reason::TestChanged { what });
                    if past.contains(&id) && state_of_run(known).is_none() {
                        candidates.push((id, known));
                    }
                }
                Some(known) => match state_of_run(known) {
                    Some(what) => self.add(id, Reason::State { what }),
                    None => candidates.push((id, known)),
                },
            }
        }
        Ok(candidates)
    }

    /// Selects who ran a program that is not what its sources make.
    fn add_stale(&mut self, (program, tests): &(Program, Vec<TestId>), file: &str) {
        let what = format!("it was not built from {file} as that is now");
        for test in tests {
            let (program, by) = (program.path.clone(), Rule::StaleProgram);
            self.add(*test, Reason::Program { program, what: what.clone(), by });
        }
        self.hint(&format!(
            "{}: {what}. Build it; if the build finds nothing to do, clean first",
            program.path
        ));
    }

    /// Programs that candidates ran, with who ran them.
    fn programs(
        &self,
        candidates: &[(TestId, &Test)],
    ) -> Result<BTreeMap<Fingerprint, (Program, Vec<TestId>)>, StoreError> {
        let mut programs: BTreeMap<Fingerprint, (Program, Vec<TestId>)> = BTreeMap::new();
        for (id, test) in candidates {
            for program in &test.programs {
                if let Some((_, tests)) = programs.get_mut(program) {
                    tests.push(*id);
                } else {
                    let read = self.history.program(*program)?;
                    programs.insert(*program, (read, vec![*id]));
                }
            }
        }
        Ok(programs)
    }

    fn by_files(
        &mut self,
        candidates: &[(TestId, &Test)],
        now: &FileState,
        units: &UnitFiles,
        source: Source,
    ) -> anyhow::Result<()> {
        let mut by_state: BTreeMap<Fingerprint, Vec<(TestId, &Test)>> = BTreeMap::new();
        for candidate in candidates {
            by_state.entry(candidate.1.files).or_default().push(*candidate);
        }
        let excluded = self.workspace.config.excluded()?;
        // By what is to be said: the uses that it is about.
        let mut passed_over: BTreeMap<String, Vec<Fingerprint>> = BTreeMap::new();
        let mut seen = Seen::new(self.workspace, now)?;
        let mut changes: FxHashMap<Fingerprint, (Option<String>, bool)> = FxHashMap::default();
        for (id, test) in candidates {
            let (change, _) = match changes.entry(test.uses) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => {
                    let uses = self.history.uses(test.uses)?;
                    for what in seen.excluded_changes(&uses, &excluded) {
                        passed_over.entry(what).or_default().push(test.uses);
                    }
                    place.insert((seen.change(&uses, &excluded), uses.incomplete.is_none()))
                }
            };
            if let Some(what) = change.clone() {
                self.add(*id, Reason::Files { what, by: Rule::UsedFile });
            }
        }
        for (what, uses) in passed_over {
            let tests = candidates.iter().filter(|(_, test)| uses.contains(&test.uses));
            let tests: Vec<TestId> = tests.map(|(id, _)| *id).collect();
            let change = Reason::Files { what, by: Rule::UsedFile };
            self.passed_over.push(PassedOver { change, tests });
        }
        let is_complete = |test: &Test| changes.get(&test.uses).is_some_and(|(_, known)| *known);
        // Who runs excluded code that changed may use other files now.
        let doubtful = self.passed_over.iter().flat_map(|passed| passed.tests.iter().copied());
        let doubtful: HashSet<TestId> = doubtful.collect();
        for (state, tests) in by_state {
            let then = self.history.files(state)?;
            let is_unseen =
                |(id, test): &&(TestId, &Test)| !is_complete(test) || doubtful.contains(id);
            let unseen: Vec<(TestId, &Test)> = tests.iter().filter(is_unseen).copied().collect();
            for (file, role) in
                roles::changes(self.workspace, self.built, &then, now, units, source)?
            {
                let verb = uses::verb(then.contains_key(&file), now.contains_key(&file));
                // Where all that a test uses is known, it is known who uses this.
                let concerned = if role.is_for_all(source) { &tests } else { &unseen };
                if concerned.is_empty() {
                    continue;
                }
                let (what, hint) = roles::explain(&file, verb, role, source);
                if role == Role::Unknown && excluded.holds_file(&file) {
                    let tests = concerned.iter().filter(|(_, test)| !is_complete(test));
                    let tests: Vec<TestId> = tests.map(|(id, _)| *id).collect();
                    if !tests.is_empty() {
                        let change = Reason::Files { what, by: role.rule(source) };
                        self.passed_over.push(PassedOver { change, tests });
                    }
                    continue;
                }
                if let Some(hint) = hint {
                    self.hint(hint);
                }
                self.add_all(concerned, &Reason::Files { what, by: role.rule(source) });
            }
        }
        Ok(())
    }

    /// For each program, what was edited since its tests ran.
    fn note_edits(
        &self,
        candidates: &[(TestId, &Test)],
        now: &FileState,
        comparisons: &mut [Comparison],
    ) -> Result<(), StoreError> {
        let states: FxHashMap<TestId, Fingerprint> =
            candidates.iter().map(|(id, test)| (*id, test.files)).collect();
        for comparison in comparisons {
            let states = comparison.tests.iter().filter_map(|test| states.get(test));
            let mut edits: Option<Edits> = None;
            for state in states.collect::<BTreeSet<_>>() {
                let then = self.history.files(*state)?;
                let files = then.keys().chain(now.keys());
                let edited: FxHashSet<String> =
                    files.filter(|file| then.get(*file) != now.get(*file)).cloned().collect();
                edits = Some(match edits {
                    None => Edits { surely: edited.clone(), perhaps: edited },
                    Some(mut edits) => {
                        edits.surely.retain(|file| edited.contains(file));
                        edits.perhaps.extend(edited);
                        edits
                    }
                });
            }
            comparison.edits = edits.unwrap_or_default();
        }
        Ok(())
    }

    /// A changed excluded script may run whatever program there is.
    fn by_excluded_files(&mut self, comparisons: &[Comparison], excluded: &Excluded) {
        let by_file = self.passed_over.iter();
        let by_file = by_file.filter(|passed| matches!(passed.change, Reason::Files { .. }));
        let tests: BTreeSet<TestId> =
            by_file.flat_map(|passed| passed.tests.iter().copied()).collect();
        if tests.is_empty() {
            return;
        }
        for reason in comparisons.iter().filter_map(|c| select::other_change(c, excluded)) {
            tests.iter().for_each(|test| self.add(*test, reason.clone()));
        }
    }

    fn hint(&mut self, hint: &str) {
        if !self.hints.iter().any(|known| known == hint) {
            self.hints.push(hint.to_string());
        }
    }

    /// Modules that are not analysed: their content as it was then and is now.
    fn by_loaded(
        &mut self,
        candidates: &[(TestId, &Test)],
        cache: &mut Cache,
    ) -> anyhow::Result<()> {
        let mut known: FxHashMap<Fingerprint, Option<String>> = FxHashMap::default();
        let root = self.workspace.project.root.clone();
        for (id, test) in candidates {
            let changed = match known.get(&test.loaded) {
                Some(changed) => changed.clone(),
                None => {
                    let loaded = self.history.files(test.loaded)?;
                    let mut now = |path: &String| {
                        let place = root.join(path);
                        let read = || files::content(&place);
                        // Of what is in the project another content may be known.
                        let name = format!("loaded {path}");
                        let (content, fresh) =
                            cache.contents.look(&name, &place, cache.began, read);
                        fresh.into_iter().for_each(|k| cache.contents.remember(name.clone(), k));
                        content
                    };
                    let changed = loaded
                        .iter()
                        .find(|(path, then)| now(path) != Some(**then))
                        .map(|(path, _)| path.clone());
                    known.insert(test.loaded, changed.clone());
                    changed
                }
            };
            if let Some(path) = changed {
                let what = format!("{path}, which its processes load, is another one");
                self.add(*id, Reason::Files { what, by: Rule::LoadedCode });
            }
        }
        Ok(())
    }

    /// A test whose fixture is selected is, too.
    fn by_dependencies(&mut self) {
        let places: FxHashMap<&str, TestId> =
            (0..).zip(self.tests).map(|(ix, test)| (test.name.as_str(), TestId(ix))).collect();
        let mut users: FxHashMap<TestId, Vec<TestId>> = FxHashMap::default();
        for (ix, test) in (0..).zip(self.tests) {
            // What comes before it may leave something for it.
            let needs = test.needs.iter().chain(&test.after);
            for need in needs.filter_map(|need| places.get(need.as_str())) {
                users.entry(*need).or_default().push(TestId(ix));
            }
        }
        let mut todo: Vec<TestId> = self.reasons.keys().copied().collect();
        while let Some(selected) = todo.pop() {
            for user in users.get(&selected).into_iter().flatten() {
                if !self.reasons.contains_key(user) {
                    let test = self.tests[selected.ix()].name.clone();
                    self.add(*user, Reason::Dependency { test });
                    todo.push(*user);
                }
            }
        }
    }

    fn finish(mut self, parts: Parts, files: Files) -> anyhow::Result<Selected> {
        self.by_dependencies();
        let named = |test: &TestId| self.tests[test.ix()].name.clone();
        let excluded = self.passed_over.iter().map(|PassedOver { change, tests }| ExcludedChange {
            change: change.clone(),
            tests: tests.iter().map(named).collect(),
        });
        let pairs = parts.pairs.iter().filter(|pair| !pair.is_excluded);
        let behind = pairs.flat_map(|pair| &pair.dangers).filter(|(_, tests)| !tests.is_empty());
        let behind = behind.map(|(edge, tests)| (edge.clone(), tests.iter().map(named).collect()));
        let behind = behind.collect();
        let mut report = Report {
            excluded: excluded.collect(),
            hints: self.hints,
            statistics: parts.statistics,
            dangerous: parts.dangerous,
            unreached: parts.unreached,
            behind,
            analysed: parts.analysed,
            effort: parts.effort.map(|e| serde_json::json!(e)),
            ..Report::default()
        };
        let took = |test: &TestCase| {
            let known = self.history.test(&test.name)?;
            Some((test.name.clone(), Duration::from_millis(known.milliseconds)))
        };
        let unanalysed = self.built.unanalysed_sources.iter();
        report.unanalysed.extend(unanalysed.map(|(source, why)| (source.clone(), why.clone())));
        for (index, test) in self.tests.iter().enumerate() {
            match self.reasons.get(&TestId::new(index)) {
                Some(reasons) => {
                    report.selected.push((test.name.clone(), reasons.clone()));
                    report.durations.extend(took(test));
                }
                None => {
                    report.skipped.push(test.name.clone());
                    report.durations_skipped.extend(took(test));
                }
            }
        }
        if report.statistics.line_numbers_only > 0 {
            report.hints.push(String::from(
                "some lines differ by nothing but their number; `strict-lines = true` makes that a change",
            ));
        }
        for comparison in &parts.comparisons {
            if let NewProgram::Unknown(why) = &comparison.new {
                report.hints.push(format!("{}: {why}", comparison.old.path));
            }
        }
        Ok(Selected {
            report,
            comparisons: parts.comparisons,
            programs: parts.programs,
            map: parts.map,
            affected: parts.affected,
            pairs: parts.pairs,
            files,
        })
    }
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
        && !defined.iter().any(|name| outside.anyone_knows(name))
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

/// What there is to say against the run of a test, if anything.
pub fn state_of_run(known: &Test) -> Option<String> {
    Some(match (known.outcome, &known.unclean) {
        (Outcome::Skipped, _) => String::from("it did nothing the last time: skipped by itself"),
        (Outcome::Failed, _) => String::from("it failed the last time"),
        (Outcome::TimedOut, _) => String::from("it ran out of time the last time"),
        (Outcome::Interrupted, _) => String::from("it was interrupted the last time"),
        (Outcome::Passed, Some(why)) => format!("its trace is not complete: {why}"),
        (Outcome::Passed, None) if known.programs.is_empty() => {
            String::from("it left no trace: it ran no instrumented program")
        }
        (Outcome::Passed, None) => return None,
    })
}
