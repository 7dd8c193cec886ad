//! The path oracle on a real project: for the changes that `outcome` compared, what
//! each algorithm selects beside the tests whose complete path is not the same.

use super::change::{Change, Edit};
use super::coverage::Coverage;
use super::outcome::{self, Baseline};
use super::plan;
use super::record::State;
use super::table;
use super::tree::Tree;
use anyhow::{Context, ensure};
use fs_err::File;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// From the sharpest to the coarsest.
pub const ALGORITHMS: [&str; 9] =
    ["path", "valid", "full", "partial", "auto", "rh", "rh-intra", "procedure", "file"];
/// A log of every node, and which procedures are entered once.
const CONFIGURATION: &str = "granularity = \"path\"\ncount-entries = true\n";

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub study: outcome::Args,
}

/// What the algorithms say to one change.
#[derive(Debug, Serialize, Deserialize)]
pub struct PathRecord {
    pub id: String,
    pub kind: String,
    pub tests: usize,
    pub selected: BTreeMap<String, usize>,
    /// Pairs of procedures that were walked, and those with a node that has several
    /// counterparts.
    pub walked: u64,
    pub multiply_visited: u64,
    /// A test that a sharper algorithm selects and a coarser one does not.
    pub wrong: Vec<String>,
}

pub fn read(path: &Path) -> anyhow::Result<BTreeMap<String, PathRecord>> {
    let text = if path.exists() { fs_err::read_to_string(path)? } else { String::new() };
    let records = text.lines().filter_map(|line| serde_json::from_str::<PathRecord>(line).ok());
    Ok(records.map(|record| (record.id.clone(), record)).collect())
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    outcome::randomize_addresses(false);
    let args = &args.study;
    let baseline = Baseline::prepare(args, "path", CONFIGURATION)?;
    let name = &baseline.subject.description.name;
    let coverage = Coverage::read(&baseline.edgewise.0, &baseline.recorded)?;
    let mut compared = table::read_outcomes(&args.tables)?.remove(name).unwrap_or_default();
    compared.extend(super::record::read(&args.results.join(format!("{name}.jsonl")))?);
    ensure!(
        !compared.is_empty(),
        "no change of {name} is known\nhint: scripts/study outcome {name}"
    );
    let file = args.results.join(format!("{name}.path.jsonl"));
    let mut known = read(&file)?;
    if args.kept {
        known.extend(table::read_paths(&args.tables)?.remove(name).unwrap_or_default());
    }
    let changes = plan::candidates(&baseline.subject, &coverage)?.into_values().flatten();
    let is_wanted = |change: &Change| {
        let id = change.id();
        let is_compared = compared.get(&id).is_some_and(|record| record.state == State::Compared);
        matches!(change.edit, Edit::Mutant(_)) && is_compared && !known.contains_key(&id)
    };
    let mut changes: Vec<Change> = changes.filter(is_wanted).collect();
    // Of all kinds alike, as far as it is asked for.
    changes.sort_by_key(Change::id);
    changes.truncate(args.mutants.saturating_sub(known.len()));
    let out = Mutex::new(File::options().create(true).append(true).open(&file)?);
    let next = AtomicUsize::new(0);
    let work = |number: usize| -> anyhow::Result<()> {
        let directory = baseline.plain.parent().context("no parent")?.join(number.to_string());
        let recorded = Tree::copy_of(&baseline.recorded, &directory.join("recorded"))?;
        while let Some(change) = changes.get(next.fetch_add(1, Ordering::Relaxed)) {
            let record = ask(&baseline, &recorded, change)?;
            recorded.put_back()?;
            let mut line = serde_json::to_string(&record)?;
            line.push('\n');
            let mut out = out.lock().unwrap_or_else(|broken| broken.into_inner());
            out.write_all(line.as_bytes())?;
        }
        Ok(())
    };
    std::thread::scope(|scope| -> anyhow::Result<()> {
        let work = &work;
        let workers: Vec<_> =
            (0..args.workers).map(|number| scope.spawn(move || work(number))).collect();
        for worker in workers {
            worker.join().map_err(|_| anyhow::anyhow!("a worker panicked"))??;
        }
        Ok(())
    })?;
    let known = read(&file)?;
    let sum = |algorithm: &str| known.values().map(|r| r.selected[algorithm]).sum::<usize>();
    let counts = ALGORITHMS.map(|algorithm| format!("{algorithm} {}", sum(algorithm)));
    println!("{name}: {} changes: {}", known.len(), counts.join(", "));
    let wrong: Vec<&String> = known.values().flat_map(|record| &record.wrong).collect();
    ensure!(wrong.is_empty(), "{name}: {wrong:#?}");
    Ok(())
}

fn ask(baseline: &Baseline, recorded: &Tree, change: &Change) -> anyhow::Result<PathRecord> {
    for (file, text) in change.files(&baseline.subject.base)? {
        recorded.write(&file, &text)?;
    }
    let mut selections = Vec::new();
    let (mut walked, mut multiply_visited, mut tests) = (0, 0, 0);
    for algorithm in ALGORITHMS {
        let words = ["--algorithm", algorithm];
        let selection = baseline.edgewise.select(&recorded.root, &words)?;
        if algorithm == "auto" {
            let statistics = &selection.said["statistics"];
            walked = statistics["procedures_analysed"].as_u64().context("no statistics")?;
            multiply_visited =
                statistics["multiply_visited_procedures"].as_u64().context("no statistics")?;
            let skipped = selection.said["skipped"].as_array().map_or(0, Vec::len);
            tests = selection.tests.len() + skipped;
        }
        selections.push(selection.tests);
    }
    let mut wrong = Vec::new();
    for (coarse, algorithm) in selections.iter().zip(ALGORITHMS).skip(1) {
        for test in selections[0].difference(coarse) {
            wrong.push(format!("{}: {test} is not selected by {algorithm}", change.what()));
        }
    }
    let selected = selections.iter().zip(ALGORITHMS);
    let selected =
        selected.map(|(tests, algorithm)| (algorithm.to_string(), tests.len())).collect();
    let (id, kind) = (change.id(), change.kind.to_string());
    Ok(PathRecord { id, kind, tests, selected, walked, multiply_visited, wrong })
}
