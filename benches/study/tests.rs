//! The tests of a subject, and what each does, without edgewise.

use anyhow::Context;
use fs_err::File;
use std::collections::BTreeMap;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Limits for a mutant that prints or allocates without end.
const OUTPUT_LIMIT: libc::rlim_t = 32 << 20;
const MEMORY_LIMIT: libc::rlim_t = 2 << 30;
/// What a test writes below this directory of the tree belongs to what it does.
pub const PRODUCED: &str = "out";
pub const LIST: &str = "edgewise.list";

/// What a test did, as far as anybody outside can see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Ended { status: i32, stdout: Vec<u8>, stderr: Vec<u8>, produced: BTreeMap<String, Vec<u8>> },
    TimedOut,
}

impl Outcome {
    /// Whether nothing but numbers is different.
    pub fn differs_in_numbers_only(&self, other: &Outcome) -> bool {
        let without = |text: &[u8]| -> Vec<u8> {
            let mut kept: Vec<u8> =
                text.iter().map(|b| if b.is_ascii_digit() { b'0' } else { *b }).collect();
            kept.dedup_by(|one, next| *one == b'0' && *next == b'0');
            kept
        };
        match (self, other) {
            (
                Outcome::Ended { status, stdout, stderr, produced },
                Outcome::Ended { status: s, stdout: o, stderr: e, produced: p },
            ) => {
                status == s
                    && produced == p
                    && without(stdout) == without(o)
                    && without(stderr) == without(e)
            }
            _ => false,
        }
    }

    pub fn show(&self) -> String {
        match self {
            Outcome::TimedOut => String::from("out of time"),
            Outcome::Ended { status, stdout, stderr, produced } => {
                let start = |text: &[u8]| {
                    String::from_utf8_lossy(&text[..text.len().min(300)]).into_owned()
                };
                let files: Vec<&String> = produced.keys().collect();
                format!(
                    "status {status}, stdout {:?}, stderr {:?}, files {files:?}",
                    start(stdout),
                    start(stderr)
                )
            }
        }
    }
}

/// The commands of a list, by name, as edgewise has them.
pub fn list(root: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let text = fs_err::read_to_string(root.join(LIST))?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let tests = lines.map(|line| {
        let (name, command) = line.split_once(' ').context("a test without a command")?;
        Ok((name.to_string(), command.trim().to_string()))
    });
    tests.collect()
}

/// Runs one test in a tree. `scratch` is a directory for its output.
pub fn run(
    root: &Path,
    command: &str,
    timeout: Duration,
    scratch: &Path,
) -> anyhow::Result<Outcome> {
    let produced = root.join(PRODUCED);
    let _ = std::fs::remove_dir_all(&produced);
    fs_err::create_dir_all(&produced)?;
    let [stdout, stderr] = ["stdout", "stderr"].map(|name| scratch.join(name));
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).current_dir(root).stdin(Stdio::null());
    shell.stdout(File::create(&stdout)?.into_parts().0);
    shell.stderr(File::create(&stderr)?.into_parts().0);
    shell.process_group(0);
    // SAFETY: plain system calls, and nothing is allocated.
    unsafe { shell.pre_exec(limit) };
    let mut child = shell.spawn()?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > timeout {
            // SAFETY: the group is the one that was made above.
            unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
            child.wait()?;
            return Ok(Outcome::TimedOut);
        }
        std::thread::sleep(Duration::from_micros(300));
    };
    let mut files = BTreeMap::new();
    for (name, _) in super::tree::files(&produced)? {
        let text = fs_err::read(produced.join(&name))?;
        files.insert(name, text);
    }
    Ok(Outcome::Ended {
        // Whether there was a core dump depends on the machine.
        status: status.into_raw() & !0x80,
        stdout: without_root(&fs_err::read(stdout)?, root),
        stderr: without_root(&fs_err::read(stderr)?, root),
        produced: files,
    })
}

/// A text that may name the tree, which is another one each time.
fn without_root(text: &[u8], root: &Path) -> Vec<u8> {
    let root = root.as_os_str().as_encoded_bytes();
    let mut kept = Vec::with_capacity(text.len());
    let mut at = 0;
    for found in memchr::memmem::find_iter(text, root) {
        kept.extend_from_slice(&text[at..found]);
        kept.extend_from_slice(b"ROOT");
        at = found + root.len();
    }
    kept.extend_from_slice(&text[at..]);
    kept
}

fn limit() -> std::io::Result<()> {
    let limits = [
        (libc::RLIMIT_FSIZE, OUTPUT_LIMIT),
        (libc::RLIMIT_AS, MEMORY_LIMIT),
        (libc::RLIMIT_CORE, 0),
    ];
    for (resource, limit) in limits {
        let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
        // SAFETY: the pointer is to a value that lives through the call.
        if unsafe { libc::setrlimit(resource, &limit) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
    }
    Ok(())
}
