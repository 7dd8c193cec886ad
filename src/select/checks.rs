//! Checks of tests: what runs only where one of them fails runs in no test that passes, so it is
//! no gap that no test reaches it.

use super::version::UnitVersion;
use crate::cfg::format::Graph;
use crate::ids::NodeId;

/// Parts of the names of macros that check something.
const CHECKS: [&str; 7] = ["assert", "check", "expect", "require", "verify", "ensure", "fail"];
/// What a failed assertion calls.
const ABORTS: [&str; 8] = [
    "abort",
    "__assert_fail",
    "__assert_perror_fail",
    "__assert",
    "__assert_rtn",
    "__builtin_trap",
    "__builtin_abort",
    "__builtin_unreachable",
];
/// Names of directories with tests, and words in the names of their sources.
const DIRECTORIES: [&str; 9] =
    ["test", "tests", "t", "testing", "testsuite", "unittest", "unittests", "check", "spec"];

/// How code ends that never goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// By a failed assertion.
    Abort,
    /// In any way that ends the process.
    Process,
}

/// Whether a source holds tests, by its name.
pub fn is_test_source(file: &str) -> bool {
    let (directories, name) = file.rsplit_once('/').unwrap_or(("", file));
    let stem = name.split('.').next().unwrap_or(name).to_ascii_lowercase();
    let mut words = stem.split(|c: char| !c.is_ascii_alphanumeric());
    let is_named = stem.starts_with("test") || words.any(|word| DIRECTORIES.contains(&word));
    let mut directories = directories.split('/').map(str::to_ascii_lowercase);
    is_named || directories.any(|directory| DIRECTORIES.contains(&directory.as_str()))
}

/// Whether a statement may be a check: it calls something with the name of one, or it is in a
/// source that holds tests.
pub fn is_check(file: &str, statement: &str) -> bool {
    let line = statement.lines().next().unwrap_or_default();
    let mut calls = line.split('(').map(|before| {
        let before = before.trim_end();
        let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        before.get(start..).unwrap_or_default().to_ascii_lowercase()
    });
    is_test_source(file) || calls.any(|name| CHECKS.iter().any(|word| name.contains(word)))
}

/// Whether code stands in a source as it is; otherwise it comes from a macro.
pub fn stands_in(code: &str, source: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    let code = plain(code);
    plain(source).contains(code.trim_end_matches(';'))
}

/// Whether every way from a node comes to an end of that kind.
pub fn only_leads_to(unit: &UnitVersion, graph: &Graph, from: NodeId, ends: Ends) -> bool {
    let mut seen = vec![false; graph.nodes.len()];
    let mut todo = vec![from];
    let mut has_end = false;
    while let Some(at) = todo.pop() {
        if std::mem::replace(&mut seen[at.ix()], true) {
            continue;
        }
        let mut ways = graph.out_edges(at).map(|(_, way)| way.to).peekable();
        if ways.peek().is_none() {
            let calls = graph.node(at).calls.iter();
            let mut names = calls.map(|call| unit.index.symbols[*call as usize].name.as_str());
            let is_end = ends == Ends::Process || names.any(|name| ABORTS.contains(&name));
            if at == Graph::EXIT || !is_end {
                return false;
            }
            has_end = true;
        }
        todo.extend(ways);
    }
    has_end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_known_by_their_names() {
        for file in ["tests/a.c", "src/test_list.c", "list_test.c", "t/basic.c", "check_list.c"] {
            assert!(is_test_source(file), "{file}");
        }
        for file in ["src/list.c", "main.c", "src/latest.c"] {
            assert!(!is_test_source(file), "{file}");
        }
    }

    #[test]
    fn checks_are_known_by_their_names() {
        for line in ["    CHECK(x > 0);", "ck_assert_int_eq (a, b);", "EXPECT_EQ(1, f(2));"] {
            assert!(is_check("main.c", line), "{line}");
            assert!(!stands_in("failures++;", line), "{line}");
        }
        assert!(!is_check("main.c", "TRY(open_it());"));
        assert!(is_check("tests/main.c", "TRY(open_it());"));
        assert!(stands_in("n = 8;", "if (check(n)) n  =  8;"));
    }
}
