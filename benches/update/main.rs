//! A real project through a chain of versions: after each, the history that
//! `edgewise test` updates is laid beside that of a run of everything, and the costs
//! beside each other. And what coverage that nobody updates would have selected.

mod edits;

use anyhow::{Context, bail, ensure};
use clap::Parser;
use edgewise::cfg::format::{RawRecord, UnitIndex};
use edgewise::history::{History, Row};
use edgewise::ids::Fingerprint;
use edits::{Edit, Random};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

#[derive(Parser)]
struct Args {
    #[arg(long)]
    edgewise: PathBuf,
    /// The project, with its build and its suites in edgewise.toml
    #[arg(long)]
    project: PathBuf,
    #[arg(long)]
    name: String,
    #[arg(long, default_value_t = 10)]
    versions: usize,
    /// Edits that make a version
    #[arg(long, default_value_t = 3)]
    edits: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// More words for `edgewise test`
    #[arg(long, allow_hyphen_values = true)]
    with: Vec<String>,
    /// Cargo says this to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// What tests took, by object and procedure.
type NamedRows = BTreeMap<String, BTreeMap<(String, String), Vec<u8>>>;

/// What one version came to.
#[derive(Default)]
struct Step {
    selected: usize,
    ran: usize,
    tests: usize,
    equal: u64,
    contained: u64,
    without_rows: usize,
    different: usize,
    /// `edgewise test` without the build, and running everything.
    update: Duration,
    everything: Duration,
    false_positives: usize,
    false_negatives: usize,
}

struct Chain<'a> {
    args: &'a Args,
    /// What tests took at the first version, by source and procedure.
    first: NamedRows,
    reached: BTreeMap<String, Vec<usize>>,
    originals: BTreeMap<PathBuf, String>,
    random: Random,
    /// Tests whose rows are not the same each time.
    unstable: BTreeSet<String>,
}

fn names(list: &Value) -> BTreeSet<String> {
    let names = list.as_array().into_iter().flatten();
    names.filter_map(|name| name.as_str().map(String::from)).collect()
}

fn main() -> anyhow::Result<()> {
    let mut args = Args::parse();
    args.edgewise = args.edgewise.canonicalize()?;
    args.project = args.project.canonicalize()?;
    let mut chain = Chain {
        args: &args,
        first: BTreeMap::new(),
        reached: BTreeMap::new(),
        originals: BTreeMap::new(),
        random: Random(args.seed),
        unstable: BTreeSet::new(),
    };
    chain.begin()?;
    println!(
        "| {} | edit | selected | run | of | equal | contained | without rows | different | test s | all s | false + | false - |",
        args.name
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut total = Step::default();
    for number in 1..=args.versions {
        let (what, step) = chain.step()?;
        println!("{}", row(&number.to_string(), &what, &step));
        total.selected += step.selected;
        total.ran += step.ran;
        total.tests += step.tests;
        total.equal += step.equal;
        total.contained += step.contained;
        total.without_rows += step.without_rows;
        total.different += step.different;
        total.update += step.update;
        total.everything += step.everything;
        total.false_positives += step.false_positives;
        total.false_negatives += step.false_negatives;
    }
    println!("{}", row("all", "", &total));
    ensure!(total.different == 0, "{} tests differ from a run of everything", total.different);
    Ok(())
}

fn row(number: &str, what: &str, step: &Step) -> String {
    let what: String = what.replace('|', "\\|").chars().take(120).collect();
    format!(
        "| {number} | {what} | {} | {} | {} | {} | {} | {} | {} | {:.2} | {:.2} | {} | {} |",
        step.selected,
        step.ran,
        step.tests,
        step.equal,
        step.contained,
        step.without_rows,
        step.different,
        step.update.as_secs_f64(),
        step.everything.as_secs_f64(),
        step.false_positives,
        step.false_negatives,
    )
}

impl Chain<'_> {
    fn edgewise(&self, words: &[&str]) -> anyhow::Result<Output> {
        // A test has to do the same each time: addresses must not be chance.
        let mut command = Command::new("setarch");
        command.arg("-R").arg(&self.args.edgewise).args(words).current_dir(&self.args.project);
        command.output().context("cannot run edgewise")
    }

    fn history(&self) -> PathBuf {
        self.args.project.join(".edgewise/history")
    }

    /// Records the first version.
    fn begin(&mut self) -> anyhow::Result<()> {
        for words in [&["build"][..], &["run"]] {
            let output = self.edgewise(words)?;
            let is_done = matches!(output.status.code(), Some(0 | 1));
            ensure!(is_done, "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let output = self.edgewise(&["history", "export", "--format", "lcov"])?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut file = String::new();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            if let Some(name) = line.strip_prefix("SF:") {
                file = name.to_string();
            } else if let Some((line, count)) =
                line.strip_prefix("DA:").and_then(|l| l.split_once(','))
                && count.trim() != "0"
                && file.ends_with(".c")
            {
                self.reached.entry(file.clone()).or_default().push(line.parse()?);
            }
        }
        ensure!(!self.reached.is_empty(), "no test reaches anything");
        self.first = named_rows(&History::open(&self.history())?)?;
        let kept = self.args.project.join(".edgewise/history-kept");
        std::fs::copy(self.history(), &kept)?;
        self.edgewise(&["run"])?;
        let output = self.edgewise(&["history", "diff", "--json", kept.to_str().unwrap()])?;
        let diff: Value = serde_json::from_slice(&output.stdout)?;
        self.unstable = names(&diff["different"]);
        if !self.unstable.is_empty() {
            let count = self.unstable.len();
            println!("{count} tests do not do the same each time, and are not compared.\n");
        }
        Ok(())
    }

    /// The next version that builds, tested, and compared.
    fn step(&mut self) -> anyhow::Result<(String, Step)> {
        let before = self.args.project.join(".edgewise/history-before");
        std::fs::copy(self.history(), &before)?;
        let mut done = Vec::new();
        for _ in 0..200 {
            let root = self.args.project.clone();
            let edit = edits::next(&root, &self.reached, &mut self.originals, &mut self.random);
            let Some(Edit { what, path, before: text, after }) = edit else { continue };
            std::fs::write(&path, after)?;
            let built = self.edgewise(&["build"])?;
            if !built.status.success() {
                std::fs::write(&path, text)?;
                continue;
            }
            done.push(what);
            if done.len() == self.args.edits {
                return Ok((done.join("; "), self.compare(&before)?));
            }
        }
        bail!("no edit builds")
    }

    fn compare(&self, before: &Path) -> anyhow::Result<Step> {
        let results = self.args.project.join(".edgewise/results.json");
        let selection = self.selected()?;
        let began = Instant::now();
        let mut words = vec!["test", "--no-build", "--json", results.to_str().unwrap()];
        words.extend(self.args.with.iter().map(String::as_str));
        let output = self.edgewise(&words)?;
        let update = began.elapsed();
        let is_done = matches!(output.status.code(), Some(0 | 1));
        ensure!(is_done, "test: {}", String::from_utf8_lossy(&output.stderr));
        let results: Value = serde_json::from_str(&std::fs::read_to_string(&results)?)?;
        let tests = results["tests"].as_array().context("no results")?;
        let ran = tests.iter().filter(|test| test["outcome"] != "not-selected").count();

        let (history, kept) = (self.history(), self.args.project.join(".edgewise/history-kept"));
        std::fs::copy(&history, &kept)?;
        let began = Instant::now();
        let output = self.edgewise(&["run"])?;
        let everything = began.elapsed();
        ensure!(matches!(output.status.code(), Some(0 | 1)));
        let all = self.args.project.join(".edgewise/history-of-all");
        std::fs::rename(&history, &all)?;
        // What coverage that nobody updated would have said.
        transplant(before, &self.first, &history)?;
        let outdated = self.selected()?;
        std::fs::rename(&kept, &history)?;
        let output = self.edgewise(&["history", "diff", "--json", all.to_str().unwrap()])?;
        let diff: Value = serde_json::from_slice(&output.stdout)?;
        let count = |key: &str| names(&diff[key]).difference(&self.unstable).count();
        if count("different") > 0 {
            let output = self.edgewise(&["history", "diff", all.to_str().unwrap()])?;
            eprint!("{}", String::from_utf8_lossy(&output.stdout));
        }
        Ok(Step {
            selected: selection.len(),
            ran,
            tests: tests.len(),
            equal: diff["equal"].as_u64().unwrap_or(0),
            contained: diff["contained"].as_u64().unwrap_or(0),
            without_rows: count("not_clean"),
            different: count("different")
                + count("other_version")
                + count("only_here")
                + count("only_there"),
            update,
            everything,
            false_positives: outdated.difference(&selection).count(),
            false_negatives: selection.difference(&outdated).count(),
        })
    }

    fn selected(&self) -> anyhow::Result<BTreeSet<String>> {
        let output = self.edgewise(&["select", "--from-build", "--format", "json"])?;
        let said: Value = serde_json::from_slice(&output.stdout)
            .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
        let selected = said["selected"].as_array().context("no selection")?.iter();
        Ok(selected.filter_map(|test| Some(test["name"].as_str()?.to_string())).collect())
    }
}

