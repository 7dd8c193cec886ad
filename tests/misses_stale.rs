//! Builds that succeed and leave programs as they were, though something changed that these
//! are made of: what tests do with them says nothing of the sources. Each was once taken for
//! a build that had made everything.

use crate::support::Project;
use crate::support::misses::{ALL, Miss, main_with};

const MAIN: &str = "#include <stdio.h>\n#include \"limit.h\"\nint helper(int n);\n\
    int main(int argc, char **argv) { (void)argv; printf(\"%d\\n\", helper(argc) + LIMIT); return 0; }\n";
const HELPER: &str = "#ifdef FAST\nint helper(int n) { return n; }\n#else\n\
                      int helper(int n) { return n + 1; }\n#endif\n";
/// Objects depend on their sources alone.
const MAKEFILE: &str = "CFLAGS = -O1 -Ifirst -Isecond\nprog: main.o helper.o\n\t$(CC) -o prog main.o helper.o\n\
    main.o: main.c second/limit.h\nhelper.o: helper.c\nclean:\n\trm -f *.o prog\n";

/// A program of two sources, with what else there is to it.
fn written(makefile: &str, files: &[(&str, &str)]) -> Project {
    let project = Project::empty();
    project.write_config();
    project.write("tests.list", "only ./prog\n");
    project.write("main.c", MAIN);
    project.write("helper.c", HELPER);
    project.write("second/limit.h", "#define LIMIT 10\n");
    project.write("first/other.h", "");
    project.write("Makefile", makefile);
    files.iter().for_each(|(name, text)| project.write(name, text));
    project
}

/// The same, recorded.
fn recorded(makefile: &str, files: &[(&str, &str)]) -> Project {
    let project = written(makefile, files);
    project.record();
    assert!(project.selected().is_empty(), "the same version selects nothing");
    project.ok(&["build"]);
    assert!(project.selected().is_empty(), "nor does building it again");
    assert!(from_build(&project).is_empty(), "nor what is built");
    project
}

fn from_build(project: &Project) -> Vec<String> {
    let selected = project.ok(&["select", "--from-build"]);
    selected.lines().map(|line| line.rsplit('/').next().unwrap().to_string()).collect()
}

/// Whatever is done short of making the program anew, its test is selected; then it is not.
fn stays_selected(project: &Project) {
    for step in [&["select"][..], &["build"], &["test"], &["build"], &["test"]] {
        project.edgewise(step);
        assert_eq!(from_build(project), ["only"], "after {step:?}");
        assert_eq!(project.selected(), ["only"], "from sources, after {step:?}");
    }
    let (_, doctor) = project.says(&["doctor"]);
    assert!(!doctor.lines().last().unwrap().starts_with("OK"), "{doctor}");
    clean(project);
    project.edgewise(&["test"]);
    assert!(from_build(project).is_empty());
    assert!(project.selected().is_empty());
}

/// The same where a build is enough.
fn stays_selected_until_clean(project: &Project) {
    assert_eq!(from_build(project), ["only"]);
    project.edgewise(&["test"]);
    clean(project);
    project.edgewise(&["test"]);
    assert!(from_build(project).is_empty());
    assert!(project.selected().is_empty());
}

fn remove(project: &Project, name: &str) {
    std::fs::remove_file(project.path(name)).unwrap();
}

fn clean(project: &Project) {
    let make = std::process::Command::new("make").arg("clean").current_dir(project.root()).output();
    assert!(make.unwrap().status.success());
}

#[test]
fn flags_in_a_makefile_that_remakes_nothing() {
    let project = recorded(MAKEFILE, &[]);
    project.edit("Makefile", "-O1", "-O1 -DFAST");
    stays_selected(&project);
}

/// Only one of two units is made with the new flags.
#[test]
fn flags_in_a_makefile_that_remakes_a_part() {
    let project = recorded(MAKEFILE, &[]);
    project.edit("Makefile", "-O1", "-O1 -DFAST");
    project.edit("main.c", "+ LIMIT", "- LIMIT");
    stays_selected(&project);
}

