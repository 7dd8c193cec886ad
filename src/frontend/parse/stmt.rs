//! Statements and local declarations.

use super::scope::Space;
use super::*;

impl Parser<'_, '_> {
    /// `{ … }` with a scope of its own.
    pub(super) fn compound(&mut self) -> Parse<Stmt> {
        let start = self.at;
        self.expect("{")?;
        let local_labels = self.procedure.as_ref().map_or(0, |p| p.labels.local.len());
        let items = self.in_scope(Self::block_items)?;
        if let Some(procedure) = &mut self.procedure {
            procedure.labels.local.truncate(local_labels);
        }
        Ok(Stmt { kind: StmtKind::Block(items), range: Range::new(start, self.at) })
    }

    pub(super) fn block_items(&mut self) -> Parse<Vec<Stmt>> {
        self.local_labels()?;
        let mut items = Vec::new();
        while !self.eat("}") {
            if self.at_end() {
                return self.stop("expected `}`");
            }
            items.push(self.deeper(Self::block_item)?);
        }
        items.shrink_to_fit();
        Ok(items)
    }

    /// `__label__ a, b;` at the start of a block.
    fn local_labels(&mut self) -> Parse<()> {
        let Some(procedure) = self.procedure.as_mut().filter(|p| p.labels.blocks < u32::MAX) else {
            return Ok(());
        };
        let block = procedure.labels.blocks + 1;
        while self.eat_word(kw::LABEL) {
            loop {
                let Some(name) = self.identifier_ahead(0) else {
                    return self.stop("expected a label");
                };
                self.advance();
                if let Some(procedure) = &mut self.procedure {
                    procedure.labels.blocks = block;
                    procedure.labels.local.push(Label { name, block });
                }
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(";")?;
        }
        Ok(())
    }

    /// The label that a name means here.
    pub(super) fn label(&self, name: Name) -> Parse<Label> {
        let labels = self.procedure.as_ref().map(|p| &p.labels);
        let find = |labels: &[Label]| labels.iter().rfind(|label| label.name == name).copied();
        match labels.and_then(|labels| find(&labels.local)) {
            Some(label) => Ok(label),
            None if labels.is_some_and(|labels| find(&labels.outer).is_some()) => {
                self.stop("a label of the procedure around this one")
            }
            None => Ok(Label { name, block: 0 }),
        }
    }

    fn block_item(&mut self) -> Parse<Stmt> {
        let is_label = self.identifier_ahead(0).is_some() && self.is_ahead(1, ":");
        if self.at_static_assert() {
            let start = self.at;
            self.static_assert()?;
            return Ok(Stmt { kind: StmtKind::Empty, range: Range::new(start, self.at) });
        }
        if !is_label && self.type_starts(0) {
            return self.local_declaration();
        }
        if self.at_attribute() {
            // An attribute declaration, or the attribute of a declaration.
            let start = self.at;
            self.attributes()?;
            if self.eat(";") {
                return Ok(Stmt { kind: StmtKind::Empty, range: Range::new(start, self.at) });
            }
            if self.type_starts(0) {
                self.at = start;
                return self.local_declaration();
            }
        }
        self.statement()
    }

    fn boxed(&mut self) -> Parse<Box<Stmt>> {
        self.deeper(Self::statement).map(Box::new)
    }

    /// A statement in a scope of its own, as the parts of `if` and loops are.
    fn scoped(&mut self) -> Parse<Box<Stmt>> {
        self.in_scope(Self::boxed)
    }

    fn in_scope<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.scopes.push();
        let depth = self.scopes.depth() as usize;
        let result = parse(self);
        self.scopes.pop_to(depth - 1);
        result
    }

    /// A statement with labels. Compilers also accept the end of the block or
    /// a declaration behind them.
    fn labelled(&mut self) -> Parse<StmtKind> {
        let mut labels = Vec::with_capacity(1);
        while self.at_label() {
            let start = self.at;
            let kind = self.label_kind()?;
            self.expect(":")?;
            labels.push(LabelAt { kind, start, colon: self.at - 1 });
            self.attributes()?;
        }
        let body = if self.is("}") {
            Stmt { kind: StmtKind::Empty, range: Range::new(self.at, self.at) }
        } else {
            self.deeper(Self::block_item)?
        };
        Ok(StmtKind::Labelled { labels, body: Box::new(body) })
    }

    fn at_label(&self) -> bool {
        matches!(self.word(), Some(kw::CASE | kw::DEFAULT))
            || (self.identifier_ahead(0).is_some() && self.is_ahead(1, ":"))
    }

