//! Puts together what there is to say about one test.

use super::{Basis, is_another};
use crate::bytes;
use crate::cli::gathering::state_of_run;
use crate::cli::reporting::{self, Texts};
use crate::cli::selecting::Selected;
use crate::cli::workspace::Workspace;
use crate::cli::{files, uses, versions};
use crate::history::History;
use crate::history::format::{FileUse, FileUses, Outcome, Test};
use crate::ids::{Fingerprint, ProcIx, UnitIx};
use crate::report::explain::{
    ChangedFile, ChangedProcedure, Diff, Explanation, FileRole, LastRun, ProcedureDiff, ProgramRun,
    Verdict, Version,
};
use crate::report::time;
use crate::select::program::unparsed;
use crate::select::version::{ProcRef, ProgramVersion};
use crate::select::{
    ComparedPair, Comparison, EdgeReason, Exclusion, NewProgram, Reason, SourceLine,
};
use crate::suite::TestCase;
use std::collections::{BTreeSet, HashSet};
use std::ops::Bound;

/// Procedures of which both versions are shown.
const MOST_DIFFS: usize = 3;

impl Basis<'_> {
    /// Explains a test of the selection.
    pub(super) fn test(&self, test: &TestCase) -> anyhow::Result<Explanation> {
        let Self { workspace, history, .. } = *self;
        let name = &test.name;
        let reasons = self.reasons.get(name.as_str()).copied();
        let past_tests =
            self.past_tests.filter(|_| reasons.unwrap_or_default().iter().any(is_another));
        let selected = past_tests.unwrap_or(self.selected);
        let of_past = past_tests.and_then(|past| {
            let mut all = past.report.selected.iter();
            all.find(|(own, _)| own == name).map(|(_, reasons)| &reasons[..])
        });
        let reasons = of_past.or(reasons);
        let verdict = match (&test.disabled, reasons) {
            (Some(_), _) => Verdict::Disabled,
            (None, Some(_)) => Verdict::Selected,
            (None, None) => Verdict::Skipped,
        };
        let excluded = selected.report.excluded.iter();
        let excluded = excluded.filter(|change| change.tests.contains(name));
        let mut explanation = Explanation {
            name: name.clone(),
            verdict,
            reasons: reasons.unwrap_or_default().to_vec(),
            excluded: excluded.map(|change| change.change.clone()).collect(),
            diffs: Vec::new(),
            last: None,
            procedures: Vec::new(),
            files: Vec::new(),
        };
        let Some((number, known)) = history.number(name).zip(history.test(name)) else {
            return Ok(explanation);
        };
        explanation.diffs = self.diffs(selected, &explanation)?;
        let uses = history.uses(known.uses)?;
        let compared = selected.programs.iter().zip(selected.comparisons.iter().enumerate());
        let ran: Vec<(&Fingerprint, (usize, &Comparison))> =
            compared.filter(|(id, _)| known.programs.contains(id)).collect();
        let mut last = last_run(workspace, history, known, &ran, &uses, &explanation.reasons)?;
        self.add_deeds(selected, name, &mut last)?;
        explanation.last = Some(last);
        let excluded = workspace.config.excluded()?;
        // Of one that did not end well it is not known what it ran.
        let has_rows = state_of_run(known).is_none();
        for (_, (place, comparison)) in &ran {
            let pairs: Vec<&ComparedPair> =
                selected.pairs.iter().filter(|pair| pair.comparison == *place).collect();
            for (at, mut changed) in changed_procedures(comparison, &pairs) {
                let unit = comparison.old.unit(at.unit).fingerprint();
                if has_rows {
                    let row = history.row(unit, at.procedure.0, number)?;
                    changed.is_entered = Some(row.is_some_and(|taken| taken.any()));
                }
                changed.is_excluded = excluded.holds(&changed.file, &changed.procedure);
                changed.dangerous = ways(at, &pairs, &explanation);
                changed.selects =
                    explanation.reasons.iter().any(|reason| is_about(reason, &changed));
                explanation.procedures.push(changed);
            }
        }
        explanation.files = self.changed_files(known, &uses)?;
        Ok(explanation)
    }

    /// Files that changed since a test ran, and what each is to it.
    fn changed_files(&self, known: &Test, used: &FileUses) -> anyhow::Result<Vec<ChangedFile>> {
        let then = self.history.files(known.files)?;
        let now = &self.selected.files.now;
        let excluded = self.workspace.config.excluded()?;
        let code = self.files();
        let (uses, looked_for) = used_and_looked_for(used);
        let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
        // Of a directory with files in it these tell all there is.
        let is_told = |name: &String| {
            let behind = (Bound::Excluded(name), Bound::Unbounded);
            let mut below = names.range::<String, _>(behind);
            name.ends_with('/') && below.next().is_some_and(|next| next.starts_with(name))
        };
        let changed = names.iter().filter(|name| then.get(**name) != now.get(**name));
        let changed = changed.filter(|name| !is_told(name)).map(|name| {
            let role = if files::is_configuration(self.workspace, name) {
                FileRole::Configuration
            } else if code.contains(name.as_str()) {
                match uses.contains(name.as_str()) {
                    true => FileRole::UsedCode,
                    false => FileRole::Code,
                }
            } else if excluded.holds_file(name) {
                FileRole::Excluded
            } else if uses.contains(name.as_str()) {
                FileRole::Used
            } else if looked_for.contains(name.as_str()) {
                FileRole::LookedFor
            } else if used.incomplete.is_some() {
                FileRole::Unknown
            } else {
                FileRole::Unused
            };
            let verb = uses::verb(then.contains_key(*name), now.contains_key(*name));
            ChangedFile { file: name.to_string(), verb, role }
        });
        Ok(changed.collect())
    }

    /// Counts what a test did, and how much of that was compared.
    fn add_deeds(&self, selected: &Selected, name: &str, last: &mut LastRun) -> anyhow::Result<()> {
        let compared: HashSet<(Fingerprint, u32)> = selected
            .pairs
            .iter()
            .map(|pair| {
                let old = &selected.comparisons[pair.comparison].old;
                (old.unit(pair.old.unit).fingerprint(), pair.old.procedure.0)
            })
            .collect();
        for row in self.history.rows(name)? {
            let edges: usize = row.edges.iter().map(|byte| byte.count_ones() as usize).sum();
            last.procedures += 1;
            last.edges += edges;
            if compared.contains(&(row.unit, row.procedure)) {
                last.compared_procedures += 1;
                last.compared_edges += edges;
            }
        }
        Ok(())
    }

    /// Both versions of the first procedures that select a test.
    fn diffs(
        &self,
        selected: &Selected,
        explanation: &Explanation,
    ) -> anyhow::Result<Vec<ProcedureDiff>> {
        let then = self.history.common_files()?;
        let root = &self.workspace.project.root;
        let mut texts = Texts::new(root, &then, &selected.files.now);
        let mut seen = BTreeSet::new();
        let mut diffs = Vec::new();
        for pair in &selected.pairs {
            let comparison = &selected.comparisons[pair.comparison];
            let NewProgram::Version(new) = &comparison.new else { continue };
            let selects = |edge: &EdgeReason| {
                let is_this =
                    |reason: &Reason| matches!(reason, Reason::Edge(other) if **other == *edge);
                explanation.reasons.iter().any(is_this)
            };
            if diffs.len() == MOST_DIFFS || !pair.dangers.iter().any(|(edge, _)| selects(edge)) {
                continue;
            }
            let unit = comparison.old.unit(pair.old.unit);
            let index = comparison.old.procedure(pair.old);
            let (file, procedure) = (unit.file(index.place).to_string(), index.name.clone());
            // It may be part of several programs.
            if !seen.insert((file.clone(), procedure.clone())) {
                continue;
            }
            let (left, right) = reporting::sides_of(
                Some((&comparison.old, pair.old)),
                Some((new, pair.new)),
                &mut texts,
            );
            let diff = Diff::of(&left, &right);
            if !diff.lines.is_empty() {
                diffs.push(ProcedureDiff { procedure, file, diff });
            }
        }
        Ok(diffs)
    }
}

