//! `edgewise gaps`: changed code that no test reaches.

use crate::cfg::format::Graph;
use crate::cli::exit;
use crate::cli::files::Files;
use crate::cli::reached::{Procedure, Reached};
use crate::cli::versions;
use crate::cli::workspace::Workspace;
use crate::history::store::StoreError;
use crate::ids::{EdgeId, Fingerprint};
use crate::report;
use crate::select::gaps::{self, Gap};
use anyhow::bail;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Say which code is new or changed, and reached by no test
///
/// Compares the last version that was tested with an earlier one. Code of programs that
/// no test runs is not known.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  edgewise test; edgewise gaps\n  edgewise gaps --against 1f4e9a3c --format github"
)]
pub struct Args {
    /// The version that the code is new against, as `edgewise history log` names it; the
    /// default is the one before the last
    #[arg(long, value_name = "ID")]
    against: Option<String>,
    /// What to print
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs
    Json,
    /// Annotations of GitHub Actions
    Github,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let workspace = Workspace::open_without_suites()?;
    let history = workspace.history()?;
    let all = history.snapshots()?;
    let base = match &args.against {
        Some(id) => versions::find(&history, id)?,
        None => match all.get(1) {
            Some(snapshot) => snapshot.clone(),
            None => bail!(
                "the history has no earlier version to compare with\nhint: `edgewise test` after a change adds one"
            ),
        },
    };
    if base.is_current {
        bail!("that is the last version itself\nhint: `edgewise history log` lists them");
    }
    let files = Files::scan(&workspace)?;
    let then = history.common_files()?;
    let earlier = workspace.history()?.go_to(base.id)?;
    let before = Reached::new(&earlier, |_| true)?;
    let now = Reached::new(&history, |_| true)?;
    let indexes = || before.units().flat_map(|unit| &unit.index.procedures);
    let same: FxHashSet<Fingerprint> = indexes().map(|index| index.fingerprint).collect();
    // By file and name: that is how a procedure is found again.
    let mut known: FxHashMap<(String, String), Vec<Graph>> = FxHashMap::default();
    let mut changed: FxHashSet<&str> = FxHashSet::default();
    for unit in now.units() {
        let procedures = unit.index.procedures.iter();
        changed
            .extend(procedures.filter(|p| !same.contains(&p.fingerprint)).map(|p| p.name.as_str()));
    }
    before.each::<StoreError>(
        |_, index| changed.contains(index.name.as_str()),
        |procedure| {
            known.entry(name(procedure)).or_default().push(procedure.graph.clone());
            Ok(())
        },
    )?;
    let mut open: BTreeSet<Gap> = BTreeSet::new();
    // What is in several units, an inline function say, is reached in one of them.
    let mut reached: FxHashSet<(String, u32, String, Option<String>)> = FxHashSet::default();
    let mut stale = BTreeSet::new();
    now.each::<StoreError>(
        |_, index| !same.contains(&index.fingerprint),
        |procedure| {
            let name = name(procedure);
            if then.get(&name.0) != files.now.get(&name.0) {
                stale.insert(name.0.clone());
            }
            let earlier: Vec<&Graph> = known.get(&name).into_iter().flatten().collect();
            let taken = |edge: EdgeId| procedure.tests_on_edge(edge).any();
            for place in gaps::places(procedure.unit, procedure.place, &earlier, &taken) {
                if place.is_reached {
                    reached.insert(key(&place.gap));
                } else {
                    open.insert(place.gap);
                }
            }
            Ok(())
        },
    )?;
    let is_reached = |gap: &Gap| reached.contains(&key(gap));
    let gaps: Vec<Gap> = open.into_iter().filter(|gap| !is_reached(gap)).collect();
    match args.format {
        Format::Text => print!("{}", report::gaps::text(&gaps)),
        Format::Github => print!("{}", report::gaps::github(&gaps)),
        Format::Json => {
            let value = serde_json::json!({
                "version": 1,
                "against": base.id.hex(),
                "of": history.id().hex(),
                "gaps": gaps,
            });
            println!("{value:#}");
        }
    }
    if let Some(file) = stale.first() {
        eprintln!(
            "hint: {file} changed since then; `edgewise test` first, to see what is there now"
        );
    }
    Ok(exit::OK)
}

fn name(procedure: &Procedure<'_>) -> (String, String) {
    (procedure.file(procedure.index.place).to_string(), procedure.index.name.clone())
}

/// What makes two gaps the same, whichever unit they are in.
fn key(gap: &Gap) -> (String, u32, String, Option<String>) {
    (gap.file.clone(), gap.line, gap.text.clone(), gap.never.clone())
}
