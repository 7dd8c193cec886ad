//! Preprocessed C in, a small tree of our own out: procedures, declarations,
//! what every name means, and what was not understood. No I/O, no failure.

pub mod lex;
pub mod lines;
pub mod literal;
pub mod names;
pub mod parse;
pub mod symbols;
pub mod tree;

use crate::ids::Fingerprint;
pub use tree::Tree;

/// Parses preprocessed text. `symbolic` is the same text preprocessed with
/// `__LINE__` and its kin as symbols, if that was done.
pub fn analyse<'t>(
    text: &'t [u8],
    symbolic: Option<&symbols::Symbolic<'_>>,
    is_system: &dyn Fn(&str) -> bool,
) -> Tree<'t> {
    analyse_unknown(text, symbolic, is_system, Assembler::Plain, &[])
}

/// What an assembler is given beside the text of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assembler {
    Plain,
    /// Files that may define macros.
    Macros,
}

/// The same without parsing what is known: for each procedure of the file in
/// order, the fingerprint of its body. A body with these tokens is left alone.
pub fn analyse_unknown<'t>(
    text: &'t [u8],
    symbolic: Option<&symbols::Symbolic<'_>>,
    is_system: &dyn Fn(&str) -> bool,
    assembler: Assembler,
    known: &[Option<Fingerprint>],
) -> Tree<'t> {
    let mut tree = parse::parse(text, lex::lex(text), is_system, assembler, known);
    if let Some(symbolic) = symbolic {
        tree.symbols = symbols::align(&tree, symbolic);
    }
    tree.places = symbols::places(&tree, symbolic.map(|symbolic| symbolic.root));
    tree.symbol_tokens = tree.symbols.keys().chain(tree.places.keys()).copied().collect();
    tree.symbol_tokens.sort_unstable();
    tree
}
