//! Which edges get a probe, and the text with the probes in it. Only
//! insertions: the lines of the user's text stay where they are.

mod doubt;
mod edits;
mod log;
mod loops;
mod probes;
mod returns;
mod text;
mod traps;

use crate::cfg::draft::Site;
use crate::cfg::format::Granularity;
use crate::cfg::unit::Analysis;
use crate::frontend::Tree;
use crate::frontend::tree::Label;
use crate::ids::{Fingerprint, ProbeId};
pub use probes::{Code, PlainCode, assign_probes, assign_probes_to};
use rustc_hash::{FxHashMap, FxHashSet};
pub use text::{Architecture, MAP_SECTION, RECORD_SECTION, UNITS_SECTION};

/// What the text with probes is made for.
#[derive(Clone, Copy, Debug)]
pub struct Compiled {
    pub architecture: Architecture,
    pub granularity: Granularity,
    pub is_optimized: bool,
}

/// The text to compile: the unit's own with probes, its map, its descriptor
/// and its record.
pub fn instrument(
    tree: &Tree<'_>,
    analysis: &Analysis,
    unit: Fingerprint,
    record: &[u8],
    how: Compiled,
) -> Vec<u8> {
    let guarded = traps::probes_before_divisions(tree, analysis);
    let all = analysis.graphs.iter().flat_map(|graph| &graph.edges);
    let has_probes = all.into_iter().any(|edge| edge.noted.probe().is_some());
    let logs_nodes = how.granularity == Granularity::Path && has_probes;
    let undisturbed = if how.is_optimized && !logs_nodes {
        loops::undisturbed(tree, analysis)
    } else {
        FxHashSet::default()
    };
    let writer = text::Writer::new(unit, how.architecture, guarded, undisturbed, logs_nodes);
    let mut edits = edits::Edits::default();
    if has_probes {
        edits.first(tree, writer.prelude());
    }
    if logs_nodes {
        log::add(tree, analysis, &writer, &mut edits);
    }
    let mut probes = 0;
    let graphs = analysis.graphs.iter().zip(&analysis.sites);
    for (procedure, (graph, sites)) in analysis.procedures.iter().zip(graphs) {
        if let Some(again) = procedure.again {
            edits.count_entry(tree, graph, sites, again, &writer);
            probes += 1;
        }
        for (edge, site) in graph.edges.iter().zip(sites) {
            if let Some(probe) = edge.noted.probe() {
                edits.add(tree, *site, probe, &writer);
                probes += 1;
            } else if graph.out_edges(edge.from).any(|(_, other)| other.noted.probe().is_some()) {
                edits.add_without(tree, *site);
            }
        }
    }
    redirect_label_addresses(tree, analysis, &writer, &mut edits);
    let mut out = edits.apply(&tree.text);
    writer.postlude(tree, &mut out, probes, record);
    out
}

/// Where the address of a label is taken that a computed goto may jump to, it
/// becomes that of the label's landing.
fn redirect_label_addresses(
    tree: &Tree<'_>,
    analysis: &Analysis,
    writer: &text::Writer,
    edits: &mut edits::Edits,
) {
    let graphs = analysis.graphs.iter().zip(&analysis.sites);
    for (procedure, (graph, sites)) in tree.procedures.iter().zip(graphs) {
        if procedure.addressed.is_empty() {
            continue;
        }
        let mut landings: FxHashMap<Label, ProbeId> = FxHashMap::default();
        for (edge, site) in graph.edges.iter().zip(sites) {
            if let (Site::Landing { label, .. }, Some(probe)) = (site, edge.noted.probe()) {
                landings.insert(*label, probe);
            }
        }
        for (token, label) in &procedure.addressed {
            if let Some(probe) = landings.get(label) {
                edits.prefix(tree, *token, writer.landing(*probe));
            }
        }
    }
}

/// Text that only carries a record, for units without probes.
pub fn record_only(record: &[u8]) -> String {
    text::record_asm(record)
}
