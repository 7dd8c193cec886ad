//! Puts together what there is to say about a procedure or a line.

use super::Basis;
use super::declared::Declared;
use super::standing::OnLine;
use super::test::counterpart;
use crate::cfg::format::{Graph, Place};
use crate::cli::reporting::{self, Texts};
use crate::history::column::TestBits;
use crate::history::store::StoreError;
use crate::ids::{Fingerprint, NodeId, TestId, UnitIx};
use crate::report::explain::{
    Before, Change, Danger, Diff, Function, Line, LineChange, Mark, Standing,
};
use crate::report::outline::{Outline, tokens};
use crate::report::text::counted;
use crate::select::program::unparsed;
use crate::select::version::{ProcRef, ProgramVersion, UnitVersion};
use crate::select::{
    ComparedPair, Comparison, EdgeReason, Exclusion, NewProgram, Reason, SourceLine,
};
use anyhow::bail;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Basis<'_> {
    /// Explains the procedure of a name in a file.
    pub(super) fn function(&self, file: &str, name: &str) -> anyhow::Result<Function> {
        let mut function = Function {
            name: name.to_string(),
            file: file.to_string(),
            line: 0,
            change: Change::Same,
            is_excluded: self.workspace.config.excluded()?.holds(file, name),
            programs: Vec::new(),
            opaque: None,
            diff: None,
            dangers: Vec::new(),
            entered: Vec::new(),
            unknown: self.history.without_rows(),
            selected: Vec::new(),
            selected_otherwise: Vec::new(),
        };
        let mut entered = self.reached.nobody();
        for ((place, line), tests) in self.reached.named(name)? {
            if place == file {
                function.line = line;
                entered |= tests;
            }
        }
        function.entered = self.reached.names(&entered).into_iter().map(String::from).collect();
        let mut units: FxHashSet<Fingerprint> = FxHashSet::default();
        for unit in self.reached.units() {
            let is_it = |index: &&crate::cfg::format::ProcedureIndex| {
                index.name == name && unit.file(index.place) == file
            };
            if let Some(index) = unit.index.procedures.iter().find(is_it) {
                units.insert(unit.fingerprint());
                function.opaque.clone_from(&index.opaque);
            }
        }
        function.programs = self.programs_with(&units)?;
        let then = self.history.common_files()?;
        let root = &self.workspace.project.root;
        let mut texts = Texts::new(root, &then, &self.selected.files.now);
        for (number, comparison) in self.selected.comparisons.iter().enumerate() {
            self.add_comparison(&mut function, number, comparison, &mut texts);
        }
        let is_this = |procedure: &str, old: &SourceLine| procedure == name && old.file == file;
        function.selected = self.selected_for(&function.dangers, |reason| match reason {
            Reason::ProcedureGone { procedure, old, .. }
            | Reason::Procedure { procedure, old, .. } => is_this(procedure, old),
            _ => false,
        });
        function.selected_otherwise = self.otherwise(&function.entered, &function.selected);
        Ok(function)
    }

    /// What became of a procedure in one program.
    fn add_comparison(
        &self,
        function: &mut Function,
        number: usize,
        comparison: &Comparison,
        texts: &mut Texts<'_>,
    ) {
        let old = &comparison.old;
        let (file, name) = (function.file.clone(), function.name.clone());
        let is_it = |program: &ProgramVersion, at: &ProcRef| {
            let index = program.procedure(*at);
            index.name == name && program.unit(at.unit).file(index.place) == file
        };
        let new = match &comparison.new {
            NewProgram::Version(new) => new,
            NewProgram::Unknown(why) => {
                // Its units are not even read.
                if function.change == Change::Same && function.programs.contains(&old.path) {
                    function.change = Change::Unknown(why.clone());
                }
                return;
            }
        };
        let unparsed = unparsed(old, new);
        let does_not_parse = |program: &ProgramVersion, at: &ProcRef| {
            unparsed.contains(&program.unit(at.unit).index.key)
        };
        for at in old.procedures().filter(|at| is_it(old, at)) {
            if does_not_parse(old, &at) {
                let source = &old.unit(at.unit).index.key.source;
                let why = format!("{source} does not parse, or did not parse before");
                function.change = Change::Unknown(why);
                continue;
            }
            let pairs = self.selected.pairs.iter();
            let mut pairs = pairs.filter(|pair| pair.comparison == number && pair.old == at);
            let pair = pairs.next();
            let now = pair.map(|pair| pair.new).or_else(|| counterpart(old, at, new));
            let Some(now) = now else {
                function.change = Change::Gone;
                let sides = reporting::sides_of(Some((old, at)), None, texts);
                function.diff.get_or_insert_with(|| Diff::of(&sides.0, &sides.1));
                continue;
            };
            let index = new.procedure(now);
            function.line = index.place.line;
            if let Some(pair) = pair.filter(|pair| !pair.graph.rejects.is_empty()) {
                function.change = Change::Changed;
                function.is_excluded |= pair.is_excluded;
                function.opaque.clone_from(&index.opaque);
                self.add_dangers(&mut function.dangers, pair, |_| true);
                let sides = reporting::sides_of(Some((old, at)), Some((new, now)), texts);
                let diff = Diff::of(&sides.0, &sides.1);
                if !diff.lines.is_empty() {
                    function.diff.get_or_insert(diff);
                }
            }
        }
        let is_new = |at: &ProcRef| is_it(new, at) && counterpart(new, *at, old).is_none();
        let is_new = |at: &ProcRef| !does_not_parse(new, at) && is_new(at);
        for at in new.procedures().filter(is_new) {
            let index = new.procedure(at);
            function.line = index.place.line;
            function.opaque.clone_from(&index.opaque);
            if function.change == Change::Same {
                function.change = Change::New;
                let sides = reporting::sides_of(None, Some((new, at)), texts);
                function.diff.get_or_insert_with(|| Diff::of(&sides.0, &sides.1));
            }
        }
    }

    /// Explains a line of a file, by the number that it has now.
    pub(super) fn line(&self, file: &str, line: u32) -> anyhow::Result<Line> {
        let then = self.history.common_files()?;
        let root = &self.workspace.project.root;
        let mut texts = Texts::new(root, &then, &self.selected.files.now);
        let at = |text: Option<&[String]>| {
            text?.get((line as usize).checked_sub(1)?).map(|text| text.trim_end().to_string())
        };
        let place = Spot { file, line };
        let found = self.code_on(&place)?;
        if found.text.is_none()
            && let Some(first) = found.nearest.first().filter(|first| **first < line)
            && Outline::of(texts.now(file).unwrap_or_default()).goes_on(*first, line)
        {
            let mut answer = self.line(file, *first)?;
            answer.asked = Some(line);
            self.add_jump(&mut answer, line, &mut texts);
            return Ok(answer);
        }
        let is_here = |source: &SourceLine| source.file == file && source.line == line;
        let (mut dangers, mut gone) = (Vec::new(), Vec::new());
        for pair in &self.selected.pairs {
            let into = |edge: &EdgeReason| edge.new.as_ref().is_some_and(is_here);
            self.add_dangers(&mut dangers, pair, into);
            self.add_dangers(&mut gone, pair, |edge| is_here(&edge.old) && !into(edge));
        }
        let mut reached = found.reached.clone();
        let outdated = self.outdated()?;
        let stands = match found.text {
            Some(_) => None,
            None => self.on_line(file, line, &mut texts),
        };
        let declared = match (&found.text, &stands) {
            (Some(_), _) => Declared::default(),
            (None, Some(on_line)) if on_line.stands.is != Standing::Declaration => {
                Declared::default()
            }
            (None, Some(OnLine { own, stands, .. })) => {
                let names = if own.is_empty() { &stands.names } else { own };
                self.declared_on(&place, names, &outdated)?
            }
            (None, None) => self.declared_on(&place, &[], &outdated)?,
        };
        for danger in &dangers {
            let old = &danger.edge.old;
            let is_old = |unit: &UnitVersion| outdated.contains_key(&unit.fingerprint());
            if let Some(tests) = self.reached.on_line(&old.file, old.line, is_old)? {
                *reached.get_or_insert_with(|| self.reached.nobody()) |= tests;
            }
        }
        if !declared.names.is_empty() {
            reached.clone_from(&declared.reached);
            for pair in &self.selected.pairs {
                self.add_dangers(&mut dangers, pair, |edge| declared.is_behind(edge));
            }
        }
        if let Some(on_line) = stands.as_ref().filter(|s| s.stands.is == Standing::Macro) {
            let may_be_other = on_line.change != LineChange::Same;
            for pair in &self.selected.pairs {
                let is_its = |edge: &EdgeReason| {
                    on_line.is_named_by(edge) || (may_be_other && on_line.is_behind(edge))
                };
                self.add_dangers(&mut dangers, pair, is_its);
            }
        }
        let before =
            self.reached.on_line(file, line, |unit| outdated.contains_key(&unit.fingerprint()))?;
        let change = match (&found.text, found.unknown.clone()) {
            (Some(_), _) if !dangers.is_empty() => LineChange::Changed,
            (Some(_), _) if found.reached.is_none() && before.is_some() && found.is_same_text() => {
                LineChange::Behind
            }
            (Some(_), _) if found.reached.is_none() => LineChange::NotRunYet,
            (Some(_), _) if !is_c(file) && !self.selected_for_file(file).is_empty() => {
                let why = "the build makes code of this file, and has not done so since it changed";
                LineChange::Unknown(String::from(why))
            }
            (Some(_), _) => LineChange::Same,
            (None, _) if declared.is_changed => LineChange::Changed,
            (None, _) if !dangers.is_empty() => match &stands {
                Some(on_line) if !is_told_of(on_line, &dangers) => on_line.change.clone(),
                _ => LineChange::Changed,
            },
            (None, _) if declared.is_known => LineChange::Same,
            (None, Some(why)) => LineChange::Unknown(why),
            (None, None) if stands.is_some() => {
                stands.as_ref().map_or(LineChange::NoCode, |on_line| on_line.change.clone())
            }
            (None, None) => LineChange::NoCode,
        };
        // Where it changed in its place, that is what the edges into it say.
        let is_told = gone.is_empty() && dangers.iter().any(|danger| is_here(&danger.edge.old));
        let excluded = self.workspace.config.excluded()?;
        let mut answer = Line {
            file: file.to_string(),
            line,
            asked: None,
            is_edited: stands.as_ref().and_then(|on_line| on_line.is_edited),
            text: at(texts.now(file)),
            is_excluded: found.procedures.iter().any(|name| excluded.holds(file, name)),
            procedures: found.procedures.into_iter().collect(),
            selected: self.selected_for(&dangers, |_| false),
            declares: Vec::new(),
            users: Vec::new(),
            perhaps: Vec::new(),
            selected_for_file: self.selected_for_file(file),
            unseen: Vec::new(),
            stands: None,
            dangers,
            reached: None,
            selected_otherwise: Vec::new(),
            before: None,
            change,
        };
        let names = |tests: &TestBits| -> Vec<String> {
            self.reached.names(tests).into_iter().map(String::from).collect()
        };
        if let Some(on_line) = stands {
            if answer.change != LineChange::Changed {
                answer.selected.clear();
            }
            if answer.change != LineChange::Same {
                answer.perhaps = self.perhaps_for(file, &on_line)?;
                answer.perhaps.retain(|name| answer.selected.binary_search(name).is_err());
            }
            let users = on_line.users.procedures.iter();
            answer.users =
                users.map(|((file, name), line)| format!("{name} ({file}:{line})")).collect();
            answer.declares = match on_line.own.is_empty() {
                false if on_line.stands.is == Standing::Declaration => on_line.own,
                _ => Vec::new(),
            };
            answer.stands = Some(on_line.stands);
        } else {
            answer.declares = declared.names.into_iter().collect();
        }
        if let Some(tests) = before {
            if matches!(answer.change, LineChange::Unknown(_) | LineChange::Behind) {
                reached = Some(tests);
            } else if found.old_text != found.text && !is_told {
                let text = at(texts.then(file)).or(found.old_text.clone());
                let is_same = text.is_some() && text == answer.text;
                let texts = found.old_text.zip(found.text);
                answer.before = Some(Before {
                    text,
                    meant: texts.filter(|_| is_same),
                    reached: names(&tests),
                    selected: self.selected_for(&gone, |_| false),
                    dangers: gone,
                });
            }
        }
        answer.reached = reached.as_ref().map(names);
        let known = answer.reached.as_deref().unwrap_or_default();
        answer.selected_otherwise = self.otherwise(known, &answer.selected);
        let is_nothing = answer.change == LineChange::NoCode && answer.before.is_none();
        if is_nothing && let Some(inside) = self.inside_of(file, line, &mut texts) {
            answer.change = inside.change;
            answer.stands = Some(inside.stands);
        } else if is_nothing {
            let near = found.nearest.iter().map(|line| format!("{file}:{line}"));
            let near: Vec<String> = near.collect();
            let hint = match near.is_empty() {
                true => String::new(),
                false => format!("\nhint: the nearest that do: {}", near.join(", ")),
            };
            match texts.now(file).map(<[String]>::len) {
                None => bail!("{file} is not there any more, or cannot be read"),
                Some(count) if line == 0 || line as usize > count => {
                    bail!("{file} has {}", counted(count, "line"))
                }
                Some(_) => {
                    bail!("{file}:{line} is not where a statement or a condition begins{hint}")
                }
            }
        }
        Ok(answer)
    }

    /// A jump is no node of its own: if its line was edited, the edges out of the code before it
    /// say what became of it.
    fn add_jump(&self, answer: &mut Line, line: u32, texts: &mut Texts<'_>) {
        let text = texts.now(answer.file.as_str()).and_then(|text| text.get(line as usize - 1));
        let is_jump = text.is_some_and(|text| {
            let words = tokens(text);
            words.iter().any(|word| matches!(word.as_str(), "break" | "continue" | "goto"))
        });
        if !is_jump || answer.change != LineChange::Same {
            return;
        }
        let (file, first) = (answer.file.clone(), answer.line);
        let mut dangers = Vec::new();
        for pair in &self.selected.pairs {
            let comparison = &self.selected.comparisons[pair.comparison];
            let NewProgram::Version(new) = &comparison.new else { continue };
            let unit = new.unit(pair.new.unit);
            let Some(graph) = new.graph(pair.new) else { continue };
            let before = Spot { file: &file, line: first };
            let before = before.nodes(unit, graph, &mut BTreeSet::new()).into_iter();
            let before: FxHashSet<&str> =
                before.map(|node| graph.node(node).text.as_str()).collect();
            let is_from = |edge: &EdgeReason| {
                edge.from.file == file && before.contains(edge.from.text.as_str())
            };
            let mut found = Vec::new();
            self.add_dangers(&mut found, pair, is_from);
            if found.is_empty() {
                continue;
            }
            let sides = reporting::sides_of(
                Some((&comparison.old, pair.old)),
                Some((new, pair.new)),
                texts,
            );
            let diff = Diff::of(&sides.0, &sides.1);
            if diff.lines.iter().any(|at| at.mark == Mark::New && at.number == line) {
                dangers.extend(found);
            }
        }
        if !dangers.is_empty() {
            answer.change = LineChange::LeadsElsewhere;
            answer.selected = self.selected_for(&dangers, |_| false);
            let known = answer.reached.as_deref().unwrap_or_default();
            answer.selected_otherwise = self.otherwise(known, &answer.selected);
            answer.dangers = dangers;
        }
    }

    /// Adds edges of a pair that lead elsewhere, once for all programs.
    fn add_dangers(
        &self,
        dangers: &mut Vec<Danger>,
        pair: &ComparedPair,
        is_wanted: impl Fn(&EdgeReason) -> bool,
    ) {
        for (edge, tests) in pair.dangers.iter().filter(|(edge, _)| is_wanted(edge)) {
            let tests = tests.iter().filter_map(|test: &TestId| self.tests.get(test.ix()));
            let tests = tests.map(|test| test.name.clone());
            let same = |known: &&mut Danger| {
                let of = |e: &EdgeReason| (e.from.clone(), e.edge.clone(), e.old.clone());
                of(&known.edge) == of(edge)
                    && known.edge.new == edge.new
                    && known.edge.because == edge.because
            };
            match dangers.iter_mut().find(same) {
                Some(known) => {
                    known.tests.extend(tests);
                    known.tests.sort_unstable();
                    known.tests.dedup();
                }
                None => {
                    dangers.push(Danger { edge: Arc::new(edge.clone()), tests: tests.collect() })
                }
            }
        }
    }

    /// Tests that are selected for one of these edges, or for another such reason.
    fn selected_for(&self, dangers: &[Danger], is_meant: impl Fn(&Reason) -> bool) -> Vec<String> {
        let edges: FxHashSet<(&SourceLine, &str, &SourceLine)> = dangers
            .iter()
            .map(|danger| (&danger.edge.from, danger.edge.edge.as_str(), &danger.edge.old))
            .collect();
        let counts = |reason: &Reason| match reason {
            Reason::Edge(edge) => edges.contains(&(&edge.from, edge.edge.as_str(), &edge.old)),
            other => is_meant(other),
        };
        let chosen = self.selected.report.selected.iter();
        let chosen = chosen.filter(|(_, reasons)| reasons.iter().any(counts));
        let mut names: Vec<String> = chosen.map(|(name, _)| name.clone()).collect();
        names.sort_unstable();
        names
    }

    pub(super) fn otherwise(&self, reached: &[String], selected: &[String]) -> Vec<String> {
        let is_other = |name: &&String| {
            self.reasons.contains_key(name.as_str()) && selected.binary_search(name).is_err()
        };
        reached.iter().filter(is_other).cloned().collect()
    }

    pub(super) fn programs_with(
        &self,
        units: &FxHashSet<Fingerprint>,
    ) -> Result<Vec<String>, StoreError> {
        let ids: BTreeSet<Fingerprint> =
            self.history.tests().flat_map(|(_, test)| test.programs.iter().copied()).collect();
        let mut programs = BTreeSet::new();
        for id in ids {
            let program = self.history.program(id)?;
            if program.units.iter().any(|unit| units.contains(unit)) {
                programs.insert(program.path);
            }
        }
        Ok(programs.into_iter().collect())
    }

    /// Units of the history that are not part of the new version any more, with why
    /// nothing is known of it, if so.
    fn outdated(&self) -> Result<FxHashMap<Fingerprint, Option<String>>, StoreError> {
        let mut outdated = FxHashMap::default();
        for (comparison, program) in self.selected.comparisons.iter().zip(&self.selected.programs) {
            match &comparison.new {
                NewProgram::Version(new) => {
                    let now: FxHashSet<Fingerprint> =
                        new.units.iter().map(|unit| unit.fingerprint()).collect();
                    let old = comparison.old.units.iter().map(|unit| unit.fingerprint());
                    outdated.extend(old.filter(|id| !now.contains(id)).map(|id| (id, None)));
                }
                NewProgram::Unknown(why) => {
                    let old = self.history.program(*program)?.units;
                    outdated.extend(old.into_iter().map(|id| (id, Some(why.clone()))));
                }
            }
        }
        Ok(outdated)
    }

    /// The code of a line as it is now, and as it was.
    fn code_on(&self, place: &Spot<'_>) -> Result<Code, StoreError> {
        let mut code = Code::default();
        let outdated = self.outdated()?;
        let known: FxHashSet<Fingerprint> =
            self.reached.units().map(|unit| unit.fingerprint()).collect();
        self.reached.each::<StoreError>(
            |unit, _| place.may_be_in(unit),
            |procedure| {
                match outdated.get(&procedure.unit.fingerprint()) {
                    Some(why) => {
                        for node in
                            place.nodes(procedure.unit, procedure.graph, &mut BTreeSet::new())
                        {
                            add_text(&mut code.old_text, &procedure.graph.node(node).text);
                            code.unknown = code.unknown.take().or_else(|| why.clone());
                        }
                    }
                    None => {
                        let nodes = place.nodes(procedure.unit, procedure.graph, &mut code.lines);
                        let (tests, _) = procedure.nodes_and_edges();
                        for node in nodes {
                            code.add(procedure.graph, node, &procedure.index.name);
                            code.reach(Some(&tests[node.ix()]));
                        }
                    }
                }
                Ok(())
            },
        )?;
        let mut seen = FxHashSet::default();
        for (number, comparison) in self.selected.comparisons.iter().enumerate() {
            let NewProgram::Version(new) = &comparison.new else { continue };
            for (unit_ix, unit) in new.units.iter().enumerate() {
                let id = unit.fingerprint();
                if known.contains(&id) || !place.may_be_in(unit) || !seen.insert(id) {
                    continue;
                }
                for at in unit.procedures(UnitIx::new(unit_ix)) {
                    let Some(graph) = new.graph(at) else { continue };
                    let nodes = place.nodes(unit, graph, &mut code.lines);
                    if nodes.is_empty() {
                        continue;
                    }
                    let pairs = self.selected.pairs.iter();
                    let mut pairs = pairs.filter(|p| p.comparison == number && p.new == at);
                    let pair = pairs.next();
                    let (tests, _) =
                        reporting::reach_of_new(self.history, comparison, new, at, pair)?;
                    for node in nodes {
                        code.add(graph, node, &new.procedure(at).name);
                        code.reach(tests[node.ix()].as_ref());
                    }
                }
            }
        }
        code.nearest = nearest(&code.lines, place.line);
        Ok(code)
    }
}

