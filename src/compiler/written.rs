//! Options with a value that is not read: a file that a compiler, an assembler or a linker
//! writes, or a name that is only compared. Such a file is no input of what is made. The value of
//! an option that is not listed here may be a file that is read.

/// Options of linkers with a file to write, without their dashes. The value is joined by `=` or
/// the next word.
const OF_LINKERS: &[&str] = &[
    "Map",
    "base-file",
    "dependency-file",
    "o",
    "opt-remarks-filename",
    "out-implib",
    "output",
    "output-def",
    "print-archive-stats",
    "print-symbol-counts",
    "print-symbol-order",
    "reproduce",
    "why-extract",
];

/// The same where the value is always joined.
const JOINED_OF_LINKERS: &[&str] =
    &["lto-obj-path", "separate-debug-file", "thinlto-index-only", "time-trace", "time-trace-file"];

/// What `-plugin-opt=` says of files to write, as it begins.
const OF_PLUGINS: &[&str] = &["dwo_dir=", "obj-path=", "opt-remarks-filename=", "stats-file="];

/// Options of compilers with such a value as the next word.
const SEPARATE: &[&str] = &[
    "--serialize-diagnostics",
    "-MF",
    "-MJ",
    "-MQ",
    "-MT",
    "-aux-info",
    "-auxbase",
    "-auxbase-strip",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-o",
    "-serialize-diagnostics",
];

/// Options of compilers with such a value behind `=`.
const JOINED: &[&str] = &[
    "-fcoverage-compilation-dir",
    "-fcoverage-prefix-map",
    "-fcrash-diagnostics-dir",
    "-fcs-profile-generate",
    "-fdebug-compilation-dir",
    "-fdebug-prefix-map",
    "-fdeps-file",
    "-fdeps-target",
    "-ffile-compilation-dir",
    "-ffile-prefix-map",
    "-finstrument-functions-exclude-file-list",
    "-finstrument-functions-exclude-function-list",
    "-fmacro-prefix-map",
    "-fmemory-profile",
    "-foptimization-record-file",
    "-fprofile-dir",
    "-fprofile-exclude-files",
    "-fprofile-filter-files",
    "-fprofile-generate",
    "-fprofile-instr-generate",
    "-fprofile-note",
    "-fprofile-prefix-map",
    "-fprofile-prefix-path",
    "-frandom-seed",
    "-fsave-optimization-record",
    "-ftime-trace",
];

/// Families of such options, as they begin.
const FAMILIES: &[&str] = &["-fdiagnostics-", "-fdump-", "-fopt-info"];

/// Options that begin with `-fprofile-` and read no profile.
const WITHOUT_PROFILE: &[&str] = &[
    "-fprofile-abs-path",
    "-fprofile-arcs",
    "-fprofile-continuous",
    "-fprofile-dir",
    "-fprofile-exclude-files",
    "-fprofile-filter-files",
    "-fprofile-generate",
    "-fprofile-info-section",
    "-fprofile-instr-generate",
    "-fprofile-note",
    "-fprofile-prefix-map",
    "-fprofile-prefix-path",
    "-fprofile-report",
    "-fprofile-reproducible",
    "-fprofile-update",
    "-fprofile-values",
];

/// Whether a flag makes the compiler read profiles, which need not be named.
pub fn reads_profiles(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    let begins = ["-fauto-profile", "-fbranch-probabilities", "-fprofile-"];
    begins.iter().any(|begin| name.starts_with(begin)) && !WITHOUT_PROFILE.contains(&name)
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Compile,
    Link,
    /// No command: nothing in it is an option.
    Text,
}

/// Goes through the words of a command, one after the other, and tells which parts of them may
/// name a file that is read.
#[derive(Default)]
pub struct Reads {
    kind: Kind,
    /// The next word is a value that is not read.
    is_value: bool,
    /// The next word is one for the assembler.
    is_for_assembler: bool,
    /// The next word of the assembler is a value that is not read.
    is_value_of_assembler: bool,
}

impl Reads {
    pub fn of_compile() -> Self {
        Self::default()
    }

    /// For a link, whose words are those that the linker gets.
    pub fn of_link() -> Self {
        Self { kind: Kind::Link, ..Self::default() }
    }

    /// For the words of a linker script.
    pub fn of_text() -> Self {
        Self { kind: Kind::Text, ..Self::default() }
    }

