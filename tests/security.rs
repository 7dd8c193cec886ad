//! What a history, a record, a trace or `.edgewise` says is not trusted: none of it names a program
//! to run, a file to write, or a file to show. `docs/security.md` says what is trusted.

use crate::support::Project;
use edgewise::cfg::format::{RawRecord, Records, UnitIndex, UnitRecord};
use edgewise::history::History;
use edgewise::history::format::{Program, Test};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SOURCE: &str = "\
#include <stdio.h>
#include <stdlib.h>
#include \"config.h\"
static int twice(int a) { return 2 * a; }
static int thrice(int a) { return 3 * a; }
int main(int argc, char **argv)
{
    int a = argc > 1 ? atoi(argv[1]) : 0;
    if (a == 2)
        printf(\"%d\\n\", twice(a));
    else
        printf(\"%d\\n\", thrice(a) + CONFIG);
    return 0;
}
";

/// A project whose unit is compiled with these options.
fn project_with(options: &str) -> Project {
    let project = Project::empty();
    project.write("src/main.c", SOURCE);
    project.write("include/config.h", "#define CONFIG 1\n");
    project.write("include/always.h", "#define ALWAYS 1\n");
    let make = format!(
        "prog: src/main.c include/config.h\n\t$(CC) -O1 -Iinclude {options} -c -o main.o src/main.c\n\
         \t$(CC) -o prog main.o\n"
    );
    project.write("Makefile", &make);
    project.write_config();
    // A clone that was never built has none of these.
    project.edit("edgewise.toml", "\"*.out\"", "\"*.out\", \"prog\", \"*.o\"");
    project.write("tests.list", "two ./prog 2\nthree ./prog 3\n");
    project
}

/// The same, recorded.
fn recorded(options: &str) -> Project {
    let project = project_with(options);
    project.record();
    project
}

fn history_of(project: &Project) -> PathBuf {
    project.path(".edgewise/history")
}

/// A clone of a project that was never built, with the history of the other one.
fn clone_of(project: &Project) -> Project {
    let clone = Project::empty();
    for name in ["src/main.c", "include/config.h", "include/always.h", "Makefile"] {
        clone.write(name, &project.read(name));
    }
    for name in ["edgewise.toml", "tests.list"] {
        clone.write(name, &project.read(name));
    }
    std::fs::create_dir(clone.path(".edgewise")).unwrap();
    std::fs::copy(history_of(project), history_of(&clone)).unwrap();
    clone
}

/// Writes a history anew, as somebody does who wants to do harm.
fn tamper(
    path: &Path,
    unit: impl Fn(&mut UnitIndex),
    program: impl Fn(&mut Program),
    test: impl Fn(&mut Test),
) {
    let old = History::open(path).unwrap();
    let other = path.with_extension("other");
    let mut new = History::open(&other).unwrap();
    for id in old.units().unwrap() {
        new.put_unit(id, &tampered(RawRecord::new(old.unit(id).unwrap()).unwrap(), &unit));
    }
    let tests: Vec<(String, Test)> = old.tests().map(|(n, t)| (n.clone(), t.clone())).collect();
    for (name, mut known) in tests {
        new.put_files(&old.files(known.files).unwrap());
        new.put_files(&old.files(known.loaded).unwrap());
        new.put_uses(&old.uses(known.uses).unwrap());
        known.once = None;
        for id in &mut known.programs {
            let mut read = old.program(*id).unwrap();
            program(&mut read);
            *id = new.put_program(&read);
        }
        test(&mut known);
        new.record(&name, known, old.rows(&name).unwrap());
    }
    new.commit().unwrap();
    drop((old, new));
    std::fs::rename(other, path).unwrap();
}

fn tampered(raw: RawRecord, change: &impl Fn(&mut UnitIndex)) -> Vec<u8> {
    let mut index = raw.index().unwrap();
    let graphs = raw.graphs(&index).unwrap();
    change(&mut index);
    UnitRecord { index, graphs }.encode()
}

/// The same for the records in a program.
fn tamper_program(path: &Path, change: impl Fn(&mut UnitIndex)) {
    let bytes = std::fs::read(path).unwrap();
    let at = |name: &str| path.with_extension(name);
    let sh = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let (section, prog) = (at("section"), path.to_str().unwrap());
    let dump = format!(".edgewise={}", section.display());
    sh("objcopy", &["-O", "binary", "--only-section=.edgewise", prog, section.to_str().unwrap()]);
    let mut data = std::fs::read(&section).unwrap();
    if data.is_empty() {
        sh("objcopy", &["--dump-section", &dump, prog]);
        data = std::fs::read(&section).unwrap();
    }
    let records = Records::read(&data).unwrap();
    let mut new = Vec::new();
    for unit in records.units {
        new.extend(tampered(unit, &change));
    }
    records.links.iter().for_each(|link| new.extend(link.encode()));
    std::fs::write(&section, new).unwrap();
    sh("objcopy", &["--update-section", &dump, prog]);
    std::fs::remove_file(section).unwrap();
    assert_ne!(std::fs::read(path).unwrap(), bytes, "the program was tampered with");
}

/// What is tampered with, and how.
type Change<T> = (&'static str, fn(&mut T));

/// A program that says that it ran, under any name.
struct Evil {
    directory: tempfile::TempDir,
}

impl Evil {
    fn new() -> Self {
        let evil = Self { directory: tempfile::tempdir().unwrap() };
        for name in ["evil", "gcc", "cc1", "specs.sh"] {
            let script = format!("#!/bin/sh\necho \"$0\" >>{}\nexit 0\n", evil.mark().display());
            let path = evil.path(name);
            std::fs::write(&path, script).unwrap();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        evil
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn mark(&self) -> PathBuf {
        self.path("ran")
    }

    #[track_caller]
    fn assert_idle(&self, what: &str) {
        let ran = std::fs::read_to_string(self.mark()).unwrap_or_default();
        assert_eq!(ran, "", "{what}");
    }
}

/// All files of a project but those of edgewise.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with(".edgewise") {
            found.extend(files(&path));
        } else if !path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn words(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Everything that looks at a history without building.
const QUESTIONS: &[&[&str]] = &[
    &["select"],
    &["select", "--from-build"],
    &["select", "--format", "markdown"],
    &["explain", "t/two"],
    &["explain", "src/main.c:5"],
    &["doctor"],
    &["report", "--html", "report.out"],
];

/// Asks everything; nothing may be run, written or broken. What `select` says.
#[track_caller]
fn ask(project: &Project, evil: &Evil, what: &str) -> String {
    let before = files(project.root());
    let mut said = String::new();
    for question in QUESTIONS {
        let output = project.edgewise(question);
        let words = words(&output);
        assert!(!words.contains("panicked"), "{what}: {question:?}: {words}");
        assert!(output.status.code().is_some_and(|code| code != 101), "{what}: {question:?}");
        evil.assert_idle(&format!("{what}: {question:?}"));
        let _ = std::fs::remove_dir_all(project.path("report.out"));
        if question == &["select"] {
            said = words;
        }
    }
    assert_eq!(files(project.root()), before, "{what}");
    said
}

const BOTH: [&str; 2] = ["three", "two"];

#[test]
fn a_compiler_that_a_history_names_is_not_run() {
    let project = recorded("");
    let evil = Evil::new();
    let path = evil.name("evil");
    let script = format!("sh -c {path}");
    for name in
        [path.as_str(), "./evil", &script, &format!("gcc -wrapper {path}"), &format!("env {path}")]
    {
        let clone = clone_of(&project);
        std::fs::copy(evil.path("evil"), clone.path("evil")).unwrap();
        tamper(&history_of(&clone), |u| u.command.compiler = name.to_string(), |_| (), |_| ());
        clone.edit("src/main.c", "2 * a", "a + a");
        let said = ask(&clone, &evil, name);
        assert_eq!(clone.selected(), BOTH, "{name}: it counts as changed");
        assert!(said.contains("docs/security.md"), "{name}: {said}");
    }
    // A usual name is looked for on the path of this machine, whatever directory a history says.
    let clone = clone_of(&project);
    tamper(&history_of(&clone), |u| u.command.compiler = evil.name("gcc"), |_| (), |_| ());
    clone.edit("src/main.c", "2 * a", "a + a");
    ask(&clone, &evil, "gcc elsewhere");
}

#[test]
fn options_that_run_load_write_or_read_elsewhere_are_refused() {
    let project = recorded("");
    let evil = Evil::new();
    let clone = clone_of(&project);
    let plain = std::fs::read(history_of(&clone)).unwrap();
    clone.edit("src/main.c", "2 * a", "a + a");
    std::fs::write(evil.path("arguments"), format!("-wrapper {}", evil.name("evil"))).unwrap();
    let directory = evil.directory.path().display().to_string();
    let written = evil.name("written");
    let options: Vec<Vec<String>> = [
        vec!["-wrapper", &evil.name("evil")],
        vec!["-B", &directory],
        vec![&format!("-B{directory}")],
        vec![&format!("-specs={}", evil.name("specs.sh"))],
        vec![&format!("-fplugin={}", evil.name("evil"))],
        vec!["-fplugin=evil", "-fplugin-arg-evil-a=b"],
        vec![&format!("@{}", evil.name("arguments"))],
        vec!["-D", &format!("@{}", evil.name("arguments"))],
        vec!["-arch", "-wrapper", &evil.name("evil")],
        vec!["-o", &written],
        vec!["-MD", "-MF", &written],
        vec![&format!("-Wp,-MD,{written}")],
        vec![&format!("-Wp,-DX,-MD,{written}")],
        vec!["-save-temps"],
        vec!["-dumpdir", &written],
        vec!["-Xclang", "-load", "-Xclang", &evil.name("evil")],
        vec!["--config", &evil.name("arguments")],
        vec!["-x", "c++"],
        vec!["-imacros", "/etc/passwd"],
        vec!["-include", "/etc/passwd"],
        vec!["-include", "../../../../../../etc/passwd"],
        vec!["-I/etc", "-include", "passwd"],
        vec!["-I", "/proc/self"],
        vec!["/etc/passwd"],
    ]
    .iter()
    .map(|words| words.iter().map(|word| word.to_string()).collect())
    .collect();
    for words in options {
        std::fs::write(history_of(&clone), &plain).unwrap();
        tamper(
            &history_of(&clone),
            |unit| unit.command.arguments.extend(words.iter().cloned()),
            |_| (),
            |_| (),
        );
        let before = files(evil.directory.path());
        let output = clone.edgewise(&["select"]);
        let said = self::words(&output);
        evil.assert_idle(&format!("{words:?}"));
        assert_eq!(files(evil.directory.path()), before, "{words:?}");
        assert!(said.contains("docs/security.md") && !said.contains("root:"), "{words:?}: {said}");
        assert_eq!(clone.selected(), BOTH, "{words:?}: it counts as changed");
    }
    // Reports of the compiler are left out, and the rest is compared.
    std::fs::write(history_of(&clone), &plain).unwrap();
    let reports = [format!("-fdump-tree-all={written}"), format!("-fopt-info={written}")];
    let add = |unit: &mut UnitIndex| unit.command.arguments.extend(reports.iter().cloned());
    tamper(&history_of(&clone), add, |_| (), |_| ());
    ask(&clone, &evil, "reports of a compiler");
    assert!(!Path::new(&written).exists());
}

#[test]
fn directories_and_sources_outside_of_the_project_are_refused() {
    let project = recorded("");
    let evil = Evil::new();
    let clone = clone_of(&project);
    let plain = std::fs::read(history_of(&clone)).unwrap();
    clone.edit("src/main.c", "2 * a", "a + a");
    std::os::unix::fs::symlink("/etc", clone.path("out")).unwrap();
    let changes: [Change<UnitIndex>; 6] = [
        ("directory", |unit| unit.command.directory = String::from("/etc")),
        ("link", |unit| unit.command.directory = String::from("out")),
        ("source", |unit| unit.command.source = String::from("/etc/passwd")),
        ("dots", |unit| unit.command.source = String::from("src/../../../../../../etc/passwd")),
        ("behind a link", |unit| unit.command.source = String::from("out/passwd")),
        ("option", |unit| unit.command.source = String::from("-fplugin=x.so")),
    ];
    for (what, change) in changes {
        std::fs::write(history_of(&clone), &plain).unwrap();
        tamper(&history_of(&clone), change, |_| (), |_| ());
        let said = ask(&clone, &evil, what);
        assert!(said.contains("docs/security.md") && !said.contains("root:"), "{what}: {said}");
        assert_eq!(clone.selected(), BOTH, "{what}");
    }
}

#[test]
fn a_command_in_a_program_is_not_run_either() {
    let project = recorded("");
    let evil = Evil::new();
    let (path, plain) = (evil.name("evil"), std::fs::read(project.path("prog")).unwrap());
    let changes: [&dyn Fn(&mut UnitIndex); 2] =
        [&|unit| unit.command.compiler.clone_from(&path), &|unit| {
            unit.command.arguments.extend([String::from("-wrapper"), path.clone()])
        }];
    project.edit("src/main.c", "2 * a", "a + a");
    for change in changes {
        std::fs::write(project.path("prog"), &plain).unwrap();
        tamper_program(&project.path("prog"), change);
        let said = ask(&project, &evil, "a program");
        assert!(said.contains("docs/security.md"), "{said}");
        assert_eq!(project.selected(), BOTH);
    }
}

/// Nothing of this costs precision where a history comes from CI.
#[test]
fn a_history_of_another_machine_selects_precisely() {
    let options = "-include always.h -Wall -Wp,-DX=1 -g3 -fPIC -fvisibility=hidden -pthread \
                   -isystem /usr/include/x -std=gnu11 -ffile-prefix-map=/a=b -march=x86-64";
    for compiler in ["", "/usr/bin/gcc"] {
        let project = recorded(options);
        let clone = clone_of(&project);
        drop(project);
        if !compiler.is_empty() {
            tamper(&history_of(&clone), |u| u.command.compiler = compiler.into(), |_| (), |_| ());
        }
        let state = tempfile::tempdir().unwrap();
        let select = || {
            let mut command = clone.command();
            command.arg("select").env("XDG_STATE_HOME", state.path());
            let output = command.output().unwrap();
            (String::from_utf8_lossy(&output.stdout).into_owned(), words(&output))
        };
        let (selected, said) = select();
        assert_eq!(selected, "", "{compiler}: {said}");
        clone.edit("src/main.c", "2 * a", "a + a");
        let (selected, said) = select();
        assert_eq!(selected, "t/two\n", "{compiler}: {said}");
        clone.edit("include/config.h", "CONFIG 1", "CONFIG 2");
        let (selected, said) = select();
        assert_eq!(selected, "t/two\nt/three\n", "{compiler}: {said}");
    }
}

/// An unusual option counts if this project was built here with it, by this user, or if its
/// compile_commands.json has it.
#[test]
fn the_local_build_vouches_for_its_own_options() {
    let project = project_with("-Btools/");
    let state = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str], state: &Path| {
        let mut command = project.command();
        let output = command.args(arguments).env("XDG_STATE_HOME", state).output().unwrap();
        assert!(output.status.success(), "{}", words(&output));
        (String::from_utf8_lossy(&output.stdout).into_owned(), words(&output))
    };
    run(&["build"], state.path());
    run(&["run"], state.path());
    assert!(!files(state.path()).is_empty(), "it is noted outside of the project");
    project.edit("src/main.c", "2 * a", "a + a");
    let (selected, said) = run(&["select"], state.path());
    assert_eq!(selected, "t/two\n", "{said}");
    // Another user, who did not build it.
    let other = tempfile::tempdir().unwrap();
    let (selected, said) = run(&["select"], other.path());
    assert_eq!(selected, "t/two\nt/three\n", "{said}");
    assert!(said.contains("`-Btools/`") && said.contains("docs/security.md"), "{said}");
    let root = project.root().display();
    project.write(
        "compile_commands.json",
        &format!(
            "[{{\"directory\": \"{root}\", \"file\": \"src/main.c\", \"command\": \"cc -O1 -Iinclude \
             -Btools/ -c -o main.o src/main.c\"}}]"
        ),
    );
    let (selected, said) = run(&["select"], other.path());
    assert!(selected.starts_with("t/two\n") && !said.contains("docs/security.md"), "{said}");
}

/// A compiler with an unusual name counts if edgewise.toml names it.
#[test]
fn the_configuration_vouches_for_a_compiler() {
    let project = project_with("");
    project.write("tools/ours", "#!/bin/sh\nexec gcc \"$@\"\n");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.path("tools/ours"), mode).unwrap();
    let (tool, state) = (project.path("tools/ours"), tempfile::tempdir().unwrap());
    let edgewise = env!("CARGO_BIN_EXE_edgewise");
    let build = format!("export EDGEWISE_CC={}; make -s CC='{edgewise} cc'", tool.display());
    project.ok(&["build", "--", "sh", "-c", &build]);
    project.ok(&["run"]);
    project.edit("src/main.c", "2 * a", "a + a");
    let select = || {
        let mut command = project.command();
        let output = command.arg("select").env("XDG_STATE_HOME", state.path()).output().unwrap();
        words(&output)
    };
    let said = select();
    assert!(said.contains("tools/ours") && said.contains("docs/security.md"), "{said}");
    let key = format!("[build]\ncompilers = [\"{}\"]\n", tool.display());
    project.edit("edgewise.toml", "[build]\n", &key);
    let said = select();
    assert!(!said.contains("docs/security.md"), "{said}");
}

#[test]
fn programs_in_the_state_directory_are_not_run() {
    let project = project_with("");
    let evil = Evil::new();
    for name in ["make", "sh", "gcc", "cc", "ld", "cat"] {
        let place = project.path(".edgewise/shims").join(name);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::copy(evil.path("evil"), place).unwrap();
    }
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = project.command();
        command.args(arguments).env("HOME", home.path());
        for name in ["EDGEWISE_CACHE", "XDG_CACHE_HOME", "XDG_STATE_HOME"] {
            command.env_remove(name);
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", words(&output));
        evil.assert_idle(&format!("{arguments:?}"));
    };
    run(&["build"]);
    run(&["run"]);
    assert!(!project.path(".edgewise/made").exists(), "what is run is kept elsewhere");
    assert!(home.path().join(".cache/edgewise").is_dir());
    project.edit("src/main.c", "2 * a", "a + a");
    run(&["test"]);
    // A directory of shims that leads elsewhere is left alone.
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("mine"), "mine").unwrap();
    std::fs::remove_dir_all(project.path(".edgewise/shims")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), project.path(".edgewise/shims")).unwrap();
    assert!(words(&project.edgewise(&["build"])).contains("symbolic link"));
    assert_eq!(files(elsewhere.path()), [elsewhere.path().join("mine")]);
}

/// Names in the state directory: those of edgewise, those of a report there, and any other.
const STATE_NAMES: &[&str] = &[
    "history",
    "lock",
    "builds.json",
    "cache",
    "calls",
    "instrument",
    "left-by-tests.json",
    "shims",
    "under-way",
    "under-way/note",
    "report",
    "report/index.html",
    "anything",
];

/// Everything that reads or writes the state directory.
const COMMANDS: &[&[&str]] = &[
    &["select"],
    &["build"],
    &["test"],
    &["run"],
    &["trace", "--test", "x", "--", "true"],
    &["trace", "--test", "t/two", "--verdict", "failed"],
    &["report", "--html", ".edgewise/report"],
    &["explain", "t/two"],
    &["gaps"],
    &["doctor"],
    &["history", "gc"],
    &["history", "show"],
];

/// Runs edgewise, which must end by itself.
#[track_caller]
fn ends(project: &Project, arguments: &[&str]) -> String {
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", "30", env!("CARGO_BIN_EXE_edgewise")]).args(arguments);
    let output = command.current_dir(project.root()).env_remove("EDGEWISE_TRACE").output().unwrap();
    assert_ne!(output.status.code(), None, "{arguments:?} hangs");
    assert_ne!(output.status.code(), Some(137), "{arguments:?} hangs");
    words(&output)
}

/// Puts something in the place of a name of the state directory, asks, and takes it back.
fn with_state(project: &Project, name: &str, put: impl Fn(&Path), ask: impl Fn()) {
    let (state, kept) = (project.path(".edgewise"), tempfile::tempdir().unwrap());
    crate::support::copy(&state, kept.path());
    let place = state.join(name);
    let _ = std::fs::remove_file(&place).or_else(|_| std::fs::remove_dir_all(&place));
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    put(&place);
    ask();
    std::fs::remove_dir_all(&state).unwrap();
    crate::support::copy(kept.path(), &state);
}

#[test]
fn nothing_is_written_or_removed_behind_a_link_in_the_state_directory() {
    let project = recorded("");
    let victim = tempfile::tempdir().unwrap();
    let (file, directory) = (victim.path().join("photo"), victim.path().join("directory"));
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("thesis"), "precious").unwrap();
    std::fs::write(&file, "precious").unwrap();
    let before = files(victim.path());
    for name in STATE_NAMES {
        for target in [&file, &directory, &victim.path().join("nothing")] {
            let put = |place: &Path| std::os::unix::fs::symlink(target, place).unwrap();
            with_state(&project, name, put, || {
                for arguments in COMMANDS {
                    let said = ends(&project, arguments);
                    assert_eq!(files(victim.path()), before, "{name} {arguments:?}: {said}");
                    for file in &before {
                        assert_eq!(std::fs::read(file).unwrap(), b"precious", "{name}: {said}");
                    }
                    assert!(said.contains("symbolic link"), "{name} {arguments:?}: {said}");
                }
            });
        }
    }
    // The directory itself.
    std::fs::rename(project.path(".edgewise"), victim.path().join("state")).unwrap();
    std::os::unix::fs::symlink(victim.path().join("state"), project.path(".edgewise")).unwrap();
    let before = files(victim.path());
    for arguments in COMMANDS {
        let said = ends(&project, arguments);
        assert_eq!(files(victim.path()), before, "{arguments:?}: {said}");
        assert!(said.contains("symbolic link"), "{arguments:?}: {said}");
    }
    std::fs::remove_file(project.path(".edgewise")).unwrap();
    std::fs::rename(victim.path().join("state"), project.path(".edgewise")).unwrap();
    assert!(project.selected().is_empty());
}

