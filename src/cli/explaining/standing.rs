//! What stands on a line without code, who depends on it by what the sources say, and whom
//! it may select. Units know nothing of macros, and of declarations not who uses them.

use super::Basis;
use crate::cli::reporting::Texts;
use crate::history::store::StoreError;
use crate::ids::Fingerprint;
use crate::report::explain::{Line, LineChange, Standing, Stands};
use crate::report::outline::{Item, Kind, Outline};
use crate::select::{EdgeReason, Exclusion, Reason, SourceLine};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// Of very many sources so many are looked into.
const MOST_SOURCES: usize = 3000;
/// What depends on what depends on it, and so on.
const MOST_ROUNDS: usize = 30;

/// What is known of a line from the text of the sources alone.
pub struct OnLine {
    pub stands: Stands,
    /// Names that are declared on this very line.
    pub own: Vec<String>,
    /// Whether it says something else now, as far as the old text is known.
    pub change: LineChange,
    /// Whether this very line is one in which the two versions of the item differ, if both are
    /// known.
    pub is_edited: Option<bool>,
    pub users: Users,
}

/// Who depends on a macro or a declaration.
#[derive(Default)]
pub struct Users {
    /// Procedures by file and name, with their lines.
    pub procedures: BTreeMap<(String, String), u32>,
    /// Lines of code that it is used on, by file.
    lines: BTreeSet<(String, u32)>,
    /// Macros and declarations that it is used in, and itself.
    names: FxHashSet<String>,
    /// What the preprocessor leaves out may depend on it.
    is_condition: bool,
    outlines: FxHashMap<String, Outline>,
}

impl OnLine {
    /// Whether an edge leads elsewhere for this, as far as that can be told.
    pub fn is_behind(&self, edge: &EdgeReason) -> bool {
        let names = |name: &String| edge.because.contains(&format!("`{name}`"));
        match self.stands.is {
            Standing::Macro => {
                self.users.names.iter().any(names)
                    || (edge.because.is_empty() && self.users.has(edge))
            }
            Standing::Declaration => {
                let own = if self.own.is_empty() { &self.stands.names } else { &self.own };
                own.iter().any(names)
            }
            _ => false,
        }
    }

    /// Whether a reason says that the macro itself is another one.
    pub fn is_named_by(&self, edge: &EdgeReason) -> bool {
        let says = |name: &String| edge.because.starts_with(&format!("`{name}` is defined"));
        self.stands.is == Standing::Macro && self.stands.names.iter().any(says)
    }
}

impl Users {
    /// Whether an edge leads to a statement with a use in it, which has other words now.
    fn has(&self, edge: &EdgeReason) -> bool {
        let Some(new) = edge.new.as_ref().filter(|new| new.text != edge.old.text) else {
            return false;
        };
        let Some(outline) = self.outlines.get(&new.file) else { return false };
        let place = |line: u32| (new.file.clone(), line);
        let end = outline.end_of_statement(new.line);
        self.lines.range(place(new.line)..=place(end)).next().is_some()
    }
}

