//! The project as a plain compiler builds it, and what its tests do.
//!
//! edgewise has no part in this: the Makefile runs gcc, and the program of each
//! test is started directly, without the script that compares its output, so
//! that stdout, stderr and exit status are seen as they are.

use crate::support::{self, Project};
use std::fs::File;
use std::os::unix::fs::symlink;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// A test that takes longer hangs.
pub const TIMEOUT: Duration = Duration::from_secs(2);
/// Still some fifty times what a test takes.
pub const SHORT_TIMEOUT: Duration = Duration::from_millis(100);

/// Limits for a mutant that prints or allocates without end.
const OUTPUT_LIMIT: libc::rlim_t = 1 << 20;
const MEMORY_LIMIT: libc::rlim_t = 64 << 20;

/// The program of a test and how it is started.
pub struct Test {
    pub name: String,
    program: String,
    arguments: Vec<String>,
    stdin: Option<String>,
}

/// What a test did, as far as anybody outside can see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Ended { status: ExitStatus, stdout: Vec<u8>, stderr: Vec<u8> },
    TimedOut,
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Outcome::Ended { status, stdout, stderr } = self else {
            return write!(f, "out of time");
        };
        write!(f, "{status}")?;
        for (name, text) in [("stdout", stdout), ("stderr", stderr)] {
            let start = &text[..text.len().min(500)];
            write!(f, ", {name} {:?}", String::from_utf8_lossy(start))?;
        }
        Ok(())
    }
}

/// The tests of the sample's list: `NAME sh tests/check.sh NAME PROGRAM …`,
/// perhaps with `< FILE` at the end.
pub fn tests(list: &str) -> Vec<Test> {
    let is_test = |line: &&str| !line.is_empty() && !line.starts_with('#');
    list.lines().filter(is_test).map(test).collect()
}

fn test(line: &str) -> Test {
    let mut words = shlex::split(line).unwrap();
    let name = words[0].clone();
    assert_eq!(words[1..4], ["sh", "tests/check.sh", &name], "in `{line}`");
    let stdin = (words[words.len() - 2] == "<").then(|| {
        let file = words.pop();
        words.pop();
        file.unwrap()
    });
    Test { name, program: words[4].clone(), arguments: words[5..].to_vec(), stdin }
}

/// A tree that is built without edgewise.
pub struct Plain {
    project: Project,
    /// Where tests write; not in the tree.
    output: tempfile::TempDir,
}

impl Plain {
    /// The sample, built.
    pub fn sample() -> Self {
        let plain = Self { project: support::sample(), output: tempfile::tempdir().unwrap() };
        assert!(plain.build(), "the sample does not compile");
        plain
    }

    pub fn read(&self, file: &str) -> String {
        self.project.read(file)
    }

    /// Another tree, of which nothing has to be built again.
    pub fn duplicate(&self) -> Self {
        let plain = Self { project: Project::empty(), output: tempfile::tempdir().unwrap() };
        copy_built(self.project.root(), plain.project.root());
        plain
    }

    /// Edits a file and builds; whether it compiles.
    pub fn build_with(&self, file: &str, text: &str) -> bool {
        self.project.write(file, text);
        self.build()
    }

    /// Takes back an edit, with the objects that go with it, so that the next
    /// edit has nothing but itself to build.
    pub fn restore(&self, original: &Plain, file: &str) {
        self.project.write(file, &original.read(file));
        settle(&self.project.path(file));
        copy_built(&original.project.path("build"), &self.project.path("build"));
    }

    fn build(&self) -> bool {
        let mut make = Command::new("make");
        make.args(["-s", "CC=gcc"]).env_remove("MAKEFLAGS");
        make.current_dir(self.project.root());
        make.output().unwrap().status.success()
    }

    pub fn run(&self, test: &Test, timeout: Duration) -> Outcome {
        let [stdout, stderr] = ["stdout", "stderr"].map(|name| self.output.path().join(name));
        let mut command = Command::new(self.project.path(&test.program));
        // Messages of the program must not name the tree.
        command.arg0(&test.program).args(&test.arguments);
        command.current_dir(self.project.root());
        command.stdin(match &test.stdin {
            Some(file) => Stdio::from(File::open(self.project.path(file)).unwrap()),
            None => Stdio::null(),
        });
        command.stdout(File::create(&stdout).unwrap());
        command.stderr(File::create(&stderr).unwrap());
        // SAFETY: setrlimit is a plain system call, and nothing is allocated.
        unsafe { command.pre_exec(limit) };
        let mut child = command.spawn().unwrap();
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if start.elapsed() > timeout {
                child.kill().unwrap();
                child.wait().unwrap();
                return Outcome::TimedOut;
            }
            std::thread::sleep(Duration::from_micros(300));
        };
        Outcome::Ended {
            // Whether there was a core dump depends on the machine.
            status: ExitStatus::from_raw(status.into_raw() & !0x80),
            stdout: std::fs::read(stdout).unwrap(),
            stderr: std::fs::read(stderr).unwrap(),
        }
    }
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

/// Copies a tree such that nothing in it has to be built again: the copy of a
/// file would have the time at which it was made, and make would see stale
/// objects, or none, by chance. So all files get one time, long ago. Links stay
/// links: those to the compiler's stand-ins would be copies of a large program.
pub fn copy_built(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let file_type = entry.file_type().unwrap();
        if file_type.is_dir() {
            copy_built(&from, &to);
        } else if file_type.is_symlink() {
            symlink(std::fs::read_link(from).unwrap(), to).unwrap();
        } else {
            std::fs::copy(from, &to).unwrap();
            settle(&to);
        }
    }
}

fn settle(path: &Path) {
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    File::open(path).unwrap().set_modified(long_ago).unwrap();
}
