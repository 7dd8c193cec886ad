//! The state of the project's files.

use super::build_state::BuildState;
use super::contents::Contents;
use super::git;
use super::lookups::Lookups;
use super::workspace::Workspace;
use crate::bytes;
use crate::compiler::project::{CONFIG_FILE, STATE_DIRECTORY, relative};
use crate::compiler::text::stamp::{Moment, Stamp};
use crate::history::format::FileState;
use crate::ids::{Fingerprint, FpHasher};
use crate::instrument::RECORD_SECTION;
use crate::trace::uses::SKIPPED;
use globset::GlobSet;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectKind, ObjectSection};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Names and extensions of files that say how to build.
const BUILD_DESCRIPTIONS: &[&str] = &[
    "Makefile",
    "makefile",
    "GNUmakefile",
    "CMakeLists.txt",
    "meson.build",
    "meson_options.txt",
    "meson.options",
    "configure",
    "configure.ac",
    "configure.in",
    "config.status",
];
const BUILD_EXTENSIONS: &[&str] = &["mk", "mak", "cmake", "am", "ac", "m4", "ninja"];
/// Parts of makefiles, and what these are made of.
const BUILD_BEGINNINGS: &[&str] = &["Makefile.", "makefile."];

/// The build command, as if it were a file.
const BUILD_COMMAND: &str = "[build] command of edgewise.toml";

/// Fingerprints of all files of the project that are not ignored, and of those
/// elsewhere that sources which are not analysed are made of. What builds
/// leave is known through the programs that are made of it: of programs and
/// libraries counts only that they are there, of objects not even that.
pub fn scan(workspace: &Workspace) -> anyhow::Result<FileState> {
    let built = BuildState::read(workspace)?;
    scan_knowing(workspace, &built, &mut Contents::default(), Moment::now())
}

/// The same, where files whose stamp is known are not read.
fn scan_knowing(
    workspace: &Workspace,
    built: &BuildState,
    known: &mut Contents,
    began: Moment,
) -> anyhow::Result<FileState> {
    let ignored = workspace.config.ignored()?;
    let root = &workspace.project.root;
    let is_ignored = |name: &str| matches(&ignored, name);
    let Paths { mut files, directories, links } = paths(root, is_ignored)?;
    files.extend(elsewhere(built).map(|name| (name.clone(), bytes::path(name).into_owned())));
    let found: Vec<_> = files
        .into_par_iter()
        .with_min_len(32)
        .map(|(name, path)| {
            if built.programs.contains(&name) {
                return (name, path.exists().then(|| presence(&path)), None);
            }
            let read = || content_unless_built(&path);
            // A link is known by where it leads, too.
            let target = links.contains(&path).then(|| std::fs::read_link(&path).ok()).flatten();
            let known_as = match target {
                Some(target) => format!("{name} -> {}", bytes::name(target)),
                None => name.clone(),
            };
            let (content, fresh) = known.look(&known_as, &path, began, read);
            (name, content, fresh.map(|fresh| (known_as, fresh)))
        })
        .collect();
    known.limit(found.len());
    let mut state = FileState::new();
    for (name, content, fresh) in found {
        if let Some((known_as, fresh)) = fresh {
            known.remember(known_as, fresh);
        }
        state.extend(content.map(|content| (name, content)));
    }
    state.extend(directories.iter().map(|path| (directory_name(root, path), directory())));
    // Where a link leads counts, whatever is there.
    let links_to_directories = directories.iter().filter(|path| path.is_symlink());
    state.extend(
        links_to_directories.filter_map(|path| Some((relative(root, path), content(path)?))),
    );
    state.extend(git::state(root, known, began).map(|git| (String::from(git::STATE), git)));
    if let Some(command) = &workspace.config.build.command {
        state.insert(String::from(BUILD_COMMAND), Fingerprint::of(command.as_bytes()));
    }
    Ok(state)
}

/// Files outside of the project that are not preprocessed again to see whether
/// they are another text.
fn elsewhere(built: &BuildState) -> impl Iterator<Item = &String> {
    built.unanalysed.iter().filter(|name| name.starts_with('/'))
}

/// Adds those of them to the state before a build of which only the build tells, as
/// far as they are since then what they were.
pub fn add_elsewhere(state: &mut FileState, built: &BuildState, began: Moment) {
    for name in elsewhere(built).filter(|name| !state.contains_key(*name)).collect::<Vec<_>>() {
        let path = &*bytes::path(name);
        if Stamp::of(path).is_some_and(|stamp| stamp.is_settled(began)) {
            state.extend(content_unless_built(path).map(|content| (name.clone(), content)));
        }
    }
}

