//! From a compile command to a unit's record, and to the text that is
//! compiled in its place. The same code serves the build and a selection from
//! sources, so that both see the same unit.

use super::flags::Effect;
use super::named;
use super::plan::{Argument, Work};
use super::preprocess::{self, Job, PreprocessError, Preprocessed};
use super::project::{Project, clean, relative};
use super::read::Read;
use super::selective::Selective;
use super::toolchain::{self, Compiler};
use crate::bytes;
use crate::cfg::format::{Command, Detail, Granularity, UnitIndex, UnitKey, UnitRecord, VERSION};
use crate::cfg::unit::{self, Analysis, Known};
use crate::frontend::{self, Assembler, Tree, symbols::Symbolic};
use crate::ids::{Fingerprint, FpHasher};
use crate::instrument::{self, Architecture, Code, PlainCode};
use rustc_hash::FxHashMap;
use std::path::Path;

/// Flags with which plain arithmetic may end the process, as they begin.
const TRAPPING: [&str; 4] = ["-fnon-call-exceptions", "-fsanitize", "-fstack-check", "-ftrapv"];

/// Variables that name directories with headers, each with the option that does the same.
const SEARCHED: [(&str, &str); 2] = [("CPATH", "-I"), ("C_INCLUDE_PATH", "-isystem")];

/// A unit of a project: its key and the command that makes it.
pub struct Unit {
    pub key: UnitKey,
    pub command: Command,
    pub detail: Detail,
}

impl Unit {
    /// The unit that a compile of `source` to `object` makes.
    pub fn of_compile(
        project: &Project,
        directory: &Path,
        compiler: &str,
        work: &Work,
        source: &str,
        object: &str,
    ) -> Self {
        let stated: &[&str] = if work.is_stated { &["-x", "c"] } else { &[] };
        let words = work.common_words().map(String::as_str).chain(stated.iter().copied());
        let arguments = words.map(|word| project.record_argument(word)).collect();
        Self {
            key: UnitKey {
                source: project.record_path(directory, source),
                object: project.record_object(directory, object),
            },
            command: Command {
                compiler: compiler.to_string(),
                arguments,
                directory: project.record_path(directory, "."),
                source: project.record_argument(source),
            },
            detail: Detail::default(),
        }
    }

    /// Takes over where variables of this process have the compiler look for headers, as far as that is in
    /// the project: a makefile may set them, and a selection from sources is no part of its build.
    pub fn search_of_environment(&mut self, project: &Project, directory: &Path) {
        for (variable, option) in SEARCHED {
            let Some(value) = std::env::var_os(variable).filter(|value| !value.is_empty()) else {
                continue;
            };
            for place in std::env::split_paths(&value) {
                // Nothing between two colons is the working directory.
                let named = if place.as_os_str().is_empty() { Path::new(".") } else { &place };
                if project.holds(&clean(&directory.join(named))) {
                    let word = project.record_argument(&bytes::name(named));
                    self.command.arguments.extend([option.to_string(), word]);
                }
            }
        }
    }

    /// The unit of a record.
    pub fn of_index(index: &UnitIndex) -> Self {
        let UnitIndex { key, command, detail, .. } = index;
        Self { key: key.clone(), command: command.clone(), detail: *detail }
    }

    /// Stands for everything of the unit but its text and its compiler.
    pub fn command_id(&self) -> Fingerprint {
        let mut hasher = FpHasher::new("command");
        let Command { compiler, arguments, directory, source } = &self.command;
        let words = [&self.key.source, &self.key.object, compiler, directory, source];
        words.into_iter().for_each(|word| hasher.str(word));
        hasher.number(self.detail.granularity as u64);
        hasher.number(u64::from(self.detail.counts_entries));
        arguments.iter().for_each(|word| hasher.str(word));
        hasher.finish()
    }

