//! Where the project is, so that nothing that is recorded holds an absolute
//! path of it.

use super::vouched::Vouched;
use crate::bytes;
use rustc_hash::FxHashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Names of the variables that `edgewise build` hands to `edgewise cc`.
pub const ROOT_VARIABLE: &str = "EDGEWISE_ROOT";
pub const BUILD_DIRECTORY_VARIABLE: &str = "EDGEWISE_BUILD_DIR";
/// Directory of our own names for the compilers, which the look-up of the real
/// ones leaves out.
pub const SHIMS_VARIABLE: &str = "EDGEWISE_SHIMS";
/// File to which every compile and link of a build adds a line.
pub const LOG_VARIABLE: &str = "EDGEWISE_BUILD_LOG";

/// Name of the configuration file, which marks the root of a project.
pub const CONFIG_FILE: &str = "edgewise.toml";

/// Directory of everything edgewise keeps in a project.
pub const STATE_DIRECTORY: &str = ".edgewise";

/// Directories that hold no sources: a cache may bring the first, and passwords may be in the second.
const HIDDEN: [&str; 2] = [STATE_DIRECTORY, ".git"];

/// Whether a path relative to the root leads to what is no source.
pub fn is_hidden(below: &Path) -> bool {
    below.components().any(|part| HIDDEN.iter().any(|hidden| part.as_os_str() == *hidden))
}

const ROOT_MARK: &str = "%ROOT%";

#[derive(Clone, Debug)]
pub struct Project {
    pub root: PathBuf,
    pub build_directory: PathBuf,
    directories: Directories,
    pub(super) vouched: Arc<Vouched>,
}

impl Project {
    pub fn new(root: PathBuf, build_directory: PathBuf) -> Self {
        let (directories, vouched) = (Directories::default(), Arc::default());
        Self { root, build_directory, directories, vouched }
    }

    /// The project that a command run in `directory` belongs to.
    pub fn at(directory: &Path) -> Self {
        let root = find_root(directory);
        Self::new(root.clone(), root)
    }

    /// As `edgewise build` said, or by looking around.
    pub fn of_environment(directory: &Path) -> Self {
        let from = |name| std::env::var_os(name).map(PathBuf::from);
        let root = from(ROOT_VARIABLE).unwrap_or_else(|| find_root(directory));
        let build_directory = from(BUILD_DIRECTORY_VARIABLE).unwrap_or_else(|| root.clone());
        Self::new(root, build_directory)
    }

    /// A path as it is recorded: relative to the root if below it, without links to
    /// directories on the way, so that a file has one name.
    pub fn record_path(&self, directory: &Path, path: &str) -> String {
        self.directories.name_in(&self.root, &directory.join(bytes::path(path)))
    }

    pub fn record_object(&self, directory: &Path, path: &str) -> String {
        self.directories.name_in(&self.build_directory, &directory.join(bytes::path(path)))
    }

    /// Where a recorded path leads.
    pub fn place(&self, name: &str) -> PathBuf {
        self.root.join(bytes::path(name))
    }

    /// Whether a path is below the root, by whatever name that is reached.
    pub fn holds(&self, path: &Path) -> bool {
        path.starts_with(&self.root) || self.directories.inside(&self.root, path).is_some()
    }

    /// Replaces the root inside an argument by a mark.
    pub fn record_argument(&self, argument: &str) -> String {
        match bytes::name(&self.root) {
            root if root.len() > 1 => argument.replace(&root, ROOT_MARK),
            _ => argument.to_string(),
        }
    }

    /// Undoes [`Self::record_argument`].
    pub fn expand_argument(&self, argument: &str) -> String {
        argument.replace(ROOT_MARK, &bytes::name(&self.root))
    }
}

/// Directories without links, as far as they were asked for.
#[derive(Clone, Debug, Default)]
struct Directories(Arc<Mutex<FxHashMap<PathBuf, Option<PathBuf>>>>);

impl Directories {
    /// The name of a path in `base`, or as it is where it is not below.
    fn name_in(&self, base: &Path, path: &Path) -> String {
        // What `..` leads to behind a link only the file system knows.
        let inside = self.inside(base, path).or_else(|| self.inside(base, &clean(path)));
        match inside {
            Some(inside) => relative(base, &base.join(inside)),
            None => relative(base, &clean(path)),
        }
    }

