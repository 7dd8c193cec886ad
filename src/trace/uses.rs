//! Which files of the project the processes of a test used, as the preloaded
//! library noted it. `instrument-runtime/files/uses_format.h` is the
//! definition of the log; a test holds the two together.

use crate::bytes;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The log, in the trace directory; and what found no room in it.
const LOG_NAME: &str = "files";
const MORE_NAME: &str = "files.more";
/// Written by who starts the first process: its number.
const FIRST_NAME: &str = "files.first";
/// Why there is no log.
const OFF_NAME: &str = "files.off";

const MAGIC: &[u8; 8] = b"EDGWUSE1";
const HEAD: usize = 80;
const RECORD_HEAD: usize = 16;
const COMPLETE: u32 = 1;
/// Bytes of records: those of most tests are not more.
const READ_AT_ONCE: u64 = 8 << 10;

const READ: u16 = 1;
const WRITTEN: u16 = 2;
const LOOKED_FOR: u16 = 3;
const LISTED: u16 = 4;
const EXECUTED: u16 = 5;
const COMPILED: u16 = 6;
const DESCRIBED: u16 = 7;
const SOUGHT: u16 = 8;
const CACHED: u16 = 9;
const GLOBBED: u16 = 10;
const TOLD: u16 = 11;
const PATTERN: u16 = 12;
const PATTERN_OF_MAKE: u16 = 13;
const SEVERAL_NAMES: u16 = 14;
const APPENDED: u16 = 15;
const INCLUDED: u16 = 22;
const EXEC: u16 = 16;
const SPAWN: u16 = 17;
const SPAWNED: u16 = 18;
const RETURNED: u16 = 19;
const LOADED: u16 = 20;
const MARK: u16 = 21;
const UNSEEN: u16 = 64;

/// A process was killed, or jumped away, while it noted something.
const CUT: &[u8] = b"a process was interrupted while it noted a file";

/// Where git keeps what it knows.
const GIT: &str = ".git";
/// Directories in the root of a project that hold no files of it: its repository, and what is
/// known of it. Below other directories these names are fixtures like any other.
pub const SKIPPED: &[&str] = &[GIT, ".hg", ".svn", ".edgewise"];

/// The files that the processes of a test used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uses {
    /// Below the root of the project, by absolute path.
    pub files: BTreeMap<PathBuf, Use>,
    /// Programs that were executed by an absolute path, wherever they are.
    pub programs: BTreeSet<PathBuf>,
    /// What they asked `glob()` for, by absolute path.
    pub patterns: BTreeSet<Pattern>,
    /// Directories that shells and their like listed, with the arguments of these.
    pub listings: BTreeSet<Listing>,
    /// They asked for what git knows of the project.
    pub asks_git: bool,
    /// Why some uses may be missing, if so.
    pub incomplete: Option<String>,
}

/// A pattern that `glob()` was asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pattern {
    pub path: PathBuf,
    pub is_of_make: bool,
}

/// A directory that a process listed whose arguments may tell which names it looks for there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listing {
    pub directory: PathBuf,
    /// Where the process was when it listed it.
    pub working_directory: PathBuf,
    /// Where it was when it began.
    pub start_directory: PathBuf,
    /// Variables of its environment whose values have characters of patterns; `*` if these are too
    /// many to be noted.
    pub variables: BTreeSet<String>,
    pub arguments: Vec<Vec<u8>>,
}

impl Default for Uses {
    fn default() -> Self {
        Self {
            files: BTreeMap::new(),
            programs: BTreeSet::new(),
            patterns: BTreeSet::new(),
            listings: BTreeSet::new(),
            asks_git: false,
            incomplete: Some(String::from("no file use was recorded")),
        }
    }
}

/// How one file was used, by all processes of a test together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// Opened so that its content counts, or loaded as a library.
    pub read: bool,
    /// Opened by somebody else than a compiler of ours that makes a unit of it.
    pub read_by_others: bool,
    /// Opened by a compiler of ours that makes a unit of it.
    pub compiled: bool,
    /// Opened by a make, or opened in vain: it says how to build.
    pub described: bool,
    /// Made, emptied, replaced or removed.
    pub written: bool,
    /// Asked for, or opened in vain.
    pub looked_for: bool,
    /// The same by another process than a make or a compiler of ours.
    pub looked_for_by_others: bool,
    /// A directory whose names were read.
    pub listed: bool,
    /// The same by a process of which it is not known which names it looks for.
    pub searched: bool,
    /// The same by a make, which looks for names that its rules have.
    pub cached: bool,
    pub executed: bool,
    /// What came first.
    pub first: First,
    /// Nobody saw what was in it before it was written, though it may have been
    /// looked for.
    pub made: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum First {
    /// What was there before the test may count.
    #[default]
    Input,
    /// It comes from the test itself.
    Output,
}

