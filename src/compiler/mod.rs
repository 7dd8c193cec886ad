//! The drop-in compiler. `run` is the whole of `edgewise cc`.

mod children;
pub mod commands;
mod compile;
mod diagnostics;
pub mod flags;
mod inputs;
pub mod ld;
mod link;
pub mod linked;
mod linker_words;
pub mod log;
pub mod made;
mod named;
mod options;
pub mod plan;
pub mod preprocess;
pub mod project;
mod read;
mod reading;
mod response;
pub mod runtime;
pub mod selective;
pub mod settings;
pub mod text;
pub mod toolchain;
mod trial;
pub mod unit;
pub mod vouched;
mod written;

use crate::bytes;
use anyhow::Context;
use log::Event;
use plan::{Plan, Work};
use project::Project;
use settings::Settings;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitStatus};
use toolchain::Compiler;

/// How the reason begins for which a procedure or unit goes without probes that
/// the compiler does not take.
pub const REJECTED: &str = "the compiler rejects its probes";

/// What a shell says when there is no such program.
const NOT_FOUND: i32 = 127;

/// Variables that make gcc write dependencies, whatever it is asked.
const DEPENDENCY_VARIABLES: [&str; 2] = ["DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES"];

/// Does what the compiler `name` is asked to do with `arguments`, and returns
/// its exit code.
pub fn run(name: &str, arguments: &[OsString]) -> anyhow::Result<i32> {
    let name = toolchain::real_name(name);
    let Some(compiler) = Compiler::find(name) else {
        eprintln!("edgewise: no compiler `{name}` found on the path");
        return Ok(NOT_FOUND);
    };
    let Ok(directory) = std::env::current_dir() else {
        return run_real(compiler.command().args(arguments));
    };
    let words: Vec<String> = arguments.iter().map(bytes::name).collect();
    let words = response::expand(&directory, &words);
    if trial::is_trial(&directory, &words) {
        log::add(&Event::Tried);
        return run_real(compiler.command().args(arguments));
    }
    let project = Project::of_environment(&directory);
    let settings = Settings::of_environment(&project.root);
    let plan = match plan::plan(&words) {
        // Each of our runs would add to the file.
        _ if DEPENDENCY_VARIABLES.iter().any(|name| std::env::var_os(name).is_some()) => {
            Plan::Untouched("dependencies to a file of the environment")
        }
        Plan::Work(work) if is_of_cxx(name) && !work.sources.is_empty() => {
            Plan::Untouched("a language that is not analysed")
        }
        plan => plan,
    };
    let command = |work| CompilerCommand {
        project: &project,
        settings: &settings,
        directory: &directory,
        name,
        compiler: &compiler,
        work,
        arguments,
    };
    // What is listed only says who includes whom.
    let only_lists = words.iter().any(|word| word == "-M" || word == "-MM");
    if only_lists || matches!(plan, Plan::Work(_)) || is_looked_up(&words, name) {
        reading::say_compiling();
    }
    match plan {
        // It has its own order of complaints.
        Plan::Work(work) if !work.are_sources_there(&directory) => {
            run_real(compiler.command().args(arguments))
        }
        Plan::Work(work) if work.compile_only => command(&work).compile_all(),
        Plan::Work(work) => command(&work).compile_and_link(),
        Plan::Untouched(reason) => {
            let code = run_real(compiler.command().args(arguments))?;
            let sources = plan::compiled_inputs(&words);
            if code == 0 && !sources.is_empty() {
                let what = NotAnalysed { reason, sources: &sources, arguments: &words };
                what.log(&project, &directory, &compiler);
            }
            Ok(code)
        }
    }
}

/// Whether ccache preprocesses a unit to see whether it has it: nothing else becomes of that.
fn is_looked_up(words: &[String], name: &str) -> bool {
    if !words.iter().any(|word| word == "-E") || is_of_cxx(name) {
        return false;
    }
    let compiled = words.iter().map(|word| if word == "-E" { "-c" } else { word });
    let compiled: Vec<String> = compiled.map(String::from).collect();
    matches!(plan::plan(&compiled), Plan::Work(_)) && reading::is_asked_by_ccache()
}

/// Whether a driver takes a `.c` file for C++.
fn is_of_cxx(name: &str) -> bool {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-').ends_with("++")
}

/// What the real compiler compiled alone.
struct NotAnalysed<'a> {
    reason: &'a str,
    sources: &'a [&'a str],
    arguments: &'a [String],
}

