//! What a compiler command asks for.

use super::flags::{self, Effect, Shape};
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
    /// Arguments that preprocessing and compiling see, in their order.
    pub common: Vec<Argument>,
    pub dependencies: Dependencies,
    pub output: Option<String>,
    /// `-c`: no link.
    pub compile_only: bool,
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
    pub wanted: bool,
    pub has_file: bool,
    pub has_target: bool,
}

/// Reads the arguments of a compiler, without looking at any file.
pub fn plan(arguments: &[String]) -> Plan {
    let mut work = Work::default();
    let mut rest = arguments.iter();
    let mut inputs = 0;
    while let Some(argument) = rest.next() {
        if argument.starts_with('@') {
            return Plan::Untouched("arguments from a file");
        }
        if !argument.starts_with('-') {
            inputs += 1;
            match language(argument) {
                Language::C => work.sources.push(argument.clone()),
                Language::Other => return Plan::Untouched("a language that is not analysed"),
                Language::Linkable => {}
            }
            work.link.push(Argument { words: vec![argument.clone()], effect: Effect::Link });
            continue;
        }
        let (effect, shape, name) = match flags::find(argument) {
            Some(flag) => (flag.effect, flag.shape, flag.name),
            None => (Effect::Code, Shape::Alone, argument.as_str()),
        };
        let mut words = vec![argument.clone()];
        let takes_next = shape == Shape::Separate || (shape == Shape::Either && argument == name);
        if takes_next {
            match rest.next() {
                Some(value) => words.push(value.clone()),
                None => return Plan::Untouched("an argument without its value"),
            }
        }
        match effect {
            Effect::Untouched => return Plan::Untouched("an option that is not for us"),
            Effect::Language => return Plan::Untouched("a language chosen by -x"),
            Effect::CompileOnly => work.compile_only = true,
            Effect::Output => {
                let value = if takes_next { &words[1] } else { &argument[name.len()..] };
                work.output = Some(value.to_string());
            }
            Effect::Dependencies => {
                let dependencies = &mut work.dependencies;
                dependencies.wanted |= matches!(argument.as_str(), "-MD" | "-MMD");
                dependencies.has_file |= argument.starts_with("-MF");
                dependencies.has_target |=
                    argument.starts_with("-MT") || argument.starts_with("-MQ");
                dependencies.words.extend(words);
            }
            Effect::Link => work.link.push(Argument { words, effect }),
            Effect::Text | Effect::Code | Effect::Harmless => {
                work.common.push(Argument { words: words.clone(), effect });
                work.link.push(Argument { words, effect });
            }
        }
    }
    if inputs == 0 {
        return Plan::Untouched("no input");
    }
    if work.compile_only && work.output.is_some() && work.sources.len() > 1 {
        return Plan::Untouched("one output for several sources");
    }
    if work.compile_only && work.sources.is_empty() {
        return Plan::Untouched("nothing to compile");
    }
    Plan::Work(work)
}

/// Sources that a command compiles, as far as its words tell: none if it only
/// asks for something.
pub fn compiled_inputs(arguments: &[String]) -> impl Iterator<Item = &str> {
    let only_asks = arguments.iter().any(|argument| {
        matches!(argument.as_str(), "-E" | "-M" | "-MM" | "-fsyntax-only" | "-###")
    });
    let inputs = arguments.iter().filter(move |argument| {
        let is_source = !matches!(language(argument), Language::Linkable);
        !only_asks && !argument.starts_with('-') && is_source
    });
    inputs.map(String::as_str)
}

#[derive(PartialEq, Eq)]
enum Language {
    C,
    Other,
    /// Objects, archives, libraries, linker scripts.
    Linkable,
}

fn language(input: &str) -> Language {
    match Path::new(input).extension().and_then(|e| e.to_str()) {
        Some("c") => Language::C,
        Some(
            "i" | "h" | "s" | "S" | "sx" | "C" | "cc" | "cp" | "cpp" | "cxx" | "c++" | "ii" | "m"
            | "mm" | "mi" | "f" | "f90" | "F90" | "go" | "d" | "adb" | "ads" | "rs",
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
        for line in ["--version", "-E a.c", "-c a.cpp", "-c a.S", "@args", "-x c++ a.c", "-v"] {
            assert!(matches!(of(line), Plan::Untouched(_)), "{line}");
        }
    }
}