/// A hard link needs no symbolic link.
#[test]
fn taking_the_lock_empties_no_file() {
    let project = recorded("");
    std::fs::remove_file(project.path(".edgewise/lock")).unwrap();
    std::fs::hard_link(project.path("src/main.c"), project.path(".edgewise/lock")).unwrap();
    project.ok(&["run"]);
    assert_eq!(project.read("src/main.c"), SOURCE);
}

fn make_pipe(place: &Path) {
    assert!(Command::new("mkfifo").arg(place).status().unwrap().success());
}

#[test]
fn a_pipe_in_the_state_directory_is_not_read() {
    let project = recorded("");
    for name in STATE_NAMES {
        with_state(&project, name, make_pipe, || {
            for arguments in COMMANDS {
                let said = ends(&project, arguments);
                assert!(said.contains("neither a file nor"), "{name} {arguments:?}: {said}");
            }
        });
    }
}

/// What a report and all explanations say together.
fn everything_shown(project: &Project) -> String {
    let mut shown = String::new();
    let asked: &[&[&str]] = &[
        &["select"],
        &["select", "--format", "json"],
        &["select", "--format", "markdown"],
        &["select", "--format", "annotations"],
        &["explain", "t/two"],
        &["explain", "--format", "json", "t/two"],
        &["explain", "twice"],
        &["explain", "src/main.c:5"],
        &["gaps"],
        &["doctor"],
    ];
    for arguments in asked {
        shown += &words(&project.edgewise(arguments));
    }
    project.ok(&["report", "--html", "report.out"]);
    for file in files(&project.path("report.out")) {
        shown += &String::from_utf8_lossy(&std::fs::read(file).unwrap());
    }
    std::fs::remove_dir_all(project.path("report.out")).unwrap();
    shown
}

