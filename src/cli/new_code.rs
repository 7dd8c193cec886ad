//! Code that is new or changed between two versions of a history, and what of it no
//! test reaches.

use super::reached::{Procedure, Reached};
use super::reporting::Texts;
use crate::cfg::format::{EdgeLabel, Graph, NodeKind};
use crate::history::History;
use crate::history::format::FileState;
use crate::history::store::StoreError;
use crate::ids::{EdgeId, Fingerprint, NodeId};
use crate::select::edited::{Code, Hunk, Lines};
use crate::select::gaps::{self, Change, Gap, Kind, Later};
use crate::select::version::UnitVersion;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

pub struct NewCode {
    /// What no test reaches.
    pub gaps: Vec<Gap>,
    /// All lines that are new or changed, reached or not.
    pub lines: BTreeSet<(String, u32)>,
    /// Files that are other ones now than in the later version.
    pub stale: BTreeSet<String>,
}

/// Where a procedure is found again, by file and name, and what it is.
type Known = FxHashSet<(String, String, Fingerprint)>;

/// Compares a version with an earlier one. `files` are as they are now, below `root`.
pub fn find(
    root: &Path,
    earlier: &History,
    later: &History,
    files: &FileState,
) -> Result<NewCode, StoreError> {
    let (then, first) = (files_of_new(earlier, later)?, earlier.common_files()?);
    let before = Reached::new(earlier, |_| true)?;
    let now = Reached::new(later, |_| true)?;
    let known: Known = before
        .units()
        .flat_map(|unit| {
            unit.index.procedures.iter().map(|index| {
                (unit.file(index.place).to_string(), index.name.clone(), index.fingerprint)
            })
        })
        .collect();
    let is_known = |file: &str, name: &str, id: Fingerprint| {
        known.contains(&(file.to_string(), name.to_string(), id))
    };
    // Files that changed, or with code that is not what it was.
    let mut changed: BTreeSet<String> = BTreeSet::new();
    for unit in now.units() {
        let names = unit.index.files.iter();
        changed.extend(names.filter(|name| first.get(*name) != then.get(*name)).cloned());
        for index in &unit.index.procedures {
            let file = unit.file(index.place);
            if !is_known(file, &index.name, index.fingerprint) {
                changed.insert(file.to_string());
            }
        }
    }
    let labels = Labels::of(&before, &changed)?;
    let sources = Sources { root, first: &first, then: &then, files };
    let lines = sources.lines(&changed, &before, &now)?;
    let mut open: BTreeSet<Gap> = BTreeSet::new();
    // What is in several units, an inline function say, is reached in one of them.
    let mut reached: FxHashSet<(String, u32, String, Option<String>)> = FxHashSet::default();
    let mut places = BTreeSet::new();
    let mut entered: FxHashSet<(String, String)> = FxHashSet::default();
    let none = Lines::default();
    // A unit of the earlier version, which other tests still refer to, has the lines of that one.
    let earlier_units: FxHashSet<Fingerprint> =
        before.units().map(UnitVersion::fingerprint).collect();
    now.each::<StoreError>(
        |unit, index| {
            changed.contains(unit.file(index.place)) && !earlier_units.contains(&unit.fingerprint())
        },
        |procedure| {
            let (file, name) = name(procedure);
            let is_changed = !is_known(&file, &name, procedure.index.fingerprint);
            if procedure.entered().any() {
                entered.insert((file.clone(), name.clone()));
            }
            let found = gaps::places(&Later {
                unit: procedure.unit,
                procedure: procedure.place,
                is_changed,
                lines: &|file| lines.get(file).unwrap_or(&none),
                had: &|file, line, label| labels.has(file, line, label),
                is_taken: &|edge: EdgeId| procedure.tests_on_edge(edge).any(),
            });
            for place in found {
                if place.gap.change == Change::Edited {
                    places.insert((place.gap.file.clone(), place.gap.line));
                }
                if place.is_reached {
                    reached.insert(key(&place.gap));
                } else {
                    open.insert(place.gap);
                }
            }
            Ok(())
        },
    )?;
    let is_reached = |gap: &Gap| reached.contains(&key(gap));
    // A copy of an inline function that no test enters is no gap if a test enters another one.
    let as_one = |gap: Gap| match gap.kind {
        Kind::Procedure if entered.contains(&(gap.file.clone(), gap.procedure.clone())) => {
            Gap { kind: Kind::Code, ..gap }
        }
        _ => gap,
    };
    let gaps: BTreeSet<Gap> = open.into_iter().filter(|gap| !is_reached(gap)).map(as_one).collect();
    let stale = stale(later, &now, files)?;
    Ok(NewCode { gaps: gaps.into_iter().collect(), lines: places, stale })
}

/// Sources that are not what they were for any test.
fn stale(
    later: &History,
    now: &Reached<'_>,
    files: &FileState,
) -> Result<BTreeSet<String>, StoreError> {
    let states: BTreeSet<Fingerprint> = later.tests().map(|(_, test)| test.files).collect();
    let states = states.into_iter().map(|state| later.files(state));
    let states: Vec<FileState> = states.collect::<Result<_, _>>()?;
    let is_stale = |name: &&String| states.iter().all(|state| state.get(*name) != files.get(*name));
    let names = now.units().flat_map(|unit| &unit.index.files);
    Ok(names.filter(is_stale).cloned().collect())
}

