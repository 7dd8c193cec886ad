//! What git says of the project: HEAD, branches, tags, and which files it knows.
//! Tests and builds may ask for it, and nothing of it is a file of the project.

use super::contents::Contents;
use crate::bytes;
use crate::compiler::text::stamp::Moment;
use crate::ids::{Fingerprint, FpHasher};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The name of all this among the files of the project.
pub const STATE: &str = ".git (HEAD, branches, tags, index)";

/// How deep repositories of submodules are looked for.
const DEPTH: usize = 16;

/// The state of the repository that the project is in, if it is in one.
pub fn state(root: &Path, known: &mut Contents, began: Moment) -> Option<Fingerprint> {
    let place = root.ancestors().map(|directory| directory.join(".git")).find(|p| p.exists())?;
    let directory = directory_of(&place)?;
    let mut hasher = FpHasher::new("git");
    add_repository(&directory, known, began, &mut hasher);
    add_submodules(&common(&directory).join("modules"), DEPTH, known, began, &mut hasher);
    Some(hasher.finish())
}

/// Where the project is in its repository, with a slash behind it; nothing if it is its root, or in
/// none.
pub fn folder(root: &Path) -> String {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
    let Some(top) = root.ancestors().find(|directory| directory.join(".git").exists()) else {
        return String::new();
    };
    let below = bytes::name(root.strip_prefix(top).unwrap_or(Path::new("")));
    if below.is_empty() { String::new() } else { format!("{below}/") }
}

/// The files below a directory that git knows, relative to it; none if it cannot be asked.
pub fn known(root: &Path) -> BTreeSet<String> {
    let listed = Command::new("git").arg("-C").arg(root).args(["ls-files", "-z"]).output();
    let names = listed.ok().filter(|listed| listed.status.success()).map(|listed| listed.stdout);
    let names = names.unwrap_or_default();
    let names = names.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
    names.filter(|name| !name.is_empty()).map(String::from).collect()
}

/// Where a repository is: in `.git`, or where that says it is.
fn directory_of(place: &Path) -> Option<PathBuf> {
    if place.is_dir() {
        return Some(place.to_path_buf());
    }
    let text = std::fs::read(place).ok()?;
    let path = text.strip_prefix(b"gitdir:")?.trim_ascii();
    Some(place.parent()?.join(OsStr::from_bytes(path)))
}

/// Where branches and tags are, which several trees may share.
fn common(directory: &Path) -> PathBuf {
    match std::fs::read(directory.join("commondir")) {
        Ok(path) => directory.join(OsStr::from_bytes(path.trim_ascii())),
        Err(_) => directory.to_path_buf(),
    }
}

fn add_repository(directory: &Path, known: &mut Contents, began: Moment, hasher: &mut FpHasher) {
    let common = common(directory);
    hasher.bytes(&std::fs::read(directory.join("HEAD")).unwrap_or_default());
    let mut references = BTreeMap::new();
    let packed = std::fs::read(common.join("packed-refs")).unwrap_or_default();
    let packed = bytes::to_text(&packed);
    let lines = packed.lines().filter(|line| !line.starts_with(['#', '^']));
    for (object, name) in lines.filter_map(|line| line.split_once(' ')) {
        references.insert(name.to_string(), object.as_bytes().to_vec());
    }
    // One that has a file of its own counts as it is there.
    for place in [&common, directory] {
        add_references(&place.join("refs"), "refs", DEPTH, &mut references);
        add_references(&place.join("reftable"), "reftable", DEPTH, &mut references);
    }
    for (name, object) in references {
        hasher.str(&name);
        hasher.bytes(object.trim_ascii());
    }
    let index = directory.join("index");
    let name = format!("index {}", bytes::name(&index));
    let read = || std::fs::read(&index).ok().map(|bytes| known_files(&bytes));
    let (content, fresh) = known.look(&name, &index, began, read);
    if let Some(fresh) = fresh {
        known.remember(name, fresh);
    }
    hasher.fp(&content.unwrap_or_default());
}

