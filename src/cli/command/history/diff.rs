//! `edgewise history diff`: whether two histories say the same.

use crate::cfg::format::RawRecord;
use crate::cli::exit;
use crate::cli::printer::{self, Stream};
use crate::cli::workspace::Workspace;
use crate::history::History;
use crate::history::diff::{Verdict, diff};
use crate::ids::Fingerprint;
use crate::report::text::{counted, one_line};
use anyhow::ensure;
use std::path::PathBuf;

/// How many procedures are named for a test.
const NAMED: usize = 5;

/// Compare the history with another one, test by test
///
/// For instance what `edgewise test` has kept up to date with what `edgewise run` records. Of
/// rows that were carried over inexactly, it is asked that they hold all of the others. The exit
/// code is 6 if a test differs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  edgewise history diff /tmp/history-of-a-full-run")]
pub struct Args {
    /// The other history
    #[arg(value_name = "FILE")]
    other: PathBuf,
    /// Print it for programs
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let here = Workspace::open_without_suites()?.history()?;
    ensure!(args.other.exists(), "there is no history `{}`", args.other.display());
    let there = History::open(&args.other)?;
    let difference = diff(&here, &there)?;
    let count = |verdict: Verdict| difference.verdicts.values().filter(|v| **v == verdict).count();
    let of = |verdict: Verdict| {
        let named = difference.verdicts.iter().filter(move |(_, known)| **known == verdict);
        named.map(|(name, _)| name.as_str())
    };
    let inexact = here.tests().filter(|(_, test)| test.inexact).count();
    let is_same = count(Verdict::Different) == 0
        && count(Verdict::OtherVersion) == 0
        && difference.only_here.is_empty()
        && difference.only_there.is_empty();
    let style = Stream::Out.style();
    let say = |test: &str, what: &str| {
        printer::show(&format!("{}: {what}\n", style.name(&one_line(test))));
    };
    if args.json {
        let value = serde_json::json!({
            "version": 1,
            "equal": count(Verdict::Equal),
            "contained": count(Verdict::Contained),
            "not_clean": of(Verdict::NotClean).collect::<Vec<_>>(),
            "other_version": of(Verdict::OtherVersion).collect::<Vec<_>>(),
            "different": of(Verdict::Different).collect::<Vec<_>>(),
            "only_here": difference.only_here,
            "only_there": difference.only_there,
            "inexact": inexact,
        });
        printer::data(&format!("{value:#}\n"));
    } else {
        for (name, places) in &difference.places {
            let shown = places
                .iter()
                .take(NAMED)
                .map(|(unit, procedure)| name_of(&here, &there, *unit, *procedure));
            let more = if places.len() > NAMED { ", …" } else { "" };
            say(name, &format!("other edges in {}{more}", shown.collect::<Vec<_>>().join(", ")));
        }
        of(Verdict::OtherVersion).for_each(|name| say(name, "other versions of programs"));
        difference.only_here.iter().for_each(|name| say(name, "only here"));
        difference.only_there.iter().for_each(|name| say(name, "only there"));
        printer::show(&format!(
            "{} with the same rows, {} with rows that hold too much, {} without rows, {} not the same\n",
            counted(count(Verdict::Equal), "test"),
            count(Verdict::Contained),
            count(Verdict::NotClean),
            count(Verdict::Different) + count(Verdict::OtherVersion),
        ));
    }
    Ok(if is_same { exit::OK } else { exit::DIFFERENT })
}

fn name_of(here: &History, there: &History, unit: Fingerprint, procedure: u32) -> String {
    let record = here.unit(unit).or_else(|_| there.unit(unit)).ok();
    let index = record.and_then(|bytes| RawRecord::new(bytes).ok()?.index().ok());
    let known =
        index.and_then(|index| Some(index.procedures.get(procedure as usize)?.name.clone()));
    known.unwrap_or_else(|| String::from("a procedure that cannot be read"))
}
