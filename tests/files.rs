//! Whatever way a process takes to a file of the project, it is recorded, or
//! the record is known not to be complete. Real processes.

use crate::support::Project;
use edgewise::suite::keeper::Report;
use edgewise::suite::preload::{self, Preload};
use edgewise::trace::uses::{self, First, Room, Use, Uses};
use std::collections::BTreeSet;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

const ESCAPES: &str = include_str!("files/escapes.c");

/// A directory with files to use, and what was seen of the use.
struct Place {
    directory: tempfile::TempDir,
}

struct Seen {
    output: Output,
    uses: Uses,
    root: PathBuf,
}

impl Seen {
    fn of(&self, name: &str) -> Option<Use> {
        self.uses.files.get(&self.root.join(name)).copied()
    }

    #[track_caller]
    fn assert_complete(&self) -> &Self {
        assert_eq!(self.uses.incomplete, None, "{}", self.text());
        self
    }

    #[track_caller]
    fn assert_ok(&self) -> &Self {
        assert!(self.output.status.success(), "{:?} {}", self.output.status, self.text());
        self
    }

    #[track_caller]
    fn assert_read(&self, names: &[&str]) -> &Self {
        for name in names {
            let is_read = self.of(name).is_some_and(|used| used.read);
            assert!(is_read, "{name} is not read: {:?} {}", self.uses, self.text());
        }
        self
    }

    fn text(&self) -> String {
        let of = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        of(&self.output.stdout) + &of(&self.output.stderr)
    }
}

/// One library for all tests of this file.
fn state() -> &'static Path {
    static STATE: OnceLock<tempfile::TempDir> = OnceLock::new();
    STATE.get_or_init(|| tempfile::tempdir().unwrap()).path()
}

