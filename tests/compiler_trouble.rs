//! Where the compiler, the disk or the source is in trouble, the real compiler's
//! behaviour and exit code, and one line of ours at most.

use crate::support::Project;
use crate::support::compare::{Bench, compilers};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

const SOURCE: &str = "int f(int n)\n{\n    if (n)\n        return 1;\n    return 0;\n}\n";

fn bench() -> Bench {
    Bench::new(&[("main.c", SOURCE)])
}

#[test]
fn without_a_real_compiler_there_is_one_line() {
    let project = Project::empty();
    project.write("main.c", SOURCE);
    let output = Command::new(env!("CARGO_BIN_EXE_edgewise-cc"))
        .args(["-c", "main.c"])
        .current_dir(project.root())
        .env("PATH", "/nowhere")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(127), "as a shell says");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "edgewise: no compiler `cc` found on the path\n");
}

#[test]
fn sources_and_places_that_are_not_there() {
    let bench = Bench::new(&[("main.c", SOURCE), ("dir.c/x", ""), ("file", "")]);
    for compiler in compilers() {
        for line in [
            "-c nowhere.c",
            "-c dir.c",
            "-c main.c -o nowhere/main.o",
            "-c main.c -o file/main.o",
            "-c main.c nowhere.c",
            "main.c nowhere.c -o prog",
            "-c main.c -o",
            "-c main.c --no-such-option",
            "-MD -MF nowhere/x.d -c main.c",
            "-c main.c -I nowhere -include nowhere.h",
        ] {
            bench.same(compiler, line);
        }
    }
}

#[test]
fn an_unreadable_source() {
    // Root reads everything, so that the source must be in nobody's reach.
    let bench = Bench::new(&[("x", "")]);
    for compiler in compilers() {
        bench.same(compiler, "-c /proc/self/mem -x c -o x.o");
        bench.same(compiler, "-x c -c /proc/self/mem -o x.o");
    }
}

/// Without room for our own files the real compiler works alone.
#[test]
fn without_a_temporary_directory_the_real_compiler_works_alone() {
    for compiler in compilers() {
        for line in ["-c main.c", "-Wall -shared -fPIC main.c -o main.so"] {
            let bench = bench();
            let plain = bench.plain(compiler, line);
            let ours = bench.ours(&format!("env TMPDIR=/tmp {compiler}"), line);
            assert_eq!(ours.outcome, plain, "control");
            assert!(ours.is_analysed("main.c"), "{}", ours.log);
        }
    }
    let project = Project::empty();
    project.write("main.c", SOURCE);
    for line in [["-c", "main.c"].as_slice(), &["-shared", "-fPIC", "main.c", "-o", "main.so"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_edgewise-cc"))
            .args(line)
            .current_dir(project.root())
            .env("TMPDIR", "/nowhere")
            .output()
            .unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{line:?}: {output:?}");
    }
    assert!(project.path("main.o").exists() && project.path("main.so").exists());
}

/// A file system of 40 kB, if this machine lets us have one.
#[test]
fn a_full_disk_is_the_real_compilers_to_report() {
    let script = "mount -t tmpfs -o size=40k none full && mkdir full/t && \
        dd if=/dev/zero of=full/fill bs=1k count=36 2>/dev/null; cd full; ";
    let run = |what: &str| {
        let project = Project::empty();
        std::fs::create_dir(project.path("full")).unwrap();
        let body: String =
            (0..2000).map(|n| format!("int f{n}(int n) {{ return n / {n}7; }}\n")).collect();
        project.write("big.c", &body);
        let output = Command::new("unshare")
            .args(["-rm", "/bin/sh", "-c", &format!("{script}{what}")])
            .current_dir(project.root())
            .output();
        output.ok().filter(|output| !String::from_utf8_lossy(&output.stderr).contains("unshare"))
    };
    let ours = env!("CARGO_BIN_EXE_edgewise-cc");
    for (plain, wrapped) in [
        ("gcc -c ../big.c".to_string(), format!("EDGEWISE_CC=gcc {ours} -c ../big.c")),
        (
            "TMPDIR=$PWD/t gcc -c ../big.c -o ../big.o".to_string(),
            format!("EDGEWISE_CC=gcc TMPDIR=$PWD/t {ours} -c ../big.c -o ../big.o"),
        ),
    ] {
        let (Some(plain), Some(wrapped)) = (run(&plain), run(&wrapped)) else {
            println!("skipped: no file system of our own");
            return;
        };
        assert_eq!(wrapped.status.code(), plain.status.code());
        assert!(!wrapped.status.success());
        let said = String::from_utf8_lossy(&wrapped.stderr).into_owned();
        assert!(said.contains("No space left"), "{said}");
        let lines = |text: &[u8]| String::from_utf8_lossy(text).lines().count();
        assert!(lines(&wrapped.stderr) <= lines(&plain.stderr) + 1, "{said}");
    }
}

/// A compiler that is a script around the real one.
fn fake(body: &str) -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("gcc");
    std::fs::write(&path, format!("#!/bin/sh\n{body}\nexec gcc \"$@\"\n")).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    let name = path.to_string_lossy().into_owned();
    (directory, name)
}

