//! Edits that edgewise once selected too little for, by what programs are linked
//! from and loaded with. Each stays here under the name it was found by.

use crate::support::Project;
use crate::support::misses::{ALL, MAKEFILE, Miss, main_with};

/// A project of its own with a list of tests, recorded.
fn recorded(tests: &str, files: &[(&str, &str)]) -> Miss {
    let project = Project::empty();
    project.write_config();
    project.write("tests.list", tests);
    files.iter().for_each(|(name, text)| project.write(name, text));
    project.record();
    assert!(project.selected().is_empty(), "the same version selects nothing");
    Miss { project }
}

const PLUGINS: &str = "\
all: prog p1.so p2.so p3.so
prog: main.c
\t$(CC) -w -o prog main.c -ldl
%.so: %.c
\t$(CC) -w -O1 -fPIC -shared -o $@ $<
";

/// The set of definitions of a name is the same; who has which is not.
#[test]
fn plugins_with_one_name() {
    let plugin = |value: u32| {
        format!("int verbose = {value};\nint run(int n) {{ return verbose ? n * 10 : n; }}\n")
    };
    let host = "#include <stdio.h>\n#include <dlfcn.h>\nint main(int c, char **v)\n{\n    \
                void *h = dlopen(v[1], RTLD_NOW);\n    \
                int (*run)(int) = (int (*)(int))dlsym(h, \"run\");\n    \
                printf(\"%d\\n\", run(4));\n    return 0;\n}\n";
    let miss = recorded(
        "one ./prog ./p1.so\ntwo ./prog ./p2.so\nthree ./prog ./p3.so\n",
        &[
            ("Makefile", PLUGINS),
            ("main.c", host),
            ("p1.c", &plugin(0)),
            ("p2.c", &plugin(1)),
            ("p3.c", &plugin(0)),
        ],
    );
    miss.edit("p1.c", "verbose = 0", "verbose = 1", &["one"]);
}

#[test]
fn two_programs_of_a_library() {
    let makefile = "\
all: prog1 prog2
prog%: m%.c lib.so
\t$(CC) -w -rdynamic -o $@ $< ./lib.so
lib.so: lib.c
\t$(CC) -w -O1 -fPIC -shared -o $@ $<
";
    let program = |value: u32| {
        format!(
            "#include <stdio.h>\nint run(int);\nint limit = {value};\n\
             int main(void) {{ printf(\"%d\\n\", run(1)); return 0; }}\n"
        )
    };
    let miss = recorded(
        "one ./prog1\ntwo ./prog2\n",
        &[
            ("Makefile", makefile),
            ("lib.c", "extern int limit; int run(int n) { return n + limit; }\n"),
            ("m1.c", &program(5)),
            ("m2.c", &program(6)),
        ],
    );
    miss.project.write("m1.c", &program(6));
    miss.project.write("m2.c", &program(5));
    miss.expect(&["one", "two"]);
}

#[test]
fn weak_variables_exchanged() {
    let weak = |value: u32| format!("__attribute__((weak)) int x = {value};\n");
    let miss = Miss::new(&[
        ("main.c", &main_with("extern int x;", "printf(\"%d\\n\", x);")),
        ("b.c", &weak(1)),
        ("c.c", &weak(2)),
    ]);
    miss.project.write("b.c", &weak(2));
    miss.project.write("c.c", &weak(1));
    miss.expect(ALL);
}

const LIBRARY: &str = "\
lib.so: lib.c
\t$(CC) -w -O1 -fPIC -shared -o $@ $<
";

#[test]
fn a_library_with_a_main() {
    let library = "int limit = 5;\nint twice(int n) { return 2 * n; }\n\
                   int main(void) { return twice(1) != 2; }\n";
    let program = "#include <stdio.h>\nextern int limit;\nint twice(int);\n\
                   int main(void) { printf(\"%d\\n\", twice(limit)); return 0; }\n";
    let makefile = format!("prog: main.c lib.so\n\t$(CC) -w -o prog main.c ./lib.so\n{LIBRARY}");
    let miss = Miss::new(&[("Makefile", &makefile), ("lib.c", library), ("main.c", program)]);
    miss.edit("lib.c", "limit = 5", "limit = 6", ALL);
}

