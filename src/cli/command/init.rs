//! `edgewise init`: a first `edgewise.toml`.

use crate::cli::detecting::{self, Found};
use crate::cli::exit;
use crate::cli::printer;
use crate::compiler::project::CONFIG_FILE;
use anyhow::{Context, bail};
use std::io::Write;
use std::path::Path;

/// Write an edgewise.toml for the project in this directory
///
/// Looks at how the project is built and tested (CMake, Meson, autotools, make;
/// CTest, a list in tests/list, `make check`, TAP or shell scripts) and writes a file
/// with the build command and the suites, to be read and corrected.
///
/// A [[suite]] has a name and a kind: ctest, meson, automake (with the build
/// `directory`), tap (`pattern`), glob (`pattern` and a `command` with {} for the
/// file), list (`file` or `generator`, a name and a shell command a line) or
/// cases (`list`, and a `command` with {case}).
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  edgewise init && edgewise build && edgewise run")]
pub struct Args {
    /// Write over a file that is there
    #[arg(long)]
    force: bool,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let directory = std::env::current_dir().context("no working directory")?;
    let path = directory.join(CONFIG_FILE);
    if path.exists() && !args.force {
        bail!("{CONFIG_FILE} is there already\nhint: `edgewise init --force` writes over it");
    }
    let found = detecting::detect(&directory)?;
    if !found.has_build() && !found.has_tests() {
        bail!(
            "nothing here that edgewise knows how to build or test\nhint: call it in the root of \
             the project; or write {CONFIG_FILE} yourself, `edgewise help init` has the keys"
        );
    }
    write(&path, &found.text())?;
    printer::tell(&said(&found));
    Ok(exit::OK)
}

/// All of it or nothing.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(text.as_bytes())?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(mode)?;
    file.persist(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}

fn said(found: &Found) -> String {
    let mut out = String::new();
    for note in &found.notes {
        out.push_str(&format!("edgewise: {note}\n"));
    }
    out.push_str(&format!("edgewise: wrote {CONFIG_FILE}: please look it over\n"));
    if !found.has_build() {
        out.push_str("edgewise: how it is built was not found: fill in the command of [build]\n");
    }
    if !found.has_tests() {
        out.push_str("edgewise: no tests were found: fill in a [[suite]]\n");
    }
    out.push_str(
        "\nNext:\n    edgewise build     # with probes in the objects\n    \
         edgewise run       # all tests, one trace each, into the history\n    \
         edgewise select    # after each change: which tests, and why\n\n\
         State is kept in .edgewise/, which does not belong in version control.\n",
    );
    out
}