    /// The preprocessor run of this unit, with the project where it is now.
    pub fn job(&self, project: &Project) -> Result<Job, PreprocessError> {
        let compiler = Compiler::find(&self.command.compiler).ok_or_else(|| {
            PreprocessError::Failed(format!("compiler `{}` not found", self.command.compiler))
        })?;
        Ok(Job {
            compiler,
            directory: project.place(&self.command.directory),
            arguments: self
                .command
                .arguments
                .iter()
                .map(|argument| project.expand_argument(argument))
                .collect(),
            source: project.expand_argument(&self.command.source),
            recorded: None,
        })
    }

    /// How the unit is compiled, apart from its text: flags that act on code,
    /// the compiler, and files that flags or asm name.
    pub fn how(&self, project: &Project, job: &Job, text: &[u8]) -> Fingerprint {
        let mut hasher = FpHasher::new("how");
        hasher.str(&toolchain::identity(&job.compiler).version);
        for argument in code_arguments(&self.command.arguments) {
            argument.words.iter().for_each(|word| hasher.str(word));
        }
        let object = project.place(&self.key.object);
        named::add(&mut hasher, job, &code_arguments(&job.arguments), &object, text);
        hasher.finish()
    }

    /// What the flags make of code that looks harmless.
    fn plain_code(&self) -> PlainCode {
        let traps = |word: &String| TRAPPING.iter().any(|flag| word.starts_with(flag));
        if self.command.arguments.iter().any(traps) {
            PlainCode::MayTrap
        } else {
            PlainCode::GoesOn
        }
    }

    /// What is compiled and how.
    pub fn fingerprint(&self, project: &Project, job: &Job, text: &[u8]) -> Fingerprint {
        let mut hasher = FpHasher::new("unit");
        hasher.number(u64::from(VERSION));
        hasher.str(&self.key.source);
        hasher.str(&self.key.object);
        hasher.fp(&self.how(project, job, text));
        hasher.number(self.detail.granularity as u64);
        hasher.number(u64::from(self.detail.counts_entries));
        // Absolute names of files of the project differ from place to place.
        let root = preprocess::quoted_root(project);
        let mut from = 0;
        for at in memchr::memmem::find_iter(text, &root) {
            hasher.bytes(&text[from..at]);
            from = at + root.len();
        }
        hasher.bytes(&text[from..]);
        hasher.finish()
    }
}

/// A file that `#line` names, as it is recorded. Generators write names that are relative to where
/// they ran, which nobody knows here: the file counts that is there.
fn named_file(project: &Project, job: &Job, file: &str) -> String {
    let source = job.directory.join(bytes::path(&job.source));
    let directories =
        [Some(job.directory.as_path()), source.parent(), Some(project.root.as_path())];
    let places = || {
        let directories = directories.iter().flatten();
        directories.map(|directory| clean(&directory.join(bytes::path(file))))
    };
    let found = places().find(|place| place.is_file());
    // Of one that is nowhere, the name says more than an absolute path outside of the project.
    let found = found.or_else(|| places().find(|place| project.holds(place)));
    project.record_path(&job.directory, &found.map_or_else(|| file.to_string(), bytes::name))
}

/// The arguments that act on code, read back from their words.
fn code_arguments(words: &[String]) -> Vec<Argument> {
    // An input is needed for a plan; it does not count.
    let mut words = words.to_vec();
    words.push(String::from("x.o"));
    match super::plan::plan(&words) {
        super::plan::Plan::Work(work) => {
            work.common.into_iter().filter(|argument| argument.effect == Effect::Code).collect()
        }
        super::plan::Plan::Untouched(_) => {
            vec![Argument { words, effect: Effect::Code }]
        }
    }
}

/// Whether a compiler for x86-64 is asked for code that is not the usual kind.
fn is_another_x86(words: &[String]) -> bool {
    const FLAGS: &[&str] = &["-m16", "-m32", "-mcmodel=large", "-mcmodel=medium"];
    words.iter().any(|word| FLAGS.contains(&word.as_str()))
}

/// Whether arguments for the assembler may name a source of it, which may define macros.
fn gives_assembler_files(words: &[String]) -> bool {
    let before = std::iter::once("").chain(words.iter().map(String::as_str));
    words.iter().zip(before).any(|(word, before)| {
        let parts = word.strip_prefix("-Wa,").or((before == "-Xassembler").then_some(word));
        parts.is_some_and(|parts| parts.split(',').any(|part| !part.starts_with('-')))
    })
}