    fn label_kind(&mut self) -> Parse<LabelKind> {
        if self.eat_word(kw::DEFAULT) {
            return Ok(LabelKind::Default);
        }
        if self.eat_word(kw::CASE) {
            let mut value = self.constant_expression()?;
            if self.eat("...") {
                value = value.to(self.constant_expression()?);
            }
            return Ok(LabelKind::Case(value));
        }
        let Some(name) = self.identifier_ahead(0) else {
            return self.stop("expected a label");
        };
        let label = self.label(name)?;
        self.advance();
        Ok(LabelKind::Named(label))
    }

    fn condition(&mut self) -> Parse<Expr> {
        self.expect("(")?;
        let cond = self.expression()?;
        self.expect(")")?;
        Ok(cond)
    }

    fn statement(&mut self) -> Parse<Stmt> {
        let start = self.at;
        let kind = self.statement_kind()?;
        Ok(Stmt { kind, range: Range::new(start, self.at) })
    }

    fn statement_kind(&mut self) -> Parse<StmtKind> {
        if self.eat(";") {
            return Ok(StmtKind::Empty);
        }
        if self.is("{") {
            return Ok(self.compound()?.kind);
        }
        if self.at_attribute() {
            self.attributes()?;
            return self.deeper(Self::statement_kind);
        }
        if self.at_label() {
            return self.labelled();
        }
        let Some(word) = self.word() else {
            return self.expression_statement();
        };
        match word {
            kw::IF => self.in_scope(Self::if_chain),
            kw::WHILE => self.in_scope(|p| {
                p.advance();
                Ok(StmtKind::While { cond: p.condition()?, body: p.scoped()? })
            }),
            kw::DO => {
                self.advance();
                let body = self.scoped()?;
                if !self.eat_word(kw::WHILE) {
                    return self.stop("expected `while`");
                }
                let cond = self.in_scope(Self::condition)?;
                self.expect(";")?;
                Ok(StmtKind::Do { body, cond })
            }
            kw::FOR => self.in_scope(Self::for_loop),
            kw::SWITCH => self.in_scope(|p| {
                p.advance();
                Ok(StmtKind::Switch { value: p.condition()?, body: p.scoped()? })
            }),
            kw::GOTO => {
                self.advance();
                if self.eat("*") {
                    let target = self.expression()?;
                    self.expect(";")?;
                    return Ok(StmtKind::ComputedGoto(target));
                }
                let Some(name) = self.identifier_ahead(0) else {
                    return self.stop("expected a label");
                };
                let label = self.label(name)?;
                self.advance();
                self.expect(";")?;
                Ok(StmtKind::Goto(label))
            }
            kw::BREAK => {
                self.advance();
                self.expect(";")?;
                Ok(StmtKind::Break)
            }
            kw::CONTINUE => {
                self.advance();
                self.expect(";")?;
                Ok(StmtKind::Continue)
            }
            kw::RETURN => {
                self.advance();
                let value = if self.is(";") { None } else { Some(self.expression()?) };
                self.expect(";")?;
                Ok(StmtKind::Return(value))
            }
            kw::ASM => self.asm_statement(),
            _ => self.expression_statement(),
        }
    }

    fn expression_statement(&mut self) -> Parse<StmtKind> {
        let expr = self.expression()?;
        self.expect(";")?;
        Ok(StmtKind::Expr(expr))
    }

    /// A chain of else-ifs of any length, without recursion.
    fn if_chain(&mut self) -> Parse<StmtKind> {
        let mut arms = Vec::with_capacity(1);
        let mut otherwise = None;
        loop {
            self.advance();
            let cond = self.condition()?;
            let then = self.scoped()?;
            arms.push((cond, *then));
            if !self.eat_word(kw::ELSE) {
                break;
            }
            if !self.is_word(kw::IF) {
                otherwise = Some(self.scoped()?);
                break;
            }
        }
        Ok(StmtKind::If { arms, otherwise })
    }

    fn for_loop(&mut self) -> Parse<StmtKind> {
        self.advance();
        self.expect("(")?;
        let init = if self.eat(";") {
            None
        } else if self.type_starts(0) {
            Some(self.local_declaration()?)
        } else {
            let start = self.at;
            let kind = self.expression_statement()?;
            Some(Stmt { kind, range: Range::new(start, self.at) })
        };
        let cond = if self.is(";") { None } else { Some(self.expression()?) };
        self.expect(";")?;
        let step = if self.is(")") { None } else { Some(self.expression()?) };
        self.expect(")")?;
        let body = *self.scoped()?;
        Ok(StmtKind::For(Box::new(For { init, cond, step, body })))
    }

