//! A report as pages of HTML that need nothing but themselves: what was selected and
//! why, both versions of what changed, and what the tests reach. Pure functions, a
//! file for each kind of page; who calls them writes the pages.

pub mod align;
mod changes;
mod depends;
mod files;
mod frame;
mod procedure;
mod search;
mod source;
mod summary;
mod tests;
mod texts;
mod words;
pub mod writer;

use super::gaps;
use super::picture::Picture;
use super::text::place;
use crate::select::{EdgeReason, Reason, SourceLine};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::time::Duration;

pub use frame::GENERATOR;
pub use source::source;
pub use texts::TextChange;

/// Tests of a page, and reasons of these.
const TESTS_OF_PAGE: usize = 200;
const REASONS_OF_PAGE: usize = 3000;
/// Lines of a source of a page.
pub const LINES_OF_PAGE: u32 = 3000;

/// Where a page is, relative to the report, and what it holds.
pub struct Page {
    pub path: String,
    pub text: String,
}

/// All that pages are made of, apart from the texts of sources.
#[derive(Default)]
pub struct Site {
    pub project: String,
    /// What is compared with what, in a sentence.
    pub compared: String,
    /// What is missing, in sentences.
    pub missing: Vec<String>,
    pub hints: Vec<String>,
    /// Selected ones first.
    pub tests: Vec<Test>,
    /// By file and line.
    pub procedures: Vec<Procedure>,
    pub others: Vec<OtherReason>,
    pub changed_files: Vec<ChangedFile>,
    /// By name.
    pub files: Vec<File>,
    pub gaps: Gaps,
    pub links: Links,
}

/// Where things are, to be linked to.
#[derive(Default)]
pub struct Links {
    /// Tests of each page.
    test_pages: Vec<Range<usize>>,
    files: HashMap<String, usize>,
    tests: HashMap<String, usize>,
    /// The tests that enter each procedure.
    entered: Vec<Vec<usize>>,
}

/// New or changed code that no test reaches, as `edgewise gaps` tells it.
#[derive(Debug, Default)]
pub struct Gaps {
    pub places: Vec<gaps::Place>,
    /// Why there may be others, in a sentence.
    pub unknown: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Selected,
    Skipped,
    /// Its suite says that it is not to be run.
    Disabled,
}

#[derive(Debug)]
pub struct Test {
    pub name: String,
    pub verdict: Verdict,
    pub reasons: Vec<Why>,
    /// What became of it the last time, and how long that took.
    pub last: Option<(String, Duration)>,
    /// Whether it ran the last time, and did not pass.
    pub has_failed: bool,
    /// Changed procedures that it enters.
    pub enters: Vec<usize>,
}

/// A reason by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    Danger { procedure: usize, danger: usize },
    Other(usize),
}

/// A reason that is no edge, with the tests that it selects.
#[derive(Debug)]
pub struct OtherReason {
    pub what: String,
    /// The place in the sources that it is about.
    pub place: Option<SourceLine>,
    pub tests: Vec<usize>,
    /// A change that would select, were it not in excluded code.
    pub is_excluded: bool,
}

impl OtherReason {
    pub fn new(reason: &Reason) -> Self {
        let at = match reason {
            Reason::ProcedureGone { old, .. } => Some(old.clone()),
            Reason::Procedure { new, .. } => Some(new.clone()),
            _ => None,
        };
        Self { what: place(reason), place: at, tests: Vec::new(), is_excluded: false }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Changed,
    New,
    Gone,
}

impl Change {
    pub fn word(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::New => "new",
            Self::Gone => "gone",
        }
    }
}

/// A procedure that is new, gone, or another one.
#[derive(Debug)]
pub struct Procedure {
    pub name: String,
    pub file: String,
    pub line: u32,
    pub change: Change,
    pub programs: Vec<String>,
    pub is_excluded: bool,
    /// Tests that enter it.
    pub entered: usize,
    pub dangers: Vec<Danger>,
    /// The calls that lead to it, with the programs that have them.
    pub calls: Vec<(Vec<String>, Vec<String>)>,
    pub old: Option<Side>,
    pub new: Option<Side>,
    /// Whether it has a page: of very many changes not all have one.
    pub has_page: bool,
    /// Files that changed, other than its own, of those that it is made of.
    pub through: Vec<String>,
}

impl Procedure {
    /// How many tests are behind its dangerous edges.
    fn selects(&self) -> usize {
        let mut tests: Vec<usize> = self.dangers.iter().flat_map(|d| &d.tests).copied().collect();
        tests.sort_unstable();
        tests.dedup();
        tests.len()
    }
}

/// A dangerous edge with the tests behind it.
#[derive(Debug)]
pub struct Danger {
    pub reason: EdgeReason,
    pub tests: Vec<usize>,
}

/// One version of a procedure.
#[derive(Debug)]
pub struct Side {
    pub lines: Vec<TextLine>,
    /// Whether these are all its lines; otherwise those that the record has.
    pub is_whole: bool,
    pub picture: Option<Picture>,
}

#[derive(Clone, Debug)]
pub struct TextLine {
    pub number: u32,
    pub text: String,
    /// What it is recognised by in the other version.
    pub key: Option<String>,
}

#[derive(Debug)]
pub struct ChangedFile {
    pub file: String,
    /// `changed`, `is new` or `is gone`.
    pub verb: &'static str,
    /// How its change counts.
    pub role: &'static str,
    /// Both versions, if it has no page of its own.
    pub text: Option<TextChange>,
}

