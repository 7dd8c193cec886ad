//! CPU time of children and of this thread, and memory that this thread holds.

use edgewise::compiler::preprocess::Job;
use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

/// The allocator of our programs; counts what a thread holds while it is asked to.
pub struct Counting;

#[derive(Clone, Copy)]
struct Held {
    counts: bool,
    now: isize,
    peak: isize,
}

thread_local! {
    static HELD: Cell<Held> = const { Cell::new(Held { counts: false, now: 0, peak: 0 }) };
}

fn count(change: isize) {
    // A thread that is about to end has no such variable any more.
    let _ = HELD.try_with(|held| {
        let mut new = held.get();
        if new.counts {
            new.now += change;
            new.peak = new.peak.max(new.now);
            held.set(new);
        }
    });
}

// SAFETY: every request goes to the allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { MiMalloc.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { MiMalloc.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        unsafe { MiMalloc.realloc(pointer, layout, size) }
    }
}

/// Runs something and says how many bytes it held at most.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    HELD.set(Held { counts: true, now: 0, peak: 0 });
    let result = work();
    let held = HELD.replace(Held { counts: false, now: 0, peak: 0 });
    (result, held.peak as usize)
}

/// Runs something and says how much CPU time this thread spent on it.
pub fn cpu_of<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = thread_cpu();
    let result = work();
    (result, thread_cpu().saturating_sub(start))
}

fn thread_cpu() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// CPU time of a plain `gcc -E` of a unit, that of the programs it starts
/// included.
pub fn cpu_of_preprocessor(job: &Job) -> std::io::Result<Duration> {
    let mut child = job
        .compiler
        .command()
        .current_dir(&job.directory)
        .arg("-E")
        .args(&job.arguments)
        .arg(&job.source)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut text = Vec::new();
    if let Some(output) = &mut child.stdout {
        output.read_to_end(&mut text)?;
    }
    let mut status = 0;
    // SAFETY: all zeroes is a valid value of this plain structure.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both places are valid, and nobody else waits for this child.
    let waited = unsafe { libc::wait4(child.id() as i32, &mut status, 0, &mut usage) };
    if waited < 0 {
        return Err(std::io::Error::last_os_error());
    }
    let of = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    Ok(of(usage.ru_utime) + of(usage.ru_stime))
}
