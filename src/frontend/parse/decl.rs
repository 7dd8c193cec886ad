//! Specifiers, declarators, tags and enumerators.

use super::scope::Space;
use super::*;

/// What the specifiers of a declaration say.
pub struct Specifiers {
    pub pieces: Vec<Piece>,
    pub start: u32,
    pub is_typedef: bool,
    pub is_static: bool,
    pub is_extern: bool,
    pub is_auto: bool,
    pub noreturn: bool,
    pub saw_type: bool,
}

impl Specifiers {
    /// A declaration made of these specifiers and a declarator.
    pub fn form(&self, at: u32, declarator: Range) -> Form {
        let mut pieces = Vec::with_capacity(self.pieces.len() + 1);
        pieces.extend(self.pieces.iter().filter(|piece| !piece.is_empty()));
        pieces.push(Piece::Tokens(declarator));
        Form { pieces, at, end: declarator.end }
    }
}

pub struct Parameter {
    pub name: Option<(Name, DeclId)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Derivation {
    Function,
    Array,
    Pointer,
}

/// Parameters with types, or the bare names of an old-style definition.
type Parameters = (Vec<Parameter>, Vec<(u32, Name)>);

#[derive(Default)]
pub struct Declarator {
    /// Token and name of what is declared; `None` when abstract.
    pub name: Option<(u32, Name)>,
    /// What the name is first of all: a function, an array, a pointer.
    pub first: Option<Derivation>,
    /// Parameters, when it is a function.
    pub parameters: Vec<Parameter>,
    /// Parameter names of an old-style definition.
    pub old_style: Vec<(u32, Name)>,
    /// An array whose size is computed when control gets there.
    pub is_variable: bool,
    /// Sizes that are certain to be computed then, and branch or call.
    pub sizes: Vec<Expr>,
}

impl Parser<'_, '_> {
    pub(super) fn specifiers(&mut self) -> Parse<Specifiers> {
        let mut found = Specifiers {
            pieces: Vec::new(),
            start: self.at,
            is_typedef: false,
            is_static: false,
            is_extern: false,
            is_auto: false,
            noreturn: false,
            saw_type: false,
        };
        let mut from = self.at;
        loop {
            let Some(word) = self.word() else {
                if self.is("[") && self.is_ahead(1, "[") {
                    found.noreturn |= self.standard_attribute()?;
                    continue;
                }
                break;
            };
            match word {
                kw::TYPEDEF => found.is_typedef = true,
                kw::STATIC => found.is_static = true,
                kw::EXTERN => found.is_extern = true,
                kw::NORETURN => found.noreturn = true,
                kw::AUTO => found.is_auto = true,
                kw::CONST
                | kw::EXTENSION
                | kw::INLINE
                | kw::REGISTER
                | kw::RESTRICT
                | kw::THREAD
                | kw::VOLATILE => {}
                kw::TYPE_WORD | kw::AUTO_TYPE => {
                    found.saw_type = true;
                    if self.is_ahead(1, "(") && self.bytes(self.token()) == b"_BitInt" {
                        self.advance();
                        self.skip_group()?;
                        continue;
                    }
                }
                kw::ATTRIBUTE => {
                    found.noreturn |= self.attributes()?;
                    continue;
                }
                kw::ALIGNAS => {
                    self.advance();
                    self.skip_group()?;
                    continue;
                }
                kw::TYPEOF => {
                    found.saw_type = true;
                    self.advance();
                    self.typeof_operand()?;
                    continue;
                }
                kw::ATOMIC => {
                    if self.is_ahead(1, "(") {
                        found.saw_type = true;
                        self.advance();
                        self.skip_group()?;
                        continue;
                    }
                }
                kw::STRUCT | kw::UNION | kw::ENUM => {
                    found.saw_type = true;
                    let before = Range::new(from, self.at);
                    // A tag that only refers to a type stays as it is: what
                    // attributes follow it are those of what is declared.
                    if let Some(defined) = self.tag()? {
                        found.pieces.push(Piece::Tokens(before));
                        found.pieces.push(Piece::Decl(defined));
                        from = self.at;
                    }
                    continue;
                }
                _ if word.is_keyword() => break,
                _ if !found.saw_type && self.is_typedef(word) => {
                    found.saw_type = true;
                    self.refer(self.at, Space::Ordinary, word);
                }
                _ => break,
            }
            self.advance();
        }
        found.pieces.push(Piece::Tokens(Range::new(from, self.at)));
        Ok(found)
    }