/// The project's files at one moment.
pub struct Files {
    pub now: FileState,
    /// Their state when the programs were built that are there now: what has
    /// changed since then of what builds read is not in them.
    pub as_built: FileState,
}

impl Files {
    pub fn scan(workspace: &Workspace) -> anyhow::Result<Self> {
        let built = BuildState::read(workspace)?;
        Self::scan_knowing(workspace, &built, &mut Contents::default(), Moment::now())
    }

    pub fn scan_knowing(
        workspace: &Workspace,
        built: &BuildState,
        known: &mut Contents,
        began: Moment,
    ) -> anyhow::Result<Self> {
        let now = scan_knowing(workspace, built, known, began)?;
        let mut as_built = now.clone();
        if let Some(last) = &built.descriptions {
            // What is less than everything may be made without what changed.
            let then = built.complete.as_ref().unwrap_or(last);
            let root = &workspace.project.root;
            let is_product = |name: &str| is_presence(&root.join(bytes::path(name)), now.get(name));
            let is_input = |name: &str| makes_programs(built, name) && !is_product(name);
            as_built.retain(|name, _| !is_input(name));
            for (name, content) in last.iter().filter(|(name, _)| is_build_description(name)) {
                as_built.insert(name.clone(), *content);
            }
            // What a build made, it left as it is at its end, not as it was when it began.
            let is_made = |name: &&String| is_build_description(name) && now.contains_key(*name);
            let made = built.descriptions_made().filter(|(name, _)| is_made(name));
            as_built.extend(made.map(|(name, content)| (name.clone(), *content)));
            let others = then.iter().filter(|(name, _)| !is_build_description(name));
            for (name, content) in others.filter(|(name, _)| is_input(name)) {
                as_built.insert(name.clone(), *content);
            }
            // Of what the build only looks for, it counts that it is there.
            let lookups = Lookups::new(root, built);
            for name in now.keys().filter(|name| !then.contains_key(*name)) {
                if lookups.between(name, then, &now).is_some() && !is_product(name) {
                    as_built.remove(name);
                }
            }
            for (name, content) in then.iter().filter(|(name, _)| !now.contains_key(*name)) {
                if lookups.between(name, then, &now).is_some() {
                    as_built.insert(name.clone(), *content);
                }
            }
        }
        Ok(Self { now, as_built })
    }
}

/// Those of the files that programs are made from.
pub fn made_from(root: &Path, built: &BuildState, files: &FileState) -> FileState {
    let lookups = Lookups::new(root, built);
    let is_sought = |name: &str| makes_programs(built, name) || lookups.at(name).is_some();
    let made_from = files.iter().filter(|(name, _)| is_sought(name));
    made_from.map(|(name, content)| (name.clone(), *content)).collect()
}

fn makes_programs(built: &BuildState, name: &str) -> bool {
    let read = [&built.inputs, &built.missing, &built.generator_files, &built.unanalysed];
    let is_read = || name.ends_with(".c") || read.iter().any(|files| files.contains(name));
    is_build_description(name) || !built.outputs.contains(name) && is_read()
}

pub struct Paths {
    /// With their names relative to the root.
    pub files: Vec<(String, PathBuf)>,
    directories: Vec<PathBuf>,
    /// Those of the files that are links.
    links: HashSet<PathBuf>,
}

/// Whether a name in a state is that of a file or directory.
pub fn is_file(name: &str) -> bool {
    name != BUILD_COMMAND && name != git::STATE
}

/// Whether patterns of the configuration match a name: as text, or as the bytes it stands for.
pub fn matches(patterns: &GlobSet, name: &str) -> bool {
    let path = bytes::path(name);
    patterns.is_match(name) || path.as_os_str() != name && patterns.is_match(&*path)
}

/// A directory is known by its name with a slash behind it.
pub fn directory_name(root: &Path, path: &Path) -> String {
    format!("{}/", relative(root, path))
}

/// The state of any directory: that it is there.
pub fn directory() -> Fingerprint {
    Fingerprint::of(b"directory")
}

/// Whether a directory is the project's own repository or state: the same names elsewhere are
/// those of fixtures.
pub fn is_skipped(root: &Path, path: &Path) -> bool {
    SKIPPED.iter().any(|skipped| path.parent() == Some(root) && path.ends_with(skipped))
}

