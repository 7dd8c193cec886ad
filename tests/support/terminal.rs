//! A command on a terminal: what a person sees of it.

use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Command, ExitStatus, Stdio};

/// Runs a command with a terminal for its output, and gives what stands there at the end.
pub fn run(command: &mut Command) -> (Vec<String>, ExitStatus) {
    let (mut ours, theirs) = open();
    command.stdin(Stdio::null());
    command.stdout(theirs.try_clone().unwrap()).stderr(theirs);
    let mut child = command.spawn().unwrap();
    // The command holds its ends of the terminal open, and we must not.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    // A terminal that nobody writes to any more ends with an error.
    while let Ok(count @ 1..) = ours.read(&mut part) {
        bytes.extend(&part[..count]);
    }
    let status = child.wait().unwrap();
    (shown(&String::from_utf8_lossy(&bytes)), status)
}

fn open() -> (File, OwnedFd) {
    let (mut ours, mut theirs) = (0, 0);
    let none = std::ptr::null_mut();
    // SAFETY: both numbers are ours to write, and the rest may be left out.
    let code = unsafe { libc::openpty(&mut ours, &mut theirs, none, none.cast(), none.cast()) };
    assert_eq!(code, 0, "no terminal: {}", std::io::Error::last_os_error());
    // SAFETY: these were just opened for us.
    unsafe {
        libc::fcntl(ours, libc::F_SETFD, libc::FD_CLOEXEC);
        libc::fcntl(theirs, libc::F_SETFD, libc::FD_CLOEXEC);
        (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs))
    }
}

/// The lines that are left, where some were written over.
fn shown(text: &str) -> Vec<String> {
    let text = text.replace("\r\n", "\n");
    let mut lines: Vec<String> = text.lines().map(last_written).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

fn last_written(line: &str) -> String {
    let erased = line.rsplit("\u{1b}[K").next().unwrap_or(line);
    erased.rsplit('\r').next().unwrap_or(erased).to_string()
}