fn indexes(history: &History) -> anyhow::Result<BTreeMap<Fingerprint, UnitIndex>> {
    let mut indexes = BTreeMap::new();
    for unit in history.units()? {
        indexes.insert(unit, RawRecord::new(history.unit(unit)?)?.index()?);
    }
    Ok(indexes)
}

/// The rows of all tests, by source and name of the procedure.
fn named_rows(history: &History) -> anyhow::Result<NamedRows> {
    let indexes = indexes(history)?;
    let mut all: NamedRows = BTreeMap::new();
    for (name, _) in history.tests() {
        for Row { unit, procedure, edges } in history.rows(name)? {
            let index = &indexes[&unit];
            let procedure = index.procedures[procedure as usize].name.clone();
            let key = (index.key.object.clone(), procedure);
            all.entry(name.clone()).or_default().insert(key, edges);
        }
    }
    Ok(all)
}

/// A history of the version before, with what tests took at the first one, edge by
/// edge in their order: that is what coverage says which is not updated.
fn transplant(before: &Path, first: &NamedRows, to: &Path) -> anyhow::Result<()> {
    std::fs::copy(before, to)?;
    let mut history = History::open(to)?;
    let indexes = indexes(&history)?;
    let tests: Vec<_> = history.tests().map(|(name, test)| (name.clone(), test.clone())).collect();
    for (name, test) in tests {
        let Some(known) = first.get(&name) else { continue };
        let mut rows = Vec::new();
        for program in &test.programs {
            for unit in history.program(*program)?.units {
                let index = &indexes[&unit];
                for (number, procedure) in index.procedures.iter().enumerate() {
                    let key = (index.key.object.clone(), procedure.name.clone());
                    let Some(edges) = known.get(&key) else { continue };
                    let count = procedure.edge_count as usize;
                    let mut edges = edges.clone();
                    edges.resize(count.div_ceil(8), 0);
                    if let (Some(last), 1..) = (edges.last_mut(), count % 8) {
                        *last &= (1 << (count % 8)) - 1;
                    }
                    rows.push(Row { unit, procedure: number as u32, edges });
                }
            }
        }
        rows.sort();
        rows.dedup_by_key(|row| (row.unit, row.procedure));
        history.record(&name, test, rows);
    }
    history.commit()?;
    Ok(())
}
