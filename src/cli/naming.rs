//! Names the macro behind a statement that is other text now without having been edited, and
//! shows what is behind a reason as it was and as it is. Units know nothing of macros, and of
//! declarations not the text, so this is read from the sources, for reasons alone.

use super::reporting::Texts;
use crate::history::format::FileState;
use crate::ids::TestId;
use crate::report::outline::{Kind, Outline, tokens};
use crate::select::culprit::declared_inside;
use crate::select::{Behind, ComparedPair, EdgeReason, PassedOver, Reason, Rule, SourceLine};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Of very many files that changed, so many are looked into.
const MOST_FILES: usize = 60;
/// Of files with statements that changed, too.
const MOST_SOURCES: usize = 300;
/// So many declarations are shown as they were, since git has to be asked for their files.
const MOST_SHOWN: usize = 20;
/// Of one declaration so many lines.
const MOST_LINES: usize = 20;

pub struct Macros<'m> {
    texts: Texts<'m>,
    then: &'m FileState,
    now: &'m FileState,
    outlines: FxHashMap<(String, bool), Option<Outline>>,
    /// Macros of files that are others now, by name.
    changed: FxHashMap<String, Vec<Definition>>,
    /// What is said of a change, by where it is and what it is.
    said: FxHashMap<(SourceLine, SourceLine), String>,
    /// The same with what is behind it, by what is said of it and its file.
    shown: FxHashMap<(String, String), (String, Behind)>,
}

struct Definition {
    file: String,
    line: u32,
    body: Vec<String>,
}

impl<'m> Macros<'m> {
    pub fn new(root: &Path, then: &'m FileState, now: &'m FileState) -> Self {
        let texts = Texts::new(root, then, now);
        let mut macros = Self {
            texts,
            then,
            now,
            outlines: FxHashMap::default(),
            changed: FxHashMap::default(),
            said: FxHashMap::default(),
            shown: FxHashMap::default(),
        };
        let changed = now.iter().filter(|(name, state)| {
            let path = Path::new(name);
            let is_source = path.extension().is_some_and(|end| end.len() < 4);
            is_source && then.get(*name) != Some(*state)
        });
        for (name, _) in changed.take(MOST_FILES) {
            let Some(outline) = macros.outline(name, true) else { continue };
            let items = outline.items.iter().filter(|item| item.kind == Kind::Macro);
            let defined = items.filter_map(|item| {
                let (name, line) = item.names.first()?.clone();
                Some((name, line, tokens(&outline.text_of(item))))
            });
            for (own, line, body) in defined.collect::<Vec<_>>() {
                let definition = Definition { file: name.clone(), line, body };
                macros.changed.entry(own).or_default().push(definition);
            }
        }
        macros
    }

    /// Adds the names of macros to reasons, and the texts of what they name, wherever these
    /// are kept.
    pub fn name_in(
        &mut self,
        reasons: &mut BTreeMap<TestId, Vec<Reason>>,
        passed_over: &mut [PassedOver],
        dangerous: &mut [EdgeReason],
        pairs: &mut [ComparedPair],
    ) {
        // Tests share their reasons.
        let mut renamed: FxHashMap<*const EdgeReason, Arc<EdgeReason>> = FxHashMap::default();
        let passed = passed_over.iter_mut().map(|passed| &mut passed.change);
        for reason in reasons.values_mut().flatten().chain(passed) {
            let Reason::Edge(edge) = reason else { continue };
            let known = renamed.entry(Arc::as_ptr(edge)).or_insert_with(|| {
                let mut named = (**edge).clone();
                self.complete(&mut named);
                Arc::new(named)
            });
            *edge = known.clone();
        }
        let in_pairs = pairs.iter_mut().flat_map(|pair| &mut pair.dangers).map(|(edge, _)| edge);
        for edge in dangerous.iter_mut().chain(in_pairs) {
            self.complete(edge);
        }
    }

    fn complete(&mut self, edge: &mut EdgeReason) {
        let because = self.because(edge);
        if !because.is_empty() {
            edge.because = because;
        }
        self.show(edge);
    }

    /// Whether a reason can have more said of it here.
    pub fn has_more_of(edge: &EdgeReason) -> bool {
        Self::may_be_behind(edge) || named(edge).is_some()
    }

    /// Adds both texts of what a reason names.
    fn show(&mut self, edge: &mut EdgeReason) {
        let Some((file, within)) = named(edge) else { return };
        let key = (edge.because.clone(), file.to_string());
        if !self.shown.contains_key(&key) {
            if self.shown.len() == MOST_SHOWN {
                return;
            }
            let (file, within) = (file.to_string(), within.map(String::from));
            let found = match within {
                Some(procedure) => self.variables(&edge.because, &file, &procedure),
                None => self.declaration(&edge.because, &file),
            };
            let found = found.unwrap_or_else(|| (edge.because.clone(), Behind::default()));
            self.shown.insert(key.clone(), found);
        }
        let (because, behind) = &self.shown[&key];
        (edge.because, edge.behind) = (because.clone(), behind.clone());
    }

    fn declaration(&mut self, because: &str, file: &str) -> Option<(String, Behind)> {
        let name = quoted(because).next()?;
        self.outline(file, true)?;
        self.outline(file, false)?;
        let outlines = &self.outlines;
        let [then, now] = [false, true].map(|is_now| outlines.get(&(file.to_string(), is_now)));
        let differences = then?.as_ref()?.differences(now?.as_ref()?, name)?;
        let [old, new] = differences.map(|lines| {
            let lines = lines.into_iter().take(MOST_LINES);
            lines.map(|(line, text)| SourceLine { file: file.to_string(), line, text }).collect()
        });
        Some((because.to_string(), Behind { old, new }))
    }

