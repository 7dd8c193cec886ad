//! What can stand where a shell asks for a completion. Whatever goes wrong here gives no
//! completions, and says nothing: somebody is typing.

use super::workspace::Workspace;
use super::{Arguments, versions};
use crate::report::time;
use crate::suite::definition::Suite;
use clap::CommandFactory;
use clap_complete::env::CompleteEnv;
use clap_complete::{ArgValueCompleter, CompletionCandidate};
use std::ffi::OsStr;

/// The variable by which the scripts of shells ask.
pub const VARIABLE: &str = "EDGEWISE_COMPLETE";

/// So many tests are offered; a shell shows no more anyway.
const MOST: usize = 1000;

/// Answers a shell, if it was one that called, and then does not come back.
pub fn answer_shell() {
    if std::env::var_os(VARIABLE).is_some() {
        CompleteEnv::with_factory(Arguments::command).var(VARIABLE).complete();
    }
}

/// Names of tests that the history knows.
pub fn tests() -> ArgValueCompleter {
    ArgValueCompleter::new(|begun: &OsStr| {
        let names = Workspace::open_without_suites().and_then(|workspace| {
            let history = workspace.history()?;
            Ok(history.tests().map(|(name, _)| name.to_string()).collect::<Vec<_>>())
        });
        candidates(begun, names.unwrap_or_default().into_iter().map(CompletionCandidate::new))
    })
}

/// Versions as `edgewise history log` names them.
pub fn versions() -> ArgValueCompleter {
    ArgValueCompleter::new(|begun: &OsStr| {
        let snapshots = Workspace::open_without_suites()
            .and_then(|workspace| Ok(workspace.history()?.snapshots()?))
            .unwrap_or_default();
        let named = snapshots.into_iter().map(|snapshot| {
            CompletionCandidate::new(versions::short(snapshot.id))
                .help(Some(time::of_day(snapshot.seconds).into()))
        });
        candidates(begun, named)
    })
}

/// Suites of the configuration.
pub fn suites() -> ArgValueCompleter {
    ArgValueCompleter::new(|begun: &OsStr| {
        let names = Workspace::open().map(|workspace| {
            workspace.config.suites().iter().map(Suite::full_name).collect::<Vec<_>>()
        });
        candidates(begun, names.unwrap_or_default().into_iter().map(CompletionCandidate::new))
    })
}

/// Those that begin like what is there. What a shell would not take as one plain word
/// is not offered: it would be put into the command as it is.
fn candidates(
    begun: &OsStr,
    all: impl Iterator<Item = CompletionCandidate>,
) -> Vec<CompletionCandidate> {
    let begun = begun.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "_-./+:,@%=".contains(c);
    let fits = |candidate: &CompletionCandidate| {
        let value = candidate.get_value().to_string_lossy();
        value.starts_with(&*begun) && value.chars().all(is_plain)
    };
    all.filter(fits).take(MOST).collect()
}