/// All below a directory but what is ignored; of directories the name has a slash behind it. A
/// file is known by its name without links to directories, whatever other names lead to it.
/// Only what has no such name is known by that of a link: what is behind one that leads out of
/// the directory, or to what is ignored.
pub fn paths(root: &Path, is_ignored: impl Fn(&str) -> bool) -> anyhow::Result<Paths> {
    let found = Paths { files: Vec::new(), directories: Vec::new(), links: HashSet::new() };
    let mut walk = Walk { root, is_ignored, found, known: HashSet::new() };
    let mut links = Vec::new();
    walk.below(root, &mut |path, is_link| {
        if is_link {
            links.push(path);
            return Ok(None);
        }
        Ok(Some(path))
    })?;
    let state = identity(&root.join(STATE_DIRECTORY));
    let known = std::mem::take(&mut walk.known);
    let real_root = root.canonicalize()?;
    for link in links {
        // Links may lead to a directory twice, or in a circle.
        let mut seen: HashSet<Identity> = state.into_iter().collect();
        let mut is_new = |path: PathBuf, is_link: bool| {
            let place = identity(&path).filter(|_| !is_link || is_entered(&real_root, &path));
            let is_new = |place| !known.contains(&place) && seen.insert(place);
            Ok(place.is_some_and(is_new).then_some(path))
        };
        if let Some(link) = is_new(link, true)? {
            walk.below(&link, &mut is_new)?;
        }
    }
    Ok(walk.found)
}

/// Device and inode.
type Identity = (u64, u64);

/// None if it is gone by now.
fn identity(path: &Path) -> Option<Identity> {
    let place = path.metadata().ok()?;
    Some((place.dev(), place.ino()))
}

/// Whether what a link leads to is looked at. A directory that the project is in holds all other
/// things as well, and what the kernel makes up is not the same twice.
fn is_entered(real_root: &Path, link: &Path) -> bool {
    let Ok(target) = link.canonicalize() else { return false };
    let is_of_kernel = ["/proc", "/sys", "/dev"].iter().any(|place| target.starts_with(place));
    !real_root.starts_with(&target) && !is_of_kernel
}

struct Walk<'r, I> {
    root: &'r Path,
    is_ignored: I,
    found: Paths,
    /// Directories whose entries were looked at.
    known: HashSet<Identity>,
}

impl<I: Fn(&str) -> bool> Walk<'_, I> {
    /// Looks at a directory, and at those below that `enters` says, which is told whether a
    /// link leads there.
    fn below(
        &mut self,
        directory: &Path,
        enters: &mut dyn FnMut(PathBuf, bool) -> std::io::Result<Option<PathBuf>>,
    ) -> anyhow::Result<()> {
        let mut todo = vec![directory.to_path_buf()];
        while let Some(directory) = todo.pop() {
            // What is gone by now is not there.
            let Some(place) = identity(&directory) else { continue };
            self.known.insert(place);
            let entries = match fs_err::read_dir(&directory) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                entries => entries?.collect::<Result<Vec<_>, _>>(),
            };
            let mut entries = entries?;
            // What is found by several names behind a link always has the same one.
            entries.sort_by_key(|entry| entry.file_name());
            for entry in entries {
                let path = entry.path();
                let name = relative(self.root, &path);
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() || kind.is_symlink() && path.is_dir() {
                    if !is_skipped(self.root, &path) && !(self.is_ignored)(&format!("{name}/")) {
                        self.found.directories.push(path.clone());
                        todo.extend(enters(path, kind.is_symlink())?);
                    }
                } else if !(self.is_ignored)(&name) {
                    if kind.is_symlink() {
                        self.found.links.insert(path.clone());
                    }
                    self.found.files.push((name, path));
                }
            }
        }
        Ok(())
    }
}

/// Links to directories of the project, from their name to that of the directory without any
/// link.
#[derive(Default)]
pub struct Links(BTreeMap<String, String>);

impl Links {
    /// Those in a state of the files, as they lead now.
    pub fn new(root: &Path, files: &FileState) -> Self {
        let Ok(real) = root.canonicalize() else { return Self::default() };
        let names = files.keys().filter_map(|name| name.strip_suffix('/'));
        let links = names.filter(|name| files.contains_key(*name)).filter_map(|name| {
            let target = root.join(bytes::path(name)).canonicalize().ok()?;
            target.starts_with(&real).then(|| (name.to_string(), relative(&real, &target)))
        });
        // One that is a directory by now is no link.
        Self(links.filter(|(link, target)| link != target).collect())
    }

