//! Which procedures the compiler itself sees in a unit: `gcc -aux-info` lists
//! every declaration and definition it comes across.

use anyhow::{Context, bail};
use edgewise::compiler::preprocess::Job;
use std::process::Stdio;

/// A definition in the compiler's list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Defined {
    pub name: String,
    /// As the line markers spell it.
    pub file: String,
    pub line: u32,
}

pub fn definitions(job: &Job) -> anyhow::Result<Vec<Defined>> {
    let list = tempfile::NamedTempFile::new()?;
    let output = job
        .compiler
        .command()
        .current_dir(&job.directory)
        .args(&job.arguments)
        .args(["-w", "-fsyntax-only", "-aux-info"])
        .arg(list.path())
        .arg(&job.source)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {}", job.compiler.display()))?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default());
    }
    let text = fs_err::read(list.path())?;
    Ok(String::from_utf8_lossy(&text).lines().filter_map(definition).collect())
}

/// Reads `/* file.c:12:NF */ static int f (int a); /* (a) int a; */`, where `F`
/// tells a definition from a declaration (`C`).
fn definition(line: &str) -> Option<Defined> {
    let (place, prototype) = line.strip_prefix("/* ")?.split_once(" */ ")?;
    let mut parts = place.rsplitn(3, ':');
    let (kind, number, file) = (parts.next()?, parts.next()?, parts.next()?);
    if !kind.ends_with('F') {
        return None;
    }
    let name = name_of(prototype)?;
    Some(Defined { name: name.to_string(), file: file.to_string(), line: number.parse().ok()? })
}

/// The name in a prototype: what stands before the first parenthesis that does
/// not open the declarator of a pointer. Members of a struct are in braces.
fn name_of(prototype: &str) -> Option<&str> {
    let mut depth = 0;
    for (at, c) in prototype.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            '(' if depth == 0 && !prototype[at + 1..].starts_with('*') => {
                let before = prototype[..at].trim_end();
                let is_break = |c: char| !(c.is_alphanumeric() || c == '_' || c == '$');
                return before.rsplit(is_break).next().filter(|name| !name.is_empty());
            }
            _ => {}
        }
    }
    None
}