/// What is not C is as old as before, though all that is was compiled with the new flags.
#[test]
fn flags_that_an_object_that_is_not_c_does_not_get() {
    let makefile = MAKEFILE
        .replace("main.o helper.o", "main.o helper.o more.o")
        .replace("clean:", "more.o: more.S\n\t$(CC) $(CFLAGS) -c -o $@ more.S\nclean:");
    let more = "#ifdef FAST\n.ascii \"fast\"\n#endif\n.section .note.GNU-stack,\"\",@progbits\n";
    let project = recorded(&makefile, &[("more.S", more)]);
    project.edit("Makefile", "-O1", "-O1 -DFAST");
    ["main.o", "helper.o"].iter().for_each(|name| remove(&project, name));
    stays_selected(&project);
}

/// One source is compiled twice, and once with the new flags.
#[test]
fn flags_that_one_of_two_objects_of_a_source_does_not_get() {
    let makefile = MAKEFILE.replace("main.o helper.o", "main.o helper.o again.o").replace(
        "clean:",
        "again.o: helper.c\n\t$(CC) $(CFLAGS) -Dhelper=again -c -o $@ helper.c\nclean:",
    );
    let main = MAIN.replace("int helper(int n);", "int helper(int n); int again(int n);");
    let main = main.replace("helper(argc)", "helper(argc) + again(argc)");
    let project = recorded(&makefile, &[("main.c", &main)]);
    project.edit("Makefile", "-O1", "-O1 -DFAST");
    ["main.o", "helper.o"].iter().for_each(|name| remove(&project, name));
    stays_selected(&project);
}

/// An archive that is changed in place keeps the other members.
#[test]
fn flags_that_a_member_of_an_archive_does_not_get() {
    let makefile = "CFLAGS = -O1 -Isecond\nprog: main.o libhelper.a\n\t$(CC) -o prog main.o libhelper.a\n\
        libhelper.a: helper.o more.o\n\t$(AR) rc $@ $?\n\
        main.o: main.c second/limit.h\nhelper.o: helper.c\nmore.o: more.S\n\t$(CC) $(CFLAGS) -c -o $@ more.S\n\
        clean:\n\trm -f *.o *.a prog\n";
    let more = ".globl more\nmore: .ascii \"more\"\n.section .note.GNU-stack,\"\",@progbits\n";
    let main = MAIN.replace("int helper(", "extern char more; char *text = &more;\nint helper(");
    let project = recorded(makefile, &[("more.S", more), ("main.c", &main)]);
    project.edit("Makefile", "-O1", "-O1 -DFAST");
    ["main.o", "helper.o"].iter().for_each(|name| remove(&project, name));
    stays_selected(&project);
}

/// All objects are made anew, from a source that is not.
#[test]
fn flags_of_a_tool_that_writes_sources() {
    let makefile = "CFLAGS = -O1 -Isecond\nEDIT = s/x/x/\nprog: main.o helper.o\n\t$(CC) -o prog main.o helper.o\n\
        main.o: main.c second/limit.h\nhelper.c: helper.in\n\tsed '$(EDIT)' helper.in >helper.c\n\
        helper.o: helper.c\nclean:\n\trm -f *.o prog helper.c\n";
    let project = recorded(makefile, &[("helper.in", HELPER)]);
    project.edit("Makefile", "s/x/x/", "s/n + 1/n + 3/");
    ["main.o", "helper.o"].iter().for_each(|name| remove(&project, name));
    stays_selected(&project);
}

/// What nobody saw the build read may be any object.
#[test]
fn flags_of_a_build_that_is_not_seen() {
    let unseen = "[build]\ncommand = \"env -u LD_PRELOAD make -s\"\n\
        [[suite]]\nname = \"t\"\nkind = \"list\"\nfile = \"tests.list\"\n";
    let project = recorded(MAKEFILE, &[("edgewise.toml", unseen)]);
    project.edit("Makefile", "-O1", "-O1 -DFAST");
    remove(&project, "helper.o");
    stays_selected(&project);
}

