//! Our own small tree of a unit: only what control flow and meaning need.
//! Everything else stays a range of tokens.

use super::lex::{Kind, PragmaAt, Tokens};
use super::lines::hash_lines;
use super::literal::add_text;
use super::names::Name;
use crate::bytes;
use crate::ids::{DeclId, Fingerprint, FpHasher};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// Half-open range of token indices.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Range {
    pub start: u32,
    pub end: u32,
}

impl Range {
    pub fn new(start: u32, end: u32) -> Self {
        Self { start, end: end.max(start) }
    }

    pub fn to(self, end: Range) -> Self {
        Self::new(self.start, end.end)
    }

    pub fn contains(self, token: u32) -> bool {
        self.start <= token && token < self.end
    }
}

/// A part of a declaration or of a node: tokens, or something that stands in
/// their place.
#[derive(Clone, Copy, Debug)]
pub enum Piece {
    Tokens(Range),
    /// A struct, union or enum body that is a declaration of its own.
    Decl(DeclId),
    /// A sub-expression that consists of nodes of its own; the operator.
    Hole(Hole),
    /// Tokens that count for the type they have here, not for being run: the
    /// arms of `?:` decide together what type its value has.
    TypeOf(Range),
}

/// What is done in a hole with what its operands leave.
#[derive(Clone, Copy, Debug)]
pub enum Hole {
    And,
    Or,
    /// `a ? b : c`
    Conditional,
    /// `a ?: b`
    Either,
    Generic,
    Block,
    /// The type of what is always an int.
    Int,
    Cleanup,
}

impl Piece {
    pub fn is_empty(&self) -> bool {
        self.tokens().is_some_and(|range| range.start == range.end)
    }

    /// The tokens it consists of, if it does.
    pub fn tokens(&self) -> Option<Range> {
        match self {
            Self::Tokens(range) => Some(*range),
            _ => None,
        }
    }
}

/// An expression, as far as its evaluation branches or calls.
#[derive(Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub range: Range,
    /// Interesting operands in the order of the source.
    pub kids: Vec<Expr>,
    /// It binds no tighter than `?:`, so it needs parentheses as an operand.
    pub weak: bool,
}

#[derive(Debug)]
pub enum ExprKind {
    /// Operands, then an operator; or nothing of interest at all.
    Plain,
    /// An integer literal as a whole operand: is it non-zero?
    Literal(bool),
    Paren,
    Not,
    /// All operands of one chain of `&&`.
    And,
    /// All operands of one chain of `||`.
    Or,
    /// `c ? a : b` has three kids, `c ?: b` two.
    Conditional,
    /// A call; the token of the callee's name if it is called by name.
    Call {
        callee: Option<u32>,
    },
    /// `({ … })`.
    Block(Box<Stmt>),
    /// `_Generic` of which some branch is of interest. The kids are all
    /// branches; for each the type it is for, or `None` for `default`.
    Generic {
        types: Box<Vec<Option<Range>>>,
    },
}

impl Expr {
    pub fn plain(range: Range, kids: Vec<Expr>) -> Self {
        Self { kind: ExprKind::Plain, range, kids, weak: false }
    }

    /// Whether its evaluation branches, calls or jumps.
    pub fn is_interesting(&self) -> bool {
        match self.kind {
            ExprKind::Call { .. } | ExprKind::Block(_) => true,
            ExprKind::Paren | ExprKind::Not => self.kids.iter().any(Self::is_interesting),
            _ => !self.kids.is_empty(),
        }
    }
}

#[derive(Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub range: Range,
}

