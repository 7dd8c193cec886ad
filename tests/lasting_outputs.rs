//! Reasons that outlast their cause: a file that a compiler, a linker, a build or a test only
//! writes is not one of its inputs.

use crate::support::Project;
use std::process::Command;

const MAIN: &str = "\
int small(int n);
int big(int n);
int main(int argc, char **argv) { (void)argv; return argc > 1 ? big(argc) != 3 : small(argc) != 2; }
";

/// Two tests of a program, compiled and linked with these flags.
fn project(compile: &str, link: &str) -> Project {
    let project = Project::empty();
    project.write_config();
    project.write("tests.list", "big ./prog 1\nsmall ./prog\n");
    project.write("main.c", MAIN);
    project.write("big.c", "int big(int n) { return n + 1; }\n");
    project.write("small.c", "int small(int n) { return n * 2; }\n");
    project.write(
        "Makefile",
        &format!(
            "prog: main.o big.o small.o\n\t$(CC) -o $@ main.o big.o small.o {link}\n\
             %.o: %.c\n\t$(CC) {compile} -c $< -o $@\nclean:\n\trm -f prog *.o\n"
        ),
    );
    project
}

fn selects(project: &Project, arguments: &[&str]) -> String {
    let mut all = vec!["select"];
    all.extend(arguments);
    let output = project.edgewise(&all);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let names = String::from_utf8(output.stdout).unwrap();
    if !names.is_empty() {
        println!("{said}");
    }
    names
}

/// Nothing is selected after a run, a comment, a build or a clean build. An edit selects the test
/// that it concerns.
fn is_quiet(project: &Project, what: &str) {
    project.record();
    assert_eq!(selects(project, &[]), "", "{what}: after the first run");
    project.write("small.c", "/* comment */\nint small(int n) { return n * 2; }\n");
    assert_eq!(selects(project, &[]), "", "{what}: a comment");
    project.ok(&["build"]);
    assert_eq!(selects(project, &["--from-build"]), "", "{what}: a comment, built");
    let clean = Command::new("make").arg("clean").current_dir(project.root()).output();
    assert!(clean.unwrap().status.success());
    project.ok(&["build"]);
    assert_eq!(selects(project, &["--from-build"]), "", "{what}: a clean build");
    assert_eq!(selects(project, &[]), "", "{what}: a clean build, from sources");
    project.edit("small.c", "n * 2", "n + n");
    assert_eq!(selects(project, &[]), "t/small\n", "{what}: an edit");
    project.ok(&["test"]);
    assert_eq!(selects(project, &[]), "", "{what}: after a test");
}

#[test]
fn a_file_that_the_linker_writes_is_no_input_of_the_link() {
    for flags in [
        "-Wl,-Map,prog.map",
        "-Wl,-Map=prog.map",
        "-Wl,-Map -Wl,prog.map",
        "-Wl,--Map=prog.map,--cref",
        "-Xlinker -Map -Xlinker prog.map",
        "-Wl,--dependency-file=prog.dep",
        "-Wl,--out-implib=import.a",
        "-Wl,--out-implib,import.a",
    ] {
        is_quiet(&project("-O1", flags), flags);
    }
}

#[test]
fn a_file_that_lld_writes_is_no_input_of_the_link() {
    for flags in ["-Wl,-Map,prog.map", "-Wl,--why-extract=why.txt", "-Wl,--reproduce=all.tar"] {
        is_quiet(&project("-O1", &format!("-fuse-ld=lld {flags}")), flags);
    }
}

/// The same file may be read by another option.
#[test]
fn a_script_of_the_linker_is_an_input_of_the_link() {
    let project = project("-O1", "-Wl,-Map,prog.map -Wl,--version-script,names.map");
    project.write("names.map", "{ local: nothing; };\n");
    project.record();
    project.write("names.map", "{ local: something; };\n");
    assert_eq!(selects(&project, &[]), "t/big\nt/small\n");
}

#[test]
fn a_file_that_the_compiler_writes_is_no_input_of_the_unit() {
    for (compile, link) in [
        ("-fprofile-arcs -ftest-coverage", "-fprofile-arcs"),
        ("-fprofile-generate", "-fprofile-generate"),
        ("-fprofile-generate -fprofile-update=atomic", "-fprofile-generate"),
        ("-Wa,-adhln=$(@:.o=.lst)", ""),
        ("-Wa,--MD,$(@:.o=.dep)", ""),
        ("-Xassembler -aln=$(@:.o=.lst)", ""),
        ("-O3 -fopt-info-vec=opt.log", "-fopt-info-vec=opt.log"),
        ("-O3 -fopt-info-optimized=opt.log", ""),
        ("-fdump-tree-optimized=tree.log", ""),
        ("-fstack-usage -fcallgraph-info=su", ""),
        ("-g -gsplit-dwarf", ""),
    ] {
        let project = project(compile, link);
        // Each test adds to the profile of the tests before it.
        project.edit("edgewise.toml", "\"*.out\"", "\"*.out\", \"*.gcda\"");
        is_quiet(&project, compile);
    }
}

