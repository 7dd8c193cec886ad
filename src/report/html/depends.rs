//! What depends on what changed in a file, of the procedures that are others now.

use super::{Change, Site};
use std::collections::BTreeSet;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Dependents {
    /// Procedures elsewhere that are others by what changed in this file.
    pub certain: Vec<usize>,
    /// Procedures that include it and are others, where another file may be the cause.
    pub possible: Vec<usize>,
    /// Dangerous edges of procedures in the file, and of the certain ones.
    pub edges: usize,
    /// Tests that are selected for what changed in it: by its code, by what it declares,
    /// or for using it.
    pub tests: BTreeSet<usize>,
}

pub fn of(site: &Site, file: &str) -> Dependents {
    let mut found = Dependents::default();
    let declared = format!("({file}:");
    for (number, procedure) in site.procedures.iter().enumerate() {
        let mut dangers = procedure.dangers.iter();
        let is_named = dangers.any(|danger| danger.reason.because.contains(&declared));
        let is_certain = is_named || site.is_only_cause(number, file);
        if procedure.file != file {
            if is_certain {
                found.certain.push(number);
            } else if procedure.change == Change::Changed
                && procedure.through.iter().any(|name| name == file)
            {
                found.possible.push(number);
            }
        }
        for danger in &procedure.dangers {
            if procedure.file == file || is_certain {
                found.edges += 1;
                found.tests.extend(&danger.tests);
            }
        }
    }
    if let Some(change) = site.changed_files.iter().find(|change| change.file == file) {
        let begin = format!("{file} {}", change.verb);
        let others = site.others.iter().filter(|other| other.what.starts_with(&begin));
        others.for_each(|other| found.tests.extend(&other.tests));
    }
    found
}

impl Site {
    /// Whether nothing else that a procedure is made of changed.
    fn is_only_cause(&self, procedure: usize, file: &str) -> bool {
        let procedure = &self.procedures[procedure];
        procedure.change == Change::Changed
            && matches!(&procedure.through[..], [only] if only == file)
            && !self.changed_files.iter().any(|change| change.file == procedure.file)
    }
}
