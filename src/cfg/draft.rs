//! A graph on its way: labels are still tokens, and every edge knows the place
//! in the text where its probe would go.

use super::format::{EdgeLabel, NodeKind};
use crate::frontend::tree::{Label, Piece, Range};
use crate::ids::NodeId;

/// Where the probe of an edge goes in the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Site {
    /// The edge follows from others.
    None,
    /// Behind the token that opens the body.
    Entry { open: u32 },
    /// The outcome of the condition that spans these tokens. `first_of` is the
    /// loop around it if each round of that begins with this edge, or is the last.
    Arm { condition: Range, weak: bool, outcome: bool, first_of: Option<Range> },
    /// Before the operand that `a ?: b` evaluates when `a` is zero.
    Otherwise { operand: Range },
    /// After the colon of a case or default label; `falls_in` if control can
    /// also come from above. Where a statement cannot be put before it, the
    /// end of the statement that has to become a block.
    Case { start: u32, colon: u32, falls_in: bool, block: Option<u32> },
    /// A default that is not written, before the closing brace of the switch.
    MissingDefault { close: u32, falls_in: bool },
    /// The same for a switch whose body, these tokens, is not a block.
    MissingBlock { body: Range, falls_in: bool },
    /// Before a label that computed gotos may jump to, on a way of its own.
    Landing { label: Label, start: u32, block: Option<u32> },
    /// Behind an asm goto that did not jump.
    AsmStays { asm: Range },
    /// Behind an asm goto, on the way to the label that this token names.
    AsmJumps { asm: Range, label: u32 },
    /// Behind an expression whose calls may not return; `in_operands` if some
    /// of them are in operands that are nodes of their own.
    AfterExpression { end: u32, in_operands: bool },
    /// The same behind a declaration.
    AfterDeclaration { end: u32, in_operands: bool },
}

/// Where a log of all nodes can note that a node runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RunSite {
    /// Nothing can be put there.
    None,
    /// Around an expression, before it is evaluated.
    Before(Range),
    /// Around an expression whose value nobody uses, when it was evaluated.
    Behind(Range),
    /// Around a condition, when it was evaluated.
    Outcome(Range),
    /// Around a value that is returned, when it was evaluated.
    Value(Range),
    /// A declaration before this token.
    DeclaredBefore(u32),
    /// A declaration behind this token.
    DeclaredBehind(u32),
    /// A statement, which becomes a block.
    Block(Range),
}

#[derive(Debug)]
pub struct DraftNode {
    pub kind: NodeKind,
    /// Tokens of the label, with holes.
    pub pieces: Vec<Piece>,
    /// What to show to people.
    pub range: Range,
    /// What is called by name in this node itself.
    pub calls: Vec<DraftCall>,
    /// The calls are sure to run if the node does.
    pub calls_are_certain: bool,
    /// It calls through a pointer.
    pub calls_pointer: bool,
    /// It is an asm statement, whose text may name anything.
    pub is_asm: bool,
    /// It may not come to its end: it calls, traps, or nobody knows.
    pub may_leave: bool,
    pub run: RunSite,
}

impl DraftNode {
    pub fn new(kind: NodeKind, pieces: Vec<Piece>, range: Range) -> Self {
        Self {
            kind,
            pieces,
            range,
            calls: Vec::new(),
            calls_are_certain: true,
            calls_pointer: false,
            is_asm: false,
            may_leave: true,
            run: RunSite::None,
        }
    }
}

/// A call by name.
#[derive(Clone, Copy, Debug)]
pub struct DraftCall {
    /// The token that names what is called.
    pub token: u32,
    /// From there to the end of the arguments.
    pub range: Range,
    /// It may run before operands that are nodes on the way to this one.
    pub is_early: bool,
}

#[derive(Debug)]
pub struct DraftEdge {
    pub from: NodeId,
    pub to: NodeId,
    pub label: DraftLabel,
    pub site: Site,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DraftLabel {
    Plain(PlainLabel),
    Case(Range),
    /// A jump to a label.
    Label(Label),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainLabel {
    Always,
    True,
    False,
    Default,
}

impl From<PlainLabel> for EdgeLabel {
    fn from(label: PlainLabel) -> Self {
        match label {
            PlainLabel::Always => Self::Always,
            PlainLabel::True => Self::True,
            PlainLabel::False => Self::False,
            PlainLabel::Default => Self::Default,
        }
    }
}

/// A graph whose labels are still tokens. Nodes 0 and 1 are entry and exit.
#[derive(Debug, Default)]
pub struct Draft {
    pub nodes: Vec<DraftNode>,
    pub edges: Vec<DraftEdge>,
}

impl From<PlainLabel> for DraftLabel {
    fn from(label: PlainLabel) -> Self {
        Self::Plain(label)
    }
}
