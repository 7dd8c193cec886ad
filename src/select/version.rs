//! A program at one version, as the walk sees it: names resolved, graphs read
//! only when asked for.

use crate::cfg::format::{
    Archives, FormatError, Graph, Part, ProcedureIndex, RawRecord, Symbol, UnitIndex, UnitRecord,
};
use crate::history::format::Program;
use crate::ids::{Fingerprint, ProcIx, UnitIx};
use crate::trace::module::Binding;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A unit at one version.
pub struct UnitVersion {
    pub index: UnitIndex,
    raw: Option<RawRecord>,
    graphs: Vec<Graphs>,
    /// Where each procedure's edges begin in a row of the unit.
    bases: Vec<u32>,
    /// Procedures by name, with and without external linkage.
    globals: FxHashMap<String, ProcIx>,
    statics: FxHashMap<String, ProcIx>,
}

/// Graphs that are read together, when one of them is asked for; none if the
/// record is damaged.
struct Graphs {
    procedures: Range<usize>,
    part: Option<Part>,
    read: OnceLock<Vec<Graph>>,
}

impl UnitVersion {
    /// From a record as it lies in a program or a history.
    pub fn of_raw(raw: RawRecord) -> Result<Self, FormatError> {
        let index = raw.index()?;
        let graphs = raw.parts(&index)?.into_iter().map(|part| Graphs {
            procedures: part.procedures.clone(),
            part: Some(part),
            read: OnceLock::new(),
        });
        let graphs = graphs.collect();
        Ok(Self::new(index, Some(raw), graphs))
    }

    /// From a unit that was just analysed.
    pub fn of_record(record: UnitRecord) -> Self {
        let procedures = 0..record.graphs.len();
        let graphs = Graphs { procedures, part: None, read: OnceLock::from(record.graphs) };
        Self::new(record.index, None, vec![graphs])
    }

    fn new(index: UnitIndex, raw: Option<RawRecord>, graphs: Vec<Graphs>) -> Self {
        let mut bases = Vec::with_capacity(index.procedures.len());
        let mut next = 0;
        let (mut globals, mut statics) = (FxHashMap::default(), FxHashMap::default());
        for (ix, procedure) in index.procedures.iter().enumerate() {
            bases.push(next);
            next += procedure.edge_count;
            let named = if procedure.is_static { &mut statics } else { &mut globals };
            named.entry(procedure.name.clone()).or_insert(ProcIx::new(ix));
        }
        Self { index, raw, graphs, bases, globals, statics }
    }

    /// The record as bytes, if it came as such.
    pub fn raw_bytes(&self) -> Option<&[u8]> {
        self.raw.as_ref().map(RawRecord::bytes)
    }

    pub fn fingerprint(&self) -> Fingerprint {
        self.index.fingerprint
    }

    /// The graph of a procedure; `None` if the record is damaged.
    pub fn graph(&self, procedure: ProcIx) -> Option<&Graph> {
        let part = self.graphs.partition_point(|part| part.procedures.end <= procedure.ix());
        let part = self.graphs.get(part)?;
        self.read(part).get(procedure.ix() - part.procedures.start)
    }

    fn read<'u>(&self, part: &'u Graphs) -> &'u [Graph] {
        part.read.get_or_init(|| {
            let read = self.raw.as_ref().zip(part.part.as_ref());
            let read = read.and_then(|(raw, part)| raw.graphs_of(&self.index, part).ok());
            read.unwrap_or_default()
        })
    }

    /// The graphs of all procedures; fewer if the record is damaged.
    pub fn graphs(&self) -> Vec<&Graph> {
        self.graphs.iter().flat_map(|part| self.read(part)).collect()
    }

    /// How many graphs of the record were read.
    pub fn procedures_decoded(&self) -> usize {
        let parts = self.graphs.iter().filter(|part| part.part.is_some());
        parts.filter_map(|part| part.read.get()).map(Vec::len).sum()
    }

    pub fn procedure(&self, procedure: ProcIx) -> &ProcedureIndex {
        &self.index.procedures[procedure.ix()]
    }

    /// The place in the unit's row where a procedure's edges begin.
    pub fn base(&self, procedure: ProcIx) -> usize {
        self.bases[procedure.ix()] as usize
    }

    pub fn edge_count(&self) -> usize {
        self.index.procedures.iter().map(|p| p.edge_count as usize).sum()
    }

    /// The procedures of the unit, which has this number in its program.
    pub fn procedures(&self, unit: UnitIx) -> impl Iterator<Item = ProcRef> + use<> {
        let all = 0..self.index.procedures.len();
        all.map(move |procedure| ProcRef { unit, procedure: ProcIx::new(procedure) })
    }

    /// The source of a procedure's first line.
    pub fn entry_text(&self, procedure: ProcIx) -> Option<&str> {
        self.graph(procedure).map(|graph| graph.node(Graph::ENTRY).text.as_str())
    }

    /// The procedure of this name and linkage.
    pub fn named(&self, name: &str, is_static: bool) -> Option<ProcIx> {
        let named = if is_static { &self.statics } else { &self.globals };
        named.get(name).copied()
    }

    /// Whether it defines a name for others.
    pub fn defines(&self, name: &str) -> bool {
        let is_it = |symbol: &Symbol| !symbol.is_static && symbol.name == name;
        let definitions = &self.index.definitions;
        self.named(name, false).is_some()
            || definitions.iter().any(|d| is_it(&self.index.symbols[d.symbol as usize]))
    }

    pub fn file(&self, place: crate::cfg::format::Place) -> &str {
        self.index.files.get(place.file as usize).map_or("", String::as_str)
    }
}

