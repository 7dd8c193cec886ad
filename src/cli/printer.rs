//! The one place that writes to stdout and stderr: stdout is data, or a text that was
//! asked for; stderr is for people. Whether there are colours is decided here, and how
//! wide lines are.

use super::exit;
use crate::bytes;
use crate::report::style::{Style, visible};
use crate::report::wrap::wrap;
use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

/// What `--color` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

static COLOR: OnceLock<Color> = OnceLock::new();

/// Says once, at the start, what was asked for.
pub fn choose(color: Color) {
    let _ = COLOR.set(color);
}

impl Color {
    /// What was asked for.
    pub fn chosen() -> Self {
        COLOR.get().copied().unwrap_or_default()
    }

    /// As an argument of this program.
    pub fn argument(self) -> &'static str {
        match self {
            Self::Auto => "--color=auto",
            Self::Always => "--color=always",
            Self::Never => "--color=never",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Out,
    Err,
}

impl Stream {
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Out => std::io::stdout().is_terminal(),
            Self::Err => std::io::stderr().is_terminal(),
        }
    }

    pub fn style(self) -> Style {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is = |name: &str, value: &str| std::env::var_os(name).is_some_and(|v| v == value);
        let color = match Color::chosen() {
            Color::Always => true,
            Color::Never => false,
            Color::Auto if is_set("NO_COLOR") => false,
            Color::Auto if is_set("CLICOLOR_FORCE") && !is("CLICOLOR_FORCE", "0") => true,
            Color::Auto => self.is_terminal() && !is("TERM", "dumb") && !is("CLICOLOR", "0"),
        };
        Style { color }
    }

    /// Columns of the terminal, if it is one.
    pub fn columns(self) -> Option<usize> {
        if !self.is_terminal() {
            return None;
        }
        let descriptor = match self {
            Self::Out => libc::STDOUT_FILENO,
            Self::Err => libc::STDERR_FILENO,
        };
        // SAFETY: all zeroes is a valid value of this plain structure, and the call
        // only writes to it.
        let columns = unsafe {
            let mut size: libc::winsize = std::mem::zeroed();
            libc::ioctl(descriptor, libc::TIOCGWINSZ, &raw mut size);
            usize::from(size.ws_col)
        };
        let said = || std::env::var("COLUMNS").ok()?.parse().ok();
        Some(if columns > 0 { columns } else { said().unwrap_or(80) })
    }

    fn dressed(self, text: &str) -> String {
        let text = self.style().lines(&visible(text));
        match self.columns() {
            Some(columns) => wrap(&text, columns),
            None => text,
        }
    }
}

/// Data on stdout, as it is.
pub fn data(text: &str) {
    bytes_of(text.as_bytes());
}

fn bytes_of(data: &[u8]) {
    let mut out = std::io::stdout().lock();
    if let Err(error) = out.write_all(data).and_then(|()| out.flush()) {
        // Whoever reads a part of a list would take it for all of it.
        tell(&format!("edgewise: cannot write the output: {error}\n"));
        std::process::exit(exit::USER_ERROR);
    }
}

/// Names for other programs on stdout, with the bytes that they have.
pub fn names(text: &str) {
    bytes_of(&bytes::of_text(text));
}

/// A text for people on stdout, where it was asked for.
pub fn show(text: &str) {
    data(&Stream::Out.dressed(text));
}

/// What somebody else printed, on stderr: its lines stay as they are.
pub fn quote(text: &str) {
    let _ = std::io::stderr().write_all(visible(text).as_bytes());
}

/// A text for people on stderr.
pub fn tell(text: &str) {
    // Where nobody can be told, there is nobody to tell.
    let _ = std::io::stderr().write_all(Stream::Err.dressed(text).as_bytes());
}
