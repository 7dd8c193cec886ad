//! `edgewise doctor`: how well the project is covered.

use crate::cli::build_state::BuildState;
use crate::cli::exit;
use crate::cli::printer;
use crate::cli::workspace::Workspace;
use crate::report::doctor::{self, Health, Program};
use crate::trace::module::Module;
use std::path::Path;

/// Lines of one kind that are shown without --all.
const SHOWN: usize = 10;

/// Say how well the project is covered, and what is assumed
///
/// Lists the programs that were built with probes, procedures that are opaque
/// and why, units that go without probes, programs that leave no trace, and
/// sources that are not analysed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show everything, however much it is
    #[arg(long)]
    all: bool,
}

pub fn run(args: &Args) -> anyhow::Result<i32> {
    let workspace = Workspace::open_without_suites()?;
    let state = BuildState::read(&workspace)?;
    let root = &workspace.project.root;
    let built = state.programs.iter().filter(|name| root.join(name).exists());
    let health = Health {
        programs: built.map(|name| program(root, name)).collect(),
        unanalysed: state.unanalysed_sources.into_iter().collect(),
        untraced: state.untraced.into_keys().collect(),
    };
    printer::show(&doctor::text(&health, if args.all { usize::MAX } else { SHOWN }));
    Ok(exit::OK)
}

fn program(root: &Path, name: &str) -> Program {
    let units = Module::read(&root.join(name)).map_err(|error| error.to_string());
    let units = units.and_then(|module| {
        let indices = module.records.units.iter().map(|unit| unit.index());
        indices.collect::<Result<_, _>>().map_err(|error| error.to_string())
    });
    Program { name: name.to_string(), units }
}
