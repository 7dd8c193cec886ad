//! The sources of the runtime, carried in this program.

use crate::instrument::Architecture;
use std::path::Path;

/// The file that includes all others.
pub const MAIN_SOURCE: &str = "edgewise.c";
pub const LINKER_SCRIPT: &str = "edgewise.ld";

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        const SOURCES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../instrument-runtime/", $name)))),*];
    };
}

sources!(
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
    SOURCES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
