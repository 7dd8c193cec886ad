//! `edgewise select`: which tests, and why.

use crate::bytes;
use crate::cli::choosing::{self, Runner};
use crate::cli::command::explain;
use crate::cli::completing;
use crate::cli::exit;
use crate::cli::explaining::Question;
use crate::cli::git;
use crate::cli::printer::{self, Stream};
use crate::cli::selecting;
use crate::cli::snapshot::Source;
use crate::cli::versions;
use crate::cli::word;
use crate::cli::workspace::Workspace;
use crate::report::{Report, github, json, markdown, order, runners, text};
use crate::select::Algorithm;
use std::time::Duration;

/// Say which tests a change can affect, and why
///
/// Compares the sources as they are now with the version that the history was
/// recorded on. Nothing is built or run. Names go to stdout, reasons to stderr.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  edgewise select
  edgewise select --explain parser/empty
  edgewise select --format json | jq -r '.selected[].name'
  edgewise select --format ctest-file >list && ctest --test-dir build --tests-from-file \"$PWD/list\"
  ctest --test-dir build -R \"$(edgewise select --format ctest-regex)\"
  edgewise select --format meson | xargs -r meson test -C build
  edgewise select --format automake | xargs -r -L1 make
  matrix=$(edgewise select --format github --split 8) && echo \"matrix=$matrix\" >>\"$GITHUB_OUTPUT\"
  edgewise select --format markdown >>\"$GITHUB_STEP_SUMMARY\"
  edgewise select --format annotations
  edgewise select --budget 60s | edgewise run --names -

A format for a runner holds the tests of its kind of suite. Selected tests of other suites are named on \
stderr, and the exit code is 4.

With `github`, the job that uses the matrix needs a condition, since GitHub takes an empty matrix for an error:
  if: needs.select.outputs.matrix != '{\"include\":[]}'")]
pub struct Args {
    /// What to print
    #[arg(long, value_enum, default_value = "names")]
    format: Format,
    /// Compare with the programs as they are built, instead of the sources
    #[arg(long)]
    from_build: bool,
    /// Compare with this version of the history, as `edgewise history log` names it. The
    /// default is the one that is most like what is there
    #[arg(long, value_name = "ID", add = completing::versions())]
    against: Option<String>,
    /// How to select; all but the default are for comparison
    #[arg(long, value_enum, default_value = "auto")]
    algorithm: Algorithm,
    /// Say why a test is selected or may be skipped, instead of the selection
    #[arg(long, value_name = "TEST", value_parser = word(), add = completing::tests())]
    explain: Vec<String>,
    /// Print only tests of this suite
    #[arg(long, value_name = "NAME", value_parser = word(), add = completing::suites())]
    suite: Option<String>,
    /// Put those first that cross the most dangerous edges per second of run time
    #[arg(long)]
    order: bool,
    /// Print only as many as this time is enough for, in that order. What is cut may
    /// fail: the result is not safe, and the exit code 4
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
    /// With --format github: cut the matrix into at most N jobs of about the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    split: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// One name a line, with the reasons on stderr
    Names,
    /// Everything, for programs
    Json,
    /// A summary for a pull request, or for $GITHUB_STEP_SUMMARY
    Markdown,
    /// A file for `ctest --tests-from-file`, which CMake has since 3.29
    CtestFile,
    /// An expression for `ctest -R` that matches the selected tests and no others
    CtestRegex,
    /// Arguments for `meson test`, one a line, quoted for xargs
    Meson,
    /// Arguments for make, with TESTS=, a line for each Makefile, quoted for xargs
    Automake,
    /// A matrix for GitHub Actions: `tests` of each job are names for `edgewise run --names`
    Github,
    /// Annotations of GitHub Actions: the lines that changed, with the tests behind each. What
    /// matters most comes first, since GitHub shows ten of a kind
    Annotations,
}

impl Format {
    fn runner(self) -> Option<Runner> {
        match self {
            Self::Names | Self::Json | Self::Markdown | Self::Github | Self::Annotations => None,
            Self::CtestFile => Some(Runner::CtestFile),
            Self::CtestRegex => Some(Runner::CtestExpression),
            Self::Meson => Some(Runner::Meson),
            Self::Automake => Some(Runner::Automake),
        }
    }
}

