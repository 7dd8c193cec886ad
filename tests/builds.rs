//! Real builds with `edgewise` in the place of the compiler: make, CMake, Meson,
//! autotools, ccache.

use crate::support::Project;
use crate::support::compare::has_tool;
use std::path::Path;
use std::process::{Command, Output};

const MAIN: &str = "#include <stdio.h>\nint part(int n);\nint main(int argc, char **argv)\n{\n    \
    (void)argv;\n    printf(\"%d\\n\", part(argc));\n    return argc > 5;\n}\n";
const PART: &str = "int part(int n)\n{\n    if (n > 2)\n        return 7;\n    return n;\n}\n";

fn project(files: &[(&str, &str)]) -> Project {
    let project = Project::empty();
    project.write("edgewise.toml", "");
    project.write("main.c", MAIN);
    project.write("part.c", PART);
    for (name, text) in files {
        project.write(name, text);
    }
    project
}

fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

/// A shell command in the project, which must succeed. What it says.
#[track_caller]
fn sh(project: &Project, line: &str) -> String {
    let programs = Path::new(env!("CARGO_BIN_EXE_edgewise")).parent().unwrap();
    let mut path = std::ffi::OsString::from(programs);
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    let output = Command::new("/bin/sh")
        .args(["-e", "-c", line])
        .current_dir(project.root())
        .env("PATH", path)
        .env("CCACHE_DIR", project.path(".ccache"))
        .env_remove("EDGEWISE_TRACE")
        .env_remove("CC")
        .output()
        .unwrap();
    assert!(output.status.success(), "{line}: {}\n{}", output.status, text(&output));
    text(&output)
}

/// Whether a run of the program leaves a trace.
#[track_caller]
fn is_traced(project: &Project, program: &str) -> bool {
    let traces = tempfile::tempdir().unwrap();
    let status = Command::new(project.path(program))
        .env("EDGEWISE_TRACE", traces.path())
        .output()
        .unwrap()
        .status;
    assert!(status.success(), "{program}: {status}");
    std::fs::read_dir(traces.path()).unwrap().count() > 0
}

fn not_analysed(project: &Project) -> serde_json::Value {
    let state: serde_json::Value =
        serde_json::from_str(&project.read(".edgewise/builds.json")).unwrap();
    state["unanalysed"].clone()
}

/// A program on the path whose name is that of a compiler with its version.
fn versioned(compiler: &str) -> Option<String> {
    let path = std::env::var_os("PATH")?;
    let files = std::env::split_paths(&path).filter_map(|d| std::fs::read_dir(d).ok()).flatten();
    let mut names = files.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.find(|name| {
        let version = name.strip_prefix(compiler).and_then(|rest| rest.strip_prefix('-'));
        version.is_some_and(|version| version.chars().all(|c| c.is_ascii_digit()))
    })
}

#[test]
fn make_with_us_as_its_compiler() {
    let makefile = "prog: main.o part.o\n\t$(CC) -o $@ $^\n";
    for compiler in ["edgewise cc", "edgewise-cc", "edgewise cc gcc"] {
        let project = project(&[("Makefile", makefile)]);
        sh(&project, &format!("make -s CC='{compiler}'"));
        assert!(is_traced(&project, "prog"), "{compiler}");
    }
}

#[test]
fn a_build_finds_us_by_the_names_of_all_compilers() {
    let mut names = vec![String::from("cc"), String::from("gcc"), String::from("$(CC)")];
    names.extend(["gcc", "clang"].iter().filter_map(|name| versioned(name)));
    names.extend(has_tool("clang").then(|| String::from("clang")));
    for name in names {
        let makefile = format!("prog: main.c part.c\n\t{name} -o prog main.c part.c\n");
        let project = project(&[("Makefile", &makefile)]);
        let said = sh(&project, "edgewise build -- make -s");
        assert!(said.contains("2 units instrumented"), "{name}: {said}");
        assert!(is_traced(&project, "prog"), "{name}");
    }
}