/// The files of a build outside of the project are not noted.
#[test]
fn flags_of_a_build_outside_of_the_project() {
    let elsewhere = tempfile::Builder::new().prefix("edgewise-elsewhere").tempdir().unwrap();
    let out = elsewhere.path().to_str().unwrap();
    let makefile = format!(
        "CFLAGS = -O1 -Isecond\nO = {out}\n$O/prog: $O/main.o $O/helper.o\n\t$(CC) -o $@ $O/main.o $O/helper.o\n\
         $O/%.o: %.c\n\t$(CC) $(CFLAGS) -c -o $@ $<\nclean:\n\trm -f $O/*\n"
    );
    let list = format!("only {out}/prog\n");
    let project = recorded(&makefile, &[("tests.list", &list)]);
    project.edit("Makefile", "-O1", "-O1 -DFAST");
    std::fs::remove_file(elsewhere.path().join("main.o")).unwrap();
    stays_selected(&project);
}

/// A make reads it in each build, whether it makes something or not.
#[test]
fn flags_in_a_part_of_a_makefile() {
    let makefile = MAKEFILE.replace("CFLAGS = -O1 -Ifirst -Isecond", "include settings");
    let project = recorded(&makefile, &[("settings", "CFLAGS = -O1 -Ifirst -Isecond\n")]);
    project.edit("settings", "-O1", "-O1 -DFAST");
    stays_selected(&project);
}

/// A script that makes only what is not there yet.
#[test]
fn flags_in_a_script_that_builds() {
    let script = "set -e\nflags='-O1 -Isecond'\nfor one in main helper; do\n\
        test -e $one.o && test ! $one.c -nt $one.o || { cc $flags -c $one.c; rm -f prog; }\ndone\n\
        test -e prog || cc -o prog main.o helper.o\n";
    let config = "[build]\ncommand = \"sh ./build.sh\"\n\
        [[suite]]\nname = \"t\"\nkind = \"list\"\nfile = \"tests.list\"\n";
    let project = recorded(MAKEFILE, &[("build.sh", script), ("edgewise.toml", config)]);
    project.edit("build.sh", "-O1", "-O1 -DFAST");
    stays_selected(&project);
}

/// One object is of the makefile that was taken back, and nothing tells so.
#[test]
fn flags_that_are_taken_back_after_one_object_had_them() {
    let project = recorded(MAKEFILE, &[]);
    project.edit("Makefile", "-O1", "-O1 -DFAST");
    project.edit("helper.c", "return n;", "return n + 7;");
    project.edgewise(&["test"]);
    project.edit("Makefile", "-O1 -DFAST", "-O1");
    stays_selected(&project);
}

/// The same, and the build that did it failed.
#[test]
fn flags_that_are_taken_back_after_a_build_that_failed() {
    let project = recorded(MAKEFILE, &[]);
    project.edit("Makefile", "-O1", "-O1 -DFAST");
    project.edit("helper.c", "return n;", "return n + 7;");
    project.edit("main.c", "int main", "int broken = \"\"; no int main");
    assert!(!project.edgewise(&["build", "--", "make", "-k"]).status.success());
    project.edit("Makefile", "-O1 -DFAST", "-O1");
    project.edit("main.c", "int broken = \"\"; no int main", "int main");
    project.edgewise(&["test"]);
    stays_selected(&project);
}

/// No build of everything came before.
#[test]
fn flags_after_builds_of_one_part_after_the_other() {
    let project = written(MAKEFILE, &[]);
    project.ok(&["build", "--", "make", "-s"]);
    project.ok(&["run"]);
    project.edit("Makefile", "-O1", "-O1 -DFAST");
    project.ok(&["build", "--", "make", "-s"]);
    assert_eq!(from_build(&project), ["only"]);
    stays_selected(&project);
}