impl NotAnalysed<'_> {
    fn log(&self, project: &Project, directory: &Path, compiler: &Compiler) {
        if !log::is_kept() {
            return;
        }
        let record = |name: &str| project.record_path(directory, name);
        let sources: Vec<String> = self.sources.iter().map(|source| record(source)).collect();
        let inputs = inputs::of_command(compiler, directory, self.arguments).map(|read| {
            let read = read.iter().map(|name| record(name));
            read.chain(sources.iter().cloned()).collect()
        });
        let (arguments, reason) = (self.arguments.to_vec(), self.reason.to_string());
        log::add(&Event::NotAnalysed { arguments, reason, sources, inputs });
    }
}

struct CompilerCommand<'a> {
    project: &'a Project,
    settings: &'a Settings,
    directory: &'a Path,
    name: &'a str,
    compiler: &'a Compiler,
    work: &'a Work,
    arguments: &'a [OsString],
}

impl CompilerCommand<'_> {
    /// `-c` with one source or several. As with the real compiler, one that
    /// fails does not keep it from the others.
    fn compile_all(&self) -> anyhow::Result<i32> {
        let mut result = 0;
        for source in &self.work.sources {
            let object = match &self.work.output {
                Some(output) => output.clone(),
                None => plan::default_object(source),
            };
            let code = self.compile(source, &object, &object, &object)?;
            result = result.max(code);
        }
        if !self.work.others.is_empty() {
            let common = self.work.common_words();
            let words: Vec<String> = common.chain(&self.work.others).cloned().collect();
            let code = run_real(self.compiler.command().args(bytes::all(&words)).arg("-c"))?;
            if code == 0 {
                self.log_others();
            }
            result = result.max(code);
        }
        Ok(result)
    }

    /// Sources are compiled to objects that last as long as the link.
    fn compile_and_link(&self) -> anyhow::Result<i32> {
        let Ok(scratch) = tempfile::Builder::new().prefix("edgewise-o").tempdir() else {
            return run_real(self.compiler.command().args(self.arguments));
        };
        let mut compiled = Vec::new();
        let mut result = 0;
        for (index, source) in self.work.sources.iter().enumerate() {
            let object = scratch.path().join(format!("{index}.o"));
            let object = bytes::name(object);
            // Known by the program and the source, since the object vanishes.
            let stem = plan::default_object(source);
            let output = self.work.output.as_deref();
            let object_name = format!("{}-{stem}", output.unwrap_or("a.out"));
            let code = self.compile(source, &object, &object_name, output.unwrap_or(&stem))?;
            result = result.max(code);
            compiled.push((source.clone(), object));
        }
        if result != 0 {
            return Ok(result);
        }
        let code = link::Link {
            project: self.project,
            directory: self.directory,
            tool: link::Tool::Driver(self.compiler),
            work: self.work,
            compiled: &compiled,
            logs_nodes: self.settings.logs_nodes(),
            plain: self.arguments,
        }
        .run()?;
        if code == 0 && !self.work.others.is_empty() {
            self.log_others();
        }
        Ok(code)
    }

    /// Sources of other languages, which the real compiler compiled.
    fn log_others(&self) {
        let common = self.work.common_words();
        let arguments: Vec<String> = common.chain(&self.work.others).cloned().collect();
        let sources: Vec<&str> = self.work.others.iter().map(String::as_str).collect();
        let reason = "a language that is not analysed";
        NotAnalysed { reason, sources: &sources, arguments: &arguments }.log(
            self.project,
            self.directory,
            self.compiler,
        );
    }

    fn compile(
        &self,
        source: &str,
        object: &str,
        object_name: &str,
        dependency_name: &str,
    ) -> anyhow::Result<i32> {
        compile::Compile {
            project: self.project,
            settings: self.settings,
            directory: self.directory,
            compiler_name: self.name,
            compiler: self.compiler,
            work: self.work,
            source,
            object,
            object_name,
            dependency_name,
        }
        .run()
    }
}

/// Runs the real compiler in our place.
fn run_real(command: &mut Command) -> anyhow::Result<i32> {
    let status = command
        .status()
        .with_context(|| format!("cannot run {}", command.get_program().to_string_lossy()))?;
    Ok(exit_code(status))
}

/// The exit code of a child as a shell would give it.
pub fn exit_code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
