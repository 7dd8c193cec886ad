//! Notes of preprocessor runs, and whether they still hold.

use super::names::Told;
use super::observe::Grounds;
use super::seen::{Directory, Kind, Seen, SeenFile};
use super::stamp::{Identity, Moment, Stamp};
use crate::ids::Fingerprint;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What is known of texts, as it is kept.
#[derive(Default, Serialize, Deserialize)]
pub struct Notes {
    files: Vec<FileNote>,
    directories: Vec<DirectoryNote>,
    places: Vec<PlaceNote>,
    units: FxHashMap<Fingerprint, UnitNote>,
    /// Whether the text of a unit had symbols, also where its note does not hold
    /// any more.
    symbolic: FxHashMap<Fingerprint, bool>,
    /// Units whose notes do not hold now. They may hold again, once an edit is
    /// undone.
    #[serde(skip)]
    failing: FxHashSet<Fingerprint>,
    #[serde(skip)]
    is_new: bool,
}

#[derive(Clone, Serialize, Deserialize)]
struct FileNote {
    path: PathBuf,
    stamp: Stamp,
    content: Fingerprint,
    /// The names that it includes, a line each.
    names: String,
    may_be_once: bool,
    names_symbol: bool,
}

#[derive(Clone, Serialize, Deserialize)]
struct DirectoryNote {
    path: PathBuf,
    /// None if there was no such directory.
    stamp: Option<Stamp>,
    /// In order.
    entries: Vec<(String, Kind)>,
}

#[derive(Clone, Serialize, Deserialize)]
struct PlaceNote {
    path: PathBuf,
    there: Option<Identity>,
}

#[derive(Clone, Serialize, Deserialize)]
struct UnitNote {
    /// Its fingerprint.
    unit: Fingerprint,
    files: Vec<u32>,
    directories: Vec<u32>,
    places: Vec<u32>,
    /// The names that its command includes, a line each.
    names: String,
}

/// A run that is to be noted.
pub struct Noted {
    /// What was asked, if the answer may be noted.
    pub id: Option<Fingerprint>,
    /// The fingerprint of the unit that came out.
    pub unit: Fingerprint,
    pub has_symbols: bool,
    /// None if the note would not be sure to hold.
    pub grounds: Option<Grounds>,
}

/// What became of something that was noted.
enum Now<T> {
    Same,
    /// Its stamp is another one, and it is settled, perhaps.
    Touched(Option<T>),
    Different,
}

impl Notes {
    /// The unit that was asked for, if it is what it was.
    pub fn unit(&self, id: Fingerprint) -> Option<Fingerprint> {
        self.units.get(&id).filter(|_| !self.failing.contains(&id)).map(|unit| unit.unit)
    }

    /// Whether every number is in range; false only if the file was tampered with.
    pub fn is_sound(&self) -> bool {
        let within = |numbers: &[u32], all: usize| numbers.iter().all(|n| (*n as usize) < all);
        self.units.values().all(|unit| {
            within(&unit.files, self.files.len())
                && within(&unit.directories, self.directories.len())
                && within(&unit.places, self.places.len())
        })
    }

    pub fn expects_symbols(&self, id: Fingerprint) -> bool {
        self.symbolic.get(&id).copied().unwrap_or(false)
    }

    /// Whether there is anything to be kept that was not read.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Finds out which notes hold.
    pub fn review(&mut self, began: Moment) {
        let files: Vec<Now<Stamp>> =
            self.files.par_iter().with_min_len(64).map(|file| file.now(began)).collect();
        let directories: Vec<Change> =
            self.directories.par_iter().with_min_len(16).map(|note| note.now(began)).collect();
        let places: Vec<bool> = self
            .places
            .iter()
            .map(|place| place.there == Stamp::of(&place.path).map(|stamp| stamp.identity()))
            .collect();
        let is_quiet = files.iter().all(|file| matches!(file, Now::Same))
            && directories.iter().all(|directory| matches!(directory.now, Now::Same))
            && places.iter().all(|same| *same);
        if is_quiet {
            return;
        }
        self.is_new = true;
        let all = &self.files;
        let holds = |unit: &UnitNote| {
            let may_be_once = || unit.files.iter().any(|file| all[*file as usize].may_be_once);
            unit.files.iter().all(|file| match files[*file as usize] {
                Now::Same => true,
                Now::Touched(_) => !may_be_once(),
                Now::Different => false,
            }) && unit.places.iter().all(|place| places[*place as usize])
                && unit.directories.iter().all(|directory| {
                    let change = &directories[*directory as usize];
                    matches!(change.now, Now::Same)
                        || change.names.iter().all(|name| !unit.may_look_for(name, all))
                })
        };
        let failing = self.units.iter().filter(|(_, unit)| !holds(unit)).map(|(id, _)| *id);
        self.failing = failing.collect();
        // What holds, holds for the new stamps as well; what does not still needs
        // what it was noted with.
        let failing = self.failing.iter().filter_map(|id| self.units.get(id));
        let kept: FxHashSet<u32> =
            failing.flat_map(|unit| unit.directories.iter().copied()).collect();
        for (file, now) in self.files.iter_mut().zip(files) {
            if let Now::Touched(Some(stamp)) = now {
                file.stamp = stamp;
            }
        }
        for (number, change) in (0..).zip(directories) {
            if let Now::Touched(Some(new)) = change.now
                && !kept.contains(&number)
            {
                self.directories[number as usize] = new;
            }
        }
    }

