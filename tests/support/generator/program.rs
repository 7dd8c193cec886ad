//! The abstract program: C as far as the generator needs it.
//!
//! All values are unsigned, or are read through a cast to `unsigned`, so that
//! no type an edit can give to a variable makes arithmetic overflow. Names say
//! what kind of thing they are (`Class`): a name that comes to mean another
//! declaration, as when an inner one is deleted, still means one of its class.

use super::options::Options;
pub use super::tree::*;

/// Of a procedure, macro, table, struct, …; unique within the program, and kept
/// for good, while names and positions change.
pub type Id = u32;

#[derive(Debug, Clone)]
pub struct Program {
    pub(super) options: Options,
    pub(super) units: Vec<Unit>,
    /// Of the header that all units share.
    pub(super) header: Layout,
    pub(super) typedefs: Vec<Typedef>,
    pub(super) enums: Vec<Enum>,
    pub(super) structs: Vec<Struct>,
    pub(super) macros: Vec<Macro>,
    pub(super) globals: Vec<Global>,
    pub(super) tables: Vec<Table>,
    pub(super) comparators: Vec<Comparator>,
    pub(super) procedures: Vec<Procedure>,
    pub(super) tests: Vec<(String, String)>,
    pub(super) next: Id,
}

#[derive(Debug, Clone)]
pub struct Unit {
    /// Without its suffix.
    pub name: String,
    /// A header of its own, without its suffix, for macros and prototypes.
    pub header: Option<String>,
    pub layout: Layout,
}

/// What the compiler does not see.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    /// Lines of comment at the top.
    pub lines: u32,
    pub indent: usize,
    /// Braces on lines of their own.
    pub tall: bool,
    /// Blanks where none are needed.
    pub airy: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Read as it is: at least as wide as `unsigned`, and unsigned.
    Wide,
    /// Of any integer type, read through a cast.
    Narrow,
    /// Never assigned.
    Const,
    /// Of a bounded loop, assigned by nothing but its head.
    Counter,
    Parameter,
    /// Survives longjmp.
    Volatile,
    /// Eight elements or more.
    Array,
    Struct(Id),
    /// To a `Wide`.
    Pointer,
    StructPointer(Id),
    /// Has a cleanup function.
    Cleanup,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Var {
    pub class: Class,
    pub number: u32,
    /// Has the name of a global variable; an inner declaration may shadow it.
    pub global: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    Unsigned,
    UnsignedLong,
    UnsignedLongLong,
    Int,
    Long,
    Short,
    UnsignedShort,
    SignedChar,
    UnsignedChar,
    Bool,
    Typedef(Id),
}

impl Type {
    pub const WIDE: [Type; 3] = [Type::Unsigned, Type::UnsignedLong, Type::UnsignedLongLong];
    pub const ANY: [Type; 10] = [
        Type::Unsigned,
        Type::UnsignedChar,
        Type::UnsignedShort,
        Type::Int,
        Type::SignedChar,
        Type::Short,
        Type::Bool,
        Type::Long,
        Type::UnsignedLong,
        Type::UnsignedLongLong,
    ];
}

#[derive(Debug, Clone)]
pub struct Typedef {
    pub id: Id,
    pub of: Type,
}

#[derive(Debug, Clone)]
pub struct Enum {
    pub id: Id,
    /// With a value or one more than the one before.
    pub constants: Vec<Option<u32>>,
}

#[derive(Debug, Clone)]
pub struct Struct {
    pub id: Id,
    pub packed: bool,
    pub members: Vec<Member>,
}

#[derive(Debug, Clone)]
pub struct Member {
    /// Part of its name, whatever its position.
    pub number: usize,
    pub of: Type,
    /// Width, for a bit-field; then the type is `unsigned`.
    pub bits: Option<u32>,
}

#[derive(Debug, Clone)]
pub struct Macro {
    pub id: Id,
    pub name: String,
    /// In the header of this unit, or in the common one.
    pub unit: Option<usize>,
    pub parameters: usize,
    pub body: MacroBody,
    /// Expands to another macro that has the body.
    pub indirect: bool,
    /// Written over several lines.
    pub tall: bool,
}

