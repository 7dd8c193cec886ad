//! The keeper of a test: a process of its own, this program called by another
//! name, that starts the test and adopts every orphan of it. So it knows when
//! no process of the test is left; and a process that lost the variable of the
//! trace finds it in the environment of its keeper, whoever else has died.

use super::preload;
use crate::trace::format::ENVIRONMENT;
use crate::trace::uses;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{PipeWriter, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

/// The name this program is called by as a keeper.
pub const NAME: &str = "edgewise-keeper";
/// The descriptor that a keeper reports to.
const REPORT: i32 = 3;
/// How long leftovers of a test may take to end.
const GRACE: Duration = Duration::from_millis(300);
/// The exit code of a test whose command is not there, as of a shell.
const CANNOT_RUN: i32 = 127;
/// How often leftovers are looked after.
const LOOK: Duration = Duration::from_millis(2);

/// What a keeper says at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// How the test's own process ended.
    pub status: ExitStatus,
    /// A process of the test was still alive then, and stayed so.
    pub left_over: bool,
    /// A process died of a trap, as far as the keeper was told.
    pub trapped: bool,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (left_over, trapped) = (u8::from(self.left_over), u8::from(self.trapped));
        write!(f, "{} {left_over} {trapped}", self.status.into_raw())
    }
}

impl Report {
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split_whitespace().map(str::parse::<i32>);
        let mut next = || numbers.next()?.ok();
        let status = ExitStatus::from_raw(next()?);
        Some(Self { status, left_over: next()? != 0, trapped: next()? != 0 })
    }
}

/// Process group of the test, once it runs.
static TEST: AtomicI32 = AtomicI32::new(0);
static ASKED_TO_END: AtomicBool = AtomicBool::new(false);

extern "C" fn end_test(_signal: libc::c_int) {
    ASKED_TO_END.store(true, Ordering::SeqCst);
    let test = TEST.load(Ordering::SeqCst);
    if test > 0 {
        // SAFETY: signals the process group that the test leads.
        unsafe {
            if libc::kill(-test, libc::SIGKILL) != 0 {
                libc::kill(test, libc::SIGKILL);
            }
        }
    }
}

/// Starts a keeper, which says at its end what became of the test.
pub fn spawn(keeper: &mut Command, to_say: PipeWriter) -> std::io::Result<Child> {
    let pipe = to_say.as_raw_fd();
    // SAFETY: only calls that are safe behind a fork.
    unsafe {
        keeper.pre_exec(move || {
            let result = match pipe {
                REPORT => libc::fcntl(REPORT, libc::F_SETFD, 0),
                _ => libc::dup2(pipe, REPORT),
            };
            if result < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
        });
    }
    keeper.spawn()
}

/// Runs a command to its end and that of its processes. SIGTERM ends it.
pub fn keep(program: &OsStr, arguments: &[OsString]) -> anyhow::Result<i32> {
    // SAFETY: the handler only reads atomics and signals; the prctl is a plain one.
    let before = unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        libc::signal(libc::SIGTERM, end_test as *const () as libc::sighandler_t)
    };
    // SAFETY: whoever calls us by our name gives us this descriptor.
    let mut to_say = unsafe { std::fs::File::from_raw_fd(REPORT) };
    // SAFETY: it is open; the test must not have it.
    unsafe { libc::fcntl(REPORT, libc::F_SETFD, libc::FD_CLOEXEC) };
    let mut command = Command::new(program);
    command.args(arguments);
    // SAFETY: plain questions about this process.
    if unsafe { libc::getpgrp() == libc::getpid() } {
        // Otherwise it belongs to the terminal, with whoever called us.
        command.process_group(0);
    }
    if before == libc::SIG_IGN {
        // Who starts a process hands on what is ignored, but not a handler.
        // SAFETY: only a call that is safe behind a fork.
        unsafe {
            command.pre_exec(|| {
                libc::signal(libc::SIGTERM, libc::SIG_IGN);
                Ok(())
            });
        }
    }
    command.env_remove(preload::VARIABLE);
    if let Some(library) = std::env::var_os(preload::VARIABLE) {
        preload::add_to(&mut command, &library, |name| std::env::var_os(name));
    }
    let test = match command.spawn() {
        Ok(test) => {
            // The first program has to be seen as well. If that cannot be
            // written, nobody takes the record for a complete one.
            if let Some(trace) = std::env::var_os(ENVIRONMENT) {
                let _ = uses::note_first(&PathBuf::from(trace), test.id());
            }
            test.id() as i32
        }
        Err(error) => {
            eprintln!("cannot run {}: {error}", program.display());
            let status = ExitStatus::from_raw(CANNOT_RUN << 8);
            let report = Report { status, left_over: false, trapped: false };
            to_say.write_all(report.to_string().as_bytes())?;
            return Ok(0);
        }
    };
    TEST.store(test, Ordering::SeqCst);
    if ASKED_TO_END.load(Ordering::SeqCst) {
        end_test(libc::SIGTERM);
    }
    let report = wait_for_all(test);
    to_say.write_all(report.to_string().as_bytes())?;
    Ok(0)
}

/// Waits for the test, and then as long as the grace lasts for what it left.
fn wait_for_all(test: i32) -> Report {
    let mut report = Report { status: ExitStatus::from_raw(0), left_over: false, trapped: false };
    let mut ended: Option<Instant> = None;
    loop {
        let mut status = 0;
        let options = if ended.is_some() { libc::WNOHANG } else { 0 };
        // SAFETY: waits for any child, into a place of our own.
        let process = unsafe { libc::waitpid(-1, &raw mut status, options) };
        if process > 0 {
            report.trapped |= is_trap(ExitStatus::from_raw(status));
            if process == test {
                report.status = ExitStatus::from_raw(status);
                ended = Some(Instant::now());
                // Its number may soon be that of another process.
                TEST.store(0, Ordering::SeqCst);
            }
            continue;
        }
        if process < 0 {
            match std::io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR) => continue,
                _ => return report,
            }
        }
        if ended.is_some_and(|ended| ended.elapsed() > GRACE) {
            report.left_over = true;
            return report;
        }
        std::thread::sleep(LOOK);
    }
}

/// Death of a trap, also as a shell passes it on.
fn is_trap(status: ExitStatus) -> bool {
    let traps = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP];
    let signal = status.signal().or_else(|| status.code().map(|code| code - 128));
    signal.is_some_and(|signal| traps.contains(&signal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_back() {
        for raw in [0, 9, 256, 139] {
            let status = ExitStatus::from_raw(raw);
            let report = Report { status, left_over: raw == 9, trapped: raw == 139 };
            assert_eq!(Report::parse(&report.to_string()), Some(report));
        }
        assert_eq!(Report::parse(""), None);
    }

    #[test]
    fn traps_are_known_also_through_a_shell() {
        assert!(is_trap(ExitStatus::from_raw(libc::SIGSEGV)));
        assert!(is_trap(ExitStatus::from_raw((128 + libc::SIGFPE) << 8)));
        assert!(!is_trap(ExitStatus::from_raw(libc::SIGKILL)));
        assert!(!is_trap(ExitStatus::from_raw(0)));
        assert!(!is_trap(ExitStatus::from_raw(11 << 8)));
    }
}