    /// What need not be read again, after a review.
    pub fn seen(&self) -> Seen {
        let seen = Seen::default();
        for file in &self.files {
            // One that was touched may have a note that is not of its stamp.
            if Stamp::of(&file.path) != Some(file.stamp) {
                continue;
            }
            let told = Told {
                names: file.names.lines().map(String::from).collect(),
                is_fickle: false,
                may_be_once: file.may_be_once,
                names_symbol: file.names_symbol,
            };
            let known = SeenFile { stamp: file.stamp, content: file.content, told };
            seen.know_file(&file.path, known);
        }
        for directory in &self.directories {
            let stamp = directory.stamp.filter(|then| Stamp::of(&directory.path) == Some(*then));
            if let Some(stamp) = stamp {
                let entries = directory.entries.iter().cloned().collect();
                seen.know_directory(&directory.path, Directory { stamp, entries });
            }
        }
        seen
    }

    /// Adds notes of runs. What was seen meanwhile must still be so: otherwise a
    /// run may have read something else than what was seen.
    pub fn add(&mut self, runs: Vec<Noted>, seen: &Seen) {
        let mut tables = Tables::of(self, seen);
        for run in runs {
            let Some(id) = run.id else { continue };
            self.is_new |= self.symbolic.insert(id, run.has_symbols) != Some(run.has_symbols);
            let Some(grounds) = run.grounds else { continue };
            if let Some(unit) = tables.unit(self, &grounds, run.unit) {
                self.is_new = true;
                self.failing.remove(&id);
                self.units.insert(id, unit);
            }
        }
        self.compact();
    }

    /// Forgets what no unit rests on.
    fn compact(&mut self) {
        fn keep<T: Clone>(all: &mut Vec<T>, used: impl Iterator<Item = u32>) -> Vec<u32> {
            let mut numbers = vec![u32::MAX; all.len()];
            let mut kept = Vec::new();
            for old in used {
                if numbers[old as usize] == u32::MAX {
                    numbers[old as usize] = kept.len() as u32;
                    kept.push(all[old as usize].clone());
                }
            }
            *all = kept;
            numbers
        }
        let units = || self.units.values();
        let files = keep(&mut self.files, units().flat_map(|unit| unit.files.iter().copied()));
        let directories =
            keep(&mut self.directories, units().flat_map(|unit| unit.directories.iter().copied()));
        let places = keep(&mut self.places, units().flat_map(|unit| unit.places.iter().copied()));
        for unit in self.units.values_mut() {
            unit.files.iter_mut().for_each(|file| *file = files[*file as usize]);
            unit.directories.iter_mut().for_each(|at| *at = directories[*at as usize]);
            unit.places.iter_mut().for_each(|place| *place = places[*place as usize]);
        }
    }
}

impl UnitNote {
    /// Whether a name is a part of anything that the unit may look for.
    fn may_look_for(&self, name: &str, files: &[FileNote]) -> bool {
        let has = |names: &str| names.split(['\n', '/']).any(|part| part == name);
        name == "stdc-predef.h"
            || has(&self.names)
            || self.files.iter().map(|file| &files[*file as usize]).any(|file| {
                has(&file.names) || file.path.components().any(|part| part.as_os_str() == name)
            })
    }
}

impl FileNote {
    fn now(&self, began: Moment) -> Now<Stamp> {
        let Some(stamp) = Stamp::of(&self.path) else { return Now::Different };
        if stamp == self.stamp {
            return Now::Same;
        }
        if !stamp.is_file() {
            return Now::Different;
        }
        match std::fs::read(&self.path) {
            Ok(bytes) if Fingerprint::of(&bytes) == self.content => {
                Now::Touched(stamp.is_settled(began).then_some(stamp))
            }
            _ => Now::Different,
        }
    }
}

/// What became of a directory: names that came, went, or are something else.
struct Change {
    now: Now<DirectoryNote>,
    names: Vec<String>,
}