/// A build with a path of its own still has CC.
#[test]
fn a_build_sets_cc() {
    let project = project(&[("build.sh", "PATH=/usr/bin:/bin\n$CC -o prog main.c part.c\n")]);
    let said = sh(&project, "edgewise build -- sh build.sh");
    assert!(said.contains("2 units instrumented"), "{said}");
    assert!(is_traced(&project, "prog"));
    sh(&project, "CC=/usr/bin/gcc edgewise build -- sh build.sh");
    assert!(is_traced(&project, "prog"));
}

#[test]
fn programs_linked_as_cxx_or_by_ld_are_traced() {
    let cxx =
        "#include <cstdio>\n#include \"part.h\"\nint main() { std::printf(\"%d\\n\", part(3)); }\n";
    let header = "extern \"C\" int part(int n);\n";
    for linker in ["g++", "c++", "clang++"] {
        if !has_tool(linker) {
            continue;
        }
        let makefile = format!(
            "prog: part.o main.o\n\t{linker} -o $@ $^\nmain.o: main.cc\n\t{linker} -c -o $@ $<\n"
        );
        let project = project(&[("Makefile", &makefile), ("main.cc", cxx), ("part.h", header)]);
        let said = sh(&project, "edgewise build -- make -s");
        assert!(said.contains("main.cc is not analysed"), "{said}");
        assert!(is_traced(&project, "prog"), "{linker}");
        let inputs = not_analysed(&project).to_string();
        assert!(inputs.contains("\"main.cc\"") && inputs.contains("\"part.h\""), "{inputs}");
    }
    let makefile = "prog: main.o part.o\n\tld -r -o both.o main.o part.o\n\tld -o $@ -dynamic-linker \
        $$(cc -print-file-name=ld-linux-x86-64.so.2) $$(cc -print-file-name=crt1.o) \
        $$(cc -print-file-name=crti.o) both.o -L/usr/lib/x86_64-linux-gnu -lc \
        $$(cc -print-file-name=crtn.o)\n";
    let project = project(&[("Makefile", makefile)]);
    let said = sh(&project, "edgewise build -- make -s");
    assert!(said.contains("2 units instrumented") && said.contains("1 program linked"), "{said}");
    assert!(is_traced(&project, "prog"));
}

#[test]
fn an_instrumented_object_links_without_the_runtime() {
    let project = project(&[]);
    for flags in ["", "-O2 -fPIC", "-O2 -static", "-flto -O2"] {
        sh(
            &project,
            &format!("edgewise-cc {flags} -c main.c part.c && cc {flags} -o prog main.o part.o"),
        );
        assert!(!is_traced(&project, "prog"), "{flags}");
        let objects = format!("edgewise-cc {flags} -fPIC -shared part.c -o libpart.so");
        sh(&project, if flags.contains("static") { "true" } else { &objects });
    }
    // Without a C library, nobody can write a trace.
    let start = "void _start(void)\n{\n    int r = 0;\n    if (r)\n        r = 1;\n    \
        __asm__ volatile(\"syscall\" : : \"a\"(60), \"D\"(r));\n}\n";
    project.write("start.c", start);
    sh(&project, "edgewise-cc -nostdlib -static -O0 -o bare start.c");
    assert!(!is_traced(&project, "bare"));
}

const CMAKE: &str = "cmake_minimum_required(VERSION 3.13)\nproject(p C)\ninclude(CheckFunctionExists)\n\
    check_function_exists(printf HAS_PRINTF)\nadd_library(part STATIC part.c)\n\
    add_executable(prog main.c)\ntarget_link_libraries(prog part)\n";

#[test]
fn cmake_by_our_names_and_as_launcher() {
    if !has_tool("cmake") {
        return;
    }
    let ours = project(&[("CMakeLists.txt", CMAKE)]);
    let said = sh(&ours, "edgewise build -- cmake -S . -B b");
    assert!(said.contains("0 units instrumented") && said.contains("tried the compiler"), "{said}");
    assert!(!said.contains("hint"), "{said}");
    let said = sh(&ours, "edgewise build -- cmake --build b");
    assert!(said.contains("2 units instrumented"), "{said}");
    assert!(is_traced(&ours, "b/prog"));
    let launched = project(&[("CMakeLists.txt", CMAKE)]);
    sh(
        &launched,
        "cmake -S . -B b -DCMAKE_C_COMPILER_LAUNCHER=edgewise-cc -DCMAKE_C_LINKER_LAUNCHER=edgewise-cc\n\
         edgewise build -- cmake --build b",
    );
    assert!(is_traced(&launched, "b/prog"));
    // Both at once, in two places.
    let objects = [(); 2].map(|()| {
        let both = project(&[("CMakeLists.txt", CMAKE)]);
        sh(
            &both,
            "edgewise build -- cmake -S . -B b -DCMAKE_C_COMPILER_LAUNCHER=edgewise-cc\n\
             edgewise build -- cmake --build b",
        );
        assert!(is_traced(&both, "b/prog"));
        assert_eq!(not_analysed(&both).to_string(), "[]");
        std::fs::read(both.path("b/CMakeFiles/prog.dir/main.c.o")).unwrap()
    });
    assert!(objects[0] == objects[1], "other bytes in another place");
}

