//! Puts together what a report shows: the selection, both versions of what changed,
//! and what the tests reach. What is missing is said, and the rest is shown.

mod changes;
mod coverage;
mod earlier;
mod lines;

use super::explaining;
use super::files;
use super::new_code;
use super::selecting::{self, Project, Selected};
use super::snapshot::Source;
use super::uses;
use super::versions;
use super::workspace::Workspace;
use crate::bytes;
use crate::history::History;
use crate::history::format::{FileState, Outcome};
use crate::history::store::StoreError;
use crate::ids::{Fingerprint, TestId};
use crate::report::gaps;
use crate::report::html::{ChangedFile, File, Gaps, OtherReason, Site, Test, Verdict, Why};
use crate::report::time;
use crate::select::{Algorithm, NewProgram, Reason};
use crate::suite::TestCase;
use changes::Changes;
use coverage::Coverage;
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::time::Duration;

pub use changes::sides_of;
pub use coverage::reach_of_new;
pub use earlier::{Texts, read as read_source};

/// A selection, with the history that it was compared with.
struct Basis {
    history: History,
    selected: Selected,
    /// Tests by their ids.
    tests: Vec<TestCase>,
    disabled: Vec<TestCase>,
    /// What is compared with what, in a sentence.
    compared: String,
}

/// All that the pages are made of, compared with a version of the history that is
/// named, or else with the nearest.
pub fn site(workspace: &Workspace, source: Source, against: Option<&str>) -> anyhow::Result<Site> {
    let mut basis = compare(workspace, source, against)?;
    if against.is_none()
        && is_nothing_new(&basis.selected)
        && let Some(before) = basis.history.snapshots()?.get(1)
    {
        // Right after `edgewise test` there is nothing left to select: what is of
        // interest is what was tested.
        let before = before.id.hex();
        basis = compare(workspace, source, Some(&before))?;
        let why = "Nothing changed since the last tests, so this is about what they tested.";
        basis.compared = format!("{why} {}", basis.compared);
    }
    let Basis { history, selected, tests, disabled, compared } = basis;
    let root = &workspace.project.root;
    let project = root.file_name().map_or_else(String::new, bytes::name);
    let mut site = Site { project, compared, ..Site::default() };
    site.hints.clone_from(&selected.report.hints);
    let then = history.common_files()?;
    let last = workspace.history()?;
    let tested: HashSet<Fingerprint> = last.units()?.into_iter().collect();
    if !history.is_empty() {
        site.changed_files = changed_files(workspace, &selected, &then);
    }
    missing_programs(&mut site, &history, &selected);
    let places = add_tests(&mut site, &history, &selected, &tests, &disabled);
    let changes = Changes {
        workspace,
        history: &history,
        selected: &selected,
        last: &last,
        tested: &tested,
        places: &places,
    };
    let mut texts = Texts::new(root, &then, &selected.files.now);
    changes.add(&mut site, &mut texts)?;
    add_reasons(&mut site, &selected);
    if !history.is_empty() {
        // Where the new version was tested, that says what is reached in it.
        let is_tested = selected.new_units().all(|unit| tested.contains(&unit.fingerprint()));
        let found = match is_tested {
            true => covered(root, &last, Some(&history), &selected),
            false => covered(root, &history, None, &selected),
        };
        match found {
            Ok((files, gaps)) => {
                site.files = files;
                site.gaps = gaps.unwrap_or_else(|| Gaps {
                    unknown: Some(no_gaps(is_tested, last.snapshots().map_or(0, |all| all.len()))),
                    ..Gaps::default()
                });
            }
            Err(error) => {
                site.missing.push(format!("What the tests reach is not known: {error}."));
                site.gaps.unknown = Some(String::from("What the tests reach is not known."));
            }
        }
        if selected.comparisons.iter().any(|c| matches!(c.new, NewProgram::Unknown(_))) {
            site.gaps.unknown = Some(String::from(
                "Nothing is known of some programs as they are now, so not which code is new in \
                 these: the summary names them.",
            ));
        }
        lines::add(&mut site, &mut texts);
    } else {
        site.gaps.unknown = Some(String::from(
            "There is no history yet, so it is not known which code is new or changed.",
        ));
    }
    site.arrange();
    Ok(site)
}

