//! What a compiler command asks for.

use super::flags::{self, Effect, Given};
use crate::bytes;
use std::path::Path;

/// A compiler command, understood.
#[derive(Debug, PartialEq)]
pub enum Plan {
    /// Let the real compiler do it, for this reason.
    Untouched(&'static str),
    Work(Work),
}

#[derive(Debug, Default, PartialEq)]
pub struct Work {
    /// C sources, to be compiled.
    pub sources: Vec<String>,
    /// `-x c` says that they are C, whatever their names.
    pub is_stated: bool,
    /// Inputs in other languages, which the real compiler compiles.
    pub others: Vec<String>,
    /// Arguments that preprocessing and compiling see, in their order.
    pub common: Vec<Argument>,
    pub dependencies: Dependencies,
    pub output: Option<String>,
    /// `-c`: no link.
    pub compile_only: bool,
    /// Files are made beside the object that are named after it.
    pub has_side_files: bool,
    /// All arguments of a link, in their order, with sources still in it.
    pub link: Vec<Argument>,
}

/// One option with its value, as the words it was given in.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    pub words: Vec<String>,
    pub effect: Effect,
}

/// `-MD` and the like.
#[derive(Debug, Default, PartialEq)]
pub struct Dependencies {
    pub words: Vec<String>,
    /// The driver is asked for a file: `-MD`, `-MMD`.
    pub wanted: bool,
    /// The preprocessor is: `-Wp,-MD,FILE`.
    pub wanted_of_preprocessor: bool,
    pub has_file: bool,
    pub has_target: bool,
}

/// Reads the arguments of a compiler, without looking at any file.
pub fn plan(arguments: &[String]) -> Plan {
    let mut reader = Reader::default();
    for given in flags::each(arguments) {
        if let Err(why) = reader.read(&given) {
            return Plan::Untouched(why);
        }
    }
    match reader.finish() {
        Ok(work) => Plan::Work(work),
        Err(why) => Plan::Untouched(why),
    }
}

/// Why a command is left to the real compiler.
type Why = &'static str;

#[derive(Default)]
struct Reader {
    work: Work,
    inputs: usize,
    /// What `-x` says of the inputs behind it.
    language: Option<Language>,
}

impl Reader {
    fn read(&mut self, given: &Given<'_>) -> Result<(), Why> {
        if !given.is_option() && given.flag.is_none() {
            return self.input(given.words[0]);
        }
        let (effect, value) = (given.effect(), given.value.ok_or("an argument without its value")?);
        let words: Vec<String> = given.words.iter().map(|word| word.to_string()).collect();
        let work = &mut self.work;
        match effect {
            Effect::Untouched => return Err("an option that is not for us"),
            Effect::Language => self.language = stated_language(value)?,
            Effect::CompileOnly => work.compile_only = true,
            Effect::Output => work.output = Some(value.to_string()),
            Effect::Dependencies => {
                work.dependencies.read(given.flag.map_or("", |flag| flag.name));
                work.dependencies.words.extend(words);
            }
            Effect::Link => work.link.push(Argument { words, effect }),
            Effect::Preprocessor => {
                let mut parts = value.split(',');
                let first = parts.next().unwrap_or_default();
                if first.starts_with("-M") {
                    work.dependencies.read_of_preprocessor(first, parts)?;
                    work.dependencies.words.extend(words);
                } else if first.starts_with("-D") || first.starts_with("-U") {
                    work.add(words, Effect::Text);
                } else {
                    return Err("an option of the preprocessor");
                }
            }
            // What such a header declares would be missing from the text.
            Effect::Frontend if value.contains("-pch") => return Err("a precompiled header"),
            Effect::Frontend => work.add(words, Effect::Code),
            Effect::SideFiles => {
                work.has_side_files = true;
                work.add(words, Effect::Code);
            }
            Effect::Text | Effect::Code | Effect::Harmless => work.add(words, effect),
        }
        Ok(())
    }

    fn input(&mut self, name: &str) -> Result<(), Why> {
        self.inputs += 1;
        match self.language.unwrap_or_else(|| language(name)) {
            Language::C => {
                self.work.is_stated |= self.language.is_some();
                self.work.sources.push(name.to_string());
            }
            Language::Header => return Err("a header to be precompiled"),
            Language::Other => self.work.others.push(name.to_string()),
            Language::Linkable => {}
        }
        let words = vec![name.to_string()];
        self.work.link.push(Argument { words, effect: Effect::Link });
        Ok(())
    }

