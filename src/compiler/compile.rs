//! Compiles one source with probes, and falls back step by step: offending
//! procedures opaque, then the unit as it is with its record, then the real
//! compiler alone. The user sees the real compiler's words.

use super::children::end_with_us;
use super::diagnostics::{self, Check};
use super::log::{self, Event};
use super::named;
use super::plan::Work;
use super::preprocess::{Job, Preprocessed};
use super::project::Project;
use super::read::{self, Read};
use super::settings::Settings;
use super::toolchain::{self, Compiler};
use super::unit::{self, Unit};
use super::{NotAnalysed, REJECTED, run_real, vouched};
use crate::bytes;
use crate::instrument;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Why a unit goes without probes that nobody wants to have any.
const SKIPPED: &str = "`skip` of [instrument] names it";

/// How often procedures that the compiler rejects are made opaque.
const RETRIES: usize = 3;

pub struct Compile<'a> {
    pub project: &'a Project,
    pub settings: &'a Settings,
    pub directory: &'a Path,
    /// The compiler as the user calls it, and the real one.
    pub compiler_name: &'a str,
    pub compiler: &'a Compiler,
    pub work: &'a Work,
    pub source: &'a str,
    /// Where the object goes, as the real compiler is to see it.
    pub object: &'a str,
    /// The object by which the unit is known.
    pub object_name: &'a str,
    /// What a dependency file is named after and speaks of: the object, or the
    /// program of a compile-and-link command.
    pub dependency_name: &'a str,
}

/// A unit that is ready to be compiled, with a directory for what that needs.
struct Prepared {
    scratch: tempfile::TempDir,
    unit: Unit,
    job: Job,
    preprocessed: Preprocessed,
    read: Read,
}

/// What became of a compile with probes.
struct Attempt {
    is_made: bool,
    event: Event,
    messages: Vec<u8>,
    /// Procedures to blame, each with the first message.
    culprits: Vec<(String, String)>,
}

