//! RECOVER: after each change only the selected tests run, and the history is
//! that of the new version for all tests.

use crate::support::{Project, testdata};
use edgewise::cfg::format::{Graph, NodeKind, RawRecord};
use edgewise::history::History;
use edgewise::ids::{NodeId, ProcIx};
use edgewise::select::affected;
use edgewise::select::pairs::{Because, PairGraph};
use edgewise::select::version::UnitVersion;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

type Matrix = BTreeMap<String, BTreeSet<String>>;

fn source(version: &str) -> String {
    std::fs::read_to_string(testdata("papers/grade").join(format!("{version}.c"))).unwrap()
}

/// The names of the paper's statements, by line.
fn statements(source: &str) -> BTreeMap<u32, String> {
    let named = (1..).zip(source.lines()).filter_map(|(line, text)| {
        let name = text.rsplit_once("/* ")?.1.strip_suffix(" */")?;
        Some((line, name.to_string()))
    });
    named.collect()
}

/// The unit of the program and the place of `calc_grade` in it.
fn unit(history: &History) -> (UnitVersion, ProcIx) {
    let id = history.units().unwrap()[0];
    let unit = UnitVersion::of_raw(RawRecord::new(history.unit(id).unwrap()).unwrap()).unwrap();
    let place = unit.named("calc_grade", true).unwrap();
    (unit, place)
}

fn statement(graph: &Graph, node: NodeId, names: &BTreeMap<u32, String>) -> Option<String> {
    let node = graph.node(node);
    let is_code = !matches!(node.kind, NodeKind::Entry | NodeKind::Exit);
    names.get(&node.place.line).filter(|_| is_code).cloned()
}

/// The tests that cover each statement, as the history has it.
fn matrix(project: &Project, version: &str) -> Matrix {
    let history = History::open(&project.path(".edgewise/history")).unwrap();
    let (unit, place) = unit(&history);
    let graph = unit.graph(place).unwrap();
    let names = statements(&source(version));
    let mut matrix: Matrix = names.values().map(|name| (name.clone(), BTreeSet::new())).collect();
    for (name, test) in history.tests() {
        assert!(!test.inexact, "{name}");
        for row in history.rows(name).unwrap() {
            if row.unit != unit.fingerprint() || row.procedure as usize != place.ix() {
                continue;
            }
            let taken = graph.edges.iter().enumerate().filter(|(number, _)| row.is_taken(*number));
            for (_, edge) in taken {
                for node in [edge.from, edge.to] {
                    if let Some(statement) = statement(graph, node, &names) {
                        let test = name.rsplit('/').next().unwrap().to_string();
                        matrix.get_mut(&statement).unwrap().insert(test);
                    }
                }
            }
        }
    }
    matrix
}

/// A matrix as the paper prints it: for each statement in order, the tests.
fn figure(rows: &[&str]) -> Matrix {
    let tests = |bits: &str| {
        let set = bits.chars().zip(1..).filter(|(bit, _)| *bit == '1');
        set.map(|(_, number)| format!("t{number}")).collect()
    };
    rows.iter().zip(1..).map(|(bits, number)| (format!("s{number}"), tests(bits))).collect()
}

const FIGURE_1: [&str; 10] =
    ["1111", "1111", "1100", "1000", "0100", "0011", "0010", "0001", "1111", "1111"];
const FIGURE_2: [&str; 12] = [
    "1111", "1111", "1100", "1000", "0100", "0011", "0000", "0011", "0010", "0001", "1111", "1111",
];
const FIGURE_3: [&str; 12] = [
    "1111", "1111", "1100", "1000", "0100", "0011", "0000", "0011", "0000", "0011", "1111", "1111",
];
/// After the selected tests ran, before anything is transferred.
const FIGURE_7B: [&str; 12] = [
    "0000", "0000", "0000", "0000", "0000", "0011", "0000", "0011", "0010", "0001", "0011", "0011",
];

