//! The keeper of a test: a process of its own that starts the test and adopts
//! every orphan of it. So it knows when no process of the test is left; and a
//! process that lost the variable of the trace finds it in the environment of its
//! keeper, whoever else has died. Mostly it is a small program without libraries
//! (`instrument-runtime/keeper`); where that cannot be made, this program called by
//! another name does the same.

use super::preload;
use crate::compiler::made::Made;
use crate::compiler::runtime;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

/// The name this program is called by as a keeper.
pub const NAME: &str = "edgewise-keeper";
/// The descriptor that a keeper reports to: its own input, in the place of which
/// the test gets nothing. So it can be started without a copy of this process.
const REPORT_AS_INPUT: i32 = 0;
/// Where the test has our input, and whatever else is open here, it is one from
/// here on: harnesses use the small ones.
const REPORT_FROM: i32 = 100;
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
    /// The number that the test's own process had, if it could be started.
    pub process: Option<u32>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (left_over, trapped) = (u8::from(self.left_over), u8::from(self.trapped));
        let process = self.process.unwrap_or(0);
        write!(f, "{} {left_over} {trapped} {process}", self.status.into_raw())
    }
}

impl Report {
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split_whitespace().map(str::parse::<i32>);
        let mut next = || numbers.next()?.ok();
        let status = ExitStatus::from_raw(next()?);
        let (left_over, trapped) = (next()? != 0, next()? != 0);
        let process = u32::try_from(next()?).ok().filter(|process| *process != 0);
        Some(Self { status, left_over, trapped, process })
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

/// Makes the small keeper of a project, unless it is there already. None if that
/// is not possible here.
pub fn make(kept: &Path) -> Option<PathBuf> {
    let made = Made {
        name: "edgewise-keeper",
        sources: runtime::KEEPER_SOURCES,
        main: runtime::KEEPER_MAIN_SOURCE,
        flags: &["-static", "-fno-pie", "-no-pie", "-Wl,--build-id=none,-z,noexecstack"],
    };
    let keeper = made.make_freestanding(kept).ok()?;
    try_out(&keeper).then_some(keeper)
}

/// Whether it keeps a test here.
fn try_out(keeper: &Path) -> bool {
    let answer = || -> std::io::Result<String> {
        let (mut said, to_say) = std::io::pipe()?;
        let mut command = Command::new(keeper);
        command.args([&*REPORT_AS_INPUT.to_string(), "/bin/sh", "-c", "read x || exit 7"]);
        command.stdin(Stdio::from(OwnedFd::from(to_say)));
        let mut process = command.spawn()?;
        drop(command);
        let mut answer = String::new();
        said.read_to_string(&mut answer)?;
        process.wait()?;
        Ok(answer)
    };
    let report = answer().ok().and_then(|answer| Report::parse(&answer));
    report.is_some_and(|report| report.status.code() == Some(7))
}

/// Starts a command under a keeper, which says at its end what became of it.
/// `prepare` has the rest to say of the process.
pub fn spawn(
    small: Option<&Path>,
    words: &[&OsStr],
    own_input: bool,
    to_say: PipeWriter,
    prepare: impl FnOnce(&mut Command) -> std::io::Result<()>,
) -> std::io::Result<Child> {
    let mut keeper = Command::new(small.unwrap_or(Path::new("/proc/self/exe")));
    keeper.arg0(NAME);
    if !own_input {
        keeper.arg(REPORT_AS_INPUT.to_string()).args(words);
        prepare(&mut keeper)?;
        keeper.stdin(Stdio::from(OwnedFd::from(to_say)));
        return keeper.spawn();
    }
    // SAFETY: a question about a descriptor that is open, whose copy nobody else has.
    let high = unsafe {
        let high = libc::fcntl(to_say.as_raw_fd(), libc::F_DUPFD_CLOEXEC, REPORT_FROM);
        (high >= 0).then(|| OwnedFd::from_raw_fd(high))
    };
    let to_say = high.unwrap_or_else(|| OwnedFd::from(to_say));
    let report = to_say.as_raw_fd();
    keeper.arg(report.to_string()).args(words);
    prepare(&mut keeper)?;
    // SAFETY: only a call that is safe behind a fork.
    unsafe {
        keeper.pre_exec(move || match libc::fcntl(report, libc::F_SETFD, 0) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    keeper.spawn()
}

/// Runs a command to its end and that of its processes, and says what became of
/// it to a descriptor. SIGTERM ends it.
pub fn keep(report: i32, program: &OsStr, arguments: &[OsString]) -> anyhow::Result<i32> {
    // SAFETY: the handler only reads atomics and signals; the prctl is a plain one.
    let before = unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        libc::signal(libc::SIGTERM, end_test as *const () as libc::sighandler_t)
    };
    // SAFETY: whoever calls us by our name gives us this descriptor, and nobody
    // else here has it. The test must not have it.
    let given = unsafe { OwnedFd::from_raw_fd(report) };
    let mut to_say = std::fs::File::from(given.try_clone()?);
    drop(given);
    if report == REPORT_AS_INPUT {
        // The lowest number that is free: that of the input.
        std::mem::forget(std::fs::File::open("/dev/null")?);
    }
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
        Ok(test) => test.id() as i32,
        Err(error) => {
            eprintln!("cannot run {}: {error}", program.display());
            let status = ExitStatus::from_raw(CANNOT_RUN << 8);
            let report = Report { status, left_over: false, trapped: false, process: None };
            to_say.write_all(report.to_string().as_bytes())?;
            return Ok(0);
        }
    };
    TEST.store(test, Ordering::SeqCst);
    if ASKED_TO_END.load(Ordering::SeqCst) {
        end_test(libc::SIGTERM);
    }
    // Without it nobody knows what became of the test.
    if let Some(report) = wait_for_all(test) {
        to_say.write_all(report.to_string().as_bytes())?;
    }
    Ok(0)
}

/// Waits for the test, and then as long as the grace lasts for what it left.
fn wait_for_all(test: i32) -> Option<Report> {
    let mut report: Option<Report> = None;
    let mut trapped = false;
    let mut ended: Option<Instant> = None;
    loop {
        let mut status = 0;
        let options = if ended.is_some() { libc::WNOHANG } else { 0 };
        // SAFETY: waits for any child, into a place of our own.
        let process = unsafe { libc::waitpid(-1, &raw mut status, options) };
        if process > 0 {
            let status = ExitStatus::from_raw(status);
            trapped |= is_trap(status);
            if process == test {
                let process = u32::try_from(test).ok();
                report = Some(Report { status, left_over: false, trapped, process });
                ended = Some(Instant::now());
                // Its number may soon be that of another process.
                TEST.store(0, Ordering::SeqCst);
            }
            continue;
        }
        if process < 0 {
            match std::io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR) => continue,
                _ => return report.map(|report| Report { trapped, ..report }),
            }
        }
        if ended.is_some_and(|ended| ended.elapsed() > GRACE) {
            return report.map(|report| Report { trapped, left_over: true, ..report });
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
            let process = (raw != 9).then_some(77);
            let report = Report { status, left_over: raw == 9, trapped: raw == 139, process };
            assert_eq!(Report::parse(&report.to_string()), Some(report));
        }
        assert_eq!(Report::parse(""), None);
    }

    #[test]
    fn the_small_keeper_has_the_same_times() {
        let source = runtime::source(runtime::KEEPER_MAIN_SOURCE).expect("carried");
        for (name, time) in [("GRACE_MS", GRACE), ("LOOK_MS", LOOK)] {
            let line = format!("#define {name} {}", time.as_millis());
            assert!(source.lines().any(|known| known.starts_with(&line)), "{line}");
        }
        assert!(source.contains(&format!("#define CANNOT_RUN {CANNOT_RUN} ")));
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
