//! All tests, as one program: sixty of them take longer to link than to run, and the
//! last test of each would keep a core waiting.

mod support;

mod arguments;
mod bad_input;
mod builds;
mod calls;
mod cases;
mod changes;
mod commands;
mod compiler_trouble;
mod doctor;
mod entries;
mod exact;
mod exclude;
mod explain;
mod explain_lines;
mod family;
mod files;
mod formats;
mod gaps;
mod generator;
mod granularity;
mod graphs;
mod history;
mod interposed;
mod kills;
mod labels;
mod large;
mod lasting;
mod lasting_outputs;
mod layers;
mod lazy;
mod libraries_names;
mod listed;
mod machines;
mod manual;
mod misses;
mod misses_attributes;
mod misses_cases;
mod misses_files;
mod misses_harness;
mod misses_link;
mod misses_lookups;
mod misses_names;
mod misses_saved;
mod misses_stale;
mod misses_text;
mod misses_weak;
mod not_c;
mod not_parsed;
mod oracle;
mod outputs;
mod papers;
mod paths;
mod reachability;
mod recover;
mod report;
mod reproducible;
mod rtscheck;
mod rules;
mod scale;
mod security;
mod shadow;
mod shells;
mod snapshots;
mod suites;
mod survival;
mod terminal;
mod told_once;
mod traces;
mod trouble;
mod unseen;
mod updates;
mod uses;
mod versions;
mod warnings;
mod wiped;
mod workflows;

/// What is not named above would never run, and nobody would notice.
#[test]
fn every_file_of_tests_is_part_of_this_program() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let named: Vec<&str> = include_str!("main.rs").lines().collect();
    let mut found = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(name) = name.strip_suffix(".rs").filter(|name| *name != "main") {
            assert!(named.contains(&&*format!("mod {name};")), "tests/{name}.rs is not in main.rs");
            found += 1;
        }
    }
    assert!(found > 50, "found only {found} files");
}
