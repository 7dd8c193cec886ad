//! Exactness: the edges that follow from the probes are those of a log of all
//! nodes, for every test of generated programs.
//!
//! `EDGEWISE_SEEDS=N` looks at N generated programs instead of a few.

use crate::paths::check;
use crate::support::generator;

use check::Logged;
use edgewise::trace::collect::{Collector, TestTrace};
use edgewise::trace::paths::Unit;
use generator::{Construct, Options, program, seeds};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

/// How many programs are looked at unless somebody asks for more.
const USUAL: u64 = 24;
const LEVELS: [&str; 3] = ["-O2", "-O0", "-O3"];

/// Builds with probes.
fn build(directory: &Path, sources: &[String], level: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_edgewise"));
    command.current_dir(directory).env_remove("EDGEWISE_TRACE").env("EDGEWISE_ROOT", directory);
    command.args(["cc", "gcc", "-std=gnu11", "-w", level, "-o", "probed"]).args(sources);
    let output = command.arg("-lm").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What the program with probes leaves.
fn probed(directory: &Path, arguments: &[&str]) -> TestTrace {
    let traces = tempfile::tempdir().unwrap();
    let mut command = Command::new(directory.join("probed"));
    command.args(arguments).env("EDGEWISE_TRACE", traces.path()).output().unwrap();
    Collector::default().collect(traces.path())
}

/// What is wrong with the edges of one test, and how many had to be right in
/// both directions.
fn compare(logged: &TestTrace, probed: &TestTrace) -> (usize, Vec<String>) {
    let (mut exact, mut wrong) = (0, Vec::new());
    assert_eq!(probed.unclean, None);
    let units = |trace: &TestTrace| {
        let units = trace.programs.iter().flat_map(|program| program.units.clone());
        units.collect::<Vec<_>>()
    };
    let others = units(probed);
    for unit in units(logged) {
        let twin = others.iter().find(|other| other.index.key.source == unit.index.key.source);
        let twin = twin.expect("both programs are made of the same units");
        let graphs = unit.raw.graphs(&unit.index).unwrap();
        let walked = &logged.walked[&unit.index.fingerprint];
        let row = &probed.rows[&twin.index.fingerprint];
        let (compared, found) = walked.compare(Unit { index: &unit.index, graphs: &graphs }, row);
        exact += compared;
        wrong.extend(found);
    }
    (exact, wrong)
}

fn check_seed(seed: u64) -> (usize, Vec<String>) {
    let options = if seed.is_multiple_of(3) { Options::medium() } else { Options::small() };
    // What the optimiser knows is another thing with a log than with probes, and
    // it may leave out calls that nobody needs.
    let uneven = [Construct::ConstantP, Construct::Pure];
    let options = options.for_gcc().strictly_ordered().without(&uneven);
    let program = program(seed, &options);
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in program.files() {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    let sources = program.sources();
    build(directory.path(), &sources, LEVELS[seed as usize % LEVELS.len()]);
    let logged = Logged::build(directory.path(), &sources, &["-std=gnu11"]);
    let (mut edges, mut wrong) = (0, Vec::new());
    for (name, arguments) in program.tests() {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let (_, log) = logged.trace(Command::new(&logged.program).args(&arguments));
        wrong.extend(log.unclean.iter().map(|what| format!("seed {seed}, {name}: {what}")));
        let (exact, found) = compare(&log, &probed(directory.path(), &arguments));
        edges += exact;
        wrong.extend(found.iter().map(|what| format!("seed {seed}, {name}: {what}")));
    }
    (edges, wrong)
}

/// Ways for a process to end or to get around, each at the place of `END`, and
/// what stands before `main` for it.
const WAYS: [(&str, &str, &str); 21] = [
    ("return", "", "return n;"),
    ("exit", "", "exit(n);"),
    ("_exit", "", "_exit(n);"),
    ("exit in an operand", "static int leave(int n) { exit(n); }", "n = n && leave(n) || n;"),
    (
        "a procedure that never returns",
        "static void leave(int n) { for (;;) if (n++ > 3) exit(1); }",
        "leave(n);",
    ),
    ("abort", "", "abort();"),
    ("an assertion that fails", "#include <assert.h>", "assert(n < 4 && n != 2); n++;"),
    (
        "an assertion that fails further down",
        "#include <assert.h>\nstatic int low(int n) { return n < 4; }\n\
         static int check(int n) { assert(low(n)); return n / 2; }",
        "n = check(n) + 1;",
    ),
    ("longjmp", "", "longjmp(where, n + 1);"),
    (
        "longjmp out of a call",
        "static void back(int n) { if (n) longjmp(where, n); }",
        "back(n + 1);",
    ),
    (
        "longjmp past the next setjmp",
        "static void back(int n) { if (n > 2) longjmp(where, n); }",
        "if (setjmp(where) == 0) { n++; back(n); } if (setjmp(where) == 0) n--;",
    ),
    (
        "loops that are left, and entered again",
        "",
        "for (int k = 0; k < n; k++) { for (;;) { n--; if (n < k || n == 5) break; n -= k; } }",
    ),
    ("a jump into a loop", "", "{ int k = 0; goto in; while (k < n) { k++; in: k += 2; } }"),
    (
        "a jump to the end of a loop",
        "",
        "{ int k = 0; if (n > 1) goto at; while (k < n) { k++; at:; } }",
    ),
    (
        "a small procedure that is called by name and otherwise",
        "int low(int n) { return n < 4; } int odd(int n) { return n & 1; }\n\
         int (*volatile other)(int) = odd;",
        "if (n > 3 && low(n - 2)) n += low(n); if (n == 7) n = other(n);",
    ),
    ("SIGKILL", "", "raise(SIGKILL);"),
    ("a signal from outside", "", "ualarm(30000, 0); for (;;) pause();"),
    ("a null pointer", "static int *volatile nowhere;", "n = *nowhere;"),
    ("a division by zero", "static volatile int zero;", "n = n / zero;"),
    ("a computed goto", "", "{ void *to[] = {&&a, &&b}; goto *to[n & 1]; a: n += 2; b: n++; }"),
    (
        "an asm goto",
        "",
        "asm goto(\"test %0,%0; jnz %l1\" : : \"r\"(n) : \"cc\" : away); n++; away: n--;",
    ),
];

const AROUND: &str = "\
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static jmp_buf where;
BEFORE
static int inner(int n) { switch (n) { case 0: n++; case 1: n += 2; break; case 5: return 9; default: n--; } END return n; }
int main(int argc, char **argv)
{
    volatile int sum = 0;
    int came = setjmp(where), i;
    if (came) return came & 1;
    for (i = 0; i < argc; i++) sum += inner(i);
    for (i = 0; i < 3; i++) sum += argc > 1 ? inner(atoi(argv[1])) : i;
    return sum & 1;
}
";

#[test]
fn however_a_process_ends_its_edges_are_those_of_the_log() {
    let (mut edges, mut wrong) = (0, Vec::new());
    for (way, before, end) in WAYS {
        let directory = tempfile::tempdir().unwrap();
        let text = AROUND.replace("BEFORE", before).replace("END", end);
        std::fs::write(directory.path().join("way.c"), text).unwrap();
        let sources = [String::from("way.c")];
        build(directory.path(), &sources, "-O2");
        let logged = Logged::build(directory.path(), &sources, &[]);
        for argument in ["0", "1", "5", "7"] {
            let (_, log) = logged.trace(Command::new(&logged.program).arg(argument));
            let what = |what: &String| format!("{way} {argument}: {what}");
            wrong.extend(log.unclean.iter().map(what));
            let (exact, found) = compare(&log, &probed(directory.path(), &[argument]));
            edges += exact;
            wrong.extend(found.iter().map(what));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(edges > 1000, "only {edges} edges");
}

#[test]
fn edges_of_generated_programs_are_those_of_a_log() {
    let results = Mutex::new((0, Vec::new()));
    std::thread::scope(|scope| {
        for half in 0..2 {
            let results = &results;
            scope.spawn(move || {
                for seed in seeds(USUAL).filter(|seed| seed % 2 == half) {
                    let (edges, wrong) = check_seed(seed);
                    let mut results = results.lock().unwrap();
                    results.0 += edges;
                    results.1.extend(wrong);
                }
            });
        }
    });
    let (edges, mut wrong) = results.into_inner().unwrap();
    println!("programs {:?}, {edges} edges compared, {} differ", seeds(USUAL), wrong.len());
    wrong.truncate(20);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(edges > 10_000, "only {edges} edges");
}
