//! The reasons to select each test, gathered from all that may concern it: how it ended,
//! what it used, what its programs load, and what was found in these.

use super::build_state::BuildState;
use super::cache::Cache;
use super::excluding::Excluded;
use super::files::{self, Files};
use super::made_of::MadeOf;
use super::roles::{self, Role, UnitFiles};
use super::selecting::Selected;
use super::snapshot::{Effort, Source};
use super::stale::Stale;
use super::unprobed::Affected;
use super::uses::{self, Seen};
use super::workspace::Workspace;
use crate::bytes;
use crate::history::History;
use crate::history::format::{FileState, Outcome, Program, Test};
use crate::history::store::StoreError;
use crate::ids::{Fingerprint, TestId};
use crate::report::{ExcludedChange, Report};
use crate::select::unreached::Unreached;
use crate::select::{
    self, ComparedPair, Comparison, Edits, Exclusion, NewProgram, PassedOver, Reason, Rule,
};
use crate::suite::TestCase;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

/// What the comparison of the programs came to.
#[derive(Default)]
pub struct Parts {
    pub comparisons: Vec<Comparison>,
    pub programs: Vec<Fingerprint>,
    pub map: crate::history::carry::EntityMap,
    pub affected: Affected,
    pub pairs: Vec<ComparedPair>,
    pub unreached: Vec<Unreached>,
    pub statistics: select::Statistics,
    pub dangerous: Vec<select::EdgeReason>,
    pub analysed: Vec<select::program::Analysed>,
    pub effort: Option<Effort>,
}

/// A selection while it is made.
pub struct Selection<'a> {
    pub workspace: &'a Workspace,
    pub built: &'a BuildState,
    pub history: &'a History,
    pub tests: &'a [TestCase],
    pub reasons: BTreeMap<TestId, Vec<Reason>>,
    /// Changes in excluded code.
    pub passed_over: Vec<PassedOver>,
    pub hints: Vec<String>,
    /// Whether the project was built right before.
    pub has_just_built: bool,
}

/// What is said after a build that did not take up a change: the same build again does nothing.
const CLEAN: &str = "the last build did not make everything anew: clean first (make clean), then \
                     run `edgewise test`";

impl<'a> Selection<'a> {
    pub fn add(&mut self, test: TestId, reason: Reason) {
        let reasons = self.reasons.entry(test).or_default();
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }

    pub fn add_all(&mut self, tests: &[(TestId, &Test)], reason: &Reason) {
        for (test, _) in tests {
            self.add(*test, reason.clone());
        }
    }

    /// Selects tests for what they are, and returns those whose trace counts. That of these
    /// counts also if they are others now.
    pub fn by_state(
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
    pub fn add_stale(&mut self, (program, tests): &(Program, Vec<TestId>), why: &Stale) {
        let what = format!("it was {why}");
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
    pub fn programs(
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

    pub fn by_files(
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
            self.by_named_code(&unseen, &then, now, units);
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
                let is_left = self.built.left.contains(&file)
                    || role == Role::NotTakenUp && self.has_just_built;
                match hint {
                    Some(_) if is_left => self.hint(CLEAN),
                    Some(hint) => self.hint(hint),
                    None => {}
                }
                self.add_all(concerned, &Reason::Files { what, by: role.rule(source) });
            }
        }
        Ok(())
    }

    /// What units are made of is compared as code. A test whose command names such a file reads
    /// it, if nobody saw what it does.
    fn by_named_code(
        &mut self,
        unseen: &[(TestId, &Test)],
        then: &FileState,
        now: &FileState,
        units: &UnitFiles,
    ) {
        if unseen.is_empty() {
            return;
        }
        let is_changed = |file: &&String| then.get(*file) != now.get(*file);
        for file in units.all.iter().filter(is_changed) {
            let base = file.rsplit('/').next().unwrap_or(file);
            for (id, _) in unseen {
                if self.tests[id.ix()].command.mentions(base) {
                    let verb = uses::verb(then.contains_key(file), now.contains_key(file));
                    let what = format!("{file} {verb}, and its command names it");
                    self.add(*id, Reason::Files { what, by: Rule::UsedFile });
                }
            }
        }
    }

    /// For each program, what was edited since its tests ran.
    pub fn note_edits(
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
    pub fn by_excluded_files(&mut self, comparisons: &[Comparison], excluded: &Excluded) {
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
    pub fn by_loaded(
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
                        let place = root.join(bytes::path(path));
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

    pub fn finish(mut self, parts: Parts, files: Files) -> anyhow::Result<Selected> {
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

/// What there is to say against the run of a test, if anything.
pub fn state_of_run(known: &Test) -> Option<String> {
    Some(match (known.outcome, &known.unclean) {
        (Outcome::Skipped, _) => String::from("it did nothing the last time: skipped by itself"),
        (Outcome::Failed, _) => String::from("it failed the last time"),
        (Outcome::TimedOut, _) => String::from("it ran out of time the last time"),
        (Outcome::Interrupted, _) => String::from("it was interrupted the last time"),
        (Outcome::Unjudged, _) => {
            String::from("its harness has not said whether it passed (`edgewise trace --verdict`)")
        }
        (Outcome::Passed, Some(why)) => format!("its trace is not complete: {why}"),
        (Outcome::Passed, None) if known.programs.is_empty() => {
            String::from("it left no trace: it ran no instrumented program")
        }
        (Outcome::Passed, None) => return None,
    })
}