/// Somebody configures again with other flags; objects do not depend on makefiles.
#[test]
fn flags_that_are_configured() {
    let include = MAKEFILE.replace("CFLAGS = -O1", "include settings\nCFLAGS = -O1 $(FLAGS)");
    for (made, template, makefile) in [
        ("Makefile", MAKEFILE.replace("-O1", "-O1 @FLAGS@"), ""),
        // A part of it, by a name that says nothing.
        ("settings", String::from("FLAGS = @FLAGS@\n"), &*include),
    ] {
        let config = format!(
            "ignore = [\"{made}\"]\n[build]\ncommand = \"make -s\"\n\
             [[suite]]\nname = \"t\"\nkind = \"list\"\nfile = \"tests.list\"\n"
        );
        let configure = format!("sed \"s/@FLAGS@/$1/\" template >{made}\n");
        let files =
            [("edgewise.toml", &*config), ("template", &*template), ("configure", &*configure)];
        let project = written(makefile, &files);
        project.ok(&["build", "--", "sh", "./configure"]);
        project.record();
        assert!(project.selected().is_empty(), "{made}");
        project.ok(&["build", "--", "sh", "./configure"]);
        project.ok(&["build"]);
        assert!(from_build(&project).is_empty(), "{made}: the same again");
        assert!(project.selected().is_empty(), "{made}");
        project.ok(&["build", "--", "sh", "./configure", "-DFAST"]);
        stays_selected(&project);
    }
}

/// What a wildcard finds no more, no rule depends on.
#[test]
fn data_that_is_gone() {
    let makefile = "CFLAGS = -O1 -Isecond\nprog: main.o helper.o\n\t$(CC) -o prog main.o helper.o\n\
        main.o: main.c second/limit.h\nhelper.c: $(wildcard parts/*.txt)\n\tcat parts/*.txt >helper.c\n\
        helper.o: helper.c\nclean:\n\trm -f *.o prog helper.c\n";
    let files = [("parts/1.txt", HELPER), ("parts/2.txt", "int more = 1;\n")];
    let project = recorded(makefile, &files);
    remove(&project, "parts/2.txt");
    stays_selected(&project);
}

/// And what it finds now.
#[test]
fn data_that_is_new() {
    let makefile = "CFLAGS = -O1 -Isecond\nprog: main.o helper.o\n\t$(CC) -o prog main.o helper.o\n\
        main.o: main.c second/limit.h\nhelper.c: $(wildcard parts/*.txt)\n\tcat parts/*.txt >helper.c\n\
        helper.o: helper.c\nclean:\n\trm -f *.o prog helper.c\n";
    let project = recorded(makefile, &[("parts/1.txt", HELPER)]);
    project.write("parts/notes.md", "Nobody reads this.\n");
    assert!(project.selected().is_empty(), "another name than the pattern has");
    project.write("parts/2.txt", "int more = 1;\n");
    assert_eq!(project.selected(), ["only"]);
    project.ok(&["test"]);
    assert!(project.selected().is_empty());
}

/// `make clean` leaves what the script wrote before it was edited.
#[test]
fn a_script_whose_sources_stay() {
    let makefile = "CFLAGS = -O1 -Isecond\nprog: main.o helper.o\n\t$(CC) -o prog main.o helper.o\n\
        main.o: main.c second/limit.h\nhelper.c: helper.in\n\tsh make.sh\nhelper.o: helper.c\n\
        clean:\n\trm -f *.o prog\n";
    let files = [("helper.in", HELPER), ("make.sh", "cat helper.in >helper.c\n")];
    let project = recorded(makefile, &files);
    project.write("make.sh", "sed 's/n + 1/n + 3/' helper.in >helper.c\n");
    clean(&project);
    project.edgewise(&["test"]);
    assert_eq!(from_build(&project), ["only"]);
    remove(&project, "helper.c");
    stays_selected_until_clean(&project);
}

