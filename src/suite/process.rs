//! Runs one test under a keeper of its own, and hears of every process of it
//! that is not traced.

use super::channel::{Channel, Message};
use super::judgement::Verdict;
use super::keeper::{self, Report};
use super::output;
use super::preload;
use super::tap::{self, SubTest};
use super::{Change, TestCase, TestCommand, Variable};
use crate::bytes;
use crate::history::format::Outcome;
use crate::trace::format::ENVIRONMENT;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often running tests are looked after.
const WATCH: Duration = Duration::from_millis(20);
/// More than any chain of shells and drivers.
const ANCESTORS_MAX: usize = 256;

/// What a test's processes did, apart from their traces.
pub struct Ran {
    pub outcome: Outcome,
    /// Exit code or signal, for people.
    pub ending: String,
    pub duration: Duration,
    /// Why the trace cannot be complete, if so.
    pub unclean: Option<String>,
    /// A process died of a trap.
    pub trapped: bool,
    pub printed: Vec<u8>,
    /// Tests within it, as its output tells.
    pub parts: Vec<SubTest>,
    /// How its own process ended.
    pub status: ExitStatus,
    /// The number that it had.
    pub process: Option<u32>,
}

/// Where a test reads from and prints to.
#[derive(Clone, Copy)]
pub enum Streams<'a> {
    /// From nowhere to a file.
    File(&'a Path),
    /// Our own.
    Own,
}

impl Ran {
    /// A test that could not even start.
    pub fn failed() -> Self {
        Self {
            outcome: Outcome::Failed,
            ending: String::new(),
            duration: Duration::ZERO,
            unclean: None,
            trapped: false,
            printed: Vec::new(),
            parts: Vec::new(),
            status: ExitStatus::from_raw(1 << 8),
            process: None,
        }
    }
}

/// Runs tests and ends them when asked to.
pub struct Processes {
    /// By the process of the keeper.
    running: Mutex<HashMap<u32, Running>>,
    interrupted: AtomicBool,
    channel: std::io::Result<Channel>,
    /// The small keeper.
    keeper: Option<PathBuf>,
}

struct Running {
    trace: PathBuf,
    deadline: Option<Instant>,
    timed_out: bool,
    unclean: Option<String>,
}

impl Processes {
    /// With a small keeper, if there is one.
    pub fn new(keeper: Option<&Path>) -> Self {
        Self {
            running: Mutex::default(),
            interrupted: AtomicBool::new(false),
            channel: Channel::open(),
            keeper: keeper.map(Path::to_path_buf),
        }
    }

    /// Ends all tests, now and later.
    pub fn interrupt(&self) {
        self.interrupted.store(true, Ordering::SeqCst);
        self.end(|_| true);
    }

    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    /// Ends tests whose time is up and listens, until `done`.
    pub fn watch(&self, done: &AtomicBool, asked_to_stop: &dyn Fn() -> bool) {
        while !done.load(Ordering::SeqCst) {
            if asked_to_stop() {
                self.interrupt();
            }
            let now = Instant::now();
            self.end(|running| {
                let late = running.deadline.is_some_and(|deadline| deadline <= now);
                running.timed_out |= late;
                late
            });
            match &self.channel {
                Ok(channel) => channel.wait(WATCH),
                Err(_) => std::thread::sleep(WATCH),
            }
            if let Ok(mut running) = self.running.lock() {
                self.hear(&mut running);
            }
        }
    }

    fn end(&self, mut which: impl FnMut(&mut Running) -> bool) {
        let Ok(mut running) = self.running.lock() else {
            return;
        };
        for (keeper, test) in running.iter_mut() {
            if which(test) {
                // SAFETY: asks a child of ours that was not waited for yet.
                unsafe { libc::kill(*keeper as i32, libc::SIGTERM) };
            }
        }
    }

