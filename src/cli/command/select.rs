//! `edgewise select`: which tests, and why.

use crate::cli::choosing::{self, Runner};
use crate::cli::command::explain;
use crate::cli::exit;
use crate::cli::explaining::Question;
use crate::cli::selecting;
use crate::cli::snapshot::Source;
use crate::cli::versions;
use crate::cli::workspace::Workspace;
use crate::report::{Report, json, order, runners, text};
use crate::select::Algorithm;
use std::io::IsTerminal;
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
  edgewise select --budget 60s | edgewise run --names -

A format for a runner holds the tests of its kind of suite. Selected tests of other suites are named on
stderr, and the exit code is 4. With `github`, the job that uses the matrix needs a condition, since GitHub
takes an empty matrix for an error:
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
    #[arg(long, value_name = "ID")]
    against: Option<String>,
    /// How to select; all but the default are for comparison
    #[arg(long, value_enum, default_value = "auto")]
    algorithm: Algorithm,
    /// Say why a test is selected or may be skipped, instead of the selection
    #[arg(long, value_name = "TEST")]
    explain: Vec<String>,
    /// Print only tests of this suite
    #[arg(long, value_name = "NAME")]
    suite: Option<String>,
    /// Put those first that cross the most dangerous edges per second of run time
    #[arg(long)]
    order: bool,
    /// Print only as many as this time is enough for, in that order. What is cut may
    /// fail: the result is not safe, and the exit code 4
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
    /// Cut the matrix into at most N jobs of about the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    split: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// One name a line, with the reasons on stderr
    Names,
    /// Everything, for programs
    Json,
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
}

impl Format {
    fn runner(self) -> Option<Runner> {
        match self {
            Self::Names | Self::Json | Self::Github => None,
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
    let project = selecting::Project::look_at(&workspace, source)?;
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
            eprint!("{}", text::summary(report));
            print!("{text}");
        }
        None => print(report, args),
    }
    let is_complete = report.left_out.len() == left_out && report.cut.is_empty();
    Ok(if is_complete { exit::OK } else { exit::INCOMPLETE })
}

fn print(report: &Report, args: &Args) {
    match args.format {
        Format::Json => println!("{:#}", json::selection(report)),
        Format::Github => {
            eprint!("{}", text::summary(report));
            let text = runners::github(&order::parts(report, usize::from(args.split)));
            if text.len() > runners::GITHUB_MAX {
                eprintln!("warning: GitHub takes no output of more than a megabyte");
            }
            print!("{text}");
        }
        // On a terminal the two streams make one text; otherwise each is
        // complete by itself.
        _ if std::io::stdout().is_terminal() => {
            for group in text::groups(report) {
                group.names.iter().for_each(|name| println!("{}", text::one_line(name)));
                eprintln!("{}", group.reasons);
            }
            eprint!("{}", text::summary(report));
        }
        _ => {
            eprint!("{}", text::selection(report));
            for (name, _) in &report.selected {
                println!("{}", text::one_line(name));
            }
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
