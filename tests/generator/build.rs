//! Generated programs, compiled and run.

use super::generator::Program;
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A compiler with its flags.
#[derive(Debug, Clone, Copy)]
pub struct Compiler {
    pub program: &'static str,
    pub flags: &'static [&'static str],
}

const fn compiler(program: &'static str, flags: &'static [&'static str]) -> Compiler {
    Compiler { program, flags }
}

pub const GCC_O0: Compiler = compiler("gcc", &["-O0"]);
pub const GCC_O2: Compiler = compiler("gcc", &["-O2"]);
pub const CLANG_O0: Compiler = compiler("clang", &["-O0"]);
pub const CLANG_O2: Compiler = compiler("clang", &["-O2"]);
/// Stops at the first thing that C does not define.
pub const SANITIZED: Compiler =
    compiler("gcc", &["-O1", "-fsanitize=undefined,address", "-fno-sanitize-recover=all"]);

/// Without the sanitizer of addresses, which in gcc 12 poisons parts of the frame
/// that an inlined procedure shares with its nested function.
pub const DEFINED: Compiler =
    compiler("gcc", &["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"]);

pub fn is_installed(compiler: Compiler) -> bool {
    let version = Command::new(compiler.program).arg("--version").stdout(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// A test that takes longer does not end.
const TIMEOUT: Duration = Duration::from_secs(20);

/// What one test prints, and its exit status.
pub type Outcome = (String, Option<i32>);

/// A directory in which versions of programs are built. What was compiled once
/// is not compiled again.
pub struct Builder {
    directory: tempfile::TempDir,
}

impl Builder {
    pub fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("edgewise-generator").tempdir().unwrap();
        Self { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Builds a program and runs all its tests.
    pub fn outcomes(&self, program: &Program, compiler: Compiler) -> Vec<Outcome> {
        let executable = self.build(program, compiler);
        program.tests().iter().map(|(name, arguments)| run(&executable, name, arguments)).collect()
    }

    fn build(&self, program: &Program, compiler: Compiler) -> PathBuf {
        let files = program.files();
        let headers: Vec<_> = files.iter().filter(|(name, _)| name.ends_with(".h")).collect();
        for (name, text) in &files {
            fs::write(self.path(name), text).unwrap();
        }
        let mut objects = Vec::new();
        for source in program.sources() {
            let (_, text) = files.iter().find(|(name, _)| *name == source).unwrap();
            let mut hasher = DefaultHasher::new();
            (compiler.program, compiler.flags, &source, text, &headers).hash(&mut hasher);
            let object = self.path(&format!("{:016x}.o", hasher.finish()));
            if !object.exists() {
                self.compile(&source, &object, compiler);
            }
            objects.push(object);
        }
        let executable = self.path("program");
        let mut link = Command::new(compiler.program);
        link.args(compiler.flags).args(&objects).arg("-o").arg(&executable);
        self.must_succeed(link, "linking");
        executable
    }

    fn compile(&self, source: &str, object: &Path, compiler: Compiler) {
        let mut compile = Command::new(compiler.program);
        compile.args(["-std=gnu11", "-w", "-c"]).args(compiler.flags);
        compile.arg(source).arg("-o").arg(object);
        self.must_succeed(compile, source);
    }

    fn must_succeed(&self, mut command: Command, what: &str) {
        let output = command.current_dir(self.directory.path()).output().unwrap();
        if !output.status.success() {
            let kept = std::env::temp_dir().join("edgewise-generator-failed");
            let _ = fs::remove_dir_all(&kept);
            let _ = Command::new("cp").arg("-r").arg(self.directory.path()).arg(&kept).status();
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            let errors: Vec<&str> = errors.lines().filter(|line| line.contains("rror")).collect();
            panic!("{what}: {command:?} in {}\n{}", kept.display(), errors.join("\n"));
        }
    }
}

fn run(executable: &Path, name: &str, arguments: &str) -> Outcome {
    let mut command = Command::new(executable);
    command.args(arguments.split_whitespace());
    command.env("ASAN_OPTIONS", "detect_leaks=0").env_remove("EDGEWISE_TRACE");
    // All that is printed fits into the pipe, so nothing has to read it at once.
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > TIMEOUT {
            child.kill().unwrap();
            panic!("{name} with {arguments} does not end");
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    (text, status.code())
}
