//! `edgewise gaps`: changed code that no test reaches.

use crate::cli::completing;
use crate::cli::exit;
use crate::cli::files::Files;
use crate::cli::git;
use crate::cli::new_code::{self, NewCode};
use crate::cli::printer::{self, Stream};
use crate::cli::versions;
use crate::cli::workspace::Workspace;
use crate::report;
use crate::report::text::one_line;
use crate::select::gaps::Gap;
use anyhow::bail;

/// Say which code is new or changed, and reached by no test
///
/// Compares the last version that was tested with an earlier one. Code of programs that
/// no test runs is not known.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  edgewise test; edgewise gaps\n  edgewise gaps --against 1f4e9a3c --format github\n  edgewise gaps --format sarif >gaps.sarif"
)]
pub struct Args {
    /// The version that the code is new against, as `edgewise history log` names it; the
    /// default is the one before the last
    #[arg(long, value_name = "ID", add = completing::versions())]
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
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let workspace = Workspace::open_without_suites()?;
    let history = workspace.history()?;
    let all = history.snapshots()?;
    let base = match &args.against {
        Some(id) => versions::find(&history, id)?,
        None => match all.get(1) {
            Some(snapshot) => snapshot.clone(),
            None if history.is_empty() => {
                bail!("there is no history yet\nhint: `edgewise run` records one")
            }
            None => bail!(
                "the history has no earlier version to compare with\nhint: `edgewise test` after a change adds one"
            ),
        },
    };
    if base.is_current {
        bail!("that is the last version itself\nhint: `edgewise history log` lists them");
    }
    let files = Files::scan(&workspace)?;
    let earlier = workspace.history()?.go_to(base.id)?;
    let NewCode { gaps, stale, .. } =
        new_code::find(&workspace.project.root, &earlier, &history, &files.now)?;
    let gaps_are_none = gaps.is_empty();
    match args.format {
        Format::Text => printer::show(&report::gaps::text(&gaps, &stale, Stream::Out.style())),
        Format::Github => printer::data(&report::gaps::github(&in_repository(gaps, &workspace))),
        Format::Sarif => {
            let value = report::gaps::sarif(&in_repository(gaps, &workspace));
            printer::data(&format!("{value:#}\n"));
        }
        Format::Json => {
            let value = serde_json::json!({
                "version": 1,
                "against": base.id.hex(),
                "of": history.id().hex(),
                "gaps": gaps,
                "not_known_yet": stale,
                "tests_not_known": history.without_rows(),
            });
            printer::data(&format!("{value:#}\n"));
        }
    }
    let unknown = history.without_rows();
    if let Some(first) = unknown.first().filter(|_| !gaps_are_none) {
        let first = one_line(first);
        printer::tell(&match unknown.len() {
            1 => format!("hint: {first} did not pass, and what it reaches is not known\n"),
            count => format!(
                "hint: {count} tests did not pass, and what they reach is not known: {first} and others\n"
            ),
        });
    }
    if !stale.is_empty() {
        printer::tell(
            "hint: sources changed since the tests ran; `edgewise test` first, to see what is there now\n",
        );
    }
    Ok(exit::OK)
}

/// With files as they are called in the repository, which the project may be a part of.
fn in_repository(mut gaps: Vec<Gap>, workspace: &Workspace) -> Vec<Gap> {
    let folder = git::folder(&workspace.project.root);
    for gap in gaps.iter_mut().filter(|gap| !gap.file.starts_with('/')) {
        gap.file.insert_str(0, &folder);
    }
    gaps
}