impl Use {
    /// Whether it was written, and nothing of what was there before was seen or replaced.
    pub fn is_only_appended_to(&self) -> bool {
        let is_seen = self.read || self.looked_for || self.listed || self.executed;
        self.written && !self.made && !is_seen && self.first == First::Input
    }
}

/// How much a log holds before it takes the slow way.
#[derive(Clone, Copy)]
pub struct Room {
    pub bytes: u64,
    /// A power of two.
    pub table: u64,
}

impl Room {
    pub const TEST: Self = Self { bytes: 256 << 10, table: 2 << 10 };
    pub const BUILD: Self = Self { bytes: 16 << 20, table: 128 << 10 };
}

/// Makes the log of a test. The root is given as it is to be seen in the
/// result; the kernel knows it without links.
pub fn create(directory: &Path, root: &Path, library: &Path, room: Room) -> io::Result<()> {
    let real = root.canonicalize()?;
    let mut texts: Vec<u8> = Vec::new();
    let mut places = Vec::new();
    for text in [&*real, library, directory, root] {
        places.push((HEAD + texts.len()) as u32);
        texts.extend(text.as_os_str().as_bytes());
        texts.push(0);
    }
    let table = (HEAD + texts.len()).next_multiple_of(64) as u64;
    let records = table + room.table * 8;
    let mut bytes = MAGIC.to_vec();
    for number in [room.bytes, table, room.table, records, records] {
        bytes.extend(number.to_le_bytes());
    }
    let root_length = real.as_os_str().len() as u32;
    for number in [0, 0, 0, 0, places[0], places[1], places[2], root_length] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(texts);
    let file = std::fs::File::create_new(directory.join(LOG_NAME))?;
    // All blocks now: on a full disk a process that writes to a hole dies.
    // SAFETY: the descriptor is open.
    let failed = unsafe {
        use std::os::fd::AsRawFd;
        libc::posix_fallocate(file.as_raw_fd(), 0, room.bytes as libc::off_t)
    };
    if failed != 0 {
        return Err(io::Error::from_raw_os_error(failed));
    }
    file.write_all_at(&bytes, 0)?;
    // Processes may run as somebody else; the directory says who may.
    file.set_permissions(std::fs::Permissions::from_mode(0o666))
}

/// Says that nothing is recorded, and why.
pub fn create_off(directory: &Path, why: &str) -> io::Result<()> {
    std::fs::write(directory.join(OFF_NAME), why)
}

/// Names the first process, which has to have the library like all others.
pub fn note_first(directory: &Path, process: u32) -> io::Result<()> {
    std::fs::write(directory.join(FIRST_NAME), process.to_string())
}

impl Uses {
    /// What the processes left in a trace directory.
    pub fn read(directory: &Path) -> Self {
        let first = std::fs::read_to_string(directory.join(FIRST_NAME)).ok();
        Self::read_of(directory, first.and_then(|number| number.parse().ok()))
    }

    /// The same, with the number of the first process.
    pub fn read_of(directory: &Path, first: Option<u32>) -> Self {
        if let Ok(why) = std::fs::read_to_string(directory.join(OFF_NAME)) {
            return Self { incomplete: Some(why), ..Self::default() };
        }
        let Ok(log) = Log::read(&directory.join(LOG_NAME)) else { return Self::default() };
        let more = std::fs::read(directory.join(MORE_NAME)).unwrap_or_default();
        log.and_then(|log| parse(&log, &more, first)).unwrap_or_else(|| Self {
            incomplete: Some(String::from("the log of file uses is damaged")),
            ..Self::default()
        })
    }
}

/// A log that is larger was not made here: any process of a test can write it.
const MOST_BYTES: u64 = 1 << 28;

/// The parts of a log that hold anything. Most of it is room that was not needed.
struct Log {
    /// With the texts behind it.
    head: Vec<u8>,
    records: Vec<u8>,
}

