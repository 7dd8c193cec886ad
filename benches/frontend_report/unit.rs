//! Everything that is found out about one unit at one level.

use crate::check;
use crate::commands::{Compile, Subject};
use crate::edited::Edited;
use crate::measure;
use edgewise::cfg::unit::Analysis;
use edgewise::compiler::preprocess::{self, Preprocessed};
use edgewise::compiler::project;
use edgewise::frontend::symbols::Symbolic;
use edgewise::frontend::{self, Tree};
use edgewise::ids::Fingerprint;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A procedure, with its place relative to the root of the subject.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Procedure {
    pub file: String,
    pub line: u32,
    pub name: String,
}

#[derive(Default)]
pub struct Outcome {
    pub source: String,
    /// Files of the project that are part of the text.
    pub files: Vec<PathBuf>,
    pub text: usize,
    /// The text was preprocessed a second time, with symbols.
    pub symbolic: bool,
    pub preprocessor: Duration,
    pub ours: Duration,
    /// The same after an edit in one procedure, the old analysis at hand.
    pub after_edit: Duration,
    pub peak: usize,
    /// Each with why it is opaque, if it is.
    pub procedures: Vec<(Procedure, Option<String>)>,
    pub problems: Vec<String>,
    /// What the compiler has and we do not, apart from the next.
    pub missing: Vec<Procedure>,
    /// What the compiler has inside of a procedure that is opaque.
    pub nested: Vec<Procedure>,
    /// What we have and the compiler does not.
    pub extra: Vec<Procedure>,
    pub panic: Option<String>,
    /// Why there is nothing to report.
    pub failed: Option<String>,
}

thread_local! {
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Panics are results here; nothing is printed.
pub fn keep_panics() {
    std::panic::set_hook(Box::new(|info| {
        PANIC.with(|panic| *panic.borrow_mut() = Some(info.to_string().replace('\n', " ")));
    }));
}

/// Looks at one unit, timing both sides `repeat` times in turns. The text of a
/// unit that panics goes to `panics`.
pub fn look_at(subject: &Subject, compile: &Compile, repeat: u32, panics: &Path) -> Outcome {
    let mut outcome = Outcome { source: compile.source.clone(), ..Outcome::default() };
    let job = &compile.job;
    let preprocessed = match preprocess::preprocess(&subject.project, job, &[]) {
        Ok(preprocessed) => preprocessed,
        Err(error) => {
            outcome.failed = Some(error.to_string());
            return outcome;
        }
    };
    outcome.text = preprocessed.text.len();
    outcome.symbolic = preprocessed.symbolic.is_some();
    outcome.files = preprocess::files_of(&preprocessed.text)
        .iter()
        .map(|file| project::clean(&job.directory.join(file)))
        .filter(|path| path.starts_with(&subject.project.root))
        .collect();
    let look = Look { subject, compile, preprocessed: &preprocessed };
    let first = catch_unwind(AssertUnwindSafe(|| {
        let ((tree, analysis), peak) = measure::peak_of(|| look.analyse());
        outcome.peak = peak;
        look.note(&tree, analysis, &mut outcome);
    }));
    if first.is_err() {
        let message = PANIC.with(|panic| panic.borrow_mut().take()).unwrap_or_default();
        outcome.panic = Some(format!("{message} {}", look.save(panics)));
        return outcome;
    }
    let edited = (repeat > 0).then(|| Edited::of(&look));
    let mut best: Option<[Duration; 3]> = None;
    for _ in 0..repeat {
        let preprocessor = match measure::cpu_of_preprocessor(job) {
            Ok(time) => time,
            Err(error) => {
                outcome.failed = Some(error.to_string());
                return outcome;
            }
        };
        let ((), ours) = measure::cpu_of(|| drop(look.analyse()));
        let after_edit = edited.as_ref().map_or(Duration::ZERO, |edited| edited.time(&look));
        let times = [preprocessor, ours, after_edit];
        let known = best.unwrap_or(times);
        best = Some([0, 1, 2].map(|which| known[which].min(times[which])));
    }
    [outcome.preprocessor, outcome.ours, outcome.after_edit] = best.unwrap_or_default();
    outcome
}

pub struct Look<'a> {
    subject: &'a Subject,
    compile: &'a Compile,
    pub preprocessed: &'a Preprocessed,
}

