//! A preprocessor run that tells what it read and where it looked.

use super::seen::{Kind, Seen};
use super::stamp::Moment;
use crate::compiler::inputs::prerequisites;
use crate::compiler::named;
use crate::compiler::preprocess::{self, Job, PreprocessError, Preprocessed};
use crate::compiler::project::Project;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// All that the text of a unit depends on, beside what was asked.
#[derive(Debug, Default)]
pub struct Grounds {
    pub files: Vec<PathBuf>,
    pub directories: BTreeSet<PathBuf>,
    /// Places at which something is that was not read: it must stay so.
    pub places: BTreeSet<PathBuf>,
    /// Names of files that the arguments include.
    pub names: Vec<String>,
}

/// What compilers include without being told to, if it is there.
const UNASKED: &str = "stdc-predef.h";

/// Preprocesses a source, as [`preprocess::preprocess`] does. With `names` of
/// what the arguments include, it also tells what the text depends on, as long
/// as that can be known and was settled when all began. `expects_symbols` saves
/// time where it is right, and nothing else.
pub fn observe(
    project: &Project,
    job: &Job,
    seen: &Seen,
    began: Moment,
    names: Option<&[String]>,
    expects_symbols: bool,
) -> Result<(Preprocessed, Option<Grounds>), PreprocessError> {
    let rules = names.and_then(|_| tempfile::NamedTempFile::new().ok());
    let mut extra: Vec<OsString> = Vec::new();
    if let Some(rules) = &rules {
        extra.extend(["-v", "-MD", "-MF"].map(OsString::from));
        extra.push(rules.path().into());
    }
    let mut command = preprocess::command(job, extra.into_iter());
    // What it says of itself is read.
    command.env("LANGUAGE", "C");
    let (output, symbolic) = if expects_symbols {
        let run = || preprocess::output(job, command);
        let both = rayon::join(run, || preprocess::symbolic(project, job));
        (both.0?, Some(both.1?))
    } else {
        (preprocess::output(job, command)?, None)
    };
    if !output.status.success() {
        // Its own words, without ours among them.
        return preprocess::preprocess(project, job, &[]).map(|text| (text, None));
    }
    let text = output.stdout;
    // What asm takes in is no part of the text, and yet of the unit.
    let rules = rules.filter(|_| !named::takes_files(&text));
    let grounds = rules.zip(names).and_then(|(rules, names)| {
        let rules = std::fs::read_to_string(rules.path()).ok()?;
        let said = String::from_utf8_lossy(&output.stderr);
        grounds(job, seen, began, &rules, &searched(&said)?, names)
    });
    let names_symbol = |path: &Path| seen.file(path).is_none_or(|file| file.told.names_symbol);
    let symbolic = match symbolic {
        Some(symbolic) => symbolic,
        None if preprocess::may_have_symbols(project, job, &text, &names_symbol) => {
            preprocess::symbolic(project, job)?
        }
        None => None,
    };
    Ok((Preprocessed { text, symbolic, messages: Vec::new() }, grounds))
}

/// Directories in which the preprocessor says it looks, also those that are not
/// there.
fn searched(said: &str) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let mut is_list = false;
    let mut ended = false;
    for line in said.lines() {
        if line.starts_with("#include ") && line.ends_with("search starts here:") {
            is_list = true;
        } else if line == "End of search list." {
            ended = is_list;
            is_list = false;
        } else if is_list {
            found.push(line.strip_prefix(' ')?);
        } else if let Some(rest) = line.strip_prefix("ignoring nonexistent directory \"") {
            found.push(rest.strip_suffix('"')?);
        }
    }
    ended.then_some(found)
}