    /// The same of variables of a procedure's own: of several that may be meant, those whose
    /// declarations differ.
    fn variables(
        &mut self,
        because: &str,
        file: &str,
        procedure: &str,
    ) -> Option<(String, Behind)> {
        let (mut names, mut behind) = (Vec::new(), Behind::default());
        for name in quoted(because).filter(|name| *name != procedure) {
            let was = self.outline(file, false)?.first_use(procedure, name);
            let is = self.outline(file, true)?.first_use(procedure, name);
            let (Some(was), Some(is)) = (was, is) else { continue };
            if tokens(&was.1) != tokens(&is.1) {
                let line = |(line, text)| SourceLine { file: file.to_string(), line, text };
                names.push(name.to_string());
                behind.old.push(line(was));
                behind.new.push(line(is));
            }
        }
        let (said, place) = because.split_once(" (").unwrap_or((because, ""));
        let said = match names.is_empty() {
            true => said.to_string(),
            false => declared_inside(&names, procedure),
        };
        let place = if place.is_empty() { String::new() } else { format!(" ({place}") };
        Some((format!("{said}{place}"), behind))
    }

    /// Whether a statement is another one for reasons that are not told yet.
    pub fn may_be_behind(edge: &EdgeReason) -> bool {
        let is_other = edge.new.as_ref().is_some_and(|new| new.text != edge.old.text);
        is_other && edge.because.is_empty() && edge.by == Rule::Statement
    }

    fn because(&mut self, edge: &EdgeReason) -> String {
        let may_be = !self.changed.is_empty() && Self::may_be_behind(edge);
        let Some(new) = edge.new.as_ref().filter(|_| may_be) else { return String::new() };
        let key = (edge.old.clone(), new.clone());
        if let Some(known) = self.said.get(&key) {
            return known.clone();
        }
        let said = self.macro_behind(&edge.old, new).unwrap_or_default();
        self.said.insert(key, said.clone());
        said
    }

    /// The macro that a statement got other words from.
    fn macro_behind(&mut self, old: &SourceLine, new: &SourceLine) -> Option<String> {
        let written = self.outline(&new.file, true)?.statement(new.line);
        let (before, now) = (tokens(&old.text), tokens(&new.text));
        // Words that are new without being written there; or there are only fewer of them.
        let mut strange: FxHashSet<String> = beyond(&now, &before);
        let is_unedited = self.then.get(&new.file) == self.now.get(&new.file);
        let is_less = strange.is_empty();
        if !is_unedited {
            strange.retain(|word| !written.contains(word));
            if strange.is_empty() && !is_less {
                return None;
            }
        }
        // A macro may stand in another one.
        let mut seen: FxHashSet<&str> = FxHashSet::default();
        let mut todo: Vec<&str> = written.iter().map(String::as_str).collect();
        let mut found = Vec::new();
        while let Some(word) = todo.pop() {
            if !seen.insert(word) {
                continue;
            }
            for Definition { file, line, body } in self.changed.get(word).into_iter().flatten() {
                if is_less || body.iter().any(|word| strange.contains(word)) {
                    found.push((file.clone(), *line, word.to_string()));
                }
                todo.extend(body.iter().map(String::as_str));
            }
        }
        found.sort();
        // Whoever uses a macro that he did not use before edits his own line.
        let mut changed = Vec::new();
        for (file, line, name) in found {
            let was = self.definition(&file, &name, false);
            let is = self.definition(&file, &name, true);
            match was {
                Some(was) if Some(&was) != is.as_ref() => changed.push((file, line, name)),
                None if is_unedited && self.outline(&file, false).is_none() => {
                    changed.push((file, line, name));
                }
                _ => {}
            }
        }
        let (file, line, name) = match changed.len() {
            0 => return None,
            1 => changed.remove(0),
            _ if is_less => return None,
            _ => changed.remove(0),
        };
        Some(format!("`{name}` is defined otherwise ({file}:{line})"))
    }

    fn definition(&mut self, file: &str, name: &str, is_now: bool) -> Option<String> {
        let outline = self.outline(file, is_now)?;
        Some(outline.text_of(outline.macro_named(name)?))
    }

    fn outline(&mut self, file: &str, is_now: bool) -> Option<&Outline> {
        let key = (file.to_string(), is_now);
        if self.outlines.len() > MOST_SOURCES && !self.outlines.contains_key(&key) {
            return None;
        }
        let texts = &mut self.texts;
        let read = || {
            let lines = if is_now { texts.now(file) } else { texts.then(file) };
            lines.map(Outline::of)
        };
        self.outlines.entry(key).or_insert_with(read).as_ref()
    }
}

/// What stands in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The file of what a reason names, and the procedure if it is one of its own variables.
fn named(edge: &EdgeReason) -> Option<(&str, Option<&str>)> {
    let because = edge.because.as_str();
    if because.contains(" is declared otherwise inside of `") {
        return Some((&edge.new.as_ref()?.file, quoted(because).last()));
    }
    let says = ["is declared otherwise (", "is defined otherwise (", "has another definition ("];
    let behind = says.iter().find_map(|says| Some(because.split_once(says)?.1))?;
    let (file, _) = behind.split_once(')')?.0.rsplit_once(':')?;
    Some((file, None))
}

/// The words that one text has more often than another.
fn beyond(text: &[String], other: &[String]) -> FxHashSet<String> {
    let mut counts: FxHashMap<&String, isize> = FxHashMap::default();
    text.iter().for_each(|word| *counts.entry(word).or_default() += 1);
    other.iter().for_each(|word| *counts.entry(word).or_default() -= 1);
    counts.into_iter().filter(|(_, more)| *more > 0).map(|(word, _)| word.clone()).collect()
}