#[derive(Debug)]
pub enum StmtKind {
    Expr(Expr),
    /// A declaration that does something when control reaches it.
    Decl(Expr),
    /// A chain of `if … else if … else`.
    If {
        arms: Vec<(Expr, Stmt)>,
        otherwise: Option<Box<Stmt>>,
    },
    While {
        cond: Expr,
        body: Box<Stmt>,
    },
    Do {
        body: Box<Stmt>,
        cond: Expr,
    },
    For(Box<For>),
    Switch {
        value: Expr,
        body: Box<Stmt>,
    },
    /// A statement with labels before it, of any kind.
    Labelled {
        labels: Vec<LabelAt>,
        body: Box<Stmt>,
    },
    Goto(Label),
    /// `goto *e;`
    ComputedGoto(Expr),
    Break,
    Continue,
    Return(Option<Expr>),
    Block(Vec<Stmt>),
    Asm,
    /// `asm goto`, with the tokens that name labels to which it may jump.
    AsmGoto(Vec<(u32, Label)>),
    /// A declaration of variables for which something is called at the end of
    /// their scope.
    Guarded {
        declaration: Box<Stmt>,
        cleanups: Vec<Cleanup>,
    },
    Empty,
}

#[derive(Debug)]
pub struct For {
    pub init: Option<Stmt>,
    pub cond: Option<Expr>,
    pub step: Option<Expr>,
    pub body: Stmt,
}

#[derive(Clone, Copy, Debug)]
pub struct LabelAt {
    pub kind: LabelKind,
    /// Its first token.
    pub start: u32,
    /// The token `:`.
    pub colon: u32,
}

#[derive(Clone, Copy, Debug)]
pub enum LabelKind {
    /// `case V:` or `case A ... B:`; the range of the value.
    Case(Range),
    Default,
    Named(Label),
}

/// A label of a procedure.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Label {
    pub name: Name,
    /// Number of the block that declares it by `__label__`; 0 for the others,
    /// which belong to the whole procedure.
    pub block: u32,
}