fn names(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(|name| name.to_string()).collect()
}

/// What `edgewise test` ran.
fn test(project: &Project) -> BTreeSet<String> {
    let results = project.path("results.json");
    let output = project.edgewise(&["test", "--json", results.to_str().unwrap()]);
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let results: Value = serde_json::from_str(&project.read("results.json")).unwrap();
    let ran =
        results["tests"].as_array().unwrap().iter().filter(|t| t["outcome"] != "not-selected");
    ran.map(|t| t["name"].as_str().unwrap().rsplit('/').next().unwrap().to_string()).collect()
}

#[test]
fn grade_as_in_the_paper() {
    let tests = [("t1", "71 81"), ("t2", "71 71"), ("t3", "34 60"), ("t4", "52 50")];
    let project = Project::of_source(&source("v0"), &tests);
    project.record();
    assert_eq!(matrix(&project, "v0"), figure(&FIGURE_1), "figure 1");
    let old = History::open(&project.path(".edgewise/history")).unwrap();
    let (old, old_place) = unit(&old);

    project.write("main.c", &source("v1"));
    assert_eq!(test(&project), names(&["t3", "t4"]));
    let updated = matrix(&project, "v1");
    assert_eq!(updated, figure(&FIGURE_2), "figure 2, and the last of figure 7");
    assert_eq!(updated.len(), 12, "the first of figure 7 has as many rows");

    // The entity map, the change set and what is affected.
    let new = History::open(&project.path(".edgewise/history")).unwrap();
    let (new, new_place) = unit(&new);
    let (before, after) = (old.graph(old_place).unwrap(), new.graph(new_place).unwrap());
    let pairs = PairGraph::between(before, after, |one, other| {
        (one.label != other.label).then_some(Because::Node)
    });
    let (v0, v1) = (statements(&source("v0")), statements(&source("v1")));
    let entity_map: BTreeSet<(String, String)> = pairs
        .nodes
        .iter()
        .filter_map(|(old, new)| {
            Some((statement(before, *old, &v0)?, statement(after, *new, &v1)?))
        })
        .collect();
    let same = ["s1", "s2", "s3", "s4", "s5"].map(|name| (name, name));
    let expected = same.into_iter().chain([("s9", "s11"), ("s10", "s12")]);
    let expected = expected.map(|(old, new)| (old.to_string(), new.to_string())).collect();
    assert_eq!(entity_map, expected);
    let changes: Vec<NodeId> = pairs.rejects.iter().filter_map(|reject| reject.new).collect();
    let named = |nodes: &[NodeId]| -> BTreeSet<String> {
        nodes.iter().filter_map(|node| statement(after, *node, &v1)).collect()
    };
    assert_eq!(named(&changes), names(&["s6"]));
    let reached = affected::within(after, changes);
    let reached: Vec<NodeId> = reached.iter_ones().map(NodeId::new).collect();
    let affected = named(&reached);
    assert_eq!(affected, names(&["s6", "s7", "s8", "s9", "s10", "s11", "s12"]));
    // What the selected tests cover of it is the second matrix of figure 7.
    let selected = names(&["t3", "t4"]);
    let collected: Matrix = updated
        .iter()
        .map(|(name, tests)| {
            let tests = tests.intersection(&selected).filter(|_| affected.contains(name));
            (name.clone(), tests.cloned().collect())
        })
        .collect();
    assert_eq!(collected, figure(&FIGURE_7B), "the second of figure 7");

    project.write("main.c", &source("v2"));
    assert_eq!(test(&project), names(&["t3", "t4"]));
    assert_eq!(matrix(&project, "v2"), figure(&FIGURE_3), "figure 3");
    // With the coverage of v0, whose s8 only t4 reaches, t3 would have been missed.
    assert_eq!(figure(&FIGURE_1)["s8"], names(&["t4"]));
}

