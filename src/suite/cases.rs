//! Tests inside one process, told apart by `edgewise.h`: they run together.

use super::list::quoted;
use super::{TestCase, TestCommand};

/// Tests that one process runs. Most run alone.
pub struct Batch {
    pub test: TestCase,
    /// Their places among the tests.
    pub members: Vec<usize>,
}

/// Where the names of those cases go that are to run.
pub const ALL_CASES: &str = "{cases}";

/// Puts those together that run in one process.
pub fn batches(tests: &[TestCase]) -> Vec<Batch> {
    let mut batches: Vec<Batch> = Vec::new();
    for (place, test) in tests.iter().enumerate() {
        let together = batches.iter_mut().find(|batch| {
            test.case.is_some() && batch.test.case.is_some() && is_same_process(&batch.test, test)
        });
        match together {
            Some(batch) => batch.members.push(place),
            None => batches.push(Batch { test: test.clone(), members: vec![place] }),
        }
    }
    for batch in batches.iter_mut().filter(|batch| batch.test.case.is_some()) {
        let names = batch.members.iter().filter_map(|member| tests[*member].case.as_deref());
        let names: Vec<String> = names.map(quoted).collect();
        if let TestCommand::Shell(command) = &batch.test.command {
            batch.test.command = TestCommand::Shell(command.replace(ALL_CASES, &names.join(" ")));
        }
    }
    batches
}

fn is_same_process(one: &TestCase, other: &TestCase) -> bool {
    let suite = |test: &TestCase| test.name.split('/').next().map(str::to_string);
    suite(one) == suite(other) && one.command == other.command && one.directory == other.directory
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_of_a_program_run_together() {
        let case = |name: &str| TestCase {
            case: Some(name.to_string()),
            ..TestCase::shell(format!("unit/{name}"), String::from("./t {cases}"))
        };
        let other = TestCase::shell(String::from("cli/x"), String::from("./x"));
        let batches = batches(&[case("a"), other.clone(), case("b c")]);
        let members: Vec<_> = batches.iter().map(|batch| batch.members.clone()).collect();
        assert_eq!(members, [vec![0, 2], vec![1]]);
        assert_eq!(batches[0].test.command, TestCommand::Shell(String::from("./t a 'b c'")));
        assert_eq!(batches[1].test, other);
    }
}
