//! Compilers that end when this process does, however it ends.

use std::io::{PipeReader, PipeWriter};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;

/// A pipe that nothing is ever written to. Its reader sees an end when this process
/// ends, also if it is killed.
fn life() -> Option<RawFd> {
    static LIFE: OnceLock<Option<(PipeReader, PipeWriter)>> = OnceLock::new();
    let pipe = LIFE.get_or_init(|| std::io::pipe().ok());
    pipe.as_ref().map(|(reader, _)| reader.as_raw_fd())
}

/// Makes a compiler end with us. A compiler starts others (`cc1`, `as`), so it gets a
/// process group, and a child that waits for our end and then ends the group. It must
/// not read from a terminal.
pub fn end_with_us(command: &mut Command) -> &mut Command {
    let Some(life) = life() else { return command };
    // SAFETY: what runs between fork and exec makes system calls only.
    unsafe {
        command.pre_exec(move || {
            libc::setpgid(0, 0);
            let compiler = libc::getpid();
            if libc::fork() == 0 {
                watch(life, compiler);
            }
            Ok(())
        })
    }
}

/// Waits for the end of the process that holds the other end of the pipe. The kernel
/// ends the watcher itself when the compiler, its parent, is done.
///
/// # Safety
///
/// Only for a process that was just forked.
unsafe fn watch(life: RawFd, compiler: libc::pid_t) -> ! {
    let mut byte = 0_u8;
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // The compiler's output, and the pipe's other end, must not stay open here.
        libc::dup2(life, 0);
        if libc::syscall(libc::SYS_close_range, 1, libc::c_uint::MAX, 0) != 0 {
            (1..1024).for_each(|descriptor| {
                libc::close(descriptor);
            });
        }
        if libc::getppid() == compiler && libc::read(0, (&raw mut byte).cast(), 1) == 0 {
            libc::kill(-compiler, libc::SIGTERM);
        }
        libc::_exit(0)
    }
}