impl Compile<'_> {
    /// Compiles, and returns the exit code.
    pub fn run(&self) -> anyhow::Result<i32> {
        let is_clang = toolchain::identity(self.compiler).is_clang;
        let check = Check::start(self.compiler, self.directory, self.work, self.source, is_clang);
        let aside = diagnostics::arguments(self.work, is_clang);
        let first = self.prepare(is_clang).and_then(|prepared| {
            let attempt = match self.settings.skips(&prepared.unit.key.source) {
                true => self.attempt_untouched(&prepared, SKIPPED, aside)?,
                false => self.attempt(&prepared, &FxHashMap::default(), aside)?,
            };
            Ok((prepared, attempt))
        });
        let is_silent = check.map(Check::wait_silent);
        let is_silent = is_silent.unwrap_or(!diagnostics::is_needed(self.work, is_clang));
        // Where our own means fail, a full disk say, the real compiler decides.
        let (prepared, first) = match first {
            Ok(first) => first,
            Err(error) => return self.leave(&format!("{error:#}"), &[]),
        };
        if !first.is_made {
            let code = self.run_plain(&[])?;
            return if code == 0 { self.retry(&prepared, first) } else { Ok(code) };
        }
        let has_messages = !prepared.preprocessed.messages.is_empty() || !first.messages.is_empty();
        if has_messages || !is_silent {
            let code = self.run_plain(&[])?;
            if code != 0 {
                return Ok(code);
            }
            if self.work.has_side_files {
                return self.retry(&prepared, first);
            }
        }
        self.finish(&prepared, &first.event)
    }

    /// Puts the object in its place.
    fn finish(&self, prepared: &Prepared, event: &Event) -> anyhow::Result<i32> {
        let made = self.made(prepared);
        let object = self.directory.join(bytes::path(self.object));
        if made != object
            && let Err(error) = fs_err::copy(made, object)
        {
            return self.leave(&error.to_string(), &["-w"]);
        }
        log::add(event);
        Ok(0)
    }

    /// Where our object is made: not in its place, since it is for the real
    /// compiler to say what becomes of an old one. But files beside it are named
    /// after its place.
    fn made(&self, prepared: &Prepared) -> PathBuf {
        match self.work.has_side_files {
            true => self.directory.join(bytes::path(self.object)),
            false => prepared.scratch.path().join("made.o"),
        }
    }

    fn prepare(&self, is_clang: bool) -> anyhow::Result<Prepared> {
        let scratch = tempfile::Builder::new().prefix("edgewise-cc").tempdir()?;
        let mut unit = Unit::of_compile(
            self.project,
            self.directory,
            self.compiler_name,
            self.work,
            self.source,
            self.object_name,
        );
        unit.search_of_environment(self.project, self.directory);
        unit.detail = self.settings.detail();
        let job = unit.job(self.project)?;
        let dependencies = self.work.dependencies.arguments(self.dependency_name, is_clang);
        let (preprocessed, read) = read::preprocess(self.project, &job, &dependencies)?;
        vouched::note(self.project, &unit, &job, &preprocessed.text);
        Ok(Prepared { scratch, unit, job, preprocessed, read })
    }

    /// Compiles with probes. Procedures in `forced` are opaque.
    fn attempt(
        &self,
        prepared: &Prepared,
        forced: &FxHashMap<String, String>,
        aside: &[&str],
    ) -> anyhow::Result<Attempt> {
        steadily(prepared, || self.attempt_once(prepared, forced, aside))
    }

    fn attempt_once(
        &self,
        prepared: &Prepared,
        forced: &FxHashMap<String, String>,
        aside: &[&str],
    ) -> anyhow::Result<Attempt> {
        let Prepared { unit, job, preprocessed, read, .. } = prepared;
        let selective = &self.settings.selective;
        let analysed =
            unit::analyse_selectively(self.project, unit, job, preprocessed, forced, selective);
        let mut record = analysed.record(self.project, unit, job, None);
        record.index.contents = analysed.contents(self.project, job, read);
        let text = analysed.instrumented(&record, job);
        let (is_made, messages) = self.compile(prepared, &text, aside)?;
        let culprits = if is_made { Vec::new() } else { culprits(&analysed, &messages) };
        Ok(Attempt { is_made, event: Event::compiled(&record.index), messages, culprits })
    }

    /// The real compiler took the source, and its object is in place of ours.
    fn retry(&self, prepared: &Prepared, first: Attempt) -> anyhow::Result<i32> {
        let why = first_error(&first.messages);
        let mut forced: FxHashMap<String, String> = FxHashMap::default();
        let mut culprits = first.culprits;
        for round in 0..RETRIES {
            let before = forced.len();
            for (procedure, message) in culprits {
                forced.entry(procedure).or_insert(format!("{REJECTED}: {message}"));
            }
            if round > 0 && forced.len() == before {
                break;
            }
            let Ok(attempt) = self.attempt(prepared, &forced, &["-w"]) else { break };
            if attempt.is_made {
                return self.finish(prepared, &attempt.event);
            }
            culprits = attempt.culprits;
        }
        self.compile_untouched(prepared, &why)
    }

    /// The unit as it is, with a record that says so.
    fn compile_untouched(&self, prepared: &Prepared, why: &str) -> anyhow::Result<i32> {
        let why = format!("{REJECTED}: {why}");
        match self.attempt_untouched(prepared, &why, &["-w"]) {
            Ok(attempt) if attempt.is_made => self.finish(prepared, &attempt.event),
            // Its words were seen.
            _ => self.leave(&why, &["-w"]),
        }
    }

    fn attempt_untouched(
        &self,
        prepared: &Prepared,
        why: &str,
        aside: &[&str],
    ) -> anyhow::Result<Attempt> {
        steadily(prepared, || self.attempt_untouched_once(prepared, why, aside))
    }

    fn attempt_untouched_once(
        &self,
        prepared: &Prepared,
        why: &str,
        aside: &[&str],
    ) -> anyhow::Result<Attempt> {
        let Prepared { unit, job, preprocessed, read, .. } = prepared;
        let none = FxHashMap::default();
        let analysed = unit::analyse(self.project, unit, job, preprocessed, &none);
        let mut record = analysed.record(self.project, unit, job, Some(why.to_string()));
        record.index.contents = analysed.contents(self.project, job, read);
        let mut text = preprocessed.text.clone();
        text.extend(instrument::record_only(&record.encode()).into_bytes());
        let (is_made, messages) = self.compile(prepared, &text, aside)?;
        let event = Event::compiled(&record.index);
        Ok(Attempt { is_made, event, messages, culprits: Vec::new() })
    }

    fn compile(
        &self,
        prepared: &Prepared,
        text: &[u8],
        aside: &[&str],
    ) -> anyhow::Result<(bool, Vec<u8>)> {
        let mut input = prepared.scratch.path().to_path_buf();
        input.push(bytes::path(self.source).file_stem().unwrap_or_default());
        input.as_mut_os_string().push(".i");
        fs_err::write(&input, text)?;
        let output = end_with_us(&mut self.compiler.command())
            .current_dir(self.directory)
            .args(bytes::all(self.work.words_for_text()))
            .args(aside)
            .arg("-c")
            .arg("-o")
            .arg(self.made(prepared))
            .arg(input)
            // The messages are read by us alone.
            .env("LANGUAGE", "en")
            .stdin(Stdio::null())
            .output()?;
        Ok((output.status.success(), output.stderr))
    }

    /// The command without us, with all that the real compiler has to say.
    fn run_plain(&self, aside: &[&str]) -> anyhow::Result<i32> {
        let is_clang = toolchain::identity(self.compiler).is_clang;
        run_real(
            end_with_us(&mut self.compiler.command())
                .stdin(Stdio::null())
                .current_dir(self.directory)
                .args(bytes::all(self.work.compile_words(self.source)))
                .args(bytes::all(self.work.dependencies.arguments(self.dependency_name, is_clang)))
                .args(aside)
                .args(["-c", "-o"])
                .arg(&*bytes::os(self.object)),
        )
    }

    /// Leaves the source to the real compiler.
    fn leave(&self, why: &str, aside: &[&str]) -> anyhow::Result<i32> {
        let code = self.run_plain(aside)?;
        if code == 0 {
            let arguments = self.work.compile_words(self.source);
            let reason = why.lines().next().unwrap_or_default();
            NotAnalysed { reason, sources: &[self.source], arguments: &arguments }.log(
                self.project,
                self.directory,
                self.compiler,
            );
        }
        Ok(code)
    }
}

