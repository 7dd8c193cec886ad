//! Probes that cost less have to tell the same: the edges of an optimized program
//! beside those of one that is for debuggers, where each edge fires each time.

use crate::measure;
use crate::work::Prepared;
use anyhow::{Context, ensure};
use edgewise::trace::collect::{Collector, TestTrace};
use std::path::Path;
use std::process::Command;

#[derive(Default)]
pub struct Compared {
    /// Edges that one of the two took, or both.
    pub taken: usize,
    /// Those that only one of them took.
    pub differing: Vec<String>,
}

pub fn compare(optimized: &Path, plain: &Path, work: &Prepared) -> anyhow::Result<Compared> {
    let (optimized, plain) = (trace(optimized, work)?, trace(plain, work)?);
    let units = |trace: &TestTrace| {
        let programs = trace.programs.iter().flat_map(|program| program.units.clone());
        programs.collect::<Vec<_>>()
    };
    let others = units(&plain);
    let mut compared = Compared::default();
    for unit in units(&optimized) {
        let source = &unit.index.key.source;
        let other = others.iter().find(|other| other.index.key.source == *source);
        let other = other.with_context(|| format!("{source} is in one program only"))?;
        let (graphs, theirs) = (unit.raw.graphs(&unit.index)?, other.raw.graphs(&other.index)?);
        let ends = |graphs: &[edgewise::cfg::format::Graph]| {
            let edges = graphs.iter().flat_map(|graph| &graph.edges);
            edges.map(|edge| (edge.from, edge.to)).collect::<Vec<_>>()
        };
        ensure!(ends(&graphs) == ends(&theirs), "{source} has other graphs with optimization");
        let edges = graphs.iter().zip(&unit.index.procedures).flat_map(|(graph, procedure)| {
            graph.edges.iter().map(move |edge| (graph, procedure, edge))
        });
        let row = &optimized.rows[&unit.index.fingerprint];
        let their_row = &plain.rows[&other.index.fingerprint];
        for ((graph, procedure, edge), (ours, theirs)) in edges.zip(row.iter().zip(their_row)) {
            compared.taken += usize::from(*ours || *theirs);
            if *ours != *theirs {
                let (from, to) = (&graph.node(edge.from).text, &graph.node(edge.to).text);
                let lost = if *theirs { "lost" } else { "too much" };
                compared
                    .differing
                    .push(format!("{source}: {}: {from:?} -> {to:?}: {lost}", procedure.name));
            }
        }
    }
    Ok(compared)
}

fn trace(program: &Path, work: &Prepared) -> anyhow::Result<TestTrace> {
    work.clear()?;
    measure::run(work.give(&mut Command::new(program)))?;
    let trace = Collector::default().collect(work.left());
    ensure!(trace.unclean.is_none(), "{:?}", trace.unclean);
    Ok(trace)
}