#[test]
fn a_file_that_clang_writes_is_no_input_of_the_unit() {
    for (compile, link) in [
        ("-O2 -fsave-optimization-record -foptimization-record-file=$(@:.o=.yaml)", ""),
        ("-fprofile-instr-generate -fcoverage-mapping", "-fprofile-instr-generate"),
        ("-ftime-trace", ""),
    ] {
        let project = project(compile, link);
        project.write("Makefile", &project.read("Makefile").replace("$(CC)", "clang"));
        is_quiet(&project, compile);
    }
}

/// A profile that a unit is compiled with is an input of it.
#[test]
fn a_profile_that_the_compiler_reads_is_an_input_of_the_unit() {
    let project = project("-O2 -fprofile-use -Wno-missing-profile", "");
    project.write("small.gcda", "not a profile\n");
    project.record();
    assert_eq!(selects(&project, &[]), "");
    project.write("small.gcda", "another one\n");
    assert_eq!(selects(&project, &[]), "t/big\nt/small\n");
}

#[test]
fn objects_for_link_time_optimization_with_code_count_by_their_records() {
    let flags = "-O2 -flto -ffat-lto-objects";
    is_quiet(&project(flags, flags), flags);
}

/// An object without a record counts by its bytes, also beside one with a record.
#[test]
fn an_object_for_link_time_optimization_without_a_record_counts_by_its_bytes() {
    let project = project("-O2 -flto", "-O2 -flto both.o");
    project.edit("Makefile", "prog: main.o big.o small.o", "prog: main.o big.o both.o");
    project.edit("Makefile", "-o $@ main.o big.o small.o", "-o $@ main.o big.o");
    project.write(
        "Makefile",
        &(project.read("Makefile")
            + "both.o: small.o other.s\n\tgcc -c other.s -o other.o\n\tld -r -o both.o small.o other.o\n"),
    );
    let other = |n: u32| {
        format!(".globl other\n.data\nother: .long {n}\n.section .note.GNU-stack,\"\",@progbits\n")
    };
    project.write("other.s", &other(1));
    project.record();
    assert_eq!(selects(&project, &[]), "");
    project.write("other.s", &other(2));
    project.ok(&["build"]);
    assert_eq!(selects(&project, &["--from-build"]), "t/big\nt/small\n");
}

/// A part of a makefile that the first build makes is nothing new after it.
#[test]
fn a_build_description_that_the_build_makes_is_not_new() {
    let project = project("$(CFLAGS)", "");
    project.write("configure", "#!/bin/sh\necho 'CFLAGS = -O1' >config.mk\n");
    project.write(
        "Makefile",
        &("include config.mk\n".to_string()
            + &project.read("Makefile")
            + "config.mk: configure\n\tsh ./configure\n"),
    );
    is_quiet(&project, "config.mk");
    project.write("config.mk", "CFLAGS = -O2\n");
    assert_eq!(selects(&project, &[]), "t/big\nt/small\n", "an edit of config.mk");
    project.write("config.mk", "CFLAGS = -O1\n");
    assert_eq!(selects(&project, &[]), "");
    // The tests ran with what it was when the programs were made.
    project.write("config.mk", "CFLAGS = -O2\n");
    project.ok(&["run"]);
    assert_eq!(selects(&project, &[]), "t/big\nt/small\n", "an edit between build and run");
}

#[test]
fn a_makefile_of_configure_is_not_new() {
    let project = project("@FLAGS@", "");
    std::fs::rename(project.path("Makefile"), project.path("Makefile.in")).unwrap();
    project.write("configure", "#!/bin/sh\nsed s,@FLAGS@,-O1, Makefile.in >Makefile\n");
    let command = "test -f Makefile || sh ./configure; make -s";
    project.edit("edgewise.toml", "make -s", command);
    is_quiet(&project, "Makefile");
    project.edit("Makefile", "-O1", "-O2");
    assert_eq!(selects(&project, &[]), "t/big\nt/small\n", "an edit of Makefile");
}