    /// The path relative to `base`, if a directory on the way to it is `base` or below: the
    /// last of these counts, without links. Behind a link that leads out of `base` names stay
    /// as they are.
    fn inside(&self, base: &Path, path: &Path) -> Option<PathBuf> {
        if !path.is_absolute() {
            return None;
        }
        let base = self.real(base)?;
        // Mostly it is a file, and no directory itself.
        path.ancestors().skip(1).chain([path]).find_map(|directory| {
            let real = self.real(directory)?;
            let inside = real.strip_prefix(&base).ok()?;
            Some(clean(&inside.join(path.strip_prefix(directory).ok()?)))
        })
    }

    /// A directory without links; none if it is no directory.
    fn real(&self, path: &Path) -> Option<PathBuf> {
        let mut known = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(real) = known.get(path) {
            return real.clone();
        }
        let real = path.canonicalize().ok().filter(|real| real.is_dir());
        known.insert(path.to_path_buf(), real.clone());
        real
    }
}

fn find_root(directory: &Path) -> PathBuf {
    for mark in [CONFIG_FILE, ".git"] {
        if let Some(root) = directory.ancestors().find(|dir| dir.join(mark).exists()) {
            return root.to_path_buf();
        }
    }
    directory.to_path_buf()
}

/// Removes `.` and resolves `..` by name.
pub fn clean(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            _ => out.push(part),
        }
    }
    out
}

/// `path` relative to `base`, or as it is where it is not below.
pub fn relative(base: &Path, path: &Path) -> String {
    match path.strip_prefix(base) {
        Ok(rest) if rest.as_os_str().is_empty() => String::from("."),
        Ok(rest) => bytes::name(rest),
        Err(_) => bytes::name(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_recorded_without_the_root() {
        let project = Project::new("/p/x".into(), "/p/x/build".into());
        let dir = Path::new("/p/x/src");
        assert_eq!(project.record_path(dir, "../lib/./a.c"), "lib/a.c");
        assert_eq!(project.record_path(dir, "/usr/include/stdio.h"), "/usr/include/stdio.h");
        assert_eq!(project.record_object(dir, "/p/x/build/a.o"), "a.o");
        assert_eq!(project.record_argument("-I/p/x/include"), "-I%ROOT%/include");
        assert_eq!(project.expand_argument("-I%ROOT%/include"), "-I/p/x/include");
    }

    #[test]
    fn a_link_to_the_root_is_another_name_of_it() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let (root, link) = (home.join("real"), home.join("link"));
        std::fs::create_dir_all(root.join("include")).unwrap();
        std::os::unix::fs::symlink(&root, &link).unwrap();
        std::os::unix::fs::symlink(&home, home.join("around")).unwrap();
        let project = Project::new(root.clone(), root.clone());
        let record = |path: &Path| project.record_path(&root, path.to_str().unwrap());
        assert_eq!(record(&link.join("include/x.h")), "include/x.h");
        assert_eq!(record(&link.join("include/../gone.h")), "gone.h");
        assert_eq!(record(&link), ".");
        assert_eq!(record(&home.join("around/real/main.c")), "main.c");
        assert!(project.holds(&link.join("main.c")) && !project.holds(&home.join("other/main.c")));
        let other = home.join("links/x.h");
        assert_eq!(record(&other), other.to_str().unwrap());
        // A file has one name, and `..` leads where the kernel says.
        std::fs::create_dir_all(root.join("deep/er")).unwrap();
        std::os::unix::fs::symlink("deep/er", root.join("short")).unwrap();
        std::os::unix::fs::symlink(home.join("other"), root.join("out")).unwrap();
        std::fs::create_dir_all(home.join("other/sub")).unwrap();
        assert_eq!(record(&root.join("short/x.h")), "deep/er/x.h");
        assert_eq!(record(&root.join("short/../x.h")), "deep/x.h");
        assert_eq!(record(&root.join("short/new/x.h")), "deep/er/new/x.h");
        assert_eq!(record(&root.join("out/sub/x.h")), "out/sub/x.h");
        assert_eq!(record(&root.join("gone/../x.h")), "x.h");
        // What is said in arguments is said again as it was.
        let argument = format!("-I{}/include", link.display());
        assert_eq!(project.record_argument(&argument), argument);
    }
}
