//! What is not preprocessed again is what it was: after any edit the answer is
//! the one that preprocessing everything gives. And only what changed costs.

mod headers;

use crate::support::Project;
use crate::support::generator::Random;
use headers::Headers;
use std::time::Duration;

/// Files are known by their stamps once they are older than this.
const SETTLED: Duration = Duration::from_millis(2300);

fn seeds() -> u64 {
    std::env::var("EDGEWISE_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(4)
}

#[test]
fn random_edits_of_headers_select_as_if_all_were_preprocessed() {
    let seeds: Vec<u64> = (0..seeds()).collect();
    // Most of the time is spent waiting for files to settle.
    for group in seeds.chunks(8) {
        std::thread::scope(|scope| {
            for seed in group {
                scope.spawn(|| edits(*seed));
            }
        });
    }
}

fn edits(seed: u64) {
    let mut random = Random::new(seed);
    let headers = Headers::new();
    let mut log = Vec::new();
    std::thread::sleep(SETTLED);
    let effort = headers.compare(&format!("seed {seed}, at first"));
    assert_eq!(effort, headers::UNITS, "seed {seed}: nothing is known yet");
    let effort = headers.compare(&format!("seed {seed}, again"));
    assert_eq!(effort, 1, "seed {seed}: all is known but the unit whose question is computed");
    for _ in 0..6 {
        for _ in 0..random.between(1, 3) {
            log.push(headers.edit(&mut random));
        }
        let title = format!("seed {seed} after {log:#?}");
        // At once, when nothing can be noted; and later, when it is.
        headers.compare(&title);
        std::thread::sleep(SETTLED);
        headers.compare(&title);
        headers.compare(&format!("{title}, again"));
    }
}

/// Two units and a header.
fn small() -> Project {
    let project = Project::empty();
    project.write("value.h", "#define VALUE 1\nint other(int n);\n");
    project.write(
        "main.c",
        "#include \"value.h\"\nint main(int argc, char **argv)\n{\n    (void)argv;\n    \
         if (argc > 1)\n        return other(argc);\n    return VALUE - VALUE;\n}\n",
    );
    project.write(
        "other.c",
        "#include \"value.h\"\nint other(int n)\n{\n    return n > 2 ? n : 0;\n}\n\
         int unused(void)\n{\n    return VALUE;\n}\n",
    );
    project.write("Makefile", "prog: main.c other.c value.h\n\t$(CC) -o prog main.c other.c\n");
    project.write_config();
    project.write("tests.list", "none ./prog\none ./prog 1\n");
    project.record();
    project
}

fn preprocessed(project: &Project) -> u64 {
    project.select_json(&[])["effort"]["units_preprocessed"].as_u64().unwrap()
}

#[test]
fn nothing_is_read_where_nothing_changed() {
    let project = small();
    std::thread::sleep(SETTLED);
    project.select_json(&[]);
    let answer = project.select_json(&[]);
    assert!(answer["selected"].as_array().unwrap().is_empty());
    for key in ["units_preprocessed", "units_analysed", "units_read", "procedures_decoded"] {
        assert_eq!(answer["effort"][key], 0, "{key}");
    }
    assert_eq!(answer["effort"]["units"], 2);
    assert_eq!(answer["statistics"]["pairs_visited"], 0);
}

#[test]
fn one_unit_changed_is_one_unit_read_beside_that_of_main() {
    let project = small();
    std::thread::sleep(SETTLED);
    project.select_json(&[]);
    project.edit("other.c", "n : 0", "n : 0 * n");
    let answer = project.select_json(&[]);
    assert_eq!(answer["selected"][0]["name"], "t/one");
    assert_eq!(answer["selected"].as_array().unwrap().len(), 1);
    assert_eq!(answer["effort"]["units_preprocessed"], 1);
    assert_eq!(answer["effort"]["units_analysed"], 1);
}

#[test]
fn a_file_that_was_touched_or_put_back_is_not_preprocessed() {
    let project = small();
    std::thread::sleep(SETTLED);
    project.select_json(&[]);
    project.write("value.h", &project.read("value.h"));
    assert_eq!(preprocessed(&project), 0, "the same bytes at another time");
    project.edit("value.h", "VALUE 1", "VALUE 2");
    assert_eq!(preprocessed(&project), 2);
}

#[test]
fn a_cache_that_is_damaged_or_gone_costs_time_and_nothing_else() {
    let project = small();
    std::thread::sleep(SETTLED);
    project.select_json(&[]);
    let path = project.path(".edgewise/cache");
    let cache = std::fs::read(&path).unwrap();
    project.edit("value.h", "VALUE 1", "VALUE 2");
    let expected = project.selected();
    assert_eq!(expected, ["none"]);
    for at in [0, 9, 20, cache.len() / 2, cache.len() - 1] {
        let mut damaged = cache.clone();
        damaged[at] ^= 0x55;
        std::fs::write(&path, damaged).unwrap();
        assert_eq!(project.selected(), expected, "byte {at}");
        std::fs::write(&path, &cache[..at]).unwrap();
        assert_eq!(project.selected(), expected, "cut at {at}");
    }
    std::fs::remove_file(&path).unwrap();
    assert_eq!(project.selected(), expected);
}

#[test]
fn a_change_within_the_tick_in_which_it_was_read_is_seen() {
    let project = small();
    // Nothing has settled: each time everything is looked at.
    for number in 2..6 {
        project.write("value.h", &format!("#define VALUE {number}\nint other(int n);\n"));
        assert_eq!(project.selected(), ["none"], "{number}");
        project.write("value.h", "#define VALUE 1\nint other(int n);\n");
        assert!(project.selected().is_empty(), "{number}");
    }
}

#[test]
fn a_flag_that_made_no_difference_when_it_was_built_counts_later() {
    let project = small();
    let makefile = project.read("Makefile");
    project.write("Makefile", &makefile.replace("-o prog", "-DSWITCH -o prog"));
    project.write("main.c", &project.read("main.c"));
    project.ok(&["build"]);
    assert!(project.selected().is_empty(), "the text is the same");
    std::thread::sleep(SETTLED);
    assert!(project.selected().is_empty(), "and still is");
    project.edit(
        "main.c",
        "    return VALUE - VALUE;",
        "#ifdef SWITCH\n    return 0;\n#else\n    return VALUE - VALUE;\n#endif",
    );
    assert_eq!(project.selected(), ["none"]);
    assert_eq!(project.selected(), ["none"], "from what is known of the program");
}

#[test]
fn another_environment_is_another_text() {
    let project = small();
    std::thread::sleep(SETTLED);
    project.select_json(&[]);
    project.write("elsewhere/unrelated.h", "");
    project.write("elsewhere/stdc-predef.h", "#define argc 0\n");
    let output = project
        .command()
        .args(["select", "--format", "json"])
        .env("CPATH", project.path("elsewhere"))
        .output()
        .unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["effort"]["units_preprocessed"], 2);
    assert!(!answer["selected"].as_array().unwrap().is_empty());
}

