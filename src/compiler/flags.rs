//! What each argument of gcc and clang means to us: one sorted table.

use Effect::*;
use Shape::*;

/// How an argument is spelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// `-c`
    Alone,
    /// `-O2`: the value is part of the argument.
    Joined,
    /// `-include FILE`: the value is the next argument.
    Separate,
    /// `-I DIR` or `-IDIR`.
    Either,
}

/// What an argument acts on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// The preprocessed text only, where it is seen.
    Text,
    /// The code. So does every argument that is not in the table.
    Code,
    /// Neither text nor code.
    Harmless,
    /// Dependency files.
    Dependencies,
    /// Only the link.
    Link,
    /// `-o`
    Output,
    /// `-c`
    CompileOnly,
    /// `-x`
    Language,
    /// `-Wp,`: what it carries decides.
    Preprocessor,
    /// `-Xclang`: what it carries decides.
    Frontend,
    /// The code, and files beside the object that are named after it.
    SideFiles,
    /// The real compiler does this alone.
    Untouched,
}

pub struct Flag {
    pub name: &'static str,
    pub shape: Shape,
    pub effect: Effect,
}

const fn flag(name: &'static str, shape: Shape, effect: Effect) -> Flag {
    Flag { name, shape, effect }
}

/// Sorted by name, so that a look-up finds the longest match from behind.
pub const FLAGS: &[Flag] = &[
    flag("-", Alone, Untouched),
    flag("-###", Alone, Untouched),
    flag("--analyze", Alone, Untouched),
    flag("--coverage", Alone, SideFiles),
    flag("--help", Joined, Untouched),
    flag("--param", Separate, Code),
    flag("--print", Joined, Untouched),
    flag("--save-stats", Joined, SideFiles),
    flag("--save-temps", Joined, Untouched),
    flag("--serialize-diagnostics", Separate, Harmless),
    flag("--sysroot", Separate, Code),
    flag("--sysroot=", Joined, Code),
    flag("--target-help", Alone, Untouched),
    flag("--target=", Joined, Code),
    flag("--version", Alone, Untouched),
    flag("-A", Either, Text),
    flag("-B", Either, Code),
    flag("-C", Alone, Untouched),
    flag("-CC", Alone, Untouched),
    flag("-D", Either, Text),
    flag("-E", Alone, Untouched),
    flag("-H", Alone, Harmless),
    flag("-I", Either, Text),
    flag("-L", Either, Link),
    flag("-M", Alone, Untouched),
    flag("-MD", Alone, Dependencies),
    flag("-MF", Either, Dependencies),
    flag("-MG", Alone, Untouched),
    flag("-MJ", Either, Untouched),
    flag("-MM", Alone, Untouched),
    flag("-MMD", Alone, Dependencies),
    flag("-MP", Alone, Dependencies),
    flag("-MQ", Either, Dependencies),
    flag("-MT", Either, Dependencies),
    flag("-O", Joined, Code),
    flag("-P", Alone, Untouched),
    flag("-Q", Alone, Harmless),
    flag("-S", Alone, Untouched),
    flag("-T", Either, Link),
    flag("-U", Either, Text),
    flag("-W", Joined, Harmless),
    flag("-Wa,", Joined, Code),
    flag("-Wl,", Joined, Link),
    flag("-Wp,", Joined, Preprocessor),
    flag("-Xassembler", Separate, Code),
    flag("-Xclang", Separate, Frontend),
    flag("-Xlinker", Separate, Link),
    flag("-Xpreprocessor", Separate, Untouched),
    flag("-ansi", Alone, Code),
    flag("-arch", Separate, Code),
    flag("-aux-info", Separate, Untouched),
    flag("-c", Alone, CompileOnly),
    flag("-d", Joined, Untouched),
    flag("-dumpbase", Separate, Untouched),
    flag("-e", Either, Link),
    flag("-emit-ast", Alone, Untouched),
    flag("-emit-llvm", Alone, Untouched),
    flag("-f", Joined, Code),
    flag("-fcallgraph-info", Joined, SideFiles),
    flag("-fcompare-debug", Joined, Untouched),
    flag("-fdiagnostics-", Joined, Harmless),
    flag("-fdirectives-only", Alone, Untouched),
    flag("-fdump-", Joined, SideFiles),
    flag("-fmax-errors=", Joined, Harmless),
    flag("-fmessage-length=", Joined, Harmless),
    flag("-fmodules", Joined, Untouched),
    flag("-fno-diagnostics-", Joined, Harmless),
    flag("-fpreprocessed", Alone, Untouched),
    flag("-fprofile-", Joined, SideFiles),
    flag("-fsave-optimization-record", Joined, SideFiles),
    flag("-fstack-usage", Alone, SideFiles),
    flag("-fsyntax-only", Alone, Untouched),
    flag("-ftest-coverage", Alone, SideFiles),
    flag("-ftime-trace", Joined, SideFiles),
    flag("-g", Joined, Harmless),
    flag("-gsplit-dwarf", Alone, SideFiles),
    flag("-idirafter", Either, Text),
    flag("-iframework", Either, Text),
    flag("-imacros", Either, Text),
    flag("-include", Either, Text),
    flag("-include-pch", Separate, Untouched),
    flag("-iprefix", Either, Text),
    flag("-iquote", Either, Text),
    flag("-isysroot", Either, Text),
    flag("-isystem", Either, Text),
    flag("-iwithprefix", Either, Text),
    flag("-iwithprefixbefore", Either, Text),
    flag("-iwithsysroot", Either, Text),
    flag("-l", Either, Link),
    flag("-m", Joined, Code),
    flag("-mllvm", Separate, Code),
    flag("-no-canonical-prefixes", Alone, Harmless),
    flag("-no-pie", Alone, Link),
    flag("-nodefaultlibs", Alone, Link),
    flag("-nolibc", Alone, Link),
    flag("-nostartfiles", Alone, Link),
    flag("-nostdinc", Alone, Text),
    flag("-nostdinc++", Alone, Text),
    flag("-nostdlib", Alone, Link),
    flag("-o", Either, Output),
    flag("-p", Alone, Code),
    flag("-pedantic", Joined, Harmless),
    flag("-pg", Alone, Code),
    flag("-pie", Alone, Link),
    flag("-pipe", Alone, Harmless),
    flag("-print", Joined, Untouched),
    flag("-pthread", Alone, Code),
    flag("-r", Alone, Link),
    flag("-rdynamic", Alone, Link),
    flag("-s", Alone, Link),
    flag("-save-stats", Joined, SideFiles),
    flag("-save-temps", Joined, Untouched),
    flag("-serialize-diagnostics", Separate, Harmless),
    flag("-shared", Alone, Link),
    flag("-shared-libgcc", Alone, Link),
    flag("-specs", Separate, Untouched),
    flag("-specs=", Joined, Untouched),
    flag("-static", Joined, Link),
    flag("-static-pie", Alone, Link),
    flag("-std=", Joined, Code),
    flag("-symbolic", Alone, Link),
    flag("-t", Alone, Link),
    flag("-target", Separate, Code),
    flag("-trigraphs", Alone, Code),
    flag("-u", Either, Link),
    flag("-undef", Alone, Text),
    flag("-v", Alone, Harmless),
    flag("-w", Alone, Harmless),
    flag("-wrapper", Separate, Untouched),
    flag("-x", Either, Language),
    flag("-z", Separate, Link),
];