/// Repeats a compile as long as files change that the assembler reads: the record has them as they were
/// before it.
fn steadily(
    prepared: &Prepared,
    attempt: impl Fn() -> anyhow::Result<Attempt>,
) -> anyhow::Result<Attempt> {
    let taken_in = || named::taken_in(&prepared.job, &prepared.preprocessed.text);
    for _ in 0..read::ROUNDS {
        let before = taken_in();
        let made = attempt()?;
        if taken_in() == before {
            return Ok(made);
        }
    }
    anyhow::bail!("a file that its asm takes in changes while it is compiled")
}

/// Procedures in which the compiler found errors, each with the first message.
fn culprits(analysed: &unit::Analysed<'_>, messages: &[u8]) -> Vec<(String, String)> {
    let messages = bytes::to_text(messages);
    let mut found = Vec::new();
    for line in messages.lines() {
        // Warnings that are errors are no fault of a procedure.
        let error = line.split_once(" error: ").filter(|_| !line.contains("[-Werror"));
        let Some((place, message)) = error else {
            continue;
        };
        let mut parts = place.trim_end_matches(':').rsplitn(3, ':');
        let (_column, line, file) = (parts.next(), parts.next(), parts.next());
        let (Some(line), Some(file)) = (line.and_then(|l| l.parse().ok()), file) else {
            continue;
        };
        for procedure in analysed.procedures_at(file, line) {
            found.push((procedure, message.to_string()));
        }
    }
    found
}

fn first_error(messages: &[u8]) -> String {
    let messages = bytes::to_text(messages);
    messages.lines().find(|line| line.contains("error: ")).unwrap_or_default().to_string()
}
