//! Loops in which a probe needs to fire only once. The way into the body of a loop
//! is taken for the first time or again; the trace is the same. It is another one
//! only if it begins anew in between, as it does when a program tells its tests
//! apart: so nothing that might do that may be called in the loop.

use super::returns::{Returns, Trusted};
use crate::cfg::draft::Site;
use crate::cfg::unit::Analysis;
use crate::frontend::Tree;
use crate::frontend::tree::Range;
use rustc_hash::FxHashSet;

/// The loops that no call can lead out of.
pub fn undisturbed(tree: &Tree<'_>, analysis: &Analysis) -> FxHashSet<Range> {
    let returns = Returns::of(analysis, Trusted::Statics);
    let mut found = FxHashSet::default();
    let graphs = analysis.graphs.iter().zip(&analysis.sites);
    for (procedure, (graph, sites)) in tree.procedures.iter().zip(graphs) {
        let disturbing = graph.nodes.iter().filter(|node| !returns.goes_on(node));
        let mut disturbing: Vec<u32> =
            disturbing.map(|node| procedure.range.start + node.token).collect();
        disturbing.sort_unstable();
        for site in sites {
            if let Site::Arm { first_of: Some(around), .. } = site {
                let next = disturbing.partition_point(|token| *token < around.start);
                if disturbing.get(next).is_none_or(|token| *token >= around.end) {
                    found.insert(*around);
                }
            }
        }
    }
    found
}