/// A header of C++ that makes one of two objects anew.
#[test]
fn a_header_that_one_of_two_objects_that_are_not_c_depends_on() {
    let makefile = "CFLAGS = -O1 -Isecond\nprog: main.o helper.o one.o two.o\n\t$(CC) -o prog main.o helper.o one.o two.o\n\
        main.o: main.c second/limit.h\nhelper.o: helper.c\none.o: one.cc both.h\n\tg++ -c one.cc\n\
        two.o: two.cc\n\tg++ -c two.cc\nclean:\n\trm -f *.o prog\n";
    let source =
        |name: &str| format!("#include \"both.h\"\nextern \"C\" int {name}() {{ return BOTH; }}\n");
    let (one, two) = (source("one"), source("two"));
    let files = [("one.cc", &*one), ("two.cc", &*two), ("both.h", "#define BOTH 1\n")];
    let project = recorded(makefile, &files);
    project.edit("both.h", "1", "2");
    stays_selected(&project);
}

/// A program that is made under another name first.
#[test]
fn a_program_that_is_moved_into_place() {
    let makefile = MAKEFILE
        .replace("-o prog main.o", "-o prog.new main.o")
        .replace("main.o helper.o\nmain.o:", "main.o helper.o\n\tmv prog.new prog\nmain.o:");
    let project = recorded(&makefile, &[]);
    project.edit("Makefile", "-O1", "-O1 -DFAST");
    stays_selected(&project);
}

/// A makefile whose build stops in the middle, behind a script that writes a header.
const STOPPED: &str = "CFLAGS = -O1 -Isecond\nprog: main.o helper.o\n\t$(CC) -o prog main.o helper.o\n\
    main.o: main.c second/limit.h made.h\nmade.h:\n\tsh make.sh >made.h\n\
    helper.o: helper.c wait\nwait: made.h\n\techo >waiting; while test -e stop; do sleep 0.05; done; touch wait\n\
    clean:\n\trm -f *.o prog\n";

/// Stops a build with a signal when its script has run; then builds what is left.
fn stopped(signal: i32) -> Project {
    let main = MAIN.replace("#include \"limit.h\"", "#include \"made.h\"");
    let files = [("main.c", &*main), ("make.sh", "echo '#define LIMIT 1'\n"), ("stop", "")];
    let project = written(STOPPED, &files);
    let mut build = project.hearing().arg("build").spawn().unwrap();
    while !project.path("waiting").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    // SAFETY: the process is ours.
    unsafe { libc::kill(build.id() as i32, signal) };
    assert!(!build.wait().unwrap().success());
    remove(&project, "stop");
    // A command that is not there changes nothing of that.
    assert!(!project.edgewise(&["build", "--", "no-such-command"]).status.success());
    // A make that nobody told to stop goes on.
    while signal == libc::SIGKILL && !project.path("prog").exists() {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    project.record();
    let (_, said) = project.says(&["select"]);
    assert!(project.selected().is_empty(), "{said}");
    project.write("make.sh", "echo '#define LIMIT 2'\n");
    project
}

/// What it read before counts, though the next build had no need to read it again.
#[test]
fn a_build_that_is_interrupted() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        assert_eq!(stopped(signal).selected(), ["only"], "by {signal}");
    }
}

#[test]
fn a_build_that_is_killed() {
    assert_eq!(stopped(libc::SIGKILL).selected(), ["only"]);
}

/// The link leads elsewhere, and no file is another one.
#[test]
fn a_link_to_a_directory_that_leads_elsewhere() {
    let makefile = "CFLAGS = -O1 -Isecond\nprog: main.o helper.o\n\t$(CC) -o prog main.o helper.o\n\
        main.o: main.c second/limit.h\nhelper.c: now/part\n\tcat now/part >helper.c\nhelper.o: helper.c\n\
        clean:\n\trm -f *.o prog helper.c\n";
    let project = Project::empty();
    project.write("one/part", HELPER);
    project.write("two/part", &HELPER.replace("n + 1", "n + 2"));
    std::os::unix::fs::symlink("one", project.path("now")).unwrap();
    project.write_config();
    project.write("tests.list", "only ./prog\nreads ./prog && cat now/part\n");
    project.write("main.c", MAIN);
    project.write("second/limit.h", "#define LIMIT 10\n");
    project.write("Makefile", makefile);
    project.record();
    assert!(project.selected().is_empty());
    remove(&project, "now");
    std::os::unix::fs::symlink("two", project.path("now")).unwrap();
    assert_eq!(project.selected(), ["only", "reads"]);
}

