//! The state of the project's files.

use super::build_state::BuildState;
use super::contents::Contents;
use super::git;
use super::workspace::Workspace;
use crate::compiler::project::{CONFIG_FILE, STATE_DIRECTORY, relative};
use crate::compiler::text::stamp::{Moment, Stamp};
use crate::history::format::FileState;
use crate::ids::{Fingerprint, FpHasher};
use crate::instrument::RECORD_SECTION;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectKind, ObjectSection};
use rayon::prelude::*;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Directories that hold no files of the project.
const SKIPPED_DIRECTORIES: &[&str] = &[".git", ".hg", ".svn", STATE_DIRECTORY];

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
    let Paths { mut files, directories } = paths(root, |name| ignored.is_match(name))?;
    files.extend(elsewhere(built).map(|name| (name.clone(), PathBuf::from(name))));
    let found: Vec<_> = files
        .into_par_iter()
        .with_min_len(32)
        .map(|(name, path)| {
            if built.programs.contains(&name) {
                return (name, path.exists().then(|| presence(&path)), None);
            }
            let read = || content_unless_built(&path);
            let (content, fresh) = known.look(&name, &path, began, read);
            (name, content, fresh)
        })
        .collect();
    known.limit(found.len());
    let mut state = FileState::new();
    for (name, content, fresh) in found {
        if let Some(fresh) = fresh {
            known.remember(name.clone(), fresh);
        }
        state.extend(content.map(|content| (name, content)));
    }
    state.extend(directories.iter().map(|path| (directory_name(root, path), directory())));
    // Where a link leads counts, whatever is there.
    let links = directories.iter().filter(|path| path.is_symlink());
    state.extend(links.filter_map(|path| Some((relative(root, path), content(path)?))));
    state.extend(git::state(root, known, began).map(|git| (String::from(git::STATE), git)));
    if let Some(command) = &workspace.config.build.command {
        state.insert(String::from(BUILD_COMMAND), Fingerprint::of(command.as_bytes()));
    }
    Ok(state)
}

/// Files outside of the project that are not preprocessed again to see whether
/// they are another text.
fn elsewhere(built: &BuildState) -> impl Iterator<Item = &String> {
    built.unanalysed.iter().filter(|name| Path::new(name).is_absolute())
}

/// Adds those of them to the state before a build of which only the build tells, as
/// far as they are since then what they were.
pub fn add_elsewhere(state: &mut FileState, built: &BuildState, began: Moment) {
    for name in elsewhere(built).filter(|name| !state.contains_key(*name)).collect::<Vec<_>>() {
        let path = Path::new(name);
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
            let is_product = |name: &str| is_presence(&root.join(name), now.get(name));
            let is_input = |name: &str| makes_programs(built, name) && !is_product(name);
            as_built.retain(|name, _| !is_input(name));
            for (name, content) in last.iter().filter(|(name, _)| is_build_description(name)) {
                as_built.insert(name.clone(), *content);
            }
            let others = then.iter().filter(|(name, _)| !is_build_description(name));
            for (name, content) in others.filter(|(name, _)| is_input(name)) {
                as_built.insert(name.clone(), *content);
            }
        }
        Ok(Self { now, as_built })
    }
}

/// Those of the files that programs are made from.
pub fn made_from(built: &BuildState, files: &FileState) -> FileState {
    let made_from = files.iter().filter(|(name, _)| makes_programs(built, name));
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
}

/// Whether a name in a state is that of a file or directory.
pub fn is_file(name: &str) -> bool {
    name != BUILD_COMMAND && name != git::STATE
}

/// A directory is known by its name with a slash behind it.
pub fn directory_name(root: &Path, path: &Path) -> String {
    format!("{}/", relative(root, path))
}

/// The state of any directory: that it is there.
pub fn directory() -> Fingerprint {
    Fingerprint::of(b"directory")
}

pub fn is_skipped(name: &OsStr) -> bool {
    SKIPPED_DIRECTORIES.iter().any(|skipped| name == *skipped)
}

/// All below a directory but what is ignored; of directories the name has a slash behind it.
pub fn paths(root: &Path, is_ignored: impl Fn(&str) -> bool) -> anyhow::Result<Paths> {
    let mut found = Paths { files: Vec::new(), directories: Vec::new() };
    let mut todo = vec![root.to_path_buf()];
    let mut seen = HashSet::new();
    while let Some(directory) = todo.pop() {
        // Links may lead to a directory twice, or in a circle.
        let place = fs_err::metadata(&directory)?;
        if !seen.insert((place.dev(), place.ino())) {
            continue;
        }
        for entry in fs_err::read_dir(&directory)? {
            let entry = entry?;
            let path = entry.path();
            let name = relative(root, &path);
            let kind = entry.file_type()?;
            if kind.is_dir() || kind.is_symlink() && path.is_dir() {
                if !is_skipped(&entry.file_name()) && !is_ignored(&format!("{name}/")) {
                    found.directories.push(path.clone());
                    todo.push(path);
                }
            } else if !is_ignored(&name) {
                found.files.push((name, path));
            }
        }
    }
    Ok(found)
}

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
        let target = std::fs::read_link(path).ok();
        let kind = std::fs::symlink_metadata(path).ok()?.permissions().mode() & libc::S_IFMT;
        let mut hasher = FpHasher::new("special file");
        hasher.number(u64::from(kind));
        hasher.bytes(target.unwrap_or_default().as_os_str().as_encoded_bytes());
        return Some(hasher.finish());
    };
    Some(content_of(path, &bytes))
}

fn content_of(path: &Path, bytes: &[u8]) -> Fingerprint {
    content_with(bytes, path.metadata().map_or(0, |meta| meta.permissions().mode()))
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
    let directories = Path::new(name).ancestors().skip(1);
    { directories }.map(|directory| root.join(directory)).any(|directory| {
        ["CMakeCache.txt", "build.ninja"].iter().any(|file| directory.join(file).exists())
    })
}

/// Files whose content is known in another way.
pub fn is_configuration(workspace: &Workspace, name: &str) -> bool {
    name == CONFIG_FILE || workspace.config.suite_files().any(|file| file == name)
}
