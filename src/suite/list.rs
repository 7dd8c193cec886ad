//! Suites of kind `list`: a name and a command a line, in a file or printed by a
//! generator. And of kind `cases`: a program of many tests, which it lists.

use super::cases::ALL_CASES;
use super::tool::Place;
use super::{ListedAt, SuiteError, TestCase};
use crate::bytes;
use crate::trace::cases::Cases;
use std::collections::HashSet;
use std::io::ErrorKind;

/// Reads a list from a file, which is relative to the root.
pub fn read(place: &Place, file: &str) -> Result<Vec<TestCase>, SuiteError> {
    let text =
        fs_err::read(place.root.join(bytes::path(file))).map_err(|error| SuiteError::Read {
            path: file.to_string(),
            suite: place.suite.to_string(),
            what: match error.kind() {
                ErrorKind::NotFound => String::from("there is no such file"),
                kind => kind.to_string(),
            },
        })?;
    let text = bytes::to_text(&text);
    let mut tests = parse(&text, file, place)?;
    for (test, (line, ..)) in tests.iter_mut().zip(lines(&text)) {
        test.listed = Some(ListedAt { file: file.to_string(), line });
    }
    Ok(tests)
}

/// The command that a list has for a test, which is named without its suite.
pub fn command_in(text: &str, name: &str) -> Option<String> {
    lines(text).find(|(_, known, _)| *known == name).map(|(_, _, command)| command.to_string())
}

/// Runs a shell command that prints a list.
pub fn generate(place: &Place, generator: &str) -> Result<Vec<TestCase>, SuiteError> {
    let text = place.run(&["/bin/sh", "-c", generator], None, "")?;
    parse(&text, &format!("suite `{}`: `{generator}`", place.suite), place)
}

/// Runs a shell command that prints names of cases, each of which is a test of
/// its own. Where the command takes names, each has a process of its own: with `{case}`, and with
/// `{cases}` unless they are independent. Otherwise they are cases of one process.
pub fn cases(
    place: &Place,
    list: &str,
    command: &str,
    cases: Cases,
) -> Result<Vec<TestCase>, SuiteError> {
    let text = place.run(&["/bin/sh", "-c", list], None, "")?;
    let names: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut seen = HashSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(**name)) {
        return Err(place.error(format!("`{list}` prints the case `{twice}` twice")));
    }
    let is_alone = command.contains("{case}");
    let case = |name: &str| {
        let mut command = command.replace("{case}", &quoted(name));
        if cases == Cases::InOrder {
            command = command.replace(ALL_CASES, &quoted(name));
        }
        TestCase {
            directory: place.directory.to_path_buf(),
            case: (!is_alone).then(|| name.to_string()),
            cases,
            ..TestCase::shell(name.to_string(), command)
        }
    };
    Ok(names.into_iter().map(case).collect())
}

/// A word as the shell reads it.
pub fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_string(), |text| text.into_owned())
}

/// The first word of a line is the name, the rest the command; empty lines and
/// lines that begin with `#` are left out.
fn parse(text: &str, shown: &str, place: &Place) -> Result<Vec<TestCase>, SuiteError> {
    let tests = lines(text).map(|(line, name, command)| {
        if command.is_empty() {
            return Err(SuiteError::Line {
                path: shown.to_string(),
                line,
                what: format!("`{name}` has a name but no command"),
            });
        }
        let test = TestCase::shell(name.to_string(), command.to_string());
        Ok(TestCase { directory: place.directory.to_path_buf(), ..test })
    });
    tests.collect()
}

/// Number, name and command of each line of a list that is about a test.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    let lines = text.lines().enumerate().map(|(number, line)| (number + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines.map(|(number, line)| {
        let (name, command) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        (number, name, command.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn place() -> Place<'static> {
        Place { root: Path::new("/"), suite: "cli", directory: Path::new("") }
    }

    #[test]
    fn reads_names_and_commands() {
        let tests = parse("# all\n\none  ./a  -x\ntwo ./b\n", "list", &place()).unwrap();
        let expected = [("one", "./a  -x"), ("two", "./b")];
        let expected = expected.map(|(n, c)| TestCase::shell(n.to_string(), c.to_string()));
        assert_eq!(tests, expected);
    }

    #[test]
    fn a_name_alone_is_an_error_with_its_place() {
        let error = parse("one ./a\ntwo\n", "tests/list", &place()).unwrap_err();
        assert_eq!(error.to_string(), "tests/list:2: `two` has a name but no command");
    }

    #[test]
    fn a_generator_that_fails_is_named_with_its_words() {
        let error = generate(&place(), "echo no list >&2; exit 3").unwrap_err().to_string();
        for part in ["suite `cli`", "exit 3", "exit status: 3", "no list"] {
            assert!(error.contains(part), "{error}");
        }
        let tests = generate(&place(), "echo a true; echo b false").unwrap();
        assert_eq!(tests.iter().map(|test| test.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn cases_are_quoted() {
        let order = Cases::InOrder;
        let list = "printf 'one\\ntwo words\\n'";
        let tests = cases(&place(), list, "./t --only {case}", order).unwrap();
        let expected = [("one", "./t --only one"), ("two words", "./t --only 'two words'")];
        assert_eq!(tests, expected.map(|(n, c)| TestCase::shell(n.into(), c.into())));
        assert!(cases(&place(), "echo a; echo a", "{case}", order).is_err());
    }
}