#[test]
fn meson() {
    if !has_tool("meson") || !has_tool("ninja") {
        return;
    }
    let description = "project('p', 'c')\ncc = meson.get_compiler('c')\nassert(cc.has_function('printf'))\n\
        executable('prog', 'main.c', 'part.c')\n";
    let project = project(&[("meson.build", description)]);
    let said = sh(&project, "edgewise build -- meson setup b");
    assert!(said.contains("0 units instrumented") && said.contains("tried the compiler"), "{said}");
    let said = sh(&project, "edgewise build -- ninja -C b");
    assert!(said.contains("2 units instrumented"), "{said}");
    assert!(is_traced(&project, "b/prog"));
}

#[test]
fn autotools() {
    if !has_tool("autoreconf") || !has_tool("automake") {
        return;
    }
    let project = project(&[
        (
            "configure.ac",
            "AC_INIT([p],[1])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\n\
            AC_CHECK_FUNCS([printf nowhere])\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
        ),
        ("Makefile.am", "bin_PROGRAMS = prog\nprog_SOURCES = main.c part.c\n"),
    ]);
    project.write_config();
    project.write("tests.list", "one ./prog\n");
    sh(&project, "autoreconf -i");
    let said = sh(&project, "edgewise build -- ./configure");
    assert!(said.contains("0 units instrumented") && said.contains("tried the compiler"), "{said}");
    assert!(
        said.contains("checking for printf... yes") && said.contains("checking for nowhere... no")
    );
    let said = sh(&project, "edgewise build -- make");
    assert!(said.contains("2 units instrumented"), "{said}");
    assert!(is_traced(&project, "prog"));
    // What configure puts in the place of the rules that the compiler writes is no input.
    sh(&project, "edgewise run && edgewise select >selected.out");
    assert_eq!(project.read("selected.out"), "");
}

/// How many of ccache's look-ups hit.
fn hits(project: &Project) -> usize {
    let counts = sh(project, "ccache --print-stats");
    let of = |name: &str| {
        let line = counts.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'));
        line.and_then(|count| count.trim().parse::<usize>().ok()).unwrap_or(0)
    };
    of("direct_cache_hit") + of("preprocessed_cache_hit")
}

#[test]
fn above_and_below_ccache() {
    if !has_tool("ccache") {
        return;
    }
    let makefile =
        "prog: main.o part.o\n\t$(CC) -o $@ $^\n%.o: %.c\n\t$(CC) -O2 -g -MD -c -o $@ $<\n";
    for (name, line) in [
        ("above us", "make -s CC='ccache edgewise-cc'"),
        ("above us, in a build", "edgewise build -- make -s CC='ccache gcc'"),
        ("below us", "EDGEWISE_CC='ccache gcc' make -s CC='edgewise cc'"),
        ("by its name", "PATH=/usr/lib/ccache:$PATH edgewise build -- make -s CC=gcc"),
    ] {
        let project = project(&[("Makefile", makefile)]);
        sh(&project, line);
        assert_eq!(hits(&project), 0, "{name}");
        let first = ["main.o", "part.o"].map(|name| std::fs::read(project.path(name)).unwrap());
        assert!(is_traced(&project, "prog"), "{name}");
        sh(&project, "rm -f prog *.o *.d");
        sh(&project, line);
        assert!(hits(&project) >= 2, "{name}: {}", sh(&project, "ccache --print-stats"));
        let second = ["main.o", "part.o"].map(|name| std::fs::read(project.path(name)).unwrap());
        assert!(first == second, "{name}: other bytes");
        assert!(is_traced(&project, "prog"), "{name}");
    }
}