    /// Those among some paths below the root.
    pub fn among<'p>(root: &Path, paths: impl Iterator<Item = &'p PathBuf>) -> Self {
        let Ok(real) = root.canonicalize() else { return Self::default() };
        let links = paths.filter(|path| path.is_symlink() && path.is_dir()).filter_map(|path| {
            let target = path.canonicalize().ok()?;
            target.starts_with(&real).then(|| (relative(root, path), relative(&real, &target)))
        });
        Self(links.collect())
    }

    /// The name that a file is known by, if a link is on the way to it by this one.
    pub fn real(&self, name: &str) -> Option<String> {
        let mut real: Option<String> = None;
        for _ in 0..MOST_LINKS {
            match self.without_first(real.as_deref().unwrap_or(name)) {
                Some(next) => real = Some(next),
                None => break,
            }
        }
        real
    }

    fn without_first(&self, name: &str) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let ends = name.match_indices('/').map(|(at, _)| at).chain([name.len()]);
        ends.map(|end| name.split_at(end)).find_map(|(link, rest)| {
            Some(match (self.0.get(link)?.as_str(), rest) {
                (".", "") => String::from("."),
                (".", rest) => rest[1..].to_string(),
                (target, rest) => format!("{target}{rest}"),
            })
        })
    }

    /// Other names of a file, by way of links; each link counts once.
    pub fn others(&self, name: &str) -> Vec<String> {
        let mut found: Vec<(String, Vec<&str>)> = vec![(name.to_string(), Vec::new())];
        let mut at = 0;
        while at < found.len() && found.len() < MOST_NAMES {
            let (name, passed) = found[at].clone();
            for (link, target) in self.0.iter().filter(|(link, _)| !passed.contains(&link.as_str()))
            {
                let rest = match target.as_str() {
                    "." => Some(name.as_str()),
                    target => name.strip_prefix(target).and_then(|rest| rest.strip_prefix('/')),
                };
                if let Some(rest) = rest {
                    let passed = passed.iter().copied().chain([link.as_str()]).collect();
                    found.push((format!("{link}/{rest}"), passed));
                }
            }
            at += 1;
        }
        found.into_iter().skip(1).map(|(name, _)| name).collect()
    }
}

/// Links on the way to a file, as many as the kernel follows.
const MOST_LINKS: usize = 40;
/// Names of one file that are looked at.
const MOST_NAMES: usize = 1000;

/// What counts of a program that is built: that it is there, and for a link where
/// it leads.
fn presence(path: &Path) -> Fingerprint {
    let mut hasher = FpHasher::new("built");
    if let Ok(target) = std::fs::read_link(path) {
        hasher.bytes(target.as_os_str().as_encoded_bytes());
    }
    hasher.finish()
}

/// Whether of a file nothing counts but that it is there.
pub fn is_presence(path: &Path, state: Option<&Fingerprint>) -> bool {
    state == Some(&presence(path))
}

/// The fingerprint of a file's content and whether it may be run. Of what is
/// not a regular file only its kind counts. None if there is nothing.
pub fn content(path: &Path) -> Option<Fingerprint> {
    let Some(bytes) = read(path) else {
        let target = std::fs::read_link(path).ok().map(|target| in_project(path, target));
        let kind = std::fs::symlink_metadata(path).ok()?.permissions().mode() & libc::S_IFMT;
        let mut hasher = FpHasher::new("special file");
        hasher.number(u64::from(kind));
        hasher.bytes(target.unwrap_or_default().as_os_str().as_encoded_bytes());
        return Some(hasher.finish());
    };
    Some(content_of(path, &bytes))
}

fn content_of(path: &Path, bytes: &[u8]) -> Fingerprint {
    let content = content_with(bytes, path.metadata().map_or(0, |meta| meta.permissions().mode()));
    // Who asks for the target of a link sees it. An absolute one outside of the project is another
    // one at another place.
    let target = std::fs::read_link(path).ok().map(|target| in_project(path, target));
    match target.filter(|target| target.is_relative()) {
        Some(target) => {
            let mut hasher = FpHasher::new("link");
            hasher.bytes(target.as_os_str().as_encoded_bytes());
            hasher.fp(&content);
            hasher.finish()
        }
        None => content,
    }
}

/// The target of a link. One in the project is told from the root of the project on.
fn in_project(link: &Path, target: PathBuf) -> PathBuf {
    if target.is_relative() {
        return target;
    }
    let mut directories = link.ancestors().skip(1);
    let Some(root) = directories.find(|directory| directory.join(CONFIG_FILE).exists()) else {
        return target;
    };
    let real = root.canonicalize();
    let inside = target.strip_prefix(root).ok();
    let inside = inside.or_else(|| target.strip_prefix(real.as_ref().ok()?).ok());
    inside.map(|inside| Path::new("[root]").join(inside)).unwrap_or(target)
}

