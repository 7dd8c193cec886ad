//! One program against its successor, procedure by procedure: the walk from its
//! roots and the rest, or each changed procedure by itself.

use super::algorithm::{self, Algorithm};
use super::callers::Way;
use super::changes::ChangedDefinitions;
use super::exclude::{self, Excluded, PassedOver};
use super::explain;
use super::matrix::{Matrix, Taken};
use super::one_path;
use super::pairs::{Because, PairGraph};
use super::path;
use super::program::{Analysed, ComparedPair, Comparison, Options, Outcome, pair_units, unparsed};
use super::reason::{EdgeReason, Reason};
use super::rule::Rule;
use super::version::{ProcRef, ProgramVersion};
use super::walk::{ProcPair, Walk};
use crate::ids::{TestId, UnitIx};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;

pub struct ProgramSelection<'a> {
    pub(super) comparison: &'a Comparison,
    pub(super) new: &'a ProgramVersion,
    matrix: &'a dyn Matrix,
    changed: &'a ChangedDefinitions,
    options: Options<'a>,
    pub(super) walk: Walk<'a>,
    pairing: Vec<Option<UnitIx>>,
    /// How many opened pairs were judged.
    judged: usize,
    /// What runs of procedures leave may be read as paths.
    keeps_to_paths: bool,
    pub(super) outcome: &'a mut Outcome,
}

impl<'a> ProgramSelection<'a> {
    pub fn new(
        comparison: &'a Comparison,
        new: &'a ProgramVersion,
        matrix: &'a dyn Matrix,
        changed: &'a ChangedDefinitions,
        options: Options<'a>,
        outcome: &'a mut Outcome,
    ) -> Self {
        let old = &comparison.old;
        let excluded = Excluded { exclusion: options.exclusion, edits: &comparison.edits };
        Self {
            comparison,
            new,
            matrix,
            changed,
            options,
            walk: Walk::new(old, new, changed, excluded, options),
            pairing: pair_units(old, new),
            judged: 0,
            keeps_to_paths: one_path::keeps_to_paths(old),
            outcome,
        }
    }

    pub fn run(&mut self) {
        if self.options.algorithm.follows_calls() {
            for root in self.roots() {
                self.walk.from_root(root);
            }
            self.judge();
        }
        self.rest();
        // Without the old graph there are no edges to say who took them.
        let opened = &self.walk.opened;
        if opened.iter().any(|(pair, _)| self.comparison.old.graph(pair.0).is_none()) {
            let what = "its old graphs cannot be read";
            self.outcome.select_all(self.comparison, Rule::UnknownProgram, what);
        }
        let statistics = &mut self.outcome.statistics;
        statistics.procedures_analysed += self.walk.opened.len();
        statistics.line_numbers_only += self.walk.lines_only;
        for (pair, _) in &self.walk.opened {
            let graph = &self.walk.graphs[pair];
            statistics.pairs_visited += graph.nodes.len();
            statistics.dangerous_edges += graph.rejects.len();
            statistics.multiply_visited_procedures += usize::from(graph.is_multiply_visited);
            self.outcome.analysed.push(Analysed {
                program: self.comparison.old.path.clone(),
                procedure: self.comparison.old.procedure(pair.0).name.clone(),
                status: self.walk.proctable[pair],
                multiply_visited: graph.is_multiply_visited,
            });
        }
    }

    /// Where control enters by itself: main, and constructors.
    fn roots(&self) -> Vec<ProcPair> {
        let old = &self.comparison.old;
        let mut roots = Vec::new();
        if let (Some(main), Some(counterpart)) = (old.global("main"), self.new.global("main")) {
            roots.push((main, counterpart));
        }
        for procedure in old.procedures() {
            if old.procedure(procedure).is_constructor
                && let Some(counterpart) = self.counterpart(procedure)
            {
                roots.push((procedure, counterpart));
            }
        }
        roots
    }