#[test]
fn another_compiler_of_the_same_name_is_noticed() {
    let project = small();
    std::thread::sleep(SETTLED);
    project.select_json(&[]);
    assert_eq!(preprocessed(&project), 0);
    // A script that is found first, and adds something of its own.
    let real = String::from_utf8(
        std::process::Command::new("sh").args(["-c", "command -v cc"]).output().unwrap().stdout,
    )
    .unwrap();
    let script = format!("#!/bin/sh\nexec {} -DVALUE=7 -w \"$@\"\n", real.trim());
    project.write("tools/cc", &script);
    use std::os::unix::fs::PermissionsExt;
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.path("tools/cc"), executable).unwrap();
    let path = format!("{}:{}", project.path("tools").display(), std::env::var("PATH").unwrap());
    let output =
        project.command().args(["select", "--format", "json"]).env("PATH", path).output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["effort"]["units_preprocessed"], 2);
}

/// The calls that lead to a change go through units that are not read for it.
#[test]
fn reasons_tell_the_calls_from_main_through_units_that_are_not_read() {
    let project = Project::empty();
    let unit = |name: &str, next: &str| {
        format!(
            "int {next}(int n);\nstatic int step(int n)\n{{\n    return {next}(n);\n}}\nint {name}(int n)\n{{\n    return step(n) + 1;\n}}\n"
        )
    };
    project.write("main.c", "int one(int n);\nint main(int argc, char **argv)\n{\n    (void)argv;\n    return one(argc) < 0;\n}\n");
    project.write("one.c", &unit("one", "two"));
    project.write("two.c", &unit("two", "last"));
    project.write("last.c", "static int inner(int n)\n{\n    return n > 1;\n}\nint last(int n)\n{\n    return inner(n);\n}\n");
    project.write("Makefile", "prog: main.c one.c two.c last.c\n\t$(CC) -o prog $^\n");
    project.write_config();
    project.write("tests.list", "only ./prog\n");
    project.record();
    std::thread::sleep(SETTLED);
    project.select_json(&[]);
    project.edit("last.c", "n > 1", "n > 2");
    let calls = serde_json::json!(["main", "one", "step", "two", "step", "last", "inner"]);
    for round in ["made", "kept", "damaged"] {
        let answer = project.select_json(&[]);
        assert_eq!(answer["selected"][0]["reasons"][0]["chain"], calls, "{round}");
        assert_eq!(answer["effort"]["units_read"], 1, "{round}: the old one");
        if round == "kept" {
            project.write(".edgewise/calls", "not what it was");
        }
    }
}
