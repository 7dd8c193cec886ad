//! The command line: arguments, configuration, and one file per command.

mod build_state;
pub mod building;
mod cache;
mod calls;
mod choosing;
pub mod command;
mod completing;
mod concerned;
pub mod config;
mod contents;
mod detecting;
mod examining;
mod excluding;
pub mod exit;
mod explaining;
pub mod files;
mod from_before;
mod gathering;
mod git;
mod helping;
mod interrupt;
mod listed;
mod lookups;
mod made_of;
mod matrix;
mod naming;
mod new_code;
mod outside;
mod printer;
mod progress;
mod reached;
mod recording;
mod reporting;
mod roles;
mod scratch;
mod selecting;
mod shadowing;
mod snapshot;
mod sources;
mod stale;
mod suites;
mod summary;
mod taken_up;
mod under_way;
mod unprobed;
mod uses;
mod versions;
mod workspace;

use crate::bytes;
use crate::compiler::ld::is_linker_name;
use crate::history::store::StoreError;
use clap::{CommandFactory, FromArgMatches, Parser};
use std::ffi::OsString;
use std::path::Path;

/// Our name as a compiler, where a build takes no second word.
const COMPILER_PROGRAM: &str = "edgewise-cc";

/// Safe regression test selection for C
///
/// Instruments a C project once, records which control-flow edges every test
/// takes, and then says at each change which tests can behave differently.
#[derive(Debug, Parser)]
#[command(name = "edgewise", bin_name = "edgewise", max_term_width = 100, version, after_help = exit::HELP)]
struct Arguments {
    /// Whether to colour text; by itself it does so on a terminal, unless NO_COLOR is set, and
    /// elsewhere if CLICOLOR_FORCE is
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "auto",
        value_name = "WHEN",
        help_heading = "Global options"
    )]
    color: printer::Color,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Init(command::init::Args),
    Build(command::build::Args),
    Run(command::run::Args),
    Select(command::select::Args),
    Test(command::test::Args),
    Explain(command::explain::Args),
    Gaps(command::gaps::Args),
    Report(command::report::Args),
    Demo(command::demo::Args),
    Doctor(command::doctor::Args),
    History(command::history::Args),
    Cfg(command::cfg::Args),
    Instrument(command::instrument::Args),
    Trace(command::trace::Args),
    Cc(command::cc::Args),
    Completions(command::completions::Args),
    Man(command::man::Args),
}

/// Runs the command line and returns the exit code.
pub fn main() -> i32 {
    // A reader that has seen enough ends us quietly, as it does other tools.
    // SAFETY: restores what a process starts with.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    // Where a caller ignores this one, nobody would learn how a test ended.
    // SAFETY: as above.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    if let Some((to_say, program, arguments)) = called_as_keeper() {
        let kept = crate::suite::keeper::keep(to_say, &program, &arguments);
        return kept.unwrap_or_else(|error| report(&error));
    }
    let result = match called_as_tool() {
        Some(result) => result,
        None => {
            completing::answer_shell();
            dispatch(&parsed().command)
        }
    };
    result.unwrap_or_else(|error| report(&error))
}

/// A word of the command line that is a name or a part of a command: it may be any bytes. What
/// stands for bytes in our own output does so here.
fn word() -> impl clap::builder::TypedValueParser<Value = String> {
    use clap::builder::TypedValueParser;
    clap::builder::OsStringValueParser::new()
        .map(|word| word.into_string().unwrap_or_else(bytes::name))
}

/// The arguments. What `--color` says counts for their own help and errors too.
fn parsed() -> Arguments {
    let words: Vec<OsString> = std::env::args_os().collect();
    let color = match asked_color(&words) {
        Some("always") => clap::ColorChoice::Always,
        Some("never") => clap::ColorChoice::Never,
        _ => clap::ColorChoice::Auto,
    };
    let command = helping::fitted(Arguments::command()).color(color);
    let matches = command.get_matches_from(words);
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    printer::choose(arguments.color);
    arguments
}

fn asked_color(words: &[OsString]) -> Option<&str> {
    let mut ours = words.iter().map_while(|word| word.to_str()).take_while(|word| *word != "--");
    while let Some(word) = ours.next() {
        match word.strip_prefix("--color") {
            Some("") => return ours.next(),
            Some(rest) if rest.starts_with('=') => return Some(&rest[1..]),
            _ => {}
        }
    }
    None
}

/// Does what a build wants, if it called us by the name of a compiler or of a
/// linker. The words are passed on as they are.
fn called_as_tool() -> Option<anyhow::Result<i32>> {
    let mut words = std::env::args_os();
    let name = words.next()?;
    let name = Path::new(&name).file_name()?.to_str()?;
    let words: Vec<OsString> = words.collect();
    match words.split_first() {
        _ if name == COMPILER_PROGRAM => Some(command::cc::run_words(&words)),
        _ if building::is_compiler_name(name) => Some(crate::compiler::run(name, &words)),
        _ if is_linker_name(name) => Some(crate::compiler::ld::run(name, &words)),
        Some((first, rest)) if first == "cc" => Some(command::cc::run_words(rest)),
        _ => None,
    }
}

/// The command of a test that the runner called us to keep, behind the
/// descriptor that the end of it is told to.
fn called_as_keeper() -> Option<(i32, OsString, Vec<OsString>)> {
    let mut arguments = std::env::args_os();
    arguments.next().filter(|name| name == crate::suite::keeper::NAME)?;
    let report = arguments.next()?.to_str()?.parse().ok()?;
    Some((report, arguments.next()?, arguments.collect()))
}

fn dispatch(command: &Command) -> anyhow::Result<i32> {
    match command {
        Command::Init(args) => command::init::run(args),
        Command::Build(args) => command::build::run(args),
        Command::Run(args) => command::run::run(args),
        Command::Select(args) => command::select::run(args),
        Command::Explain(args) => command::explain::run(args),
        Command::Gaps(args) => command::gaps::run(args),
        Command::Report(args) => command::report::run(args),
        Command::Test(args) => command::test::run(args),
        Command::Demo(args) => command::demo::run(args),
        Command::Doctor(args) => command::doctor::run(args),
        Command::History(args) => command::history::run(args),
        Command::Cfg(args) => command::cfg::run(args),
        Command::Instrument(args) => command::instrument::run(args),
        Command::Trace(args) => command::trace::run(args),
        Command::Cc(args) => command::cc::run(args),
        Command::Completions(args) => command::completions::run(args),
        Command::Man(args) => command::man::run(args),
    }
}

/// What makes up for a history that is lost, if it is the project's own.
fn anew(path: &str) -> Option<&'static str> {
    path.ends_with(".edgewise/history")
        .then_some("move .edgewise/history away and `edgewise run` again")
}

/// Says what is wrong and what to do, and picks the exit code.
fn report(error: &anyhow::Error) -> i32 {
    let style = printer::Stream::Err.style();
    let text = format!("{error:#}");
    printer::tell(&format!("{} {}\n", style.error("edgewise:"), text.trim_end()));
    match error.downcast_ref::<StoreError>() {
        Some(StoreError::Version { path, .. }) => {
            let otherwise = anew(path).map(|anew| format!(", or {anew}")).unwrap_or_default();
            printer::tell(&format!("hint: use that version of edgewise{otherwise}\n"));
            exit::HISTORY_UNUSABLE
        }
        Some(StoreError::Damaged { path, .. }) => {
            if let Some(anew) = anew(path) {
                printer::tell(&format!("hint: {anew}\n"));
            }
            exit::HISTORY_UNUSABLE
        }
        _ => exit::USER_ERROR,
    }
}
