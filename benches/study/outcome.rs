//! The outcome oracle on a real project: every change is built without edgewise and
//! all tests run on it; whoever does something else must have been selected.

use super::change::{self, Change};
use super::coverage::Coverage;
use super::plan::{self, Plan};
use super::record::{Answer, Record, Records, State};
use super::selection::Edgewise;
use super::subject::Subject;
use super::table;
use super::tests::{self, Outcome};
use super::tree::{self, Tree};
use anyhow::{Context, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct Args {
    #[arg(long)]
    pub edgewise: PathBuf,
    /// As scripts/study prepared it
    #[arg(long)]
    pub subject: PathBuf,
    /// Where its results go, and are taken up again
    #[arg(long)]
    pub results: PathBuf,
    /// Mutants to compare, those of an earlier run counted in
    #[arg(long, default_value_t = 600)]
    pub mutants: usize,
    /// Of what builds everything again: as many of each kind
    #[arg(long, default_value_t = 8)]
    pub costly: usize,
    /// Only kinds of changes whose name contains this
    #[arg(long)]
    pub kind: Option<String>,
    #[arg(long, default_value_t = 2)]
    pub workers: usize,
    /// One change of so many is built with edgewise as well
    #[arg(long, default_value_t = 25)]
    pub from_build: usize,
    /// The version of edgewise, to be noted beside every change
    #[arg(long, default_value = "")]
    pub code: String,
    /// Where the tables are of what was compared elsewhere
    #[arg(long)]
    pub tables: PathBuf,
    /// What these have is not compared again
    #[arg(long)]
    pub kept: bool,
}

/// Techniques that edgewise has beside its own, for comparison.
const COARSE: [&str; 2] = ["procedure", "file"];
const AUTO: &str = "auto";
const LINES: &str = "changed lines";
/// How often the unchanged version is run before a test counts as stable.
const REPEATED: usize = 3;
/// After so many tests that hang, those that are selected are not run any more.
const MOST_HANGING: usize = 3;
const LONG: Duration = Duration::from_secs(20);

/// The unchanged version, built, recorded and run.
pub struct Baseline {
    pub subject: Subject,
    pub edgewise: Edgewise,
    pub plain: PathBuf,
    pub recorded: PathBuf,
    outcomes: BTreeMap<String, Outcome>,
    timeouts: BTreeMap<String, Duration>,
    pub unstable: BTreeSet<String>,
}

/// Whether the addresses of a process are chance, in this thread and in all that it starts.
pub fn randomize_addresses(wanted: bool) {
    let personality = if wanted { 0 } else { libc::ADDR_NO_RANDOMIZE as libc::c_ulong };
    // SAFETY: a plain system call.
    unsafe { libc::personality(personality) };
}

impl Baseline {
    /// `configuration` is what is to be instrumented, beside what the project says.
    pub fn prepare(args: &Args, name: &str, configuration: &str) -> anyhow::Result<Self> {
        let subject = Subject::read(&args.subject)?;
        let edgewise = Edgewise(args.edgewise.canonicalize()?);
        let work = args.subject.canonicalize()?.join(name);
        let (plain, recorded) = (work.join("plain"), work.join("recorded"));
        let version = format!("{} {configuration}", blake3::hash(&fs_err::read(&edgewise.0)?));
        if fs_err::read_to_string(work.join("ready")).ok() != Some(version.clone()) {
            let _ = std::fs::remove_dir_all(&work);
            tree::copy(&subject.base, &recorded)?;
            let config = recorded.join("edgewise.toml");
            let mut text = fs_err::read_to_string(&config)?;
            if !text.contains("[instrument]") {
                text.push_str("\n[instrument]\n");
            }
            let text = text.replace("[instrument]\n", &format!("[instrument]\n{configuration}"));
            fs_err::write(config, text)?;
            let plain_tree = Tree::copy_of(&subject.base, &plain)?;
            ensure!(plain_tree.build(&subject.build)?, "the subject does not build");
            ensure_builds_itself(&subject, &work.join("broken"))?;
            edgewise.ok(&recorded, &["build"])?;
            // One after the other, as they run here: they share a directory for what they make.
            edgewise.run(&recorded, &["run", "-j", "1"])?;
            fs_err::write(work.join("ready"), &version)?;
        }
        let mut baseline = Self {
            subject,
            edgewise,
            plain,
            recorded,
            outcomes: BTreeMap::new(),
            timeouts: BTreeMap::new(),
            unstable: BTreeSet::new(),
        };
        baseline.run_unchanged()?;
        Ok(baseline)
    }

    /// Whether a test does the same each time on the unchanged version.
    fn is_compared(&self, name: &str) -> bool {
        self.outcomes.contains_key(name) && !self.unstable.contains(name)
    }

    fn run_unchanged(&mut self) -> anyhow::Result<()> {
        let scratch = tempfile::tempdir()?;
        for (name, command) in tests::list(&self.plain)? {
            for round in 0..REPEATED {
                // Who tells where something lies in memory is seen by that.
                randomize_addresses(round + 1 == REPEATED);
                let began = Instant::now();
                let outcome = tests::run(&self.plain, &command, LONG, scratch.path())?;
                let timeout = Duration::from_secs(2) + 10 * began.elapsed();
                let longest = self.timeouts.entry(name.clone()).or_insert(timeout);
                *longest = timeout.max(*longest);
                let first = self.outcomes.entry(name.clone()).or_insert_with(|| outcome.clone());
                if *first != outcome || outcome == Outcome::TimedOut {
                    self.unstable.insert(name.clone());
                }
            }
        }
        randomize_addresses(false);
        Ok(())
    }
}

/// A build that knows where it was configured builds something else: edits of a copy
/// would change nothing.
fn ensure_builds_itself(subject: &Subject, copy: &Path) -> anyhow::Result<()> {
    let broken = Tree::copy_of(&subject.base, copy)?;
    let sources = subject.files(&subject.description.sources)?;
    for file in sources.iter().filter(|file| file.ends_with(".c")) {
        broken.write(file, b"#error This is no version of the subject.\n")?;
    }
    ensure!(!broken.build(&subject.build)?, "a copy of the subject builds sources of another");
    Ok(fs_err::remove_dir_all(copy)?)
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    randomize_addresses(false);
    fs_err::create_dir_all(&args.results)?;
    let baseline = Baseline::prepare(args, "outcome", "")?;
    let name = &baseline.subject.description.name;
    let nothing = baseline.edgewise.select(&baseline.recorded, &[])?;
    if !baseline.unstable.is_empty() {
        eprintln!("{name}: not the same each time, and left out: {:?}", baseline.unstable);
    }
    if !nothing.tests.is_empty() {
        eprintln!("{name}: selected although nothing changed: {:?}", nothing.tests);
    }
    let coverage = Coverage::read(&baseline.edgewise.0, &baseline.recorded)?;
    let mut records = Records::open(&args.results.join(format!("{name}.jsonl")))?;
    if args.kept {
        let mut elsewhere = table::read_outcomes(&args.tables)?;
        records.known.extend(elsewhere.remove(name).unwrap_or_default());
    }
    let mut candidates = plan::candidates(&baseline.subject, &coverage)?;
    if let Some(kind) = &args.kind {
        candidates.retain(|name, _| name.contains(kind.as_str()));
    }
    let plan = Plan::new(candidates, args.mutants, args.costly, &records.known);
    let study = Study {
        args,
        baseline: &baseline,
        coverage: &coverage,
        plan: &plan,
        records: &records,
        progress: Mutex::default(),
    };
    let missed = std::thread::scope(|scope| -> anyhow::Result<usize> {
        let workers: Vec<_> = (0..args.workers)
            .map(|number| {
                scope.spawn({
                    let study = &study;
                    move || study.work(number)
                })
            })
            .collect();
        let mut missed = 0;
        for worker in workers {
            missed += worker.join().map_err(|_| anyhow::anyhow!("a worker panicked"))??;
        }
        Ok(missed)
    })?;
    eprintln!("{name}: {} of {} changes compared", plan.taken(), plan.total());
    let known = super::record::read(&args.results.join(format!("{name}.jsonl")))?;
    let before = known.values().map(|record| record.missed).sum::<usize>();
    ensure!(missed == 0 && before == 0, "{name}: {before} tests are missed");
    Ok(())
}

struct Study<'a> {
    args: &'a Args,
    baseline: &'a Baseline,
    coverage: &'a Coverage,
    plan: &'a Plan,
    records: &'a Records,
    progress: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    compared: usize,
    differ: usize,
    missed: usize,
    broken: usize,
    began: Option<Instant>,
    said: Option<Instant>,
}