    /// Runs a test to its end.
    pub fn run(
        &self,
        case: &TestCase,
        root: &Path,
        trace: &Path,
        streams: Streams<'_>,
        timeout: Option<Duration>,
        preloaded: Option<&Path>,
    ) -> std::io::Result<Ran> {
        let directory = root.join(&case.directory);
        if let Some(why) = cannot_start(case, &directory) {
            return Ok(Ran { ending: why, ..Ran::failed() });
        }
        let (said, to_say) = std::io::pipe()?;
        let start = Instant::now();
        let mut keeper = {
            // Held over the start, so that an interrupt cannot slip between.
            let mut running = self.running.lock().map_err(|_| std::io::ErrorKind::Other)?;
            if self.is_interrupted() {
                return Err(std::io::ErrorKind::Interrupted.into());
            }
            let words = match &case.command {
                TestCommand::Shell(command) => bytes::all(["/bin/sh", "-c", command]),
                TestCommand::Words(words) => bytes::all(words),
            };
            let words: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
            let is_own = matches!(streams, Streams::Own);
            let small = self.keeper.as_deref();
            let keeper = keeper::spawn(small, &words, is_own, to_say, |keeper| {
                keeper.current_dir(&directory);
                change_environment(keeper, &case.environment);
                match preloaded {
                    // A program without libraries does not notice it.
                    Some(library) if small.is_some() => preload::add(keeper, library.as_os_str()),
                    Some(library) => {
                        keeper.env(preload::VARIABLE, library);
                    }
                    None => {}
                }
                keeper.env(ENVIRONMENT, trace);
                // Signals of the terminal are for the test, as without us, if it is ours.
                if let Streams::File(output) = streams {
                    let file = fs_err::File::create(output)?.into_parts().0;
                    let errors = match case.judgement.tap {
                        Some(_) => fs_err::File::create(errors_of(output))?.into_parts().0,
                        None => file.try_clone()?,
                    };
                    keeper.stdout(file).stderr(errors).process_group(0);
                }
                Ok(())
            })?;
            let deadline = timeout.map(|timeout| start + timeout);
            let test =
                Running { trace: trace.to_path_buf(), deadline, timed_out: false, unclean: None };
            running.insert(keeper.id(), test);
            keeper
        };
        let mut report = String::new();
        (&said).read_to_string(&mut report)?;
        let duration = start.elapsed();
        let test = {
            let mut running = self.running.lock().map_err(|_| std::io::ErrorKind::Other)?;
            self.hear(&mut running);
            running.remove(&keeper.id())
        };
        // Only now: as long as it is not waited for, nobody else has its number.
        keeper.wait()?;
        let Some(report) = Report::parse(&report) else {
            return Err(match self.is_interrupted() {
                true => std::io::ErrorKind::Interrupted.into(),
                false => std::io::Error::other("the keeper of the test was killed"),
            });
        };
        let (timed_out, mut unclean) =
            test.map_or((false, None), |test| (test.timed_out, test.unclean));
        if let Err(error) = &self.channel {
            let why = format!("nobody would hear of processes that are not traced: {error}");
            unclean.get_or_insert(why);
        }
        if report.left_over {
            let why = "a process of the test was still running when it ended";
            unclean.get_or_insert(String::from(why));
        }
        let mut printed = match streams {
            Streams::File(output) => output::read(output)?,
            Streams::Own => Vec::new(),
        };
        let whole = match streams {
            Streams::File(output) if case.judgement.reads_output() => output::read_whole(output)?,
            Streams::Own if case.judgement.reads_output() => {
                let why = "what it prints decides whether it passes, and nobody saw that";
                unclean.get_or_insert(String::from(why));
                Some(Vec::new())
            }
            _ => Some(Vec::new()),
        };
        let Verdict { outcome, why: ending } = if timed_out {
            let why = format!("{}, ended after {:.1} s", report.status, duration.as_secs_f64());
            Verdict { outcome: Outcome::TimedOut, why }
        } else if self.is_interrupted() {
            Verdict { outcome: Outcome::Interrupted, why: report.status.to_string() }
        } else if let Some(whole) = &whole {
            case.judgement.judge(report.status, whole)
        } else {
            let why =
                String::from("it printed more than can be looked at, and has to be judged by it");
            Verdict { outcome: Outcome::Failed, why }
        };
        let whole = whole.unwrap_or_default();
        let parts = case.judgement.tap.map(|dialect| tap::parse(&whole, dialect).tests);
        if let (Some(_), Streams::File(output)) = (&parts, streams) {
            printed.extend(output::read(&errors_of(output))?);
            let _ = std::fs::remove_file(errors_of(output));
        }
        let Report { status, trapped, process, .. } = report;
        let parts = parts.unwrap_or_default();
        Ok(Ran { outcome, ending, duration, unclean, trapped, printed, parts, status, process })
    }

