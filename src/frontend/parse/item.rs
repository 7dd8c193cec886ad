//! Items of a file: declarations, definitions, asm; and how to get on after
//! one that is not understood.

use super::decl::{Declarator, Derivation, Specifiers};
use super::scope::Space;
use super::*;
use crate::bytes;
use crate::frontend::literal::add_text;

impl Parser<'_, '_> {
    pub(super) fn items(&mut self) {
        while !self.at_end() {
            let start = self.at;
            if let Err(problem) = self.item() {
                self.recover(start, problem);
            }
            self.scopes.pop_to(0);
            self.depth = 0;
            self.unevaluated = 0;
            self.procedure = None;
        }
    }

    /// Leaves out the item that began at `start`: up to its `;`, or up to the
    /// end of a body.
    fn recover(&mut self, start: u32, problem: Problem) {
        let mut at = start;
        let count = self.tree.tokens.all.len() as u32 - 1;
        while at < count {
            match self.tree.token_text(at) {
                b";" => {
                    at += 1;
                    break;
                }
                b"(" | b"[" => at = self.matching_if(at, false).unwrap_or(count),
                b"{" => {
                    at = self.matching_if(at, false).unwrap_or(count);
                    let goes_on = at < count
                        && matches!(self.tree.token_text(at), b";" | b"," | b"=" | b"*" | b"[");
                    let names_follow = at < count
                        && self.tree.tokens.all[at as usize].kind == Kind::Word
                        && !self.tree.tokens.all[at as usize].name.is_keyword()
                        && !self.is_typedef(self.tree.tokens.all[at as usize].name);
                    if !goes_on && !names_follow {
                        break;
                    }
                }
                _ => at += 1,
            }
        }
        let range = Range::new(start, at.max(start + 1).min(count));
        self.at = range.end;
        self.refer_to_all(range);
        self.tree.not_understood.push((range, problem));
    }

    fn item(&mut self) -> Parse<()> {
        if self.eat(";") {
            return Ok(());
        }
        if self.at_static_assert() {
            return self.static_assert();
        }
        if self.is_word(kw::ASM) {
            let start = self.at;
            self.advance();
            while matches!(self.word(), Some(kw::VOLATILE | kw::INLINE)) {
                self.advance();
            }
            let group = self.skip_group()?;
            self.expect(";")?;
            self.note_asm(start, group);
            return Ok(());
        }
        let start = self.at;
        let specifiers = self.specifiers()?;
        let shared = Range::new(start, self.at);
        if self.eat(";") {
            return Ok(());
        }
        let mut first = true;
        loop {
            let from = self.at;
            let declarator = self.declarator(false)?;
            let Some((token, name)) = declarator.name else {
                return self.stop("expected a name");
            };
            let is_function = declarator.first == Some(Derivation::Function);
            let mut noreturn = specifiers.noreturn;
            noreturn |= self.asm_label_and_attributes()?;
            let form = specifiers.form(start, Range::new(from, self.at));
            if first && is_function && (self.is("{") || self.old_style_follows(&declarator)) {
                return self.definition(start, specifiers, declarator, form, noreturn);
            }
            if !specifiers.saw_type && !specifiers.is_static && !specifiers.is_extern {
                return self.stop("expected a declaration");
            }
            first = false;
            let own = Range::new(from, self.at);
            if specifiers.is_typedef {
                self.declare_typedef(name, token, form);
            } else {
                let decl =
                    self.declare_linked(name, is_function, specifiers.is_static, noreturn, form);
                self.tree.refs.set(token, Ref::Decl(decl));
                self.tree.decls[decl.ix()].acts |= self.note_composition(shared, own);
                let mut initializer = None;
                if self.eat("=") {
                    let from = self.at;
                    self.unevaluated(|p| p.initializer().map(drop))?;
                    let range = Range::new(from, self.at);
                    self.complete_type(decl, [shared, own], range);
                    initializer = Some(range);
                }
                if !is_function && (initializer.is_some() || !specifiers.is_extern) {
                    self.tree.decls[decl.ix()].rare().definitions.push(Defining { initializer });
                }
            }
            if !self.eat(",") {
                return self.expect(";");
            }
        }
    }

    pub(super) fn old_style_follows(&self, declarator: &Declarator) -> bool {
        !declarator.old_style.is_empty() && self.type_starts(0)
    }

    fn declare_typedef(&mut self, name: Name, token: u32, form: Form) {
        let known = self.scopes.find_here(Space::Ordinary, name);
        let decl = match known {
            Some(decl) if self.tree.decls[decl.ix()].kind == DeclKind::Typedef => {
                self.tree.decls[decl.ix()].forms.push(form);
                decl
            }
            _ => {
                let decl = self.new_decl(Decl {
                    forms: vec![form],
                    ..Decl::new(Some(name), DeclKind::Typedef, DeclScope::File)
                });
                self.scopes.bind(Space::Ordinary, name, decl);
                decl
            }
        };
        self.tree.refs.set(token, Ref::Decl(decl));
    }

