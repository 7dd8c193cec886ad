//! Where the project is, so that nothing that is recorded holds an absolute
//! path of it.

use std::path::{Component, Path, PathBuf};

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

const ROOT_MARK: &str = "%ROOT%";

#[derive(Clone, Debug)]
pub struct Project {
    pub root: PathBuf,
    pub build_directory: PathBuf,
}

impl Project {
    /// The project that a command run in `directory` belongs to.
    pub fn at(directory: &Path) -> Self {
        let root = find_root(directory);
        Self { build_directory: root.clone(), root }
    }

    /// As `edgewise build` said, or by looking around.
    pub fn of_environment(directory: &Path) -> Self {
        let from = |name| std::env::var_os(name).map(PathBuf::from);
        let root = from(ROOT_VARIABLE).unwrap_or_else(|| find_root(directory));
        let build_directory = from(BUILD_DIRECTORY_VARIABLE).unwrap_or_else(|| root.clone());
        Self { root, build_directory }
    }

    /// A path as it is recorded: relative to the root if below it.
    pub fn record_path(&self, directory: &Path, path: &str) -> String {
        relative(&self.root, &clean(&directory.join(path)))
    }

    pub fn record_object(&self, directory: &Path, path: &str) -> String {
        relative(&self.build_directory, &clean(&directory.join(path)))
    }

    /// Replaces the root inside an argument by a mark.
    pub fn record_argument(&self, argument: &str) -> String {
        match self.root.to_str() {
            Some(root) if root.len() > 1 => argument.replace(root, ROOT_MARK),
            _ => argument.to_string(),
        }
    }

    /// Undoes [`Self::record_argument`].
    pub fn expand_argument(&self, argument: &str) -> String {
        argument.replace(ROOT_MARK, &self.root.to_string_lossy())
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
        Ok(rest) => rest.to_string_lossy().into_owned(),
        Err(_) => path.to_string_lossy().into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_recorded_without_the_root() {
        let project = Project { root: "/p/x".into(), build_directory: "/p/x/build".into() };
        let dir = Path::new("/p/x/src");
        assert_eq!(project.record_path(dir, "../lib/./a.c"), "lib/a.c");
        assert_eq!(project.record_path(dir, "/usr/include/stdio.h"), "/usr/include/stdio.h");
        assert_eq!(project.record_object(dir, "/p/x/build/a.o"), "a.o");
        assert_eq!(project.record_argument("-I/p/x/include"), "-I%ROOT%/include");
        assert_eq!(project.expand_argument("-I%ROOT%/include"), "-I/p/x/include");
    }
}