/// A procedure of a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ProcRef {
    pub unit: UnitIx,
    pub procedure: ProcIx,
}

/// A program at one version.
pub struct ProgramVersion {
    pub path: String,
    pub link: Fingerprint,
    pub units: Vec<Arc<UnitVersion>>,
    /// Names that code in it which is not analysed defines or uses, sorted.
    pub outside_names: Vec<String>,
    pub binding: Binding,
    /// Units whose objects are not what their records say.
    pub altered: Vec<Fingerprint>,
    pub archives: Box<Archives>,
    /// All its units were read.
    pub is_whole: bool,
    /// Names that the linker leads elsewhere, but in the units that define them.
    wrapped: FxHashSet<String>,
    globals: FxHashMap<String, ProcRef>,
    /// Other definitions of the same names (weak, inline).
    others: FxHashMap<String, Vec<ProcRef>>,
}

impl ProgramVersion {
    /// A program of a history, with its units.
    pub fn new(program: Program, units: Vec<Arc<UnitVersion>>) -> Self {
        let mut globals = FxHashMap::default();
        let mut others: FxHashMap<String, Vec<ProcRef>> = FxHashMap::default();
        for (unit_ix, unit) in units.iter().enumerate() {
            for (ix, procedure) in unit.index.procedures.iter().enumerate() {
                if !procedure.is_static {
                    let target = ProcRef { unit: UnitIx::new(unit_ix), procedure: ProcIx::new(ix) };
                    // Of several (weak, inline) the first stands for all.
                    if *globals.entry(procedure.name.clone()).or_insert(target) != target {
                        others.entry(procedure.name.clone()).or_default().push(target);
                    }
                }
            }
        }
        let is_whole = program.units.len() <= units.len();
        let Program { path, link, outside_names, binding, altered, archives, .. } = program;
        let wrapped = outside_names.iter().filter_map(|name| name.strip_prefix("__wrap_"));
        let wrapped = wrapped.map(String::from).collect();
        Self {
            path,
            link,
            units,
            outside_names,
            binding,
            altered,
            archives: Box::new(archives),
            is_whole,
            wrapped,
            globals,
            others,
        }
    }

    /// Whether it counts for a name in which unit it is defined.
    pub fn is_wrapped(&self, name: &str) -> bool {
        self.wrapped.contains(name)
    }

    pub fn unit(&self, unit: UnitIx) -> &UnitVersion {
        &self.units[unit.ix()]
    }

    pub fn procedure(&self, at: ProcRef) -> &ProcedureIndex {
        self.unit(at.unit).procedure(at.procedure)
    }

    pub fn graph(&self, at: ProcRef) -> Option<&Graph> {
        self.unit(at.unit).graph(at.procedure)
    }

    /// Whether no other executable is ever in a process with it.
    pub fn is_executable(&self) -> bool {
        self.binding != Binding::Library
    }

    pub fn global(&self, name: &str) -> Option<ProcRef> {
        self.globals.get(name).copied()
    }

    /// What a symbol of a unit means as a procedure of this program.
    pub fn resolve(&self, unit: UnitIx, symbol: u32) -> Option<ProcRef> {
        let holder = self.unit(unit);
        let symbol = &holder.index.symbols[symbol as usize];
        // Its own definition comes before another unit's of the same name.
        let own = holder.named(&symbol.name, true).or_else(|| holder.named(&symbol.name, false));
        match own {
            Some(procedure) => Some(ProcRef { unit, procedure }),
            None => self.global(&symbol.name),
        }
    }

    /// Whether a call that means a procedure here is sure to enter it: no other
    /// definition can take its place, in this program or when it is loaded.
    pub fn is_entered_surely(&self, at: ProcRef) -> bool {
        let procedure = self.procedure(at);
        let name = &procedure.name;
        procedure.is_static
            || !procedure.is_weak
                && self.is_executable()
                && !self.others.contains_key(name)
                && self.outside_names.binary_search(name).is_err()
    }

    /// All definitions of a name that other units know.
    pub fn all_named(&self, name: &str) -> impl Iterator<Item = ProcRef> + '_ {
        let others = self.others.get(name).into_iter().flatten().copied();
        self.global(name).into_iter().chain(others)
    }

    pub fn procedures(&self) -> impl Iterator<Item = ProcRef> + '_ {
        self.units.iter().enumerate().flat_map(|(ix, unit)| unit.procedures(UnitIx::new(ix)))
    }
}
