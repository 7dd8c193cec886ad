//! Suites of kinds `glob` and `tap`: each file that a pattern finds is a test.

use super::judgement::Judgement;
use super::list::quoted;
use super::tap::Dialect;
use super::tool::Place;
use super::{SuiteError, TestCase, TestCommand};
use crate::bytes;
use globset::{GlobBuilder, GlobMatcher};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

/// Directories that hold no tests.
const SKIPPED: &[&str] = &[".git", ".hg", ".svn", ".edgewise"];
/// As much of a file as is looked at to tell what it is.
const START: usize = 512;

/// Scripts that pass with exit code 0.
pub fn glob(
    place: &Place,
    patterns: &[String],
    command: &str,
) -> Result<Vec<TestCase>, SuiteError> {
    let files = find(place, patterns)?.into_iter();
    Ok(files.map(|(name, file)| from_template(place, name, &file, command)).collect())
}

/// Scripts that print TAP, run by a command or as `prove` would.
pub fn tap(
    place: &Place,
    patterns: &[String],
    command: Option<&str>,
) -> Result<Vec<TestCase>, SuiteError> {
    let mut tests = Vec::new();
    for (name, file) in find(place, patterns)? {
        let mut test = match command {
            Some(command) => from_template(place, name, &file, command),
            None => {
                let start = start(&place.root.join(&file)).map_err(|error| {
                    place.error(format!("cannot read {}: {error}", file.display()))
                })?;
                let mut words = interpreter(&start);
                let shown = from_directory(place, &file);
                // The shell would look for a bare name elsewhere.
                words.push(if shown.contains('/') { shown } else { format!("./{shown}") });
                TestCase { command: TestCommand::Words(words), ..of_file(place, name, &file) }
            }
        };
        test.judgement = Judgement { tap: Some(Dialect::Prove), ..Judgement::default() };
        tests.push(test);
    }
    Ok(tests)
}

fn of_file(place: &Place, name: String, file: &Path) -> TestCase {
    TestCase {
        name,
        directory: place.directory.to_path_buf(),
        inputs: vec![globset::escape(&bytes::name(file))],
        ..TestCase::default()
    }
}

fn from_template(place: &Place, name: String, file: &Path, command: &str) -> TestCase {
    let command = command.replace("{}", &quoted(&from_directory(place, file)));
    TestCase { command: TestCommand::Shell(command), ..of_file(place, name, file) }
}

/// A file of the project as seen from where its test runs.
fn from_directory(place: &Place, file: &Path) -> String {
    let mut there =
        place.directory.components().filter(|part| *part != Component::CurDir).peekable();
    let mut here = file.components().peekable();
    while there.peek().is_some() && there.peek() == here.peek() {
        there.next();
        here.next();
    }
    let mut path: PathBuf = there.map(|_| Component::ParentDir).collect();
    path.extend(here);
    bytes::name(path)
}

/// The files that the patterns find, by the names of their tests.
fn find(place: &Place, patterns: &[String]) -> Result<Vec<(String, PathBuf)>, SuiteError> {
    let mut found: BTreeMap<PathBuf, String> = BTreeMap::new();
    for pattern in patterns {
        let matcher = GlobBuilder::new(pattern)
            .literal_separator(true)
            .build()
            .map_err(|error| place.error(format!("pattern: {error}")))?
            .compile_matcher();
        let count = found.len();
        let fixed = fixed_part(pattern);
        let name_of = |file: &Path| name_of(file, &fixed, pattern);
        walk(place, &fixed, &matcher, &mut |file| {
            let name = name_of(&file);
            found.entry(file).or_insert(name);
        })?;
        if found.len() == count {
            let what = format!("no file matches the pattern `{pattern}`");
            return Err(
                place.error(format!("{what}\nhint: patterns begin in the root of the project"))
            );
        }
    }
    Ok(found.into_iter().map(|(file, name)| (name, file)).collect())
}

/// The directories of a pattern before the first that is not just a name.
fn fixed_part(pattern: &str) -> PathBuf {
    let parts: Vec<&str> = pattern.split('/').collect();
    let is_fixed = |part: &&&str| !part.contains(['*', '?', '[', '{', '\\']);
    let fixed = parts[..parts.len() - 1].iter().take_while(is_fixed);
    fixed.map(|part| bytes::path(part)).collect()
}

/// A name that stays when files are added: without the directories that the
/// pattern names, and without the extension if the pattern has one.
fn name_of(file: &Path, fixed: &Path, pattern: &str) -> String {
    let name = file.strip_prefix(fixed).unwrap_or(file);
    let extension = file.extension().and_then(|extension| extension.to_str());
    let is_in_pattern = extension.is_some_and(|e| pattern.ends_with(&format!(".{e}")));
    let name = if is_in_pattern { name.with_extension("") } else { name.to_path_buf() };
    bytes::name(name)
}

