//! Machines other than the one we are on.

use crate::support::Project;
use edgewise::trace::collect::Collector;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

const SOURCE: &str = "\
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int count;
static int work(int n)
{
    if (n > 1)
        return 1;
    return 2;
}
int main(int argc, char **argv)
{
    (void)argv;
    count = work(argc);
    if (count == 1)
        kill(getpid(), SIGKILL);
    return 0;
}
";

fn works(program: &str) -> bool {
    let works =
        Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !works {
        eprintln!("skipped: no {program}");
    }
    works
}

/// Runs a program for aarch64 and gives the lines it reached.
fn lines_on_aarch64(project: &Project, program: &str, argument: Option<&str>) -> Vec<u32> {
    let directory = tempfile::tempdir().unwrap();
    let output = Command::new("qemu-aarch64")
        .args(["-L", "/usr/aarch64-linux-gnu"])
        .arg(project.path(program))
        .args(argument)
        .env("EDGEWISE_TRACE", directory.path())
        .output()
        .unwrap();
    assert_eq!(output.status.success(), argument.is_none(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr).matches("edgewise").count(), 0);
    let trace = Collector::default().collect(directory.path());
    assert_eq!(trace.unclean, None);
    let mut lines = Vec::new();
    for unit in trace.programs.iter().flat_map(|program| &program.units) {
        let graphs = unit.raw.graphs(&unit.index).unwrap();
        let edges = graphs.iter().flat_map(|graph| graph.edges.iter().map(move |e| (graph, e)));
        for ((graph, edge), taken) in edges.zip(&trace.rows[&unit.index.fingerprint]) {
            if *taken {
                lines.push(graph.node(edge.to).place.line);
            }
        }
    }
    lines
}

#[test]
fn programs_for_aarch64_leave_their_edges() {
    if !works("aarch64-linux-gnu-gcc") || !works("qemu-aarch64") {
        return;
    }
    let project = Project::of_source(SOURCE, &[]);
    project.write(
        "Makefile",
        "all: prog static\n\
         prog: main.c\n\taarch64-linux-gnu-gcc -O2 -o prog main.c\n\
         static: main.c\n\taarch64-linux-gnu-gcc -O2 -static -o static main.c\n",
    );
    project.ok(&["build"]);
    for program in ["prog", "static"] {
        let ends = lines_on_aarch64(&project, program, None);
        assert!(ends.contains(&9) && ends.contains(&17), "{ends:?}");
        assert!(!ends.contains(&8) && !ends.contains(&16), "{ends:?}");
        let killed = lines_on_aarch64(&project, program, Some("x"));
        assert!(killed.contains(&8) && killed.contains(&16), "{killed:?}");
        assert!(!killed.contains(&9) && !killed.contains(&17), "{killed:?}");
    }
}

#[test]
fn a_machine_without_runtime_is_refused_in_one_line() {
    let project = Project::of_source(SOURCE, &[("ends", "")]);
    // A compiler that takes the runtime to be for a machine of its own.
    let script = "#!/bin/sh\ncase \"$*\" in *edgewise-runtime.o*) set -- -U__x86_64__ -U__aarch64__ \"$@\";; \
                  esac\nexec gcc \"$@\"\n";
    project.write("tools/odd-gcc", script);
    let rights = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.path("tools/odd-gcc"), rights).unwrap();
    project.write("Makefile", "prog: main.c\n\todd-gcc -O2 -o prog main.c\n");
    let path = format!("{}:{}", project.path("tools").display(), std::env::var("PATH").unwrap());
    let output = project.command().arg("build").env("PATH", &path).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    let refused: Vec<&str> = text.lines().filter(|line| line.contains("no trace")).collect();
    assert_eq!(refused.len(), 1, "{text}");
    assert!(refused[0].starts_with("edgewise: prog leaves no trace: "), "{text}");
    assert!(refused[0].contains("Linux on x86-64 and aarch64 only"), "{text}");
    project.ok(&["run"]);
    assert_eq!(project.selected(), ["ends"]);
}