    fn asm_statement(&mut self) -> Parse<StmtKind> {
        let start = self.at;
        self.advance();
        let mut jumps = false;
        while let Some(word @ (kw::VOLATILE | kw::INLINE | kw::GOTO)) = self.word() {
            jumps |= word == kw::GOTO;
            self.advance();
        }
        if !self.is("(") {
            return self.stop("expected `(`");
        }
        let group = self.skip_group()?;
        self.expect(";")?;
        self.note_asm(start, group);
        if !jumps {
            return Ok(StmtKind::Asm);
        }
        let labels = self.asm_labels(group)?;
        labels.iter().for_each(|(token, _)| self.tree.refs.set(*token, Ref::None));
        Ok(StmtKind::AsmGoto(labels))
    }

    /// The labels of `asm goto ("…" : outputs : inputs : clobbers : labels)`.
    fn asm_labels(&self, group: Range) -> Parse<Vec<(u32, Label)>> {
        let mut at = group.start + 1;
        let mut colons = 0;
        while colons < 4 && at + 1 < group.end {
            match self.tree.token_text(at) {
                b":" => colons += 1,
                b"::" => colons += 2,
                b"(" | b"[" => {
                    at = self.matching(at).unwrap_or(group.end);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        let mut found: Vec<(u32, Label)> = Vec::new();
        for token in at..group.end - 1 {
            let word = &self.tree.tokens.all[token as usize];
            if word.kind == Kind::Word {
                let label = self.label(word.name)?;
                if found.iter().any(|(_, known)| *known == label) {
                    return Err(Problem { token, what: "an asm goto that names a label twice" });
                }
                found.push((token, label));
            }
        }
        Ok(found)
    }

    /// A declaration inside a body. It is a statement if it has an initialiser
    /// that runs, a size to compute or a cleanup.
    pub(super) fn local_declaration(&mut self) -> Parse<Stmt> {
        let start = self.at;
        let specifiers = self.specifiers()?;
        let shared = Range::new(start, self.at);
        let mut kids = Vec::new();
        let mut cleanups = Vec::new();
        let is_bare = self.is(";");
        let mut runs = self.names_variable_type(Range::new(start, self.at));
        while !self.is(";") {
            let from = self.at;
            let declarator = self.declarator(false)?;
            let Some((token, name)) = declarator.name else {
                return self.stop("expected a name");
            };
            let is_function = declarator.first == Some(decl::Derivation::Function);
            let mut noreturn = specifiers.noreturn;
            noreturn |= self.asm_label_and_attributes()?;
            runs |= declarator.is_variable;
            let own = Range::new(from, self.at);
            let is_automatic = !is_function && !specifiers.is_extern && !specifiers.is_static;
            if is_automatic && [shared, own].iter().any(|range| self.has_copy(*range)) {
                return self.stop("attributes that are copied from another declaration");
            }
            if let Some(callee) = self.cleanup(own).or_else(|| self.cleanup(shared)) {
                cleanups.push(Cleanup { callee, range: own });
            }
            let form = specifiers.form(start, own);
            if is_function && (self.is("{") || self.old_style_follows(&declarator)) {
                self.nested_definition(start, &specifiers, declarator, form, noreturn)?;
                let range = Range::new(start, self.at);
                return Ok(Stmt { kind: StmtKind::Empty, range });
            }
            kids.extend(declarator.sizes);
            let decl = self.declare_local(&specifiers, is_function, name, noreturn, form);
            self.tree.refs.set(token, Ref::Decl(decl));
            if !specifiers.is_typedef {
                self.tree.decls[decl.ix()].acts |= self.note_composition(shared, own);
            }
            if self.eat("=") {
                let from = self.at;
                let has_static_storage = specifiers.is_static || specifiers.is_extern;
                if has_static_storage {
                    self.unevaluated(|p| p.initializer().map(drop))?;
                    let initializer = Some(Range::new(from, self.at));
                    self.tree.decls[decl.ix()].rare().definitions.push(Defining { initializer });
                } else {
                    kids.extend(self.initializer()?);
                    runs = true;
                }
                self.complete_type(decl, [shared, own], Range::new(from, self.at));
            } else if specifiers.is_static && !is_function {
                self.tree.decls[decl.ix()].rare().definitions.push(Defining { initializer: None });
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";")?;
        let range = Range::new(start, self.at);
        let declares = self.tree.tokens.all[start as usize..self.at as usize]
            .iter()
            .any(|token| matches!(token.name, kw::STRUCT | kw::UNION | kw::ENUM));
        if !declares && is_bare {
            // In some dialect it may be a call of something named like a keyword.
            return self.stop("a declaration that declares nothing");
        }
        let kind = if runs { StmtKind::Decl(Expr::plain(range, kids)) } else { StmtKind::Empty };
        let stmt = Stmt { kind, range };
        if cleanups.is_empty() {
            return Ok(stmt);
        }
        Ok(Stmt { kind: StmtKind::Guarded { declaration: Box::new(stmt), cleanups }, range })
    }

    pub(super) fn initializer(&mut self) -> Parse<Vec<Expr>> {
        if self.is("{") {
            return self.initializer_list();
        }
        let value = self.assignment()?;
        Ok(if value.is_interesting() { vec![value] } else { Vec::new() })
    }

    /// `int a[] = …` and `__auto_type x = …`: the initialiser is part of the
    /// type, wherever that is asked for. A typedef may hide an array too.
    pub(super) fn complete_type(&mut self, decl: DeclId, declared: [Range; 2], initializer: Range) {
        let tokens = || declared.into_iter().flat_map(|range| range.start..range.end);
        let words = || tokens().map(|token| self.tree.tokens.all[token as usize].name);
        let is_auto = words().any(|word| matches!(word, kw::AUTO_TYPE | kw::AUTO));
        let first = &self.tree.tokens.all[initializer.start as usize];
        let is_list = first.kind == Kind::Text || self.bytes(first) == b"{";
        let has_no_size = tokens().any(|token| {
            self.tree.token_text(token) == b"[" && self.tree.token_text(token + 1) == b"]"
        });
        let may_be_array = has_no_size || words().any(|word| self.is_typedef(word));
        if is_auto || (is_list && may_be_array) {
            let piece = Piece::Tokens(initializer);
            let forms = &mut self.tree.decls[decl.ix()].forms;
            forms.iter_mut().for_each(|form| form.pieces.push(piece));
        }
    }

    /// `typeof` of something whose size is computed when control gets there.
    fn names_variable_type(&self, range: Range) -> bool {
        let tokens = &self.tree.tokens.all[range.start as usize..range.end as usize];
        let has_typeof = tokens.iter().any(|token| token.name == kw::TYPEOF);
        has_typeof && (range.start..range.end).any(|token| self.tree.token_text(token) == b"[")
    }

    /// The token that names `f` in `__attribute__((cleanup(f)))`.
    fn cleanup(&self, range: Range) -> Option<u32> {
        let is_cleanup = |token| matches!(self.tree.token_text(token), b"cleanup" | b"__cleanup__");
        let token = (range.start..range.end).find(|token| is_cleanup(*token))?;
        (self.tree.token_text(token + 1) == b"(" && token + 2 < range.end).then_some(token + 2)
    }

    /// `asm("name")` and attributes behind a declarator.
    pub(super) fn asm_label_and_attributes(&mut self) -> Parse<bool> {
        let mut noreturn = self.attributes()?;
        if self.eat_word(kw::ASM) {
            self.skip_group()?;
            noreturn |= self.attributes()?;
        }
        Ok(noreturn)
    }

    fn declare_local(
        &mut self,
        specifiers: &decl::Specifiers,
        is_function: bool,
        name: Name,
        noreturn: bool,
        form: Form,
    ) -> DeclId {
        let is_typedef = specifiers.is_typedef;
        if is_function && specifiers.is_auto {
            return self.declare_nested(name, noreturn, form);
        }
        if !is_typedef && (specifiers.is_extern || is_function) {
            // It names an entity of the file or of another unit.
            return self.declare_linked(name, is_function, false, noreturn, form);
        }
        let scope = self.next_scope(false, Some(name));
        let owner = self.procedure.as_ref().filter(|_| specifiers.is_static).map(|p| p.name);
        let link_name = specifiers.is_static.then(|| self.link_name(&form)).flatten();
        let decl = self.new_decl(Decl {
            forms: vec![form],
            is_static: specifiers.is_static,
            noreturn,
            owner,
            ..Decl::new(
                Some(name),
                if is_typedef { DeclKind::Typedef } else { DeclKind::Variable },
                scope,
            )
        });
        if link_name.is_some() {
            self.tree.decls[decl.ix()].rare().link_name = link_name;
        }
        self.scopes.bind(Space::Ordinary, name, decl);
        decl
    }
}
