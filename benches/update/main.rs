//! A real project through a chain of versions: after each, the history that
//! `edgewise test` updates is laid beside that of a run of everything, and so is that of
//! `edgewise test --selective`. What each way of testing costs, as in table 11 of paper
//! 004, and what coverage that nobody updates would have selected, as in its study 1.

mod edits;
#[path = "../figures.rs"]
mod figures;
mod outdated;
mod table;
mod trees;
mod versions;

use anyhow::{Context, ensure};
use clap::Parser;
use edgewise::cfg::format::RawRecord;
use edgewise::history::History;
use edits::Random;
use outdated::NamedRows;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use table::{Beside, Cost, Step};
use trees::{Tree, Trees};
use versions::{Change, Versions};

/// A test that is not the same in so many runs of the first version is not compared.
const RUNS: usize = 4;

/// So many versions are made of edits.
const VERSIONS: usize = 10;

#[derive(Parser)]
struct Args {
    #[arg(long)]
    edgewise: PathBuf,
    /// The project, built with all probes, with its suites in edgewise.toml. Beside it, with
    /// `.plain` behind its name, the same without probes
    #[arg(long)]
    project: PathBuf,
    #[arg(long)]
    name: String,
    /// What builds it again after an edit
    #[arg(long)]
    build: String,
    /// How many; of patches all of them, of edits ten, unless this says otherwise
    #[arg(long)]
    versions: Option<usize>,
    /// Edits that make a version. With more of them, fewer rows are left to be updated
    #[arg(long, default_value_t = 1)]
    edits: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A patch that makes a version, in the place of edits; in their order
    #[arg(long)]
    patch: Vec<PathBuf>,
    /// A line with the costs is added to this file
    #[arg(long)]
    summary: Option<PathBuf>,
    /// Cargo says this to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// What became of tests, by name.
type Outcomes = BTreeMap<String, String>;

struct Chain {
    trees: Trees,
    versions: Versions,
    /// What tests took at the first version.
    first: NamedRows,
    /// Tests whose rows are not the same each time.
    unstable: BTreeSet<String>,
    /// What became of all tests at the version before.
    outcomes: Outcomes,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let root = args.project.canonicalize()?;
    let trees = Trees::new(args.edgewise.canonicalize()?, root, &args.build)?;
    let mut chain = Chain::begin(trees, &args)?;
    let mut steps = Vec::new();
    let mut total = Step::default();
    let usual = if args.patch.is_empty() { VERSIONS } else { args.patch.len() };
    for _ in 0..args.versions.unwrap_or(usual) {
        let Some(change) = chain.versions.next(&mut chain.trees)? else { break };
        let step = chain.step(&change).with_context(|| change.what.clone())?;
        eprintln!("{}: {}: {} selected", args.name, change.what, step.selected);
        total += step;
        steps.push((change.what, step));
    }
    chain.trees.enter(Tree::Full)?;
    table::print_histories(&args.name, &steps, &total);
    println!();
    table::print_costs(&args.name, &steps, &total);
    println!();
    if let Some(path) = &args.summary {
        let mut file = std::fs::File::options().create(true).append(true).open(path)?;
        writeln!(file, "{}", table::summary(&args.name, steps.len(), &total))?;
    }
    let ways = [("test", total.updated), ("test --selective", total.selective)];
    let mut bars = figures::Bars::default();
    for (what, beside) in ways {
        let Beside { different, missed, .. } = beside;
        for (count, says) in [
            (different, "tests with other rows than a run of everything"),
            (missed, "tests missed"),
        ] {
            let figure = format!("{}, {what}: {says}, over {} versions", args.name, steps.len());
            let share = count as f64 / total.tests.max(1) as f64;
            bars.at_most(&figure, &count.to_string(), &total.tests.to_string(), share, 0.0);
        }
    }
    bars.print();
    for (what, beside) in ways {
        let Beside { different, missed, .. } = beside;
        ensure!(different == 0, "{what}: {different} tests differ from a run of everything");
        ensure!(missed == 0, "{what}: {missed} tests are missed");
    }
    Ok(())
}

impl Chain {
    /// Records the first version.
    fn begin(mut trees: Trees, args: &Args) -> anyhow::Result<Self> {
        for words in [&["build"][..], &["run"]] {
            trees.run(words)?;
        }
        let outcomes = all_outcomes(&trees)?.0;
        let first = outdated::named_rows(&History::open(&trees.history())?)?;
        let versions = match args.patch.is_empty() {
            true => Versions::Edits {
                count: args.edits,
                reached: reached(&trees)?,
                originals: BTreeMap::new(),
                random: Random(args.seed),
            },
            false => {
                let patches: Result<Vec<_>, _> =
                    args.patch.iter().map(|file| file.canonicalize()).collect();
                Versions::Patches(patches?.into_iter())
            }
        };
        let unstable = unstable(&trees)?;
        if !unstable.is_empty() {
            let names = unstable.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            let count = unstable.len();
            println!(
                "{count} tests do not do the same in {RUNS} runs of the first version, and are not compared: {names}.\n"
            );
        }
        // Nobody's first selection is measured: it preprocesses everything.
        trees.keep_state("before")?;
        trees.run(&["select"])?;
        std::fs::copy(trees.root().join(".edgewise/cache"), trees.beside("cache"))?;
        trees.restore_state("before")?;
        trees.fork()?;
        trees.enter(Tree::Plain)?;
        ensure!(trees.build_plainly()?.is_some(), "the plain build fails");
        trees.run(&["run"])?;
        Ok(Self { trees, versions, first, unstable, outcomes })
    }