/// The entry for an argument: the longest name that fits its spelling.
pub fn find(argument: &str) -> Option<&'static Flag> {
    FLAGS.iter().rev().find(|flag| match flag.shape {
        Alone | Separate => flag.name == argument,
        Joined | Either => argument.starts_with(flag.name),
    })
}

/// One argument with its value.
pub struct Given<'a> {
    /// The words it was given in.
    pub words: Vec<&'a str>,
    /// Its entry, if it is an option that we know.
    pub flag: Option<&'static Flag>,
    /// The value, joined or the next word. None if a word is missing.
    pub value: Option<&'a str>,
}

impl Given<'_> {
    pub fn is_option(&self) -> bool {
        self.words[0].starts_with('-') && self.words[0] != "-"
    }

    pub fn effect(&self) -> Effect {
        self.flag.map_or(Code, |flag| flag.effect)
    }
}

/// Takes the arguments of a compiler apart.
pub fn each(arguments: &[String]) -> impl Iterator<Item = Given<'_>> {
    let mut rest = arguments.iter();
    std::iter::from_fn(move || {
        let word = rest.next()?.as_str();
        let flag = if word.starts_with('-') { find(word) } else { None };
        let mut given = Given { words: vec![word], flag, value: Some("") };
        if let Some(Flag { name, shape, .. }) = flag {
            given.value = word.strip_prefix(name);
            if *shape == Separate || *shape == Either && word == *name {
                given.value = rest.next().map(String::as_str);
                given.words.extend(given.value);
            }
        }
        Some(given)
    })
}

