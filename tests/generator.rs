//! The generator of programs, put to the test itself.
//!
//! `EDGEWISE_SEEDS=N` looks at N programs instead of a few.

use crate::support::generator;

mod build;

use build::{Builder, CLANG_O0, CLANG_O2, Compiler, DEFINED, GCC_O0, GCC_O2, SANITIZED};
use generator::{Construct, EditKind, Effect, Options, Random};
use generator::{edit, edit_of_kind, is_valid, program, seeds};
use std::collections::BTreeSet;

/// Calls for each seed, on two threads.
fn for_each_seed(usual: u64, check: impl Fn(u64) + Sync) {
    std::thread::scope(|scope| {
        for half in 0..2 {
            let check = &check;
            scope.spawn(move || seeds(usual).filter(|seed| seed % 2 == half).for_each(check));
        }
    });
}

fn all_options() -> [Options; 5] {
    [
        Options::small(),
        Options::small().strictly_ordered(),
        Options::medium().for_gcc(),
        Options::medium().for_any_machine(),
        Options::large(),
    ]
}

#[test]
fn the_same_seed_gives_the_same_program() {
    for seed in seeds(10) {
        for options in all_options() {
            let one = program(seed, &options);
            let other = program(seed, &options);
            assert_eq!(one.files(), other.files(), "seed {seed}");
            assert_eq!(one.tests(), other.tests(), "seed {seed}");
            assert_ne!(one.files(), program(seed + 1, &options).files(), "seed {seed}");
        }
    }
}

#[test]
fn programs_keep_the_rules() {
    for seed in seeds(60) {
        for options in all_options() {
            let program = program(seed, &options);
            assert!(is_valid(&program), "seed {seed} with {options:?}");
            let unordered = program.constructs().contains(&Construct::UnorderedOperands);
            assert!(!(options.strict_order && unordered), "seed {seed}");
            assert!(program.constructs().is_disjoint(&options.without), "seed {seed}");
        }
    }
}

#[test]
fn every_construct_occurs() {
    let mut missing: BTreeSet<Construct> = Construct::ALL.iter().copied().collect();
    for seed in 0..60 {
        for construct in program(seed, &Options::medium().for_gcc()).constructs() {
            missing.remove(&construct);
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn constructs_can_be_left_out() {
    for construct in Construct::OPTIONAL {
        let options = Options::small().for_gcc().without(&[construct]);
        for seed in 0..3 {
            let mut program = program(seed, &options);
            let mut random = Random::new(seed);
            for _ in 0..3 {
                assert!(!program.constructs().contains(&construct), "{construct:?}, seed {seed}");
                program = edit(&program, &mut random).0;
            }
        }
    }
}

#[track_caller]
fn check_alike(builder: &Builder, program: &generator::Program, compilers: &[Compiler], seed: u64) {
    let expected = builder.outcomes(program, GCC_O0);
    for compiler in compilers.iter().filter(|compiler| build::is_installed(**compiler)) {
        let outcomes = builder.outcomes(program, *compiler);
        assert_eq!(expected, outcomes, "seed {seed} with {compiler:?}");
    }
}

#[test]
fn all_compilers_make_the_same_of_a_program() {
    for_each_seed(4, |seed| {
        let (small, builder) = (Options::small(), Builder::new());
        let (options, compilers): (Options, &[Compiler]) = match seed % 4 {
            0 => (small.strictly_ordered(), &[GCC_O2, CLANG_O0, CLANG_O2, SANITIZED]),
            1 => (small.for_gcc(), &[GCC_O2, DEFINED]),
            2 => (Options { statuses: true, ..small }, &[GCC_O2, CLANG_O0, SANITIZED]),
            _ => (small, &[GCC_O2, CLANG_O0, CLANG_O2, SANITIZED]),
        };
        check_alike(&builder, &program(seed, &options), compilers, seed);
    });
}

#[test]
fn tests_take_different_paths() {
    let builder = Builder::new();
    let program = program(1, &Options::small());
    let outcomes: BTreeSet<_> = builder.outcomes(&program, GCC_O0).into_iter().collect();
    assert!(outcomes.len() * 2 > program.tests().len(), "{outcomes:?}");
}

#[test]
fn edits_without_effect_change_nothing() {
    for_each_seed(4, |seed| {
        let builder = Builder::new();
        let before = program(seed, &Options::small());
        let mut random = Random::new(seed);
        let mut edited = before.clone();
        let mut edits = Vec::new();
        for kind in EditKind::ALL.iter().filter(|kind| kind.effect() == Effect::None) {
            if let Some((next, edit)) = edit_of_kind(*kind, &edited, &mut random) {
                edited = next;
                edits.push(edit);
            }
        }
        assert!(edits.len() > 8, "seed {seed}: {edits:?}");
        let expected = builder.outcomes(&before, GCC_O0);
        assert_eq!(expected, builder.outcomes(&edited, GCC_O0), "seed {seed}: {edits:?}");
    });
}

#[test]
fn every_kind_of_edit_is_found() {
    let mut missing: BTreeSet<EditKind> = EditKind::ALL.iter().copied().collect();
    for seed in 0..8 {
        let program = program(seed, &Options::small());
        let mut random = Random::new(seed);
        missing.retain(|kind| edit_of_kind(*kind, &program, &mut random).is_none());
    }
    assert!(missing.is_empty(), "{missing:?}");
    for kind in EditKind::ALL {
        assert_eq!(EditKind::of_name(&kind.name()), Some(*kind));
    }
}

#[test]
fn edits_follow_one_another() {
    for_each_seed(2, |seed| {
        let builder = Builder::new();
        let mut random = Random::new(seed);
        let mut edited = program(seed, &Options::small());
        for _ in 0..25 {
            edited = edit(&edited, &mut random).0;
        }
        check_alike(&builder, &edited, &[GCC_O2, CLANG_O2, SANITIZED], seed);
    });
}

/// With fewer, kinds could have become edits of nothing.
#[test]
fn edits_with_an_effect_show() {
    let kinds: Vec<EditKind> = EditKind::ALL
        .iter()
        .copied()
        .filter(|kind| kind.effect() == Effect::Maybe && !kind.is_refactoring())
        .collect();
    let shows = |builder: &Builder, kind: EditKind| {
        (0..60).any(|seed| {
            let before = program(seed % 6, &Options::small());
            let mut random = Random::new(seed);
            edit_of_kind(kind, &before, &mut random).is_some_and(|(after, _)| {
                builder.outcomes(&before, GCC_O0) != builder.outcomes(&after, GCC_O0)
            })
        })
    };
    let silent: Vec<EditKind> = std::thread::scope(|scope| {
        let halves: Vec<_> = (0..2)
            .map(|half| {
                let (kinds, shows) = (&kinds, &shows);
                scope.spawn(move || {
                    let builder = Builder::new();
                    let own = kinds.iter().skip(half).step_by(2).copied();
                    own.filter(|kind| !shows(&builder, *kind)).collect::<Vec<_>>()
                })
            })
            .collect();
        halves.into_iter().flat_map(|half| half.join().unwrap()).collect()
    });
    assert!(silent.is_empty(), "{silent:?}");
}
