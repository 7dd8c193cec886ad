//! The same tests with gcov: each leaves its counters in a directory of its own,
//! and gcov says for each what they mean.

use crate::measure::{Cost, by_threads, capture, measured};
use crate::project::Project;
use anyhow::{Context, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

pub fn run(project: &Project, tests: usize, jobs: usize) -> anyhow::Result<Cost> {
    let scratch = tempfile::tempdir_in(&project.root)?;
    let notes = notes(&project.root.join("src"))?;
    // Counters of a file go to the directory itself, whatever its path is.
    let strip = project.root.join("src").components().count() - 1;
    measured(|| {
        by_threads(jobs, tests, |number| {
            let directory = scratch.path().join(number.to_string());
            fs_err::create_dir(&directory)?;
            let output = scratch.path().join(format!("{number}.out"));
            let mut command = Command::new("/bin/sh");
            command.args(["-c", &project.tests[number]]).current_dir(&project.root);
            command.env("GCOV_PREFIX", &directory).env("GCOV_PREFIX_STRIP", strip.to_string());
            capture(&mut command, &output)?;
            // It looks for its notes beside the counters.
            let mut counters = Vec::new();
            for note in &notes {
                let name = Path::new(note.file_name().context("a name")?);
                fs_err::os::unix::fs::symlink(note, directory.join(name))?;
                let counter = name.with_extension("gcda");
                if directory.join(&counter).exists() {
                    counters.push(counter);
                }
            }
            // Units without code have none.
            ensure!(counters.len() * 10 >= notes.len() * 9, "{} counters", counters.len());
            let mut command = Command::new("gcov");
            command.arg("--json-format").args(&counters).current_dir(&directory);
            capture(&mut command, &output)?;
            ensure!(has_results(&directory)?, "gcov wrote nothing");
            fs_err::remove_dir_all(&directory)?;
            Ok(())
        })
    })
}

fn has_results(directory: &Path) -> anyhow::Result<bool> {
    let mut entries = fs_err::read_dir(directory)?.flatten();
    Ok(entries.any(|entry| entry.file_name().to_string_lossy().ends_with(".gcov.json.gz")))
}

fn notes(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut notes = Vec::new();
    for entry in fs_err::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "gcno") {
            notes.push(path);
        }
    }
    notes.sort();
    Ok(notes)
}
