//! A unit as the later stages see it: graphs with labels, definitions, and the
//! places where probes go.

use super::build;
use super::draft::{Draft, DraftLabel, Site};
use super::format::*;
use super::meaning::{Lines, Meanings};
use crate::frontend::lex::Kind;
use crate::frontend::names::kw;
use crate::frontend::tree::*;
use crate::ids::{DeclId, Fingerprint, FpHasher, NodeId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;

/// How much of a node's source is kept for people.
const SHOWN: usize = 240;

/// All of a unit that follows from its text.
pub struct Analysis {
    pub symbols: Vec<Symbol>,
    pub definitions: Vec<Definition>,
    pub declarations: Vec<Declaration>,
    pub composition: Fingerprint,
    pub procedures: Vec<ProcedureIndex>,
    pub graphs: Vec<Graph>,
    /// For every procedure, the site of each edge.
    pub sites: Vec<Vec<Site>>,
    /// Files of the line map that hold text of the project, in the order of
    /// the places in nodes.
    pub files: Vec<String>,
    pub problems: Vec<String>,
}

/// Builds graphs and labels. Procedures named in `forced` are opaque whatever
/// the front end thinks of them, with the given reason.
pub fn analyse(tree: &Tree<'_>, forced: &FxHashMap<String, String>) -> Analysis {
    let meanings = Meanings::of(tree);
    let mut unit = UnitBuilder {
        tree,
        meanings: &meanings,
        symbols: Vec::new(),
        by_symbol: FxHashMap::default(),
    };
    let mut procedures = Vec::new();
    let mut graphs = Vec::new();
    let mut sites = Vec::new();
    let mut problems = Vec::new();
    for (range, problem) in &tree.not_understood {
        let place = unit.place(range.start);
        problems.push(format!("{}: {}", unit.place_text(place), problem.what));
    }
    for procedure in &tree.procedures {
        let decl = &tree.decls[procedure.decl.ix()];
        let name = match &decl.link_name {
            Some(name) => name.clone(),
            None => tree.tokens.names.string(procedure.name),
        };
        let built = match (&procedure.body, forced.get(&name)) {
            (_, Some(reason)) => Err(reason.clone()),
            (Body::Opaque(problem), _) => Err(unit.explain(problem)),
            (Body::Parsed(_), _) if meanings.pragmas.has_inside(procedure.body_range) => {
                Err(String::from("a pragma inside of the body"))
            }
            (Body::Parsed(body), _) => {
                build::build(tree, procedure, body).map_err(|problem| unit.explain(&problem))
            }
        };
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
        procedures.push(ProcedureIndex {
            fingerprint: unit.graph_fingerprint(&graph),
            name,
            is_static: procedure.is_static,
            is_constructor: procedure.is_constructor,
            opaque,
            place: unit.place(procedure.range.start),
            edge_count: graph.edges.len() as u32,
            mentions,
        });
        graphs.push(graph);
        sites.push(graph_sites);
    }
    let mut definitions = unit.definitions();
    definitions.extend(unit.bonds());
    let composition = unit.composition();
    let declarations = unit.declarations();
    Analysis {
        symbols: unit.symbols,
        definitions,
        declarations,
        composition,
        procedures,
        graphs,
        sites,
        files: tree.tokens.lines.files.clone(),
        problems,
    }
}

/// Runs of letters, digits and underscores.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_break = |c: char| !(c.is_alphanumeric() || c == '_');
    text.split(is_break).filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

struct UnitBuilder<'a, 't> {
    tree: &'a Tree<'t>,
    meanings: &'a Meanings<'a, 't>,
    symbols: Vec<Symbol>,
    by_symbol: FxHashMap<Symbol, u32>,
}

impl UnitBuilder<'_, '_> {
    fn place(&self, token: u32) -> Place {
        let offset = self.tree.tokens.all[token as usize].start;
        let place = self.tree.tokens.lines.place(offset);
        place.map_or_else(Place::default, |p| Place { file: p.file, line: p.line })
    }

    fn place_text(&self, place: Place) -> String {
        let file = self.tree.tokens.lines.files.get(place.file as usize);
        format!("{}:{}", file.map_or("", String::as_str), place.line)
    }

    fn explain(&self, problem: &Problem) -> String {
        format!("{} at {}", problem.what, self.place_text(self.place(problem.token)))
    }

    fn shown(&self, range: Range) -> String {
        let mut text = self.tree.range_text(range);
        if text.len() > SHOWN {
            let cut = (0..=SHOWN).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            text.truncate(cut);
            text.push('…');
        }
        text
    }

    fn intern(&mut self, symbol: Symbol) -> u32 {
        if let Some(index) = self.by_symbol.get(&symbol) {
            return *index;
        }
        let index = self.symbols.len() as u32;
        self.symbols.push(symbol.clone());
        self.by_symbol.insert(symbol, index);
        index
    }

    /// The linkable thing that a token names, if it does.
    fn symbol_at(&mut self, token: u32) -> Option<u32> {
        let symbol = match self.tree.refs.get(token) {
            Ref::None => return None,
            Ref::Undeclared => Symbol {
                name: String::from_utf8_lossy(self.tree.token_text(token)).into_owned(),
                is_static: false,
            },
            Ref::Decl(decl) => self.symbol_of(&self.tree.decls[decl.ix()])?,
        };
        Some(self.intern(symbol))
    }

    fn symbol_of(&self, decl: &Decl) -> Option<Symbol> {
        if !matches!(decl.kind, DeclKind::Variable | DeclKind::Function) {
            return None;
        }
        let name = match &decl.link_name {
            Some(name) => name.clone(),
            None => self.tree.tokens.names.string(decl.name?),
        };
        match (decl.scope, decl.owner) {
            (DeclScope::File, _) => Some(Symbol { name, is_static: decl.is_static }),
            (DeclScope::Local(count), Some(owner)) => {
                let owner = self.tree.tokens.names.string(owner);
                Some(Symbol { name: format!("{owner}.{name}#{count}"), is_static: true })
            }
            _ => None,
        }
    }

    fn mentions(&mut self, pieces: &[Piece]) -> Vec<u32> {
        let mut found = Vec::new();
        for piece in pieces {
            if let Piece::Tokens(range) = piece {
                for token in range.start..range.end {
                    found.extend(self.symbol_at(token));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Names in a body that was not parsed. One without a declaration is most
    /// likely local, unless it is called.
    fn mentions_of_opaque(&mut self, body: Range) -> Vec<u32> {
        let tokens = (body.start..body.end).filter(|token| {
            self.tree.refs.get(*token) != Ref::Undeclared || self.tree.token_text(token + 1) == b"("
        });
        let tokens: Vec<Piece> =
            tokens.map(|token| Piece::Tokens(Range::new(token, token + 1))).collect();
        self.mentions(&tokens)
    }

    fn labels(
        &self,
        kind: NodeKind,
        hash: impl Fn(Lines, &mut FpHasher),
    ) -> (Fingerprint, Option<Fingerprint>) {
        let of = |lines| {
            let mut hasher = FpHasher::new("node");
            hasher.number(kind as u64);
            hash(lines, &mut hasher);
            hasher.finish()
        };
        let label = of(Lines::Symbolic);
        if self.tree.symbols.is_empty() {
            return (label, None);
        }
        let strict = of(Lines::True);
        (label, (strict != label).then_some(strict))
    }

    /// Entry and exit carry the signature: a change of it is seen on entering.
    fn border(&mut self, procedure: &Procedure, kind: NodeKind) -> Node {
        let signature = &procedure.signature;
        let state = self.meanings.pragmas.state_at(signature.at);
        let is_static = procedure.is_static;
        let (label, strict) = if kind == NodeKind::Entry {
            self.labels(kind, |lines, hasher| {
                hasher.fp(&state);
                hasher.number(u64::from(is_static));
                self.meanings.hash_pieces(&signature.pieces, lines, hasher);
            })
        } else {
            self.labels(kind, |_, _| {})
        };
        let is_entry = kind == NodeKind::Entry;
        let shown = Range::new(procedure.range.start, procedure.body_range.start);
        let at = if is_entry { procedure.range.start } else { procedure.range.end - 1 };
        Node {
            kind,
            label,
            strict,
            place: self.place(at),
            text: if is_entry { self.shown(shown) } else { String::from("}") },
            calls: Vec::new(),
            calls_are_certain: true,
            mentions: if is_entry { self.mentions(&signature.pieces) } else { Vec::new() },
        }
    }

    fn graph(&mut self, procedure: &Procedure, draft: Draft) -> (Graph, Vec<Site>) {
        let mut graph = Graph::default();
        let mut sites = Vec::new();
        for node in &draft.nodes {
            if matches!(node.kind, NodeKind::Entry | NodeKind::Exit) {
                let border = self.border(procedure, node.kind);
                graph.nodes.push(border);
                continue;
            }
            let (label, strict) = self.labels(node.kind, |lines, hasher| {
                self.meanings.hash_pieces(&node.pieces, lines, hasher);
            });
            let calls = node.calls.iter().filter_map(|token| self.symbol_at(*token)).collect();
            let mut mentions = self.mentions(&node.pieces);
            if node.is_asm {
                let names = self.words_in_strings(node.range);
                mentions.extend(names.iter().map(|name| self.intern(self.alias_target(name))));
                mentions.sort_unstable();
                mentions.dedup();
            }
            graph.nodes.push(Node {
                kind: node.kind,
                label,
                strict,
                place: self.place(node.range.start),
                text: self.shown(node.range),
                calls,
                calls_are_certain: node.calls_are_certain,
                mentions,
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
            };
            graph.edges.push(Edge { from: edge.from, to: edge.to, label, probe: None });
            sites.push(edge.site);
        }
        (graph, sites)
    }

    /// One node for the whole body, with a probe on its entry.
    fn opaque(&mut self, procedure: &Procedure) -> (Graph, Vec<Site>) {
        let entry = self.border(procedure, NodeKind::Entry);
        let exit = self.border(procedure, NodeKind::Exit);
        let body = procedure.body_range;
        let (label, strict) = self.labels(NodeKind::Opaque, |lines, hasher| {
            self.meanings.hash_opaque(body, lines, hasher);
        });
        let mut mentions = self.mentions_of_opaque(body);
        let names = self.words_in_asm(body);
        mentions.extend(names.iter().map(|name| self.intern(self.alias_target(name))));
        mentions.sort_unstable();
        mentions.dedup();
        let text = self.shown(Range::new(procedure.range.start, body.start));
        let node = Node {
            kind: NodeKind::Opaque,
            label,
            strict,
            place: self.place(body.start),
            text: format!("the body of {text}"),
            calls: Vec::new(),
            calls_are_certain: true,
            mentions,
        };
        let edge = |from, to| Edge { from, to, label: EdgeLabel::Always, probe: None };
        let graph = Graph {
            nodes: vec![entry, exit, node],
            edges: vec![edge(Graph::ENTRY, NodeId(2)), edge(NodeId(2), Graph::EXIT)],
        };
        (graph, vec![Site::Entry { open: body.start }, Site::None])
    }

    fn graph_fingerprint(&self, graph: &Graph) -> Fingerprint {
        let mut hasher = FpHasher::new("graph");
        for node in &graph.nodes {
            hasher.fp(&node.label);
            hasher.fp(&node.strict.unwrap_or(node.label));
            hasher.number(node.calls.len() as u64);
            for call in &node.calls {
                hasher.str(&self.symbols[*call as usize].name);
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
            }
        }
        hasher.finish()
    }

    /// Declarations of the file that procedures name, and those they refer to.
    fn declarations(&self) -> Vec<Declaration> {
        let is_of_file = |decl: &DeclId| self.tree.decls[decl.ix()].scope == DeclScope::File;
        let tokens = self.tree.procedures.iter().flat_map(|p| p.range.start..p.range.end);
        let named = tokens.filter_map(|token| match self.tree.refs.get(token) {
            Ref::Decl(decl) => Some(decl),
            _ => None,
        });
        let mut numbers: FxHashMap<DeclId, u32> = FxHashMap::default();
        let mut order: Vec<DeclId> = Vec::new();
        let mut todo: Vec<DeclId> = named.collect();
        todo.reverse();
        while let Some(decl) = todo.pop() {
            if let Entry::Vacant(entry) = numbers.entry(decl) {
                entry.insert(order.len() as u32);
                order.push(decl);
                todo.extend(self.meanings.says(decl).1.iter().rev());
            }
        }
        let described = order.iter().map(|decl| {
            let (says, refers) = self.meanings.says(*decl);
            let known = &self.tree.decls[decl.ix()];
            // Names of procedures' own declarations are not unique.
            let name = known.name.filter(|_| is_of_file(decl));
            Declaration {
                name: name.map_or_else(String::new, |name| self.tree.tokens.names.string(name)),
                says: *says,
                refers: refers.iter().map(|target| numbers[target]).collect(),
                place: self.place(known.at),
            }
        });
        described.collect()
    }

    /// Variables with static storage. A tentative definition is one too.
    fn definitions(&mut self) -> Vec<Definition> {
        let procedures: FxHashSet<DeclId> = self.tree.procedures.iter().map(|p| p.decl).collect();
        let mut found = Vec::new();
        for (index, decl) in self.tree.decls.iter().enumerate() {
            let id = DeclId::new(index);
            let is_variable = !decl.definitions.is_empty() && decl.kind == DeclKind::Variable;
            // A procedure is compared by its graph; here only who can see it.
            let visibility = procedures.contains(&id).then(|| self.visibility(decl)).flatten();
            if !is_variable && decl.alias_of.is_none() && visibility.is_none() {
                continue;
            }
            let Some(symbol) = self.symbol_of(decl) else { continue };
            let mut hasher = FpHasher::new("definition");
            hasher.fp(&visibility.unwrap_or_else(|| self.meanings.of_decl(id)));
            let mut pieces = Vec::new();
            for definition in &decl.definitions {
                if let Some(range) = definition.initializer {
                    pieces.push(Piece::Tokens(range));
                }
            }
            self.meanings.hash_pieces(&pieces, Lines::True, &mut hasher);
            let mut mentions = self.mentions(&pieces);
            if let Some(target) = &decl.alias_of {
                mentions.push(self.intern(self.alias_target(target)));
            }
            // Of several declarations the one with the initialiser is meant.
            let at = match pieces.last() {
                Some(Piece::Tokens(range)) => range.start,
                _ => decl.forms.last().map_or(0, |form| form.at),
            };
            let place = self.place(at);
            let symbol = self.intern(symbol);
            found.push(Definition {
                symbol,
                fingerprint: hasher.finish(),
                mentions,
                acts: decl.acts,
                place,
            });
        }
        found
    }

    /// Who can see a procedure, if something is said about it.
    fn visibility(&self, decl: &Decl) -> Option<Fingerprint> {
        let mut hasher = FpHasher::new("visibility");
        let mut is_said = false;
        for form in &decl.forms {
            for piece in &form.pieces {
                let Piece::Tokens(range) = piece else { continue };
                for token in range.start..range.end {
                    let text = self.tree.token_text(token);
                    if matches!(text, b"visibility" | b"__visibility__") && token + 2 < range.end {
                        hasher.bytes(self.tree.token_text(token + 2));
                        is_said = true;
                    }
                }
            }
        }
        is_said.then(|| hasher.finish())
    }

    /// What an alias stands for, which may be static in this unit.
    fn alias_target(&self, name: &str) -> Symbol {
        let is_static = self.tree.decls.iter().any(|decl| {
            decl.is_static
                && decl.scope == DeclScope::File
                && decl.name.is_some_and(|n| self.tree.tokens.names.text(n) == name.as_bytes())
        });
        Symbol { name: name.to_string(), is_static }
    }

    fn composition(&self) -> Fingerprint {
        let mut hasher = FpHasher::new("composition");
        for range in &self.tree.composition {
            self.meanings.hash_pieces(&[Piece::Tokens(*range)], Lines::Symbolic, &mut hasher);
        }
        for pragma in &self.meanings.pragmas.of_the_program {
            hasher.str(pragma);
        }
        // Nobody knows what these define for other units.
        for (range, _) in &self.tree.not_understood {
            self.meanings.hash_pieces(&[Piece::Tokens(*range)], Lines::True, &mut hasher);
        }
        hasher.finish()
    }

    /// Names that asm at file level and pragmas of the program tie together:
    /// they act, and through them whatever they name.
    fn bonds(&mut self) -> Vec<Definition> {
        let mut bonds: Vec<Vec<String>> = Vec::new();
        for range in &self.tree.composition {
            let words = self.words_in_strings(*range);
            bonds.push(words);
        }
        for pragma in &self.meanings.pragmas.of_the_program {
            bonds.push(words(pragma).map(String::from).collect());
        }
        let mut found = Vec::new();
        for (number, names) in bonds.into_iter().enumerate() {
            let mut fingerprint = FpHasher::new("bond");
            names.iter().for_each(|name| fingerprint.str(name));
            let mentions = names.iter().map(|name| self.intern(self.alias_target(name))).collect();
            let name = format!("asm#{number}");
            found.push(Definition {
                symbol: self.intern(Symbol { name, is_static: true }),
                fingerprint: fingerprint.finish(),
                mentions,
                acts: true,
                place: Place::default(),
            });
        }
        found
    }

    /// The same for a body that may hold asm.
    fn words_in_asm(&self, range: Range) -> Vec<String> {
        let tokens = &self.tree.tokens.all[range.start as usize..range.end as usize];
        let has_asm = tokens.iter().any(|token| token.kind == Kind::Word && token.name == kw::ASM);
        if has_asm { self.words_in_strings(range) } else { Vec::new() }
    }

    /// Words inside of the string literals of a range, as asm has them.
    fn words_in_strings(&self, range: Range) -> Vec<String> {
        let mut found = Vec::new();
        for token in range.start..range.end {
            if self.tree.tokens.all[token as usize].kind == Kind::Text {
                let text = String::from_utf8_lossy(self.tree.token_text(token));
                found.extend(words(&text).map(String::from));
            }
        }
        found
    }
}