fn compare(workspace: &Workspace, source: Source, against: Option<&str>) -> anyhow::Result<Basis> {
    let mut project = Project::look_at(workspace, source)?;
    project.wants_pairs = true;
    let (history, _) = versions::choose(workspace, source, &project.files, against)?;
    let (tests, disabled): (Vec<TestCase>, Vec<TestCase>) =
        workspace.tests(&history)?.into_iter().partition(|test| test.disabled.is_none());
    let selected = selecting::select(workspace, &history, &tests, project, Algorithm::Auto)?;
    let what = match source {
        Source::Sources => "The sources as they are now",
        Source::Build => "The programs as they are built",
    };
    // The last version knows when each earlier one was recorded.
    let versions = workspace.history()?.snapshots()?;
    let compared = match versions.iter().find(|s| s.id == history.id()) {
        Some(version) => {
            let when = time::of_day(version.seconds);
            format!("{what}, compared with version {} of {when}.", versions::short(version.id))
        }
        None => String::from("There is no history yet to compare with."),
    };
    Ok(Basis { history, selected, tests, disabled, compared })
}

/// Whether no change selects anything: what is selected is so for its own sake.
fn is_nothing_new(selected: &Selected) -> bool {
    let is_old =
        |reason: &Reason| matches!(reason, Reason::State { .. } | Reason::Dependency { .. });
    selected.pairs.iter().all(|pair| pair.graph.rejects.is_empty())
        && selected.report.excluded.is_empty()
        && selected.report.selected.iter().all(|(_, reasons)| reasons.iter().all(is_old))
}

/// Adds the tests, the selected ones first, and says where each is.
fn add_tests(
    site: &mut Site,
    history: &History,
    selected: &Selected,
    tests: &[TestCase],
    disabled: &[TestCase],
) -> FxHashMap<TestId, usize> {
    let chosen: HashSet<&str> =
        selected.report.selected.iter().map(|(name, _)| name.as_str()).collect();
    let ids = (0..).map(TestId).zip(tests).map(|(id, test)| (Some(id), test));
    let mut ordered: Vec<(Verdict, Option<TestId>, &TestCase)> = ids
        .chain(disabled.iter().map(|test| (None, test)))
        .map(|(id, test)| {
            let verdict = match id {
                None => Verdict::Disabled,
                Some(_) if chosen.contains(test.name.as_str()) => Verdict::Selected,
                Some(_) => Verdict::Skipped,
            };
            (verdict, id, test)
        })
        .collect();
    ordered.sort_by_key(|(verdict, ..)| *verdict);
    let mut places = FxHashMap::default();
    for (place, (verdict, id, test)) in ordered.into_iter().enumerate() {
        places.extend(id.map(|id| (id, place)));
        let known = history.test(&test.name);
        let has_failed = known.is_some_and(|known| {
            !matches!(known.outcome, Outcome::Passed | Outcome::Skipped | Outcome::Unjudged)
        });
        let last = known.map(|known| {
            let time = Duration::from_millis(known.milliseconds);
            (explaining::outcome(known.outcome).to_string(), time)
        });
        let (name, reasons, enters) = (test.name.clone(), Vec::new(), Vec::new());
        site.tests.push(Test { name, verdict, reasons, last, has_failed, enters });
    }
    places
}

