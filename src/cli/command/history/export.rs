//! `edgewise history export`: the matrix for other tools.

use crate::bytes;
use crate::cli::completing;
use crate::cli::exit;
use crate::cli::reached::{Procedure, Reached};
use crate::cli::word;
use crate::cli::workspace::Workspace;
use crate::history::History;
use crate::ids::EdgeId;
use crate::select::explain::edge_name;
use anyhow::{Context, ensure};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Write what was recorded for other tools
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    edgewise history export --format csv\n  \
    edgewise history export --format lcov --output all.info && genhtml all.info")]
pub struct Args {
    /// What to write
    #[arg(long, value_enum)]
    format: Format,
    /// Only what tests did whose name contains this
    #[arg(long, value_name = "TEXT", value_parser = word(), add = completing::tests())]
    test: Option<String>,
    /// A file, instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The tests on every edge
    Json,
    /// Lines and branches, with the number of tests as their counts
    Lcov,
    /// The tests on every edge, a line each
    Csv,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let workspace = Workspace::open_without_suites()?;
    let history = workspace.history()?;
    let is_wanted = |name: &str| args.test.as_ref().is_none_or(|text| name.contains(text));
    ensure!(
        history.tests().any(|(name, _)| is_wanted(name)),
        "there is no such test in the history\nhint: `edgewise run` records one"
    );
    let reached = Reached::new(&history, is_wanted)?;
    let mut out: Box<dyn Write> = match &args.output {
        Some(path) => Box::new(BufWriter::new(fs_err::File::create(path)?)),
        None => Box::new(BufWriter::new(std::io::stdout().lock())),
    };
    match args.format {
        Format::Json => export_json(&reached, &history, &is_wanted, &mut out),
        Format::Csv => export_csv(&reached, &mut out),
        Format::Lcov => export_lcov(&reached, &mut out),
    }
    .and_then(|()| out.flush().context("cannot write"))?;
    Ok(exit::OK)
}

fn export_json(
    reached: &Reached<'_>,
    history: &History,
    is_wanted: &dyn Fn(&str) -> bool,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let mut tests = Vec::new();
    for (name, test) in history.tests().filter(|(name, _)| is_wanted(name)) {
        let programs = test.programs.iter().map(|program| Ok(history.program(*program)?.path));
        let programs: Vec<String> = programs.collect::<anyhow::Result<_>>()?;
        tests.push(json!({
            "name": name, "outcome": test.outcome, "unclean": test.unclean,
            "milliseconds": test.milliseconds, "programs": programs,
            "inexact": test.inexact, "unstable": test.unstable,
        }));
    }
    write!(out, "{{\"version\": 1,\n\"tests\": {},\n\"procedures\": [", json!(tests))?;
    let mut between = "\n";
    reached.each::<anyhow::Error>(
        |_, _| true,
        |procedure| {
            let edges = procedure.graph.edges.iter().enumerate().filter_map(|(number, edge)| {
                let tests = procedure.tests_on_edge(EdgeId::new(number));
                let line = |node| procedure.graph.node(node).place.line;
                tests.any().then(|| {
                    json!({
                        "edge": number, "from": line(edge.from), "to": line(edge.to),
                        "label": edge_name(&edge.label), "tests": reached.names(&tests),
                    })
                })
            });
            let edges: Vec<_> = edges.collect();
            if edges.is_empty() {
                return Ok(());
            }
            let place = procedure.index.place;
            let procedure = json!({
                "unit": procedure.unit.fingerprint().hex(),
                "source": procedure.unit.index.key.source,
                "file": procedure.file(place), "line": place.line,
                "procedure": procedure.index.name,
                "edges": procedure.graph.edges.len(), "taken": edges,
            });
            write!(out, "{between}{procedure}")?;
            between = ",\n";
            Ok(())
        },
    )?;
    writeln!(out, "\n]}}")?;
    Ok(())
}

