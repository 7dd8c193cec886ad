//! `edgewise report`: the selection and the coverage as pages.

use crate::cli::completing;
use crate::cli::exit;
use crate::cli::printer;
use crate::cli::reporting;
use crate::cli::snapshot::Source;
use crate::cli::workspace::Workspace;
use crate::report::html::{self, File, GENERATOR, Page, Site};
use crate::report::text::{counted, one_line};
use anyhow::{Context, bail};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Write a report that a browser opens: what is selected, why, and what tests reach
///
/// Pages that need nothing but each other: they open from a disk and from what CI keeps.
/// The sources are compared with the version that the history was recorded on, as
/// `select` does; right after `edgewise test`, what was tested is compared with the
/// version before.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  edgewise report --html report && xdg-open report/index.html\n  edgewise test; edgewise report --html report"
)]
pub struct Args {
    /// The directory to write; an earlier report in it is replaced
    #[arg(long, value_name = "DIR")]
    html: PathBuf,
    /// Compare with the programs as they are built, instead of the sources
    #[arg(long)]
    from_build: bool,
    /// Compare with this version of the history, as `edgewise history log` names it. The
    /// default is the one that is most like what is there
    #[arg(long, value_name = "ID", add = completing::versions())]
    against: Option<String>,
}

/// Sources that cannot be read, which are named.
const SHOWN: usize = 5;

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let workspace = Workspace::open()?;
    let target = std::path::absolute(&args.html)
        .with_context(|| format!("no such place: {}", args.html.display()))?;
    check_target(&target)?;
    let source = if args.from_build { Source::Build } else { Source::Sources };
    let site = reporting::site(&workspace, source, args.against.as_deref())?;
    let parent = target.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(parent).map_err(|error| cannot_write(&target, &error))?;
    // Somebody may look at the report that was there until the new one is complete.
    let fresh = tempfile::Builder::new().prefix(".edgewise-report").tempdir_in(parent);
    let fresh = fresh.map_err(|error| cannot_write(&target, &error))?;
    for directory in ["tests", "files", "procedures"] {
        fs_err::create_dir(fresh.path().join(directory))?;
    }
    for page in site.pages() {
        write(fresh.path(), &page)?;
    }
    let unread = write_sources(&site, &workspace.project.root, fresh.path())?;
    for (name, why) in unread.iter().take(SHOWN) {
        printer::tell(&format!("hint: {} could not be read: {why}\n", one_line(name)));
    }
    if let Some(more) = unread.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        let more = counted(more, "more source");
        printer::tell(&format!("hint: {more} could not be read; their pages say why\n"));
    }
    replace(fresh, &target)?;
    for missing in &site.missing {
        printer::tell(&format!("missing in the report: {missing}\n"));
    }
    printer::data(&format!("{}\n", args.html.join("index.html").display()));
    Ok(exit::OK)
}

/// Why the folder of the report cannot be made.
fn cannot_write(target: &Path, error: &std::io::Error) -> anyhow::Error {
    let parent = target.parent().unwrap_or(Path::new("/")).display();
    let target = target.display();
    anyhow::anyhow!(
        "cannot write the report to {target}: no folder can be made in {parent} ({})\n\
         hint: --html takes a folder that edgewise may create",
        error.kind()
    )
}

/// Nothing is replaced but a report.
fn check_target(target: &Path) -> anyhow::Result<()> {
    if !target.exists() {
        return Ok(());
    }
    if !target.is_dir() {
        bail!("{} is there and not a directory", target.display());
    }
    let is_empty = fs_err::read_dir(target)?.next().is_none();
    let index = std::fs::read_to_string(target.join("index.html")).unwrap_or_default();
    if !is_empty && !index.contains(GENERATOR) {
        bail!(
            "{} holds something else than a report\nhint: name a new directory, or remove it first",
            target.display()
        );
    }
    Ok(())
}

fn write(directory: &Path, page: &Page) -> anyhow::Result<()> {
    Ok(fs_err::write(directory.join(&page.path), &page.text)?)
}

/// The pages of the sources; which of these could not be read, and why.
fn write_sources(
    site: &Site,
    root: &Path,
    directory: &Path,
) -> anyhow::Result<Vec<(String, String)>> {
    let written = (0..site.files.len()).into_par_iter().map(|number| {
        let name = &site.files[number].name;
        let read = reporting::read_source(root, name);
        let text = match &read {
            Ok(bytes) => Ok(String::from_utf8_lossy(bytes)),
            Err(why) => {
                Err(format!("The source cannot be shown: {why}.{}", named(&site.files[number])))
            }
        };
        let text = text.as_ref().map(|text| &**text).map_err(String::as_str);
        for page in html::source(site, number, text) {
            write(directory, &page)?;
        }
        Ok(read.err().map(|why| (name.clone(), why)))
    });
    let written: Vec<Option<(String, String)>> = written.collect::<anyhow::Result<_>>()?;
    Ok(written.into_iter().flatten().collect())
}

/// Where a source was looked for that no compiler reads.
fn named(file: &File) -> &'static str {
    match file.is_named {
        true => {
            " A `#line` names it, and it is neither in the directory of that compile, nor in that of the \
             source, nor in the root of the project."
        }
        false => "",
    }
}

fn replace(fresh: tempfile::TempDir, target: &Path) -> anyhow::Result<()> {
    // Directories of tempfile are for nobody else, and reports are for everybody.
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs_err::set_permissions(fresh.path(), permissions)?;
    if target.exists() {
        fs_err::remove_dir_all(target)?;
    }
    fs_err::rename(fresh.keep(), target)?;
    Ok(())
}