/// Names that are asked for by code that is not analysed.
#[test]
fn looked_up_from_python() {
    let python = "import ctypes, sys\nlib = ctypes.CDLL('./lib.so')\nprint(lib.run(4))\n\
                  if sys.argv[1] == 'limit':\n    print(ctypes.c_int.in_dll(lib, 'limit').value)\n\
                  else:\n    print(hasattr(lib, 'fresh'))\n";
    let files = [
        ("Makefile", LIBRARY),
        ("lib.c", "int limit = 5;\nint run(int n) { return n; }\n"),
        ("t.py", python),
    ];
    let tests = "limit python3 t.py limit\nfresh python3 t.py fresh\n";
    let miss = recorded(tests, &files);
    miss.edit("lib.c", "limit = 5", "limit = 6", &["limit"]);
    let miss = recorded(tests, &files);
    miss.edit("lib.c", "int run", "int fresh(void) { return 1; }\nint run", &["fresh"]);
}

#[test]
fn looked_up_from_cpp() {
    let host = "#include <dlfcn.h>\n#include <cstdio>\nint main()\n{\n    \
                void *h = dlopen(\"./lib.so\", RTLD_NOW);\n    \
                int (*run)(int) = (int (*)(int))dlsym(h, \"run\");\n    \
                std::printf(\"%d %d\\n\", *(int *)dlsym(h, \"limit\"), run(3));\n}\n";
    let makefile =
        format!("all: prog lib.so\nprog: host.cpp\n\t$(CXX) -w -o prog host.cpp -ldl\n{LIBRARY}");
    let miss = Miss::new(&[
        ("Makefile", &makefile),
        ("host.cpp", host),
        ("lib.c", "int limit = 5;\nint run(int n) { return n; }\n"),
    ]);
    miss.edit("lib.c", "limit = 5", "limit = 6", ALL);
}

/// An object without a record in one program reads what another program defines.
#[test]
fn read_by_an_object_of_another_program() {
    let makefile = format!(
        "prog: main.c reads.o lib.so\n\t$(CC) -w -o prog main.c reads.o ./lib.so\n\
         reads.o: reads.s\n\t$(CC) -c -o $@ $<\n{LIBRARY}"
    );
    let reads = "\t.globl reads\nreads:\n\tmovq limit@GOTPCREL(%rip), %rax\n\tmovl (%rax), %eax\n\
                 \tret\n\t.section .note.GNU-stack,\"\",@progbits\n";
    let miss = Miss::new(&[
        ("Makefile", &makefile),
        ("reads.s", reads),
        ("lib.c", "int limit = 5;\nint run(int n) { return n; }\n"),
        (
            "main.c",
            &main_with("int reads(void), run(int);", "printf(\"%d %d\\n\", reads(), run(a));"),
        ),
    ]);
    miss.edit("lib.c", "limit = 5", "limit = 6", ALL);
}

/// What one program uses no more another uses now.
#[test]
fn a_member_that_moves_to_another_program() {
    let makefile = "\
all: prog1 prog2
prog%: m%.o libx.a
\t$(CC) -o $@ $< -L. -lx
libx.a: x1.o x2.o
\trm -f $@; ar rcs $@ $^
%.o: %.c
\t$(CC) -w -O1 -c -o $@ $<
";
    let program = |name: &str| {
        format!(
            "#include <stdio.h>\nint reg(int), f(int);\nint main(int c, char **v) {{ \
             if (c > 5) {name}(c); printf(\"%d\\n\", f(1)); return 0; }}\n"
        )
    };
    let constructor = "#include <stdio.h>\n__attribute__((constructor)) static void hello(void) { \
                       puts(\"hello\"); }\nint reg(int n) { return n; }\n";
    let miss = recorded(
        "one ./prog1\ntwo ./prog2\n",
        &[
            ("Makefile", makefile),
            ("x1.c", "int f(int n) { return n; }\n"),
            ("x2.c", constructor),
            ("m1.c", &program("reg")),
            ("m2.c", &program("f")),
        ],
    );
    miss.project.write("m1.c", &program("f"));
    miss.project.write("m2.c", &program("reg"));
    miss.expect(&["one", "two"]);
}

/// A name that a link with these flags, or files, makes mean another.
fn linked_with(flags: &str, files: &[(&str, &str)], edit: (&str, &str, &str)) {
    let makefile = MAKEFILE.replace("-rdynamic", flags);
    let main = main_with("extern int v;", "printf(\"%d\\n\", v);");
    let all = [&[("Makefile", makefile.as_str()), ("main.c", &main)], files].concat();
    Miss::new(&all).edit(edit.0, edit.1, edit.2, ALL);
}

#[test]
fn names_that_the_linker_is_told() {
    let change = ("b.c", "= 4", "= 5");
    let w = ("b.c", "int w = 4;\n");
    linked_with("-Wl,-defsym,v=w", &[w], change);
    linked_with("-Xlinker --defsym -Xlinker v=w", &[w], change);
    linked_with("-Wl,@words", &[w, ("words", "--defsym=v=w\n")], change);
    let wrapped = ("b.c", "int v = 3;\nint __wrap_v = 4;\n");
    linked_with("-Wl,--wrap=v", &[wrapped], change);
}