fn walk(
    place: &Place,
    directory: &Path,
    matcher: &GlobMatcher,
    take: &mut dyn FnMut(PathBuf),
) -> Result<(), SuiteError> {
    let failed = |error: std::io::Error| place.error(error.to_string());
    let absolute = place.root.join(directory);
    if !absolute.is_dir() {
        return Ok(());
    }
    for entry in fs_err::read_dir(&absolute).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = directory.join(entry.file_name());
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            let is_root = absolute == place.root;
            if !(is_root && SKIPPED.iter().any(|skipped| entry.file_name() == *skipped)) {
                walk(place, &path, matcher, take)?;
            }
        } else if (matcher.is_match(&path) || matcher.is_match(bytes::name(&path)))
            && entry.path().is_file()
        {
            take(path);
        }
    }
    Ok(())
}

/// What the beginning of a file says of how it is run.
enum Start {
    /// The words behind `#!`.
    Interpreter(Vec<String>),
    Program,
    Text,
}

fn start(path: &Path) -> std::io::Result<Start> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let file = fs_err::File::open(path)?;
    let is_executable = file.metadata()?.permissions().mode() & 0o111 != 0;
    file.take(START as u64).read_to_end(&mut bytes)?;
    if let Some(line) = bytes.strip_prefix(b"#!") {
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = bytes::to_text(line);
        return Ok(Start::Interpreter(line.split_whitespace().map(String::from).collect()));
    }
    Ok(if is_executable && bytes.contains(&0) { Start::Program } else { Start::Text })
}

/// The words before a script. `prove` hands everything but programs to perl,
/// which hands it on to another interpreter if the first line names one.
fn interpreter(start: &Start) -> Vec<String> {
    match start {
        Start::Program => Vec::new(),
        Start::Interpreter(words) => {
            let of_perl = words.iter().position(|word| word.rsplit('/').next() == Some("perl"));
            match of_perl {
                Some(perl) => {
                    let switches = words[perl + 1..].iter().cloned();
                    std::iter::once(String::from("perl")).chain(switches).collect()
                }
                None => words.clone(),
            }
        }
        Start::Text => vec![String::from("perl")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_hang_on_other_files() {
        let name =
            |file: &str, pattern: &str| name_of(Path::new(file), &fixed_part(pattern), pattern);
        assert_eq!(name("tests/a/b.sh", "tests/**/*.sh"), "a/b");
        assert_eq!(name("tests/a.sh", "tests/*.sh"), "a");
        assert_eq!(name("tests/a.sh", "tests/*"), "a.sh");
        assert_eq!(name("tests/one.sh", "tests/one.sh"), "one");
        assert_eq!(name("t/x.1.t", "t/*.t"), "x.1");
    }

    #[test]
    fn files_are_found_and_seen_from_the_directory() {
        let root = tempfile::tempdir().unwrap();
        for file in
            ["tests/a b.sh", "tests/sub/c.sh", "tests/d.txt", "tests/.git/e.sh", ".git/f.sh"]
        {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "exit 0\n").unwrap();
        }
        let directory = Path::new("build/x");
        let place = Place { root: root.path(), suite: "s", directory };
        // Only the repository of the project itself is left out.
        let tests = glob(&place, &[String::from("**/*.sh")], "sh {}").unwrap();
        let shown = |test: &TestCase| (test.name.clone(), test.command.clone());
        let expected = [
            ("tests/.git/e", "sh ../../tests/.git/e.sh"),
            ("tests/a b", "sh '../../tests/a b.sh'"),
            ("tests/sub/c", "sh ../../tests/sub/c.sh"),
        ];
        let expected = expected.map(|(n, c)| (n.to_string(), TestCommand::Shell(c.to_string())));
        assert_eq!(tests.iter().map(shown).collect::<Vec<_>>(), expected);
        let error = glob(&place, &[String::from("test/*.sh")], "sh {}").unwrap_err();
        assert!(error.to_string().contains("`test/*.sh`"), "{error}");
    }

    #[test]
    fn interpreters_as_prove_takes_them() {
        let line = |text: &str| Start::Interpreter(text.split(' ').map(String::from).collect());
        assert_eq!(interpreter(&line("/usr/bin/env perl -w")), ["perl", "-w"]);
        assert_eq!(interpreter(&line("/bin/sh -e")), ["/bin/sh", "-e"]);
        assert_eq!(interpreter(&Start::Text), ["perl"]);
        assert!(interpreter(&Start::Program).is_empty());
    }
}
