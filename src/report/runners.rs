//! Selected tests in the words of the runners that are to run them.

use super::order::Part;
use super::text::one_line;
use serde_json::json;

/// Bytes that an expression of CMake may take once it is compiled, by the limit of
/// its older versions. Of one that is too long CTest runs no test, and is content.
const EXPRESSION_MAX: usize = 32_000;
/// Bytes of one argument of a command; Linux takes a little more.
const ARGUMENT_MAX: usize = 100_000;
/// What GitHub takes as the output of a job.
pub const GITHUB_MAX: usize = 1_000_000;

/// A file for `ctest --tests-from-file`, which has a name a line.
pub fn ctest_file(names: &[&str]) -> Result<String, String> {
    if let Some(name) = names.iter().find(|name| name.contains(['\n', '\r', '\0'])) {
        let name = one_line(name);
        return Err(format!("a line of a file for CTest cannot hold the name `{name}`"));
    }
    Ok(names.iter().map(|name| format!("{name}\n")).collect())
}

/// An expression for `ctest -R` that matches these names and no others.
pub fn ctest_expression(names: &[&str]) -> Result<String, String> {
    if names.is_empty() {
        // No test is without a name.
        return Ok(String::from("^$\n"));
    }
    let mut size = 0;
    let mut escaped = Vec::with_capacity(names.len());
    for name in names {
        let mut out = String::with_capacity(name.len());
        for c in name.chars() {
            if "^$.[]*+?|()\\".contains(c) {
                out.push('\\');
                // It is a piece of its own, and so is what follows.
                size += 8;
            }
            out.push(c);
        }
        size += name.len() + 8;
        escaped.push(out);
    }
    if size > EXPRESSION_MAX {
        return Err(format!(
            "{} are too many for one expression of CMake, which would then match none\nhint: \
             `--format ctest-file`, for `ctest --tests-from-file`; or several runs, with --suite",
            super::text::counted(names.len(), "name")
        ));
    }
    Ok(format!("^({})$\n", escaped.join("|")))
}

/// Words for `meson test`, one a line, quoted for shells and for xargs.
pub fn meson(names: &[&str]) -> Result<String, String> {
    let mut words: Vec<String> = Vec::new();
    for name in names {
        // What stands before the first colon is the project; none is any of them.
        let (project, test) = name.split_once(':').unwrap_or(("", name));
        let mut spellings = vec![format!("{project}:{test}")];
        // Newer versions take a word as a pattern, older ones as it is. What one
        // of them does not know, it leaves out.
        if name.contains(['*', '?', '[']) {
            let pattern = |text: &str| -> String {
                let each = text.chars().map(|c| match c {
                    '*' | '?' | '[' => format!("[{c}]"),
                    _ => c.to_string(),
                });
                each.collect()
            };
            spellings.push(format!("{}:{}", pattern(project), pattern(test)));
        }
        for spelling in spellings {
            let word = quoted(&spelling)?;
            if !words.contains(&word) {
                words.push(word);
            }
        }
    }
    Ok(words.iter().map(|word| format!("{word}\n")).collect())
}

/// The tests of one directory with a Makefile of automake.
#[derive(Debug, Default)]
pub struct MakeTests {
    /// As `make -C` takes it.
    pub directory: String,
    /// Words of TESTS.
    pub tests: Vec<String>,
    /// Whether its `check-local` is one of the tests.
    pub check_local: bool,
}

/// Arguments for make, a line for each time that it is to be called.
pub fn automake(directories: &[MakeTests]) -> Result<String, String> {
    let mut out = String::new();
    for MakeTests { directory, tests, check_local } in directories {
        let directory = quoted(directory)?;
        let mut rest = &tests[..];
        while !rest.is_empty() {
            let mut size = 0;
            let fits = rest.iter().take_while(|test| {
                size += test.len() + 1;
                size < ARGUMENT_MAX
            });
            let (now, later) = rest.split_at(fits.count().max(1));
            let words = now.join(" ").replace('$', "$$");
            // Not `check`, which would take the names to all SUBDIRS.
            let tests = quoted(&format!("TESTS={words}"))?;
            out.push_str(&format!("-C {directory} check-am {tests}\n"));
            rest = later;
        }
        if *check_local && tests.is_empty() {
            out.push_str(&format!("-C {directory} check-local\n"));
        }
    }
    Ok(out)
}