/// Reads its arguments, then works, then ends.
const STEPS: &str = "\
#include <stdio.h>
#include <stdlib.h>
static int digits(const char *s)
{
    int n = 0;
    while (*s >= '0' && *s <= '9')
        n = 10 * n + *s++ - '0';
    return n;
}
static int read_all(int argc, char **argv)
{
    int i, sum = 0;
    for (i = 1; i < argc; i++)
        sum += digits(argv[i]);
    return sum;
}
static int halve(int n)
{
    return n / 2;
}
static int work(int n)
{
    if (n > 10)
        return halve(n);
    return n;
}
static void say(int n)
{
    if (n > 3)
        printf(\"%d\\n\", n);
}
int main(int argc, char **argv)
{
    int n = read_all(argc, argv);
    n = work(n);
    say(n);
    return 0;
}
";

const NUMBERS: [(&str, &str); 4] =
    [("none", ""), ("one", "2"), ("many", "4 7 x"), ("more", "40 2")];

/// Procedures without probes in the program as it is built.
fn unprobed(project: &Project) -> Vec<String> {
    let history = History::open(&project.path(".edgewise/history")).unwrap();
    let mut found = BTreeSet::new();
    for (_, test) in history.tests() {
        for program in &test.programs {
            let path = project.path(&history.program(*program).unwrap().path);
            let module = edgewise::trace::module::Module::read(&path).unwrap();
            for unit in module.records.units {
                let procedures = unit.index().unwrap().procedures;
                found.extend(procedures.into_iter().filter(|p| p.unprobed).map(|p| p.name));
            }
        }
    }
    found.into_iter().collect()
}

fn selective(project: &Project) -> String {
    let output = project.edgewise(&["test", "--selective"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    said
}

/// The history beside that of a run with all probes: how many tests have the same
/// rows, and how many have rows that hold too much.
fn beside_everything(project: &Project) -> (u64, u64) {
    let history = project.path(".edgewise/history");
    let kept = project.path(".edgewise/kept");
    std::fs::copy(&history, &kept).unwrap();
    for name in ["prog", "main.o", "first.o"] {
        let _ = std::fs::remove_file(project.path(name));
    }
    project.ok(&["build"]);
    project.ok(&["run"]);
    let all = project.path(".edgewise/all");
    std::fs::rename(&history, &all).unwrap();
    std::fs::rename(&kept, &history).unwrap();
    let said = project.ok(&["history", "diff", "--json", all.to_str().unwrap()]);
    let said: Value = serde_json::from_str(&said).unwrap();
    (said["equal"].as_u64().unwrap(), said["contained"].as_u64().unwrap())
}

#[test]
fn probes_only_where_a_change_can_lead() {
    let project = Project::of_source(STEPS, &NUMBERS);
    project.record();
    project.edit("main.c", "        printf(", "        putchar('>'), printf(");
    let said = selective(&project);
    assert!(said.contains("2 of 4 tests selected"), "{said}");
    assert_eq!(unprobed(&project), ["digits", "halve", "read_all", "work"]);
    assert_eq!(beside_everything(&project), (4, 0));
}

/// The call that is changed leads to the callee, and back to all that follows.
#[test]
fn what_follows_a_changed_call_has_probes() {
    let project = Project::of_source(STEPS, &NUMBERS);
    project.record();
    project.edit("main.c", "return n / 2;", "return n / 2 + 0 * n;");
    selective(&project);
    assert_eq!(unprobed(&project), ["digits", "read_all"]);
    assert_eq!(beside_everything(&project), (4, 0));
    // At the beginning, it leads everywhere.
    project.edit("main.c", "int i, sum = 0;", "int i, sum = 0 * argc;");
    selective(&project);
    assert_eq!(unprobed(&project), Vec::<String>::new());
    assert_eq!(beside_everything(&project), (4, 0));
}

/// What was called behind the change, and is not any more, did something else.
#[test]
fn what_only_the_old_version_called_behind_the_change_has_probes() {
    let steps = STEPS.replace("    say(n);\n", "    n += digits(\"12\");\n    say(n);\n");
    let project = Project::of_source(&steps, &NUMBERS);
    project.record();
    project.edit("main.c", "    n += digits(\"12\");\n", "    n += 12;\n");
    selective(&project);
    assert!(!unprobed(&project).contains(&String::from("digits")), "{:?}", unprobed(&project));
    assert!(unprobed(&project).contains(&String::from("read_all")), "{:?}", unprobed(&project));
    assert_eq!(beside_everything(&project), (4, 0));
}

/// A procedure that has no probes from an earlier version, and that a change in
/// another unit leads to, may have done anything.
#[test]
fn what_lost_its_probes_before_counts_as_taken() {
    let project = Project::of_source(STEPS, &NUMBERS);
    let (start, end) = STEPS.split_at(STEPS.find("static int halve").unwrap());
    let first = start.replace("static int read_all", "int read_all");
    project.write("first.c", &first);
    let rest = format!("#include <stdio.h>\nint read_all(int argc, char **argv);\n{end}");
    project.write("main.c", &rest);
    project.write("Makefile", "prog: main.o first.o\n\t$(CC) -o prog main.o first.o\n");
    project.record();
    // Both units are built anew, and the first has no probes any more.
    project.edit("main.c", "return halve(n);", "return halve(n) + 1;");
    project.edit(
        "first.c",
        "#include <stdlib.h>\n",
        "#include <stdlib.h>\nint unused(int n) { return n; }\n",
    );
    selective(&project);
    assert!(unprobed(&project).contains(&String::from("read_all")), "{:?}", unprobed(&project));
    // Now main calls it a second time, behind the change.
    project.edit(
        "main.c",
        "    say(n);",
        "    n += argc > 2 ? read_all(1, argv) : 0;\n    say(n);",
    );
    selective(&project);
    let history = History::open(&project.path(".edgewise/history")).unwrap();
    let inexact = history.tests().filter(|(_, test)| test.inexact).count();
    assert!(inexact > 0, "the first unit was not built again");
    let (equal, contained) = beside_everything(&project);
    assert_eq!((equal + contained, contained > 0), (4, true));
}

#[test]
fn what_may_do_several_things_at_once_keeps_its_probes() {
    for (what, more) in [
        ("a process", "#include <unistd.h>\nint second(void) { return fork(); }\n"),
        (
            "a thread",
            "#include <pthread.h>\nvoid second(pthread_t *t) { pthread_create(t, 0, 0, 0); }\n",
        ),
        ("a handler", "#include <signal.h>\nvoid second(void) { signal(SIGINT, SIG_IGN); }\n"),
        (
            "a look-up",
            "void *dlsym(void *, const char *);\nvoid *second(void) { return dlsym(0, \"work\"); }\n",
        ),
        (
            "another name",
            "int third(void) { return 3; }\nint second(void) __attribute__((alias(\"third\")));\n",
        ),
        ("a jump", "#include <setjmp.h>\njmp_buf at;\nvoid second(void) { longjmp(at, 1); }\n"),
    ] {
        let project = Project::of_source(&format!("{more}{STEPS}"), &NUMBERS);
        project.record();
        project.edit("main.c", "return halve(n);", "return halve(n) + 1;");
        selective(&project);
        assert_eq!(unprobed(&project), Vec::<String>::new(), "{what}");
    }
    // And so do tests that are selected for something else.
    let project = Project::of_source(STEPS, &NUMBERS);
    project.record();
    project.edit("main.c", "return halve(n);", "return halve(n) + 1;");
    project.write("tests.list", &(project.read("tests.list") + "new ./prog 1\n"));
    let said = selective(&project);
    assert!(said.contains("all probes are built in: t/new is selected for more"), "{said}");
    assert_eq!(unprobed(&project), Vec::<String>::new());
}
