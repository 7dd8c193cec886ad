//! A control-flow graph as it is drawn: what stands in its nodes and on its edges,
//! and what a comparison and the tests say of each.

use crate::cfg::format::{Graph, NodeKind, UnitIndex};
use crate::select::explain::edge_name;

/// What a comparison says of a node or an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mark {
    /// Nothing was compared.
    #[default]
    Plain,
    /// It has a counterpart that is the same.
    Matched,
    /// An edge that leads elsewhere now; a node that such an edge leads to.
    Dangerous,
    /// It was not come to: a difference is before it, or nothing leads there.
    NotVisited,
}

#[derive(Clone, Debug)]
pub struct Picture {
    pub nodes: Vec<PictureNode>,
    pub edges: Vec<PictureEdge>,
}

#[derive(Clone, Debug)]
pub struct PictureNode {
    pub kind: NodeKind,
    pub file: String,
    pub line: u32,
    pub text: String,
    pub mark: Mark,
    /// Tests that run it; unknown if it did not run at this version.
    pub tests: Option<usize>,
}

#[derive(Clone, Debug)]
pub struct PictureEdge {
    pub from: usize,
    pub to: usize,
    pub label: String,
    pub mark: Mark,
    pub tests: Option<usize>,
    /// Its place in the list of dangerous edges.
    pub danger: Option<usize>,
}

impl Picture {
    /// A graph without any marks.
    pub fn of(index: &UnitIndex, graph: &Graph) -> Self {
        let file = |number: u32| index.files.get(number as usize).cloned().unwrap_or_default();
        let nodes = graph.nodes.iter().map(|node| PictureNode {
            kind: node.kind,
            file: file(node.place.file),
            line: node.place.line,
            text: match node.kind {
                NodeKind::Entry => String::from("entry"),
                NodeKind::Exit => String::from("exit"),
                NodeKind::Spin => String::from("endless loop"),
                _ => node.text.clone(),
            },
            mark: Mark::Plain,
            tests: None,
        });
        let edges = graph.edges.iter().map(|edge| PictureEdge {
            from: edge.from.ix(),
            to: edge.to.ix(),
            label: edge_name(&edge.label),
            mark: Mark::Plain,
            tests: None,
            danger: None,
        });
        Self { nodes: nodes.collect(), edges: edges.collect() }
    }
}

impl Mark {
    /// The word that stands for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Matched => "same",
            Self::Dangerous => "differs",
            Self::NotVisited => "not visited",
        }
    }

    pub fn class(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Matched => "matched",
            Self::Dangerous => "dangerous",
            Self::NotVisited => "unvisited",
        }
    }
}

impl PictureNode {
    /// Whether it stands for a place in the source.
    pub fn has_place(&self) -> bool {
        self.kind != NodeKind::Exit && self.line > 0
    }

    /// `line 47, 3 tests, same`: all that is known of it, in words.
    pub fn says(&self) -> String {
        let mut words = Vec::new();
        if self.has_place() {
            words.push(format!("line {}", self.line));
        }
        words.extend(self.tests.map(|tests| super::text::counted(tests, "test")));
        if self.mark != Mark::Plain {
            words.push(self.mark.word().to_string());
        }
        words.join(", ")
    }
}
