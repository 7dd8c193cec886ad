//! The papers' examples with the papers' own answers:
//! real programs, built with probes, run, changed and compared. What is
//! expected is in `testdata/papers`.

use crate::support::{Project, copy, testdata};
use edgewise::cfg::format::{Graph, NodeKind, RawRecord};
use edgewise::history::History;
use edgewise::ids::NodeId;
use edgewise::report::graph;
use edgewise::select::explain::edge_name;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Deserialize)]
struct Example {
    procedure: Option<String>,
    /// More lines of edgewise.toml.
    #[serde(default)]
    config: String,
    test: Vec<Test>,
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Test {
    name: String,
    args: String,
    edges: Option<BTreeSet<String>>,
}

#[derive(Deserialize)]
struct Case {
    version: String,
    selects: BTreeSet<String>,
    dangerous: BTreeSet<String>,
    analysed: BTreeSet<String>,
    selects_all: BTreeSet<String>,
    #[serde(default)]
    multiply_visited: BTreeSet<String>,
    /// What other algorithms than SelectInterTests select.
    #[serde(default)]
    by: BTreeMap<String, BTreeSet<String>>,
}

/// The names of the paper's statements, by line of the old version.
struct Names(BTreeMap<u64, String>);

impl Names {
    fn of(source: &str) -> Self {
        let names = source.lines().enumerate().filter_map(|(index, line)| {
            let (_, comment) = line.rsplit_once("/* ")?;
            let name = comment.strip_suffix(" */")?;
            (!name.contains(' ')).then(|| (index as u64 + 1, name.to_string()))
        });
        Self(names.collect())
    }