    fn typeof_operand(&mut self) -> Parse<()> {
        self.expect("(")?;
        self.deeper(|p| {
            p.unevaluated(
                |p| {
                    if p.type_starts(0) { p.type_name() } else { p.expression().map(drop) }
                },
            )
        })?;
        self.expect(")")
    }

    pub(super) fn at_attribute(&self) -> bool {
        self.is_word(kw::ATTRIBUTE) || (self.is("[") && self.is_ahead(1, "["))
    }

    /// Any number of `__attribute__((…))`; whether one says `noreturn`.
    pub(super) fn attributes(&mut self) -> Parse<bool> {
        let mut noreturn = false;
        loop {
            if self.is_word(kw::ATTRIBUTE) {
                self.advance();
                if !self.is("(") {
                    return self.stop("expected `(`");
                }
                let group = self.skip_group()?;
                self.forget_words_of_attribute(group);
                noreturn |= self.names_noreturn(group);
            } else if self.is("[") && self.is_ahead(1, "[") {
                noreturn |= self.standard_attribute()?;
            } else {
                return Ok(noreturn);
            }
        }
    }

    fn standard_attribute(&mut self) -> Parse<bool> {
        let group = self.skip_group()?;
        Ok(self.names_noreturn(group))
    }

    fn names_noreturn(&self, group: Range) -> bool {
        (group.start..group.end).any(|token| {
            matches!(self.tree.token_text(token), b"noreturn" | b"__noreturn__" | b"_Noreturn")
        })
    }

    /// `struct`, `union` or `enum` with a name, a body or both. Returns what a
    /// body defines.
    fn tag(&mut self) -> Parse<Option<DeclId>> {
        let start = self.at;
        let is_enum = self.is_word(kw::ENUM);
        self.advance();
        self.attributes()?;
        let name = self.identifier_ahead(0);
        let name_token = self.at;
        if name.is_some() {
            self.advance();
        }
        self.attributes()?;
        if is_enum && self.is(":") {
            self.advance();
            self.deeper(Self::specifiers)?;
        }
        if !self.is("{") {
            let Some(name) = name else {
                return self.stop("expected a tag or a body");
            };
            let alone = self.is(";") && self.in_members == 0;
            let known = if alone {
                self.scopes.find_here(Space::Tags, name)
            } else {
                self.scopes.find(Space::Tags, name)
            };
            let tag = known.unwrap_or_else(|| self.new_tag(Some(name)));
            self.tree.refs.set(name_token, Ref::Decl(tag));
            return Ok(None);
        }
        let known = name.and_then(|name| self.scopes.find_here(Space::Tags, name));
        let tag = known.unwrap_or_else(|| self.new_tag(name));
        if name.is_some() {
            self.tree.refs.set(name_token, Ref::Decl(tag));
        }
        let head = Range::new(start, self.at);
        let body = self.at;
        if is_enum {
            self.deeper(|p| p.enumerators(tag))?;
        } else {
            self.in_members += 1;
            let result = self.deeper(Self::members);
            self.in_members -= 1;
            result?;
        }
        let body = Range::new(body, self.at);
        let after = self.at;
        self.attributes()?;
        let mut pieces = vec![Piece::Tokens(head)];
        // What an enumeration's enumerators are matters through their values,
        // if these are known.
        let decl = &self.tree.decls[tag.ix()];
        if !matches!(decl.enumeration(), Some(EnumInfo::Span(..))) {
            pieces.push(Piece::Tokens(body));
        }
        pieces.push(Piece::Tokens(Range::new(after, self.at)));
        self.tree.decls[tag.ix()].forms.push(Form { pieces, at: start, end: self.at });
        Ok(Some(tag))
    }