fn last_run(
    workspace: &Workspace,
    history: &History,
    known: &Test,
    ran: &[(&Fingerprint, (usize, &Comparison))],
    uses: &FileUses,
    reasons: &[Reason],
) -> anyhow::Result<LastRun> {
    let mut programs = Vec::new();
    for id in &known.programs {
        let program = history.program(*id)?;
        // Only what a change can concern is compared.
        let changed_units = match ran.iter().find(|(known, _)| *known == id) {
            Some((_, (_, comparison))) => changed_units(comparison),
            // Of tests that are selected for how they ended programs are not looked at.
            None if state_of_run(known).is_some() => None,
            None => {
                let is_named = |reason: &Reason| matches!(reason, Reason::Program { program: path, .. } if *path == program.path);
                (!reasons.iter().any(is_named)).then_some(0)
            }
        };
        programs.push(ProgramRun {
            program: program.path,
            units: program.units.len(),
            changed_units,
        });
    }
    let (mut names, mut looked_for) = used_and_looked_for(uses);
    for names in [&mut names, &mut looked_for] {
        names.retain(|name| !workspace.project.root.join(bytes::path(name)).is_dir());
    }
    // Of a test that did not pass nothing but that is kept.
    let is_known = uses.incomplete.is_none() && known.outcome == Outcome::Passed;
    let versions = workspace.history()?.snapshots()?.into_iter();
    let version = versions.chain(history.snapshots()?).find(|version| version.id == history.id());
    Ok(LastRun {
        version: version.map(|version| Version {
            id: versions::short(version.id),
            when: time::of_day(version.seconds),
        }),
        procedures: 0,
        edges: 0,
        compared_procedures: 0,
        compared_edges: 0,
        loaded: history.files(known.loaded)?.len(),
        outcome: outcome(known.outcome).to_string(),
        seconds: known.milliseconds as f64 / 1000.0,
        unclean: known.unclean.clone(),
        inexact: known.inexact,
        programs,
        files_used: is_known.then_some(names.len()),
        unseen: uses.incomplete.clone().filter(|_| known.outcome == Outcome::Passed),
        used: names.into_iter().map(String::from).collect(),
        looked_for: looked_for.into_iter().map(String::from).collect(),
    })
}

