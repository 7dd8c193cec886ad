//! The compile commands that `scripts/subjects` recorded, as units.

use anyhow::Context;
use edgewise::compiler::flags::Effect;
use edgewise::compiler::plan::{self, Argument, Plan, Work};
use edgewise::compiler::preprocess::Job;
use edgewise::compiler::project::Project;
use edgewise::compiler::unit::Unit;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The two levels that units are looked at, as arguments behind all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Level {
    O2,
    O0,
}

impl Level {
    pub fn name(self) -> &'static str {
        match self {
            Self::O2 => "-O2",
            Self::O0 => "-O0",
        }
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::O2 => &["-O2"],
            // The C library warns of fortification without optimisation.
            Self::O0 => &["-O0", "-U_FORTIFY_SOURCE"],
        }
    }
}

/// A project that was fetched and built.
pub struct Subject {
    pub name: String,
    pub project: Project,
    commands: Vec<Recorded>,
}

/// One call of the compiler.
struct Recorded {
    directory: PathBuf,
    arguments: Vec<String>,
}

/// A source with the arguments that matter to it.
pub struct Compile {
    pub source: String,
    pub job: Job,
}

impl Subject {
    pub fn read(subjects: &Path, name: &str) -> anyhow::Result<Self> {
        let home = fs_err::canonicalize(subjects.join(name))?;
        let mut commands = Vec::new();
        for entry in fs_err::read_dir(home.join("commands"))? {
            let path = entry?.path();
            let text = fs_err::read_to_string(&path)?;
            let mut words = text.split_terminator('\0').map(String::from);
            let directory = words.next().with_context(|| format!("{} is empty", path.display()))?;
            commands.push(Recorded { directory: directory.into(), arguments: words.collect() });
        }
        let root = home.join("src");
        let project = Project::new(root.clone(), root);
        Ok(Self { name: name.to_string(), project, commands })
    }

    /// All units at a level, in the order of their names; the same unit with the
    /// same arguments counts once. Beside them, why C sources were left out.
    pub fn compiles(&self, level: Level) -> (Vec<Compile>, BTreeMap<String, usize>) {
        let mut found = BTreeMap::new();
        let mut left_out = BTreeMap::new();
        for command in &self.commands {
            match plan::plan(&command.arguments) {
                Plan::Work(mut work) => {
                    for argument in level.arguments() {
                        let words = vec![argument.to_string()];
                        work.common.push(Argument { words, effect: Effect::Code });
                    }
                    for source in &work.sources {
                        match self.compile(command, &work, source) {
                            Ok(compile) => {
                                let key = (compile.source.clone(), compile.job.arguments.clone());
                                found.insert(key, compile);
                            }
                            Err(why) => *left_out.entry(why).or_default() += 1,
                        }
                    }
                }
                Plan::Untouched(why) => {
                    let inputs: BTreeSet<&str> = plan::compiled_inputs(&command.arguments)
                        .into_iter()
                        .filter(|input| input.ends_with(".c"))
                        .collect();
                    for input in inputs {
                        *left_out.entry(format!("{why}: {input}")).or_default() += 1;
                    }
                }
            }
        }
        (found.into_values().collect(), left_out)
    }

    fn compile(&self, command: &Recorded, work: &Work, source: &str) -> Result<Compile, String> {
        let object = plan::default_object(source);
        let unit =
            Unit::of_compile(&self.project, &command.directory, "gcc", work, source, &object);
        let job = unit.job(&self.project).map_err(|error| error.to_string())?;
        if !job.directory.join(source).exists() {
            return Err(format!("the build removed it: {source}"));
        }
        Ok(Compile { source: unit.key.source, job })
    }
}
