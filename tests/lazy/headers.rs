//! A project whose units find their headers in many ways, and edits of these.

use crate::support::Project;
use crate::support::generator::Random;
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// How many units it has.
pub const UNITS: u64 = 6;

/// Where headers are looked for, in this order, and two that are not searched.
const DIRECTORIES: [&str; 6] = ["src", "quoted", "first", "second", "aside", "linked"];
const NAMES: [&str; 6] = ["one.h", "two.h", "sub/three.h", "named.h", "optional.h", "pre.h"];

const UNIT: &str = "\
#include \"one.h\"
#include <two.h>
int NAME(void)
{
    return ONE * 10 + TWO + PRE;
}
";

const DEEP: &str = "\
#include <sub/three.h>
#include <nested/../two.h>
int deep(void)
{
    return THREE * 7 + TWO;
}
";

const ASKING: &str = "\
#if defined(__has_include) && __has_include(<optional.h>)
#include <optional.h>
#else
#define OPTIONAL 0
#endif
int asking(void)
{
    return OPTIONAL + 1;
}
";

const COMPUTED: &str = "\
#define WHICH(name) <name.h>
#include WHICH(named)
int computed(void)
{
    return NAMED;
}
";

/// What it asks for nobody knows without preprocessing.
const HIDDEN: &str = "\
#define FILE_NAME <optional.h>
#if __has_include(FILE_NAME)
#include FILE_NAME
#else
#define OPTIONAL 0
#endif
int hidden(void)
{
    return OPTIONAL + 2;
}
";