    fn finish(self) -> Result<Work, Why> {
        let work = self.work;
        if self.inputs == 0 {
            return Err("no input");
        }
        let compiled = work.sources.len() + work.others.len();
        if work.compile_only && work.output.is_some() && compiled > 1 {
            return Err("one output for several sources");
        }
        if work.compile_only && compiled == 0 {
            return Err("nothing to compile");
        }
        if work.sources.is_empty() && !work.others.is_empty() {
            return Err("a language that is not analysed");
        }
        if !work.compile_only && !work.sources.is_empty() && work.has_side_files {
            return Err("files beside objects that nobody sees");
        }
        let names_one = work.output.is_some() || work.dependencies.has_file;
        if !work.compile_only && work.dependencies.wanted && !names_one {
            return Err("dependency files that each compiler names in its own way");
        }
        if !work.others.is_empty() && (self.language.is_some() || work.dependencies.any()) {
            return Err("several languages at once");
        }
        Ok(work)
    }
}

impl Work {
    fn add(&mut self, words: Vec<String>, effect: Effect) {
        self.common.push(Argument { words: words.clone(), effect });
        self.link.push(Argument { words, effect });
    }

    /// Words of the arguments that preprocessing and compiling see.
    pub fn common_words(&self) -> impl DoubleEndedIterator<Item = &String> {
        self.common.iter().flat_map(|argument| &argument.words)
    }

    /// The same for a text that is preprocessed: whatever the sources are written in, it is in UTF-8.
    pub fn words_for_text(&self) -> impl DoubleEndedIterator<Item = &String> {
        let is_read = |word: &&String| !word.starts_with("-finput-charset");
        self.common_words().filter(is_read)
    }

    /// The words that compile one source, without the product. Words of a link
    /// that is not done are part of them: the compiler may have a say on these.
    pub fn compile_words(&self, source: &str) -> Vec<String> {
        let given = if self.compile_only { &self.link } else { &self.common };
        let given = given.iter().filter(|argument| !self.is_compiled(argument));
        let mut words: Vec<String> = given.flat_map(|argument| argument.words.clone()).collect();
        words.extend(self.source_words(source));
        words
    }

    /// Whether there are objects or libraries among the arguments.
    pub fn has_unused_inputs(&self) -> bool {
        let link = self.link.iter().filter(|argument| argument.effect == Effect::Link);
        link.filter(|argument| !self.is_compiled(argument)).any(|argument| {
            let word = &argument.words[0];
            !word.starts_with('-') || word.starts_with("-l")
        })
    }

    fn is_compiled(&self, argument: &Argument) -> bool {
        let word = &argument.words[0];
        argument.effect == Effect::Link
            && (self.sources.contains(word) || self.others.contains(word))
    }

    /// Whether all sources are files.
    pub fn are_sources_there(&self, directory: &Path) -> bool {
        self.sources
            .iter()
            .chain(&self.others)
            .all(|source| directory.join(bytes::path(source)).is_file())
    }

    /// A source as the driver is to be given it.
    pub fn source_words(&self, source: &str) -> Vec<String> {
        let stated: &[&str] = if self.is_stated { &["-x", "c"] } else { &[] };
        stated.iter().copied().chain([source]).map(String::from).collect()
    }
}

impl Dependencies {
    fn any(&self) -> bool {
        self.wanted || self.wanted_of_preprocessor
    }

    fn read(&mut self, option: &str) {
        self.wanted |= matches!(option, "-MD" | "-MMD");
        self.has_file |= option == "-MF";
        self.has_target |= matches!(option, "-MT" | "-MQ");
    }

    /// `-Wp,-MD,FILE`, `-Wp,-MMD,FILE,-MT,TARGET`.
    fn read_of_preprocessor<'a>(
        &mut self,
        first: &'a str,
        rest: impl Iterator<Item = &'a str>,
    ) -> Result<(), Why> {
        let mut is_value = false;
        for part in std::iter::once(first).chain(rest) {
            if is_value {
                is_value = false;
                continue;
            }
            match part {
                "-MD" | "-MMD" => (self.wanted_of_preprocessor, self.has_file) = (true, true),
                "-MT" | "-MQ" => self.has_target = true,
                "-MP" => continue,
                _ => return Err("an option of the preprocessor"),
            }
            is_value = true;
        }
        Ok(())
    }

    /// Options of a preprocessor run, with file and target as the driver would
    /// choose them when it makes `name`.
    pub fn arguments(&self, name: &str, is_clang: bool) -> Vec<String> {
        if !self.any() {
            return Vec::new();
        }
        let mut words = self.words.clone();
        if !self.has_file {
            let file = Path::new(name).with_extension("d");
            words.extend([String::from("-MF"), file.to_string_lossy().into_owned()]);
        }
        // What gcc's preprocessor is asked for directly, its driver does not see.
        if !self.has_target && (self.wanted || is_clang) {
            words.extend([String::from("-MQ"), name.to_string()]);
        }
        words
    }
}

