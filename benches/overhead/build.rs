//! Builds a program in one of the ways that are compared.

use crate::measure;
use crate::programs::Program;
use anyhow::{Context, ensure};
use object::{Object, ObjectSection, SectionKind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Variant {
    /// gcc
    Plain,
    /// gcc with our probes
    Edgewise,
    /// gcc --coverage
    Gcov,
    /// clang
    Clang,
    /// clang's source-based coverage
    Source,
    /// clang's SanitizerCoverage with a flag for each edge
    Sancov,
}

impl Variant {
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Edgewise => "edgewise",
            Self::Gcov => "gcov",
            Self::Clang => "clang",
            Self::Source => "source",
            Self::Sancov => "sancov",
        }
    }

    /// What it is compared with.
    pub fn base(self) -> Self {
        match self {
            Self::Plain | Self::Edgewise | Self::Gcov => Self::Plain,
            Self::Clang | Self::Source | Self::Sancov => Self::Clang,
        }
    }

    fn compiler(self, edgewise: &Path) -> Command {
        match self {
            Self::Edgewise => {
                let mut command = Command::new(edgewise);
                command.args(["cc", "gcc"]);
                command
            }
            Self::Plain | Self::Gcov => Command::new("gcc"),
            Self::Clang | Self::Source | Self::Sancov => Command::new("clang"),
        }
    }

    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Gcov => &["--coverage"],
            Self::Source => &["-fprofile-instr-generate", "-fcoverage-mapping"],
            Self::Sancov => &["-fsanitize-coverage=edge,inline-bool-flag"],
            _ => &[],
        }
    }
}

pub struct Built {
    pub program: PathBuf,
    /// CPU time of all compiles, without the link.
    pub cpu: Duration,
    /// Bytes of machine code.
    pub text: u64,
}

/// The level at which programs are compared.
pub const LEVEL: &str = "-O2";

pub fn build(
    program: &Program,
    variant: Variant,
    level: &str,
    subject: &Path,
    home: &Path,
    edgewise: &Path,
) -> anyhow::Result<Built> {
    if home.exists() {
        fs_err::remove_dir_all(home)?;
    }
    fs_err::create_dir_all(home)?;
    let mut objects = Vec::new();
    let mut cpu = Duration::ZERO;
    for (number, source) in sources(program, subject)?.into_iter().enumerate() {
        let object = home.join(format!("{number}.o"));
        let mut command = variant.compiler(edgewise);
        command.current_dir(subject).env("EDGEWISE_ROOT", subject);
        command.args([level, "-w"]).args(program.flags).args(variant.flags());
        command.arg("-c").arg("-o").arg(&object).arg(&source);
        cpu += measure::run(&mut command)?;
        objects.push(object);
    }
    if variant == Variant::Sancov {
        let object = home.join("sancov.o");
        let mut command = Command::new("clang");
        command.arg("-c").arg(ours("sancov.c")).arg("-o").arg(&object);
        measure::run(&mut command)?;
        objects.push(object);
    }
    let path = home.join("program");
    let mut command = variant.compiler(edgewise);
    command.current_dir(subject).env("EDGEWISE_ROOT", subject);
    command.arg(level).args(variant.flags()).arg("-o").arg(&path);
    measure::run(command.args(&objects).args(program.libraries))?;
    Ok(Built { text: text_size(&path)?, program: path, cpu })
}

/// A file of ours.
pub fn ours(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/overhead/work").join(name)
}

fn sources(program: &Program, subject: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for pattern in program.sources {
        let (folder, name) = pattern.rsplit_once('/').unwrap_or((".", pattern));
        let Some(suffix) = name.strip_prefix('*') else {
            found.push(PathBuf::from(pattern));
            continue;
        };
        let entries = fs_err::read_dir(subject.join(folder))?;
        for entry in entries {
            let name = entry?.file_name().into_string().ok().context("a name that is no text")?;
            let path = Path::new(folder).join(&name);
            let path = path.strip_prefix(".").map(Path::to_path_buf).unwrap_or(path);
            let is_left_out = program.without.iter().any(|other| Path::new(other) == path);
            if name.ends_with(suffix) && !is_left_out {
                found.push(path);
            }
        }
    }
    found.sort();
    found.extend(program.driver.map(ours));
    ensure!(!found.is_empty(), "no sources");
    Ok(found)
}

fn text_size(program: &Path) -> anyhow::Result<u64> {
    let bytes = fs_err::read(program)?;
    let elf = object::File::parse(&*bytes)?;
    let text = elf.sections().filter(|section| section.kind() == SectionKind::Text);
    Ok(text.map(|section| section.size()).sum())
}
