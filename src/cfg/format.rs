//! The unit record: everything the later stages know of a unit, as it goes
//! into the object and into the history.
//!
//! Layout of one record in the `.edgewise` section, numbers little-endian:
//!
//! ```text
//! magic "EDGWUNIT" | version u32 | length of the whole record u32
//! length of the index u32 | index, compressed | body
//! ```
//!
//! The index names the unit and fingerprints each procedure and definition;
//! the body has the graphs, in parts that are compressed each by itself, so that
//! a graph is read without the others:
//!
//! ```text
//! number of parts u32 | for each: procedures u32, length u32 | the parts
//! ```
//!
//! The linker lays records one behind the other. The
//! record of the link has the same layout with "EDGWLINK" and an empty body.

use crate::ids::{EdgeId, Fingerprint, FpHasher, NodeId, ProbeId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::Read;

/// Any change to the types below or to how labels are made raises this: a
/// record of another version cannot be compared with ours.
pub const VERSION: u32 = 11;
const UNIT_MAGIC: &[u8; 8] = b"EDGWUNIT";
const LINK_MAGIC: &[u8; 8] = b"EDGWLINK";
const HEADER: usize = 20;
const COMPRESSION: i32 = 6;
/// A part of the body ends where it has this many bytes, not compressed.
const PART: usize = 1 << 15;

/// Pairs a unit with its successor in another version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UnitKey {
    /// Relative to the project's root.
    pub source: String,
    /// Relative to the build directory.
    pub object: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitIndex {
    pub key: UnitKey,
    /// What is compiled and how.
    pub fingerprint: Fingerprint,
    /// How it is compiled, apart from the text: flags and compiler.
    pub how: Fingerprint,
    pub command: Command,
    pub detail: Detail,
    /// Files whose text the unit is made of, as far as they are not the
    /// system's. Relative to the root where below it, and without links to directories. Behind
    /// these, the names with links by which some of them were read.
    pub files: Vec<String>,
    /// Those of them that the preprocessor did not read: a generator named them,
    /// by `#line`.
    pub only_named: Vec<u32>,
    /// What was in each of them when it was compiled; the default where that is not
    /// known, and nothing for a unit that was not.
    pub contents: Vec<Fingerprint>,
    /// Whether asm takes in files, which are none of these: only the fingerprint of the unit says
    /// whether they changed.
    pub takes_files: bool,
    pub probe_count: u32,
    /// Names that nodes and initialisers mention.
    pub symbols: Vec<Symbol>,
    /// Those of them that the unit does not define, and that it may do without: a link takes
    /// no member of an archive in for them. As indices into the symbols, sorted.
    pub weak: Vec<u32>,
    /// All text but the bodies of procedures that act on nothing outside of
    /// them: where it is equal, equal bodies mean the same.
    pub outside: Fingerprint,
    /// Functions whose address the unit takes, so that who calls them is not
    /// known; as indices into the symbols, sorted.
    pub address_taken: Vec<u32>,
    pub definitions: Vec<Definition>,
    /// Declarations of the file that the code depends on, for telling which of
    /// them changed.
    pub declarations: Vec<Declaration>,
    /// Everything that acts on a program without being named.
    pub composition: Fingerprint,
    pub procedures: Vec<ProcedureIndex>,
    /// Why the unit as a whole is not instrumented, if so.
    pub untouched: Option<String>,
    pub problems: Vec<String>,
}

impl UnitIndex {
    /// Whether every number is in range and every name is one; false only for a record that was
    /// tampered with. A name with a line break would look like lines of ours where it is shown.
    fn is_sound(&self) -> bool {
        let UnitKey { source, object } = &self.key;
        let mut files = self.files.iter().chain([source, object]);
        let symbols = self.symbols.iter().map(|symbol| &symbol.name);
        let names = symbols.chain(self.procedures.iter().map(|procedure| &procedure.name));
        let mut names = names.chain(self.declarations.iter().map(|declared| &declared.name));
        if files.any(|file| file.contains(['\n', '\r']))
            || names.any(|name| name.contains(char::is_control))
        {
            return false;
        }
        let symbols = self.symbols.len();
        let are_symbols = |numbers: &[u32]| numbers.iter().all(|s| (*s as usize) < symbols);
        let is_declaration = |number: &u32| (*number as usize) < self.declarations.len();
        are_symbols(&self.address_taken)
            && self.definitions.iter().all(|definition| {
                let is_within = |(at, _): (u32, u32)| (at as usize) < self.procedures.len();
                are_symbols(&[definition.symbol])
                    && are_symbols(&definition.mentions)
                    && definition.within.is_none_or(is_within)
            })
            && self.declarations.iter().all(|d| d.refers.iter().all(is_declaration))
            && self.procedures.iter().all(|procedure| {
                are_symbols(&procedure.takes)
                    && are_symbols(&procedure.mentions)
                    && procedure.again.is_none_or(|probe| probe.0 < self.probe_count)
            })
    }
}

/// How much a unit notes of what runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detail {
    pub granularity: Granularity,
    /// Whether procedures note that they are entered a second time.
    pub counts_entries: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Granularity {
    /// Which procedures are entered: a procedure that is counts as if it took
    /// all its edges.
    Procedure,
    #[default]
    Edge,
    /// Edges, and a log of every node as it runs.
    Path,
}

/// The compile command, free of absolute paths below the root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The compiler as it was called.
    pub compiler: String,
    /// Arguments; `%ROOT%` stands for the project's root.
    pub arguments: Vec<String>,
    /// Working directory relative to the root.
    pub directory: String,
    /// The source as the command spells it.
    pub source: String,
}

