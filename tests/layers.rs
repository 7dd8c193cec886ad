//! Data flows one way: a stage uses only the stages before it. And the stages
//! that think do no I/O.

use std::path::{Path, PathBuf};

/// The stages in the order of the data flow.
const STAGES: &[&str] = &[
    "bytes",
    "ids",
    "frontend",
    "cfg",
    "instrument",
    "compiler",
    "trace",
    "history",
    "suite",
    "select",
    "report",
    "cli",
];

/// Stages that read no file, start no process and look at no variable.
const PURE: &[&str] = &["frontend", "cfg", "instrument", "select", "report"];

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

fn each_source(mut check: impl FnMut(&str, &Path, &str)) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut checked = 0;
    for file in files {
        let inside = file.strip_prefix(&root).unwrap();
        let stage = inside.components().next().unwrap().as_os_str().to_str().unwrap();
        let stage = stage.trim_end_matches(".rs");
        if STAGES.contains(&stage) {
            checked += 1;
            check(stage, inside, &std::fs::read_to_string(&file).unwrap());
        } else {
            assert!(["lib", "main", "bin"].contains(&stage), "{stage} has no place in the order");
        }
    }
    assert!(checked > 30, "found only {checked} sources");
}

#[test]
fn every_stage_uses_only_those_before_it() {
    each_source(|stage, file, text| {
        let own = STAGES.iter().position(|s| *s == stage).unwrap();
        for (number, line) in text.lines().enumerate() {
            for part in line.split("crate::").skip(1) {
                let used: String =
                    part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if let Some(other) = STAGES.iter().position(|s| *s == used) {
                    assert!(
                        other <= own,
                        "{}:{}: {stage} looks at {used}",
                        file.display(),
                        number + 1
                    );
                }
            }
        }
    });
}

#[test]
fn the_stages_that_think_do_no_io() {
    each_source(|stage, file, text| {
        if PURE.contains(&stage) {
            for word in ["std::fs", "fs_err", "std::process", "std::env", "std::net", "println!"] {
                assert!(!text.contains(word), "{}: {word}", file.display());
            }
        }
    });
}

/// The compiler and the keeper stand for other programs, and say what these would say.
#[test]
fn only_the_printer_prints() {
    each_source(|_, file, text| {
        let name = file.to_str().unwrap();
        let is_allowed = ["cli/printer.rs", "compiler/", "suite/keeper.rs"].iter();
        if !is_allowed.into_iter().any(|allowed| name.starts_with(allowed)) {
            for word in ["print!(", "println!("] {
                assert!(!text.contains(word), "{name}: {word}");
            }
        }
    });
}