const MAIN: &str = "\
#include <stdio.h>
#include <string.h>
int plain(void), deep(void), asking(void), computed(void), hidden(void);
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : \"\";
    if (strcmp(what, \"plain\") == 0)
        printf(\"%d\\n\", plain());
    else if (strcmp(what, \"deep\") == 0)
        printf(\"%d\\n\", deep());
    else if (strcmp(what, \"asking\") == 0)
        printf(\"%d\\n\", asking());
    else if (strcmp(what, \"computed\") == 0)
        printf(\"%d\\n\", computed());
    else
        printf(\"%d\\n\", hidden());
    return 0;
}
";

const MAKEFILE: &str = "\
FLAGS = -iquote quoted -Ilinked -Ifirst -Inowhere -Isecond -include pre.h
UNITS = main plain deep asking computed hidden
prog: $(UNITS:%=src/%.c)
\tfor unit in $(UNITS); do $(CC) $(FLAGS) -c src/$$unit.c -o $$unit.o || exit 1; done
\t$(CC) -o prog $(UNITS:%=%.o)
";

pub struct Headers {
    project: Project,
}

impl Headers {
    pub fn new() -> Self {
        let project = Project::empty();
        project.write("src/main.c", MAIN);
        project.write("src/plain.c", &UNIT.replace("NAME", "plain"));
        project.write("src/deep.c", DEEP);
        project.write("src/asking.c", ASKING);
        project.write("src/computed.c", COMPUTED);
        project.write("src/hidden.c", HIDDEN);
        project.write("Makefile", MAKEFILE);
        project.write_config();
        let tests = ["plain", "deep", "asking", "computed", "hidden"];
        let list = tests.map(|name| format!("{name} ./prog {name}\n"));
        project.write("tests.list", &list.concat());
        for directory in DIRECTORIES.iter().filter(|name| **name != "linked") {
            std::fs::create_dir_all(project.path(directory)).unwrap();
        }
        std::fs::create_dir_all(project.path("first/nested")).unwrap();
        std::fs::create_dir_all(project.path("second/nested")).unwrap();
        project.write("aside/note", "");
        symlink("aside", project.path("linked")).unwrap();
        let headers = Self { project };
        for name in NAMES.iter().filter(|name| **name != "optional.h") {
            headers.put("second", name, 1);
        }
        headers.project.record();
        headers
    }

    fn put(&self, directory: &str, name: &str, value: usize) {
        let stem = name.rsplit('/').next().unwrap().trim_end_matches(".h");
        let macro_name = stem.to_uppercase();
        let text = format!("#undef {macro_name}\n#define {macro_name} {value}\n");
        let path = self.project.path(directory).join(name);
        if path.is_dir() {
            return;
        }
        let _ = std::fs::remove_file(&path);
        let Some(parent) = path.parent() else { return };
        if std::fs::create_dir_all(parent).is_ok() {
            std::fs::write(path, text).unwrap();
        }
    }

    /// Does something to some header, and says what.
    pub fn edit(&self, random: &mut Random) -> String {
        let directory = random.one(&DIRECTORIES);
        let name = random.one(&NAMES);
        let path = self.project.path(directory).join(name);
        let value = random.between(1, 3);
        let at = format!("{directory}/{name}");
        match random.below(12) {
            0..=2 => {
                self.put(directory, name, value);
                format!("{at} has {value}")
            }
            3 => {
                // The last one stays: what does not preprocess is no use for long.
                if directory != "second" || random.percent(20) {
                    let _ = std::fs::remove_file(&path);
                }
                format!("{at} is gone")
            }
            4 => {
                let other = self.project.path(random.one(&DIRECTORIES)).join(random.one(&NAMES));
                if let Some(parent) = other.parent() {
                    let _ = std::fs::create_dir_all(parent);
                }
                let _ = std::fs::rename(&path, &other);
                format!("{at} is called {} now", other.display())
            }
            5 => {
                if let Ok(bytes) = std::fs::read(&path) {
                    std::fs::write(&path, bytes).unwrap();
                }
                format!("{at} is touched")
            }
            6 => {
                self.swap(&path, random);
                format!("{at} changes content with another, and keeps its time")
            }
            7 => {
                let _ = std::fs::remove_file(&path);
                if let Some(parent) = path.parent() {
                    let _ = std::fs::create_dir_all(parent);
                }
                let target = self.project.path("aside").join(format!("target{value}.h"));
                let _ = symlink(&target, &path);
                format!("{at} is a link to {}", target.display())
            }
            8 => {
                let stem = name.rsplit('/').next().unwrap().trim_end_matches(".h").to_uppercase();
                let text = format!("#undef {stem}\n#define {stem} {}\n", value + 3);
                self.project.write(&format!("aside/target{value}.h"), &text);
                format!("aside/target{value}.h is for {stem}")
            }
            9 => {
                let target = random.one(&["aside", "second", "nothing", "quoted"]);
                let _ = std::fs::remove_file(self.project.path("linked"));
                symlink(target, self.project.path("linked")).unwrap();
                format!("linked leads to {target}")
            }
            10 => {
                let kept = random.one(&["keep", "sub"]);
                let below = self.project.path(directory).join(kept);
                if below.is_dir() && directory != "second" {
                    let _ = std::fs::remove_dir_all(&below);
                } else {
                    let _ = std::fs::create_dir_all(&below);
                }
                format!("{directory}/{kept} comes or goes")
            }
            _ => {
                // A directory that the command names and that was never there.
                self.put("nowhere", name, value);
                format!("nowhere/{name} has {value}")
            }
        }
    }

    /// The contents of two headers change places; their times and sizes stay.
    fn swap(&self, path: &PathBuf, random: &mut Random) {
        let Ok(meta) = path.metadata() else { return };
        let Ok(text) = std::fs::read_to_string(path) else { return };
        let digits = ["1", "2", "3"];
        let (from, to) = (random.one(&digits), random.one(&digits));
        std::fs::write(path, text.replace(from, to)).unwrap();
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(meta.modified().unwrap()).unwrap();
    }

    /// The answer with what is known must be the one without; how many units
    /// were preprocessed.
    pub fn compare(&self, title: &str) -> u64 {
        let lazy = self.project.select_json(&[]);
        let cache = self.project.path(".edgewise/cache");
        let kept = self.project.path(".edgewise/kept");
        let _ = std::fs::rename(&cache, &kept);
        let full = self.project.select_json(&[]);
        let _ = std::fs::remove_file(&cache);
        let _ = std::fs::rename(&kept, &cache);
        assert_eq!(full["effort"]["units_preprocessed"], UNITS, "{title}");
        for key in ["selected", "skipped", "hints", "dangerous_edges", "procedures_analysed"] {
            assert_eq!(lazy[key], full[key], "{title}: {key}");
        }
        count(&lazy)
    }
}

fn count(answer: &Value) -> u64 {
    answer["effort"]["units_preprocessed"].as_u64().unwrap()
}