#[test]
fn names_in_linker_scripts() {
    let change = ("b.c", "= 4", "= 5");
    let w = ("b.c", "int w = 4;\n");
    linked_with("names.ld", &[w, ("names.ld", "v = w;\n")], change);
    let more = ("more.ld", "INCLUDE names.ld\n");
    linked_with("more.ld -Lsub", &[w, more, ("sub/names.ld", "v = w;\n")], change);
}

/// A procedure that is wrapped is not, in the unit that defines it.
#[test]
fn wrapped_procedures_that_move() {
    let makefile = MAKEFILE.replace("-rdynamic", "-Wl,--wrap=f");
    let f = "int f(int n) { return n + 1; }\n";
    let files = |main: &str, b: &str| {
        Miss::new(&[
            ("Makefile", &makefile),
            ("main.c", &main_with(main, "printf(\"%d\\n\", g(a));")),
            ("b.c", b),
            ("w.c", "int __wrap_f(int n) { return 50; }\n"),
        ])
    };
    let g = "int g(int n) { return f(n); }\n";
    let miss = files(&format!("int f(int);\n{g}"), &format!("{f}int other;\n"));
    miss.project.edit("b.c", f, "");
    miss.edit("main.c", "int f(int);\n", f, ALL);
    let miss = files(&format!("int f(int);\n{g}"), &format!("{f}int other;\n"));
    miss.project.edit("main.c", g, "int g(int);\n");
    miss.edit("b.c", "int other;\n", g, ALL);
}

/// Objects that are given other names after they were compiled.
#[test]
fn objcopy_renames() {
    let altered = |who: &str, how: &str| {
        MAKEFILE.replace("prog:", &format!("OBJCOPY_{who} = objcopy {how}\nprog:"))
            + "\t$(if $(OBJCOPY_$*),$(OBJCOPY_$*) $@)\n"
    };
    let v = main_with("extern int v;", "printf(\"%d\\n\", v);");
    let used = altered("main", "--redefine-sym v=w");
    Miss::new(&[("Makefile", &used), ("main.c", &v), ("b.c", "int w = 4;\n")])
        .edit("b.c", "= 4", "= 5", ALL);
    let defined = altered("b", "--redefine-sym w=v");
    Miss::new(&[("Makefile", &defined), ("main.c", &v), ("b.c", "int w = 4;\n")])
        .edit("b.c", "= 4", "= 5", ALL);
    // The entry of a static procedure is told by the calls in its unit.
    let globalised = altered("b", "--globalize-symbol=f");
    let f = "static int __attribute__((noinline)) f(int n) { return n + 1; }\n\
             int g(int n) { return f(n); }\n";
    let main = main_with("int f(int);", "printf(\"%d\\n\", f(a));");
    let miss = Miss::new(&[("Makefile", &globalised), ("main.c", &main), ("b.c", f)]);
    miss.edit("b.c", "n + 1", "n + 2", ALL);
}

/// Only the build changes: an object uses another name than before.
#[test]
fn objcopy_that_is_new() {
    let makefile = |more: &str| MAKEFILE.replace("*.h)", "*.h) Makefile") + more;
    let main = main_with("extern int v;", "printf(\"%d\\n\", v);");
    let b = "int v = 4;\nint w = 5;\n";
    let miss = Miss::new(&[("Makefile", &makefile("")), ("main.c", &main), ("b.c", b)]);
    let rename = "\t$(if $(filter main,$*),objcopy --redefine-sym v=w $@)\n";
    miss.project.write("Makefile", &makefile(rename));
    miss.expect(ALL);
}

/// Runs git in a project.
fn git(project: &Project, arguments: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
    let mut git = std::process::Command::new("git");
    let git = git.args(identity).args(arguments).current_dir(project.root()).output().unwrap();
    assert!(git.status.success(), "git {arguments:?}");
}

