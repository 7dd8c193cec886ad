//! The link: adds the runtime, a build-id and a record of the link itself.

use super::flags::Effect;
use super::log::{self, Event};
use super::plan::Work;
use super::project::Project;
use super::{runtime, toolchain};
use crate::cfg::format::LinkRecord;
use crate::ids::Fingerprint;
use crate::instrument::{self, RECORD_SECTION};
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The object that is added to a link.
const RUNTIME_OBJECT: &str = "edgewise-link.o";

pub struct Link<'a> {
    pub project: &'a Project,
    pub directory: &'a Path,
    pub compiler: &'a Path,
    pub work: &'a Work,
    /// Objects that stand for sources of a compile-and-link command.
    pub compiled: &'a [(String, String)],
    pub plain: &'a [String],
}

impl Link<'_> {
    /// Links, and returns the exit code.
    pub fn run(&self) -> anyhow::Result<i32> {
        let words = self.words();
        // A compiler that calls another one by its name: we were here before.
        if words.iter().any(|word| word.ends_with(RUNTIME_OBJECT)) {
            let mut command = Command::new(self.compiler);
            let status = command.current_dir(self.directory).args(&words).status()?;
            return Ok(super::exit_code(status));
        }
        if let Some(reason) = self.unsuited() {
            return self.link_without_runtime(&words, reason);
        }
        let scratch = tempfile::Builder::new().prefix("edgewise-ld").tempdir()?;
        let takes_script = self.takes_script(&words);
        let object = match self.runtime_object(scratch.path(), takes_script)? {
            Ok(object) => object,
            Err(reason) => return self.link_without_runtime(&words, reason),
        };
        let mut ours = vec![object.to_string_lossy().into_owned()];
        if !words.iter().any(|word| word.contains("--build-id") && !word.ends_with("=none")) {
            ours.push(String::from("-Wl,--build-id=sha1"));
        }
        let mut command = Command::new(self.compiler);
        command.current_dir(self.directory);
        if takes_script {
            // First of all: ld takes a script of the user's before an INSERT
            // for what is to be inserted.
            let script = scratch.path().join(runtime::LINKER_SCRIPT);
            command.arg(format!("-Wl,-T,{}", script.display()));
        }
        let status = command.args(&words).args(ours).status()?;
        if status.success() {
            log::add(&Event::Linked { output: self.output() });
        }
        Ok(super::exit_code(status))
    }

    /// Whether the linker can add our script to its own, as that of GNU and lld do.
    fn takes_script(&self, words: &[String]) -> bool {
        let chosen = words.iter().filter(|word| word.starts_with("-fuse-ld"));
        let output = Command::new(self.compiler)
            .current_dir(self.directory)
            .args(chosen)
            .arg("-Wl,--version")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        let Ok(output) = output else { return true };
        let text = String::from_utf8_lossy(&output.stdout);
        !["gold", "mold"].iter().any(|name| text.to_lowercase().contains(name))
    }

    fn link_without_runtime(&self, words: &[String], reason: String) -> anyhow::Result<i32> {
        let status =
            Command::new(self.compiler).current_dir(self.directory).args(words).status()?;
        // What is only joined is linked again.
        if self.work.link.iter().any(|argument| argument.words[0] == "-r") {
            let arguments = self.plain.to_vec();
            log::add(&Event::NotAnalysed { arguments, reason, sources: Vec::new() });
        } else if status.success() {
            log::add(&Event::LinkedWithoutRuntime { output: self.output(), reason });
        }
        Ok(super::exit_code(status))
    }

    /// The program, as records name it.
    fn output(&self) -> String {
        let output = self.work.output.as_deref().unwrap_or("a.out");
        self.project.record_path(self.directory, output)
    }

    /// The words of the link, objects in the place of sources.
    fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        for word in self.work.link.iter().flat_map(|argument| &argument.words) {
            let object = self.compiled.iter().find(|(source, _)| source == word);
            words.push(object.map_or(word, |(_, object)| object).clone());
        }
        if let Some(output) = &self.work.output {
            words.extend([String::from("-o"), output.clone()]);
        }
        words
    }

    /// Links that take no runtime.
    fn unsuited(&self) -> Option<String> {
        let unsuited = ["-r", "-nostdlib", "-nostartfiles", "-nodefaultlibs", "-m32", "-mx32"];
        let has = |word: &str| self.work.link.iter().any(|a| a.words[0] == word);
        unsuited.iter().find(|word| has(word)).map(|word| format!("a link with {word}"))
    }

    /// The runtime and the record of this link, as one object; or why there is none.
    fn runtime_object(
        &self,
        scratch: &Path,
        takes_script: bool,
    ) -> anyhow::Result<Result<PathBuf, String>> {
        runtime::write_sources(scratch, toolchain::identity(self.compiler).architecture)?;
        let record = instrument::record_only(&self.record().encode());
        let source = format!("#include \"{}\"\n{record}", runtime::MAIN_SOURCE);
        fs_err::write(scratch.join("edgewise-link.c"), source)?;
        let object = scratch.join(RUNTIME_OBJECT);
        let target = self.work.link.iter().filter(|a| {
            a.effect == Effect::Code
                && ["--target", "-target", "--sysroot", "-B"]
                    .iter()
                    .any(|prefix| a.words[0].starts_with(prefix))
        });
        let output = Command::new(self.compiler)
            .current_dir(scratch)
            .args(target.flat_map(|argument| &argument.words))
            .args(["-std=gnu99", "-O2", "-fPIC", "-fno-lto", "-w", "-o", RUNTIME_OBJECT])
            .args((!takes_script).then_some("-DEDGEWISE_NO_SCRIPT"))
            .args(["-x", "c", "-c", "edgewise-link.c"])
            .stdin(Stdio::null())
            .output()?;
        if output.status.success() {
            return Ok(Ok(object));
        }
        let messages = String::from_utf8_lossy(&output.stderr);
        let first = messages.lines().find_map(|line| line.split_once("error: "));
        let first = first.map_or("", |(_, message)| message);
        Ok(Err(format!("the runtime does not compile: {first}")))
    }

    /// How the program is made, and the content of whatever goes into it
    /// without a record of its own.
    fn record(&self) -> LinkRecord {
        let arguments = self
            .work
            .link
            .iter()
            .filter(|a| a.effect != Effect::Harmless && a.effect != Effect::Text)
            .flat_map(|a| &a.words)
            .map(|word| self.project.record_argument(word))
            .collect();
        let mut unanalysed = Unanalysed::default();
        for argument in &self.work.link {
            for file in self.files_named(&argument.words) {
                if self.compiled.iter().any(|(source, _)| self.directory.join(source) == file) {
                    continue;
                }
                let name = self.project.record_path(self.directory, &file.to_string_lossy());
                match fs_err::read(&file) {
                    Ok(bytes) => unanalysed.add(&name, &bytes),
                    Err(_) => unanalysed.inputs.push((name, Fingerprint::default())),
                }
            }
        }
        let Unanalysed { inputs, mut names } = unanalysed;
        // Options that give names a meaning: --defsym, --wrap, --undefined.
        for word in self.work.link.iter().flat_map(|argument| &argument.words) {
            if ["--defsym", "--wrap", "--undefined", "-u"].iter().any(|o| word.contains(o)) {
                names.extend(word.split([',', '=']).map(String::from));
            }
        }
        LinkRecord { arguments, inputs, names: names.into_iter().collect() }
    }

    /// Existing files that an argument of the link names: itself, a library
    /// found by its name, or a part of it such as `--version-script=FILE`.
    fn files_named(&self, words: &[String]) -> Vec<PathBuf> {
        if let Some(name) = words[0].strip_prefix("-l") {
            let name = if name.is_empty() { words.get(1).map_or("", String::as_str) } else { name };
            return self.library(name).into_iter().collect();
        }
        words
            .iter()
            .flat_map(|word| word.split([',', '=']))
            .filter(|part| !part.is_empty())
            .map(|part| self.directory.join(part))
            .filter(|path| path.is_file())
            .collect()
    }

    /// A library in a directory given by `-L`; those of the system are known
    /// by what a process loads.
    fn library(&self, name: &str) -> Option<PathBuf> {
        let directories = self.work.link.iter().filter(|a| a.words[0].starts_with("-L"));
        let mut directories = directories.map(|a| match a.words.get(1) {
            Some(directory) => directory.as_str(),
            None => &a.words[0][2..],
        });
        directories.find_map(|directory| {
            ["so", "a"]
                .iter()
                .map(|kind| self.directory.join(directory).join(format!("lib{name}.{kind}")))
                .find(|path| path.is_file())
        })
    }
}