    fn new_tag(&mut self, name: Option<Name>) -> DeclId {
        let scope = self.next_scope(true, name);
        let tag = self.new_decl(Decl::new(name, DeclKind::Tag, scope));
        if let Some(name) = name {
            self.scopes.bind(Space::Tags, name, tag);
        }
        tag
    }

    /// The scope of a declaration made here, with its number among those of
    /// the same name in the procedure.
    pub(super) fn next_scope(&mut self, is_tag: bool, name: Option<Name>) -> DeclScope {
        match (&mut self.procedure, name) {
            (Some(procedure), Some(name)) if self.scopes.depth() > 0 => {
                let count = procedure.declared.entry((is_tag, name)).or_insert(0);
                *count += 1;
                DeclScope::Local(*count)
            }
            _ => DeclScope::File,
        }
    }

    /// The body of a struct or union.
    fn members(&mut self) -> Parse<()> {
        self.expect("{")?;
        while !self.eat("}") {
            if self.eat(";") {
                continue;
            }
            if self.at_static_assert() {
                self.static_assert()?;
                continue;
            }
            let specifiers = self.specifiers()?;
            if !specifiers.saw_type {
                return self.stop("expected a member");
            }
            while !self.is(";") {
                if !self.is(":") {
                    self.declarator(true)?;
                }
                if self.eat(":") {
                    self.constant_expression()?;
                }
                self.attributes()?;
                if !self.eat(",") {
                    break;
                }
            }
            // gcc lets the last `;` be left out.
            if !self.is("}") {
                self.expect(";")?;
            }
        }
        Ok(())
    }

    fn enumerators(&mut self, tag: DeclId) -> Parse<()> {
        self.expect("{")?;
        let mut next = EnumInfo::Value(0);
        let mut members = Vec::new();
        let mut span = Some((i128::MAX, i128::MIN));
        while !self.eat("}") {
            let Some(name) = self.identifier_ahead(0) else {
                return self.stop("expected an enumerator");
            };
            let token = self.at;
            self.advance();
            self.attributes()?;
            if self.eat("=") {
                let range = self.constant_expression()?;
                next = match self.evaluate(range) {
                    Some(value) => EnumInfo::Value(value),
                    None => EnumInfo::After(Some(range), 0),
                };
            }
            let scope = self.next_scope(false, Some(name));
            let mut enumerator = Decl::new(Some(name), DeclKind::Enumerator, scope);
            enumerator.rare().enumeration = Some(next.clone());
            let decl = self.new_decl(enumerator);
            self.scopes.bind(Space::Ordinary, name, decl);
            self.tree.refs.set(token, Ref::Decl(decl));
            members.push(decl);
            span = match (&next, span) {
                (EnumInfo::Value(value), Some((low, high))) => {
                    Some((low.min(*value), high.max(*value)))
                }
                _ => None,
            };
            next = match next {
                EnumInfo::Value(value) => EnumInfo::Value(value.wrapping_add(1)),
                EnumInfo::After(range, steps) => EnumInfo::After(range, steps + 1),
                EnumInfo::Span(..) => unreachable!("an enumerator is no enumeration"),
            };
            if !self.eat(",") && !self.is("}") {
                return self.stop("expected `,` or `}`");
            }
        }
        self.tree.decls[tag.ix()].rare().enumeration = Some(match span {
            Some((low, high)) => EnumInfo::Span(low, high),
            None => EnumInfo::After(None, 0),
        });
        if span.is_none() {
            // Beyond int the type of each depends on all.
            for member in members {
                let form = Form { pieces: vec![Piece::Decl(tag)], at: self.at, end: self.at };
                self.tree.decls[member.ix()].forms.push(form);
            }
        }
        Ok(())
    }

