//! The rules of RTSCheck, on generated projects that evolve: sequences of twenty
//! revisions with edits of the code, tests that are new, renamed, deleted or made to
//! fail, runs that are interrupted, and ways back to an earlier revision. At each, all
//! tests run on a plain build beside it.
//!
//! R1  what fails newly when all tests are run, fails when the selected ones are
//! R2  it does not select nothing where all other techniques select everything
//! R3  it does not select everything at every revision
//! R4  it does not select everything where all other techniques select nothing
//! R5  where nothing changed, nothing is selected
//! R6  at the first revision, everything is
//! R7  what fails when the selected are run, fails when all are
//!
//! `EDGEWISE_SEEDS=N` looks at N projects instead of a few.

use crate::support::generator;

use crate::support::Project;
use generator::{Options, Program, Random, edit, program};
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};
use std::time::Duration;

const USUAL: u64 = 2;
const REVISIONS: usize = 20;
/// Techniques that edgewise is laid beside, from sharp ones to coarse ones: where
/// nobody takes a new branch, the coarse ones alone select everything, and may.
const OTHERS: [&str; 4] = ["full", "rh", "procedure", "file"];

/// A test: its arguments, and the check sum of what it has to print.
#[derive(Clone)]
struct Test {
    arguments: String,
    expected: String,
}

struct Evolution {
    seed: u64,
    project: Project,
    /// The same sources, built by a plain compiler.
    plain: Project,
    program: Program,
    earlier: Vec<Program>,
    tests: BTreeMap<String, Test>,
    random: Random,
    /// Names that were given so far.
    named: usize,
    revision: String,
}

impl Evolution {
    fn begin(seed: u64) -> Self {
        let program = program(seed, &Options::small().for_gcc());
        let (project, plain) = (Project::empty(), Project::empty());
        let tests = program
            .tests()
            .into_iter()
            .map(|(name, arguments)| (name, Test { arguments, expected: String::new() }));
        let mut evolution = Self {
            seed,
            tests: tests.collect(),
            earlier: vec![program.clone()],
            program,
            random: Random::new(seed),
            named: 0,
            revision: String::from("first"),
            project,
            plain,
        };
        let sources = evolution.program.sources().join(" ");
        let files: Vec<String> =
            evolution.program.files().into_iter().map(|(name, _)| name).collect();
        let files = files.join(" ");
        let make = format!("prog: {files}\n\t$(CC) -std=gnu11 -w -O1 -o prog {sources} -lm\n");
        for project in [&evolution.project, &evolution.plain] {
            project.write("Makefile", &make);
            project.write_config();
        }
        evolution.write();
        evolution.build_plainly();
        evolution.accept();
        evolution.write();
        evolution
    }

    fn write(&self) {
        for project in [&self.project, &self.plain] {
            for (name, text) in self.program.files() {
                if !project.path(&name).exists() || project.read(&name) != text {
                    project.write(&name, &text);
                }
            }
        }
        let mut list = String::new();
        for (name, test) in &self.tests {
            let Test { arguments, expected } = test;
            list.push_str(&format!(
                "{name} (./prog {arguments}; echo $?) 2>&1 | cksum | grep -qx '{expected}'\n"
            ));
        }
        self.project.write("tests.list", &list);
    }

    fn build_plainly(&self) {
        let mut make = Command::new("make");
        make.args(["-s", "-B", "CC=gcc"]).env_remove("MAKEFLAGS").current_dir(self.plain.root());
        let output = make.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn sum(&self, arguments: &str) -> String {
        let command = format!("(./prog {arguments}; echo $?) 2>&1 | cksum");
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).current_dir(self.plain.root()).stdin(Stdio::null());
        String::from_utf8(shell.output().unwrap().stdout).unwrap().trim().to_string()
    }

    /// From now on, what the program does is what it has to do.
    fn accept(&mut self) {
        let sums: Vec<String> = self.tests.values().map(|test| self.sum(&test.arguments)).collect();
        for (test, sum) in self.tests.values_mut().zip(sums) {
            test.expected = sum;
        }
    }

    /// Tests that fail when all are run.
    fn failing(&self) -> BTreeSet<String> {
        let fails = |test: &Test| self.sum(&test.arguments) != test.expected;
        let failing = self.tests.iter().filter(|(_, test)| fails(test));
        failing.map(|(name, _)| name.clone()).collect()
    }

    fn some_test(&mut self) -> String {
        let number = self.random.below(self.tests.len());
        self.tests.keys().nth(number).unwrap().clone()
    }

