//! Compiles one source with probes, and falls back step by step: offending
//! procedures opaque, then the unit as it is with its record, then the real
//! compiler alone. The user sees the real compiler's words.

use super::log::{self, Event};
use super::plan::Work;
use super::preprocess::{self, Job, PreprocessError, Preprocessed};
use super::project::Project;
use super::unit::{self, Unit};
use super::{REJECTED, toolchain};
use crate::instrument;
use rustc_hash::FxHashMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// How often procedures that the compiler rejects are made opaque.
const RETRIES: usize = 3;

pub struct Compile<'a> {
    pub project: &'a Project,
    pub directory: &'a Path,
    /// The compiler as the user calls it, and the real one.
    pub compiler_name: &'a str,
    pub compiler: &'a Path,
    pub work: &'a Work,
    pub source: &'a str,
    /// Where the object goes, as the real compiler is to see it.
    pub object: &'a str,
    /// The object by which the unit is known.
    pub object_name: &'a str,
    /// What a dependency file is named after and speaks of: the object, or the
    /// program of a compile-and-link command.
    pub dependency_name: &'a str,
    /// The whole command for the real compiler, if it has to do it alone.
    pub plain: &'a [String],
}

impl Compile<'_> {
    /// Compiles, and returns the exit code.
    pub fn run(&self) -> anyhow::Result<i32> {
        let scratch = tempfile::Builder::new().prefix("edgewise-cc").tempdir()?;
        let unit = Unit::of_compile(
            self.project,
            self.directory,
            self.compiler_name,
            self.work,
            self.source,
            self.object_name,
        );
        let job = unit.job(self.project)?;
        let preprocessed =
            match preprocess::preprocess(self.project, &job, &self.dependency_arguments()) {
                Ok(preprocessed) => preprocessed,
                // The real compiler says it better, and knows the exit code.
                Err(PreprocessError::Start { .. } | PreprocessError::Failed(_)) => {
                    return self.run_plain();
                }
            };
        let stem = Path::new(self.source).file_stem().unwrap_or_default();
        let input = scratch.path().join(stem).with_extension("i");
        let mut forced = FxHashMap::default();
        let mut first_messages = None;
        for _ in 0..RETRIES {
            let analysed = unit::analyse(self.project, &unit, &job, &preprocessed, &forced);
            let record = analysed.record(self.project, &unit, &job, None);
            let text = instrument::instrument(
                &analysed.tree,
                &analysed.analysis,
                analysed.fingerprint,
                &record.encode(),
                toolchain::identity(self.compiler).architecture,
            );
            let (ok, messages) = self.compile(&input, &text)?;
            if ok {
                std::io::stderr().write_all(&preprocessed.messages)?;
                std::io::stderr().write_all(&messages)?;
                log::add(&Event::compiled(&record.index));
                return Ok(0);
            }
            let culprits = culprits(&analysed, &messages);
            if first_messages.is_none() {
                // Is it the user's own mistake?
                let code = self.run_plain()?;
                if code != 0 {
                    return Ok(code);
                }
                first_messages = Some(first_error(&messages));
            }
            let before = forced.len();
            for (procedure, message) in culprits {
                forced.entry(procedure).or_insert(format!("{REJECTED}: {message}"));
            }
            if forced.len() == before {
                break;
            }
        }
        let why = first_messages.unwrap_or_default();
        self.compile_untouched(&unit, &job, &preprocessed, &input, &why)
    }

    /// The unit as it is, with a record that says so.
    fn compile_untouched(
        &self,
        unit: &Unit,
        job: &Job,
        preprocessed: &Preprocessed,
        input: &Path,
        why: &str,
    ) -> anyhow::Result<i32> {
        let analysed = unit::analyse(self.project, unit, job, preprocessed, &FxHashMap::default());
        let why = format!("{REJECTED}: {why}");
        let record = analysed.record(self.project, unit, job, Some(why));
        let mut text = preprocessed.text.clone();
        text.extend(instrument::record_only(&record.encode()).into_bytes());
        let (ok, _) = self.compile(input, &text)?;
        if !ok {
            return self.run_plain();
        }
        log::add(&Event::compiled(&record.index));
        Ok(0)
    }

    fn compile(&self, input: &Path, text: &[u8]) -> anyhow::Result<(bool, Vec<u8>)> {
        fs_err::write(input, text)?;
        let output = Command::new(self.compiler)
            .current_dir(self.directory)
            .args(self.work.common.iter().flat_map(|argument| &argument.words))
            .arg("-c")
            .arg("-o")
            .arg(self.object)
            .arg(input)
            .stdin(Stdio::null())
            .output()?;
        Ok((output.status.success(), output.stderr))
    }

    fn run_plain(&self) -> anyhow::Result<i32> {
        super::run_real(self.compiler, self.plain)
    }

    /// Dependency options, with file and target as the real compiler would
    /// choose them for this object.
    fn dependency_arguments(&self) -> Vec<String> {
        let dependencies = &self.work.dependencies;
        if !dependencies.wanted {
            return Vec::new();
        }
        let mut words = dependencies.words.clone();
        if !dependencies.has_file {
            let file = Path::new(self.dependency_name).with_extension("d");
            words.extend([String::from("-MF"), file.to_string_lossy().into_owned()]);
        }
        if !dependencies.has_target {
            words.extend([String::from("-MQ"), self.dependency_name.to_string()]);
        }
        words
    }
}

/// Procedures in which the compiler found errors, each with the first message.
fn culprits(analysed: &unit::Analysed<'_>, messages: &[u8]) -> Vec<(String, String)> {
    let messages = String::from_utf8_lossy(messages);
    let mut found = Vec::new();
    for line in messages.lines() {
        let Some((place, message)) = line.split_once(" error: ") else {
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
    let messages = String::from_utf8_lossy(messages);
    messages.lines().find(|line| line.contains("error: ")).unwrap_or_default().to_string()
}
