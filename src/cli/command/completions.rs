//! `edgewise completions`: what a shell needs to complete our words.

use crate::cli::completing::VARIABLE;
use crate::cli::{exit, printer};
use anyhow::Context;
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Zsh};

const NAME: &str = "edgewise";

/// Print a script that makes a shell complete commands, options and names of tests
///
/// The script asks edgewise itself at each Tab, so it stays right with later versions and knows
/// the tests of the project that you are in.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bash        eval \"$(edgewise completions bash)\"                             in ~/.bashrc
  zsh         eval \"$(edgewise completions zsh)\"                              in ~/.zshrc, behind compinit
  fish        edgewise completions fish >~/.config/fish/completions/edgewise.fish
  elvish      eval (edgewise completions elvish | slurp)                      in ~/.config/elvish/rc.elv
  powershell  edgewise completions powershell | Out-String | Invoke-Expression   in $PROFILE")]
pub struct Args {
    shell: Shell,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
    Elvish,
    Powershell,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let completer: &dyn EnvCompleter = match args.shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
        Shell::Elvish => &Elvish,
        Shell::Powershell => &Powershell,
    };
    let mut script = Vec::new();
    completer
        .write_registration(VARIABLE, NAME, NAME, NAME, &mut script)
        .context("cannot write the script")?;
    let script = String::from_utf8(script).context("cannot write the script")?;
    printer::data(&format!("{}\n", script.trim()));
    Ok(exit::OK)
}
