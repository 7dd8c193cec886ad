//! `kill -9` at any moment of a run, a merge or a gc: the history opens, what was
//! recorded before is there, and no test is clean that did not finish.
//!
//! `EDGEWISE_KILLS=N` kills each of them N times instead of a few.

use crate::support::Project;
use edgewise::history::{History, Row};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// How often is killed unless somebody asks for more.
const USUAL: u64 = 18;
const TESTS: usize = 24;

fn kills() -> u64 {
    std::env::var("EDGEWISE_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(USUAL)
}

fn project() -> Project {
    let source = "\
#include <stdlib.h>
int main(int argc, char **argv)
{
    int sum = 0;
    for (int i = 0; i < atoi(argv[1]); i++)
        sum += i % 3 ? 1 : 2;
    return sum < 0;
}
";
    // A test is over when it says so, in a place that is its own.
    let tests: Vec<(String, String)> = (0..TESTS)
        .map(|test| (format!("n{test}"), format!("{test} && sleep 0.02 && echo >> $DONE/n{test}")))
        .collect();
    let tests: Vec<(&str, &str)> = tests.iter().map(|(n, c)| (n.as_str(), c.as_str())).collect();
    let project = Project::of_source(source, &tests);
    project.ok(&["build"]);
    project
}

/// Rows of all tests that are clean.
fn clean(project: &Project) -> BTreeMap<String, Vec<Row>> {
    let history = History::open(&project.path(".edgewise/history")).expect("the history opens");
    let tests = history.tests().filter(|(_, test)| test.is_clean() && !test.programs.is_empty());
    tests.map(|(name, _)| (name.clone(), history.rows(name).unwrap())).collect()
}

/// How long a command takes that nobody kills, if nothing is in its way.
fn time_of(project: &Project, done: &Path, arguments: &[&str]) -> Duration {
    let times = (0..3).map(|_| {
        let start = Instant::now();
        let output = project.command().args(arguments).env("DONE", done).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

/// Runs edgewise and kills it after a while; whether it ended before by itself.
fn killed(project: &Project, done: &Path, arguments: &[&str], after: Duration) -> bool {
    let mut command = project.command();
    command.args(arguments).env("DONE", done).stderr(Stdio::null()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    std::thread::sleep(after);
    let ended = child.try_wait().unwrap().is_some();
    child.kill().unwrap();
    child.wait().unwrap();
    ended
}

#[test]
fn killed_runs_leave_nothing_that_did_not_finish() {
    let done = tempfile::tempdir().unwrap();
    let project = project();
    let mut before = BTreeMap::new();
    let mut numbers = Numbers(7);
    let mut in_time = 0;
    // Any moment of it is as likely, and some come too late.
    let whole = time_of(&project, done.path(), &["run", "-j4"]);
    for round in 0..kills() {
        // Now and then all over again.
        if round % 6 == 0 {
            let _ = std::fs::remove_file(project.path(".edgewise/history"));
            for entry in std::fs::read_dir(done.path()).unwrap() {
                std::fs::remove_file(entry.unwrap().path()).unwrap();
            }
            before.clear();
        }
        let after = numbers.moment(whole);
        in_time += u64::from(!killed(&project, done.path(), &["run", "-j4"], after));
        if !project.path(".edgewise/history").exists() {
            assert!(before.is_empty(), "round {round}: the history is gone");
            continue;
        }
        let now = clean(&project);
        for (name, rows) in &before {
            // A kill may find it running again; what it did before still holds.
            assert_eq!(now.get(name), Some(rows), "round {round}: {name}");
        }
        for name in now.keys() {
            let mark = done.path().join(name.trim_start_matches("t/"));
            assert!(mark.exists(), "round {round}: {name} is clean and did not finish");
        }
        before = now;
    }
    println!("{in_time} of {} runs were killed before their end", kills());
    // And it goes on as if nothing had happened.
    let output = project.command().args(["run", "-j4"]).env("DONE", done.path()).output().unwrap();
    assert!(output.status.success());
    assert_eq!(clean(&project).len(), TESTS);
}

#[test]
fn killed_merges_and_collections_leave_what_was_there() {
    let done = tempfile::tempdir().unwrap();
    let project = project();
    let run = |filter: &[&str]| {
        let mut command = project.command();
        command.args(["run", "-j4"]).args(filter).env("DONE", done.path());
        assert!(command.output().unwrap().status.success());
    };
    run(&[]);
    let all = clean(&project);
    let other = project.path("other.out");
    std::fs::rename(project.path(".edgewise/history"), &other).unwrap();
    run(&["n1", "n2"]);
    let few = clean(&project);
    assert!(!few.is_empty() && few.len() < all.len());
    let kept = project.path("kept.out");
    std::fs::copy(project.path(".edgewise/history"), &kept).unwrap();
    let mut numbers = Numbers(11);
    let merge: &[&str] = &["history", "merge", "other.out"];
    for what in [merge, &["history", "gc"]] {
        let restore = || std::fs::copy(&kept, project.path(".edgewise/history")).unwrap();
        restore();
        let whole = time_of(&project, done.path(), what);
        let mut in_time = 0;
        for round in 0..kills() {
            restore();
            let after = numbers.moment(whole);
            in_time += u64::from(!killed(&project, done.path(), what, after));
            let now = clean(&project);
            assert!(now == few || (what == merge && now == all), "round {round}: {what:?}");
        }
        println!("{in_time} of {} times {what:?} was killed before its end", kills());
    }
}

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    /// A moment of something that takes so long, or shortly after it.
    fn moment(&mut self, whole: Duration) -> Duration {
        Duration::from_micros(self.below(whole.as_micros() as u64 * 11 / 10 + 1))
    }
}