    fn at(&self, line: u64, text: &str) -> String {
        if text == "the end of the procedure" {
            return String::from("exit");
        }
        self.0.get(&line).cloned().unwrap_or_else(|| String::from("entry"))
    }
}

fn edge_text(from: &str, label: &str, to: &str) -> String {
    if label.is_empty() { format!("{from} -> {to}") } else { format!("{from} -{label}-> {to}") }
}

fn read(name: &str) -> Example {
    let text = std::fs::read_to_string(testdata("papers").join(name).join("cases.toml")).unwrap();
    toml::from_str(&text).unwrap()
}

/// The old version, built and recorded.
fn recorded(name: &str, example: &Example) -> Project {
    let project = Project::empty();
    copy(&testdata("papers").join(name), project.root());
    project.write("main.c", &project.read("old.c"));
    for case in &example.case {
        std::fs::remove_file(project.path(&case.version)).unwrap();
    }
    std::fs::remove_file(project.path("old.c")).unwrap();
    project.write("Makefile", "prog: main.c\n\t$(CC) -O2 -w -o prog main.c\n");
    project.write_config();
    project.write("edgewise.toml", &(project.read("edgewise.toml") + &example.config));
    let list = example.test.iter().map(|test| format!("{} ./prog {}\n", test.name, test.args));
    project.write("tests.list", &list.collect::<String>());
    project.record();
    project
}

fn names_selected(answer: &serde_json::Value) -> BTreeSet<String> {
    let names = answer["selected"].as_array().unwrap().iter();
    let names = names.map(|test| test["name"].as_str().unwrap().rsplit('/').next().unwrap());
    names.map(String::from).collect()
}

fn check(name: &str) {
    let example = read(name);
    let project = recorded(name, &example);
    let names = Names::of(&project.read("main.c"));
    assert!(project.selected().is_empty(), "{name}: the same version selects nothing");
    for case in &example.case {
        let source = testdata("papers").join(name).join(&case.version);
        project.write("main.c", &std::fs::read_to_string(source).unwrap());
        let answer = project.select_json(&["--algorithm", "rh"]);
        let strings = |key: &str, of: &dyn Fn(&serde_json::Value) -> Option<String>| {
            answer[key].as_array().unwrap().iter().filter_map(of).collect::<BTreeSet<String>>()
        };
        let title = format!("{name}, {}", case.version);
        assert_eq!(names_selected(&answer), case.selects, "{title}: tests selected");
        for (algorithm, expected) in &case.by {
            let answer = project.select_json(&["--algorithm", algorithm]);
            assert_eq!(names_selected(&answer), *expected, "{title}: {algorithm}");
        }
        let sharpened = case.by.get("auto").unwrap_or(&case.selects);
        assert_eq!(names_selected(&project.select_json(&[])), *sharpened, "{title}: auto");
        let dangerous = strings("dangerous_edges", &|edge| {
            let side = |side: &str| {
                let side = &edge[side];
                Some(names.at(side["line"].as_u64()?, side["text"].as_str()?))
            };
            let edge_text = edge_text(&side("from")?, edge["edge"].as_str()?, &side("old")?);
            Some(format!("{}: {edge_text}", edge["procedure"].as_str()?))
        });
        assert_eq!(dangerous, case.dangerous, "{title}: dangerous edges");
        let procedure = |p: &serde_json::Value| Some(p["procedure"].as_str()?.to_string());
        let analysed = strings("procedures_analysed", &procedure);
        assert_eq!(analysed, case.analysed, "{title}: procedures analysed");
        let selects_all = strings("procedures_analysed", &|p| {
            procedure(p).filter(|_| p["status"] == "selects-all")
        });
        assert_eq!(selects_all, case.selects_all, "{title}: selects-all");
        let multiply = strings("procedures_analysed", &|p| {
            procedure(p).filter(|_| p["multiply_visited"] == true)
        });
        let expected: BTreeSet<String> = case
            .multiply_visited
            .iter()
            .map(|node| node.split(':').next().unwrap().to_string())
            .collect();
        if !expected.is_empty() {
            assert_eq!(multiply, expected, "{title}: the multiply-visited-node condition");
        }
    }
}

#[test]
fn avg() {
    check("avg");
}

#[test]
fn twovisits_in_either_order_of_its_arms() {
    check("twovisits");
    check("twovisits-swapped");
}

#[test]
fn pathological() {
    check("pathological");
}

#[test]
fn sys() {
    check("sys");
}

#[test]
fn elevator() {
    check("elevator");
}

#[test]
fn a_target_of_a_dispatch_table() {
    check("dispatch");
}

#[test]
fn ball_figure_1_partial_reachability_is_sharper() {
    check("ball-1");
}

#[test]
fn ball_figure_4_full_reachability_is_sharper() {
    check("ball-4");
}

#[test]
fn ball_figure_5_valid_reachability_is_sharper() {
    check("ball-5");
}

#[test]
fn ball_figure_6_only_the_path_tells() {
    check("ball-6");
}

/// Figure 2: the edge trace of every test, from real runs of the program.
#[test]
fn the_edge_traces_of_avg_are_those_of_the_paper() {
    check_edge_traces("avg");
}

/// Figure 4 of the paper on C++.
#[test]
fn the_edge_traces_of_the_elevator_are_those_of_the_paper() {
    check_edge_traces("elevator");
}

fn check_edge_traces(name: &str) {
    let example = read(name);
    let project = recorded(name, &example);
    let names = Names::of(&project.read("main.c"));
    let history = History::open(&project.path(".edgewise/history")).unwrap();
    let wanted = example.procedure.unwrap();
    for test in &example.test {
        let rows = history.rows(&format!("t/{}", test.name)).unwrap();
        let raw = RawRecord::new(history.unit(rows[0].unit).unwrap()).unwrap();
        let index = raw.index().unwrap();
        let graphs = raw.graphs(&index).unwrap();
        let mut taken = BTreeSet::new();
        for (place, (procedure, graph)) in index.procedures.iter().zip(&graphs).enumerate() {
            let row = rows.iter().find(|row| row.procedure as usize == place);
            if procedure.name == wanted {
                for (number, edge) in graph.edges.iter().enumerate() {
                    if row.is_some_and(|row| row.is_taken(number)) {
                        let (from, to) = (
                            node_name(&names, graph, edge.from),
                            node_name(&names, graph, edge.to),
                        );
                        taken.insert(edge_text(&from, &edge_name(&edge.label), &to));
                    }
                }
            }
        }
        let picture = index.procedures.iter().position(|p| p.name == wanted).unwrap();
        let picture = graph::text(&index, &wanted, &graphs[picture]);
        assert_eq!(Some(&taken), test.edges.as_ref(), "{}\n{picture}", test.name);
    }
}

fn node_name(names: &Names, graph: &Graph, node: NodeId) -> String {
    let node = graph.node(node);
    match node.kind {
        NodeKind::Entry => String::from("entry"),
        NodeKind::Exit => String::from("exit"),
        _ => names.at(u64::from(node.place.line), ""),
    }
}
