//! A build that is under way. Who is killed in the middle of one has not noted what it read
//! and made; the next one says so.

use super::build_state::BuildState;
use super::interrupt;
use super::workspace::Workspace;
use std::fs::{File, TryLockError};
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Held by the build that is under way.
const LOCK: &str = "building";
/// How often is looked whether it is to be stopped.
const LOOK: Duration = Duration::from_millis(50);
/// So long it has to end by itself, and so long when it was asked.
const HEARD: Duration = Duration::from_millis(300);
const PATIENCE: Duration = Duration::from_secs(5);

pub struct UnderWay {
    _lock: Option<File>,
    /// An earlier one never came to its end.
    pub was_killed: bool,
}

impl UnderWay {
    pub fn begin(workspace: &Workspace) -> anyhow::Result<Self> {
        let lock = fs_err::File::create(workspace.state().join(LOCK))?.into_parts().0;
        let is_alone = match lock.try_lock() {
            Ok(()) => true,
            // Another one is running.
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(_)) => true,
        };
        let mut state = BuildState::read(workspace)?;
        let was_killed = is_alone && state.is_under_way;
        state.is_under_way = true;
        state.write(workspace)?;
        Ok(Self { _lock: is_alone.then_some(lock), was_killed })
    }

    /// Nothing was built after all. That an earlier one was killed is still to be said.
    pub fn forget(self, workspace: &Workspace) -> anyhow::Result<()> {
        let mut state = BuildState::read(workspace)?;
        state.is_under_way = self.was_killed;
        state.write(workspace)
    }
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
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parents: Vec<(u32, u32)> =
        processes.filter_map(|process| Some((process, parent(process)?))).collect();
    let mut found = vec![first];
    let mut at = 0;
    while let Some(of) = found.get(at).copied() {
        found.extend(parents.iter().filter(|(_, parent)| *parent == of).map(|(child, _)| *child));
        at += 1;
    }
    found
}

fn parent(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Its name is in brackets, whatever is in that.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}
