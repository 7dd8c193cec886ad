//! The contents of the files that a unit is made of, as they were when it was preprocessed. A file may be
//! saved between the preprocessor and us: then its content is not the one that is compiled.

use super::preprocess::{self, Job, PreprocessError, Preprocessed, files_of};
use super::project::Project;
use super::text::stamp::{Moment, Stamp};
use crate::bytes;
use crate::ids::Fingerprint;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How often a source is preprocessed or compiled again while its files are being saved.
pub const ROUNDS: usize = 3;

/// What a file was when it was read: its content, and its stamp before that.
#[derive(Clone, Copy, PartialEq, Eq)]
struct File {
    content: Option<Fingerprint>,
    stamp: Option<Stamp>,
}

/// The files of a preprocessed text, by the names that its line markers have.
pub struct Read {
    directory: PathBuf,
    files: BTreeMap<String, File>,
    /// Files whose content need not be the one that was preprocessed.
    doubtful: BTreeSet<String>,
}

/// Preprocesses a source and reads its files. Where one of them may have been saved in between, all is done
/// again until it is the same twice.
pub fn preprocess(
    project: &Project,
    job: &Job,
    extra: &[String],
) -> Result<(Preprocessed, Read), PreprocessError> {
    let began = Moment::now();
    let mut text = preprocess::preprocess(project, job, extra)?;
    let mut read = Read::of(job, &text.text);
    let mut doubtful = read.unsettled(began);
    for _ in 0..ROUNDS {
        if doubtful.is_empty() {
            break;
        }
        let again = preprocess::preprocess(project, job, extra)?;
        let read_again = Read::of(job, &again.text);
        let is_same = text.text == again.text && text.symbolic == again.symbolic;
        if is_same && read.files == read_again.files {
            doubtful.clear();
        } else {
            doubtful = read_again.unsettled(began);
        }
        (text, read) = (again, read_again);
    }
    read.doubtful = doubtful;
    Ok((text, read))
}

impl Read {
    fn of(job: &Job, text: &[u8]) -> Self {
        let directory = job.directory.clone();
        let file = |name: String| {
            let path = directory.join(bytes::path(&name));
            let stamp = Stamp::of(&path);
            let content = std::fs::read(&path).ok().map(|bytes| Fingerprint::of(&bytes));
            (name, File { content, stamp })
        };
        let files = files_of(text).into_iter().map(file).collect();
        Self { directory, files, doubtful: BTreeSet::new() }
    }

    /// Files that may have changed since a moment: their content, or what their names lead to.
    fn unsettled(&self, began: Moment) -> BTreeSet<String> {
        let mut moved: BTreeMap<PathBuf, bool> = BTreeMap::new();
        let mut is_moved = |path: &Path| {
            let mut ancestors = path.ancestors();
            ancestors.any(|place| {
                let known = moved.entry(place.to_path_buf());
                *known.or_insert_with(|| is_moved_since(place, began))
            })
        };
        let files = self.files.iter().filter(|(name, file)| {
            let is_settled = file.stamp.is_some_and(|stamp| stamp.is_settled(began));
            !is_settled || is_moved(&self.directory.join(bytes::path(name)))
        });
        files.map(|(name, _)| name.clone()).collect()
    }

    /// What was in a file when it was preprocessed: nothing if there is no such file, and what no file
    /// has if that is not known.
    pub fn content(&self, name: &str) -> Fingerprint {
        match self.files.get(name) {
            Some(_) if self.doubtful.contains(name) => unknown(),
            Some(file) => file.content.unwrap_or_default(),
            None if self.directory.join(bytes::path(name)).is_file() => unknown(),
            None => Fingerprint::default(),
        }
    }
}

/// Whether a link or a directory may have come to its place since a moment. A directory whose entries
/// change has both times new; one that is moved, only that of its own change.
fn is_moved_since(place: &Path, began: Moment) -> bool {
    let Ok(meta) = place.symlink_metadata() else { return true };
    let stamp = Stamp::of_metadata(&meta);
    match meta.is_dir() {
        true => stamp.is_moved() && !stamp.is_settled(began),
        false => meta.is_symlink() && !stamp.is_settled(began),
    }
}

fn unknown() -> Fingerprint {
    Fingerprint::of(b"the content that was compiled is not known")
}
