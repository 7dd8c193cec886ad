//! What the real compiler has to say of the user's own text.
//!
//! Our text has other warnings than the user's: comments are gone that keep a
//! fall-through quiet, a default was added to a switch, an assignment stands
//! in parentheses of ours. So the words of a compile of our text are never
//! shown. If it is silent and so is a check of the user's text, nobody has
//! anything to say. Otherwise the real compiler compiles the user's text too:
//! its words are seen, and it decides whether a warning is an error.

use super::flags::Effect;
use super::plan::Work;
use super::toolchain::Compiler;
use crate::bytes;
use std::path::Path;
use std::process::{Child, Stdio};

/// Warnings of gcc's front end that our text may give for no reason. The check
/// has those of the user's text; what remains are those that gcc finds while it
/// makes code, as of values that may not be set.
const FALSE_ALARMS: &[&str] = &[
    "-Wno-c++-compat",
    "-Wno-c90-c99-compat",
    "-Wno-c99-c11-compat",
    "-Wno-declaration-after-statement",
    "-Wno-error",
    "-Wno-implicit-fallthrough",
    "-Wno-int-in-bool-context",
    "-Wno-jump-misses-init",
    "-Wno-long-long",
    "-Wno-misleading-indentation",
    "-Wno-overlength-strings",
    "-Wno-padded",
    "-Wno-parentheses",
    "-Wno-switch",
    "-Wno-switch-default",
    "-Wno-switch-enum",
    "-Wno-system-headers",
    "-Wno-traditional",
    "-Wno-unused-label",
    "-Wno-unused-value",
];

/// Arguments for a compile of our text beside a check.
pub fn arguments(work: &Work, is_clang: bool) -> &'static [&'static str] {
    if is_clang {
        // The check has them all.
        &["-w", "-Qunused-arguments"]
    } else if is_needed(work, is_clang) {
        FALSE_ALARMS
    } else {
        &[]
    }
}

/// A check of a source's own text that runs beside us.
pub struct Check(Child);

impl Check {
    /// Starts one, where it is needed. Not where it would leave files beside the
    /// object.
    pub fn start(
        compiler: &Compiler,
        directory: &Path,
        work: &Work,
        source: &str,
        is_clang: bool,
    ) -> Option<Self> {
        if !is_needed(work, is_clang) || work.has_side_files {
            return None;
        }
        let child = super::children::end_with_us(&mut compiler.command())
            .current_dir(directory)
            .args(bytes::all(work.compile_words(source)))
            .args(how_far(work, is_clang))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        child.ok().map(Self)
    }

    /// Waits for its end: whether there is nothing to be said.
    pub fn wait_silent(self) -> bool {
        let output = self.0.wait_with_output();
        output.is_ok_and(|output| output.status.success() && output.stderr.is_empty())
    }
}

/// How far a compiler has to go to know its front end's warnings. For gcc,
/// falls through a switch are seen later than all others, on the way to code
/// that is never made.
fn how_far(work: &Work, is_clang: bool) -> &'static [&'static str] {
    let is_fall = |word: &String| word == "-W" || word == "-Wextra" || word.contains("fallthrough");
    if is_clang || !work.common_words().any(is_fall) {
        return &["-fsyntax-only"];
    }
    let is_optimized = work.common_words().rfind(|word| word.starts_with("-O"));
    match is_optimized.is_some_and(|level| level != "-O0") {
        true => OPTIMIZED_TO_GIMPLE,
        false => &OPTIMIZED_TO_GIMPLE[1..],
    }
}

/// The first is for headers, which ask.
const OPTIMIZED_TO_GIMPLE: &[&str] =
    &["-D__OPTIMIZE__=1", "-O0", "-flto", "-fno-fat-lto-objects", "-S", "-o", "/dev/null"];

/// Whether warnings are possible that a compile of our text does not have. gcc
/// has only few of its own accord, all of which our text has too. clang has many.
pub fn is_needed(work: &Work, is_clang: bool) -> bool {
    if work.common_words().any(|word| word == "-w") {
        return false;
    }
    let asks = |word: &String| {
        word.starts_with("-pedantic") || word.starts_with("-W") && !word.starts_with("-Wno-")
    };
    let harmless = work.common.iter().filter(|argument| argument.effect == Effect::Harmless);
    let is_asked = harmless.flat_map(|argument| &argument.words).any(asks);
    // Inputs of a link that is not done are worth a warning.
    is_clang || is_asked || work.compile_only && work.has_unused_inputs()
}
