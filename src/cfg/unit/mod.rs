//! A unit as the later stages see it: graphs with labels, definitions, and the
//! places where probes go.

mod callers;
mod definitions;
mod graphs;
mod known;
mod symbols;

use super::build;
use super::draft::{Draft, DraftNode, RunSite, Site};
use super::format::*;
use super::meaning::Meanings;
use crate::frontend::lex::Kind;
use crate::frontend::names::Name;
use crate::frontend::tree::*;
use crate::ids::Fingerprint;
use callers::Callers;
pub use known::Known;
use known::Reuse;
use rustc_hash::FxHashMap;
use symbols::Symbols;
pub use symbols::words;

/// All of a unit that follows from its text.
pub struct Analysis {
    /// See [`UnitIndex::outside`].
    pub outside: Fingerprint,
    pub symbols: Vec<Symbol>,
    /// See [`UnitIndex::weak`].
    pub weak: Vec<u32>,
    /// Functions whose address the unit takes, as indices into the symbols.
    pub address_taken: Vec<u32>,
    pub definitions: Vec<Definition>,
    pub declarations: Vec<Declaration>,
    pub composition: Fingerprint,
    pub procedures: Vec<ProcedureIndex>,
    pub graphs: Vec<Graph>,
    /// For every procedure, the site of each edge.
    pub sites: Vec<Vec<Site>>,
    /// The same for each node, of where to note that it runs.
    pub runs: Vec<Vec<RunSite>>,
    /// For each node, whether it may not come to its end.
    pub may_leave: Vec<Vec<bool>>,
    /// For each node, whether its value is up to the optimizer; nothing for a unit without such nodes.
    pub asks_optimizer: Vec<Vec<bool>>,
    /// For every procedure that is only ever called by name, and in this unit:
    /// the others by which a node that calls it may be left before it does, as
    /// indices into the symbols.
    pub only_called: Vec<Option<Vec<u32>>>,
    /// Files of the line map that hold text of the project, in the order of
    /// the places in nodes.
    pub files: Vec<String>,
    /// Those of them that `#line` names, and that were not read.
    pub only_named: Vec<u32>,
    /// Items of the file that were not understood: where, and why.
    pub unparsed: Vec<(Place, String)>,
}

impl Analysis {
    /// The places that were not understood, as `file:line: why`.
    pub fn problems(&self) -> Vec<String> {
        let file = |place: &Place| self.files.get(place.file as usize).map_or("", String::as_str);
        let text =
            |(place, what): &(Place, String)| format!("{}:{}: {what}", file(place), place.line);
        self.unparsed.iter().map(text).collect()
    }
}

/// Builds graphs and labels. Procedures named in `forced` are opaque whatever
/// the front end thinks of them, with the given reason. The tree is left
/// without its bodies: each is gone once its graph is built.
pub fn analyse(tree: &mut Tree<'_>, forced: &FxHashMap<String, String>) -> Analysis {
    let outside = known::outside(tree);
    analyse_with(tree, forced, outside, None)
}

/// The same for a tree whose known bodies were not parsed: their graphs come
/// from the old record. `None` if more than bodies changed, so that they may
/// mean something else now. The result has no places for probes in them, and
/// does not list declarations, which are those of the old record.
pub fn analyse_unknown(
    tree: &mut Tree<'_>,
    forced: &FxHashMap<String, String>,
    old: &Known<'_>,
) -> Option<Analysis> {
    let outside = known::outside(tree);
    old.fits(tree, outside).then(|| analyse_with(tree, forced, outside, Some(old)))
}