/// Whether an edge is known to lead elsewhere for what stands on a line.
fn is_told_of(on_line: &OnLine, dangers: &[Danger]) -> bool {
    on_line.stands.is != Standing::Macro
        || dangers.iter().any(|danger| on_line.is_named_by(&danger.edge))
}

/// A line of a file.
pub(super) struct Spot<'p> {
    file: &'p str,
    line: u32,
}

impl Spot<'_> {
    pub(super) fn is_at(&self, unit: &UnitVersion, place: Place) -> bool {
        place.line == self.line && unit.file(place) == self.file
    }

    pub(super) fn is_in_file(&self, unit: &UnitVersion, place: Place) -> bool {
        unit.file(place) == self.file
    }

    pub(super) fn may_be_in(&self, unit: &UnitVersion) -> bool {
        unit.index.files.iter().any(|file| file == self.file)
    }

    /// The nodes of a graph that begin on the line. Adds all lines of the file that
    /// nodes begin on.
    fn nodes(&self, unit: &UnitVersion, graph: &Graph, lines: &mut BTreeSet<u32>) -> Vec<NodeId> {
        let mut found = Vec::new();
        for (number, node) in graph.nodes.iter().enumerate() {
            let id = NodeId::new(number);
            // The end is where the procedure begins, as far as lines go.
            if id == Graph::EXIT || node.place.line == 0 || unit.file(node.place) != self.file {
                continue;
            }
            lines.insert(node.place.line);
            if node.place.line == self.line {
                found.push(id);
            }
        }
        found
    }
}

