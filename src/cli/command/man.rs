//! `edgewise man`: pages for `man`, one for each command.

use crate::cli::{Arguments, exit, printer};
use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Write the manual pages: one for edgewise, and one for each command
///
/// Without a directory, the page of edgewise itself goes to stdout.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  edgewise man --out ~/.local/share/man/man1 && man edgewise-select
  edgewise man | man -l -")]
pub struct Args {
    /// The directory to write the pages to
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let mut command = Arguments::command().disable_help_subcommand(true);
    // Names of subcommands hold those of their commands from here on.
    command.build();
    let Some(directory) = &args.out else {
        printer::data(&page(&command)?);
        return Ok(exit::OK);
    };
    fs_err::create_dir_all(directory)?;
    write(&command, directory)?;
    Ok(exit::OK)
}

/// Writes the page of a command and those of its subcommands.
fn write(command: &Command, directory: &Path) -> anyhow::Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let path = directory.join(format!("{name}.1"));
    fs_err::write(&path, page(command)?)?;
    printer::data(&format!("{}\n", path.display()));
    command.get_subcommands().try_for_each(|subcommand| write(subcommand, directory))
}

fn page(command: &Command) -> anyhow::Result<String> {
    let man = Man::new(command.clone());
    let mut out = Vec::new();
    man.render_title(&mut out)
        .and_then(|()| man.render_name_section(&mut out))
        .and_then(|()| man.render_synopsis_section(&mut out))
        .and_then(|()| man.render_description_section(&mut out))
        .and_then(|()| man.render_options_section(&mut out))
        .context("cannot write the page")?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut out).context("cannot write the page")?;
    }
    let mut out = String::from_utf8(out).context("cannot write the page")?;
    if let Some(more) = command.get_after_help() {
        out.push_str(&sections(&more.to_string()));
    }
    Ok(out)
}

/// What stands behind the options in `--help`, as sections: a line that ends with a colon and has
/// lines further in behind it is a heading, and these lines stay as they are.
fn sections(text: &str) -> String {
    let mut out = String::new();
    let lines: Vec<&str> = text.lines().collect();
    let mut is_literal = false;
    for (number, line) in lines.iter().enumerate() {
        let is_indented = line.starts_with("  ");
        if is_literal != is_indented {
            out.push_str(if is_indented { ".RS 4\n.nf\n" } else { ".fi\n.RE\n" });
            is_literal = is_indented;
        }
        let opens = lines.get(number + 1).is_some_and(|next| next.starts_with("  "));
        match line.strip_suffix(':') {
            Some(heading) if opens && heading.len() < 20 => {
                let _ = writeln!(out, ".SH \"{}\"", escaped(&heading.to_uppercase()));
            }
            _ if line.is_empty() => out.push_str(".PP\n"),
            _ => {
                let _ = writeln!(out, "{}", escaped(line.strip_prefix("  ").unwrap_or(line)));
            }
        }
    }
    if is_literal {
        out.push_str(".fi\n.RE\n");
    }
    out
}

/// Text that roff takes for nothing else.
fn escaped(line: &str) -> String {
    let text =
        line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq").replace('`', "\\(ga");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}
