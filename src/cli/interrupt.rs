//! Ctrl-C as a flag that is looked at.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

extern "C" fn note(_signal: libc::c_int) {
    ASKED.store(true, Ordering::SeqCst);
}

/// From now on SIGINT and SIGTERM only set the flag. One that is ignored stays
/// so: our caller wants it, and tests would see the difference.
pub fn listen() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler does nothing but store to an atomic.
        unsafe {
            if libc::signal(signal, note as *const () as libc::sighandler_t) == libc::SIG_IGN {
                libc::signal(signal, libc::SIG_IGN);
            }
        }
    }
}

pub fn asked_to_stop() -> bool {
    ASKED.load(Ordering::SeqCst)
}
