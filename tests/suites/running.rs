//! Runs a test as its description says, without the runner of edgewise: its
//! directory, its environment, its judgement.

use edgewise::history::format::Outcome;
use edgewise::suite::{Change, TestCase, TestCommand, Variable};
use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What became of each test, by name. Tests run after those that they need.
pub fn run_all(tests: &[TestCase], root: &Path) -> HashMap<String, Outcome> {
    let mut done: HashMap<String, Outcome> = HashMap::new();
    while done.len() < tests.len() {
        let is_ready = |test: &&TestCase| {
            let others = test.needs.iter().chain(&test.after);
            !done.contains_key(&test.name) && others.clone().all(|name| done.contains_key(name))
        };
        let test = tests.iter().find(is_ready).expect("no circle");
        let is_met = |need: &String| matches!(done[need], Outcome::Passed | Outcome::Skipped);
        let outcome = if test.disabled.is_some() {
            Outcome::Skipped
        } else if test.needs.iter().all(is_met) {
            run(test, root)
        } else {
            Outcome::Failed
        };
        done.insert(test.name.clone(), outcome);
    }
    done
}

fn run(test: &TestCase, root: &Path) -> Outcome {
    let directory = root.join(&test.directory);
    let is_missing = |file: &String| !directory.join(file).exists();
    if test.judgement.required_files.iter().any(is_missing) {
        return Outcome::Failed;
    }
    let mut command = match &test.command {
        TestCommand::Shell(text) => {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", text]);
            command
        }
        TestCommand::Words(words) => {
            let Some((program, arguments)) = words.split_first() else { return Outcome::Failed };
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
    };
    let output = tempfile::NamedTempFile::new().unwrap();
    change(&mut command, &test.environment);
    command.current_dir(&directory).stdin(Stdio::null()).stdout(output.reopen().unwrap());
    // Only what is printed to stdout is TAP.
    let file = output.as_file().try_clone().unwrap();
    command.stderr(if test.judgement.tap.is_some() { Stdio::null() } else { append(file) });
    let Ok(mut child) = command.spawn() else { return Outcome::Failed };
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if test.timeout.is_some_and(|timeout| start.elapsed() > timeout) {
            child.kill().unwrap();
            child.wait().unwrap();
            return Outcome::TimedOut;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let printed = std::fs::read(output.path()).unwrap();
    test.judgement.judge(status, &printed).outcome
}

/// Both streams into one file, one behind the other.
fn append(file: std::fs::File) -> Stdio {
    use std::os::fd::AsRawFd;
    // SAFETY: the descriptor is open.
    unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, libc::O_APPEND) };
    Stdio::from(file)
}

fn change(command: &mut Command, variables: &[Variable]) {
    let mut changed: HashMap<&str, Option<String>> = HashMap::new();
    for Variable { name, change } in variables {
        let now = changed.get(name.as_str()).cloned().unwrap_or_else(|| std::env::var(name).ok());
        let now = now.filter(|now| !now.is_empty());
        let value = match (change, now) {
            (Change::Unset, _) => None,
            (Change::Append(text, between), Some(now)) => Some(format!("{now}{between}{text}")),
            (Change::Prepend(text, between), Some(now)) => Some(format!("{text}{between}{now}")),
            (Change::Set(text) | Change::Append(text, _) | Change::Prepend(text, _), _) => {
                Some(text.clone())
            }
        };
        changed.insert(name, value);
    }
    for (name, value) in changed {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
}
