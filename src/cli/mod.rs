//! The command line: arguments, configuration, and one file per command.

mod build_state;
pub mod building;
pub mod command;
pub mod config;
pub mod exit;
pub mod files;
mod interrupt;
mod outside;
mod recording;
mod roles;
mod selecting;
mod snapshot;
mod workspace;

use crate::history::store::StoreError;
use clap::Parser;
use std::path::Path;

/// Safe regression test selection for C
///
/// Instruments a C project once, records which control-flow edges every test
/// takes, and then says at each change which tests can behave differently.
#[derive(Debug, Parser)]
#[command(name = "edgewise", version, after_help = exit::HELP)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Build(command::build::Args),
    Run(command::run::Args),
    Select(command::select::Args),
    Test(command::test::Args),
    Demo(command::demo::Args),
    Cfg(command::cfg::Args),
    Cc(command::cc::Args),
}

/// Runs the command line and returns the exit code.
pub fn main() -> i32 {
    // A reader that has seen enough ends us quietly, as it does other tools.
    // SAFETY: restores what a process starts with.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    if let Some(command) = called_as_keeper() {
        return crate::suite::keeper::keep(&command).unwrap_or_else(|error| report(&error));
    }
    let result = match called_as_compiler() {
        Some(name) => {
            let arguments: Vec<String> = lossless_arguments();
            crate::compiler::run(&name, &arguments)
        }
        None => dispatch(&Arguments::parse().command),
    };
    result.unwrap_or_else(|error| report(&error))
}

/// The name by which a build called us, if it is that of a compiler.
fn called_as_compiler() -> Option<String> {
    let name = std::env::args_os().next()?;
    let name = Path::new(&name).file_name()?.to_str()?.to_string();
    if name == "edgewise-cc" {
        let compiler = std::env::var(command::cc::COMPILER_VARIABLE);
        return Some(compiler.unwrap_or_else(|_| String::from("cc")));
    }
    building::is_compiler_name(&name).then_some(name)
}

/// The command of a test that the runner called us to keep.
fn called_as_keeper() -> Option<String> {
    let mut arguments = std::env::args_os();
    let is_keeper = arguments.next().is_some_and(|name| name == crate::suite::keeper::NAME);
    let command = arguments.next().filter(|_| is_keeper)?;
    Some(command.to_string_lossy().into_owned())
}

fn lossless_arguments() -> Vec<String> {
    std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect()
}

fn dispatch(command: &Command) -> anyhow::Result<i32> {
    match command {
        Command::Build(args) => command::build::run(args),
        Command::Run(args) => command::run::run(args),
        Command::Select(args) => command::select::run(args),
        Command::Test(args) => command::test::run(args),
        Command::Demo(args) => command::demo::run(args),
        Command::Cfg(args) => command::cfg::run(args),
        Command::Cc(args) => command::cc::run(args),
    }
}

/// Says what is wrong and what to do, and picks the exit code.
fn report(error: &anyhow::Error) -> i32 {
    eprintln!("edgewise: {error:#}");
    match error.downcast_ref::<StoreError>() {
        Some(StoreError::Version { .. }) => {
            eprintln!(
                "hint: use that version of edgewise, or move .edgewise/history away and `edgewise run` again"
            );
            exit::HISTORY_UNUSABLE
        }
        Some(StoreError::Damaged { .. }) => {
            eprintln!("hint: move .edgewise/history away and `edgewise run` again");
            exit::HISTORY_UNUSABLE
        }
        _ => exit::USER_ERROR,
    }
}
