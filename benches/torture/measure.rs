//! One child process: its exit status, its output, its CPU time and its memory.

use anyhow::Context;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub struct Measured {
    /// Exit code, or 128 and the signal; none if the process had to be ended.
    pub status: Option<i32>,
    pub output: Vec<u8>,
    /// Seconds, with all children that were waited for.
    pub cpu: f64,
    /// Peak of the largest process, in kilobytes.
    pub memory: u64,
}

/// Output beyond this is not compared.
const MOST_OUTPUT: u64 = 1 << 20;

pub fn measured(mut command: Command, limit: Duration) -> anyhow::Result<Measured> {
    let (mut reader, writer) = std::io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer).process_group(0);
    let child = command.spawn().context("cannot start")?;
    drop(command);
    let pid = child.id() as libc::pid_t;
    let output = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = (&mut reader).take(MOST_OUTPUT).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut reader, &mut std::io::sink());
        bytes
    });
    let began = Instant::now();
    let mut ended = false;
    let (status, usage) = loop {
        let mut status = 0;
        // SAFETY: all zeroes is a valid value of this plain structure, and the call only writes to it.
        let (waited, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            (libc::wait4(pid, &raw mut status, libc::WNOHANG, &raw mut usage), usage)
        };
        if waited == pid {
            break (status, usage);
        }
        if !ended && began.elapsed() > limit {
            ended = true;
            // SAFETY: the group of our own child, which was not waited for yet.
            unsafe { libc::kill(-pid, libc::SIGKILL) };
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    // SAFETY: what the child left running in its group; the group's number is not used again while one is left.
    unsafe { libc::kill(-pid, libc::SIGKILL) };
    let code = if libc::WIFEXITED(status) {
        libc::WEXITSTATUS(status)
    } else {
        128 + libc::WTERMSIG(status)
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Ok(Measured {
        status: (!ended).then_some(code),
        output: output.join().expect("reading does not panic"),
        cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        memory: usage.ru_maxrss as u64,
    })
}