    /// The procedure that stands for an old one when nobody calls it by name.
    pub(super) fn counterpart(&self, procedure: ProcRef) -> Option<ProcRef> {
        let old = self.comparison.old.procedure(procedure);
        let in_unit = self.pairing[procedure.unit.ix()].and_then(|unit| {
            let (before, after) = (self.comparison.old.unit(procedure.unit), self.new.unit(unit));
            if before.fingerprint() == after.fingerprint() {
                return Some(ProcRef { unit, procedure: procedure.procedure });
            }
            let at = after.named(&old.name, old.is_static)?;
            Some(ProcRef { unit, procedure: at })
        });
        in_unit.or_else(|| (!old.is_static).then(|| self.new.global(&old.name)).flatten())
    }

    /// Changed procedures that no walk reached: for one that follows calls, those
    /// that were entered through a pointer, from a library, as a handler. The trace
    /// knows who entered them, so each is compared from its own entry.
    fn rest(&mut self) {
        for (number, unit) in self.comparison.old.units.iter().enumerate() {
            let number = UnitIx::new(number);
            if self.is_unit_as_it_was(number) {
                continue;
            }
            for procedure in unit.procedures(number) {
                self.compare(procedure);
            }
        }
    }

    /// Whether nothing in a unit can behave otherwise.
    fn is_unit_as_it_was(&self, unit: UnitIx) -> bool {
        let index = &self.comparison.old.unit(unit).index;
        let is_same = self.pairing[unit.ix()]
            .is_some_and(|successor| self.new.unit(successor).fingerprint() == index.fingerprint);
        is_same
            && (self.changed.is_empty()
                || index.symbols.iter().all(|s| self.changed.of_symbol(&index.key, s).is_none()))
    }

    fn compare(&mut self, procedure: ProcRef) {
        let Some(counterpart) = self.counterpart(procedure) else {
            self.select_gone(procedure);
            return;
        };
        let pair = (procedure, counterpart);
        if self.walk.proctable.contains_key(&pair)
            || !self.differs(pair)
            || !(self.walk.is_excluded(pair) || self.someone_unselected_entered(procedure))
        {
            return;
        }
        if self.options.algorithm == Algorithm::Procedure {
            self.select_entered(pair);
            return;
        }
        self.walk.from_root(pair);
        self.judge();
    }

    /// Compares those of the changed procedures that nobody would be selected for who
    /// is not selected already.
    fn compare_for_show(&mut self) {
        let units = self.comparison.old.units.iter().enumerate();
        let units = units.map(|(number, unit)| (UnitIx::new(number), unit));
        let unparsed = match self.changed.is_unknown() {
            true => unparsed(&self.comparison.old, self.new),
            false => FxHashSet::default(),
        };
        let changed = units.filter(|(number, unit)| {
            !self.is_unit_as_it_was(*number) && !unparsed.contains(&unit.index.key)
        });
        let procedures: Vec<ProcRef> =
            changed.flat_map(|(number, unit)| unit.procedures(number)).collect();
        for procedure in procedures {
            if let Some(counterpart) = self.counterpart(procedure)
                && self.differs((procedure, counterpart))
            {
                self.walk.from_root((procedure, counterpart));
            }
        }
    }

    /// Hands over the graphs of all pairs. What is found here that was not judged
    /// says more of tests that are selected, if all pairs are to be shown, and selects nobody.
    pub fn keep_pairs(mut self, comparison: usize) {
        self.compare_for_show();
        let opened: Vec<ProcPair> = self.walk.opened.iter().map(|(pair, _)| *pair).collect();
        for (place, pair) in opened.into_iter().enumerate() {
            let tests = self.tests_behind(pair);
            let dangers: Vec<_> = self.reasons(pair, &tests).into_iter().zip(tests).collect();
            let is_excluded = self.walk.is_excluded(pair);
            if self.options.wants_pairs && place >= self.judged && !is_excluded {
                for (reason, tests) in &dangers {
                    for (reason, tests) in self.told(pair, reason, tests) {
                        for test in &tests {
                            if let Some(known) = self.outcome.selected.get_mut(test) {
                                known.push(reason.clone());
                            }
                        }
                    }
                }
            }
            if let Some(graph) = self.walk.graphs.remove(&pair) {
                let (old, new) = pair;
                let pair = ComparedPair { comparison, old, new, graph, dangers, is_excluded };
                self.outcome.pairs.push(pair);
            }
        }
    }

