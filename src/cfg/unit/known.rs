//! Procedures whose text did not change, taken from the old record.
//!
//! What a body means depends on its own tokens and on all that is declared
//! outside of it. So where the text outside of bodies is the same as before, a
//! body with the same tokens has the same graph. Bodies that act on what is
//! outside, by declaring something there, count as outside.

use super::symbols::sorted;
use super::{Analysis, UnitBuilder};
use crate::cfg::format::*;
use crate::frontend::tree::*;
use crate::ids::{Fingerprint, FpHasher};

/// What is known of a unit from before.
#[derive(Clone)]
pub struct Known<'o> {
    outside: Fingerprint,
    symbols: &'o [Symbol],
    address_taken: &'o [u32],
    definitions: &'o [Definition],
    procedures: &'o [ProcedureIndex],
    graphs: Vec<&'o Graph>,
}

impl<'o> Known<'o> {
    pub fn of_record(index: &'o UnitIndex, graphs: Vec<&'o Graph>) -> Self {
        Self {
            outside: index.outside,
            symbols: &index.symbols,
            address_taken: &index.address_taken,
            definitions: &index.definitions,
            procedures: &index.procedures,
            graphs,
        }
    }

    pub fn of_analysis(analysis: &'o Analysis) -> Self {
        Self {
            outside: analysis.outside,
            symbols: &analysis.symbols,
            address_taken: &analysis.address_taken,
            definitions: &analysis.definitions,
            procedures: &analysis.procedures,
            graphs: analysis.graphs.iter().collect(),
        }
    }

    /// The bodies that need not be parsed again, for the front end.
    pub fn bodies(&self) -> Vec<Option<Fingerprint>> {
        let outermost = self.procedures.iter().filter(|procedure| !procedure.is_nested);
        outermost.map(|procedure| procedure.body).collect()
    }

    /// Whether known bodies of a tree mean what they meant.
    pub fn fits(&self, tree: &Tree<'_>, outside: Fingerprint) -> bool {
        let has_symbols = tree
            .procedures
            .iter()
            .any(|p| matches!(p.body, Body::Known) && tree.has_symbols(p.body_range));
        let is_readable = self.graphs.len() == self.procedures.len();
        outside == self.outside && !has_symbols && is_readable
    }
}

/// All text but that of closed bodies, all pragmas, and places that built-in functions tell.
pub fn outside(tree: &Tree<'_>) -> Fingerprint {
    let mut hasher = FpHasher::new("outside");
    let mut from = 0;
    for procedure in tree.procedures.iter().filter(|procedure| procedure.is_closed) {
        let body = tree.bytes_of(procedure.body_range);
        tree.hash_text(from..body.start, &mut hasher);
        hasher.str("{}");
        for pragma in tree.pragmas_in(procedure.body_range) {
            hasher.bytes(&tree.text[pragma.start as usize..pragma.end as usize]);
        }
        from = body.end;
    }
    tree.hash_text(from..tree.text.len(), &mut hasher);
    // Outside of bodies the line of `__builtin_LINE` may be a size or the value of a constant.
    let closed = || tree.procedures.iter().filter(|procedure| procedure.is_closed);
    for token in &tree.symbol_tokens {
        if let Some(told) = tree.places.get(token)
            && !closed().any(|procedure| procedure.body_range.contains(*token))
        {
            hasher.str(&told.file);
            told.numbers.iter().for_each(|number| hasher.number(u64::from(*number)));
        }
    }
    hasher.finish()
}

/// Takes procedures from an old record into a new analysis.
pub struct Reuse<'o> {
    old: &'o Known<'o>,
    /// Old procedures that are not inside of others, in order.
    outermost: Vec<usize>,
    next: usize,
    /// New numbers of old symbols, as far as asked for.
    symbols: Vec<Option<u32>>,
    /// Old procedures that were taken, each with its new number and the first
    /// token it has now.
    taken: Vec<(usize, usize, u32)>,
}

impl<'o> Reuse<'o> {
    pub fn of(old: &'o Known<'o>) -> Self {
        let procedures = old.procedures.iter().enumerate();
        let outermost = procedures.filter(|(_, p)| !p.is_nested).map(|(number, _)| number);
        Self {
            old,
            outermost: outermost.collect(),
            next: 0,
            symbols: vec![None; old.symbols.len()],
            taken: Vec::new(),
        }
    }

    /// Counts procedures in step with the front end.
    pub fn pass(&mut self, procedure: &Procedure) {
        self.next += usize::from(!procedure.is_nested);
    }

    fn symbol(&mut self, old: u32, unit: &mut UnitBuilder<'_, '_>) -> u32 {
        if let Some(known) = self.symbols[old as usize] {
            return known;
        }
        let number = unit.symbols.intern(self.old.symbols[old as usize].clone());
        self.symbols[old as usize] = Some(number);
        number
    }

    fn renumbered(&mut self, old: &[u32], unit: &mut UnitBuilder<'_, '_>) -> Vec<u32> {
        old.iter().map(|symbol| self.symbol(*symbol, unit)).collect()
    }

    pub fn procedure(
        &mut self,
        number: usize,
        procedure: &Procedure,
        unit: &mut UnitBuilder<'_, '_>,
    ) -> (ProcedureIndex, Graph) {
        let old = self.outermost[self.next];
        let start = procedure.range.start;
        self.taken.push((old, number, start));
        let mut graph = Graph::clone(self.old.graphs[old]);
        for node in &mut graph.nodes {
            node.place = unit.place(start + node.token);
            node.calls = self.renumbered(&node.calls, unit);
            node.calls_in_full.clear();
            node.mentions = sorted(self.renumbered(&node.mentions, unit));
        }
        graph.edges.iter_mut().for_each(|edge| edge.noted = Noted::Follows);
        let mut index = self.old.procedures[old].clone();
        index.again = None;
        index.place = unit.place(start);
        index.mentions = sorted(self.renumbered(&index.mentions, unit));
        index.takes = sorted(self.renumbered(&index.takes, unit));
        (index, graph)
    }

    /// What the bodies define that were taken.
    pub fn definitions(&mut self, unit: &mut UnitBuilder<'_, '_>) -> Vec<Definition> {
        let mut found = Vec::new();
        for definition in self.old.definitions {
            let Some((procedure, token)) = definition.within else { continue };
            let place = self.taken.binary_search_by_key(&(procedure as usize), |(old, ..)| *old);
            let Ok(place) = place else { continue };
            let (_, number, start) = self.taken[place];
            for mention in &definition.mentions {
                if self.old.address_taken.binary_search(mention).is_ok() {
                    let taken = self.symbol(*mention, unit);
                    unit.symbols.take(taken);
                }
            }
            found.push(Definition {
                symbol: self.symbol(definition.symbol, unit),
                mentions: self.renumbered(&definition.mentions, unit),
                place: unit.place(start + token),
                within: Some((number as u32, token)),
                ..definition.clone()
            });
        }
        found
    }
}