    /// Goes to the next version by each of the ways, and compares.
    fn step(&mut self, change: &Change) -> anyhow::Result<Step> {
        let mut cost = Cost::default();
        self.select_only(change, &mut cost)?;
        let (mut step, outcomes) = self.update(change, &mut cost)?;
        step.tests = outcomes.len();
        self.trees.enter(Tree::Selective)?;
        change.apply(self.trees.root())?;
        let (ran, time) = self.test(&["test", "--selective"])?;
        cost.selective_build = self.trees.build_time()?;
        cost.selective = time.saturating_sub(cost.selective_build);
        step.selective = self.beside("test --selective", &ran, &outcomes)?;
        (step.procedures, step.unprobed) = probes(&History::open(&self.trees.history())?)?;
        step.cost = cost;
        self.outcomes = outcomes;
        Ok(step)
    }

    /// Selects from sources, and runs the selected tests and all tests without probes.
    fn select_only(&mut self, change: &Change, cost: &mut Cost) -> anyhow::Result<()> {
        self.trees.enter(Tree::Full)?;
        // What the selection notes must not make the update faster, but the next selection.
        self.trees.keep_state("before")?;
        change.apply(self.trees.root())?;
        let (cache, kept) = (self.trees.root().join(".edgewise/cache"), self.trees.beside("cache"));
        if kept.exists() {
            std::fs::copy(&kept, &cache)?;
        }
        let selected = self.trees.edgewise(&["select"])?;
        ensure!(selected.output.status.success(), "select: {}", selected.said());
        cost.select = selected.time;
        std::fs::copy(&cache, &kept)?;
        self.trees.restore_state("before")?;
        let names = self.trees.beside("names");
        std::fs::write(&names, &selected.output.stdout)?;

        self.trees.enter(Tree::Plain)?;
        change.apply(self.trees.root())?;
        cost.plain_build = self.trees.build_plainly()?.context("the plain build fails")?;
        if !selected.output.stdout.is_empty() {
            cost.selected_plain = self.trees.run(&["run", "--names", text(&names)?])?.time;
        }
        cost.all_plain = self.trees.run(&["run"])?.time;
        Ok(())
    }

    /// Builds with all probes, updates the history, and lays it beside that of a run of
    /// everything. Returns what became of all tests, too.
    fn update(&mut self, change: &Change, cost: &mut Cost) -> anyhow::Result<(Step, Outcomes)> {
        self.trees.enter(Tree::Full)?;
        let built = self.trees.edgewise(&["build"])?;
        ensure!(built.output.status.success(), "{}: {}", change.what, built.said());
        cost.full_build = self.trees.build_time()?;
        let beside_build = built.time.saturating_sub(cost.full_build);
        self.trees.keep_state("built")?;
        let (ran, time) = self.test(&["test", "--no-build"])?;
        cost.update = beside_build + time;
        self.trees.keep_state("updated")?;

        self.trees.restore_state("built")?;
        let (outcomes, time) = all_outcomes(&self.trees)?;
        cost.all = time;
        std::fs::copy(self.trees.history(), self.trees.beside("history-of-all"))?;

        self.trees.restore_state("built")?;
        let selection = selected(&self.trees)?;
        outdated::transplant(&self.first, &self.trees.history())?;
        let outdated = selected(&self.trees)?;
        self.trees.restore_state("updated")?;
        let step = Step {
            selected: selection.len(),
            updated: self.beside("test", &ran, &outcomes)?,
            outdated: outdated.len(),
            false_positives: outdated.difference(&selection).count(),
            false_negatives: selection.difference(&outdated).count(),
            ..Step::default()
        };
        Ok((step, outcomes))
    }

    /// The names of the tests that `edgewise test` ran, and how long it took.
    fn test(&self, words: &[&str]) -> anyhow::Result<(BTreeSet<String>, std::time::Duration)> {
        let results = self.trees.beside("results");
        let words: Vec<&str> = words.iter().copied().chain(["--json", text(&results)?]).collect();
        let ran = self.trees.run(&words)?;
        for line in ran.said().lines().filter(|line| line.contains("all probes are built in")) {
            eprintln!("{line}");
        }
        let outcomes = outcomes(&results)?.into_iter();
        let names = outcomes.filter(|(_, outcome)| outcome != "not-selected").map(|(name, _)| name);
        Ok((names.collect(), ran.time))
    }

