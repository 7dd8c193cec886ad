//! Functions so large that a probe on each branch would cost a compiler far more than
//! the function itself: they are opaque, and `doctor` says so.

use crate::support::Project;
use std::fmt::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

fn labels(count: usize) -> String {
    let mut text = String::from("int f(int x)\n{\n    switch (x) {\n");
    for value in 0..count {
        let _ = writeln!(text, "    case {value}:");
    }
    text + "        return 1;\n    }\n    return 0;\n}\nint main(int c, char **v) { return f(c) - 1; }\n"
}

#[test]
fn a_switch_with_100001_labels() {
    let project = Project::of_source(&labels(100_001), &[]);
    project.write("tests.list", "one ./prog\n");
    project.record();
    assert!(project.selected().is_empty());
    let says = project.says(&["doctor"]).1;
    assert!(says.contains("too many for probes"), "{says}");
    project.edit("main.c", "return 1;", "return 1 + 0;");
    assert_eq!(project.selected(), ["one"]);
}

/// Processes whose command line mentions a name.
fn mentioning(name: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let commands = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let is_there = |command: &Vec<u8>| String::from_utf8_lossy(command).contains(name);
    commands.filter(is_there).count()
}

fn wait_until(what: impl Fn() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(120);
    while !what() {
        if Instant::now() > end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// A compiler that waits, as `cc1` does with much to compile, below another process.
const WAITS: &str =
    "#!/bin/sh\ncase \"$*\" in *waiting-unit*.i*) sleep 1000;; esac\nexec gcc \"$@\"\n";

#[test]
fn a_compiler_ends_with_us() {
    for signal in [libc::SIGKILL, libc::SIGTERM] {
        let project = Project::empty();
        let name = format!("waiting-unit-{}-{signal}", std::process::id());
        project.write("slow-gcc", WAITS);
        let slow = project.path("slow-gcc");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&slow, mode).unwrap();
        project.write(&format!("{name}.c"), "int main(void) { return 0; }\n");
        let mut us = project
            .command()
            .args(["cc", "-c", &format!("{name}.c")])
            .env("EDGEWISE_CC", &slow)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let started = format!("{name}.i");
        assert!(wait_until(|| mentioning(&started) > 0), "the compiler did not start");
        // SAFETY: a child that was not waited for.
        unsafe { libc::kill(us.id() as i32, signal) };
        us.wait().unwrap();
        assert!(wait_until(|| mentioning(&started) == 0), "the compiler goes on after {signal}");
    }
}