/// A matrix for GitHub Actions, in one line.
pub fn github(parts: &[Part]) -> String {
    let include = (1..).zip(parts).map(|(job, part)| {
        let names: Vec<String> = part.names.iter().map(|name| one_line(name)).collect();
        json!({
            "job": job,
            "count": names.len(),
            "seconds": part.time.as_secs_f64(),
            "tests": names.join("\n"),
        })
    });
    format!("{}\n", json!({ "include": include.collect::<Vec<_>>() }))
}

/// A word as shells and xargs read it.
fn quoted(word: &str) -> Result<String, String> {
    if word.contains(['\n', '\0']) {
        let word = one_line(word);
        return Err(format!("`{word}` cannot be an argument in a line"));
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-+=:,./@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return Ok(word.to_string());
    }
    Ok(format!("'{}'", word.replace('\'', "'\\''")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn names_are_escaped_as_each_runner_reads_them() {
        assert_eq!(ctest_expression(&["a.b", "x|y(1)"]).unwrap(), "^(a\\.b|x\\|y\\(1\\))$\n");
        assert_eq!(ctest_expression(&[]).unwrap(), "^$\n");
        assert_eq!(ctest_file(&["a b", "#c;d"]).unwrap(), "a b\n#c;d\n");
        assert_eq!(meson(&["p:a", "p:b c", "p:it's"]).unwrap(), "p:a\n'p:b c'\n'p:it'\\''s'\n");
        assert_eq!(meson(&["p:a", "p:a"]).unwrap(), "p:a\n");
        assert_eq!(meson(&["p:x[1]"]).unwrap(), "'p:x[1]'\n'p:x[[]1]'\n");
    }

    #[test]
    fn what_a_format_cannot_hold_is_an_error() {
        assert!(ctest_file(&["a\nb"]).unwrap_err().contains("`a\\nb`"));
        assert!(meson(&["p:a\nb"]).is_err());
        let long = "x".repeat(100);
        let names: Vec<&str> = (0..400).map(|_| long.as_str()).collect();
        assert!(ctest_expression(&names[..200]).is_ok());
        assert!(ctest_expression(&names).unwrap_err().contains("ctest-file"));
    }

    #[test]
    fn make_is_called_for_each_directory() {
        let tests = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        let directories = [
            MakeTests { directory: "b".into(), tests: tests(&["x", "y$"]), check_local: true },
            MakeTests { directory: "b/sub dir".into(), tests: tests(&[]), check_local: true },
        ];
        let expected = "-C b check-am 'TESTS=x y$$'\n-C 'b/sub dir' check-local\n";
        assert_eq!(automake(&directories).unwrap(), expected);
        let many = (0..30_000).map(|number| format!("test{number}")).collect();
        let many = MakeTests { directory: "b".into(), tests: many, check_local: false };
        let lines = automake(&[many]).unwrap();
        assert!(lines.lines().count() > 1 && lines.lines().all(|line| line.len() < 128 * 1024));
        assert_eq!(lines.matches("test").count(), 30_000);
    }

    #[test]
    fn a_matrix_is_one_line_and_may_be_empty() {
        assert_eq!(github(&[]), "{\"include\":[]}\n");
        let part = Part { names: vec!["a/x", "a/\"y\nz"], time: Duration::from_millis(1500) };
        let text = github(&[part]);
        assert_eq!(text.lines().count(), 1);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["include"][0]["tests"], "a/x\na/\"y\\nz");
        assert_eq!(value["include"][0]["seconds"], 1.5);
    }
}
