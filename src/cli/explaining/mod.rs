//! Puts together what there is to say about a test, a procedure or a line.

mod code;
mod declared;
mod near;
mod standing;
mod test;

pub use test::{counterpart, outcome};

use super::reached::{Reached, as_line};
use super::selecting::{self, Selected};
use super::snapshot::Source;
use super::versions;
use super::workspace::Workspace;
use crate::history::History;
use crate::report::explain::Answers;
use crate::select::{Algorithm, Reason};
use crate::suite::TestCase;
use anyhow::bail;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// So many things of one name are answered for at once.
const MOST_ANSWERS: usize = 8;

/// What is asked.
pub struct Question<'q> {
    pub what: &'q [String],
    pub source: Source,
    pub against: Option<&'q str>,
    pub algorithm: Algorithm,
    /// Nothing but tests is meant.
    pub only_tests: bool,
}

/// A selection, to be asked about.
struct Basis<'b> {
    workspace: &'b Workspace,
    history: &'b History,
    selected: &'b Selected,
    /// The same where those of the tests that are asked about and are others now are compared
    /// as well, if there are any: for telling of these alone.
    past_tests: Option<&'b Selected>,
    reached: &'b Reached<'b>,
    /// All tests, and those that were selected among, by their ids.
    all: &'b [TestCase],
    tests: &'b [TestCase],
    reasons: FxHashMap<&'b str, &'b [Reason]>,
}

/// What a name may mean.
enum Subject {
    Test(usize),
    /// By file and name.
    Function(String, String),
    Line(String, u32),
    /// A line of a file that no unit is made of.
    Data(String, u32),
}

/// Answers, and hints of the selection behind them.
pub fn answer(
    workspace: &Workspace,
    question: &Question<'_>,
) -> anyhow::Result<(Answers, Vec<String>)> {
    let mut project = selecting::Project::look_at(workspace, question.source)?;
    // All reasons are of interest, not only as many as are enough to select a test.
    project.wants_pairs = true;
    let (history, said) =
        versions::choose(workspace, question.source, &project.files, question.against)?;
    let all = workspace.tests(&history)?;
    if question.only_tests {
        question.what.iter().try_for_each(|name| find(&all, name).map(|_| ()))?;
    }
    let meant = question.what.iter().flat_map(|what| named(&all, what));
    let asked: Vec<String> = meant.map(|place| all[place].name.clone()).collect();
    project.asked = asked.clone();
    let mut tests = all.clone();
    tests.retain(|test| test.disabled.is_none());
    let mut selected = selecting::select(workspace, &history, &tests, project, question.algorithm)?;
    let is_past = |(name, reasons): &(String, Vec<Reason>)| {
        asked.contains(name) && reasons.iter().any(is_another)
    };
    let past_tests = match selected.report.selected.iter().any(is_past) {
        true => {
            let mut project = selecting::Project::look_at(workspace, question.source)?;
            (project.wants_pairs, project.looks_past_tests) = (true, true);
            project.asked = asked;
            Some(selecting::select(workspace, &history, &tests, project, question.algorithm)?)
        }
        false => None,
    };
    let mut hints = std::mem::take(&mut selected.report.hints);
    hints.extend(said);
    let reached = Reached::new(&history, |_| true)?;
    let chosen = selected.report.selected.iter();
    let basis = Basis {
        workspace,
        history: &history,
        selected: &selected,
        past_tests: past_tests.as_ref(),
        reached: &reached,
        all: &all,
        tests: &tests,
        reasons: chosen.map(|(name, reasons)| (name.as_str(), &reasons[..])).collect(),
    };
    let mut answers = Answers::default();
    for what in question.what {
        basis.answer(what, question.only_tests, &mut answers)?;
    }
    Ok((answers, hints))
}

/// Whether a test is selected for being another one than that which ran.
fn is_another(reason: &Reason) -> bool {
    matches!(reason, Reason::TestChanged { .. })
}

/// The tests that somebody means by a name: the one that has it, or all that have it
/// within their suites.
fn find(tests: &[TestCase], name: &str) -> anyhow::Result<Vec<usize>> {
    let found = named(tests, name);
    if !found.is_empty() {
        return Ok(found);
    }
    let near = near::near(name, tests.iter().map(|test| test.name.as_str()));
    match near.is_empty() {
        true => bail!(
            "no test is called `{name}`\nhint: `edgewise history export --format csv` has the names of those that ran"
        ),
        false => bail!("no test is called `{name}`\nhint: perhaps {}", near.join(", ")),
    }
}

fn named(tests: &[TestCase], name: &str) -> Vec<usize> {
    if let Some(place) = tests.iter().position(|test| test.name == name) {
        return vec![place];
    }
    let is_within = |test: &TestCase| test.name.split_once('/').is_some_and(|(_, own)| own == name);
    let tests = tests.iter().enumerate().filter(|(_, test)| is_within(test));
    tests.map(|(place, _)| place).collect()
}