/// What counts of a file that a build made: of a link, where it leads. What it leads to counts by
/// itself.
pub fn content_made(path: &Path) -> Option<Fingerprint> {
    match std::fs::read_link(path) {
        Ok(target) => {
            let mut hasher = FpHasher::new("link that was made");
            hasher.bytes(in_project(path, target).as_os_str().as_encoded_bytes());
            Some(hasher.finish())
        }
        Err(_) => content(path),
    }
}

/// The same of bytes that need not be in a file, with the mode that it would have.
pub fn content_with(bytes: &[u8], mode: u32) -> Fingerprint {
    let mut hasher = FpHasher::new("file");
    hasher.number(u64::from(mode & 0o111));
    hasher.bytes(bytes);
    hasher.finish()
}

/// The bytes of a regular file. A pipe would keep us waiting for ever.
fn read(path: &Path) -> Option<Vec<u8>> {
    path.metadata().ok().filter(|meta| meta.is_file())?;
    std::fs::read(path).ok()
}

/// The same, as the state of the project's files has it.
pub fn content_unless_built(path: &Path) -> Option<Fingerprint> {
    let Some(bytes) = read(path) else { return content(path) };
    match built_kind(path, &bytes) {
        Some(Built::Part) => None,
        Some(Built::Whole) => Some(presence(path)),
        None => Some(content_of(path, &bytes)),
    }
}

enum Built {
    /// Goes into a program.
    Part,
    /// May be run or loaded by itself.
    Whole,
}

/// Whether a file was made by a build of ours, by its content.
fn built_kind(path: &Path, bytes: &[u8]) -> Option<Built> {
    if bytes.starts_with(b"\x7fELF") {
        let file = object::File::parse(bytes).ok()?;
        file.section_by_name(RECORD_SECTION).filter(|section| section.size() > 0)?;
        let is_part = file.kind() == ObjectKind::Relocatable;
        return Some(if is_part { Built::Part } else { Built::Whole });
    }
    if bytes.starts_with(b"!<arch>") {
        let archive = ArchiveFile::parse(bytes).ok()?;
        let is_ours = archive.members().flatten().any(|member| {
            let data = member.data(bytes).unwrap_or_default();
            matches!(built_kind(path, data), Some(Built::Part))
        });
        return is_ours.then_some(Built::Part);
    }
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
    let is_part = match extension {
        // The rule for an object, as compilers write it, or what automake puts there before.
        "d" | "Po" | "Plo" => start.split_whitespace().next().is_some_and(|target| {
            let is_object = |t: &str| t.ends_with(".o") || t.ends_with(".lo");
            start.trim() == "# dummy" || target.strip_suffix(':').is_some_and(is_object)
        }),
        "la" | "lo" => start.contains("libtool"),
        "gcno" => bytes.starts_with(b"oncg"),
        "gcda" => bytes.starts_with(b"adcg"),
        _ => false,
    };
    is_part.then_some(Built::Part)
}

pub fn is_build_description(name: &str) -> bool {
    let path = Path::new(name);
    let base = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let is_directory = name.ends_with('/');
    name == BUILD_COMMAND
        || !is_directory && BUILD_DESCRIPTIONS.contains(&base)
        || !is_directory && BUILD_EXTENSIONS.contains(&extension)
        || !is_directory && BUILD_BEGINNINGS.iter().any(|begin| base.starts_with(begin))
}

/// Whether a part of a makefile has nothing in it but targets and what they depend on.
pub fn is_list_of_dependencies(path: &Path) -> bool {
    let bytes = read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).replace("\\\n", " ");
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    { lines }.all(|line| line.contains(':') && !line.contains(['=', '\t', ';', '$']))
}

/// Whether a file lies where CMake or ninja builds: these make anew what has another command.
pub fn is_tracked(root: &Path, name: &str) -> bool {
    let path = bytes::path(name);
    let directories = path.ancestors().skip(1);
    { directories }.map(|directory| root.join(directory)).any(|directory| {
        ["CMakeCache.txt", "build.ninja"].iter().any(|file| directory.join(file).exists())
    })
}

/// Files whose content is known in another way.
pub fn is_configuration(workspace: &Workspace, name: &str) -> bool {
    name == CONFIG_FILE || workspace.config.suite_files().any(|file| file == name)
}