    /// The history where we are beside that of a run of everything.
    fn beside(&self, way: &str, ran: &BTreeSet<String>, all: &Outcomes) -> anyhow::Result<Beside> {
        let other = self.trees.beside("history-of-all");
        let ran_diff = self.trees.edgewise(&["history", "diff", "--json", text(&other)?])?;
        let diff: Value = serde_json::from_slice(&ran_diff.output.stdout)
            .with_context(|| format!("history diff: {}", ran_diff.said()))?;
        let of = |key: &str| -> BTreeSet<String> {
            names(&diff[key]).difference(&self.unstable).cloned().collect()
        };
        let number = |key: &str| diff[key].as_u64().unwrap_or(0) as usize;
        let lists = ["different", "other_version", "only_here", "only_there"];
        let different: BTreeSet<String> = lists.iter().flat_map(|key| of(key)).collect();
        if !different.is_empty() {
            let said = self.trees.edgewise(&["history", "diff", text(&other)?])?;
            eprint!("{way}:\n{}", String::from_utf8_lossy(&said.output.stdout));
        }
        let missed = all.iter().filter(|(name, outcome)| {
            !ran.contains(*name) && self.outcomes.get(*name).is_some_and(|known| known != *outcome)
        });
        let missed: Vec<&String> = missed.map(|(name, _)| name).collect();
        missed.iter().for_each(|name| eprintln!("{way}: {name} is missed"));
        Ok(Beside {
            ran: ran.len(),
            equal: number("equal"),
            contained: number("contained"),
            inexact: number("inexact"),
            without_rows: of("not_clean").len(),
            different: different.len(),
            missed: missed.len(),
        })
    }
}

fn text(path: &Path) -> anyhow::Result<&str> {
    path.to_str().with_context(|| format!("{} is not text", path.display()))
}

fn names(list: &Value) -> BTreeSet<String> {
    let names = list.as_array().into_iter().flatten();
    names.filter_map(|name| name.as_str().map(String::from)).collect()
}

fn outcomes(results: &Path) -> anyhow::Result<Outcomes> {
    let results: Value = serde_json::from_str(&std::fs::read_to_string(results)?)?;
    let tests = results["tests"].as_array().context("no results")?.iter();
    let field = |test: &Value, key: &str| test[key].as_str().unwrap_or_default().to_string();
    Ok(tests.map(|test| (field(test, "name"), field(test, "outcome"))).collect())
}

/// Runs everything: what became of it, and how long it took.
fn all_outcomes(trees: &Trees) -> anyhow::Result<(Outcomes, std::time::Duration)> {
    let results = trees.beside("results");
    let ran = trees.run(&["run", "--json", text(&results)?])?;
    Ok((outcomes(&results)?, ran.time))
}

/// What the history selects at the version that is built.
fn selected(trees: &Trees) -> anyhow::Result<BTreeSet<String>> {
    let ran = trees.edgewise(&["select", "--from-build", "--format", "json"])?;
    let said: Value = serde_json::from_slice(&ran.output.stdout)
        .with_context(|| format!("select: {}", ran.said()))?;
    let selected = said["selected"].as_array().context("no selection")?.iter();
    Ok(selected.filter_map(|test| Some(test["name"].as_str()?.to_string())).collect())
}

/// How many procedures the programs of tests have, and how many of these have no probes.
fn probes(history: &History) -> anyhow::Result<(usize, usize)> {
    let programs: BTreeSet<_> = history.tests().flat_map(|(_, test)| &test.programs).collect();
    let mut units = BTreeSet::new();
    for program in programs {
        units.extend(history.program(*program)?.units);
    }
    let (mut all, mut unprobed) = (0, 0);
    for unit in units {
        let index = RawRecord::new(history.unit(unit)?)?.index()?;
        all += index.procedures.len();
        unprobed += index.procedures.iter().filter(|procedure| procedure.unprobed).count();
    }
    Ok((all, unprobed))
}

/// Lines of sources that tests reach.
fn reached(trees: &Trees) -> anyhow::Result<BTreeMap<String, Vec<usize>>> {
    let ran = trees.run(&["history", "export", "--format", "lcov"])?;
    let mut reached: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut file = String::new();
    for line in String::from_utf8_lossy(&ran.output.stdout).lines() {
        if let Some(name) = line.strip_prefix("SF:") {
            file = name.to_string();
        } else if let Some((line, count)) =
            line.strip_prefix("DA:").and_then(|line| line.split_once(','))
            && count.trim() != "0"
            && file.ends_with(".c")
        {
            reached.entry(file.clone()).or_default().push(line.parse()?);
        }
    }
    ensure!(!reached.is_empty(), "no test reaches anything");
    Ok(reached)
}

/// Tests whose rows are not those of other runs of the same version.
fn unstable(trees: &Trees) -> anyhow::Result<BTreeSet<String>> {
    let other = trees.beside("history-of-all");
    std::fs::copy(trees.history(), &other)?;
    let mut unstable = BTreeSet::new();
    for _ in 1..RUNS {
        trees.run(&["run"])?;
        let ran = trees.edgewise(&["history", "diff", "--json", text(&other)?])?;
        let diff: Value = serde_json::from_slice(&ran.output.stdout)?;
        unstable.extend(names(&diff["different"]));
    }
    Ok(unstable)
}
