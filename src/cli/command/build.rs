//! `edgewise build`: a build with probes.

use crate::bytes;
use crate::cli::build_state::BuildState;
use crate::cli::building::{self, Built, Extent};
use crate::cli::printer;
use crate::cli::word;
use crate::cli::workspace::Workspace;
use crate::compiler::settings::{COUNT_ENTRIES_VARIABLE, GRANULARITY_VARIABLE};
use crate::report::text::counted;
use crate::trace::module::Module;
use anyhow::bail;
use std::process::Command;

/// Build the project with probes in it
///
/// Runs the build command with edgewise in the place of the C compilers. The
/// objects must be made anew: clean first if they were built without edgewise.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  edgewise build -- make -j4")]
pub struct Args {
    /// How much of what runs is noted: which procedures, which edges, or every
    /// step (slow, with large logs: for small programs)
    #[arg(long, value_name = "LEVEL", value_parser = ["procedure", "edge", "path"])]
    granularity: Option<String>,
    /// Note which procedures are entered more than once
    #[arg(long)]
    count_entries: bool,
    /// The build command; without one, `command` of [build] in edgewise.toml
    #[arg(last = true, value_name = "COMMAND", value_parser = word())]
    command: Vec<String>,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let workspace = if args.command.is_empty() {
        Workspace::open()?
    } else {
        Workspace::open_without_suites()?
    };
    let mut command = match args.command.split_first() {
        Some((program, arguments)) => {
            let mut command = Command::new(&*bytes::os(program));
            command.args(bytes::all(arguments));
            command
        }
        None => configured(&workspace)?,
    };
    if let Some(granularity) = &args.granularity {
        command.env(GRANULARITY_VARIABLE, granularity);
    }
    if args.count_entries {
        command.env(COUNT_ENTRIES_VARIABLE, "1");
    }
    let extent = match args.command.is_empty() {
        true => Extent::Everything,
        false => Extent::Something,
    };
    let built = building::build(&workspace, command, extent)?;
    printer::tell(&summary(&built, built_before(&workspace, &built)?));
    Ok(built.code)
}

/// The build command of the configuration, run in the root.
pub fn configured(workspace: &Workspace) -> anyhow::Result<Command> {
    let command = workspace.config.build.command.as_ref();
    let Some(text) = command.filter(|text| !text.trim().is_empty()) else {
        bail!(
            "no build command\nhint: give it as `edgewise build -- make`, or as `command` of \
             [build] in edgewise.toml"
        );
    };
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(&*bytes::os(text)).current_dir(&workspace.project.root);
    Ok(command)
}

/// How many sources that are not analysed are named.
const LISTED: usize = 10;

/// How many programs have probes from an earlier build, if this one had nothing to do.
fn built_before(workspace: &Workspace, built: &Built) -> anyhow::Result<usize> {
    if built.has_records || built.is_configuring || !built.programs.is_empty() {
        return Ok(0);
    }
    let has_probes = |name: &&String| {
        let module = Module::read(&workspace.project.root.join(bytes::path(name)));
        module.is_ok_and(|module| !module.records.units.is_empty())
    };
    Ok(BuildState::read(workspace)?.programs.iter().filter(has_probes).count())
}

fn summary(built: &Built, before: usize) -> String {
    if built.code != 0 {
        return format!("edgewise: the build failed with code {}\n", built.code);
    }
    if built.is_nothing {
        return String::from(
            "edgewise: nothing was compiled, and nothing is kept: no edgewise.toml here or above\n\
             hint: call it in the root of the project; `edgewise init` writes an edgewise.toml there\n",
        );
    }
    if before > 0 && built.unanalysed.is_empty() {
        let before = counted(before, "program");
        return format!("edgewise: nothing was compiled; {before} with probes from before\n");
    }
    let mut out = format!(
        "edgewise: {} instrumented ({}, {} of them opaque), {} linked\n",
        counted(built.units - built.untouched.len(), "unit"),
        counted(built.procedures, "procedure"),
        built.opaque,
        counted(built.programs.len(), "program"),
    );
    for (source, why) in &built.untouched {
        out.push_str(&format!("edgewise: {source} is compiled without probes: {why}\n"));
    }
    for (program, why) in &built.without_runtime {
        out.push_str(&format!("edgewise: {program} leaves no trace: {why}\n"));
    }
    for (source, why) in built.unanalysed.iter().take(LISTED) {
        out.push_str(&format!("edgewise: {source} is not analysed: {why}\n"));
    }
    if let Some(more) = built.unanalysed.len().checked_sub(LISTED).filter(|more| *more > 0) {
        out.push_str(&format!("edgewise: {more} more are not analysed\n"));
    }
    if !built.has_records && built.is_configuring {
        out.push_str(
            "edgewise: only a configure script tried the compiler out, nothing to do yet\n",
        );
    } else if !built.has_records {
        out.push_str(
            "hint: nothing was instrumented, since the build called no compiler that edgewise saw. Either \
             nothing was to be done: if the objects were made without edgewise, `make clean` first. Or it \
             calls a compiler by its full path: say CC=\"edgewise cc\", or for CMake configure anew with \
             `edgewise build -- cmake …`\n",
        );
    } else if built.units > 0 && built.programs.is_empty() && built.without_runtime.is_empty() {
        out.push_str(
            "hint: nothing was linked by edgewise, and a program without its runtime leaves no trace. \
             With CMake launchers, CMAKE_C_LINKER_LAUNCHER is needed as well\n",
        );
    }
    out
}