/// Gives each test its reasons: dangerous edges first, then whatever else there is.
fn add_reasons(site: &mut Site, selected: &Selected) {
    for (number, procedure) in site.procedures.iter().enumerate() {
        if procedure.is_excluded {
            continue;
        }
        for (place, danger) in procedure.dangers.iter().enumerate() {
            for test in &danger.tests {
                let why = Why::Danger { procedure: number, danger: place };
                site.tests[*test].reasons.push(why);
            }
        }
    }
    let names = site.tests.iter().enumerate();
    let by_name: FxHashMap<String, usize> =
        names.map(|(place, test)| (test.name.clone(), place)).collect();
    let mut known: FxHashMap<&Reason, usize> = FxHashMap::default();
    let edge = |reason: &&Reason| !matches!(reason, Reason::Edge(_));
    for (name, reasons) in &selected.report.selected {
        let Some(test) = by_name.get(name) else { continue };
        for reason in reasons.iter().filter(edge) {
            let place = *known.entry(reason).or_insert_with(|| {
                site.others.push(OtherReason::new(reason));
                site.others.len() - 1
            });
            site.others[place].tests.push(*test);
            site.tests[*test].reasons.push(Why::Other(place));
        }
    }
    for excluded in &selected.report.excluded {
        let mut other = OtherReason::new(&excluded.change);
        other.tests = excluded.tests.iter().filter_map(|name| by_name.get(name)).copied().collect();
        other.is_excluded = true;
        site.others.push(other);
    }
}

fn missing_programs(site: &mut Site, history: &History, selected: &Selected) {
    if history.is_empty() {
        site.missing.push(String::from(
            "There is no history yet, so nothing can be compared and nothing is known of coverage: \
             `edgewise build` and `edgewise run` record one.",
        ));
    }
    for comparison in &selected.comparisons {
        if let NewProgram::Unknown(why) = &comparison.new {
            site.missing.push(format!(
                "Nothing is known of {} as it is now, so its procedures are not compared: {why}.",
                comparison.old.path
            ));
        }
    }
    let unread: BTreeSet<&str> = selected
        .report
        .selected
        .iter()
        .flat_map(|(_, reasons)| reasons)
        .filter_map(|reason| match reason {
            Reason::Program { program, what, .. } if what == selecting::UNREADABLE => {
                Some(program.as_str())
            }
            _ => None,
        })
        .collect();
    site.missing.extend(unread.into_iter().map(|program| {
        format!("The history of the units of {program} cannot be read, so it is not compared.")
    }));
}

fn changed_files(workspace: &Workspace, selected: &Selected, then: &FileState) -> Vec<ChangedFile> {
    let now = &selected.files.now;
    let code = coverage::code_files(selected);
    let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    names
        .into_iter()
        .filter(|name| then.get(*name) != now.get(*name) && !name.ends_with('/'))
        .map(|name| ChangedFile {
            file: name.clone(),
            verb: uses::verb(then.contains_key(name), now.contains_key(name)),
            role: if files::is_configuration(workspace, name) {
                "what it says of each test is compared"
            } else if code.contains(name.as_str()) {
                "compared procedure by procedure"
            } else {
                "selects the tests that use it"
            },
            text: None,
        })
        .collect()
}

/// Why nothing can be said of gaps: nobody ran what is new, or nothing is.
fn no_gaps(is_tested: bool, versions: usize) -> String {
    String::from(match (is_tested, versions) {
        (false, _) => {
            "Which new or changed code no test reaches is known when the selected tests have run \
             (`edgewise test`)."
        }
        (true, ..2) => {
            "The history has no earlier version to compare with, so it is not known which code is \
             new: `edgewise test` after a change adds one."
        }
        (true, _) => {
            "The code is that of the version that it is compared with, so none is new. \
             `edgewise gaps` tells of the last two versions."
        }
    })
}

/// What tests reach, by the rows of a history, and the gaps in what is new since an
/// earlier version of it, if there is one.
fn covered(
    root: &Path,
    base: &History,
    earlier: Option<&History>,
    selected: &Selected,
) -> Result<(Vec<File>, Option<Gaps>), StoreError> {
    let mut covered = Coverage::new(base, selected)?;
    let mut found = None;
    if let Some(earlier) = earlier.filter(|earlier| earlier.id() != base.id()) {
        let new = new_code::find(root, earlier, base, &selected.files.now)?;
        covered.add_new_code(&new.lines, new.gaps.iter().map(|gap| (gap, gaps::says(gap))));
        let unknown = (!new.stale.is_empty()).then(|| {
            let stale: Vec<&str> = new.stale.iter().map(String::as_str).collect();
            format!("Not known yet, since the tests ran before it changed: {}.", stale.join(", "))
        });
        found = Some(Gaps { places: gaps::places(&new.gaps), unknown });
    }
    Ok((covered.finish(base), found))
}