fn grounds(
    job: &Job,
    seen: &Seen,
    began: Moment,
    rules: &str,
    searched: &[&str],
    included: &[String],
) -> Option<Grounds> {
    let spelled = prerequisites(rules);
    let files: Vec<PathBuf> = spelled.iter().map(|name| job.directory.join(name)).collect();
    let mut bases: BTreeSet<PathBuf> =
        searched.iter().map(|name| job.directory.join(name)).collect();
    bases.insert(job.directory.clone());
    let mut wanted = Names::default();
    wanted.add(UNASKED);
    included.iter().for_each(|name| wanted.add(name));
    let read: Vec<_> = files.iter().map(|path| seen.file(path)).collect::<Option<_>>()?;
    for (file, name) in read.iter().zip(&spelled) {
        if file.told.is_fickle || !file.stamp.is_settled(began) {
            return None;
        }
        file.told.names.iter().for_each(|name| wanted.add(name));
        // However it was asked for, what was asked ends its path.
        wanted.add(name);
        for (at, _) in name.match_indices('/') {
            wanted.add(&name[at + 1..]);
        }
    }
    bases.extend(files.iter().filter_map(|path| path.parent()).map(Path::to_path_buf));
    let mut grounds = Grounds { names: included.to_vec(), ..Grounds::default() };
    let are_read: FxHashSet<&Path> = files.iter().map(PathBuf::as_path).collect();
    for base in &bases {
        watch(seen, base, &wanted, &are_read, &mut grounds);
    }
    let is_settled = |path: &PathBuf| {
        seen.directory(path).is_none_or(|directory| directory.stamp.is_settled(began))
    };
    grounds.directories.iter().all(is_settled).then_some(())?;
    grounds.files = files;
    Some(grounds)
}

/// Names to look for, by their first part. Behind it either nothing or more.
#[derive(Default)]
struct Names<'n> {
    by_first: FxHashMap<&'n str, (bool, FxHashSet<&'n str>)>,
}

impl<'n> Names<'n> {
    fn add(&mut self, name: &'n str) {
        let name = name.trim_start_matches('/');
        let (first, rest) = match name.split_once('/') {
            Some((first, rest)) => (first, rest.trim_start_matches('/')),
            None => (name, ""),
        };
        let entry = self.by_first.entry(first).or_default();
        if rest.is_empty() {
            entry.0 = true;
        } else {
            entry.1.insert(rest);
        }
    }
}

/// Notes a directory, and those below it that names lead to.
fn watch(
    seen: &Seen,
    path: &Path,
    names: &Names<'_>,
    are_read: &FxHashSet<&Path>,
    grounds: &mut Grounds,
) {
    grounds.directories.insert(path.to_path_buf());
    let Some(directory) = seen.directory(path) else { return };
    let mut there = |first: &str, kind: Kind, (ends, rests): &(bool, FxHashSet<&str>)| {
        let below = path.join(first);
        if *ends && kind != Kind::Directory && !are_read.contains(below.as_path()) {
            grounds.places.insert(below.clone());
        }
        if !rests.is_empty() && matches!(kind, Kind::Directory | Kind::Link) {
            let mut names = Names::default();
            rests.iter().for_each(|rest| names.add(rest));
            watch(seen, &below, &names, are_read, grounds);
        }
    };
    // The shorter of the two lists is gone through.
    if directory.entries.len() < names.by_first.len() {
        for (entry, kind) in &directory.entries {
            if let Some(wanted) = names.by_first.get(entry.as_str()) {
                there(entry, *kind, wanted);
            }
        }
        for dots in [".", ".."] {
            if let Some(wanted) = names.by_first.get(dots) {
                there(dots, Kind::Directory, wanted);
            }
        }
    } else {
        for (first, wanted) in &names.by_first {
            let kind = match *first {
                "." | ".." => Some(Kind::Directory),
                _ => directory.entries.get(*first).copied(),
            };
            if let Some(kind) = kind {
                there(first, kind, wanted);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_that_are_searched_are_read_from_what_gcc_says() {
        let said = "Using built-in specs.\nignoring nonexistent directory \"/x\"\n\
                    #include \"...\" search starts here:\n q\n#include <...> search starts here:\n \
                    /usr/include\nEnd of search list.\n";
        assert_eq!(searched(said).unwrap(), ["/x", "q", "/usr/include"]);
        assert_eq!(searched("nothing of the kind"), None);
    }
}
