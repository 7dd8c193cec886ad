//! Runs the real preprocessor: once for the text that is compiled, and where
//! line numbers or the like may be in it, once more with symbols for these.

use super::options;
use super::project::Project;
use super::toolchain::Compiler;
use super::vouched;
use crate::bytes;
use crate::frontend::lines::unquote;
use crate::frontend::symbols::{self, SYMBOLS};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What to preprocess, and how.
pub struct Job {
    pub compiler: Compiler,
    pub directory: PathBuf,
    /// Arguments that act on text or code.
    pub arguments: Vec<String>,
    pub source: String,
    /// What stands for a recorded command that is run because it looks usual. Nothing is known to vouch
    /// for it, so the files that it reads are looked at (`vouched.rs`).
    pub recorded: Option<String>,
}

#[derive(Clone)]
pub struct Preprocessed {
    pub text: Vec<u8>,
    /// The text with symbols, if it can differ.
    pub symbolic: Option<Vec<u8>>,
    /// What the preprocessor said, warnings for instance.
    pub messages: Vec<u8>,
}

/// The preprocessor's own words when it does not succeed.
#[derive(Debug, thiserror::Error)]
pub enum PreprocessError {
    #[error("cannot run {compiler}: {source}")]
    Start { compiler: String, source: std::io::Error },
    #[error("{0}")]
    Failed(String),
    /// A part of a recorded command that nothing here vouches for.
    #[error(
        "the {0} of its recorded compile command is not known to be this project's own (docs/security.md)"
    )]
    Refused(String),
    /// The text is not the one that the compiler would see.
    #[error("{}", options::UNSEEN)]
    Options,
}

/// Preprocesses a source. `extra` are arguments for dependency files.
pub fn preprocess(
    project: &Project,
    job: &Job,
    extra: &[String],
) -> Result<Preprocessed, PreprocessError> {
    let output = run(job, bytes::all(extra).into_iter())?;
    // Its words may be those of a file that is not to be read.
    vouched::check(project, job, &output.stdout)?;
    if !output.status.success() {
        return Err(PreprocessError::Failed(
            String::from_utf8_lossy(&output.stderr).trim_end().to_string(),
        ));
    }
    let text = output.stdout;
    if options::may_choose_otherwise(job, &text) {
        return Err(PreprocessError::Options);
    }
    let names_symbol = |path: &Path| fs_err::read(path).map_or(true, |bytes| names_one(&bytes));
    let symbolic = if may_have_symbols(project, job, &text, &names_symbol) {
        symbolic(project, job)?
    } else {
        None
    };
    Ok(Preprocessed { text, symbolic, messages: output.stderr })
}

fn run(job: &Job, extra: impl Iterator<Item = OsString>) -> Result<Output, PreprocessError> {
    output(job, command(job, extra))
}

/// The preprocessor run of a job.
pub(super) fn command(job: &Job, extra: impl Iterator<Item = OsString>) -> Command {
    let mut command = job.compiler.command();
    command
        .current_dir(&job.directory)
        .arg("-E")
        .args(bytes::all(&job.arguments))
        .args(extra)
        .arg(&*bytes::os(&job.source))
        .stdin(Stdio::null());
    command
}

pub(super) fn output(job: &Job, mut command: Command) -> Result<Output, PreprocessError> {
    command.output().map_err(|source| PreprocessError::Start {
        compiler: job.compiler.display().to_string(),
        source,
    })
}

/// The same text with `__LINE__` and its kin as names, and `__FILE__` without
/// the root. None if the source does not preprocess that way.
pub(super) fn symbolic(project: &Project, job: &Job) -> Result<Option<Vec<u8>>, PreprocessError> {
    let mut extra: Vec<OsString> = vec!["-Wno-builtin-macro-redefined".into()];
    for (name, symbol) in SYMBOLS {
        extra.push(format!("-D{name}={symbol}").into());
    }
    let mut map = OsString::from("-fmacro-prefix-map=");
    map.push(&project.root);
    map.push("=.");
    extra.push(map);
    let output = run(job, extra.into_iter())?;
    Ok(output.status.success().then_some(output.stdout))
}

/// Whether a symbol may stand in the text: some file it is made of names one,
/// or an argument does, or the root stands in a string.
pub(super) fn may_have_symbols(
    project: &Project,
    job: &Job,
    text: &[u8],
    names_symbol: &dyn Fn(&Path) -> bool,
) -> bool {
    if job.arguments.iter().any(|argument| names_one(argument.as_bytes())) {
        return true;
    }
    let root = quoted_root(project);
    let lines = text.split(|byte| *byte == b'\n');
    if lines
        .filter(|line| !line.starts_with(b"#"))
        .any(|line| memchr::memmem::find(line, &root).is_some())
    {
        return true;
    }
    files_of(text).iter().any(|file| names_symbol(&job.directory.join(bytes::path(file))))
}

/// How a name of a file of the project begins in the text, where it is absolute.
pub(super) fn quoted_root(project: &Project) -> Vec<u8> {
    [b"\"", project.root.as_os_str().as_bytes(), b"/"].concat()
}

fn names_one(bytes: &[u8]) -> bool {
    symbols::words().any(|word| memchr::memmem::find(bytes, word.as_bytes()).is_some())
}

/// Names of the files that the line markers of a text name, without repeats.
pub fn files_of(text: &[u8]) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for line in text.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"# ")) {
        let Some(start) = memchr::memchr(b'"', line) else {
            continue;
        };
        let Some(name) = unquote(&line[start..]) else {
            continue;
        };
        if name.starts_with('<') || name.ends_with("//") || !seen.insert(name.clone()) {
            continue;
        }
        files.push(name);
    }
    files
}

/// Whether a file belongs to the system rather than to the project.
pub fn is_system(project: &Project, directory: &Path, file: &str) -> bool {
    let path = super::project::clean(&directory.join(bytes::path(file)));
    file.starts_with('<') || (path.starts_with("/usr") && !project.holds(&path))
}
