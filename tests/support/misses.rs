//! An edit that must select tests, from sources and from a build.

use super::Project;

/// A case: files, one edit, and the tests that must be selected.
pub struct Miss {
    pub project: Project,
}

/// A program around a piece of `main`, where `a` is the first argument.
pub fn main_with(declarations: &str, body: &str) -> String {
    format!(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n{declarations}\n\
         int main(int argc, char **argv)\n{{\n    int a = argc > 1 ? atoi(argv[1]) : 0;\n    \
         {body}\n    return 0;\n}}\n"
    )
}

pub const MAKEFILE: &str = "\
prog: $(patsubst %.c,%.o,$(wildcard *.c))
\t$(CC) -rdynamic -o prog $^ $(LDLIBS)
%.o: %.c $(wildcard *.h)
\t$(CC) -w -O1 $(CFLAGS_$*) -c -o $@ $<
";

impl Miss {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let project = Project::empty();
        project.write("Makefile", MAKEFILE);
        project.write_config();
        project.write("tests.list", "zero ./prog 0\none ./prog 1\ntwo ./prog 2\n");
        for (name, text) in files {
            project.write(name, text);
        }
        project.record();
        assert!(project.selected().is_empty(), "the same version selects nothing");
        Self { project }
    }

    pub fn of_main(declarations: &str, body: &str) -> Self {
        Self::new(&[("main.c", &main_with(declarations, body))])
    }

    /// Edits and checks that at least these tests are selected.
    #[track_caller]
    pub fn edit(&self, file: &str, from: &str, to: &str, expected: &[&str]) {
        self.project.edit(file, from, to);
        self.expect(expected);
    }

    #[track_caller]
    pub fn expect(&self, expected: &[&str]) {
        let contains = |selected: &[String], how: &str| {
            for test in expected {
                assert!(selected.iter().any(|s| s == test), "{test} from {how}: {selected:?}");
            }
        };
        contains(&self.project.selected(), "sources");
        self.project.ok(&["build"]);
        let built = self.project.ok(&["select", "--from-build"]);
        let built: Vec<String> =
            built.lines().map(|line| line.trim_start_matches("t/").to_string()).collect();
        contains(&built, "the build");
    }
}

pub const ALL: &[&str] = &["zero", "one", "two"];