/// What becomes of a recorded argument when a selection runs the preprocessor. A record may come
/// from another machine: no argument of it may start a program, load code or name a file to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recorded<'a> {
    Kept,
    /// Kept if this directory is one of the project or of the system.
    Place(&'a str),
    /// The same for a file that is looked for in the directories of other options, too.
    File(&'a str),
    /// Kept unless it names a pipe or a device, which a source may include.
    Macro(&'a str),
    /// Left out: it does not act on the preprocessed text.
    Dropped,
    Refused,
}

/// Options that begin with `-f` and have no value, and that are refused, without `-f` and `no-`.
const REFUSED_CODE: &[&str] = &[
    "build-session",
    "compare-debug",
    "crash",
    "deps",
    "directives-only",
    "embed",
    "memory-profile",
    "module",
    "pass-plugin",
    "pch",
    "plugin",
    "preprocessed",
    "proc-stat",
    "self-test",
    "thin-link",
    "thinlto",
];

/// Those that begin with `-f` and write reports: the preprocessor does not need them.
const REPORTS: &[&str] = &[
    "callgraph-info",
    "diagnostics-",
    "dump-",
    "opt-info",
    "optimization-record-",
    "save-optimization-record",
    "stack-usage",
    "time-",
];

/// Options that begin with `-f` and have a value that names no file, without `-f`.
const VALUED_CODE: &[&str] = &[
    "abi-version",
    "align-functions",
    "align-jumps",
    "align-labels",
    "align-loops",
    "cf-protection",
    "debug-prefix-map",
    "excess-precision",
    "exec-charset",
    "ffp-contract",
    "file-prefix-map",
    "fp-contract",
    "fp-model",
    "gnuc-version",
    "hardened",
    "inline-limit",
    "input-charset",
    "ivar-visibility",
    "lto",
    "lto-partition",
    "macro-backtrace-limit",
    "macro-prefix-map",
    "max-errors",
    "message-length",
    "patchable-function-entry",
    "random-seed",
    "sanitize",
    "sanitize-coverage",
    "sanitize-recover",
    "sanitize-trap",
    "short-enums",
    "simd-cost-model",
    "stack-clash-protection",
    "stack-limit-symbol",
    "stack-protector",
    "strict-flex-arrays",
    "strub",
    "tabstop",
    "template-depth",
    "tls-model",
    "trivial-auto-var-init",
    "vect-cost-model",
    "veclib",
    "visibility",
    "wide-exec-charset",
    "zero-call-used-regs",
];

/// Options whose value is a text that compilers only compare with others or print.
const TEXTS: &[&str] = &["debug-prefix-map", "file-prefix-map", "macro-prefix-map", "random-seed"];

impl<'a> Given<'a> {
    /// What becomes of the argument if a record names it. What is not known here is refused.
    pub fn recorded(&self) -> Recorded<'a> {
        let word = self.words[0];
        // Compilers do not agree on which option has a value. One that looks like an option may be one.
        let is_hidden = |value: &&str| value.starts_with(['-', '@']);
        if word.starts_with('@') || self.words.get(1).is_some_and(is_hidden) {
            return Recorded::Refused;
        }
        let (Some(flag), Some(value)) = (self.flag, self.value) else {
            return kept_if(word.strip_prefix("--param=").is_some_and(names_no_file));
        };
        match flag.name {
            "-D" => Recorded::Macro(value),
            "-U" | "-A" => Recorded::Kept,
            "-I" | "-iquote" | "-isystem" | "-idirafter" | "-isysroot" | "--sysroot"
            | "--sysroot=" => Recorded::Place(value),
            "-include" | "-imacros" => Recorded::File(value),
            "-Wp," => match value.split(',').all(|p| p.starts_with("-D") || p.starts_with("-U")) {
                true => Recorded::Macro(value),
                false => Recorded::Refused,
            },
            "-x" => kept_if(matches!(value, "c" | "none")),
            "-g" => kept_if(!word.starts_with("-gen") && names_no_file(value)),
            "-gsplit-dwarf"
            | "-save-stats"
            | "--save-stats"
            | "-serialize-diagnostics"
            | "--serialize-diagnostics" => Recorded::Dropped,
            "--coverage" | "-ftest-coverage" => Recorded::Kept,
            "-fprofile-" => match value.split_once('=') {
                Some((_, place)) => Recorded::Place(place),
                None => Recorded::Kept,
            },
            name if name.starts_with("-f") => recorded_code(word),
            "-H"
            | "-O"
            | "-Q"
            | "-W"
            | "-Wa,"
            | "-ansi"
            | "-arch"
            | "-m"
            | "-no-canonical-prefixes"
            | "-nostdinc"
            | "-nostdinc++"
            | "-p"
            | "-pedantic"
            | "-pg"
            | "-pipe"
            | "-pthread"
            | "-std="
            | "-target"
            | "-trigraphs"
            | "-undef"
            | "-v"
            | "-w"
            | "--param"
            | "--target=" => kept_if(names_no_file(value)),
            _ => Recorded::Refused,
        }
    }
}

fn kept_if(is_kept: bool) -> Recorded<'static> {
    if is_kept { Recorded::Kept } else { Recorded::Refused }
}