/// The program is inside, and what it is made of is not.
#[test]
fn flags_of_objects_outside_of_the_project() {
    let elsewhere = tempfile::Builder::new().prefix("edgewise-elsewhere").tempdir().unwrap();
    let out = elsewhere.path().to_str().unwrap();
    let makefile = format!(
        "CFLAGS = -O1 -Isecond\nO = {out}\nprog: $O/main.o $O/helper.o\n\t$(CC) -o $@ $O/main.o $O/helper.o\n\
         $O/%.o: %.c\n\t$(CC) $(CFLAGS) -c -o $@ $<\nclean:\n\trm -f $O/* prog\n"
    );
    let project = recorded(&makefile, &[]);
    project.edit("Makefile", "-O1", "-O1 -DFAST");
    std::fs::remove_file(elsewhere.path().join("main.o")).unwrap();
    stays_selected(&project);
}

/// What a cache gives out was made by the new command, too.
#[test]
fn flags_that_ccache_takes_up() {
    let project = recorded(
        &MAKEFILE
            .replace("CFLAGS =", "CC = ccache cc\nexport CCACHE_DIR = $(CURDIR)/cache\nCFLAGS ="),
        &[],
    );
    for _ in 0..2 {
        project.edit("Makefile", "-O1", "-O1 -DFAST");
        project.edgewise(&["test"]);
        assert_eq!(from_build(&project), ["only"]);
        clean(&project);
        project.edgewise(&["test"]);
        assert!(from_build(&project).is_empty());
        project.edit("Makefile", "-O1 -DFAST", "-O1");
        clean(&project);
        project.edgewise(&["test"]);
        assert!(from_build(&project).is_empty());
    }
}

#[test]
fn a_build_command_that_remakes_nothing() {
    let project = recorded(MAKEFILE, &[]);
    project.edit("edgewise.toml", "make -s", "make -s CFLAGS='-O1 -Isecond -DFAST'");
    stays_selected(&project);
}

#[test]
fn a_makefile_that_is_taken_back() {
    let project = recorded(MAKEFILE, &[]);
    project.edit("Makefile", "-O1", "-O1 -DFAST");
    project.edgewise(&["test"]);
    project.edit("Makefile", "-O1 -DFAST", "-O1");
    assert!(from_build(&project).is_empty());
    assert!(project.selected().is_empty());
}