#[test]
fn a_line_directive_shows_no_file_outside_of_the_project() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "password-of-the-machine\n".repeat(40)).unwrap();
    let absolute = secret.display().to_string();
    let dots = format!("../../../../../../../../../..{absolute}");
    let directives = [
        format!("#line 1 \"{absolute}\""),
        format!("# 1 \"{absolute}\""),
        format!("# 1 \"{absolute}\" 1"),
        format!("#line 1 \"{dots}\""),
        String::from("#line 1 \"link.txt\""),
        String::from("# 1 \"link.txt\" 1"),
        String::from("#line 1 \".git/config\""),
    ];
    for directive in directives {
        let project = project_with("");
        project.write(".git/config", "password-of-the-machine\n");
        std::os::unix::fs::symlink(&secret, project.path("link.txt")).unwrap();
        project.edit("src/main.c", "static int twice", &format!("{directive}\nstatic int twice"));
        project.record();
        project.edit("src/main.c", "2 * a", "a + a");
        let shown = everything_shown(&project);
        assert!(shown.contains("twice"), "{directive}");
        assert!(!shown.contains("password-of-the-machine"), "{directive}");
        project.ok(&["test"]);
        let shown = everything_shown(&project);
        assert!(!shown.contains("password-of-the-machine"), "{directive}: after the test");
    }
}

