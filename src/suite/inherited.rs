//! Files that were open before a test began: it may read them without ever
//! opening them.

use std::ops::RangeFrom;
use std::path::{Path, PathBuf};

/// Files of the project that processes which we start find open, in these
/// descriptors, and can read.
pub fn files(root: &Path, descriptors: RangeFrom<i32>) -> Vec<PathBuf> {
    let Ok(real) = root.canonicalize() else { return Vec::new() };
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let descriptor = |name: &std::ffi::OsStr| name.to_str()?.parse::<i32>().ok();
    let open = entries.filter_map(|entry| Some((descriptor(&entry.file_name())?, entry.path())));
    let handed_on =
        open.filter(|(number, _)| descriptors.contains(number) && is_handed_on(*number));
    let files = handed_on.filter_map(|(_, path)| {
        let file = std::fs::read_link(path).ok()?;
        Some(root.join(file.strip_prefix(&real).ok()?))
    });
    files.collect()
}

fn is_handed_on(descriptor: i32) -> bool {
    // SAFETY: questions about a descriptor, which may have been closed meanwhile.
    let (flags, status) =
        unsafe { (libc::fcntl(descriptor, libc::F_GETFD), libc::fcntl(descriptor, libc::F_GETFL)) };
    flags >= 0 && flags & libc::FD_CLOEXEC == 0 && status & libc::O_ACCMODE != libc::O_WRONLY
}