/// What goes into a program without a record of its own.
#[derive(Default)]
struct Unanalysed {
    inputs: Vec<(String, Fingerprint)>,
    names: BTreeSet<String>,
}

impl Unanalysed {
    /// Adds a file, or members of an archive, as far as they have no record.
    fn add(&mut self, name: &str, bytes: &[u8]) {
        if let Ok(archive) = ArchiveFile::parse(bytes) {
            for member in archive.members() {
                let Ok(member) = member else {
                    self.inputs.push((name.to_string(), Fingerprint::of(bytes)));
                    return;
                };
                if let Ok(data) = member.data(bytes) {
                    let member = String::from_utf8_lossy(member.name());
                    self.add(&format!("{name}({member})"), data);
                }
            }
            return;
        }
        let file = object::File::parse(bytes);
        let has_record = file
            .as_ref()
            .is_ok_and(|f| f.section_by_name(RECORD_SECTION).is_some_and(|s| s.size() > 0));
        if has_record {
            return;
        }
        self.inputs.push((name.to_string(), Fingerprint::of(bytes)));
        if let Ok(file) = file {
            let symbols = file.symbols().chain(file.dynamic_symbols());
            let names = symbols.filter(|s| s.is_global() || s.is_undefined());
            self.names.extend(names.filter_map(|s| s.name().ok().map(String::from)));
        }
    }
}
