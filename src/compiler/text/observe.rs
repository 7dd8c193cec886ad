//! A preprocessor run that tells what it read and where it looked.

use super::seen::{Kind, Seen};
use super::stamp::{Identity, Moment, Stamp};
use crate::bytes;
use crate::compiler::inputs::prerequisites;
use crate::compiler::named;
use crate::compiler::options;
use crate::compiler::preprocess::{self, Job, PreprocessError, Preprocessed};
use crate::compiler::project::Project;
use crate::compiler::vouched;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// All that the text of a unit depends on, beside what was asked.
#[derive(Debug, Default)]
pub struct Grounds {
    pub files: Vec<PathBuf>,
    pub directories: BTreeSet<PathBuf>,
    /// Places with what is there and was not read: it must stay so.
    pub places: BTreeMap<PathBuf, Option<Identity>>,
    /// Names of files that the arguments include.
    pub names: Vec<String>,
}

/// In a directory that changes all the time, as many names are looked at one by one.
const FEW: usize = 16;

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
    vouched::check(project, job, &text)?;
    if options::may_choose_otherwise(job, &text) {
        return Err(PreprocessError::Options);
    }
    // What asm takes in is no part of the text, and yet of the unit.
    let rules = rules.filter(|_| !named::takes_files(&text));
    let grounds = rules.zip(names).and_then(|(rules, names)| {
        let rules = std::fs::read(rules.path()).ok()?;
        let said = bytes::to_text(&output.stderr);
        grounds(job, seen, began, &bytes::to_text(&rules), &searched(&said)?, names)
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
    let files: Vec<PathBuf> =
        spelled.iter().map(|name| job.directory.join(bytes::path(name))).collect();
    let mut bases: BTreeSet<PathBuf> =
        searched.iter().map(|name| job.directory.join(bytes::path(name))).collect();
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
    let mut watch = Watch { seen, began, are_read: &are_read, grounds: &mut grounds };
    bases.iter().all(|base| watch.directory(base, &wanted)).then_some(())?;
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

/// Gathers the places where names are looked for.
struct Watch<'w> {
    seen: &'w Seen,
    began: Moment,
    are_read: &'w FxHashSet<&'w Path>,
    grounds: &'w mut Grounds,
}

impl Watch<'_> {
    /// A directory, and those below it that names lead to. False if it may have
    /// changed while it was searched.
    fn directory(&mut self, path: &Path, names: &Names<'_>) -> bool {
        let Some(directory) = self.seen.directory(path) else {
            self.grounds.directories.insert(path.to_path_buf());
            return true;
        };
        let is_settled = directory.stamp.is_settled(self.began);
        if is_settled {
            self.grounds.directories.insert(path.to_path_buf());
        } else if names.by_first.len() > FEW {
            return false;
        }
        // The shorter of the two lists is gone through.
        if is_settled && directory.entries.len() < names.by_first.len() {
            let dots = [".", ".."].map(|dots| (dots, Kind::Directory));
            let entries = directory.entries.iter().map(|(name, kind)| (name.as_str(), *kind));
            return entries.chain(dots).all(|(name, kind)| match names.by_first.get(name) {
                Some(wanted) => self.entry(&path.join(bytes::path(name)), kind, wanted),
                None => true,
            });
        }
        names.by_first.iter().all(|(first, wanted)| {
            let kind = match *first {
                "." | ".." => Some(Kind::Directory),
                _ => directory.entries.get(*first).copied(),
            };
            let below = path.join(bytes::path(first));
            is_settled && kind.is_none()
                || (is_settled || self.place(&below))
                    && kind.is_none_or(|kind| self.entry(&below, kind, wanted))
        })
    }

    /// Notes what is at a place. False if it may have come while it was looked
    /// for. What is not there now was not there then.
    fn place(&mut self, path: &Path) -> bool {
        let stamp = Stamp::of(path);
        self.grounds.places.insert(path.to_path_buf(), stamp.map(|stamp| stamp.identity()));
        !path.is_symlink() && stamp.is_none_or(|stamp| stamp.is_settled(self.began))
    }

    /// Something that has a name that is looked for.
    fn entry(&mut self, below: &Path, kind: Kind, (ends, rests): &(bool, FxHashSet<&str>)) -> bool {
        if *ends && kind != Kind::Directory && !self.are_read.contains(below) {
            let there = Stamp::of(below).map(|stamp| stamp.identity());
            self.grounds.places.insert(below.to_path_buf(), there);
        }
        if rests.is_empty() || !matches!(kind, Kind::Directory | Kind::Link) {
            return true;
        }
        let mut names = Names::default();
        rests.iter().for_each(|rest| names.add(rest));
        self.directory(below, &names)
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