impl Log {
    /// None if it is no log.
    fn read(path: &Path) -> io::Result<Option<Self>> {
        let file = std::fs::File::open(path)?;
        let size = file.metadata()?.len();
        if size > MOST_BYTES {
            return Ok(None);
        }
        let mut head = vec![0; HEAD];
        file.read_exact_at(&mut head, 0)?;
        let places = u64_at(&head, 16).zip(u64_at(&head, 32));
        let Some((table, records)) = places.filter(|(table, _)| *table <= size) else {
            return Ok(None);
        };
        head.resize(table as usize, 0);
        file.read_exact_at(&mut head, 0)?;
        Ok(Some(Self { head, records: records_in(&file, records, size)? }))
    }
}

/// The records that begin at a place of a file, up to the last one there is.
fn records_in(file: &std::fs::File, start: u64, size: u64) -> io::Result<Vec<u8>> {
    let (mut bytes, mut at) = (Vec::new(), 0);
    loop {
        while at + RECORD_HEAD <= bytes.len() {
            match u32_at(&bytes, at).map(|size| (size & !7) as usize) {
                None | Some(0) => return Ok(bytes),
                Some(length) => at += length,
            }
        }
        let read = bytes.len();
        let left = size.saturating_sub(start.saturating_add(read as u64));
        if left == 0 {
            return Ok(bytes);
        }
        bytes.resize(read + left.min(READ_AT_ONCE) as usize, 0);
        file.read_exact_at(&mut bytes[read..], start + read as u64)?;
    }
}

impl Uses {
    /// Adds files that were open already.
    pub fn add_read(&mut self, files: &[PathBuf]) {
        for file in files {
            let used = self.files.entry(file.clone()).or_default();
            (used.read, used.read_by_others) = (true, true);
            used.listed |= file.is_dir();
            used.made = false;
            used.first = First::Input;
        }
    }

    /// Adds what a later run of the same test used.
    pub fn unite(&mut self, later: Self) {
        for (path, used) in later.files {
            let known = self.files.entry(path).or_insert(used);
            known.read |= used.read;
            known.read_by_others |= used.read_by_others;
            known.compiled |= used.compiled;
            known.described |= used.described;
            known.written |= used.written;
            known.looked_for |= used.looked_for;
            known.looked_for_by_others |= used.looked_for_by_others;
            known.listed |= used.listed;
            known.searched |= used.searched;
            known.cached |= used.cached;
            known.executed |= used.executed;
            known.made &= used.made;
            if used.first == First::Input {
                known.first = First::Input;
            }
        }
        self.programs.extend(later.programs);
        self.patterns.extend(later.patterns);
        self.listings.extend(later.listings);
        self.asks_git |= later.asks_git;
        self.incomplete = self.incomplete.take().or(later.incomplete);
    }
}

struct Record<'a> {
    kind: u16,
    process: u32,
    serial: u32,
    text: &'a [u8],
}