    /// Whether a procedure may behave otherwise, as far as the index tells.
    pub(super) fn differs(&self, (old, new): ProcPair) -> bool {
        let before = self.comparison.old.procedure(old);
        if before.fingerprint != self.new.procedure(new).fingerprint {
            return true;
        }
        let index = &self.comparison.old.unit(old.unit).index;
        let successor = &self.new.unit(new.unit).index;
        if index.key != successor.key {
            return true;
        }
        before.mentions.iter().any(|mention| {
            self.changed.of_symbol(&index.key, &index.symbols[*mention as usize]).is_some()
        })
    }

    /// What tests did in a procedure.
    fn rows(&self, procedure: ProcRef) -> Rc<Vec<Taken>> {
        let unit = self.comparison.old.unit(procedure.unit);
        let edges = unit.procedure(procedure.procedure).edge_count as usize;
        self.matrix.rows(unit.fingerprint(), procedure.procedure, edges)
    }

    fn someone_unselected_entered(&self, procedure: ProcRef) -> bool {
        let is_selected = |test: &TestId| self.outcome.selected.contains_key(test);
        self.rows(procedure).iter().any(|row| !row.tests.iter().all(is_selected))
    }

    fn select_gone(&mut self, procedure: ProcRef) {
        let unit = self.comparison.old.unit(procedure.unit);
        let reason = Reason::ProcedureGone {
            program: self.comparison.old.path.clone(),
            procedure: unit.procedure(procedure.procedure).name.clone(),
            old: explain::procedure_line(unit, procedure),
        };
        let is_excluded = self.walk.was_excluded(procedure);
        self.select_all_who_entered(procedure, reason, is_excluded);
    }

    fn select_entered(&mut self, (old, new): ProcPair) {
        let program = &self.comparison.old;
        let reason = Reason::Procedure {
            program: program.path.clone(),
            procedure: program.procedure(old).name.clone(),
            old: explain::procedure_line(program.unit(old.unit), old),
            new: explain::procedure_line(self.new.unit(new.unit), new),
        };
        let is_passed = self.walk.is_excluded((old, new)) && self.is_edited((old, new));
        self.select_all_who_entered(old, reason, is_passed);
    }

    /// Whether nothing but edits of excluded code makes a procedure of it another
    /// one.
    fn is_edited(&self, (old, new): ProcPair) -> bool {
        let (before, after) = (self.comparison.old.procedure(old), self.new.procedure(new));
        let graphs = self.comparison.old.graph(old).zip(self.new.graph(new));
        let excluded = self.changed_by_exclusion(old, &before.mentions);
        match before.fingerprint == after.fingerprint {
            true => excluded == Some(true),
            false => {
                excluded != Some(false)
                    && graphs.is_some_and(|(old, new)| exclude::texts_differ(old, new))
            }
        }
    }

    /// Whether all those changes of what is mentioned are excluded, if there are any.
    fn changed_by_exclusion(&self, procedure: ProcRef, mentions: &[u32]) -> Option<bool> {
        let index = &self.comparison.old.unit(procedure.unit).index;
        let symbols = mentions.iter().map(|mention| &index.symbols[*mention as usize]);
        let changes = symbols.filter_map(|symbol| self.changed.is_excluded(&index.key, symbol));
        changes.reduce(|all, this| all && this)
    }

    fn select_all_who_entered(&mut self, procedure: ProcRef, reason: Reason, is_excluded: bool) {
        let rows = self.rows(procedure);
        let tests: Vec<TestId> = rows.iter().flat_map(|row| &row.tests).copied().collect();
        self.select_all(&tests, reason, is_excluded);
    }

    /// Selects tests, or says of excluded code that it would have.
    fn select_all(&mut self, tests: &[TestId], reason: Reason, is_excluded: bool) {
        if is_excluded {
            let tests = tests.to_vec();
            self.outcome.passed_over.push(PassedOver { change: reason, tests });
            return;
        }
        for test in tests {
            self.outcome.select(*test, reason.clone());
        }
    }

