//! The sources of the runtime, carried in this program.

use crate::ids::{Fingerprint, FpHasher};
use crate::instrument::Architecture;
use std::path::Path;

/// The file that includes all others.
pub const MAIN_SOURCE: &str = "edgewise.c";
pub const LINKER_SCRIPT: &str = "edgewise.ld";

/// The same for the library that is preloaded to see which files are used.
pub const FILES_MAIN_SOURCE: &str = "files/files.c";

macro_rules! sources {
    ($list:ident: $($name:literal),* $(,)?) => {
        const $list: &[(&str, &str)] =
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

/// Writes the sources of the preloaded library into a directory.
pub fn write_files_sources(directory: &Path) -> std::io::Result<()> {
    fs_err::create_dir_all(directory.join("files"))?;
    FILES_SOURCES.iter().try_for_each(|(name, text)| fs_err::write(directory.join(name), text))
}

/// All that the preloaded library is made of.
pub fn files_fingerprint() -> Fingerprint {
    let mut hasher = FpHasher::new("preloaded library");
    for (name, text) in FILES_SOURCES {
        hasher.str(name);
        hasher.str(text);
    }
    hasher.finish()
}

/// Writes the runtime's sources into a directory, for a machine.
pub fn write_sources(directory: &Path, architecture: Architecture) -> std::io::Result<()> {
    SOURCES.iter().try_for_each(|(name, text)| {
        let path = directory.join(name);
        match architecture {
            Architecture::Other if *name == LINKER_SCRIPT => {
                fs_err::write(path, text.replace("ALIGN(4096)", "ALIGN(65536)"))
            }
            _ => fs_err::write(path, text),
        }
    })
}

/// The text of one source.
pub fn source(name: &str) -> Option<&'static str> {
    let mut all = SOURCES.iter().chain(FILES_SOURCES);
    all.find(|(known, _)| *known == name).map(|(_, text)| *text)
}
