//! The linker called by its own name, in the place of `ld`.

use super::flags::Effect;
use super::link::{Link, Tool};
use super::plan::{Argument, Work};
use super::project::Project;
use super::settings::Settings;
use super::toolchain::{self, Compiler};
use super::{NOT_FOUND, run_real, trial};
use crate::bytes;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Links as `name` is asked to with `arguments`, and returns its exit code.
pub fn run(name: &str, arguments: &[OsString]) -> anyhow::Result<i32> {
    let Some(linker) = toolchain::find(name) else {
        eprintln!("edgewise: no linker `{name}` found on the path");
        return Ok(NOT_FOUND);
    };
    let known = (std::env::current_dir(), Compiler::find("cc"));
    let (Ok(directory), Some(compiler)) = known else {
        return run_real(Command::new(&linker).args(arguments));
    };
    let words: Vec<String> = arguments.iter().map(bytes::name).collect();
    let work = work(&words);
    if work.output.is_none() || trial::is_trial(&directory, &words) {
        return run_real(Command::new(&linker).args(arguments));
    }
    let project = Project::of_environment(&directory);
    let tool = Tool::Linker(&linker, &compiler);
    Link {
        project: &project,
        directory: &directory,
        tool,
        work: &work,
        compiled: &[],
        logs_nodes: Settings::of_environment(&project.root).logs_nodes(),
        plain: arguments,
    }
    .run()
}

/// Whether a program of this name is a linker.
pub fn is_linker_name(name: &str) -> bool {
    let base = Path::new(name).file_name().and_then(|name| name.to_str()).unwrap_or(name);
    let base = base.rsplit('-').next().unwrap_or(base);
    ["ld", "ld.bfd", "ld.lld"].contains(&base)
}

/// All words belong to the link; only the output is looked for.
fn work(words: &[String]) -> Work {
    let mut work = Work::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let mut argument = vec![word.clone()];
        if matches!(word.as_str(), "-o" | "--output") {
            work.output = rest.next().cloned();
            argument.extend(work.output.clone());
        } else if let Some(name) = word.strip_prefix("-o").or(word.strip_prefix("--output=")) {
            work.output = Some(name.to_string());
        }
        work.link.push(Argument { words: argument, effect: Effect::Link });
    }
    work
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linkers_are_known_by_name() {
        for name in ["ld", "ld.bfd", "x86_64-linux-gnu-ld", "/usr/bin/ld.lld"] {
            assert!(is_linker_name(name), "{name}");
        }
        for name in ["gold", "ldd", "ld.so", "lld-link"] {
            assert!(!is_linker_name(name), "{name}");
        }
    }
}