/// Sources that a command compiles, as far as its words tell: none if it only
/// asks for something.
pub fn compiled_inputs(arguments: &[String]) -> Vec<&str> {
    let asks =
        |given: Given<'_>| matches!(given.words[0], "-E" | "-M" | "-MM" | "-fsyntax-only" | "-###");
    if flags::each(arguments).any(asks) {
        return Vec::new();
    }
    // With -x any name may be a source.
    let is_stated = flags::each(arguments).any(|given| given.effect() == Effect::Language);
    let inputs = flags::each(arguments).filter(|given| !given.is_option());
    let mut names: Vec<&str> = inputs.map(|given| given.words[0]).collect();
    names.retain(|name| match language(name) {
        Language::C | Language::Other => true,
        Language::Header => false,
        Language::Linkable => *name == "-" || is_stated && !name.ends_with(".o"),
    });
    names
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    C,
    /// Precompiled, a header is no code: those who include it are analysed
    /// with it.
    Header,
    Other,
    /// Objects, archives, libraries, linker scripts.
    Linkable,
}

/// What `-x` says; nothing for `none`.
fn stated_language(name: &str) -> Result<Option<Language>, Why> {
    match name {
        "none" => Ok(None),
        "c" => Ok(Some(Language::C)),
        "c-header" | "c++-header" => Ok(Some(Language::Header)),
        _ => Err("a language chosen by -x"),
    }
}

fn language(input: &str) -> Language {
    match Path::new(input).extension().and_then(|e| e.to_str()) {
        Some("c") => Language::C,
        Some("h" | "hh" | "H" | "hp" | "hxx" | "hpp" | "HPP" | "h++" | "tcc") => Language::Header,
        Some(
            "i" | "s" | "S" | "sx" | "C" | "cc" | "cp" | "cpp" | "CPP" | "cxx" | "c++" | "ii" | "m"
            | "mm" | "M" | "mi" | "mii" | "f" | "f90" | "F90" | "go" | "d" | "adb" | "ads" | "rs",
        ) => Language::Other,
        _ => Language::Linkable,
    }
}

/// The object a source is compiled to when `-o` does not say.
pub fn default_object(source: &str) -> String {
    let stem = Path::new(source).file_stem().map(|s| s.to_string_lossy().into_owned());
    format!("{}.o", stem.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Plan {
        plan(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    fn work(line: &str) -> Work {
        match of(line) {
            Plan::Work(work) => work,
            Plan::Untouched(why) => panic!("{line}: untouched, {why}"),
        }
    }

    #[test]
    fn a_compile() {
        let work = work("-O2 -Iinclude -MMD -MP -c -o build/a.o src/a.c");
        assert!(work.compile_only && work.dependencies.wanted && !work.dependencies.has_file);
        assert_eq!(work.sources, ["src/a.c"]);
        assert_eq!(work.output.as_deref(), Some("build/a.o"));
        assert_eq!(work.common.len(), 2);
    }

    #[test]
    fn a_link_keeps_the_order_of_libraries() {
        let work = work("-o prog a.o -L. -lfoo b.o -lm");
        let words: Vec<_> = work.link.iter().flat_map(|a| a.words.clone()).collect();
        assert_eq!(words, ["a.o", "-L.", "-lfoo", "b.o", "-lm"]);
    }

    #[test]
    fn what_is_left_to_the_real_compiler() {
        for line in [
            "--version",
            "-E a.c",
            "-c a.cpp",
            "-c a.S",
            "-x c++ a.c",
            "-v",
            "-c -",
            "-c pre.h",
            "-c a.i",
            "-Wp,-v -c a.c",
            "--coverage a.c",
            "-Xclang -include-pch -Xclang a.pch -c a.c",
            "-c -o x.o a.c b.S",
        ] {
            assert!(matches!(of(line), Plan::Untouched(_)), "{line}");
        }
    }

    #[test]
    fn dependency_files_of_the_preprocessor() {
        let work = work("-Wp,-MD,.a.d,-MT,x -Wp,-D_FORTIFY_SOURCE=2 -c a.c");
        assert!(work.dependencies.wanted_of_preprocessor && !work.dependencies.wanted);
        assert_eq!(work.dependencies.arguments("a.o", true), ["-Wp,-MD,.a.d,-MT,x"]);
        assert_eq!(work.common[0].effect, Effect::Text);
    }

    #[test]
    fn what_c_is() {
        let work = work("-x c code.inc -x none b.S c.o -o prog");
        assert_eq!((work.sources, work.others), (vec!["code.inc".into()], vec!["b.S".into()]));
        assert!(work.is_stated);
    }
}
