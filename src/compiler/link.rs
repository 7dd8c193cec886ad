//! The link: adds the runtime, a build-id and a record of the link itself.

use super::flags::Effect;
use super::linked::{LINKER, Taken, Unanalysed, WHOLE, script};
use super::log::{self, Event};
use super::made::Made;
use super::plan::Work;
use super::project::Project;
use super::runtime::Linker;
use super::toolchain::{self, Compiler};
use super::written::Reads;
use super::{linker_words, made, response, runtime};
use crate::bytes;
use crate::cfg::format::LinkRecord;
use crate::ids::Fingerprint;
use crate::instrument;
use std::collections::{HashSet, VecDeque};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Who links.
pub enum Tool<'a> {
    /// A compiler.
    Driver(&'a Compiler),
    /// `ld` itself, and a compiler for the runtime.
    Linker(&'a Path, &'a Compiler),
}

/// The objects that are added to a link: its record, and the runtime.
const RECORD_OBJECT: &str = "edgewise-link.o";
const RUNTIME_OBJECT: &str = "edgewise-runtime.o";

pub struct Link<'a> {
    pub project: &'a Project,
    pub directory: &'a Path,
    pub tool: Tool<'a>,
    pub work: &'a Work,
    /// Objects that stand for sources of a compile-and-link command.
    pub compiled: &'a [(String, String)],
    /// Whether a log of nodes is kept.
    pub logs_nodes: bool,
    /// The command without us.
    pub plain: &'a [OsString],
}

