//! Text for people on stdout. Whether it has colours is decided here.

use crate::report::style::{Style, visible};
use std::io::IsTerminal;

/// Prints a text that was asked for, coloured on a terminal unless `NO_COLOR` is set.
pub fn show(text: &str) {
    let is_asked_not_to = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let style = Style { color: std::io::stdout().is_terminal() && !is_asked_not_to };
    print!("{}", style.lines(&visible(text)));
}
