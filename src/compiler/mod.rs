//! The drop-in compiler. `run` is the whole of `edgewise cc`.

mod compile;
pub mod flags;
mod link;
pub mod log;
pub mod plan;
pub mod preprocess;
pub mod project;
pub mod runtime;
pub mod toolchain;
pub mod unit;

use anyhow::{Context, bail};
use log::Event;
use plan::{Plan, Work};
use project::Project;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// How the reason begins for which a procedure or unit goes without probes that
/// the compiler does not take.
pub const REJECTED: &str = "the compiler rejects its probes";

/// Does what the compiler `name` is asked to do with `arguments`, and returns
/// its exit code.
pub fn run(name: &str, arguments: &[String]) -> anyhow::Result<i32> {
    let Some(compiler) = toolchain::find(name) else {
        bail!("no compiler `{name}` found on the path");
    };
    let directory = std::env::current_dir().context("no working directory")?;
    let project = Project::of_environment(&directory);
    let plan = match plan::plan(arguments) {
        Plan::Work(work) if is_of_cxx(name) && !work.sources.is_empty() => {
            Plan::Untouched("a language that is not analysed")
        }
        plan => plan,
    };
    let work = match plan {
        Plan::Work(work) => work,
        Plan::Untouched(reason) => {
            let sources = plan::compiled_inputs(arguments);
            log::add(&Event::NotAnalysed {
                arguments: arguments.to_vec(),
                reason: reason.to_string(),
                sources: sources.map(|source| project.record_path(&directory, source)).collect(),
            });
            return run_real(&compiler, arguments);
        }
    };
    let command = CompilerCommand {
        project: &project,
        directory: &directory,
        name,
        compiler: &compiler,
        work: &work,
        arguments,
    };
    if work.compile_only { command.compile_all() } else { command.compile_and_link() }
}

/// Whether a driver takes a `.c` file for C++.
fn is_of_cxx(name: &str) -> bool {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-').ends_with("++")
}

struct CompilerCommand<'a> {
    project: &'a Project,
    directory: &'a Path,
    name: &'a str,
    compiler: &'a Path,
    work: &'a Work,
    arguments: &'a [String],
}

impl CompilerCommand<'_> {
    /// `-c` with one source or several.
    fn compile_all(&self) -> anyhow::Result<i32> {
        for source in &self.work.sources {
            let object = match &self.work.output {
                Some(output) => output.clone(),
                None => plan::default_object(source),
            };
            let plain = self.plain_compile(source, &object);
            let names = (object.as_str(), object.as_str());
            let code = self.compile(source, &object, names, &plain)?;
            if code != 0 {
                return Ok(code);
            }
        }
        Ok(0)
    }

    /// Sources are compiled to objects that last as long as the link.
    fn compile_and_link(&self) -> anyhow::Result<i32> {
        let scratch = tempfile::Builder::new().prefix("edgewise-o").tempdir()?;
        let output = self.work.output.as_deref().unwrap_or("a.out");
        let mut compiled = Vec::new();
        for (index, source) in self.work.sources.iter().enumerate() {
            let object = scratch.path().join(format!("{index}.o"));
            let object = object.to_string_lossy().into_owned();
            // Known by the program and the source, since the object vanishes.
            let stem = plan::default_object(source);
            let object_name = format!("{output}-{stem}");
            let plain = self.plain_compile(source, &object);
            let code = self.compile(source, &object, (&object_name, output), &plain)?;
            if code != 0 {
                return Ok(code);
            }
            compiled.push((source.clone(), object));
        }
        link::Link {
            project: self.project,
            directory: self.directory,
            compiler: self.compiler,
            work: self.work,
            compiled: &compiled,
            plain: self.arguments,
        }
        .run()
    }

    fn compile(
        &self,
        source: &str,
        object: &str,
        (object_name, dependency_name): (&str, &str),
        plain: &[String],
    ) -> anyhow::Result<i32> {
        compile::Compile {
            project: self.project,
            directory: self.directory,
            compiler_name: self.name,
            compiler: self.compiler,
            work: self.work,
            source,
            object,
            object_name,
            dependency_name,
            plain,
        }
        .run()
    }

    /// The command that compiles one source without us.
    fn plain_compile(&self, source: &str, object: &str) -> Vec<String> {
        let common = self.work.common.iter().flat_map(|argument| argument.words.clone());
        let mut words: Vec<String> = common.collect();
        words.extend(self.work.dependencies.words.iter().cloned());
        words.extend(["-c", "-o", object, source].map(String::from));
        words
    }
}

/// Runs the real compiler in our place.
fn run_real(compiler: &Path, arguments: &[String]) -> anyhow::Result<i32> {
    let status = Command::new(compiler)
        .args(arguments)
        .status()
        .with_context(|| format!("cannot run {}", compiler.display()))?;
    Ok(exit_code(status))
}

/// The exit code of a child as a shell would give it.
pub fn exit_code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
