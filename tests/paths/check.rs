//! Programs that keep a log of nodes.

use edgewise::trace::collect::{Collector, TestTrace};
use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Logged {
    pub program: PathBuf,
    collector: Collector,
}

impl Logged {
    /// Builds the sources in a directory.
    pub fn build(directory: &Path, sources: &[String], flags: &[&str]) -> Self {
        let program = directory.join("logged");
        let mut command = Command::new(env!("CARGO_BIN_EXE_edgewise"));
        command.current_dir(directory).env_remove("EDGEWISE_TRACE");
        command.env("EDGEWISE_ROOT", directory).env("EDGEWISE_GRANULARITY", "path");
        command.args(["cc", "gcc", "-O0", "-w", "-o"]).arg(&program).args(flags).args(sources);
        let output = command.arg("-lm").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self { program, collector: Collector::default() }
    }

    /// Runs a command of which the program is a part, and reads what it left:
    /// that is unclean if the log and the graphs or the probes do not agree.
    pub fn trace(&self, command: &mut Command) -> (std::process::Output, TestTrace) {
        let traces = tempfile::tempdir().unwrap();
        let output = command.env("EDGEWISE_TRACE", traces.path()).output().unwrap();
        (output, self.collector.collect(traces.path()))
    }
}

/// Opaque procedures of all units.
pub fn opaque(trace: &TestTrace) -> usize {
    let units = trace.programs.iter().flat_map(|program| &program.units);
    let procedures = units.flat_map(|unit| &unit.index.procedures);
    procedures.filter(|procedure| procedure.opaque.is_some()).count()
}

/// Steps in all logs.
pub fn steps(trace: &TestTrace) -> usize {
    trace.walked.values().map(|walked| walked.steps).sum()
}