/// `60`, `60s`, `1m30s`, `500ms`.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || String::from("it has to be like 60s, 90, 1m30s, 2h or 500ms");
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, behind) = rest.split_at(digits);
        let letters = behind.find(|c: char| c.is_ascii_digit()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(letters);
        let number: u64 = number.parse().map_err(|_| wrong())?;
        let milliseconds = match unit {
            "ms" => 1,
            "" | "s" => 1000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return Err(wrong()),
        };
        let part = number.checked_mul(milliseconds).map(Duration::from_millis);
        total = part.and_then(|part| total.checked_add(part)).ok_or_else(wrong)?;
        rest = behind;
    }
    if text.is_empty() { Err(wrong()) } else { Ok(total) }
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let workspace = Workspace::open()?;
    let source = if args.from_build { Source::Build } else { Source::Sources };
    if !args.explain.is_empty() {
        let question = Question {
            what: &args.explain,
            source,
            against: args.against.as_deref(),
            algorithm: args.algorithm,
            only_tests: true,
        };
        let is_json = args.format == Format::Json;
        let format = if is_json { explain::Format::Json } else { explain::Format::Text };
        return explain::answer(&workspace, &question, format);
    }
    let mut project = selecting::Project::look_at(&workspace, source)?;
    project.wants_unreached = matches!(args.format, Format::Markdown | Format::Annotations);
    let against = args.against.as_deref();
    let (history, said) = versions::choose(&workspace, source, &project.files, against)?;
    let mut tests = workspace.tests(&history)?;
    tests.retain(|test| test.disabled.is_none());
    let mut selected = selecting::select(&workspace, &history, &tests, project, args.algorithm)?;
    selected.report.hints.extend(said);
    let report = &mut selected.report;
    if let Some(suite) = &args.suite {
        choosing::keep_suite(&workspace.config, report, suite)?;
    }
    // What --suite leaves out was asked for.
    let left_out = report.left_out.len();
    if args.order || args.budget.is_some() {
        order::by_danger(report);
    }
    if let Some(budget) = args.budget {
        order::cut(report, budget);
    }
    match args.format.runner() {
        Some(runner) => {
            let text = choosing::for_runner(&workspace.config, &tests, report, runner)?;
            printer::tell(&text::summary(report));
            printer::names(&text);
        }
        None => print(&workspace, report, args),
    }
    let is_complete = report.left_out.len() == left_out && report.cut.is_empty();
    Ok(if is_complete { exit::OK } else { exit::INCOMPLETE })
}

fn print(workspace: &Workspace, report: &Report, args: &Args) {
    match args.format {
        Format::Json => printer::data(&format!("{:#}\n", json::selection(report))),
        Format::Markdown => {
            printer::tell(&text::summary(report));
            printer::data(&markdown::selection(report));
        }
        Format::Annotations => {
            printer::tell(&text::summary(report));
            let folder = git::folder(&workspace.project.root);
            printer::data(&github::selection(report, &folder));
        }
        Format::Github => {
            printer::tell(&text::summary(report));
            let text = runners::github(&order::parts(report, usize::from(args.split)));
            if text.len() > runners::GITHUB_MAX {
                printer::tell("warning: GitHub takes no output of more than a megabyte\n");
            }
            printer::data(&text);
        }
        // On a terminal the two streams make one text; otherwise each is
        // complete by itself.
        _ if Stream::Out.is_terminal() => {
            let style = Stream::Out.style();
            for group in text::groups(report) {
                let one_line = |name: &str| bytes::shown(&text::one_line(name)).into_owned();
                let names = group.names.iter().map(|name| style.name(&one_line(name)) + "\n");
                printer::data(&names.collect::<String>());
                printer::tell(&format!("{}\n", group.reasons));
            }
            printer::tell(&text::summary(report));
        }
        // Names that somebody else reads have no colours, whatever --color says.
        _ => {
            printer::tell(&text::selection(report, Stream::Err.style()));
            let names = report.selected.iter().map(|(name, _)| text::one_line(name) + "\n");
            printer::names(&names.collect::<String>());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let of = |text: &str| duration(text).ok().map(|time| time.as_millis());
        let known =
            [("60s", 60_000), ("90", 90_000), ("1m30s", 90_000), ("500ms", 500), ("2h", 7_200_000)];
        for (text, milliseconds) in known {
            assert_eq!(of(text), Some(milliseconds), "{text}");
        }
        for wrong in ["", "s", "1x", "-1s", "1 s", "99999999999999999999s"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