#[test]
fn what_cmake_makes_is_not_new() {
    for generator in ["Unix Makefiles", "Ninja"] {
        let project = project("", "");
        std::fs::remove_file(project.path("Makefile")).unwrap();
        project.write(
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.13)\nproject(x C)\n\
             add_executable(prog main.c big.c small.c)\n\
             set_target_properties(prog PROPERTIES RUNTIME_OUTPUT_DIRECTORY ..)\n",
        );
        project.edit(
            "edgewise.toml",
            "\"make -s\"",
            &format!("'''test -f b/CMakeCache.txt || cmake -G \"{generator}\" -S . -B b; cmake --build b'''"),
        );
        project.record();
        assert_eq!(selects(&project, &[]), "", "{generator}: after the first run");
        project.write("small.c", "/* comment */\nint small(int n) { return n * 2; }\n");
        project.ok(&["test"]);
        assert_eq!(selects(&project, &[]), "", "{generator}: after a comment");
        project.edit("small.c", "n * 2", "n + n");
        assert_eq!(selects(&project, &[]), "t/small\n", "{generator}: an edit");
        project.ok(&["test"]);
        let flags = match generator {
            "Ninja" => "b/build.ninja",
            _ => "b/Makefile",
        };
        project.write(flags, &(project.read(flags) + "# an edit\n"));
        project.ok(&["run"]);
        assert_eq!(selects(&project, &[]), "t/big\nt/small\n", "{generator}: an edit of {flags}");
    }
}

#[test]
fn a_log_that_a_test_appends_to_is_no_input() {
    let project = project("-O1", "");
    project.write("tests.list", "big ./prog 1; echo done >>big.log\nsmall ./prog\n");
    project.record();
    for round in 1..4 {
        assert_eq!(selects(&project, &[]), "", "round {round}");
        project.ok(&["run"]);
    }
    project.write("big.log", "");
    assert_eq!(selects(&project, &[]), "");
    assert_eq!(selects(&project, &["--from-build"]), "");
}

/// A log that a test appends to and looks at in any way is an input.
#[test]
fn a_log_that_a_test_looks_at_is_an_input() {
    let project = Project::of_source(
        r#"#define _GNU_SOURCE
        #include <fcntl.h>
        #include <stdio.h>
        #include <sys/stat.h>
        #include <unistd.h>
        int main(int argc, char **argv)
        {
            struct stat status;
            struct statx more;
            char *name = argc > 2 ? argv[2] : "";
            FILE *file = fopen(name, "a");
            fpos_t place;
            fputs("line\n", file);
            switch (*argv[1]) {
            case 't': return ftell(file) > 100;
            case 'p': return fgetpos(file, &place);
            case 's': return fstat(fileno(file), &status) || status.st_size > 100;
            case 'x': return statx(fileno(file), "", AT_EMPTY_PATH, STATX_SIZE, &more);
            case 'l': return lseek(fileno(file), 0, SEEK_END) > 100;
            case 'n': return 0;
            }
            return 0;
        }
        "#,
        &[],
    );
    let line = |name: &str, command: &str| format!("{name} {command}\n");
    let tests = [
        line("tell", "./prog t tell.log"),
        line("position", "./prog p position.log"),
        line("status", "./prog s status.log"),
        line("statx", "./prog x statx.log"),
        line("seek", "./prog l seek.log"),
        line("cat", "echo line >>cat.log; cat cat.log"),
        line("size", "echo line >>size.log; test -s size.log"),
        line("nothing", "./prog n nothing.log"),
    ];
    project.write("tests.list", &tests.concat());
    let names = ["cat", "position", "seek", "size", "status", "statx", "tell"];
    for name in names.iter().chain(&["nothing"]) {
        project.write(&format!("{name}.log"), "line\n");
    }
    project.record();
    for name in names.iter().chain(&["nothing"]) {
        project.write(&format!("{name}.log"), "edited\n");
    }
    assert_eq!(project.selected(), names);
}

/// A build may append to a log, too.
#[test]
fn a_log_that_a_build_appends_to_is_no_input() {
    let project = project("-O1", "");
    project.edit("Makefile", "-c $< -o $@\n", "-c $< -o $@\n\techo $< >>build.log\n");
    is_quiet(&project, "build.log");
}

#[test]
fn a_test_that_cleans_the_directory_for_temporary_files() {
    let project = project("-O1", "");
    project.write("tests.list", "big ./prog 1; rm -rf \"$TMPDIR\"/*; echo made\nsmall ./prog\n");
    project.ok(&["build"]);
    let temporary = tempfile::tempdir().unwrap();
    let mut command = project.command();
    let run = command.args(["run", "-j1"]).env("TMPDIR", temporary.path()).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(selects(&project, &[]), "");
    let left = std::fs::read_dir(temporary.path()).unwrap().count();
    assert_eq!(left, 0);
}
