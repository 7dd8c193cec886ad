//! `edgewise cc`: the drop-in compiler.

use crate::bytes;
use crate::cli::building::is_compiler_name;
use crate::compiler;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Variable that names the real compiler.
pub const COMPILER_VARIABLE: &str = "EDGEWISE_CC";
const DEFAULT_COMPILER: &str = "cc";

/// Compile with probes, in the place of gcc or clang
///
/// Takes the arguments of the real compiler, which is `cc` or what EDGEWISE_CC
/// names. A compiler as the first argument is taken for the real one, so that
/// this also works as a compiler launcher.
#[derive(Debug, clap::Args)]
#[command(
    disable_help_flag = true,
    after_help = "Examples:\n  make CC=\"edgewise cc\"\n  make CC=edgewise-cc\n  cmake -DCMAKE_C_COMPILER_LAUNCHER=edgewise-cc -DCMAKE_C_LINKER_LAUNCHER=edgewise-cc .."
)]
pub struct Args {
    /// Arguments for the compiler
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    run_words(&args.arguments)
}

/// The same with the words as they are.
pub fn run_words(words: &[OsString]) -> anyhow::Result<i32> {
    if let Some((first, rest)) = words.split_first()
        && let Some(name) = compiler_name(first)
    {
        return compiler::run(&name, rest);
    }
    let name = std::env::var_os(COMPILER_VARIABLE).map(bytes::name);
    compiler::run(name.as_deref().unwrap_or(DEFAULT_COMPILER), words)
}

fn compiler_name(argument: &OsStr) -> Option<String> {
    let argument = Some(bytes::name(argument)).filter(|argument| !argument.starts_with('-'))?;
    let name = Path::new(&argument).file_name()?.to_str()?;
    is_compiler_name(name).then_some(argument)
}