fn names_no_file(value: &str) -> bool {
    !value.contains('/')
}

/// The same for an option that begins with `-f`.
fn recorded_code(word: &str) -> Recorded<'static> {
    let option = word.strip_prefix("-f").unwrap_or(word);
    let plain = option.strip_prefix("no-").unwrap_or(option);
    let begins = |list: &[&str]| list.iter().any(|start| plain.starts_with(start));
    if begins(REPORTS) {
        return Recorded::Dropped;
    }
    kept_if(match option.split_once('=') {
        Some((name, _)) if TEXTS.contains(&name) => true,
        Some((name, value)) => VALUED_CODE.contains(&name) && names_no_file(value),
        None => !begins(REFUSED_CODE) && names_no_file(option),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(FLAGS.is_sorted_by(|a, b| a.name < b.name));
    }

    #[test]
    fn values_belong_to_their_options() {
        let words = ["-c", "-MF", "x.d", "-Idir", "a.c", "-", "-o"].map(String::from);
        let given: Vec<_> = each(&words).map(|given| (given.words.len(), given.value)).collect();
        let alone = (1, Some(""));
        assert_eq!(given, [alone, (2, Some("x.d")), (1, Some("dir")), alone, alone, (1, None)]);
    }

    /// What becomes of the first of some recorded arguments.
    fn recorded(words: &[&str]) -> Recorded<'static> {
        let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
        let words: &'static [String] = words.leak();
        each(words).next().unwrap().recorded()
    }

    #[test]
    fn recorded_options_that_run_load_or_write_are_refused() {
        for words in [
            &["-wrapper", "sh"][..],
            &["-B", "dir"],
            &["-B/tmp"],
            &["-specs=x"],
            &["-specs", "x"],
            &["--specs=x"],
            &["-fplugin=x.so"],
            &["-fplugin-arg-x-y=z"],
            &["-fpass-plugin=x.so"],
            &["-iplugindir=x"],
            &["@file"],
            &["-D", "@file"],
            &["-arch", "-wrapper"],
            &["-o", "x"],
            &["-ox"],
            &["-MF", "x"],
            &["-MD"],
            &["-MJ", "x"],
            &["-Wp,-MD,x"],
            &["-Wp,-DX,-MD,x"],
            &["-save-temps"],
            &["--save-temps=obj"],
            &["-dumpdir", "x"],
            &["-dD"],
            &["-Xclang", "-load"],
            &["-Xpreprocessor", "-MD"],
            &["--config", "x"],
            &["--config=x"],
            &["-fuse-ld=x"],
            &["-x", "c++"],
            &["-x", "assembler-with-cpp"],
            &["-mllvm", "-load=x"],
            &["-fmodules"],
            &["-fdeps-file=x"],
            &["-fcrash-diagnostics-dir=x"],
            &["-include-pch", "x"],
            &["-gen-cdb-fragment-path", "x"],
            &["-aux-info", "x"],
            &["-fcompare-debug"],
            &["-Wl,-z,now"],
            &["x.c"],
            &["--unknown"],
            &["-mmcu=../x"],
        ] {
            assert_eq!(recorded(words), Recorded::Refused, "{words:?}");
        }
        for word in ["-fdump-tree-all=x", "-fopt-info-vec=x", "-fstack-usage", "-gsplit-dwarf"] {
            assert_eq!(recorded(&[word]), Recorded::Dropped, "{word}");
        }
        for word in ["-fdiagnostics-format=sarif-file", "-fdiagnostics-add-output=sarif:file=x"] {
            assert_eq!(recorded(&[word]), Recorded::Dropped, "{word}");
        }
        for words in [
            &["-U", "X"][..],
            &["-O2"],
            &["-g3"],
            &["-Wall"],
            &["-std=gnu11"],
            &["-fPIC"],
            &["-fno-strict-aliasing"],
            &["-fvisibility=hidden"],
            &["-fsanitize=address,undefined"],
            &["-ffile-prefix-map=/a/b=."],
            &["-march=native"],
            &["-mavx2"],
            &["-pthread"],
            &["-x", "c"],
            &["--coverage"],
            &["-fprofile-arcs"],
        ] {
            assert_eq!(recorded(words), Recorded::Kept, "{words:?}");
        }
        for words in [&["-I/etc"][..], &["-I", "/etc"], &["-isystem", "/etc"]] {
            assert_eq!(recorded(words), Recorded::Place("/etc"), "{words:?}");
        }
        for words in [&["-include", "/etc"][..], &["-imacros/etc"]] {
            assert_eq!(recorded(words), Recorded::File("/etc"), "{words:?}");
        }
        assert_eq!(recorded(&["-DX=\"a b\""]), Recorded::Macro("X=\"a b\""));
        assert_eq!(recorded(&["-Wp,-DX=2,-UY"]), Recorded::Macro("-DX=2,-UY"));
    }

    #[test]
    fn the_longest_name_wins() {
        assert_eq!(find("-MF").map(|f| f.name), Some("-MF"));
        assert_eq!(find("-Wall").map(|f| f.effect), Some(Harmless));
        assert_eq!(find("-Wl,-z,now").map(|f| f.effect), Some(Link));
        assert_eq!(find("-O2").map(|f| f.effect), Some(Code));
        assert_eq!(find("-Idir").map(|f| f.effect), Some(Text));
        assert_eq!(find("-includex.h").map(|f| f.name), Some("-include"));
        assert_eq!(find("-static-pie").map(|f| f.name), Some("-static-pie"));
        assert_eq!(find("-pthread").map(|f| f.effect), Some(Code));
        assert!(find("main.c").is_none());
    }
}
