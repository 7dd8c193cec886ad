//! The papers' second problem: code that is new or changed and that no test
//! reaches, where new tests are needed.

use super::version::UnitVersion;
use crate::cfg::format::{EdgeLabel, Graph, Node, NodeKind};
use crate::ids::{EdgeId, Fingerprint, NodeId, ProcIx};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// Up to this many pairs of nodes are laid beside each other.
const MOST_PAIRS: usize = 1 << 22;

/// What nobody reaches.
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

/// A place that is new or changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Gap {
    pub file: String,
    pub line: u32,
    pub procedure: String,
    pub kind: Kind,
    /// The source.
    pub text: String,
    /// What it never does, if it runs.
    pub never: Option<String>,
}

/// A place that is new or changed, and whether somebody was there.
pub struct Place {
    pub gap: Gap,
    pub is_reached: bool,
}

/// All places of a procedure that are not in any of its earlier versions.
/// `is_taken` says whether some test took an edge.
pub fn places(
    unit: &UnitVersion,
    procedure: ProcIx,
    earlier: &[&Graph],
    is_taken: &dyn Fn(EdgeId) -> bool,
) -> Vec<Place> {
    let Some(graph) = unit.graph(procedure) else { return Vec::new() };
    let is_entered = graph.out_edges(Graph::ENTRY).any(|(edge, _)| is_taken(edge));
    let mut reached = vec![false; graph.nodes.len()];
    for (number, edge) in graph.edges.iter().enumerate() {
        if is_taken(EdgeId::new(number)) {
            reached[edge.from.ix()] = true;
            reached[edge.to.ix()] = true;
        }
    }
    let gap = |node: &Node, kind: Kind, never: Option<String>| Gap {
        file: unit.file(node.place).to_string(),
        line: node.place.line,
        procedure: unit.procedure(procedure).name.clone(),
        kind,
        text: node.text.clone(),
        never,
    };
    let mut places = Vec::new();
    for node in new_nodes(graph, earlier) {
        let place = graph.node(node);
        if place.kind == NodeKind::Exit || place.kind == NodeKind::Entry && is_entered {
            continue;
        }
        let kind = if is_entered { Kind::Code } else { Kind::Procedure };
        let is_reached = reached[node.ix()];
        places.push(Place { gap: gap(place, kind, None), is_reached });
        let ways: Vec<_> = graph.out_edges(node).collect();
        if is_reached && ways.len() > 1 {
            for (edge, way) in ways {
                let never = Some(way_name(&way.label));
                let is_reached = is_taken(edge);
                places.push(Place { gap: gap(place, Kind::Branch, never), is_reached });
            }
        }
    }
    places
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

/// Nodes that no earlier version has, where each is compared with the one that
/// it has the most in common with.
fn new_nodes(graph: &Graph, earlier: &[&Graph]) -> Vec<NodeId> {
    let after: Vec<Fingerprint> = graph.nodes.iter().map(|node| node.label).collect();
    let kept = earlier.iter().map(|old| {
        let before: Vec<Fingerprint> = old.nodes.iter().map(|node| node.label).collect();
        in_common(&before, &after)
    });
    let kept = kept.max_by_key(|kept| kept.iter().filter(|kept| **kept).count());
    let kept = kept.unwrap_or_else(|| vec![false; after.len()]);
    (0..after.len()).filter(|at| !kept[*at]).map(NodeId::new).collect()
}

/// Which items of `after` stand for one of `before`, in the same order.
fn in_common(before: &[Fingerprint], after: &[Fingerprint]) -> Vec<bool> {
    let mut kept = vec![false; after.len()];
    let same = |(a, b): &(&Fingerprint, &Fingerprint)| a == b;
    let start = before.iter().zip(after).take_while(same).count();
    let (before, rest) = (&before[start..], &after[start..]);
    let end = before.iter().rev().zip(rest.iter().rev()).take_while(same).count();
    kept[..start].fill(true);
    kept[after.len() - end..].fill(true);
    let (before, rest) = (&before[..before.len() - end], &rest[..rest.len() - end]);
    let middle = &mut kept[start..start + rest.len()];
    if before.len().saturating_mul(rest.len()) > MOST_PAIRS {
        in_any_order(before, rest, middle);
    } else {
        in_order(before, rest, middle);
    }
    kept
}

/// A longest common subsequence.
fn in_order(before: &[Fingerprint], after: &[Fingerprint], kept: &mut [bool]) {
    let width = after.len() + 1;
    let mut best = vec![0u32; (before.len() + 1) * width];
    for i in (0..before.len()).rev() {
        for j in (0..after.len()).rev() {
            best[i * width + j] = match before[i] == after[j] {
                true => best[(i + 1) * width + j + 1] + 1,
                false => best[(i + 1) * width + j].max(best[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < before.len() && j < after.len() {
        if before[i] == after[j] {
            kept[j] = true;
            (i, j) = (i + 1, j + 1);
        } else if best[(i + 1) * width + j] >= best[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
}

fn in_any_order(before: &[Fingerprint], after: &[Fingerprint], kept: &mut [bool]) {
    let mut counts: FxHashMap<Fingerprint, usize> = FxHashMap::default();
    before.iter().for_each(|item| *counts.entry(*item).or_default() += 1);
    for (item, kept) in after.iter().zip(kept) {
        if let Some(count) = counts.get_mut(item).filter(|count| **count > 0) {
            *count -= 1;
            *kept = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(before: &str, after: &str) -> String {
        let of = |text: &str| text.bytes().map(|b| Fingerprint([b; 16])).collect::<Vec<_>>();
        let kept = in_common(&of(before), &of(after));
        after.chars().zip(kept).map(|(item, kept)| if kept { item } else { '+' }).collect()
    }

    #[test]
    fn what_is_new_is_told_from_what_stayed() {
        assert_eq!(kept("abcd", "abcd"), "abcd");
        assert_eq!(kept("abcd", "abxcd"), "ab+cd");
        assert_eq!(kept("abcd", "abxd"), "ab+d");
        assert_eq!(kept("aab", "aaab"), "aa+b");
        assert_eq!(kept("", "ab"), "++");
        assert_eq!(kept("abc", "cab"), "+ab");
        assert_eq!(kept("axbycz", "abc"), "abc");
    }

    #[test]
    fn of_many_items_the_order_does_not_count() {
        let of = |range: std::ops::Range<u32>| range.map(|n| Fingerprint::of(&n.to_le_bytes()));
        let before: Vec<Fingerprint> = of(0..3000).collect();
        let after: Vec<Fingerprint> = of(1000..4000).rev().collect();
        let kept = in_common(&before, &after);
        assert_eq!(kept.iter().filter(|kept| **kept).count(), 2000);
    }
}