#[test]
fn a_record_shows_no_file_outside_of_the_project() {
    let project = recorded("");
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "password-of-the-machine\n".repeat(40)).unwrap();
    let clone = clone_of(&project);
    let replace = |unit: &mut UnitIndex| {
        unit.files.iter_mut().for_each(|file| *file = secret.display().to_string());
    };
    tamper(&history_of(&clone), replace, |_| (), |_| ());
    clone.edit("src/main.c", "2 * a", "a + a");
    assert!(!everything_shown(&clone).contains("password-of-the-machine"));
}

const SECRET: &str = "password_of_the_machine";

/// A clone whose source asks for a header by a macro, if there is one, and a secret file elsewhere.
fn with_secret() -> (Project, tempfile::TempDir) {
    let project = project_with("");
    let include = "#ifdef EXTRA\n#include EXTRA\n#endif\nstatic int twice";
    project.edit("src/main.c", "static int twice", include);
    project.record();
    let clone = clone_of(&project);
    clone.edit("src/main.c", "2 * a", "a + a");
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), format!("int {SECRET};\n")).unwrap();
    (clone, outside)
}

/// Asks everything about a clone whose recorded command was changed: the command is refused.
#[track_caller]
fn assert_refused(clone: &Project, change: impl Fn(&mut UnitIndex), what: &str) {
    let plain = std::fs::read(history_of(clone)).unwrap();
    tamper(&history_of(clone), change, |_| (), |_| ());
    let said = ends(clone, &["select"]);
    assert!(said.contains("docs/security.md"), "{what}: {said}");
    let shown = everything_shown(clone) + &words(&clone.edgewise(&["explain", "leak"]));
    assert!(!shown.contains(SECRET), "{what}");
    assert_eq!(clone.selected(), BOTH, "{what}: it counts as changed");
    std::fs::write(history_of(clone), plain).unwrap();
}