/// Objects of another granularity are not what was asked for.
#[test]
fn ccache_above_us_sees_another_granularity() {
    if !has_tool("ccache") {
        return;
    }
    let makefile = "prog: main.o part.o\n\t$(CC) -o $@ $^\n";
    let project = project(&[("Makefile", makefile)]);
    let mut builds = Vec::new();
    for options in ["", "--granularity procedure", "--count-entries", ""] {
        sh(&project, &format!("edgewise build {options} -- make -s CC='ccache edgewise-cc'"));
        builds.push((hits(&project), std::fs::read(project.path("part.o")).unwrap()));
        sh(&project, "rm -f prog *.o");
    }
    let counts: Vec<usize> = builds.iter().map(|(hits, _)| *hits).collect();
    assert_eq!(counts, [0, 0, 0, 2]);
    assert!(builds[0].1 == builds[3].1 && builds[0].1 != builds[1].1, "other objects");
    // What is left out of instrumentation counts as well.
    project.write("edgewise.toml", "[instrument]\nskip = [\"part.c\"]\n");
    let said = sh(&project, "edgewise build -- make -s CC='ccache edgewise-cc'");
    assert!(said.contains("part.c is compiled without probes"), "{said}");
}

#[test]
fn a_build_that_had_nothing_to_do_says_so() {
    let project = project(&[("Makefile", "prog: main.c part.c\n\tcc -o prog main.c part.c\n")]);
    sh(&project, "make -s");
    let said = sh(&project, "edgewise build -- make -s");
    assert!(said.contains("nothing was instrumented") && said.contains("make clean"), "{said}");
    sh(&project, "rm prog");
    let said = sh(&project, "edgewise build -- make -s");
    assert!(!said.contains("hint"), "{said}");
}

#[test]
fn plain_objects_that_are_only_linked_anew_are_noticed() {
    let project = project(&[("Makefile", "prog: main.o part.o\n\t$(CC) -o $@ $^\n")]);
    sh(&project, "make -s && rm prog");
    let said = sh(&project, "edgewise build -- make -s");
    assert!(said.contains("nothing was instrumented"), "{said}");
}

/// From sources, only what is compiled without us is not looked at.
#[test]
fn headers_of_code_that_is_not_analysed_select_everything_and_others_do_not() {
    if !has_tool("g++") {
        return;
    }
    let project = project(&[
        (
            "Makefile",
            "prog: main.o part.o more.o\n\tg++ -o $@ $^\nmore.o: more.cc\n\tg++ -c -o $@ $<\n",
        ),
        (
            "part.c",
            "#include \"part.h\"\n#include \"both.h\"\nint more(void);\n\
            int part(int n)\n{\n    if (n > 2)\n        return SEVEN;\n    return n + more() + BOTH;\n}\n",
        ),
        ("part.h", "#define SEVEN 7\n#define UNUSED 1\n"),
        ("both.h", "#define BOTH 1\n#define OTHER 2\n"),
        ("more.cc", "#include \"both.h\"\nextern \"C\" int more() { return OTHER; }\n"),
        ("tests.list", "none ./prog\nmany ./prog 1 2 3\n"),
    ]);
    project.write_config();
    project.edit("edgewise.toml", "\"*.out\"", "\"*.o\", \"prog\"");
    project.record();
    assert!(project.selected().is_empty());
    project.edit("part.h", "UNUSED 1", "UNUSED 2");
    assert!(project.selected().is_empty(), "nobody uses it");
    project.edit("part.h", "SEVEN 7", "SEVEN 8");
    assert_eq!(project.selected(), ["many"]);
    project.edit("both.h", "OTHER 2", "OTHER 3");
    assert_eq!(project.selected(), ["many", "none"]);
}