/// The build and a test ask git, another test does not.
#[test]
fn what_git_says() {
    let project =
        Project::of_source("#include <stdio.h>\nint main(void) { return 0; }\n", &[("quiet", "")]);
    project.write("tests.list", "quiet ./prog\nasks git describe --tags && ./prog\n");
    project.write(".gitignore", ".edgewise\nprog\n");
    git(&project, &["init", "-q"]);
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-qm", "a"]);
    git(&project, &["tag", "v1"]);
    project.record();
    assert!(project.selected().is_empty());
    git(&project, &["status"]);
    assert!(project.selected().is_empty(), "what git keeps for itself");
    git(&project, &["tag", "v2"]);
    assert_eq!(project.selected(), ["asks"]);
    assert_eq!(project.ok(&["select", "--from-build"]), "t/asks\n");
    project.write(
        "Makefile",
        "REV := $(shell git describe --tags)\nprog: main.c .FORCE\n\
         \t$(CC) -O2 -DREV='\"$(REV)\"' -o prog main.c\n.FORCE:\n",
    );
    project.record();
    git(&project, &["commit", "--allow-empty", "-qm", "b"]);
    assert_eq!(project.selected(), ["asks", "quiet"], "the build asks");
    project.ok(&["build"]);
    assert_eq!(project.selected(), ["asks"], "nobody uses what it was told");
}

/// A link takes a name from the first that has it. A member of an archive that defines
/// it for the first time becomes part of a program that had no use for it.
#[test]
fn a_member_that_defines_a_name_of_the_c_library() {
    let miss = members("int g(int n) { return n; }\n");
    let defined = |name: &str| format!("int g(int n) {{ return n; }}\n{name}\n");
    // Nobody asks for this one.
    miss.project.write("x2.c", &defined("int h(int n) { return n; }"));
    assert!(miss.project.selected().is_empty());
    miss.project.write("x2.c", &defined("int abs(int n) { return 7; }"));
    miss.expect(&["one"]);
    let asm = "__asm__(\".globl abs\\nabs:\\n\\tmovl $7, %eax\\n\\tret\\n\");";
    let miss = members("int g(int n) { return n; }\n");
    miss.project.write("x2.c", &defined(asm));
    miss.expect(&["one"]);
}

/// Two programs of one archive whose second member changes.
fn members(before: &str) -> Miss {
    let makefile = "\
all: prog1 prog2
prog%: m%.o libx.a
\t$(CC) -o $@ $< -L. -lx
libx.a: x1.o x2.o
\trm -f $@; ar rcs $@ $^
%.o: %.c
\t$(CC) -w -fno-builtin -O1 -c -o $@ $<
";
    let main = "#include <stdio.h>\n#include <stdlib.h>\nint f(int), g(int);\n";
    let one = format!("{main}int main(void) {{ printf(\"%d\\n\", f(abs(-3))); return 0; }}\n");
    let two = format!("{main}int main(void) {{ printf(\"%d\\n\", g(3)); return 0; }}\n");
    let files = [
        ("Makefile", makefile),
        ("x1.c", "int f(int n) { return n; }\n"),
        ("x2.c", before),
        ("m1.c", &one),
        ("m2.c", &two),
    ];
    recorded("one ./prog1\ntwo ./prog2\n", &files)
}

/// The member names it before and after: only who defines it is new.
#[test]
fn a_member_that_defines_what_it_used() {
    let before = "int abs(int);\nint g(int n) { return abs(n); }\n";
    let miss = members(before);
    miss.edit("x2.c", "int abs(int);", "int abs(int n) { return 7; }", &["one", "two"]);
    // As text of the assembler, which nobody reads.
    let miss = members(before);
    let asm = "__asm__(\".globl abs\\nabs:\\n\\tmovl $7, %eax\\n\\tret\\n\");\nint abs(int);";
    miss.edit("x2.c", "int abs(int);", asm, &["one", "two"]);
}

/// A `main` that gives way to another keeps no link from taking the unit.
#[test]
fn a_member_with_a_weak_main() {
    let before = "int g(int n) { return n; }\n__attribute__((weak)) int main(void) { return 0; }\n";
    let miss = members(before);
    miss.edit("x2.c", "int g", "int abs(int n) { return 7; }\nint g", &["one"]);
}

/// What a source defines no more a link takes from another member, with all that this
/// one does by itself.
#[test]
fn a_member_that_takes_the_place_of_another() {
    let makefile = "\
prog: main.o libx.a
\t$(CC) -o $@ main.o -L. -lx
libx.a: x1.o x2.o
\trm -f $@; ar rcs $@ $^
%.o: %.c
\t$(CC) -w -O1 -c -o $@ $<
";
    let constructor = "#include <stdio.h>\n__attribute__((constructor)) static void hello(void) { \
                       puts(\"hello\"); }\nint f(int n) { return n; }\n";
    let miss = Miss::new(&[
        ("Makefile", makefile),
        ("x1.c", "int f(int n) { return n; }\nint g(int n) { return n; }\n"),
        ("x2.c", constructor),
        ("main.c", &main_with("int f(int), g(int);", "printf(\"%d\\n\", a ? f(a) : g(2));")),
    ]);
    miss.edit("x1.c", "int f(int n) { return n; }", "", ALL);
}