/// A name of a variable or procedure that the linker may resolve.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Symbol {
    /// For static storage inside a procedure: `procedure.name#number`.
    pub name: String,
    pub is_static: bool,
}

/// A declaration of the file. What it means in full is part of the labels;
/// this is what it says by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Declaration {
    pub name: String,
    pub says: Fingerprint,
    /// Other declarations it refers to, as indices.
    pub refers: Vec<u32>,
    pub place: Place,
}

/// A variable with static storage that the unit defines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// Index into [`UnitIndex::symbols`].
    pub symbol: u32,
    /// Type and initialiser.
    pub fingerprint: Fingerprint,
    /// What the initialiser mentions, as indices into the symbols.
    pub mentions: Vec<u32>,
    /// It acts on the program without being named.
    pub acts: bool,
    pub place: Place,
    /// For what stands in a body: the procedure, and at which of its tokens.
    pub within: Option<(u32, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Place {
    /// Index into [`UnitIndex::files`].
    pub file: u32,
    pub line: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProcedureIndex {
    pub name: String,
    pub is_static: bool,
    /// Runs without being called, before main or after exit.
    pub is_constructor: bool,
    /// Another definition may take its place.
    pub is_weak: bool,
    /// Equal fingerprints mean equal graphs, node for node.
    pub fingerprint: Fingerprint,
    /// It is defined inside of another one.
    pub is_nested: bool,
    /// The tokens of its body, if they can be recognised again: see
    /// [`UnitIndex::outside`].
    pub body: Option<Fingerprint>,
    /// Functions whose address it takes, as indices into the symbols.
    pub takes: Vec<u32>,
    /// The probe that says that it was entered a second time, in units that note it.
    pub again: Option<ProbeId>,
    /// It has no probes: what it did is known otherwise, or not at all.
    pub unprobed: bool,
    /// Why it is opaque, if so.
    pub opaque: Option<String>,
    pub place: Place,
    pub edge_count: u32,
    /// Indices into the symbols, of all nodes together.
    pub mentions: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeKind {
    Entry,
    Exit,
    Statement,
    Predicate,
    Switch,
    /// The whole body of an opaque procedure.
    Opaque,
    /// An endless loop without anything in it.
    Spin,
    /// Where all computed gotos of a procedure meet.
    Dispatch,
    /// What is called for a variable when its scope is left.
    Cleanup,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    pub kind: NodeKind,
    /// Tokens and what their names mean.
    pub label: Fingerprint,
    /// The label with true line numbers, where that is another one.
    pub strict: Option<Fingerprint>,
    pub place: Place,
    /// Its first token, counted from the first of the procedure.
    pub token: u32,
    /// The source for people.
    pub text: String,
    /// Procedures called by name, as indices into the symbols, in order.
    pub calls: Vec<u32>,
    /// The calls are sure to run if the node does.
    pub calls_are_certain: bool,
    /// Those of them that may have run without a trace: all of it counts as run.
    pub calls_in_full: Vec<u32>,
    /// It calls through a pointer.
    pub calls_pointer: bool,
    /// Names mentioned, as indices into the symbols, sorted.
    pub mentions: Vec<u32>,
    pub logged: Logged,
}

/// Whether a log of nodes has a node, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Logged {
    #[default]
    Not,
    /// As soon as it runs.
    Begun,
    /// When its calls have returned.
    Done,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EdgeLabel {
    Always,
    True,
    False,
    /// A case by what its value means, with its text for people.
    Case(Fingerprint, String),
    Default,
    /// A jump to this label.
    Label(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    pub from: NodeId,
    pub to: NodeId,
    pub label: EdgeLabel,
    pub noted: Noted,
}

/// How it is known that an edge was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Noted {
    /// A probe says so.
    Probe(ProbeId),
    /// It is taken whenever the node before it runs.
    Follows,
    /// It is the only way to the node behind it, which runs and then takes one
    /// of its own edges, whatever happens.
    Behind,
    /// It is the way into a procedure that is only ever called by name: taken
    /// whenever a node of the unit runs that calls it.
    Calls,
}

impl Noted {
    pub fn probe(self) -> Option<ProbeId> {
        match self {
            Self::Probe(probe) => Some(probe),
            _ => None,
        }
    }
}

/// A control-flow graph. Edges are sorted by the node they leave.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Graph {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
}

impl Graph {
    pub const ENTRY: NodeId = NodeId(0);
    pub const EXIT: NodeId = NodeId(1);

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.ix()]
    }

    pub fn edge(&self, id: EdgeId) -> &Edge {
        &self.edges[id.ix()]
    }

    /// Edges that leave a node.
    pub fn out_edges(&self, node: NodeId) -> impl Iterator<Item = (EdgeId, &Edge)> {
        let start = self.edges.partition_point(|edge| edge.from < node);
        self.edges[start..]
            .iter()
            .take_while(move |edge| edge.from == node)
            .enumerate()
            .map(move |(offset, edge)| (EdgeId::new(start + offset), edge))
    }

    /// Whether every number in the graph is in range; false only for a record
    /// that was tampered with.
    fn is_sound(&self, symbols: usize) -> bool {
        let nodes = self.nodes.len();
        nodes >= 2
            && self.edges.iter().all(|e| e.from.ix() < nodes && e.to.ix() < nodes)
            && self.edges.is_sorted_by_key(|e| e.from)
            && self.nodes.iter().all(|node| {
                let mut named = node.calls.iter().chain(&node.calls_in_full).chain(&node.mentions);
                named.all(|symbol| (*symbol as usize) < symbols)
            })
    }
}