    /// Whether a rejected edge of excluded code selects nobody.
    fn is_passed(&self, pair: ProcPair, graph: &PairGraph, place: usize) -> bool {
        let graphs = self.comparison.old.graph(pair.0).zip(self.new.graph(pair.1));
        let Some((old, new)) = graphs.filter(|_| self.walk.is_excluded(pair)) else {
            return false;
        };
        let reject = &graph.rejects[place];
        // A definition may be part of the type, and so of what the node means.
        let may_be_defined = matches!(reject.because, Because::Definition(_) | Because::Node);
        let mentions = &old.node(old.edge(reject.edge).to).mentions;
        exclude::leads_to_other_text(old, new, graph, place)
            || may_be_defined && self.changed_by_exclusion(pair.0, mentions) == Some(true)
    }

    /// Selects by the pairs that were opened since the last time.
    fn judge(&mut self) {
        let fresh: Vec<ProcPair> =
            self.walk.opened[self.judged..].iter().map(|(pair, _)| *pair).collect();
        self.judged = self.walk.opened.len();
        for pair in fresh {
            if !self.walk.graphs[&pair].rejects.is_empty() {
                self.judge_pair(pair);
            }
        }
    }

    fn judge_pair(&mut self, pair: ProcPair) {
        let tests = self.tests_behind(pair);
        let reasons = self.reasons(pair, &tests);
        let graph = &self.walk.graphs[&pair];
        let passed: Vec<bool> =
            (0..reasons.len()).map(|place| self.is_passed(pair, graph, place)).collect();
        for ((reason, tests), is_passed) in reasons.into_iter().zip(tests).zip(passed) {
            if is_passed {
                self.select_all(&tests, Reason::Edge(Arc::new(reason)), is_passed);
                continue;
            }
            for (told, tests) in self.told(pair, &reason, &tests) {
                self.select_all(&tests, told, is_passed);
            }
            self.outcome.dangerous.push(reason);
        }
    }

    /// The reason for tests of this program, and for tests that ran its code in another
    /// program: these get the calls of the program that they ran.
    fn told(
        &self,
        pair: ProcPair,
        reason: &EdgeReason,
        tests: &[TestId],
    ) -> Vec<(Reason, Vec<TestId>)> {
        let (own, mut others): (Vec<TestId>, Vec<TestId>) =
            tests.iter().partition(|test| self.ran_this(**test));
        let mut told = vec![(reason.clone(), own)];
        let unit = self.comparison.old.unit(pair.0.unit).fingerprint();
        if !others.is_empty() {
            for (program, tests) in self.options.calls.programs(unit, &others) {
                let asked = tests.iter().find(|test| self.options.asked.contains(test));
                let chain = self.calls_of(&program, pair, asked.or(tests.first()).copied());
                others.retain(|test| tests.binary_search(test).is_err());
                told.push((EdgeReason { program, chain, ..reason.clone() }, tests));
            }
        }
        let alone = vec![reason.procedure.clone()];
        told.push((EdgeReason { chain: alone, ..reason.clone() }, others));
        told.retain(|(_, tests)| !tests.is_empty());
        told.into_iter().map(|(reason, tests)| (Reason::Edge(Arc::new(reason)), tests)).collect()
    }

    /// Whether a test ran this program. The rows of a unit are those of all programs that
    /// have it.
    fn ran_this(&self, test: TestId) -> bool {
        self.comparison.tests.binary_search(&test).is_ok()
    }

    /// A reason for each rejected edge of a pair, with the tests that are selected for it.
    /// They share it, so the calls in it are those of one of them that ran this program: of the
    /// test that is asked about, or of the first.
    fn reasons(&self, pair: ProcPair, tests: &[Vec<TestId>]) -> Vec<EdgeReason> {
        let graph = &self.walk.graphs[&pair];
        let mut chains: FxHashMap<Option<TestId>, Vec<String>> = FxHashMap::default();
        let asked = self.options.asked;
        let reason = |(reject, tests): (_, &Vec<TestId>)| {
            let mut own = tests.iter().copied().filter(|test| self.ran_this(*test)).peekable();
            let first = own.peek().copied();
            let own = own.find(|test| asked.contains(test)).or(first);
            let chain = chains.entry(own).or_insert_with(|| self.chain(pair, own)).clone();
            let reason = explain::edge_reason(&self.comparison.old, self.new, pair, reject);
            EdgeReason { chain, ..reason }
        };
        graph.rejects.iter().zip(tests).map(reason).collect()
    }