/// The files that a test used, and those that were not there when it looked for them.
fn used_and_looked_for(uses: &FileUses) -> (BTreeSet<&str>, BTreeSet<&str>) {
    let was_there = |used: &FileUse| used.then.is_some() || used.left.is_some();
    let there = uses.files.iter().filter(|(_, used)| was_there(used));
    let used: BTreeSet<&str> = there.map(|(name, _)| name.as_str()).collect();
    let all = uses.files.iter().map(|(name, _)| name.as_str());
    let looked_for = all.filter(|name| !used.contains(name)).collect();
    (used, looked_for)
}

/// What became of a test, for people.
pub fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "passed",
        Outcome::Skipped => "did nothing",
        Outcome::Failed => "failed",
        Outcome::TimedOut => "ran out of time",
        Outcome::Interrupted => "was interrupted",
        Outcome::Unjudged => "was not judged by its harness",
    }
}

/// How many units of a program are others now; none if nothing is known of it.
fn changed_units(comparison: &Comparison) -> Option<usize> {
    let NewProgram::Version(new) = &comparison.new else { return None };
    let now: HashSet<Fingerprint> = new.units.iter().map(|unit| unit.fingerprint()).collect();
    let then = comparison.old.units.iter();
    Some(then.filter(|unit| !now.contains(&unit.fingerprint())).count())
}

