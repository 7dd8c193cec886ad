//! The papers' second problem: code that is new or changed and that no test
//! reaches, where new tests are needed.

use super::checks::{self, Ends};
use super::edited::{Lines, Origin};
use super::version::UnitVersion;
use crate::cfg::format::{EdgeLabel, Graph, Node, NodeKind};
use crate::ids::{EdgeId, Fingerprint, NodeId, ProcIx};
use serde::Serialize;
use std::collections::BTreeSet;

/// What no test reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The procedure itself.
    Procedure,
    /// Code in one that is entered.
    Code,
    /// A way out of code that runs.
    Branch,
}

/// What happened to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Its line is new or changed.
    Edited,
    /// Its line is what it was, and a macro, type or declaration that it uses changed.
    Meaning,
}

/// A place that is new or changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Gap {
    pub file: String,
    pub line: u32,
    pub procedure: String,
    pub kind: Kind,
    pub change: Change,
    /// The source.
    pub text: String,
    /// What it never does, if it runs.
    pub never: Option<String>,
}

/// A place that is new or changed, and whether a test was there.
pub struct Place {
    pub gap: Gap,
    pub is_reached: bool,
}

/// A procedure of the later version.
pub struct Later<'l> {
    pub unit: &'l UnitVersion,
    pub procedure: ProcIx,
    /// Whether no earlier version of it is the same.
    pub is_changed: bool,
    /// Where the lines of a file come from.
    pub lines: &'l dyn Fn(&str) -> &'l Lines,
    /// Whether an earlier version has a node with this label in a line of a file; in any line,
    /// if none is given.
    pub had: &'l dyn Fn(&str, Option<u32>, Fingerprint) -> bool,
    /// Whether some test took an edge.
    pub is_taken: &'l dyn Fn(EdgeId) -> bool,
}

/// All places of a procedure that are new or changed.
pub fn places(later: &Later<'_>) -> Vec<Place> {
    let Some(graph) = later.unit.graph(later.procedure) else { return Vec::new() };
    let is_taken = later.is_taken;
    let is_entered = graph.out_edges(Graph::ENTRY).any(|(edge, _)| is_taken(edge));
    let mut reached = vec![false; graph.nodes.len()];
    for (number, edge) in graph.edges.iter().enumerate() {
        if is_taken(EdgeId::new(number)) {
            reached[edge.from.ix()] = true;
            reached[edge.to.ix()] = true;
        }
    }
    let mut finder = Finder { later, graph, is_entered, reached, places: Vec::new() };
    for number in 0..graph.nodes.len() {
        finder.add_node(NodeId::new(number));
    }
    finder.add_lines();
    finder.places
}

struct Finder<'f, 'l> {
    later: &'f Later<'l>,
    graph: &'f Graph,
    is_entered: bool,
    reached: Vec<bool>,
    places: Vec<Place>,
}