#[test]
fn a_compiler_that_crashes_crashes() {
    let (_directory, crashes) = fake("case \"$*\" in *-c*) kill -SEGV $$;; esac");
    let ours = bench().ours(&crashes, "-O2 -c main.c");
    assert_eq!((ours.outcome.code, ours.outcome.stderr.as_str()), (Some(139), ""));
    let (_directory, fails) = fake("case \"$*\" in *-c*) echo 'internal error' >&2; exit 4;; esac");
    let ours = bench().same(&fails, "-O2 -c main.c");
    assert_eq!((ours.outcome.code, ours.outcome.stderr.as_str()), (Some(4), "internal error\n"));
}

#[test]
fn a_compiler_that_does_not_take_our_text_compiles_the_users() {
    let (_directory, picky) =
        fake("case \"$*\" in *.i*) echo 'x.c: internal compiler error' >&2; exit 4;; esac");
    let ours = bench().same(&picky, "-O2 -Wall -c main.c");
    assert_eq!(ours.outcome.stderr, "");
    assert!(ours.is_listed("main.c"), "{}", ours.log);
}

/// A project built by a compiler that does not take probes where a line of our
/// text is like `pattern`. Its test `one` runs one of two procedures of a unit.
struct Rejected {
    project: Project,
    /// Where the compiler is.
    _directory: tempfile::TempDir,
    path: String,
}

impl Rejected {
    /// Selects with that compiler: another one would be a change.
    fn selected(&self) -> Vec<String> {
        let output = self.project.command().arg("select").env("PATH", &self.path).output().unwrap();
        let names = String::from_utf8(output.stdout).unwrap();
        names.lines().map(|name| name.trim_start_matches("t/").to_string()).collect()
    }
}

fn rejected(pattern: &str) -> Rejected {
    let project = Project::of_source(
        "int odd(int);\nint even(int);\n\
         int main(int n, char **v) { (void)v; return n > 1 ? odd(0) : even(0); }\n",
        &[("one", "x"), ("two", "")],
    );
    project.write(
        "part.c",
        "int odd(int n) { if (n > 2) return 1; return 0; }\n\
         int even(int n) { if (n > 3) return 1; return 0; }\n",
    );
    project.write("Makefile", "prog: main.c part.c\n\t$(CC) -O2 -o prog main.c part.c\n");
    let (directory, name) = fake(&format!(
        "for word; do case $word in *.i) if grep -q '{pattern}' \"$word\"; then\n\
         echo 'part.c:1:5: error: no probes here' >&2; exit 1; fi;; esac; done\n\
         PATH=/usr/local/bin:/usr/bin:/bin"
    ));
    let path = format!("{}:{}", directory.path().display(), std::env::var("PATH").unwrap());
    let mut build = project.command();
    let output = build.args(["build", "--", "make", "-s", "CC=gcc"]).env("PATH", &path).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    project.ok(&["run"]);
    let rejected = Rejected { project, _directory: directory, path };
    assert!(rejected.selected().is_empty());
    rejected
}

#[test]
fn a_procedure_whose_probes_the_compiler_rejects_is_opaque() {
    let rejected = rejected("int odd(int n).*?__extension__");
    let said = rejected.project.says(&["doctor"]).1;
    assert!(said.contains("odd: the compiler rejects its probes: no probes here"), "{said}");
    assert!(said.contains("2 units instrumented, 3 procedures"), "{said}");
    // No branch of it is known, but who enters it is.
    rejected.project.edit("part.c", "if (n > 2) return 1;", "if (n > 2) return 5;");
    assert_eq!(rejected.selected(), ["one"]);
}

#[test]
fn a_unit_whose_probes_the_compiler_rejects_is_compiled_without() {
    let rejected = rejected("__edgewise_map.*int odd(int n)");
    let said = rejected.project.says(&["doctor"]).1;
    assert!(said.contains("part.c: the compiler rejects its probes"), "{said}");
    // Whoever runs the program counts as running all of it.
    rejected.project.edit("part.c", "if (n > 2) return 1;", "if (n > 2) return 5;");
    assert_eq!(rejected.selected(), ["one", "two"]);
}

#[test]
fn a_link_that_does_not_take_the_runtime_is_done_without() {
    let (_directory, picky) =
        fake("case \"$*\" in *-Wl,-T*) echo 'no scripts here' >&2; exit 1;; esac");
    let bench = Bench::new(&[("main.c", "int main(void) { return 0; }\n")]);
    let ours = bench.same(&picky, "main.c -o prog");
    assert_eq!((ours.outcome.code, ours.outcome.stderr.as_str()), (Some(0), ""));
    assert!(ours.log.contains("linked_without_runtime"), "{}", ours.log);
}

#[test]
fn a_link_that_fails_fails_in_the_linkers_words() {
    let bench =
        Bench::new(&[("main.c", "int nowhere(void);\nint main(void) { return nowhere(); }\n")]);
    for compiler in compilers() {
        let ours = bench.ours(compiler, "main.c -o prog");
        assert_eq!(ours.outcome.code, Some(1));
        assert_eq!(ours.outcome.stderr.matches("undefined reference to `nowhere'").count(), 1);
        assert!(!ours.outcome.stderr.contains("edgewise"), "{}", ours.outcome.stderr);
    }
}