/// What is known of the code of a line.
#[derive(Default)]
struct Code {
    /// What its nodes say now, and said before where that was another unit.
    text: Option<String>,
    old_text: Option<String>,
    procedures: BTreeSet<String>,
    /// Tests that reach it; none if no test ran it yet.
    reached: Option<TestBits>,
    unknown: Option<String>,
    /// Lines of the file that code begins on now.
    lines: BTreeSet<u32>,
    nearest: Vec<u32>,
}

impl Code {
    fn is_same_text(&self) -> bool {
        self.text == self.old_text
    }

    fn add(&mut self, graph: &Graph, node: NodeId, procedure: &str) {
        add_text(&mut self.text, &graph.node(node).text);
        self.procedures.insert(procedure.to_string());
    }

    fn reach(&mut self, tests: Option<&TestBits>) {
        match (&mut self.reached, tests) {
            (Some(known), Some(tests)) => *known |= tests.as_bitslice(),
            (known @ None, Some(tests)) => *known = Some(tests.clone()),
            _ => {}
        }
    }
}

/// Adds the text of a node, once if several units have it.
fn add_text(known: &mut Option<String>, text: &str) {
    let known = known.get_or_insert_default();
    if !known.split('\n').any(|line| line == text) {
        if !known.is_empty() {
            known.push('\n');
        }
        known.push_str(text);
    }
}

/// Whether a file is compiled as it is, or included.
fn is_c(file: &str) -> bool {
    [".c", ".h", ".inc"].iter().any(|end| file.ends_with(end))
}

/// The last line before one and the first behind it.
fn nearest(lines: &BTreeSet<u32>, line: u32) -> Vec<u32> {
    let before = lines.range(..line).next_back();
    let behind = lines.range(line.saturating_add(1)..).next();
    before.into_iter().chain(behind).copied().collect()
}