    /// A variable or function of the file, or one that another unit defines.
    /// All its declarations are one entity.
    pub(super) fn declare_linked(
        &mut self,
        name: Name,
        is_function: bool,
        is_static: bool,
        noreturn: bool,
        form: Form,
    ) -> DeclId {
        if let Some(procedure) = &mut self.procedure {
            procedure.is_closed = false;
        }
        let kind = if is_function { DeclKind::Function } else { DeclKind::Variable };
        let ranges: Vec<Range> = form.pieces.iter().filter_map(Piece::tokens).collect();
        let at = Range::new(form.at, form.end);
        let known = self
            .scopes
            .find(Space::Ordinary, name)
            .filter(|decl| {
                let known = &self.tree.decls[decl.ix()];
                known.kind == kind && known.scope == DeclScope::File
            })
            .or_else(|| {
                // Hidden by a local name, or declared in a block before.
                (self.scopes.depth() > 0)
                    .then(|| self.linked.get(&(is_function, name)).copied())
                    .flatten()
            });
        let decl = match known {
            Some(decl) => {
                let known = &mut self.tree.decls[decl.ix()];
                known.forms.push(form);
                known.noreturn |= noreturn;
                known.is_static |= is_static;
                decl
            }
            None => self.new_decl(Decl {
                forms: vec![form],
                is_static,
                noreturn,
                ..Decl::new(Some(name), kind, DeclScope::File)
            }),
        };
        let has_more = ranges.iter().any(|range| self.has_attributes(*range));
        let (link_name, alias_of) = if has_more { self.other_names(&ranges) } else { (None, None) };
        let is_weak = has_more && ranges.iter().any(|range| self.names_weak(*range));
        let is_constructor = has_more && ranges.iter().any(|range| self.names_constructor(*range))
            || self.in_force(at.start, at.end).is_constructor;
        let known = &mut self.tree.decls[decl.ix()];
        known.is_weak |= is_weak;
        known.is_constructor |= is_constructor;
        if link_name.is_some() {
            known.rare().link_name = link_name;
        }
        if alias_of.is_some() {
            known.rare().alias_of = alias_of;
        }
        self.scopes.bind(Space::Ordinary, name, decl);
        self.linked.entry((is_function, name)).or_insert(decl);
        decl
    }

    /// The name for the linker that a declaration gives.
    pub(super) fn link_name(&self, form: &Form) -> Option<Box<str>> {
        let ranges: Vec<Range> = form.pieces.iter().filter_map(Piece::tokens).collect();
        self.other_names(&ranges).0
    }

    /// The name for the linker and what it is an alias of, as far as a
    /// declaration made of these ranges says.
    fn other_names(&self, ranges: &[Range]) -> (Option<Box<str>>, Option<Box<str>>) {
        let (mut link_name, mut alias_of) = (None, None);
        let tokens = ranges.iter().flat_map(|range| {
            let end = range.end;
            (range.start..end).map(move |token| (token, end))
        });
        for (token, end) in tokens {
            let is_label = self.tree.tokens.all[token as usize].name == kw::ASM;
            let text = self.tree.token_text(token);
            let word = text.strip_prefix(b"__").and_then(|t| t.strip_suffix(b"__")).unwrap_or(text);
            let is_alias = matches!(word, b"alias" | b"weakref" | b"ifunc");
            if (is_label || is_alias) && token + 2 < end {
                let name = self.literal_at(token + 2);
                if is_label { link_name = name } else { alias_of = name }
            }
        }
        (link_name, alias_of)
    }

    /// The text of the string literals from a token on.
    fn literal_at(&self, mut token: u32) -> Option<Box<str>> {
        let mut text = String::new();
        while self.tree.tokens.all[token as usize].kind == Kind::Text {
            add_text(&bytes::to_text(self.tree.token_text(token)), &mut text);
            token += 1;
        }
        (!text.is_empty()).then(|| text.into_boxed_str())
    }

