//! What configure scripts try out is none of our business: it tells them what
//! the compiler can do, and becomes no part of the project.

use super::flags::{self, Effect};
use std::path::Path;

/// Whether a command is such a trial, by the names that the tools use for its
/// inputs and its output.
pub fn is_trial(directory: &Path, arguments: &[String]) -> bool {
    let is_trial = |name: &str| is_trial_file(Path::new(name)) || is_place_of_trials(name.as_ref());
    is_place_of_trials(directory)
        || flags::each(arguments).any(|given| match given.effect() {
            Effect::Output => given.value.is_some_and(|name| name == "/dev/null" || is_trial(name)),
            _ => !given.is_option() && is_trial(given.words[0]),
        })
}

/// autoconf's `conftest.c`, `conftest.o`, `conftest`, `conftest1.o`.
fn is_trial_file(path: &Path) -> bool {
    let stem = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let stem = stem.split('.').next().unwrap_or_default();
    stem.trim_end_matches(|c: char| c.is_ascii_digit()) == "conftest"
}

/// Directories of CMake and Meson: the file itself or what is in it.
fn is_place_of_trials(path: &Path) -> bool {
    let mut in_cmake = false;
    path.components().any(|part| {
        let part = part.as_os_str().to_str().unwrap_or_default();
        let is_place = part == "meson-private"
            || in_cmake
                && (["CMakeTmp", "CMakeScratch"].contains(&part) || part.starts_with("CompilerId"));
        in_cmake |= part == "CMakeFiles";
        is_place
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_trial_in(directory: &str, line: &str) -> bool {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        is_trial(Path::new(directory), &words)
    }

    #[test]
    fn trials_are_known_by_their_names() {
        assert!(is_trial_in("/p", "-c -g conftest.c"));
        assert!(is_trial_in("/p", "-o conftest conftest.o conftest2.o"));
        assert!(is_trial_in("/p/b/CMakeFiles/CMakeScratch/TryCompile-a1", "-c x.c"));
        assert!(is_trial_in("/p/b/CMakeFiles/3.25.1/CompilerIdC", "CMakeCCompilerId.c"));
        assert!(is_trial_in(
            "/p",
            "/p/b/meson-private/tmpx/testfile.c -o /p/b/meson-private/tmpx/o"
        ));
        assert!(is_trial_in("/p", "-S -x c /dev/null -o /dev/null"));
        assert!(!is_trial_in("/p/b", "-c -o CMakeFiles/prog.dir/a.c.o a.c"));
        assert!(!is_trial_in("/p", "-c conftester.c -MF /dev/null -I CMakeFiles/CMakeTmp"));
    }
}
