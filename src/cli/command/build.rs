//! `edgewise build`: a build with probes.

use crate::cli::building::{self, Built};
use crate::cli::workspace::Workspace;
use anyhow::bail;
use std::process::Command;

/// Build the project with probes in it
///
/// Runs the build command with edgewise in the place of the C compilers. The
/// objects must be made anew: clean first if they were built without edgewise.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  edgewise build -- make -j4")]
pub struct Args {
    /// The build command; without one, `command` of [build] in edgewise.toml
    #[arg(last = true)]
    command: Vec<String>,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let workspace = if args.command.is_empty() {
        Workspace::open()?
    } else {
        Workspace::open_without_suites()?
    };
    let command = match args.command.split_first() {
        Some((program, arguments)) => {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
        None => configured(&workspace)?,
    };
    let built = building::build(&workspace, command)?;
    eprint!("{}", summary(&built));
    Ok(built.code)
}

/// The build command of the configuration, run in the root.
pub fn configured(workspace: &Workspace) -> anyhow::Result<Command> {
    let Some(text) = &workspace.config.build.command else {
        bail!(
            "no build command\nhint: give it as `edgewise build -- make`, or as `command` of \
             [build] in edgewise.toml"
        );
    };
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(text).current_dir(&workspace.project.root);
    Ok(command)
}

fn summary(built: &Built) -> String {
    if built.code != 0 {
        return format!("edgewise: the build failed with code {}\n", built.code);
    }
    let mut out = format!(
        "edgewise: {} units instrumented ({} procedures, {} opaque), {} programs linked\n",
        built.units - built.untouched.len(),
        built.procedures,
        built.opaque,
        built.programs.len(),
    );
    for (source, why) in &built.untouched {
        out.push_str(&format!("edgewise: {source} is compiled without probes: {why}\n"));
    }
    if built.units == 0 && built.programs.is_empty() {
        out.push_str(
            "hint: nothing was compiled; if the objects were built without edgewise, clean first\n",
        );
    }
    out
}
