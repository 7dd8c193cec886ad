//! Loops in which a probe needs to fire only once. The way into the body of a loop
//! is taken for the first time or again; the trace is the same. It is another one
//! only if it begins anew in between, as it does when a program tells its tests
//! apart: so nothing that might do that may be called in the loop.

use super::returns::{Returns, Trusted};
use crate::cfg::draft::Site;
use crate::cfg::unit::Analysis;
use crate::frontend::Tree;
use crate::frontend::tree::Range;
use crate::ids::NodeId;
use rustc_hash::FxHashSet;

/// The loops that no call can lead out of.
pub fn undisturbed(tree: &Tree<'_>, analysis: &Analysis) -> FxHashSet<Range> {
    let returns = Returns::of(analysis, Trusted::Statics);
    let mut found = FxHashSet::default();
    let graphs = analysis.graphs.iter().zip(&analysis.sites);
    for (procedure, (graph, sites)) in tree.procedures.iter().zip(graphs) {
        // What never comes back leaves the loop for good.
        let goes_on = |number: usize| graph.out_edges(NodeId::new(number)).next().is_some();
        let nodes = graph.nodes.iter().enumerate();
        let disturbing = nodes.filter(|(number, node)| !returns.all_of(node) && goes_on(*number));
        let mut disturbing: Vec<u32> =
            disturbing.map(|(_, node)| procedure.range.start + node.token).collect();
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