struct Worker<'a> {
    study: &'a Study<'a>,
    plain: Tree,
    recorded: Tree,
    scratch: tempfile::TempDir,
    directory: PathBuf,
}

impl Study<'_> {
    /// Works until nothing is left; the number of misses.
    fn work(&self, number: usize) -> anyhow::Result<usize> {
        let directory = self.baseline.plain.parent().context("no parent")?.join(number.to_string());
        let worker = Worker {
            study: self,
            plain: Tree::copy_of(&self.baseline.plain, &directory.join("plain"))?,
            recorded: Tree::copy_of(&self.baseline.recorded, &directory.join("recorded"))?,
            scratch: tempfile::Builder::new().prefix("edgewise-study").tempdir()?,
            directory,
        };
        let mut missed = 0;
        while let Some(change) = self.plan.next() {
            let began = Instant::now();
            let mut record = worker.look_at(&change).with_context(|| change.what())?;
            worker.plain.put_back()?;
            worker.recorded.put_back()?;
            if record.state != State::Compared {
                self.plan.give_back(&change);
            }
            record.seconds = began.elapsed().as_secs_f64();
            record.missed = record.misses.len();
            for test in &record.misses {
                eprintln!("MISSED\n{}\n{test}", change.what());
            }
            missed += record.missed;
            self.records.add(&record)?;
            self.say(&record);
        }
        Ok(missed)
    }

    fn say(&self, record: &Record) {
        let mut progress = self.progress.lock().unwrap_or_else(|broken| broken.into_inner());
        match record.state {
            State::Compared => progress.compared += 1,
            State::DoesNotBuild => progress.broken += 1,
        }
        progress.differ += record.differ;
        progress.missed += record.missed;
        let now = Instant::now();
        let began = *progress.began.get_or_insert(now);
        if progress.said.is_some_and(|said| now - said < Duration::from_secs(10)) {
            return;
        }
        progress.said = Some(now);
        let (done, total) = (self.plan.taken(), self.plan.total());
        let each = (now - began).as_secs_f64() / progress.compared.max(1) as f64;
        eprintln!(
            "{}: {done} of {total}, {} do not build, {} differ, {} missed, {:.0} s left",
            self.baseline.subject.description.name,
            progress.broken,
            progress.differ,
            progress.missed,
            each * total.saturating_sub(done) as f64
        );
    }
}