fn parse(Log { head, records }: &Log, more: &[u8], first: Option<u32>) -> Option<Uses> {
    let log = head.as_slice();
    if log.get(..8)? != MAGIC {
        return None;
    }
    let (real, shown) = (text_at(log, u32_at(log, 64)?)?, {
        let directory = u32_at(log, 72)?;
        text_at(log, directory + text_at(log, directory)?.len() as u32 + 1)?
    });
    let in_log = records;
    let mut records = Vec::new();
    records_of(in_log, &mut records)?;
    records_of(more, &mut records)?;
    let mut uses = Uses { incomplete: incomplete(&records, first), ..Uses::default() };
    if u32_at(log, 60)? != 0 {
        uses.incomplete.get_or_insert(String::from("a process had no room to note its files"));
    }
    let (real, shown) = (Path::new(OsStr::from_bytes(real)), Path::new(OsStr::from_bytes(shown)));
    let mut elsewhere = BTreeSet::new();
    for record in &records {
        if record.kind == SEVERAL_NAMES {
            elsewhere.extend(identity_in(record.text));
        }
        if [EXEC, SPAWN].contains(&(record.kind & !UNSEEN)) {
            let path = record.text.split(|byte| *byte == 0).next().unwrap_or_default();
            let path = PathBuf::from(OsStr::from_bytes(path));
            uses.programs.extend(path.is_absolute().then_some(path));
        }
        let mut texts = record.text.split(|byte| *byte == 0);
        let path = match record.kind {
            TOLD => texts.next().unwrap_or_default(),
            _ => record.text,
        };
        let path = Path::new(OsStr::from_bytes(path));
        let Ok(inside) = path.strip_prefix(real) else { continue };
        let is_of_file = (READ..=PATTERN_OF_MAKE).contains(&record.kind)
            || [APPENDED, INCLUDED].contains(&record.kind);
        if !is_of_file {
            continue;
        }
        uses.asks_git |= asks_git(inside, record.kind, || shown.join(inside).exists());
        let is_skipped = |part: &OsStr| SKIPPED.iter().any(|skipped| part == *skipped);
        if inside.iter().next().is_some_and(is_skipped) {
            continue;
        }
        match record.kind {
            PATTERN | PATTERN_OF_MAKE => {
                let is_of_make = record.kind == PATTERN_OF_MAKE;
                uses.patterns.insert(Pattern { path: shown.join(inside), is_of_make });
                continue;
            }
            TOLD => {
                let mut next = || OsStr::from_bytes(texts.next().unwrap_or_default());
                let place = |path: &OsStr| {
                    let path = Path::new(path);
                    let inside = path.strip_prefix(real);
                    inside.map_or_else(|_| path.to_path_buf(), |inside| shown.join(inside))
                };
                let (working_directory, start_directory) = (place(next()), place(next()));
                let variables = bytes::name(next());
                let mut arguments: Vec<Vec<u8>> = texts.map(<[u8]>::to_vec).collect();
                // Each has a NUL behind it.
                arguments.pop();
                uses.listings.insert(Listing {
                    directory: shown.join(inside),
                    working_directory,
                    start_directory,
                    variables: variables.split_whitespace().map(String::from).collect(),
                    arguments,
                });
            }
            _ => {}
        }
        note(&mut uses.files, shown.join(inside), record.kind);
    }
    for path in with_identity(shown, &elsewhere) {
        note(&mut uses.files, path, READ);
    }
    let told: BTreeSet<&Path> = uses.listings.iter().map(|told| &*told.directory).collect();
    for (path, used) in &mut uses.files {
        let is_opened = used.read && path.is_dir();
        used.searched |= is_opened && !used.listed && !told.contains(&**path);
        used.listed |= is_opened;
    }
    Some(uses)
}

/// Device and inode.
type Identity = (u64, u64);

fn identity_in(text: &[u8]) -> Option<Identity> {
    let (device, inode) = std::str::from_utf8(text).ok()?.split_once(' ')?;
    Some((device.parse().ok()?, inode.parse().ok()?))
}

/// Files of the project that are among these, which were opened by names outside of it.
fn with_identity(root: &Path, wanted: &BTreeSet<Identity>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let device = root.metadata().ok().map(|meta| meta.dev());
    if !wanted.iter().any(|(wanted, _)| Some(*wanted) == device) {
        return found;
    }
    let mut todo = vec![root.to_path_buf()];
    while let Some(directory) = todo.pop() {
        let is_top = directory == root;
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let Ok(meta) = entry.metadata() else { continue };
            let is_skipped = is_top && SKIPPED.iter().any(|skipped| entry.file_name() == *skipped);
            if meta.is_dir() && !is_skipped {
                todo.push(entry.path());
            } else if meta.is_file() && wanted.contains(&(meta.dev(), meta.ino())) {
                found.push(entry.path());
            }
        }
    }
    found
}

/// Whether who uses a file wants to know what git knows: reads in its directory, or
/// follows what leads to that, or looks for it in vain to go on above the project.
fn asks_git(inside: &Path, kind: u16, is_there: impl Fn() -> bool) -> bool {
    let Ok(below) = inside.strip_prefix(GIT) else { return false };
    match kind {
        WRITTEN | APPENDED => false,
        LOOKED_FOR | SOUGHT if below.as_os_str().is_empty() => !is_there(),
        _ => true,
    }
}