    /// The parts of the next word that may name a file that is read.
    pub fn parts<'w>(&mut self, word: &'w str) -> Vec<&'w str> {
        let all = || word.split([',', '=']).filter(|part| !part.is_empty()).collect();
        if self.kind == Kind::Text {
            return all();
        }
        if std::mem::take(&mut self.is_value) {
            return Vec::new();
        }
        if std::mem::take(&mut self.is_for_assembler) {
            return self.parts_of_assembler(word);
        }
        if word == "-Xassembler" {
            self.is_for_assembler = true;
            return Vec::new();
        }
        if let Some(list) = word.strip_prefix("-Wa,") {
            return list.split(',').flat_map(|word| self.parts_of_assembler(word)).collect();
        }
        let is_link = self.kind == Kind::Link;
        self.is_value = SEPARATE.contains(&word) || is_link && is_before_output(word);
        if self.is_value || is_output(word) || is_link && is_output_of_linker(word) {
            return Vec::new();
        }
        all()
    }

    fn parts_of_assembler<'w>(&mut self, word: &'w str) -> Vec<&'w str> {
        if std::mem::take(&mut self.is_value_of_assembler) {
            return Vec::new();
        }
        self.is_value_of_assembler = matches!(word, "--MD" | "-MD");
        // `-adhln=FILE`: a listing.
        let is_listing = || {
            let option = word.strip_prefix("-a").and_then(|rest| rest.split_once('='));
            option.is_some_and(|(kinds, _)| kinds.chars().all(|kind| "cdghilmns".contains(kind)))
        };
        let is_output = word.starts_with("--MD=") || word.starts_with("-MD=") || is_listing();
        if self.is_value_of_assembler || is_output {
            return Vec::new();
        }
        word.split('=').filter(|part| !part.is_empty()).collect()
    }
}

/// Whether an option of a compiler has a joined value that is not read.
fn is_output(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    JOINED.contains(&name) || FAMILIES.iter().any(|family| name.starts_with(family))
}

/// The name of an option of a linker, which has one dash or two.
fn option(word: &str) -> &str {
    word.strip_prefix("--").or(word.strip_prefix('-')).unwrap_or_default()
}

fn is_before_output(word: &str) -> bool {
    OF_LINKERS.contains(&option(word))
}

fn is_output_of_linker(word: &str) -> bool {
    let Some((name, value)) = option(word).split_once('=') else { return false };
    OF_LINKERS.contains(&name)
        || JOINED_OF_LINKERS.contains(&name)
        || name == "plugin-opt" && OF_PLUGINS.iter().any(|begin| value.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut reads: Reads, words: &str) -> Vec<&str> {
        words.split(' ').flat_map(|word| reads.parts(word)).collect()
    }

    #[test]
    fn files_that_a_compiler_writes_are_not_read() {
        for words in [
            "-Wa,-adhln=x",
            "-Wa,-a=x,--MD,y",
            "-Wa,--MD -Wa,x",
            "-Xassembler -al=x",
            "-Xassembler --MD -Xassembler x",
            "-fdump-tree-all=x",
            "-fopt-info-vec-missed=x",
            "-fprofile-dir=x",
            "-fprofile-filter-files=a.c;b.c",
            "-fprofile-generate=x",
            "-frandom-seed=x.o",
            "-fdiagnostics-add-output=sarif:file=x",
            "-foptimization-record-file=x",
            "-MF x",
            "-dumpdir x",
            "-aux-info x",
            "-serialize-diagnostics x",
        ] {
            assert_eq!(read(Reads::of_compile(), words), [""; 0], "{words}");
        }
    }

    #[test]
    fn other_files_may_be_read() {
        for (words, parts) in [
            ("-fplugin=x.so", &["-fplugin", "x.so"][..]),
            ("-fprofile-use=x", &["-fprofile-use", "x"]),
            ("-fprofile-list=x", &["-fprofile-list", "x"]),
            ("-fmemory-profile-use=x", &["-fmemory-profile-use", "x"]),
            ("-Wa,-I,x", &["-I", "x"]),
            ("-Wa,--MD,x,y", &["y"]),
            ("-Wa,-ax=y", &["-ax", "y"]),
            ("-MF x y", &["y"]),
            ("-Xassembler x", &["x"]),
            ("-Map x", &["-Map", "x"]),
            ("--unknown=x", &["--unknown", "x"]),
        ] {
            assert_eq!(read(Reads::of_compile(), words), parts, "{words}");
        }
    }

    #[test]
    fn files_that_a_linker_writes_are_not_read() {
        for words in ["-Map x", "--Map=x", "-Map=x", "--out-implib x", "--time-trace=x", "-o x"] {
            assert_eq!(read(Reads::of_link(), words), [""; 0], "{words}");
        }
        assert_eq!(read(Reads::of_link(), "-plugin-opt=obj-path=x"), [""; 0]);
        for (words, parts) in [
            ("-Map x main.o", &["main.o"][..]),
            ("--time-trace main.o", &["--time-trace", "main.o"]),
            ("-Map=x main.o", &["main.o"]),
            ("--version-script=x", &["--version-script", "x"]),
            ("--just-symbols x", &["--just-symbols", "x"]),
            ("-plugin-opt=sample-profile=x", &["-plugin-opt", "sample-profile", "x"]),
        ] {
            assert_eq!(read(Reads::of_link(), words), parts, "{words}");
        }
    }

    #[test]
    fn profiles_are_read_unless_an_option_is_known_to_write_them() {
        for word in ["-fprofile-use", "-fprofile-use=x", "-fauto-profile=x", "-fprofile-new"] {
            assert!(reads_profiles(word), "{word}");
        }
        for word in ["-fprofile-arcs", "-fprofile-generate=x", "-ftest-coverage", "-O2"] {
            assert!(!reads_profiles(word), "{word}");
        }
    }
}