fn export_csv(reached: &Reached<'_>, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(out, "unit,source,procedure,edge,from,to,label,test")?;
    reached.each(
        |_, _| true,
        |procedure| {
            for (number, edge) in procedure.graph.edges.iter().enumerate() {
                let tests = procedure.tests_on_edge(EdgeId::new(number));
                for test in reached.names(&tests) {
                    let line = |node| procedure.graph.node(node).place.line;
                    writeln!(
                        out,
                        "{},{},{},{number},{},{},{},{}",
                        procedure.unit.fingerprint().hex(),
                        quoted(&procedure.unit.index.key.source),
                        quoted(&procedure.index.name),
                        line(edge.from),
                        line(edge.to),
                        quoted(&edge_name(&edge.label)),
                        quoted(test),
                    )?;
                }
            }
            Ok(())
        },
    )
}

/// A field of CSV.
fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

/// What lcov says of a file.
#[derive(Default)]
struct Counts {
    functions: BTreeMap<(u32, String), usize>,
    lines: BTreeMap<u32, usize>,
    /// By line, and within it by condition and way.
    branches: BTreeMap<u32, Vec<(usize, usize, usize)>>,
}

fn export_lcov(reached: &Reached<'_>, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut files: BTreeMap<String, Counts> = BTreeMap::new();
    reached.each::<anyhow::Error>(
        |_, _| true,
        |procedure| {
            add_counts(&mut files, procedure);
            Ok(())
        },
    )?;
    for (file, counts) in &files {
        out.write_all(&bytes::of_text(&format!("TN:\nSF:{file}\n")))?;
        for (line, name) in counts.functions.keys() {
            writeln!(out, "FN:{line},{name}")?;
        }
        for ((_, name), count) in &counts.functions {
            writeln!(out, "FNDA:{count},{name}")?;
        }
        let entered = counts.functions.values().filter(|count| **count > 0).count();
        writeln!(out, "FNF:{}\nFNH:{entered}", counts.functions.len())?;
        let branches = || {
            counts.branches.iter().flat_map(|(line, ways)| ways.iter().map(move |way| (line, way)))
        };
        for (line, (block, way, count)) in branches() {
            writeln!(out, "BRDA:{line},{block},{way},{count}")?;
        }
        let taken = branches().filter(|(_, (_, _, count))| *count > 0).count();
        writeln!(out, "BRF:{}\nBRH:{taken}", branches().count())?;
        for (line, count) in &counts.lines {
            writeln!(out, "DA:{line},{count}")?;
        }
        let reached = counts.lines.values().filter(|count| **count > 0).count();
        writeln!(out, "LF:{}\nLH:{reached}\nend_of_record", counts.lines.len())?;
    }
    Ok(())
}

fn add_counts(files: &mut BTreeMap<String, Counts>, procedure: &Procedure<'_>) {
    let place = procedure.index.place;
    let counts = files.entry(procedure.file(place).to_string()).or_default();
    let name = (place.line, procedure.index.name.clone());
    // A static procedure of a header is in several units.
    let entered = counts.functions.entry(name).or_default();
    *entered = (*entered).max(procedure.entered().count_ones());
    for (place, tests) in procedure.lines() {
        let counts = files.entry(procedure.file(place).to_string()).or_default();
        let known = counts.lines.entry(place.line).or_default();
        *known = (*known).max(tests.count_ones());
    }
    let mut edges = procedure.graph.edges.iter().enumerate().peekable();
    while let Some((_, first)) = edges.peek() {
        let from = first.from;
        let mut ways = Vec::new();
        while let Some((number, _)) = edges.next_if(|(_, edge)| edge.from == from) {
            ways.push(procedure.tests_on_edge(EdgeId::new(number)).count_ones());
        }
        if ways.len() > 1 {
            let place = procedure.graph.node(from).place;
            let counts = files.entry(procedure.file(place).to_string()).or_default();
            let of_line = counts.branches.entry(place.line).or_default();
            let block = of_line.last().map_or(0, |(block, _, _)| block + 1);
            of_line.extend(ways.iter().enumerate().map(|(way, count)| (block, way, *count)));
        }
    }
}