fn analyse_with(
    tree: &mut Tree<'_>,
    forced: &FxHashMap<String, String>,
    outside: Fingerprint,
    old: Option<&Known<'_>>,
) -> Analysis {
    let bodies: Vec<Body> = tree.procedures.iter_mut().map(Procedure::take_body).collect();
    let tree = &*tree;
    let meanings = Meanings::of(tree);
    let mut unit = UnitBuilder { tree, meanings: &meanings, symbols: Symbols::of(tree) };
    let count = bodies.len();
    let mut procedures = Vec::with_capacity(count);
    let mut graphs = Vec::with_capacity(count);
    let mut sites = Vec::with_capacity(count);
    let mut runs = Vec::with_capacity(count);
    let mut may_leave = Vec::with_capacity(count);
    let mut asks_optimizer = Vec::with_capacity(count);
    let of_optimizer = unit.names_of_optimizer();
    let mut callers = Callers::of(tree);
    let mut reuse = old.map(Reuse::of);
    let not_understood = tree.not_understood.iter().map(|(_, problem)| problem);
    let unparsed = not_understood
        .map(|problem| {
            let all = &tree.tokens.all;
            let is_end = all[problem.token as usize].kind == Kind::End;
            // The last line with anything in it says more than the end of the file.
            let token = problem.token.saturating_sub(u32::from(is_end));
            (unit.place(token), unit.expectation(problem))
        })
        .collect();
    for ((number, procedure), body) in tree.procedures.iter().enumerate().zip(bodies) {
        if let Some(reuse) = &mut reuse {
            if matches!(body, Body::Known) {
                let (index, graph) = reuse.procedure(number, procedure, &mut unit);
                sites.push(vec![Site::None; graph.edges.len()]);
                runs.push(Vec::new());
                may_leave.push(Vec::new());
                asks_optimizer.push(Vec::new());
                procedures.push(index);
                graphs.push(graph);
                reuse.pass(procedure);
                continue;
            }
            reuse.pass(procedure);
        }
        let decl = &tree.decls[procedure.decl.ix()];
        let symbol = unit.symbols.of_decl(decl);
        let name =
            symbol.map_or_else(|| tree.tokens.names.string(procedure.name), |symbol| symbol.name);
        let built = unit.draft(procedure, body, forced.get(&name));
        let nodes = built.as_ref().map_or(&[][..], |draft| &draft.nodes);
        runs.push(nodes.iter().map(|node| node.run).collect());
        may_leave.push(nodes.iter().map(|node| node.may_leave).collect());
        asks_optimizer.push(match of_optimizer.is_empty() {
            true => Vec::new(),
            false => nodes.iter().map(|node| unit.mentions_any(node, &of_optimizer)).collect(),
        });
        callers.add(nodes, &mut unit.symbols);
        let (graph, graph_sites, opaque) = match built {
            Ok(draft) => {
                let (graph, sites) = unit.graph(procedure, draft);
                (graph, sites, None)
            }
            Err(why) => {
                let (graph, sites) = unit.opaque(procedure);
                (graph, sites, Some(why))
            }
        };
        let mut mentions: Vec<u32> =
            graph.nodes.iter().flat_map(|node| node.mentions.iter().copied()).collect();
        mentions.sort_unstable();
        mentions.dedup();
        let is_plain = procedure.is_closed && opaque.is_none();
        let is_recognised = is_plain
            && !tree.has_symbols(procedure.body_range)
            && tree.pragmas_in(procedure.body_range).is_empty();
        procedures.push(ProcedureIndex {
            is_nested: procedure.is_nested,
            body: is_recognised.then(|| tree.fingerprint(procedure.body_range)),
            takes: unit.symbols.taken(),
            fingerprint: unit.graph_fingerprint(&graph),
            name,
            is_static: procedure.is_static,
            is_constructor: decl.is_constructor,
            is_weak: decl.is_weak,
            again: None,
            unprobed: false,
            opaque,
            place: unit.place(procedure.range.start),
            edge_count: graph.edges.len() as u32,
            mentions,
        });
        graphs.push(graph);
        sites.push(graph_sites);
    }
    let mut definitions = unit.definitions();
    if let Some(reuse) = &mut reuse {
        definitions.extend(reuse.definitions(&mut unit));
    }
    let bonds = unit.bonds();
    let weak = unit.weak(&procedures, &definitions);
    definitions.extend(bonds);
    let composition = unit.composition();
    // With an old record at hand, nothing outside of bodies changed, and nothing
    // gets a probe.
    let declarations = if old.is_none() { unit.declarations() } else { Vec::new() };
    let takes = procedures.iter().flat_map(|procedure: &ProcedureIndex| procedure.takes.iter());
    let address_taken = unit.symbols.taken().into_iter().chain(takes.copied());
    let address_taken = symbols::sorted(address_taken.collect());
    let only_called = if old.is_none() { callers.finish(tree) } else { Vec::new() };
    let symbols = unit.symbols.finish();
    Analysis {
        outside,
        symbols,
        weak,
        address_taken,
        definitions,
        declarations,
        composition,
        procedures,
        graphs,
        sites,
        runs,
        may_leave,
        asks_optimizer,
        only_called,
        files: tree.tokens.lines.files.clone(),
        only_named: tree.tokens.lines.only_named(),
        unparsed,
    }
}