/// Nothing but the assembler knows of such a file.
#[test]
fn what_an_assembler_source_includes_as_bytes_counts() {
    let project = project(&[
        (
            "Makefile",
            "prog: main.o data.o part.o\n\t$(CC) -o $@ $^\ndata.o: data.s data.bin\n\t$(CC) -c data.s\n",
        ),
        (
            "data.s",
            ".globl data\n.data\ndata: .incbin \"data.bin\"\n.section .note.GNU-stack,\"\",@progbits\n",
        ),
        ("data.bin", "four"),
        ("part.c", "extern char data[];\nint part(int n) { return n == 9 ? data[0] : 0; }\n"),
        ("tests.list", "none ./prog\n"),
    ]);
    project.write_config();
    project.record();
    assert!(project.selected().is_empty());
    project.write("data.bin", "five");
    assert_eq!(project.selected(), ["none"]);
    project.ok(&["build"]);
    assert_eq!(project.selected(), ["none"], "the program has other bytes in it");
}

/// What `-x` and `@file` say is known again when selecting.
#[test]
fn units_named_by_x_and_in_files_are_selected_from() {
    let project = project(&[
        ("Makefile", "prog: main.c part.inc flags\n\tcc -o prog main.c @flags\n"),
        ("flags", "-O1 -DLIMIT=2 -x c \"part.inc\"\n"),
        (
            "part.inc",
            "int part(int n)\n{\n    if (n > LIMIT)\n        return 7;\n    return n;\n}\n",
        ),
        ("tests.list", "none ./prog\nmany ./prog 1 2 3\n"),
    ]);
    project.write_config();
    project.edit("edgewise.toml", "\"*.out\"", "\"prog\"");
    project.record();
    assert!(project.selected().is_empty());
    project.edit("part.inc", "return 7", "return 8");
    assert_eq!(project.selected(), ["many"]);
}

/// What is compiled of our own is kept in the user's cache, or where the user says; a compiler
/// leaves nothing in the project.
#[test]
fn what_is_made_of_our_sources_is_made_once() {
    let project = project(&[]);
    let made = |directory: &str| -> Vec<_> {
        let entries = std::fs::read_dir(project.path(directory)).into_iter().flatten();
        let files = entries.flatten().flat_map(|entry| std::fs::read_dir(entry.path()).unwrap());
        let stamp = |path: &Path| path.metadata().unwrap().modified().unwrap();
        let mut files: Vec<_> =
            files.map(|file| file.unwrap().path()).map(|file| (stamp(&file), file)).collect();
        files.sort();
        files
    };
    let unset = "unset EDGEWISE_CACHE; export XDG_CACHE_HOME=\"$PWD-cache\"";
    let cache = format!("../{}-cache/edgewise", project.root().file_name().unwrap().display());
    let link = "edgewise cc gcc -o prog main.c part.c";
    sh(&project, &format!("{unset}; {link}"));
    assert!(is_traced(&project, "prog"));
    assert!(!project.path(".edgewise").exists());
    let build = format!("edgewise build -- sh -c '{link}'");
    sh(&project, &format!("{unset}; {build}"));
    let first = made(&cache);
    assert!(first.iter().any(|(_, file)| file.ends_with("edgewise-runtime.o")), "{first:?}");
    let before = std::fs::read(project.path("prog")).unwrap();
    sh(&project, &format!("{unset}; {build}"));
    assert_eq!(made(&cache), first);
    assert_eq!(std::fs::read(project.path("prog")).unwrap(), before);
    assert!(is_traced(&project, "prog"));
    sh(&project, &format!("rm -r .edgewise; export EDGEWISE_CACHE=\"$PWD/kept\"; {build}"));
    assert_eq!((made(&cache), made("kept").len()), (first.clone(), first.len()));
    assert_eq!(std::fs::read(project.path("prog")).unwrap(), before);
    // What cannot be kept is made for once.
    sh(&project, &format!("export EDGEWISE_CACHE=/proc/nowhere; {build}"));
    assert_eq!(std::fs::read(project.path("prog")).unwrap(), before);
    // Other flags, another runtime.
    let other = "edgewise build --granularity path -- sh -c";
    sh(&project, &format!("{unset}; {other} '{link}'"));
    assert_eq!(made(&cache).len(), first.len() + 1);
    std::fs::remove_dir_all(project.path(&cache).parent().unwrap()).unwrap();
    assert_ne!(std::fs::read(project.path("prog")).unwrap(), before);
}
