//! Suites of kind `list`: a name and a command a line.

use super::{SuiteError, TestCase};
use std::path::Path;

/// Reads a list. The first word of a line is the name, the rest the command;
/// empty lines and lines that begin with `#` are left out.
pub fn read(path: &Path, shown: &str, suite: &str) -> Result<Vec<TestCase>, SuiteError> {
    let text = fs_err::read_to_string(path)
        .map_err(|error| SuiteError::Read { path: shown.to_string(), what: error.kind() })?;
    parse(&text, shown, suite)
}

fn parse(text: &str, shown: &str, suite: &str) -> Result<Vec<TestCase>, SuiteError> {
    let mut tests: Vec<TestCase> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((name, command)) = line.split_once(char::is_whitespace) else {
            return Err(SuiteError::Line {
                path: shown.to_string(),
                line: number + 1,
                what: format!("`{line}` has a name but no command"),
            });
        };
        let name = format!("{suite}/{name}");
        tests.push(TestCase::shell(name, command.trim().to_string()));
    }
    Ok(tests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_and_commands() {
        let tests = parse("# all\n\none  ./a  -x\ntwo ./b\n", "list", "cli").unwrap();
        let expected = [("cli/one", "./a  -x"), ("cli/two", "./b")];
        let expected = expected.map(|(n, c)| TestCase::shell(n.to_string(), c.to_string()));
        assert_eq!(tests, expected);
    }

    #[test]
    fn a_name_alone_is_an_error_with_its_place() {
        let error = parse("one ./a\ntwo\n", "tests/list", "cli").unwrap_err();
        assert_eq!(error.to_string(), "tests/list:2: `two` has a name but no command");
    }
}
