//! `edgewise instrument`: the text that would be compiled, as files.

use crate::bytes;
use crate::cli::exit;
use crate::cli::printer;
use crate::cli::word;
use crate::compiler::plan::{self, Plan};
use crate::compiler::project::Project;
use crate::compiler::settings::Settings;
use crate::compiler::unit::{self, Unit};
use crate::compiler::{preprocess, runtime, toolchain};
use crate::instrument::Architecture;
use anyhow::{Context, anyhow, bail};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::path::{Component, Path, PathBuf};

/// Where the runtime's sources go, below the directory that is given.
const RUNTIME: &str = "edgewise-runtime";

/// Write the instrumented C, and the runtime that it is linked with
///
/// For builds whose compiler cannot be replaced, and for reading what is
/// compiled. Compile what is written instead of the sources, with the same
/// flags, and link edgewise-runtime/edgewise.c and edgewise.ld into each program:
/// -Wl,-T,edgewise.ld -Wl,--build-id=sha1.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  edgewise instrument src/a.c src/b.c --out probed -- -Iinclude -O2\n  edgewise instrument --compile-commands build/compile_commands.json --out probed"
)]
pub struct Args {
    /// C sources
    #[arg(required_unless_present = "compile_commands", value_name = "FILE", value_parser = word())]
    files: Vec<String>,
    /// Where to write, with the folders of the sources
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// A compilation database to take sources and flags from
    #[arg(long, value_name = "FILE", conflicts_with_all = ["files", "flags"])]
    compile_commands: Option<PathBuf>,
    /// Arguments for the compiler
    #[arg(last = true, value_name = "FLAG", value_parser = word())]
    flags: Vec<String>,
}

/// An entry of a compilation database.
#[derive(Deserialize)]
struct Entry {
    directory: String,
    file: String,
    #[serde(default)]
    arguments: Vec<String>,
    command: Option<String>,
}

/// One source with the command that compiles it.
struct Compile {
    directory: PathBuf,
    compiler: String,
    /// Without the compiler.
    arguments: Vec<String>,
    source: String,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let directory = std::env::current_dir().context("no working directory")?;
    let project = Project::at(&directory);
    let compiles = match &args.compile_commands {
        Some(path) => listed(path)?,
        None => args.files.iter().map(|file| given(&directory, file, &args.flags)).collect(),
    };
    let runtime = args.out.join(RUNTIME);
    fs_err::create_dir_all(&runtime)?;
    for compile in &compiles {
        let (text, machine) =
            instrumented(&project, compile).with_context(|| compile.source.clone())?;
        let path = args.out.join(name_of(&project, compile));
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        fs_err::write(&path, text)?;
        printer::data(&format!("{}\n", path.display()));
        runtime::write_sources(&runtime, machine)?;
    }
    Ok(exit::OK)
}

fn given(directory: &Path, file: &str, flags: &[String]) -> Compile {
    let mut arguments = flags.to_vec();
    arguments.push(file.to_string());
    let (directory, source) = (directory.to_path_buf(), file.to_string());
    Compile { directory, compiler: String::from("cc"), arguments, source }
}

fn listed(path: &Path) -> anyhow::Result<Vec<Compile>> {
    let text = fs_err::read(path)?;
    let entries: Vec<Entry> = serde_json::from_str(&bytes::to_text(&text))
        .with_context(|| format!("{} is no compilation database", path.display()))?;
    let mut compiles = Vec::new();
    for entry in entries {
        let words = match entry.command {
            Some(command) => shlex::split(&command)
                .with_context(|| format!("{}: a command that is no shell words", entry.file))?,
            None => entry.arguments,
        };
        let Some((compiler, arguments)) = words.split_first() else {
            bail!("{}: an empty command", entry.file);
        };
        compiles.push(Compile {
            directory: bytes::path(&entry.directory).into_owned(),
            compiler: compiler.clone(),
            arguments: arguments.to_vec(),
            source: entry.file,
        });
    }
    Ok(compiles)
}

/// The text of a source with probes, and the machine that it is for.
fn instrumented(project: &Project, compile: &Compile) -> anyhow::Result<(Vec<u8>, Architecture)> {
    let Compile { directory, compiler, arguments, source } = compile;
    let work = match plan::plan(arguments) {
        Plan::Work(work) if !work.sources.is_empty() => work,
        Plan::Work(_) => bail!("it is not a C source"),
        Plan::Untouched(why) => bail!("it cannot be instrumented: {why}"),
    };
    let object = work.output.clone().unwrap_or_else(|| plan::default_object(source));
    let mut unit = Unit::of_compile(project, directory, compiler, &work, &work.sources[0], &object);
    unit.detail = Settings::of_environment(&project.root).detail();
    let job = unit.job(project)?;
    let preprocessed = preprocess::preprocess(project, &job, &[]).map_err(|error| {
        anyhow!(
            "{}\nhint: arguments for the compiler go behind `--`, as in `-- -Iinclude`",
            format!("{error:#}").trim_end()
        )
    })?;
    let analysed = unit::analyse(project, &unit, &job, &preprocessed, &FxHashMap::default());
    let record = analysed.record(project, &unit, &job, None);
    let machine = toolchain::identity(&job.compiler).architecture;
    Ok((analysed.instrumented(&record, &job), machine))
}

/// The source's place in the project, as preprocessed C.
fn name_of(project: &Project, compile: &Compile) -> PathBuf {
    let name = project.record_path(&compile.directory, &compile.source);
    let name = bytes::path(&name);
    let parts = name.components();
    let below = parts.filter(|part| matches!(part, Component::Normal(_)));
    below.collect::<PathBuf>().with_extension("i")
}
