//! Statements and expressions of the abstract program.

use super::program::{Class, Id, Type, Var};

#[derive(Debug, Clone, Default)]
pub struct Block {
    pub items: Vec<Item>,
    pub digraphs: bool,
    /// `#pragma STDC FP_CONTRACT OFF` at its start.
    pub contract: bool,
    /// Its labels are declared with `__label__`.
    pub local_labels: bool,
}

#[derive(Debug, Clone)]
pub struct Item {
    pub statement: Statement,
    /// Variant of the comment in front of it; 0 is none.
    pub comment: u32,
}

impl From<Statement> for Item {
    fn from(statement: Statement) -> Self {
        Self { statement, comment: 0 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loop {
    While,
    Do,
    /// `for (;;)` with the test, if any, inside of the head.
    For,
}

#[derive(Debug, Clone)]
pub enum Statement {
    Empty,
    Expr(Expr),
    Emit(Expr),
    Declare(Declare),
    If(Expr, Block, Option<Block>),
    Loop(Loop, LoopHead, Block),
    /// Bounded, with a counter of its own.
    Count(Count, Expr, Block),
    Switch(Expr, Block),
    Case(CaseLabel),
    Default,
    Fallthrough,
    Break,
    Continue,
    /// A guarded one is not taken without fuel; those that go back have to be.
    Goto {
        label: u32,
        guarded: bool,
    },
    Label(u32),
    Return(Option<Expr>),
    Block(Block),
    /// Ends the program, with a report or at once.
    Exit {
        report: bool,
        status: Expr,
    },
    /// longjmp to the innermost `Special::Try`, if there is any.
    Throw(Expr),
    MacroCall(Id, Vec<Expr>),
    Pragma(bool),
    Special(Special, u32, Vec<Expr>, Vec<Block>),
}

#[derive(Debug, Clone)]
pub struct LoopHead {
    /// Only of `for`.
    pub init: Option<Expr>,
    /// None only of `for`: without end but for the fuel.
    pub test: Option<Expr>,
    pub step: Option<Expr>,
    /// The fuel is looked at in the condition, not in the body.
    pub fuel_in_test: bool,
    pub unroll: bool,
}

#[derive(Debug, Clone, Copy)]
pub struct Count {
    pub var: Var,
    pub down: bool,
    /// Largest number of rounds, a power of two.
    pub limit: u32,
    pub unroll: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseLabel {
    Value(u32),
    Range(u32, u32),
    Enumerator(Id, usize),
}

/// Statements that are always of the same shape around their parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// Switch into a loop.
    Duff,
    /// Over a table of label addresses, or of offsets.
    Computed {
        offsets: bool,
    },
    /// One that jumps if its operand is not 0, or one that never does.
    AsmGoto {
        jumps: bool,
    },
    Asm,
    Try,
    Vla,
    Sort(Id),
    Unreachable,
    /// `switch` without a block around its only case.
    BareSwitch(u32),
    Nested,
    Float,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    Auto,
    Static,
    Register,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelled {
    Plain,
    /// `__auto_type`
    Auto,
    /// `typeof` another variable
    Typeof(Var),
}

#[derive(Debug, Clone)]
pub struct Declare {
    pub var: Var,
    pub of: Type,
    pub storage: Storage,
    pub spelled: Spelled,
    /// One of a scalar, any of an array or struct.
    pub init: Vec<Expr>,
    /// Of a pointer.
    pub target: Option<Var>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Xor,
    BitAnd,
    BitOr,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

impl Binary {
    pub const ARITHMETIC: [Binary; 10] = [
        Binary::Add,
        Binary::Sub,
        Binary::Mul,
        Binary::Div,
        Binary::Mod,
        Binary::Xor,
        Binary::BitAnd,
        Binary::BitOr,
        Binary::Shl,
        Binary::Shr,
    ];
    pub const COMPARISONS: [Binary; 6] =
        [Binary::Lt, Binary::Le, Binary::Gt, Binary::Ge, Binary::Eq, Binary::Ne];

    pub fn is_comparison(self) -> bool {
        Self::COMPARISONS.contains(&self)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digits {
    Decimal,
    Hex,
    Octal,
    /// A character literal, where the value has one.
    Char,
}

#[derive(Debug, Clone)]
pub enum Expr {
    Number(u32, Digits),
    Enumerator(Id, usize),
    /// A number from the command line.
    Input(u32),
    Read(Var),
    Index(Var, Box<Expr>),
    Member(Var, usize),
    /// `-` or `~`
    Negate(bool, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Choose(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a ?: b`
    Elvis(Box<Expr>, Box<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    /// To a `Read`, an `Index` or a `Member`.
    Assign(Box<Expr>, Option<Binary>, Box<Expr>),
    /// `++` or `--` of a wide variable, in front or behind.
    Step {
        var: Var,
        up: bool,
        before: bool,
    },
    Call(Id, Vec<Expr>),
    /// Through a table of pointers.
    Indirect(Id, Box<Expr>, Vec<Expr>),
    /// Adds to a counter that only the report reads, so that the order of two of
    /// these does not matter.
    Tick(Box<Expr>),
    Macro(Id, Vec<Expr>),
    /// Of a macro, in its body.
    Parameter(usize),
    Statement(Block, Box<Expr>),
    Cast(Type, Box<Expr>),
    SizeOf(Var),
    SizeOfStruct(Id),
    Generic(Var),
    Expect(Box<Expr>, bool),
    /// `__builtin_constant_p`, with the same value on both sides.
    Constant(Box<Expr>),
    Literal(Id, Vec<Expr>, usize),
    /// A byte of a number, through a union.
    Pun(Box<Expr>, Box<Expr>),
    /// A character of a string literal.
    Text(usize, Box<Expr>),
}

/// Parts of an expression, in the order of the text. One body for both kinds of
/// reference: a `match` adapts to what `self` is.
macro_rules! parts {
    ($name:ident, $($mutable:tt)?) => {
        impl Expr {
            pub fn $name(&$($mutable)? self)
                -> (Vec<&$($mutable)? Expr>, Option<&$($mutable)? Block>) {
                let mut all: Vec<&$($mutable)? Expr> = Vec::new();
                let mut block = None;
                match self {
                    Expr::Number(..) | Expr::Enumerator(..) | Expr::Input(_) | Expr::Read(_)
                    | Expr::Member(..) | Expr::Step { .. } | Expr::Parameter(_)
                    | Expr::SizeOf(_) | Expr::SizeOfStruct(_) | Expr::Generic(_) => {}
                    Expr::Index(_, a) | Expr::Negate(_, a) | Expr::Not(a) | Expr::Tick(a)
                    | Expr::Cast(_, a) | Expr::Expect(a, _) | Expr::Constant(a)
                    | Expr::Text(_, a) => all.push(a),
                    Expr::Binary(_, a, b) | Expr::And(a, b) | Expr::Or(a, b)
                    | Expr::Elvis(a, b) | Expr::Comma(a, b) | Expr::Assign(a, _, b)
                    | Expr::Pun(a, b) => {
                        all.push(a);
                        all.push(b);
                    }
                    Expr::Choose(a, b, c) => {
                        all.push(a);
                        all.push(b);
                        all.push(c);
                    }
                    Expr::Indirect(_, a, list) => {
                        all.push(a);
                        all.extend(list);
                    }
                    Expr::Call(_, list) | Expr::Macro(_, list) | Expr::Literal(_, list, _) => {
                        all.extend(list);
                    }
                    Expr::Statement(inner, a) => {
                        block = Some(inner);
                        all.push(a);
                    }
                }
                (all, block)
            }
        }
    };
}

parts!(parts,);
parts!(parts_mut, mut);

impl Statement {
    /// Parts of a statement, in the order of the text.
    pub fn parts_mut(&mut self) -> (Vec<&mut Expr>, Vec<&mut Block>) {
        let mut exprs: Vec<&mut Expr> = Vec::new();
        let mut blocks: Vec<&mut Block> = Vec::new();
        match self {
            Statement::Empty
            | Statement::Case(_)
            | Statement::Default
            | Statement::Fallthrough
            | Statement::Break
            | Statement::Continue
            | Statement::Goto { .. }
            | Statement::Label(_)
            | Statement::Pragma(_) => {}
            Statement::Expr(a)
            | Statement::Emit(a)
            | Statement::Throw(a)
            | Statement::Exit { status: a, .. } => exprs.push(a),
            Statement::Return(value) => exprs.extend(value),
            Statement::Declare(declare) => exprs.extend(&mut declare.init),
            Statement::If(a, then, other) => {
                exprs.push(a);
                blocks.push(then);
                blocks.extend(other);
            }
            Statement::Loop(_, head, body) => {
                exprs.extend(&mut head.init);
                exprs.extend(&mut head.test);
                exprs.extend(&mut head.step);
                blocks.push(body);
            }
            Statement::Count(_, a, body) | Statement::Switch(a, body) => {
                exprs.push(a);
                blocks.push(body);
            }
            Statement::Block(body) => blocks.push(body),
            Statement::MacroCall(_, list) => exprs.extend(list),
            Statement::Special(_, _, list, inner) => {
                exprs.extend(list);
                blocks.extend(inner);
            }
        }
        (exprs, blocks)
    }
}

impl Block {
    pub fn of(statements: Vec<Statement>) -> Self {
        Self { items: statements.into_iter().map(Item::from).collect(), ..Self::default() }
    }

    /// This block and all within it, also those in expressions.
    pub fn each_block(&mut self, visit: &mut dyn FnMut(&mut Block)) {
        visit(self);
        for item in &mut self.items {
            let (exprs, blocks) = item.statement.parts_mut();
            blocks.into_iter().for_each(|block| block.each_block(visit));
            exprs.into_iter().for_each(|expr| expr.each_block(visit));
        }
    }

    /// All expressions, also those in others.
    pub fn each_expr(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        for item in &mut self.items {
            let (exprs, blocks) = item.statement.parts_mut();
            exprs.into_iter().for_each(|expr| expr.each_expr(visit));
            blocks.into_iter().for_each(|block| block.each_expr(visit));
        }
    }
}

impl Expr {
    pub fn each_block(&mut self, visit: &mut dyn FnMut(&mut Block)) {
        let (exprs, block) = self.parts_mut();
        exprs.into_iter().for_each(|expr| expr.each_block(visit));
        block.into_iter().for_each(|block| block.each_block(visit));
    }

    pub fn each_expr(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        visit(self);
        let (exprs, block) = self.parts_mut();
        exprs.into_iter().for_each(|expr| expr.each_expr(visit));
        block.into_iter().for_each(|block| block.each_expr(visit));
    }

    pub fn number(value: u32) -> Self {
        Self::Number(value, Digits::Decimal)
    }

    /// Of type `int`, which must not take part in arithmetic as it is.
    pub fn is_int(&self) -> bool {
        match self {
            Expr::Number(value, Digits::Char) => char_of(*value).is_some(),
            Expr::Enumerator(..) | Expr::Not(_) | Expr::And(..) | Expr::Or(..) => true,
            // Nothing is known of these where they are used.
            Expr::Macro(..) | Expr::Parameter(_) => true,
            Expr::Assign(target, ..) => !matches!(&**target, Expr::Read(var)
                if matches!(var.class, Class::Wide | Class::Pointer | Class::Volatile)),
            Expr::Binary(operator, ..) => operator.is_comparison(),
            Expr::Choose(_, a, b) | Expr::Elvis(a, b) => a.is_int() && b.is_int(),
            Expr::Comma(_, a) | Expr::Statement(_, a) => a.is_int(),
            _ => false,
        }
    }
}

/// Characters that a scanner of C can stumble over.
pub fn char_of(value: u32) -> Option<&'static str> {
    ["'{'", "'}'", "'\"'", "'\\''", "'/'", "'\\\\'", "'?'", "'('"].get(value as usize).copied()
}

/// Strings of at least four characters, with all that can mislead a scanner.
pub const TEXTS: [&str; 6] = [
    "\"a{b}\"",
    "\"/* no */\"",
    "\"// \\\"quoted\\\"\"",
    "\"'\\\\'};\"",
    "\"#if 0\\n\"",
    "\"co\" \"nc\\x41\" \"\\101\"",
];