fn add(words: &[&str]) -> impl Fn(&mut UnitIndex) {
    let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
    move |unit| unit.command.arguments.extend(words.iter().cloned())
}

/// A cache brings `.edgewise`, and `.git/config` may hold passwords.
#[test]
fn headers_in_the_state_directory_and_in_git_are_refused() {
    let (clone, outside) = with_secret();
    let secret = outside.path().join("secret").display().to_string();
    let evil = format!("static inline int leak(void) {{\n#include \"{secret}\"\nreturn 1; }}\n");
    clone.write(".edgewise/evil.h", &evil);
    clone.write(".edgewise/deeper/evil.h", &evil);
    clone.write(".git/evil.h", &evil);
    clone.write("src/evil/evil.h", &evil);
    std::fs::create_dir(clone.path("src/deep")).unwrap();
    for words in [
        &["-include", ".edgewise/evil.h"][..],
        &["-include.edgewise/evil.h"],
        &["-imacros", ".edgewise/evil.h"],
        &["-include", "src/../.edgewise/evil.h"],
        &["-include", "%ROOT%/.edgewise/evil.h"],
        &["-include", ".edgewise/deeper/evil.h"],
        &["-include", ".git/evil.h"],
        &["-I.edgewise", "-include", "evil.h"],
        &["-isystem", ".git", "-include", "evil.h"],
        // Found in a directory that is searched.
        &["-I.edgewise/deeper", "-include", "../evil.h"],
        &["-Isrc/deep", "-include", "../../.edgewise/evil.h"],
        &["-DEXTRA=\".edgewise/evil.h\"", "-I."],
        &["-DEXTRA=\"../.edgewise/evil.h\""],
        &["-DEXTRA=<evil.h>", "-I.edgewise"],
    ] {
        assert_refused(&clone, add(words), &format!("{words:?}"));
    }
    let from_there = |unit: &mut UnitIndex| {
        unit.command.directory = String::from(".edgewise");
        unit.command.source = String::from("../src/main.c");
        unit.command.arguments = vec![String::from("-I../include")];
    };
    assert_refused(&clone, from_there, "a directory");
    let source = |unit: &mut UnitIndex| unit.command.source = String::from(".edgewise/evil.h");
    assert_refused(&clone, source, "a source");
}

