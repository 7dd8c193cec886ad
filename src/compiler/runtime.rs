//! The sources of the runtime, carried in this program.

use crate::instrument::Architecture;
use std::path::Path;

/// The file that includes all others.
pub const MAIN_SOURCE: &str = "edgewise.c";
pub const LINKER_SCRIPT: &str = "edgewise.ld";

/// The same for the library that is preloaded to see which files are used.
pub const FILES_MAIN_SOURCE: &str = "files/files.c";

/// The same for the small keeper of tests.
pub const KEEPER_MAIN_SOURCE: &str = "keeper/keeper.c";

macro_rules! sources {
    ($list:ident: $($name:literal),* $(,)?) => {
        pub const $list: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../instrument-runtime/", $name)))),*];
    };
}

sources!(
    SOURCES:
    "ancestors.c",
    "attach.c",
    "cases.c",
    "channel.c",
    "edgewise.c",
    "edgewise.ld",
    "edgewise_format.h",
    "instances.c",
    "loaded.c",
    "module.c",
    "module.h",
    "paths.c",
    "process.c",
    "quietly.c",
    "say.c",
    "sys.c",
    "text.c",
);

sources!(
    FILES_SOURCES:
    "sys.c",
    "files/asking.c",
    "files/bytes.c",
    "files/changing.c",
    "files/confining.c",
    "files/environment.c",
    "files/executing.c",
    "files/files.c",
    "files/loading.c",
    "files/log.c",
    "files/next.c",
    "files/note.c",
    "files/opening.c",
    "files/paths.c",
    "files/programs.c",
    "files/raw.c",
    "files/rooms.c",
    "files/start.c",
    "files/uses_format.h",
    "files/walking.c",
);

sources!(
    KEEPER_SOURCES:
    "sys.c",
    "files/bytes.c",
    "keeper/keeper.c",
);

/// Writes the runtime's sources into a directory, for a machine.
pub fn write_sources(directory: &Path, architecture: Architecture) -> std::io::Result<()> {
    SOURCES.iter().try_for_each(|(name, text)| {
        let path = directory.join(name);
        match *name {
            LINKER_SCRIPT => fs_err::write(path, linker_script(architecture, Linker::Gnu)),
            _ => fs_err::write(path, text),
        }
    })
}

/// Linkers, by what they do with our script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Linker {
    Gnu,
    Lld,
    /// It cannot add a script to its own.
    Other,
}

/// The linker script for a machine and a linker.
pub fn linker_script(architecture: Architecture, linker: Linker) -> String {
    let mut text = String::from(source(LINKER_SCRIPT).expect("carried"));
    if architecture == Architecture::Other {
        text = text.replace("ALIGN(4096)", "ALIGN(65536)");
    }
    if linker == Linker::Lld {
        text = text
            .replace("HIDDEN(__edgewise_dot = .);", "")
            .replace(". = __edgewise_dot;", "")
            .replace("INSERT AFTER .bss", "INSERT BEFORE .data");
    }
    text
}

/// The text of one source.
pub fn source(name: &str) -> Option<&'static str> {
    let mut all = SOURCES.iter().chain(FILES_SOURCES).chain(KEEPER_SOURCES);
    all.find(|(known, _)| *known == name).map(|(_, text)| *text)
}