/// A variable with `__attribute__((cleanup(f)))`.
#[derive(Clone, Copy, Debug)]
pub struct Cleanup {
    /// The token that names `f`.
    pub callee: u32,
    /// The declaration, as far as it is about this variable.
    pub range: Range,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeclKind {
    Variable,
    Function,
    Typedef,
    Tag,
    Enumerator,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeclScope {
    File,
    /// With the number of procedures around the one it belongs to.
    Parameter {
        index: u32,
        nesting: u32,
    },
    /// The how-manieth declaration of this name in its procedure.
    Local(u32),
}

/// The value of an enumerator or size of an enumeration, as far as known.
#[derive(Clone, Debug)]
pub enum EnumInfo {
    Value(i128),
    /// Steps after an expression that was not evaluated.
    After(Option<Range>, u32),
    /// Smallest and largest value of a whole enumeration.
    Span(i128, i128),
}

/// One entity: all declarations of one name in one scope and name space.
#[derive(Debug)]
pub struct Decl {
    pub name: Option<Name>,
    pub kind: DeclKind,
    pub scope: DeclScope,
    /// The declarations, each as the pieces that carry its meaning.
    pub forms: Vec<Form>,
    pub is_static: bool,
    pub noreturn: bool,
    pub is_weak: bool,
    /// Runs before main or after exit, without being called.
    pub is_constructor: bool,
    /// What most declarations, being those of headers, do not have.
    pub rare: Option<Box<Rare>>,
    /// For what has static storage inside a procedure: that procedure.
    pub owner: Option<Name>,
    /// It acts on the program without being named: `section`, `used`, ….
    pub acts: bool,
    /// Token at which the parser was when it first saw it.
    pub at: u32,
}

impl Decl {
    /// A declaration of which nothing is known but what it is called.
    pub fn new(name: Option<Name>, kind: DeclKind, scope: DeclScope) -> Self {
        Self {
            name,
            kind,
            scope,
            forms: Vec::new(),
            is_static: false,
            noreturn: false,
            is_weak: false,
            is_constructor: false,
            rare: None,
            owner: None,
            acts: false,
            at: 0,
        }
    }

    pub fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    pub fn enumeration(&self) -> Option<&EnumInfo> {
        self.rare.as_ref()?.enumeration.as_ref()
    }

    pub fn definitions(&self) -> &[Defining] {
        self.rare.as_ref().map_or(&[], |rare| &rare.definitions)
    }

    pub fn link_name(&self) -> Option<&str> {
        self.rare.as_ref()?.link_name.as_deref()
    }

    pub fn alias_of(&self) -> Option<&str> {
        self.rare.as_ref()?.alias_of.as_deref()
    }
}

#[derive(Debug, Default)]
pub struct Rare {
    pub enumeration: Option<EnumInfo>,
    /// Initialisers and defining declarations of a variable.
    pub definitions: Vec<Defining>,
    /// The name for the linker, where `asm("name")` gives another one.
    pub link_name: Option<Box<str>>,
    /// What it is another name of: `alias("name")` and the like.
    pub alias_of: Option<Box<str>>,
}

#[derive(Debug)]
pub struct Form {
    pub pieces: Vec<Piece>,
    /// Token at whose place pragmas and packing are in force.
    pub at: u32,
    /// The same for where it ends: a struct is laid out at its closing brace.
    pub end: u32,
}

#[derive(Debug)]
pub struct Defining {
    /// Tokens of the initialiser; `None` for a tentative definition.
    pub initializer: Option<Range>,
}

#[derive(Debug)]
pub struct Procedure {
    pub decl: DeclId,
    pub name: Name,
    pub is_static: bool,
    /// Signature and attributes of this very definition.
    pub signature: Form,
    /// From the first token of the definition to its closing brace.
    pub range: Range,
    /// From `{` to `}`.
    pub body_range: Range,
    pub body: Body,
    /// The last token of the body that an entry probe cannot precede: `{`, or
    /// the end of the declarations of local labels.
    pub opened: u32,
    /// Labels whose address is taken, each by the token that names it there.
    pub addressed: Vec<(u32, Label)>,
    /// It is defined inside of another procedure.
    pub is_nested: bool,
    /// The body acts on nothing outside of it: it holds no procedure, declares
    /// nothing that belongs to the file or to other units, and nothing in it acts on
    /// the program.
    pub is_closed: bool,
}

impl Procedure {
    /// The body, which is gone afterwards.
    pub fn take_body(&mut self) -> Body {
        std::mem::replace(&mut self.body, Body::Known)
    }
}

#[derive(Debug)]
pub enum Body {
    Parsed(Stmt),
    Opaque(Problem),
    /// It was not parsed, since it is known already; or it is needed no more.
    Known,
}

/// Text that acts on the program whether it is run and named or not.
#[derive(Clone, Copy, Debug)]
pub struct Acting {
    pub range: Range,
    /// It is no declaration: all that it names counts with it.
    pub names_count: bool,
}

/// Something the front end did not understand, and where.
#[derive(Clone, Debug)]
pub struct Problem {
    pub token: u32,
    pub what: &'static str,
}

/// A unit as parsed.
pub struct Tree<'t> {
    /// The text that was parsed, brackets in their usual spelling.
    pub text: Cow<'t, [u8]>,
    pub tokens: Tokens,
    /// What each token refers to, if it is a name with a declaration.
    pub refs: Refs,
    pub decls: Vec<Decl>,
    pub procedures: Vec<Procedure>,
    /// Items of the file that were not understood.
    pub not_understood: Vec<(Range, Problem)>,
    /// What acts on the program as a whole, in the order of the text.
    pub composition: Vec<Acting>,
    /// Parameter names of prototypes, which mean nothing.
    pub nameless: FxHashSet<u32>,
    /// Ranges where only a token's true value counts.
    pub constants: Vec<Range>,
    /// Tokens that are `__LINE__` and its kin: the symbol they stand for.
    pub symbols: FxHashMap<u32, String>,
    /// Tokens that name a built-in function whose value is the place where it stands.
    pub places: FxHashMap<u32, Told>,
    /// The tokens of both, sorted.
    pub symbol_tokens: Vec<u32>,
}

/// What a built-in function says of the place where it stands.
#[derive(Debug, Default)]
pub struct Told {
    /// The name of the file, if it says that.
    pub file: String,
    /// Lines and columns, as far as it says these.
    pub numbers: Vec<u32>,
    /// It stands where only a true value counts.
    pub is_constant: bool,
}

/// What a token refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ref {
    None,
    Decl(DeclId),
    /// A name in a place for names, without a declaration in scope.
    Undeclared,
}