fn add_references(
    directory: &Path,
    name: &str,
    depth: usize,
    references: &mut BTreeMap<String, Vec<u8>>,
) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries.filter(|_| depth > 0) {
        let name = format!("{name}/{}", bytes::name(entry.file_name()));
        let path = entry.path();
        if path.is_dir() {
            add_references(&path, &name, depth - 1, references);
        } else if !name.ends_with(".lock")
            && let Ok(object) = std::fs::read(&path)
        {
            references.insert(name, object);
        }
    }
}

fn add_submodules(
    directory: &Path,
    depth: usize,
    known: &mut Contents,
    began: Moment,
    hasher: &mut FpHasher,
) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    found.sort();
    for path in found.into_iter().filter(|path| depth > 0 && path.is_dir()) {
        if path.join("HEAD").is_file() {
            add_repository(&path, known, began, hasher);
            add_submodules(&path.join("modules"), depth - 1, known, began, hasher);
        } else {
            add_submodules(&path, depth - 1, known, began, hasher);
        }
    }
}

/// The names and contents that an index lists, without the times and places that
/// git keeps with them; all of its bytes, if it is not of a kind that is known here.
fn known_files(bytes: &[u8]) -> Fingerprint {
    entries(bytes).unwrap_or_else(|| Fingerprint::of(bytes))
}

fn entries(bytes: &[u8]) -> Option<Fingerprint> {
    let number = |at: usize| -> Option<usize> {
        Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize)
    };
    let version = number(4)?;
    if !bytes.starts_with(b"DIRC") || !(2..=3).contains(&version) {
        return None;
    }
    let mut hasher = FpHasher::new("index");
    let mut at = 12;
    for _ in 0..number(8)? {
        let flags = u16::from_be_bytes(bytes.get(at + 60..at + 62)?.try_into().ok()?);
        let head = if flags & 0x4000 != 0 { 64 } else { 62 };
        let name = bytes.get(at + head..)?;
        let length = memchr::memchr(0, name)?;
        // Its mode, and behind what stat says, the object, flags and name.
        hasher.bytes(bytes.get(at + 24..at + 28)?);
        hasher.bytes(bytes.get(at + 40..at + head)?);
        hasher.bytes(&name[..length]);
        at += (head + length + 8) & !7;
    }
    // Behind them are extensions and a check. One leads to more of it elsewhere.
    while at + 8 < bytes.len().checked_sub(20)? {
        if bytes.get(at..at + 4)? == b"link" {
            return None;
        }
        at += 8 + number(at + 4)?;
    }
    (at + 20 == bytes.len()).then(|| hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(root: &Path, arguments: &[&str]) {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
        let output = Command::new("git").args(identity).args(arguments).current_dir(root).output();
        assert!(output.unwrap().status.success(), "git {arguments:?}");
    }

    #[test]
    fn what_is_committed_and_tagged_counts_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let mut known = Contents::default();
        let mut state = |root: &Path| super::state(root, &mut known, Moment::now());
        git(root, &["init", "-q"]);
        std::fs::write(root.join("a"), "one").unwrap();
        git(root, &["add", "a"]);
        git(root, &["commit", "-qm", "a"]);
        let first = state(root);
        assert!(first.is_some());
        // Touched, listed, packed.
        std::fs::write(root.join("a"), "one").unwrap();
        git(root, &["status"]);
        git(root, &["pack-refs", "--all"]);
        git(root, &["gc", "-q"]);
        assert_eq!(state(root), first);
        std::fs::create_dir(root.join("below")).unwrap();
        assert_eq!(state(&root.join("below")), first, "from within");
        let mut before = first;
        for change in [
            &["tag", "v1"][..],
            &["tag", "-d", "v1"],
            &["commit", "--allow-empty", "-qm", "b"],
            &["checkout", "-q", "-b", "other"],
            &["rm", "-q", "--cached", "a"],
        ] {
            git(root, change);
            let now = state(root);
            assert_ne!(now, before, "{change:?}");
            before = now;
        }
        let elsewhere = tempfile::tempdir().unwrap();
        let tree = elsewhere.path().join("tree");
        git(root, &["worktree", "add", "-q", tree.to_str().unwrap(), "HEAD~1"]);
        let before = state(&tree);
        git(root, &["tag", "v2"]);
        assert_ne!(state(&tree), before, "a tag, from another tree");
    }
}