/// Procedures of a program that are others now, or in which something leads elsewhere, as
/// these pairs of it say.
fn changed_procedures(
    comparison: &Comparison,
    pairs: &[&ComparedPair],
) -> Vec<(ProcRef, ChangedProcedure)> {
    let NewProgram::Version(new) = &comparison.new else { return Vec::new() };
    let old = &comparison.old;
    let in_danger = pairs.iter().filter(|pair| !pair.dangers.is_empty());
    let in_danger: HashSet<ProcRef> = in_danger.map(|pair| pair.old).collect();
    let unparsed = unparsed(old, new);
    let mut found = Vec::new();
    let parsed = |at: &ProcRef| !unparsed.contains(&old.unit(at.unit).index.key);
    for at in old.procedures().filter(parsed) {
        let (unit, procedure) = (old.unit(at.unit), old.procedure(at));
        let now = counterpart(old, at, new);
        let is_same =
            now.is_some_and(|now| new.procedure(now).fingerprint == procedure.fingerprint);
        if is_same && !in_danger.contains(&at) {
            continue;
        }
        found.push((
            at,
            ChangedProcedure {
                program: old.path.clone(),
                procedure: procedure.name.clone(),
                file: unit.file(procedure.place).to_string(),
                line: procedure.place.line,
                is_gone: now.is_none(),
                is_excluded: false,
                is_entered: None,
                selects: false,
                dangerous: Vec::new(),
            },
        ));
    }
    found
}

/// Whether a reason is a change of a procedure.
fn is_about(reason: &Reason, changed: &ChangedProcedure) -> bool {
    let is_it = |procedure: &str, old: &SourceLine| {
        procedure == changed.procedure && old.file == changed.file
    };
    match reason {
        Reason::Edge(edge) => {
            let is_entry = edge.old.file == changed.file || edge.from.file == changed.file;
            edge.procedure == changed.procedure && is_entry
        }
        Reason::ProcedureGone { procedure, old, .. } | Reason::Procedure { procedure, old, .. } => {
            is_it(procedure, old)
        }
        _ => false,
    }
}

/// The procedure of another version that stands for one.
pub fn counterpart(old: &ProgramVersion, at: ProcRef, new: &ProgramVersion) -> Option<ProcRef> {
    let (key, procedure) = (&old.unit(at.unit).index.key, old.procedure(at));
    let unit = new.units.iter().position(|unit| unit.index.key == *key);
    let in_unit = unit.and_then(|unit| {
        let procedures = new.units[unit].index.procedures.iter();
        let mut procedures = procedures.enumerate();
        let same = |(_, p): &(usize, &crate::cfg::format::ProcedureIndex)| {
            p.name == procedure.name && p.is_static == procedure.is_static
        };
        let (place, _) = procedures.find(same)?;
        Some(ProcRef { unit: UnitIx::new(unit), procedure: ProcIx::new(place) })
    });
    in_unit.or_else(|| (!procedure.is_static).then(|| new.global(&procedure.name)).flatten())
}

/// The ways in a procedure that lead elsewhere now, and whether they select the
/// test.
fn ways(at: ProcRef, pairs: &[&ComparedPair], explanation: &Explanation) -> Vec<String> {
    let of_it = pairs.iter().filter(|pair| pair.old == at);
    let edges = of_it.flat_map(|pair| &pair.dangers).map(|(edge, _)| edge);
    // Of an edge that several programs have, one tells.
    let is_same = |a: &EdgeReason, b: &EdgeReason| {
        (&a.procedure, &a.from, &a.edge, &a.old, &a.new)
            == (&b.procedure, &b.from, &b.edge, &b.old, &b.new)
    };
    let mut shown = Vec::new();
    for edge in edges {
        let is_this =
            |reason: &Reason| matches!(reason, Reason::Edge(other) if is_same(other, edge));
        let selects = match explanation.reasons.iter().any(is_this) {
            true => "selects it",
            false => "does not select it",
        };
        let way = match edge.edge.is_empty() {
            true => format!("to {}:{}", edge.old.file, edge.old.line),
            false => format!("`{}` to {}:{}", edge.edge, edge.old.file, edge.old.line),
        };
        let way = format!("{}:{}, {way}: {selects}", edge.from.file, edge.from.line);
        // Walks may meet a procedure with several counterparts.
        if !shown.contains(&way) {
            shown.push(way);
        }
    }
    shown
}