#[derive(Debug, Clone)]
pub enum MacroBody {
    Expr(Expr),
    /// In `do … while (0)`.
    Block(Block),
}

#[derive(Debug, Clone)]
pub struct Global {
    pub var: Var,
    /// The unit that defines it.
    pub unit: usize,
    pub is_static: bool,
    pub of: Type,
    pub init: Vec<u32>,
    pub volatile: bool,
}

/// An array of pointers to procedures of two parameters.
#[derive(Debug, Clone)]
pub struct Table {
    pub id: Id,
    pub unit: usize,
    pub entries: Vec<Id>,
}

/// What qsort calls: by key, then by value, so that the order is total.
#[derive(Debug, Clone)]
pub struct Comparator {
    pub id: Id,
    pub unit: usize,
    /// Of parameter 0 of the key macro.
    pub key: Expr,
    pub descending: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linkage {
    Extern,
    Static,
    Weak,
    /// Defined in the common header as `static inline`.
    Inline,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Main,
    Plain,
    /// Neither writes nor calls anything that does.
    Pure,
    Constructor,
    /// Takes a number and so many more.
    Variadic,
    /// The strong definition of a weak procedure.
    Override(Id),
    /// Another name of a procedure of the same unit, without a body.
    Alias(Id),
}

#[derive(Debug, Clone)]
pub struct Procedure {
    pub id: Id,
    pub name: String,
    pub unit: usize,
    pub linkage: Linkage,
    pub role: Role,
    /// Calls go from lower to higher ranks, apart from those to guarded ones.
    pub rank: u32,
    /// Spends fuel on entry, so that it may be part of a recursion.
    pub guarded: bool,
    pub old_style: bool,
    pub attribute: Option<&'static str>,
    pub parameters: Vec<Type>,
    /// Variant of the names in the prototype.
    pub names: u32,
    /// Of what it returns, unless it is `void`.
    pub result: Option<(Type, Expr)>,
    /// What it returns is read through a cast, so that it may be of any type.
    pub cast: bool,
    pub body: Block,
    /// Numbers of locals and labels given so far.
    pub next: u32,
}

impl Var {
    pub fn name(self) -> String {
        let prefix = match self.class {
            Class::Wide => String::from("v"),
            Class::Narrow => String::from("n"),
            Class::Const => String::from("k"),
            Class::Counter => String::from("i"),
            Class::Parameter => String::from("p"),
            Class::Volatile => String::from("w"),
            Class::Array => String::from("a"),
            Class::Struct(id) => format!("s{id}_"),
            Class::Pointer => String::from("t"),
            Class::StructPointer(id) => format!("q{id}_"),
            Class::Cleanup => String::from("c"),
        };
        format!("{}{prefix}{}", if self.global { "g" } else { "" }, self.number)
    }
}

impl Program {
    pub fn procedure(&self, id: Id) -> &Procedure {
        self.procedures.iter().find(|procedure| procedure.id == id).expect("a procedure")
    }

    pub fn macro_of(&self, id: Id) -> &Macro {
        self.macros.iter().find(|defined| defined.id == id).expect("a macro")
    }

    pub fn struct_of(&self, id: Id) -> &Struct {
        self.structs.iter().find(|defined| defined.id == id).expect("a struct")
    }

    pub fn fresh(&mut self) -> Id {
        self.next += 1;
        self.next
    }
}

impl Enum {
    pub fn values(&self) -> Vec<u32> {
        let mut next = 0;
        let value = |given: &Option<u32>| {
            let value = given.unwrap_or(next);
            next = value + 1;
            value
        };
        self.constants.iter().map(value).collect()
    }
}

impl Procedure {
    /// The name that the linker sees. An override has that of what it overrides.
    pub fn symbol<'a>(&'a self, program: &'a Program) -> &'a str {
        match self.role {
            Role::Override(weak) => &program.procedure(weak).name,
            _ => &self.name,
        }
    }

    pub fn parameter(&self, number: usize) -> Var {
        Var {
            class: Class::Parameter,
            number: u32::try_from(number).expect("few parameters"),
            global: false,
        }
    }
}
