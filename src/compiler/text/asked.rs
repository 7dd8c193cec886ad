//! What a compiler is asked to do: by whom, with which words, in which
//! environment.

use crate::compiler::project::Project;
use crate::ids::{Fingerprint, FpHasher};

/// Arguments that are known to act on nothing but what notes take into account,
/// as they begin. Those of the second list are exceptions: they may name files.
const KNOWN: &[&str] = &[
    "-A",
    "-D",
    "-I",
    "-O",
    "-U",
    "-W",
    "-ansi",
    "-f",
    "-g",
    "-idirafter",
    "-imacros",
    "-include",
    "-iquote",
    "-isystem",
    "-m",
    "-nostdinc",
    "-p",
    "-std=",
    "-trigraphs",
    "-undef",
    "-w",
    "-x",
];
const UNKNOWN: &[&str] = &[
    "-Wa,",
    "-Wp,",
    "-fauto-profile",
    "-fbranch-probabilities",
    "-finput-charset",
    "-fmodule",
    "-fpch",
    "-fplugin",
    "-fprofile",
    "-include-pch",
    "-mllvm",
    "-print",
];

/// These have a path in their value that is not looked at.
const MAPS: &[&str] = &["-fdebug-prefix-map=", "-ffile-prefix-map=", "-fmacro-prefix-map="];

/// Those whose value may be the next word.
const WITH_VALUE: &[&str] =
    &["-A", "-D", "-I", "-U", "-idirafter", "-imacros", "-include", "-iquote", "-isystem", "-x"];

/// Variables that compilers look at, as they begin.
const VARIABLES: &[&str] = &[
    "CCC_",
    "CLANG_",
    "COLLECT_",
    "COMPILER_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "GCC_",
    "LANG",
    "LC_",
    "LIBRARY_PATH",
    "NIX_",
    "SDKROOT",
    "SOURCE_DATE_EPOCH",
    "SYSROOT",
];

/// What stands for a request, whether or not its answer can be noted.
/// `compiler` stands for the files of the compiler as they are, `command` for
/// the unit and its command.
pub fn id(project: &Project, compiler: Fingerprint, command: Fingerprint) -> Fingerprint {
    let mut hasher = FpHasher::new("asked");
    hasher.fp(&compiler);
    hasher.bytes(project.root.as_os_str().as_encoded_bytes());
    hasher.fp(&command);
    hasher.fp(&environment());
    hasher.finish()
}

/// Names of the files that the arguments include. None if the text may depend on
/// what is not known.
pub fn included(arguments: &[String]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let begins = |list: &[&str]| list.iter().any(|start| word.starts_with(start));
        let may_name_file = (word.starts_with("-f") || word.starts_with("-m"))
            && word.contains(['/', '.'])
            && !begins(MAPS);
        if !begins(KNOWN) || begins(UNKNOWN) || may_name_file {
            return None;
        }
        let value = match WITH_VALUE.contains(&word.as_str()) {
            true => words.next()?.as_str(),
            false => word.trim_start_matches("-include").trim_start_matches("-imacros"),
        };
        if value.contains("__has_") {
            return None;
        }
        if word.starts_with("-include") || word.starts_with("-imacros") {
            names.push(value.to_string());
        }
    }
    Some(names)
}

pub(super) fn environment() -> Fingerprint {
    use std::sync::OnceLock;
    static KNOWN: OnceLock<Fingerprint> = OnceLock::new();
    *KNOWN.get_or_init(|| {
        let mut variables: Vec<_> = std::env::vars_os()
            .filter(|(name, _)| {
                let name = name.to_string_lossy();
                VARIABLES.iter().any(|start| name.starts_with(start))
            })
            .collect();
        variables.sort();
        let mut hasher = FpHasher::new("environment");
        for (name, value) in variables {
            hasher.bytes(name.as_encoded_bytes());
            hasher.bytes(value.as_encoded_bytes());
        }
        hasher.finish()
    })
}
