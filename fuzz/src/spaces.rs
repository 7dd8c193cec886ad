//! White space and comments between tokens mean nothing.

use crate::Dice;
use crate::invariants::{Found, is_system};
use edgewise::cfg::unit;
use edgewise::frontend;
use edgewise::frontend::lex::{Kind, lex};
use edgewise::ids::Fingerprint;
use rustc_hash::FxHashMap;

/// Each stands between two blanks, so that it cannot become part of a token.
const FILLINGS: [&[u8]; 5] = [b" ", b" /* } */ ", b"\t/**/ ", b" \n ", b" /* \n */ "];

/// Analyses the text again with white space put between some of its tokens:
/// whatever is compared later must stay the same.
pub fn check_spaces(text: &[u8], first: &Found) {
    // A comment that has no end would get one from a filling.
    if text.windows(2).any(|pair| matches!(pair, b"/*" | b"//")) {
        return;
    }
    let spaced = with_spaces(text);
    let mut tree = frontend::analyse(&spaced, None, &is_system);
    let second = unit::analyse(&mut tree, &FxHashMap::default());
    let show = || String::from_utf8_lossy(&spaced).into_owned();
    assert_eq!(first.problems.len(), second.problems().len(), "{}", show());
    assert_eq!(first.composition, second.composition, "{}", show());
    assert_eq!(first.symbols, second.symbols, "{}", show());
    assert_eq!(first.procedures.len(), second.procedures.len(), "{}", show());
    for (one, other) in first.procedures.iter().zip(&second.procedures) {
        assert_eq!(one.name, other.name, "{}", show());
        assert_eq!(one.opaque.is_some(), other.opaque.is_some(), "{}", show());
        assert_eq!(one.fingerprint, other.fingerprint, "{}: {}", one.name, show());
        assert_eq!(one.mentions, other.mentions, "{}: {}", one.name, show());
    }
    let says = |found: &[edgewise::cfg::format::Declaration]| -> Vec<Fingerprint> {
        found.iter().map(|declaration| declaration.says).collect()
    };
    assert_eq!(says(&first.declarations), says(&second.declarations), "{}", show());
    let fingerprints = |found: &[edgewise::cfg::format::Definition]| -> Vec<Fingerprint> {
        found.iter().map(|definition| definition.fingerprint).collect()
    };
    assert_eq!(fingerprints(&first.definitions), fingerprints(&second.definitions), "{}", show());
}

fn with_spaces(text: &[u8]) -> Vec<u8> {
    let mut dice = Dice::new(text.len() as u64 + 7);
    let mut out = Vec::with_capacity(text.len() * 2);
    let mut from = 0;
    for token in lex(text).all {
        let start = token.start as usize;
        out.extend(&text[from..start]);
        from = start;
        // Before a pragma it must stay white space on the line.
        let may_fill = !matches!(token.kind, Kind::Pragma | Kind::End);
        let filling = FILLINGS[dice.roll(FILLINGS.len())];
        // What begins with `#` on a line of its own is no token.
        let is_at_hash =
            text[start..].starts_with(b"#") || text[..start].trim_ascii_end().ends_with(b"#");
        let makes_directive = filling.contains(&b'\n') && is_at_hash;
        if may_fill && !makes_directive && dice.roll(3) > 0 {
            out.extend(filling);
        }
    }
    out.extend(&text[from..]);
    out
}