#[derive(Default)]
pub struct Refs(Vec<u32>);

impl Refs {
    const UNDECLARED: u32 = u32::MAX;

    pub fn new(len: usize) -> Self {
        Self(vec![0; len])
    }

    pub fn get(&self, token: u32) -> Ref {
        match self.0[token as usize] {
            0 => Ref::None,
            Self::UNDECLARED => Ref::Undeclared,
            id => Ref::Decl(DeclId(id - 1)),
        }
    }

    pub fn set(&mut self, token: u32, target: Ref) {
        self.0[token as usize] = match target {
            Ref::None => 0,
            Ref::Undeclared => Self::UNDECLARED,
            Ref::Decl(id) => id.0 + 1,
        };
    }
}

impl Tree<'_> {
    /// Of the text of some tokens, wherever it stands.
    pub fn fingerprint(&self, range: Range) -> Fingerprint {
        let mut hasher = FpHasher::new("lines");
        self.hash_text(self.bytes_of(range), &mut hasher);
        hasher.finish()
    }

    /// Puts a part of the text into a hasher, without line markers and empty lines,
    /// unless these are part of a literal.
    pub fn hash_text(&self, part: std::ops::Range<usize>, hasher: &mut FpHasher) {
        let raw = &self.tokens.raw;
        let first = raw.partition_point(|literal| literal.start < part.start);
        for literal in raw[first..].iter().take_while(|literal| literal.start < part.end) {
            hasher.bytes(&self.text[literal.clone()]);
        }
        hash_lines(&self.text, part, hasher);
    }

    /// What the string literals among some tokens stand for. Literals that follow each other
    /// are one, as for a compiler.
    pub fn literals(&self, range: Range) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut goes_on = false;
        for token in range.start..range.end {
            let is_text = self.tokens.all[token as usize].kind == Kind::Text;
            if is_text {
                if !goes_on {
                    found.push(String::new());
                }
                let text = crate::bytes::to_text(self.token_text(token));
                found.iter_mut().last().into_iter().for_each(|last| add_text(&text, last));
            }
            goes_on = is_text;
        }
        found
    }

    /// Where the text of some tokens stands. There is at least one.
    pub fn bytes_of(&self, range: Range) -> std::ops::Range<usize> {
        let tokens = &self.tokens.all[range.start as usize..range.end as usize];
        tokens[0].start as usize..tokens[tokens.len() - 1].end as usize
    }

    pub fn token_text(&self, token: u32) -> &[u8] {
        let token = &self.tokens.all[token as usize];
        &self.text[token.start as usize..token.end as usize]
    }

    /// Whether `__LINE__` or its kin is among some tokens.
    pub fn has_symbols(&self, range: Range) -> bool {
        let first = self.symbol_tokens.partition_point(|token| *token < range.start);
        self.symbol_tokens.get(first).is_some_and(|token| *token < range.end)
    }

    /// The pragmas that stand before some tokens.
    pub fn pragmas_in(&self, range: Range) -> &[PragmaAt] {
        let pragmas = &self.tokens.pragmas;
        let first = pragmas.partition_point(|pragma| pragma.token < range.start);
        let length = pragmas[first..].partition_point(|pragma| pragma.token < range.end);
        &pragmas[first..first + length]
    }

    /// The source text of a range of tokens, white space squeezed; not much
    /// more of it than `enough` bytes.
    pub fn range_text(&self, range: Range, enough: usize) -> String {
        let mut out = String::new();
        let mut last_end = None;
        for token in &self.tokens.all[range.start as usize..range.end as usize] {
            if last_end.is_some_and(|end| end != token.start) {
                out.push(' ');
            }
            out.push_str(&bytes::to_text(&self.text[token.start as usize..token.end as usize]));
            last_end = Some(token.end);
            if out.len() > enough {
                break;
            }
        }
        out
    }
}