/// A record in full: the index and one graph per procedure, in its order.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitRecord {
    pub index: UnitIndex,
    pub graphs: Vec<Graph>,
}

#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    #[error("not an edgewise record")]
    Magic,
    #[error("record of format {0}, this edgewise reads format {VERSION}")]
    Version(u32),
    #[error("damaged record")]
    Damaged,
}

impl UnitRecord {
    pub fn encode(&self) -> Vec<u8> {
        frame(UNIT_MAGIC, &pack(&self.index), &body(&self.graphs))
    }
}

impl UnitKey {
    pub fn id(&self) -> Fingerprint {
        let mut hasher = FpHasher::new("key");
        hasher.str(&self.source);
        hasher.str(&self.object);
        hasher.finish()
    }
}

/// A member of an archive that a link may take in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// The units in it, as [`UnitKey::id`]; none if it has no record.
    pub units: Vec<Fingerprint>,
    /// The names that it defines for others, as [`name_number`].
    pub names: Vec<u32>,
}

/// What a program has to do with the archives that its link was given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Archives {
    /// Units in it that a link takes only if a name needs them, as [`UnitKey::id`], sorted.
    pub members: Vec<Fingerprint>,
    /// Names of members that it may take in, and of members without a record, which it
    /// may have; as [`name_number`], sorted.
    pub offered: Vec<u32>,
}

