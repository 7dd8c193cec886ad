//! Graphs with labels, from drafts.

use super::UnitBuilder;
use super::symbols::sorted;
use crate::cfg::draft::{Draft, DraftLabel, DraftNode, Site};
use crate::cfg::format::*;
use crate::cfg::meaning::Lines;
use crate::frontend::tree::*;
use crate::ids::{Fingerprint, FpHasher, NodeId};

/// How much of a node's source is kept for people.
const SHOWN: usize = 240;

impl UnitBuilder<'_, '_> {
    fn shown(&self, range: Range) -> String {
        let mut text = self.tree.range_text(range, SHOWN);
        if text.len() > SHOWN {
            let cut = (0..=SHOWN).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            text.truncate(cut);
            text.push('…');
        }
        text
    }

    fn mentions(&mut self, node: &DraftNode) -> Vec<u32> {
        // What stands in front of others mentions them all; whether they call
        // what they name is seen there.
        if !node.calls_are_certain {
            return self.symbols.mentions(&node.pieces);
        }
        let mut callees: Vec<u32> = node.calls.iter().map(|call| call.token).collect();
        callees.sort_unstable();
        let mut found = self.symbols.uses(&node.pieces, &callees);
        if node.is_asm {
            found.extend(self.symbols.in_asm_statement(node.range));
        }
        sorted(found)
    }

    fn labels(
        &self,
        kind: NodeKind,
        range: Range,
        hash: impl Fn(Lines, &mut FpHasher),
    ) -> (Fingerprint, Option<Fingerprint>) {
        let of = |lines| {
            let mut hasher = FpHasher::new("node");
            hasher.number(kind as u64);
            hash(lines, &mut hasher);
            hasher.finish()
        };
        let label = of(Lines::Symbolic);
        if !self.tree.has_symbols(range) {
            return (label, None);
        }
        let strict = of(Lines::True);
        (label, (strict != label).then_some(strict))
    }

    /// Entry and exit carry the signature: a change of it is seen on entering.
    pub(super) fn border(&mut self, procedure: &Procedure, kind: NodeKind) -> Node {
        let signature = &procedure.signature;
        let state = self.meanings.pragmas.state_at(signature.at);
        let is_static = procedure.is_static;
        let (label, strict) = if kind == NodeKind::Entry {
            self.labels(kind, procedure.range, |lines, hasher| {
                hasher.fp(&state);
                hasher.number(u64::from(is_static));
                self.meanings.hash_pieces(&signature.pieces, lines, hasher);
            })
        } else {
            self.labels(kind, Range::new(0, 0), |_, _| {})
        };
        let is_entry = kind == NodeKind::Entry;
        let shown = Range::new(procedure.range.start, procedure.body_range.start);
        let at = if is_entry { procedure.range.start } else { procedure.range.end - 1 };
        Node {
            kind,
            label,
            strict,
            place: self.place(at),
            token: at - procedure.range.start,
            text: if is_entry { self.shown(shown) } else { String::from("}") },
            calls: Vec::new(),
            calls_are_certain: true,
            calls_in_full: Vec::new(),
            mentions: if is_entry { self.symbols.mentions(&signature.pieces) } else { Vec::new() },
            logged: Logged::default(),
            calls_pointer: false,
        }
    }