impl Link<'_> {
    /// Links, and returns the exit code. A link that fails because of us is
    /// done without us: such a program is not traced.
    pub fn run(&self) -> anyhow::Result<i32> {
        let words = self.words();
        // A compiler that calls another one by its name: we were here before.
        if words.iter().any(|word| word.ends_with(RECORD_OBJECT)) {
            return super::run_real(self.command().args(bytes::all(words)));
        }
        let Ok(scratch) = tempfile::Builder::new().prefix("edgewise-ld").tempdir() else {
            return super::run_real(self.command().args(bytes::all(words)));
        };
        let words = response::shorten(words, scratch.path())?;
        let why = match self.unsuited() {
            Some(why) => why,
            None => match self.link_with_runtime(&words, scratch.path())? {
                Ok(output) if output.status.success() => {
                    log::add(&Event::Linked { output: self.output() });
                    return show(&output);
                }
                Ok(_) => String::from("the link fails with the runtime"),
                Err(why) => why,
            },
        };
        self.link_without_runtime(&words, why)
    }

    fn link_without_runtime(&self, words: &[String], reason: String) -> anyhow::Result<i32> {
        let output = self.command().args(bytes::all(words)).stdin(Stdio::inherit()).output()?;
        if output.status.success() {
            // What is only joined is linked again.
            if !self.is_partial() {
                log::add(&Event::LinkedWithoutRuntime { output: self.output(), reason });
            }
            return show(&output);
        }
        if self.compiled.is_empty() {
            show(&output)?;
            return Ok(super::exit_code(output.status));
        }
        // The linker is to name the user's files. Warnings were seen.
        super::run_real(self.command().args(self.plain).arg("-w"))
    }

    fn command(&self) -> Command {
        let mut command = match &self.tool {
            Tool::Driver(compiler) => compiler.command(),
            Tool::Linker(linker, _) => Command::new(linker),
        };
        command.current_dir(self.directory);
        command
    }

    /// Links with the runtime, or says why there is none.
    fn link_with_runtime(
        &self,
        words: &[String],
        scratch: &Path,
    ) -> anyhow::Result<Result<Output, String>> {
        let linker = self.linker_kind();
        let takes_script = linker != Linker::Other;
        let objects = match self.objects(scratch, takes_script) {
            Ok(objects) => objects,
            Err(why) => return Ok(Err(why)),
        };
        let script = scratch.join(runtime::LINKER_SCRIPT);
        let (Tool::Driver(compiler) | Tool::Linker(_, compiler)) = self.tool;
        let architecture = toolchain::identity(compiler).architecture;
        fs_err::write(&script, runtime::linker_script(architecture, linker))?;
        let build_id = "--build-id=sha1";
        let (script, build_id) = match self.tool {
            Tool::Driver(_) => {
                (format!("-Wl,-T,{}", bytes::name(script)), format!("-Wl,{build_id}"))
            }
            Tool::Linker(..) => (format!("-T{}", bytes::name(script)), build_id.to_string()),
        };
        let mut has_build_id = self.given().filter(|word| word.contains("--build-id"));
        let mut command = self.command();
        // The script comes first: ld takes a script of the user's before an
        // INSERT for what is to be inserted.
        let script = takes_script.then_some(script);
        command.args(bytes::all(script.iter().chain(words))).args(objects);
        if has_build_id.all(|word| word.ends_with("=none")) {
            command.arg(build_id);
        }
        Ok(Ok(command.stdin(Stdio::inherit()).output()?))
    }

    /// Which linker it is, by what it says of itself.
    fn linker_kind(&self) -> Linker {
        let mut command = self.command();
        match self.tool {
            Tool::Driver(_) => command
                .args(bytes::all(self.given().filter(|word| word.starts_with("-fuse-ld"))))
                .arg("-Wl,--version"),
            Tool::Linker(..) => command.arg("--version"),
        };
        let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
        let Ok(output) = output else { return Linker::Gnu };
        let text = String::from_utf8_lossy(&output.stdout).to_lowercase();
        if text.contains("gold") || text.contains("mold") {
            Linker::Other
        } else if text.contains("lld") {
            Linker::Lld
        } else {
            Linker::Gnu
        }
    }

    /// The program, as records name it.
    fn output(&self) -> String {
        let output = self.work.output.as_deref().unwrap_or("a.out");
        self.project.record_path(self.directory, output)
    }

    /// The words of the link, objects in the place of sources.
    fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        for argument in &self.work.link {
            let is_input = argument.effect == Effect::Link && argument.words.len() == 1;
            for word in &argument.words {
                let object = self.compiled.iter().find(|(source, _)| is_input && source == word);
                words.push(object.map_or(word, |(_, object)| object).clone());
            }
        }
        if let Some(output) = self.work.output.as_ref().filter(|_| self.names_output()) {
            words.extend([String::from("-o"), output.clone()]);
        }
        words
    }

    /// Whether the output is not among the words of the link.
    fn names_output(&self) -> bool {
        matches!(self.tool, Tool::Driver(_))
    }

    /// Why the runtime cannot be part of it, if so. It needs the C library.
    fn unsuited(&self) -> Option<String> {
        let is_bare = matches!(self.tool, Tool::Linker(..))
            || self.has(&["-nostdlib", "-nodefaultlibs", "-nolibc"]);
        let has_library = || {
            self.has(&["-lc", "c"])
                || self.given().any(|word| word.ends_with("/libc.a") || word.contains("/libc.so"))
        };
        if self.is_partial() {
            Some(String::from("it is only a part of a program"))
        } else if self.has(&["-m32", "-mx32"]) {
            Some(String::from("the runtime knows 64 bits only"))
        } else if is_bare && !has_library() {
            Some(String::from("it is linked without the C library"))
        } else {
            None
        }
    }

    fn is_partial(&self) -> bool {
        self.has(&["-r", "-i", "--relocatable", "-Ur"])
    }

    fn given(&self) -> impl Iterator<Item = &String> {
        self.work.link.iter().flat_map(|argument| &argument.words)
    }

    /// Whether one of some options is given, to the linker itself or through
    /// the compiler.
    fn has(&self, any: &[&str]) -> bool {
        let mut parts = self.given().flat_map(|word| word.trim_start_matches("-Wl,").split(','));
        parts.any(|part| any.contains(&part))
    }

    /// The record of this link and the runtime; or why there are none.
    fn objects(&self, scratch: &Path, takes_script: bool) -> Result<[PathBuf; 2], String> {
        let (Tool::Driver(compiler) | Tool::Linker(_, compiler)) = self.tool;
        let target = self.work.link.iter().filter(|a| {
            a.effect == Effect::Code
                && ["--target", "-target", "--sysroot", "-B"]
                    .iter()
                    .any(|prefix| a.words[0].starts_with(prefix))
        });
        let mut flags: Vec<&str> = vec!["-std=gnu99", "-fPIC", "-c"];
        flags.extend(target.flat_map(|argument| &argument.words).map(String::as_str));
        let record = instrument::record_only(&self.record().encode());
        let source = "edgewise-link.c";
        let record = Made {
            name: RECORD_OBJECT,
            sources: &[(source, &record)],
            main: source,
            flags: &flags,
        };
        let record = record.make_in(scratch, compiler)?;
        flags.extend((!takes_script).then_some("-DEDGEWISE_NO_SCRIPT"));
        flags.extend(self.logs_nodes.then_some("-DEDGEWISE_PATHS"));
        let runtime = Made {
            name: RUNTIME_OBJECT,
            sources: runtime::SOURCES,
            main: runtime::MAIN_SOURCE,
            flags: &flags,
        };
        let kept = made::existing_directory(&self.project.root).and_then(|kept| {
            runtime.make(&kept, compiler, &toolchain::identity(compiler).version).ok()
        });
        let runtime = match kept {
            Some(runtime) => runtime,
            None => runtime.make_in(scratch, compiler)?,
        };
        Ok([record, runtime])
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
        let words = linker_words::words(self.directory, self.given().cloned());
        let Unanalysed { mut inputs, mut names, unrecorded, altered, members } =
            self.unanalysed(&words);
        let record = |path: &Path| self.project.record_path(self.directory, &bytes::name(path));
        if let Some(path) = self.linker() {
            inputs.push((format!("{LINKER}{}", record(&path)), toolchain::of_program(&path)));
        }
        if let Some(path) = self.library("c").filter(|_| self.is_static()) {
            inputs.push((format!("{WHOLE}{}", record(&path)), toolchain::of_program(&path)));
        }
        names.extend(linker_words::names(&words));
        LinkRecord {
            arguments,
            inputs,
            names: names.into_iter().collect(),
            unrecorded: unrecorded.into_iter().collect(),
            altered: altered.into_iter().collect(),
            members,
        }
    }

    /// The files that a link takes in, as far as they have no record.
    fn unanalysed(&self, words: &[String]) -> Unanalysed {
        let mut found = Unanalysed::default();
        let record = |path: &Path| self.project.record_path(self.directory, &bytes::name(path));
        // Files with words in them count as they are.
        let parts = self.given().flat_map(|word| word.split(','));
        for file in parts.filter_map(|part| part.strip_prefix('@')) {
            let file = self.directory.join(bytes::path(file));
            if let Ok(bytes) = fs_err::read(&file) {
                found.add_list(&record(&file), &bytes);
            }
        }
        // The real compiler may have compiled a source alone. Its object vanishes.
        for (source, object) in self.compiled {
            let object = self.directory.join(bytes::path(object));
            let name = record(&self.directory.join(bytes::path(source)));
            if let Ok(bytes) = fs_err::read(&object) {
                found.add_compiled(&name, &object, &bytes);
            }
        }
        let mut seen: HashSet<PathBuf> = self
            .compiled
            .iter()
            .map(|(source, _)| self.directory.join(bytes::path(source)))
            .collect();
        let mut todo: VecDeque<Named> = self.files_named(words, Reads::of_link()).into();
        while let Some(Named { file, is_list, taken }) = todo.pop_front() {
            if !seen.insert(file.clone()) {
                continue;
            }
            let name = record(&file);
            match fs_err::read(&file) {
                Ok(bytes) if is_list => found.add_list(&name, &bytes),
                Ok(bytes) => {
                    let is_archive = bytes.starts_with(b"!<");
                    let taken = taken.unwrap_or(match is_archive {
                        true => Taken::IfNeeded,
                        false => Taken::Surely,
                    });
                    found.add(&name, &file, &bytes, taken);
                    let parts = script(&bytes).unwrap_or_default().split(|c: char| {
                        c.is_whitespace() || matches!(c, '(' | ')' | ',' | ';' | '"')
                    });
                    let parts: Vec<String> = parts.map(String::from).collect();
                    todo.extend(self.files_named(&parts, Reads::of_text()));
                }
                Err(_) => found.inputs.push((name, Fingerprint::default())),
            }
        }
        found
    }

    /// Existing files that words of the linker name: the word itself, a library found by its
    /// name, or a part of it such as `--version-script=FILE`.
    fn files_named(&self, words: &[String], mut reads: Reads) -> Vec<Named> {
        let mut files = Vec::new();
        let mut before = "";
        let mut modes = vec![None];
        for word in words {
            let parts = reads.parts(word);
            linker_words::follow(word, &mut modes);
            let taken = modes.last().copied().flatten();
            let is_list = linker_words::is_list(before, word);
            let library = match word.strip_prefix("-l") {
                Some("") => None,
                Some(name) => Some(name),
                None => Some(word.as_str()).filter(|_| before == "-l"),
            };
            before = word;
            if let Some(name) = library {
                let file = self.library(name);
                files.extend(file.map(|file| Named { file, is_list: false, taken }));
                continue;
            }
            let script = word.strip_prefix("-T").filter(|script| !script.is_empty());
            let parts = parts.into_iter().chain(script);
            let found = parts.filter_map(|part| self.find(part));
            files.extend(found.map(|file| Named { file, is_list, taken }));
        }
        files
    }

    /// A file by its name, which scripts may also have in a directory given by `-L`.
    fn find(&self, name: &str) -> Option<PathBuf> {
        let name = bytes::path(name);
        let directories = self.directories().map(|directory| bytes::path(directory));
        let places = std::iter::once(self.directory.join(&name))
            .chain(directories.map(|directory| self.directory.join(directory).join(&name)));
        { places }.find(|path| path.is_file())
    }

    /// The linker itself.
    fn linker(&self) -> Option<PathBuf> {
        match self.tool {
            Tool::Linker(path, _) => Some(path.to_path_buf()),
            Tool::Driver(compiler) => {
                let which = self.given().filter_map(|word| word.strip_prefix("-fuse-ld=")).last();
                let name = match which {
                    Some(path) if path.contains('/') => path.to_string(),
                    Some(kind) => format!("ld.{kind}"),
                    None => String::from("ld"),
                };
                let said = self.ask(compiler, &format!("-print-prog-name={name}"));
                said.and_then(|said| toolchain::find(&said))
            }
        }
    }

    /// What the compiler says where it looks for something.
    fn ask(&self, compiler: &Compiler, question: &str) -> Option<String> {
        let mut command = compiler.command();
        let given = self.given().filter(|word| word.starts_with("-B") || word.starts_with("-m"));
        command.args(bytes::all(given));
        command.arg(&*bytes::os(question)).current_dir(self.directory).stdin(Stdio::null());
        let output = command.stderr(Stdio::null()).output().ok()?;
        Some(bytes::to_text(&output.stdout).trim_end().to_string())
    }

    /// Where the linker is told to look.
    fn directories(&self) -> impl Iterator<Item = &str> {
        let directories = self.work.link.iter().filter(|a| a.words[0].starts_with("-L"));
        directories.map(|a| match a.words.get(1) {
            Some(directory) => directory.as_str(),
            None => &a.words[0][2..],
        })
    }

    fn is_static(&self) -> bool {
        self.has(&["-static", "-static-pie"])
    }

    /// A library in a directory given by `-L`, or a static one where the compiler
    /// looks by itself. Shared ones of the system are known by what a process loads.
    fn library(&self, name: &str) -> Option<PathBuf> {
        let mut directories = self.directories();
        let (shared, archive) = match name.strip_prefix(':') {
            Some(file) => (file.to_string(), file.to_string()),
            None => (format!("lib{name}.so"), format!("lib{name}.a")),
        };
        let given = directories.find_map(|directory| {
            let directory = self.directory.join(bytes::path(directory));
            [&shared, &archive]
                .map(|file| directory.join(bytes::path(file)))
                .into_iter()
                .find(|f| f.is_file())
        });
        given.or_else(|| {
            let Tool::Driver(compiler) = self.tool else { return None };
            // A name that it says again is one that it does not find.
            let found = |file: &str| {
                let said = self.ask(compiler, &format!("-print-file-name={file}"))?;
                Some(self.directory.join(bytes::path(&said)))
                    .filter(|path| said != file && path.is_file())
            };
            let is_shared = !self.is_static() && shared.contains(".so") && found(&shared).is_some();
            if is_shared { None } else { found(&archive) }
        })
    }
}

/// A file that words of the linker name.
struct Named {
    file: PathBuf,
    /// It is a list of names.
    is_list: bool,
    /// When it is taken in, where the words say so.
    taken: Option<Taken>,
}

/// Passes on what a link that succeeded had to say.
fn show(output: &Output) -> anyhow::Result<i32> {
    std::io::stdout().write_all(&output.stdout)?;
    std::io::stderr().write_all(&output.stderr)?;
    Ok(0)
}