struct UnitBuilder<'a, 't> {
    tree: &'a Tree<'t>,
    meanings: &'a Meanings<'a, 't>,
    symbols: Symbols<'a, 't>,
}

/// Built-in functions whose value depends on what the optimizer finds out.
const OF_OPTIMIZER: [&str; 3] =
    ["__builtin_constant_p", "__builtin_object_size", "__builtin_dynamic_object_size"];

impl UnitBuilder<'_, '_> {
    fn names_of_optimizer(&self) -> Vec<Name> {
        let names = &self.tree.tokens.names;
        OF_OPTIMIZER.iter().filter_map(|name| names.find(name.as_bytes())).collect()
    }

    /// Whether a node itself names one of these. A node in front of operands names what these do.
    fn mentions_any(&self, node: &DraftNode, names: &[Name]) -> bool {
        let names_one = |piece: &Piece| match piece {
            Piece::Tokens(range) => (range.start..range.end)
                .any(|token| names.contains(&self.tree.tokens.all[token as usize].name)),
            _ => false,
        };
        node.calls_are_certain && node.pieces.iter().any(names_one)
    }

    /// The graph of a body, which is gone then, or why it is opaque.
    fn draft(
        &self,
        procedure: &Procedure,
        body: Body,
        forced: Option<&String>,
    ) -> Result<Draft, String> {
        if let Some(reason) = forced {
            return Err(reason.clone());
        }
        match body {
            Body::Opaque(problem) => Err(self.explain(&problem)),
            Body::Known => Err(String::from("its body was left out")),
            Body::Parsed(_) if self.meanings.pragmas.shapes_code(procedure.body_range) => Err(
                String::from("a pragma inside of the body that decides on the form of the code"),
            ),
            Body::Parsed(body) => build::build(self.tree, &self.meanings.pragmas, procedure, &body)
                .map_err(|problem| self.explain(&problem)),
        }
    }

    fn place(&self, token: u32) -> Place {
        let offset = self.tree.tokens.all[token as usize].start;
        let place = self.tree.tokens.lines.place(offset);
        place.map_or_else(Place::default, |p| Place { file: p.file, line: p.line })
    }

    fn place_text(&self, place: Place) -> String {
        let file = self.tree.tokens.lines.files.get(place.file as usize);
        format!("{}:{}", file.map_or("", String::as_str), place.line)
    }

    /// What the front end expected, and what it found instead.
    fn expectation(&self, problem: &Problem) -> String {
        /// How much of a token is shown.
        const SHOWN: usize = 40;
        if !problem.what.starts_with("expected") {
            return problem.what.to_string();
        }
        if self.tree.tokens.all[problem.token as usize].kind == Kind::End {
            return format!("{} before the end of the file", problem.what);
        }
        let found = String::from_utf8_lossy(self.tree.token_text(problem.token));
        let found: String = found.chars().take(SHOWN).collect();
        format!("{} before `{found}`", problem.what)
    }

    fn explain(&self, problem: &Problem) -> String {
        format!("{} at {}", problem.what, self.place_text(self.place(problem.token)))
    }
}