impl Worker<'_> {
    fn look_at(&self, change: &Change) -> anyhow::Result<Record> {
        let Study { baseline, .. } = self.study;
        let files = change.files(&baseline.subject.base)?;
        let mut record = Record {
            id: change.id(),
            kind: change.kind.to_string(),
            file: change.file().map(String::from),
            what: change.what(),
            state: State::DoesNotBuild,
            code: self.study.args.code.clone(),
            tests: 0,
            differ: 0,
            hang: 0,
            numbers_only: 0,
            answers: BTreeMap::new(),
            missed: 0,
            misses: Vec::new(),
            built: false,
            seconds: 0.0,
        };
        for (file, text) in &files {
            self.plain.write(file, text)?;
        }
        if change.wants_clean_build() {
            self.plain.build(&baseline.subject.description.clean)?;
        }
        if change.wants_build() && !self.plain.build(&baseline.subject.build)? {
            return Ok(record);
        }
        record.state = State::Compared;
        let mut selections = BTreeMap::from([(LINES, self.on_changed_lines(&files)?)]);
        for (file, text) in &files {
            self.recorded.write(file, text)?;
        }
        for algorithm in [AUTO].into_iter().chain(COARSE) {
            let words = ["--algorithm", algorithm];
            selections
                .insert(algorithm, baseline.edgewise.select(&self.recorded.root, &words)?.tests);
        }
        let different = self.run_all(&selections[AUTO], &mut record)?;
        self.judge(AUTO, &selections[AUTO], &different, &mut record)?;
        for (technique, mut selected) in selections {
            let missed = different.keys().filter(|name| !selected.contains(*name)).count();
            // Who is left out of the comparison is no part of the answer.
            selected.retain(|name| baseline.is_compared(name));
            record
                .answers
                .insert(technique.to_string(), Answer { selected: selected.len(), missed });
        }
        let number = u64::from_str_radix(&record.id[..8], 16)?;
        // Of the sources nothing changes with what is linked: only the build shows it sharply.
        if number % self.study.args.from_build as u64 == 0 || change.kind == change::LINK {
            self.check_build(change, &files, &different, &mut record)?;
        }
        Ok(record)
    }

    fn on_changed_lines(&self, files: &[(String, Vec<u8>)]) -> anyhow::Result<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        for (file, _) in files {
            let old = self.study.baseline.subject.base.join(file);
            if old.exists() {
                found.extend(self.study.coverage.on_changed_lines(
                    file,
                    &old,
                    &self.plain.root.join(file),
                )?);
            }
        }
        Ok(found
            .into_iter()
            .map(|name| name.rsplit('/').next().unwrap_or(&name).to_string())
            .collect())
    }

    /// Tests that do something else now, with what they do.
    fn run_all(
        &self,
        selected: &BTreeSet<String>,
        record: &mut Record,
    ) -> anyhow::Result<BTreeMap<String, Outcome>> {
        let baseline = self.study.baseline;
        let mut different = BTreeMap::new();
        for (name, command) in tests::list(&self.plain.root)? {
            if !baseline.is_compared(&name) {
                continue;
            }
            let before = &baseline.outcomes[&name];
            record.tests += 1;
            let is_selected = selected.contains(&name);
            if record.hang >= MOST_HANGING && is_selected {
                continue;
            }
            let run =
                |timeout| tests::run(&self.plain.root, &command, timeout, self.scratch.path());
            let mut now = run(baseline.timeouts[&name])?;
            // Where the answer decides over a miss, time is not spared, and chance is left out.
            for _ in 0..2 {
                if now != *before && !is_selected {
                    now = run(LONG)?;
                }
            }
            if now == Outcome::TimedOut {
                record.hang += 1;
            }
            if now != *before && (now != Outcome::TimedOut || !is_selected) {
                different.insert(name, now);
            }
        }
        record.differ = different.len();
        Ok(different)
    }

    /// Notes who differs and is not selected.
    fn judge(
        &self,
        source: &str,
        selected: &BTreeSet<String>,
        different: &BTreeMap<String, Outcome>,
        record: &mut Record,
    ) -> anyhow::Result<()> {
        let baseline = self.study.baseline;
        let mut strict = None;
        for (name, now) in different.iter().filter(|(name, _)| !selected.contains(*name)) {
            let before = &baseline.outcomes[name];
            if before.differs_in_numbers_only(now) {
                if strict.is_none() {
                    strict = Some(baseline.edgewise.select_strictly(&self.recorded)?.tests);
                }
                if strict.as_ref().is_some_and(|strict| strict.contains(name)) {
                    record.numbers_only += 1;
                    continue;
                }
            }
            record.misses.push(format!(
                "{source}: {name}\n  before: {}\n  after:  {}",
                before.show(),
                now.show()
            ));
        }
        Ok(())
    }

    /// In a fresh copy, so that nothing but the change is built.
    fn check_build(
        &self,
        change: &Change,
        files: &[(String, Vec<u8>)],
        different: &BTreeMap<String, Outcome>,
        record: &mut Record,
    ) -> anyhow::Result<()> {
        let baseline = self.study.baseline;
        let built = Tree::copy_of(&baseline.recorded, &self.directory.join("built"))?;
        for (file, text) in files {
            built.write(file, text)?;
        }
        if change.wants_clean_build() {
            built.build(&baseline.subject.description.clean)?;
        }
        let output = baseline.edgewise.run(&built.root, &["build"])?;
        if !output.status.success() {
            record.misses.push(format!(
                "the build with edgewise fails: {}",
                String::from_utf8_lossy(&output.stderr)
            ));
            return Ok(());
        }
        let selected = baseline.edgewise.select(&built.root, &["--from-build"])?.tests;
        record.built = true;
        self.judge("from a build", &selected, different, record)
    }
}