impl Place {
    fn new() -> Self {
        let place = Self { directory: tempfile::tempdir().unwrap() };
        for (name, text) in [
            ("data.txt", "data\n"),
            ("sub/b.txt", "b\n"),
            ("sub/deep/c.txt", "c\n"),
            ("lib.sh", "x=1\n"),
            ("s.sh", "#!/bin/sh\ncat data.txt\n"),
            ("a.awk", "BEGIN { while ((getline line < \"data.txt\") > 0) print line }\n"),
            ("inc/f.h", "int f(void);\n"),
            ("m.c", "#include \"f.h\"\nint main(void) { return 0; }\n"),
            ("Makefile", "m: m.c inc/f.h\n\tcc -Iinc -Isub -o m m.c\n"),
            ("helper.py", "x = 1\n"),
            ("t.py", "import helper\nprint(open('data.txt').read())\n"),
        ] {
            let path = place.root().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        std::os::unix::fs::symlink("data.txt", place.root().join("link.txt")).unwrap();
        std::os::unix::fs::symlink("sub", place.root().join("dirlink")).unwrap();
        make_executable(&place.root().join("s.sh"));
        place
    }

    fn root(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    fn run(&self, words: &[&str]) -> Seen {
        self.run_with(words, |_| {})
    }

    fn run_with(&self, words: &[&str], change: impl FnOnce(&mut Command)) -> Seen {
        self.run_in(words, Room::TEST, change)
    }

    fn run_in(&self, words: &[&str], room: Room, change: impl FnOnce(&mut Command)) -> Seen {
        let root = self.root();
        let trace = tempfile::tempdir().unwrap();
        let library = Preload::make(state(), &root);
        let library = library.prepare(trace.path(), room).expect("the library");
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(&root).env("EDGEWISE_TRACE", trace.path());
        change(&mut command);
        preload::add_to(&mut command, library.as_os_str(), |name| std::env::var_os(name));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let process = command.spawn().unwrap();
        uses::note_first(trace.path(), process.id()).unwrap();
        let output = process.wait_with_output().unwrap();
        Seen { output, uses: Uses::read(trace.path()), root }
    }

    fn shell(&self, script: &str) -> Seen {
        self.run(&["/bin/sh", "-c", script])
    }

    /// Compiles a program into the place; false if that does not work here.
    fn compile(&self, source: &str, name: &str, flags: &[&str]) -> bool {
        let file = self.root().join(format!("{name}.c"));
        std::fs::write(&file, source).unwrap();
        let mut words = flags.iter();
        let output = Command::new(words.next().unwrap())
            .args(words)
            .arg("-o")
            .arg(self.root().join(name))
            .arg(&file)
            .arg("-lpthread")
            .output();
        let works = output.is_ok_and(|output| output.status.success());
        if !works {
            eprintln!("skipped: {flags:?} does not work here");
        }
        works
    }
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn is_root() -> bool {
    // SAFETY: only asks.
    unsafe { libc::geteuid() == 0 }
}

fn escape(how: &str) -> Seen {
    static PLACE: OnceLock<Place> = OnceLock::new();
    let place = PLACE.get_or_init(|| {
        let place = Place::new();
        assert!(place.compile(ESCAPES, "escapes", &["gcc", "-w"]));
        place
    });
    place.run(&["./escapes", how])
}

#[test]
fn a_file_is_seen_whichever_way_it_is_opened() {
    for how in [
        "open",
        "fopen",
        "freopen",
        "dirfd",
        "opath",
        "reopen",
        "dev_fd",
        "cwd",
        "root",
        "syscall",
        "openat2",
        "dlsym",
        "handle",
        "thread",
        "handler",
        "fork",
        "killed",
        "mntent",
        "sendfile",
        "descriptors",
        "errno",
        "cancel",
    ] {
        escape(how).assert_ok().assert_complete().assert_read(&["data.txt"]);
    }
}

#[test]
fn a_file_is_seen_whichever_way_a_program_is_started() {
    for how in [
        "vfork",
        "spawn",
        "spawnp",
        "spawn_open",
        "execve",
        "execve_null",
        "execv",
        "execvp",
        "execl",
        "execlp",
        "execle",
        "execveat",
        "fexecve",
        "exec_raw",
        "system",
        "popen",
    ] {
        escape(how).assert_ok().assert_complete().assert_read(&["data.txt"]);
    }
}

#[test]
fn what_is_listed_or_asked_for_is_seen() {
    for how in ["glob", "scandir", "nftw", "fts"] {
        let seen = escape(how);
        seen.assert_ok().assert_complete();
        assert!(seen.of("").is_some_and(|used| used.listed), "{how}: {:?}", seen.uses);
    }
    for how in ["nftw", "fts", "realpath", "inotify"] {
        let seen = escape(how);
        seen.assert_ok().assert_complete();
        assert!(seen.of("data.txt").is_some_and(|used| used.looked_for), "{how}");
    }
}

#[test]
fn under_a_filter_of_system_calls_no_other_is_made() {
    escape("seccomp").assert_ok().assert_complete().assert_read(&["data.txt"]);
}

#[test]
fn what_cannot_be_seen_marks_the_test() {
    for how in ["wordexp", "uring"] {
        let seen = escape(how);
        assert!(seen.uses.incomplete.is_some(), "{how}");
    }
    if is_root() {
        for how in ["chroot", "unshare"] {
            assert!(escape(how).assert_ok().uses.incomplete.is_some(), "{how}");
        }
        escape("chroot_exec").assert_ok().assert_complete().assert_read(&["data.txt"]);
    }
}

const READS: &str = "#include <stdio.h>\n#include <stdlib.h>\n\
    int main(void) { FILE *f = fopen(\"data.txt\", \"r\"); int c = getc(f); fclose(f);\n\
    puts(\"fine\"); return c < 0 || system(\"cat sub/b.txt\"); }\n";

#[test]
fn a_static_program_marks_the_test_and_its_children_are_seen() {
    let place = Place::new();
    for kind in ["-static", "-static-pie"] {
        if !place.compile(READS, "prog", &["gcc", kind]) {
            continue;
        }
        for words in [&["./prog"][..], &["/bin/sh", "-c", "./prog; :"], &["env", "-i", "./prog"]] {
            let seen = place.run(words);
            seen.assert_ok().assert_read(&["sub/b.txt"]);
            let why = seen.uses.incomplete.clone().unwrap_or_default();
            assert!(why.contains("was not seen"), "{words:?}: {why}");
            if words.len() > 1 {
                assert_eq!(why, "./prog was not seen: statically linked");
            }
        }
        // One that is not executed after all is no loss.
        std::fs::rename(place.root().join("prog"), place.root().join("prog2")).unwrap();
        use std::os::unix::fs::PermissionsExt;
        let none = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(place.root().join("prog2"), none).unwrap();
        place.shell("./prog2; ./prog; :").assert_complete();
    }
}

#[test]
fn a_setuid_program_marks_the_test() {
    let place = Place::new();
    if !is_root() || !place.compile(READS, "prog", &["gcc"]) {
        return;
    }
    for name in ["", "data.txt", "sub", "sub/b.txt", "prog"] {
        let path = place.root().join(name);
        std::os::unix::fs::chown(&path, Some(65534), Some(65534)).unwrap();
    }
    // For root it is another user's.
    let seen = place.shell("chmod u+s prog; ./prog; :");
    let why = seen.uses.incomplete.clone().unwrap_or_default();
    assert_eq!(why, "./prog was not seen: a setuid program", "{}", seen.text());
}

/// There is often no 32-bit C library; a program that ends at once needs none.
#[test]
fn a_program_of_another_machine_marks_the_test_and_says_nothing() {
    let place = Place::new();
    let source = "void _start(void) { __asm__(\"mov $1, %eax\\nxor %ebx, %ebx\\nint $0x80\"); }\n";
    let file = place.root().join("small.c");
    std::fs::write(&file, source).unwrap();
    let compiled = Command::new("gcc")
        .args(["-m32", "-static", "-nostdlib", "-fno-pie", "-no-pie", "-o", "small", "small.c"])
        .current_dir(place.root())
        .output();
    if !compiled.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no 32-bit programs here");
        return;
    }
    let seen = place.shell("./small");
    assert_eq!(seen.text(), "");
    let why = seen.uses.incomplete.clone().unwrap_or_default();
    assert!(why.contains("a program for another kind of machine"), "{why}");
}

#[test]
fn sanitizers_work_and_are_seen() {
    let place = Place::new();
    for flags in [
        &["gcc", "-fsanitize=address,undefined"][..],
        &["clang", "-fsanitize=address,undefined"],
        &["gcc", "-fsanitize=thread"],
        &["clang", "-fsanitize=thread"],
        &["clang", "-fsanitize=memory"],
        &["gcc", "-fsanitize=leak"],
    ] {
        if place.compile(READS, "prog", flags) {
            for script in ["./prog", "ASAN_OPTIONS=detect_leaks=0 ./prog", "env -i ./prog"] {
                let seen = place.shell(script);
                seen.assert_ok().assert_complete().assert_read(&["data.txt", "sub/b.txt"]);
                assert!(seen.text().contains("fine"), "{flags:?}: {}", seen.text());
            }
        }
    }
}

/// Such programs load the library and go past it.
#[test]
fn programs_that_make_system_calls_themselves_mark_the_test() {
    let place = Place::new();
    let go = "__asm__(\".pushsection .note.go.buildid, \\\"a\\\", @note\\n.long 4, 4, 4\\n\"\n\
              \".asciz \\\"Go\\\"\\n.byte 0\\n.asciz \\\"abc\\\"\\n.popsection\");\n";
    assert!(place.compile(&format!("{go}{READS}"), "prog", &["gcc"]));
    assert!(place.compile(READS, "qemu-any", &["gcc"]));
    for program in ["./prog", "./qemu-any"] {
        for words in [&[program][..], &["sh", "-c", program]] {
            let seen = place.run(words);
            let why = seen.assert_ok().uses.incomplete.clone().unwrap_or_default();
            assert!(why.contains("system calls itself"), "{words:?}: {why}");
        }
    }
}

/// Directories of the system are passed over, but ways may lead out of them.
#[test]
fn a_way_around_through_the_system_is_seen() {
    let place = Place::new();
    for way in ["/usr/..", "/usr/lib/../..", "/lib/../../../..", "/dev/.."] {
        let path = format!("{way}{}/data.txt", place.root().display());
        place.run(&["cat", &path]).assert_ok().assert_complete().assert_read(&["data.txt"]);
    }
}

#[test]
fn a_library_that_was_looked_for_in_vain_counts() {
    let place = Place::new();
    let library = place.root().join("sub");
    let seen = place.shell(&format!("LD_LIBRARY_PATH={} cat data.txt", library.display()));
    seen.assert_ok().assert_complete();
    assert!(seen.of("sub/libc.so.6").is_some_and(|used| used.looked_for), "{:?}", seen.uses);
}

#[test]
fn another_c_library_is_seen_too() {
    let place = Place::new();
    if place.compile(READS, "prog", &["musl-gcc"]) {
        place.shell("./prog").assert_ok().assert_complete().assert_read(&["data.txt", "sub/b.txt"]);
    }
}

#[test]
fn what_a_test_writes_first_is_no_input() {
    let place = Place::new();
    let seen = place.shell(
        "echo new > out; cat out; echo > data.txt; cat data.txt; mkdir made; : > made/x; cat made/x\n\
         echo more >> sub/b.txt; mv sub/deep/c.txt moved; cat moved; ls missing; exit 0",
    );
    seen.assert_ok().assert_complete();
    for name in ["out", "data.txt", "made/x"] {
        assert_eq!(seen.of(name).map(|used| used.first), Some(First::Output), "{name}");
    }
    // These fail, or do something else, where the name is not free.
    for name in ["moved", "made"] {
        let used = seen.of(name).unwrap();
        assert!(used.looked_for && used.made && used.first == First::Input, "{name}: {used:?}");
    }
    // What was there before is still in it.
    for name in ["sub/b.txt", "sub/deep/c.txt", "missing"] {
        assert_eq!(seen.of(name).map(|used| used.first), Some(First::Input), "{name}");
    }
    assert!(seen.of("sub/b.txt").is_some_and(|used| !used.read && used.written));
    assert!(seen.of("missing").is_some_and(|used| used.looked_for && !used.read));
}

/// A write that fails does not hide that the file is read later.
#[test]
fn a_write_that_fails_makes_no_output() {
    let place = Place::new();
    let script =
        "set -C; echo x > data.txt; mkdir data.txt; ln -s a data.txt; cat data.txt; exit 0";
    let seen = place.shell(script);
    seen.assert_complete().assert_read(&["data.txt"]);
    assert_eq!(
        seen.of("data.txt").map(|used| (used.first, used.written)),
        Some((First::Input, false))
    );
}

#[test]
fn links_count_with_what_they_lead_to() {
    let place = Place::new();
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(place.root().join("sub"), outside.path().join("way")).unwrap();
    let seen = place.shell("cat link.txt dirlink/deep/c.txt dirlink/../lib.sh");
    seen.assert_ok().assert_complete();
    seen.assert_read(&["data.txt", "sub/deep/c.txt", "lib.sh"]);
    for link in ["link.txt", "dirlink"] {
        assert!(seen.of(link).is_some_and(|used| used.looked_for), "{link}");
    }
    let way = outside.path().join("way/b.txt");
    place.run(&["cat", way.to_str().unwrap()]).assert_complete().assert_read(&["sub/b.txt"]);
    // A link that is turned leads to another file under the same name.
    let seen = place.shell(
        "ln -s sub turn; read x < turn/b.txt; mkdir other; echo o > other/b.txt; rm turn; ln -s inc turn\n\
         echo in > inc/b.txt; read x < turn/b.txt",
    );
    seen.assert_ok().assert_complete().assert_read(&["sub/b.txt", "inc/b.txt"]);
}

#[test]
fn programs_and_their_libraries_are_files_too() {
    let place = Place::new();
    let root = place.root();
    let library = "int value(void) { return 0; }\n";
    let main = "int value(void); int main(void) { return value(); }\n";
    let load = "#include <dlfcn.h>\nint main(void) { void *l = dlopen(\"libplug.so\", RTLD_NOW);\n\
                if (!l) l = dlopen(\"./libplug.so\", RTLD_NOW); return !dlsym(l, \"value\"); }\n";
    let rpath = format!("-Wl,-rpath,{}", root.display());
    let here = format!("-L{}", root.display());
    assert!(place.compile(library, "libvalue.so", &["gcc", "-shared", "-fPIC"]));
    assert!(place.compile(library, "libplug.so", &["gcc", "-shared", "-fPIC"]));
    std::fs::write(root.join("main.c"), main).unwrap();
    let compile = Command::new("gcc")
        .args(["-o", "linked", "main.c", &here, "-lvalue", &rpath])
        .current_dir(&root)
        .status();
    assert!(compile.unwrap().success());
    // The program's own search path must still count for what it loads.
    assert!(place.compile(load, "loads", &["gcc", &rpath, "-Wl,--no-as-needed"]));
    let seen = place.shell("./linked && ./loads && ./s.sh");
    seen.assert_ok().assert_complete().assert_read(&["libvalue.so", "libplug.so", "s.sh"]);
    for program in ["linked", "loads", "s.sh"] {
        assert!(seen.of(program).is_some_and(|used| used.executed), "{program}");
    }
    std::fs::write(root.join("by.sh"), "#!./linked\n").unwrap();
    make_executable(&root.join("by.sh"));
    let seen = place.shell("./by.sh");
    assert!(seen.assert_complete().of("linked").is_some_and(|used| used.executed));
}

#[test]
fn nothing_is_printed_and_no_descriptor_is_left() {
    let place = Place::new();
    let seen = place.shell("exec 3<data.txt; cat <&3; ls -l /proc/$$/fd; ls -l /proc/self/fd");
    for ours in ["/files", "libedgewise"] {
        assert!(!seen.text().contains(ours), "{}", seen.text());
    }
    assert!(seen.output.stderr.is_empty());
    assert_eq!(place.shell("exec 0<&- 1>&- 2>&-; cat data.txt; exit 0").uses.incomplete, None);
}

#[test]
fn libraries_of_the_user_stay() {
    let place = Place::new();
    let own = "int puts(const char *s); __attribute__((constructor)) static void f(void) { puts(\"own\"); }\n";
    assert!(place.compile(own, "own.so", &["gcc", "-shared", "-fPIC"]));
    let own = place.root().join("own.so");
    let seen = place.shell(&format!("LD_PRELOAD={} cat data.txt", own.display()));
    seen.assert_ok().assert_complete().assert_read(&["data.txt", "own.so"]);
    assert!(["own\ndata\n", "data\nown\n"].contains(&&*seen.text()), "{}", seen.text());
}

/// The log has room for a few only: the rest goes the slow way.
#[test]
fn many_files_and_processes_are_seen_together() {
    let place = Place::new();
    for number in 0..300 {
        std::fs::write(place.root().join(format!("sub/{number}")), "x\n").unwrap();
    }
    let script = "for f in sub/[0-9]*; do (cat $f > /dev/null; :) & done; wait; cat sub/*[0-9]";
    for room in [Room::TEST, Room { bytes: 8 << 10, table: 64 }] {
        let seen = place.run_in(&["/bin/sh", "-c", script], room, |_| {});
        seen.assert_ok().assert_complete();
        for number in 0..300 {
            seen.assert_read(&[&format!("sub/{number}")]);
        }
    }
}

#[test]
fn a_log_that_cannot_be_written_marks_the_test() {
    let place = Place::new();
    // No room anywhere: the directory is gone while the test runs.
    let room = Room { bytes: 4 << 10, table: 64 };
    let script =
        "mv $EDGEWISE_TRACE/files $EDGEWISE_TRACE/f2; for i in 1 2 3; do cat data.txt; done";
    let seen = place.run_in(&["/bin/sh", "-c", script], room, |_| {});
    assert!(seen.assert_ok().uses.incomplete.is_some());
    if is_root() {
        // Another user may not even enter the trace directory.
        let script = "chmod 700 $EDGEWISE_TRACE; setpriv --reuid=65534 --clear-groups cat /dev/null || exit 0";
        let seen = place.shell(script);
        assert!(seen.uses.incomplete.is_some(), "{:?}", seen.text());
    }
}

/// The loader would complain of a library that it cannot open.
#[test]
fn where_the_library_is_out_of_sight_nothing_is_said() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let hide = "library=${LD_PRELOAD##*:}; chmod 700 ${library%/*}";
    let seen = place.shell(&format!("{hide}; setpriv --reuid=65534 --clear-groups cat /dev/null"));
    let show = "chmod 755 ${LD_PRELOAD%/*}";
    place.shell(show).assert_ok();
    assert_eq!(seen.text(), "");
    assert!(seen.uses.incomplete.is_some());
}

#[test]
fn a_first_program_that_is_not_seen_marks_the_test() {
    let place = Place::new();
    let seen = place.run_with(&["cat", "data.txt"], |command| {
        command.env("EDGEWISE_TRACE", "/nowhere");
    });
    assert!(seen.assert_ok().uses.incomplete.is_some());
}

/// The small keeper has no libraries; the other one gets the name of ours in a
/// variable of its own.
#[test]
fn the_keeper_gives_the_library_to_the_test_alone() {
    let place = Place::new();
    let preload = Preload::make(state(), &place.root());
    let small = preload.keeper().expect("the small keeper");
    for keeper in [small, Path::new(env!("CARGO_BIN_EXE_edgewise"))] {
        let trace = tempfile::tempdir().unwrap();
        let library = preload.prepare(trace.path(), Room::TEST).unwrap();
        let (mut said, to_say) = std::io::pipe().unwrap();
        let mut command = Command::new(keeper);
        command
            .arg0("edgewise-keeper")
            .args(["0", "/bin/sh", "-c", "cat data.txt -; echo $EDGEWISE_PRELOAD $ASAN_OPTIONS"])
            .current_dir(place.root())
            .env("EDGEWISE_TRACE", trace.path())
            .env("ASAN_OPTIONS", "detect_leaks=0")
            .stdin(to_say);
        match keeper == small {
            true => preload::add(&mut command, library.as_os_str()),
            false => drop(command.env("EDGEWISE_PRELOAD", library)),
        }
        let output = command.output().unwrap();
        drop(command);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert_eq!(printed, "data\ndetect_leaks=0:verify_asan_link_order=0\n");
        let mut report = String::new();
        said.read_to_string(&mut report).unwrap();
        let report = Report::parse(&report).unwrap();
        assert_eq!(report.status.code(), Some(0));
        let uses = Uses::read_of(trace.path(), report.process);
        assert_eq!(uses.incomplete, None);
        assert!(uses.files[&place.root().join("data.txt")].read);
    }
}

#[test]
fn a_path_that_cannot_be_preloaded_is_no_hindrance() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("a b:c$d");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("data.txt"), "x\n").unwrap();
    let trace = tempfile::tempdir().unwrap();
    let preload = Preload::make(&root.join(".edgewise"), &root);
    let library = preload.prepare(trace.path(), Room::TEST).unwrap();
    let mut command = Command::new("cat");
    command.arg("data.txt").current_dir(&root).env("EDGEWISE_TRACE", trace.path());
    preload::add_to(&mut command, library.as_os_str(), |_| None);
    let mut process = command.stdout(Stdio::null()).spawn().unwrap();
    uses::note_first(trace.path(), process.id()).unwrap();
    assert!(process.wait().unwrap().success());
    let uses = Uses::read(trace.path());
    assert_eq!(uses.incomplete, None);
    assert!(uses.files[&root.join("data.txt")].read);
}

