//! `edgewise demo`: the main job, on a sample that this program carries.

use crate::cli::exit;
use crate::cli::printer::{self, Stream};
use crate::compiler::toolchain;
use anyhow::{Context, bail};
use include_dir::{Dir, include_dir};
use std::path::{Path, PathBuf};
use std::process::Command;

static SAMPLE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/testdata/sample");
const PATCH: &str = "demo.patch";

/// Show all of it on a small sample project that edgewise brings along
///
/// Builds it with probes, runs its tests, changes a line, selects, and runs what is selected.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  edgewise demo")]
pub struct Args {
    /// A new directory for the sample; without it, a fresh temporary directory
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    for (tool, package) in [("cc", "gcc"), ("make", "make")] {
        if toolchain::find(tool).is_none() {
            bail!(
                "the demo needs `{tool}`, which is not on the path\nhint: install it, for example \
                 with `apt-get install {package} libc6-dev`"
            );
        }
    }
    let directory = match &args.directory {
        Some(directory) => {
            if directory.exists() {
                bail!("{} is there already\nhint: name a new directory", directory.display());
            }
            fs_err::create_dir_all(directory)?;
            directory.canonicalize()?
        }
        None => tempfile::Builder::new().prefix("edgewise-demo-").tempdir()?.keep(),
    };
    SAMPLE.extract(&directory).context("cannot write the sample")?;
    let demo = Demo { directory };
    let patch = demo.patch()?;
    demo.play(&patch)
}

struct Demo {
    directory: PathBuf,
}

impl Demo {
    fn play(&self, patch: &str) -> anyhow::Result<i32> {
        self.say("A small C project with its tests:");
        printer::tell(&format!("    {}\n\n", self.directory.display()));
        self.say("Build it with probes:");
        self.edgewise(&["build", "--", "make", "-j2", "--no-print-directory", "-s"])?;
        self.say("Run all tests once and record which edges each of them takes:");
        self.edgewise(&["run"])?;
        self.say("Change a line:");
        printer::tell(&format!("{}\n", indent(patch)));
        apply(&self.directory, patch)?;
        self.say("Which tests can behave differently now, and why?");
        self.edgewise(&["select"])?;
        self.say("Build, run just those, and bring the history up to date:");
        self.edgewise(&["test"])?;
        self.say("Nothing is left to do:");
        self.edgewise(&["select"])?;
        let program = std::env::current_exe()?;
        let (directory, program) = (self.directory.display(), program.display());
        printer::tell(&format!(
            "The sample stays in {directory}. Try there:\n    \
             cd {directory}\n    \
             alias edgewise={program}\n    \
             $EDITOR lib/expr.c                                  # change something\n    \
             edgewise select                                     # which tests, and why\n    \
             edgewise test                                       # build, run just these\n    \
             edgewise cfg lib/stats.c stats_median -- -Iinclude  # the graph behind it\n"
        ));
        Ok(exit::OK)
    }

    fn say(&self, text: &str) {
        let title = Stream::Err.style().name(&format!("== {text}"));
        printer::tell(&format!("{title}\n\n"));
    }

    /// Runs this very program in the sample.
    fn edgewise(&self, arguments: &[&str]) -> anyhow::Result<()> {
        printer::tell(&format!("$ edgewise {}\n", arguments.join(" ")));
        let status = Command::new(std::env::current_exe()?)
            .arg(printer::Color::chosen().argument())
            .args(arguments)
            .current_dir(&self.directory)
            .status()?;
        if !status.success() {
            bail!("`edgewise {}` ended with {status}", arguments.join(" "));
        }
        printer::tell("\n");
        Ok(())
    }

    fn patch(&self) -> anyhow::Result<String> {
        Ok(fs_err::read_to_string(self.directory.join(PATCH))?)
    }
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

/// Applies a unified diff of one hunk.
fn apply(directory: &Path, patch: &str) -> anyhow::Result<()> {
    let mut file = None;
    let mut before = String::new();
    let mut after = String::new();
    for line in patch.lines() {
        if let Some(name) = line.strip_prefix("+++ b/") {
            file = Some(name.split_whitespace().next().unwrap_or(name));
        } else if line.starts_with("---") || line.starts_with("@@") || line.starts_with("diff ") {
            continue;
        } else if let Some(text) = line.strip_prefix('-') {
            before.push_str(text);
            before.push('\n');
        } else if let Some(text) = line.strip_prefix('+') {
            after.push_str(text);
            after.push('\n');
        } else {
            let text = line.strip_prefix(' ').unwrap_or(line);
            for side in [&mut before, &mut after] {
                side.push_str(text);
                side.push('\n');
            }
        }
    }
    let path = directory.join(file.context("the patch names no file")?);
    let text = fs_err::read_to_string(&path)?;
    if !text.contains(&before) {
        bail!("the patch does not apply to {}", path.display());
    }
    fs_err::write(&path, text.replacen(&before, &after, 1))?;
    Ok(())
}
