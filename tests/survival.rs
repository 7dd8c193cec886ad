//! Whatever becomes of its processes, a test keeps all its edges or is known
//! to be unclean. Real processes, really killed.

use crate::support::Project;
use std::process::Command;
use std::sync::{RwLock, RwLockReadGuard};

const ENDS: &str = include_str!("survival/ends.c");
const PROCESSES: &str = include_str!("survival/processes.c");
const PLUGIN: &str = include_str!("survival/plugin.c");
const TRAPS: &str = include_str!("survival/traps.c");
const CONFINED: &str = include_str!("survival/confined.c");

/// A project of `main.c` with this list of tests, recorded.
fn recorded(source: &str, list: &str) -> Project {
    let project = Project::of_source(source, &[]);
    project.write("tests.list", list);
    project.record();
    project
}

fn is_root() -> bool {
    // SAFETY: only asks.
    let is_root = unsafe { libc::geteuid() } == 0;
    if !is_root {
        eprintln!("skipped: needs root");
    }
    is_root
}

/// Whether a command is there and works.
fn works(program: &str, arguments: &[&str]) -> bool {
    let works =
        Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success());
    if !works {
        eprintln!("skipped: {program} {arguments:?} does not work here");
    }
    works
}

#[test]
fn however_a_process_ends_its_edges_are_kept() {
    let project = recorded(
        ENDS,
        "exit ./prog exit\n\
         _exit ./prog _exit\n\
         abort ./prog abort; test $? = 134\n\
         kill ./prog kill; test $? = 137\n\
         segv ./prog segv; test $? = 139\n\
         fork ./prog fork\n\
         grandchild ./prog grandchild\n\
         loop ./prog loop & sleep 0.2; kill -9 $!; wait $!; test $? = 137\n",
    );
    for test in ["exit", "_exit", "abort", "kill", "fork", "grandchild", "loop"] {
        project.assert_reached("main.c", test);
    }
    // After a trap more may count as reached, but never less.
    project.assert_kept("main.c", "segv");
    assert!(project.selected().is_empty());
}

/// The compiler would divide or load before the probe on the way there.
#[test]
fn a_trap_does_not_lose_the_edges_before_it() {
    let list = "fine ./prog 1\n\
                seen (./prog 0 &); sleep 0.3\n\
                loop ./prog 0; test $? = 136\n\
                both ./prog 0 both; test $? = 136\n\
                call ./prog 0 call; test $? = 136\n\
                load ./prog 0 load; test $? = 139\n";
    for level in ["-O1", "-O2", "-O3"] {
        let project = Project::of_source(TRAPS, &[]);
        project.write("tests.list", list);
        project.edit("Makefile", "-O2", level);
        project.record();
        project.assert_kept("main.c", "seen");
        for test in ["fine", "loop", "both", "call", "load"] {
            project.assert_reached("main.c", test);
        }
    }
}

#[test]
fn however_a_process_starts_others_their_edges_are_kept() {
    let project = Project::of_source(PROCESSES, &[]);
    project.write("plugin.c", PLUGIN);
    project.write(
        "Makefile",
        "all: prog plugin.so\n\
         prog: main.c\n\t$(CC) -O2 -o prog main.c -ldl -lpthread\n\
         plugin.so: plugin.c\n\t$(CC) -O2 -fPIC -shared -o plugin.so plugin.c\n",
    );
    let racing = "seq 500 | xargs -P 24 -n 1 ./prog";
    project.write(
        "tests.list",
        &format!(
            "vfork ./prog vfork\n\
             self ./prog self\n\
             cleared ./prog cleared\n\
             many ./prog many\n\
             threads ./prog threads; test $? = 137\n\
             daemon ./prog daemon\n\
             orphan ./prog orphan\n\
             plugin ./prog plugin; test $? = 137\n\
             racing {racing}\n"
        ),
    );
    project.record();
    let tests =
        ["vfork", "self", "cleared", "many", "threads", "daemon", "orphan", "plugin", "racing"];
    for test in tests {
        project.assert_reached("main.c", test);
    }
    project.assert_reached("plugin.c", "plugin");
    assert!(project.selected().is_empty());
}