impl Basis<'_> {
    fn answer(&self, what: &str, only_tests: bool, out: &mut Answers) -> anyhow::Result<()> {
        let subjects = match only_tests {
            true => find(self.all, what)?.into_iter().map(Subject::Test).collect(),
            false => self.subjects(what)?,
        };
        if subjects.len() > MOST_ANSWERS {
            let names: Vec<String> =
                subjects.iter().take(MOST_ANSWERS).map(|s| self.name_of(s)).collect();
            bail!(
                "`{what}` may mean {} things\nhint: name one of them: {}, …",
                subjects.len(),
                names.join(", ")
            );
        }
        for subject in subjects {
            match subject {
                Subject::Test(place) => out.tests.push(self.test(&self.all[place])?),
                Subject::Function(file, name) => out.functions.push(self.function(&file, &name)?),
                Subject::Line(file, line) => out.lines.push(self.line(&file, line)?),
                Subject::Data(file, line) => out.lines.push(self.data_line(&file, line)?),
            }
        }
        Ok(())
    }

    fn name_of(&self, subject: &Subject) -> String {
        match subject {
            Subject::Test(place) => self.all[*place].name.clone(),
            Subject::Function(file, name) => format!("{file}:{name}"),
            Subject::Line(file, line) | Subject::Data(file, line) => format!("{file}:{line}"),
        }
    }

    /// All that a name may mean: tests, procedures by their name or `file.c:name`, and
    /// lines.
    fn subjects(&self, what: &str) -> anyhow::Result<Vec<Subject>> {
        let mut found: Vec<Subject> =
            named(self.all, what).into_iter().map(Subject::Test).collect();
        let places = self.procedures();
        let (within, name) = match what.rsplit_once(':') {
            Some((file, name)) => (Some(self.files_like(file)), name),
            None => (None, what),
        };
        let is_meant = |file: &str| within.as_ref().is_none_or(|files| files.contains(file));
        let named = places.iter().filter(|(file, own)| *own == name && is_meant(file));
        found.extend(
            named.map(|(file, name)| Subject::Function(file.to_string(), name.to_string())),
        );
        if let Some((file, line)) = as_line(what) {
            let files = self.files_like(file).into_iter();
            found.extend(files.map(|file| Subject::Line(file.to_string(), line)));
            if found.is_empty() && !self.history.is_empty() {
                let then = self.history.common_files()?;
                let names = then.keys().chain(self.selected.files.now.keys());
                let names = names.map(String::as_str).filter(|name| !name.ends_with('/'));
                let data = self.like(file, names.collect());
                found.extend(data.into_iter().map(|file| Subject::Data(file.to_string(), line)));
            }
        }
        if found.is_empty() {
            self.nothing_like(what, &places)?;
        }
        Ok(found)
    }

    /// Says that there is nothing of a name, and what there is.
    fn nothing_like(&self, what: &str, places: &BTreeSet<(&str, &str)>) -> anyhow::Result<()> {
        if self.history.is_empty() {
            bail!("there is no history yet\nhint: `edgewise run` records one");
        }
        if let Some((file, _)) = as_line(what) {
            let near = near::near(file, self.files().into_iter());
            let hint = match near.is_empty() {
                true => String::from("lines are named like src/file.c:12, from the root on"),
                false => format!("perhaps {}", near.join(", ")),
            };
            bail!("no test ran a program with {file} in it\nhint: {hint}");
        }
        let tests = near::near(what, self.all.iter().map(|test| test.name.as_str()));
        let names: BTreeSet<&str> = places.iter().map(|(_, name)| *name).collect();
        let functions = near::near(what, names.into_iter());
        let tests = tests.iter().map(|name| format!("the test {name}"));
        let functions = functions.iter().map(|name| format!("the function {name}"));
        let near: Vec<String> = tests.chain(functions).collect();
        let hint = match near.is_empty() {
            true => String::from("tests are named like suite/name, lines like src/file.c:12"),
            false => format!("perhaps {}", near.join(", ")),
        };
        bail!("no test and no function is called `{what}`\nhint: {hint}");
    }

    /// Procedures of either version, by file and name.
    fn procedures(&self) -> BTreeSet<(&str, &str)> {
        let units = self.reached.units().chain(self.selected.new_units());
        let all = units.flat_map(|unit| {
            let procedures = unit.index.procedures.iter();
            procedures.map(|index| (unit.file(index.place), index.name.as_str()))
        });
        all.collect()
    }

    fn files(&self) -> BTreeSet<&str> {
        let units = self.reached.units().chain(self.selected.new_units());
        let files = units.flat_map(|unit| unit.index.files.iter().map(String::as_str));
        files.filter(|file| !file.is_empty()).collect()
    }

    /// The files that somebody means: by the name from the root on, from the working
    /// directory on, or by the end of it.
    fn files_like(&self, file: &str) -> BTreeSet<&str> {
        self.like(file, self.files())
    }

    fn like<'f>(&self, file: &str, files: BTreeSet<&'f str>) -> BTreeSet<&'f str> {
        let here = std::env::current_dir().unwrap_or_default();
        let here = self.workspace.project.record_path(&here, file);
        for name in [file, &here] {
            if let Some(known) = files.get(name) {
                return BTreeSet::from([*known]);
            }
        }
        let end = format!("/{file}");
        files.into_iter().filter(|known| known.ends_with(&end)).collect()
    }
}