#[test]
fn a_failed_build_with_other_flags() {
    let project = recorded(MAKEFILE, &[]);
    project.edit("Makefile", "-O1", "-O1 --no-such-flag");
    project.edit("helper.c", "n + 1", "n + 2");
    assert!(!project.edgewise(&["build"]).status.success());
    project.edit("helper.c", "n + 2", "n + 1");
    assert_eq!(from_build(&project), ["only"]);
    let output = project.edgewise(&["select", "--from-build"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("hint: the last build failed with code 2"), "{said}");
}

#[test]
fn a_header_that_comes_before_another() {
    let project = recorded(MAKEFILE, &[]);
    project.write("first/limit.h", "#define LIMIT 20\n");
    stays_selected(&project);
}

#[test]
fn a_header_that_is_asked_for() {
    let main = MAIN.replace(
        "int helper",
        "#if __has_include(\"extra.h\")\n#undef LIMIT\n\
                             #define LIMIT 5\n#endif\nint helper",
    );
    let project = recorded(MAKEFILE, &[("main.c", &main)]);
    project.write("first/extra.h", "");
    stays_selected(&project);
}

#[test]
fn a_source_that_has_another_name() {
    let makefile = MAKEFILE.replace(
        "main.o: main.c second/limit.h",
        "main.o: $(wildcard main.c second.c)\n\t$(CC) $(CFLAGS) -c -o $@ $<",
    );
    let main = MAIN.replace("printf(", "printf(__FILE__); printf(");
    let project = recorded(&makefile, &[("main.c", &main)]);
    // Its object is as new as ever.
    std::fs::rename(project.path("main.c"), project.path("second.c")).unwrap();
    stays_selected(&project);
}

#[test]
fn a_version_script_that_nothing_depends_on() {
    let makefile = "CFLAGS = -O1 -fPIC -Isecond\nprog: main.o libhelper.so\n\
        \t$(CC) -o prog main.o -L. -lhelper -Wl,-rpath,'$$ORIGIN' -Wl,-z,lazy\n\
        libhelper.so: helper.o\n\t$(CC) -shared -o $@ helper.o -Wl,--version-script=names.map\n\
        main.o: main.c second/limit.h\nhelper.o: helper.c\nclean:\n\trm -f *.o *.so prog\n";
    let project = recorded(makefile, &[("names.map", "{ global: helper; more; local: *; };\n")]);
    project.edit("names.map", "more; ", "");
    stays_selected(&project);
}

#[test]
fn a_script_that_writes_sources_and_that_nothing_depends_on() {
    let makefile = "CFLAGS = -O1 -Isecond\nprog: main.o helper.o\n\t$(CC) -o prog main.o helper.o\n\
        main.o: main.c second/limit.h\nhelper.c: helper.in\n\tsh make.sh\nhelper.o: helper.c\n\
        clean:\n\trm -f *.o prog helper.c\n";
    let files = [("helper.in", HELPER), ("make.sh", "cat helper.in >helper.c\n")];
    let project = recorded(makefile, &files);
    project.write("make.sh", "sed 's/n + 1/n + 3/' helper.in >helper.c\n");
    stays_selected(&project);
}

/// What is made of what changed is known to be, and selects no more than that.
#[test]
fn what_a_build_did_take_up() {
    // Objects that depend on the makefile.
    let makefile =
        MAKEFILE.replace("helper.o: helper.c", "helper.o: helper.c Makefile\nmain.o: Makefile");
    let project = recorded(&makefile, &[]);
    project.edit("Makefile", "CFLAGS", "# A comment.\nCFLAGS");
    project.ok(&["build"]);
    assert!(from_build(&project).is_empty(), "a comment, and all is made anew");
    project.edit("Makefile", "-O1", "-O1 -DFAST");
    project.edgewise(&["test"]);
    assert!(from_build(&project).is_empty());
    assert!(project.selected().is_empty());
    // A source that no program is made of, and one that is gone.
    project.write("more.c", "int more;\n");
    project.ok(&["build"]);
    assert!(from_build(&project).is_empty());
    assert!(project.selected().is_empty());
    std::fs::remove_file(project.path("more.c")).unwrap();
    project.ok(&["build"]);
    assert!(from_build(&project).is_empty());
    assert!(project.selected().is_empty());
}

/// CMake makes anew whatever has other flags.
#[test]
fn what_cmake_takes_up() {
    let project = Project::empty();
    project.write(
        "edgewise.toml",
        "ignore = [\"build/**\"]\n[build]\ncommand = \"cmake -S . -B build && cmake --build build\"\n\
         [[suite]]\nname = \"t\"\nkind = \"list\"\nfile = \"tests.list\"\n",
    );
    project.write("tests.list", "only build/prog\n");
    project.write("main.c", &MAIN.replace("#include \"limit.h\"\n", "#define LIMIT 1\n"));
    project.write("helper.c", HELPER);
    let cmake = "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_executable(prog main.c helper.c)\n";
    project.write("CMakeLists.txt", cmake);
    project.record();
    project.write("CMakeLists.txt", &format!("# A comment.\n{cmake}"));
    project.ok(&["build"]);
    assert!(from_build(&project).is_empty());
    assert!(project.selected().is_empty());
    project.write(
        "CMakeLists.txt",
        &format!("{cmake}target_compile_definitions(prog PRIVATE FAST)\n"),
    );
    project.ok(&["build"]);
    assert_eq!(from_build(&project), ["only"]);
}

/// A build that does not see an edit leaves programs that say nothing of it.
#[test]
fn programs_that_are_not_what_their_sources_are() {
    let files = [
        ("main.c", main_with("int f(int);", "printf(\"%d\\n\", f(a));")),
        ("x.c", String::from("int f(int n)\n{\n    return n; // one\n}\n")),
    ];
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let edit_unseen = |project: &Project, from: &str, to: &str| {
        let time = project.path("x.c").metadata().unwrap().modified().unwrap();
        project.edit("x.c", from, to);
        let file = std::fs::File::options().write(true).open(project.path("x.c")).unwrap();
        file.set_modified(time).unwrap();
    };
    let built = |project: &Project| project.ok(&["select", "--from-build"]);
    let Miss { project } = Miss::new(&files);
    edit_unseen(&project, "// one", "// two");
    project.ok(&["build"]);
    assert_eq!(built(&project), "", "another comment");
    edit_unseen(&project, "return n;", "return n + 1;");
    project.ok(&["build"]);
    assert_eq!(built(&project).lines().count(), 3);
    let said = String::from_utf8(project.edgewise(&["test"]).stderr).unwrap();
    assert!(said.contains("not built from x.c"), "{said}");
    assert_eq!(project.selected(), ["one", "two", "zero"], "they ran with what is old");
    std::fs::remove_file(project.path("x.o")).unwrap();
    project.ok(&["test"]);
    assert_eq!(built(&project), "");
    assert!(project.selected().is_empty());
}

/// An archive is made anew, and the program is not linked again.
#[test]
fn programs_that_are_not_linked_again() {
    let makefile = "\
all: prog libx.a
prog: main.c | libx.a
\t$(CC) -w -o prog main.c libx.a
libx.a: x.o
\trm -f $@; ar rcs $@ $^
x.o: x.c
\t$(CC) -w -c -o $@ $<
";
    let miss = Miss::new(&[
        ("Makefile", makefile),
        ("main.c", &main_with("int f(int);", "printf(\"%d\\n\", f(a));")),
        ("x.c", "int f(int n) { return n; }\n"),
    ]);
    miss.edit("x.c", "return n", "return n + 1", ALL);
}

/// Make does not know what asm takes in, so the program stays as it was.
#[test]
fn a_file_that_asm_takes_in() {
    let project = Project::empty();
    project.write(
        "main.c",
        "__asm__(\".data\\n.globl val\\nval:\\n.include \\\"val.inc\\\"\\n.text\\n\");\nextern int val;\nint main(void)\n{\n    return val - 1;\n}\n",
    );
    project.write("val.inc", ".long 1\n");
    project.write("Makefile", "prog: main.c\n\t$(CC) -o prog main.c\n");
    project.write_config();
    project.write("tests.list", "one ./prog\n");
    project.record();
    assert_eq!(project.select_json(&["--from-build"])["selected"], serde_json::json!([]));
    project.write("val.inc", ".long 2\n");
    project.ok(&["build"]);
    let selected = project.select_json(&["--from-build"]);
    assert_eq!(selected["selected"].as_array().unwrap().len(), 1, "{selected}");
}

/// A name that looks like that of an object says nothing of what is in a file.
#[test]
fn inputs_that_are_called_like_objects() {
    for name in ["names.sorted.txt", "list.a", "list.o"] {
        let project = Project::empty();
        project.write("main.c", "#include \"gen.h\"\nint main(void)\n{\n    return N - 1;\n}\n");
        project.write(name, "1\n");
        let rule = format!(
            "prog: main.c gen.h\n\t$(CC) -o prog main.c\ngen.h:\n\t(printf '#define N '; cat {name}) > gen.h\n"
        );
        project.write("Makefile", &rule);
        project.write_config();
        project.write("tests.list", "one ./prog\n");
        project.record();
        project.write(name, "2\n");
        project.ok(&["build"]);
        let selected = project.select_json(&["--from-build"]);
        assert_eq!(selected["selected"].as_array().unwrap().len(), 1, "{name}: {selected}");
    }
}