#[test]
fn what_confines_itself_after_its_start_keeps_its_edges() {
    if !is_root() {
        return;
    }
    let project =
        recorded(CONFINED, "chroot ./prog chroot\nseccomp ./prog seccomp\nsetuid ./prog setuid\n");
    for test in ["chroot", "seccomp", "setuid"] {
        project.assert_reached("main.c", test);
    }
    assert!(project.selected().is_empty());
}

#[test]
fn however_it_is_linked_its_edges_are_kept() {
    let kinds = [
        ("dynamic", ""),
        ("static", "-static"),
        ("static-pie", "-static-pie"),
        ("no-pie", "-no-pie -fno-pie"),
        ("sections", "-ffunction-sections -fdata-sections -Wl,--gc-sections"),
        ("lto", "-flto"),
        ("relro", "-Wl,-z,relro,-z,now"),
        ("asan", "-fsanitize=address"),
        ("lld", "-fuse-ld=lld"),
        ("lld-static", "-fuse-ld=lld -static"),
        ("gold", "-fuse-ld=gold"),
        ("gold-sections", "-fuse-ld=gold -ffunction-sections -Wl,--gc-sections"),
        ("stripped", "-s"),
    ];
    let project = Project::of_source(ENDS, &[]);
    project.write("plain.c", "int main(void) { return 0; }\n");
    let (mut targets, mut rules, mut list) = (String::new(), String::new(), String::new());
    let mut tried = Vec::new();
    for (name, flags) in kinds {
        let plain = project.path("plain.c");
        let output = project.path("plain.out");
        let check = format!("gcc {flags} -o {} {}", output.display(), plain.display());
        if !works("sh", &["-c", &check]) {
            continue;
        }
        targets += &format!(" prog-{name}");
        rules += &format!("prog-{name}: main.c\n\tgcc -O2 {flags} -o prog-{name} main.c\n");
        list += &format!("{name} ./prog-{name} kill; test $? = 137\n");
        tried.push(name);
    }
    std::fs::remove_file(project.path("plain.c")).unwrap();
    project.write("Makefile", &format!("all:{targets}\n{rules}"));
    project.write("tests.list", &list);
    project.record();
    let kill = project.read("main.c").replace("kill segv", &format!("{} segv", tried.join(" ")));
    project.write("main.c", &kill);
    for name in tried {
        project.assert_reached("main.c", name);
    }
}

#[test]
fn a_compiler_that_calls_another_links_one_runtime() {
    let project = Project::of_source(ENDS, &[]);
    project.write("tools/my-gcc", "#!/bin/sh\nexec gcc \"$@\"\n");
    let rights = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(project.path("tools/my-gcc"), rights).unwrap();
    project.write(
        "Makefile",
        "prog: main.o\n\tmy-gcc -o prog main.o\nmain.o: main.c\n\tmy-gcc -c main.c\n",
    );
    project.write("tests.list", "kill ./prog kill; test $? = 137\n");
    let path = format!("{}:{}", project.path("tools").display(), std::env::var("PATH").unwrap());
    let output = project.command().arg("build").env("PATH", path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    project.ok(&["run"]);
    project.assert_reached("main.c", "kill");
}

#[test]
fn two_programs_in_one_test_both_count() {
    let project = Project::empty();
    let program = |n: u32| {
        format!(
            "int main(int argc, char **argv) {{ (void)argv;\n if (argc > 1)\n  return {n};\n return 0;\n}}\n"
        )
    };
    project.write("one.c", &program(1));
    project.write("two.c", &program(2));
    project.write(
        "Makefile",
        "all: one two\none: one.c\n\t$(CC) -o one one.c\ntwo: two.c\n\t$(CC) -o two two.c\n",
    );
    project.write_config();
    project.write("tests.list", "both ./one x; test $? = 1 && ./two\nfirst ./one\n");
    project.record();
    let lines = |source: &str| project.lines_reached(source, "both");
    assert!(lines("one.c").contains(&3) && !lines("one.c").contains(&4));
    assert!(lines("two.c").contains(&4) && !lines("two.c").contains(&3));
}

/// A process that nobody knows the test of is heard by every runner. Who starts such ones
/// writes, whoever looks at the reasons of others reads.
static HEARD: RwLock<()> = RwLock::new(());

fn undisturbed() -> RwLockReadGuard<'static, ()> {
    HEARD.read().unwrap_or_else(|broken| broken.into_inner())
}