    fn definition(
        &mut self,
        start: u32,
        specifiers: Specifiers,
        declarator: Declarator,
        form: Form,
        noreturn: bool,
    ) -> Parse<()> {
        let Some((token, name)) = declarator.name else {
            return self.stop("expected a name");
        };
        let all = Range::new(start, self.at);
        let acts = self.note_composition(all, Range::new(self.at, self.at));
        let mut signature = Form { pieces: form.pieces.clone(), at: form.at, end: form.end };
        let decl = self.declare_linked(name, true, specifiers.is_static, noreturn, form);
        self.tree.decls[decl.ix()].acts |= acts;
        self.tree.refs.set(token, Ref::Decl(decl));
        self.procedure = Some(InProcedure {
            name,
            declared: FxHashMap::default(),
            nesting: 0,
            labels: Labels::default(),
            is_closed: true,
        });
        self.scopes.push();
        let body_range = self.parameters_and_body(&declarator, &mut signature)?;
        let Range { start: open, end: close } = body_range;
        if self.in_system_file(open) {
            // Left alone, but whoever calls it depends on what it says.
            self.refer_to_all(body_range);
            self.at = close;
            let form = Form { pieces: vec![Piece::Tokens(body_range)], at: open, end: close };
            self.tree.decls[decl.ix()].forms.push(form);
            return Ok(());
        }
        let others = self.tree.procedures.len();
        let (acting, asm) = (self.tree.composition.len(), self.plain_asm.len());
        let known = self.known.get(self.definitions).copied().flatten();
        self.definitions += 1;
        let is_known = known.is_some_and(|known| self.tree.fingerprint(body_range) == known);
        let parsed = if is_known { None } else { Some(self.body(close)) };
        let (opened, body) = match parsed {
            None => {
                self.at = close;
                (open, Body::Known)
            }
            Some(Ok((opened, items))) => {
                let block = StmtKind::Block(items);
                (opened, Body::Parsed(Stmt { kind: block, range: body_range }))
            }
            Some(Err(problem)) => {
                self.scopes.pop_to(0);
                self.refer_to_all(body_range);
                self.at = close;
                // Those inside of it are part of what was not understood.
                self.tree.procedures.truncate(others);
                self.tree.composition.truncate(acting);
                self.plain_asm.truncate(asm);
                self.note_opaque(body_range);
                (open, Body::Opaque(problem))
            }
        };
        let is_static = self.tree.decls[decl.ix()].is_static;
        let range = Range::new(start, close);
        let is_opaque = matches!(body, Body::Opaque(_));
        let holds_others = self.tree.procedures.len() > others;
        let procedure = self.procedure.take();
        let is_closed =
            !is_opaque && !holds_others && procedure.as_ref().is_some_and(|p| p.is_closed);
        let labels = procedure.map(|procedure| procedure.labels);
        self.tree.procedures.push(Procedure {
            decl,
            name,
            is_static,
            signature,
            range,
            body_range,
            body,
            opened,
            addressed: labels.unwrap_or_default().addressed,
            is_nested: false,
            is_closed,
        });
        Ok(())
    }

    /// A procedure inside of another one. If it is not understood, then the
    /// one around it is not either.
    pub(super) fn nested_definition(
        &mut self,
        start: u32,
        specifiers: &Specifiers,
        declarator: Declarator,
        form: Form,
        noreturn: bool,
    ) -> Parse<()> {
        let (Some((token, name)), Some(mut outer)) = (declarator.name, self.procedure.take())
        else {
            return self.stop("expected a name");
        };
        let mut signature = Form { pieces: form.pieces.clone(), at: form.at, end: form.end };
        let path = format!(
            "{}.{}",
            self.tree.tokens.names.string(outer.name),
            self.tree.tokens.names.string(name)
        );
        let path = self.tree.tokens.names.intern(path.as_bytes());
        let labels = Labels {
            outer: outer.labels.outer.iter().chain(&outer.labels.local).copied().collect(),
            ..Labels::default()
        };
        let nesting = outer.nesting + 1;
        let declared = std::mem::take(&mut outer.declared);
        let is_closed = false;
        self.procedure =
            Some(InProcedure { name: outer.name, declared, nesting, labels, is_closed });
        let noreturn = noreturn || specifiers.noreturn;
        self.note_composition(Range::new(start, self.at), Range::new(self.at, self.at));
        let decl = self.declare_nested(name, noreturn, form);
        self.tree.refs.set(token, Ref::Decl(decl));
        if let Some(procedure) = &mut self.procedure {
            procedure.name = path;
        }
        let depth = self.scopes.depth() as usize;
        self.scopes.push();
        let body_range = self.parameters_and_body(&declarator, &mut signature)?;
        let close = body_range.end;
        let (opened, items) = self.body(close)?;
        self.scopes.pop_to(depth);
        let Some(inner) = self.procedure.take() else {
            return self.stop("expected a procedure");
        };
        outer.declared = inner.declared;
        self.procedure = Some(outer);
        self.tree.procedures.push(Procedure {
            decl,
            name,
            is_static: true,
            signature,
            range: Range::new(start, close),
            body_range,
            body: Body::Parsed(Stmt { kind: StmtKind::Block(items), range: body_range }),
            opened,
            addressed: inner.labels.addressed,
            is_nested: true,
            is_closed: false,
        });
        Ok(())
    }