/// The state of files of most tests that ran a program which is not one of the earlier version.
/// After a selection these may be few, and all others have the earlier state.
fn files_of_new(earlier: &History, later: &History) -> Result<FileState, StoreError> {
    let old: FxHashSet<Fingerprint> =
        earlier.tests().flat_map(|(_, test)| test.programs.iter().copied()).collect();
    let new = later.tests().map(|(_, test)| test);
    let new = new.filter(|test| test.programs.iter().any(|program| !old.contains(program)));
    let mut counts: BTreeMap<Fingerprint, usize> = BTreeMap::new();
    new.for_each(|test| *counts.entry(test.files).or_default() += 1);
    match counts.into_iter().max_by_key(|(_, count)| *count) {
        Some((files, _)) => later.files(files),
        None => later.common_files(),
    }
}

/// The code of the earlier version, by file and line.
struct Labels {
    all: FxHashSet<(String, Option<u32>, Fingerprint)>,
}

impl Labels {
    fn of(before: &Reached<'_>, files: &BTreeSet<String>) -> Result<Self, StoreError> {
        let mut all = FxHashSet::default();
        each_node(before, files, |file, graph, at| {
            let node = graph.node(at);
            all.insert((file.to_string(), Some(node.place.line), node.label));
            all.insert((file.to_string(), None, node.label));
        })?;
        Ok(Self { all })
    }

    fn has(&self, file: &str, line: Option<u32>, label: Fingerprint) -> bool {
        self.all.contains(&(file.to_string(), line, label))
    }
}

/// Looks at all nodes of procedures in files, each with the file that it is in.
fn each_node(
    reached: &Reached<'_>,
    files: &BTreeSet<String>,
    mut look: impl FnMut(&str, &Graph, NodeId),
) -> Result<(), StoreError> {
    reached.each::<StoreError>(
        |unit, index| files.contains(unit.file(index.place)),
        |procedure| {
            for (at, node) in procedure.graph.nodes.iter().enumerate() {
                if node.kind != NodeKind::Exit && node.place.line > 0 {
                    look(procedure.file(node.place), procedure.graph, NodeId::new(at));
                }
            }
            Ok(())
        },
    )
}

/// The sources of two versions.
struct Sources<'s> {
    root: &'s Path,
    first: &'s FileState,
    then: &'s FileState,
    files: &'s FileState,
}

impl Sources<'_> {
    /// Where the lines of files come from: by a diff of their texts, if git has these, and
    /// otherwise by their code.
    fn lines(
        &self,
        names: &BTreeSet<String>,
        before: &Reached<'_>,
        now: &Reached<'_>,
    ) -> Result<FxHashMap<String, Lines>, StoreError> {
        let mut old = Texts::new(self.root, self.first, self.files);
        let mut new = Texts::new(self.root, self.then, self.files);
        let mut found = FxHashMap::default();
        let mut without: BTreeSet<String> = BTreeSet::new();
        for name in names {
            let text = new.then(name).unwrap_or_default().to_vec();
            let lines = match (self.first.get(name), self.then.get(name)) {
                (Some(a), Some(b)) if a == b => Some(Lines::same(&text)),
                (None, Some(_)) if !before.knows_file(name) => {
                    let all = [Hunk { old: (0, 0), new: (1, text.len() as u32) }];
                    Some(Lines::of_diff(&text, &all, &all))
                }
                _ => old.then(name).and_then(|old| {
                    let [plain, spaced] = [&[][..], &["-w"]].map(|how| diff(how, old, &text));
                    Some(Lines::of_diff(&text, &plain?, &spaced?))
                }),
            };
            match lines.filter(|_| !text.is_empty()) {
                Some(lines) => _ = found.insert(name.clone(), lines),
                None => _ = without.insert(name.clone()),
            }
        }
        let (mut was, mut is): (BTreeMap<_, Code>, BTreeMap<_, Code>) = Default::default();
        for (reached, code) in [(before, &mut was), (now, &mut is)] {
            each_node(reached, &without, |file, graph, at| {
                let (code, node) = (code.entry(file.to_string()).or_default(), graph.node(at));
                code.add(node.place.line, &node.text, cases(graph, at));
            })?;
        }
        for (name, code) in is {
            if without.contains(&name) {
                let text = new.then(&name).unwrap_or_default();
                let was = was.get(&name).cloned().unwrap_or_default();
                found.insert(name, Lines::of_code(&was, &code, text));
            }
        }
        Ok(found)
    }
}

/// The labels of a switch that lead to a node.
fn cases(graph: &Graph, to: NodeId) -> Vec<String> {
    let edges = graph.edges.iter().filter(|edge| edge.to == to);
    let labels = edges.filter_map(|edge| match &edge.label {
        EdgeLabel::Case(_, value) => Some(format!("case {value}:")),
        EdgeLabel::Default => Some(String::from("default:")),
        _ => None,
    });
    labels.collect()
}

/// What git says of two texts; none if it cannot be asked.
fn diff(options: &[&str], old: &[String], new: &[String]) -> Option<Vec<Hunk>> {
    let directory = tempfile::tempdir().ok()?;
    for (name, lines) in [("old", old), ("new", new)] {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(directory.path().join(name), text).ok()?;
    }
    let mut git = Command::new("git");
    git.current_dir(directory.path()).args(["diff", "--no-index", "--no-color", "--no-ext-diff"]);
    git.args(["--no-textconv", "--text", "-U0", "--inter-hunk-context=0"]).args(options);
    git.args(["--", "old", "new"]).stdin(Stdio::null()).stderr(Stdio::null());
    let output = git.output().ok()?;
    let is_told = matches!(output.status.code(), Some(0 | 1));
    is_told.then(|| Hunk::all(&String::from_utf8_lossy(&output.stdout)))
}

fn name(procedure: &Procedure<'_>) -> (String, String) {
    (procedure.file(procedure.index.place).to_string(), procedure.index.name.clone())
}

/// What makes two gaps the same, whichever unit they are in.
fn key(gap: &Gap) -> (String, u32, String, Option<String>) {
    (gap.file.clone(), gap.line, gap.text.clone(), gap.never.clone())
}
