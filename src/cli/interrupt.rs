//! Ctrl-C as a flag that is looked at.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

extern "C" fn note(_signal: libc::c_int) {
    ASKED.store(true, Ordering::SeqCst);
}

/// From now on SIGINT and SIGTERM only set the flag.
pub fn listen() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler does nothing but store to an atomic.
        unsafe { libc::signal(signal, note as *const () as libc::sighandler_t) };
    }
}

pub fn asked_to_stop() -> bool {
    ASKED.load(Ordering::SeqCst)
}