    /// Declares the parameters of a definition, and finds the body behind.
    fn parameters_and_body(
        &mut self,
        declarator: &Declarator,
        signature: &mut Form,
    ) -> Parse<Range> {
        self.bind_parameters(declarator, signature)?;
        match self.matching_if(self.at, false) {
            Some(close) => Ok(Range::new(self.at, close)),
            None => self.stop("unbalanced brackets"),
        }
    }

    /// The name of a procedure inside of another one, which may have been
    /// announced before by `auto`.
    pub(super) fn declare_nested(&mut self, name: Name, noreturn: bool, form: Form) -> DeclId {
        let known = self.scopes.find_here(Space::Ordinary, name).filter(|decl| {
            let known = &self.tree.decls[decl.ix()];
            known.kind == DeclKind::Function && known.scope != DeclScope::File
        });
        if let Some(decl) = known {
            self.tree.decls[decl.ix()].forms.push(form);
            return decl;
        }
        let scope = self.next_scope(false, Some(name));
        let owner = self.procedure.as_ref().map(|procedure| procedure.name);
        let decl = self.new_decl(Decl {
            forms: vec![form],
            is_static: true,
            noreturn,
            owner,
            ..Decl::new(Some(name), DeclKind::Function, scope)
        });
        self.scopes.bind(Space::Ordinary, name, decl);
        decl
    }

    /// Brings the parameters of a definition into the scope of its body.
    fn bind_parameters(&mut self, declarator: &Declarator, signature: &mut Form) -> Parse<()> {
        if !declarator.old_style.is_empty() {
            let from = self.at;
            self.old_style_parameters(&declarator.old_style)?;
            signature.pieces.push(Piece::Tokens(Range::new(from, self.at)));
        }
        for parameter in &declarator.parameters {
            if let Some((name, decl)) = parameter.name {
                self.scopes.bind(Space::Ordinary, name, decl);
            }
        }
        Ok(())
    }

    /// The statements of a body, and its last token that nothing may precede.
    fn body(&mut self, close: u32) -> Parse<(u32, Vec<Stmt>)> {
        self.expect("{")?;
        let mut opened = self.at - 1;
        while self.tree.tokens.all[opened as usize + 1].name == kw::LABEL
            && let Some(end) =
                (opened + 1..close).find(|token| self.tree.token_text(*token) == b";")
        {
            opened = end;
        }
        let items = self.block_items()?;
        if self.at == close { Ok((opened, items)) } else { self.stop("the body ends early") }
    }

    /// Declarations between `f(a, b)` and `{`.
    fn old_style_parameters(&mut self, names: &[(u32, Name)]) -> Parse<()> {
        let nesting = self.procedure.as_ref().map_or(0, |procedure| procedure.nesting);
        let mut indices = FxHashMap::default();
        for (index, (_, name)) in names.iter().enumerate() {
            indices.entry(*name).or_insert(index);
        }
        while !self.is("{") {
            let specifiers = self.specifiers()?;
            loop {
                let from = self.at;
                let declarator = self.declarator(false)?;
                let Some((token, name)) = declarator.name else {
                    return self.stop("expected a name");
                };
                let Some(index) = indices.get(&name).copied() else {
                    return self.stop("not a parameter");
                };
                let form = specifiers.form(specifiers.start, Range::new(from, self.at));
                self.declare_parameter((index as u32, nesting), token, name, form);
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(";")?;
        }
        // Parameters that were not declared are int.
        for (index, (token, name)) in names.iter().enumerate() {
            if self.scopes.find_here(Space::Ordinary, *name).is_none() {
                let form = Form { pieces: Vec::new(), at: *token, end: *token };
                self.declare_parameter((index as u32, nesting), *token, *name, form);
            }
        }
        Ok(())
    }

    /// Whether there may be attributes or the linker's name among tokens.
    fn has_attributes(&self, range: Range) -> bool {
        let tokens = &self.tree.tokens.all[range.start as usize..range.end as usize];
        tokens.iter().any(|token| match token.kind {
            Kind::Word => matches!(token.name, kw::ATTRIBUTE | kw::ASM),
            Kind::Punct => self.bytes(token) == b"[",
            _ => false,
        })
    }

    fn names_weak(&self, range: Range) -> bool {
        (range.start..range.end)
            .any(|token| matches!(self.tree.token_text(token), b"weak" | b"__weak__"))
    }

    fn names_constructor(&self, range: Range) -> bool {
        (range.start..range.end).any(|token| {
            acting::is_of_start(self.tree.token_text(token))
                || self.copied(token).any(|decl| decl.is_constructor)
        })
    }
}