/// Whether the compiler is asked to spend time on better code.
fn is_optimized(words: &[String]) -> bool {
    let level = words.iter().rev().find_map(|word| word.strip_prefix("-O"));
    level.is_some_and(|level| !matches!(level, "0" | "g"))
}

/// A unit with its text parsed and its graphs built.
pub struct Analysed<'t> {
    pub tree: Tree<'t>,
    pub analysis: Analysis,
    pub fingerprint: Fingerprint,
    how: Fingerprint,
    granularity: Granularity,
    probe_count: u32,
}

/// Analyses preprocessed text. Procedures in `forced` are opaque.
pub fn analyse<'t>(
    project: &Project,
    unit: &Unit,
    job: &Job,
    preprocessed: &'t Preprocessed,
    forced: &FxHashMap<String, String>,
) -> Analysed<'t> {
    analyse_selectively(project, unit, job, preprocessed, forced, &Selective::default())
}

/// The same, with probes where they are asked for.
pub fn analyse_selectively<'t>(
    project: &Project,
    unit: &Unit,
    job: &Job,
    preprocessed: &'t Preprocessed,
    forced: &FxHashMap<String, String>,
    selective: &Selective,
) -> Analysed<'t> {
    let mut tree = parse(project, job, preprocessed, &[]);
    let mut analysis = unit::analyse(&mut tree, forced);
    let code = Code { plain: unit.plain_code() };
    let fingerprint = unit.fingerprint(project, job, &preprocessed.text);
    let only = selective.of(fingerprint).filter(|_| unit.detail == Detail::default());
    let probe_count = instrument::assign_probes_to(&mut analysis, code, unit.detail, only);
    let how = unit.how(project, job, &preprocessed.text);
    let granularity = unit.detail.granularity;
    Analysed { analysis, fingerprint, how, granularity, probe_count, tree }
}

/// The same for comparing with an old version of the unit: what did not change
/// is taken from there, and nothing has a probe.
pub fn analyse_changes<'t>(
    project: &Project,
    unit: &Unit,
    job: &Job,
    preprocessed: &'t Preprocessed,
    forced: &FxHashMap<String, String>,
    old: &Known<'_>,
) -> Analysed<'t> {
    let mut tree = parse(project, job, preprocessed, &old.bodies());
    let analysis = unit::analyse_unknown(&mut tree, forced, old).unwrap_or_else(|| {
        tree = parse(project, job, preprocessed, &[]);
        unit::analyse(&mut tree, forced)
    });
    let fingerprint = unit.fingerprint(project, job, &preprocessed.text);
    let how = unit.how(project, job, &preprocessed.text);
    let granularity = unit.detail.granularity;
    Analysed { analysis, fingerprint, how, granularity, probe_count: 0, tree }
}

fn parse<'t>(
    project: &Project,
    job: &Job,
    preprocessed: &'t Preprocessed,
    known: &[Option<Fingerprint>],
) -> Tree<'t> {
    let root = bytes::name(&project.root);
    let symbolic = preprocessed.symbolic.as_deref().map(|text| Symbolic { text, root: &root });
    let is_system = |file: &str| preprocess::is_system(project, &job.directory, file);
    let assembler = match gives_assembler_files(&job.arguments) {
        true => Assembler::Macros,
        false => Assembler::Plain,
    };
    frontend::analyse_unknown(&preprocessed.text, symbolic.as_ref(), &is_system, assembler, known)
}

