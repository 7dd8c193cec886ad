//! What a unit defines and declares, and what acts on a program unnamed.

use super::UnitBuilder;
use crate::cfg::format::*;
use crate::cfg::meaning::Lines;
use crate::frontend::lex::Kind;
use crate::frontend::tree::*;
use crate::ids::{DeclId, Fingerprint, FpHasher};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

impl UnitBuilder<'_, '_> {
    /// Declarations of the file that procedures name, and those they refer to.
    pub(super) fn declarations(&self) -> Vec<Declaration> {
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
    pub(super) fn definitions(&mut self) -> Vec<Definition> {
        let procedures: FxHashSet<DeclId> = self.tree.procedures.iter().map(|p| p.decl).collect();
        let mut found = Vec::new();
        for (index, decl) in self.tree.decls.iter().enumerate() {
            let id = DeclId::new(index);
            let is_variable = !decl.definitions().is_empty() && decl.kind == DeclKind::Variable;
            // A procedure is compared by its graph; here only who can see it.
            let visibility = procedures.contains(&id).then(|| self.visibility(decl)).flatten();
            if !is_variable && decl.alias_of().is_none() && visibility.is_none() {
                continue;
            }
            let Some(symbol) = self.symbols.of_decl(decl) else { continue };
            let mut hasher = FpHasher::new("definition");
            hasher.fp(&visibility.unwrap_or_else(|| self.meanings.of_decl(id)));
            let mut pieces = Vec::new();
            for definition in decl.definitions() {
                if let Some(range) = definition.initializer {
                    pieces.push(Piece::Tokens(range));
                }
            }
            self.meanings.hash_pieces(&pieces, Lines::True, &mut hasher);
            let mut mentions = self.symbols.uses(&pieces, &[]);
            if let Some(target) = decl.alias_of() {
                mentions.push(self.symbols.named(target));
            }
            // Of several declarations the one with the initialiser is meant.
            let at = match pieces.last() {
                Some(Piece::Tokens(range)) => range.start,
                _ => decl.forms.last().map_or(0, |form| form.at),
            };
            let place = self.place(at);
            let within = decl.owner.and_then(|_| self.within(at));
            let symbol = self.symbols.intern(symbol);
            found.push(Definition {
                symbol,
                fingerprint: hasher.finish(),
                mentions,
                acts: decl.acts,
                place,
                within,
            });
        }
        found
    }

    /// The outermost procedure around a token, and which of its tokens it is.
    fn within(&self, token: u32) -> Option<(u32, u32)> {
        // Those inside of others stand before them, and end before them.
        let around = self.tree.procedures.partition_point(|p| p.range.end <= token);
        let around = (around..self.tree.procedures.len())
            .find(|index| !self.tree.procedures[*index].is_nested)?;
        let start = self.tree.procedures[around].range.start;
        Some((around as u32, token.checked_sub(start)?))
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
        let forms = decl.forms.iter().filter(|_| !decl.is_static);
        let pushed = forms.filter_map(|form| self.meanings.pragmas.visibility_at(form.at));
        let pushed: BTreeSet<&str> = pushed.collect();
        is_said |= !pushed.is_empty();
        pushed.iter().for_each(|visibility| hasher.str(visibility));
        is_said.then(|| hasher.finish())
    }

    pub(super) fn composition(&self) -> Fingerprint {
        let mut hasher = FpHasher::new("composition");
        for acting in &self.tree.composition {
            let text = [Piece::Tokens(acting.range)];
            self.meanings.hash_pieces(&text, Lines::Symbolic, &mut hasher);
        }
        for pragma in &self.meanings.pragmas.of_the_program {
            hasher.str(&pragma.text);
        }
        // Nobody knows what these define for other units.
        for (range, _) in &self.tree.not_understood {
            self.meanings.hash_pieces(&[Piece::Tokens(*range)], Lines::True, &mut hasher);
        }
        hasher.finish()
    }

    /// Words of the strings in a declaration, without those of attributes that name no symbol.
    fn names_in_attributes(&self, range: Range) -> Vec<String> {
        const OTHERS: [&str; 6] =
            ["section", "visibility", "deprecated", "tls_model", "target", "optimize"];
        let mut found = Vec::new();
        let mut from = range.start;
        for token in range.start + 2..range.end {
            let before = String::from_utf8_lossy(self.tree.token_text(token - 2));
            let is_other = self.tree.token_text(token - 1) == b"("
                && OTHERS.contains(&before.trim_matches('_'));
            if is_other && let Some(close) = self.close_of_literals(token, range.end) {
                found.extend(self.symbols.words_in_strings(Range::new(from, token)));
                from = from.max(close);
            }
        }
        found.extend(self.symbols.words_in_strings(Range::new(from, range.end)));
        found
    }

    /// The token behind the string literals that begin at a token, if there are any.
    fn close_of_literals(&self, token: u32, end: u32) -> Option<u32> {
        let is_text = |token: &u32| self.tree.tokens.all[*token as usize].kind == Kind::Text;
        let close = (token..end).find(|token| !is_text(token))?;
        (close > token).then_some(close)
    }

    /// Names that the unit may do without, see [`UnitIndex::weak`]: those that are declared
    /// weak, in whichever way, and those that nothing but asm, attributes and pragmas name.
    pub(super) fn weak(
        &self,
        procedures: &[ProcedureIndex],
        definitions: &[Definition],
    ) -> Vec<u32> {
        let mut names: FxHashSet<String> = FxHashSet::default();
        let weak = self.tree.decls.iter().filter(|decl| decl.is_weak);
        names.extend(weak.filter_map(|decl| self.symbols.of_decl(decl)).map(|symbol| symbol.name));
        for pragma in &self.meanings.pragmas.of_the_program {
            names.extend(pragma.names.iter().cloned());
        }
        for acting in self.tree.composition.iter().filter(|acting| acting.names_count) {
            let words = self.symbols.words_in_strings(acting.range);
            if words.iter().any(|word| word.starts_with("weak")) {
                names.extend(words);
            }
        }
        let code = procedures.iter().flat_map(|procedure| &procedure.mentions);
        // What a weak reference stands for is named by its attribute alone.
        let aliases = self.tree.decls.iter().filter(|decl| decl.alias_of().is_some());
        let aliases: FxHashSet<Symbol> =
            aliases.filter_map(|decl| self.symbols.of_decl(decl)).collect();
        let is_code = |definition: &&Definition| {
            !aliases.contains(&self.symbols.all()[definition.symbol as usize])
        };
        let initialisers = definitions.iter().filter(is_code);
        let code = code.chain(initialisers.flat_map(|definition| &definition.mentions));
        let code: FxHashSet<u32> = code.copied().collect();
        let own = definitions.iter().map(|d| &self.symbols.all()[d.symbol as usize]);
        let own = own.filter(|symbol| !symbol.is_static).map(|symbol| symbol.name.as_str());
        let procedures = procedures.iter().filter(|procedure| !procedure.is_static);
        let own = own.chain(procedures.map(|procedure| procedure.name.as_str()));
        let own: FxHashSet<&str> = own.collect();
        let may_be_weak = |(number, symbol): &(u32, &Symbol)| {
            !symbol.is_static
                && !own.contains(symbol.name.as_str())
                && (names.contains(&symbol.name) || !code.contains(number))
        };
        (0..).zip(self.symbols.all()).filter(may_be_weak).map(|(number, _)| number).collect()
    }

    /// Names that asm and pragmas of the program tie together: they act, and
    /// through them whatever they name.
    pub(super) fn bonds(&mut self) -> Vec<Definition> {
        let mut bonds: Vec<(Vec<String>, Option<Range>)> = Vec::new();
        for acting in &self.tree.composition {
            let words = if acting.names_count {
                self.symbols.words_in_strings(acting.range)
            } else {
                self.names_in_attributes(acting.range)
            };
            bonds.push((words, acting.names_count.then_some(acting.range)));
        }
        for pragma in &self.meanings.pragmas.of_the_program {
            bonds.push((pragma.names.clone(), None));
        }
        let mut found = Vec::new();
        for (number, (names, range)) in bonds.into_iter().enumerate() {
            let mut fingerprint = FpHasher::new("bond");
            names.iter().for_each(|name| fingerprint.str(name));
            let mut mentions: Vec<u32> =
                names.iter().map(|name| self.symbols.named(name)).collect();
            mentions.extend(
                range.into_iter().flat_map(|range| self.symbols.mentions(&[Piece::Tokens(range)])),
            );
            let name = format!("asm#{number}");
            found.push(Definition {
                symbol: self.symbols.intern(Symbol { name, is_static: true }),
                fingerprint: fingerprint.finish(),
                mentions,
                acts: true,
                place: Place::default(),
                within: None,
            });
        }
        found
    }
}