/// Commands as tests use them, laid beside what strace sees of them.
#[test]
fn what_strace_sees_is_recorded() {
    let works = Command::new("strace").args(["-o", "/dev/null", "true"]).status();
    if !works.is_ok_and(|status| status.success()) {
        eprintln!("skipped: strace does not work here");
        return;
    }
    let python = "import os,glob,subprocess,shutil\n\
                  for x in os.walk('.'): pass\n\
                  glob.glob('**/*', recursive=True)\n\
                  subprocess.run(['cat', 'data.txt'], env={})\n\
                  subprocess.run('cat sub/b.txt', shell=True)\n\
                  os.system('cat sub/deep/c.txt'); list(os.scandir('sub')); os.access('no', 4)\n\
                  d = os.open('sub', os.O_RDONLY); os.open('b.txt', os.O_RDONLY, dir_fd=d)\n\
                  shutil.copytree('sub', 'sub2'); os.rename('data.txt', 'e.txt'); os.readlink('link.txt')\n\
                  os.posix_spawn('/bin/cat', ['cat', 'Makefile'], {})";
    let perl = "open F, '<data.txt'; print <F>; -e 'nope'; opendir D, 'sub'; readdir D; \
                print `cat sub/b.txt`; print glob('inc/*'); stat 'm.c'; exec 'cat', 'Makefile'";
    let shell = "cat data.txt; . ./lib.sh; exec 3<sub/b.txt; read y <&3; test -e nope; for f in sub/*; do :; done\n\
                 cat <<E\n$x\nE\n./s.sh; cd sub; cat b.txt ../data.txt; echo > ../o";
    let commands: &[&[&str]] = &[
        &["sh", "-c", shell],
        &["bash", "-c", shell],
        &[
            "bash",
            "-c",
            "[[ -e nope ]]; mapfile < data.txt; shopt -s globstar; echo **; echo $(<lib.sh)",
        ],
        &["diff", "data.txt", "sub/b.txt"],
        &["diff", "-r", "sub", "inc"],
        &["cmp", "data.txt", "link.txt"],
        &["sort", "data.txt", "dirlink/b.txt"],
        &["grep", "-r", "x", "."],
        &["sed", "-n", "p", "data.txt", "missing"],
        &["awk", "-f", "a.awk"],
        &["find", ".", "-name", "*.txt"],
        &["find", "-L", "."],
        &["ls", "-laR"],
        &["cp", "-r", "sub", "sub2"],
        &["mv", "sub", "sub3"],
        &["rm", "-rf", "sub"],
        &["python3", "t.py"],
        &["python3", "-c", python],
        &["perl", "-e", perl],
        &["make"],
        &["gcc", "-Iinc", "-Isub", "-c", "m.c"],
        &["clang", "-Iinc", "-c", "m.c"],
        &["git", "hash-object", "data.txt"],
        &["tar", "cf", "x.tar", "sub", "data.txt"],
        &["install", "-m", "755", "data.txt", "inst"],
        &["sqlite3", "db", "create table t(a)"],
        &["env", "-i", "cat", "data.txt"],
        &["xargs", "-a", "data.txt", "cat"],
        &["readlink", "-f", "dirlink/b.txt"],
        &["touch", "t1", "data.txt"],
        &["ln", "-s", "data.txt", "l3"],
        &["mkdir", "-p", "a/b/c"],
        &["dd", "if=data.txt", "of=dd.out"],
        &["timeout", "5", "cat", "data.txt"],
        &["stdbuf", "-o0", "cat", "data.txt"],
    ];
    // Names that are made up are others in the second run.
    let is_left_out =
        |path: &Path| path.starts_with(".git") || path.extension().is_some_and(|e| e == "tmp");
    for words in commands {
        let is_there = |directory: PathBuf| directory.join(words[0]).exists();
        let path = std::env::var_os("PATH").unwrap();
        if !std::env::split_paths(&path).any(is_there) {
            eprintln!("skipped: no {}", words[0]);
            continue;
        }
        let ours = Place::new();
        let seen = ours.run(words);
        seen.assert_complete();
        let recorded: BTreeSet<PathBuf> = seen
            .uses
            .files
            .keys()
            .filter_map(|path| Some(path.strip_prefix(ours.root()).ok()?.to_path_buf()))
            .collect();
        let theirs = Place::new();
        let missed: Vec<PathBuf> = strace(&theirs, words)
            .into_iter()
            .filter(|path| !recorded.contains(path) && !is_left_out(path))
            .collect();
        assert!(missed.is_empty(), "{words:?}: {missed:?} is not among {recorded:?}");
    }
}