    /// Makes the next revision.
    fn evolve(&mut self, number: usize) {
        // The second is the first.
        let choice = if number == 1 { 1 } else { self.random.below(12) };
        self.revision = match choice {
            1 => String::from("nothing"),
            2 => {
                let test = self.some_test();
                let test = Test { expected: String::from("0 0"), ..self.tests[&test].clone() };
                self.named += 1;
                self.tests.insert(format!("new{}", self.named), test);
                self.build_plainly();
                self.accept();
                String::from("a new test, and all as they are")
            }
            3 => {
                let test = self.some_test();
                self.named += 1;
                let kept = self.tests.remove(&test).unwrap();
                self.tests.insert(format!("renamed{}", self.named), kept);
                format!("{test} renamed")
            }
            4 if self.tests.len() > 4 => {
                let test = self.some_test();
                self.tests.remove(&test);
                format!("{test} deleted")
            }
            5 => {
                let test = self.some_test();
                self.tests.get_mut(&test).unwrap().expected = String::from("1 1");
                format!("{test} made to fail")
            }
            6 => {
                self.accept();
                String::from("all accepted")
            }
            7 => {
                let number = self.random.below(self.earlier.len());
                self.program = self.earlier[number].clone();
                format!("back to program {number}")
            }
            8 => {
                let kind = self.edit();
                self.interrupt();
                format!("{kind}, interrupted")
            }
            _ => self.edit(),
        };
        self.write();
    }

    fn edit(&mut self) -> String {
        let (edited, kind) = edit(&self.program, &mut self.random);
        self.program = edited;
        self.earlier.push(self.program.clone());
        format!("{kind:?}")
    }

    /// A run of the tests that is killed, or told to end, wherever it is.
    fn interrupt(&mut self) {
        self.write();
        let mut command = self.project.hearing();
        command.args(["test", "-j1"]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(self.random.below(1200) as u64));
        let signal = if self.random.below(2) == 0 { libc::SIGKILL } else { libc::SIGINT };
        // SAFETY: the child is ours and was not waited for.
        unsafe { libc::kill(child.id() as i32, signal) };
        child.wait().unwrap();
    }

    fn selected(&self, words: &[&str]) -> BTreeSet<String> {
        let all = [&["select"], words].concat();
        let names = self.project.ok(&all);
        names.lines().map(|line| line.rsplit('/').next().unwrap().to_string()).collect()
    }

    /// Builds, selects, runs: who ran, and who of them failed.
    fn test(&self) -> (BTreeSet<String>, BTreeSet<String>) {
        let results = self.project.path("results.out");
        let output = self.project.edgewise(&["test", "--json", results.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{}: {said}", self.title());
        let results: serde_json::Value =
            serde_json::from_str(&self.project.read("results.out")).unwrap();
        let (mut ran, mut failed) = (BTreeSet::new(), BTreeSet::new());
        for test in results["tests"].as_array().unwrap() {
            let name = test["name"].as_str().unwrap().rsplit('/').next().unwrap().to_string();
            match test["outcome"].as_str().unwrap() {
                "not-selected" => {}
                "passed" => drop(ran.insert(name)),
                _ => {
                    ran.insert(name.clone());
                    failed.insert(name);
                }
            }
        }
        (ran, failed)
    }

    fn title(&self) -> String {
        format!("seed {}, {}", self.seed, self.revision)
    }
}

/// How many tests ran, of how many.
fn check(seed: u64) -> (usize, usize) {
    let mut evolution = Evolution::begin(seed);
    let (mut always_all, mut ran_in_all, mut tests_in_all) = (true, 0, 0);
    for number in 0..=REVISIONS {
        if number > 0 {
            evolution.evolve(number);
        }
        let title = format!("revision {number}, {}", evolution.title());
        let all: BTreeSet<String> = evolution.tests.keys().cloned().collect();
        if number > 0 {
            let others = OTHERS.map(|name| evolution.selected(&["--algorithm", name]));
            let selected = evolution.selected(&[]);
            let others_all = others.iter().all(|other| *other == all);
            assert!(!(selected.is_empty() && others_all), "R2, {title}");
            let others_none = others.iter().all(BTreeSet::is_empty);
            assert!(!(selected == all && others_none), "R4, {title}");
            assert!(number != 1 || selected.is_empty(), "R5, {title}: {selected:?}");
        }
        let (ran, failed) = evolution.test();
        evolution.build_plainly();
        let failing = evolution.failing();
        let missed: Vec<_> = failing.difference(&failed).collect();
        assert!(missed.is_empty(), "R1, {title}: {missed:?} fail, and were not seen to");
        let invented: Vec<_> = failed.difference(&failing).collect();
        assert!(invented.is_empty(), "R7, {title}: {invented:?} fail with edgewise alone");
        assert!(number != 0 || ran == all, "R6, {title}: {ran:?}");
        always_all &= ran == all;
        ran_in_all += ran.len();
        tests_in_all += all.len();
    }
    assert!(!always_all, "R3, seed {seed}");
    (ran_in_all, tests_in_all)
}

#[test]
fn the_rules_hold_while_projects_evolve() {
    for seed in generator::seeds(USUAL) {
        let (ran, tests) = check(seed);
        println!("seed {seed}: {ran} of {tests} tests run in {REVISIONS} revisions");
    }
}
