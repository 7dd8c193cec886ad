//! The path check: a program logs every node as it runs, each step from one to
//! the next has to be an edge of the graph, and the probes have to tell the same.
//!
//! `EDGEWISE_SEEDS=N` looks at N generated programs instead of a few, `A..B` at a
//! part of them.

pub mod check;
use crate::support::generator;

use check::{Logged, opaque, steps};
use generator::{Options, program, seeds};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many programs are looked at unless somebody asks for more.
const USUAL: u64 = 20;

fn options(seed: u64) -> Options {
    let options = if seed.is_multiple_of(3) { Options::medium() } else { Options::small() };
    options.for_gcc().strictly_ordered()
}

fn command(program: &Path, arguments: &str) -> Command {
    let mut command = Command::new(program);
    command.args(arguments.split_whitespace());
    command
}

/// Steps, and what was wrong with them.
fn check_seed(seed: u64) -> (usize, Vec<String>) {
    let program = program(seed, &options(seed));
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in program.files() {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    let sources = program.sources();
    let plain = directory.path().join("plain");
    let mut gcc = Command::new("gcc");
    gcc.current_dir(directory.path()).args(["-std=gnu11", "-O0", "-w", "-o"]).arg(&plain);
    let built = gcc.args(&sources).arg("-lm").output().expect("gcc");
    assert!(built.status.success(), "seed {seed}: {}", String::from_utf8_lossy(&built.stderr));
    let logged = Logged::build(directory.path(), &sources, &["-std=gnu11"]);
    let (mut count, mut wrong) = (0, Vec::new());
    for (name, arguments) in program.tests() {
        let expected = command(&plain, &arguments).output().expect("a program that runs");
        let (actual, trace) = logged.trace(&mut command(&logged.program, &arguments));
        if expected != actual {
            wrong.push(format!("seed {seed}, {name}: the log changes what the program does"));
        }
        count += steps(&trace);
        if opaque(&trace) > 0 {
            wrong.push(format!("seed {seed}: {} procedures are opaque", opaque(&trace)));
        }
        wrong.extend(trace.unclean.iter().map(|what| format!("seed {seed}, {name}: {what}")));
    }
    (count, wrong)
}

#[test]
fn every_step_of_generated_programs_is_an_edge() {
    let steps = AtomicUsize::new(0);
    let wrong = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for half in 0..2 {
            let (steps, wrong) = (&steps, &wrong);
            scope.spawn(move || {
                for seed in seeds(USUAL).filter(|seed| seed % 2 == half) {
                    let (count, found) = check_seed(seed);
                    steps.fetch_add(count, Ordering::Relaxed);
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    let (steps, mut wrong) = (steps.into_inner(), wrong.into_inner().unwrap());
    println!("programs {:?}, {steps} steps, {} violations", seeds(USUAL), wrong.len());
    wrong.truncate(20);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(steps > 1000, "only {steps} steps");
}

#[test]
fn every_step_of_the_sample_is_an_edge() {
    let project = crate::support::sample();
    let root = project.root();
    let mut sources = Vec::new();
    for folder in ["src", "lib"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".c") {
                sources.push(format!("{folder}/{name}"));
            }
        }
    }
    sources.sort();
    let logged = Logged::build(root, &sources, &["-std=gnu11", "-Iinclude"]);
    std::fs::create_dir_all(root.join("build")).unwrap();
    std::fs::rename(&logged.program, root.join("build/tally")).unwrap();
    let list = std::fs::read_to_string(root.join("tests/list")).unwrap();
    let mut count = 0;
    for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (name, command) = line.split_once(' ').unwrap();
        let mut shell = Command::new("sh");
        let (output, trace) = logged.trace(shell.current_dir(root).args(["-c", command]));
        assert!(output.status.success(), "{name}: {output:?}");
        assert_eq!(trace.unclean, None, "{name}");
        assert_eq!(opaque(&trace), 0);
        count += steps(&trace);
    }
    assert!(count > 10_000, "only {count} steps");
}

/// Any node may be left by the handler of a signal. What the log does not tell then
/// is told by the edges.
#[test]
fn a_handler_that_jumps_back_leaves_a_trace() {
    let source = r#"
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
static sigjmp_buf back;
static void handler(int number) { (void)number; siglongjmp(back, 1); }
static int get(const int *p)
{
    int n = 1;
    n += *p;
    n *= 2;
    return n;
}
int main(int argc, char **argv)
{
    (void)argv;
    signal(SIGSEGV, handler);
    if (sigsetjmp(back, 1)) {
        puts("caught");
        return 0;
    }
    int n = argc;
    n += *(volatile int *)(argc > 1 ? (int *)&argc : (int *)0);
    n += get(&argc);
    printf("%d\n", n);
    return 0;
}
"#;
    let project = crate::support::Project::of_source(source, &[("caught", ""), ("passed", "x")]);
    project.write("Makefile", "prog: main.c\n\t$(CC) -O0 -w -o prog main.c\n");
    project.ok(&["build", "--granularity", "path"]);
    project.ok(&["run"]);
    assert!(project.selected().is_empty());
    project.edit("main.c", "puts(\"caught\")", "puts(\"Caught\")");
    assert_eq!(project.ok(&["select", "--algorithm", "path"]), "t/caught\n");
}
