//! Compilers by their files: as long as these are the same, so is what the
//! compiler says of itself and what it makes of a source.

use super::stamp::{Moment, Stamp};
use crate::compiler::toolchain::{self, Compiler, Identity};
use crate::ids::{Fingerprint, FpHasher};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Stdio;

#[derive(Default, Serialize, Deserialize)]
pub struct Tools {
    known: Vec<Tool>,
    #[serde(skip)]
    asked: Vec<(Compiler, Option<Fingerprint>)>,
    #[serde(skip)]
    is_new: bool,
}

#[derive(Serialize, Deserialize)]
struct Tool {
    program: PathBuf,
    /// Stands for the variables by which it finds its parts.
    environment: Fingerprint,
    /// Files it consists of; none where it was looked for and not there.
    files: Vec<(PathBuf, Option<Stamp>)>,
    identity: Identity,
}

impl Tools {
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// What stands for a compiler as it is. None for one of which it is not known
    /// what it consists of: a launcher, a script, clang with its configuration.
    pub fn fingerprint(&mut self, compiler: &Compiler, began: Moment) -> Option<Fingerprint> {
        if let Some((_, known)) = self.asked.iter().find(|(known, _)| known == compiler) {
            return *known;
        }
        let found = self.find(compiler, began);
        self.asked.push((compiler.clone(), found));
        found
    }

    fn find(&mut self, compiler: &Compiler, began: Moment) -> Option<Fingerprint> {
        let program = compiler.alone()?;
        self.known.retain(|tool| tool.program != program || tool.is_there());
        let is_it = |tool: &&Tool| tool.program == program && tool.environment == environment();
        if let Some(tool) = self.known.iter().find(is_it) {
            toolchain::remember(compiler, tool.identity.clone());
            return Some(tool.fingerprint());
        }
        let tool = Tool::ask(compiler, program)?;
        let fingerprint = tool.fingerprint();
        if tool.files.iter().all(|(_, stamp)| stamp.is_none_or(|stamp| stamp.is_settled(began))) {
            self.known.push(tool);
            self.is_new = true;
        }
        Some(fingerprint)
    }
}

impl Tool {
    fn ask(compiler: &Compiler, program: &Path) -> Option<Self> {
        let driver = program.canonicalize().ok()?;
        let name = driver.file_name()?.to_str()?;
        let identity = toolchain::identity(compiler);
        if !name.contains("gcc") || identity.is_clang || !is_elf(&driver) {
            return None;
        }
        let said = |question: &str| {
            let output = compiler.command().arg(question).stdin(Stdio::null()).output().ok()?;
            let path = String::from_utf8(output.stdout).ok()?;
            Some(PathBuf::from(path.trim_end()))
        };
        let cc1 = said("-print-prog-name=cc1").filter(|path| path.is_absolute())?;
        let library = said("-print-libgcc-file-name").filter(|path| path.is_absolute())?;
        let specs = library.with_file_name("specs");
        // These make no text, and yet a program.
        let other = |name: &str| {
            let path = said(&format!("-print-prog-name={name}"))?;
            toolchain::find(path.to_str()?)
        };
        let files = [program.to_path_buf(), driver, cc1, specs, other("as")?, other("ld")?];
        let files = files.into_iter().map(|path| (path.clone(), Stamp::of(&path))).collect();
        Some(Self { program: program.to_path_buf(), environment: environment(), files, identity })
    }

    fn is_there(&self) -> bool {
        self.files.iter().all(|(path, then)| Stamp::of(path) == *then)
    }

    fn fingerprint(&self) -> Fingerprint {
        let mut hasher = FpHasher::new("compiler");
        for (path, stamp) in &self.files {
            hasher.bytes(path.as_os_str().as_encoded_bytes());
            let stamp = postcard::to_stdvec(stamp).unwrap_or_default();
            hasher.bytes(&stamp);
        }
        hasher.finish()
    }
}

/// Where compilers look for their parts.
fn environment() -> Fingerprint {
    let mut hasher = FpHasher::new("environment of a compiler");
    hasher.fp(&super::asked::environment());
    hasher.bytes(std::env::var_os("PATH").unwrap_or_default().as_encoded_bytes());
    hasher.finish()
}

fn is_elf(path: &Path) -> bool {
    use std::io::Read;
    let mut start = [0; 4];
    std::fs::File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok())
        && start == *b"\x7fELF"
}
