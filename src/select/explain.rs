//! A rejected edge as a reason for people.

use super::culprit;
use super::pairs::{Because, Reject};
use super::reason::{Behind, EdgeReason, SourceLine};
use super::rule::Rule;
use super::version::{ProcRef, ProgramVersion, UnitVersion};
use super::walk::ProcPair;
use crate::cfg::format::{EdgeLabel, Node, NodeKind};

/// Why an edge of a pair of procedures is dangerous. The calls that lead there
/// are to be added.
pub fn edge_reason(
    program: &ProgramVersion,
    successor: &ProgramVersion,
    (old, new): ProcPair,
    reject: &Reject,
) -> EdgeReason {
    let unit = program.unit(old.unit);
    let nowhere = || SourceLine { file: String::new(), line: 0, text: String::new() };
    let mut reason = EdgeReason {
        program: program.path.clone(),
        procedure: unit.procedure(old.procedure).name.clone(),
        from: nowhere(),
        edge: String::new(),
        old: nowhere(),
        new: None,
        because: explain_because(&reject.because),
        behind: Behind::default(),
        chain: Vec::new(),
        by: rule(&reject.because),
    };
    let graph = unit.graph(old.procedure);
    if let Some(graph) = graph {
        let edge = graph.edge(reject.edge);
        reason.from = source_line(unit, graph.node(edge.from));
        reason.edge = edge_name(&edge.label);
        let shown = if reject.because == Because::Signature { edge.from } else { edge.to };
        reason.old = source_line(unit, graph.node(shown));
    }
    if let (Some(node), Some(graph)) = (reject.new, successor.graph(new)) {
        reason.new = Some(source_line(successor.unit(new.unit), graph.node(node)));
    }
    let same_text = reason.new.as_ref().is_some_and(|new| new.text == reason.old.text);
    let successors = (successor.unit(new.unit), new.procedure);
    let culprit =
        |node: &Node| culprit::changed_declaration((unit, old.procedure), successors, node);
    match (&reject.because, graph) {
        (Because::Node, Some(graph)) if same_text => {
            reason.because = culprit(graph.node(graph.edge(reject.edge).to));
            reason.by = Rule::Declaration;
        }
        (Because::CaseValue(before, now), Some(graph)) if before == now => {
            let label =
                Node { text: before.clone(), ..graph.node(graph.edge(reject.edge).from).clone() };
            reason.because = culprit(&label);
            reason.by = Rule::Declaration;
        }
        // Its words are what they were: what they mean is not.
        (Because::Signature, Some(graph))
            if successor.unit(new.unit).entry_text(new.procedure)
                == Some(reason.old.text.as_str()) =>
        {
            let what = culprit(graph.node(graph.edge(reject.edge).from));
            reason.because = format!("{what}, and its signature or attributes with it");
        }
        (Because::Node, _) => {
            let is_known = unit.procedure(old.procedure).opaque.is_none();
            if let Some(why) = successor.procedure(new).opaque.as_ref().filter(|_| is_known) {
                reason.because = format!("this function cannot be analysed any more: {why}");
            }
        }
        _ => {}
    }
    reason
}

/// The first line of a procedure.
pub fn procedure_line(unit: &UnitVersion, procedure: ProcRef) -> SourceLine {
    let index = unit.procedure(procedure.procedure);
    let text = unit.entry_text(procedure.procedure);
    SourceLine {
        file: unit.file(index.place).to_string(),
        line: index.place.line,
        text: text.unwrap_or_default().to_string(),
    }
}

fn source_line(unit: &UnitVersion, node: &Node) -> SourceLine {
    let text = match node.kind {
        NodeKind::Exit => String::from("the end of the procedure"),
        NodeKind::Spin => String::from("an endless loop"),
        _ => node.text.clone(),
    };
    SourceLine { file: unit.file(node.place).to_string(), line: node.place.line, text }
}

pub fn edge_name(label: &EdgeLabel) -> String {
    match label {
        EdgeLabel::Always => String::new(),
        EdgeLabel::True => String::from("T"),
        EdgeLabel::False => String::from("F"),
        EdgeLabel::Case(_, text) => format!("case {text}"),
        EdgeLabel::Default => String::from("default"),
        EdgeLabel::Label(name) => name.clone(),
    }
}

fn rule(because: &Because) -> Rule {
    match because {
        Because::Node | Because::EdgeGone | Because::CaseAdded(_) | Because::CaseValue(..) => {
            Rule::Statement
        }
        Because::Definition(_) => Rule::Definition,
        Because::Call(_) => Rule::Resolution,
        Because::Signature => Rule::Signature,
        Because::Flags => Rule::Flags,
        Because::Unreadable => Rule::UnknownProgram,
    }
}

fn explain_because(because: &Because) -> String {
    match because {
        Because::Node => String::new(),
        Because::Definition(what) => what.clone(),
        Because::Call(name) => format!("`{name}` means another procedure now"),
        Because::EdgeGone => String::from("this way is gone"),
        Because::CaseAdded(text) => format!("`case {text}` was added"),
        Because::CaseValue(before, now) => {
            format!("the value of this case label changed from `{before}` to `{now}`")
        }
        Because::Signature => String::from("its signature or attributes changed"),
        Because::Flags => String::from(
            "it is compiled with other flags, files that these or asm name, or another compiler",
        ),
        Because::Unreadable => String::from("its graph cannot be read"),
    }
}