impl<'l> Finder<'_, 'l> {
    fn file(&self, node: NodeId) -> &str {
        self.later.unit.file(self.graph.node(node).place)
    }

    fn lines(&self, node: NodeId) -> &'l Lines {
        (self.later.lines)(self.file(node))
    }

    /// What happened to a node, if anything did.
    fn change(&self, at: NodeId) -> Option<Change> {
        let (node, file) = (self.graph.node(at), self.file(at));
        let is_kept = |line| (self.later.had)(file, line, node.label);
        let means_another = match self.lines(at).origin(node.place.line) {
            Origin::New => return Some(Change::Edited),
            Origin::Old(line) => !is_kept(Some(line)),
            Origin::Unknown => !is_kept(None),
        };
        let is_changed = self.later.is_changed && node.kind != NodeKind::Entry;
        (is_changed && means_another).then_some(Change::Meaning)
    }

    fn add_node(&mut self, at: NodeId) {
        let node = self.graph.node(at);
        if node.kind == NodeKind::Exit || node.place.line == 0 {
            return;
        }
        let Some(change) = self.change(at) else { return };
        self.add_code(at, node.place.line, change, node.text.clone());
        self.add_branches(at, node.place.line, change);
    }

    fn add_code(&mut self, at: NodeId, line: u32, change: Change, text: String) {
        let kind = if self.is_entered { Kind::Code } else { Kind::Procedure };
        let is_reached = self.reached[at.ix()] || self.is_entered && self.is_failure(at);
        self.add(at, line, kind, change, text, None, is_reached);
    }

    /// The ways out of a node, if it runs and there are several.
    fn add_branches(&mut self, at: NodeId, line: u32, change: Change) {
        let ways: Vec<_> = self.graph.out_edges(at).collect();
        if !self.reached[at.ix()] || ways.len() < 2 {
            return;
        }
        for (edge, way) in ways {
            // What leads to a line of its own is told there.
            let is_case = matches!(way.label, EdgeLabel::Case(..) | EdgeLabel::Default);
            if is_case && change == Change::Meaning {
                continue;
            }
            let is_reached = (self.later.is_taken)(edge)
                || self.is_of_check(at)
                || !self.reached[way.to.ix()] && self.is_failure(way.to);
            let (never, text) = (Some(way_name(&way.label)), self.graph.node(at).text.clone());
            self.add(at, line, Kind::Branch, change, text, never, is_reached);
        }
    }

    #[expect(clippy::too_many_arguments)]
    fn add(
        &mut self,
        at: NodeId,
        line: u32,
        kind: Kind,
        change: Change,
        text: String,
        never: Option<String>,
        is_reached: bool,
    ) {
        let file = self.file(at).to_string();
        let procedure = self.later.unit.procedure(self.later.procedure).name.clone();
        let gap = Gap { file, line, procedure, kind, change, text, never };
        self.places.push(Place { gap, is_reached });
    }

    /// Whether code runs only where a check fails, which it does in no test that passes.
    fn is_failure(&self, at: NodeId) -> bool {
        let ends = match checks::is_test_source(self.file(at)) {
            true => Ends::Process,
            false => Ends::Abort,
        };
        self.is_of_check(at) || checks::only_leads_to(self.later.unit, self.graph, at, ends)
    }

    /// Whether a node is on the line of a check macro that runs.
    fn is_of_check(&self, at: NodeId) -> bool {
        let line = self.graph.node(at).place.line;
        let Some(text) = self.lines(at).text_from(line) else { return false };
        let is_here = |other: &NodeId| {
            self.graph.node(*other).place.line == line && self.file(*other) == self.file(at)
        };
        let nodes = || (0..self.graph.nodes.len()).map(NodeId::new).filter(is_here);
        let is_of_macro = |node: &NodeId| {
            let Node { kind, text: own, .. } = self.graph.node(*node);
            !matches!(kind, NodeKind::Entry | NodeKind::Exit) && !checks::stands_in(own, &text)
        };
        checks::is_check(self.file(at), &text)
            && nodes().any(|node| self.reached[node.ix()])
            && nodes().any(|node| !self.reached[node.ix()] && is_of_macro(&node))
    }

    /// New lines on which no node begins: the rest of a statement, jumps, cases.
    fn add_lines(&mut self) {
        let own = self.later.unit.procedure(self.later.procedure).place;
        let lines = (self.later.lines)(self.later.unit.file(own));
        let Some(range) = lines.body(own.line) else { return };
        let is_here = |at: &NodeId| {
            let node = self.graph.node(*at);
            let is_code = !matches!(node.kind, NodeKind::Entry | NodeKind::Exit);
            is_code && self.file(*at) == self.later.unit.file(own) && node.place.line > 0
        };
        let mut nodes: Vec<NodeId> =
            (0..self.graph.nodes.len()).map(NodeId::new).filter(is_here).collect();
        nodes.sort_by_key(|at| (self.graph.node(*at).place.line, self.graph.node(*at).token));
        let begins: BTreeSet<u32> =
            nodes.iter().map(|at| self.graph.node(*at).place.line).collect();
        for line in range.filter(|line| lines.origin(*line) == Origin::New) {
            if begins.contains(&line) || line <= own.line {
                continue;
            }
            let Some(code) = lines.code(line) else { continue };
            let line_of = |at: &&NodeId| self.graph.node(**at).place.line;
            let before = nodes.iter().rfind(|at| line_of(at) < line).copied();
            let behind = nodes.iter().find(|at| line_of(at) > line).copied();
            if code.starts_with("case ") || code.starts_with("default") {
                if let Some(behind) = behind {
                    self.add_case(behind, line, &code);
                }
            } else if let Some(before) = before {
                self.add_rest(before, line, &code, lines);
            }
        }
    }

    /// A label of a switch, which stands before a node.
    fn add_case(&mut self, behind: NodeId, line: u32, code: &str) {
        let plain = |text: &str| text.split_whitespace().collect::<String>();
        let is_case = |label: &EdgeLabel| match label {
            EdgeLabel::Case(_, value) => plain(code).contains(&plain(&format!("case {value}:"))),
            EdgeLabel::Default => code.contains("default"),
            _ => false,
        };
        let edges = self.graph.edges.iter().enumerate();
        let edges = edges.filter(|(_, edge)| edge.to == behind && is_case(&edge.label));
        let found: Vec<_> = edges.map(|(at, edge)| (EdgeId::new(at), edge.clone())).collect();
        for (edge, way) in found {
            let is_reached = (self.later.is_taken)(edge);
            let text = self.graph.node(way.from).text.clone();
            let never = Some(way_name(&way.label));
            match self.reached[way.from.ix()] {
                true => {
                    self.add(way.from, line, Kind::Branch, Change::Edited, text, never, is_reached);
                }
                false => self.add_code(way.from, line, Change::Edited, code.to_string()),
            }
        }
    }

    /// A line behind the one that a node begins on: the rest of its statement, or a jump.
    fn add_rest(&mut self, before: NodeId, line: u32, code: &str, lines: &Lines) {
        let ways: Vec<_> = self.graph.out_edges(before).collect();
        let words = ["break", "continue", "goto"];
        let is_jump = code
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| words.contains(&word));
        if !is_jump {
            if lines.is_continued(line) {
                self.add_code(before, line, Change::Edited, code.to_string());
                self.add_branches(before, line, Change::Edited);
            }
            return;
        }
        let taken = |label: EdgeLabel| {
            ways.iter().any(|(edge, way)| way.label == label && (self.later.is_taken)(*edge))
        };
        // The condition before it leads to the jump on one side.
        let is_reached = match ways.len() {
            0 | 1 => self.reached[before.ix()],
            _ if lines.is_behind_else(line) => taken(EdgeLabel::False),
            _ => taken(EdgeLabel::True),
        };
        let kind = if self.is_entered { Kind::Code } else { Kind::Procedure };
        let text = code.to_string();
        self.add(before, line, kind, Change::Edited, text, None, is_reached);
    }
}

/// What a condition does that leads this way.
fn way_name(label: &EdgeLabel) -> String {
    match label {
        EdgeLabel::Always => String::from("goes on"),
        EdgeLabel::True => String::from("is true"),
        EdgeLabel::False => String::from("is false"),
        EdgeLabel::Case(_, value) => format!("comes to case {value}"),
        EdgeLabel::Default => String::from("comes to default"),
        EdgeLabel::Label(name) => format!("jumps to {name}"),
    }
}