fn note(files: &mut BTreeMap<PathBuf, Use>, path: PathBuf, kind: u16) {
    let first = if kind == WRITTEN { First::Output } else { First::Input };
    let used = files.entry(path).or_insert(Use { first, ..Use::default() });
    match kind {
        READ => (used.read, used.read_by_others) = (true, true),
        COMPILED => (used.read, used.compiled) = (true, true),
        DESCRIBED => {
            (used.read, used.read_by_others, used.described) = (true, true, true);
        }
        WRITTEN => {
            used.made |= !used.read && !used.executed;
            used.written = true;
        }
        // What was in it before is still there for who reads it later.
        APPENDED => used.written = true,
        LOOKED_FOR => (used.looked_for, used.looked_for_by_others) = (true, true),
        SOUGHT => used.looked_for = true,
        INCLUDED => (used.looked_for, used.described) = (true, true),
        LISTED => (used.listed, used.searched) = (true, true),
        CACHED => (used.listed, used.cached) = (true, true),
        GLOBBED | TOLD => used.listed = true,
        EXECUTED => used.executed = true,
        _ => {}
    }
}

/// Why some uses may be missing. Each program that is executed has to say
/// afterwards that it has the library: one that does not may be statically
/// linked, or setuid, or whatever else, and was not seen.
fn incomplete(records: &[Record<'_>], first: Option<u32>) -> Option<String> {
    let unseen = |text: &[u8]| {
        let text = bytes::to_text(text);
        match text.split_once('\0') {
            Some((program, why)) if !why.is_empty() => format!("{program} was not seen: {why}"),
            _ => format!("{} was not seen", text.trim_end_matches('\0')),
        }
    };
    let mut loads: HashMap<u32, usize> = HashMap::new(); // the last one of a process
    for (place, record) in records.iter().enumerate() {
        if record.kind == LOADED {
            loads.insert(record.process, place);
        }
    }
    let mut executing: HashMap<u32, &Record<'_>> = HashMap::new();
    let mut spawning: HashMap<u32, (usize, &Record<'_>)> = HashMap::new();
    for (place, record) in records.iter().enumerate() {
        match record.kind & !UNSEEN {
            MARK => return Some(bytes::to_text(record.text).into_owned()),
            EXEC => {
                if let Some(earlier) = executing.insert(record.process, record) {
                    return Some(unseen(earlier.text));
                }
            }
            SPAWN => {
                spawning.insert(record.serial, (place, record));
            }
            RETURNED => {
                executing.retain(|_, executed| executed.serial != record.serial);
                spawning.remove(&record.serial);
            }
            LOADED => {
                let executed = executing.remove(&record.process);
                if let Some(executed) = executed.filter(|executed| executed.kind & UNSEEN != 0) {
                    return Some(unseen(executed.text));
                }
            }
            SPAWNED => {
                let Some((start, spawned)) = spawning.remove(&record.serial) else { continue };
                let is_loaded = loads.get(&record.process).is_some_and(|load| *load > start);
                if !is_loaded || spawned.kind & UNSEEN != 0 {
                    return Some(unseen(spawned.text));
                }
            }
            _ => {}
        }
    }
    let left = executing.into_values().chain(spawning.into_values().map(|(_, spawned)| spawned));
    if let Some(record) = left.min_by_key(|record| record.serial) {
        return Some(unseen(record.text));
    }
    match first {
        Some(first) if loads.contains_key(&first) => None,
        Some(_) => Some(String::from("its first program was not seen")),
        None => Some(String::from("it is not known which program came first")),
    }
}

/// All records. None if what is there is no record.
fn records_of<'a>(bytes: &'a [u8], records: &mut Vec<Record<'a>>) -> Option<()> {
    let mut rest = bytes;
    while rest.len() >= RECORD_HEAD {
        let size = u32_at(rest, 0)?;
        let length = (size & !7) as usize;
        if length == 0 {
            break;
        }
        let record = rest.get(..length)?;
        if size & COMPLETE == 0 {
            records.push(Record { kind: MARK, process: 0, serial: 0, text: CUT });
        } else {
            let text = usize::from(u16_at(record, 6)?);
            records.push(Record {
                kind: u16_at(record, 4)?,
                process: u32_at(record, 8)?,
                serial: u32_at(record, 12)?,
                text: record.get(RECORD_HEAD..RECORD_HEAD + text)?,
            });
        }
        rest = &rest[length..];
    }
    Some(())
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// The text at a place, up to its NUL.
fn text_at(bytes: &[u8], at: u32) -> Option<&[u8]> {
    let text = bytes.get(at as usize..)?;
    text.get(..text.iter().position(|byte| *byte == 0)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::runtime;

    #[test]
    fn the_library_has_the_same_numbers() {
        let header = runtime::source("files/uses_format.h").expect("carried");
        let kinds = [
            ("READ", READ),
            ("WRITTEN", WRITTEN),
            ("LOOKED_FOR", LOOKED_FOR),
            ("LISTED", LISTED),
            ("EXECUTED", EXECUTED),
            ("COMPILED", COMPILED),
            ("DESCRIBED", DESCRIBED),
            ("SOUGHT", SOUGHT),
            ("CACHED", CACHED),
            ("GLOBBED", GLOBBED),
            ("TOLD", TOLD),
            ("PATTERN", PATTERN),
            ("PATTERN_OF_MAKE", PATTERN_OF_MAKE),
            ("SEVERAL_NAMES", SEVERAL_NAMES),
            ("INCLUDED", INCLUDED),
            ("EXEC", EXEC),
            ("SPAWN", SPAWN),
            ("SPAWNED", SPAWNED),
            ("RETURNED", RETURNED),
            ("LOADED", LOADED),
            ("MARK", MARK),
            ("UNSEEN", UNSEEN),
            ("COMPLETE", COMPLETE as u16),
            ("USES_HEAD", HEAD as u16),
            ("USE_HEAD", RECORD_HEAD as u16),
        ];
        for (name, number) in kinds {
            let lines = header.lines().filter_map(|line| line.strip_prefix("#define EDGEWISE_"));
            let mut values = lines.filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            let value = values.next().and_then(|value| value.split_whitespace().next());
            assert_eq!(value, Some(&*number.to_string()), "{name}");
        }
        assert!(header.contains(&format!("#define EDGEWISE_USES_NAME {LOG_NAME:?}\n")));
        assert!(header.contains(&format!("#define EDGEWISE_USES_MORE_NAME {MORE_NAME:?}\n")));
        assert!(header.contains(&format!("#define EDGEWISE_USES_MAGIC {:?}\n", "EDGWUSE1")));
    }

    fn record(kind: u16, process: u32, serial: u32, text: &[u8]) -> Record<'_> {
        Record { kind, process, serial, text }
    }

    #[test]
    fn a_program_that_does_not_say_it_has_the_library_is_not_seen() {
        let start = || vec![record(LOADED, 1, 0, b"")];
        let with = |more: Vec<Record<'static>>| {
            let mut records = start();
            records.extend(more);
            incomplete(&records, Some(1))
        };
        assert_eq!(with(vec![]), None);
        assert_eq!(with(vec![record(EXEC, 2, 1, b"a\0"), record(LOADED, 2, 0, b"")]), None);
        assert_eq!(with(vec![record(EXEC, 2, 1, b"a\0"), record(RETURNED, 2, 1, b"")]), None);
        let not_seen = Some(String::from("a was not seen: static"));
        assert_eq!(with(vec![record(EXEC, 2, 1, b"a\0static")]), not_seen);
        // A load before it was that of another program.
        let late = vec![record(LOADED, 2, 0, b""), record(EXEC, 2, 1, b"a\0static")];
        assert_eq!(with(late), not_seen);
        // A child may be faster than its parent.
        let spawned = |load: bool| {
            let mut records = vec![record(SPAWN, 1, 1, b"a\0static")];
            records.extend(load.then(|| record(LOADED, 2, 0, b"")));
            records.push(record(SPAWNED, 2, 1, b"a"));
            records
        };
        assert_eq!(with(spawned(true)), None);
        assert_eq!(with(spawned(false)), not_seen);
        assert_eq!(with(vec![record(SPAWN, 1, 1, b"a\0static")]), not_seen);
        assert!(incomplete(&start(), Some(2)).is_some());
        assert!(incomplete(&start(), None).is_some());
    }

    #[test]
    fn what_is_written_first_is_an_output() {
        let mut files = BTreeMap::new();
        for (path, kind) in [
            ("a", WRITTEN),
            ("a", READ),
            ("b", LOOKED_FOR),
            ("b", WRITTEN),
            ("c", READ),
            ("c", WRITTEN),
        ] {
            note(&mut files, PathBuf::from(path), kind);
        }
        let of = |path: &str| files[Path::new(path)];
        assert_eq!((of("a").first, of("a").made), (First::Output, true));
        assert_eq!((of("b").first, of("b").made), (First::Input, true));
        assert_eq!((of("c").first, of("c").made), (First::Input, false));
    }
}
