//! Insertions into the text, and the order of those that meet at one place.

use super::text::Writer;
use crate::cfg::draft::Site;
use crate::frontend::Tree;
use crate::ids::ProbeId;

/// What is inserted at one offset, in this order: first what closes something
/// that ends here, the inner before the outer; then what opens something that
/// begins here, the outer before the inner.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    /// Closes what began at the given offset from the end of the text; the arm
    /// of truth before the other.
    Closes {
        from_end: u32,
        outcome_is_false: bool,
    },
    Behind,
    Before,
    /// Opens what ends at the given offset from the end of the text.
    Opens {
        from_end: u32,
    },
}

struct Edit {
    offset: u32,
    turn: Turn,
    text: String,
}

#[derive(Default)]
pub struct Edits(Vec<Edit>);

impl Edits {
    fn insert(&mut self, offset: u32, turn: Turn, text: String) {
        self.0.push(Edit { offset, turn, text });
    }

    pub fn prelude(&mut self, tree: &Tree<'_>, writer: &Writer, probes: usize) {
        if probes > 0 {
            let first = tree.tokens.all[0].start;
            self.insert(first, Turn::Before, writer.prelude());
        }
    }

    pub fn add(&mut self, tree: &Tree<'_>, site: Site, probe: ProbeId, writer: &Writer) {
        let start_of = |token: u32| tree.tokens.all[token as usize].start;
        let end_of = |token: u32| tree.tokens.all[token as usize].end;
        let length = tree.text.len() as u32;
        match site {
            Site::None => {}
            Site::Entry { open } => {
                self.insert(end_of(open), Turn::Behind, writer.declaration(probe));
            }
            Site::Arm { condition, weak, outcome } => {
                let start = start_of(condition.start);
                let end = end_of(condition.end - 1);
                let closes =
                    |outcome_is_false| Turn::Closes { from_end: length - start, outcome_is_false };
                // `(e?({P;1;}):({Q;0;}))`: the arm of truth opens, the other closes.
                if outcome {
                    let open = if weak { "((" } else { "(" };
                    self.insert(start, Turn::Opens { from_end: length - end }, open.to_string());
                    let close = if weak { ")" } else { "" };
                    let text = format!("{close}?{}", writer.value(probe, 1));
                    self.insert(end, closes(false), text);
                } else {
                    let text = format!(":{})", writer.value(probe, 0));
                    self.insert(end, closes(true), text);
                }
            }
            Site::Otherwise { operand } => {
                let (start, end) = (start_of(operand.start), end_of(operand.end - 1));
                let open = format!("({},", writer.void(probe));
                self.insert(start, Turn::Opens { from_end: length - end }, open);
                let closes = Turn::Closes { from_end: length - start, outcome_is_false: true };
                self.insert(end, closes, String::from(")"));
            }
            Site::Case { start, colon, falls_in } => {
                let label = writer.label(probe);
                if falls_in {
                    self.insert(start_of(start), Turn::Before, format!("goto {label};"));
                }
                let landing = if falls_in { format!("{label}:;") } else { String::new() };
                let text = format!(" {};{landing}", writer.probe(probe));
                self.insert(end_of(colon), Turn::Behind, text);
            }
            Site::MissingDefault { close, falls_in } => {
                let label = writer.label(probe);
                let (jump, landing) = if falls_in {
                    (format!("goto {label};"), format!("{label}:;"))
                } else {
                    (String::new(), String::new())
                };
                let text = format!("{jump}default:{};{landing}", writer.probe(probe));
                self.insert(start_of(close), Turn::Before, text);
            }
            Site::AfterExpression { end } => {
                self.insert(end_of(end - 1), Turn::Behind, format!(",{}", writer.void(probe)));
            }
            Site::AfterDeclaration { end } => {
                self.insert(end_of(end - 1), Turn::Behind, writer.declaration(probe));
            }
        }
    }

    pub fn apply(mut self, text: &[u8]) -> Vec<u8> {
        // Stable: what belongs together keeps its order.
        self.0.sort_by_key(|edit| (edit.offset, edit.turn));
        let extra: usize = self.0.iter().map(|edit| edit.text.len()).sum();
        let mut out = Vec::with_capacity(text.len() + extra);
        let mut from = 0;
        for edit in &self.0 {
            let offset = edit.offset as usize;
            out.extend(&text[from..offset]);
            out.extend(edit.text.as_bytes());
            from = offset;
        }
        out.extend(&text[from..]);
        out
    }
}
