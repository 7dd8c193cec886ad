//! Which edges get a probe, and the text with the probes in it. Only
//! insertions: the lines of the user's text stay where they are.

mod edits;
mod log;
mod text;

use crate::cfg::draft::Site;
use crate::cfg::unit::Analysis;
use crate::frontend::Tree;
use crate::frontend::tree::Label;
use crate::ids::{Fingerprint, ProbeId};
pub use log::log_nodes;
use rustc_hash::FxHashMap;
pub use text::{Architecture, MAP_SECTION, RECORD_SECTION, UNITS_SECTION};

/// Numbers the probes of a unit: one for every edge that has a place for it.
/// Returns how many there are.
pub fn assign_probes(analysis: &mut Analysis) -> u32 {
    let mut next = 0;
    for (graph, sites) in analysis.graphs.iter_mut().zip(&analysis.sites) {
        for (edge, site) in graph.edges.iter_mut().zip(sites) {
            if *site != Site::None {
                edge.probe = Some(ProbeId(next));
                next += 1;
            }
        }
    }
    next
}

/// The text to compile: the unit's own with probes, its map, its descriptor
/// and its record.
pub fn instrument(
    tree: &Tree<'_>,
    analysis: &Analysis,
    unit: Fingerprint,
    record: &[u8],
    architecture: Architecture,
) -> Vec<u8> {
    let probes: Vec<(Site, ProbeId)> = analysis
        .graphs
        .iter()
        .zip(&analysis.sites)
        .flat_map(|(graph, sites)| graph.edges.iter().zip(sites))
        .filter_map(|(edge, site)| edge.probe.map(|probe| (*site, probe)))
        .collect();
    let writer = text::Writer::new(unit, architecture);
    let mut edits = edits::Edits::default();
    if !probes.is_empty() {
        edits.first(tree, writer.prelude());
    }
    for (site, probe) in &probes {
        edits.add(tree, *site, *probe, &writer);
    }
    redirect_label_addresses(tree, analysis, &writer, &mut edits);
    let mut out = edits.apply(&tree.text);
    writer.postlude(&mut out, probes.len(), record);
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
            if let (Site::Landing { label, .. }, Some(probe)) = (site, edge.probe) {
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
