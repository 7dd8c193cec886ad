//! `edgewise cc`: the drop-in compiler.

use crate::cli::building::is_compiler_name;
use crate::compiler;
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
    after_help = "Examples:\n  make CC=\"edgewise cc\"\n  cmake -DCMAKE_C_COMPILER_LAUNCHER=\"edgewise;cc\" -DCMAKE_C_LINKER_LAUNCHER=\"edgewise;cc\" .."
)]
pub struct Args {
    /// Arguments for the compiler
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    match args.arguments.split_first() {
        Some((first, rest)) if is_compiler(first) => compiler::run(first, rest),
        _ => {
            let name = std::env::var(COMPILER_VARIABLE);
            compiler::run(name.as_deref().unwrap_or(DEFAULT_COMPILER), &args.arguments)
        }
    }
}

fn is_compiler(argument: &str) -> bool {
    let name = Path::new(argument).file_name().and_then(|name| name.to_str());
    !argument.starts_with('-') && name.is_some_and(is_compiler_name)
}