    pub(super) fn graph(&mut self, procedure: &Procedure, draft: Draft) -> (Graph, Vec<Site>) {
        let mut graph = Graph {
            nodes: Vec::with_capacity(draft.nodes.len()),
            edges: Vec::with_capacity(draft.edges.len()),
        };
        let mut sites = Vec::with_capacity(draft.edges.len());
        for node in draft.nodes {
            if matches!(node.kind, NodeKind::Entry | NodeKind::Exit) {
                let border = self.border(procedure, node.kind);
                graph.nodes.push(border);
                continue;
            }
            let pragmas = self.meanings.pragmas.inside_before(node.range.end.saturating_sub(1));
            let (label, strict) = self.labels(node.kind, node.range, |lines, hasher| {
                if let Some(pragmas) = pragmas {
                    hasher.fp(&pragmas);
                }
                self.meanings.hash_pieces(&node.pieces, lines, hasher);
            });
            let calls = node.calls.iter().filter_map(|call| self.symbols.at(call.token)).collect();
            let mentions = self.mentions(&node);
            graph.nodes.push(Node {
                kind: node.kind,
                label,
                strict,
                place: self.place(node.range.start),
                token: node.range.start.saturating_sub(procedure.range.start),
                text: match node.kind {
                    NodeKind::Cleanup => format!("end of the scope of {}", self.shown(node.range)),
                    NodeKind::Dispatch => String::from("goto *"),
                    _ => self.shown(node.range),
                },
                calls,
                calls_pointer: node.calls_pointer,
                calls_are_certain: node.calls_are_certain,
                calls_in_full: Vec::new(),
                mentions,
                logged: Logged::default(),
            });
        }
        for edge in draft.edges {
            let label = match edge.label {
                DraftLabel::Plain(label) => label.into(),
                DraftLabel::Case(range) => {
                    let mut hasher = FpHasher::new("case");
                    let value = [Piece::Tokens(range)];
                    self.meanings.hash_pieces(&value, Lines::True, &mut hasher);
                    EdgeLabel::Case(hasher.finish(), self.shown(range))
                }
                DraftLabel::Label(label) => {
                    let name = self.tree.tokens.names.string(label.name);
                    EdgeLabel::Label(match label.block {
                        0 => name,
                        block => format!("{name}#{block}"),
                    })
                }
            };
            graph.edges.push(Edge { from: edge.from, to: edge.to, label, noted: Noted::Follows });
            sites.push(edge.site);
        }
        (graph, sites)
    }

    /// One node for the whole body, with a probe on its entry.
    pub(super) fn opaque(&mut self, procedure: &Procedure) -> (Graph, Vec<Site>) {
        let entry = self.border(procedure, NodeKind::Entry);
        let exit = self.border(procedure, NodeKind::Exit);
        let body = procedure.body_range;
        let pragmas = self.meanings.pragmas.inside_before(body.end - 1).unwrap_or_default();
        let (label, strict) = self.labels(NodeKind::Opaque, body, |lines, hasher| {
            hasher.fp(&pragmas);
            self.meanings.hash_opaque(body, lines, hasher);
        });
        let mentions = self.symbols.uses_of_opaque(body);
        let text = self.shown(Range::new(procedure.range.start, body.start));
        let node = Node {
            kind: NodeKind::Opaque,
            label,
            strict,
            place: self.place(body.start),
            token: body.start - procedure.range.start,
            text: format!("the body of {text}"),
            calls: Vec::new(),
            calls_are_certain: true,
            calls_in_full: Vec::new(),
            calls_pointer: true,
            mentions,
            logged: Logged::default(),
        };
        let edge = |from, to| Edge { from, to, label: EdgeLabel::Always, noted: Noted::Follows };
        let graph = Graph {
            nodes: vec![entry, exit, node],
            edges: vec![edge(Graph::ENTRY, NodeId(2)), edge(NodeId(2), Graph::EXIT)],
        };
        (graph, vec![Site::Entry { open: body.start }, Site::None])
    }

    pub(super) fn graph_fingerprint(&self, graph: &Graph) -> Fingerprint {
        let mut hasher = FpHasher::new("graph");
        for node in &graph.nodes {
            hasher.fp(&node.label);
            hasher.fp(&node.strict.unwrap_or(node.label));
            hasher.number(node.calls.len() as u64);
            for call in &node.calls {
                hasher.str(self.symbols.name(*call));
            }
        }
        for edge in &graph.edges {
            hasher.number(u64::from(edge.from.0) << 32 | u64::from(edge.to.0));
            match &edge.label {
                EdgeLabel::Always => hasher.number(0),
                EdgeLabel::True => hasher.number(1),
                EdgeLabel::False => hasher.number(2),
                EdgeLabel::Default => hasher.number(3),
                EdgeLabel::Case(value, _) => hasher.fp(value),
                EdgeLabel::Label(name) => hasher.str(name),
            }
        }
        hasher.finish()
    }
}