impl Archives {
    pub fn offer(&self, name: &str) -> bool {
        self.offered.binary_search(&name_number(name)).is_ok()
    }
}

/// A short number of a name. Two names may share one; then more is selected.
pub fn name_number(name: &str) -> u32 {
    let [a, b, c, d, ..] = Fingerprint::of(name.as_bytes()).0;
    u32::from_le_bytes([a, b, c, d])
}

/// How a program was linked, and what went into it without a record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkRecord {
    pub arguments: Vec<String>,
    pub inputs: Vec<(String, Fingerprint)>,
    /// Names that those inputs define or use, or options give a meaning, sorted.
    pub names: Vec<String>,
    /// Names in objects that their records do not have, sorted: compilers call what
    /// no text names, and tools rename what is compiled.
    pub unrecorded: Vec<String>,
    /// Units whose objects define other names than their records say.
    pub altered: Vec<Fingerprint>,
    /// What the archives have that it was given, unless it takes all of it.
    pub members: Vec<Member>,
}

impl LinkRecord {
    pub fn encode(&self) -> Vec<u8> {
        frame(LINK_MAGIC, &pack(self), &[])
    }

    /// How it was linked. What objects with records have in them is told by these.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&pack(&(&self.arguments, &self.inputs, &self.names)))
    }
}

/// The graphs, in parts.
fn body(graphs: &[Graph]) -> Vec<u8> {
    let (mut table, mut parts) = (Vec::new(), Vec::new());
    let (mut plain, mut count) = (Vec::new(), 0u32);
    for (number, graph) in graphs.iter().enumerate() {
        plain = postcard::to_extend(graph, plain).expect("plain data always serialises");
        count += 1;
        if plain.len() >= PART || number + 1 == graphs.len() {
            let packed = compress(&plain);
            table.push((count, packed.len() as u32));
            parts.extend(packed);
            plain.clear();
            count = 0;
        }
    }
    let mut out = (table.len() as u32).to_le_bytes().to_vec();
    for (count, length) in table {
        out.extend(count.to_le_bytes());
        out.extend(length.to_le_bytes());
    }
    out.extend(parts);
    out
}

fn frame(magic: &[u8; 8], index: &[u8], body: &[u8]) -> Vec<u8> {
    let length = HEADER + index.len() + body.len();
    let mut out = Vec::with_capacity(length);
    out.extend(magic);
    out.extend(VERSION.to_le_bytes());
    out.extend((length as u32).to_le_bytes());
    out.extend((index.len() as u32).to_le_bytes());
    out.extend(index);
    out.extend(body);
    out
}

/// A unit's record as bytes, read only as far as asked.
#[derive(Clone, Debug)]
pub struct RawRecord {
    bytes: Vec<u8>,
    body: usize,
}