    /// Takes what has been said so far. What a process says before it ends is
    /// there when its test ends.
    fn hear(&self, running: &mut HashMap<u32, Running>) {
        let Ok(channel) = &self.channel else { return };
        while let Some(message) = channel.receive() {
            let keeper = keeper_of(&message, running);
            for (number, test) in running.iter_mut() {
                let is_meant = match keeper {
                    Sender::Of(keeper) => *number == keeper,
                    Sender::Nobody => false,
                    Sender::Unknown => true,
                };
                if is_meant {
                    let why = message.why.trim_start_matches("edgewise: not traced: ");
                    let why = format!("a process could not be traced: {why}");
                    test.unclean.get_or_insert(why);
                }
            }
        }
    }
}

/// Where a test prints to that says on its standard output what became of it.
fn errors_of(output: &Path) -> PathBuf {
    output.with_extension("err")
}

/// Why a test cannot even start, if so.
fn cannot_start(test: &TestCase, directory: &Path) -> Option<String> {
    if !directory.is_dir() {
        return Some(format!("its working directory {} is not there", test.directory.display()));
    }
    if test.command == TestCommand::Words(Vec::new()) {
        let why = "it has no command: its program was not there when the suite was read";
        return Some(String::from(why));
    }
    let mut required = test.judgement.required_files.iter();
    let missing = required.find(|file| !directory.join(bytes::path(file)).exists())?;
    Some(format!("{missing}, which it requires, is not there"))
}

fn change_environment(command: &mut Command, variables: &[Variable]) {
    let mut changed: HashMap<&str, Option<OsString>> = HashMap::new();
    for Variable { name, change } in variables {
        let now = match changed.get(name.as_str()) {
            Some(now) => now.clone(),
            None => std::env::var_os(&*bytes::os(name)),
        };
        let now = now.filter(|now| !now.is_empty());
        let joined = |first: OsString, between: &str, second: &OsStr| {
            let mut joined = first;
            joined.push(between);
            joined.push(second);
            joined
        };
        let value = match change {
            Change::Set(value) => Some(bytes::os(value).into_owned()),
            Change::Unset => None,
            Change::Append(value, between) => Some(match now {
                Some(now) => joined(now, between, &bytes::os(value)),
                None => bytes::os(value).into_owned(),
            }),
            Change::Prepend(value, between) => Some(match now {
                Some(now) => joined(bytes::os(value).into_owned(), between, &now),
                None => bytes::os(value).into_owned(),
            }),
        };
        changed.insert(name, value);
    }
    for (name, value) in changed {
        match value {
            Some(value) => command.env(&*bytes::os(name), value),
            None => command.env_remove(&*bytes::os(name)),
        };
    }
}

/// Which test a message is about.
enum Sender {
    /// The test of this keeper.
    Of(u32),
    /// None that runs here.
    Nobody,
    /// It may be any.
    Unknown,
}

fn keeper_of(message: &Message, running: &HashMap<u32, Running>) -> Sender {
    if !message.directory.is_empty() {
        let of_directory = running
            .iter()
            .find(|(_, test)| test.trace.as_os_str().as_encoded_bytes() == message.directory);
        return of_directory.map_or(Sender::Nobody, |(keeper, _)| Sender::Of(*keeper));
    }
    let ancestors = message.ancestors.clone().or_else(|| ancestors(message.process));
    match ancestors {
        Some(ancestors) => {
            let keeper = ancestors.into_iter().find(|process| running.contains_key(process));
            keeper.map_or(Sender::Nobody, Sender::Of)
        }
        None => Sender::Unknown,
    }
}

/// A process and all above it, if it is still there.
fn ancestors(process: u32) -> Option<Vec<u32>> {
    let mut found = Vec::new();
    let mut process = process;
    while process != 0 && found.len() < ANCESTORS_MAX {
        found.push(process);
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        process = stat.rsplit(") ").next()?.split(' ').nth(1)?.parse().ok()?;
    }
    Some(found)
}
