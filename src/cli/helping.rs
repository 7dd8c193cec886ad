//! Help on narrow terminals: clap breaks lines of examples anywhere, and what continues
//! one would look like another.

use super::printer::Stream;
use crate::report::wrap::wrap;

/// Wider than this, clap breaks lines as well.
const WIDEST: usize = 100;

/// A command whose examples fit into the terminal, if there is one.
pub fn fitted(command: clap::Command) -> clap::Command {
    match Stream::Out.columns() {
        Some(columns) => fit(command, columns.min(WIDEST)),
        None => command,
    }
}

fn fit(command: clap::Command, columns: usize) -> clap::Command {
    let command = match command.get_after_help().map(ToString::to_string) {
        Some(text) => command.after_help(wrap(&text, columns)),
        None => command,
    };
    command.mut_subcommands(|command| fit(command, columns))
}
