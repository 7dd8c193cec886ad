//! Units with very much of one thing are analysed, or said to be opaque, and
//! nothing overflows the stack of a test's thread. How long it takes is
//! measured by `benches/scale.rs`; here something that grows too fast shows by
//! not ending.

#[macro_use]
mod shapes;

use edgewise::cfg::format::{Detail, Granularity};
use edgewise::cfg::unit;
use edgewise::frontend;
use edgewise::ids::Fingerprint;
use edgewise::instrument::{self, Architecture};
use rustc_hash::FxHashMap;
use shapes::{Outcome, SHAPES, Shape};

fn check(name: &str) {
    let Shape { size, make, outcome, .. } =
        SHAPES.iter().find(|shape| shape.name == name).expect("a shape of this name");
    let text = format!("# 1 \"t.c\"\n{}", make(*size));
    let mut tree = frontend::analyse(text.as_bytes(), None, &|_| false);
    let mut analysis = unit::analyse(&mut tree, &FxHashMap::default());
    instrument::assign_probes(&mut analysis, instrument::Code::default(), Detail::default());
    let unit = Fingerprint::default();
    let how = instrument::Compiled {
        architecture: Architecture::Other,
        granularity: Granularity::Edge,
        is_optimized: true,
    };
    let out = instrument::instrument(&tree, &analysis, unit, &[], how);
    assert!(out.len() >= text.len());
    let opaque = analysis.procedures.last().and_then(|procedure| procedure.opaque.as_deref());
    let problems = analysis.problems();
    let problem = problems.first().map(String::as_str);
    match outcome {
        Outcome::Full => assert_eq!((problem, opaque), (None, None)),
        Outcome::Opaque => {
            assert_eq!(problem, None);
            assert!(!opaque.expect("an opaque procedure").is_empty());
        }
        Outcome::TooLarge => {
            assert_eq!(problem, None);
            let why = opaque.expect("an opaque procedure");
            assert!(why.contains("too many for probes"), "{why}");
        }
        Outcome::NotUnderstood => {
            let problem = problem.expect("an item that is not understood");
            assert!(problem.starts_with("t.c:"), "{problem}");
        }
    }
}

macro_rules! test {
    ($name:ident) => {
        #[test]
        fn $name() {
            check(stringify!($name));
        }
    };
}
for_each_shape!(test);