impl RawRecord {
    /// Reads back the bytes of one unit's record.
    pub fn new(bytes: Vec<u8>) -> Result<Self, FormatError> {
        let (magic, body) = header(&bytes)?;
        if magic != *UNIT_MAGIC { Err(FormatError::Magic) } else { Ok(Self { bytes, body }) }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn index(&self) -> Result<UnitIndex, FormatError> {
        let index: UnitIndex = unpack(&self.bytes[HEADER..self.body])?;
        let edges = index.procedures.iter().map(|procedure| u64::from(procedure.edge_count));
        let is_sound = index.is_sound()
            // An edge has at least one byte in the body.
            && edges.sum::<u64>() <= most_bytes(self.bytes.len() - self.body)
            && u64::from(index.probe_count) <= most_bytes(self.bytes.len());
        is_sound.then_some(index).ok_or(FormatError::Damaged)
    }

    /// The parts of the body, in order.
    pub fn parts(&self, index: &UnitIndex) -> Result<Vec<Part>, FormatError> {
        let body = &self.bytes[self.body..];
        let number = |at: usize| {
            let bytes = body.get(at..at + 4)?;
            Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize)
        };
        let count = number(0).ok_or(FormatError::Damaged)?;
        let mut parts = Vec::new();
        let mut start = 4 + count.checked_mul(8).ok_or(FormatError::Damaged)?;
        let mut first = 0;
        for part in 0..count {
            let (procedures, length) =
                number(4 + 8 * part).zip(number(8 + 8 * part)).ok_or(FormatError::Damaged)?;
            let bytes = self.body + start..self.body + start + length;
            parts.push(Part { procedures: first..first + procedures, bytes });
            start += length;
            first += procedures;
        }
        if start > body.len() || first != index.procedures.len() {
            return Err(FormatError::Damaged);
        }
        Ok(parts)
    }

    /// The graphs of one part.
    pub fn graphs_of(&self, index: &UnitIndex, part: &Part) -> Result<Vec<Graph>, FormatError> {
        let packed = self.bytes.get(part.bytes.clone()).ok_or(FormatError::Damaged)?;
        let plain = decompress(packed)?;
        let mut rest = plain.as_slice();
        let mut graphs = Vec::with_capacity(part.procedures.len());
        for procedure in &index.procedures[part.procedures.clone()] {
            let (graph, behind): (Graph, _) =
                postcard::take_from_bytes(rest).map_err(|_| FormatError::Damaged)?;
            let is_sound = graph.is_sound(index.symbols.len())
                && graph.edges.len() == procedure.edge_count as usize
                && graph
                    .edges
                    .iter()
                    .all(|e| e.noted.probe().is_none_or(|p| p.0 < index.probe_count));
            if !is_sound {
                return Err(FormatError::Damaged);
            }
            graphs.push(graph);
            rest = behind;
        }
        Ok(graphs)
    }

    /// The graphs of all procedures.
    pub fn graphs(&self, index: &UnitIndex) -> Result<Vec<Graph>, FormatError> {
        let mut graphs = Vec::with_capacity(index.procedures.len());
        for part in self.parts(index)? {
            graphs.extend(self.graphs_of(index, &part)?);
        }
        Ok(graphs)
    }
}

/// Graphs that are compressed together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub procedures: std::ops::Range<usize>,
    bytes: std::ops::Range<usize>,
}

