//! Files that a unit is made of and that its text does not show: those that
//! flags name (plug-ins, profiles), and those that asm takes in.

use super::plan::Argument;
use super::preprocess::Job;
use super::written::{self, Reads};
use crate::bytes;
use crate::frontend::literal::add_text;
use crate::ids::{Fingerprint, FpHasher};
use memchr::memmem;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const PROFILE_EXTENSIONS: &[&str] = &["afdo", "gcda", "profdata"];

/// What a directory given by `-B` may hold of the compiler.
const TOOLS: &[&str] = &["as", "cc1", "collect2", "ld", "specs"];

/// Adds the content of all such files. `code` are the arguments that act on code.
pub fn add(hasher: &mut FpHasher, job: &Job, code: &[Argument], object: &Path, text: &[u8]) {
    let words = || code.iter().flat_map(|argument| &argument.words);
    let mut reads = Reads::of_compile();
    for part in words().flat_map(|word| reads.parts(word)) {
        add_file(hasher, &job.directory.join(bytes::path(part)));
    }
    for directory in words().filter_map(|word| word.strip_prefix("-B")) {
        let directory = job.directory.join(bytes::path(directory));
        TOOLS.iter().for_each(|tool| add_file(hasher, &directory.join(tool)));
    }
    if words().any(|word| written::reads_profiles(word)) {
        let named = words()
            .flat_map(|word| word.split('='))
            .map(|part| job.directory.join(bytes::path(part)));
        let beside = object.parent().map(Path::to_path_buf);
        let places: BTreeSet<PathBuf> =
            named.chain([job.directory.clone()]).chain(beside).filter(|p| p.is_dir()).collect();
        places.iter().for_each(|place| add_profiles(hasher, place));
    }
    add_taken_in(hasher, job, text);
}

fn add_taken_in(hasher: &mut FpHasher, job: &Job, text: &[u8]) {
    let mut taken = Taken { job, seen: BTreeSet::new() };
    names_in_asm(text).into_iter().for_each(|name| taken.add(hasher, &name));
}

/// Stands for what asm in a text takes in, as that is now.
pub fn taken_in(job: &Job, text: &[u8]) -> Fingerprint {
    let mut hasher = FpHasher::new("taken in");
    add_taken_in(&mut hasher, job, text);
    hasher.finish()
}

/// Whether asm in a text takes in files.
pub fn takes_files(text: &[u8]) -> bool {
    !names_in_asm(text).is_empty()
}

fn add_file(hasher: &mut FpHasher, path: &Path) {
    if path.is_file()
        && let Ok(bytes) = std::fs::read(path)
    {
        hasher.fp(&Fingerprint::of(&bytes));
    }
}

/// Which profile belongs to the unit depends on the compiler: all of them count.
fn add_profiles(hasher: &mut FpHasher, directory: &Path) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let is_profile = |path: &PathBuf| {
        path.extension().is_some_and(|end| PROFILE_EXTENSIONS.iter().any(|known| end == *known))
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_profile).collect();
    files.sort();
    files.iter().for_each(|file| add_file(hasher, file));
}

/// Files that an assembler takes in.
struct Taken<'j> {
    job: &'j Job,
    seen: BTreeSet<PathBuf>,
}

impl Taken<'_> {
    fn add(&mut self, hasher: &mut FpHasher, name: &str) {
        let found =
            self.places().map(|place| place.join(bytes::path(name))).find(|path| path.is_file());
        let Some((path, bytes)) =
            found.and_then(|path| Some((path.clone(), std::fs::read(path).ok()?)))
        else {
            // The name may be put together by macros of the assembler: then it is
            // not known to be the same at any time.
            hasher.fp(&never_the_same());
            return;
        };
        hasher.fp(&Fingerprint::of(&bytes));
        if self.seen.insert(path) {
            names_taken_in(&bytes).into_iter().for_each(|name| self.add(hasher, &name));
        }
    }

    /// Where assemblers look, in this order.
    fn places(&self) -> impl Iterator<Item = PathBuf> {
        let words = self.job.arguments.iter().map(String::as_str);
        let behind = words.clone().skip(1).map(Some).chain([None]);
        let given = words.zip(behind).flat_map(|(word, next)| match word {
            "-I" => next.into_iter().collect(),
            _ if word.starts_with("-Wa,") => {
                let parts = word.split(',').skip(1);
                parts.map(|part| part.strip_prefix("-I").unwrap_or(part)).collect()
            }
            _ => word.strip_prefix("-I").into_iter().collect::<Vec<_>>(),
        });
        std::iter::once("").chain(given).map(|name| self.job.directory.join(bytes::path(name)))
    }
}