/// A file of units, with what the tests reach in it.
#[derive(Debug, Default)]
pub struct File {
    pub name: String,
    /// By number; lines without code are not there.
    pub lines: BTreeMap<u32, LineState>,
    /// Procedures by their first line.
    pub procedures: Vec<FileProcedure>,
    /// Tests that reach lines of it.
    pub groups: Vec<Group>,
    /// What is to be said of it as a whole.
    pub note: Option<String>,
    /// No unit reads it: `#line` says that code comes from it.
    pub is_named: bool,
    /// Sources of units that include it.
    pub included_by: Vec<String>,
    pub changed: Option<ChangedLines>,
}

/// So many tests of a group are named.
pub const NAMED_OF_GROUP: usize = 10;

/// The tests that reach a line, and all others of its file that the same tests reach.
#[derive(Debug, Clone)]
pub struct Group {
    /// The first of them by name.
    pub tests: Vec<String>,
    pub count: usize,
}

/// Where the text of a file is another one.
#[derive(Debug, Default)]
pub struct ChangedLines {
    /// New or changed.
    pub lines: BTreeSet<u32>,
    /// How many lines are gone before a line.
    pub gone: BTreeMap<u32, usize>,
    /// Whether these are all; otherwise those that reasons name.
    pub is_whole: bool,
}

#[derive(Debug, Clone)]
pub struct FileProcedure {
    pub name: String,
    pub line: u32,
    pub is_entered: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineState {
    /// How many tests reach it; unknown if no test ran since it is there.
    pub tests: Option<usize>,
    /// Which ones, by their place among those of the file.
    pub group: Option<usize>,
    /// New or changed code.
    pub is_new: bool,
    /// What no test reaches here, of new or changed code.
    pub gaps: Vec<String>,
}

impl File {
    fn reached(&self) -> usize {
        self.lines.values().filter(|line| line.tests.is_some_and(|tests| tests > 0)).count()
    }

    fn unknown(&self) -> usize {
        self.lines.values().filter(|line| line.tests.is_none()).count()
    }
}

impl Site {
    /// Finds places for everything. To be called when all else is there.
    pub fn arrange(&mut self) {
        let files = self.files.iter().enumerate();
        self.links.files = files.map(|(place, file)| (file.name.clone(), place)).collect();
        let tests = self.tests.iter().enumerate();
        self.links.tests = tests.map(|(place, test)| (test.name.clone(), place)).collect();
        self.links.entered = vec![Vec::new(); self.procedures.len()];
        for (place, test) in self.tests.iter().enumerate() {
            for procedure in &test.enters {
                self.links.entered[*procedure].push(place);
            }
        }
        let (mut start, mut weight) = (0, 0);
        for (place, test) in self.tests.iter().enumerate() {
            weight += test.reasons.len() + test.enters.len();
            let is_full = place + 1 - start >= TESTS_OF_PAGE || weight >= REASONS_OF_PAGE;
            if is_full || place + 1 == self.tests.len() {
                self.links.test_pages.push(start..place + 1);
                (start, weight) = (place + 1, 0);
            }
        }
    }

    /// The pages apart from those of sources, one after the other.
    pub fn pages(&self) -> impl Iterator<Item = Page> + '_ {
        let assets = [
            ("edgewise.css", format!("{}{}", super::svg::STYLE, frame::STYLE)),
            ("search.js", search::SCRIPT.to_string()),
            ("graphs.js", procedure::SCRIPT.to_string()),
        ];
        let assets = assets.map(|(path, text)| Page { path: path.to_string(), text });
        let procedures = self.procedures.iter().enumerate();
        let procedures = procedures.filter(|(_, procedure)| procedure.has_page);
        [summary::page(self), search::page(self), search::index(self)]
            .into_iter()
            .chain(assets)
            .chain(changes::pages(self))
            .chain(files::pages(self))
            .chain((0..self.links.test_pages.len().max(1)).map(|number| tests::page(self, number)))
            .chain(procedures.map(|(number, _)| procedure::page(self, number)))
    }

    fn test_href(&self, test: usize) -> String {
        let page = self.links.test_pages.partition_point(|range| range.end <= test);
        format!("tests/{}.html#t{}", page + 1, test + 1)
    }

    fn procedure_href(&self, procedure: usize) -> Option<String> {
        let has_page = self.procedures.get(procedure).is_some_and(|p| p.has_page);
        has_page.then(|| format!("procedures/{}.html", procedure + 1))
    }

    fn file_href(&self, file: &str) -> Option<String> {
        let place = self.links.files.get(file)?;
        Some(format!("files/{}.html", place + 1))
    }

    fn line_href(&self, file: &str, line: u32) -> Option<String> {
        let place = self.links.files.get(file)?;
        Some(match line.saturating_sub(1) / LINES_OF_PAGE {
            0 => format!("files/{}.html#L{line}", place + 1),
            part => format!("files/{}-{}.html#L{line}", place + 1, part + 1),
        })
    }

    /// The gaps in a file.
    fn gaps_of(&self, file: &str) -> usize {
        self.gaps.places.iter().filter(|place| place.file == file).count()
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.tests.iter().filter(|test| test.verdict == verdict).count()
    }

    /// How long tests took the last time, and of how many that is known.
    fn time(&self, verdict: Verdict) -> (Duration, usize) {
        let tests = self.tests.iter().filter(|test| test.verdict == verdict);
        let times = tests.filter_map(|test| test.last.as_ref()).map(|(_, time)| *time);
        times.fold((Duration::ZERO, 0), |(sum, count), time| (sum + time, count + 1))
    }
}

/// Cuts a long list into parts of about the same number.
fn parts(count: usize, most: usize) -> Vec<Range<usize>> {
    let starts = (0..count.max(1)).step_by(most);
    starts.map(|start| start..(start + most).min(count)).collect()
}
