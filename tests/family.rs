//! The algorithms beside each other, on generated programs and their edits: each
//! selects no more than the coarser one, and whoever takes another path is
//! selected by all of them.
//!
//! `EDGEWISE_SEEDS=N` looks at N programs instead of a few, `A..B` at a part of them.

use crate::support::generator;

use crate::support::Project;
use generator::{Options, Random, edit, program, seeds};
use std::collections::BTreeSet;

/// How many programs are looked at unless somebody asks for more.
const USUAL: u64 = 8;
/// Edits of one program, one behind the other.
const EDITS: usize = 4;

/// From the sharpest to the coarsest.
const FAMILY: [&str; 8] = ["path", "valid", "full", "partial", "rh", "procedure", "file", "all"];

fn write(project: &Project, program: &generator::Program) {
    for (name, text) in program.files() {
        project.write(&name, &text);
    }
}

/// A project with a log of nodes and counted entries, so that all algorithms
/// have what they need.
fn recorded(program: &generator::Program) -> Project {
    let project = Project::empty();
    write(&project, program);
    let sources = program.sources().join(" ");
    let make = format!("prog: {sources}\n\t$(CC) -std=gnu11 -w -O1 -o prog {sources} -lm\n");
    project.write("Makefile", &make);
    project.write_config();
    let config = project.read("edgewise.toml")
        + "[instrument]\ngranularity = \"path\"\ncount-entries = true\n";
    project.write("edgewise.toml", &config);
    let mut list = String::new();
    let tests = program.tests();
    for (name, arguments) in &tests {
        // Their exit status is theirs.
        list.push_str(&format!("{name} ./prog {arguments}; true\n"));
    }
    // Several entries of everything, and one that is killed wherever it is.
    let all = tests.iter().map(|(_, arguments)| format!("./prog {arguments};"));
    list.push_str(&format!("together {} true\n", all.collect::<String>()));
    list.push_str(&format!("killed timeout -s KILL 0.004 ./prog {}; true\n", tests[0].1));
    project.write("tests.list", &list);
    project.record();
    project
}

fn selected(project: &Project, algorithm: &str) -> BTreeSet<String> {
    let names = project.ok(&["select", "--algorithm", algorithm]);
    names.lines().map(String::from).collect()
}

fn check_seed(seed: u64) -> usize {
    let options = Options::small().for_gcc().strictly_ordered();
    let mut program = program(seed, &options);
    let project = recorded(&program);
    let mut random = Random::new(seed);
    let mut differing = 0;
    for _ in 0..EDITS {
        let (edited, kind) = edit(&program, &mut random);
        program = edited;
        write(&project, &program);
        let answers = FAMILY.map(|algorithm| (algorithm, selected(&project, algorithm)));
        for pair in answers.windows(2) {
            let [(sharp, fewer), (coarse, more)] = pair else { unreachable!() };
            let missing: Vec<_> = fewer.difference(more).collect();
            let what = format!("seed {seed}, {kind:?}: {sharp} selects and {coarse} does not");
            assert!(missing.is_empty(), "{what}: {missing:?}");
        }
        let between = |algorithm: &str, sharp: usize, coarse: usize| {
            let answer = selected(&project, algorithm);
            let title = format!("seed {seed}, {kind:?}: {algorithm}");
            assert!(answers[sharp].1.is_subset(&answer), "{title} misses one of {}", FAMILY[sharp]);
            assert!(answer.is_subset(&answers[coarse].1), "{title}: more than {}", FAMILY[coarse]);
        };
        between("auto", 0, 4);
        between("rh-intra", 4, 5);
        differing += answers.windows(2).filter(|pair| pair[0].1 != pair[1].1).count();
    }
    differing
}

#[test]
fn each_selects_no_more_than_the_coarser_one() {
    let (mut pairs, mut differing) = (0, 0);
    for seed in seeds(USUAL) {
        differing += check_seed(seed);
        pairs += EDITS;
        if pairs % 100 == 0 {
            println!("{pairs} pairs, {differing} times one selected fewer than the next");
        }
    }
    assert!(differing > 0, "they never differed");
    println!("{pairs} pairs, {differing} times one selected fewer than the next");
}