/// Compilers look for the file of `-include` in the directories of `-I` and of the system, too.
#[test]
fn a_header_that_is_found_elsewhere_is_refused() {
    let (clone, outside) = with_secret();
    std::fs::create_dir_all(clone.path("src/deep/er")).unwrap();
    std::os::unix::fs::symlink(outside.path(), clone.path("link")).unwrap();
    let root = clone.root().canonicalize().unwrap();
    let there = outside.path().canonicalize().unwrap();
    let name = there.strip_prefix(root.parent().unwrap()).unwrap().display().to_string();
    for include in [
        vec![String::from("-I../.."), String::from("-include"), format!("../../{name}/secret")],
        vec![String::from("-include"), format!("../..{}/secret", there.display())],
        vec![String::from("-I../../.."), String::from("-include"), String::from("link/secret")],
    ] {
        let change = |unit: &mut UnitIndex| {
            unit.command.directory = String::from("src/deep/er");
            unit.command.source = String::from("../../main.c");
            unit.command.arguments = vec![String::from("-I../../../include")];
            unit.command.arguments.extend(include.iter().cloned());
        };
        assert_refused(&clone, change, &format!("{include:?}"));
    }
}

/// A source that is trusted may include what a macro names.
#[test]
fn a_macro_of_a_recorded_command_names_no_file_elsewhere() {
    let (clone, outside) = with_secret();
    let secret = outside.path().join("secret").display().to_string();
    let (directory, pipe) = (outside.path().display(), outside.path().join("pipe"));
    make_pipe(&pipe);
    make_pipe(&clone.path("include/pipe.h"));
    for words in [
        vec![format!("-DEXTRA=\"{secret}\"")],
        vec![format!("-DEXTRA=<{secret}>")],
        vec![String::from("-D"), format!("EXTRA=\"{secret}\"")],
        vec![format!("-Wp,-DEXTRA=\"{secret}\"")],
        vec![format!("-DA={directory}"), String::from("-DEXTRA=<A/secret>")],
        vec![
            format!("-DA={directory}"),
            String::from("-DC(x)=x##cret"),
            String::from("-DEXTRA=<A/C(se)>"),
        ],
        vec![format!("-DEXTRA=\"{}\"", pipe.display())],
        vec![String::from("-DEXTRA=\"/dev/zero\"")],
        vec![String::from("-DEXTRA=</dev/zero>")],
        vec![String::from("-DEXTRA=<pipe.h>")],
        vec![String::from("-include"), String::from("pipe.h")],
        vec![String::from("-include"), String::from("include/pipe.h")],
    ] {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_refused(&clone, add(&words), &format!("{words:?}"));
    }
    std::fs::remove_file(clone.path("include/pipe.h")).unwrap();
    // What does not become part of the text is nothing to refuse.
    let words = [format!("-DCONFIGURATION=\"{secret}\""), String::from("-DPLACE=\"/etc\"")];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    tamper(&history_of(&clone), add(&words), |_| (), |_| ());
    let said = self::words(&clone.edgewise(&["select"]));
    assert!(!said.contains("docs/security.md"), "{said}");
}

