//! Insertions into the text, and the order of those that meet at one place.

use super::text::Writer;
use crate::bytes;
use crate::cfg::draft::Site;
use crate::cfg::format::Graph;
use crate::frontend::Tree;
use crate::frontend::lex::Kind;
use crate::frontend::tree::Range;
use crate::ids::ProbeId;

/// What is inserted at one offset, in this order: first what closes something
/// that ends here, the inner before the outer; then what opens something that
/// begins here, the outer before the inner.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    /// Closes what began at the given offset from the end of the text, in steps.
    Closes {
        from_end: u32,
        step: u8,
    },
    Behind,
    Before,
    /// Opens what ends at the given offset from the end of the text.
    Opens {
        from_end: u32,
    },
    /// Becomes part of the token that begins here.
    Part,
}

/// The last step of closing something.
const LAST: u8 = 2;
/// The step of what encloses something and the probes around it.
const AROUND_PROBES: u8 = 3;
/// The step of what encloses something together with all others.
const OUTERMOST: u8 = 4;

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

    /// Puts text before all others.
    pub fn first(&mut self, tree: &Tree<'_>, text: String) {
        self.insert(tree.tokens.all[0].start, Turn::Before, text);
    }

    /// Puts text right behind a token.
    pub fn put_behind(&mut self, tree: &Tree<'_>, token: u32, text: String) {
        self.insert(tree.tokens.all[token as usize].end, Turn::Behind, text);
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
            Site::Arm { condition, weak, outcome, first_of } => {
                let value = match first_of.filter(|around| writer.is_undisturbed(*around)) {
                    Some(around) => {
                        let open = format!("{{{}", writer.first_time(probe));
                        self.enclose(tree, around, open, String::from("}"));
                        writer.value_at_first(probe, u8::from(outcome))
                    }
                    None => writer.value(probe, u8::from(outcome)),
                };
                self.arm(tree, condition, weak, outcome, &value);
            }
            Site::Otherwise { operand } => {
                let (start, end) = (start_of(operand.start), end_of(operand.end - 1));
                let open = format!("({},", writer.void(probe));
                self.insert(start, Turn::Opens { from_end: length - end }, open);
                let closes = Turn::Closes { from_end: length - start, step: LAST };
                self.insert(end, closes, String::from(")"));
            }
            Site::Case { start, colon, falls_in, block } => {
                let label = writer.label(probe);
                let jump = if falls_in { format!("goto {label};") } else { String::new() };
                self.before(tree, start, block, jump);
                let landing = if falls_in { format!("{label}:;") } else { String::new() };
                let text = format!(" {};{landing}", writer.probe(probe));
                self.insert(end_of(colon), Turn::Behind, text);
            }
            Site::MissingDefault { close, falls_in } => {
                let text = default(probe, writer, falls_in);
                self.insert(start_of(close), Turn::Before, text);
            }
            Site::MissingBlock { body, falls_in } => {
                let text = default(probe, writer, falls_in);
                self.enclose(tree, body, String::from("{"), format!("{text}}}"));
            }
            Site::Landing { start, block, .. } => {
                // The label itself is the way around the probe, which also
                // keeps it in use.
                let name = bytes::to_text(tree.token_text(start));
                let landing = format!("{}{name}", writer.landing(probe));
                let text = format!("goto {name};{landing}:{};", writer.probe(probe));
                self.before(tree, start, block, text);
            }
            Site::AsmStays { asm } => {
                let label = writer.label(probe);
                self.enclose(tree, asm, String::from("{"), format!("{label}:;}}"));
                let text = format!("{};goto {label};", writer.probe(probe));
                self.behind(tree, asm, 0, text);
            }
            Site::AsmJumps { asm, label } => {
                let name = bytes::to_text(tree.token_text(label)).into_owned();
                self.rename_in_asm(tree, asm, label, &writer.landing(probe));
                let landing = format!("{}{name}", writer.landing(probe));
                let text = format!("{landing}:{};goto {name};", writer.probe(probe));
                self.behind(tree, asm, 1, text);
            }
            Site::AfterExpression { end, .. } => {
                self.insert(end_of(end - 1), Turn::Behind, format!(",{}", writer.void(probe)));
            }
            Site::AfterDeclaration { end, .. } => {
                self.insert(end_of(end - 1), Turn::Behind, writer.declaration(probe));
            }
        }
    }

    /// Puts before the probe of an entry the one that says that it is not the
    /// first.
    pub fn count_entry(
        &mut self,
        tree: &Tree<'_>,
        graph: &Graph,
        sites: &[Site],
        again: ProbeId,
        writer: &Writer,
    ) {
        for (edge, site) in graph.edges.iter().zip(sites) {
            if let (Site::Entry { open }, Some(first)) = (*site, edge.noted.probe()) {
                self.put_behind(tree, open, writer.again(first, again));
            }
        }
    }

    /// What a site needs whose probe was left out, since others around it have
    /// theirs.
    pub fn add_without(&mut self, tree: &Tree<'_>, site: Site) {
        if let Site::Arm { condition, weak, outcome, .. } = site {
            self.arm(tree, condition, weak, outcome, if outcome { "1" } else { "0" });
        }
    }

    /// `(e?({P;1;}):({Q;0;}))`: the arm of truth opens, the other closes.
    fn arm(&mut self, tree: &Tree<'_>, condition: Range, weak: bool, outcome: bool, value: &str) {
        let (start, end) = offsets(tree, condition);
        let length = tree.text.len() as u32;
        let closes = |step| Turn::Closes { from_end: length - start, step };
        if outcome {
            let open = if weak { "((" } else { "(" };
            self.insert(start, Turn::Opens { from_end: length - end }, open.to_string());
            let close = if weak { ")" } else { "" };
            self.insert(end, closes(0), format!("{close}?{value}"));
        } else {
            self.insert(end, closes(1), format!(":{value})"));
        }
    }

    /// Puts text before a label, which becomes the beginning of a block where
    /// no statement may stand before it.
    fn before(&mut self, tree: &Tree<'_>, start: u32, block: Option<u32>, text: String) {
        match block {
            Some(end) => {
                let labelled = Range::new(start, end);
                self.enclose(tree, labelled, format!("{{{text}"), String::from("}"));
            }
            None if text.is_empty() => {}
            None => {
                let offset = tree.tokens.all[start as usize].start;
                self.insert(offset, Turn::Before, text);
            }
        }
    }

    fn enclose(&mut self, tree: &Tree<'_>, range: Range, open: String, close: String) {
        self.enclose_in_step(tree, range, LAST, open, close);
    }

    /// Encloses what probes enclose too. To be called before it is for those.
    pub fn enclose_probes(&mut self, tree: &Tree<'_>, range: Range, open: String, close: String) {
        self.enclose_in_step(tree, range, AROUND_PROBES, open, close);
    }

    /// Encloses what others enclose too. To be called before it is for those.
    pub fn enclose_all(&mut self, tree: &Tree<'_>, range: Range, open: String, close: String) {
        self.enclose_in_step(tree, range, OUTERMOST, open, close);
    }

    fn enclose_in_step(
        &mut self,
        tree: &Tree<'_>,
        range: Range,
        step: u8,
        open: String,
        close: String,
    ) {
        let (start, end) = offsets(tree, range);
        let length = tree.text.len() as u32;
        self.insert(start, Turn::Opens { from_end: length - end }, open);
        self.insert(end, Turn::Closes { from_end: length - start, step }, close);
    }

    /// Inside of what encloses the range, at its end.
    fn behind(&mut self, tree: &Tree<'_>, range: Range, step: u8, text: String) {
        let (start, end) = offsets(tree, range);
        let from_end = tree.text.len() as u32 - start;
        self.insert(end, Turn::Closes { from_end, step }, text);
    }

    /// Gives a label in an asm goto another name: where it is listed, and as
    /// `%l[name]` in the text of the asm.
    fn rename_in_asm(&mut self, tree: &Tree<'_>, asm: Range, label: u32, prefix: &str) {
        self.prefix(tree, label, prefix.to_string());
        let reference = [b"%l[", tree.token_text(label), b"]"].concat();
        for token in asm.start..label {
            if tree.tokens.all[token as usize].kind != Kind::Text {
                continue;
            }
            let start = tree.tokens.all[token as usize].start;
            for at in memchr::memmem::find_iter(tree.token_text(token), &reference) {
                self.insert(start + at as u32 + 3, Turn::Before, prefix.to_string());
            }
        }
    }

    /// Puts text right before a token, as part of it.
    pub fn prefix(&mut self, tree: &Tree<'_>, token: u32, text: String) {
        self.insert(tree.tokens.all[token as usize].start, Turn::Part, text);
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
            out.extend(&*bytes::of_text(&edit.text));
            from = offset;
        }
        out.extend(&text[from..]);
        out
    }
}

/// Where a range of tokens starts and ends in the text.
fn offsets(tree: &Tree<'_>, range: Range) -> (u32, u32) {
    let all = &tree.tokens.all;
    (all[range.start as usize].start, all[range.end as usize - 1].end)
}

/// A default that was not written.
fn default(probe: ProbeId, writer: &Writer, falls_in: bool) -> String {
    let (label, probe) = (writer.label(probe), writer.probe(probe));
    if falls_in {
        format!("goto {label};default:{probe};{label}:;")
    } else {
        format!("default:{probe};")
    }
}
