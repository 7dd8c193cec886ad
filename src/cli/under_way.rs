//! Builds that are under way. Each has a note in the state directory, which it holds locked. A
//! note that no process holds is that of a build which was killed. What such a build did is read
//! from its log by the next build.

use super::interrupt;
use super::workspace::Workspace;
use crate::compiler::text::stamp::Moment;
use crate::history::format::FileState;
use crate::trace::format::ENVIRONMENT;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Holds the notes.
const NOTES: &str = "under-way";
/// How the names of its trace directory and of its log begin.
pub const TRACES: &str = "edgewise-build";
pub const LOG: &str = "build.";
/// What is said of a build whose log is lost.
pub const KILLED: &str = "a build was killed, and what it read is not known";
/// How often is looked whether it is to be stopped.
const LOOK: Duration = Duration::from_millis(50);
/// So long it has to end by itself, and so long when it was asked.
const HEARD: Duration = Duration::from_millis(300);
const PATIENCE: Duration = Duration::from_secs(5);

/// How a build began.
#[derive(Debug, Serialize, Deserialize)]
pub struct Begun {
    pub began: Moment,
    /// The files of the project then.
    pub files: FileState,
    /// The names of its trace directory and of its log. These are names without a directory, so
    /// that a note cannot name a file elsewhere.
    traces: Option<String>,
    log: Option<String>,
    /// Which run of the machine this is. What was not on the disk when it went down is lost.
    boot: Option<String>,
}

impl Begun {
    pub fn new(began: Moment, files: &FileState, traces: &Path, log: &Path) -> Self {
        let name = |path: &Path| path.file_name()?.to_str().map(String::from);
        Self { began, files: files.clone(), traces: name(traces), log: name(log), boot: boot() }
    }

    /// Its trace directory, if that is still there and ours.
    pub fn traces(&self) -> Option<PathBuf> {
        let name = self.traces.as_ref().filter(|name| is_name(name, TRACES))?;
        let path = std::env::temp_dir().join(name);
        let meta = path.symlink_metadata().ok().filter(|meta| meta.is_dir())?;
        // SAFETY: a call without memory.
        let is_ours = meta.uid() == unsafe { libc::geteuid() };
        (is_ours && self.boot == boot()).then_some(path)
    }

    /// The log of its compilers.
    pub fn log(&self, workspace: &Workspace) -> Option<PathBuf> {
        let name = self.log.as_ref().filter(|name| is_name(name, LOG))?;
        Some(workspace.state().join(name)).filter(|path| path.is_file())
    }
}

fn is_name(name: &str, start: &str) -> bool {
    name.starts_with(start) && !name.contains('/')
}

fn boot() -> Option<String> {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()
}

/// A build that is under way.
pub struct UnderWay {
    note: PathBuf,
    /// Locked until it ends.
    _lock: File,
}

impl UnderWay {
    pub fn begin(workspace: &Workspace, begun: &Begun) -> anyhow::Result<Self> {
        let directory = workspace.state().join(NOTES);
        fs_err::create_dir_all(&directory)?;
        // Locked before it has its name: another build takes one that is not for that of a
        // killed build.
        let mut file = tempfile::NamedTempFile::new_in(workspace.state())?;
        let _ = file.as_file().try_lock();
        file.write_all(serde_json::to_string(begun)?.as_bytes())?;
        let name = file.path().file_name().unwrap_or(OsStr::new("build")).to_os_string();
        let note = directory.join(name);
        let lock = file.persist(&note)?;
        Ok(Self { note, _lock: lock })
    }

    /// What it did is noted, or it did nothing.
    pub fn end(self) -> anyhow::Result<()> {
        Ok(fs_err::remove_file(&self.note)?)
    }
}

/// A build that was killed.
pub struct Killed {
    note: PathBuf,
    /// None if its note cannot be read.
    pub begun: Option<Begun>,
}

impl Killed {
    /// Whether processes that it started still run: what they do belongs to it.
    fn is_running(&self) -> bool {
        let Some(traces) = self.begun.as_ref().and_then(Begun::traces) else { return false };
        let mut wanted = ENVIRONMENT.as_bytes().to_vec();
        wanted.push(b'=');
        wanted.extend(traces.as_os_str().as_bytes());
        processes().any(|process| {
            let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == wanted)
        })
    }

    /// Removes all that is left of it.
    pub fn forget(self, workspace: &Workspace) -> anyhow::Result<()> {
        if let Some(begun) = &self.begun {
            if let Some(traces) = begun.traces() {
                let _ = std::fs::remove_dir_all(traces);
            }
            if let Some(log) = begun.log(workspace) {
                let _ = std::fs::remove_file(log);
            }
        }
        Ok(fs_err::remove_file(&self.note)?)
    }
}

/// Builds that were killed, without those of which some process still runs; and whether there
/// are such.
pub fn killed(workspace: &Workspace) -> (Vec<Killed>, bool) {
    let all = notes(workspace).map(|(note, mut file)| {
        let mut text = String::new();
        let is_read = file.read_to_string(&mut text).is_ok();
        Killed { note, begun: is_read.then(|| serde_json::from_str(&text).ok()).flatten() }
    });
    let (running, ended): (Vec<_>, Vec<_>) = all.partition(Killed::is_running);
    (ended, !running.is_empty())
}

/// Whether a build was killed, and the next one has not noted yet what it did.
pub fn was_killed(workspace: &Workspace) -> bool {
    notes(workspace).next().is_some()
}

/// Notes that no build holds.
fn notes(workspace: &Workspace) -> impl Iterator<Item = (PathBuf, File)> {
    let entries = std::fs::read_dir(workspace.state().join(NOTES)).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let file = File::open(entry.path()).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => None,
            // Where nothing can be locked, each may be that of a killed build.
            Ok(()) | Err(TryLockError::Error(_)) => Some((entry.path(), file)),
        }
    })
}

/// Waits for the end of a build. Whoever asks us to stop asks it, too, and we note what it
/// did until then.
pub fn wait(process: &mut Child) -> std::io::Result<ExitStatus> {
    let is_over = Arc::new(AtomicBool::new(false));
    let (first, over) = (process.id(), Arc::clone(&is_over));
    let watch = std::thread::spawn(move || {
        while !interrupt::asked_to_stop() {
            if over.load(Ordering::SeqCst) {
                return;
            }
            std::thread::sleep(LOOK);
        }
        let processes = tree(first);
        // Who is at the same terminal has heard of it already.
        std::thread::sleep(HEARD);
        end(&processes);
    });
    let status = process.wait();
    is_over.store(true, Ordering::SeqCst);
    if interrupt::asked_to_stop() {
        // What is still running may make something.
        let _ = watch.join();
    }
    status
}

/// Asks processes to end, and waits until they did.
fn end(processes: &[u32]) {
    let tell = |process: &u32, signal| {
        // SAFETY: a call without memory.
        unsafe { libc::kill(*process as libc::pid_t, signal) == 0 }
    };
    for process in processes {
        tell(process, libc::SIGTERM);
    }
    let began = Instant::now();
    while began.elapsed() < PATIENCE && processes.iter().skip(1).any(|process| tell(process, 0)) {
        std::thread::sleep(LOOK);
    }
}

/// A process and all that it started.
fn tree(first: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> =
        processes().filter_map(|process| Some((process, parent(process)?))).collect();
    let mut found = vec![first];
    let mut at = 0;
    while let Some(of) = found.get(at).copied() {
        found.extend(parents.iter().filter(|(_, parent)| *parent == of).map(|(child, _)| *child));
        at += 1;
    }
    found
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn parent(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Its name is in brackets, whatever is in that.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}
