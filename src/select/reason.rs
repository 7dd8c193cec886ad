//! Why a test is selected.

use super::rule::Rule;
use rustc_hash::FxHashSet;
use serde::Serialize;
use std::sync::Arc;

/// A line of source as a reason shows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct SourceLine {
    pub file: String,
    pub line: u32,
    pub text: String,
}

/// One reason. Its `rule` says what kind it is, and `by` the line of the safety rules
/// where there are several of a kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case", tag = "rule")]
pub enum Reason {
    /// A dangerous edge: the test took it, and it leads elsewhere now.
    /// Shared, since many tests may have it.
    Edge(Arc<EdgeReason>),
    /// A procedure that the test entered is gone.
    ProcedureGone {
        program: String,
        procedure: String,
        old: SourceLine,
    },
    /// A procedure that the test entered changed, somewhere.
    Procedure {
        program: String,
        procedure: String,
        old: SourceLine,
        new: SourceLine,
    },
    /// The program as a whole is made otherwise.
    Program {
        program: String,
        what: String,
        by: Rule,
    },
    /// Something outside of the programs changed.
    Files {
        what: String,
        by: Rule,
    },
    /// The test itself is new or another one.
    NewTest,
    TestChanged {
        what: String,
    },
    /// The test did not end well, or its trace cannot be relied upon.
    State {
        what: String,
    },
    /// What it needs to run, a fixture say, is selected.
    Dependency {
        test: String,
    },
    /// There is no history to compare with.
    NoHistory,
    /// All tests were asked for.
    All,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct EdgeReason {
    pub program: String,
    pub procedure: String,
    /// From where control came, with the edge's label.
    pub from: SourceLine,
    pub edge: String,
    pub old: SourceLine,
    pub new: Option<SourceLine>,
    /// What is different, where the text alone does not show it.
    pub because: String,
    /// The declaration or macro that `because` names.
    #[serde(skip_serializing_if = "Behind::is_unknown")]
    pub behind: Behind,
    /// Procedures from the root to this one.
    pub chain: Vec<String>,
    pub by: Rule,
}

/// The lines in which two versions of a declaration or macro differ, where both texts are
/// known.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Behind {
    pub old: Vec<SourceLine>,
    pub new: Vec<SourceLine>,
}

impl Behind {
    pub fn is_unknown(&self) -> bool {
        self.old.is_empty() && self.new.is_empty()
    }
}

impl Reason {
    /// The rule that it goes by.
    pub fn rule(&self) -> Rule {
        match self {
            Self::Edge(edge) => edge.by,
            Self::ProcedureGone { .. } => Rule::Gone,
            Self::Procedure { .. } => Rule::Procedure,
            Self::Program { by, .. } | Self::Files { by, .. } => *by,
            Self::NewTest => Rule::NewTest,
            Self::TestChanged { .. } => Rule::TestChanged,
            Self::State { .. } => Rule::State,
            Self::Dependency { .. } => Rule::Dependency,
            Self::NoHistory => Rule::NoHistory,
            Self::All => Rule::All,
        }
    }
}

/// What a reason is about, whichever program tells of it.
#[derive(PartialEq, Eq, Hash)]
enum About<'r> {
    Edge(&'r str, &'r SourceLine, &'r str, &'r SourceLine, Option<&'r SourceLine>, &'r str),
    Procedure(&'r str, &'r SourceLine, Option<&'r SourceLine>),
}

impl Reason {
    /// The program that tells of code that changed, and what it is about.
    fn told_by(&self) -> Option<(&str, About<'_>)> {
        match self {
            Self::Edge(edge) => {
                let EdgeReason { procedure, from, edge: label, old, new, because, .. } = &**edge;
                let about = About::Edge(procedure, from, label, old, new.as_ref(), because);
                Some((&edge.program, about))
            }
            Self::Procedure { program, procedure, old, new } => {
                Some((program, About::Procedure(procedure, old, Some(new))))
            }
            Self::ProcedureGone { program, procedure, old } => {
                Some((program, About::Procedure(procedure, old, None)))
            }
            _ => None,
        }
    }
}

/// Keeps the reasons that are to be told. A unit may be part of several programs, and each
/// tells of it with its own calls: one of them is enough, and that is one which the test ran.
pub fn keep_own(reasons: &mut Vec<Reason>, is_own: impl Fn(&str) -> bool) {
    let all = || reasons.iter().map(|reason| reason.told_by());
    let own: FxHashSet<About<'_>> =
        all().flatten().filter(|(program, _)| is_own(program)).map(|(_, about)| about).collect();
    let mut seen = FxHashSet::default();
    let kept = all().map(|told| match told {
        Some((program, about)) => (is_own(program) || !own.contains(&about)) && seen.insert(about),
        None => true,
    });
    let kept: Vec<bool> = kept.collect();
    let mut kept = kept.into_iter();
    reasons.retain(|_| kept.next() == Some(true));
}

/// Keeps each reason once, in their order.
pub fn keep_once(reasons: &mut Vec<Reason>) {
    let mut seen = FxHashSet::default();
    let first: Vec<bool> = reasons.iter().map(|reason| seen.insert(reason)).collect();
    let mut first = first.into_iter();
    reasons.retain(|_| first.next() == Some(true));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_did_not_run_a_program_need_not_hear_of_it() {
        let edge = |program: &str, line: u32| {
            let place = SourceLine { file: String::from("a.c"), line, text: String::new() };
            Reason::Edge(Arc::new(EdgeReason {
                program: program.to_string(),
                procedure: String::from("f"),
                from: place.clone(),
                edge: String::new(),
                old: place,
                new: None,
                because: String::new(),
                behind: Behind::default(),
                chain: vec![program.to_string()],
                by: Rule::Statement,
            }))
        };
        let kept = |mut reasons: Vec<Reason>| {
            keep_own(&mut reasons, |program| program == "mine");
            reasons
        };
        let [mine, other, elsewhere] = [edge("mine", 1), edge("other", 1), edge("other", 2)];
        let new = Reason::NewTest;
        let all = vec![other.clone(), new.clone(), mine.clone(), elsewhere.clone()];
        assert_eq!(kept(all), [new, mine, elsewhere.clone()]);
        // Nothing else says why.
        assert_eq!(kept(vec![elsewhere.clone()]), [elsewhere]);
        let twice = vec![edge("mine", 1), edge("mine too", 1)];
        let mut once = twice.clone();
        keep_own(&mut once, |_| true);
        assert_eq!(once, twice[..1], "two programs tell of one change");
    }
}
