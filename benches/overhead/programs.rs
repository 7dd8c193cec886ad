//! The programs, how each is compiled, and what it is asked to do.

pub struct Program {
    pub name: &'static str,
    /// The project as `scripts/subjects` names it; empty if it needs none.
    pub subject: &'static str,
    /// Sources below the project, `*` standing for any part of a file's name.
    pub sources: &'static [&'static str],
    pub without: &'static [&'static str],
    pub flags: &'static [&'static str],
    pub libraries: &'static [&'static str],
    /// A source of ours that is compiled with it, in `benches/overhead/work`.
    pub driver: Option<&'static str>,
    pub work: Work,
}

/// What a program reads, and its arguments; `@` stands for the input file.
pub struct Work {
    pub input: Input,
    pub arguments: &'static [&'static str],
    /// How often it is run for one measurement of time.
    pub runs: u32,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Input {
    None,
    /// So many bytes of text made of words.
    Text(usize),
    /// So many records of JSON.
    Json(usize),
    /// A file in `benches/overhead/work`.
    File(&'static str),
}

const fn work(input: Input, arguments: &'static [&'static str]) -> Work {
    Work { input, arguments, runs: 1 }
}

pub const PROGRAMS: &[Program] = &[
    Program {
        name: "zlib",
        subject: "zlib",
        sources: &["*.c", "test/minigzip.c"],
        without: &[],
        flags: &["-I.", "-D_LARGEFILE64_SOURCE=1", "-DHAVE_HIDDEN"],
        libraries: &[],
        driver: None,
        work: work(Input::Text(4_000_000), &["-c", "-9", "@"]),
    },
    Program {
        name: "bzip2",
        subject: "bzip2",
        sources: &[
            "blocksort.c",
            "huffman.c",
            "crctable.c",
            "randtable.c",
            "compress.c",
            "decompress.c",
            "bzlib.c",
            "bzip2.c",
        ],
        without: &[],
        flags: &["-D_FILE_OFFSET_BITS=64"],
        libraries: &[],
        driver: None,
        work: work(Input::Text(3_000_000), &["-c", "-k", "@"]),
    },
    Program {
        name: "lua",
        subject: "lua",
        sources: &["src/*.c"],
        without: &["src/luac.c"],
        // Lua makes the seed of its hashes from addresses and the time; then no two
        // runs do the same.
        flags: &["-DLUA_USE_POSIX", "-Dluai_makeseed(L)=42"],
        libraries: &["-lm"],
        driver: None,
        work: work(Input::File("work.lua"), &["@"]),
    },
    Program {
        name: "jq",
        subject: "jq",
        sources: &["src/*.c"],
        without: &["src/inject_errors.c"],
        flags: &[
            "-I.",
            "-Isrc",
            "-D_GNU_SOURCE",
            "-DHAVE_MEMMEM",
            "-DIEEE_8087",
            "-DHAVE_PTHREAD",
            "-DHAVE_ISATTY",
        ],
        libraries: &["-lm", "-lpthread"],
        driver: None,
        work: work(
            Input::Json(9_000),
            &[
                "[.[] | select(.size > 300) | {name, sum: (.parts | add), key: (.name | ascii_upcase)}] | group_by(.key[0:2]) | map(length)",
                "@",
            ],
        ),
    },
    Program {
        name: "sqlite",
        subject: "sqlite",
        sources: &["vendor/libsqlite3-sys/sqlite3/sqlite3.c"],
        without: &[],
        flags: &[
            "-Ivendor/libsqlite3-sys/sqlite3",
            "-DSQLITE_THREADSAFE=0",
            "-DSQLITE_OMIT_LOAD_EXTENSION",
        ],
        libraries: &["-lm"],
        driver: Some("sql.c"),
        work: work(Input::File("work.sql"), &["@"]),
    },
    Program {
        name: "zstd",
        subject: "zstd",
        sources: &["lib/common/*.c", "lib/compress/*.c", "lib/decompress/*.c"],
        without: &[],
        flags: &["-Ilib", "-Ilib/common", "-DZSTD_DISABLE_ASM", "-DZSTD_MULTITHREAD=0"],
        libraries: &[],
        driver: Some("squeeze.c"),
        work: work(Input::Text(3_000_000), &["@"]),
    },
    Program {
        name: "nothing",
        subject: "",
        sources: &[],
        without: &[],
        flags: &[],
        libraries: &[],
        driver: Some("nothing.c"),
        work: Work { input: Input::None, arguments: &[], runs: 200 },
    },
];