impl Basis<'_> {
    /// What stands on a line that is no code; none within a procedure, or if the file cannot
    /// be read.
    pub(super) fn on_line(&self, file: &str, line: u32, texts: &mut Texts<'_>) -> Option<OnLine> {
        let now = Outline::of(texts.now(file)?);
        let Some(item) = now.at(line) else {
            let has_line = texts.now(file)?.len() >= line as usize && line > 0;
            let stands = Stands { is: Standing::Blank, names: Vec::new(), first: line, last: line };
            let (own, users) = (Vec::new(), Users::default());
            let change = LineChange::Same;
            return (has_line && now.is_blank(line)).then_some(OnLine {
                stands,
                own,
                change,
                is_edited: None,
                users,
            });
        };
        let is = match item.kind {
            Kind::Procedure if now.is_blank(line) => Standing::Blank,
            Kind::Procedure => return None,
            Kind::Macro => Standing::Macro,
            Kind::Include => Standing::Include,
            Kind::Condition => Standing::Condition,
            Kind::Directive => Standing::Directive,
            Kind::Declaration if now.is_blank(line) => Standing::Blank,
            Kind::Declaration => Standing::Declaration,
        };
        let names = item.names.iter().map(|(name, _)| name.clone()).collect();
        let own = item.names.iter().filter(|(_, at)| *at == line).map(|(name, _)| name.clone());
        let own: Vec<String> = own.collect();
        let stands = Stands { is, names, first: item.first, last: item.last };
        let change = match is {
            Standing::Blank => LineChange::Same,
            _ => text_change(file, item, &now, texts),
        };
        let users = match is {
            Standing::Macro | Standing::Declaration => {
                let names = if own.is_empty() { &stands.names } else { &own };
                self.users(file, names, texts)
            }
            _ => Users::default(),
        };
        let is_edited = stands.names.first().and_then(|name| {
            let then = Outline::of(texts.then(file)?);
            let [_, edited] = then.differences(&now, name)?;
            Some(edited.iter().any(|(at, _)| *at == line))
        });
        Some(OnLine { stands, own, change, is_edited, users })
    }

    /// What is known of a line of a procedure on which nothing begins.
    pub(super) fn inside_of(&self, file: &str, line: u32, texts: &mut Texts<'_>) -> Option<OnLine> {
        let now = Outline::of(texts.now(file)?);
        let item = now.at(line).filter(|item| item.kind == Kind::Procedure)?;
        let names = item.names.iter().map(|(name, _)| name.clone()).collect();
        let stands = Stands { is: Standing::Inside, names, first: item.first, last: item.last };
        let is_here = |at: &SourceLine| at.file == file && item.has(at.line);
        let leads_elsewhere = |edge: &EdgeReason| edge.new.as_ref().is_some_and(is_here);
        let mut edges = self.selected.pairs.iter().flat_map(|pair| &pair.dangers);
        let change = match edges.any(|(edge, _)| leads_elsewhere(edge)) {
            true => LineChange::Changed,
            false => text_change(file, item, &now, texts),
        };
        Some(OnLine { stands, own: Vec::new(), change, is_edited: None, users: Users::default() })
    }

    /// Who depends on names of a file: procedures that have them among their words, or those
    /// of macros and declarations that have.
    fn users(&self, file: &str, names: &[String], texts: &mut Texts<'_>) -> Users {
        let mut users = Users { names: names.iter().cloned().collect(), ..Users::default() };
        let mut sources: BTreeSet<&str> = BTreeSet::new();
        let mut places: FxHashMap<&str, Vec<(u32, &str)>> = FxHashMap::default();
        for unit in self.reached.units().chain(self.selected.new_units()) {
            if !unit.index.files.iter().any(|own| own == file) {
                continue;
            }
            sources.extend(unit.index.files.iter().map(String::as_str));
            for procedure in &unit.index.procedures {
                let place = (procedure.place.line, procedure.name.as_str());
                places.entry(unit.file(procedure.place)).or_default().push(place);
            }
        }
        for source in sources.into_iter().filter(|s| !s.starts_with('/')).take(MOST_SOURCES) {
            if let Some(lines) = texts.now(source) {
                users.outlines.insert(source.to_string(), Outline::of(lines));
            }
        }
        let mut items: Vec<(&String, &Item, FxHashSet<&str>)> = Vec::new();
        for (source, outline) in &users.outlines {
            items.extend(outline.items.iter().map(|item| (source, item, outline.words(item))));
        }
        for _ in 0..MOST_ROUNDS {
            let count = users.names.len();
            for (_, item, words) in &items {
                let own = |word: &str| item.names.iter().any(|(name, _)| name == word);
                let is_used = || words.iter().any(|word| users.names.contains(*word) && !own(word));
                match item.kind {
                    Kind::Macro | Kind::Declaration if is_used() => {
                        users.names.extend(item.names.iter().map(|(name, _)| name.clone()));
                    }
                    Kind::Condition | Kind::Include | Kind::Directive => {
                        users.is_condition |= is_used();
                    }
                    _ => {}
                }
            }
            if users.names.len() == count {
                break;
            }
        }
        for (source, item, words) in items {
            let has_it = words.iter().any(|word| users.names.contains(*word));
            if item.kind != Kind::Procedure || !has_it {
                continue;
            }
            let known = places.get(source.as_str()).into_iter().flatten();
            let known = known.filter(|(line, _)| item.has(*line)).copied();
            let known: BTreeSet<(u32, &str)> = known.collect();
            // What no test ran a program with is of no interest here.
            for (line, name) in known {
                users.procedures.insert((source.clone(), name.to_string()), line);
            }
        }
        for (source, outline) in &users.outlines {
            let used = outline.uses(&users.names).into_iter();
            users.lines.extend(used.map(|line| (source.clone(), line)));
        }
        users
    }

    /// Tests that are selected for a change of code which depends on a line, or may.
    pub(super) fn perhaps_for(
        &self,
        file: &str,
        on_line: &OnLine,
    ) -> Result<Vec<String>, StoreError> {
        let has_file = |files: &[String]| files.iter().any(|own| own == file);
        let units = self.reached.units().filter(|unit| has_file(&unit.index.files));
        let units: FxHashSet<Fingerprint> = units.map(|unit| unit.fingerprint()).collect();
        let programs = self.programs_with(&units)?;
        let is_anywhere = on_line.users.is_condition
            || matches!(
                on_line.stands.is,
                Standing::Include | Standing::Condition | Standing::Directive
            );
        let is_of = |program: &String, procedure: &String| {
            let mut users = on_line.users.procedures.keys();
            programs.contains(program) && (is_anywhere || users.any(|(_, name)| name == procedure))
        };
        let counts = |reason: &Reason| match reason {
            Reason::Edge(edge) => is_of(&edge.program, &edge.procedure),
            Reason::ProcedureGone { program, procedure, .. }
            | Reason::Procedure { program, procedure, .. } => is_of(program, procedure),
            Reason::Program { program, .. } => programs.contains(program),
            _ => false,
        };
        Ok(self.tests_with(counts))
    }

    /// Explains a line of a file that no unit is made of: data, a script, a build description.
    pub(super) fn data_line(&self, file: &str, line: u32) -> anyhow::Result<Line> {
        let then = self.history.common_files()?;
        let now = &self.selected.files.now;
        let mut texts = Texts::new(&self.workspace.project.root, &then, now);
        let place = (line as usize).checked_sub(1);
        let text = |lines: Option<&[String]>| Some(lines?.get(place?)?.trim_end().to_string());
        let (mut used, mut unseen) = (Vec::new(), Vec::new());
        let mut known: FxHashMap<Fingerprint, (bool, bool)> = FxHashMap::default();
        for (name, test) in self.history.tests() {
            let (uses_it, is_complete) = match known.get(&test.uses) {
                Some(known) => *known,
                None => {
                    let uses = self.history.uses(test.uses)?;
                    let found =
                        (uses.files.iter().any(|(own, _)| own == file), uses.incomplete.is_none());
                    *known.entry(test.uses).or_insert(found)
                }
            };
            if uses_it {
                used.push(name.to_string());
            } else if !is_complete {
                unseen.push(name.to_string());
            }
        }
        used.sort_unstable();
        unseen.sort_unstable();
        let selected = self.selected_for_file(file);
        let is_same = then.get(file) == now.get(file) && selected.is_empty();
        let stands = Stands { is: Standing::Data, names: Vec::new(), first: line, last: line };
        Ok(Line {
            is_edited: None,
            file: file.to_string(),
            line,
            asked: None,
            text: text(texts.now(file)),
            procedures: Vec::new(),
            stands: Some(stands),
            declares: Vec::new(),
            users: Vec::new(),
            change: if is_same { LineChange::Same } else { LineChange::Changed },
            is_excluded: self.workspace.config.excluded()?.holds_file(file),
            dangers: Vec::new(),
            selected_otherwise: self.otherwise(&used, &selected),
            reached: Some(used),
            selected,
            perhaps: Vec::new(),
            selected_for_file: Vec::new(),
            unseen,
            before: None,
        })
    }

    /// Tests that are selected since a file is another one, whatever is in it.
    pub(super) fn selected_for_file(&self, file: &str) -> Vec<String> {
        let is_about = |what: &str| {
            what.strip_prefix(file).is_some_and(|rest| rest.starts_with([' ', ',', ':']))
        };
        self.tests_with(|reason| match reason {
            Reason::Files { what, .. } => is_about(what),
            // Inputs that it declares.
            Reason::TestChanged { what } => what.split("; ").any(is_about),
            _ => false,
        })
    }

    /// Tests with such a reason, by name.
    fn tests_with(&self, counts: impl Fn(&Reason) -> bool) -> Vec<String> {
        let chosen = self.selected.report.selected.iter();
        let chosen = chosen.filter(|(_, reasons)| reasons.iter().any(&counts));
        let mut names: Vec<String> = chosen.map(|(name, _)| name.clone()).collect();
        names.sort_unstable();
        names
    }
}

/// Whether an item says what it said, by the old text if that can be had.
fn text_change(file: &str, item: &Item, now: &Outline, texts: &mut Texts<'_>) -> LineChange {
    let Some(then) = texts.then(file) else {
        return LineChange::Unknown(String::from("git does not have the file as it was"));
    };
    match Outline::of(then).says(now, item) {
        Some(true) => LineChange::Same,
        Some(false) | None => LineChange::Changed,
    }
}