impl<'a> Look<'a> {
    fn is_system(&self, file: &str) -> bool {
        preprocess::is_system(&self.subject.project, &self.compile.job.directory, file)
    }

    /// What the drop-in compiler does with the text, up to graphs and labels.
    pub fn analyse(&self) -> (Tree<'a>, Analysis) {
        let mut tree = self.parse(self.preprocessed, &[]);
        let analysis = edgewise::cfg::unit::analyse(&mut tree, &FxHashMap::default());
        (tree, analysis)
    }

    pub fn parse<'t>(&self, text: &'t Preprocessed, known: &[Option<Fingerprint>]) -> Tree<'t> {
        let root = self.subject.project.root.to_string_lossy();
        let symbolic = text.symbolic.as_deref();
        let symbolic = symbolic.map(|text| Symbolic { text, root: root.as_ref() });
        let is_system = |file: &str| self.is_system(file);
        frontend::analyse_unknown(
            &text.text,
            symbolic.as_ref(),
            &is_system,
            frontend::Assembler::Plain,
            known,
        )
    }

    fn procedure(&self, name: &str, file: &str, line: u32) -> Procedure {
        let file = self.subject.project.record_path(&self.compile.job.directory, file);
        Procedure { file, line, name: name.to_string() }
    }

    /// Takes down what was found, and compares it with the compiler's list.
    fn note(&self, tree: &Tree<'_>, analysis: Analysis, outcome: &mut Outcome) {
        let file_of = |index: u32| tree.tokens.lines.files.get(index as usize);
        let mut spans = Vec::new();
        for (known, parsed) in analysis.procedures.iter().zip(&tree.procedures) {
            // The compiler's list has the name of the source, not the linker's.
            let name = tree.tokens.names.string(parsed.name);
            let file = file_of(known.place.file).map_or("", String::as_str);
            let procedure = self.procedure(&name, file, known.place.line);
            let end = tree.tokens.all[parsed.range.end as usize - 1].start;
            let end = tree.tokens.lines.place(end).map_or(0, |place| place.line);
            if known.opaque.is_some() {
                spans.push((procedure.file.clone(), known.place.line..=end));
            }
            outcome.procedures.push((procedure, known.opaque.clone()));
        }
        outcome.problems = analysis.problems();
        let theirs = match check::definitions(&self.compile.job) {
            Ok(theirs) => theirs,
            Err(error) => {
                outcome.failed = Some(format!("-aux-info: {error}"));
                return;
            }
        };
        let ours: BTreeSet<String> =
            outcome.procedures.iter().map(|(procedure, _)| procedure.name.clone()).collect();
        for defined in &theirs {
            if self.is_system(&defined.file) || ours.contains(&defined.name) {
                continue;
            }
            let procedure = self.procedure(&defined.name, &defined.file, defined.line);
            let is_nested = spans
                .iter()
                .any(|(file, lines)| *file == procedure.file && lines.contains(&procedure.line));
            let list = if is_nested { &mut outcome.nested } else { &mut outcome.missing };
            list.push(procedure);
        }
        let theirs: BTreeSet<&str> = theirs.iter().map(|defined| defined.name.as_str()).collect();
        let extra = outcome.procedures.iter().map(|(procedure, _)| procedure);
        outcome.extra = extra.filter(|p| !theirs.contains(p.name.as_str())).cloned().collect();
    }

    fn save(&self, panics: &Path) -> String {
        let name = format!("{}-{}.i", self.subject.name, self.compile.source.replace('/', "_"));
        let path = panics.join(name);
        let written = fs_err::create_dir_all(panics)
            .and_then(|()| fs_err::write(&path, &self.preprocessed.text));
        match written {
            Ok(()) => format!("(text in {})", path.display()),
            Err(error) => format!("(text not kept: {error})"),
        }
    }
}