/// A header elsewhere that the source itself names is compared like others.
#[test]
fn a_source_may_include_a_header_outside_of_the_project() {
    let outside = tempfile::tempdir().unwrap();
    let shared = outside.path().join("shared.h");
    std::fs::write(&shared, "#include \"more.h\"\n").unwrap();
    std::fs::write(outside.path().join("more.h"), "#define MORE 1\n").unwrap();
    let project = project_with("");
    let include = format!("#  include \"{}\"\nstatic int twice", shared.display());
    project.edit("src/main.c", "static int twice", &include);
    project.record();
    let clone = clone_of(&project);
    clone.edit("src/main.c", "2 * a", "a + a");
    let state = tempfile::tempdir().unwrap();
    let mut command = clone.command();
    let output = command.arg("select").env("XDG_STATE_HOME", state.path()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "t/two\n", "{}", words(&output));
}

#[test]
fn numbers_and_names_of_a_hostile_history_break_nothing() {
    let project = recorded("");
    let evil = Evil::new();
    let clone = clone_of(&project);
    let plain = std::fs::read(history_of(&clone)).unwrap();
    clone.edit("src/main.c", "2 * a", "a + a");
    let units: [Change<UnitIndex>; 10] = [
        ("mentions", |u| u.procedures[0].mentions.push(u32::MAX)),
        ("takes", |u| u.procedures[0].takes.push(1 << 30)),
        ("address taken", |u| u.address_taken.push(u32::MAX)),
        ("probes", |u| u.probe_count = u32::MAX),
        ("edges", |u| u.procedures.iter_mut().for_each(|p| p.edge_count = u32::MAX)),
        ("place", |u| u.procedures.iter_mut().for_each(|p| p.place.file = u32::MAX)),
        ("lines", |u| u.procedures.iter_mut().for_each(|p| p.place.line = u32::MAX)),
        ("only named", |u| u.only_named = vec![u32::MAX, 7]),
        ("files", |u| u.files.clear()),
        ("a device", |u| u.files.iter_mut().for_each(|file| *file = String::from("/dev/zero"))),
    ];
    for (what, change) in units {
        std::fs::write(history_of(&clone), &plain).unwrap();
        tamper(&history_of(&clone), change, |_| (), |_| ());
        ask(&clone, &evil, what);
    }
    let programs: [Change<Program>; 3] = [
        ("a device as program", |program| program.path = String::from("/dev/zero")),
        ("a directory as program", |program| program.path = String::from("/")),
        ("no units", |program| program.units.clear()),
    ];
    for (what, change) in programs {
        std::fs::write(history_of(&clone), &plain).unwrap();
        tamper(&history_of(&clone), |_| (), change, |_| ());
        ask(&clone, &evil, what);
    }
    std::fs::write(history_of(&clone), &plain).unwrap();
    tamper(&history_of(&clone), |_| (), |_| (), |test| test.milliseconds = u64::MAX);
    ask(&clone, &evil, "time");
}