    /// The tests that are selected for each rejected edge of a pair.
    fn tests_behind(&self, pair: ProcPair) -> Vec<Vec<TestId>> {
        let graph = &self.walk.graphs[&pair];
        let mut tests: Vec<Vec<TestId>> = vec![Vec::new(); graph.rejects.len()];
        if graph.rejects.is_empty() {
            return tests;
        }
        for row in self.rows(pair.0).iter() {
            for (selected, rejects) in self.verdicts(pair, graph, row) {
                rejects.iter().for_each(|place| tests[*place as usize].extend(&selected));
            }
        }
        tests.iter_mut().for_each(|tests| tests.sort_unstable());
        tests
    }

    /// The rejected edges for which tests that took the same edges are selected.
    fn verdicts(
        &self,
        pair: ProcPair,
        graph: &PairGraph,
        row: &Taken,
    ) -> Vec<(Vec<TestId>, Vec<u32>)> {
        let Some(old) = self.comparison.old.graph(pair.0) else { return Vec::new() };
        let algorithm = self.options.algorithm;
        let unit = self.comparison.old.unit(pair.0.unit).fingerprint();
        let procedure = pair.0.procedure;
        let can_be_one_path = self.keeps_to_paths && one_path::is_exact(old);
        let mut by_verdict: Vec<(Vec<TestId>, Vec<u32>)> = Vec::new();
        let mut known: FxHashMap<bool, Vec<u32>> = FxHashMap::default();
        for test in &row.tests {
            let is_one_path = can_be_one_path && self.matrix.is_one_entry(*test, unit, procedure);
            let mut rejects = known
                .entry(is_one_path)
                .or_insert_with(|| {
                    let sharpness = algorithm.sharpness(graph, is_one_path);
                    algorithm::rejected(sharpness, old, graph, &row.edges)
                })
                .clone();
            if algorithm == Algorithm::Path
                && !rejects.is_empty()
                && let Some(paths) = self.matrix.paths(*test, unit, procedure)
            {
                rejects = path::rejected(old, graph, &row.edges, &paths);
            }
            match by_verdict.iter_mut().find(|(_, known)| *known == rejects) {
                Some((tests, _)) => tests.push(*test),
                None => by_verdict.push((vec![*test], rejects)),
            }
        }
        by_verdict
    }

    /// The calls that lead to a procedure in a program, as a test came there.
    fn calls_of(&self, program: &str, pair: ProcPair, test: Option<TestId>) -> Vec<String> {
        let unit = self.comparison.old.unit(pair.0.unit).fingerprint();
        let took = |test| move |unit, procedure| self.matrix.took(test, unit, procedure);
        let took = test.map(|test| (test, took(test)));
        let way = took.as_ref().map(|(test, took)| Way { test: *test, took });
        self.options.calls.chain(program, unit, pair.0.procedure, way.as_ref())
    }

    /// The calls that lead to a procedure: as the walk found it, or as a test came there.
    fn chain(&self, pair: ProcPair, test: Option<TestId>) -> Vec<String> {
        let program = &self.comparison.old;
        if !self.options.algorithm.follows_calls() {
            return self.calls_of(&program.path, pair, test);
        }
        let callers: FxHashMap<ProcPair, Option<ProcPair>> =
            self.walk.opened.iter().copied().collect();
        let mut chain = Vec::new();
        let mut at = Some(pair);
        while let Some(pair) = at {
            chain.push(program.procedure(pair.0).name.clone());
            at = callers.get(&pair).copied().flatten();
        }
        chain.reverse();
        chain
    }
}