/// Tests whose trace cannot be complete, each with a part of the reason.
fn assert_unclean(project: &Project, wanted: &[(&str, &str)]) {
    for (test, reason) in wanted {
        let why = project.unclean(test);
        assert!(why.as_ref().is_some_and(|why| why.contains(reason)), "{test}: {why:?}");
    }
    let mut names: Vec<&str> = wanted.iter().map(|(test, _)| *test).collect();
    names.sort();
    assert_eq!(project.selected(), names);
}

const QUIET: &str = "\
int main(int argc, char **argv)
{
    (void)argv;
    return argc > 1;
}
";

#[test]
fn a_process_without_room_for_its_trace_makes_its_test_unclean() {
    let _undisturbed = undisturbed();
    let project = recorded(
        QUIET,
        "limit (ulimit -f 0; ./prog)\n\
         gone rm -r $EDGEWISE_TRACE; ./prog\n\
         relative EDGEWISE_TRACE=here ./prog\n\
         fine ./prog\n",
    );
    // The runner cannot look into a directory that is gone either.
    assert_unclean(&project, &[("limit", "error 27"), ("gone", ""), ("relative", "absolute")]);
}

#[test]
fn a_process_without_descriptors_makes_its_test_unclean() {
    let _undisturbed = undisturbed();
    let project = Project::of_source(QUIET, &[]);
    project.edit("Makefile", "-O2", "-O2 -static");
    project.write("tests.list", "none (ulimit -Sn 3; exec ./prog)\n");
    project.record();
    assert_unclean(&project, &[("none", "could not be traced")]);
}

#[test]
fn a_full_disk_makes_a_test_unclean() {
    let _undisturbed = undisturbed();
    if !is_root() || !works("unshare", &["-m", "true"]) {
        return;
    }
    let project = Project::of_source(QUIET, &[]);
    project.write(
        "tests.list",
        "full dd if=/dev/zero of=$EDGEWISE_TRACE/../fill.out 2>/dev/null; ./prog\n",
    );
    project.ok(&["build"]);
    project.write("small.out", "");
    let script = "mkdir -p small.d && mount -t tmpfs -o size=64k tmpfs small.d && \
                  TMPDIR=$PWD/small.d exec \"$0\" run --jobs 1";
    let status = Command::new("unshare")
        .current_dir(project.root())
        .args(["-m", "sh", "-c", script, env!("CARGO_BIN_EXE_edgewise")])
        .status();
    assert!(status.unwrap().success());
    std::fs::remove_dir(project.path("small.d")).unwrap();
    assert_unclean(&project, &[("full", "error 28")]);
}

#[test]
fn a_directory_that_a_process_cannot_write_to_makes_its_test_unclean() {
    let _undisturbed = undisturbed();
    let list = if is_root() && works("unshare", &["-m", "true"]) {
        // In one command: another one would have the log of file uses open there.
        "readonly unshare -m sh -c 'mount -o bind,ro $EDGEWISE_TRACE $EDGEWISE_TRACE && ./prog'\n"
    } else {
        "readonly chmod a-w $EDGEWISE_TRACE; ./prog\n"
    };
    let project = recorded(QUIET, list);
    assert_unclean(&project, &[("readonly", "cannot open or create the trace file")]);
    assert!(project.unclean("readonly").unwrap().starts_with("a process could not be traced"));
}

