//! A unit after an edit in one of its procedures.

use crate::measure;
use crate::unit::Look;
use edgewise::cfg::unit::{self, Analysis, Known};
use edgewise::compiler::preprocess::Preprocessed;
use edgewise::frontend::lex::{Kind, Scanner};
use rustc_hash::FxHashMap;
use std::time::Duration;

pub struct Edited {
    old: Analysis,
    new: Preprocessed,
}

impl Edited {
    /// An empty statement more, in the procedure in the middle.
    pub fn of(look: &Look<'_>) -> Self {
        let (tree, old) = look.analyse();
        let known: Vec<usize> = (0..old.procedures.len())
            .filter(|number| old.procedures[*number].body.is_some())
            .collect();
        let mut new = look.preprocessed.clone();
        if let Some(middle) = known.get(known.len() / 2) {
            let open = tree.procedures[*middle].body_range.start;
            insert(&mut new.text, open);
            if let Some(text) = &mut new.symbolic {
                insert(text, open);
            }
        }
        Self { old, new }
    }

    pub fn time(&self, look: &Look<'_>) -> Duration {
        let known = Known::of_analysis(&self.old);
        let (is_known, time) = measure::cpu_of(|| {
            let mut tree = look.parse(&self.new, &known.bodies());
            let analysis = unit::analyse_unknown(&mut tree, &FxHashMap::default(), &known);
            analysis.is_some()
        });
        assert!(is_known, "only a body was edited");
        time
    }
}

/// Puts an empty statement behind a token.
fn insert(text: &mut Vec<u8>, token: u32) {
    let mut scanner = Scanner::new(text);
    let mut count = 0;
    let end = loop {
        let raw = scanner.token();
        match raw.kind {
            Kind::Pragma => {}
            Kind::End => return,
            _ if count == token => break raw.end,
            _ => count += 1,
        }
    };
    text.insert(end as usize, b';');
}