fn never_the_same() -> Fingerprint {
    static NOW: OnceLock<Fingerprint> = OnceLock::new();
    *NOW.get_or_init(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let mut hasher = FpHasher::new("never the same");
        hasher.number(now.map_or(0, |now| now.as_nanos() as u64));
        hasher.number(u64::from(std::process::id()));
        hasher.finish()
    })
}

/// Names of files in the strings of all asm of a preprocessed text.
fn names_in_asm(text: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    for at in memmem::find_iter(text, b"asm") {
        let behind = &text[at + 3..];
        let behind = behind.strip_prefix(b"__").unwrap_or(behind);
        if let Some(code) = strings(behind) {
            names.extend(names_taken_in(&code));
        }
    }
    names
}

/// All strings up to the end of a pair of parentheses, joined. None if it does not
/// begin here, behind qualifiers.
fn strings(text: &[u8]) -> Option<Vec<u8>> {
    let open = text.iter().position(|byte| matches!(byte, b'(' | b';' | b'{' | b')' | b'"'))?;
    if text[open] != b'(' {
        return None;
    }
    let (mut depth, mut code) = (0_usize, String::new());
    let mut rest = text[open..].iter().copied();
    while let Some(byte) = rest.next() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => break,
            b')' => depth -= 1,
            b'"' => {
                let mut literal = vec![byte];
                loop {
                    let byte = rest.next()?;
                    literal.push(byte);
                    match byte {
                        b'"' => break,
                        b'\\' => literal.push(rest.next()?),
                        _ => {}
                    }
                }
                add_text(&bytes::to_text(&literal), &mut code);
            }
            _ => {}
        }
    }
    Some(bytes::os(&code).as_encoded_bytes().to_vec())
}

/// Names behind `.incbin` and `.include` in the text of an assembler.
fn names_taken_in(code: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    // Directives may have any case.
    let lower = code.to_ascii_lowercase();
    for directive in ["incbin", "include"] {
        for at in memmem::find_iter(&lower, directive.as_bytes()) {
            if at == 0 || code[at - 1] != b'.' {
                continue;
            }
            let rest = &code[at + directive.len()..];
            let rest = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
            // Without quotes it is a name that is not there.
            let name = rest.split(|byte| *byte == b'"').nth(1).unwrap_or_default();
            names.push(bytes::to_text(name).into_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_the_strings_of_asm() {
        let names = |text: &str| names_in_asm(text.as_bytes());
        assert_eq!(names(r#"__asm__(".incbin \"a b\"\n");"#), ["a b"]);
        assert_eq!(
            names(r#"asm volatile (".inc" "bin \"" "x" "\", 1, 2" : : "r"(f("")));"#),
            ["x"]
        );
        assert_eq!(names(r#"asm(".include \"m.s\"\n.incbin \"x\"");"#), ["x", "m.s"]);
        assert_eq!(
            names(r#"asm(".INCBIN \"X\"\n.\x49nclude \"m\"; .\151ncbin \"y\"");"#),
            ["X", "y", "m"]
        );
        assert_eq!(names(r#"asm(".incbin F");"#), [""]);
        assert_eq!(names(r#"int f(int) __asm__("" "g"); puts(".incbin \"x\"");"#), [""; 0]);
        assert_eq!(names(r#"int asm_x; char *s = "asm("; asm("nop");"#), [""; 0]);
    }
}