/// A few bytes that would become gigabytes.
#[test]
fn a_record_that_unpacks_without_end_is_damaged() {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    let zeros = vec![0; 1 << 20];
    for _ in 0..400 {
        std::io::Write::write_all(&mut encoder, &zeros).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 1 << 20);
    let version = edgewise::cfg::format::VERSION;
    let mut record = b"EDGWUNIT".to_vec();
    record.extend(version.to_le_bytes());
    record.extend((20 + bomb.len() as u32).to_le_bytes());
    record.extend((bomb.len() as u32).to_le_bytes());
    record.extend(&bomb);
    assert!(RawRecord::new(record.clone()).unwrap().index().is_err());
    assert_eq!(edgewise::cfg::format::decompress_bounded(&bomb), None);
    // In a history: what cannot be read selects, and nothing more happens.
    let clone = clone_of(&recorded(""));
    let path = history_of(&clone);
    let (old, other) = (History::open(&path).unwrap(), clone.path("other.out"));
    let mut new = History::open(&other).unwrap();
    for id in old.units().unwrap() {
        new.put_unit(id, &record);
    }
    new.take(&old).unwrap();
    new.commit().unwrap();
    drop((old, new));
    std::fs::rename(other, path).unwrap();
    clone.edit("src/main.c", "2 * a", "a + a");
    assert_eq!(clone.selected(), BOTH);
}

/// Names and texts of a history are text wherever they are shown.
#[test]
fn names_of_a_hostile_history_stay_text() {
    const NAME: &str = "<img src=x onerror=alert(1)>\x1b[2J\r\u{202e}`|\"'&]]>";
    let project = recorded("");
    let clone = clone_of(&project);
    clone.edit("src/main.c", "2 * a", "a + a");
    let plain = std::fs::read(history_of(&clone)).unwrap();
    let name = |unit: &mut UnitIndex| {
        unit.key.source = NAME.replace('\r', "");
        unit.problems.push(String::from(NAME));
        unit.files.iter_mut().for_each(|file| *file = format!("{}{file}", NAME.replace('\r', "")));
        unit.procedures.iter_mut().for_each(|p| p.opaque = Some(String::from(NAME)));
    };
    let lines = |unit: &mut UnitIndex| {
        unit.files.iter_mut().for_each(|file| *file = format!("x\n::error::x\n{file}"));
    };
    let changes: [(&str, &dyn Fn()); 4] = [
        ("lines", &|| tamper(&history_of(&clone), lines, |_| (), |_| ())),
        ("units", &|| tamper(&history_of(&clone), name, |_| (), |_| ())),
        ("programs", &|| {
            tamper(&history_of(&clone), |_| (), |p| p.path = String::from(NAME), |_| ());
        }),
        ("tests", &|| {
            let unclean = |test: &mut Test| test.unclean = Some(String::from(NAME));
            tamper(&history_of(&clone), |_| (), |_| (), unclean);
        }),
    ];
    for (what, change) in changes {
        std::fs::write(history_of(&clone), &plain).unwrap();
        change();
        let all = everything_shown(&clone);
        assert!(!all.contains("panicked"), "{what}: {all}");
        let command = all.lines().find(|line| line.contains('\x1b'));
        assert_eq!(command, None, "{what}: a command for terminals");
        assert!(!all.lines().any(|line| line.trim_start().starts_with("::error::x")), "{what}");
        clone.ok(&["report", "--html", "report.out"]);
        for file in files(&clone.path("report.out")) {
            let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
            assert!(!text.contains("<img src=x"), "{what}: {}", file.display());
        }
        let markdown = clone.ok(&["select", "--format", "markdown"]);
        assert!(!crate::formats::rendered(&markdown).contains("<img"), "{what}: {markdown}");
    }
}
