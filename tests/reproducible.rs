//! Identical input, identical bytes.

use crate::support::{Project, sample};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Objects, archives and programs below a directory.
fn built(directory: &Path, into: &mut BTreeMap<String, Vec<u8>>, prefix: &str) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().unwrap().is_dir() {
            built(&entry.path(), into, &format!("{name}/"));
        } else {
            into.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
}

fn build(with_edgewise: bool) -> (Project, BTreeMap<String, Vec<u8>>) {
    let project = sample();
    let status = if with_edgewise {
        project.command().args(["build", "--", "make", "-s", "-j4"]).status()
    } else {
        Command::new("make").current_dir(project.root()).args(["-s", "-j4"]).status()
    };
    assert!(status.unwrap().success());
    let mut files = BTreeMap::new();
    built(&project.path("build"), &mut files, "");
    (project, files)
}

#[test]
fn two_parallel_builds_in_two_directories_are_the_same_wherever_plain_ones_are() {
    let (_, plain_a) = build(false);
    let (_, plain_b) = build(false);
    let (_, ours_a) = build(true);
    let (_, ours_b) = build(true);
    let mut compared = 0;
    for (name, bytes) in &plain_a {
        if plain_b.get(name) == Some(bytes) {
            assert!(ours_a[name] == ours_b[name], "{name} differs between two builds");
            compared += 1;
        }
    }
    assert!(compared >= 12, "only {compared} of {} files are comparable", plain_a.len());
}

#[test]
fn a_history_works_in_another_directory() {
    let first = sample();
    first.record();
    let second = Project::empty();
    crate::support::copy(first.root(), second.root());
    drop(first);
    assert!(second.selected().is_empty());
    second.edit("lib/stats.c", "(values[middle - 1] + values[middle]) / 2.0", "0.5");
    assert_eq!(second.selected(), ["median-even", "stats-even", "stats-tabs"]);
}