impl Analysed<'_> {
    /// The record. `untouched` is why the unit is compiled without probes.
    pub fn record(
        &self,
        project: &Project,
        unit: &Unit,
        job: &Job,
        untouched: Option<String>,
    ) -> UnitRecord {
        let analysis = &self.analysis;
        let files = (0..).zip(&analysis.files).map(|(number, file)| match file.as_str() {
            file if file.starts_with('<') => String::new(),
            file if analysis.only_named.contains(&number) => named_file(project, job, file),
            file => project.record_path(&job.directory, file),
        });
        let mut files: Vec<String> = files.collect();
        let unparsed = analysis.unparsed.iter().map(|(place, what)| {
            let file = files.get(place.file as usize).map_or("", String::as_str);
            format!("{file}:{}: {what}", place.line)
        });
        let problems = unparsed.collect();
        files.extend(self.names_by_links(project, job).into_iter().map(|(_, name)| name));
        UnitRecord {
            index: UnitIndex {
                key: unit.key.clone(),
                fingerprint: self.fingerprint,
                how: self.how,
                command: unit.command.clone(),
                detail: unit.detail,
                files,
                only_named: analysis.only_named.clone(),
                contents: Vec::new(),
                takes_files: named::takes_files(&self.tree.text),
                probe_count: self.probe_count,
                symbols: analysis.symbols.clone(),
                weak: analysis.weak.clone(),
                outside: analysis.outside,
                address_taken: analysis.address_taken.clone(),
                definitions: analysis.definitions.clone(),
                declarations: analysis.declarations.clone(),
                composition: analysis.composition,
                procedures: analysis.procedures.clone(),
                untouched,
                problems,
            },
            graphs: analysis.graphs.clone(),
        }
    }

    /// Files, by number, that were read by way of a link to a directory, with the names they were
    /// read by: where these lead elsewhere later, the unit would be another one.
    fn names_by_links(&self, project: &Project, job: &Job) -> Vec<(usize, String)> {
        let files = self.analysis.files.iter().enumerate();
        let read = files.filter(|(number, file)| {
            !file.starts_with('<') && !self.analysis.only_named.contains(&(*number as u32))
        });
        let by_link = read.filter_map(|(number, file)| {
            let path = job.directory.join(bytes::path(file));
            let plain = relative(&project.root, &clean(&path));
            let is_by_link = path.starts_with(&project.root)
                && plain != project.record_path(&job.directory, file);
            is_by_link.then(|| (number, relative(&project.root, &path)))
        });
        by_link.collect()
    }

    /// What was in the files that it is made of.
    pub fn contents(&self, project: &Project, job: &Job, read: &Read) -> Vec<Fingerprint> {
        let files = (0..).zip(&self.analysis.files);
        let content = |(number, file): (u32, &String)| {
            let is_named = self.analysis.only_named.contains(&number);
            if is_named { Fingerprint::default() } else { read.content(file) }
        };
        let mut contents: Vec<Fingerprint> = files.map(content).collect();
        let by_links = self.names_by_links(project, job).into_iter();
        let by_links: Vec<Fingerprint> = by_links.map(|(number, _)| contents[number]).collect();
        contents.extend(by_links);
        contents
    }

    /// The text to compile, with all probes and the record in it.
    pub fn instrumented(&self, record: &UnitRecord, job: &Job) -> Vec<u8> {
        let architecture = match toolchain::identity(&job.compiler).architecture {
            Architecture::X86_64 if is_another_x86(&job.arguments) => Architecture::OtherX86,
            architecture => architecture,
        };
        let record = record.encode();
        let (tree, analysis) = (&self.tree, &self.analysis);
        let how = instrument::Compiled {
            architecture,
            granularity: self.granularity,
            is_optimized: is_optimized(&job.arguments),
        };
        instrument::instrument(tree, analysis, self.fingerprint, &record, how)
    }

    /// Procedures that hold a line of a file, for blaming them.
    pub fn procedures_at(&self, file: &str, line: u32) -> Vec<String> {
        let tree = &self.tree;
        let line_of = |token: u32| {
            let offset = tree.tokens.all[token as usize].start;
            tree.tokens.lines.place(offset)
        };
        tree.procedures
            .iter()
            .filter(|procedure| {
                let (Some(first), Some(last)) =
                    (line_of(procedure.range.start), line_of(procedure.range.end - 1))
                else {
                    return false;
                };
                tree.tokens.lines.files[first.file as usize] == file
                    && (first.line..=last.line).contains(&line)
            })
            .map(|procedure| tree.tokens.names.string(procedure.name))
            .collect()
    }
}