/// Paths of a place that strace sees in the calls of a command, without links
/// on the way.
fn strace(place: &Place, words: &[&str]) -> BTreeSet<PathBuf> {
    let log = tempfile::NamedTempFile::new().unwrap();
    let root = place.root();
    let status = Command::new("strace")
        .args(["-f", "-qq", "-y", "-s", "4096", "-e", "trace=%file", "-e", "signal=none", "-o"])
        .arg(log.path())
        .args(words)
        .current_dir(&root)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.unwrap();
    let text = std::fs::read_to_string(log.path()).unwrap();
    let mut found = BTreeSet::new();
    for line in text.lines().filter(|line| !line.contains("getcwd(")) {
        // Only paths that say where they begin: others depend on the directory
        // of a process.
        for (start, _) in line.match_indices(", \"").chain(line.match_indices("(\"")) {
            let skipped = if line[start..].starts_with('(') { 2 } else { 3 };
            let Some(name) = line[start + skipped..].split('"').next() else { continue };
            let base = line[..start].strip_suffix('>').and_then(|base| base.rsplit('<').next());
            let path = match base {
                Some(base) if skipped == 3 => Path::new(base).join(name),
                _ if name.starts_with('/') && !line.contains("execve(") => PathBuf::from(name),
                _ => continue,
            };
            let path = edgewise::compiler::project::clean(&path);
            let (Some(parent), Some(last)) = (path.parent(), path.file_name()) else { continue };
            let parent = parent.canonicalize().unwrap_or_else(|_| parent.to_path_buf());
            if let Ok(inside) = parent.join(last).strip_prefix(&root) {
                found.insert(inside.to_path_buf());
            }
        }
    }
    found
}