/// Magic and place of the body of the first record of `bytes`, which it fills.
fn header(bytes: &[u8]) -> Result<([u8; 8], usize), FormatError> {
    let header = bytes.get(..HEADER).ok_or(FormatError::Damaged)?;
    let number = |at: usize| {
        u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let mut magic = [0; 8];
    magic.copy_from_slice(&header[..8]);
    if !header.starts_with(b"EDGW") {
        return Err(FormatError::Magic);
    }
    if number(8) != VERSION {
        return Err(FormatError::Version(number(8)));
    }
    let (length, index) = (number(12) as usize, number(16) as usize);
    if length < HEADER + index || length > bytes.len() {
        return Err(FormatError::Damaged);
    }
    Ok((magic, HEADER + index))
}

/// All records of a program's section.
#[derive(Clone, Debug, Default)]
pub struct Records {
    pub units: Vec<RawRecord>,
    pub links: Vec<LinkRecord>,
}

impl Records {
    /// How the program was linked.
    pub fn link_fingerprint(&self) -> Fingerprint {
        let mut hasher = FpHasher::new("links");
        self.links.iter().for_each(|link| hasher.fp(&link.fingerprint()));
        hasher.finish()
    }

    /// Whether we linked the program, and so know what else is in it.
    pub fn has_link(&self) -> bool {
        !self.links.is_empty()
    }

    /// Units whose objects are not what their records say.
    pub fn altered(&self) -> Vec<Fingerprint> {
        self.links.iter().flat_map(|link| link.altered.iter().copied()).collect()
    }

    /// What the program has to do with archives.
    pub fn archives(&self) -> Archives {
        if self.has_link() && self.links.iter().all(|link| link.members.is_empty()) {
            return Archives::default();
        }
        let units = self.units.iter().filter_map(|unit| Some(unit.index().ok()?.key.id()));
        let units: BTreeSet<Fingerprint> = units.collect();
        if !self.has_link() {
            return Archives { members: units.into_iter().collect(), offered: Vec::new() };
        }
        let (mut members, mut offered) = (BTreeSet::new(), BTreeSet::new());
        for member in self.links.iter().flat_map(|link| &link.members) {
            let taken = member.units.iter().filter(|unit| units.contains(unit));
            let taken: Vec<Fingerprint> = taken.copied().collect();
            if taken.is_empty() {
                offered.extend(&member.names);
            }
            members.extend(taken);
        }
        Archives { members: members.into_iter().collect(), offered: offered.into_iter().collect() }
    }

    /// Names that linked code defines or uses without a record of it, sorted.
    pub fn outside_names(&self) -> Vec<String> {
        let names = self.links.iter().flat_map(|link| link.names.iter().chain(&link.unrecorded));
        let mut names: Vec<String> = names.cloned().collect();
        names.sort();
        names.dedup();
        names
    }

    pub fn read(mut section: &[u8]) -> Result<Self, FormatError> {
        let mut records = Self::default();
        while !section.is_empty() {
            // Linkers may pad between input sections.
            if section[0] == 0 {
                section = &section[1..];
                continue;
            }
            let (magic, body) = header(section)?;
            let length = u32::from_le_bytes([section[12], section[13], section[14], section[15]]);
            let (record, rest) = section.split_at(length as usize);
            if magic == *LINK_MAGIC {
                records.links.push(unpack(&record[HEADER..body])?);
            } else {
                records.units.push(RawRecord::new(record.to_vec())?);
            }
            section = rest;
        }
        Ok(records)
    }
}

fn pack<T: Serialize>(value: &T) -> Vec<u8> {
    compress(&postcard::to_stdvec(value).expect("plain data always serialises"))
}

fn compress(plain: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(plain, COMPRESSION).expect("compressing into memory")
}

/// Bytes that may be compressed into so many, as far as what we write is concerned. More would fill
/// the memory with what a few bytes of somebody else's file say.
fn most_bytes(packed: usize) -> u64 {
    (64 << 20) + 200 * packed as u64
}

/// What was compressed; none if it is damaged, or larger than anything we write.
pub fn decompress_bounded(packed: &[u8]) -> Option<Vec<u8>> {
    let most = most_bytes(packed.len());
    let mut plain = Vec::new();
    let decoder = zstd::stream::read::Decoder::new(packed).ok()?;
    decoder.take(most + 1).read_to_end(&mut plain).ok()?;
    (plain.len() as u64 <= most).then_some(plain)
}

fn decompress(packed: &[u8]) -> Result<Vec<u8>, FormatError> {
    decompress_bounded(packed).ok_or(FormatError::Damaged)
}

fn unpack<T: for<'d> Deserialize<'d>>(bytes: &[u8]) -> Result<T, FormatError> {
    postcard::from_bytes(&decompress(bytes)?).map_err(|_| FormatError::Damaged)
}