impl DirectoryNote {
    fn of(path: &Path, directory: Option<&Directory>) -> Self {
        let mut entries: Vec<(String, Kind)> = directory
            .iter()
            .flat_map(|directory| {
                directory.entries.iter().map(|(name, kind)| (name.clone(), *kind))
            })
            .collect();
        entries.sort_unstable();
        Self { path: path.to_path_buf(), stamp: directory.map(|d| d.stamp), entries }
    }

    fn now(&self, began: Moment) -> Change {
        let stamp = Stamp::of(&self.path).filter(Stamp::is_directory);
        if stamp == self.stamp {
            return Change { now: Now::Same, names: Vec::new() };
        }
        let new = Self::of(&self.path, Directory::read(&self.path).as_ref());
        let then: FxHashSet<&(String, Kind)> = self.entries.iter().collect();
        let since: FxHashSet<&(String, Kind)> = new.entries.iter().collect();
        let names = then.symmetric_difference(&since).map(|(name, _)| name.clone()).collect();
        let is_settled = new.stamp.is_none_or(|stamp| stamp.is_settled(began));
        // The stamp that was looked at first is the one that the entries are of.
        let new = (is_settled && new.stamp == stamp).then_some(new);
        Change { now: Now::Touched(new), names }
    }
}

/// Numbers of files and directories while notes are added: of those that are
/// noted, and then, for those that runs went by, whether the note is of what
/// they saw.
struct Tables<'s> {
    seen: &'s Seen,
    noted_files: FxHashMap<PathBuf, u32>,
    noted_directories: FxHashMap<PathBuf, u32>,
    files: FxHashMap<PathBuf, Option<u32>>,
    directories: FxHashMap<PathBuf, Option<u32>>,
    places: FxHashMap<(PathBuf, Option<Identity>), u32>,
}

impl<'s> Tables<'s> {
    fn of(notes: &Notes, seen: &'s Seen) -> Self {
        let places = (0..).zip(&notes.places);
        let files = (0..).zip(&notes.files);
        let directories = (0..).zip(&notes.directories);
        Self {
            seen,
            noted_files: files.map(|(number, file)| (file.path.clone(), number)).collect(),
            noted_directories: directories.map(|(n, note)| (note.path.clone(), n)).collect(),
            files: FxHashMap::default(),
            directories: FxHashMap::default(),
            places: places.map(|(n, place)| ((place.path.clone(), place.there), n)).collect(),
        }
    }

    fn unit(
        &mut self,
        notes: &mut Notes,
        grounds: &Grounds,
        unit: Fingerprint,
    ) -> Option<UnitNote> {
        let files = grounds.files.iter().map(|path| self.file(notes, path));
        let files = files.collect::<Option<_>>()?;
        let directories = grounds.directories.iter().map(|path| self.directory(notes, path));
        let directories = directories.collect::<Option<_>>()?;
        let places = grounds.places.iter().map(|(path, there)| {
            *self.places.entry((path.clone(), *there)).or_insert_with(|| {
                notes.places.push(PlaceNote { path: path.clone(), there: *there });
                notes.places.len() as u32 - 1
            })
        });
        let places = places.collect();
        let names = grounds.names.join("\n");
        Some(UnitNote { unit, files, directories, places, names })
    }

    fn file(&mut self, notes: &mut Notes, path: &Path) -> Option<u32> {
        if let Some(known) = self.files.get(path) {
            return *known;
        }
        let seen = self.seen.file(path)?;
        let noted = self.noted_files.get(path).copied();
        let noted = noted.filter(|number| notes.files[*number as usize].stamp == seen.stamp);
        let is_still_so = Stamp::of(path) == Some(seen.stamp);
        let number = is_still_so.then(|| {
            noted.unwrap_or_else(|| {
                notes.files.push(FileNote {
                    path: path.to_path_buf(),
                    stamp: seen.stamp,
                    content: seen.content,
                    names: seen.told.names.join("\n"),
                    may_be_once: seen.told.may_be_once,
                    names_symbol: seen.told.names_symbol,
                });
                notes.files.len() as u32 - 1
            })
        });
        self.files.insert(path.to_path_buf(), number);
        number
    }

    fn directory(&mut self, notes: &mut Notes, path: &Path) -> Option<u32> {
        if let Some(known) = self.directories.get(path) {
            return *known;
        }
        let seen = self.seen.directory(path);
        let now = Stamp::of(path).filter(Stamp::is_directory);
        let stamp = seen.as_ref().map(|seen| seen.stamp);
        let noted = self.noted_directories.get(path).copied();
        let noted = noted.filter(|number| notes.directories[*number as usize].stamp == stamp);
        let number = (now == stamp).then(|| {
            noted.unwrap_or_else(|| {
                notes.directories.push(DirectoryNote::of(path, seen.as_deref()));
                notes.directories.len() as u32 - 1
            })
        });
        self.directories.insert(path.to_path_buf(), number);
        number
    }
}