    /// A constant expression: parsed for its names, never instrumented, and
    /// only its true value counts.
    pub(super) fn constant_expression(&mut self) -> Parse<Range> {
        let start = self.at;
        self.unevaluated(|p| p.conditional().map(drop))?;
        let range = Range::new(start, self.at);
        self.tree.constants.push(range);
        Ok(range)
    }

    /// `_Static_assert`, or `static_assert` unless that names something here.
    pub(super) fn at_static_assert(&self) -> bool {
        let is_plain = self.bytes(self.token()) == b"static_assert"
            && self.is_ahead(1, "(")
            && self.scopes.find(Space::Ordinary, self.token().name).is_none();
        self.is_word(kw::STATIC_ASSERT) || is_plain
    }

    pub(super) fn static_assert(&mut self) -> Parse<()> {
        self.advance();
        let range = self.skip_group()?;
        self.tree.constants.push(range);
        self.expect(";")
    }

    /// `type-name` in a cast, `sizeof`, `typeof` and the like.
    pub(super) fn type_name(&mut self) -> Parse<()> {
        let specifiers = self.specifiers()?;
        if !specifiers.saw_type {
            return self.stop("expected a type");
        }
        let start = self.at;
        let declarator = self.declarator(true)?;
        if declarator.name.is_some() {
            return self.stop("a name in a type name");
        }
        if !declarator.sizes.is_empty() && self.has_jump(Range::new(start, self.at)) {
            return self.stop("a jump out of what may not be evaluated");
        }
        Ok(())
    }

    /// A declarator; without a name where `abstract_too`.
    pub(super) fn declarator(&mut self, abstract_too: bool) -> Parse<Declarator> {
        self.deeper(|p| p.declarator_inner(abstract_too))
    }

    fn declarator_inner(&mut self, abstract_too: bool) -> Parse<Declarator> {
        self.attributes()?;
        let mut is_pointer = false;
        while self.is("*") || self.is("^") {
            is_pointer = true;
            self.advance();
            loop {
                match self.word() {
                    Some(kw::CONST | kw::RESTRICT | kw::VOLATILE | kw::ATOMIC) => self.advance(),
                    Some(kw::ATTRIBUTE) => {
                        self.attributes()?;
                    }
                    _ => break,
                }
            }
        }
        let mut found = Declarator::default();
        if let Some(name) = self.identifier_ahead(0) {
            found.name = Some((self.at, name));
            self.advance();
        } else if self.is("(") && !(abstract_too && (self.is_ahead(1, ")") || self.type_starts(1)))
        {
            self.advance();
            found = self.declarator(abstract_too)?;
            self.expect(")")?;
        } else if !abstract_too {
            return self.stop("expected a name");
        }
        self.attributes()?;
        loop {
            if self.is("[") && !self.is_ahead(1, "[") {
                self.array_size(&mut found)?;
                found.first.get_or_insert(Derivation::Array);
            } else if self.is("(") {
                let (parameters, old_style) = self.parameters()?;
                if found.first.is_none() {
                    found.first = Some(Derivation::Function);
                    found.parameters = parameters;
                    found.old_style = old_style;
                }
            } else {
                break;
            }
        }
        if is_pointer {
            found.first.get_or_insert(Derivation::Pointer);
        }
        Ok(found)
    }