#[test]
fn the_output_of_a_process_that_is_not_traced_is_its_own() {
    let _undisturbed = undisturbed();
    let list = "says test -z \"$(ulimit -f 0; ./prog 2>&1)\"\n";
    let project = recorded(QUIET, list);
    assert_unclean(&project, &[("says", "error 27")]);
    // Where nobody listens it says so, once.
    let output = Command::new(project.path("prog")).env("EDGEWISE_TRACE", "/nowhere").output();
    let text = String::from_utf8(output.unwrap().stderr).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.starts_with("edgewise: not traced: "), "{text}");
}

/// Another user sees neither the trace directory nor the environment of the
/// processes above; so does one in a chroot.
#[test]
fn a_process_behind_a_wall_makes_its_test_unclean() {
    let _heard_by_all = HEARD.write().unwrap_or_else(|broken| broken.into_inner());
    if !is_root() || !works("setpriv", &["--reuid", "65534", "true"]) {
        return;
    }
    let project = Project::of_source(QUIET, &[]);
    project.write(
        "Makefile",
        "all: prog jail/prog setuid\n\
         prog: main.c\n\t$(CC) -o prog main.c\n\
         jail/prog: main.c\n\tmkdir -p jail; $(CC) -static -o jail/prog main.c\n\
         setuid: prog\n\tcp prog setuid; chmod u+s setuid\n",
    );
    let other = "setpriv --reuid 65534 --regid 65534 --clear-groups";
    project.write(
        "tests.list",
        &format!(
            "user {other} ./prog\n\
             user-cleared {other} ./clear ./prog\n\
             jail chroot jail /prog\n\
             jail-cleared ./clear \"$(command -v chroot)\" jail /prog\n\
             setuid {other} ./setuid\n\
             fine ./prog\n"
        ),
    );
    let mut rights = std::fs::metadata(project.root()).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut rights, 0o755);
    std::fs::set_permissions(project.root(), rights).unwrap();
    project.ok(&["build"]);
    // What is preloaded hands the variable on to whom it starts; not so one that
    // is linked statically.
    let clear = "#include <unistd.h>\nint main(int n, char **v)\n{\n    char *none[] = {0};\n    \
                 (void)n;\n    return execve(v[1], v + 1, none);\n}\n";
    project.write("clear.out.c", clear);
    let mut gcc = Command::new("gcc");
    gcc.current_dir(project.root()).args(["-w", "-static", "-o", "clear", "clear.out.c"]);
    assert!(gcc.status().unwrap().success());
    // A source that came after the build would concern all tests.
    std::fs::remove_file(project.path("clear.out.c")).unwrap();
    project.ok(&["run", "--jobs", "1"]);
    assert_unclean(
        &project,
        &[
            ("user", "error 13"),
            ("user-cleared", "not every ancestor"),
            ("jail", "could not be traced"),
            ("jail-cleared", "not every ancestor"),
            ("setuid", "setuid"),
        ],
    );
}

#[test]
fn a_daemon_that_outlives_its_test_makes_it_unclean() {
    let _undisturbed = undisturbed();
    let source = "#include <unistd.h>\nint main(void) { sleep(2); return 0; }\n";
    let hidden = "env -i setsid ./prog >/dev/null 2>&1 & exit 0";
    let list = format!("daemon ./prog >/dev/null 2>&1 & exit 0\nhidden {hidden}\nfine true\n");
    let project = Project::of_source(source, &[]);
    project.write("tests.list", &list);
    project.ok(&["build"]);
    project.ok(&["run", "--jobs", "1"]);
    for test in ["daemon", "hidden"] {
        let why = project.unclean(test).unwrap();
        assert!(why.contains("still running"), "{why}");
    }
    // One of another test is not its own.
    assert_eq!(project.unclean("fine"), None);
}