#[test]
fn a_build_knows_what_it_reads_and_what_it_makes() {
    let project = Project::empty();
    project.write_config();
    project.write("main.c", "#include <value.h>\nint main(void) { return VALUE; }\n");
    project.write("value.in", "0\n");
    project.write("tool.sh", "#!/bin/sh\necho \"#define VALUE $(cat value.in)\" > $1\n");
    make_executable(&project.path("tool.sh"));
    project.write(
        "Makefile",
        "all: prog lib.a\n\
         prog: main.c value.h\n\t$(CC) -Imore -I. -o prog main.c\n\
         value.h: value.in tool.sh\n\t./tool.sh value.h\n\
         lib.a: extra.o\n\tar rc lib.a extra.o\n\
         extra.o: extra.c\n\t$(CC) -c extra.c\n\
         -include local.mk\n",
    );
    project.write("extra.c", "int extra;\n");
    std::fs::create_dir(project.path("more")).unwrap();
    let check = || {
        let state: serde_json::Value =
            serde_json::from_str(&project.read(".edgewise/builds.json")).unwrap();
        let set = |name: &str| -> BTreeSet<String> {
            let names = state[name].as_array().unwrap().iter();
            names.map(|name| name.as_str().unwrap().to_string()).collect()
        };
        assert!(state["inputs_incomplete"].is_null(), "{state}");
        let inputs = set("inputs");
        for name in ["main.c", "extra.c", "value.in", "tool.sh", "Makefile"] {
            assert!(inputs.contains(name), "{name}: {inputs:?}");
        }
        for name in ["prog", "value.h", "lib.a", "extra.o"] {
            assert!(!inputs.contains(name), "{name}: {inputs:?}");
        }
        let missing = set("missing");
        assert!(missing.contains("local.mk") && missing.contains("more/value.h"), "{missing:?}");
        assert!(!missing.contains("prog") && !missing.contains("value.h"), "{missing:?}");
    };
    project.ok(&["build", "--", "make"]);
    check();
    // An incremental build opens less, and reads what the first one made.
    project.edit("extra.c", "extra;", "extra = 1;");
    project.ok(&["build", "--", "make"]);
    check();
}