    /// `[ … ]`
    fn array_size(&mut self, found: &mut Declarator) -> Parse<()> {
        let start = self.at;
        self.expect("[")?;
        while matches!(
            self.word(),
            Some(kw::STATIC | kw::CONST | kw::RESTRICT | kw::VOLATILE | kw::ATOMIC)
        ) {
            self.advance();
        }
        if self.is("*") && self.is_ahead(1, "]") {
            self.advance();
        } else if !self.is("]") {
            let is_member = self.in_members > 0 || self.in_parameters > 0;
            let may_run = self.procedure.is_some() && self.unevaluated == 0 && !is_member;
            let objects = self.objects;
            let size =
                if may_run { self.assignment()? } else { self.unevaluated(Self::assignment)? };
            found.is_variable |= self.scopes.depth() > 0 && self.names_objects(size.range);
            if may_run && self.objects > objects && size.is_interesting() {
                found.sizes.push(size);
            }
        }
        self.expect("]")?;
        self.tree.constants.push(Range::new(start, self.at));
        Ok(())
    }

    /// Counts a reference to an object that is evaluated.
    pub(super) fn note_object(&mut self, target: Ref) {
        let is_object = match target {
            Ref::None => false,
            Ref::Undeclared => true,
            Ref::Decl(decl) => {
                matches!(self.tree.decls[decl.ix()].kind, DeclKind::Variable | DeclKind::Function)
            }
        };
        if is_object && self.unevaluated == 0 {
            self.objects = self.objects.wrapping_add(1);
        }
    }

    /// Whether a range names anything but types and enumerators.
    fn names_objects(&self, range: Range) -> bool {
        (range.start..range.end).any(|token| match self.tree.refs.get(token) {
            Ref::None => false,
            Ref::Undeclared => true,
            Ref::Decl(decl) => {
                matches!(self.tree.decls[decl.ix()].kind, DeclKind::Variable | DeclKind::Function)
            }
        })
    }

    fn parameters(&mut self) -> Parse<Parameters> {
        self.expect("(")?;
        let mut parameters = Vec::new();
        let mut old_style = Vec::new();
        if self.eat(")") {
            return Ok((parameters, old_style));
        }
        if !self.type_starts(0)
            && self.identifier_ahead(0).is_some()
            && (self.is_ahead(1, ",") || self.is_ahead(1, ")"))
        {
            loop {
                let Some(name) = self.identifier_ahead(0) else {
                    return self.stop("expected a parameter name");
                };
                old_style.push((self.at, name));
                self.advance();
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(")")?;
            return Ok((parameters, old_style));
        }
        self.scopes.push();
        let depth = self.scopes.depth() as usize;
        self.in_parameters += 1;
        let result = self.parameter_list(&mut parameters);
        self.in_parameters -= 1;
        self.scopes.pop_to(depth - 1);
        result?;
        Ok((parameters, old_style))
    }

    fn parameter_list(&mut self, parameters: &mut Vec<Parameter>) -> Parse<()> {
        loop {
            if self.eat("...") {
                break;
            }
            let specifiers = self.specifiers()?;
            if !specifiers.saw_type {
                return self.stop("expected a parameter");
            }
            let start = self.at;
            let declarator = self.declarator(true)?;
            self.attributes()?;
            let form = specifiers.form(specifiers.start, Range::new(start, self.at));
            let nesting = self.procedure.as_ref().map_or(0, |procedure| procedure.nesting + 1);
            let number = (parameters.len() as u32, nesting);
            let name = declarator.name.map(|(token, name)| {
                self.tree.nameless.insert(token);
                (name, self.declare_parameter(number, token, name, form))
            });
            parameters.push(Parameter { name });
            if self.eat(";") {
                // Only announced, for the sizes of those that follow.
                parameters.clear();
                continue;
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")
    }

    pub(super) fn declare_parameter(
        &mut self,
        (index, nesting): (u32, u32),
        token: u32,
        name: Name,
        form: Form,
    ) -> DeclId {
        let decl = self.new_decl(Decl {
            forms: vec![form],
            ..Decl::new(Some(name), DeclKind::Variable, DeclScope::Parameter { index, nesting })
        });
        self.scopes.bind(Space::Ordinary, name, decl);
        self.tree.refs.set(token, Ref::Decl(decl));
        decl
    }
}
